"""Distances of surface elements: the gap of a pair, its nearest points, its normal, and how both surfaces curve there.

How a surface curves enters as a pair (α, β) for each of two perpendicular tangent directions: moving the point of the
surface by β s turns its outward normal by α s. A ball of radius r has (1, r), a plane (0, 1), a vertex (1, 0), an edge
(0, 1) along and (1, 0) across, the side of a cylinder (0, 1) and (1, r); the inside of a ball has r < 0.
"""

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray
from ...core.vec import axpy, cross, dot, neg, norm, put, put4, sub, tangents, unit
from .arcs import arc_over, stand_over
from .elements import (
    AHEAD_EDGE,
    AHEAD_SIDE,
    ARC_OVER,
    ARC_WALL,
    BEHIND_EDGE,
    BEHIND_SIDE,
    CORNER_FACE,
    EDGE_EDGE,
    EDGE_ELLIPSOID,
    ELLIPSOID_BOWL,
    ELLIPSOID_PIPE,
    FACE_ELLIPSOID,
    FACE_SMOOTH,
    LINE_SIDE,
    LINE_SMOOTH,
    PAIR_KINDS,
    RIM_ELLIPSOID,
    RIM_FACE,
    RIM_RIM,
    RIM_SMOOTH,
    RING_AHEAD_EDGE,
    RING_BEHIND_EDGE,
    RING_EDGE,
    SEAT_WALL,
    SMOOTH_SMOOTH,
    STAND_OVER,
    STAND_WALL,
    VERTEX_BOWL,
    VERTEX_EDGE,
    VERTEX_ELLIPSOID,
    VERTEX_FACE,
    VERTEX_PIPE,
    VERTEX_RIM,
    VERTEX_RING,
    VERTEX_SIDE,
    VERTEX_VERTEX,
)
from .frames import NOWHERE, PARALLEL, face_margin, facing_at_rim, facing_margin, side_margin, world_axis, world_point
from .lines import line_side, line_smooth, vertex_side
from .rims import corner_face, rim_edge, rim_ellipsoid, rim_face, rim_rim, rim_side, vertex_rim
from .rings import ring_edge, vertex_ring
from .seats import seat_wall
from .smooth import (
    edge_ellipsoid,
    ellipsoid_bowl,
    ellipsoid_ellipsoid,
    ellipsoid_pipe,
    face_ellipsoid,
    face_smooth,
    rim_smooth,
    smooth_smooth,
    vertex_bowl,
    vertex_ellipsoid,
    vertex_pipe,
)


class Witness(NamedTuple):
    """Where pairs of elements are nearest; row k is the k-th pair asked for. a is the predecessor, b the successor."""

    body_a: IntArray  #: (k,)
    body_b: IntArray  #: (k,)
    p_a: Array        #: (k, 3) nearest point on a's surface [m], world frame
    p_b: Array        #: (k, 3) on b's
    normal: Array     #: (k, 3) unit, from a to b; the outward normal of a
    gap: Array        #: (k,)   φ = n . (p_b - p_a) [m]
    margin: Array     #: (k,)   how far inside the pair's own region the points are [m]; < 0: others are nearer
    facing: Array     #: (k,)   of two sharp edges, and of a vertex at the rim of a face: >= 0 where the normal is an
                      #:        outward one of both; else 1
    u_a: Array        #: (k, 3) first principal direction of a's surface, unit, tangential
    curve_a: Array    #: (k, 4) α, β along u_a, and α, β across
    u_b: Array        #: (k, 3)
    curve_b: Array    #: (k, 4)


def empty_witness(capacity: int) -> Witness:
    """Room for the nearest points of so many pairs."""

    def floats(*width: int) -> Array:
        return np.zeros((capacity, *width))

    ints = (np.zeros(capacity, np.int32), np.zeros(capacity, np.int32))
    return Witness(*ints, floats(3), floats(3), floats(3), floats(), floats(), floats(), floats(3), floats(4),
                   floats(3), floats(4))


@helper
def vertex_vertex(surface, bodies, e, f):
    """φ = |p_f - p_e| - r_e - r_f"""
    p, q = world_point(surface, bodies, e), world_point(surface, bodies, f)
    r, s = surface.radius[e], surface.radius[f]
    d = sub(q, p)
    n = unit(d)
    t = tangents(n)[0]
    margin = min(side_margin(surface, bodies, e, q), side_margin(surface, bodies, f, p))
    return (axpy(r, n, p), axpy(-s, n, q), n, norm(d) - r - s, margin, 1.0, t, (1.0, r, 1.0, r), t,
            (1.0, s, 1.0, s))


@helper
def vertex_edge(surface, bodies, e, f):
    """The same with the foot of the vertex on the edge."""
    p, c, u = world_point(surface, bodies, e), world_point(surface, bodies, f), world_axis(surface, bodies, f)
    r, s = surface.radius[e], surface.radius[f]
    along = dot(u, sub(p, c))
    q = axpy(along, u, c)
    d = sub(q, p)
    n = unit(d)
    margin = min(side_margin(surface, bodies, e, q), side_margin(surface, bodies, f, p))
    margin = min(margin, surface.length[f] - abs(along))
    return (axpy(r, n, p), axpy(-s, n, q), n, norm(d) - r - s, margin, 1.0, u, (1.0, r, 1.0, r), u,
            (0.0, 1.0, 1.0, s))


@helper
def vertex_face(surface, bodies, e, f):
    """φ = m·(p - o) - r, m the face's outward normal"""
    p, o, m = world_point(surface, bodies, e), world_point(surface, bodies, f), world_axis(surface, bodies, f)
    r = surface.radius[e]
    d = sub(p, o)
    height, n = dot(m, d), neg(m)
    foot = axpy(height, n, p)
    margin = face_margin(surface, bodies, f, p, foot)
    t, facing = tangents(n)[0], facing_at_rim(surface, bodies, e, n, margin)
    return (axpy(r, n, p), foot, n, height - r, margin, facing, t, (1.0, r, 1.0, r), t,
            (0.0, 1.0, 0.0, 1.0))


@helper
def edge_edge(surface, bodies, e, f):
    """φ = n·(c_f - c_e) - r_e - r_f,  n = ±(u × v)/|u × v|, out of the sharp edge's faces or towards the other edge"""
    c, u = world_point(surface, bodies, e), world_axis(surface, bodies, e)
    k, v = world_point(surface, bodies, f), world_axis(surface, bodies, f)
    r, s = surface.radius[e], surface.radius[f]
    d = sub(k, c)
    w = cross(u, v)
    sine = norm(w)
    n = unit(w)
    along = dot(n, d)
    sharp_e = surface.side_start[e + 1] > surface.side_start[e]
    sharp_f = surface.side_start[f + 1] > surface.side_start[f]
    if sharp_e:
        if facing_margin(surface, bodies, e, n) < facing_margin(surface, bodies, e, neg(n)):
            n, along = neg(n), -along
    elif sharp_f:
        if facing_margin(surface, bodies, f, neg(n)) < facing_margin(surface, bodies, f, n):
            n, along = neg(n), -along
    elif along < 0.0:
        n, along = neg(n), -along
    if sine < PARALLEL:
        return c, k, u, 0.0, NOWHERE, 1.0, u, (0.0, 1.0, 1.0, r), v, (0.0, 1.0, 1.0, s)
    cosine = dot(u, v)
    x = (dot(d, u) - cosine * dot(d, v)) / (sine * sine)
    y = cosine * x - dot(d, v)
    margin = min(surface.length[e] - abs(x), surface.length[f] - abs(y))
    facing = min(facing_margin(surface, bodies, e, n), facing_margin(surface, bodies, f, neg(n)))
    return (axpy(r, n, axpy(x, u, c)), axpy(-s, n, axpy(y, v, k)), n, along - r - s, margin, facing, u,
            (0.0, 1.0, 1.0, r), v, (0.0, 1.0, 1.0, s))


@helper
def nearest(surface, bodies, kind, e, f):
    """Points on both elements, normal from e to f, gap, margin, facing, and how both curve. The table of pairs."""
    if kind == VERTEX_FACE:
        return vertex_face(surface, bodies, e, f)
    if kind == EDGE_EDGE:
        return edge_edge(surface, bodies, e, f)
    if kind == VERTEX_VERTEX:
        return vertex_vertex(surface, bodies, e, f)
    if kind == VERTEX_EDGE:
        return vertex_edge(surface, bodies, e, f)
    if kind == RIM_FACE:
        return rim_face(surface, bodies, e, f)
    if kind == CORNER_FACE:
        return corner_face(surface, bodies, e, f)
    if kind == VERTEX_RIM:
        return vertex_rim(surface, bodies, e, f)
    if kind in (AHEAD_EDGE, BEHIND_EDGE):
        return rim_edge(surface, bodies, kind, e, f)
    if kind == RIM_RIM:
        return rim_rim(surface, bodies, e, f)
    if kind == RIM_ELLIPSOID:
        return rim_ellipsoid(surface, bodies, e, f)
    if kind == VERTEX_BOWL:
        return vertex_bowl(surface, bodies, e, f)
    if kind == VERTEX_PIPE:
        return vertex_pipe(surface, bodies, e, f)
    if kind == VERTEX_ELLIPSOID:
        return vertex_ellipsoid(surface, bodies, e, f)
    if kind == EDGE_ELLIPSOID:
        return edge_ellipsoid(surface, bodies, e, f)
    if kind == FACE_ELLIPSOID:
        return face_ellipsoid(surface, bodies, e, f)
    if kind == VERTEX_RING:
        return vertex_ring(surface, bodies, e, f)
    if kind in (RING_EDGE, RING_AHEAD_EDGE, RING_BEHIND_EDGE):
        return ring_edge(surface, bodies, kind, e, f)
    if kind in (ARC_OVER, ARC_WALL):
        return arc_over(surface, bodies, e, f)
    if kind in (STAND_OVER, STAND_WALL):
        return stand_over(surface, bodies, e, f)
    if kind == SMOOTH_SMOOTH:
        return smooth_smooth(surface, bodies, e, f)
    if kind == FACE_SMOOTH:
        return face_smooth(surface, bodies, e, f)
    if kind == RIM_SMOOTH:
        return rim_smooth(surface, bodies, e, f)
    if kind == LINE_SMOOTH:
        return line_smooth(surface, bodies, e, f)
    if kind == VERTEX_SIDE:
        return vertex_side(surface, bodies, e, f)
    if kind == LINE_SIDE:
        return line_side(surface, bodies, e, f)
    if kind in (AHEAD_SIDE, BEHIND_SIDE):
        return rim_side(surface, bodies, kind, e, f)
    if kind == ELLIPSOID_BOWL:
        return ellipsoid_bowl(surface, bodies, e, f)
    if kind == ELLIPSOID_PIPE:
        return ellipsoid_pipe(surface, bodies, e, f)
    if kind == SEAT_WALL:
        return seat_wall(surface, bodies, e, f)
    return ellipsoid_ellipsoid(surface, bodies, e, f)


@helper
def put_witness(surface, e, f, found, k, out):
    """Write what `nearest` found of the elements e, f as row k, the body of the lower shape first."""
    p_a, p_b, n, gap, margin, facing, u_a, c_a, u_b, c_b = found
    if surface.shape[e] > surface.shape[f]:
        e, f, p_a, p_b, n, u_a, c_a, u_b, c_b = f, e, p_b, p_a, neg(n), u_b, c_b, u_a, c_a
    out.body_a[k], out.body_b[k] = surface.body[e], surface.body[f]
    put(out.p_a, k, p_a)
    put(out.p_b, k, p_b)
    put(out.normal, k, n)
    out.gap[k], out.margin[k], out.facing[k] = gap, margin, facing
    put(out.u_a, k, u_a)
    put4(out.curve_a, k, c_a)
    put(out.u_b, k, u_b)
    put4(out.curve_b, k, c_b)


@kernel
def find_witnesses(surface, bodies, pairs, count, out):
    """Fill rows 0 … count - 1 of `out` for the pairs of elements pairs[0 … count - 1]; limits are left out."""
    elements = len(surface.kind)
    for k in range(count):
        if pairs[k] >= elements * elements:
            continue
        e, f = int(pairs[k]) // elements, int(pairs[k]) % elements
        kind = int(PAIR_KINDS[surface.kind[e], surface.kind[f]])
        put_witness(surface, e, f, nearest(surface, bodies, kind, e, f), k, out)
