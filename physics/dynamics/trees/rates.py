"""Trees among the free bodies: their coordinates in the rows of Y, the joint forces, and their rate of change.

The row of a link in Y (see `free_body`) holds the coordinates of its joint where a free body has its own: an
orientation in the columns of q, other positions in those of x, an angular velocity in those of L, others in those of P.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, Trees
from ...core.state import JointState
from ...core.vec import scale
from ...joints.table import BALL, FREE, POSITIONS, VELOCITIES
from .kinematics import (
    FIRST_Q,
    FIRST_V,
    TYPE,
    TreeWork,
    accelerate_bases,
    empty_work,
    flat4,
    rates_of,
    unit_quaternions,
)
from .tree import answer, eliminate, pushed_forces


class TreeScratch(NamedTuple):
    """What evaluating the rates of trees writes."""

    work: TreeWork
    q: Array      #: (n_q,) coordinates of the stage
    v: Array      #: (n_v,)
    tau: Array    #: (n_v,) joint forces [N m] or [N]
    none: Array   #: (n_v,) zeros
    rates: Array  #: (n_v,) v̇
    q_dot: Array  #: (n_q,)
    turning: Array  #: (l, 12) see integrators.midpoint
    answers: Array  #: (l, 18) see tree.answer_rows


def empty_tree_scratch(trees: Trees) -> TreeScratch:
    """Scratch for these trees, all zero."""
    positions, velocities = np.zeros(trees.first_q[-1]), np.zeros(trees.first_v[-1])
    return TreeScratch(
        work=empty_work(trees), q=positions.copy(), v=velocities.copy(), tau=velocities.copy(), none=velocities.copy(),
        rates=velocities.copy(), q_dot=positions.copy(),
        turning=np.zeros((len(trees.body), 12)), answers=np.zeros((len(trees.body), 18)),
    )


def empty_joints(trees: Trees) -> JointState:
    """Coordinates of all links, all zero."""
    return JointState(np.zeros(trees.first_q[-1]), np.zeros(trees.first_v[-1]))


# ----------------------------------------------------------------------------------------------- rows of Y
@helper
def position_column(kind, j):
    """The column of Y for the j-th position of a joint."""
    if kind == FREE:
        return 3 + j if j < 4 else j - 4
    return 3 + j if kind == BALL else j


@helper
def velocity_column(kind, j):
    """The column of Y for the j-th velocity of a joint."""
    if kind == FREE:
        return 10 + j if j < 3 else 4 + j
    return 10 + j if kind == BALL else 7 + j


@kernel
def pack_links(trees, q, v, y_out):
    """Write the rows of all links in Y (n, 13)."""
    index = trees.table.index
    for l in range(index.shape[0]):
        i, kind = int(trees.body[l]), int(index[l, TYPE])
        for j in range(POSITIONS[kind]):
            y_out[i, position_column(kind, j)] = q[index[l, FIRST_Q] + j]
        for j in range(VELOCITIES[kind]):
            y_out[i, velocity_column(kind, j)] = v[index[l, FIRST_V] + j]


@helper
def combined(weights, stages, h, y0, k, i, c):
    """Column c of row i of y_0 + h Σ_j w_j k_j."""
    total = 0.0
    for s in range(stages):
        total += weights[s] * k[s, i, c]
    return y0[i, c] + h * total


@helper
def combine_links(trees, weights_x, weights_p, stages, h, y0, k, q_out, v_out):
    """Y = y_0 + h Σ_j w_j k_j over the first `stages` stages, for the links; orientations are made unit again."""
    index = trees.table.index
    for l in range(index.shape[0]):
        i, kind = int(trees.body[l]), int(index[l, TYPE])
        for j in range(POSITIONS[kind]):
            q_out[index[l, FIRST_Q] + j] = combined(weights_x, stages, h, y0, k, i, position_column(kind, j))
        for j in range(VELOCITIES[kind]):
            v_out[index[l, FIRST_V] + j] = combined(weights_p, stages, h, y0, k, i, velocity_column(kind, j))
    unit_quaternions(trees.table, q_out)


@helper
def link_error(trees, error, h, y0, k):
    """Largest local error of a step over the coordinates of links, each relative to max(1, its size) in SI units."""
    largest = 0.0
    index = trees.table.index
    for l in range(index.shape[0]):
        i = int(trees.body[l])
        for c in range(y0.shape[1]):
            e = 0.0
            for s in range(len(error)):
                e += error[s] * k[s, i, c]
            if not math.isfinite(e):
                return math.nan
            largest = max(largest, abs(h * e) / max(1.0, abs(y0[i, c])))
    return largest


# ------------------------------------------------------------------------------------------------- joint forces
@helper
def rotation_vector(q):
    """Angle times axis of a unit quaternion, the angle in 0 … π."""
    if q[0] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    sine = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    s = 2.0 * math.atan2(sine, q[0]) / sine if sine > 1e-9 else 2.0
    return scale(s, (q[1], q[2], q[3]))


@helper
def joint_forces(model, loads, q, v, damped, tau_out):
    """τ (n_v,) of dampers (if `damped`), springs, motors and loads:  τ = -c v - k (q - q_0) + motor + load"""
    trees, joints = model.trees, model.joints
    index = trees.table.index
    for l in range(index.shape[0]):
        kind, j, i, first = int(index[l, TYPE]), int(trees.joint[l]), int(index[l, FIRST_Q]), int(index[l, FIRST_V])
        stiffness = joints.stiffness[j]
        for n in range(VELOCITIES[kind]):
            tau = loads.joint[first + n] if first + n < len(loads.joint) else 0.0
            if damped:
                tau -= joints.damping[j] * v[first + n]
            if stiffness > 0.0 and kind not in (BALL, FREE):
                tau -= stiffness * (q[i + n] - joints.spring_at[j, n])
            tau_out[first + n] = tau
        if kind == BALL and stiffness > 0.0:
            turn = rotation_vector(flat4(q, i))
            for n in range(3):
                tau_out[first + n] -= stiffness * turn[n]
        if VELOCITIES[kind] == 1:
            tau_out[first] += joints.motor_force[j]


@kernel
def joint_energy(model, q, v):
    """Energy of joint springs, and kinetic energy of the joints' rotors [J]:  Σ ½ k (q - q_0)²,  Σ ½ I v²"""
    trees, joints = model.trees, model.joints
    index = trees.table.index
    stored, kinetic = 0.0, 0.0
    for l in range(index.shape[0]):
        kind, j, i, first = int(index[l, TYPE]), int(trees.joint[l]), int(index[l, FIRST_Q]), int(index[l, FIRST_V])
        for n in range(VELOCITIES[kind]):
            kinetic += 0.5 * joints.armature[j] * v[first + n] * v[first + n]
            if kind not in (BALL, FREE):
                stretch = q[i + n] - joints.spring_at[j, n]
                stored += 0.5 * joints.stiffness[j] * stretch * stretch
        if kind == BALL:
            turn = rotation_vector(flat4(q, i))
            stored += 0.5 * joints.stiffness[j] * (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    return stored, kinetic


# --------------------------------------------------------------------------------------------- rate of change
@helper
def link_rates(model, loads, t, force, torque, scratch, ydot_out):
    """Write the rows of all links in ẏ: q̇ and v̇ by ABA, under the forces (n, 3) and torques on the bodies and those of
    the joints at time t [s]. Needs the work of `place_links` at the stage's q and v."""
    trees, work = model.trees, scratch.work
    table = trees.table
    if table.index.shape[0] == 0:
        return
    joint_forces(model, loads, scratch.q, scratch.v, True, scratch.tau)
    accelerate_bases(model, t, work.link)
    pushed_forces(table, trees.body, force, torque, scratch.none, work.link, work.dof)
    eliminate(table, scratch.none, work.link, work.dof, work.articulated)
    answer(table, 0, table.index.shape[0], scratch.tau, work.link, work.dof, scratch.rates)
    pack_link_rates(trees, scratch, ydot_out)


@helper
def pack_link_rates(trees, scratch, ydot_out):
    """Write the rows of all links in ẏ at q̇(q, v) and v̇ = scratch.rates."""
    rates_of(trees.table, scratch.q, scratch.v, scratch.q_dot)
    pack_links(trees, scratch.q_dot, scratch.rates, ydot_out)
