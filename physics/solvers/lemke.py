"""Lemke's complementary pivoting with lexicographic degeneracy resolution.

    w = M z + d + e z0,   w, z, z0 >= 0,   w_i z_i = 0          (w = ζ̇, z = λ, e = (1, ..., 1))

z0 enters first, large enough that all w are positive; from then on the complement of what left enters, until z0 leaves
(a solution) or nothing bounds the entering variable (a ray). For copositive-plus M, hence for every positive
semidefinite one, symmetric or not, a ray proves that there is no solution: its z is the certificate.
[Lemke 1965; Cottle, Pang & Stone 1992, algorithm 4.4.5 and theorem 4.4.12; Cottle & Dantzig 1968]

The tableau is [w | z | z0 | right-hand side], one row a basic variable. Of the rows that tie in the ratio test the
lexicographically smallest of (right-hand side, w columns) / pivot leaves: no basis comes twice [CPS §4.9].
"""

from collections.abc import Iterator

import numpy as np

from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import Array, IntArray
from contactlab.physics.problem import ContactProblem
from contactlab.physics.solvers.lcp_info import (
    GOING,
    RAY,
    SOLVED,
    STATUS,
    LcpInfo,
    PivotStep,
    Scaled,
    conclude,
    scaled,
    step_of,
)

TINY = 1e-11  # entries of a tableau column that count as zero, relative to its largest


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
        if abs(a - b) > TINY * (1.0 + abs(a) + abs(b)):
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
        if tableau[i, column] <= TINY * max(top, 1.0):
            continue
        ratio = max(tableau[i, 2 * n + 1], 0.0) / tableau[i, column]
        tie = abs(ratio - least) <= TINY * (1.0 + ratio) if best >= 0 else False
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
        # where these are equal: the w columns are those of the unit matrix, so the last row is the smallest
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

    Puts the next one into `entering`; returns GOING, SOLVED or RAY.
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


class Lemke:
    """The solver that also takes matrices that are neither symmetric nor semidefinite."""

    name = "lemke"
    title = "Lemke"

    def __call__(self, problem: ContactProblem, lam: Array, iterations: int = 0, tolerance: float = 1e-12) -> LcpInfo:
        """Overwrite lam (k,) with a basic solution, or with 0 where there is none (see LcpSolver)."""
        data = scaled(problem)
        limit = iterations or 50 * len(lam) + 100
        pivots = np.zeros(1, np.int32)
        info = _attempt(problem, data, data, (), limit, pivots, tolerance, lam)
        for pair in _exchanges(data.M) if info.status == "ray" else ():
            info = _attempt(problem, data, _exchanged(data, pair), pair, limit, pivots, tolerance, lam)
            if info.status != "ray":
                break
        return info

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Pivot by pivot; between the first and the last pivot z0 > 0 lifts every ζ̇."""
        data = scaled(problem)
        tableau, basis, entering, last = _start(data)
        n = len(lam)
        for number in range(1, (iterations or 50 * n + 100) + 1):
            outcome = lemke_pivot(tableau, basis, entering, last)
            values = np.zeros(2 * n + 1)
            values[basis] = tableau[:, -1]
            names = _name(int(last[0]), n), _name(int(last[1]), n)
            note = STATUS[outcome] if outcome != GOING else f"z0 = {values[2 * n]:.3g}"
            yield step_of(problem, data, number, names, _basic(basis), values[n : 2 * n], note)
            if outcome != GOING:
                return


def _attempt(
    problem: ContactProblem, data: Scaled, path: Scaled, swapped: tuple[int, ...], limit: int, pivots: IntArray,
    tolerance: float, lam: Array,
) -> LcpInfo:
    """Follow the path of a problem, or of one in which the swapped contacts' ζ̇ and λ have changed places."""
    tableau, basis, entering, last = _start(path)
    outcome = lemke_run(tableau, basis, entering, last, limit, pivots)
    basic = np.array(sorted(set(_basic(basis).tolist()) ^ set(swapped)), np.int32)
    ray = _ray(tableau, basis, int(last[0])) if outcome == RAY and not swapped else np.zeros(len(lam))
    return conclude(problem, data, outcome, (int(pivots[0]), int(pivots[0])), basic, ray, tolerance, lam)


def _exchanges(M: Array) -> list[tuple[int, int]]:
    """Pairs of contacts with a regular 2 x 2 block, at most one for each first contact."""
    minors = np.multiply.outer(np.diagonal(M), np.diagonal(M)) - M * M.T
    best = np.argmax(np.abs(np.triu(minors, 1)), axis=1)
    return [(i, int(j)) for i, j in enumerate(best) if j > i and abs(minors[i, j]) > TINY]


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


def _start(data: Scaled) -> tuple[Array, IntArray, IntArray, IntArray]:
    """Tableau, basis, the column to enter first (z0) and room for the last exchange."""
    n = len(data.d)
    tableau, basis = np.empty((n, 2 * n + 2)), np.empty(n, np.int32)
    lemke_start(data.M, data.d, tableau, basis)
    return tableau, basis, np.full(1, 2 * n, np.int32), np.full(2, -1, np.int32)


def _basic(basis: IntArray) -> IntArray:
    """Rows whose λ is basic."""
    n = len(basis)
    return np.sort(basis[(basis >= n) & (basis < 2 * n)]) - np.int32(n)


def _ray(tableau: Array, basis: IntArray, column: int) -> Array:
    """The z part of the direction in which the entering variable may grow without bound."""
    n = len(basis)
    ray = np.zeros(2 * n + 1)
    ray[column] = 1.0
    ray[basis] = -tableau[:, column]
    return ray[n : 2 * n]


def _name(column: int, n: int) -> str:
    if column < 0:
        return ""
    return "z0" if column == 2 * n else f"ζ̇{column + 1}" if column < n else f"λ{column - n + 1}"
