"""Where every shape is drawn: instance rows place, turn (x, y, z, w), size, colour for each group of equal shapes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array, BodyKind, Labels, Model, ShapeKind
from ...physics.scene.geometry_tables import ELSEWHERE
from ...physics.shapes.table import MODELLED
from .theme import BODY_COLORS, body_colors, linear

ROW = 14  # floats of an instance
HATCH = 0.28  # period of the stripes of kinematic bodies / bounding radius
#: drawn as one shape that is stretched to size
UNIT = (ShapeKind.SPHERE, ShapeKind.BOX, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.ELLIPSOID)


class Group(NamedTuple):
    """Shapes of one kind: of one row of `Hulls` or `Meshes`, or of one size where that makes their triangles."""

    kind: int
    data: int                     # that row, or the first shape of that size, else -1
    shapes: NDArray[np.intp]      # rows of model.shapes


def groups(model: Model) -> list[Group]:
    """All shapes but planes, by what is drawn for them."""
    shapes = model.shapes
    data = np.where(np.isin(shapes.kind, UNIT), -1, shapes.data)
    for s in np.flatnonzero(np.isin(shapes.kind, MODELLED)).tolist():
        alike = (shapes.kind == shapes.kind[s]) & (shapes.size == shapes.size[s]).all(axis=1)
        alike &= (shapes.exponents == shapes.exponents[s]).all(axis=1)
        data[s] = np.flatnonzero(alike)[0]
    found = []
    for kind, row in sorted(set(zip(shapes.kind.tolist(), data.tolist(), strict=True))):
        if kind != ShapeKind.PLANE:
            found.append(Group(kind, row, np.flatnonzero((shapes.kind == kind) & (data == row))))
    return found


def opening(model: Model, s: int) -> float:
    """Angle from the bottom to the rim of the hollow shape s [degrees]."""
    cosine = model.shapes.size[s, 1 if model.shapes.kind[s] == ShapeKind.BOWL else 2]
    return float(np.degrees(np.arccos(cosine)))


class Placement(NamedTuple):
    """Shapes in the world."""

    place: Array  # (s, 3) [m]
    turn: Array   # (s, 4) w x y z


def placed(model: Model, x: Array, q: Array) -> Placement:
    """Pose of all shapes when the bodies are at x (n, 3), q (n, 4)."""
    body = model.shapes.body
    return Placement(x[body] + rotated(q[body], model.shapes.position), product(q[body], model.shapes.orientation))


def rotated(q: Array, v: Array) -> Array:
    """Vectors (n, 3) turned by unit quaternions (n, 4): v + 2 u x (u x v + w v)."""
    u = q[:, 1:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + q[:, :1] * v)


def product(p: Array, q: Array) -> Array:
    """Quaternion products (n, 4)."""
    w = p[:, :1] * q[:, :1] - np.einsum("ij,ij->i", p[:, 1:], q[:, 1:])[:, None]
    return np.hstack([w, p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])])


def shape_colors(model: Model, labels: Labels, as_collided: bool = False) -> Array:
    """(s, 4): linear colour, and the period [m] of the stripes of shapes of kinematic bodies, 0 for others.
    as_collided: each convex part of a mesh in a colour of its own."""
    body = model.shapes.body
    period = np.where(np.isfinite(model.shapes.bound), HATCH * model.shapes.bound, 1.0)
    color = linear(body_colors(model, labels))[body]
    if labels.skins and not as_collided:  # a texture is drawn as it is, where the body has no colour
        plain = np.isnan(labels.colors[body, 0]) if len(labels.colors) else np.ones(len(body), bool)
        color[plain & [skin is not None for skin in labels.skins]] = 1.0
    if as_collided:
        part = part_numbers(labels, len(body))
        color[part >= 0] = linear(np.array(BODY_COLORS))[part[part >= 0] % len(BODY_COLORS)]
    return np.column_stack([color, np.where(model.kind[body] == BodyKind.KINEMATIC, period, 0.0)])


def part_numbers(labels: Labels, count: int) -> NDArray[np.intp]:
    """(count,): the number of the convex part of a mesh that a shape is, counted from 0; -1 for other shapes."""
    part = np.full(count, -1)
    for s, (_, triangles) in enumerate(labels.draw_meshes):
        if triangles is ELSEWHERE[1]:
            part[s - 1] = max(part[s - 1], 0)
            part[s] = part[s - 1] + 1
    return part


def drawn_sizes(model: Model) -> Array:
    """(s, 3) what the programs multiply their unit shapes by."""
    return np.where(np.isin(model.shapes.kind, UNIT)[:, None], model.shapes.size, 1.0)


def rows(at: Placement, size: Array, color: Array) -> NDArray[np.float32]:
    """Instance rows (s, 14)."""
    out = np.empty((len(size), ROW), np.float32)
    out[:, :3] = at.place
    out[:, 3:6] = at.turn[:, 1:]
    out[:, 6] = at.turn[:, 0]
    out[:, 7:10] = size
    out[:, 10:] = color
    return out


