"""The pairs of shapes that touched, or nearly, when the detector last looked, and one kernel that touches them again at
other poses: for methods that need contacts many times within a step."""

from typing import NamedTuple

import numpy as np

from ..core.jit import kernel, program
from ..core.model import Array, IntArray
from ..core.state import LongArray
from .convex import ConvexScratch
from .geometry import Geometry, bound_shapes, place_shapes
from .hands import Hands
from .kept_triangles import KeptTriangles, touch_triangle_pairs
from .narrow_phase import (
    BOXES,
    CONVEX,
    HOLLOWS,
    NO_ROOM,
    RINGS,
    ROUND,
    SURFACES,
    TRIANGLES,
    Found,
    drop_doubles,
    fill_contacts,
    sort_rows,
    touch_box_pairs,
    touch_hollow_pairs,
    touch_round_pairs,
)
from .polytope import Solids
from .ring import touch_ring_pairs
from .shared_pairs import MANY_PAIRS, touch_boxes, touch_convex_pairs
from .surface import Outline, touch_surface_pairs


class Near(NamedTuple):
    """What touching pairs again reads and writes; the arrays are the detector's."""

    geometry: Geometry
    solids: Solids
    work: ConvexScratch
    sheets: Array        #: see triangles.new_sheets
    outline: Outline     #: see surface.new_outline
    rank: IntArray       #: (s,)
    shapes_of: IntArray  #: (n,) shapes of each body
    compound: IntArray   #: (1,) 1 where a body has several
    reach: Array         #: (s,) margin of each shape [m]
    pairs: LongArray     #: (p, 2) of the last detection
    pair_count: IntArray  #: (1,)
    lists: LongArray     #: (families, p) those of them that had contacts, by family
    counts: IntArray     #: (families,)
    chosen: LongArray    #: (q, 2) scratch: pairs and triangles, for `touch_ring_pairs`
    close: KeptTriangles
    start: IntArray      #: (p + 2,) scratch
    stack: IntArray      #: scratch of walks through the triangles of a mesh
    found: Found         #: scratch
    link: IntArray       #: (r,) scratch
    head: IntArray       #: scratch
    needed: IntArray     #: (4,) rows, chosen triangles, pairs and kept triangles that there was no room for
    note: LongArray      #: (p,) row of notes of each pair, see `Kept`
    hands: Hands         #: what threads write to that share pairs


@kernel
def keep_near(kind, family, contacts, near):
    """Note which pairs have contacts, by family."""
    count, pairs = int(contacts.count[0]), near.pairs
    near.counts[:] = 0
    i = 0
    for p in range(near.pair_count[0]):
        if i < count and contacts.shape_a[i] == pairs[p, 0] and contacts.shape_b[i] == pairs[p, 1]:
            f = family[kind[pairs[p, 0]], kind[pairs[p, 1]]]
            near.lists[f, near.counts[f]] = p
            near.counts[f] += 1
            while i < count and contacts.shape_a[i] == pairs[p, 0] and contacts.shape_b[i] == pairs[p, 1]:
                i += 1


@program
def touch_listed(model, near, contacts_out):
    """Contacts of the pairs in near.lists, whose shapes are placed, and bounded where there are triangles; returns
    their number, or NO_ROOM with the sizes in `needed`."""
    geom, solids, work, shapes, pairs = near.geometry, near.solids, near.work, model.shapes, near.pairs
    lists, counts, found, reach = near.lists, near.counts, near.found, near.reach
    convex, total = counts[CONVEX], np.int64(0)
    if counts[ROUND] > 0:
        total = touch_round_pairs(geom, solids, work.patch, pairs, lists[ROUND], counts[ROUND], reach, total, found)
    if counts[HOLLOWS] > 0:
        total = touch_hollow_pairs(geom, solids, work, pairs, lists[HOLLOWS], counts[HOLLOWS], reach, total, found)
    if counts[RINGS] > 0:
        total = touch_ring_pairs(model, near, total)
    if counts[TRIANGLES] > 0 and total != NO_ROOM:
        total = touch_triangle_pairs(model, near, total)
    if total == NO_ROOM:
        return NO_ROOM
    if counts[SURFACES] > 0:
        total = touch_surface_pairs(model, near, total)
    if counts[BOXES] >= MANY_PAIRS:
        total = touch_boxes(geom, work, pairs, lists[BOXES], counts[BOXES], reach, total, lists, counts, found)
    elif counts[BOXES] > 0:
        total = touch_box_pairs(geom, work, pairs, lists[BOXES], counts[BOXES], reach, total, lists, counts, found)
    if counts[CONVEX] > 0:
        total = touch_convex_pairs(near, total)
    counts[CONVEX] = convex
    if total > len(found.rows):
        near.needed[0] = total
        return NO_ROOM
    if near.compound[0] == 1:  # the order in which threads found them must not count
        sort_rows(near.pair_count[0], total, near.start, near.link, found)
        total = drop_doubles(geom, pairs, shapes.body, near.shapes_of, total, near.head, near.link, found)
    fill_contacts(pairs, near.pair_count[0], found, total, near.start, shapes, model.materials, contacts_out)
    return total


@program
def touch_again(model, near, x, q, contacts_out):
    """Contacts (as of Detector.detect) of the near pairs with the bodies at x (n, 3), q (n, 4); returns their number,
    or NO_ROOM with the sizes in `needed`."""
    place_shapes(model.shapes, x, q, near.geometry)
    if near.counts[TRIANGLES] + near.counts[RINGS] + near.counts[SURFACES] > 0:
        bound_shapes(near.geometry, near.reach)
    return touch_listed(model, near, contacts_out)
