"""A sweep: one scene run for every combination of some values, and what is measured of each run.

A parameter is a setting (restitution, h, method, …) or the place of a number in the scene's tables, "body.ball.mass" or
"body.ball.position.2". A run depends on nothing but its values, so that it comes out the same alone, beside others, in
another process or after a sweep that was cut off.
"""

import hashlib
import json
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from ..core.limits import RUNS
from ..core.settings import SETTINGS
from ..laws.soft import LAWS
from ..methods.choices import check_settings
from ..scene.scene import Scene
from ..simulation.failure import CannotStep, script_reason
from ..simulation.simulation import Simulation
from .function_mark import function_mark
from .measures import measured

LONGEST_RUN = 1e5       # [s] of simulated time
REASON = "reason"       # column: why a run failed, "" where it did not

Row = dict[str, Any]
Start = Callable[[Simulation], object]


# -------------------------------------------------------------------------------------------------- the sweep


@dataclass(frozen=True)
class Sweep:
    """What is run and measured. Making one checks it: ValueError says what is wrong, before anything runs."""

    scene: Scene
    vary: Mapping[str, Sequence[Any]]                        #: parameter -> its values
    measures: Sequence[str] = ("rest time",)                 #: names, see `measured`
    until: float = 5.0                                       #: simulated time of each run [s]
    settings: Mapping[str, Any] = field(default_factory=dict)  #: of all runs
    #: further measures: a function of the simulation at the end of a run
    functions: Mapping[str, Callable[[Simulation], float]] = field(default_factory=dict)
    start: Start | None = None  #: is called with the simulation of each run before its first step

    def __post_init__(self) -> None:
        if not self.vary or not (self.measures or self.functions):
            raise ValueError("a sweep needs at least one parameter to vary and one measure")
        if empty := [name for name, values in self.vary.items() if not len(values)]:
            raise ValueError(f"{empty[0]!r} has no values to take")
        if self.count > RUNS.most:
            each = " x ".join(str(len(values)) for values in self.vary.values())
            raise ValueError(f"these are {self.count:,} runs ({each}); a sweep has up to {RUNS.most:,}")
        if not 0.0 < self.until <= LONGEST_RUN:
            raise ValueError(f"each run must go to a time from 0 to {LONGEST_RUN:g} s, not {self.until:g}")
        if twice := {*self.vary} & {*self.settings}:
            raise ValueError(f"{min(twice)!r} is varied and set as well")
        if len({*self.columns}) < len(self.columns):
            raise ValueError("parameters and measures must have different names")
        bodies = self.scene.build().labels.bodies
        for name in self.measures:
            measured(name, bodies)
        for name, values in self.vary.items():
            for value in values:
                if name in SETTINGS:
                    self._check_setting(name, value)
                else:
                    replaced(self.scene, {name: value})

    def _check_setting(self, name: str, value: Any) -> None:
        """Raises ValueError where a setting cannot have this value in any of the runs: a method may refuse what another
        one takes."""
        settings, refused = Simulation(self.scene).settings, None
        choices = {other: values for other, values in self.vary.items()
                   if other in SETTINGS and SETTINGS[other].kind is str and other != name}
        for chosen in product(*choices.values()):
            others = {**self.settings, **dict(zip(choices, chosen, strict=True))}
            try:
                check_settings(settings, {**others, name: _plain(value)})
                return
            except ValueError as error:
                refused = refused or error
        if refused is not None:
            raise refused

    @property
    def count(self) -> int:
        """Number of runs."""
        return math.prod(len(values) for values in self.vary.values())

    @property
    def columns(self) -> list[str]:
        """Headings of the table."""
        return [*self.vary, *self.measures, *self.functions, REASON]

    def points(self) -> Iterator[tuple[Any, ...]]:
        """The values of every run, in order: the last parameter changes fastest."""
        return product(*self.vary.values())

    @property
    def mark(self) -> str:
        """A hash of all that the rows depend on: a sweep goes on only with rows of its own."""
        of = {"scene": self.scene.tables.model_dump(mode="json", exclude_defaults=True),
              "vary": {name: list(map(_plain, values)) for name, values in self.vary.items()},
              "measures": list(self.measures), "until": self.until,
              "functions": {name: function_mark(function) for name, function in self.functions.items()},
              "start": function_mark(self.start),
              "laws": {name: function_mark(LAWS[name].force) for name in self._laws},
              "settings": {name: _plain(value) for name, value in self.settings.items()}}
        return hashlib.sha256(json.dumps(of, sort_keys=True, default=str).encode()).hexdigest()[:16]

    @property
    def _laws(self) -> list[str]:
        """Laws of soft surfaces that are named."""
        named = {*self.vary.get("law", ()), self.settings.get("law")}
        return [name for name in LAWS if name in named]

    def simulation(self, values: Sequence[Any]) -> Simulation:
        """The simulation of one run at its start. Raises ValueError, CannotStep."""
        given = dict(zip(self.vary, values, strict=True))
        places = {name: value for name, value in given.items() if name not in SETTINGS}
        sim = Simulation(replaced(self.scene, places) if places else self.scene)
        chosen = {**self.settings, **{name: value for name, value in given.items() if name in SETTINGS}}
        now = asdict(sim.settings)
        sim.set(**{name: value for name, value in chosen.items() if value != now[name]})
        if self.start is not None:
            try:
                self.start(sim)
            except Exception as error:
                raise CannotStep(script_reason(error, sim.time)) from error
        return sim

    def run(self, values: Sequence[Any]) -> Row:
        """The row of one run. One that fails has nan for its measures and says why."""
        steps = self.steps(values)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    def steps(self, values: Sequence[Any]) -> Generator[None, None, Row]:
        """The same, a step at a time: a generator that returns the row."""
        row: Row = {name: _plain(value) for name, value in zip(self.vary, values, strict=True)}
        try:
            found = yield from self._measure(values)
        except (CannotStep, ValueError) as error:
            nothing = dict.fromkeys([*self.measures, *self.functions], math.nan)
            return row | nothing | {REASON: str(error) or type(error).__name__}
        return row | found | {REASON: ""}

    def _measure(self, values: Sequence[Any]) -> Generator[None, None, dict[str, float]]:
        sim = self.simulation(values)
        meters = {name: measured(name, sim.labels.bodies)() for name in self.measures}
        for meter in meters.values():
            meter.note(sim)
        while sim.time < self.until - 0.5 * sim.settings.h:
            sim.step()
            for meter in meters.values():
                meter.note(sim)
            yield
        return {**{name: float(meter.value()) for name, meter in meters.items()},
                **{name: float(function(sim)) for name, function in self.functions.items()}}


def _plain(value: Any) -> Any:
    """A number or word of Python, also where NumPy gave it."""
    return value.item() if hasattr(value, "item") else value


def replaced(scene: Scene, values: Mapping[str, Any]) -> Scene:
    """The scene with other values at places of its tables, `scene.gravity.2` or "body.ball.mass": table, name in a list
    of tables (or its number), field, index. Raises ValueError where there is no such place or value."""
    data, every = scene.tables.model_dump(exclude_defaults=True), scene.tables.model_dump()
    for place, value in values.items():
        if "." not in place:
            raise ValueError(f"there is nothing to vary by the name {place!r}: a setting is one of "
                             f"{', '.join(SETTINGS)}; a place in the scene is written body.NAME.FIELD")
        inside, whole, rest = data, every, place
        while True:
            key, rest = _key(inside, rest, place)
            if not rest:
                break
            if isinstance(inside, dict) and key not in inside and isinstance(whole.get(key), tuple | dict):
                inside[key] = whole[key]  # a default, of which one number is to be another
            if key not in inside if isinstance(inside, dict) else False:
                raise ValueError(f"{place!r}: there is no {key!r} among {', '.join(map(str, inside))}")
            if isinstance(inside[key], tuple):
                inside[key] = list(inside[key])
            inside, whole = inside[key], whole[key]
        inside[key] = _plain(value)
    return Scene.from_dict(data, scene.folder)


def _key(inside: Any, rest: str, place: str) -> tuple[Any, str]:
    """The first part of what is left of a place, as a key of what it has led to so far, and what is left then."""
    if isinstance(inside, dict):
        part, _, rest = rest.partition(".")
        return part, rest
    if not isinstance(inside, list):
        raise ValueError(f"{place!r} leads beyond a number or a word")
    names = {item["name"]: k for k, item in enumerate(inside) if isinstance(item, dict) and "name" in item}
    named = [name for name in names if rest == name or rest.startswith(name + ".")]
    if named:  # names may have points, and may begin alike
        name = max(named, key=len)
        return names[name], rest[len(name) + 1 :]
    part, _, rest = rest.partition(".")
    if not part.isdecimal() or int(part) >= len(inside):
        there = ", ".join([*names][:8]) if names else f"0 to {len(inside) - 1}"
        raise ValueError(f"{place!r}: {part!r} must be one of {there}")
    return int(part), rest
