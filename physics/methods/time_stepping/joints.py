"""Joints in maximal coordinates within a step of `time_stepping`.

At the poses q_m in the middle of the step joints ask of the velocity after it

    none          J u⁺ = 0                   as the text has it; joints drift apart       [Articulated eq. 22.18]
    baumgarte     J u⁺ = -BAUMGARTE C/h      part of the error is taken out a step                 [Baumgarte 1972]
    projection    J (u⁺ + u) = 0             joints do no work: their impulse acts on the mean velocity; at the end of
                                             the step C = 0 and J u = 0 are restored the shortest way

The first loses energy of first order in h where links turn, for J(q_m) u is not zero but the velocity that the path
bends away with; so does the second until its error C has grown to what makes up for it. The third is of second order.
Springs and dampers of joints are implicit, by the mean of both ends of the step:

    p = -h k (x_m - x_0 + h (u⁺ - u)/4) - h c (u⁺ + u)/2

A rotor resists the change of the velocity of its axis, which in half a step changes as J turns, too: with its value u₀
at the start of the step

    p = -I (u⁺ + u - 2 u₀)              of a ball seen from its parent: u⁺ + h ω_b × ω_a in place of u⁺

Limits and motors with a limit are rows with bounds that the solver treats like contacts (`coupling`).
"""

import numpy as np

from ...books.ledger import Account
from ...core.model import Array, BodyKind, Model, movable
from ...core.report import MotorState
from ...core.state import Bodies
from ...dynamics.constraints.axes import SPIN, add_rows, drift_rows, pose_rows, row_velocities
from ...dynamics.constraints.blocks import HARD, MOTOR, ROTOR, SOFT, Constraints
from ...dynamics.constraints.cure import BAUMGARTE
from ...dynamics.constraints.impulses import add_to_bodies
from ...dynamics.constraints.reactions import rotor_softness
from ...dynamics.free_body import velocity_from_momentum
from ...dynamics.trees.rates import TreeScratch
from ...problem.coupling import Bounded, Coupling, couple, empty_bounded, empty_coupling
from ...problem.problem import ANGULAR, LINEAR, ContactProblem, SolveInfo, System
from ...solvers import Solver
from ...solvers.coupled import coupled_problem, solve_coupled

NEARLY = 1e-9     # of its limit that a motor which exerts all it can may fall short of
MARGIN = 0.05     # limits farther away than this and than what a step can bring are left out [rad] or [m]


class JointStage:
    """The joints of a model in maximal coordinates; scratch memory of a step."""

    def __init__(self, model: Model) -> None:
        self.constraints = Constraints(model)
        self.coupling: Coupling = empty_coupling(0, 0, 0)
        c, joints = self.constraints, model.joints
        j = c.axes.joint
        self._model, self._row_joint = model, c.rows.joint
        self._force = np.where(c.axes.axis == 0, joints.motor_force[j], 0.0)
        self._soft, self._rotor = c.role == SOFT, rotor_softness(joints, c.rows, c.role == ROTOR)
        self._start, self._turning = np.zeros((2, len(c.role)))
        column = c.rows.axis
        self._stiffness = np.where(self._soft, joints.stiffness[self._row_joint], 0.0)
        self._damping = np.where(self._soft, joints.damping[self._row_joint], 0.0)
        at = joints.spring_at[self._row_joint, np.minimum(column, 1)]
        self._spring_at = np.where(c.rows.kind == SPIN, 0.0, at)
        self._limited = np.isfinite(joints.motor_speed[j]) & np.isfinite(joints.motor_limit[j]) & (c.axes.axis == 0)
        self._lower = np.where(c.axes.kind == SPIN, -np.inf, joints.lower[j, np.minimum(c.axes.axis, 1)])
        self._upper = np.where(c.axes.kind == SPIN, np.inf, joints.upper[j, np.minimum(c.axes.axis, 1)])
        balls = np.flatnonzero((c.axes.kind == SPIN) & (c.axes.axis == 0))
        self._cones = [(int(r), float(joints.upper[j[r], 0])) for r in balls if np.isfinite(joints.upper[j[r], 0])]
        self._bounds = bool(self._limited.any() or np.isfinite(self._lower).any() or np.isfinite(self._upper).any()
                            or self._cones)
        self._seeking: list[tuple[int, int]] = []  # rows of motors with a limit and their joints
        self.members = c.islands.bodies  #: bodies that move under joints

    # ---------------------------------------------------------------------------------------------- the step
    def begin(self, bodies: Bodies) -> None:
        """Note how fast rotors turn at the beginning of the step."""
        if self._rotor.any():
            rows = self.constraints.rows
            J, at = np.zeros((len(rows.kind), 12)), np.zeros(len(rows.kind))
            pose_rows(rows, bodies.x, bodies.q, J, at)
            row_velocities(rows, J, bodies.v, bodies.w, self._start)
            drift_rows(rows, bodies, self._turning)
            self._turning[rows.kind != SPIN] = 0.0

    def drive(self, middle: Bodies, force: Array, torque: Array) -> None:
        """Add the constant forces of motors to those on the bodies, at the poses in the middle of the step."""
        c = self.constraints
        pose_rows(c.axes, middle.x, middle.q, c.axis_J, c.axis_at)
        moves = movable(self._model.kind)[:, None]
        linear, angular = np.zeros_like(force), np.zeros_like(torque)
        add_to_bodies(c.axes, c.axis_J, self._force, linear, angular)
        force += np.where(moves, linear, 0.0)
        torque += np.where(moves, angular, 0.0)

    def prepare(
        self, middle: Bodies, before: Array, v: Array, system: System, trees: TreeScratch, h: float, cure: str
    ) -> None:
        """The equations at the poses in the middle of the step; velocities in the system are made to obey them.

        before (n, 6) are the velocities so far at these poses, momenta unchanged; v (n_v,) those of trees, whose
        scratch `trees` has what `free_links` left.
        """
        c = self.constraints
        self._soften(h)
        c.update(middle)
        u = c.velocities(np.ascontiguousarray(before[:, :3]), np.ascontiguousarray(before[:, 3:])).copy()
        self._wish(u, h, cure)
        self._obey(system)
        if self._bounds:
            self.coupling = self.coupling._replace(bounded=self._bounded(before, h))

    def _soften(self, h: float) -> None:
        self._gain = np.where(self._soft, 0.25 * h * h * self._stiffness + 0.5 * h * self._damping, 1.0)
        self.constraints.softness[:] = np.where(self._soft, 1.0 / self._gain, self._rotor)

    def _wish(self, u: Array, h: float, cure: str) -> None:
        """What J q̇ is to be after the step, in SOFT rows with the impulse, from what it was before, u (m,)."""
        c, k, d = self.constraints, self._stiffness, self._damping
        wanted = {"none": np.zeros_like(u), "baumgarte": -BAUMGARTE / h * c.C, "projection": -u}[cure]
        soft = (-h * k * (c.C - self._spring_at) + (0.25 * h * h * k - 0.5 * h * d) * u) / self._gain
        self._wanted = np.select([c.role == HARD, c.role == MOTOR, c.role == ROTOR],
                                 [wanted, c.motor_speeds(), 2.0 * self._start - u - h * self._turning], soft)

    def _obey(self, system: System) -> None:
        v = np.ascontiguousarray(system.bodies[:, LINEAR : LINEAR + 3])
        w = np.ascontiguousarray(system.bodies[:, ANGULAR : ANGULAR + 3])
        c = self.constraints
        lam = c.solve(self._wanted - c.velocities(v, w))
        add_rows(self._model.kind, c.rows, c.W, lam, v, w)
        system.bodies[:, LINEAR : LINEAR + 3] = v
        system.bodies[:, ANGULAR : ANGULAR + 3] = w

    def solve(self, solver: Solver, system: System, iterations: int, tolerance: float) -> SolveInfo:
        """Solve for all impulses and leave them and their effect in the system: by projected sweeps."""
        self.coupling = couple(system, self.constraints, self.coupling)
        return solve_coupled(system, self.coupling, iterations, tolerance)

    def problem(self, system: System) -> ContactProblem:
        """The contact problem of velocities that obey the joints and do not contain the system's impulses."""
        self.coupling = couple(system, self.constraints, self.coupling)
        return coupled_problem(system, self.coupling)

    def finish(self, middle: Bodies) -> None:
        """Add the joints' impulses to the momenta in `middle`, which contain all others."""
        c = self.constraints
        self._add_bounded(middle)
        velocity_from_momentum(self._model, middle)
        self._lam = c.solve(self._wanted - c.velocities(middle.v, middle.w))
        add_rows(self._model.kind, c.rows, c.J, self._lam, middle.P, middle.L)
        velocity_from_momentum(self._model, middle)

    def _add_bounded(self, middle: Bodies) -> None:
        """Add the impulses of limits and motors to the momenta."""
        bounded = self.coupling.bounded
        linear, angular = np.zeros_like(middle.P), np.zeros_like(middle.L)
        for k in range(int(bounded.count[0])):
            for i, J in ((bounded.a[k], bounded.J[k, :6]), (bounded.b[k], bounded.J[k, 6:])):
                if i >= 0:
                    linear[i] += bounded.impulse[k] * J[:3]
                    angular[i] += bounded.impulse[k] * J[3:]
        moves = self._model.inv_mass[:, None] > 0.0
        middle.P[:] += np.where(moves, linear, 0.0)
        middle.L[:] += np.where(moves, angular, 0.0)

    def book(self, before: Array, after: Array, h: float, ledger: Array) -> None:
        """Enter the work of motors, dampers and limits, from the velocities (n, 6) before the impulses and those after
        them. Impulses work at the mean of both; what they give a parent with a prescribed motion is its own doing."""
        c = self.constraints
        v, w = (np.ascontiguousarray(0.5 * (before[:, k : k + 3] + after[:, k : k + 3])) for k in (0, 3))
        u = c.velocities(v, w)
        work = self._lam * u
        ledger[Account.SPRINGS, 0] -= float(h * self._damping @ (u * u))
        ledger[Account.JOINTS, 0] += float(work[c.role == MOTOR].sum())
        axis_u = np.zeros(len(c.axes.kind))
        row_velocities(c.axes, c.axis_J, v, w, axis_u)
        ledger[Account.JOINTS, 0] += float(h * self._force @ axis_u)
        bounded, both = self.coupling.bounded, np.hstack([v, w])
        for k in range(int(bounded.count[0]) if self._bounds else 0):
            account = Account.IMPACTS if np.isinf(bounded.high[k]) else Account.JOINTS
            for i, J in ((int(bounded.a[k]), bounded.J[k, :6]), (int(bounded.b[k]), bounded.J[k, 6:])):
                if i >= 0:
                    done = float(bounded.impulse[k] * (J @ both[i]))
                    ledger[account, 0] += done
                    ledger[Account.DRIVEN, 0] -= done if self._model.kind[i] == BodyKind.KINEMATIC else 0.0
        self._book_driven(both, h, ledger)

    def _book_driven(self, u: Array, h: float, ledger: Array) -> None:
        """What parents and children with a prescribed motion put in."""
        c, kind = self.constraints, self._model.kind
        for rows, J, lam in ((c.rows, c.J, self._lam), (c.axes, c.axis_J, h * self._force)):
            for bodies, side in ((rows.a, J[:, :6]), (rows.b, J[:, 6:])):
                driven = (bodies >= 0) & (kind[bodies] == BodyKind.KINEMATIC)
                if driven.any():
                    rate = np.einsum("ij,ij->i", side[driven], u[bodies[driven]])
                    ledger[Account.DRIVEN, 0] -= float(lam[driven] @ rate)

    def motors(self, velocity: Array, h: float) -> list[MotorState]:
        """What motors that seek a speed did, with the velocities (n, 6) after the impulses."""
        c, limits, bounded = self.constraints, self._model.joints.motor_limit, self.coupling.bounded
        rates = c.velocities(*(np.ascontiguousarray(velocity[:, k : k + 3]) for k in (0, 3)))
        done = [MotorState(int(c.rows.joint[r]), float(rates[r]), float(self._lam[r]) / h, True)
                for r in np.flatnonzero(c.role == MOTOR).tolist()]
        for k, j in self._seeking:
            a, b, force = int(bounded.a[k]), int(bounded.b[k]), float(bounded.impulse[k]) / h
            rate = bounded.J[k, 6:] @ velocity[b] + (bounded.J[k, :6] @ velocity[a] if a >= 0 else 0.0)
            done.append(MotorState(j, float(rate), force, abs(force) < limits[j] * (1.0 - NEARLY)))
        return done

    def together(self, fraction: Array) -> None:
        """Bodies of one mechanism go the same part of their way: the least of it."""
        islands = self.constraints.islands
        for first, last in zip(islands.first[:-1], islands.first[1:], strict=True):
            members = islands.bodies[first:last]
            fraction[members] = fraction[members].min()

    # ---------------------------------------------------------------------------------------------- limits, motors
    def _bounded(self, before: Array, h: float) -> Bounded:
        """Rows of limits within reach and of motors with a limit."""
        c = self.constraints
        at, axes, joints = c.axis_at, c.axes, self._model.joints
        rows: list[tuple[int, int, Array, float, float, float]] = []
        self._seeking.clear()

        def limit(r: int, J: Array, gap: float) -> None:
            """Add axis row r, whose J (12,) makes `gap` grow, where it is or may come within reach in this step."""
            a, b = int(axes.a[r]), int(axes.b[r])
            rate = (J[:6] @ before[a] if a >= 0 else 0.0) + J[6:] @ before[b]
            if gap < max(MARGIN, 2.0 * h * abs(rate)):
                bias = gap / h if gap > 0.0 else BAUMGARTE * gap / h
                e = float(joints.restitution[axes.joint[r]])
                if e > 0.0 and gap + h * rate < 0.0:
                    bias = e * rate
                rows.append((a, b, J, bias, 0.0, np.inf))

        for r in np.flatnonzero(np.isfinite(self._lower)).tolist():
            limit(r, c.axis_J[r], float(at[r] - self._lower[r]))
        for r in np.flatnonzero(np.isfinite(self._upper)).tolist():
            limit(r, -c.axis_J[r], float(self._upper[r] - at[r]))
        for r, angle in self._cones:
            size = float(np.linalg.norm(at[r : r + 3]))
            if size > 1e-6:
                limit(r, -(at[r : r + 3] / size) @ c.axis_J[r : r + 3], angle - size)
        for r in np.flatnonzero(self._limited).tolist():
            j = int(axes.joint[r])
            most = float(joints.motor_limit[j]) * h
            self._seeking.append((len(rows), j))
            rows.append((int(axes.a[r]), int(axes.b[r]), c.axis_J[r], -float(joints.motor_speed[j]), -most, most))
        bounded = self.coupling.bounded
        if len(rows) > len(bounded.a):
            bounded = empty_bounded(2 * len(rows))
        bounded.count[0] = len(rows)
        bounded.impulse.fill(0.0)
        for k, (a, b, J, bias, low, high) in enumerate(rows):
            bounded.a[k], bounded.b[k], bounded.J[k], bounded.bias[k] = a, b, J, bias
            bounded.low[k], bounded.high[k] = low, high
        return bounded
