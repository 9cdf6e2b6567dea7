"""Links in the contact problem: contacts, limits and motors as rows over the velocities of trees.

A contact sees a link through J (3, w), velocity of the contact point per velocity of the tree, and Y = H⁻¹ Jᵀ (w, 3),
what an impulse there does to the tree; both by the recursions of `dynamics.tree`, without forming H. A side of a
contact on a free body stays in the body's own terms. Where both sides are links of one tree, one row holds J_b - J_a.
"""

import math

from ..core.jit import helper, kernel
from ..core.model import BodyKind
from ..core.spatial import get6, joined, put6, sub6
from ..core.vec import norm, row, row4, scale, sub, transform
from ..dynamics.trees.kinematics import (
    BALL,
    FIRST_Q,
    FIRST_V,
    FREE,
    ORIGIN,
    TYPE,
    VELOCITIES,
    D,
    F,
    S,
    V,
    X,
    advance,
    flat4,
    get3,
    move,
    place,
    point_velocity,
)
from ..dynamics.trees.rates import joint_forces, rotation_vector
from ..dynamics.trees.tree import ZERO6, answer, eliminate, last_velocity, pushed_forces, wrench_at
from .problem import ANGULAR, HIGH, JOINT_BIAS, JOINT_IMPULSE, JOINT_STEP, LINEAR, LOW, ON_BODY, OTHER_SIDE

LINK = int(BodyKind.LINK)
STIFF = 0.05   # part of a velocity's inertia that springs and dampers make up in a step, from which they are stiff
NEAR = 0.02    # a limit this far away takes part [rad] or [m]
GRAB_SLOT = 0  # the mouse's row of J and Y


# ------------------------------------------------------------------------------------- what a contact sees of a tree
@helper
def linked_velocity(slot, span, J, v):
    """J v of one slot (3,)."""
    x, y, z = 0.0, 0.0, 0.0
    first = span[slot, 0]
    for d in range(span[slot, 1]):
        rate = v[first + d]
        x += J[slot, 0, d] * rate
        y += J[slot, 1, d] * rate
        z += J[slot, 2, d] * rate
    return (x, y, z)


@helper
def linked_push(slot, span, Y, p, v_in_out):
    """v += Y p"""
    first = span[slot, 0]
    for d in range(span[slot, 1]):
        v_in_out[first + d] += Y[slot, d, 0] * p[0] + Y[slot, d, 1] * p[1] + Y[slot, d, 2] * p[2]


@helper
def link_response(slot, span, J, Y):
    """J Y = J H⁻¹ Jᵀ of one slot as xx xy xz yy yz zz"""
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for d in range(span[slot, 1]):
        xx += J[slot, 0, d] * Y[slot, d, 0]
        xy += J[slot, 0, d] * Y[slot, d, 1]
        xz += J[slot, 0, d] * Y[slot, d, 2]
        yy += J[slot, 1, d] * Y[slot, d, 1]
        yz += J[slot, 1, d] * Y[slot, d, 2]
        zz += J[slot, 2, d] * Y[slot, d, 2]
    return (xx, xy, xz, yy, yz, zz)


@helper
def add_columns(table, link, dof, l, sign, mode, point, first, J_out):
    """J += sign times what the velocities on the way to link l's root give its point (mode 0) or its rotation (1)."""
    arm = sub(point, get3(link, l, ORIGIN))
    d = last_velocity(table.index, l, dof.shape[0])
    while d >= 0:
        s = get6(dof, d, S)
        u = (s[0], s[1], s[2]) if mode == 1 else point_velocity(s, arm)
        for r in range(3):
            J_out[r, d - first] += sign * u[r]
        d = int(table.before[d])


@helper
def fill_slot(trees, work, none, rates, l, other, mode, point, slot, span, J_out, Y_out):
    """J and Y of a point of link l, minus that of link `other` of the same tree (-1 = none); mode as `add_columns`."""
    table, link, dof = trees.table, work.link, work.dof
    tree = 0
    while trees.start[tree + 1] <= l:
        tree += 1
    start, end = int(trees.start[tree]), int(trees.start[tree + 1])
    first, count = int(trees.start_v[tree]), int(trees.start_v[tree + 1] - trees.start_v[tree])
    span[slot, 0], span[slot, 1] = first, count
    J_out[slot, :, :count] = 0.0
    add_columns(table, link, dof, l, 1.0, mode, point, first, J_out[slot])
    if other >= 0:
        add_columns(table, link, dof, other, -1.0, mode, point, first, J_out[slot])
    for r in range(3):
        e = (1.0 if r == 0 else 0.0, 1.0 if r == 1 else 0.0, 1.0 if r == 2 else 0.0)
        wrench = joined(e, (0.0, 0.0, 0.0)) if mode == 1 else wrench_at(link, l, point, e)
        for k in range(start, end):
            put6(link, k, F, ZERO6)
        put6(link, l, F, sub6(ZERO6, wrench))
        if other >= 0:
            put6(link, other, F, wrench)
        answer(table, start, end, none, link, dof, rates)
        for d in range(count):
            Y_out[slot, d, r] = rates[first + d]


@kernel
def assign_slots(kind, trees, contacts, linked_out, slot_out):
    """Which rows of J and Y the sides of every contact need (see TreeRows.slot); returns the number of rows, the
    mouse's among them."""
    rows = GRAB_SLOT + 1
    for i in range(int(contacts.count[0])):
        a, b = int(contacts.body_a[i]), int(contacts.body_b[i])
        linked_out[i] = 0
        slot_out[i, 0] = slot_out[i, 1] = ON_BODY
        if kind[b] == LINK:
            slot_out[i, 1] = rows
            rows += 1
        if kind[a] == LINK:
            if kind[b] == LINK and same_tree(trees, int(trees.link_of_body[a]), int(trees.link_of_body[b])):
                slot_out[i, 0] = OTHER_SIDE
            else:
                slot_out[i, 0] = rows
                rows += 1
        if kind[a] == LINK or kind[b] == LINK:
            linked_out[i] = 1
    return rows


@helper
def same_tree(trees, l, other):
    for k in range(1, len(trees.start)):
        if l < trees.start[k]:
            return trees.start[k - 1] <= other < trees.start[k]
    return False


@kernel
def fill_slots(model, contacts, work, none, rates, rows):
    """J and Y of every contact's sides on links. Needs the work of `free_links`."""
    trees = model.trees
    for i in range(int(contacts.count[0])):
        if rows.linked[i] == 0:
            continue
        point = row(contacts.point, i)
        if rows.slot[i, 1] >= 0:
            l = int(trees.link_of_body[contacts.body_b[i]])
            other = int(trees.link_of_body[contacts.body_a[i]]) if rows.slot[i, 0] == OTHER_SIDE else -1
            fill_slot(trees, work, none, rates, l, other, 0, point, int(rows.slot[i, 1]), rows.span, rows.J, rows.Y)
        if rows.slot[i, 0] >= 0:
            l = int(trees.link_of_body[contacts.body_a[i]])
            fill_slot(trees, work, none, rates, l, -1, 0, point, int(rows.slot[i, 0]), rows.span, rows.J, rows.Y)


@kernel
def fill_grab(model, loads, bodies, work, none, rates, rows):
    """J and Y of the point that the mouse holds, or of the link's rotation."""
    l = int(model.trees.link_of_body[loads.grab_body[0]])
    i = int(loads.grab_body[0])
    held = (loads.grab_point[0], loads.grab_point[1], loads.grab_point[2])
    point = transform(row(bodies.x, i), row4(bodies.q, i), held)
    turn = int(loads.grab_turn[0])
    fill_slot(model.trees, work, none, rates, l, -1, turn, point, GRAB_SLOT, rows.span, rows.J, rows.Y)


# ---------------------------------------------------------------------------------------- velocities without impulses
@kernel
def free_links(model, loads, q, v, h, force, torque, scratch, added, v_out, stiff_out):
    """Velocities v_out (n_v,) after the step if nothing touched, from poses q in the middle of it and v before it.

        (H + h c + ¼ h² k) Δv = h (τ - C - c v)

    Dampers are implicit, joint springs by the implicit midpoint rule; C is taken at the mean velocity of a first
    solution. Leaves inertias, motion subspaces and their elimination in `scratch`, and in stiff_out (t,) 1 for trees
    whose springs and dampers an explicit integrator should not be trusted with.
    """
    trees, joints, work = model.trees, model.joints, scratch.work
    table, index, link, dof = trees.table, trees.table.index, work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    for d in range(len(v)):
        j = int(trees.joint[trees.dof_link[d]])
        added[d] = h * joints.damping[j] + 0.25 * h * h * joints.stiffness[j]
    eliminate(table, added, link, dof, work.articulated)
    joint_forces(model, loads, q, v, True, scratch.tau)
    for iteration in range(2):
        if iteration == 1:
            move(table, v_out, link, dof)  # v + h/2 v̇
        pushed_forces(table, trees.body, force, torque, scratch.none, link, dof)
        answer(table, 0, index.shape[0], scratch.tau, link, dof, scratch.rates)
        share = 0.5 * h if iteration == 0 else h
        for d in range(len(v)):
            v_out[d] = v[d] + share * scratch.rates[d]
    for tree in range(len(trees.start) - 1):
        stiff_out[tree] = 0
        for d in range(trees.start_v[tree], trees.start_v[tree + 1]):
            if added[d] * dof[d, D] > STIFF:
                stiff_out[tree] = 1


@helper
def mean_rates(model, v, force, torque, h, share, scratch, v_out):
    """v_out += share · h v̇ with C at the velocities v; dampers are implicit."""
    trees, work = model.trees, scratch.work
    move(trees.table, v, work.link, work.dof)
    pushed_forces(trees.table, trees.body, force, torque, scratch.none, work.link, work.dof)
    answer(trees.table, 0, work.link.shape[0], scratch.tau, work.link, work.dof, scratch.rates)
    for d in range(len(v)):
        v_out[d] += share * h * scratch.rates[d]


@kernel
def turn_path(model, loads, q, v, h, force, torque, slight, scratch, free_in_out, v_in_out):
    """Impulses bend the path in the middle of the step: half of it has C at the velocities v before, half at those
    after, h ½ (C(v) + C(v⁺)) in place of h C((v + v_free)/2), which with a jump of v is wrong by O(h). v_in_out (n_v,)
    contains the impulses and gets what that changes, free_in_out likewise without them, unless it is `slight`; returns
    whether it was more.

    Needs what `free_links` left in the scratch."""
    jump = 0.0
    for d in range(len(v)):
        scratch.v[d] = v[d]
        jump = max(jump, abs(v_in_out[d] - free_in_out[d]))
    if jump <= slight:
        return False
    joint_forces(model, loads, q, v, True, scratch.tau)
    mean_rates(model, v, force, torque, h, 0.5, scratch, scratch.v)
    mean_rates(model, v_in_out, force, torque, h, 0.5, scratch, scratch.v)
    largest = 0.0
    for d in range(len(v)):
        largest = max(largest, abs(scratch.v[d] - free_in_out[d]))
    if largest <= slight:
        return False
    for d in range(len(v)):
        v_in_out[d] += scratch.v[d] - free_in_out[d]
        free_in_out[d] = scratch.v[d]
    return True


@kernel
def write_velocities(model, v, work, bodies_out):
    """Velocities of all links at joint velocities v in rows of System.bodies; their poses are those of the work."""
    link = work.link
    move(model.trees.table, v, link, work.dof)
    for l in range(link.shape[0]):
        i = int(model.trees.body[l])
        velocity = get6(link, l, V)
        u = point_velocity(velocity, sub(get3(link, l, X), get3(link, l, ORIGIN)))
        for j in range(3):
            bodies_out[i, LINEAR + j] = u[j]
            bodies_out[i, ANGULAR + j] = velocity[j]


# ------------------------------------------------------------------------------------------------ limits and motors
@helper
def joint_row(trees, work, rates, coefficients, first, width, rows, k):
    """Row k: u = Σ coefficient v over `width` velocities from `first` on; its answer to a unit impulse."""
    table, link, dof = trees.table, work.link, work.dof
    tree = 0
    while trees.start_v[tree + 1] <= first:
        tree += 1
    start, end, begin = int(trees.start[tree]), int(trees.start[tree + 1]), int(trees.start_v[tree])
    for l in range(start, end):
        put6(link, l, F, ZERO6)
    for d in range(begin, trees.start_v[tree + 1]):
        rows.unit[d] = 0.0
    for j in range(width):
        rows.unit[first + j] = coefficients[j]
        rows.number[k, j] = coefficients[j]
    answer(table, start, end, rows.unit, link, dof, rates)
    rows.dof[k, 0], rows.dof[k, 1] = first, width
    rows.dof[k, 2], rows.dof[k, 3] = begin, int(trees.start_v[tree + 1]) - begin
    diagonal = 0.0
    for j in range(width):
        diagonal += coefficients[j] * rates[first + j]
        rows.unit[first + j] = 0.0
    for d in range(begin, trees.start_v[tree + 1]):
        rows.response[k, d - begin] = rates[d]
    rows.number[k, JOINT_STEP] = 1.0 / diagonal
    rows.number[k, JOINT_IMPULSE] = 0.0


@helper
def limit_row(trees, work, rates, coefficients, first, width, gap, e, v, v_before, h, rows):
    """A row for a limit at the distance `gap` that it may reach in this step: ζ + φ/h >= 0; where it is hit faster than
    forces move it in a step, with restitution ζ + e ζ⁻ >= 0."""
    zeta, before = 0.0, 0.0
    for j in range(width):
        zeta += coefficients[j] * v[first + j]
        before += coefficients[j] * v_before[first + j]
    if gap + 2.0 * h * min(zeta, 0.0) > NEAR or math.isinf(gap):
        return
    k = int(rows.count[0])
    joint_row(trees, work, rates, coefficients, first, width, rows, k)
    rows.number[k, JOINT_BIAS] = max(gap, 0.0) / h
    if e > 0.0 and gap + h * zeta < 0.0 and before < -2.0 * abs(zeta - before):
        rows.number[k, JOINT_BIAS] = e * before
    rows.number[k, LOW] = 0.0
    rows.number[k, HIGH] = math.inf
    rows.gap[k] = gap
    rows.count[0] = k + 1


@kernel
def joint_rows(model, q, v, v_before, h, work, rates, rows):
    """The rows of motors with a speed and of limits (φ = distance to the limit) near the positions q, velocities v that
    the step would end with; it begins with v_before."""
    trees, joints = model.trees, model.joints
    index = trees.table.index
    rows.count[0] = 0
    for l in range(index.shape[0]):
        kind, j, i, first = int(index[l, TYPE]), int(trees.joint[l]), int(index[l, FIRST_Q]), int(index[l, FIRST_V])
        if VELOCITIES[kind] == 1 and not math.isnan(joints.motor_speed[j]):
            k = int(rows.count[0])
            joint_row(trees, work, rates, (1.0, 0.0, 0.0), first, 1, rows, k)
            rows.number[k, JOINT_BIAS] = -joints.motor_speed[j]
            rows.number[k, LOW] = -h * joints.motor_limit[j]
            rows.number[k, HIGH] = h * joints.motor_limit[j]
            rows.gap[k] = math.inf
            rows.count[0] = k + 1
        if kind == BALL:
            turn = rotation_vector(flat4(q, i))
            angle = norm(turn)
            if angle > 0.0:
                inwards = scale(-1.0 / angle, turn)
                limit_row(trees, work, rates, inwards, first, 3, joints.upper[j, 0] - angle, joints.restitution[j], v,
                          v_before, h, rows)
        elif kind != FREE:
            for n in range(VELOCITIES[kind]):
                up, down = q[i + n] - joints.lower[j, n], joints.upper[j, n] - q[i + n]
                e = joints.restitution[j]
                limit_row(trees, work, rates, (1.0, 0.0, 0.0), first + n, 1, up, e, v, v_before, h, rows)
                limit_row(trees, work, rates, (-1.0, 0.0, 0.0), first + n, 1, down, e, v, v_before, h, rows)


@helper
def row_velocity(dof, number, k, v):
    """Σ coefficient v of joint row k"""
    u = 0.0
    for j in range(dof[k, 1]):
        u += number[k, j] * v[dof[k, 0] + j]
    return u


@helper
def push_row(dof, response, k, change, v_in_out):
    for d in range(dof[k, 3]):
        v_in_out[dof[k, 2] + d] += change * response[k, d]


@helper
def visit_joint_rows(count, dof, number, response, v_in_out):
    """Every limit and motor in turn: p = clamp(p - u/w);  returns the square of the largest change of a velocity."""
    worst = 0.0
    for k in range(count):
        u = number[k, JOINT_BIAS] + row_velocity(dof, number, k, v_in_out)
        old = number[k, JOINT_IMPULSE]
        new = min(max(old - number[k, JOINT_STEP] * u, number[k, LOW]), number[k, HIGH])
        if new != old:
            number[k, JOINT_IMPULSE] = new
            push_row(dof, response, k, new - old, v_in_out)
            worst = max(worst, ((new - old) / number[k, JOINT_STEP]) ** 2)
    return worst


@helper
def joint_residual(count, dof, number, v):
    """Largest natural map |p - clamp(p - u/w)| w of limits and motors [rad/s] or [m/s]."""
    worst = 0.0
    for k in range(count):
        u = number[k, JOINT_BIAS] + row_velocity(dof, number, k, v)
        p, step = number[k, JOINT_IMPULSE], number[k, JOINT_STEP]
        worst = max(worst, abs(p - min(max(p - step * u, number[k, LOW]), number[k, HIGH])) / step)
    return worst


@kernel
def involve_trees(trees, stiff, rows, grab, involved_in_out):
    """Mark all bodies of trees that contacts, the mouse, limits, motors or stiff springs act on; returns the number of
    links marked."""
    found = 0
    for tree in range(len(trees.start) - 1):
        hit = stiff[tree] == 1
        for k in range(int(rows.count[0])):
            if rows.dof[k, 2] == trees.start_v[tree]:
                hit = True
        for l in range(trees.start[tree], trees.start[tree + 1]):
            if involved_in_out[trees.body[l]] == 1 or grab.body[0] == trees.body[l]:
                hit = True
        for l in range(trees.start[tree], trees.start[tree + 1]):
            involved_in_out[trees.body[l]] = 1 if hit else 0
            found += 1 if hit else 0
    return found


@kernel
def tree_fraction(trees, fraction_in_out):
    """The bodies of a tree go as far as the first of them may."""
    for tree in range(len(trees.start) - 1):
        least = 1.0
        for l in range(trees.start[tree], trees.start[tree + 1]):
            least = min(least, fraction_in_out[trees.body[l]])
        for l in range(trees.start[tree], trees.start[tree + 1]):
            fraction_in_out[trees.body[l]] = least


@kernel
def drift_links(trees, q, v, fraction, h, step, q_out):
    """Positions after the time h at velocities v; fraction (n,) shortens the way of trees."""
    for d in range(len(v)):
        step[d] = fraction[trees.body[trees.dof_link[d]]] * v[d]
    advance(trees.table, q, step, h, q_out)


@kernel
def finish_links(trees, involved, fraction, q_middle, v, shift, h, flight_q, flight_v, step, q_out, v_out):
    """Coordinates at the end of the step: q⁺ = q_m ⊕ (h/2 v⁺ + shift) of trees that something acts on, else those of
    their flight."""
    for d in range(len(v)):
        step[d] = 0.5 * h * fraction[trees.body[trees.dof_link[d]]] * v[d] + shift[d]
    advance(trees.table, q_middle, step, 1.0, q_out)
    index = trees.table.index
    for l in range(index.shape[0]):
        free = involved[trees.body[l]] == 0
        for d in range(trees.first_v[l], trees.first_v[l + 1]):
            v_out[d] = flight_v[d] if free else v[d]
        if free:
            for i in range(trees.first_q[l], trees.first_q[l + 1]):
                q_out[i] = flight_q[i]
