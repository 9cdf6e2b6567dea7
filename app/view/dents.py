"""Dents of compliant surfaces as bowls to be drawn, in true or exaggerated depth."""

import numpy as np

from ...physics.core.model import Array, movable
from ...physics.laws.soft import reduced_radii, round_radius
from ...physics.run.messages import Snapshot
from .theme import Theme
from .view_options import ViewOptions

WIDTH = 13       # columns of a row: point 3, inward normal 3, colour and opacity 4, radius, depth, fade
MOST_DENTS = 300       # dents, the deepest first
FLATTEST = 1e-9  # [m] a shallower one is not drawn
CORNER = 0.16    # radius of the dent of a corner or an edge / body radius; it has none in theory
SPREAD = 1.06    # radius drawn / radius of the contact, so that the dent is seen around it


def dents(snapshot: Snapshot, options: ViewOptions, look: Theme, body_radius: float) -> Array:
    """One row (d, WIDTH) for every dent there is.

    Where a ball of the radius R presses in by z the shapes overlap in a disc of the radius √(2 R z - z²). The bowl
    hangs into body a, or into body b where that is the one that does not move.
    """
    depth, c = snapshot.dents, snapshot.contacts
    if not options.dents or len(depth) != len(c.gap) or not len(depth):
        return np.zeros((0, WIDTH))
    shown = np.argsort(-depth, kind="stable")[:MOST_DENTS]
    shown = shown[depth[shown] > FLATTEST]
    z, n = depth[shown], c.normal[shown]
    model = snapshot.model
    curved = round_radius(model)
    radius = reduced_radii(curved[c.shape_a[shown]], curved[c.shape_b[shown]])
    overlap = np.sqrt(np.maximum(z * (2.0 * np.maximum(radius, z) - z), 0.0))
    rows = np.zeros((len(shown), WIDTH))
    into_b = ~movable(model.kind[c.body_b[shown]]) & movable(model.kind[c.body_a[shown]])
    inward = np.where(into_b[:, None], n, -n)
    rows[:, :3], rows[:, 3:6] = c.point[shown] - 0.5 * z[:, None] * inward, inward
    rows[:, 6:9], rows[:, 9] = look.dent, 0.92
    rows[:, 10] = SPREAD * np.where(radius > 0.0, np.minimum(overlap, radius), CORNER * body_radius)
    rows[:, 11] = options.dent_scale * z
    rows[:, 12] = 0.5
    return rows
