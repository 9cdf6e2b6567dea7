"""Whoever follows the steps of `event_driven` as they are made; see `EventDriven.watch`."""

from typing import Protocol

from ...core.model import Model
from ...core.state import Bodies, Contacts, JointState
from ...problem.contact_snapshot import ContactSnapshot
from .search import PieceSearch, Trigger


class Observer(Protocol):
    """Is told every piece of a step, every instant at which something happens, and every impact. It may look along the
    piece, and changes nothing."""

    def piece(self, search: PieceSearch, trigger: Trigger | None) -> None:
        """A piece was made, and `trigger` will cut it (None: nothing does)."""

    def instant(self, t: float, contacts: Contacts) -> None:
        """Called before and after something is handled at the time t [s]: the state of the step and its contacts are
        those of that instant. `contacts` are valid until the next call."""

    def impact(self, model: Model, t: float, contacts: ContactSnapshot, bodies: Bodies, joints: JointState) -> None:
        """Contacts collide at the time t [s]; bodies and joints have the velocities before."""
