"""Distances of what is straight along lines: edges, and the sides of cones. As in `gaps`, each function returns the
points on both elements, the normal from e to f, gap, margin, facing, and how both curve.

Edges, swollen or not, and sides have outward normals m with m·a = sin α, a the axis and α the angle between it and the
lines, 0 of an edge. The line with the normal m runs through the middle of the edge or the apex of the cone, o, along
g = (a - m sin α)/cos α, and all its points are as far out along m: h(m) = m·o + r. So another convex element touches it
where F(m) = m·(q - o) - r, q the other's point farthest along -m, is greatest among these normals, which lie on a
circle.
"""

import math

from ...core.false_position import ROUNDS, SAME, crossing, narrowed
from ...core.jit import helper
from ...core.vec import add, axpy, cross, dot, neg, norm, scale, sub, tangents, unit
from ...shapes.elements import SIDE
from ...shapes.superellipsoid import into, out_of, smooth_point
from .frames import NOWHERE, PARALLEL, facing_margin, world_axis, world_point
from .smooth import smooth_end, smooth_solid

SAMPLES = 16  # of the circle of normals, among which the greatest F is looked for


@helper
def line_under(o, a, taper, m, q):
    """(direction, place along it [m]) of the line with the normal m, under the point q."""
    g = axpy(-taper, m, a)
    g = scale(1.0 / math.sqrt(1.0 - taper * taper), g)
    return g, dot(g, sub(q, o))


@helper
def line_region(surface, f, along):
    """How far inside the ends of the element's lines such a place is [m]; a cone's lines end at its apex."""
    length = surface.length[f]
    return min(-along, length + along) if surface.kind[f] == SIDE else length - abs(along)


@helper
def line_curve(surface, f, g, along):
    """(direction, how it curves) of the surface there: across a cone's line with the radius tan α times the distance
    from the apex."""
    t = surface.taper[f]
    across = -along * t / math.sqrt(1.0 - t * t) if surface.kind[f] == SIDE else surface.radius[f]
    return g, (0.0, 1.0, 1.0, across)


@helper
def side_nearest(surface, bodies, f, p):
    """(q, m, distance): the point of a cone's side nearest to p, its outward normal there, and the signed distance."""
    o, a, t = world_point(surface, bodies, f), world_axis(surface, bodies, f), surface.taper[f]
    d = sub(p, o)
    beside = axpy(-dot(a, d), a, d)
    out = unit(beside) if norm(beside) > 0.0 else tangents(a)[0]
    m = axpy(t, a, scale(math.sqrt(1.0 - t * t), out))
    g, along = line_under(o, a, t, m, p)
    return axpy(along, g, o), m, dot(m, d)


@helper
def vertex_side(surface, bodies, e, f):
    """φ = m·(p - o) - r"""
    p, r = world_point(surface, bodies, e), surface.radius[e]
    q, m, height = side_nearest(surface, bodies, f, p)
    g, along = line_under(world_point(surface, bodies, f), world_axis(surface, bodies, f), surface.taper[f], m, q)
    n = neg(m)
    margin = min(line_region(surface, f, along), surface.length[f] * facing_margin(surface, bodies, e, n))
    u, curve = line_curve(surface, f, g, along)
    return axpy(r, n, p), q, n, height - r, margin, 1.0, u, (1.0, r, 1.0, r), u, curve


@helper
def line_side(surface, bodies, e, f):
    """φ = n·(o_f - o_e) - r, n = β u - γ v ± δ u × v with n·u = sin α_e and n·v = -sin α_f of the axes u and v; the
    lines of an edge or a cone and of a cone that cross there. Where there is no such n, or one only, no two lines cross
    outside: the edge is as steep as the side, or steeper."""
    c, u, s = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.taper[e]
    o, v, t = world_point(surface, bodies, f), world_axis(surface, bodies, f), surface.taper[f]
    d, w, cosine, r = sub(o, c), cross(u, v), dot(u, v), surface.radius[e]
    square = dot(w, w)
    beta, gamma = (s + cosine * t) / max(square, PARALLEL**2), (t + cosine * s) / max(square, PARALLEL**2)
    rest = 1.0 - beta * s - gamma * t
    if square < PARALLEL**2 or rest < PARALLEL**2:
        return (c, o, u, 0.0, NOWHERE, 1.0, u, (0.0, 1.0, 1.0, r), v, (0.0, 1.0, 1.0, 0.0))
    delta = math.copysign(math.sqrt(rest / square), dot(w, d))
    n = unit(axpy(beta, u, axpy(-gamma, v, scale(delta, w))))
    m, gap = neg(n), dot(n, d) - r
    g, k = line_under(c, u, s, n, c)[0], line_under(o, v, t, m, o)[0]
    along, cosine = dot(d, g), dot(g, k)
    x = (along - cosine * dot(d, k)) / (1.0 - cosine * cosine)
    y = cosine * x - dot(d, k)
    margin = min(line_region(surface, e, x), line_region(surface, f, y))
    u, curve_e = line_curve(surface, e, g, x)
    v, curve_f = line_curve(surface, f, k, y)
    return (axpy(r, n, axpy(x, g, c)), axpy(y, k, o), n, gap, margin, facing_margin(surface, bodies, e, n), u, curve_e,
            v, curve_f)


@helper
def under_line(solid, centre, o, basis, taper, angle):
    """(F + r, its derivative, m) at an angle on the circle of normals about basis[0], from basis[1] towards basis[2];
    the other element is a smooth solid about `centre`."""
    cosine, sine, wide = math.cos(angle), math.sin(angle), math.sqrt(1.0 - taper * taper)
    m = axpy(taper, basis[0], axpy(wide * cosine, basis[1], scale(wide * sine, basis[2])))
    d = sub(sub(centre, out_of(solid, smooth_point(solid[3], solid[4], into(solid, m)))), o)
    return dot(m, d), wide * (cosine * dot(basis[2], d) - sine * dot(basis[1], d)), m


@helper
def line_smooth(surface, bodies, e, f):
    """The same with an ellipsoid or superellipsoid: a root of F' next to the greatest of samples."""
    o, a, r = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.radius[e]
    solid, centre, t = smooth_solid(surface, bodies, f), world_point(surface, bodies, f), surface.taper[e]
    t1, t2 = tangents(a)
    basis, step, best, most = (a, t1, t2), 2.0 * math.pi / SAMPLES, 0, -math.inf
    for i in range(SAMPLES):
        value = under_line(solid, centre, o, basis, t, i * step)[0]
        if value > most:
            best, most = i, value
    lo, hi = (best - 1) * step, (best + 1) * step
    at_lo, at_hi = under_line(solid, centre, o, basis, t, lo)[1], under_line(solid, centre, o, basis, t, hi)[1]
    found = at_lo > 0.0 > at_hi
    x, bracket = best * step, (lo, hi, -at_lo, -at_hi, 0)
    if found:
        for _ in range(ROUNDS):
            before, x = x, crossing(bracket)
            now = under_line(solid, centre, o, basis, t, x)[1]
            if now == 0.0 or abs(x - before) <= SAME:
                break
            bracket = narrowed(bracket, x, -now)
    height, _, n = under_line(solid, centre, o, basis, t, x)
    q, curve_f, v = smooth_end(solid, centre, neg(n))
    g, along = line_under(o, a, t, n, q)
    size = min(solid[3][0], solid[3][1], solid[3][2])
    margin = min(line_region(surface, e, along), size * facing_margin(surface, bodies, e, n)) if found else NOWHERE
    u, curve_e = line_curve(surface, e, g, along)
    return add(o, axpy(r, n, scale(along, g))), q, n, height - r, margin, 1.0, u, curve_e, v, curve_f
