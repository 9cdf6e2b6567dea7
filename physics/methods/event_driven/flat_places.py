"""Contacts that run over flat places.

Where a boxy superellipsoid is flat its radius of curvature is infinite. Turned by θ away from there, it touches a plane
some |θ|^(e/(2 - e)) off, with the exponent e < 1: the contact runs over the place in no time that an integrator could
follow, under a force without bound. The impulse of that force has a bound. The contact keeps ζ = 0 all the way, so its
normal force does no work. Along its way, s from 0 where it was to 1 where it is,

    T(s)ᵀ q̇ = 0,    dq̇ = H⁻¹T(s) dp

in steps by the midpoint rule, which keep the energy to rounding, however long they are:

    T_mᵀ (q̇ + q̇⁺) = 0,    q̇⁺ = q̇ + H⁻¹T_m p

Contacts with friction are left to the integrator.
"""

from typing import NamedTuple

import numpy as np

from ...books.ledger import Books
from ...collision.exact.elements import contacts_among
from ...core.jit import program
from ...core.model import Array, BoolArray
from ...dynamics.free_body import velocity_from_momentum
from ...problem.contact_equations import weigh_rows
from .books import book_node
from .impact import Impacts
from .instant import matrix_of, update_links, velocities
from .piece import LENGTH, Piece
from .projection import impulses_for
from .rates import TIME, write_rows
from .step_halving import strays, touches_flat
from .workspace import Workspace

STEPS = 64             # of the way
SHORT = 1.0 / 64.0     # piece that contacts may run over flat places in, relative to the step,
CROSSED = 2.0**-16     # and where its error is known to be too large
OFF = 1e-6             # velocity in kept rows that tells it, relative to the bodies that touch
PULLS = 1e-3           # normal impulse that lets a contact go, relative to the largest one that pushes meanwhile


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

    def __init__(self, work: Workspace, impacts: Impacts, books: Books) -> None:
        self._work, self._impacts, self._books = work, impacts, books

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
        """Take the velocities from before a piece to the pose after it; whether contacts were let go."""
        work, here = self._work, self._work.here
        here.bodies.P[:], here.bodies.L[:], here.joints.v[:] = before.P, before.L, before.v
        velocity_from_momentum(here.model, here.bodies)
        update_links(here)
        pairs, count = work.set_pairs.copy(), work.in_set
        velocities(here, pairs, 1)
        w, x = here.scratch.witness, here.bodies.x
        x_a, x_b, run = x[w.body_a[:count]], x[w.body_b[:count]], contacts_among(here.surface, pairs)[:, None]
        places = [(place[:count], then, place[:count].copy()) for place, then in (
            (w.p_a, x_a + before.arm_a), (w.p_b, x_b + before.arm_b), (w.normal, before.normal))]
        holds = np.ones(count, bool)
        for s, share in [(0.0, 1.0), *(((i + 0.5) / STEPS, 2.0) for i in range(STEPS))]:
            for place, then, now in places:
                place[:] = np.where(run, (1.0 - s) * then + s * now, now)
            w.normal[:count] /= np.linalg.norm(w.normal[:count], axis=1)[:, None]
            put_rows(here, pairs, count)
            self._impacts.push(pairs, self._impulses(holds, share))
        return not holds.all()

    def _impulses(self, holds: BoolArray, share: float) -> Array:
        """Impulses p (3 c,) in the rows of the equations that change ζ of kept contacts by -`share` of itself; where
        one would pull it is let go: holds (c,)."""
        chosen, here = self._work.chosen, self._work.here
        zeta, kept = here.scratch.equations.u, chosen.row[: chosen.rows[0]]
        p = np.zeros(3 * len(holds))
        while True:
            rows = kept[holds[kept // 3]]
            p[:] = 0.0
            p[rows] = impulses_for(matrix_of(here, rows), -share * zeta[rows])
            pulls = p[::3] < -PULLS * p.max(initial=0.0)
            if not pulls.any() or not p.max() > 0.0:
                return p
            holds[pulls] = False


@program
def on_flat_place(piece):
    """Whether a contact of the set is one of a boxy superellipsoid, and none has friction."""
    chosen, smooth = piece.chosen, True
    for k in range(chosen.count[0]):
        smooth = smooth and chosen.friction[k] == 0.0
    return smooth and touches_flat(piece.start.surface, chosen)


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
