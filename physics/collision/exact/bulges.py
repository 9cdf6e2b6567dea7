"""Distances of the bulges of an ellipsoid or superellipsoid from a bowl that it is flatter than somewhere; see
`shapes.bulges`. As in `gaps`, each function returns the points on both elements, the normal from e to f, gap, margin,
facing, and how both curve.

The greatest distance of its points from the middle o of a bowl is the greatest value of m·d + h(m) over unit vectors m,
d the way from o to the centre and h the support function. Each bulge climbs from the best of some places in its own
region. Beyond that region the margin says how far: a place that passes from one bulge to the next is known to both, and
`continuation` says that it is one.
"""

import math

from ...core.jit import helper
from ...core.vec import add, axpy, cross, dot, mul, norm, scale, sub, unit
from ...shapes.bulges import BESIDE
from ...shapes.elements import BULGE, BULGE_ROUND, BULGE_STAND
from ...shapes.superellipsoid import into, out_of, smooth_curve
from .frames import side_margin, world_point
from .outlines import foremost
from .rims import FLAT, TIPPED
from .smooth import SETTLED, smooth_solid

PLACES = 4         # along each axis, among which a bulge looks for its start
INNER = 0.3        # the inner two of these, relative to the outer ones
BORDER = 1e-8      # width of the borders of regions, relative to the solid
HALVINGS = 5       # of a step
CLIMBS = 200       # steps at most; Newton's method takes some six
LONGEST = 0.3      # of these steps [rad]
ROUNDED = 1e-15    # share of a distance that is rounding
FINE = 1e-9        # below it steps end as they no longer shrink: what is left of them is rounding
AT_END = 1e-3      # from the axis within which a round solid touches with the end of this axis, relative to its size


@helper
def off_axis(solid, x):
    """The part of a vector across a solid's axis z."""
    return axpy(-dot(solid[2], x), solid[2], x)


@helper
def inside_region(surface, bodies, e, solid, x):
    """How far inside its region the point x from the centre of a bulge is [m]; a half plane begins at the axis."""
    margin = side_margin(surface, bodies, e, add(world_point(surface, bodies, e), x))
    return margin if surface.kind[e] != BULGE_STAND else min(margin, dot(solid[0], x) - BESIDE * solid[3][0])


@helper
def start_of(surface, bodies, e, solid, d, u):
    """A unit vector across u from which a bulge climbs: to the farthest of some places inside its region, or where
    there is none to that least far outside."""
    s, deepest, highest, best = solid[3], -math.inf, -math.inf, solid[2]
    border = BORDER * min(s[0], s[1], s[2])
    for k in range(PLACES**3):
        i, j, l = k // (PLACES * PLACES), k // PLACES % PLACES, k % PLACES
        a, b, c = spread(i), spread(j), spread(l)
        at = out_of(solid, mul(s, (a, b, c)))
        if dot(u, u) == 0.0 and inside_region(surface, bodies, e, solid, at) < border:
            continue
        m = out_of(solid, (a / s[0], b / s[1], c / s[2]))
        m = axpy(-dot(u, m), u, m)
        if dot(m, m) == 0.0:
            continue
        m = unit(m)
        x = foremost(solid, m)
        inside = min(inside_region(surface, bodies, e, solid, x) - border, 0.0)
        height = dot(m, add(d, x))
        if inside > deepest or (inside == deepest and height > highest):
            deepest, highest, best = inside, height, m
    return best


@helper
def spread(i):
    """The i-th of PLACES coordinates, none of them 0."""
    return (-1.0 if i < 2 else 1.0) * (1.0 if i in (0, 3) else INNER)


@helper
def uphill(solid, d, u, m, x):
    """Newton's step, tangential, from m towards the greatest m·x, x = d + foremost(m); where that curves up, a step
    towards x, which always climbs."""
    height = dot(m, x)
    curve, w = smooth_curve(solid[3], solid[4], into(solid, m))
    w = out_of(solid, w)
    v, wide, tight = cross(m, w), curve[1] / curve[0], curve[3] / curve[2]
    if dot(u, u) > 0.0:
        t = cross(u, m)
        radius = wide * dot(t, w) ** 2 + tight * dot(t, v) ** 2
        if radius < height:
            return scale(dot(t, x) / (height - radius), t)
    elif wide < height:
        return axpy(dot(w, x) / (height - wide), w, scale(dot(v, x) / (height - tight), v))
    return sub(along(u, x), m)


@helper
def along(u, x):
    """The direction of x across u."""
    return unit(axpy(-dot(u, x), u, x))


@helper
def climb_out(surface, bodies, e, solid, d, u, m):
    """(m, x): the unit vector across u that is reached from m by climbing to the greatest m·x, and the point x, seen
    from where d begins. Newton's steps must climb, and must not leave the region: they could leap over a place in it
    to one beside it. Those that do are halved; else a step leads towards x."""
    x, before, border = add(d, foremost(solid, m)), math.inf, -BORDER * min(solid[3][0], solid[3][1], solid[3][2])
    inside = inside_region(surface, bodies, e, solid, sub(x, d)) >= border
    for _ in range(CLIMBS):
        way, height = uphill(solid, d, u, m, x), dot(m, x)
        share, trial, arm, stays = LONGEST / max(norm(way), LONGEST), m, x, False
        for k in range(HALVINGS + 1):
            trial = along(u, x) if k == HALVINGS else unit(axpy(share, way, m))
            arm = foremost(solid, trial)
            stays = inside_region(surface, bodies, e, solid, arm) >= border
            if dot(trial, add(d, arm)) >= height * (1.0 - ROUNDED) and (stays or not inside):
                break
            share *= 0.5
        change = norm(sub(trial, m))
        m, x, inside = trial, add(d, arm), stays
        if change <= SETTLED or (change <= FINE and change >= 0.5 * before):
            break
        before = change
    return m, x


@helper
def plane_of(kind, solid, d):
    """The normal of the plane in which a bulge climbs: that of its half plane where it is round about its axis, else
    0."""
    if kind == BULGE:
        return 0.0, 0.0, 0.0
    if kind == BULGE_STAND:
        return solid[1]
    out = off_axis(solid, d)
    return cross(solid[2], unit(out) if dot(out, out) > 0.0 else solid[0])


@helper
def level_margin(kind, solid, d, m, x):
    """How far inside its region as to its tilt a bulge of a round solid is in a bowl [m]: where it is as far out all
    around, with half planes that stand for all, else with that away from the middle. Near the end of its axis it
    touches with that end."""
    ring, spread_around = norm(off_axis(solid, x)), 2.0 * norm(off_axis(solid, d)) * norm(off_axis(solid, m))
    beside = ring - AT_END * solid[3][0]
    if kind == BULGE_STAND:
        return min(TIPPED - spread_around, beside)
    return max(spread_around - FLAT, -beside)


@helper
def stand_curve(solid, m, curve, u):
    """How a half plane of a round solid curves: along the circle about its axis it is sharp, as a point fixed on it."""
    around = solid[1]
    t, v = cross(around, m), cross(m, u)
    radius = curve[1] / curve[0] * dot(t, u) ** 2 + curve[3] / curve[2] * dot(t, v) ** 2
    return (1.0, 0.0, 1.0 / max(radius, 1.0), min(radius, 1.0)), around


@helper
def bulge_bowl(surface, bodies, e, f):
    """φ = R - m·(x - o)"""
    c, o = world_point(surface, bodies, e), world_point(surface, bodies, f)
    size, kind = surface.radius[f], surface.kind[e]
    solid, d = smooth_solid(surface, bodies, e), sub(c, o)
    u = plane_of(kind, solid, d)
    m, x = climb_out(surface, bodies, e, solid, d, u, start_of(surface, bodies, e, solid, d, u))
    curve, w = smooth_curve(solid[3], solid[4], into(solid, m))
    w, arm, q = out_of(solid, w), sub(x, d), axpy(size, m, o)
    margin = min(side_margin(surface, bodies, f, q), inside_region(surface, bodies, e, solid, arm))
    if kind in (BULGE_ROUND, BULGE_STAND):
        margin = min(margin, level_margin(kind, solid, d, m, arm))
    if kind == BULGE_STAND:
        curve, w = stand_curve(solid, m, curve, w)
    return add(o, x), q, m, size - dot(m, x), margin, 1.0, w, curve, w, (1.0, -size, 1.0, -size)
