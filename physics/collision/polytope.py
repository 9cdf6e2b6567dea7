"""Convex cores as points, faces and edges in the world: loading them, separating axes, touching features.

Hulls come from the model; box, segment, point and triangle are added to the same table as prototypes that are stretched
to size, so that all of them take one path.
"""

import math

import numpy as np

from contactlab.physics.collision.geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    SPHERE,
    TRIANGLE,
    axis,
    extent,
    origin,
    to_world,
)
from contactlab.physics.collision.manifold import B_SIDE, put_corner
from contactlab.physics.jit import helper
from contactlab.physics.model import Hulls, IntArray
from contactlab.physics.vec import add, axpy, cross, dot, scale, sub, unit

CAP_CORNERS = 8     # points that stand for the rim of a cylinder's cap
CAP_COSINE = 0.7    # to the axis: below it a cylinder touches with its side
EDGE_SINE = 0.05    # to the normal's plane: an edge that leans less takes part in the contact
FACE_BIAS = 1e-7    # how much better than a face, relative to size, an edge pair must be to give the normal


def add_prototypes(hulls: Hulls) -> tuple[Hulls, IntArray]:
    """The hulls, then box, segment, point and triangle; and the rows (8,) of the prototypes by ShapeKind, -1 = none."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    loops = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    normals = np.repeat(np.eye(3), 2, axis=0) * np.tile([[-1.0], [1.0]], (3, 1))
    box_edges = [(a, b, f, g) for f, loop in enumerate(loops) for a, b in zip(loop, loop[1:] + loop[:1], strict=True)
                 for g, other in enumerate(loops) if a < b and g != f and a in other and b in other]
    triangle_edges = [(0, 1, 0, 0), (1, 2, 0, 0), (2, 0, 0, 0)]
    table = hulls
    table = _append(table, corners, loops, normals, box_edges)
    table = _append(table, np.array([[0, 0, -1.0], [0, 0, 1.0]]), [], np.zeros((0, 3)), [(0, 1, 0, 0)])
    table = _append(table, np.zeros((1, 3)), [], np.zeros((0, 3)), [])
    table = _append(table, np.zeros((3, 3)), [[0, 1, 2]], np.zeros((1, 3)), triangle_edges)
    k = len(hulls.vertex_start) - 1
    rows = np.full(TRIANGLE + 1, -1, np.int32)
    rows[[BOX, CAPSULE, SPHERE, TRIANGLE]] = k, k + 1, k + 2, k + 3
    return table, rows


def _append(table: Hulls, vertices: np.ndarray, loops: list, normals: np.ndarray, edges: list) -> Hulls:
    """The table with one polytope more, its rows given from 0."""
    v, f, loop_end = table.vertex_start[-1], table.face_start[-1], table.loop_start[-1]
    ends = loop_end + np.cumsum([len(loop) for loop in loops], dtype=int)
    rows = np.array(edges, int).reshape(-1, 4) + [v, v, f, f]
    return table._replace(
        vertex_start=np.append(table.vertex_start, v + len(vertices)).astype(np.int32),
        vertices=np.vstack([table.vertices.reshape(-1, 3), vertices]),
        face_start=np.append(table.face_start, f + len(loops)).astype(np.int32),
        face_normal=np.vstack([table.face_normal.reshape(-1, 3), normals]),
        loop_start=np.append(table.loop_start, ends).astype(np.int32),
        face_loop=np.append(table.face_loop, v + np.array(sum(loops, []), int)).astype(np.int32),
        edge_start=np.append(table.edge_start, table.edge_start[-1] + len(rows)).astype(np.int32),
        edges=np.vstack([table.edges.reshape(-1, 4), rows]).astype(np.int32),
    )


@helper
def load_points(kind, pose, vertex_start, vertices, solid, s, points_out):
    """Corners of the core of shape s in the world; returns their number, 0 for a cylinder.

    The corners of the triangle in hand are in place already.
    """
    if kind[s] == CYLINDER:
        return 0
    if kind[s] == TRIANGLE:
        return 3
    x, e = origin(pose, s), extent(pose, s)
    stretch = (1.0, 1.0, 1.0)
    if kind[s] == BOX:
        stretch = e
    elif kind[s] == CAPSULE:
        stretch = (1.0, 1.0, e[1])
    first, last = vertex_start[solid[s]], vertex_start[solid[s] + 1]
    for i in range(first, last):
        u = (stretch[0] * vertices[i, 0], stretch[1] * vertices[i, 1], stretch[2] * vertices[i, 2])
        p = add(x, to_world(pose, s, u))
        for c in range(3):
            points_out[i - first, c] = p[c]
    return last - first


@helper
def load_faces(kind, pose, face_start, face_normal, solid, s, points, normals_out):
    """Face normals of the core of shape s in the world; returns their number."""
    if kind[s] == CYLINDER:
        return 0
    first, last = face_start[solid[s]], face_start[solid[s] + 1]
    for f in range(first, last):
        n = to_world(pose, s, (face_normal[f, 0], face_normal[f, 1], face_normal[f, 2]))
        if kind[s] == TRIANGLE:
            n = unit(cross(sub(spot(points, 1), spot(points, 0)), sub(spot(points, 2), spot(points, 0))))
        for c in range(3):
            normals_out[f - first, c] = n[c]
    return last - first


@helper
def spot(points, i):
    return (points[i, 0], points[i, 1], points[i, 2])


@helper
def shadow(points, count, n):
    """Ends of the shadow of some points on an axis."""
    low, high = math.inf, -math.inf
    for i in range(count):
        h = points[i, 0] * n[0] + points[i, 1] * n[1] + points[i, 2] * n[2]
        low, high = min(low, h), max(high, h)
    return low, high


@helper
def allowed(cone, n):
    """Whether the direction from a to the triangle in hand lies among the triangle's own: cone[7, 0] = 0 allows all.

    Rows: 0 the triangle's normal N; 1 + 2 j the direction m_j out of it across edge j; 2 + 2 j the direction out of its
    neighbour there. Out of the triangle (u = -n, u.N >= 0), u may lean over edge j only as far as the neighbour's normal.
    """
    if cone[7, 0] == 0.0:
        return True
    u = (-n[0], -n[1], -n[2])
    if dot(u, spot(cone, 0)) < 0.0:
        return False
    for j in range(3):
        if dot(u, spot(cone, 1 + 2 * j)) > 1e-6 and dot(u, spot(cone, 2 + 2 * j)) < -1e-6:
            return False
    return True


@helper
def face_axes(points_a, count_a, normals_a, face_count, first_face, loop_start, face_loop, first_vertex, points_b,
              count_b, sign, cone):
    """Best separation along the face normals of a, and that normal times `sign`."""
    best, normal = -math.inf, (0.0, 0.0, 0.0)
    for f in range(face_count):
        n = spot(normals_a, f)
        offset = dot(n, spot(points_a, face_loop[loop_start[first_face + f]] - first_vertex))
        low, _ = shadow(points_b, count_b, n)
        if low - offset > best:
            m = scale(sign, n)
            if allowed(cone, m):
                best, normal = low - offset, m
    return best, normal


@helper
def pick_edges(points_a, edges, first, last, first_vertex, lo, hi, picked_out):
    """Edges whose bounds meet the box lo, hi; returns their number."""
    count = 0
    for e in range(first, last):
        p, q = spot(points_a, edges[e, 0] - first_vertex), spot(points_a, edges[e, 1] - first_vertex)
        outside = False
        for c in range(3):
            outside = outside or max(p[c], q[c]) < lo[c] or min(p[c], q[c]) > hi[c]
        if not outside:
            picked_out[count] = e
            count += 1
    return count


@helper
def arc_side(m, p, q):
    """1 or -1 where m or -m lies on the arc between the unit normals p and q of an edge's faces, else 0.

    m is perpendicular to the edge. An edge supports its polytope along m exactly where m is on its arc. An edge without
    two faces (p = q) has no arc: 2.
    """
    r, mp, mq = dot(p, q), dot(m, p), dot(m, q)
    if r > 1.0 - 1e-15:
        return 2
    if mq - r * mp >= 0.0 and mp - r * mq >= 0.0:
        return 1
    if mq - r * mp <= 0.0 and mp - r * mq <= 0.0:
        return -1
    return 0


@helper
def edge_faces(normals, face_count, edges, e, first_face):
    """Normals of the two faces of edge e; the same one twice where it has not two."""
    if face_count < 2:
        return (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    return spot(normals, edges[e, 2] - first_face), spot(normals, edges[e, 3] - first_face)


@helper
def axis_of_edges(m, p, q, side_a, side_b, points_a, count_a, points_b, count_b):
    """(separation, sign) along an axis m that is perpendicular to edges through p of a and q of b."""
    if side_a != 2 and side_b != 2:  # the two edges support along the axis: they alone tell the separation
        return (dot(m, sub(q, p)) * side_a, side_a) if side_a != 0 and side_a == -side_b else (-math.inf, 1)
    if side_a == 0 or side_b == 0:
        return -math.inf, 1
    low_a, high_a = shadow(points_a, count_a, m)
    low_b, high_b = shadow(points_b, count_b, m)
    return (low_b - high_a, 1) if low_b - high_a >= low_a - high_b else (low_a - high_b, -1)


@helper
def edge_axes(points, counts, normals, faces, first_face, base, edges, picked, picked_count, best, n, cone):
    """Better separation along the cross product of two of the picked edges, where there is one."""
    for i in range(picked_count[0]):
        e = picked[0, i]
        p = spot(points[0], edges[e, 0] - base[0])
        u = sub(spot(points[0], edges[e, 1] - base[0]), p)
        e0, e1 = edge_faces(normals[0], faces[0], edges, e, first_face[0])
        for j in range(picked_count[1]):
            f = picked[1, j]
            q = spot(points[1], edges[f, 0] - base[1])
            v = sub(spot(points[1], edges[f, 1] - base[1]), q)
            m = cross(u, v)
            square = dot(m, m)
            if square <= 1e-8 * dot(u, u) * dot(v, v):
                continue
            f0, f1 = edge_faces(normals[1], faces[1], edges, f, first_face[1])
            m = scale(1.0 / math.sqrt(square), m)
            s, sign = axis_of_edges(m, p, q, arc_side(m, e0, e1), arc_side(m, f0, f1), points[0], counts[0],
                                    points[1], counts[1])
            if s > best and allowed(cone, scale(sign, m)):
                best, n = s, scale(sign, m)
    return best, n


@helper
def separating_axis(points, counts, normals, faces, base, first_face, solids, rows, picked, cone, size):
    """(separation, normal a -> b) of two polytopes: the largest over all face normals and edge pairs.

    [Ericson 2005, §5.2.1; Gregorius 2013 for the arcs]. Exact where the two overlap, which is where it is used.
    """
    best, n = face_axes(points[0], counts[0], normals[0], faces[0], first_face[0], solids.loop_start,
                        solids.face_loop, base[0], points[1], counts[1], 1.0, cone)
    other, m = face_axes(points[1], counts[1], normals[1], faces[1], first_face[1], solids.loop_start,
                         solids.face_loop, base[1], points[0], counts[0], -1.0, cone)
    if other > best + FACE_BIAS * size:
        best, n = other, m
    # along the best axis of all the supporting edges come at least as near to the other shape as they overlap on `best`
    reach = max(-best, 0.0) if best > -math.inf else math.inf
    lo_a, hi_a = box_of(points[0], counts[0], reach)
    lo_b, hi_b = box_of(points[1], counts[1], reach)
    start, edges = solids.edge_start, solids.edges
    picked_a = pick_edges(points[0], edges, start[rows[0]], start[rows[0] + 1], base[0], lo_b, hi_b, picked[0])
    picked_b = pick_edges(points[1], edges, start[rows[1]], start[rows[1] + 1], base[1], lo_a, hi_a, picked[1])
    bar = best + FACE_BIAS * size if best > -math.inf else best
    other, m = edge_axes(points, counts, normals, faces, first_face, base, edges, picked, (picked_a, picked_b), bar, n,
                         cone)
    return (other, m) if other > bar else (best, n)


@helper
def box_of(points, count, swell):
    """Bounds of some points, swollen."""
    lo_x, hi_x = shadow(points, count, (1.0, 0.0, 0.0))
    lo_y, hi_y = shadow(points, count, (0.0, 1.0, 0.0))
    lo_z, hi_z = shadow(points, count, (0.0, 0.0, 1.0))
    return (lo_x - swell, lo_y - swell, lo_z - swell), (hi_x + swell, hi_y + swell, hi_z + swell)


@helper
def best_face(normals, count, n):
    """The face that looks most along n, and its cosine; -1 where there is none."""
    best, cosine = -1, -1.0
    for f in range(count):
        c = dot(spot(normals, f), n)
        if c > cosine:
            best, cosine = f, c
    return best, cosine


@helper
def put_face(points, loop_start, face_loop, face, base, side, feature_out):
    """The corners of a face as a feature; returns their number."""
    first, last = loop_start[face], loop_start[face + 1]
    for i in range(first, last):
        v = face_loop[i]
        w = face_loop[i + 1 if i + 1 < last else first]
        low, high = min(v, w) - base, max(v, w) - base
        # a polytope's edge is named by its two vertices; folded, for hulls of more than 1024
        put_corner(feature_out, i - first, spot(points, v - base), side + (low * 1021 + high) % B_SIDE)
    return last - first


@helper
def put_edge(points, count, edges, first, last, base, n, side, feature_out):
    """The edge at the vertex farthest along n that leans least against n's plane; returns 2, or 1 for the vertex alone."""
    top = 0
    for i in range(1, count):
        if dot(spot(points, i), n) > dot(spot(points, top), n):
            top = i
    put_corner(feature_out, 0, spot(points, top), side + top)
    best, found = EDGE_SINE, -1
    for e in range(first, last):
        if edges[e, 0] - base == top or edges[e, 1] - base == top:
            u = unit(sub(spot(points, edges[e, 1] - base), spot(points, edges[e, 0] - base)))
            if abs(dot(u, n)) < best:
                best, found = abs(dot(u, n)), e
    if found < 0:
        return 1
    for i in range(2):
        put_corner(feature_out, i, spot(points, edges[found, i] - base), side + 2 * (found - first))
    return 2


@helper
def put_cylinder(pose, s, n, side, feature_out):
    """The cap, as a polygon, or the line of the side that looks most along n; returns the number of corners."""
    u, x, e = axis(pose, s, 2), origin(pose, s), extent(pose, s)
    c = dot(n, u)
    if abs(c) < CAP_COSINE:
        out = axpy(e[0], unit(axpy(-c, u, n)), x)
        put_corner(feature_out, 0, axpy(-e[1], u, out), side + CAP_CORNERS)
        put_corner(feature_out, 1, axpy(e[1], u, out), side + CAP_CORNERS)
        return 2
    up = 1.0 if c > 0.0 else -1.0
    for i in range(CAP_CORNERS):
        angle = up * 2.0 * math.pi / CAP_CORNERS * i
        p = to_world(pose, s, (e[0] * math.cos(angle), e[0] * math.sin(angle), up * e[1]))
        put_corner(feature_out, i, add(x, p), side + i)
    return CAP_CORNERS
