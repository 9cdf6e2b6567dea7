"""Joints in maximal coordinates within a step of `time_stepping` where trees move too, or where the solver wants M.

As `joint_stage`, but everything that acts is written out as rows over q̇, the velocities of free bodies and of trees:
contacts in their frames, the mouse spring, limits and motors of either kind of joint,

    u = T q̇ + bias,   T H⁻¹ with the reactions of the joints in it (see `dynamics.joint_reactions`),   M = T H⁻¹ Tᵀ

so that J q̇⁺ = b holds whatever the impulses, a loop may close a tree, and any solver takes the contacts. The rows that
are no contacts, and are few, are visited in turn with them.
"""

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, BodyKind, Model
from ...core.state import Bodies
from ...core.sym3 import six, sym_vec, three
from ...core.vec import add, cross, mat_t_vec, put, row
from ...dynamics.constraints.axes import add_rows
from ...dynamics.constraints.reactions import (
    Reactions,
    answer_joints,
    hold_rows,
    put_link_side,
    reactions_of,
    rows_along,
    weigh_joints,
)
from ...dynamics.free_body import velocity_from_momentum
from ...dynamics.trees.contacts import put_link_row, weigh_links
from ...dynamics.trees.rates import TreeScratch
from ...problem.assemble import frame_of, in_frames
from ...problem.coupling import HELD
from ...problem.problem import (
    ANGULAR,
    ARM_A,
    ARM_B,
    FRICTION,
    HIGH,
    INV_INERTIA,
    INV_MASS,
    JOINT_BIAS,
    JOINT_IMPULSE,
    LINEAR,
    LOW,
    CannotSolve,
    ContactProblem,
    SolveInfo,
    System,
)
from ...solvers import SOLVERS, Solver
from ...solvers.matrix_form import LARGEST, ROUNDS, by_normals
from .joints import JointStage

LINK = int(BodyKind.LINK)


class HeldStage(JointStage):
    """The joints of a model in maximal coordinates, at the ends of free bodies and of links; scratch of a step."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        c = self.constraints
        self._held: Reactions = reactions_of(model, 0, soft=True)._replace(J=c.J, C=c.C, u=c.u, softness=c.softness)
        self._first = 6 * int((self._held.slot >= 0).sum())  #: where the velocities of trees begin in q̇
        self._change = np.zeros(self._first + int(model.trees.first_v[-1]))
        self._T, self._HT = np.zeros((0, len(self._change))), np.zeros((0, len(self._change)))

    def prepare(
        self, middle: Bodies, before: Array, v: Array, system: System, trees: TreeScratch, h: float, cure: str
    ) -> None:
        """The equations at the poses in the middle of the step, with velocities `before` (n, 6) of bodies and v (n_v,)
        of trees so far; velocities in the system are made to obey them. Needs what `free_links` left in `trees`."""
        reactions, model = self._held, self._model
        u = np.zeros(len(reactions.lam))
        self._soften(h)
        weigh_joints(model, middle, trees.work, reactions)
        q_dot = self._gather(before, v)
        rows_along(reactions, q_dot, u)
        self._wish(u, h, cure)
        q_dot = self._gather(system.bodies, system.trees.v)
        rows_along(reactions, q_dot, u)
        reactions.lam[:] = self._wanted - u
        answer_joints(reactions, self._change)
        self._lam, self._obeying = reactions.lam.copy(), q_dot + self._change
        if self._bounds:
            self.coupling = self.coupling._replace(bounded=self._bounded(before, h))
        self._write_rows(middle, system, trees, q_dot)

    def _gather(self, bodies: Array, v: Array) -> Array:
        """q̇ from velocities of bodies, columns LINEAR and ANGULAR, and of trees."""
        free = self._held.slot >= 0
        return np.concatenate([bodies[free][:, [3, 4, 5, 0, 1, 2]].ravel(), v])

    def _write_rows(self, middle: Bodies, system: System, trees: TreeScratch, q_dot: Array) -> None:
        """T, T H⁻¹, M and what u is without impulses, of all that acts: contacts, three rows of the mouse, limits and
        motors of trees, bounded axes. The system has the velocities q_dot."""
        reactions, c, model = self._held, int(system.count[0]), self._model
        bounded = self.coupling.bounded
        of_trees, of_axes = int(system.trees.count[0]), int(bounded.count[0])
        size = 3 * c + 3 + of_trees + of_axes
        if size > len(self._T):
            self._T, self._HT = np.zeros((2, size + 16, len(self._change)))
            reactions = self._held = reactions._replace(passed=np.zeros((size + 16, len(reactions.lam))))
        self._size, self._axes_from = size, 3 * c + 3 + of_trees
        T, HT = self._T[:size], self._HT[:size]
        T.fill(0.0)
        HT.fill(0.0)
        system_rows(model, system, middle, trees.work, reactions.slot, self._first, T)
        bounded_rows(model, bounded.a, bounded.b, bounded.J, of_axes, trees.work, reactions.slot, self._first,
                     self._axes_from, T)
        rows_by_inverse(model, system.bodies, trees.work, reactions.slot, T, HT)
        hold_rows(reactions, size, HT)
        self._M = HT @ T.T
        grab, numbers, contacts = system.grab, system.trees.number[:of_trees], np.zeros((2, 3 * c))
        in_frames(system, contacts[0], contacts[1])
        bias = np.concatenate([contacts[0] - T[: 3 * c] @ q_dot, grab.bias, numbers[:, JOINT_BIAS],
                               bounded.bias[:of_axes]])
        self._low = np.concatenate([numbers[:, LOW], bounded.low[:of_axes]])
        self._high = np.concatenate([numbers[:, HIGH], bounded.high[:of_axes]])
        self._given = np.concatenate([contacts[1], grab.impulse, numbers[:, JOINT_IMPULSE], np.zeros(of_axes)])
        self._d = T @ self._obeying + bias - self._M @ self._given

    # ---------------------------------------------------------------------------------------------- the solution
    def problem(self, system: System) -> ContactProblem:
        """The contact problem of velocities that obey the joints and do not contain the system's impulses."""
        c = 3 * int(system.count[0])
        M = self._M[:c, :c]
        return ContactProblem.frictional(0.5 * (M + M.T), self._d[:c], system.rows[: c // 3, FRICTION])

    def solve(self, solver: Solver, system: System, iterations: int, tolerance: float) -> SolveInfo:
        """Solve for all impulses and leave them and their effect in the system. CannotSolve as
        `solve_written_out` says it."""
        count = int(system.count[0])
        friction = system.rows[:count, FRICTION].copy()
        normal = by_normals(solver, friction)
        if count > LARGEST:
            raise CannotSolve(f"joints in maximal coordinates beside trees, or another solver than pgs, take up to "
                              f"{LARGEST} contacts at once, not {count}")
        M, d, lam, c = self._M, self._d, self._given.copy(), 3 * count
        rows = np.arange(0, c, 3) if normal else np.arange(c)
        info = SolveInfo("solved", 0, 0.0)
        for _ in range(ROUNDS):
            if count:
                right = d[rows] + M[np.ix_(rows, np.arange(c, self._size))] @ lam[c:]
                block = np.ascontiguousarray(0.5 * (M + M.T)[np.ix_(rows, rows)])
                problem = (ContactProblem.frictionless(block, right) if normal
                           else ContactProblem.frictional(block, right, friction))
                part = np.ascontiguousarray(lam[rows])
                info = solver(problem, part, iterations if solver.iterative else 0, tolerance)
                if info.status not in ("solved", "glued") and not solver.iterative:
                    part[:] = lam[rows]
                    SOLVERS["pgs"](problem, part, max(iterations, ROUNDS), tolerance)
                lam[:c] = 0.0
                lam[rows] = part
            if self._visit_others(system, lam, c) <= tolerance or not count:
                break
        self._take(system, lam)
        return info

    def _visit_others(self, system: System, lam: Array, c: int) -> float:
        """Sweep over mouse spring, limits and motors until they are at rest; the velocity that changed at first."""
        M, d, grab = self._M, self._d, system.grab
        held, mouse = int(grab.body[0]) >= 0, slice(c, c + 3)
        first, bounded = 0.0, range(c + 3, self._size)
        if held:
            W = M[mouse, mouse]
            largest = max(float(np.abs(W).sum(axis=1).max()), HELD * float(grab.matrix[[0, 3, 5]].max()))
            soft = float(grab.softness[0]) * largest
            # a point on the axis of a hinge answers nothing
            inverse = np.linalg.inv(W + soft * np.eye(3)) if soft > 0.0 else np.zeros((3, 3))
        for _ in range(ROUNDS):
            worst = 0.0
            if held:
                new = lam[mouse] - inverse @ (d[mouse] + M[mouse] @ lam + soft * lam[mouse])
                new *= min(1.0, float(grab.limit[0]) / max(float(np.linalg.norm(new)), 1e-300))
                worst = float(np.abs(W @ (new - lam[mouse])).max())
                lam[mouse] = new
            for r, low, high in zip(bounded, self._low, self._high, strict=True):
                own = M[r, r]
                new = min(max(lam[r] - (d[r] + M[r] @ lam) / own, low), high) if own > 0.0 else 0.0
                worst = max(worst, own * abs(new - lam[r]))
                lam[r] = new
            first = max(first, worst)
            if worst <= 1e-13:
                break
        return first

    def _take(self, system: System, lam: Array) -> None:
        """Put the impulses in their places, and their effect in the velocities."""
        change, c = lam - self._given, 3 * int(system.count[0])
        q_dot = self._obeying + change @ self._HT[: self._size]
        self._lam += change @ self._held.passed[: self._size]
        put_impulses(lam, system)
        system.grab.impulse[:] = lam[c : c + 3]
        system.trees.number[: self._axes_from - c - 3, JOINT_IMPULSE] = lam[c + 3 : self._axes_from]
        self.coupling.bounded.impulse[: self._size - self._axes_from] = lam[self._axes_from :]
        free, own = self._held.slot >= 0, q_dot[: self._first].reshape(-1, 6)
        system.bodies[free, ANGULAR : ANGULAR + 3], system.bodies[free, LINEAR : LINEAR + 3] = own[:, :3], own[:, 3:]
        system.trees.v[:] = q_dot[self._first :]

    def finish(self, middle: Bodies) -> None:
        """Add the joints' impulses to the momenta in `middle`, which contain all others."""
        self._add_bounded(middle)
        c = self.constraints
        add_rows(self._model.kind, c.rows, c.J, self._lam, middle.P, middle.L)
        velocity_from_momentum(self._model, middle)


# ------------------------------------------------------------------------------------------------------- kernels
@kernel
def put_impulses(lam, system):
    """Put impulses λ (3 c,), given in contact frames, in the place of the system's; velocities stay."""
    for k in range(int(system.count[0])):
        put(system.impulse, k, mat_t_vec(frame_of(system.rows, k), (lam[3 * k], lam[3 * k + 1], lam[3 * k + 2])))


@helper
def put_free(slot, sign, turn, push, T, r):
    for k in range(3):
        T[r, slot + k] += sign * turn[k]
        T[r, slot + 3 + k] += sign * push[k]


@helper
def put_point(model, middle, work, slot, i, sign, arm, direction, T, r):
    """Add to row r the velocity of body i's point at `arm` along a direction."""
    if slot[i] >= 0:
        put_free(int(slot[i]), sign, cross(arm, direction), direction, T, r)
    elif model.kind[i] == LINK:
        put_link_row(model.trees, work, int(model.trees.link_of_body[i]), sign, add(row(middle.x, i), arm), direction,
                     T, r)


@kernel
def system_rows(model, system, middle, work, slot, first, T):
    """Rows of contacts, of the mouse spring, and of limits and motors of trees; T is zero before."""
    count, grab, trees = int(system.count[0]), system.grab, system.trees
    for k in range(count):
        frame = frame_of(system.rows, k)
        for j in range(3):
            put_point(model, middle, work, slot, int(system.body_b[k]), 1.0, three(system.rows, k, ARM_B), frame[j], T,
                      3 * k + j)
            put_point(model, middle, work, slot, int(system.body_a[k]), -1.0, three(system.rows, k, ARM_A), frame[j], T,
                      3 * k + j)
    i = int(grab.body[0])
    for j in range(3 if i >= 0 else 0):
        e = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
        if grab.turn[0] == 0:
            put_point(model, middle, work, slot, i, 1.0, (grab.arm[0], grab.arm[1], grab.arm[2]), e, T, 3 * count + j)
        elif slot[i] >= 0:
            put_free(int(slot[i]), 1.0, e, (0.0, 0.0, 0.0), T, 3 * count + j)
        else:
            put_link_side(model.trees, work, int(model.trees.link_of_body[i]), 1.0, (0.0, 0.0, 0.0), e, T,
                          3 * count + j, first)
    for k in range(int(trees.count[0])):
        for j in range(trees.dof[k, 1]):
            T[3 * count + 3 + k, first + trees.dof[k, 0] + j] = trees.number[k, j]


@kernel
def bounded_rows(model, a, b, J, count, work, slot, first, start, T):
    """Rows `start` and on: axes between bodies a and b with J (k, 12)."""
    for k in range(count):
        for side in range(2):
            i = int(a[k]) if side == 0 else int(b[k])
            if i < 0:
                continue
            push, turn = three(J, k, 6 * side), three(J, k, 6 * side + 3)
            if slot[i] >= 0:
                put_free(int(slot[i]), 1.0, turn, push, T, start + k)
            elif model.kind[i] == LINK:
                put_link_side(model.trees, work, int(model.trees.link_of_body[i]), 1.0, push, turn, T, start + k, first)


@kernel
def rows_by_inverse(model, bodies, work, slot, T, HT_out):
    """T H⁻¹ without joints in maximal coordinates."""
    for r in range(T.shape[0]):
        weigh_links(model.trees, work, T, r, HT_out)
        for i in range(len(slot)):
            s = int(slot[i])
            if s >= 0:
                turn = sym_vec(six(bodies, i, INV_INERTIA), three(T, r, s))
                for k in range(3):
                    HT_out[r, s + k] = turn[k]
                    HT_out[r, s + 3 + k] = bodies[i, INV_MASS] * T[r, s + 3 + k]
