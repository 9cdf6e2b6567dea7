"""`event_driven`: exact rigid contact after RBDA chapter 11.

    settle   impacts at the instant, then the current and the active set: an LCP, or Coulomb's law for accelerations
    advance  one step of the integrator, active contacts as equality constraints in its right-hand side
    search   the step's dense output for the earliest event
    cut      the step there by interpolation; φ = 0 and ζ = 0 are restored along H⁻¹T
    and on with the rest of the step                                                              [RBDA table 11.1]

The sets live on from step to step in `State.memory`; equations are solved only where a force would become negative, at
impacts and where contacts come or go. `counts` says how often.

No step takes without end: what it gives up, and how it says so, is in `event_limits`. Steps of fixed length are
halved where constraint forces lead them astray, see `stray_steps`.

A ball that bounces to rest meets the floor infinitely often in finite time. Below an approach speed of REST g h an
impact therefore has no restitution. What is cut off at the approach speed v would have lasted 2 e v/(g (1 - e)). A body
that rocks to rest does so too: where impacts crowd, those slower than that stop all that touches.
"""

import math
from collections.abc import Collection
from typing import ClassVar

import numpy as np

from ...books.ledger import Books
from ...collision.exact.elements import NoExactGap, limit_joint, limits_among, shapes_of, surface_of
from ...core.islands import islands_of
from ...core.model import Array, BoolArray, Model, body_count, movable
from ...core.report import Event, JointImpulse, Settings, StepInfo
from ...core.state import (
    Bodies,
    Case,
    ContactMemory,
    Contacts,
    JointState,
    LongArray,
    Owner,
    State,
    Tally,
    copy_state,
    empty_contacts,
    empty_state,
)
from ...dynamics.constraints.impulses import add_to_bodies, joint_impulses, reaction_impulses
from ...dynamics.constraints.reactions import motor_states
from ...dynamics.forces import Loads
from ...dynamics.free_body import velocity_from_momentum
from ...dynamics.motion import drive
from ...dynamics.trees.rates import empty_joints
from ...impacts import impact_laws as impacts
from ...integrators import INTEGRATORS, Integrator
from ...integrators.stepper import SMALLEST_SUBSTEP, TOLERANCE
from ...problem.contact_snapshot import ContactSnapshot, equations_of
from ...problem.problem import ContactProblem
from ...problem.residual import natural_map
from ...solvers.coulomb import ENOUGH_HELD
from ...solvers.least_forces import RANK, ZERO, basis, least
from ..method import Untreatable
from .books import book_impact, book_piece, twist
from .bounds import DOUBTS, MANY_PIECES, MOST_PIECES, SAYS, STORM, WITHOUT_END, Limit
from .instant import SLOT, Instant, begin_piece
from .observer import Observer
from .piece import EDGE, FACING, RESTS, TOUCH
from .rates import constrained_rates, constrained_step
from .report import Report, recall, remember
from .search import CONE, FORCE, GAP, MARGIN, MOTOR, SLIP, Trigger, take_coordinates
from .sets import (
    IDLE,
    OPEN,
    SLIDE,
    SLIPS,
    SMOOTH,
    STICK,
    UNIQUE,
    UNKNOWN,
    Resolution,
    clear_set,
    connect,
    fill_set,
    overlapping,
    resolve,
    unjammed,
)
from .step_halving import astray, gains, least_substep, longer

REST = 1e-4         # approach speed below which there is no restitution, in units of g h
OVERLAP = 1e-3      # overlap of the first state that is taken for touching, relative to the smallest body
MOST_BODIES = 256   # a heap of them is one island, whose matrix is dense: hundreds of megabytes
INSTANT = 1e-9      # contacts whose forces vanish within this time let go together [s]
CHATTER = 8         # impacts of one step after which slow ones stop all that touches: rocking to rest is endless
OBEYED = 1e-6       # residual of forces that obey the contact laws, relative to the accelerations without them,
ROUNDING = 1e-9     # and that of rounding [m/s2]

NOTHING = Resolution("solved", np.zeros(0), np.zeros(0), [], np.zeros((0, 2)))  # of no contacts


class EventDriven(Instant):
    """METHODS["event_driven"]. Holds scratch memory only; all that matters later is in the State.

    `contacts` are those at the end of the step: lam and friction_force are the forces at that instant, impulse that of
    the whole step.
    """

    title: ClassVar[str] = "Event-driven (exact)"
    uses: ClassVar[frozenset[str]] = frozenset({"impact_law", "joint_cure"})

    def __init__(self, model: Model) -> None:
        """Untreatable where two shapes have no exact gap."""
        count = int(movable(model.kind).sum())
        if count > MOST_BODIES:
            raise Untreatable(f"event_driven takes at most {MOST_BODIES} moving bodies, for the equations of a heap of "
                              f"more need too much memory; this scene has {count}, time_stepping takes them", ())
        try:
            super().__init__(model, surface_of(model))
        except NoExactGap as refused:
            raise Untreatable(f"event_driven knows no exact gap of {{0}} and {{1}} ({refused.kinds}); "
                              "time_stepping takes them", refused.bodies) from refused
        self.contacts: Contacts = empty_contacts(0)
        self.info = StepInfo()
        self.events: list[Event] = []
        self.watch: Observer | None = None  #: is told the pieces and impacts of each step
        self._report = Report(model, self.surface)
        self._books = Books(model)
        self._held: dict[int, Array] = {}  # forces of pairs that obeyed Coulomb's law
        self._out, self._out_joints = empty_state(body_count(model)).bodies, empty_joints(model.trees)
        radius = self._course.radius[self._course.radius > 0]
        self._overlap = OVERLAP * float(radius.min()) if len(radius) else TOUCH

    # ---------------------------------------------------------------------------------------------- the step
    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]. Raises FloatingPointError where the motion is not finite."""
        integrator, h = INTEGRATORS[settings.integrator], settings.h
        self._law = settings.impact_law
        self._books.begin(state.bodies)
        self._begin(state, loads, settings)
        rest, substep, idle, blind, smooth, cuts = h, h, 0, False, 0, 0
        while rest > 1e-14 * h and cuts < MOST_PIECES:
            length, following = self._advance(integrator, min(substep, rest), least_substep(smooth, h), blind)
            trigger = self._search(blind)
            if self.watch is not None:
                self.watch.piece(self._course, trigger)
            done = length if trigger is None else trigger.delta * length
            self._cut(trigger)
            self._t, rest = self._t + done, rest - done
            self._tally[Tally.PIECES] += 1
            smooth, cuts = smooth + (trigger is None), cuts + (trigger is not None)
            if cuts >= MANY_PIECES:
                self._give_up(Limit.PIECES)
            idle = idle + 1 if trigger is not None and done < 1e-12 else 0
            if idle > 2 * WITHOUT_END:
                break  # not even gaps let it go on
            if done > INSTANT:
                self._let_go.clear()
            if trigger is not None:
                self._handle(trigger)
            if idle > WITHOUT_END:
                self._give_up(Limit.IDLE)
            blind = self._limit >= Limit.JAM  # the sets find no peace: keep them to the end of the step
            substep = min(rest if trigger is not None else following, rest)
            if rest - substep < SMALLEST_SUBSTEP * h:
                substep = rest
        if rest > 1e-14 * h:
            self._give_up(Limit.HALTED)
        self._end(state, h)
        self._books.end(state.bodies, state.ledger)

    def _give_up(self, limit: Limit) -> None:
        """The step says the gravest of what it ran into."""
        self._limit = max(self._limit, limit)

    def resting(self, state: State, loads: Loads, settings: Settings) -> ContactSnapshot:
        """The contacts that rest in this state, with their equations."""
        self._begin(copy_state(state), loads, settings)
        return self._frozen(self._at_rest())

    def _frozen(self, pairs: LongArray) -> ContactSnapshot:
        """Pairs with their equations at the present state."""
        pairs = np.ascontiguousarray(pairs)
        self._course.find(self._bodies, self._joints, pairs, len(pairs), self._scratch.witness)
        return equations_of(self.model, self._t, self._bodies, self._loads, self._scratch.witness, pairs,
                            *self._report.coefficients(pairs), self._report.of_balls(pairs), self._joints,
                            self.surface, self._motors.mode)

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The contact problem of the contacts that rest in this state, in accelerations and forces."""
        copy = copy_state(state)
        self._law = settings.impact_law
        self._begin(copy, loads, settings)
        pairs = self._at_rest()
        M, d, _ = self._equations(pairs)
        friction = self._report.coefficients(pairs)[1]
        if (friction > 0).any():
            return ContactProblem.frictional(M, d, friction)
        return ContactProblem.frictionless(M[::3, ::3], d[::3])

    def _begin(self, state: State, loads: Loads, settings: Settings) -> None:
        """Take up the state: its sets where the memory has them and they still hold, else new ones."""
        h = settings.h
        self._bodies, self._joints, self._loads, self._t, self._h, self._tally, self._ledger = (
            state.bodies, state.joints, loads, float(state.t[0]), h, state.tally, state.ledger)
        self.events, self._impulse, self._impacts, self._let_go = [], {}, 0, set()
        self._limit, self._struck, self._times_hit, self._doubts = Limit.NONE, set(), {}, 0
        self._rest_speed = max(REST * float(np.linalg.norm(self.model.gravity)) * h, 10.0 * RESTS)
        self._depth, self._sink = TOUCH, 0.5 * TOUCH
        drive(self.model, self._t, state.bodies)
        velocity_from_momentum(self.model, state.bodies)
        self._place_links()
        self._motors.start(self._bodies, self._joints)
        self._keep_joints(settings.joint_cure, h)
        memory, first = state.memory, int(state.memory.owner[0]) != Owner.EVENT_DRIVEN
        count = 0 if first else int(memory.count[0])
        if count > self._room:
            self._make_room(count + count // 4 + 16)
        if not first:
            self._held = recall(memory, self._report.coefficients(memory.key[:count])[1], self._chosen)
            connect(self._chosen, self._nodes(memory.key[:count]))
        if first:
            clear_set(self._chosen)
            self._held = {}
        if count == 0 or not self._still_holds():
            self._depth = self._overlap if first else self._depth
            self._settle(quiet=first)
            self._depth = 2.0 * SLOT if self._sink == SLOT else TOUCH
            self._project()

    def _still_holds(self) -> bool:
        """Whether the current set is what the state says: a slider or another hand may have changed things."""
        chosen, count = self._chosen, int(self._chosen.count[0])
        self._equations(chosen.pair[:count], matrix=False)
        witness, u = self._scratch.witness, self._scratch.equations.u
        if (witness.gap[:count] < -TOUCH).any():  # let in where nothing could keep them out
            self._sink, self._depth = SLOT, 2.0 * SLOT
        rough = chosen.friction[:count] > 0.0
        moded = np.isin(chosen.mode[:count], (SLIDE, STICK, IDLE)) if rough.any() else True
        return bool(
            (np.abs(witness.gap[:count]) < 100.0 * SLOT).all() and (np.abs(u[: 3 * count : 3]) < 100.0 * SLOT).all()
            and np.all(np.where(rough, moded, np.isin(chosen.mode[:count], (SMOOTH, IDLE))))
        )

    def _advance(self, integrator: Integrator, length: float, least: float, blind: bool) -> tuple[float, float]:
        """One accepted integrator step of at most `length`: its length and what the next one may be. Where error is
        controlled, one of `least` length is accepted whatever it is, as is any where `blind`. But there the end of
        slip goes unseen, and friction that goes on may drive what it held."""
        bodies, table, h, asked = self._bodies, integrator.tableau, self._h, length
        y0 = np.zeros((len(self.model.kind), 13))
        begin_piece(self.model, self.surface, self._t, h, self._loads, bodies, self._joints, self._chosen,
                    self._scratch, y0)
        k = np.zeros((len(table.c), len(y0), 13))
        while True:
            error = constrained_step(self.model, self.surface, self._chosen, self._loads, table, self._t, length, h, y0,
                                     self._scratch, k, self._out, *self._out_joints) / TOLERANCE
            finite = math.isfinite(error)
            if finite and ((error <= 1.0 or blind or length <= least) if integrator.adaptive else not astray(
                    self._keeper, int(self._chosen.count[0]), bodies, self._out, y0, k, length)):
                if blind and gains(self.model, (bodies, self._joints), (self._out, self._out_joints)) and self._unjam():
                    return self._advance(integrator, asked, least, blind)
                break
            if length <= least:
                if self._unjam():
                    return self._advance(integrator, asked, least, blind)
                if finite:
                    break
                raise FloatingPointError("the motion of a body is not finite")
            length = max(length * (longer(error, integrator) if finite else 0.5), least)
        self._course.begin(self._chosen, self._loads, table, self._t, length, h, y0, k, self._force_scale(),
                           self._sink)
        return length, max(length * longer(error, integrator), least) if integrator.adaptive else h

    def _search(self, blind: bool) -> Trigger | None:
        """The earliest event of the step just made. Where the smallest of redundant forces would not stick but others
        do, Coulomb's law is asked anew at the end, and if it does not hold there, at the instants between."""
        trigger = self._course.earliest(blind)
        asked = self._asked()
        if blind or self._doubts >= DOUBTS or not asked.any():
            return trigger
        hi = 1.0 if trigger is None else trigger.delta
        if self._sticks_at(hi, asked):
            return trigger
        lo = 0.0
        while hi - lo > 1e-10 / self._course.h and hi - lo > 1e-15:
            middle = 0.5 * (lo + hi)
            lo, hi = (middle, hi) if self._sticks_at(middle, asked) else (lo, middle)
        self._doubts += 1
        if self._doubts == DOUBTS:
            self._give_up(Limit.DOUBT)
        return Trigger(hi, CONE, -1)

    def _asked(self) -> BoolArray:
        """Contacts (c,) of islands with a force of which only Coulomb's law for all of them says whether it holds."""
        chosen, count = self._chosen, int(self._chosen.count[0])
        island = chosen.island[:count]
        return np.isin(island, island[chosen.open[:count] == UNKNOWN])

    def _sticks_at(self, delta: float, asked: BoolArray) -> bool:
        saved = self._bodies, self._joints, self._t
        t = self._t + delta * self._course.h
        self._bodies, self._t = copy_bodies(self._course.at(delta)), t
        self._joints = JointState(*(a.copy() for a in self._course.joints))
        chosen, count = self._chosen, int(self._chosen.count[0])
        pairs, friction = chosen.pair[:count][asked], chosen.friction[:count][asked]
        M, d, u = self._equations(pairs)
        self._bodies, self._joints, self._t = saved
        expected = chosen.mode[:count][asked]
        if (expected == STICK).all() and self._forces_held(pairs, M, d, friction) is not None:
            return True
        self._tally[Tally.SOLVES] += 1
        return all(b == a or (a != STICK and b != OPEN)
                   for a, b in zip(expected.tolist(), self._coulomb(pairs, M, d, u, friction).mode, strict=True))

    def _coulomb(self, pairs: LongArray, M: Array, d: Array, u: Array, friction: Array) -> Resolution:
        """Coulomb's law for contacts of the set, and remember the forces."""
        found = resolve(M, d, u, friction, {})
        self._held = dict(zip(pairs.tolist(), found.force.reshape(-1, 3), strict=True))
        return found

    def _forces_held(self, pairs: LongArray, M: Array, d: Array, friction: Array) -> Array | None:
        """The forces that obeyed Coulomb's law last, changed as little as ends all accelerations, where they still do:
        then the law needs no others. Else None."""
        if not all(pair in self._held for pair in pairs.tolist()):
            return None
        force = np.concatenate([self._held[pair] for pair in pairs.tolist()])
        force -= least(M, M @ force + d)
        inside = np.hypot(force[1::3], force[2::3]) <= friction * force[::3] * (1.0 - ZERO)
        held = inside.all() and np.abs(M @ force + d).max() <= ENOUGH_HELD * np.abs(d).max()
        return force if held else None

    def _cut(self, trigger: Trigger | None) -> None:
        """Go to the event, or to the end of the step; book the forces' impulses; restore φ = 0 and ζ = 0."""
        course, count = self._course, int(self._chosen.count[0])
        delta = 1.0 if trigger is None else trigger.delta
        if delta > 0.0:
            impulses = book_piece(self._books, self._loads, course, delta, self._ledger)
            for pair, impulse in zip(self._chosen.pair[:count].tolist(), impulses, strict=True):
                self._book(pair, impulse)
        bodies, joints = (course.at(delta), course.joints) if trigger is not None else (self._out, self._out_joints)
        for mine, theirs in zip((*self._bodies, *self._joints), (*bodies, *joints), strict=True):
            mine[:] = theirs
        before = self._t
        self._t += delta * course.h
        self._mend_joints()
        if count:
            self._project()
        self._t = before

    def _book(self, pair: int, impulse: Array) -> None:
        self._impulse[pair] = self._impulse.get(pair, 0.0) + impulse

    # ---------------------------------------------------------------------------------------------- events
    def _handle(self, trigger: Trigger) -> None:
        """What the event asks for."""
        chosen, k = self._chosen, trigger.row
        if k >= 0 and trigger.kind in (FORCE, CONE) and chosen.mode[k] == STICK and chosen.open[k] != UNIQUE:
            self._settle(about={int(chosen.pair[k])})  # other forces may hold it
        elif trigger.kind == FORCE:
            self._let_go.add(int(chosen.pair[k]))
            self._settle(released=self._let_go, about=set(self._let_go))
        elif trigger.kind == MARGIN:
            pair = int(chosen.pair[k])
            self._settle(lost=self._left_with(pair), about=set())
        elif trigger.kind == CONE and k >= 0:
            self._equations(chosen.pair[: chosen.count[0]], matrix=False)
            force = self._world_forces(self._scratch.lam, int(chosen.count[0]))[k]
            n = self._scratch.witness.normal[k]
            along = -(force - (force @ n) * n)
            pair = int(chosen.pair[k])
            self._settle(begins={pair: along / np.linalg.norm(along)}, about={pair})
        elif trigger.kind == SLIP:
            if self._slip_ends(k):
                self._settle(stopped=int(chosen.pair[k]), about={int(chosen.pair[k])})
        elif trigger.kind == GAP:
            self._settle(about=set())
        elif trigger.kind == MOTOR:
            self._settle(motor=k)
        else:
            self._settle(about={int(chosen.pair[k])} if k >= 0 else None)

    def _left_with(self, pair: int) -> set[int]:
        """A pair that has just left its elements, and those that touch and leave theirs here too: two walls of a slot
        may end at the same place, and what is beyond must not be asked for forces."""
        pairs, _ = self._touching()
        self._equations(pairs, matrix=False)
        margin = self._scratch.witness.margin[: len(pairs)]
        return {pair, *pairs[margin <= -0.9 * EDGE].tolist()}

    def _slip_ends(self, k: int) -> bool:
        """Whether slip has come to its end; where it has only turned, the direction is renewed."""
        chosen, count = self._chosen, int(self._chosen.count[0])
        self._equations(chosen.pair[:count], matrix=False)
        slip = self._slip(count)[k]
        size = float(np.linalg.norm(slip))
        if size <= SLIPS:
            return True
        chosen.direction[k] = slip / size
        return False

    def _settle(
        self, released: set[int] | None = None, lost: set[int] | None = None, begins: dict[int, Array] | None = None,
        stopped: int = -1, quiet: bool = False, about: set[int] | None = None, motor: int = -1,
    ) -> None:
        """Impacts, then new sets. about: the pairs of the set that something happened to; islands without any of them,
        without a new pair and without an impact stay as they are (None: none do).

        released: contacts whose force has just become negative; lost: those that have left
        their elements; begins: contacts at the verge of slip, with its direction; stopped: one whose slip has ended;
        motor: the row of one that has come to its speed or its limit."""
        released, lost, begins = released or set(), lost or set(), begins or {}
        count = int(self._chosen.count[0])
        before = dict(zip(self._chosen.pair[:count].tolist(), self._chosen.mode[:count].tolist(), strict=True))
        hit: set[int] = set()
        exerted = float(self._scratch.equations.reactions.lam[motor]) if motor >= 0 else 0.0
        modes = self._motors.mode.copy()
        self._struck.clear()
        self._hits = 0
        for _ in range(WITHOUT_END):
            while self._impact(lost, hit):
                pass
            pairs = without(self._at_rest(), lost)
            self._motors.start(self._bodies, self._joints, motor, exerted)
            if not len(pairs):
                clear_set(self._chosen)
                self._obeyed(pairs, released, begins)
                break
            if self._take(pairs, released, begins, about):
                break
            released, begins, about, motor = set(), {}, None, -1
        else:
            self._give_up(Limit.UNSETTLED)
        if not quiet:
            self._tell_changes(before, hit, lost, stopped)
            told = self._motors.changes(modes, self.model, self._bodies, self._t, self._energy)
            self.events += told
            self._tally[Tally.EVENTS] += len(told)

    def _take(
        self, pairs: LongArray, released: set[int], begins: dict[int, Array], about: set[int] | None
    ) -> bool:
        """Make the new sets from contacts that rest; False where it came to an impact instead."""
        calm = self._calm(pairs, about)
        kept = self._forces_kept(pairs[calm]) if calm.any() else None
        busy = pairs[~calm]
        M, d, u, found = self._obeyed(busy, released, begins)
        if found.status == "inconsistent":
            if self._jam(busy, M, u):
                return False
            found = overlapping(M, d, self._report.coefficients(busy)[1])
            self._sink, self._depth = SLOT, 2.0 * SLOT
        if kept is not None:
            pairs, M, d = np.concatenate([busy, pairs[calm]]), *self._equations(np.concatenate([busy, pairs[calm]]))[:2]
            force = np.concatenate([found.force, kept.force])
            found = Resolution(found.status, force, M @ force + d, found.mode + kept.mode,
                               np.concatenate([found.slip, kept.slip]))
        self._write_set(pairs, M, found)
        return True

    def _write_set(self, pairs: LongArray, M: Array, found: Resolution) -> None:
        eq, c = self._scratch.equations, len(pairs)
        tangents = np.stack([eq.tangent_1[:c], eq.tangent_2[:c]], axis=1)
        fill_set(self._chosen, pairs, found, M, self._report.coefficients(pairs)[1], tangents, self._nodes(pairs))

    def _unjam(self) -> bool:
        """Where contacts slide with friction, end that for the rest of the step; whether there were any."""
        chosen, count = self._chosen, int(self._chosen.count[0])
        if not ((chosen.mode[:count] == SLIDE) & chosen.direction[:count].any(axis=1)).any():
            return False
        pairs = chosen.pair[:count].copy()
        M, d, u = self._equations(pairs)
        self._write_set(pairs, M, unjammed(M, d, u, self._report.coefficients(pairs)[1], self._rest_speed))
        self._give_up(Limit.JAM)
        return True

    def _obeyed(
        self, pairs: LongArray, released: set[int], begins: dict[int, Array]
    ) -> tuple[Array, Array, Array, Resolution]:
        """Equations and forces of contacts that rest, together with what motors with a limit do."""
        turns = len(self._motors.rows)
        for turn in range(WITHOUT_END + turns):
            M, d, u = self._equations(pairs)
            found = self._resolve(pairs, M, d, u, released, begins) if len(pairs) else NOTHING
            if self._motors.obeys(self._scratch.equations, found.force, turn > turns):
                break
        return M, d, u, found

    def _calm(self, pairs: LongArray, about: set[int] | None) -> BoolArray:
        """Which of the pairs are in islands that nothing happened to."""
        chosen, count = self._chosen, int(self._chosen.count[0])
        if about is None or count == 0 or chosen.islands[0] < 2 or self._motors.any:
            return np.zeros(len(pairs), bool)
        before = dict(zip(chosen.pair[:count].tolist(), chosen.island[:count].tolist(), strict=True))
        sizes, nodes = np.bincount(chosen.island[:count]), self._nodes(pairs)
        island, calm = islands_of(nodes), np.zeros(len(pairs), bool)
        struck = np.array([not self._struck.isdisjoint(ends) for ends in nodes.tolist()])
        for i in range(int(island.max(initial=-1)) + 1):
            mine = np.flatnonzero(island == i)
            was = {before.get(p, -1) for p in pairs[mine].tolist()}
            same = len(was) == 1 and -1 not in was and sizes[next(iter(was))] == len(mine)
            calm[mine] = same and not struck[mine].any() and about.isdisjoint(pairs[mine].tolist())
        return calm

    def _forces_kept(self, pairs: LongArray) -> Resolution:
        """Forces and modes of pairs that stay in the set as they are."""
        chosen, count = self._chosen, int(self._chosen.count[0])
        take_coordinates(self._scratch, self._joints)
        constrained_rates(self.model, self.surface, chosen, self._loads, self._t, self._h, self._bodies, self._scratch,
                          self._scratch.rate)
        row = {p: k for k, p in enumerate(chosen.pair[:count].tolist())}
        rows, eq = np.array([row[p] for p in pairs.tolist()]), self._scratch.equations
        direction = chosen.direction[rows]
        slip = np.column_stack([(direction * t[rows]).sum(1) for t in (eq.tangent_1, eq.tangent_2)])
        force = self._scratch.lam[: 3 * count].reshape(-1, 3)[rows].ravel()
        return Resolution("solved", force, np.zeros_like(force), chosen.mode[rows].tolist(), slip)

    def _tell_changes(self, before: dict[int, int], hit: set[int], lost: set[int], stopped: int) -> None:
        """Events of the change from the set `before` (pair -> mode) to the present one."""
        count = int(self._chosen.count[0])
        now = dict(zip(self._chosen.pair[:count].tolist(), self._chosen.mode[:count].tolist(), strict=True))
        told = len(self.events)
        for pair in before:
            if pair not in now:
                self._tell("geometric_loss" if pair in lost else "dynamic_loss", pair)
            elif now[pair] == SLIDE and (before[pair] == STICK or pair == stopped):
                self._tell("slip", pair)
            elif before[pair] == SLIDE and now[pair] == STICK:
                self._tell("stick", pair)
        for pair in now:
            if pair not in before and pair not in hit:
                self._tell("gain", pair)
        if len(self.events) == told and not hit and now != before:
            self._tell("active_set", next(p for p in now if now[p] != before.get(p)))

    def _tell(
        self, kind: str, pair: int, impulse: Array | None = None, energy: float | None = None,
        joints: tuple[JointImpulse, ...] = (),
    ) -> None:
        """Append an event of a pair; energy is that before it [J]."""
        w = self._course.witness
        zeta = float(self._course.find(self._bodies, self._joints, np.array([pair]), 1, w)[0])
        after = self._energy()
        p = (0.0, 0.0, 0.0) if impulse is None else tuple(impulse.tolist())
        point = 0.5 * (w.p_a[0] + w.p_b[0])
        case = Case.SEPARATING if zeta > RESTS else Case.COLLIDING if zeta < -RESTS else Case.RESTING
        self.events.append(Event(
            kind, 0, self._t, (int(w.body_a[0]), int(w.body_b[0])), tuple(point.tolist()), tuple(w.normal[0].tolist()),
            p, after if energy is None else energy, after, int(case) if kind == "impact" else 0,
            limit_joint(self.surface, pair), joints,
        ))
        self._tally[Tally.EVENTS] += 1

    def _at_rest(self) -> LongArray:
        """Pairs that touch and neither approach nor separate."""
        pairs, zeta = self._touching()
        return pairs[np.abs(zeta) <= RESTS]

    def _impact(self, lost: set[int], hit: set[int]) -> bool:
        """Solve the impact of the contacts that touch, if any of them closes; False otherwise. Islands with a pair that
        was hit STORM times in this step, and all after as many impacts at this instant, have no restitution."""
        pairs, zeta = self._touching()
        if not (zeta < -RESTS).any():
            return False
        pairs = without(pairs, lost)
        self._motors.rest()
        M, _, u = self._equations(pairs)
        if not (u[::3] < -RESTS).any():
            return False
        if self.watch is not None:
            self.watch.impact(self.model, self._t, self._frozen(pairs), self._bodies, self._joints)
        self._hits, self._impacts = self._hits + 1, self._impacts + 1
        e, mu = self._report.coefficients(pairs)
        tired = np.array([self._times_hit.get(p, 0) >= STORM for p in pairs.tolist()])
        tired |= self._limit >= Limit.PIECES or self._hits >= STORM
        e_t, e_psi = np.where(impacts.between_balls(M), self._report.of_balls(pairs), np.nan)
        p, slow, island = np.zeros(3 * len(pairs)), np.ones(len(pairs), bool), islands_of(self._nodes(pairs))
        for i in np.unique(island[u[::3] < -RESTS]):
            mine = np.flatnonzero(island == i)
            rows = (3 * mine[:, None] + np.arange(3)).ravel()
            zeta = u[3 * mine]
            slow[mine] = (zeta < -RESTS) & (zeta >= -self._rest_speed) | (zeta.min() >= -self._rest_speed)
            if tired[mine].any() and e[mine].any():
                slow[mine] = True
                self._give_up(Limit.INSTANT if self._hits >= STORM else Limit.PAIR)
            held = rows[(rows % 3 == 0) | (mu[rows // 3] > 0.0)]
            if self._impacts > CHATTER and np.abs(u[held]).max() <= self._rest_speed:
                p[held] = -np.linalg.lstsq(M[np.ix_(held, held)], u[held], rcond=RANK)[0]
                continue
            used, used_t = np.where(slow[mine], 0.0, e[mine]), np.where(slow[mine], np.nan, e_t[mine])
            p[rows] = impacts.hit(self._law, M[np.ix_(rows, rows)], u[rows], used, mu[mine], used_t).impulse
            self._tally[Tally.SOLVES] += 1
        for pair in pairs[p[::3] > 0.0].tolist():
            self._times_hit[pair] = self._times_hit.get(pair, 0) + 1
        self._apply_impulses(pairs, p, hit, np.where(slow, np.nan, e_psi))
        if self._hits >= 2 * STORM:
            self._give_up(Limit.UNSETTLED)
            return False
        return bool(p.any())

    def _apply_impulses(self, pairs: LongArray, p: Array, hit: set[int], e_psi: Array | None = None) -> None:
        """Change the momenta and tell, of each two bodies, the sum at the contact that is hit hardest. e_psi: the
        torsional restitution of balls, nan = none."""
        energy = self._energy()
        w, c = self._scratch.witness, len(pairs)
        world, limits = self._world_forces(p, c), limits_among(self.surface, pairs)
        self._struck |= set(self._nodes(pairs)[p.reshape(-1, 3).any(axis=1)].ravel().tolist()) - {-1}
        joints = self._joint_impulses(world, limits, p)
        before = copy_bodies(self._bodies)
        self._push(p)
        book_impact(self._books, self._course, pairs, p, before, self._bodies, world, self._ledger)
        if e_psi is not None:
            twist(self._books, self._bodies, w, p[::3], e_psi, self._ledger)
        groups: dict[tuple[int, int, int], list[int]] = {}
        for i in np.flatnonzero(p[::3] > 0.0).tolist():
            group = int(w.body_a[i]), int(w.body_b[i]), int(pairs[i]) if limits[i] else -1
            groups.setdefault(group, []).append(i)
            hit.add(int(pairs[i]))
            self._book(int(pairs[i]), world[i])
        for members in groups.values():
            hardest = max(members, key=lambda i: p[3 * i])
            self._tell("impact", int(pairs[hardest]), world[members].sum(0), energy, joints)

    def _joint_impulses(self, world: Array, limits: BoolArray, p: Array) -> tuple[JointImpulse, ...]:
        """What joints pass on of contact impulses p (3 c,) in the rows of the equations, `world` (c, 3)."""
        eq, w, x = self._scratch.equations, self._scratch.witness, self._bodies.x
        if not len(self.model.joints.type):
            return ()
        impulse, moment = np.zeros_like(x), np.zeros_like(x)
        for k in np.flatnonzero(~limits).tolist():
            for sign, i, point in ((1.0, w.body_b[k], w.p_b[k]), (-1.0, w.body_a[k], w.p_a[k])):
                impulse[i] += sign * world[k]
                moment[i] += np.cross(point - x[i], sign * world[k])
        lam = p @ eq.reactions.passed[: len(p)]
        add_to_bodies(eq.reactions.rows, eq.reactions.J, lam, impulse, moment)
        change = p @ eq.HT[: len(p)]
        of_trees = joint_impulses(self.model.trees, change[len(change) - len(self._joints.v) :], impulse, moment,
                                  eq.trees.work)
        return of_trees + reaction_impulses(eq.reactions, lam, self._bodies)

    def _resolve(
        self, pairs: LongArray, M: Array, d: Array, u: Array, released: set[int], begins: dict[int, Array]
    ) -> Resolution:
        """Forces of contacts that rest, those released left out where they let go indeed."""
        self._tally[Tally.SOLVES] += 1
        eq, c = self._scratch.equations, len(pairs)
        keep = ~among(pairs, released)
        verge = {k: np.array([eq.tangent_1[k] @ begins[p], eq.tangent_2[k] @ begins[p]])
                 for k, p in enumerate(pairs.tolist()) if p in begins}
        known = self._directions_kept(pairs) | verge
        inner, rows = np.cumsum(keep) - 1, np.repeat(keep, 3)
        force, mode, slip, status = np.zeros(3 * c), [OPEN] * c, np.zeros((c, 2)), "solved"
        if keep.any():
            part = resolve(M[np.ix_(rows, rows)], d[rows], u[rows], self._report.coefficients(pairs)[1][keep],
                           {int(inner[k]): e for k, e in known.items() if keep[k]})
            force[rows], slip[keep], status = part.force, part.slip, part.status
            for k, m in zip(np.flatnonzero(keep).tolist(), part.mode, strict=True):
                mode[k] = m
        rate = M @ force + d
        small = 1e-7 * float(np.abs(d).max(initial=0.0)) + 1e-12
        held = {int(pairs[k]) for k in np.flatnonzero(~keep) if rate[3 * k] < -small}
        stays = any(rate[3 * k + 1 : 3 * k + 3] @ e < -small for k, e in verge.items())
        if held or stays:
            return self._resolve(pairs, M, d, u, released - held, {} if stays else begins)
        closed = [3 * k for k in range(c) if mode[k] not in (OPEN, IDLE)]
        for k in np.flatnonzero(~keep).tolist():  # no force, but held by the others: still current
            if rate[3 * k] <= small and 3 * k not in basis(M, closed, [3 * k]):
                mode[k] = IDLE
        return Resolution(status, force, rate, mode, slip)

    def _directions_kept(self, pairs: LongArray) -> dict[int, Array]:
        """Of the contacts that slide on STRAIGHT, the direction (2,) in the tangents, by row of `pairs`."""
        chosen, eq, kept = self._chosen, self._scratch.equations, {}
        row = {p: k for k, p in enumerate(pairs.tolist())}
        slip = self._slip(len(pairs))
        for i in np.flatnonzero(chosen.mode[: chosen.count[0]] == SLIDE).tolist():
            k, direction = row.get(int(chosen.pair[i]), -1), chosen.direction[i]
            if k >= 0 and np.linalg.norm(slip[k]) > SLIPS and self._straight(slip[k], direction):
                kept[k] = np.array([eq.tangent_1[k] @ direction, eq.tangent_2[k] @ direction])
        return kept

    def _jam(self, pairs: LongArray, M: Array, u: Array) -> bool:
        """An impact without collision, where friction is why accelerations have no solution or several."""
        self._tell("inconsistent", int(pairs[0]))
        mu = self._report.coefficients(pairs)[1]
        speed = np.hypot(u[1::3], u[2::3])
        slides = (mu > 0.0) & (speed > SLIPS)
        if not slides.any():
            return False
        slip = np.column_stack([u[1::3], u[2::3]]) / np.where(speed > 0.0, speed, 1.0)[:, None]
        modes = self._motors.mode.copy()
        self._motors.rest()
        M = self._equations(pairs)[0]
        p = impacts.impact_without_collision(M, u, slides, slip, mu)
        self._apply_impulses(pairs, p, set())
        self._motors.mode[:] = modes
        return bool(p.any())

    # ---------------------------------------------------------------------------------------------- the end
    def _end(self, state: State, h: float) -> None:
        """Report the contacts at the end of the step and remember the sets."""
        t0 = float(state.t[0])
        state.t[0] = self._t = t0 + h
        drive(self.model, self._t, state.bodies)
        chosen, count = self._chosen, int(self._chosen.count[0])
        take_coordinates(self._scratch, self._joints)
        constrained_rates(self.model, self.surface, chosen, self._loads, self._t, h, self._bodies, self._scratch,
                          self._scratch.rate)
        motors = motor_states(self._scratch.equations.reactions)
        lam, held = self._scratch.lam[: 3 * count].copy(), chosen.pair[:count].copy()
        pairs = np.concatenate([held, self._near(held)])
        M, d, u = self._equations(pairs)
        asked = self._asked()
        if asked.any():
            rows = np.flatnonzero(np.repeat(asked, 3))
            problem = held[asked], M[np.ix_(rows, rows)], d[rows]
            friction, sticks = chosen.friction[:count][asked], (chosen.mode[:count][asked] == STICK).all()
            force = self._forces_held(*problem, friction) if sticks else None
            lam[rows] = self._coulomb(*problem, u[rows], friction).force if force is None else force
        force = np.zeros(3 * len(pairs))
        force[: 3 * count] = lam
        rate = M @ force + d
        self._fill(pairs, count, force, rate[::3], u)
        self._remember(state.memory, count)
        tally = self._tally
        tally[Tally.STEPS] += 1
        deepest = max(0.0, -float(self.contacts.gap[: self.contacts.count[0]].min(initial=0.0)))
        residual = self._residual(M, rate, force, count)
        obeyed = residual <= max(OBEYED * float(np.abs(d[: 3 * count]).max(initial=0.0)), ROUNDING)
        self.info = StepInfo(
            residual, status=SAYS.get(self._limit, "solved" if obeyed else "inconsistent"),
            contacts=len(pairs), pairs=len(self.surface.meets),
            penetration=deepest, steps=int(tally[Tally.STEPS]), pieces=int(tally[Tally.PIECES]),
            solves=int(tally[Tally.SOLVES]), events=int(tally[Tally.EVENTS]),
            projection=float(tally[Tally.PROJECTION]), joint_error=self._keeper.error(self._bodies),
            motors=motors)

    def _residual(self, M: Array, rate: Array, force: Array, count: int) -> float:
        """How well the forces of the current set obey the contact laws [m/s2]: the natural map of 0 <= ζ̇ ⊥ λ >= 0,
        friction given, and what sticking contacts accelerate along their tangents."""
        rows = slice(0, 3 * count, 3)
        lam, normal = force[rows].copy(), np.ascontiguousarray(M[rows, rows])
        wrong = natural_map(ContactProblem.frictionless(normal, rate[rows] - normal @ lam), lam)
        slip = rate[: 3 * count].reshape(-1, 3)[self._chosen.mode[:count] == STICK, 1:]
        return max(float(wrong), float(np.abs(slip).max(initial=0.0)))

    def _remember(self, memory: ContactMemory, count: int) -> None:
        chosen, w = self._chosen, self._scratch.witness
        pairs = chosen.pair[:count].copy()
        mover = np.where(movable(self.model.kind[w.body_b[:count]]), w.body_b[:count], w.body_a[:count])
        place = 0.5 * (w.p_a[:count] + w.p_b[:count]) - self._bodies.x[mover]
        remember(chosen, self._held, shapes_of(self.surface, pairs), place, self._impulses(pairs), memory)

    def _impulses(self, pairs: LongArray) -> Array:
        """What the forces of pairs came to in this step (k, 3) [N s]."""
        return np.array([self._impulse.get(pair, np.zeros(3)) for pair in pairs.tolist()]).reshape(-1, 3)

    def _near(self, held: LongArray) -> LongArray:
        """Pairs outside the set that could touch within a step."""
        course, bodies = self._course, self._bodies
        course.reach[:] = TOUCH + self._h * (np.linalg.norm(bodies.v, axis=1)
                                             + np.linalg.norm(bodies.w, axis=1) * course.radius)
        course.find_pairs(bodies, self._joints, near=-math.inf)
        n, w = course.count, course.witness
        found = course.pairs[:n][(w.margin[:n] >= -EDGE) & (w.facing[:n] >= FACING)]
        return without(found, held.tolist())[: self._room - len(held)]

    def _fill(self, pairs: LongArray, count: int, force: Array, zeta_dot: Array, u: Array) -> None:
        w = self._scratch.witness
        geometry = [
            (0.5 * (w.p_a[i] + w.p_b[i]), w.normal[i].copy(), float(w.gap[i]), int(w.body_a[i]), int(w.body_b[i]))
            for i in range(len(pairs))
        ]
        rates = np.column_stack([u[::3], zeta_dot, np.hypot(u[1::3], u[2::3])]).reshape(-1, 3)
        current = np.arange(len(pairs)) < count
        active = np.zeros(len(pairs), bool)
        rows = self._chosen.row[: self._chosen.rows[0]]
        active[rows[rows % 3 == 0] // 3] = True
        self.contacts = self._report.fill(pairs, geometry, rates, self._world_forces(force, len(pairs)),
                                          self._impulses(pairs),
                                          current, active, RESTS, TOUCH)


def among(pairs: LongArray, some: Collection[int]) -> BoolArray:
    """Which of the pairs are among some others; numpy's isin is slow for a few."""
    if not some:
        return np.zeros(len(pairs), bool)
    known = set(some)
    return np.array([pair in known for pair in pairs.tolist()], bool)


def without(pairs: LongArray, some: Collection[int]) -> LongArray:
    """The pairs that are not among some others."""
    return pairs[~among(pairs, some)]


def copy_bodies(bodies: Bodies) -> Bodies:
    """A copy that shares nothing."""
    return Bodies(*(a.copy() for a in bodies))
