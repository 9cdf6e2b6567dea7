"""Which pairs of shapes can touch at all: sweep and prune along the axis on which the shapes are spread the most.

The shapes are sorted by the lower end of their bounds; each then meets only those that begin before it ends
[Cohen et al. 1995, I-COLLIDE]. Many shapes stand in columns along that axis, as wide as they are: each then meets only
those of its own column and of the next ones. A shape as large as the scene costs one test per other shape and spoils
nothing else. Planes have no bounds and are tested against everything that moves. The pairs come out sorted, whatever
the axis and the columns were.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray, Model
from ..core.state import LongArray
from ..core.vec import dot, put_all, row, sub
from .geometry import PLANE, axis, origin

USUAL = 4.0          # times the geometric mean of all widths: shapes not wider stand in columns
WIDER = 1.001        # columns are wider than shapes by more than rounding errors
MANY = 200           # shapes; fewer stand in one column
SHAPES_A_COLUMN = 8  # at least, on average
#: roles of bodies: a pair counts where one body may push and one may be pushed. What forces move does either
PUSHED, PUSHES, EITHER = 1, 2, 3
FEW = 40             # shapes up to which they are sorted by insertion; numpy's sort takes a second to compile


class Sweep(NamedTuple):
    """Scratch of the broad phase."""

    bounds: Array    #: (s, 6) lower and upper ends [m]: sweep axis first, column by column sorted by the first number
    shape: IntArray  #: (s,) the shape of each row of `bounds`
    found: LongArray  #: (p, 2) pairs in the order they were found
    pairs: LongArray  #: (p, 2) pairs sorted by first, then second shape
    start: IntArray  #: (s + 3,) ends of the columns; scratch of the sort
    order: LongArray  #: (s,) shapes in the order of their lower ends along the sweep axis


def new_sweep(shapes: int, pairs: int) -> Sweep:
    """Scratch for so many shapes and pairs."""
    found, sorted_pairs = np.zeros((2, pairs, 2), np.int64)
    return Sweep(np.zeros((shapes, 6)), np.zeros(shapes, np.int32), found, sorted_pairs,
                 np.zeros(shapes + 3, np.int32), np.zeros(shapes, np.int64))


@helper
def meets_plane(geom, plane, s):
    """Whether the bounds of shape s reach into the half-space below the plane, both swollen by their margins."""
    n = axis(geom, plane, 2)
    lo, hi = row(geom.lo, s), row(geom.hi, s)
    lowest = (lo[0] if n[0] > 0.0 else hi[0], lo[1] if n[1] > 0.0 else hi[1], lo[2] if n[2] > 0.0 else hi[2])
    # the bounds of a plane, which has no extent, are its margin about its origin
    return dot(n, sub(lowest, origin(geom, plane))) <= geom.hi[plane, 0] - geom.x[plane, 0]


@kernel
def list_pairs_of(geom, contacts, asked, pairs_out, place_out):
    """Fill pairs_out with the pairs of shapes of the contacts asked for (c,) whose bounds overlap, of a plane and
    another one that reach it, and place_out (c,) with the row of each contact's pair, -1 = none; returns their number.
    """
    count, known, last_a, last_b = 0, -1, -1, -1
    for k in range(len(asked)):
        place_out[k] = -1
        if not asked[k]:
            continue
        a, b = contacts.shape_a[k], contacts.shape_b[k]
        if a != last_a or b != last_b:
            last_a, last_b, meet = a, b, True
            if geom.kind[a] == PLANE or geom.kind[b] == PLANE:
                meet = meets_plane(geom, a, b) if geom.kind[a] == PLANE else meets_plane(geom, b, a)
            else:
                for i in range(3):
                    meet = meet and geom.lo[a, i] <= geom.hi[b, i] and geom.lo[b, i] <= geom.hi[a, i]
            known = count if meet else -1
            if meet:
                pairs_out[count, 0], pairs_out[count, 1] = a, b
                count += 1
        place_out[k] = known
    return count


@kernel
def insert_in_order(lo, first, order_out):
    """Few shapes in the order of their lower ends (n, 3) along an axis; those that begin together stay in order."""
    for s in range(lo.shape[0]):
        k = s
        while k > 0 and lo[order_out[k - 1], first] > lo[s, first]:
            order_out[k] = order_out[k - 1]
            k -= 1
        order_out[k] = s


@kernel
def merge_in_order(lo, first, order_out) -> None:
    """`insert_in_order` for many shapes."""
    put_all(order_out, np.argsort(lo[:, first], kind="mergesort"))


@kernel
def widest_axis(lo, hi):
    """The axis along which the centres have the largest variance."""
    best, widest = -1.0, 0
    for i in range(3):
        total, square = 0.0, 0.0
        for s in range(lo.shape[0]):
            c = lo[s, i] + hi[s, i]
            total += c
            square += c * c
        spread = square - total * total / max(lo.shape[0], 1)
        if spread > best:
            best, widest = spread, i
    return widest


@helper
def width_of(geom, s, first):
    """The larger width of the bounds of shape s across the axis `first`."""
    i, j = (first + 1) % 3, (first + 2) % 3
    return max(geom.hi[s, i] - geom.lo[s, i], geom.hi[s, j] - geom.lo[s, j])


@helper
def column_grid(geom, order, first):
    """(columns along a side, width of a column): as wide as the widest of the usual shapes. One column where shapes are
    few, or many are much wider than others."""
    if len(order) < MANY:
        return 1, 1.0
    total, n = 0.0, 0
    for s in order:
        if geom.kind[s] != PLANE:
            total += math.log(max(width_of(geom, s, first), 1e-300))
            n += 1
    usual, width, wider = USUAL * math.exp(total / max(n, 1)), 0.0, 0
    for s in order:
        if geom.kind[s] != PLANE:
            w = width_of(geom, s, first)
            width, wider = (max(width, w), wider) if w <= usual else (width, wider + 1)
    side = 1
    while 4 * side * side * SHAPES_A_COLUMN <= n and wider * wider <= n:
        side *= 2
    return (side if side >= 4 else 1), WIDER * width


@helper
def column_of(geom, s, first, side, width):
    """The column in which the lower end of shape s lies, of side² that repeat through space; side² of a wide shape."""
    if side == 1:
        return 0
    if width_of(geom, s, first) > width:
        return side * side
    i = math.floor(geom.lo[s, (first + 1) % 3] / width) & (side - 1)
    j = math.floor(geom.lo[s, (first + 2) % 3] / width) & (side - 1)
    return i * side + j


@helper
def fill_columns(geom, order, first, side, width, sweep):
    """Rows of the bounds column by column, each in the given order; column c ends before row start[c]."""
    bounds, shape, start = sweep.bounds, sweep.shape, sweep.start
    columns = side * side + 1
    start[: columns + 1] = 0
    for s in order:
        if geom.kind[s] != PLANE:
            start[column_of(geom, s, first, side, width) + 1] += 1
    for c in range(columns):
        start[c + 1] += start[c]
    for s in order:
        if geom.kind[s] != PLANE:
            c = column_of(geom, s, first, side, width)
            row = start[c]
            start[c] += 1
            shape[row] = s
            for i in range(3):
                bounds[row, 2 * i] = geom.lo[s, (first + i) % 3]
                bounds[row, 2 * i + 1] = geom.hi[s, (first + i) % 3]


@helper
def sweep_columns(c, d, later, body, roles, sweep, found, count):
    """Add to `found` the pairs of a shape of column c and one of column d that begins where it begins, or after it, and
    before it ends; only after it where `later`, and in its own column. Returns the number of pairs so far."""
    bounds, shape, start = sweep.bounds, sweep.shape, sweep.start  # out of the tuple: slow loads
    first, end = (start[c - 1] if c > 0 else 0), start[d]
    q = start[d - 1] if d > 0 else 0
    for p in range(first, start[c]):
        low, high, lo1, hi1, lo2, hi2 = (bounds[p, 0], bounds[p, 1], bounds[p, 2], bounds[p, 3], bounds[p, 4],
                                         bounds[p, 5])
        if c == d:
            q = p + 1
        while q < end and (bounds[q, 0] < low or (later and c != d and bounds[q, 0] == low)):
            q += 1
        k, a = q, shape[p]
        while k < end and bounds[k, 0] <= high:
            # compared at once: which of them tells two apart cannot be guessed
            if (bounds[k, 2] <= hi1) & (bounds[k, 3] >= lo1) & (bounds[k, 4] <= hi2) & (bounds[k, 5] >= lo2):
                b = shape[k]
                if body[a] != body[b] and roles[body[a]] | roles[body[b]] == EITHER:
                    if count < found.shape[0]:
                        found[count, 0] = min(a, b)
                        found[count, 1] = max(a, b)
                    count += 1
            k += 1
    return count


@helper
def sweep_column(c, side, body, roles, sweep, found, count):
    """Add to `found` the pairs that the shapes of column c begin, in this column and in others. Returns the number of
    pairs so far, which may exceed the room for them."""
    wide = side * side
    for k in range(wide + 1 if c == wide else 10):  # wide shapes: all columns; others: nine and the wide ones
        d, later = k, True
        if c < wide:
            i, j = (c // side + k // 3 - 1) & (side - 1), (c % side + k % 3 - 1) & (side - 1)
            d, later = i * side + j if k < 9 else wide, k < 4
        if side > 1 or k == 4:
            count = sweep_columns(c, d, later, body, roles, sweep, found, count)
    return count


@helper
def stand_in_columns(geom, order, first, sweep):
    """Fill the rows of the bounds; returns the columns along a side."""
    side, width = column_grid(geom, order, first)
    fill_columns(geom, order, first, side, width, sweep)
    return side


@kernel
def sweep_shapes(geom, body, roles, order, first, sweep):
    """All pairs of bounded shapes whose bounds overlap; returns their number, which may exceed the room for them.
    order: the shapes by the lower ends of their bounds along the axis `first`."""
    side, count = stand_in_columns(geom, order, first, sweep), 0
    for c in range(side * side + 1):
        count = sweep_column(c, side, body, roles, sweep, sweep.found, count)
    return count


@kernel
def search_planes(geom, body, roles, planes, sweep, count):
    """Add the pairs of a plane and a shape that may reach it; returns the number of pairs so far."""
    for p in planes:
        for s in range(body.shape[0]):
            if geom.kind[s] == PLANE or body[s] == body[p] or roles[body[s]] | roles[body[p]] != EITHER:
                continue
            if meets_plane(geom, p, s):
                if count < sweep.found.shape[0]:
                    sweep.found[count, 0] = min(s, p)
                    sweep.found[count, 1] = max(s, p)
                count += 1
    return count


@kernel
def sort_pairs(sweep, count):
    """Order the pairs by first shape, then by second: a stable counting sort by the second and one by the first."""
    start, source, target = sweep.start, sweep.found, sweep.pairs
    for key in range(1, -1, -1):
        for s in range(start.shape[0]):
            start[s] = 0
        for p in range(count):
            start[source[p, key] + 1] += 1
        for s in range(start.shape[0] - 1):
            start[s + 1] += start[s]
        for p in range(count):
            r = start[source[p, key]]
            start[source[p, key]] += 1
            target[r, 0] = source[p, 0]
            target[r, 1] = source[p, 1]
        source, target = target, source
    for p in range(count):
        sweep.pairs[p, 0] = sweep.found[p, 0]
        sweep.pairs[p, 1] = sweep.found[p, 1]


def joined_bodies(model: Model) -> IntArray:
    """Pairs (k, 2) of bodies that do not touch each other, by a joint or by the model, the lower first, in order."""
    joints = model.joints
    ends = np.column_stack([joints.parent, joints.child])[(joints.collide == 0) & (joints.parent >= 0)]
    pairs = np.sort(np.concatenate([ends, model.apart]), axis=1)
    return np.ascontiguousarray(np.unique(pairs, axis=0), np.int32)


@kernel
def drop_joined(joined, body, pairs_in_out, count) -> int:
    """Leave out the pairs of shapes on joined bodies; returns the number of pairs left."""
    kept = 0
    for p in range(count):
        a, b = body[pairs_in_out[p, 0]], body[pairs_in_out[p, 1]]
        a, b = min(a, b), max(a, b)
        low, high = 0, joined.shape[0]
        while low < high:  # the first row not before (a, b)
            middle = (low + high) // 2
            if joined[middle, 0] < a or (joined[middle, 0] == a and joined[middle, 1] < b):
                low = middle + 1
            else:
                high = middle
        if low < joined.shape[0] and joined[low, 0] == a and joined[low, 1] == b:
            continue
        pairs_in_out[kept, 0] = pairs_in_out[p, 0]
        pairs_in_out[kept, 1] = pairs_in_out[p, 1]
        kept += 1
    return kept


@kernel
def drop_grouped(groups, pairs_in_out, count) -> int:
    """Leave out the pairs of shapes whose groups pass through each other; returns the number of pairs left."""
    group, apart, kept = groups.of_shape, groups.apart, 0
    for p in range(count):
        a, b = pairs_in_out[p, 0], pairs_in_out[p, 1]
        if apart[group[a], group[b]] == 0:
            pairs_in_out[kept, 0] = a
            pairs_in_out[kept, 1] = b
            kept += 1
    return kept
