"""Torus about z: a circle over which a ball is swept; size (radius of the tube, radius of the circle, 0)."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, Model, ShapeKind
from .elements import CORNER, CORNERS, RING, RING_AHEAD, RING_BEHIND, Element, arcs_of
from .form import Form, Measured, Surface, about_origin, of_size, sheets, size_box
from .hull import ahead
from .shapes import MassProperties

AROUND, TUBE = 72, 28  # of the grid that is drawn


def mass_properties(ring: float, tube: float, density: float = 1.0) -> MassProperties:
    """m = 2 π² R r² ρ, I_z = m (R² + ¾ r²), I_x = I_y = m (½ R² + ⅝ r²)."""
    mass = 2.0 * math.pi**2 * ring * tube**2 * density
    across = mass * (0.5 * ring**2 + 0.625 * tube**2)
    return about_origin(mass, np.array([across, across, mass * (ring**2 + 0.75 * tube**2)]))


def _measure(spec: Any) -> Measured:
    ring, tube = spec.radius, spec.tube
    return Measured((tube, ring, 0.0), ring + tube, mass_properties(ring, tube))


def _elements(size: Array) -> list[Element]:
    """The whole ring, its halves along an edge, points on which it lies with either side, its arcs, and points for
    where it has the same height all around over something round."""
    tube, ring, _ = size.tolist()
    found = [Element(kind, np.zeros(3), (0.0, 0.0, 1.0), ring, tube, extent=ring + tube)
             for kind in (RING, RING_AHEAD, RING_BEHIND)]
    for k in range(2 * CORNERS):
        angle, up = math.pi / CORNERS * (k - k % 2), 1.0 if k % 2 else -1.0
        point = ring * np.array([math.cos(angle), math.sin(angle), 0.0])
        found.append(Element(CORNER, point, (0.0, 0.0, up), ring, tube, extent=tube))
    return found + arcs_of(0.0, ring, tube)


def _ray(model: Model, rows: NDArray[np.intp], o: Array, d: Array) -> Array:
    """The first root of (|p|² + R² - r²)² = 4 R² (x² + y²), p = o + t d, a polynomial of degree four in t."""
    t = np.full(len(rows), np.inf)
    for k in np.flatnonzero(ahead(model, rows, o, d)):
        tube, ring, _ = model.shapes.size[rows[k]]
        near = -float(o[k] @ d[k])  # measured from the point nearest to the centre, roots keep their digits
        p = o[k] + near * d[k]
        square = np.array([1.0, 2.0 * p @ d[k], p @ p + ring**2 - tube**2])
        flat = np.array([d[k, :2] @ d[k, :2], 2.0 * p[:2] @ d[k, :2], p[:2] @ p[:2]])
        roots = np.roots(np.polysub(np.polymul(square, square), 4.0 * ring**2 * flat))
        met = near + roots.real[np.abs(roots.imag) < 1e-7 * (ring + tube)]
        t[k] = met[met >= 0.0].min(initial=np.inf)
    return t


def _surface(model: Model, s: int) -> Surface:
    tube, ring, _ = model.shapes.size[s].tolist()
    around = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)[:, None]
    about = np.linspace(0.0, 2.0 * np.pi, TUBE + 1)
    reach = ring + tube * np.cos(about)
    grid = np.stack(np.broadcast_arrays(reach * np.cos(around), reach * np.sin(around), tube * np.sin(about)), axis=2)
    return sheets(grid)


FORM = Form(
    ShapeKind.TORUS, size_box(lambda size: (size[1], size[1], 0.0)), of_size(_elements), _ray, _measure, _surface,
    swollen=True,
)
