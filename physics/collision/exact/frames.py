"""Elements in the world: where they are, and how far inside their own region a point is."""

import math

from ...core.jit import helper
from ...core.vec import dot, rotate, row, row4, transform, unrotate, untransform

PARALLEL = 1e-6  # sine of the angle below which two edges have no normal
NOWHERE = -1.0   # margin of a pair that has no gap at this pose [m]
NEAR_RIM = 1e-4  # from the rim of a face, within which a vertex must face it to touch it [m]


@helper
def world_point(surface, bodies, e):
    """The element's point in the world."""
    i = int(surface.body[e])
    return transform(row(bodies.x, i), row4(bodies.q, i), row(surface.point, e))


@helper
def world_axis(surface, bodies, e):
    """The element's axis in the world."""
    return rotate(row4(bodies.q, int(surface.body[e])), row(surface.axis, e))


@helper
def side_margin(surface, bodies, e, p):
    """How far inside all half-spaces of the element a world point is [m]."""
    first, last = int(surface.side_start[e]), int(surface.side_start[e + 1])
    margin = math.inf
    if last > first:
        i = int(surface.body[e])
        local = untransform(row(bodies.x, i), row4(bodies.q, i), p)
        for k in range(first, last):
            margin = min(margin, surface.side[k, 3] - dot(row(surface.side, k), local))
    return margin


@helper
def facing_margin(surface, bodies, e, n):
    """>= 0 where the unit vector n lies between the outward normals of the faces of a sharp edge or a vertex."""
    margin = 1.0
    local = unrotate(row4(bodies.q, int(surface.body[e])), n)
    for k in range(int(surface.side_start[e]), int(surface.side_start[e + 1])):
        margin = min(margin, -dot(row(surface.side, k), local))
    return margin


@helper
def facing_at_rim(surface, bodies, e, n, margin):
    """The same of a vertex with the outward normal n at the rim of a face, `margin` [m] inside it; elsewhere 1.

    Inside a face a vertex can touch it only if all its edges lead away from it. At the rim an edge may lead down beside
    the face: such a vertex passes the rim and is not stopped by the face."""
    return facing_margin(surface, bodies, e, n) if abs(margin) < NEAR_RIM else 1.0
