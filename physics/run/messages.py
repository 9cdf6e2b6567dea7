"""Messages between the physics thread and all others.

Commands go in: they are carried out in order, and none is lost. A Snapshot comes out: readers see the latest one. All
messages are frozen, and the arrays of a Snapshot are read-only copies, so a reader may keep them.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.model import Array, Labels, Model
from ..core.report import SIDES, Energy, Event, JointImpulse, MotorState, Settings, Side, StepInfo
from ..core.state import LEDGER, Contacts
from ..look.inspection import Inspect, Inspection
from ..look.modes import ModeChange
from ..scene.scene import Scene
from ..scene.schema import CameraTable
from ..simulation.commands import Grab, MoveGrab, Place, PushJoint, Release, Reset, Set, SimulationCommand
from .recording import Recording
from .script import ShownArrow, ShownPanel
from .trial import TrialState, Window

# ---------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Play:
    """Let time go on."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop time."""


@dataclass(frozen=True, slots=True)
class Step:
    """Go `count` steps forward, or back through the history where it is negative, and stay paused. Where an instant
    within a step is shown, the first step forward leads to the end of that step."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class StepToEvent:
    """Go to the instant of the next event (direction 1, at most `limit` seconds ahead) or back to that of the previous
    one (-1), and pause there."""

    direction: int = 1
    limit: float = 10.0  # [s]


@dataclass(frozen=True, slots=True)
class Seek:
    """Restore the state of step number `step` from the history, exactly."""

    step: int


@dataclass(frozen=True, slots=True)
class GoToEvent:
    """Go to the instant t [s] of an event, which happened in step number `step`, and pause there."""

    step: int
    t: float
    phase: str = "at"  # one of PHASES: before, at, after; see `look.instant`
    side: int = -1     # side of a comparison whose event it is; -1 = the side in focus


@dataclass(frozen=True, slots=True)
class Undo:
    """Take the last change of the run back (1): pause in the state before it. Or make it again (-1): pause where it was
    taken back. Changes are Set, Grab, Place, PushJoint and Reset since the scene was opened or compared."""

    direction: int = 1


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Set the pace: simulated seconds per wall second, see `runner.SPEED_RANGE`."""

    speed: float
    at_events: float | None = None  # share of it near to events, 1 = all of it; None = as it is


@dataclass(frozen=True, slots=True)
class Open:
    """Run another scene, which the sender has read and checked. Where it cannot be built, the old scene goes on."""

    scene: Scene
    paused: bool = False
    recording: Recording | None = None  # of a run of the scene, to be replayed
    at_end: bool = False                # stand at the end of the recording instead of its beginning
    settings: tuple[tuple[str, Any], ...] = ()  # override the scene's own


@dataclass(frozen=True, slots=True)
class SaveRun:
    """Write all that can be reached of the run into a file, which takes its time; `Snapshot.notice` tells the end."""

    path: Path


@dataclass(frozen=True, slots=True)
class Compare:
    """Run the scene from its start on several sides at once, on one clock; () = go on with the side in focus alone.

    During a comparison Set changes all sides for the settings of `comparison.SHARED_SETTINGS`, else the side in focus.
    All other commands act on all sides.
    """

    sides: tuple[Side, ...] = ()


@dataclass(frozen=True, slots=True)
class Focus:
    """Choose the side of a comparison that the Snapshot shows and that Set changes."""

    side: int


class Curve(NamedTuple):
    """A quantity over time."""

    quantity: str   #: name in QUANTITIES
    body: int = -1  #: row of the body, for a quantity of one body


MOST_CURVES = 8  #: recorded at once


@dataclass(frozen=True, slots=True)
class Watch:
    """From now on record these quantities in `Snapshot.trace`, MOST_CURVES at most."""

    curves: tuple[Curve, ...] = ()


@dataclass(frozen=True, slots=True)
class StudyLinks:
    """Pause, and run the study of falling chains (`link_study`) with the settings of the side in focus; its results are
    in `Snapshot.links`. on=False ends it."""

    on: bool = True


class Variant(NamedTuple):
    """A way to run a scene."""

    method: str
    integrator: str


@dataclass(frozen=True, slots=True)
class StudyOrders:
    """Pause, and measure the orders of accuracy of these variants on the scene in focus, see `order_study`; results are
    in `Snapshot.orders`. Without variants: end the study."""

    variants: tuple[Variant, ...] = ()
    until: float = 1.0      #: simulated time of every run [s]
    by_forms: bool = False  #: errors are from the closed forms, else from a much finer run


@dataclass(frozen=True, slots=True)
class StudyMap:
    """Pause, and run the scene in focus with the present settings for all values of one or two parameters, see `sweep`;
    results are in `Snapshot.map`. Without parameters: end the study."""

    vary: tuple[tuple[str, tuple[float, ...]], ...] = ()
    measure: str = "rest time"
    until: float = 5.0      #: simulated time of every run [s]


@dataclass(frozen=True, slots=True)
class StudyFan:
    """Run the scene in focus from so many starts whose velocities differ by about `by`, see `fan`; results are in
    `Snapshot.fan`. Without starts: take the fan away."""

    count: int = 0
    by: float = 0.01     #: [m/s], of joints [rad/s] or [m/s]
    until: float = 5.0   #: simulated time of every run [s]


@dataclass(frozen=True, slots=True)
class SetControl:
    """Put a control of the script's panel to a value; a button to True."""

    name: str
    value: float | bool | str


@dataclass(frozen=True, slots=True)
class OpenScript:
    """Run the script's simulation again, from where the script handed it over."""


@dataclass(frozen=True, slots=True)
class Try:
    """Go on from here to the time `until` [s], measure that of the first side, and pause there; `Snapshot.trial` tells.
    Whatever changes the course of the run ends the trial."""

    until: float
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True)
class Shutdown:
    """End the physics thread."""


Command = (
    SimulationCommand | Play | Pause | Step | StepToEvent | GoToEvent | Seek | SetSpeed | Open | Inspect | Compare
    | Focus | Watch | StudyLinks | StudyOrders | StudyMap | StudyFan | SaveRun | SetControl | OpenScript | Undo
    | Try | Shutdown
)

# ---------------------------------------------------------------------------------------------------- snapshot


class Timeline(NamedTuple):
    """Events and contact sets over time. After seeking back it keeps what is later than now, until the next step."""

    events: tuple[Event, ...]  #: oldest first
    bars: Array                #: (k, 6) when each contact was in the sets: columns BEGIN … LEVEL of `look.timeline`
    modes: tuple[ModeChange, ...] = ()  #: when contacts began to stick, slip or carry, oldest first


class LinkPoint(NamedTuple):
    """Results of one falling chain, see `link_study`."""

    links: int
    coordinates: str  #: generalized, maximal
    cure: str         #: cure of the drift in maximal coordinates; "" in generalized ones
    cost: float       #: processor time of a step, the median [s]
    apart: float      #: greatest distance [m] or angle [rad] by which a joint is apart; nan: the motion is not finite
    astray: float     #: distance of the last link at the end from its place in generalized coordinates [m]
    energy: float     #: change of energy as a fraction of the potential energy of the level chain above the hanging one


class LinkStudy(NamedTuple):
    """A study of falling chains."""

    settings: Settings               #: method, integrator, solver, step and iterations of the fall
    points: tuple[LinkPoint, ...]    #: results so far
    running: bool                    #: whether more will come


class OrderPoint(NamedTuple):
    """The error of one run, see `order_study`."""

    variant: Variant
    h: float      #: step [s]
    error: float  #: greatest distance of a body from where it should be [m]; nan: the run failed
    cost: float   #: processor time of all steps [s]


class OrderStudy(NamedTuple):
    """A study of orders of accuracy."""

    asked: StudyOrders
    settings: Settings               #: of all runs, but for method, integrator and step
    points: tuple[OrderPoint, ...]   #: results so far
    running: bool                    #: whether more will come


class MapPoint(NamedTuple):
    """What is measured of one run of a map."""

    value: float  #: nan where there is none
    reason: str   #: why the run failed, "" where it did not


class MapStudy(NamedTuple):
    """A map of a sweep over one or two parameters."""

    asked: StudyMap
    scene: Scene                     #: that is run
    settings: Settings               #: of all runs, but for what is varied
    points: tuple[MapPoint, ...]     #: results so far; the last parameter changes fastest
    running: bool                    #: whether more will come


class FanPath(NamedTuple):
    """How all bodies move from one start."""

    interval: float  #: between two poses [s]
    poses: Array     #: (k, n, 7) place [m] and orientation, from the start on


class Fan(NamedTuple):
    """A fan of perturbed starts."""

    asked: StudyFan
    settings: Settings             #: of all runs
    paths: tuple[FanPath, ...]     #: so far
    running: bool                  #: whether more will come


IN_TIME = 0.9                          # part of the speed asked for below which a run is slower than that
PHASES = ("before", "at", "after")  #: of an event, see `look.instant`


class ShownInstant(NamedTuple):
    """The instant of an event that a snapshot shows within its step."""

    t: float    #: of the event [s]
    phase: str  #: one of PHASES
    side: int   #: whose event it is
    now: float  #: time of the state that is shown [s]


@dataclass(frozen=True, slots=True)
class Grabbed:
    """The mouse spring as the engine applies it."""

    body: int
    point: tuple[float, float, float]   # where the spring is attached now [m], world frame
    target: tuple[float, float, float]  # [m], world frame
    force: tuple[float, float, float]   # on the body [N], world frame


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One instant, with everything that the app draws."""

    generation: int          # changes when another scene is opened: model and labels are then new
    scene_name: str          # file name or gallery key
    model: Model
    labels: Labels
    settings: Settings
    step: int
    t: float                 # time at the end of the step [s]
    paused: bool
    speed: float             # simulated seconds per wall second, as asked for
    real_time_factor: float  # simulated seconds per wall second, measured
    x: Array                 # (n, 3) centre of mass [m], world frame
    q: Array                 # (n, 4) body frame -> world, unit quaternion w x y z
    v: Array                 # (n, 3) velocity of the centre of mass [m/s], world frame
    w: Array                 # (n, 3) angular velocity [rad/s], world frame
    L: Array                 # (n, 3) angular momentum about the centre of mass [kg m2/s], world frame
    contacts: Contacts       # arrays cut to the valid rows
    events: tuple[Event, ...]   # the latest, oldest first
    event_count: int         # since the scene was opened
    energy: Energy
    momentum: tuple[float, float, float]          # [kg m/s]
    angular_momentum: tuple[float, float, float]  # about the world origin [kg m2/s]
    info: StepInfo
    history: tuple[int, int]    # first and last step that Seek can reach
    file: Path | None = None    # that the scene, or the recorded run, was read from
    camera: CameraTable | None = None  # the first view that the scene wants
    grabbed: Grabbed | None = None
    at_events: float = 1.0   # share of the speed near to events, as asked for
    error: str | None = None    # why the engine paused
    notice: str | None = None   # why the last command was refused, or what has become of it; the run goes on
    inspection: Inspection | None = None  # result of the latest `Inspect`
    #: energy of the last steps for the plot, oldest first: columns t [s], kinetic, potential, of springs, of compliant
    #: surfaces and springy limits, dissipated since the start [J]
    energy_log: Array = field(default_factory=lambda: _no_log(6))
    #: work [J], momentum (3) [kg m/s] and angular momentum (3) [kg m2/s] by cause since the start, rows as
    #: `ledger.Account`
    ledger: Array = field(default_factory=lambda: _no_ledger())
    #: joints of trees (see `Trees`): positions (n_q,), velocities (n_v,), and the loads (n_v,) of PushJoint
    joint_q: Array = field(default_factory=lambda: _none())
    joint_v: Array = field(default_factory=lambda: _none())
    joint_load: Array = field(default_factory=lambda: _none())
    dents: Array = field(default_factory=lambda: _none())  # (c,) how deep soft surfaces are pressed in [m]
    shears: Array = field(default_factory=lambda: _none())  # (c,) and how far they are displaced along the contact [m]
    moments: Array = field(default_factory=lambda: _none())  # (c, 3) against turning, on body b [N m], if any
    asleep: Array = field(default_factory=lambda: _none())  # (n,) whether a body sleeps; no rows: none does
    watch: Watch = field(default_factory=Watch)
    #: the watched quantities at the instants of `energy_log`: t, and a column a curve; nan where it is unknown
    trace: Array = field(default_factory=lambda: _no_log(1))
    coordinates: str = ""       # of the joints, where a comparison sets them
    side: int = 0               # which of `sides` this is
    sides: "tuple[Snapshot, ...]" = ()  # of a comparison: all sides at this instant
    timeline: Timeline = field(default_factory=lambda: Timeline((), _no_log(6)))
    links: LinkStudy | None = None  # the latest study
    orders: OrderStudy | None = None  # the latest study of this scene
    map: MapStudy | None = None     # the latest, also of another scene
    fan: Fan | None = None          # of this scene
    instant: ShownInstant | None = None  # within the step: bodies and contacts are those of this instant, `t` is not
    searching: bool = False         # paused, but on the way to where the last command leads
    quiet: float = 0.0              # time in which the last command found no event [s]; 0 = it searched for none
    replaying: bool = False         # a recording is shown, and nothing in its course has been changed so far
    script: ShownPanel | None = None  # of the script that made the window
    changes: tuple[str, str] = ("", "")  # what Undo would take back, and what it would make again; "" = nothing
    differs: int | None = None      # the first step that differed from the recorded one when it was made again
    trial: TrialState | None = None  # of `Try`, until something changes the course of the run

    def __post_init__(self) -> None:
        """Drop an inspection of another simulation: its bodies and contacts are not those of this snapshot."""
        if self.inspection is not None and self.inspection.labels is not self.labels:
            object.__setattr__(self, "inspection", None)

    @property
    def now(self) -> float:
        """Time of the bodies and contacts that are shown [s]."""
        return self.t if self.instant is None else self.instant.now

    @property
    def h(self) -> float:
        """Step of the clock [s]: the longest step of the sides."""
        return max(s.settings.h for s in (self, *self.sides))

    @property
    def behind(self) -> bool:
        """Whether the run is slower than asked, by more than the measurement scatters. Not so while it is paused."""
        return not self.paused and self.real_time_factor < IN_TIME * self.speed  # nan before it is measured


def _no_log(columns: int) -> Array:
    return np.zeros((0, columns))


def _no_ledger() -> Array:
    return np.zeros(LEDGER)


def _none() -> Array:
    return np.zeros(0)


__all__ = [
    "MOST_CURVES", "PHASES", "SIDES", "Command", "Compare", "Curve", "Energy", "Event", "Fan", "FanPath", "Focus",
    "GoToEvent", "Grab", "Grabbed", "Inspect", "Inspection", "JointImpulse", "LinkPoint", "LinkStudy", "MapPoint",
    "MapStudy", "MotorState", "MoveGrab", "Open", "OpenScript", "OrderPoint", "OrderStudy", "Pause", "Place",
    "Play", "PushJoint", "Recording", "Release", "Reset", "SaveRun", "Seek", "Set", "SetControl", "SetSpeed",
    "Settings", "ShownArrow", "ShownInstant", "ShownPanel", "Shutdown", "Side", "Snapshot", "Step", "StepInfo",
    "StepToEvent", "StudyFan", "StudyLinks", "StudyMap", "StudyOrders", "Timeline", "TrialState", "Try", "Undo",
    "Variant", "Watch", "Window",
]
