"""Distances of ellipsoids and superellipsoids from a bowl or pipe that they are flatter than somewhere. As in `gaps`,
the function of a pair returns the points on both elements, the normal from e to f, gap, margin, facing, and how both
curve.

Such a solid touches the wall in one or more of the places that are farthest out: in a pipe on its outline (`outlines`),
in a bowl anywhere (`spots`). What is round about its axis has such places in a bowl on its outline in the half plane
from this axis away from the middle; or as far out all around: then CORNERS half planes stand for them all.

Which of these places an element is, no formula of the pose says, for places begin, end and join as the solid turns. So
`seat` looks at the whole solid where pairs are looked for, and gives each place a seat: an element that keeps it as
long as it is there. From there on the element climbs to its place from where it was; a place that ends is seen, as the
solid is flat on the way up from it. A place that begins lies lower than another one beside it, so it touches nothing
at once. Still it may come to touch before pairs are looked for again: so places that will be there at the end of a
piece are given seats before it. From step to step only those keep their seats that touch: the rest is found anew.
"""

import math

import numpy as np

from ...core.jit import helper
from ...core.vec import add, axpy, cross, dot, norm, put, row, scale, sub, tangents, unit
from ...shapes.elements import CORNERS, PIPE, SPOT, SPOT_ROUND, SPOT_STAND
from ...shapes.superellipsoid import into, out_of
from .frames import side_margin, world_axis, world_point
from .outlines import climbed, find_places, foremost
from .rims import FLAT, TIPPED
from .smooth import SETTLED, smooth_end, smooth_solid
from .spots import ONE, climbed_out, find_spots

PLACES = 24       # of one solid that are told apart
CLOSE = 1e-3      # to a place that will be there, within which a seat need not be another one, relative to the solid
AT_END = 1e-3     # from the axis within which a round solid touches with the end of this axis, relative to its size
SITS, NOWHERE = -1, -2  # of a seat: it has a place of its own, or none here; else the seat that has the same place


@helper
def seen(surface, bodies, e, f):
    """(kind of e, solid, d, u): d the way from the middle or axis of the wall f to the centre of e, u what the normals
    of its places are across: the axis of a pipe, of what is round the normal of its half plane, else 0."""
    kind, solid = int(surface.kind[e]), smooth_solid(surface, bodies, e)
    d, u = sub(world_point(surface, bodies, e), world_point(surface, bodies, f)), (0.0, 0.0, 0.0)
    if surface.kind[f] == PIPE:
        u = world_axis(surface, bodies, f)
    elif kind == SPOT_STAND:
        u = solid[1]
    elif kind == SPOT_ROUND:
        out = off_axis(solid, d)
        u = cross(solid[2], unit(out) if norm(out) > SETTLED * norm(solid[3]) else solid[0])
    return kind, solid, d, u


@helper
def off_axis(solid, x):
    """The part of a vector across a solid's axis z."""
    return axpy(-dot(solid[2], x), solid[2], x)


@helper
def normal_of(view, n):
    """The normal that a seat has kept, in the world; what is round keeps its parts out and along its axis."""
    kind, solid, _, u = view
    if kind in (SPOT_ROUND, SPOT_STAND):
        return axpy(n[0], cross(u, solid[2]), scale(n[2], solid[2]))
    m = out_of(solid, n)
    return unit(axpy(-dot(u, m), u, m))


@helper
def kept_as(view, m):
    """The other way round."""
    kind, solid, _, u = view
    if kind in (SPOT_ROUND, SPOT_STAND):
        return dot(m, cross(u, solid[2])), 0.0, dot(m, solid[2])
    return into(solid, m)


@helper
def place_from(view, n):
    """(m, whether there is one) of the place that is reached from the normal of a seat."""
    kind, solid, d, u = view
    if kind == SPOT:
        return climbed_out(solid, d, normal_of(view, n))
    return climbed(solid, d, u, normal_of(view, n))


@helper
def find_all(view, places_out):
    """Write the normals of all places, as a seat keeps them. Their number."""
    kind, solid, d, u = view
    if kind == SPOT:
        return find_spots(solid, d, places_out)
    found, count = find_places(solid, d, u, places_out), 0
    for k in range(found):
        m = out_of(solid, row(places_out, k))
        if kind == SPOT_ROUND and not away(view, foremost(solid, m)):
            continue
        put(places_out, count, kept_as(view, m))
        count += 1
    return count


@helper
def away(view, x):
    """Whether the point x from the centre of what is round is in its half plane, or at the end of its axis."""
    _, solid, _, u = view
    return dot(x, cross(u, solid[2])) >= -AT_END * solid[3][0]


@helper
def between(view, m, n):
    """The distance of the places with these normals."""
    return norm(sub(foremost(view[1], m), foremost(view[1], n)))


# ------------------------------------------------------------------------------------------------- gaps
@helper
def seat_wall(surface, bodies, e, f):
    """φ = R - m·(x - o)"""
    o, size, n = world_point(surface, bodies, f), surface.radius[f], row(surface.seat, e)
    view = seen(surface, bodies, e, f)
    kind, solid, d, u = view
    m, there, gap, margin = solid[2] if kind == SPOT else tangents(u)[0], False, math.inf, -FLAT
    if dot(n, n) > 0.0:
        m, there = place_from(view, n)
        if there and surface.sits[e] >= 0:
            other, _ = place_from(view, row(surface.seat, int(surface.sits[e])))
            there = between(view, m, other) > ONE * norm(solid[3])
    x, curve, w = smooth_end(solid, d, m)
    if dot(n, n) > 0.0:
        gap = size - dot(m, x)
    if surface.kind[f] == PIPE:
        level = dot(u, x)
        q = axpy(size, m, axpy(level, u, o))
        if there:
            margin = min(side_margin(surface, bodies, f, q), surface.length[f] - abs(level))
        return add(o, x), q, m, gap, margin, 1.0, w, curve, u, (0.0, 1.0, 1.0, -size)
    q = axpy(size, m, o)
    if there:
        margin = side_margin(surface, bodies, f, q)
        if kind != SPOT:
            margin = min(margin, round_margin(view, m, sub(x, d)))
    if kind == SPOT_STAND:
        curve, w = stand_curve(solid, m, curve, w)
    return add(o, x), q, m, gap, margin, 1.0, w, curve, w, (1.0, -size, 1.0, -size)


@helper
def round_margin(view, m, x):
    """How far inside its region as to its tilt a place of what is round is in a bowl [m], x from its centre: where it
    is as far out all around, with half planes that stand for all, else with that away from the middle. Near the end of
    its axis it touches with that end."""
    kind, solid, d, _ = view
    if not away(view, x):
        return -FLAT
    beside = norm(off_axis(solid, x)) - AT_END * solid[3][0]
    spread = 2.0 * norm(off_axis(solid, d)) * norm(off_axis(solid, m))
    if kind == SPOT_STAND:
        return min(TIPPED - spread, beside)
    return max(spread - FLAT, -beside)


@helper
def stand_curve(solid, m, curve, u):
    """How a half plane of a round solid curves: along the circle about its axis it is sharp, as a point fixed on it."""
    around = solid[1]
    t, v = cross(around, m), cross(m, u)
    radius = curve[1] / curve[0] * dot(t, u) ** 2 + curve[3] / curve[2] * dot(t, v) ** 2
    return (1.0, 0.0, 1.0 / max(radius, 1.0), min(radius, 1.0)), around


# ------------------------------------------------------------------------------------------------- seats
@helper
def seats_of(surface, s, wall):
    """(first, last) of the elements of shape s that are seats in a wall, a shape."""
    first, last = int(surface.start[s]), int(surface.start[s + 1])
    while first < last and surface.wall[first] != wall:
        first += 1
    end = first
    while end < last and surface.wall[end] == wall:
        end += 1
    return first, end


@helper
def seat(surface, bodies, s, wall):
    """Give the places of shape s in a wall, the shape of a bowl or pipe, their seats: those that have one keep it."""
    first, last = seats_of(surface, s, wall)
    if first == last:
        return
    view, places = seen(surface, bodies, first, int(surface.start[wall])), np.empty((PLACES, 3))
    holder = np.full(PLACES, -1)  # the seat of each place
    count = find_all(view, places)
    for e in range(first, last):
        n = row(surface.seat, e)
        if surface.kind[e] == SPOT_STAND or dot(n, n) == 0.0:
            continue
        m, there = place_from(view, n)
        k = nearest_place(view, places, count, m) if there else -1
        if there and k < 0 and count < PLACES:  # two that are about to join may have been taken for one
            k, count = count, count + 1
            put(places, k, kept_as(view, m))
        if k < 0:
            sit(surface, e, NOWHERE)
        elif holder[k] >= 0:
            sit(surface, e, int(holder[k]))
        else:
            holder[k] = e
            take(surface, e, row(places, k))
    for k in range(count):
        if holder[k] < 0:
            take(surface, free_seat(surface, first, last), row(places, k))


@helper
def seat_ahead(surface, bodies, s, wall):
    """Give the places where the bodies will be seats, too, but for those that are close to one as it is."""
    first, last = seats_of(surface, s, wall)
    if first == last:
        return
    view, places = seen(surface, bodies, first, int(surface.start[wall])), np.empty((PLACES, 3))
    count = find_all(view, places)
    for e in range(first, last):
        n = row(surface.seat, e)
        if dot(n, n) == 0.0:
            continue
        for k in range(count):
            m = row(places, k)
            if dot(m, m) > 0.0 and between(view, normal_of(view, n), normal_of(view, m)) < CLOSE * norm(view[1][3]):
                put(places, k, (0.0, 0.0, 0.0))
    for k in range(count):
        if dot(row(places, k), row(places, k)) > 0.0:
            take(surface, free_seat(surface, first, last), row(places, k))


@helper
def nearest_place(view, places, count, m):
    """The place with the normal m, -1 = none."""
    best, least = -1, ONE * norm(view[1][3])
    for k in range(count):
        far = between(view, normal_of(view, row(places, k)), m)
        if far <= least:
            best, least = k, far
    return best


@helper
def free_seat(surface, first, last):
    """One that was never taken, else the last that has no place of its own; -1 = none."""
    best = -1
    for e in range(first, last):
        if surface.kind[e] != SPOT_STAND:
            if dot(row(surface.seat, e), row(surface.seat, e)) == 0.0:
                return e
            best = e if surface.sits[e] != SITS else best
    return best


@helper
def half_planes(surface, e):
    """How many elements have the seat e: what is round has CORNERS more, the next ones."""
    return 1 + CORNERS if surface.kind[e] == SPOT_ROUND else 1


@helper
def take(surface, e, n):
    """Give the place with the normal n, as a seat keeps it, the seat e, where there is one."""
    if e >= 0:
        for k in range(half_planes(surface, e)):
            put(surface.seat, e + k, n)
        sit(surface, e, SITS)


@helper
def sit(surface, e, where):
    """Note whether the seat e has a place, or which other seat has the same."""
    for k in range(half_planes(surface, e)):
        surface.sits[e + k] = where if where < 0 else where + k


@helper
def seat_at(surface, bodies, e, f, p):
    """Give seat e the place at the point p of the world, whose normal leads there from the middle or axis of f."""
    view, out = seen(surface, bodies, e, f), sub(p, world_point(surface, bodies, f))
    n = kept_as(view, unit(axpy(-dot(view[3], out), view[3], out)))
    while surface.kind[e] == SPOT_STAND:
        e -= 1
    take(surface, e, n)


@helper
def forget_seats(surface):
    """Leave no place its seat."""
    for e in range(len(surface.kind)):
        if surface.wall[e] >= 0:
            put(surface.seat, e, (0.0, 0.0, 0.0))


@helper
def has_seats(surface):
    """Whether there are any; they are the last elements of their shapes."""
    for s in range(len(surface.start) - 1):
        if surface.start[s + 1] > surface.start[s] and surface.wall[surface.start[s + 1] - 1] >= 0:
            return True
    return False


@helper
def seat_all(surface, bodies, reach, ahead):
    """Give all places their seats, as these bodies are or will be; reach (b,) as in `near.find_near`."""
    for block in range(len(surface.meets)):
        for side in range(2):
            s, wall = int(surface.meets[block, side]), int(surface.meets[block, 1 - side])
            last = int(surface.start[s + 1]) - 1
            if reach[block] < 0.0 or last < int(surface.start[s]) or surface.wall[last] < 0:
                continue
            if ahead:
                seat_ahead(surface, bodies, s, wall)
            else:
                seat(surface, bodies, s, wall)
