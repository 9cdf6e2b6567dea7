"""Distances of rims, the round edges of cylinders' caps, and of rings, the circles in the middle of tori, over faces.
As in `gaps`, each function returns the points on both elements, the normal from e to f, gap, margin, facing, and how
both curve.

Along its tangent a rim bends by e/ρ, e from its middle to the point, so that there α = n·e/ρ, β = 1; across it is
sharp. Its outward normals lie between the axis a out of the cap and e.
"""

import math

from ...core.false_position import ROUNDS, SAME, crossing, narrowed
from ...core.jit import helper
from ...core.vec import axpy, cross, dot, neg, norm, rotate, row, scale, sub, tangents, unit, unrotate
from ...shapes.ellipsoid import ellipsoid_curve
from .elements import AHEAD_EDGE, AHEAD_SIDE, BEHIND_SIDE, RIM_ELLIPSOID, RIM_RIM
from .frames import NOWHERE, PARALLEL, face_margin, facing_margin, off_rim, world_axis, world_point
from .lines import line_curve, line_region, line_under, side_nearest
from .smooth import ellipsoid_nearest, ellipsoid_turn

# Limits of the height [m] of a rim's middle over its lowest point. Between both limits the rim touches a face with its
# corners and with its lowest point, so that no contact is lost when a projection of gaps changes the height a little.
FLAT = 1e-8    # below it a rim touches a face with its corners only
TIPPED = 5e-8  # above it a rim touches a face with its lowest point only
SAMPLES = 16   # points of an arc among which the nearest is looked for
INSIDE = 1e-6  # how far inside the ends of half a rim its nearest point is looked for: there the slope may be 0 [rad]
#: as far from these ends half a rim ends where it runs along a sharp edge within as much, too: its normal is lost [rad]
ALONG = 1e-3


@helper
def rim_face(surface, bodies, e, f):
    """φ = m·(c - o) - ρ sqrt(1 - (a·m)²) - r: the lowest point of a rim or ring with axis a over a face."""
    c, a = world_point(surface, bodies, e), world_axis(surface, bodies, e)
    o, m = world_point(surface, bodies, f), world_axis(surface, bodies, f)
    size, r = surface.length[e], surface.radius[e]
    down = sub(scale(dot(a, m), a), m)
    sine = norm(down)
    out = unit(down)
    p = axpy(size, out, c)
    d = sub(p, o)
    height = dot(m, d)
    foot = axpy(-height, m, p)
    margin = min(face_margin(surface, bodies, f, p, foot), size * sine - FLAT)
    n = neg(m)
    bend = dot(n, out) / size
    return (axpy(r, n, p), foot, n, height - r, margin, 1.0, cross(a, out),
            (bend, 1.0 + r * bend, 1.0, r), tangents(n)[0], (0.0, 1.0, 0.0, 1.0))


@helper
def corner_face(surface, bodies, e, f):
    """φ = m·(p - o) - r of a point p of a rim or ring that lies flat on the face."""
    p, a = world_point(surface, bodies, e), world_axis(surface, bodies, e)
    o, m = world_point(surface, bodies, f), world_axis(surface, bodies, f)
    d, r = sub(p, o), surface.radius[e]
    height = dot(m, d)
    foot = axpy(-height, m, p)
    margin = min(face_margin(surface, bodies, f, p, foot), TIPPED - surface.length[e] * norm(cross(a, m)))
    if dot(a, m) > 0.0:
        margin = NOWHERE
    n = neg(m)
    t = tangents(n)[0]
    return (axpy(r, n, p), foot, n, height - r, margin, 1.0, t, (1.0, r, 1.0, r), t,
            (0.0, 1.0, 0.0, 1.0))


@helper
def vertex_rim(surface, bodies, e, f):
    """φ = |q - p| - r, q the nearest point of the rim"""
    p, c, a = world_point(surface, bodies, e), world_point(surface, bodies, f), world_axis(surface, bodies, f)
    r, size = surface.radius[e], surface.length[f]
    out = unit(axpy(-dot(a, sub(p, c)), a, sub(p, c)))
    q = axpy(size, out, c)
    d = sub(q, p)
    n = unit(d)
    margin = off_rim(neg(d), a, out, surface.taper[f])
    u = cross(a, out)
    return (axpy(r, n, p), q, n, norm(d) - r, margin, 1.0, u, (1.0, r, 1.0, r), u,
            (-dot(n, out) / size, 1.0, 1.0, 0.0))


@helper
def foot(surface, bodies, kind, f, p):
    """(q, g, value): the point q of an edge's line, a rim, an ellipsoid or a side nearest to p; a number that grows
    with the distance, |p - q|²/2 or of the last two the signed distance; and its gradient g."""
    if kind == RIM_ELLIPSOID:
        return ellipsoid_nearest(surface, bodies, f, p)
    if kind in (AHEAD_SIDE, BEHIND_SIDE):
        return side_nearest(surface, bodies, f, p)
    c = world_point(surface, bodies, f)
    u, d = world_axis(surface, bodies, f), sub(p, c)
    above = axpy(dot(u, d), u, c)
    q = axpy(surface.length[f], unit(sub(p, above)), c) if kind == RIM_RIM else above
    d = sub(p, q)
    return q, d, 0.5 * dot(d, d)


@helper
def on_rim(c, size, w, b, angle):
    """The point of a rim about c at an angle from w towards b, the unit vector out to it, and the tangent."""
    cosine, sine = math.cos(angle), math.sin(angle)
    out = axpy(sine, b, scale(cosine, w))
    return axpy(size, out, c), out, axpy(cosine, b, scale(-sine, w))


@helper
def slope(surface, bodies, kind, f, c, size, w, b, angle):
    """How the value of `foot` grows along the rim."""
    p, _, t = on_rim(c, size, w, b, angle)
    return dot(foot(surface, bodies, kind, f, p)[1], t)


@helper
def nearest_angle(surface, bodies, kind, e, f, w, b, first, last):
    """The angle [rad] on rim e from w towards b, between first and last, where the rim is nearest to f: a root of the
    slope near the nearest sample; and inf. Where an arc of less than a whole turn is nearest at one of its ends, that
    end and the slope [m] there, <= 0, which vanishes as the nearest point comes to it. nan where it has no root."""
    c, size = world_point(surface, bodies, e), surface.length[e]
    step = (last - first) / SAMPLES
    best, least = 0, math.inf
    for i in range(SAMPLES + 1):
        value = foot(surface, bodies, kind, f, on_rim(c, size, w, b, first + i * step)[0])[2]
        if value < least:
            best, least = i, value
    whole = last - first > 6.0
    lo, hi = first + (best - 1) * step, first + (best + 1) * step
    if not whole:
        lo, hi = max(lo, first + INSIDE), min(hi, last - INSIDE)
    at_lo = slope(surface, bodies, kind, f, c, size, w, b, lo)
    at_hi = slope(surface, bodies, kind, f, c, size, w, b, hi)
    if not (at_lo < 0.0 < at_hi):
        if not whole and best == 0 and at_lo >= 0.0:
            return lo, -at_lo
        if not whole and best == SAMPLES and at_hi <= 0.0:
            return hi, at_hi
        return math.nan, 0.0
    x, bracket = hi, (lo, hi, at_lo, at_hi, 0)
    for _ in range(ROUNDS):
        before, x = x, crossing(bracket)
        now = slope(surface, bodies, kind, f, c, size, w, b, x)
        if now == 0.0 or abs(x - before) <= SAME:
            break
        bracket = narrowed(bracket, x, now)
    return x, math.inf


@helper
def nearest_on_half(surface, bodies, kind, e, f, c, a, o, v):
    """Of the half of a rim that lies ahead or behind along the direction v of an edge or cone f through o: the angle of
    its nearest point, that of its first end, a margin, see `nearest_angle`, and the point as `on_rim` gives it."""
    w = axpy(-dot(a, v), a, v)
    if norm(w) < PARALLEL:
        d = sub(o, c)
        w = axpy(-dot(a, d), a, d)
    w = unit(w)
    b = cross(a, w)
    first = -0.5 * math.pi if kind in (AHEAD_EDGE, AHEAD_SIDE) else 0.5 * math.pi
    angle, beyond = nearest_angle(surface, bodies, kind, e, f, w, b, first, first + math.pi)
    return angle, first, beyond, on_rim(c, surface.length[e], w, b, angle if angle == angle else 0.0)


@helper
def rim_side(surface, bodies, kind, e, f):
    """Such a half, and the side of a cone: φ = m·(p - x), x the point of the side nearest to the rim, m its normal."""
    c, a, size = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.length[e]
    o, v = world_point(surface, bodies, f), world_axis(surface, bodies, f)
    angle, _, beyond, (p, out, t) = nearest_on_half(surface, bodies, kind, e, f, c, a, o, v)
    q, m, gap = foot(surface, bodies, kind, f, p)
    n, (g, along) = neg(m), line_under(o, v, surface.taper[f], m, q)
    margin = min(beyond, line_region(surface, f, along), size * off_rim(n, a, out, surface.taper[e]))
    if angle != angle:
        margin = NOWHERE
    u, curve = line_curve(surface, f, g, along)
    return p, q, n, gap, margin, 1.0, t, (dot(n, out) / size, 1.0, 1.0, 0.0), u, curve


@helper
def rim_edge(surface, bodies, kind, e, f):
    """The half of a rim that lies ahead or behind along an edge. φ = |q - p| - r, or n·(q - p) with the normal to both
    where the edge is sharp too."""
    c, a, size = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.length[e]
    o, v, r = world_point(surface, bodies, f), world_axis(surface, bodies, f), surface.radius[f]
    angle, first, beyond, (p, out, t) = nearest_on_half(surface, bodies, kind, e, f, c, a, o, v)
    taper = surface.taper[e]
    q = foot(surface, bodies, kind, f, p)[0]
    d = sub(q, p)
    margin, facing = min(beyond, surface.length[f] - abs(dot(v, sub(q, o)))), 1.0
    if r == 0.0 and abs(dot(a, v)) < ALONG:
        margin = min(margin, size * (0.5 * math.pi - abs(angle - first - 0.5 * math.pi) - ALONG))
    n, gap = unit(d), norm(d) - r
    if r > 0.0:
        margin = min(margin, off_rim(d, a, out, taper))
    else:
        n = unit(cross(t, v))
        facing = min(off_rim(n, a, out, taper), facing_margin(surface, bodies, f, neg(n)))
        other = min(off_rim(neg(n), a, out, taper), facing_margin(surface, bodies, f, n))
        if other > facing:
            n, facing = neg(n), other
        gap = dot(n, d)
    if angle != angle or (r == 0.0 and norm(cross(t, v)) < PARALLEL):
        margin = NOWHERE
    return (p, axpy(-r, n, q), n, gap, margin, facing, t, (dot(n, out) / size, 1.0, 1.0, 0.0), v, (0.0, 1.0, 1.0, r))


@helper
def rim_rim(surface, bodies, e, f):
    """φ = n·(q - p) with the normal to both rims where they are nearest."""
    c, a, size = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.length[e]
    o, other_a, other_size = world_point(surface, bodies, f), world_axis(surface, bodies, f), surface.length[f]
    w, b = tangents(a)
    taper, other_taper = surface.taper[e], surface.taper[f]
    angle, _ = nearest_angle(surface, bodies, RIM_RIM, e, f, w, b, -math.pi, math.pi)
    p, out, t = on_rim(c, size, w, b, angle if angle == angle else 0.0)
    q = foot(surface, bodies, RIM_RIM, f, p)[0]
    other_out = scale(1.0 / other_size, sub(q, o))
    v = cross(other_a, other_out)
    n = unit(cross(t, v))
    facing = min(off_rim(n, a, out, taper), off_rim(neg(n), other_a, other_out, other_taper))
    other = min(off_rim(neg(n), a, out, taper), off_rim(n, other_a, other_out, other_taper))
    if other > facing:
        n, facing = neg(n), other
    margin = NOWHERE if angle != angle or norm(cross(t, v)) < PARALLEL else math.inf
    return (p, q, n, dot(n, sub(q, p)), margin, facing, t, (dot(n, out) / size, 1.0, 1.0, 0.0), v,
            (-dot(n, other_out) / other_size, 1.0, 1.0, 0.0))


@helper
def rim_ellipsoid(surface, bodies, e, f):
    """φ = m·(p - x), x the point of the ellipsoid nearest to the rim and m its outward normal there."""
    c, a, size = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.length[e]
    turn, s = ellipsoid_turn(surface, bodies, f), row(surface.axis, f)
    w, b = tangents(a)
    angle, _ = nearest_angle(surface, bodies, RIM_ELLIPSOID, e, f, w, b, -math.pi, math.pi)
    p, out, t = on_rim(c, size, w, b, angle if angle == angle else 0.0)
    q, m, gap = foot(surface, bodies, RIM_ELLIPSOID, f, p)
    k, l, u = ellipsoid_curve(unrotate(turn, sub(q, world_point(surface, bodies, f))), s)
    n = neg(m)
    margin = min(s[0], s[1], s[2]) * off_rim(n, a, out, surface.taper[e]) if angle == angle else NOWHERE
    return (p, q, n, gap, margin, 1.0, t, (dot(n, out) / size, 1.0, 1.0, 0.0), rotate(turn, u), (k, 1.0, l, 1.0))
