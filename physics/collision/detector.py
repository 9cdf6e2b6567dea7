"""From the poses of the bodies to their contacts: place the shapes, find the pairs, touch them."""

import numpy as np

from contactlab.physics.collision.broad_phase import find_pairs, new_sweep
from contactlab.physics.collision.convex import new_solids, new_work
from contactlab.physics.collision.geometry import PATCH, PLANE, bound_shapes, new_geometry, place_shapes
from contactlab.physics.collision.narrow_phase import (
    BOXES,
    CONVEX,
    FAMILY,
    ROUND,
    TRIANGLES,
    fill_contacts,
    sort_families,
    touch_box_pairs,
    touch_convex_pairs,
    touch_round_pairs,
)
from contactlab.physics.model import Array, BodyKind, Model, shape_count
from contactlab.physics.state import Bodies, Contacts, empty_contacts


class Detector:
    """Collision detection for one model.

    It keeps scratch memory only: equal bodies give equal contacts, bit for bit, whatever was asked before.
    """

    def __init__(self, model: Model) -> None:
        s = shape_count(model)
        self.model = model
        self.geometry = new_geometry(model)
        self.solids = new_solids(model)
        self.work = new_work(self.solids)
        self.moves = (model.kind == BodyKind.DYNAMIC).astype(np.int32)
        self.planes = np.flatnonzero(model.shapes.kind == PLANE).astype(np.int32)
        self.contacts: Contacts = empty_contacts(0)
        self.pair_count = 0
        self._make_room_for_pairs(8 * s + 16)
        self._make_room_for_points(8 * s + 16)

    def _make_room_for_pairs(self, pairs: int) -> None:
        self.sweep = new_sweep(shape_count(self.model), pairs)
        self.lists = np.zeros((TRIANGLES + 1, pairs), np.int32)
        self.counts = np.zeros(TRIANGLES + 1, np.int32)
        self.start = np.zeros(pairs + 2, np.int32)

    def _make_room_for_points(self, points: int) -> None:
        self.rows = np.zeros((points, PATCH))
        self.owner = np.zeros(points, np.int32)
        self.contacts = empty_contacts(points)

    def detect(self, bodies: Bodies, margin: Array) -> Contacts:
        """All contact points of bodies at these poses whose gap is within the margins of the two bodies.

        margin (n,) [m] per body. Rows are ordered by shape pair; shape_a < shape_b in every row. The contacts belong to
        the detector and are overwritten by the next call.
        """
        model, shapes, geom = self.model, self.model.shapes, self.geometry
        place_shapes(shapes.body, shapes.position, shapes.orientation, bodies.x, bodies.q, geom.pose)
        reach = np.ascontiguousarray(margin)[shapes.body]
        bound_shapes(geom.kind, geom.box, geom.pose, reach, geom.lo, geom.hi)
        while (count := find_pairs(geom, self.sweep, shapes.body, self.moves, self.planes)) > len(self.sweep.found):
            self._make_room_for_pairs(2 * count)
        self.pair_count = count
        while (total := self._touch(reach)) > len(self.rows):
            self._make_room_for_points(2 * total)
        fill_contacts(self.sweep.pairs, count, self.rows, self.owner, total, self.start, shapes.body, shapes.material,
                      model.materials, self.contacts)
        return self.contacts

    def _touch(self, reach: Array) -> int:
        """Points of all pairs in self.rows, family by family; returns their number, which may exceed the room."""
        geom, work, pairs, table = self.geometry, self.work, self.sweep.pairs, self.solids.table
        lists, counts, rows, owner = self.lists, self.counts, self.rows, self.owner
        sort_families(geom.kind, FAMILY, pairs, self.pair_count, lists, counts)
        total = 0
        if counts[ROUND]:
            total = touch_round_pairs(geom.kind, geom.pose, table.vertex_start, table.vertices, self.solids.solid, pairs,
                                      lists[ROUND], int(counts[ROUND]), reach, total, work.patch, rows, owner)
        if counts[BOXES]:
            total = touch_box_pairs(geom.pose, pairs, lists[BOXES], int(counts[BOXES]), reach, total, work.corners,
                                    work.poly, work.patch, lists, counts, rows, owner)
        for family in (CONVEX, TRIANGLES):
            if counts[family]:
                total = touch_convex_pairs(geom.kind, geom.data, geom.pose, self.solids, self.model.meshes, work,
                                           geom.lo, geom.hi, pairs, lists[family], int(counts[family]), reach, total,
                                           rows, owner)
        return total
