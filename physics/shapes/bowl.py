"""Bowl, the inner face of a hollow ball: size (radius, cosine of the angle from the bottom, at -z, to the rim, 0)."""

import math
from typing import Any

import numpy as np

from ..core.model import Array, Model, ShapeKind
from .elements import BOWL, Element
from .form import NO_MASS, Form, Measured, Surface, by_size, first, of_size, sheets

LIP = 0.02  # width of the lip, the strip at the rim that is drawn on the outside too, relative to the radius


def rise(angle: float) -> float:
    """Cosine of the angle [degrees] from the bottom of a hollow shape to its rim, without rounding at 90 degrees."""
    return math.sin(math.radians(90.0 - angle))


def wall_width(radius: float, cosine: float) -> float:
    """Half the width of the arc of a circle that extends from the bottom to the angle of this cosine on both sides."""
    return radius * math.sqrt(1.0 - cosine * cosine) if cosine > 0.0 else radius


def _box(model: Model, s: int) -> Array:
    radius, cosine, _ = model.shapes.size[s]
    wide, depth = wall_width(radius, cosine), 0.5 * radius * (1.0 - cosine)
    return np.array([0.0, 0.0, depth - radius, wide, wide, depth])


def _measure(spec: Any) -> Measured:
    return Measured((spec.radius, rise(spec.angle), 0.0), spec.radius, NO_MASS)


def _elements(size: Array) -> list[Element]:
    radius, cosine, _ = size.tolist()
    return [Element(BOWL, np.zeros(3), radius=radius, sides=(((0.0, 0.0, 1.0), -radius * cosine),), extent=radius)]


def _ray(o: Array, d: Array, size: Array) -> Array:
    """The inner face. Rays pass through the wall from outside, where it is not drawn."""
    b = -np.einsum("ki,ki->k", o, d)
    miss = o + b[:, None] * d
    h2 = size[:, 0] ** 2 - np.einsum("ki,ki->k", miss, miss)
    t = b + np.sqrt(np.maximum(h2, 0.0))
    return first(t, (h2 >= 0.0) & (-(o[:, 2] + t * d[:, 2]) >= size[:, 0] * size[:, 1]))


def _surface(model: Model, s: int) -> Surface:
    """The inner face, from the bottom at -z up to the rim, and a lip on the outside of the rim. Triangles run
    counter-clockwise seen from within, those of the lip seen from outside."""
    radius, cosine, _ = model.shapes.size[s].tolist()
    rim = np.arccos(cosine)
    around = np.linspace(0.0, 2.0 * np.pi, 73)

    def zone(polar: Array) -> Array:
        sine, c = np.sin(polar)[:, None], np.cos(polar)[:, None]
        return radius * np.stack(np.broadcast_arrays(sine * np.cos(around), sine * np.sin(around), -c), axis=2)

    inner = zone(np.linspace(0.0, rim, max(4, int(np.ceil(rim / np.radians(5.0)))) + 1))
    return sheets(inner, *([zone(np.array([rim, rim - LIP]))] if cosine > -1.0 else []))


FORM = Form(ShapeKind.BOWL, _box, of_size(_elements), by_size(_ray), _measure, _surface, scenery=True)
