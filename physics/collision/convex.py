"""Any two convex shapes: distance by GJK, depth by separating axes or the expanding polytope, points by overlay."""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper
from ..core.model import Array
from ..core.state import LongArray
from ..core.vec import axpy, cross, dot, neg, scale, sub, unit
from .geometry import CYLINDER, ELLIPSOID, PATCH, between, extent, origin, put_point, swell
from .geometry import axis as axis_of
from .gjk import EXPANSIONS, OVERLAP, SIMPLEX, expand, fill_simplex, gjk, support, weighted
from .manifold import B_SIDE, CORNER, lay_over, put_corner, reduce_points
from .polytope import (
    CAP_CORNERS,
    Solids,
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

FACE_ALIGNED = 0.98  # cosine to the normal above which a face takes part in the contact
FACE_FACING = 0.3    # and above which it does so where the other shape has such a face


class ConvexScratch(NamedTuple):
    """Scratch of the narrow phase."""

    figures: Array    #: (4, k, CORNER) touching features of a and b, and two polygons in the plane; see manifold
    core: Array       #: (2, v + f, 3) corners of the two cores [m] and normals of their faces, world frame
    simplex: Array    #: (.., SIMPLEX) simplex, expanding polytope, its faces, the rim of the hole in it; see gjk
    picked: LongArray  #: (2, e) edges worth a test
    cone: Array       #: (8, 3) directions that the triangle in hand may push along, see `allowed`
    patch: Array      #: (k, PATCH) contact points of the pair in hand


def new_work(solids: Solids) -> ConvexScratch:
    """Scratch that is large enough for every pair of these polytopes."""
    corners = max(int(solids.loops[:, 0].max()), CAP_CORNERS)
    points, faces, edges = (int(solids.info[:, c].max()) for c in (2, 4, 6))
    return ConvexScratch(
        np.zeros((4, 2 * corners + 2, CORNER)), np.zeros((2, points + faces + 1, 3)),
        np.zeros((9 * EXPANSIONS + 5, SIMPLEX)), np.zeros((2, max(edges, 1)), np.int64), np.zeros((8, 3)),
        np.zeros((max(128, 2 * points), PATCH)),
    )


@helper
def flat_axes(pose, s, core, points, faces, other, sign, depth, n):
    """Of the axes on which a cylinder or ellipsoid s touches flat, one no worse than the depth and normal given.

    The expanding polytope approaches them only as far as rounding lets it: a cylinder's own axis and the face normals
    of the other shape. `sign` is 1 where s is a.
    """
    best, normal = depth, n
    u, e = axis_of(pose, s, 2), extent(pose, s)
    for f in range(0 if e[2] > 0.0 else -2, faces):
        m = scale(-1.0, spot(core, points + f)) if f >= 0 else (u if f == -1 else neg(u))
        reach = dot(m, sub(support(core, 0, pose, s, m), support(core, points, pose, other, neg(m))))
        if reach <= best * (1.0 + 1e-7) + 1e-10 * e[0] and dot(m, n) * sign > 0.99:
            best, normal = min(best, reach), scale(sign, m)
    return best, normal


@helper
def overlap_round(pose, core, a, b, na, nb, fa, fb, rows, simplex):
    """(separation, normal) of two overlapping cores of which one is a cylinder or an ellipsoid."""
    rows = fill_simplex(core[0], na, core[1], nb, pose, a, b, rows, simplex)
    if rows < 4:
        n = unit(sub(origin(pose, b), origin(pose, a)))
        return 0.0, n if dot(n, n) > 0.0 else (0.0, 0.0, 1.0)
    faces, rim = simplex[EXPANSIONS + 5 : 7 * EXPANSIONS + 5], simplex[7 * EXPANSIONS + 5 :]
    depth, n = expand(core[0], na, core[1], nb, pose, a, b, simplex, faces, rim)
    if na == 0:
        depth, n = flat_axes(pose, a, core[1], nb, fb, b, 1.0, depth, n)
    if nb == 0:
        depth, n = flat_axes(pose, b, core[0], na, fa, a, -1.0, depth, n)
    return -depth, n


@helper
def put_feature(pose, info, loops, edges, core, s, n, flat, face, cosine, face_offset, side, feature_out):
    """The feature with which shape s touches along n; returns its number of corners."""
    if info[s, 0] == CYLINDER:
        return put_cylinder(pose, s, n, side, feature_out)
    if info[s, 0] == ELLIPSOID:
        put_corner(feature_out, 0, support(core, 0, pose, s, n), side)
        return 1
    if flat and cosine > FACE_FACING:
        return put_face(core, loops, info[s, 3] - face_offset + face, side, feature_out)
    return put_edge(core, info, edges, s, n, side, feature_out)


@helper
def put_features(pose, info, loops, edges, core, a, b, face_offset, n, figures):
    """The touching features of a and b along n; returns their numbers of corners."""
    m = neg(n)
    face_a, cos_a = best_face(core[0], info[a, 2], info[a, 4], n)
    face_b, cos_b = best_face(core[1], info[b, 2], info[b, 4], m)
    flat = max(cos_a, cos_b) > FACE_ALIGNED
    flat = flat or (info[a, 0] == CYLINDER and abs(dot(n, axis_of(pose, a, 2))) > FACE_ALIGNED)
    flat = flat or (info[b, 0] == CYLINDER and abs(dot(n, axis_of(pose, b, 2))) > FACE_ALIGNED)
    ca = put_feature(pose, info, loops, edges, core[0], a, n, flat, face_a, cos_a, face_offset, 0, figures[0])
    cb = put_feature(pose, info, loops, edges, core[1], b, m, flat, face_b, cos_b, face_offset, B_SIDE, figures[1])
    return ca, cb


@helper
def witness(figures, count_a, count_b, n, separation, p, q):
    """A pair of points of the features that are as far apart as the axis says, from supports p of a and q of b."""
    if count_a > 2:  # a face: the other's support stands over it
        return axpy(-separation, n, q), q
    if count_b == 2 and count_a == 2:
        o = spot(figures[0], 0)
        u, v = sub(spot(figures[0], 1), o), sub(spot(figures[1], 1), spot(figures[1], 0))
        m = cross(u, v)
        square = dot(m, m)
        if square > 1e-8 * dot(u, u) * dot(v, v):
            p = axpy(dot(cross(sub(spot(figures[1], 0), o), v), m) / square, u, o)
    if count_b == 1 and count_a == 2:
        return axpy(-separation, n, q), q
    return p, axpy(separation, n, p)


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
def direction(pose, info, loops, edges, core, a, b, face_offset, distance, rows, simplex, picked, cone):
    """(separation, normal a -> b) of two cores whose distance GJK has found, with its simplex."""
    na, nb = info[a, 2], info[b, 2]
    size = pose[a, 16] + pose[b, 16]
    if distance > OVERLAP * size:
        return distance, unit(sub(weighted(simplex, rows, 6), weighted(simplex, rows, 3)))
    if na == 0 or nb == 0:
        return overlap_round(pose, core, a, b, na, nb, info[a, 4], info[b, 4], rows, simplex)
    separation, n = separating_axis(info, loops, edges, core, a, b, face_offset, picked, cone, size)
    if separation == -math.inf:  # two points, or two segments in one line: any direction will do
        return 0.0, (0.0, 0.0, 1.0)
    return separation, n


@helper
def touch_convex(pose, info, vectors, loops, edges, core, figures, simplex, picked, cone, a, b, margin, patch, first):
    """Contact points of two convex shapes, in rows of the patch from `first` on; returns the row after the last."""
    ra, rb = swell(pose, a), swell(pose, b)
    na = load_points(pose, info, vectors, a, core[0])
    nb = load_points(pose, info, vectors, b, core[1])
    distance, rows = gjk(core[0], na, core[1], nb, pose, a, b, margin + ra + rb, simplex)
    if distance > margin + ra + rb:
        return first
    load_faces(pose, info, vectors, a, core[0])
    load_faces(pose, info, vectors, b, core[1])
    face_offset = vectors.shape[0] - loops.shape[0]
    size = pose[a, 16] + pose[b, 16]
    separation, n = direction(pose, info, loops, edges, core, a, b, face_offset, distance, rows, simplex, picked, cone)
    apart, known = distance > OVERLAP * size, True
    if not allowed(cone, n):  # only for triangles: push along the normal instead, or leave it to the neighbour
        front = neg(spot(core[1], 3))
        behind = apart and dot(front, n) < -0.999 and distance < ra
        if apart and not behind and (na == 1 or dot(front, n) < 0.0):
            return first
        separation, n, known = -distance if behind else separation, front, behind
    ca, cb = put_features(pose, info, loops, edges, core, a, b, face_offset, n, figures)
    p, q = support(core[0], na, pose, a, n), support(core[1], nb, pose, b, neg(n))
    if apart:
        p, q = weighted(simplex, rows, 3), weighted(simplex, rows, 6)
    elif info[a, 0] == ELLIPSOID:
        q = axpy(separation, n, p)
    elif info[b, 0] == ELLIPSOID:
        p = axpy(-separation, n, q)
    elif na > 0 and nb > 0:
        p, q = witness(figures, ca, cb, n, separation, p, q)
    last = first
    if ca > 1 and cb > 1:
        last = lay_over(figures[:2], figures[2:], ca, cb, n, ra, rb, margin, patch, first)
    if known:
        return finish(patch, first, last, separation, n, p, q, ra, rb, margin, size)
    return first + reduce_points(patch, first, last - first)
