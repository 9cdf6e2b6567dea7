"""Where a smooth solid in a bowl is farthest out, seen from the middle of the bowl.

The distance of the points of a solid from the middle is greatest where g = m·d + h(m) is over unit vectors m, d the way
from the middle to the centre and h the support function; see `outlines` for the same across a pipe. The second
derivative of g along a tangent t of the sphere of these vectors is t·(∇∇h) t - g: radii of curvature less g. So m is
such a spot where x = d + ∇h(m) lies along m and the greater radius of curvature k is less than g.

The solid is the same on both sides of each plane across its axes. A point of it on that side of such a plane where the
middle is comes farther out where it is mirrored to the other side. So what touches is in the octant away from the
middle, from which no way uphill leads out; or in several, where the middle is in planes between them.
"""

import math
from itertools import product

import numpy as np

from ...core.jit import helper
from ...core.vec import add, axpy, cross, dot, mul, norm, put, row, scale, sub, unit
from ...shapes.superellipsoid import into, out_of, smooth_curve
from .outlines import foremost
from .smooth import SETTLED

THIN = 1e-6       # share of a normal, where the semi-axes are made equal, in which a flat place counts as none
LONGEST = 0.05    # of the steps of a climb, where the semi-axes are made equal [rad]
HALVINGS = 20     # of one that is cut, by which it comes to 5e-8
CLIMBS = 100      # steps at most
TOO_FAR = 0.5     # share of the slope at its start with which g may fall at the end of a step
FINE = 1e-9       # change of a unit vector below which steps end as they no longer shrink
BRIDGE, SPANS = 2e-3, 8  # flat place on the way beyond which one still looks for the next spot, and steps over it
DRAWN = 60        # steps at most from a start to near its spot
FARTHEST, CLOSE = 0.3, 1e-5  # of these the longest, and the one that is near enough [rad]
ONE = 1e-4        # distance of two spots that are one, relative to the solid
ASIDE = 0.05      # of the middle from a plane across the axes up to which spots on both sides may touch soon, likewise
#: normals from which all spots are looked for, where the semi-axes are made equal
STARTS = np.array([a for a in product((-1.0, 0.0, 1.0), repeat=3) if any(a)] + [
    a for a in product((-1.0, -0.4, 0.4, 1.0), repeat=3) if np.abs(a).tolist().count(1.0) == 1])


@helper
def lifted(solid, n):
    """A normal in the frame of a solid, off the planes across its axes by THIN at least."""
    s = solid[3]
    a = mul(s, n)
    least = THIN * norm(a)
    return (math.copysign(max(abs(a[0]), least), a[0]) / s[0], math.copysign(max(abs(a[1]), least), a[1]) / s[1],
            math.copysign(max(abs(a[2]), least), a[2]) / s[2])


@helper
def bends(solid, m):
    """(wide, tight, w): radii of curvature at m [m], and the direction of the wide one."""
    curve, w = smooth_curve(solid[3], solid[4], lifted(solid, into(solid, m)))
    w = out_of(solid, w)
    return curve[1] / curve[0], curve[3] / curve[2], unit(axpy(-dot(w, m), m, w))


@helper
def newton(solid, m, x, bent):
    """Newton's step, tangential, from m in a region."""
    height, w = dot(m, x), bent[2]
    v = cross(m, w)
    return axpy(dot(w, x) / (height - bent[0]), w, scale(dot(v, x) / (height - bent[1]), v))


@helper
def turn_of(solid, m, way):
    """How far a small step leads where the semi-axes are made equal [rad]."""
    a, b = mul(solid[3], into(solid, m)), mul(solid[3], into(solid, way))
    size = norm(a)
    return norm(axpy(-dot(a, b) / (size * size), a, b)) / size


@helper
def up_to_plane(solid, m, way, share):
    """The share of a step that leads to the first flat plane across the axes, at most `share`."""
    n, b, q = into(solid, m), into(solid, way), solid[4]
    least = THIN * norm(mul(solid[3], n))
    for i in range(3):
        flat = q[0] < 2.0 if i == 2 else q[1] < 2.0
        if flat and abs(solid[3][i] * n[i]) > least and n[i] * (n[i] + share * b[i]) < 0.0:
            share = -n[i] / b[i]
    return share


@helper
def stepped(solid, d, m, x, bent):
    """(m, x, radii) after a step uphill: Newton's, cut where a flat place begins before its end, where g would fall too
    much, and at flat planes. Where a region ends it is so short that the rest does not matter, and leads out of it."""
    way = newton(solid, m, x, bent)
    turn, fall = turn_of(solid, m, way), dot(way, x)
    share = up_to_plane(solid, m, way, min(1.0, LONGEST / max(turn, SETTLED)))
    trial, arm, bow = m, x, bent
    for _ in range(HALVINGS):
        trial = unit(axpy(share, way, m))
        arm, bow = add(d, foremost(solid, trial)), bends(solid, trial)
        if bow[0] < dot(trial, arm) and dot(axpy(-dot(way, trial), trial, way), arm) >= -TOO_FAR * fall:
            break
        share *= 0.5
    return trial, arm, bow


@helper
def bridged(solid, d, m, x):
    """(m, x, radii) beyond a flat place no longer than BRIDGE, or in it."""
    bent = bends(solid, m)
    for _ in range(SPANS):
        way = sub(unit(x), m)
        m = unit(axpy(min(1.0, BRIDGE / SPANS / max(turn_of(solid, m, way), SETTLED)), way, m))
        x, bent = add(d, foremost(solid, m)), bends(solid, m)
        if bent[0] < dot(m, x):
            break
    return m, x, bent


@helper
def climbed_out(solid, d, m):
    """(m, whether there is one) of the spot that is reached from m uphill in a region where k < g. Where that ends on
    the way there is none: m is then the next spot beyond a flat place no longer than BRIDGE, or else where that begins,
    so that what goes on over the end of a spot feels the same."""
    x, bent = add(d, foremost(solid, m)), bends(solid, m)
    there, left, before = True, m, math.inf
    for _ in range(CLIMBS):
        if bent[0] >= dot(m, x):
            if not there:
                break
            there = False
            m, x, bent = bridged(solid, d, m, x)
            if bent[0] >= dot(m, x):
                break
        past = m
        m, x, bent = stepped(solid, d, m, x, bent)
        change = norm(sub(m, past))
        if bent[0] < dot(m, x) and (change <= SETTLED or (change <= FINE and change >= 0.5 * before)):
            return m, there
        left, before = past if there else left, change
    return left, False


@helper
def find_spots(solid, d, spots_out):
    """Write the normals, in the frame of the solid, of all spots that may touch soon. Their number."""
    count, from_middle = 0, into(solid, d)
    for k in range(len(STARTS)):
        a = row(STARTS, k)
        if faces_middle(a, from_middle, ASIDE * norm(solid[3])):
            continue
        m, there = climbed_out(solid, d, drawn_out(solid, d, unit(out_of(solid, over(a, solid[3])))))
        if there and new(solid, spots_out, count, m) and count < len(spots_out):
            put(spots_out, count, into(solid, m))
            count += 1
    return count


@helper
def faces_middle(a, d, least):
    """Whether a is on the other side of a plane across the axes than d is, which is more than `least` beside it."""
    return ((a[0] * d[0] < 0.0 and abs(d[0]) > least) or (a[1] * d[1] < 0.0 and abs(d[1]) > least)
            or (a[2] * d[2] < 0.0 and abs(d[2]) > least))


@helper
def over(u, v):
    """The quotients of the components of two vectors."""
    return u[0] / v[0], u[1] / v[1], u[2] / v[2]


@helper
def drawn_out(solid, d, m):
    """Near the spot that is reached from m uphill, whether on the way the solid is flat or not: x leads to a greater
    |x|, as m·x <= |x|, and |x| <= g there."""
    for _ in range(DRAWN):
        x, bent = add(d, foremost(solid, m)), bends(solid, m)
        past, trial = m, unit(x)
        if bent[0] < dot(m, x):
            way = newton(solid, m, x, bent)
            leap = unit(axpy(min(1.0, FARTHEST / max(norm(way), SETTLED)), way, m))
            trial = leap if dot(leap, add(d, foremost(solid, leap))) >= dot(m, x) else trial
        m = trial
        if norm(sub(m, past)) < CLOSE:
            break
    return m


@helper
def new(solid, spots, count, m):
    """Whether none of the spots is that with the normal m."""
    for k in range(count):
        there = out_of(solid, row(spots, k))
        if norm(sub(foremost(solid, there), foremost(solid, m))) < ONE * norm(solid[3]):
            return False
    return True
