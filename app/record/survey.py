"""What happens in a run, found by running it before it is drawn: its events, and the curves that are plotted."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...physics.look.quantities import QUANTITIES, heading, named
from ...physics.run.messages import Curve, Event, Snapshot, Watch
from ...physics.run.slow_motion import QUIET
from ..narration import sentence
from ..panels.plot import expected
from .curves import Drawn, Plotted
from .plan import Happening
from .reel import Reel


class Survey(NamedTuple):
    happenings: tuple[Happening, ...]  #: in the order of time; of two runs those of both
    plotted: Plotted | None


def survey(reels: Sequence[Reel], titles: Sequence[str], span: tuple[float, float], plot: Sequence[str]) -> Survey:
    """Bring the runs, which stand at their beginnings, to the end of the span [s], and note what happens in it and the
    quantities plotted, QUANTITY[:BODY]. titles: of the runs where there are two. ValueError where one of the runs has
    no such body."""
    happenings: list[Happening] = []
    curves: list[Drawn] = []
    for number, (reel, title) in enumerate(zip(reels, titles, strict=True)):
        wanted = tuple(Curve(*named(text, reel.now.labels.bodies)) for text in plot)
        reel.send(Watch(wanted))
        reel.to(span[0])
        seen = _Seen(wanted, reel.now)
        reel.to(span[1], each=lambda seen=seen, reel=reel: seen.note(reel.now))
        happenings += seen.happenings(reel.now, span, number)
        curves += seen.curves(reel.now, f", {title}" if len(reels) > 1 else "")
    happenings.sort(key=lambda h: h.t)
    marks = tuple((h.t, h.kind) for h in happenings if h.kind not in QUIET)
    return Survey(tuple(happenings), Plotted(span, tuple(curves), marks) if plot else None)


class _Seen:
    """What was seen of a run, or of several side by side on one clock."""

    def __init__(self, wanted: tuple[Curve, ...], begin: Snapshot) -> None:
        self._wanted = wanted
        self._events: dict[tuple[int, Event], None] = {}
        self._rows: list[list[list[float]]] = [[] for _ in _sides(begin)]
        self.note(begin)

    def note(self, now: Snapshot) -> None:
        for number, side in enumerate(_sides(now)):
            self._events |= dict.fromkeys((number, event) for event in side.events)
            if self._wanted and len(side.trace):
                self._rows[number].append(side.trace[np.searchsorted(side.trace[:, 0], side.t - 1e-12)].tolist())

    def happenings(self, last: Snapshot, span: tuple[float, float], run: int) -> list[Happening]:
        """Of a comparison those of all sides."""
        names, found = last.labels.bodies, []
        for _, event in self._events:
            if span[0] <= event.t <= span[1]:
                a, b = (names[i] if i >= 0 else "" for i in event.bodies)
                found.append(Happening(event.t, event.kind, (a, b), float(np.linalg.norm(event.impulse)),
                                       event.energy_before - event.energy_after, sentence(event, last.labels), run))
        return found

    def curves(self, last: Snapshot, of_run: str) -> list[Drawn]:
        found = []
        sides = _sides(last)
        for rows, side in zip(self._rows, sides, strict=True):
            table = np.array(rows).reshape(-1, 1 + len(self._wanted))
            of_side = f", {side.settings.method}" if len(sides) > 1 else of_run
            for k, curve in enumerate(self._wanted, 1):
                name = heading(curve.quantity, side.labels.bodies[curve.body] if curve.body >= 0 else "")
                by_form = expected(side, curve, float(table[0, 0]), float(table[-1, 0])) if len(table) else None
                found.append(Drawn(name + of_side, QUANTITIES[curve.quantity].unit, table[:, [0, k]], by_form))
        return found


def _sides(now: Snapshot) -> tuple[Snapshot, ...]:
    return now.sides or (now,)
