"""What the event-driven method tells of a step: its events."""

from collections.abc import Collection

import numpy as np

from ...collision.exact.continuation import APART, one_contact
from ...collision.exact.elements import limit_joint, shapes_of
from ...core.model import Array
from ...core.report import Event, JointImpulse, Reason
from ...core.state import Case, LongArray, Tally
from ...dynamics.constraints.limits import TURNS
from .instant import energy_at
from .reasons import Reasons
from .sets import IDLE, SLIDE, STICK
from .tolerances import RESTS
from .workspace import Workspace

Modes = dict[int, int]  # pair in the current set -> mode


class EventLog:
    """The events of the step in hand."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._elements = len(work.surface.kind) ** 2  # pairs of elements are named by numbers below that
        self.events: list[Event] = []
        self.reasons = Reasons()

    def begin_step(self) -> None:
        self.events = []
        self.reasons.forget()

    def tell(
        self, kind: str, pair: int, impulse: Array | None = None, energy: float | None = None,
        joints: tuple[JointImpulse, ...] = (), reason: Reason | None = None,
    ) -> None:
        """Append an event of a pair at the state in hand; impulse (3,) on its body b [N s], energy before it [J],
        joints: what they passed on,
        reason: where it is none of those that are known."""
        here = self._work.here
        w, zeta = self._work.search.find_one(here, pair % TURNS)
        after = energy_at(here)
        p = (0.0, 0.0, 0.0) if impulse is None else tuple(impulse.tolist())
        point = 0.5 * (w.p_a[0] + w.p_b[0])
        case = Case.SEPARATING if zeta > RESTS else Case.COLLIDING if zeta < -RESTS else Case.RESTING
        self.add([Event(
            kind, 0, self._work.t, (int(w.body_a[0]), int(w.body_b[0])), tuple(point.tolist()),
            tuple(w.normal[0].tolist()), p, after if energy is None else energy, after,
            int(case) if kind == "impact" else 0, limit_joint(here.surface, pair), joints,
            reason or self.reasons.of(kind, pair) or (Reason("parts", zeta) if kind == "dynamic_loss" else None),
        )])

    def add(self, events: list[Event]) -> None:
        """Append events."""
        self.events += events
        self._work.tally[Tally.EVENTS] += len(events)

    def modes(self) -> Modes:
        """How each contact of the current set holds."""
        chosen, count = self._work.chosen, self._work.in_set
        return dict(zip(chosen.pair[:count].tolist(), chosen.mode[:count].tolist(), strict=True))

    def tell_changes(self, before: Modes, hit: Collection[int], lost: Collection[int], stopped: int) -> None:
        """Events of the change from the set `before` to the present one. hit: pairs that an impact told of already;
        lost: those that have left their elements; stopped: one whose slip has come to an end, -1 = none. A contact that
        goes on over the next triangle of a plane is no event."""
        now, told = self.modes(), len(self.events)
        named, before = before, self._continued(before, now)
        for pair in before:
            if pair >= TURNS:
                if pair in now and now[pair] == SLIDE and (before[pair] == STICK or pair == stopped):
                    self.tell("turn", pair)
                elif pair in now and before[pair] == SLIDE and now[pair] == STICK:
                    self.tell("turn_ends", pair)
            elif pair not in now:
                self.tell("geometric_loss" if pair in lost else "dynamic_loss", pair)
            elif now[pair] == SLIDE and (before[pair] == STICK or pair == stopped):
                self.tell("slip", pair)
            elif before[pair] == SLIDE and now[pair] == STICK:
                self.tell("stick", pair)
        for pair in now:
            if pair not in before and pair not in hit and pair < TURNS:
                self.tell("gain", pair)
        changed = [pair for pair in now if now[pair] != before.get(pair) and pair < TURNS]
        if len(self.events) == told and not hit and changed and before is named:  # other names make another basis
            self.tell("active_set", min(changed, key=lambda pair: now[pair] != IDLE))

    def _continued(self, before: Modes, now: Modes) -> Modes:
        """The set `before`, where a contact that another pair of elements continues has the name of that pair."""
        gone = [pair for pair in before if pair not in now and pair < self._elements]
        new = [pair for pair in now if pair not in before and pair < self._elements]
        if not gone and not new:
            return before
        these, those = np.array([*before], np.int64), np.array([*now], np.int64)
        ends = {pair: self._one_among(those, pair) for pair in gone}
        begins = {pair: self._one_among(these, pair) for pair in new}
        found = {pair: mode for pair, mode in before.items() if ends.get(pair % TURNS, -1) < 0}
        for pair in now:
            came = begins.get(pair % TURNS, -1)
            if came >= 0 and came + pair - pair % TURNS in before:
                found[pair] = before[came + pair - pair % TURNS]
        return found

    def _one_among(self, others: LongArray, pair: int) -> int:
        """The first of other pairs (k,) that is one contact with this one, -1 = none: they share an element."""
        count = len(self._work.surface.kind)
        a, b = divmod(pair, count)
        near = others[(others // count == a) | (others % count == b)].tolist()
        return next((p for p in near if self._is_one(pair, p)), -1)

    def _is_one(self, pair: int, other: int) -> bool:
        """Whether two pairs are one contact at the state in hand."""
        if max(pair, other) >= self._elements or not one_contact(self._work.surface, pair, other):
            return False
        points = [np.concatenate([w.p_a[0], w.p_b[0]])
                  for w in (self._work.search.find_one(self._work.here, which)[0] for which in (pair, other))]
        surface = self._work.surface
        size = surface.reach[shapes_of(surface, np.array([pair]))[0], 3].min()
        return bool(np.abs(points[1] - points[0]).max() <= APART * size)
