"""Sweeps over the row blocks of an island, as by `pgs`: one after the other, or by parts that threads share.

A visit to a contact gives what the last one gave where nothing has changed the velocities of its bodies since: it is
left out, and so is a whole part. Of a row of dominoes that falls most lies still, and a sweep visits its front only.
"""

import math

import numpy as np

from ..core.jit import fused, helper, inlined, on_demand, program
from ..core.team import share_out
from ..problem.joint_rows import visit_row
from ..problem.moments import visit_moment
from ..problem.parts import is_stirred, round_of
from ..problem.system import AHEAD, INV_MASS, LAYERS, MOMENT, MOUSE, STIRRED, fetch_bodies
from .pgs import visit_contact, visit_grab, visit_pair

SLIGHT = 1e-4  # part of the largest change in a sweep up to which one counts as none in the next, see `sweep_pairs`


@helper
def visit_member(system, j, q_dot):
    """A visit to contact j, or to another block; returns the square of the change of velocity."""
    count = int(system.count[0])
    if j < count:
        return visit_contact(system, j, q_dot)
    if system.blocks.kind[j - count] == MOUSE:
        return visit_grab(system.grab, system.blocks, q_dot)
    if system.blocks.kind[j - count] == MOMENT:
        return visit_moment(system, j - count, q_dot)
    return visit_row(system.blocks, j - count, q_dot)


@helper
def only_pairs(system, members):
    """Whether these row blocks are contacts between two bodies that nothing else holds. Their bodies then count as
    stirred just before the first sweep."""
    bodies, count = system.motion.bodies, int(system.count[0])
    for j in members:
        if j >= count or system.block[j] >= 0:
            return False
    stir(bodies, system, members, -1)
    return True


@helper
def stir(bodies, system, members, sweep):
    """All bodies of these contacts count as stirred in this sweep."""
    for j in members:
        bodies[system.body_a[j], STIRRED] = bodies[system.body_b[j], STIRRED] = sweep


@inlined
def visit_stirred(system, k, sweep, least):
    """A visit to contact k of two bodies in this sweep, where more than `least` has changed since the one before;
    returns the square of the change of velocity."""
    bodies, a, b, change = system.motion.bodies, int(system.body_a[k]), int(system.body_b[k]), 0.0
    if bodies[a, STIRRED] >= sweep - 1 or bodies[b, STIRRED] >= sweep - 1:
        change = visit_pair(system, k)
        if change > least:
            if bodies[a, INV_MASS] > 0.0:
                bodies[a, STIRRED] = sweep
            if bodies[b, INV_MASS] > 0.0:
                bodies[b, STIRRED] = sweep
    return change


@on_demand
def sweep_members(system, members, sweeps, tolerance) -> float:
    """Sweep over these row blocks of the system, to and fro; returns the last change [m/s]."""
    q_dot, change, pairs, least = system.motion.q_dot, 0.0, only_pairs(system, members), tolerance * tolerance
    for done in range(sweeps):
        worst = 0.0
        for i in range(len(members)):
            j = int(members[i if done % 2 == 0 else len(members) - 1 - i])
            worst = max(worst, visit_stirred(system, j, done, least) if pairs else visit_member(system, j, q_dot))
        change = math.sqrt(worst)
        if change <= tolerance:
            break
    return change


@fused
def sweep_pairs(system, members, sweeps, tolerance) -> float:
    """`sweep_members` over contacts for which `only_pairs` holds. A change that is SLIGHT beside the largest one of the
    sweep before stirs no body: sweeps that end before they converge leave much more. Where all is still so, all are
    visited again, and from then on every change counts."""
    exact = least = tolerance * tolerance
    change, slight = 0.0, SLIGHT * SLIGHT
    for done in range(sweeps):
        worst = 0.0
        for i in range(len(members)):
            j = int(members[i if done % 2 == 0 else len(members) - 1 - i])
            worst = max(worst, visit_stirred(system, j, done, least))
        change = math.sqrt(worst)
        if change <= tolerance:
            if least <= exact:
                break
            slight = 0.0
            stir(system.motion.bodies, system, members, done)
        least = max(exact, slight * worst)
    return change


@fused
def sweep_part(p, system, some, first, begin, sweep, passes, least, stirred_in_out, worst_out) -> None:
    """Visit the contacts of part begin + p in this sweep, and in the next one where there are two passes. least: see
    `visit_stirred`; < 0: all are visited. stirred_in_out: see `is_stirred`. worst_out (2, parts): square of the largest
    change, of sweeps forwards and backwards."""
    low, high = first[begin + p], first[begin + p + 1]
    for done in range(sweep, sweep + passes):
        back, worst = done % 2, 0.0
        if least < 0.0 or is_stirred(system.parts, begin + p, stirred_in_out, done - 1):
            for i in range(low, high):
                k = int(some[low + high - 1 - i if back == 1 else i])
                soon = i + AHEAD
                if soon < high:
                    fetch_bodies(system.motion.bodies, system, some[low + high - 1 - soon if back == 1 else soon])
                worst = max(worst, visit_stirred(system, k, done, least) if least >= 0.0 else visit_pair(system, k))
        if worst > least:
            stirred_in_out[begin + p] = done
        worst_out[back, begin + p] = worst


@helper
def parts_of(system, some, first_out):
    """An island's contacts by parts: those of part p are some[first_out[p] : first_out[p + 1]], in which contacts come
    first and in order. Returns the number of contacts."""
    parts, m = system.parts, 0
    for p in range(parts.count[1]):
        while m < len(some) and some[m] < parts.first[p + 1]:
            m += 1
        first_out[p + 1] = m
    return m


@program
def sweep_parts(system, some, sweeps, tolerance) -> float:
    """Sweep over an island part by part, to and fro; returns the last change [m/s]. What is no contact comes first.

    A sweep ends with the round of parts with which the next one begins: these go to and fro at once, unless something
    comes between. A thread then has them in its cache, and half as often threads wait for each other."""
    first, worst, q_dot = np.zeros(LAYERS + 1, np.int64), np.zeros((2, LAYERS)), system.motion.q_dot
    stirred = np.full(LAYERS, -1)
    contacts, change = parts_of(system, some, first), 0.0
    others, begun = some[contacts:], 0
    least = tolerance * tolerance if only_pairs(system, some) else -1.0
    for done in range(sweeps):
        back, largest = done % 2, 0.0
        for j in others:
            largest = max(largest, visit_member(system, int(j), q_dot))
        for turn in range(begun, 2):
            begin, parts = round_of(system.parts, turn, back)
            begun = 1 if turn == 1 and len(others) == 0 and done + 1 < sweeps else 0
            share_out(parts, sweep_part, (system, some, first, begin, done, 1 + begun, least, stirred, worst))
        for p in range(system.parts.count[1]):
            largest = max(largest, worst[back, p])
        change = math.sqrt(largest)
        if change <= tolerance:
            break
    return change
