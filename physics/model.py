"""Model: what never changes during a run, as flat arrays that kernels read.

Body i is row i of every body array. The body frame sits at the centre of mass, along the principal axes of inertia;
where a scene states another origin or other axes, `Labels` remembers the difference for display.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int32]


class BodyKind(IntEnum):
    DYNAMIC = 0    # moved by forces
    FIXED = 1      # never moves
    KINEMATIC = 2  # moves as prescribed, whatever pushes on it


class ShapeKind(IntEnum):
    """Shapes and what `Shapes.size` means for them; the axis of round shapes is the local z."""

    SPHERE = 0    # (radius, 0, 0)
    BOX = 1       # half extents
    CAPSULE = 2   # (radius, half length of the segment, 0)
    CYLINDER = 3  # (radius, half height, 0)
    PLANE = 4     # the half-space z <= 0; size unused
    HULL = 5      # convex polyhedron, row `data` of Hulls; size = half extents of its box
    MESH = 6      # triangle surface of a body that is not dynamic, row `data` of Meshes


class Shapes(NamedTuple):
    """Row s is one shape; a body may carry several."""

    body: IntArray      #: (s,)   body it belongs to
    kind: IntArray      #: (s,)   a ShapeKind
    position: Array     #: (s, 3) shape origin [m], body frame
    orientation: Array  #: (s, 4) shape frame -> body frame, unit quaternion w x y z
    size: Array         #: (s, 3) see ShapeKind [m]
    bound: Array        #: (s,)   radius about the shape origin that holds the whole shape [m]; inf for a plane
    material: IntArray  #: (s,)   row of the material tables
    data: IntArray      #: (s,)   row of Hulls or Meshes, -1 for other kinds


class Hulls(NamedTuple):
    """Convex polyhedra with polygonal faces (coplanar triangles merged), all in one set of flat arrays.

    Hull k owns vertices vertex_start[k] : vertex_start[k + 1], and likewise for faces and edges. Face f is the loop
    face_loop[loop_start[f] : loop_start[f + 1]] of absolute vertex rows, counter-clockwise seen from outside.
    """

    vertex_start: IntArray   #: (k + 1,)
    vertices: Array          #: (nv, 3) [m], shape frame, about the hull's centroid
    neighbour_start: IntArray  #: (nv + 1,) vertex i is joined by an edge to neighbours[neighbour_start[i] : ...[i + 1]]
    neighbours: IntArray     #: (2 ne,) absolute vertex rows
    face_start: IntArray     #: (k + 1,)
    face_normal: Array       #: (nf, 3) outward unit normals, shape frame
    face_offset: Array       #: (nf,)   face plane: normal . x = offset [m]
    loop_start: IntArray     #: (nf + 1,)
    face_loop: IntArray      #: absolute vertex rows
    edge_start: IntArray     #: (k + 1,)
    edges: IntArray          #: (ne, 4) absolute rows: vertex, vertex, face on the left, face on the right


class Meshes(NamedTuple):
    """Static triangle surfaces, each with a bounding-volume hierarchy over its triangles.

    Mesh k owns vertices vertex_start[k] : vertex_start[k + 1], triangles and nodes likewise; indices are absolute.
    Node i: a leaf where child[i, 0] < 0, holding triangles leaf_order[first : first + count] with
    (first, count) = (-child[i, 0] - 1, child[i, 1]); else its two children.
    """

    vertex_start: IntArray    #: (k + 1,)
    vertices: Array           #: (nv, 3) [m], shape frame
    triangle_start: IntArray  #: (k + 1,)
    triangles: IntArray       #: (nt, 3) absolute vertex rows, counter-clockwise seen from outside
    triangle_normal: Array    #: (nt, 3) unit normals, shape frame
    edge_convex: IntArray     #: (nt, 3) edge j joins corners j and j + 1: 1 convex or open, 0 flat, -1 concave
    edge_normal: Array        #: (nt, 3, 3) normal of the neighbour across edge j (own normal where there is none)
    node_start: IntArray      #: (k + 1,)
    node_min: Array           #: (nn, 3) [m], shape frame
    node_max: Array           #: (nn, 3)
    child: IntArray           #: (nn, 2)
    leaf_order: IntArray      #: (nt,) absolute triangle rows


class Materials(NamedTuple):
    """Coefficients of material pairs: entry [i, j] = [j, i] for materials i and j."""

    restitution: Array  #: (k, k) e, 0..1
    friction: Array     #: (k, k) mu >= 0


class Motions(NamedTuple):
    """How kinematic bodies are driven, and how surfaces of non-dynamic bodies run (conveyor belts).

    Pose of a kinematic body at time t: start + velocity t + amplitude sin(2 pi frequency t + phase) plus, when it has a
    path, the path's position; turned by angular_velocity t. Way points are joined by straight lines and the path
    is repeated where `path_loop` says so.
    """

    start_x: Array            #: (n, 3) pose at t = 0 [m]
    start_q: Array            #: (n, 4)
    velocity: Array           #: (n, 3) [m/s], world frame
    angular_velocity: Array   #: (n, 3) [rad/s], world frame, constant
    amplitude: Array          #: (n, 3) [m]
    frequency: Array          #: (n,) [Hz]
    phase: Array              #: (n,) [rad]
    path_start: IntArray      #: (n + 1,) rows of the way points of body i
    path_time: Array          #: (k,) [s], increasing within a body
    path_position: Array      #: (k, 3) [m], relative to start_x
    path_loop: IntArray       #: (n,) 1 = start again after the last way point
    surface_velocity: Array   #: (n, 3) velocity of the surface relative to the body [m/s], body frame
    surface_spin: Array       #: (n, 3) angular velocity of the surface about the body origin [rad/s], body frame


class Springs(NamedTuple):
    """Linear spring-dampers between two bodies; body -1 is the world (its anchor is then a world point)."""

    body_a: IntArray    #: (k,)
    body_b: IntArray    #: (k,)
    anchor_a: Array     #: (k, 3) [m], body frame
    anchor_b: Array     #: (k, 3) [m], body frame
    length: Array       #: (k,) length without force [m]
    stiffness: Array    #: (k,) [N/m]
    damping: Array      #: (k,) along the spring [N s/m]


class Model(NamedTuple):
    """Everything constant. Replace a field with `_replace`; never write into the arrays of a running model."""

    kind: IntArray       #: (n,)   a BodyKind
    mass: Array          #: (n,)   [kg]; 0 for bodies that are not dynamic
    inv_mass: Array      #: (n,)   [1/kg]; 0 for bodies that are not dynamic
    inertia: Array       #: (n, 3) principal moments about the centre of mass [kg m2], body frame
    inv_inertia: Array   #: (n, 3) [1/(kg m2)]; 0 for bodies that are not dynamic
    gravity: Array       #: (3,)   [m/s2]
    shapes: Shapes
    hulls: Hulls
    meshes: Meshes
    materials: Materials
    motions: Motions
    springs: Springs


class Labels(NamedTuple):
    """What people call things and how they look; the engine's kernels never see it."""

    title: str
    summary: str
    watch: str                    #: what to look at
    bodies: tuple[str, ...]       #: (n,) names
    materials: tuple[str, ...]    #: (k,) names
    colors: Array                 #: (n, 3) sRGB, 0..1; nan = choose for me
    origin: Array                 #: (n, 3) the scene's body origin [m], in the body frame
    axes: Array                   #: (n, 4) the scene's body axes -> body frame, unit quaternion
    notes: tuple[str, ...]        #: what was assumed while loading ("teapot.stl is not closed: ...")
    #: one entry per shape: the surface of hulls and meshes as the file gives it, for drawing: vertices (k, 3) [m] in
    #: the shape frame and triangles (m, 3); none of either for other kinds
    draw_meshes: tuple[tuple[Array, IntArray], ...] = ()


def body_count(model: Model) -> int:
    return len(model.kind)


def shape_count(model: Model) -> int:
    return len(model.shapes.kind)
