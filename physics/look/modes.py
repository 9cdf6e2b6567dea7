"""The modes of contacts over a run, and their graph: states are sets of modes, edges the events that lead from one to
another.

The set is noted where a step ends. What held for a part of a step only is left out.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.limits import BARS
from ..core.model import Array
from ..core.report import Event
from ..core.state import Contacts
from .timeline import BODY_A, BODY_B, KEY

MOST_CONTACTS = 24   # of a set that is noted: more are too many to read
STILL = 1e-6         # slip that is none, of a contact whose friction is at its limit as well [m/s]
AT_LIMIT = 1e-6      # by which friction may be less than μ λ and be at its limit, relative to it
RESTS, SLIPS, STICKS = range(3)  #: modes of a contact: without friction, or with it
MODE_NAMES = ("rests", "slips", "sticks")
Mode = tuple[float, int]  # key of the contact as the bars of `timeline` have it, and its mode
ModeSet = tuple[Mode, ...]  # in the order of keys


class ModeChange(NamedTuple):
    """From here on the contacts have other modes."""

    t: float        #: of the last event of the step, else the end of the step [s]
    step: int
    modes: ModeSet | None  #: None = more than MOST_CONTACTS


def modes_of(contacts: Contacts) -> ModeSet | None:
    """The modes of the contacts in the current set."""
    rows = np.flatnonzero(contacts.current[: int(contacts.count[0])])
    if len(rows) > MOST_CONTACTS:
        return None
    limit = contacts.friction[rows] * contacts.lam[rows]
    held = np.linalg.norm(contacts.friction_force[rows], axis=1) < (1.0 - AT_LIMIT) * limit
    slips = ~held & (contacts.slip[rows] > STILL)
    modes = np.where(contacts.friction[rows] > 0.0, np.where(slips, SLIPS, STICKS), RESTS)
    return tuple(sorted(zip(contacts.key[rows].astype(float).tolist(), modes.tolist(), strict=True)))


class Modes:
    """How modes changed. Call `note` after every step."""

    def __init__(self) -> None:
        self.changes: tuple[ModeChange, ...] = ()  #: oldest first
        self._step = 0

    def note(self, step: int, t: float, contacts: Contacts, events: Sequence[Event]) -> None:
        """The step of this number ended at t [s] with these contacts, and these events happened in it."""
        if step <= self._step:  # the run went back to an earlier step
            self.changes = tuple(change for change in self.changes if change.step < step)
        self._step = step
        now = modes_of(contacts)
        if self.changes and self.changes[-1].modes == now:
            return
        at = max((event.t for event in events), default=t) if self.changes else 0.0
        self.changes = (*self.changes[-BARS.most :], ModeChange(at, step, now))


class Passage(NamedTuple):
    """A way along an edge."""

    t: float     #: [s]
    step: int
    events: tuple[Event, ...]  #: of this step


class ModeEdge(NamedTuple):
    """From one state to another, or back to the same."""

    start: int   #: row of the states
    end: int
    passages: tuple[Passage, ...]  #: oldest first


class ModeState(NamedTuple):
    """A set of modes."""

    modes: ModeSet | None
    t: float     #: when it was entered first [s]
    step: int
    lasted: float  #: how long it has held, all visits together [s]


class ModeGraph(NamedTuple):
    states: tuple[ModeState, ...]  #: in the order in which they were entered first
    edges: tuple[ModeEdge, ...]
    now: int                       #: row of the state that holds at the end, -1 = none


def mode_graph(changes: Sequence[ModeChange], events: Iterable[Event], end: float) -> ModeGraph:
    """The graph of a run up to the time `end` [s]. Events of a step that ends in the state that it began with lead
    back to this state."""
    rows: dict[ModeSet | None, int] = {}
    first: list[ModeChange] = []
    lasted: list[float] = []
    passages: dict[tuple[int, int], list[Passage]] = {}
    of_step: dict[int, list[Event]] = {}
    for event in events:
        if event.t <= end:
            of_step.setdefault(event.step, []).append(event)
    known = [change for change in changes if change.t <= end]
    begins = {change.step for change in known}
    loops = sorted(step for step in of_step if step not in begins)
    at = -1
    for k, change in enumerate(known):
        before, at = at, rows.setdefault(change.modes, len(rows))
        if at == len(first):
            first.append(change)
            lasted.append(0.0)
        following = known[k + 1] if k + 1 < len(known) else None
        lasted[at] += (end if following is None else following.t) - change.t
        if before >= 0:
            told = tuple(of_step.get(change.step, ()))
            passages.setdefault((before, at), []).append(Passage(change.t, change.step, told))
        while loops and (following is None or loops[0] < following.step):
            step = loops.pop(0)
            if step > change.step:
                passages.setdefault((at, at), []).append(Passage(of_step[step][0].t, step, tuple(of_step[step])))
    states = tuple(ModeState(change.modes, change.t, change.step, time)
                   for change, time in zip(first, lasted, strict=True))
    return ModeGraph(states, tuple(ModeEdge(a, b, tuple(found)) for (a, b), found in passages.items()), at)


def contact_names(bars: Array, bodies: Sequence[str]) -> dict[float, str]:
    """ "floor → block" of each contact that has bars (k, 6) of `timeline`, numbered where two bodies have several:
    "floor → block 2". bodies: names."""
    pairs: dict[tuple[int, int], list[float]] = {}
    for key, a, b in dict.fromkeys(map(tuple, bars[:, [KEY, BODY_A, BODY_B]].tolist())):
        pairs.setdefault((int(a), int(b)), []).append(key)
    return {key: f"{bodies[a]} → {bodies[b]}" + (f" {k}" if len(mine) > 1 else "")
            for (a, b), mine in pairs.items() for k, key in enumerate(mine, 1)}
