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

Free bodies, trees and joints in maximal coordinates are the parts of a step (`parts`); each stage asks all of them.
Where there are free bodies alone, all stages run in one call, `whole: step_free_bodies`.
"""

import math
from typing import ClassVar

import numpy as np

from ...books.diagnostics import total_energy
from ...books.events import UNKNOWN, EventFinder, slip_events
from ...collision import Detector
from ...core.model import Array, BodyKind, Model, body_count, movable
from ...core.report import Event, MotorState, Settings, StepInfo
from ...core.state import ContactMemory, Contacts, Owner, State, empty_contacts, empty_memory, grow_memory
from ...dynamics.constraints.cure import JointKeeper
from ...dynamics.forces import Loads
from ...integrators import Dense, Integrator, integrate, offered
from ...problem.assemble import assemble, match, to_dense, warm_start
from ...problem.grab_row import hold
from ...problem.joint_rows import joint_rows, motor_rows
from ...problem.problem import ContactProblem, SolveInfo
from ...problem.residual import system_residual
from ...problem.system import SHORT
from ...solvers import SOLVERS, BodiesSolver
from ...solvers.matrix_form import solve_written_out
from ...solvers.newton import STEPS, Newton, status_of
from .bodies import FreeBodies
from .books import StepBooks
from .joints import JointPart
from .parts import MoreauStep, Part, go_together
from .stages import (
    COLD_START,
    SLOP,
    find_involved,
    reach,
    remember,
    remember_start,
    report,
    report_grab,
    scales_of,
    separate,
)
from .static_friction import MODE, TURNS, StaticFriction
from .trees import TreePart
from .whole import DONE, TOLD, Whole, step_free_bodies

TOLERANCE = 1e-13   # a sweep that changes no velocity by more than this ends the iteration [m/s]
SOLVED = 1e-10      # residual up to which a step's problem counts as solved, relative to the velocities it is made of
OFFERED = offered("time_stepping")
FLOWN = StepInfo()  # how a step without anything to solve went
#: solvers that visit bodies, found once: to ask whether an object follows a protocol is slow
VISITING = {name: solver for name, solver in SOLVERS.items() if isinstance(solver, BodiesSolver)}


class TimeStepping:
    """METHODS["time_stepping"]. Holds scratch memory only; all that matters later is in the State."""

    title: ClassVar[str] = "Time stepping (Moreau–Jean)"
    uses: ClassVar[frozenset[str]] = frozenset({"solver", "iterations", "joint_cure"})

    def __init__(self, model: Model) -> None:
        self.model = model
        self.detector = Detector(model)
        self.contacts: Contacts = empty_contacts(0)  #: of the last step; geometry is that of the middle of the step
        self.info = StepInfo()
        self.events: list[Event] = []
        self._step = MoreauStep(model)
        self._keeper = JointKeeper(model)
        self._trees = TreePart(model, self._step.mechanisms.trees) if len(model.trees.body) else None
        self._joints = JointPart(model, self._step, self._trees) if self._keeper.any else None
        self._parts: list[Part] = [FreeBodies(model), *filter(None, (self._trees, self._joints))]
        self._books = StepBooks(model, self._joints)
        self._finder, self._static = EventFinder(model), StaticFriction(model)
        self._dense = Dense(model)
        self._moving = int(np.count_nonzero(movable(model.kind)))
        self._radius, self._margin = _radii(model), np.zeros(body_count(model))
        self._gravity = math.sqrt(float(model.gravity @ model.gravity))  # [m/s2]
        self._still = np.zeros(0, np.int32)  # no trees: none of them is stiff
        self._fired = np.zeros(0, np.int32)
        self._start, self._first = empty_memory(), True  # contacts at the beginning of the first step
        self._alone = _nothing_can_touch(model)
        self._sprung = bool(model.joints.damping.any() or model.joints.stiffness.any())
        self._free = not (self._trees or self._joints or self._step.bounded or self._static.any)
        self._whole: Whole | None = None
        self._at_once = False  # whether the last step was made in one call
        self._told = np.zeros(TOLD + 3)

    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]."""
        step, integrator = self._begin(state, loads, settings), OFFERED[settings.integrator]
        if self._alone and loads.grab_body[0] < 0 and (integrator.implicit or not self._sprung):
            self._fly(step, integrator)
            return
        self._at_once = self._free and self._step_at_once(step, settings, integrator)
        if not self._at_once:
            self._step_by_stages(step, settings, integrator)

    def _step_at_once(self, step: MoreauStep, settings: Settings, integrator: Integrator) -> bool:
        """Make the whole step of free bodies in one call, unless there is something to decide within it: the first
        step, other solvers than Newton's, a flight in substeps, and what `step_free_bodies` leaves to Python."""
        state, told = step.state, self._told
        if (settings.solver != Newton.name or integrator.adaptive or integrator.implicit
                or int(state.memory.owner[0]) != Owner.TIME_STEPPING):
            return False
        whole = self._whole_of(step, integrator)
        if step_free_bodies(self.model, state, step.loads, step.h, settings.iterations, TOLERANCE, whole) != DONE:
            return False
        before, after, residual, size, deepest, found = told[:TOLD].tolist()
        contacts = self.contacts = self.detector.contacts
        self.events = self._finder.events(int(found), contacts, state.bodies, lambda *_: float(state.t[0]), before,
                                          after) if found else []
        status = _verdict(status_of(told[TOLD:], TOLERANCE), residual, size)
        self.info = StepInfo(residual, int(told[TOLD + STEPS]), status, int(contacts.count[0]),
                             int(self.detector.seen_pairs[0]), deepest)
        return True

    def _whole_of(self, step: MoreauStep, integrator: Integrator) -> Whole:
        """What a step in one call works on, made anew where an array of it has been replaced."""
        old, detection = self._whole, self.detector.detection
        if (old is not None and old.detection is detection and old.system is step.system
                and old.tableau is integrator.tableau):
            return old
        model, books, dense = self.model, self._books, self._dense
        dense.begin(integrator, 0.0, step.h)
        flight = dense.segment(0)
        self._whole = Whole(
            np.array([self._gravity]), np.array([int((model.kind == BodyKind.KINEMATIC).any())], np.int32),
            np.array([int(len(model.springs.body_a) > 0)], np.int32), np.array([self._moving], np.int32),
            self._radius, self._margin, self.detector.paths, detection, step.middle,
            step.flight, step.fraction, step.force, step.torque, step.start, step.before, step.shift, step.involved,
            step.mechanisms, self._still, step.system, step.approach, step.need, step.need_rows, self._fired,
            integrator.tableau, flight.y0, flight.k, dense.flight, books.at, books.over, books.books.given,
            self._finder.changes, self._told)
        return self._whole

    def _step_by_stages(self, step: MoreauStep, settings: Settings, integrator: Integrator) -> None:
        """Make the step stage by stage."""
        state = step.state
        self._books.begin(state)
        if self._joints is not None:
            self._keeper.begin(state.bodies, state.joints, settings.joint_cure)
        self._approach(step)
        solved = self._solve(step, settings)
        residual, size = map(float, system_residual(step.system))
        self._depart(step, integrator)
        deepest = self._report(step)
        self._books.end(step, self.contacts, self._fired)
        apart, unit = self._keeper.error(state.bodies)
        self.info = StepInfo(
            residual, solved.iterations, _verdict(solved.status, residual, size), int(self.contacts.count[0]),
            self.detector.pair_count, deepest, joint_error=apart, joint_unit=unit, motors=self._motor_states(step))

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The contact problem that a step from this state would solve, in impulses."""
        step = self._begin(state, loads, settings)
        self._approach(step)
        return to_dense(step.system)

    def _begin(self, state: State, loads: Loads, settings: Settings) -> MoreauStep:
        """The step that is about to be made."""
        step = self._step
        step.state, step.loads, step.h, step.cure = state, loads, settings.h, settings.joint_cure
        return step

    # ---------------------------------------------------------------------------------------------------- approach
    def _approach(self, step: MoreauStep) -> None:
        """Go to the middle of the step and set up the problem there."""
        bodies, middle = step.state.bodies, step.middle
        touch = self._scales(step.h)[1]
        reach(self.model.kind, bodies, self._radius, 2.0 * touch, step.h, self._margin)
        if step.bounded or self._trees is not None:
            step.note_start()
        memory = self._known(step)
        step.fraction[:] = self.detector.time_of_impact(bodies, memory, 0.5 * step.h)
        if step.passes_on:
            go_together(step.mechanisms, step.fraction)
        for part in self._parts:
            part.half(step)
        self.contacts = self.detector.detect(middle, self._margin)
        self._books.note(middle)
        for part in self._parts:
            part.load(step)
        for part in self._parts:
            part.free(step)
        self._make_rows(step, memory)

    def _known(self, step: MoreauStep) -> ContactMemory:
        """The contacts of the last step; before the first one, those at its beginning."""
        memory, bodies = step.state.memory, step.state.bodies
        self._first = int(memory.owner[0]) != Owner.TIME_STEPPING
        if self._first:
            contacts = self.detector.detect(bodies, self._margin)
            grow_memory(self._start, int(contacts.count[0]))
            remember_start(self.model, bodies, contacts, self._start)
            memory = self._start
        return memory

    def _make_rows(self, step: MoreauStep, memory: ContactMemory) -> None:
        """The rows of all that may act in this step: the mouse, limits and motors, contacts."""
        model, middle, h = self.model, step.middle, step.h
        count = int(self.contacts.count[0])
        if count > len(self._fired):
            step.make_room(count + count // 2)
            self._fired = np.zeros(count + count // 2, np.int32)
        approach = step.approach
        approach.scales[:] = (*self._scales(h), h, 0.5 if self._first else 1.0)
        match(self.contacts, int(memory.count[0]), memory.key, memory.shapes, memory.place, model.kind, middle.x,
              approach.previous)
        while True:
            system, mechanisms = step.system, step.mechanisms
            hold(model, mechanisms, middle, step.loads, h, system)
            if step.bounded:
                joint_rows(model, step.bounds, step.state.bodies, step.state.joints.q, step.start, middle, step.before,
                           h, mechanisms, system)
            assemble(model, mechanisms, middle, self.contacts, step.before, memory, approach, system)
            if not system.blocks.count[SHORT]:
                break
            step.make_blocks()
        if self._static.any:
            self._static.begin(step, self.contacts, approach.previous)

    def _scales(self, h: float) -> tuple[float, float]:
        """Speed and gap that count as rest and touch [m/s], [m]."""
        return scales_of(self._gravity, h)

    # ------------------------------------------------------------------------------------------------------- solve
    def _solve(self, step: MoreauStep, settings: Settings) -> SolveInfo:
        """Impulses of all rows, begun from those of the last step."""
        known = 0 if self._first else warm_start(step.state.memory, step.approach.previous, step.system)
        cold = 2 * known < step.system.count[0]
        return self._solve_cones(step, settings, settings.iterations * (COLD_START if cold else 1))

    def _solve_cones(self, step: MoreauStep, settings: Settings, iterations: int) -> SolveInfo:
        """Solve, and solve anew with other cones where the impulses deny a contact's mode, see `StaticFriction`."""
        solved = self._solve_once(step, settings, iterations)
        if self._static.any and self._static.denied(step, self.contacts):
            solved = self._solve_once(step, settings, COLD_START * iterations)  # sweeps may show slip that is none
            for _ in range(TURNS):
                if not self._static.revise(step, self.contacts):
                    break
                solved = self._solve_once(step, settings, iterations)
        return solved

    def _solve_once(self, step: MoreauStep, settings: Settings, iterations: int) -> SolveInfo:
        """Solve once, by a solver that visits bodies or by one that needs M written out."""
        visiting = VISITING.get(settings.solver)
        if visiting is not None:
            return visiting.solve_bodies(step.system, iterations, TOLERANCE)
        solver = SOLVERS[settings.solver]
        return solve_written_out(solver, step.system, iterations if solver.iterative else 0, TOLERANCE)

    # ------------------------------------------------------------------------------------------------------ depart
    def _depart(self, step: MoreauStep, integrator: Integrator) -> None:
        """From the middle of the step to its end, with the solved impulses."""
        model, state, h = self.model, step.state, step.h
        for part in self._parts:
            part.finish(step)
        separate(self.contacts.gap, step.approach.half_turn, step.system, SLOP * self._scales(h)[1], h, step.need,
                 step.need_rows, step.shift)
        stiff = self._still if self._trees is None else self._trees.work.stiff
        if find_involved(model, step.mechanisms, stiff, step.system, step.need, step.need_rows,
                         step.involved) < self._moving:
            joints = state.joints if self._trees is None else self._trees.work.flown
            integrate(integrator, model, step.loads, float(state.t[0]), h, state.bodies, step.flight, self._dense,
                      (state.joints, joints))
        for part in self._parts:
            part.end(step)
        if step.cure == "projection":
            self._keeper.mend(state.bodies, state.joints, step.cure)
        state.t[0] += h

    def _fly(self, step: MoreauStep, integrator: Integrator) -> None:
        """A step of bodies and trees that nothing can touch: all of it is the integrator's."""
        state, books = step.state, self._books.books
        t = float(state.t[0])
        books.begin(state.bodies)
        integrate(integrator, self.model, step.loads, t, step.h, state.bodies, state.bodies, self._dense,
                  (state.joints, state.joints), (books, state.ledger))
        books.end(state.bodies, state.ledger)
        if self._books.floats:
            self._books.settle(step)
        state.t[0] = t + step.h
        step.loads.grab_force.fill(0.0)
        self.events, self.info = [], FLOWN

    # ------------------------------------------------------------------------------------------------------ report
    def _report(self, step: MoreauStep) -> float:
        """Contacts, events, memory and mouse spring of the step; returns the deepest overlap [m]."""
        contacts, state, approach = self.contacts, step.state, step.approach
        grow_memory(state.memory, int(contacts.count[0]))
        deepest = report(contacts, step.system, step.middle.x, approach, self._fired, state.memory)
        energy_after = total_energy(self.model, state.bodies, *state.joints)
        self.events = self._finder.find(
            contacts, state.memory, (approach.zeta, approach.zeta), float(approach.scales[0]), state.bodies,
            lambda *_: float(state.t[0]), self._books.energy_before, energy_after)
        self._remember(state.memory)
        if self._static.any:
            self._static.remember(step, self.contacts)
            self.events += slip_events(contacts, *self._static.slips(contacts, float(state.t[0])),
                                       self._books.energy_before, energy_after)
        report_grab(step.system, step.h, step.loads)
        return float(deepest)

    def _remember(self, memory: ContactMemory) -> None:
        memory.owner[0] = Owner.TIME_STEPPING
        memory.own[: self.contacts.count[0], MODE] = UNKNOWN
        remember(self.contacts, self._fired, self.model.kind, self._step.middle.x, memory)

    def _motor_states(self, step: MoreauStep) -> tuple[MotorState, ...]:
        """What motors that seek a speed did."""
        done = [] if self._joints is None else self._joints.motors(step.motion.bodies, step.h)
        rows = (motor_rows(step.system.blocks, self.model.joints.motor_speed, step.motion.q_dot, step.h) if step.bounded
                else ())
        return (*done, *rows)


def _verdict(status: str, residual: float, size: float) -> str:
    """What to say of a step's impulses: whether they are "solved" or sweeps ended too early, "iterations", the residual
    tells and not the solver. What else a solver found out is kept. size: as `system_residual` says, [m/s]."""
    if status not in ("solved", "iterations"):
        return status
    return "solved" if residual <= SOLVED * size + TOLERANCE else "iterations"


def _nothing_can_touch(model: Model) -> bool:
    """No shapes, and joints without limits and motors that keep a speed, all in generalized coordinates."""
    joints = model.joints
    return (len(model.shapes.body) == 0 and bool(joints.generalized.all()) and bool(np.isinf(joints.lower).all())
            and bool(np.isinf(joints.upper).all()) and bool(np.isnan(joints.motor_speed).all()))


def _radii(model: Model) -> Array:
    """Radius about the centre of mass that holds all shapes of each body (n,) [m]; planes left out."""
    shapes = model.shapes
    radius = np.zeros(body_count(model))
    reach_of = np.linalg.norm(shapes.position, axis=1) + np.where(np.isfinite(shapes.bound), shapes.bound, 0.0)
    np.maximum.at(radius, shapes.body, reach_of)
    return radius
