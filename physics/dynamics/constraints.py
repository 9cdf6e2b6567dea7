"""The constraint method: forces of joints in maximal coordinates from one sparse symmetric system.

    u⁺ = u + M⁻¹(h ξ + Jᵀ λ),   J u⁺ = b   →   (J M⁻¹ Jᵀ) λ = b - J (u + h M⁻¹ ξ)        [Articulated eqs. 22.17, 22.18]

b = 0 in the text. J M⁻¹ Jᵀ couples joints that share a body. With the joints of a tree in the order leaves first its
factor has no fill, and the whole costs a time linear in the joints; joints that close loops come last. Rows that others
already imply (planar loops, Bricard's mechanism, singular positions) get no force of their own: see `ldl`.
"""

from typing import Any, NamedTuple

import numpy as np

from contactlab.physics.dynamics import ldl
from contactlab.physics.dynamics.free_body import velocity_from_momentum
from contactlab.physics.dynamics.joints import (
    Rows,
    add_rows,
    axis_rows,
    constraint_rows,
    gram,
    pose_rows,
    row_velocities,
    weigh,
)
from contactlab.physics.jit import kernel
from contactlab.physics.model import Array, BodyKind, IntArray, Joints, Model
from contactlab.physics.state import Bodies
from contactlab.physics.vec import add, put, put4, quat_exp, quat_mul, quat_unit, row, row4

HARD, SOFT, MOTOR = range(3)
SLACK = 1e30           # softness of a row that is left out
CLOSED = 1e-12         # what is left of C where projection ends [m] or [rad]
PROJECTIONS = 30       # Newton steps of a projection at most
LONGEST = 0.1          # a Newton step moves no row by more [m] or [rad]: far off, the linear answer is wrong


class Islands(NamedTuple):
    """Bodies that joints connect, through bodies that forces move. Island k has rows[k] : rows[k + 1] of J."""

    rows: IntArray         #: (i + 1,)
    first: IntArray        #: (i + 1,) island k has bodies[first[k] : first[k + 1]]
    bodies: IntArray
    of_body: IntArray      #: (n,) -1 = in none
    slot: IntArray         #: (n,) place within the island's bodies


def _leaves_first(joints: Joints, which: Any, movable: Any) -> list[tuple[list[int], list[int]]]:
    """Per island its joints, those that stand on the ground or close loops last, and its bodies."""
    at: dict[int, list[int]] = {}
    for j in which.tolist():
        for i in (int(joints.parent[j]), int(joints.child[j])):
            if i >= 0 and movable[i]:
                at.setdefault(i, []).append(j)
    seen: set[int] = set()
    islands = []
    grounded = [int(joints.child[j]) for j in which if joints.parent[j] < 0 or not movable[joints.parent[j]]]
    for root in [*grounded, *at]:
        if root in seen or root not in at:
            continue
        bodies, tree, closing, done = [root], [], [], set()
        seen.add(root)
        for i in bodies:  # grows while it is walked: breadth first
            for j in at[i]:
                if j in done:
                    continue
                done.add(j)
                ends = [int(joints.parent[j]), int(joints.child[j])]
                new = [k for k in ends if k in at and k not in seen]
                seen.update(new)
                bodies += new
                (tree if new else closing).append(j)
        islands.append((tree[::-1] + closing, bodies))
    return islands


def _islands(joints: Joints, movable: Any) -> tuple[IntArray, list[int], list[list[int]]]:
    """Joints in order, how many each island has, and the bodies of each."""
    found = _leaves_first(joints, np.flatnonzero(joints.generalized == 0), movable)
    order = np.array([j for tree, _ in found for j in tree], np.int32)
    return order, [len(tree) for tree, _ in found], [bodies for _, bodies in found]


def _taken(rows: Rows, index: Any) -> Rows:
    return Rows._make(np.ascontiguousarray(field[index]) for field in rows)


def _joined(first: Rows, second: Rows) -> Rows:
    return Rows._make(np.concatenate(pair) for pair in zip(first, second, strict=True))


class Constraints:
    """Joints of a model in maximal coordinates; scratch memory of their equations.

    Rows are HARD (a joint's own), MOTOR (an axis kept at its speed by a motor without limit) or SOFT (an axis with a
    spring or a damper, λ then being its impulse).
    """

    def __init__(self, model: Model) -> None:
        joints = model.joints
        movable = model.kind == BodyKind.DYNAMIC
        order, counts, bodies = _islands(joints, movable)
        hard, self.axes = constraint_rows(joints, order), axis_rows(joints, order)
        driven = np.isfinite(joints.motor_speed) & np.isinf(joints.motor_limit)
        resisted = (joints.stiffness > 0.0) | (joints.damping > 0.0)
        j = self.axes.joint
        motor = _taken(self.axes, driven[j] & (self.axes.axis == 0))
        soft = _taken(self.axes, resisted[j])
        every = _joined(_joined(hard, motor), soft)
        role = np.repeat([HARD, MOTOR, SOFT], [len(hard.kind), len(motor.kind), len(soft.kind)]).astype(np.int32)
        rank = np.zeros(len(joints.type), np.int64)
        rank[order] = np.arange(len(order))
        sorted_rows = np.argsort(rank[every.joint], kind="stable")
        self.model = model
        self.rows, self.role = _taken(every, sorted_rows), role[sorted_rows]
        self.islands = self._number_islands(order, counts, bodies, rank)
        m = len(self.rows.kind)
        self.factor = ldl.analyse(self._pattern(movable))
        self.values = np.zeros(len(self.factor.rows))
        self.J, self.W, self.C, self.u, self.lam = np.zeros((m, 12)), np.zeros((m, 12)), *np.zeros((3, m))
        self.softness = np.zeros(m)
        self.axis_J, self.axis_at = np.zeros((len(j), 12)), np.zeros(len(j))
        self._delta = np.zeros((len(model.kind), 3)), np.zeros((len(model.kind), 3))
        self.hard = self.role == HARD
        self.rank = m

    def _number_islands(self, order: IntArray, counts: list[int], bodies: list[list[int]], rank: Any) -> Islands:
        n = len(self.model.kind)
        of_body, slot = np.full(n, -1, np.int32), np.zeros(n, np.int32)
        for k, members in enumerate(bodies):
            of_body[members], slot[members] = k, np.arange(len(members))
        ends = np.concatenate([[0], np.cumsum(counts)])
        rows = np.searchsorted(rank[self.rows.joint], ends).astype(np.int32)
        first = np.concatenate([[0], np.cumsum([len(members) for members in bodies])]).astype(np.int32)
        flat = np.array([i for members in bodies for i in members], np.int32)
        return Islands(rows, first, flat, of_body, slot)

    def _pattern(self, movable: Any) -> list[list[int]]:
        """Rows that share a body that moves."""
        at: dict[int, list[int]] = {}
        pattern = []
        for r, ends in enumerate(zip(self.rows.a.tolist(), self.rows.b.tolist(), strict=True)):
            linked = {r}
            for i in ends:
                if i >= 0 and movable[i]:
                    at.setdefault(i, []).append(r)
                    linked.update(at[i])
            pattern.append(sorted(linked))
        return pattern

    # ---------------------------------------------------------------------------------------------- equations
    def update(self, bodies: Bodies) -> None:
        """J, C and the factor of J M⁻¹ Jᵀ + diag(softness) at the poses of the bodies."""
        model, rows = self.model, self.rows
        pose_rows(rows, bodies.x, bodies.q, self.J, self.C)
        weigh(model.kind, model.inv_mass, model.inv_inertia, bodies.q, rows, self.J, self.W)
        gram(rows, self.factor.first, self.factor.rows, self.J, self.W, self.softness, self.values)
        self.rank = int(ldl.factorise(self.values, self.factor))

    def solve(self, right: Array) -> Array:
        """λ (m,) of (J M⁻¹ Jᵀ + diag(softness)) λ = right; overwrites and returns `right`."""
        ldl.solve(self.factor, right)
        return right

    def velocities(self, v: Array, w: Array) -> Array:
        """J u (m,), overwritten by the next call."""
        row_velocities(self.rows, self.J, v, w, self.u)
        return self.u

    # ---------------------------------------------------------------------------------------------- drift
    def errors(self, bodies: Bodies) -> Array:
        """C (m,) of the joints' own rows: how far they have come apart [m], [rad]; 0 of others."""
        pose_rows(self.rows, bodies.x, bodies.q, self.J, self.C)
        return np.where(self.hard, self.C, 0.0)

    def close(self, bodies: Bodies) -> None:
        """Bring C to zero by displacements along M⁻¹ Jᵀ, the shortest way in the metric of M: Newton's method."""
        linear, angular = self._delta
        self.softness[:] = np.where(self.hard, 0.0, SLACK)
        for _ in range(PROJECTIONS):
            self.update(bodies)
            right = np.where(self.hard, -self.C, 0.0)
            worst = float(np.abs(right).max(initial=0.0))
            if worst <= CLOSED:
                break
            lam = self.solve(right * min(1.0, LONGEST / worst))
            linear.fill(0.0)
            angular.fill(0.0)
            add_rows(self.model.kind, self.rows, self.W, lam, linear, angular)
            displace(linear, angular, bodies)
        velocity_from_momentum(self.model, bodies)

    def stop(self, bodies: Bodies) -> None:
        """Take out the velocities that joints do not allow, J u = 0, by impulses: momenta change by Jᵀ λ. `update` or
        `close` must have been called at these poses; motors drive their axes."""
        speed = self.motor_speeds()
        self.softness[:] = np.where(self.role == SOFT, SLACK, 0.0)
        self.update(bodies)
        lam = self.solve(np.where(self.role == SOFT, 0.0, speed - self.velocities(bodies.v, bodies.w)))
        add_rows(self.model.kind, self.rows, self.J, lam, bodies.P, bodies.L)
        velocity_from_momentum(self.model, bodies)

    def motor_speeds(self) -> Array:
        """(m,) what MOTOR rows keep to; 0 of others."""
        return np.where(self.role == MOTOR, np.nan_to_num(self.model.joints.motor_speed[self.rows.joint]), 0.0)


@kernel
def displace(linear, angular, bodies):
    """Shift bodies by linear (n, 3) and turn them by the rotation vectors angular (n, 3)."""
    for i in range(linear.shape[0]):
        put(bodies.x, i, add(row(bodies.x, i), row(linear, i)))
        put4(bodies.q, i, quat_unit(quat_mul(quat_exp(row(angular, i)), row4(bodies.q, i))))
