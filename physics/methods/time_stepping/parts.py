"""What a Moreau–Jean step works on, and the verbs of its parts: free bodies, trees, joints in maximal coordinates."""

import numpy as np

from ...core.jit import kernel
from ...core.model import IntArray, Model, body_count
from ...core.state import Bodies, State, empty_state
from ...dynamics.constraints.reactions import Reactions, reactions_of
from ...dynamics.forces import Loads, empty_loads
from ...dynamics.trees.rates import empty_tree_scratch
from ...problem.assemble import Approach, empty_approach
from ...problem.joint_rows import JointBounds, bounds_of
from ...problem.mechanisms import Mechanisms, mechanisms_of
from ...problem.system import ANGULAR, LINEAR, Blocks, Motion, System, empty_blocks, empty_motion, empty_system


class MoreauStep:
    """The arrays of one step; scratch memory, apart from the state and the loads that it is given."""

    state: State
    h: float          #: [s]
    cure: str         #: of joints in maximal coordinates, see `dynamics.constraints.cure`

    def __init__(self, model: Model) -> None:
        n, n_v = body_count(model), int(model.trees.first_v[-1])
        self.model = model
        self.loads: Loads = empty_loads(n, n_v)
        self.middle: Bodies = empty_state(n).bodies          #: poses and momenta in the middle of the step
        self.flight: Bodies = empty_state(n).bodies          #: the end of the step of bodies that nothing touches
        self.fraction = np.ones(n)                           #: (n,) part of its way that a body goes
        self.force, self.torque = np.zeros((n, 3)), np.zeros((n, 3))
        self.start: Motion = empty_motion(n, n_v)     #: velocities at the beginning; only with trees, limits or motors
        self.before: Motion = empty_motion(n, n_v)    #: velocities in the middle before all impulses
        self.shift: Motion = empty_motion(n, n_v)     #: displacements that take out overlap
        self.involved: IntArray = np.zeros(n, np.int32)      #: (n,) 1 for bodies that something may push
        self.reactions: Reactions = reactions_of(model, soft=True)
        self.mechanisms: Mechanisms = mechanisms_of(model, self.reactions, empty_tree_scratch(model.trees))
        self.passes_on = bool(self.mechanisms.bound.any())   #: whether any contact can need a block
        self.bounds: JointBounds = bounds_of(model)          #: limits and motors of joints
        self.bounded = any(len(axes.joint) > 0 for axes in self.bounds)
        self.system: System
        self.approach: Approach
        self.need, self.need_rows = np.zeros((0, 2)), np.zeros((0, 2))
        self._motion = empty_motion(n, n_v)
        self._blocks: Blocks = empty_blocks(1, 2, 12)
        self.make_room(64)
        self.make_blocks()

    @property
    def motion(self) -> Motion:
        """Velocities in the middle with all impulses so far."""
        return self._motion

    def note_start(self) -> None:
        """Velocities at the beginning, in the form of the others."""
        bodies, start = self.state.bodies, self.start
        start.bodies[:, LINEAR : LINEAR + 3], start.bodies[:, ANGULAR : ANGULAR + 3] = bodies.v, bodies.w
        start.v[:] = self.state.joints.v

    def make_room(self, contacts: int) -> None:
        """Room for so many contacts."""
        self.system = empty_system(self._motion, contacts, self._blocks)
        self.approach = empty_approach(contacts)
        self.need = np.zeros((contacts, 2))

    def make_blocks(self) -> None:
        """Twice the room for blocks, and at least for one of the mouse on the largest mechanism."""
        old, m = self._blocks, self.mechanisms
        parts = int(np.diff(m.first).max(initial=1))
        self._blocks = empty_blocks(2 * len(old.kind), 2 * max(len(old.span), parts),
                                    2 * max(len(old.J), int(m.size.max(initial=1))))
        self.need_rows = np.zeros((len(self._blocks.kind), 2))
        self.system = self.system._replace(blocks=self._blocks)


class Part:
    """Free bodies, trees or joints in maximal coordinates: what each does in a step, stage by stage."""

    def half(self, step: MoreauStep) -> None:
        """Poses in the middle of the step, with the velocity so far."""

    def load(self, step: MoreauStep) -> None:
        """Forces there."""

    def free(self, step: MoreauStep) -> None:
        """Velocities after the step if no contact, limit, motor or mouse acted."""

    def finish(self, step: MoreauStep) -> None:
        """Momenta after the step, with all impulses."""

    def end(self, step: MoreauStep) -> None:
        """Poses at the end of the step, with the velocity after it."""


@kernel
def go_together(mechanisms, values_in_out):
    """The bodies of a mechanism go as far as the first of them may: values (n,) become the least of their mechanism."""
    least = np.full(len(mechanisms.mass), np.inf)
    for i in range(len(values_in_out)):
        m = int(mechanisms.of_body[i])
        if m >= 0:
            least[m] = min(least[m], values_in_out[i])
    for i in range(len(values_in_out)):
        m = int(mechanisms.of_body[i])
        if m >= 0:
            values_in_out[i] = least[m]
