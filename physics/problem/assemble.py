"""From a state and its contacts to the contact problem in the bodies' terms, and back from impulses to momenta."""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, inlined, kernel, on_demand, program
from ..core.model import DYNAMIC, LINK, Array, IntArray
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
    put4,
    rotate,
    row,
    row4,
    scale,
    sub,
    tangents,
    unrotate,
)
from ..dynamics.trees.contacts import carried_velocity
from ..laws.contact import cone_projection, disc_projection, restitution_bias
from .mechanisms import answer_alone, answer_through, open_block, put_point, unit_vector
from .system import (
    ANGULAR,
    ARM_A,
    ARM_B,
    BIAS,
    BODY_SIZE,
    CONTACT,
    COUPLING,
    ENTRY,
    FRICTION,
    INV_INERTIA,
    INV_MASS,
    INVERSE,
    LINEAR,
    MOUSE,
    NORMAL,
    NORMAL_STEP,
    OTHERS,
    PLACE,
    SLIP_STEP,
    SOFTEST,
    USED,
    WIDTH,
    System,
    clear_block,
    empty_motion,
    has_one_row,
    impulse_of,
    own_block,
    pair_velocity,
    push_pair,
    push_row,
    relative_velocity,
)

NEGLIGIBLE = 1e-4  # part of the speed that counts as rest: a change of a contact's velocity below it counts as 0
SLIGHT = 0.25    # part of the speed that counts as rest: growth of a turn in a step that is always accepted
SURE_SLIP = 8.0  # times the slip that friction of one contact can stop in a step: surfaces that slip faster go on
                 # slipping. The factor covers four contacts of a body and a load that doubles

REST_SPEED, TOUCH, H, SHARE = range(4)  # Approach.scales: speed that counts as rest [m/s], gap that counts as touch
                                        # [m], time step [s], the way from the memory to here as a part of a step's
ZETA, SLIP, TURN, SIDE_TURN = 0, 1, 4, 5  # columns of ContactMemory.own: ζ and slip, and Approach.turn, of the step


class Approach(NamedTuple):
    """What a step knows of its contacts before any impulse; room for as many as `System` has."""

    scales: Array       #: (4,) see REST_SPEED …
    previous: IntArray  #: (c,) row of the memory that each continues, -1 = none
    surface: Array      #: (c, 3) relative velocity of running surfaces [m/s]
    turn: Array         #: (c, 4) what the way from the last middle to this one did to ζ and to the slip (3) [m/s]
    half_turn: Array    #: (c, 3) what half a step of way does to the relative velocity [m/s]
    zeta: Array         #: (c,) separation velocity at the beginning of the step [m/s]


def empty_approach(contacts: int) -> Approach:
    return Approach(np.zeros(4), np.full(contacts, -1, np.int32), np.zeros((contacts, 3)), np.zeros((contacts, 4)),
                    np.zeros((contacts, 3)), np.zeros(contacts))


# ---------------------------------------------------------------------------------------------------- velocities
@inlined
def surface_velocity(velocity, spin, i, q, arm):
    """Velocity of a running surface relative to its body, at the world arm from the body's origin."""
    s = row(velocity, i)
    w = row(spin, i)
    if dot(s, s) + dot(w, w) == 0.0:
        return (0.0, 0.0, 0.0)
    return rotate(q, add(s, cross(w, unrotate(q, arm))))


@inlined
def belt_velocity(motions, q, a, b, arm_a, arm_b):
    """Velocity of the running surface of b relative to that of a, the bodies at rest."""
    return sub(surface_velocity(motions.surface_velocity, motions.surface_spin, b, row4(q, b), arm_b),
               surface_velocity(motions.surface_velocity, motions.surface_spin, a, row4(q, a), arm_a))


@kernel
def free_motion(model, middle, force, torque, h, before_out, motion_out):
    """Velocities at the poses of the middle of the step, of the momenta before it and after it if nothing touched; and
    how bodies answer impulses there. Both as Motion.bodies; the rows of links say how their bodies move before the step
    and that they answer nothing by themselves.

    v = P/m, ω = I(q)⁻¹ L, so that gyroscopic torques are exact: without torque L does not change.
    """
    kind, inv_mass, inv_inertia = model.kind, model.inv_mass, model.inv_inertia
    before, bodies_out = before_out.bodies, motion_out.bodies
    for i in range(len(kind)):
        v = row(middle.v, i)
        w = row(middle.w, i)
        put_three(before, i, LINEAR, v)
        s = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if kind[i] == DYNAMIC:
            s = world_inverse_inertia(row4(middle.q, i), row(inv_inertia, i))
            L = row(middle.L, i)
            put_three(before, i, ANGULAR, sym_vec(s, L))
            v = axpy(h * inv_mass[i], row(force, i), v)
            w = sym_vec(s, axpy(h, row(torque, i), L))
        else:
            put_three(before, i, ANGULAR, w)
        put_three(bodies_out, i, LINEAR, v)
        put_three(bodies_out, i, ANGULAR, w)
        bodies_out[i, INV_MASS] = inv_mass[i] if kind[i] == DYNAMIC else 0.0
        put_six(bodies_out, i, INV_INERTIA, s)


# ------------------------------------------------------------------------------------------------------ contacts
@helper
def carried(own, j, column, n):
    """A tangential vector of the memory, carried along with the tangent plane to that of the normal n."""
    old = three(own, j, column)
    flat_one = axpy(-dot(old, n), n, old)
    length = norm(flat_one)
    return scale(norm(old) / length, flat_one) if length > 0.0 else flat_one


@helper
def extrapolate(old, new, slight):
    """Half of the turn of this step, extrapolated from two vectors: `old`, the turn over the step to the last middle,
    and `new`, that over the step from there, half a step ago. A turn changes gradually, so its growth is bounded: a
    sudden change comes from another choice of the contact point on a face."""
    change = disc_projection(sub(new, old), norm(old) + slight)
    new = add(old, change)
    return scale(0.5, axpy(0.5, disc_projection(change, norm(new) + slight), new))


@inlined
def half_turn(approach, memory, i, key, n, u):
    """The change of the velocity u of contact i in half a step by the motion of its point and normal. It follows from
    the change since the memory, and is 0 for a new contact."""
    put4(approach.turn, i, (0.0, 0.0, 0.0, 0.0))
    j = int(approach.previous[i])
    if j < 0 or memory.key[j] != key:
        return (0.0, 0.0, 0.0)
    own, share, zeta = memory.own, approach.scales[SHARE], dot(u, n)
    faster, slip = zeta - own[j, ZETA], axpy(-zeta, n, u)
    change, least = sub(slip, three(own, j, SLIP)), NEGLIGIBLE * approach.scales[REST_SPEED]
    if faster * faster + dot(change, change) <= least * least:  # as of all that rests or lies flat
        return (0.0, 0.0, 0.0)
    turn = faster / share
    side = scale(1.0 / share, sub(slip, carried(own, j, SLIP, n)))
    put4(approach.turn, i, (turn, side[0], side[1], side[2]))
    if share < 1.0:  # the first step: there is nothing to go on by
        return scale(0.5, axpy(turn, n, side))
    slight = SLIGHT * approach.scales[REST_SPEED]
    along = extrapolate((own[j, TURN], 0.0, 0.0), (turn, 0.0, 0.0), slight)[0]
    return axpy(along, n, extrapolate(carried(own, j, SIDE_TURN, n), side, slight))


@inlined
def contact_motion(model, middle, before, contacts, i):
    """Of contact i: the arms of both bodies, the velocity of running surfaces, and u before any impulse."""
    a, b, p = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.point, i)
    arm_a = sub(p, row(middle.x, a))
    arm_b = sub(p, row(middle.x, b))
    surface = belt_velocity(model.motions, middle.q, a, b, arm_a, arm_b)
    return arm_a, arm_b, surface, add(surface, relative_velocity(before.bodies, a, b, arm_a, arm_b))


@inlined
def note_approach(approach, memory, contacts, i, surface, u):
    """Write what the approach holds of contact i, which has the velocity u."""
    n = row(contacts.normal, i)
    turn = half_turn(approach, memory, i, contacts.key[i], n, u)
    approach.zeta[i] = dot(n, sub(u, turn))
    put(approach.surface, i, surface)
    put(approach.half_turn, i, turn)


@inlined
def bias_of(approach, contacts, i):
    """See `restitution_bias`."""
    return restitution_bias(contacts.gap[i], approach.zeta[i], contacts.restitution[i], approach.scales[REST_SPEED],
                            approach.scales[TOUCH], approach.scales[H])


@inlined
def put_contact(model, mechanisms, contacts, memory, approach, system, i, k, motion, law):
    """Fill row k with contact i; False where its impulses would do nothing. motion and law: what `contact_motion` and
    `bias_of` say of it."""
    (arm_a, arm_b, _, u), (bias, part) = motion, law
    rows, bodies = system.rows, system.motion.bodies
    a, b, n, p = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.normal, i), row(contacts.point, i)
    turn = row(approach.half_turn, i)
    system.contact[k], system.previous[k] = i, -1
    system.fired[k] = 1 if part == 2 else 0
    system.body_a[k] = a
    system.body_b[k] = b
    system.block[k] = -1
    put(system.impulse, k, (0.0, 0.0, 0.0))
    put_three(rows, k, NORMAL, n)
    put_three(rows, k, ARM_A, arm_a)
    put_three(rows, k, ARM_B, arm_b)
    rows[k, FRICTION] = contacts.friction[i]
    if mechanisms.bound[a] == 1 or mechanisms.bound[b] == 1:
        if not block_contact(model, mechanisms, system, k):
            return False
    else:
        put_own_block(rows, k, n, point_response(bodies[a, INV_MASS], six(bodies, a, INV_INERTIA), arm_a),
                      point_response(bodies[b, INV_MASS], six(bodies, b, INV_INERTIA), arm_b))
    slip, along = axpy(-dot(n, u), n, u), dot(n, turn)
    side, square = axpy(-along, n, turn), dot(slip, slip)
    if part == 1 and slips_on(rows, k, memory, int(approach.previous[i]), n, square):
        turn = axpy(along, n, slip)
    elif square > 4.0 * dot(side, side):  # it slips, and the turn is that of the slip's direction
        turn = scale(along, n)
    surface = row(approach.surface, i)
    if len(model.trees.driven) > 0:
        surface = add(surface, sub(carried_velocity(model, mechanisms.trees.work, b, p)[0],
                                   carried_velocity(model, mechanisms.trees.work, a, p)[0]))
    bias_along = add(surface, answerable(system, k, turn))
    put_three(rows, k, BIAS, axpy(bias, n, bias_along))
    return True


@program
def assemble(model, mechanisms, middle, contacts, before, memory, approach, system):
    """Fill the rows of the system: one for every contact that takes part in this step, with a block where an impulse is
    passed on. Writes what the approach holds of every contact. middle: the bodies in the middle of the step; before:
    the Motion before any impulse; memory: the contacts of the last step.

    A velocity q̇ moves the bodies from one middle to the next, and contact laws are to hold half-way, at the end of the
    step. There u = J q̇ differs from what it is in the middle by half of what the way does to it, the `half_turn`: the
    normal turns and the point wanders. To leave it out costs a ball on a curved wall speed at first order in h.
    """
    k = 0
    for i in range(int(contacts.count[0])):
        motion = contact_motion(model, middle, before, contacts, i)
        note_approach(approach, memory, contacts, i, motion[2], motion[3])
        law = bias_of(approach, contacts, i)
        if law[1] != 0 and put_contact(model, mechanisms, contacts, memory, approach, system, i, k, motion, law):
            k += 1
    system.count[0] = k


@inlined
def slips_on(rows, k, memory, j, n, square):
    """Whether contact k, at a slip with this square, slips so fast that friction cannot stop it in this step, as far as
    the load of the last one says. Friction then opposes the mean of the slip before the step and after it, which is of
    second order."""
    load = dot(row(memory.impulse, j), n) if j >= 0 else 0.0
    stopped = SURE_SLIP * rows[k, FRICTION] * load
    return load > 0.0 and square * rows[k, SLIP_STEP] * rows[k, SLIP_STEP] > stopped * stopped


@on_demand
def block_contact(model, mechanisms, system, k) -> bool:
    """The block of contact k, which acts on links or on bodies that constraints connect. False, and no block, where
    no motion is free along its normal, as between two links of one joint's axis: impulses there do nothing."""
    rows, blocks, bodies = system.rows, system.blocks, system.motion.bodies
    a, b = int(system.body_a[k]), int(system.body_b[k])
    block = open_block(mechanisms, blocks, CONTACT, a, b)
    if block < 0:
        return True
    put_point(model, mechanisms, blocks, b, 1.0, three(rows, k, ARM_B))
    put_point(model, mechanisms, blocks, a, -1.0, three(rows, k, ARM_A))
    answer_alone(model, mechanisms, bodies, blocks, block, a, b, 3)
    w = own_block(blocks, block)
    soft = SOFTEST * (w[0] + w[3] + w[5])
    if answer_through(mechanisms, blocks, block, a, b):
        w = own_block(blocks, block)
    n = three(rows, k, NORMAL)
    if dot(n, sym_vec(w, n)) <= soft:
        blocks.count[USED] = block
        return False
    system.block[k] = block
    put_own_block(rows, k, n, w, (soft, 0.0, 0.0, soft, 0.0, soft))
    return True


@inlined
def answerable(system, k, u):
    """The part of a velocity u that impulses at contact k can change. A link that hinges hold moves in some directions
    only, and to ask for a change in another one would take an impulse without bound."""
    if system.block[k] < 0:
        return u
    return sym_vec(own_block(system.blocks, int(system.block[k])), sym_vec(six(system.rows, k, INVERSE), u))


@inlined
def put_own_block(rows, k, n, w_a, w_b):
    """What a visit needs of the contact's own block W = w_a + w_b, which is positive definite."""
    w = (w_a[0] + w_b[0], w_a[1] + w_b[1], w_a[2] + w_b[2], w_a[3] + w_b[3], w_a[4] + w_b[4], w_a[5] + w_b[5])
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
    """Begin with the last step's impulses, brought into today's cones, and let them act; returns how many contacts have
    one. Limits and motors have theirs already."""
    rows, impulse, blocks = system.rows, system.impulse, system.blocks
    known = 0
    for k in range(int(blocks.count[OTHERS])):
        if has_one_row(blocks, k):
            push_row(blocks, k, blocks.impulse[k], system.motion.q_dot)
    for k in range(int(system.count[0])):
        j = int(previous[system.contact[k]])
        system.previous[k] = j
        if j >= 0:
            known += 1
            p = cone_projection(row(memory.impulse, j), three(rows, k, NORMAL), rows[k, FRICTION])
            put(impulse, k, p)
            push_pair(system, system.motion, k, p)
    return known


@kernel
def momenta(system, force, torque, h, P_in_out, L_in_out):
    """Momenta (n, 3) after the step: P += h F + Σ p,  L += h τ + Σ r × p, with -p on body a and p on body b."""
    rows, bodies, grab = system.rows, system.motion.bodies, system.grab
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
    row_momenta(system, P_in_out, L_in_out)


@helper
def row_momenta(system, P_in_out, L_in_out):
    """Add what limits, motors and moments of contacts give to the momenta of free bodies: Jᵀ p"""
    blocks, bodies = system.blocks, system.motion.bodies
    for k in range(int(blocks.count[OTHERS])):
        p = impulse_of(system, k)
        for s in range(blocks.first[k], blocks.seen[k] if blocks.kind[k] != MOUSE else blocks.first[k]):
            i, e = int(blocks.span[s, PLACE]) // BODY_SIZE, int(blocks.span[s, ENTRY])
            if i < len(bodies) and bodies[i, INV_MASS] > 0.0:
                accumulate(P_in_out, i, along_columns(blocks.J, e, p))
                accumulate(L_in_out, i, along_columns(blocks.J, e + 3, p))


@helper
def along_columns(J, e, p):
    """The three entries of Jᵀ p from e on."""
    return (dot(three(J, e, 0), p), dot(three(J, e + 1, 0), p), dot(three(J, e + 2, 0), p))


@kernel
def tree_impulses(system, g_out):
    """Generalized impulses Jᵀ p (n_v,) on trees, of all that acts but joints in maximal coordinates."""
    blocks = system.blocks
    first = BODY_SIZE * len(system.motion.bodies)
    g_out[:] = 0.0
    for k in range(int(blocks.count[OTHERS])):
        spread_impulse(blocks, k, impulse_of(system, k), first, g_out)
    for k in range(int(system.count[0])):
        if system.block[k] >= 0:
            spread_impulse(blocks, int(system.block[k]), row(system.impulse, k), first, g_out)


@helper
def spread_impulse(blocks, k, p, first, g_out):
    """Add Jᵀ p of block k to the places of trees, which begin with `first` in q̇."""
    for s in range(blocks.first[k], blocks.seen[k]):
        at, e = int(blocks.span[s, PLACE]) - first, int(blocks.span[s, ENTRY])
        for d in range(blocks.span[s, WIDTH] if at >= 0 else 0):
            g_out[at + d] += blocks.J[e + d, 0] * p[0] + blocks.J[e + d, 1] * p[1] + blocks.J[e + d, 2] * p[2]


# ------------------------------------------------------------------------------------------------- matrix written out
@helper
def frame_of(rows, k):
    """The contact frame n, t1, t2."""
    n = three(rows, k, NORMAL)
    t1, t2 = tangents(n)
    return (n, t1, t2)


@kernel
def delassus(system, answer, M_out):
    """M (3c, 3c) of the system's contacts in their frames, without the answers of mouse, limits and motors. answer: a
    Motion at rest in which bodies answer as in that of the system; it comes to rest again."""
    rows = system.rows
    for k in range(int(system.count[0])):
        for j in range(3):
            push_pair(system, answer, k, mat_t_vec(frame_of(rows, k), unit_vector(j)))
            for i in range(int(system.count[0])):
                u = mat_vec(frame_of(rows, i), pair_velocity(system, answer, i))
                for r in range(3):
                    M_out[3 * i + r, 3 * k + j] = u[r]
            answer.bodies[system.body_a[k], : ANGULAR + 3] = 0.0
            answer.bodies[system.body_b[k], : ANGULAR + 3] = 0.0
            if system.block[k] >= 0:
                clear_block(system.blocks, int(system.block[k]), answer.q_dot)


@kernel
def in_frames(system, u_out, lam_out):
    """Velocities u and impulses λ (3c,) of the system's contacts in their frames."""
    rows = system.rows
    for k in range(int(system.count[0])):
        u = mat_vec(frame_of(rows, k), add(three(rows, k, BIAS), pair_velocity(system, system.motion, k)))
        p = mat_vec(frame_of(rows, k), row(system.impulse, k))
        for r in range(3):
            u_out[3 * k + r] = u[r]
            lam_out[3 * k + r] = p[r]


@kernel
def take_impulses(lam, system):
    """Put impulses λ (3c,), given in contact frames, in the place of the system's, and let the change act."""
    rows = system.rows
    for k in range(int(system.count[0])):
        p = mat_t_vec(frame_of(rows, k), (lam[3 * k], lam[3 * k + 1], lam[3 * k + 2]))
        change = sub(p, row(system.impulse, k))
        put(system.impulse, k, p)
        push_pair(system, system.motion, k, change)


def matrix_of(system: System) -> Array:
    """M (3c, 3c) of the system's contacts in their frames."""
    c, motion = int(system.count[0]), system.motion
    M, answer = np.zeros((3 * c, 3 * c)), empty_motion(len(motion.bodies), len(motion.v))
    answer.bodies[:, INV_MASS:] = motion.bodies[:, INV_MASS:]
    delassus(system, answer, M)
    return M
