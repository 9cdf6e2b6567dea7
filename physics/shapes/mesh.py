"""Mesh, a triangle surface: row `data` of Meshes."""

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, IntArray, Meshes, Model, ShapeKind
from .elements import EDGE, FACE, VERTEX, ElementRows, joined_rows, rows_of
from .form import Form, Surface, own_rows
from .hull import ahead, points_box

RAY_BATCH = 1 << 18  # triangles that a ray is intersected with at once
STRAIGHT = 2.0**-22  # by how much points of a line are off it in single precision, relative to the largest coordinate


def _box(model: Model, s: int) -> Array:
    return points_box(model.meshes.vertices[own_rows(model.meshes.vertex_start, int(model.shapes.data[s]))])


def _elements(model: Model, s: int) -> ElementRows:
    meshes = model.meshes
    mine = own_rows(meshes.triangle_start, int(model.shapes.data[s]))
    return surface_elements(meshes.vertices, meshes.triangles[mine], meshes.triangle_normal[mine],
                            meshes.edge_convex[mine])


def surface_elements(vertices: Array, triangles: IntArray, normals: Array, convex: IntArray) -> ElementRows:
    """Elements of a surface of triangles (t, 3) with unit normals (t, 3); convex (t, 3) is edge_convex of `Meshes`.
    Only where an edge is convex or open can anything touch it or its ends before it touches a face. Where two of these
    make one straight line, their common end is none of it."""
    corners, ends = vertices[triangles], np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2)
    along = np.roll(corners, -1, axis=1) - corners
    out = _unit(np.cross(along, normals[:, None]))  # (t, 3, 3) in the plane of each triangle, across its edges
    reach = _dot(out, corners)
    extent = np.linalg.norm(corners - corners[:, :1], axis=2).max(axis=1, initial=0.0)
    faces = rows_of(FACE, corners[:, 0], _half_spaces(out, reach), 3, axis=normals, extent=extent)

    low, high = ends.min(axis=2).reshape(-1), ends.max(axis=2).reshape(-1)  # of each triangle's edges
    names = low.astype(np.int64) * len(vertices) + high
    kept, first = np.unique(names[convex.reshape(-1) > 0], return_index=True)
    own = np.flatnonzero(np.isin(names, kept))  # the edges that these are, and of which triangles
    own = own[np.argsort(names[own], kind="stable")]
    a, b = (side[convex.reshape(-1) > 0][first] for side in (low, high))
    length = np.linalg.norm(vertices[b] - vertices[a], axis=1)
    edges = rows_of(EDGE, 0.5 * (vertices[a] + vertices[b]), -_half_spaces(out, reach)[own],
                    np.unique(names[own], return_counts=True)[1], axis=(vertices[b] - vertices[a]) / length[:, None],
                    length=0.5 * length, extent=0.5 * length)

    stars = np.unique(np.stack([np.concatenate([low, high]), np.concatenate([high, low])]), axis=1)  # (corner, beside)
    stars = stars[:, np.isin(stars[0], _tips(vertices, a, b))]
    tips, count = np.unique(stars[0], return_counts=True)
    away = _unit(vertices[stars[1]] - vertices[stars[0]])
    points = rows_of(VERTEX, vertices[tips], _half_spaces(away, _dot(away, vertices[stars[0]])), count, extent=0.0)
    return joined_rows([faces, edges, points])


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("...i,...i->...", a, b)


def _half_spaces(directions: Array, offsets: Array) -> Array:
    """(k, 4): directions and offsets side by side."""
    return np.concatenate([directions, offsets[..., None]], axis=-1).reshape(-1, 4)


def _tips(vertices: Array, a: IntArray, b: IntArray) -> IntArray:
    """The ends of edges from a to b (e,) but those at which just two of them go straight on."""
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.argsort(ends, kind="stable")
    tips, first, count = np.unique(ends[order], return_index=True, return_counts=True)
    p, q = (vertices[others[order[k]]] - vertices[tips] for k in (first, first + count - 1))
    off = STRAIGHT * float(np.abs(vertices[tips]).max(initial=0.0))
    bend = np.linalg.norm(np.cross(p, q), axis=1)
    straight = (count == 2) & (_dot(p, q) < 0.0) & (bend <= off * np.linalg.norm(q - p, axis=1))
    return tips[~straight]


def ray_to_mesh(meshes: Meshes, k: int, o: Array, d: Array) -> float:
    """Distance along one ray (3,), (3,) to the triangles of mesh k, from either side [Möller and Trumbore 1997]."""
    rows = meshes.triangles[own_rows(meshes.triangle_start, k)]
    nearest = np.inf
    for first in range(0, len(rows), RAY_BATCH):
        a, b, c = (meshes.vertices[rows[first : first + RAY_BATCH, i]] for i in range(3))
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


def _ray(model: Model, rows: NDArray[np.intp], o: Array, d: Array) -> Array:
    t = np.full(len(rows), np.inf)
    for i in np.flatnonzero(ahead(model, rows, o, d)):
        t[i] = ray_to_mesh(model.meshes, int(model.shapes.data[rows[i]]), o[i], d[i])
    return t


def _surface(model: Model, s: int) -> Surface:
    meshes, k = model.meshes, int(model.shapes.data[s])
    vertices = own_rows(meshes.vertex_start, k)
    return meshes.vertices[vertices], meshes.triangles[own_rows(meshes.triangle_start, k)] - vertices.start


FORM = Form(ShapeKind.MESH, _box, _elements, _ray, surface=_surface)
