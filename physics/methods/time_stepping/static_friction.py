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

import numpy as np

from ...books.events import SLIPS, STICKS, UNKNOWN
from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, Model
from ...core.state import Contacts, Owner
from ...core.sym3 import three
from ...core.vec import add, axpy, dot, norm, put, row
from ...laws.contact import break_away
from ...problem.assemble import REST_SPEED
from ...problem.system import ARM_A, ARM_B, BIAS, FRICTION, NORMAL, pair_velocity, relative_velocity
from .parts import MoreauStep

SLOWEST = 1e-6     # slip on the rim of a cone: what is slower counts as none [m/s]
RIM = 1.0 - 1e-9   # part of the greatest friction from which on a contact is on the rim of its cone
TURNS = 10         # solutions with other cones at most; contacts denied after that change their mode in the next step
MODE = 8           # column of ContactMemory.own, after those of `problem.assemble`

#: beside UNKNOWN (no static friction, or new), STICKS and SLIPS: what a contact did within the step
CAME_TO_REST, GOES_ON = 3, 4


class StaticFriction:
    """Gives the contacts of a step their cones; scratch memory only."""

    def __init__(self, model: Model) -> None:
        self.any = bool((break_away(model.materials) > model.materials.friction).any())
        self._material, self._table = model.shapes.material, break_away(model.materials)
        self._before, self._mode = np.zeros((2, 0), np.int32)
        self._slip = np.zeros((0, 3))

    def begin(self, step: MoreauStep, contacts: Contacts, previous: IntArray) -> None:
        """Cones of the contacts just assembled; previous (c,): their rows of the memory, -1 = new."""
        if len(contacts.key) > len(self._mode):
            size = len(contacts.key)
            self._before, self._mode = np.zeros((2, size), np.int32)
            self._slip = np.zeros((size, 3))
        memory = step.state.memory
        self._before[:] = UNKNOWN
        if memory.owner[0] == Owner.TIME_STEPPING:
            known = np.flatnonzero(previous[: contacts.count[0]] >= 0)
            self._before[known] = memory.own[previous[known], MODE]
        choose_cones(contacts, self._material, self._table, step.before, step.approach, self._before, step.system,
                     self._mode, self._slip)

    def denied(self, step: MoreauStep, contacts: Contacts) -> bool:
        """Whether the impulses found deny the mode of a contact."""
        return bool(change_cones(contacts, self._material, self._table, step.system, self._mode, self._slip, 0))

    def revise(self, step: MoreauStep, contacts: Contacts) -> bool:
        """As `denied`; such a contact gets another cone."""
        return bool(change_cones(contacts, self._material, self._table, step.system, self._mode, self._slip, 1))

    def remember(self, step: MoreauStep, contacts: Contacts) -> None:
        """Leave in the memory who sticks, who slips and of whom neither is known."""
        end_modes(step.system, self._mode)
        count = int(contacts.count[0])
        step.state.memory.own[:count, MODE] = self._mode[:count]

    def slips(self, contacts: Contacts, t: float) -> tuple[IntArray, IntArray, Array]:
        """Of every contact whether it stuck or slipped before the step and does now, and when that changed (c, 2)."""
        count = int(contacts.count[0])
        return self._before[:count], self._mode[:count], np.full((count, 2), t)


@helper
def tangential(u, n):
    """The part of u across the unit vector n."""
    return axpy(-dot(u, n), n, u)


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
def choose_cones(contacts, material, table, before, approach, mode_before, system, mode_out, slip_out):
    """Set the cones of all contacts by their modes in the step before (c,). Writes their modes, and for each row of the
    system the slip (c, 3) before any impulse [m/s]."""
    rows = system.rows
    for i in range(int(contacts.count[0])):
        mode_out[i] = UNKNOWN
    for k in range(int(system.count[0])):
        i = int(system.contact[k])
        static = table[material[contacts.shape_a[i]], material[contacts.shape_b[i]]]
        u = relative_velocity(before.bodies, int(system.body_a[k]), int(system.body_b[k]), three(rows, k, ARM_A),
                              three(rows, k, ARM_B))
        slip = tangential(add(u, three(rows, k, BIAS)), three(rows, k, NORMAL))
        put(slip_out, k, slip)
        if static <= contacts.friction[i]:
            continue
        mode = mode_before[i]
        if system.fired[k] == 1 or approach.zeta[i] < -approach.scales[REST_SPEED]:
            mode = GOES_ON
        elif mode == UNKNOWN:
            mode = SLIPS if norm(slip) > approach.scales[REST_SPEED] else STICKS
        mode_out[i] = mode
        rows[k, FRICTION] = static if mode == STICKS else contacts.friction[i]


@kernel
def change_cones(contacts, material, table, system, mode, slip, change):
    """The number of contacts whose mode the impulses deny; where change = 1 they get another cone."""
    denied = 0
    for k in range(int(system.count[0])):
        i = int(system.contact[k])
        if mode[i] == UNKNOWN or mode[i] == GOES_ON or not on_rim(system, k):
            continue
        if mode[i] == SLIPS and dot(slip_of(system, k), row(slip, k)) >= 0.0:
            continue
        denied += 1
        if change == 1:
            static = table[material[contacts.shape_a[i]], material[contacts.shape_b[i]]]
            rests = mode[i] == SLIPS
            mode[i] = CAME_TO_REST if rests else GOES_ON
            system.rows[k, FRICTION] = static if rests else contacts.friction[i]
    return denied


@kernel
def end_modes(system, mode):
    """Who sticks and who slips when the step is solved; UNKNOWN of those that carry nothing."""
    for k in range(int(system.count[0])):
        i = int(system.contact[k])
        if mode[i] != UNKNOWN:
            loaded = dot(row(system.impulse, k), three(system.rows, k, NORMAL)) > 0.0
            mode[i] = UNKNOWN if not loaded else SLIPS if on_rim(system, k) else STICKS
