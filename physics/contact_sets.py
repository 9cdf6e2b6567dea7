"""Which contacts are in force, and how each one holds: the sets of RBDA §11.5 and table 11.1, with friction.

The *current* set are the contacts with φ = ζ = ζ̇ = 0. The *active* ones among them are a basis: those whose rows the
right-hand side keeps at zero. `resolve` finds both from the equations of all contacts that rest (φ = ζ = 0):

    no friction    0 <= ζ̇ = M λ + d ⊥ λ >= 0, a basic solution by Dantzig's pivoting
    all slide      the same with columns n - μ (slip direction); M need not be symmetric: Lemke's pivoting
    some rest      Coulomb's law for accelerations with the true cone: block Gauss–Seidel with exact solutions of single
                   contacts finds who sticks, slips or lets go; Newton's method on those modes makes it exact

Where a sliding contact has n·M(n - μ s) <= 0 there may be no solution, or several (Painlevé's rod).
"""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import Array, IntArray
from contactlab.physics.problem import ContactProblem
from contactlab.physics.solvers.dantzig import Dantzig
from contactlab.physics.solvers.interior_point import InteriorPoint
from contactlab.physics.solvers.lemke import Lemke
from contactlab.physics.state import LongArray

BoolArray = NDArray[np.bool_]

OPEN, IDLE, SMOOTH, SLIDE, STICK = -1, 0, 1, 2, 3  # how a contact holds; IDLE: current but not active
SLIPS = 1e-9        # slip above which a contact slides [m/s]
ANGLES = 24         # directions of slip looked at before the exact one is searched
SWEEPS = 3000
ENOUGH = 1e-14      # change of a sweep that ends it, relative to the accelerations without contact
ENOUGH_HELD = 1e-12 # acceleration left to contacts that stick, relative to that without contact
DEPENDENT = 1e-10   # what independent rows leave of a row, relative to it, below which it depends on them
ZERO = 1e-9         # forces and accelerations that count as zero, relative to the largest
UNSURE = 1e-5       # the same where the sweeps did not come to an end: at the verge of slip of redundant contacts
SMALL = 6           # contacts of which all sets are tried where solutions need not be unique


class ContactSet(NamedTuple):
    """The current set as the right-hand side uses it; row k is one contact."""

    count: IntArray      #: (1,)
    pair: LongArray      #: (c,)   pair of surface elements
    mode: IntArray       #: (c,)   IDLE, SMOOTH (no friction), SLIDE or STICK
    friction: Array      #: (c,)   mu
    direction: Array     #: (c, 3) of SLIDE: unit slip direction at the beginning, world frame
    rows: IntArray       #: (1,)   number of equations
    row: IntArray        #: (3 c,) the rows of Equations that are kept at zero: those of the active set
    redundant: IntArray  #: (1,)   1: a sticking contact has rows that depend on others, so that only its sum is known


def empty_set(capacity: int) -> ContactSet:
    def ints(size: int) -> IntArray:
        return np.zeros(size, np.int32)

    return ContactSet(ints(1), np.zeros(capacity, np.int64), ints(capacity), np.zeros(capacity),
                      np.zeros((capacity, 3)), ints(1), ints(3 * capacity), ints(1))


@dataclass(frozen=True)
class Resolution:
    """What contacts at rest do at an instant; rows as in Equations."""

    status: str        #: "solved"; "inconsistent": no solution, or several that differ; "iterations"
    force: Array       #: (3 c,) [N]
    rate: Array        #: (3 c,) M f + d: ζ̇ and slip acceleration [m/s2]
    mode: list[int]    #: OPEN … STICK of each
    slip: Array        #: (c, 2) unit direction of slip of SLIDE in the tangents


# --------------------------------------------------------------------------------------- one contact with friction
@helper
def slip_torque(b, W, mu, angle):
    """For slip towards e(angle): λ from ζ̇ = 0, and e × u̇_t and e · u̇_t of the slip acceleration that follows."""
    e1, e2 = math.cos(angle), math.sin(angle)
    stiff = W[0, 0] - mu * (W[0, 1] * e1 + W[0, 2] * e2)
    lam = -b[0] / stiff if stiff > 0.0 else -1.0
    u1 = b[1] + lam * (W[1, 0] - mu * (W[1, 1] * e1 + W[1, 2] * e2))
    u2 = b[2] + lam * (W[2, 0] - mu * (W[2, 1] * e1 + W[2, 2] * e2))
    return lam, e1 * u2 - e2 * u1, e1 * u1 + e2 * u2


@helper
def slip_angle(b, W, mu):
    """The direction in which a contact begins to slip: e × u̇_t = 0 with e·u̇_t > 0 and λ > 0; nan = none."""
    step = 2.0 * math.pi / ANGLES
    start = math.atan2(b[2], b[1])
    last = slip_torque(b, W, mu, start)[1]
    for i in range(ANGLES):
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


@kernel
def cone_sweeps(M, d, friction, slide, iterations, enough, force, rate_out):
    """Block Gauss–Seidel on Coulomb's law for accelerations; force (3 c,) is the first guess and the answer. Returns
    the last change of a sweep. slide (c, 3): 1 and the slip direction of a contact that slides already."""
    c = len(friction)
    for r in range(3 * c):
        total = d[r]
        for j in range(3 * c):
            total += M[r, j] * force[j]
        rate_out[r] = total
    W, work, b, f = np.zeros((3, 3)), np.zeros((3, 4)), np.zeros(3), np.zeros(3)
    change = 0.0
    for _ in range(iterations):
        change = 0.0
        for k in range(c):
            for i in range(3):
                b[i] = rate_out[3 * k + i]
                for j in range(3):
                    W[i, j] = M[3 * k + i, 3 * k + j]
                    b[i] -= W[i, j] * force[3 * k + j]
            if friction[k] == 0.0 or slide[k, 0] == 1.0:
                s1, s2 = friction[k] * slide[k, 1], friction[k] * slide[k, 2]
                stiff = W[0, 0] - s1 * W[0, 1] - s2 * W[0, 2]
                f[0] = max(0.0, -b[0] / stiff) if stiff > 0.0 else 0.0
                f[1], f[2] = -s1 * f[0], -s2 * f[0]
            else:
                single_contact(b, W, work, friction[k], f)
            for i in range(3):
                step = f[i] - force[3 * k + i]
                if step != 0.0:
                    force[3 * k + i] = f[i]
                    change = max(change, abs(step) * W[i, i])
                    for r in range(3 * c):
                        rate_out[r] += M[r, 3 * k + i] * step
        if change <= enough:
            break
    return change


# ------------------------------------------------------------------------------------------------- all contacts
def resolve(M: Array, d: Array, u: Array, friction: Array, begins: dict[int, Array]) -> Resolution:
    """Forces and accelerations of contacts with φ = ζ = 0, from M (3 c, 3 c), d (3 c,), slip in u (3 c,), mu (c,).

    begins: contacts that are at the verge of slipping, with the direction (2,) of the slip that begins.
    """
    c = len(friction)
    speed = np.hypot(u[1::3], u[2::3])
    slides = (friction > 0.0) & (speed > SLIPS)
    slip = np.zeros((c, 2))
    slip[slides] = np.column_stack([u[1::3], u[2::3]])[slides] / speed[slides, None]
    for k, direction in begins.items():
        slides[k], slip[k] = True, direction
    force, status = np.zeros(3 * c), "solved"
    for members in islands(M):
        rows = (3 * members[:, None] + np.arange(3)).ravel()
        mu, s, e = friction[members], slides[members], slip[members]
        part = M[np.ix_(rows, rows)], d[rows], mu
        solved = with_rest(*part, s, e) if ((mu > 0.0) & ~s).any() else without_rest(*part, e)
        force[rows] = solved[1]
        status = status if solved[0] == "solved" else solved[0]
    rate = M @ force + d
    return classify(status, force, rate, float(np.abs(d).max(initial=0.0)), friction, slides, slip)


def islands(M: Array) -> list[NDArray[np.intp]]:
    """Contacts in groups that do not act on one another."""
    c = len(M) // 3
    acts = np.abs(M).reshape(c, 3, c, 3).max(axis=(1, 3)) > 0.0 if c else np.zeros((0, 0), bool)
    left, found = np.ones(c, bool), []
    while left.any():
        group = np.zeros(c, bool)
        group[np.argmax(left)] = True
        while True:
            grown = acts[group].any(axis=0)
            if (grown == group).all():
                break
            group = grown
        left &= ~group
        found.append(np.flatnonzero(group))
    return found


def without_rest(M: Array, d: Array, friction: Array, slip: Array) -> tuple[str, Array]:
    """All contacts slide or have no friction: a linear complementarity problem in the normal forces."""
    pull = np.column_stack([np.ones(len(friction)), -friction[:, None] * slip])
    c = len(friction)
    A = np.einsum("ijk,jk->ij", M[::3].reshape(c, c, 3), pull)
    lam = np.zeros(c)
    problem = ContactProblem.frictionless(A, d[::3])
    if not (friction > 0.0).any():
        info = Dantzig()(problem, lam)
        if info.status == "stuck":
            info = Lemke()(problem, lam)
        unique = True
    else:
        unique = np.linalg.eigvalsh(A + A.T)[0] > -1e-12 * np.abs(A).max()
        info = Lemke()(problem, lam) if unique or c > SMALL else None
    if c <= SMALL and (info is None or (info.status != "solved" and (friction > 0.0).any())):
        return _all_sets(A, d[::3], pull)
    status = "solved" if info is not None and info.status == "solved" else "inconsistent"
    return status, (pull * lam[:, None]).ravel()


def _all_sets(A: Array, d: Array, pull: Array) -> tuple[str, Array]:
    """Every set of a problem whose solution need not be unique; several with different ζ̇ or λ are no answer."""
    found: list[Array] = []
    c = len(d)
    scale = np.abs(d).max() + 1e-300
    for size in range(c + 1):
        for rows in itertools.combinations(range(c), size):
            lam, basic = np.zeros(c), list(rows)
            block = A[np.ix_(basic, basic)]
            if size and abs(np.linalg.det(block)) < 1e-12 * np.prod(np.abs(np.diag(block)) + 1e-300):
                continue
            lam[basic] = np.linalg.solve(block, -d[basic])
            if (lam >= 0).all() and (A @ lam + d >= -1e-10 * scale).all():
                same = any(np.abs(A @ (lam - other)).max() <= 1e-9 * scale for other in found)
                if not same:
                    found.append(lam)
    if len(found) == 1:
        return "solved", (pull * found[0][:, None]).ravel()
    return "inconsistent", np.zeros(3 * c)


def with_rest(M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array) -> tuple[str, Array]:
    """Some contact rests and may stick, slip or let go."""
    c = len(friction)
    M, d, friction = (np.ascontiguousarray(a, np.float64) for a in (M, d, friction))
    if not slides.any() and (friction > 0.0).all():
        held = np.linalg.lstsq(M, -d, rcond=1e-11)[0]  # of all forces that hold everything the smallest ones
        inside = np.hypot(held[1::3], held[2::3]) <= friction * held[::3] * (1.0 - ZERO)
        if inside.all() and np.abs(M @ held + d).max() <= ENOUGH_HELD * np.abs(d).max():
            return "solved", held.astype(np.float64)
        if c > 1:  # near the verge of slip the sweeps would need as many rounds as the distance to it is small
            force = np.zeros(3 * c)
            if InteriorPoint()(ContactProblem.frictional(M, d, friction), force).status == "solved":
                return "solved", force
    slide = np.ascontiguousarray(np.column_stack([slides, slip]), np.float64)
    force, rate = np.zeros(3 * c), np.zeros(3 * c)
    scale = float(np.abs(d).max()) + 1e-300
    change = cone_sweeps(M, d, friction, slide, SWEEPS, ENOUGH * scale, force, rate)
    exact = _newton(M, d, friction, slides, slip, force, rate)
    if exact is not None:
        return "solved", exact
    return ("solved" if change <= ENOUGH * scale else "iterations"), force


def _newton(
    M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array, force: Array, rate: Array
) -> Array | None:
    """The exact forces with the modes that `force` shows, or None where they break a law. The correction is the
    smallest one: of redundant forces those of the sweeps stay."""
    c = len(friction)
    scale = float(np.abs(d).max()) + 1e-300
    f, acceleration = force.copy(), rate.reshape(c, 3)
    largest = float(np.abs(f[::3]).max(initial=0.0)) + 1e-300
    closed = f[::3] > 1e-7 * largest
    sticks = closed & ~slides & (friction > 0.0) & (np.hypot(*acceleration[:, 1:].T) <= 1e-6 * scale)
    turning = closed & ~slides & (friction > 0.0) & ~sticks
    f[np.repeat(~closed, 3)] = 0.0
    e = slip.copy()
    rows = [r for k in range(c) if closed[k] for r in ((3 * k, 3 * k + 1, 3 * k + 2) if sticks[k] else (3 * k,))]
    if not rows:
        return f if (d[::3] >= -ZERO * scale).all() else None
    for _ in range(100):
        a = M @ f + d
        for k in np.flatnonzero(turning):
            u = a[3 * k + 1 : 3 * k + 3]
            e[k] = u / np.hypot(*u)
        columns = M[np.ix_(rows, rows)].copy()
        for j, r in enumerate(rows):
            k = r // 3
            if not sticks[k]:
                columns[:, j] -= friction[k] * M[np.ix_(rows, [r + 1, r + 2])] @ e[k]
        step = np.linalg.lstsq(columns, -a[rows], rcond=1e-12)[0]
        old = f.copy()
        f[rows] += step
        for k in np.flatnonzero(closed & ~sticks):
            f[3 * k + 1 : 3 * k + 3] = -friction[k] * f[3 * k] * e[k]
        if np.abs(f - old).max() <= 1e-15 * np.abs(f).max():
            break
    a = M @ f + d
    tangential = np.hypot(f[1::3], f[2::3])
    right = (
        np.abs(a[rows]).max() <= ZERO * scale and (a[::3] >= -ZERO * scale).all() and (f[::3] >= 0).all()
        and (tangential <= friction * f[::3] * (1 + ZERO) + ZERO * largest).all()
    )
    return f if right else None


def classify(
    status: str, force: Array, rate: Array, scale: float, friction: Array, slides: BoolArray, slip: Array
) -> Resolution:
    """Say of each contact how it holds; scale [m/s2] is that of the accelerations without contact forces."""
    c = len(friction)
    scale += 1e-12
    still = (ZERO if status == "solved" else UNSURE) * scale
    largest = float(np.abs(force[::3]).max(initial=0.0))
    mode, e = [], slip.copy()
    for k in range(c):
        zeta_dot, u = rate[3 * k], rate[3 * k + 1 : 3 * k + 3]
        pushes = force[3 * k] > ZERO * largest
        if not pushes and zeta_dot > ZERO * scale:
            mode.append(OPEN)
        elif friction[k] == 0.0:
            mode.append(SMOOTH if pushes else IDLE)
        elif slides[k]:
            mode.append(SLIDE if pushes else IDLE)
        elif np.hypot(*u) <= still:
            mode.append(STICK)
        else:
            e[k] = u / np.hypot(*u)
            mode.append(SLIDE if pushes else IDLE)
    return Resolution(status, force, rate, mode, e)


def basis(M: Array, wanted: list[int]) -> list[int]:
    """The rows among `wanted`, in that order, that do not depend on rows before: by Cholesky's decomposition of M."""
    chosen: list[int] = []
    L = np.zeros((len(wanted), len(wanted)))
    for r in wanted:
        m = len(chosen)
        v = np.zeros(m)
        for i in range(m):
            v[i] = (M[r, chosen[i]] - L[i, :i] @ v[:i]) / L[i, i]
        left = M[r, r] - v @ v
        if left > DEPENDENT * M[r, r]:
            L[m, :m] = v
            L[m, m] = math.sqrt(left)
            chosen.append(r)
    return chosen


def fill_set(
    chosen: ContactSet, pairs: LongArray, found: Resolution, M: Array, friction: Array, tangents: Array
) -> None:
    """Write the current set: the contacts of `pairs` that are not OPEN; tangents (c, 2, 3)."""
    kept = [k for k, mode in enumerate(found.mode) if mode != OPEN]
    normals = [3 * k for k in kept if found.mode[k] not in (IDLE, STICK)]
    sticking = [k for k in kept if found.mode[k] == STICK]
    loaded = sorted(sticking, key=lambda k: -found.force[3 * k])
    rest = [3 * k for k in kept if found.mode[k] == IDLE]
    wanted = normals + [3 * k for k in loaded] + [3 * k + i for k in loaded for i in (1, 2)] + rest
    rows = basis(M, wanted)
    place = {k: i for i, k in enumerate(kept)}
    chosen.count[0], chosen.rows[0] = len(kept), len(rows)
    for i, k in enumerate(kept):
        mode = found.mode[k]
        if mode == IDLE and 3 * k in rows:  # it completes the basis [RBDA §11.5]
            mode = SMOOTH if friction[k] == 0.0 else SLIDE
        elif mode in (SMOOTH, SLIDE) and 3 * k not in rows:
            mode = IDLE
        chosen.pair[i], chosen.mode[i], chosen.friction[i] = pairs[k], mode, friction[k]
        chosen.direction[i] = found.slip[k] @ tangents[k]
    for j, r in enumerate(rows):
        chosen.row[j] = 3 * place[r // 3] + r % 3
    chosen.redundant[0] = int(any(3 * k + i not in rows for k in sticking for i in range(3)))
