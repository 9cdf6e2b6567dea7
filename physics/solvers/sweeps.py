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
def sweep_part(p, system, members, first, begin, back, worst_out) -> None:
    """Visit the contacts of part begin + p, backwards where back is 1; worst_out (parts,): square of the largest
    change."""
    low, high, worst = first[begin + p], first[begin + p + 1], 0.0
    for i in range(low, high):
        k = int(members[low + high - 1 - i] if back == 1 else members[i])
        worst = max(worst, visit_pair(system, k))
    worst_out[begin + p] = worst


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
    """Sweep over an island part by part, to and fro; returns the last change [m/s]. What is no contact comes first."""
    first, worst, q_dot = np.zeros(LAYERS + 1, np.int64), np.zeros(LAYERS), system.motion.q_dot
    contacts, change = parts_of(system, some, first), 0.0
    for done in range(sweeps):
        largest = 0.0
        for j in some[contacts:]:
            largest = max(largest, visit_member(system, int(j), q_dot))
        for turn in range(2):
            begin, parts = round_of(system.parts, turn, done % 2)
            share_out(parts, sweep_part, (system, some, first, begin, done % 2, worst))
        for p in range(system.parts.count[1]):
            largest = max(largest, worst[p])
        change = math.sqrt(largest)
        if change <= tolerance:
            break
    return change
