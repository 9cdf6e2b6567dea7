"""A user's script that drives a simulation in the window: its function of every step, and the panel that it fills.

The script and its panel live on the physics thread. What is to be seen of the panel goes out with every snapshot as a
`ShownPanel`; what the user does to it comes in as a command, SetControl.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.limits import SCRIPT_ARROWS, SCRIPT_CURVES, SCRIPT_POINTS
from ..core.model import Array
from ..simulation.simulation import Simulation

LATELY = 0.1  # weight of the last step in `Script.seconds`
Step = Callable[[Simulation], object]


def simulation_given(given: Any) -> Simulation:
    """What a script has given as its simulation. Raises ValueError, in one sentence, where it is none."""
    if not isinstance(given, Simulation):
        raise ValueError(f"{reprlib.repr(given)} is no Simulation; contactlab.Simulation(scene) makes one of a scene.")
    return given


class Control:
    """A slider, check box, list or button of a panel; `value` is what it stands at."""

    def __init__(self, kind: str, name: str, value: Any, **limits: Any) -> None:
        self.kind, self.name, self.value = kind, name, value
        self.low, self.high = limits.get("low", 0.0), limits.get("high", 0.0)
        self.unit, self.logarithmic = limits.get("unit", ""), limits.get("logarithmic", False)
        self.options: tuple[str, ...] = tuple(limits.get("options", ()))

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r} at {self.value!r}>"

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def pressed(self) -> bool:
        """Of a button: whether it was pressed since this was asked last."""
        was, self.value = bool(self.value), False
        return was

    def set(self, value: Any) -> None:
        """Put it to a value, as the user does. Raises ValueError where it does not allow it."""
        match self.kind:
            case "slider" if isinstance(value, int | float) and self.low <= value <= self.high:
                self.value = float(value)
            case "choice" if value in self.options:
                self.value = value
            case "checkbox" | "button" if isinstance(value, bool):
                self.value = value
            case _:
                allowed = {"slider": f"a number from {self.low:g} to {self.high:g}",
                           "choice": f"one of {', '.join(self.options)}"}.get(self.kind, "True or False")
                raise ValueError(f"{self.name!r} must be {allowed}, not {value!r}")


class ShownControl(NamedTuple):
    """A control as the window shows it."""

    kind: str                  #: slider, checkbox, choice, button
    name: str
    value: Any
    low: float
    high: float
    unit: str
    logarithmic: bool
    options: tuple[str, ...]


class ShownCurve(NamedTuple):
    """A curve of the script."""

    name: str
    unit: str
    points: Array  #: (k, 2) t [s] and value


class ShownArrow(NamedTuple):
    """An arrow of the script in the view; one without length is a mark."""

    name: str
    start: tuple[float, float, float]  #: [m]
    end: tuple[float, float, float]    #: [m]


class ShownPanel(NamedTuple):
    """What the window shows of a script at one instant."""

    runs: bool  #: the script's own simulation runs; else another scene was opened in its window
    controls: tuple[ShownControl, ...]
    texts: tuple[tuple[str, str], ...]
    curves: tuple[ShownCurve, ...]
    arrows: tuple[ShownArrow, ...]
    seconds: float = 0.0  #: that the script takes a step, of late


class _Points:
    """The last points of a curve, at least `limits.SCRIPT_POINTS` of them."""

    def __init__(self) -> None:
        self._rows, self._count = np.empty((2 * SCRIPT_POINTS.most, 2)), 0

    def add(self, t: float, value: float) -> None:
        if self._count == len(self._rows):
            self._rows[:SCRIPT_POINTS.most] = self._rows[SCRIPT_POINTS.most:]
            self._count = SCRIPT_POINTS.most
        self._rows[self._count] = t, value
        self._count += 1

    def cut(self, t: float) -> None:
        """Drop the points at the time t [s] and later."""
        self._count = int(np.searchsorted(self._rows[: self._count, 0], t))

    @property
    def rows(self) -> Array:
        """(k, 2) t and value, a copy."""
        return self._rows[max(0, self._count - SCRIPT_POINTS.most) : self._count].copy()


class Panel:
    """What a script shows beside its simulation: controls that the user moves, texts, curves over time, arrows.

        panel = Panel()
        gain = panel.slider("gain", 0, 10)

        def step(sim):
            angle = sim.joint("pin").position
            sim.joint("pin").force = -gain.value * angle
            panel.plot("angle", angle, unit="rad")

        contactlab.view(sim, step, panel)
    """

    def __init__(self) -> None:
        self._controls: dict[str, Control] = {}
        self._texts: dict[str, str] = {}
        self._curves: dict[str, tuple[str, _Points]] = {}
        self._arrows: list[ShownArrow] = []
        self._t, self._heard = 0.0, True

    # ------------------------------------------------------------------------------------------- declared once

    def slider(self, name: str, low: float, high: float, value: float | None = None, unit: str = "",
               logarithmic: bool = False) -> Control:
        """A slider from `low` to `high`, which begins at `value` (else in the middle); `.value` is a float."""
        if not (np.isfinite([low, high]).all() and low < high and (low > 0.0 or not logarithmic)):
            raise ValueError(f"slider {name!r} must go from a number to a greater one (both > 0 where it is "
                             f"logarithmic), not from {low!r} to {high!r}")
        middle = float(np.sqrt(low * high)) if logarithmic else 0.5 * (low + high)
        made = Control("slider", name, middle, low=float(low), high=float(high), unit=unit, logarithmic=logarithmic)
        return self._declare(made, value)

    def checkbox(self, name: str, value: bool = False) -> Control:
        """A check box; `.value` is True or False."""
        return self._declare(Control("checkbox", name, False), value)

    def choice(self, name: str, options: Sequence[str], value: str | None = None) -> Control:
        """A list to choose from; `.value` is one of `options`, at first `value` (else the first)."""
        if not options:
            raise ValueError(f"choice {name!r} must have options")
        return self._declare(Control("choice", name, options[0], options=options), value)

    def button(self, name: str) -> Control:
        """A button; `.pressed()` tells whether it was pressed since it was asked last."""
        return self._declare(Control("button", name, False), None)

    def _declare(self, control: Control, value: Any) -> Control:
        if control.name in self._controls:
            raise ValueError(f"the panel has a control {control.name!r} already")
        if value is not None:
            control.set(value)
        self._controls[control.name] = control
        return control

    def set(self, name: str, value: Any) -> None:
        """Put a control to a value, as the user does."""
        if name not in self._controls:
            raise ValueError(f"the script has no control {name!r}")
        self._controls[name].set(value)

    # ----------------------------------------------------------------------------------------- told every step

    def text(self, name: str, value: Any) -> None:
        """Show a text or a number, without or with its unit, beside its name."""
        if self._heard:
            self._texts[name] = f"{value:.4g}" if isinstance(value, float) else str(value)

    def plot(self, name: str, value: float, unit: str = "") -> None:
        """Add a point, at the present time, to the curve of this name in the tab *Script*."""
        if not self._heard:
            return
        if name not in self._curves:
            if len(self._curves) == SCRIPT_CURVES.most:
                raise ValueError(f"a script has up to {SCRIPT_CURVES}; {name!r} is one more")
            self._curves[name] = unit, _Points()
        self._curves[name][1].add(self._t, float(value))

    def arrow(self, start: Any, vector: Any, name: str = "") -> None:
        """Draw an arrow in the view, from a world point along a vector (3,) [m], until the next step; its name stands
        at its tip. Scale what is no length: 0.01 * force."""
        a, d = np.array(start, float), np.array(vector, float)
        if a.shape != (3,) or d.shape != (3,) or not (np.isfinite(a).all() and np.isfinite(d).all()):
            raise ValueError("an arrow needs a point and a vector of three finite numbers each")
        if self._heard and len(self._arrows) < SCRIPT_ARROWS.most:
            x, y = a.tolist(), (a + d).tolist()
            self._arrows.append(ShownArrow(name, (x[0], x[1], x[2]), (y[0], y[1], y[2])))

    def mark(self, point: Any, name: str = "") -> None:
        """Mark a world point (3,) [m] in the view until the next step."""
        self.arrow(point, (0.0, 0.0, 0.0), name)

    def begin(self, t: float, heard: bool = True) -> None:
        """A step begins at the time t [s]: what the script draws until the next one belongs to it, and curves are cut
        there. heard: False where it is the step of a second side, whose curves would run through those of the first."""
        self._heard = heard
        if not heard:
            return
        self._t = t
        self._arrows.clear()
        for _, points in self._curves.values():
            points.cut(t)

    def shown(self, runs: bool, seconds: float = 0.0) -> ShownPanel:
        """As the window shows it now; seconds: that the script takes a step."""
        return ShownPanel(
            runs, tuple(ShownControl(c.kind, c.name, c.value, c.low, c.high, c.unit, c.logarithmic, c.options)
                        for c in self._controls.values()),
            tuple(self._texts.items()),
            tuple(ShownCurve(name, unit, points.rows) for name, (unit, points) in self._curves.items()),
            tuple(self._arrows) if runs else (), seconds)


class Script:
    """A simulation made by a script, the function that is called before each of its steps, and the panel."""

    def __init__(self, simulation: Simulation, step: Step | None = None, panel: Panel | None = None,
                 clock: Callable[[], float] = lambda: 0.0) -> None:
        self.simulation = simulation
        self.step = step if step is not None else simulation.controller
        self.law = simulation.force_law
        self.seconds = 0.0    #: that step and law take, of late
        self._called = False  # before: the first call may compile
        self._begun, self._clock = 0.0, clock
        self.panel = panel if panel is not None else Panel()

    def shown(self, runs: bool) -> ShownPanel:
        """The panel as the window shows it now."""
        return self.panel.shown(runs, self.seconds)

    def drive(self, simulations: Sequence[Simulation]) -> None:
        """Let the script drive these: the sides of a comparison, of which the panel shows the first, or its own alone.
        """
        for side, simulation in enumerate(simulations):
            simulation.controller = partial(self._call, side == 0)
            simulation.force_law = self._force if self.law is not None else None

    def _call(self, first: bool, simulation: Simulation) -> None:
        self.panel.begin(simulation.time, first)
        self._begun = self._clock()
        if self.step is not None:
            self.step(simulation)
        if self.law is None:
            self._note()

    def _force(self, *arrays: Any) -> None:
        """The force law, which is called after the step."""
        assert self.law is not None
        self.law(*arrays)
        self._note()

    def _note(self) -> None:
        """What the script took before this step."""
        if self._called:
            self.seconds += LATELY * (self._clock() - self._begun - self.seconds)
        self._called = True
