"""Box: size = half extents."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.model import Array, ShapeKind
from .elements import Element, polyhedron
from .form import Core, Form, Measured, about_origin, by_size, first, of_size, size_box
from .shapes import MassProperties

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
LOOPS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
EDGES = [(a, b, *(f for f in range(6) if a in LOOPS[f] and b in LOOPS[f]))
         for a in range(8) for b in range(a) if (CORNERS[a] != CORNERS[b]).sum() == 1]


def mass_properties(size: ArrayLike, density: float = 1.0) -> MassProperties:
    """A box of full lengths size (3,): I_x = m (b² + c²) / 12, and so on."""
    square = np.asarray(size, np.float64) ** 2
    mass = density * math.sqrt(float(np.prod(square)))
    return about_origin(mass, mass / 12.0 * (square.sum() - square))


def _measure(spec: Any) -> Measured:
    half = 0.5 * np.array(spec.size)
    return Measured(tuple(half), math.hypot(*half), mass_properties(spec.size))


def _ray(o: Array, d: Array, size: Array) -> Array:
    """The ray is inside from the last entry into a slab to the first exit from one."""
    safe = np.where(np.abs(d) < 1e-300, 1e-300, d)
    near, far = (-np.sign(safe) * size - o) / safe, (np.sign(safe) * size - o) / safe
    entry, leave = near.max(axis=1), far.min(axis=1)
    return first(entry, entry <= leave)


def _elements(size: Array) -> list[Element]:
    return polyhedron(CORNERS * size, LOOPS)


FORM = Form(
    ShapeKind.BOX, size_box(lambda size: size), of_size(_elements), by_size(_ray), _measure,
    core=Core(CORNERS, np.repeat(np.eye(3), 2, axis=0) * np.tile([[-1.0], [1.0]], (3, 1)), LOOPS, EDGES),
)
