"""Plain Gauss–Seidel on A f = -b: every ζ̇ is brought to zero, so that some contacts pull. For demonstration.

    f_i ← -(b_i + Σ_{j≠i} a_ij f_j) / a_ii          with A = M, b = d, f = λ in our symbols

The resting contacts of Baraff's course notes are solved in this way where f >= 0 is forgotten: A f + b = 0 in place of
0 <= A f + b ⊥ f >= 0. Bodies then stick to what they should leave. For a symmetric positive semidefinite A with a
positive diagonal the sweeps converge to a solution of A f = -b where there is one. For other problems they need not
converge.
"""

from collections.abc import Iterator

import numpy as np

from ..core.jit import kernel
from ..core.model import Array
from ..problem.problem import ContactProblem, SolveInfo, Takes
from .lcp_info import ROUNDING, PivotStep, visits
from .solver import Solver

PLAIN_SWEEPS = 10000  # limit where none is given


@kernel
def equality_visit(M, d, f, i):
    """Make ζ̇_i vanish, while the other forces stay; returns |a_ii Δf_i| [unit of b]."""
    total = d[i]
    for j in range(len(d)):
        total += M[i, j] * f[j]
    if M[i, i] <= 0.0:
        return 0.0
    f[i] -= total / M[i, i]
    return abs(total)


@kernel
def equality_sweep(M, d, f):
    """One sweep over all contacts, without projection; returns the largest |a_ii Δf_i| [unit of b]."""
    worst = 0.0
    for i in range(len(d)):
        worst = max(worst, equality_visit(M, d, f, i))
    return worst


class GaussSeidel(Solver):
    """Gauss–Seidel on equalities, which glues contacts together."""

    name = "gauss_seidel"
    title = "Gauss–Seidel without f ≥ 0 (glues)"
    takes = Takes.FRICTIONLESS | Takes.UNSYMMETRIC
    iterative = True

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """Sweep from lam (k,) until no ζ̇_i changes by more than tolerance [unit of d].

        The status is "glued" where A f = -b was met by contacts that pull, "solved" where none has to.
        """
        limit = iterations or PLAIN_SWEEPS
        done, change = 0, np.inf
        allowed = max(tolerance, 100 * ROUNDING * float(np.max(np.abs(problem.d), initial=0.0)))
        while done < limit and change > allowed and np.isfinite(lam).all():
            change = equality_sweep(problem.M, problem.d, lam)
            done += 1
        met = change <= allowed and (np.diagonal(problem.M) > 0.0).all()
        pulls = np.min(lam, initial=0.0) < -1e-9 * np.max(np.abs(lam), initial=0.0)
        status = "iterations" if not met else "glued" if pulls else "solved"
        return SolveInfo(status, done, change, 0, np.flatnonzero(lam).astype(np.int32))

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Contact by contact, from lam (k,), which is left alone, to the end or the limit of sweeps."""
        f = lam.copy()
        yield from visits(problem, f, lambda i: equality_visit(problem.M, problem.d, f, i), iterations or PLAIN_SWEEPS)
