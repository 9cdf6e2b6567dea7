"""Rounded hull: a convex polyhedron, row `data` of Hulls, over which a ball is swept; size = (its radius, 0, 0).

Its surface consists of the faces, moved out by the radius, of pieces of cylinders along the edges and of pieces of
spheres about the corners. So do its elements, and by the same pieces its mass properties are exact.
"""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, IntArray, Model, ShapeKind
from .elements import Element, polyhedron
from .form import Form, Surface, ray_to_ball, ray_to_tube
from .hull import ahead, hull_box, hull_loops, hull_vertices
from .shapes import MassProperties
from .shapes import polyhedron as solid_inside

ARC = math.radians(12.0)  # between neighbouring normals of the surface that is drawn
DIRECTIONS = 400          # normals of that surface at the corners, all together


# ------------------------------------------------------------------------------------------------ mass properties
def mass_properties(vertices: Array, loops: list[list[int]], radius: float) -> MassProperties:
    """The core, a prism on every face, a sector of a cylinder along every edge and one of a ball at every corner.
    loops: corners of each face, counter-clockwise seen from outside."""
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    normals, beside = _normals(vertices, loops), _faces_beside(loops)
    for part in (solid_inside(vertices, _fan(loops)), *(_prism(vertices[loop], radius * n)
                                                        for loop, n in zip(loops, normals, strict=True))):
        volume, first = volume + part.mass, first + part.mass * part.center
        about = 0.5 * np.trace(part.inertia) * np.eye(3) - part.inertia
        second += about + part.mass * np.outer(part.center, part.center)
    solid_angle = np.full(len(vertices), 2.0 * math.pi) - _face_angles(vertices, loops)
    of_corner, of_corner_squared = np.zeros((len(vertices), 3)), solid_angle[:, None, None] * np.eye(3) / 3.0
    for (i, j), (f, g) in beside.items():
        along, length = vertices[j] - vertices[i], float(np.linalg.norm(vertices[j] - vertices[i]))
        along, a, b = along / length, normals[f], normals[g]
        angle = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
        part = _sector(0.5 * (vertices[i] + vertices[j]), along, length, a, b, angle, radius)
        volume, first, second = volume + part[0], first + part[1], second + part[2]
        # the normals of a corner are a polygon on the sphere, the edges its sides; its moments by Gauss's theorem
        for corner, out in ((i, along), (j, -along)):
            of_corner[corner] -= 0.5 * angle * out
            of_corner_squared[corner] -= math.tan(0.5 * angle) / 3.0 * np.outer(a + b, out)
    ball = solid_angle * radius**3 / 3.0
    volume += float(ball.sum())
    first += ball @ vertices + 0.25 * radius**4 * of_corner.sum(axis=0)
    mixed = 0.25 * radius**4 * vertices.T @ of_corner
    second += (vertices.T * ball) @ vertices + mixed + mixed.T + 0.2 * radius**5 * of_corner_squared.sum(axis=0)
    center = first / volume
    about = second - volume * np.outer(center, center)
    return MassProperties(volume, center, np.trace(about) * np.eye(3) - about)


def _sector(middle: Array, along: Array, length: float, a: Array, b: Array, angle: float, radius: float
            ) -> tuple[float, Array, Array]:
    """Volume, ∫ x and ∫ x xᵀ of what lies along an edge between the directions a and b."""
    across = (b - (a @ b) * a) / math.sin(angle)
    s, c = math.sin(angle), math.cos(angle)
    arm = a * s + across * (1.0 - c)  # ∫ w, ∫ w wᵀ over the directions w = a cos φ + across sin φ
    square = (0.5 * np.outer(a, a) * (angle + s * c) + 0.5 * np.outer(across, across) * (angle - s * c)
              + 0.5 * (np.outer(a, across) + np.outer(across, a)) * s * s)
    volume, first = 0.5 * length * angle * radius**2, length * radius**3 / 3.0 * arm
    mixed = np.outer(middle, first)
    second = (volume * (np.outer(middle, middle) + length**2 / 12.0 * np.outer(along, along)) + mixed + mixed.T
              + 0.25 * length * radius**4 * square)
    return volume, volume * middle + first, second


def _prism(corners: Array, way: Array) -> MassProperties:
    """The solid between a polygon and the same polygon moved by `way`."""
    n = len(corners)
    ring = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return solid_inside(np.vstack([corners, corners + way]),
                        _fan([list(range(n - 1, -1, -1)), list(range(n, 2 * n)), *ring]))


def _normals(vertices: Array, loops: list[list[int]]) -> Array:
    normals = [np.cross(vertices[loop], np.roll(vertices[loop], -1, axis=0)).sum(axis=0) for loop in loops]
    return np.array(normals) / np.linalg.norm(normals, axis=1)[:, None]


def _faces_beside(loops: list[list[int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """The two faces at each edge (i, j), i < j."""
    left = {(i, j): f for f, loop in enumerate(loops) for i, j in zip(loop, loop[1:] + loop[:1], strict=True)}
    return {(i, j): (f, left[j, i]) for (i, j), f in left.items() if i < j}


def _face_angles(vertices: Array, loops: list[list[int]]) -> Array:
    """Sum of the angles of the faces at each corner (v,); a full turn less this is the solid angle of its normals."""
    found = np.zeros(len(vertices))
    for loop in loops:
        to, back = (np.roll(vertices[loop], -k, axis=0) - vertices[loop] for k in (1, -1))
        sine = np.linalg.norm(np.cross(to, back), axis=1)
        np.add.at(found, loop, np.arctan2(sine, np.einsum("ij,ij->i", to, back)))
    return found


def _fan(loops: list[list[int]]) -> IntArray:
    return np.array([(loop[0], i, j) for loop in loops for i, j in pairwise(loop[1:])], np.int32)


# ------------------------------------------------------------------------------------------------ as a kind of shape
def _radius(model: Model, s: int) -> float:
    return float(model.shapes.size[s, 0])


def _elements(model: Model, s: int) -> list[Element]:
    return polyhedron(hull_vertices(model, s), hull_loops(model, s), _radius(model, s))


def _ray(model: Model, rows: NDArray[np.intp], o: Array, d: Array) -> Array:
    """The first of all balls, tubes and moved faces that it meets from outside."""
    t = np.full(len(rows), np.inf)
    for k in np.flatnonzero(ahead(model, rows, o, d)):
        s = int(rows[k])
        t[k] = _first(hull_vertices(model, s), hull_loops(model, s), _radius(model, s), o[k], d[k])
    return t


def _first(vertices: Array, loops: list[list[int]], radius: float, o: Array, d: Array) -> float:
    best = float(ray_to_ball(o - vertices, np.broadcast_to(d, vertices.shape), np.full(len(vertices), radius)).min())
    for i, j in _faces_beside(loops):
        length = float(np.linalg.norm(vertices[j] - vertices[i]))
        z = (vertices[j] - vertices[i]) / length
        x = np.linalg.svd(z[None])[2][1]
        frame = np.array([x, np.cross(z, x), z])
        ray = (frame @ (o - 0.5 * (vertices[i] + vertices[j])))[None], (frame @ d)[None]
        best = min(best, float(ray_to_tube(*ray, np.array([radius]), np.array([0.5 * length]))[0]))
    for loop, n in zip(loops, _normals(vertices, loops), strict=True):
        corners = vertices[loop]
        if n @ d < 0.0:
            along = float(n @ (corners[0] + radius * n - o)) / float(n @ d)
            sides = np.cross(np.roll(corners, -1, axis=0) - corners, o + along * d - corners) @ n
            if along >= 0.0 and (sides >= 0.0).all():
                best = min(best, along)
    return best


def _surface(model: Model, s: int) -> Surface:
    """The hull of points of the surface: where its normals are those of the faces, on arcs between them, and spread
    over the sphere."""
    from scipy.spatial import ConvexHull  # slow to load, and most scenes have no hull

    vertices, loops, radius = hull_vertices(model, s), hull_loops(model, s), _radius(model, s)
    normals = _normals(vertices, loops)
    points = [vertices[loop] + radius * n for loop, n in zip(loops, normals, strict=True)]
    for (i, j), (f, g) in _faces_beside(loops).items():
        angle = math.acos(min(float(normals[f] @ normals[g]), 1.0))
        share = np.linspace(0.0, 1.0, 1 + math.ceil(angle / ARC))[1:-1, None]
        ways = (np.sin((1.0 - share) * angle) * normals[f] + np.sin(share * angle) * normals[g]) / math.sin(angle)
        points += [vertices[i] + radius * ways, vertices[j] + radius * ways]
    z = 1.0 - (2.0 * np.arange(DIRECTIONS) + 1.0) / DIRECTIONS
    turn = math.pi * (3.0 - math.sqrt(5.0)) * np.arange(DIRECTIONS)
    sphere = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z])
    points.append(vertices[(sphere @ vertices.T).argmax(axis=1)] + radius * sphere)
    hull = ConvexHull(np.vstack(points))
    triangles = hull.simplices.copy()
    a, b, c = (hull.points[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return hull.points, triangles.astype(np.int32)


FORM = Form(ShapeKind.ROUNDED, hull_box, _elements, _ray, surface=_surface, swollen=True)
