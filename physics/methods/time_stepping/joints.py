"""Joints in maximal coordinates within a step of `time_stepping`.

At the poses q_m in the middle of the step joints ask of the velocity after it

    none          J u⁺ = 0                   as the text has it; joints drift apart       [Articulated eq. 22.18]
    baumgarte     J u⁺ = -BAUMGARTE C/h      part of the error is taken out a step                 [Baumgarte 1972]
    projection    J (u⁺ + u) = 0             joints do no work: their impulse acts on the mean velocity; at the end of
                                             the step C = 0 and J u = 0 are restored the shortest way

The first loses energy of first order in h where links turn: J turns from one middle to the next, so that J(q_m) u is
not zero, and the step takes this velocity out. So does the second until its error C has grown so far that the term in C
balances this. The third is of second order. Where a body that a joint hangs on is at a way point, its speed jumps, and
all three ask that the joint's other side has gone along after the step: `go_along`.
Springs and dampers of joints are implicit, by the mean of both ends of the step:

    p = -h k (x_m - x_0 + h (u⁺ - u)/4) - h c (u⁺ + u)/2

A rotor resists the change of the velocity of its axis, which in half a step changes as J turns, too: with its value u₀
at the start of the step

    p = -I (u⁺ + u - 2 u₀)              of a ball seen from its parent: u⁺ + h ω_b × ω_a in place of u⁺

All that acts beside the joints answers through them (`problem.mechanisms`), so that J u⁺ = b stays as it is whatever a
solver does. The joints' own impulses are found at the end, from the velocities that all other impulses make. Limits and
motors with a limit are rows with bounds (`problem.joint_rows`).
"""

from typing import NamedTuple

import numpy as np

from ...books.diagnostics import total_energy
from ...books.ledger import Account
from ...core.jit import helper, kernel, program
from ...core.model import LINK, Array, Model
from ...core.report import MotorState
from ...core.sym3 import put_three, three
from ...core.vec import add, dot, row, sub
from ...dynamics.constraints import ldl
from ...dynamics.constraints.axes import SPIN, add_rows, drift_rows, end_of, pose_rows, row_velocities
from ...dynamics.constraints.cure import BAUMGARTE, PROJECTION, STABILISED, mend_joints
from ...dynamics.constraints.layout import HARD, MOTOR, ROTOR, SOFT
from ...dynamics.constraints.reactions import Reactions, rotor_softness, weigh_joints
from ...dynamics.free_body import velocity_from_momentum
from ...dynamics.motion import KINEMATIC, add_jumps, any_at_way_point, at_way_point, jumps_of, moves
from ...problem.assemble import tree_impulses
from ...problem.system import ANGULAR, LINEAR, Motion, empty_motion
from .trees import answer_impulses

DRIVEN, JOINTS, SPRINGS = int(Account.DRIVEN), int(Account.JOINTS), int(Account.SPRINGS)


class JointStep(NamedTuple):
    """What a step knows and writes of joints in maximal coordinates, beside their equations, `Mechanisms.reactions`."""

    force: Array      #: (a,) constant forces of motors on the joints' axes
    stiffness: Array  #: (m,) of rows that are springs or dampers, else 0
    damping: Array    #: (m,)
    spring_at: Array  #: (m,)
    rotor: Array      #: (m,) 1/I of rows that are rotors, else 0
    start: Array      #: (m,) u₀ of rotors
    turning: Array    #: (m,) rate of the direction of rotors times the velocity
    wanted: Array     #: (m,) J q̇ wanted after the step, in SOFT rows with the impulse included
    lam: Array        #: (m,) impulses
    raw: Motion       #: velocities that all other impulses make


def joint_step(model: Model, reactions: Reactions) -> JointStep:
    """Room for a step of joints with these equations."""
    c, joints, j, of_row = reactions, model.joints, reactions.axes.joint, reactions.rows.joint
    soft, m = c.role == SOFT, len(c.role)
    at = np.where(c.rows.kind == SPIN, 0.0, joints.spring_at[of_row, np.minimum(c.rows.axis, 1)])
    start, turning, wanted, lam = np.zeros((4, m))
    return JointStep(
        np.where(c.axes.axis == 0, joints.motor_force[j], 0.0), np.where(soft, joints.stiffness[of_row], 0.0),
        np.where(soft, joints.damping[of_row], 0.0), at, rotor_softness(joints, c.rows, c.role == ROTOR),
        start, turning, wanted, lam, empty_motion(len(model.kind), int(model.trees.first_v[-1])))


# ----------------------------------------------------------------------------------------------- stages of a step
@program
def note_rotors(bodies, work) -> None:
    """Note how fast rotors turn at the beginning of the step."""
    c, joints = work.mechanisms.reactions, work.joints
    pose_rows(c.rows, bodies.x, bodies.q, c.J, c.C)
    row_velocities(c.rows, c.J, bodies.v, bodies.w, joints.start)
    drift_rows(c.rows, bodies, joints.turning)
    for r in range(len(joints.turning)):
        if c.rows.kind[r] != SPIN:
            joints.turning[r] = 0.0


@program
def push_joints(model, work) -> None:
    """Add the constant forces of motors."""
    c = work.mechanisms.reactions
    pose_rows(c.axes, work.middle.x, work.middle.q, c.axis_J, c.axis_at)
    add_motors(model.kind, c, work.joints.force, work.force, work.torque)


@program
def free_joints(model, t, h, cure, work) -> None:
    """The equations at the poses in the middle of the step, what they ask of the velocity after it, and velocities that
    do so."""
    c, joints = work.mechanisms.reactions, work.joints
    for r in range(len(joints.wanted)):
        c.softness[r] = 1.0 / gain_of(joints, r, h) if c.role[r] == SOFT else joints.rotor[r]
    weigh_joints(model, work.middle, work.trees.scratch.work, c)
    velocities_along(model.kind, c, work.before, joints.lam)
    wish(c, joints, h, cure)
    if any_at_way_point(model.motions, t, h):
        go_along(model, t, h, cure, c, joints)
    let_obey(model.kind, c, joints.wanted, work.system.motion)


@program
def finish_joints(model, work) -> None:
    """Find the joints' impulses from the velocities that all others make, and add them to the momenta."""
    c, middle, joints, raw = work.mechanisms.reactions, work.middle, work.joints, work.joints.raw
    velocity_from_momentum(model, middle)
    for i in range(len(middle.v)):
        put_three(raw.bodies, i, LINEAR, row(middle.v, i))
        put_three(raw.bodies, i, ANGULAR, row(middle.w, i))
    if len(raw.v) > 0:
        tree_impulses(work.system, raw.v)
        answer_impulses(model, work.trees, raw.v)
    velocities_along(model.kind, c, raw, joints.lam)
    for r in range(len(joints.lam)):
        joints.lam[r] = joints.wanted[r] - joints.lam[r]
    ldl.solve(c.factor, joints.lam)
    add_rows(model.kind, c.rows, c.J, joints.lam, middle.P, middle.L)
    velocity_from_momentum(model, middle)


@program
def book_joints(model, over_in_out, t, h, cure, work, ledger) -> None:
    """Enter the work of motors and dampers in the step from t [s] over h [s] at the mean velocities of the bodies. What
    impulses give a parent or child with a prescribed motion is its own doing, at a way point at the velocity with which
    `go_along` lets the other side go in the mean."""
    c, joints, kind, over = work.mechanisms.reactions, work.joints, model.kind, over_in_out
    if cure == PROJECTION and any_at_way_point(model.motions, t, h):
        add_jumps(model, t, h, 0.5, -0.5, over)
    row_velocities(c.rows, c.J, over.v, over.w, c.u)
    row_velocities(c.axes, c.axis_J, over.v, over.w, c.axis_u)
    for r in range(len(c.u)):
        ledger[SPRINGS, 0] -= h * joints.damping[r] * c.u[r] * c.u[r]
        if c.role[r] == MOTOR:
            ledger[JOINTS, 0] += joints.lam[r] * c.u[r]
    for r in range(len(c.axis_u)):
        ledger[JOINTS, 0] += h * joints.force[r] * c.axis_u[r]
    book_driven(kind, c.rows, c.J, joints.lam, 1.0, over, ledger)
    book_driven(kind, c.axes, c.axis_J, joints.force, h, over, ledger)


def driven_motors(reactions: Reactions, joints: JointStep, bodies: Array, h: float) -> list[MotorState]:
    """What motors without a limit did, with the velocities of bodies after the impulses, as in Motion.bodies."""
    c, driving = reactions, np.flatnonzero(reactions.role == MOTOR).tolist()
    if driving:
        row_velocities(c.rows, c.J, *(np.ascontiguousarray(bodies[:, k : k + 3]) for k in (LINEAR, ANGULAR)), c.u)
    return [MotorState(int(c.rows.joint[r]), float(c.u[r]), float(joints.lam[r]) / h, True) for r in driving]


# --------------------------------------------------------------------------------------------------------- kernels
@kernel
def add_motors(kind, reactions, motor, force, torque):
    """Add constant forces of motors (a,) to the forces (n, 3) and torques on the bodies that forces move."""
    axes, J = reactions.axes, reactions.axis_J
    for r in range(len(motor)):
        for side in range(2 if motor[r] != 0.0 else 0):
            i = end_of(axes, r, side)
            for k in range(3 if moves(kind, i) else 0):
                force[i, k] += motor[r] * J[r, 6 * side + k]
                torque[i, k] += motor[r] * J[r, 6 * side + 3 + k]


@helper
def gain_of(joints, r, h):
    """¼ h² k + ½ h c of a spring with a damper: its impulse for a change of the velocity by one."""
    return 0.25 * (h * h) * joints.stiffness[r] + 0.5 * h * joints.damping[r]


@kernel
def wish(reactions, joints, h, cure):
    """Set the J q̇ wanted after the step; joints.lam (m,) is J q̇ before it."""
    for r in range(len(joints.wanted)):
        role, u, k, d = reactions.role[r], joints.lam[r], joints.stiffness[r], joints.damping[r]
        wanted = 0.0
        if role == HARD:
            wanted = -u if cure == PROJECTION else -BAUMGARTE / h * reactions.C[r] if cure == STABILISED else 0.0
        elif role == SOFT:
            stretch = reactions.C[r] - joints.spring_at[r]
            wanted = (-h * k * stretch + (0.25 * h * h * k - 0.5 * h * d) * u) / gain_of(joints, r, h)
        elif role == ROTOR:
            wanted = 2.0 * joints.start[r] - u - h * joints.turning[r]
        elif role == MOTOR:
            wanted = reactions.seek[r]
        joints.wanted[r] = wanted


@kernel
def go_along(model, t, h, cure, reactions, joints) -> None:
    """What hangs on a body that is at a way point in the step from t [s] over h [s] goes after the step as that body
    does then, not as it does in the middle of the step. By projection it first goes as far as the body does, in the
    mean of u⁺ and u, and `mend` lets it have the body's speed at the end."""
    for r in range(len(joints.wanted)):
        role = reactions.role[r]
        for side in range(2 if role in (HARD, MOTOR) else 0):
            i = end_of(reactions.rows, r, side)
            if i < 0 or model.kind[i] != KINEMATIC or not at_way_point(model.motions, i, t, h):
                continue
            change, share = after_middle(model.motions, i, t, h), 1.0
            if role == HARD and cure == PROJECTION:
                change, share = beyond_middle(model.motions, i, t, h), 2.0
            joints.wanted[r] -= share * dot(three(reactions.J, r, 6 * side), change)


@helper
def after_middle(motions, i, t, h):
    """How much the velocity of body i changes from the middle of the step to its end [m/s]."""
    first, second = jumps_of(motions, i, t + 0.5 * h, 0.5 * h)
    return add(first, second)


@helper
def beyond_middle(motions, i, t, h):
    """How much its mean velocity over the step is beyond that in the middle [m/s]."""
    first, second = jumps_of(motions, i, t, 0.5 * h)
    return sub(jumps_of(motions, i, t, h)[0], add(first, second))


@program
def mend(model, t, h, bodies, joints, work, ledger) -> None:
    """Restore C = 0 and J u = 0 at the end of the step from t [s] over h [s]. What that gives where bodies are at way
    points is their doing."""
    before = total_energy(model, bodies, joints.q, joints.v)
    mend_joints(model, bodies, joints, PROJECTION, work.keeper)
    if any_at_way_point(model.motions, t, h):
        ledger[DRIVEN, 0] += total_energy(model, bodies, joints.q, joints.v) - before


@kernel
def book_driven(kind, rows, J, lam, weight, over, ledger):
    """What parents and children with a prescribed motion put in, through impulses weight λ."""
    for r in range(len(lam)):
        for side in range(2 if lam[r] != 0.0 else 0):
            i = end_of(rows, r, side)
            if i >= 0 and kind[i] == KINEMATIC:
                for k in range(3):
                    rate = J[r, 6 * side + k] * over.v[i, k] + J[r, 6 * side + 3 + k] * over.w[i, k]
                    ledger[DRIVEN, 0] -= weight * lam[r] * rate


@kernel
def velocities_along(kind, reactions, motion, u_out):
    """J q̇ (m,) of the joints: ends that are links by the velocities of trees, all others by those of bodies."""
    rows, J, G = reactions.rows, reactions.J, reactions.G
    for r in range(len(u_out)):
        u_out[r] = 0.0
        for side in range(2):
            i = end_of(rows, r, side)
            if i >= 0 and kind[i] != LINK:
                for k in range(3):
                    u_out[r] += (J[r, 6 * side + k] * motion.bodies[i, k]
                                 + J[r, 6 * side + 3 + k] * motion.bodies[i, 3 + k])
        for d in range(G.shape[1]):
            u_out[r] += G[r, d] * motion.v[d]


@kernel
def let_obey(kind, reactions, wanted, motion):
    """q̇ += H⁻¹ JᵀΛ such that J q̇ = wanted (m,)."""
    lam, W = reactions.lam, reactions.W
    velocities_along(kind, reactions, motion, lam)
    for r in range(len(lam)):
        lam[r] = wanted[r] - lam[r]
    ldl.solve(reactions.factor, lam)
    for r in range(len(lam)):
        for side in range(2):
            i = end_of(reactions.rows, r, side)
            for k in range(6 if i >= 0 and kind[i] != LINK else 0):
                motion.bodies[i, k] += lam[r] * W[r, 6 * side + k]
        for d in range(reactions.Y.shape[1]):
            motion.v[d] += lam[r] * reactions.Y[r, d]
