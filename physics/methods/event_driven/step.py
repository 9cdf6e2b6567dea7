"""`event_driven`: exact rigid contact after RBDA chapter 11.

    begin     take up the state and its contact sets; where these no longer hold, settle
    advance   one step of the integrator, active contacts as equality constraints in its right-hand side: a piece
    search    the piece's dense output for the earliest event
    cut       the piece there; φ = 0 and ζ = 0 are restored along H⁻¹T
    handle    settle: impacts at the instant, then the current and the active set: an LCP, or Coulomb's law for
              accelerations; and on with the rest of the step                                     [RBDA table 11.1]
    end       report the contacts, remember the sets

The sets live on from step to step in `State.memory`. Their equations are solved only where a force would become
negative, at impacts, and where contacts come or go; `State.tally` counts how often.

No step takes without end: what it gives up, and how it says so, is in `patience`. Steps of fixed length are halved
where constraint forces lead them astray, see `step_halving`.
"""

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ...books.ledger import Books, Page, close_step, open_step
from ...collision.exact.elements import NoExactGap, surface_of
from ...core.interruption import look_up
from ...core.limits import EXACT_BODIES
from ...core.model import Array, Model, movable
from ...core.report import Event, MotorState, Settings, StepInfo
from ...core.state import (
    LEDGER,
    ContactMemory,
    Contacts,
    Owner,
    State,
    Tally,
    copy_state,
    empty_contacts,
    grow_memory,
)
from ...dynamics.constraints.cure import JointKeeper
from ...dynamics.constraints.limits import TURNS
from ...dynamics.constraints.reactions import motor_states
from ...dynamics.constraints.stiffness import JointRates
from ...dynamics.forces import Loads, empty_loads
from ...dynamics.motion import AHEAD, next_way_point, rounding
from ...integrators import INTEGRATORS, Integrator
from ...integrators.stepper import SMALLEST_SUBSTEP, TOLERANCE
from ...problem.contact_snapshot import ContactSnapshot, TooMany
from ...problem.problem import ContactProblem
from ...problem.turning_rows import moment_rows
from ..method import Untreatable
from ..sleep import wake
from .books import PairImpulses, book_piece
from .events import EventLog
from .flat_places import CROSSED, FlatPlaces, on_flat_place
from .impact import Impacts
from .instant import equations, motion_in_rows, slip_velocities, velocities, world_forces
from .materials import PairMaterials
from .memory import recall
from .motors import Motors
from .observer import Observer
from .patience import PROGRESS, SAYS, Limit, Patience
from .piece import Piece, begin_piece, make_piece, own_place
from .projection import Projection
from .rates import Instant, find_forces
from .report import Report
from .search import Trigger
from .sets import STICK, UNIQUE, clear_set
from .settle import Change, Settler
from .shared_loads import SharedLoads
from .step_halving import SCATTER, astray, gains, gains_held, least_substep, longer, rounding_rate, stable_length
from .tolerances import EDGE, RESTS, SLIPS, TOUCH
from .whole_step import (
    BY_PIECES,
    DRIFTED,
    MADE,
    SPOILT,
    WholeStep,
    as_remembered,
    end_step,
    make_whole,
    march,
    take_up,
)
from .workspace import Workspace

SLIVER = 1e-14      # rest of a step that is none, relative to it
SHORT = 1e-3        # piece of which it is asked why it is so short, relative to the step
TOGETHER = 1e-9     # contacts whose forces vanish within this time let go together [s]
RIM = 0.9 * EDGE    # how far beyond its elements a contact is that leaves them together with another [m]
BLIND_ERROR = 1e-3 / TOLERANCE  # that a piece may have where a step is blind, in parts of what others may have
OBEYED = 1e-6       # residual of forces that obey the contact laws, relative to the accelerations without them
RESIDUAL_ROUNDING = 1e-9  # residual that rounding alone may leave [m/s2]


class EventDriven:
    """METHODS["event_driven"]. Holds scratch memory only; all that matters later is in the State.

    `contacts` are those at the end of the step: lam and friction_force are the forces at that instant, impulse that of
    the whole step. They and `info` are found when somebody asks.
    """

    title: ClassVar[str] = "Event-driven (exact)"
    uses: ClassVar[frozenset[str]] = frozenset({"impact_law", "joint_cure"})

    def __init__(self, model: Model) -> None:
        """Untreatable where two shapes have no exact gap."""
        count = int(movable(model.kind).sum())
        if count > EXACT_BODIES.most:
            raise Untreatable(f"event_driven takes at most {EXACT_BODIES}, for the equations of a heap of "
                              f"more need too much memory; this scene has {count}, time_stepping takes them", ())
        try:
            self.surface = surface_of(model)
        except NoExactGap as refused:
            raise Untreatable(f"event_driven knows no exact gap of {{0}} and {{1}} ({refused.kinds}); "
                              "time_stepping takes them", refused.bodies) from refused
        self.model = model
        self.found: Contacts = empty_contacts(0)  #: none: forces without bound show in the motion
        self.events: list[Event] = []
        self.watch: Observer | None = None  #: is told the pieces and impacts of each step
        self._keeper = JointKeeper(model, drives=True)
        self._motors, self._books, self._impulses = Motors(self._keeper), Books(model), PairImpulses()
        self.work = Workspace(model, self.surface, self._motors.mode)
        self.projection = Projection(self.work, self._keeper)
        self._materials, self._patience = PairMaterials(model, self.surface), Patience()
        self._log, self._shared = EventLog(self.work), SharedLoads(self.work, self._materials, self._patience)
        self._impacts = Impacts(self.work, self._materials, self._motors, self._books, self._impulses, self._log,
                                self._patience)
        self._flat = FlatPlaces(self.work, self._materials, self._impacts, self._books)
        self._settler = Settler(self.work, self._materials, self._motors, self._impacts, self._log, self._patience)
        self._report, self._told = Report(self.work, self._materials), StepInfo()
        self._tells = True  #: whether `contacts` and `info` are those of the last step
        self._joint_rates = JointRates(model)
        self._whole: WholeStep | None = None
        self._crosses = False   #: whether contacts cross flat places in the piece made last
        self._is_whole = False  #: whether it went through in one call
        self._let_go: frozenset[int] = frozenset()  # pairs whose forces have just vanished

    # ---------------------------------------------------------------------------------------------- the step
    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]. Raises FloatingPointError where the motion is not finite."""
        self._tells = True  # nothing can be said of a step that fails
        self._begin_step(state, loads, settings)
        if self._takes_pieces(state, settings):
            reached = BY_PIECES
        else:
            integrator = INTEGRATORS[settings.integrator]
            whole = self._whole_step(integrator)
            reached = make_whole(self.model, state, settings.h, int(integrator.adaptive), whole, 0)
        self._go_on(reached, state, settings)
        self._tells = False

    def march(
        self, state: State, loads: Loads, settings: Settings, page: Page, most: int, until: float,
    ) -> tuple[int, bool]:
        """See `method.py: Marching`. The first step in which something happens is the last one."""
        self._tells, made = True, 0
        self._begin_step(state, loads, settings)
        if self._takes_pieces(state, settings):
            open_step(self.model, state, page)
            reached = BY_PIECES
        else:
            integrator = INTEGRATORS[settings.integrator]
            most = 1 if self._longest(state, settings) < math.inf else most  # which may be shorter after a step
            whole = self._whole_step(integrator)
            whole.made[0] = 0
            reached = march(
                self.model, state, settings.h, int(integrator.adaptive), whole, page, self.found, most, until)
            made = int(whole.made[0])
            if reached == BY_PIECES:
                self._begin_step(state, loads, settings)  # that of the step which it came to
        if reached == SPOILT:
            return made, False
        self._go_on(reached, state, settings)
        self._tells = False
        return (made, True) if reached == MADE else (made + 1, close_step(self.model, state, self.found, page))

    def _takes_pieces(self, state: State, settings: Settings) -> bool:
        """Whether a step cannot be made in one call."""
        return self._keeper.any or self.watch is not None or self._longest(state, settings) < settings.h

    def _go_on(self, reached: int, state: State, settings: Settings) -> None:
        """What is left of a step that came so far in one call, see `make_whole`."""
        self._is_whole = reached != BY_PIECES
        if reached == BY_PIECES:
            self._go_by_pieces(state, settings)
        elif reached == DRIFTED:
            self.projection.project()
        if reached != MADE:
            self._end(state, settings)

    def _longest(self, state: State, settings: Settings) -> float:
        """The longest piece [s] that keeps springs and dampers of joints stable."""
        return stable_length(INTEGRATORS[settings.integrator], self._joint_rates, state.bodies, state.joints.q)

    def _go_by_pieces(self, state: State, settings: Settings) -> None:
        """The step, with all that happens in it."""
        integrator, h, patience, work = INTEGRATORS[settings.integrator], settings.h, self._patience, self.work
        self._books.begin(state.bodies)
        self._begin(state, settings)
        rest = substep = h
        longest = self._longest(state, settings)
        while rest > SLIVER * h and patience.goes_on:
            look_up()
            straight = self._until_way_point()
            if straight <= rounding(self.model.motions, work.t):
                rest -= self._pass_way_point()
                continue
            most = min(substep, rest, longest, patience.brief_end - work.t, straight)
            following = self._advance(integrator, most, least_substep(patience.uncut, h))
            trigger = self._search()
            self._log.reasons.cut(work, trigger)
            done = self._cut(trigger)
            rest -= done
            patience.count_piece(trigger is not None, done)
            if patience.stands_still:
                break
            if done > TOGETHER:
                self._let_go = frozenset()
            if trigger is not None:
                self._show()
                self._handle(trigger, done)
                self._show()
            elif patience.brief_end - self.work.t <= SLIVER * h:
                self._settler.end_brief()
            elif not self._settler.turn_back() and (patience.is_long or self.work.search.length < SHORT * h):
                self._settler.ease()
            patience.end_piece()
            substep = min(rest if trigger is not None else following, rest)
            if rest - substep < SMALLEST_SUBSTEP * h:
                substep = rest
        if rest > SLIVER * h:
            patience.give_up(Limit.HALTED)
        held = self._held()
        if held:
            self._settler.settle(Change(about=held))

    @property
    def contacts(self) -> Contacts:
        """At the end of the last step."""
        self._tell()
        return self._report.contacts

    @property
    def info(self) -> StepInfo:
        """How the last step went."""
        self._tell()
        return self._told

    def resting(self, state: State, loads: Loads, settings: Settings, most: int) -> ContactSnapshot:
        """The contacts that rest in this state, with their equations and moments. Raises TooMany where these are more
        than `most`."""
        self._tell()
        here = copy_state(state)
        self._begin_step(here, loads, settings)
        self._begin(here, settings)
        pairs = self.work.at_rest()
        if len(pairs) > most:
            raise TooMany(len(pairs))
        found = self._impacts.snapshot(pairs)
        kept, lam = self.work.set_pairs.copy(), self._forces_at(self.work.here)[0]
        force = {pair: lam[3 * k : 3 * k + 3] for k, pair in enumerate(kept.tolist())}
        borne, none = found.moments.borne, np.zeros(3)
        for k, pair in enumerate((pairs[borne.bearer] + TURNS * borne.kind).tolist()):
            found.moments.force[3 * k : 3 * k + 3] = force.get(pair, none)
        return found

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The contact problem of this instant. Where contacts collide, the impact of all that touch by Newton's law, in
        velocities and impulses [RBDA eq. 11.64]; else that of the contacts that rest, in accelerations and forces."""
        self._tell()
        here = copy_state(state)
        self._begin_step(here, loads, settings)
        self._take_up(here, settings)
        pairs, zeta = self.work.touching()
        collide = bool((zeta < -RESTS).any())
        if collide:
            self._motors.rest()
        else:
            self._find_sets(here.memory)
            pairs = self.work.at_rest()
        M, d, u = equations(self.work.here, self._materials.with_turning(pairs))
        rows = 3 * len(pairs)
        if collide:
            e, friction = self._materials.restitution(pairs)[0], self._materials.friction(pairs).slip
            d, u = u, np.zeros(len(u))
            d[:rows:3] += np.where(d[:rows:3] < -self.work.rest_speed, e * d[:rows:3], 0.0)
        else:
            friction = self._materials.friction(pairs).where(np.hypot(u[1:rows:3], u[2:rows:3]) <= SLIPS)
        moments = moment_rows(self._materials.borne_by(pairs), M, d, u)
        if (friction > 0).any():
            return ContactProblem.frictional(M[:rows, :rows], d[:rows], friction, moments)
        if moments is not None:
            moments = replace(moments, W=moments.W[::3])
        return ContactProblem.frictionless(M[:rows:3, :rows:3], d[:rows:3], moments)

    # ---------------------------------------------------------------------------------------------- begin
    def _begin_step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Nothing has happened in the step yet."""
        wake(self.model, state)
        self.work.take_up(state, loads, settings)
        for part in (self._log, self._impulses, self._patience):
            part.begin_step()
        self.events, self._is_whole = self._log.events, False

    def _whole_step(self, integrator: Integrator) -> WholeStep:
        """What `make_whole` needs; it is the same memory as long as there is room."""
        piece, whole = self.work.search.piece_of(integrator.tableau), self._whole
        if whole is None or whole.piece is not piece:
            room, books = self.work.room, self._books
            end = own_place(self.work.here)._replace(loads=empty_loads(len(self.model.kind), len(piece.end_joints.v)))
            self._whole = whole = WholeStep(
                piece, end, np.zeros(len(Tally)), self.model.materials.friction, self._materials.break_away,
                books.anchored, books.before, books.given, np.zeros(3), np.zeros((room, 3)),
                np.zeros(LEDGER), np.zeros(1, np.int32))
        return whole

    def _begin(self, state: State, settings: Settings) -> None:
        """Its sets where the memory has them and they still hold, else new ones."""
        self._take_up(state, settings)
        self._find_sets(state.memory)

    def _take_up(self, state: State, settings: Settings) -> None:
        """Make the state the one in hand."""
        work = self.work
        self._impacts.begin_step(settings.impact_law, self.watch)
        self._let_go = frozenset()
        take_up(self.model, state, settings.h, work.here)
        self._motors.start(work.here)
        self.projection.begin_step(settings.joint_cure)
        if int(state.memory.owner[0]) != Owner.EVENT_DRIVEN:
            work.take_overlap_for_touching()

    def _find_sets(self, memory: ContactMemory) -> None:
        """The sets in memory where they still hold, else new ones, after the impacts of this instant."""
        work, first = self.work, int(memory.owner[0]) != Owner.EVENT_DRIVEN
        count = 0 if first else int(memory.count[0])
        work.need_room(count)
        if first:
            clear_set(work.chosen)
            self.surface.seat.fill(0.0)
        else:
            recall(memory, work.here, self._materials.turning, self.model.materials.friction,
                   self._materials.break_away, work.chosen)
        if count == 0 or not self._still_holds():
            self._show()
            self._settler.settle(Change(), quiet=first)
            work.forget_first_overlap()
            self.projection.project()
            self._show()

    def _still_holds(self) -> bool:
        """Whether the remembered set is what the state says."""
        work, here = self.work, self.work.here
        velocities(here, work.set_pairs)
        if (here.scratch.witness.gap[: work.in_set] < -TOUCH).any():  # let in where no forces could keep them out
            work.let_in()
        return as_remembered(here, work.chosen)

    # ---------------------------------------------------------------------------------------------- advance
    def _advance(self, integrator: Integrator, asked: float, least: float) -> float:
        """Make a piece of at most `asked` [s]; the length that the next one may have.

        Where the integrator controls its error, a piece of the length `least` is accepted whatever its error is. Where
        the step is blind the error may be BLIND_ERROR, as the end of slip goes unseen. Friction that goes on there may
        drive what it had stopped: where energy is gained so, friction that slides is ended. Contacts held to the end of
        the step gain none either: their pieces are halved."""
        blind, length, rounding = self._patience.blind, asked, -1.0
        piece = self.work.search.piece_of(integrator.tableau)
        begin_piece(piece)
        on_flat = bool(on_flat_place(piece))
        if on_flat:
            least = max(least, CROSSED * self.work.h)
        while True:
            made = make_piece(piece, length)
            error = math.inf if gains_held(piece, self.work.h) else made / TOLERANCE
            if integrator.adaptive and error > 1.0 and not on_flat:
                rounding = rounding if rounding >= 0.0 else SCATTER * rounding_rate(piece) / TOLERANCE
                error /= max(1.0, rounding * length)
            if self._accepts(piece, integrator, error, length <= least):
                if blind and gains(piece) and self._settler.unjam():
                    return self._advance(integrator, asked, least)
                break
            if length <= least:
                if self._settler.unjam():
                    return self._advance(integrator, asked, least)
                if math.isfinite(error):
                    break
                raise FloatingPointError("the motion of a body is not finite")
            length = max(length * (longer(error, integrator) if math.isfinite(error) else 0.5), least)
        self._crosses = on_flat and (error > 1.0 if integrator.adaptive else self._flat.crossed(piece))
        return max(length * longer(error, integrator), least) if integrator.adaptive else self.work.h

    def _accepts(self, piece: Piece, integrator: Integrator, error: float, shortest: bool) -> bool:
        """Whether a piece is good enough; error: the local one, relative to what is allowed."""
        if not math.isfinite(error):
            return False
        if integrator.adaptive:
            return error <= (BLIND_ERROR if self._patience.blind else 1.0) or shortest
        return not astray(self._keeper, piece, self.work.h)

    def _until_way_point(self) -> float:
        """How long driven bodies go straight on [s]: until a piece ends before the next of their way points."""
        t, motions = self.work.t, self.model.motions
        way_point = next_way_point(motions, t)
        return way_point - AHEAD * rounding(motions, way_point) - t if way_point < math.inf else math.inf

    def _pass_way_point(self) -> float:
        """Go on to a way point that is AHEAD, where the speed of a driven body jumps: joints pass that on, then
        contacts. Returns the time that has passed [s]."""
        work, before = self.work, self.work.t
        work.t = next_way_point(self.model.motions, before)
        self._show()
        self.projection.drive(self._books, before)
        self._settler.settle(Change())
        self._show()
        return work.t - before

    def _held(self) -> frozenset[int]:
        """The pairs whose set was fixed to the end of the step."""
        chosen, count = self.work.chosen, self.work.in_set
        return frozenset(chosen.pair[:count][chosen.fixed[:count] == 1].tolist())

    # ---------------------------------------------------------------------------------------------- search and cut
    def _search(self) -> Trigger | None:
        """The earliest event of the piece just made; while it crosses flat places its forces say nothing."""
        trigger = self._shared.first_doubt(self.work.search.earliest(self.work.sink, self._patience.blind))
        if self._crosses and trigger is not None and trigger.kind not in ("gap", "margin"):
            trigger = None
        if self.watch is not None:
            self.watch.piece(self.work.search, trigger)
        return trigger

    def _cut(self, trigger: Trigger | None) -> float:
        """Go to the event, or to the end of the piece; book the forces' impulses; restore φ = 0 and ζ = 0. Returns the
        time that has passed [s]."""
        work, here, search = self.work, self.work.here, self.work.search
        piece, delta = search.piece, 1.0 if trigger is None else trigger.delta
        before = self._flat.before(piece, delta * search.length) if self._crosses else None
        if delta > 0.0 and before is None:
            impulses = book_piece(self._books, piece, delta, work.ledger)
            self._impulses.add_of_set(work.set_pairs, impulses)
        bodies, joints = piece.end, piece.end_joints
        if trigger is not None:
            there = search.at(delta)
            bodies, joints = there.bodies, there.joints
        for mine, theirs in zip((*here.bodies, *here.joints), (*bodies, *joints), strict=True):
            mine[:] = theirs
        work.t += delta * search.length
        work.tally[Tally.PIECES] += 1
        turned = before is not None and self._flat.cross(before)
        self.projection.mend_joints()
        if turned:
            self._show()
            self._settler.settle(Change())
            self._show()
        self.projection.project()
        return delta * search.length

    # ---------------------------------------------------------------------------------------------- handle
    def _handle(self, trigger: Trigger, done: float) -> None:
        """What the event asks for, after a piece of `done` [s]."""
        chosen, k, kind = self.work.chosen, trigger.row, trigger.kind
        pair = int(chosen.pair[k]) if k >= 0 and kind not in ("gap", "motor") else -1
        self._patience.count_event(trigger.pair if kind == "gap" else pair)
        if kind in ("force", "cone") and pair >= 0 and chosen.mode[k] == STICK and chosen.open[k] != UNIQUE:
            change = Change(about={pair})  # other forces may hold it
        elif kind == "force":
            self._let_go |= {pair}
            change = Change(released=self._let_go, about=self._let_go)
        elif kind == "margin":
            change = Change(lost=self._left_with(pair), about=())
        elif kind == "cone" and pair >= 0:
            change = Change(begins={pair: self._beginning_slip(k)}, about={pair})
        elif kind == "slip":
            ends = self._slip_ends(k)
            if not ends and not self._patience.is_crowded(pair):
                return
            change = Change(stopped=pair if ends else -1, about={pair})
        elif kind == "gap":
            self.work.take_for_touching(trigger.pair)
            change = Change(about=())
        elif kind == "motor":
            change = Change(motor=k)
        else:
            change = Change(about={pair} if pair >= 0 else None)
            before = self._modes_with(pair) if done < PROGRESS else None
            self._settler.settle(change)
            if before is not None and before == self._modes_with(pair):  # and so without end
                self._patience.crowd(before)
                self._settler.settle(Change(about=before.keys()))
            return
        self._settler.settle(change)

    def _modes_with(self, pair: int) -> dict[int, int]:
        """The modes of the contacts of the set in the island of a pair, by their pairs; -1: in all islands where the
        least forces do not obey Coulomb's law."""
        chosen, count = self.work.chosen, self.work.in_set
        island, mine = chosen.island[:count], chosen.pair[:count] == pair
        some = np.isin(island, island[mine]) if pair >= 0 else self._shared.doubtful()
        return dict(zip(chosen.pair[:count][some].tolist(), chosen.mode[:count][some].tolist(), strict=True))

    def _left_with(self, pair: int) -> frozenset[int]:
        """A pair that has just left its elements, and those of the set, or that touch, that leave theirs here too: two
        walls of a slot may end at the same place, and what is beyond must not be asked for forces."""
        pairs = np.concatenate([self.work.set_pairs, self.work.all_touching()])
        self.work.need_room(len(pairs))
        velocities(self.work.here, pairs)
        margin = self.work.here.scratch.witness.margin[: len(pairs)]
        return frozenset({pair, *pairs[margin <= -RIM].tolist()})

    def _beginning_slip(self, k: int) -> Array:
        """Unit direction (3,) in which contact k of the set begins to slip: against its friction."""
        work, count = self.work, self.work.in_set
        velocities(work.here, work.set_pairs)
        scratch = work.here.scratch
        force, n = world_forces(scratch, scratch.lam[: 3 * count])[k], scratch.witness.normal[k]
        along = -(force - (force @ n) * n)
        return along / np.linalg.norm(along)

    def _slip_ends(self, k: int) -> bool:
        """Whether slip has come to its end; where it has only turned, the direction is renewed."""
        work = self.work
        velocities(work.here, work.set_pairs)
        slip = slip_velocities(work.here.scratch, work.in_set)[k]
        size = float(np.linalg.norm(slip))
        if size <= SLIPS:
            return True
        work.chosen.direction[k] = slip / size
        return False

    # ---------------------------------------------------------------------------------------------- end
    def _end(self, state: State, settings: Settings) -> None:
        """Go to the end of the step; remember the sets, and what a report of the step needs."""
        work, count = self.work, self.work.in_set
        whole = self._whole_step(INTEGRATORS[settings.integrator])
        if not self._is_whole:
            whole.impulse[:count] = self._impulses.of(work.set_pairs)
        grow_memory(state.memory, count)
        end_step(self.model, state, settings.h, whole, 0)

    def _tell(self) -> None:
        """Report the contacts at the end of the last step and how it went, where nobody has asked yet."""
        if self._tells:
            return
        assert self._whole is not None
        at, tally = self.work.with_scratch(self._whole.end), self._whole.tally
        if self._is_whole:
            self._impulses.put(self.work.set_pairs, self._whole.impulse)
        found, (apart, unit) = self._fill_report(at), self._keeper.error(at.bodies)
        self._told = replace(
            found, status=SAYS.get(self._patience.limit, found.status), steps=int(tally[Tally.STEPS]),
            pieces=int(tally[Tally.PIECES]), solves=int(tally[Tally.SOLVES]), events=int(tally[Tally.EVENTS]),
            projection=float(tally[Tally.PROJECTION]), joint_error=apart, joint_unit=unit)
        self._tells = True

    def _fill_report(self, at: Instant) -> StepInfo:
        """Report the contacts of an instant of the set in hand, and how well their forces obey the contact laws."""
        work, kept = self.work, self.work.set_pairs.copy()
        pairs = np.concatenate([kept, self._report.near(at, kept)])
        work.need_room(len(pairs))
        at = work.with_scratch(at)
        lam, least, motors, M, d = self._forces_at(at)
        u, rate = motion_in_rows(at, pairs, lam)
        force = np.zeros(3 * len(pairs))
        force[: len(lam)] = lam
        impulse = self._impulses.of(pairs)
        impulse[: len(kept)] += work.set_lasts(at) * world_forces(at.scratch, lam - least)  # as the load is shared
        self._report.fill(at, pairs, force, rate, u, impulse)
        residual = self._report.residual(M, rate, lam)
        obeyed = residual <= max(OBEYED * float(np.abs(d).max(initial=0.0)), RESIDUAL_ROUNDING)
        return StepInfo(residual, status="solved" if obeyed else "inconsistent",
                        contacts=int((pairs < TURNS).sum()),
                        pairs=len(self.surface.meets), penetration=self._report.deepest, motors=motors)

    def _forces_at(self, at: Instant) -> tuple[Array, Array, tuple[MotorState, ...], Array, Array]:
        """The forces (3 c,) of the set in hand at an instant, and those that the piece has for them, which may share a
        load otherwise; what motors do there, and M and d of its contacts."""
        find_forces(at, self.work.chosen)
        motors, kept = motor_states(at.scratch.equations.reactions), self.work.set_pairs.copy()
        least = at.scratch.lam[: 3 * len(kept)].copy()
        M, d, u = equations(at, kept)
        return self._shared.obeying(at, least, M, d, u), least, motors, M, d

    def _show(self) -> None:
        """Show the observer the instant in hand; the step goes on as without it."""
        if self.watch is None:
            return
        scratch = self.work.here.scratch
        kept = scratch.lam.copy(), scratch.equations.reactions.lam.copy()
        self._fill_report(self.work.here)
        self.watch.instant(self.work.t, self._report.contacts)
        scratch = self.work.here.scratch  # which may have grown
        scratch.lam[: len(kept[0])], scratch.equations.reactions.lam[:] = kept
