"""Runs that are shown, brought from instant to instant."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...physics.core.language import _
from ...physics.run.messages import Command, Compare, Recording, SetSpeed, Side, Snapshot, Step
from ...physics.run.runner import Runner
from ...physics.scene.scene import Scene


@dataclass(frozen=True)
class Run:
    """What is run, or was run: `recording` is of a run of the scene, to be replayed."""

    scene: Scene
    settings: Mapping[str, Any] = field(default_factory=dict)  #: override the scene's own
    recording: Recording | None = None
    title: str = ""                                            #: "" = the scene's


def titles_of(runs: Sequence[Run]) -> list[str]:
    """A title for each run."""
    return [_(one.title or one.scene.title) or one.scene.name for one in runs]


class Reel:
    """A run that is brought from instant to instant, never back."""

    def __init__(self, run: Run, speed: float, compare: Sequence[str] = ()) -> None:
        """compare: methods to be shown side by side. Raises ValueError where the scene cannot be run by one of them."""
        self.name = run.scene.name
        self.span = (0.0, math.inf) if run.recording is None else run.recording.span
        self._runner = Runner(run.scene, run.settings, paused=True, recording=run.recording)
        self._runner.begin()
        self.send(SetSpeed(speed))
        if compare:
            compare_methods(self._runner, compare)
        if run.recording is None:
            self.span = self.now.t, math.inf

    @property
    def now(self) -> Snapshot:
        """Where it stands."""
        assert self._runner.latest is not None
        return self._runner.latest

    def send(self, command: Command) -> None:
        """Have a command carried out. ValueError where the engine fails."""
        self._runner.send(command)
        self._runner.tick()
        if self.now.error and self._runner.failure:
            raise ValueError(f"{self.name} stopped at t = {self.now.t:.3f} s: {self.now.error}")

    def to(self, t: float, say: Callable[[str], None] = lambda sentence: None, each: Callable[[], None] | None = None
           ) -> None:
        """Make the steps that end by the time t [s]. say: is told why the run should pause; each: is called after every
        step."""
        while (count := math.floor((t - self.now.t) / self.now.h + 1e-6)) > 0:
            before = self.now.t
            self.send(Step(1 if each is not None else count))
            if self.now.error:
                say(f"t = {self.now.t:.6g} s: {self.now.error}")
            if self.now.t <= before:
                return
            if each is not None:
                each()


def compare_methods(runner: Runner, methods: Sequence[str]) -> None:
    """Put methods side by side; ValueError in one sentence where the scene cannot be run by one of them."""
    assert runner.latest is not None
    settings = runner.latest.settings
    runner.send(Compare(tuple(Side(replace(settings, method=method)) for method in methods)))
    runner.tick()
    if not runner.latest.sides:
        raise ValueError(f"the methods cannot be compared: {runner.latest.notice}")
