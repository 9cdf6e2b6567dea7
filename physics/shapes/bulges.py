"""Where an ellipsoid or superellipsoid that is somewhere flatter than a wall around it may touch this wall.

Such a solid is the same on both sides of each plane across its axes. A point of it on that side of such a plane where
the middle of the wall is comes farther out where it is mirrored to the other side. So in each octant of the solid it is
farthest out in one place at most, except where exponents above 1 make tips: there each octant is parted among them. Of
an ellipsoid only the plane across its longest axis has places on both sides in a bowl, and in a pipe also that across
its middle one.

What is round about an axis is farthest out in the half plane from this axis away from the middle of a bowl, and in a
pipe once on either side of the plane through its own axis and along the pipe. It may be as far out all around: then
CORNERS of its half planes stand for them all.
"""

import math
from itertools import product

import numpy as np

from ..core.model import HOLLOW, Array, Model
from .elements import BULGE, BULGE_AHEAD, BULGE_BEHIND, BULGE_STAND, CORNERS, Element, about_z
from .shapes import quat_product

EQUAL = 1e-9  # share by which two semi-axes may differ that count as equal
ONTO = ((0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, -0.5), (1.0, 0.0, 0.0, 0.0))  # turns of z onto each of the axes


def bulges_of(model: Model, s: int, widest: float) -> list[Element]:
    """The elements of a solid s that touch walls which curve less than it does somewhere, `widest` being its greatest
    radius of curvature [m]; none where there are no such walls."""
    shapes = model.shapes
    if not (np.isin(shapes.kind, HOLLOW) & (shapes.size[:, 0] <= widest)).any():
        return []
    half, bound = shapes.size[s], float(shapes.bound[s])
    exponents = float(shapes.exponents[s, 0]), float(shapes.exponents[s, 1])
    if exponents == (1.0, 1.0):
        first, second, third = np.argsort(-half, kind="stable").tolist()
        if same(half[first], half[second]):
            return round_bulges(half, third, exponents, widest, bound)
        signs = [first] if same(half[second], half[third]) else [first, second]
        regions = [halves(chosen) for chosen in signed(signs)]
    elif exponents[1] == 1.0 and same(half[0], half[1]):
        return round_bulges(half, 2, exponents, widest, bound)
    else:
        regions = [region for chosen in signed([0, 1, 2]) for region in parted(half, exponents, chosen)]
    return [Element(BULGE, np.zeros(3), half, widest, sides=region, extent=bound, exponents=exponents)
            for region in regions]


def same(a: float, b: float) -> bool:
    """Whether two semi-axes are equal."""
    return abs(a - b) <= EQUAL * max(a, b)


def signed(axes: list[int]) -> list[dict[int, float]]:
    """All choices of a side of the planes across these axes."""
    return [dict(zip(axes, signs, strict=True)) for signs in product((1.0, -1.0), repeat=len(axes))]


def halves(chosen: dict[int, float]) -> tuple:
    """The half-spaces on the sides chosen."""
    return tuple((-sign * np.eye(3)[i], 0.0) for i, sign in chosen.items())


def parted(half: Array, exponents: tuple[float, float], chosen: dict[int, float]) -> list[tuple]:
    """The parts of an octant: about tips, as exponents above 1 make them around and along z, and about what is between
    these. In coordinates divided by the semi-axes tips part where their coordinates are equal."""
    x, y, z = (sign * np.eye(3)[i] / half[i] for i, sign in chosen.items())
    around = [(x, [x - y]), (y, [y - x])] if exponents[1] > 1.0 else [(0.5 * (x + y), [])]
    if exponents[0] > 1.0:
        parts = [[*inside, beyond - z] for beyond, inside in around] + [[z - beyond for beyond, _ in around]]
    else:
        parts = [inside for _, inside in around]
    return [(*halves(chosen), *((-n / np.linalg.norm(n), 0.0) for n in part)) for part in parts]


def round_bulges(half: Array, axis: int, exponents: tuple[float, float], widest: float, bound: float) -> list[Element]:
    """Of one that is round about one of its axes, which its elements have as z."""
    wide, long = float(half[(axis + 1) % 3]), float(half[axis])
    sine = wide / math.hypot(wide, long)
    regions = [((), 0.0)]
    if exponents[0] != 1.0:
        tapers = (sine, -sine) if exponents[0] > 1.0 else (0.0,)
        regions = [(side, taper) for side in map(halves, signed([axis])) for taper in tapers]
    kinds = [(BULGE_AHEAD, 0.0), (BULGE_BEHIND, 0.0)]
    kinds += [(BULGE_STAND, 2.0 * math.pi / CORNERS * k) for k in range(CORNERS)]
    return [Element(kind, np.zeros(3), (wide, wide, long), widest, sides=sides, extent=bound, exponents=exponents,
                    frame=quat_product(ONTO[axis], about_z(angle)), taper=taper)
            for sides, taper in regions for kind, angle in kinds]
