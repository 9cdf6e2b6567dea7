"""The search of one step for its earliest event, on the integrator's dense output [RBDA §11.5, eqs. 11.45–11.51].

All that can end the reign of a contact set is a number that must not become negative: the gap of a pair that is apart,
the force of a contact, what is left to the friction cone of a sticking one, the slip of a sliding one along its
direction at the start, the margin within which a contact's elements are the nearest ones; of contacts that share a
load, the force that one which carries nothing would not take; and of a motor with a limit what is left of it while it
holds its speed, and of the way to that speed while it does not. The numbers are looked at on nodes so close that bodies
turn little between them; a gap is followed by its rate ζ as well, so that a dip below zero
and back between two nodes (a grazing contact, a thin body flown through) does not escape. Roots are bracketed and found
by Brent's method to TIME. `event_course` does it.
"""

from dataclasses import dataclass

import numpy as np

from ...collision.exact.elements import Elements
from ...collision.exact.gaps import Witness
from ...core.model import Array, Model
from ...core.state import Bodies, JointState, LongArray
from ...dynamics.forces import Loads
from ...integrators.stepper import dense_output
from ...integrators.tableau import Tableau
from .piece import (
    ASKS,
    DEPTH,
    LEAST_FORCE,
    TOUCH,
    Track,
    empty_track,
    find_event,
    look,
    meet,
    pairs_near,
    pairs_touching,
)
from .rates import Scratch
from .sets import ContactSet

LEAST = 1e-11     # force that counts as none, relative to the forces at work
TAKES = 1e-8      # force that a contact without one has to ask for before it gets it, relative to the forces at work
ROOM = 256        # pairs watched, at first

KIND_NAMES = ("margin", "sink", "slip", "force", "cone", "share", "gap", "motor")  # as event_course numbers them
MARGIN, SINK, SLIP, FORCE, CONE, SHARE, GAP, MOTOR = KIND_NAMES


@dataclass(frozen=True)
class Trigger:
    """What happens first: at the fraction `delta` of the step a number of kind `kind` becomes negative."""

    delta: float
    kind: str
    row: int   #: of the watched pairs for GAP, of the joints' rows for MOTOR, of the set for the others


class Course:
    """One step of the integrator as a curve, and the numbers to watch along it."""

    def __init__(self, model: Model, surface: Elements, scratch: Scratch) -> None:
        self.model, self.surface, self.scratch = model, surface, scratch
        self.radius = _radii(model)
        self._event = np.zeros(3)
        self.track = self._empty_track(ROOM)

    def _empty_track(self, pairs: int) -> Track:
        contacts, rows = len(self.scratch.lam) // 3, len(self.scratch.equations.reactions.lam)
        return empty_track(self.model, self.surface, self.radius, pairs, contacts, rows)

    def _make_room(self, pairs: int) -> None:
        """Room for so many pairs apart; the piece taken up stays."""
        before, self.track = self.track, self._empty_track(pairs)
        self.track.span[:], self.track.levels[:] = before.span, before.levels

    @property
    def bodies(self) -> Bodies:
        """Where the piece was looked at last."""
        return self.track.bodies

    @property
    def joints(self) -> JointState:
        """The links there."""
        return self.track.joints

    @property
    def reach(self) -> Array:
        """(n,) how far the pairs that `find_pairs` finds may be from each body [m]."""
        return self.track.reach

    @property
    def pairs(self) -> LongArray:
        """The pairs found or watched; the first `count` are valid."""
        return self.track.pairs

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.track.count[0])

    @property
    def witness(self) -> Witness:
        """Their witnesses."""
        return self.track.witness

    def begin(
        self, chosen: ContactSet, loads: Loads, tableau: Tableau, t: float, h: float, whole: float, y0: Array, k: Array,
        scale: float, sink: float,
    ) -> None:
        """Take up the piece of the `whole` step from y0 at t over h with the stages k; scale [N] is that of the forces
        at work, sink the depth that contacts beside the active ones may come to [m]."""
        self.chosen, self.loads, self.tableau, self.t, self.h, self.y0, self.k = chosen, loads, tableau, t, h, y0, k
        self.track.span[:] = t, h, whole
        levels = self.track.levels
        levels[LEAST_FORCE], levels[ASKS], levels[DEPTH] = LEAST * scale, TAKES * scale, sink
        self.modes = chosen.mode[: chosen.count[0]].tolist()

    def at(self, delta: float) -> Bodies:
        """Bodies at a fraction of the step; valid until the next call, as are the links' coordinates in `joints`."""
        track = self.track
        dense_output(self.model, self.tableau, self.t, self.h, self.y0, self.k, float(delta), track.work, track.bodies,
                     track.joints)
        return track.bodies

    def gaps(self, delta: float) -> tuple[Array, Array]:
        """Gaps [m] and their rates [m/s] of the watched pairs at a fraction of the step."""
        self._look(delta, 0)
        track, count = self.track, self.count
        return track.witness.gap[:count] + track.offset[:count], track.zeta[:count].copy()

    def forces(self, delta: float) -> Array:
        """Contact forces (3 c,) at a fraction of the step; the scratch then holds the equations there."""
        self._look(delta, 1)
        return self.scratch.lam

    def _look(self, delta: float, forces: int) -> None:
        look(self.model, self.surface, self.chosen, self.loads, self.tableau, self.y0, self.k, float(delta), forces,
             self.track, self.scratch)

    def earliest(self, blind: bool) -> Trigger | None:
        """The first event of the step, or None. blind: only gaps count."""
        while True:
            found = find_event(self.model, self.surface, self.chosen, self.loads, self.tableau, self.y0, self.k,
                               int(blind), self.track, self.scratch, self._event)
            if found <= len(self.track.pairs):
                break
            self._make_room(2 * int(found))
        delta, kind, row = self._event.tolist()
        return Trigger(delta, KIND_NAMES[int(kind)], int(row)) if kind >= 0.0 else None

    # ------------------------------------------------------------------------------------------ at an instant
    def find_pairs(
        self, bodies: Bodies, joints: JointState, depth: float = TOUCH, near: float = np.inf
    ) -> None:
        """Pairs of elements that are apart or overlap by `depth` at most and are within `reach` of each other; and the
        limits that are within `near`."""
        while True:
            found = pairs_near(self.model, self.surface, bodies, joints, depth, near, self.track)
            if found <= len(self.pairs):
                return
            reach = self.reach
            self._make_room(2 * int(found))
            self.reach[:] = reach

    def touching(self, bodies: Bodies, joints: JointState, depth: float) -> tuple[LongArray, Array]:
        """Pairs that touch, overlap by `depth` at most, and face each other, and their ζ; valid until the next call."""
        while True:
            kept, found = pairs_touching(self.model, self.surface, bodies, joints, depth, self.track)
            if found <= len(self.pairs):
                return self.pairs[:kept], self.track.zeta[:kept]
            self._make_room(2 * int(found))

    def find(self, bodies: Bodies, joints: JointState, pairs: LongArray, count: int, out: Witness) -> Array:
        """Fill `out` for the first `count` pairs, limits among them; their rates ζ [m/s]."""
        zeta = np.zeros(count)
        meet(self.model, self.surface, bodies, joints, pairs, count, out, zeta)
        return zeta


def take_coordinates(scratch: Scratch, joints: JointState) -> None:
    """Tell the right-hand side where the links are."""
    scratch.equations.trees.q[:], scratch.equations.trees.v[:] = joints


def _radii(model: Model) -> Array:
    """Radius about the centre of mass that holds all bounded shapes of each body (n,) [m]."""
    shapes = model.shapes
    radius = np.zeros(len(model.kind))
    reach = np.linalg.norm(shapes.position, axis=1) + np.where(np.isfinite(shapes.bound), shapes.bound, 0.0)
    np.maximum.at(radius, shapes.body, np.abs(reach))
    return radius
