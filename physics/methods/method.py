"""What every method offers: `METHODS` holds classes of this kind."""

from typing import ClassVar, Protocol, runtime_checkable

from ..books.ledger import Page
from ..core.model import Model
from ..core.report import Event, Settings, StepInfo
from ..core.state import Contacts, State
from ..dynamics.forces import Loads
from ..problem.problem import ContactProblem


class Method(Protocol):
    """Advances a State. It holds scratch memory only: all that matters later is in the State."""

    title: ClassVar[str]
    uses: ClassVar[frozenset[str]]  #: settings that mean something to it, beyond h, the integrator and the materials
    events: list[Event]             #: what happened in the last step
    found: Contacts                 #: of the last step, without what only a reader wants to know: see `contacts`

    def __init__(self, model: Model) -> None:
        """Raises Untreatable where the model is not for this method."""

    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]."""

    @property
    def contacts(self) -> Contacts:
        """Those of the last step; may be read up to the next one."""
        ...

    @property
    def info(self) -> StepInfo:
        """How the last step went; may be read up to the next one."""
        ...

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The contact problem of this instant."""
        ...


@runtime_checkable
class Marching(Method, Protocol):
    """A method that makes many steps in one call, without Python between them."""

    def march(
        self, state: State, loads: Loads, settings: Settings, page: Page, most: int, until: float,
    ) -> tuple[int, bool]:
        """Make steps as `step` does, with the ledger opened and closed around each, until so many are made or the time
        `until` [s] is over. Ends after a step that has events, which are then in `events`, and after one that is not
        finite; it may end after any other step too. Returns how many were made, and whether the last one is finite."""
        ...


class Untreatable(ValueError):
    """A model that a method is not for; `reason` has places {0}, {1}, … for the names of the bodies that are why."""

    def __init__(self, reason: str, bodies: tuple[int, ...]) -> None:
        super().__init__(reason.format(*(f"body {i}" for i in bodies)))
        self.reason, self.bodies = reason, bodies
