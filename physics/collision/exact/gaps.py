"""Distances of surface elements: the gap of a pair, its nearest points, its normal, and how both surfaces curve there.

How a surface curves enters as a pair (α, β) for each of two perpendicular tangent directions: moving the point of the
surface by β s turns its outward normal by α s. A ball of radius r has (1, r), a plane (0, 1), a vertex (1, 0), an edge
(0, 1) along and (1, 0) across, the side of a cylinder (0, 1) and (1, r); the inside of a ball has r < 0.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray
from ...core.vec import axpy, cross, dot, neg, norm, put, put4, row, row4, sub, tangents, transform, unit
from ...shapes.elements import EDGE, FACE
from .elements import (
    AHEAD_EDGE,
    BEHIND_EDGE,
    CORNER_FACE,
    EDGE_EDGE,
    EDGE_ELLIPSOID,
    ELLIPSOID_BOWL,
    ELLIPSOID_PIPE,
    FACE_ELLIPSOID,
    PAIR_KINDS,
    RIM_ELLIPSOID,
    RIM_FACE,
    RIM_RIM,
    VERTEX_BOWL,
    VERTEX_EDGE,
    VERTEX_ELLIPSOID,
    VERTEX_FACE,
    VERTEX_PIPE,
    VERTEX_RIM,
    VERTEX_RING,
    VERTEX_VERTEX,
)
from .frames import NOWHERE, PARALLEL, facing_at_rim, facing_margin, side_margin, world_axis, world_point
from .rims import corner_face, rim_edge, rim_ellipsoid, rim_face, rim_rim, vertex_rim, vertex_ring
from .smooth import (
    edge_ellipsoid,
    ellipsoid_bowl,
    ellipsoid_ellipsoid,
    ellipsoid_pipe,
    face_ellipsoid,
    vertex_bowl,
    vertex_ellipsoid,
    vertex_pipe,
)

WALLS = (VERTEX_BOWL, VERTEX_PIPE, ELLIPSOID_BOWL, ELLIPSOID_PIPE)
LISTED, AXIS, PLACE = 3, 4, 7  # columns of `find_near`'s place: 0-2 point, a list, axis; their number


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
    height = dot(m, d)
    margin = side_margin(surface, bodies, f, p)
    if surface.length[f] < math.inf:
        margin = min(margin, surface.length[f] - norm(axpy(-height, m, d)))
    n = neg(m)
    t, facing = tangents(n)[0], facing_at_rim(surface, bodies, e, n, margin)
    return (axpy(r, n, p), axpy(height, n, p), n, height - r, margin, facing, t, (1.0, r, 1.0, r), t,
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
    if kind == ELLIPSOID_BOWL:
        return ellipsoid_bowl(surface, bodies, e, f)
    if kind == ELLIPSOID_PIPE:
        return ellipsoid_pipe(surface, bodies, e, f)
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


@helper
def place_elements(surface, bodies, place_out):
    """Write row e of place_out (e, PLACE): the point of element e in the world and, from column AXIS on, its axis."""
    for e in range(len(surface.kind)):
        p, u = world_point(surface, bodies, e), world_axis(surface, bodies, e)
        for j in range(3):
            place_out[e, j], place_out[e, AXIS + j] = p[j], u[j]


@helper
def axis_of(place, e):
    return place[e, AXIS], place[e, AXIS + 1], place[e, AXIS + 2]


@helper
def beyond(surface, place, e, centre, radius):
    """Whether all of element e is farther than `radius` from a centre."""
    d, u = sub(centre, row(place, e)), axis_of(place, e)
    if surface.kind[e] == FACE and abs(dot(u, d)) > radius:
        return True
    if surface.kind[e] == EDGE:
        along = min(max(dot(u, d), -surface.length[e]), surface.length[e])
        return norm(axpy(-along, u, d)) > radius + abs(surface.radius[e])
    return norm(d) > radius + surface.extent[e]


@helper
def plainly_apart(surface, place, kind, e, f, near, depth):
    """Whether the gap of a pair is more than `near` or less than -depth, where that is quickly seen; see `nearest`."""
    d, r = sub(row(place, f), row(place, e)), surface.radius[e] + surface.radius[f]
    u = axis_of(place, f)
    if kind == VERTEX_FACE:
        height = -dot(u, d) - surface.radius[e]
        return height > near or height < -max(near, depth)
    if kind == VERTEX_EDGE:
        return norm(axpy(-dot(u, d), u, d)) > near + r
    if kind == EDGE_EDGE:
        w = cross(axis_of(place, e), u)
        return abs(dot(w, d)) > (max(near, depth) + r) * norm(w)
    return False


@kernel
def find_near(surface, bodies, reach, depth, slack, place, pairs_out, out):
    """Pairs of elements whose gap is at most near = reach[a] + reach[b], a and b their bodies, and at least -depth, and
    that are outside their own region by 2 near + slack at most; with their witnesses. Beyond the rim of a wall the gap
    means nothing, and such pairs stay; so do a ball and a face beyond whose rim it is below its plane, but not by more
    than `near`: it may rise over the rim and land. Returns their number, which may exceed the room. place (e, PLACE) is
    scratch."""
    kinds, shape_body, extent = surface.kind, surface.shape_body, surface.extent
    place_elements(surface, bodies, place)
    found = 0
    for block in range(len(surface.meets)):
        a, b = int(surface.meets[block, 0]), int(surface.meets[block, 1])
        i, j = int(shape_body[a]), int(shape_body[b])
        c = transform(row(bodies.x, i), row4(bodies.q, i), row(surface.reach, a))
        d = transform(row(bodies.x, j), row4(bodies.q, j), row(surface.reach, b))
        near = reach[i] + reach[j]
        if norm(sub(d, c)) > near + surface.reach[a, 3] + surface.reach[b, 3]:
            continue
        wide, first, those = 4.0 * (near + slack), int(surface.start[b]), 0
        for f in range(first, int(surface.start[b + 1])):
            if not beyond(surface, place, f, c, surface.reach[a, 3] + wide):
                place[first + those, LISTED] = float(f)
                those += 1
        for e in range(int(surface.start[a]), int(surface.start[a + 1])):
            if beyond(surface, place, e, d, surface.reach[b, 3] + wide):
                continue
            for k in range(first, first + those):
                f = int(place[k, LISTED])
                g, h = e, f
                if PAIR_KINDS[kinds[e], kinds[f]] < 0:
                    g, h = f, e
                kind = int(PAIR_KINDS[kinds[g], kinds[h]])
                if kind < 0 or norm(sub(row(place, f), row(place, e))) > extent[e] + extent[f] + wide:
                    continue
                if kind in (VERTEX_VERTEX, VERTEX_EDGE, VERTEX_RIM) and surface.radius[e] + surface.radius[f] == 0.0:
                    continue  # a pair without thickness: its gap is never negative
                if plainly_apart(surface, place, kind, g, h, near, depth):
                    continue
                witness = nearest(surface, bodies, kind, g, h)
                if witness[3] > near or witness[4] < -2.0 * near - slack:
                    continue
                beside = witness[4] < 0.0 and (kind in WALLS or (kind == VERTEX_FACE and witness[3] >= -near))
                if witness[3] < -depth and not beside:
                    continue
                if found < len(pairs_out):
                    pairs_out[found] = g * len(kinds) + h
                    put_witness(surface, g, h, witness, found, out)
                found += 1
    return found
