"""From the poses of the bodies to their contacts: place the shapes, find the pairs, touch them."""

import numpy as np
from contactlab.physics.collision.broad_phase import find_pairs, new_grid
from contactlab.physics.collision.geometry import PLANE, bound_shapes, new_geometry, new_patch, own_boxes, place_shapes
from contactlab.physics.collision.manifold import new_features
from contactlab.physics.collision.narrow_phase import touch_pairs
from contactlab.physics.model import Array, BodyKind, Model, shape_count
from contactlab.physics.state import Bodies, Contacts, empty_contacts


class Detector:
    """Collision detection for one model. It keeps scratch memory only: equal bodies give equal contacts, bit for bit."""

    def __init__(self, model: Model) -> None:
        s = shape_count(model)
        longest = int(np.diff(model.hulls.loop_start).max(initial=8))
        self.model = model
        self.geometry = new_geometry(model)
        self.boxes = own_boxes(model)
        self.moves = (model.kind == BodyKind.DYNAMIC).astype(np.int32)
        self.planes = np.flatnonzero(model.shapes.kind == PLANE).astype(np.int32)
        self.grid = new_grid(s, 8 * s + 16)
        self.features = new_features(longest)
        self.patch = new_patch(64)
        self.contacts: Contacts = empty_contacts(8 * s + 16)
        self.pair_count = 0

    def detect(self, bodies: Bodies, margin: Array) -> Contacts:
        """All contact points of bodies at these poses whose gap is within the margins of the two bodies.

        margin (n,) [m] per body. Rows are ordered by shape pair; shape_a < shape_b in every row. The contacts belong to
        the detector and are overwritten by the next call.
        """
        shapes = self.model.shapes
        place_shapes(self.geometry.kind, shapes.body, shapes.position, shapes.orientation, bodies.x, bodies.q,
                     self.geometry.x, self.geometry.R)
        bound_shapes(self.geometry, shapes.body, self.boxes, margin)
        self.pair_count = self._find_pairs()
        while (total := self._touch(margin)) > len(self.contacts.gap):
            self.contacts = empty_contacts(2 * total)
        return self.contacts

    def _find_pairs(self) -> int:
        body = self.model.shapes.body
        while (count := find_pairs(self.geometry, self.grid, body, self.moves, self.planes)) > len(self.grid.found):
            self.grid = new_grid(len(body), 2 * count)
        return count

    def _touch(self, margin: Array) -> int:
        shapes = self.model.shapes
        return touch_pairs(self.geometry, self.grid.pairs, self.pair_count, shapes.body, shapes.material,
                           self.model.materials, margin, self.features, self.patch, self.contacts)
