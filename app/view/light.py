"""What the light shines through: the box that the shadow map shows, and its cells, by which the surfaces are found that
something moving may shade."""

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array, Labels, Model, ShapeKind
from .tiles import Boxes, Ranges, counted, touching

SUN = np.array([-0.40, -0.50, 0.95]) / np.linalg.norm([-0.40, -0.50, 0.95])  # towards the light
CONVEX = (ShapeKind.SPHERE, ShapeKind.BOX, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.HULL, ShapeKind.ROUNDED,
          ShapeKind.CONE, ShapeKind.ELLIPSOID)
CELLS = 128   # along each side of the shadow map
SPREAD = 2.0  # [texels] by which a shadow is wider than what casts it


def plain(model: Model, labels: Labels) -> NDArray[np.bool_]:
    """(s,) which shapes have no parts that shade each other, nor a plane to cast a shadow on."""
    kind, meshes = model.shapes.kind, labels.draw_meshes
    drawn = np.array([bool(meshes) and len(meshes[s][1]) > 0 for s in range(len(kind))], bool)
    return np.isin(kind, CONVEX) & ~drawn & (kind != ShapeKind.PLANE).all()


def light_box(boxes: Boxes, lo: Array, hi: Array, texels: int, plain_shapes: NDArray[np.bool_]) -> tuple[Array, float]:
    """World -> shadow map (4, 4), all three coordinates 0..1, and the size [m] of its largest texel.

    The map is the box along the light around the shapes between lo and hi (3,), but for those that are plain (s,) and
    that the light meets without another: so a ball that falls out of the scene does not make the shadows of others
    coarse. The box's size and place are rounded, so that edges of shadows do not flicker; along the light coarsely, as
    depth is exact enough.
    """
    side = np.cross([0.0, 0.0, 1.0], SUN)
    side /= np.linalg.norm(side)
    axes = np.array([side, np.cross(SUN, side), -SUN])
    inside = ((boxes[0] >= lo - 1e-9) & (boxes[1] <= hi + 1e-9)).all(axis=1)  # nan is not
    low, high = (boxes[0][inside], boxes[1][inside]) if inside.any() else (lo[None], hi[None])
    centre = 0.5 * (low + high) @ axes.T
    half = 0.5 * (high - low) @ np.abs(axes).T
    near, far = centre - half, centre + half
    if plain_shapes[inside].any():
        together = ~plain_shapes[inside] | overlapping(near[:, :2], far[:, :2])
        near, far = (near[together], far[together]) if together.any() else (near, far)
    near, far = near.min(axis=0), far.max(axis=0)
    extent = np.maximum(0.5 * (far - near) * [1.04, 1.04, 1.1], 1e-3)
    steps = np.array([8.0, 8.0, 1.0])  # of an octave
    extent = 2.0 ** (np.ceil(steps * np.log2(extent)) / steps)
    texel = 2.0 * extent / texels
    grid = np.array([texel[0], texel[1], 0.125 * extent[2]])
    middle = np.round(0.5 * (near + far) / grid) * grid
    matrix = np.eye(4)
    matrix[:3, :3] = axes * (0.5 / extent)[:, None]
    matrix[:3, 3] = 0.5 - 0.5 * middle / extent
    return matrix, float(texel[:2].max())


def overlapping(near: Array, far: Array) -> NDArray[np.bool_]:
    """Which of the rectangles (k, 2) share a cell of a grid over all of them with another."""
    start, size = near.min(axis=0), np.maximum(np.ptp(np.vstack([near, far]), axis=0), 1e-12)
    first, last = (np.clip(np.floor(CELLS * (at - start) / size), 0, CELLS - 1).astype(int) for at in (near, far))
    ranges = Ranges(first, last + 1)
    return touching(counted(ranges, (CELLS, CELLS)) > 1.5, ranges)


def cell_ranges(boxes: Boxes, light_matrix: Array, spread: float = 0.0) -> Ranges:
    """Cells of the shadow map that boxes are in, and what lies `spread` (part of the map's side) beside them."""
    across, start = light_matrix[:2, :3], light_matrix[:2, 3]
    centre = 0.5 * (boxes[0] + boxes[1]) @ across.T + start
    half = 0.5 * (boxes[1] - boxes[0]) @ np.abs(across).T + spread
    first = np.clip(np.floor(CELLS * (centre - half)), 0, CELLS - 1)
    last = np.clip(np.floor(CELLS * (centre + half)) + 1, 1, CELLS)
    return Ranges(first.astype(int), last.astype(int))
