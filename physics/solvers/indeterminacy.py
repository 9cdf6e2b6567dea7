"""What the contact equations leave open: all λ with the same motion.

If there is a solution, T λ and ζ̇ are unique, and solutions differ by null vectors of T, hence of M [RBDA §11.5]. A
contact with ζ̇_i > 0 has λ_i = 0 in all of them; so with S the contacts of ζ̇_i = 0 the solutions are

    λ + Y t >= 0,    Y a basis of { y : M y = 0, y_i = 0 outside S }.
"""

from typing import NamedTuple

import numpy as np

from ..core.model import Array, IntArray
from ..problem.problem import ContactProblem
from .gauss_principle import constrained_acceleration

ZERO_RATE = 1e-9  # ζ̇_i, and eigenvalues of M scaled to a unit diagonal, that count as zero relative to their sizes


class Indeterminacy(NamedTuple):
    """All solutions beside one of them; m = 0 directions where λ is unique."""

    current: IntArray      #: contacts with ζ̇ = 0
    basis: Array           #: (k, m) orthonormal directions Y
    low: Array             #: (m,) λ + t Y_j >= 0 for low_j <= t <= high_j (±inf: unbounded) [unit of λ]
    high: Array            #: (m,)
    minimum_norm: Array    #: (k,) the solution with the smallest |λ|


def indeterminacy(problem: ContactProblem, lam: Array) -> Indeterminacy:
    """The solutions of a frictionless problem, symmetric semidefinite M (k, k), from one of them, lam (k,)."""
    zeta = problem.M @ lam + problem.d
    size = np.abs(problem.d) + np.abs(problem.M) @ np.abs(lam)
    current = np.flatnonzero(zeta <= ZERO_RATE * size).astype(np.int32)
    basis = np.zeros((len(lam), 0))
    if len(current):
        null = _null_space(problem.M[np.ix_(current, current)])
        basis = np.zeros((len(lam), null.shape[1]))
        basis[current] = null
    rise = np.full(basis.shape, np.inf)
    np.divide(lam[:, None], np.abs(basis), out=rise, where=np.abs(basis) > ZERO_RATE)
    low = -np.min(np.where(basis > 0, rise, np.inf), axis=0, initial=np.inf)
    high = np.min(np.where(basis < 0, rise, np.inf), axis=0, initial=np.inf)
    return Indeterminacy(current, basis, low, high, _shortest(basis[current], lam, current))


def force_ranges(problem: ContactProblem, lam: Array) -> Array:
    """(k, 2): the smallest and the largest force of each contact in any solution (inf: unbounded) [unit of λ]."""
    from scipy.optimize import linprog  # imported here: slow to load, and seldom needed

    found = indeterminacy(problem, lam)
    ranges = np.stack([lam, lam], axis=1)
    if found.basis.shape[1] == 1:  # along a line: its ends
        y = found.basis[:, 0]
        moved = np.abs(y) > ZERO_RATE
        ranges[moved] += np.sort(y[moved, None] * np.array([found.low[0], found.high[0]]), axis=1)
        return np.maximum(ranges, np.minimum(lam, 0.0)[:, None])
    top = np.max(np.abs(lam), initial=0.0) or 1.0
    rows = found.basis[found.current]
    for i in np.flatnonzero(np.any(np.abs(found.basis) > ZERO_RATE, axis=1)):
        for side, sign in enumerate((1.0, -1.0)):
            best = linprog(sign * found.basis[i], A_ub=-rows, b_ub=lam[found.current] / top, bounds=(None, None))
            ranges[i, side] = lam[i] + sign * top * best.fun if best.status == 0 else -sign * np.inf
    return ranges


def _null_space(M: Array) -> Array:
    """An orthonormal basis of the null space of a semidefinite matrix, decided on its scaling to a unit diagonal."""
    diagonal = np.diagonal(M)
    scale = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 1.0)
    values, vectors = np.linalg.eigh(scale[:, None] * M * scale)
    null = scale[:, None] * vectors[:, values <= ZERO_RATE * len(M)]
    return np.linalg.qr(null)[0]


def _shortest(Y: Array, lam: Array, rows: IntArray) -> Array:
    """min |λ + Y t| subject to λ + Y t >= 0, which is Gauss's principle with H = 1, T = Yᵀ."""
    if not Y.shape[1]:
        return lam.copy()
    t = constrained_acceleration(np.eye(Y.shape[1]), Y.T, -Y.T @ lam[rows], lam[rows])[0]
    shortest = lam.copy()
    shortest[rows] = np.maximum(lam[rows] + Y @ t, 0.0)
    return shortest
