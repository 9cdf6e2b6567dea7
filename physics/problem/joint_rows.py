"""Limits and motors of joints as rows of the contact problem: blocks of one row.

    u = J q̇ + bias,   low <= p <= high,   p = clamp(p - u/(J Y))

φ is the distance to a limit, ζ its rate.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray, Model
from ..core.report import MotorState
from ..core.sym3 import three
from ..core.vec import norm, scale
from ..dynamics.constraints.axes import SPIN, AxisRows
from ..dynamics.constraints.blocks import Constraints
from ..dynamics.constraints.cure import BAUMGARTE
from ..dynamics.trees.contacts import put_end
from ..dynamics.trees.kinematics import FIRST_Q, FIRST_V, TYPE, flat4
from ..dynamics.trees.rates import rotation_vector
from ..joints.table import BALL, FREE, VELOCITIES
from .mechanisms import answer_alone, answer_through, open_block, place_in_block
from .system import LIMIT, LINEAR, MOTOR, OTHERS, USED, Blocks, own_row, push_row, row_velocity

TREE_LIMIT_REACH = 0.02  # a limit of a tree this far away takes part [rad] or [m]
AXIS_LIMIT_REACH = 0.05  # a limit between two bodies does within this, or within what a step can bring [rad] or [m]
SMALL_TURN = 1e-6        # of a ball, below which it has no direction and no limit [rad]
FULL_FORCE = 1e-9        # part of its limit that a motor which exerts all it can may fall short of
ROW_SOFTNESS = 1e-9      # part of a row's answer without constraints that is added to the one with them


class Axes(NamedTuple):
    """What joints in maximal coordinates leave free: limits and motors of their axes."""

    rows: AxisRows
    J: Array          #: (a, 12)
    at: Array         #: (a,) positions [rad] or [m]
    lower: Array      #: (a,) -inf = no limit
    upper: Array      #: (a,)
    cone: Array       #: (a,) greatest angle of a ball, on the first of its three axes; inf = no limit
    limited: IntArray  #: (a,) 1 = driven by a motor with a limit


def axes_of(model: Model, constraints: Constraints) -> Axes:
    """The axes of a model's joints in maximal coordinates, at positions that `constraints` keeps."""
    joints, rows = model.joints, constraints.axes
    j, column = rows.joint, np.minimum(rows.axis, 1)
    ball, first = rows.kind == SPIN, rows.axis == 0
    return Axes(
        rows, constraints.axis_J, constraints.axis_at, np.where(ball, -np.inf, joints.lower[j, column]),
        np.where(ball, np.inf, joints.upper[j, column]), np.where(ball & first, joints.upper[j, 0], np.inf),
        (np.isfinite(joints.motor_speed[j]) & np.isfinite(joints.motor_limit[j]) & first).astype(np.int32))


@helper
def close_row(model, mechanisms, bodies, blocks, k, a, b):
    """Block k of one row between bodies a and b has its J: find Y, and begin with no impulse."""
    answer_alone(model, mechanisms, bodies, blocks, k, 1)
    alone = own_row(blocks, k)
    own = alone
    if answer_through(mechanisms, blocks, k, a, b, 1):
        own = own_row(blocks, k) + ROW_SOFTNESS * alone
    blocks.step[k] = 1.0 / own if own > 0.0 else 0.0
    blocks.impulse[k] = 0.0
    blocks.count[OTHERS] = blocks.count[USED]


@helper
def put_law(blocks, k, joint, bias, low, high, gap):
    """What block k asks, and the distance to a limit that positions have to keep (inf: they need not)."""
    blocks.joint[k], blocks.bias[k] = joint, bias
    blocks.low[k], blocks.high[k], blocks.gap[k] = low, high, gap


# ----------------------------------------------------------------------------------------------- joints of trees
@helper
def open_tree_row(model, mechanisms, bodies, blocks, kind, l, coefficients, first, width):
    """A row u = Σ coefficient v over `width` velocities of link l from `first` on; its number, -1 = no room."""
    i = int(model.trees.body[l])
    k = open_block(mechanisms, blocks, kind, -1, i)
    if k >= 0:
        part = int(mechanisms.part_of_body[i])
        e = int(mechanisms.entry[part]) + first - int(model.trees.start_v[mechanisms.tree[part]])
        for j in range(width):
            blocks.J[e + j, 0] = coefficients[j]
        close_row(model, mechanisms, bodies, blocks, k, -1, i)
    return k


@helper
def along(coefficients, first, width, v):
    """Σ coefficient v"""
    total = 0.0
    for j in range(width):
        total += coefficients[j] * v[first + j]
    return total


@helper
def tree_limit_bias(gap, zeta, before, e, h):
    """ζ⁺ + φ/h >= 0; where the limit is hit faster than forces move it in a step, with restitution ζ⁺ + e ζ⁻ >= 0."""
    if e > 0.0 and gap + h * zeta < 0.0 and before < -2.0 * abs(zeta - before):
        return e * before
    return max(gap, 0.0) / h


@helper
def add_tree_limit(model, mechanisms, system, l, coefficients, first, width, gap, rates):
    """A row for a limit of link l's joint at the distance `gap`, where this step may reach it. rates: ζ that the step
    would end with, ζ before it, and h."""
    zeta, before, h = rates
    if gap + 2.0 * h * min(zeta, 0.0) > TREE_LIMIT_REACH or math.isinf(gap):
        return
    blocks, j = system.blocks, int(model.trees.joint[l])
    k = open_tree_row(model, mechanisms, system.motion.bodies, blocks, LIMIT, l, coefficients, first, width)
    if k >= 0:
        put_law(blocks, k, j, tree_limit_bias(gap, zeta, before, model.joints.restitution[j], h), 0.0, math.inf, gap)


@kernel
def tree_joint_rows(model, q, v, v_before, h, mechanisms, system):
    """The rows of motors of trees that seek a speed and of limits near the positions q, at velocities v that the step
    would end with; it begins with v_before."""
    trees, joints, blocks = model.trees, model.joints, system.blocks
    index = trees.table.index
    for l in range(index.shape[0]):
        kind, j, i, first = int(index[l, TYPE]), int(trees.joint[l]), int(index[l, FIRST_Q]), int(index[l, FIRST_V])
        if VELOCITIES[kind] == 1 and not math.isnan(joints.motor_speed[j]):
            k = open_tree_row(model, mechanisms, system.motion.bodies, blocks, MOTOR, l, (1.0, 0.0, 0.0), first, 1)
            if k >= 0:
                most = h * joints.motor_limit[j]
                put_law(blocks, k, j, -joints.motor_speed[j], -most, most, math.inf)
        if kind == BALL:
            turn = rotation_vector(flat4(q, i))
            angle = norm(turn)
            if angle > 0.0:
                inwards = scale(-1.0 / angle, turn)
                rates = (along(inwards, first, 3, v), along(inwards, first, 3, v_before), h)
                add_tree_limit(model, mechanisms, system, l, inwards, first, 3, joints.upper[j, 0] - angle, rates)
        elif kind != FREE:
            for n in range(VELOCITIES[kind]):
                for side in range(2):
                    sign = 1.0 if side == 0 else -1.0
                    gap = q[i + n] - joints.lower[j, n] if side == 0 else joints.upper[j, n] - q[i + n]
                    rates = (sign * v[first + n], sign * v_before[first + n], h)
                    add_tree_limit(model, mechanisms, system, l, (sign, 0.0, 0.0), first + n, 1, gap, rates)


# ------------------------------------------------------------------------------------ joints in maximal coordinates
@helper
def open_axis_row(model, mechanisms, system, kind, rows, r, J):
    """A row u = J·(v_a, ω_a, v_b, ω_b) between the bodies of axis r, J twelve numbers; its number, -1 = no room."""
    a, b = int(rows.a[r]), int(rows.b[r])
    k = open_block(mechanisms, system.blocks, kind, a, b)
    if k >= 0:
        work, into = mechanisms.trees.work, system.blocks.J[:, 0]
        put_end(model, work, a, place_in_block(model, mechanisms, a), (J[0], J[1], J[2]), (J[3], J[4], J[5]), into)
        put_end(model, work, b, place_in_block(model, mechanisms, b), (J[6], J[7], J[8]), (J[9], J[10], J[11]), into)
        close_row(model, mechanisms, system.motion.bodies, system.blocks, k, a, b)
    return k


@helper
def axis_row(J, r, sign):
    """Row r of J (a, 12), times a sign."""
    f_a, t_a, f_b, t_b = three(J, r, 0), three(J, r, 3), three(J, r, 6), three(J, r, 9)
    return (sign * f_a[0], sign * f_a[1], sign * f_a[2], sign * t_a[0], sign * t_a[1], sign * t_a[2],
            sign * f_b[0], sign * f_b[1], sign * f_b[2], sign * t_b[0], sign * t_b[1], sign * t_b[2])


@helper
def cone_row(J, r, inwards):
    """Σ inwards_k times row r + k of J (a, 12): angular parts alone, which is all that a ball has."""
    x, y, z = inwards
    t_a = (x * J[r, 3] + y * J[r + 1, 3] + z * J[r + 2, 3], x * J[r, 4] + y * J[r + 1, 4] + z * J[r + 2, 4],
           x * J[r, 5] + y * J[r + 1, 5] + z * J[r + 2, 5])
    t_b = (x * J[r, 9] + y * J[r + 1, 9] + z * J[r + 2, 9], x * J[r, 10] + y * J[r + 1, 10] + z * J[r + 2, 10],
           x * J[r, 11] + y * J[r + 1, 11] + z * J[r + 2, 11])
    return (0.0, 0.0, 0.0, t_a[0], t_a[1], t_a[2], 0.0, 0.0, 0.0, t_b[0], t_b[1], t_b[2])


@helper
def rate_of_axis(J, a, b, bodies):
    """J·(v_a, ω_a, v_b, ω_b)"""
    total = 0.0
    for j in range(6):
        total += J[6 + j] * bodies[b, LINEAR + j]
        if a >= 0:
            total += J[j] * bodies[a, LINEAR + j]
    return total


@helper
def add_axis_limit(model, mechanisms, system, rows, r, J, gap, before, h):
    """A row for a limit at the distance `gap`, which J makes grow, where it is or may come within reach in this step:
    ζ⁺ + φ/h >= 0, of a limit that is passed a part of φ; with restitution where the step would meet it. before as
    Motion.bodies, before the step."""
    rate = rate_of_axis(J, int(rows.a[r]), int(rows.b[r]), before)
    if gap >= max(AXIS_LIMIT_REACH, 2.0 * h * abs(rate)):
        return
    k = open_axis_row(model, mechanisms, system, LIMIT, rows, r, J)
    if k >= 0:
        j = int(rows.joint[r])
        bias = gap / h if gap > 0.0 else BAUMGARTE * gap / h
        e = model.joints.restitution[j]
        if e > 0.0 and gap + h * rate < 0.0:
            bias = e * rate
        put_law(system.blocks, k, j, bias, 0.0, math.inf, math.inf)


@kernel
def axis_rows_near(model, axes, before, h, mechanisms, system):
    """The rows of limits of joints in maximal coordinates within reach and of their motors with a limit: lower limits,
    upper ones, those of balls, motors. before as Motion.bodies, before the step."""
    rows = axes.rows
    for r in range(len(rows.kind)):
        if not math.isinf(axes.lower[r]):
            add_axis_limit(model, mechanisms, system, rows, r, axis_row(axes.J, r, 1.0), axes.at[r] - axes.lower[r],
                           before, h)
    for r in range(len(rows.kind)):
        if not math.isinf(axes.upper[r]):
            add_axis_limit(model, mechanisms, system, rows, r, axis_row(axes.J, r, -1.0), axes.upper[r] - axes.at[r],
                           before, h)
    for r in range(len(rows.kind)):
        if not math.isinf(axes.cone[r]):
            turn = (axes.at[r], axes.at[r + 1], axes.at[r + 2])
            angle = norm(turn)
            if angle > SMALL_TURN:
                add_axis_limit(model, mechanisms, system, rows, r, cone_row(axes.J, r, scale(-1.0 / angle, turn)),
                               axes.cone[r] - angle, before, h)
    for r in range(len(rows.kind)):
        if axes.limited[r] == 1:
            k = open_axis_row(model, mechanisms, system, MOTOR, rows, r, axis_row(axes.J, r, 1.0))
            if k >= 0:
                j = int(rows.joint[r])
                most = h * model.joints.motor_limit[j]
                put_law(system.blocks, k, j, -model.joints.motor_speed[j], -most, most, math.inf)


# --------------------------------------------------------------------------------------------------------- the law
@helper
def visit_row(blocks, k, q_dot):
    """p = clamp(p - u/(J Y)) of block k; returns the square of the change of its velocity."""
    if blocks.step[k] == 0.0:
        return 0.0
    u = blocks.bias[k] + row_velocity(blocks, k, q_dot)
    old = blocks.impulse[k]
    new = min(max(old - blocks.step[k] * u, blocks.low[k]), blocks.high[k])
    if new == old:
        return 0.0
    blocks.impulse[k] = new
    push_row(blocks, k, new - old, q_dot)
    return ((new - old) / blocks.step[k]) ** 2


@helper
def row_residual(blocks, k, q_dot):
    """Natural map |p - clamp(p - u/(J Y))| J Y of a limit or motor [rad/s] or [m/s]."""
    if blocks.step[k] == 0.0:
        return 0.0
    u = blocks.bias[k] + row_velocity(blocks, k, q_dot)
    p, step = blocks.impulse[k], blocks.step[k]
    return abs(p - min(max(p - step * u, blocks.low[k]), blocks.high[k])) / step


def motor_rows(blocks: Blocks, q_dot: Array, h: float) -> Iterator[MotorState]:
    """What the motors among the blocks did in a step of h, which ends with q̇."""
    for k in np.flatnonzero(blocks.kind[: blocks.count[OTHERS]] == MOTOR).tolist():
        p, rate = float(blocks.impulse[k]), 0.0
        for place, width, e, _ in blocks.span[blocks.first[k] : blocks.seen[k]].tolist():
            rate += float(blocks.J[e : e + width, 0] @ q_dot[place : place + width])
        yield MotorState(int(blocks.joint[k]), rate, p / h, abs(p) < float(blocks.high[k]) * (1.0 - FULL_FORCE))
