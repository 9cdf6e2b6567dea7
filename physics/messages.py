"""What crosses between the physics thread and everybody else.

Commands go in, ordered and never lost. A Snapshot comes out, latest wins. All are frozen; arrays in a Snapshot are
read-only copies, so a reader can keep them as long as it likes.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from contactlab.physics.model import Array, IntArray, Labels, Model
from contactlab.physics.problem import ContactProblem
from contactlab.physics.state import LEDGER, Contacts

if TYPE_CHECKING:
    from contactlab.physics.inspection import Inspection
    from contactlab.physics.scene import Scene

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
class Reset:
    """Back to the scene's first state; slider settings stay."""


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Simulated seconds per second, 0.01 … 1 and beyond."""

    speed: float


@dataclass(frozen=True, slots=True)
class Set:
    """Change one setting while it runs: restitution, friction, gravity (3-tuple), h, iterations, method, integrator,
    solver, impact_law. Names and allowed values are those of `Simulation.set`."""

    name: str
    value: float | int | str | tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Open:
    """Run another scene. It was loaded and checked by the sender, so opening cannot fail half-way."""

    scene: "Scene"
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Grab:
    """Take hold of a body: a critically damped spring from a point of the body to `target`."""

    body: int
    point: tuple[float, float, float]   # world, on the body now
    target: tuple[float, float, float]  # world
    turn: bool = False                  # pull with rotation: the torque follows the target about the centre of mass


@dataclass(frozen=True, slots=True)
class MoveGrab:
    target: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Release:
    pass


@dataclass(frozen=True, slots=True)
class Inspect:
    """From now on look into the contact equations: the Snapshot's `inspection` then answers this."""

    view: str = ""                 # equations, pivots, impact, step; "" = look no more
    solver: str = "dantzig"        # name in LCP_SOLVERS: whose λ is shown, and whose way to it
    problem: ContactProblem | None = None  # looked at in place of the scene's, where given
    restitution: float | None = None       # of the contacts of an impact; None = as it was
    friction: float | None = None
    restitution_t: float | None = None     # of balls
    restitution_psi: float | None = None


@dataclass(frozen=True, slots=True)
class PushJoint:
    """Put a constant torque or force on a joint of a tree, until another one: row `velocity` of `JointState.v`."""

    velocity: int
    force: float  # [N m] or [N]


@dataclass(frozen=True, slots=True)
class Compare:
    """Run the scene from its start on several sides at once, on one clock; () = go on with the side in focus alone.

    Set reaches the side in focus but for what is the same on all sides (`lockstep.SHARED`); everything else reaches
    all of them.
    """

    sides: "tuple[Side, ...]" = ()


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
    Play | Pause | Step | StepToEvent | Seek | Reset | SetSpeed | Set | Open | Grab | MoveGrab | Release | Inspect
    | PushJoint | Compare | Focus | Watch | StudyLinks | Shutdown
)

# ---------------------------------------------------------------------------------------------------- snapshot


class JointImpulse(NamedTuple):
    """What a joint of a tree passed on from the parent to the child in an impact, world frame; its limits included."""

    joint: int                           #: row of Joints
    point: tuple[float, float, float]    #: [m]
    impulse: tuple[float, float, float]  #: [N s]
    moment: tuple[float, float, float]   #: about the point [N m s]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the contact set."""

    kind: str                            # impact, gain, geometric_loss, dynamic_loss, ...
    step: int
    t: float                             # [s]
    bodies: tuple[int, int]              # a, b
    point: tuple[float, float, float]    # [m], world
    normal: tuple[float, float, float]   # from a to b
    impulse: tuple[float, float, float]  # on body b [N s], world
    energy_before: float                 # kinetic + potential of the system [J]
    energy_after: float
    case_after: int = 0                  # of an impact: the Case of the pair after it, 0 = not told; before it is 2a
    limit: int = -1                      # row of Joints whose limit this is about; then bodies are those it joins
    joints: tuple[JointImpulse, ...] = ()  # of an impact: what joints passed on in all that happened at this instant

    def at_step(self, step: int) -> "Event":
        """The same event, of this step."""
        return Event(self.kind, step, self.t, self.bodies, self.point, self.normal, self.impulse, self.energy_before,
                     self.energy_after, self.case_after, self.limit, self.joints)


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


@dataclass(frozen=True, slots=True)
class Grabbed:
    """The mouse spring as the engine applies it."""

    body: int
    point: tuple[float, float, float]   # attached point now, world
    target: tuple[float, float, float]  # world
    force: tuple[float, float, float]   # on the body [N], world


@dataclass(frozen=True, slots=True)
class Energy:
    kinetic: float    # [J]
    potential: float  # in gravity, zero at the world origin [J]
    spring: float     # stored in springs [J]

    @property
    def total(self) -> float:
        return self.kinetic + self.potential + self.spring


@dataclass(frozen=True, slots=True)
class Settings:
    """What the panel can change."""

    method: str = "time_stepping"
    integrator: str = "rk4"
    solver: str = "pgs"
    h: float = 1.0 / 240.0
    iterations: int = 30
    restitution: float | None = None  # None = as the materials say
    friction: float | None = None
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    impact_law: str = "newton"
    restitution_t: float | None = None    # of balls, along the surface; None = as the materials say
    restitution_psi: float | None = None  # and about the normal
    # of the method `compliant`; stiffness [N/m] and damping [N s/m] of every pair, None = as the materials say
    stiffness_n: float | None = None
    damping_n: float | None = None
    stiffness_t: float | None = None
    damping_t: float | None = None
    stiffness_series: float | None = None
    damping_roll: float | None = None
    law: str = "linear"
    surface: str = "closed_form"
    substeps: int = 0  # of an explicit integrator; 0 = as many as it needs
    joint_cure: str = "projection"    # what keeps joints in maximal coordinates together


SIDES = (2, 3)  #: how few and how many can be compared


class LinkStudy(NamedTuple):
    """A study of falling chains."""

    settings: Settings               #: with which method, integrator and step they fall
    points: tuple[LinkPoint, ...]    #: what was found so far
    running: bool                    #: there will be more


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison."""

    settings: Settings
    coordinates: str = ""  # of all joints: generalized, maximal; "" = as the scene says


class MotorState(NamedTuple):
    """What a motor that seeks a speed did at the end of a step."""

    joint: int    #: row of Joints
    speed: float  #: [rad/s] or [m/s]
    force: float  #: [N m] or [N]
    holds: bool   #: False: it exerts all it can


@dataclass(frozen=True, slots=True)
class StepInfo:
    """How the last step went."""

    residual: float = 0.0    # natural-map residual of the contact problem [m/s] (event_driven: [m/s2])
    iterations: int = 0
    status: str = "solved"
    contacts: int = 0
    pairs: int = 0           # pairs of shapes the narrow phase looked at
    penetration: float = 0.0 # deepest overlap [m]
    substeps: int = 1        # of the integrator, in the method `compliant`
    stable_step: float = float("inf")  # the longest that is surely stable for its integrator [s]
    stored: float = 0.0      # energy in compliant surfaces and springy limits of joints [J]
    dissipated: float = 0.0  # energy they and friction took since the method began [J]
    steps: int = 0           # since the start, where the method is event-driven: steps,
    pieces: int = 0          # integrator steps, those cut at events included,
    solves: int = 0          # contact problems solved for sets or impulses,
    events: int = 0
    projection: float = 0.0  # energy that projecting drift out put in [J]
    joint_error: float = 0.0 # how far the worst joint in maximal coordinates has come apart [m], [rad]
    motors: tuple[MotorState, ...] = ()


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
    inspection: "Inspection | None" = None  # the latest look that `Inspect` asked for
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
    import numpy as np

    return np.zeros((0, columns))


def _no_ledger() -> Array:
    import numpy as np

    return np.zeros(LEDGER)


def _none() -> Array:
    import numpy as np

    return np.zeros(0)


__all__ = [
    "SIDES", "Command", "Compare", "Energy", "Event", "Focus", "Grab", "Grabbed", "Inspect", "IntArray",
    "LinkPoint", "LinkStudy", "MotorState", "MoveGrab", "Open", "Pause", "Play", "PushJoint", "Release", "Reset",
    "Seek", "Set", "SetSpeed", "Settings", "Shutdown", "Side", "Snapshot", "Step", "StepInfo", "StepToEvent",
    "StudyLinks", "Timeline", "Watch",
]
