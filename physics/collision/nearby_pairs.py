"""The pairs of shapes that touched, or nearly, when the detector last looked, and one kernel that touches them again at
other poses: for methods that need contacts many times within a step."""

from typing import NamedTuple

import numpy as np

from ..core.both_cores import address_of, ask, begun, code_of, finish
from ..core.jit import kernel, program
from ..core.model import Array, IntArray
from ..core.state import LongArray
from .convex import ConvexScratch
from .geometry import Geometry, bound_shapes, place_shapes
from .known_features import in_upper_half
from .narrow_phase import (
    BOXES,
    CONVEX,
    HOLLOWS,
    NO_ROOM,
    RINGS,
    ROUND,
    TRIANGLES,
    Found,
    drop_doubles,
    fill_contacts,
    in_order,
    move_rows,
    touch_box_pairs,
    touch_convex_pairs,
    touch_hollow_pairs,
    touch_round_pairs,
)
from .polytope import Solids
from .ring import touch_ring_pairs
from .triangles import find_triangles

MANY = 200    # shapes of a scene below which pairs are never touched in halves
ENOUGH = 400  # pairs from which on they are: fewer are done before the helper is awake
QUICK = 8     # pairs of the round family that take as long as one of another family


class SecondHalf(NamedTuple):
    """What the second half of the pairs is touched with; see `touch_halves`. Without rows where the scene is small."""

    desk: LongArray     #: of `core.both_cores.HELPER`
    work: ConvexScratch  #: its notes are those of all pairs
    found: Found
    lists: LongArray    #: (families, p) pairs of boxes that are left to the convex family
    counts: IntArray    #: (families,)
    total: LongArray    #: (1,) rows found
    split: LongArray    #: (2,) pairs of the convex family in the first half, and in both


class Near(NamedTuple):
    """What touching pairs again reads and writes; the arrays are the detector's."""

    geometry: Geometry
    solids: Solids
    work: ConvexScratch
    sheets: Array        #: see triangles.new_sheets
    rank: IntArray       #: (s,)
    shapes_of: IntArray  #: (n,) shapes of each body
    compound: IntArray   #: (1,) 1 where a body has several
    reach: Array         #: (s,) margin of each shape [m]
    pairs: LongArray     #: (p, 2) of the last detection
    pair_count: IntArray  #: (1,)
    lists: LongArray     #: (families, p) those of them that had contacts, by family
    counts: IntArray     #: (families,)
    chosen: LongArray    #: (q, 2) scratch: pairs, or pairs and triangles, for `touch_convex_pairs`
    start: IntArray      #: (p + 2,) scratch
    stack: IntArray      #: scratch of `find_triangles`
    found: Found         #: scratch
    link: IntArray       #: (r,) scratch
    head: IntArray       #: scratch
    needed: IntArray     #: (3,) rows, chosen pairs and pairs that there was no room for
    second: SecondHalf


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


@kernel
def share_convex(near) -> None:
    """The pairs of the convex family as near.chosen: first those whose notes lie in the lower half, so that no two
    threads write to one note."""
    notes, pairs, count = near.work.notes, near.pairs, int(near.counts[CONVEX])
    front, back = 0, count
    for i in range(count):
        p = near.lists[CONVEX, i]
        a, b, _ = in_order(near.geometry.kind, pairs, p)
        if in_upper_half(notes, a, b):
            back -= 1
            near.chosen[back, 0], near.chosen[back, 1] = p, -1
        else:
            near.chosen[front, 0], near.chosen[front, 1] = p, -1
            front += 1
    near.second.split[0] = front


@program
def touch_half(near, work, found, lists, counts, second) -> int:
    """Points of one half of the pairs, the second one if second = 1, into `found`; returns how many. Boxes that are
    left to the convex family come on its list in `lists`."""
    geom, solids, pairs, reach, total = near.geometry, near.solids, near.pairs, near.reach, np.int64(0)
    count, half = np.int64(near.counts[ROUND]), np.int64(near.counts[ROUND] // 2)
    first, end = (half, count) if second == 1 else (np.int64(0), half)
    if end > first:
        total = touch_round_pairs(geom, solids, work.patch, pairs, near.lists[ROUND][first:], end - first, reach, total,
                                  found)
    count, half = np.int64(near.counts[BOXES]), np.int64(near.counts[BOXES] // 2)
    first, end = (half, count) if second == 1 else (np.int64(0), half)
    if end > first:
        total = touch_box_pairs(geom, work, pairs, near.lists[BOXES][first:], end - first, reach, total, lists, counts,
                                found)
    split = near.second.split[0]
    first, end = (split, near.second.split[1]) if second == 1 else (np.int64(0), split)
    if end > first:
        total = touch_convex_pairs(geom, solids, near.sheets, work, pairs, near.chosen[first:], end - first, reach,
                                   total, found)
    return total


@program
def touch_second(near):
    """The second half of the pairs, on whichever core."""
    second = near.second
    second.total[0] = touch_half(near, second.work, second.found, second.lists, second.counts, 1)


@program
def touch_halves(near) -> int:
    """Points of all pairs, the halves on two cores where the helper is free. Returns how many, which may exceed the
    room; the order in near.found does not depend on the helper."""
    second, found, counts = near.second, near.found, near.counts
    second.counts[:] = 0
    second.split[1] = counts[CONVEX]
    share_convex(near)
    helped = ask(second.desk, code_of(touch_second, near), address_of(near))
    convex = np.int64(counts[CONVEX])
    total = touch_half(near, near.work, found, near.lists, counts, 0)
    if helped and begun(second.desk):
        finish(second.desk)
    else:
        touch_second(near)
    total = move_rows(second.found, second.total[0], found, total)
    left = np.int64(0)
    for i in range(convex, counts[CONVEX]):
        near.chosen[left, 0], near.chosen[left, 1] = near.lists[CONVEX, i], -1
        left += 1
    for i in range(second.counts[CONVEX]):
        near.chosen[left, 0], near.chosen[left, 1] = second.lists[CONVEX, i], -1
        left += 1
    counts[CONVEX] = convex
    if left > 0:
        total = touch_convex_pairs(near.geometry, near.solids, near.sheets, near.work, near.pairs, near.chosen, left,
                                   near.reach, total, found)
    return total


@program
def touch_in_turn(model, near) -> int:
    """Points of all pairs, one after the other. Returns how many, which may exceed the room, or NO_ROOM."""
    geom, solids, work, pairs = near.geometry, near.solids, near.work, near.pairs
    lists, counts, found, reach = near.lists, near.counts, near.found, near.reach
    convex, total = counts[CONVEX], np.int64(0)
    if counts[ROUND] > 0:
        total = touch_round_pairs(geom, solids, work.patch, pairs, lists[ROUND], counts[ROUND], reach, total, found)
    if counts[HOLLOWS] > 0:
        total = touch_hollow_pairs(geom, solids, work, pairs, lists[HOLLOWS], counts[HOLLOWS], reach, total, found)
    if counts[RINGS] > 0:
        total = touch_ring_pairs(model, near, total)
        if total == NO_ROOM:
            return NO_ROOM
    if counts[BOXES] > 0:
        total = touch_box_pairs(geom, work, pairs, lists[BOXES], counts[BOXES], reach, total, lists, counts, found)
    chosen = np.int64(counts[CONVEX])
    for i in range(min(chosen, len(near.chosen))):
        near.chosen[i, 0], near.chosen[i, 1] = lists[CONVEX, i], -1
    counts[CONVEX] = convex
    if counts[TRIANGLES] > 0:
        chosen += find_triangles(geom, model.meshes, pairs, lists[TRIANGLES], counts[TRIANGLES], reach, near.rank,
                                 near.sheets, near.stack, near.chosen[min(chosen, len(near.chosen)):])
    near.needed[1] = chosen
    if chosen > len(near.chosen):
        near.needed[0] = total
        return NO_ROOM
    if chosen > 0:
        total = touch_convex_pairs(geom, solids, near.sheets, work, pairs, near.chosen, chosen, reach, total, found)
    return total


@kernel
def go_in_halves(near) -> bool:
    """Whether the pairs are touched in halves: there are many, all of families that take no part in a mesh."""
    counts = near.counts
    if len(near.second.found.rows) == 0 or counts[TRIANGLES] + counts[HOLLOWS] + counts[RINGS] > 0:
        return False
    slow = counts[BOXES] + counts[CONVEX]
    return slow + counts[ROUND] // QUICK >= ENOUGH and slow <= len(near.chosen)


@program
def touch_listed(model, near, contacts_out):
    """Contacts of the pairs in near.lists, whose shapes are placed, and bounded where there are triangles; returns
    their number, or NO_ROOM with the sizes in `needed`."""
    shapes, pairs, found = model.shapes, near.pairs, near.found
    total = touch_halves(near) if go_in_halves(near) else touch_in_turn(model, near)
    if total == NO_ROOM:
        return NO_ROOM
    if total > len(found.rows):
        near.needed[0] = total
        return NO_ROOM
    if near.compound[0] == 1:
        total = drop_doubles(near.geometry, pairs, shapes.body, near.shapes_of, total, near.head, near.link, found)
    fill_contacts(pairs, near.pair_count[0], found, total, near.start, shapes, model.materials, contacts_out)
    return total


@program
def touch_again(model, near, x, q, contacts_out):
    """Contacts (as of Detector.detect) of the near pairs with the bodies at x (n, 3), q (n, 4); returns their number,
    or NO_ROOM with the sizes in `needed`."""
    place_shapes(model.shapes, x, q, near.geometry)
    if near.counts[TRIANGLES] + near.counts[RINGS] > 0:
        bound_shapes(near.geometry, near.reach)
    return touch_listed(model, near, contacts_out)
