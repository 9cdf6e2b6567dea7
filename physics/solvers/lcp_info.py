"""What the solvers of the frictionless problem share: outcomes, steps for display, scaling, sums.

    0 <= ζ̇ = M λ + d  ⊥  λ >= 0                                                                     [RBDA eq. 11.42]

Solvers work on the problem scaled to a unit diagonal, S M S and S d with s_i = 1/√M_ii, so that heavy and light bodies
meet the same tolerances; S d is divided by its largest entry.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from ..problem.problem import ContactProblem

ROUNDING = 1e-13      #: a sum that should vanish is zero below this, relative to the sum of its terms' sizes
DEPENDENT = 1e-14     #: what is left of a unit column that depends on others, per (1 + size of its coefficients)²
INCONSISTENT = 1e-9   #: |d·y| / Σ|d_i y_i| above which d·y < 0 is more than rounding
GOING, SOLVED, RAY, STUCK = range(4)  #: what a pivoting kernel returns
STATUS = {GOING: "iterations", SOLVED: "solved", RAY: "ray", STUCK: "stuck"}


class PivotStep(NamedTuple):
    """One step of a solver, for display: one pivot, or one visit to a contact. Every solver's `trace` yields them."""

    step: int            #: from 1
    entering: str        #: what enters the basis or is changed: "λ3", "ζ̇1", "z0"; several with blanks; "" = none
    leaving: str         #: what leaves it
    basic: IntArray      #: rows whose λ may differ from 0 after the step
    lam: Array           #: (k,) in the problem's units
    zeta_dot: Array      #: (k,) M λ + d
    note: str = ""       #: what the step did, in the method's own words


def visits(
    problem: ContactProblem, lam: Array, visit: Callable[[int], float], sweeps: int, both_ways: bool = False
) -> Iterator[PivotStep]:
    """The steps of a method that visits one contact after the other, until a sweep changes nothing. visit(i) changes
    lam (k,) at contact i and returns by how much its velocity changes; both_ways: every second sweep runs backwards."""
    rows, number = problem.dimension, 0
    for sweep in range(sweeps):
        worst = 0.0
        order = range(problem.contact_count)
        for i in reversed(order) if both_ways and sweep % 2 else order:
            change, number = visit(i), number + 1
            worst = max(worst, change)
            names = " ".join(f"λ{r + 1}" for r in range(rows * i, rows * (i + 1)))
            yield PivotStep(number, names, "", np.flatnonzero(lam).astype(np.int32), lam.copy(),
                            problem.M @ lam + problem.d, f"sweep {sweep + 1}, change {change:.3g}")
        if not 1e-12 * np.max(np.abs(problem.d), initial=0.0) < worst < np.inf:
            return


class Scaled(NamedTuple):
    """S M S and S d / size of a problem: unit diagonal, largest |d| one."""

    M: Array
    d: Array
    scale: Array   #: (k,) s_i
    size: float    #: largest |s_i d_i|

    def restore(self, lam: Array) -> Array:
        """λ of the given problem from λ of the scaled one."""
        return self.size * self.scale * lam


def scaled(problem: ContactProblem) -> Scaled:
    """Scale a frictionless problem to a unit diagonal. ValueError where it has friction."""
    if problem.dimension != 1:
        raise ValueError("a solver of the linear complementarity problem takes problems without friction")
    M = np.empty_like(problem.M)
    d = np.empty_like(problem.d)
    scale = np.empty_like(problem.d)
    size = equilibrate(problem.M, problem.d, M, d, scale)
    return Scaled(M, d, scale, size)


@helper
def scale_to_unit(M, scale_out):
    """s_i = 1/√M_ii, 1 where M_ii <= 0"""
    for i in range(len(M)):
        scale_out[i] = M[i, i] if M[i, i] > 0.0 else 1.0
    for i in range(len(M)):  # a loop of its own, so that the compiler can use vectors
        scale_out[i] = 1.0 / np.sqrt(scale_out[i])


@kernel
def equilibrate(M, d, M_out, d_out, scale_out):
    """S M S, S d divided by its largest entry, and the diagonal of S; returns that entry's size (1 where d = 0)."""
    n = len(d)
    scale_to_unit(M, scale_out)
    size = 0.0
    for i in range(n):
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
def add_rows(M, rows, factor, count, a):
    """a += Σ factor_k M[rows_k] over k < count, with one pass over a for four rows."""
    n = len(a)
    whole = count - count % 4
    for k in range(0, whole, 4):
        i0, i1, i2, i3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        f0, f1, f2, f3 = factor[k], factor[k + 1], factor[k + 2], factor[k + 3]
        for l in range(n):
            a[l] += f0 * M[i0, l] + f1 * M[i1, l] + f2 * M[i2, l] + f3 * M[i3, l]
    for k in range(whole, count):
        i0, f0 = rows[k], factor[k]
        for l in range(n):
            a[l] += f0 * M[i0, l]


@helper
def row_product(M, i, a, start, count):
    """Σ M[i, start + l] a[start + l] over l < count, in four independent sums, which the processor can overlap."""
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
    """(M λ + d)_i and a bound on its rounding error."""
    total = d[i]
    size = abs(d[i])
    for j in range(len(d)):
        term = M[i, j] * lam[j]
        total += term
        size += abs(term)
    return total, ROUNDING * size


@kernel
def separation(M, d, lam, zeta_out, noise_out):
    """ζ̇ = M λ + d and a bound on its rounding error, row by row."""
    for i in range(len(d)):
        zeta_out[i], noise_out[i] = row_value(M, d, lam, i)
