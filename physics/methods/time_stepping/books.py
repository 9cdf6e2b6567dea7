"""What a Moreau–Jean step books: impulses in its middle, at the mean of the velocities before and after them."""

import numpy as np

from ...books.diagnostics import total_energy
from ...books.ledger import (
    APPLIED,
    CONTACTS,
    DRIVEN,
    IMPACTS,
    JOINTS,
    SPRINGS,
    Books,
    add_contact,
    jointed,
)
from ...core.jit import helper, kernel
from ...core.model import BodyKind, IntArray, Model, body_count
from ...core.state import Bodies, Contacts, State, empty_state
from ...core.sym3 import three
from ...core.vec import add, axpy, dot, put, row, scale, sub
from ...dynamics.motion import moves
from ...dynamics.trees.kinematics import place_links
from ...dynamics.trees.momentum import balance, free_trees
from ...problem.system import ANGULAR, BODY_SIZE, ENTRY, LIMIT, LINEAR, MOTOR, OTHERS, PLACE, WIDTH, velocity_between
from .joints import JointPart
from .parts import MoreauStep

DYNAMIC, LINK, KINEMATIC = int(BodyKind.DYNAMIC), int(BodyKind.LINK), int(BodyKind.KINEMATIC)
NONE = np.zeros(3)


class StepBooks:
    """The observer of a step: enters what acted, and repairs what the scheme got wrong of the momentum of trees.
    Scratch memory only."""

    def __init__(self, model: Model, joints: JointPart | None) -> None:
        n = body_count(model)
        self.model, self.books, self._joints = model, Books(model, asked=len(model.trees.body) > 0), joints
        self.at, self.over = empty_state(n).bodies, empty_state(n).bodies
        self._springs = len(model.springs.body_a) > 0
        self._floating_trees = np.flatnonzero(free_trees(model, jointed(model))).astype(np.int32)
        self.floats = len(self._floating_trees) > 0
        self.energy_before = 0.0   #: at the beginning of the step [J]

    def begin(self, state: State) -> None:
        """At the beginning of a step."""
        self.energy_before = total_energy(self.model, state.bodies, *state.joints)
        self.books.begin(state.bodies)

    def note(self, middle: Bodies) -> None:
        """In the middle, before any impulse: keep the places at which gravity acts, and all from which the forces of
        springs were computed."""
        np.copyto(self.at.x, middle.x)
        if self._springs:
            for mine, theirs in zip(self.at, middle, strict=True):
                np.copyto(mine, theirs)

    def end(self, step: MoreauStep, contacts: Contacts, fired: IntArray) -> None:
        """At the end: enter the step, then repair it. fired (c,): 1 where a contact was hit with restitution.

        Bodies that nothing touches end with the velocities of the state, all others with those in step.motion."""
        state, loads, h, over, system = step.state, step.loads, step.h, self.over, step.system
        ledger = state.ledger
        if self._joints is not None:
            self._joints.book(step.before.bodies, step.motion.bodies, h, ledger)
        mean_motion(self.model.kind, step.middle, step.start.bodies, step.before.bodies, step.motion.bodies,
                    step.involved, state.bodies, over)
        self.books.forces(loads, self.at, over, h, ledger)
        book_contacts(self.model, over, contacts, step.approach, fired, ledger, self.books.given)
        grab = system.grab
        if grab.body[0] >= 0:
            turns = grab.turn[0] == 1
            push, turn = (NONE, grab.impulse) if turns else (grab.impulse, np.cross(grab.arm, grab.impulse))
            self.books.pull(int(grab.body[0]), push, turn, over, ledger)
        if len(step.motion.v):
            tree_joints(self.model, loads, step.involved, step.start.v, step.before.v, step.motion.v, state.joints.v, h,
                        ledger)
        if system.blocks.count[OTHERS]:
            book_rows(self.model.kind, system.blocks, step.before.q_dot, step.motion.q_dot, ledger)
        self.books.end(state.bodies, ledger)
        if self.floats:
            self.settle(step)

    def settle(self, step: MoreauStep) -> None:
        """Give trees that stand on nothing the momentum that was booked, see `dynamics.trees.momentum`."""
        bodies, joints = step.state.bodies, step.state.joints
        balance(self.model, self._floating_trees, self.books.before, self.books.given, bodies, joints.v)
        place_links(self.model, *joints, step.mechanisms.trees.work, bodies)


@kernel
def mean_motion(kind, middle, start, before, after, involved, end, over_out):
    """Poses in the middle of the step and the mean of the velocities before and after its impulses, which are as in
    Motion.bodies, like `start`, those at its beginning; of links that fly, the mean of those at both ends of the step.
    """
    for i in range(len(kind)):
        put(over_out.x, i, row(middle.x, i))
        for j in range(4):
            over_out.q[i, j] = middle.q[i, j]
        v_0, w_0 = three(before, i, LINEAR), three(before, i, ANGULAR)
        v, w = three(after, i, LINEAR), three(after, i, ANGULAR)
        if involved[i] == 0 and moves(kind, i):
            v, w = row(end.v, i), row(end.w, i)
            if kind[i] == LINK:
                v_0, w_0 = three(start, i, LINEAR), three(start, i, ANGULAR)
        put(over_out.v, i, scale(0.5, add(v_0, v)))
        put(over_out.w, i, scale(0.5, add(w_0, w)))


@kernel
def book_contacts(model, over, contacts, approach, fired, ledger, given):
    """Impulses of contacts. Those that approached faster than the speed that counts as rest had an impact, as their
    event says. All others count as forces over the step, even where they passed an impact on: a step has only one
    impulse per contact.

    At contacts that were hit with restitution, fired (c,) = 1, friction may give energy: Newton's law ζ⁺ = -e ζ⁻ with
    friction that turns the slip around can increase it (Kane's paradox). That comes from the law of impact, as in
    `event_driven`, and is booked with it. Running surfaces are left out: what they do is theirs."""
    for k in range(int(contacts.count[0])):
        a, b, p, n = int(contacts.body_a[k]), int(contacts.body_b[k]), row(contacts.impulse, k), row(contacts.normal, k)
        account = IMPACTS if approach.zeta[k] < -approach.scales[0] else CONTACTS
        add_contact(model, over, a, b, row(contacts.point, k), n, p, account, ledger, given)
        if fired[k] == 1 and not runs(model.motions, a) and not runs(model.motions, b):
            arm_a, arm_b = sub(row(contacts.point, k), row(over.x, a)), sub(row(contacts.point, k), row(over.x, b))
            slip = velocity_between(row(over.v, a), row(over.w, a), arm_a, row(over.v, b), row(over.w, b), arm_b)
            ledger[IMPACTS, 0] += max(dot(axpy(-dot(p, n), n, p), slip), 0.0)


@helper
def runs(motions, i):
    """Whether the surface of body i runs."""
    s, w = row(motions.surface_velocity, i), row(motions.surface_spin, i)
    return dot(s, s) + dot(w, w) > 0.0


@kernel
def tree_joints(model, loads, involved, start, before, solved, end, h, ledger):
    """Work of dampers and motors of trees and of forces put on their joints, at the mean of the velocities (n_v,)
    before all that acts in the middle of the step and after it; of trees that fly, of those at its start and end.
    Dampers are implicit: they act with -h c v⁺."""
    trees, joints = model.trees, model.joints
    for d in range(len(before)):
        l = int(trees.dof_link[d])
        j = int(trees.joint[l])
        flies = involved[trees.body[l]] == 0
        after = end[d] if flies else solved[d]
        mean = 0.5 * ((start[d] if flies else before[d]) + after)
        ledger[SPRINGS, 0] += min(0.0, -h * joints.damping[j] * after * mean)
        if trees.first_v[l + 1] - trees.first_v[l] == 1:
            ledger[JOINTS, 0] += h * joints.motor_force[j] * mean
        if d < len(loads.joint):
            ledger[APPLIED, 0] += h * loads.joint[d] * mean


@kernel
def book_rows(kind, blocks, before, after, ledger):
    """Work of limits and of motors that seek a speed, from q̇ before their impulses and after them. What they give a
    body with a prescribed motion is its own doing."""
    for k in range(int(blocks.count[OTHERS])):
        account = JOINTS if blocks.kind[k] == MOTOR else IMPACTS
        for s in range(blocks.first[k], blocks.seen[k] if blocks.kind[k] >= LIMIT else blocks.first[k]):
            at, e, rate = int(blocks.span[s, PLACE]), int(blocks.span[s, ENTRY]), 0.0
            for d in range(blocks.span[s, WIDTH]):
                rate += blocks.J[e + d, 0] * 0.5 * (before[at + d] + after[at + d])
            work, i = blocks.impulse[k] * rate, at // BODY_SIZE
            ledger[account, 0] += work
            if i < len(kind) and kind[i] == KINEMATIC:
                ledger[DRIVEN, 0] -= work
