"""Contact manifolds: two touching features laid over each other along the normal, and at most four points kept.

A feature is a face, an edge or a vertex, as a polygon with 3 and more, 2 or 1 corners. Seen along the contact normal n
both become flat figures; the corners of their intersection are the contact points, and at each the gap is the height of
b's plane over a's. Nothing here depends on which of the two is called reference or incident.

Every corner of the intersection lies on two edges (of a, of b, or one of each): the two edge names make its feature id,
which stays the same while the bodies move a little. The end of a segment is named by what ends it.
"""

import math

from ..core.jit import helper
from ..core.vec import axpy, cross, dot, norm, sub, tangents
from .geometry import load_of, put_point

ON_EDGE = 1e-9    # a corner this near to an edge counts as on it, relative to the size of the features
B_SIDE = 1 << 20  # added to the names of b's edges
EDGE_NAMES = 1 << 22
SAME_DIRECTION = 0.9995  # cosine above which contacts with different triangles of a mesh are reduced together
EVEN = 1e-12      # depths that differ by no more, relative to the smaller shape, are equal but for rounding
SLIVER = 1e-6      # area, relative to length squared, below which points lie in one line
NEARLY_PARALLEL = 1e-3  # sine between two edges below which they touch along a line
CORNER = 7        # columns of a feature's corner: world position 0-2, along tangents and normal 3-5, edge name 6


@helper
def put_corner(feature_out, i, p, name):
    """Corner i of a feature, and the name of the edge from it to the next."""
    for k in range(3):
        feature_out[i, k] = p[k]
    feature_out[i, 6] = name


@helper
def flatten(feature, count, origin, t1, t2, n):
    """Fill columns 3-5; returns (c, gu, gv) of the feature's plane: height = c + gu u + gv v (Newell's normal)."""
    for i in range(count):
        d = (feature[i, 0] - origin[0], feature[i, 1] - origin[1], feature[i, 2] - origin[2])
        feature[i, 3], feature[i, 4], feature[i, 5] = dot(d, t1), dot(d, t2), dot(d, n)
    u, v, w = 0.0, 0.0, 0.0
    if count == 2:
        du, dv, dh = feature[1, 3] - feature[0, 3], feature[1, 4] - feature[0, 4], feature[1, 5] - feature[0, 5]
        u, v, w = -dh * du, -dh * dv, du * du + dv * dv
    for i in range(count if count > 2 else 0):
        j = i + 1 if i + 1 < count else 0
        u += (feature[i, 4] - feature[j, 4]) * (feature[i, 5] + feature[j, 5])
        v += (feature[i, 5] - feature[j, 5]) * (feature[i, 3] + feature[j, 3])
        w += (feature[i, 3] - feature[j, 3]) * (feature[i, 4] + feature[j, 4])
    gu, gv = (-u / w, -v / w) if w != 0.0 else (0.0, 0.0)
    return feature[0, 5] - gu * feature[0, 3] - gv * feature[0, 4], gu, gv


@helper
def clip_by_edge(poly, source, count, p0, p1, q0, q1, name, tolerance):
    """Keep what lies to the left of the line p -> q: Sutherland–Hodgman, with the names of the edges kept along.

    Reads poly[source], writes poly[1 - source]; returns the new count. Two corners are a segment, not a polygon.
    """
    e0, e1 = q0 - p0, q1 - p1
    slack = tolerance * math.sqrt(e0 * e0 + e1 * e1)
    target, kept = 1 - source, 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        x0, x1, y0, y1 = poly[source, i, 0], poly[source, i, 1], poly[source, j, 0], poly[source, j, 1]
        dx = e0 * (x1 - p1) - e1 * (x0 - p0)
        dy = e0 * (y1 - p1) - e1 * (y0 - p0)
        inside_x, inside_y = dx >= -slack, dy >= -slack
        if inside_x:
            poly[target, kept, 0], poly[target, kept, 1] = x0, x1
            poly[target, kept, 2] = poly[source, i, 2]
            kept += 1
        if inside_x != inside_y and (count > 2 or j > 0):
            s = dx / (dx - dy)
            poly[target, kept, 0], poly[target, kept, 1] = x0 + s * (y0 - x0), x1 + s * (y1 - x1)
            # leaving, a polygon goes on along the clipping edge; entering, along its own. A segment's ends have names
            poly[target, kept, 2] = name if inside_x or count == 2 else poly[source, i, 2]
            kept += 1
    return kept


@helper
def overlay(subject, count_s, clipper, count_c, poly, tolerance):
    """Clip a figure of 2 and more corners by a convex polygon; returns which half of `poly` holds it, and its count."""
    area = 0.0
    for i in range(1, count_c - 1):
        area += (clipper[i, 3] - clipper[0, 3]) * (clipper[i + 1, 4] - clipper[0, 4])
        area -= (clipper[i + 1, 3] - clipper[0, 3]) * (clipper[i, 4] - clipper[0, 4])
    for i in range(count_s):
        poly[0, i, 0], poly[0, i, 1], poly[0, i, 2] = subject[i, 3], subject[i, 4], subject[i, 6]
    source, count = 0, count_s
    for i in range(count_c):
        j = i + 1 if i + 1 < count_c else 0
        p, q = (i, j) if area > 0.0 else (j, i)
        count = clip_by_edge(poly, source, count, clipper[p, 3], clipper[p, 4], clipper[q, 3], clipper[q, 4],
                             clipper[i, 6], tolerance)
        source = 1 - source
        if count == 0:
            break
    return source, count


@helper
def overlay_segments(a, b, poly, tolerance):
    """Two edges: the ends of their common stretch where they are parallel, else nothing; returns the count."""
    du, dv = a[1, 3] - a[0, 3], a[1, 4] - a[0, 4]
    eu, ev = b[1, 3] - b[0, 3], b[1, 4] - b[0, 4]
    square = du * du + dv * dv
    if abs(du * ev - dv * eu) > NEARLY_PARALLEL * math.sqrt(square * (eu * eu + ev * ev)) or square <= tolerance**2:
        return 0
    t0 = ((b[0, 3] - a[0, 3]) * du + (b[0, 4] - a[0, 4]) * dv) / square
    t1 = ((b[1, 3] - a[0, 3]) * du + (b[1, 4] - a[0, 4]) * dv) / square
    first, last = max(0.0, min(t0, t1)), min(1.0, max(t0, t1))
    if last - first <= 1e-6:
        return 0
    for end in range(2):
        t = last if end == 1 else first
        poly[0, end, 0], poly[0, end, 1] = a[0, 3] + t * du, a[0, 4] + t * dv
        poly[0, end, 2] = a[0, 6] + b[0, 6] + end
    return 2


@helper
def repeats(poly, source, i, tolerance):
    """Whether corner i is one of those before."""
    for j in range(i):
        du, dv = poly[source, i, 0] - poly[source, j, 0], poly[source, i, 1] - poly[source, j, 1]
        if du * du + dv * dv <= tolerance * tolerance:
            return True
    return False


@helper
def lay_over(corners, poly, count_a, count_b, n, radius_a, radius_b, margin, patch_out, first):
    """Contact points of two features, each of two corners or more, from row `first` on; returns the row after the last.

    The corners are those of the cores; the radii swell them along n.
    """
    a, b = corners[0], corners[1]
    centre = (a[0, 0], a[0, 1], a[0, 2])
    t1, t2 = tangents(n)
    ca, ua, va = flatten(a, count_a, centre, t1, t2, n)
    cb, ub, vb = flatten(b, count_b, centre, t1, t2, n)
    tolerance = ON_EDGE * (abs(a[1, 3] - a[0, 3]) + abs(a[1, 4] - a[0, 4]))
    source = 0
    if count_b > 2:
        source, count = overlay(a, count_a, b, count_b, poly, tolerance)
    elif count_a > 2:
        source, count = overlay(b, count_b, a, count_a, poly, tolerance)
    else:
        count = overlay_segments(a, b, poly, tolerance)
    k = first
    for i in range(count):
        u, v = poly[source, i, 0], poly[source, i, 1]
        height_a = ca + ua * u + va * v + radius_a
        height_b = cb + ub * u + vb * v - radius_b
        if height_b - height_a <= margin and not repeats(poly, source, i, 4.0 * tolerance):
            e, f = poly[source, i, 2], poly[source, i - 1 if i > 0 else count - 1, 2]
            if count_a == 2 or count_b == 2:
                f = i
            point = axpy(0.5 * (height_a + height_b), n, axpy(u, t1, axpy(v, t2, centre)))
            k = put_point(patch_out, k, point, n, height_b - height_a, int(max(e, f)) * EDGE_NAMES + int(min(e, f)))
    return k


@helper
def spot(patch, i):
    """Point of row i of a patch."""
    return (patch[i, 0], patch[i, 1], patch[i, 2])


@helper
def swap_points(patch, i, j):
    """Exchange rows i and j."""
    for c in range(patch.shape[1]):
        patch[i, c], patch[j, c] = patch[j, c], patch[i, c]


@helper
def gain(patch, first, k, p, n):
    """What point p adds to rows first : first + k, 1 <= k <= 3: distance², twice the area, area beyond the triangle."""
    if k == 1:
        d = sub(p, spot(patch, first))
        d = axpy(-dot(d, n), n, d)
        return dot(d, d)
    best = 0.0
    for i in range(k):
        o = spot(patch, first + i)
        side = cross(sub(spot(patch, first + (i + 1) % k), o), n)
        outer = dot(side, sub(p, o))
        if k == 3 and dot(side, sub(spot(patch, first + (i + 2) % k), o)) > 0.0:
            outer = -outer
        best = max(best, abs(outer) if k == 2 else outer)
    return best


@helper
def drop_repeated(patch, first, count, nearer):
    """Of points closer to each other than `nearer` [m] keep the deeper; returns how many are left."""
    i = first + 1
    while i < first + count:
        x = patch[i, 0]
        for j in range(first, i):
            if abs(patch[j, 0] - x) > nearer:
                continue
            d = sub(spot(patch, i), spot(patch, j))
            if dot(d, d) <= nearer * nearer:
                if patch[i, 6] < patch[j, 6]:
                    swap_points(patch, i, j)
                count -= 1
                swap_points(patch, i, first + count)
                i -= 1
                break
        i += 1
    return count


@helper
def reduce_groups(geom, a, b, patch, count, nearer):
    """Reduce the rows 0 : count, whose normals differ, to four points for each direction; returns how many are left."""
    start = 0
    while start < count:
        n = (patch[start, 3], patch[start, 4], patch[start, 5])
        alike = 1
        for i in range(start + 1, count):
            if patch[i, 3] * n[0] + patch[i, 4] * n[1] + patch[i, 5] * n[2] > SAME_DIRECTION:
                swap_points(patch, start + alike, i)
                alike += 1
        kept = choose_points(geom, a, b, patch, start, drop_repeated(patch, start, alike, nearer))
        for i in range(start + alike, count if kept < alike else 0):
            swap_points(patch, i - alike + kept, i)
        count -= alike - kept
        start += kept
    return count


@helper
def reduce_points(geom, a, b, patch, first, count):
    """Keep at most four of the rows first : first + count of shapes a and b; returns how many are kept."""
    return count if count <= 4 else choose_points(geom, a, b, patch, first, count)


@helper
def reduce_corners(geom, a, b, patch, first, count):
    """The same of corners of hulls and boxes. On soft surfaces each presses on its own: one that is left out, and comes
    back pressed, would bring energy. Only of the triangles of a mesh, b the last shape, there are too many."""
    if geom.soft[0] == 1 and b != geom.x.shape[0] - 1:
        return count
    return reduce_points(geom, a, b, patch, first, count)


@helper
def overlapping_first(patch, first, count):
    """Bring the rows of first : first + count with a gap < 0 to the front; returns how many they are."""
    pressed = 0
    for i in range(first, first + count):
        if patch[i, 6] < 0.0:
            swap_points(patch, first + pressed, i)
            pressed += 1
    return pressed


@helper
def choose_points(geom, a, b, patch, first, count):
    """Keep the rows of first : first + count that span most, four at most; returns how many are kept.

    The deepest, the farthest from it, the one that makes the largest triangle, the one that adds most area to it: no
    point that lies between two others, nor inside what others span. Where the weight acts beside these four, others
    that hold it take their place. On soft surfaces points that overlap come first, so that none that presses is left
    out for one above the other shape: the energy in its spring would be lost, and come from nowhere when it returns.
    """
    pressed = overlapping_first(patch, first, count) if geom.soft[0] == 1 else 0
    if pressed >= 4:
        count, pressed = pressed, 0
    n = (patch[first, 3], patch[first, 4], patch[first, 5])
    best, even = first, EVEN * min(geom.bound[a], geom.bound[b])
    for i in range(first + 1, first + count):
        if patch[i, 6] < patch[best, 6] - even:
            best = i
    swap_points(patch, first, best)
    least = 0.0
    for k in range(max(1, pressed), min(4, count)):
        best, most = -1, least
        for i in range(first + k, first + count):
            value = gain(patch, first, k, spot(patch, i), n)
            if value > most * (1.0 + 1e-9):
                best, most = i, value
        if best < 0:
            return k
        least = SLIVER * most if k == 1 else least
        swap_points(patch, first + k, best)
    if count > 4 and pressed == 0:
        hold_load(patch, first, count, load_of(geom, a, b, spot(patch, first), n), n)
    return min(4, count)


@helper
def beside(patch, i, j, p, n):
    """Twice the area that a point p beside the line from row i to row j spans with it; > 0 to the right, seen against
    the normal."""
    o = spot(patch, i)
    return dot(cross(sub(spot(patch, j), o), n), sub(p, o))


@helper
def is_beside(patch, i, j, p, n):
    """Whether a point p lies to the right of the line from row i to row j by more than rounding: an end of it does
    not."""
    d = sub(spot(patch, j), spot(patch, i))
    return beside(patch, i, j, p, n) > SLIVER * dot(d, d)


@helper
def side_beside(patch, first, p, n):
    """The side (i, j) of the first four rows that p lies beside; -1, -1 where it lies within."""
    for i in range(first, first + 4):
        for j in range(first, first + 4):
            if i == j or not is_beside(patch, i, j, p, n):
                continue
            outer = True
            for k in range(first, first + 4):
                outer = outer and (k in (i, j) or beside(patch, i, j, spot(patch, k), n) <= 0.0)
            if outer:
                return i, j
    return -1, -1


@helper
def farthest_beside(patch, first, count, i, j, sign, n):
    """The row farthest to the right (sign = 1) or left (-1) of the line from row i to row j, -1 = none."""
    best, most = -1, SLIVER * norm(sub(spot(patch, j), spot(patch, i))) ** 2
    for k in range(first, first + count):
        value = sign * beside(patch, i, j, spot(patch, k), n)
        if k not in (i, j) and value > most:
            best, most = k, value
    return best


@helper
def hold_load(patch, first, count, load, n):
    """Where the load lies beside the first four of the rows first : first + count, bring four to the front that it lies
    among: the ends of a chord, the point of the border beyond it, and the deepest point or the one farthest behind the
    chord. Where no points hold it, the border's side nearest to it stays."""
    i, j = side_beside(patch, first, load, n)
    k = farthest_beside(patch, first, count, i, j, 1.0, n) if i >= 0 else -1
    if k < 0:
        return
    while k >= 0 and (is_beside(patch, i, k, load, n) or is_beside(patch, k, j, load, n)):
        i, j = (i, k) if is_beside(patch, i, k, load, n) else (k, j)
        k = farthest_beside(patch, first, count, i, j, 1.0, n)
    behind = farthest_beside(patch, first, count, i, j, -1.0, n)
    third = k if k >= 0 else behind
    fourth = first if first not in (i, j, third) else behind
    for r in range(first, first + 4):
        if fourth in (i, j, third) and r not in (i, j, third):
            fourth = r
    row_in = first + 4
    for r in range(first, first + 4):
        if r in (i, j, third, fourth):
            continue
        while row_in not in (i, j, third, fourth):
            row_in += 1
        swap_points(patch, r, row_in)
        row_in += 1
