"""How long glyphs are drawn."""

from typing import NamedTuple

import numpy as np

from ...physics.core.model import Array, Model, movable
from ...physics.run.messages import Snapshot
from .numbers import nice
from .view_options import ViewOptions

CROWD = 30             # with more bodies arrows are cut shorter, so that they do not hide the bodies
STANDARD_GRAVITY = 9.81


class Scale(NamedTuple):
    """How long things are drawn."""

    body: float               # characteristic radius of a body [m]
    force: float              # [N] drawn `length` long
    length: float             # [m]
    longest: float            # [m] longer arrows are cut and dashed
    newtons_per_metre: float
    seconds: float            # velocities: metres of arrow per m/s
    impulse: float            # [N s] of an impact at the speed of a fall over one body radius


def body_radius(model: Model) -> float:
    """Median radius [m] of the shapes that can move, of all bounded shapes where none can; 0.5 in an empty scene."""
    shapes = model.shapes
    bounded = np.isfinite(shapes.bound) & (shapes.bound > 0.0)
    moving = bounded & movable(model.kind[shapes.body])
    chosen = moving if moving.any() else bounded
    return float(np.median(shapes.bound[chosen])) if chosen.any() else 0.5


def scales(snapshot: Snapshot, options: ViewOptions) -> Scale:
    """Depend on the model, the gravity and the sliders only, so that the scale of arrows stays while a scene
    runs.

    A body's weight w is drawn 2.5 body radii long; in a scene of n bodies, where loads add up, w n^(1/6) is.
    """
    model = snapshot.model
    radius = body_radius(model)
    dynamic = movable(model.kind)
    count = max(int(dynamic.sum()), 1)
    gravity = float(np.linalg.norm(snapshot.settings.gravity)) or STANDARD_GRAVITY
    mass = float(model.mass[dynamic].sum()) / count or 1.0
    length = 2.5 * radius
    per_metre = nice(mass * gravity * count ** (1.0 / 6.0) / length) / max(options.force_scale, 1e-6)
    longest = 2.4 * length * min(1.0, (CROWD / count) ** 0.25)
    return Scale(radius, per_metre * length, length, longest, per_metre, nice(np.sqrt(radius / gravity)),
                 mass * float(np.sqrt(2.0 * gravity * radius)))


def arrow_lengths(force: Array, scale: Scale, logarithmic: bool) -> Array:
    """Lengths [m] of arrows for forces (c,) [N]: proportional, or ~ log(1 + 100 f / f_ref)."""
    if logarithmic:
        return scale.length * np.log1p(100.0 * force / scale.force) / np.log(101.0)
    return force / scale.newtons_per_metre
