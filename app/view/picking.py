"""What a ray from the cursor hits, exactly; and which contact mark is near the cursor."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...physics.core.model import Array, Model, ShapeKind
from ...physics.run.messages import Snapshot
from ...physics.shapes.particle import particles
from ...physics.shapes.table import FORMS
from .camera import Camera, matrices

CONTACT_REACH = 12.0  # [pixels]
DOT_REACH = 0.008     # angle [rad] within which a ray meets a particle: about as many pixels as its dot is wide


class Hit(NamedTuple):
    body: int
    shape: int
    point: Array     # (3,) [m], world, on the surface
    distance: float  # [m] from the ray's origin


def pick(model: Model, snapshot: Snapshot, origin: Array, direction: Array, without: Sequence[int] = ()) -> Hit | None:
    """The first shape that the ray (3,), (3,) meets from outside; planes only where nothing else is met. Shapes of
    the bodies `without` are passed through."""
    shapes = model.shapes
    if not len(shapes.kind):
        return None
    direction = np.asarray(direction, float) / np.linalg.norm(direction)
    turn = matrices(snapshot.q[shapes.body])
    place = snapshot.x[shapes.body] + np.einsum("sij,sj->si", turn, shapes.position)
    turn = turn @ matrices(shapes.orientation)
    o = np.einsum("sji,sj->si", turn, origin - place)  # the ray in every shape's frame
    d = np.einsum("sji,j->si", turn, direction)
    t = np.full(len(shapes.kind), np.inf)
    for kind, form in FORMS.items():
        rows = np.flatnonzero(shapes.kind == kind)
        if len(rows):
            t[rows] = form.ray(model, rows, o[rows], d[rows])
    dots = particles(shapes)
    t[dots] = _to_dots(o[dots], d[dots])
    t[np.isin(shapes.body, without)] = np.inf
    plane = shapes.kind == ShapeKind.PLANE
    solid = np.where(plane, np.inf, t)
    nearest = solid if np.isfinite(solid).any() else t
    s = int(np.argmin(nearest))
    if not np.isfinite(nearest[s]):
        return None
    return Hit(int(shapes.body[s]), s, origin + nearest[s] * direction, float(nearest[s]))


def _to_dots(o: Array, d: Array) -> Array:
    """Distances (k,) from o (k, 3) in unit directions d (k, 3) to the dots of particles at 0, inf beside them."""
    along = -np.einsum("ki,ki->k", o, d)
    beside = np.linalg.norm(o + along[:, None] * d, axis=1)
    return np.where(beside <= DOT_REACH * along, (1.0 - DOT_REACH) * along, np.inf)


# ---------------------------------------------------------------------------------------------- contacts


def pick_contact(snapshot: Snapshot, camera: Camera, x: float, y: float, width: float, height: float,
                 reach: float = CONTACT_REACH) -> int:
    """Row of the contact whose mark is within `reach` pixels of the cursor (x, y), y down; the nearest to the eye
    among those about equally near to the cursor; -1 where there is none."""
    count = int(snapshot.contacts.count[0])
    if count == 0:
        return -1
    at, depth = camera.project(snapshot.contacts.point[:count], width, height)
    away = np.where(depth > 0.0, np.hypot(at[:, 0] - x, at[:, 1] - y), np.inf)
    best = float(away.min())
    if best > reach:
        return -1
    return int(np.argmin(np.where(away <= best + 0.25 * reach, depth, np.inf)))
