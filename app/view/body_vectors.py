"""Arrows of one body: its principal axes, v, ω and L from its centre of mass [Baraff I, figures 1-4]; and where its
contacts carry it."""

from typing import NamedTuple

import numpy as np

from ...physics.core.model import Array, movable
from ...physics.look.support import support_of
from ...physics.run.messages import Snapshot
from .camera import matrices
from .theme import Color, Theme
from .view_options import BodyVectors


class BodyArrow(NamedTuple):
    """An arrow as it is drawn; `name` is written at its tip."""

    name: str
    start: Array   # (3,) [m]
    end: Array     # (3,) [m]
    color: Color
    turns: bool    # a vector of rotation: two heads
    cut: bool      # shorter than its number says


def inertia_boxes(snapshot: Snapshot) -> tuple[Array, Array]:
    """Edges (12 k, 3), (12 k, 3) of the boxes of the same mass and inertia: I_x = m (b² + c²) / 3 with half lengths a,
    b, c."""
    model = snapshot.model
    dynamic = np.flatnonzero(movable(model.kind))
    inertia = model.inertia[dynamic]
    total = inertia.sum(axis=1, keepdims=True)
    half = np.sqrt(np.maximum(1.5 * (total - 2.0 * inertia) / model.mass[dynamic, None], 0.0))
    corners = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)]) * 2.0 - 1.0
    edges = [(i, i | 1 << k) for i in range(8) for k in range(3) if not i >> k & 1]
    points = np.einsum("nij,nkj->nki", matrices(snapshot.q[dynamic]), half[:, None] * corners)
    points += snapshot.x[dynamic, None]
    ends = points[:, np.array(edges)].reshape(-1, 2, 3)
    return ends[:, 0], ends[:, 1]


def support_lines(snapshot: Snapshot, body: int) -> tuple[Array, Array]:
    """Edges (k, 2, 3) of the support polygon of a body, and its centre of pressure as a row; no rows where there is
    none."""
    held = support_of(body, snapshot.x[body], snapshot.model.gravity, snapshot.contacts)
    pressure = held.pressure[None]
    edges = np.stack([held.polygon, np.roll(held.polygon, -1, axis=0)], axis=1)
    return edges, pressure[np.isfinite(pressure).all(axis=1)]


def arrows_of(
    snapshot: Snapshot, shown: BodyVectors, look: Theme, lengths: tuple[float, float, float, float], longest: float
) -> list[BodyArrow]:
    """lengths: of an axis [m], of 1 m/s, 1 rad/s and 1 kg m²/s [m]; no arrow is longer than `longest` [m]."""
    body, x = shown.body, snapshot.x[shown.body]
    axis, *per_unit = lengths
    arrows = []
    if shown.axes:
        columns = matrices(snapshot.q[body][None])[0].T
        for name, column, color in zip("xyz", columns, (look.axis_x, look.axis_y, look.axis_z), strict=True):
            arrows.append(BodyArrow(name, x, x + axis * column, color, False, False))
    vectors = (("v", shown.v, snapshot.v, look.velocity), ("ω", shown.w, snapshot.w, look.impact),
               ("L", shown.L, snapshot.L, look.momentum))
    for (name, on, values, color), unit in zip(vectors, per_unit, strict=True):
        reach = unit * values[body]
        size = float(np.linalg.norm(reach))
        if on and size > 0.05 * axis:
            arrows.append(BodyArrow(name, x, x + reach * min(1.0, longest / size), color, name != "v", size > longest))
    return arrows
