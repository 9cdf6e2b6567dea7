"""Coulomb's law for accelerations of contacts at rest, solved exactly.

Given M (3 c, 3 c) and d (3 c,), normal and two tangents of each contact, and friction mu (c,), it finds forces f and
accelerations a = M f + d with 0 <= a_n ⊥ f_n >= 0 and |f_t| <= mu f_n. Where |f_t| < mu f_n there is no slip
acceleration. Else f_t is opposite to the slip acceleration or, where the contact slides already, to the slip velocity.
Impulses f and velocities a obey the same law.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper, kernel
from ..core.model import Array, BoolArray
from ..problem.contact_equations import solve_small
from ..problem.problem import ContactProblem
from .crowd import CROWD, SOLVED, by_modes
from .dantzig import Dantzig
from .interior_point import InteriorPoint, newton_with_slides
from .least_forces import FEW, RANK, ZERO, basis, least, root_of, smallest
from .lemke import Lemke
from .slip_directions import BEGINS, SLIPS, STICKS, Modes, forces_by_modes

SLIP_ANGLES = 24    # intervals of the circle in which a direction of slip is bracketed before bisection
SWEEPS = (200, 3000, 6000, 12000)  # of block Gauss–Seidel, each lot from the last one; other methods after each
SLIDING_LOTS = 2    # of these where contacts slide: there may be no solution
CREEPS = 0.5        # change after a lot, relative to that after the one before, above which no more sweeps help
SWEEP_CHANGE = 1e-14   # change at which sweeps end, relative to the accelerations without contact
STICK_RESIDUAL = 1e-12 # acceleration left to contacts that stick, relative to that without contact
FACETS = (8, 32)    # of the cones of contacts at rest in `by_facets`,
MOST_EDGES = 600    # how many edges they may have together,
FEW_CONTACTS = 6    # and up to how many contacts sweeps are faster
FEWER = 2           # rows to a column of the root of M from which on fewer equations are made of them
MANY = 48           # contacts from which on the smallest of all exact forces are sought only where others are not found
ALL_SETS = 6        # most contacts whose sets are all tried where solutions need not be unique
VERGES = (1e-6, 1e-9)  # slip acceleration that may be that of a sticking contact, relative to that without contact
PUSHES = 1e-7       # normal force above which a contact counts as pushing in a guess, relative to the largest one
ALIKE_RATES = 1e-9  # accelerations of two solutions that differ by less are the same, relative to those without contact
CLOSES = 1e-6       # approach of which forces that are no solution show, relative to the acceleration without contact
NEARLY = 1e-6       # natural map of a guess from which Newton's method goes on, relative to the same
TOLERANCE = 1e-12   # of the interior-point method [unit of d]
ALLOWED_RATE = 1e-10   # approach that counts as none where all sets are tried, relative to the same


@helper
def slip_torque(b, W, mu, angle):
    """For slip that begins in the direction e(angle): λ from ζ̇ = 0, and e × u̇_t and e · u̇_t of the slip acceleration
    u̇_t that follows. b (3,): acceleration without the contact, W (3, 3): its block of M."""
    e1, e2 = math.cos(angle), math.sin(angle)
    stiff = W[0, 0] - mu * (W[0, 1] * e1 + W[0, 2] * e2)
    lam = -b[0] / stiff if stiff > 0.0 else -1.0
    u1 = b[1] + lam * (W[1, 0] - mu * (W[1, 1] * e1 + W[1, 2] * e2))
    u2 = b[2] + lam * (W[2, 0] - mu * (W[2, 1] * e1 + W[2, 2] * e2))
    return lam, e1 * u2 - e2 * u1, e1 * u1 + e2 * u2


@helper
def slip_angle(b, W, mu):
    """Angle [rad] of the direction e in which a contact begins to slip: e × u̇_t = 0, e·u̇_t > 0, λ > 0; nan = none."""
    step = 2.0 * math.pi / SLIP_ANGLES
    start = math.atan2(b[2], b[1])
    last = slip_torque(b, W, mu, start)[1]
    for i in range(SLIP_ANGLES):
        lo, hi = start + step * i, start + step * (i + 1)
        now = slip_torque(b, W, mu, hi)[1]
        if last == 0.0 or last * now < 0.0:
            low = last
            for _ in range(60 if last != 0.0 else 0):
                middle = 0.5 * (lo + hi)
                value = slip_torque(b, W, mu, middle)[1]
                if value * low > 0.0:
                    lo = middle
                else:
                    hi = middle
            angle = lo if last == 0.0 else 0.5 * (lo + hi)
            lam, _, along = slip_torque(b, W, mu, angle)
            if lam > 0.0 and along > 0.0:
                return angle
        last = now
    return math.nan


@helper
def single_contact(b, W, work, mu, f_out):
    """Force of a contact that does not slip yet, from its own block W (3, 3) and the acceleration b without it."""
    f_out[0], f_out[1], f_out[2] = 0.0, 0.0, 0.0
    if b[0] >= 0.0:
        return
    for i in range(3):
        for j in range(3):
            work[i, j] = W[i, j]
        work[i, 3] = -b[i]
    for k in range(3):  # W is positive definite: no exchanges
        for i in range(3):
            if i != k:
                factor = work[i, k] / work[k, k]
                for j in range(k, 4):
                    work[i, j] -= factor * work[k, j]
    f1, f2, f3 = work[0, 3] / work[0, 0], work[1, 3] / work[1, 1], work[2, 3] / work[2, 2]
    if f1 >= 0.0 and f2 * f2 + f3 * f3 <= mu * mu * f1 * f1:
        f_out[0], f_out[1], f_out[2] = f1, f2, f3
        return
    angle = slip_angle(b, W, mu)
    if math.isnan(angle):
        return
    lam = slip_torque(b, W, mu, angle)[0]
    f_out[0], f_out[1], f_out[2] = lam, -mu * lam * math.cos(angle), -mu * lam * math.sin(angle)


@helper
def contact_alone(b, W, work, mu, slide, k, f_out):
    """Force of contact k from its own block W (3, 3) and the acceleration b without it; slide as of `cone_sweeps`. One
    that slides already, or has no friction, has one unknown force."""
    if mu == 0.0 or slide[k, 0] == 1.0:
        s1, s2 = mu * slide[k, 1], mu * slide[k, 2]
        stiff = W[0, 0] - s1 * W[0, 1] - s2 * W[0, 2]
        f_out[0] = max(0.0, -b[0] / stiff) if stiff > 0.0 else 0.0
        f_out[1], f_out[2] = -s1 * f_out[0], -s2 * f_out[0]
    else:
        single_contact(b, W, work, mu, f_out)


@kernel
def cone_sweeps(M, d, friction, slide, iterations, enough, force, rate_out):
    """Block Gauss–Seidel on Coulomb's law for accelerations, single contacts solved exactly. force (3 c,) is the first
    guess and the answer. slide (c, 3): 1 and the slip direction of a contact that slides already. Ends after so many
    `iterations`, or where a sweep changes no acceleration by more than `enough` [m/s2]. Returns the change of the last
    sweep; rate_out (3 c,) = M f + d."""
    c = len(friction)
    for r in range(3 * c):
        total = d[r]
        for j in range(3 * c):
            total += M[r, j] * force[j]
        rate_out[r] = total
    W, work, b, f = np.zeros((3, 3)), np.zeros((3, 4)), np.zeros(3), np.zeros(3)
    change, first, other = 0.0, np.zeros(c + 1, np.int32), np.empty(c * c, np.int32)
    for k in range(c):  # the others that a contact acts on
        first[k + 1] = first[k]
        for l in range(c):
            acts = False
            for r in range(3 * l, 3 * l + 3):
                acts = acts or M[r, 3 * k] != 0.0 or M[r, 3 * k + 1] != 0.0 or M[r, 3 * k + 2] != 0.0
            if acts:
                other[first[k + 1]] = l
                first[k + 1] += 1
    for _ in range(iterations):
        change = 0.0
        for k in range(c):
            for i in range(3):
                b[i] = rate_out[3 * k + i]
                for j in range(3):
                    W[i, j] = M[3 * k + i, 3 * k + j]
                    b[i] -= W[i, j] * force[3 * k + j]
            contact_alone(b, W, work, friction[k], slide, k, f)
            for i in range(3):
                step = f[i] - force[3 * k + i]
                if step != 0.0:
                    force[3 * k + i] = f[i]
                    change = max(change, abs(step) * W[i, i])
                    for at in range(first[k], first[k + 1]):
                        for r in range(3 * other[at], 3 * other[at] + 3):
                            rate_out[r] += M[r, 3 * k + i] * step
        if change <= enough:
            break
    return change


def without_rest(M: Array, d: Array, friction: Array, slip: Array) -> tuple[str, Array]:
    """Status and forces (3 c,) where all contacts slide, in the directions slip (c, 2), or have no friction: a linear
    complementarity problem in the normal forces."""
    pull = np.column_stack([np.ones(len(friction)), -friction[:, None] * slip])
    c = len(friction)
    A = np.einsum("ijk,jk->ij", M[::3].reshape(c, c, 3), pull)
    lam = np.zeros(c)
    problem = ContactProblem.frictionless(A, d[::3])
    if not (friction > 0.0).any():
        info = Dantzig()(problem, lam)
        if info.status == "stuck":
            info = Lemke()(problem, lam)
        return "solved" if info.status == "solved" else "inconsistent", (pull * lam[:, None]).ravel()
    unique = np.linalg.eigvalsh(A + A.T)[0] > -1e-12 * np.abs(A).max()
    info = Lemke()(problem, lam) if unique or c > ALL_SETS else None
    solved = info is not None and info.status == "solved"
    if not solved and c <= ALL_SETS:
        found = _all_sets(A, d[::3])
        solved, lam = found is not None, np.zeros(c) if found is None else found
    return "solved" if solved else "inconsistent", (pull * _shared(A, d[::3], lam)[:, None]).ravel()


def _shared(A: Array, d: Array, lam: Array) -> Array:
    """The smallest forces (c,) at which the contacts with ζ̇ = 0 under λ keep ζ̇ = 0; λ where these do not solve."""
    scale = np.abs(d).max() + 1e-300
    current = np.flatnonzero(A @ lam + d <= ZERO * scale)
    least = np.zeros(len(d))
    found = smallest(A[np.ix_(current, current)], -d[current], np.zeros(len(current)))
    if found is None:
        return lam
    least[current] = found
    rate = A @ least + d
    right = (np.abs(rate[current]) <= ZERO * scale).all() and (rate >= -ZERO * scale).all()
    return least if right else lam


def _all_sets(A: Array, d: Array) -> Array | None:
    """Normal forces (c,) by trying every set, where the solution need not be unique; None where there is no solution,
    or several with different ζ̇."""
    lam = np.zeros(len(d))
    A, d = (np.ascontiguousarray(a, np.float64) for a in (A, d))
    return lam if all_sets(A, d, float(np.abs(d).max()) + 1e-300, lam) == 1 else None


@kernel
def all_sets(A, d, scale, lam_out):
    """Try all sets of pushing contacts, in the order of their binary numbers; lam_out (c,) is the first solution.
    Returns the number of solutions with different ζ̇, at most 2: it stops at the second."""
    c, found = len(d), 0
    block, lam, rate, rows = np.zeros((c, c + 1)), np.zeros(c), np.zeros(c), np.zeros(c, np.int32)
    first = np.zeros(c)
    for bits in range(1 << c):
        size, least = 0, 1.0
        for i in range(c):
            lam[i] = 0.0
            if bits >> i & 1:
                rows[size] = i
                size += 1
        for i in range(size):
            for j in range(size):
                block[i, j] = A[rows[i], rows[j]]
            block[i, size] = -d[rows[i]]
            least *= abs(A[rows[i], rows[i]]) + 1e-300
        solve_small(block, size)
        pivots = 1.0
        for i in range(size):
            pivots *= abs(block[i, i])
            lam[rows[i]] = block[i, size]
        right, same = pivots >= 1e-12 * least, True
        for i in range(c):
            rate[i] = d[i]
            for j in range(c):
                rate[i] += A[i, j] * lam[j]
            right = right and lam[i] >= 0.0 and rate[i] >= -ALLOWED_RATE * scale
            same = same and abs(rate[i] - first[i]) <= ALIKE_RATES * scale
        if right and (found == 0 or not same):
            found += 1
            if found == 2:
                break
            lam_out[:], first[:] = lam, rate
    return found


def holding(M: Array, d: Array, friction: Array) -> Array | None:
    """The smallest forces (3 c,) within the cones that leave no acceleration; None where there are none."""
    force = least(M, -d)
    if np.abs(M @ force + d).max() > STICK_RESIDUAL * np.abs(d).max():  # nor do any others
        return None
    if not (np.hypot(force[1::3], force[2::3]) <= friction * force[::3] * (1.0 - ZERO)).all():
        rows = list(range(len(d))) if len(d) <= FEW else basis(M, list(range(len(d))))
        force = smallest(M[rows], -d[rows], friction)
    if force is None or np.abs(M @ force + d).max() > STICK_RESIDUAL * np.abs(d).max():
        return None
    return force if (np.hypot(force[1::3], force[2::3]) <= friction * force[::3] * (1.0 + ZERO)).all() else None


def with_rest(
    M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array, root: Array | None = None,
) -> tuple[str, Array]:
    """Status and forces (3 c,) where some contacts do not slide yet and may stick, begin to slip or let go. slides (c,)
    and slip (c, 2): those that slide already, and their directions. "inconsistent", without forces, where none are
    found that keep contacts from approaching: sliding friction may press more than the normal force parts. root: see
    `by_modes`."""
    problem = ContactProblem.frictional(M, d, friction)
    M, d, friction = problem.M, problem.d, problem.friction
    if not slides.any() and (friction > 0.0).all():
        sticking = holding(M, d, friction)
        if sticking is not None:
            return "solved", sticking
    crowd, left = None, math.inf
    if len(friction) >= CROWD:
        left, crowd = by_modes(M, d, friction, slides, slip, root)
        if left <= SOLVED:
            return "solved", crowd
    for solved, force in _guesses(problem, slides, slip, crowd if left <= NEARLY else None, root):
        rate = M @ force + d
        exact = sharpened(M, d, friction, slides, slip, force, rate)
        if exact is not None:
            return "solved", exact
        if solved:
            break
    closes = rate[::3].min() < -CLOSES * float(np.abs(d).max())
    return ("inconsistent", np.zeros_like(force)) if closes else ("solved" if solved else "iterations", force)


def _guesses(
    problem: ContactProblem, slides: BoolArray, slip: Array, crowd: Array | None, root: Array | None
) -> Iterator[tuple[bool, Array]]:
    """Forces (3 c,) that come ever closer to Coulomb's law, and whether they obey it but for rounding; those of
    `by_modes` first. Sliding friction may press more than normal forces part: where sweeps diverge under it and
    Newton's method finds nothing, no more."""
    M, d, friction, c = problem.M, problem.d, problem.friction, problem.contact_count
    if crowd is not None:
        found = newton_with_slides(problem, slides, slip, crowd)
        if found is not None:
            yield True, found
    force, rate, none = np.zeros(3 * c), np.zeros(3 * c), np.zeros(3 * c)
    if FEW_CONTACTS < c < CROWD:
        left, found = by_modes(M, d, friction, slides, slip, root)
        if left <= SOLVED:
            yield True, found
    if c > 1 and not slides.any():  # the closer to the verge of slip, the more sweeps would be needed
        inside = InteriorPoint().answers(problem, force, TOLERANCE)
        yield inside, force
        if not inside:
            force[:] = 0.0
    slide = np.ascontiguousarray(np.column_stack([slides, slip]), np.float64)
    scale = float(np.abs(d).max()) + 1e-300
    lots = SWEEPS[:SLIDING_LOTS] if slides.any() else SWEEPS
    for facets in FACETS:  # a millisecond for fifteen contacts, which take twenty of sweeps
        if c > FEW_CONTACTS and facets * int((~slides).sum()) <= MOST_EDGES:
            found = newton_with_slides(problem, slides, slip, by_facets(problem, slides, slip, facets))
            if found is not None:
                yield True, found
    change = math.inf
    for sweeps in lots:  # they converge slowly where contacts are redundant, and creep where they disagree
        before, change = change, cone_sweeps(M, d, friction, slide, sweeps, SWEEP_CHANGE * scale, force, rate)
        if change > scale:
            force[:] = 0.0
        yield change <= SWEEP_CHANGE * scale, force
        for start in (force, none):
            found = newton_with_slides(problem, slides, slip, start)
            if found is not None:
                yield True, found
        if (change > scale and slides.any()) or change > CREEPS * before:
            return


def by_facets(problem: ContactProblem, slides: BoolArray, slip: Array, facets: int) -> Array:
    """Forces (3 c,) near those of Coulomb's law: the cones of contacts at rest have so many facets, so that the law is
    a linear complementarity problem [Stewart & Trinkle 1996]. Its unknowns: the normal forces (c,), forces along the
    edges e (r, facets) of r contacts, and multipliers γ (r,) that are their slip accelerations:

        0 <= u_n ⊥ λ_n >= 0,    0 <= e·u_t + γ ⊥ β >= 0,    0 <= μ λ_n - Σ β ⊥ γ >= 0

    Zero where Lemke's method ends without a solution."""
    M, friction, c = problem.M, problem.friction, problem.contact_count
    angles = 2.0 * np.pi * np.arange(facets) / facets
    edges, rests = np.column_stack([np.cos(angles), np.sin(angles)]), np.flatnonzero(~slides & (friction > 0.0))
    r = len(rests)
    spread = np.zeros((3 * c, c + r * facets))  # of the unknown forces to all
    spread[3 * np.arange(c), np.arange(c)] = 1.0
    along = -friction[:, None] * np.where(slides[:, None], slip, 0.0)
    for i in range(2):
        spread[3 * np.arange(c) + 1 + i, np.arange(c)] = along[:, i]
        for j, k in enumerate(rests.tolist()):
            spread[3 * k + 1 + i, c + j * facets : c + (j + 1) * facets] = edges[:, i]
    seen = spread.T.copy()  # of all accelerations to those along normals and edges
    seen[:c] = 0.0
    seen[np.arange(c), 3 * np.arange(c)] = 1.0
    last = np.zeros((r, c + r * facets))
    last[np.arange(r), rests] = friction[rests]
    edge = np.repeat(np.eye(r), facets, axis=1)
    last[:, c:] = -edge
    multiplied = np.vstack([np.zeros((c, r)), edge.T])
    A = np.block([[seen @ M @ spread, multiplied], [last, np.zeros((r, r))]])
    found = np.zeros(len(A))
    solved = Lemke().answers(ContactProblem.frictionless(A, np.concatenate([seen @ problem.d, np.zeros(r)])), found)
    return spread @ found[: c + r * facets] if solved else np.zeros(3 * c)


def sharpened(
    M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array, force: Array, rate: Array
) -> Array | None:
    """The exact forces (3 c,) by Coulomb's law, or the smallest ones where they are not unique. `force` is nearly exact
    and `rate` = M f + d. None where these do not show which contacts stick and which slip. The law for impulses is the
    same one: f impulses, M f + d velocities.

    Of MANY contacts those nearest to `force` come first: how they share their loads decides which slip and where to, so
    that the smallest forces are another solution, seconds away; an interior point has shared the loads already."""
    root, orders = root_of(M), (True, False) if len(friction) < MANY else (False, True)
    for still, fresh in itertools.product(VERGES, orders):
        exact = _exact(M, root, d, friction, slides, slip, force, rate, still, fresh)
        if exact is not None:
            return exact
    return None


def fewer(M: Array, root: Array | None, d: Array, some: NDArray[np.intp]) -> tuple[Array, Array]:
    """A (q, n) and right-hand side (q,) of the equations that forces f (n,) leave no acceleration in some rows,
    M[some] f = -d[some]. Where M = G Gᵀ has at most half as many columns in its root as there are rows, q is their
    rank: with G[some] = U S Vᵀ they say Vᵀ Gᵀ f = -S⁻¹ Uᵀ d[some], which two bodies with hundreds of rows between them
    have at most twelve of."""
    if root is None or FEWER * root.shape[1] > len(some):
        return M[some], -d[some]
    U, s, V = np.linalg.svd(root[some], full_matrices=False)
    rank = int(np.count_nonzero(s > math.sqrt(RANK) * s[0]))  # M has the squares of s
    return V[:rank] @ root.T, -(U[:, :rank].T @ d[some]) / s[:rank]


def _exact(
    M: Array, root: Array | None, d: Array, friction: Array, slides: BoolArray, slip: Array, force: Array, rate: Array,
    still: float, fresh: bool,
) -> Array | None:
    """The exact forces with the modes that `force` and `rate` show, or None where they break a law. root: G of
    M = G Gᵀ, where it is known. still: slip acceleration below which a contact sticks, relative to that without
    contact. fresh: the smallest of all exact forces; else those nearest to `force`, on the contacts that push in it."""
    scale = float(np.abs(d).max()) + 1e-300
    acceleration = rate.reshape(-1, 3)
    largest = float(np.abs(force[::3]).max(initial=0.0)) + 1e-300
    closed = (force[::3] > PUSHES * largest) | ((acceleration[:, 0] <= ZERO * scale) & fresh)
    starts = ~slides & (friction > 0.0)
    sticks = closed & starts & (np.hypot(*acceleration[:, 1:].T) <= still * scale)
    turning = np.flatnonzero(closed & starts & ~sticks)
    if not closed.any():
        return np.zeros(len(d)) if (d[::3] >= -ZERO * scale).all() else None
    rows = np.array([3 * k + i for k in np.flatnonzero(closed) for i in range(3 if sticks[k] else 1)])
    some = rows if len(rows) <= FEW else np.array(basis(M, rows.tolist()))
    A, needed = fewer(M, root, d, some)
    f, near, e = np.zeros(len(d)), np.zeros(len(d)), slip.copy()
    if not fresh:
        near[rows] = force[rows]
    kind, all_rows = np.where(sticks, STICKS, SLIPS), np.flatnonzero(np.repeat(closed, 3))
    kind[turning] = BEGINS
    modes = Modes(kind[closed], friction[closed], np.where(sticks, friction, 0.0)[closed], e[closed])
    part, block = np.zeros(len(all_rows)), M[np.ix_(all_rows, all_rows)]
    if not forces_by_modes(np.ascontiguousarray(A[:, all_rows]), needed, near[all_rows], fresh, modes, block,
                           d[all_rows], acceleration[closed, 1:].copy(), part):
        return None
    f[all_rows], e[closed] = part, modes.e
    tangents = (3 * turning[:, None] + (1, 2)).ravel()
    a = M @ f + d
    slips = a[tangents].reshape(-1, 2)
    along, across = (slips * e[turning]).sum(axis=1), slips[:, 0] * e[turning, 1] - slips[:, 1] * e[turning, 0]
    tangential = np.hypot(f[1::3], f[2::3])
    right = (
        np.abs(a[rows]).max() <= ZERO * scale and (a[::3] >= -ZERO * scale).all() and (f[::3] >= 0).all()
        and (tangential <= friction * f[::3] * (1 + ZERO) + ZERO * largest).all()
        and np.abs(across).max(initial=0.0) <= ZERO * scale and along.min(initial=0.0) >= -ZERO * scale
    )
    return f if right else None
