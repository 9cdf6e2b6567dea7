"""Bounding-volume hierarchy over the triangles of a mesh: built once, walked by the narrow phase."""

import numpy as np
from numpy.typing import ArrayLike

from ..core.interruption import look_up
from ..core.jit import helper, kernel
from ..core.model import Array, IntArray

LEAF = 4        # triangles in a leaf
STACK = 64      # nodes that wait during a walk; splits at the median give a depth of log2 of the triangles


@helper
def select(values, order, first, last, middle):
    """Reorder order[first:last] so that values left of `middle` are not larger than those right of it (Hoare)."""
    lo, hi = first, last - 1
    while lo < hi:
        pivot = values[order[(lo + hi) // 2]]
        i, j = lo, hi
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            hi = j
        elif middle >= i:
            lo = i
        else:
            return


@helper
def bound_node(lo, hi, order, first, last, node, node_min_out, node_max_out):
    """Bounds of the triangles order[first:last]."""
    for k in range(3):
        low, high = np.inf, -np.inf
        for i in range(first, last):
            low = min(low, lo[k, order[i]])
            high = max(high, hi[k, order[i]])
        node_min_out[node, k] = low
        node_max_out[node, k] = high


@kernel
def split_nodes(lo, hi, centre, order_out, first, last, node_min_out, node_max_out, child_out):
    """Split every node at the median of its longest side until LEAF triangles are left; returns the number of nodes.

    lo, hi, centre (3, n) of the triangles; first and last are scratch: the range of order_out that a node holds.
    """
    count, node = 1, 0
    first[0], last[0] = 0, order_out.shape[0]
    while node < count:
        a, b = first[node], last[node]
        bound_node(lo, hi, order_out, a, b, node, node_min_out, node_max_out)
        if b - a <= LEAF:
            child_out[node, 0] = -a - 1
            child_out[node, 1] = b - a
        else:
            axis = 0
            for k in range(1, 3):
                if node_max_out[node, k] - node_min_out[node, k] > node_max_out[node, axis] - node_min_out[node, axis]:
                    axis = k
            middle = (a + b) // 2
            select(centre[axis], order_out, a, b, middle)
            for side in range(2):
                child_out[node, side] = count
                first[count] = a if side == 0 else middle
                last[count] = middle if side == 0 else b
                count += 1
        node += 1
    return count


def build(vertices: ArrayLike, triangles: ArrayLike) -> tuple[Array, Array, IntArray, IntArray]:
    """Hierarchy of one mesh with vertices (v, 3) and triangles (t, 3), t >= 1.

    Returns node_min (n, 3), node_max (n, 3), child (n, 2) and leaf_order (t,), laid out as `Meshes` says, counted from
    node 0 and triangle 0 of this mesh. Bounds are swollen by rounding, so that flat meshes have boxes too.
    """
    points = np.asarray(vertices, np.float64)
    corners = points[np.asarray(triangles)]
    swell = 1e-12 * float(np.abs(points).max(initial=0.0))
    lo = np.ascontiguousarray(corners.min(1).T) - swell
    hi = np.ascontiguousarray(corners.max(1).T) + swell
    del corners
    return build_over(lo, hi)


def build_over(lo: Array, hi: Array) -> tuple[Array, Array, IntArray, IntArray]:
    """The same over boxes lo, hi (3, t), t >= 1."""
    t = lo.shape[1]
    room = max(1, t)  # nodes: a leaf has more than LEAF / 2 boxes, unless it is the only one
    order = np.arange(t, dtype=np.int32)
    node_min, node_max, child = np.zeros((room, 3)), np.zeros((room, 3)), np.zeros((room, 2), np.int32)
    first, last = np.zeros(room, np.int32), np.zeros(room, np.int32)
    look_up()
    n = split_nodes(lo, hi, lo + hi, order, first, last, node_min, node_max, child)
    return node_min[:n].copy(), node_max[:n].copy(), child[:n].copy(), order
