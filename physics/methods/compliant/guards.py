"""When a contact's mode ends: touch, release, slip, stick; and what then changes. Kernels of `adaptive`."""

import math

import numpy as np

from ...core.jit import helper, kernel
from ...core.vec import norm, row
from ...dynamics.trees.rates import link_error
from ...integrators.stepper import dense_weights, local_error
from ...laws.soft import (
    NORMAL_1,
    NORMAL_2,
    TANGENT_1,
    TANGENT_2,
    free_height,
    normal_force,
    pressed_in,
    stick_force,
    until_release,
)
from .rates import (
    CLOSED,
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
    carried,
    contact_motion,
    gain,
    stage,
    vector_of,
)
from .substeps import look

CALM = -1  # no mode ends


@helper
def contact_forces(law, from_gap, units, k, gap, motion, normals, z, x):
    """f_n and |f_stick| of a touching contact that moves with (ζ, v); x lies in the plane across the first of the
    normals and is carried over to that across the second. from_gap: z = p, else as it was integrated."""
    zeta, v = motion
    n0, n = normals
    k1, d1 = gain(units, k, NORMAL_1)
    k2, d2 = gain(units, k, NORMAL_2)
    z1 = gap - z[k, 1] if from_gap else z[k, 0]
    f = normal_force(law, k1, d1, k2, d2, z1, z[k, 1], zeta)
    k1, d1 = gain(units, k, TANGENT_1)
    k2, d2 = gain(units, k, TANGENT_2)
    x1, x2 = carried(n0, n, vector_of(x, k, 0)), carried(n0, n, vector_of(x, k, 1))
    return f, norm(stick_force(k1, d1, k2, d2, x1, x2, v))


@kernel
def guards(model, soft, bodies):
    """The smallest quantity that stays positive while the modes last, its row and what its end means; 1, -1, CALM where
    there is none. Distances count in metres, forces in newtons: only signs matter."""
    contacts, slot, surfaces, work, law = soft.contacts, soft.slot, soft.surfaces, soft.work, soft.choice[LAW]
    motions, from_gap = model.motions, soft.choice[CLOSED] == 1
    worst, where, change = 1.0, -1, CALM
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        gap = contacts.gap[i]
        if k < 0:
            continue
        if surfaces.mode[k] == FREE:
            value, what = gap - free_height(law, work.z[k, 0], work.z[k, 1]), TOUCH
            if value < worst:
                worst, where, change = value, k, what
            continue
        n = row(contacts.normal, i)
        _, _, zeta, v = contact_motion(motions, bodies, int(contacts.body_a[i]), int(contacts.body_b[i]),
                                       row(contacts.point, i), n)
        f, stick = contact_forces(law, from_gap, work.units, k, gap, (zeta, v), (row(surfaces.normal, k), n), work.z,
                                  work.x)
        value = until_release(law, f, gap)
        if value < worst:
            worst, where, change = value, k, RELEASE
        if work.friction[k, SLIPPING] == 0.0:
            continue
        room = work.friction[k, STICKING] * f - stick
        if surfaces.mode[k] == STICKS and room < worst:
            worst, where, change = room, k, SLIP
        beyond = stick - work.friction[k, SLIPPING] * f
        if surfaces.mode[k] == SLIDES and beyond < worst:
            worst, where, change = beyond, k, STICK
    return worst, where, change


@kernel
def mode_ends(model, tableau, t, h, parts, soft, course):
    """Which of the parts (p,) of the step just tried is the first at which a mode has ended; p where none is, -1 where
    a contact at course.middle needs a row first."""
    weights_x, weights_p = np.zeros(len(tableau.c)), np.zeros(len(tableau.c))
    for n in range(len(parts)):
        dense_weights(tableau.dense_x, parts[n], weights_x)
        dense_weights(tableau.dense_p, parts[n], weights_p)
        stage(model, weights_x, weights_p, parts[n], t, h, soft, course, course.middle)
        if not look(model, soft, course.middle):
            return -1
        if guards(model, soft, course.middle)[0] < 0.0:
            return n
    return len(parts)


@kernel
def switch(model, soft, k, change, t, bodies):
    """Let contact row k change its mode at t [s]. Where the contact vanishes as its mode ends, the change is CALM and
    there is no row: k = -1."""
    contacts, slot, surfaces, work = soft.contacts, soft.slot, soft.surfaces, soft.work
    motions, law = model.motions, soft.choice[LAW]
    if change == CALM:
        return
    work.changed[k, change] = t
    if change == RELEASE:
        surfaces.mode[k] = FREE
    if change == SLIP:
        surfaces.mode[k] = SLIDES
    if change == STICK:
        surfaces.mode[k] = STICKS
    if change != TOUCH:
        return
    for i in range(int(contacts.count[0])):
        if slot[i] != k:
            continue
        n = row(contacts.normal, i)
        _, _, zeta, v = contact_motion(motions, bodies, int(contacts.body_a[i]), int(contacts.body_b[i]),
                                       row(contacts.point, i), n)
        gap = min(contacts.gap[i], free_height(law, surfaces.surface_z[k, 0], surfaces.surface_z[k, 1]))  # rounding
        k1, d1 = gain(work.units, k, NORMAL_1)
        k2, d2 = gain(work.units, k, NORMAL_2)
        z1, z2 = pressed_in(law, k2, d1, d2, True, gap, surfaces.surface_z[k, 0], surfaces.surface_z[k, 1])
        surfaces.surface_z[k, 0], surfaces.surface_z[k, 1] = z1, z2
        push = normal_force(law, k1, d1, k2, d2, z1, z2, zeta)
        work.approach[k], work.normal_now[k] = min(work.approach[k], zeta), max(push, 0.0)
        surfaces.mode[k] = STICKS if push >= 0.0 else FREE
        f, stick = contact_forces(law, False, work.units, k, gap, (zeta, v), (n, n), surfaces.surface_z,
                                  surfaces.surface_x)
        if surfaces.mode[k] != FREE and stick >= work.friction[k, STICKING] * f:
            surfaces.mode[k] = SLIDES


@kernel
def step_error(model, error, h, y0, k, soft):
    """Largest local error of a step: of bodies and links relative (see stepper.local_error and
    trees.rates.link_error), of surfaces in metres."""
    surfaces, work = soft.surfaces, soft.work
    largest = local_error(model, error, h, y0, k)
    of_links = link_error(model.trees, error, h, y0, k)
    largest = max(largest, of_links) if math.isfinite(largest + of_links) else math.nan
    for i in range(int(surfaces.count[0])):
        for j in range(2):
            dz, dx, dy, dw = 0.0, 0.0, 0.0, 0.0
            for s in range(len(error)):
                dz += error[s] * work.z_rate[s, i, j]
                dx += error[s] * work.x_rate[s, i, j, 0]
                dy += error[s] * work.x_rate[s, i, j, 1]
                dw += error[s] * work.x_rate[s, i, j, 2]
            largest = max(largest, h * math.sqrt(dz * dz + dx * dx + dy * dy + dw * dw))
    return largest
