"""Contacts that run over flat places.

Where a boxy superellipsoid is flat its radius of curvature is infinite. Turned by θ away from there, it touches a plane
some |θ|^(e/(2 - e)) off, with the exponent e < 1: the contact runs over the place in no time that an integrator could
follow, under a force without bound. The impulse of that force has a bound. The contact keeps ζ = 0 all the way, so its
normal force does no work. Along its way, s from 0 where it was to 1 where it is,

    T(s)ᵀ q̇ = 0,    dq̇ = H⁻¹T(s) dp

in steps by the midpoint rule, which keep the energy to rounding, however long they are:

    T_mᵀ (q̇ + q̇⁺) = 0,    q̇⁺ = q̇ + H⁻¹T_m p

T has the normal of a contact, and where friction makes it stick the tangents, too. One that slides, or that friction
cannot hold, gets the impulse p (n - μ s) against its slip s. Where that would turn the slip round it ends it: from then
on the contact sticks.
"""

from typing import NamedTuple

import numpy as np

from ...books.ledger import Books
from ...collision.exact.elements import contacts_among, first_and_second
from ...core.jit import program
from ...core.model import Array, BoolArray, IntArray
from ...core.state import LongArray
from ...dynamics.constraints.limits import TURNS
from ...dynamics.free_body import velocity_from_momentum
from ...problem.contact_equations import weigh_rows
from .books import book_node
from .impact import Impacts
from .instant import matrix_of, update_links, velocities
from .materials import PairMaterials
from .piece import LENGTH, Piece
from .projection import GAP_RANK
from .rates import TIME, write_rows
from .sets import OPEN, SLIDE, STICK
from .step_halving import strays, touches_flat
from .workspace import Workspace

STEPS = 64             # of the way
SHORT = 1.0 / 64.0     # piece that contacts may run over flat places in, relative to the step,
CROSSED = 2.0**-16     # and where its error is known to be too large
OFF = 1e-6             # velocity in kept rows that tells it, relative to the bodies that touch
WHOLE = 2.0            # share of a velocity by which a step of the way changes it
PULLS = 1e-3           # normal impulse that lets a contact go, relative to the largest one that pushes meanwhile
BOXY = 2.0 / 3.0       # exponent e below which a contact with friction runs over flat places, a = (2 - 2e)/(2 - e)
HOLDS = 1e-9           # part of its bound by which an impulse may be beyond it
CHANGES = 3            # changes of how a contact holds in a step of the way, at most


class Before(NamedTuple):
    """The bodies before a piece, and where their contacts were, c of them."""

    P: Array       #: (n, 3) with what the applied forces of the piece give
    L: Array       #: (n, 3)
    v: Array       #: (n_v,) velocities of links, likewise
    arm_a: Array   #: (c, 3) from the centres of the bodies [m]
    arm_b: Array   #: (c, 3)
    normal: Array  #: (c, 3)


class FlatPlaces:
    """Takes velocities along where contacts run over flat places."""

    def __init__(self, work: Workspace, materials: PairMaterials, impacts: Impacts, books: Books) -> None:
        self._work, self._materials, self._impacts, self._books = work, materials, impacts, books

    def crossed(self, piece: Piece) -> bool:
        """Whether contacts run over flat places in a piece whose error is not known."""
        return bool(piece.span[LENGTH] <= SHORT * self._work.h and strays(piece, OFF))

    def before(self, piece: Piece, length: float) -> Before:
        """The state in hand, before it goes on by `length` [s]; books what the applied forces do."""
        work, here = self._work, self._work.here
        count, scratch = work.in_set, here.scratch
        velocities(here, work.set_pairs, 1)
        w, x, rate = scratch.witness, here.bodies.x, scratch.rate
        found = Before(
            here.bodies.P + length * rate[:, 7:10], here.bodies.L + length * rate[:, 10:13],
            here.joints.v + length * scratch.equations.free[len(scratch.equations.free) - len(here.joints.v) :],
            w.p_a[:count] - x[w.body_a[:count]], w.p_b[:count] - x[w.body_b[:count]], w.normal[:count].copy())
        book_applied(piece, length, work.ledger, self._books.given)
        return found

    def cross(self, before: Before) -> bool:
        """Take the velocities from before a piece to the pose after it; whether contacts hold otherwise then."""
        work, here = self._work, self._work.here
        here.bodies.P[:], here.bodies.L[:], here.joints.v[:] = before.P, before.L, before.v
        velocity_from_momentum(here.model, here.bodies)
        update_links(here)
        pairs, count = work.set_pairs.copy(), work.in_set
        velocities(here, pairs, 1)
        w, x, run = here.scratch.witness, here.bodies.x, contacts_among(here.surface, pairs)[:, None]
        x_a, x_b = x[w.body_a[:count]], x[w.body_b[:count]]
        places = [(place[:count], then, place[:count].copy()) for place, then in (
            (w.p_a, x_a + before.arm_a), (w.p_b, x_b + before.arm_b), (w.normal, before.normal))]
        mode = work.chosen.mode[:count].copy()
        for s, share in [(0.0, 1.0), *(((i + 0.5) / STEPS, WHOLE) for i in range(STEPS))]:
            for place, then, now in places:
                place[:] = np.where(run, (1.0 - s) * then + s * now, now)
            w.normal[:count] /= np.linalg.norm(w.normal[:count], axis=1)[:, None]
            put_rows(here, pairs, count)
            self._impacts.push(pairs, self._impulses(pairs, mode, share))
        return bool((mode != work.chosen.mode[:count]).any())

    def _impulses(self, pairs: LongArray, mode: IntArray, share: float) -> Array:
        """Impulses p (3 c,) in the rows of the equations that change the velocities of kept rows by -`share` of
        themselves; mode (c,): how contacts hold, changed where one lets go, begins to slide or sticks from now on."""
        here, count = self._work.here, len(mode)
        u, M = here.scratch.equations.u[: 3 * count].copy(), matrix_of(here, np.arange(3 * count))
        friction, change, kept = self._materials.friction(pairs), np.full(3 * count, -share), self._kept(mode)
        slip, p, runs = u.reshape(-1, 3)[:, 1:].copy(), np.zeros(3 * count), self._running(pairs)
        for _ in range(CHANGES * count):
            rows, columns = np.flatnonzero(kept), np.eye(3 * count)
            for k in np.flatnonzero((mode == SLIDE) & kept[::3]).tolist():
                size = float(np.linalg.norm(slip[k]))
                columns[3 * k + 1 : 3 * k + 3, 3 * k] = -friction.slip[k] * slip[k] / size if size > 0.0 else 0.0
            columns = columns[:, rows]
            p = columns @ np.linalg.lstsq(M[rows] @ columns, change[rows] * u[rows], rcond=GAP_RANK)[0]
            normal, along, after = p[::3], p.reshape(-1, 3)[:, 1:], (u + M @ p).reshape(-1, 3)[:, 1:]
            pulls = runs & kept[::3] & (normal < -PULLS * normal[runs].max(initial=0.0))
            breaks = runs & (mode == STICK) & (np.linalg.norm(along, axis=1) > (1.0 + HOLDS) * friction.stick * normal)
            stops = runs & (mode == SLIDE) & ((after * slip).sum(axis=1) < 0.0)
            breaks &= (share == WHOLE) & (change[1::3] == -share)
            if not (pulls | breaks | stops).any():
                break
            mode[stops], mode[breaks], mode[pulls] = STICK, SLIDE, OPEN
            slip[breaks] = -along[breaks]
            change.reshape(-1, 3)[stops, 1:] = -1.0
            kept = self._kept(mode)
        return p

    def _running(self, pairs: LongArray) -> BoolArray:
        """Which of the contacts act on one of a boxy superellipsoid: the others hold as they do."""
        surface, island = self._work.surface, self._work.chosen.island[: len(pairs)]
        solid, flat = contacts_among(surface, pairs), np.zeros(len(pairs), bool)
        boxy = surface.exponents.min(axis=1) < 1.0
        first, second = first_and_second(surface, pairs[solid])
        flat[solid] = boxy[first] | boxy[second]
        return np.isin(island, island[flat])

    def _kept(self, mode: IntArray) -> BoolArray:
        """The rows (3 c,) whose velocities are kept at zero: those of the set, as far as its contacts hold as in it;
        the normal ones of those that slide now, all of those that stick now."""
        chosen, kept = self._work.chosen, np.zeros((len(mode), 3), bool)
        kept.reshape(-1)[chosen.row[: chosen.rows[0]]] = True
        kept[mode == OPEN] = False
        kept[mode == SLIDE, 1:] = False
        kept[(mode == STICK) & (chosen.mode[: len(mode)] == SLIDE), 1:] = True
        return kept.reshape(-1)


@program
def on_flat_place(piece):
    """Whether a contact of the set is one of a boxy superellipsoid, and no friction opposes turning, or is held. Where
    there is friction, and the force grows as t^-a with a < 1/2, the integrator follows it more closely."""
    chosen, free, below = piece.chosen, True, 1.0
    for k in range(chosen.count[0]):
        free = free and chosen.pair[k] < TURNS and chosen.fixed[k] == 0
        below = BOXY if chosen.friction[k] > 0.0 else below
    return free and touches_flat(piece.start.surface, chosen, below)


@program
def put_rows(at, pairs, count):
    """Equations of the witnesses in the scratch, with what weighs them."""
    write_rows(at, at.clock[TIME], at.bodies, pairs, count)
    weigh_rows(at.model, at.bodies, count, at.scratch.equations)


@program
def book_applied(piece, length, ledger, given):
    """Book what acts at the start but contacts, over `length` [s]; the equations there were written last."""
    start, count = piece.start, 3 * piece.chosen.count[0]
    for r in range(count):
        start.scratch.lam[r] = 0.0
    nothing = np.zeros((count // 3, 3))
    book_node(piece, start.bodies, start.joints.v, length / piece.span[LENGTH], ledger, given, nothing)
