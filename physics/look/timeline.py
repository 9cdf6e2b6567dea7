"""The past as a timeline: events, and from when to when each contact was in the current and in the active set."""

from collections.abc import Iterable

import numpy as np

from ..core.limits import BARS
from ..core.model import Array
from ..core.report import Event
from ..core.state import Contacts

MOST_CONTACTS = 400   # of a step, beyond which its contacts are left out
BEGIN, END, BODY_A, BODY_B, KEY, LEVEL = range(6)  #: columns of a bar; END is nan where it goes on
CURRENT, ACTIVE = 1, 2                             #: levels
STARTS, ENDS = ("gain", "impact"), ("dynamic_loss", "geometric_loss", "impact")


class Bars:
    """Intervals of time in which a contact had one level. Call `note` after every step."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._ended: list[tuple[float, ...]] = []
        self._open: dict[int, tuple[float, ...]] = {}  # by key of the contact
        self._t = 0.0
        self._changed = True
        self._rows = np.zeros((0, 6))
        self._last: tuple[bytes, bytes, bytes] | None = None  # what `_open` was made of

    @property
    def rows(self) -> Array:
        """All bars (k, 6), read-only."""
        if self._changed:
            self._rows = np.array([*self._ended, *self._open.values()], float).reshape(-1, 6)
            self._rows.flags.writeable = False
            self._changed = False
        return self._rows

    def since(self, t: float) -> Array:
        """The bars (k, 6) that go on after the time t [s]."""
        return self.rows[~(self.rows[:, END] <= t)]

    def join(self, t: float, rows: Array) -> None:
        """Take over the bars of a record from the time t [s] on, in place of what is known from then on."""
        self._cut(t)
        self._open = {int(bar[KEY]): tuple(bar) for bar in rows.tolist() if np.isnan(bar[END])}
        self._ended += [tuple(bar) for bar in rows.tolist() if not np.isnan(bar[END])]

    def note(self, before: float, t: float, contacts: Contacts, events: Iterable[Event]) -> None:
        """The step from `before` to t [s] has these contacts, and these events happened in it. Bars begin and end at
        the instants of events, where there are any of the same bodies; else with the step."""
        if before < self._t:
            self._cut(before)  # the run went back to an earlier step
        self._t = t
        count = int(contacts.count[0])
        last = contacts.key[:count].tobytes(), contacts.current[:count].tobytes(), contacts.active[:count].tobytes()
        if last == self._last:
            return  # the sets are as they were
        self._last = last
        now = {}
        if count <= MOST_CONTACTS:
            for i in np.flatnonzero(contacts.current[:count]).tolist():
                level = ACTIVE if contacts.active[i] else CURRENT
                now[int(contacts.key[i])] = (int(contacts.body_a[i]), int(contacts.body_b[i]), level)
        same = {key for key, bar in self._open.items() if now.get(key, (0, 0, 0))[2] == bar[LEVEL]}
        if len(same) == len(now) == len(self._open):
            return
        self._changed = True
        told = [(e.kind, e.bodies, e.t) for e in events]
        for key in [key for key in self._open if key not in same]:
            bar = self._open.pop(key)
            bodies = int(bar[BODY_A]), int(bar[BODY_B])
            at = _instant(told, ENDS, bodies, before, last=True) if key not in now else before
            if at > bar[BEGIN]:
                self._ended.append((bar[BEGIN], at, *bar[BODY_A:]))
        for key, (a, b, level) in now.items():
            if key not in same:
                self._open[key] = (_instant(told, STARTS, (a, b), before), np.nan, a, b, key, level)
        if len(self._ended) > BARS.most:
            del self._ended[: BARS.most // 2]

    def _cut(self, t: float) -> None:
        """Forget what came after t [s]; what ended after it goes on."""
        self._changed, self._last = True, None
        bars = [bar for bar in (*self._ended, *self._open.values()) if bar[BEGIN] <= t]
        goes_on = [not bar[END] <= t for bar in bars]
        self._ended = [bar for bar, on in zip(bars, goes_on, strict=True) if not on]
        self._open = {int(bar[KEY]): (bar[BEGIN], np.nan, *bar[BODY_A:])
                      for bar, on in zip(bars, goes_on, strict=True) if on}


def _instant(
    told: list[tuple[str, tuple[int, int], float]], kinds: tuple[str, ...], bodies: tuple[int, int], otherwise: float,
    last: bool = False,
) -> float:
    """Time [s] of the first event of these kinds and bodies, or of the last one; `otherwise` where there is none."""
    times = [t for kind, pair, t in told if kind in kinds and sorted(pair) == sorted(bodies)]
    return otherwise if not times else times[-1] if last else times[0]
