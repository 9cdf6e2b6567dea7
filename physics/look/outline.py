"""Normals along a path around a body, n(p), and lines and discs of contact by n points [RBDA §11.6, figs. 11.5, 11.7].

The path is where the outward normal stays at right angles to an axis: the outline of a convex body that is seen along
it. Where a body is smooth the normal turns with the way along it, d n/d p = 1/R. Of a polyhedron it is piecewise
constant: it turns at corners, where the way does not grow, by a jump that no equation of motion knows, and each is an
impact.
"""

from typing import NamedTuple

import numpy as np

from ..core.model import Array, Model, ShapeKind
from ..shapes.hull import hull_vertices
from ..shapes.shapes import quat_to_matrix
from ..shapes.table import FORMS
from .minimal_set import spatial_normals

CONVEX = (ShapeKind.SPHERE, ShapeKind.BOX, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.HULL, ShapeKind.ROUNDED,
          ShapeKind.CONE, ShapeKind.ELLIPSOID, ShapeKind.TORUS)  #: kinds whose outline is known here
DIRECTIONS = 1440     # of the normal on its way round
STANDS = 1e-9         # way along the outline that is none, relative to its length
LINE = 1.0            # half the length of the line on z = x tan y [rad]
BETWEEN = 8           # places tried between two points of a line


class Outline(NamedTuple):
    """A path once around a body."""

    way: Array     #: (k + 1,) along it [m]
    angle: Array   #: (k + 1,) of the normal [rad], 0 … 2π
    jumps: float   #: part of the turn of the normal that is made in corners


def outline(model: Model, body: int, axis: Array) -> Outline | None:
    """Around an axis (3,) of the body's frame, of the hull of its shapes; None of a body that has others than CONVEX.
    """
    shapes = model.shapes
    rows = np.flatnonzero(shapes.body == body)
    if not len(rows) or not np.isin(shapes.kind[rows], CONVEX).all():
        return None
    angle = 2.0 * np.pi / DIRECTIONS * (np.arange(DIRECTIONS + 1) + 0.5)
    e1, e2 = np.linalg.svd(axis[None])[2][1:]
    normal = np.cos(angle)[:, None] * e1 + np.sin(angle)[:, None] * e2
    points = np.stack([_farthest(model, s, normal) for s in rows.tolist()])
    chosen = np.einsum("sij,ij->si", points, normal).argmax(axis=0)
    place = points[chosen, np.arange(len(angle))]
    step = np.linalg.norm(np.diff(place - np.outer(place @ axis, axis), axis=0), axis=1)
    way = np.append(0.0, np.cumsum(step))
    stands = step <= STANDS * way[-1]
    stands |= np.roll(stands, 1) & np.roll(stands, -1)  # between two corners a face is crossed in one step
    return Outline(way, angle - angle[0], float(stands.mean()))


def _farthest(model: Model, s: int, normal: Array) -> Array:
    """The points (k, 3) of shape s farthest along directions (k, 3), body frame."""
    shapes, kind = model.shapes, int(model.shapes.kind[s])
    turn, size = quat_to_matrix(shapes.orientation[s]), shapes.size[s]
    u = normal @ turn
    swell = size[0] if FORMS[kind].swollen else 0.0
    return shapes.position[s] + (_core(model, s, kind, size, u) + swell * u) @ turn.T


def _core(model: Model, s: int, kind: int, size: Array, u: Array) -> Array:
    """The same of the shape's core, shape frame."""
    out = np.hypot(u[:, 0], u[:, 1])
    rim = np.zeros_like(u)
    rim[:, :2] = u[:, :2] / np.where(out > STANDS, out, np.inf)[:, None]
    match kind:
        case ShapeKind.SPHERE:
            return np.zeros_like(u)
        case ShapeKind.CYLINDER:
            return size[0] * rim + size[1] * np.sign(np.round(u, 12)) * (0.0, 0.0, 1.0)
        case ShapeKind.TORUS:
            return size[1] * rim
        case ShapeKind.ELLIPSOID:
            return size**2 * u / np.linalg.norm(size * u, axis=1)[:, None]
        case ShapeKind.CONE:
            apex = (size[1] * u[:, 2] >= size[0] * out)[:, None]
            return np.where(apex, (0.0, 0.0, 0.75 * size[1]), size[0] * rim - (0.0, 0.0, 0.25 * size[1]))
    corners = _corners(model, s, kind, size)
    return corners[(u @ corners.T).argmax(axis=1)]


def _corners(model: Model, s: int, kind: int, size: Array) -> Array:
    core = FORMS[kind].core
    return hull_vertices(model, s) if core is None else core.corners * (size if kind == ShapeKind.BOX else size[1])


# ------------------------------------------------------------------------------------------- lines and discs by points
def share_of_disc(points: int) -> float:
    """How far out a load may be on n points of a rim, in any direction, relative to the disc: cos π/n."""
    return float(np.cos(np.pi / points))


def miss_of_line(points: int) -> float:
    """How far a contact of the line x = 0 on the ruled surface z = x tan y, |y| <= LINE, is at worst from what n of its
    points, evenly spread, forbid: the distance of its spatial normal, a unit vector, from the cone of theirs. No finite
    number of points forbids all, as no normal is a sum of others [fig. 11.7 b]."""
    from scipy.optimize import nnls  # when it is first needed: it takes long to load

    y = np.linspace(-LINE, LINE, points)
    between = (y[:-1, None] + np.diff(y)[:, None] * np.arange(1, BETWEEN) / BETWEEN).ravel()
    normals = ruled_normals(np.append(y, between))
    return max(float(nnls(normals[:points].T, normal)[1]) for normal in normals[points:])


def ruled_normals(y: Array) -> Array:
    """Unit spatial normals (k, 6) of z = x tan y at places (0, y, 0), whose surface normal is (-tan y, 0, 1)."""
    normal = np.column_stack([-np.sin(y), np.zeros_like(y), np.cos(y)])
    found = spatial_normals(np.column_stack([np.zeros_like(y), y, np.zeros_like(y)]), normal)
    return found / np.linalg.norm(found, axis=1)[:, None]
