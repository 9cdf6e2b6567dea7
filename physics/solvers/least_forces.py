"""Independent rows of M, and the smallest forces within the friction cones that solve given equations."""

import math

import numpy as np

from ..core.interruption import look_up
from ..core.jit import kernel
from ..core.model import Array
from ..laws.contact import project_cone

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
    normal and tangential, the others one, x >= 0. Where x is unique, it is returned whatever the cones.

    With the rows of B made orthonormal, Q x = b, it is the smallest x = P_K(Qᵀy), and y, the multipliers, the minimum
    of ½|P_K(Qᵀy)|² - b·y, whose gradient Q P_K(Qᵀy) - b vanishes there: Newton's method with P_K', which has jumps
    [Qi & Sun 1993]. Contacts like springs of equal compliance, moved by rigid displacements y, would have these forces.
    """
    U, s, V = np.linalg.svd(B, full_matrices=False)
    rank = int(np.count_nonzero(s > RANK * s.max(initial=0.0)))
    Q, b = V[:rank], (U[:, :rank].T @ right) / s[:rank]
    if rank == B.shape[1]:
        return np.asarray(Q.T @ b, np.float64)
    places = np.flatnonzero(np.column_stack([np.ones(len(friction)), friction > 0.0, friction > 0.0]))
    C = np.zeros((rank, 3 * len(friction)))
    C[:, places] = Q
    y, size = b.copy(), float(np.abs(b).max(initial=0.0))
    x, free, missed, height = _height(C, b, friction, y)
    for _ in range(CONE_STEPS):
        worst = float(np.abs(missed).max(initial=0.0))
        if worst <= EXACT * size:
            return x.ravel()[places]
        slope = np.einsum("ikm,kml->ikl", C.reshape(rank, -1, 3), cone_slope(free, friction)).reshape(rank, -1) @ C.T
        slope[np.diag_indices(rank)] += DAMPING * min(worst / size, 1.0)
        try:
            step, t = np.linalg.solve(slope, -missed), 1.0
        except np.linalg.LinAlgError:  # no contact is within its cone in some direction of y
            return None
        while True:
            tried = _height(C, b, friction, y + t * step)
            if np.abs(tried[2]).max() <= 0.5 * worst or tried[3] <= height + 1e-4 * t * float(missed @ step):
                break
            t *= 0.5
            if t < 1e-6:
                return None
        y = y + t * step
        x, free, missed, height = tried
        if not np.abs(y).max() < ENDLESS * size:
            return None
    return None


def _height(C: Array, b: Array, friction: Array, y: Array) -> tuple[Array, Array, Array, float]:
    """P_K(Cᵀy) and Cᵀy (c, 3), C P_K(Cᵀy) - b, and ½|P_K(Cᵀy)|² - b·y."""
    free = np.ascontiguousarray((C.T @ y).reshape(-1, 3))
    x = np.empty_like(free)
    project_cone(free, friction, x)
    return x, free, C @ x.ravel() - b, float(0.5 * (x * x).sum() - b @ y)


def cone_slope(x: Array, mu: Array) -> Array:
    """P_K'(x) (c, 3, 3) of friction cones, x (c, 3), mu (c,): 1 inside, 0 in the polar cone; else, with e = x_T/|x_T|,
    g = (1, μ e)/√(1 + μ²) and P_n = (x_n + μ|x_T|)/(1 + μ²),  g gᵀ + μ P_n/|x_T| (1 - e eᵀ) in the tangent plane."""
    size = np.hypot(x[:, 1], x[:, 2])
    polar = mu * size <= -x[:, 0]
    inside = ~polar & (size <= mu * x[:, 0])
    rim = ~polar & ~inside
    slope = np.zeros((len(x), 3, 3))
    slope[inside] = np.eye(3)
    m, e = mu[rim], x[rim, 1:] / size[rim, None]
    g = np.column_stack([np.ones(len(m)), m[:, None] * e]) / np.sqrt(1.0 + m * m)[:, None]
    slope[rim] = g[:, :, None] * g[:, None, :]
    turn = m * (x[rim, 0] + m * size[rim]) / ((1.0 + m * m) * size[rim])
    slope[rim, 1:, 1:] += turn[:, None, None] * (np.eye(2) - e[:, :, None] * e[:, None, :])
    return slope


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
    M, wanted = np.ascontiguousarray(M), np.array([r for rows in classes for r in rows], np.int64)
    ends = np.cumsum([len(rows) for rows in classes], dtype=np.int64)
    chosen, at = np.zeros(len(wanted), np.int64), np.zeros(2, np.int64)
    left, L = M.diagonal()[wanted], np.zeros((len(wanted), len(wanted)))
    while pick_basis(M, wanted, ends, AT_ONCE, left, L, at, chosen):
        look_up()
    return wanted[chosen[: at[COUNT]]].tolist(), L[:, : at[COUNT]]


@kernel
def pick_basis(M, wanted, ends, at_once, left, L, at, chosen_out):
    """Go on with `basis` for so many multiplications, about, where `at` says; returns whether rows are left.

    The classes follow each other in the rows `wanted` and stop at the `ends`. Writes the places of the chosen rows in
    `wanted`; `at` (2,): which class, and the number of rows chosen. Between calls: what remains of M's
    diagonal, `left` (n,), and the factor L (n, n)."""
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
                along = M[wanted[i], wanted[best]]
                for m in range(count):
                    along -= L[i, m] * L[best, m]
                L[i, count] = along / root
            for i in range(n):
                left[i] -= L[i, count] ** 2
            left[best] = 0.0
            chosen_out[count] = best
            count += 1
            done += n * (count + COLUMN)
    at[COUNT] = count
    return False
