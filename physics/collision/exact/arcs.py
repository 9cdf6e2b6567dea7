"""Distances of rings, the circles in the middle of tori, from what may come near to them in several places: other
rings, rims, sides of cones, ellipsoids, superellipsoids and walls; and of rims from walls. As in `gaps`, each function
returns the points on both elements, the normal from e to f, gap, margin, facing, and how both curve.

How many places there are changes with the pose: the distance of two circles is stationary at up to eight, the roots of
a polynomial. So a ring is cut into ARCS elements. Each is where the height over the other element is least along its
arc: a root of the slope n·t, n the gradient of the height under the point and t the tangent. Where two minima run into
each other, they are in one arc at last: its twin has the last minimum, the arc itself the first. Neighbours overlap, so
that a place which passes from one arc to the next is known to both; `continuation` says that it is one. Two minima of
one height that are nearer than the slope is looked at are one: the height between them is greater by less than 1e-6 of
the ring.

A ring that has the same height all around, as on another ring about its own axis, stands on fixed points of it.
"""

import math

from ...core.false_position import ROUNDS, SAME, crossing, narrowed
from ...core.jit import helper
from ...core.vec import (
    axpy,
    cross,
    dot,
    neg,
    norm,
    quat_mul,
    rotate,
    row,
    row4,
    scale,
    sub,
    tangents,
    unit,
    unrotate,
)
from ...shapes.elements import ARCS, BOWL, ELLIPSOID, PIPE, RIM, SIDE, SMOOTH, TWIN, VERTEX
from ...shapes.ellipsoid import ellipsoid_curve
from .frames import off_rim, side_margin, world_axis, world_point
from .lines import line_curve, line_region, line_under, side_nearest
from .rims import FLAT, TIPPED
from .smooth import ellipsoid_nearest, ellipsoid_turn, smooth_end, smooth_nearest, smooth_solid

HALF = math.pi / ARCS  # half an arc [rad]
REACH = 1.5 * HALF     # from its middle, to which it is followed beyond its ends [rad]
STEPS = 8              # parts of an arc at whose ends the slope is looked at
AROUND = 8             # points of a ring that say whether it has the same height all around


@helper
def foot_on(surface, bodies, f, p):
    """(q, n, distance): the point of an element nearest to p, of walls and ellipsoids that of the surface; the gradient
    of the distance, a unit vector; and the distance from the element's core, signed where it has an inside."""
    kind, c = surface.kind[f], world_point(surface, bodies, f)
    if kind == ELLIPSOID:
        return ellipsoid_nearest(surface, bodies, f, p)
    if kind == SMOOTH:
        return smooth_nearest(surface, bodies, f, p)
    if kind == SIDE:
        return side_nearest(surface, bodies, f, p)
    q = c
    if kind not in (VERTEX, BOWL):
        u, d = world_axis(surface, bodies, f), sub(p, c)
        above = axpy(dot(u, d), u, c)
        q = above if kind == PIPE else axpy(surface.length[f], unit(sub(d, sub(above, c))), c)
    d = sub(p, q)
    n, away = unit(d), norm(d)
    if kind in (BOWL, PIPE):
        size = surface.radius[f]
        return axpy(size, n, q), neg(n), size - away
    return q, n, away


@helper
def curve_at(surface, bodies, f, q, n):
    """(direction, how it curves) of the surface of an element under the point q of its core; n is outward there."""
    kind, c, s = surface.kind[f], world_point(surface, bodies, f), surface.radius[f]
    if kind == ELLIPSOID:
        turn = ellipsoid_turn(surface, bodies, f)
        k, l, u = ellipsoid_curve(unrotate(turn, sub(q, c)), row(surface.axis, f))
        return rotate(turn, u), (k, 1.0, l, 1.0)
    if kind == SMOOTH:
        _, curve, u = smooth_end(smooth_solid(surface, bodies, f), c, n)
        return u, curve
    if kind == VERTEX:
        return tangents(n)[0], (1.0, s, 1.0, s)
    if kind == BOWL:
        return tangents(n)[0], (1.0, -s, 1.0, -s)
    a = world_axis(surface, bodies, f)
    if kind == PIPE:
        return a, (0.0, 1.0, 1.0, -s)
    if kind == SIDE:
        g, along = line_under(c, a, surface.taper[f], n, q)
        return line_curve(surface, f, g, along)
    size = surface.length[f]
    out = scale(1.0 / size, sub(q, c))
    bend = dot(n, out) / size
    return cross(a, out), (bend, 1.0 + s * bend, 1.0, s)


@helper
def region_of(surface, bodies, f, p, q):
    """How far inside its own region the point q of an element is, seen from p [m]."""
    kind, c = surface.kind[f], world_point(surface, bodies, f)
    if kind == RIM:
        return off_rim(sub(p, q), world_axis(surface, bodies, f), unit(sub(q, c)), surface.taper[f])
    if kind in (ELLIPSOID, SMOOTH):
        return math.inf
    if kind == SIDE:
        d = sub(q, c)
        return line_region(surface, f, math.copysign(norm(d), dot(d, world_axis(surface, bodies, f))))
    margin = side_margin(surface, bodies, f, p if kind == VERTEX else q)
    if kind == PIPE:
        u, d = world_axis(surface, bodies, f), sub(q, c)
        margin = min(margin, surface.length[f] - abs(dot(u, d)))
    return margin


@helper
def arc_frame(surface, bodies, e):
    """(middle of the ring, out to the middle of the arc, the tangent there, axis) in the world."""
    turn = quat_mul(row4(bodies.q, int(surface.body[e])), row4(surface.frame, e))
    x, y, z = rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 1.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0))
    return axpy(-surface.length[e], x, world_point(surface, bodies, e)), x, y, z


@helper
def on_arc(frame, size, angle):
    """The point of a ring at an angle from the middle of an arc, the unit vector out to it, and the tangent."""
    cosine, sine = math.cos(angle), math.sin(angle)
    out = axpy(sine, frame[2], scale(cosine, frame[1]))
    return axpy(size, out, frame[0]), out, axpy(cosine, frame[2], scale(-sine, frame[1]))


@helper
def slope_on(surface, bodies, f, frame, size, angle):
    """How the height over element f grows along a ring."""
    p, _, t = on_arc(frame, size, angle)
    return dot(foot_on(surface, bodies, f, p)[1], t)


@helper
def spread_around(surface, bodies, f, frame, size):
    """By how much the heights of the points AROUND a ring differ [m]."""
    low, high = math.inf, -math.inf
    for i in range(AROUND):
        height = foot_on(surface, bodies, f, on_arc(frame, size, 2.0 * math.pi / AROUND * i)[0])[2]
        low, high = min(low, height), max(high, height)
    return high - low


@helper
def lowest_on_arc(surface, bodies, e, f, frame, size):
    """(angle, spread, whether there is a minimum): of the arc's minima the first, of its twin's the last; where there
    is none, the lower end. The spread [m] is that of heights within the arc's reach."""
    step, last = 2.0 * REACH / STEPS, surface.kind[e] == TWIN
    p, _, t = on_arc(frame, size, -REACH)
    _, n, first_height = foot_on(surface, bodies, f, p)
    before, height, low, high = dot(n, t), first_height, first_height, first_height
    lo, hi, at_lo, at_hi, count = 0.0, 0.0, 0.0, 0.0, 0
    for i in range(1, STEPS + 1):
        angle = -REACH + i * step
        p, _, t = on_arc(frame, size, angle)
        _, n, height = foot_on(surface, bodies, f, p)
        low, high, here = min(low, height), max(high, height), dot(n, t)
        if before < 0.0 <= here:
            if count == 0 or last:
                lo, hi, at_lo, at_hi = angle - step, angle, before, here
            count += 1
        before = here
    if count == 0 or (last and count == 1):
        return (-REACH if first_height <= height else REACH), high - low, False
    x, bracket = hi, (lo, hi, at_lo, at_hi, 0)
    for _ in range(ROUNDS):
        if at_hi == 0.0:
            break
        past, x = x, crossing(bracket)
        now = slope_on(surface, bodies, f, frame, size, x)
        if now == 0.0 or abs(x - past) <= SAME:
            break
        bracket = narrowed(bracket, x, now)
    return x, high - low, True


@helper
def arc_over(surface, bodies, e, f):
    """φ = h(p) - r - s, p the lowest point of the arc e over f. Beyond its ends the margin is no more than the spread
    of heights: of a level ring the lowest point may soon be anywhere."""
    frame, size, r = arc_frame(surface, bodies, e), surface.length[e], surface.radius[e]
    angle, spread, found = lowest_on_arc(surface, bodies, e, f, frame, size)
    p, out, t = on_arc(frame, size, angle)
    q, m, height = foot_on(surface, bodies, f, p)
    n = neg(m)
    bend = dot(n, out) / size
    wall = surface.kind[f] in (BOWL, PIPE)
    s = 0.0 if wall else surface.radius[f]
    margin = size * (HALF - abs(angle))
    if spread <= TIPPED:
        margin = min(margin, spread_around(surface, bodies, f, frame, size) - FLAT)
    if not found:
        margin = min(margin, -FLAT)
    if margin < 0.0:
        margin = max(margin, -spread - FLAT)
    margin = min(margin, region_of(surface, bodies, f, p, q))
    u, curve = curve_at(surface, bodies, f, q, m)
    return (axpy(r, n, p), axpy(-s, n, q), n, height - r - s, margin, 1.0, t,
            (bend, 1.0 + r * bend, 1.0, r), u, curve)


@helper
def stand_over(surface, bodies, e, f):
    """The same of a fixed point p of the ring, where it has the same height all around."""
    frame, size, r = arc_frame(surface, bodies, e), surface.length[e], surface.radius[e]
    p = world_point(surface, bodies, e)
    q, m, height = foot_on(surface, bodies, f, p)
    wall = surface.kind[f] in (BOWL, PIPE)
    n, s = neg(m), 0.0 if wall else surface.radius[f]
    margin = min(TIPPED - spread_around(surface, bodies, f, frame, size), region_of(surface, bodies, f, p, q))
    u, curve = curve_at(surface, bodies, f, q, m)
    return (axpy(r, n, p), axpy(-s, n, q), n, height - r - s, margin, 1.0, tangents(n)[0], (1.0, r, 1.0, r), u, curve)
