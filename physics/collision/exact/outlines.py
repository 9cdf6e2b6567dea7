"""Where the outline of an ellipsoid or superellipsoid, seen along an axis u, is farthest out.

The distance of the outline from the axis is greatest where f = m·d + h(m) is over unit vectors m across it, d the way
from the axis to the centre and h the support function. With the angle θ of m, f'' = k - f, where k is the radius of
curvature of the outline. So in each zone where k < f it is farthest out in one place at most, and each such place is
in a zone. Zones end where the outline is flat: boxy solids are flat where a plane across one of their axes cuts the
outline, pointed ones between these planes. A flat place as narrow as THIN is none: what is farthest out on either side
of it differs by some R THIN².
"""

import math

from ...core.false_position import ROUNDS, SAME, crossing, narrowed
from ...core.jit import helper
from ...core.vec import add, axpy, cross, dot, mul, norm, put, scale, tangents, unit
from ...shapes.superellipsoid import bilinear, into, out_of, smooth_bend, smooth_point, smooth_reach
from .smooth import SETTLED

PARTS = 32        # between two planes, at whose ends the curvature is looked at
THIN = 1e-6       # [rad], where the semi-axes are made equal
HALVINGS = 28     # to the end of a zone
ALONG = 1e-6      # angle to a plane, where the semi-axes are made equal, below which an outline lies along it [rad]
POLISHED = 8      # steps of Newton's method
FIRST, LONGEST = 1e-3, 0.05  # steps of a climb, where the semi-axes are made equal [rad]
CLIMBS = 100      # of them at most
BRIDGE = 2e-3     # flat place on the way beyond which one still looks for the next place, likewise [rad]


@helper
def frame_across(solid, u):
    """(t1, t2) across u: cos ψ t1 + sin ψ t2 goes around u as evenly as it does where the semi-axes are made equal."""
    t1, t2 = tangents(u)
    a, b = mul(solid[3], into(solid, t1)), mul(solid[3], into(solid, t2))
    t2 = axpy(-dot(a, b) / dot(a, a), t1, t2)
    return scale(1.0 / norm(a), t1), scale(1.0 / norm(mul(solid[3], into(solid, t2))), t2)


@helper
def towards(frame, psi):
    return unit(axpy(math.sin(psi), frame[1], scale(math.cos(psi), frame[0])))


@helper
def angle_of(solid, frame, m):
    """The ψ of a vector m across u."""
    a = mul(solid[3], into(solid, m))
    return math.atan2(dot(a, mul(solid[3], into(solid, frame[1]))), dot(a, mul(solid[3], into(solid, frame[0]))))


@helper
def foremost(solid, m):
    """From the centre of a smooth solid to its point farthest along m."""
    return out_of(solid, smooth_point(solid[3], solid[4], into(solid, m)))


@helper
def radius_at(solid, u, m):
    """The radius of curvature of the outline where its normal is m."""
    t = into(solid, cross(u, m))
    return bilinear(smooth_bend(solid[3], solid[4], into(solid, m)), t, t)


@helper
def in_zone(solid, d, u, frame, psi):
    """Whether k < f at ψ."""
    m = towards(frame, psi)
    return radius_at(solid, u, m) < dot(m, d) + smooth_reach(solid[3], solid[4], into(solid, m))


@helper
def slope_at(solid, d, u, frame, psi):
    """f' at ψ, but for a positive factor."""
    m = towards(frame, psi)
    return dot(add(d, foremost(solid, m)), cross(u, m))


@helper
def planes_of(solid, frame):
    """The ψ of one of the points where each plane across the axes cuts the outline; nan where that lies along it."""
    a, b = mul(solid[3], into(solid, frame[0])), mul(solid[3], into(solid, frame[1]))
    return plane_of(a[0], b[0]), plane_of(a[1], b[1]), plane_of(a[2], b[2])


@helper
def plane_of(a, b):
    return math.atan2(a, -b) if math.hypot(a, b) > ALONG else math.nan


@helper
def to_plane(planes, psi, way):
    """How far from ψ the next plane cuts the outline, forwards (way = 1) or backwards (-1)."""
    least = math.pi
    for plane in planes:
        ahead = (way * (plane - psi)) % math.pi  # or nan
        if 2.0 * THIN < ahead < least:
            least = ahead
    return least


# ---------------------------------------------------------------------------------------------- all places
@helper
def crowded(share):
    """Of a way with even steps one whose steps are the shorter the nearer they are to its ends."""
    a, b = share * share, (1.0 - share) * (1.0 - share)
    return a / (a + b)


@helper
def end_between(solid, d, u, frame, inner, outer):
    """Where a zone ends between ψ in it and ψ outside."""
    for _ in range(HALVINGS):
        middle = 0.5 * (inner + outer)
        if in_zone(solid, d, u, frame, middle):
            inner = middle
        else:
            outer = middle
    return inner


@helper
def find_places(solid, d, u, places_out):
    """Write the normals, in the frame of the solid, of all places of an outline that are farthest out. Their number."""
    frame, count = frame_across(solid, u), 0
    planes = planes_of(solid, frame)
    first = to_plane(planes, 0.0, 1.0)
    plane, part, width, before = first, 0, to_plane(planes, first, 1.0), first - THIN
    begun, start, within = False, before, in_zone(solid, d, u, frame, before)
    for _ in range(12 * (PARTS + 1)):  # twice around: a zone that has begun before the first plane is met again
        psi = plane + THIN + (width - 2.0 * THIN) * crowded(part / PARTS)
        now = in_zone(solid, d, u, frame, psi)
        if now and not within:
            if psi > first + 2.0 * math.pi:
                break
            begun, start = True, end_between(solid, d, u, frame, psi, before)
        if within and not now and begun:
            m, there = farthest_between(solid, d, u, frame, start, end_between(solid, d, u, frame, before, psi))
            if there and count < len(places_out):
                put(places_out, count, into(solid, m))
                count += 1
            begun = False
        if not now and psi > first + 2.0 * math.pi:
            break
        within, before, part = now, psi, part + 1
        if part > PARTS:
            plane, part = plane + width, 0
            width = to_plane(planes, plane, 1.0)
    return count


@helper
def farthest_between(solid, d, u, frame, start, end):
    """(m, whether there is one) of the place between two ψ of a zone that is farthest out."""
    bracket = (start, end, -slope_at(solid, d, u, frame, start), -slope_at(solid, d, u, frame, end), 0)
    if bracket[2] > 0.0 or bracket[3] < 0.0:
        return towards(frame, start), False
    psi, past = end if bracket[3] == 0.0 else start, math.inf
    for _ in range(ROUNDS):
        if bracket[2] == 0.0 or bracket[3] == 0.0 or abs(psi - past) <= SAME:
            break
        past, psi = psi, crossing(bracket)
        bracket = narrowed(bracket, psi, -slope_at(solid, d, u, frame, psi))
    return polished(solid, d, u, towards(frame, psi)), True


@helper
def polished(solid, d, u, m):
    """The same but for rounding, by Newton's method."""
    for _ in range(POLISHED):
        t, x = cross(u, m), add(d, foremost(solid, m))
        bent = dot(m, x) - radius_at(solid, u, m)
        if bent <= 0.0:  # in a flat place that is none
            break
        change = dot(t, x) / bent
        m = unit(axpy(change, t, m))
        if abs(change) <= SETTLED:
            break
    return m


# ---------------------------------------------------------------------------------------------- one place
@helper
def curves_enough(solid, d, u, frame, psi):
    """Whether ψ is in a zone, but for a flat place that is none."""
    return (in_zone(solid, d, u, frame, psi) or in_zone(solid, d, u, frame, psi - 2.0 * THIN)
            or in_zone(solid, d, u, frame, psi + 2.0 * THIN))


@helper
def climbed(solid, d, u, m):
    """(m, whether there is one) of the place that is reached from m uphill in a zone. Where the zone ends on the way
    there is none: m is then the next place beyond a flat one that is no longer than BRIDGE, or else where that begins,
    so that what goes on over the end of a place feels the same."""
    frame = frame_across(solid, u)
    planes, psi = planes_of(solid, frame), angle_of(solid, frame, m)
    way, step, left = math.copysign(1.0, slope_at(solid, d, u, frame, psi)), FIRST, psi
    inside = curves_enough(solid, d, u, frame, psi)
    for _ in range(CLIMBS):
        ahead = to_plane(planes, psi, way)
        after = psi + way * (ahead + THIN if ahead <= 3.0 * THIN else min(step, ahead - THIN))
        if way * slope_at(solid, d, u, frame, after) <= 0.0:
            m, there = farthest_between(solid, d, u, frame, min(psi, after), max(psi, after))
            return m, there and inside
        if in_zone(solid, d, u, frame, after):
            left, step = after, min(2.0 * step, LONGEST)
        elif abs(after - left) > BRIDGE:
            return towards(frame, left), False
        else:
            step, inside = FIRST, False
        psi = after
    return towards(frame, left), False
