"""Commands that concern one simulation alone; `Simulation.apply` carries them out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reset:
    """Back to the scene's first state; slider settings stay."""


@dataclass(frozen=True, slots=True)
class Set:
    """Change one setting of a running simulation. Names and allowed values are those of `Simulation.set`."""

    name: str
    value: float | int | str | tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Grab:
    """Grab a body: a critically damped spring pulls a point of it to `target`."""

    body: int
    point: tuple[float, float, float]   # on the body, as it is now [m], world frame
    target: tuple[float, float, float]  # [m], world frame
    turn: bool = False                  # turn the body about its centre of mass instead of pulling it


@dataclass(frozen=True, slots=True)
class MoveGrab:
    """Pull the grabbed body towards another point."""

    target: tuple[float, float, float]  # [m], world frame


@dataclass(frozen=True, slots=True)
class Release:
    """Let go of the grabbed body."""


@dataclass(frozen=True, slots=True)
class PushJoint:
    """Put a constant torque or force on a joint of a tree, in place of the one before. `velocity` is the row of the
    joint's velocity in `JointState.v`."""

    velocity: int
    force: float  # [N m] or [N]


@dataclass(frozen=True, slots=True)
class Place:
    """Put a free body elsewhere, between two steps. It keeps its velocity."""

    body: int
    x: tuple[float, float, float]         # centre of mass [m], world frame
    q: tuple[float, float, float, float]  # body frame -> world, quaternion w x y z


SimulationCommand = Reset | Set | Grab | MoveGrab | Release | PushJoint | Place
