"""Independent rows of M, and the smallest forces within the friction cones that solve given equations."""

import math

import numpy as np

from ..core.interruption import look_up
from ..core.jit import helper, kernel
from ..core.model import Array
from ..core.state import LongArray
from ..core.vec import put, row
from ..laws.contact import cone_projection
from .lcp_info import row_product, subtract_row
from .linear import lu_factor, lu_solve

DEPENDENT = 1e-10   # remainder of a row beside independent rows below which it depends on them, relative to the row
ZERO = 1e-9         # forces and accelerations that count as zero, relative to the largest
RANK = 1e-11        # singular values that count as zero, relative to the largest
FEW = 100           # equations up to which it saves nothing to find independent ones first
ROOT_ERROR = 1e-14  # of M = G Gᵀ, relative to the largest number in M
EXACT = 1e-14       # residual of the smallest forces within cones, relative to the right-hand side
CONE_STEPS = 40     # most steps of Newton's method for the smallest forces within cones
DAMPING = 1e-3      # added to the diagonal in Newton's method, times the relative residual
AT_ONCE = 5_000_000  # multiplications of `pick_basis` in one call: a tenth of a second, then it looks up
COLUMN = 100        # multiplications that reading a column of M and writing one of L count as
CLASS, COUNT = range(2)  # entries of `pick_basis`'s place
ENDLESS = 1e9       # size of the multipliers, relative to the right-hand side, above which no forces exist


def smallest(B: Array, right: Array, friction: Array) -> Array | None:
    """The smallest x (n,) with B x = right, B (m, n), a system that has solutions, and x within the friction cones;
    None where there is no such x, or where it is not found. friction (c,): contacts of μ > 0 have three unknowns each,
    normal and tangential, the others one, x >= 0. Where x is unique, it is returned whatever the cones."""
    places = np.flatnonzero(np.column_stack([np.ones(len(friction)), friction > 0.0, friction > 0.0]))
    W, x = np.zeros((len(B), 3 * len(friction) + 1)), np.zeros((len(friction), 3))
    W[:, places], W[:, -1] = B, right
    return x.ravel()[places] if smallest_of(W, len(places), np.asarray(friction, np.float64), x) else None


@kernel
def smallest_of(W, unknowns, friction, x_out):
    """`smallest`, of equations whose right-hand sides are the last column of W (m, 3 c + 1), in so many unknowns: the
    columns of others are zero. Writes x (c, 3); returns whether it was found."""
    rank = orthonormal_rows(W, 3 * len(friction))
    y, slope = W[:rank, -1].copy(), np.empty((len(friction), 3, 3))
    return smallest_within(W, W[:rank, -1].copy(), rank == unknowns, friction, y, x_out, slope)


@helper
def orthonormal_rows(W, n):
    """Combine the rows of W (m, k) so that the first n entries of those that come first are orthonormal, by the method
    of Gram and Schmidt, the most independent row first and twice each [Kahan in Parlett 1980].
    Returns how many there are: the others depend on them, but for RANK. Where right-hand sides are among the entries
    after n, the equations have the solutions that they had."""
    rank, largest = 0, 0.0
    while rank < len(W):
        best, most = rank, -1.0
        for i in range(rank, len(W)):
            size = row_product(W, i, W[i], 0, n)
            if size > most:
                best, most = i, size
        largest = max(largest, most)
        if not most > RANK * RANK * largest:
            break
        for l in range(W.shape[1]):
            W[rank, l], W[best, l] = W[best, l], W[rank, l]
        for p in range(rank):
            subtract_row(W[rank], 0, row_product(W, p, W[rank], 0, n), W, p, W.shape[1])
        size = math.sqrt(row_product(W, rank, W[rank], 0, n))
        for l in range(W.shape[1]):
            W[rank, l] /= size
        for i in range(rank + 1, len(W)):
            subtract_row(W[i], 0, row_product(W, rank, W[i], 0, n), W, rank, W.shape[1])
        rank += 1
    return rank


@helper
def smallest_within(W, b, free, friction, y, x_out, slope_out):
    """The smallest x (c, 3) within the friction cones with Q x = b, Q (r, 3 c) the orthonormal rows that W begins with;
    returns whether it was found. free: without cones, or where x is unique.

    It is x = P_K(Qᵀy), and y (r,), the multipliers, whose first guess is given, the minimum of ½|P_K(Qᵀy)|² - b·y,
    whose gradient Q P_K(Qᵀy) - b vanishes there: Newton's method with P_K', slope_out (c, 3, 3), which has jumps
    [Qi & Sun 1993]. Contacts like springs of equal compliance, moved by rigid displacements y, would have these
    forces."""
    rank, c = len(b), len(friction)
    size = 0.0
    pushed, missed, tried, step = np.empty((c, 3)), np.empty(rank), np.empty(rank), np.empty(rank)
    S, order = np.empty((rank, rank)), np.empty(rank, np.int32)
    for i in range(rank):
        size = max(size, abs(b[i]))
    if free:
        y[:] = b
        height_of(W, b, friction, y, pushed, x_out, missed)
        x_out[:] = pushed
        slope_out[:] = 0.0
        for k in range(c):
            for i in range(3):
                slope_out[k, i, i] = 1.0
        return True
    height, worst = height_of(W, b, friction, y, pushed, x_out, missed)
    for _ in range(CONE_STEPS):
        for k in range(c):
            cone_slope(pushed, friction, k, slope_out)
        if worst <= EXACT * size:
            return True
        squared(W, rank, slope_out, S)
        along = 0.0
        for i in range(rank):
            S[i, i] += DAMPING * min(worst / size, 1.0)
            step[i] = -missed[i]
        if not lu_factor(S, order):  # no contact is within its cone in some direction of y
            return False
        lu_solve(S, order, step)
        for i in range(rank):
            along += missed[i] * step[i]
        t, before = 1.0, worst
        while True:
            for i in range(rank):
                tried[i] = y[i] + t * step[i]
            high, worst = height_of(W, b, friction, tried, pushed, x_out, missed)
            if worst <= 0.5 * before or high <= height + 1e-4 * t * along:
                break
            t *= 0.5
            if t < 1e-6:
                return False
        y[:], height = tried, high
        for i in range(rank):
            if not abs(y[i]) < ENDLESS * size:
                return False
    return False


@helper
def height_of(W, b, friction, y, pushed_out, x_out, missed_out):
    """Qᵀy and P_K(Qᵀy) (c, 3), Q P_K(Qᵀy) - b; returns ½|P_K(Qᵀy)|² - b·y and the largest entry of the latter."""
    flat, x, total, worst = pushed_out.reshape(-1), x_out.reshape(-1), 0.0, 0.0
    flat[:] = 0.0
    for i in range(len(b)):
        subtract_row(flat, 0, -y[i], W, i, len(flat))
    for k in range(len(friction)):
        put(x_out, k, cone_projection(row(pushed_out, k), (1.0, 0.0, 0.0), friction[k]))
        total += 0.5 * (x_out[k, 0] * x_out[k, 0] + x_out[k, 1] * x_out[k, 1] + x_out[k, 2] * x_out[k, 2])
    for i in range(len(b)):
        missed_out[i] = row_product(W, i, x, 0, len(x)) - b[i]
        worst = max(worst, abs(missed_out[i]))
        total -= b[i] * y[i]
    return total, worst


@helper
def squared(W, rank, slope, S_out):
    """Q D Qᵀ (r, r), D (c, 3, 3) the blocks of a diagonal, symmetric each."""
    n = 3 * len(slope)
    moved = np.empty(n)
    for i in range(rank):
        for k in range(len(slope)):
            for a in range(3):
                moved[3 * k + a] = (slope[k, a, 0] * W[i, 3 * k] + slope[k, a, 1] * W[i, 3 * k + 1]
                                    + slope[k, a, 2] * W[i, 3 * k + 2])
        for j in range(i + 1):
            S_out[i, j] = S_out[j, i] = row_product(W, j, moved, 0, n)


@helper
def cone_slope(x, mu, k, slope_out):
    """P_K'(x) of friction cone k, slope_out (c, 3, 3), x (c, 3), mu (c,): 1 inside, 0 in the polar cone; else, with
    e = x_T/|x_T|, g = (1, μ e)/√(1 + μ²) and P_n = (x_n + μ|x_T|)/(1 + μ²),  g gᵀ + μ P_n/|x_T| (1 - e eᵀ) in the
    tangent plane."""
    m, size = mu[k], math.hypot(x[k, 1], x[k, 2])
    for i in range(3):
        for j in range(3):
            slope_out[k, i, j] = 0.0
    if m * size <= -x[k, 0]:
        return
    if size <= m * x[k, 0]:
        for i in range(3):
            slope_out[k, i, i] = 1.0
        return
    e1, e2, square = x[k, 1] / size, x[k, 2] / size, 1.0 + m * m
    g, turn = (1.0, m * e1, m * e2), m * (x[k, 0] + m * size) / (square * size)
    for i in range(3):
        for j in range(3):
            slope_out[k, i, j] = g[i] * g[j] / square
    slope_out[k, 1, 1] += turn * e2 * e2
    slope_out[k, 2, 2] += turn * e1 * e1
    slope_out[k, 1, 2] -= turn * e1 * e2
    slope_out[k, 2, 1] -= turn * e1 * e2


@kernel
def cone_slopes(x, mu, slope_out):
    """`cone_slope` of all contacts."""
    for k in range(len(mu)):
        cone_slope(x, mu, k, slope_out)


def least(M: Array, right: Array) -> Array:
    """The smallest x with M x = right, a system that has solutions, M (n, n) symmetric and positive semidefinite."""
    if len(M) <= FEW:
        return np.asarray(np.linalg.lstsq(M, right, rcond=RANK)[0], np.float64)
    rows = basis(M, list(range(len(M))))
    Q, R = np.linalg.qr(M[rows].T)
    return np.asarray(Q @ np.linalg.solve(R.T, right[rows]), np.float64)


def root_of(M: Array) -> Array | None:
    """G (n, r) of independent columns with M = G Gᵀ, M (n, n) symmetric and positive semidefinite of rank r; None where
    rows are so nearly dependent that there is none but for ROOT_ERROR."""
    _, G = _independent(M, list(range(len(M))))
    return G if np.abs(G @ G.T - M).max(initial=0.0) <= ROOT_ERROR * np.abs(M).max(initial=0.0) else None


def basis(M: Array, *classes: list[int]) -> list[int]:
    """Independent rows of M (n, n), symmetric and positive semidefinite: of each class in turn as many as do not depend
    on those chosen before, the most independent one first. By Cholesky's decomposition with pivoting."""
    return _independent(M, *classes)[0]


def _independent(M: Array, *classes: list[int]) -> tuple[list[int], Array]:
    """The rows of `basis`, and the factor (k, r) of all k rows of the classes."""
    wanted = np.array([r for rows in classes for r in rows], np.int64)
    chosen, L = independent(M, wanted, np.cumsum([len(rows) for rows in classes], dtype=np.int64))
    return wanted[chosen].tolist(), np.ascontiguousarray(L.T)


def independent(M: Array, wanted: LongArray, ends: LongArray) -> tuple[LongArray, Array]:
    """Places in `wanted` (k,) of the rows of `basis`, and the transposed factor (r, k) of all these rows; the classes
    follow each other in `wanted` and stop at the `ends`."""
    M, chosen, at = np.ascontiguousarray(M), np.zeros(len(wanted), np.int64), np.zeros(2, np.int64)
    left, L = M.diagonal()[wanted], np.zeros((len(wanted), len(wanted)))
    while pick_basis(M, wanted, ends, AT_ONCE, left, L, at, chosen):
        look_up()
    return chosen[: at[COUNT]], L[: at[COUNT]]


@kernel
def pick_basis(M, wanted, ends, at_once, left, L, at, chosen_out):
    """Go on with `basis` for so many multiplications, about, where `at` says; returns whether rows are left.

    See `independent`. Writes the places of the chosen rows in `wanted`; `at` (2,): which class, and the number of rows
    chosen. Between calls: what remains of M's diagonal, `left` (n,), and the transposed factor L (n, n)."""
    n, count, done = len(wanted), at[COUNT], 0
    unit = np.ones(n)
    for i in range(n):
        if M[wanted[i], wanted[i]] > 0.0:  # the row of a point that cannot move is 0
            unit[i] = M[wanted[i], wanted[i]]
    for which in range(at[CLASS], len(ends)):
        begin, end = 0 if which == 0 else ends[which - 1], ends[which]
        while True:
            if done > at_once:
                at[CLASS], at[COUNT] = which, count
                return True
            best = -1
            for i in range(begin, end):
                if left[i] > DEPENDENT * unit[i] and (best < 0 or left[i] * unit[best] > left[best] * unit[i]):
                    best = i
            if best < 0:
                break
            root = math.sqrt(left[best])
            for i in range(n):
                L[count, i] = M[wanted[i], wanted[best]]
            for m in range(count):
                if L[m, best] != 0.0:  # of another island
                    subtract_row(L[count], 0, L[m, best], L, m, n)
            for i in range(n):
                L[count, i] /= root
                left[i] -= L[count, i] ** 2
            left[best] = 0.0
            chosen_out[count] = best
            count += 1
            done += n * (count + COLUMN)
    at[COUNT] = count
    return False
