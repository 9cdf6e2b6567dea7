"""What the light shines through: the box that the shadow map shows, and its cells, by which the surfaces are found that
something moving may shade."""

import numpy as np

from ...physics.core.model import Array
from .tiles import Boxes, Ranges

SUN = np.array([-0.40, -0.50, 0.95]) / np.linalg.norm([-0.40, -0.50, 0.95])  # towards the light
CELLS = 128   # along each side of the shadow map
SPREAD = 2.0  # [texels] by which a shadow is wider than what casts it


def light_box(boxes: Boxes, lo: Array, hi: Array, texels: int) -> tuple[Array, float]:
    """World -> shadow map (4, 4), all three coordinates 0..1, and the size [m] of its largest texel.

    The map is the box along the light around the shapes between lo and hi (3,). Its size and place are rounded, so that
    edges of shadows do not flicker.
    """
    side = np.cross([0.0, 0.0, 1.0], SUN)
    side /= np.linalg.norm(side)
    axes = np.array([side, np.cross(SUN, side), -SUN])
    inside = ((boxes[0] >= lo - 1e-9) & (boxes[1] <= hi + 1e-9)).all(axis=1)  # nan is not
    low, high = (boxes[0][inside], boxes[1][inside]) if inside.any() else (lo[None], hi[None])
    centre = 0.5 * (low + high) @ axes.T
    half = 0.5 * (high - low) @ np.abs(axes).T
    near, far = (centre - half).min(axis=0), (centre + half).max(axis=0)
    extent = np.maximum(0.5 * (far - near) * 1.04, 1e-3)
    extent = 2.0 ** (np.ceil(8.0 * np.log2(extent)) / 8.0)
    texel = 2.0 * extent / texels
    middle = np.round(0.5 * (near + far) / texel) * texel
    matrix = np.eye(4)
    matrix[:3, :3] = axes * (0.5 / extent)[:, None]
    matrix[:3, 3] = 0.5 - 0.5 * middle / extent
    return matrix, float(texel[:2].max())


def cell_ranges(boxes: Boxes, light_matrix: Array, spread: float = 0.0) -> Ranges:
    """Cells of the shadow map that boxes are in, and what lies `spread` (part of the map's side) beside them."""
    across, start = light_matrix[:2, :3], light_matrix[:2, 3]
    centre = 0.5 * (boxes[0] + boxes[1]) @ across.T + start
    half = 0.5 * (boxes[1] - boxes[0]) @ np.abs(across).T + spread
    first = np.clip(np.floor(CELLS * (centre - half)), 0, CELLS - 1)
    last = np.clip(np.floor(CELLS * (centre + half)) + 1, 1, CELLS)
    return Ranges(first.astype(int), last.astype(int))
