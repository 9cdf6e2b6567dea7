"""Anatomy of a step of the event-driven method: the step is made once more by a method that is watched.

A step is made of pieces. Of each the integrator gives a dense output, a curve over δ = 0 … 1; the search follows gaps
and forces along it, and the first that becomes negative cuts the piece there [RBDA eqs. 11.45–11.51].
"""

from dataclasses import dataclass, field

import numpy as np

from ..books.diagnostics import measure
from ..core.model import Array, Model
from ..core.state import Bodies, JointState
from ..methods.event_driven.search import Course, Trigger
from ..problem.contact_snapshot import ContactSnapshot

SAMPLES = 41   # of a piece
NEAREST = 8    # pairs apart whose gaps are kept


@dataclass(frozen=True, slots=True)
class Curve:
    """A pair of bodies along a piece."""

    bodies: tuple[int, int]
    gap: Array     #: (s,) φ [m]
    force: Array   #: (s,) λ [N], nan where the pair is not in the current set
    watched: str   #: "gap": apart; "force": in the current set


@dataclass(frozen=True, slots=True)
class Piece:
    """One integrator step, or the part of it up to an event."""

    t: float                   #: at its beginning [s]
    h: float                   #: length before the cut [s]
    delta: Array               #: (s,) 0 … 1
    curves: tuple[Curve, ...]
    cut: float                 #: δ at which it was cut; 1 = not at all
    kind: str                  #: what became negative: gap, force, cone, slip, margin, sink; "" = nothing
    culprit: int               #: row of curves it happened to, -1 = none


@dataclass
class Struck:
    """An impact as it came to the law."""

    t: float
    contacts: ContactSnapshot
    kinetic: float        #: of the system before [J]
    velocities: Array     #: (n, 6) v and ω before
    bodies: Bodies        #: where they were, links included
    joints: JointState    #: of the links


@dataclass
class Watch:
    """Notes what a step does; the method calls it where it has one."""

    pieces: list[Piece] = field(default_factory=list)
    impacts: list[Struck] = field(default_factory=list)

    def impact(self, model: Model, t: float, contacts: ContactSnapshot, bodies: Bodies, joints: JointState) -> None:
        kinetic = measure(model, bodies, joints)[0].kinetic
        poses, links = Bodies(*(a.copy() for a in bodies)), JointState(*(a.copy() for a in joints))
        self.impacts.append(Struck(t, contacts, kinetic, np.hstack([bodies.v, bodies.w]), poses, links))

    def piece(self, course: Course, trigger: Trigger | None) -> None:
        """Follow gaps and forces along the piece that the search has just looked at."""
        delta = np.linspace(0.0, 1.0, SAMPLES)
        gaps, held_gaps, forces = [], [], []
        for d in delta.tolist():
            gaps.append(course.gaps(d)[0].copy() if course.count else np.zeros(0))
            lam = course.forces(d) if course.modes else np.zeros(0)
            forces.append(lam[: 3 * len(course.modes) : 3].copy())
            held_gaps.append(course.scratch.witness.gap[: len(course.modes)].copy())
        apart, force, held = np.array(gaps), np.array(forces), np.array(held_gaps)
        chosen = np.argsort(np.abs(apart).min(axis=0), kind="stable")[:NEAREST].tolist() if apart.size else []
        if trigger is not None and trigger.kind == "gap" and trigger.row not in chosen:
            chosen.append(trigger.row)
        w, nothing = course.witness, np.full(SAMPLES, np.nan)
        curves = [Curve((int(w.body_a[i]), int(w.body_b[i])), apart[:, i], nothing, "gap") for i in chosen]
        w = course.scratch.witness
        curves += [Curve((int(w.body_a[k]), int(w.body_b[k])), held[:, k], force[:, k], "force")
                   for k in range(len(course.modes))]
        cut, kind, culprit = 1.0, "", -1
        if trigger is not None:
            cut, kind = trigger.delta, trigger.kind
            if trigger.row >= 0:
                culprit = chosen.index(trigger.row) if kind == "gap" else len(chosen) + trigger.row
            if course.modes:
                course.forces(trigger.delta)  # leave the scratch as the search left it
        self.pieces.append(Piece(course.t, course.h, delta, tuple(curves), cut, kind, culprit))
