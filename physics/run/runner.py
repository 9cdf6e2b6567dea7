"""The physics thread: takes commands in order, paces, steps, publishes snapshots.

Only this thread touches the simulations; their steps are made for it by a helper, see `interruption`.
Other threads `send` commands and read `latest`; neither waits for a step.
"""

import subprocess
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..books.diagnostics import measure
from ..core.interruption import Interrupted, interruptible
from ..core.language import N_
from ..core.limits import COMMANDS
from ..core.rotations import rotated
from ..core.state import Contacts
from ..look.inspection import Inspection
from ..look.turning import moments_of
from ..scene.scene import Scene
from ..simulation.failure import CannotStep
from ..simulation.simulation import Simulation
from . import messages as m
from .comparison import Comparison, Member
from .concerns import ENDS, HARMLESS, interrupts, may_need_other_kernels
from .journal import Journal
from .log import ENERGIES, WATCHED
from .looks import Looks
from .pacing import Pacer
from .recording import Heading
from .run_file import write_run
from .script import Script
from .slow_motion import QUIET
from .studies import Studies
from .trial import Trial
from .warm_up import compile_for, compile_the_rest, compiled_lately, compiling, kernels_cached, prepare

PUBLISH_INTERVAL = 1.0 / 120.0  # least time between snapshots while no command comes [wall s]
SLICE = 0.008                   # time of stepping after which commands and the snapshot have their turn [wall s]
IDLE_WAIT = 0.25                # time between looks at the command queue while paused; a command wakes at once [wall s]
SLOWED = 8                      # latest events that slow the clock down
SHOWN_EVENTS = 200              # latest events in a snapshot
RECALL_INTERVAL = 0.1           # least time between snapshots while curves of the past are filled [wall s]
PAGE_INTERVAL = 0.4             # time between two pages of the journal: what a crash may lose [wall s]
LOG_ROWS = 8192                 # latest steps of the clock of which curves have a point each
COMPILING = N_("compiling for this machine")
PATIENCE = 0.1                  # work on one step after which a command that concerns it interrupts it [wall s]
CLOSING = 0.4                   # longest time that `stop` waits for the thread [wall s]
SPEED_RANGE = (1e-3, 1e3)       # simulated seconds per wall second


class Runner:
    """Runs a scene in its own thread. `settings` override the scene's own, as `Simulation.set` does."""

    def __init__(
        self, scene: Scene, settings: Mapping[str, Any] | None = None, paused: bool = False,
        clock: Callable[[], float] = time.perf_counter, recording: m.Recording | None = None,
        journal: Journal | None = None, script: Script | None = None,
    ) -> None:
        """recording: of a run of the scene, to be replayed. journal: where the run is recorded while it goes on.
        script: whose simulation of the scene runs."""
        self.latest: m.Snapshot | None = None         #: replaced by a new one, never changed
        self.log: deque[tuple[int, m.Command]] = deque(maxlen=COMMANDS.most)  #: (step, command) since the scene opened
        self.failure = ""                             #: traceback of the last engine error, for reports
        self._clock = clock
        self._paused = paused
        self._warming: str | None = N_("loading")
        self._rest: subprocess.Popen[bytes] | None = None  #: compiles the kernels that the first scene does not need
        self._commands: deque[m.Command] = deque()
        self._wake = threading.Event()
        self._stopped = False
        self._generation = 0
        self._error: str | None = None
        self._notice: str | None = None
        self._quiet = 0.0                             #: time in which the last command found no event [s]
        self._searching = False
        self._published = -1.0
        self._begun: float | None = None              #: when the work that takes long now began
        self._looks = Looks(clock)
        self._studies = Studies(time.thread_time)
        self._pacer = Pacer(clock(), 0.0)
        self._journal = journal
        self._journal_of: Heading | None = None       #: the run that the journal is of now
        self._next_page = 0.0
        self._saving: tuple[Path, Future[None]] | None = None  #: a file of the run that is being written
        self._script = script
        self._trial: Trial | None = None
        self._open(scene, settings or {}, recording, script)
        # no daemon, so that Python ends after its kernels; but a script's function may never return
        self._thread = threading.Thread(target=self._run, name="physics", daemon=script is not None)

    # ------------------------------------------------------------------------------------- called by any thread

    def send(self, command: m.Command) -> None:
        """Queue a command; returns at once. Every command is carried out, in the order in which they were sent."""
        self._commands.append(command)
        self._wake.set()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait for it for CLOSING seconds: what it is at may take longer, and ends with the process
        then, as a kernel does that is being compiled. Nothing is lost: a file of the run that is being written is
        waited for."""
        self.send(m.Shutdown())
        end = time.perf_counter() + CLOSING
        while self._thread.is_alive() and not (self.compiles or self._warming) and time.perf_counter() < end:
            self._thread.join(0.05)
        if self._saving is not None:
            wait([self._saving[1]])

    def join(self, seconds: float) -> bool:
        """Wait for the thread after `stop`; whether it has ended."""
        if self._thread.ident is not None:  # else it was never started
            self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def progress(self) -> tuple[str, float] | None:
        """What kernels are compiled or loaded for, and the part of them that is ready, 0..1; None at other times."""
        return None if self._warming is None else (self._warming, compiled_lately())

    @property
    def busy(self) -> float:
        """How long the thread has been at one step, or at one look, or at an earlier state [wall s]; 0 = at nothing."""
        begun = self._begun
        return 0.0 if begun is None else time.perf_counter() - begun

    @property
    def compiles(self) -> bool:
        """Whether a kernel is being compiled now: a step may need one that no step before it did."""
        return compiling()

    @contextmanager
    def _long_work(self, asked: bool = False) -> Iterator[None]:
        """Inside, the work ends with Interrupted as soon as it has taken PATIENCE and a command waits that concerns it.
        asked: the work is what a command asked for."""
        before, self._begun = self._begun, time.perf_counter()
        try:
            with interruptible(lambda: self._waits(asked)):
                yield
        finally:
            self._begun = before

    def _waits(self, asked: bool) -> bool:
        return any(interrupts(command, asked) for command in tuple(self._commands)) and self.busy > PATIENCE

    @property
    def _sim(self) -> Simulation:
        """The simulation of the side in focus."""
        return self._sides.simulation

    # ------------------------------------------------------------------------------------- the thread

    def _run(self) -> None:
        if not self.begin():
            self._rest = compile_the_rest()
        while not self._stopped and threading.main_thread().is_alive():
            try:
                pause = self.tick()
            except Exception as error:  # beside stepping and commands: told likewise, and the thread goes on
                self._fail(error)
                self._commands.append(m.Pause())  # after a rest, which leads to a snapshot that tells it
                pause = IDLE_WAIT
            self._wake.wait(pause)
            self._wake.clear()

    def begin(self) -> bool:
        """Publish the scene, then compile the kernels it needs; returns whether all kernels were cached before. Cached
        kernels are loaded when a step needs them."""
        self._publish()
        known = kernels_cached()
        try:
            if not known:
                self._warming = COMPILING
                compile_for(*self._opened)
                for member in self._sides.members[1:]:  # of a scene with [[compare]]
                    prepare(member.simulation)
        except Exception as error:
            self._fail(error)
        self._warming = None
        self._pacer.restart(self._clock(), self._sides.time)
        self._publish()
        return known

    def _compile_first(self) -> None:
        """Compile the kernels that the sides need now."""
        self._warming = COMPILING
        try:
            for member in self._sides.members:
                prepare(member.simulation)
        finally:
            self._warming = None

    def tick(self) -> float:
        """Carry out the commands sent, step as far as is due, and publish. Returns the time until more is due [s]."""
        handled = False
        while self._commands and not self._stopped:
            self._handle(self._commands.popleft())
            handled = True
        if self._stopped:
            return 0.0
        self._keep_journal()
        now = self._clock()
        found = self._go_on_studying() or self._told_saved()
        if self._paused:
            found = self._recall(SLICE) or found
            if handled or found:
                self._publish()
            return 0.0 if self._studies.running or self._sides.recalling else IDLE_WAIT
        deadline = now + SLICE
        while self._sides.time < self._pacer.due(now) and not self._paused:
            self._step()
            self._pacer.slow_down(self._sides.time, self._times_of_events())
            now = self._clock()
            if now > deadline or self._commands:
                break
        self._pacer.note(now, self._sides.time)
        if handled or self._paused or now - self._published >= PUBLISH_INTERVAL:
            self._publish()
        spare = min(IDLE_WAIT, self._pacer.wait(now, self._sides.time))
        if spare > 0.0 and self._sides.recalling:
            self._recall(min(SLICE, spare))
            return 0.0
        return spare

    def _times_of_events(self) -> Iterator[float]:
        """When there were events of late that can be seen [s]."""
        return (e.t for e in self._sim.latest_events(SLOWED) if e.kind not in QUIET)

    # ------------------------------------------------------------------------------------- commands

    def _handle(self, command: m.Command) -> None:
        self.log.append((self._sides.step_count, command))
        self._notice, self._quiet = None, 0.0
        hasty = self._rest is not None and self._rest.poll() is None and may_need_other_kernels(command)
        if hasty and self._rest is not None:
            self._rest.terminate()  # the kernels wanted now come first; it starts again below
        if not isinstance(command, HARMLESS):
            self._trial = None
        try:
            with self._long_work(asked=True):
                self._carry_out(command)
            if hasty:
                self._compile_first()
        except Interrupted:
            pass  # by the command that is next; nothing has changed
        except ValueError as refused:  # its message says in one sentence what is allowed; the run goes on
            self._notice = str(refused)
        except Exception as error:
            self._fail(error)
        if hasty:
            self._rest = compile_the_rest()

    def _carry_out(self, command: m.Command) -> None:
        match command:
            case m.Play():
                self._paused, self._error = False, None
            case m.Pause():
                self._paused = True
            case m.Step(count):
                self._go(count)
            case m.StepToEvent(direction, limit):
                self._go_to_event(direction, limit)
            case m.GoToEvent(step, t, phase, side):
                if step != self._sides.step_count:
                    self._seek(step)
                self._paused, self._error = True, None
                self._sides.show_event(t, self._sides.focus if side < 0 else side, phase)
            case m.Seek(step):
                self._seek(step)
            case m.Reset():
                self._sides.apply(command, self._clock())
                self._error = None
            case m.Undo(direction):
                self._paused, self._error = True, None
                self._sides.undo(direction)
            case m.SetSpeed(speed, at_events):
                low, high = SPEED_RANGE
                if not low <= speed <= high:
                    raise ValueError(f"speed must be a number from {low:g} to {high:g}, not {speed!r}")
                if at_events is not None:
                    self._pacer.at_events = min(max(float(at_events), low), 1.0)
                self._pacer.speed = float(speed)
            case m.Open(scene, paused, recording, at_end, settings):
                self._open(scene, dict(settings), recording)
                if at_end:
                    self._seek(self._sides.reachable()[1])
                if recording is not None and recording.leftover is not None and self._journal is not None:
                    self._keep_journal(now=True)
                    self._journal.forget(recording.leftover)
                self._paused = paused
            case m.SaveRun(path):
                if self._saving is not None:
                    raise ValueError(f"{self._saving[0].name} is still being written")
                pages = self._sides.take(everything=True)
                self._saving = path, ThreadPoolExecutor(1).submit(write_run, path, self._sides.heading, pages)
                return
            case m.Compare(sides):
                self._sides.compare(sides)
                self._error = None
                self.log.clear()
            case m.Focus(side):
                if not 0 <= side < len(self._sides.members):
                    raise ValueError(f"there is no side {side} to look at")
                self._sides.focus = side
                return
            case m.Watch():
                self._sides.look_at(command)
                return
            case m.Inspect():
                self._looks.ask(command)
                return
            case m.StudyLinks() | m.StudyOrders() | m.StudyMap() | m.StudyFan():
                self._study(command)
                return
            case m.Try(until, windows):
                self._trial = Trial(windows, until, self._sides.members[0].simulation)
                self._paused, self._error = self._trial.done, None
            case m.SetControl() | m.OpenScript():
                self._tell_script(command)
                if isinstance(command, m.SetControl):
                    return
            case m.Shutdown():
                self._keep_journal(now=True)
                self._stopped = True
            case _:
                self._sides.apply(command, self._clock())
                return
        self._pacer.restart(self._clock(), self._sides.time)  # the plan of the pacer no longer holds

    def _tell_script(self, command: m.SetControl | m.OpenScript) -> None:
        """Move a control of the script's panel, or run its simulation again."""
        script = self._script
        if script is None:
            raise ValueError("no script has opened this window")
        if isinstance(command, m.SetControl):
            script.panel.set(command.name, command.value)
            return
        script.simulation.reset()
        self._open(script.simulation.scene, {}, script=script)

    def _go(self, count: int) -> None:
        self._paused, self._error = True, None
        if count < 0:
            self._seek(max(self._sides.reachable()[0], self._sides.step_count + count))
        if count > 0 and self._sides.leave_instant():
            count -= 1
        for _ in range(count):
            if not self._step_and_show():
                return

    def _go_to_event(self, direction: int, limit: float) -> None:
        self._paused, self._error = True, None
        sides, there = self._sides, self._sides.instants()
        shown = len(there) if sides.instant is None else there.index((sides.instant.t, sides.instant.side))
        if 0 <= shown + direction < len(there):
            sides.show_event(*there[shown + direction])
            return
        if direction < 0:
            earlier = sides.last_event_before()
            if earlier is None or earlier < sides.reachable()[0]:
                raise ValueError("there is no earlier event in the history")
            self._seek(earlier)
            sides.show_event(*sides.instants()[-1])
            return
        events, until = self._sides.event_count, self._sides.time + limit
        while self._sides.event_count == events:
            if self._sides.time >= until:
                self._quiet = limit
                raise ValueError(f"nothing happened within {limit:g} s")
            if not self._step_and_show():
                return
        sides.show_event(*sides.instants()[0])

    def _step_and_show(self) -> bool:
        """One of several steps, published now and then. False where an error or a command ends them early."""
        ok = self._step(asked=True)
        if self._clock() - self._published >= PUBLISH_INTERVAL:
            self._publish(on_the_way=True)
        return ok and not any(isinstance(c, ENDS) for c in tuple(self._commands))

    def _seek(self, step: int) -> None:
        self._paused, self._error, self._trial = True, None, None
        self._sides.seek(step)

    def _open(self, scene: Scene, settings: Mapping[str, Any], recording: m.Recording | None = None,
              script: Script | None = None) -> None:
        try:
            sides = Comparison(scene, settings, LOG_ROWS, recording, script)
        except ValueError:  # says what is wrong with the scene
            raise
        except Exception as error:
            self.failure = "".join(traceback.format_exception(error))
            raise ValueError(f"{scene.name} could not be opened: {error or type(error).__name__}") from error
        self._pacer.speed = scene.speed
        now = sides.simulation.settings
        self._opened = scene, settings if script is None else {
            "method": now.method, "integrator": now.integrator, "solver": now.solver, "h": now.h}
        self._sides, self._generation, self._error = sides, self._generation + 1, None
        self._studies.forget_scene()
        self.log.clear()
        wanted = scene.sides(sides.simulation.settings) if recording is None and script is None else ()
        try:
            if wanted:
                sides.compare(wanted)
        except ValueError as refused:  # the scene runs alone
            self._notice = f"nothing is compared: {refused}"

    # ------------------------------------------------------------------------------------- record

    def _keep_journal(self, now: bool = False) -> None:
        """Hand the steps made since the last page over to the journal, where it is time or `now` is set."""
        journal, sides = self._journal, self._sides
        if journal is None or (self._clock() < self._next_page and not now):
            return
        self._next_page = self._clock() + PAGE_INTERVAL
        if journal.failure:
            self._notice, self._journal = f"the run is no longer recorded: {journal.failure}", None
            return
        pages = sides.take()
        if not pages:
            return
        heading, before = sides.heading, self._journal_of
        if before is None or heading.scene is not before.scene or heading.coordinates != before.coordinates:
            self._journal_of = heading
            journal.begin(heading)
        journal.add(pages)

    def _told_saved(self) -> bool:
        """Where a file of the run has been written, say so; returns whether that is new."""
        if self._saving is None or not self._saving[1].done():
            return False
        (path, written), self._saving = self._saving, None
        error = written.exception()
        self._notice = f"saved {path}" if error is None else f"{path} could not be written: {error}"
        return True

    # ------------------------------------------------------------------------------------- studies

    def _study(self, command: m.StudyLinks | m.StudyOrders | m.StudyMap | m.StudyFan) -> None:
        if command in (m.StudyLinks(False), m.StudyOrders(), m.StudyMap()):
            self._studies.end()
            return
        if isinstance(command, m.StudyFan) and not command.count:
            self._studies.drop_fan()
            return
        self._paused = True
        try:
            if isinstance(command, m.StudyLinks):
                self._warming = N_("chains in both coordinates")
                self._studies.study_links(self._sim.settings)
            elif self._sides.script is not None:
                raise ValueError("a script's run cannot be made again from its scene, which has not its forces")
            elif isinstance(command, m.StudyOrders):
                self._warming = N_("what is to be compared")
                self._studies.study_orders(self._sim, command)
            else:
                self._warming = N_("what is to be run")
                begin: Any = self._studies.study_map if isinstance(command, m.StudyMap) else self._studies.study_fan
                begin(self._sim, command)
        finally:
            self._warming = None

    def _go_on_studying(self) -> bool:
        """Go on with a study for one slice; returns whether there is something new to publish."""
        if not self._studies.running:
            return False
        until = self._clock() + SLICE
        with self._long_work():
            return self._studies.advance(lambda: bool(self._commands) or self._clock() >= until)

    def _recall(self, seconds: float) -> bool:
        """Go on filling curves with what the history tells; returns whether it is time to show what is new."""
        if not self._sides.recalling:
            return False
        until = self._clock() + seconds
        try:
            with self._long_work():
                self._sides.recall(lambda: bool(self._commands) or self._clock() >= until)
        except Interrupted:  # the row in hand is made again
            pass
        return not self._sides.recalling or self._clock() - self._published >= RECALL_INTERVAL

    # ------------------------------------------------------------------------------------- stepping

    def _step(self, asked: bool = False) -> bool:
        """Make a step; asked: that a command asked for. False where the run pauses after it, or instead of it."""
        self._keep_journal()
        try:
            with self._long_work(asked):
                self._sides.step()
        except Interrupted:  # by the command that is next; the state is that before the step
            return False
        except Exception as error:
            self._fail(error)
            return False
        if self._trial is not None and not self._trial.done:
            self._trial.note(self._sides.members[0].simulation)
            self._paused = self._paused or self._trial.done
        if why := self._sides.alarm():
            self._paused, self._error = True, why
        return not why

    def _fail(self, error: Exception) -> None:
        """Pause with a message. The simulation stays at its last good state, and any command may follow."""
        self._paused = True
        self.failure = "".join(traceback.format_exception(error))
        expected = isinstance(error, CannotStep)
        self._error = str(error) if expected else f"the engine failed: {type(error).__name__}: {error}"

    # ------------------------------------------------------------------------------------- snapshots

    def _inspect(self, running: bool) -> Inspection | None:
        """The inspection that was asked for."""
        compiles = self._looks.compiles
        if compiles:
            self._warming = N_("the contact equations")
        try:
            with self._long_work():
                found = self._looks.answer(self._sides, running)
        except Interrupted:  # the next snapshot has it
            found = None
        finally:
            self._warming = None if compiles else self._warming
        self.failure = self._looks.failure or self.failure
        return found

    def _publish(self, on_the_way: bool = False) -> None:
        """Replace `latest`. on_the_way: more steps follow at once."""
        self._published, self._searching = self._clock(), on_the_way
        members, focus = self._sides.members, self._sides.focus
        inspection = self._inspect(running=on_the_way or not self._paused)
        if len(members) == 1:
            self.latest = self._snapshot(0, members[0], inspection)
            return
        sides = tuple(self._snapshot(k, side, inspection if k == focus else None) for k, side in enumerate(members))
        self.latest = replace(sides[focus], sides=sides)

    def _snapshot(self, number: int, member: Member, inspection: Inspection | None) -> m.Snapshot:
        sim, log, instant = self._sides.shown(number), member.curves, self._sides.instant
        energy, momenta = measure(sim.model, sim.state.bodies, sim.state.joints)
        bodies = sim.state.bodies
        events = sim.latest_events(SHOWN_EVENTS)
        columns = (0, *range(WATCHED, WATCHED + len(self._sides.watch.curves)))  # of the log: t and the watched curves
        return m.Snapshot(
            generation=self._generation, scene_name=sim.scene.name, model=sim.model, labels=sim.labels,
            settings=sim.settings, step=self._sides.step_count, t=self._sides.time,
            paused=self._paused, speed=self._pacer.speed, real_time_factor=0.0 if self._paused else self._pacer.factor,
            x=frozen(bodies.x), q=frozen(bodies.q), v=frozen(bodies.v), w=frozen(bodies.w), L=frozen(bodies.L),
            contacts=Contacts._make(frozen(a) for a in sim.contacts),
            events=tuple(map(member.on_clock, events)),
            event_count=sim.event_count,
            energy=energy, momentum=tuple(momenta[0].tolist()), angular_momentum=tuple(momenta[1].tolist()),
            info=sim.info, history=self._sides.reachable(), file=self._sides.file, camera=self._sides.scene.camera,
            grabbed=grabbed(sim), at_events=self._pacer.at_events,
            error=self._error, notice=self._notice, searching=self._searching, quiet=self._quiet,
            inspection=inspection,
            energy_log=frozen(log[:, ENERGIES]), watch=self._sides.watch, trace=frozen(log[:, columns]),
            coordinates=member.coordinates, side=number, ledger=frozen(sim.state.ledger),
            joint_q=frozen(sim.state.joints.q), joint_v=frozen(sim.state.joints.v), joint_load=frozen(sim.loads.joint),
            changes=self._sides.changes.names,
            dents=frozen(sim.dents), shears=frozen(sim.shears), moments=frozen(moments_of(sim)),
            asleep=frozen(sim.state.sleep.island >= 0),
            timeline=member.timeline(),
            links=self._studies.links, orders=self._studies.orders, map=self._studies.map, fan=self._studies.fan,
            instant=instant and instant._replace(now=sim.time),
            replaying=self._sides.replaying, differs=self._sides.differs,
            script=self._script and self._script.shown(self._sides.script is not None),
            trial=self._trial and self._trial.state,
        )


def frozen(a: NDArray[Any]) -> Any:
    """A read-only copy."""
    copy = a.copy()
    copy.flags.writeable = False
    return copy


def grabbed(sim: Simulation) -> m.Grabbed | None:
    """The mouse spring as it is now, None where nothing is grabbed."""
    loads = sim.loads
    body = int(loads.grab_body[0])
    if body < 0:
        return None
    point = sim.state.bodies.x[body] + rotated(sim.state.bodies.q[body], loads.grab_point)
    return m.Grabbed(
        body, tuple(point.tolist()), tuple(loads.grab_target.tolist()), tuple(loads.grab_force.tolist()),
    )
