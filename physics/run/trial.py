"""A trial: a run that is measured from where it stands to a time, and by nothing else than its own steps."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..simulation.simulation import Simulation
from .measures import measured


class Window(NamedTuple):
    """Something that is measured of a part of a run."""

    of: str                   #: see `measures.measured`
    since: float = -math.inf  #: [s]
    until: float = math.inf   #: [s]


class TrialState(NamedTuple):
    """How far a trial is."""

    until: float               #: where it ends [s]
    values: tuple[float, ...]  #: of its windows so far; nan where nothing is known
    done: bool


class Trial:
    """Measures windows of a simulation, which the caller steps, from now to the time `until` [s]. Raises ValueError
    where there is nothing of the name to be measured."""

    def __init__(self, windows: Sequence[Window], until: float, sim: Simulation) -> None:
        self.until, self.done = until, False
        self._meters = [(window, measured(window.of, sim.labels.bodies)()) for window in windows]
        self.note(sim)

    def note(self, sim: Simulation) -> None:
        """Take the present instant, after a step. Times count as equal within half a step."""
        half = 0.5 * sim.settings.h
        for window, meter in self._meters:
            if window.since - half < sim.time < window.until + half:
                meter.note(sim)
        self.done = sim.time > self.until - half

    @property
    def state(self) -> TrialState:
        return TrialState(self.until, tuple(float(meter.value()) for _, meter in self._meters), self.done)
