"""What laws of users in plain Python have raised: no exception passes through the kernels that call them."""

failures: list[Exception] = []  #: of the step that is made; it fails by them
