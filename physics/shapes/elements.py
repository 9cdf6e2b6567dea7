"""Surfaces as elements whose distances have closed forms: vertices, edges, faces, rims and a few more.

A shape is a core of vertices, edges and faces, swollen by a radius: a ball is a vertex, a capsule two vertices and an
edge, a box eight vertices, twelve edges and six faces. The event-driven method follows the distances of such elements;
`collision.exact` says how.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.model import Array

#: kinds of elements
(VERTEX, EDGE, FACE, RIM, AHEAD, BEHIND, CORNER, ELLIPSOID, BOWL, PIPE, RING, SMOOTH, RING_AHEAD,
 RING_BEHIND, ARC, TWIN, STAND, SIDE, SPOT, SPOT_ROUND, SPOT_STAND, OUTLINE) = range(22)
SPOTS = (SPOT, SPOT_ROUND, SPOT_STAND)  # of ellipsoids and superellipsoids in a bowl, see `seats`
CORNERS = 8  # points of a rim on which a flat end stands
ARCS = 16    # of a ring, or of a rim in a hollow


class Element(NamedTuple):
    """One element of a shape, in the shape frame."""

    kind: int             #: VERTEX … OUTLINE
    point: ArrayLike      #: the vertex or corner, the middle of the edge, rim or arc, a point of the face, an apex [m]
    axis: ArrayLike = (0.0, 0.0, 0.0)  #: unit vector along an edge, out of a face, or of a cone towards its apex;
                                       #: semi-axes of a round one [m]
    length: float = np.inf  #: half an edge; radius of a rim, ring, arc or round face; of a cone's side its lines; of an
                            #: ellipsoid, superellipsoid or seat of these the greatest radius of curvature [m]
    radius: float = 0.0   #: what the element is swollen by [m]
    sides: tuple = ()     #: (direction, offset) of half-spaces that bound its region
    extent: float = np.inf  #: radius about `point` that holds the element [m]
    frame: ArrayLike = (1.0, 0.0, 0.0, 0.0)  #: orientation of its axes, unit quaternion w x y z
    exponents: tuple[float, float] = (1.0, 1.0)  #: of a superellipsoid
    taper: float = 0.0    #: of a cone's apex, side and rim: sine of the angle between its axis and its side
    wall: int = -1        #: the only shape that it touches, of a seat; -1 = any


class ElementRows(NamedTuple):
    """Many elements, a row each, as `Element` has them."""

    kind: Array        #: (e,)
    point: Array       #: (e, 3)
    axis: Array        #: (e, 3)
    length: Array      #: (e,)
    radius: Array      #: (e,)
    extent: Array      #: (e,)
    frame: Array       #: (e, 4)
    exponents: Array   #: (e, 2)
    taper: Array       #: (e,)
    wall: Array        #: (e,)
    side_count: Array  #: (e,)
    sides: Array       #: (k, 4) of one element after the other: direction, offset


def rows_of(kind: int, point: Array, sides: Array, side_count: ArrayLike, axis: ArrayLike = (0.0, 0.0, 0.0),
            length: ArrayLike = np.inf, extent: ArrayLike = np.inf) -> ElementRows:
    """Elements of one kind at points (e, 3), swollen by nothing; what they have in common may be given once."""
    count = len(point)

    def column(values: ArrayLike, *width: int) -> Array:
        return np.broadcast_to(np.asarray(values, np.float64), (count, *width))

    return ElementRows(column(kind), point, column(axis, 3), column(length), column(0.0), column(extent),
                       column((1.0, 0.0, 0.0, 0.0), 4), column((1.0, 1.0), 2), column(0.0), column(-1.0),
                       column(side_count), sides)


def as_rows(elements: list[Element]) -> ElementRows:
    """The same elements, a row each."""
    def column(name: str, *width: int) -> Array:
        return np.array([getattr(e, name) for e in elements], np.float64).reshape(len(elements), *width)

    sides = np.array([[*n, offset] for e in elements for n, offset in e.sides], np.float64).reshape(-1, 4)
    return ElementRows(column("kind"), column("point", 3), column("axis", 3), column("length"), column("radius"),
                       column("extent"), column("frame", 4), column("exponents", 2), column("taper"), column("wall"),
                       np.array([len(e.sides) for e in elements], np.float64), sides)


def joined_rows(parts: list[ElementRows]) -> ElementRows:
    """One after the other; of no parts no rows."""
    columns = zip(*(parts or [as_rows([])]), strict=True)
    return ElementRows(*(np.ascontiguousarray(np.concatenate(column)) for column in columns))


def polyhedron(vertices: Array, loops: list[list[int]], radius: float = 0.0) -> list[Element]:
    """Elements of a convex polyhedron swollen by a radius; the loops of its faces run counter-clockwise seen from
    outside."""
    found: list[Element] = []
    normals, beside = [], {}
    for f, loop in enumerate(loops):
        corners = vertices[loop]
        n = np.cross(corners, np.roll(corners, -1, 0)).sum(0)
        normals.append(n / np.linalg.norm(n))
        beside.update({(i, j): f for i, j in zip(loop, loop[1:] + loop[:1], strict=True)})
    out = {}  # directed edge of a face -> in-plane direction out of the face
    for (i, j), f in beside.items():
        m = np.cross(vertices[j] - vertices[i], normals[f])
        out[i, j] = m / np.linalg.norm(m)
    for v, p in enumerate(vertices):
        away = [vertices[j] - p for i, j in beside if i == v]
        sides = tuple((d / np.linalg.norm(d), d @ p / np.linalg.norm(d)) for d in away)
        found.append(Element(VERTEX, p, radius=radius, sides=sides, extent=radius))
    for i, j in beside:
        if i < j:
            p, q = vertices[i], vertices[j]
            sides = tuple((-m, -m @ p) for m in (out[i, j], out[j, i]))
            half = 0.5 * float(np.linalg.norm(q - p))
            found.append(Element(EDGE, 0.5 * (p + q), (q - p) / (2.0 * half), half, radius, sides, half + radius))
    for f, loop in enumerate(loops):
        sides = tuple((out[i, j], out[i, j] @ vertices[i]) for i, j in zip(loop, loop[1:] + loop[:1], strict=True))
        extent = float(np.linalg.norm(vertices[loop] - vertices[loop[0]], axis=1).max())
        found.append(Element(FACE, vertices[loop[0]] + radius * normals[f], normals[f], sides=sides, extent=extent))
    return found


def flat_end(z: float, up: float, radius: float, kinds: tuple[int, ...], taper: float = 0.0) -> list[Element]:
    """Elements of these kinds of a round flat end at height z that looks up (1) or down (-1), and CORNERS points of its
    rim to stand on."""
    e_z = np.array([0.0, 0.0, 1.0])
    angles = 2.0 * np.pi / CORNERS * np.arange(CORNERS)
    corners = radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(CORNERS)])
    found = [Element(kind, z * e_z, up * e_z, radius, extent=radius, taper=taper) for kind in kinds]
    return found + [Element(CORNER, z * e_z + p, up * e_z, radius, extent=0.0) for p in corners]


def about_z(angle: float) -> tuple[float, float, float, float]:
    """Quaternion of a turn about z."""
    return math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)


def arcs_of(z: float, radius: float, tube: float) -> list[Element]:
    """Of a circle about the z axis at height z, swollen by `tube`, which may be 0: its arcs, and points for where
    it has the same height all around over something round."""
    found, half = [], math.pi / ARCS
    for k in range(ARCS):
        angle = 2.0 * half * k
        point, frame = np.array([radius * math.cos(angle), radius * math.sin(angle), z]), about_z(angle)
        extent = 2.0 * radius * math.sin(half) + tube
        found += [Element(kind, point, (0.0, 0.0, 1.0), radius, tube, extent=extent, frame=frame)
                  for kind in (ARC, TWIN)]
        if k % (ARCS // CORNERS) == 0:
            found.append(Element(STAND, point, (0.0, 0.0, 1.0), radius, tube, extent=tube, frame=frame))
    return found
