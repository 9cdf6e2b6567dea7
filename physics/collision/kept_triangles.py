"""Convex shapes against the triangles of meshes, and which triangles are kept from one call to the next.

A shape's triangles are looked for within its reach and a skin. As long as shape and mesh have not travelled through the
skin no others can be within reach than those found then [Verlet 1967]. Each is kept with a lower bound of its distance,
less what the two had travelled until then: it is not looked at again as long as what they have travelled since does not
use that up. Nothing that is left out would have changed anything: the contacts are the same, bit for bit, whatever is
kept.

What is kept is found first, pair by pair; then threads share the pairs.
"""

from typing import NamedTuple

import numpy as np

from ..core.atomic import reserve
from ..core.jit import helper, kernel, program
from ..core.model import Array
from ..core.state import LongArray
from ..core.team import share_out
from ..core.vec import mat_t_vec, put, row, scale, sub
from .box_triangle import box_to_triangle, may_lean
from .convex import UNKNOWN, touch_nearest, touch_triangle
from .geometry import BOX, origin, swell, to_local
from .gjk import OVERLAP
from .hands import SHARES, hand_of
from .known_features import CLEAR
from .manifold import ON_EDGE, reduce_groups
from .narrow_phase import NO_ROOM, TRIANGLES, in_order, put_rows
from .over_triangle import NO_ANSWER, touch_point
from .polytope import POINTS, load_faces, load_points, points_into
from .triangles import box_in, far_from, least_distance, load_triangle, local_bounds, next_near, placed

SKIN = 0.1      # relative to the size of the shape
NEARER = 1e-6   # relative to the size: two points of a mesh that are nearer to each other are one
MANY = 8        # pairs from which on threads share them


class KeptTriangles(NamedTuple):
    """What is kept."""

    pair: LongArray  #: (p, 4) by row of notes, see `Kept`: shape, mesh, first row of their triangles, their number
    within: Array    #: (p, 2) within what distance of the shape's core they were looked for, and what shape and mesh
    #:                  had travelled then [m]
    triangle: LongArray  #: (q,) in the order of the leaves
    least: Array     #: (q,) a lower bound of the distance of the core, and what the two had travelled then [m]
    end: LongArray   #: (1,) rows in use


def new_kept_triangles(pairs: int, triangles: int) -> KeptTriangles:
    """Nothing kept yet, and room for so many."""
    return KeptTriangles(np.full((pairs, 4), -1), np.zeros((pairs, 2)), np.zeros(triangles, np.int64),
                         np.zeros(triangles), np.zeros(1, np.int64))


@helper
def travelled(geom, a, m):
    """What a shape and a mesh have travelled so far [m]."""
    return geom.travel[a] + geom.travel[m]


@helper
def clear_of(geom, a, m, margin):
    """The distance of the core of shape a [m] above which a triangle of mesh m is out of reach however the distance is
    computed, see `touch_triangle` and `box_to_triangle`."""
    return far_from(geom, a, margin) + 2.0 * CLEAR * (geom.core[a] + 2.0 * geom.bound[m])


@helper
def gather(geom, meshes, near, a, m, margin, skin, at):
    """Keep the triangles within a margin and a skin as row `at`, as far as there is room; returns how many they are."""
    kept, child, order, count = near.close, meshes.child, meshes.leaf_order, 0
    low, high = local_bounds(geom, a, m, margin + skin)
    box, far, moved, start = box_in(geom, a, m), clear_of(geom, a, m, margin + skin), travelled(geom, a, m), kept.end[0]
    near.stack[0] = meshes.node_start[geom.data[m]]
    k, depth = next_near(box, meshes, near.stack, 1, low, high, far)
    while k >= 0:
        first = -child[k, 0] - 1
        for leaf in range(first, first + child[k, 1]):
            corners, n = placed(box, near.sheets[order[leaf]])
            least = least_distance(box[0], corners, n)
            if least <= far:
                if start + count < len(kept.triangle):
                    kept.triangle[start + count], kept.least[start + count] = order[leaf], least + moved
                count += 1
        k, depth = next_near(box, meshes, near.stack, depth, low, high, far)
    kept.pair[at, 0], kept.pair[at, 1], kept.pair[at, 2], kept.pair[at, 3] = a, m, start, count
    kept.within[at, 0], kept.within[at, 1] = far, moved
    return count


@helper
def still_near(geom, kept, a, m, margin, skin, at):
    """Whether row `at` has all triangles within a margin of shape a, and not many more."""
    if kept.pair[at, 0] != a or kept.pair[at, 1] != m:
        return False
    held = kept.within[at, 0] - (travelled(geom, a, m) - kept.within[at, 1])
    return held >= clear_of(geom, a, m, margin) and kept.within[at, 0] <= clear_of(geom, a, m, margin + 2.0 * skin)


@helper
def touch_kept(geom, near, work, a, m, margin, at):
    """Contacts of convex shape a with the triangles of mesh m in row `at`, in rows of work.patch; returns their number.
    """
    kept, solids, sheets = near.close, near.solids, near.sheets
    patch, face, last, loaded, limit = work.patch, UNKNOWN, 0, False, clear_of(geom, a, m, margin)
    box, moved, first, c = box_in(geom, a, m), travelled(geom, a, m), kept.pair[at, 2], (0.0, 0.0, 0.0)
    size, is_box = geom.core[a] + 2.0 * geom.bound[m], geom.kind[a] == BOX
    for k in range(first, first + kept.pair[at, 3]):
        if kept.least[k] - moved > limit:
            continue
        t, start = kept.triangle[k], last
        corners, n = placed(box, sheets[t])
        distance, p, q = least_distance(box[0], corners, n), corners[0], corners[0]
        touches, own = distance <= limit, False
        if touches and is_box:
            distance, p, q = box_to_triangle(box[0], corners, n)
            way = sub(q, p)
            own = distance > 0.0 and points_into(sheets[t], 3, mat_t_vec(box[1], scale(1.0 / distance, way)))
            touches = distance <= limit and (own or distance <= OVERLAP * size or may_lean(
                box, sheets[t], corners, n, way, limit, 4.0 * ON_EDGE * size))
        if touches:
            if not loaded:
                load_points(geom, solids, a, work.core[0])
                load_faces(geom, solids, a, work.core[0])
                c, loaded = to_local(geom, m, sub(row(work.core[0], 0), origin(geom, m))), True
            last = NO_ANSWER
            if solids.info[a, POINTS] == 1:
                last, distance = touch_point(geom, m, sheets[t], c, swell(geom, a), margin, patch, start)
            if last == NO_ANSWER:
                load_triangle(geom, m, sheets[t], work.core[1], work.cone)
                if is_box:
                    last = touch_nearest(geom, solids, work, a, p, q, own, margin, start)
                else:
                    last, face, distance = touch_triangle(geom, solids, work, a, face, margin, start)
            for r in range(start, last):
                patch[r, 8] = t + 1
            if last > patch.shape[0] // 2:
                last = reduce_groups(geom, a, m, patch, last, NEARER * geom.bound[a])
        kept.least[k] = distance + moved
    return reduce_groups(geom, a, m, patch, last, NEARER * geom.bound[a])


@helper
def keep_near_triangles(model, near) -> bool:
    """Have all triangles kept that the pairs of the family TRIANGLES may touch. Returns whether there is room for them;
    how many they are stands in near.needed where there is none."""
    geom, kept, count, needed, again, i = near.geometry, near.close, near.counts[TRIANGLES], 0, False, 0
    while i < count:
        p = near.lists[TRIANGLES, i]
        a, m, _ = in_order(geom.kind, near.pairs, p)
        margin, at, skin = near.reach[a] + near.reach[m], near.note[p], SKIN * (geom.core[a] + geom.swell[a])
        i += 1
        if not still_near(geom, kept, a, m, margin, skin, at):
            found = gather(geom, model.meshes, near, a, m, margin, skin, at)
            needed += found
            if kept.end[0] + found <= len(kept.triangle):
                kept.end[0] += found
                continue
            kept.pair[at, 0] = -1
            if not again:  # all of this call are counted, for which nothing is kept
                kept.pair[:, 0], kept.end[0] = -1, 0
                i, needed, again = 0, 0, True
    near.needed[3] = needed if again and needed > len(kept.triangle) else 0
    return near.needed[3] == 0


@kernel
def touch_some_pairs(i, near, shares, tally) -> None:
    """Share i of `touch_triangle_pairs`."""
    hand, count = hand_of(near.hands, i), near.counts[TRIANGLES]
    geom, work = hand.geometry, hand.work
    for s in range(geom.x.shape[0] if i > 0 else 0):
        put(geom.x, s, row(near.geometry.x, s))
    for c in range(i * count // shares, (i + 1) * count // shares):
        p = near.lists[TRIANGLES, c]
        a, m, flip = in_order(geom.kind, near.pairs, p)
        points = touch_kept(geom, near, work, a, m, near.reach[a] + near.reach[m], near.note[p])
        put_rows(work.patch, points, flip, p, reserve(tally, 0, points), near.found)


@program
def touch_triangle_pairs(model, near, total) -> int:
    """Points of the pairs of the family TRIANGLES; returns the number of rows so far, which may exceed the room, or
    NO_ROOM where there are more triangles than can be kept, with how many in near.needed. A pair's triangles are
    reduced together."""
    if not keep_near_triangles(model, near):
        near.needed[0] = total
        return NO_ROOM
    tally, shares = np.full(1, total), SHARES if near.counts[TRIANGLES] >= MANY else 1
    share_out(shares, touch_some_pairs, (near, shares, tally))
    return tally[0]
