"""Block principal pivoting: guess which contacts push, solve for their forces, exchange every wrong guess at once.

    F = {i : λ_i may be > 0},   λ_F = -M_FF⁻¹ d_F,   ζ̇_G = d_G + M_GF λ_F
    exchange all i in F with λ_i < 0 and all i in G with ζ̇_i < 0                    [Júdice & Pires 1994; Kostreva 1978]

The first guess comes from a few sweeps of projected over-relaxation in single precision, each far cheaper than a
factorisation. After it one or two factorisations are usually enough. Where the number of wrong guesses has not fallen
for BLOCK_TRIES rounds, only the wrong contact with the largest index is exchanged in each round, until the number has
fallen: Murty's method, which never cycles where M is positive definite [Murty 1974; Portugal, Júdice & Vicente 1994].

Up to FEW_CONTACTS contacts without a first guess are solved by exchanging one contact after the other, which costs
less: see `single_exchanges`. Problems in which a pivot of the factorisation shows M_FF to be singular are solved in the
same way. `trace` shows blocks whatever the size.

M must be symmetric.
"""

from collections.abc import Iterator

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array
from ..problem.problem import ContactProblem, SolveInfo, Takes
from .lcp_info import GOING, ROUNDING, SOLVED, STATUS, STUCK, PivotStep, equilibrate, scaled, subtract_row
from .linear import solve_transposed, solve_upper
from .pivoting import finish, most_pivots, steps
from .qp import ActiveSet, factor_set
from .refinement import settle
from .single_exchanges import solve_singly
from .solver import Solver

FEW_CONTACTS = 256    # up to so many, single exchanges cost less than a first guess and its factorisations
GUESS_SWEEPS = 32     # for the first guess, at most: a sweep costs n², a factorisation n³/6; small problems get fewer
OVERRELAXATION = 1.4  # factor of the sweeps' steps: leaves half as many wrong guesses as 1
BLOCK_TRIES = 10      # rounds of whole blocks without progress before single exchanges
PADDED_TO = 8         # size of the matrix in single precision, with zeros added, is a multiple of this
ZERO32 = np.float32(0.0)

# bound once: for few contacts, looking these names up in each call would cost as much as the solution itself
INDEX, empty, made = np.dtype(np.int32), np.empty, tuple.__new__


@helper
def narrow_size(n):
    """Numbers in single precision that first_guess needs: a matrix, ζ̇ and λ."""
    size = (n + PADDED_TO - 1) // PADDED_TO * PADDED_TO
    return size * (size + 2)


@helper
def narrowed(M, d, space_out):
    """M, d and λ = 0 in single precision, filled up with zeros: (size, size), (size,), (size,)."""
    n = len(d)
    size = (n + PADDED_TO - 1) // PADDED_TO * PADDED_TO
    A, zeta, lam = space_out[: size * size].reshape((size, size)), space_out[-2 * size : -size], space_out[-size:]
    for i in range(size):
        lam[i] = ZERO32
        zeta[i] = np.float32(d[i]) if i < n else ZERO32
        if i < n:
            for j in range(n):
                A[i, j] = np.float32(M[i, j])
            for j in range(n, size):
                A[i, j] = ZERO32
        else:
            for j in range(size):
                A[i, j] = ZERO32
    return A, zeta, lam


@helper
def relax(lam, i, zeta):
    """λ_i -= OVERRELAXATION ζ̇_i for a unit diagonal M_ii = 1, but not below 0; returns its change."""
    before = lam[i]
    after = max(before - np.float32(OVERRELAXATION) * zeta, ZERO32)
    lam[i] = after
    return after - before


@helper
def sweep(A, zeta, lam, sweeps):
    """Projected successive over-relaxation: four rows in turn, then one pass that updates ζ̇ for all four."""
    size = len(zeta)
    for _ in range(sweeps):
        for i in range(0, size, 4):
            c0 = relax(lam, i, zeta[i])
            c1 = relax(lam, i + 1, zeta[i + 1] + c0 * A[i, i + 1])
            c2 = relax(lam, i + 2, zeta[i + 2] + c0 * A[i, i + 2] + c1 * A[i + 1, i + 2])
            c3 = relax(lam, i + 3, zeta[i + 3] + c0 * A[i, i + 3] + c1 * A[i + 1, i + 3] + c2 * A[i + 2, i + 3])
            if c0 != ZERO32 or c1 != ZERO32 or c2 != ZERO32 or c3 != ZERO32:
                for l in range(size):
                    zeta[l] += c0 * A[i, l] + c1 * A[i + 1, l] + c2 * A[i + 2, l] + c3 * A[i + 3, l]


@helper
def any_positive(lam):
    found = False
    for i in range(len(lam)):
        found = found or lam[i] > 0.0
    return found


@kernel
def first_guess(M, d, lam, inside_out):
    """inside_out (n,) = 1 where the first guess lam is > 0. Sweeps make the guess where no entry of lam is positive."""
    n = len(d)
    if not any_positive(lam):
        A, zeta, force = narrowed(M, d, np.empty(narrow_size(n), np.float32))
        sweep(A, zeta, force, min(GUESS_SWEEPS, 5 + n // 8))
        for i in range(n):
            lam[i] = force[i]
    for i in range(n):
        inside_out[i] = 1 if lam[i] > 0.0 else 0
        lam[i] = max(lam[i], 0.0)


@helper
def exchange(inside, wrong, memory):
    """Exchange all wrong rows, or only the last one where no tries are left; returns how many were exchanged.

    memory[0]: fewest wrong rows so far; memory[1]: tries left.
    """
    n = len(inside)
    count = 0
    last = -1
    for i in range(n):
        if wrong[i] == 1:
            count += 1
            last = i
    if count < memory[0]:
        memory[0] = count
        memory[1] = BLOCK_TRIES
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
def block_pivot(M, d, tolerance, sets, memory, U, x, lam, zeta_out):
    """One round: solve on F for lam and zeta_out, exchange what is wrong. Returns GOING, SOLVED, or STUCK where M_FF is
    singular. sets (3, n) = 1 for those in F, 1 for wrong guesses, rows. Where SOLVED, U is the factor on F, whose
    members are the first of rows.

    memory (4,) = fewest wrong so far, tries left, exchanges made in all, wrong in this round or (SOLVED) the size of F.
    """
    n = len(d)
    inside, wrong, rows = sets[0], sets[1], sets[2]
    count, rank = factor_set(M, inside, lam, U, rows, x, wrong)
    if rank < count:
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
        memory[3] = count
        return SOLVED
    memory[2] += exchange(inside, wrong, memory)
    memory[3] = found
    return GOING


@helper
def solve_blocks(M, d, tolerance, limit, lam, basic_out):
    """Scale, pivot from the first guess to the end, scale back. Returns the outcome and what `block_solve` returns."""
    n = len(d)
    square, flat = np.empty((2, n, n)), np.empty((6, n))
    sets, memory = np.empty((3, n), np.int32), np.empty(4, np.int32)
    A, U = square[0], square[1]
    b, scale, allowed, x, scratch = flat[0], flat[1], flat[2], flat[3], flat[4:]
    inside, rows = sets[0], sets[2]
    size = equilibrate(M, d, A, b, scale)
    for i in range(n):
        allowed[i] = tolerance * scale[i] / size
    first_guess(A, b, lam, inside)
    memory[0], memory[1], memory[2] = n + 1, BLOCK_TRIES, 0
    outcome = GOING
    rounds = 0
    while outcome == GOING and rounds < limit:
        outcome = block_pivot(A, b, allowed, sets, memory, U, x, lam, scratch[1])
        rounds += 1
    count = 0
    for i in range(n):
        lam[i] *= size * scale[i]
        if inside[i] == 1:
            basic_out[count] = i
            count += 1
    worst = -1.0
    if outcome == SOLVED:
        worst = settle(M, d, scale, tolerance, U, True, rows, count, scratch, lam)
    return outcome, worst, rounds, memory[2], count


@kernel
def block_solve(M, d, tolerance, iterations, lam, basic_out):
    """Solve in blocks or one exchange after the other.

    Returns the largest violation of the laws [unit of d], negative where it is more than rounding or tolerance explain;
    the rounds; the exchanges; and the size of the basis, whose rows are written to basic_out (k,). lam becomes the
    answer, or a guess where none is found. iterations = 0: as many as the method can need.
    """
    n = len(d)
    limit = iterations if iterations > 0 else 50 * n + 100
    rounds, pivots = 0, 0
    if n > FEW_CONTACTS or any_positive(lam):
        outcome, worst, rounds, pivots, count = solve_blocks(M, d, tolerance, limit, lam, basic_out)
        if outcome != STUCK:
            return worst, rounds, pivots, count
    worst, made, count = solve_singly(M, d, tolerance, limit, lam, basic_out)
    return worst, rounds + made, pivots + made, count


class BlockPivot(Solver):
    """Block principal pivoting, the fastest solver of problems without friction."""

    name = "block_pivot"
    title = "Block principal pivoting"
    takes = Takes.FRICTIONLESS
    iterative = False

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """A basic solution from the positive entries of lam (k,)."""
        basic = empty(len(lam), INDEX)
        change, rounds, pivots, count = block_solve(problem.M, problem.d, tolerance, iterations, lam, basic)
        if change >= 0.0:
            return made(SolveInfo, ("solved", rounds, change, pivots, basic[:count], None))
        data, limit = scaled(problem), iterations or most_pivots(lam)
        info = finish(data, ActiveSet(data, lam / (data.scale * data.size), tolerance), limit, tolerance, lam)
        return info._replace(iterations=rounds, pivots=pivots + info.pivots)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Round by round; `entering` and `leaving` list all contacts exchanged after the round. From a round in which
        M_FF is singular, the trace goes on pivot by pivot."""
        data = scaled(problem)
        n = len(lam)
        memory, U = np.array([n + 1, BLOCK_TRIES, 0, 0], np.int32), np.empty((n, n))
        x, force, zeta = np.empty(n), lam.copy(), np.empty(n)
        sets, allowed = np.empty((3, n), np.int32), 1e-12 * data.scale / data.size
        inside, limit = sets[0], iterations or 10 * n + 100
        first_guess(data.M, data.d, force, inside)
        for number in range(1, limit + 1):
            before = inside.copy()
            outcome = block_pivot(data.M, data.d, allowed, sets, memory, U, x, force, zeta)
            if outcome == STUCK:
                yield from steps(problem, ActiveSet(data, force, 1e-12), number, limit)
                return
            names = tuple(" ".join(f"λ{i + 1}" for i in np.flatnonzero(change > 0))
                          for change in (inside - before, before - inside))
            note = STATUS[outcome] if outcome != GOING else f"{sets[1].sum()} wrong"
            basic = np.flatnonzero(before).astype(np.int32)
            given = data.restore(force)
            yield PivotStep(number, names[0], names[1], basic, given, problem.M @ given + problem.d, note)
            if outcome != GOING:
                return
