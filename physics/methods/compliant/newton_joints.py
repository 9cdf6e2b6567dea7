"""Joints in an implicit stage of the method `compliant`: what they do at its end, and their part of Newton's method.

Unknown are the velocities of free bodies, the velocities v of the joints of trees, u = B v for their links, and the
impulses λ = g Λ of joints in maximal coordinates. At the end of the stage

    Bᵀ(M u - P* - g F - Jᵀλ) + I_r (v - v*) - g τ = 0,   J u = s,   q = q* ⊕ g v

I_r are the rotors of trees, τ the forces on joints. A rotor on an axis in maximal coordinates is a row of its own:
J u + λ/I_r = y*. A motor with a limit keeps its speed, or exerts λ = ±g limit and its row is left out. Momenta of links
are combined from stage to stage as those of free bodies are, so no velocity products appear; B is taken at the end of
the stage.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import LINK, Array, BodyKind, IntArray, Model
from ...core.spatial import dot6
from ...core.state import JointState, LongArray
from ...core.sym3 import six, three
from ...core.vec import add, dot, put_all, rotate, row, row4, sub, unrotate
from ...dynamics.constraints.axes import SPIN, end_of, pose_rows
from ...dynamics.constraints.limit_springs import Stops, add_stops, push_stops, stop_force, stops_of
from ...dynamics.constraints.limits import limit_gap, maximal_directions, tree_direction
from ...dynamics.constraints.reactions import (
    HOLDS,
    OFF,
    Reactions,
    change_motor,
    find_speeds,
    place_joints,
    push_axes,
    push_free,
    reactions_of,
)
from ...dynamics.free_body import dydt, momentum_from_velocity
from ...dynamics.grab import arm_and_target, pull_by, pull_grabbed
from ...dynamics.grab_joined import mobility_of
from ...dynamics.motion import drive
from ...dynamics.trees.contacts import most_mobile
from ...dynamics.trees.kinematics import (
    FIRST_Q,
    FIRST_V,
    ORIGIN,
    TYPE,
    S,
    X,
    flat4,
    place_links,
    point_velocity,
    rates_of,
    unit_quaternions,
)
from ...dynamics.trees.rates import TreeScratch, empty_joints, empty_tree_scratch, joint_forces
from ...dynamics.trees.tree import last_velocity, momentum_of
from ...joints.table import has_orientation
from ...laws.mouse import spring_rate, spring_slope
from .books import note_pull
from .newton import move, put_block, put_turning, turn_rate

LOOSE = 1e-10  # ε of a row, relative to how its bodies answer, see `looseness`


class Entries(NamedTuple):
    """A sparse matrix as a list of entries that are added up."""

    count: LongArray   #: (1,)
    row: LongArray     #: (e,)
    column: LongArray  #: (e,)
    value: Array       #: (e,)


class StageJoints(NamedTuple):
    """The joints within a step; scratch."""

    place: IntArray     #: (n,) number of a body among those that move, free ones first; -1 = it does not
    trees: TreeScratch  #: at the end of the stage
    stops: Stops
    reactions: Reactions
    start: JointState   #: coordinates of links where the step begins
    base: JointState    #: the same at the stage's start *
    q_rate: Array       #: (s, n_q) mean rates over the stages
    v_rate: Array       #: (s, n_v)
    speed: Array        #: (m,) of axes with a rotor where the step begins; of a ball seen from the parent
    speed_base: Array   #: (m,) y*
    speed_rate: Array   #: (s, m)
    dent: Array         #: (k,) how far limits are pressed in where the step begins, <= 0
    dent_rate: Array    #: (s, k)
    impulse: Array      #: (m,) λ
    loose: Array        #: (m,) ε
    give: Array         #: (1,) how the grabbed point answers at the beginning of the step, 0 = not at all
    spread: Entries     #: B, 1 for free bodies and for λ
    own: Entries        #: what belongs to the joint velocities of trees
    right: Array        #: (n_v,) g τ - I_r (v - v*)
    along: Array        #: (12,) scratch
    cross: Array        #: (3, 3) scratch


def stage_joints(model: Model, stages: int) -> StageJoints:
    """Scratch for steps of so many stages."""
    trees, stops, reactions = empty_tree_scratch(model.trees), stops_of(model), reactions_of(model, drives=True)
    free, links = np.flatnonzero(model.kind == BodyKind.DYNAMIC), model.trees.body
    place = np.full(len(model.kind), -1, np.int32)
    place[free], place[links] = np.arange(len(free)), len(free) + np.arange(len(links))
    m, k, n_q, n_v = len(reactions.lam), len(stops.dent), len(trees.q), len(trees.v)
    spread = empty_entries(6 * len(free) + 6 * len(links) * n_v + m)
    ones = np.r_[np.arange(6 * len(free)), 6 * len(free) + np.arange(m)]
    spread.count[0], spread.value[: len(ones)] = len(ones), 1.0
    spread.row[: len(ones)] = ones + np.where(ones < 6 * len(free), 0, 6 * len(links))
    spread.column[: len(ones)] = ones + np.where(ones < 6 * len(free), 0, n_v)

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    return StageJoints(
        place, trees, stops, reactions, empty_joints(model.trees), empty_joints(model.trees), zeros(stages, n_q),
        zeros(stages, n_v), zeros(m), zeros(m), zeros(stages, m), zeros(k), zeros(stages, k), zeros(m), zeros(m),
        zeros(1), spread, empty_entries(n_v + 9 * k + 2 * m), zeros(n_v), zeros(12), zeros(3, 3))


def empty_entries(room: int) -> Entries:
    return Entries(np.zeros(1, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room))


def entries_of_joints(model: Model) -> int:
    """Entries that `joint_entries` may write at most."""
    reactions, stops = reactions_of(model, drives=True), stops_of(model)
    return 25 * len(reactions.lam) + 144 * (len(reactions.motor) + len(stops.dent)) + 36


@helper
def put(entries, r, c, value):
    at = entries.count[0]
    entries.row[at], entries.column[at], entries.value[at] = r, c, value
    entries.count[0] = at + 1


# ------------------------------------------------------------------------------------------ from stage to stage
@helper
def rotor_speed(reactions, r, speeds, bodies, into):
    """Velocity of the rotor of row r from those of all rows (m,). That of a ball, whose three rows stand side by side
    along the world's axes, is kept in the parent's frame: `into` that frame, or back from it."""
    a, k = int(reactions.rows.a[r]), int(reactions.rows.axis[r])
    if reactions.rows.kind[r] != SPIN or a < 0:
        return speeds[r]
    first = r - k
    q, w = row4(bodies.q, a), (speeds[first], speeds[first + 1], speeds[first + 2])
    return unrotate(q, w)[k] if into else rotate(q, w)[k]


@kernel
def begin_joints(model, loads, bodies, joints):
    """What a step from these bodies and joints.start keeps of its beginning."""
    reactions, start = joints.reactions, joints.start
    pose_rows(reactions.rows, bodies.x, bodies.q, reactions.J, reactions.C)
    find_speeds(reactions, bodies, start.v)
    for r in range(len(reactions.u)):
        joints.speed[r] = rotor_speed(reactions, r, reactions.u, bodies, True) if reactions.softness[r] > 0.0 else 0.0
    for r in range(len(joints.dent)):
        joints.dent[r] = min(limit_gap(model, joints.stops.limits, r, bodies, start.q), 0.0)
    find_give(model, loads, bodies, joints)
    for r in range(len(reactions.mode)):
        reactions.mode[r] = HOLDS
    put_all(joints.trees.v, start.v)


@helper
def find_give(model, loads, bodies, joints):
    """How the mechanism answers at the grabbed point, without motors that have a limit."""
    i, reactions, trees = int(loads.grab_body[0]), joints.reactions, joints.trees
    joints.give[0] = 0.0
    linked = i >= 0 and model.kind[i] == LINK
    if i < 0 or not (linked or reactions.joined[i] == 1):
        return
    for r in range(len(reactions.mode)):
        reactions.mode[r] = OFF if reactions.limit[r] < math.inf else HOLDS
    place_joints(model, joints.start.q, joints.start.v, bodies, trees, reactions)
    arm, turn = arm_and_target(loads, bodies, i)[0], int(loads.grab_turn[0])
    if linked:
        l = int(model.trees.link_of_body[i])
        joints.give[0] = max(0.0, most_mobile(model, l, add(row(bodies.x, i), arm), turn, trees))
        return
    joints.give[0] = mobility_of(model, reactions, bodies, i, arm, turn)


@kernel
def start_joints(weights, stages, h, g, joints):
    """The start * of a stage of length g, y* = y_0 + h Σ_j a_ij k_j over the stages before it."""
    q_base, v_base, dents = joints.base.q, joints.base.v, joints.stops.dent
    q_base[:], v_base[:] = joints.start.q, joints.start.v
    joints.speed_base[:], dents[:] = joints.speed, joints.dent
    for s in range(stages):
        w = h * weights[s]
        for j in range(len(q_base)):
            q_base[j] += w * joints.q_rate[s, j]
        for j in range(len(v_base)):
            v_base[j] += w * joints.v_rate[s, j]
        for r in range(len(joints.speed)):
            joints.speed_base[r] += w * joints.speed_rate[s, r]
        for r in range(len(dents)):
            dents[r] += w * joints.dent_rate[s, r]
    joints.stops.length[0] = g
    joints.impulse[:] = 0.0


@helper
def mean_rates(table, base, v, g, rates_out):
    """(q - q*)/g at the end of a stage, q* = base: v, and of orientations what (1 - g ω/2) q = q* gives."""
    index = table.index
    rates_of(table, base, v, rates_out)
    for l in range(index.shape[0]):
        i, d = int(index[l, FIRST_Q]), int(index[l, FIRST_V])
        if has_orientation(int(index[l, TYPE])):
            turn = turn_rate(flat4(base, i), (v[d], v[d + 1], v[d + 2]), g)
            for j in range(4):
                rates_out[i + j] = turn[j]


@kernel
def take_joints(model, g, bodies, joints, s):
    """Mean rates over the finished stage s."""
    reactions, v, base = joints.reactions, joints.trees.v, joints.base
    mean_rates(model.trees.table, base.q, v, g, joints.q_rate[s])
    for d in range(len(v)):
        joints.v_rate[s, d] = (v[d] - base.v[d]) / g
    for r in range(len(reactions.u)):
        if reactions.softness[r] > 0.0:
            joints.speed_rate[s, r] = (rotor_speed(reactions, r, reactions.u, bodies, True) - joints.speed_base[r]) / g
    for r in range(len(joints.dent)):
        dent = min(limit_gap(model, joints.stops.limits, r, bodies, joints.trees.q), 0.0)
        joints.dent_rate[s, r] = (dent - joints.stops.dent[r]) / g


# ------------------------------------------------------------------------------------------------- what acts
@kernel
def place_stage(model, t, g, base, joints, bodies):
    """Poses and momenta at the end t of a stage of length g, by the velocities of `bodies` and joints.trees.v."""
    drive(model, t, bodies)
    move(model.kind, base, g, bodies)
    momentum_from_velocity(model, bodies)
    trees = joints.trees
    if len(model.trees.body) > 0:
        mean_rates(model.trees.table, joints.base.q, trees.v, g, trees.q_dot)
        for j in range(len(trees.q)):
            trees.q[j] = joints.base.q[j] + g * trees.q_dot[j]
        unit_quaternions(model.trees.table, trees.q)
        place_links(model, trees.q, trees.v, trees.work, bodies)


@kernel
def push_stage(model, loads, t, g, bodies, joints, force, torque, books, rate_out):
    """Rates of P and L of all bodies, in rate_out (n, 13), and forces on the joints of trees, at the end t of a stage,
    but for contacts and reactions. Returns the power of stops, and of driven bodies against them [W]."""
    dydt(model, loads, t, bodies, force, torque, rate_out)
    stopped, driven, trees, reactions = 0.0, 0.0, joints.trees, joints.reactions
    if len(model.joints.type) > 0:
        push_axes(model, bodies, reactions, force, torque, rate_out)
        stopped, driven = push_stops(model, joints.stops, bodies, trees.q, trees.v, force, torque, rate_out)
        for i in model.trees.body:
            for j in range(3):
                rate_out[i, 7 + j], rate_out[i, 10 + j] = force[i, j], torque[i, j]
        joint_forces(model, loads, trees.q, trees.v, True, trees.tau)
        stopped += add_stops(model, joints.stops, bodies, trees.q, trees.v, trees.tau)
        pose_rows(reactions.rows, bodies.x, bodies.q, reactions.J, reactions.C)
        find_speeds(reactions, bodies, trees.v)
    i = int(loads.grab_body[0])
    if i < 0:
        return stopped, driven
    note_pull(loads, rate_out, -1.0, books)
    if joints.give[0] > 0.0:
        f, moment = pull_by(model, loads, bodies, i, joints.give[0], g, force, torque)
        for j in range(3):
            rate_out[i, 7 + j] += f[j]
            rate_out[i, 10 + j] += moment[j]
    elif model.inv_mass[i] > 0.0 and reactions.joined[i] == 0:
        pull_grabbed(model, loads, bodies, g, force, torque, rate_out)
    note_pull(loads, rate_out, 1.0, books)
    return stopped, driven


@kernel
def add_impulses(joints, g, rate):
    """Add the reactions of joints in maximal coordinates to the rates of P and L of free bodies, as forces λ/g."""
    for r in range(len(joints.impulse)):
        joints.reactions.lam[r] = joints.impulse[r] / g
    push_free(joints.reactions, rate)


# ---------------------------------------------------------------------------------------------- Newton's method
@kernel
def joint_entries(model, loads, g, bodies, joints, at, newton) -> int:
    """Continue the entries of the matrix over bodies and λ from `at` on, and its right-hand side, which has what joints
    ask of λ; fills joints.spread, joints.own and joints.right. Returns the number of entries."""
    reactions, place = joints.reactions, joints.place
    for r in range(len(reactions.motor)):
        stiff = g * (reactions.damping[r] + g * reactions.stiffness[r])
        if stiff > 0.0:
            put_all(joints.along, reactions.axis_J[r])
            at = put_pair(place, int(reactions.axes.a[r]), int(reactions.axes.b[r]), joints.along, stiff, at, newton)
    for r in range(len(joints.dent)):
        stops = joints.stops
        stiff = g * (g * stops.stiffness[r] + stops.damping[r])
        if stops.limits.first_v[r] < 0 and stop_force(model, stops, r, bodies, joints.trees.q, joints.trees.v)[0] > 0.0:
            f, t_a, t_b = maximal_directions(model, stops.limits, r, bodies, joints.trees.q)
            for k in range(3):
                joints.along[k], joints.along[3 + k] = -f[k], -t_a[k]
                joints.along[6 + k], joints.along[9 + k] = f[k], t_b[k]
            j = int(stops.limits.joint[r])
            at = put_pair(place, int(model.joints.parent[j]), int(model.joints.child[j]), joints.along, stiff, at,
                          newton)
    if joints.give[0] > 0.0:
        at = put_pull(loads, g, bodies, joints, at, newton)
    own_entries(model, g, bodies, joints)
    spread_links(model, joints)
    for r in range(len(reactions.lam)):
        joints.loose[r] = looseness(model, bodies, joints, r)
    return put_rows(g, bodies, joints, at, newton)


@helper
def looseness(model, bodies, joints, r):
    """ε of row r: LOOSE times what its bodies would answer if they were free; 0 where λ is not to be found."""
    reactions, trees, answer, d = joints.reactions, joints.trees, 0.0, int(joints.reactions.drive[r])
    if reactions.mode[r] != HOLDS or reactions.softness[r] > 0.0:
        return 0.0
    if d >= 0:
        s, l = six(trees.work.dof, d, S), int(model.trees.dof_link[d])
        inertia = dot6(s, momentum_of(trees.work.link, l, s)) + model.trees.table.armature[d]
        return LOOSE / inertia if inertia > 0.0 else LOOSE
    for side in range(2):
        i = end_of(reactions.rows, r, side)
        if i < 0 or joints.place[i] < 0 or model.mass[i] == 0.0:
            continue
        push, turn = three(reactions.J, r, 6 * side), three(reactions.J, r, 6 * side + 3)
        turn, moments = unrotate(row4(bodies.q, i), turn), row(model.inertia, i)
        answer += dot(push, push) / model.mass[i]
        for k in range(3):
            answer += turn[k] * turn[k] / moments[k] if moments[k] > 0.0 else 0.0
    return LOOSE * answer if answer > 0.0 else LOOSE


@helper
def put_pair(place, a, b, along, stiff, at, newton):
    """`stiff` times the outer product of a direction (12,) of the velocities of two bodies with itself."""
    for one in range(12):
        i = int(place[a]) if one < 6 and a >= 0 else int(place[b]) if one >= 6 else -1
        if i < 0 or along[one] == 0.0:
            continue
        for other in range(12):
            j = int(place[a]) if other < 6 and a >= 0 else int(place[b]) if other >= 6 else -1
            if j >= 0:
                newton.row[at], newton.column[at] = 6 * i + one % 6, 6 * j + other % 6
                newton.value[at] = stiff * along[one] * along[other]
                at += 1
    return at


@helper
def put_pull(loads, g, bodies, joints, at, newton):
    """The derivative of the mouse spring `pull_by`, the limit of its force left out."""
    i = int(loads.grab_body[0])
    r, answer = 6 * int(joints.place[i]), spring_slope(spring_rate(g), g) / joints.give[0]
    for j in range(3):
        for k in range(3):
            joints.cross[j, k] = answer if j == k else 0.0
    if loads.grab_turn[0] == 1:
        return put_turning(newton, at, r, r, g, joints.cross)
    arm, _ = arm_and_target(loads, bodies, i)
    return put_block(newton, at, r, r, arm, arm, g, joints.cross)


@helper
def free_places(joints):
    """Unknowns of the free bodies."""
    count = 0
    for slot in joints.reactions.slot:
        count += 6 if slot >= 0 else 0
    return count


@helper
def own_entries(model, g, bodies, joints):
    """What rotors, dampers, springs and stops of trees add for their velocities."""
    own, trees, tables, base, stops = joints.own, joints.trees, model.joints, joints.base, joints.stops
    first, armature = free_places(joints), model.trees.table.armature
    own.count[0] = 0
    for d in range(len(trees.v)):
        j = int(model.trees.joint[model.trees.dof_link[d]])
        put(own, first + d, first + d, armature[d] + g * (tables.damping[j] + g * tables.stiffness[j]))
        joints.right[d] = g * trees.tau[d] - armature[d] * (trees.v[d] - base.v[d])
    for r in range(len(joints.dent)):
        d = int(stops.limits.first_v[r])
        if d < 0 or stop_force(model, stops, r, bodies, trees.q, trees.v)[0] == 0.0:
            continue
        stiff = g * (g * stops.stiffness[r] + stops.damping[r])
        width, u = tree_direction(model, stops.limits, r, bodies, trees.q)
        for j in range(width):
            for k in range(width):
                put(own, first + d + j, first + d + k, stiff * u[j] * u[k])


@helper
def spread_links(model, joints):
    """B: velocity of the centre of mass and angular velocity of links per velocity of the joints on the way to the
    root."""
    spread, trees, link, dof = joints.spread, model.trees, joints.trees.work.link, joints.trees.work.dof
    free = free_places(joints)
    spread.count[0] = free + len(joints.impulse)
    for l in range(link.shape[0]):
        r = 6 * int(joints.place[trees.body[l]])
        arm = sub(three(link, l, X), three(link, l, ORIGIN))
        d = last_velocity(trees.table.index, l, dof.shape[0])
        while d >= 0:
            s = six(dof, d, S)
            v = point_velocity(s, arm)
            for j in range(3):
                put(spread, r + j, free + d, v[j])
                put(spread, r + 3 + j, free + d, s[j])
            d = int(trees.table.before[d])


@helper
def put_rows(g, bodies, joints, at, newton):
    """-Jᵀλ on the bodies and J u = s of the rows in maximal coordinates, and of motors of trees."""
    reactions, place, own = joints.reactions, joints.place, joints.own
    links, free, cure = len(joints.trees.work.link), free_places(joints), reactions.cure[0]
    for r in range(len(reactions.lam)):
        mine, holds, d = free + 6 * links + r, reactions.mode[r] == HOLDS, int(reactions.drive[r])
        for one in range(12):
            i = end_of(reactions.rows, r, one // 6)
            factor = reactions.J[r, one]
            if i < 0 or place[i] < 0 or factor == 0.0:
                continue
            for side in range(2 if holds else 1):
                column = 6 * int(place[i]) + one % 6
                newton.row[at], newton.column[at] = (column, mine) if side == 0 else (mine, column)
                newton.value[at] = -factor if side == 0 else factor
                at += 1
        if d >= 0:
            mine_too = free + len(joints.trees.v) + r
            put(own, free + d, mine_too, -1.0)
            if holds:
                put(own, mine_too, free + d, 1.0)
        newton.row[at], newton.column[at] = mine, mine
        newton.value[at] = reactions.softness[r] + joints.loose[r] if holds else 1.0
        at += 1
        newton.right[mine] = (asked(reactions, r, g, cure, joints.speed_base, bodies)
                              + joints.loose[r] * joints.impulse[r])
    return at


@helper
def asked(reactions, r, g, cure, speed_base, bodies):
    """What row r asks for: of a motor at its limit λ itself, of others of J u to change by. With Baumgarte's cure
    J u + α C = 0 at the end of the stage, where C has changed by g J u."""
    if reactions.mode[r] != HOLDS:
        return g * reactions.mode[r] * reactions.limit[r]
    if reactions.softness[r] > 0.0:
        return rotor_speed(reactions, r, speed_base, bodies, False) - reactions.u[r]
    if reactions.hard[r] == 1.0:
        return -(reactions.u[r] + cure * reactions.C[r]) / (1.0 + cure * g)
    return reactions.seek[r] - reactions.u[r]


@kernel
def reduce_system(spread, own, first, extra, full, right, half, matrix_out, right_out) -> None:
    """BᵀAB + own and Bᵀr, `extra` added from place `first` on: from A = full (n, n) and r = right (n,). half (k, n) is
    scratch. What moves no inertia at all (a tip without mass) keeps its velocity."""
    half[:], matrix_out[:], right_out[:] = 0.0, 0.0, 0.0
    for e in range(spread.count[0]):
        r, c, value = spread.row[e], spread.column[e], spread.value[e]
        right_out[c] += value * right[r]
        for j in range(full.shape[1]):
            half[c, j] += value * full[r, j]
    for i in range(half.shape[0]):
        for e in range(spread.count[0]):
            matrix_out[i, spread.column[e]] += half[i, spread.row[e]] * spread.value[e]
    for e in range(own.count[0]):
        matrix_out[own.row[e], own.column[e]] += own.value[e]
    for d in range(len(extra)):
        right_out[first + d] += extra[d]
    for i in range(len(right_out)):
        if matrix_out[i, i] == 0.0:
            matrix_out[i, i] = 1.0


@kernel
def spread_change(spread, found, change_out) -> None:
    """B times a change (k,) of the unknowns: of the velocities of all bodies, and of λ."""
    change_out[:] = 0.0
    for e in range(spread.count[0]):
        change_out[spread.row[e]] += spread.value[e] * found[spread.column[e]]


@kernel
def take_change(change, full, share, g, bodies, joints, one):
    """Take a share of a step of Newton's method; `full` is the change of the velocities of all bodies. Then a motor
    whose force exceeds its limit exerts the limit, and one at its limit that runs beyond its speed keeps the speed
    again; one: only the first of them. Returns whether any did."""
    reactions, trees, place = joints.reactions, joints.trees, joints.place
    free = free_places(joints)
    for i in range(len(place)):
        if reactions.slot[i] >= 0:
            for k in range(3):
                bodies.v[i, k] += share * change[6 * int(place[i]) + k]
                bodies.w[i, k] += share * change[6 * int(place[i]) + 3 + k]
    for d in range(len(trees.v)):
        trees.v[d] += share * change[free + d]
    changed = False
    for r in range(len(reactions.lam)):
        joints.impulse[r] = change[free + len(trees.v) + r]
        if reactions.limit[r] == math.inf or (one and changed):
            continue
        u = reactions.u[r] + (change[free + int(reactions.drive[r])] if reactions.drive[r] >= 0 else 0.0)
        for j in range(12):
            i = end_of(reactions.rows, r, j // 6)
            if i >= 0 and place[i] >= 0:
                u += reactions.J[r, j] * full[6 * int(place[i]) + j % 6]
        beyond, seek = u - reactions.seek[r], abs(reactions.seek[r])
        changed = change_motor(reactions, r, joints.impulse[r], g * reactions.limit[r], beyond, seek) or changed
    return changed
