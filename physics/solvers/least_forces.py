"""Independent rows, and the smallest forces among those that keep them at zero."""

import math

import numpy as np
from numpy.typing import NDArray

from ..core.jit import kernel
from ..core.model import Array
from .gauss_principle import constrained_acceleration

DEPENDENT = 1e-10   # part of a row that independent rows leave of it, below which it depends on them
ZERO = 1e-9         # forces and accelerations that count as zero, relative to the largest
RANK = 1e-11        # singular values that count as zero, relative to the largest
FEW = 100           # equations of which finding independent ones first saves nothing


def smallest(B: Array, right: Array, pushes: NDArray[np.intp]) -> Array | None:
    """The smallest x (n,) with B x = right, B (m, n), a system that has solutions, and x >= 0 in the places `pushes`;
    None where there is no such x. With x = x₀ + Y t, Y a basis of the null space of B, that is Gauss's principle for
    t: the smallest |t|² with Y t >= -x₀ in these places."""
    U, s, V = np.linalg.svd(B, full_matrices=False)
    rank = int(np.count_nonzero(s > RANK * s.max(initial=0.0)))
    x = V[:rank].T @ ((U[:, :rank].T @ right) / s[:rank])
    if rank == B.shape[1] or (x[pushes] >= 0.0).all():
        return x
    Y = np.linalg.qr(V[:rank].T, mode="complete")[0][:, rank:]
    t, _, info = constrained_acceleration(
        np.eye(Y.shape[1]), np.ascontiguousarray(Y[pushes].T), np.zeros(Y.shape[1]), x[pushes])
    if info.status != "solved":
        return None
    x += Y @ t
    used = np.ones(len(x), bool)
    used[pushes] = x[pushes] > ZERO * np.abs(x).max()
    exact = np.zeros(len(x))
    exact[used] = np.linalg.lstsq(B[:, used], right, rcond=RANK)[0]
    return exact if (exact[pushes] >= 0.0).all() else np.where(used, x, 0.0)


def least(M: Array, right: Array) -> Array:
    """The smallest x with M x = right, a system that has solutions, M (n, n) symmetric and positive semidefinite."""
    if len(M) <= FEW:
        return np.asarray(np.linalg.lstsq(M, right, rcond=RANK)[0], np.float64)
    rows = basis(M, list(range(len(M))))
    Q, R = np.linalg.qr(M[rows].T)
    return np.asarray(Q @ np.linalg.solve(R.T, right[rows]), np.float64)


def basis(M: Array, *classes: list[int]) -> list[int]:
    """Independent rows of M (n, n), symmetric and positive semidefinite: of each class in turn as many as do not depend
    on those chosen before, the most independent one first. By Cholesky's decomposition with pivoting."""
    wanted = np.array([r for rows in classes for r in rows], np.int64)
    ends = np.cumsum([len(rows) for rows in classes], dtype=np.int64)
    chosen = np.zeros(len(wanted), np.int64)
    count = pick_basis(np.ascontiguousarray(M), wanted, ends, chosen)
    return wanted[chosen[:count]].tolist()


@kernel
def pick_basis(M, wanted, ends, chosen_out):
    """See `basis`: each class are the rows `wanted` up to one of the `ends`. Writes the places of those chosen and
    returns their number."""
    n, count, begin = len(wanted), 0, 0
    left, unit, L = np.zeros(n), np.ones(n), np.zeros((n, n))
    for i in range(n):
        left[i] = M[wanted[i], wanted[i]]
        unit[i] = left[i] if left[i] > 0.0 else 1.0  # the row of a point that cannot move is 0
    for end in ends:
        while True:
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
        begin = end
    return count
