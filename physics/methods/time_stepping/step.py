"""`time_stepping`: the Moreau–Jean scheme, velocities and impulses in place of accelerations and forces.

    q_m = q ⊕ u h/2                                     half a step with the velocity so far
    contacts at q_m
    u⁺  = u + M⁻¹ (h f + Jᵀ p),   contact laws for u⁺, p   (Signorini, Newton's restitution, Coulomb's cone: `laws`)
    q⁺  = q_m ⊕ u⁺ h/2                                  half a step with the new velocity   [Moreau 1999; Jean 1999]

Where nothing hits, this is of second order. u⁺ moves the bodies from this middle to the next, and contact laws are to
hold half-way, at the end of the step: there the velocity of a contact is J(q_m) u⁺ + ½ ΔJ u, with the turn ΔJ u of its
normal and place over a step as the last steps measured it (`problem.assemble: half_turn`). Impacts are of first order.

Free flight under gravity is the exact parabola. A bounce with e = 1 gives u⁺ = -u and q⁺ = q: it keeps the energy
exactly. Rotation follows the angular momentum L, which nothing but a torque changes. Trees do the same in the
coordinates of their joints, u = v, M = H; what moves them between two middles is `trees: Coast`. Bodies that nothing
pushes in this step are advanced by the chosen integrator instead; where nothing can touch in any step, that is all.

The stages of a step stand in `moreau: advance`. What is here decides and makes room where that returns to Python, and
tells what came of the step.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ...books.diagnostics import penetration, total_energy
from ...books.events import slip_events
from ...books.ledger import Page, close_step, open_step
from ...collision.impact_time import find_fast
from ...collision.narrow_phase import leave_out_contacts
from ...core.model import Model
from ...core.report import Event, MotorState, Settings, StepInfo
from ...core.state import Bodies, Contacts, State, copy_state, empty_contacts
from ...dynamics.constraints.cure import ROW_OF
from ...dynamics.forces import Loads
from ...integrators import Integrator, integrate, offered
from ...problem.joint_rows import motor_rows
from ...problem.problem import ContactProblem, SolveInfo
from ...problem.residual import system_residual
from ...problem.system import ANGULAR, LINEAR
from ...problem.written_out import to_dense
from ...solvers import SOLVERS, BodiesSolver
from ...solvers.matrix_form import solve_written_out
from ...solvers.newton import STEPS, Newton, status_of
from ..sleep import fall_asleep, settings_number, wake, wake_islands, with_sleepers
from .books import settle
from .joints import driven_motors
from .moreau import (
    AHEAD,
    BEGIN,
    CONTACTS,
    DONE,
    END,
    FLY,
    FOUND,
    GO,
    IMPACTS,
    KNOW,
    MEET,
    MIDDLE,
    REST,
    ROWS,
    SOLVE,
    SOLVED,
    TOLERANCE,
    WAKE,
    advance,
    march,
)
from .stages import describe, go_together, keep_of_held, look_ahead, scales_of
from .work import (
    APART,
    ASLEEP,
    BEFORE,
    BOUND,
    BOUNDED,
    CURE,
    EVENTS,
    FIRST,
    ITERATIONS,
    LENGTH,
    MADE,
    NUMBER,
    OTHER_FLIGHT,
    OTHER_SOLVER,
    SOLVER,
    SPOILT,
    STATIC,
    SWEEPS,
    Work,
    Workspace,
)

SOLVED_UP_TO = 1e-10  # residual up to which a step's problem counts as solved, relative to the velocities it is made of
OFFERED = offered("time_stepping")
FLOWN = StepInfo()  # how a step without anything to solve went
#: solvers that visit bodies, found once: to ask whether an object follows a protocol is slow
VISITING = {name: solver for name, solver in SOLVERS.items() if isinstance(solver, BodiesSolver)}


class TimeStepping:
    """METHODS["time_stepping"]. Holds scratch memory only; all that matters later is in the State."""

    title: ClassVar[str] = "Time stepping (Moreau–Jean)"
    uses: ClassVar[frozenset[str]] = frozenset({"solver", "iterations", "joint_cure", "sleep"})

    def __init__(self, model: Model) -> None:
        self.model = model
        self.found: Contacts = empty_contacts(0)
        self._described = True  # whether `found` has what only readers want to know
        self.events: list[Event] = []
        self._info: StepInfo | None = StepInfo()
        self._space = Workspace(model)
        self._settings: Settings | None = None  # that were asked for last
        self._state: State | None = None        # that was advanced last
        self._integrator: Integrator
        self._solved: SolveInfo
        self._there: Bodies | None = None       # room for `_departing`
        self._alone = _nothing_can_touch(model)
        self._sprung = bool(model.joints.damping.any() or model.joints.stiffness.any())
        self._jointed = self._space.keeper.any

    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]."""
        self._state = state
        if settings is not self._settings:
            self._ask(settings)
        if self._flies_alone(loads):
            self._fly(state, loads, settings.h)
            return
        self._described = True  # nothing can be said of a step that fails
        self._go(state, loads, settings, BEGIN, DONE)
        self._find_events(state)

    def march(
        self, state: State, loads: Loads, settings: Settings, page: Page, most: int, until: float,
    ) -> tuple[int, bool]:
        """See `method.py: Marching`."""
        self._state = state
        if settings is not self._settings:
            self._ask(settings)
        if self._flies_alone(loads):
            open_step(self.model, state, page)
            self._fly(state, loads, settings.h)
            return 1, close_step(self.model, state, self.found, page)
        order, stage, self._described = self._space.order, BEGIN, True
        order[MADE] = order[SPOILT] = 0
        while (stage := march(self.model, state, loads, settings.h, self._work, page, most, until, stage)) != DONE:
            help_out, stage = self._HELP[stage]
            help_out(self, state, loads, settings)
        self._find_events(state)
        return int(order[MADE]), not order[SPOILT]

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The contact problem that a step from this state would solve, in impulses."""
        self._info, _ = self.info, self.contacts
        state = copy_state(state)
        wake(self.model, state, limits=self._space.limits)
        self._ask(settings)
        self._space.order[OTHER_SOLVER], self._settings = 1, None
        self._go(state, loads, settings, KNOW, SOLVE)
        return to_dense(self._space.system)

    @property
    def contacts(self) -> Contacts:
        """Of the last step; the geometry is that of the middle of the step. Those of bodies that sleep are as they were
        when these fell asleep."""
        awake, state, settings = self._awake(), self._state, self._settings
        if state is None or settings is None or state.sleep.contacts.count[0] == 0:
            return awake
        return with_sleepers(self.model, state, awake, settings.h)

    def _awake(self) -> Contacts:
        """The contacts of bodies that are awake."""
        if not self._described:
            self._described, work = True, self._work
            describe(work.system, work.middle.x, work.approach, self.found)
        return self.found

    @property
    def info(self) -> StepInfo:
        """How the last step went; found when somebody asks."""
        if self._info is None:
            self._info = self._how_it_went()
        return self._info

    def _ask(self, settings: Settings) -> None:
        """What is asked of the steps to come."""
        order, integrator = self._space.order, OFFERED[settings.integrator]
        self._settings, self._integrator = settings, integrator
        order[ITERATIONS], order[CURE] = settings.iterations, ROW_OF[settings.joint_cure]
        self._space.still[0], order[NUMBER] = settings.sleep, settings_number(settings)
        order[OTHER_SOLVER] = settings.solver != Newton.name
        order[OTHER_FLIGHT] = integrator.adaptive or integrator.implicit

    def _flies_alone(self, loads: Loads) -> bool:
        """Whether nothing acts but what the integrator knows."""
        return self._alone and loads.grab_body[0] < 0 and (self._integrator.implicit or not self._sprung)

    def _go(self, state: State, loads: Loads, settings: Settings, stage: int, last: int) -> None:
        """From a stage to the last one, with the help that is needed between them."""
        h = settings.h
        while (stage := advance(self.model, state, loads, h, self._work, stage)) != last:
            help_out, stage = self._HELP[stage]
            help_out(self, state, loads, settings)

    @property
    def _work(self) -> Work:
        return self._space.work(self._integrator)

    # -------------------------------------------------------------------------------- where Python helps or decides
    def _make_room(self, state: State, loads: Loads, settings: Settings) -> None:
        """Room for contacts."""
        self._space.make_room(state.memory)

    def _make_blocks(self, state: State, loads: Loads, settings: Settings) -> None:
        """Room for blocks of rows; all rows are made again."""
        self._space.make_blocks()

    def _find_impacts(self, state: State, loads: Loads, settings: Settings) -> None:
        """How far bodies can go that would pass through others."""
        work = self._work
        memory = work.first if work.order[FIRST] else state.memory
        work.fraction[:] = self._space.detector.time_of_impact(state.bodies, memory, 0.5 * settings.h)

    def _find_meetings(self, state: State, loads: Loads, settings: Settings) -> None:
        """How far bodies can go on from the middle before their meshes meet others. What a mesh touches at its way's
        end is found by corners, and nobody has looked beyond the middle."""
        work = self._work
        memory = work.first if work.order[FIRST] else state.memory
        reached = self._space.detector.time_of_impact(self._departing(), memory, 0.5 * settings.h, meshes=True)
        work.stopped[:] = reached < work.fraction
        np.minimum(work.fraction, reached, out=work.fraction)
        if work.has[BOUND]:
            go_together(work.mechanisms, work.fraction)

    def _departing(self) -> Bodies:
        """The bodies in the middle of the step, with the velocities that they have for the time being."""
        free, middle = self._space.motion.bodies, self._work.middle
        if self._there is None or self._there.x is not middle.x:
            self._there = middle._replace(v=np.zeros_like(middle.v), w=np.zeros_like(middle.w))
        self._there.v[:], self._there.w[:] = free[:, LINEAR : LINEAR + 3], free[:, ANGULAR : ANGULAR + 3]
        return self._there

    def _leave_out_missed(self, state: State, loads: Loads, settings: Settings) -> None:
        """Leave out the contacts ahead of fast bodies that nothing holds, where the shapes pass each other within the
        step to the next middle; not those of a body that another contact may turn aside."""
        work, detector, there = self._work, self._space.detector, self._departing()
        contacts, fast = detector.contacts, detector.paths.fast
        _, touch = scales_of(float(work.gravity[0]), settings.h)
        find_fast(there, settings.h, detector.paths)
        held, ahead = np.zeros(len(fast), np.int32), np.zeros(int(contacts.count[0]), bool)
        if look_ahead(contacts, work.mechanisms.bound, fast, loads.grab_body, touch, held, ahead) > 0:
            missed = detector.missed(there, settings.h, ahead)
            keep_of_held(contacts, fast, held, missed)
            leave_out_contacts(missed, contacts)

    def _solve(self, state: State, loads: Loads, settings: Settings) -> None:
        """Solve once, by another solver that visits bodies or by one that needs M written out."""
        system, sweeps = self._space.system, int(self._space.order[SWEEPS])
        visiting = VISITING.get(settings.solver)
        if visiting is not None:
            self._solved = visiting.solve_bodies(system, sweeps, TOLERANCE)
        else:
            solver = SOLVERS[settings.solver]
            self._solved = solve_written_out(solver, system, sweeps if solver.iterative else 0, TOLERANCE)

    def _wake(self, state: State, loads: Loads, settings: Settings) -> None:
        """Wake the islands that something stirs."""
        wake_islands(self.model, state, self._space.islands, settings.h, self._space.limits)

    def _rest(self, state: State, loads: Loads, settings: Settings) -> None:
        """Let islands fall asleep."""
        space = self._space
        fall_asleep(self.model, state, space.detector.contacts, space.islands, settings, space.limits)
        space.order[ASLEEP] = np.count_nonzero(state.sleep.island >= 0)

    def _fly_otherwise(self, state: State, loads: Loads, settings: Settings) -> None:
        """Fly by an integrator of many steps or of one that has to be solved for."""
        work, joints = self._work, state.joints
        integrate(self._integrator, self.model, loads, float(state.t[0]), settings.h, state.bodies, work.flight.bodies,
                  self._space.dense, (joints, work.trees.flown))

    #: what to do where `advance` comes back, and from which stage it then goes on
    _HELP: ClassVar[dict[int, tuple[Callable[["TimeStepping", State, Loads, Settings], None], int]]] = {
        KNOW: (_make_room, KNOW), IMPACTS: (_find_impacts, MIDDLE), CONTACTS: (_make_room, CONTACTS),
        FOUND: (_make_room, FOUND), AHEAD: (_leave_out_missed, ROWS), ROWS: (_make_blocks, ROWS),
        SOLVE: (_solve, SOLVED), MEET: (_find_meetings, GO), FLY: (_fly_otherwise, END), WAKE: (_wake, CONTACTS),
        REST: (_rest, DONE)}

    def _fly(self, state: State, loads: Loads, h: float) -> None:
        """A step of bodies and trees that nothing can touch: all of it is the integrator's."""
        books, t, work = self._space.books, float(state.t[0]), self._work
        books.begin(state.bodies)
        integrate(self._integrator, self.model, loads, t, h, state.bodies, state.bodies, self._space.dense,
                  (state.joints, state.joints), (books, state.ledger))
        books.end(state.bodies, state.ledger)
        if len(work.books.floating):
            settle(self.model, state, work)
        state.t[0] = t + h
        loads.grab_force.fill(0.0)
        self.events, self._info, self._described = [], FLOWN, True

    # ------------------------------------------------------------------------------------------------------ report
    def _find_events(self, state: State) -> None:
        """The contacts and events of the step."""
        space, told = self._space, self._space.told
        self.found, self.events, self._info, self._described = space.detector.contacts, [], None, False
        if not told[EVENTS] and not space.has[STATIC]:
            return
        before, after = float(told[BEFORE]), total_energy(self.model, state.bodies, *state.joints)
        t = float(state.t[0])
        if told[EVENTS]:
            self.events = space.finder.events(
                int(told[EVENTS]), self.found, state.bodies, lambda *_: t, before, after)
        if space.has[STATIC]:
            count, static = int(self.found.count[0]), space.static
            self.events += slip_events(
                self._awake(), static.before[:count], static.mode[:count], np.full((count, 2), t), before, after)

    def _how_it_went(self) -> StepInfo:
        """What is known of the step as long as no other one is made."""
        space, settings = self._space, self._settings
        assert settings is not None
        told, (residual, size) = space.told.tolist(), system_residual(space.system)
        if not space.order[OTHER_SOLVER]:
            self._solved = SolveInfo(status_of(space.told[SOLVER:], TOLERANCE), int(told[SOLVER + STEPS]), 0.0)
        solved, contacts = self._solved, self.contacts
        return StepInfo(
            residual, solved.iterations, _verdict(solved.status, residual, size), int(contacts.count[0]),
            int(space.detector.seen_pairs[0]), penetration(contacts),
            joint_error=told[APART], joint_unit="m" if told[LENGTH] or not self._jointed else "rad",
            motors=self._motor_states(settings.h),
            asleep=int(space.order[ASLEEP]))

    def _motor_states(self, h: float) -> tuple[MotorState, ...]:
        """What motors that seek a speed did."""
        space, motion = self._space, self._space.motion
        done = driven_motors(space.mechanisms.reactions, self._work.joints, motion.bodies, h) if self._jointed else ()
        if not space.has[BOUNDED]:
            return tuple(done)
        return (*done, *motor_rows(space.system.blocks, self._work.bounds.motors, self.model.joints.motor_speed,
                                   motion.q_dot, h))


def _verdict(status: str, residual: float, size: float) -> str:
    """What to say of a step's impulses: whether they are "solved" or sweeps ended too early, "iterations", the residual
    tells and not the solver. What else a solver found out is kept. size: as `system_residual` says, [m/s]."""
    if status not in ("solved", "iterations"):
        return status
    return "solved" if residual <= SOLVED_UP_TO * size + TOLERANCE else "iterations"


def _nothing_can_touch(model: Model) -> bool:
    """No shapes, and joints without limits and motors that keep a speed, all in generalized coordinates."""
    joints = model.joints
    return (len(model.shapes.body) == 0 and bool(joints.generalized.all()) and bool(np.isinf(joints.lower).all())
            and bool(np.isinf(joints.upper).all()) and bool(np.isnan(joints.motor_speed).all()))
