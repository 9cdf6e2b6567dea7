"""The right-hand side of the method `compliant`: forces of compliant surfaces as functions of positions and velocities,
and the rates of the surfaces. Kernels over contacts; row k of the surfaces is soft.slot[i] of contact i."""

import math
from typing import NamedTuple

import numpy as np

from ...collision.nearby_pairs import Near
from ...core.jit import helper, kernel
from ...core.model import Array, IntArray
from ...core.state import Contacts, LongArray, Surfaces
from ...core.vec import add, axpy, cross, dot, norm, put, row, scale, sub
from ...dynamics.free_body import velocity_from_momentum
from ...dynamics.motion import moves
from ...integrators.stepper import combine_all
from ...laws.soft import (
    NORMAL_1,
    TANGENT_1,
    UNITS,
    drag_rate,
    free_height,
    free_rate,
    normal_force,
    recovered,
    spring_energy,
    spring_force,
    stick_force,
    undragged,
    unit_rate,
    until_release,
)
from ...problem.assemble import belt_velocity
from ...problem.system import velocity_between
from .turning import couple_against, oppose, turning_between, turns_hard

FREE, STICKS, SLIDES = range(3)  #: modes of a contact, see Surfaces.mode
TOUCH, RELEASE, SLIP, STICK = range(4)  #: how they change, see SoftContactWork.changed
LAW, CLOSED = range(2)           #: places in SoftSystem.choice
SLIPPING, STICKING = range(2)    #: places in a row of SoftContactWork.friction
OPPOSITE = 1e-12  # 1 + cosine of normals that point against each other
FLAT = 1e-12      # [m] a surface this near to its rest is forgotten once its contact is gone
CLOSER = 2.0      # times the way that its rate leads a gap in a substep is no leap, see `leaps`: the rate changes
ROUNDED = 2.0**-44  # of the coordinates of a point: what a gap there is known to


class SoftContactWork(NamedTuple):
    """Scratch of one step; row k belongs to row k of the Surfaces, stage i to stage i of the integrator."""

    units: Array     #: (c, UNITS) K and D, see laws.soft.pair_units
    friction: Array  #: (c, 2) mu at SLIPPING, mu_s at STICKING
    turn: Array      #: (c, 4) what opposes turning, see `turning`
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
    clock: Array       #: (1,) instant when last settled [s]
    left: Array        #: (c, 2) of a free row its gap and ζ then; else the force left to the end of contact, and to
                       #: that of sticking or sliding
    mode_before: IntArray  #: (c,) mode when the step began
    changed: Array     #: (c, 4) instant of the last TOUCH … STICK of this step, nan = none [s]
    settled: Array     #: (c, 2) gap and ζ when last settled; ζ is 0 where nothing is known, inf where any gap will do
    span: Array        #: (1,) length of the substep that is made, or of an implicit one up to its stage [s]


class SoftSystem(NamedTuple):
    """The contacts found last, the surfaces they belong to, and the law: what every kernel of the method reads."""

    near: Near          #: pairs to look at again at every stage
    contacts: Contacts
    slot: IntArray      #: (c,) row of the surfaces of each contact, -1: none yet
    surfaces: Surfaces
    work: SoftContactWork
    choice: LongArray   #: (2,) code of the normal force at LAW; 1 at CLOSED where free surfaces recover by closed form


def empty_soft_work(capacity: int, stages: int) -> SoftContactWork:
    """Scratch for c = `capacity` contacts and an integrator of s = `stages`."""
    zeros = np.zeros
    return SoftContactWork(
        zeros((capacity, UNITS)), zeros((capacity, 2)), zeros((capacity, 4)), zeros((capacity, 2)),
        zeros((capacity, 2, 3)), zeros((stages, capacity, 2)), zeros((stages, capacity, 2, 3)),
        zeros((stages, capacity, 3)), zeros(stages), zeros((capacity, 3)), zeros(capacity), np.full(capacity, np.nan),
        zeros(capacity), zeros(1), zeros((capacity, 2)), np.zeros(capacity, np.int32), np.full((capacity, 4), np.nan),
        zeros((capacity, 2)), zeros(1))


# ------------------------------------------------------------------------------------------------------- one contact
@helper
def carried(n0, n, x):
    """x turned as the unit normal n0 turns to n, by the shortest way; where that is -n0, x stays in its plane."""
    if 1.0 + dot(n0, n) < OPPOSITE:
        return x
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
def slack(point):
    """What a change of a gap at this point is known to [m]."""
    return FLAT + ROUNDED * norm(point)


@helper
def appears_deep(depth, zeta, span, point):
    """Whether a free surface is pressed in deeper than its motion at ζ can lead within `span` [s], see `leaps`."""
    return depth > CLOSER * max(0.0, -zeta) * span + slack(point)


@helper
def any_belt(motions):
    """Whether any surface runs."""
    run, velocity, spin = False, motions.surface_velocity, motions.surface_spin
    for i in range(velocity.shape[0]):
        for j in range(3):
            run = run or velocity[i, j] != 0.0 or spin[i, j] != 0.0
    return run


@helper
def contact_motion(motions, bodies, a, b, point, n):
    """Arms to the contact point, ζ and the tangential velocity v of body b's surface relative to body a's."""
    arm_a, arm_b = sub(point, row(bodies.x, a)), sub(point, row(bodies.x, b))
    u = velocity_between(row(bodies.v, a), row(bodies.w, a), arm_a, row(bodies.v, b), row(bodies.w, b), arm_b)
    u = add(u, belt_velocity(motions, bodies.q, a, b, arm_a, arm_b))
    zeta = dot(n, u)
    return arm_a, arm_b, zeta, axpy(-zeta, n, u)


@helper
def gain(units, k, j):
    """K and D of a unit, see pair_units."""
    return units[k, j], units[k, j + 1]


@helper
def two_units(units, k, j):
    """K and D of two units in series."""
    return units[k, j], units[k, j + 1], units[k, j + 2], units[k, j + 3]


@helper
def add_wrench(ydot, body, f, torque):
    """Ṗ += f,  L̇ += τ; for a link the row of ydot gathers its forces"""
    for j in range(3):
        ydot[body, 7 + j] += f[j]
        ydot[body, 10 + j] += torque[j]


# ------------------------------------------------------------------------------------------------------------ stages
@kernel
def stage(model, weights_x, weights_p, c, t, h, soft, course, bodies_out):
    """Bodies, coordinates of links (course.trees) and surfaces (work.z, work.x) of a stage at the part c of the step
    from t [s] over h [s]: y_0 + h Σ_j w_j k_j over the stages that the weights (j,) of positions and momenta are for.
    Where the choice is CLOSED, surfaces that were free when the step began recover by the closed form."""
    trees = course.trees
    stages, weights = len(weights_x), (weights_x, weights_p)
    combine_all(model, t + c * h, weights, h, course.y0, course.k, trees.work, bodies_out, trees.q, trees.v)
    velocity_from_momentum(model, bodies_out)
    law, closed, surfaces, work = soft.choice[LAW], soft.choice[CLOSED], soft.surfaces, soft.work
    units, mode, z_0, x_0, z, x = work.units, surfaces.mode, surfaces.surface_z, surfaces.surface_x, work.z, work.x
    z_rate, x_rate = work.z_rate, work.x_rate
    for i in range(int(surfaces.count[0])):
        for j in range(2):
            z_j, x_j = z_0[i, j], vector_of(x_0, i, j)
            if closed == 1 and mode[i] == FREE:
                z_j = recovered(law, units[i, NORMAL_1 + 2 * j], units[i, NORMAL_1 + 2 * j + 1], z_j, c * h)
                x_j = undragged(units[i, TANGENT_1 + 2 * j], units[i, TANGENT_1 + 2 * j + 1], x_j, c * h)
            for s in range(stages):
                z_j += h * weights_x[s] * z_rate[s, i, j]
                x_j = axpy(h * weights_x[s], (x_rate[s, i, j, 0], x_rate[s, i, j, 1], x_rate[s, i, j, 2]), x_j)
            z[i, j] = z_j
            put_vector(x, i, j, x_j)


@kernel
def finish(weights_p, h, soft):
    """Take over the surfaces at the end of a substep (in work.z, work.x); add up impulses and losses."""
    surfaces, work = soft.surfaces, soft.work
    z, x, force, impulse = work.z, work.x, work.force, work.impulse
    z_out, x_out = surfaces.surface_z, surfaces.surface_x
    for s in range(len(weights_p)):
        surfaces.dissipated[0] += h * weights_p[s] * work.loss[s]
    for i in range(int(surfaces.count[0])):
        for j in range(2):
            z_out[i, j] = z[i, j]
            put_vector(x_out, i, j, vector_of(x, i, j))
        for s in range(len(weights_p)):
            for j in range(3):
                impulse[i, j] += h * weights_p[s] * force[s, i, j]


@kernel
def recovery_loss(h, soft):
    """Energy that surfaces free since the step began give to their dampers within h [s], in the closed form [J]."""
    lost, law, surfaces, units = 0.0, soft.choice[LAW], soft.surfaces, soft.work.units
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
def contact_rates(model, soft, exact, s, bodies, ydot):
    """Add the forces of the surfaces to the rates of P and L in ydot (n, 13), and write what stage s finds in `work`:
    rates of the surfaces, forces, power lost [W].

    `exact` = 1: every contact keeps the mode it began the step with, so that the right-hand side is smooth; the steps
    then end where a mode does. Else the laws decide at every stage.
    """
    contacts, slot, surfaces, work = soft.contacts, soft.slot, soft.surfaces, soft.work
    law, closed = soft.choice[LAW], soft.choice[CLOSED]
    gap, normal, point, body_a, body_b = contacts.gap, contacts.normal, contacts.point, contacts.body_a, contacts.body_b
    mode, plane, friction, turn = surfaces.mode, surfaces.normal, work.friction, work.turn
    units, z, x, z_rate, x_rate, pushes = work.units, work.z, work.x, work.z_rate[s], work.x_rate[s], work.force[s]
    kind, bx, bv, bw = model.kind, bodies.x, bodies.v, bodies.w
    belts, lost = any_belt(model.motions), 0.0
    for k in range(int(surfaces.count[0])):
        put(pushes, k, (0.0, 0.0, 0.0))
        for j in range(2):  # in the closed form what is free recovers in z and x already
            z_rate[k, j] = 0.0
            put_vector(x_rate, k, j, (0.0, 0.0, 0.0))
        if closed == 0:
            lost += free_rates(law, units, k, z, x, z_rate, x_rate)
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        if k < 0:
            continue
        touched, height = mode[k] != FREE, free_height(law, z[k, 0], z[k, 1])
        if not touched and (exact == 1 or gap[i] > height):
            continue
        a, b, n = int(body_a[i]), int(body_b[i]), row(normal, i)
        arm_a, arm_b, w_a, w_b = sub(row(point, i), row(bx, a)), sub(row(point, i), row(bx, b)), row(bw, a), row(bw, b)
        u = velocity_between(row(bv, a), w_a, arm_a, row(bv, b), w_b, arm_b)
        if belts:
            u = add(u, belt_velocity(model.motions, bodies.q, a, b, arm_a, arm_b))
        zeta = dot(n, u)
        if not touched and appears_deep(height - gap[i], zeta, work.span[0], row(point, i)):
            continue  # `settle` says where it begins
        if closed == 0 or not touched:  # taken as if it stayed free, here or over the step in `recovery_loss`
            lost -= free_loss(law, units, k, z, x)
        f, z_1, z_2, power = press(law, closed, exact, touched, two_units(units, k, NORMAL_1), gap[i], zeta, z[k, 0],
                                   z[k, 1])
        limits = friction[k, SLIPPING] * f, friction[k, STICKING] * f
        f_t, x_1, x_2, drag = rub(closed, exact, int(mode[k]), two_units(units, k, TANGENT_1), limits,
                                  (row(plane, k), n), 0.5 * dot(n, add(w_a, w_b)), axpy(-zeta, n, u),
                                  vector_of(x, k, 0), vector_of(x, k, 1))
        z_rate[k, 0], z_rate[k, 1] = z_1, z_2
        put_vector(x_rate, k, 0, x_1)
        put_vector(x_rate, k, 1, x_2)
        lost += power + drag
        force = axpy(f, n, f_t)
        put(pushes, k, force)
        if moves(kind, b):
            add_wrench(ydot, b, force, cross(arm_b, force))
        if moves(kind, a):
            add_wrench(ydot, a, scale(-1.0, force), cross(force, arm_a))
        if f > 0.0 and turns_hard(turn, k):
            turning = turning_between(model.motions, bodies, a, b)
            lost += oppose(kind, a, b, couple_against(turn, k, f, n, turning), turning, ydot)
    work.loss[s] = lost


@helper
def free_rates(law, units, k, z, x, z_rate_out, x_rate_out):
    """Rates of the surfaces of row k as if nothing touched them; the power their dampers take [W]."""
    for j in range(2):
        stiff, damp = gain(units, k, NORMAL_1 + 2 * j)
        z_rate_out[k, j] = free_rate(law, stiff, damp, z[k, j])
        stiff, damp = gain(units, k, TANGENT_1 + 2 * j)
        put_vector(x_rate_out, k, j, drag_rate(stiff, damp, vector_of(x, k, j), (0.0, 0.0, 0.0)))
    return free_loss(law, units, k, z, x)


@helper
def free_loss(law, units, k, z, x):
    """The power that the dampers of row k take where nothing touches it [W]."""
    lost = 0.0
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
def press(law, closed, exact, touched, units, gap, zeta, z1, z2):
    """Normal force of a touching contact, the rates of z, and the power its dampers take; `touched`: it did so when the
    step began.

    In the closed form z_1 follows from z_1 + z_2 = p while they touch, so that only z_2 has a rate. Where the surfaces
    were free when the step began, z_2 contains its recovery, which is taken off its rate.
    """
    k1, d1, k2, d2 = units
    if closed == 1 or not touched:
        z1 = gap - z2
    f = normal_force(law, k1, d1, k2, d2, z1, z2, zeta)
    lets_go = exact == 0 and until_release(law, f, gap) < 0.0
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
    if closed == 1:
        rate_1 = 0.0
        if not touched:
            rate_2 -= free_rate(law, k2, d2, z2)
    return f, rate_1, rate_2, lost


@helper
def rub(closed, exact, mode, units, limits, normals, spin, v, x1, x2):
    """Friction force of a touching contact, the rates of x, and the power it and its dampers take. limits [N]: of the
    force where it slides, and of that which breaks away what does not slide yet.

    x lies in the plane across the first normal, n0, and is carried over to that across the second, n; it turns about n
    with the mean spin of the two bodies.
    """
    k1, d1, k2, d2 = units
    n0, n = normals
    x1 = carried(n0, n, x1)
    if k2 < math.inf:
        x2 = carried(n0, n, x2)
    f = stick_force(k1, d1, k2, d2, x1, x2, v)
    size = norm(f)
    sliding = mode == SLIDES if exact == 1 else size > limits[0 if mode == SLIDES else 1]
    if sliding:
        f = scale(limits[0] / size if size > 0.0 else 0.0, f)
    rate_1, rate_2 = drag_rate(k1, d1, x1, f), drag_rate(k2, d2, x2, f)
    if d1 == 0.0 and not sliding:  # undamped: x follows exactly, or springs back at once (`settle`)
        rate_1 = v
    lost = -dot(axpy(k1, x1, f), rate_1) - dot(f, sub(v, add(rate_1, rate_2)))
    if k2 < math.inf:
        lost -= dot(axpy(k2, x2, f), rate_2)
    if closed == 1 and mode == FREE:
        rate_1 = sub(rate_1, drag_rate(k1, d1, x1, (0.0, 0.0, 0.0)))
        rate_2 = sub(rate_2, drag_rate(k2, d2, x2, (0.0, 0.0, 0.0)))
    rate_1 = carried(n, n0, add(rate_1, scale(spin, cross(n, x1))))
    if k2 < math.inf:
        rate_2 = carried(n, n0, add(rate_2, scale(spin, cross(n, x2))))
    return f, rate_1, rate_2, lost
