"""The mouse spring (laws.mouse) as an applied force, for methods whose right-hand side is a function of positions and
velocities."""

from ..core.jit import helper, kernel
from ..core.sym3 import point_response, sym_inverse, sym_vec, world_inverse_inertia
from ..core.vec import accumulate, add, cross, rotate, row, row4, scale, sub
from ..laws.contact import disc_projection
from ..laws.mouse import (
    GRAB_LIMIT,
    GRAB_TURN_LIMIT,
    force_at_point,
    spring_acceleration,
    spring_rate,
    turn_limit,
    turned_by,
)


@helper
def arm_and_target(loads, bodies, i):
    """From the centre of mass of body i to the grabbed point and to where the mouse points [m], world frame."""
    arm = rotate(row4(bodies.q, i), (loads.grab_point[0], loads.grab_point[1], loads.grab_point[2]))
    return arm, sub((loads.grab_target[0], loads.grab_target[1], loads.grab_target[2]), row(bodies.x, i))


@helper
def add_pull(loads, i, f, moment, at_point, force, torque):
    """Add a pull on body i to force and torque (n, 3), and note the force at the grabbed point in loads.grab_force."""
    accumulate(force, i, f)
    accumulate(torque, i, moment)
    for j in range(3):
        loads.grab_force[j] = at_point[j]


@kernel
def pull_grabbed(model, loads, bodies, h, force, torque, ydot):
    """Add the mouse spring on a free body to force and torque (n, 3) and to the rates of P and L in ydot (n, 13); the
    force at the grabbed point goes to loads.grab_force. h [s]: the step that the spring has to be slow for.

    W = 1/m + [r]× I⁻¹ [r]×ᵀ at the arm r; when turning, W = I⁻¹.
    """
    i = int(loads.grab_body[0])
    if i < 0 or model.inv_mass[i] == 0.0:
        return
    rate, spin, nothing = spring_rate(h), row(bodies.w, i), (0.0, 0.0, 0.0)
    arm, target = arm_and_target(loads, bodies, i)
    inertia = world_inverse_inertia(row4(bodies.q, i), row(model.inv_inertia, i))
    if loads.grab_turn[0] == 1:
        wanted = spring_acceleration(rate, turned_by(target, arm), spin)
        moment = disc_projection(sym_vec(sym_inverse(inertia), wanted), turn_limit(inertia))
        f, at_point = nothing, force_at_point(moment, arm)
    else:
        u = add(row(bodies.v, i), cross(spin, arm))
        w = point_response(model.inv_mass[i], inertia, arm)
        wanted = spring_acceleration(rate, sub(arm, target), u)
        f = disc_projection(sym_vec(sym_inverse(w), wanted), model.mass[i] * GRAB_LIMIT)
        moment, at_point = cross(arm, f), f
    add_pull(loads, i, f, moment, at_point, force, torque)
    for j in range(3):
        ydot[i, 7 + j] += f[j]
        ydot[i, 10 + j] += moment[j]


@helper
def pull_by(model, loads, bodies, i, w, h, force, torque):
    """Add the mouse spring on body i to force and torque (n, 3), as `pull_grabbed` does, for a body that may be unable
    to move in some directions. The spring is critically damped in the direction in which the body moves most easily;
    w is the inverse mass there [1/kg], or the inverse inertia when turning [1/(kg m2)]. Returns force and moment."""
    rate, spin = spring_rate(h), row(bodies.w, i)
    arm, target = arm_and_target(loads, bodies, i)
    if loads.grab_turn[0] == 1:
        wanted = spring_acceleration(rate, turned_by(target, arm), spin)
        f, moment = (0.0, 0.0, 0.0), disc_projection(scale(1.0 / w, wanted), GRAB_TURN_LIMIT / w)
        at_point = force_at_point(moment, arm)
    else:
        wanted = spring_acceleration(rate, sub(arm, target), add(row(bodies.v, i), cross(spin, arm)))
        f = disc_projection(scale(1.0 / w, wanted), GRAB_LIMIT / w)
        moment, at_point = cross(arm, f), f
    add_pull(loads, i, f, moment, at_point, force, torque)
    return f, moment
