"""Limits of joints as contacts: the gap is the distance to the limit [rad] or [m], λ the torque or force that keeps it.

    lower, upper      φ = q - q_min,  φ = q_max - q                              ζ = ±v
    cone of a ball    φ = θ_max - |θ|,  θ its rotation vector, n = θ/|θ|         ζ = -n·ω,
                      ζ̇ = -n·ω̇ - ½ cot(|θ|/2) |ω - (n·ω) n|², for n turns with the joint

A limit is named like a pair of surface elements, by a number beyond all of theirs. It has a normal row only.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from contactlab.physics.contact_equations import clear_rows
from contactlab.physics.dynamics.kinematics import BALL, FREE, VELOCITIES, flat4
from contactlab.physics.dynamics.tree_rates import rotation_vector
from contactlab.physics.jit import helper, kernel
from contactlab.physics.model import Array, IntArray, Model
from contactlab.physics.vec import axpy, dot, norm, put, rotate, row, row4, scale, tangents, transform, unrotate

if TYPE_CHECKING:
    from contactlab.physics.collision.surface import Surface

CONE = 0  # side of the limit of a ball joint; 1 = lower, -1 = upper
NARROW = 1e-9  # angle of a ball joint below which its direction is not known [rad]


class Limits(NamedTuple):
    """Row r is one limit of a generalized joint."""

    joint: IntArray    #: (k,) row of Joints
    axis: IntArray     #: (k,) which of its axes
    side: IntArray     #: (k,) 1 lower, -1 upper, CONE
    first_q: IntArray  #: (k,) its position in q; of a ball the quaternion's first number
    first_v: IntArray  #: (k,) its velocity in v
    bound: Array       #: (k,) [rad] or [m]


def limits_of(model: Model) -> Limits:
    """The limits of all generalized joints."""
    rows, joints, trees = [], model.joints, model.trees
    for link, j in enumerate(trees.joint.tolist()):
        kind, q, v = int(joints.type[j]), int(trees.first_q[link]), int(trees.first_v[link])
        if kind == BALL:
            rows.append((j, 0, CONE, q, v, joints.upper[j, 0]))
        elif kind != FREE:
            for n in range(VELOCITIES[kind]):
                rows.append((j, n, 1, q + n, v + n, joints.lower[j, n]))
                rows.append((j, n, -1, q + n, v + n, joints.upper[j, n]))
    rows = [r for r in rows if math.isfinite(r[5])]
    joint, axis, side, first_q, first_v = (np.array([r[i] for r in rows], np.int32) for i in range(5))
    return Limits(joint, axis, side, first_q, first_v, np.array([r[5] for r in rows], np.float64))


def limit_joint(surface: "Surface", pair: int) -> int:
    """The row of Joints that a pair is a limit of, -1 = none."""
    r = pair - len(surface.kind) ** 2
    return int(surface.limits.joint[r]) if r >= 0 else -1


@helper
def limit_gap(limits, r, q):
    """φ of limit r."""
    i = int(limits.first_q[r])
    if limits.side[r] == CONE:
        return limits.bound[r] - norm(rotation_vector(flat4(q, i)))
    return limits.side[r] * (q[i] - limits.bound[r])


@helper
def cone_direction(q, i):
    """-θ/|θ| of the ball joint with positions from i on, 0 where θ = 0; and |θ|."""
    turn = rotation_vector(flat4(q, i))
    angle = norm(turn)
    return scale(-1.0 / angle if angle > NARROW else 0.0, turn), angle


@helper
def world_axis(model, limits, r, bodies, q):
    """The direction in which limit r pushes the child, world frame."""
    joints, j = model.joints, int(limits.joint[r])
    parent, child = int(joints.parent[j]), int(joints.child[j])
    if limits.side[r] == CONE:
        u, _ = cone_direction(q, int(limits.first_q[r]))
    else:
        n = int(limits.axis[r])
        u = scale(float(limits.side[r]), (joints.axis[j, n, 0], joints.axis[j, n, 1], joints.axis[j, n, 2]))
        if n == 1:  # fixed in the child
            return rotate(row4(bodies.q, child), unrotate(row4(joints.rest, j), u))
    return rotate(row4(bodies.q, parent), u) if parent >= 0 else u


@kernel
def find_limits(model, surface, bodies, q, pairs, count, out):
    """Fill the rows of `out` (Witness) that belong to limits among the pairs 0 … count - 1. Body a is the parent, where
    that is the world the child."""
    limits, joints, first = surface.limits, model.joints, len(surface.kind) ** 2
    for k in range(count):
        if pairs[k] < first:
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
        out.gap[k], out.margin[k], out.facing[k] = limit_gap(limits, r, q), math.inf, 1.0
        put(out.u_a, k, (0.0, 0.0, 0.0))
        put(out.u_b, k, (0.0, 0.0, 0.0))
        for i in range(4):
            out.curve_a[k, i] = out.curve_b[k, i] = 0.0


@kernel
def near_limits(surface, q, reach, depth, found, pairs_out):
    """Append to the `found` pairs the limits whose gap is at most `reach` and at least -depth; returns the number of
    pairs, which may exceed the room."""
    limits, first = surface.limits, len(surface.kind) ** 2
    for r in range(len(limits.bound)):
        gap = limit_gap(limits, r, q)
        if -depth <= gap <= reach:
            if found < len(pairs_out):
                pairs_out[found] = first + r
            found += 1
    return found


@helper
def limit_rate(limits, r, q, v):
    """ζ of limit r, and the part of ζ̇ that velocities make."""
    i, d = int(limits.first_q[r]), int(limits.first_v[r])
    if limits.side[r] != CONE:
        return limits.side[r] * v[d], 0.0
    inwards, angle = cone_direction(q, i)
    w = (v[d], v[d + 1], v[d + 2])
    zeta = dot(inwards, w)
    across = axpy(-zeta, inwards, w)
    return zeta, -0.5 * dot(across, across) / math.tan(0.5 * angle) if angle > NARROW else 0.0


@kernel
def limit_rates(surface, q, v, pairs, count, zeta_out):
    """ζ of the limits among the pairs 0 … count - 1."""
    first = len(surface.kind) ** 2
    for k in range(count):
        if pairs[k] >= first:
            zeta_out[k] = limit_rate(surface.limits, int(pairs[k]) - first, q, v)[0]


@kernel
def limit_rows(surface, pairs, witness, count, eq):
    """Write T, u and rate of the limits among the contacts 0 … count - 1, at the coordinates in eq.trees."""
    limits, first, trees = surface.limits, len(surface.kind) ** 2, eq.trees
    base = len(eq.free) - len(trees.v)
    for k in range(count):
        if pairs[k] < first:
            continue
        r = int(pairs[k]) - first
        clear_rows(eq, k, -1, -1)
        for i in range(3 * k, 3 * k + 3):
            eq.u[i], eq.rate[i] = 0.0, 0.0
        d = base + int(limits.first_v[r])
        if limits.side[r] == CONE:
            inwards, _ = cone_direction(trees.q, int(limits.first_q[r]))
            for j in range(3):
                eq.T[3 * k, d + j] = inwards[j]
        else:
            eq.T[3 * k, d] = limits.side[r]
        eq.u[3 * k], eq.rate[3 * k] = limit_rate(limits, r, trees.q, trees.v)
        t1, t2 = tangents(row(witness.normal, k))
        put(eq.tangent_1, k, t1)
        put(eq.tangent_2, k, t2)
