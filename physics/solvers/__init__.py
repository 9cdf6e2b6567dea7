"""Solvers of contact problems by name. One file and one row here make another."""

from typing import Protocol

from contactlab.physics.model import Array
from contactlab.physics.problem import ContactProblem, SolveInfo, System
from contactlab.physics.solvers.block_pivot import BlockPivot
from contactlab.physics.solvers.dantzig import Dantzig
from contactlab.physics.solvers.gauss_principle import AccelerationQP
from contactlab.physics.solvers.gauss_seidel import GaussSeidel
from contactlab.physics.solvers.lcp_info import LcpSolver
from contactlab.physics.solvers.lemke import Lemke
from contactlab.physics.solvers.pgs import ProjectedGaussSeidel
from contactlab.physics.solvers.qp import ForceQP


class Solver(Protocol):
    """A solver takes a problem written out, or bodies and contacts as the time-stepping method assembles them."""

    name: str
    title: str

    def __call__(
        self, problem: ContactProblem, lam: Array, iterations: int = 1000, tolerance: float = 1e-12
    ) -> SolveInfo:
        """Overwrite lam (k,), the first guess, with the solution."""
        ...

    def solve_bodies(self, system: System, iterations: int, tolerance: float) -> SolveInfo:
        """Solve for system.impulse in place and leave its effect in system.velocity."""
        ...


SOLVERS: dict[str, Solver] = {solver.name: solver for solver in (ProjectedGaussSeidel(),)}
#: solvers of the frictionless problem
LCP_SOLVERS: dict[str, LcpSolver] = {
    solver.name: solver for solver in (Lemke(), Dantzig(), BlockPivot(), ForceQP(), AccelerationQP(), GaussSeidel())
}
