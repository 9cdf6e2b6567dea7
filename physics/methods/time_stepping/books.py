"""What a Moreau–Jean step books: impulses in its middle, at the mean of the velocities before and after them."""

import math

import numpy as np

from ...books.ledger import APPLIED, IMPACTS, JOINTS, SPRINGS, Books
from ...core.jit import kernel
from ...core.model import Array, BodyKind, IntArray, Model, body_count
from ...core.state import Bodies, Contacts, State, empty_state
from ...core.sym3 import three
from ...core.vec import add, put, row, scale
from ...dynamics.forces import Loads
from ...problem.problem import ANGULAR, JOINT_IMPULSE, LINEAR, System

DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)
NONE = np.zeros(3)


class StepBooks:
    """Enters a step; scratch memory only."""

    def __init__(self, model: Model) -> None:
        n = body_count(model)
        self.model, self.books = model, Books(model, asked=len(model.trees.body) > 0)
        self._at, self._over = empty_state(n).bodies, empty_state(n).bodies
        self._v = np.zeros(int(model.trees.first_v[-1]))
        self._springs = len(model.springs.body_a) > 0

    def begin(self, state: State) -> None:
        """At the beginning of a step."""
        self.books.begin(state.bodies)
        self._v[:] = state.joints.v

    def note(self, middle: Bodies) -> None:
        """In the middle, before any impulse: the motion that springs saw."""
        np.copyto(self._at.x, middle.x)
        if self._springs:
            for mine, theirs in zip(self._at, middle, strict=True):
                np.copyto(mine, theirs)

    def enter(
        self, state: State, loads: Loads, system: System, before: Array, involved: IntArray, middle: Bodies,
        contacts: Contacts, h: float,
    ) -> None:
        """At the end. before (n, 6): velocities in the middle before the impulses, system.bodies those after them;
        bodies that nothing touches (involved = 0) end with those of the state."""
        ledger, over = state.ledger, self._over
        mean_motion(self.model.kind, middle, before, system.bodies, involved, state.bodies, over)
        self.books.forces(loads, self._at, over, h, ledger)
        c, grab = contacts, system.grab
        self.books.contacts(over, int(c.count[0]), c.body_a, c.body_b, c.point, c.normal, c.impulse, ledger)
        if grab.body[0] >= 0:
            turns = grab.turn[0] == 1
            push, turn = (NONE, grab.impulse) if turns else (grab.impulse, np.cross(grab.arm, grab.impulse))
            self.books.pull(int(grab.body[0]), push, turn, over, ledger)
        if len(self._v):
            tree_joints(self.model, loads, involved, self._v, system.trees.v, state.joints.v, h, system.trees, ledger)
        self.books.end(state.bodies, ledger)


@kernel
def mean_motion(kind, middle, before, after, involved, end, over_out):
    """Poses in the middle of the step and the mean of the velocities before and after its impulses."""
    for i in range(len(kind)):
        put(over_out.x, i, row(middle.x, i))
        for j in range(4):
            over_out.q[i, j] = middle.q[i, j]
        v, w = three(after, i, LINEAR), three(after, i, ANGULAR)
        if involved[i] == 0 and (kind[i] == DYNAMIC or kind[i] == LINK):
            v, w = row(end.v, i), row(end.w, i)
        put(over_out.v, i, scale(0.5, add(three(before, i, LINEAR), v)))
        put(over_out.w, i, scale(0.5, add(three(before, i, ANGULAR), w)))


@kernel
def tree_joints(model, loads, involved, before, solved, end, h, rows, ledger):
    """Work of dampers, motors and limits of trees and of forces put on their joints, from the velocities (n_v,) before
    the step and after it. Dampers are implicit: they act with -h c v⁺."""
    trees, joints = model.trees, model.joints
    for d in range(len(before)):
        l = int(trees.dof_link[d])
        j = int(trees.joint[l])
        after = solved[d] if involved[trees.body[l]] == 1 else end[d]
        mean = 0.5 * (before[d] + after)
        ledger[SPRINGS, 0] += min(0.0, -h * joints.damping[j] * after * mean)
        if trees.first_v[l + 1] - trees.first_v[l] == 1:
            ledger[JOINTS, 0] += h * joints.motor_force[j] * mean
        if d < len(loads.joint):
            ledger[APPLIED, 0] += h * loads.joint[d] * mean
    for k in range(rows.count[0]):
        rate = 0.0
        for j in range(rows.dof[k, 1]):
            d = int(rows.dof[k, 0]) + j
            rate += rows.number[k, j] * 0.5 * (before[d] + solved[d])
        account = JOINTS if math.isinf(rows.gap[k]) else IMPACTS
        ledger[account, 0] += rows.number[k, JOINT_IMPULSE] * rate

