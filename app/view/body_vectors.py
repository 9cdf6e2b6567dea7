"""Arrows of one body, contact or joint: principal axes, velocities, momenta, forces and torques [Baraff I, figures
1-4]; and where its contacts carry a body."""

from typing import NamedTuple

import numpy as np

from ...physics.core.language import _
from ...physics.core.model import Array, movable
from ...physics.look.support import support_of
from ...physics.run.messages import Snapshot
from .camera import matrices
from .numbers import nice, quantity
from .scales import Scale, arrow_lengths
from .theme import Color, Theme
from .view_options import BodyVectors, Vector

#: kind of a vector -> its unit, and whether it is one of rotation
KINDS = {"v": ("m/s", False), "w": ("rad/s", True), "P": ("kg m/s", False), "L": ("kg m²/s", True),
         "F": ("N", False), "tau": ("N m", True)}
SEEN = 0.05   # of an axis: shorter arrows are left out


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


def per_metre(snapshot: Snapshot, body: int, scale: Scale) -> dict[str, float]:
    """What is drawn 1 m long, by kind. A turn is drawn about as long as the speed that it gives a point one body radius
    off its axis, L about as long as its turn, P half as long as its velocity, so that both are seen, a torque as the
    force that has it one body radius off."""
    turn = nice(1.0 / (scale.body * scale.seconds))
    inertia = max(float(np.median(snapshot.model.inertia[body])), 1e-12)
    mass = max(float(snapshot.model.mass[body]), 1e-12)
    force = scale.newtons_per_metre
    return {"v": 1.0 / scale.seconds, "w": turn, "P": nice(2.0 * mass / scale.seconds), "L": nice(inertia * turn),
            "F": force, "tau": nice(force * scale.body)}


def arrows_of(
    snapshot: Snapshot, shown: BodyVectors, look: Theme, scale: Scale, logarithmic: bool = False
) -> list[BodyArrow]:
    """The arrows as they are drawn; forces as those of contacts are, in their scale."""
    x, axis, units = snapshot.x[shown.body], 1.5 * scale.body, per_metre(snapshot, shown.body, scale)
    arrows = []
    if shown.axes:
        columns = matrices(snapshot.q[shown.body][None])[0].T
        for name, column, color in zip("xyz", columns, (look.axis_x, look.axis_y, look.axis_z), strict=True):
            arrows.append(BodyArrow(name, x, x + axis * column, color, False, False))
    for vector in shown.arrows:
        size = float(np.linalg.norm(vector.value))
        length = size / units[vector.kind]
        if vector.kind == "F":
            length = float(arrow_lengths(np.array(size), scale, logarithmic))
        if length > SEEN * axis:
            reach = vector.value / size * min(length, scale.longest)
            arrows.append(BodyArrow(vector.name, vector.start, vector.start + reach, getattr(look, vector.color),
                                    KINDS[vector.kind][1], length > scale.longest))
    return arrows


def vector_rows(snapshot: Snapshot, shown: BodyVectors, look: Theme, scale: Scale) -> list[tuple[str, Color, str]]:
    """What the arrows are, and how long: symbol, colour and text of rows of the legend."""
    rows, units = [], per_metre(snapshot, shown.body, scale)
    if shown.axes:
        rows.append(("arrow", look.axis_z,
                     _("principal axes of {bodies}").format(bodies=snapshot.labels.bodies[shown.body])))
    for vector in shown.arrows:
        unit, turns = KINDS[vector.kind]
        rows.append(("double_arrow" if turns else "arrow", getattr(look, vector.color), told(vector, units, unit)))
    if shown.support:
        rows.append(("dashed", look.selection, _("support polygon; the disc: centre of pressure")))
    return rows


def told(vector: Vector, units: dict[str, float], unit: str) -> str:
    """ "P, 1 m = 2 kg m/s". Prefixes go with units of one word only: 2 mkg m/s is none."""
    size = units[vector.kind]
    length = quantity(size, unit) if vector.kind in ("v", "w", "F") else f"{size:.3g} {unit}"
    return f"{vector.name}{f' {vector.means}' if vector.means else ''}, 1 m = {length}"
