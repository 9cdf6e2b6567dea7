"""Any two convex shapes: distance by GJK, depth by separating axes or the expanding polytope, points by overlay."""

import math
from typing import NamedTuple

import numpy as np

from contactlab.physics.collision.bvh import STACK
from contactlab.physics.collision.geometry import PATCH, TRIANGLE, between, extent, origin, put_point, swell
from contactlab.physics.collision.geometry import axis as axis_of
from contactlab.physics.collision.gjk import (
    EXPANSIONS,
    FACE,
    OVERLAP,
    SIMPLEX,
    expand,
    fill_simplex,
    gjk,
    support,
    weighted,
)
from contactlab.physics.collision.manifold import B_SIDE, CORNER, lay_over, reduce_points
from contactlab.physics.collision.polytope import (
    CAP_CORNERS,
    add_prototypes,
    allowed,
    best_face,
    load_faces,
    load_points,
    put_cylinder,
    put_edge,
    put_face,
    separating_axis,
    spot,
)
from contactlab.physics.jit import helper
from contactlab.physics.model import Array, Hulls, IntArray, Model
from contactlab.physics.vec import axpy, cross, dot, neg, scale, sub, unit

FACE_ALIGNED = 0.98  # cosine to the normal above which a face takes part in the contact
FACE_FACING = 0.3    # and above which it does so where the other shape has such a face


class Solids(NamedTuple):
    """All polytopes of a model and the prototypes, and which one each shape is."""

    table: Hulls     #: the model's hulls, then the prototypes
    solid: IntArray  #: (s + 1,) row of the table, -1 for cylinder, plane and mesh


class Work(NamedTuple):
    """Scratch of the narrow phase."""

    corners: Array    #: (2, k, CORNER) touching features, see manifold
    poly: Array       #: (2, m, 3)
    points: Array     #: (2, v, 3) corners of the two cores [m], world frame
    normals: Array    #: (2, f, 3) normals of their faces
    picked: IntArray  #: (2, e) edges worth a test
    simplex: Array    #: (EXPANSIONS + 5, SIMPLEX) simplex, then expanding polytope
    faces: Array      #: (4 EXPANSIONS, FACE) of that polytope
    edges: IntArray   #: (2 EXPANSIONS, 2) of the hole in it
    cone: Array       #: (8, 3) directions that the triangle in hand may push along, see `allowed`
    patch: Array      #: (k, PATCH) contact points of the pair in hand
    stack: IntArray   #: (STACK,) nodes of a mesh still to visit


def new_solids(model: Model) -> Solids:
    """Tables of the polytopes of a model."""
    table, prototypes = add_prototypes(model.hulls)
    kind = np.append(model.shapes.kind, TRIANGLE)
    data = np.append(model.shapes.data, -1)
    return Solids(table, np.where(prototypes[kind] >= 0, prototypes[kind], data).astype(np.int32))


def new_work(solids: Solids) -> Work:
    """Scratch that is large enough for every pair of these polytopes."""
    table = solids.table
    corners = max(int(np.diff(table.loop_start).max(initial=0)), CAP_CORNERS)
    points, faces, edges = (int(np.diff(s).max()) for s in (table.vertex_start, table.face_start, table.edge_start))
    return Work(
        np.zeros((2, corners, CORNER)), np.zeros((2, 2 * corners + 2, 3)), np.zeros((2, points, 3)),
        np.zeros((2, faces, 3)), np.zeros((2, edges), np.int32), np.zeros((EXPANSIONS + 5, SIMPLEX)),
        np.zeros((4 * EXPANSIONS, FACE)), np.zeros((2 * EXPANSIONS, 2), np.int32), np.zeros((8, 3)),
        np.zeros((max(128, 2 * points), PATCH)), np.zeros(STACK, np.int32),
    )


@helper
def cylinder_axes(pose, s, points, count, normals, face_count, other, sign, depth, n):
    """Of the axes on which a cylinder s touches flat, one that is no worse than the depth and normal given.

    The expanding polytope approaches them only as far as rounding lets it: the cylinder's own axis, and the face normals
    of the other shape. `sign` is 1 where the cylinder is a.
    """
    best, normal = depth, n
    u, e, x = axis_of(pose, s, 2), extent(pose, s), origin(pose, s)
    for f in range(-1, face_count):
        m = u if f < 0 else scale(-1.0, spot(normals, f))
        for side in range(2 if f < 0 else 1):
            m = neg(m) if side == 1 else m
            reach = dot(m, sub(x, support(points, count, pose, other, neg(m))))
            along = dot(m, u)
            reach += e[1] * abs(along) + e[0] * math.sqrt(max(0.0, 1.0 - along * along))
            if reach <= best * (1.0 + 1e-7) + 1e-10 * e[0] and dot(m, n) * sign > 0.99:
                best, normal = min(best, reach), scale(sign, m)
    return best, normal


@helper
def overlap_round(pose, a, b, counts, faces, rows, work):
    """(separation, normal, point of a, point of b) of two overlapping cores of which one is a cylinder."""
    rows = fill_simplex(work.points[0], counts[0], work.points[1], counts[1], pose, a, b, rows, work.simplex)
    if rows < 4:
        n = unit(sub(origin(pose, b), origin(pose, a)))
        n = n if dot(n, n) > 0.0 else (0.0, 0.0, 1.0)
        return 0.0, n, origin(pose, a), origin(pose, a)
    depth, f = expand(work.points[0], counts[0], work.points[1], counts[1], pose, a, b, work.simplex, work.faces,
                      work.edges)
    n = (work.faces[f, 3], work.faces[f, 4], work.faces[f, 5])
    if counts[0] == 0:
        depth, n = cylinder_axes(pose, a, work.points[1], counts[1], work.normals[1], faces[1], b, 1.0, depth, n)
    if counts[1] == 0:
        depth, n = cylinder_axes(pose, b, work.points[0], counts[0], work.normals[0], faces[0], a, -1.0, depth, n)
    p = support(work.points[0], counts[0], pose, a, n)
    q = support(work.points[1], counts[1], pose, b, neg(n))
    return -depth, n, p, q


@helper
def put_features(kind, pose, a, b, counts, faces, rows, base, first_face, solids, n, work):
    """The touching features of a and b along n; returns their numbers of corners."""
    table, points, normals, corners = solids.table, work.points, work.normals, work.corners
    face_a, cos_a = best_face(normals[0], faces[0], n)
    face_b, cos_b = best_face(normals[1], faces[1], neg(n))
    cap = 0.0
    if counts[0] == 0:
        cap = abs(dot(n, axis_of(pose, a, 2)))
    if counts[1] == 0:
        cap = max(cap, abs(dot(n, axis_of(pose, b, 2))))
    flat = max(cos_a, cos_b, cap) > FACE_ALIGNED
    if counts[0] == 0:
        count_a = put_cylinder(pose, a, n, 0, corners[0])
    elif flat and cos_a > FACE_FACING:
        count_a = put_face(points[0], table.loop_start, table.face_loop, first_face[0] + face_a, base[0], 0, corners[0])
    else:
        count_a = put_edge(points[0], counts[0], table.edges, table.edge_start[rows[0]], table.edge_start[rows[0] + 1],
                           base[0], n, 0, corners[0])
    m = neg(n)
    if counts[1] == 0:
        count_b = put_cylinder(pose, b, m, B_SIDE, corners[1])
    elif flat and cos_b > FACE_FACING:
        count_b = put_face(points[1], table.loop_start, table.face_loop, first_face[1] + face_b, base[1], B_SIDE,
                           corners[1])
    else:
        count_b = put_edge(points[1], counts[1], table.edges, table.edge_start[rows[1]], table.edge_start[rows[1] + 1],
                           base[1], m, B_SIDE, corners[1])
    return count_a, count_b


@helper
def witness(corners, count_a, count_b, n, separation, p, q):
    """A pair of points of the features that are as far apart as the axis says, from supports p of a and q of b."""
    if count_a > 2:    # a face: the other's support stands over it
        return axpy(-separation, n, q), q
    if count_b > 2:
        return p, axpy(separation, n, p)
    if count_a == 2 and count_b == 2:
        u, v = sub(spot(corners[0], 1), spot(corners[0], 0)), sub(spot(corners[1], 1), spot(corners[1], 0))
        m = cross(u, v)
        square = dot(m, m)
        if square > 1e-8 * dot(u, u) * dot(v, v):
            d = sub(spot(corners[1], 0), spot(corners[0], 0))
            p = axpy(dot(cross(d, v), m) / square, u, spot(corners[0], 0))
            return p, axpy(separation, n, p)
    return (axpy(-separation, n, q), q) if count_a == 2 else (p, axpy(separation, n, p))


@helper
def finish(patch, first, count, separation, n, p, q, radius_a, radius_b, margin, size):
    """Add the pair of nearest points where the overlay has missed it, and reduce; returns the row after the last."""
    gap = separation - radius_a - radius_b
    deepest = math.inf
    for k in range(first, count):
        deepest = min(deepest, patch[k, 6])
    if gap <= margin and deepest > gap + 1e-6 * size:
        point = between(axpy(radius_a, n, p), axpy(-radius_b, n, q))
        count = put_point(patch, count, point, n, gap, 1 << 50)
    return first + reduce_points(patch, first, count - first)


@helper
def touch_convex(kind, pose, a, b, margin, solids, work, first):
    """Contact points of two convex shapes, written from row `first` of work.patch on; returns the row after the last."""
    table, solid, points, simplex, patch = solids.table, solids.solid, work.points, work.simplex, work.patch
    ra, rb = swell(pose, a), swell(pose, b)
    na = load_points(kind, pose, table.vertex_start, table.vertices, solid, a, points[0])
    nb = load_points(kind, pose, table.vertex_start, table.vertices, solid, b, points[1])
    size = pose[a, 16] + pose[b, 16]
    distance, rows = gjk(points[0], na, points[1], nb, pose, a, b, margin + ra + rb, simplex)
    if distance > margin + ra + rb:
        return first
    fa = load_faces(kind, pose, table.face_start, table.face_normal, solid, a, points[0], work.normals[0])
    fb = load_faces(kind, pose, table.face_start, table.face_normal, solid, b, points[1], work.normals[1])
    row_a, row_b = max(solid[a], 0), max(solid[b], 0)
    base = (table.vertex_start[row_a], table.vertex_start[row_b])
    first_face = (table.face_start[row_a], table.face_start[row_b])
    cone, triangle = work.cone, kind[b] == TRIANGLE
    known = True
    if distance > OVERLAP * size:
        p, q = weighted(simplex, rows, 3), weighted(simplex, rows, 6)
        separation, n = distance, unit(sub(q, p))
        if not allowed(cone, n):
            front = neg(spot(work.normals[1], 0))
            behind = dot(front, n) < -0.999 and distance < ra
            if (na == 1 and not behind) or (dot(front, n) < 0.0 and not behind):
                return first
            separation, n, known = -distance if behind else distance, front, behind
    elif na == 0 or nb == 0:
        separation, n, p, q = overlap_round(pose, a, b, (na, nb), (fa, fb), rows, work)
        if not allowed(cone, n):
            n, known = neg(spot(work.normals[1], 0)), False
    else:
        separation, n = separating_axis(points, (na, nb), work.normals, (fa, fb), base, first_face, table,
                                        (row_a, row_b), work.picked, cone, size)
        if separation == -math.inf:  # two points or two segments in one line: any direction will do
            separation, n = 0.0, (0.0, 0.0, 1.0)
        p, q = support(points[0], na, pose, a, n), support(points[1], nb, pose, b, neg(n))
    ca, cb = put_features(kind, pose, a, b, (na, nb), (fa, fb), (row_a, row_b), base, first_face, solids, n, work)
    if distance <= OVERLAP * size and known and not (na == 0 or nb == 0):
        p, q = witness(work.corners, ca, cb, n, separation, p, q)
    last = first
    if ca > 1 and cb > 1:
        last = lay_over(work.corners, work.poly, ca, cb, n, ra, rb, margin, patch, first)
    if known or (ca == 1 and not triangle):
        return finish(patch, first, last, separation, n, p, q, ra, rb, margin, size)
    return first + reduce_points(patch, first, last - first)

