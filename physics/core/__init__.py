"""What everything stands on: the compiler of kernels, vectors, the model, the state, records of a step."""
