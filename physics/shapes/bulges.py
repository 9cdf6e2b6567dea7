"""Where an ellipsoid or superellipsoid that is somewhere flatter than a wall around it may touch this wall.

Such a solid is the same on both sides of each plane across its axes. A point of it on that side of such a plane where
the middle of a bowl is comes farther out where it is mirrored to the other side. So in each octant it is farthest out
in one place at most, and an ellipsoid on each side of the plane across its longest axis. What is round about an axis is
farthest out in the half plane from this axis away from the middle of the bowl; or as far all around: then CORNERS of
its half planes stand for them all.

In a pipe what counts is the outline of the solid, seen along the pipe. That of an ellipsoid is an ellipse, farthest out
in one place at most in each half, on either side of its shorter axis.

The regions of neighbours overlap. The wider they do, the less often a contact passes from one to the next where a flat
place of a boxy solid lies at their border; but each place far out must be alone in its region.
"""

from itertools import product

import numpy as np

from ..core.model import HOLLOW, Array, Model, ShapeKind
from .elements import (
    BULGE,
    BULGE_AHEAD,
    BULGE_BEHIND,
    BULGE_ROUND,
    BULGE_STAND,
    CORNERS,
    Element,
    about_z,
)
from .shapes import quat_product

EQUAL = 1e-9  # share by which two semi-axes may differ that count as equal
LAP, BOXY_LAP = 1e-3, 0.3  # half the width in which regions overlap, relative to the semi-axis; more of boxy ones
ONTO = ((0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, -0.5), (1.0, 0.0, 0.0, 0.0))  # turns of z onto each of the axes


def bulges_of(model: Model, s: int, widest: float) -> list[Element]:
    """The elements of a solid s that touch walls which curve less than it does somewhere, `widest` being its greatest
    radius of curvature [m]; none where there are no such walls."""
    shapes = model.shapes
    half, exponents = shapes.size[s], shapes.exponents[s]
    walls = {kind for kind in HOLLOW if (shapes.size[shapes.kind == kind, 0] <= widest).any()}
    order = np.argsort(-half, kind="stable").tolist()
    if (exponents == 1.0).all():
        around, seen = same(half, order[0], order[1]), []
        axes = [] if around else order[:1]
        axis = order[0] if same(half, order[1], order[2]) and not around else order[2]
    else:
        around, axis = exponents[1] == 1.0 and same(half, 0, 1), 2
        axes = seen = [2] if around else [0, 1, 2]
    in_bowl = [(BULGE_ROUND, 0.0), *((BULGE_STAND, 2.0 * np.pi / CORNERS * k) for k in range(CORNERS))]
    in_pipe = [(BULGE_AHEAD, 0.0), (BULGE_BEHIND, 0.0)]
    plan = []
    if ShapeKind.BOWL in walls:
        plan += [(part, in_bowl if around else [(BULGE, 0.0)]) for part in parts(half, exponents, axes)]
    if ShapeKind.PIPE in walls:
        plan += [(part, in_pipe) for part in parts(half, exponents, seen)]
    turned = np.roll(half, 2 - axis)
    return [Element(kind, np.zeros(3), turned, widest, sides=part, extent=float(shapes.bound[s]),
                    exponents=(float(exponents[0]), float(exponents[1])),
                    frame=quat_product(ONTO[axis], about_z(angle)))
            for part, kinds in plan for kind, angle in kinds]


def same(half: Array, i: int, j: int) -> bool:
    """Whether two semi-axes are equal."""
    return bool(abs(half[i] - half[j]) <= EQUAL * half[i])


def parts(half: Array, exponents: Array, axes: list[int]) -> list[tuple]:
    """The half-spaces of each choice of a side of the planes across these axes."""
    lap = half * (LAP + BOXY_LAP * (1.0 - np.array([exponents.max(), exponents.max(), exponents[0]])))
    return [tuple((-sign * np.eye(3)[i], lap[i]) for sign, i in zip(signs, axes, strict=True))
            for signs in product((1.0, -1.0), repeat=len(axes))]
