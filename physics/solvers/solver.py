"""What every solver of contact problems offers, and the one place through which all their answers pass."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from ..core.interruption import look_up
from ..core.model import Array
from ..problem.problem import ContactProblem, SolveInfo, Takes
from ..problem.residual import judge, ready
from ..problem.system import System
from .infeasible import no_solution
from .lcp_info import PivotStep

NEARLY = 1e-6  # largest residual of a stuck method's answer that is still shown, relative to that of λ = 0
made = tuple.__new__  # bound once: for few contacts the usual constructor would take as long as the rest


class Solver(ABC):
    """A solver of problems with M written out."""

    name: str
    title: str
    takes: Takes
    iterative: bool  #: stops after a set number of sweeps; else it ends by itself

    def __init__(self) -> None:
        """Store what every call needs: the numbers of rows a contact may have, and whether M must be symmetric."""
        self._dimensions = [n for n, kind in ((1, Takes.FRICTIONLESS), (3, Takes.FRICTION)) if kind in self.takes]
        self._symmetric = int(Takes.UNSYMMETRIC not in self.takes)

    @abstractmethod
    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """The algorithm: overwrite lam (k,), a finite first guess, with the solution, and tell how it went."""

    @abstractmethod
    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """The same algorithm step by step, to be watched: pivot by pivot, contact by contact or round by round, from
        the first guess lam (k,), which is left alone; iterations = 0: to the end."""

    def __call__(self, problem: ContactProblem, lam: Array, iterations: int = 0, tolerance: float = 1e-12) -> SolveInfo:
        """Overwrite lam (k,), the first guess, with the solution; iterations = 0: as many as the method needs.

        "solved" says that the residual is no more than rounding and `tolerance` [unit of d] explain (see
        `problem.residual`), whatever the method thinks of it. Where there is no answer lam is 0. A guess that is not
        finite counts for nothing. ValueError where the problem has friction, or has none, and `takes` leaves it out.
        """
        look_up()
        M, d, friction = problem.M, problem.d, problem.friction
        if (3 if len(friction) else 1) not in self._dimensions:
            raise ValueError(f"the solver {self.name} is for contacts without friction")
        if not ready(M, lam, self._symmetric):
            lam[:] = 0.0
            return SolveInfo("unsymmetric", 0, judge(M, d, friction, lam, tolerance)[0])
        info = self.solve(problem, lam, iterations, tolerance)
        residual, explained = judge(M, d, friction, lam, tolerance)
        if explained:
            return made(SolveInfo, ("solved", info.iterations, residual, info.pivots, info.basic, None))
        if info.status == "solved":
            info = info._replace(status="iterations" if self.iterative else "stuck")
        if info.status == "glued" or (info.status == "iterations" and iterations > 0 and residual < np.inf):
            return info._replace(residual=residual)
        return _unsolved(problem, lam, info, residual)

    def answers(self, problem: ContactProblem, lam: Array, tolerance: float = 1e-12) -> bool:
        """Overwrite lam (k,), a finite first guess, with the solution; whether it is one, as a call judges it. Where it
        is none, no proof is sought that there is none, and lam is what the method left."""
        look_up()
        self.solve(problem, lam, 0, tolerance)
        return bool(judge(problem.M, problem.d, problem.friction, lam, tolerance)[1])


def _unsolved(problem: ContactProblem, lam: Array, info: SolveInfo, residual: float) -> SolveInfo:
    """The SolveInfo of an answer that does not obey the laws, of a method that went on as long as it could."""
    status, proof = info.status, info.certificate if info.certificate is not None else no_solution(problem)
    nothing = judge(problem.M, problem.d, problem.friction, np.zeros(len(lam)), 0.0)[0]
    enough = 1.0 if status == "iterations" else NEARLY
    if proof is not None or not residual <= enough * nothing:
        lam[:], residual, basic = 0.0, nothing, info.basic[:0]
        status = "infeasible" if proof is not None else "ray" if status == "ray" else "stuck"
        return info._replace(status=status, residual=residual, basic=basic, certificate=proof)
    return info._replace(residual=residual)


@runtime_checkable
class BodiesSolver(Protocol):
    """A solver that also takes bodies and contacts as the time-stepping method assembles them."""

    def solve_bodies(self, system: System, iterations: int, tolerance: float) -> SolveInfo:
        """Solve for all impulses of the system in place and leave their effect in its velocities."""
        ...
