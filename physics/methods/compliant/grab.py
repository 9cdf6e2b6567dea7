"""The mouse spring as a force, for methods that put forces into a right-hand side."""

import math

from ...core.jit import kernel
from ...core.sym3 import point_response, sym_inverse, sym_vec, world_inverse_inertia
from ...core.vec import add, axpy, cross, dot, norm, rotate, row, row4, scale, sub
from ...dynamics.grab import GRAB_LIMIT, GRAB_RATE, GRAB_TURN_LIMIT
from ...laws.contact import disc_projection
from ...problem.assemble import flat, put_flat


@kernel
def pull(loads, mass, inv_mass, inv_inertia, bodies, ydot):
    """Add the mouse spring to the rates of P and L in ydot (n, 13), and note its force in the loads.

    Critically damped with rate ω = GRAB_RATE for the held body by itself, and bounded: f = -W⁻¹ (ω² C + 2 ω u) with the
    stretch C, the velocity u of the held point and its answer W to impulses; turning, the same about the centre.
    """
    i = int(loads.grab_body[0])
    arm = rotate(row4(bodies.q, i), flat(loads.grab_point))
    away = sub(flat(loads.grab_target), row(bodies.x, i))
    inertia = world_inverse_inertia(row4(bodies.q, i), row(inv_inertia, i))
    turns = loads.grab_turn[0] == 1
    if turns:
        axis = cross(away, arm)  # turning by +|angle| about it takes the target's direction to the arm's
        size = norm(axis)
        stretch = scale(math.atan2(size, dot(away, arm)) / size if size > 0.0 else 0.0, axis)
        w, u = inertia, row(bodies.w, i)
        limit = GRAB_TURN_LIMIT / max(w[0], max(w[3], w[5]))
    else:
        stretch = sub(arm, away)
        w = point_response(inv_mass[i], inertia, arm)
        u = add(row(bodies.v, i), cross(row(bodies.w, i), arm))
        limit = mass[i] * GRAB_LIMIT
    wanted = axpy(GRAB_RATE * GRAB_RATE, stretch, scale(2.0 * GRAB_RATE, u))
    f = disc_projection(scale(-1.0, sym_vec(sym_inverse(w), wanted)), limit)
    torque = f if turns else cross(arm, f)
    for j in range(3):
        ydot[i, 10 + j] += torque[j]
        if not turns:
            ydot[i, 7 + j] += f[j]
    put_flat(loads.grab_force, scale(1.0 / max(dot(arm, arm), 1e-6), cross(f, arm)) if turns else f)
