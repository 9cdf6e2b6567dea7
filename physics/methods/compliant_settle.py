"""The surfaces between two (sub)steps of the method `compliant`: which contact presses which surface, who touches, lets
go and slides; and what a finished step says about its contacts."""

import math

from contactlab.physics.assemble import place_of
from contactlab.physics.jit import helper, kernel
from contactlab.physics.methods.compliant_rates import (
    FREE,
    SLIDES,
    STICKS,
    carried,
    contact_motion,
    gain,
    put_vector,
    vector_of,
)
from contactlab.physics.soft_laws import (
    NORMAL_1,
    NORMAL_2,
    TANGENT_1,
    TANGENT_2,
    normal_force,
    spring_energy,
    stick_force,
)
from contactlab.physics.state import Case
from contactlab.physics.vec import axpy, dot, norm, put, row, scale

APART, COLLIDING, SEPARATING, RESTING = int(Case.APART), int(Case.COLLIDING), int(Case.SEPARATING), int(Case.RESTING)


@kernel
def settle(model, contacts, slot, law, exact, bodies, surfaces, work):
    """Bring the surfaces up to date with the bodies: plane of x, key and place of every contact, and z = p where they
    touch; a surface without a contact is free. Unless `exact`, where modes change by `switch` alone, also who touches
    (p <= z), who lets go (f_n < 0), and who slides."""
    motions, units = model.motions, work.units
    release_lonely(contacts, slot, surfaces, work)
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        if k < 0:
            continue
        a, b = int(contacts.body_a[i]), int(contacts.body_b[i])
        n, point, gap = row(contacts.normal, i), row(contacts.point, i), contacts.gap[i]
        turn_plane(k, n, surfaces)
        put(surfaces.place, k, place_of(bodies.x, model.kind, a, b, point))
        surfaces.key[k] = contacts.key[i]
        free = surfaces.mode[k] == FREE
        apart = free and (exact == 1 or gap > surfaces.surface_z[k, 0] + surfaces.surface_z[k, 1])
        if apart and not math.isnan(work.zeta[k]):
            continue
        _, _, zeta, v = contact_motion(
            motions.surface_velocity, motions.surface_spin, bodies.x, bodies.q, bodies.v, bodies.w, a, b, point, n)
        if math.isnan(work.zeta[k]):
            work.zeta[k] = zeta
        if apart:
            continue
        f = settle_normal(law, units, k, gap, zeta, surfaces.mode, surfaces.surface_z, work.approach, work.normal_now)
        if exact == 0:
            surfaces.mode[k] = STICKS if f >= 0.0 else FREE
            if f >= 0.0:
                settle_tangent(units, k, work.friction[k] * f, v, surfaces.mode, surfaces.surface_x)


@helper
def release_lonely(contacts, slot, surfaces, work):
    """Free the surfaces that have no contact; work.z serves as the mark of those that have one."""
    count = int(surfaces.count[0])
    for k in range(count):
        work.z[k, 0] = 0.0
        work.normal_now[k] = 0.0
    for i in range(int(contacts.count[0])):
        if slot[i] >= 0:
            work.z[slot[i], 0] = 1.0
    for k in range(count):
        if work.z[k, 0] == 0.0:
            surfaces.mode[k] = FREE


@helper
def turn_plane(k, n, surfaces):
    """Carry x of row k over to the plane across n."""
    n0 = row(surfaces.normal, k)
    for j in range(2):
        x = vector_of(surfaces.surface_x, k, j)
        if dot(x, x) > 0.0:
            x = carried(n0, n, x)
            put_vector(surfaces.surface_x, k, j, axpy(-dot(n, x), n, x))
    put(surfaces.normal, k, n)


@helper
def settle_normal(law, units, k, gap, zeta, mode, surface_z, approach, force_out):
    """Make z = p of a touching contact and note its force [N], >= 0, in force_out (c,); returns the force of the law,
    which is negative where the surfaces let go. At the first touch a difference is shared as the dampers share a sudden
    push, 1/D_i each, and approach (c,) takes the speed."""
    k1, d1 = gain(units, k, NORMAL_1)
    k2, d2 = gain(units, k, NORMAL_2)
    share = 0.0
    if mode[k] == FREE:
        approach[k] = min(approach[k], zeta)
        if k2 < math.inf and d1 > 0.0:
            share = (1.0 / d2) / (1.0 / d1 + 1.0 / d2)
    surface_z[k, 1] += share * (gap - (surface_z[k, 0] + surface_z[k, 1]))
    surface_z[k, 0] = gap - surface_z[k, 1]
    f = normal_force(law, k1, d1, k2, d2, surface_z[k, 0], surface_z[k, 1], zeta)
    force_out[k] = max(f, 0.0)
    return f


@helper
def settle_tangent(units, k, limit, v, mode, surface_x):
    """Let a touching contact slide where the force that would hold it exceeds the limit μ f_n [N]; a spring without a
    damper then springs back to the limit at once."""
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
def report(model, contacts, slot, bodies, surfaces, work, rest_speed, h, approach_out):
    """Fill what the step found out about every contact (see `Contacts`) and the speed at which it first touched
    (c,) [m/s], 0 where it did not; returns the deepest dent [m]."""
    motions = model.motions
    deepest = 0.0
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        if k < 0:
            clear(i, contacts, approach_out)
            continue
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


@helper
def clear(i, contacts, approach_out):
    """A contact that came near within the step and never touched."""
    contacts.zeta[i] = contacts.zeta_dot[i] = contacts.lam[i] = contacts.slip[i] = approach_out[i] = 0.0
    put(contacts.impulse, i, (0.0, 0.0, 0.0))
    put(contacts.friction_force, i, (0.0, 0.0, 0.0))
    contacts.case[i] = APART
    contacts.current[i] = contacts.active[i] = 0
