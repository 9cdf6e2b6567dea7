"""What solvers of the problem with friction share: scaling, and a frictionless problem written as one with μ = 0."""

from typing import NamedTuple

import numpy as np

from ..core.model import Array
from ..problem.problem import ContactProblem, Takes
from .solver import Solver


class ScaledCone(NamedTuple):
    """S M S and S d / size with one s_i for the three rows of a contact, so that the cones stay as they are. The own
    block of each contact has a mean diagonal of 1, and the largest |d| is 1."""

    M: Array         #: (3 c, 3 c)
    d: Array         #: (3 c,)
    friction: Array  #: (c,)
    scale: Array     #: (3 c,) s_i of each row
    size: float      #: largest |s_i d_i|

    def restore(self, lam: Array) -> Array:
        """λ of the given problem from λ of the scaled one."""
        return self.size * self.scale * lam


class ConeSolver(Solver):
    """A solver of Signorini's condition with Coulomb's circular cone, exactly as `laws.contact` states them."""

    takes = Takes.FRICTIONLESS | Takes.FRICTION | Takes.UNSYMMETRIC
    iterative = False


def with_tangents(problem: ContactProblem) -> ContactProblem:
    """The problem itself; where it has one row a contact, the same one with two idle tangential rows and μ = 0."""
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
