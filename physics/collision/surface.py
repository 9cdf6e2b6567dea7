"""Surfaces as elements whose distances have closed forms: what the event-driven method knows of shapes.

A shape is a core of vertices, edges and faces, swollen by a radius: a ball is a vertex, a capsule two vertices and an
edge, a box eight vertices, twelve edges and six faces; the side of a cylinder is an edge and the border of its cap a
rim. The distance of a *pair of elements* is one smooth function of the poses (`surface_gap`), so that it can be
followed through a step; `margin` says where it is the distance of the shapes.

A negative radius is the inside of a ball or of a cylinder: R - |p_b - p_a| - r. No ShapeKind makes it yet, nor
ELLIPSOID elements: `append` adds either to a table by hand.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contactlab.physics.model import Array, BodyKind, IntArray, Model, ShapeKind

VERTEX, EDGE, FACE, RIM, ELLIPSOID = range(5)  # kinds of elements
# kinds of pairs, first element of the lower kind
VERTEX_VERTEX, VERTEX_EDGE, VERTEX_FACE, EDGE_EDGE, RIM_FACE, VERTEX_RIM, VERTEX_ELLIPSOID = range(7)
PAIR_KINDS = {
    (VERTEX, VERTEX): VERTEX_VERTEX, (VERTEX, EDGE): VERTEX_EDGE, (VERTEX, FACE): VERTEX_FACE,
    (EDGE, EDGE): EDGE_EDGE, (FACE, RIM): RIM_FACE, (VERTEX, RIM): VERTEX_RIM,
    (VERTEX, ELLIPSOID): VERTEX_ELLIPSOID,
}
FLAT = (ShapeKind.PLANE, ShapeKind.SPHERE)


class Surface(NamedTuple):
    """Elements (row e) and pairs of elements (row p) of a model; everything in the body frame."""

    shape: IntArray       #: (e,)   shape it belongs to
    body: IntArray        #: (e,)
    kind: IntArray        #: (e,)   VERTEX, EDGE, FACE, RIM or ELLIPSOID
    point: Array          #: (e, 3) the vertex, the middle of the edge, a point of the face, the middle of the rim [m]
    axis: Array           #: (e, 3) unit: along the edge, out of the face, out of the cap of the rim; semi-axes [m]
    frame: Array          #: (e, 4) orientation of an ellipsoid, else 1 0 0 0
    length: Array         #: (e,)   half the edge; radius of a rim and of a round face; inf = no limit [m]
    radius: Array         #: (e,)   what the element is swollen by [m]; negative = the inside
    side_start: IntArray  #: (e + 1,)
    side: Array           #: (k, 4) the element is nearest to points with side[:3] . p <= side[3]
    first: IntArray       #: (p,)   the pair's elements: kind[first] <= kind[second] but for RIM_FACE
    second: IntArray      #: (p,)
    pair: IntArray        #: (p,)   kind of the pair
    flip: IntArray        #: (p,)   1: the second element is on the predecessor
    block: IntArray       #: (b, 4) shape pairs: shape a, shape b, first and last + 1 of its rows p
    shape_body: IntArray  #: (s,)   body of each shape
    reach: Array          #: (s, 4) ball about each shape: centre in the body frame, radius [m]


class Element(NamedTuple):
    """One row of `Surface` while it is being made, in the shape frame."""

    kind: int
    point: ArrayLike
    axis: ArrayLike = (0.0, 0.0, 0.0)
    length: float = np.inf
    radius: float = 0.0
    sides: tuple = ()  #: (direction, offset) of half-spaces


def polyhedron(vertices: Array, loops: list[list[int]]) -> list[Element]:
    """Elements of a convex polyhedron; the loops of its faces run counter-clockwise seen from outside."""
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
        found.append(Element(VERTEX, p, sides=tuple((d / np.linalg.norm(d), d @ p / np.linalg.norm(d)) for d in away)))
    for i, j in beside:
        if i < j:
            p, q = vertices[i], vertices[j]
            sides = tuple((-m, -m @ p) for m in (out[i, j], out[j, i]))
            half = 0.5 * float(np.linalg.norm(q - p))
            found.append(Element(EDGE, 0.5 * (p + q), (q - p) / (2.0 * half), half, sides=sides))
    for f, loop in enumerate(loops):
        sides = tuple((out[i, j], out[i, j] @ vertices[i]) for i, j in zip(loop, loop[1:] + loop[:1], strict=True))
        found.append(Element(FACE, vertices[loop[0]], normals[f], sides=sides))
    return found


def box(half: Array) -> list[Element]:
    """Elements of a box of these half extents (3,)."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * half
    loops = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return polyhedron(corners, loops)


def capsule(radius: float, half: float) -> list[Element]:
    z = np.array([0.0, 0.0, 1.0])
    ends = [Element(VERTEX, s * half * z, radius=radius, sides=((-s * z, -half),)) for s in (-1.0, 1.0)]
    return [*ends, Element(EDGE, 0.0 * z, z, half, radius)]


def cylinder(radius: float, half: float) -> list[Element]:
    z = np.array([0.0, 0.0, 1.0])
    found = [Element(EDGE, 0.0 * z, z, half, radius)]
    for s in (-1.0, 1.0):
        found += [Element(FACE, s * half * z, s * z, radius), Element(RIM, s * half * z, s * z, radius)]
    return found


def elements_of(model: Model, s: int) -> list[Element]:
    """Elements of shape s in its own frame. ValueError where it has none."""
    kind, size = model.shapes.kind[s], model.shapes.size[s]
    if kind == ShapeKind.SPHERE:
        return [Element(VERTEX, np.zeros(3), radius=float(size[0]))]
    if kind == ShapeKind.PLANE:
        return [Element(FACE, np.zeros(3), (0.0, 0.0, 1.0))]
    if kind == ShapeKind.BOX:
        return box(size)
    if kind == ShapeKind.CAPSULE:
        return capsule(float(size[0]), float(size[1]))
    if kind == ShapeKind.CYLINDER:
        return cylinder(float(size[0]), float(size[1]))
    if kind == ShapeKind.HULL:
        hulls, k = model.hulls, int(model.shapes.data[s])
        first, last = hulls.vertex_start[k], hulls.vertex_start[k + 1]
        loops = [
            (hulls.face_loop[hulls.loop_start[f] : hulls.loop_start[f + 1]] - first).tolist()
            for f in range(hulls.face_start[k], hulls.face_start[k + 1])
        ]
        return polyhedron(hulls.vertices[first:last], loops)
    raise ValueError(f"the event-driven method has no exact surface for shapes of kind {ShapeKind(kind).name.lower()}; "
                     "time stepping takes them")


def surface_of(model: Model) -> Surface:
    """The elements of all shapes of a model and their pairs. ValueError where a pair of shapes has no exact gap."""
    shapes = model.shapes
    rows, owner = [], []
    for s in range(len(shapes.kind)):
        mine = [place(e, shapes.position[s], shapes.orientation[s]) for e in elements_of(model, s)]
        rows += mine
        owner += [s] * len(mine)
    reach = np.column_stack([shapes.position, np.abs(shapes.bound)]).reshape(-1, 4)
    empty = np.zeros(0, np.int32)
    kind, point, axis, frame, length, radius, side_start, side = columns(rows)
    table = Surface(
        np.array(owner, np.int32), shapes.body[np.array(owner, np.int64)].astype(np.int32), kind, point, axis, frame,
        length, radius, side_start, side, empty, empty, empty, empty, np.zeros((0, 4), np.int32), shapes.body,
        np.ascontiguousarray(reach),
    )
    return with_pairs(model, table)


def append(model: Model, table: Surface, shape: int, element: Element, frame: ArrayLike = (1.0, 0, 0, 0)) -> Surface:
    """The table with one more element on a shape, given in the shape frame, and all pairs made anew."""
    placed = place(element, model.shapes.position[shape], model.shapes.orientation[shape])
    reach = table.reach.copy()
    reach[shape, 3] = np.inf  # the bounds of the shape say nothing of it
    columns_new = columns([placed])
    starts = np.append(table.side_start, table.side_start[-1] + len(placed.sides)).astype(np.int32)
    grown = table._replace(
        shape=np.append(table.shape, np.int32(shape)), body=np.append(table.body, model.shapes.body[shape]),
        kind=np.append(table.kind, np.int32(element.kind)),
        point=np.vstack([table.point, columns_new[1]]), axis=np.vstack([table.axis, columns_new[2]]),
        frame=np.vstack([table.frame, np.array(frame, float)[None]]),
        length=np.append(table.length, columns_new[4]), radius=np.append(table.radius, columns_new[5]),
        side_start=starts,
        side=np.vstack([table.side, columns_new[7]]), reach=reach,
    )
    return with_pairs(model, grown)


def place(e: Element, position: Array, orientation: Array) -> Element:
    """The element in the body frame."""
    w, x, y, z = orientation
    r = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
    sides = tuple((r @ n, float(offset + (r @ n) @ position)) for n, offset in e.sides)
    axis = np.asarray(e.axis, float) if e.kind == ELLIPSOID else r @ np.asarray(e.axis, float)
    return e._replace(point=position + r @ np.asarray(e.point, float), axis=axis, sides=sides)


def columns(rows: list[Element]) -> tuple[Any, ...]:
    """The fields kind … side of Surface."""
    def table(name: str, *shape: int) -> Array:
        return np.array([getattr(e, name) for e in rows], np.float64).reshape(len(rows), *shape)

    frame = np.zeros((len(rows), 4))
    frame[:, 0] = 1.0
    starts = np.cumsum([0] + [len(e.sides) for e in rows]).astype(np.int32)
    sides = np.array([[*n, offset] for e in rows for n, offset in e.sides], np.float64).reshape(-1, 4)
    return (np.array([e.kind for e in rows], np.int32), table("point", 3), table("axis", 3), frame, table("length"),
            table("radius"), starts, sides)


def with_pairs(model: Model, table: Surface) -> Surface:
    """The table with the pairs of all shapes that can meet."""
    shapes = model.shapes
    moves = model.kind == BodyKind.DYNAMIC
    count = len(shapes.kind)
    rows, blocks, total = [], [], 0
    of_shape = [np.flatnonzero(table.shape == s) for s in range(count)]
    for a in range(count):
        for b in range(a + 1, count):
            i, j = shapes.body[a], shapes.body[b]
            if i == j or not (moves[i] or moves[j]):
                continue
            check_pair(shapes.kind[a], shapes.kind[b])
            made = pairs_between(table, of_shape[a], of_shape[b])
            blocks.append((a, b, total, total + len(made)))
            total += len(made)
            rows.append(made)
    pairs = np.concatenate(rows) if rows else np.zeros((0, 4), np.int32)
    first, second, pair, flip = (np.ascontiguousarray(column, np.int32) for column in pairs.T)
    return table._replace(first=first, second=second, pair=pair, flip=flip,
                          block=np.array(blocks, np.int32).reshape(-1, 4))


def check_pair(a: int, b: int) -> None:
    """ValueError for a pair whose contact points have no closed form here."""
    if ShapeKind.CYLINDER in (a, b) and a not in FLAT and b not in FLAT:
        names = " and ".join(ShapeKind(k).name.lower() for k in (a, b))
        raise ValueError(f"the event-driven method has no exact gap between {names}; time stepping takes them")


def pairs_between(table: Surface, a: NDArray[np.intp], b: NDArray[np.intp]) -> IntArray:
    """Rows (first, second, pair, flip) of the element pairs of two shapes, given their elements."""
    found = []
    for e in a.tolist():
        for f in b.tolist():
            low, high, flip = (e, f, 0) if table.kind[e] <= table.kind[f] else (f, e, 1)
            pair = PAIR_KINDS.get((int(table.kind[low]), int(table.kind[high])))
            swollen = table.radius[e] + table.radius[f] != 0.0
            if pair is None or (pair in (VERTEX_VERTEX, VERTEX_EDGE, VERTEX_RIM) and not swollen):
                continue
            if pair == RIM_FACE:  # the rim first: its lowest point over the face
                low, high, flip = high, low, 1 - flip
            found.append((low, high, pair, flip))
    return np.array(found, np.int32).reshape(-1, 4)
