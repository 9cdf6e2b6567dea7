"""A step of a lesson run without a window: as the app runs it, to the last bit."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..run.trial import Trial, Window
from ..simulation.simulation import Simulation
from .lesson import Lesson, settings_to_send
from .questions import windows


class Played(NamedTuple):
    """The run of a step."""

    sim: Simulation          #: at the end of the run
    values: dict[str, float]  #: what its question measures, by name


def steps_to(at: float, h: float) -> int:
    """How many steps of h [s] lead from the start to the time `at` [s]."""
    return round(at / h)


def simulation_of(lesson: Lesson, number: int) -> Simulation:
    """The simulation of a step that has something to run, at the instant that the step shows at first. Raises
    ValueError and CannotStep as the engine does."""
    run, step = lesson.runs[number], lesson.steps[number]
    assert run is not None
    sim = Simulation(run.scene)
    for name, value in settings_to_send(run, step).items():
        changed: dict[str, Any] = {name: value}
        sim.set(**changed)
    sim.reset()
    for _ in range(steps_to(step.at, sim.settings.h)):
        sim.step()
    return sim


def windows_of(lesson: Lesson, number: int, h: float) -> dict[str, Window]:
    """What is measured of a step's run in steps of h [s], by name; nothing where it asks nothing."""
    step = lesson.steps[number]
    if step.question is None or step.until is None:
        return {}
    return windows(step.question, step.at, step.until, h)


def play(lesson: Lesson, number: int, begun: Simulation | None = None, note: Callable[[], object] = lambda: None
         ) -> Played:
    """Run a step, which has a time at which it ends, and measure. begun: as `simulation_of` gives it; note: is called
    after every step."""
    sim, until = begun or simulation_of(lesson, number), lesson.steps[number].until
    assert until is not None
    wanted = windows_of(lesson, number, sim.settings.h)
    trial = Trial(tuple(wanted.values()), until, sim)
    while not trial.done:
        sim.step()
        trial.note(sim)
        note()
    return Played(sim, dict(zip(wanted, trial.state.values, strict=True)))
