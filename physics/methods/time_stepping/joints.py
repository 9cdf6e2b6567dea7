"""Joints in maximal coordinates within a step of `time_stepping`.

At the poses q_m in the middle of the step joints ask of the velocity after it

    none          J u⁺ = 0                   as the text has it; joints drift apart       [Articulated eq. 22.18]
    baumgarte     J u⁺ = -BAUMGARTE C/h      part of the error is taken out a step                 [Baumgarte 1972]
    projection    J (u⁺ + u) = 0             joints do no work: their impulse acts on the mean velocity; at the end of
                                             the step C = 0 and J u = 0 are restored the shortest way

The first loses energy of first order in h where links turn: J turns from one middle to the next, so that J(q_m) u is
not zero, and the step takes this velocity out. So does the second until its error C has grown so far that the term in C
balances this. The third is of second order.
Springs and dampers of joints are implicit, by the mean of both ends of the step:

    p = -h k (x_m - x_0 + h (u⁺ - u)/4) - h c (u⁺ + u)/2

A rotor resists the change of the velocity of its axis, which in half a step changes as J turns, too: with its value u₀
at the start of the step

    p = -I (u⁺ + u - 2 u₀)              of a ball seen from its parent: u⁺ + h ω_b × ω_a in place of u⁺

All that acts beside the joints answers through them (`problem.mechanisms`), so that J u⁺ = b stays as it is whatever a
solver does. The joints' own impulses are found at the end, from the velocities that all other impulses make. Limits and
motors with a limit are rows with bounds (`problem.joint_rows`).
"""

import numpy as np

from ...books.ledger import Account
from ...core.jit import kernel
from ...core.model import LINK, Array, BodyKind, Model, movable
from ...core.report import MotorState
from ...dynamics.constraints import ldl
from ...dynamics.constraints.axes import SPIN, add_rows, drift_rows, end_of, pose_rows, row_velocities
from ...dynamics.constraints.cure import BAUMGARTE
from ...dynamics.constraints.impulses import add_to_bodies
from ...dynamics.constraints.layout import HARD, MOTOR, ROTOR, SOFT
from ...dynamics.constraints.reactions import rotor_softness, weigh_joints
from ...dynamics.free_body import velocity_from_momentum
from ...problem.assemble import tree_impulses
from ...problem.system import ANGULAR, LINEAR, Motion, empty_motion
from .parts import MoreauStep, Part
from .trees import TreePart, answer_impulses


class JointPart(Part):
    """The joints of a model in maximal coordinates, at the ends of free bodies and of links; scratch of a step."""

    def __init__(self, model: Model, step: MoreauStep, trees: TreePart | None) -> None:
        self.reactions = c = step.reactions
        self._model, self._trees, joints, j = model, trees, model.joints, c.axes.joint
        self._force = np.where(c.axes.axis == 0, joints.motor_force[j], 0.0)
        self._forced = bool(self._force.any())
        self._soft, self._rotor = c.role == SOFT, rotor_softness(joints, c.rows, c.role == ROTOR)
        self._hard, self._turned, self._driving = c.role == HARD, c.role == ROTOR, np.flatnonzero(c.role == MOTOR)
        self._sprung, self._rotors = bool(self._soft.any()), bool(self._rotor.any())
        self._pushed = any((model.kind[ends[ends >= 0]] == BodyKind.KINEMATIC).any()
                           for rows in (c.rows, c.axes) for ends in (rows.a, rows.b))  # by a prescribed motion
        self._start, self._turning, self._wanted, self._lam = np.zeros((4, len(c.role)))
        column, of_row = c.rows.axis, c.rows.joint
        self._stiffness = np.where(self._soft, joints.stiffness[of_row], 0.0)
        self._damping = np.where(self._soft, joints.damping[of_row], 0.0)
        self._spring_at = np.where(c.rows.kind == SPIN, 0.0, joints.spring_at[of_row, np.minimum(column, 1)])
        self._raw: Motion = empty_motion(len(model.kind), int(model.trees.first_v[-1]))

    # ---------------------------------------------------------------------------------------------- the step
    def half(self, step: MoreauStep) -> None:
        """Note how fast rotors turn at the beginning of the step."""
        if self._rotors:
            bodies, rows = step.state.bodies, self.reactions.rows
            J, at = np.zeros((len(rows.kind), 12)), np.zeros(len(rows.kind))
            pose_rows(rows, bodies.x, bodies.q, J, at)
            row_velocities(rows, J, bodies.v, bodies.w, self._start)
            drift_rows(rows, bodies, self._turning)
            self._turning[rows.kind != SPIN] = 0.0

    def load(self, step: MoreauStep) -> None:
        """The constant forces of motors."""
        c, middle = self.reactions, step.middle
        pose_rows(c.axes, middle.x, middle.q, c.axis_J, c.axis_at)
        if not self._forced:
            return
        moves = movable(self._model.kind)[:, None]
        linear, angular = np.zeros_like(step.force), np.zeros_like(step.torque)
        add_to_bodies(c.axes, c.axis_J, self._force, linear, angular)
        step.force += np.where(moves, linear, 0.0)
        step.torque += np.where(moves, angular, 0.0)

    def free(self, step: MoreauStep) -> None:
        """The equations at the poses in the middle of the step, and what they ask of the velocity after it."""
        c, u = self.reactions, np.zeros(len(self._lam))
        gain = np.where(self._soft, 0.25 * step.h**2 * self._stiffness + 0.5 * step.h * self._damping, 1.0)
        c.softness[:] = np.where(self._soft, 1.0 / gain, self._rotor) if self._sprung else self._rotor
        weigh_joints(step.model, step.middle, step.mechanisms.trees.work, c)
        velocities_along(step.model.kind, c, step.before, u)
        self._wish(u, step.h, step.cure, gain)
        self.obey(step)

    def _wish(self, u: Array, h: float, cure: str, gain: Array) -> None:
        """Set the J q̇ wanted after the step, in SOFT rows with the impulse included; u (m,) is J q̇ before it."""
        c, k, d = self.reactions, self._stiffness, self._damping
        wanted = {"none": 0.0 * u, "baumgarte": -BAUMGARTE / h * c.C, "projection": -u}[cure]
        self._wanted = np.where(self._hard, wanted, 0.0)
        if self._sprung:
            soft = (-h * k * (c.C - self._spring_at) + (0.25 * h * h * k - 0.5 * h * d) * u) / gain
            self._wanted = np.where(self._soft, soft, self._wanted)
        if self._rotors:
            self._wanted = np.where(self._turned, 2.0 * self._start - u - h * self._turning, self._wanted)
        if len(self._driving):
            self._wanted[self._driving] = c.seek[self._driving]

    def obey(self, step: MoreauStep) -> None:
        """Make the velocities of the system those that the joints ask for."""
        let_obey(step.model.kind, step.reactions, self._wanted, step.motion)

    def finish(self, step: MoreauStep) -> None:
        """Find the joints' impulses from the velocities that all others make, and add them to the momenta."""
        c, middle, raw = self.reactions, step.middle, self._raw
        velocity_from_momentum(self._model, middle)
        raw.bodies[:, LINEAR : LINEAR + 3], raw.bodies[:, ANGULAR : ANGULAR + 3] = middle.v, middle.w
        if self._trees is not None:
            tree_impulses(step.system, raw.v)
            answer_impulses(step.model, self._trees.work, raw.v.copy(), raw.v)
        velocities_along(step.model.kind, step.reactions, raw, self._lam)
        self._lam[:] = self._wanted - self._lam
        ldl.solve(step.reactions.factor, self._lam)
        add_rows(self._model.kind, c.rows, c.J, self._lam, middle.P, middle.L)
        velocity_from_momentum(self._model, middle)

    # --------------------------------------------------------------------------------------------- the report
    def book(self, before: Array, after: Array, h: float, ledger: Array) -> None:
        """Enter the work of motors and dampers, from the velocities of bodies before the impulses and those after them,
        as in Motion.bodies. Impulses work at the mean of both; what they give a parent with a prescribed motion is its
        own doing."""
        if not (self._sprung or self._forced or self._pushed or len(self._driving)):
            return
        c = self.reactions
        v, w = (np.ascontiguousarray(0.5 * (before[:, k : k + 3] + after[:, k : k + 3])) for k in (0, 3))
        row_velocities(c.rows, c.J, v, w, c.u)
        u = c.u
        work = self._lam * u
        ledger[Account.SPRINGS, 0] -= float(h * self._damping @ (u * u))
        ledger[Account.JOINTS, 0] += float(work[self._driving].sum())
        axis_u = np.zeros(len(c.axes.kind))
        row_velocities(c.axes, c.axis_J, v, w, axis_u)
        ledger[Account.JOINTS, 0] += float(h * self._force @ axis_u)
        if self._pushed:
            self._book_driven(np.hstack([v, w]), h, ledger)

    def _book_driven(self, u: Array, h: float, ledger: Array) -> None:
        """What parents and children with a prescribed motion put in."""
        c, kind = self.reactions, self._model.kind
        for rows, J, lam in ((c.rows, c.J, self._lam), (c.axes, c.axis_J, h * self._force)):
            for bodies, side in ((rows.a, J[:, :6]), (rows.b, J[:, 6:])):
                driven = (bodies >= 0) & (kind[bodies] == BodyKind.KINEMATIC)
                if driven.any():
                    rate = np.einsum("ij,ij->i", side[driven], u[bodies[driven]])
                    ledger[Account.DRIVEN, 0] -= float(lam[driven] @ rate)

    def motors(self, bodies: Array, h: float) -> list[MotorState]:
        """What motors without a limit did, with the velocities of bodies after the impulses, as in Motion.bodies."""
        if not len(self._driving):
            return []
        c = self.reactions
        row_velocities(c.rows, c.J, *(np.ascontiguousarray(bodies[:, k : k + 3]) for k in (0, 3)), c.u)
        return [MotorState(int(c.rows.joint[r]), float(c.u[r]), float(self._lam[r]) / h, True)
                for r in self._driving.tolist()]


# --------------------------------------------------------------------------------------------------------- kernels
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
