"""Applied forces: gravity, springs between bodies, and the wrenches a user puts on bodies."""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from ..core.vec import accumulate, add, axpy, cross, dot, neg, norm, put, rotate, row, row4, scale, sub
from .motion import moves


class Loads(NamedTuple):
    """What acts on the bodies during one step beside gravity and springs.

    The grab is the mouse spring, see laws.mouse. Each method applies it in its own way, as an impulse or as a force,
    and writes the force it came to.
    """

    force: Array          #: (n, 3) at the centre of mass, constant over a step [N], world frame
    torque: Array         #: (n, 3) about the centre of mass, constant over a step [N m], world frame
    grab_body: IntArray   #: (1,) body grabbed by the mouse, -1 = none
    grab_point: Array     #: (3,) where it is grabbed [m], body frame
    grab_target: Array    #: (3,) where that point is pulled to [m], world frame
    grab_turn: IntArray   #: (1,) 1 = the target also turns the body about its centre of mass
    grab_force: Array     #: (3,) written by the method: mean force on the body over the last step [N], world frame
    joint: Array          #: (n_v,) torques and forces on the joints of all links [N m] or [N]; empty = none


def empty_loads(n: int, velocities: int = 0) -> Loads:
    """No load on any of n bodies and of so many velocities of joints."""
    return Loads(
        np.zeros((n, 3)), np.zeros((n, 3)),
        np.full(1, -1, np.int32), np.zeros(3), np.zeros(3), np.zeros(1, np.int32), np.zeros(3),
        np.zeros(velocities),
    )


@helper
def spring_end(body, anchor, bodies):
    """World position and velocity of a spring's end; body -1 is the world."""
    if body < 0:
        return anchor, (0.0, 0.0, 0.0)
    r = rotate(row4(bodies.q, body), anchor)
    return add(row(bodies.x, body), r), add(row(bodies.v, body), cross(row(bodies.w, body), r))


@helper
def add_at_point(body, point, f, kind, bodies, force_out, torque_out):
    """Add a force f at a world point of a body that forces move: F += f, τ += (p - x) × f"""
    if moves(kind, body):
        accumulate(force_out, body, f)
        accumulate(torque_out, body, cross(sub(point, row(bodies.x, body)), f))


@kernel
def applied_forces(model, loads, bodies, force_out, torque_out):
    """Gravity, springs and loads at the given poses and velocities: force (n, 3) [N] and torque about the centre of
    mass (n, 3) [N m], world frame; zero for bodies that forces do not move.

    A spring of direction u (a to b) and length s pulls with f = k (s - s_0) + d ṡ.
    """
    gravity = (model.gravity[0], model.gravity[1], model.gravity[2])
    for i in range(len(model.kind)):
        if moves(model.kind, i):
            put(force_out, i, axpy(model.mass[i], gravity, row(loads.force, i)))
            put(torque_out, i, row(loads.torque, i))
        else:
            put(force_out, i, (0.0, 0.0, 0.0))
            put(torque_out, i, (0.0, 0.0, 0.0))
    springs = model.springs
    for k in range(len(springs.body_a)):
        a = int(springs.body_a[k])
        b = int(springs.body_b[k])
        p_a, v_a = spring_end(a, row(springs.anchor_a, k), bodies)
        p_b, v_b = spring_end(b, row(springs.anchor_b, k), bodies)
        s = norm(sub(p_b, p_a))
        if s == 0.0:
            continue  # no direction to pull in
        u = scale(1.0 / s, sub(p_b, p_a))
        s_dot = dot(u, sub(v_b, v_a))
        f = scale(springs.stiffness[k] * (s - springs.length[k]) + springs.damping[k] * s_dot, u)
        add_at_point(a, p_a, f, model.kind, bodies, force_out, torque_out)
        add_at_point(b, p_b, neg(f), model.kind, bodies, force_out, torque_out)
