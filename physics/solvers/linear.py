"""Factorisations that kernels of several solvers use: LU of a full matrix; Cholesky factors, and the removal of their
columns."""

import numpy as np

from ..core.jit import helper
from .lcp_info import row_product, subtract_row

SINGULAR = 1e-6  #: pivot of a unit-diagonal matrix below which a column is taken for dependent on those before: with x
#  the column's coefficients on those, |x|² <= 1/SINGULAR or so, rounding changes a pivot by 1e-16 (1 + |x|)²


@helper
def lu_factor(A, order_out):
    """P A = L U in place, L's unit diagonal left out; order_out[i] = the row exchanged with row i. False: singular.
    Rows with nothing below a pivot, and what is nought at the end of a pivot's row, are left out: most, where bodies
    that touch are near each other in A."""
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
        inverse, end = 1.0 / A[j, j], n
        while A[j, end - 1] == 0.0:
            end -= 1
        for i in range(j + 1, n):
            factor = A[i, j] * inverse
            A[i, j] = factor
            if factor != 0.0:
                for l in range(j + 1, end):
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
def cholesky(U, count, smallest, left, order_out):
    """A = UᵀU in place in the upper triangle, without the columns that depend on those before them: pivot <= smallest.

    Returns how many are kept. order_out (count,) = old positions of the columns, those kept first, and U is
    [U_K, U_K⁻ᵀ A_KL], the factor of those kept, K, and beside it the others, L. left (count,) is work space: the
    remainder of every column's diagonal, so that no row of a dependent column is worked on. Rows are eliminated two at
    a time.
    """
    rank = dropped = 0
    for j in range(count):
        left[j] = U[j, j]
    j = 0
    while j < count:
        if not left[j] > smallest:
            dropped += 1
            order_out[count - dropped] = j
            j += 1
            continue
        two = j + 1 < count and left[j + 1] > smallest
        if two:
            subtract_two(U, rank, j, count)
        else:
            subtract_one(U, 0, rank, j, count)
        finish_row(U, rank, j, count, left, order_out)
        rank += 1
        j += 1
        if two and left[j] > smallest:
            subtract_one(U, rank - 1, rank, j, count)
            finish_row(U, rank, j, count, left, order_out)
            rank += 1
            j += 1
    if dropped > 0:
        keep_first(U, count, rank, left, order_out)
    return rank


@helper
def subtract_one(U, first, rank, j, count):
    """Row j of A loses U_ij U_i for first <= i < rank, from its diagonal on. (Slices tell the compiler that no index is
    negative: without them it uses no vectors.)"""
    mine = U[j, j:count]
    i = first
    while i + 4 <= rank:
        f0, f1, f2, f3 = U[i, j], U[i + 1, j], U[i + 2, j], U[i + 3, j]
        u0, u1, u2, u3 = U[i, j:count], U[i + 1, j:count], U[i + 2, j:count], U[i + 3, j:count]
        for l in range(len(mine)):
            mine[l] -= f0 * u0[l] + f1 * u1[l] + f2 * u2[l] + f3 * u3[l]
        i += 4
    while i < rank:
        f0, u0 = U[i, j], U[i, j:count]
        for l in range(len(mine)):
            mine[l] -= f0 * u0[l]
        i += 1


@helper
def subtract_two(U, rank, j, count):
    """The same for rows j and j + 1 and all i < rank: each row i is read once for both. (Three rows i at a time: with
    more the compiler gives up proving that no two of the rows overlap.)"""
    mine, next_one = U[j, j:count], U[j + 1, j:count]
    i = 0
    while i + 3 <= rank:
        f0, f1, f2 = U[i, j], U[i + 1, j], U[i + 2, j]
        g0, g1, g2 = U[i, j + 1], U[i + 1, j + 1], U[i + 2, j + 1]
        u0, u1, u2 = U[i, j:count], U[i + 1, j:count], U[i + 2, j:count]
        for l in range(len(mine)):
            a0, a1, a2 = u0[l], u1[l], u2[l]
            mine[l] -= f0 * a0 + f1 * a1 + f2 * a2
            next_one[l] -= g0 * a0 + g1 * a1 + g2 * a2
        i += 3
    while i < rank:
        f0, g0, u0 = U[i, j], U[i, j + 1], U[i, j:count]
        for l in range(len(mine)):
            mine[l] -= f0 * u0[l]
            next_one[l] -= g0 * u0[l]
        i += 1


@helper
def finish_row(U, rank, j, count, left, order_out):
    """What is left of row j of A becomes row `rank` of U."""
    root = 1.0 / np.sqrt(U[j, j])
    mine, done, rest = U[j, j:count], U[rank, j:count], left[j:count]
    for l in range(len(mine)):
        done[l] = root * mine[l]
    for l in range(len(mine)):
        rest[l] -= done[l] * done[l]
    order_out[rank] = j


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
    """x := U⁻¹ x, U upper triangular; four unknowns at a time, whose sums are independent."""
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
