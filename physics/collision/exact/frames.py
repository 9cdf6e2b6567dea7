"""Elements in the world: where they are, and how far inside their own region a point is."""

import math

from ...core.jit import helper
from ...core.vec import axpy, dot, norm, rotate, row, row4, sub, transform, unrotate, untransform
from ...shapes.elements import VERTEX

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
    if surface.taper[e] > 0.0 and surface.kind[e] == VERTEX:
        margin = min(margin, beyond_apex(surface, bodies, e, sub(p, world_point(surface, bodies, e))))
    return margin


@helper
def face_margin(surface, bodies, f, p, foot):
    """The same of a face and a point p over its point `foot`, where it is round also within its rim."""
    margin = side_margin(surface, bodies, f, p)
    if surface.length[f] < math.inf:
        margin = min(margin, surface.length[f] - norm(sub(foot, world_point(surface, bodies, f))))
    return margin


@helper
def beyond_apex(surface, bodies, e, d):
    """How far inside the outward normals of a cone's apex, which lie about its axis a up to that of its side, the
    vector d from there is: a·d cos α - |d - (a·d) a| sin α, sin α = taper."""
    a, t = world_axis(surface, bodies, e), surface.taper[e]
    along = dot(a, d)
    return math.sqrt(1.0 - t * t) * along - t * norm(axpy(-along, a, d))


@helper
def off_rim(d, a, out, taper):
    """How far inside the outward normals of a rim the vector d is, at its point in the direction `out` from its middle:
    they lie between the axis a out of the cap and the normal of the side, which is perpendicular to the line a cos α +
    out sin α of the side that ends there, sin α = taper."""
    down = dot(d, a) if taper == 0.0 else math.sqrt(1.0 - taper * taper) * dot(d, a) + taper * dot(d, out)
    return min(down, dot(d, out))


@helper
def facing_margin(surface, bodies, e, n):
    """>= 0 where the unit vector n lies between the outward normals of the faces of a sharp edge or a vertex."""
    margin = 1.0
    local = unrotate(row4(bodies.q, int(surface.body[e])), n)
    for k in range(int(surface.side_start[e]), int(surface.side_start[e + 1])):
        margin = min(margin, -dot(row(surface.side, k), local))
    if surface.taper[e] > 0.0 and surface.kind[e] == VERTEX:
        margin = min(margin, beyond_apex(surface, bodies, e, n))
    return margin


@helper
def facing_at_rim(surface, bodies, e, n, margin):
    """The same of a vertex with the outward normal n at the rim of a face, `margin` [m] inside it; elsewhere 1.

    Inside a face a vertex can touch it only if all its edges lead away from it. At the rim an edge may lead down beside
    the face: such a vertex passes the rim and is not stopped by the face."""
    return facing_margin(surface, bodies, e, n) if abs(margin) < NEAR_RIM else 1.0
