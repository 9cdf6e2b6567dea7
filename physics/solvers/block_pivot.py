"""Block principal pivoting: guess which contacts push, solve for their forces, exchange every wrong guess at once.

    F = {i : λ_i may be > 0},   λ_F = -M_FF⁻¹ d_F,   ζ̇_G = d_G + M_GF λ_F
    exchange all i in F with λ_i < 0 and all i in G with ζ̇_i < 0                    [Júdice & Pires 1994; Kostreva 1978]

The first guess comes from a few sweeps of projected over-relaxation in single precision, each far cheaper than a
factorisation; one or two factorisations are the rule then. Should the number of wrong guesses not fall for TRIES
rounds, one contact at a time is exchanged, the wrong one with the largest index, until it has fallen: Murty's method,
which never cycles where M is positive definite [Murty 1974; Portugal, Júdice & Vicente 1994].

Redundant contacts: where a pivot of the factorisation says that M_FF is singular, those of F that depend on the others,
which are those with the largest forces, hand their forces over to them; where one of these comes to zero before, the
two change places. Velocities stay as they are, and F becomes independent. From there the active-set method of `qp` goes
on to a basic solution or to the proof that there is none.

Problems of few contacts without a first guess are solved one exchange after the other, see `tableau`: that costs them
less than a factorisation or two. `trace` shows blocks whatever the size.

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
    add_rows,
    equilibrate,
    scaled,
    subtract_row,
    violation,
)
from contactlab.physics.solvers.linear import solve_beside, solve_transposed, solve_upper
from contactlab.physics.solvers.pivoting import finish, most_pivots, steps
from contactlab.physics.solvers.qp import COUNT, ENTERED, MOVING, ActiveSet, begin_on, factor_set, force_run
from contactlab.physics.solvers.tableau import SMALL, solve_small

SWEEPS = 32       # at most, for the first guess: one costs n², a factorisation n³/6, so few are worth it for small n
OVER = 1.4        # by which they overshoot: half as many wrong guesses as with 1
TRIES = 10        # rounds of whole blocks without progress before single exchanges
ROOM = 8          # rows and columns of the matrix in single precision are filled up to a multiple of this
ZERO = np.float32(0.0)

# with few contacts the call takes as long as the work: what it needs is found at once
INDEX, empty, made = np.dtype(np.int32), np.empty, tuple.__new__


@helper
def narrow_size(n):
    """Numbers in single precision that first_guess needs: a matrix, ζ̇ and λ."""
    size = (n + ROOM - 1) // ROOM * ROOM
    return size * (size + 2)


@helper
def narrowed(M, d, space_out):
    """M, d and λ = 0 in single precision, filled up with zeros: (size, size), (size,), (size,)."""
    n = len(d)
    size = (n + ROOM - 1) // ROOM * ROOM
    A, zeta, lam = space_out[: size * size].reshape((size, size)), space_out[-2 * size : -size], space_out[-size:]
    for i in range(size):
        lam[i] = ZERO
        zeta[i] = np.float32(d[i]) if i < n else ZERO
        if i < n:
            for j in range(n):
                A[i, j] = np.float32(M[i, j])
            for j in range(n, size):
                A[i, j] = ZERO
        else:
            for j in range(size):
                A[i, j] = ZERO
    return A, zeta, lam


@helper
def relax(lam, i, zeta):
    """λ_i goes beyond where ζ̇_i vanishes for a unit diagonal, but not below 0; returns its change."""
    before = lam[i]
    after = max(before - np.float32(OVER) * zeta, ZERO)
    lam[i] = after
    return after - before


@helper
def sweep(A, zeta, lam, sweeps):
    """Projected successive over-relaxation: four rows one after the other, then one pass over ζ̇ for what they did."""
    size = len(zeta)
    for _ in range(sweeps):
        for i in range(0, size, 4):
            c0 = relax(lam, i, zeta[i])
            c1 = relax(lam, i + 1, zeta[i + 1] + c0 * A[i, i + 1])
            c2 = relax(lam, i + 2, zeta[i + 2] + c0 * A[i, i + 2] + c1 * A[i + 1, i + 2])
            c3 = relax(lam, i + 3, zeta[i + 3] + c0 * A[i, i + 3] + c1 * A[i + 1, i + 3] + c2 * A[i + 2, i + 3])
            if c0 != ZERO or c1 != ZERO or c2 != ZERO or c3 != ZERO:
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
    """F = {λ > 0} of the first guess lam or, where it has none, of a few sweeps, which overwrite it."""
    n = len(d)
    if not any_positive(lam):
        A, zeta, force = narrowed(M, d, np.empty(narrow_size(n), np.float32))
        sweep(A, zeta, force, min(SWEEPS, 5 + n // 8))
        for i in range(n):
            lam[i] = force[i]
    for i in range(n):
        inside_out[i] = 1 if lam[i] > 0.0 else 0
        lam[i] = max(lam[i], 0.0)


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
    M_FF is singular; then U and the first memory[3] of rows are as `factor_set` leaves them.

    memory (5,) = fewest wrong so far, tries left, exchanges made in all, wrong in this round or (SOLVED, STUCK) the
    size of F, and its rank.
    """
    n = len(d)
    count, rank = factor_set(M, inside, lam, U, rows, x, wrong)
    if rank < count:
        memory[3], memory[4] = count, rank
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


@kernel
def block_solve(M, d, tolerance, iterations, lam, basic_out):
    """Scale, pivot from the first guess to the end, scale back. Returns the outcome; the largest violation [unit of d],
    negative where neither rounding nor tolerance explains it; rounds; exchanges; and the size of the basis, whose rows
    are written to basic_out (k,). lam is the answer or at least a guess. iterations = 0: as many as it can need.
    """
    n = len(d)
    limit = iterations if iterations > 0 else 50 * n + 100
    if n <= SMALL and not any_positive(lam):
        outcome, worst, made, count = solve_small(M, d, tolerance, limit, lam, basic_out)
        return outcome, worst, made, made, count
    floats = np.empty(2 * n * n + 8 * n + 4)  # one piece for all: allocations cost small problems dear
    A = floats[: n * n].reshape((n, n))
    U = floats[n * n : 2 * n * n + 2 * n + 1].reshape((n + 1, n + 1))
    rest = floats[2 * n * n + 2 * n + 1 :]
    b, scale, allowed, zeta = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n : 4 * n]
    x = rest[4 * n : 5 * n + 1]
    ints = np.empty(3 * n + 6, np.int32)
    inside, wrong, rows, memory = ints[:n], ints[n : 2 * n], ints[2 * n : 3 * n + 1], ints[3 * n + 1 :]
    size = equilibrate(M, d, A, b, scale)
    for i in range(n):
        allowed[i] = tolerance * scale[i] / size
    first_guess(A, b, lam, inside)
    memory[0], memory[1], memory[2] = n + 1, TRIES, 0
    outcome = GOING
    rounds = 0
    while outcome == GOING and rounds < limit:
        outcome = block_pivot(A, b, allowed, inside, memory, U, x, rows, wrong, lam, zeta)
        rounds += 1
    if outcome == SOLVED:
        refine(A, b, U, rows, memory[3], x, zeta, lam)
    elif outcome == STUCK:
        outcome = make_basic(A, b, allowed, limit, lam, U, rows, inside, wrong, x, zeta, memory)
    count, used = 0, 0
    for i in range(n):
        lam[i] *= size * scale[i]
        if inside[i] == 1:
            basic_out[count] = i
            count += 1
        if lam[i] != 0.0:
            rows[used] = i
            used += 1
    worst = violation(M, d, scale, tolerance, lam, rows, used, x, zeta)
    return outcome, worst, rounds, memory[2], count


@helper
def hand_over(U, rows, count, rank, lam):
    """rows[:rank] becomes a basis of rows[:count] with λ >= 0 and the same M λ; U is as `cholesky` leaves it. λ of
    rows[rank:count] becomes 0, U beside the factor of no use. Returns whether rows[:rank] is another one than before.

    M_j = Σ x_b M_b over the basis: λ_j gives up t and λ_b gains t x_b, until λ_j or a λ_a with x_a < 0 is zero. Then j
    takes the place of a, and the coefficients y of those not yet seen become y_j = y_a / x_a, y_b - y_j x_b.
    """
    left = count - rank
    solve_beside(U, rank, count)
    T = np.empty((left, rank + 3 - rank % 2))  # rows a power of 2 apart would share their places in the cache
    for b in range(rank):
        for c in range(left):
            T[c, b] = U[b, count - 1 - c]
    changed = False
    for c in range(left):
        x = T[c]
        j = rows[count - 1 - c]  # the smallest first: these go most easily
        t = lam[j]
        a = -1
        for b in range(rank):
            if lam[rows[b]] < -x[b] * t:
                t = lam[rows[b]] / -x[b]
                a = b
        for b in range(rank):
            lam[rows[b]] = max(lam[rows[b]] + t * x[b], 0.0)
        if a < 0:
            lam[j] = 0.0
            continue
        lam[j] -= t
        lam[rows[a]] = 0.0
        rows[a] = j
        changed = True
        for e in range(c + 1, left):
            factor = T[e, a] / x[a]
            for b in range(rank):
                T[e, b] -= factor * x[b]
            T[e, a] = factor
    return changed


@kernel
def make_basic(A, b, allowed, limit, lam, U, rows, inside, excused, x, zeta, memory):
    """From F and its factor as block_pivot leaves them where M_FF is singular to a basic solution; the outcome.
    `inside` becomes the basis, memory[2] counts the exchanges of the active-set method."""
    ints = np.empty(6, np.int32)
    state, last, pivots = ints[:3], ints[3:5], ints[5:]
    for i in range(len(b)):
        lam[i] = max(lam[i], 0.0)
        inside[i] = 0
    state[COUNT], state[ENTERED], state[MOVING], pivots[0] = memory[4], -1, 1, 0
    if hand_over(U, rows, memory[3], memory[4], lam):
        for a in range(memory[4]):
            inside[rows[a]] = 1
        begin_on(A, inside, lam, U, rows, state, x, excused)
    for i in range(len(b)):
        inside[i] = excused[i] = 0
    outcome = force_run(A, b, allowed, lam, U, rows, state, excused, x, zeta, last, limit, pivots)
    memory[2] += pivots[0]
    for a in range(state[COUNT]):
        inside[rows[a]] = 1
    return outcome


@helper
def refine(A, b, U, rows, count, x, zeta, lam):
    """λ_B -= M_BB⁻¹ (M λ + d)_B on the set B of the first of rows, whose factor is U."""
    for i in range(len(b)):
        zeta[i] = b[i]
    for a in range(count):
        x[a] = lam[rows[a]]
    add_rows(A, rows, x, count, zeta)
    for a in range(count):
        x[a] = zeta[rows[a]]
    solve_transposed(U, count, x)
    solve_upper(U, count, x)
    for a in range(count):
        lam[rows[a]] -= x[a]


class BlockPivot:
    """The fast one."""

    name = "block_pivot"
    title = "Block principal pivoting"
    takes = Takes.FRICTIONLESS
    iterative = False

    def __call__(self, problem: ContactProblem, lam: Array, iterations: int = 0, tolerance: float = 1e-12) -> SolveInfo:
        """Overwrite lam (k,), whose positive entries are the first guess, with a basic solution."""
        if len(problem.friction):
            raise ValueError("block pivoting solves problems without friction")
        basic = empty(len(lam), INDEX)
        outcome, change, rounds, pivots, count = block_solve(problem.M, problem.d, tolerance, iterations, lam, basic)
        if outcome == SOLVED and change >= 0.0:
            return made(SolveInfo, ("solved", rounds, change, pivots, basic[:count], None))
        data, limit = scaled(problem), iterations or most_pivots(lam)
        info = finish(problem, data, ActiveSet(data, lam / (data.scale * data.size), tolerance), limit, tolerance, lam)
        return info._replace(iterations=rounds, pivots=pivots + info.pivots)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Round by round; `entering` and `leaving` list all that are exchanged after the round. Pivot by pivot from
        where M_FF is singular."""
        data = scaled(problem)
        n = len(lam)
        memory, U = np.array([n + 1, TRIES, 0, 0, 0], np.int32), np.empty((n, n))
        x, force, zeta = np.empty(n), lam.copy(), np.empty(n)
        rows, wrong, allowed = np.empty(n, np.int32), np.empty(n, np.int32), 1e-12 * data.scale / data.size
        inside, limit = np.empty(n, np.int32), iterations or 10 * n + 100
        first_guess(data.M, data.d, force, inside)
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
