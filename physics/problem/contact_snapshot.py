"""The contacts of one instant with their equations, frozen for inspection.

    ζ̇ = M λ + d,    M = TᵀH⁻¹T,    d = TᵀH⁻¹(τ - C) + Ṫᵀq̇                                   [RBDA eqs. 11.34–11.36]

`equations_of` makes them for pairs of surface elements, whose nearest points, normals and curvatures are exact. That is
what the method `event_driven` has. The other methods have contacts of collision detection: a point, a normal, and two
shapes. How the normal turns and the point wanders, which Ṫᵀq̇ needs, depends on the features that touch. `detected`
infers them from each shape and the direction of the normal in its frame:

    sphere, ellipsoid, bowl; capsule; side of a cylinder; pipe   its principal curvatures at the point
    plane, mesh                                                  a face
    box, hull, cap of a cylinder                                 a face whose normal is that of the contact; else an
                                                                 edge at right angles to it; else a corner

Of two faces that touch one counts, and the other body touches with a corner: the face of a, or of b where b is not
dynamic. An edge counts where it crosses another edge or touches something round. In all other cases (edges that do not
cross, rims, cones, edges of meshes) one body counts as a face, by the same rule, and the other as a corner.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..collision import Detector
from ..collision.exact.elements import Elements, limit_joint
from ..collision.exact.gaps import Witness, empty_witness
from ..core.model import Array, BodyKind, BoolArray, IntArray, Model, ShapeKind, body_count
from ..core.state import NO_COORDINATES, Bodies, Contacts, JointState, LongArray
from ..dynamics.constraints.reactions import Reactions, push_axes
from ..dynamics.forces import Loads, applied_forces
from ..dynamics.free_body import Y_SIZE
from ..dynamics.trees.contacts import accelerate_links
from ..dynamics.trees.kinematics import place_links
from ..shapes.shapes import quat_to_matrix
from ..shapes.superellipsoid import curvature_of
from .contact_equations import Equations, accelerate_bodies, contact_matrix, contact_rows, empty_equations, weigh_rows
from .limit_rows import limit_rows
from .turning_rows import Borne, borne_by, borne_rows, turning_of

Rows = NDArray[np.integer[Any]]
ROUND = (ShapeKind.SPHERE, ShapeKind.CAPSULE)
HULLS = (ShapeKind.HULL, ShapeKind.ROUNDED)
FLAT = (0.0, 1.0, 0.0, 1.0)     # α, β in both directions, see `collision.exact.gaps`
VERTEX = (1.0, 0.0, 1.0, 0.0)
ACROSS = 1e-3  # [rad] a smaller angle of a normal to a face's, or to the plane across an edge or an axis, counts as 0

Curve = tuple[float, float, float, float]
NO_MOMENTS = Borne(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


class Moments(NamedTuple):
    """What opposes the turning of c contacts: k blocks of three rows after theirs, see `turning_rows`, and the
    equations of all of them."""

    borne: Borne
    axes: Array   #: (k, 2, 3) unit: the normal and 0 of spinning, the tangents of rolling
    M: Array      #: (3 (c + k), 3 (c + k)) [1/kg]
    d: Array      #: (3 (c + k),) [m/s2]
    u: Array      #: (3 (c + k),) [m/s]
    HT: Array     #: (3 (c + k), n_v)
    T: Array      #: (3 (c + k), n_v)
    force: Array  #: (3 k,) [N] in the last rows, as the method has it at this instant; nan = not said


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
    span: Array         #: (c, 2, 3) unit: the normal stays at right angles to these two directions, if nothing is
                        #:        round: both in a face, or along an edge of either body
    span_body: IntArray #: (c, 2) the bodies in which they are fixed
    limit: IntArray     #: (c,)   row of Joints where this is a limit of a joint, -1 of a contact
    M: Array            #: (3 c, 3 c) [1/kg]
    d: Array            #: (3 c,) [m/s2]
    u: Array            #: (3 c,) ζ and slip [m/s]
    HT: Array           #: (3 c, n_v) TᵀH⁻¹: q̇ changes by its transpose times impulses
    T: Array            #: (3 c, n_v) as in `Equations`
    free: Array         #: (n_v,) q̈ without these contacts, with the reactions of joints
    slot: IntArray      #: (n,)   first of the body's six places in q̇, -1 where it is not dynamic
    force: Array        #: (n, 3) applied [N]
    torque: Array       #: (n, 3) applied, about the centre of mass [N m]
    reactions: Reactions     #: the joints in maximal coordinates
    moments: Moments    #: what opposes the turning of these contacts


class PairCoefficients(NamedTuple):
    """Coefficients of pairs (c,)."""

    restitution: Array
    friction: Array
    restitution_t: Array    #: of balls along the surface; nan = none
    restitution_psi: Array  #: of balls about the normal; nan = none


class Jointed(NamedTuple):
    """What joints bring to the equations of an instant."""

    joints: JointState = NO_COORDINATES  #: coordinates of links
    surface: Elements | None = None      #: where there may be limits of joints among the pairs
    motors: IntArray | None = None       #: what those with a limit do, see `Reactions.mode`; else off, as in impacts


NO_JOINTS = Jointed()


def equations_of(
    model: Model, t: float, bodies: Bodies, loads: Loads, witness: Witness, key: LongArray, materials: PairCoefficients,
    jointed: Jointed = NO_JOINTS, borne: Borne = NO_MOMENTS,
) -> ContactSnapshot:
    """The equations of pairs given by their witnesses, at the poses and velocities of the bodies and of joints; the
    mouse spring is left out. borne: what the contacts bear."""
    (joints, surface, motors), count, n = jointed, len(key), body_count(model)
    blocks = count + len(borne.bearer)
    eq: Equations = empty_equations(model, blocks)
    if motors is not None:
        eq.reactions.mode[:] = motors
    force, torque = np.zeros((n, 3)), np.zeros((n, 3))
    applied_forces(model, loads, bodies, force, torque)
    push_axes(model, bodies, eq.reactions, force, torque, np.zeros((n, Y_SIZE)))
    unheld, ydot = loads._replace(grab_body=np.full(1, -1, np.int32)), np.zeros((n, Y_SIZE))
    if len(joints.v):
        eq.trees.q[:], eq.trees.v[:] = joints
        place_links(model, *joints, eq.trees.work, bodies)
        accelerate_links(model, unheld, t, 1.0, bodies, force, torque, eq.trees, eq.free, eq.bias)
    accelerate_bodies(model, unheld, t, 1.0, bodies, force, torque, ydot, eq)
    contact_rows(model, t, bodies, witness, count, eq)
    if surface is not None:
        limit_rows(model, surface, t, bodies, key, witness, count, eq)
    borne_rows(model, bodies, witness, borne.bearer, borne.kind, borne.length, count, eq)
    weigh_rows(model, bodies, blocks, eq)
    M, d = np.zeros((3 * blocks, 3 * blocks)), np.zeros(3 * blocks)
    contact_matrix(0, 3 * blocks, eq, M, d)
    axes = np.stack([eq.tangent_1[count:blocks], eq.tangent_2[count:blocks]], axis=1)
    moments = Moments(borne, axes, M, d, eq.u[: 3 * blocks].copy(), eq.HT[: 3 * blocks].copy(),
                      eq.T[: 3 * blocks].copy(), np.full(3 * (blocks - count), np.nan))
    point = 0.5 * (witness.p_a[:count] + witness.p_b[:count])
    limit, rows = np.array([-1 if surface is None else limit_joint(surface, int(k)) for k in key], np.int32), 3 * count
    return ContactSnapshot(
        key, witness.body_a[:count].copy(), witness.body_b[:count].copy(), point, witness.normal[:count].copy(),
        eq.tangent_1[:count].copy(), eq.tangent_2[:count].copy(), witness.gap[:count].copy(), *materials,
        *_spans(model, witness, eq.tangent_1[:count], eq.tangent_2[:count]), limit,
        np.ascontiguousarray(M[:rows, :rows]), d[:rows], moments.u[:rows], moments.HT[:rows], moments.T[:rows],
        eq.free.copy(), eq.slot.copy(), force, torque, eq.reactions, moments)


def _spans(model: Model, w: Witness, tangent_1: Array, tangent_2: Array) -> tuple[Array, IntArray]:
    """ContactSnapshot.span and span_body. Where neither a face nor two edges touch, these are tangents of a body
    that is not dynamic, or of a."""
    count = len(tangent_1)
    a, b, u_a, u_b = w.body_a[:count], w.body_b[:count], w.u_a[:count], w.u_b[:count]
    (straight_a, flat_a), (straight_b, flat_b) = (
        (curve[:count, 0] == 0.0, (curve[:count, 0] == 0.0) & (curve[:count, 2] == 0.0))
        for curve in (w.curve_a, w.curve_b))
    otherwise = np.where(model.kind[b] == BodyKind.DYNAMIC, a, b)
    face = np.where(flat_a == flat_b, otherwise, np.where(flat_a, a, b))
    edges = straight_a & straight_b & ~flat_a & ~flat_b & (np.linalg.norm(np.cross(u_a, u_b), axis=1) > ACROSS)
    span = np.where(edges[:, None, None], np.stack([u_a, u_b], axis=1), np.stack([tangent_1, tangent_2], axis=1))
    body = np.where(edges[:, None], np.stack([a, b], axis=1), face[:, None])
    return span, body.astype(np.int32)


class TooMany(Exception):
    """There are more contacts than the equations of are wanted: `count`. Their matrices grow with its square."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def detected(
    model: Model, t: float, bodies: Bodies, loads: Loads, reach: float, joints: JointState = NO_COORDINATES,
    choose: Callable[[Array, Array], BoolArray] | None = None, most: int | None = None,
) -> ContactSnapshot:
    """The equations of all contacts that collision detection finds within `reach` [m]. choose: tells from their gaps
    [m] and ζ [m/s] which of them are wanted. Raises TooMany before any equation is made where these are more than
    `most`."""
    contacts = Detector(model).detect(bodies, np.full(body_count(model), 0.5 * reach))
    count = int(contacts.count[0])
    near = np.flatnonzero(contacts.gap[:count] <= reach)
    if choose is not None:
        near = near[choose(contacts.gap[near], _separation(bodies, contacts, near))]
    if most is not None and len(near) > most:
        raise TooMany(len(near))
    a, b = (model.shapes.material[shapes[near]] for shapes in (contacts.shape_a, contacts.shape_b))
    borne = borne_by(turning_of(model), np.arange(len(near)), np.column_stack([a, b]),
                     np.column_stack([contacts.body_a[near], contacts.body_b[near]]))
    return equations_of(model, t, bodies, loads, _witness(model, bodies, contacts, near), contacts.key[near].copy(),
                        PairCoefficients(contacts.restitution[near].copy(), contacts.friction[near].copy(),
                                      model.materials.restitution_t[a, b], model.materials.restitution_psi[a, b]),
                        Jointed(joints), borne)


def _separation(bodies: Bodies, contacts: Contacts, rows: Rows) -> Array:
    """ζ (c,) [m/s] of detected contacts: the normal velocity of b's nearest point less that of a's."""
    normal, half = contacts.normal[rows], 0.5 * contacts.gap[rows, None] * contacts.normal[rows]
    velocity = [bodies.v[i] + np.cross(bodies.w[i], contacts.point[rows] + side - bodies.x[i])
                for i, side in ((contacts.body_a[rows], -half), (contacts.body_b[rows], half))]
    return np.einsum("ij,ij->i", normal, velocity[1] - velocity[0])


def _witness(model: Model, bodies: Bodies, contacts: Contacts, rows: Rows) -> Witness:
    """Witnesses of detected contacts, see the head of this file."""
    w = empty_witness(len(rows))
    w.body_a[:], w.body_b[:] = contacts.body_a[rows], contacts.body_b[rows]
    w.normal[:], w.gap[:] = contacts.normal[rows], contacts.gap[rows]
    half = 0.5 * w.gap[:, None] * w.normal
    w.p_a[:], w.p_b[:] = contacts.point[rows] - half, contacts.point[rows] + half
    for k, row in enumerate(rows.tolist()):
        a = _Side(model, bodies, int(contacts.shape_a[row]), w.p_a[k], w.normal[k])
        b = _Side(model, bodies, int(contacts.shape_b[row]), w.p_b[k], -w.normal[k])
        a_is_face = a.face if a.face != b.face else bool(model.kind[w.body_b[k]] == BodyKind.DYNAMIC)
        w.u_a[k], w.curve_a[k] = _curve(a, b, a_is_face)
        w.u_b[k], w.curve_b[k] = _curve(b, a, not a_is_face)
    return w


class _Side:
    """A shape of a contact: what it has at its point there (3,), along its outward normal (3,)."""

    def __init__(self, model: Model, bodies: Bodies, s: int, point: Array, normal: Array) -> None:
        body, R = int(model.shapes.body[s]), quat_to_matrix(bodies.q[int(model.shapes.body[s])])
        self.kind, self.size, self.normal = int(model.shapes.kind[s]), model.shapes.size[s], normal
        self.exponents = model.shapes.exponents[s]
        self.turn = R @ quat_to_matrix(model.shapes.orientation[s])  #: shape frame -> world frame
        self.local = self.turn.T @ normal
        self.at = self.turn.T @ (point - bodies.x[body] - R @ model.shapes.position[s])
        self.face = _has_face(model, int(model.shapes.data[s]), self.kind, self.local)
        edge = None if self.face else _edge(model, int(model.shapes.data[s]), self)
        self.edge = None if edge is None else self.turn @ edge  #: unit, None where no edge touches
        swollen = (ShapeKind.CYLINDER, ShapeKind.CAPSULE, ShapeKind.ROUNDED)
        self.radius = float(self.size[0]) if self.kind in swollen else 0.0
        self.round = _round(self)  #: first principal direction, and α, β along it and across; None where nothing curves


def _has_face(model: Model, data: int, kind: int, local: Array) -> bool:
    """Whether a flat face of a shape looks along this direction of its frame."""
    along = 1.0 - 0.5 * ACROSS**2
    if kind == ShapeKind.BOX:
        return bool(np.abs(local).max() > along)
    if kind == ShapeKind.CYLINDER:
        return bool(abs(local[2]) > along)
    if kind in HULLS:
        first, last = model.hulls.face_start[data : data + 2]
        return bool((model.hulls.face_normal[first:last] @ local).max() > along)
    return kind in (ShapeKind.PLANE, ShapeKind.MESH)


def _edge(model: Model, data: int, side: _Side) -> Array | None:
    """The edge at right angles to the normal, unit, shape frame; of a hull the nearest. That of a capsule is its
    segment, and that of the side of a cylinder the axis."""
    local = np.abs(side.local)
    if side.kind == ShapeKind.BOX:
        k = int(local.argmin())
        return np.eye(3)[k] if local[k] < ACROSS else None
    if side.kind == ShapeKind.CYLINDER or (side.kind == ShapeKind.CAPSULE and abs(side.at[2]) < side.size[1]):
        return np.eye(3)[2] if local[2] < ACROSS else None
    if side.kind in HULLS:
        first, last = model.hulls.edge_start[data : data + 2]
        start, end = (model.hulls.vertices[model.hulls.edges[first:last, i]] for i in (0, 1))
        length = np.linalg.norm(end - start, axis=1)
        along = (end - start) / length[:, None]
        place = np.clip(np.einsum("ij,ij->i", side.at - start, along), 0.0, length)
        distance = np.linalg.norm(start + place[:, None] * along - side.at, axis=1)
        distance[np.abs(along @ side.local) >= ACROSS] = np.inf
        nearest = int(distance.argmin())
        return along[nearest] if distance[nearest] < np.inf else None
    return None


def _round(side: _Side) -> tuple[Array, Curve] | None:
    """See _Side.round."""
    radius, tangents = float(side.size[0]), np.linalg.svd(side.normal[None])[2][1:].T
    if side.kind == ShapeKind.ELLIPSOID:
        local, squares = side.turn.T @ tangents, side.size**2
        k, V = np.linalg.eigh(local.T @ (local / squares[:, None]) / np.linalg.norm(side.at / squares))
        return tangents @ V[:, 0], (float(k[0]), 1.0, float(k[1]), 1.0)
    if side.kind == ShapeKind.SUPERELLIPSOID:
        u, curve = curvature_of(side.size, side.exponents, side.local)
        return side.turn @ u, curve
    if side.kind == ShapeKind.TORUS:
        out = np.array([side.at[0], side.at[1], 0.0]) / np.hypot(side.at[0], side.at[1])
        bend = float(side.local @ out) / float(side.size[1])
        return side.turn @ np.array([-out[1], out[0], 0.0]), (bend, 1.0 + radius * bend, 1.0, radius)
    if side.kind == ShapeKind.PIPE:
        return side.turn[:, 2], (0.0, 1.0, 1.0, -radius)
    if side.kind in (ShapeKind.CYLINDER, ShapeKind.ROUNDED) and side.edge is not None:
        return side.edge, (0.0, 1.0, 1.0, radius)
    if side.kind in ROUND or (side.kind == ShapeKind.ROUNDED and not side.face):
        return tangents[:, 0], (1.0, radius, 1.0, radius)
    if side.kind == ShapeKind.BOWL:
        return tangents[:, 0], (1.0, -radius, 1.0, -radius)
    return None


def _curve(side: _Side, other: _Side, is_face: bool) -> tuple[Array, Curve]:
    """The first principal direction of a side (3,), and α, β along it and across."""
    meets_edge = other.edge is not None and side.edge is not None and (
        np.linalg.norm(np.cross(side.edge, other.edge)) > ACROSS)
    meets_round = other.round is not None and other.edge is None
    if side.edge is not None and (meets_edge or meets_round):
        return side.edge, (0.0, 1.0, 1.0, side.radius)
    if side.round is not None:
        return side.round
    meets_curve = other.round is not None and not side.face
    return np.linalg.svd(side.normal[None])[2][1], FLAT if is_face and not meets_curve else VERTEX
