"""From a state and its contacts to the contact problem in the bodies' terms, and back from impulses to momenta.

Kernels take the arrays they need one by one and helpers get them singly or as numbers: a NamedTuple of arrays handed to
a helper that is not inlined costs more than the arithmetic of a contact.
"""

import math

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import BodyKind
from ..core.sym3 import point_response, put_six, put_three, six, sym_inverse, sym_vec, three, world_inverse_inertia
from ..core.vec import (
    accumulate,
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    neg,
    norm,
    put,
    rotate,
    row,
    row4,
    scale,
    sub,
    tangents,
    unrotate,
)
from ..dynamics.grab import GRAB_LIMIT, GRAB_RATE, GRAB_TURN_LIMIT
from ..laws.contact import cone_projection, restitution_bias
from .problem import (
    ANGULAR,
    ARM_A,
    ARM_B,
    BIAS,
    COUPLING,
    FRICTION,
    INV_INERTIA,
    INV_MASS,
    INVERSE,
    LINEAR,
    NORMAL,
    NORMAL_STEP,
    ON_BODY,
    SLIP_STEP,
    ContactProblem,
    System,
)
from .tree_rows import GRAB_SLOT, link_response, linked_push, linked_velocity

DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)

SOFTEST = 1e-9  # of its trace, added to W of a contact on links, which yield in some directions only: W can be singular
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NO_STEP = 1e-30  # [kg] whose square is not 0 yet


# ---------------------------------------------------------------------------------------- parts of rows of wide arrays


# ------------------------------------------------------------------- symmetric 3x3 matrices as xx xy xz yy yz zz


# ---------------------------------------------------------------------------------------------------- velocities
@helper
def relative_velocity(bodies, a, b, arm_a, arm_b):
    """u = (v_b + ω_b × r_b) - (v_a + ω_a × r_a)"""
    u_b = add(three(bodies, b, LINEAR), cross(three(bodies, b, ANGULAR), arm_b))
    return sub(u_b, add(three(bodies, a, LINEAR), cross(three(bodies, a, ANGULAR), arm_a)))


@helper
def push(bodies, i, arm, p):
    """Let the impulse p act on body i at the end of an arm: v += p/m, ω += I⁻¹ (r × p)"""
    m = bodies[i, INV_MASS]
    dw = sym_vec(six(bodies, i, INV_INERTIA), cross(arm, p))
    bodies[i, LINEAR] += m * p[0]
    bodies[i, LINEAR + 1] += m * p[1]
    bodies[i, LINEAR + 2] += m * p[2]
    bodies[i, ANGULAR] += dw[0]
    bodies[i, ANGULAR + 1] += dw[1]
    bodies[i, ANGULAR + 2] += dw[2]


@helper
def pair_velocity(system, bodies, v, k):
    """u of row k, surfaces left out, of bodies that move as `bodies` and trees as v say."""
    rows, trees = system.rows, system.trees
    i = system.contact[k]
    u = (0.0, 0.0, 0.0)
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        body = int(system.body_b[k]) if side == 1 else int(system.body_a[k])
        arm = three(rows, k, ARM_B) if side == 1 else three(rows, k, ARM_A)
        slot = trees.slot[i, side] if trees.linked[i] == 1 else ON_BODY
        if slot >= 0:
            u = axpy(sign, linked_velocity(slot, trees.span, trees.J, v), u)
        elif slot == ON_BODY:
            u = axpy(sign, add(three(bodies, body, LINEAR), cross(three(bodies, body, ANGULAR), arm)), u)
    return u


@helper
def push_pair(system, bodies, v, k, p):
    """Let the impulse p of row k act on b, and -p on a, in `bodies` and on the trees' velocities v."""
    rows, trees = system.rows, system.trees
    i = system.contact[k]
    for side in range(2):
        signed = p if side == 1 else neg(p)
        slot = trees.slot[i, side] if trees.linked[i] == 1 else ON_BODY
        if slot >= 0:
            linked_push(slot, trees.span, trees.Y, signed, v)
        elif slot == ON_BODY and side == 1:
            push(bodies, int(system.body_b[k]), three(rows, k, ARM_B), signed)
        elif slot == ON_BODY:
            push(bodies, int(system.body_a[k]), three(rows, k, ARM_A), signed)


@helper
def surface_velocity(velocity, spin, i, q, arm):
    """Velocity of a running surface relative to its body, at the world arm from the body's origin."""
    s = row(velocity, i)
    w = row(spin, i)
    if dot(s, s) + dot(w, w) == 0.0:
        return (0.0, 0.0, 0.0)
    return rotate(q, add(s, cross(w, unrotate(q, arm))))


@kernel
def free_motion(kind, inv_mass, inv_inertia, middle, force, torque, h, before_out, bodies_out):
    """Velocities at the poses of the middle of the step, of the momenta before it (before_out, (n, 6)) and after it if
    nothing touched; and how bodies answer impulses there (both in bodies_out = System.bodies).

    v = P/m, ω = I(q)⁻¹ L, so that gyroscopic torques are exact: without torque L does not change.
    """
    for i in range(len(kind)):
        v = row(middle.v, i)
        w = row(middle.w, i)
        put_three(before_out, i, LINEAR, v)
        s = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if kind[i] == DYNAMIC:
            s = world_inverse_inertia(row4(middle.q, i), row(inv_inertia, i))
            L = row(middle.L, i)
            put_three(before_out, i, ANGULAR, sym_vec(s, L))
            v = axpy(h * inv_mass[i], row(force, i), v)
            w = sym_vec(s, axpy(h, row(torque, i), L))
        else:
            put_three(before_out, i, ANGULAR, w)
        put_three(bodies_out, i, LINEAR, v)
        put_three(bodies_out, i, ANGULAR, w)
        bodies_out[i, INV_MASS] = inv_mass[i] if kind[i] == DYNAMIC else 0.0
        put_six(bodies_out, i, INV_INERTIA, s)


# ------------------------------------------------------------------------------------------------------ contacts
@kernel
def assemble(surface_v, surface_w, x, q, contacts, before, rest_speed, touch, h, surface_out, zeta_before_out, system):
    """Fill the rows of the system: one for every contact that takes part in this step. Writes for every contact the
    relative velocity of running surfaces (c, 3) and ζ before the step (c,). surface_v and surface_w are those of
    Motions; x and q the poses in the middle of the step."""
    rows, bodies, impulse = system.rows, system.bodies, system.impulse
    linked, slot, span = system.trees.linked, system.trees.slot, system.trees.span
    J, Y = system.trees.J, system.trees.Y
    k = 0
    for i in range(int(contacts.count[0])):
        a = int(contacts.body_a[i])
        b = int(contacts.body_b[i])
        n = row(contacts.normal, i)
        p = row(contacts.point, i)
        arm_a = sub(p, row(x, a))
        arm_b = sub(p, row(x, b))
        surface = sub(surface_velocity(surface_v, surface_w, b, row4(q, b), arm_b),
                      surface_velocity(surface_v, surface_w, a, row4(q, a), arm_a))
        zeta = dot(n, add(surface, relative_velocity(before, a, b, arm_a, arm_b)))
        zeta_before_out[i] = zeta
        put(surface_out, i, surface)
        bias, part = restitution_bias(contacts.gap[i], zeta, contacts.restitution[i], rest_speed, touch, h)
        if part == 0:
            continue
        system.contact[k] = i
        system.fired[k] = 1 if part == 2 else 0
        system.body_a[k] = a
        system.body_b[k] = b
        put(impulse, k, (0.0, 0.0, 0.0))
        put_three(rows, k, NORMAL, n)
        put_three(rows, k, ARM_A, arm_a)
        put_three(rows, k, ARM_B, arm_b)
        put_three(rows, k, BIAS, axpy(bias, n, surface))
        rows[k, FRICTION] = contacts.friction[i]
        w_a = point_response(bodies[a, INV_MASS], six(bodies, a, INV_INERTIA), arm_a)
        w_b = point_response(bodies[b, INV_MASS], six(bodies, b, INV_INERTIA), arm_b)
        if linked[i] == 1:  # links are immovable in the bodies' terms: their parts of w are 0 so far
            if slot[i, 0] >= 0:
                w_a = link_response(slot[i, 0], span, J, Y)
            if slot[i, 1] >= 0:
                w_b = link_response(slot[i, 1], span, J, Y)
            soft = SOFTEST * (w_a[0] + w_a[3] + w_a[5] + w_b[0] + w_b[3] + w_b[5])
            w_b = (w_b[0] + soft, w_b[1], w_b[2], w_b[3] + soft, w_b[4], w_b[5] + soft)
        put_own_block(rows, k, n, w_a, w_b)
        k += 1
    system.count[0] = k


@helper
def put_own_block(rows, k, n, w_a, w_b):
    """What a visit needs of the contact's own block W = w_a + w_b; for a point that cannot move at all, as on the axis
    of a hinge, what gives no impulse."""
    w = (w_a[0] + w_b[0], w_a[1] + w_b[1], w_a[2] + w_b[2], w_a[3] + w_b[3], w_a[4] + w_b[4], w_a[5] + w_b[5])
    if w[0] + w[3] + w[5] <= 0.0:
        put_six(rows, k, INVERSE, NOTHING)
        put_three(rows, k, COUPLING, (0.0, 0.0, 0.0))
        rows[k, SLIP_STEP] = rows[k, NORMAL_STEP] = NO_STEP
        return
    w_n = sym_vec(w, n)
    t1, t2 = tangents(n)
    w_t1 = sym_vec(w, t1)
    w11 = dot(t1, w_t1)
    w12 = dot(t2, w_t1)
    w22 = dot(t2, sym_vec(w, t2))
    put_six(rows, k, INVERSE, sym_inverse(w))
    put_three(rows, k, COUPLING, w_n)
    rows[k, SLIP_STEP] = 1.0 / (0.5 * (w11 + w22) + math.sqrt(0.25 * (w11 - w22) ** 2 + w12 * w12))
    rows[k, NORMAL_STEP] = 1.0 / dot(n, w_n)


@kernel
def hold(middle, loads, kind, mass, h, bodies, trees, grab):
    """Set up the mouse spring's rows: critically damped with rate GRAB_RATE for the held body by itself, implicit in
    time and so stable for every mass and step.

    With k = ω² W⁻¹ and c = 2 ω W⁻¹, C the stretch in the middle of the step, implicit Euler of C̈ gives
        (1 + γ) W p + u + bias = 0,   γ = 1/(h ω (2 + h ω)),   bias = ω C/(2 + h ω)
    Turning: the same about the centre of mass; C is then the rotation that turns the held point towards the target.
    """
    body = int(loads.grab_body[0])
    put_flat(grab.impulse, (0.0, 0.0, 0.0))
    grab.body[0] = body if body >= 0 and mass[body] > 0.0 else -1
    if grab.body[0] < 0:
        return
    arm = rotate(row4(middle.q, body), flat(loads.grab_point))
    pull = sub(flat(loads.grab_target), row(middle.x, body))
    inertia = six(bodies, body, INV_INERTIA)
    w = point_response(bodies[body, INV_MASS], inertia, arm)
    stretch = sub(arm, pull)
    limit = mass[body] * GRAB_LIMIT
    grab.turn[0] = loads.grab_turn[0]
    grab.link[0] = 1 if kind[body] == LINK else 0
    if grab.turn[0] == 1:
        w = inertia
        axis = cross(pull, arm)  # turning by +|angle| about it takes the target's direction to the arm's
        size = norm(axis)
        stretch = scale(math.atan2(size, dot(pull, arm)) / size if size > 0.0 else 0.0, axis)
    if grab.link[0] == 1:
        w = link_response(GRAB_SLOT, trees.span, trees.J, trees.Y)
        soft = SOFTEST * (w[0] + w[3] + w[5])
        w = (w[0] + soft, w[1], w[2], w[3] + soft, w[4], w[5] + soft)
    inverse = NOTHING
    trace = w[0] + w[3] + w[5]
    if trace > 0.0:  # else the point cannot move at all, as on the axis of a hinge
        inverse = sym_inverse(w)
        if grab.turn[0] == 1:
            limit = GRAB_TURN_LIMIT / max(w[0], max(w[3], w[5]))
        elif grab.link[0] == 1:
            limit = max(3.0 / trace, mass[body]) * GRAB_LIMIT  # 3/tr W: the mass that the point shows
    for j in range(6):
        grab.matrix[j] = w[j]
        grab.inverse[j] = inverse[j]
    put_flat(grab.arm, arm)
    put_flat(grab.bias, scale(GRAB_RATE / (2.0 + h * GRAB_RATE), stretch))
    grab.softness[0] = 1.0 / (h * GRAB_RATE * (2.0 + h * GRAB_RATE))
    grab.limit[0] = limit * h


@helper
def flat(a):
    """The vector in an array of length 3."""
    return (a[0], a[1], a[2])


@helper
def put_flat(a_out, u):
    a_out[0] = u[0]
    a_out[1] = u[1]
    a_out[2] = u[2]


# ---------------------------------------------------------------------------------------------------- warm start
@helper
def pair_order(shapes, j, a, b):
    """-1, 0, 1 as row j of the memory stands before, in or after the pair of shapes a, b."""
    if shapes[j, 0] != a:
        return -1 if shapes[j, 0] < a else 1
    if shapes[j, 1] != b:
        return -1 if shapes[j, 1] < b else 1
    return 0


@helper
def place_of(x, kind, a, b, point):
    """A contact point seen from the centre of mass of the body that moves, of b where both do."""
    return sub(point, row(x, b if kind[b] == DYNAMIC or kind[b] == LINK else a))


@kernel
def match(contacts, known, old_key, old_shapes, old_place, kind, x, previous_out):
    """previous_out[i] = row of the memory (`known` rows, ordered by pairs) that contact i continues, or -1: that of the
    same pair of shapes and key, else the nearest one of the pair that no other contact has. Where shapes touch alike in
    several ways (equal boxes corner on corner) rounding decides about the key, but not about the place."""
    count = int(contacts.count[0])
    shape_a, shape_b, body_a, body_b = contacts.shape_a, contacts.shape_b, contacts.body_a, contacts.body_b
    key, point = contacts.key, contacts.point
    taken = np.zeros(known, np.int32)
    first, start = 0, 0
    while first < count:
        a, b = shape_a[first], shape_b[first]
        last = first
        while last < count and shape_a[last] == a and shape_b[last] == b:
            last += 1
        while start < known and pair_order(old_shapes, start, a, b) < 0:
            start += 1
        end = start
        while end < known and pair_order(old_shapes, end, a, b) == 0:
            end += 1
        for i in range(first, last):
            previous_out[i] = -1
            for j in range(start, end):
                if old_key[j] == key[i] and taken[j] == 0:
                    previous_out[i] = j
                    taken[j] = 1
                    break
        for i in range(first, last):
            if previous_out[i] < 0:
                place = place_of(x, kind, int(body_a[i]), int(body_b[i]), row(point, i))
                best = -1
                nearest = np.inf
                for j in range(start, end):
                    away = sub(row(old_place, j), place)
                    if taken[j] == 0 and dot(away, away) < nearest:
                        best = j
                        nearest = dot(away, away)
                previous_out[i] = best
                if best >= 0:
                    taken[best] = 1
        first, start = last, end


@kernel
def warm_start(memory, previous, system):
    """Begin with the last step's impulses, brought into today's cones, and let them act; returns their number."""
    rows, bodies, impulse = system.rows, system.bodies, system.impulse
    known = 0
    for k in range(int(system.count[0])):
        j = int(previous[system.contact[k]])
        if j >= 0:
            known += 1
            p = cone_projection(row(memory.impulse, j), three(rows, k, NORMAL), rows[k, FRICTION])
            put(impulse, k, p)
            push_pair(system, bodies, system.trees.v, k, p)
    return known


@kernel
def momenta(system, force, torque, h, P_in_out, L_in_out):
    """Momenta (n, 3) after the step: P += h F + Σ p,  L += h τ + Σ r × p. What one body gets the other loses."""
    rows, bodies, grab = system.rows, system.bodies, system.grab
    for i in range(len(P_in_out)):
        if bodies[i, INV_MASS] > 0.0:
            accumulate(P_in_out, i, scale(h, row(force, i)))
            accumulate(L_in_out, i, scale(h, row(torque, i)))
    for k in range(int(system.count[0])):
        a = int(system.body_a[k])
        b = int(system.body_b[k])
        p = row(system.impulse, k)
        if bodies[b, INV_MASS] > 0.0:
            accumulate(P_in_out, b, p)
            accumulate(L_in_out, b, cross(three(rows, k, ARM_B), p))
        if bodies[a, INV_MASS] > 0.0:
            accumulate(P_in_out, a, neg(p))
            accumulate(L_in_out, a, neg(cross(three(rows, k, ARM_A), p)))
    i = int(grab.body[0])
    if i >= 0:
        p = flat(grab.impulse)
        if grab.turn[0] == 1:
            accumulate(L_in_out, i, p)
        else:
            accumulate(P_in_out, i, p)
            accumulate(L_in_out, i, cross(flat(grab.arm), p))


# ------------------------------------------------------------------------------------------------- matrix written out
@helper
def frame_of(rows, k):
    """The contact frame n, t1, t2."""
    n = three(rows, k, NORMAL)
    t1, t2 = tangents(n)
    return (n, t1, t2)


@kernel
def delassus(system, M_out):
    """M (3c, 3c) of the system's rows in contact frames, without the mouse spring's answer."""
    rows, bodies = system.rows, system.bodies
    answer, of_trees = bodies.copy(), np.zeros(len(system.trees.v))  # velocities after a unit impulse alone
    answer[:, : ANGULAR + 3] = 0.0
    for k in range(int(system.count[0])):
        a = int(system.body_a[k])
        b = int(system.body_b[k])
        for j in range(3):
            unit = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            p = mat_t_vec(frame_of(rows, k), unit)
            push_pair(system, answer, of_trees, k, p)
            for i in range(int(system.count[0])):
                u = mat_vec(frame_of(rows, i), pair_velocity(system, answer, of_trees, i))
                for r in range(3):
                    M_out[3 * i + r, 3 * k + j] = u[r]
            answer[a, : ANGULAR + 3] = 0.0
            answer[b, : ANGULAR + 3] = 0.0
            of_trees[:] = 0.0


@kernel
def in_frames(system, u_out, lam_out):
    """Velocities u and impulses λ (3c,) of the system's rows in contact frames."""
    rows, bodies = system.rows, system.bodies
    for k in range(int(system.count[0])):
        u = mat_vec(frame_of(rows, k), add(three(rows, k, BIAS), pair_velocity(system, bodies, system.trees.v, k)))
        p = mat_vec(frame_of(rows, k), row(system.impulse, k))
        for r in range(3):
            u_out[3 * k + r] = u[r]
            lam_out[3 * k + r] = p[r]


@kernel
def take_impulses(lam, system):
    """Put impulses λ (3c,), given in contact frames, in the place of the system's, and let the change act."""
    rows, bodies = system.rows, system.bodies
    for k in range(int(system.count[0])):
        p = mat_t_vec(frame_of(rows, k), (lam[3 * k], lam[3 * k + 1], lam[3 * k + 2]))
        change = sub(p, row(system.impulse, k))
        put(system.impulse, k, p)
        push_pair(system, bodies, system.trees.v, k, change)


def to_dense(system: System) -> ContactProblem:
    """The contact problem of a system, with M written out; d is without the effect of its impulses."""
    c = int(system.count[0])
    M, u, lam = np.zeros((3 * c, 3 * c)), np.zeros(3 * c), np.zeros(3 * c)
    delassus(system, M)
    in_frames(system, u, lam)
    return ContactProblem.frictional(M, u - M @ lam, system.rows[:c, FRICTION])
