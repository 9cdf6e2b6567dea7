"""The right-hand side of the method `compliant`: forces of compliant surfaces as functions of positions and velocities,
and the rates of the surfaces. Kernels over contacts; row k of the surfaces is `slot[i]` of contact i."""

import math
from typing import NamedTuple

import numpy as np

from contactlab.physics.assemble import place_of, point_response, surface_velocity, world_inverse_inertia
from contactlab.physics.dynamics.free_body import velocity_from_momentum
from contactlab.physics.dynamics.motion import drive
from contactlab.physics.integrators.stepper import combine
from contactlab.physics.jit import helper, kernel
from contactlab.physics.laws import disc_projection
from contactlab.physics.model import Array, BodyKind
from contactlab.physics.soft_laws import (
    HERTZ,
    LINEAR,
    NORMAL_1,
    NORMAL_2,
    TANGENT_1,
    TANGENT_2,
    UNITS,
    depth_of_impact,
    drag_rate,
    free_rate,
    normal_force,
    recovered,
    spring_energy,
    spring_force,
    stick_force,
    undragged,
    unit_rate,
)
from contactlab.physics.state import Case
from contactlab.physics.vec import add, axpy, cross, dot, norm, put, row, row4, scale, sub

DYNAMIC = int(BodyKind.DYNAMIC)
APART, COLLIDING, SEPARATING, RESTING = int(Case.APART), int(Case.COLLIDING), int(Case.SEPARATING), int(Case.RESTING)
FREE, STICKS, SLIDES = 0, 1, 2


class Work(NamedTuple):
    """Scratch of one step; row k belongs to row k of the Surfaces, stage i to stage i of the integrator."""

    units: Array     #: (c, UNITS) K and D, see soft_laws.pair_units
    friction: Array  #: (c,)
    z: Array         #: (c, 2) surfaces at the stage
    x: Array         #: (c, 2, 3)
    z_rate: Array    #: (s, c, 2)
    x_rate: Array    #: (s, c, 2, 3) in the plane of Surfaces.normal
    force: Array     #: (s, c, 3) on body b [N]
    loss: Array      #: (s,) power that dampers and friction take [W]
    impulse: Array   #: (c, 3) since the step began [N s]
    approach: Array  #: (c,) ζ at the first touch of this step, 0 without one [m/s]
    zeta: Array      #: (c,) when the step began; nan before it is known [m/s]
    normal_now: Array  #: (c,) normal force when last settled [N]


def empty_work(capacity: int, stages: int) -> Work:
    zeros = np.zeros
    return Work(
        zeros((capacity, UNITS)), zeros(capacity), zeros((capacity, 2)), zeros((capacity, 2, 3)),
        zeros((stages, capacity, 2)), zeros((stages, capacity, 2, 3)), zeros((stages, capacity, 3)), zeros(stages),
        zeros((capacity, 3)), zeros(capacity), np.full(capacity, np.nan), zeros(capacity))


# ------------------------------------------------------------------------------------------------------- one contact
@helper
def carried(n0, n, x):
    """x turned as the unit normal n0 turns to n, by the shortest way."""
    w = cross(n0, n)
    turned = add(x, cross(w, x))
    return axpy(1.0 / (1.0 + dot(n0, n)), cross(w, cross(w, x)), turned)


@helper
def vector_of(x, k, j):
    return (x[k, j, 0], x[k, j, 1], x[k, j, 2])


@helper
def put_vector(x_out, k, j, u):
    x_out[k, j, 0] = u[0]
    x_out[k, j, 1] = u[1]
    x_out[k, j, 2] = u[2]


@helper
def contact_motion(surface_v, surface_w, body_x, q, v, w, a, b, point, n):
    """Arms to the contact point, ζ and the tangential velocity v of body b's surface relative to body a's."""
    arm_a = sub(point, row(body_x, a))
    arm_b = sub(point, row(body_x, b))
    u_a = add(add(row(v, a), cross(row(w, a), arm_a)), surface_velocity(surface_v, surface_w, a, row4(q, a), arm_a))
    u_b = add(add(row(v, b), cross(row(w, b), arm_b)), surface_velocity(surface_v, surface_w, b, row4(q, b), arm_b))
    u = sub(u_b, u_a)
    zeta = dot(n, u)
    return arm_a, arm_b, zeta, axpy(-zeta, n, u)


@helper
def gain(units, k, j):
    return units[k, j], units[k, j + 1]


@helper
def add_force(kind, body, arm, f, ydot):
    """Ṗ += f,  L̇ += arm × f"""
    if kind[body] == DYNAMIC:
        torque = cross(arm, f)
        for j in range(3):
            ydot[body, 7 + j] += f[j]
            ydot[body, 10 + j] += torque[j]


# ------------------------------------------------------------------------------------------------------------ stages
@kernel
def stage(model, weights_x, weights_p, stages, c, t, h, y0, k, law, closed, surfaces, units, z_rate, x_rate,
          bodies_out, z_out, x_out):
    """Bodies and surfaces of a stage at the part c of the step: y_0 + h Σ_j w_j k_j. Surfaces that were free when the
    step began recover by the closed form where `closed`."""
    combine(model.kind, weights_x, weights_p, stages, h, y0, k, bodies_out)
    velocity_from_momentum(model, bodies_out)
    drive(model, t + c * h, bodies_out)
    for i in range(int(surfaces.count[0])):
        for j in range(2):
            stiff, damp = gain(units, i, NORMAL_1 + 2 * j)
            z = surfaces.surface_z[i, j]
            x = vector_of(surfaces.surface_x, i, j)
            if closed == 1 and surfaces.mode[i] == FREE:
                z = recovered(law, stiff, damp, z, c * h)
                stiff, damp = gain(units, i, TANGENT_1 + 2 * j)
                x = undragged(stiff, damp, x, c * h)
            for s in range(stages):
                z += h * weights_x[s] * z_rate[s, i, j]
                x = axpy(h * weights_x[s], vector_of(x_rate[s], i, j), x)
            z_out[i, j] = z
            put_vector(x_out, i, j, x)


@kernel
def finish(weights_p, h, surfaces, work):
    """Take over the surfaces at the end of a substep (in work.z, work.x); add up impulses and losses."""
    lost = 0.0
    for s in range(len(weights_p)):
        lost += h * weights_p[s] * work.loss[s]
    for i in range(int(surfaces.count[0])):
        for j in range(2):
            surfaces.surface_z[i, j] = work.z[i, j]
            put_vector(surfaces.surface_x, i, j, vector_of(work.x, i, j))
        for s in range(len(weights_p)):
            put(work.impulse, i, axpy(h * weights_p[s], row(work.force[s], i), row(work.impulse, i)))
    surfaces.dissipated[0] += lost


@kernel
def recovery_loss(law, h, surfaces, units):
    """Energy that surfaces free since the step began give to their dampers within h [J], in the closed form."""
    lost = 0.0
    for i in range(int(surfaces.count[0])):
        if surfaces.mode[i] != FREE:
            continue
        for j in range(2):
            stiff, damp = gain(units, i, NORMAL_1 + 2 * j)
            z = surfaces.surface_z[i, j]
            lost += spring_energy(law, stiff, z) - spring_energy(law, stiff, recovered(law, stiff, damp, z, h))
            stiff, damp = gain(units, i, TANGENT_1 + 2 * j)
            x = vector_of(surfaces.surface_x, i, j)
            if stiff < math.inf:
                after = undragged(stiff, damp, x, h)
                lost += 0.5 * stiff * (dot(x, x) - dot(after, after))
    return lost


@kernel
def contact_rates(model, contacts, slot, law, closed, exact, surfaces, units, friction, bodies, z, x, ydot, z_rate_out,
                  x_rate_out, force_out):
    """Add the forces of the surfaces to the rates of P and L in ydot (n, 13) and write the rates of the surfaces and
    the forces; returns the power lost [W].

    `exact` = 1: every contact keeps the mode it began the step with, so that the right-hand side is smooth; the steps
    then end where a mode does. Else the laws decide at every stage.
    """
    lost = 0.0
    for k in range(int(surfaces.count[0])):
        put(force_out, k, (0.0, 0.0, 0.0))
        for j in range(2):
            rate, drag = 0.0, (0.0, 0.0, 0.0)
            if closed == 0:
                stiff, damp = gain(units, k, NORMAL_1 + 2 * j)
                rate = free_rate(law, stiff, damp, z[k, j])
                if rate != 0.0:
                    lost += spring_force(law, stiff, z[k, j]) * rate
                stiff, damp = gain(units, k, TANGENT_1 + 2 * j)
                drag = drag_rate(stiff, damp, vector_of(x, k, j), (0.0, 0.0, 0.0))
                if stiff < math.inf:
                    lost -= stiff * dot(vector_of(x, k, j), drag)
            z_rate_out[k, j] = rate
            put_vector(x_rate_out, k, j, drag)
    motions = model.motions
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        held = surfaces.mode[k] != FREE
        if not held and (exact == 1 or contacts.gap[i] > z[k, 0] + z[k, 1]):
            continue
        a, b, n = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.normal, i)
        arm_a, arm_b, zeta, v = contact_motion(
            motions.surface_velocity, motions.surface_spin, bodies.x, bodies.q, bodies.v, bodies.w, a, b,
            row(contacts.point, i), n)
        lost -= free_loss(law, closed, units, k, z, x)
        f, power = press(law, closed, exact, held, units, k, contacts.gap[i], zeta, z, z_rate_out)
        spin = 0.5 * dot(n, add(row(bodies.w, a), row(bodies.w, b)))
        f_t, drag = rub(closed, exact, int(surfaces.mode[k]), units, k, friction[k] * f, n, row(surfaces.normal, k),
                        spin, v, x, x_rate_out)
        lost += power + drag
        force = axpy(f, n, f_t)
        put(force_out, k, force)
        add_force(model.kind, b, arm_b, force, ydot)
        add_force(model.kind, a, arm_a, scale(-1.0, force), ydot)
    return lost


@helper
def free_loss(law, closed, units, k, z, x):
    """The power that was counted for this surface as if it were free."""
    lost = 0.0
    if closed == 0:
        for j in range(2):
            stiff, damp = gain(units, k, NORMAL_1 + 2 * j)
            rate = free_rate(law, stiff, damp, z[k, j])
            if rate != 0.0:
                lost += spring_force(law, stiff, z[k, j]) * rate
            stiff, damp = gain(units, k, TANGENT_1 + 2 * j)
            if stiff < math.inf:
                u = vector_of(x, k, j)
                lost -= stiff * dot(u, drag_rate(stiff, damp, u, (0.0, 0.0, 0.0)))
    return lost


@helper
def press(law, closed, exact, held, units, k, gap, zeta, z, z_rate_out):
    """Normal force of a touching contact and the power its dampers take; writes the rates of z.

    In the closed form z = p while they touch, so only the second of two surfaces has a rate of its own; a surface that
    was free when the step began has its recovery in it already.
    """
    k1, d1 = gain(units, k, NORMAL_1)
    k2, d2 = gain(units, k, NORMAL_2)
    z1, z2 = z[k, 0], z[k, 1]
    if closed == 1 or not held:
        z1 = gap - z2
    f = normal_force(law, k1, d1, k2, d2, z1, z2, zeta)
    lets_go = f < 0.0 and exact == 0
    if lets_go:
        f = 0.0
    rate_2 = unit_rate(k2, d2, z2, f)
    if k2 == math.inf and lets_go:
        rate_1 = free_rate(law, k1, d1, z1)
    elif k2 == math.inf or d1 == 0.0:
        rate_1 = zeta - rate_2
    else:
        rate_1 = unit_rate(k1, d1, z1, f)
    lost = (spring_force(law, k1, z1) - f) * rate_1
    if k2 < math.inf:
        lost += (spring_force(law, k2, z2) - f) * rate_2
    z_rate_out[k, 0] = 0.0 if closed == 1 else rate_1
    z_rate_out[k, 1] = rate_2
    if closed == 1 and not held:
        z_rate_out[k, 1] -= free_rate(law, k2, d2, z2)
    return f, lost


@helper
def rub(closed, exact, mode, units, k, limit, n, n0, spin, v, x, x_rate_out):
    """Friction force of a touching contact and the power it and its dampers take; writes the rates of x.

    x lies in the plane of n0 and is carried over to that of n; it turns about n with the mean spin of the two bodies.
    """
    k1, d1 = gain(units, k, TANGENT_1)
    k2, d2 = gain(units, k, TANGENT_2)
    x1, x2 = carried(n0, n, vector_of(x, k, 0)), carried(n0, n, vector_of(x, k, 1))
    f = stick_force(k1, d1, k2, d2, x1, x2, v)
    size = norm(f)
    if exact == 1:
        sliding = mode == SLIDES
        f = scale(limit / size if size > 0.0 else 0.0, f) if sliding else f
    else:
        sliding = size > limit
        f = disc_projection(f, limit)
    rate_1, rate_2 = drag_rate(k1, d1, x1, f), drag_rate(k2, d2, x2, f)
    if d1 == 0.0 and not sliding:  # undamped: x follows exactly, or springs back at once (`settle`)
        rate_1 = v
    lost = -dot(axpy(k1, x1, f), rate_1) - dot(f, sub(v, add(rate_1, rate_2)))
    if k2 < math.inf:
        lost -= dot(axpy(k2, x2, f), rate_2)
    if closed == 1 and mode == FREE:
        rate_1 = sub(rate_1, drag_rate(k1, d1, x1, (0.0, 0.0, 0.0)))
        rate_2 = sub(rate_2, drag_rate(k2, d2, x2, (0.0, 0.0, 0.0)))
    put_vector(x_rate_out, k, 0, carried(n, n0, add(rate_1, scale(spin, cross(n, x1)))))
    put_vector(x_rate_out, k, 1, carried(n, n0, add(rate_2, scale(spin, cross(n, x2)))))
    return f, lost


# ------------------------------------------------------------------------------------------- between two (sub)steps
@kernel
def settle(model, contacts, slot, law, bodies, surfaces, work):
    """Bring the surfaces up to date with the bodies: who touches (p <= z), who lets go (f_n < 0), who slides; and the
    plane of x, key and place of every contact. A surface without a contact is free."""
    kind, motions, units = model.kind, model.motions, work.units
    for k in range(int(surfaces.count[0])):
        work.z[k, 0] = 0.0  # marks who has a contact
    for i in range(int(contacts.count[0])):
        work.z[slot[i], 0] = 1.0
    for k in range(int(surfaces.count[0])):
        work.normal_now[k] = 0.0
        if work.z[k, 0] == 0.0:
            surfaces.mode[k] = FREE
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        a, b = int(contacts.body_a[i]), int(contacts.body_b[i])
        n, point = row(contacts.normal, i), row(contacts.point, i)
        _, _, zeta, v = contact_motion(
            motions.surface_velocity, motions.surface_spin, bodies.x, bodies.q, bodies.v, bodies.w, a, b, point, n)
        if math.isnan(work.zeta[k]):
            work.zeta[k] = zeta
        n0 = row(surfaces.normal, k)
        for j in range(2):
            x = carried(n0, n, vector_of(surfaces.surface_x, k, j))
            put_vector(surfaces.surface_x, k, j, axpy(-dot(n, x), n, x))
        put(surfaces.normal, k, n)
        put(surfaces.place, k, place_of(bodies.x, kind, a, b, point))
        surfaces.key[k] = contacts.key[i]
        settle_normal(law, units, k, contacts.gap[i], zeta, surfaces.mode, surfaces.surface_z, work.approach,
                      work.normal_now)
        if surfaces.mode[k] != FREE:
            settle_tangent(units, k, work.friction[k] * work.normal_now[k], v, surfaces.mode, surfaces.surface_x)


@helper
def settle_normal(law, units, k, gap, zeta, mode, surface_z, approach, force_out):
    k1, d1 = gain(units, k, NORMAL_1)
    k2, d2 = gain(units, k, NORMAL_2)
    touched = mode[k] != FREE
    missing = gap - (surface_z[k, 0] + surface_z[k, 1])
    if not touched and missing > 0.0:
        return
    if not touched:
        approach[k] = min(approach[k], zeta)
    # a sudden push goes through the dampers: each surface takes its part 1/D_i
    share = 0.0 if touched or k2 == math.inf or d1 == 0.0 else (1.0 / d2) / (1.0 / d1 + 1.0 / d2)
    surface_z[k, 1] += share * missing
    surface_z[k, 0] = gap - surface_z[k, 1]
    f = normal_force(law, k1, d1, k2, d2, surface_z[k, 0], surface_z[k, 1], zeta)
    mode[k] = STICKS if f >= 0.0 else FREE
    force_out[k] = max(f, 0.0)


@helper
def settle_tangent(units, k, limit, v, mode, surface_x):
    k1, d1 = gain(units, k, TANGENT_1)
    k2, d2 = gain(units, k, TANGENT_2)
    f = stick_force(k1, d1, k2, d2, vector_of(surface_x, k, 0), vector_of(surface_x, k, 1), v)
    size = norm(f)
    if size > limit:
        mode[k] = SLIDES
        if d1 == 0.0:
            put_vector(surface_x, k, 0, scale(-limit / (k1 * size), f))


@kernel
def stored_energy(law, surfaces, units):
    """Energy in the springs of all surfaces [J]."""
    stored = 0.0
    for k in range(int(surfaces.count[0])):
        for j in range(2):
            stored += spring_energy(law, units[k, NORMAL_1 + 2 * j], surfaces.surface_z[k, j])
            stiff = units[k, TANGENT_1 + 2 * j]
            if stiff < math.inf:
                x = vector_of(surfaces.surface_x, k, j)
                stored += 0.5 * stiff * dot(x, x)
    return stored


@kernel
def rate_limits(model, contacts, slot, surfaces, units, law, closed, bodies, share_out):
    """Bounds for the explicit step: largest ω² [1/s2] and damping rate [1/s] of bodies on their surfaces, and largest
    rate [1/s] at which surfaces recover or springs in series relax; share_out (n, 2) is scratch.

    With w the answer of a body's contact point to an impulse (its Frobenius norm), the eigenvalues of M⁻¹K are at most
    the largest Σ K w over the contacts of a body, twice where the other body moves too.
    """
    motions = model.motions
    share_out[:] = 0.0
    drag = 0.0
    for k in range(int(surfaces.count[0]) if closed == 0 else 0):
        for j in range(0, UNITS, 2):
            stiff, damp = gain(units, k, j)
            if damp > 0.0 and stiff < math.inf:
                drag = max(drag, stiff / damp)
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        a, b = int(contacts.body_a[i]), int(contacts.body_b[i])
        k1, d1 = gain(units, k, NORMAL_1)
        k2, d2 = gain(units, k, NORMAL_2)
        stiff, damp = k1, d1
        if k2 < math.inf:  # the stiffer branch: at high frequency the dampers are rigid
            damp = 0.0 if d1 == 0.0 else 1.0 / (1.0 / d1 + 1.0 / d2)
            drag = max(drag, (k1 + k2) / (d1 + d2))
        kt, dt = gain(units, k, TANGENT_1)
        if law != LINEAR:  # K and D at the depth there is, or there will be after this approach
            _, _, zeta, _ = contact_motion(
                motions.surface_velocity, motions.surface_spin, bodies.x, bodies.q, bodies.v, bodies.w, a, b,
                row(contacts.point, i), row(contacts.normal, i))
            w = model.inv_mass[a] + model.inv_mass[b]
            depth = max(-contacts.gap[i], depth_of_impact(law, k1, zeta, w) if zeta < 0.0 and w > 0.0 else 0.0)
            stiff = 1.5 * k1 * math.sqrt(depth) if law == HERTZ else k1
            damp = d1 * (math.sqrt(depth) if law == HERTZ else depth)
        stiff, damp = max(stiff, kt), max(damp, dt)
        if dt > 0.0:
            drag = max(drag, kt / dt)
        both = 2.0 if model.kind[a] == DYNAMIC and model.kind[b] == DYNAMIC else 1.0
        for body in (a, b):
            if model.kind[body] == DYNAMIC:
                arm = sub(row(contacts.point, i), row(bodies.x, body))
                inverse = world_inverse_inertia(row4(bodies.q, body), row(model.inv_inertia, body))
                s = point_response(model.inv_mass[body], inverse, arm)
                w = both * math.sqrt(s[0] ** 2 + s[3] ** 2 + s[5] ** 2 + 2.0 * (s[1] ** 2 + s[2] ** 2 + s[4] ** 2))
                share_out[body, 0] += w * stiff
                share_out[body, 1] += w * damp
    return share_out[:, 0].max(), share_out[:, 1].max(), drag


@kernel
def report(model, contacts, slot, bodies, surfaces, work, rest_speed, h, approach_out):
    """Fill what the step found out about every contact (see `Contacts`) and the speed at which it first touched
    (c,) [m/s], 0 where it did not; returns the deepest dent [m]."""
    motions = model.motions
    deepest = 0.0
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        n = row(contacts.normal, i)
        _, _, zeta, v = contact_motion(
            motions.surface_velocity, motions.surface_spin, bodies.x, bodies.q, bodies.v, bodies.w,
            int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i), n)
        impulse = row(work.impulse, k)
        lam = dot(impulse, n) / h
        touches = surfaces.mode[k] != FREE
        contacts.zeta_dot[i] = (zeta - work.zeta[k]) / h
        contacts.zeta[i] = zeta
        contacts.lam[i] = lam
        put(contacts.impulse, i, impulse)
        put(contacts.friction_force, i, axpy(-lam, n, scale(1.0 / h, impulse)))
        contacts.slip[i] = norm(v)
        case = APART
        if touches:
            case = COLLIDING if zeta < -rest_speed else SEPARATING if zeta > rest_speed else RESTING
            deepest = max(deepest, -contacts.gap[i])
        contacts.case[i] = case
        contacts.current[i] = 1 if touches else 0
        contacts.active[i] = 1 if work.normal_now[k] > 0.0 else 0
        approach_out[i] = work.approach[k]
    return deepest
