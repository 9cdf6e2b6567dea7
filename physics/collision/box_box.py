"""Box against box: separating axes, then the two facing faces laid over each other."""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, cross, dot, neg, scale, sub, unit
from .geometry import axis as axis_of
from .geometry import between, extent, origin, put_point, to_local, to_world
from .manifold import B_SIDE, lay_over, put_corner, reduce_corners

FACE_ALIGNED = 0.98  # cosine to the normal above which a face takes part in the contact
INEXACT = 1e-7       # how far off, relative to size, the nearest contact point may be from the distance on the axis
BIAS = 1e-7          # how much better, relative to size, another axis must be than a face of a


@helper
def box_corner(geom, s, n):
    """Corner farthest along n, world frame."""
    d, h = to_local(geom, s, n), extent(geom, s)
    c = (math.copysign(h[0], d[0]), math.copysign(h[1], d[1]), math.copysign(h[2], d[2]))
    return add(origin(geom, s), to_world(geom, s, c))


@helper
def box_face(geom, s, n, side, feature_out):
    """The face that looks most along n: four corners, counter-clockwise from outside, and the names of its edges."""
    d, h, x = to_local(geom, s, n), extent(geom, s), origin(geom, s)
    i = 0 if abs(d[0]) >= abs(d[1]) and abs(d[0]) >= abs(d[2]) else (1 if abs(d[1]) >= abs(d[2]) else 2)
    j, k = (i + 1) % 3, (i + 2) % 3
    positive = d[i] >= 0.0
    w = scale(h[i] if positive else -h[i], axis_of(geom, s, i))
    u, v = scale(h[j], axis_of(geom, s, j)), scale(h[k], axis_of(geom, s, k))
    centre = add(x, w)
    top = 1 if positive else 0
    for c in range(4):  # corners (-,-) (+,-) (+,+) (-,+) in (u, v), reversed on the negative side
        at = c if positive else 3 - c
        su, sv = 1.0 if at == 1 or at == 2 else -1.0, 1.0 if at >= 2 else -1.0
        edge = at if positive else (at + 3) % 4
        # an edge of the box: its direction, and the sides of the two other axes on which it lies
        if edge == 0 or edge == 2:
            name = edge_name(j, k, 1 if edge == 2 else 0, i, top)
        else:
            name = edge_name(k, i, top, j, 1 if edge == 1 else 0)
        put_corner(feature_out, c, axpy(su, u, axpy(sv, v, centre)), side + name)
    return 4


@helper
def edge_name(axis, i, side_i, j, side_j):
    """Number 0..11 of the edge along `axis` on the given sides of the axes i and j."""
    first, second = (side_i, side_j) if i < j else (side_j, side_i)
    return 4 * axis + 2 * first + second


@helper
def turn_boxes(geom, a, b, c_out):
    """Rows 0-2 of c_out: cosines between the axes of a and of b; row 3: from a's centre to b's, along a's axes."""
    for i in range(3):
        for j in range(3):
            c_out[i, j] = (
                geom.R[a, 0, i] * geom.R[b, 0, j] + geom.R[a, 1, i] * geom.R[b, 1, j]
                + geom.R[a, 2, i] * geom.R[b, 2, j]
            )
        c_out[3, i] = (
            geom.R[a, 0, i] * (geom.x[b, 0] - geom.x[a, 0]) + geom.R[a, 1, i] * (geom.x[b, 1] - geom.x[a, 1])
            + geom.R[a, 2, i] * (geom.x[b, 2] - geom.x[a, 2])
        )


@helper
def face_axes(geom, a, b, c):
    """(separation, kind, sign) of the best face normal: kind 0..2 of a, 3..5 of b; times sign it points from a to b."""
    best, kind, sign = -math.inf, 0, 1.0
    bias, half_a, half_b = BIAS * geom.core[a], extent(geom, a), extent(geom, b)
    for i in range(3):
        reach = geom.size[a, i] + half_b[0] * abs(c[i, 0]) + half_b[1] * abs(c[i, 1]) + half_b[2] * abs(c[i, 2])
        if abs(c[3, i]) - reach > best + (bias if i > 0 else 0.0):
            best, kind, sign = abs(c[3, i]) - reach, i, math.copysign(1.0, c[3, i])
    for j in range(3):
        shift = c[3, 0] * c[0, j] + c[3, 1] * c[1, j] + c[3, 2] * c[2, j]
        reach = geom.size[b, j] + half_a[0] * abs(c[0, j]) + half_a[1] * abs(c[1, j]) + half_a[2] * abs(c[2, j])
        if abs(shift) - reach > best + bias:
            best, kind, sign = abs(shift) - reach, 3 + j, math.copysign(1.0, shift)
    return best, kind, sign


@helper
def box_axes(geom, a, b, margin, c):
    """Best separating axis: (separation, normal a -> b, kind), kind 0..2 face of a, 3..5 of b, 6.. edge pair.

    The separation along an axis is the distance between the projections of the two boxes on it, < 0 where they overlap.
    The best axis has the largest one [Ericson 2005, §4.4.1]. The search stops where the separation of a face normal
    exceeds the margin. c is scratch.
    """
    turn_boxes(geom, a, b, c)
    best, kind, sign = face_axes(geom, a, b, c)
    bar = best + BIAS * geom.core[a]
    for i in range(3 if best <= margin else 0):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            # with u = a_i x b_j:  a_i1 . u = -a_i2 . b_j,  a_i2 . u = a_i1 . b_j,  and likewise for b
            shift = c[3, i2] * c[i1, j] - c[3, i1] * c[i2, j]
            reach = geom.size[a, i1] * abs(c[i2, j]) + geom.size[a, i2] * abs(c[i1, j])
            reach += geom.size[b, j1] * abs(c[i, j2]) + geom.size[b, j2] * abs(c[i, j1])
            sin2 = 1.0 - c[i, j] * c[i, j]
            s = abs(shift) - reach
            if sin2 < 1e-6 or (s <= 0.0 and s <= bar):  # dividing s < 0 by the sine makes it less still
                continue
            s /= math.sqrt(sin2)
            if s > bar:
                best, bar, kind, sign = s, s + BIAS * geom.core[a], 6 + 3 * i + j, math.copysign(1.0, shift)
    if kind < 3:
        return best, scale(sign, axis_of(geom, a, kind)), kind
    if kind < 6:
        return best, scale(sign, axis_of(geom, b, kind - 3)), kind
    i, j = (kind - 6) // 3, (kind - 6) % 3
    return best, scale(sign, unit(cross(axis_of(geom, a, i), axis_of(geom, b, j)))), kind


@helper
def edge_lines(geom, p, q, a, b, i, j):
    """Nearest points of the edges along axis i of a at its corner p and j of b at q; whether each is on its edge."""
    u, v = axis_of(geom, a, i), axis_of(geom, b, j)
    p = axpy(-dot(sub(p, origin(geom, a)), u), u, p)  # middles of the edges
    q = axpy(-dot(sub(q, origin(geom, b)), v), v, q)
    c, d = dot(u, v), sub(q, p)
    s = (dot(d, u) - c * dot(d, v)) / (1.0 - c * c)
    t = c * s - dot(d, v)
    inside = abs(s) <= extent(geom, a)[i] * (1.0 + 1e-9) and abs(t) <= extent(geom, b)[j] * (1.0 + 1e-9)
    return axpy(s, u, p), axpy(t, v, q), inside


@helper
def face_cosine(geom, s, n):
    """Cosine between n and the face normal nearest to it."""
    d = to_local(geom, s, n)
    return max(abs(d[0]), abs(d[1]), abs(d[2]))


@helper
def box_box(geom, a, b, margin, corners, poly, patch):
    """Put at most four contact points of two boxes into the patch; returns their number.

    Returns -1 where the boxes are apart and their nearest points lie neither on a face nor on a pair of edges: the
    separation along every axis is then less than their distance.
    """
    separation, n, kind = box_axes(geom, a, b, margin, poly[0])
    if separation > margin:
        return 0
    k = 0
    if kind < 6 or max(face_cosine(geom, a, n), face_cosine(geom, b, n)) > FACE_ALIGNED:
        box_face(geom, a, n, 0, corners[0])
        box_face(geom, b, neg(n), B_SIDE, corners[1])
        k = lay_over(corners, poly, 4, 4, n, 0.0, 0.0, margin, patch, 0)
        k = reduce_corners(geom, a, b, patch, 0, k)
    p, q = box_corner(geom, a, n), box_corner(geom, b, neg(n))
    found = False
    if kind >= 6:
        p, q, found = edge_lines(geom, p, q, a, b, (kind - 6) // 3, (kind - 6) % 3)
    tolerance = INEXACT * (geom.core[a] + geom.core[b])
    for i in range(k):
        found = found or patch[i, 6] <= separation + tolerance
    if separation > 0.0 and not found:
        return -1
    if k == 0:
        return put_point(patch, 0, between(p, q), n, separation, (1 << 50) + kind)
    return k
