"""Commands that concern one simulation alone; `Simulation.apply` carries them out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reset:
    """Back to the scene's first state; slider settings stay."""


@dataclass(frozen=True, slots=True)
class Set:
    """Change one setting while it runs: restitution, friction, gravity (3-tuple), h, iterations, method, integrator,
    solver, impact_law. Names and allowed values are those of `Simulation.set`."""

    name: str
    value: float | int | str | tuple[float, float, float]


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
class PushJoint:
    """Put a constant torque or force on a joint of a tree, until another one: row `velocity` of `JointState.v`."""

    velocity: int
    force: float  # [N m] or [N]


SimulationCommand = Reset | Set | Grab | MoveGrab | Release | PushJoint
