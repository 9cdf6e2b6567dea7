"""Convex hulls with polygonal faces, and few enough vertices for fast collision."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.model import Array, IntArray
from ..core.state import LongArray
from ..shapes.shapes import MassProperties, polyhedron

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull

Rows = NDArray[np.integer]

MOST_VERTICES = 128    # of a hull used for collision
COPLANAR = 1e-6        # distance from one plane, relative to the hull's size, below which triangles are one face
FLAT = 1e-9            # hulls with a smaller volume, relative to the cube of their size, are flat
CANDIDATES = 2000      # most points considered where a hull is simplified
MANY = 20_000          # points above which only those extreme along many directions are considered
AT_ONCE = 8            # points added at once to a simplified hull
BLOCK = 4_000_000      # most products of a point and a direction held in memory at once


class FlatError(ValueError):
    """The points lie in one plane, on a line, or in one place."""


class Polyhedron(NamedTuple):
    """A convex polyhedron. Rows count from 0; `geometry_tables` joins several to the model's Hulls."""

    vertices: Array             #: (v, 3) [m]
    loops: tuple[tuple[int, ...], ...]  #: per face its vertices, counter-clockwise seen from outside
    normals: Array              #: (f, 3) outward, unit
    offsets: Array              #: (f,) face plane: normal . x = offset [m]
    edges: IntArray             #: (e, 4) vertex, vertex, face on the left, face on the right
    shrunk: float               #: volume over that of the exact hull of the points; 1 where nothing was left out


def convex_hull(points: Array, most: int = MOST_VERTICES) -> Polyhedron:
    """The hull of points (n, 3), n >= 4; where it has more than `most` vertices, an inner approximation with that many.

    Raises FlatError where there is no volume.
    """
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    size = float(np.ptp(points, axis=0).max())
    if not size > 0.0:
        raise FlatError("all its points are in one place")
    if len(points) > MANY:
        points = points[_extremes(points - center, _directions(max(300, min(CANDIDATES, 100 * BLOCK // len(points)))))]
    exact = _qhull((points - center) / size)
    volume = exact.volume
    if volume < FLAT:
        raise FlatError("its points lie in one plane")
    hull = _simplified(exact, most) if len(exact.vertices) > most else exact
    corners, triangles = _outward_triangles(hull)
    loops = _faces(corners, triangles)
    row, counts = corners_in_row(loops)
    used, renumbered = np.unique(row, return_inverse=True)
    new, ends = renumbered.tolist(), np.cumsum(counts).tolist()
    loops = tuple(tuple(new[end - count : end]) for end, count in zip(ends, counts.tolist(), strict=True))
    vertices = center + size * corners[used]
    return Polyhedron(vertices, loops, *_planes(vertices, loops), _edges(loops), hull.volume / volume)


def fan(hull: Polyhedron) -> IntArray:
    """The faces of the hull cut into triangles (t, 3)."""
    row, counts = corners_in_row(hull.loops)
    first = np.cumsum(counts) - counts
    inner = np.ones(len(row), bool)
    inner[first] = inner[first + counts - 1] = False
    (second,) = np.nonzero(inner)
    return np.column_stack([np.repeat(row[first], counts)[second], row[second], row[second + 1]]).astype(np.int32)


def corners_in_row(loops: Sequence[tuple[int, ...]]) -> tuple[Rows, Rows]:
    """The corners of all loops, one loop after the other, and how many each has (f,)."""
    counts = np.fromiter(map(len, loops), np.int64, len(loops))
    return np.fromiter(chain.from_iterable(loops), np.int64, int(counts.sum())), counts


def lowest_first(triangles: Rows) -> Rows:
    """The triangles (t, 3), each beginning with its lowest vertex."""
    low = triangles.argmin(axis=1)[:, None]
    return np.take_along_axis(triangles, (low + np.arange(3)) % 3, axis=1)


def hull_properties(hull: Polyhedron) -> MassProperties:
    """Mass properties of the solid hull at density 1."""
    return polyhedron(hull.vertices, fan(hull))


def volume_of_all(hulls: Sequence[Polyhedron]) -> float:
    """The volume [m3] that hulls hold together: what they share counts once."""
    import manifold3d as manifold  # few scenes need it

    bodies = [manifold.Manifold(manifold.Mesh64(hull.vertices, fan(hull).astype(np.uint64))) for hull in hulls]
    return manifold.Manifold.batch_boolean(bodies, manifold.OpType.Add).volume()


def moved_hull(hull: Polyhedron, offset: Array) -> Polyhedron:
    """The hull moved by offset (3,)."""
    return hull._replace(vertices=hull.vertices + offset, offsets=hull.offsets + hull.normals @ offset)


# ---------------------------------------------------------------------------------------------------- fewer vertices


def _qhull(points: Array, incremental: bool = False) -> "ConvexHull":
    from scipy.spatial import ConvexHull  # slow to load, and most scenes have no hull

    with _flat_where_refused():
        return ConvexHull(points, incremental=incremental)


@contextmanager
def _flat_where_refused() -> Iterator[None]:
    from scipy.spatial import QhullError

    try:
        yield
    except QhullError as error:
        raise FlatError("its points lie in one plane") from error


def _simplified(hull: "ConvexHull", most: int) -> "ConvexHull":
    """Greedy: from the extreme points along 26 directions on, add the points that stick out farthest, a few at a time
    and never two over one face."""
    points = hull.points[hull.vertices]
    if len(points) > CANDIDATES:
        points = points[_extremes(points, _directions(CANDIDATES))]
    grid = np.array([(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if i or j or k], np.float64)
    chosen = list(_extremes(points, grid))
    inner = _qhull(points[chosen], incremental=True)
    while len(chosen) < most:
        above = points @ inner.equations[:, :3].T + inner.equations[:, 3]
        face, height = above.argmax(axis=1), above.max(axis=1)
        height[chosen] = -math.inf
        farthest = np.argsort(-height, kind="stable")
        _, first = np.unique(face[farthest], return_index=True)
        added = farthest[np.sort(first)[: min(AT_ONCE, most - len(chosen))]]
        chosen += added.tolist()
        with _flat_where_refused():
            inner.add_points(points[added])
    return inner


def _extremes(points: Array, directions: Array) -> LongArray:
    """Rows of the points farthest along each direction."""
    block = max(1, BLOCK // len(points))
    farthest = [np.argmax(directions[i : i + block] @ points.T, axis=1) for i in range(0, len(directions), block)]
    return np.unique(np.concatenate(farthest))


def _directions(count: int) -> Array:
    """Directions spread evenly over the sphere (Fibonacci lattice)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = math.pi * (3.0 - math.sqrt(5.0)) * np.arange(count)
    r = np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(turn), r * np.sin(turn), z])


# ---------------------------------------------------------------------------------------------------- faces


def _outward_triangles(hull: "ConvexHull") -> tuple[Array, IntArray]:
    """Points and triangles, counter-clockwise seen from outside."""
    points, triangles = hull.points, hull.simplices.copy()
    a, b, c = (points[triangles[:, j]] for j in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return points, triangles


def _faces(points: Array, triangles: IntArray) -> list[tuple[int, ...]]:
    """Triangles joined to polygons where they are coplanar; triangles as they are where rounding spoils the joining."""
    regions, alone = _regions(points, triangles), lowest_first(triangles).tolist()
    if len(regions) == len(triangles):
        return [tuple(alone[t]) for (t,) in regions]
    loops = [_boundary(triangles[region]) if len(region) > 1 else tuple(alone[region[0]]) for region in regions]
    if all(loop is not None for loop in loops):
        whole = [loop for loop in loops if loop is not None]
        faces_at = np.bincount(corners_in_row(whole)[0], minlength=len(points)).tolist()
        kept = [tuple(v for v in loop if faces_at[v] > 2) for loop in whole]  # one of only two lies within an edge
        if min(len(loop) for loop in kept) >= 3 and _is_closed(kept):
            return kept
    return [tuple(int(v) for v in triangle) for triangle in triangles]


def _regions(points: Array, triangles: IntArray) -> list[list[int]]:
    """Regions of coplanar neighbouring triangles, each grown from the largest triangle not yet taken."""
    a, b, c = (points[triangles[:, j]] for j in range(3))
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(area, 1e-300)[:, None]
    across = _across(triangles)
    rise = np.einsum("tjkd,td->tjk", points[triangles[across]] - points[triangles[:, 0]][:, None, None], normal)
    alone = (np.abs(rise).max(axis=2) >= COPLANAR).all(axis=1)  # no neighbour in the plane: a face by itself
    region_of = np.full(len(triangles), -1)
    regions: list[list[int]] = []
    for seed in np.argsort(-area, kind="stable"):
        if region_of[seed] >= 0:
            continue
        region = [int(seed)]
        region_of[seed] = len(regions)
        for t in () if alone[seed] else region:
            for other in across[t].tolist():
                if region_of[other] >= 0 or (normal[other] @ normal[seed] < 0.5 and area[other] > COPLANAR):
                    continue
                if np.abs((points[triangles[other]] - points[triangles[seed, 0]]) @ normal[seed]).max() < COPLANAR:
                    region_of[other] = len(regions)
                    region.append(other)
        regions.append(region)
    return regions


def _across(triangles: IntArray) -> IntArray:
    """(t, 3): the triangle on the other side of each edge of a closed surface, which every edge runs once each way."""
    tail, head = triangles.reshape(-1).astype(np.int64), triangles[:, [1, 2, 0]].reshape(-1).astype(np.int64)
    return (_way_back(tail, head).reshape(-1, 3) // 3).astype(np.int32)


def _way_back(tail: Rows, head: Rows) -> Rows:
    """For each edge from tail to head (n,) where it is run from head to tail."""
    count = int(tail.max()) + 1
    order = np.argsort(tail * count + head)
    return order[np.argsort(np.argsort(head * count + tail))]


def _boundary(triangles: IntArray) -> tuple[int, ...] | None:
    """The loop around a patch of triangles; None where there is not exactly one."""
    inner = {(int(t[j]), int(t[(j + 1) % 3])) for t in triangles for j in range(3)}
    after = {a: b for a, b in inner if (b, a) not in inner}
    if not after or len(after) != sum((b, a) not in inner for a, b in inner):
        return None
    start = min(after)
    loop = [start]
    while after[loop[-1]] != start and len(loop) <= len(after):
        loop.append(after[loop[-1]])
    return tuple(loop) if len(loop) == len(after) else None


def _is_closed(loops: list[tuple[int, ...]]) -> bool:
    """Every edge runs once each way, and vertices - edges + faces = 2."""
    ways = [(a, b) for loop in loops for a, b in zip(loop, (*loop[1:], loop[0]), strict=True)]
    unique = set(ways)
    vertices = {a for a, _ in ways}
    return (
        len(unique) == len(ways) and all((b, a) in unique for a, b in ways)
        and len(vertices) - len(ways) // 2 + len(loops) == 2
    )


def _planes(vertices: Array, loops: tuple[tuple[int, ...], ...]) -> tuple[Array, Array]:
    """Unit normals (f, 3) of the faces, each from all its corners, and their offsets (f,) to the farthest corner."""
    row, counts = corners_in_row(loops)
    first, corners = np.cumsum(counts) - counts, vertices[row]
    arms = corners - np.repeat(corners[first], counts, axis=0)
    halves = np.zeros_like(corners)  # twice the triangle of a corner, the next one and the first of the face
    halves[:-1] = np.cross(arms[:-1], arms[1:])
    halves[first + counts - 1] = 0.0
    normals = np.add.reduceat(halves, first)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    heights = np.einsum("ij,ij->i", corners, np.repeat(normals, counts, axis=0))
    return normals, np.maximum.reduceat(heights, first)


def _edges(loops: tuple[tuple[int, ...], ...]) -> IntArray:
    """(e, 4): vertex, vertex, face on the left of the way from the first to the second, face on the right."""
    tail, counts = corners_in_row(loops)
    first, head = np.cumsum(counts) - counts, np.roll(tail, -1)
    head[first + counts - 1] = tail[first]
    face = np.repeat(np.arange(len(counts)), counts)
    rows = np.column_stack([tail, head, face, face[_way_back(tail, head)]])
    return rows[tail < head].astype(np.int32)
