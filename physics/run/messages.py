"""What crosses between the physics thread and everybody else.

Commands go in, ordered and never lost. A Snapshot comes out, latest wins. All are frozen; arrays in a Snapshot are
read-only copies, so a reader can keep them as long as it likes.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..core.model import Array, Labels, Model
from ..core.report import SIDES, Energy, Event, JointImpulse, MotorState, Settings, Side, StepInfo
from ..core.state import LEDGER, Contacts
from ..look.inspection import Inspect, Inspection
from ..scene.scene import Scene
from ..simulation.commands import Grab, MoveGrab, PushJoint, Release, Reset, Set, SimulationCommand

# ---------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Play:
    pass


@dataclass(frozen=True, slots=True)
class Pause:
    pass


@dataclass(frozen=True, slots=True)
class Step:
    """Go `count` steps forward (or back, through the history, where negative) and stay paused."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class StepToEvent:
    """Go to the next event (direction 1, at most `limit` seconds ahead) or back to the previous one (-1)."""

    direction: int = 1
    limit: float = 10.0


@dataclass(frozen=True, slots=True)
class Seek:
    """Restore the state of step number `step` from the history, exactly."""

    step: int


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Simulated seconds per second, 0.01 … 1 and beyond."""

    speed: float


@dataclass(frozen=True, slots=True)
class Open:
    """Run another scene. It was loaded and checked by the sender, so opening cannot fail half-way."""

    scene: Scene
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    """Run the scene from its start on several sides at once, on one clock; () = go on with the side in focus alone.

    Set reaches the side in focus but for what is the same on all sides (`lockstep.SHARED`); everything else reaches
    all of them.
    """

    sides: tuple[Side, ...] = ()


@dataclass(frozen=True, slots=True)
class Focus:
    """The side of a comparison that the Snapshot is of, and that Set changes."""

    side: int


@dataclass(frozen=True, slots=True)
class Watch:
    """From now on note a quantity in the Snapshot's `trace`."""

    quantity: str = ""  # name in QUANTITIES; "" = none
    body: int = -1      # whose, where it is that of a body


@dataclass(frozen=True, slots=True)
class StudyLinks:
    """Pause, and let chains of more and more links fall in both coordinates with the settings of the side in focus;
    the Snapshot's `links` tells what was found. on=False: no more of it."""

    on: bool = True


@dataclass(frozen=True, slots=True)
class Shutdown:
    pass


Command = (
    SimulationCommand | Play | Pause | Step | StepToEvent | Seek | SetSpeed | Open | Inspect | Compare | Focus | Watch
    | StudyLinks | Shutdown
)

# ---------------------------------------------------------------------------------------------------- snapshot


class Timeline(NamedTuple):
    """What happened, also after a step that was gone back to, as long as the run can go on to it."""

    events: tuple[Event, ...]  #: oldest first
    bars: Array                #: (k, 6) when a contact was in the sets: columns BEGIN … LEVEL of `timeline`


class LinkPoint(NamedTuple):
    """What was found of a chain that falls, see `link_study`."""

    links: int
    coordinates: str  #: generalized, maximal
    cure: str         #: of the drift in maximal coordinates
    cost: float       #: processor time of a step, the median [s]
    apart: float      #: how far the worst joint came apart [m]; nan where the motion did not stay finite
    astray: float     #: distance of the last link at the end from where generalized coordinates have it [m]
    energy: float     #: its change, in parts of what can fall


class LinkStudy(NamedTuple):
    """A study of falling chains."""

    settings: Settings               #: with which method, integrator and step they fall
    points: tuple[LinkPoint, ...]    #: what was found so far
    running: bool                    #: there will be more


@dataclass(frozen=True, slots=True)
class Grabbed:
    """The mouse spring as the engine applies it."""

    body: int
    point: tuple[float, float, float]   # attached point now, world
    target: tuple[float, float, float]  # world
    force: tuple[float, float, float]   # on the body [N], world


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One instant, complete enough to draw everything the app draws."""

    generation: int          # changes when another scene is opened: model and labels are then new
    scene_name: str          # file name or gallery key
    model: Model
    labels: Labels
    settings: Settings
    step: int
    t: float                 # [s]
    paused: bool
    speed: float
    real_time_factor: float  # simulated seconds per wall second, measured
    x: Array                 # (n, 3)
    q: Array                 # (n, 4)
    v: Array                 # (n, 3)
    w: Array                 # (n, 3)
    L: Array                 # (n, 3)
    contacts: Contacts       # arrays cut to the valid rows
    events: tuple[Event, ...]   # the latest, oldest first
    event_count: int         # since the scene was opened
    energy: Energy
    momentum: tuple[float, float, float]          # [kg m/s]
    angular_momentum: tuple[float, float, float]  # about the world origin [kg m2/s]
    info: StepInfo
    history: tuple[int, int]    # first and last step that Seek can reach
    grabbed: Grabbed | None = None
    error: str | None = None    # why the engine paused
    notice: str | None = None   # why the last command was refused; the run goes on
    inspection: Inspection | None = None  # the latest look that `Inspect` asked for
    #: energy of the last steps for the plot: columns t [s], kinetic, potential, of springs, held by compliant surfaces
    #: and limits, dissipated since the start [J]; oldest first
    energy_log: Array = field(default_factory=lambda: _no_log(6))
    #: work and momenta by cause since the start, rows as `ledger.Account`
    ledger: Array = field(default_factory=lambda: _no_ledger())
    #: of the links of trees (see `Trees`): positions, velocities, and what PushJoint put on them
    joint_q: Array = field(default_factory=lambda: _none())
    joint_v: Array = field(default_factory=lambda: _none())
    joint_load: Array = field(default_factory=lambda: _none())
    dents: Array = field(default_factory=lambda: _none())  # (c,) how deep soft surfaces are pressed in [m]
    watch: Watch = field(default_factory=Watch)
    #: what is watched, at the instants of `energy_log`: columns t, value; nan where it is not known
    trace: Array = field(default_factory=lambda: _no_log(2))
    coordinates: str = ""       # of the joints, where a comparison sets them
    side: int = 0               # which of `sides` this is
    sides: "tuple[Snapshot, ...]" = ()  # of a comparison, all of them, at this very instant
    timeline: Timeline = field(default_factory=lambda: Timeline((), _no_log(6)))
    links: LinkStudy | None = None  # the last one

    @property
    def h(self) -> float:
        """From one step to the next [s]: the longest step of the sides."""
        return max(s.settings.h for s in (self, *self.sides))


def _no_log(columns: int) -> Array:
    return np.zeros((0, columns))


def _no_ledger() -> Array:
    return np.zeros(LEDGER)


def _none() -> Array:
    return np.zeros(0)


__all__ = [
    "SIDES", "Command", "Compare", "Energy", "Event", "Focus", "Grab", "Grabbed", "Inspect", "Inspection",
    "JointImpulse", "LinkPoint", "LinkStudy", "MotorState", "MoveGrab", "Open", "Pause", "Play", "PushJoint",
    "Release", "Reset", "Seek", "Set", "SetSpeed", "Settings", "Shutdown", "Side", "Snapshot", "Step", "StepInfo",
    "StepToEvent", "StudyLinks", "Timeline", "Watch",
]
