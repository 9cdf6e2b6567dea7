"""Looks: the inspections that a panel asked for, made between two steps.

An answer belongs to the simulation that was looked at (`Inspection.labels`). While a scene runs looks take at most a
part of the thread's time, so that an answer may be of an earlier instant, but never of another simulation.
"""

import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..core.interruption import Interrupted
from ..core.limits import BeyondLimit
from ..look.inspection import Inspect, Inspection, look
from .comparison import Comparison
from .impact_cost import measured_cost

LOOK_SHARE = 0.1                # greatest part of the thread's time for inspections while a scene runs
LOOK_INTERVAL = 1.0 / 30.0      # least time between two inspections while a scene runs [wall s]
OF_AN_INSTANT = ("equations", "pivots", "body", "joint")  # views of a state; the others are of a step or of an impact
STEPS_ALONE = "law"  # the view that makes steps once more, by kernels that the run has


class Looks:
    """What is asked for, and the latest answer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.failure = ""  #: traceback of the last look that failed
        self._clock = clock
        self._asked = Inspect()
        self._kept: tuple[tuple[Any, ...], Inspection] | None = None  # what it was made from, and the answer
        self._next = 0.0                                              # when the next look is due [wall s]
        self._known: set[str] = set()                                 # views whose kernels are compiled

    def ask(self, asked: Inspect) -> None:
        """From now on look at this."""
        self._asked, self._next = asked, 0.0

    @property
    def compiles(self) -> bool:
        """The next look may compile kernels."""
        return self._asked.view not in ("", STEPS_ALONE) and self._asked.view not in self._known

    def answer(self, sides: Comparison, running: bool) -> Inspection | None:
        """What was asked for, of the side in focus; None where nothing was. running: it may be of an earlier instant.
        """
        if not self._asked.view:
            self._kept = None
            return None
        sim = sides.shown(sides.focus) if self._asked.view in OF_AN_INSTANT else sides.simulation
        made_from = (sim.step_count, sim.time, sim.settings, self._asked, running)
        start = self._clock()
        kept = self._kept
        may_stay = kept is not None and (kept[0] == made_from or (running and start < self._next))
        if kept is not None and may_stay and kept[1].labels is sim.labels:
            return kept[1]
        self._known.add(self._asked.view)
        try:
            found = look(sim, self._asked, running)
            if found.impact is not None and self._asked.measure:
                found = replace(found, impact=replace(found.impact, cost=measured_cost(self._clock)))
        except Interrupted:
            raise
        except BeyondLimit as refused:
            found = Inspection(self._asked, sim.step_count, sim.time, sim.labels, f"Nothing can be shown: {refused}.")
        except Exception as error:  # an inspection must not stop the run
            self.failure = "".join(traceback.format_exception(error))
            reason = f"This cannot be shown: {type(error).__name__}: {error}"
            found = Inspection(self._asked, sim.step_count, sim.time, sim.labels, reason)
        self._kept, now = (made_from, found), self._clock()
        self._next = now + max(LOOK_INTERVAL, (now - start) * (1.0 / LOOK_SHARE - 1.0))
        return found
