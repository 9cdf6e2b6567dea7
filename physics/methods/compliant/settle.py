"""The surfaces between two (sub)steps of the method `compliant`: which contact presses which surface, who touches, lets
go and slides; and what a finished step says about its contacts."""

import math

from ...core.jit import helper, kernel
from ...core.state import Case
from ...core.vec import add, axpy, dot, norm, put, row, scale, sub
from ...laws.soft import (
    NORMAL_1,
    TANGENT_1,
    free_height,
    normal_force,
    pressed_in,
    spring_energy,
    stick_force,
    until_release,
)
from ...problem.assemble import belt_velocity, place_of
from ...problem.system import velocity_between
from .leaps import GAP, RATE, forget_start, leave_leap_out
from .rates import (
    CLOSER,
    FREE,
    LAW,
    RELEASE,
    SLIDES,
    SLIP,
    SLIPPING,
    STICK,
    STICKING,
    STICKS,
    TOUCH,
    any_belt,
    carried,
    put_vector,
    vector_of,
)

APART, COLLIDING, SEPARATING, RESTING = int(Case.APART), int(Case.COLLIDING), int(Case.SEPARATING), int(Case.RESTING)


@kernel
def settle(model, soft, exact, t, bodies):
    """Bring the surfaces up to date with the bodies at t [s]: plane of x, key and place of every contact, and z = p
    where they touch; a surface without a contact is free. Unless `exact`, where modes change by `switch` alone, also
    who touches (p <= z), who lets go (f_n < 0), and who slides; changes are dated between the last time and this one.
    A gap that leaps is counted from where it leaps to, see `leaps`.
    """
    contacts, slot, surfaces, work, law = soft.contacts, soft.slot, soft.surfaces, soft.work, soft.choice[LAW]
    release_lonely(contacts, slot, surfaces, work, t)
    gap, normal, point, body_a, body_b = contacts.gap, contacts.normal, contacts.point, contacts.body_a, contacts.body_b
    mode, plane, z, x, key, place = (surfaces.mode, surfaces.normal, surfaces.surface_z, surfaces.surface_x,
                                     surfaces.key, surfaces.place)
    units, first_zeta, approach, pushes, friction = work.units, work.zeta, work.approach, work.normal_now, work.friction
    kind, bx, bv, bw = model.kind, bodies.x, bodies.v, bodies.w
    belts, last, left, changed = any_belt(model.motions), work.clock[0], work.left, work.changed
    settled = work.settled
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        if k < 0:
            continue
        a, b, n, p, n0 = int(body_a[i]), int(body_b[i]), row(normal, i), row(point, i), row(plane, k)
        x_1, x_2 = in_plane(n0, n, vector_of(x, k, 0)), in_plane(n0, n, vector_of(x, k, 1))
        put_vector(x, k, 0, x_1)
        put_vector(x, k, 1, x_2)
        put(plane, k, n)
        arm_a, arm_b = sub(p, row(bx, a)), sub(p, row(bx, b))
        put(place, k, place_of(bx, kind, a, b, p))
        key[k] = contacts.key[i]
        u = velocity_between(row(bv, a), row(bw, a), arm_a, row(bv, b), row(bw, b), arm_b)
        if belts:
            u = add(u, belt_velocity(model.motions, bodies.q, a, b, arm_a, arm_b))
        zeta = dot(n, u)
        if math.isnan(first_zeta[k]):
            first_zeta[k] = zeta
        free, height, keeps = mode[k] == FREE, settled[k, GAP], exact == 1
        if free:
            forget_start(gap, surfaces.start, i, k)
            height = free_height(law, z[k, 0], z[k, 1])
        if settled[k, RATE] < math.inf:
            way = 0.0 if free and exact == 1 else CLOSER * max(0.0, -zeta, -settled[k, RATE]) * (t - last)
            if leave_leap_out(model, soft, i, k, height, way, work.z):
                keeps = False  # the law says what it is in
        settled[k, GAP], settled[k, RATE] = gap[i], zeta
        away = gap[i] - height if free else 0.0
        apart = free and (keeps or away > 0.0)
        touch = closing(last, left[k, 0], left[k, 1], t)
        if apart:
            left[k, 0], left[k, 1] = away, zeta
            continue
        if free:
            approach[k] = min(approach[k], zeta)
        k1, d1, k2, d2 = units[k, 0], units[k, 1], units[k, 2], units[k, 3]
        z[k, 0], z[k, 1] = pressed_in(law, k2, d1, d2, free, gap[i], z[k, 0], z[k, 1])
        f = normal_force(law, k1, d1, k2, d2, z[k, 0], z[k, 1], zeta)
        pushes[k] = max(f, 0.0)
        if keeps:
            continue
        pressing = until_release(law, f, gap[i])
        if not pressing >= 0.0:
            mode[k] = FREE
            if not free:
                changed[k, RELEASE] = crossing(last, left[k, 0], t, pressing)
            left[k, 0] = 0.0
            continue
        if free:
            changed[k, TOUCH] = touch
        left[k, 0] = pressing
        stick = stick_force(units[k, 4], units[k, 5], units[k, 6], units[k, 7], x_1, x_2, axpy(-zeta, n, u))
        limit, size = friction[k, SLIPPING] * pushes[k], norm(stick)
        stick_or_slide(mode, work, k, t, size, limit, friction[k, STICKING] * pushes[k])
        if mode[k] == SLIDES and units[k, 5] == 0.0:  # a spring without a damper springs back at once
            put_vector(x, k, 0, scale(-limit / (units[k, 4] * size), stick))
    work.clock[0] = t


@helper
def stick_or_slide(mode, work, k, t, size, kinetic, static):
    """The mode of row k, which is pressed, under the force |f_stick| = `size`: what stuck slides beyond `static`, what
    slid sticks from `kinetic` on."""
    was, last, left = mode[k], work.clock[0], work.left[k, 1]
    slides = size > (kinetic if was == SLIDES else static)
    mode[k] = SLIDES if slides else STICKS
    if was == STICKS and slides:
        work.changed[k, SLIP] = crossing(last, left, t, static - size)
    elif was == SLIDES and not slides:
        work.changed[k, STICK] = crossing(last, left, t, size - kinetic)
    work.left[k, 1] = size - kinetic if slides else static - size


@helper
def closing(t_0, gap, rate, t):
    """When a gap > 0 at t_0 that changes at this rate closes, at t at the latest; t where nothing is known of it."""
    return min(t, t_0 - gap / rate) if gap > 0.0 and rate < 0.0 else t


@helper
def crossing(t_0, before, t, now):
    """Where a straight line from before > 0 at t_0 to now <= 0 at t passes 0; t where nothing is known of before."""
    return t_0 + (t - t_0) * before / (before - now) if before > 0.0 and now < 0.0 else t


@helper
def release_lonely(contacts, slot, surfaces, work, t):
    """Free the surfaces without a contact; work.z serves as the mark, 1, of those that have one, and 0 of others."""
    count, marks, pushes, mode = int(surfaces.count[0]), work.z, work.normal_now, surfaces.mode
    for k in range(count):
        marks[k, 0] = 0.0
        pushes[k] = 0.0
    for i in range(int(contacts.count[0])):
        if slot[i] >= 0:
            marks[slot[i], 0] = 1.0
    for k in range(count):
        if marks[k, 0] == 0.0:
            if mode[k] != FREE:
                work.changed[k, RELEASE] = t
            mode[k] = FREE


@helper
def in_plane(n0, n, x):
    """x carried over from the plane across n0 to that across n."""
    if dot(x, x) > 0.0:
        x = carried(n0, n, x)
        x = axpy(-dot(n, x), n, x)
    return x


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
def report(model, soft, bodies, before, rest_speed, h, approach_out, parting_out):
    """Fill what the step found out about every contact (see `Contacts`) and the speed at which it first touched
    (c,) [m/s], 0 where it did not; returns the deepest dent [m]. before (2, n, 3): v and ω at the beginning of the
    step; parting_out (c,): ζ that they would have now [m/s]."""
    contacts, slot, surfaces, work = soft.contacts, soft.slot, soft.surfaces, soft.work
    gap, normal, point, body_a, body_b = contacts.gap, contacts.normal, contacts.point, contacts.body_a, contacts.body_b
    zeta_out, zeta_dot, lam_out, slip = contacts.zeta, contacts.zeta_dot, contacts.lam, contacts.slip
    impulse_out, friction_force, case_out = contacts.impulse, contacts.friction_force, contacts.case
    current, active, mode, first_zeta = contacts.current, contacts.active, surfaces.mode, work.zeta
    impulses, approach, pushes = work.impulse, work.approach, work.normal_now
    bx, bv, bw, v_0, w_0 = bodies.x, bodies.v, bodies.w, before[0], before[1]
    belts, deepest = any_belt(model.motions), 0.0
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        if k < 0:
            clear(i, contacts, approach_out)
        else:
            gap[i] += surfaces.start[k]
        a, b, n, p = int(body_a[i]), int(body_b[i]), row(normal, i), row(point, i)
        arm_a, arm_b = sub(p, row(bx, a)), sub(p, row(bx, b))
        u = velocity_between(row(bv, a), row(bw, a), arm_a, row(bv, b), row(bw, b), arm_b)
        was = velocity_between(row(v_0, a), row(w_0, a), arm_a, row(v_0, b), row(w_0, b), arm_b)
        parting_out[i] = dot(n, was)
        if k < 0:
            continue
        if belts:
            u = add(u, belt_velocity(model.motions, bodies.q, a, b, arm_a, arm_b))
        zeta, impulse = dot(n, u), row(impulses, k)
        lam = dot(impulse, n) / h
        touches = mode[k] != FREE
        zeta_dot[i] = (zeta - first_zeta[k]) / h
        zeta_out[i] = zeta
        lam_out[i] = lam
        put(impulse_out, i, impulse)
        put(friction_force, i, axpy(-lam, n, scale(1.0 / h, impulse)))
        slip[i] = norm(axpy(-zeta, n, u))
        case = APART
        if touches:
            case = COLLIDING if zeta < -rest_speed else SEPARATING if zeta > rest_speed else RESTING
            deepest = max(deepest, -gap[i])
        case_out[i] = case
        current[i] = 1 if touches else 0
        active[i] = 1 if touches and pushes[k] > 0.0 else 0
        approach_out[i] = approach[k]
    return deepest


@helper
def clear(i, contacts, approach_out):
    """A contact that came near within the step and never touched."""
    contacts.zeta[i] = contacts.zeta_dot[i] = contacts.lam[i] = contacts.slip[i] = approach_out[i] = 0.0
    put(contacts.impulse, i, (0.0, 0.0, 0.0))
    put(contacts.friction_force, i, (0.0, 0.0, 0.0))
    contacts.case[i] = APART
    contacts.current[i] = contacts.active[i] = 0
