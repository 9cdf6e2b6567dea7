"""Sphere: size (radius, 0, 0); a point swollen by the radius."""

import math
from typing import Any

import numpy as np

from ..core.model import Array, ShapeKind
from .elements import VERTEX, Element
from .form import Core, Form, Measured, about_origin, by_size, of_size, ray_to_ball, size_box
from .shapes import MassProperties


def mass_properties(radius: float, density: float = 1.0) -> MassProperties:
    """I = 2/5 m r²; radius [m], density [kg/m3]"""
    mass = density * 4.0 / 3.0 * math.pi * radius**3
    return about_origin(mass, 0.4 * mass * radius**2 * np.ones(3))


def _measure(spec: Any) -> Measured:
    return Measured((spec.radius, 0.0, 0.0), spec.radius, mass_properties(spec.radius))


def _elements(size: Array) -> list[Element]:
    return [Element(VERTEX, np.zeros(3), radius=float(size[0]), extent=float(size[0]))]


FORM = Form(
    ShapeKind.SPHERE, size_box(lambda size: (0.0, 0.0, 0.0)), of_size(_elements),
    by_size(lambda o, d, size: ray_to_ball(o, d, size[:, 0])), _measure,
    core=Core(np.zeros((1, 3)), np.zeros((0, 3)), [], []), swollen=True,
)
