"""What all other packages use: the compiler of kernels, vectors, the model, the state, records of a step."""
