"""Where the shapes are: world poses and bounds of all shapes, and what a pair of them leaves behind for its contacts."""

import math
from typing import NamedTuple

import numpy as np
from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import Array, IntArray, Model
from contactlab.physics.state import LongArray
from contactlab.physics.vec import add, put, quat_mat, quat_mul, row, row4, scale, transform

SPHERE, BOX, CAPSULE, CYLINDER, PLANE, HULL, MESH = range(7)  # ShapeKind, as plain integers for the kernels
TRIANGLE = 7  # the triangle of a mesh that is being looked at; always the last row of Geometry
CAP_CORNERS = 8  # points that stand for the rim of a cylinder's cap

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Geometry(NamedTuple):
    """World poses of the shapes; row i is shape i, the row after the last shape is the triangle in hand.

    A shape is a core swollen by `radius`: a point (sphere), a segment along z (capsule), or the shape itself.
    """

    kind: IntArray          #: (s + 1,)
    x: Array                #: (s + 1, 3) shape origin [m], world frame
    R: Array                #: (s + 1, 3, 3) shape frame -> world frame
    size: Array             #: (s + 1, 3) see ShapeKind [m]
    radius: Array           #: (s + 1,) what the core is swollen by [m]
    data: IntArray          #: (s + 1,) row of Hulls or Meshes
    vertex_start: IntArray  #: (k + 1,) hull k owns vertices vertex_start[k] : vertex_start[k + 1]
    vertices: Array         #: (nv, 3) [m], shape frame
    neighbour_start: IntArray  #: (nv + 1,)
    neighbours: IntArray    #: absolute vertex rows
    triangle: Array         #: (3, 3) corners of the triangle in hand [m], world frame
    lo: Array               #: (s, 3) bounds swollen by the margin of the body [m]
    hi: Array               #: (s, 3)


class Patch(NamedTuple):
    """Contact points of one pair of shapes, before they become rows of Contacts."""

    point: Array        #: (k, 3) midway between the surfaces [m], world frame
    normal: Array       #: (k, 3) unit, from the first to the second shape
    gap: Array          #: (k,) [m]
    feature: LongArray  #: (k,) names the pair of features that touch


def new_geometry(model: Model) -> Geometry:
    """Geometry of a model, with room for the poses."""
    shapes = model.shapes
    s = len(shapes.kind)
    kind = np.append(shapes.kind, TRIANGLE).astype(np.int32)
    round_core = (kind == SPHERE) | (kind == CAPSULE)
    size = np.vstack([shapes.size.reshape(s, 3), np.zeros((1, 3))])
    return Geometry(
        kind=kind, x=np.zeros((s + 1, 3)), R=np.tile(np.eye(3), (s + 1, 1, 1)), size=size,
        radius=np.where(round_core, size[:, 0], 0.0), data=np.append(shapes.data, -1).astype(np.int32),
        vertex_start=model.hulls.vertex_start, vertices=model.hulls.vertices,
        neighbour_start=model.hulls.neighbour_start, neighbours=model.hulls.neighbours,
        triangle=np.zeros((3, 3)), lo=np.zeros((s, 3)), hi=np.zeros((s, 3)),
    )


def new_patch(capacity: int) -> Patch:
    return Patch(np.zeros((capacity, 3)), np.zeros((capacity, 3)), np.zeros(capacity), np.zeros(capacity, np.int64))


@helper
def column(R, s, j):
    """Axis j of shape s in the world frame."""
    return (R[s, 0, j], R[s, 1, j], R[s, 2, j])


@helper
def to_world(R, s, u):
    """R[s] u"""
    return (
        R[s, 0, 0] * u[0] + R[s, 0, 1] * u[1] + R[s, 0, 2] * u[2],
        R[s, 1, 0] * u[0] + R[s, 1, 1] * u[1] + R[s, 1, 2] * u[2],
        R[s, 2, 0] * u[0] + R[s, 2, 1] * u[1] + R[s, 2, 2] * u[2],
    )


@helper
def to_local(R, s, u):
    """R[s]^T u"""
    return (
        R[s, 0, 0] * u[0] + R[s, 1, 0] * u[1] + R[s, 2, 0] * u[2],
        R[s, 0, 1] * u[0] + R[s, 1, 1] * u[1] + R[s, 2, 1] * u[2],
        R[s, 0, 2] * u[0] + R[s, 1, 2] * u[1] + R[s, 2, 2] * u[2],
    )


@helper
def put_point(patch, k, point, normal, gap, feature):
    """Write row k of a patch and return k + 1; where the patch is full, nothing is written."""
    if k >= patch.gap.shape[0]:
        return k
    put(patch.point, k, point)
    put(patch.normal, k, normal)
    patch.gap[k] = gap
    patch.feature[k] = feature
    return k + 1


@helper
def between(p_a, p_b):
    """The point midway."""
    return scale(0.5, add(p_a, p_b))


@helper
def mix(h, value):
    """Fold an integer into a hash (two rounds of multiply and shift)."""
    h = (h ^ value) * 0x2545F4914F6CDD1D
    h = (h ^ (h >> 29)) * 0x369DEA0F31A53F85
    return h ^ (h >> 32)


@kernel
def place_shapes(kind, body, position, orientation, bodies_x, bodies_q, x_out, R_out):
    """World pose of every shape."""
    for s in range(body.shape[0]):
        b = body[s]
        xb, qb = row(bodies_x, b), row4(bodies_q, b)
        put(x_out, s, transform(xb, qb, row(position, s)))
        m = quat_mat(quat_mul(qb, row4(orientation, s)))
        for i in range(3):
            R_out[s, i, 0] = m[i][0]
            R_out[s, i, 1] = m[i][1]
            R_out[s, i, 2] = m[i][2]


@kernel
def bound_shapes(geom, body, box, margin):
    """World bounds of every shape but planes, swollen by the margin of its body; written to geom.lo, geom.hi.

    `box` (s, 6) holds centre and half extents of the shape's own box, shape frame.
    """
    for s in range(body.shape[0]):
        kind = geom.kind[s]
        swell = margin[body[s]] + geom.radius[s]
        for i in range(3):
            r0, r1, r2 = geom.R[s, i, 0], geom.R[s, i, 1], geom.R[s, i, 2]
            centre = geom.x[s, i] + r0 * box[s, 0] + r1 * box[s, 1] + r2 * box[s, 2]
            if kind == CYLINDER:  # disc: r sqrt(1 - z_i^2), axis: half |z_i|
                half = box[s, 3] * math.sqrt(max(0.0, 1.0 - r2 * r2)) + box[s, 5] * abs(r2)
            else:
                half = abs(r0) * box[s, 3] + abs(r1) * box[s, 4] + abs(r2) * box[s, 5]
            geom.lo[s, i] = centre - half - swell
            geom.hi[s, i] = centre + half + swell


def own_boxes(model: Model) -> Array:
    """Centre and half extents (s, 6) of the box of every shape's core [m], shape frame."""
    shapes, hulls, meshes = model.shapes, model.hulls, model.meshes
    boxes = np.zeros((len(shapes.kind), 6))
    for s, kind in enumerate(shapes.kind):
        if kind == BOX:
            boxes[s, 3:] = shapes.size[s]
        elif kind == CAPSULE:
            boxes[s, 5] = shapes.size[s, 1]
        elif kind == CYLINDER:
            boxes[s, 3:] = shapes.size[s, [0, 0, 1]]
        elif kind in (HULL, MESH):
            table = hulls if kind == HULL else meshes
            k = shapes.data[s]
            points = table.vertices[table.vertex_start[k] : table.vertex_start[k + 1]]
            lo, hi = points.min(0), points.max(0)
            boxes[s] = np.concatenate([(lo + hi) / 2, (hi - lo) / 2])
    return boxes
