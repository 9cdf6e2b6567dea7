"""Couples that oppose turning at a contact: of the dent that travels where round bodies roll, and of friction against
spinning and rolling. All are functions of the turning ω = ω_b - ω_a, with that of running surfaces, and of the force f.

Friction against turning is at most ℓ_ψ f about the normal and ℓ_r f across it. Up to that it is -D ω: such couples have
no springs, so a contact that should be held turns on at a small rate. D = I √(K_t/m), with I and m of what turns:
turning as slow as that ends at the rate √(K_t/m) at which the surfaces vibrate sideways.
"""

import math

import numpy as np

from ...core.jit import helper
from ...core.model import Array, Model
from ...core.vec import add, axpy, dot, norm, row, scale, sub
from ...dynamics.motion import moves
from ...laws.contact import moment_projection
from ...problem.moments import running_spin

DENT, DRAG, SPIN, ROLL = range(4)  #: columns of SoftContactWork.turn: D_r R² and D [N m s], ℓ_ψ and ℓ_r [m]


def inverse_inertia(model: Model) -> Array:
    """1/I, I the mean of the moments, and 1/m of all bodies (n, 2); 0 of those without mass."""
    with np.errstate(divide="ignore"):
        inertia = np.where(model.mass > 0.0, model.inertia.mean(axis=1), np.inf)
        mass = np.where(model.mass > 0.0, model.mass, np.inf)
        return np.ascontiguousarray(np.stack([1.0 / inertia, 1.0 / mass], axis=1))


@helper
def drag(inverse, a, b, stiffness):
    """D [N m s] of two bodies with K_t: I and m of both together, 1/I = 1/I_a + 1/I_b; 0 where neither moves."""
    both, moved = 1.0 / (inverse[a, 0] + inverse[b, 0]), 1.0 / (inverse[a, 1] + inverse[b, 1])
    found = both * math.sqrt(stiffness / moved)
    return found if math.isfinite(found) else 0.0


@helper
def turning_between(motions, bodies, a, b):
    """ω of the surface of body b relative to that of body a."""
    w_a = add(row(bodies.w, a), running_spin(motions, bodies, a))
    return sub(add(row(bodies.w, b), running_spin(motions, bodies, b)), w_a)


@helper
def turns_hard(turn, k):
    """Whether anything opposes turning at row k."""
    return turn[k, DENT] > 0.0 or turn[k, DRAG] > 0.0


@helper
def couple_against(turn, k, f, n, turning):
    """The couple on body b. The dent travels over the surfaces at c = R |ω_t|, ω_t the turning across the normal, which
    takes D_r c²: -D_r R² ω_t."""
    rolling = axpy(-dot(n, turning), n, turning)
    friction = moment_projection(scale(-turn[k, DRAG], turning), n, turn[k, SPIN] * f, turn[k, ROLL] * f)
    return axpy(-turn[k, DENT], rolling, friction)


@helper
def oppose(kind, a, b, couple, turning, ydot):
    """Add a couple to the rates of L; returns the power that it takes [W]."""
    for j in range(3):
        if moves(kind, b):
            ydot[b, 10 + j] += couple[j]
        if moves(kind, a):
            ydot[a, 10 + j] -= couple[j]
    return -dot(couple, turning)


@helper
def put_couple_answer(turn, k, f, n, turning, answer_out):
    """-∂m/∂ω (3, 3) of the couple m on body b at a given force f."""
    along = dot(n, turning)
    rolling = axpy(-along, n, turning)
    speed, drag = norm(rolling), turn[k, DRAG]
    about = drag if drag * abs(along) <= turn[k, SPIN] * f else 0.0
    rolls = drag * speed > turn[k, ROLL] * f
    across = turn[k, ROLL] * f / speed if rolls else drag
    d = scale(1.0 / speed if rolls else 0.0, rolling)
    for r in range(3):
        for c in range(3):
            eye, nn = 1.0 if r == c else 0.0, n[r] * n[c]
            answer_out[r, c] = about * nn + (turn[k, DENT] + across) * (eye - nn) - across * d[r] * d[c]
