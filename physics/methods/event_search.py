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
from contactlab.physics.methods.event_driven_rates import Scratch, constrained_rates
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
        self.place = np.zeros((len(surface.kind), 3))
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
        self.kept = {int(r) // 3 for r in chosen.row[: chosen.rows[0]] if r % 3 == 0}
        self.modes = chosen.mode[: chosen.count[0]].tolist()

    def at(self, delta: float) -> Bodies:
        """Bodies at a fraction of the step; valid until the next call, as are the links' coordinates in `joints`."""
        dense_output(self.model, self.tableau, self.t, self.h, self.y0, self.k, float(delta), self.trees.work,
                     self.bodies, *self.joints)
        return self.bodies

    def forces(self, delta: float) -> Array:
        """Contact forces (3 c,) at a fraction of the step; the scratch then holds the equations there."""
        bodies = self.at(delta)
        take_coordinates(self.scratch, self.joints)
        constrained_rates(self.model, self.surface, self.chosen, self.loads, self.t + delta * self.h, self.whole,
                          bodies, self.scratch, self.scratch.rate)
        return self.scratch.lam

    # ------------------------------------------------------------------------------------------ what is watched
    def nodes(self) -> Array:
        """Fractions of the step between which no body turns by more than TURN."""
        start, end = self.at(0.0).w.copy(), self.at(1.0).w
        fastest = float(np.sqrt(np.maximum((start**2).sum(1), (end**2).sum(1)).max(initial=0.0)))
        return np.linspace(0.0, 1.0, min(MANY, NODES + int(fastest * self.h / TURN)) + 1)

    def watch(self, nodes: Array) -> None:
        """Choose the pairs to watch: those apart at the start that the bodies' motion can bring together."""
        start = self.at(0.0)
        x0, speed = start.x.copy(), np.linalg.norm(start.v, axis=1)
        far = np.zeros(len(x0))
        spin = np.linalg.norm(start.w, axis=1)
        for delta in nodes[1:]:
            bodies = self.at(delta)
            np.maximum(far, np.linalg.norm(bodies.x - x0, axis=1), out=far)
            np.maximum(spin, np.linalg.norm(bodies.w, axis=1), out=spin)
        turn = np.minimum(spin * self.h, 2.0) * self.radius
        self.reach[:] = 1.1 * (far + turn) + 0.1 * self.h * speed + 2.0 * TOUCH
        self.find_pairs(self.at(0.0), self.joints, self.reach)
        self._drop_set()
        self.rates(self.bodies, self.joints, self.pairs, self.witness, self.count, self.zeta)
        gap, zeta = self.witness.gap[: self.count], self.zeta[: self.count]
        # a pair that has just let go starts at φ = ζ = 0 but for rounding: it must get worse than that
        self.offset = np.where(gap < TOUCH, np.maximum(-gap, 0.0) + np.where(zeta <= RESTS, GRAZE, 0.0), 0.0)
        self.offset[gap < -TOUCH] = 0.5 * TOUCH  # beyond the rim of a wall; it may graze it on its way back

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
        bodies = self.at(delta)
        self.find(bodies, self.joints, self.pairs, self.count, self.witness)
        self.rates(bodies, self.joints, self.pairs, self.witness, self.count, self.zeta)
        return self.witness.gap[: self.count] + self.offset, self.zeta[: self.count].copy()

    def holds(self, delta: float) -> list[tuple[str, int, float]]:
        """The numbers of the current set at a fraction of the step: (kind, row of the set, value)."""
        if not self.modes:
            return []
        lam, chosen = self.forces(delta), self.chosen
        witness, u = self.scratch.witness, self.scratch.equations.u
        found = [(MARGIN, k, float(witness.margin[k]) + EDGE) for k in range(len(self.modes))]
        for k, mode in enumerate(self.modes):
            if k not in self.kept:  # it follows from the others that it touches, as long as they say the same
                off = abs(float(witness.gap[k])) if mode != IDLE else -float(witness.gap[k])
                found.append((SINK, k, self.sink - off))
            if mode == SLIDE:
                eq, along = self.scratch.equations, chosen.direction[k]
                slip = along @ eq.tangent_1[k] * u[3 * k + 1] + along @ eq.tangent_2[k] * u[3 * k + 2]
                found.append((SLIP, k, float(slip) + SLOW))
            if mode == IDLE or chosen.open[k] == UNKNOWN:
                continue
            found.append((FORCE, k, float(lam[3 * k]) + self.least))
            if mode == STICK:
                cone = chosen.friction[k] * lam[3 * k] - float(np.hypot(lam[3 * k + 1], lam[3 * k + 2]))
                found.append((CONE, k, cone + self.least))
        used, waiting = chosen.columns.tolist()
        found += [(SHARE, int(chosen.column[j]) // 3, self.takes - float(self.scratch.share[j]))
                  for j in range(used, used + waiting)]
        return found

    # ------------------------------------------------------------------------------------------ the search
    def earliest(self, blind: bool) -> Trigger | None:
        """The first event of the step, or None. blind: only gaps count."""
        nodes = self.nodes()
        self.watch(nodes)
        if not self.count and not self.modes:
            return None
        before, rate_before = self.gaps(0.0) if self.count else (np.zeros(0), np.zeros(0))
        held = [] if blind else self.holds(0.0)
        found = [Trigger(0.0, kind, row) for kind, row, value in held if value < 0.0]
        if found:
            return found[0]
        for lo, hi in zip(nodes[:-1].tolist(), nodes[1:].tolist(), strict=True):
            after, rate_after = self.gaps(hi) if self.count else (before, rate_before)
            found = self._gap_events(lo, hi, before, after, rate_before, rate_after)
            held = [] if blind else self.holds(hi)
            for i, (kind, row, value) in enumerate(held):
                if value < 0.0:
                    found.append(Trigger(self._root(lambda d, i=i: self.holds(d)[i][2], lo, hi), kind, row))
            if found:
                return min(found, key=lambda trigger: trigger.delta)
            before, rate_before = after, rate_after
        return None

    def _gap_events(self, lo: float, hi: float, f: Array, g: Array, df: Array, dg: Array) -> list[Trigger]:
        """Gaps f at lo and g at hi with rates df, dg: those that fall below zero between, where their elements face."""
        falls = (g < 0.0) & ((f > 0.0) | (df > 0.0) | (f == 0.0))
        dips = (g >= 0.0) & (df < 0.0) & (dg > 0.0) & (f <= -df * (hi - lo) * self.h)
        found = []
        for i in np.flatnonzero(falls | dips).tolist():
            start, end = lo, hi
            if falls[i] and df[i] > 0.0 and dg[i] < 0.0:    # up and down again: begin at the top
                start = self._root(lambda d, i=i: self.gaps(d)[1][i], lo, hi)
            elif dips[i]:                                   # down and up again: end at the bottom
                end = self._root(lambda d, i=i: self.gaps(d)[1][i], lo, hi)
                if self.gaps(end)[0][i] >= 0.0:
                    continue
            delta = self._root(lambda d, i=i: self.gaps(d)[0][i], start, end)
            self.gaps(delta)
            if self.witness.margin[i] >= -EDGE and self.witness.facing[i] >= FACING:
                found.append(Trigger(delta, GAP, i))
        return found

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

