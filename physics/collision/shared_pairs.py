"""Many shapes placed, their pairs found, and those of boxes and of other convex shapes touched, by several threads.

Threads write what they find one behind the other as it comes. `sort_pairs` puts pairs in order, and `fill_contacts`
points in the order of their pairs. So the contacts do not depend on the threads.
"""

import numpy as np

from ..core.atomic import reserve
from ..core.jit import helper, kernel, program
from ..core.team import share_out
from .box_box import box_box
from .broad_phase import stand_in_columns, sweep_column
from .convex import touch_convex
from .geometry import PATCH, bound_shape, place_shape
from .hands import SHARES, hand_of
from .narrow_phase import CONVEX, Found, in_order, put_rows

MANY_SHAPES = 300  # from which on threads share their places and the search for pairs
MANY_PAIRS = 500   # of boxes, from which on threads share them
A_SHARE = 64       # of these
MANY_CONVEX = 64   # pairs of other convex shapes, from which on threads share them
ROWS = 512         # of points, or pairs, that a thread keeps before it writes them
COLUMNS = 16       # shares of the search, where there are so many columns
POINTS, OTHERS = range(2)  # entries of a tally: points of all threads so far; pairs left to another family


# ------------------------------------------------------------------------------------------------------- the places
@kernel
def place_some(i, shares, shapes, x, q, margin, geom_out, reach_out) -> None:
    """Share i of `place_all`."""
    n = len(shapes.body)
    for s in range(i * n // shares, (i + 1) * n // shares):
        reach_out[s] = margin[shapes.body[s]]
        place_shape(shapes, s, x, q, geom_out)
        bound_shape(geom_out, s, reach_out[s])


@program
def place_all(shapes, x, q, margin, geom_out, reach_out) -> None:
    """World pose of every shape of bodies at x (n, 3), q (n, 4), its reach (s,), which is the margin (n,) of its body,
    and its bounds, swollen by that [m]."""
    if len(shapes.body) < MANY_SHAPES:
        place_some(0, 1, shapes, x, q, margin, geom_out, reach_out)
    else:
        share_out(SHARES, place_some, (SHARES, shapes, x, q, margin, geom_out, reach_out))


# ------------------------------------------------------------------------------------------------------- the search
@helper
def write_pairs(buffer, count, tally, found_out):
    """The pairs of a buffer, behind those of all threads so far, tally[0]. What there is no room for is counted."""
    begin = reserve(tally, 0, count)
    for k in range(min(count, len(found_out) - begin)):
        found_out[begin + k, 0], found_out[begin + k, 1] = buffer[k, 0], buffer[k, 1]


@kernel
def sweep_some(i, side, body, roles, sweep, tally) -> None:
    """Share i of `sweep_shared`: first those shapes that are too wide for one column, which takes longest."""
    usual, kept, buffer = side * side, 0, np.empty((ROWS, 2), np.int64)
    begin, end = (usual, usual + 1) if i == 0 else ((i - 1) * usual // COLUMNS, i * usual // COLUMNS)
    for c in range(begin, end):
        count = sweep_column(c, side, body, roles, sweep, buffer, kept)
        if count > len(buffer):
            write_pairs(buffer, kept, tally, sweep.found)
            if count - kept > len(buffer):
                buffer = np.empty((count - kept, 2), np.int64)
            count = sweep_column(c, side, body, roles, sweep, buffer, 0)
        kept = count
    write_pairs(buffer, kept, tally, sweep.found)


@program
def sweep_shared(geom, body, roles, order, first, sweep) -> int:
    """`sweep_shapes` for many shapes; the pairs come in any order."""
    side, tally = stand_in_columns(geom, order, first, sweep), np.zeros(1, np.int64)
    share_out(COLUMNS + 1, sweep_some, (side, body, roles, sweep, tally))
    return tally[0]


# -------------------------------------------------------------------------------------------------------- the boxes
@helper
def write_rows(buffer, count, tally, found_out):
    """The points of a buffer, behind those of all threads so far. What there is no room for is counted."""
    begin = reserve(tally, POINTS, count)
    for k in range(min(count, len(found_out.rows) - begin)):
        found_out.owner[begin + k] = buffer.owner[k]
        for c in range(PATCH):
            found_out.rows[begin + k, c] = buffer.rows[k, c]


@kernel
def touch_some_boxes(i, geom, work, pairs, chosen, count, reach, tally, lists_out, found_out) -> None:
    """Share i of `touch_boxes`."""
    figures, patch, kept = np.empty(work.figures.shape), np.empty(work.patch.shape), 0
    buffer = Found(np.empty((ROWS, PATCH)), np.empty(ROWS, np.int32))
    for c in range(A_SHARE * i, min(A_SHARE * (i + 1), count)):
        p = chosen[c]
        a, b = pairs[p, 0], pairs[p, 1]
        points = box_box(geom, a, b, reach[a] + reach[b], figures[:2], figures[2:], patch)
        if points < 0:
            lists_out[CONVEX, reserve(tally, OTHERS, 1)] = p
            continue
        if kept + points > ROWS:
            write_rows(buffer, kept, tally, found_out)
            kept = 0
        kept = put_rows(patch, points, False, p, kept, buffer)
    write_rows(buffer, kept, tally, found_out)


@program
def touch_boxes(geom, work, pairs, chosen, count, reach, total, lists_out, counts_out, found_out) -> int:
    """`touch_box_pairs` for many pairs."""
    tally = np.zeros(2, np.int64)
    tally[POINTS], tally[OTHERS] = total, counts_out[CONVEX]
    share_out((count + A_SHARE - 1) // A_SHARE, touch_some_boxes,
              (geom, work, pairs, chosen, count, reach, tally, lists_out, found_out))
    for c in range(counts_out[CONVEX] + 1, tally[OTHERS]):  # a few, whose order depends on the threads
        p, k = lists_out[CONVEX, c], c
        while k > counts_out[CONVEX] and lists_out[CONVEX, k - 1] > p:
            lists_out[CONVEX, k] = lists_out[CONVEX, k - 1]
            k -= 1
        lists_out[CONVEX, k] = p
    counts_out[CONVEX] = tally[OTHERS]
    return tally[POINTS]


# --------------------------------------------------------------------------------------------- other convex shapes
@kernel
def touch_some_convex(i, near, shares, tally) -> None:
    """Share i of `touch_convex_pairs`."""
    geom, work, reach, count, kept = near.geometry, hand_of(near.hands, i).work, near.reach, near.counts[CONVEX], 0
    buffer = Found(np.empty((ROWS, PATCH)), np.empty(ROWS, np.int32))
    work.cone[7, 0] = 0.0
    for c in range(i * count // shares, (i + 1) * count // shares):
        p = near.lists[CONVEX, c]
        a, b, flip = in_order(geom.kind, near.pairs, p)
        points = touch_convex(geom, near.solids, work, a, b, reach[a] + reach[b], 0, near.note[p])
        if kept + points > ROWS:
            write_rows(buffer, kept, tally, near.found)
            kept = 0
        kept = put_rows(work.patch, points, flip, p, kept, buffer)
    write_rows(buffer, kept, tally, near.found)


@program
def touch_convex_pairs(near, total) -> int:
    """Points of the pairs of the family CONVEX, any two convex shapes; returns the number of rows so far, which may
    exceed the room."""
    tally, shares = np.full(1, total), SHARES if near.counts[CONVEX] >= MANY_CONVEX else 1
    share_out(shares, touch_some_convex, (near, shares, tally))
    return tally[0]
