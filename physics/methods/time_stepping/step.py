"""`time_stepping`: the Moreau–Jean scheme, velocities and impulses in place of accelerations and forces.

    q_m = q ⊕ u h/2                                     half a step with the velocity so far
    contacts at q_m
    u⁺  = u + M⁻¹ (h f + Jᵀ p),   contact laws for u⁺, p   (Signorini, Newton's restitution, Coulomb's cone: `laws`)
    q⁺  = q_m ⊕ u⁺ h/2                                  half a step with the new velocity   [Moreau 1999; Jean 1999]

Free flight under gravity is the exact parabola. A bounce with e = 1 gives u⁺ = -u and q⁺ = q: it keeps the energy
exactly. Rotation follows the angular momentum L, which nothing but a torque changes. Trees do the same in the
coordinates of their joints, u = v, M = H. Bodies that nothing can touch in this step are advanced by the chosen
integrator instead; where nothing can touch in any step, that is all.
"""

import math
from typing import ClassVar

import numpy as np

from ...books.diagnostics import total_energy
from ...books.events import EventFinder
from ...books.ledger import TAKERS, Account, jointed
from ...collision import Detector
from ...core.model import Array, BodyKind, Model, body_count, movable
from ...core.report import Event, MotorState, Settings, StepInfo
from ...core.state import ContactMemory, Contacts, Owner, State, empty_contacts, empty_state, grow_memory
from ...dynamics.constraints.cure import JointKeeper
from ...dynamics.forces import Loads, applied_forces
from ...dynamics.motion import drive
from ...dynamics.trees.kinematics import place_links
from ...dynamics.trees.momentum import balance, calm, free_trees
from ...dynamics.trees.rates import empty_joints, empty_tree_scratch
from ...integrators import Dense, Integrator, integrate, offered
from ...problem.assemble import assemble, free_motion, hold, match, momenta, to_dense, warm_start
from ...problem.problem import (
    ANGULAR,
    BODY_SIZE,
    HIGH,
    JOINT_IMPULSE,
    ContactProblem,
    SolveInfo,
    empty_system,
    empty_tree_rows,
)
from ...problem.residual import system_residual
from ...problem.tree_rows import (
    assign_slots,
    drift_links,
    fill_grab,
    fill_slots,
    finish_links,
    free_links,
    involve_trees,
    joint_rows,
    tree_fraction,
    turn_path,
    write_velocities,
)
from ...solvers import SOLVERS, BodiesSolver
from ...solvers.matrix_form import solve_written_out
from .books import StepBooks
from .joints import NEARLY, JointStage
from .joints_dense import HeldStage
from .stages import find_involved, half_drift, reach, remember, report, second_drift, separate, take_free

TOLERANCE = 1e-13   # a sweep that changes no velocity by more than this ends the iteration [m/s]
SMALLEST = 1e-6     # m and m/s: lengths and speeds that count as zero even without gravity
COLD_START = 20     # times the set iterations where most contacts are new: a first guess of 0 tilts stacks for good
SLOP = 0.25         # overlap left alone, as a part of the gap that counts as touching
SHARE = 0.3         # part of an overlap that one step takes out
FASTEST = 2.0       # largest speed at which overlap is taken out [m/s]
SEPARATE_SWEEPS = 10
TURNS = 2           # times that contacts of trees are solved anew at most, as their impulses turn the trees' paths
GIVES = np.array([float(a < Account.START and a not in TAKERS) for a in Account])
OFFERED = offered("time_stepping")
FLOWN = StepInfo()  # how a step without anything to solve went
SLIGHT = 0.01       # of the speed that counts as rest: changes of velocity for which that is not done


class TimeStepping:
    """METHODS["time_stepping"]. Holds scratch memory only; all that matters later is in the State."""

    title: ClassVar[str] = "Time stepping (Moreau–Jean)"
    uses: ClassVar[frozenset[str]] = frozenset({"solver", "iterations", "joint_cure"})

    def __init__(self, model: Model) -> None:
        n = body_count(model)
        self.model = model
        self.detector = Detector(model)
        self.contacts: Contacts = empty_contacts(0)  #: of the last step; geometry is that of the middle of the step
        self.info = StepInfo()
        self.events: list[Event] = []
        self._finder = EventFinder(model.shapes.body)
        self._moving = int(np.count_nonzero(movable(model.kind)))
        self._links = len(model.trees.body) > 0
        self._driven = bool((model.kind == BodyKind.KINEMATIC).any())
        self._radius = _radii(model)
        self._middle, self._flight = empty_state(n).bodies, empty_state(n).bodies
        self._dense = Dense(model)
        self._stages: dict[type[JointStage], JointStage] = {}
        self._joints: JointStage | None = None
        self._keeper = JointKeeper(model)
        self._books = StepBooks(model)
        self._margin, self._fraction = np.zeros(n), np.ones(n)
        self._force, self._torque = np.zeros((n, 3)), np.zeros((n, 3))
        self._before, self._shift = np.zeros((n, 6)), np.zeros((n, BODY_SIZE))
        self._involved = np.zeros(n, np.int32)
        self._trees = empty_tree_scratch(model.trees)
        self._q, self._flown = empty_joints(model.trees).q, empty_joints(model.trees)
        self._added, self._step, self._shift_v, self._free = (np.zeros(len(self._trees.v)) for _ in range(4))
        self._floating = free_trees(model, jointed(model))
        self._floating_trees = np.flatnonzero(self._floating).astype(np.int32)
        self._floats = len(self._floating_trees) > 0
        self._stiff = np.zeros(len(model.trees.start) - 1, np.int32)
        self._alone = _nothing_can_touch(model)
        self._sprung = bool(model.joints.damping.any() or model.joints.stiffness.any())
        self._make_room(64)

    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]."""
        h, integrator = settings.h, OFFERED[settings.integrator]
        if self._alone and loads.grab_body[0] < 0 and (integrator.implicit or not self._sprung):
            self._fly(state, loads, h, integrator)
            return
        energy_before = total_energy(self.model, state.bodies, *state.joints)
        self._books.begin(state)
        given = float(GIVES @ state.ledger[:, 0])
        self._joints = self._choose_stage(settings)
        if self._joints is not None:
            self._keeper.begin(state.bodies, state.joints, settings.joint_cure)
        self._approach(state, loads, h)
        known = warm_start(state.memory, self._previous, self._system)
        cold = 2 * known < self._system.count[0]
        iterations = settings.iterations * (COLD_START if cold else 1)
        solved = self._solve(state, settings, iterations)
        turned = False
        for _ in range(TURNS if self._links else 0):
            if not turn_path(self.model, loads, self._q, state.joints.v, h, self._force, self._torque,
                             SLIGHT * self._scales(h)[0], self._trees, self._free, self._system.trees.v):
                break
            turned, solved = True, self._solve(state, settings, iterations)
        residual = float(system_residual(self._system))
        self._depart(state, loads, settings)
        deepest = self._report(state, loads, h, energy_before)
        self._books.enter(state, loads, self._system, self._before, self._involved, self._middle, self.contacts, h)
        if self._links:
            self._settle_trees(state, energy_before - given, turned)
        self.info = StepInfo(
            residual, solved.iterations, solved.status, int(self.contacts.count[0]), self.detector.pair_count, deepest,
            joint_error=self._keeper.error(state.bodies), motors=self._motor_states(h))

    def _motor_states(self, h: float) -> tuple[MotorState, ...]:
        """What motors that seek a speed did."""
        rows, trees, v = self._system.trees, self.model.trees, self._system.trees.v
        done = [] if self._joints is None else self._joints.motors(self._system.bodies[:, : ANGULAR + 3], h)
        for k in np.flatnonzero(np.isinf(rows.gap[: rows.count[0]])).tolist():
            d, most = int(rows.dof[k, 0]), float(rows.number[k, HIGH])
            j, p = int(trees.joint[trees.dof_link[d]]), float(rows.number[k, JOINT_IMPULSE])
            done.append(MotorState(j, float(v[d]), p / h, abs(p) < most * (1.0 - NEARLY)))
        return tuple(done)

    def _fly(self, state: State, loads: Loads, h: float, integrator: Integrator) -> None:
        """A step of bodies and trees that nothing can touch: all of it is the integrator's."""
        t, books = float(state.t[0]), self._books.books
        books.begin(state.bodies)
        integrate(integrator, self.model, loads, t, h, state.bodies, state.bodies, self._dense, state.joints,
                  state.joints, books, state.ledger)
        books.end(state.bodies, state.ledger)
        if self._floats:
            self._settle_trees(state, 0.0, False)
        state.t[0] = t + h
        loads.grab_force.fill(0.0)
        self.events, self.info = [], FLOWN

    def _settle_trees(self, state: State, energy: float, struck: bool) -> None:
        """Give trees that stand on nothing the momentum that was booked; and where impacts turned paths, take out what
        energy there is beyond `energy` and all that anything but contacts is booked to have given."""
        model, bodies, joints = self.model, state.bodies, state.joints
        if self._floats:
            books = self._books.books
            balance(model, self._floating_trees, books.before, books.given, bodies, joints.v)
            place_links(model, *joints, self._trees.work, bodies)
        if struck:
            excess = total_energy(model, bodies, *joints) - energy - float(GIVES @ state.ledger[:, 0])
            if excess > 0.0:
                calm(model, self._floating, self._involved, float(excess), bodies, joints.v)
                place_links(model, *joints, self._trees.work, bodies)

    def _solve(self, state: State, settings: Settings, iterations: int) -> SolveInfo:
        """Impulses for the system by a solver of either kind, joints together with contacts."""
        solver = SOLVERS[settings.solver]
        if self._joints is not None:
            self._prepare_joints(state, settings)
            return self._joints.solve(solver, self._system, iterations, TOLERANCE)
        if isinstance(solver, BodiesSolver):
            return solver.solve_bodies(self._system, iterations, TOLERANCE)
        return solve_written_out(solver, self._system, iterations if solver.iterative else 0, TOLERANCE)

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The contact problem that a step from this state would solve, in impulses."""
        self._joints = self._choose_stage(settings)
        self._approach(state, loads, settings.h)
        if self._joints is None:
            return to_dense(self._system)
        self._prepare_joints(state, settings)
        return self._joints.problem(self._system)

    def _choose_stage(self, settings: Settings) -> JointStage | None:
        """What moves joints in maximal coordinates, if there are any."""
        if not self._keeper.any:
            return None
        kind = HeldStage if self._links or not isinstance(SOLVERS[settings.solver], BodiesSolver) else JointStage
        return self._stages.setdefault(kind, self._stages.get(kind) or kind(self.model))

    def _prepare_joints(self, state: State, settings: Settings) -> None:
        assert self._joints is not None
        self._joints.prepare(self._middle, self._before, state.joints.v, self._system, self._trees, settings.h,
                             settings.joint_cure)

    def _approach(self, state: State, loads: Loads, h: float) -> None:
        """Go to the middle of the step and set up the problem there."""
        model, bodies, middle = self.model, state.bodies, self._middle
        rest_speed, touch = self._scales(h)
        if self._joints is not None:
            self._joints.begin(bodies)
        reach(model.kind, bodies, self._radius, 2.0 * touch, h, self._margin)
        self._fraction[:] = self.detector.time_of_impact(bodies, 0.5 * h)
        if self._joints is not None:
            self._joints.together(self._fraction)
        half_drift(model.kind, bodies, self._fraction, h, middle)
        if self._driven:
            drive(model, float(state.t[0]) + 0.5 * h, middle)
        if self._links:
            q, v = state.joints
            tree_fraction(model.trees, self._fraction)
            drift_links(model.trees, q, v, self._fraction, 0.5 * h, self._step, self._q)
            place_links(model, self._q, v, self._trees.work, middle)
        self.contacts = self.detector.detect(middle, self._margin)
        count = int(self.contacts.count[0])
        if count > len(self._previous):
            self._make_room(count + count // 2)
        self._books.note(middle)
        applied_forces(model, loads, middle, self._force, self._torque)
        if self._joints is not None:
            self._joints.drive(middle, self._force, self._torque)
        if self._links:
            self._approach_links(state, loads, h)
        free_motion(model.kind, model.inv_mass, model.inv_inertia, middle, self._force, self._torque, h, self._before,
                    self._system.bodies)
        assemble(model.motions.surface_velocity, model.motions.surface_spin, middle.x, middle.q, self.contacts,
                 self._before, rest_speed, touch, h, self._surface, self._zeta_before, self._system)
        hold(middle, loads, model.kind, model.mass, h, self._system.bodies, self._system.trees, self._system.grab)
        old = state.memory
        match(self.contacts, int(old.count[0]), old.key, old.shapes, old.place, model.kind, middle.x, self._previous)

    def _approach_links(self, state: State, loads: Loads, h: float) -> None:
        """What the trees do by themselves, and how they answer contacts, the mouse, limits and motors."""
        model, trees, contacts, v = self.model, self._trees, self.contacts, state.joints.v
        rows = self._system.trees
        free_links(model, loads, self._q, v, h, self._force, self._torque, trees, self._added, rows.v, self._stiff)
        self._free[:] = rows.v
        slots = assign_slots(model.kind, model.trees, contacts, rows.linked, rows.slot)
        if slots > len(rows.span):
            wider = empty_tree_rows(0, 2 * slots, model.trees)
            rows = rows._replace(span=wider.span, J=wider.J, Y=wider.Y)
            self._system = self._system._replace(trees=rows)
        fill_slots(model, contacts, trees.work, trees.none, trees.rates, rows)
        held = int(loads.grab_body[0])
        if held >= 0 and model.kind[held] == BodyKind.LINK:
            fill_grab(model, loads, self._middle, trees.work, trees.none, trees.rates, rows)
        joint_rows(model, self._q, rows.v, v, h, trees.work, trees.rates, rows)

    def _depart(self, state: State, loads: Loads, settings: Settings) -> None:
        """From the middle of the step to its end, with the solved impulses."""
        h, t = settings.h, float(state.t[0])
        model, bodies, middle, system = self.model, state.bodies, self._middle, self._system
        if self._links:
            write_velocities(model, system.trees.v, self._trees.work, system.bodies)
        momenta(system, self._force, self._torque, h, middle.P, middle.L)
        if self._joints is not None:
            self._joints.finish(middle)
            self._joints.book(self._before, system.bodies[:, : ANGULAR + 3], h, state.ledger)
        slop = SLOP * self._scales(h)[1]
        separate(self.contacts.gap, system, slop, h, SHARE, FASTEST * h, SEPARATE_SWEEPS, self._need, self._need_joint,
                 self._shift, self._shift_v)
        involved = find_involved(system, self._involved)
        if self._joints is not None:
            self._involved[self._joints.members] = 1
            involved = int(np.count_nonzero(self._involved[model.kind == BodyKind.DYNAMIC]))
        if self._links:
            involved += involve_trees(model.trees, self._stiff, system.trees, system.grab, self._involved)
        if involved < self._moving:
            integrate(OFFERED[settings.integrator], model, loads, t, h, bodies, self._flight, self._dense, state.joints,
                      self._flown)
            take_free(model.kind, self._flight, self._involved, bodies)
        second_drift(model.kind, model.inv_mass, model.inv_inertia, middle, self._shift, self._fraction, self._involved,
                     h, bodies)
        if self._driven:
            drive(model, t + h, bodies)
        if self._links:
            finish_links(model.trees, self._involved, self._fraction, self._q, system.trees.v, self._shift_v, h,
                         *self._flown, self._step, *state.joints)
            place_links(model, *state.joints, self._trees.work, bodies)
        if settings.joint_cure == "projection":
            self._keeper.mend(bodies, state.joints, settings.joint_cure)
        state.t[0] = t + h

    def _report(self, state: State, loads: Loads, h: float, energy_before: float) -> float:
        """Contacts, events, memory and mouse spring of the step; returns the deepest overlap [m]."""
        rest_speed, touch = self._scales(h)
        contacts, memory, bodies = self.contacts, state.memory, state.bodies
        deepest = report(
            contacts, self._system, self._middle.x, self._surface, self._zeta_before, rest_speed, touch, h, self._fired)
        energy_after = total_energy(self.model, bodies, *state.joints)
        self.events = self._finder.find(
            contacts, memory, self._zeta_before, rest_speed, bodies.x, float(state.t[0]), energy_before, energy_after)
        self._remember(memory)
        self._report_grab(loads, h)
        return float(deepest)

    def _scales(self, h: float) -> tuple[float, float]:
        """Speed and gap that count as rest and touch [m/s], [m]: the speed that gravity gives a free body in two steps,
        and twice the way it falls in one. Without gravity SMALLEST."""
        g = math.sqrt(float(self.model.gravity @ self.model.gravity))
        return 2.0 * g * h + SMALLEST, g * h * h + SMALLEST

    def _make_room(self, contacts: int) -> None:
        self._system = empty_system(body_count(self.model), contacts, self.model.trees)
        self._need_joint = np.zeros((len(self._system.trees.gap), 2))
        self._surface, self._need = np.zeros((contacts, 3)), np.zeros((contacts, 2))
        self._zeta_before = np.zeros(contacts)
        self._previous, self._fired = np.zeros(contacts, np.int32), np.zeros(contacts, np.int32)

    def _remember(self, memory: ContactMemory) -> None:
        count = int(self.contacts.count[0])
        grow_memory(memory, count)
        memory.owner[0] = Owner.TIME_STEPPING
        remember(self.contacts, self._fired, self.model.kind, self._middle.x, memory)

    def _report_grab(self, loads: Loads, h: float) -> None:
        grab = self._system.grab
        loads.grab_force[:] = grab.impulse / h if grab.body[0] >= 0 else 0.0
        if grab.body[0] >= 0 and grab.turn[0] == 1:  # the force at the held point that makes this torque
            arm = grab.arm
            loads.grab_force[:] = np.cross(loads.grab_force, arm) / max(float(arm @ arm), SMALLEST)


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
