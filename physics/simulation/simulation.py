"""Simulation: one model, one state, one method. Scripts use it; in the app the physics thread owns it."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..books import ledger
from ..core.copy_in_place import copy_into
from ..core.interruption import Interrupted, LeftBehind, apart, look_up
from ..core.limits import EVENTS
from ..core.model import BodyKind, Model, movable
from ..core.report import Event, Settings, StepInfo
from ..core.rotations import quaternion_products, rotated
from ..core.settings import STEPWISE
from ..core.state import Contacts, State, copy_state, empty_contacts
from ..core.tuple_abi import forget_packed
from ..dynamics.forces import Loads, empty_loads
from ..laws.own_failures import failures
from ..methods import METHODS, Marching, Method
from ..methods.choices import check_settings, vector_of
from ..methods.sleep import forget
from ..problem.problem import ContactProblem
from ..scene.build import Setup
from ..scene.scene import Scene, setup_of
from ..solvers import refusal
from .commands import Grab, MoveGrab, Place, PushJoint, Release, Reset, Set, SimulationCommand
from .failure import CannotStep, reason, script_reason
from .force_law import add_forces
from .history import History, Inputs, hash_of_state
from .making_method import make_method, with_notes
from .overrides import overridden
from .reading import Reading
from .standing import Saved, Standing, all_zero, copy_loads
from .tables import USUAL, Trace, tracing

Result = TypeVar("Result")
AT_ONCE = 64       # steps at most in one call of `Simulation.run`
BODY_STEPS = 4000  # and at most so many for all bodies: hundredths of a second, after which a run can be interrupted


class Simulation(Reading):
    """Runs a scene. Bodies are named as in the scene or numbered as in `labels.bodies`; vectors are in the world frame.
    Keyword arguments override the scene's own settings; `set` changes them later, as the sliders do.

    To run: `step`, `run`, `reset`, `set`; `save` and `restore`; `record_history` and `seek`; `problem`.
    To act: `apply_force`, `apply_torque`, `grab`, `controller`, `force_law`, and what `body` and `joint` return.
    To read: `time`, `body`, `bodies`, `joint`, `joints`, `contact_list`, `contacts`, `events`, `energy`, `momentum`,
    `table`, `to_dataframe`, `trace`. The other methods serve the window.

    controller: is called with the simulation before every new step, say to put forces on it; these are recorded, so
        that steps that are made again need no controller.
    force_law: f(t, x, q, v, w, force, torque), called likewise with a row a body: t [s], centres of mass x (n, 3) [m],
        quaternions q (n, 4) of the principal axes, v (n, 3) [m/s], ω (n, 3) [rad/s]; adds to force (n, 3) [N] at the
        centres and to torque (n, 3) [N m] about them.
    """

    def __init__(
        self, scene: Scene, method: str | None = None, integrator: str | None = None, solver: str | None = None,
        h: float | None = None, iterations: int | None = None,
    ) -> None:
        forget_packed()  # else the packed tuples of earlier simulations would keep their arrays alive
        setup = setup_of(scene)
        self.scene = scene
        self.labels = setup.labels
        self.state = setup.state
        self.settings = setup.settings
        self.step_count = 0
        self._info: StepInfo | None = StepInfo()
        self.history: History | None = None
        self.replaying = False          #: recorded steps are made again as they were, until something is changed
        self.controller: Callable[[Simulation], object] | None = None
        self.force_law: Callable[..., object] | None = None
        self._observers: list[Callable[[Simulation], None]] = []  # called after every new step
        self._events: list[Event] = []  # ordered by step; after seeking back also later ones, until the next step
        self._dropped_events = 0
        self._told = empty_contacts(0)
        self._method = None
        self._marching = False  # whether the method is a Marching one
        self._scene_model, self._scene_notes = setup.model, setup.labels.notes
        self._number = {name: i for i, name in enumerate(self.labels.bodies)}
        self.loads = self._no_loads()
        self._dynamic = np.flatnonzero(setup.model.kind == BodyKind.DYNAMIC)
        wanted = {"method": method, "integrator": integrator, "solver": solver, "h": h, "iterations": iterations}
        self._apply(check_settings(self.settings, {k: v for k, v in wanted.items() if v is not None}))
        ledger.start(self._model, self.state)
        self._spare, self._page = copy_state(self.state), ledger.empty_page()
        self.begin_here()

    # ------------------------------------------------------------------------------------------------ stepping

    def step(self) -> None:
        """Advance by the step h. Forces of `apply_force` act in this step only; a grab stays until `release`. While
        `replaying`, a step that is recorded is made again with its own settings and loads.

        Raises CannotStep where the method does not get on, say where a motion is no longer finite; the state is then
        that before the step.
        """
        self._keep()
        replays = self.replays
        if not (self.controller is None and self.force_law is None) and not replays:
            self._control()
        if self.history is not None and not replays:
            self.history.record(self.step_count, self.state, Inputs(self.settings, self._loads_or_none()))
        try:
            if replays:
                self._step_again()
                return
            self._attempt(self._advance)
        except Exception:
            self.state, self._spare = self._spare, self.state
            if self.history is not None and not replays:
                self.history.forget_from(self.step_count)
            raise
        self._note_events(self.step_count)
        for observer in self._observers:
            observer(self)

    def _keep(self) -> None:
        """Keep the state, for a step that fails."""
        if not copy_into(self.state, self._spare):
            self._spare = copy_state(self.state)

    def _note_events(self, first: int) -> None:
        """Add the events of the last step, in the place of those from step number `first` on, of a branch that is
        replaced."""
        if self._events and self._events[-1].step >= first:
            del self._events[self._events_before(first) :]
        self._events += [event.at_step(self.step_count) for event in self._method.events]
        if len(self._events) > 2 * EVENTS.most:
            self._dropped_events += len(self._events) - EVENTS.most
            del self._events[:-EVENTS.most]

    def _control(self) -> None:
        """Let the script act: its controller, then its force law. Where it fails, nothing that it did to the state or
        the loads of this step stays."""
        try:
            if self.controller is not None:
                self.controller(self)
            if self.force_law is not None:
                add_forces(self.force_law, self.time, self.state.bodies, self.loads)
        except Interrupted:
            raise
        except Exception as error:
            self.state, self._spare = self._spare, self.state
            self._clear_pushes()
            raise CannotStep(script_reason(error, self.time)) from error

    @property
    def replays(self) -> bool:
        """Whether the next step is one that is recorded and is made again as it was."""
        return self.replaying and self.history is not None and self.history.holds(self.step_count)

    def _step_again(self) -> None:
        """Make the recorded step from here once more and compare the states. Where they differ and the recorded one is
        at hand, it counts."""
        assert self.history is not None
        self._take_inputs(self.step_count)
        self._attempt(self._advance)
        same = self.history.check(self.step_count, self.state)
        if self.replaying and not same and self.history.holds(self.step_count):
            recorded = self.history.keyframe(self.step_count)
            if recorded.step == self.step_count:
                self.state = recorded.state
        if self.replaying and not self.history.holds(self.step_count):
            self._take_inputs(self.step_count)

    def _take_inputs(self, step: int) -> None:
        """Settings and loads with which the state after step number `step` was advanced; no load at the end."""
        assert self.history is not None
        recorded, loads = self.inputs(step)
        self.loads = loads if self.history.holds(step) else self._no_loads()
        if recorded != self.settings:
            self._apply(recorded)

    def take_over(self) -> None:
        """What is put in from here on replaces what is recorded; a recorded grab ends."""
        if self.replays:
            self.replaying, self.loads = False, self._no_loads()

    def _advance(self) -> None:
        self._have_method()
        ledger.open_step(self._model, self.state, self._page)
        self._apart(self._method.step)
        if not ledger.close_step(self._model, self.state, self._method.found, self._page):
            raise FloatingPointError(self._what_is_not_finite())
        self._count_steps(1)
        self._clear_pushes()

    def _apart(self, task: Callable[..., Result], *args: Any) -> Result:
        """What a task of the method gives for the state, the loads and the settings."""
        try:
            return apart(task, self.state, self.loads, self.settings, *args)
        except LeftBehind:  # what that task still writes to is its own from here on
            self._method, self.state, self.loads = None, copy_state(self.state), copy_loads(self.loads)
            self._page = ledger.empty_page()
            told = self._told or empty_contacts(0)  # what nobody has read so far is lost
            self._told, self._info = Contacts._make(a.copy() for a in told), self._info or StepInfo()
            raise

    def _have_method(self) -> None:
        """Make the method anew where it was left behind."""
        if self._method is None:
            self._method = self.new_method()

    def _count_steps(self, made: int) -> None:
        """So many steps were made: what was told of the one before no longer holds."""
        self.step_count += made
        self._info = self._told = None

    def _clear_pushes(self) -> None:
        self.loads.force.fill(0.0)
        self.loads.torque.fill(0.0)

    def _attempt(self, task: Callable[..., Result], *args: Any) -> Result:
        """The result of a method's task at this instant: the one place where a method may fail. Raises CannotStep."""
        failures.clear()
        try:
            result = task(*args)
        except Interrupted:
            raise
        except Exception as error:
            own = failures.pop() if failures else None  # of a soft law of the user, which came first
            told = script_reason(own, self.time) if own else reason(error, self.settings, self.time)
            raise CannotStep(told) from (own or error)
        if failures:
            raise CannotStep(script_reason(failures[0], self.time)) from failures[0]
        return result

    def run(self, until: float) -> None:
        """Step to the step boundary nearest to time `until` [s]. Where nobody looks in between, many steps are made in
        one call; states and events are the same as of single steps."""
        most, marches = max(1, min(AT_ONCE, BODY_STEPS // max(len(self._dynamic), 1))), True
        while self.time < until - 0.5 * self.settings.h:
            if marches and self._unwatched:
                marches = self._march(most, until - 0.5 * self.settings.h)
            else:
                self.step()

    @property
    def _unwatched(self) -> bool:
        """Whether nothing has to be done between steps but to note their events."""
        acts = self.controller is not None or self.force_law is not None
        watched = acts or self.history is not None or len(self._observers) > 0
        return not watched and self._marching and all_zero(self.loads.force, self.loads.torque)

    def _march(self, most: int, until: float) -> bool:
        """At most so many steps in one call, up to the next one that has events. False, and nothing is changed, where
        one of them fails: made by itself it says why."""
        self._have_method()
        self._keep()
        failures.clear()
        try:
            made, finite = self._apart(self._method.march, self._page, most, until)
        except Interrupted:
            self.state, self._spare = self._spare, self.state
            raise
        except Exception:
            finite = False
        if not finite or failures:
            self.state, self._spare = self._spare, self.state
            return False
        first = self.step_count + 1
        self._count_steps(made)
        self._note_events(first)
        return True

    def _what_is_not_finite(self) -> str:
        bodies = self.state.bodies
        bad = ~np.isfinite(np.hstack([bodies.x, bodies.q, bodies.P, bodies.L])).all(axis=1)
        names = [self.labels.bodies[i] for i in np.flatnonzero(bad)[:3]]
        return (f"the motion of {', '.join(names) or 'the system'} is no longer finite after t = {self.time:.6g} s; "
                "a smaller step h may help")

    def trace(self, every: int = 1, **quantities: Callable[[Simulation], float]) -> AbstractContextManager[Trace]:
        """Note quantities now and after every `every`-th step inside a with block; else kinetic, potential and total
        energy [J] and the number of contacts:

            with sim.trace(height=lambda sim: sim.body("die").position[2]) as run:
                sim.run(until=2.0)
            run["t"], run["height"]; run.save("die.csv"); run.to_dataframe()
        """
        return tracing(self._observers, self, Trace(quantities or USUAL, every))

    @property
    def info(self) -> StepInfo:
        """How the last step went; found when somebody asks."""
        if self._info is not None:
            return self._info
        self._info = found = self._method.info
        return found

    def problem(self) -> ContactProblem:
        """The `ContactProblem` that a step from here would solve. Raises CannotStep where the method cannot say it."""
        return self._attempt(self.new_method().problem, self.state, self.loads, self.settings)

    def new_method(self) -> Method:
        """A second object of the method in the settings. Its use leaves `contacts` and `info` as they are."""
        return make_method(self.settings.method, self._model, self.labels.bodies)

    def before(self, step: int) -> tuple[State, Settings, Loads, Model]:
        """State, settings, loads and model with which step number `step` was made.

        Raises ValueError where the history does not reach back so far.
        """
        if self.history is None:
            raise ValueError("no history is recorded")
        keyframe = self.history.keyframe(step - 1)
        state = keyframe.state
        for k in range(keyframe.step, step - 1):  # steps made again: the same bits
            look_up()
            settings, loads = self.inputs(k)
            method = METHODS[settings.method](overridden(self._scene_model, settings))
            self._attempt(apart, method.step, state, loads, settings)
        settings, loads = self.inputs(step - 1)
        return state, settings, loads, overridden(self._scene_model, settings)

    def elsewhere(self, state: State, contacts: Contacts, events: list[Event]) -> Simulation:
        """A second simulation that stands at another state of the scene, with these contacts and events up to now. It
        shares the history, for reading and `seek`. It must not be stepped, for that would change the shared history."""
        other = copy(self)
        other.state, other._told, other._events = copy_state(state), contacts, events
        other._method, other._page, other._info = self.new_method(), ledger.empty_page(), self.info
        return other

    def inputs(self, step: int) -> tuple[Settings, Loads]:
        """The recorded inputs with which the state after step number `step` was advanced; the loads as a copy."""
        assert self.history is not None
        inputs = self.history.inputs(step)
        return inputs.settings, copy_loads(inputs.loads) if inputs.loads else self._no_loads()

    # ------------------------------------------------------------------------------------------------ loads, settings

    def apply_force(self, body: str | int, force: Any, point: Any = None) -> None:
        """Add a force (3,) [N] at a world point (3,) [m] (default: the centre of mass), for the next step only."""
        i = self.number(body)
        f = vector_of("force", force)
        self.take_over()
        self.loads.force[i] += f
        if point is not None:
            self.loads.torque[i] += np.cross(vector_of("point", point) - self.state.bodies.x[i], f)

    def apply_torque(self, body: str | int, torque: Any) -> None:
        """Add a torque (3,) [N m], for the next step only."""
        i = self.number(body)
        t = vector_of("torque", torque)
        self.take_over()
        self.loads.torque[i] += t

    def note_put(self, moved: bool) -> None:
        """The state was changed by hand; moved: poses too, not only velocities. The contacts of the last step no longer
        hold, and what was recorded is forgotten: steps cannot be made again across this instant."""
        self.take_over()
        self._told, _ = self._contacts, forget(self.state)
        if moved:
            self.state.surfaces.t[0], self.state.surfaces.count[0] = -1.0, 0
        self._forget_history()

    def place(self, body: str | int, x: Any, q: Any) -> None:
        """Put a free body's centre of mass at x (3,) [m], and turn it to the quaternion q (4,) w x y z. It keeps its
        velocity and angular velocity."""
        placed = self.body(body)
        x, q = vector_of("position", x), np.asarray(q, float)
        v, w, i = self.state.bodies.v[placed.number].copy(), placed.angular_velocity, placed.number
        placed.orientation = quaternion_products(q, self.labels.axes[i])
        placed.position += x - placed.center_of_mass
        placed.angular_velocity = w
        self.state.bodies.v[i], self.state.bodies.P[i] = v, self._model.mass[i] * v
        now = self.contacts
        rows = (now.body_a != i) & (now.body_b != i)  # those of the body are no longer where it is
        self._told = Contacts._make([np.array([rows.sum()], np.int32), *(a[rows] for a in now[1:])])
        self._info = StepInfo(contacts=int(rows.sum()))

    def grab(self, body: str | int, point: Any, target: Any, turn: bool = False) -> None:
        """Grab the body at a world point [m]: a critically damped spring pulls it towards the world point `target`, or
        with `turn` turns it about its centre of mass. Particles, which nothing can turn, are pulled."""
        i = self.number(body)
        if not movable(self._model.kind[i]):
            raise ValueError(f"{self.labels.bodies[i]!r} does not move, so it cannot be pulled")
        self.take_over()
        bodies = self.state.bodies
        conjugate = bodies.q[i] * (1.0, -1.0, -1.0, -1.0)
        self.loads.grab_point[:] = rotated(conjugate, vector_of("point", point) - bodies.x[i])
        self.loads.grab_target[:] = vector_of("target", target)
        points = self._model.mass[i] > 0.0 and self._model.inertia[i].min() == 0.0
        self.loads.grab_turn[0] = int(turn and not points)
        self.loads.grab_force[:] = 0.0
        self.loads.grab_body[0] = i

    def move_grab(self, target: Any) -> None:
        """Pull the grabbed body towards another world point [m]."""
        self.take_over()
        self.loads.grab_target[:] = vector_of("target", target)

    def release(self) -> None:
        """Let go of the grabbed body."""
        self.take_over()
        self.loads.grab_body[0] = -1
        self.loads.grab_force[:] = 0.0

    def push_joint(self, velocity: int, force: float) -> None:
        """Put a constant torque [N m] or force [N] on a joint of a tree, in place of the one before; `velocity` is the
        row of the joint's velocity in `state.joints.v`."""
        if not 0 <= velocity < len(self.loads.joint):
            raise ValueError(f"there is no velocity {velocity} of a joint; there are {len(self.loads.joint)}")
        if not math.isfinite(force):
            raise ValueError(f"force must be a finite number, not {force!r}")
        self.take_over()
        self.loads.joint[velocity] = force

    def set(self, **settings: Any) -> None:
        """Change settings, as the sliders do: restitution, friction, friction_static, friction_torsional,
        friction_rolling (for every pair; None = as the materials say), gravity (3,) [m/s2], h [s], iterations, method,
        integrator, solver, impact_law, joint_cure, sleep; for event_driven restitution_t and restitution_psi (for every
        pair of balls; None = as the materials say); for compliant stiffness_n, damping_n, stiffness_t, damping_t,
        stiffness_series, damping_roll (for every pair; None = as the materials say), law, surface and substeps (0 = as
        many as needed). Raises ValueError where a value is not allowed; no setting is changed then."""
        self._apply(check_settings(self.settings, settings))
        self.take_over()

    def apply(self, command: SimulationCommand) -> None:
        """Carry out a command of one simulation: Set, Grab, MoveGrab, Release, PushJoint, Place or Reset."""
        match command:
            case Set(name, value):
                self.set(**{name: value})
            case Grab(body, point, target, turn):
                self.grab(body, point, target, turn)
            case MoveGrab(target):
                self.move_grab(target)
            case Release():
                self.release()
            case PushJoint(velocity, force):
                self.push_joint(velocity, force)
            case Place(body, x, q):
                self.place(body, x, q)
            case Reset():
                self.reset()
            case _:
                raise TypeError(f"{type(command).__name__} is not for the simulation")

    def _apply(self, settings: Settings) -> None:
        old = self.settings
        model = overridden(self._scene_model, settings)
        if "solver" in METHODS[settings.method].uses and (reason := refusal(settings.solver, model)):
            raise ValueError(reason)
        unchanged = replace(old, **{name: getattr(settings, name) for name in STEPWISE}) == settings
        if self._method is None or not unchanged:
            self._info, self._told = self.info, self._contacts
            self._method = make_method(settings.method, model, self.labels.bodies)
            self._marching = isinstance(self._method, Marching)
            self.labels = with_notes(self._method, Setup(model, self.state, self.labels, settings), self._scene_notes)
        self._model, self.settings = model, settings

    def _no_loads(self) -> Loads:
        return empty_loads(len(self._number), len(self.state.joints.v))

    def _loads_or_none(self) -> Loads | None:
        loads = self.loads
        nothing = loads.grab_body[0] < 0 and all_zero(loads.force, loads.torque, loads.joint)
        return None if nothing else copy_loads(loads)

    # ------------------------------------------------------------------------------------------------ going back

    def save(self) -> Saved:
        """A copy of everything that `restore` needs; the run may go on."""
        return Saved(self.step_count, copy_state(self.state), self.settings, copy_loads(self.loads))

    def restore(self, saved: Saved) -> None:
        """Go back to a saved instant of the same scene; later steps are the same to the last bit."""
        self._apply(saved.settings)
        self._set_state(saved.step, saved.state)
        self.replaying = False
        self.loads = copy_loads(saved.loads)

    def standing(self) -> Standing:
        """Where it stands now, with the contacts of the last step."""
        return Standing(self.save(), Contacts._make(a.copy() for a in self._contacts), self.info, self.history,
                        self._events)

    def stand(self, there: Standing) -> None:
        """Go back to where it stood."""
        replaying = self.replaying
        self.restore(there.saved)
        self._told, self._info, self.replaying = there.contacts, there.info, replaying
        self.history, self._events = there.history, there.events

    def undo_to(self, there: Standing) -> None:
        """Stand where it stood, whatever has been done since. What was recorded before is kept where it still leads
        there; else recording begins there."""
        step = there.saved.step
        self.history, self._events, self.replaying = there.history, there.events, False
        leads_there = False
        try:
            first, last = self.reachable()
            if self.history is not None and self.history.keyframes and first <= step <= last:
                self.step_count = -1  # it stands at no state of this record
                self.recall(step)
                leads_there = hash_of_state(self.state) == hash_of_state(there.saved.state)
        except (CannotStep, Interrupted):
            pass
        self.stand(there)
        if not leads_there:
            self._forget_history()

    def _set_state(self, step: int, state: State) -> None:
        self.state = copy_state(state)
        self.step_count = step
        self._told = empty_contacts(0)
        self._info = StepInfo()

    def begin_here(self) -> None:
        """From now on `reset` leads back to this instant."""
        self._start = self.step_count, copy_state(self.state)

    def begin_as(self, other: Simulation) -> None:
        """Begin where another simulation of the same scene does."""
        self._start = other._start
        self.reset()

    def reset(self) -> None:
        """Back to the first state, that of the scene unless `begin_here` said another one. Settings stay as they are;
        grab, events and history end."""
        self._set_state(*self._start)
        self._events, self._dropped_events = [], 0
        self.loads = self._no_loads()
        self.replaying = False
        self._forget_history()

    def _forget_history(self) -> None:
        """Record from here on. What was recorded stays with those who stood there."""
        if self.history is not None:
            self.record_history(self.history.budget)

    def record_history(self, budget: int | None = None) -> None:
        """Record the run from now on within `budget` bytes, so that `seek` can go back."""
        self.history = History() if budget is None else History(budget)
        self.history.last = self.step_count

    def open_history(self, history: History, events: list[Event]) -> None:
        """Stand at the first state of a recorded run of this scene, with its events, and replay it."""
        self.history, self._events, self._dropped_events, self.replaying = history, events, 0, True
        keyframe = history.keyframe(history.first)
        self._set_state(keyframe.step, keyframe.state)
        self._take_inputs(keyframe.step)

    def reachable(self) -> tuple[int, int]:
        """First and last step that `seek` can reach."""
        if self.history is None or not self.history.keyframes:
            return self.step_count, self.step_count
        return self.history.first, max(self.history.last + 1, self.step_count)

    def seek(self, step: int) -> None:
        """Restore the state after step number `step` exactly, with the contacts of that step. While `replaying`,
        settings and loads are those recorded there. Else settings stay as they are now, a grab ends, and steps made
        from here on replace the later ones.

        Step `step` is made again from the recorded state before it and its inputs, which gives the same bits.
        Raises ValueError where the history does not hold the step. Where it fails, nothing has changed.
        """
        first, last = self.reachable()
        if not first <= step <= last:
            raise ValueError(f"step {step} is not in the history, which holds steps {first} to {last}")
        if self.history is None or step == self.step_count:
            return
        settings, before = self.settings, self.standing()
        try:
            self.step_count = -1
            self.recall(step)
        except Exception:
            self.stand(before)
            raise
        if self.replaying:
            self._take_inputs(self.step_count)
        else:
            self._apply(settings)
            self.loads = self._no_loads()

    def recall(self, step: int, made: bool = True) -> None:
        """Stand at the recorded state after step number `step`, with the settings of then. Only of a simulation that
        `elsewhere` gave. made: with the contacts of that step, which is made again, on from where this stands where
        that is nearer; else a keyframe must hold the state."""
        assert self.history is not None
        keyframe = self.history.keyframe(max(step - made, self.history.first))
        if not keyframe.step <= self.step_count <= step - made:
            self._set_state(keyframe.step, keyframe.state)
            self._take_inputs(keyframe.step)
        while self.step_count < step:
            look_up()
            self._step_again()
