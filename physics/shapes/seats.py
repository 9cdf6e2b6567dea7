"""The seats of an ellipsoid or superellipsoid in bowls and pipes that it is somewhere flatter than: elements for the
places where it may touch them, see `collision.exact.seats`."""

import numpy as np

from ..core.model import HOLLOW, Array, Model, ShapeKind
from .elements import CORNERS, OUTLINE, SPOT, SPOT_ROUND, SPOT_STAND, Element, about_z
from .shapes import quat_product

SEATS = 12       # of one solid in a wall; most have up to eight places, and as many more will be there soon
ROUND_SEATS = 4  # of what is round in a bowl
EQUAL = 1e-9     # share by which two semi-axes may differ that count as equal
ONTO = ((0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, -0.5), (1.0, 0.0, 0.0, 0.0))  # turns of z onto each of the axes


def seats_of(model: Model, s: int, widest: float) -> list[Element]:
    """The seats of a solid s in all walls which curve less than it does somewhere, `widest` being its greatest radius
    of curvature [m]; none where there are no such walls. They are the last elements of their shape."""
    shapes = model.shapes
    half, exponents = shapes.size[s], (float(shapes.exponents[s, 0]), float(shapes.exponents[s, 1]))
    axis, stands = round_about(half, exponents), [2.0 * np.pi / CORNERS * k for k in range(CORNERS)]
    around = [(SPOT_ROUND, 0.0), *((SPOT_STAND, angle) for angle in stands)]
    found = []
    for wall in np.flatnonzero(np.isin(shapes.kind, HOLLOW) & (shapes.size[:, 0] <= widest)).tolist():
        if shapes.kind[wall] == ShapeKind.PIPE:
            kinds = [(OUTLINE, 0.0)] * SEATS
        else:
            kinds = [(SPOT, 0.0)] * SEATS if axis < 0 else around * ROUND_SEATS
        z = axis if shapes.kind[wall] == ShapeKind.BOWL and axis >= 0 else 2
        found += [Element(kind, np.zeros(3), np.roll(half, 2 - z), widest, extent=float(shapes.bound[s]),
                          exponents=exponents, frame=quat_product(ONTO[z], about_z(angle)), wall=wall)
                  for kind, angle in kinds]
    return found


def round_about(half: Array, exponents: tuple[float, float]) -> int:
    """The axis about which a solid is round, so that it may be as far out all around; -1 = none. The ends of what is
    longest along it are farther out."""
    order = np.argsort(-half, kind="stable").tolist()
    if exponents == (1.0, 1.0):
        return order[2] if same(half, order[0], order[1]) else -1
    return 2 if exponents[1] == 1.0 and same(half, 0, 1) else -1


def same(half: Array, i: int, j: int) -> bool:
    """Whether two semi-axes are equal."""
    return bool(abs(half[i] - half[j]) <= EQUAL * half[i])
