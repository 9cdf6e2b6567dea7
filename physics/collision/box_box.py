"""Box against box: separating axes, then the two facing faces laid over each other.

Everything is computed along the axes of a, in which its faces are rectangles with upright sides: to clip by one of them
compares one coordinate. Names and points are those of `manifold.lay_over`, which takes any two features.
"""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, cross, dot, neg, scale, sub, unit
from .geometry import axis as axis_of
from .geometry import between, extent, origin, put_point, to_local, to_world
from .manifold import B_SIDE, EDGE_NAMES, ON_EDGE, reduce_corners, repeats

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
def face_axes(geom, a, b, margin, c):
    """(separation, kind, sign) of the best face normal: kind 0..2 of a, 3..5 of b; times sign it points from a to b.
    Where one of a's lies beyond the margin those of b are not asked."""
    best, kind, sign = -math.inf, 0, 1.0
    bias, half_a, half_b = BIAS * geom.core[a], extent(geom, a), extent(geom, b)
    for i in range(3):
        reach = geom.size[a, i] + half_b[0] * abs(c[i, 0]) + half_b[1] * abs(c[i, 1]) + half_b[2] * abs(c[i, 2])
        if abs(c[3, i]) - reach > best + (bias if i > 0 else 0.0):
            best, kind, sign = abs(c[3, i]) - reach, i, math.copysign(1.0, c[3, i])
    for j in range(3 if best <= margin else 0):
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
    best, kind, sign = face_axes(geom, a, b, margin, c)
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
def largest(u):
    """The axis along which a vector has its largest component; of equal ones the first."""
    x, y, z = abs(u[0]), abs(u[1]), abs(u[2])
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@helper
def put_face(poly_out, centre, first, second, i, top):
    """The corners of b's face across its axis i as a polygon, from its centre and half edges along the two next axes;
    each with the name of the edge from it to the next."""
    j, k = (i + 1) % 3, (i + 2) % 3
    for corner in range(4):  # (-,-) (+,-) (+,+) (-,+)
        one, other = 1.0 if corner == 1 or corner == 2 else -1.0, 1.0 if corner >= 2 else -1.0
        for c in range(2):
            poly_out[corner, c] = centre[c] + one * first[c] + other * second[c]
    poly_out[0, 2], poly_out[2, 2] = B_SIDE + edge_name(j, k, 0, i, top), B_SIDE + edge_name(j, k, 1, i, top)
    poly_out[1, 2], poly_out[3, 2] = B_SIDE + edge_name(k, i, top, j, 1), B_SIDE + edge_name(k, i, top, j, 0)


@helper
def clip_by_side(poly, source, count, c, side, half, slack, name):
    """Keep what has side * (coordinate c) <= half, with the names of edges as in `manifold.clip_by_edge`. Reads
    poly[source], writes poly[1 - source]; returns the new count."""
    target, kept = 1 - source, 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        beyond, beyond_next = side * poly[source, i, c] - half, side * poly[source, j, c] - half
        inside = beyond <= slack
        if inside:
            for m in range(3):
                poly[target, kept, m] = poly[source, i, m]
            kept += 1
        if inside != (beyond_next <= slack):
            s = min(max(beyond / (beyond - beyond_next), 0.0), 1.0)
            for m in range(2):
                poly[target, kept, m] = poly[source, i, m] + s * (poly[source, j, m] - poly[source, i, m])
            poly[target, kept, 2] = name if inside else poly[source, i, 2]
            kept += 1
    return kept


@helper
def clip_both_ways(poly, source, count, c, middle, reach, half, slack, edges):
    """Keep what lies within `half` of 0 in coordinate c of a figure that lies within `reach` of its middle. edges: the
    axis of a along which the two edges run that clip it, the axis i across their face and its side, and the axis j
    across which they lie. Returns which half of poly holds the figure, and its count."""
    axis, i, top, j = edges
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        if count > 0 and sign * middle + reach > half + slack:
            count = clip_by_side(poly, source, count, c, sign, half, slack, edge_name(axis, i, top, j, side))
            source = 1 - source
    return source, count


@helper
def lay_faces(geom, a, b, n, m, w, c, margin, poly, patch_out):
    """Contact points of the faces of two boxes that look most along n and against it; returns their number. m and w: n
    along the axes of a and of b; c: see `turn_boxes`.

    In the plane of a's face, with the coordinates (u, v) along its edges from its middle, lies b's face as seen along
    n: what is z above it is shifted by -z n_uv / n_z.
    """
    size, i, f = geom.size, largest(m), largest(w)
    j, k, g, h = (i + 1) % 3, (i + 2) % 3, (f + 1) % 3, (f + 2) % 3
    top, under = m[i] >= 0.0, w[f] <= 0.0  # whether the faces lie on the positive sides
    raised, lowered = size[a, i] if top else -size[a, i], size[b, f] if under else -size[b, f]
    upright, along = 1.0 / m[i], 1.0 / w[f]
    lean_u, lean_v = upright * m[j], upright * m[k]
    x, y, z = c[3, j] + lowered * c[j, f], c[3, k] + lowered * c[k, f], c[3, i] + lowered * c[i, f] - raised
    middle = (x - lean_u * z, y - lean_v * z)  # of b's face, and its half edges
    first = (size[b, g] * (c[j, g] - lean_u * c[i, g]), size[b, g] * (c[k, g] - lean_v * c[i, g]))
    second = (size[b, h] * (c[j, h] - lean_u * c[i, h]), size[b, h] * (c[k, h] - lean_v * c[i, h]))
    put_face(poly[0], middle, first, second, f, 1 if under else 0)
    half_u, half_v, up = size[a, j], size[a, k], 1 if top else 0
    slack = ON_EDGE * (half_u + half_v)
    source, count = clip_both_ways(
        poly, 0, 4, 0, middle[0], abs(first[0]) + abs(second[0]), half_u, slack, (k, i, up, j))
    source, count = clip_both_ways(
        poly, source, count, 1, middle[1], abs(first[1]) + abs(second[1]), half_v, slack, (j, i, up, k))
    u_axis, v_axis, kept = axis_of(geom, a, j), axis_of(geom, a, k), 0
    base = axpy(raised, axis_of(geom, a, i), origin(geom, a))
    for p in range(count):
        u, v = poly[source, p, 0], poly[source, p, 1]
        gap = along * (c[j, f] * (x - u) + c[k, f] * (y - v) + c[i, f] * z)  # along n, from a's plane to b's
        if gap <= margin and not repeats(poly, source, p, 4.0 * slack):
            e, o = poly[source, p, 2], poly[source, p - 1 if p > 0 else count - 1, 2]
            point = axpy(0.5 * gap, n, axpy(u, u_axis, axpy(v, v_axis, base)))
            kept = put_point(patch_out, kept, point, n, gap, int(max(e, o)) * EDGE_NAMES + int(min(e, o)))
    return kept


@helper
def box_box(geom, a, b, margin, corners, poly, patch):
    """Put at most four contact points of two boxes into the patch; returns their number.

    Returns -1 where the boxes are apart and their nearest points lie neither on a face nor on a pair of edges: the
    separation along every axis is then less than their distance.
    """
    c = corners[0]
    separation, n, kind = box_axes(geom, a, b, margin, c)
    if separation > margin:
        return 0
    k, m, w = 0, to_local(geom, a, n), to_local(geom, b, n)
    if kind < 6 or max(abs(m[largest(m)]), abs(w[largest(w)])) > FACE_ALIGNED:
        k = reduce_corners(geom, a, b, patch, 0, lay_faces(geom, a, b, n, m, w, c, margin, poly, patch))
        if k > 0 and separation <= 0.0:
            return k
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
