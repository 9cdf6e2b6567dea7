"""Contact manifolds: two touching features laid over each other along the normal, and the choice of at most four points.

A feature is a face, an edge or a vertex, as a polygon with 3 and more, 2 or 1 corners. Seen along the contact normal n
both become flat figures; the corners of their intersection are the contact points, and at each the gap is the height of
b's plane over a's. Nothing here depends on which of the two is called reference or incident.

Every corner of the intersection lies on two edges (of a, of b, or one of each): the two edge names make its feature id,
which stays the same while the bodies move a little.
"""

import math
from typing import NamedTuple

import numpy as np
from contactlab.physics.collision.geometry import put_point
from contactlab.physics.jit import helper
from contactlab.physics.model import Array
from contactlab.physics.state import LongArray
from contactlab.physics.vec import axpy, dot, put, row, sub, tangents

ON_EDGE = 1e-9   # a corner this near to an edge counts as on it, relative to the size of the features
B_SIDE = 1 << 20  # added to the names of b's edges
EDGE_NAMES = 1 << 22


class Features(NamedTuple):
    """Scratch: the two touching features, and polygons in the plane across the normal."""

    corners_a: Array   #: (k, 3) [m], world frame
    corners_b: Array   #: (k, 3)
    edges_a: LongArray  #: (k,) name of the edge from corner i to the next
    edges_b: LongArray  #: (k,)
    flat_a: Array      #: (k, 3) coordinates along the tangents and height along the normal [m]
    flat_b: Array      #: (k, 3)
    poly: Array        #: (2, m, 2) the polygon being clipped, and the next one
    names: LongArray   #: (2, m) edge names of these polygons
    slope: Array       #: (2, 3) height of a's and of b's plane: slope[0] + slope[1] u + slope[2] v


def new_features(corners: int) -> Features:
    """Scratch for features of up to so many corners."""
    k, m = corners, 2 * corners + 2
    return Features(np.zeros((k, 3)), np.zeros((k, 3)), np.zeros(k, np.int64), np.zeros(k, np.int64),
                    np.zeros((k, 3)), np.zeros((k, 3)), np.zeros((2, m, 2)), np.zeros((2, m), np.int64),
                    np.zeros((2, 3)))


@helper
def flatten(corners, count, origin, t1, t2, n, flat_out):
    """Coordinates of the corners along t1, t2, n from the origin."""
    for i in range(count):
        d = sub(row(corners, i), origin)
        put(flat_out, i, (dot(d, t1), dot(d, t2), dot(d, n)))


@helper
def fit_slope(flat, count, slope_out):
    """Plane of a flat feature: height = slope[0] + slope[1] u + slope[2] v (Newell's normal for a polygon)."""
    u, v, w = 0.0, 0.0, 0.0
    if count == 2:
        du, dv = flat[1, 0] - flat[0, 0], flat[1, 1] - flat[0, 1]
        w = -(du * du + dv * dv)
        u, v = (flat[1, 2] - flat[0, 2]) * du, (flat[1, 2] - flat[0, 2]) * dv
    elif count > 2:
        for i in range(count):
            j = i + 1 if i + 1 < count else 0
            u += (flat[i, 1] - flat[j, 1]) * (flat[i, 2] + flat[j, 2])
            v += (flat[i, 2] - flat[j, 2]) * (flat[i, 0] + flat[j, 0])
            w += (flat[i, 0] - flat[j, 0]) * (flat[i, 1] + flat[j, 1])
    gu, gv = (-u / w, -v / w) if w != 0.0 else (0.0, 0.0)
    slope_out[0] = flat[0, 2] - gu * flat[0, 0] - gv * flat[0, 1]
    slope_out[1] = gu
    slope_out[2] = gv


@helper
def clip_by_edge(poly, names, source, count, closed, p0, p1, q0, q1, name, tolerance):
    """Keep what lies to the left of the line p -> q: Sutherland–Hodgman, with the names of the edges kept along.

    Reads poly[source], writes poly[1 - source]; returns the new count. An open polygon is a segment of two corners.
    """
    e0, e1 = q0 - p0, q1 - p1
    length = math.sqrt(e0 * e0 + e1 * e1)
    if length == 0.0:
        length = 1.0
    e0, e1 = e0 / length, e1 / length
    target, kept = 1 - source, 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        x0, x1 = poly[source, i, 0], poly[source, i, 1]
        y0, y1 = poly[source, j, 0], poly[source, j, 1]
        dx = e0 * (x1 - p1) - e1 * (x0 - p0)
        dy = e0 * (y1 - p1) - e1 * (y0 - p0)
        inside_x, inside_y = dx >= -tolerance, dy >= -tolerance
        if inside_x:
            poly[target, kept, 0] = x0
            poly[target, kept, 1] = x1
            names[target, kept] = names[source, i]
            kept += 1
        if inside_x != inside_y and (closed or j > 0):
            s = dx / (dx - dy)
            poly[target, kept, 0] = x0 + s * (y0 - x0)
            poly[target, kept, 1] = x1 + s * (y1 - x1)
            # leaving: the polygon goes on along the clipping edge; entering: along its own
            names[target, kept] = name if inside_x else names[source, i]
            kept += 1
    return kept


@helper
def overlay(flat_s, names_s, count_s, flat_c, names_c, count_c, poly, names, tolerance):
    """Clip figure s (2 and more corners) by the convex polygon c; returns which half of `poly` holds it, and its count."""
    area = 0.0
    for i in range(count_c):
        j = i + 1 if i + 1 < count_c else 0
        area += (flat_c[i, 0] - flat_c[0, 0]) * (flat_c[j, 1] - flat_c[0, 1])
        area -= (flat_c[j, 0] - flat_c[0, 0]) * (flat_c[i, 1] - flat_c[0, 1])
    for i in range(count_s):
        poly[0, i, 0] = flat_s[i, 0]
        poly[0, i, 1] = flat_s[i, 1]
        names[0, i] = names_s[i]
    source, count = 0, count_s
    for i in range(count_c):
        j = i + 1 if i + 1 < count_c else 0
        p, q = (i, j) if area > 0.0 else (j, i)
        count = clip_by_edge(poly, names, source, count, count_s > 2, flat_c[p, 0], flat_c[p, 1], flat_c[q, 0],
                             flat_c[q, 1], names_c[i], tolerance)
        source = 1 - source
        if count == 0 or count + 2 > poly.shape[1]:
            break
    return source, count


@helper
def overlay_segments(flat_a, names_a, flat_b, names_b, poly, names, tolerance):
    """Two edges: the ends of their common stretch where they are parallel, else nothing; returns the count."""
    du, dv = flat_a[1, 0] - flat_a[0, 0], flat_a[1, 1] - flat_a[0, 1]
    eu, ev = flat_b[1, 0] - flat_b[0, 0], flat_b[1, 1] - flat_b[0, 1]
    la, lb = math.sqrt(du * du + dv * dv), math.sqrt(eu * eu + ev * ev)
    if abs(du * ev - dv * eu) > 1e-3 * la * lb or la <= tolerance or lb <= tolerance:
        return 0
    t0 = ((flat_b[0, 0] - flat_a[0, 0]) * du + (flat_b[0, 1] - flat_a[0, 1]) * dv) / (la * la)
    t1 = ((flat_b[1, 0] - flat_a[0, 0]) * du + (flat_b[1, 1] - flat_a[0, 1]) * dv) / (la * la)
    first, last = max(0.0, min(t0, t1)), min(1.0, max(t0, t1))
    if last - first <= 1e-6:
        return 0
    for end in range(2):
        t = last if end == 1 else first
        poly[0, end, 0] = flat_a[0, 0] + t * du
        poly[0, end, 1] = flat_a[0, 1] + t * dv
        names[0, end] = names_a[0] + names_b[0] + end
    return 2


@helper
def lay_over(features, count_a, count_b, n, radius_a, radius_b, margin, patch):
    """Contact points of two features of which one at least is no single point; returns their number.

    The features' corners are those of the cores; the radii swell them along n.
    """
    origin = row(features.corners_a, 0)
    t1, t2 = tangents(n)
    flat_a, flat_b = features.flat_a, features.flat_b
    flatten(features.corners_a, count_a, origin, t1, t2, n, flat_a)
    flatten(features.corners_b, count_b, origin, t1, t2, n, flat_b)
    fit_slope(flat_a, count_a, features.slope[0])
    fit_slope(flat_b, count_b, features.slope[1])
    size = abs(flat_a[0, 0] - flat_a[1, 0]) + abs(flat_a[0, 1] - flat_a[1, 1])
    source, poly, names = 0, features.poly, features.names
    if count_b > 2:
        source, count = overlay(flat_a, features.edges_a, count_a, flat_b, features.edges_b, count_b, poly, names,
                                ON_EDGE * size)
    elif count_a > 2:
        source, count = overlay(flat_b, features.edges_b, count_b, flat_a, features.edges_a, count_a, poly, names,
                                ON_EDGE * size)
    else:
        count = overlay_segments(flat_a, features.edges_a, flat_b, features.edges_b, poly, names, ON_EDGE * size)
    k = 0
    for i in range(count):
        u, v = poly[source, i, 0], poly[source, i, 1]
        height_a = features.slope[0, 0] + features.slope[0, 1] * u + features.slope[0, 2] * v + radius_a
        height_b = features.slope[1, 0] + features.slope[1, 1] * u + features.slope[1, 2] * v - radius_b
        gap = height_b - height_a
        if gap <= margin and not repeats(poly, source, i, ON_EDGE * size):
            e, f = names[source, i], names[source, i - 1 if i > 0 else count - 1]
            point = axpy(0.5 * (height_a + height_b), n, axpy(u, t1, axpy(v, t2, origin)))
            k = put_point(patch, k, point, n, gap, max(e, f) * EDGE_NAMES + min(e, f))
    return k


@helper
def repeats(poly, source, i, tolerance):
    """Whether corner i is one of those before."""
    for j in range(i):
        du, dv = poly[source, i, 0] - poly[source, j, 0], poly[source, i, 1] - poly[source, j, 1]
        if du * du + dv * dv <= 4.0 * tolerance * tolerance:
            return True
    return False


@helper
def swap_points(patch, i, j):
    """Exchange rows i and j."""
    p, n, gap, feature = row(patch.point, i), row(patch.normal, i), patch.gap[i], patch.feature[i]
    put(patch.point, i, row(patch.point, j))
    put(patch.normal, i, row(patch.normal, j))
    patch.gap[i] = patch.gap[j]
    patch.feature[i] = patch.feature[j]
    put(patch.point, j, p)
    put(patch.normal, j, n)
    patch.gap[j] = gap
    patch.feature[j] = feature


@helper
def spread_of(patch, first, k, point, n):
    """How much the point adds to rows first : first + k, 1 <= k <= 3: distance, area, and area beyond the triangle."""
    p0 = row(patch.point, first)
    d = sub(point, p0)
    d = axpy(-dot(d, n), n, d)
    if k == 1:
        return dot(d, d)
    best = 0.0
    for i in range(k):  # the largest triangle with one side of what there is, lying outside of it
        p = row(patch.point, first + i)
        e = sub(row(patch.point, first + (i + 1 if i + 1 < k else 0)), p)
        m = (e[1] * n[2] - e[2] * n[1], e[2] * n[0] - e[0] * n[2], e[0] * n[1] - e[1] * n[0])
        inner = 0.0 if k == 2 else dot(m, sub(row(patch.point, first + (i + 2 if i + 2 < k else i + 2 - k)), p))
        outer = dot(m, sub(point, p))
        best = max(best, abs(outer) if k == 2 else (-outer if inner > 0.0 else outer))
    return best


@helper
def reduce_points(patch, first, count):
    """Keep at most four of the rows first : first + count, those that span most; returns how many are kept.

    The deepest, the farthest from it, the one that makes the largest triangle, the one that adds most area to it.
    """
    if count <= 4:
        return count
    n = row(patch.normal, first)
    best = first
    for i in range(first + 1, first + count):
        if patch.gap[i] < patch.gap[best]:
            best = i
    swap_points(patch, first, best)
    for k in range(1, 4):
        best, most = -1, 0.0
        for i in range(first + k, first + count):
            value = spread_of(patch, first, k, row(patch.point, i), n)
            if value > most * (1.0 + 1e-9):
                best, most = i, value
        if best < 0:
            return k
        swap_points(patch, first + k, best)
    return 4


