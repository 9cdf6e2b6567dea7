"""What a method is given and what it reports: settings, how a step went, events, energies. Plain records that know
nothing of scenes, simulations or threads."""

from dataclasses import dataclass
from typing import NamedTuple

SIDES = (2, 3)  #: least and greatest number of sides of a comparison


@dataclass(frozen=True, slots=True)
class Settings:
    """What the panel can change, with its defaults; what each setting means and allows stands in core.settings."""

    method: str = "time_stepping"
    integrator: str = "rk4"
    solver: str = "newton"
    h: float = 1.0 / 240.0  # step [s]
    iterations: int = 30
    restitution: float | None = None  # None = as the materials say
    friction: float | None = None
    friction_static: float | None = None  # static friction; None = as the materials say
    friction_torsional: float | None = None  # [m]; None = as the materials say, as also of
    friction_rolling: float | None = None
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  # [m/s2]
    impact_law: str = "newton"
    restitution_t: float | None = None    # of balls, of the slip; None = as the materials say
    restitution_psi: float | None = None  # of balls, of the spin about the normal; None = as the materials say
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
    sleep: float = 0.0  # part of 2 g h below which bodies rest, and may sleep in `time_stepping`; 0 = none does


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: how it computes the scene."""

    settings: Settings
    coordinates: str = ""  # of all joints: generalized, maximal; "" = as the scene says


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of the system by kind."""

    kinetic: float    # [J]
    potential: float  # in gravity, zero at the world origin [J]
    spring: float     # stored in springs [J]

    @property
    def total(self) -> float:
        return self.kinetic + self.potential + self.spring


class JointImpulse(NamedTuple):
    """Impulse that a joint transmitted from parent to child in an impact, that of its limits included; world frame."""

    joint: int                           #: row of Joints
    point: tuple[float, float, float]    #: [m]
    impulse: tuple[float, float, float]  #: [N s]
    moment: tuple[float, float, float]   #: about the point [N m s]


class Reason(NamedTuple):
    """The number for which a contact set changed, in SI units. `what` says which:

        gap       φ would become `value` by the end of the piece of the step
        force     λ would become `value` by then
        margin    the contact would be `value` inside its face or edge by then, beyond it where < 0
        cone      the friction `value` reaches what λ allows, `bound`
        moment    the moment `value` reaches what λ allows, `bound`
        slides    to hold it, friction would have to be more than `bound`; it slides with `value`
        holds     the friction `value` that holds it, less than `bound`
        apart     without a force it opens with ζ̇ = `value`
        parts     it opens with ζ = `value`
        rests     it stays, and λ becomes `value`
        closes    it closes with ζ = `value`
        passed    it does not close by itself: another contact's impact was passed on to it
        jam       no forces obey the contact laws without an impact
    """

    what: str
    value: float = 0.0
    bound: float = 0.0


class Event(NamedTuple):
    """A change of the contact set, of a motor or of a limit, with its instant."""

    kind: str                            # impact, gain, geometric_loss, dynamic_loss, stick, slip, turn, ...
    step: int
    t: float                             # [s]
    bodies: tuple[int, int]              # a, b
    point: tuple[float, float, float]    # [m], world
    normal: tuple[float, float, float]   # from a to b
    impulse: tuple[float, float, float]  # on body b [N s], world
    energy_before: float                 # kinetic + potential of the system [J]
    energy_after: float                  # the same after the event [J]
    case_after: int = 0                  # of an impact: Case of the pair after it, 0 = unknown; before it is COLLIDING
    limit: int = -1                      # row of Joints whose limit this is about, -1 = none; bodies are those it joins
    joints: tuple[JointImpulse, ...] = ()  # of an impact: impulses in joints, summed over all impacts of this instant
    reason: Reason | None = None           # None = the kind says all that is known

    def at_step(self, step: int) -> "Event":
        """The same event with this step number."""
        return tuple.__new__(Event, (self[0], step, *self[2:]))


class MotorState(NamedTuple):
    """A motor that seeks a speed, at the end of a step."""

    joint: int    #: row of Joints
    speed: float  #: [rad/s] or [m/s]
    force: float  #: [N m] or [N]
    holds: bool   #: True: it keeps the speed it seeks; False: it is at its limit of force


@dataclass(frozen=True, slots=True)
class StepInfo:
    """How a step went."""

    residual: float = 0.0    # natural-map residual of the contact problem [m/s] (event_driven: [m/s2])
    iterations: int = 0
    status: str = "solved"
    contacts: int = 0
    pairs: int = 0           # pairs of shapes the narrow phase looked at
    penetration: float = 0.0 # deepest overlap [m]
    substeps: int = 1        # of the integrator, in the method `compliant`
    stable_step: float = float("inf")  # longest step that is surely stable for the integrator of `compliant` [s]
    stored: float = 0.0      # energy in compliant surfaces and springy limits of joints [J]
    dissipated: float = 0.0  # energy that these and friction took since the method `compliant` began [J]
    steps: int = 0           # of `event_driven` since the start: steps
    pieces: int = 0          # of `event_driven` since the start: integrator steps, those cut at events included
    solves: int = 0          # of `event_driven` since the start: contact problems solved for sets or impulses
    events: int = 0          # of `event_driven` since the start: events
    projection: float = 0.0  # of `event_driven` since the start: energy that the projection of drift put in [J]
    joint_error: float = 0.0 # greatest distance or angle by which a joint in maximal coordinates is apart [m], [rad]
    joint_unit: str = "m"    # which of the two: "m" or "rad"
    motors: tuple[MotorState, ...] = ()
    asleep: int = 0          # bodies that sleep
