"""Undo of what a user does to a run: settings, pulls, placed bodies and resets lead back to the state before."""

from typing import Any, NamedTuple

from ..core.settings import SETTINGS
from ..simulation.commands import Grab, Place, PushJoint, Reset, Set, SimulationCommand
from ..simulation.history import arrays
from ..simulation.standing import Standing

SHARE = 0.25    # memory for the states before changes / memory for going back
ONE_DRAG = 0.7  # time between two commands of a slider that is dragged, at most [wall s]


class Stood(NamedTuple):
    """Where a side of a comparison stood: all that a command may change, apart from what is looked at."""

    standing: Standing
    log: Any
    bars: Any
    modes: Any
    wanted: float  #: step that was asked for [s]
    count: int     #: own steps in a step of the clock


class Instant(NamedTuple):
    """Where a run stood."""

    step: int  #: of the clock
    sides: tuple[Stood, ...]

    @property
    def size(self) -> int:
        """Memory [bytes]."""
        return sum(a.nbytes for side in self.sides for a in arrays(side.standing.saved.state))

    @property
    def room(self) -> float:
        """For all such [bytes]."""
        histories = (side.standing.history for side in self.sides)
        return SHARE * sum(history.budget for history in histories if history is not None)


class Change(NamedTuple):
    """Something the user did to the run."""

    name: str                #: as the menu says it: "friction μ to 0.3"
    of: tuple[object, ...]   #: what was changed; one after the other of the same are one change
    instant: Instant         #: before it; of a change that was undone: where it was undone


class Changes:
    """The changes that can be undone, and those that can be made again."""

    def __init__(self) -> None:
        self._done: list[Change] = []
        self._undone: list[Change] = []
        self._latest = 0.0  # when the latest command came that may go on; 0 = none may

    @property
    def names(self) -> tuple[str, str]:
        """Of the change that would be undone, and of the one that would be made again; "" where there is none."""
        return self._done[-1].name if self._done else "", self._undone[-1].name if self._undone else ""

    def goes_on(self, command: SimulationCommand, now: float) -> bool:
        """Whether a command is part of the change that was noted last: a slider is dragged, or a body that was not let
        go in between. now: [wall s]."""
        before, self._latest = self._latest, now
        same = bool(self._done) and not self._undone and self._done[-1].of == _of(command)
        return same and (now - before < ONE_DRAG or isinstance(command, Place)) and before > 0.0

    def let_go(self) -> None:
        """What comes next is another change."""
        self._latest = 0.0

    def note(self, command: SimulationCommand, bodies: tuple[str, ...], before: Instant) -> None:
        """A command was carried out; bodies: their names. The oldest changes go where memory ends."""
        name = _name(command, bodies)
        if self._done and self._done[-1].instant is before:
            self._done[-1] = self._done[-1]._replace(name=name)
            return
        self._done.append(Change(name, _of(command), before))
        self._undone.clear()
        while len(self._done) > 1 and sum(change.instant.size for change in self._done) > before.room:
            del self._done[0]

    def last(self) -> Instant:
        """The instant before the change that was noted last."""
        return self._done[-1].instant

    def back(self, direction: int, now: Instant) -> Instant:
        """Undo a change (1), or make it again (-1): where the run has to stand. ValueError where there is none."""
        taken, given = (self._done, self._undone) if direction > 0 else (self._undone, self._done)
        if not taken:
            raise ValueError("there is nothing to undo" if direction > 0 else "there is nothing to do again")
        change = taken.pop()
        given.append(change._replace(instant=now))
        return change.instant


def undoable(command: SimulationCommand) -> bool:
    """Whether a command is a change of its own: pulling on is part of the grab."""
    return isinstance(command, Set | Grab | Place | PushJoint | Reset)


def _of(command: SimulationCommand) -> tuple[object, ...]:
    match command:
        case Set(name):
            return "set", name
        case Place(body):
            return "place", body
        case PushJoint(velocity):
            return "push", velocity
    return (object(),)  # no other is the same


def _name(command: SimulationCommand, bodies: tuple[str, ...]) -> str:
    match command:
        case Set("h", value):
            return f"step h to 1/{1.0 / float(value):.4g} s"  # pyright: ignore[reportArgumentType]
        case Set("gravity", value):
            return f"gravity to {sum(g * g for g in value) ** 0.5:.3g} m/s²"  # pyright: ignore
        case Set(name, value):
            label = " ".join(SETTINGS[name].slider.label.split()) or name  # a choice has no slider
            shown = "as the materials say" if value is None else value if isinstance(value, str) else f"{value:.4g}"
            return f"{label[:1].lower()}{label[1:]} to {shown}".replace("_", " ")
        case Grab(body, turn=turn):
            return f"{'turn' if turn else 'pull'} {bodies[body]}"
        case Place(body):
            return f"place {bodies[body]}"
        case PushJoint():
            return "push of a joint"
    return "reset"
