"""Capsule: size (radius, half length of the segment, 0); a segment along z swollen by the radius."""

import math
from typing import Any

import numpy as np

from ..core.model import Array, ShapeKind
from . import cylinder
from .elements import EDGE, VERTEX, Element
from .form import Core, Form, Measured, about_origin, by_size, of_size, ray_to_ball, ray_to_tube, size_box
from .shapes import MassProperties


def mass_properties(radius: float, height: float, density: float = 1.0) -> MassProperties:
    """A cylinder of the given height along z with a half ball on either end.

    The centre of mass of a half ball is 3r/8 from its flat side, and its inertia about a diameter of that side is
    2/5 m r²; so the two together, mass m, add m (2/5 r² + h²/4 + 3hr/8) to I_x and I_y.
    """
    tube = cylinder.mass_properties(radius, height, density)
    balls = density * 4.0 / 3.0 * math.pi * radius**3
    across = balls * (0.4 * radius**2 + 0.25 * height**2 + 0.375 * height * radius)
    moments = np.diag(tube.inertia) + np.array([across, across, 0.4 * balls * radius**2])
    return about_origin(tube.mass + balls, moments)


def _measure(spec: Any) -> Measured:
    half = 0.5 * spec.height
    return Measured((spec.radius, half, 0.0), spec.radius + half, mass_properties(spec.radius, spec.height))


def _elements(size: Array) -> list[Element]:
    radius, half = float(size[0]), float(size[1])
    z = np.array([0.0, 0.0, 1.0])
    ends = [Element(VERTEX, s * half * z, radius=radius, sides=((-s * z, -half),), extent=radius) for s in (-1.0, 1.0)]
    return [*ends, Element(EDGE, 0.0 * z, z, half, radius, extent=half + radius)]


def _ray(o: Array, d: Array, size: Array) -> Array:
    radius, up = size[:, 0], np.zeros_like(o)
    up[:, 2] = size[:, 1]
    ends = np.minimum(ray_to_ball(o - up, d, radius), ray_to_ball(o + up, d, radius))
    return np.minimum(ray_to_tube(o, d, radius, size[:, 1]), ends)


FORM = Form(
    ShapeKind.CAPSULE, size_box(lambda size: (0.0, 0.0, size[1])), of_size(_elements), by_size(_ray), _measure,
    core=Core(np.array([[0, 0, -1.0], [0, 0, 1.0]]), np.zeros((0, 3)), [], [(0, 1, 0, 0)]), swollen=True,
)
