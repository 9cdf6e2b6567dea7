"""Kernels of implicit stages: the forces of compliant surfaces after an implicit Euler step of length g [s], how they
answer velocities, and the matrix of Newton's method. The unknowns 6 place[i] … 6 place[i] + 5 are v and ω of body i."""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import DYNAMIC, LINK, Array
from ...core.state import LongArray
from ...core.sym3 import sym_vec, world_inverse_inertia
from ...core.vec import add, axpy, cross, dot, norm, put, put4, quat_mul, row, row4, scale, sub
from ...laws.contact import disc_projection
from ...laws.soft import (
    NORMAL_1,
    TANGENT_1,
    TANGENT_2,
    follows,
    free_height,
    implicit_end,
    implicit_force,
    softness,
    spring_force,
)
from ...problem.system import velocity_between
from ...solvers.linear import lu_factor, lu_solve
from .leaps import RATE
from .rates import (
    FREE,
    LAW,
    SLIDES,
    SLIPPING,
    STICKING,
    add_wrench,
    appears_deep,
    carried,
    contact_motion,
    gain,
    put_vector,
    two_units,
    vector_of,
)
from .turning import couple_against, oppose, put_couple_answer, turning_between, turns_hard

ROUNDED = 2.0**-49  # rounding of a gap, relative to the coordinates of its point
UNKNOWN = 1e300     # a normal force that is not known yet, more than friction can ask for [N]


class NewtonWork(NamedTuple):
    """The linear system of one Newton step, as a list of entries that are added up."""

    stiffness: Array    #: (c, 3, 3) -∂f/∂u of the contact force on b by the velocity of b's point [N s/m]
    turning: Array      #: (c, 3, 3) -∂m/∂ω of the couple that opposes turning [N m s]
    right: Array        #: (m,)
    expected: Array     #: (k,) normal force of a row of the surfaces along its tangent, see `load_of` [N]
    row: LongArray      #: (e,)
    column: LongArray   #: (e,)
    value: Array        #: (e,)


def empty_newton(contacts: int, rows: int, unknowns: int, more: int) -> NewtonWork:
    """Room for so many contacts, rows of the surfaces and unknowns, and so many entries more."""
    entries = 180 * contacts + 6 * unknowns + more
    return NewtonWork(np.zeros((contacts, 3, 3)), np.zeros((contacts, 3, 3)), np.zeros(unknowns),
                  np.full(rows, UNKNOWN), np.zeros(entries, np.int64), np.zeros(entries, np.int64), np.zeros(entries))


# ------------------------------------------------------------------------------------------------------------ bodies
@kernel
def start_stage(weights, stages, h, y0, k, surfaces, work, base_out):
    """The stage's start y* = y_0 + h Σ_j a_ij k_j over the stages before it: bodies in base_out (n, 13), surfaces in
    work.z and work.x."""
    for i in range(y0.shape[0]):
        for j in range(13):
            total = y0[i, j]
            for s in range(stages):
                total += h * weights[s] * k[s, i, j]
            base_out[i, j] = total
    for i in range(int(surfaces.count[0])):
        for j in range(2):
            z, x = surfaces.surface_z[i, j], vector_of(surfaces.surface_x, i, j)
            for s in range(stages):
                z += h * weights[s] * work.z_rate[s, i, j]
                x = axpy(h * weights[s], vector_of(work.x_rate[s], i, j), x)
            work.z[i, j] = z
            put_vector(work.x, i, j, x)


@helper
def half_turned(q, w, g):
    """(1 + g ω/2) q, which is (1 - g ω/2)⁻¹ q but for its size: 1 + |g ω/2|² times that."""
    half = scale(0.5 * g, w)
    return quat_mul((1.0, half[0], half[1], half[2]), q)


@helper
def turn_rate(q, w, g):
    """((1 - g ω/2)⁻¹ q - q)/g"""
    raw, square = half_turned(q, w, g), 1.0 + 0.25 * g * g * dot(w, w)
    return ((raw[0] / square - q[0]) / g, (raw[1] / square - q[1]) / g, (raw[2] / square - q[2]) / g,
            (raw[3] / square - q[3]) / g)


@kernel
def move(kind, base, g, bodies):
    """Poses after g at the velocities of `bodies`: x = x* + g v,  q = q* + g ½ ω q, that is (1 - g ω/2) q = q*."""
    for i in range(len(kind)):
        if kind[i] != DYNAMIC:
            continue
        for j in range(3):
            bodies.x[i, j] = base[i, j] + g * bodies.v[i, j]
        q = half_turned((base[i, 3], base[i, 4], base[i, 5], base[i, 6]), row(bodies.w, i), g)
        s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        put4(bodies.q, i, (s * q[0], s * q[1], s * q[2], s * q[3]))


@kernel
def take_stage(kind, base, g, bodies, rate, k_out):
    """k = (Y - y*)/g of the finished stage; P and L exactly those that the forces give. Poses of links follow from
    coordinates of joints, and momenta from their velocities."""
    for i in range(len(kind)):
        if kind[i] != DYNAMIC:
            k_out[i, :] = 0.0
            for j in range(3 if kind[i] == LINK else 0):
                k_out[i, 7 + j] = (bodies.P[i, j] - base[i, 7 + j]) / g
                k_out[i, 10 + j] = (bodies.L[i, j] - base[i, 10 + j]) / g
            continue
        turn = turn_rate((base[i, 3], base[i, 4], base[i, 5], base[i, 6]), row(bodies.w, i), g)
        for j in range(4):
            k_out[i, 3 + j] = turn[j]
        for j in range(3):
            k_out[i, j] = bodies.v[i, j]
            k_out[i, 7 + j] = rate[i, 7 + j]
            k_out[i, 10 + j] = rate[i, 10 + j]
            bodies.P[i, j] = base[i, 7 + j] + g * rate[i, 7 + j]
            bodies.L[i, j] = base[i, 10 + j] + g * rate[i, 10 + j]


@kernel
def residual(place, base, g, bodies, rate, right_out):
    """P* + g Ṗ - P and L* + g L̇ - L of every moving body."""
    for i in range(len(place)):
        r = 6 * int(place[i])
        for j in range(3 if r >= 0 else 0):
            right_out[r + j] = base[i, 7 + j] + g * rate[i, 7 + j] - bodies.P[i, j]
            right_out[r + 3 + j] = base[i, 10 + j] + g * rate[i, 10 + j] - bodies.L[i, j]


# ---------------------------------------------------------------------------------------------------------- contacts
@helper
def load_of(f, answer, p, expected):
    """The normal force that decides whether a contact pushes and how much friction it bears, where its gap at the point
    p gives f. Where f is less than what rounding makes of that gap, it is the force expected along the tangent, whose
    rounding is that of velocities."""
    reach = max(abs(p[0]), abs(p[1]), abs(p[2]))
    return expected if abs(f) < ROUNDED * reach * answer else f


@helper
def leaps_in(motions, soft, s, i, k, begun, bodies):
    """Whether contact i of row k, free when the step began and in its stages before s, appears deep at its stage s. The
    velocity of a stage is that at its end: where the contact stops the bodies, they came with those they began with."""
    contacts, surfaces, work = soft.contacts, soft.surfaces, soft.work
    depth = free_height(soft.choice[LAW], surfaces.surface_z[k, 0], surfaces.surface_z[k, 1]) - contacts.gap[i]
    if surfaces.mode[k] != FREE or depth <= 0.0:
        return False
    for r in range(s):
        if dot(row(work.force[r], k), row(work.force[r], k)) > 0.0:
            return False
    a, b, p, n = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i), row(contacts.normal, i)
    first, last = contact_motion(motions, begun, a, b, p, n)[2], contact_motion(motions, bodies, a, b, p, n)[2]
    leaps = appears_deep(depth, min(first, last), work.span[0], p)
    if leaps:
        work.settled[k, RATE] = min(first, last)  # not along the normal there was then
    return leaps


@kernel
def implicit_forces(model, soft, g, s, begun, bodies, ydot, secant, newton):
    """Add the contact forces at the end of a stage of length g [s] to ydot (n, 13); work.z and work.x are the surfaces
    at its start. Writes what stage s finds in `work` (mean rates of the surfaces, forces, power lost [W]), and in
    `newton` how each force answers the velocity of its point and each couple the turning. A contact that sticks when
    the step begins has the cone of μ_s in all of it, so that the force has no jump. What appears deep bears no force:
    `settle` says where it begins. begun: bodies when the step began; secant: see `put_answer`."""
    contacts, slot, surfaces, work, law = soft.contacts, soft.slot, soft.surfaces, soft.work, soft.choice[LAW]
    motions, units, friction, z, x = model.motions, work.units, work.friction, work.z, work.x
    x_rate, pushes, lost, nothing = work.x_rate[s], work.force[s], 0.0, (0.0, 0.0, 0.0)
    stiffness_out = newton.stiffness
    for k in range(int(surfaces.count[0])):
        put(pushes, k, nothing)
        lost += relax(law, g, s, k, 0.0, math.inf, nothing, work)
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        stiffness_out[i, :, :] = 0.0
        gap = contacts.gap[i]
        if leaps_in(model.motions, soft, s, i, k, begun, bodies):
            continue
        f, answer = implicit_force(law, two_units(units, k, NORMAL_1), g, gap, z[k, 0], z[k, 1])
        load = load_of(f, answer, row(contacts.point, i), newton.expected[k])
        if load <= 0.0:
            if follows(law) and gap < 0.0:
                lost -= relax(law, g, s, k, 0.0, math.inf, nothing, work)
                lost += relax(law, g, s, k, 0.0, gap, nothing, work)
            continue
        a, b, n, n0 = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.normal, i), row(surfaces.normal, k)
        arm_a, arm_b, _, v = contact_motion(motions, bodies, a, b, row(contacts.point, i), n)
        k1, d1 = gain(units, k, TANGENT_1)
        k2, d2 = gain(units, k, TANGENT_2)
        c1, c2 = softness(k1, d1, g), softness(k2, d2, g)
        x1, x2 = carried(n0, n, vector_of(x, k, 0)), carried(n0, n, vector_of(x, k, 1))
        start = scale(c1 * d1 / g - 1.0, x1)
        if c2 > 0.0:
            start = add(start, scale(c2 * d2 / g - 1.0, x2))
        stick = scale(1.0 / (c1 + c2), axpy(-g, v, start))
        mu = friction[k, SLIPPING if surfaces.mode[k] == SLIDES else STICKING]
        limit = mu * load
        f_t = disc_projection(stick, limit)
        lost -= relax(law, g, s, k, 0.0, math.inf, nothing, work)
        lost += relax(law, g, s, k, f, gap, carried(n, n0, f_t), work)
        sliding = add(vector_of(x_rate, k, 0), vector_of(x_rate, k, 1))
        lost -= dot(f_t, sub(v, carried(n0, n, sliding)))
        force = axpy(f, n, f_t)
        put(pushes, k, force)
        if model.kind[b] == DYNAMIC or model.kind[b] == LINK:
            add_wrench(ydot, b, force, cross(arm_b, force))
        if model.kind[a] == DYNAMIC or model.kind[a] == LINK:
            add_wrench(ydot, a, scale(-1.0, force), cross(force, arm_a))
        put_answer(g * answer, g / (c1 + c2), mu if load == f else 0.0, limit, n, stick, secant, i, stiffness_out)
        if turns_hard(work.turn, k):
            turning = turning_between(motions, bodies, a, b)
            lost += oppose(model.kind, a, b, couple_against(work.turn, k, f, n, turning), turning, ydot)
            put_couple_answer(work.turn, k, f, n, turning, newton.turning[i])
    work.loss[s] = lost


@helper
def relax(law, g, s, k, f, gap, f_t, work):
    """Mean rates of the surfaces of row k over stage s of length g [s] under the forces f, f_t at the gap; the power
    that their dampers take [W]."""
    units, z, x, z_rate_out, x_rate_out, lost = work.units, work.z, work.x, work.z_rate[s], work.x_rate[s], 0.0
    for j in range(2):
        stiff, damp = gain(units, k, NORMAL_1 + 2 * j)
        z_rate_out[k, j] = 0.0
        put_vector(x_rate_out, k, j, (0.0, 0.0, 0.0))
        if stiff < math.inf:
            end = implicit_end(law, stiff, damp, z[k, j], f, g, gap)
            z_rate_out[k, j] = (end - z[k, j]) / g
            lost += (spring_force(law, stiff, end) - f) * z_rate_out[k, j]
        stiff, damp = gain(units, k, TANGENT_1 + 2 * j)
        if stiff < math.inf:
            start = vector_of(x, k, j)
            end = scale(softness(stiff, damp, g), axpy(damp / g, start, scale(-1.0, f_t)))
            rate = scale(1.0 / g, sub(end, start))
            put_vector(x_rate_out, k, j, rate)
            lost -= dot(axpy(stiff, end, f_t), rate)
    return lost


@helper
def put_answer(normal, tangent, mu, limit, n, stick, secant, i, stiffness_out):
    """-∂f/∂u: normal n nᵀ, and of friction the tangent plane where it sticks; where it slides along d = stick/|stick|,
    (μ f_n/|stick|) tangent (1 - n nᵀ - d dᵀ) + μ normal d nᵀ. With secant = 1 without d dᵀ: as if friction were that
    much per slip. It never leads beyond the slip at which it stops, however small the inertia is that it turns."""
    size = norm(stick)
    slides = size > limit
    d = scale(1.0 / size if size > 0.0 else 0.0, stick)
    share = limit / size if slides else 1.0
    for r in range(3):
        for c in range(3):
            eye = 1.0 if r == c else 0.0
            plane = eye - n[r] * n[c] - (d[r] * d[c] if slides and secant == 0 else 0.0)
            stiffness_out[i, r, c] = normal * n[r] * n[c] + share * tangent * plane
            if slides:
                stiffness_out[i, r, c] += mu * normal * d[r] * n[c]


@helper
def change_of(place, change, i):
    """Changes of v and ω of a body, 0 where it does not move."""
    r = 6 * int(place[i])
    if r < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return (change[r], change[r + 1], change[r + 2]), (change[r + 3], change[r + 4], change[r + 5])


@helper
def tangent_force(contacts, i, place, change, answer, bodies):
    """Change of the force of contact i on b along its tangent, -`answer`, where velocities change by `change` (m,)."""
    a, b, p = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i)
    (v_a, w_a), (v_b, w_b) = change_of(place, change, a), change_of(place, change, b)
    u = velocity_between(v_a, w_a, sub(p, row(bodies.x, a)), v_b, w_b, sub(p, row(bodies.x, b)))
    return scale(-1.0, (dot(row(answer, 0), u), dot(row(answer, 1), u), dot(row(answer, 2), u)))


@kernel
def follow_change(model, soft, place, change, stiffness, s, bodies, ydot):
    """Bring the contact forces of stage s, in `work` and in ydot (n, 13), to velocities that differ by `change` (m,)
    from those they were found at, along their tangents -`stiffness`.

    So are the forces found that end a stage. Found from the gaps at its end they would contain K times the rounding of
    a gap: 8 mN at K = 7e13 N/m and lengths of 1 m, a thousand times the weight of a cube of 1 mg. Along the tangents
    P* + g F is M u, and what is left is rounding of u.
    """
    contacts, slot, pushes = soft.contacts, soft.slot, soft.work.force[s]
    for i in range(int(contacts.count[0])):
        answer = stiffness[i]
        if answer[0, 0] == 0.0 and answer[1, 1] == 0.0 and answer[2, 2] == 0.0:
            continue
        k, a, b, p = int(slot[i]), int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i)
        arm_a, arm_b = sub(p, row(bodies.x, a)), sub(p, row(bodies.x, b))
        force = tangent_force(contacts, i, place, change, answer, bodies)
        put(pushes, k, add(row(pushes, k), force))
        if place[b] >= 0:
            add_wrench(ydot, b, force, cross(arm_b, force))
        if place[a] >= 0:
            add_wrench(ydot, a, scale(-1.0, force), cross(force, arm_a))


@kernel
def expect(soft, place, change, stiffness, s, bodies, expected_out) -> bool:
    """expected_out (k,): normal forces of stage s along their tangents, where velocities change by `change` (m,), of
    contacts that were taken to push. Returns whether one no longer pushes."""
    contacts, slot, lost = soft.contacts, soft.slot, False
    for i in range(int(contacts.count[0])):
        answer = stiffness[i]
        if answer[0, 0] == 0.0 and answer[1, 1] == 0.0 and answer[2, 2] == 0.0:
            continue
        k, force = int(slot[i]), tangent_force(contacts, i, place, change, answer, bodies)
        f = dot(add(row(soft.work.force[s], k), force), row(contacts.normal, i))
        lost = lost or f <= 0.0 < expected_out[k]
        expected_out[k] = f
    return lost


@helper
def put_block(newton, at, r, c, arm_r, arm_c, factor, s):
    """factor · Gᵣᵀ S G_c as 36 entries from `at` on, G = [1, -arm ×]: the velocity of a point by v and ω. Returns where
    the next entry goes."""
    for j in range(6):
        unit = (1.0 if j % 3 == 0 else 0.0, 1.0 if j % 3 == 1 else 0.0, 1.0 if j % 3 == 2 else 0.0)
        u = unit if j < 3 else cross(unit, arm_c)
        f = (s[0, 0] * u[0] + s[0, 1] * u[1] + s[0, 2] * u[2], s[1, 0] * u[0] + s[1, 1] * u[1] + s[1, 2] * u[2],
             s[2, 0] * u[0] + s[2, 1] * u[1] + s[2, 2] * u[2])
        torque = cross(arm_r, f)
        for q in range(6):
            newton.row[at], newton.column[at] = r + q, c + j
            newton.value[at] = factor * (f[q] if q < 3 else torque[q - 3])
            at += 1
    return at


@helper
def put_turning(newton, at, r, c, factor, s):
    """factor · S of the turning of two bodies as 9 entries."""
    for j in range(3):
        for q in range(3):
            newton.row[at], newton.column[at] = r + 3 + q, c + 3 + j
            newton.value[at] = factor * s[q, j]
            at += 1
    return at


@helper
def solid_moments(model, i):
    """Principal moments of a body; where particles have none anything does, for nothing turns them there."""
    moments, other = row(model.inertia, i), model.mass[i]
    return (moments[0] if moments[0] > 0.0 else other, moments[1] if moments[1] > 0.0 else other,
            moments[2] if moments[2] > 0.0 else other)


@kernel
def fill_matrix(model, soft, place, g, bodies, newton):
    """The derivative M + g Σ Jᵀ S J of the residual, as entries; returns their number. R I Rᵀ of a free body turns by
    g ω, which adds g (R I Rᵀ [ω]× - [L]×). The turning of links, of joints and of contact geometry is left out: it is
    of order g and does not change the solution."""
    contacts, slot, stiffness = soft.contacts, soft.slot, newton.stiffness
    at, rows, columns, values = 0, newton.row, newton.column, newton.value
    for i in range(len(place)):
        r = 6 * int(place[i])
        if r < 0:
            continue
        inertia = world_inverse_inertia(row4(bodies.q, i), solid_moments(model, i))  # R I Rᵀ
        turn = scale(g if model.kind[i] == DYNAMIC else 0.0, row(bodies.w, i))
        spin = sym_vec(inertia, turn)
        for a in range(3):
            rows[at], columns[at], values[at] = r + a, r + a, model.mass[i]
            at += 1
            unit = (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)
            column = add(sym_vec(inertia, add(unit, cross(turn, unit))), cross(unit, spin))
            for b in range(3):
                rows[at], columns[at], values[at] = r + 3 + b, r + 3 + a, column[b]
                at += 1
    for i in range(int(contacts.count[0])):
        s = stiffness[i]
        if s[0, 0] == 0.0 and s[1, 1] == 0.0 and s[2, 2] == 0.0:
            continue
        bodies_of = (int(contacts.body_a[i]), int(contacts.body_b[i]))
        for one in bodies_of:
            for other in bodies_of:
                r, c, sign = 6 * int(place[one]), 6 * int(place[other]), 1.0 if one == other else -1.0
                if r >= 0 and c >= 0:
                    arm_r = sub(row(contacts.point, i), row(bodies.x, one))
                    arm_c = sub(row(contacts.point, i), row(bodies.x, other))
                    at = put_block(newton, at, r, c, arm_r, arm_c, sign * g, s)
                    if turns_hard(soft.work.turn, int(slot[i])):
                        at = put_turning(newton, at, r, c, sign * g, newton.turning[i])
    return at


@kernel
def add_entries(rows, columns, values, count, A):
    """A = the sum of the first `count` entries."""
    A[:] = 0.0
    for k in range(count):
        A[rows[k], columns[k]] += values[k]


@kernel
def solve_full(A, order, x):
    """x = A⁻¹ x, A is overwritten; nan where A has no inverse. (Threads of a BLAS library that wait for each other take
    a hundred times as long on a busy machine.)"""
    if lu_factor(A, order):
        lu_solve(A, order, x)
    else:
        x[:] = math.nan
