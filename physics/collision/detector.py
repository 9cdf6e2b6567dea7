"""From the poses of the bodies to their contacts: place the shapes, find the pairs, touch them."""

import numpy as np

from contactlab.physics.collision.broad_phase import find_pairs, new_sweep
from contactlab.physics.collision.geometry import PATCH, PLANE, bound_shapes, new_geometry, place_shapes
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
        self.moves = (model.kind == BodyKind.DYNAMIC).astype(np.int32)
        self.planes = np.flatnonzero(model.shapes.kind == PLANE).astype(np.int32)
        self.sweep = new_sweep(s, 8 * s + 16)
        self.features = new_features(longest)
        self.patch = np.zeros((64, PATCH))
        self.contacts: Contacts = empty_contacts(8 * s + 16)
        self.pair_count = 0

    def detect(self, bodies: Bodies, margin: Array) -> Contacts:
        """All contact points of bodies at these poses whose gap is within the margins of the two bodies.

        margin (n,) [m] per body. Rows are ordered by shape pair; shape_a < shape_b in every row. The contacts belong to
        the detector and are overwritten by the next call.
        """
        shapes = self.model.shapes
        geom = self.geometry
        place_shapes(shapes.body, shapes.position, shapes.orientation, bodies.x, bodies.q, geom.pose)
        bound_shapes(geom.kind, shapes.body, geom.box, geom.pose, margin, geom.lo, geom.hi)
        self.pair_count = self._find_pairs()
        while (total := self._touch(margin)) > len(self.contacts.gap):
            self.contacts = empty_contacts(2 * total)
        return self.contacts

    def _find_pairs(self) -> int:
        body = self.model.shapes.body
        while (count := find_pairs(self.geometry, self.sweep, body, self.moves, self.planes)) > len(self.sweep.found):
            self.sweep = new_sweep(len(body), 2 * count)
        return count

    def _touch(self, margin: Array) -> int:
        return touch_pairs(self.geometry.kind, self.geometry.pose, self.features, self.sweep.pairs, self.pair_count,
                           self.model.shapes, self.model.materials, margin, self.patch, self.contacts)
