"""L D Lᵀ of sparse symmetric positive semidefinite matrices of a fixed pattern, row by row [Davis 2005].

The pattern is analysed once; factorising and solving are kernels. Where the unknowns of a chain or a tree come leaves
first, L has no more entries than the matrix, and all costs are linear in their number.

An equation that depends on others gets the unknown 0: the answer of consistent equations is then a basic solution. An
equation counts as dependent where its pivot is below a part of its diagonal entry (RANK times the share given to
`analyse`), or below KNOWN times its rounding error. The rounding error of d_k = a_kk - Σ_i y_i²/d_i is about

    ν_k = ε a_kk + Σ_i (y_i²/d_i) ν_i/d_i

as the relative errors ν_i/d_i of the earlier pivots d_i enter d_k.
"""

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray

RANK = 1e-9        # a pivot below this part of its diagonal entry counts as zero
KNOWN = 100.0      # a pivot below this many times its rounding error ν counts as zero
EPSILON = 2.0**-52 # relative rounding of one operation


class Factor(NamedTuple):
    """A pattern and room for its factor. Column j of the matrix has rows[first[j] : first[j + 1]] <= j."""

    first: IntArray    #: (n + 1,)
    rows: IntArray     #: (nnz,)
    parent: IntArray   #: (n,) elimination tree, -1 = root
    L_first: IntArray  #: (n + 1,)
    L_rows: IntArray   #: (lnz,)
    L: Array           #: (lnz,)
    least: Array       #: (n,) part of a diagonal entry below which a pivot counts as zero
    inverse: Array     #: (n,) 1/D, 0 where an equation depends on others
    noise: Array       #: (n,) ν/D, the part of D that rounding may have changed
    used: IntArray     #: (n,) scratch
    order: IntArray    #: (n,) scratch
    mark: IntArray     #: (n,) scratch
    row: Array         #: (n,) scratch


def analyse(pattern: list[list[int]], share: Array | float = 1.0) -> Factor:
    """Room for the factor of a matrix; pattern[j] lists the rows i <= j of column j, j among them. share (n,)
    scales RANK: the part of a diagonal entry that its pivot may fall to although no equation depends on another."""
    n = len(pattern)
    parent, mark, counts = np.full(n, -1, np.int32), np.full(n, -1), np.zeros(n, np.int64)
    for j in range(n):
        mark[j] = j
        for i in pattern[j]:
            while mark[i] != j:
                if parent[i] < 0:
                    parent[i] = j
                counts[i] += 1
                mark[i] = j
                i = int(parent[i])
    L_first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    first = np.concatenate([[0], np.cumsum([len(column) for column in pattern])]).astype(np.int32)
    rows = np.array([i for column in pattern for i in column], np.int32)
    size = int(L_first[-1])
    return Factor(first, rows, parent, L_first, np.zeros(size, np.int32), np.zeros(size), np.full(n, RANK * share),
                  np.zeros(n), np.zeros(n), np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32),
                  np.zeros(n))


@kernel
def factorise(values, factor):
    """Fill L and D of the matrix with the `values` (nnz,) in the pattern; returns its rank."""
    first, rows, parent, L_first = factor.first, factor.rows, factor.parent, factor.L_first
    L_rows, L, inverse, used = factor.L_rows, factor.L, factor.inverse, factor.used
    noise, order, mark, y = factor.noise, factor.order, factor.mark, factor.row
    n, rank = len(inverse), 0
    for k in range(n):
        mark[k] = -1
    for k in range(n):  # row k of L solves L[:k, :k] D y = A[:k, k]
        top = n
        y[k] = 0.0
        used[k] = 0
        mark[k] = k
        for p in range(first[k], first[k + 1]):
            i = int(rows[p])
            y[i] += values[p]
            length = 0
            while mark[i] != k:  # the unknowns that row k reaches, in the order of elimination
                order[length] = i
                length += 1
                mark[i] = k
                i = int(parent[i])
            while length > 0:
                top -= 1
                length -= 1
                order[top] = order[length]
        pivot = y[k]
        vanishing = factor.least[k] * pivot
        rounding = EPSILON * pivot
        y[k] = 0.0
        for t in range(top, n):
            i = int(order[t])
            y_i = y[i]
            y[i] = 0.0
            end = int(L_first[i]) + int(used[i])
            for p in range(L_first[i], end):
                y[L_rows[p]] -= L[p] * y_i
            l_ki = y_i * inverse[i]
            pivot -= l_ki * y_i
            rounding += l_ki * y_i * noise[i]
            L_rows[end] = k
            L[end] = l_ki
            used[i] += 1
        inverse[k] = noise[k] = 0.0
        if pivot > vanishing and pivot > KNOWN * rounding:
            inverse[k] = 1.0 / pivot
            noise[k] = rounding * inverse[k]
            rank += 1
    return rank


@helper
def solve_block(factor, start, end, x_in_out):
    """Replace x[start : end] by the solution of a block of equations that no others touch."""
    L_first, L_rows, L, inverse = factor.L_first, factor.L_rows, factor.L, factor.inverse
    for j in range(start, end):
        for p in range(L_first[j], L_first[j + 1]):
            x_in_out[L_rows[p]] -= L[p] * x_in_out[j]
    for j in range(end - 1, start - 1, -1):
        total = x_in_out[j] * inverse[j]
        for p in range(L_first[j], L_first[j + 1]):
            total -= L[p] * x_in_out[L_rows[p]]
        x_in_out[j] = total


@kernel
def solve(factor, x_in_out):
    """Replace x (n,) by the solution."""
    solve_block(factor, 0, len(x_in_out), x_in_out)
