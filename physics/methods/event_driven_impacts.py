"""Impacts as the event-driven method needs them: what impulses contacts that touch give each other at an instant."""

import numpy as np

from contactlab.physics.contact_sets import BoolArray, with_rest
from contactlab.physics.model import Array
from contactlab.physics.problem import ContactProblem
from contactlab.physics.solvers.dantzig import Dantzig


def newton_impact(M: Array, u: Array, restitution: Array, friction: Array, rest: float) -> Array:
    """Impulses p (3 c,) of Newton's law for all contacts at once, from M (3 c, 3 c), velocities before u (3 c,).

    0 <= ζ⁺ + e ζ⁻ ⊥ λ >= 0, e counting where ζ⁻ < -rest; Coulomb's law between impulse and slip after it [RBDA 11.64]
    """
    closing = u[::3] < -rest
    bias = np.where(closing, restitution * u[::3], 0.0)
    d = u.copy()
    d[::3] += bias
    if not (friction > 0.0).any():
        p = np.zeros_like(u)
        lam = np.zeros(len(friction))
        info = Dantzig()(ContactProblem.frictionless(M[::3, ::3], d[::3]), lam)
        if info.status != "solved" and bias.any():  # walls that cannot all be left at once: without restitution
            return newton_impact(M, u, np.zeros_like(restitution), friction, rest)
        p[::3] = lam
        return p
    c = len(friction)
    return with_rest(M, d, friction, np.zeros(c, bool), np.zeros((c, 2)))[1]


def impact_without_collision(M: Array, u: Array, slides: BoolArray, slip: Array, friction: Array) -> Array:
    """Impulses where accelerations have no solution or several: of the sliding contacts, the one whose friction presses
    it most into the other body jams. In the paradox friction is strong enough to hold it: both ζ and slip vanish."""
    c = len(friction)
    stiff = np.full(c, np.inf)
    for k in np.flatnonzero(slides):
        stiff[k] = (M[3 * k, 3 * k] - friction[k] * M[3 * k, 3 * k + 1 : 3 * k + 3] @ slip[k]) / M[3 * k, 3 * k]
    p = np.zeros(3 * c)
    k = int(np.argmin(stiff))
    rows = slice(3 * k, 3 * k + 3)
    p[rows] = np.linalg.solve(M[rows, rows], -u[rows])
    if p[3 * k] < 0.0:
        p[rows] = 0.0
    return p
