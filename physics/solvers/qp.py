"""The quadratic program in the forces, by an active-set method on λ >= 0.

    minimise  ½ λᵀ M λ + λᵀ d   subject to  λ >= 0                                                 [RBDA eq. 11.43]

Its Kuhn–Tucker conditions are the contact equations, the gradient being ζ̇. On a set B of pushing contacts with regular
M_BB the minimiser is -M_BB⁻¹ d_B; λ goes there, or as far as λ >= 0 allows; in that case the contact whose
force vanishes leaves B. At the minimiser, the contact with the most negative ζ̇ enters.
[Lawson & Hanson 1974, ch. 23, with normal equations; Nocedal & Wright 2006, ch. 16]

Redundant contacts: where the one that enters depends on B, the energy falls linearly along a null vector y of M. Either
a force in B reaches zero and leaves B in exchange, or y >= 0 and the energy is not bounded below: y is the certificate.

M_BB = UᵀU is kept factored; a contact that enters appends a column, one that leaves costs Givens rotations
[Gill, Golub, Murray & Saunders 1974]. M must be symmetric positive semidefinite.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from .lcp_info import DEPENDENT, GOING, INCONSISTENT, RAY, ROUNDING, SOLVED, Scaled, add_rows
from .linear import SINGULAR, cholesky, drop_column, solve_transposed, solve_upper
from .pivoting import Path, PivotingSolver

COUNT, MOVING, ENTERED = range(3)  # the integer state: size of B; 1 while λ is not minimal on B; row last entered


class Face(NamedTuple):
    """The set B and the forces on it, beside the factor U of M_BB."""

    lam: Array         #: (n,)
    rows: IntArray     #: (n + 1,) B, in the order of U's columns
    state: IntArray    #: (3,) see COUNT …
    excused: IntArray  #: (n,) 1 = stays out: it entered by rounding only, or depends on B
    x: Array           #: (n + 1,) a direction on B; where the energy is not bounded, the null vector y on B
    work: Array        #: (n,) scratch
    last: IntArray     #: (2,) rows that entered and left B in the last step, -1 = none


@helper
def append_row(M, U, rows, state, j, x_out):
    """B gets j: U's new column is U⁻ᵀ M_Bj and √(what is left). x_out = M_BB⁻¹ M_Bj.

    Returns False where j depends on B; then only the column is written, with 0 for what is left.
    """
    count = state[COUNT]
    left = M[j, j]
    for a in range(count):
        x_out[a] = M[j, rows[a]]
    solve_transposed(U, count, x_out)
    for a in range(count):
        U[a, count] = x_out[a]
        left -= x_out[a] * x_out[a]
    solve_upper(U, count, x_out)
    total = 1.0
    for a in range(count):
        total += abs(x_out[a])
    if left <= 10.0 * DEPENDENT * total * total:
        U[count, count] = 0.0
        return False
    U[count, count] = np.sqrt(left)
    rows[count] = j
    state[COUNT] = count + 1
    return True


@helper
def remove_row(U, rows, state, a):
    """B loses its a-th row."""
    drop_column(U, state[COUNT], a, U[:, :0])
    state[COUNT] -= 1
    for b in range(a, state[COUNT]):
        rows[b] = rows[b + 1]


@helper
def face_minimum(d, U, rows, count, x_out):
    """x_out = -M_BB⁻¹ d_B"""
    for a in range(count):
        x_out[a] = -d[rows[a]]
    solve_transposed(U, count, x_out)
    solve_upper(U, count, x_out)


@helper
def advance(lam, rows, count, direction, limit):
    """λ_B += t · direction, t <= limit the furthest with λ >= 0; the position in B that stops it, -1 = none, and t."""
    stop = -1
    t = limit
    for a in range(count):
        if direction[a] < 0.0:
            reach = lam[rows[a]] / -direction[a]
            if reach < t:
                stop = a
                t = reach
    if t < np.inf:
        for a in range(count):
            lam[rows[a]] = max(lam[rows[a]] + t * direction[a], 0.0)
        if stop >= 0:
            lam[rows[stop]] = 0.0
    return stop, t


@helper
def steepest(M, d, tolerance, lam, rows, count, excused, x, zeta_out):
    """ζ̇ = M λ + d, and its most negative row outside B and beyond tolerance and rounding, -1 = none. x is scratch."""
    n = len(d)
    total = 0.0
    for i in range(n):
        zeta_out[i] = d[i]
    for a in range(count):
        x[a] = lam[rows[a]]
        total += x[a]
    add_rows(M, rows, x, count, zeta_out)
    for a in range(count):
        zeta_out[rows[a]] = 0.0
    best = -1
    worst = 0.0
    for i in range(n):
        if zeta_out[i] < worst and excused[i] == 0 and zeta_out[i] < -tolerance[i] - ROUNDING * (abs(d[i]) + total):
            best = i
            worst = zeta_out[i]
    return best


@helper
def exchange_dependent(M, d, lam, U, rows, state, j, x, last_out):
    """Row j, which depends on B, enters along the null vector y = (-x on B, 1 on j) until a force in B is gone.

    Returns GOING; SOLVED where j stays out, since up to rounding ζ̇_j is zero or j depends on the rest of B; or RAY
    where y >= 0.
    """
    count = state[COUNT]
    gain = d[j]
    size = abs(d[j])
    total = 1.0
    for a in range(count):
        gain -= d[rows[a]] * x[a]
        size += abs(d[rows[a]] * x[a])
        total += abs(x[a])
        x[a] = -x[a] if abs(x[a]) > 1e-12 else 0.0
    if gain >= -INCONSISTENT * size:
        return SOLVED
    stop, t = advance(lam, rows, count, x, np.inf)
    if stop < 0:
        return RAY
    last_out[1] = rows[stop]
    lam[j] = t
    rows[count] = j
    state[COUNT] = count + 1
    remove_row(U, rows, state, stop)
    state[MOVING] = 1
    if U[count - 1, count - 1] ** 2 > 10.0 * DEPENDENT * total * total:
        return GOING
    lam[j] = 0.0
    state[COUNT] = count - 1
    return SOLVED


@kernel
def force_step(M, d, tolerance, U, face):
    """Go to the minimum on B, or until a contact leaves it; or let the next one enter. Returns GOING, SOLVED or RAY.

    On RAY, face.x holds y on B and state[ENTERED] the row where y is 1.
    """
    lam, rows, state, excused = face.lam, face.rows, face.state, face.excused
    x, last_out = face.x, face.last
    last_out[0] = -1
    last_out[1] = -1
    if state[MOVING] == 1:
        count = state[COUNT]
        face_minimum(d, U, rows, count, x)
        for a in range(count):
            x[a] -= lam[rows[a]]
        stop, _ = advance(lam, rows, count, x, 1.0)
        if stop >= 0:
            last_out[1] = rows[stop]
            if rows[stop] == state[ENTERED]:  # it entered by rounding only
                excused[rows[stop]] = 1
            remove_row(U, rows, state, stop)
            return GOING
        state[MOVING] = 0
    j = steepest(M, d, tolerance, lam, rows, state[COUNT], excused, x, face.work)
    if j < 0:
        return SOLVED
    state[ENTERED] = j
    if append_row(M, U, rows, state, j, x):
        last_out[0] = j
        state[MOVING] = 1
        return GOING
    outcome = exchange_dependent(M, d, lam, U, rows, state, j, x, last_out)
    if outcome == SOLVED:
        excused[j] = 1
        return GOING
    if outcome == GOING:
        last_out[0] = j
    return outcome


@helper
def factor_set(M, inside, lam, U, rows, x, order):
    """rows = the members of a set, largest λ first, but those that depend on members before them last; U = the factor
    of the others, and beside it theirs, see `cholesky`. Returns the number of members, and of independent ones.
    order (n,) is work space."""
    count = 0
    for i in range(len(lam)):
        if inside[i] == 1:
            rows[count] = i
            count += 1
    for gap in (57, 23, 10, 4, 1):  # Shell's sort
        for b in range(gap, count):
            i = rows[b]
            a = b
            while a >= gap and lam[rows[a - gap]] < lam[i]:
                rows[a] = rows[a - gap]
                a -= gap
            rows[a] = i
    for a in range(count):
        i = rows[a]
        for b in range(a, count):
            U[a, b] = M[i, rows[b]]
    rank = cholesky(U, count, SINGULAR, x, order)
    if rank < count:
        for a in range(count):
            order[a] = rows[order[a]]
        for a in range(count):
            rows[a] = order[a]
    return count, rank


@kernel
def force_start(M, lam, U, rows, state, x, order):
    """B = the contacts with λ > 0, largest first, as far as they are independent; λ of the others becomes 0."""
    inside = np.empty(len(lam), np.int32)
    for i in range(len(lam)):
        inside[i] = 1 if lam[i] > 0.0 else 0
    count, rank = factor_set(M, inside, lam, U, rows, x, order)
    for a in range(rank, count):
        lam[rows[a]] = 0.0
    state[COUNT], state[ENTERED], state[MOVING] = rank, -1, 1


@kernel
def force_run(M, d, tolerance, U, face, limit, pivots_out):
    """Step until the end or the limit."""
    outcome = GOING
    while outcome == GOING and pivots_out[0] < limit:
        outcome = force_step(M, d, tolerance, U, face)
        pivots_out[0] += 1
    return outcome


class ActiveSet(Path):
    """The method on one scaled problem."""

    one, many = staticmethod(force_step), staticmethod(force_run)

    def __init__(self, data: Scaled, start: Array, tolerance: float) -> None:
        n = len(data.d)
        self.force, self.x = np.where(start > 0, start, 0.0), np.zeros(n + 1)
        self.rows, self.state = np.zeros(n + 1, np.int32), np.zeros(3, np.int32)
        U = np.zeros((n + 1, n + 1))
        force_start(data.M, self.force, U, self.rows, self.state, self.x, np.empty(n, np.int32))
        face = Face(self.force, self.rows, self.state, np.zeros(n, np.int32), self.x, np.empty(n),
                    np.full(2, -1, np.int32))
        super().__init__(data, face.last, data.M, data.d, tolerance * data.scale / data.size, U, face)

    @property
    def basic(self) -> IntArray:
        return np.sort(self.rows[: self.state[COUNT]])

    def lam(self) -> Array:
        return self.force

    def ray(self) -> Array:
        """The null vector along which the energy falls for ever."""
        y = np.zeros(len(self.force))
        count = int(self.state[COUNT])
        y[self.rows[:count]] = self.x[:count]
        y[self.state[ENTERED]] = 1.0
        return y

    def note(self) -> str:
        energy = 0.5 * self.force @ self.data.M @ self.force + self.force @ self.data.d
        return f"½λᵀMλ + λᵀd = {self.data.size**2 * energy:.6g}"


class ForceQP(PivotingSolver):
    """The QP in λ, from the contacts that push in the first guess. In its steps λ >= 0 and the energy falls."""

    name = "qp_force"
    title = "QP in λ (active set)"

    def begin(self, data: Scaled, start: Array, tolerance: float) -> ActiveSet:
        return ActiveSet(data, start, tolerance)
