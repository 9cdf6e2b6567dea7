"""What happened to the contacts in a step: impacts, gains and losses of contact between pairs of bodies.

    impact          restitution acted, or surfaces closed faster than the speed that counts as rest
    gain            a pair touches that did not, without an impact
    dynamic_loss    a pair that touched is drawn apart along the normal, its contact points still facing each other
    geometric_loss  a pair that touched does so no more because its points are gone: an edge or corner was passed
"""

import math

import numpy as np

from contactlab.physics.jit import helper, kernel
from contactlab.physics.messages import Event
from contactlab.physics.state import ContactMemory, Contacts

IMPACT, GAIN, DYNAMIC_LOSS, GEOMETRIC_LOSS = range(4)
KINDS = ("impact", "gain", "dynamic_loss", "geometric_loss")
LIMIT = 64  # events of one step: a pile makes hundreds that nobody can read


@helper
def is_new_pair(memory, a, b):
    """True where no contact of the pair touched before."""
    for j in range(int(memory.count[0])):
        if memory.touching[j] == 1 and memory.bodies[j, 0] == a and memory.bodies[j, 1] == b:
            return False
    return True


@helper
def touching_of(contacts, first):
    """End of the run of rows of one pair of bodies from `first` on, and the resting row that pushes hardest or -1."""
    a = contacts.body_a[first]
    b = contacts.body_b[first]
    i = first
    best = -1
    while i < contacts.count[0] and contacts.body_a[i] == a and contacts.body_b[i] == b:
        if contacts.current[i] == 1 and (best < 0 or contacts.lam[i] > contacts.lam[best]):
            best = i
        i += 1
    return i, best


@kernel
def find_changes(contacts, memory, previous, zeta_before, rest_speed, kind_out, row_out):
    """Find impacts, gains and dynamic losses, each pair of bodies once; writes kinds and contact rows, returns their
    number. `memory` and `previous` are those of the step before; rows of a pair stand together."""
    found = 0
    first = 0
    while first < contacts.count[0] and found < len(kind_out):
        last, best = touching_of(contacts, first)
        touched = False   # before
        hit = False
        hardest = first
        for i in range(first, last):
            if contacts.lam[i] > contacts.lam[hardest]:
                hardest = i
            j = int(previous[i])
            touched = touched or (j >= 0 and memory.touching[j] == 1)
            hit = hit or (contacts.lam[i] > 0.0 and zeta_before[i] < -rest_speed)
        kind = -1
        if hit:
            kind = IMPACT
        elif best >= 0 and not touched and is_new_pair(memory, contacts.body_a[first], contacts.body_b[first]):
            kind = GAIN
        elif best < 0 and touched:
            kind = DYNAMIC_LOSS
        if kind >= 0:
            kind_out[found] = kind
            row_out[found] = hardest
            found += 1
        first = last
    return found


@kernel
def find_vanished(contacts, order, memory, row_out):
    """Memory rows of pairs that touched and of which no contact is left at all; returns their number."""
    found = 0
    position = 0
    for j in range(int(memory.count[0])):
        while position < contacts.count[0] and contacts.key[order[position]] < memory.key[j]:
            position += 1
        if position < contacts.count[0] and contacts.key[order[position]] == memory.key[j]:
            continue
        if memory.touching[j] == 0:
            continue
        gone = True
        for i in range(int(contacts.count[0])):
            if contacts.body_a[i] == memory.bodies[j, 0] and contacts.body_b[i] == memory.bodies[j, 1]:
                gone = False
                break
        for k in range(found):
            if (memory.bodies[row_out[k], 0] == memory.bodies[j, 0]
                    and memory.bodies[row_out[k], 1] == memory.bodies[j, 1]):
                gone = False
        if gone:
            row_out[found] = j
            found += 1
            if found == len(row_out):
                break
    return found


class EventFinder:
    """Finds the events of a step; keeps scratch memory only."""

    def __init__(self) -> None:
        self.kind = np.zeros(LIMIT, np.int32)
        self.row = np.zeros(LIMIT, np.int32)

    def find(
        self, contacts: Contacts, memory: ContactMemory, previous: np.ndarray, order: np.ndarray,
        zeta_before: np.ndarray, rest_speed: float,
    ) -> list[tuple[str, int]]:
        """(kind, row) of at most LIMIT events: a row of the contacts, for geometric losses one of the memory."""
        count = find_changes(contacts, memory, previous, zeta_before, rest_speed, self.kind, self.row)
        found = [(KINDS[k], r) for k, r in zip(self.kind[:count].tolist(), self.row[:count].tolist(), strict=True)]
        count = find_vanished(contacts, order, memory, self.row)
        return (found + [(KINDS[GEOMETRIC_LOSS], r) for r in self.row[:count].tolist()])[:LIMIT]


def describe(
    kind: str, row: int, contacts: Contacts, memory: ContactMemory, x: np.ndarray, t: float, energy_before: float,
    energy_after: float,
) -> Event:
    """The event as messages carry it. A geometric loss has no contact any more: its point is midway between the centres
    of mass, its normal that of the last impulse. The step's number is for the simulation to fill in."""
    if kind == KINDS[GEOMETRIC_LOSS]:
        a, b = memory.bodies[row].tolist()
        p = memory.impulse[row].tolist()
        size = math.sqrt(p[0] ** 2 + p[1] ** 2 + p[2] ** 2) or 1.0
        point = (0.5 * (x[a] + x[b])).tolist()
        normal, impulse = [c / size for c in p], [0.0, 0.0, 0.0]
    else:
        a, b = int(contacts.body_a[row]), int(contacts.body_b[row])
        point, normal, impulse = (field[row].tolist() for field in (contacts.point, contacts.normal, contacts.impulse))
    return Event(kind, 0, t, (a, b), tuple(point), tuple(normal), tuple(impulse), energy_before, energy_after)
