"""The method `compliant` with an explicit tableau: as many substeps as the stiffest contact asks for. `march` makes
them; what is here helps where it comes back to Python."""

import numpy as np

from ...core.model import Array, Model, body_count
from ...core.state import Bodies, JointState
from ...dynamics.constraints.stiffness import JointRates
from ...dynamics.forces import Loads
from ...dynamics.trees.rates import TreeScratch
from ...integrators import Integrator
from .books import SoftBooks
from .contacts import SoftContacts
from .leaps import RATE
from .limits import rate_limits
from .rates import stage
from .stability import MOST_SUBSTEPS, FastestMode, learn, step_limits
from .substeps import Substeps, SubstepScratch, accept, attempt, empty_substep_scratch

AT_ONCE = 5000  # substeps times bodies and contacts of one call of a kernel: some hundredths of a second


class Explicit:
    """Advances bodies and surfaces; scratch memory only."""

    exact = 0  #: 1: contacts keep their mode within a substep
    iterations, residual, status = 0, 0.0, "solved"  #: there is nothing to solve

    def __init__(self, model: Model, soft: SoftContacts, books: SoftBooks, integrator: Integrator) -> None:
        self.model, self.soft, self.integrator = model, soft, integrator
        self.substeps = 1      #: of the step made last
        self.even = False      #: whether these were of one length
        self.stable = np.inf   #: largest stable step [s] at the start of the step
        scratch = empty_substep_scratch(model, books, len(integrator.tableau.c), MOST_SUBSTEPS)
        self.made = Substeps(scratch, integrator.tableau, step_limits(integrator.name),
                             np.zeros((body_count(model) + 1, 2, 6, 6)), np.zeros(2))
        self.middle, self.y0, self.k, self.reactions = scratch.middle, scratch.y0, scratch.k, scratch.reactions
        self._joint_rates = JointRates(model)

    @property
    def course(self) -> SubstepScratch:
        """Of the substeps."""
        return self.made.scratch

    @property
    def trees(self) -> TreeScratch:
        """Scratch of trees."""
        return self.course.trees

    @property
    def sprung(self) -> bool:
        """Whether springs or dampers of joints bound a step."""
        return self._joint_rates.any

    def allow(self, asked: int) -> None:
        """Room for so many substeps."""
        if asked >= len(self.course.energy):
            self.made = self.made._replace(scratch=self.course._replace(energy=np.zeros(asked + 1)))

    def find_joint_rates(self, bodies: Bodies) -> None:
        """What the springs and dampers of joints ask for, at these poses and the positions in the scratch."""
        self.made.of_joints[:] = self._joint_rates(bodies, self.course.joints.q)

    def learn(self, place: int) -> None:
        """Find what the integrator keeps stable at this place of its table."""
        learn(self.integrator.name, place)

    def advance(self, bodies: Bodies, joints: JointState, loads: Loads, asked: int, t: float, h: float) -> None:
        """From t [s] over h [s] in one substep in which all contacts keep their modes."""
        soft = self.soft
        self.reactions.haste[0] = 1.0 / h
        soft.settle(bodies, t, exact=1)
        self.try_step(bodies, loads, t, h, bodies, exact=1)
        self.take(h)
        soft.look(bodies)
        soft.work.settled[:, RATE] = np.inf  # what it comes to is no leap: free surfaces stay free
        soft.settle(bodies, t + h, exact=1)
        self.substeps, self.even = 1, False
        self.carry(self.course.joints, joints)

    def energies(self, start: float, h: float) -> tuple[Array, Array]:
        """Energy of the system within the step just made, which began at `start` [s] and is h [s] long: instants (k,)
        [s], in order, and energies (k,) [J]."""
        if not self.even:
            return np.zeros(0), np.zeros(0)
        ends = np.arange(self.substeps + 1, dtype=np.float64)
        return start + h / self.substeps * ends, self.course.energy[: len(ends)]

    def begin_at(self, joints: JointState) -> None:
        """Where links are as a part of a step begins."""
        self.carry(joints, self.course.joints)

    def carry(self, source: JointState, target: JointState) -> None:
        """Copy coordinates of links."""
        target.q[:], target.v[:] = source

    def limits(self, bodies: Bodies) -> FastestMode:
        """What bounds the step."""
        made, course = self.made, self.course
        square, damping, recovery, turning = rate_limits(self.model, self.soft.system, bodies, course.stops,
                                                         course.joints.q, made.blocks)
        self.find_joint_rates(bodies)
        of_springs, of_dampers = made.of_joints.tolist()
        return FastestMode(square + of_springs, damping + of_dampers, recovery, turning)

    def try_step(self, bodies: Bodies, loads: Loads, t: float, h: float, out: Bodies, exact: int) -> None:
        """All stages from t [s], and the end of the step in `out` and the work arrays z and x."""
        soft = self.soft
        while not attempt(self.model, loads, self.integrator.tableau, exact, t, h, soft.system, self.course, bodies,
                          out):
            soft.look(self.middle)
            soft.look(bodies)

    def take(self, h: float) -> None:
        """Accept the surfaces and the coordinates of links of the step just tried."""
        accept(self.integrator.tableau, h, self.soft.system, self.course)

    def weigh(self, weights_x: Array, weights_p: Array, part: float, t: float, h: float) -> None:
        """The stage at a part of the step, y_0 + h Σ w_j k_j, in `middle` and the work arrays z and x."""
        stage(self.model, weights_x, weights_p, part, t, h, self.soft.system, self.course, self.middle)
