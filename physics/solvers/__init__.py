"""Solvers of contact problems by name. A new solver needs its own module and one entry in SOLVERS."""

import numpy as np

from ..core.model import Model
from ..problem.problem import Takes
from .block_pivot import BlockPivot
from .dantzig import Dantzig
from .gauss_principle import AccelerationQP
from .gauss_seidel import GaussSeidel
from .interior_point import InteriorPoint
from .lemke import Lemke
from .newton import Newton
from .nsgs import NonsmoothGaussSeidel
from .pgs import ProjectedGaussSeidel
from .qp import ForceQP
from .solver import BodiesSolver, Solver

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (ProjectedGaussSeidel(), Newton(), NonsmoothGaussSeidel(), InteriorPoint(), BlockPivot(), Lemke(),
                   Dantzig(), ForceQP(), AccelerationQP(), GaussSeidel())
}
#: the solvers that take a problem without friction
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
