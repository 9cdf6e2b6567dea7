"""Any two convex shapes: distance by GJK, depth by separating axes or the expanding polytope, points by overlay."""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper
from ..core.model import Array
from ..core.state import LongArray
from ..core.vec import add, axpy, cross, dot, neg, norm, scale, sub, unit
from ..shapes.cylinder import CAP_CORNERS
from ..shapes.table import flat_end_cosine, has_rims
from .geometry import PATCH, between, extent, origin, put_point, swell, to_local, to_world
from .geometry import axis as axis_of
from .gjk import EXPANSIONS, OVERLAP, SIMPLEX, expand, fill_simplex, gjk, support, weighted
from .known_features import (
    APART,
    CLEAR,
    NEAR,
    NOTHING,
    facing_features,
    new_notes,
    note_apart,
    note_axis,
    note_of,
    prove,
    recall,
    stay_apart,
)
from .manifold import B_SIDE, CORNER, lay_over, reduce_corners
from .over_triangle import BEHIND, face_towards, lateral, leans, over_face, touch_leaning
from .polytope import (
    EDGES,
    FACES,
    POINTS,
    Solids,
    allowed,
    best_face,
    edge_towards,
    first_loop,
    is_solid,
    load_corner,
    load_faces,
    load_points,
    put_edge,
    put_face,
    put_round,
    separating_axis,
    spot,
)

FACE_ALIGNED = 0.98  # cosine to the normal above which a face takes part in the contact
FACE_FACING = 0.3    # the same where the other shape has a face above FACE_ALIGNED
ACROSS = 1.0 - 1e-12  # cosine above which a face lies across the normal: the normal is its own
LEVEL = 1e-3         # differences in height of a feature across the normal, relative to its size: so well is that known
DEEP = 1e-3          # overlap with a triangle, relative to the size, above which it is asked whether that is meant,
BEYOND = 3.0         # and how many times the overlap sideways it may be
UNKNOWN = -2         # a face that has not been looked for


class ConvexScratch(NamedTuple):
    """Scratch of the narrow phase."""

    figures: Array    #: (4, k, CORNER) touching features of a and b, and two polygons in the plane; see manifold
    core: Array       #: (2, v + f, 3) corners of the two cores [m] and normals of their faces, world frame
    simplex: Array    #: (.., SIMPLEX) simplex, expanding polytope, its faces, the rim of the hole in it; see gjk
    picked: LongArray  #: (2, e) edges worth a test
    cone: Array       #: (8, 3) directions that the triangle in hand may push along, see `allowed`
    patch: Array      #: (k, PATCH) contact points of the pair in hand
    notes: Array      #: (p, 10) what is noted of pairs a, b, see known_features: a, b, what, which features; 5-8 an
    #:                   axis in the frame of a, and how far a reaches along it [m]; 9 see `note_apart` [m]


def new_work(solids: Solids) -> ConvexScratch:
    """Scratch that is large enough for every pair of these polytopes."""
    corners = max(int(solids.loops[:, 0].max()), CAP_CORNERS)
    points, faces, edges = (int(solids.info[:, c].max()) for c in (POINTS, FACES, EDGES))
    return ConvexScratch(
        np.zeros((4, 2 * corners + 2, CORNER)), np.zeros((2, points + faces + 1, 3)),
        np.zeros((9 * EXPANSIONS + 5, SIMPLEX)), np.zeros((2, max(edges, 1)), np.int64), np.zeros((8, 3)),
        np.zeros((max(128, 2 * points), PATCH)), new_notes(1),
    )


@helper
def flat_axes(geom, s, core, points, faces, other, sign, depth, n):
    """(depth, normal a -> b) of the least overlap of a round shape s: along n, or along a flat axis near n.

    Flat axes are the axis of s, where it has flat ends, and the face normals of the other shape. The expanding
    polytope approaches them only as far as rounding lets it. `sign` is 1 where s is a.
    """
    best, normal = depth, n
    u, e = axis_of(geom, s, 2), extent(geom, s)
    for f in range(-2 if has_rims(geom.kind[s]) else 0, faces):
        m = scale(-1.0, spot(core, points + f)) if f >= 0 else (u if f == -1 else neg(u))
        reach = dot(m, sub(support(core, 0, geom, s, m), support(core, points, geom, other, neg(m))))
        if reach <= best * (1.0 + 1e-7) + 1e-10 * e[0] and dot(m, n) * sign > 0.99:
            best, normal = min(best, reach), scale(sign, m)
    return best, normal


@helper
def overlap_round(geom, solids, work, a, b, rows):
    """(separation, normal) of two overlapping cores of which one is a round shape; GJK has left `rows` of a simplex."""
    core, simplex = work.core, work.simplex
    na, nb = solids.info[a, POINTS], solids.info[b, POINTS]
    rows = fill_simplex(core[0], na, core[1], nb, geom, a, b, rows, simplex)
    if rows < 4:  # those of GJK may lie together or in a line
        rows = fill_simplex(core[0], na, core[1], nb, geom, a, b, 1, simplex)
    if rows < 4:
        n = unit(sub(origin(geom, b), origin(geom, a)))
        return 0.0, n if dot(n, n) > 0.0 else (0.0, 0.0, 1.0)
    faces, rim = simplex[EXPANSIONS + 5 : 7 * EXPANSIONS + 5], simplex[7 * EXPANSIONS + 5 :]
    depth, n = expand(core[0], na, core[1], nb, geom, a, b, simplex, faces, rim)
    if na == 0:
        depth, n = flat_axes(geom, a, core[1], nb, solids.info[b, FACES], b, 1.0, depth, n)
    if nb == 0:
        depth, n = flat_axes(geom, b, core[0], na, solids.info[a, FACES], a, -1.0, depth, n)
    return -depth, n


@helper
def put_feature(geom, solids, core, s, n, flat, face, cosine, side, feature_out):
    """The feature with which shape s touches along n; returns its number of corners. `face` is the face of a polytope
    that looks most along n, with that cosine."""
    if solids.info[s, POINTS] == 0:
        return put_round(geom, s, n, side, feature_out)
    if flat and cosine > FACE_FACING:
        return put_face(core, solids.loops, first_loop(solids, s) + face, side, feature_out)
    return put_edge(core, solids, s, n, side, feature_out)


@helper
def put_features(geom, solids, work, a, b, n):
    """The touching features of a and b along n; returns their numbers of corners, and the cosines of the faces that
    look most along n and against it."""
    m, info, core = neg(n), solids.info, work.core
    face_a, cos_a = best_face(core[0], info[a, POINTS], info[a, FACES], n)
    face_b, cos_b = best_face(core[1], info[b, POINTS], info[b, FACES], m)
    flat = max(cos_a, cos_b) > FACE_ALIGNED
    flat = flat or flat_end_cosine(geom.kind[a], to_local(geom, a, n)) > FACE_ALIGNED
    flat = flat or flat_end_cosine(geom.kind[b], to_local(geom, b, m)) > FACE_ALIGNED
    ca = put_feature(geom, solids, core[0], a, n, flat, face_a, cos_a, 0, work.figures[0])
    cb = put_feature(geom, solids, core[1], b, m, flat, face_b, cos_b, B_SIDE, work.figures[1])
    return ca, cb, cos_a, cos_b


@helper
def witness(solids, core, a, b, n, separation, cos_a, cos_b):
    """The nearest points of two polytopes, `separation` apart along n, from the cosines of their faces: a corner and
    the face across n that it stands over, or where two edges cross."""
    top, e = edge_towards(core[0], solids, a, n)
    low, f = edge_towards(core[1], solids, b, neg(n))
    p, q, edges = spot(core[0], top), spot(core[1], low), solids.edges
    if cos_a > ACROSS or (cos_b <= ACROSS and f < 0):
        return axpy(-separation, n, q), q
    if cos_b <= ACROSS and e >= 0:
        o, r = spot(core[0], edges[e, 0]), spot(core[1], edges[f, 0])
        u, v = sub(spot(core[0], edges[e, 1]), o), sub(spot(core[1], edges[f, 1]), r)
        m = cross(u, v)
        along, other, square = dot(cross(sub(r, o), v), m), dot(cross(sub(r, o), u), m), dot(m, m)
        if square > 1e-8 * dot(u, u) * dot(v, v) and min(along, other) >= 0.0 and max(along, other) <= square:
            p = axpy(along / square, u, o)
    return p, axpy(separation, n, p)


@helper
def passing(edge, other, q):
    """The point of an edge that is nearest to the line of another one, or to its point q where the two are parallel;
    both are features."""
    o, r = spot(edge, 0), spot(other, 0)
    u, v = sub(spot(edge, 1), o), sub(spot(other, 1), r)
    m, length = cross(u, v), dot(u, u)
    square = dot(m, m)
    parallel = square <= 1e-8 * length * dot(v, v)
    along = dot(sub(q, o), u) / length if parallel else dot(cross(sub(r, o), v), m) / square
    return axpy(min(max(along, 0.0), 1.0), u, o)


@helper
def tilt(feature, count, n):
    """How the heights of a feature's corners along n differ, relative to its size; 1 of a single corner."""
    low, high, size, first = math.inf, -math.inf, 0.0, spot(feature, 0)
    for i in range(count):
        p = spot(feature, i)
        low, high, size = min(low, dot(p, n)), max(high, dot(p, n)), max(size, norm(sub(p, first)))
    return (high - low) / size if size > 0.0 else 1.0


@helper
def looseness(points, corners):
    """The more, the less a level feature says where it touches: an edge or a line, a cap, a face."""
    return 4 if points > 0 and corners > 2 else min(corners, 3)


@helper
def edge_of_face(solids, core, s, n, corners, cosine, feature, feature_out):
    """The feature that shape s touches a round one with, and its number of corners: of a face that does not lie across
    n its edge or corner."""
    if solids.info[s, POINTS] == 0 or cosine > ACROSS:
        return feature, corners
    return feature_out, put_edge(core, solids, s, n, 0, feature_out)


@helper
def pressed(a, ca, b, cb, na, nb, p, q, n, separation):
    """The nearest points of two shapes that overlap by -separation along n, one of them round, from their features and
    the points p and q that are farthest along n and against it. A feature that is not level touches at that point."""
    tilt_a, tilt_b = tilt(a, ca, n), tilt(b, cb, n)
    by_a = tilt_a >= tilt_b
    if max(tilt_a, tilt_b) <= LEVEL:
        by_a = looseness(na, ca) <= looseness(nb, cb)
        if ca == 2 and cb == 2:
            p = passing(a, b, q)
    if by_a:
        return p, axpy(separation, n, p)
    return axpy(-separation, n, q), q


@helper
def finish(geom, a, b, patch, first, count, gap, point, n, margin):
    """Add the midpoint of the nearest points where the overlay has missed it, and reduce; returns the row after the
    last."""
    deepest = math.inf
    for k in range(first, count):
        deepest = min(deepest, patch[k, 6])
    if gap <= margin and deepest > gap + 1e-6 * (geom.core[a] + geom.core[b]):
        count = put_point(patch, count, point, n, gap, 1 << 50)
    return first + reduce_corners(geom, a, b, patch, first, count - first)


@helper
def direction(geom, solids, work, a, b, distance, rows):
    """(separation, normal a -> b) of two cores whose distance GJK has found, with its simplex."""
    size = geom.core[a] + geom.core[b]
    if distance > OVERLAP * size:
        return distance, unit(sub(weighted(work.simplex, rows, 6), weighted(work.simplex, rows, 3)))
    if solids.info[a, POINTS] == 0 or solids.info[b, POINTS] == 0:
        return overlap_round(geom, solids, work, a, b, rows)
    separation, n = separating_axis(solids, work, a, b, size)
    if separation == -math.inf:  # two points, or two segments in one line: any direction will do
        return 0.0, (0.0, 0.0, 1.0)
    return separation, n


@helper
def put_known_face(geom, solids, core, s, f, side, feature_out):
    """Face f of solid s as a feature; returns its number of corners. Of the core only these corners are loaded."""
    row = first_loop(solids, s) + f
    for i in range(solids.loops[row, 0]):
        load_corner(geom, solids, s, solids.loops[row, 1 + i], core)
    return put_face(core, solids.loops, row, side, feature_out)


@helper
def put_faced(geom, solids, core, s, n, facing, side, feature_out):
    """The feature of solid s that looks along n: the face, with its cosine, or where it looks aside an edge."""
    face, cosine = facing
    if cosine > FACE_FACING:
        return put_known_face(geom, solids, core, s, face, side, feature_out)
    load_points(geom, solids, s, core)
    return put_edge(core, solids, s, n, side, feature_out)


@helper
def touch_known(geom, solids, work, note, found, margin, first):
    """As `touch_convex`, for two solids whose features are noted, and what `recall` or `prove` say of them."""
    _, separation, n, point = found
    if separation > margin:
        return first
    a, b, core, figures, last = int(note[0]), int(note[1]), work.core, work.figures, first
    face_a, cos_a, face_b, cos_b = facing_features(geom, solids, note, n)
    if max(cos_a, cos_b) > FACE_ALIGNED:
        ca = put_faced(geom, solids, core[0], a, n, (face_a, cos_a), 0, figures[0])
        cb = put_faced(geom, solids, core[1], b, neg(n), (face_b, cos_b), B_SIDE, figures[1])
        if ca > 1 and cb > 1:
            last = lay_over(figures[:2], figures[2:], ca, cb, n, 0.0, 0.0, margin, work.patch, first)
    return finish(geom, a, b, work.patch, first, last, separation, point, n, margin)


@helper
def touch_convex(geom, solids, work, a, b, margin, first, at):
    """Contact points of two convex shapes, in rows of the patch from `first` on; returns the row after the last. What
    row `at` of the notes says of the two is tried first, see `known_features`."""
    core, simplex = work.core, work.simplex
    ra, rb = swell(geom, a), swell(geom, b)
    limit, solid = margin + ra + rb + CLEAR * (geom.core[a] + geom.core[b]), is_solid(geom, a) and is_solid(geom, b)
    note = note_of(work.notes, at, a, b)
    if stay_apart(geom, note, limit):
        return first
    found = recall(geom, solids, note, limit) if solid else (NOTHING, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    if found[0] == APART:
        return first
    if found[0] == NOTHING:
        na = load_points(geom, solids, a, core[0])
        nb = load_points(geom, solids, b, core[1])
        distance, rows = gjk(core[0], na, core[1], nb, geom, a, b, limit, simplex)
        if distance > limit:
            note_apart(geom, distance, note)
            if solid:
                note_axis(geom, solids, a, unit(neg(weighted(simplex, rows, 0))), note)
            return first
        load_faces(geom, solids, a, core[0])
        load_faces(geom, solids, b, core[1])
        separation, n = direction(geom, solids, work, a, b, distance, rows)
        if solid:
            e, g = edge_towards(core[0], solids, a, n)[1], edge_towards(core[1], solids, b, neg(n))[1]
            found = prove(geom, solids, note, n, e, g, limit)
        if found[0] <= APART:
            return touch_found(geom, solids, work, a, b, (distance, rows, separation, n), True, margin, first)
    return touch_known(geom, solids, work, note, found, margin, first)


@helper
def touch_found(geom, solids, work, a, b, answer, own, margin, first):
    """As `touch_convex`, for two shapes whose cores are loaded; answer: what `gjk` and `direction` say of them; own:
    whether the normal is among the directions of the triangle in hand, see `allowed`."""
    core, simplex, patch = work.core, work.simplex, work.patch
    distance, rows, separation, n = answer
    ra, rb, na, nb = swell(geom, a), swell(geom, b), solids.info[a, POINTS], solids.info[b, POINTS]
    size = geom.core[a] + geom.core[b]
    apart, known = distance > OVERLAP * size, True
    deep = work.cone[7, 0] != 0.0 and not apart and -separation > DEEP * size
    if deep and -separation > BEYOND * lateral(geom, solids, work, a, b):
        return first
    if not own:  # only for triangles: push along the normal instead, or leave it to the neighbour
        front = neg(spot(core[1], 3))
        behind = apart and dot(front, n) < -BEHIND and distance < ra
        if apart and not behind and (na == 1 or dot(front, n) < 0.0):
            return first
        if apart and not behind and leans(solids, work, a, front):
            return touch_leaning(geom, solids, work, a, b, front, margin, first)
        separation, n, known = -distance if behind else separation, front, behind
    ca, cb, cos_a, cos_b = put_features(geom, solids, work, a, b, n)
    p, q = support(core[0], na, geom, a, n), support(core[1], nb, geom, b, neg(n))
    if apart:
        p, q = weighted(simplex, rows, 3), weighted(simplex, rows, 6)
    elif na > 0 and nb > 0:
        p, q = witness(solids, core, a, b, n, separation, cos_a, cos_b)
    else:
        fa, ka = edge_of_face(solids, core[0], a, n, ca, cos_a, work.figures[0], work.figures[2])
        fb, kb = edge_of_face(solids, core[1], b, neg(n), cb, cos_b, work.figures[1], work.figures[3])
        p, q = pressed(fa, ka, fb, kb, na, nb, p, q, n, separation)
    last = first
    if ca > 1 and cb > 1:
        last = lay_over(work.figures[:2], work.figures[2:], ca, cb, n, ra, rb, margin, patch, first)
    beside = work.cone[7, 0] != 0.0 and not apart and last > first  # deepest under the triangle's plane, not under it
    if known and not beside:
        point = between(axpy(ra, n, p), axpy(-rb, n, q))
        return finish(geom, a, b, patch, first, last, separation - ra - rb, point, n, margin)
    return first + reduce_corners(geom, a, b, patch, first, last - first)


@helper
def touch_triangle(geom, solids, work, a, f, margin, first):
    """As `touch_convex`, for a shape whose core is loaded and the triangle in hand. Returns also the face of the shape
    that was nearest to the last triangle within reach, to be tried first for the next one, as f now is: -1 = none,
    UNKNOWN = none was within reach yet; and a lower bound of their distance [m]."""
    core, simplex, b, ra = work.core, work.simplex, geom.x.shape[0] - 1, swell(geom, a)
    size, distance, rows, n = geom.core[a] + geom.core[b], 0.0, 1, spot(work.cone, 0)
    limit = margin + ra + CLEAR * size
    face = face_towards(solids, work, a, neg(n))[0] if f == UNKNOWN else f
    if face >= 0:
        distance, n = over_face(solids, work, a, face, size, limit)
    separation, known = distance, distance > 0.0
    if not known:
        distance, rows = gjk(core[0], solids.info[a, POINTS], core[1], 3, geom, a, b, limit, simplex)
    if distance > limit:
        return first, f, distance
    load_faces(geom, solids, b, core[1])
    if not known:
        separation, n = direction(geom, solids, work, a, b, distance, rows)
        nearest, cosine = face_towards(solids, work, a, n)
        face = nearest if cosine > NEAR else face
    own = allowed(work.cone, n)
    return touch_found(geom, solids, work, a, b, (distance, rows, separation, n), own, margin, first), face, distance


@helper
def touch_nearest(geom, solids, work, a, p, q, own, margin, first):
    """As `touch_convex`, for a box whose core is loaded and the triangle in hand, whose nearest points p of the box and
    q of the triangle are known, in the frame of the box about its centre; the same point where the two overlap. own:
    whether the way from p to q is among the triangle's directions, see `allowed`."""
    simplex, b, way = work.simplex, geom.x.shape[0] - 1, to_world(geom, a, sub(q, p))
    distance, p = norm(way), add(origin(geom, a), to_world(geom, a, p))
    q = add(p, way)
    for k in range(3):
        simplex[0, k], simplex[0, 3 + k], simplex[0, 6 + k] = -way[k], p[k], q[k]
    simplex[0, 9] = 1.0
    load_faces(geom, solids, b, work.core[1])
    separation, n = direction(geom, solids, work, a, b, distance, 1)
    if distance <= OVERLAP * (geom.core[a] + geom.core[b]):
        own = allowed(work.cone, n)
    return touch_found(geom, solids, work, a, b, (distance, 1, separation, n), own, margin, first)
