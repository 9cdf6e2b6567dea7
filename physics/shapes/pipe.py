"""Pipe, the inner face of a tube along z: size (radius, half height, cosine of the angle from the bottom, at -y, to an
edge)."""

import math
from typing import Any

import numpy as np

from ..core.model import Array, Model, ShapeKind
from .bowl import LIP, rise, wall_width
from .elements import PIPE, Element
from .form import NO_MASS, Form, Measured, Surface, by_size, first, of_size, sheets


def _box(model: Model, s: int) -> Array:
    radius, half, cosine = model.shapes.size[s]
    depth = 0.5 * radius * (1.0 - cosine)
    return np.array([0.0, depth - radius, 0.0, wall_width(radius, cosine), depth, half])


def _measure(spec: Any) -> Measured:
    half = 0.5 * spec.height
    return Measured((spec.radius, half, rise(spec.angle)), math.hypot(spec.radius, half), NO_MASS)


def _elements(size: Array) -> list[Element]:
    radius, half, cosine = size.tolist()
    sides = (((0.0, 1.0, 0.0), -radius * cosine),)
    return [Element(PIPE, np.zeros(3), (0.0, 0.0, 1.0), half, radius, sides, math.hypot(radius, half))]


def _ray(o: Array, d: Array, size: Array) -> Array:
    """The inner face. Rays pass through the wall from outside, where it is not drawn."""
    a = np.maximum(d[:, 0] ** 2 + d[:, 1] ** 2, 1e-300)
    b = -(o[:, 0] * d[:, 0] + o[:, 1] * d[:, 1]) / a
    x, y = o[:, 0] + b * d[:, 0], o[:, 1] + b * d[:, 1]
    h2 = size[:, 0] ** 2 - x * x - y * y
    t = b + np.sqrt(np.maximum(h2, 0.0) / a)
    stands = -(o[:, 1] + t * d[:, 1]) >= size[:, 0] * size[:, 2]
    return first(t, (h2 >= 0.0) & stands & (np.abs(o[:, 2] + t * d[:, 2]) <= size[:, 1]))


def _surface(model: Model, s: int) -> Surface:
    """The inner face from one edge over the bottom at -y to the other, and a lip on the outside of both ends."""
    radius, half, cosine = model.shapes.size[s].tolist()
    edge = np.arccos(cosine)
    around = np.linspace(-edge, edge, 2 * max(4, int(np.ceil(edge / np.radians(5.0)))) + 1)

    def band(low: float, high: float) -> Array:
        z = np.array([low, high])[:, None]
        return np.stack(np.broadcast_arrays(radius * np.sin(around), -radius * np.cos(around), z), axis=2)

    lip = min(LIP * radius, half)
    return sheets(band(-half, half), band(half, half - lip), band(lip - half, -half))


FORM = Form(ShapeKind.PIPE, _box, of_size(_elements), by_size(_ray), _measure, _surface, scenery=True)
