"""Distances of rings, the circles in the middle of tori, from vertices and edges. As in `gaps`, each function returns
the points on both elements, the normal from e to f, gap, margin, facing, and how both curve.

Of a line with direction v let o be the point nearest to the middle of a ring of radius ρ with the axis a; along
x = v - (a·v) a, made a unit vector, and y = a × x its coordinates in the plane of the ring are o_x, o_y. With the angle
θ from x towards y, half the square of the distance of the ring's point from the line is a constant plus ρ g,

    g = -o_x cos θ - o_y sin θ - ½ A cos²θ,   A = ρ (1 - (a·v)²).

In the half ahead along v, cos θ > 0, g has a minimum where o_x > 0, and so in the half behind where o_x < 0; the other
half has one too where |o_x|^⅔ + |o_y|^⅔ < A^⅔, within an astroid (g' = g" = 0, the evolute of an ellipse, is that
curve). Both minima meet at its tips |o_y| = A. So outside the astroid the ring is one element, within it each half is.
By mirrors θ is in the first quadrant, with |o_y|, and with ±|o_x| in the half where there is always, and may be, one.
"""

import math

from ...core.false_position import ROUNDS, SAME
from ...core.jit import helper
from ...core.vec import add, axpy, cross, dot, norm, scale, sub, tangents, unit
from .elements import RING_AHEAD_EDGE, RING_EDGE
from .frames import side_margin, world_axis, world_point
from .rims import FLAT

UPRIGHT = 1e-12  # sine of the angle between the axis and an edge below which A, smaller than rounding, has no direction


@helper
def vertex_ring(surface, bodies, e, f):
    """φ = |q - p| - r - s, q the nearest point of the circle in the middle of a ring, s the radius of its tube. Along
    the ring its normal m turns by m·e/ρ, as along a rim, and its point moves by 1 + s m·e/ρ."""
    p, c, a = world_point(surface, bodies, e), world_point(surface, bodies, f), world_axis(surface, bodies, f)
    r, s, size = surface.radius[e], surface.radius[f], surface.length[f]
    d = sub(p, c)
    out = unit(axpy(-dot(a, d), a, d))
    q = axpy(size, out, c)
    n = unit(sub(q, p))
    bend, t = -dot(n, out) / size, tangents(n)[0]
    near = norm(sub(q, p))
    spread = norm(sub(axpy(-size, out, c), p)) - near  # below FLAT the ring is as far all around
    margin = min(side_margin(surface, bodies, e, q), spread - FLAT)
    return (axpy(r, n, p), axpy(-s, n, q), n, near - r - s, margin, 1.0, t, (1.0, r, 1.0, r), cross(a, out),
            (bend, 1.0 + s * bend, 1.0, s))


@helper
def root_of_slope(toward, aside, way, start, hi):
    """The angle between 0 and hi where g' = toward sin θ - aside cos θ + way sin θ cos θ turns from - to +, by Newton's
    method from `start`, with bisection where that leaves the bracket."""
    x, lo = start, 0.0
    for _ in range(ROUNDS):
        cosine, sine = math.cos(x), math.sin(x)
        now = (toward + way * cosine) * sine - aside * cosine
        rate = toward * cosine + aside * sine + way * (cosine * cosine - sine * sine)
        if now > 0.0:
            hi = x
        else:
            lo = x
        then = x - now / rate if rate > 0.0 else math.inf
        if abs(then - x) <= SAME or hi - lo <= SAME:
            break
        x = then if lo < then < hi else 0.5 * (lo + hi)
    return x


@helper
def ring_edge(surface, bodies, kind, e, f):
    """φ = |q - p| - r - s, p the point of the ring e or of its half that is nearest to the line of the edge f, q its
    foot there. Outside the astroid both halves have the ring's nearest point, so that pieces can pass its tips."""
    c, a = world_point(surface, bodies, e), world_axis(surface, bodies, e)
    size, r = surface.length[e], surface.radius[e]
    k, v, s = world_point(surface, bodies, f), world_axis(surface, bodies, f), surface.radius[f]
    d, across = sub(k, c), axpy(-dot(a, v), a, v)
    o, square = axpy(-dot(v, d), v, d), dot(across, across)
    x = unit(across) if square > UPRIGHT * UPRIGHT else tangents(a)[0]
    x = unit(axpy(-dot(a, x), a, x))  # of a small difference much is rounding, along a too
    y = cross(a, x)
    toward, aside, way = abs(dot(o, x)), abs(dot(o, y)), size * square
    inside = way - (toward ** (2.0 / 3.0) + aside ** (2.0 / 3.0)) ** 1.5
    by_centre = dot(o, x) >= 0.0
    ahead = by_centre if kind == RING_EDGE or inside <= 0.0 else kind == RING_AHEAD_EDGE
    if ahead == by_centre:
        angle = math.atan2(aside, toward)
        angle = root_of_slope(toward, aside, way, angle, angle)
    else:  # before the place where g'/(sin θ cos θ) is greatest
        angle = math.atan2(aside ** (1.0 / 3.0), toward ** (1.0 / 3.0))
        angle = root_of_slope(-toward, aside, way, 0.0, angle)
    cosine, sine = math.cos(angle), math.copysign(math.sin(angle), dot(o, y))
    out = add(scale(cosine if ahead else -cosine, x), scale(sine, y))
    p = axpy(size, out, c)
    along = dot(v, sub(p, k))
    q = axpy(along, v, k)
    d = sub(q, p)
    n = unit(d)
    margin = min(side_margin(surface, bodies, f, p), surface.length[f] - abs(along))
    margin = min(margin, -inside if kind == RING_EDGE else inside)
    bend = dot(n, out) / size
    return (axpy(r, n, p), axpy(-s, n, q), n, norm(d) - r - s, margin, 1.0, cross(a, out),
            (bend, 1.0 + r * bend, 1.0, r), v, (0.0, 1.0, 1.0, s))
