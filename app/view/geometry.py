"""Triangles to draw: rows of position, normal and edge distance, three rows a triangle, float32.

The edge distance is barycentric: component k is 1 at corner k and 0 on the edge opposite it; 2 is added where that edge
lies inside a face and is not to be drawn.
"""

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array, IntArray, Labels, Model, Skin
from ...physics.shapes.table import FORMS
from .instances import Group

Vertices = NDArray[np.float32]
HIDDEN = 3.0  # edge distance that is nowhere near a line
CREASE = float(np.cos(np.radians(28.0)))  # faces that meet at less are one smooth surface
OF_COPY = float(np.cos(np.radians(60.0)))  # likewise where a copy has fewer triangles: they bend more over the same way


def pack(corners: Array, normals: Array, hidden: NDArray[np.bool_], uv: Array | None = None) -> Vertices:
    """Rows (3 m, 9) of triangles: corners and normals (m, 3, 3); hidden (m, 3): edge from corner k to k + 1. With uv
    (m, 3, 2), where they are in a texture, rows (3 m, 11)."""
    edge = np.broadcast_to(np.eye(3), corners.shape).copy()
    edge += 2.0 * np.roll(hidden, 2, axis=1)[:, None, :]  # edge k, k + 1 is opposite corner k + 2
    rows = np.concatenate([corners, normals, edge] if uv is None else [corners, normals, edge, uv], axis=2)
    return np.ascontiguousarray(rows.reshape(-1, rows.shape[2]), np.float32)


def smoothed(vertices: Array, triangles: NDArray[np.integer], uv: Array | None = None, crease: float = CREASE
             ) -> Vertices:
    """Rows of a triangle surface (n, 3), (m, 3), with uv (m, 3, 2) in a texture: corners at one place share a normal
    with the faces around that meet at less than the angle whose cosine is `crease`; the other edges are drawn as
    lines."""
    _, places = np.unique(np.round(vertices / max(np.ptp(vertices), 1e-12) * 1e6), axis=0, return_inverse=True)
    places = places.reshape(-1)[triangles]  # (m, 3)
    corners = vertices[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(area, axis=1)
    kept = length > 0.0
    places, corners, area, length = places[kept], corners[kept], area[kept], length[kept]
    unit = area / length[:, None]
    at = None if uv is None else uv[kept]
    return pack(corners, _corner_normals(places, area, unit, crease), _smooth_edges(places, unit, crease), at)


def shared(rows: Vertices) -> tuple[Vertices, NDArray[np.uint32]]:
    """Of rows (3 m, 9) each once, and for each corner which it is: a software renderer has a tenth less to do for
    meshes of small triangles. Those without lines have no edge distances then, which differ from corner to corner."""
    rows = rows.copy()
    distance = rows[:, 6:].reshape(-1, 9)
    distance[(distance >= 2.0).all(axis=1)] = HIDDEN
    rows[:, 6:] = distance.reshape(-1, 3)
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(-1)
    _, first, of = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], of.reshape(-1).astype(np.uint32)


def _corner_normals(places: NDArray[np.integer], area: Array, unit: Array, crease: float) -> Array:
    """(m, 3, 3): area-weighted mean of the normals of the faces around each corner that are within the crease angle."""
    m = len(places)
    order = np.argsort(places.reshape(-1), kind="stable")
    start = np.searchsorted(places.reshape(-1)[order], np.arange(places.max() + 2)) if m else np.zeros(1, int)
    first = start[places.reshape(-1)]
    valence = start[places.reshape(-1) + 1] - first
    corner = np.repeat(np.arange(3 * m), valence)
    within = np.arange(len(corner)) - np.repeat(np.cumsum(valence) - valence, valence)
    face = order[np.repeat(first, valence) + within] // 3
    close = np.einsum("ij,ij->i", unit[corner // 3], unit[face]) > crease
    total = np.zeros((3 * m, 3))
    for k in range(3):
        total[:, k] = np.bincount(corner[close], area[face[close], k], 3 * m)
    total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return total.reshape(m, 3, 3)


def _smooth_edges(places: NDArray[np.integer], unit: Array, crease: float) -> NDArray[np.bool_]:
    """(m, 3): whether the two faces along edge k, k + 1 of a triangle meet at less than the crease angle."""
    m = len(places)
    ends = np.stack([places, np.roll(places, -1, axis=1)], axis=2).reshape(-1, 2)
    ends.sort(axis=1)
    _, name, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    name = name.reshape(-1)
    total = np.zeros((len(count), 3))
    for k in range(3):
        total[:, k] = np.bincount(name, np.repeat(unit[:, k], 3), len(count))
    # two unit normals at an angle a: |u + v|^2 = 2 + 2 cos a
    smooth = (count == 2) & ((total**2).sum(axis=1) > 2.0 + 2.0 * crease)
    return smooth[name].reshape(m, 3)


def skin(labels: Labels, group: Group) -> Skin | None:
    """The texture of the shapes of a group."""
    return labels.skins[int(group.shapes[0])] if labels.skins else None


def surface(model: Model, labels: Labels, group: Group, as_collided: bool = False) -> tuple[Array, IntArray]:
    """Vertices and triangles of the shapes of a group that no program of their own draws: as their file shows them,
    else, or with `as_collided`, as they collide. None for a part of a mesh that is drawn with the first one."""
    s = int(group.shapes[0])
    if labels.draw_meshes and len(labels.draw_meshes[s][1]) and not as_collided:
        return labels.draw_meshes[s]
    triangles = FORMS[group.kind].surface
    assert triangles is not None
    return triangles(model, s)


def box() -> Vertices:
    """The cube -1 .. 1; edges between the two triangles of a face are hidden."""
    return smoothed(_cube_corners(), _cube_triangles())


def cube() -> Vertices:
    """Corners of the cube's triangles (36, 3)."""
    return np.ascontiguousarray(_cube_corners()[_cube_triangles()].reshape(-1, 3), np.float32)


def _cube_corners() -> Array:
    return np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)]) * 2.0 - 1.0


def _cube_triangles() -> NDArray[np.int32]:
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    return np.array([[(a, b, c), (a, c, d)] for a, b, c, d in quads], np.int32).reshape(-1, 3)


def polygon(n: int) -> Vertices:
    """Corners (3 n, 2) of the triangles of a regular polygon around the unit circle."""
    angle = 2.0 * np.pi * np.arange(n + 1) / n
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) / np.cos(np.pi / n)
    rows = np.stack([np.zeros((n, 2)), ring[:-1], ring[1:]], axis=1)
    return np.ascontiguousarray(rows.reshape(-1, 2), np.float32)


def disc(n: int) -> Vertices:
    """Corners (3 n, 3) of a flat disc of radius 1: the shadow of a sphere."""
    flat = polygon(n) * np.cos(np.pi / n)
    return np.ascontiguousarray(np.column_stack([flat, np.zeros(len(flat))]), np.float32)


def revolved(profile: Array, n: int) -> Vertices:
    """Corners of the surface that (radius, z) points (k, 2) sweep about z, from the bottom up."""
    angle = 2.0 * np.pi * np.arange(n + 1) / n
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    grid = np.concatenate([
        profile[:, None, :1] * ring[None], np.broadcast_to(profile[:, None, 1:], (len(profile), n + 1, 1))
    ], axis=2)
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    rows = np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3, 3)
    area = np.linalg.norm(np.cross(rows[:, 1] - rows[:, 0], rows[:, 2] - rows[:, 0]), axis=1)
    return np.ascontiguousarray(rows[area > 1e-9].reshape(-1, 3), np.float32)


def ball() -> Vertices:
    """Coarse unit ball for shadows of ellipsoids."""
    angle = np.radians(np.linspace(-90.0, 90.0, 7))
    return revolved(np.column_stack([np.cos(angle), np.sin(angle)]), 14)


def capsule() -> Vertices:
    """Coarse unit capsule for shadows: positions on the unit sphere; their z tells which end they belong to."""
    angle = np.radians([-90.0, -45.0, -1e-3, 1e-3, 45.0, 90.0])
    return revolved(np.column_stack([np.cos(angle), np.sin(angle)]), 8)


def cylinder() -> Vertices:
    """Coarse unit cylinder for shadows."""
    return revolved(np.array([[0.0, -1.0], [1.0, -1.0], [1.0, 1.0], [0.0, 1.0]]), 12)
