"""Newton's method on Signorini's and Coulomb's laws, island by island, in place of sweeps.

Every contact is open, sticks or slips. With these modes the laws are linear but for the direction of slip,
λ = D (ε c - u) with a 3 x 3 matrix D of each contact, see `contact_modes`. In the coordinates of `island` all impulses
follow from one sparse system:

    u = u₀ + G x,   x = Gᵀ λ    =>    (1 + Gᵀ D G) Δx = Gᵀ (D (ε c - u) - λ)

ε is a small compliance, the same for all contacts, which makes redundant forces unique: with c = 0 they are those of a
slightly elastic structure. Repeated steps with c = λ then remove the yielding and keep these shares (proximal point
[Rockafellar 1976]).

Where nothing moves, the impulses of the last step are those of this one, and an island is not even set up (`unrest`),
or they are changed as little as possible (`keep_rest`).

With wrong modes the modes can cycle, and with a small ε impulses that contradict each other become large. Then Newton's
method begins again from the last c whose laws were solved, with a larger ε: the solution for this c is nearer, and
wrong modes do less. From there ε falls again, after a few c at the same ε where it had fallen too far.

An island is tried from the impulses of the last step; from these after a few sweeps, which correct modes contact by
contact [Silcowitz, Niebe & Erleben 2010]; and from points of the central path, nearer and nearer to its end, see
`try_path`: it leads to a solution where redundant contacts contradict each other by a millionth of the velocities, as
in a heap that is struck, so that modes are not found for hundreds of steps. The last two share redundant forces as they
come, so the solution is sought once more from c = 0. In an island of medium size c = 0 is tried first after sweeps,
which mostly ends there and then, see `try_least`.

An island that this does not solve, see LONG, keeps the best impulses found and is swept on as by `pgs`. So is
an island of more than MOST row blocks, and one whose bodies touch so many others that factors would take longer than
sweeps, see WORK. But a large island whose contacts are new, as of a pyramid that stands at the start, is tried once,
and rests where that succeeds: it then costs less than by sweeps, which never end.
"""

import math
from collections.abc import Iterator

import numpy as np

from ..core.jit import helper, on_demand, program
from ..core.model import Array
from ..core.sym3 import three
from ..core.vec import add, axpy, neg, norm, put, put_rows, row, scale, sub
from ..problem.assemble import flat, put_flat
from ..problem.joint_rows import row_residual
from ..problem.moments import moment_residual, turning_of
from ..problem.parts import MANY_CONTACTS
from ..problem.problem import ContactProblem, SolveInfo, Takes
from ..problem.residual import contact_residual
from ..problem.system import (
    BIAS,
    BODY_SIZE,
    CONTACT,
    MOMENT,
    MOUSE,
    OTHERS,
    System,
    contact_velocity,
    has_one_row,
    impulse_of,
    push_block,
    push_contact,
    push_pair,
    push_row,
    row_velocity,
)
from .central_path import follow_path, open_path
from .contact_modes import set_modes, times, worst_of
from .interior_point import InteriorPoint
from .island import STEP, add_products, add_velocity, find_islands, gather, open_island, skyline_of
from .lcp_info import PivotStep
from .skyline import factor_skyline, set_identity, solve_skyline
from .solver import Solver
from .sweeps import only_pairs, sweep_members, sweep_pairs, sweep_parts

MOST = 300          # most row blocks of an island that is solved whatever it does,
LARGEST = 3000      # and of one whose contacts are new, or that nearly rests
WORK = 2000         # most multiplications of a factorization, per row block; 30 sweeps make about 6000,
MORE_WORK = 20000   # and for a large island
ROUNDS = 12         # most steps of Newton's method for an island of many row blocks
VISITS = 600        # most steps times row blocks for one of few, where that allows more
MOST_ROUNDS = 60    # most steps for any island
MANY = 300          # most steps from a beginning that sweeps have found
COMPLIANCE = 1e-5   # ε, relative to the smallest mean diagonal of a row block's own block of M
SOFTER = 1e2        # factor of ε after sweeps
SOFTEST = 1e5       # largest factor of ε
STIFFEST = 1e-3     # smallest factor of ε, for redundant contacts that contradict each other by more than rounding
LESS = 0.1          # factor by which ε is lowered where a step with c = λ leaves too much of the residual, see STILL
STILL = 0.03        # part of the residual that such a step may leave without lowering ε
PATIENCE = 2        # steps in a row that do not halve the residual for c, after which ε is raised
LONGEST = 4         # most times that c changes at an ε before it is lowered again, where it had to be raised
GUESS = 1e-3        # opening velocity below which a contact counts as closed at first, relative to the largest velocity
INNER = 0.5         # part of the residual that the laws for the last c may leave: then c = λ follows
QUIET = 1e-3        # residual of the first guess above which sweeps come first, relative to the largest velocity
FEW = 5             # sweeps over a guess that is far off
DIRECT = 8          # most steps from c = 0 after these, where they may have found all modes,
LARGE = 8           # of an island of so many row blocks, where steps cost more than setting it up,
HUGE = 48           # and of fewer than so many: of 291 islands of more, as a tower is struck, 2 were solved so
LEAST = 5           # most steps from c = 0, for the least of redundant forces, once a solution is known
EXACT = 1e-13       # natural map that ends the steps, relative to the largest velocity without impulses
RESTS = 1e-12       # natural map up to which impulses of the last step are left as they are, relative to the same
NEARLY = 1e-6       # and up to which they are changed as little as possible, see `keep_rest`,
SLIGHT = 3          # in at most so many steps
ENOUGH = 9e-11      # natural map that counts as solved where steps hardly reduce it, relative to the same; asked: 1e-10
NOT_MORE = 0.1      # part of the last residual above which a step has hardly reduced it
OVERFLOW = 1e300    # residual at which the steps have diverged [m/s]
LONG = 30000        # most factorizations along the central path, and steps from its points; one of 12000 took 26000
APART = 0.25, 0.05  # how near the path has to be for a point to count as near it, first and in case that fails
NEAR = 3e-5         # natural map on it at which Newton's method is tried first, relative to the same,
NEARER = 0.3        # and part of the last one at which it is tried again
AS_BEFORE, SWEPT = range(2)  # beginnings of Newton's method, see `solve_island`
ISLANDS_SWEPT, STEPS, CHANGE = range(3)  # entries of told_out of `solve_islands`


# --------------------------------------------------------------------------------------------------------- the island
@helper
def compliance_of(island):
    """ε [1/kg]"""
    least = math.inf
    for j in range(len(island.kind)):
        if island.law[j, STEP] > 0.0:
            least = min(least, 1.0 / island.law[j, STEP])
    return COMPLIANCE * (least if least < math.inf else 1.0)


@helper
def settle(island, centre, eps, w_out):
    """Compute x and u from λ, and w = u + ε (λ - c)."""
    gather(island, island.lam, island.x)
    put_rows(island.u, island.free)
    add_velocity(island, island.x, island.u)
    for j in range(len(island.kind)):
        put(w_out, j, axpy(eps, sub(row(island.lam, j), row(centre, j)), row(island.u, j)))


@helper
def newton_round(island, sky, D, way, centre, eps):
    """One step of Newton's method for λ with the modes of D and way. It is computed as a change of the last λ, so that
    the rounding of u is not divided by ε."""
    m = len(island.kind)
    change, step, along = np.zeros((m, 3)), np.zeros(len(island.x)), np.zeros((m, 3))
    for j in range(m):
        aim = times(D, j, axpy(-1.0, row(island.u, j), scale(eps, row(centre, j))))
        if island.kind[j] != CONTACT:
            aim = add(aim, row(way, j))
        put(change, j, sub(aim, row(island.lam, j)))
    gather(island, change, step)
    solve_skyline(sky, step)
    add_velocity(island, step, along)
    for j in range(m):
        put(island.lam, j, add(row(island.lam, j), sub(row(change, j), times(D, j, row(along, j)))))


@helper
def give(system, island):
    """Write the island's impulses to the system, and add the effect of their change to its velocities."""
    blocks, q_dot = system.blocks, system.motion.q_dot
    for j in range(len(island.kind)):
        k, p = int(island.source[j]), row(island.lam, j)
        if island.kind[j] == CONTACT:
            change = sub(p, row(system.impulse, k))
            put(system.impulse, k, p)
            push_pair(system, system.motion, k, change)
        elif island.kind[j] == MOUSE:
            push_block(blocks, k, sub(p, flat(system.grab.impulse)), q_dot)
            put_flat(system.grab.impulse, p)
        elif island.kind[j] == MOMENT:
            push_block(blocks, k, sub(p, impulse_of(system, k)), q_dot)
            put(system.moments.impulse, int(blocks.bound[k]), p)
        else:
            push_row(blocks, k, p[0] - blocks.impulse[k], q_dot)
            blocks.impulse[k] = p[0]


@helper
def take(system, island):
    """Copy the system's impulses to the island."""
    for j in range(len(island.kind)):
        k = int(island.source[j])
        if island.kind[j] == CONTACT:
            put(island.lam, j, row(system.impulse, k))
        else:
            put(island.lam, j, impulse_of(system, k))


@helper
def work_of(sky):
    """Multiplications of a factorization."""
    total = 0
    for k in range(len(sky.at)):
        total += (sky.last[k] - k) * (sky.last[k] - k)
    return total


@helper
def own_size(island):
    """The largest |u| + |λ|/ρ, the velocity of a row block if its own impulse were missing [m/s]."""
    size = 0.0
    for j in range(len(island.kind)):
        if island.law[j, STEP] > 0.0:
            size = max(size, norm(row(island.u, j)) + norm(row(island.lam, j)) / island.law[j, STEP])
    return size


@helper
def follow_modes(island, sky, centre, softer, softest, near, size, most):
    """At most so many steps of Newton's method, from the island's λ and from c = `centre`, with a compliance ε that is
    `softer` times the usual one. near: opening velocity below which a contact counts as closed at first, relative to
    size [m/s], the largest velocity without impulses. λ becomes the solution, else the best found. Returns how many
    steps were made, whether it is solved, whether it began again from another c than the one given, and the natural map
    that is left [m/s]. From the one given λ changes by a sum of columns of D G, whatever ε is.

    Where the modes cycle, or the first step leads far away, it begins again from c = λ at the last c, with a larger ε:
    the solution for this c is nearer. ε may become up to `softest` times the usual one."""
    m, usual = len(island.kind), compliance_of(island)
    eps = softer * usual
    mode, D, way, w = np.zeros(m, np.int64), np.zeros((m, 9)), np.zeros((m, 3)), np.zeros((m, 3))
    work, good, last = np.zeros((3, len(island.x))), island.lam.copy(), island.lam.copy()
    settle(island, centre, eps, w)
    set_modes(island, island.u, eps, near * size, mode, D, way)
    best, stale, again, new = worst_of(island, island.u), True, False, softer == 1.0 < softest
    left, least, stalls = np.inf, np.inf, 0  # residual at the last change of c; least since; steps without progress
    done, held, wait = 0, 0, 0  # steps; changes of c before ε may fall; how many that were when it was raised
    for done in range(1, most + 1):
        if stale:
            set_identity(sky)
            add_products(island, D, work, sky)
            if not factor_skyline(sky):
                break
        newton_round(island, sky, D, way, centre, eps)
        settle(island, centre, eps, w)
        other, turned = set_modes(island, w, eps, 0.0, mode, D, way)
        stale = other or turned > 0.0
        miss, wrong = worst_of(island, island.u), worst_of(island, w)
        if miss <= EXACT * size or (
                miss <= ENOUGH * size and not other and miss > NOT_MORE * left and miss <= ENOUGH * own_size(island)):
            return done, True, again, miss
        if miss < best:
            best = miss
            put_rows(good, island.lam)
        if wrong <= INNER * miss:  # solved for this c
            put_rows(centre, island.lam)
            put_rows(last, island.lam)
            if miss > STILL * left:
                if miss <= ENOUGH * own_size(island):
                    break
                held -= 1
                if softest == 1.0:  # rigid contacts contradict each other, which takes many steps: not asked for here
                    break
                if held < 0 and eps > STIFFEST * usual:
                    eps *= LESS
                    stale = True
            other, turned = set_modes(island, island.u, eps, 0.0, mode, D, way)
            stale = stale or other or turned > 0.0
            left, least, stalls, new = miss, np.inf, 0, False
        elif wrong <= 0.5 * least:
            least, stalls = wrong, 0
        else:
            stalls += 1
        if stalls > PATIENCE or not wrong < OVERFLOW or (new and wrong > QUIET * size):
            eps, again = eps / LESS, again or left < np.inf
            if eps > softest * usual:
                break
            wait = min(2 * wait + 1, LONGEST)
            held = wait
            put_rows(island.lam, last)
            put_rows(centre, last)
            settle(island, centre, eps, w)
            set_modes(island, island.u, eps, 0.0, mode, D, way)
            stale, least, stalls, new = True, np.inf, 0, False
    put_rows(island.lam, good)
    settle(island, centre, eps, w)  # u at this λ
    return done, best <= ENOUGH * own_size(island), again, best


@helper
def sweep_island(system, members, island):
    """A few sweeps from the island's λ."""
    give(system, island)
    sweep_members(system, members, FEW, 0.0)
    take(system, island)


@helper
def keep_rest(system, island, sky, left, rests):
    """Change impulses of the last step that are nearly as good as a solution, left > rests is their `unrest`, as little
    as possible: from c = λ, which takes one or two steps where c = 0 takes three or four. They stay the least ones, as
    the change is a sum of columns of D G, and they are one. Returns the steps, and whether it is solved.

    A stack that its own forces hold turns over ever faster: a wrong velocity grows by a fifth in a step where ten boxes
    stand on each other. To stop it takes forces that would set it going the other way in the next step. So a velocity
    that has grown to `rests` is stopped by half and by half again, and forces are right from then on for many steps."""
    start, size = island.lam.copy(), 0.0
    for j in range(len(island.kind)):
        size = max(size, norm(row(island.free, j)))
    steps, solved, _, _ = follow_modes(island, sky, start.copy(), 1.0, 1.0, 0.0, size, SLIGHT)
    if left <= 2.0 * rests:
        for j in range(len(island.kind)):
            put(island.lam, j, scale(0.5, add(row(start, j), row(island.lam, j))))
    give(system, island)
    return steps, solved


@helper
def try_least(island, sky, near, size):
    """A few steps from c = 0, so that redundant forces that solve the laws are the least ones at once, from the modes
    of the island's λ; see `follow_modes`. Returns the steps, whether it is solved, and whether there may be a solution
    from c = 0: not so where contacts contradict each other. λ is as it was where it is not solved."""
    start, centre = island.lam.copy(), np.zeros((len(island.kind), 3))
    made, solved, cycles, _ = follow_modes(island, sky, centre, 1.0, 1.0, near, size, DIRECT)
    if not solved:
        put_rows(island.lam, start)
    return made, solved, cycles or made == DIRECT


@on_demand
def try_path(island, sky, found, size, told_out) -> bool:
    """Along the central path from its beginning, whatever is known of λ; and wherever it has come nearer to the
    solution, some steps of Newton's method from there. `found` (m, 3) becomes the best impulses. Returns whether it is
    solved. told_out (2,): the factorizations along the path and steps, and the natural map that is left [m/s]."""
    steps, solved, least = 0, False, np.inf
    for apart in APART:
        path, near, on, made = open_path(island, sky, apart), NEAR * size, True, 0
        while on and not solved and made < LONG:
            looks, miss, on = follow_path(island, sky, path, near, LONG - made)
            near = NEARER * miss
            rounds, solved, _, miss = follow_modes(
                island, sky, island.lam.copy(), SOFTER, SOFTEST, 0.0, size, MOST_ROUNDS)
            made += looks + rounds
            if solved or miss < least:
                least = miss
                put_rows(found, island.lam)
        steps += made
        if solved:
            break
    told_out[0], told_out[1] = steps, least
    return solved


@helper
def solve_island(system, members, island, sky):
    """Solve an island in the system. Returns the steps of Newton's method and along the central path, how many sweeps
    were made, and whether the island is solved; if not, the system has the best impulses found."""
    m = len(island.kind)
    centre, start, found = np.zeros((m, 3)), island.lam.copy(), island.lam.copy()
    size, turns, steps, sweeps, solved, again, least = 0.0, False, 0, 0, False, False, np.inf
    has_least = True
    for j in range(m):
        size, turns = max(size, norm(row(island.free, j))), turns or island.kind[j] == MOMENT
    far = worst_of(island, island.u) > QUIET * size
    for beginning in range(AS_BEFORE + far, SWEPT + 1):
        if beginning == AS_BEFORE:
            softer, near, most = 1.0, GUESS, min(max(ROUNDS, VISITS // m), MOST_ROUNDS)
        else:
            softer, near, most = SOFTER, GUESS if far else 0.0, MANY if m <= MOST else MOST_ROUNDS
            put_rows(island.lam, start)
            sweep_island(system, members, island)
            sweeps += FEW
            if far and LARGE <= m < HUGE:
                made, solved, has_least = try_least(island, sky, near, size)
                steps += made
            if solved:
                put_rows(found, island.lam)
                break
            put_rows(centre, island.lam)
        made, solved, anew, miss = follow_modes(island, sky, centre, softer, SOFTEST, near, size, most)
        steps, again = steps + made, anew or beginning != AS_BEFORE
        if solved or miss < least:
            least = miss
            put_rows(found, island.lam)
        if solved:
            break
    if not solved and not turns and m <= MOST:  # the path knows no moments
        told = np.zeros(2)
        solved = try_path(island, sky, centre, size, told)  # centre: scratch
        steps += int(told[0])
        if solved or told[1] < least:
            put_rows(found, centre)
    if solved and again and has_least:
        centre[:] = 0.0
        made, solved_so, _, _ = follow_modes(island, sky, centre, 1.0, 1.0, GUESS, size, LEAST)
        steps += made
        if solved_so:
            put_rows(found, island.lam)
    put_rows(island.lam, found)
    give(system, island)
    return steps, sweeps, solved


@helper
def without_impulses(system, q_dot_out):
    """Velocities without the effect of the impulses of the system, laid out as Motion.q_dot."""
    blocks, count = system.blocks, int(system.count[0])
    size = BODY_SIZE * len(system.motion.bodies)
    bodies = q_dot_out[:size].reshape(size // BODY_SIZE, BODY_SIZE)
    for i in range(len(q_dot_out)):
        q_dot_out[i] = system.motion.q_dot[i]
    for k in range(count):
        push_contact(system, bodies, q_dot_out, k, neg(row(system.impulse, k)))
    for k in range(int(blocks.count[OTHERS])):
        if has_one_row(blocks, k):
            push_row(blocks, k, -blocks.impulse[k], q_dot_out)
        else:
            push_block(blocks, k, neg(impulse_of(system, k)), q_dot_out)
    return bodies


@helper
def unrest(system, members, bodies, q_dot, most):
    """The largest natural map of these row blocks at the impulses that they have, relative to the largest velocity
    without impulses; inf where it is more than `most`, and where other impulses may be the least ones, as the mouse
    pulls, or a closed contact is new and does not carry. One that was known in the last step carries nothing because
    this was found to be the least there.
    bodies, q_dot: velocities without impulses."""
    count, size, worst = int(system.count[0]), 0.0, 0.0
    for j in members:
        if j < count:
            size = max(size, norm(add(three(system.rows, j, BIAS), contact_velocity(system, bodies, q_dot, j))))
        elif system.blocks.kind[j - count] == MOUSE:
            return math.inf
        elif system.blocks.kind[j - count] == MOMENT:
            size = max(size, norm(turning_of(system, j - count, q_dot)))
        else:
            size = max(size, abs(system.blocks.bias[j - count] + row_velocity(system.blocks, j - count, q_dot)))
    for j in members:
        if j >= count and system.blocks.kind[j - count] == MOMENT:
            e, own = moment_residual(system, j - count)
        elif j >= count:
            e, own = row_residual(system.blocks, j - count, system.motion.q_dot), size
        else:
            e, own = contact_residual(system, j)
        new = j < count and system.previous[j] < 0
        if not e <= most * size or (new and own <= GUESS * size):
            return math.inf
        worst = max(worst, e)
    return worst / size if size > 0.0 else 0.0


@helper
def are_new(system, members):
    """Whether most of these row blocks are contacts that the last step did not know."""
    new = 0
    for j in members:
        new += j < system.count[0] and system.previous[j] < 0
    return 2 * new > len(members)


@helper
def sort_by_island(number, islands, first_out, members_out):
    """Row blocks in the order of their islands: island i has members_out[first_out[i] : first_out[i + 1]]. number (n,)
    of each row block's island, -1 = none."""
    first_out[:] = 0
    for one in number:
        if one >= 0:
            first_out[one + 1] += 1
    for i in range(islands):
        first_out[i + 1] += first_out[i]
    place = first_out.copy()
    for j in range(len(number)):
        if number[j] >= 0:
            members_out[place[number[j]]] = j
            place[number[j]] += 1


@program
def solve_islands(system, iterations, tolerance, told_out) -> None:
    """Solve the system island by island, in place, and sweep over those that are too large or could not be solved.
    told_out (3,): islands swept, most steps of Newton's method, last change by sweeps [m/s]."""
    rows, bodies = int(system.count[0]) + int(system.blocks.count[OTHERS]), len(system.motion.bodies)
    number, own, label = np.zeros(rows, np.int64), np.zeros(bodies, np.int64), np.full(bodies, -1)
    islands = find_islands(system, number, own)
    first, members = np.zeros(islands + 1, np.int64), np.zeros(rows, np.int64)
    sort_by_island(number, islands, first, members)
    free = np.zeros(len(system.motion.q_dot))
    free_bodies = without_impulses(system, free)
    told_out[:] = 0.0
    for i in range(islands):
        some, sweeps = members[first[i] : first[i + 1]], iterations
        large = len(some) > MOST
        rests = ENOUGH if large else RESTS
        left = unrest(system, some, free_bodies, free, NEARLY)
        if left <= rests:
            continue
        if not large or (len(some) <= LARGEST and (left <= NEARLY or are_new(system, some))):
            island = open_island(system, some, own, label)
            sky = skyline_of(island)
            if work_of(sky) <= (MORE_WORK if large else WORK) * len(some):
                made, more, swept, solved = 0, 0, 0, False
                if left <= NEARLY:
                    made, solved = keep_rest(system, island, sky, left, rests)
                    solved = solved or (not large and left <= ENOUGH)
                if not solved and not (large and left <= NEARLY):
                    more, swept, solved = solve_island(system, some, island, sky)
                told_out[STEPS] = max(told_out[STEPS], made + more)
                if solved:
                    continue
                sweeps = max(iterations - swept, 1)
        told_out[ISLANDS_SWEPT] += 1.0
        if system.parts.count[0] > 0 and len(some) >= MANY_CONTACTS:
            change = sweep_parts(system, some, sweeps, tolerance)
        elif only_pairs(system, some):
            change = sweep_pairs(system, some, sweeps, tolerance)
        else:
            change = sweep_members(system, some, sweeps, tolerance)
        told_out[CHANGE] = max(told_out[CHANGE], change)


class Newton(Solver):
    """SOLVERS["newton"]."""

    name = "newton"
    title = "Newton, island by island"
    takes = Takes.FRICTIONLESS | Takes.FRICTION | Takes.BODIES
    iterative = False

    def __init__(self) -> None:
        """A problem with M written out has no bodies, so its unknowns cannot be fewer than its rows. It is left to the
        interior-point method, which ends with Newton's method on the same laws."""
        super().__init__()
        self._written_out = InteriorPoint()

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """By the interior-point method."""
        return self._written_out.solve(problem, lam, iterations, tolerance)

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """The rounds of the interior-point method."""
        yield from self._written_out.trace(problem, lam, iterations)

    def solve_bodies(self, system: System, iterations: int, tolerance: float) -> SolveInfo:
        """Solve for all impulses of the system in place, from those it has; its velocities always contain their effect.
        iterations and tolerance [m/s] are those of sweeps over islands that are not solved."""
        told = np.zeros(3)
        solve_islands(system, iterations, tolerance, told)
        return SolveInfo(status_of(told, tolerance), int(told[STEPS]), float(told[CHANGE]))


def status_of(told: Array, tolerance: float) -> str:
    """The status of what `solve_islands` told."""
    return "solved" if told[ISLANDS_SWEPT] == 0.0 or told[CHANGE] <= tolerance else "iterations"
