"""Joints as constraints between bodies with coordinates of their own (maximal coordinates): rows of J.

A row is a scalar function C of the poses of a body a (the parent) and a body b (the child) that its joint keeps at
zero, with Ċ = J u, u = (v_a, ω_a, v_b, ω_b), and C̈ = J u̇ + γ. With p_a, p_b the joint's point on either body and
r = p - x:

    POINT  C = e·(p_b - p_a)   e along a world axis          J = (-e, -r_a × e, e, r_b × e)
    LINE   C = s·(p_b - p_a)   s fixed in a                  J = (-s, -(p_b - x_a) × s, s, r_b × s)
    DOT    C = s·c             s fixed in a, c fixed in b    J = (0, -c × s, 0, c × s)
    PITCH  C = d·(p_b - p_a) - c θ   d fixed in a, θ the angle of TURN, c the lead      J = LINE along d less c ∂θ

    ball       three POINT rows                                                      [Articulated §22.3.1, J_ball]
    universal  three POINT rows, first axis · second axis                                              [J_universal]
    hinge      three POINT rows, the child's axis · two directions across the parent's                 [J_hinge]
    slider     two LINE rows across the axis, three DOT rows                                           [J_slider]
    screw      two LINE rows across the axis, two DOT rows as a hinge, one PITCH row
    fixed      three POINT rows, three DOT rows

What a joint leaves free is measured by axes, whose rows give their velocities in the same way:

    TURN   angle θ from s to c about d fixed in a                J = (0, -d, 0, d); of a screw with its whole turns
    BEND   the same about d fixed in b (a universal joint's second axis)
    SLIDE  way s·(p_b - p_a) along the axis                      J as LINE
    SPIN   a component of the rotation vector of a ball, along a world axis e; J = (0, -e, 0, e) gives ω
    DRIVE  none of these: a velocity of a joint in generalized coordinates, see `reactions`; J = 0
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import DYNAMIC, Array, IntArray, Joints
from ...core.vec import add, axpy, cross, dot, norm, quat_conj, quat_mul, rotate, row, row4, scale, sub, unrotate
from ...joints.form import BEND, DOT, DRIVE, LINE, PITCH, POINT, SLIDE, SPIN, TURN, RowOf
from ...joints.screw import wound_angle
from ...joints.table import BALL, FORMS, SLIDER, UNIVERSAL, place_of, slides
from ...joints.universal import turn_angle
from ...shapes.shapes import quat_to_matrix
from ..free_body import angular_velocity


class AxisRows(NamedTuple):
    """What never changes of rows of J. Vectors fixed in a are in its frame (the world's where a = -1), those fixed in b
    in its; s of POINT and SPIN is a world axis."""

    kind: IntArray    #: (m,) POINT …
    joint: IntArray   #: (m,) row of Joints
    axis: IntArray    #: (m,) which axis of its joint a row measures
    a: IntArray       #: (m,) parent, -1 = the world
    b: IntArray       #: (m,) child
    s: Array          #: (m, 3)
    c: Array          #: (m, 3)
    d: Array          #: (m, 3) axis of TURN and BEND
    anchor_a: Array   #: (m, 3) the joint's point [m]
    anchor_b: Array   #: (m, 3)
    rest: Array       #: (m, 4) `Joints.rest`
    lead: Array       #: (m,) c of PITCH, and of TURN where the axis is a screw's [m/rad]; else 0


def _table(joints: Joints, rows: list[tuple[int, RowOf]]) -> AxisRows:
    """Rows of (joint, row)."""
    kinds, j = np.array([row.kind for _, row in rows], np.int32), np.array([j for j, _ in rows], np.int32)
    to_child = [quat_to_matrix(joints.rest[k]).T for k in j]
    s, c, d = (np.array([getattr(row, name) for _, row in rows], np.float64).reshape(-1, 3) for name in "scd")
    c = np.array([R @ u for R, u in zip(to_child, c, strict=True)]).reshape(-1, 3)
    d = np.array([R @ u if k == BEND else u for R, u, k in zip(to_child, d, kinds, strict=True)]).reshape(-1, 3)
    return AxisRows(
        kinds, j, np.array([row.axis for _, row in rows], np.int32), joints.parent[j], joints.child[j], s, c, d,
        joints.anchor_parent[j], joints.anchor_child[j], joints.rest[j], joints.lead[j],
    )


def constraint_rows(joints: Joints, order: IntArray) -> AxisRows:
    """The rows that the joints in this order keep at zero."""
    forms = [FORMS[kind] for kind in joints.type.tolist()]
    return _table(joints, [(j, row) for j in order.tolist() for row in forms[j].constraints(joints, j)])


def axis_rows(joints: Joints, order: IntArray) -> AxisRows:
    """The rows of what the joints in this order leave free."""
    forms = [FORMS[kind] for kind in joints.type.tolist()]
    return _table(joints, [(j, row) for j in order.tolist() for row in forms[j].free(joints, j)])


# ------------------------------------------------------------------------------------------------------- kernels
@helper
def in_world(q, i, u):
    """A vector of the frame of body i (the world's: -1) in the world."""
    if i < 0:
        return u
    return rotate(row4(q, i), u)


@helper
def centre(x, i):
    """Centre of mass of body i; the origin of the world: -1"""
    if i < 0:
        return (0.0, 0.0, 0.0)
    return row(x, i)


@helper
def end_of(rows, r, side):
    """Body at a side of row r, -1 = the world."""
    return int(rows.a[r]) if side == 0 else int(rows.b[r])


@helper
def put_ends(J, r, linear, turn_a, turn_b):
    """J = (-linear, -turn_a, linear, turn_b)"""
    for k in range(3):
        J[r, k] = -linear[k]
        J[r, 3 + k] = -turn_a[k]
        J[r, 6 + k] = linear[k]
        J[r, 9 + k] = turn_b[k]


@helper
def rotation_vector(turn):
    """The rotation vector, of at most half a turn, of a unit quaternion."""
    v = (turn[1], turn[2], turn[3])
    size = norm(v)
    if size == 0.0:
        return v
    sign = 1.0 if turn[0] >= 0.0 else -1.0
    return scale(sign * 2.0 * math.atan2(size, abs(turn[0])) / size, v)


@helper
def turn_gradient(s, c, d):
    """∂θ, the vector whose product with ω_b - ω_a is the rate of the angle θ from s to c about d, all in the world:
    d - (d·c) f/|f|², f the part of c across d."""
    f = axpy(-dot(d, c), d, c)
    return axpy(-dot(d, c) / max(dot(f, f), 1e-300), f, d)


@helper
def reaches(rows, r, x, q):
    """r_a and r_b of the joint's point, and p_b - p_a."""
    a, b = int(rows.a[r]), int(rows.b[r])
    arm_a, arm_b = in_world(q, a, row(rows.anchor_a, r)), in_world(q, b, row(rows.anchor_b, r))
    apart = sub(add(row(x, b), arm_b), add(centre(x, a), arm_a))
    return arm_a, arm_b, apart


@kernel
def pose_rows(rows, x, q, J_out, C_out) -> None:
    """J (m, 12) and C (m,) of all rows at the poses x, q of the bodies. C of an axis is its position [rad] or [m]."""
    still = (0.0, 0.0, 0.0)
    for r in range(len(rows.kind)):
        kind, a, b = int(rows.kind[r]), int(rows.a[r]), int(rows.b[r])
        s, c = row(rows.s, r), in_world(q, b, row(rows.c, r))
        if kind not in (POINT, SPIN):
            s = in_world(q, a, s)
        if kind in (POINT, LINE, SLIDE):
            arm_a, arm_b, apart = reaches(rows, r, x, q)
            reach = arm_a if kind == POINT else add(arm_a, apart)
            put_ends(J_out, r, s, cross(reach, s), cross(arm_b, s))
            C_out[r] = dot(s, apart)
        elif kind == DOT:
            u = cross(c, s)
            put_ends(J_out, r, still, u, u)
            C_out[r] = dot(s, c)
        elif kind == DRIVE:
            put_ends(J_out, r, still, still, still)
            C_out[r] = 0.0
        elif kind == SPIN:
            parent = row4(rows.rest, r) if a < 0 else quat_mul(row4(q, a), row4(rows.rest, r))
            put_ends(J_out, r, still, s, s)
            C_out[r] = dot(s, rotation_vector(quat_mul(row4(q, b), quat_conj(parent))))
        else:
            d, lead = in_world(q, b if kind == BEND else a, row(rows.d, r)), rows.lead[r]
            put_ends(J_out, r, still, d, d)
            C_out[r] = turn_angle(s, c, d)
            if lead != 0.0:
                arm_a, arm_b, apart = reaches(rows, r, x, q)
                reach, way = add(arm_a, apart), dot(d, apart)
                C_out[r] = wound_angle(C_out[r], way, lead)
                if kind == PITCH:
                    g = turn_gradient(s, c, d)
                    put_ends(J_out, r, d, axpy(-lead, g, cross(reach, d)), axpy(-lead, g, cross(arm_b, d)))
                    C_out[r] = way - lead * C_out[r]


@kernel
def drift_rows(rows, bodies, rate_out):
    """γ (m,): C̈ = J u̇ + γ at the poses and velocities of the bodies.

    POINT  γ = e·(ω_b × (ω_b × r_b) - ω_a × (ω_a × r_a))
    LINE   the same along s, and 2 ṡ·(ṗ_b - ṗ_a) + (ω_a × ṡ)·(p_b - p_a),  ṡ = ω_a × s
    DOT    (ω_b - ω_a)·(ċ × s + c × ṡ)
    PITCH  LINE along d less c θ̈,  θ̈ = ḋ·ω - (ω·(c × d)) (c·ω) with ω = ω_b - ω_a where d·c = 0
    SLIDE  as LINE;  TURN and BEND  ḋ·(ω_b - ω_a);  SPIN  -e·(ω_a × ω_b), of ω_b - ω_a seen from a
    """
    x, q, v, w = bodies.x, bodies.q, bodies.v, bodies.w
    for r in range(len(rows.kind)):
        kind, a, b = int(rows.kind[r]), int(rows.a[r]), int(rows.b[r])
        s = row(rows.s, r) if kind == POINT else in_world(q, a, row(rows.d if kind == PITCH else rows.s, r))
        w_a, w_b = centre(w, a), row(w, b)
        s_dot = cross(w_a, s)
        if kind == DOT:
            c = in_world(q, b, row(rows.c, r))
            change = add(cross(cross(w_b, c), s), cross(c, s_dot))
            rate_out[r] = dot(sub(w_b, w_a), change)
            continue
        if kind == DRIVE:
            rate_out[r] = 0.0
            continue
        if kind in (TURN, BEND, SPIN):
            d, spin = in_world(q, b if kind == BEND else a, row(rows.d, r)), w_b if kind == BEND else w_a
            rate_out[r] = dot(cross(spin, d), sub(w_b, w_a)) if kind != SPIN else -dot(row(rows.s, r), cross(w_a, w_b))
            continue
        arm_a, arm_b, apart = reaches(rows, r, x, q)
        turn_a, turn_b = cross(w_a, arm_a), cross(w_b, arm_b)
        rate_out[r] = dot(s, sub(cross(w_b, turn_b), cross(w_a, turn_a)))
        if kind == PITCH:
            c, turning = in_world(q, b, row(rows.c, r)), sub(w_b, w_a)
            rate_out[r] -= rows.lead[r] * (dot(s_dot, turning) - dot(turning, cross(c, s)) * dot(c, turning))
        if kind in (LINE, SLIDE, PITCH):
            parting = sub(add(row(v, b), turn_b), add(centre(v, a), turn_a))
            rate_out[r] += 2.0 * dot(s_dot, parting) + dot(cross(w_a, s_dot), apart)


@kernel
def weigh(kind, inv_mass, inv_inertia, q, rows, J, W_out):
    """W = M⁻¹ Jᵀ row by row (m, 12): 0 for bodies that are not dynamic."""
    for r in range(len(rows.kind)):
        for side in range(2):
            i = end_of(rows, r, side)
            start = 6 * side
            if i < 0 or kind[i] != DYNAMIC:
                for k in range(6):
                    W_out[r, start + k] = 0.0
                continue
            turn = (J[r, start + 3], J[r, start + 4], J[r, start + 5])
            turn = angular_velocity(row4(q, i), row(inv_inertia, i), turn)
            for k in range(3):
                W_out[r, start + k] = inv_mass[i] * J[r, start + k]
                W_out[r, start + 3 + k] = turn[k]


@kernel
def row_velocities(rows, J, v, w, u_out):
    """J u (m,) of the velocities v, w (n, 3)."""
    for r in range(len(rows.kind)):
        u_out[r] = 0.0
        for side in range(2):
            i = end_of(rows, r, side)
            if i >= 0:
                for k in range(3):
                    u_out[r] += J[r, 6 * side + k] * v[i, k] + J[r, 6 * side + 3 + k] * w[i, k]


@kernel
def add_rows(kind, rows, factors, lam, linear_in_out, angular_in_out):
    """Add Σ_r λ_r (row r of `factors`, (m, 12)) to what belongs to the dynamic bodies: J for momenta, W for
    velocities."""
    for r in range(len(rows.kind)):
        for side in range(2):
            i = end_of(rows, r, side)
            if i >= 0 and kind[i] == DYNAMIC:
                for k in range(3):
                    linear_in_out[i, k] += lam[r] * factors[r, 6 * side + k]
                    angular_in_out[i, k] += lam[r] * factors[r, 6 * side + 3 + k]


@kernel
def gram(rows, first, entries, J, W, softness, values_out):
    """The entries (nnz,) of J M⁻¹ Jᵀ + diag(softness) in the pattern of an `ldl.Factor`."""
    for s in range(len(rows.kind)):
        for p in range(first[s], first[s + 1]):
            r = int(entries[p])
            total = softness[r] if r == s else 0.0
            for side in range(2):
                i = end_of(rows, r, side)
                if i < 0:
                    continue
                if i == rows.a[s]:
                    for k in range(6):
                        total += J[r, 6 * side + k] * W[s, k]
                elif i == rows.b[s]:
                    for k in range(6):
                        total += J[r, 6 * side + k] * W[s, 6 + k]
            values_out[p] = total


@helper
def joint_place(joints, j, bodies):
    """Where a joint between two bodies is: positions of its axes, of a ball its rotation vector in the parent's frame;
    three numbers, 0 where it has fewer."""
    kind, a, b = joints.type[j], int(joints.parent[j]), int(joints.child[j])
    parent = (1.0, 0.0, 0.0, 0.0) if a < 0 else row4(bodies.q, a)
    turn = quat_mul(quat_mul(quat_conj(parent), row4(bodies.q, b)), quat_conj(row4(joints.rest, j)))
    first, second, way = row(joints.axis[j], 0), row(joints.axis[j], 1), 0.0
    if slides(kind):
        arm_a = rotate(parent, row(joints.anchor_parent, j))
        arm_b = in_world(bodies.q, b, row(joints.anchor_child, j))
        apart = sub(add(row(bodies.x, b), arm_b), add(centre(bodies.x, a), arm_a))
        way = dot(rotate(parent, first), apart)
    return place_of(kind, way, rotation_vector(turn), turn, first, second, joints.lead[j])


@helper
def joint_speed(joints, j, bodies):
    """Velocities of the axes of a joint between two bodies, of a ball its angular velocity; 0 where it has fewer."""
    kind, a, b = joints.type[j], int(joints.parent[j]), int(joints.child[j])
    w_a, w_b, d = centre(bodies.w, a), row(bodies.w, b), in_world(bodies.q, a, row(joints.axis[j], 0))
    turning = sub(w_b, w_a)
    if kind == SLIDER:
        arm = in_world(bodies.q, b, row(joints.anchor_child, j))
        reach = sub(add(row(bodies.x, b), arm), centre(bodies.x, a))
        parting = sub(add(row(bodies.v, b), cross(w_b, arm)), add(centre(bodies.v, a), cross(w_a, reach)))
        return (dot(d, parting), 0.0, 0.0)
    if kind == UNIVERSAL:
        second = in_world(bodies.q, b, unrotate(row4(joints.rest, j), row(joints.axis[j], 1)))
        return (dot(d, turning), dot(second, turning), 0.0)
    if kind == BALL:
        return turning
    return (dot(d, turning), 0.0, 0.0)


@kernel
def rotor_energy(joints, bodies):
    """Kinetic energy of the rotors of joints in maximal coordinates [J]:  Σ ½ I q̇²"""
    kinetic = 0.0
    for j in range(len(joints.type)):
        if joints.generalized[j] == 0 and joints.armature[j] > 0.0:
            x, y, z = joint_speed(joints, j, bodies)
            kinetic += 0.5 * joints.armature[j] * (x * x + y * y + z * z)
    return kinetic


@kernel
def spring_energy(joints, bodies):
    """Energy in the springs of joints in maximal coordinates [J]:  Σ ½ k (q - q_0)², q the positions of their axes."""
    stored = 0.0
    for j in range(len(joints.type)):
        if joints.generalized[j] == 1 or joints.stiffness[j] == 0.0:
            continue
        x, y, z = joint_place(joints, j, bodies)
        if joints.type[j] != BALL:
            x, y = x - joints.spring_at[j, 0], y - joints.spring_at[j, 1]
        stored += 0.5 * joints.stiffness[j] * (x * x + y * y + z * z)
    return stored
