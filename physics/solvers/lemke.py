"""Lemke's complementary pivoting with lexicographic degeneracy resolution.

    w = M z + d + e z0,   w, z, z0 >= 0,   w_i z_i = 0          (w = ζ̇, z = λ, e = (1, ..., 1))

z0 enters first, large enough that all w are positive; from then on the complement of what left enters, until z0 leaves
(a solution) or nothing bounds the entering variable (a ray). For copositive-plus M, hence for every positive
semidefinite one, symmetric or not, a ray proves that there is no solution: its z is the certificate.
[Lemke 1965; Cottle, Pang & Stone 1992, algorithm 4.4.5 and theorem 4.4.12; Cottle & Dantzig 1968]

The tableau is [w | z | z0 | right-hand side], one row a basic variable. Of the rows that tie in the ratio test the
lexicographically smallest of (right-hand side, w columns) / pivot leaves: no basis comes twice [CPS §4.9].
"""

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from ..problem.problem import ContactProblem, SolveInfo, Takes
from .lcp_info import GOING, RAY, SOLVED, Scaled, scaled
from .pivoting import Path, PivotingSolver, finish, most_pivots

OTHER_STARTS = 32   # contacts up to which other starts are tried where the first one ends on a ray, as it may for an
#                     indefinite M, or where rounding spoils it
ZERO_ENTRY = 1e-11  # entries of a tableau column that count as zero, relative to its largest


@kernel
def lemke_start(M, d, tableau_out, basis_out):
    """Write the tableau of w - M z - e z0 = d; basis_out (n,) holds the columns of the basic variables, all w."""
    n = len(d)
    for i in range(n):
        for j in range(n):
            tableau_out[i, j] = 1.0 if i == j else 0.0
            tableau_out[i, n + j] = -M[i, j]
        tableau_out[i, 2 * n] = -1.0
        tableau_out[i, 2 * n + 1] = d[i]
        basis_out[i] = i


@helper
def lexicographically_less(tableau, i, k, column):
    """Is row i over its pivot smaller than row k over its own, compared by w columns from the first on?"""
    n = len(tableau)
    for j in range(n):
        a = tableau[i, j] / tableau[i, column]
        b = tableau[k, j] / tableau[k, column]
        if abs(a - b) > ZERO_ENTRY * (1.0 + abs(a) + abs(b)):
            return a < b
    return False


@helper
def leaving_row(tableau, basis, column):
    """The row whose variable reaches zero first as the column's variable grows, -1 = none; z0 wins every tie."""
    n = len(tableau)
    top = 0.0
    for i in range(n):
        top = max(top, abs(tableau[i, column]))
    best = -1
    least = np.inf
    for i in range(n):
        if tableau[i, column] <= ZERO_ENTRY * max(top, 1.0):
            continue
        ratio = max(tableau[i, 2 * n + 1], 0.0) / tableau[i, column]
        tie = abs(ratio - least) <= ZERO_ENTRY * (1.0 + ratio) if best >= 0 else False
        if tie and basis[best] == 2 * n:
            continue
        if tie and (basis[i] == 2 * n or lexicographically_less(tableau, i, best, column)):
            best = i
            least = min(least, ratio)
        elif not tie and ratio < least:
            best = i
            least = ratio
    return best


@helper
def most_violated(tableau):
    """The first row to leave: the lexicographically smallest d_i; -1 where d >= 0."""
    n = len(tableau)
    best = -1
    least = 0.0
    for i in range(n):
        # of equal d_i the last row is the smallest, because the w columns are those of the unit matrix
        if tableau[i, 2 * n + 1] < 0.0 and tableau[i, 2 * n + 1] <= least:
            best = i
            least = tableau[i, 2 * n + 1]
    return best


@helper
def exchange(tableau, basis, row, column):
    """Gauss–Jordan elimination: the column's variable becomes basic in the row."""
    factor = 1.0 / tableau[row, column]
    for j in range(tableau.shape[1]):
        tableau[row, j] *= factor
    tableau[row, column] = 1.0
    for i in range(len(tableau)):
        factor = tableau[i, column]
        if i != row and factor != 0.0:
            for j in range(tableau.shape[1]):
                tableau[i, j] -= factor * tableau[row, j]
            tableau[i, column] = 0.0
    basis[row] = column


@kernel
def lemke_pivot(tableau, basis, entering, last_out):
    """One pivot: the variable of column entering[0] enters. last_out = column entered, column left (-1: none).

    Puts the next column into `entering`; returns GOING, SOLVED or RAY.
    """
    n = len(tableau)
    column = int(entering[0])
    last_out[0] = column
    last_out[1] = -1
    row = most_violated(tableau) if column == 2 * n else leaving_row(tableau, basis, column)
    if row < 0:
        return SOLVED if column == 2 * n else RAY
    left = int(basis[row])
    last_out[1] = left
    exchange(tableau, basis, row, column)
    entering[0] = left + n if left < n else left - n
    return SOLVED if left == 2 * n else GOING


@kernel
def lemke_run(tableau, basis, entering, last_out, limit, pivots_out):
    """Pivot until the end or the limit."""
    outcome = GOING
    while outcome == GOING and pivots_out[0] < limit:
        outcome = lemke_pivot(tableau, basis, entering, last_out)
        pivots_out[0] += 1
    return outcome


class LemkePath(Path):
    """The tableau of a scaled problem, or of one in which the swapped contacts' ζ̇ and λ have changed places."""

    one, many = staticmethod(lemke_pivot), staticmethod(lemke_run)

    def __init__(self, data: Scaled, swapped: tuple[int, ...] = ()) -> None:
        n = len(data.d)
        self.tableau, self.basis = np.empty((n, 2 * n + 2)), np.empty(n, np.int32)
        lemke_start(data.M, data.d, self.tableau, self.basis)
        self.swapped = swapped
        last = np.full(2, -1, np.int32)
        super().__init__(data, last, self.tableau, self.basis, np.full(1, 2 * n, np.int32), last)

    def _values(self) -> Array:
        """Values (2 n + 1,) of all variables: w, z, z0."""
        values = np.zeros(2 * len(self.basis) + 1)
        values[self.basis] = self.tableau[:, -1]
        return values

    @property
    def basic(self) -> IntArray:
        n = len(self.basis)
        rows = self.basis[(self.basis >= n) & (self.basis < 2 * n)] - n
        return np.array(sorted(set(rows.tolist()) ^ set(self.swapped)), np.int32)

    def lam(self) -> Array:
        n = len(self.basis)
        return self._values()[n : 2 * n]

    def ray(self) -> Array:
        """The z part of the direction in which the entering variable may grow without bound."""
        n = len(self.basis)
        if self.swapped:
            return np.zeros(n)
        ray = np.zeros(2 * n + 1)
        ray[self.last[0]] = 1.0
        ray[self.basis] = -self.tableau[:, self.last[0]]
        return ray[n : 2 * n]

    def names(self) -> tuple[str, str]:
        n = len(self.basis)
        entered, left = ("" if c < 0 else "z0" if c == 2 * n else f"ζ̇{c + 1}" if c < n else f"λ{c - n + 1}"
                         for c in self.last.tolist())
        return entered, left

    def note(self) -> str:
        return f"z0 = {self._values()[-1]:.3g}"


class Lemke(PivotingSolver):
    """The solver that also takes matrices that are neither symmetric nor semidefinite. Between the
    first and the last pivot of its steps z0 > 0 is added to every ζ̇."""

    name = "lemke"
    title = "Lemke"
    takes = Takes.FRICTIONLESS | Takes.UNSYMMETRIC

    def begin(self, data: Scaled, start: Array, tolerance: float) -> LemkePath:
        return LemkePath(data)

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """See PivotingSolver."""
        data = scaled(problem)
        limit = iterations or most_pivots(lam)
        info = finish(data, LemkePath(data), limit, tolerance, lam)
        again = ("ray", "stuck")
        for pair in _exchanges(data.M) if info.status in again and len(lam) <= OTHER_STARTS else ():
            path = LemkePath(_exchanged(data, pair), pair)
            path.pivots[0] = info.pivots
            info = finish(data, path, limit, tolerance, lam)
            if info.status not in again:
                break
        return info


def _exchanges(M: Array) -> list[tuple[int, int]]:
    """Pairs of contacts with a regular 2 x 2 block, at most one for each first contact."""
    minors = np.multiply.outer(np.diagonal(M), np.diagonal(M)) - M * M.T
    best = np.argmax(np.abs(np.triu(minors, 1)), axis=1)
    return [(i, int(j)) for i, j in enumerate(best) if j > i and abs(minors[i, j]) > ZERO_ENTRY]


def _exchanged(data: Scaled, pair: tuple[int, int]) -> Scaled:
    """The problem with ζ̇ and λ of the pair exchanged: its principal pivot transform [CPS §2.3]."""
    a = np.array(pair)
    b = np.setdiff1d(np.arange(len(data.d)), a)
    inverse = np.linalg.inv(data.M[np.ix_(a, a)])
    M, d = np.empty_like(data.M), np.empty_like(data.d)
    M[np.ix_(a, a)], d[a] = inverse, -inverse @ data.d[a]
    M[np.ix_(a, b)] = -inverse @ data.M[np.ix_(a, b)]
    M[np.ix_(b, a)] = data.M[np.ix_(b, a)] @ inverse
    M[np.ix_(b, b)] = data.M[np.ix_(b, b)] + data.M[np.ix_(b, a)] @ M[np.ix_(a, b)]
    d[b] = data.d[b] + data.M[np.ix_(b, a)] @ d[a]
    return Scaled(M, d, data.scale, data.size)
