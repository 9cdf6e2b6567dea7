"""What is measured of a run, by name: of the runs of a sweep, and of one that answers a question."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..books.events import EVENT_KINDS
from ..look.quantities import QUANTITIES, Sample, named
from ..simulation.simulation import Simulation

REST = 1e-6  # a body at rest has at most this share of the greatest kinetic energy of the run
STATISTICS = ("end", "max", "min", "mean")
KINDS = (*EVENT_KINDS, "stick", "slip", "turn", "turn_ends", "inconsistent")  #: of events that can be counted and dated
TIME_OF, LAST_OF, NUMBER_OF = "time of ", "last time of ", "number of "

Meter = Callable[[Simulation], None]


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


def _times(kind: str, of: str | None = None) -> tuple[Meter, list[float]]:
    """What notes when events happen, of one kind or ("") of all, and of one body or pair of bodies or of all [s]."""
    times: list[float] = []
    begun = False

    def note(sim: Simulation) -> None:
        nonlocal begun
        of_bodies = set() if of is None else {sim.number(body) for body in whose(of, sim.labels.bodies) or ()}
        if begun:  # the step that led to the start is not of the run
            times.extend(e.t for e in sim.last_events if kind in ("", e.kind) and of_bodies <= set(e.bodies))
        begun = True

    return note, times


def whose(text: str, bodies: Sequence[str]) -> tuple[str, ...] | None:
    """The body, or the two bodies "A and B", that a text names; None where there are no such ones."""
    if text in bodies:
        return (text,)
    parts = text.split(" and ")
    ways = ((" and ".join(parts[:k]), " and ".join(parts[k:])) for k in range(1, len(parts)))
    return next((pair for pair in ways if pair[0] in bodies and pair[1] in bodies and pair[0] != pair[1]), None)


def _count(kind: str, of: str | None = None) -> Measured:
    note, times = _times(kind, of)
    return Measured(note, lambda: float(len(times)))


def _first(kind: str, of: str | None) -> Measured:
    """When such an event happened first [s]; nan where none did."""
    note, times = _times(kind, of)
    return Measured(note, lambda: min(times, default=math.nan))


def _last(kind: str, of: str | None) -> Measured:
    """When such an event happened last [s]; nan where none did."""
    note, times = _times(kind, of)
    return Measured(note, lambda: max(times, default=math.nan))


def _quantity(name: str, body: str | None, statistic: str) -> Measured:
    """A quantity at the end, or its greatest, least or mean value over all steps that know it; nan where none does."""
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

    def value() -> float:
        if not values:
            return math.nan
        return values[0] / values[1] if statistic == "mean" else values[0]

    return Measured(note, value)


OWN_MEASURES: dict[str, Callable[[], Measured]] = {
    "rest time": _rest_time, "events": lambda: _count(""), "impacts": lambda: _count("impact"),
}


def measured(text: str, bodies: Sequence[str]) -> Callable[[], Measured]:
    """What a measure named by a text makes of every run of a scene with these bodies: "rest time", "events",
    "impacts", "time of EVENT[:BODY]" of the first such event, "last time of EVENT[:BODY]", "number of EVENT[:BODY]",
    each also of a pair, EVENT:A and B, or QUANTITY[:BODY][:max], with end, max, min or mean. Raises ValueError where
    there is no such quantity, kind of event or body."""
    if text in OWN_MEASURES:
        return OWN_MEASURES[text]
    name, _, rest = text.partition(":")
    for prefix, make in ((TIME_OF, _first), (LAST_OF, _last), (NUMBER_OF, _count)):
        if name.startswith(prefix):
            return _of_events(make, name.removeprefix(prefix), rest or None, bodies)
    if name not in QUANTITIES:
        raise ValueError(f"a measure must be one of {', '.join([*OWN_MEASURES, *QUANTITIES])}, \"time of EVENT\" or "
                         f"\"number of EVENT\", not {name!r}")
    before, _, last = rest.rpartition(":")
    body, statistic = (before or None, last) if last in STATISTICS else (rest or None, "end")
    named(name if body is None else f"{name}:{body}", bodies)
    return lambda: _quantity(name, body, statistic)


def _of_events(make: Callable[[str, str | None], Measured], kind: str, body: str | None, bodies: Sequence[str]
               ) -> Callable[[], Measured]:
    if kind not in KINDS:
        raise ValueError(f"an event must be one of {', '.join(KINDS)}, not {kind!r}")
    if body is not None and whose(body, bodies) is None:
        raise ValueError(f"there is no body {body!r}; this scene has {', '.join(bodies[:8])}")
    return lambda: make(kind, body)
