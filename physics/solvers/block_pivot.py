"""Block principal pivoting: guess which contacts push, solve for their forces, exchange every wrong guess at once.

    F = {i : λ_i may be > 0},   λ_F = -M_FF⁻¹ d_F,   ζ̇_G = d_G + M_GF λ_F
    exchange all i in F with λ_i < 0 and all i in G with ζ̇_i < 0                    [Júdice & Pires 1994; Kostreva 1978]

The first guess comes from a few sweeps of projected Gauss–Seidel, each far cheaper than a factorisation; two or three
factorisations are the rule then. Should the number of wrong guesses not fall for TRIES rounds, one contact at a
time is exchanged, the wrong one with the largest index, until it has fallen: Murty's method, which never cycles where M
is positive definite [Murty 1974; Portugal, Júdice & Vicente 1994].

Redundant contacts: where a pivot of the factorisation says that M_FF is singular, M + ε 1 takes the place of M. Its
answer costs as few rounds and pushes at nearly the right contacts; from there the active-set method of `qp` needs few
steps to a basic solution of the given problem, or to the proof that there is none.

M must be symmetric.
"""

from collections.abc import Iterator

import numpy as np

from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import Array
from contactlab.physics.problem import ContactProblem, SolveInfo, Takes
from contactlab.physics.solvers.lcp_info import (
    GOING,
    ROUNDING,
    SOLVED,
    STATUS,
    STUCK,
    PivotStep,
    equilibrate,
    scaled,
    subtract_row,
)
from contactlab.physics.solvers.linear import SINGULAR, cholesky, solve_transposed, solve_upper
from contactlab.physics.solvers.pivoting import finish
from contactlab.physics.solvers.qp import COUNT, ActiveSet, force_run, force_start

SWEEPS = 10       # for the first guess
TRIES = 10        # rounds of whole blocks without progress before single exchanges
SHIFT = 0.01      # ε: small enough for nearly the right contacts, large enough for few rounds
ENOUGH = 4        # with ε, rounds end once a fraction 1/ENOUGH of the contacts is wrong: the rest is cheaper in `qp`


@helper
def gather(M, inside, shift, rows, U):
    """rows = members of F; U = upper triangle of M_FF + shift 1. Returns their number."""
    count = 0
    for i in range(len(inside)):
        if inside[i] == 1:
            rows[count] = i
            count += 1
    for a in range(count):
        i = rows[a]
        for b in range(a, count):
            U[a, b] = M[i, rows[b]]
        U[a, a] += shift
    return count


@helper
def solve_inside(M, d, inside, shift, rows, U, x, kept):
    """x = λ_F of the set `inside`; returns the number in F, and shift[0] becomes SHIFT where M_FF proves singular."""
    count = gather(M, inside, shift[0], rows, U)
    if cholesky(U, count, SINGULAR, x, kept) < count:
        shift[0] = SHIFT
        gather(M, inside, shift[0], rows, U)
        if cholesky(U, count, SINGULAR, x, kept) < count:
            return -1
    for a in range(count):
        x[a] = -d[rows[a]]
    solve_transposed(U, count, x)
    solve_upper(U, count, x)
    return count


@helper
def sweep(M, d, lam_out, zeta_out):
    """λ after SWEEPS of projected Gauss–Seidel from 0 for a unit diagonal, and ζ̇ = M λ + d."""
    n = len(d)
    for i in range(n):
        lam_out[i] = 0.0
        zeta_out[i] = d[i]
    for _ in range(SWEEPS):
        for i in range(n):
            before = lam_out[i]
            lam_out[i] = max(before - zeta_out[i], 0.0)
            if lam_out[i] != before:
                subtract_row(zeta_out, 0, before - lam_out[i], M, i, n)


@kernel
def first_guess(M, d, lam, zeta, inside_out):
    """F = {λ > 0} of the first guess lam or, where it has none, of a few sweeps, which overwrite it."""
    n = len(d)
    given = False
    for i in range(n):
        given = given or lam[i] > 0.0
    if not given:
        sweep(M, d, lam, zeta)
    for i in range(n):
        inside_out[i] = 1 if lam[i] > 0.0 else 0


@helper
def exchange(inside, wrong, memory):
    """Exchange all wrong rows, or only the last where memory = (fewest so far, tries left) says so; their number."""
    n = len(inside)
    count = 0
    last = -1
    for i in range(n):
        if wrong[i] == 1:
            count += 1
            last = i
    if count < memory[0]:
        memory[0] = count
        memory[1] = TRIES
    elif memory[1] > 0:
        memory[1] -= 1
    else:
        inside[last] = 1 - inside[last]
        return 1
    for i in range(n):
        if wrong[i] == 1:
            inside[i] = 1 - inside[i]
    return count


@kernel
def block_pivot(M, d, tolerance, inside, shift, memory, U, x, rows, wrong, lam_out, zeta_out):
    """One round: solve on `inside` for lam_out and zeta_out, exchange what is wrong. Returns GOING, SOLVED or STUCK.

    memory (4,) = fewest wrong so far, tries left, exchanges made in all, wrong in this round.
    """
    n = len(d)
    count = solve_inside(M, d, inside, shift, rows, U, x, wrong)
    if count < 0:
        return STUCK
    total = 0.0
    for i in range(n):
        lam_out[i] = 0.0
        zeta_out[i] = d[i]
        wrong[i] = 0
    for a in range(count):
        j = rows[a]
        lam_out[j] = x[a]
        total += abs(x[a])
        subtract_row(zeta_out, 0, -x[a], M, j, n)
    found = 0
    for i in range(n):
        noise = ROUNDING * (abs(d[i]) + total)
        if (inside[i] == 1 and lam_out[i] < -noise) or (inside[i] == 0 and zeta_out[i] < -noise - tolerance[i]):
            wrong[i] = 1
            found += 1
    if found == 0:
        return SOLVED
    memory[2] += exchange(inside, wrong, memory)
    memory[3] = found
    return GOING


@kernel
def block_solve(M, d, tolerance, limit, lam, found_out):
    """Scale, pivot from the first guess to the end, scale back. Returns the outcome and the
    largest violation of the answer [unit of d], negative where neither rounding nor tolerance explains it.

    lam is written where the outcome is SOLVED, and in any case holds a guess. found_out (k + 3,) = rounds, exchanges,
    size of the basis, and its rows.
    """
    n = len(d)
    floats = np.empty(2 * n * n + 8 * n + 4)  # one piece for all: allocations cost small problems dear
    A = floats[: n * n].reshape((n, n))
    U = floats[n * n : 2 * n * n + 2 * n + 1].reshape((n + 1, n + 1))
    rest = floats[2 * n * n + 2 * n + 1 :]
    b, scale, allowed, zeta = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n : 4 * n]
    x = rest[4 * n : 5 * n + 1]
    shift = rest[5 * n + 1 : 5 * n + 2]
    shift[0] = 0.0
    ints = np.zeros(3 * n + 5, np.int32)
    inside, wrong, rows, memory = ints[:n], ints[n : 2 * n], ints[2 * n : 3 * n + 1], ints[3 * n + 1 :]
    size = equilibrate(M, d, A, b, scale)
    for i in range(n):
        allowed[i] = tolerance * scale[i] / size
    first_guess(A, b, lam, zeta, inside)
    memory[0] = n + 1
    memory[1] = TRIES
    outcome = GOING
    rounds = 0
    while outcome == GOING and rounds < limit:
        outcome = block_pivot(A, b, allowed, inside, shift, memory, U, x, rows, wrong, lam, zeta)
        rounds += 1
        if shift[0] > 0.0 and memory[3] * ENOUGH <= n:
            break
    for i in range(n):
        lam[i] = max(lam[i], 0.0)
    if shift[0] > 0.0:
        outcome = make_basic(A, b, allowed, limit, lam, U, rows, inside, wrong, x, zeta, memory)
    count = 0
    for i in range(n):
        lam[i] *= size * scale[i]
        if inside[i] == 1:
            found_out[3 + count] = i
            count += 1
    found_out[0] = rounds
    found_out[1] = memory[2]
    found_out[2] = count
    return outcome, natural_violation(M, d, lam, tolerance, zeta)


@kernel
def make_basic(A, b, allowed, limit, lam, U, rows, inside, excused, x, zeta, memory):
    """From the answer of a shifted problem to a basic one of the given problem by the active-set method; the outcome.
    `inside` becomes the basis, memory[2] counts its exchanges."""
    n = len(b)
    state, last, pivots = np.zeros(3, np.int32), np.empty(2, np.int32), np.zeros(1, np.int32)
    force_start(A, lam, U, rows, state, x, excused)
    for i in range(n):
        excused[i] = 0
        inside[i] = 0
    outcome = force_run(A, b, allowed, lam, U, rows, state, excused, x, zeta, last, limit, pivots)
    memory[2] += pivots[0]
    for a in range(state[COUNT]):
        inside[rows[a]] = 1
    return outcome


@helper
def natural_violation(M, d, lam, tolerance, zeta):
    """Largest |min(M_ii λ_i, ζ̇_i)| [unit of d], made negative where rounding and tolerance do not explain it."""
    n = len(d)
    size = 0.0  # Σ √M_jj λ_j: |M_ij| <= √M_ii √M_jj bounds the terms of the sums
    for j in range(n):
        zeta[j] = d[j]
    for j in range(n):
        if lam[j] > 0.0:
            subtract_row(zeta, 0, -lam[j], M, j, n)
            size += np.sqrt(M[j, j]) * lam[j]
    worst = 0.0
    explained = True
    for i in range(n):
        miss = abs(min(M[i, i] * lam[i], zeta[i]))
        worst = max(worst, miss)
        explained = explained and miss <= 100.0 * ROUNDING * (abs(d[i]) + np.sqrt(M[i, i]) * size) + tolerance
    return worst if explained else -worst


class BlockPivot:
    """The fast one."""

    name = "block_pivot"
    title = "Block principal pivoting"
    takes = Takes.FRICTIONLESS
    iterative = False

    def __call__(self, problem: ContactProblem, lam: Array, iterations: int = 0, tolerance: float = 1e-12) -> SolveInfo:
        """Overwrite lam (k,), whose positive entries are the first guess, with a basic solution."""
        if problem.dimension != 1:
            raise ValueError("block pivoting solves problems without friction")
        found = np.empty(len(lam) + 3, np.int32)
        limit = iterations or 50 * len(lam) + 100
        outcome, change = block_solve(problem.M, problem.d, tolerance, limit, lam, found)
        rounds, pivots, count = found[:3].tolist()
        if outcome == SOLVED and change >= 0.0:
            return SolveInfo("solved", rounds, change, pivots, found[3 : 3 + count])
        data = scaled(problem)
        info = finish(problem, data, ActiveSet(data, lam / (data.scale * data.size), tolerance), limit, tolerance, lam)
        return info._replace(iterations=rounds, pivots=pivots + info.pivots)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Round by round; `entering` and `leaving` list all that are exchanged after the round."""
        data = scaled(problem)
        n = len(lam)
        memory, shift, U = np.array([n + 1, TRIES, 0, 0], np.int32), np.zeros(1), np.empty((n, n))
        x, force, zeta = np.empty(n), lam.copy(), np.empty(n)
        rows, wrong, allowed = np.empty(n, np.int32), np.empty(n, np.int32), 1e-12 * data.scale / data.size
        inside = np.empty(n, np.int32)
        first_guess(data.M, data.d, force, zeta, inside)
        for number in range(1, (iterations or 10 * n + 100) + 1):
            before = inside.copy()
            outcome = block_pivot(data.M, data.d, allowed, inside, shift, memory, U, x, rows, wrong, force, zeta)
            names = tuple(" ".join(f"λ{i + 1}" for i in np.flatnonzero(change > 0))
                          for change in (inside - before, before - inside))
            note = STATUS[outcome] if outcome != GOING else f"{wrong.sum()} wrong"
            if shift[0] > 0:
                note += f", M + {SHIFT:g} 1"
            basic = np.flatnonzero(before).astype(np.int32)
            given = data.restore(force)
            yield PivotStep(number, names[0], names[1], basic, given, problem.M @ given + problem.d, note)
            if outcome != GOING:
                return

