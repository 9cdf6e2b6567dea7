"""LU factors of a matrix that is zero far from its diagonal. Of each row only one run of columns is kept, from its
first entry to the last column that elimination can fill. No rows are exchanged. Entries (i, j) and (j, i) are zero
together.

The matrices here are the identity and a sum of one small product for each contact, between the unknowns of the bodies
that it touches: a stack makes a narrow band. [Jennings 1966]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper
from ..core.model import Array

OVERFLOW = 1e300  # size of a pivot that is no number any more


class Skyline(NamedTuple):
    """Rows of a matrix, one after the other."""

    first: NDArray[np.integer]  #: (n,) first column of row i that is kept
    last: NDArray[np.integer]   #: (n,) last column of row i that is kept; it never decreases with i
    at: NDArray[np.integer]     #: (n,) entry (i, j) stands at at[i] + j
    entry: Array                #: (e,) entries; then of L below the diagonal, of U on it and above


@helper
def open_skyline(first):
    """The Skyline of a matrix whose row and column i begin with the entry first[i] (n,)."""
    n = len(first)
    last, at, size = np.arange(n), np.zeros(n, np.int64), 0
    for i in range(n):
        last[first[i]] = max(last[first[i]], i)
    for i in range(n):
        last[i] = max(last[i], last[i - 1] if i > 0 else 0)
        at[i] = size - first[i]
        size += last[i] + 1 - first[i]
    return Skyline(first, last, at, np.zeros(size))


@helper
def set_identity(sky):
    """The matrix becomes the identity."""
    sky.entry[:] = 0.0
    for i in range(len(sky.at)):
        sky.entry[sky.at[i] + i] = 1.0


@helper
def factor_skyline(sky):
    """A = L U in place, L with ones on the diagonal. Returns False where a pivot vanishes or overflows."""
    first, last, at, entry = sky.first, sky.last, sky.at, sky.entry
    for k in range(len(at)):
        pivot, wide = entry[at[k] + k], last[k] - k
        if not 0.0 < abs(pivot) < OVERFLOW:
            return False
        top = entry[at[k] + k + 1 : at[k] + k + 1 + wide]
        for i in range(k + 1, last[k] + 1):
            e = at[i] + k
            if first[i] > k or entry[e] == 0.0:
                continue
            part = entry[e] / pivot
            entry[e] = part
            below = entry[e + 1 : e + 1 + wide]
            for d in range(wide):
                below[d] -= part * top[d]
    return True


@helper
def solve_skyline(sky, x_in_out):
    """x becomes A⁻¹ x, from the factors."""
    first, last, at, entry = sky.first, sky.last, sky.at, sky.entry
    n = len(at)
    for i in range(n):
        total = x_in_out[i]
        for j in range(first[i], i):
            total -= entry[at[i] + j] * x_in_out[j]
        x_in_out[i] = total
    for i in range(n - 1, -1, -1):
        total = x_in_out[i]
        for j in range(i + 1, last[i] + 1):
            total -= entry[at[i] + j] * x_in_out[j]
        x_in_out[i] = total / entry[at[i] + i]
