"""Surfaces that cross themselves: an edge of one triangle runs through another one of the same piece.

Pairs of triangles whose boxes overlap are found by a sweep along the axis on which fewest intervals do.
"""

import numpy as np

from ..core.interruption import look_up
from ..core.model import Array, IntArray
from .hull import Rows

THROUGH = 1e-6      # share of the size by which an edge reaches beyond both sides of a triangle that it runs through
MOST = 50_000_000   # pairs whose intervals overlap that are looked at: of an even mesh of 80 000 triangles, in a second
BLOCK = 200_000     # of them at once, so that they stay in the cache


def crosses_itself(vertices: Array, triangles: IntArray, piece: Rows) -> bool:
    """Whether triangles (t, 3) of the same piece (t,) run through each other. False where that would take too long."""
    corners = vertices[triangles]
    lo, hi = corners.min(axis=1).T, corners.max(axis=1).T
    sweeps = [_sweep(*ends) for ends in zip(lo, hi, strict=True)]
    swept = int(np.argmin([after.sum() for _, after in sweeps]))
    order, after = sweeps[swept]
    if after.sum() > MOST:
        return False
    boxes = [(lo[axis][order], hi[axis][order]) for axis in range(3) if axis != swept]
    slack = THROUGH * float(np.ptp(vertices, axis=0).max())
    start = np.cumsum(after) - after  # of the pairs of each one, among all
    first = 0
    while first < len(order):
        look_up()
        last = max(first + 1, int(np.searchsorted(start, start[first] + BLOCK, side="right")) - 1)
        count = after[first:last]
        a = np.repeat(np.arange(first, last), count)
        b = a + 1 + np.arange(len(a)) - np.repeat(start[first:last] - start[first], count)
        for low, high in boxes:
            near = (low[a] <= high[b]) & (low[b] <= high[a])
            a, b = a[near], b[near]
        one, other = order[a], order[b]
        apart = (triangles[one][:, :, None] != triangles[other][:, None, :]).all(axis=(1, 2))
        apart &= piece[one] == piece[other]
        one, other = corners[one[apart]], corners[other[apart]]
        if _pierced(one, other, slack).any() or _pierced(other, one, slack).any():
            return True
        first = last
    return False


def _sweep(lo: Array, hi: Array) -> tuple[Rows, Rows]:
    """The order of intervals by their lower ends, and in it how many of those behind each one begin within it (t,)."""
    order = np.argsort(lo, kind="stable")
    return order, np.searchsorted(lo[order], hi[order], side="right") - np.arange(1, len(order) + 1)


def _pierced(by: Array, triangle: Array, slack: float) -> Array:
    """(k,): whether an edge of the triangle by (k, 3, 3) runs through the triangle (k, 3, 3), beyond both of its sides
    by more than slack.

    With o a corner, e and f the edges from it and n = e × f, the edge from p by d meets the plane at p + s d, where
    s = n·(o - p) / n·d. With x = p + s d - o it meets the triangle where n·(x × f), n·(e × x) >= 0 are together
    <= n·n.
    """
    o, e, f = triangle[:, 0], triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0]
    n = np.cross(e, f)
    square = np.einsum("ij,ij->i", n, n)
    found = np.zeros(len(by), bool)
    for j in range(3):
        p, d = by[:, j], by[:, (j + 1) % 3] - by[:, j]
        start = np.einsum("ij,ij->i", n, p - o)
        along = np.einsum("ij,ij->i", n, d)
        beyond = slack * np.sqrt(square)
        across = (start * (start + along) < 0.0) & (np.minimum(np.abs(start), np.abs(start + along)) > beyond)
        x = p - o - (start / np.where(across, along, 1.0))[:, None] * d
        u = np.einsum("ij,ij->i", n, np.cross(x, f))
        v = np.einsum("ij,ij->i", n, np.cross(e, x))
        found |= across & (u >= 0.0) & (v >= 0.0) & (u + v <= square)
    return found
