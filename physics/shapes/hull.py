"""Convex hull: row `data` of Hulls; size = half extents of its box."""

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, Model, ShapeKind
from .elements import Element, polyhedron
from .form import Form, Surface, own_rows


def points_box(points: Array) -> Array:
    """Centre and half extents (6,) of the box of some points."""
    lo, hi = points.min(0), points.max(0)
    return np.concatenate([(lo + hi) / 2, (hi - lo) / 2])


def ahead(model: Model, rows: NDArray[np.intp], o: Array, d: Array) -> NDArray[np.bool_]:
    """Which rays (k,) pass through the bounding spheres of the shapes."""
    b = np.einsum("si,si->s", o, d)
    miss = o - b[:, None] * d
    return np.einsum("si,si->s", miss, miss) <= model.shapes.bound[rows] ** 2


def hull_vertices(model: Model, s: int) -> Array:
    """Corners (v, 3) of the hull of shape s [m], shape frame."""
    return model.hulls.vertices[own_rows(model.hulls.vertex_start, int(model.shapes.data[s]))]


def hull_box(model: Model, s: int) -> Array:
    """`Form.box` of a hull."""
    return points_box(hull_vertices(model, s))


def hull_loops(model: Model, s: int) -> list[list[int]]:
    """Corners of each face, counted from the hull's first vertex."""
    hulls, k = model.hulls, int(model.shapes.data[s])
    faces = own_rows(hulls.face_start, k)
    return [(hulls.face_loop[own_rows(hulls.loop_start, f)] - hulls.vertex_start[k]).tolist()
            for f in range(faces.start, faces.stop)]


def _elements(model: Model, s: int) -> list[Element]:
    return polyhedron(hull_vertices(model, s), hull_loops(model, s))


def _ray(model: Model, rows: NDArray[np.intp], o: Array, d: Array) -> Array:
    """Inside all face planes from the last entry to the first exit."""
    t, hulls = np.full(len(rows), np.inf), model.hulls
    for i in np.flatnonzero(ahead(model, rows, o, d)):
        faces = own_rows(hulls.face_start, int(model.shapes.data[rows[i]]))
        rate = hulls.face_normal[faces] @ d[i]
        height = hulls.face_normal[faces] @ o[i] - hulls.face_offset[faces]
        if ((rate == 0.0) & (height > 0.0)).any():
            continue
        cut = -height / np.where(rate == 0.0, 1.0, rate)
        entry = cut[rate < 0.0].max(initial=-np.inf)
        leave = cut[rate > 0.0].min(initial=np.inf)
        t[i] = entry if 0.0 <= entry <= leave else np.inf
    return t


def _surface(model: Model, s: int) -> Surface:
    fans = []
    for corners in hull_loops(model, s):
        loop = np.array(corners)
        fans.append(np.column_stack([np.full(len(loop) - 2, loop[0]), loop[1:-1], loop[2:]]))
    return hull_vertices(model, s), np.concatenate(fans).astype(np.int32)


FORM = Form(ShapeKind.HULL, hull_box, _elements, _ray, surface=_surface)
