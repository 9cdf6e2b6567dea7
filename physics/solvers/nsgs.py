"""Nonsmooth Gauss–Seidel: contacts in turn, each solved exactly by itself with Coulomb's circular cone.

One contact, u = W λ + q where q contains the impulses of the others:
    q_n >= 0                             opens, λ = 0
    -W⁻¹ q in the cone                   sticks, λ = -W⁻¹ q
    else it slides, u_T = -α λ_T with α > 0. With u_n = 0,
        (S + α) λ_T = -(q_T - W_Tn q_n/W_nn),   S = W_TT - W_Tn W_nT/W_nn,   λ_n = -(q_n + W_nT λ_T)/W_nn
    and α is the root of |λ_T| = μ λ_n.                                          [Bonnefon & Daviet 2011; Jean 1999]

`pgs` only takes a step towards this answer where a contact slides, and converges to the same solutions.
"""

import math
from collections.abc import Iterator

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array
from ..problem.problem import ContactProblem, SolveInfo
from .cone import ConeSolver, with_tangents
from .lcp_info import PivotStep, visits
from .pgs import swept

NSGS_SWEEPS = 1000  # limit where none is given
SLIDE_STEPS = 200   # most steps of false position for the α of one sliding contact


@helper
def sliding(W, q, S, c, alpha):
    """λ for the given α."""
    s11, s12, s22 = S[0] + alpha, S[1], S[2] + alpha
    det = s11 * s22 - s12 * s12
    t1 = (s12 * c[1] - s22 * c[0]) / det
    t2 = (s12 * c[0] - s11 * c[1]) / det
    return -(q[0] + W[1] * t1 + W[2] * t2) / W[0], t1, t2


@helper
def excess(p, mu):
    """|λ_T| - μ λ_n"""
    return math.hypot(p[1], p[2]) - mu * p[0]


@helper
def one_contact(W, q, mu):
    """λ of one contact by itself; W = nn n1 n2 11 12 22."""
    if q[0] >= 0.0 or W[0] <= 0.0:
        return 0.0, 0.0, 0.0
    if mu == 0.0:
        return -q[0] / W[0], 0.0, 0.0
    S = (W[3] - W[1] * W[1] / W[0], W[4] - W[1] * W[2] / W[0], W[5] - W[2] * W[2] / W[0])
    c = (q[1] - W[1] * q[0] / W[0], q[2] - W[2] * q[0] / W[0])
    size = W[3] + W[5]
    low = 0.0 if S[0] * S[2] - S[1] * S[1] > 1e-14 * size * size else 1e-12 * size
    p = sliding(W, q, S, c, low)
    f_low = excess(p, mu)
    if f_low <= 0.0:
        return p
    high = size
    p = sliding(W, q, S, c, high)
    while excess(p, mu) > 0.0:
        high *= 4.0
        p = sliding(W, q, S, c, high)
    f_high = excess(p, mu)
    for _ in range(SLIDE_STEPS):  # false position; the value at an end that is kept is halved (Illinois rule)
        if high - low <= 4e-16 * high or f_high == 0.0:
            break
        alpha = (low * f_high - high * f_low) / (f_high - f_low)
        if not low < alpha < high:
            alpha = 0.5 * (low + high)
        p = sliding(W, q, S, c, alpha)
        f = excess(p, mu)
        if f > 0.0:
            low, f_low, f_high = alpha, f, 0.5 * f_high
        elif f < 0.0:
            high, f_high, f_low = alpha, f, 0.5 * f_low
        else:
            break
    return p


@kernel
def nsgs_visit(M, friction, lam, u, i):
    """Solve contact i by itself; u = M lam + d is kept up to date. Returns the largest M_rr |Δλ_r|."""
    k = 3 * i
    W = (M[k, k], M[k, k + 1], M[k, k + 2], M[k + 1, k + 1], M[k + 1, k + 2], M[k + 2, k + 2])
    x, y, z = lam[k], lam[k + 1], lam[k + 2]
    q = (u[k] - W[0] * x - W[1] * y - W[2] * z, u[k + 1] - W[1] * x - W[3] * y - W[4] * z,
         u[k + 2] - W[2] * x - W[4] * y - W[5] * z)
    p = one_contact(W, q, friction[i])
    a, b, c = p[0] - x, p[1] - y, p[2] - z
    for r in range(len(u)):
        u[r] += M[r, k] * a + M[r, k + 1] * b + M[r, k + 2] * c
    lam[k], lam[k + 1], lam[k + 2] = p
    return max(W[0] * abs(a), max(W[3] * abs(b), W[5] * abs(c)))


@kernel
def nsgs_sweeps(M, friction, iterations, tolerance, lam, u, change_out):
    """Sweep forwards and backwards in turn until nothing changes by more than `tolerance`; returns the sweeps made."""
    done = 0
    change_out[0] = 0.0
    while done < iterations:
        worst = 0.0
        for j in range(len(friction)):
            i = j if done % 2 == 0 else len(friction) - 1 - j
            worst = max(worst, nsgs_visit(M, friction, lam, u, i))
        done += 1
        change_out[0] = worst
        if worst <= tolerance:
            break
    return done


class NonsmoothGaussSeidel(ConeSolver):
    """SOLVERS["nsgs"]."""

    name = "nsgs"
    title = "Gauss–Seidel, each contact exact (NSGS)"
    iterative = True

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """Sweep from lam (k,) until no velocity changes by more than tolerance [unit of d]."""
        whole = with_tangents(problem)
        force = np.zeros(len(whole.d))
        force[:: 3 // problem.dimension] = lam
        u, change = whole.M @ force + whole.d, np.zeros(1)
        done = nsgs_sweeps(whole.M, whole.friction, iterations or NSGS_SWEEPS, tolerance, force, u, change)
        lam[:] = force[:: 3 // problem.dimension]
        return swept(done, float(change[0]), tolerance, lam)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Contact by contact, from lam (k,), which is left alone, to the end or the limit of sweeps."""
        whole = with_tangents(problem)
        force = np.zeros(len(whole.d))
        force[:: 3 // problem.dimension] = lam
        shown, u = force[:: 3 // problem.dimension], whole.M @ force + whole.d
        yield from visits(problem, shown, lambda i: nsgs_visit(whole.M, whole.friction, force, u, i),
                          iterations or NSGS_SWEEPS, True)
