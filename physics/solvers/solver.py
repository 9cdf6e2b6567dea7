"""What every solver of contact problems offers."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from ..core.model import Array
from ..problem.problem import ContactProblem, SolveInfo, Takes
from ..problem.system import System
from .lcp_info import PivotStep


class Solver(Protocol):
    """A solver of problems with M written out."""

    name: str
    title: str
    takes: Takes
    iterative: bool  #: stops after a set number of sweeps; else it ends by itself

    def __call__(self, problem: ContactProblem, lam: Array, iterations: int = 0, tolerance: float = 1e-12) -> SolveInfo:
        """Overwrite lam (k,), the first guess, with the solution; iterations = 0: as many as the method needs.

        Where it finds that there is none, lam is 0. ValueError where the problem is of a kind that `takes` leaves out.
        """
        ...

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """The same algorithm step by step, to be watched: pivot by pivot, contact by contact or round by round, from
        the first guess lam (k,), which is left alone; iterations = 0: to the end."""
        ...


@runtime_checkable
class BodiesSolver(Protocol):
    """A solver that also takes bodies and contacts as the time-stepping method assembles them."""

    def solve_bodies(self, system: System, iterations: int, tolerance: float) -> SolveInfo:
        """Solve for all impulses of the system in place and leave their effect in its velocities."""
        ...
