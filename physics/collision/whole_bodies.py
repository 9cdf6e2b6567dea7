"""Pairs of shapes by pairs of bodies: where bodies have many shapes each, bodies whose bounds overlap are found first,
and then which of their shapes do."""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import IntArray
from ..core.state import LongArray
from .broad_phase import Sweep, new_sweep
from .geometry import PLANE, SPHERE, Geometry

SEVERAL = 2  # shapes a body, on average, from which on bodies are searched first


class Whole(NamedTuple):
    """Bodies as the broad phase sees them: each as one shape with the bounds of all its own."""

    geometry: Geometry  #: of which only kind, lo and hi say anything; a body without bounded shapes is a plane
    body: IntArray      #: (n,) 0, 1, 2 …
    start: IntArray     #: (n + 1,) where the shapes of each body begin in `shapes`
    shapes: LongArray   #: (s,) shapes body by body
    sweep: Sweep


def new_whole(geom: Geometry, body: IntArray, bodies: int, pairs: int) -> Whole:
    """Nothing found yet, and room for so many pairs of bodies where they have several shapes."""
    start = np.concatenate([[0], np.cumsum(np.bincount(body, minlength=bodies))]).astype(np.int32)
    own = geom._replace(kind=np.zeros(bodies, np.int32), lo=np.zeros((bodies, 3)), hi=np.zeros((bodies, 3)))
    return Whole(own, np.arange(bodies, dtype=np.int32), start, np.argsort(body, kind="stable").astype(np.int64),
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
def overlap(lo_a, hi_a, a, lo_b, hi_b, b):
    """Whether the bounds in row a and those in row b overlap. All six are compared: which of them tell two shapes apart
    cannot be guessed."""
    return ((lo_a[a, 0] <= hi_b[b, 0]) & (lo_b[b, 0] <= hi_a[a, 0]) & (lo_a[a, 1] <= hi_b[b, 1])
            & (lo_b[b, 1] <= hi_a[a, 1]) & (lo_a[a, 2] <= hi_b[b, 2]) & (lo_b[b, 2] <= hi_a[a, 2]))


@kernel
def find_shapes(geom, whole, pairs, found_out):
    """The pairs of shapes whose bounds overlap, of so many pairs of bodies in whole.sweep.found; returns their number,
    which may exceed the room for them."""
    own, start, shapes, lo, hi, count = whole.geometry, whole.start, whole.shapes, geom.lo, geom.hi, 0
    for p in range(pairs):
        i, j = whole.sweep.found[p, 0], whole.sweep.found[p, 1]
        for k in range(start[i], start[i + 1]):
            a = shapes[k]
            if geom.kind[a] == PLANE or not overlap(lo, hi, a, own.lo, own.hi, j):
                continue
            for m in range(start[j], start[j + 1]):
                b = shapes[m]
                if geom.kind[b] != PLANE and overlap(lo, hi, a, lo, hi, b):
                    if count < len(found_out):
                        found_out[count, 0], found_out[count, 1] = min(a, b), max(a, b)
                    count += 1
    return count
