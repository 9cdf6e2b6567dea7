"""Cylinder: size (radius, half height, 0), axis z. Directions u need not be unit vectors unless a docstring says so."""

import math
from typing import Any

import numpy as np

from ..core.jit import helper
from ..core.model import Array, Model, ShapeKind
from .elements import AHEAD, BEHIND, EDGE, FACE, RIM, Element, arcs_of, flat_end
from .form import Form, Measured, about_origin, by_size, has_hollows, ray_to_disc, ray_to_tube, size_box
from .shapes import MassProperties

CAP_CORNERS = 8   # points that stand for the rim of a flat round end
CAP_COSINE = 0.7  # cosine between u and the axis below which a cylinder touches with its side


@helper
def rim_towards(radius, u):
    """The point of a circle about the z axis farthest along u; its centre where u is parallel to the axis up to
    rounding, so that rounding errors are not scaled up."""
    rho = math.sqrt(u[0] * u[0] + u[1] * u[1])
    r = radius / rho if rho > 1e-12 * abs(u[2]) else 0.0
    return (r * u[0], r * u[1], 0.0)


@helper
def cylinder_support(size, u):
    """The point farthest along u."""
    side = rim_towards(size[0], u)
    return (side[0], side[1], size[1] if u[2] >= 0.0 else -size[1])


@helper
def cylinder_width(half, r):
    """Half the width, along a unit vector r, of the cylinder in a box of half extents `half`: ρ sqrt(1 - r_z²) of its
    discs of radius ρ = half[0], plus half[2] |r_z| of its axis."""
    return half[0] * math.sqrt(max(0.0, 1.0 - r[2] * r[2])) + half[2] * abs(r[2])


@helper
def cylinder_corners(u):
    """Corners of the feature that looks most along the unit vector u: of a cap, or the 2 of a line of the side."""
    return 2 if abs(u[2]) < CAP_COSINE else CAP_CORNERS


@helper
def cylinder_corner(size, u, i):
    """(point, offset along z to add to it) [m] of corner i of that feature."""
    if abs(u[2]) < CAP_COSINE:
        return rim_towards(size[0], u), -size[1] if i == 0 else size[1]
    up = 1.0 if u[2] > 0.0 else -1.0
    angle = up * 2.0 * math.pi / CAP_CORNERS * i
    return (size[0] * math.cos(angle), size[0] * math.sin(angle), up * size[1]), 0.0


def mass_properties(radius: float, height: float, density: float = 1.0) -> MassProperties:
    """About the z axis: I_z = m r²/2, I_x = I_y = m (3 r² + h²) / 12."""
    mass = density * math.pi * radius**2 * height
    across = mass * (3.0 * radius**2 + height**2) / 12.0
    return about_origin(mass, np.array([across, across, 0.5 * mass * radius**2]))


def _measure(spec: Any) -> Measured:
    half = 0.5 * spec.height
    return Measured((spec.radius, half, 0.0), math.hypot(spec.radius, half), mass_properties(spec.radius, spec.height))


def _elements(model: Model, s: int) -> list[Element]:
    """The side as a swollen edge; of each end the face, the rim with its lowest point and those beside it, and points
    of the rim to stand on; and its arcs where there are walls for them."""
    radius, half, _ = model.shapes.size[s].tolist()
    z = np.array([0.0, 0.0, 1.0])
    ends = [e for s in (-1.0, 1.0) for e in flat_end(s * half, s, radius, (FACE, RIM, AHEAD, BEHIND))]
    if has_hollows(model):
        ends += arcs_of(-half, radius, 0.0) + arcs_of(half, radius, 0.0)
    return [Element(EDGE, 0.0 * z, z, half, radius, extent=half + radius), *ends]


def _ray(o: Array, d: Array, size: Array) -> Array:
    """Through the side or through the cap that faces the ray."""
    cap = ray_to_disc(o, d, -np.sign(d[:, 2]) * size[:, 1], size[:, 0])
    return np.minimum(ray_to_tube(o, d, size[:, 0], size[:, 1]), cap)


FORM = Form(
    ShapeKind.CYLINDER, size_box(lambda size: (size[0], size[0], size[1])), _elements, by_size(_ray), _measure,
)
