"""Why contact sets change, in numbers: for the events of the event-driven method."""

import numpy as np

from ...core.report import Reason
from ...core.state import LongArray
from ...dynamics.constraints.limits import TURNS
from ...problem.turning_rows import length_of
from .search import Trigger
from .sets import IDLE, OPEN, SLIDE, Friction, Resolution
from .workspace import Workspace

#: kind of event -> the reasons of a cut that explain it
EXPLAINS = {"gain": ("gap",), "dynamic_loss": ("force",), "geometric_loss": ("margin",), "slip": ("cone",),
            "turn": ("moment",), "active_set": ("force",)}


def reason_of_cut(work: Workspace, trigger: Trigger) -> tuple[int, Reason] | None:
    """The pair that cuts the piece made last, and its number: of a gap, a force and a margin at the end of the piece,
    which will not be reached; of friction at the cut. None of other triggers. The scratch is left as the search left
    it."""
    search, chosen, k, kind = work.search, work.chosen, trigger.row, trigger.kind
    if k < 0 or kind not in ("gap", "force", "margin", "cone"):
        return None
    if kind == "gap":
        return int(search.pairs[k]), Reason("gap", float(search.gaps(1.0)[0][k]))
    force, margin = float(search.forces(1.0)[3 * k]), float(search.set_witness.margin[k])
    there = search.forces(trigger.delta)[3 * k : 3 * k + 3]
    load, held = float(search.forces(trigger.delta)[3 * chosen.bearer[k]]), float(np.hypot(there[1], there[2]))
    pair, bound = int(chosen.pair[k]), float(chosen.friction[k]) * load
    if pair >= TURNS:
        length = float(length_of.py_func(work.here.scratch.turning, work.surface, pair))
        return pair, Reason("moment", held * length / float(chosen.friction[k]), length * load)
    told = {"force": Reason("force", force), "margin": Reason("margin", margin), "cone": Reason("cone", held, bound)}
    return pair, told[kind]


class Reasons:
    """What is known of the pairs of an instant."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin another step."""
        self._cut: tuple[int, Reason] | None = None
        self._found: tuple[LongArray, Friction, Resolution] | None = None

    def cut(self, work: Workspace, trigger: Trigger | None) -> None:
        """The piece made last will be cut here, or comes to its end."""
        self._cut = None if trigger is None else reason_of_cut(work, trigger)
        self._found = None

    def found(self, pairs: LongArray, friction: Friction, resolution: Resolution) -> None:
        """Forces and accelerations of pairs (c,) in the new set."""
        self._found = pairs.copy(), friction, resolution

    def of(self, kind: str, pair: int) -> Reason | None:
        """Why there is an event of this kind and pair; None where no number says it."""
        if self._cut is not None and self._cut[0] == pair and self._cut[1].what in EXPLAINS.get(kind, ()):
            return self._cut[1]
        if self._found is None or kind == "geometric_loss" or pair >= TURNS:
            return None
        pairs, friction, resolution = self._found
        rows = np.flatnonzero(pairs == pair)
        return _of_mode(int(rows[0]), friction, resolution) if len(rows) else None


def _of_mode(k: int, friction: Friction, found: Resolution) -> Reason:
    """Why contact k is in its mode."""
    normal, held = float(found.force[3 * k]), float(np.hypot(*found.force[3 * k + 1 : 3 * k + 3]))
    match found.mode[k]:
        case mode if mode == OPEN:
            return Reason("apart", float(found.rate[3 * k]))
        case mode if mode == SLIDE:
            return Reason("slides", held, float(friction.stick[k]) * normal)
        case mode if mode == IDLE or not friction.stick[k] > 0.0:
            return Reason("rests", normal)
    return Reason("holds", held, float(friction.stick[k]) * normal)
