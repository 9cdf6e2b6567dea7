"""Tori against everything. A torus is the circle in its middle, over which a ball is swept: it touches another shape
where the circle comes nearest to it, which may be in several places, and lies on it with points all around.

The places are the least heights of the circle over the other shape: samples say where they are, and the root of the
slope n·t, n the normal under the circle and t its tangent, says it exactly.
"""

import math

from ..core.false_position import ROUNDS, SAME, crossing, narrowed
from ..core.jit import helper, kernel, program
from ..core.vec import add, dot, scale
from .geometry import MESH, TRIANGLE, axis, extent, origin, swell
from .heights import FAR, height_over, over_triangle
from .manifold import reduce_groups
from .narrow_phase import NO_ROOM, RINGS, in_order, put_rows
from .polytope import allowed, load_faces, load_points, spot
from .round import put_foot
from .triangles import find_triangles, load_triangle

SAMPLES = 32    # points of the circle among which the nearest are looked for
LYING = 4       # of so many one stands for the ring where it lies on something
LEVEL = 0.1     # differences in height, relative to the circle's radius, up to which a ring lies on something
EVEN = 1e-7     # the same below which it is as near everywhere, but for rounding
UPRIGHT = 1.0 - 1e-12  # cosine to the normal of a triangle of a point over its inside
NEARER = 1e-6   # relative to the size: two points of a mesh that are nearer to each other are one
NAMES = 64      # from which number on the features are the points on which a ring lies


@helper
def on_circle(geom, a, angle):
    """The point of the circle of torus a at an angle [rad], and the tangent there."""
    x, y, size = axis(geom, a, 0), axis(geom, a, 1), extent(geom, a)[1]
    cosine, sine = math.cos(angle), math.sin(angle)
    p = add(origin(geom, a), add(scale(size * cosine, x), scale(size * sine, y)))
    return p, add(scale(-sine, x), scale(cosine, y))


@helper
def slope_at(geom, solids, work, a, b, angle):
    """How the height over shape b grows along the circle of torus a."""
    p, t = on_circle(geom, a, angle)
    return dot(height_over(geom, solids, work, b, p)[1], t)


@helper
def lowest_angle(geom, solids, work, a, b, lo, hi):
    """Where between lo and hi the circle is lowest over shape b, a root of the slope; their middle where the slope does
    not change from - to +."""
    at_lo, at_hi = slope_at(geom, solids, work, a, b, lo), slope_at(geom, solids, work, a, b, hi)
    if not at_lo < 0.0 < at_hi:
        return 0.5 * (lo + hi)
    x, bracket = hi, (lo, hi, at_lo, at_hi, 0)
    for _ in range(ROUNDS):
        before, x = x, crossing(bracket)
        now = slope_at(geom, solids, work, a, b, x)
        if now == 0.0 or abs(x - before) <= SAME:
            break
        bracket = narrowed(bracket, x, now)
    return x


@helper
def ring_gap(geom, solids, work, a, b):
    """(gap, normal a -> b) of torus a and a shape b, or the triangle in hand, where the circle is lowest over it.
    Corners and normals of a polyhedron or triangle are in work.core[1]."""
    step, best, least = 2.0 * math.pi / SAMPLES, 0, math.inf
    for i in range(SAMPLES):
        height = height_over(geom, solids, work, b, on_circle(geom, a, i * step)[0])[0]
        if height < least:
            best, least = i, height
    angle = lowest_angle(geom, solids, work, a, b, (best - 1) * step, (best + 1) * step)
    height, n = height_over(geom, solids, work, b, on_circle(geom, a, angle)[0])
    return height - swell(geom, a), scale(-1.0, n)


@helper
def put_ball(geom, solids, work, a, b, angle, margin, feature, k):
    """The contact of the ball of torus a at an angle with shape b, as row k."""
    p = on_circle(geom, a, angle)[0]
    height, n = height_over(geom, solids, work, b, p)
    if height >= FAR or (geom.kind[b] == TRIANGLE and not allowed(work.cone, scale(-1.0, n))):
        return k
    return put_foot(work.patch, k, margin, p, swell(geom, a), n, height, feature)


@helper
def level_over(geom, work, a, b, spread):
    """The difference in height of the circle of torus a over shape b, which is `spread` by its samples; over the
    triangle in hand, of which most samples may be beside it, that over its plane."""
    if geom.kind[b] != TRIANGLE:
        return spread
    upright = dot(axis(geom, a, 2), spot(work.cone, 0))
    return 2.0 * extent(geom, a)[1] * math.sqrt(max(1.0 - upright * upright, 0.0))


@helper
def stands_over(geom, work, b, p):
    """Whether a point is over the inside of the triangle in hand; of another shape b it always is."""
    return geom.kind[b] != TRIANGLE or dot(over_triangle(work.core[1], p)[1], spot(work.cone, 0)) > UPRIGHT


@helper
def touch_circle(geom, solids, work, a, b, margin, first):
    """Contacts of torus a with shape b, in rows of the patch from `first` on; returns the row after the last. Corners
    and normals of a polyhedron or triangle are in work.core[1]."""
    step, size, k, places = 2.0 * math.pi / SAMPLES, extent(geom, a)[1], first, 0
    low, high = math.inf, -math.inf
    for i in range(SAMPLES):
        height = height_over(geom, solids, work, b, on_circle(geom, a, i * step)[0])[0]
        low, high = min(low, height), max(high, height)
    if low - swell(geom, a) > margin + step * size:
        return first
    level = level_over(geom, work, a, b, high - low)
    before = height_over(geom, solids, work, b, on_circle(geom, a, -step)[0])[0]
    here = height_over(geom, solids, work, b, on_circle(geom, a, 0.0)[0])[0]
    for i in range(SAMPLES):
        after = height_over(geom, solids, work, b, on_circle(geom, a, (i + 1) * step)[0])[0]
        if here <= before and here < after and high - low > EVEN * size:
            angle = lowest_angle(geom, solids, work, a, b, (i - 1) * step, (i + 1) * step)
            k = put_ball(geom, solids, work, a, b, angle, margin, places, k)
            places += 1
        if i % LYING == 0 and level <= LEVEL * size and stands_over(geom, work, b, on_circle(geom, a, i * step)[0]):
            k = put_ball(geom, solids, work, a, b, i * step, margin, NAMES + i, k)
        before, here = here, after
    return k


@kernel
def touch_ring(geom, solids, work, sheets, a, b, found, count, margin) -> int:
    """Contacts of torus a with shape b, of a mesh with its triangles found[: count, 1], in rows of the patch; returns
    their number."""
    if geom.kind[b] != MESH:
        load_points(geom, solids, b, work.core[1])
        load_faces(geom, solids, b, work.core[1])
        return reduce_groups(geom, a, b, work.patch, touch_circle(geom, solids, work, a, b, margin, 0),
                             NEARER * geom.bound[a])
    k, triangle = 0, geom.x.shape[0] - 1
    for i in range(count):
        load_triangle(geom, b, sheets[found[i, 1]], work.core[1], work.cone)
        start, k = k, touch_circle(geom, solids, work, a, triangle, margin, k)
        for j in range(start, k):
            work.patch[j, 8] = found[i, 1] + 1
        if i + 1 == count or k > work.patch.shape[0] // 2:
            k = reduce_groups(geom, a, b, work.patch, k, NEARER * geom.bound[a])
    return k


@program
def touch_ring_pairs(model, near, total) -> int:
    """Points of the pairs of the family RINGS; returns the number of rows so far, which may exceed the room, or NO_ROOM
    where there are more triangles than near.chosen can hold, with how many in near.needed."""
    geom, pairs, found = near.geometry, near.pairs, near.chosen
    for i in range(near.counts[RINGS]):
        p, count = near.lists[RINGS, i], 0
        a, b, flip = in_order(geom.kind, pairs, p)
        if geom.kind[b] == MESH:
            count = find_triangles(geom, model.meshes, pairs, near.lists[RINGS][i : i + 1], 1, near.reach, near.rank,
                                   near.sheets, near.stack, found)
            if count > len(found):
                near.needed[0], near.needed[1] = total, count
                return NO_ROOM
        margin = near.reach[a] + near.reach[b]
        points = touch_ring(geom, near.solids, near.work, near.sheets, a, b, found, count, margin)
        total = put_rows(near.work.patch, points, flip, p, total, near.found)
    return total
