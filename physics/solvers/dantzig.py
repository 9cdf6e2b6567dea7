"""Dantzig's principal pivoting as Baraff uses it: one violated contact after the other is driven to ζ̇ = 0.

Contact k with ζ̇_k < 0 gets a growing force λ_k. The *clamped* contacts C (ζ̇_i = 0, λ_i >= 0) change their forces so
that their ζ̇ stay zero, the *free* ones (λ_i = 0, ζ̇_i >= 0) change their ζ̇:

    Δλ_C = -M_CC⁻¹ M_Ck Δλ_k,   Δζ̇ = M Δλ

until ζ̇_k = 0, and k is clamped; or a clamped λ_i reaches zero, and i is freed; or a free ζ̇_i reaches zero, and i is
clamped; the latter two go on with k. [Baraff 1994, "Fast contact force computation for nonpenetrating rigid bodies";
Cottle & Dantzig 1968; Cottle, Pang & Stone 1992, algorithm 4.2.6]

Redundant contacts: where k is dependent on C, no force of it changes any ζ̇, and Δλ is a null vector of M. Either some
λ_i in C reaches zero and the exchange goes on, or Δλ >= 0 never ends: M Δλ = 0 and d·Δλ = ζ̇_k Δλ_k < 0 prove that no
solution exists. So M_CC stays regular and the answer is basic. Ties are broken by the least index, which keeps the
method from cycling [Chang & Cottle 1980].

State: the principal pivot transform T of M on C [CPS §2.3], whose column k holds -M_CC⁻¹ M_Ck for clamped rows and the
Δζ̇ above for free ones, and the value of each row: λ_i where clamped, ζ̇_i where free. M need not be symmetric: every
P-matrix will do, as will all symmetric positive semidefinite ones.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from ..problem.problem import ContactProblem, SolveInfo, Takes
from .lcp_info import DEPENDENT, GOING, INCONSISTENT, RAY, SOLVED, STUCK, Scaled, row_value, scaled
from .pivoting import Path, PivotingSolver, finish, most_pivots

ZERO_CHANGE = 1e-12  # changes per unit of λ_k that count as none, relative to the largest
REBUILDS = 4         # times at most that T is computed afresh because its rounding has grown


class Exchange(NamedTuple):
    """State of the pivoting, beside T. The contact in hand is the one whose force is growing."""

    value: Array        #: (n,) λ_i where clamped, ζ̇_i where free
    clamped: IntArray   #: (n,) 1 = in C
    kept: IntArray      #: (n,) 1 = clamped, or free with ζ̇_i >= 0, when the contact in hand was chosen
    driven: IntArray    #: (1,) k, the contact in hand, -1 = none
    force: Array        #: (1,) its λ_k so far
    work: Array         #: (n,) scratch
    last: IntArray      #: (2,) rows that entered and left C in the last pivot, -1 = none


@helper
def pivot_transform(T, i):
    """Exchange ζ̇_i and λ_i in ζ̇ = T λ."""
    n = len(T)
    inverse = 1.0 / T[i, i]
    for j in range(n):
        if j != i:
            factor = T[j, i] * inverse
            if factor != 0.0:
                for l in range(n):
                    T[j, l] -= factor * T[i, l]
            T[j, i] = factor
    for j in range(n):
        T[i, j] *= -inverse
    T[i, i] = inverse


@kernel
def dantzig_rebuild(M, d, clamped, T_out, value_out):
    """T and the values of all rows for a clamped set, from M and d; a clamped row found dependent is freed."""
    n = len(d)
    for i in range(n):
        for j in range(n):
            T_out[i, j] = M[i, j]
    for i in range(n):
        if clamped[i] == 1:
            if T_out[i, i] <= dependence(T_out, clamped, i, i):
                clamped[i] = 0
            else:
                pivot_transform(T_out, i)
    for i in range(n):
        value_out[i] = 0.0
    for i in range(n):  # λ_C = -M_CC⁻¹ d_C
        if clamped[i] == 1:
            for j in range(n):
                if clamped[j] == 1:
                    value_out[i] -= T_out[i, j] * d[j]
    for i in range(n):
        if clamped[i] == 0:
            total = d[i]
            for j in range(n):
                if clamped[j] == 1:
                    total += M[i, j] * value_out[j]
            value_out[i] = total


@helper
def dependence(T, clamped, k, end):
    """Bound on the rounding in T_kk where column k depends on the clamped columns with numbers below `end`."""
    total = 1.0
    for j in range(end):
        if clamped[j] == 1:
            total += abs(T[j, k])
    return DEPENDENT * total * total * 10.0


@helper
def settled(d, T, clamped, k):
    """Does k depend on C, with ζ̇_k = d·y zero but for rounding? y, column k of T and 1 at k, is the null vector."""
    if T[k, k] > dependence(T, clamped, k, len(d)):
        return False
    gain = d[k]
    size = abs(d[k])
    for j in range(len(d)):
        if clamped[j] == 1:
            gain += d[j] * T[j, k]
            size += abs(d[j] * T[j, k])
    return gain >= -INCONSISTENT * size


@helper
def next_violated(M, d, T, clamped, value, tolerance, lam_work):
    """The free contact with the most negative ζ̇ beyond tolerance and rounding, -1 = none; renews the free values."""
    n = len(d)
    for i in range(n):
        lam_work[i] = value[i] if clamped[i] == 1 else 0.0
    best = -1
    worst = 0.0
    for i in range(n):
        if clamped[i] == 0:
            value[i], noise = row_value(M, d, lam_work, i)
            below = value[i] < -(tolerance[i] + 10.0 * noise) and value[i] < worst
            if below and not settled(d, T, clamped, i):
                best = i
                worst = value[i]
    return best


@helper
def first_block(T, value, clamped, kept, k, sign, room):
    """The first row to fall below zero while λ_k changes by sign·room, -1 = none; and the change of λ_k until then.

    What is below zero by no more than rounding does not count: a tie ends the drive. Nor does a free row that depends
    on the clamped ones: its ζ̇ cannot change.
    """
    n = len(T)
    top = 1.0
    for j in range(n):
        top = max(top, abs(T[j, k]))
    best = -1
    step = room
    for j in range(n):
        rate = -sign * T[j, k]
        if j == k or kept[j] == 0 or rate <= ZERO_CHANGE * top:
            continue
        reach = max(value[j], 0.0) / rate
        sooner = reach < step * (1.0 - ZERO_CHANGE if best < 0 else 1.0)
        if sooner and (clamped[j] == 1 or T[j, j] > dependence(T, clamped, j, n)):
            best = j
            step = reach
    return best, step


@helper
def toggle(T, value, clamped, i, new_value, last_out):
    """Clamp row i, or free it; new_value is its λ_i or ζ̇_i then. Returns False where the pivot vanishes."""
    if not abs(T[i, i]) > 1e-14:
        return False
    last_out[1 if clamped[i] == 1 else 0] = i
    clamped[i] = 1 - clamped[i]
    value[i] = new_value
    pivot_transform(T, i)
    return True


@kernel
def dantzig_pivot(M, d, tolerance, T, exchange):
    """One pivot; where no contact is in hand, one is chosen. Returns GOING, SOLVED, RAY (column k of T is the ray) or
    STUCK (a pivot vanishes: M is not of the kind this method takes)."""
    n = len(d)
    value, clamped, kept = exchange.value, exchange.clamped, exchange.kept
    driven, force, last_out = exchange.driven, exchange.force, exchange.last
    last_out[0] = -1
    last_out[1] = -1
    if driven[0] < 0:
        driven[0] = next_violated(M, d, T, clamped, value, tolerance, exchange.work)
        force[0] = 0.0
        if driven[0] < 0:
            return SOLVED
        for j in range(n):
            kept[j] = 1 if clamped[j] == 1 or value[j] >= 0.0 else 0
    k = int(driven[0])
    over = settled(d, T, clamped, k)  # then λ_k is taken back along the null vector
    sign = -1.0 if over else 1.0
    room = force[0] if over else np.inf
    if T[k, k] > dependence(T, clamped, k, n):
        room = max(-value[k] / T[k, k], 0.0)
    block, step = first_block(T, value, clamped, kept, k, sign, room)
    if block < 0 and room == np.inf:
        return RAY
    for j in range(n):
        value[j] += sign * step * T[j, k]
    force[0] += sign * step
    if block >= 0 and not toggle(T, value, clamped, block, 0.0, last_out):
        return STUCK
    enters = (block < 0) != over  # with ζ̇_k = 0, or over and in exchange for the block
    if enters and not toggle(T, value, clamped, k, force[0], last_out):
        return STUCK
    if over or block < 0:
        driven[0] = -1
    return GOING


@kernel
def dantzig_run(M, d, tolerance, T, exchange, limit, pivots):
    """Pivot until the end or the limit."""
    outcome = GOING
    while outcome == GOING and pivots[0] < limit:
        outcome = dantzig_pivot(M, d, tolerance, T, exchange)
        pivots[0] += 1
    return outcome


class DantzigPath(Path):
    """T of one scaled problem."""

    one, many = staticmethod(dantzig_pivot), staticmethod(dantzig_run)

    def __init__(self, data: Scaled, tolerance: float) -> None:
        n = len(data.d)
        self.T, self.value = np.empty((n, n)), np.empty(n)
        self.clamped, self.driven, self.force = np.zeros(n, np.int32), np.full(1, -1, np.int32), np.zeros(1)
        exchange = Exchange(self.value, self.clamped, np.zeros(n, np.int32), self.driven, self.force, np.empty(n),
                            np.full(2, -1, np.int32))
        super().__init__(data, exchange.last, data.M, data.d, tolerance * data.scale / data.size, self.T, exchange)
        self.rebuild()

    def rebuild(self) -> None:
        """Compute T and the values afresh from the clamped set; a clamped λ_i < 0 is freed."""
        dantzig_rebuild(self.data.M, self.data.d, self.clamped, self.T, self.value)
        while (self.value[self.clamped == 1] < 0).any():
            self.clamped[self.value < 0] = 0
            dantzig_rebuild(self.data.M, self.data.d, self.clamped, self.T, self.value)
        self.driven[0] = -1

    @property
    def basic(self) -> IntArray:
        return np.flatnonzero(self.clamped).astype(np.int32)

    def lam(self) -> Array:
        """λ (k,) so far, scaled, with the force of the contact in hand."""
        lam = np.where(self.clamped == 1, self.value, 0.0)
        if self.driven[0] >= 0:
            lam[self.driven[0]] = self.force[0]
        return lam

    def ray(self) -> Array:
        """Δλ per unit of λ_k."""
        k = int(self.driven[0])
        ray = np.where(self.clamped == 1, self.T[:, k], 0.0)
        ray[k] = 1.0
        return ray

    def note(self) -> str:
        k = int(self.driven[0])
        return f"driving contact {k + 1}" if k >= 0 else "in order"


class Dantzig(PivotingSolver):
    """Dantzig's pivoting as Baraff uses it. In its steps λ includes the growing force of the contact in hand; contacts
    that have not been driven yet may have ζ̇ < 0."""

    name = "dantzig"
    title = "Dantzig–Baraff pivoting"
    takes = Takes.FRICTIONLESS | Takes.UNSYMMETRIC

    def begin(self, data: Scaled, start: Array, tolerance: float) -> DantzigPath:
        return DantzigPath(data, tolerance)

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """See PivotingSolver."""
        data = scaled(problem)
        path = DantzigPath(data, tolerance)
        info = SolveInfo("iterations", 0, 0.0, 0, path.basic)
        for _ in range(REBUILDS):
            info = finish(data, path, iterations or most_pivots(lam), tolerance, lam)
            if info.status in ("solved", "infeasible", "iterations"):
                break
            path.rebuild()
        return info
