"""The physics thread, its messages, comparisons of several simulations, studies, and compiling ahead."""
