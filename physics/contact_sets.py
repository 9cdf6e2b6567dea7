"""Which contacts are in force, and how each one holds: the sets of RBDA §11.5 and table 11.1, with friction.

The *current* set are the contacts with φ = ζ = ζ̇ = 0. The *active* ones among them are a basis: those whose rows the
right-hand side keeps at zero. `resolve` finds both from the equations of all contacts that rest (φ = ζ = 0):

    no friction    0 <= ζ̇ = M λ + d ⊥ λ >= 0, a basic solution by Dantzig's pivoting
    all slide      the same with columns n - μ (slip direction); M need not be symmetric: Lemke's pivoting
    some rest      Coulomb's law for accelerations with the true cone: block Gauss–Seidel with exact solutions of single
                   contacts finds who sticks, slips or lets go; Newton's method on those modes makes it exact

Where a sliding contact has n·M(n - μ s) <= 0 there may be no solution, or several (Painlevé's rod).

Redundant contacts with friction (four corners of a block) do not say how they share their load, and once they slide the
motion depends on it. Of all forces that keep their rows at zero they take the smallest, min |λ|² with λ >= 0: that is
one only, and symmetric where the contacts are. What sticks does so as long as any forces within the cones hold it.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .core.islands import islands_of
from .core.jit import helper, kernel
from .core.model import Array, IntArray
from .core.state import LongArray
from .problem.contact_equations import solve_small
from .problem.problem import ContactProblem
from .solvers.dantzig import Dantzig
from .solvers.gauss_principle import constrained_acceleration
from .solvers.interior_point import InteriorPoint, newton_with_slides
from .solvers.lemke import Lemke

BoolArray = NDArray[np.bool_]

OPEN, IDLE, SMOOTH, SLIDE, STICK = -1, 0, 1, 2, 3  # how a contact holds; IDLE: current but not active
SLIPS = 1e-9        # slip above which a contact slides [m/s]
ANGLES = 24         # directions of slip looked at before the exact one is searched
SWEEPS = 3000
QUICK = 200         # sweeps before another method is tried
ENOUGH = 1e-14      # change of a sweep that ends it, relative to the accelerations without contact
ENOUGH_HELD = 1e-12 # acceleration left to contacts that stick, relative to that without contact
DEPENDENT = 1e-10   # what independent rows leave of a row, relative to it, below which it depends on them
ZERO = 1e-9         # forces and accelerations that count as zero, relative to the largest
RANK = 1e-11        # singular values that count as zero, relative to the largest
UNSURE = 1e-5       # the same where the sweeps did not come to an end: at the verge of slip of redundant contacts
NEWTON_STEPS = 30
SMALL = 6           # contacts of which all sets are tried where solutions need not be unique
FEW = 100           # equations of which finding independent ones first saves nothing
VERGES = (1e-6, 1e-9)  # slip acceleration that may be that of a sticking contact, relative to that without contact
STRAIGHT = 1e-9     # turn of a slip that is not told from none [rad], and
ASIDE = 1e-12       # slip across its direction [m/s]: that of a slow one would follow errors of rounding
ALONE = 1e-12       # square of the part of a force that the equations leave open, below which it is unique
UNIQUE, SHARED, UNKNOWN = 0, 1, 2  # whether a force is unique; if not, whether the smallest one obeys Coulomb's law


NONE = np.zeros(0, np.intp)


class ContactSet(NamedTuple):
    """The current set as the right-hand side uses it; row k is one contact."""

    count: IntArray      #: (1,)
    pair: LongArray      #: (c,)   pair of surface elements
    mode: IntArray       #: (c,)   IDLE, SMOOTH (no friction), SLIDE or STICK
    friction: Array      #: (c,)   mu
    direction: Array     #: (c, 3) of SLIDE: unit slip direction at the beginning, world frame
    rows: IntArray       #: (1,)   number of equations
    row: IntArray        #: (3 c,) the rows of Equations that are kept at zero: those of the active set
    columns: IntArray    #: (2,)   number of forces that keep them there; and of those that wait to
    column: IntArray     #: (3 c,) these forces, numbered as rows: of SMOOTH and SLIDE the normal one, of STICK all
                         #:        three; then the normal ones of IDLE contacts with friction
    open: IntArray       #: (c,)   UNIQUE, SHARED or UNKNOWN
    island: IntArray     #: (c,)   contacts that act on one another, directly or through others, have the same number
    islands: IntArray    #: (1,)   how many there are


def empty_set(capacity: int) -> ContactSet:
    """No contacts, with room for c = `capacity` of them."""
    def ints(size: int) -> IntArray:
        return np.zeros(size, np.int32)

    return ContactSet(ints(1), np.zeros(capacity, np.int64), ints(capacity), np.zeros(capacity),
                      np.zeros((capacity, 3)), ints(1), ints(3 * capacity), ints(2), ints(3 * capacity), ints(capacity),
                      ints(capacity), ints(1))


def clear_set(chosen: ContactSet) -> None:
    """No contacts."""
    for number in (chosen.count, chosen.rows, chosen.columns, chosen.islands):
        number[:] = 0


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
            grown = group | acts[group].any(axis=0)  # one that nothing moves does not even act on itself
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
        return "solved" if info.status == "solved" else "inconsistent", (pull * lam[:, None]).ravel()
    unique = np.linalg.eigvalsh(A + A.T)[0] > -1e-12 * np.abs(A).max()
    info = Lemke()(problem, lam) if unique or c > SMALL else None
    solved = info is not None and info.status == "solved"
    if not solved and c <= SMALL:
        found = _all_sets(A, d[::3])
        solved, lam = found is not None, np.zeros(c) if found is None else found
    return "solved" if solved else "inconsistent", (pull * _shared(A, d[::3], lam)[:, None]).ravel()


def _shared(A: Array, d: Array, lam: Array) -> Array:
    """The smallest forces (c,) that keep the contacts at zero which λ keeps there."""
    scale = np.abs(d).max() + 1e-300
    current = np.flatnonzero(A @ lam + d <= ZERO * scale)
    least = np.zeros(len(d))
    found = smallest(A[np.ix_(current, current)], -d[current], np.arange(len(current)))
    if found is None:
        return lam
    least[current] = found
    rate = A @ least + d
    right = (np.abs(rate[current]) <= ZERO * scale).all() and (rate >= -ZERO * scale).all()
    return least if right else lam


def smallest(B: Array, right: Array, pushes: NDArray[np.intp]) -> Array | None:
    """The smallest x with B x = right, a system that has solutions, and x >= 0 in the places `pushes`; None where no x
    is. With x = x₀ + Y t, Y the null space of B, that is Gauss's principle for t."""
    U, s, V = np.linalg.svd(B, full_matrices=False)
    rank = int(np.count_nonzero(s > RANK * s.max(initial=0.0)))
    x = V[:rank].T @ ((U[:, :rank].T @ right) / s[:rank])
    if rank == B.shape[1] or (x[pushes] >= 0.0).all():
        return x
    Y = np.linalg.qr(V[:rank].T, mode="complete")[0][:, rank:]
    t, _, info = constrained_acceleration(
        np.eye(Y.shape[1]), np.ascontiguousarray(Y[pushes].T), np.zeros(Y.shape[1]), x[pushes])
    if info.status != "solved":
        return None
    x += Y @ t
    used = np.ones(len(x), bool)
    used[pushes] = x[pushes] > ZERO * np.abs(x).max()
    exact = np.zeros(len(x))
    exact[used] = np.linalg.lstsq(B[:, used], right, rcond=RANK)[0]
    return exact if (exact[pushes] >= 0.0).all() else np.where(used, x, 0.0)


def least(M: Array, right: Array) -> Array:
    """The smallest x with M x = right, a system that has solutions, M (n, n) symmetric and positive semidefinite."""
    if len(M) <= FEW:
        return np.asarray(np.linalg.lstsq(M, right, rcond=RANK)[0], np.float64)
    rows = basis(M, list(range(len(M))))
    Q, R = np.linalg.qr(M[rows].T)
    return np.asarray(Q @ np.linalg.solve(R.T, right[rows]), np.float64)


def _all_sets(A: Array, d: Array) -> Array | None:
    """Every set of a problem whose solution need not be unique; several with different ζ̇ are no answer."""
    lam = np.zeros(len(d))
    A, d = (np.ascontiguousarray(a, np.float64) for a in (A, d))
    return lam if all_sets(A, d, float(np.abs(d).max()) + 1e-300, lam) == 1 else None


@kernel
def all_sets(A, d, scale, lam_out):
    """Try all sets of contacts in force, smaller numbers of binary digits first; lam_out (c,) is the first solution.
    Returns how many there are with different ζ̇, at most 2."""
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
            right = right and lam[i] >= 0.0 and rate[i] >= -1e-10 * scale
            same = same and abs(rate[i] - first[i]) <= 1e-9 * scale
        if right and (found == 0 or not same):
            found += 1
            if found == 2:
                break
            lam_out[:], first[:] = lam, rate
    return found


def with_rest(M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array) -> tuple[str, Array]:
    """Some contact rests and may stick, slip or let go."""
    c = len(friction)
    M, d, friction = (np.ascontiguousarray(a, np.float64) for a in (M, d, friction))
    force, rate, status = np.zeros(3 * c), np.zeros(3 * c), "iterations"
    if not slides.any() and (friction > 0.0).all():
        held = least(M, -d)  # of all forces that hold everything the smallest ones
        inside = np.hypot(held[1::3], held[2::3]) <= friction * held[::3] * (1.0 - ZERO)
        if inside.all() and np.abs(M @ held + d).max() <= ENOUGH_HELD * np.abs(d).max():
            return "solved", held.astype(np.float64)
        if c > 1:  # near the verge of slip the sweeps would need as many rounds as the distance to it is small
            status = InteriorPoint()(ContactProblem.frictional(M, d, friction), force).status
            rate = M @ force + d
    if status != "solved":
        slide = np.ascontiguousarray(np.column_stack([slides, slip]), np.float64)
        force[:] = 0.0
        scale = float(np.abs(d).max()) + 1e-300
        change = cone_sweeps(M, d, friction, slide, QUICK, ENOUGH * scale, force, rate)
        if change > ENOUGH * scale:  # sweeps creep where contacts depend on one another
            found = newton_with_slides(ContactProblem.frictional(M, d, friction), slides, slip, force)
            if found is not None:
                force, change = found, 0.0
                rate = M @ force + d
            else:
                change = cone_sweeps(M, d, friction, slide, SWEEPS, ENOUGH * scale, force, rate)
        status = "solved" if change <= ENOUGH * scale else "iterations"
    exact = sharpened(M, d, friction, slides, slip, force, rate)
    return (status, force) if exact is None else ("solved", exact)


def sharpened(
    M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array, force: Array, rate: Array
) -> Array | None:
    """The exact forces (3 c,) by Coulomb's law, where they are not unique the smallest ones, from nearly exact ones and
    the rates M f + d that they cause; None where these do not show who sticks and who slips. The law for impulses is
    the same one: f impulses, M f + d velocities."""
    for still, fresh in itertools.product(VERGES, (True, False)):
        exact = _exact(M, d, friction, slides, slip, force, rate, still, fresh)
        if exact is not None:
            return exact
    return None


def _exact(
    M: Array, d: Array, friction: Array, slides: BoolArray, slip: Array, force: Array, rate: Array, still: float,
    fresh: bool,
) -> Array | None:
    """The exact forces with the modes that `force` and `rate` show, or None where they break a law. still: slip
    acceleration below which a contact sticks. fresh: the smallest ones of all; else those nearest to `force`, in the
    contacts that push in it."""
    scale = float(np.abs(d).max()) + 1e-300
    acceleration = rate.reshape(-1, 3)
    largest = float(np.abs(force[::3]).max(initial=0.0)) + 1e-300
    closed = (force[::3] > 1e-7 * largest) | ((acceleration[:, 0] <= ZERO * scale) & fresh)
    starts = ~slides & (friction > 0.0)
    sticks = closed & starts & (np.hypot(*acceleration[:, 1:].T) <= still * scale)
    turning = np.flatnonzero(closed & starts & ~sticks)
    if not closed.any():
        return np.zeros(len(d)) if (d[::3] >= -ZERO * scale).all() else None
    rows = np.array([3 * k + i for k in np.flatnonzero(closed) for i in range(3 if sticks[k] else 1)])
    some = rows if len(rows) <= FEW else np.array(basis(M, rows.tolist()))
    columns, single = M[:, rows], np.flatnonzero(~sticks[rows // 3])
    near = np.zeros(len(rows)) if fresh else force[rows]
    tangents = (3 * turning[:, None] + (1, 2)).ravel()
    e = slip.copy()

    def forces(start: Array) -> Array | None:
        """All forces for slip accelerations (2 t,) of the contacts that begin to slip."""
        a = start.reshape(-1, 2)
        e[turning] = a / np.maximum(np.hypot(*a.T), 1e-300)[:, None]
        pulled = columns.copy()
        for j in single:
            k = rows[j] // 3
            pulled[:, j] -= friction[k] * M[:, 3 * k + 1 : 3 * k + 3] @ e[k]
        x = smallest(pulled[some], -d[some] - pulled[some] @ near, np.flatnonzero(rows % 3 == 0) if fresh else NONE)
        if x is None:
            return None
        f = np.zeros(len(d))
        f[rows] = near + x
        for k in rows[single] // 3:
            f[3 * k + 1 : 3 * k + 3] = -friction[k] * f[3 * k] * e[k]
        return f

    f = forces(rate[tangents]) if not len(turning) else _directions(M, d, tangents, rate[tangents], forces)
    if f is None:
        return None
    a = M @ f + d
    across = a[tangents].reshape(-1, 2)
    across = across[:, 0] * e[turning, 1] - across[:, 1] * e[turning, 0]
    tangential = np.hypot(f[1::3], f[2::3])
    right = (
        np.abs(a[rows]).max() <= ZERO * scale and (a[::3] >= -ZERO * scale).all() and (f[::3] >= 0).all()
        and (tangential <= friction * f[::3] * (1 + ZERO) + ZERO * largest).all()
        and np.abs(across).max(initial=0.0) <= ZERO * scale
    )
    return f if right else None


def _directions(
    M: Array, d: Array, tangents: NDArray[np.intp], start: Array, forces: Callable[[Array], Array | None]
) -> Array | None:
    """Forces against the slip accelerations that they bring about, by Newton's method for these. The slower slip begins
    the more its direction depends on the forces: nothing simpler comes to an end there."""
    found = forces(start)
    if found is None:
        return None
    U, s, _ = np.linalg.svd(M[tangents])
    U = U[:, : np.count_nonzero(s > RANK * s[0])]
    now = start.copy()
    wrong = U.T @ ((M @ found + d)[tangents] - now)
    for _ in range(NEWTON_STEPS):
        size = 1e-7 * float(np.hypot(now[::2], now[1::2]).min())
        slope = np.zeros((len(wrong), len(wrong)))
        for j in range(len(wrong)):
            shifted = forces(now + size * U[:, j])
            if shifted is None or size == 0.0:
                return None
            slope[:, j] = (U.T @ ((M @ shifted + d)[tangents] - now) - size * np.eye(len(wrong))[j] - wrong) / size
        now = now - U @ np.linalg.lstsq(slope, wrong, rcond=None)[0]
        found = forces(now)
        if found is None:
            return None
        before, wrong = np.abs(wrong).max(), U.T @ ((M @ found + d)[tangents] - now)
        if np.abs(wrong).max() >= 0.5 * before:
            break
    return found


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
            against = -force[3 * k + 1 : 3 * k + 3] if pushes else u  # the force knows it better than a slow slip
            e[k] = against / np.hypot(*against)
            mode.append(SLIDE if pushes else IDLE)
    return Resolution(status, force, rate, mode, e)


def basis(M: Array, *classes: list[int]) -> list[int]:
    """Independent rows: of each class as many as do not depend on those before, the most independent one first. By
    Cholesky's decomposition of M with pivoting."""
    wanted = np.array([r for rows in classes for r in rows], np.int64)
    ends = np.cumsum([len(rows) for rows in classes], dtype=np.int64)
    chosen = np.zeros(len(wanted), np.int64)
    count = pick_basis(np.ascontiguousarray(M), wanted, ends, chosen)
    return wanted[chosen[:count]].tolist()


@kernel
def pick_basis(M, wanted, ends, chosen_out):
    """See `basis`: the classes are what lies before the ends among the rows `wanted`. Writes the places of those chosen
    and returns their number."""
    n, count, begin = len(wanted), 0, 0
    left, unit, L = np.zeros(n), np.ones(n), np.zeros((n, n))
    for i in range(n):
        left[i] = M[wanted[i], wanted[i]]
        unit[i] = left[i] if left[i] > 0.0 else 1.0  # the row of a point that cannot move is 0
    for end in ends:
        while True:
            best = -1
            for i in range(begin, end):
                if left[i] > DEPENDENT * unit[i] and (best < 0 or left[i] * unit[best] > left[best] * unit[i]):
                    best = i
            if best < 0:
                break
            root = math.sqrt(left[best])
            for i in range(n):
                along = M[wanted[i], wanted[best]]
                for m in range(count):
                    along -= L[i, m] * L[best, m]
                L[i, count] = along / root
            for i in range(n):
                left[i] -= L[i, count] ** 2
            left[best] = 0.0
            chosen_out[count] = best
            count += 1
        begin = end
    return count


def fill_set(
    chosen: ContactSet, pairs: LongArray, found: Resolution, M: Array, friction: Array, tangents: Array, nodes: IntArray
) -> None:
    """Write the current set: the contacts of `pairs` that are not OPEN; tangents (c, 2, 3), nodes (c, 2): see
    `connect`."""
    kept = [k for k, mode in enumerate(found.mode) if mode != OPEN]
    least = ZERO * float(np.abs(found.force[::3]).max(initial=0.0))
    loaded = [k for k in kept if found.mode[k] not in (IDLE, STICK) or found.force[3 * k] > least]
    loaded_sticks, sticks = ([k for k in some if found.mode[k] == STICK] for some in (loaded, kept))
    idle = [k for k in kept if found.mode[k] == IDLE]
    rows = basis(M, [3 * k for k in loaded], [3 * k + i for k in loaded_sticks for i in (1, 2)],
                 [3 * k + i for k in sticks if k not in loaded for i in range(3)], [3 * k for k in idle])
    place = {k: i for i, k in enumerate(kept)}
    chosen.count[0], chosen.rows[0] = len(kept), len(rows)
    for i, k in enumerate(kept):
        mode = found.mode[k]
        if mode == IDLE and 3 * k in rows:  # it completes the basis [RBDA §11.5]
            mode = SMOOTH if friction[k] == 0.0 else SLIDE
        chosen.pair[i], chosen.mode[i], chosen.friction[i] = pairs[k], mode, friction[k]
        chosen.direction[i] = found.slip[k] @ tangents[k]
    for j, r in enumerate(rows):
        chosen.row[j] = 3 * place[r // 3] + r % 3
    list_columns(chosen)
    connect(chosen, nodes[kept])
    _judge(chosen, kept, found, M)


def overlapping(M: Array, d: Array, friction: Array) -> Resolution:
    """Where no accelerations keep all contacts (c,): some are kept, the others come to overlap by a little until turned
    normals stop the motion [RBDA example 11.1]."""
    c = len(friction)
    rows = basis(M, *([3 * k] for k in np.argsort(d[::3], kind="stable").tolist()))
    force = _holding(M, d, rows)
    mode = [(SMOOTH if friction[k] == 0.0 else SLIDE) if 3 * k in rows else IDLE for k in range(c)]
    return Resolution("inconsistent", force, M @ force + d, mode, np.zeros((c, 2)))


def _holding(M: Array, d: Array, rows: list[int]) -> Array:
    """Forces in these rows, independent, that leave no acceleration there."""
    force = np.zeros(len(d))
    force[rows] = np.linalg.solve(M[np.ix_(rows, rows)], -d[rows])
    return force


def unjammed(M: Array, d: Array, u: Array, friction: Array, slow: float) -> Resolution:
    """Forces that M, symmetric, bounds, of contacts (c,) whose sliding friction would ask for any: those with a slip of
    at most `slow` [m/s] stick, the others slide without friction."""
    c = len(friction)
    sticks = (friction > 0.0) & (np.hypot(u[1::3], u[2::3]) <= slow)
    mode = [STICK if stays else SMOOTH if mu == 0.0 else SLIDE
            for stays, mu in zip(sticks.tolist(), friction.tolist(), strict=True)]
    rows = basis(M, [3 * k for k in range(c)], [3 * k + i for k in np.flatnonzero(sticks).tolist() for i in (1, 2)])
    force = _holding(M, d, rows)
    return Resolution("inconsistent", force, M @ force + d, mode, np.zeros((c, 2)))


def connect(chosen: ContactSet, nodes: IntArray) -> None:
    """Number the islands of the set; nodes (c, 2): what moves at each side of a contact, see `islands_of`."""
    count = int(chosen.count[0])
    chosen.island[:count] = islands_of(nodes)
    chosen.islands[0] = chosen.island[:count].max(initial=-1) + 1


def list_columns(chosen: ContactSet) -> None:
    """Write which forces are in use, from the modes."""
    mode = list(enumerate(chosen.mode[: chosen.count[0]].tolist()))
    used = [3 * k + i for k, m in mode for i in range(0 if m == IDLE else 3 if m == STICK else 1)]
    wait = [3 * k for k, m in mode if m == IDLE and chosen.friction[k] > 0.0]
    chosen.columns[:] = len(used), len(wait)
    chosen.column[: len(used) + len(wait)] = used + wait


def _judge(chosen: ContactSet, kept: list[int], found: Resolution, M: Array) -> None:
    """Write which forces are not unique, and of each island with such forces whether the smallest ones obey Coulomb's
    law. Where nothing sticks by a force that is not known they need not: those that slide have the smallest forces."""
    count, columns = len(kept), chosen.column[: chosen.columns[0]]
    chosen.open[:count] = UNIQUE
    if len(columns) == chosen.rows[0]:
        return
    mode, friction = chosen.mode[:count], chosen.friction[:count]
    place = np.array([3 * kept[r // 3] + r % 3 for r in chosen.row[: chosen.rows[0]].tolist()])
    B, right = np.zeros((len(place), len(columns))), M[place] @ found.force - found.rate[place]
    for j, c in enumerate(columns.tolist()):
        k, r = kept[c // 3], 3 * kept[c // 3] + c % 3
        B[:, j] = M[place, r]
        if mode[c // 3] == SLIDE:
            B[:, j] -= friction[c // 3] * M[place, 3 * k + 1 : 3 * k + 3] @ found.slip[k]
    Q, R = np.linalg.qr(B.T)  # what a force has outside the rows' space is not determined by them
    shared = np.zeros(count, bool)
    shared[columns[1.0 - (Q * Q).sum(axis=1) > ALONE] // 3] = True
    force = np.zeros(3 * count)
    force[columns] = Q @ np.linalg.solve(R.T, right)
    sticks = mode == STICK
    holds = force[::3] >= 0.0
    holds[sticks] &= (np.hypot(force[1::3], force[2::3]) <= friction * force[::3] * (1.0 - ZERO))[sticks]
    island = chosen.island[:count]
    unknown = np.isin(island, island[shared & ~holds]) & np.isin(island, island[shared & sticks])
    chosen.open[:count] = np.where(shared, np.where(unknown, UNKNOWN, SHARED), UNIQUE)
