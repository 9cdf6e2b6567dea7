"""A convex shape over a triangle of a mesh: what is quickly told of the two, and which points of it push along the
triangle's normal. In the scratch the shape is core 0 and the triangle core 1, with the triangle's directions."""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, cross, dot, neg, norm, row, scale, sub
from .geometry import origin, put_point, to_world
from .gjk import OVERLAP, support, triangle_weights
from .manifold import B_SIDE, ON_EDGE, SAME_DIRECTION, lay_over, reduce_corners
from .polytope import (
    FACES,
    POINTS,
    across_edges,
    best_face,
    edge_towards,
    first_loop,
    points_into,
    put_face,
    put_known_edge,
    shadow,
    spot,
)

NO_ANSWER = -1
BEHIND = 0.999          # cosine to a triangle's normal above which a ball's centre is straight behind it
CORNER_NAMES = 1 << 51  # added to the number of a corner that is a feature by itself


@helper
def nearest_to_point(sheet, c):
    """The way from a point c to the nearest point of a triangle, both in the frame of the mesh."""
    p, q, r = sub(row(sheet, 0), c), sub(row(sheet, 1), c), sub(row(sheet, 2), c)
    u, v, w = triangle_weights(p, q, r)
    return add(scale(u, p), axpy(v, q, scale(w, r)))


@helper
def touch_point(geom, m, sheet, c, radius, margin, patch, first):
    """Contact of a ball of this radius about c with a triangle of mesh shape m, in whose frame c is, from row `first`
    of the patch on. Returns the row after the last, or NO_ANSWER where the centre is so near to the triangle that it
    has no direction to it, and the distance of the centre."""
    d = nearest_to_point(sheet, c)
    distance = norm(d)
    if distance > margin + radius:
        return first, distance
    u, v = sub(row(sheet, 1), row(sheet, 0)), sub(row(sheet, 2), row(sheet, 0))
    if distance <= OVERLAP * math.sqrt(max(dot(u, u), dot(v, v))):
        return NO_ANSWER, distance
    front, n, height = neg(row(sheet, 3)), scale(1.0 / distance, d), distance
    if not points_into(sheet, 3, n):
        if dot(front, n) >= -BEHIND or distance >= radius:
            return first, distance
        n, height = front, -distance  # it is pushed out along the normal
    point = add(c, add(scale(0.5, d), scale(0.5 * radius, n)))
    last = put_point(patch, first, add(origin(geom, m), to_world(geom, m, point)), to_world(geom, m, n),
                     height - radius, 1 << 50)
    return last, distance


@helper
def lateral(geom, solids, work, a, b):
    """How far core a overlaps the triangle b sideways: along its faces, out of the triangle across its edges, and
    across edges of both. Where that is little beside what it overlaps along directions of the triangle's own, it has
    not come through the triangle: it touches the neighbour, from the side."""
    core, na, nb = work.core, solids.info[a, POINTS], solids.info[b, POINTS]
    least = math.inf
    for j in range(3):
        m = spot(work.cone, 1 + 2 * j)
        least = min(least, shadow(core[1], nb, m)[1] - dot(m, support(core[0], na, geom, a, neg(m))))
    first = first_loop(solids, a)
    for f in range(solids.info[a, FACES]):
        n = spot(core[0], na + f)
        least = min(least, dot(n, spot(core[0], solids.loops[first + f, 1])) - shadow(core[1], nb, n)[0])
    if na > 1 and least > 0.0:
        least = -across_edges(solids, work, a, b, -least)
    return max(least, 0.0)


@helper
def face_towards(solids, work, a, n):
    """The face of shape a that looks most along n, -1 where it has none, and its cosine."""
    return best_face(work.core[0], solids.info[a, POINTS], solids.info[a, FACES], n)


@helper
def leans(solids, work, a, n):
    """Whether shape a is a polytope and has no face across n."""
    return solids.info[a, POINTS] > 1 and face_towards(solids, work, a, n)[1] <= SAME_DIRECTION


@helper
def over_face(solids, work, a, f, size, limit):
    """(distance, normal a -> triangle) where the corner of the triangle that is nearest to the plane of face f of a is
    over this face: no points of the two are nearer. The two points go into row 0 of the simplex. Likewise where the
    triangle is farther than the limit from the plane; else (0.0, the face's normal)."""
    core, loops, simplex, at = work.core, solids.loops, work.simplex, first_loop(solids, a) + f
    n = spot(core[0], solids.info[a, POINTS] + f)
    level, nearest, least = dot(n, spot(core[0], loops[at, 1])), 0, math.inf
    for k in range(3):
        height = dot(n, spot(core[1], k)) - level
        if height < least:
            nearest, least = k, height
    if least <= OVERLAP * size:
        return 0.0, n
    if least > limit:
        return least, n
    q, count = spot(core[1], nearest), loops[at, 0]
    start = spot(core[0], loops[at, count])
    for i in range(count):
        end = spot(core[0], loops[at, 1 + i])
        if dot(cross(n, sub(end, start)), sub(q, start)) < 0.0:
            return 0.0, n
        start = end
    p = axpy(-least, n, q)
    for c in range(3):
        simplex[0, c], simplex[0, 3 + c], simplex[0, 6 + c] = p[c] - q[c], p[c], q[c]
    simplex[0, 9] = 1.0
    return least, n


@helper
def corners_over(geom, solids, work, a, b, edge, margin, first):
    """Contacts along its normal of the triangle b in hand with the corners of shape a over it but for those of an edge,
    -1 = none; from row `first` of the patch on. Returns the row after the last."""
    core, cone, patch, last, radius = work.core, work.cone, work.patch, first, geom.swell[a]
    n = spot(cone, 0)
    level = dot(n, spot(core[1], 0))
    v, w = (solids.edges[edge, 0], solids.edges[edge, 1]) if edge >= 0 else (-1, -1)
    for i in range(solids.info[a, POINTS]):
        p = spot(core[0], i)
        height = dot(n, p) - level
        over = 0.0 <= height <= margin + radius and i not in (v, w)
        for j in range(3 if over else 0):
            over = over and dot(spot(cone, 1 + 2 * j), sub(p, spot(core[1], j))) <= ON_EDGE * geom.core[b]
        if over:
            point = axpy(-0.5 * (height + radius), n, p)
            last = put_point(patch, last, point, neg(n), height - radius, CORNER_NAMES + i)
    return last


@helper
def passes_beside(solids, work, edge, slack):
    """Whether an edge of shape a passes the triangle in hand on the outside of one of its sides, seen along its normal,
    by more than the slack [m]."""
    core, p, q = work.core, spot(work.core[0], solids.edges[edge, 0]), spot(work.core[0], solids.edges[edge, 1])
    beside = False
    for j in range(3):
        c, m = spot(core[1], j), spot(work.cone, 1 + 2 * j)
        beside = beside or (dot(m, sub(p, c)) > slack and dot(m, sub(q, c)) > slack)
    return beside


@helper
def touch_leaning(geom, solids, work, a, b, n, margin, first):
    """Contacts of polytope a with the triangle b in hand along its normal -n, where no face of a lies across n and the
    two are apart: those of the edge that does, and of the corners over the triangle, from row `first` of the patch on;
    returns the row after the last. Other points that are one over the other are not nearest to each other."""
    figures, last, edge = work.figures, first, edge_towards(work.core[0], solids, a, n)[1]
    if edge >= 0 and not passes_beside(solids, work, edge, 4.0 * ON_EDGE * (geom.core[a] + geom.core[b])):
        put_known_edge(work.core[0], solids, edge, 0, figures[0])
        put_face(work.core[1], solids.loops, first_loop(solids, b), B_SIDE, figures[1])
        last = lay_over(figures[:2], figures[2:], 2, 3, n, geom.swell[a], 0.0, margin, work.patch, first)
    last = corners_over(geom, solids, work, a, b, edge, margin, last)
    return first + reduce_corners(geom, a, b, work.patch, first, last - first)
