"""What an island whose events crowd does for the rest of a step, found at once.

Slip that friction turns as it ends, contacts at the verge between stick and slip, and blows without rebound can make
events without number in an instant. Slow slip that friction keeps turning needs short pieces for as long as it lasts.
Over what is left of the step, r, the contacts that touch then obey the laws of contact as one implicit step does, at
its end [Moreau 1999; Stewart & Trinkle 1996]:

    u⁺ = u + r d + M p,    0 <= u⁺_n ⊥ p_n >= 0,    Coulomb's law for the impulses p and the velocities u⁺

This has a solution whatever the friction. It says which contacts stick, which slide, and in which direction: against p.
The others open. What is closed at the end is closed at once, what sticks stops at once, and slip against its direction
does: by impulses along H⁻¹T that take energy and let nothing else approach. To the end of the step the set and the
directions of slip then stay as they are; only gaps are events there. Contacts with ζ = 0 do no work and friction goes
against the slip, so no energy is gained. Where a contact point runs round a rim, the slip may turn by more than a right
angle before the step ends; from then on friction in the direction that was held would drive it: what the island does in
the rest is found anew. A contact alone that creeps is held so for a small part of the step.
"""

from collections.abc import Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...core.islands import islands_of
from ...core.model import Array, BoolArray, IntArray
from ...core.state import LongArray
from ...dynamics.constraints.limits import TURNS
from ...problem.problem import ContactProblem
from ...solvers.dantzig import Dantzig
from ...solvers.least_forces import RANK
from .events import EventLog
from .impact import Impacts, among
from .instant import energy_at, equations, root_of_motion, slip_velocities
from .materials import PairMaterials
from .motors import Motors
from .patience import PROGRESS, WITHOUT_END, Limit, Patience
from .rates import find_forces
from .sets import OPEN, SLIDE, STICK, Resolution, resolve, unjammed
from .tolerances import RESTS
from .workspace import Workspace

ABOUT = 10.0  # times of pieces, at most, in which friction turns a slip that makes them short


class Holder:
    """Finds what crowded islands do to the end of the step."""

    pairs: frozenset[int]  #: that touch in crowded islands, see `still`

    def __init__(
        self, work: Workspace, materials: PairMaterials, motors: Motors, impacts: Impacts, log: EventLog,
        patience: Patience,
    ) -> None:
        self._work, self._materials, self._motors = work, materials, motors
        self._impacts, self._log, self._patience = impacts, log, patience
        self.pairs = frozenset()
        #: the problem solved last at this instant, and what was found: what had nothing to stop is asked for its forces
        self._known: tuple[tuple[LongArray | Array, ...], Resolution] | None = None

    def still(self, lost: Set[int]) -> None:
        """Name the pairs of crowded islands, but for those lost. Stop what does not move at the end of the step, or
        would turn round, until nothing moves so. Tell of the first pair of islands that were not held before or that
        this takes energy from, but for those held briefly."""
        energy, stops, self._known = energy_at(self._work.here) if self._patience.crowds else 0.0, 0, None
        for _ in range(WITHOUT_END):
            pairs = self._crowded(lost)
            self.pairs = frozenset(pairs.tolist())
            if not len(pairs) or not self._stop(pairs):
                break
            stops += 1
        crowded = self.pairs - self._patience.brief
        if self._patience.holds(crowded) or (crowded and stops):
            self._log.tell("crowd", min(crowded), energy=energy)

    def _stop(self, pairs: LongArray) -> bool:
        """Stop the rows that have to be; whether any moved and could be. Rows that contradict each other by little more
        than RESTS keep what no impulses end."""
        self._motors.start(self._work.here)
        found = self.resolve(pairs, equations(self._work.here, pairs))
        self._motors.rest()
        M, _, u = equations(self._work.here, pairs)
        rows = stopping(found, u)
        if np.abs(u[rows]).max(initial=0.0) <= RESTS:
            return False
        p = stopped(M, u, rows)
        if np.abs(M @ p).max() <= RESTS:
            return False
        self._impacts.push(pairs, p)
        return True

    def _crowded(self, lost: Set[int]) -> LongArray:
        """The pairs that touch in islands of which one has had many events, and those alone that are held briefly."""
        work, patience = self._work, self._patience
        if work.left <= PROGRESS or not patience.crowds:
            return np.zeros(0, np.int64)
        pairs = self._materials.with_turning(work.touching(lost)[0])
        island = islands_of(work.nodes(pairs))
        crowded = np.array([patience.is_crowded(pair) for pair in pairs.tolist()], bool)
        chosen = np.where(alone(island, pairs), among(pairs, patience.brief), crowded)
        return pairs[np.isin(island, island[chosen])]

    def turning(self) -> tuple[frozenset[int], frozenset[int]]:
        """The pairs of the set whose slip friction turns or ends in about the time of the piece made last, a stiff
        equation: |u_t|/(μ λ M_tt), with M_tt the mean of the slip that a unit impulse makes. First those that are not
        alone, then those alone that creep: a contact that goes over to slip, when little more than friction pulls."""
        work, chosen, count = self._work, self._work.chosen, self._work.in_set
        slides = (chosen.mode[:count] == SLIDE) & (chosen.fixed[:count] == 0)
        if not slides.any():
            return frozenset(), frozenset()
        pairs = work.set_pairs.copy()
        find_forces(work.here, chosen)
        force = work.here.scratch.lam[: 3 * count : 3][chosen.bearer[:count]]
        M, _, u = equations(work.here, pairs)
        own = M.diagonal().reshape(-1, 3)[:, 1:].mean(axis=1)
        change = chosen.friction[:count] * force * own * work.search.length
        speed, lone = np.hypot(u[1::3], u[2::3]), alone(chosen.island[:count], pairs)
        turns = slides & (speed < ABOUT * change)
        creeps = lone & (speed < work.rest_speed)
        return frozenset(pairs[turns & ~lone].tolist()), frozenset(pairs[turns & creeps].tolist())

    def driven(self) -> frozenset[int]:
        """The pairs that slide against the direction in which they are held, so that friction drives them; but for
        those that hardly move: to find anew what they do costs many pieces, and friction gives them next to nothing."""
        chosen, count = self._work.chosen, self._work.in_set
        held = (chosen.mode[:count] == SLIDE) & (chosen.fixed[:count] == 1)
        if not held.any():
            return frozenset()
        pairs = self._work.set_pairs.copy()
        equations(self._work.here, pairs)
        slip = slip_velocities(self._work.here.scratch, count)
        back = (slip * chosen.direction[:count]).sum(axis=1) < -self._work.rest_speed
        return frozenset(pairs[held & back].tolist())

    def resolve(self, pairs: LongArray, problem: tuple[Array, Array, Array]) -> Resolution:
        """Mean forces, accelerations and modes of pairs to the end of the step, or to that of their brief hold, from M,
        d and u as `equations` gives them and leaves them in the scratch."""
        work, patience, friction = self._work, self._patience, self._materials.friction(pairs)
        M, d, u = problem
        island = islands_of(work.nodes(pairs))
        brief = np.isin(island, island[among(pairs, patience.brief)]) & alone(island, pairs)
        left = np.repeat(np.where(brief, min(work.end, patience.brief_end), work.end) - work.t, 3)
        if self._known is None or not all(map(np.array_equal, (pairs, M, d, u, left), self._known[0])):
            work.count_solve()
            root = root_of_motion(work.here, len(pairs))
            self._known = (pairs, M, d, u, left), resolve(M, u + left * d, np.zeros(len(u)), friction, {}, root)
        found = self._known[1]
        if found.status == "inconsistent":
            self._patience.give_up(Limit.JAM)
            return unjammed(M, d, u, friction.slip, work.rest_speed)
        return replace(found, force=found.force / left, rate=(found.rate - u) / left)


def alone(island: IntArray, pairs: LongArray) -> BoolArray:
    """Which of pairs (c,) in islands (c,) belong to the only contact there. Such a one bounces to rest, or its point
    runs round a disk that falls on its side, faster than the rest of a step can tell at once."""
    return np.bincount(island[pairs < TURNS], minlength=1)[island] == 1


def stopped(M: Array, u: Array, rows: NDArray[np.intp]) -> Array:
    """Impulses p (3 c,) that end these rows of the velocities u (3 c,) and let no other contact approach: there
    0 <= u⁺_n ⊥ p_n >= 0, a linear complementarity problem without the rows that end. They take the energy pᵀM p/2, as
    p·u⁺ = 0."""
    others = np.setdiff1d(np.arange(0, len(u), 3), rows)
    coupling, pushed = M[np.ix_(others, rows)], np.zeros(len(others))
    ends = np.linalg.lstsq(M[np.ix_(rows, rows)], np.column_stack([u[rows], coupling.T]), rcond=RANK)[0]
    left = ContactProblem.frictionless(M[np.ix_(others, others)] - coupling @ ends[:, 1:],
                                       np.maximum(u[others], 0.0) - coupling @ ends[:, 0])
    Dantzig()(left, pushed)
    p = np.zeros(len(u))
    p[others], p[rows] = pushed, -ends[:, 0] - ends[:, 1:] @ pushed
    return p


def stopping(found: Resolution, u: Array) -> NDArray[np.intp]:
    """The rows of the velocities u (3 c,) that end at once: of contacts that are not open the normal one, of those that
    stick, and of those that slide against their direction, the tangents too."""
    mode, slip = np.array(found.mode), u.reshape(-1, 3)[:, 1:]
    back = (mode == SLIDE) & ((slip * found.slip).sum(axis=1) < 0.0)
    ends = np.repeat([mode != OPEN, (mode == STICK) | back], [1, 2], axis=0).T
    return np.flatnonzero(ends.ravel())
