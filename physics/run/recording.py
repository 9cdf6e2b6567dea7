"""A recorded run as data: pages of steps, and how a page becomes text and bytes and comes back checked.

A page holds some steps in a row on all sides of a comparison (a run without comparison has one side): the state that
they begin with, the settings and loads of each step, a hash of each state, events and contact sets. All else that was
seen of the run follows from making the steps again. A page that begins before the end of the one before it is a branch:
it replaces what was recorded from its first step on.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.limits import EVENTS, RUN_ROWS, RUN_STEPS
from ..core.model import Array, Model
from ..core.report import Event, JointImpulse, Reason, Settings
from ..core.state import Case, Owner, State
from ..dynamics.forces import Loads, empty_loads
from ..laws.soft import LAWS
from ..look.timeline import BODY_A, BODY_B, END, Bars
from ..methods.choices import check_settings
from ..scene.build import Setup
from ..scene.scene import Scene
from ..simulation.history import BUDGET, EMPTY, HASH, History, Inputs, Keyframe, Stretch, arrays
from ..simulation.simulation import Simulation

LAST_STEP = 2**53       # greatest number of a step in a file
LAST_MODE = 2           # greatest `Surfaces.mode`
LONGEST_NAME = 40       # characters of a name in a sentence
#: columns of the tables of a state that grow with its contacts -> which table
TABLES = {id(a): k for k, part in enumerate((EMPTY.memory, EMPTY.surfaces, (*EMPTY.sleep.contacts, EMPTY.sleep.facing)))
          for a in part if len(a) == 0}


class UnknownLaw(ValueError):
    """A run was computed by a soft law of a script, which this process does not have."""


class Mark(NamedTuple):
    """From a step of the clock on, a side makes `count` of its own steps in one step of the clock."""

    clock: int  #: number of the step of the clock
    own: int    #: number of the own step at that instant
    count: int


class SidePage(NamedTuple):
    """What a page holds of one side."""

    stretch: Stretch
    events: tuple[Event, ...]         #: of these steps
    marks: tuple[Mark, ...]           #: all up to now
    bars: tuple[float, Array] | None  #: a time [s] and the bars (k, 6) since then, see `Bars`; None: on a later page


Page = tuple[SidePage, ...]


class Heading(NamedTuple):
    """What a recording begins with."""

    scene: Scene
    coordinates: tuple[str, ...]  #: of the joints on each side, "" = as the scene says


class Track:
    """What is recorded of one side. `join` adds pages in their order."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.history = History(budget)
        self.events: list[Event] = []
        self.bars = Bars()
        self.marks: list[Mark] = [Mark(0, 0, 1)]

    def join(self, page: SidePage) -> None:
        """Go on with the next page. What was known of its steps gives way to it."""
        first = page.stretch.keyframe.step
        self.history.join(page.stretch)
        while self.events and self.events[-1].step > first:
            self.events.pop()
        self.events = [*self.events, *page.events][-2 * EVENTS.most :]
        self.marks = list(page.marks)
        if page.bars is not None:
            self.bars.join(*page.bars)


@dataclass(frozen=True)
class Recording:
    """A recorded run, as it is read from a file. It is opened once: the run that goes on takes over its tracks."""

    heading: Heading
    tracks: tuple[Track, ...]
    versions: dict[str, str] = field(default_factory=dict)  #: of the programs that made it, by name
    notes: tuple[str, ...] = ()                             #: what is missing of it
    path: Path | None = None                                #: file it was read from
    leftover: Path | None = None                            #: folder of the journal it was read from

    @property
    def scene(self) -> Scene:
        return self.heading.scene

    @property
    def span(self) -> tuple[float, float]:
        """Simulated time of its first and of its last state [s]."""
        history = self.tracks[0].history
        last, h = history.keyframes[-1], history.inputs(history.last).settings.h
        return history.keyframes[0].time, last.time + (history.last + 1 - last.step) * h

    def simulation(self, side: int) -> Simulation:
        """A simulation that stands at the first state of a side, to replay it."""
        coordinates, track = self.heading.coordinates[side], self.tracks[side]
        simulation = Simulation(self.scene.with_coordinates(coordinates) if coordinates else self.scene)
        simulation.open_history(track.history, track.events)
        return simulation


# ------------------------------------------------------------------------------------------------ to a file


def encode(page: Page) -> tuple[bytes, bytes]:
    """A page as JSON, which says what it holds, and the numbers of its states and bars as bytes, little end first."""
    numbers, sides = [], []
    for stretch, events, marks, bars in page:
        numbers.append(stretch.keyframe.data)
        if bars is not None:
            numbers.append(bars[1].tobytes())
        sides.append({
            "step": stretch.keyframe.step, "count": stretch.count, "shapes": stretch.keyframe.shapes,
            "hashes": stretch.hashes.hex(),
            "inputs": [{"step": step, "settings": asdict(given.settings),
                        "loads": None if given.loads is None else _sparse(given.loads)}
                       for step, given in stretch.inputs],
            "events": [event._asdict() for event in events], "marks": marks,
            "bars": None if bars is None else {"since": bars[0], "rows": len(bars[1])},
        })
    return json.dumps({"sides": sides}).encode(), b"".join(numbers)


def _sparse(loads: Loads) -> dict[str, list[tuple[int, float]]]:
    """The entries of each array whose bits are not all 0."""
    given = {}
    for name, array in loads._asdict().items():
        bits = array.ravel().view(f"u{array.itemsize}")
        if len(at := np.flatnonzero(bits)):
            given[name] = list(zip(at.tolist(), array.ravel()[at].tolist(), strict=True))
    return given


def layout() -> list[str]:
    """The arrays of a state in their order, with the type and width of their rows: what its bytes mean."""
    def named(part: Any, name: str) -> Iterator[str]:
        if isinstance(part, np.ndarray):
            yield f"{name} {part.dtype.str} {'x'.join(map(str, part.shape[1:]))}".strip()
        else:
            for inner, value in part._asdict().items():
                yield from named(value, f"{name}.{inner}" if name else inner)

    return list(named(EMPTY, ""))


# ---------------------------------------------------------------------------------------------- from a file


def decode(text: bytes, numbers: bytes, setups: list[Setup]) -> Page:
    """A page that `encode` wrote, of a scene that is built so on each side. Raises ValueError where it is none, or is
    not of this scene."""
    sides = json.loads(text)["sides"]
    _demand(len(sides) == len(setups), "it has another number of sides")
    at, page = 0, []
    for side, setup in zip(sides, setups, strict=True):
        found, at = _side(side, numbers, at, setup)
        page.append(found)
    _demand(at == len(numbers), "its numbers are more than it says")
    return tuple(page)


def _demand(true: bool, otherwise: str) -> None:
    if not true:
        raise ValueError(otherwise)


def _count(value: Any, most: int, least: int = 0) -> int:
    _demand(type(value) is int and least <= value <= most, "a number is out of range")
    return value


def _side(side: dict[str, Any], numbers: bytes, at: int, setup: Setup) -> tuple[SidePage, int]:
    step, count = _count(side["step"], LAST_STEP), _count(side["count"], RUN_STEPS.most, 1)
    shapes = tuple(tuple(_count(n, RUN_ROWS.most) for n in shape) for shape in side["shapes"])
    size = _size_of(shapes, setup.state)
    _demand(at + size <= len(numbers), "a state is cut off")
    keyframe = Keyframe(step, numbers[at : at + size], shapes)
    _check_state(keyframe.state, setup.model)
    at += size
    hashes = bytes.fromhex(side["hashes"])
    _demand(len(hashes) in (count * HASH, (count + 1) * HASH), "its hashes are not those of its steps")
    inputs = tuple((_count(row["step"], step + count - 1, step), _inputs(row, setup)) for row in side["inputs"])
    _demand(bool(inputs) and inputs[0][0] == step, "the settings of its first step are missing")
    events = tuple(_event(row, setup) for row in side["events"])
    marks = tuple(Mark(*(_count(n, LAST_STEP) for n in row)) for row in side["marks"])
    _demand(bool(marks) and all(mark.count > 0 for mark in marks), "its clock is missing")
    bars = None
    if side["bars"] is not None:
        rows = _count(side["bars"]["rows"], RUN_ROWS.most)
        _demand(at + 48 * rows <= len(numbers), "its contact sets are cut off")
        table = np.frombuffer(numbers, float, 6 * rows, at).reshape(rows, 6)
        at += 48 * rows
        _demand(bool(np.isfinite(np.delete(table, END, axis=1)).all()), "its contact sets are not finite")
        bodies = table[:, [BODY_A, BODY_B]]
        _demand(bool(((bodies >= 0) & (bodies < len(setup.labels.bodies))).all()), "its contact sets name no bodies")
        bars = _number(side["bars"]["since"]), table
    return SidePage(Stretch(keyframe, count, hashes, inputs), events, marks, bars), at


def _size_of(shapes: tuple[tuple[int, ...], ...], like: State) -> int:
    """Bytes of a state of these shapes; ValueError where they are not those of a state of the scene."""
    wanted = list(arrays(like))
    _demand(len(shapes) == len(wanted), "a state has other parts")
    rows: dict[int, int] = {}  # of each table
    for shape, array, empty in zip(shapes, wanted, arrays(EMPTY), strict=True):
        there = array.shape[0]
        if id(empty) in TABLES:
            there = rows.setdefault(TABLES[id(empty)], shape[0] if shape else -1)
        _demand(shape == (there, *array.shape[1:]), "a state has other bodies, joints or tables")
    return sum(math.prod(shape) * array.itemsize for shape, array in zip(shapes, wanted, strict=True))


def _check_state(state: State, model: Model) -> None:
    """ValueError where kernels must not be given this state."""
    surfaces, memory, sleep = state.surfaces, state.memory, state.sleep
    finite = (state.t, *state.bodies, *state.joints, surfaces.surface_z, surfaces.surface_x, surfaces.start,
              sleep.held, sleep.facing)
    _demand(all(np.isfinite(a).all() for a in finite), "a state is not finite")
    _demand(bool((np.linalg.norm(state.bodies.q, axis=1) > 0.5).all()), "a state has an orientation of no length")
    for part in (memory, surfaces, sleep.contacts):
        count = int(part.count[0])
        _demand(0 <= count <= len(part.key), "a state has more contacts than it lists")
        shapes = part.shapes[:count]
        _demand(bool(((shapes >= 0) & (shapes < len(model.shapes.body))).all()), "a state has contacts of no shapes")
    _demand(int(memory.owner[0]) in list(Owner), "a state has contacts of no method")
    islands = (sleep.island >= -1) & (sleep.island < len(model.kind))
    _demand(bool(islands.all() and (sleep.calm >= 0).all()), "a state has islands of no bodies")
    mode = surfaces.mode[: int(surfaces.count[0])]
    _demand(bool(((mode >= 0) & (mode <= LAST_MODE)).all()), "a state has surfaces of no kind")


def _inputs(row: dict[str, Any], setup: Setup) -> Inputs:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in row["settings"].items()}
    _demand(values.keys() == asdict(Settings()).keys(), "it has settings that this version does not know")
    if values["law"] not in LAWS:
        raise UnknownLaw(f"was computed by the soft law {str(values['law'])[:LONGEST_NAME]!r}, which a script had "
                         "made; a window that a script opens after contactlab.soft_law knows the law")
    changed = {name: value for name, value in values.items() if value != getattr(Settings(), name)}
    return Inputs(check_settings(Settings(), changed), None if row["loads"] is None else _loads(row["loads"], setup))


def _loads(given: dict[str, Any], setup: Setup) -> Loads:
    loads = empty_loads(len(setup.labels.bodies), len(setup.state.joints.v))
    loads.grab_body[0] = 0  # where it is not given, its bits are 0
    for name, entries in given.items():
        _demand(name in Loads._fields, "it has loads that this version does not know")
        flat = getattr(loads, name).reshape(-1)
        for at, value in entries:
            flat[_count(at, len(flat) - 1)] = _number(value)
    _demand(-1 <= loads.grab_body[0] < len(setup.labels.bodies), "a load is on no body")
    return loads


def _number(value: Any) -> float:
    _demand(type(value) in (int, float) and math.isfinite(value), "a number is not finite")
    return value


def _event(row: dict[str, Any], setup: Setup) -> Event:
    """Bodies and joints are those of the scene, -1 for the world; the numbers are only shown."""
    bodies, joints = len(setup.labels.bodies), len(setup.model.joints.type)
    a, b = (_count(body, bodies - 1, -1) for body in row["bodies"])
    _demand(isinstance(row["kind"], str), "an event has no kind")
    return Event(
        row["kind"], _count(row["step"], LAST_STEP), _number(row["t"]), (a, b),
        _three(row["point"]), _three(row["normal"]), _three(row["impulse"]), float(row["energy_before"]),
        float(row["energy_after"]), _count(row["case_after"], len(Case)), _count(row["limit"], joints - 1, -1),
        tuple(JointImpulse(_count(j, joints - 1), _three(p), _three(f), _three(m)) for j, p, f, m in row["joints"]),
        _reason(row.get("reason")),
    )


def _reason(given: Any) -> Reason | None:
    """None also for runs of versions that kept no reasons."""
    if given is None:
        return None
    what, value, bound = given
    _demand(isinstance(what, str), "a reason has no name")
    return Reason(what, float(value), float(bound))


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = values
    return float(x), float(y), float(z)
