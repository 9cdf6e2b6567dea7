"""What happens at an instant of the event-driven method: impacts until nothing collides, then new contact sets."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...core.interruption import look_up
from ...core.islands import islands_of
from ...core.jit import kernel
from ...core.model import Array, BoolArray
from ...core.state import LongArray
from ...solvers.least_forces import basis
from .active_set import fill_set
from .events import EventLog
from .hold import Holder
from .impact import Impacts, among
from .instant import equations, goes_straight, root_of_motion, slip_velocities
from .materials import PairMaterials
from .motors import Motors
from .patience import WITHOUT_END, Limit, Patience
from .rates import find_forces
from .sets import (
    IDLE,
    NOTHING,
    OPEN,
    SLIDE,
    Resolution,
    clear_set,
    islands,
    overlapping,
    resolve,
    unjammed,
)
from .tolerances import EDGE, SLIPS
from .workspace import Workspace

CLOSES = 1e-7    # approaching acceleration of a contact that needs a force after all, relative to that without forces
BRIEF = 1.0 / 64.0  # of a step, for which a contact alone is held whose slip friction turns fast
AHEAD = 0.1      # part of a piece by which one looks beyond an instant, where its polynomial is still good
STILL = 1e-12    # added to CLOSES times these: an acceleration that is rounding where they vanish [m/s2]

Problem = tuple[Array, Array, Array]  # M (3 c, 3 c), d (3 c,) and u (3 c,) as `equations` gives them


@dataclass(frozen=True)
class Change:
    """What has happened to the current set."""

    released: frozenset[int] = frozenset()  #: contacts whose force has just become negative
    lost: frozenset[int] = frozenset()      #: contacts that have left their elements
    begins: Mapping[int, Array] = field(default_factory=dict)  #: contacts at the verge of slip, with its direction (3,)
    stopped: int = -1                       #: one whose slip has ended, -1 = none
    motor: int = -1                         #: row of a motor that has come to its speed or its limit, -1 = none
    #: the pairs that something happened to: islands without any of them, without a new pair and without an impact stay
    #: as they are; None: no island does
    about: Collection[int] | None = None


def slides(u: Array, friction: Array) -> BoolArray:
    """Which contacts with velocities u (3 c,) [m/s] and coefficients (c,) have friction that slip directs."""
    return (friction > 0.0) & (np.hypot(u[1::3], u[2::3]) > SLIPS)


class Settler:
    """Brings the impacts of an instant to an end and makes the sets that hold after it."""

    def __init__(
        self, work: Workspace, materials: PairMaterials, motors: Motors, impacts: Impacts, log: EventLog,
        patience: Patience,
    ) -> None:
        self._work, self._materials, self._motors = work, materials, motors
        self._impacts, self._log, self._patience = impacts, log, patience
        self._holder = Holder(work, materials, motors, impacts, log, patience)

    def settle(self, change: Change, quiet: bool = False) -> None:
        """Impacts, then new sets; tell what changed, but where `quiet`."""
        work, motors = self._work, self._motors
        before, lost, now = self._log.modes(), change.lost, change
        hit: set[int] = set()
        exerted = float(work.here.scratch.equations.reactions.lam[change.motor]) if change.motor >= 0 else 0.0
        modes = motors.mode.copy()
        self._impacts.begin_instant()
        for _ in range(WITHOUT_END):
            self._impacts.end(lost, hit)
            self._holder.still(lost)
            pairs = self._materials.with_turning(work.at_rest(lost))
            motors.start(work.here, now.motor, exerted)
            if not len(pairs):
                clear_set(work.chosen)
                self._obeyed(pairs, lambda _: NOTHING)
                break
            if self._take(pairs, now):
                break
            now = Change()  # an impact may change every contact
        else:
            self._patience.give_up(Limit.UNSETTLED)
        if not quiet:
            self._log.tell_changes(before, hit, lost, change.stopped)
            self._log.add(motors.changes(modes, work.here))

    def ease(self) -> None:
        """Hold islands whose slip friction turns so fast that it makes pieces short: to the end of the step where they
        were many, and contacts alone for a part BRIEF of it."""
        turning, alone = self._holder.turning()
        if alone:
            self._patience.hold_briefly(alone, self._work.t + BRIEF * self._work.h)
        if self._patience.is_long:
            self._patience.crowd(turning)
            alone |= turning
        if alone:
            self.settle(Change(about=alone))

    def turn_back(self) -> bool:
        """Where friction drives contacts that are held, find anew what their islands do; whether there were any."""
        driven = self._holder.driven()
        if driven:
            self.settle(Change(about=driven))
        return bool(driven)

    def end_brief(self) -> None:
        """Have contacts alone that were held go on by their accelerations."""
        held = self._patience.brief
        self._patience.end_brief()
        self.settle(Change(about=frozenset(held)))

    def unjam(self) -> bool:
        """Where contacts slide with friction, end that for the rest of the step; whether there were any."""
        work, chosen, count = self._work, self._work.chosen, self._work.in_set
        if not ((chosen.mode[:count] == SLIDE) & chosen.direction[:count].any(axis=1)).any():
            return False
        pairs = work.set_pairs.copy()
        M, d, u = equations(work.here, pairs)
        self._write_set(pairs, M, unjammed(M, d, u, self._materials.friction(pairs).slip, work.rest_speed))
        self._patience.give_up(Limit.JAM)
        return True

    # ------------------------------------------------------------------------------------------ the new sets
    def _take(self, pairs: LongArray, change: Change) -> bool:
        """Make the new sets from contacts that rest; False where it came to an impact instead."""
        held = among(pairs, self._holder.pairs)
        calm = self._calm(pairs, change.about) & ~held
        kept = self._forces_kept(pairs[calm]) if calm.any() else None
        busy = pairs[~calm & ~held]
        (M, d, u), found = self._obeyed(
            busy, lambda problem: self._resolve(busy, problem, change.released, change.begins))
        if found.status == "inconsistent":
            if self._impacts.without_collision(busy, u) or self._gives_way(busy, M, u):
                return False
            found = self._held(M, d, u, self._materials.friction(busy).slip)
        parts = [found] if kept is None else [found, kept]
        if held.any():
            parts.append(self._obeyed(pairs[held], lambda problem: self._holder.resolve(pairs[held], problem))[1])
        if len(parts) > 1:
            pairs = np.concatenate([busy, pairs[calm], pairs[held]])
            M, d, _ = equations(self._work.here, pairs)
            force = np.concatenate([part.force for part in parts])
            found = Resolution(found.status, force, M @ force + d, [m for part in parts for m in part.mode],
                               np.concatenate([part.slip for part in parts]), found.next_up)
        self._write_set(pairs, M, found)
        return True

    def _gives_way(self, pairs: LongArray, M: Array, u: Array) -> bool:
        """Have the islands where friction slides find the rest of the step at once, see `hold`, as no accelerations
        obey the laws there: velocities at its end that do there always are. Whether that is new for any."""
        friction = self._materials.friction(pairs)
        sliding = slides(u, friction.slip)
        fresh = [pair for members in islands(M, friction.bearer) if sliding[members].any()
                 for pair in pairs[members].tolist() if not self._patience.is_crowded(pair)]
        self._patience.crowd(fresh)
        return bool(fresh)

    def _held(self, M: Array, d: Array, u: Array, friction: Array) -> Resolution:
        """Forces where no accelerations obey the laws, and no impact helps: of contacts with friction (c,) that slide,
        without it; else of some contacts, and the others come to overlap."""
        if slides(u, friction).any():
            self._patience.give_up(Limit.JAM)
            return unjammed(M, d, u, friction, self._work.rest_speed)
        self._work.let_in()
        return overlapping(M, d, friction)

    def _write_set(self, pairs: LongArray, M: Array, found: Resolution) -> None:
        """Write what was found of pairs (c,) as the current set; their equations must be in the scratch."""
        work, friction = self._work, self._materials.friction(pairs)
        fill_set(work.chosen, pairs, found, M, friction, work.here.scratch, work.nodes(pairs), self._holder.pairs)
        work.set_since = work.t
        self._log.reasons.found(pairs, friction, found)

    def _obeyed(self, pairs: LongArray, resolved: Callable[[Problem], Resolution]) -> tuple[Problem, Resolution]:
        """Equations and forces of contacts that rest, together with what motors with a limit do."""
        motors, turns = self._motors, len(self._motors.rows)
        for turn in range(WITHOUT_END + turns):
            look_up()
            problem = equations(self._work.here, pairs)
            found = resolved(problem) if len(pairs) else NOTHING
            if motors.obeys(self._work.here.scratch.equations, found.force, turn > turns):
                break
        return problem, found

    def _resolve(
        self, pairs: LongArray, problem: Problem, released: frozenset[int], begins: Mapping[int, Array]
    ) -> Resolution:
        """Forces of contacts that rest, those released left out where they let go indeed."""
        self._work.count_solve()
        M, d, u = problem
        eq, c, friction = self._work.here.scratch.equations, len(pairs), self._materials.friction(pairs)
        root = root_of_motion(self._work.here, c)
        keep = ~among(pairs, released)
        keep &= keep[friction.bearer]
        verge = {k: np.array([eq.tangent_1[k] @ begins[p], eq.tangent_2[k] @ begins[p]])
                 for k, p in enumerate(pairs.tolist()) if p in begins}
        known = self._directions_kept(pairs) | verge
        inner, rows = np.cumsum(keep) - 1, np.repeat(keep, 3)
        force, mode, slip, status = np.zeros(3 * c), [OPEN] * c, np.zeros((c, 2)), "solved"
        if keep.any():
            verges = {int(inner[k]): e for k, e in known.items() if keep[k]}
            part = resolve(M[np.ix_(rows, rows)], d[rows], u[rows], friction.of(keep), verges,
                           None if root is None else root[rows])
            force[rows], slip[keep], status = part.force, part.slip, part.status
            for k, m in zip(np.flatnonzero(keep).tolist(), part.mode, strict=True):
                mode[k] = m
        rate = M @ force + d
        small = CLOSES * float(np.abs(d).max(initial=0.0)) + STILL
        needed = {int(pairs[k]) for k in np.flatnonzero(~keep) if rate[3 * k] < -small}
        stays = any(rate[3 * k + 1 : 3 * k + 3] @ e < -small for k, e in verge.items())
        if needed or stays:
            return self._resolve(pairs, problem, released - needed, {} if stays else begins)
        closed, next_up = [3 * k for k in range(c) if mode[k] not in (OPEN, IDLE)], frozenset[int]()
        idle, doubtful = [3 * k for k in range(c) if mode[k] == IDLE], list[int]()
        left = ~keep & (friction.bearer == np.arange(c))
        for k in np.flatnonzero(left).tolist():  # no force, but the others keep it at φ = ζ = 0: still current
            if rate[3 * k] <= small and 3 * k not in basis(M, closed, [3 * k]):
                mode[k] = IDLE
            elif rate[3 * k] <= small and idle and 3 * k not in basis(M, closed, idle, [3 * k]):
                doubtful.append(k)
        if doubtful:
            stays, carries = self._ahead(pairs, keep)
            for k in np.flatnonzero(stays[doubtful]).tolist():
                mode[doubtful[k]] = IDLE
            next_up = frozenset(k for k in np.flatnonzero(carries).tolist() if mode[k] == IDLE)
        for k in np.flatnonzero(~keep & ~left).tolist():
            mode[k] = mode[friction.bearer[k]]
        return Resolution(status, force, rate, mode, slip, next_up)

    def _ahead(self, pairs: LongArray, keep: BoolArray) -> tuple[BoolArray, BoolArray]:
        """What contacts (c,) that rest would do a little later, had the set stayed as it is and those let go whose
        forces have just vanished: which of all stay, and which carry. At the instant itself that is not to be seen.
        None do where no piece leads there, nor beyond their elements. The equations in the scratch are again those of
        the instant."""
        work, search = self._work, self._work.search
        stays, carries = np.zeros((2, len(pairs)), bool)
        if not search.leads_on:
            return stays, carries
        M, d, u = equations(search.at((work.t - search.t) / search.length + AHEAD), pairs)
        friction = self._materials.friction(pairs)
        inside = (work.here.scratch.witness.margin[: len(pairs)] >= -EDGE)[friction.bearer]
        keep = keep & inside
        rows, friction = np.repeat(keep, 3), friction.of(keep)
        found = resolve(M[np.ix_(rows, rows)], d[rows], u[rows], friction, {}) if keep.any() else NOTHING
        equations(work.here, pairs)
        if found.status == "solved":
            force = np.zeros(len(d))
            force[rows] = found.force
            stays = inside & ((M @ force + d)[::3] <= CLOSES * np.abs(d).max() + STILL)
            carries[keep] = [mode not in (OPEN, IDLE) for mode in found.mode]
        return stays, carries

    def _directions_kept(self, pairs: LongArray) -> dict[int, Array]:
        """Of the contacts of the set whose slip goes straight on, its direction (2,) in the tangents, by row of `pairs`
        (c,), whose equations are in the scratch."""
        chosen, scratch, kept = self._work.chosen, self._work.here.scratch, {}
        row = {p: k for k, p in enumerate(pairs.tolist())}
        slip, eq = slip_velocities(scratch, len(pairs)), scratch.equations
        for i in np.flatnonzero(chosen.mode[: chosen.count[0]] == SLIDE).tolist():
            k, direction = row.get(int(chosen.pair[i]), -1), chosen.direction[i]
            if k >= 0 and np.linalg.norm(slip[k]) > SLIPS and goes_straight(slip[k], direction):
                kept[k] = np.array([eq.tangent_1[k] @ direction, eq.tangent_2[k] @ direction])
        return kept

    # ------------------------------------------------------------------------------------------ what stays as it is
    def _calm(self, pairs: LongArray, about: Collection[int] | None) -> BoolArray:
        """Which of the pairs (c,) are in islands that nothing happened to."""
        work, chosen, count = self._work, self._work.chosen, self._work.in_set
        if about is None or count == 0 or chosen.islands[0] < 2 or self._motors.any:
            return np.zeros(len(pairs), bool)
        struck, nodes, calm = self._impacts.struck, work.nodes(pairs), among(pairs, set(about))
        if struck:
            calm |= [not struck.isdisjoint(ends) for ends in nodes.tolist()]
        calm_islands(chosen, pairs, islands_of(nodes), calm)
        return calm

    def _forces_kept(self, pairs: LongArray) -> Resolution:
        """Forces and modes of pairs that stay in the set as they are."""
        work, chosen, count = self._work, self._work.chosen, self._work.in_set
        find_forces(work.here, chosen)
        row = {p: k for k, p in enumerate(chosen.pair[:count].tolist())}
        rows, eq = np.array([row[p] for p in pairs.tolist()]), work.here.scratch.equations
        direction = chosen.direction[rows]
        slip = np.column_stack([(direction * t[rows]).sum(1) for t in (eq.tangent_1, eq.tangent_2)])
        force = work.here.scratch.lam[: 3 * count].reshape(-1, 3)[rows].ravel()
        return Resolution("solved", force, np.zeros_like(force), chosen.mode[rows].tolist(), slip)


@kernel
def calm_islands(chosen, pairs, island, calm):
    """calm (c,): on entry to which of the pairs (c,), in islands (c,), something happened; then which are in islands of
    the same pairs as one of the set, to none of which anything did."""
    count = chosen.count[0]
    order, size = np.argsort(chosen.pair[:count]), np.zeros(count, np.int64)
    in_order, was = chosen.pair[:count][order], np.full(len(pairs), -1)  # the island in the set, of each new one
    stays, members = np.ones(len(pairs), np.bool_), np.zeros(len(pairs), np.int64)
    for k in range(count):
        size[chosen.island[k]] += 1
    for k in range(len(pairs)):
        i, at = island[k], np.searchsorted(in_order, pairs[k])
        if calm[k] or at == count or in_order[at] != pairs[k]:
            stays[i] = False
            continue
        before = chosen.island[order[at]]
        stays[i] = stays[i] and (members[i] == 0 or was[i] == before)
        was[i] = before
        members[i] += 1
    for k in range(len(pairs)):
        i = island[k]
        calm[k] = stays[i] and members[i] == size[was[i]]
