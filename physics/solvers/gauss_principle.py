"""The quadratic program in the accelerations: Gauss's principle of least constraint for contacts that cannot pull.

    minimise  ½ (q̈ - q̈₀)ᵀ H (q̈ - q̈₀)   subject to  Tᵀ q̈ + Ṫᵀ q̇ >= 0,     q̈₀ = H⁻¹(τ - C)            [RBDA eq. 11.44]

The forces are the multipliers: H (q̈ - q̈₀) = T λ. With H = L Lᵀ, a = Lᵀ(q̈ - q̈₀) and G = L⁻¹ T this is the shortest a
with Gᵀ a + d >= 0, and M = GᵀG; so a problem of which only M is known is solved with any such factor G.

The dual method of Goldfarb & Idnani [1983] begins at a = 0, which violates some constraints. The most violated one is
brought to zero while the active ones W are kept at zero, G_W = Q R:

    a += t z,  z = g - Q Qᵀ g         λ_W -= t r,  r = R⁻¹ Qᵀ g         λ of the new one += t

A force that reaches zero on the way leaves W. Where g depends on W (z = 0), a stands still and forces are exchanged;
where no force falls either, g = G_W r with r <= 0 contradicts the constraints, and y = (1, -r) is the certificate.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from ..problem.problem import ContactProblem, SolveInfo
from .lcp_info import DEPENDENT, GOING, INCONSISTENT, RAY, ROUNDING, SOLVED, Scaled, scaled
from .linear import drop_column, solve_upper
from .pivoting import Path, PivotingSolver, finish, most_pivots

COUNT, DRIVEN = range(2)  # the integer state: size of W, the constraint in hand (-1: none)


class Dual(NamedTuple):
    """State of the dual method, beside Q and R."""

    a: Array             #: (m,)
    rows: IntArray       #: (m + 1,) W
    force: Array         #: (m + 1,) λ_W
    state: IntArray      #: (2,) see COUNT, DRIVEN
    driven_force: Array  #: (1,) λ of the constraint in hand
    excused: IntArray    #: (k,) 1 = dependent, with a contradiction no larger than rounding
    z: Array             #: (m,) g - Q Qᵀ g
    r: Array             #: (m + 1,) R⁻¹ Qᵀ g; on RAY the negative of the certificate on W
    last: IntArray       #: (2,) rows that entered and left W in the last step, -1 = none


@kernel
def factor_semidefinite(M, G_out):
    """M = GᵀG by Cholesky with the largest pivot first, G (r, n) in the first r rows of G_out; returns the rank r."""
    n = len(M)
    left = np.empty(n)
    for i in range(n):
        left[i] = M[i, i]
    for rank in range(n):
        pivot = np.argmax(left)
        if left[pivot] <= 1e-13 * n:
            return rank
        root = np.sqrt(left[pivot])
        for j in range(n):
            total = M[pivot, j]
            for l in range(rank):
                total -= G_out[l, pivot] * G_out[l, j]
            G_out[rank, j] = total / root
            left[j] -= G_out[rank, j] ** 2
        left[pivot] = 0.0
    return n


@helper
def split(columns, Q, R, count, j, z_out, r_out):
    """z = g - Q Qᵀ g and r = R⁻¹ Qᵀ g of g = column j; returns |z|². Q is stored by rows; R's new column gets Qᵀ g."""
    g = columns[j]
    for l in range(len(g)):
        z_out[l] = g[l]
    for a in range(count):
        R[a, count] = 0.0
    for _ in range(2):  # twice is enough [Kahan in Parlett 1980]
        for a in range(count):
            along = np.dot(Q[a], z_out)
            R[a, count] += along
            for l in range(len(g)):
                z_out[l] -= along * Q[a, l]
    for a in range(count):
        r_out[a] = R[a, count]
    solve_upper(R, count, r_out)
    return np.dot(z_out, z_out)


@helper
def drop(Q, R, rows, force, state, a):
    """W loses its a-th constraint."""
    drop_column(R, state[COUNT], a, Q)
    state[COUNT] -= 1
    for b in range(a, state[COUNT]):
        rows[b] = rows[b + 1]
        force[b] = force[b + 1]


@helper
def worst_violated(columns, d, tolerance, a, excused):
    """The constraint with the most negative g·a + d beyond tolerance and rounding, -1 = none."""
    best = -1
    worst = 0.0
    size = np.sqrt(np.dot(a, a))
    for i in range(len(d)):
        zeta = np.dot(columns[i], a) + d[i]
        if zeta < worst and excused[i] == 0 and zeta < -tolerance[i] - 10.0 * ROUNDING * (abs(d[i]) + size):
            best = i
            worst = zeta
    return best


@helper
def excuse(columns, d, rows, count, r, k):
    """For a dependent g_k: does rounding explain the contradiction d·y, relative to the sum of its terms' sizes?"""
    gain = d[k]
    size = abs(d[k])
    for b in range(count):
        gain -= r[b] * d[rows[b]]
        size += abs(r[b] * d[rows[b]])
    return gain >= -INCONSISTENT * size


@helper
def first_to_vanish(force, r, count):
    """The position in W of the force that falls to zero first, -1 = none, and the step until then."""
    stop = -1
    t = np.inf
    top = 1.0
    for b in range(count):
        top = max(top, abs(r[b]))
    for b in range(count):
        if r[b] > 1e-12 * top and force[b] < t * r[b]:
            stop = b
            t = max(force[b], 0.0) / r[b]
    return stop, t


@kernel
def dual_step(columns, d, tolerance, Q, R, dual):
    """One step with the constraint in hand. Returns GOING, SOLVED or RAY."""
    a, rows, force, state, driven_force = dual.a, dual.rows, dual.force, dual.state, dual.driven_force
    excused, z, r, last_out = dual.excused, dual.z, dual.r, dual.last
    last_out[0] = -1
    last_out[1] = -1
    if state[DRIVEN] < 0:
        state[DRIVEN] = worst_violated(columns, d, tolerance, a, excused)
        driven_force[0] = 0.0
        if state[DRIVEN] < 0:
            return SOLVED
    k = state[DRIVEN]
    count = state[COUNT]
    square = split(columns, Q, R, count, k, z, r)
    total = 1.0
    for b in range(count):
        total += abs(r[b])
    dependent = count == len(a) or square <= 10.0 * DEPENDENT * total * total
    if dependent and driven_force[0] == 0.0 and excuse(columns, d, rows, count, r, k):
        excused[k] = 1
        state[DRIVEN] = -1
        return GOING
    stop, t = first_to_vanish(force, r, count)
    full = np.inf if dependent else max(-(np.dot(columns[k], a) + d[k]), 0.0) / square
    if dependent and stop < 0:
        return RAY
    t = min(t, full)
    for b in range(count):
        force[b] -= t * r[b]
    driven_force[0] += t
    if not dependent:
        for l in range(len(a)):
            a[l] += t * z[l]
    if t < full:
        last_out[1] = rows[stop]
        drop(Q, R, rows, force, state, stop)
        return GOING
    R[count, count] = np.sqrt(square)
    for l in range(len(a)):
        Q[count, l] = z[l] / R[count, count]
    rows[count] = k
    force[count] = driven_force[0]
    last_out[0] = k
    state[COUNT] = count + 1
    state[DRIVEN] = -1
    return GOING


@kernel
def dual_run(columns, d, tolerance, Q, R, dual, limit, pivots):
    """Step until the end or the limit."""
    outcome = GOING
    while outcome == GOING and pivots[0] < limit:
        outcome = dual_step(columns, d, tolerance, Q, R, dual)
        pivots[0] += 1
    return outcome


class LeastConstraint(Path):
    """The method for columns g_i (k, m) of a scaled problem, each of unit length."""

    one, many = staticmethod(dual_step), staticmethod(dual_run)

    def __init__(self, data: Scaled, columns: Array, tolerance: float) -> None:
        k, m = columns.shape
        self.a, self.r, self.force = np.zeros(m), np.zeros(m + 1), np.zeros(m + 1)
        self.rows, self.state, self.driven_force = np.zeros(m + 1, np.int32), np.array([0, -1], np.int32), np.zeros(1)
        Q, R = np.zeros((m + 1, m)), np.zeros((m + 1, m + 1))
        dual = Dual(self.a, self.rows, self.force, self.state, self.driven_force, np.zeros(k, np.int32), np.zeros(m),
                    self.r, np.full(2, -1, np.int32))
        super().__init__(data, dual.last, columns, data.d, tolerance * data.scale / data.size, Q, R, dual)

    @property
    def basic(self) -> IntArray:
        return np.sort(self.rows[: self.state[COUNT]])

    def lam(self) -> Array:
        """The multipliers, that of the constraint in hand included."""
        lam = np.zeros(len(self.data.d))
        count = int(self.state[COUNT])
        lam[self.rows[:count]] = self.force[:count]
        if self.state[DRIVEN] >= 0:
            lam[self.state[DRIVEN]] = self.driven_force[0]
        return lam

    def ray(self) -> Array:
        """The combination y (k,) of constraints that contradict one another."""
        y = np.zeros(len(self.data.d))
        count = int(self.state[COUNT])
        y[self.rows[:count]] = -self.r[:count]
        y[self.state[DRIVEN]] = 1.0
        return y

    def note(self) -> str:
        return f"|q̈ - q̈₀| = {self.data.size * np.linalg.norm(self.a):.6g}"


class AccelerationQP(PivotingSolver):
    """The QP in q̈, with λ as its multipliers. In its steps |q̈ - q̈₀| grows from zero until no contact is violated."""

    name = "qp_acceleration"
    title = "QP in q̈ (least constraint)"

    def begin(self, data: Scaled, start: Array, tolerance: float) -> LeastConstraint:
        G = np.zeros_like(data.M)
        rank = int(factor_semidefinite(data.M, G))
        return LeastConstraint(data, np.ascontiguousarray(G[:rank].T), tolerance)


def constrained_acceleration(H: Array, T: Array, free: Array, drift: Array) -> tuple[Array, Array, SolveInfo]:
    """q̈ (n,), λ (c,) and the SolveInfo, from H (n, n), T (n, c), q̈₀ (n,) and Ṫᵀq̇ (c,). q̈ = q̈₀ where not solved.

    minimise ½ (q̈ - q̈₀)ᵀ H (q̈ - q̈₀) subject to Tᵀ q̈ + Ṫᵀ q̇ >= 0                                   [RBDA eq. 11.44]
    """
    L = np.linalg.cholesky(H)
    G = np.linalg.solve(L, T)
    problem = ContactProblem.frictionless(G.T @ G, T.T @ free + drift)
    data = scaled(problem)
    path = LeastConstraint(data, np.ascontiguousarray((G * data.scale).T), 1e-12)
    lam = np.zeros(len(drift))
    info = finish(data, path, most_pivots(lam), 1e-12, lam)
    moved = data.size * path.a if info.status == "solved" else np.zeros(len(free))
    return free + np.linalg.solve(L.T, moved), lam, info
