"""The search of one step for its earliest event, on the integrator's dense output [RBDA §11.5, eqs. 11.45–11.51].

All that can end the reign of a contact set is a number that must not become negative: the gap of a pair that is apart,
the force of a contact, what is left to the friction cone of a sticking one, the slip of a sliding one along its
direction at the start, the margin within which a contact's elements are the nearest ones; and of contacts that share a
load, the force that one which carries nothing would not take. The numbers are looked at on
nodes so close that bodies turn little between them; a gap is followed by its rate ζ as well, so that a dip below zero
and back between two nodes (a grazing contact, a thin body flown through) does not escape. Roots are bracketed and found
by Brent's method to TIME.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from contactlab.physics.collision.surface import Surface
from contactlab.physics.collision.surface_gap import Witness, empty_witness, find_near, find_witnesses
from contactlab.physics.contact_equations import separation_rates
from contactlab.physics.contact_sets import IDLE, SLIDE, STICK, UNKNOWN, ContactSet
from contactlab.physics.dynamics.forces import Loads
from contactlab.physics.dynamics.tree_rates import empty_joints, empty_tree_scratch
from contactlab.physics.integrators.stepper import dense_output
from contactlab.physics.integrators.tableau import Tableau
from contactlab.physics.limits import find_limits, limit_rates, near_limits
from contactlab.physics.methods.event_course import look, travel
from contactlab.physics.methods.event_driven_rates import Scratch
from contactlab.physics.model import Array, Model
from contactlab.physics.state import Bodies, JointState, LongArray, empty_state

TIME = 1e-13      # to which instants are found [s], but for rounding
TOUCH = 1e-8      # |φ| that counts as touching when the sets are made anew [m]
RESTS = 1e-8      # |ζ| that counts as no approach and no separation [m/s]
GRAZE = 1e-10     # depth that a pair which has just let go, or rests beside the active ones, may come to [m]
EDGE = 1e-9       # by which a contact may leave its own region before it is lost [m]
FACING = -1e-6    # by which the normal of two edges may leave the arcs between their faces
LEAST = 1e-11     # force that counts as none, relative to the forces at work
TAKES = 1e-8      # force that a contact without one has to ask for before it gets it, relative to the forces at work
SLOW = 1e-12      # slip [m/s]
TURN = 0.1        # a body's largest turn between two nodes [rad]
NODES = 4         # intervals of a step at least
MANY = 200        # and at most

GAP, FORCE, CONE, SLIP, MARGIN, SINK, SHARE = "gap", "force", "cone", "slip", "margin", "sink", "share"


@dataclass(frozen=True)
class Trigger:
    """What happens first: at the fraction `delta` of the step a number of kind `kind` becomes negative."""

    delta: float
    kind: str
    row: int   #: of the watched pairs for GAP, of the set for the others


class Course:
    """One step of the integrator as a curve, and the numbers to watch along it."""

    def __init__(self, model: Model, surface: Surface, scratch: Scratch) -> None:
        self.model, self.surface, self.scratch = model, surface, scratch
        n = len(model.kind)
        self.bodies, self.joints = empty_state(n).bodies, empty_joints(model.trees)
        self.trees = empty_tree_scratch(model.trees)
        self.radius = _radii(model)
        self.reach = np.zeros(n)
        self.pairs = np.zeros(256, np.int64)     # those watched
        self.witness = empty_witness(256)
        self.zeta = np.zeros(256)
        self.place = np.zeros((len(surface.kind), 4))
        self.count = 0
        self.offset = np.zeros(0)

    def begin(
        self, chosen: ContactSet, loads: Loads, tableau: Tableau, t: float, h: float, whole: float, y0: Array, k: Array,
        scale: float, sink: float,
    ) -> None:
        """Take up the piece of the `whole` step from y0 at t over h with the stages k; scale [N] is that of the forces
        at work, sink the depth that contacts beside the active ones may come to [m]."""
        self.chosen, self.loads, self.tableau, self.t, self.h, self.y0, self.k = chosen, loads, tableau, t, h, y0, k
        self.whole = whole
        self.least, self.takes, self.sink = LEAST * scale, TAKES * scale, sink
        self.modes = chosen.mode[: chosen.count[0]].tolist()
        self._name_numbers()

    def _name_numbers(self) -> None:
        """List which numbers of the current set are watched; `holds` gives their values in this order."""
        chosen, count = self.chosen, len(self.modes)
        mode, row = chosen.mode[:count], chosen.row[: chosen.rows[0]]
        implied = np.ones(count, bool)  # it follows from the others that it touches, as long as they say the same
        implied[row[row % 3 == 0] // 3] = False
        known = (mode != IDLE) & (chosen.open[:count] != UNKNOWN)
        used, waiting = chosen.columns.tolist()
        self.waiting = slice(used, used + waiting)
        self.implied, self.sliding, self.pushing, self.sticking = (
            np.flatnonzero(rows) for rows in (implied, mode == SLIDE, known, known & (mode == STICK)))
        groups = ((MARGIN, np.arange(count)), (SINK, self.implied), (SLIP, self.sliding), (FORCE, self.pushing),
                  (CONE, self.sticking), (SHARE, chosen.column[self.waiting] // 3))
        self.numbers = [(kind, int(k)) for kind, rows in groups for k in rows]

    def at(self, delta: float) -> Bodies:
        """Bodies at a fraction of the step; valid until the next call, as are the links' coordinates in `joints`."""
        dense_output(self.model, self.tableau, self.t, self.h, self.y0, self.k, float(delta), self.trees.work,
                     self.bodies, *self.joints)
        return self.bodies

    def forces(self, delta: float) -> Array:
        """Contact forces (3 c,) at a fraction of the step; the scratch then holds the equations there."""
        self._look(delta, 0, True)
        return self.scratch.lam

    def _look(self, delta: float, count: int, forces: bool) -> None:
        """Find bodies, the first `count` pairs watched and the forces of the set at a fraction of the step."""
        look(self.model, self.surface, self.chosen, self.loads, self.tableau, self.t, self.h, self.whole, self.y0,
             self.k, float(delta), int(forces), self.trees.work, self.bodies, self.joints, self.pairs, count,
             self.witness, self.zeta, self.scratch)

    # ------------------------------------------------------------------------------------------ what is watched
    def watch(self) -> Array:
        """Choose the pairs to watch: those apart at the start that the bodies' motion can bring together. Returns the
        fractions of the step between which no body turns by more than TURN."""
        n = len(self.radius)
        start, far, spin, speed = np.zeros((n, 3)), np.zeros(n), np.zeros(n), np.zeros(n)
        intervals = travel(self.model, self.tableau, self.t, self.h, self.y0, self.k, TURN, NODES, MANY,
                           self.trees.work, self.bodies, self.joints, start, far, spin, speed)
        turn = np.minimum(spin * self.h, 2.0) * self.radius
        self.reach[:] = 1.1 * (far + turn) + 0.1 * self.h * speed + 2.0 * TOUCH
        self.find_pairs(self.bodies, self.joints, self.reach)
        self._drop_set()
        self.rates(self.bodies, self.joints, self.pairs, self.witness, self.count, self.zeta)
        gap, zeta = self.witness.gap[: self.count], self.zeta[: self.count]
        # a pair that has just let go starts at φ = ζ = 0 but for rounding: it must get worse than that
        self.offset = np.where(gap < TOUCH, np.maximum(-gap, 0.0) + np.where(zeta <= RESTS, GRAZE, 0.0), 0.0)
        self.offset[gap < -TOUCH] = 0.5 * TOUCH  # beyond the rim of a wall; it may graze it on its way back
        return np.linspace(0.0, 1.0, int(intervals) + 1)

    def find_pairs(
        self, bodies: Bodies, joints: JointState, reach: Array, depth: float = TOUCH, near: float = np.inf
    ) -> None:
        """Pairs of elements that are apart or overlap by `depth` at most and are within reach (n,) of each other; and
        the limits that are within `near`."""
        while True:
            count = int(find_near(self.surface, bodies, reach, depth, EDGE, self.place, self.pairs, self.witness))
            self.count = int(near_limits(self.surface, joints.q, near, depth, count, self.pairs))
            if self.count <= len(self.pairs):
                find_limits(self.model, self.surface, bodies, joints.q, self.pairs, self.count, self.witness)
                return
            self.pairs = np.zeros(2 * self.count, np.int64)
            self.witness, self.zeta = empty_witness(2 * self.count), np.zeros(2 * self.count)

    def find(self, bodies: Bodies, joints: JointState, pairs: LongArray, count: int, out: Witness) -> None:
        """Fill `out` for the first `count` pairs, limits among them."""
        find_witnesses(self.surface, bodies, pairs, count, out)
        find_limits(self.model, self.surface, bodies, joints.q, pairs, count, out)

    def rates(
        self, bodies: Bodies, joints: JointState, pairs: LongArray, witness: Witness, count: int, zeta_out: Array
    ) -> None:
        """ζ of the first `count` pairs, found before [m/s]."""
        separation_rates(witness, bodies, count, zeta_out)
        limit_rates(self.surface, *joints, pairs, count, zeta_out)

    def _drop_set(self) -> None:
        held = self.chosen.pair[: self.chosen.count[0]]
        if len(held) and self.count:
            kept = self.pairs[: self.count][~np.isin(self.pairs[: self.count], held)]
            self.count = len(kept)
            self.pairs[: self.count] = kept
            self.find(self.bodies, self.joints, self.pairs, self.count, self.witness)

    def gaps(self, delta: float) -> tuple[Array, Array]:
        """Gaps [m] and their rates [m/s] of the watched pairs."""
        self._look(delta, self.count, False)
        return self._seen_gaps()

    def _seen_gaps(self) -> tuple[Array, Array]:
        return self.witness.gap[: self.count] + self.offset, self.zeta[: self.count].copy()

    def holds(self, delta: float) -> Array:
        """The numbers of the current set at a fraction of the step, as `numbers` names them."""
        self.forces(delta)
        return self._seen_holds()

    def _seen_holds(self) -> Array:
        if not self.modes:
            return np.zeros(0)
        lam, chosen, count = self.scratch.lam, self.chosen, len(self.modes)
        witness, eq = self.scratch.witness, self.scratch.equations
        gap = witness.gap[self.implied]
        off = np.where(chosen.mode[self.implied] == IDLE, -gap, np.abs(gap))
        i, k = self.sliding, self.sticking
        u = eq.u[: 3 * count].reshape(-1, 3)[i]
        slip = ((chosen.direction[i] * eq.tangent_1[i]).sum(1) * u[:, 1]
                + (chosen.direction[i] * eq.tangent_2[i]).sum(1) * u[:, 2])
        force = lam[: 3 * count].reshape(-1, 3)
        cone = chosen.friction[k] * force[k, 0] - np.hypot(force[k, 1], force[k, 2])
        return np.concatenate((
            witness.margin[:count] + EDGE, self.sink - off, slip + SLOW, force[self.pushing, 0] + self.least,
            cone + self.least, self.takes - self.scratch.share[self.waiting]))

    # ------------------------------------------------------------------------------------------ the search
    def earliest(self, blind: bool) -> Trigger | None:
        """The first event of the step, or None. blind: only gaps count."""
        nodes = self.watch()
        if not self.count and not self.modes:
            return None
        sets = bool(self.modes) and not blind
        self._look(0.0, self.count, sets)
        before, rate_before = self._seen_gaps()
        wrong = np.flatnonzero(self._seen_holds() < 0.0) if sets else np.zeros(0, np.intp)
        if len(wrong):
            return Trigger(0.0, *self.numbers[wrong[0]])
        for lo, hi in zip(nodes[:-1].tolist(), nodes[1:].tolist(), strict=True):
            self._look(hi, self.count, sets)
            after, rate_after = self._seen_gaps()
            values = self._seen_holds() if sets else np.zeros(0)
            found = self._gap_event(lo, hi, before, after, rate_before, rate_after)
            if sets:
                values = values if found is None else self.holds(found.delta)
                found = self._end_of_set(lo, hi, values, found)
            if found is not None:
                return found
            before, rate_before = after, rate_after
        return None

    def _end_of_set(self, lo: float, hi: float, values: Array, found: Trigger | None) -> Trigger | None:
        """The first number of the set that falls below zero between, or the event found where that is earlier; values
        are those at hi or at the event."""
        done = np.zeros(len(values), bool)
        while (values < 0.0).any():
            i = int(np.argmin(values))
            done[i] = True
            delta = self._root(lambda d, i=i: self.holds(d)[i], lo, hi if found is None else found.delta)
            found = Trigger(delta, *self.numbers[i])
            values = np.where(done, 0.0, self.holds(delta))
        return found

    def _gap_event(self, lo: float, hi: float, f: Array, g: Array, df: Array, dg: Array) -> Trigger | None:
        """Gaps f at lo and g at hi with rates df, dg: the first that falls below zero between, where its elements face.
        With every one found the others have less time left, and most are out."""
        found, rejected = None, np.zeros(len(f), bool)
        while True:
            falls = (g < 0.0) & ((f > 0.0) | (df > 0.0) | (f == 0.0))
            dips = (g >= 0.0) & (df < 0.0) & (dg > 0.0) & (f <= -df * (hi - lo) * self.h)
            rows = np.flatnonzero((falls | dips) & ~rejected)
            if not len(rows):
                return found
            i = int(rows[np.argmin(g[rows])])
            rejected[i] = True
            start, end = lo, hi
            if falls[i] and df[i] > 0.0 and dg[i] < 0.0:    # up and down again: begin at the top
                start = self._root(lambda d, i=i: self.gaps(d)[1][i], lo, hi)
            elif dips[i]:                                   # down and up again: end at the bottom
                end = self._root(lambda d, i=i: self.gaps(d)[1][i], lo, hi)
                if self.gaps(end)[0][i] >= 0.0:
                    continue
            delta = self._root(lambda d, i=i: self.gaps(d)[0][i], start, end)
            at_root, rate = self.gaps(delta)
            if self.witness.margin[i] >= -EDGE and self.witness.facing[i] >= FACING:
                found, hi, g, dg = Trigger(delta, GAP, i), delta, at_root, rate

    def _root(self, number: Callable[[float], float], lo: float, hi: float) -> float:
        """Where a number changes its sign between lo and hi; lo where it does not."""
        from scipy.optimize import brentq  # slow to load, and other methods do without

        at_lo, at_hi = number(lo), number(hi)
        if (at_lo < 0.0) == (at_hi < 0.0) or at_lo == 0.0:
            return lo if (at_lo < 0.0) == (at_hi < 0.0) else max(lo, 0.0)
        return brentq(number, lo, hi, xtol=TIME / self.h, rtol=1e-15)  # pyright: ignore


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

