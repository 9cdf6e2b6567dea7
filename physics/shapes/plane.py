"""Plane: the half-space z <= 0; size unused."""

import math

import numpy as np

from ..core.model import Array, ShapeKind
from .elements import FACE, Element
from .form import NO_MASS, Form, Measured, by_size, first, of_size, size_box


def _ray(o: Array, d: Array, _: Array) -> Array:
    """z = 0, from above."""
    return first(-o[:, 2] / np.where(d[:, 2] < 0.0, d[:, 2], -1.0), d[:, 2] < 0.0)


FORM = Form(
    ShapeKind.PLANE, size_box(lambda size: (0.0, 0.0, 0.0)),
    of_size(lambda size: [Element(FACE, np.zeros(3), (0.0, 0.0, 1.0))]), by_size(_ray),
    lambda spec: Measured((0.0, 0.0, 0.0), math.inf, NO_MASS), scenery=True,
)
