"""Cone, a right circular one about z: size (radius of the base, height, 0).

The shape frame sits at its centre of mass: the base is a quarter of the height below, the apex three quarters above.
"""

import math
from typing import Any

import numpy as np

from ..core.jit import helper
from ..core.model import Array, Model, ShapeKind
from .cylinder import CAP_CORNERS, CAP_COSINE, rim_towards
from .elements import AHEAD, BEHIND, FACE, RIM, SIDE, VERTEX, Element, arcs_of, flat_end
from .form import Form, Measured, Surface, about_origin, by_size, first, has_hollows, ray_to_disc
from .shapes import MassProperties

ALONG_SIDE = 0.98  # cosine to the normal of the side above which the cone touches along a line, not with its apex
SECTORS = 48       # of the drawn surface


@helper
def cone_support(size, u):
    """The point farthest along u: the apex or a point of the rim, whichever h u_z >= r |(u_x, u_y)| says."""
    if size[1] * u[2] >= size[0] * math.sqrt(u[0] * u[0] + u[1] * u[1]):
        return (0.0, 0.0, 0.75 * size[1])
    side = rim_towards(size[0], u)
    return (side[0], side[1], -0.25 * size[1])


@helper
def cone_corners(size, u):
    """Corners of the feature that looks most along the unit vector u: of the base, the 2 ends of a line of the side, or
    the apex. The outward normal of the side is (h, r)/√(h² + r²) along the radius and along z."""
    r, h = size[0], size[1]
    out = math.sqrt(u[0] * u[0] + u[1] * u[1])
    if u[2] < -CAP_COSINE:
        return CAP_CORNERS
    pointed = h * u[2] >= r * out and h * out + r * u[2] < ALONG_SIDE * math.sqrt(h * h + r * r)
    return 1 if pointed else 2


@helper
def cone_corner(size, u, i):
    """(point, offset along z to add to it) [m] of corner i of that feature."""
    count = cone_corners(size, u)
    if count == CAP_CORNERS:
        angle = -2.0 * math.pi / CAP_CORNERS * i
        return (size[0] * math.cos(angle), size[0] * math.sin(angle), -0.25 * size[1]), 0.0
    if count == 1 or i == 1:
        return (0.0, 0.0, 0.75 * size[1]), 0.0
    return rim_towards(size[0], u), -0.25 * size[1]


@helper
def cone_rim(size, end):
    """(height, radius) of the base (end = -1), and of the apex as a rim without radius."""
    return (-0.25 * size[1], size[0]) if end < 0.0 else (0.75 * size[1], 0.0)


def mass_properties(radius: float, height: float, density: float = 1.0) -> MassProperties:
    """m = π r² h ρ/3, centre h/4 above the base, I_z = 3/10 m r², I_x = I_y = 3/80 m (4 r² + h²)."""
    mass = density * math.pi * radius**2 * height / 3.0
    across = 0.0375 * mass * (4.0 * radius**2 + height**2)
    return about_origin(mass, np.array([across, across, 0.3 * mass * radius**2]))


def _box(model: Model, s: int) -> Array:
    r, h, _ = model.shapes.size[s]
    return np.array([0.0, 0.0, 0.25 * h, r, r, 0.5 * h])


def _measure(spec: Any) -> Measured:
    r, h = spec.radius, spec.height
    return Measured((r, h, 0.0), max(math.hypot(r, 0.25 * h), 0.75 * h), mass_properties(r, h))


def _elements(model: Model, s: int) -> list[Element]:
    """Apex, side, base, and the rim with its lowest point, those beside it and points to stand on; and its arcs where
    there are walls for them. On a plane a line of the side is represented by its two ends."""
    r, h, _ = model.shapes.size[s].tolist()
    apex, z, line = np.array([0.0, 0.0, 0.75 * h]), (0.0, 0.0, 1.0), math.hypot(r, h)
    found = [Element(VERTEX, apex, z, extent=0.0, taper=r / line),
             Element(SIDE, apex, z, line, extent=line, taper=r / line),
             *flat_end(-0.25 * h, -1.0, r, (FACE, RIM, AHEAD, BEHIND), r / line)]
    return found + arcs_of(-0.25 * h, r, 0.0) if has_hollows(model) else found


def _ray(o: Array, d: Array, size: Array) -> Array:
    """Through the base, or the side x² + y² = k² w², k = r/h, w = the height below the apex: a t² + 2 b t + c = 0."""
    r, h = size[:, 0], size[:, 1]
    k2, w = (r / h) ** 2, 0.75 * h - o[:, 2]
    a = d[:, 0] ** 2 + d[:, 1] ** 2 - k2 * d[:, 2] ** 2
    a = np.where(np.abs(a) < 1e-12, 1e-12, a)  # along a line of the side: one root goes far away
    b = o[:, 0] * d[:, 0] + o[:, 1] * d[:, 1] + k2 * w * d[:, 2]
    c = o[:, 0] ** 2 + o[:, 1] ** 2 - k2 * w**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    nearest = ray_to_disc(o, d, -0.25 * h, r)
    for t in ((-b - root) / a, (-b + root) / a):
        below = w - t * d[:, 2]
        nearest = np.minimum(nearest, first(t, (b * b >= a * c) & (below >= 0.0) & (below <= h)))
    return nearest


def _surface(model: Model, s: int) -> Surface:
    r, h, _ = model.shapes.size[s].tolist()
    angle, n = 2.0 * np.pi / SECTORS * np.arange(SECTORS), SECTORS
    ring = np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(n, -0.25 * h)])
    i, j = np.arange(n), (np.arange(n) + 1) % n
    side = np.column_stack([i, j, np.full(n, n)])
    base = np.column_stack([j, i, np.full(n, n + 1)])
    return np.vstack([ring, [0.0, 0.0, 0.75 * h], [0.0, 0.0, -0.25 * h]]), np.vstack([side, base]).astype(np.int32)


FORM = Form(ShapeKind.CONE, _box, _elements, by_size(_ray), _measure, _surface)
