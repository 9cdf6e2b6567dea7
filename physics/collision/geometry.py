"""Where the shapes are: world poses and bounds of all shapes, and the contact points that a pair of them yields.

What the narrow phase reads of a shape stands in one row of `pose`, and what it writes in one row of a patch: a kernel
pays for every array that it hands on to another (a tuple of ten of them costs more than a whole pair of spheres).
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray, Model
from ..core.vec import add, norm, quat_mat, quat_mul, row, row4, scale, transform

# ShapeKind, as plain integers for the kernels
SPHERE, BOX, CAPSULE, CYLINDER, PLANE, HULL, MESH, ELLIPSOID, BOWL, PIPE = range(10)
TRIANGLE = 10  # the triangle of a mesh that is being looked at; always the last row of Geometry

POSE = 18   # columns of `pose`: origin 0-2, rotation matrix by rows 3-11, size 12-14, radius 15, length 16, bound 17
PATCH = 9   # columns of a patch: point 0-2, normal 3-5, gap 6, feature 7, part 8


class Geometry(NamedTuple):
    """All shapes in the world; row i is shape i, the row after the last shape is the triangle in hand.

    A shape is a core swollen by a radius: a point (sphere), a segment along z (capsule), or the shape itself.
    """

    kind: IntArray   #: (s + 1,)
    data: IntArray   #: (s + 1,) row of Hulls or Meshes
    pose: Array      #: (s + 1, POSE) origin and axes (shape -> world) in the world, size; radius and size of
                     #: the core (half the diagonal of its box), reach of the whole shape from its origin [m]
    box: Array       #: (s, 6) centre and half extents of the core's own box [m], shape frame
    lo: Array        #: (s, 3) world bounds swollen by the margin of the body [m]
    hi: Array        #: (s, 3)


def new_geometry(model: Model) -> Geometry:
    """Geometry of a model, with room for the poses."""
    shapes = model.shapes
    s = len(shapes.kind)
    kind = np.append(shapes.kind, TRIANGLE).astype(np.int32)
    pose = np.zeros((s + 1, POSE))
    pose[s, [3, 7, 11]] = 1.0
    pose[:s, 12:15] = shapes.size
    is_round = (shapes.kind == SPHERE) | (shapes.kind == CAPSULE)
    pose[:s, 15] = np.where(is_round, shapes.size.reshape(s, 3)[:, 0], 0.0)
    box = own_boxes(model)
    pose[:s, 16] = np.linalg.norm(box[:, 3:], axis=1)
    pose[:s, 17] = pose[:s, 15] + np.linalg.norm(np.abs(box[:, :3]) + box[:, 3:], axis=1)
    data = np.append(shapes.data, -1).astype(np.int32)
    return Geometry(kind, data, pose, box, np.zeros((s, 3)), np.zeros((s, 3)))


@helper
def origin(pose, s):
    """Origin of shape s, world frame."""
    return (pose[s, 0], pose[s, 1], pose[s, 2])


@helper
def axis(pose, s, j):
    """Axis j of shape s, world frame."""
    return (pose[s, 3 + j], pose[s, 6 + j], pose[s, 9 + j])


@helper
def extent(pose, s):
    """What `Shapes.size` says of shape s."""
    return (pose[s, 12], pose[s, 13], pose[s, 14])


@helper
def swell(pose, s):
    """What the core of shape s is swollen by."""
    return pose[s, 15]


@helper
def to_world(pose, s, u):
    """A vector of the shape frame, turned into the world."""
    return (
        pose[s, 3] * u[0] + pose[s, 4] * u[1] + pose[s, 5] * u[2],
        pose[s, 6] * u[0] + pose[s, 7] * u[1] + pose[s, 8] * u[2],
        pose[s, 9] * u[0] + pose[s, 10] * u[1] + pose[s, 11] * u[2],
    )


@helper
def to_local(pose, s, u):
    """A vector of the world, turned into the shape frame."""
    return (
        pose[s, 3] * u[0] + pose[s, 6] * u[1] + pose[s, 9] * u[2],
        pose[s, 4] * u[0] + pose[s, 7] * u[1] + pose[s, 10] * u[2],
        pose[s, 5] * u[0] + pose[s, 8] * u[1] + pose[s, 11] * u[2],
    )


@helper
def rim(pose, s, d):
    """(point, height): the point of cylinder s farthest along d at half height, shape frame, and d along its axis.

    The point is on the axis where d is along it. Nothing is divided by what rounding has left of d.
    """
    u = to_local(pose, s, d)
    rho = math.sqrt(u[0] * u[0] + u[1] * u[1])
    r = pose[s, 12] / rho if rho > 1e-12 * abs(u[2]) else 0.0
    return (r * u[0], r * u[1], 0.0), u[2]


@helper
def put_point(patch_out, k, point, normal, gap, feature):
    """Write row k of a patch and return k + 1; where the patch is full, nothing is written.

    point: midway between the surfaces [m]; normal: unit, from the first to the second shape; feature: a whole number
    that names the two features which touch.
    """
    if k >= patch_out.shape[0]:
        return k
    for i in range(3):
        patch_out[k, i] = point[i]
        patch_out[k, 3 + i] = normal[i]
    patch_out[k, 6] = gap
    patch_out[k, 7] = feature
    patch_out[k, 8] = 0.0
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
def place_shapes(body, position, orientation, bodies_x, bodies_q, pose_out):
    """World pose of every shape."""
    for s in range(body.shape[0]):
        b = body[s]
        xb, qb = row(bodies_x, b), row4(bodies_q, b)
        x = transform(xb, qb, row(position, s))
        m = quat_mat(quat_mul(qb, row4(orientation, s)))
        for i in range(3):
            pose_out[s, i] = x[i]
            for j in range(3):
                pose_out[s, 3 + 3 * i + j] = m[i][j]


@kernel
def bound_shapes(kind, box, pose, reach, lo_out, hi_out):
    """World bounds of every shape, swollen by its reach (s,)."""
    for s in range(reach.shape[0]):
        swell = reach[s] + pose[s, 15]
        for i in range(3):
            r0, r1, r2 = pose[s, 3 + 3 * i], pose[s, 4 + 3 * i], pose[s, 5 + 3 * i]
            centre = pose[s, i] + r0 * box[s, 0] + r1 * box[s, 1] + r2 * box[s, 2]
            if kind[s] == CYLINDER:  # disc: r sqrt(1 - z_i^2), axis: half |z_i|
                half = box[s, 3] * math.sqrt(max(0.0, 1.0 - r2 * r2)) + box[s, 5] * abs(r2)
            elif kind[s] == ELLIPSOID:
                half = norm((r0 * box[s, 3], r1 * box[s, 4], r2 * box[s, 5]))
            else:
                half = abs(r0) * box[s, 3] + abs(r1) * box[s, 4] + abs(r2) * box[s, 5]
            lo_out[s, i] = centre - half - swell
            hi_out[s, i] = centre + half + swell


def own_boxes(model: Model) -> Array:
    """Centre and half extents (s, 6) of the box of every shape's core [m], shape frame."""
    shapes, hulls, meshes = model.shapes, model.hulls, model.meshes
    boxes = np.zeros((len(shapes.kind), 6))
    for s, kind in enumerate(shapes.kind):
        if kind in (BOX, ELLIPSOID):
            boxes[s, 3:] = shapes.size[s]
        elif kind in (BOWL, PIPE):
            boxes[s] = hollow_box(int(kind), *shapes.size[s])
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


def hollow_box(kind: int, radius: float, second: float, third: float) -> Array:
    """Centre and half extents (6,) of the wall of a bowl or a pipe, from its size as ShapeKind says."""
    cosine = second if kind == BOWL else third
    wide = radius * math.sqrt(1.0 - cosine * cosine) if cosine > 0.0 else radius
    depth = 0.5 * radius * (1.0 - cosine)
    if kind == BOWL:
        return np.array([0.0, 0.0, depth - radius, wide, wide, depth])
    return np.array([0.0, depth - radius, 0.0, wide, depth, second])
