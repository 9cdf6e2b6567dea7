"""The right-hand side of the method `compliant`: forces of compliant surfaces as functions of positions and velocities,
and the rates of the surfaces. Kernels over contacts; row k of the surfaces is `slot[i]` of contact i."""

import math
from typing import NamedTuple

import numpy as np

from contactlab.physics.assemble import surface_velocity
from contactlab.physics.dynamics.free_body import velocity_from_momentum
from contactlab.physics.dynamics.kinematics import place_links
from contactlab.physics.dynamics.motion import drive
from contactlab.physics.dynamics.tree_rates import combine_links
from contactlab.physics.integrators.stepper import combine
from contactlab.physics.jit import helper, kernel
from contactlab.physics.laws import disc_projection
from contactlab.physics.model import Array, BodyKind
from contactlab.physics.soft_laws import (
    NORMAL_1,
    NORMAL_2,
    TANGENT_1,
    TANGENT_2,
    UNITS,
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
from contactlab.physics.vec import add, axpy, cross, dot, norm, put, row, row4, scale, sub

DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)
FREE, STICKS, SLIDES = 0, 1, 2


class Work(NamedTuple):
    """Scratch of one step; row k belongs to row k of the Surfaces, stage i to stage i of the integrator."""

    units: Array     #: (c, UNITS) K and D, see soft_laws.pair_units
    friction: Array  #: (c,)
    roll: Array      #: (c,) D_r R² of the travelling dent, see `roll` [N m s]
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
        zeros((capacity, UNITS)), zeros(capacity), zeros(capacity), zeros((capacity, 2)), zeros((capacity, 2, 3)),
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
    """Ṗ += f,  L̇ += arm × f; for a link the row of ydot gathers its forces"""
    if kind[body] == DYNAMIC or kind[body] == LINK:
        torque = cross(arm, f)
        for j in range(3):
            ydot[body, 7 + j] += f[j]
            ydot[body, 10 + j] += torque[j]


# ------------------------------------------------------------------------------------------------------------ stages
@kernel
def stage(model, weights_x, weights_p, stages, c, t, h, y0, k, law, closed, surfaces, work, trees, bodies_out, q_out,
          v_out):
    """Bodies, coordinates of links and surfaces (work.z, work.x) of a stage at the part c of the step: y_0 + h Σ_j w_j
    k_j. Surfaces that were free when the step began recover by the closed form where `closed`."""
    combine(model.kind, weights_x, weights_p, stages, h, y0, k, bodies_out)
    combine_links(model.trees, weights_x, weights_p, stages, h, y0, k, q_out, v_out)
    place_links(model, q_out, v_out, trees.work, bodies_out)
    velocity_from_momentum(model, bodies_out)
    drive(model, t + c * h, bodies_out)
    for i in range(int(surfaces.count[0])):
        for j in range(2):
            stiff, damp = gain(work.units, i, NORMAL_1 + 2 * j)
            z = surfaces.surface_z[i, j]
            x = vector_of(surfaces.surface_x, i, j)
            if closed == 1 and surfaces.mode[i] == FREE:
                z = recovered(law, stiff, damp, z, c * h)
                stiff, damp = gain(work.units, i, TANGENT_1 + 2 * j)
                x = undragged(stiff, damp, x, c * h)
            for s in range(stages):
                z += h * weights_x[s] * work.z_rate[s, i, j]
                x = axpy(h * weights_x[s], vector_of(work.x_rate[s], i, j), x)
            work.z[i, j] = z
            put_vector(work.x, i, j, x)


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
def contact_rates(model, contacts, slot, law, closed, exact, s, surfaces, work, bodies, ydot):
    """Add the forces of the surfaces to the rates of P and L in ydot (n, 13), and write what stage s finds in `work`:
    rates of the surfaces, forces, power lost [W].

    `exact` = 1: every contact keeps the mode it began the step with, so that the right-hand side is smooth; the steps
    then end where a mode does. Else the laws decide at every stage.
    """
    units, z, x = work.units, work.z, work.x
    z_rate, x_rate, pushes = work.z_rate[s], work.x_rate[s], work.force[s]
    motions, lost = model.motions, 0.0
    for k in range(int(surfaces.count[0])):
        put(pushes, k, (0.0, 0.0, 0.0))
        lost += free_rates(law, closed, units, k, z, x, z_rate, x_rate)
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        if k < 0:
            continue
        held = surfaces.mode[k] != FREE
        if not held and (exact == 1 or contacts.gap[i] > z[k, 0] + z[k, 1]):
            continue
        a, b, n = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.normal, i)
        arm_a, arm_b, zeta, v = contact_motion(
            motions.surface_velocity, motions.surface_spin, bodies.x, bodies.q, bodies.v, bodies.w, a, b,
            row(contacts.point, i), n)
        lost -= free_loss(law, closed, units, k, z, x)
        f, power = press(law, closed, exact, held, units, k, contacts.gap[i], zeta, z, z_rate)
        turning = sub(row(bodies.w, b), row(bodies.w, a))
        spin = 0.5 * dot(n, add(row(bodies.w, a), row(bodies.w, b)))
        f_t, drag = rub(closed, exact, int(surfaces.mode[k]), units, k, work.friction[k] * f, n,
                        row(surfaces.normal, k), spin, v, x, x_rate)
        lost += power + drag
        force = axpy(f, n, f_t)
        put(pushes, k, force)
        add_force(model.kind, b, arm_b, force, ydot)
        add_force(model.kind, a, arm_a, scale(-1.0, force), ydot)
        if f > 0.0 and work.roll[k] > 0.0:
            lost += roll(model.kind, a, b, work.roll[k], n, turning, ydot)
    work.loss[s] = lost


@helper
def roll(kind, a, b, resistance, n, turning, ydot):
    """The dent travels over the surfaces at c = R |ω_t|, which takes D_r c²: the couple -D_r R² ω_t resists the
    rolling, ω_t the part of ω_b - ω_a across the normal; `resistance` = D_r R² [N m s]. Returns the power [W]."""
    across = axpy(-dot(n, turning), n, turning)
    for j in range(3):
        if kind[b] == DYNAMIC or kind[b] == LINK:
            ydot[b, 10 + j] -= resistance * across[j]
        if kind[a] == DYNAMIC or kind[a] == LINK:
            ydot[a, 10 + j] += resistance * across[j]
    return resistance * dot(across, across)


@helper
def free_rates(law, closed, units, k, z, x, z_rate_out, x_rate_out):
    """Rates of the surfaces of row k as if nothing touched them, which in the closed form are in z and x already; the
    power their dampers take [W]."""
    for j in range(2):
        rate, drag = 0.0, (0.0, 0.0, 0.0)
        if closed == 0:
            stiff, damp = gain(units, k, NORMAL_1 + 2 * j)
            rate = free_rate(law, stiff, damp, z[k, j])
            stiff, damp = gain(units, k, TANGENT_1 + 2 * j)
            drag = drag_rate(stiff, damp, vector_of(x, k, j), (0.0, 0.0, 0.0))
        z_rate_out[k, j] = rate
        put_vector(x_rate_out, k, j, drag)
    return free_loss(law, closed, units, k, z, x)


@helper
def free_loss(law, closed, units, k, z, x):
    """The power that the dampers of row k take where nothing touches it [W]."""
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
    x1 = carried(n0, n, vector_of(x, k, 0))
    x2 = carried(n0, n, vector_of(x, k, 1)) if k2 < math.inf else (0.0, 0.0, 0.0)
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
    if k2 < math.inf:
        put_vector(x_rate_out, k, 1, carried(n, n0, add(rate_2, scale(spin, cross(n, x2)))))
    return f, lost
