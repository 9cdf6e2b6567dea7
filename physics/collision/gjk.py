"""Distance of two convex cores: Gilbert, Johnson and Keerthi's algorithm; and depth by the expanding polytope.

A core is a set of points (corners of a polyhedron, ends of a segment, a point), or where it has no points a round
shape with a support function. A simplex is rows of w = p_a - p_b (0-2), p_a (3-5), p_b (6-8) and weight (9).
"""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, cross, dot, norm, scale, sub, unit
from .geometry import farthest_along, origin, to_local, to_world

SIMPLEX = 10       # columns of a simplex
ITERATIONS = 64
SPARE = 5          # first row of the copy of a simplex
ACCURACY = 1e-13   # relative, of the squared distance
FLAT = 2e-28       # square of a height, relative to those of a base and of the corners, below which there is no height
SPOILT = 1.0 + ACCURACY  # factor by which the squared distance grows only through rounding errors
OVERLAP = 1e-7     # nearer than this, relative to the size, the direction between the nearest points is inexact
COPLANAR = 1e-12   # faces that are seen from this little below count as seen, relative to the size
SAME_POINT = 1e-6  # a point this near to one of the polytope, relative to the size, moves its faces by 1e-12
CLOSE_ENOUGH = 1e-9  # how well the depth must be known, relative to the size
EXPANSIONS = 96    # points that the expanding polytope may add


@helper
def support(points, count, geom, s, d):
    """Point of a core farthest along d; one without points is a round shape."""
    if count == 0:
        p = farthest_along(geom, s, to_local(geom, s, d))
        return add(origin(geom, s), to_world(geom, s, p))
    best, value = 0, -math.inf
    for i in range(count):
        h = points[i, 0] * d[0] + points[i, 1] * d[1] + points[i, 2] * d[2]
        if h > value:
            best, value = i, h
    return (points[best, 0], points[best, 1], points[best, 2])


@helper
def difference(points_a, count_a, points_b, count_b, geom, a, b, d, simplex_out, k):
    """Row k of the simplex: the point of a - b farthest along d; returns it."""
    p = support(points_a, count_a, geom, a, d)
    q = support(points_b, count_b, geom, b, (-d[0], -d[1], -d[2]))
    w = sub(p, q)
    for i in range(3):
        simplex_out[k, i], simplex_out[k, 3 + i], simplex_out[k, 6 + i] = w[i], p[i], q[i]
    return w


@helper
def triangle_weights(a, b, c):
    """Weights of the corners for the point of a triangle nearest to the origin [Ericson 2005, §5.1.5]."""
    ab, ac = sub(b, a), sub(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    s = 1.0 / (va + vb + vc)
    return va * s, vb * s, vc * s


@helper
def corner(simplex, k):
    """w of row k."""
    return (simplex[k, 0], simplex[k, 1], simplex[k, 2])


@helper
def nearest_on_tetrahedron(simplex):
    """Weights of the nearest point of the four rows; returns whether the origin lies inside."""
    best, inside = math.inf, True
    for i in range(4):
        simplex[i, 9] = 0.0
    for i in range(4):
        j, k, m = (i + 1) & 3, (i + 2) & 3, (i + 3) & 3
        a, b, c, d = corner(simplex, j), corner(simplex, k), corner(simplex, m), corner(simplex, i)
        n = cross(sub(b, a), sub(c, a))
        here, there = -dot(n, a), dot(n, sub(d, a))
        # outside where origin and fourth corner lie on different sides; a flat tetrahedron has no inside
        if here * there > 0.0 and there * there > FLAT * dot(n, n) * (dot(a, a) + dot(d, d)):
            continue
        inside = False
        wa, wb, wc = triangle_weights(a, b, c)
        v = add(scale(wa, a), axpy(wb, b, scale(wc, c)))
        if dot(v, v) < best:
            best = dot(v, v)
            simplex[i, 9], simplex[j, 9], simplex[k, 9], simplex[m, 9] = 0.0, wa, wb, wc
    return inside


@helper
def shrink(simplex, count):
    """Weigh the rows for the point nearest to the origin and drop those without weight; returns how many are left.

    4 means that the origin lies inside.
    """
    simplex[0, 9] = 1.0
    if count == 2:
        a, b = corner(simplex, 0), corner(simplex, 1)
        d = sub(b, a)
        t = min(max(-dot(a, d) / max(dot(d, d), 1e-300), 0.0), 1.0)
        simplex[0, 9], simplex[1, 9] = 1.0 - t, t
    elif count == 3:
        wa, wb, wc = triangle_weights(corner(simplex, 0), corner(simplex, 1), corner(simplex, 2))
        simplex[0, 9], simplex[1, 9], simplex[2, 9] = wa, wb, wc
    elif count == 4 and nearest_on_tetrahedron(simplex):
        return 4
    kept = 0
    for i in range(count):
        if simplex[i, 9] > 0.0:
            for c in range(SIMPLEX if kept < i else 0):
                simplex[kept, c] = simplex[i, c]
            kept += 1
    return kept


@helper
def weighted(simplex, count, column):
    """Weighted sum of three columns from `column` on."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(count):
        w = simplex[i, 9]
        x += w * simplex[i, column]
        y += w * simplex[i, column + 1]
        z += w * simplex[i, column + 2]
    return (x, y, z)


@helper
def is_known(simplex, count, w, nearer):
    """Whether the distance of w from one of the rows is at most `nearer` [m]."""
    known = False
    for i in range(count):
        d = sub(corner(simplex, i), w)
        known = known or dot(d, d) <= nearer * nearer
    return known


@helper
def descend(points_a, count_a, points_b, count_b, geom, a, b, margin, simplex, careful):
    """One run of `gjk`; rows is -1 where rounding errors in a nearly flat simplex have increased the distance. If
    careful, each simplex is kept until the next one is known to be nearer: the distance then never increases."""
    start = sub(origin(geom, b), origin(geom, a))
    v = difference(points_a, count_a, points_b, count_b, geom, a, b, start, simplex, 0)
    simplex[0, 9] = 1.0
    count, square = 1, dot(v, v)
    for _ in range(ITERATIONS):
        if square == 0.0:
            break
        d = (-v[0], -v[1], -v[2])
        w = difference(points_a, count_a, points_b, count_b, geom, a, b, d, simplex, count)
        bound = dot(v, w)
        if bound > 0.0 and bound * bound > margin * margin * square:
            return bound / math.sqrt(square), count
        if square - bound <= ACCURACY * square or is_known(simplex, count, w, 0.0):
            break
        if careful:
            copy_rows(simplex, 0, SPARE, count)
        rows = shrink(simplex, count + 1)
        if rows == 4:
            return 0.0, 4
        v = weighted(simplex, rows, 0)
        nearer = dot(v, v)
        if careful and nearer >= square:
            copy_rows(simplex, SPARE, 0, count)
            break
        if nearer > SPOILT * square:
            return math.sqrt(square), -1
        count = rows
        if nearer >= square:
            break
        square = nearer
    return math.sqrt(square), count


@helper
def copy_rows(simplex, first, to, count):
    """Rows first … of the simplex also become rows to …"""
    for i in range(count):
        for c in range(SIMPLEX):
            simplex[to + i, c] = simplex[first + i, c]


@helper
def gjk(points_a, count_a, points_b, count_b, geom, a, b, margin, simplex):
    """(distance, rows): distance of two cores, 0 where they overlap, and how many rows of the simplex span it.

    Stops early, with a lower bound, where the distance is known to exceed the margin [van den Bergen 2003, §4.3].
    """
    distance, rows = descend(points_a, count_a, points_b, count_b, geom, a, b, margin, simplex, False)
    if rows < 0:
        distance, rows = descend(points_a, count_a, points_b, count_b, geom, a, b, margin, simplex, True)
    return distance, rows


@helper
def fill_simplex(points_a, count_a, points_b, count_b, geom, a, b, count, simplex):
    """Add rows until they span a volume; returns 4, or less where a - b has none."""
    for k in range(count, 4):
        best = 0.0
        for trial in range(6):
            sign = 1.0 if trial < 3 else -1.0
            e = (sign if trial % 3 == 0 else 0.0, sign if trial % 3 == 1 else 0.0, sign if trial % 3 == 2 else 0.0)
            d = e
            if k >= 2:
                u = sub(corner(simplex, 1), corner(simplex, 0))
                d = cross(u, e) if k == 2 else scale(sign, cross(u, sub(corner(simplex, 2), corner(simplex, 0))))
            w = difference(points_a, count_a, points_b, count_b, geom, a, b, d, simplex, 4)
            r = sub(w, corner(simplex, 0))
            spread = norm(r)
            if k == 2:
                spread = norm(cross(sub(corner(simplex, 1), corner(simplex, 0)), r))
            elif k == 3:
                spread = abs(dot(r, d))
            if spread > best * (1.0 + 1e-9) and spread > 1e-12:
                best = spread
                for c in range(SIMPLEX):
                    simplex[k, c] = simplex[4, c]
        if best == 0.0:
            return k
    return 4


@helper
def put_face(points, faces, f, i, j, k):
    """Face f through rows i, j, k of the points, counter-clockwise from outside."""
    a = corner(points, i)
    n = unit(cross(sub(corner(points, j), a), sub(corner(points, k), a)))
    faces[f, 0], faces[f, 1], faces[f, 2] = i, j, k
    faces[f, 3], faces[f, 4], faces[f, 5] = n
    faces[f, 6] = dot(n, a) if dot(n, n) > 0.0 else math.inf
    faces[f, 7] = 1.0


@helper
def share_edge(faces, f, g):
    """Whether two faces have two corners in common."""
    common = 0
    for i in range(3):
        for j in range(3):
            if faces[f, i] == faces[g, j]:
                common += 1
    return common >= 2


@helper
def mark_seen(points, faces, face_count, best, w):
    """Mark with 3 the faces that see w and hang together with face `best`, which does.

    Faces in one plane with w count as seeing it: kept, they would leave slivers along their edges.
    """
    coplanar = COPLANAR * norm(w)
    for f in range(face_count):
        if faces[f, 7] == 1.0:
            n = (faces[f, 3], faces[f, 4], faces[f, 5])
            if f == best or dot(n, sub(w, corner(points, int(faces[f, 0])))) > -coplanar:
                faces[f, 7] = 2.0
    faces[best, 7] = 3.0
    grown = True
    while grown:
        grown = False
        for f in range(face_count):
            if faces[f, 7] == 2.0:
                for g in range(face_count):
                    if faces[g, 7] == 3.0 and share_edge(faces, f, g):
                        faces[f, 7] = 3.0
                        grown = True
                        break
    for f in range(face_count):
        if faces[f, 7] == 2.0:
            faces[f, 7] = 1.0


@helper
def cut_horizon(faces, face_count, edges):
    """Remove the marked faces; returns how many edges bound the hole, written to `edges`."""
    count = 0
    for f in range(face_count):
        if faces[f, 7] != 3.0:
            continue
        faces[f, 7] = 0.0
        for e in range(3):
            i, j = faces[f, e], faces[f, (e + 1) % 3]
            twin = -1
            for t in range(count):
                if edges[t, 0] == j and edges[t, 1] == i:
                    twin = t
            if twin >= 0:
                count -= 1
                edges[twin, 0], edges[twin, 1] = edges[count, 0], edges[count, 1]
            elif count < edges.shape[0]:
                edges[count, 0], edges[count, 1] = i, j
                count += 1
    return count


@helper
def expand(points_a, count_a, points_b, count_b, geom, a, b, points, faces, rim):
    """(depth, normal a -> b) from a tetrahedron in rows 0-3 of `points`: the least overlap along any normal tried.

    The expanding polytope [van den Bergen 2003, §4.3.8]. It ends where the distance of the nearest face from the
    origin, a lower bound of the depth, meets the least overlap found.
    """
    u, v = sub(corner(points, 1), corner(points, 0)), sub(corner(points, 2), corner(points, 0))
    turn = dot(cross(u, v), sub(corner(points, 3), corner(points, 0))) > 0.0
    for f in range(4):
        i, j, k = (f + 1) % 4, (f + 2) % 4, (f + 3) % 4
        if turn == (f % 2 == 0):
            put_face(points, faces, f, i, j, k)
        else:
            put_face(points, faces, f, i, k, j)
    count, face_count, inner, depth, normal = 4, 4, -math.inf, math.inf, (0.0, 0.0, 1.0)
    for _ in range(EXPANSIONS):
        best = -1
        for f in range(face_count):
            if faces[f, 7] > 0.0 and (best < 0 or faces[f, 6] < faces[best, 6]):
                best = f
        n = (faces[best, 3], faces[best, 4], faces[best, 5])
        w = difference(points_a, count_a, points_b, count_b, geom, a, b, n, points, count)
        size = norm(w)
        if dot(n, w) < depth:
            depth, normal = dot(n, w), n
        # in exact arithmetic the distance of the nearest face never decreases; it does so at a nearly flat face
        if depth - faces[best, 6] <= CLOSE_ENOUGH * size or faces[best, 6] < inner - CLOSE_ENOUGH * size:
            break
        inner = faces[best, 6]
        mark_seen(points, faces, face_count, best, w)
        edge_count = cut_horizon(faces, face_count, rim)
        if face_count + edge_count > faces.shape[0] or is_known(points, count, w, SAME_POINT * size):
            break
        for e in range(edge_count):
            put_face(points, faces, face_count, int(rim[e, 0]), int(rim[e, 1]), count)
            face_count += 1
        count += 1
    return depth, normal
