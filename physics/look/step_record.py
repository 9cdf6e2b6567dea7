"""Records of a step of the event-driven method, which is computed once more while a `StepWatch` records it.

A step is made of pieces. For each the integrator gives a dense output, a function of δ = 0 … 1. The search follows gaps
and forces along it. The piece is cut where the first of them becomes negative [RBDA eqs. 11.45–11.51].
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ..books.diagnostics import measure
from ..core.model import Array, Model
from ..core.state import Bodies, Contacts, JointState
from ..methods.event_driven.search import PieceSearch, Trigger
from ..problem.contact_snapshot import ContactSnapshot

SAMPLES = 41   # instants of a piece that are recorded
OF_TURNING = {"cone": "moment", "slip": "turning"}  #: what these kinds are called of moments against turning
NEAREST = 8    # separate pairs whose gaps are recorded, nearest first, besides one whose gap cut the piece


@dataclass(frozen=True, slots=True)
class Curve:
    """A pair of bodies along a piece."""

    bodies: tuple[int, int]
    gap: Array     #: (s,) φ [m]
    force: Array   #: (s,) λ [N], nan where the pair is not in the current set
    watched: str   #: "gap": apart; "force": in the current set


@dataclass(frozen=True, slots=True)
class PieceRecord:
    """One integrator step, or the part of it up to an event."""

    t: float                   #: at its beginning [s]
    h: float                   #: length before the cut [s]
    delta: Array               #: (s,) 0 … 1
    curves: tuple[Curve, ...]
    cut: float                 #: δ at which it was cut; 1 = not at all
    kind: str                  #: what became negative, one of KIND_NAMES of the search, or of OF_TURNING; "" = nothing
    culprit: int               #: row of `curves` of the pair to which it happened, -1 = none
    x: Array                   #: (n, 3) centres of mass at δ = 1, which a cut keeps them from [m]
    q: Array                   #: (n, 4) and orientations


@dataclass
class Struck:
    """An impact as the impact law receives it."""

    t: float              #: [s]
    contacts: ContactSnapshot
    kinetic: float        #: of the system before [J]
    velocities: Array     #: (n, 6) v [m/s] and ω [rad/s] before
    bodies: Bodies        #: their poses before, links included
    joints: JointState    #: of the links


@dataclass
class StepWatch:
    """Records what a step does. The event-driven method calls it where its attribute `watch` is set."""

    near: float = math.nan        #: [s] of its impacts the one nearest to this instant is kept; nan = none
    pieces: list[PieceRecord] = field(default_factory=list)
    struck: Struck | None = None  #: that impact

    def instant(self, t: float, contacts: Contacts) -> None:
        """Nothing is recorded."""

    def impact(self, model: Model, t: float, contacts: ContactSnapshot, bodies: Bodies, joints: JointState) -> None:
        if not abs(t - self.near) < (math.inf if self.struck is None else abs(self.struck.t - self.near)):
            return
        kinetic = measure(model, bodies, joints)[0].kinetic
        poses, links = Bodies(*(a.copy() for a in bodies)), JointState(*(a.copy() for a in joints))
        self.struck = Struck(t, contacts, kinetic, np.hstack([bodies.v, bodies.w]), poses, links)

    def piece(self, search: PieceSearch, trigger: Trigger | None) -> None:
        """Follow gaps and forces along the piece that the search has just looked at."""
        delta, contacts = np.linspace(0.0, 1.0, SAMPLES), search.in_set
        gaps_apart, gaps_in_set, forces = [], [], []
        for d in delta.tolist():
            gaps_apart.append(search.gaps(d)[0].copy() if search.count else np.zeros(0))
            lam = search.forces(d) if contacts else np.zeros(0)
            forces.append(lam[: 3 * contacts : 3].copy())
            gaps_in_set.append(search.set_witness.gap[:contacts].copy())
        apart, force, in_set = np.array(gaps_apart), np.array(forces), np.array(gaps_in_set)
        nearest = np.argsort(np.abs(apart).min(axis=0), kind="stable")[:NEAREST].tolist() if apart.size else []
        if trigger is not None and trigger.kind == "gap" and trigger.row not in nearest:
            nearest.append(trigger.row)
        w, nothing = search.witness, np.full(SAMPLES, np.nan)
        curves = [Curve((int(w.body_a[i]), int(w.body_b[i])), apart[:, i], nothing, "gap") for i in nearest]
        w = search.set_witness
        bearer = search.bearer.tolist()
        own = [k for k in range(contacts) if bearer[k] == k]
        curves += [Curve((int(w.body_a[k]), int(w.body_b[k])), in_set[:, k], force[:, k], "force") for k in own]
        end = search.at(1.0).bodies
        x, q = end.x.copy(), end.q.copy()
        cut, kind, culprit = 1.0, "", -1
        if trigger is not None:
            cut, kind = trigger.delta, trigger.kind
            if trigger.row >= 0 and kind == "gap":
                culprit = nearest.index(trigger.row)
            elif trigger.row >= 0 and kind != "motor":
                culprit = len(nearest) + own.index(bearer[trigger.row])
                kind = kind if bearer[trigger.row] == trigger.row else OF_TURNING[kind]
            if contacts:
                search.forces(trigger.delta)  # leave the scratch as the search left it
        self.pieces.append(PieceRecord(search.t, search.length, delta, tuple(curves), cut, kind, culprit, x, q))
