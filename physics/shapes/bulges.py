"""Where an ellipsoid or superellipsoid that is somewhere flatter than a wall around it may touch this wall.

Such a solid is the same on both sides of each plane across its axes. A point of it on that side of such a plane where
the middle of a bowl is comes farther out where it is mirrored to the other side. So in each octant it is farthest out
in one place at most, and an ellipsoid on each side of the plane across its longest axis. What is round about an axis is
farthest out in the half plane from this axis away from the middle of the bowl; or as far all around: then CORNERS of
its half planes stand for them all.

In a pipe what counts is the outline of the solid, seen along the pipe. Its places have seats, see
`collision.exact.outlines`.

Two such places on either side of a plane may come together in it, and are one from then on. So the border of their
regions is BESIDE the plane: one of them is left alone a little before, where the surface between them is by no more
than rounding less far out.
"""

from itertools import product

import numpy as np

from ..core.model import HOLLOW, Array, Model
from .elements import (
    BULGE,
    BULGE_ROUND,
    BULGE_STAND,
    CORNERS,
    OUTLINE,
    Element,
    about_z,
)
from .shapes import quat_product

SEATS = 12    # of the places of an outline in a pipe; most have two or four, and as many will be there soon
EQUAL = 1e-9  # share by which two semi-axes may differ that count as equal
BESIDE = 1e-3  # from a plane of symmetry the border of two regions, relative to the semi-axis across it
ONTO = ((0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, -0.5), (1.0, 0.0, 0.0, 0.0))  # turns of z onto each of the axes


def bulges_of(model: Model, s: int, widest: float) -> list[Element]:
    """The elements of a solid s that touch walls which curve less than it does somewhere, `widest` being its greatest
    radius of curvature [m]; none where there are no such walls."""
    shapes = model.shapes
    half, exponents = shapes.size[s], shapes.exponents[s]
    bowls, pipes = (np.flatnonzero((shapes.kind == kind) & (shapes.size[:, 0] <= widest)).tolist() for kind in HOLLOW)
    order = np.argsort(-half, kind="stable").tolist()
    if (exponents == 1.0).all():
        around = same(half, order[0], order[1])
        axes, axis = ([], order[2]) if around else (order[:1], order[0 if same(half, order[1], order[2]) else 2])
    else:
        around, axis = exponents[1] == 1.0 and same(half, 0, 1), 2
        axes = [2] if around else [0, 1, 2]
    stands = [(BULGE_STAND, 2.0 * np.pi / CORNERS * k) for k in range(CORNERS)]
    in_bowl = [(BULGE_ROUND, 0.0), *stands] if around else [(BULGE, 0.0)]
    found = [Element(kind, np.zeros(3), np.roll(half, 2 - axis), widest, sides=part, extent=float(shapes.bound[s]),
                     exponents=(float(exponents[0]), float(exponents[1])),
                     frame=quat_product(ONTO[axis], about_z(angle)))
             for part in (parts(half, axes) if bowls else []) for kind, angle in in_bowl]
    return found + [Element(OUTLINE, np.zeros(3), half, widest, extent=float(shapes.bound[s]),
                            exponents=(float(exponents[0]), float(exponents[1])), wall=wall)
                    for wall in pipes for _ in range(SEATS)]


def same(half: Array, i: int, j: int) -> bool:
    """Whether two semi-axes are equal."""
    return bool(abs(half[i] - half[j]) <= EQUAL * half[i])


def parts(half: Array, axes: list[int]) -> list[tuple]:
    """The half-spaces of each choice of a side of the planes across these axes."""
    return [tuple((-sign * np.eye(3)[i], -sign * BESIDE * half[i]) for sign, i in zip(signs, axes, strict=True))
            for signs in product((1.0, -1.0), repeat=len(axes))]
