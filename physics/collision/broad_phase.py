"""Which pairs of shapes can touch at all: a hierarchical grid, so that sizes may differ by orders of magnitude.

A shape lives in one cell only, that of its centre, on the level whose cells are just larger than the shape. It looks
for partners on its own and on all coarser levels, in the cells within half a cell of its bounds: any partner there is
found, at a cost that does not depend on how many shapes there are [Ericson 2005, §7.2.1]. Planes have no bounds and
are tested against everything that moves.
"""

import math
from typing import NamedTuple

import numpy as np
from contactlab.physics.collision.geometry import PLANE, Geometry, column
from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import IntArray
from contactlab.physics.vec import dot, row, sub

LEVELS = 64
LEVEL_ZERO = 32  # level of shapes between half a metre and a metre


class Grid(NamedTuple):
    """Scratch of the broad phase: hash table of cells, each a linked list of shapes, and the pairs found."""

    head: IntArray   #: (2^k,) first shape in the bucket, -1 = none
    link: IntArray   #: (s,) next shape of the same bucket
    level: IntArray  #: (s,)
    cell: IntArray   #: (s, 3) cell of the centre on that level
    used: IntArray   #: (LEVELS,) shapes on each level
    found: IntArray  #: (p, 2) pairs in the order they were found
    pairs: IntArray  #: (p, 2) pairs sorted by first, then second shape
    start: IntArray  #: (s + 1,) scratch of the sort


def new_grid(shapes: int, pairs: int) -> Grid:
    buckets = 1 << max(4, (2 * shapes - 1).bit_length())

    def ints(*shape: int) -> IntArray:
        return np.zeros(shape, np.int32)

    return Grid(ints(buckets), ints(shapes), ints(shapes), ints(shapes, 3), ints(LEVELS), ints(pairs, 2),
                ints(pairs, 2), ints(shapes + 1))


@helper
def bucket(level, i, j, k, mask):
    """Hash of a cell [Teschner et al. 2003]."""
    h = (i * 73856093) ^ (j * 19349663) ^ (k * 83492791) ^ (level * 2654435761)
    return (h ^ (h >> 15)) & mask


@helper
def meets_plane(geom, plane, s):
    """Whether the bounds of shape s reach into the half-space below the plane, both swollen by their margins."""
    n = column(geom.R, plane, 2)
    lo, hi = row(geom.lo, s), row(geom.hi, s)
    lowest = (lo[0] if n[0] > 0.0 else hi[0], lo[1] if n[1] > 0.0 else hi[1], lo[2] if n[2] > 0.0 else hi[2])
    # the bounds of a plane, which has no extent, are its margin about its origin
    return dot(n, sub(lowest, row(geom.x, plane))) <= geom.hi[plane, 0] - geom.x[plane, 0]


@kernel
def fill_grid(geom, grid):
    """Put every shape but the planes into its cell."""
    grid.head[:] = -1
    grid.used[:] = 0
    mask = grid.head.shape[0] - 1
    for s in range(grid.link.shape[0]):
        grid.level[s] = -1
        if geom.kind[s] == PLANE:
            continue
        extent = max(geom.hi[s, 0] - geom.lo[s, 0], geom.hi[s, 1] - geom.lo[s, 1], geom.hi[s, 2] - geom.lo[s, 2])
        level = min(max(math.frexp(extent)[1] + LEVEL_ZERO, 0), LEVELS - 1)
        inverse = math.ldexp(1.0, LEVEL_ZERO - level)
        for i in range(3):
            grid.cell[s, i] = int(math.floor(0.5 * (geom.lo[s, i] + geom.hi[s, i]) * inverse))
        h = bucket(level, int(grid.cell[s, 0]), int(grid.cell[s, 1]), int(grid.cell[s, 2]), mask)
        grid.level[s] = level
        grid.used[level] += 1
        grid.link[s] = grid.head[h]
        grid.head[h] = s


@helper
def may_touch(geom, body, moves, a, b):
    """Whether the bounds of two shapes overlap, and the two belong to bodies of which at least one moves."""
    if body[a] == body[b] or (moves[body[a]] == 0 and moves[body[b]] == 0):
        return False
    for i in range(3):
        if geom.lo[a, i] > geom.hi[b, i] or geom.lo[b, i] > geom.hi[a, i]:
            return False
    return True


@helper
def search_cell(geom, grid, body, moves, s, level, i, j, k, count):
    """Add the pairs of shape s with the shapes of one cell; returns the number of pairs so far."""
    t = grid.head[bucket(level, i, j, k, grid.head.shape[0] - 1)]
    while t >= 0:
        if (
            grid.level[t] == level
            and grid.cell[t, 0] == i and grid.cell[t, 1] == j and grid.cell[t, 2] == k
            and (level > grid.level[s] or t > s)
            and may_touch(geom, body, moves, s, t)
        ):
            if count < grid.found.shape[0]:
                grid.found[count, 0] = min(s, t)
                grid.found[count, 1] = max(s, t)
            count += 1
        t = grid.link[t]
    return count


@kernel
def search_grid(geom, grid, body, moves):
    """All pairs whose bounds overlap; returns their number, which may exceed the room in grid.found."""
    count = 0
    top = LEVELS - 1
    while top > 0 and grid.used[top] == 0:
        top -= 1
    for s in range(grid.link.shape[0]):
        if grid.level[s] < 0:
            continue
        for level in range(grid.level[s], top + 1):
            if grid.used[level] == 0:
                continue
            inverse = math.ldexp(1.0, LEVEL_ZERO - level)
            i0 = int(math.floor(geom.lo[s, 0] * inverse - 0.5))
            j0 = int(math.floor(geom.lo[s, 1] * inverse - 0.5))
            k0 = int(math.floor(geom.lo[s, 2] * inverse - 0.5))
            for i in range(i0, int(math.floor(geom.hi[s, 0] * inverse + 0.5)) + 1):
                for j in range(j0, int(math.floor(geom.hi[s, 1] * inverse + 0.5)) + 1):
                    for k in range(k0, int(math.floor(geom.hi[s, 2] * inverse + 0.5)) + 1):
                        count = search_cell(geom, grid, body, moves, s, level, i, j, k, count)
    return count


@kernel
def search_planes(geom, grid, body, moves, planes, count):
    """Add the pairs of planes with what may reach them; returns the number of pairs so far."""
    for p in planes:
        for s in range(grid.link.shape[0]):
            if geom.kind[s] == PLANE or body[s] == body[p] or (moves[body[s]] == 0 and moves[body[p]] == 0):
                continue
            if meets_plane(geom, p, s):
                if count < grid.found.shape[0]:
                    grid.found[count, 0] = min(s, p)
                    grid.found[count, 1] = max(s, p)
                count += 1
    return count


@kernel
def sort_pairs(grid, count):
    """Order the pairs by first shape (counting sort), then by second (insertion within the few of each first)."""
    start = grid.start
    start[:] = 0
    for p in range(count):
        start[grid.found[p, 0] + 1] += 1
    for s in range(start.shape[0] - 1):
        start[s + 1] += start[s]
    for p in range(count):
        a = grid.found[p, 0]
        grid.pairs[start[a], 0] = a
        grid.pairs[start[a], 1] = grid.found[p, 1]
        start[a] += 1
    for p in range(1, count):
        a, b = grid.pairs[p, 0], grid.pairs[p, 1]
        r = p
        while r > 0 and grid.pairs[r - 1, 0] == a and grid.pairs[r - 1, 1] > b:
            grid.pairs[r, 1] = grid.pairs[r - 1, 1]
            r -= 1
        grid.pairs[r, 1] = b


def find_pairs(geom: Geometry, grid: Grid, body: IntArray, moves: IntArray, planes: IntArray) -> int:
    """Fill grid.pairs; returns the number of pairs, which exceeds the room where the caller must grow the grid."""
    fill_grid(geom, grid)
    count = search_planes(geom, grid, body, moves, planes, search_grid(geom, grid, body, moves))
    if count <= len(grid.found):
        sort_pairs(grid, count)
    return count
