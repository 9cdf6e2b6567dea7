"""Linear algebra of numpy and scipy on one thread.

The matrices of an instant have some hundred rows. Threads that share their products wait for each other actively; where
another thread, as the one that draws, has a core, they wait for the scheduler: factors of 0.3 ms took 12 ms, and a blow
to a stack minutes in place of seconds. What is worth sharing the kernels share themselves, see `team`.
"""

import ctypes
import os

import numpy as np

VARIABLES = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"  # whoever sets one has decided otherwise
SETTERS = "scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads"


def keep_to_one_thread() -> None:
    """From now on, where nothing else was asked for: in libraries loaded later by the variable, in that of numpy, which
    is loaded, by a call. A library that has no such call is left as it is."""
    if any(name in os.environ for name in VARIABLES):
        return
    os.environ[VARIABLES[0]] = "1"
    library = ctypes.CDLL(np.linalg._umath_linalg.__file__)
    for name in SETTERS:
        if hasattr(library, name):
            getattr(library, name)(1)
            return
