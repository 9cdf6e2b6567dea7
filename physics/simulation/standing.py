"""Where a simulation stands, and what is needed to stand there again."""

from typing import Any, NamedTuple

from ..core.report import Event, Settings, StepInfo
from ..core.state import Contacts, State
from ..dynamics.forces import Loads
from .history import History


class Saved(NamedTuple):
    """All that `restore` needs to continue with the same bits."""

    step: int
    state: State
    settings: Settings
    loads: Loads


class Standing(NamedTuple):
    """Where a simulation stands; `Simulation.stand` brings it back there."""

    saved: Saved
    contacts: Contacts
    info: StepInfo
    history: History | None  #: that goes on being recorded
    events: list[Event]      #: likewise


def copy_loads(loads: Loads) -> Loads:
    return Loads._make(a.copy() for a in loads)


def all_zero(*arrays: Any) -> bool:
    """Whether all numbers are zero, compared as bytes: a third of the time of `any`."""
    bits = b"".join(arrays)
    return bits == bytes(len(bits))
