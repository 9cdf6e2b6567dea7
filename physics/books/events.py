"""Events of a step: impacts, gains and losses of contact between pairs of shapes [RBDA §11.6, fig. 11.6].

    impact          a contact force acted on a pair that approached faster than the speed that counts as rest
    gain            a pair touches that did not touch before, without an impact
    dynamic_loss    a pair that touched separates along its normal, as its force has vanished
    geometric_loss  a contact point has slid past an edge or a corner: the velocity is as before, the normal is another,
                    along which the pair was separating already
    slip, stick     of a pair that keeps in touch: its first contact point begins to slip, its last one stops slipping
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray, Model, movable
from ..core.report import Event, Reason
from ..core.state import Bodies, Case, Contacts
from ..core.vec import add, cross, dot, norm, put, row, sub
from ..problem.assemble import pair_order

IMPACT, GAIN, DYNAMIC_LOSS, GEOMETRIC_LOSS = range(4)
EVENT_KINDS = ("impact", "gain", "dynamic_loss", "geometric_loss")
SEPARATING, RESTING = int(Case.SEPARATING), int(Case.RESTING)
UNKNOWN, STICKS, SLIPS = range(3)  #: friction state of a contact; unknown where it is free or new
LEAST_SHARE = 1e-3  # part of the load of its pair of shapes below which the slip of a contact does not count
MOST_EVENTS = 64  # events of one step: a pile makes hundreds, too many to read


class Changes(NamedTuple):
    """What `find_changes` found of each pair of shapes that an event is about."""

    kind: IntArray    #: (m,) row of EVENT_KINDS
    row: IntArray     #: (m,) of the hardest contact of the pair; -1 where none is left near
    shapes: IntArray  #: (m, 2)
    place: Array      #: (m, 3) of a pair that was lost: where its hardest contact was, as in ContactMemory [m]
    impulse: Array    #: (m, 3) and its impulse [N s]


@kernel
def find_changes(contacts, memory, zeta_before, parting, rest_speed, changes_out):
    """Find the event of every pair of shapes and return their number. Merges the two tables, both ordered by pair, in
    one pass. zeta_before (c,): speed along the normal at which contacts met [m/s]; parting (c,): that of the velocities
    before the step along the normal of now [m/s]."""
    kind_out = changes_out.kind
    now, before = int(contacts.count[0]), int(memory.count[0])
    shape_a, shape_b, old = contacts.shape_a, contacts.shape_b, memory.shapes
    i, j, found = 0, 0, 0
    while (i < now or j < before) and found < len(kind_out):
        order = 0  # of the next pair: -1 in the memory only, 1 in the contacts only, 0 in both
        if i == now:
            order = -1
        elif j == before:
            order = 1
        else:
            order = pair_order(old, j, shape_a[i], shape_b[i])
        a, b = (old[j, 0], old[j, 1]) if order < 0 else (shape_a[i], shape_b[i])
        hardest, nearest, last = i, i, j
        rests, hit, touched = False, False, False
        while i < now and shape_a[i] == a and shape_b[i] == b:
            rests = rests or contacts.current[i] == 1
            hit = hit or (contacts.lam[i] > 0.0 and zeta_before[i] < -rest_speed)
            if contacts.lam[i] > contacts.lam[hardest]:
                hardest = i
            if contacts.gap[i] < contacts.gap[nearest]:
                nearest = i
            i += 1
        while j < before and old[j, 0] == a and old[j, 1] == b:
            touched = touched or memory.touching[j] == 1
            if norm(row(memory.impulse, j)) > norm(row(memory.impulse, last)):
                last = j
            j += 1
        kind = -1
        if hit:
            kind = IMPACT
        elif rests and not touched:
            kind = GAIN
        elif touched and not rests:
            kind = GEOMETRIC_LOSS if order < 0 or parting[nearest] > rest_speed else DYNAMIC_LOSS
        if kind >= 0:
            kind_out[found] = kind
            changes_out.row[found] = -1 if order < 0 else hardest
            changes_out.shapes[found, 0], changes_out.shapes[found, 1] = a, b
            if touched:
                put(changes_out.place, found, row(memory.place, last))
                put(changes_out.impulse, found, row(memory.impulse, last))
            found += 1
    return found


class Told(NamedTuple):
    """What events tell of the changes that were found."""

    kind: IntArray    #: (m,) row of EVENT_KINDS
    bodies: IntArray  #: (m, 2)
    point: Array      #: (m, 3) [m]
    normal: Array     #: (m, 3)
    impulse: Array    #: (m, 3) [N s]
    after: IntArray   #: (m,) see `Event.case_after`
    zeta: Array       #: (m,) speed with which a pair parts as its force vanishes [m/s], else nan


@kernel
def tell_changes(shape_body, moves, contacts, bodies, changes, count, told_out) -> None:
    """Fill so many rows of `Told`. bodies: at the end of the step."""
    for i in range(count):
        k, kind = int(changes.row[i]), int(changes.kind[i])
        told_out.after[i], told_out.zeta[i] = 0, math.nan
        if kind == GEOMETRIC_LOSS:
            if tell_lost(shape_body, moves, bodies, changes, i, told_out) and k < 0:
                kind = DYNAMIC_LOSS  # it was torn away, so far that nothing is near any more
        else:
            told_out.bodies[i, 0], told_out.bodies[i, 1] = contacts.body_a[k], contacts.body_b[k]
            put(told_out.point, i, row(contacts.point, k))
            put(told_out.normal, i, row(contacts.normal, k))
            put(told_out.impulse, i, row(contacts.impulse, k))
            if kind == IMPACT:  # a pair that does not separate rests, even where a gap is left for the next step
                told_out.after[i] = SEPARATING if contacts.case[k] == SEPARATING else RESTING
            elif kind == DYNAMIC_LOSS:
                told_out.zeta[i] = contacts.zeta[k]
        told_out.kind[i] = kind


@helper
def tell_lost(shape_body, moves, bodies, changes, i, told_out):
    """Bodies, point and normal of pair i that was lost, from what the memory knew of its last contact: the normal is
    the direction of its impulse. Returns whether the bodies move apart along it."""
    a, b = int(shape_body[changes.shapes[i, 0]]), int(shape_body[changes.shapes[i, 1]])
    point = add(row(bodies.x, b if moves[b] else a), row(changes.place, i))
    u = sub(row(bodies.v, b), row(bodies.v, a))
    u = add(u, cross(row(bodies.w, b), sub(point, row(bodies.x, b))))
    u = sub(u, cross(row(bodies.w, a), sub(point, row(bodies.x, a))))
    p = row(changes.impulse, i)
    size = norm(p) if norm(p) > 0.0 else 1.0
    normal = p[0] / size, p[1] / size, p[2] / size
    told_out.bodies[i, 0], told_out.bodies[i, 1] = a, b
    put(told_out.point, i, point)
    put(told_out.normal, i, normal)
    put(told_out.impulse, i, (0.0, 0.0, 0.0))
    return dot(normal, u) > 0.0


class EventFinder:
    """Finds the events of a step. Keeps scratch memory only."""

    def __init__(self, model: Model) -> None:
        self._shape_body, self._moves = model.shapes.body, movable(model.kind)
        kind, of, named, after = np.zeros((4, MOST_EVENTS), np.int32)
        shapes, pairs = np.zeros((2, MOST_EVENTS, 2), np.int32)
        place, last, point, normal, impulse = np.zeros((5, MOST_EVENTS, 3))
        self.changes = Changes(kind, of, shapes, place, last)
        self._told = Told(named, pairs, point, normal, impulse, after, np.zeros(MOST_EVENTS))

    def events(
        self, count: int, contacts: Contacts, bodies: Bodies, instant: Callable[[str, tuple[int, int]], float],
        energy_before: float, energy_after: float,
    ) -> list[Event]:
        """The events of so many `changes` that were found, with step number 0. `bodies` at the end of the step,
        `instant` says when an event of a kind happened to a pair of shapes [s], and the energies are those before and
        after the step [J]."""
        tell_changes(self._shape_body, self._moves, contacts, bodies, self.changes, count, self._told)
        found = []
        for (kind, pair, point, normal, impulse, after, zeta), (a, b) in zip(
                zip(*(column[:count].tolist() for column in self._told), strict=True),
                self.changes.shapes[:count].tolist(), strict=True):
            name = EVENT_KINDS[kind]
            reason = None if math.isnan(zeta) else Reason("parts", zeta)
            found.append(Event._make((  # half the time of a call with as many arguments
                name, 0, instant(name, (a, b)), tuple(pair), tuple(point), tuple(normal), tuple(impulse), energy_before,
                energy_after, after, -1, (), reason)))
        return found


def slip_events(
    contacts: Contacts, before: IntArray, now: IntArray, instants: Array, energy_before: float, energy_after: float,
) -> list[Event]:
    """Slip and stick, with step number 0. before and now (c,): friction state, UNKNOWN, STICKS or SLIPS;
    instants (c, 2): when it last began to slip and to stick, or the end of the step [s]. Contacts that carry next to
    nothing of the load of their pair of shapes do not count."""
    changed = before != now
    if not changed.any():
        return []
    count = int(contacts.count[0])
    known = (before != UNKNOWN) & (now != UNKNOWN) & (contacts.friction[:count] > 0.0)
    changed &= known
    shape_a, shape_b, lam = contacts.shape_a[:count], contacts.shape_b[:count], contacts.lam[:count]
    found = []
    for k in np.flatnonzero(changed).tolist():
        mine = known & (shape_a == shape_a[k]) & (shape_b == shape_b[k])
        mine &= lam >= LEAST_SHARE * lam[mine].sum()
        slipped, slips = bool((before[mine] == SLIPS).any()), bool((now[mine] == SLIPS).any())
        rows = np.flatnonzero(mine & changed)
        if slipped == slips or k != rows[0]:
            continue
        times = instants[rows, 0 if slips else 1]
        hardest = int(rows[np.argmax(lam[rows])])
        friction = float(np.linalg.norm(contacts.friction_force[hardest]))
        found.append(Event(
            "slip" if slips else "stick", 0, float(times.min() if slips else times.max()),
            (int(contacts.body_a[hardest]), int(contacts.body_b[hardest])), tuple(contacts.point[hardest].tolist()),
            tuple(contacts.normal[hardest].tolist()), tuple(contacts.impulse[hardest].tolist()), energy_before,
            energy_after, reason=Reason("cone", friction, friction) if slips else Reason("holds", friction)))
    return found
