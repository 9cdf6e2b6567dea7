"""Drift of an orientation that is integrated as a rotation matrix and as a quaternion.

    Ṙ = [ω]× R,    q̇ = ½ ω q,    ω = R I⁻¹ Rᵀ L                                        [Baraff I §2.3, §2.11, §4.2]

of a body on which no torque acts, so that L stays. Both go by the same steps, and nothing is put right between them.
Nine numbers have six conditions, RᵀR = 1, from which R drifts: it stretches and shears the body. Four have one,
|q| = 1, and a division restores it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.model import Array
from ..integrators import INTEGRATORS
from .body_state import rotation

STEPPED = ("euler", "heun", "rk4")  #: integrators to choose from: ordinary ones with steps of one length


class Drift(NamedTuple):
    """k + 1 instants from the beginning on."""

    t: Array           #: (k + 1,) [s]
    matrix: Array      #: (k + 1,) |RᵀR - 1|, Frobenius' norm
    volume: Array      #: (k + 1,) det R: how many times as large the body would be drawn
    quaternion: Array  #: (k + 1,) ||q| - 1|
    apart: Array       #: (k + 1,) angle between the rotations nearest to both [rad]


def drift(inertia: Array, q: Array, L: Array, integrator: str, h: float, steps: int) -> Drift:
    """Of a body of principal moments (3,) and orientation q (4,), with angular momentum L (3,) [kg m2/s], by one of
    STEPPED with steps of h [s]."""
    R, p = rotation(q), q.copy()
    found = Drift(np.linspace(0.0, h * steps, steps + 1), *np.zeros((4, steps + 1)))
    for k in range(steps + 1):
        found.matrix[k], found.volume[k] = np.linalg.norm(R.T @ R - np.eye(3)), np.linalg.det(R)
        size = float(np.linalg.norm(p))
        found.quaternion[k] = abs(size - 1.0)
        apart = rotation(p / size).T @ nearest(R)
        found.apart[k] = 2.0 * np.arcsin(min(np.linalg.norm(apart - np.eye(3)) / np.sqrt(8.0), 1.0))
        R = step(integrator, R, h, lambda M: matrix_rate(M, inertia, L))
        p = step(integrator, p, h, lambda x: quaternion_rate(x, inertia, L))
    return found


def nearest(R: Array) -> Array:
    """The rotation nearest to a matrix, by its polar decomposition."""
    U, _, V = np.linalg.svd(R)
    return U @ V


def matrix_rate(R: Array, inertia: Array, L: Array) -> Array:
    """[ω]× R, with ω of the rotation nearest to R."""
    near = nearest(R)
    return np.cross(near @ (near.T @ L / inertia), R.T).T


def quaternion_rate(q: Array, inertia: Array, L: Array) -> Array:
    """½ ω q, where R is that of q/|q|."""
    R = rotation(q / np.linalg.norm(q))
    w, s, r = R @ (R.T @ L / inertia), q[0], q[1:]
    return 0.5 * np.array([-w @ r, *(s * w + np.cross(w, r))])


def step(integrator: str, y: Array, h: float, rate: Callable[[Array], Array]) -> Array:
    """One step of the integrator's tableau, an ordinary Runge–Kutta method."""
    tableau = INTEGRATORS[integrator].tableau
    k = np.zeros((len(tableau.c), *y.shape))
    for i, row in enumerate(tableau.a_x):
        k[i] = rate(y + h * np.tensordot(row, k, 1))
    return y + h * np.tensordot(tableau.b_x, k, 1)
