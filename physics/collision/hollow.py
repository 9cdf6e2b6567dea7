"""Shapes within the wall of a bowl or a pipe. The wall holds a shape whose origin it encloses, and touches it at
corners and round ends only: a segment within a ball or a tube is farthest from its middle at an end.
"""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, dot, norm, scale, sub
from ..shapes.cylinder import CAP_CORNERS, CAP_COSINE, rim_towards
from ..shapes.table import has_rims, rim_of
from .geometry import BOWL, SUPERELLIPSOID, axis, extent, farthest_along, origin, put_point, swell, to_local, to_world
from .polytope import load_points, spot

FARTHEST_ROUNDS = 100  # most iterations to the farthest point; each reduces the error by the ratio of curvature radii
SETTLED = 1e-14   # change of the point below which the iteration ends, relative to the radius of the wall
ASKEW = (0.02, 0.03, 0.05)  # of what is symmetric the iteration could not tell a dent from a bulge
ONE = 1e-4        # nearer than this, relative to the size, two bulges are one
ON_RIM = 1e-12    # how far beyond the rim of the wall a point still counts as within it, as a difference of cosines


@helper
def wall(geom, h, p):
    """(distance, direction, stands) of a point p from the centre of bowl h or the axis of pipe h: the unit vector
    towards p, world frame, and whether there is wall in that direction. For p at the centre it points to the bottom."""
    kind, local, size = geom.kind[h], to_local(geom, h, sub(p, origin(geom, h))), extent(geom, h)
    flat = local if kind == BOWL else (local[0], local[1], 0.0)
    rho = norm(flat)
    bottom = (0.0, 0.0, -1.0) if kind == BOWL else (0.0, -1.0, 0.0)
    out = scale(1.0 / rho, flat) if rho > 1e-12 * size[0] else bottom
    cosine, level = (size[1], True) if kind == BOWL else (size[2], abs(local[2]) <= size[1])
    return rho, to_world(geom, h, out), level and dot(out, bottom) >= cosine - ON_RIM


@helper
def farthest(geom, s, h, end, start):
    """The point of a smooth shape s, or of the rim of another round shape s at `end` (-1 or 1), farthest out in hollow
    h, as reached from `start`. Fixed-point iteration: the next point is the support point along the outward direction
    at the last one."""
    kind, size, smooth = geom.kind[s], extent(geom, s), not has_rims(geom.kind[s])
    height, radius = rim_of(kind, size, end)
    centre = origin(geom, s) if smooth else axpy(height, axis(geom, s, 2), origin(geom, s))
    x = start
    for _ in range(FARTHEST_ROUNDS):
        _, out, _ = wall(geom, h, x)
        u = to_local(geom, s, out)
        arm = farthest_along(geom, s, u) if smooth else rim_towards(radius, u)
        y = add(centre, to_world(geom, s, arm))
        change = norm(sub(y, x))
        x = y
        if change <= SETTLED * extent(geom, h)[0]:
            break
    return x


@helper
def farthest_at(geom, s, h, i):
    """The i-th such point, of `ends` of them: of each rim one, of an ellipsoid one, of a superellipsoid those reached
    from its corners and axes, where it bulges."""
    if geom.kind[s] == SUPERELLIPSOID:
        i = i if i < 13 else i + 1  # the 13th of 27 directions is none
        u = add(ASKEW, (float(i // 9 - 1), float(i // 3 % 3 - 1), float(i % 3 - 1)))
        return farthest(geom, s, h, 0.0, add(origin(geom, s), to_world(geom, s, farthest_along(geom, s, u))))
    end = 2.0 * i - 1.0
    smooth = not has_rims(geom.kind[s])
    height = rim_of(geom.kind[s], extent(geom, s), end)[0]
    return farthest(geom, s, h, end, origin(geom, s) if smooth else axpy(height, axis(geom, s, 2), origin(geom, s)))


@helper
def ends(geom, s):
    """See `farthest_at`."""
    if geom.kind[s] == SUPERELLIPSOID:
        return 26
    return 2 if has_rims(geom.kind[s]) else 1


@helper
def put_bulges(geom, s, h, margin, patch):
    """Contacts of a smooth shape s, at all places where it is farthest out among those around."""
    k = 0
    for i in range(ends(geom, s)):
        before, k = k, put_within(geom, h, farthest_at(geom, s, h, i), 0.0, margin, i, patch, k)
        for j in range(before):
            d = sub(spot(patch, before), spot(patch, j))
            if k > before and dot(d, d) <= (ONE * geom.bound[s]) ** 2:
                k = before
    return k


@helper
def put_within(geom, h, p, radius, margin, feature, patch, k):
    """Contact of a ball about p with the wall of h."""
    rho, out, stands = wall(geom, h, p)
    gap = extent(geom, h)[0] - rho - radius
    if gap > margin or not stands:
        return k
    return put_point(patch, k, axpy(radius + 0.5 * gap, out, p), out, gap, feature)


@helper
def put_cap(geom, s, h, end, margin, patch, k):
    """Contacts of the rim of a round shape s at `end`: its farthest point, and CAP_CORNERS points of the rim where s
    stands on this cap."""
    x = farthest_at(geom, s, h, 0 if end < 0.0 else 1)
    u = axis(geom, s, 2)
    height, radius = rim_of(geom.kind[s], extent(geom, s), end)
    k = put_within(geom, h, x, 0.0, margin, CAP_CORNERS + 1, patch, k)
    if radius == 0.0 or abs(dot(u, wall(geom, h, x)[1])) < CAP_COSINE:
        return k
    for i in range(CAP_CORNERS):
        angle = 2.0 * math.pi / CAP_CORNERS * i
        arm = to_world(geom, s, (radius * math.cos(angle), radius * math.sin(angle), height))
        k = put_within(geom, h, add(origin(geom, s), arm), 0.0, margin, i, patch, k)
    return k


@helper
def touch_hollow(geom, solids, core, a, b, margin, patch):
    """Contact points of a convex shape a with the wall of a bowl or pipe b; returns their number. They are
    not reduced to four as on flat ground, because each has another normal."""
    if wall(geom, b, origin(geom, a))[0] >= extent(geom, b)[0]:
        return 0
    k, radius = 0, swell(geom, a)
    count = load_points(geom, solids, a, core)
    for i in range(count):
        k = put_within(geom, b, spot(core, i), radius, margin, i, patch, k)
    if count == 0 and not has_rims(geom.kind[a]):
        k = put_bulges(geom, a, b, margin, patch)
    elif count == 0:
        k = put_cap(geom, a, b, -1.0, margin, patch, k)
        for i in range(k):
            patch[i, 7] += 2 * CAP_CORNERS
        k = put_cap(geom, a, b, 1.0, margin, patch, k)
    return k


@helper
def hollow_gap(geom, core, count, a, b):
    """(gap, normal a -> b) of a convex shape a with `count` points in `core`, at its point farthest out in hollow b;
    far away where b does not enclose it, or has no wall there."""
    radius, size = swell(geom, a), extent(geom, b)[0]
    enclosed = wall(geom, b, origin(geom, a))[0] < size
    best, normal = math.inf, (0.0, 0.0, 1.0)
    for i in range(count if count > 0 else ends(geom, a)):
        p = spot(core, i) if count > 0 else farthest_at(geom, a, b, i)
        rho, out, stands = wall(geom, b, p)
        if enclosed and stands and size - rho - radius < best:
            best, normal = size - rho - radius, out
    return best, normal
