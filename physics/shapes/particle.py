"""Particle: a mass in a point [Baraff I §2]. It touches as a sphere of radius 0, and is one in the model.

A body of particles is a rigid one with m = Σ m_i, x = Σ m_i r_i / m and I = Σ m_i (|r'|² 1 - r' r'ᵀ). A single one
has no moment of inertia, and particles in a line have none about it: there ω stays 0, for no force at them turns the
body so.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, ShapeKind, Shapes
from .shapes import DIAGONAL, MassProperties

SIZE = (0.0, 0.0, 0.0)


def particles(shapes: Shapes) -> NDArray[np.bool_]:
    """Which shapes (s,) are particles."""
    return (shapes.kind == ShapeKind.SPHERE) & (shapes.size[:, 0] == 0.0)


def mass_properties(mass: float) -> MassProperties:
    """mass [kg]"""
    return MassProperties(mass, np.zeros(3), np.zeros((3, 3)))


def moments_of_points(moments: Array) -> Array:
    """Principal moments (3,) of a body of particles, without the rounding about the line in which they are."""
    return np.where(moments > DIAGONAL * moments.sum(), moments, 0.0)
