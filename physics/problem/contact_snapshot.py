"""The contacts of one instant with their equations, stopped to be looked at.

    ζ̇ = M λ + d,    M = TᵀH⁻¹T,    d = TᵀH⁻¹(τ - C) + Ṫᵀq̇                                   [RBDA eqs. 11.34–11.36]

Exact methods know the elements that touch. For all others the contacts are those of collision detection, and of how
their surfaces curve only the shapes speak: balls, ends of capsules, sides of cylinders, ellipsoids and the walls of
bowls and pipes curve as they do. Else a corner of one body rides on a face of the other: the face is of the shape that
has one along the normal; where both have, or neither, it is of the body that is fixed, or of the predecessor.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..collision import Detector
from ..collision.exact.elements import Elements, limit_joint
from ..collision.exact.gaps import Witness, empty_witness
from ..core.model import Array, BodyKind, IntArray, Model, ShapeKind, body_count
from ..core.state import NO_COORDINATES, Bodies, Contacts, JointState, LongArray
from ..dynamics.constraints.reactions import Reactions, push_axes
from ..dynamics.forces import Loads, applied_forces
from ..dynamics.free_body import Y_SIZE
from ..dynamics.trees.contacts import accelerate_links
from ..dynamics.trees.kinematics import place_links
from ..shapes.shapes import quat_to_matrix
from .contact_equations import Equations, accelerate_bodies, contact_matrix, contact_rows, empty_equations, weigh_rows
from .limit_rows import limit_rows

Rows = NDArray[np.integer[Any]]
ROUND = (ShapeKind.SPHERE, ShapeKind.CAPSULE)
FLAT = (0.0, 1.0, 0.0, 1.0)     # α, β in both directions, see `collision.exact.gaps`
VERTEX = (1.0, 0.0, 1.0, 0.0)
ACROSS = 1e-3  # [rad] between a normal and a face's, or the side of a cylinder, that still count as one direction

Curve = tuple[float, float, float, float]


class ContactSnapshot(NamedTuple):
    """Contacts 0 … c - 1; rows 3 i (normal), 3 i + 1 and 3 i + 2 (tangents) of the equations belong to contact i."""

    key: LongArray      #: (c,)   as in Contacts
    body_a: IntArray    #: (c,)   predecessor
    body_b: IntArray    #: (c,)   successor
    point: Array        #: (c, 3) [m], world frame
    normal: Array       #: (c, 3) unit, from a to b
    tangent_1: Array    #: (c, 3)
    tangent_2: Array    #: (c, 3)
    gap: Array          #: (c,)   [m]
    restitution: Array  #: (c,)
    friction: Array     #: (c,)
    restitution_t: Array    #: (c,) of balls, nan = none
    restitution_psi: Array  #: (c,)
    face: IntArray      #: (c,)   body with whose face the normal turns; where no surface is flat, as the head says
    limit: IntArray     #: (c,)   row of Joints where this is a limit of a joint, -1 of a contact
    M: Array            #: (3 c, 3 c) [1/kg]
    d: Array            #: (3 c,) [m/s2]
    u: Array            #: (3 c,) ζ and slip [m/s]
    HT: Array           #: (3 c, n_v) TᵀH⁻¹: q̇ changes by its transpose times impulses
    passed: Array       #: (3 c, m) what the rows of joints in maximal coordinates answer to a unit of each
    slot: IntArray      #: (n,)   first of the body's six places in q̇, -1 where it is not dynamic
    force: Array        #: (n, 3) applied [N]
    torque: Array       #: (n, 3) applied, about the centre of mass [N m]
    reactions: Reactions     #: the joints in maximal coordinates

    def take(self, rows: Rows) -> "ContactSnapshot":
        """Only these contacts."""
        three = (3 * rows[:, None] + np.arange(3)).ravel()
        equations = (self.M[np.ix_(three, three)], self.d[three], self.u[three], self.HT[three], self.passed[three])
        return ContactSnapshot._make((*(a[rows] for a in self[:14]), *equations, *self[19:]))


class PairCoefficients(NamedTuple):
    """Coefficients of pairs (c,)."""

    restitution: Array
    friction: Array
    restitution_t: Array    #: of balls along the surface; nan = none
    restitution_psi: Array  #: of balls about the normal; nan = none


def equations_of(
    model: Model, t: float, bodies: Bodies, loads: Loads, witness: Witness, key: LongArray, materials: PairCoefficients,
    joints: JointState = NO_COORDINATES, surface: Elements | None = None, motors: IntArray | None = None,
) -> ContactSnapshot:
    """The equations of pairs given by their witnesses, at the poses and velocities of the bodies and the coordinates of
    links; the mouse spring is left out. surface: where there may be limits of joints among the pairs. motors: what
    those with a limit do, see `Reactions.mode`; without it they are off, as in impacts."""
    count, n = len(key), body_count(model)
    eq: Equations = empty_equations(model, count)
    if motors is not None:
        eq.reactions.mode[:] = motors
    force, torque = np.zeros((n, 3)), np.zeros((n, 3))
    applied_forces(model, loads, bodies, force, torque)
    push_axes(model, bodies, eq.reactions, force, torque, np.zeros((n, Y_SIZE)))
    unheld, ydot = loads._replace(grab_body=np.full(1, -1, np.int32)), np.zeros((n, Y_SIZE))
    if len(joints.v):
        eq.trees.q[:], eq.trees.v[:] = joints
        place_links(model, *joints, eq.trees.work, bodies)
        accelerate_links(model, unheld, 1.0, bodies, force, torque, eq.trees, eq.free, eq.bias)
    accelerate_bodies(model, unheld, t, 1.0, bodies, force, torque, ydot, eq)
    contact_rows(model, t, bodies, witness, count, eq)
    if surface is not None:
        limit_rows(model, surface, t, bodies, key, witness, count, eq)
    weigh_rows(model, bodies, count, eq)
    M, d = np.zeros((3 * count, 3 * count)), np.zeros(3 * count)
    contact_matrix(count, eq, M, d)
    point = 0.5 * (witness.p_a[:count] + witness.p_b[:count])
    limit = np.array([-1 if surface is None else limit_joint(surface, int(k)) for k in key], np.int32)
    return ContactSnapshot(
        key, witness.body_a[:count].copy(), witness.body_b[:count].copy(), point, witness.normal[:count].copy(),
        eq.tangent_1[:count].copy(), eq.tangent_2[:count].copy(), witness.gap[:count].copy(), *materials,
        _faces(model, witness, count), limit, M, d, eq.u[: 3 * count].copy(), eq.HT[: 3 * count].copy(),
        eq.reactions.passed[: 3 * count].copy(), eq.slot.copy(), force, torque, eq.reactions)


def _faces(model: Model, w: Witness, count: int) -> IntArray:
    """The body (c,) whose surface is flat at each contact; where none is, a body that is not dynamic, or a."""
    flat_a, flat_b = ((curve[:count, 0] == 0.0) & (curve[:count, 2] == 0.0) for curve in (w.curve_a, w.curve_b))
    a, b = w.body_a[:count], w.body_b[:count]
    otherwise = np.where(model.kind[b] == BodyKind.DYNAMIC, a, b)
    return np.where(flat_a == flat_b, otherwise, np.where(flat_a, a, b)).astype(np.int32)


def detected(
    model: Model, t: float, bodies: Bodies, loads: Loads, reach: float, joints: JointState = NO_COORDINATES
) -> ContactSnapshot:
    """The equations of all contacts that collision detection finds within `reach` [m]."""
    contacts = Detector(model).detect(bodies, np.full(body_count(model), 0.5 * reach))
    count = int(contacts.count[0])
    near = np.flatnonzero(contacts.gap[:count] <= reach)
    a, b = (model.shapes.material[shapes[near]] for shapes in (contacts.shape_a, contacts.shape_b))
    return equations_of(model, t, bodies, loads, _witness(model, bodies, contacts, near), contacts.key[near].copy(),
                        PairCoefficients(contacts.restitution[near].copy(), contacts.friction[near].copy(),
                                      model.materials.restitution_t[a, b], model.materials.restitution_psi[a, b]),
                        joints)


def _witness(model: Model, bodies: Bodies, contacts: Contacts, rows: Rows) -> Witness:
    """Witnesses of detected contacts, see the head of this file."""
    w = empty_witness(len(rows))
    w.body_a[:], w.body_b[:] = contacts.body_a[rows], contacts.body_b[rows]
    w.normal[:], w.gap[:] = contacts.normal[rows], contacts.gap[rows]
    half = 0.5 * w.gap[:, None] * w.normal
    w.p_a[:], w.p_b[:] = contacts.point[rows] - half, contacts.point[rows] + half
    for k, row in enumerate(rows.tolist()):
        faces = [_has_face(model, bodies, int(shape[row]), sign * w.normal[k])
                 for shape, sign in ((contacts.shape_a, 1.0), (contacts.shape_b, -1.0))]
        first_is_face = faces[0] if faces[0] != faces[1] else model.kind[w.body_b[k]] == BodyKind.DYNAMIC
        w.u_a[k], w.curve_a[k] = _curve(model, bodies, int(contacts.shape_a[row]), w.p_a[k], w.normal[k], first_is_face)
        w.u_b[k], w.curve_b[k] = _curve(model, bodies, int(contacts.shape_b[row]), w.p_b[k], w.normal[k],
                                        not first_is_face)
    return w


def _has_face(model: Model, bodies: Bodies, s: int, outward: Array) -> bool:
    """Whether a flat face of shape s looks along this direction."""
    shapes = model.shapes
    kind, data = int(shapes.kind[s]), int(shapes.data[s])
    turn = quat_to_matrix(bodies.q[int(shapes.body[s])]) @ quat_to_matrix(shapes.orientation[s])
    local = turn.T @ outward
    along = 1.0 - 0.5 * ACROSS**2
    if kind == ShapeKind.BOX:
        return bool(np.abs(local).max() > along)
    if kind == ShapeKind.CYLINDER:
        return bool(abs(local[2]) > along)
    if kind == ShapeKind.HULL:
        first, last = model.hulls.face_start[data : data + 2]
        return bool((model.hulls.face_normal[first:last] @ local).max() > along)
    return kind in (ShapeKind.PLANE, ShapeKind.MESH)


def _curve(model: Model, bodies: Bodies, s: int, p: Array, normal: Array, face: bool) -> tuple[Array, Curve]:
    """The first principal direction of shape s at its point p, and α, β along it and across."""
    shapes, i = model.shapes, int(model.shapes.body[s])
    kind, size = int(shapes.kind[s]), shapes.size[s]
    radius = float(size[0])
    turn = quat_to_matrix(bodies.q[i]) @ quat_to_matrix(shapes.orientation[s])
    tangents = np.linalg.svd(normal[None])[2][1:].T
    if kind == ShapeKind.ELLIPSOID:
        x = turn.T @ (p - bodies.x[i] - quat_to_matrix(bodies.q[i]) @ shapes.position[s])
        local = turn.T @ tangents
        k, V = np.linalg.eigh(local.T @ (local / size[:, None] ** 2) / np.linalg.norm(x / size**2))
        return tangents @ V[:, 0], (float(k[0]), 1.0, float(k[1]), 1.0)
    if kind == ShapeKind.PIPE:
        return turn[:, 2], (0.0, 1.0, 1.0, -radius)
    if kind == ShapeKind.CYLINDER and abs(turn[:, 2] @ normal) < ACROSS:
        return turn[:, 2], (0.0, 1.0, 1.0, radius)
    if kind in ROUND:
        return tangents[:, 0], (1.0, radius, 1.0, radius)
    if kind == ShapeKind.BOWL:
        return tangents[:, 0], (1.0, -radius, 1.0, -radius)
    return tangents[:, 0], FLAT if face or kind == ShapeKind.PLANE else VERTEX
