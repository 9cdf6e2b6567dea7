"""A box and a triangle of a mesh, in the frame of the box about its centre: how near they come, and which triangles
have no contact with the box."""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, cross, dot, mat_vec, norm, row, scale, sub
from .manifold import SAME_DIRECTION
from .polytope import EDGE_SINE

TURNS = 24     # of the search along a segment, at most; most take three
CLOSE = 1e-16  # part of a segment that rounding hides


@helper
def beyond(half, p):
    """The way from the point of a box that is nearest to p, to p."""
    return (p[0] - min(max(p[0], -half[0]), half[0]), p[1] - min(max(p[1], -half[1]), half[1]),
            p[2] - min(max(p[2], -half[2]), half[2]))


@helper
def nearest_along(half, p, d):
    """The point of the segment from p to p + d that is nearest to a box, where neither end is.

    Along it half the square of the distance has the slope r.d, r = `beyond`: it never falls, and is linear between the
    planes of the box's faces. Newton's method finds its root; where it leaves the bracket, the middle is tried.
    """
    low, high, t = 0.0, 1.0, 0.0
    for _ in range(TURNS):
        r, steep = beyond(half, axpy(t, d, p)), 0.0
        slope = dot(r, d)
        if slope < 0.0:
            low = t
        else:
            high = t
        for k in range(3):
            steep += d[k] * d[k] if r[k] != 0.0 else 0.0
        if steep == 0.0:
            break
        ahead = t - slope / steep
        if abs(ahead - t) <= CLOSE:
            break
        t = ahead if low < ahead < high else 0.5 * (low + high)
    return axpy(t, d, p)


@helper
def nearer_along(half, p, q, r, best):
    """Of a point and those of the segment from p to q, the one nearest to a box, r beyond p."""
    d = sub(q, p)
    if dot(r, d) >= 0.0 or dot(beyond(half, q), d) <= 0.0:
        return best
    point = nearest_along(half, p, d)
    way, least = beyond(half, point), beyond(half, best)
    return point if dot(way, way) < dot(least, least) else best


@helper
def is_over(corners, n, p):
    """Whether a point is over a triangle with the normal n, or under it."""
    a, b, c = corners
    return (dot(cross(n, sub(b, a)), sub(p, a)) >= 0.0 and dot(cross(n, sub(c, b)), sub(p, b)) >= 0.0
            and dot(cross(n, sub(a, c)), sub(p, c)) >= 0.0)


@helper
def corner_over_face(half, corners):
    """The corner of a triangle that is over a face of a box and nearest to the face's plane of the three, where there
    is one: no other point of the triangle is nearer to the box. Returns (whether there is one, it)."""
    a, b, c = corners
    for k in range(3):
        side = -1.0 if a[k] < 0.0 else 1.0
        p, least = a, side * a[k]
        if side * b[k] < least:
            p, least = b, side * b[k]
        if side * c[k] < least:
            p, least = c, side * c[k]
        if least > half[k]:
            i, j = (k + 1) % 3, (k + 2) % 3
            if abs(p[i]) <= half[i] and abs(p[j]) <= half[j]:
                return True, p
    return False, a


@helper
def box_to_triangle(half, corners, n):
    """(distance, point of the box, point of the triangle) where the two are nearest; distance 0 where they overlap.

    A corner of the triangle is nearest to a face, or the corner of the box towards the triangle to the point below it,
    or one of the triangle's edges holds one of the nearest points.
    """
    a, b, c = corners
    found, q = corner_over_face(half, corners)
    if not found:
        height, wide = -dot(n, a), dot(half, (abs(n[0]), abs(n[1]), abs(n[2])))
        side = -1.0 if height >= 0.0 else 1.0
        p, apart = scale(side, corner_along(half, n)), abs(height) - wide
        if is_over(corners, n, p if apart > 0.0 else scale(abs(height) / wide, p)):
            return max(apart, 0.0), p, axpy(side * max(apart, 0.0), n, p)
        r, s, t = beyond(half, a), beyond(half, b), beyond(half, c)
        rr, ss, tt = dot(r, r), dot(s, s), dot(t, t)
        q = a if rr <= min(ss, tt) else (b if ss <= tt else c)
        q = nearer_along(half, a, b, r, q)
        q = nearer_along(half, b, c, s, q)
        q = nearer_along(half, c, a, t, q)
    way = beyond(half, q)
    return norm(way), sub(q, way), q


@helper
def corner_along(half, n):
    """The corner of a box farthest along n."""
    return (math.copysign(half[0], n[0]), math.copysign(half[1], n[1]), math.copysign(half[2], n[2]))


@helper
def may_lean(box, sheet, corners, n, way, limit, slack):
    """Whether a triangle that is apart from a box, `way` from the box, may have contacts with it along its normal,
    where this way is none of the triangle's own, see `allowed`: what `touch_found` looks for then.

    limit: how far contacts may be from the box [m]; slack: how far beside the triangle points lie that are beside it
    whatever the rounding [m].
    """
    if dot(n, way) > 0.0:
        return False
    if max(abs(n[0]), abs(n[1]), abs(n[2])) > SAME_DIRECTION:
        return True
    return not is_within_face(box[0], corners, limit) and has_on_plane(box, sheet, corners, n, limit, slack)


@helper
def is_within_face(half, corners, limit):
    """Whether two of a box's slabs hold a triangle that is apart from it, by more than the limit, so that no edge of
    the box is within the limit."""
    a, b, c = corners
    count = 0
    for k in range(3):
        if max(abs(a[k]), abs(b[k]), abs(c[k])) <= half[k] - limit:
            count += 1
    return count == 2


@helper
def has_on_plane(box, sheet, corners, n, limit, slack):
    """Whether a corner of a box that is at most as far as the limit above a triangle's plane is over the triangle, or
    an edge at the lowest corner that lies nearly flat may be, as far as it is within the limit."""
    half, turn, _ = box
    lowest = scale(-1.0, corner_along(half, n))
    out = (mat_vec(turn, row(sheet, 4)), mat_vec(turn, row(sheet, 6)), mat_vec(turn, row(sheet, 8)))
    far = (dot(out[0], sub(lowest, corners[0])), dot(out[1], sub(lowest, corners[1])),
           dot(out[2], sub(lowest, corners[2])))
    level = dot(n, sub(lowest, corners[0]))
    for flipped in range(8):
        rise, along = 0.0, (0.0, 0.0, 0.0)
        for k in range(3):
            if flipped & (1 << k):
                rise += 2.0 * half[k] * abs(n[k])
                along = axpy(-2.0 * lowest[k], (out[0][k], out[1][k], out[2][k]), along)
        if -slack <= level + rise <= limit:
            there = add(far, along)
            if max(there[0], there[1], there[2]) <= slack:
                return True
        k = flipped >> 1
        if flipped in (1, 2, 4) and abs(n[k]) < 1.001 * EDGE_SINE:
            there = axpy(min((limit - level) / rise, 1.0) if rise > 0.0 else 1.0, along, far)
            ends = (min(far[0], there[0]), min(far[1], there[1]), min(far[2], there[2]))
            if max(ends[0], ends[1], ends[2]) <= slack and crosses(corners, lowest, n, k, slack):
                return True
    return False


@helper
def crosses(corners, p, n, k, slack):
    """Whether a line through p along axis k crosses a triangle, seen along the normal n, or passes it within the slack
    times the sine between the two."""
    i, j = (k + 1) % 3, (k + 2) % 3
    a = n[j] * (corners[0][i] - p[i]) - n[i] * (corners[0][j] - p[j])
    b = n[j] * (corners[1][i] - p[i]) - n[i] * (corners[1][j] - p[j])
    c = n[j] * (corners[2][i] - p[i]) - n[i] * (corners[2][j] - p[j])
    return min(a, b, c) <= slack and max(a, b, c) >= -slack
