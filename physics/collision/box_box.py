"""Box against box: separating axes, then the two facing faces laid over each other."""

import math

from contactlab.physics.collision.geometry import axis as axis_of
from contactlab.physics.collision.geometry import between, extent, origin, put_point, to_local, to_world
from contactlab.physics.collision.manifold import B_SIDE, lay_over, put_corner, reduce_points
from contactlab.physics.jit import helper
from contactlab.physics.vec import add, axpy, cross, dot, neg, scale, sub

FACE_ALIGNED = 0.98  # cosine to the normal above which a face takes part in the contact
INEXACT = 1e-7       # how far off, relative to size, the nearest contact point may be from the distance on the axis
BIAS = 1e-7          # how much better, relative to size, another axis must be than a face of a


@helper
def box_corner(pose, s, n):
    """Corner farthest along n, world frame."""
    d, h = to_local(pose, s, n), extent(pose, s)
    c = (math.copysign(h[0], d[0]), math.copysign(h[1], d[1]), math.copysign(h[2], d[2]))
    return add(origin(pose, s), to_world(pose, s, c))


@helper
def box_face(pose, s, n, side, feature_out):
    """The face that looks most along n: four corners, counter-clockwise from outside, and the names of its edges."""
    d, h, x = to_local(pose, s, n), extent(pose, s), origin(pose, s)
    i = 0 if abs(d[0]) >= abs(d[1]) and abs(d[0]) >= abs(d[2]) else (1 if abs(d[1]) >= abs(d[2]) else 2)
    j, k = (i + 1) % 3, (i + 2) % 3
    positive = d[i] >= 0.0
    w = scale(h[i] if positive else -h[i], axis_of(pose, s, i))
    u, v = scale(h[j], axis_of(pose, s, j)), scale(h[k], axis_of(pose, s, k))
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
def box_axes(pose, a, b, margin):
    """Best separating axis: (separation, normal a -> b, kind), kind 0..2 face of a, 3..5 of b, 6.. edge pair.

    Separation is the distance of the two shadows on the axis, the largest over all axes [Ericson 2005, §4.4.1]. Where
    it exceeds the margin the search stops.
    """
    a0, a1, a2 = axis_of(pose, a, 0), axis_of(pose, a, 1), axis_of(pose, a, 2)
    b0, b1, b2 = axis_of(pose, b, 0), axis_of(pose, b, 1), axis_of(pose, b, 2)
    ha, hb = extent(pose, a), extent(pose, b)
    d = sub(origin(pose, b), origin(pose, a))
    t = (dot(a0, d), dot(a1, d), dot(a2, d))
    axes_a, axes_b = (a0, a1, a2), (b0, b1, b2)
    best, normal, kind = -1e300, a0, 0
    bias = BIAS * (ha[0] + ha[1] + ha[2])
    for i in range(3):
        u = axes_a[i]
        s = abs(t[i]) - ha[i] - hb[0] * abs(dot(u, b0)) - hb[1] * abs(dot(u, b1)) - hb[2] * abs(dot(u, b2))
        if s > best + (bias if i > 0 else 0.0):
            best, normal, kind = s, u if t[i] >= 0.0 else neg(u), i
    if best > margin:
        return best, normal, kind
    for j in range(3):
        u = axes_b[j]
        tj = dot(u, d)
        s = abs(tj) - hb[j] - ha[0] * abs(dot(u, a0)) - ha[1] * abs(dot(u, a1)) - ha[2] * abs(dot(u, a2))
        if s > best + bias:
            best, normal, kind = s, u if tj >= 0.0 else neg(u), 3 + j
    if best > margin:
        return best, normal, kind
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            c = dot(axes_a[i], axes_b[j])
            sin2 = 1.0 - c * c
            if sin2 < 1e-6:
                continue
            # with u = a_i x b_j:  a_i1 . u = -a_i2 . b_j,  a_i2 . u = a_i1 . b_j,  and likewise for b
            v, w = dot(axes_a[i1], axes_b[j]), dot(axes_a[i2], axes_b[j])
            p, q = dot(axes_a[i], axes_b[j1]), dot(axes_a[i], axes_b[j2])
            shift = t[i2] * v - t[i1] * w
            reach = ha[i1] * abs(w) + ha[i2] * abs(v) + hb[j1] * abs(q) + hb[j2] * abs(p)
            inverse = 1.0 / math.sqrt(sin2)
            s = (abs(shift) - reach) * inverse
            if s > best + bias:
                u = scale(inverse if shift >= 0.0 else -inverse, cross(axes_a[i], axes_b[j]))
                best, normal, kind = s, u, 6 + 3 * i + j
                if best > margin:
                    return best, normal, kind
    return best, normal, kind


@helper
def edge_lines(pose, p, q, a, b, i, j):
    """Nearest points of the edges along axis i of a at its corner p and j of b at q; and whether both hold them."""
    u, v = axis_of(pose, a, i), axis_of(pose, b, j)
    p = axpy(-dot(sub(p, origin(pose, a)), u), u, p)  # middles of the edges
    q = axpy(-dot(sub(q, origin(pose, b)), v), v, q)
    c, d = dot(u, v), sub(q, p)
    s = (dot(d, u) - c * dot(d, v)) / (1.0 - c * c)
    t = c * s - dot(d, v)
    inside = abs(s) <= extent(pose, a)[i] * (1.0 + 1e-9) and abs(t) <= extent(pose, b)[j] * (1.0 + 1e-9)
    return axpy(s, u, p), axpy(t, v, q), inside


@helper
def face_cosine(pose, s, n):
    """Cosine between n and the face normal nearest to it."""
    d = to_local(pose, s, n)
    return max(abs(d[0]), abs(d[1]), abs(d[2]))


@helper
def box_box(pose, a, b, margin, corners, poly, patch):
    """At most four points; returns their number, or -1 where the nearest points lie on no face and no edge pair.

    Then the boxes are apart and an axis of theirs tells less than their distance.
    """
    separation, n, kind = box_axes(pose, a, b, margin)
    if separation > margin:
        return 0
    k = 0
    if kind < 6 or max(face_cosine(pose, a, n), face_cosine(pose, b, n)) > FACE_ALIGNED:
        box_face(pose, a, n, 0, corners[0])
        box_face(pose, b, neg(n), B_SIDE, corners[1])
        k = reduce_points(patch, 0, lay_over(corners, poly, 4, 4, n, 0.0, 0.0, margin, patch, 0))
    p, q = box_corner(pose, a, n), box_corner(pose, b, neg(n))
    found = False
    if kind >= 6:
        p, q, found = edge_lines(pose, p, q, a, b, (kind - 6) // 3, (kind - 6) % 3)
    tolerance = INEXACT * (pose[a, 16] + pose[b, 16])
    for i in range(k):
        found = found or patch[i, 6] <= separation + tolerance
    if separation > 0.0 and not found:
        return -1
    if k == 0:
        return put_point(patch, 0, between(p, q), n, separation, (1 << 50) + kind)
    return k
