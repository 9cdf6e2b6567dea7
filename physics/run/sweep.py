"""A sweep: one scene run for every combination of some values, and what is measured of each run.

A parameter is a setting (restitution, h, method, …) or the place of a number in the scene's tables, `body.ball.mass` or
`body.ball.position.2`. A run depends on nothing but its values, so that it comes out the same alone, beside others, in
another process or after a sweep that was cut off.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, NamedTuple

from ..core.limits import RUNS
from ..core.settings import SETTINGS
from ..look.quantities import QUANTITIES, Sample, named
from ..methods.choices import check_settings
from ..scene.scene import Scene
from ..simulation.failure import CannotStep
from ..simulation.simulation import Simulation

LONGEST_RUN = 1e5       # [s] of simulated time
REST = 1e-6             # a body at rest has at most this share of the greatest kinetic energy of the run
REASON = "reason"       # column: why a run failed, "" where it did not

Row = dict[str, Any]
Meter = Callable[[Simulation], None]  # is called at the start and after every step


class Measured(NamedTuple):
    """Something that is measured of a run: `note` at the start and after every step, `value` at its end."""

    note: Meter
    value: Callable[[], float]


def _rest_time() -> Measured:
    """When the bodies came to rest: from then on their kinetic energy is at most REST of its maximum so far [s]; nan
    where they still move at the end."""
    peak, since = 0.0, math.nan

    def note(sim: Simulation) -> None:
        nonlocal peak, since
        kinetic = sim.energy().kinetic
        peak = max(peak, kinetic)
        if kinetic > REST * peak:
            since = math.nan
        elif math.isnan(since):
            since = sim.time

    return Measured(note, lambda: since)


def _count(kind: str) -> Measured:
    """Number of events, of one kind or ("") of all."""
    found = 0

    def note(sim: Simulation) -> None:
        nonlocal found
        found += sum(1 for event in sim.last_events if kind in ("", event.kind)) if sim.step_count else 0

    return Measured(note, lambda: float(found))


def _quantity(name: str, body: str | int | None, statistic: str) -> Measured:
    """A quantity at the end, or its greatest, least or mean value over all steps that know it."""
    values: list[float] = []

    def note(sim: Simulation) -> None:
        quantity = QUANTITIES[name]
        at = -1 if body is None else sim.number(body)
        value = quantity.value(Sample(sim.model, sim.state, sim.contacts, sim.info), at)
        match statistic:
            case "end":
                values[:] = [value]
            case "mean":
                values[:] = [values[0] + value, values[1] + 1.0] if values else [value, 1.0]
            case _:
                choose = max if statistic == "max" else min
                values[:] = [value if not values or math.isnan(values[0]) else choose(values[0], value)]

    return Measured(note, lambda: values[0] / values[1] if statistic == "mean" else values[0])


STATISTICS = ("end", "max", "min", "mean")
OWN_MEASURES: dict[str, Callable[[], Measured]] = {
    "rest time": _rest_time, "events": lambda: _count(""), "impacts": lambda: _count("impact"),
}


def measured(text: str, scene: Scene) -> Callable[[], Measured]:
    """What a measure named by a text makes of every run: "rest time", "events", "impacts", or QUANTITY[:BODY][:max],
    with end, max, min or mean. Raises ValueError where there is no such quantity or body."""
    if text in OWN_MEASURES:
        return OWN_MEASURES[text]
    name, _, rest = text.partition(":")
    if name not in QUANTITIES:
        raise ValueError(f"a measure must be one of {', '.join([*OWN_MEASURES, *QUANTITIES])}, not {name!r}")
    before, _, last = rest.rpartition(":")
    body, statistic = (before or None, last) if last in STATISTICS else (rest or None, "end")
    bodies = scene.build().labels.bodies
    named(name if body is None else f"{name}:{body}", bodies)
    return lambda: _quantity(name, body, statistic)


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
        for name in self.measures:
            measured(name, self.scene)
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
              "measures": list(self.measures), "functions": list(self.functions), "until": self.until,
              "settings": {name: _plain(value) for name, value in self.settings.items()}}
        return hashlib.sha256(json.dumps(of, sort_keys=True, default=str).encode()).hexdigest()[:16]

    def simulation(self, values: Sequence[Any]) -> Simulation:
        """The simulation of one run at its start. Raises ValueError, CannotStep."""
        given = dict(zip(self.vary, values, strict=True))
        places = {name: value for name, value in given.items() if name not in SETTINGS}
        sim = Simulation(replaced(self.scene, places) if places else self.scene)
        chosen = {**self.settings, **{name: value for name, value in given.items() if name in SETTINGS}}
        now = asdict(sim.settings)
        sim.set(**{name: value for name, value in chosen.items() if value != now[name]})
        return sim

    def run(self, values: Sequence[Any]) -> Row:
        """The row of one run. One that fails has nan for its measures and says why."""
        row: Row = {name: _plain(value) for name, value in zip(self.vary, values, strict=True)}
        try:
            found = self._measure(values)
        except (CannotStep, ValueError) as error:
            nothing = dict.fromkeys([*self.measures, *self.functions], math.nan)
            return row | nothing | {REASON: str(error) or type(error).__name__}
        return row | found | {REASON: ""}

    def _measure(self, values: Sequence[Any]) -> dict[str, float]:
        sim = self.simulation(values)
        meters = {name: measured(name, self.scene)() for name in self.measures}
        for meter in meters.values():
            meter.note(sim)
        while sim.time < self.until - 0.5 * sim.settings.h:
            sim.step()
            for meter in meters.values():
                meter.note(sim)
        return {**{name: float(meter.value()) for name, meter in meters.items()},
                **{name: float(function(sim)) for name, function in self.functions.items()}}


def _plain(value: Any) -> Any:
    """A number or word of Python, also where NumPy gave it."""
    return value.item() if hasattr(value, "item") else value


def replaced(scene: Scene, values: Mapping[str, Any]) -> Scene:
    """The scene with other values at places of its tables, `scene.gravity.2` or `body.ball.mass`: table, name in a list
    of tables (or its number), field, index. Raises ValueError where there is no such place or value."""
    data = scene.tables.model_dump(exclude_defaults=True)
    for place, value in values.items():
        if "." not in place:
            raise ValueError(f"there is nothing to vary by the name {place!r}: a setting is one of "
                             f"{', '.join(SETTINGS)}; a place in the scene is written body.NAME.FIELD")
        inside, rest = data, place
        while True:
            key, rest = _key(inside, rest, place)
            if not rest:
                break
            if key not in inside if isinstance(inside, dict) else False:
                raise ValueError(f"{place!r}: there is no {key!r} among {', '.join(map(str, inside))}")
            if isinstance(inside[key], tuple):
                inside[key] = list(inside[key])
            inside = inside[key]
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
