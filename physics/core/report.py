"""What a method is told and what it reports: settings, how a step went, events, energies. Plain records that know
nothing of scenes, simulations or threads."""

from dataclasses import dataclass
from typing import NamedTuple

SIDES = (2, 3)  #: how few and how many can be compared


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


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison."""

    settings: Settings
    coordinates: str = ""  # of all joints: generalized, maximal; "" = as the scene says


@dataclass(frozen=True, slots=True)
class Energy:
    kinetic: float    # [J]
    potential: float  # in gravity, zero at the world origin [J]
    spring: float     # stored in springs [J]

    @property
    def total(self) -> float:
        return self.kinetic + self.potential + self.spring


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
