"""Where the shapes are: world poses and bounds of all shapes, and the contact points that a pair of them yields.

The narrow phase writes a contact point as one row of a patch.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray, Model
from ..core.vec import add, axpy, dot, norm, put, quat_mat, quat_mul, row, row4, scale, sub, transform
from ..shapes.table import FORMS, SWOLLEN, corner_towards, half_width, support_of

# ShapeKind, as plain integers for the kernels
(SPHERE, BOX, CAPSULE, CYLINDER, PLANE, HULL, MESH, ELLIPSOID, BOWL, PIPE, CONE, ROUNDED, TORUS,
 SUPERELLIPSOID) = range(14)
TRIANGLE = -1  # the triangle of a mesh that is being looked at; always the last row of Geometry

UPRIGHT = 0.1  # cosine between gravity and the normal of a plane up to which it carries no weight
PATCH = 9   # columns of a patch: point 0-2, normal 3-5, gap 6, feature 7, part 8


class Geometry(NamedTuple):
    """All shapes in the world; row i is shape i, the row after the last shape is the triangle in hand.

    A shape is a core swollen by a radius: a point (sphere), a segment along z (capsule), a circle about z (torus),
    a polyhedron (rounded hull), or the shape itself.
    """

    kind: IntArray   #: (s + 1,)
    data: IntArray   #: (s + 1,) row of Hulls or Meshes
    x: Array         #: (s + 1, 3) origin [m], world frame
    centre: Array    #: (s + 1, 3) centre of mass of its body [m], world frame
    gravity: Array   #: (3,) [m/s2]
    soft: IntArray   #: (1,) 1 where what overlaps presses: all corners of a hull or box on a plane or on another one
                     #: are contacts, and where four stand for many points those that overlap come first
    R: Array         #: (s + 1, 3, 3) rotation matrix, shape frame -> world
    size: Array      #: (s + 1, 3) see `ShapeKind` [m]
    exponents: Array  #: (s + 1, 2) see `Shapes`
    swell: Array     #: (s + 1,) radius by which the core is swollen [m]
    core: Array      #: (s + 1,) size of the core: half the diagonal of its own box [m]
    bound: Array     #: (s + 1,) reach of the whole shape from its origin [m]; 0 of a plane
    box: Array       #: (s, 6) centre and half extents of the core's own box [m], shape frame
    lo: Array        #: (s, 3) world bounds swollen by the margin of the body [m]
    hi: Array        #: (s, 3)
    travel: Array    #: (s + 1,) what no point of the shape can have exceeded on its way through all poses so far [m]


def new_geometry(model: Model, soft: bool = False) -> Geometry:
    """Geometry of a model, with room for the poses. soft: see `Geometry.soft`."""
    shapes = model.shapes
    s = len(shapes.kind)
    box = own_boxes(model)
    R, size, swell, core, bound = np.zeros((s + 1, 3, 3)), np.zeros((s + 1, 3)), *np.zeros((3, s + 1))
    R[s] = np.eye(3)
    size[:s] = shapes.size
    swell[:s] = np.where(np.isin(shapes.kind, SWOLLEN), shapes.size.reshape(s, 3)[:, 0], 0.0)
    core[:s] = np.linalg.norm(box[:, 3:], axis=1)
    bound[:s] = swell[:s] + np.linalg.norm(np.abs(box[:, :3]) + box[:, 3:], axis=1)
    return Geometry(
        np.append(shapes.kind, TRIANGLE).astype(np.int32), np.append(shapes.data, -1).astype(np.int32),
        np.zeros((s + 1, 3)), np.zeros((s + 1, 3)), model.gravity, np.array([soft], np.int32), R, size,
        np.vstack([shapes.exponents, np.ones((1, 2))]), swell, core, bound, box, np.zeros((s, 3)), np.zeros((s, 3)),
        np.zeros(s + 1))


def elsewhere(geom: Geometry) -> Geometry:
    """The same shapes, with room for other poses and another triangle in hand: what they travel there does not count
    here."""
    own = ("x", "centre", "R", "lo", "hi", "travel", "core")
    return geom._replace(**{name: getattr(geom, name).copy() for name in own})


def with_own_hand(geom: Geometry) -> Geometry:
    """The same shapes at the same places with another triangle in hand, for a thread. Whoever uses it copies the
    places first, where they have changed."""
    return geom._replace(x=geom.x.copy(), core=geom.core.copy())


@helper
def origin(geom, s):
    """Origin of shape s, world frame."""
    return row(geom.x, s)


@helper
def axis(geom, s, j):
    """Axis j of shape s, world frame."""
    return (geom.R[s, 0, j], geom.R[s, 1, j], geom.R[s, 2, j])


@helper
def extent(geom, s):
    """What `Shapes.size` says of shape s."""
    return row(geom.size, s)


@helper
def exponents(geom, s):
    """What `Shapes.exponents` says of shape s."""
    return geom.exponents[s, 0], geom.exponents[s, 1]


@helper
def farthest_along(geom, s, u):
    """The point of round shape s farthest along u, both in its frame."""
    return support_of(geom.kind[s], extent(geom, s), exponents(geom, s), u)


@helper
def swell(geom, s):
    """What the core of shape s is swollen by."""
    return geom.swell[s]


@helper
def to_world(geom, s, u):
    """A vector of the shape frame, turned into the world."""
    return (
        geom.R[s, 0, 0] * u[0] + geom.R[s, 0, 1] * u[1] + geom.R[s, 0, 2] * u[2],
        geom.R[s, 1, 0] * u[0] + geom.R[s, 1, 1] * u[1] + geom.R[s, 1, 2] * u[2],
        geom.R[s, 2, 0] * u[0] + geom.R[s, 2, 1] * u[1] + geom.R[s, 2, 2] * u[2],
    )


@helper
def to_local(geom, s, u):
    """A vector of the world, turned into the shape frame."""
    return (
        geom.R[s, 0, 0] * u[0] + geom.R[s, 1, 0] * u[1] + geom.R[s, 2, 0] * u[2],
        geom.R[s, 0, 1] * u[0] + geom.R[s, 1, 1] * u[1] + geom.R[s, 2, 1] * u[2],
        geom.R[s, 0, 2] * u[0] + geom.R[s, 1, 2] * u[1] + geom.R[s, 2, 2] * u[2],
    )


@helper
def round_corner(geom, s, u, i):
    """Corner i, in the world, of the feature of round shape s that looks most along the local unit vector u."""
    p, along = corner_towards(geom.kind[s], extent(geom, s), exponents(geom, s), u, i)
    return axpy(along, axis(geom, s, 2), add(origin(geom, s), to_world(geom, s, p)))


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
def load_of(geom, a, b, p, n):
    """Where the weight of the upper one of shapes a and b acts on their plane of contact through p with the normal n
    from a to b; p where the plane is nearly upright."""
    g = (geom.gravity[0], geom.gravity[1], geom.gravity[2])
    down = dot(g, n)
    if abs(down) <= UPRIGHT * norm(g):
        return p
    c = row(geom.centre, b if down < 0.0 else a)
    return axpy(dot(n, sub(p, c)) / down, g, c)


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


@helper
def place_shape(shapes, s, x, q, geom_out):
    """World pose of shape s of bodies at x (n, 3), q (n, 4)."""
    b = shapes.body[s]
    xb, qb = row(x, b), row4(q, b)
    p = transform(xb, qb, row(shapes.position, s))
    put_pose(geom_out, s, p, quat_mat(quat_mul(qb, row4(shapes.orientation, s))))
    put(geom_out.centre, s, xb)


@kernel
def place_shapes(shapes, x, q, geom_out):
    """World pose of every shape of bodies at x (n, 3), q (n, 4)."""
    for s in range(shapes.body.shape[0]):
        place_shape(shapes, s, x, q, geom_out)


@helper
def put_pose(geom_out, s, x, m):
    """Origin and rotation matrix of shape s, which travels there.

    Of two rotations by an angle θ from each other |R' - R| is 2 sin θ/2 as an operator, 2 √2 sin θ/2 by its entries.
    """
    moved, turned = 0.0, 0.0
    for i in range(3):
        moved += (x[i] - geom_out.x[s, i]) ** 2
        geom_out.x[s, i] = x[i]
        for j in range(3):
            turned += (m[i][j] - geom_out.R[s, i, j]) ** 2
            geom_out.R[s, i, j] = m[i][j]
    geom_out.travel[s] += math.sqrt(moved) + math.sqrt(0.5 * turned) * geom_out.bound[s]


@helper
def bound_shape(geom_in_out, s, reach):
    """World bounds of shape s, swollen by its reach."""
    geom, swell = geom_in_out, reach + geom_in_out.swell[s]
    centre, half = row(geom.box, s), (geom.box[s, 3], geom.box[s, 4], geom.box[s, 5])
    for i in range(3):
        r = row(geom.R[s], i)
        middle = geom.x[s, i] + r[0] * centre[0] + r[1] * centre[1] + r[2] * centre[2]
        wide = half_width(geom.kind[s], half, r)
        geom.lo[s, i] = middle - wide - swell
        geom.hi[s, i] = middle + wide + swell


@kernel
def bound_shapes(geom_in_out, reach):
    """World bounds of every shape, swollen by its reach (s,)."""
    for s in range(reach.shape[0]):
        bound_shape(geom_in_out, s, reach[s])


def own_boxes(model: Model) -> Array:
    """Centre and half extents (s, 6) of the box of every shape's core [m], shape frame."""
    shapes = model.shapes
    return np.array([FORMS[kind].box(model, s) for s, kind in enumerate(shapes.kind.tolist())]).reshape(-1, 6)
