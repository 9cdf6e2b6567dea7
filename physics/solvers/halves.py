"""Sweeps over a large island in two halves and what lies between them, the two halves on two cores.

The bodies of the island stand in an order in which neighbours are near each other; half of its contacts are reached
from the first ones. Contacts of these bodies alone are the first half, contacts of the others alone the second one, and
between them are those of one body of each, with all that is no contact of free bodies. No impulse of one half changes a
velocity of the other one, so it does not matter which is visited first, nor whether both are at once: the impulses are
the same, bit for bit, on one core and on two.

What a visit reads stands here row by row in the order of the visits: where both cores wrote to one array in turns, each
would wait for the other's cache lines.
"""

import math

import numpy as np

from ..core.both_cores import address_of, ask, begun, code_of, finish, look, tell, wait_for, wait_for_helper
from ..core.jit import helper, kernel, program
from ..core.sym3 import six, three
from ..core.vec import add, dot, neg, sub
from ..problem.joint_rows import visit_row
from ..problem.moments import visit_moment
from ..problem.system import (
    ARM_A,
    ARM_B,
    BIAS,
    COUPLING,
    END,
    FRICTION,
    IMPULSE,
    INV_MASS,
    INVERSE,
    MADE,
    MAKE,
    MOMENT,
    MOUSE,
    NORMAL,
    NORMAL_STEP,
    ROW_SIZE,
    SLIP_STEP,
    push,
    relative_velocity,
)
from .island import put_in_order
from .pgs import local_answer, visit_contact, visit_grab

ENOUGH = 400  # row blocks of an island from which on it is swept in halves: fewer are done before the helper is awake
FIRST, SECOND, BETWEEN = range(3)


# --------------------------------------------------------------------------------------------------------- one by one
@helper
def visit_member(system, j, q_dot):
    """A visit to row block j of the system; returns the square of the change of velocity."""
    k = j - int(system.count[0])
    if k < 0:
        return visit_contact(system, j, q_dot)
    if system.blocks.kind[k] == MOUSE:
        return visit_grab(system.grab, system.blocks, q_dot)
    if system.blocks.kind[k] == MOMENT:
        return visit_moment(system, k, q_dot)
    return visit_row(system.blocks, k, q_dot)


@helper
def visit_members(system, members, forwards):
    """Visits to these row blocks one after the other; returns the square of the largest change of velocity."""
    worst, last = 0.0, len(members) - 1
    for i in range(len(members)):
        worst = max(worst, visit_member(system, int(members[i if forwards else last - i]), system.motion.q_dot))
    return worst


@helper
def sweep_members(system, members, sweeps, tolerance):
    """Sweep over these row blocks of the system as `pgs` does; returns the last change [m/s]."""
    change = 0.0
    for done in range(sweeps):
        change = math.sqrt(visit_members(system, members, done % 2 == 0))
        if change <= tolerance:
            break
    return change


# ----------------------------------------------------------------------------------------------------------- in halves
@helper
def place_bodies(system, members, place_out):
    """place_out (n,) the half, FIRST or SECOND, of each body of free contacts of the island, and -1 of others. Returns
    how many row blocks are no free contacts, and whether there are moments among these."""
    bodies, count, odd, turns = system.motion.bodies, int(system.count[0]), 0, False
    place_out[:] = -1
    ends, degree = np.full((len(members), 2), -1), np.zeros(len(bodies), np.int64)
    nodes, last_a, last_b = 0, -1, -1
    for m in range(len(members)):
        j = int(members[m])
        if j >= count or system.block[j] >= 0:
            odd += 1
            turns = turns or (j >= count and system.blocks.kind[j - count] == MOMENT)
            continue
        a, b = int(system.body_a[j]), int(system.body_b[j])
        for side in range(2):
            i = a if side == 0 else b
            if bodies[i, INV_MASS] > 0.0:
                if place_out[i] < 0:
                    place_out[i] = nodes
                    nodes += 1
                degree[place_out[i]] += 1
                if a != last_a or b != last_b:  # contacts of two bodies follow one another: once is enough
                    ends[m, side] = place_out[i]
        last_a, last_b = a, b
    order, total = np.zeros(nodes, np.int64), 0
    put_in_order(ends, nodes, order)
    half = np.full(nodes, SECOND)
    for i in range(nodes):
        total += degree[i]
    so_far = 0
    for i in range(nodes):
        if 2 * so_far < total:
            half[order[i]] = FIRST
        so_far += degree[order[i]]
    for i in range(len(bodies)):
        if place_out[i] >= 0:
            place_out[i] = half[place_out[i]]
    return odd, turns


@helper
def half_of(place, a, b):
    """The half to which a contact of two bodies belongs, or BETWEEN."""
    p, q = place[a], place[b]
    if p < 0 or q < 0:
        return max(p, q)
    return p if p == q else BETWEEN


@helper
def load_halves(system, members, odd_out):
    """Rows of the halves, and the row blocks that are no free contacts."""
    halves, count, odd, at = system.halves, int(system.count[0]), 0, np.zeros(4, np.int64)
    place, first, rows, ends = halves.place, halves.first, halves.rows, halves.ends
    for load in range(2):
        for m in members:
            j = int(m)
            if j >= count or system.block[j] >= 0:
                if load == 1:
                    odd_out[odd] = j
                    odd += 1
                continue
            a, b = int(system.body_a[j]), int(system.body_b[j])
            part = half_of(place, a, b)
            if load == 1:
                r = at[part]
                ends[r, 0], ends[r, 1], ends[r, 2] = a, b, j
                for c in range(ROW_SIZE):
                    rows[r, c] = system.rows[j, c]
                for c in range(3):
                    rows[r, IMPULSE + c] = system.impulse[j, c]
            at[part] += 1
        if load == 0:
            first[0] = 0
            for part in range(3):
                first[part + 1] = first[part] + at[part]
                at[part] = first[part]


@helper
def visit_part(halves, part, forwards):
    """Visits to the contacts of a half, or between them, in their order or backwards; returns the square of the largest
    change of velocity."""
    rows, ends, bodies, worst = halves.rows, halves.ends, halves.bodies, 0.0
    begin, end = halves.first[part], halves.first[part + 1]
    for i in range(end - begin):
        k = begin + i if forwards else end - 1 - i
        a, b = ends[k, 0], ends[k, 1]
        arm_a, arm_b, p = three(rows, k, ARM_A), three(rows, k, ARM_B), three(rows, k, IMPULSE)
        u = add(three(rows, k, BIAS), relative_velocity(bodies, a, b, arm_a, arm_b))
        new = local_answer(p, u, three(rows, k, NORMAL), rows[k, FRICTION], six(rows, k, INVERSE),
                           three(rows, k, COUPLING), rows[k, NORMAL_STEP], rows[k, SLIP_STEP])
        change = sub(new, p)
        size = dot(change, change)
        if size > 0.0:
            rows[k, IMPULSE], rows[k, IMPULSE + 1], rows[k, IMPULSE + 2] = new
            push(bodies, b, arm_b, change)
            push(bodies, a, arm_a, neg(change))
            worst = max(worst, size / (rows[k, NORMAL_STEP] * rows[k, NORMAL_STEP]))
    return worst


@kernel
def sweep_second(halves):
    """What the helper does: a sweep over the second half whenever one is asked for."""
    turns, made = halves.turns, 0
    while True:
        wait_for(turns, MAKE, made + 1)
        if look(turns, END) == 1:
            return
        halves.worst[0] = visit_part(halves, SECOND, made % 2 == 0)
        made += 1
        tell(turns, MADE, made)


@helper
def visit_halves(halves, done, helped):
    """Visits to both halves in sweep `done`; returns the square of the largest change of velocity, and whether the
    helper, if there is one, has come."""
    if helped:
        tell(halves.turns, MAKE, done + 1)
    worst = visit_part(halves, FIRST, done % 2 == 0)
    if helped and (done > 0 or begun(halves.desk)):
        wait_for_helper(halves.desk, halves.turns, MADE, done + 1)
        return max(worst, halves.worst[0]), True
    return max(worst, visit_part(halves, SECOND, done % 2 == 0)), False


@helper
def are_many(system, members):
    """Whether the members of an island are swept in halves."""
    return len(members) >= ENOUGH and len(system.halves.rows) > 0


@program
def sweep_halves(system, members, sweeps, tolerance) -> float:
    """As `sweep_members`, in halves."""
    halves = system.halves
    odd, turns = place_bodies(system, members, halves.place)
    if turns:  # moments are bounded by impulses, which they look up in the system
        return sweep_members(system, members, sweeps, tolerance)
    others, change = np.zeros(odd, np.int64), 0.0
    load_halves(system, members, others)
    halves.turns[MAKE] = halves.turns[MADE] = halves.turns[END] = 0
    helped = ask(halves.desk, code_of(sweep_second, halves), address_of(halves))
    for done in range(sweeps):
        if done % 2 == 0:
            worst, helped = visit_halves(halves, done, helped)
            worst = max(worst, visit_part(halves, BETWEEN, True), visit_members(system, others, True))
        else:
            worst = max(visit_members(system, others, False), visit_part(halves, BETWEEN, False))
            both, helped = visit_halves(halves, done, helped)
            worst = max(worst, both)
        change = math.sqrt(worst)
        if change <= tolerance:
            break
    if helped:
        tell(halves.turns, END, 1)
        tell(halves.turns, MAKE, sweeps + 1)
        finish(halves.desk)
    for k in range(halves.first[3]):
        for c in range(3):
            system.impulse[halves.ends[k, 2], c] = halves.rows[k, IMPULSE + c]
    return change
