"""Comparison: simulations of one scene side by side on one clock. A run without comparison is the case of one side.

The step of the clock is the longest h of the sides. A side with a shorter h makes a whole number of its own steps in a
step of the clock. So all sides are at the same instant after each step of the clock, and each moves as it would alone,
to the last bit.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, pairwise
from typing import Any

from ..core.interruption import Interrupted
from ..core.model import Array
from ..core.report import SIDES, Event, Side
from ..core.settings import SettingGroup, names_of
from ..look.instant import SAME, simulation_at
from ..look.modes import Modes
from ..look.quantities import quantity_of
from ..look.timeline import Bars
from ..methods import METHODS
from ..methods.choices import check_settings
from ..scene.scene import Scene
from ..simulation.alarm import EnergyAlarm
from ..simulation.commands import Grab, Place, Release, Reset, Set, SimulationCommand
from ..simulation.history import BUDGET, MOST_STEPS_BETWEEN
from ..simulation.simulation import Simulation
from .log import Log, recall, row_of
from .messages import MOST_CURVES, PHASES, ShownInstant, Timeline, Watch
from .recording import Heading, Mark, Page, Recording, SidePage, Track
from .script import Script
from .undo import Changes, Instant, Stood, undoable

SHARED_SETTINGS = names_of(SettingGroup.PAIRS, SettingGroup.SCENE)  #: settings that are the same on all sides

#: fields of Loads that describe the mouse spring
GRAB_LOADS = ("grab_body", "grab_point", "grab_target", "grab_turn", "grab_force")
TIMELINE_EVENTS = 2000  # events of the timeline at most


class Member:
    """One simulation of several on a clock."""

    def __init__(self, simulation: Simulation, coordinates: str, rows: int, track: Track | None = None) -> None:
        """track: what was recorded of it, which it replays."""
        self.simulation = simulation
        self.coordinates = coordinates
        self.log = Log(rows)
        self.bars = Bars() if track is None else track.bars
        self.modes = Modes()
        self.alarm = EnergyAlarm()
        self.wanted = simulation.settings.h  #: the step that was asked for [s]
        self.count = 1                       #: own steps in the next step of the clock
        self._marks = [Mark(0, simulation.step_count, 1)]
        if track is not None:
            self._marks = track.marks
            self.wanted = track.history.inputs(track.history.last).settings.h
            self.count = self._marks[-1].count

    def step_of(self, clock: int) -> int:
        """Own step number at a step of the clock."""
        mark = self._marks[bisect_right(self._marks, clock, key=lambda m: m.clock) - 1]
        return mark.own + (clock - mark.clock) * mark.count

    def clock_of(self, own: int) -> int:
        """The step of the clock that made an own step."""
        mark = self._marks[max(bisect_right(self._marks, own, key=lambda m: m.own) - 1, 0)]
        return mark.clock - (mark.own - own) // mark.count

    def reachable(self) -> tuple[int, int]:
        """First and last step of the clock in the history."""
        first, last = self.simulation.reachable()
        whole = self.clock_of(last)
        return self.clock_of(first), whole if self.step_of(whole) == last else whole - 1

    def advance(self, clock: int) -> None:
        """Make step number `clock` + 1 of the clock."""
        sim = self.simulation
        if sim.replays:
            while sim.step_count < self.step_of(clock + 1):
                sim.step()
                self._note_modes()
            return
        while self._marks[-1].clock > clock:  # of a branch that this step replaces
            self._marks.pop()
        if self._marks[-1].count != self.count:
            self._marks.append(Mark(clock, sim.step_count, self.count))
        for _ in range(self.count):
            before = sim.time
            sim.step()
            self.bars.note(before, sim.time, sim.contacts, sim.last_events)
            self._note_modes()

    def _note_modes(self) -> None:
        sim = self.simulation
        self.modes.note(sim.step_count, sim.time, sim.contacts, sim.last_events)

    def take_over(self, clock: int) -> None:
        """End the replay at this step of the clock: what follows is new."""
        self.count = self.step_of(clock + 1) - self.step_of(clock)
        self.wanted = self.simulation.settings.h
        self.simulation.take_over()

    def pages(self, first: int, end: int) -> list[SidePage]:
        """What is recorded of the steps of the clock after number `first` up to number `end`, in pages of at most
        MOST_STEPS_BETWEEN steps of the clock. The last one has the bars since the first state."""
        sim, found = self.simulation, []
        assert sim.history is not None
        for low, high in pairwise((*range(first, end, MOST_STEPS_BETWEEN), end)):
            own = self.step_of(high)
            stretch = sim.history.stretch(self.step_of(low), own - 1, sim.state if own == sim.step_count else None)
            events = sim.events_between(stretch.keyframe.step, own)
            found.append(SidePage(stretch, tuple(events), tuple(self._marks), None))
        if found:
            start = found[0].stretch.keyframe.time
            found[-1] = found[-1]._replace(bars=(start, self.bars.since(start)))
        return found

    def on_clock(self, event: Event) -> Event:
        """The event with the step of the clock in which it happened."""
        step = self.clock_of(event.step)
        return event if event.step == step else event.at_step(step)

    def timeline(self) -> Timeline:
        """Events and modes with their steps of the clock, and bars of the contact sets."""
        events, modes = self.simulation.known_events(TIMELINE_EVENTS), self.modes.changes
        if len(self._marks) == 1 and self._marks[0] == Mark(0, 0, 1):
            return Timeline(tuple(events), self.bars.rows, modes)
        modes = tuple(change._replace(step=self.clock_of(change.step)) for change in modes)
        return Timeline(tuple(map(self.on_clock, events)), self.bars.rows, modes)

    def stood(self) -> Stood:
        """Where it stands now; `stand` brings it back there."""
        return Stood(self.simulation.standing(), self.log, self.bars, self.modes, self.wanted, self.count)

    def stand(self, there: Stood) -> None:
        """Back to where it stood, whatever has been done since."""
        self.simulation.undo_to(there.standing)
        self.log, self.bars, self.modes = there.log, there.bars, there.modes
        self.wanted, self.count = there.wanted, there.count

    def reset(self) -> None:
        self.simulation.reset()
        self.log, self.bars, self.modes = Log(self.log.most), Bars(), Modes()
        self._marks = [Mark(0, self.simulation.step_count, self.count)]

    def go_on_alone(self) -> None:
        """From here on the clock's steps are the side's own."""
        self.count, self._marks = 1, [Mark(0, 0, 1)]

    @property
    def curves(self) -> Array:
        """The rows of the log, of all steps that the run can be brought to and of those before."""
        return self.log.upto(self.simulation.reachable()[1])

    def note(self, t: float, watch: Watch) -> None:
        """Write a row of the log."""
        self.log.put(row_of(t, self.simulation.step_count, self.simulation, watch))

    def recalled(self, watch: Watch) -> Iterator[None]:
        """Fill the log with what the history tells; of a long run, that of some of its steps."""
        first, last = self.reachable()
        every = max(1, (last - first) // self.log.most)
        return recall(self.simulation, self.log, watch, [self.step_of(k) for k in range(first, last + 1, every)])


class Comparison:
    """The sides, the one in focus, and the clock."""

    def __init__(
        self, scene: Scene, settings: Mapping[str, Any], rows: int, recording: Recording | None = None,
        script: Script | None = None,
    ) -> None:
        """recording: of a run of the scene, whose first state this is; its steps are replayed until one is changed.
        script: whose simulation of the scene this runs, from where it stands."""
        self.scene = scene
        self.script = script
        self.file = scene.path if recording is None else recording.path  #: that it was read from
        if recording is None:
            simulation = Simulation(scene) if script is None else script.simulation
            simulation.set(**settings)
            simulation.record_history()
            self.members = [Member(simulation, "", rows)]
            self._drive()
        else:
            self.members = [Member(recording.simulation(k), recording.heading.coordinates[k], rows, track)
                            for k, track in enumerate(recording.tracks)]
        self.focus = 0
        self.changes = Changes()             #: of the user, that can be undone
        self.watch = Watch()
        self.step_count = max(member.reachable()[0] for member in self.members)  #: of the clock
        self.instant: ShownInstant | None = None  #: of an event; shown in place of the end of the step just made
        self._there = self.simulation        #: shown for the side of `instant` while there is one
        self._rows = rows
        self._taken = self.step_count        # step of the clock up to which `take` gave pages
        for member in self.members:
            member.simulation.seek(member.step_of(self.step_count))
        self._note()
        self._recalls = self._recall_anew()

    @property
    def simulation(self) -> Simulation:
        """The simulation of the side in focus."""
        return self.members[self.focus].simulation

    @property
    def time(self) -> float:
        """Time of the clock [s], which is that of the first side."""
        return self.members[0].simulation.time

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides as they are now; () where nothing is compared."""
        if len(self.members) == 1:
            return ()
        return tuple(Side(m.simulation.settings, m.coordinates) for m in self.members)

    # --------------------------------------------------------------------------------------------- time

    def step(self) -> None:
        """Make one step of the clock on all sides. Where one of them fails, all go back to the instant before it."""
        self.instant = None
        before = [member.simulation.standing() for member in self.members] if len(self.members) > 1 else []
        if not self.replays:
            self._taken = min(self._taken, self.step_count)
            if any([member.log.cut(member.simulation.step_count) for member in self.members]):
                self._recalls = self._recall_anew()  # another branch is recorded now
        try:
            for member in self.members:
                member.advance(self.step_count)
        except Exception:  # one simulation alone goes back by itself
            for member, there in zip(self.members, before, strict=False):
                member.simulation.stand(there)
            raise
        self.step_count += 1
        self._note()

    def seek(self, step: int) -> None:
        """Bring all members to that step of the clock; ValueError where the history does not hold it."""
        first, last = self.reachable()
        if not first <= step <= last:
            raise ValueError(f"step {step} is not in the history, which holds steps {first} to {last}")
        before = [member.simulation.standing() for member in self.members]
        try:
            for member in self.members:
                member.simulation.seek(member.step_of(step))
        except Exception:
            for member, there in zip(self.members, before, strict=True):
                member.simulation.stand(there)
            raise
        self.instant = None
        self.step_count = step

    def reset(self) -> None:
        """Back to the start of the scene; of a recording that is replayed, to its first step."""
        if self.replaying:
            self.seek(self.reachable()[0])
            return
        self.step_count, self.instant, self._taken = 0, None, 0
        for member in self.members:
            member.reset()
        self._note()

    def reachable(self) -> tuple[int, int]:
        """First and last step of the clock that all sides can go to."""
        ranges = [member.reachable() for member in self.members]
        return max(first for first, _ in ranges), min(last for _, last in ranges)

    # ------------------------------------------------------------------------------------------ record

    @property
    def replaying(self) -> bool:
        """A recording was opened, and nothing in its course has been changed so far."""
        return all(member.simulation.replaying for member in self.members)

    @property
    def replays(self) -> bool:
        """Whether the next step is a recorded one that is made again as it was."""
        return all(member.simulation.replays for member in self.members)

    @property
    def differs(self) -> int | None:
        """The first step of the clock that led to another state than the recorded one when it was made again."""
        histories = [(member, member.simulation.history) for member in self.members]
        found = [member.clock_of(history.differs) for member, history in histories
                 if history is not None and history.differs is not None]
        return min(found, default=None)

    @property
    def heading(self) -> Heading:
        """What a record of this run begins with."""
        return Heading(self.scene, tuple(member.coordinates for member in self.members))

    def take(self, everything: bool = False) -> list[Page]:
        """Pages of a record with the steps made since the last call, or with all that can be reached."""
        low, end = self.reachable()
        first = low if everything else max(self._taken, low)
        pages = list(zip(*(member.pages(first, end) for member in self.members), strict=True))
        if not everything:
            self._taken = end
        return pages

    # -------------------------------------------------------------------------------------------- events

    def alarm(self) -> str:
        """Why the run should pause after this step; "" where it should not."""
        said = [(member.alarm.look(member.simulation), METHODS[member.simulation.settings.method].title)
                for member in self.members]
        return "; ".join(why if len(said) == 1 else f"{side}: {why}" for why, side in said if why)

    @property
    def event_count(self) -> int:
        """Events so far, on all sides."""
        return sum(member.simulation.event_count for member in self.members)

    def last_event_before(self) -> int | None:
        """The step of the clock of the latest event that is earlier than this step, on any side."""
        found = []
        for member in self.members:
            steps = (member.clock_of(event.step) for event in reversed(member.simulation.events))
            found.append(next((step for step in steps if step < self.step_count), None))
        return max((step for step in found if step is not None), default=None)

    def instants(self) -> list[tuple[float, int]]:
        """When something happened in the step just made: times [s] and sides, in order."""
        found = set()
        for side, member in enumerate(self.members):
            for event in reversed(member.simulation.events):
                if member.clock_of(event.step) < self.step_count:
                    break
                found.add((event.t, side))
        return sorted(found)

    def show_event(self, t: float, side: int, phase: str = "at") -> None:
        """Show a side at an event of the step just made; phase: one of PHASES. ValueError where there is none at the
        time t [s]."""
        if phase not in PHASES or not 0 <= side < len(self.members):
            raise ValueError(f"an event has the phases {', '.join(PHASES)} on sides 0 to {len(self.members) - 1}")
        simulation = self.members[side].simulation
        event = next((e for e in reversed(simulation.events) if abs(e.t - t) <= SAME), None)
        if event is None:
            raise ValueError(f"there is no event at t = {t:.9g} s")
        if event.step != simulation.step_count:  # an own step before the last one of the clock's step
            simulation = simulation.elsewhere(simulation.state, simulation.contacts, simulation.events)
            simulation.seek(event.step)
        self._there = simulation_at(simulation, event.step, event.t, phase)
        self.instant = ShownInstant(event.t, phase, side, self._there.time)

    def leave_instant(self) -> bool:
        """Show the end of the step again. Returns whether an earlier instant was shown."""
        was_within = self.instant is not None and self.instant.phase != "after"
        self.instant = None
        return was_within

    def shown(self, side: int) -> Simulation:
        """The simulation to show for a side: at the event of `instant` where it is of this side, else its own."""
        at_event = self.instant is not None and self.instant.side == side
        return self._there if at_event else self.members[side].simulation

    def _note(self) -> None:
        for member in self.members:
            member.note(self.time, self.watch)

    def _drive(self) -> None:
        if self.script is not None:
            self.script.drive([member.simulation for member in self.members])

    # ------------------------------------------------------------------------------------------ commands

    def apply(self, command: SimulationCommand, now: float = math.inf) -> None:
        """Carry out a command of one simulation, on all sides or on the one in focus, so that `undo` can take it back.
        now: when it came [wall s]; those of one slider that follow each other at once are one change."""
        if not undoable(command):
            self._carry_out(command)
            return
        before = self.changes.last() if self.changes.goes_on(command, now) else self._stood()
        self._carry_out(command)
        self.changes.note(command, self.simulation.labels.bodies, before)

    def undo(self, direction: int) -> None:
        """Back to the state before the last change (1), or to where it was undone (-1). ValueError where there is none.
        """
        there = self.changes.back(direction, self._stood())
        for member, stood in zip(self.members, there.sides, strict=True):
            member.stand(stood)
        self.instant, self.step_count = None, there.step
        self._recalls = self._recall_anew()

    def _stood(self) -> Instant:
        return Instant(self.step_count, tuple(member.stood() for member in self.members))

    def _carry_out(self, command: SimulationCommand) -> None:
        """What changes a recorded run while it is replayed begins a branch there."""
        if self.replays and not isinstance(command, Reset):
            for member in self.members:
                member.take_over(self.step_count)
            self._recalls = self._recall_anew()
        match command:
            case Set("h", value):
                self._set_h(value)
            case Set(name, value) if name in SHARED_SETTINGS:
                self._set_all(name, value)
            case Set():
                self.simulation.apply(command)
            case Grab():
                self.instant = None
                self.simulation.apply(command)
                self._grab_alike()
            case Reset():
                self.reset()
            case Place():
                self.instant = None
                self._place(command)
            case Release():
                self.changes.let_go()
                for member in self.members:
                    member.simulation.apply(command)
            case _:
                for member in self.members:
                    member.simulation.apply(command)

    def _place(self, command: Place) -> None:
        """Place a body on all sides, or on none where one of them refuses."""
        before = self._stood()
        try:
            for member in self.members:
                member.simulation.apply(command)
        except ValueError:
            for member, stood in zip(self.members, before.sides, strict=True):
                member.stand(stood)
            raise

    def _set_all(self, name: str, value: Any) -> None:
        before = [getattr(member.simulation.settings, name) for member in self.members]
        try:
            for member in self.members:
                member.simulation.set(**{name: value})
        except ValueError:
            for member, old in zip(self.members, before, strict=True):
                member.simulation.set(**{name: old})
            raise

    def _set_h(self, h: Any) -> None:
        self.members[self.focus].wanted = check_settings(self.simulation.settings, {"h": h}).h
        self._share_clock()

    def _share_clock(self) -> None:
        """Make the step of each side a whole part of the clock's, which is the longest step asked for."""
        longest = max(member.wanted for member in self.members)
        for member in self.members:
            member.count = max(1, round(longest / member.wanted))
            if member.simulation.settings.h != longest / member.count:
                member.simulation.set(h=longest / member.count)

    def _grab_alike(self) -> None:
        """Grab the same point of the body frame on every side, wherever the body is on that side."""
        focus = self.simulation.loads
        for member in self.members:
            loads = member.simulation.loads
            if loads is not focus:
                for name in GRAB_LOADS:
                    getattr(loads, name)[:] = getattr(focus, name)

    def look_at(self, watch: Watch) -> None:
        """Watch other quantities. Raises ValueError where there is none of that name or no such body, or too many."""
        if len(watch.curves) > MOST_CURVES:
            raise ValueError(f"up to {MOST_CURVES} curves can be recorded at once, not {len(watch.curves)}")
        for curve in watch.curves:
            quantity = quantity_of(curve.quantity)
            if quantity.of_body:
                self.simulation.number(curve.body)
            elif quantity.of == "joint":
                self.simulation.joints[curve.body]
        before, self.watch = self.watch, watch
        for member in self.members:
            member.log.watch(watch, before)
        self._note()
        self._recalls = self._recall_anew()

    @property
    def recalling(self) -> bool:
        """What the history tells is still missing in the logs."""
        return self._recalls is not None

    def recall(self, enough: Callable[[], bool]) -> None:
        """Go on filling the logs until it is `enough`."""
        while self._recalls is not None and not enough():
            try:
                next(self._recalls)
            except StopIteration:
                self._recalls = None
            except Interrupted:  # a generator that was broken off is at its end
                self._recalls = self._recall_anew()
                raise

    def _recall_anew(self) -> Iterator[None] | None:
        return chain.from_iterable(member.recalled(self.watch) for member in self.members)

    # ---------------------------------------------------------------------------------------- comparison

    def compare(self, sides: Sequence[Side]) -> None:
        """Restart the scene with these sides. Without any, go on with the side in focus alone."""
        self.instant, self.changes = None, Changes()
        if not sides:
            self.members, self.focus = [self.members[self.focus]], 0
            self.members[0].go_on_alone()
            self._drive()
            self.step_count = self.simulation.step_count
            self._taken = self.reachable()[0]
            self._recalls = self._recall_anew()
            return
        if len(sides) > SIDES[1]:
            raise ValueError(f"up to {SIDES[1]} sides can be compared, not {len(sides)}")
        members = [self._member(side, BUDGET // len(sides)) for side in sides]
        self.members, self.focus = members, min(self.focus, len(members) - 1)
        self._share_clock()
        self._drive()
        self.reset()
        self._recalls = None

    def _member(self, side: Side, budget: int) -> Member:
        scene = self.scene.with_coordinates(side.coordinates) if side.coordinates else self.scene
        simulation = Simulation(scene, side.settings.method, solver=side.settings.solver)
        now = asdict(simulation.settings)
        simulation.set(**{name: value for name, value in asdict(side.settings).items() if value != now[name]})
        if self.script is not None and not side.coordinates:
            simulation.begin_as(self.script.simulation)
        simulation.record_history(budget)
        return Member(simulation, side.coordinates, self._rows)
