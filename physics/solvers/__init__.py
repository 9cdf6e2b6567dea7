"""Solvers of contact problems by name. One file and one row here make another."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from contactlab.physics.model import Array, Model
from contactlab.physics.problem import ContactProblem, SolveInfo, System, Takes
from contactlab.physics.solvers.block_pivot import BlockPivot
from contactlab.physics.solvers.dantzig import Dantzig
from contactlab.physics.solvers.gauss_principle import AccelerationQP
from contactlab.physics.solvers.gauss_seidel import GaussSeidel
from contactlab.physics.solvers.interior_point import InteriorPoint
from contactlab.physics.solvers.lcp_info import PivotStep
from contactlab.physics.solvers.lemke import Lemke
from contactlab.physics.solvers.nsgs import NonsmoothGaussSeidel
from contactlab.physics.solvers.pgs import ProjectedGaussSeidel
from contactlab.physics.solvers.qp import ForceQP


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
        """Solve for system.impulse in place and leave its effect in the velocities of system.bodies."""
        ...


SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (ProjectedGaussSeidel(), NonsmoothGaussSeidel(), InteriorPoint(), BlockPivot(), Lemke(), Dantzig(),
                   ForceQP(), AccelerationQP(), GaussSeidel())
}
#: those that take a problem without friction
LCP_SOLVERS = {name: solver for name, solver in SOLVERS.items() if Takes.FRICTIONLESS in solver.takes}


def refusal(name: str, model: Model) -> str:
    """Why a solver cannot be used for the contacts of a model, in a sentence; "" where it can."""
    used = np.unique(model.shapes.material)
    rough = bool((model.materials.friction[np.ix_(used, used)] > 0.0).any())
    if not rough or Takes.FRICTION in SOLVERS[name].takes:
        return ""
    others = ", ".join(key for key, solver in SOLVERS.items() if Takes.FRICTION in solver.takes)
    return f"the solver {name} is for contacts without friction: set friction to 0 first, or take one of {others}"
