"""Surfaces as elements whose distances have closed forms: what the event-driven method knows of shapes.

A shape is a core of vertices, edges and faces, swollen by a radius: a ball is a vertex, a capsule two vertices and an
edge, a box eight vertices, twelve edges and six faces; the side of a cylinder is an edge and the border of its cap a
rim. Of a cone the apex is a vertex, the base a face with its rim, and the side an element of its own (`lines`). The
distance of a *pair of elements* is one smooth function of the poses (`gaps`), so that it can be followed through a
step; `margin` says where it is the distance of the shapes.

A rim has one nearest point to most elements, but two to an edge, or a line of a cone's side, that lies across its cap.
There each half of the rim is an element of its own: the one ahead along the edge and the one behind. A rim that lies
flat on a face is replaced by CORNERS of its points.

A ring, the circle in the middle of a torus, is a rim all around, and swollen: a ball that fits through its hole has one
nearest point on it. So has an edge, unless it passes near the axis (`rings`): then there are two, and again each half
of the ring is an element of its own. Where a torus lies flat, CORNERS of its points stand for it, too. To other rings,
rims, sides of cones, ellipsoids and walls it may be nearest in several places, each in an arc of its own (`arcs`). So
may the rims of cylinders and cones to walls.

An ellipsoid or superellipsoid is one element, and so is the wall of a bowl or of a pipe. Such a wall can be touched
only by vertices, rims and rings, and by ellipsoids and superellipsoids: in one place where these curve more than the
wall, else in several, each of which has its seat (`seats`). A mesh consists of the faces and convex
edges of its triangles and the vertices of these edges; flat and inner edges are none, and neither are vertices on
straight edges, so that nothing feels how it is divided. `continuation` says where a contact goes on over the next
triangle.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.limits import EXACT_TRIANGLES
from ...core.model import Array, IntArray, Model, ShapeKind, movable
from ...core.state import LongArray
from ...dynamics.constraints.limits import TURNS, Limits, limits_of
from ...shapes.elements import (
    AHEAD,
    ARC,
    BEHIND,
    BOWL,
    CORNER,
    EDGE,
    ELLIPSOID,
    FACE,
    OUTLINE,
    PIPE,
    RIM,
    RING,
    RING_AHEAD,
    RING_BEHIND,
    SIDE,
    SMOOTH,
    SPOTS,
    STAND,
    TWIN,
    VERTEX,
    ElementRows,
    as_rows,
    joined_rows,
)
from ...shapes.shapes import quat_product, quat_to_matrix
from ...shapes.table import FORMS
from ..broad_phase import joined_bodies

#: kinds of pairs
(VERTEX_VERTEX, VERTEX_EDGE, VERTEX_FACE, EDGE_EDGE, RIM_FACE, CORNER_FACE, VERTEX_RIM, AHEAD_EDGE, BEHIND_EDGE,
 RIM_RIM, RIM_ELLIPSOID, VERTEX_BOWL, VERTEX_PIPE, VERTEX_ELLIPSOID, EDGE_ELLIPSOID, FACE_ELLIPSOID,
 ELLIPSOID_ELLIPSOID, ELLIPSOID_BOWL, ELLIPSOID_PIPE, VERTEX_RING,
 FACE_SMOOTH, SMOOTH_SMOOTH, RING_EDGE, RING_AHEAD_EDGE, RING_BEHIND_EDGE, ARC_OVER, ARC_WALL, STAND_OVER,
 STAND_WALL, RIM_SMOOTH, LINE_SMOOTH, VERTEX_SIDE, LINE_SIDE, AHEAD_SIDE, BEHIND_SIDE,
 SEAT_WALL) = range(36)
#: kind of pair by the kinds of its two elements (row, column); -1: they cannot touch, or other elements touch first
PAIR_KINDS = np.full((22, 22), -1, np.int32)
PAIR_KINDS[VERTEX, [VERTEX, EDGE, FACE, RIM]] = VERTEX_VERTEX, VERTEX_EDGE, VERTEX_FACE, VERTEX_RIM
PAIR_KINDS[VERTEX, [BOWL, PIPE, RING]] = VERTEX_BOWL, VERTEX_PIPE, VERTEX_RING
PAIR_KINDS[[VERTEX, EDGE, FACE, RIM, ELLIPSOID], ELLIPSOID] = (
    VERTEX_ELLIPSOID, EDGE_ELLIPSOID, FACE_ELLIPSOID, RIM_ELLIPSOID, ELLIPSOID_ELLIPSOID)
PAIR_KINDS[[[ELLIPSOID], [SMOOTH]], [BOWL, PIPE]] = ELLIPSOID_BOWL, ELLIPSOID_PIPE
PAIR_KINDS[[EDGE, AHEAD, BEHIND], EDGE] = EDGE_EDGE, AHEAD_EDGE, BEHIND_EDGE
PAIR_KINDS[[RING, RING_AHEAD, RING_BEHIND], EDGE] = RING_EDGE, RING_AHEAD_EDGE, RING_BEHIND_EDGE
PAIR_KINDS[[RIM, RING, CORNER], FACE] = RIM_FACE, RIM_FACE, CORNER_FACE
PAIR_KINDS[RIM, RIM] = RIM_RIM
PAIR_KINDS[[FACE, EDGE, RIM, VERTEX, ELLIPSOID, SMOOTH], SMOOTH] = (
    FACE_SMOOTH, LINE_SMOOTH, RIM_SMOOTH, SMOOTH_SMOOTH, SMOOTH_SMOOTH, SMOOTH_SMOOTH)
PAIR_KINDS[SIDE, [ELLIPSOID, SMOOTH]] = LINE_SMOOTH
PAIR_KINDS[[VERTEX, EDGE, SIDE, AHEAD, BEHIND], SIDE] = VERTEX_SIDE, LINE_SIDE, LINE_SIDE, AHEAD_SIDE, BEHIND_SIDE

for kind in (RING, RIM, ELLIPSOID, SMOOTH, SIDE):
    PAIR_KINDS[[ARC, TWIN, STAND], kind] = ARC_OVER, ARC_OVER, STAND_OVER
for kind in (BOWL, PIPE):
    PAIR_KINDS[[ARC, TWIN, STAND], kind] = ARC_WALL, ARC_WALL, STAND_WALL
PAIR_KINDS[STAND, VERTEX] = STAND_OVER
PAIR_KINDS[SPOTS, BOWL] = PAIR_KINDS[OUTLINE, PIPE] = SEAT_WALL


class Elements(NamedTuple):
    """Elements (row e) of a model's shapes, in the body frame. A pair of elements e, f is named by e (number of
    elements) + f, ordered so that PAIR_KINDS[kind[e], kind[f]] >= 0; the element of the lower shape is the
    predecessor's. Limits of joints, which are contacts too, are named by the numbers after those of all pairs."""

    shape: IntArray       #: (e,)   shape it belongs to
    body: IntArray        #: (e,)
    kind: IntArray        #: (e,)   VERTEX … OUTLINE
    point: Array          #: (e, 3) the vertex or corner, the middle of the edge or rim, a point of the face, the apex
                          #:        of a side [m]
    axis: Array           #: (e, 3) unit: along an edge or pipe; out of a face, or of the cap of a rim or corner; of an
                          #:        apex and a side out through the apex; semi-axes of an ellipsoid or
                          #:        superellipsoid [m]
    frame: Array          #: (e, 4) orientation of its axes, of an arc with x out to its middle; else 1 0 0 0
    exponents: Array      #: (e, 2) of a superellipsoid, else 1
    taper: Array          #: (e,)   of a cone's apex, side and rim: sine of the angle between its axis and its side
    wall: IntArray        #: (e,)   the only shape that it touches, of an outline; -1 = any
    seat: Array           #: (e, 3) normal at the place of an outline, in its frame, where pairs were looked for last
    sits: IntArray        #: (e,)   whether that is there, see `seats.SITS`
    length: Array         #: (e,)   half the edge or pipe; radius of a rim or ring, also a corner's or arc's, or round
                          #:        face; of a side its lines [m]
    radius: Array         #: (e,)   what the element is swollen by; radius of a bowl and of a pipe [m]
    extent: Array         #: (e,)   radius about `point` that holds the element; inf where it has none [m]
    side_start: IntArray  #: (e + 1,)
    side: Array           #: (k, 4) the element is nearest to points with side[:3] . p <= side[3]; the wall is there
    meets: IntArray       #: (b, 2) pairs of shapes a < b that can meet
    start: IntArray       #: (s + 1,) first element of each shape
    shape_body: IntArray  #: (s,)   body of each shape
    material: IntArray    #: (s,)   material of each shape
    reach: Array          #: (s, 4) ball about each shape: centre in the body frame, radius [m]
    box_centre: Array     #: (s, 3) of a box that holds the shape, in the body frame [m]
    box_axis: Array       #: (3 s, 3) rows 3 s to 3 s + 2: its axes in the body frame
    box_half: Array       #: (s, 3) half extents along these, inf where the shape has no bounds [m]
    limits: Limits


class NoExactGap(ValueError):
    """Two shapes whose distance has no closed form here."""

    def __init__(self, model: Model, a: int, b: int) -> None:
        shapes = model.shapes
        self.bodies = int(shapes.body[a]), int(shapes.body[b])
        kinds = ShapeKind(shapes.kind[a]), ShapeKind(shapes.kind[b])
        words = {ShapeKind.MESH: f"a mesh, which may have {EXACT_TRIANGLES} at most"}
        self.kinds = " and ".join(words.get(kind, f"a {kind.name.lower()}") for kind in kinds)
        super().__init__(f"no exact gap between shapes {a} and {b}: {self.kinds}")


def surface_of(model: Model) -> Elements:
    """The elements of all shapes of a model. NoExactGap where a pair of shapes has none."""
    shapes = model.shapes
    meets = shapes_that_meet(model)
    check_pairs(model, meets)
    reach = np.column_stack([shapes.position, np.abs(shapes.bound)]).reshape(-1, 4)
    parts = []
    for s in range(len(shapes.kind)):
        mine = FORMS[int(shapes.kind[s])].elements(model, s)
        parts.append(place(mine if isinstance(mine, ElementRows) else as_rows(mine), shapes.position[s],
                           shapes.orientation[s]))
    start = np.cumsum([0] + [len(part.kind) for part in parts]).astype(np.int32)
    shape, rows = np.repeat(np.arange(len(parts), dtype=np.int32), np.diff(start)), joined_rows(parts)
    return Elements(
        shape, shapes.body[shape].astype(np.int32), rows.kind.astype(np.int32), rows.point, rows.axis, rows.frame,
        rows.exponents, rows.taper, rows.wall.astype(np.int32), np.zeros((len(shape), 3)),
        np.full(len(shape), -1, np.int32), rows.length, rows.radius, rows.extent,
        np.concatenate([[0], np.cumsum(rows.side_count)]).astype(np.int32), rows.sides,
        meets, start, shapes.body, shapes.material, np.ascontiguousarray(reach), *boxes_of(model), limits_of(model),
    )


def boxes_of(model: Model) -> tuple[Array, Array, Array]:
    """The boxes of the shapes, see `Elements`."""
    shapes = model.shapes
    count = len(shapes.kind)
    centre, axis, half = np.zeros((count, 3)), np.zeros((count, 3, 3)), np.zeros((count, 3))
    for s in range(count):
        form, turn = FORMS[int(shapes.kind[s])], quat_to_matrix(shapes.orientation[s])
        core = form.box(model, s)
        centre[s], axis[s] = shapes.position[s] + turn @ core[:3], turn.T
        half[s] = core[3:] + (shapes.size[s, 0] if form.swollen else 0.0)
        if form.kind == ShapeKind.PLANE:
            half[s, :2] = np.inf
    return centre, axis.reshape(-1, 3), half


def shapes_that_meet(model: Model) -> IntArray:
    """Pairs of shapes (b, 2) of two bodies that may touch: forces move one at least, and neither a joint nor
    their groups exempt the pair."""
    body, moves = model.shapes.body, movable(model.kind)
    a, b = np.triu_indices(len(body), 1)
    i, j = body[a], body[b]
    kept = (i != j) & (moves[i] | moves[j])
    joined = {(low, high) for low, high in joined_bodies(model).tolist()}
    apart = [ends not in joined for ends in zip(np.minimum(i, j).tolist(), np.maximum(i, j).tolist(), strict=True)]
    kept &= np.array(apart, bool)
    if len(model.groups.of_shape):
        kept &= model.groups.apart[model.groups.of_shape[a], model.groups.of_shape[b]] == 0
    return np.ascontiguousarray(np.column_stack([a[kept], b[kept]]), np.int32)


def check_pairs(model: Model, meets: IntArray) -> None:
    """NoExactGap for the first pair of shapes that has none."""
    shapes = model.shapes
    wrong = np.zeros(len(meets), bool)
    for s in np.unique(meets[shapes.kind[meets] == ShapeKind.MESH]):
        k = int(shapes.data[s])
        if model.meshes.triangle_start[k + 1] - model.meshes.triangle_start[k] > EXACT_TRIANGLES.most:
            wrong |= (meets == s).any(axis=1)
    found = np.flatnonzero(wrong)
    if len(found):
        raise NoExactGap(model, *(int(s) for s in meets[found[0]]))


def place(rows: ElementRows, position: Array, orientation: Array) -> ElementRows:
    """The elements in the body frame."""
    r = quat_to_matrix(orientation)

    def turned(vectors: Array) -> Array:
        return (r @ vectors[..., None])[..., 0]

    n, round_ones = turned(rows.sides[:, :3]), np.isin(rows.kind, (ELLIPSOID, SMOOTH, *SPOTS, OUTLINE))
    frames, which = np.unique(rows.frame, axis=0, return_inverse=True)
    return rows._replace(
        point=position + turned(rows.point), axis=np.where(round_ones[:, None], rows.axis, turned(rows.axis)),
        sides=np.column_stack([n, rows.sides[:, 3] + (n[:, None] @ position)[:, 0]]),
        frame=np.array([quat_product(orientation, frame) for frame in frames]).reshape(-1, 4)[which.reshape(-1)])


def contacts_among(surface: Elements, pairs: LongArray) -> NDArray[np.bool_]:
    """Which pairs (k,) are pairs of elements."""
    return pairs < len(surface.kind) ** 2


def limits_among(surface: Elements, pairs: LongArray) -> NDArray[np.bool_]:
    """Which pairs (k,) are limits of joints."""
    return ~contacts_among(surface, pairs) & (pairs < TURNS)


def first_and_second(surface: Elements, pairs: LongArray) -> tuple[LongArray, LongArray]:
    """The two elements of each pair of elements, in the order of PAIR_KINDS."""
    count = max(len(surface.kind), 1)
    return pairs // count, pairs % count


def bodies_of(model: Model, surface: Elements, pairs: LongArray) -> IntArray:
    """Bodies (k, 2) of the elements of each pair, or of the one whose turning is opposed; of limits the child of their
    joint, twice."""
    found, pairs = np.empty((len(pairs), 2), np.int32), pairs % TURNS
    limit = limits_among(surface, pairs)
    first, second = first_and_second(surface, pairs[~limit])
    found[~limit] = np.column_stack([surface.body[first], surface.body[second]])
    found[limit] = model.joints.child[surface.limits.joint[pairs[limit] - len(surface.kind) ** 2]][:, None]
    return found


def shapes_of(surface: Elements, pairs: LongArray) -> IntArray:
    """Shapes (k, 2) of the predecessor and the successor of each pair of elements; -1 of all others."""
    found = np.full((len(pairs), 2), -1, np.int32)
    solid = contacts_among(surface, pairs)
    first, second = first_and_second(surface, pairs[solid])
    found[solid] = np.sort(np.column_stack([surface.shape[first], surface.shape[second]]), axis=1)
    return found


def limit_joint(surface: Elements, pair: int) -> int:
    """The row of Joints that a pair is a limit of, -1 = none."""
    r = pair - len(surface.kind) ** 2
    return int(surface.limits.joint[r]) if r >= 0 and pair < TURNS else -1
