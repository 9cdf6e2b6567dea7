"""Limits of joints as springy stops, for methods whose forces are functions of positions and velocities.

    λ = max(0, -K φ - D ζ)  where φ < 0                                                       [RBDA eq. 11.73]

A stop stores ½ K φ² and dissipates the rest of the work done on it. An implicit stage of length g that starts at φ = z
has (φ - z)/g for ζ: so λ is a continuous function of where it ends.

K and D are those of the contact of the two surfaces times the squared lever r². The lever is the distance of the
child's centre of mass from the joint, or its radius of gyration about the axis where that is greater (a wheel on its
hub, a nut on its screw).
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import DYNAMIC, LINK, Array, JointType, Model
from ...core.rotations import rotated
from ...core.vec import accumulate, dot, row, scale
from .limits import Limits, limit_gap, limit_rate, limits_of, maximal_directions, tree_direction

SHORTEST = 0.01  # least lever r of a stop [m]


class Stops(NamedTuple):
    """The limits of all joints with their gains."""

    limits: Limits
    stiffness: Array  #: (k,) K [N m/rad] or [N/m]
    damping: Array    #: (k,) D [N m s/rad] or [N s/m]
    dent: Array       #: (k,) z where an implicit stage starts [rad] or [m]
    length: Array     #: (1,) g of that stage, 0 = there is none [s]


def stops_of(model: Model) -> Stops:
    """The stops of a model. Bodies without shapes have the surface of the first material."""
    limits, joints, shapes = limits_of(model), model.joints, model.shapes
    material = np.zeros(len(model.kind), np.int32)
    material[shapes.body[::-1]] = shapes.material[::-1]  # of each body's first shape
    stiffness, damping = np.zeros((2, len(limits.bound)))
    for r, j in enumerate(limits.joint.tolist()):
        child, parent = int(joints.child[j]), int(joints.parent[j])
        mine, theirs = material[child], material[parent] if parent >= 0 else material[child]
        softer = min(model.materials.surfaces[theirs, mine], key=lambda surface: surface[0])
        lever = 1.0 if joints.type[j] == JointType.SLIDER else _arm_squared(model, j, joints.axis[j, limits.axis[r]])
        stiffness[r], damping[r] = lever * softer[0], lever * softer[1]
    return Stops(limits, stiffness, damping, np.zeros(len(limits.bound)), np.zeros(1))


def _arm_squared(model: Model, j: int, axis: Array) -> float:
    """r² [m2] of the stops of joint j about this axis, given in the parent's frame; without an
    axis (ball) the mean of the child's moments counts. The translation of a nut of mass m adds m c² to its moment, with
    the lead c [m/rad]."""
    joints, child = model.joints, int(model.joints.child[j])
    offset, moments = joints.anchor_child[j], model.inertia[child]
    own = rotated(joints.rest[j] * (1.0, -1.0, -1.0, -1.0), axis)
    moment = float(own * own @ moments if axis.any() else moments.mean()) / max(float(model.mass[child]), 1e-300)
    arm = max(float(np.linalg.norm(offset)), math.sqrt(moment + float(joints.lead[j]) ** 2), SHORTEST)
    return arm * arm


@helper
def stop_force(model, stops, r, bodies, q, v):
    """λ of limit r, and its power [W]."""
    gap = limit_gap(model, stops.limits, r, bodies, q)
    if gap >= 0.0:
        return 0.0, 0.0
    rate = limit_rate(model, stops.limits, r, bodies, q, v)[0]
    length = stops.length[0]
    closing = rate if length == 0.0 else (gap - stops.dent[r]) / length
    force = max(0.0, -stops.stiffness[r] * gap - stops.damping[r] * closing)
    return force, force * rate


@kernel
def add_stops(model, stops, bodies, q, v, tau_in_out):
    """Add the forces of the limits of trees to the joint forces (n_v,); returns their power [W]."""
    limits, total = stops.limits, 0.0
    for r in range(len(limits.bound)):
        d = int(limits.first_v[r])
        if d < 0:
            continue
        force, power = stop_force(model, stops, r, bodies, q, v)
        total += power
        width, u = tree_direction(model, limits, r, bodies, q)
        for j in range(width):
            tau_in_out[d + j] += force * u[j]
    return total


@kernel
def stop_energy(model, stops, bodies, q):
    """Energy in the springs of all limits [J]."""
    stored = 0.0
    for r in range(len(stops.limits.bound)):
        gap = min(limit_gap(model, stops.limits, r, bodies, q), 0.0)
        stored += 0.5 * stops.stiffness[r] * gap * gap
    return stored


@kernel
def push_stops(model, stops, bodies, q, v, force, torque, ydot):
    """Add the forces of the limits of joints in maximal coordinates to the forces (n, 3) and torques on the bodies, and
    to the rates of P and L in ydot (n, 13); returns their power [W], and that of parents with a prescribed motion."""
    limits, joints, total, driven = stops.limits, model.joints, 0.0, 0.0
    for r in range(len(limits.bound)):
        if limits.first_v[r] >= 0:
            continue
        push, power = stop_force(model, stops, r, bodies, q, v)
        if push == 0.0:
            continue
        total += power
        f, t_a, t_b = maximal_directions(model, limits, r, bodies, q)
        j = int(limits.joint[r])
        for side in range(2):
            i, turn = (int(joints.parent[j]), t_a) if side == 0 else (int(joints.child[j]), t_b)
            signed = push if side == 1 else -push
            if i < 0:
                continue
            if model.kind[i] != DYNAMIC and model.kind[i] != LINK:
                driven -= signed * (dot(f, row(bodies.v, i)) + dot(turn, row(bodies.w, i)))
                continue
            accumulate(force, i, scale(signed, f))
            accumulate(torque, i, scale(signed, turn))
            if model.kind[i] == DYNAMIC:
                for c in range(3):
                    ydot[i, 7 + c] += signed * f[c]
                    ydot[i, 10 + c] += signed * turn[c]
    return total, driven
