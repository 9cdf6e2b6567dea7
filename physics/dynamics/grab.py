"""The mouse spring as an applied force, for methods whose right-hand side is a function of positions and velocities."""

import math

from ..core.jit import helper, kernel
from ..core.sym3 import point_response, sym_inverse, sym_vec, world_inverse_inertia
from ..core.vec import accumulate, add, axpy, cross, dot, norm, rotate, row, row4, scale, sub

GRAB_RATE = 2.0 * math.pi * 4.0  # ω of the mouse spring [rad/s]: critically damped, follows within a quarter second
GRAB_LIMIT = 20.0 * 9.81         # its largest acceleration of the held body [m/s2]: cannot press it through another
GRAB_TURN_LIMIT = math.pi * GRAB_RATE**2  # its largest angular acceleration when turning [rad/s2]
LARGEST = 0.5  # of h times the spring's rate: explicit integrators stay stable below 2


@kernel
def pull_held(model, loads, bodies, h, force, torque, ydot):
    """Add the mouse spring to force and torque (n, 3) and to the rates of P and L in ydot (n, 13); the force at the
    held point goes to loads.grab_force.

    With C the stretch and u the velocity of the held point,  f = -W⁻¹ (ω² C + 2 ω u)  is critically damped for every
    mass, W = 1/m + [r]× I⁻¹ [r]×ᵀ;  |f| is limited. Turning: the same about the centre of mass, C the rotation that
    takes the target's direction to that of the held point. ω is GRAB_RATE, or what steps of h allow.
    """
    i = int(loads.grab_body[0])
    if i < 0 or model.inv_mass[i] == 0.0:
        return
    rate = min(GRAB_RATE, LARGEST / h)
    q, spin = row4(bodies.q, i), row(bodies.w, i)
    arm = rotate(q, (loads.grab_point[0], loads.grab_point[1], loads.grab_point[2]))
    target = (loads.grab_target[0], loads.grab_target[1], loads.grab_target[2])
    pull = sub(target, row(bodies.x, i))
    inertia = world_inverse_inertia(q, row(model.inv_inertia, i))
    if loads.grab_turn[0] == 1:
        axis = cross(pull, arm)
        size = norm(axis)
        stretch = scale(math.atan2(size, dot(pull, arm)) / size if size > 0.0 else 0.0, axis)
        limit = GRAB_TURN_LIMIT / max(inertia[0], max(inertia[3], inertia[5]))
        moment = sym_vec(sym_inverse(inertia), axpy(-rate * rate, stretch, scale(-2.0 * rate, spin)))
        moment = scale(min(1.0, limit / max(norm(moment), 1e-300)), moment)
        f = (0.0, 0.0, 0.0)
        at_point = scale(1.0 / max(dot(arm, arm), 1e-12), cross(moment, arm))
    else:
        w = point_response(model.inv_mass[i], inertia, arm)
        u = add(row(bodies.v, i), cross(spin, arm))
        f = sym_vec(sym_inverse(w), axpy(-rate * rate, sub(arm, pull), scale(-2.0 * rate, u)))
        f = scale(min(1.0, model.mass[i] * GRAB_LIMIT / max(norm(f), 1e-300)), f)
        moment = cross(arm, f)
        at_point = f
    accumulate(force, i, f)
    accumulate(torque, i, moment)
    for j in range(3):
        ydot[i, 7 + j] += f[j]
        ydot[i, 10 + j] += moment[j]
        loads.grab_force[j] = at_point[j]


@helper
def pull_by(model, loads, bodies, i, arm, w, h, force, torque):
    """Add the mouse spring on body i at an arm to force and torque (n, 3), as `pull_held` does, for one that need not
    move in all directions: critically damped in that in which it moves most easily, answering with w [1/kg], turning
    [1/(kg m2)]. Returns force and moment."""
    rate, spin = min(GRAB_RATE, LARGEST / h), row(bodies.w, i)
    pull = sub((loads.grab_target[0], loads.grab_target[1], loads.grab_target[2]), row(bodies.x, i))
    turn = int(loads.grab_turn[0])
    if turn == 1:
        axis = cross(pull, arm)
        size = norm(axis)
        stretch = scale(math.atan2(size, dot(pull, arm)) / max(size, 1e-300), axis)
        u, limit = spin, GRAB_TURN_LIMIT / w
    else:
        stretch, u, limit = sub(arm, pull), add(row(bodies.v, i), cross(spin, arm)), GRAB_LIMIT / w
    f = scale(-1.0 / w, axpy(rate * rate, stretch, scale(2.0 * rate, u)))
    f = scale(min(1.0, limit / max(norm(f), 1e-300)), f)
    moment, at_point = cross(arm, f), f
    if turn == 1:
        moment, at_point, f = f, scale(1.0 / max(dot(arm, arm), 1e-12), cross(f, arm)), (0.0, 0.0, 0.0)
    accumulate(force, i, f)
    accumulate(torque, i, moment)
    for j in range(3):
        loads.grab_force[j] = at_point[j]
    return f, moment
