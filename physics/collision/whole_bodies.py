"""Pairs of shapes by pairs of bodies: where bodies have many shapes each, bodies whose bounds overlap are found first,
and then which of their shapes do."""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.model import IntArray
from ..core.state import LongArray
from ..core.team import share_out
from ..core.vec import row
from .broad_phase import Sweep, new_sweep
from .geometry import PLANE, SPHERE, Geometry
from .hands import SHARES
from .shared_pairs import ROWS, write_pairs

SEVERAL = 2       # shapes a body, on average, from which on bodies are searched first
MANY_BODIES = 64  # pairs of bodies, from which on threads share them


class Whole(NamedTuple):
    """Bodies as the broad phase sees them: each as one shape with the bounds of all its own."""

    geometry: Geometry  #: of which only kind, lo and hi say anything; a body without bounded shapes is a plane
    body: IntArray      #: (n,) 0, 1, 2 …
    start: IntArray     #: (n + 1,) where the shapes of each body begin in `shapes`
    shapes: LongArray   #: (s,) shapes body by body
    most: IntArray      #: (1,) number of shapes of the body that has most
    sweep: Sweep


def new_whole(geom: Geometry, body: IntArray, bodies: int, pairs: int) -> Whole:
    """Nothing found yet, and room for so many pairs of bodies where they have several shapes."""
    counts = np.bincount(body, minlength=bodies)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    own = geom._replace(kind=np.zeros(bodies, np.int32), lo=np.zeros((bodies, 3)), hi=np.zeros((bodies, 3)))
    return Whole(own, np.arange(bodies, dtype=np.int32), start, np.argsort(body, kind="stable").astype(np.int64),
                 np.array([counts.max(initial=0)], np.int32),
                 new_sweep(bodies, pairs if len(body) >= SEVERAL * bodies else 0))


@kernel
def bound_bodies(geom, whole_out) -> None:
    """Bounds of the bodies from those of their shapes."""
    own = whole_out.geometry
    for i in range(len(whole_out.body)):
        own.kind[i] = PLANE
        for k in range(whole_out.start[i], whole_out.start[i + 1]):
            s = whole_out.shapes[k]
            if geom.kind[s] == PLANE:
                continue
            for c in range(3):
                fresh = own.kind[i] == PLANE
                own.lo[i, c] = geom.lo[s, c] if fresh else min(own.lo[i, c], geom.lo[s, c])
                own.hi[i, c] = geom.hi[s, c] if fresh else max(own.hi[i, c], geom.hi[s, c])
            own.kind[i] = SPHERE


@helper
def overlap(lo_a, hi_a, lo_b, hi_b):
    """Whether the bounds between two corners overlap those between two others. All six are compared: which of them tell
    two shapes apart cannot be guessed."""
    return ((lo_a[0] <= hi_b[0]) & (lo_b[0] <= hi_a[0]) & (lo_a[1] <= hi_b[1])
            & (lo_b[1] <= hi_a[1]) & (lo_a[2] <= hi_b[2]) & (lo_b[2] <= hi_a[2]))


@helper
def find_close(kind, lo, hi, whole, i, j, close_out):
    """The bounded shapes of body i whose bounds, lo and hi (s, 3), overlap those of body j; returns their number."""
    shapes, count = whole.shapes, 0
    low, high = row(whole.geometry.lo, j), row(whole.geometry.hi, j)
    for k in range(whole.start[i], whole.start[i + 1]):
        s = shapes[k]
        close_out[count] = s
        count += (kind[s] != PLANE) & overlap(row(lo, s), row(hi, s), low, high)
    return count


@kernel
def find_some_shapes(i, shares, geom, whole, pairs, tally, found_out) -> None:
    """Share i of `find_shapes`. Each pair is written down before it is asked: whether it counts cannot be guessed, and
    a jump that is guessed wrong takes longer."""
    kind, lo, hi, found, most, kept = geom.kind, geom.lo, geom.hi, whole.sweep.found, int(whole.most[0]), 0
    close_i, close_j = np.empty(most, np.int64), np.empty(most, np.int64)
    buffer = np.empty((ROWS + most, 2), np.int64)
    for p in range(i * pairs // shares, (i + 1) * pairs // shares):
        of_a = find_close(kind, lo, hi, whole, found[p, 0], found[p, 1], close_i)
        of_b = find_close(kind, lo, hi, whole, found[p, 1], found[p, 0], close_j)
        for k in range(of_a):
            a = close_i[k]
            low, high = row(lo, a), row(hi, a)
            if kept > ROWS:
                write_pairs(buffer, kept, tally, found_out)
                kept = 0
            for m in range(of_b):
                b = close_j[m]
                buffer[kept, 0], buffer[kept, 1] = min(a, b), max(a, b)
                kept += overlap(low, high, row(lo, b), row(hi, b))
    write_pairs(buffer, kept, tally, found_out)


@program
def find_shapes(geom, whole, pairs, found_out) -> int:
    """The pairs of shapes whose bounds overlap, of so many pairs of bodies in whole.sweep.found, in any order; returns
    their number, which may exceed the room for them."""
    tally, shares = np.zeros(1, np.int64), SHARES if pairs >= MANY_BODIES else 1
    share_out(shares, find_some_shapes, (shares, geom, whole, pairs, tally, found_out))
    return tally[0]
