"""LU factors of a matrix in skyline storage: of each row and column only what lies between its first entry and the
diagonal is kept. No rows are exchanged. Entries (i, j) below the diagonal and (j, i) above it are kept or left out
together.

The matrices here are the identity and a sum of one small product for each contact, between the unknowns of the bodies
that it touches: a stack makes a narrow band. [Jennings 1966]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper
from ..core.model import Array


class Skyline(NamedTuple):
    """Rows of the part below the diagonal and columns of the part above it, both from the same first place on."""

    first: NDArray[np.integer]  #: (n,) of row and column i the first place that is kept
    at: NDArray[np.integer]     #: (n + 1,) (i, j) and (j, i) with j < i stand at at[i] + j - first[i]
    low: Array       #: (e,) rows below the diagonal, then of L
    up: Array        #: (e,) columns above the diagonal, then of U
    diagonal: Array  #: (n,) then of U


@helper
def clear(sky):
    """Set the matrix to the identity."""
    for i in range(len(sky.diagonal)):
        sky.diagonal[i] = 1.0
    for e in range(len(sky.low)):
        sky.low[e] = 0.0
        sky.up[e] = 0.0


@helper
def factor_skyline(sky):
    """A = L U in place, L with ones on the diagonal. Returns False where a pivot vanishes or overflows."""
    first, at, low, up, diagonal = sky.first, sky.at, sky.low, sky.up, sky.diagonal
    for j in range(len(diagonal)):
        begin, row = first[j], at[j]
        pivot = diagonal[j]
        for i in range(begin, j):
            start = max(first[i], begin)
            mine, other = row + start - begin, at[i] + start - first[i]
            l0 = l1 = u0 = u1 = 0.0
            count = i - start
            whole = count - count % 2
            for k in range(0, whole, 2):  # two independent sums each
                u0 += low[other + k] * up[mine + k]
                u1 += low[other + k + 1] * up[mine + k + 1]
                l0 += low[mine + k] * up[other + k]
                l1 += low[mine + k + 1] * up[other + k + 1]
            if whole < count:
                u0 += low[other + whole] * up[mine + whole]
                l0 += low[mine + whole] * up[other + whole]
            e = row + i - begin
            up[e] -= u0 + u1
            low[e] = (low[e] - (l0 + l1)) / diagonal[i]
            pivot -= low[e] * up[e]
        diagonal[j] = pivot
        if not 0.0 < abs(pivot) < 1e300:
            return False
    return True


@helper
def solve_skyline(sky, x_in_out):
    """x becomes A⁻¹ x, from the factors."""
    first, at, low, up, diagonal = sky.first, sky.at, sky.low, sky.up, sky.diagonal
    n = len(diagonal)
    for i in range(n):
        total = x_in_out[i]
        for e in range(i - first[i]):
            total -= low[at[i] + e] * x_in_out[first[i] + e]
        x_in_out[i] = total
    for i in range(n - 1, -1, -1):
        value = x_in_out[i] / diagonal[i]
        x_in_out[i] = value
        for e in range(i - first[i]):
            x_in_out[first[i] + e] -= up[at[i] + e] * value
