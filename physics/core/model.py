"""Model: what never changes during a run, as flat arrays that kernels read.

Body i is row i of every body array. The body frame sits at the centre of mass, along the principal axes of inertia;
where a scene states another origin or other axes, `Labels` remembers the difference for display.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .closed_form import ClosedForm

Array = NDArray[np.float64]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]


class BodyKind(IntEnum):
    """What moves a body."""

    DYNAMIC = 0    # moved by forces
    FIXED = 1      # never moves
    KINEMATIC = 2  # moves as prescribed, whatever pushes on it
    LINK = 3       # moved by forces, as the generalized coordinates of its tree allow


#: the kinds that forces move, as the integers that kernels compare with
DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)


def movable(kind: IntArray) -> NDArray[np.bool_]:
    """Which bodies (n,) forces can move: free bodies and links of trees."""
    return np.isin(kind, (DYNAMIC, LINK))


class JointType(IntEnum):
    """Joints and their coordinates; see `Joints` for the frames.

    Positions are angles [rad] and lengths [m] along the axes, orientations unit quaternions w x y z; the velocities of
    a ball and a free joint are vectors in the parent's axes. Each comment begins with the number of velocities and the
    number of positions.
    """

    FREE = 0       # 6, 7: positions are the orientation and the centre of mass; parent is the world
    HINGE = 1      # 1, 1: angle about the axis
    SLIDER = 2     # 1, 1: displacement along the axis
    BALL = 3       # 3, 4: orientation; angular velocity relative to the parent
    UNIVERSAL = 4  # 2, 2: angle about the first axis, fixed in the parent, then about the second, fixed in the child
    FIXED = 5      # 0, 0
    SCREW = 6      # 1, 1: angle about the axis, along which the child moves by lead times the angle


class ShapeKind(IntEnum):
    """Shapes and what `Shapes.size` means for them; the axis of round shapes is the local z."""

    SPHERE = 0    # (radius, 0, 0)
    BOX = 1       # half extents
    CAPSULE = 2   # (radius, half length of the segment, 0)
    CYLINDER = 3  # (radius, half height, 0)
    PLANE = 4     # the half-space z <= 0; size unused
    HULL = 5      # convex polyhedron, row `data` of Hulls; size = half extents of its box
    MESH = 6      # triangle surface, row `data` of Meshes
    ELLIPSOID = 7  # semi-axes
    BOWL = 8      # inner face of a hollow ball: (radius, cosine of the angle from the bottom, at -z, to the rim, 0)
    PIPE = 9      # inner face of a tube: (radius, half height, cosine of the angle from the bottom, at -y, to an edge)
    CONE = 10     # (radius of the base, height, 0); the centre of mass at the origin, the base below
    ROUNDED = 11  # convex polyhedron, row `data` of Hulls, over which a ball is swept: (radius of the ball, 0, 0)
    TORUS = 12    # circle about z over which a ball is swept: (radius of the ball, radius of the circle, 0)
    SUPERELLIPSOID = 13  # semi-axes; its exponents are in `Shapes.exponents`


#: kinds that are concave surfaces, not solids: contacts lie on their inner face. Only bodies that forces do not move
#: have them
HOLLOW = (ShapeKind.BOWL, ShapeKind.PIPE)


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
    exponents: Array    #: (s, 2) ε₁, ε₂ of a superellipsoid; of other kinds 1


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
    """Triangle surfaces, each with a bounding-volume hierarchy over its triangles.

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


#: a compliant surface on a rigid one, for models that a scene did not build; columns as in `Materials.surfaces`
PLAIN_SURFACES = np.array([[[[1e5, 100.0, 1e5, 100.0, 1e5, 0.0], [*[np.inf] * 5, 0.0]]]])
#: no restitution of balls, static friction and friction against turning, for models that a scene did not build
NOT_GIVEN = np.full((1, 1), np.nan)


class Materials(NamedTuple):
    """Coefficients of material pairs: entry [i, j] = [j, i] for materials i and j."""

    restitution: Array  #: (k, k) e, 0..1
    friction: Array     #: (k, k) mu >= 0, coefficient of kinetic friction
    #: (k, k, 2, 6) gains of the surface of i and of the surface of j in a contact of the two: [i, j, 0] = [j, i, 1].
    #: Columns: K_n [N/m], D_n [N s/m], K_t [N/m], D_t [N s/m], the series spring K_s of a standard solid [N/m], and the
    #: rolling damping D_r [N s/m], see `laws.soft`. K and D are inf where a surface is rigid.
    surfaces: Array = PLAIN_SURFACES
    restitution_t: Array = NOT_GIVEN    #: (k, k) e_t, -1..1, of the slip of balls; nan = friction alone
    restitution_psi: Array = NOT_GIVEN  #: (k, k) e_psi, -1..1, of balls' spin about the normal; nan = none
    friction_static: Array = NOT_GIVEN  #: (k, k) mu_s as given, nan = mu; see `laws.contact.break_away`
    #: (k, k) l_psi and l_r [m]: the greatest moment about the normal, against spinning, and that across it, against
    #: rolling, per normal force of a contact point; nan = none, see `laws.contact.turning_lengths`
    friction_torsional: Array = NOT_GIVEN
    friction_rolling: Array = NOT_GIVEN


class Motions(NamedTuple):
    """Prescribed motions of kinematic bodies, and of the surfaces of bodies that are not dynamic (conveyor belts).

    A kinematic body is at start_x + velocity t + amplitude sin(2 π frequency t + phase), plus the position on its path
    where it has one, and turned by angular_velocity t. A path joins its way points by straight lines; it starts again
    at the first one where `path_loop` is 1.
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


class Joints(NamedTuple):
    """Joints between two bodies; row j is one joint. Frames are those of the bodies, the world's for parent -1.

    At the positions q of the joint the orientation of the child is R_child = R_parent R_J(q) R_rest. Its anchor lies on
    the parent's anchor, shifted along the axis by q in a slider and by lead · q in a screw. The poses that a scene file
    states for bodies are those at q = 0, where R_J is the identity.
    """

    type: IntArray         #: (j,) a JointType
    parent: IntArray       #: (j,) body, -1 = the world
    child: IntArray        #: (j,) body
    generalized: IntArray  #: (j,) 1 = q and v of the joint are the state; 0 = a constraint on two bodies
    collide: IntArray      #: (j,) 1 = parent and child may touch each other
    anchor_parent: Array   #: (j, 3) [m], parent's frame
    anchor_child: Array    #: (j, 3) [m], child's frame
    rest: Array            #: (j, 4) R_rest: child's frame -> parent's at q = 0, unit quaternion
    axis: Array            #: (j, 2, 3) unit axes at q = 0, parent's frame; 0 where the type has none
    lower: Array           #: (j, 2) least position of each axis [rad] or [m], -inf = no limit
    upper: Array           #: (j, 2) greatest position; of a ball the greatest angle from q = 0 [rad], first column
    damping: Array         #: (j,) c >= 0: every velocity meets the force -c v [N m s/rad] or [N s/m]
    stiffness: Array       #: (j,) k >= 0: every position meets the force -k (q - spring_at) [N m/rad] or [N/m]
    spring_at: Array       #: (j, 2) position without spring force [rad] or [m]; of a ball always q = 0
    armature: Array        #: (j,) inertia of a rotor, added to H on the diagonal [kg m2] or [kg]
    motor_force: Array     #: (j,) constant torque [N m] or force [N] on the first axis
    motor_speed: Array     #: (j,) speed the motor seeks [rad/s] or [m/s]; nan = none
    motor_limit: Array     #: (j,) greatest torque or force for that [N m] or [N], inf = no limit
    restitution: Array     #: (j,) e of its limits, 0..1
    lead: Array            #: (j,) displacement along the axis of a screw per angle [m/rad]; 0 of other joints


class LinkTable(NamedTuple):
    """What the recursions over the links read; `dynamics.trees.kinematics` names the columns."""

    index: IntArray  #: (l, 4) type, parent link, first position, first velocity
    number: Array    #: (l, 40) frames, mass, inertia
    before: IntArray  #: (d,) the same as `Trees.dof_parent`
    armature: Array  #: (d,) added to the diagonal of H


class Trees(NamedTuple):
    """The generalized joints as a forest. Row l is a link: a body with the joint that carries it. Parents come before
    children, and the links of a tree are consecutive. The coordinates of all links are q and v of `JointState`."""

    body: IntArray          #: (l,)
    joint: IntArray         #: (l,) row of Joints
    parent: IntArray        #: (l,) link, -1 = the world or a body that is no link carries it
    first_q: IntArray       #: (l + 1,) link l has the positions q[first_q[l] : first_q[l + 1]]
    first_v: IntArray       #: (l + 1,) and the velocities v[first_v[l] : first_v[l + 1]]
    link_of_body: IntArray  #: (n,) -1 = no link; empty where there are no links
    dof_link: IntArray      #: (d,) link of each velocity
    dof_parent: IntArray    #: (d,) the velocity before it on the way to the root, -1 = none
    start: IntArray         #: (t + 1,) tree k has the links start[k] : start[k + 1]
    start_v: IntArray       #: (t + 1,) and the velocities start_v[k] : start_v[k + 1]
    driven: IntArray        #: (k, 3) of the trees that stand on a body with a prescribed motion: root, that body, tree
    table: LinkTable


def no_joints() -> Joints:
    """A table without joints."""
    ints, floats = np.zeros(0, np.int32), np.zeros(0)
    return Joints(
        ints, ints, ints, ints, ints, np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 2, 3)),
        np.zeros((0, 2)), np.zeros((0, 2)), floats, floats, np.zeros((0, 2)), floats, floats, floats, floats, floats,
        floats,
    )


def no_trees() -> Trees:
    """A forest without links."""
    ints, one = np.zeros(0, np.int32), np.zeros(1, np.int32)
    table = LinkTable(np.zeros((0, 4), np.int32), np.zeros((0, 40)), ints, np.zeros(0))
    return Trees(ints, ints, ints, one, one, ints, ints, ints, one, one, np.zeros((0, 3), np.int32), table)


NO_JOINTS, NO_TREES = no_joints(), no_trees()


NO_PAIRS: IntArray = np.zeros((0, 2), np.int32)


class Groups(NamedTuple):
    """Which shapes pass through each other, whatever their bodies: those of the groups i and j where apart[i, j] is 1.
    Both are empty where a model has no groups."""

    of_shape: IntArray  #: (s,)
    apart: IntArray     #: (k, k) symmetric


NO_GROUPS = Groups(np.zeros(0, np.int32), np.zeros((0, 0), np.int32))


class Model(NamedTuple):
    """Everything that is constant during a run. Replace a field with `_replace`; never write into the arrays."""

    kind: IntArray       #: (n,)   a BodyKind
    mass: Array          #: (n,)   [kg]; 0 for bodies that forces do not move
    inv_mass: Array      #: (n,)   [1/kg]; 0 for bodies that are not dynamic, links included: their tree has the inertia
    inertia: Array       #: (n, 3) principal moments about the centre of mass [kg m2], body frame
    inv_inertia: Array   #: (n, 3) [1/(kg m2)]; 0 for bodies that are not dynamic
    gravity: Array       #: (3,)   [m/s2]
    shapes: Shapes
    hulls: Hulls
    meshes: Meshes
    materials: Materials
    motions: Motions
    springs: Springs
    joints: Joints = NO_JOINTS
    trees: Trees = NO_TREES
    apart: IntArray = NO_PAIRS  #: (p, 2) bodies that pass through each other, besides those at joints
    groups: Groups = NO_GROUPS


class Skin(NamedTuple):
    """The texture of a mesh, for the view."""

    uv: Array                 #: (m, 3, 2) where the corners of its triangles are in the image, 0..1 from the upper left
    image: NDArray[np.uint8]  #: (h, w, 3) sRGB


class Labels(NamedTuple):
    """Names and looks of things. No kernel reads it."""

    title: str
    summary: str
    watch: str                    #: what to look at
    bodies: tuple[str, ...]       #: (n,) names
    materials: tuple[str, ...]    #: (k,) names
    colors: Array                 #: (n, 3) sRGB, 0..1; nan = the viewer chooses
    origin: Array                 #: (n, 3) the scene's body origin [m], in the body frame
    axes: Array                   #: (n, 4) the scene's body axes -> body frame, unit quaternion
    notes: tuple[str, ...]        #: what was assumed while loading ("teapot.stl is not closed: ...")
    #: for drawing, one entry a shape: vertices (k, 3) [m] in the shape frame and triangles (m, 3) of hulls and meshes
    #: as their files give them; no rows for other kinds
    draw_meshes: tuple[tuple[Array, IntArray], ...] = ()
    skins: tuple[Skin | None, ...] = ()  #: likewise; None where there is no texture
    joints: tuple[str, ...] = ()  #: (j,) names
    closed_forms: tuple[ClosedForm, ...] = ()  #: how bodies should move by what the scene says

def body_count(model: Model) -> int:
    return len(model.kind)


def shape_count(model: Model) -> int:
    return len(model.shapes.kind)
