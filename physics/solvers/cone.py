"""What the solvers of the problem with friction share: scaling, and the case without friction as one of them."""

from typing import NamedTuple

import numpy as np

from ..core.model import Array
from ..problem.problem import ContactProblem, Takes
from .solver import Solver


class ScaledCone(NamedTuple):
    """S M S and S d / size with one s_i a contact, which leaves the cones as they are: unit mean diagonal of each
    contact's own block, largest |d| one."""

    M: Array         #: (3 c, 3 c)
    d: Array         #: (3 c,)
    friction: Array  #: (c,)
    scale: Array     #: (3 c,) s_i of each row
    size: float

    def restore(self, lam: Array) -> Array:
        """λ of the given problem from λ of the scaled one."""
        return self.size * self.scale * lam


class ConeSolver(Solver):
    """A solver of Signorini's condition with Coulomb's circular cone, exactly as `laws` has them."""

    takes = Takes.FRICTIONLESS | Takes.FRICTION | Takes.UNSYMMETRIC
    iterative = False


def with_tangents(problem: ContactProblem) -> ContactProblem:
    """The problem itself, or where it has one row a contact, the same with two idle tangential rows and μ = 0."""
    if problem.dimension == 3:
        return problem
    c = len(problem.d)
    M, d = np.zeros((3 * c, 3 * c)), np.zeros(3 * c)
    M[::3, ::3], d[::3] = problem.M, problem.d
    rows = np.arange(3 * c)
    diagonal = np.repeat(np.diagonal(problem.M), 3)
    M[rows, rows] = np.where(diagonal > 0.0, diagonal, 1.0)
    M[rows[::3], rows[::3]] = np.diagonal(problem.M)
    return ContactProblem.frictional(M, d, np.zeros(c))


def scaled_cone(problem: ContactProblem) -> ScaledCone:
    """Scale a problem with friction."""
    mean = np.diagonal(problem.M).reshape(-1, 3).mean(axis=1)
    scale = np.repeat(1.0 / np.sqrt(np.where(mean > 0.0, mean, 1.0)), 3)
    d = scale * problem.d
    size = float(np.max(np.abs(d), initial=0.0)) or 1.0
    return ScaledCone(scale[:, None] * problem.M * scale, d / size, problem.friction, scale, size)
