"""Distances of the elements that curve everywhere: ellipsoids, and the walls of bowls and pipes. As in `gaps`,
each function returns the points on both elements, the normal from e to f, gap, margin, facing, and how both curve.
"""

import math

from ...core.jit import helper
from ...core.vec import (
    add,
    axpy,
    cross,
    dot,
    mat_vec,
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
from ...shapes.elements import RIM, SMOOTH, VERTEX
from ...shapes.ellipsoid import (
    ellipsoid_curve,
    ellipsoid_foot,
    ellipsoid_normal,
    ellipsoid_support,
    ellipsoids_normal,
    gram,
    room,
)
from ...shapes.superellipsoid import (
    HALVINGS,
    dual,
    into,
    out_of,
    smooth_climb,
    smooth_curve,
    smooth_normal,
    smooth_point,
    smooth_room,
)
from .frames import face_margin, facing_margin, off_rim, side_margin, world_axis, world_point

FARTHEST_ROUNDS = 1000    # most iterations; each reduces the error by the ratio of curvature radii, ellipsoid to wall
LEVEL = 1e-10     # part of a normal that is rounding, where the semi-axes are made equal
SETTLED = 2e-16  # change of a unit vector below which the iteration ends


@helper
def vertex_bowl(surface, bodies, e, f):
    """φ = R - |p - o| - r; the wall curves the other way: (1, -R)"""
    p, o = world_point(surface, bodies, e), world_point(surface, bodies, f)
    r, size = surface.radius[e], surface.radius[f]
    d = sub(p, o)
    n = unit(d)
    q = axpy(size, n, o)
    t = tangents(n)[0]
    return (axpy(r, n, p), q, n, size - norm(d) - r, side_margin(surface, bodies, f, q), 1.0, t, (1.0, r, 1.0, r), t,
            (1.0, -size, 1.0, -size))


@helper
def vertex_pipe(surface, bodies, e, f):
    """The same with the foot of the vertex on the axis."""
    p, c, u = world_point(surface, bodies, e), world_point(surface, bodies, f), world_axis(surface, bodies, f)
    r, size = surface.radius[e], surface.radius[f]
    along = dot(u, sub(p, c))
    o = axpy(along, u, c)
    d = sub(p, o)
    n = unit(d)
    q = axpy(size, n, o)
    margin = min(side_margin(surface, bodies, f, q), surface.length[f] - abs(along))
    return (axpy(r, n, p), q, n, size - norm(d) - r, margin, 1.0, u, (1.0, r, 1.0, r), u, (0.0, 1.0, 1.0, -size))


@helper
def ellipsoid_turn(surface, bodies, f):
    """Orientation of an ellipsoid's axes in the world."""
    return quat_mul(row4(bodies.q, int(surface.body[f])), row4(surface.frame, f))


@helper
def ellipsoid_gram(turn, s):
    """Q of an ellipsoid of semi-axes s in the world."""
    return gram(rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 1.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0)), s)


@helper
def ellipsoid_nearest(surface, bodies, f, p):
    """(q, m, distance): the point of an ellipsoid nearest to p, its outward normal there, and the signed distance."""
    turn, s, c = ellipsoid_turn(surface, bodies, f), row(surface.axis, f), world_point(surface, bodies, f)
    x = ellipsoid_foot(unrotate(turn, sub(p, c)), s)
    m = rotate(turn, ellipsoid_normal(x, s))
    q = add(c, rotate(turn, x))
    return q, m, dot(m, sub(p, q))


@helper
def end_of(turn, centre, s, m):
    """The point of an ellipsoid farthest along a world vector m, how it curves there, and along which tangent."""
    x = ellipsoid_support(s, unrotate(turn, m))
    k, l, u = ellipsoid_curve(x, s)
    return add(centre, rotate(turn, x)), (k, 1.0, l, 1.0), rotate(turn, u)


@helper
def vertex_ellipsoid(surface, bodies, e, f):
    """φ = m·(p - x) - r with the nearest point x of the ellipsoid and its outward normal m"""
    turn, s = ellipsoid_turn(surface, bodies, f), row(surface.axis, f)
    centre, p, r = world_point(surface, bodies, f), world_point(surface, bodies, e), surface.radius[e]
    local = unrotate(turn, sub(p, centre))
    x = ellipsoid_foot(local, s)
    k, l, u = ellipsoid_curve(x, s)
    m = ellipsoid_normal(x, s)
    n, u = neg(rotate(turn, m)), rotate(turn, u)
    margin = min(s[0], s[1], s[2]) * facing_margin(surface, bodies, e, n)
    return (axpy(r, n, p), add(centre, rotate(turn, x)), n, dot(m, sub(local, x)) - r, margin, 1.0, u,
            (1.0, r, 1.0, r), u, (k, 1.0, l, 1.0))


@helper
def face_ellipsoid(surface, bodies, e, f):
    """φ = m·(x - o), m the face's outward normal, x the ellipsoid's lowest point over it"""
    o, m = world_point(surface, bodies, e), world_axis(surface, bodies, e)
    q, curve, u = end_of(ellipsoid_turn(surface, bodies, f), world_point(surface, bodies, f), row(surface.axis, f),
                         neg(m))
    height = dot(m, sub(q, o))
    foot = axpy(-height, m, q)
    return foot, q, m, height, face_margin(surface, bodies, e, q, foot), 1.0, u, (0.0, 1.0, 0.0, 1.0), u, curve


@helper
def edge_ellipsoid(surface, bodies, e, f):
    """φ = m·(c + x u - q) - r: seen along the edge, the ellipsoid is an ellipse and the edge a point."""
    c, u, r = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.radius[e]
    turn, centre, s = ellipsoid_turn(surface, bodies, f), world_point(surface, bodies, f), row(surface.axis, f)
    Q = ellipsoid_gram(turn, s)
    t1, t2 = tangents(u)
    q11, q12, q22 = dot(t1, mat_vec(Q, t1)), dot(t1, mat_vec(Q, t2)), dot(t2, mat_vec(Q, t2))
    angle = 0.5 * math.atan2(2.0 * q12, q11 - q22)
    mean, half = 0.5 * (q11 + q22), math.hypot(0.5 * (q11 - q22), q12)
    w1 = axpy(math.sin(angle), t2, scale(math.cos(angle), t1))
    w2 = cross(u, w1)
    a, b = math.sqrt(mean + half), math.sqrt(mean - half)
    d = sub(c, centre)
    x = ellipsoid_foot((dot(d, w1), dot(d, w2), 0.0), (a, b, 2.0 * a))
    m = unit(axpy(x[0] / (a * a), w1, scale(x[1] / (b * b), w2)))
    n = neg(m)
    q, curve, v = end_of(turn, centre, s, m)
    along = dot(u, sub(q, c))
    p = axpy(along, u, c)
    margin = min(surface.length[e] - abs(along), min(s[0], s[1], s[2]) * facing_margin(surface, bodies, e, n))
    return axpy(r, n, p), q, n, dot(m, sub(p, q)) - r, margin, 1.0, u, (0.0, 1.0, 1.0, r), v, curve


@helper
def ellipsoid_ellipsoid(surface, bodies, e, f):
    """φ = max over n of n·(c_f - c_e) - h_e(n) - h_f(n), h the support functions"""
    c, d = world_point(surface, bodies, e), world_point(surface, bodies, f)
    turn_e, turn_f = ellipsoid_turn(surface, bodies, e), ellipsoid_turn(surface, bodies, f)
    s, t = row(surface.axis, e), row(surface.axis, f)
    P, Q = ellipsoid_gram(turn_e, s), ellipsoid_gram(turn_f, t)
    n = ellipsoids_normal(P, Q, sub(d, c))
    p, curve_e, u = end_of(turn_e, c, s, n)
    q, curve_f, v = end_of(turn_f, d, t, neg(n))
    return p, q, n, room(P, Q, sub(d, c), n), math.inf, 1.0, u, curve_e, v, curve_f


@helper
def smooth_solid(surface, bodies, e):
    """A ball, the disc in a rim, an ellipsoid or a superellipsoid as `superellipsoid.smooth_normal` takes it."""
    turn, s = ellipsoid_turn(surface, bodies, e), row(surface.axis, e)
    q = dual((surface.exponents[e, 0], surface.exponents[e, 1]))
    if surface.kind[e] == VERTEX:
        s = (surface.radius[e], surface.radius[e], surface.radius[e])
    elif surface.kind[e] == RIM:
        s = (surface.length[e], surface.length[e], 0.0)
    return rotate(turn, (1.0, 0.0, 0.0)), rotate(turn, (0.0, 1.0, 0.0)), rotate(turn, (0.0, 0.0, 1.0)), s, q


@helper
def levelled(s, n):
    """A normal n in the frame of a smooth solid with semi-axes s, without its parts along these that are rounding.

    A boxy solid that is turned by θ away from a flat place is touched some |θ|^(e/(2 - e)) beside it, with e < 1: what
    lies level but for rounding would rock as fast as rounding is small."""
    a, b, c = s[0] * n[0], s[1] * n[1], s[2] * n[2]
    least = LEVEL * max(abs(a), max(abs(b), abs(c)))
    return (n[0] if abs(a) > least else 0.0, n[1] if abs(b) > least else 0.0, n[2] if abs(c) > least else 0.0)


@helper
def smooth_end(solid, centre, m):
    """The point of such a solid farthest along the world vector m, how it curves there, and along which tangent; of a
    point any will do."""
    if max(solid[3][0], solid[3][1], solid[3][2]) == 0.0:
        return centre, (1.0, 0.0, 1.0, 0.0), tangents(m)[0]
    local = levelled(solid[3], into(solid, m))
    curve, u = smooth_curve(solid[3], solid[4], local)
    return add(centre, out_of(solid, smooth_point(solid[3], solid[4], local))), curve, out_of(solid, u)


@helper
def face_smooth(surface, bodies, e, f):
    """φ = m·(x - o), m the face's outward normal, x the lowest point over it"""
    o, m = world_point(surface, bodies, e), world_axis(surface, bodies, e)
    q, curve, u = smooth_end(smooth_solid(surface, bodies, f), world_point(surface, bodies, f), neg(m))
    height = dot(m, sub(q, o))
    foot = axpy(-height, m, q)
    return (foot, q, m, height, face_margin(surface, bodies, e, q, foot), 1.0, u, (0.0, 1.0, 0.0, 1.0), u, curve)


@helper
def smooth_smooth(surface, bodies, e, f):
    """φ = max over n of n·(c_f - c_e) - h_e(n) - h_f(n), h the support functions; for balls and corners, too"""
    c, o = world_point(surface, bodies, e), world_point(surface, bodies, f)
    solid_e, solid_f = smooth_solid(surface, bodies, e), smooth_solid(surface, bodies, f)
    n, gap = smooth_normal(solid_e, solid_f, sub(o, c))
    p, curve_e, u = smooth_end(solid_e, c, n)
    q, curve_f, v = smooth_end(solid_f, o, neg(n))
    margin = math.inf
    if surface.kind[e] == VERTEX:
        margin = min(solid_f[3][0], solid_f[3][1], solid_f[3][2]) * facing_margin(surface, bodies, e, n)
    return p, q, n, gap, margin, 1.0, u, curve_e, v, curve_f


@helper
def off_cap(disc, solid, d, a):
    """(beyond, n): how far beyond its rim the disc is nearest to a smooth solid with its cap, of the normal a, or with
    the back of that [m]; where it is, a normal from which its rim is reached by climbing. At ±a the separation F has a
    kink; where it is not the top, F grows from there towards the nearest point."""
    front, back = smooth_room(disc, solid, d, a), smooth_room(disc, solid, d, neg(a))
    n, most = (a, front) if front >= back else (neg(a), back)
    q = sub(d, out_of(solid, smooth_point(solid[3], solid[4], into(solid, n))))
    beside = axpy(-dot(a, q), a, q)
    beyond, out = norm(beside) - disc[3][0], unit(beside)
    if beyond <= 0.0:
        return beyond, n
    tilt, start = beyond / (abs(most) + solid[3][0] + solid[3][1] + solid[3][2]), n
    for _ in range(HALVINGS):
        start = unit(axpy(tilt, out, n))
        if smooth_room(disc, solid, d, start) > most:
            break
        tilt *= 0.5
    return beyond, start


@helper
def rim_smooth(surface, bodies, e, f):
    """The same of the disc in a rim. Where that is nearest with its cap the margin says how far inside the rim."""
    c, a, size = world_point(surface, bodies, e), world_axis(surface, bodies, e), surface.length[e]
    o, disc, solid = world_point(surface, bodies, f), smooth_solid(surface, bodies, e), smooth_solid(surface, bodies, f)
    beyond, n = off_cap(disc, solid, sub(o, c), a)
    if beyond <= 0.0:
        q, curve, u = smooth_end(solid, o, neg(n))
        gap = dot(n, sub(q, c))
        return axpy(-gap, n, q), q, n, gap, beyond, 1.0, u, (0.0, 1.0, 0.0, 1.0), u, curve
    n, gap = smooth_climb(disc, solid, sub(o, c), n)
    q, curve, u = smooth_end(solid, o, neg(n))
    d = sub(q, c)
    out = unit(axpy(-dot(a, d), a, d))  # along n, too, but of a cap that hardly leans n says it less exactly
    margin = min(solid[3][0], solid[3][1], solid[3][2]) * off_rim(n, a, out, surface.taper[e])
    return (axpy(size, out, c), q, n, gap, margin, 1.0, cross(a, out), (dot(n, out) / size, 1.0, 1.0, 0.0), u, curve)


@helper
def smooth_nearest(surface, bodies, f, p):
    """(q, m, distance): the point of a superellipsoid nearest to p, its outward normal, and the signed distance."""
    o, solid = world_point(surface, bodies, f), smooth_solid(surface, bodies, f)
    point = solid[0], solid[1], solid[2], (0.0, 0.0, 0.0), (2.0, 2.0)
    m, gap = smooth_normal(solid, point, sub(p, o))
    return add(o, out_of(solid, smooth_point(solid[3], solid[4], into(solid, m)))), m, gap


@helper
def farthest_along(surface, bodies, e, m):
    """From the middle of an ellipsoid or superellipsoid to its point farthest along a world vector m."""
    if surface.kind[e] == SMOOTH:
        solid = smooth_solid(surface, bodies, e)
        return out_of(solid, smooth_point(solid[3], solid[4], into(solid, m)))
    turn = ellipsoid_turn(surface, bodies, e)
    return rotate(turn, ellipsoid_support(row(surface.axis, e), unrotate(turn, m)))


@helper
def round_end(surface, bodies, e, m):
    """That point, how the surface curves there, and along which tangent."""
    c = world_point(surface, bodies, e)
    if surface.kind[e] == SMOOTH:
        return smooth_end(smooth_solid(surface, bodies, e), c, m)
    return end_of(ellipsoid_turn(surface, bodies, e), c, row(surface.axis, e), m)


@helper
def farthest_out(surface, bodies, e, d, u):
    """The unit vector to the farthest point of an ellipsoid or superellipsoid about d, and the distance of that point
    [m]: both from the origin where u = 0, else from the line through the origin along u. Fixed-point iteration: the
    next point is the support point along the direction to the last one."""
    s = row(surface.axis, e)
    m = unit(axpy(-dot(d, u), u, d)) if norm(axpy(-dot(d, u), u, d)) > 0.0 else tangents(unit(add(u, s)))[0]
    away = 0.0
    for _ in range(FARTHEST_ROUNDS):
        x = add(d, farthest_along(surface, bodies, e, m))
        out = axpy(-dot(x, u), u, x)
        away = norm(out)
        change = norm(sub(scale(1.0 / away, out), m))
        m = scale(1.0 / away, out)
        if change <= SETTLED:
            break
    return m, away


@helper
def ellipsoid_bowl(surface, bodies, e, f):
    """φ = R - |x - o|, x the point farthest from o of an ellipsoid or superellipsoid: the only one where it curves more
    than the wall."""
    c, o, size = world_point(surface, bodies, e), world_point(surface, bodies, f), surface.radius[f]
    m, away = farthest_out(surface, bodies, e, sub(c, o), (0.0, 0.0, 0.0))
    x, curve, u = round_end(surface, bodies, e, m)
    q = axpy(size, m, o)
    return x, q, m, size - away, side_margin(surface, bodies, f, q), 1.0, u, curve, u, (1.0, -size, 1.0, -size)


@helper
def ellipsoid_pipe(surface, bodies, e, f):
    """The same with distances from the axis."""
    c, o, size = world_point(surface, bodies, e), world_point(surface, bodies, f), surface.radius[f]
    v = world_axis(surface, bodies, f)
    m, away = farthest_out(surface, bodies, e, sub(c, o), v)
    x, curve, u = round_end(surface, bodies, e, m)
    along = dot(v, sub(x, o))
    q = axpy(size, m, axpy(along, v, o))
    margin = min(side_margin(surface, bodies, f, q), surface.length[f] - abs(along))
    return x, q, m, size - away, margin, 1.0, u, curve, v, (0.0, 1.0, 1.0, -size)
