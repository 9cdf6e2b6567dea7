"""The current and the active contact set of RBDA §11.5 and table 11.1, with friction.

The *current* set are the contacts with φ = ζ = ζ̇ = 0. The *active* ones among them are a basis: those whose rows the
right-hand side keeps at zero. `resolve` finds both from the equations of all contacts that rest (φ = ζ = 0):

    no friction    0 <= ζ̇ = M λ + d ⊥ λ >= 0, a basic solution by Dantzig's pivoting
    all slide      the same with columns n - μ (slip direction); M need not be symmetric: Lemke's pivoting
    some rest      Coulomb's law for accelerations with the true cone: an interior point, cones with facets, or block
                   Gauss–Seidel finds who sticks, slips or lets go; Newton's method on those modes makes it exact

A contact at rest has the static coefficient μ_s; those that this does not hold slip with μ.

Where a sliding contact has n·M(n - μ s) <= 0 there may be no solution, or several (Painlevé's rod).

The equations do not say how redundant contacts with friction share their load (four corners of a block), and once these
slide the motion depends on it. Of all forces that keep their rows at zero they take the least ones within the cones:
these are unique, symmetric where the contacts are, and those of contacts that are alike a little elastic. A contact
sticks as long as any forces within the cones hold it.

What opposes the spinning and the rolling of a contact is in the sets like a contact of its own, without a normal row,
with a friction that the normal force of its *bearer* bounds; see `problem.turning_rows`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.islands import leader_of
from ...core.jit import kernel
from ...core.model import Array, BoolArray, IntArray
from ...core.state import LongArray
from ...solvers.borne_friction import borne
from ...solvers.coulomb import with_rest, without_rest
from ...solvers.least_forces import ZERO, basis
from .tolerances import SLIPS

#: how a contact holds: not in the set; current but not active; without friction; with it, sliding or sticking
OPEN, IDLE, SMOOTH, SLIDE, STICK = -1, 0, 1, 2, 3
#: whether a force is unique; if not, whether the smallest one obeys Coulomb's law
UNIQUE, SHARED, UNKNOWN = 0, 1, 2
UNSURE = 1e-5    # slip acceleration that counts as none where the sweeps did not end, relative to the largest one
LEAST_SCALE = 1e-12  # added to accelerations before they are compared with parts of themselves [m/s2]


class Friction(NamedTuple):
    """Coefficients of contacts."""

    slip: Array   #: (c,) mu of those that slip
    stick: Array  #: (c,) mu_s >= mu of those that stick
    bearer: IntArray  #: (c,) the contact whose normal force bounds it; itself but of what opposes turning

    def of(self, rows: BoolArray) -> "Friction":
        """Of some of the contacts, the bearers of all among them."""
        return Friction(self.slip[rows], self.stick[rows], (np.cumsum(rows, dtype=np.int32) - 1)[self.bearer[rows]])

    def where(self, sticks: BoolArray) -> Array:
        """The coefficient (c,) that counts where these contacts (c,) stick."""
        return np.where(sticks, self.stick, self.slip)


class ContactSet(NamedTuple):
    """The current set as the right-hand side uses it; row k is one contact."""

    count: IntArray      #: (1,)
    pair: LongArray      #: (c,)   pair of surface elements, or what opposes its turning
    bearer: IntArray     #: (c,)   the row whose normal force bounds its friction; itself but of what opposes turning
    mode: IntArray       #: (c,)   IDLE, SMOOTH (no friction), SLIDE or STICK
    friction: Array      #: (c,)   mu; of STICK mu_s
    direction: Array     #: (c, 3) of SLIDE: unit slip direction at the beginning of the piece, world frame
    rows: IntArray       #: (1,)   number of equations
    row: IntArray        #: (3 c,) the rows of Equations that are kept at zero: those of the active set
    columns: IntArray    #: (2,)   number of forces that keep them there, and of those that wait to
    column: IntArray     #: (3 c,) these forces, numbered as rows: of SMOOTH and SLIDE the normal one, of STICK all
                         #:        that there are; then those that wait: the normal ones of IDLE contacts with friction
    open: IntArray       #: (c,)   UNIQUE, SHARED or UNKNOWN
    island: IntArray     #: (c,)   contacts that act on one another, directly or through others, have the same number
    islands: IntArray    #: (1,)   how many there are
    fixed: IntArray      #: (c,)   1 = stays as it is to the end of the step, its direction of slip too
    hold: Array          #: (c, 3) of STICK: a force within the cone that has held it together with those of the others,
                         #:        world frame [N]; 0 = none is known


def empty_set(capacity: int) -> ContactSet:
    """No contacts, with room for c = `capacity` of them."""
    def ints(size: int) -> IntArray:
        return np.zeros(size, np.int32)

    return ContactSet(ints(1), np.zeros(capacity, np.int64), ints(capacity), ints(capacity), np.zeros(capacity),
                      np.zeros((capacity, 3)), ints(1), ints(3 * capacity), ints(2), ints(3 * capacity), ints(capacity),
                      ints(capacity), ints(1), ints(capacity), np.zeros((capacity, 3)))


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
    next_up: frozenset[int] = frozenset()  #: those IDLE that carry from now on: the first to complete a basis


NOTHING = Resolution("solved", np.zeros(0), np.zeros(0), [], np.zeros((0, 2)))  # of no contacts


def resolve(
    M: Array, d: Array, u: Array, friction: Friction, begins: dict[int, Array], root: Array | None = None,
) -> Resolution:
    """Forces and accelerations of contacts with φ = ζ = 0, from M (3 c, 3 c), d (3 c,), slip in u (3 c,), and the root
    of M as `instant.root_of_motion` gives it.

    begins: contacts that are at the verge of slipping, with the direction (2,) of the slip that begins. Where friction
    falls as they break away, their forces jump, and with them, where contacts act on one another, that direction.
    """
    speed = np.hypot(u[1::3], u[2::3])
    slides = (friction.slip > 0.0) & (speed > SLIPS)
    slip, mu = np.zeros((len(speed), 2)), friction.where(~slides)
    slip[slides] = np.column_stack([u[1::3], u[2::3]])[slides] / speed[slides, None]
    for k, direction in begins.items():
        mu[k] = friction.slip[k]
        if speed[k] > SLIPS or friction.stick[k] == friction.slip[k]:
            slides[k], slip[k] = True, direction
    while True:
        found = _resolve(M, d, mu, friction.bearer, slides, slip, root)
        broken = (np.array(found.mode) == SLIDE) & (mu > friction.slip)
        if not broken.any():
            return found
        mu[broken] = friction.slip[broken]


def _resolve(
    M: Array, d: Array, friction: Array, bearer: IntArray, slides: BoolArray, slip: Array, root: Array | None,
) -> Resolution:
    """The same for coefficients (c,) that are known, and contacts (c,) that slide in the directions slip (c, 2)."""
    c = len(friction)
    force, status = np.zeros(3 * c), "solved"
    scales, own = np.zeros((3, c)), M.diagonal()[::3]
    for members in islands(M, bearer):
        rows = (3 * members[:, None] + np.arange(3)).ravel()
        mu, s, e, at = friction[members], slides[members], slip[members], np.searchsorted(members, bearer[members])
        part = M[np.ix_(rows, rows)], d[rows], mu
        if (at != np.arange(len(at))).any():
            solved = borne(*part, at, s, e)
        elif ((mu > 0.0) & ~s).any():
            solved = with_rest(*part, s, e, None if root is None else root[rows])
        else:
            solved = without_rest(*part, e)
        force[rows] = solved[1]
        status = status if solved[0] == "solved" else solved[0]
        largest, scale = np.abs(solved[1][::3]).max(), np.abs(d[rows]).max() + LEAST_SCALE
        scales[0, members], scales[1, members] = scale, scale * (ZERO if solved[0] == "solved" else UNSURE)
        scales[2, members] = ZERO * np.maximum(largest, scale / np.where(own > 0.0, own, np.inf)[members])
    return classify(status, force, M @ force + d, scales, friction, bearer, slides, slip)


def islands(M: Array, bearer: IntArray) -> list[NDArray[np.intp]]:
    """Contacts in groups that do not act on one another; each with its bearer."""
    island = np.empty(len(bearer), np.int32)
    count = number_coupled(np.ascontiguousarray(M), np.asarray(bearer, np.int32), island)
    return [np.flatnonzero(island == i) for i in range(count)]


@kernel
def number_coupled(M, bearer, island_out):
    """Number the groups of `islands` in the order of their first contacts; returns how many there are."""
    c, count = len(bearer), 0
    leader, number = np.arange(c), np.full(c, -1)
    for k in range(c):
        leader[leader_of(leader, k)] = leader_of(leader, bearer[k])
        for j in range(k):
            acts = False
            for r in range(3 * k, 3 * k + 3):
                acts = acts or M[r, 3 * j] != 0.0 or M[r, 3 * j + 1] != 0.0 or M[r, 3 * j + 2] != 0.0
            if acts:
                leader[leader_of(leader, j)] = leader_of(leader, k)
    for k in range(c):
        first = leader_of(leader, k)
        if number[first] < 0:
            number[first] = count
            count += 1
        island_out[k] = number[first]
    return count


def classify(
    status: str, force: Array, rate: Array, scales: Array, friction: Array, bearer: IntArray, slides: BoolArray,
    slip: Array,
) -> Resolution:
    """Say of each contact how it holds; scales (3, c): the largest acceleration without contact forces in its island,
    slip acceleration that counts as none [m/s2], and force that does: a part of the largest one in the island, and of
    what such an acceleration takes [N]."""
    mode, e = [], slip.copy()
    for k, (scale, still, _) in enumerate(scales.T.tolist()):
        zeta_dot, u = rate[3 * bearer[k]], rate[3 * k + 1 : 3 * k + 3]
        pushes = force[3 * bearer[k]] > scales[2, bearer[k]]
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


def overlapping(M: Array, d: Array, friction: Array) -> Resolution:
    """Forces where no accelerations keep all contacts (c,), as in RBDA example 11.1: an independent part of them is
    kept, those that close fastest first. The others come to overlap by a little, until their normals have turned and
    stop the motion."""
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
    """Forces of contacts (c,) whose sliding friction would ask for forces without bound: those with a slip of at most
    `slow` [m/s] stick, the others slide without friction. M is then symmetric and bounds the forces."""
    c = len(friction)
    sticks = (friction > 0.0) & (np.hypot(u[1::3], u[2::3]) <= slow)
    mode = [STICK if stays else SMOOTH if mu == 0.0 else SLIDE
            for stays, mu in zip(sticks.tolist(), friction.tolist(), strict=True)]
    rows = basis(M, [3 * k for k in range(c)], [3 * k + i for k in np.flatnonzero(sticks).tolist() for i in (1, 2)])
    force = _holding(M, d, rows)
    return Resolution("inconsistent", force, M @ force + d, mode, np.zeros((c, 2)))
