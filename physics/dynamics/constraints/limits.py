"""Limits of joints as contacts: the gap is the distance to the limit [rad] or [m], λ the torque or force that keeps it.

    lower, upper      φ = q - q_min,  φ = q_max - q                              ζ = ±v
    cone of a ball    φ = θ_max - |θ|,  θ its rotation vector, n = θ/|θ|         ζ = -n·ω,
                      ζ̇ = -n·ω̇ - ½ cot(|θ|/2) |ω - (n·ω) n|², for n turns with the joint

Of a joint in maximal coordinates q and θ follow from the poses of its two bodies; with ω of the child relative to the
parent, the row of T is J of that axis (see `axes`). ζ̇ has one more term, (ω_a × n)·ω, because n turns with the
parent; for the second axis of a universal joint n turns with the child.

A limit is named like a pair of surface elements, by a number beyond all of theirs and below TURNS. It has a normal row
only.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, Model
from ...core.vec import add, axpy, cross, dot, neg, norm, put, rotate, row, row4, scale, sub, transform, unrotate
from ...joints.table import BALL, FREE, SLIDER, VELOCITIES
from ..trees.contacts import put_end
from ..trees.kinematics import flat4
from ..trees.rates import rotation_vector
from .axes import centre, joint_place

TURNS = 1 << 60  # from here on numbers name what opposes the turning of pairs, see `problem.turning_rows`
CONE = 0  # side of the limit of a ball joint; 1 = lower, -1 = upper
NARROW = 1e-9  # angle of a ball joint below which its direction is not known [rad]


class Limits(NamedTuple):
    """Row r is one limit of a joint."""

    joint: IntArray    #: (k,) row of Joints
    axis: IntArray     #: (k,) which of its axes
    side: IntArray     #: (k,) 1 lower, -1 upper, CONE
    first_q: IntArray  #: (k,) its position in q; of a ball the quaternion's first number; -1 in maximal coordinates
    first_v: IntArray  #: (k,) its velocity in v; -1
    bound: Array       #: (k,) [rad] or [m]


def limits_of(model: Model) -> Limits:
    """The limits of all joints."""
    rows, joints = [], model.joints
    for j, (q, v) in _places(model).items():
        kind = int(joints.type[j])
        if kind == BALL:
            rows.append((j, 0, CONE, q, v, joints.upper[j, 0]))
        elif kind != FREE:
            for n in range(VELOCITIES[kind]):
                at = (q + n, v + n) if q >= 0 else (-1, -1)
                rows.append((j, n, 1, *at, joints.lower[j, n]))
                rows.append((j, n, -1, *at, joints.upper[j, n]))
    return _table([r for r in rows if math.isfinite(r[5])])


def motors_of(model: Model) -> Limits:
    """The axes of motors that seek a speed: of trees all of them, of joints in maximal coordinates those with a limit.
    Such a motor pushes as a lower limit does; `bound` is the most that it exerts [N m] or [N]."""
    joints = model.joints
    seeks = np.isfinite(joints.motor_speed) & ((joints.generalized == 1) | np.isfinite(joints.motor_limit))
    return _table([(j, 0, 1, q, v, joints.motor_limit[j]) for j, (q, v) in _places(model).items() if seeks[j]])


def _places(model: Model) -> dict[int, tuple[int, int]]:
    """Of every joint its first position and velocity in trees, -1 in maximal coordinates."""
    joints, trees = model.joints, model.trees
    places = {j: (int(trees.first_q[link]), int(trees.first_v[link])) for link, j in enumerate(trees.joint.tolist())}
    return places | dict.fromkeys(np.flatnonzero(joints.generalized == 0).tolist(), (-1, -1))


def _table(rows: list[tuple]) -> Limits:
    joint, axis, side, first_q, first_v = (np.array([r[i] for r in rows], np.int32) for i in range(5))
    return Limits(joint, axis, side, first_q, first_v, np.array([r[5] for r in rows], np.float64))


@helper
def cone_turn(model, limits, r, bodies, q):
    """θ of the ball joint of limit r, in the parent's frame."""
    i = int(limits.first_q[r])
    return rotation_vector(flat4(q, i)) if i >= 0 else joint_place(model.joints, int(limits.joint[r]), bodies)


@helper
def limit_gap(model, limits, r, bodies, q):
    """φ of limit r."""
    i = int(limits.first_q[r])
    if limits.side[r] == CONE:
        return limits.bound[r] - norm(cone_turn(model, limits, r, bodies, q))
    place = joint_place(model.joints, int(limits.joint[r]), bodies) if i < 0 else (q[i], q[i], q[i])
    return limits.side[r] * (place[limits.axis[r]] - limits.bound[r])


@helper
def cone_direction(turn):
    """-θ/|θ| of a rotation vector, 0 where θ = 0; and |θ|."""
    angle = norm(turn)
    return scale(-1.0 / angle if angle > NARROW else 0.0, turn), angle


@helper
def world_axis(model, limits, r, bodies, q):
    """The direction in which limit r pushes the child, world frame."""
    joints, j = model.joints, int(limits.joint[r])
    parent, child = int(joints.parent[j]), int(joints.child[j])
    if limits.side[r] == CONE:
        u, _ = cone_direction(cone_turn(model, limits, r, bodies, q))
    else:
        n = int(limits.axis[r])
        u = scale(float(limits.side[r]), (joints.axis[j, n, 0], joints.axis[j, n, 1], joints.axis[j, n, 2]))
        if n == 1:  # fixed in the child
            return rotate(row4(bodies.q, child), unrotate(row4(joints.rest, j), u))
    return rotate(row4(bodies.q, parent), u) if parent >= 0 else u


@helper
def tree_direction(model, limits, r, bodies, q):
    """How many velocities of its tree limit r bounds, from first_v on, and J there."""
    if limits.side[r] == CONE:
        return 3, cone_direction(cone_turn(model, limits, r, bodies, q))[0]
    return 1, (float(limits.side[r]), 0.0, 0.0)


@helper
def maximal_directions(model, limits, r, bodies, q):
    """f, t_a and t_b of a limit in maximal coordinates: J = (-f, -t_a, f, t_b)."""
    joints, j = model.joints, int(limits.joint[r])
    u = world_axis(model, limits, r, bodies, q)
    if joints.type[j] != SLIDER:
        return (0.0, 0.0, 0.0), u, u
    a, b = int(joints.parent[j]), int(joints.child[j])
    arm = rotate(row4(bodies.q, b), row(joints.anchor_child, j))
    reach = sub(add(row(bodies.x, b), arm), centre(bodies.x, a))
    return u, cross(reach, u), cross(arm, u)


@kernel
def limit_sides(model, limits, r, bodies, q, J_out):
    """J (12,) of limit r, of a joint in maximal coordinates."""
    f, t_a, t_b = maximal_directions(model, limits, r, bodies, q)
    for k in range(3):
        J_out[k], J_out[3 + k], J_out[6 + k], J_out[9 + k] = -f[k], -t_a[k], f[k], t_b[k]


@helper
def put_limit(model, limits, r, bodies, q, work, at_a, at_b, row_out):
    """Add J of limit r to a row, in which the parent and the child of its joint have the places at_a and at_b, see
    `put_end`."""
    d, j = int(limits.first_v[r]), int(limits.joint[r])
    if d >= 0:
        width, u = tree_direction(model, limits, r, bodies, q)
        for k in range(width):
            row_out[at_b + d + k] += u[k]
    else:
        f, t_a, t_b = maximal_directions(model, limits, r, bodies, q)
        put_end(model, work, int(model.joints.parent[j]), at_a, neg(f), neg(t_a), row_out)
        put_end(model, work, int(model.joints.child[j]), at_b, f, t_b, row_out)


@helper
def maximal_rate(model, limits, r, bodies, q):
    """ζ of limit r in maximal coordinates, and the part of ζ̇ that velocities make."""
    joints, j = model.joints, int(limits.joint[r])
    a, b = int(joints.parent[j]), int(joints.child[j])
    f, t_a, t_b = maximal_directions(model, limits, r, bodies, q)
    v_a, w_a, v_b, w_b = centre(bodies.v, a), centre(bodies.w, a), row(bodies.v, b), row(bodies.w, b)
    zeta = dot(f, sub(v_b, v_a)) + dot(t_b, w_b) - dot(t_a, w_a)
    if joints.type[j] == SLIDER:
        arm = rotate(row4(bodies.q, b), row(joints.anchor_child, j))
        reach, turn = sub(add(row(bodies.x, b), arm), centre(bodies.x, a)), cross(w_b, arm)
        parting = sub(add(v_b, turn), add(v_a, cross(w_a, reach)))  # seen from the parent
        still = sub(cross(w_b, turn), cross(w_a, cross(w_a, reach)))
        return zeta, dot(f, sub(still, scale(2.0, cross(w_a, parting))))
    carrier = w_b if limits.axis[r] == 1 else w_a
    rate = dot(cross(carrier, t_b), sub(w_b, w_a))
    if limits.side[r] == CONE:
        angle = norm(cone_turn(model, limits, r, bodies, q))
        across = axpy(-zeta, t_b, sub(w_b, w_a))
        rate -= 0.5 * dot(across, across) / math.tan(0.5 * angle) if angle > NARROW else 0.0
    return zeta, rate


@kernel
def find_limits(model, surface, bodies, q, pairs, count, out):
    """Fill the rows of `out` (Witness) that belong to limits among the pairs 0 … count - 1. Body a is the parent, where
    that is the world the child."""
    limits, joints, first = surface.limits, model.joints, len(surface.kind) ** 2
    for k in range(count):
        if pairs[k] < first or pairs[k] >= TURNS:
            continue
        r = int(pairs[k]) - first
        j = int(limits.joint[r])
        child = int(joints.child[j])
        point = transform(row(bodies.x, child), row4(bodies.q, child), row(joints.anchor_child, j))
        out.body_a[k] = joints.parent[j] if joints.parent[j] >= 0 else child
        out.body_b[k] = child
        put(out.p_a, k, point)
        put(out.p_b, k, point)
        put(out.normal, k, world_axis(model, limits, r, bodies, q))
        out.gap[k], out.margin[k], out.facing[k] = limit_gap(model, limits, r, bodies, q), math.inf, 1.0
        put(out.u_a, k, (0.0, 0.0, 0.0))
        put(out.u_b, k, (0.0, 0.0, 0.0))
        for i in range(4):
            out.curve_a[k, i] = out.curve_b[k, i] = 0.0


@kernel
def near_limits(model, surface, bodies, q, reach, depth, found, pairs_out):
    """Append to the `found` pairs the limits whose gap is at most `reach` and at least -depth; returns the number of
    pairs, which may exceed the room."""
    limits, first = surface.limits, len(surface.kind) ** 2
    for r in range(len(limits.bound)):
        gap = limit_gap(model, limits, r, bodies, q)
        if -depth <= gap <= reach:
            if found < len(pairs_out):
                pairs_out[found] = first + r
            found += 1
    return found


@helper
def limit_rate(model, limits, r, bodies, q, v):
    """ζ of limit r, and the part of ζ̇ that velocities make."""
    d = int(limits.first_v[r])
    if d < 0:
        return maximal_rate(model, limits, r, bodies, q)
    if limits.side[r] != CONE:
        return float(limits.side[r]) * v[d], 0.0
    inwards, angle = cone_direction(cone_turn(model, limits, r, bodies, q))
    w = (v[d], v[d + 1], v[d + 2])
    zeta = dot(inwards, w)
    across = axpy(-zeta, inwards, w)
    return zeta, -0.5 * dot(across, across) / math.tan(0.5 * angle) if angle > NARROW else 0.0


@kernel
def limit_rates(model, surface, bodies, q, v, pairs, count, zeta_out):
    """ζ of the limits among the pairs 0 … count - 1."""
    first = len(surface.kind) ** 2
    for k in range(count):
        if pairs[k] >= first:
            zeta_out[k] = limit_rate(model, surface.limits, int(pairs[k]) - first, bodies, q, v)[0]
