"""Proofs that no impulses keep all contacts from approaching: vectors of Farkas.

Where M is positive semidefinite and no λ >= 0 gives M λ + d >= 0, a vector y proves it:

    y >= 0,  M y = 0,  d·y < 0,    because  y·(M λ + d) = d·y  for every λ.

For a general M the proof is y >= 0, Mᵀ y <= 0, d·y < 0. With friction y has normal entries only, and Mᵀ y vanishes in
the tangential rows: then Σ y_i u_i <= d·y < 0 of the normal velocities, whatever the impulses of friction.
"""

import numpy as np

from ..core.model import Array
from ..problem.problem import ContactProblem
from .lcp_info import INCONSISTENT, Scaled


def certificate(data: Scaled, y: Array, rows: int = 1) -> Array | None:
    """y (k,), a vector for the scaled problem, as a proof for the given one, its largest entry 1; None where it proves
    nothing. rows: number of rows of a contact, the normal one first."""
    top = np.max(y, initial=0.0)
    if not (np.isfinite(y).all() and top > 0.0):
        return None
    y = np.where(y > 1e-11 * top, y / top, 0.0)
    answer, gain = (data.M.T @ y).reshape(-1, rows), data.d @ y
    if np.max(answer[:, 0]) > 1e-7 or np.abs(answer[:, 1:]).max(initial=0.0) > 1e-7:
        return None
    if gain >= -INCONSISTENT * (np.abs(data.d) @ y):
        return None
    given = data.scale * y
    return given / given.max()


def no_solution(problem: ContactProblem) -> Array | None:
    """A proof y (k,) that a problem has no solution, or None where none is found: y, s >= 0 with Mᵀ y + s = 0 and
    d·y = -1, by least squares with bounds [Lawson & Hanson 1974, ch. 23]."""
    from scipy.optimize import nnls  # imported here: slow to load, and seldom needed

    rows, k, c = problem.dimension, len(problem.d), problem.contact_count
    own = np.diagonal(problem.M).reshape(-1, rows).mean(axis=1)
    scale = np.repeat(1.0 / np.sqrt(np.where(own > 0.0, own, 1.0)), rows)
    size = float(np.max(np.abs(scale * problem.d), initial=0.0)) or 1.0
    data = Scaled(scale[:, None] * problem.M * scale, scale * problem.d / size, scale, size)
    A, right, normal = np.zeros((k + 1, 2 * c)), np.zeros(k + 1), np.arange(0, k, rows)
    A[:k, :c], A[k, :c], A[normal, c + np.arange(c)] = data.M[normal].T, data.d[normal], 1.0
    right[k] = -1.0
    y = np.zeros(k)
    try:
        y[normal] = nnls(A, right)[0][:c]
    except RuntimeError:  # raised by nnls after too many iterations
        return None
    return certificate(data, y, rows)
