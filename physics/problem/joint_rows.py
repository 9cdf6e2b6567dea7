"""Limits and motors of joints as rows of the contact problem: blocks of one row.

    u = J q̇ + bias,   low <= p <= high,   p = clamp(p - u/(J Y))

φ is the distance to a limit, ζ its rate. A limit asks for ζ⁺ + φ/h >= 0; with restitution, where it is hit faster than
forces change ζ in a step, for ζ⁺ + e ζ⁻ >= 0. A limit that is passed is restored by positions, as overlap is.

As of contacts (see `assemble`), ζ⁺ is that at the end of the step. There it differs from J q̇ of the middle by what half
a step of motion does to it. That is taken to be what the first half did, J(q_m) q̇⁻ - J(q) q̇ of the start: velocity
products and the turn of J.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, Model
from ..core.report import MotorState
from ..core.state import Owner
from ..core.sym3 import three
from ..core.vec import dot
from ..dynamics.constraints.limits import (
    Limits,
    limit_gap,
    limits_of,
    maximal_directions,
    motors_of,
    put_limit,
    tree_direction,
)
from .mechanisms import answer_alone, answer_through, open_block, place_in_block
from .system import (
    ANGULAR,
    LIMIT,
    LINEAR,
    MOTOR,
    OTHERS,
    USED,
    Blocks,
    has_one_row,
    own_row,
    push_row,
    row_velocity,
)

LIMIT_REACH = 0.02   # a limit takes part within this distance, or twice its change in a step [rad] or [m]
FULL_FORCE = 1e-9    # relative shortfall from its limit at which a motor counts as exerting all of it
FLUSH = 1e-9         # distance to a limit that counts as none, as in `laws.contact.restitution_bias` [rad] or [m]
ROW_SOFTNESS = 1e-9  # part of a row's answer without constraints that is added to its answer J Y
TIME_STEPPING = int(Owner.TIME_STEPPING)


class JointBounds(NamedTuple):
    """What has a row of its own in the contact problem. Rows are numbered, first the motors, then the limits."""

    limits: Limits
    motors: Limits  #: see `motors_of`
    last: Array     #: (r,) impulses of all rows in the last step


def bounds_of(model: Model) -> JointBounds:
    """The limits and motors of a model's joints."""
    limits, motors = limits_of(model), motors_of(model)
    return JointBounds(limits, motors, np.zeros(len(motors.joint) + len(limits.joint)))


# ------------------------------------------------------------------------------------------------------- the rows
@helper
def open_row(model, axes, r, kind, middle, mechanisms, system):
    """A block of one row for row r of `axes`, with J and Y; its number, -1 = no room."""
    blocks, j = system.blocks, int(axes.joint[r])
    a, b = int(model.joints.parent[j]), int(model.joints.child[j])
    if axes.first_v[r] >= 0:
        a = np.int32(-1)  # a joint of a tree does not move the parent
    k = open_block(mechanisms, blocks, kind, a, b)
    if k < 0:
        return k
    at_a, at_b = place_in_block(model, mechanisms, a), place_in_block(model, mechanisms, b)
    put_limit(model, axes, r, middle, mechanisms.trees.q, mechanisms.trees.work, at_a, at_b, blocks.J[:, 0])
    answer_alone(model, mechanisms, system.motion.bodies, blocks, k, a, b, 1)
    alone = own_row(blocks, k)
    own = alone
    if answer_through(mechanisms, blocks, k, a, b):
        own = own_row(blocks, k) + ROW_SOFTNESS * alone
    blocks.step[k] = 1.0 / own if own > 0.0 else 0.0
    blocks.count[OTHERS] = blocks.count[USED]
    return k


@helper
def put_law(blocks, k, bound, bias, low, high, gap, last):
    """What block k asks; the distance to a limit, with the way that is not in J q̇, which positions have to keep
    (inf: a motor); and its impulse of the last step, of all those (r,), as a first guess that does not act yet."""
    blocks.bound[k], blocks.bias[k] = bound, bias
    blocks.low[k], blocks.high[k], blocks.gap[k] = low, high, gap
    blocks.impulse[k] = min(max(last[bound], low), high)


@helper
def closing(model, limits, r, middle, q, motion):
    """ζ of limit r at the velocities `motion`."""
    d, bodies, j = int(limits.first_v[r]), motion.bodies, int(limits.joint[r])
    if d >= 0:
        width, u = tree_direction(model, limits, r, middle, q)
        rate = 0.0
        for k in range(width):
            rate += u[k] * motion.v[d + k]
        return rate
    f, t_a, t_b = maximal_directions(model, limits, r, middle, q)
    a, b = int(model.joints.parent[j]), int(model.joints.child[j])
    rate = dot(f, three(bodies, b, LINEAR)) + dot(t_b, three(bodies, b, ANGULAR))
    return rate - dot(f, three(bodies, a, LINEAR)) - dot(t_a, three(bodies, a, ANGULAR)) if a >= 0 else rate


@helper
def limit_bias(gap, zeta, before, e, h):
    """Bias of a limit: φ/h, or e ζ⁻ where it is hit. ζ: at the end of the step without impulse; before: ζ⁻."""
    if e > 0.0 and gap + h * zeta < 0.0 and before < -2.0 * abs(zeta - before):
        return e * before
    return gap / h if gap > FLUSH else 0.0


@helper
def half_turn(model, axes, r, start, start_q, start_motion, u):
    """What half a step of motion does to the rate of row r, where u is that in the middle before any impulse. Bounded
    so that an impulse which takes the rate from u < 0 to minus this gives no energy."""
    return max(u - closing(model, axes, r, start, start_q, start_motion), min(u, 0.0))


@kernel
def joint_rows(model, bounds, start, start_q, start_motion, middle, before, h, mechanisms, system) -> None:
    """The rows of motors and of the limits that this step may reach, at the poses of the bodies `middle` and
    positions of trees that `mechanisms` has. The step began at the poses `start`, positions start_q and velocities
    start_motion (a Motion); in its middle they are `before` (a Motion), and those of the system without impulses."""
    limits, motors, blocks, joints = bounds.limits, bounds.motors, system.blocks, model.joints
    q = mechanisms.trees.q
    for r in range(len(motors.joint)):
        k = open_row(model, motors, r, MOTOR, middle, mechanisms, system)
        if k >= 0:
            j, most = int(motors.joint[r]), h * motors.bound[r]
            turn = row_velocity(blocks, k, before.q_dot) - closing(model, motors, r, start, start_q, start_motion)
            put_law(blocks, k, r, turn - joints.motor_speed[j], -most, most, math.inf, bounds.last)
    for r in range(len(limits.joint)):
        gap = limit_gap(model, limits, r, middle, q)
        if gap + 2.0 * h * min(closing(model, limits, r, middle, q, system.motion), 0.0) > LIMIT_REACH:
            continue
        k = open_row(model, limits, r, LIMIT, middle, mechanisms, system)
        if k >= 0:
            u = row_velocity(blocks, k, before.q_dot)
            j, turn = int(limits.joint[r]), half_turn(model, limits, r, start, start_q, start_motion, u)
            zeta = turn + row_velocity(blocks, k, system.motion.q_dot)
            bias = turn + limit_bias(gap, zeta, u - turn, joints.restitution[j], h)
            put_law(blocks, k, len(motors.joint) + r, bias, 0.0, math.inf, gap + h * turn, bounds.last)


@kernel
def recall_impulses(memory, bounds) -> None:
    """Read the impulses of the last step, which stand in the memory behind those of contacts; 0 where it has none."""
    first, last = 3 * int(memory.count[0]), bounds.last
    known = memory.owner[0] == TIME_STEPPING and first + len(last) <= 3 * len(memory.impulse)
    for r in range(len(last)):
        last[r] = memory.impulse[(first + r) // 3, (first + r) % 3] if known else 0.0


@kernel
def remember_impulses(blocks, bounds, memory_out) -> None:
    """Write the impulses of this step behind those of contacts, of which the memory has the number already."""
    first, last = 3 * int(memory_out.count[0]), bounds.last
    last[:] = 0.0
    for k in range(int(blocks.count[OTHERS])):
        if has_one_row(blocks, k):
            last[blocks.bound[k]] = blocks.impulse[k]
    for r in range(len(last)):
        memory_out.impulse[(first + r) // 3, (first + r) % 3] = last[r]


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


def motor_rows(blocks: Blocks, motors: Limits, speeds: Array, q_dot: Array, h: float) -> Iterator[MotorState]:
    """What the motors among the blocks did in a step of h; speeds (j,) are those that joints' motors seek."""
    for k in np.flatnonzero(blocks.kind[: blocks.count[OTHERS]] == MOTOR).tolist():
        p, j = float(blocks.impulse[k]), int(motors.joint[blocks.bound[k]])
        rate = float(blocks.bias[k] + speeds[j])
        for place, width, e, _ in blocks.span[blocks.first[k] : blocks.seen[k]].tolist():
            rate += float(blocks.J[e : e + width, 0] @ q_dot[place : place + width])
        yield MotorState(j, rate, p / h, abs(p) < float(blocks.high[k]) * (1.0 - FULL_FORCE))
