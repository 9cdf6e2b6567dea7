"""All contacts at given poses in one call: place the shapes, find the pairs, touch them."""

from typing import NamedTuple

from ..core.jit import program
from ..core.model import IntArray
from ..core.state import Contacts
from .broad_phase import (
    FEW,
    Sweep,
    drop_grouped,
    drop_joined,
    insert_in_order,
    merge_in_order,
    search_planes,
    sort_pairs,
    sweep_shapes,
    widest_axis,
)
from .kept_pairs import Kept, choose_overlapping, keep_pairs, put_on_skins, still_hold, take_off_skins
from .narrow_phase import sort_families
from .nearby_pairs import NO_ROOM, Near, touch_listed
from .shared_pairs import MANY_SHAPES, place_all, sweep_shared
from .whole_bodies import SEVERAL, Whole, bound_bodies, find_shapes


class Detection(NamedTuple):
    """What `find_contacts` reads and writes; the arrays are the detector's."""

    near: Near
    sweep: Sweep
    kept: Kept
    whole: Whole
    roles: IntArray    #: (n,) see `broad_phase.PUSHES`
    planes: IntArray   #: (p,) shapes that are planes
    joined: IntArray   #: (k, 2) bodies that do not touch each other
    family: IntArray   #: (kinds, kinds) which kernel touches two shapes
    contacts: Contacts


@program
def sweep_all(geom, body, roles, sweep) -> int:
    """Fill sweep.found with the pairs of bounded shapes whose bounds overlap; returns their number, which may exceed
    the room for them."""
    first = widest_axis(geom.lo, geom.hi)
    if len(body) > FEW:
        merge_in_order(geom.lo, first, sweep.order)
    else:
        insert_in_order(geom.lo, first, sweep.order)
    if len(body) >= MANY_SHAPES:
        return sweep_shared(geom, body, roles, sweep.order, first, sweep)
    return sweep_shapes(geom, body, roles, sweep.order, first, sweep)


@program
def search_pairs(model, detection):
    """Fill sweep.pairs with the pairs of shapes whose bounds overlap; returns their number, or NO_ROOM with the number
    that there was no room for in near.needed."""
    near, sweep, whole, roles = detection.near, detection.sweep, detection.whole, detection.roles
    geom, body = near.geometry, model.shapes.body
    if len(body) >= SEVERAL * len(whole.body):
        bound_bodies(geom, whole)
        count = sweep_all(whole.geometry, whole.body, roles, whole.sweep)
        if count <= len(whole.sweep.found):
            count = find_shapes(geom, whole, count, sweep.found)
    else:
        count = sweep_all(geom, body, roles, sweep)
    count = search_planes(geom, body, roles, detection.planes, sweep, count)
    if count > len(sweep.found):
        near.needed[2] = count
        return NO_ROOM
    sort_pairs(sweep, count)
    if len(detection.joined) > 0:
        count = drop_joined(detection.joined, body, sweep.pairs, count)
    if len(model.groups.of_shape) > 0:
        count = drop_grouped(model.groups, sweep.pairs, count)
    return count


@program
def renew_kept(model, detection) -> bool:
    """Search anew where other pairs may overlap than those kept, with bounds that are swollen. False where there was no
    room, with what there was none for in near.needed."""
    near, geom, kept = detection.near, detection.near.geometry, detection.kept
    near.needed[:] = 0
    if still_hold(geom, detection.roles, kept):
        return True
    put_on_skins(geom, near.reach, kept)
    count = search_pairs(model, detection)
    if count >= 0:
        keep_pairs(geom, detection.roles, detection.sweep.pairs, count, kept)
    take_off_skins(kept, geom)
    return count >= 0


@program
def find_pairs(model, detection):
    """Fill sweep.pairs with the pairs of shapes whose bounds overlap, and near.lists with these pairs by family.
    Returns their number, or NO_ROOM with what there was no room for in near.needed."""
    near, kept, pairs, roles = detection.near, detection.kept, detection.sweep.pairs, detection.roles
    if not renew_kept(model, detection):
        return NO_ROOM
    count = choose_overlapping(near.geometry, model.shapes.body, roles, kept, pairs)
    near.pair_count[0] = kept.count[1] = count
    sort_families(near.geometry.kind, detection.family, pairs, count, near.lists, near.counts)
    return count


@program
def find_on_ways(model, on_ways, roles):
    """Fill sweep.pairs with the pairs of shapes whose bounds on their ways overlap, and near.lists with these pairs by
    family, where the roles (n,) of their bodies let them count. Returns their number, or NO_ROOM as `find_pairs`."""
    near, pairs = on_ways.near, on_ways.sweep.pairs
    if not renew_kept(model, on_ways):
        return NO_ROOM
    count = choose_overlapping(near.geometry, model.shapes.body, roles, on_ways.kept, pairs)
    sort_families(near.geometry.kind, on_ways.family, pairs, count, near.lists, near.counts)
    return count


@program
def find_contacts(model, detection, x, q, margin):
    """Fill detection.contacts with the contacts (as of Detector.detect) of bodies at x (n, 3), q (n, 4) within their
    margins (n,) [m]; returns their number, or NO_ROOM as `find_pairs`."""
    near = detection.near
    place_all(model.shapes, x, q, margin, near.geometry, near.reach)
    return touch_listed(model, near, detection.contacts) if find_pairs(model, detection) >= 0 else NO_ROOM
