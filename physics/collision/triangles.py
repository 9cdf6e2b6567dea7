"""Static triangle meshes: which triangles a shape may touch, and how each is looked at, as a one-sided convex shape.

A shape that slides over a surface must not be deflected by the edges between its triangles. A contact with a triangle
therefore pushes only along the triangle's normal or, at a convex edge, along a direction between this normal and the
neighbour's. A contact that leans further is found with the neighbour; at a flat or concave edge there is none.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper, kernel
from ..core.model import Array, Meshes
from ..core.vec import add, dot, mat_vec, row, scale, sub
from .bvh import STACK
from .geometry import axis, origin, to_local

BLOCK = 1 << 13  # triangles at once, whose numbers the processor keeps near
ROUNDING = 1e-9  # relative to the size: by how much what is left out must be farther than asked for


def new_sheets(meshes: Meshes) -> Array:
    """What the narrow phase reads of each triangle (t, 10, 3), shape frame.

    Rows: 0-2 corners [m], 3 normal N, then for each edge j the direction 4 + 2 j out of the triangle across it, and
    5 + 2 j the direction out of the neighbour: minus the former where the edge must not be felt, 0 where it is open.
    """
    sheets = np.zeros((len(meshes.triangles), 10, 3))
    for first in range(0, len(sheets), BLOCK):
        rows = slice(first, first + BLOCK)
        _fill_sheets(sheets[rows], meshes.vertices[meshes.triangles[rows]], meshes.triangle_normal[rows],
                     meshes.edge_normal[rows], meshes.edge_convex[rows] > 0)
    return sheets


def _fill_sheets(sheets_out: Array, corners: Array, normal: Array, neighbours: Array, convex: NDArray[np.bool_]
                 ) -> None:
    """Rows of `new_sheets`; neighbours (t, 3, 3): normals across the edges."""
    sheets_out[:, :3], sheets_out[:, 3] = corners, normal
    for j in range(3):
        edge = corners[:, (j + 1) % 3] - corners[:, j]
        edge = edge / np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), 1e-300)
        out, neighbour = np.cross(edge, normal), neighbours[:, j]
        alone = convex[:, j] & (np.abs(neighbour - normal).max(axis=1, initial=0.0) < 1e-12)
        sheets_out[:, 4 + 2 * j] = out
        sheets_out[:, 5 + 2 * j] = np.where(convex[:, j, None], np.cross(neighbour, edge), -out)
        sheets_out[alone, 5 + 2 * j] = 0.0


@helper
def local_bounds(geom, a, m, margin):
    """Bounds of shape a in the frame of shape m, swollen by the margin."""
    lo, hi = geom.lo, geom.hi
    half = (0.5 * (hi[a, 0] - lo[a, 0]), 0.5 * (hi[a, 1] - lo[a, 1]), 0.5 * (hi[a, 2] - lo[a, 2]))
    centre = (0.5 * (hi[a, 0] + lo[a, 0]), 0.5 * (hi[a, 1] + lo[a, 1]), 0.5 * (hi[a, 2] + lo[a, 2]))
    c = to_local(geom, m, sub(centre, origin(geom, m)))
    reach = (margin, margin, margin)
    for j in range(3):
        r = (abs(geom.R[m, j, 0]), abs(geom.R[m, j, 1]), abs(geom.R[m, j, 2]))
        reach = add(reach, scale(half[j], r))
    return sub(c, reach), add(c, reach)


@helper
def box_in(geom, a, m):
    """The box of the core of shape a, in whose frame shape m is: (half extents, rows of the rotation from m's frame,
    place of m's origin relative to the box's centre)."""
    x, y, z = (to_local(geom, m, axis(geom, a, 0)), to_local(geom, m, axis(geom, a, 1)),
               to_local(geom, m, axis(geom, a, 2)))
    place = sub(to_local(geom, a, sub(origin(geom, m), origin(geom, a))), row(geom.box, a))
    return (geom.box[a, 3], geom.box[a, 4], geom.box[a, 5]), (x, y, z), place


@helper
def placed(box, sheet):
    """(corners, normal) of a triangle in the frame of a core's box about its centre, see `box_in`."""
    _, turn, place = box
    return ((add(mat_vec(turn, row(sheet, 0)), place), add(mat_vec(turn, row(sheet, 1)), place),
             add(mat_vec(turn, row(sheet, 2)), place)), mat_vec(turn, row(sheet, 3)))


@helper
def least_distance(half, corners, n):
    """A lower bound of the distance of a triangle and a core [m], as far as the core's box tells, see `placed`: of the
    box from the triangle's plane, and from the box about the triangle along its own axes."""
    a, b, c = corners
    high, wide, square = 0.0, 0.0, 0.0
    for k in range(3):
        beside = max(min(a[k], b[k], c[k]), -max(a[k], b[k], c[k])) - half[k]
        if beside > 0.0:
            square += beside * beside
        high += n[k] * a[k]
        wide += abs(n[k]) * half[k]
    return max(math.sqrt(square), abs(high) - wide)


@helper
def node_near(box, meshes, k, reach):
    """Whether node k of the mesh comes as near to a core as `reach` [m]: along the axes of the core's box."""
    half, turn, place = box
    low, high, square = row(meshes.node_min, k), row(meshes.node_max, k), 0.0
    for i in range(3):
        middle, wide = place[i], half[i]
        for j in range(3):
            middle += 0.5 * turn[i][j] * (low[j] + high[j])
            wide += 0.5 * abs(turn[i][j]) * (high[j] - low[j])
        beside = max(abs(middle) - wide, 0.0)
        square += beside * beside
    return square <= reach * reach


@helper
def far_from(geom, a, margin):
    """How far from the core of shape a triangles within a margin of the shape may be, with room for rounding [m]."""
    return (1.0 + ROUNDING) * (margin + geom.swell[a]) + ROUNDING * geom.bound[a]


@helper
def next_near(box, meshes, stack, depth, low, high, far):
    """(leaf, depth of the stack) of the next leaf whose bounds meet the box low, high and that comes as near to a core
    as `far` [m]; -1 where there is none. The leaves come in the order of their triangles."""
    node_min, node_max, child = meshes.node_min, meshes.node_max, meshes.child
    while depth > 0:
        depth -= 1
        k = stack[depth]
        if not (
            node_min[k, 0] <= high[0] and node_max[k, 0] >= low[0] and node_min[k, 1] <= high[1]
            and node_max[k, 1] >= low[1] and node_min[k, 2] <= high[2] and node_max[k, 2] >= low[2]
        ):
            continue
        if child[k, 0] >= 0:
            stack[depth], stack[depth + 1] = child[k, 1], child[k, 0]
            depth += 2
        elif node_near(box, meshes, k, far):
            return k, depth
    return -1, 0


@kernel
def find_triangles(geom, meshes, pairs, chosen, count, reach, rank, sheets, stack, found_out) -> int:
    """For the chosen pairs of a shape and a mesh, the triangles near the shape: rows (pair, triangle) of `found_out`.

    Returns their number, which may exceed the room. The mesh is the shape of higher rank (s,).
    """
    total, child, order = 0, meshes.child, meshes.leaf_order
    for i in range(count):
        p = chosen[i]
        a, m = pairs[p, 0], pairs[p, 1]
        if rank[a] > rank[m]:
            a, m = m, a
        margin = reach[a] + reach[m]
        low, high = local_bounds(geom, a, m, margin)
        box, far = box_in(geom, a, m), far_from(geom, a, margin)
        stack[0] = meshes.node_start[geom.data[m]]
        k, depth = next_near(box, meshes, stack, 1, low, high, far)
        while k >= 0:
            first = -child[k, 0] - 1
            for leaf in range(first, first + child[k, 1]):
                corners, n = placed(box, sheets[order[leaf]])
                if least_distance(box[0], corners, n) <= far:
                    if total < found_out.shape[0]:
                        found_out[total, 0], found_out[total, 1] = p, order[leaf]
                    total += 1
            k, depth = next_near(box, meshes, stack, depth, low, high, far)
    return total


@helper
def load_triangle(geom, m, sheet, core_out, cone_out):
    """Make a triangle of mesh shape m the triangle in hand: corners, geom, and the directions it may push along."""
    last, x, square = geom.x.shape[0] - 1, origin(geom, m), 0.0
    turn = row(geom.R[m], 0), row(geom.R[m], 1), row(geom.R[m], 2)
    for j in range(3):
        d = sub(row(sheet, j), row(sheet, 0))
        square = max(square, dot(d, d))
        core_out[j, 0], core_out[j, 1], core_out[j, 2] = add(x, mat_vec(turn, row(sheet, j)))
    for i in range(3):
        geom.x[last, i] = (core_out[0, i] + core_out[1, i] + core_out[2, i]) / 3.0
    geom.core[last] = math.sqrt(square)
    for j in range(7):
        cone_out[j, 0], cone_out[j, 1], cone_out[j, 2] = mat_vec(turn, row(sheet, 3 + j))
    cone_out[7, 0] = 1.0


def new_stack() -> np.ndarray:
    """Scratch for `find_triangles`."""
    return np.zeros(STACK, np.int32)
