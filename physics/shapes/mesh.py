"""Mesh, a triangle surface: row `data` of Meshes."""

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, IntArray, Meshes, Model, ShapeKind
from .elements import EDGE, FACE, VERTEX, Element
from .form import Form, Surface, own_rows
from .hull import ahead, points_box

RAY_BATCH = 1 << 18  # triangles that a ray is intersected with at once
STRAIGHT = 2.0**-22  # by how much points of a line are off it in single precision, relative to the largest coordinate


def _box(model: Model, s: int) -> Array:
    return points_box(model.meshes.vertices[own_rows(model.meshes.vertex_start, int(model.shapes.data[s]))])


def _elements(model: Model, s: int) -> list[Element]:
    meshes = model.meshes
    mine = own_rows(meshes.triangle_start, int(model.shapes.data[s]))
    return surface_elements(meshes.vertices, meshes.triangles[mine], meshes.triangle_normal[mine],
                            meshes.edge_convex[mine])


def surface_elements(vertices: Array, triangles: IntArray, normals: Array, convex: IntArray) -> list[Element]:
    """Elements of a surface of triangles (t, 3) with unit normals (t, 3); convex (t, 3) is edge_convex of `Meshes`.
    Only where an edge is convex or open can anything touch it or its ends before it touches a face. Where two of these
    make one straight line, their common end is none of it."""
    faces: list[Element] = []
    beside: dict[tuple[int, int], list[tuple]] = {}  # edge -> half-spaces in which it is nearest
    convex_edges: set[tuple[int, int]] = set()
    neighbours: dict[int, set[int]] = {}
    for n, corners, kinds in zip(normals, triangles.tolist(), convex.tolist(), strict=True):
        sides = []
        for j, (a, b) in enumerate(zip(corners, corners[1:] + corners[:1], strict=True)):
            m = np.cross(vertices[b] - vertices[a], n)
            m /= np.linalg.norm(m)
            sides.append((m, float(m @ vertices[a])))
            edge = (min(a, b), max(a, b))
            beside.setdefault(edge, []).append((-m, float(-m @ vertices[a])))
            if kinds[j] > 0:
                convex_edges.add(edge)
            neighbours.setdefault(a, set()).add(b)
            neighbours.setdefault(b, set()).add(a)
        extent = float(np.linalg.norm(vertices[corners] - vertices[corners[0]], axis=1).max())
        faces.append(Element(FACE, vertices[corners[0]], n, sides=tuple(sides), extent=extent))
    found = faces
    for a, b in sorted(convex_edges):
        half = 0.5 * float(np.linalg.norm(vertices[b] - vertices[a]))
        found.append(Element(EDGE, 0.5 * (vertices[a] + vertices[b]), (vertices[b] - vertices[a]) / (2.0 * half), half,
                             sides=tuple(beside[a, b]), extent=half))
    for v in _ends(vertices, convex_edges):
        away = [(vertices[w] - vertices[v]) / np.linalg.norm(vertices[w] - vertices[v]) for w in sorted(neighbours[v])]
        found.append(Element(VERTEX, vertices[v], sides=tuple((d, d @ vertices[v]) for d in away), extent=0.0))
    return found


def _ends(vertices: Array, edges: set[tuple[int, int]]) -> list[int]:
    """The ends of edges but those at which just two of them go straight on."""
    others: dict[int, list[int]] = {}
    for a, b in sorted(edges):
        others.setdefault(a, []).append(b)
        others.setdefault(b, []).append(a)
    off = STRAIGHT * float(np.abs(vertices[list(others)]).max(initial=0.0))
    found = []
    for v, beside in sorted(others.items()):
        p, q = (vertices[w] - vertices[v] for w in (beside[0], beside[-1]))
        straight = len(beside) == 2 and p @ q < 0.0 and np.linalg.norm(np.cross(p, q)) <= off * np.linalg.norm(q - p)
        if not straight:
            found.append(v)
    return found


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
