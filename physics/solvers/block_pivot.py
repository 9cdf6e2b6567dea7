"""Block principal pivoting: guess which contacts push, solve for their forces, exchange every wrong guess at once.

    F = {i : λ_i may be > 0},   λ_F = -M_FF⁻¹ d_F,   ζ̇_G = d_G + M_GF λ_F
    exchange all i in F with λ_i < 0 and all i in G with ζ̇_i < 0                    [Júdice & Pires 1994; Kostreva 1978]

The first guess comes from a few sweeps of projected over-relaxation, each far cheaper than a factorisation; one or two
factorisations are the rule then. Should the number of wrong guesses not fall for TRIES rounds, one contact at a
time is exchanged, the wrong one with the largest index, until it has fallen: Murty's method, which never cycles where M
is positive definite [Murty 1974; Portugal, Júdice & Vicente 1994].

Redundant contacts: where a pivot of the factorisation says that M_FF is singular, the active-set method of `qp` goes on
from the independent ones of F, those with the largest forces first, to a basic solution or to the proof that there is
none.

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
from contactlab.physics.solvers.linear import solve_transposed, solve_upper
from contactlab.physics.solvers.pivoting import finish, steps
from contactlab.physics.solvers.qp import COUNT, ENTERED, MOVING, ActiveSet, factor_set, force_run

SWEEPS = 15       # at most, for the first guess: one costs n², a factorisation n³/6, so few are worth it for small n
OVER = 1.4        # by which they overshoot: half as many wrong guesses as with 1
TRIES = 10        # rounds of whole blocks without progress before single exchanges


@helper
def sweep(M, d, lam_out, zeta_out):
    """λ after some sweeps of projected successive over-relaxation from 0 for a unit diagonal, and ζ̇ = M λ + d."""
    n = len(d)
    for i in range(n):
        lam_out[i] = 0.0
        zeta_out[i] = d[i]
    for _ in range(min(SWEEPS, 5 + n // 6)):
        for i in range(n):
            before = lam_out[i]
            after = max(before - OVER * zeta_out[i], 0.0)
            if after != before:
                lam_out[i] = after
                subtract_row(zeta_out, 0, before - after, M, i, n)


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
        if lam[i] > 0.0:
            inside_out[i] = 1
        else:
            inside_out[i] = 0
            lam[i] = 0.0


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
def block_pivot(M, d, tolerance, inside, memory, U, x, rows, wrong, lam, zeta_out):
    """One round: solve on `inside` for lam and zeta_out, exchange what is wrong. Returns GOING, SOLVED, or STUCK where
    M_FF is singular; then lam is nought but on an independent part of F, the first memory[3] of rows, with factor U.

    memory (4,) = fewest wrong so far, tries left, exchanges made in all, wrong in this round or the size of that part.
    """
    n = len(d)
    count, rank = factor_set(M, inside, lam, U, rows, x, wrong)
    if rank < count:
        memory[3] = rank
        return STUCK
    for a in range(count):
        x[a] = -d[rows[a]]
    solve_transposed(U, count, x)
    solve_upper(U, count, x)
    total = 0.0
    for i in range(n):
        lam[i] = 0.0
        zeta_out[i] = d[i]
        wrong[i] = 0
    for a in range(count):
        j = rows[a]
        lam[j] = x[a]
        total += abs(x[a])
        subtract_row(zeta_out, 0, -x[a], M, j, n)
    found = 0
    for i in range(n):
        noise = ROUNDING * (abs(d[i]) + total)
        if (inside[i] == 1 and lam[i] < -noise) or (inside[i] == 0 and zeta_out[i] < -noise - tolerance[i]):
            wrong[i] = 1
            found += 1
    if found == 0:
        return SOLVED
    memory[2] += exchange(inside, wrong, memory)
    memory[3] = found
    return GOING


@kernel
def block_solve(M, d, tolerance, limit, lam, basic_out):
    """Scale, pivot from the first guess to the end, scale back. Returns the outcome; the largest violation [unit of d],
    negative where neither rounding nor tolerance explains it; rounds; exchanges; and the size of the basis, whose rows
    are written to basic_out (k,). lam is the answer or at least a guess.
    """
    n = len(d)
    floats = np.empty(2 * n * n + 8 * n + 4)  # one piece for all: allocations cost small problems dear
    A = floats[: n * n].reshape((n, n))
    U = floats[n * n : 2 * n * n + 2 * n + 1].reshape((n + 1, n + 1))
    rest = floats[2 * n * n + 2 * n + 1 :]
    b, scale, allowed, zeta = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n : 4 * n]
    x = rest[4 * n : 5 * n + 1]
    ints = np.empty(3 * n + 5, np.int32)
    inside, wrong, rows, memory = ints[:n], ints[n : 2 * n], ints[2 * n : 3 * n + 1], ints[3 * n + 1 :]
    size = equilibrate(M, d, A, b, scale)
    for i in range(n):
        allowed[i] = tolerance * scale[i] / size
    first_guess(A, b, lam, zeta, inside)
    memory[0], memory[1], memory[2] = n + 1, TRIES, 0
    outcome = GOING
    rounds = 0
    while outcome == GOING and rounds < limit:
        outcome = block_pivot(A, b, allowed, inside, memory, U, x, rows, wrong, lam, zeta)
        rounds += 1
    if outcome == STUCK:
        outcome = make_basic(A, b, allowed, limit, lam, U, rows, inside, wrong, x, zeta, memory)
    worst = violation(A, b, scale, size, tolerance, lam, zeta)
    count = 0
    for i in range(n):
        lam[i] *= size * scale[i]
        if inside[i] == 1:
            basic_out[count] = i
            count += 1
    return outcome, worst, rounds, memory[2], count


@kernel
def make_basic(A, b, allowed, limit, lam, U, rows, inside, excused, x, zeta, memory):
    """From the independent part of F that block_pivot leaves to a basic solution by the active-set method; the outcome.
    `inside` becomes the basis, memory[2] counts its exchanges."""
    ints = np.empty(6, np.int32)
    state, last, pivots = ints[:3], ints[3:5], ints[5:]
    state[COUNT], state[ENTERED], state[MOVING], pivots[0] = memory[3], -1, 1, 0
    for i in range(len(b)):
        lam[i] = max(lam[i], 0.0)
        excused[i] = 0
        inside[i] = 0
    outcome = force_run(A, b, allowed, lam, U, rows, state, excused, x, zeta, last, limit, pivots)
    memory[2] += pivots[0]
    for a in range(state[COUNT]):
        inside[rows[a]] = 1
    return outcome


@helper
def violation(A, b, scale, size, tolerance, lam, zeta):
    """Largest |min(λ_i, ζ̇_i)| of the scaled λ, here made >= 0, in the unit of the given d; negative where rounding and
    tolerance do not explain it."""
    n = len(b)
    total = 0.0
    for i in range(n):
        zeta[i] = b[i]
    for j in range(n):
        lam[j] = max(lam[j], 0.0)
        if lam[j] > 0.0:
            subtract_row(zeta, 0, -lam[j], A, j, n)
            total += lam[j]
    worst = 0.0
    explained = True
    for i in range(n):
        unit = size / scale[i]
        miss = abs(min(lam[i], zeta[i])) * unit
        worst = max(worst, miss)
        explained = explained and miss <= 100.0 * ROUNDING * (abs(b[i]) + total) * unit + tolerance
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
        basic = np.empty(len(lam), np.int32)
        limit = iterations or 50 * len(lam) + 100
        outcome, change, rounds, pivots, count = block_solve(problem.M, problem.d, tolerance, limit, lam, basic)
        if outcome == SOLVED and change >= 0.0:
            return SolveInfo("solved", rounds, change, pivots, basic[:count])
        data = scaled(problem)
        info = finish(problem, data, ActiveSet(data, lam / (data.scale * data.size), tolerance), limit, tolerance, lam)
        return info._replace(iterations=rounds, pivots=pivots + info.pivots)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Round by round; `entering` and `leaving` list all that are exchanged after the round. Pivot by pivot from
        where M_FF is singular."""
        data = scaled(problem)
        n = len(lam)
        memory, U = np.array([n + 1, TRIES, 0, 0], np.int32), np.empty((n, n))
        x, force, zeta = np.empty(n), lam.copy(), np.empty(n)
        rows, wrong, allowed = np.empty(n, np.int32), np.empty(n, np.int32), 1e-12 * data.scale / data.size
        inside, limit = np.empty(n, np.int32), iterations or 10 * n + 100
        first_guess(data.M, data.d, force, zeta, inside)
        for number in range(1, limit + 1):
            before = inside.copy()
            outcome = block_pivot(data.M, data.d, allowed, inside, memory, U, x, rows, wrong, force, zeta)
            if outcome == STUCK:
                yield from steps(problem, ActiveSet(data, force, 1e-12), number, limit)
                return
            names = tuple(" ".join(f"λ{i + 1}" for i in np.flatnonzero(change > 0))
                          for change in (inside - before, before - inside))
            note = STATUS[outcome] if outcome != GOING else f"{wrong.sum()} wrong"
            basic = np.flatnonzero(before).astype(np.int32)
            given = data.restore(force)
            yield PivotStep(number, names[0], names[1], basic, given, problem.M @ given + problem.d, note)
            if outcome != GOING:
                return
