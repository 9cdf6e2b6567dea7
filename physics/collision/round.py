"""Pairs of spheres, capsules and planes, spheres against boxes and cylinders: closed forms [Ericson 2005, §5.1]; and
ellipsoids against spheres, planes and each other."""

import math

from ..core.jit import helper
from ..core.vec import add, axpy, cross, dot, neg, norm, row, sub, unit
from ..shapes.cylinder import CAP_CORNERS, rim_towards
from ..shapes.ellipsoid import ellipsoid_support, ellipsoids_normal, gram, room
from ..shapes.superellipsoid import dual, smooth_normal, smooth_point
from ..shapes.table import corners_towards
from .geometry import (
    ELLIPSOID,
    SPHERE,
    axis,
    exponents,
    extent,
    farthest_along,
    origin,
    put_point,
    round_corner,
    swell,
    to_local,
    to_world,
)
from .heights import over_box, over_cone, over_cylinder, over_ellipsoid, plane_height

PARALLEL = 1e-3  # sine of the angle below which two segments touch along a line
LOWER = 1e-6     # by which a point must be lower than the corners to be a contact too, relative to the size
LYING = 0.7      # cosine to the axis below which a cylinder touches with its side


@helper
def balls(p_a, r_a, p_b, r_b, otherwise):
    """Contact of two balls: point, normal and gap; `otherwise` is the normal where their centres coincide."""
    d = sub(p_b, p_a)
    length = norm(d)
    gap = length - r_a - r_b
    n = unit(d) if length > 1e-14 * (r_a + r_b + norm(p_a)) else otherwise  # or less than places are rounded by
    return axpy(r_a + 0.5 * gap, n, p_a), n, gap


@helper
def foot(point, radius, normal, height):
    """Contact of a ball of which `point` is the centre, at `height` over a surface with that outward normal."""
    gap = height - radius
    return axpy(-radius - 0.5 * gap, normal, point), neg(normal), gap


@helper
def put_balls(patch, k, margin, p_a, r_a, p_b, r_b, otherwise, feature):
    """The contact of two balls as a row of the patch, where it is within the margin."""
    point, n, gap = balls(p_a, r_a, p_b, r_b, otherwise)
    return put_point(patch, k, point, n, gap, feature) if gap <= margin else k


@helper
def put_foot(patch, k, margin, point, radius, normal, height, feature):
    """The contact of a ball with a surface, likewise."""
    point, n, gap = foot(point, radius, normal, height)
    return put_point(patch, k, point, n, gap, feature) if gap <= margin else k


@helper
def segment_foot(c, u, half, p):
    """Parameter of the point c + t u, |t| <= half, nearest to p."""
    return min(max(dot(u, sub(p, c)), -half), half)


@helper
def sphere_capsule(geom, a, b, margin, patch):
    p, c, u = origin(geom, a), origin(geom, b), axis(geom, b, 2)
    foot = axpy(segment_foot(c, u, extent(geom, b)[1], p), u, c)
    return put_balls(patch, 0, margin, p, swell(geom, a), foot, swell(geom, b), axis(geom, b, 0), 0)


@helper
def segments_closest(ca, ua, ha, cb, ub, hb):
    """Parameters (s, t) of the nearest points ca + s ua and cb + t ub, |s| <= ha, |t| <= hb [Ericson 2005, §5.1.9]."""
    d, c = sub(cb, ca), dot(ua, ub)
    da, db = dot(d, ua), dot(d, ub)
    sin2 = 1.0 - c * c
    s = min(max((da - c * db) / sin2, -ha), ha) if sin2 > 1e-14 else 0.0
    t = c * s - db
    if abs(t) > hb:
        t = min(max(t, -hb), hb)
        s = min(max(da + c * t, -ha), ha)
    return s, t


@helper
def capsule_capsule(geom, a, b, margin, patch):
    """One point, or two at the ends of the overlap where the axes are parallel."""
    ca, ua, ha = origin(geom, a), axis(geom, a, 2), extent(geom, a)[1]
    cb, ub, hb = origin(geom, b), axis(geom, b, 2), extent(geom, b)[1]
    ra, rb = swell(geom, a), swell(geom, b)
    c, d = dot(ua, ub), sub(cb, ca)
    if abs(c) > math.sqrt(1.0 - PARALLEL * PARALLEL):
        # b's axis runs from middle - hb to middle + hb along a's
        middle = dot(d, ua)
        first, last = max(-ha, middle - hb * abs(c)), min(ha, middle + hb * abs(c))
        if last - first > 1e-6 * (ha + hb):
            k = 0
            for end in range(2):
                p = axpy(last if end == 1 else first, ua, ca)
                q = axpy(segment_foot(cb, ub, hb, p), ub, cb)
                k = put_balls(patch, k, margin, p, ra, q, rb, axis(geom, a, 0), end)
            return k
    s, t = segments_closest(ca, ua, ha, cb, ub, hb)
    across = unit(cross(ua, ub)) if abs(c) < 1.0 - 1e-12 else axis(geom, a, 0)
    return put_balls(patch, 0, margin, axpy(s, ua, ca), ra, axpy(t, ub, cb), rb, across, 0)


@helper
def sphere_box(geom, a, b, margin, patch):
    height, n = over_box(geom, b, origin(geom, a))
    return put_foot(patch, 0, margin, origin(geom, a), swell(geom, a), n, height, 0)


@helper
def sphere_cylinder(geom, a, b, margin, patch):
    height, n = over_cylinder(geom, b, origin(geom, a))
    return put_foot(patch, 0, margin, origin(geom, a), swell(geom, a), n, height, 0)


@helper
def sphere_cone(geom, a, b, margin, patch):
    height, n = over_cone(geom, b, origin(geom, a))
    return put_foot(patch, 0, margin, origin(geom, a), swell(geom, a), n, height, 0)


@helper
def sphere_ellipsoid(geom, a, b, margin, patch):
    height, n = over_ellipsoid(geom, b, origin(geom, a))
    return put_foot(patch, 0, margin, origin(geom, a), swell(geom, a), n, height, 0)


@helper
def ellipsoid_ellipsoid(geom, a, b, margin, patch):
    """The nearest points, or those of least overlap."""
    c, d = origin(geom, a), sub(origin(geom, b), origin(geom, a))
    s, t = extent(geom, a), extent(geom, b)
    reach = margin + max(s[0], s[1], s[2]) + max(t[0], t[1], t[2])
    if dot(d, d) > reach * reach:
        return 0
    P = gram(axis(geom, a, 0), axis(geom, a, 1), axis(geom, a, 2), s)
    Q = gram(axis(geom, b, 0), axis(geom, b, 1), axis(geom, b, 2), t)
    n = ellipsoids_normal(P, Q, d)
    gap = room(P, Q, d, n)
    if gap > margin:
        return 0
    p = add(c, to_world(geom, a, ellipsoid_support(s, to_local(geom, a, n))))
    return put_point(patch, 0, axpy(0.5 * gap, n, p), n, gap, 0)


@helper
def smooth_solid(geom, s):
    """A ball, ellipsoid or superellipsoid as `superellipsoid.smooth_normal` takes it."""
    size, q = extent(geom, s), (2.0, 2.0)
    if geom.kind[s] == SPHERE:
        size = (swell(geom, s), swell(geom, s), swell(geom, s))
    elif geom.kind[s] != ELLIPSOID:
        q = dual(exponents(geom, s))
    return axis(geom, s, 0), axis(geom, s, 1), axis(geom, s, 2), size, q


@helper
def smooth_pair(geom, a, b, margin, patch):
    """The nearest points of two of these, or those of least overlap."""
    d, reach = sub(origin(geom, b), origin(geom, a)), margin + geom.bound[a] + geom.bound[b]
    if dot(d, d) > reach * reach:
        return 0
    solid_a, solid_b = smooth_solid(geom, a), smooth_solid(geom, b)
    n, gap = smooth_normal(solid_a, solid_b, d)
    if gap > margin:
        return 0
    p = add(origin(geom, a), to_world(geom, a, smooth_point(solid_a[3], solid_a[4], to_local(geom, a, n))))
    return put_point(patch, 0, axpy(0.5 * gap, n, p), n, gap, 0)


@helper
def box_plane(geom, a, b, margin, patch):
    """The corners of the face that looks most towards the plane."""
    n, x = axis(geom, b, 2), origin(geom, a)
    d = to_local(geom, a, n)
    h = extent(geom, a)
    face = 0 if abs(d[0]) >= abs(d[1]) and abs(d[0]) >= abs(d[2]) else (1 if abs(d[1]) >= abs(d[2]) else 2)
    side = -1.0 if d[face] > 0.0 else 1.0
    k = 0
    for corner in range(4):
        s = 1.0 if corner & 1 else -1.0
        t = 1.0 if corner & 2 else -1.0
        u = (side, s, t) if face == 0 else ((s, side, t) if face == 1 else (s, t, side))
        p = add(x, to_world(geom, a, (u[0] * h[0], u[1] * h[1], u[2] * h[2])))
        feature = (1 if u[0] > 0.0 else 0) + (2 if u[1] > 0.0 else 0) + (4 if u[2] > 0.0 else 0)
        k = put_foot(patch, k, margin, p, 0.0, n, plane_height(geom, b, p), feature)
    return k


@helper
def round_plane(geom, a, b, margin, patch):
    """The corners of the feature of a round shape that looks most towards the plane, and the lowest point where that is
    below them."""
    n, kind, size = axis(geom, b, 2), geom.kind[a], extent(geom, a)
    down = to_local(geom, a, neg(n))
    k, nearest = 0, math.inf
    for corner in range(corners_towards(kind, size, down)):
        p = round_corner(geom, a, down, corner)
        height = plane_height(geom, b, p)
        nearest = min(nearest, height)
        k = put_foot(patch, k, margin, p, 0.0, n, height, corner)
    low = add(origin(geom, a), to_world(geom, a, farthest_along(geom, a, down)))
    height = plane_height(geom, b, low)
    if height < nearest - LOWER * geom.core[a]:
        k = put_foot(patch, k, margin, low, 0.0, n, height, CAP_CORNERS)
    return k


@helper
def capsule_plane(geom, a, b, margin, patch):
    """The two ends."""
    c, u, half = origin(geom, a), axis(geom, a, 2), extent(geom, a)[1]
    k = 0
    for end in range(2):
        p = axpy(half if end == 1 else -half, u, c)
        k = put_foot(patch, k, margin, p, swell(geom, a), axis(geom, b, 2), plane_height(geom, b, p), end)
    return k


@helper
def cylinder_plane(geom, a, b, margin, patch):
    """Lying: the two ends of the lowest line of the side. Else the lowest point of the rim and corners of the cap."""
    n, c, u = axis(geom, b, 2), origin(geom, a), axis(geom, a, 2)
    r, half = extent(geom, a)[0], extent(geom, a)[1]
    tilt = dot(n, u)
    end = -half if tilt > 0.0 else half
    low = add(axpy(end, u, c), to_world(geom, a, rim_towards(r, to_local(geom, a, neg(n)))))
    depth = plane_height(geom, b, low)
    if abs(tilt) < LYING:
        high = axpy(-2.0 * end, u, low)
        k = put_foot(patch, 0, margin, low, 0.0, n, depth, CAP_CORNERS)
        return put_foot(patch, k, margin, high, 0.0, n, plane_height(geom, b, high), CAP_CORNERS + 1)
    k, nearest = 0, math.inf
    for corner in range(CAP_CORNERS):
        angle = 2.0 * math.pi / CAP_CORNERS * corner
        p = add(c, to_world(geom, a, (r * math.cos(angle), r * math.sin(angle), end)))
        height = plane_height(geom, b, p)
        nearest = min(nearest, height)
        k = put_foot(patch, k, margin, p, 0.0, n, height, corner)
    if depth < nearest - LOWER * r:
        k = put_foot(patch, k, margin, low, 0.0, n, depth, CAP_CORNERS)
    return k


@helper
def hull_plane(geom, vertices, first, last, a, b, margin, patch):
    """All vertices first : last of hull a within reach."""
    n, x, radius = axis(geom, b, 2), origin(geom, a), swell(geom, a)
    d = to_local(geom, a, n)
    offset = dot(n, sub(x, origin(geom, b)))
    k = 0
    for v in range(first, last):
        height = offset + dot(d, row(vertices, v))
        if height - radius <= margin:
            p = add(x, to_world(geom, a, row(vertices, v)))
            k = put_foot(patch, k, margin, p, radius, n, height, v - first)
    return k
