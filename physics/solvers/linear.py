"""Factorisations that kernels of several solvers use: LU of a full matrix; triangular factors whose columns come and
go."""

import numpy as np

from contactlab.physics.jit import helper
from contactlab.physics.solvers.lcp_info import row_product, subtract_row

SINGULAR = 1e-6  #: pivot of a unit-diagonal matrix below which a column is taken for dependent on those before: with x
#  the column's coefficients on those, |x|² <= 1/SINGULAR or so, rounding changes a pivot by 1e-16 (1 + |x|)²


@helper
def lu_factor(A, order_out):
    """P A = L U in place, L's unit diagonal left out; order_out[i] = the row exchanged with row i. False: singular."""
    n = len(A)
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[best, j]):
                best = i
        order_out[j] = best
        if not abs(A[best, j]) > 0.0:
            return False
        if best != j:
            for l in range(n):
                A[j, l], A[best, l] = A[best, l], A[j, l]
        inverse = 1.0 / A[j, j]
        for i in range(j + 1, n):
            factor = A[i, j] * inverse
            A[i, j] = factor
            if factor != 0.0:
                for l in range(j + 1, n):
                    A[i, l] -= factor * A[j, l]
    return True


@helper
def lu_solve(A, order, x):
    """x := (L U)⁻¹ P x"""
    n = len(A)
    for j in range(n):
        if order[j] != j:
            x[j], x[order[j]] = x[order[j]], x[j]
    for j in range(n):
        x[j] -= row_product(A, j, x, 0, j)
    for j in range(n - 1, -1, -1):
        x[j] = (x[j] - row_product(A, j, x, j + 1, n - j - 1)) / A[j, j]


@helper
def cholesky(U, count, smallest, row, order_out):
    """A = UᵀU in place in the upper triangle, without the columns that depend on those before them: pivot <= smallest.

    Returns how many are kept. order_out (count,) = old positions of the columns, those kept first, and U is
    [U_K, U_K⁻ᵀ A_KL], the factor of those kept, K, and beside it the others, L. row (count,) is work space. Row
    j loses U_ij times each row i before it, four at a time: one pass over row j for four of them.
    """
    rank = dropped = 0
    for j in range(count):
        left = count - j
        for l in range(left):
            row[l] = U[j, j + l]
        i = 0
        while i + 4 <= rank:
            f0, f1, f2, f3 = U[i, j], U[i + 1, j], U[i + 2, j], U[i + 3, j]
            for l in range(left):
                row[l] -= f0 * U[i, j + l] + f1 * U[i + 1, j + l] + f2 * U[i + 2, j + l] + f3 * U[i + 3, j + l]
            i += 4
        while i < rank:
            f0 = U[i, j]
            for l in range(left):
                row[l] -= f0 * U[i, j + l]
            i += 1
        if row[0] > smallest:
            root = 1.0 / np.sqrt(row[0])
            for l in range(left):
                U[rank, j + l] = root * row[l]
            order_out[rank] = j
            rank += 1
        else:
            dropped += 1
            order_out[count - dropped] = j
    if dropped > 0:
        keep_first(U, count, rank, row, order_out)
    return rank


@helper
def keep_first(U, count, rank, row, order):
    """Bring the columns of U in order: those kept first, then the others, which `order` lists from the last."""
    for a in range((count - rank) // 2):
        order[rank + a], order[count - 1 - a] = order[count - 1 - a], order[rank + a]
    for i in range(rank):
        first = order[i]
        for j in range(first, count):
            row[j] = U[i, j]
        for a in range(i, count):
            U[i, a] = row[order[a]] if order[a] >= first else 0.0


@helper
def solve_transposed(U, count, x):
    """x := U⁻ᵀ x, U upper triangular"""
    for j in range(count):
        x[j] /= U[j, j]
        subtract_row(x, j + 1, x[j], U, j, count - j - 1)


@helper
def solve_upper(U, count, x):
    """x := U⁻¹ x, U upper triangular; four unknowns at a time, whose sums need not wait for one another."""
    j = count - 1
    while j >= 3:
        s0, s1, s2, s3 = x[j], x[j - 1], x[j - 2], x[j - 3]
        for l in range(count - 1 - j):
            known = x[j + 1 + l]
            s0 -= U[j, j + 1 + l] * known
            s1 -= U[j - 1, j + 1 + l] * known
            s2 -= U[j - 2, j + 1 + l] * known
            s3 -= U[j - 3, j + 1 + l] * known
        s0 /= U[j, j]
        s1 = (s1 - U[j - 1, j] * s0) / U[j - 1, j - 1]
        s2 = (s2 - U[j - 2, j] * s0 - U[j - 2, j - 1] * s1) / U[j - 2, j - 2]
        s3 = (s3 - U[j - 3, j] * s0 - U[j - 3, j - 1] * s1 - U[j - 3, j - 2] * s2) / U[j - 3, j - 3]
        x[j], x[j - 1], x[j - 2], x[j - 3] = s0, s1, s2, s3
        j -= 4
    while j >= 0:
        x[j] = (x[j] - row_product(U, j, x, j + 1, count - j - 1)) / U[j, j]
        j -= 1


@helper
def drop_column(U, count, a, along):
    """Take column a out of an upper triangular U of `count` columns: those after it move up, and rotations of rows make
    U triangular again. The rows of `along` are turned with them."""
    for i in range(count):
        first = max(a, i - 1)
        for l in range(count - 1 - first):
            U[i, first + l] = U[i, first + l + 1]
    for i in range(a, count - 1):
        r = np.sqrt(U[i, i] * U[i, i] + U[i + 1, i] * U[i + 1, i])
        c = U[i, i] / r
        s = U[i + 1, i] / r
        for l in range(count - 1 - i):
            upper = U[i, i + l]
            U[i, i + l] = c * upper + s * U[i + 1, i + l]
            U[i + 1, i + l] = c * U[i + 1, i + l] - s * upper
        for l in range(along.shape[1]):
            upper = along[i, l]
            along[i, l] = c * upper + s * along[i + 1, l]
            along[i + 1, l] = c * along[i + 1, l] - s * upper
