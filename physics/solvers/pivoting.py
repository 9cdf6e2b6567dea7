"""What the pivoting methods share: running to the end or step by step, and the exact solution of a basis.

A *basic* solution has λ_i = 0 outside a set B with M_BB regular: the normals in B are independent [RBDA §11.5].
A method finds B; λ_B is then computed anew from M_BB and d_B.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.model import Array, IntArray
from ..problem.problem import ContactProblem, SolveInfo, Takes
from .infeasible import certificate
from .lcp_info import GOING, RAY, ROUNDING, SOLVED, STATUS, PivotStep, Scaled, scaled, separation
from .solver import Solver


class Path:
    """A pivoting method under way on one scaled problem: its arrays, and the moves on them."""

    one: Any              #: kernel of (*arrays) that makes one pivot and returns GOING, SOLVED, RAY or STUCK
    many: Any             #: kernel of (*arrays, limit, pivots) that pivots to the end or the limit

    def __init__(self, data: Scaled, last: IntArray, *arrays: Any) -> None:
        self.data = data
        self.last = last                       #: (2,) rows that entered and left the basis in the last pivot, -1 = none
        self.arrays = arrays
        self.pivots = np.zeros(1, np.int32)    #: made by `run`

    def pivot(self) -> int:
        return int(self.one(*self.arrays))

    def run(self, limit: int) -> int:
        return int(self.many(*self.arrays, limit, self.pivots))

    @property
    def basic(self) -> IntArray:
        """Rows of the basis, ascending."""
        raise NotImplementedError

    def lam(self) -> Array:
        """λ (k,) so far, scaled."""
        raise NotImplementedError

    def ray(self) -> Array:
        """After RAY: the vector y (k,), scaled."""
        raise NotImplementedError

    def names(self) -> tuple[str, str]:
        """What entered and what left in the last pivot."""
        entered, left = (f"λ{i + 1}" if i >= 0 else "" for i in self.last)
        return entered, left

    def note(self) -> str:
        """One line for display on the state of the method."""
        raise NotImplementedError


class PivotingSolver(Solver):
    """A solver of the frictionless problem that walks a Path to its end."""

    takes = Takes.FRICTIONLESS
    iterative = False

    def begin(self, data: Scaled, start: Array, tolerance: float) -> Path:
        """The path from a first guess of the scaled λ."""
        raise NotImplementedError

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """A basic solution. tolerance [unit of d]: a ζ̇_i >= -tolerance counts as fulfilled; what rounding alone
        explains does so anyway."""
        data = scaled(problem)
        path = self.begin(data, lam / (data.scale * data.size), tolerance)
        return finish(data, path, iterations or most_pivots(lam), tolerance, lam)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """The same algorithm pivot by pivot; lam, the first guess, is left alone."""
        data = scaled(problem)
        path = self.begin(data, lam / (data.scale * data.size), 1e-12)
        yield from steps(problem, path, 1, iterations or most_pivots(lam))


def steps(problem: ContactProblem, path: Path, first: int, last: int) -> Iterator[PivotStep]:
    """The pivots of a path, numbered from `first` to `last` or its end."""
    for number in range(first, last + 1):
        outcome = path.pivot()
        force = path.data.restore(path.lam())
        note = path.note() if outcome == GOING else STATUS[outcome]
        yield PivotStep(number, *path.names(), path.basic, force, problem.M @ force + problem.d, note)
        if outcome != GOING:
            return


def most_pivots(lam: Array) -> int:
    """A limit of pivots far above what any problem has been seen to need."""
    return 50 * len(lam) + 100


def finish(data: Scaled, path: Path, limit: int, tolerance: float, lam: Array) -> SolveInfo:
    """Walk a path to its end, and turn that into lam and its SolveInfo."""
    outcome = path.run(limit)
    count = int(path.pivots[0])
    ray = path.ray() if outcome == RAY else data.d
    return conclude(data, outcome, count, path.basic, ray, tolerance, lam)


def basis_solution(M: Array, d: Array, basic: IntArray) -> Array:
    """λ with M_BB λ_B = -d_B and zero elsewhere, refined once; least squares where M_BB is singular to rounding."""
    lam = np.zeros(len(d))
    if len(basic):
        block, right = M[np.ix_(basic, basic)], d[basic]
        try:
            lam[basic] = np.linalg.solve(block, -right)
            lam[basic] -= np.linalg.solve(block, block @ lam[basic] + right)
        except np.linalg.LinAlgError:
            lam[basic] = -np.linalg.lstsq(block, right, rcond=None)[0]
    return lam


def judge(data: Scaled, lam: Array, tolerance: float) -> bool:
    """Does rounding, or `tolerance` in the unit of the given d, explain every violation of λ >= 0, ζ̇ >= 0 and λ ⊥ ζ̇?

    A negative λ_i is judged by the velocity it stands for, M_ii λ_i = λ_i.
    """
    zeta, noise = np.empty_like(data.d), np.empty_like(data.d)
    separation(data.M, data.d, lam, zeta, noise)
    allowed = 100.0 * (noise + ROUNDING * np.max(np.abs(lam), initial=0.0)) + tolerance * data.scale / data.size
    return bool(np.all(np.abs(np.minimum(lam, zeta)) <= allowed))


def conclude(
    data: Scaled, outcome: int, pivots: int, basic: IntArray, ray: Array, tolerance: float, lam: Array,
) -> SolveInfo:
    """Turn the end of a pivoting method into lam and its SolveInfo."""
    if outcome == RAY:
        y = certificate(data, ray)
        lam[:] = 0.0
        return SolveInfo("ray" if y is None else "infeasible", pivots, 0.0, pivots, basic, y)
    exact = basis_solution(data.M, data.d, basic)
    if outcome == SOLVED and (exact < 0.0).any() and not judge(data, exact, tolerance):
        basic = basic[exact[basic] > 0.0]  # drops nearly dependent contacts whose forces are zero but for rounding
        exact = basis_solution(data.M, data.d, basic)
    status = "solved" if judge(data, exact, tolerance) else STATUS[outcome] if outcome != SOLVED else "stuck"
    lam[:] = data.restore(np.maximum(exact, 0.0))
    return SolveInfo(status, pivots, 0.0, pivots, basic)
