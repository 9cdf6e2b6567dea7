"""Solvers of contact problems by name. One file and one row here make another."""

import numpy as np

from contactlab.physics.model import Model
from contactlab.physics.problem import Takes
from contactlab.physics.solvers.block_pivot import BlockPivot
from contactlab.physics.solvers.dantzig import Dantzig
from contactlab.physics.solvers.gauss_principle import AccelerationQP
from contactlab.physics.solvers.gauss_seidel import GaussSeidel
from contactlab.physics.solvers.interior_point import InteriorPoint
from contactlab.physics.solvers.lemke import Lemke
from contactlab.physics.solvers.nsgs import NonsmoothGaussSeidel
from contactlab.physics.solvers.pgs import ProjectedGaussSeidel
from contactlab.physics.solvers.qp import ForceQP
from contactlab.physics.solvers.solver import BodiesSolver, Solver

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


__all__ = ["LCP_SOLVERS", "SOLVERS", "BodiesSolver", "Solver", "refusal"]
