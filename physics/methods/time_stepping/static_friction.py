"""Static friction in `time_stepping`: contacts that stick have the cone of μ_s, those that slip that of μ < μ_s.

A friction force between μ λ and μ_s λ holds a contact that sticks and does not stop one that slips: the equations of a
step have both solutions, and more where contacts share a load. The mode of the step before chooses. Where the impulses
found deny a mode, the step is solved anew with another cone:

    breaks away     it stuck, and slips with the cone of μ_s: it gets that of μ
    comes to rest   it slipped, and its slip turns round within the step: it gets the cone of μ_s
    goes on         it came to rest, and slips even so: it gets that of μ

Each contact does each of these once a step at most. A contact that carried nothing in the step before has no mode: it
sticks where it slips less than the speed that counts as rest.

An impact has the cone of μ, as in `event_driven`: Coulomb's law for impulses has one coefficient. So a contact that
is hit while it slips, or begins to slip, is not held by μ_s; from the next step on it may be.
"""

from typing import NamedTuple

import numpy as np

from ...books.events import SLIPS, STICKS, UNKNOWN
from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, Model
from ...core.state import Owner
from ...core.sym3 import three
from ...core.vec import add, axpy, dot, norm, put, row
from ...laws.contact import break_away
from ...problem.assemble import REST_SPEED
from ...problem.system import ARM_A, ARM_B, BIAS, FRICTION, NORMAL, pair_velocity, relative_velocity

SLOWEST = 1e-6     # slip on the rim of a cone: what is slower counts as none [m/s]
RIM = 1.0 - 1e-9   # part of the greatest friction from which on a contact is on the rim of its cone
TURNS = 10         # solutions with other cones at most; contacts denied after that change their mode in the next step
MODE = 8           # column of ContactMemory.own, after those of `problem.assemble`

#: beside UNKNOWN (no static friction, or new), STICKS and SLIPS: what a contact did within the step
CAME_TO_REST, GOES_ON = 3, 4
TIME_STEPPING = int(Owner.TIME_STEPPING)


class Static(NamedTuple):
    """The cones of the contacts of a step. Empty where no pair has static friction."""

    material: IntArray  #: (s,) of each shape
    table: Array        #: (m, m) μ_s of pairs of materials
    before: IntArray    #: (c,) mode of each contact in the step before
    mode: IntArray      #: (c,) in this one
    slip: Array         #: (c, 3) of each row of the system before any impulse [m/s]


def static_friction(model: Model, contacts: int = 0) -> Static:
    """Room for so many contacts."""
    table = break_away(model.materials)
    if not (table > model.materials.friction).any():
        table = table[:0]
    before, mode = np.zeros((2, contacts), np.int32)
    return Static(model.shapes.material, table, before, mode, np.zeros((contacts, 3)))


@helper
def tangential(u, n):
    """The part of u across the unit vector n."""
    return axpy(-dot(u, n), n, u)


@helper
def break_away_of(static, contacts, i):
    """μ_s of contact i."""
    return static.table[static.material[contacts.shape_a[i]], static.material[contacts.shape_b[i]]]


@helper
def slip_of(system, k):
    """Slip of contact k with the impulses found so far."""
    return tangential(add(pair_velocity(system, system.motion, k), three(system.rows, k, BIAS)),
                      three(system.rows, k, NORMAL))


@helper
def on_rim(system, k):
    """Whether contact k pushes on the rim of its cone and slips."""
    p, n = row(system.impulse, k), three(system.rows, k, NORMAL)
    lam = dot(p, n)
    rim = RIM * system.rows[k, FRICTION] * lam
    return lam > 0.0 and norm(tangential(p, n)) >= rim and norm(slip_of(system, k)) > SLOWEST


@kernel
def choose_cones(contacts, static, before, approach, memory, system) -> None:
    """Set the cones of all contacts by their modes in the step before, which the memory has if it is of such a step.
    before: the Motion before any impulse."""
    rows, mode_out = system.rows, static.mode
    known = memory.owner[0] == TIME_STEPPING
    for i in range(int(contacts.count[0])):
        mode_out[i], j = UNKNOWN, int(approach.previous[i])
        static.before[i] = int(memory.own[j, MODE]) if known and j >= 0 else UNKNOWN
    for k in range(int(system.count[0])):
        i = int(system.contact[k])
        greatest = break_away_of(static, contacts, i)
        u = relative_velocity(before.bodies, int(system.body_a[k]), int(system.body_b[k]), three(rows, k, ARM_A),
                              three(rows, k, ARM_B))
        slip = tangential(add(u, three(rows, k, BIAS)), three(rows, k, NORMAL))
        put(static.slip, k, slip)
        if greatest <= contacts.friction[i]:
            continue
        mode = int(static.before[i])
        if system.fired[k] == 1 or approach.zeta[i] < -approach.scales[REST_SPEED]:
            mode = GOES_ON
        elif mode == UNKNOWN:
            mode = SLIPS if norm(slip) > approach.scales[REST_SPEED] else STICKS
        mode_out[i] = mode
        rows[k, FRICTION] = greatest if mode == STICKS else contacts.friction[i]


@kernel
def change_cones(contacts, static, system, change) -> int:
    """The number of contacts whose mode the impulses deny; where change = 1 they get another cone."""
    mode, denied = static.mode, 0
    for k in range(int(system.count[0])):
        i = int(system.contact[k])
        if mode[i] == UNKNOWN or mode[i] == GOES_ON or not on_rim(system, k):
            continue
        if mode[i] == SLIPS and dot(slip_of(system, k), row(static.slip, k)) >= 0.0:
            continue
        denied += 1
        if change == 1:
            rests = mode[i] == SLIPS
            mode[i] = CAME_TO_REST if rests else GOES_ON
            system.rows[k, FRICTION] = break_away_of(static, contacts, i) if rests else contacts.friction[i]
    return denied


@kernel
def modes_changed(static, contacts) -> bool:
    """Whether any contact does something else than in the step before."""
    changed = False
    for i in range(int(contacts.count[0])):
        changed = changed or static.mode[i] != static.before[i]
    return changed


@kernel
def end_modes(system, mode) -> None:
    """Who sticks and who slips when the step is solved; UNKNOWN of those that carry nothing."""
    for k in range(int(system.count[0])):
        i = int(system.contact[k])
        if mode[i] != UNKNOWN:
            loaded = dot(row(system.impulse, k), three(system.rows, k, NORMAL)) > 0.0
            mode[i] = UNKNOWN if not loaded else SLIPS if on_rim(system, k) else STICKS
