"""What a ray from the cursor hits, exactly; and which contact mark is near the cursor."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array, Hulls, Meshes, Model, ShapeKind
from ...physics.run.messages import Snapshot
from .camera import Camera, matrices

BATCH = 1 << 18  # rays times triangles at once
CONTACT_REACH = 12.0  # [pixels]


class Hit(NamedTuple):
    body: int
    shape: int
    point: Array     # (3,) [m], world, on the surface
    distance: float  # [m] from the ray's origin


def pick(model: Model, snapshot: Snapshot, origin: Array, direction: Array) -> Hit | None:
    """The first shape that the ray (3,), (3,) meets from outside; planes only where nothing else is met."""
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
    for kind, rays in CLOSED_FORMS.items():
        rows = np.flatnonzero(shapes.kind == kind)
        if len(rows):
            t[rows] = rays(o[rows], d[rows], shapes.size[rows])
    _polyhedra(model, o, d, t)
    plane = shapes.kind == ShapeKind.PLANE
    solid = np.where(plane, np.inf, t)
    nearest = solid if np.isfinite(solid).any() else t
    s = int(np.argmin(nearest))
    if not np.isfinite(nearest[s]):
        return None
    return Hit(int(shapes.body[s]), s, origin + nearest[s] * direction, float(nearest[s]))


def _polyhedra(model: Model, o: Array, d: Array, t: Array) -> None:
    """Fill t of hulls and meshes whose bounding sphere the ray passes through."""
    shapes = model.shapes
    b = np.einsum("si,si->s", o, d)
    passes: NDArray[np.bool_] = np.einsum("si,si->s", o - b[:, None] * d, o - b[:, None] * d) <= shapes.bound**2
    for s in np.flatnonzero(passes & np.equal(shapes.kind, ShapeKind.HULL)):
        t[s] = hull(model.hulls, int(shapes.data[s]), o[s], d[s])
    for s in np.flatnonzero(passes & np.equal(shapes.kind, ShapeKind.MESH)):
        t[s] = mesh(model.meshes, int(shapes.data[s]), o[s], d[s])


# --------------------------------------------------------------------------- rays (k, 3), (k, 3) and sizes (k, 3)


def _first(t: Array, valid: NDArray[np.bool_]) -> Array:
    return np.where(valid & (t >= 0.0), t, np.inf)


def sphere(o: Array, d: Array, size: Array) -> Array:
    """Distances (k,) along unit directions d from o to spheres of radius size[:, 0]: |o + t d| = r; inf = no hit."""
    b = -np.einsum("ki,ki->k", o, d)
    miss = o + b[:, None] * d
    h2 = size[:, 0] ** 2 - np.einsum("ki,ki->k", miss, miss)
    return _first(b - np.sqrt(np.maximum(h2, 0.0)), h2 >= 0.0)


def box(o: Array, d: Array, size: Array) -> Array:
    """Slabs: the ray is inside from the last entry to the first exit."""
    safe = np.where(np.abs(d) < 1e-300, 1e-300, d)
    near, far = (-np.sign(safe) * size - o) / safe, (np.sign(safe) * size - o) / safe
    entry, leave = near.max(axis=1), far.min(axis=1)
    return _first(entry, entry <= leave)


def _tube(o: Array, d: Array, radius: Array, half: Array) -> Array:
    """The curved side |(x, y)| = r, |z| <= half."""
    a = np.maximum(d[:, 0] ** 2 + d[:, 1] ** 2, 1e-300)
    b = -(o[:, 0] * d[:, 0] + o[:, 1] * d[:, 1]) / a
    x, y = o[:, 0] + b * d[:, 0], o[:, 1] + b * d[:, 1]
    h2 = radius**2 - x * x - y * y
    t = b - np.sqrt(np.maximum(h2, 0.0) / a)
    return _first(t, (h2 >= 0.0) & (np.abs(o[:, 2] + t * d[:, 2]) <= half))


def capsule(o: Array, d: Array, size: Array) -> Array:
    up = np.zeros_like(o)
    up[:, 2] = size[:, 1]
    return np.minimum(_tube(o, d, size[:, 0], size[:, 1]), np.minimum(sphere(o - up, d, size), sphere(o + up, d, size)))


def cylinder(o: Array, d: Array, size: Array) -> Array:
    dz = np.where(np.abs(d[:, 2]) < 1e-300, 1e-300, d[:, 2])
    cap = (-np.sign(dz) * size[:, 1] - o[:, 2]) / dz
    at = o[:, :2] + cap[:, None] * d[:, :2]
    cap = _first(cap, np.einsum("ki,ki->k", at, at) <= size[:, 0] ** 2)
    return np.minimum(_tube(o, d, size[:, 0], size[:, 1]), cap)


def ellipsoid(o: Array, d: Array, size: Array) -> Array:
    """A unit ball where lengths are measured in semi-axes."""
    stretch = np.linalg.norm(d / size, axis=1)
    return sphere(o / size, d / size / stretch[:, None], np.ones_like(size)) / stretch


def bowl(o: Array, d: Array, size: Array) -> Array:
    """The inner face, from within or through the opening; the wall between it and the eye is not seen either."""
    b = -np.einsum("ki,ki->k", o, d)
    miss = o + b[:, None] * d
    h2 = size[:, 0] ** 2 - np.einsum("ki,ki->k", miss, miss)
    t = b + np.sqrt(np.maximum(h2, 0.0))
    return _first(t, (h2 >= 0.0) & (-(o[:, 2] + t * d[:, 2]) >= size[:, 0] * size[:, 1]))


def pipe(o: Array, d: Array, size: Array) -> Array:
    """Likewise."""
    a = np.maximum(d[:, 0] ** 2 + d[:, 1] ** 2, 1e-300)
    b = -(o[:, 0] * d[:, 0] + o[:, 1] * d[:, 1]) / a
    x, y = o[:, 0] + b * d[:, 0], o[:, 1] + b * d[:, 1]
    h2 = size[:, 0] ** 2 - x * x - y * y
    t = b + np.sqrt(np.maximum(h2, 0.0) / a)
    stands = -(o[:, 1] + t * d[:, 1]) >= size[:, 0] * size[:, 2]
    return _first(t, (h2 >= 0.0) & stands & (np.abs(o[:, 2] + t * d[:, 2]) <= size[:, 1]))


def plane(o: Array, d: Array, size: Array) -> Array:
    """z = 0, from above."""
    return _first(-o[:, 2] / np.where(d[:, 2] < 0.0, d[:, 2], -1.0), d[:, 2] < 0.0)


CLOSED_FORMS: dict[int, Callable[[Array, Array, Array], Array]] = {
    ShapeKind.SPHERE: sphere, ShapeKind.BOX: box, ShapeKind.CAPSULE: capsule, ShapeKind.CYLINDER: cylinder,
    ShapeKind.ELLIPSOID: ellipsoid, ShapeKind.BOWL: bowl, ShapeKind.PIPE: pipe, ShapeKind.PLANE: plane,
}


def hull(hulls: Hulls, k: int, o: Array, d: Array) -> float:
    """Distance along one ray (3,), (3,) to hull k: inside all face planes from the last entry to the first exit."""
    faces = slice(hulls.face_start[k], hulls.face_start[k + 1])
    rate = hulls.face_normal[faces] @ d
    height = hulls.face_normal[faces] @ o - hulls.face_offset[faces]
    if ((rate == 0.0) & (height > 0.0)).any():
        return np.inf
    t = -height / np.where(rate == 0.0, 1.0, rate)
    entry = t[rate < 0.0].max(initial=-np.inf)
    leave = t[rate > 0.0].min(initial=np.inf)
    return float(entry) if 0.0 <= entry <= leave else np.inf


def mesh(meshes: Meshes, k: int, o: Array, d: Array) -> float:
    """Distance along one ray to the triangles of mesh k, from either side [Möller and Trumbore 1997]."""
    rows = meshes.triangles[meshes.triangle_start[k] : meshes.triangle_start[k + 1]]
    nearest = np.inf
    for first in range(0, len(rows), BATCH):
        a, b, c = (meshes.vertices[rows[first : first + BATCH, i]] for i in range(3))
        p = np.cross(d, c - a)
        det = np.einsum("ti,ti->t", b - a, p)
        inverse = 1.0 / np.where(det == 0.0, np.inf, det)
        u = np.einsum("ti,ti->t", o - a, p) * inverse
        q = np.cross(o - a, b - a)
        v = q @ d * inverse
        t = np.einsum("ti,ti->t", c - a, q) * inverse
        met = (det != 0.0) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= 0.0)
        nearest = min(nearest, float(t[met].min(initial=np.inf)))
    return nearest


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
