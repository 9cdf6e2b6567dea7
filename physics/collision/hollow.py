"""Shapes within the wall of a bowl or a pipe. The wall holds a shape whose origin it encloses, and touches it at
corners and round ends only: a segment within a ball or a tube is farthest from its middle at an end.
"""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, dot, norm, scale, sub
from .ellipsoid import ellipsoid_support
from .geometry import BOWL, axis, extent, origin, put_point, rim, swell, to_local, to_world
from .polytope import CAP_CORNERS, CAP_COSINE, load_points, spot

ROUNDS = 100      # to the farthest point of a round shape; each comes nearer by its curvature radius over the wall's
SETTLED = 1e-14   # change of the point that is rounding, relative to the radius of the wall
ON_RIM = 1e-12    # by which a point may be beyond the rim, relative to the radius


@helper
def wall(kind, pose, h, p):
    """(distance, direction, stands) of a point p from the centre of bowl h or the axis of pipe h: the unit vector
    towards p, world frame, and whether the wall is there. From the middle, the direction is to the bottom."""
    local, size = to_local(pose, h, sub(p, origin(pose, h))), extent(pose, h)
    flat = local if kind == BOWL else (local[0], local[1], 0.0)
    rho = norm(flat)
    bottom = (0.0, 0.0, -1.0) if kind == BOWL else (0.0, -1.0, 0.0)
    out = scale(1.0 / rho, flat) if rho > 1e-12 * size[0] else bottom
    cosine, level = (size[1], True) if kind == BOWL else (size[2], abs(local[2]) <= size[1])
    return rho, to_world(pose, h, out), level and dot(out, bottom) >= cosine - ON_RIM


@helper
def farthest(kind, pose, s, h, end):
    """The point of an ellipsoid s, or of the rim of a cylinder s at `end` (-1 or 1), farthest out in hollow h: the
    farthest along the direction out at the last point, until it stays."""
    size = extent(pose, s)
    centre = origin(pose, s) if size[2] > 0.0 else axpy(end * size[1], axis(pose, s, 2), origin(pose, s))
    x = centre
    for _ in range(ROUNDS):
        _, out, _ = wall(kind, pose, h, x)
        arm = ellipsoid_support(size, to_local(pose, s, out)) if size[2] > 0.0 else rim(pose, s, out)[0]
        y = add(centre, to_world(pose, s, arm))
        change = norm(sub(y, x))
        x = y
        if change <= SETTLED * extent(pose, h)[0]:
            break
    return x


@helper
def put_within(kind, pose, h, p, radius, margin, feature, patch, k):
    """Contact of a ball about p with the wall of h."""
    rho, out, stands = wall(kind, pose, h, p)
    gap = extent(pose, h)[0] - rho - radius
    if gap > margin or not stands:
        return k
    return put_point(patch, k, axpy(radius + 0.5 * gap, out, p), out, gap, feature)


@helper
def put_cap(kind, pose, s, h, end, margin, patch, k):
    """Contacts of the cap of cylinder s at `end`: its farthest point, and where it stands on it some of the rim."""
    x = farthest(kind, pose, s, h, end)
    size, u = extent(pose, s), axis(pose, s, 2)
    k = put_within(kind, pose, h, x, 0.0, margin, CAP_CORNERS + 1, patch, k)
    if abs(dot(u, wall(kind, pose, h, x)[1])) < CAP_COSINE:
        return k
    for i in range(CAP_CORNERS):
        angle = 2.0 * math.pi / CAP_CORNERS * i
        arm = to_world(pose, s, (size[0] * math.cos(angle), size[0] * math.sin(angle), end * size[1]))
        k = put_within(kind, pose, h, add(origin(pose, s), arm), 0.0, margin, i, patch, k)
    return k


@helper
def touch_hollow(kind, pose, info, vectors, core, a, b, margin, patch):
    """Contact points of a convex shape a with the wall of a bowl or pipe b; returns their number. None is left out as
    on flat ground: each pushes another way."""
    hollow = kind[b]
    if wall(hollow, pose, b, origin(pose, a))[0] >= extent(pose, b)[0]:
        return 0
    k, radius = 0, swell(pose, a)
    count = load_points(pose, info, vectors, a, core)
    for i in range(count):
        k = put_within(hollow, pose, b, spot(core, i), radius, margin, i, patch, k)
    if count == 0 and extent(pose, a)[2] > 0.0:
        k = put_within(hollow, pose, b, farthest(hollow, pose, a, b, 0.0), 0.0, margin, 0, patch, k)
    elif count == 0:
        k = put_cap(hollow, pose, a, b, -1.0, margin, patch, k)
        for i in range(k):
            patch[i, 7] += 2 * CAP_CORNERS
        k = put_cap(hollow, pose, a, b, 1.0, margin, patch, k)
    return k


@helper
def hollow_gap(kind, pose, core, count, a, b):
    """(gap, normal a -> b) of a convex shape a with `count` points in `core`, at its point farthest out in hollow b;
    far away where b does not enclose it, or has no wall there."""
    radius, size = swell(pose, a), extent(pose, b)[0]
    enclosed = wall(kind, pose, b, origin(pose, a))[0] < size
    best, normal = math.inf, (0.0, 0.0, 1.0)
    for i in range(max(count, 2)):
        p = spot(core, min(i, max(count - 1, 0)))
        if count == 0:
            p = farthest(kind, pose, a, b, 2.0 * i - 1.0)
        rho, out, stands = wall(kind, pose, b, p)
        if enclosed and stands and size - rho - radius < best:
            best, normal = size - rho - radius, out
    return best, normal
