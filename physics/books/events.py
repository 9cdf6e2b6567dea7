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

from ..core.jit import kernel
from ..core.model import Array, IntArray, Model, movable
from ..core.report import Event, Reason
from ..core.state import Bodies, Case, ContactMemory, Contacts
from ..core.vec import norm, put, row
from ..problem.assemble import pair_order

IMPACT, GAIN, DYNAMIC_LOSS, GEOMETRIC_LOSS = range(4)
Vector = tuple[float, float, float]
EVENT_KINDS = ("impact", "gain", "dynamic_loss", "geometric_loss")
SEPARATING, RESTING = int(Case.SEPARATING), int(Case.RESTING)
UNKNOWN, STICKS, SLIPS = range(3)  #: friction state of a contact; unknown where it is free or new
#: what is told of a pair that is not near any more
NOWHERE = 0, 0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0, 0.0
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


class EventFinder:
    """Finds the events of a step. Keeps scratch memory only."""

    def __init__(self, model: Model) -> None:
        self._shape_body, self._moves = model.shapes.body, movable(model.kind)
        self.changes = Changes(np.zeros(MOST_EVENTS, np.int32), np.zeros(MOST_EVENTS, np.int32),
                               np.zeros((MOST_EVENTS, 2), np.int32), *np.zeros((2, MOST_EVENTS, 3)))

    def find(
        self, contacts: Contacts, memory: ContactMemory, before: tuple[Array, Array], rest_speed: float, bodies: Bodies,
        instant: Callable[[str, tuple[int, int]], float], energy_before: float, energy_after: float,
    ) -> list[Event]:
        """At most MOST_EVENTS events, with step number 0. `memory` is that of the step before, `before` zeta_before
        (c,) and parting (c,) of `find_changes`, `bodies` at the end of the step, `instant` says when an event of a kind
        happened to a pair of shapes [s], and the energies are those before and after the step [J]."""
        count = find_changes(contacts, memory, *before, rest_speed, self.changes)
        return self.events(count, contacts, bodies, instant, energy_before, energy_after)

    def events(
        self, count: int, contacts: Contacts, bodies: Bodies, instant: Callable[[str, tuple[int, int]], float],
        energy_before: float, energy_after: float,
    ) -> list[Event]:
        """The events of so many `changes` that were found."""
        found, rows = [], self.changes.row[:count]
        here = rows[rows >= 0]
        columns = (contacts.body_a, contacts.body_b, contacts.point, contacts.normal, contacts.impulse, contacts.case,
                   contacts.zeta)
        near = zip(*(_as_list(column[here]) for column in columns), strict=True)
        shapes = self.changes.shapes[:count].tolist()
        for i, (kind, k, (a, b)) in enumerate(zip(self.changes.kind[:count].tolist(), rows.tolist(), shapes,
                                                  strict=True)):
            after, reason = 0, None
            body_a, body_b, point, normal, impulse, case, zeta = next(near) if k >= 0 else NOWHERE
            if kind == GEOMETRIC_LOSS:
                told, parts = self._lost(i, bodies)
                if k < 0 and parts:  # it was torn away, so far that nothing is near any more
                    kind = DYNAMIC_LOSS
            else:
                told = (body_a, body_b), point, normal, impulse
                if kind == IMPACT:  # a pair that does not separate rests, even where a gap is left for the next step
                    after = SEPARATING if case == SEPARATING else RESTING
                elif kind == DYNAMIC_LOSS:
                    reason = Reason("parts", zeta)
            name = EVENT_KINDS[kind]
            found.append(Event(name, 0, instant(name, (a, b)), *told, energy_before, energy_after, after,
                               reason=reason))
        return found

    def _lost(self, i: int, bodies: Bodies) -> tuple[tuple[tuple[int, int], Vector, Vector, Vector], bool]:
        """Bodies, point, normal and impulse of a pair that was lost, from what the memory knew of its last contact: the
        normal is the direction of its impulse. And whether the bodies move apart along it."""
        a, b = self._shape_body[self.changes.shapes[i]].tolist()
        p = self.changes.impulse[i]
        point = bodies.x[b if self._moves[b] else a] + self.changes.place[i]
        u = bodies.v[b] - bodies.v[a] + _crossed(bodies.w[b], point - bodies.x[b]) - _crossed(
            bodies.w[a], point - bodies.x[a])
        normal = p / (math.sqrt(float(p @ p)) or 1.0)
        return ((a, b), tuple(point.tolist()), tuple(normal.tolist()), (0.0, 0.0, 0.0)), bool(normal @ u > 0.0)


def _as_list(column: Array | IntArray) -> list:
    """Values of a column, or its rows as tuples: the whole column, as one by one is slow."""
    return column.tolist() if column.ndim == 1 else list(map(tuple, column.tolist()))


def _crossed(u: Array, v: Array) -> Array:
    """u × v; of two vectors alone `np.cross` takes ten times as long."""
    (a, b, c), (x, y, z) = u.tolist(), v.tolist()
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


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
