"""What the solvers of the frictionless problem share: scaling, the exact solution of a basis, certificates, the trace.

    0 <= ζ̇ = M λ + d  ⊥  λ >= 0                                                                     [RBDA eq. 11.42]

A *basic* solution has λ_i = 0 outside a set B with M_BB regular: the normals in B are independent [RBDA §11.5].
Where M is positive semidefinite and no λ >= 0 gives M λ + d >= 0, a vector y proves it (Farkas):

    y >= 0,  M y = 0,  d·y < 0,    because  y·(M λ + d) = d·y  for every λ.

For a general M the proof is y >= 0, Mᵀ y <= 0, d·y < 0.

Pivoting works on the problem scaled to a unit diagonal, S M S and S d with s_i = 1/√M_ii, so that heavy and light
bodies meet the same tolerances; S d is divided by its largest entry. Afterwards λ_B is computed anew from M_BB and d_B.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import Array, IntArray
from contactlab.physics.problem import ContactProblem, SolveInfo

ROUNDING = 1e-13      #: a sum that should vanish is zero below this, relative to the sum of its terms' sizes
DEPENDENT = 1e-14     #: what is left of a unit column beside others, per (1 + size of its coefficients)²
INCONSISTENT = 1e-9   #: |d·y| / Σ|d_i y_i| above which d·y < 0 is more than rounding
GOING, SOLVED, RAY, STUCK = range(4)  #: what a pivoting kernel returns
STATUS = {GOING: "iterations", SOLVED: "solved", RAY: "ray", STUCK: "stuck"}


@dataclass(frozen=True)
class LcpInfo(SolveInfo):
    """How a solver of the frictionless problem fared.

    status: "solved"; "inconsistent": `certificate` proves that there is no solution; "iterations": stopped by the
    limit; "ray", "stuck": the method ended without an answer, which cannot happen where M is symmetric positive
    semidefinite and well enough conditioned; "glued": what plain Gauss–Seidel finds where contacts pull.
    """

    pivots: int                         #: exchanges of a contact into or out of the basis
    basic: IntArray                     #: rows of the basis, ascending: λ vanishes elsewhere
    certificate: Array | None = None    #: (k,) the vector y above, largest entry 1; None unless inconsistent


class PivotStep(NamedTuple):
    """One step of a solver, for display."""

    step: int
    entering: str        #: the variable that enters the basis or is changed: "λ3", "ζ̇1", "z0"; "" = none
    leaving: str         #: the variable that leaves it
    basic: IntArray      #: rows whose λ may differ from 0 after the step
    lam: Array           #: (k,) in the problem's units
    zeta_dot: Array      #: (k,) M λ + d
    note: str = ""       #: what the step did, in the method's own words


class Scaled(NamedTuple):
    """S M S and S d / size of a problem: unit diagonal, largest |d| one."""

    M: Array
    d: Array
    scale: Array   #: (k,) s_i
    size: float    #: largest |s_i d_i|

    def restore(self, lam: Array) -> Array:
        """λ of the given problem from λ of the scaled one."""
        return self.size * self.scale * lam


class LcpSolver(Protocol):
    """A solver of the frictionless problem."""

    name: str
    title: str

    def __call__(self, problem: ContactProblem, lam: Array, iterations: int = 0, tolerance: float = 1e-12) -> LcpInfo:
        """Overwrite lam (k,) with a solution; iterations = 0: as many as the method can need.

        Where the problem is inconsistent lam is set to 0. tolerance [unit of d]: a ζ̇_i >= -tolerance counts as
        fulfilled; what rounding alone explains does so anyway.
        """
        ...

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """The same algorithm step by step; lam is left alone."""
        ...


def scaled(problem: ContactProblem) -> Scaled:
    """Scale a frictionless problem to a unit diagonal. ValueError where it has friction."""
    if problem.dimension != 1:
        raise ValueError("a solver of the linear complementarity problem takes problems without friction")
    M = np.empty_like(problem.M)
    d = np.empty_like(problem.d)
    scale = np.empty_like(problem.d)
    size = equilibrate(problem.M, problem.d, M, d, scale)
    return Scaled(M, d, scale, size)


@kernel
def equilibrate(M, d, M_out, d_out, scale_out):
    """s_i = 1/√M_ii (1 where M_ii <= 0); returns the largest |s_i d_i|, by which S d is divided (1 where d = 0)."""
    n = len(d)
    size = 0.0
    for i in range(n):
        scale_out[i] = 1.0 / np.sqrt(M[i, i]) if M[i, i] > 0.0 else 1.0
        size = max(size, abs(scale_out[i] * d[i]))
    if size == 0.0:
        size = 1.0
    for i in range(n):
        d_out[i] = scale_out[i] * d[i] / size
        for j in range(n):
            M_out[i, j] = scale_out[i] * M[i, j] * scale_out[j]
    return size


@helper
def subtract_row(a, start, factor, M, i, count):
    """a[start + l] -= factor M[i, start + l] for l < count; counting from zero lets the compiler use vectors."""
    for l in range(count):
        a[start + l] -= factor * M[i, start + l]


@helper
def row_product(M, i, a, start, count):
    """Σ M[i, start + l] a[start + l] over l < count, in four sums side by side that need not wait for one another."""
    s0 = s1 = s2 = s3 = 0.0
    whole = count - count % 4
    for l in range(0, whole, 4):
        s0 += M[i, start + l] * a[start + l]
        s1 += M[i, start + l + 1] * a[start + l + 1]
        s2 += M[i, start + l + 2] * a[start + l + 2]
        s3 += M[i, start + l + 3] * a[start + l + 3]
    for l in range(whole, count):
        s0 += M[i, start + l] * a[start + l]
    return (s0 + s1) + (s2 + s3)


@helper
def row_value(M, d, lam, i):
    """(M λ + d)_i and what rounding may make of it."""
    total = d[i]
    size = abs(d[i])
    for j in range(len(d)):
        term = M[i, j] * lam[j]
        total += term
        size += abs(term)
    return total, ROUNDING * size


@kernel
def separation(M, d, lam, zeta_out, noise_out):
    """ζ̇ = M λ + d and the rounding in it, row by row."""
    for i in range(len(d)):
        zeta_out[i], noise_out[i] = row_value(M, d, lam, i)


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
    """Does rounding, or `tolerance` in the unit of the given d, explain all that λ >= 0, ζ̇ >= 0, λ ⊥ ζ̇ are missed by?

    A negative λ_i is judged by the velocity it stands for, M_ii λ_i = λ_i.
    """
    zeta, noise = np.empty_like(data.d), np.empty_like(data.d)
    separation(data.M, data.d, lam, zeta, noise)
    allowed = 100.0 * (noise + ROUNDING * np.max(np.abs(lam), initial=0.0)) + tolerance * data.scale / data.size
    return bool(np.all(np.abs(np.minimum(lam, zeta)) <= allowed))


def violation(problem: ContactProblem, lam: Array) -> float:
    """Largest |min(M_ii λ_i, ζ̇_i)| of a λ >= 0 [unit of d]."""
    zeta = problem.M @ lam + problem.d
    return float(np.max(np.abs(np.minimum(np.diagonal(problem.M) * lam, zeta)), initial=0.0))


def certificate(data: Scaled, y: Array) -> Array | None:
    """y made a proof of infeasibility of the given problem, its largest entry 1, or None where it proves nothing."""
    top = np.max(y, initial=0.0)
    if not (np.isfinite(y).all() and top > 0.0):
        return None
    y = np.where(y > 1e-11 * top, y / top, 0.0)
    gain = data.d @ y
    if np.max(data.M.T @ y) > 1e-7 or gain >= -INCONSISTENT * (np.abs(data.d) @ y):
        return None
    given = data.scale * y
    return given / given.max()


def conclude(
    problem: ContactProblem, data: Scaled, outcome: int, counts: tuple[int, int], basic: IntArray, ray: Array,
    tolerance: float, lam: Array,
) -> LcpInfo:
    """Turn the end of a pivoting method into lam and its LcpInfo; counts = iterations, pivots."""
    if outcome == RAY:
        y = certificate(data, ray)
        lam[:] = 0.0
        return LcpInfo("ray" if y is None else "inconsistent", counts[0], 0.0, counts[1], basic, y)
    exact = basis_solution(data.M, data.d, basic)
    if outcome == SOLVED and (exact < 0.0).any() and not judge(data, exact, tolerance):
        basic = basic[exact[basic] > 0.0]  # a nearly dependent contact whose force is zero but for rounding
        exact = basis_solution(data.M, data.d, basic)
    status = "solved" if judge(data, exact, tolerance) else STATUS[outcome] if outcome != SOLVED else "stuck"
    lam[:] = data.restore(np.maximum(exact, 0.0))
    return LcpInfo(status, counts[0], violation(problem, lam), counts[1], basic)


def step_of(
    problem: ContactProblem, data: Scaled, number: int, names: tuple[str, str], basic: IntArray, lam: Array, note: str
) -> PivotStep:
    """A step of the trace from λ of the scaled problem."""
    given = data.restore(lam)
    return PivotStep(number, *names, basic, given, problem.M @ given + problem.d, note)


