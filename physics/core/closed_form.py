"""The motion of a body in closed form, as a scene states it beside what is computed; `look.closed_forms` works it
out."""

from collections.abc import Mapping
from typing import NamedTuple

from .formula import Formula

#: names of numbers that every formula may use, with their meaning
PARAMETERS = {
    "t": "the time [s]", "g": "the size of gravity [m/s2]", "e": "the restitution", "e_t": "the restitution of slip",
    "mu": "the friction", "mu_s": "the static friction",
    "K": "the stiffness along the normal of both surfaces together [N/m]", "D": "their damping [N s/m]",
}
#: names of numbers of the body at the start
START = ("m", "x0", "y0", "z0", "vx0", "vy0", "vz0", "wx0", "wy0", "wz0")


class ClosedForm(NamedTuple):
    """Where a body is at the time t, by formulas over PARAMETERS, the numbers `start` of its beginning, and what `let`
    names, each of which may use those before it."""

    body: int                              #: row of the body
    other: int                             #: row of the body that it touches: e, mu, ... are those of the two
    start: Mapping[str, float]             #: by the names of START, in SI units
    let: tuple[tuple[str, Formula], ...]
    position: tuple[Formula, ...]          #: (3) where its `position` of the scene is [m]
    turn: tuple[Formula, ...]              #: (3) rotation vector from its first orientation, world axes [rad]
    holds: Formula                         #: not 0 while the others hold
    center: tuple[float, ...]              #: (3) centre of mass at the start [m]
    orientation: tuple[float, ...]         #: (4) body frame -> world at the start, unit quaternion w x y z
