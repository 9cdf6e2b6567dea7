"""Sweeps over the row blocks of an island, as by `pgs`: one after the other, or by parts that threads share."""

import math

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.team import share_out
from ..problem.joint_rows import visit_row
from ..problem.moments import visit_moment
from ..problem.parts import round_of
from ..problem.system import LAYERS, MOMENT, MOUSE
from .pgs import visit_contact, visit_grab, visit_pair


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
def sweep_members(system, members, sweeps, tolerance):
    """Sweep over these row blocks of the system, to and fro; returns the last change [m/s]."""
    q_dot, change = system.motion.q_dot, 0.0
    for done in range(sweeps):
        worst = 0.0
        for i in range(len(members)):
            worst = max(worst, visit_member(system, int(members[i if done % 2 == 0 else len(members) - 1 - i]), q_dot))
        change = math.sqrt(worst)
        if change <= tolerance:
            break
    return change


@kernel
def sweep_part(p, system, some, first, begin, back, passes, worst_out) -> None:
    """Visit the contacts of part begin + p, backwards where back is 1; of two passes the other one the other way.
    worst_out (2, parts): square of the largest change, of sweeps forwards and backwards."""
    low, high = first[begin + p], first[begin + p + 1]
    for one in range(passes):
        way, worst = back ^ one, 0.0
        for i in range(low, high):
            worst = max(worst, visit_pair(system, int(some[low + high - 1 - i if way == 1 else i])))
        worst_out[way, begin + p] = worst


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
    contacts, change = parts_of(system, some, first), 0.0
    others, begun = some[contacts:], 0
    for done in range(sweeps):
        back, largest = done % 2, 0.0
        for j in others:
            largest = max(largest, visit_member(system, int(j), q_dot))
        for turn in range(begun, 2):
            begin, parts = round_of(system.parts, turn, back)
            begun = 1 if turn == 1 and len(others) == 0 and done + 1 < sweeps else 0
            share_out(parts, sweep_part, (system, some, first, begin, back, 1 + begun, worst))
        for p in range(system.parts.count[1]):
            largest = max(largest, worst[back, p])
        change = math.sqrt(largest)
        if change <= tolerance:
            break
    return change
