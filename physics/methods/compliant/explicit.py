"""The method `compliant` with an explicit tableau: as many substeps as the stiffest contact asks for."""

import numpy as np

from ...core.interruption import look_up
from ...core.model import Array, Model, body_count
from ...core.state import Bodies, JointState
from ...dynamics.constraints.stiffness import JointRates
from ...dynamics.forces import Loads
from ...integrators import Integrator
from .contacts import SoftContacts
from .limits import rate_limits
from .rates import stage
from .stability import FastestMode, substeps_needed, too_stiff
from .substeps import AT_STAGE, DONE, accept, attempt, empty_substep_scratch, make_substeps

AT_ONCE = 5000  # substeps times bodies and contacts of one call of a kernel: some hundredths of a second


class Explicit:
    """Advances bodies and surfaces; scratch memory only."""

    exact = 0  #: 1: contacts keep their mode within a substep
    iterations, residual = 0, 0.0  #: there is nothing to solve

    def __init__(self, model: Model, soft: SoftContacts, integrator: Integrator) -> None:
        self.model, self.soft, self.integrator = model, soft, integrator
        self.substeps = 1
        self.stable = np.inf   #: largest stable step [s] at the start of the step
        self.status = "solved"
        self.fastest = FastestMode(0.0, 0.0)  #: what bounds the step
        self.course = empty_substep_scratch(model, len(integrator.tableau.c))
        self.middle, self.y0, self.k = self.course.middle, self.course.y0, self.course.k
        self.books, self.reactions = self.course.books, self.course.reactions
        self._joint_rates = JointRates(model)
        self._blocks = np.zeros((body_count(model) + 1, 2, 6, 6))
        self._times: Array = np.zeros(0)  # ends of the substeps made last [s], the start first

    def begin(self, bodies: Bodies, joints: JointState, asked: int, h: float) -> str:
        """Find what bounds a step of h [s] from here; why it cannot be made, "" where it can. In the substeps asked for
        it always can."""
        self.carry(joints, self.course.joints)
        self.fastest = self.limits(bodies)
        self.stable = self.fastest.step(self.integrator)
        if asked or not too_stiff(self.integrator, h, self.fastest):
            return ""
        return f"{self.integrator.name} would need {h / self.stable:.0e} substeps" if self.stable > 0.0 else (
            f"no substeps of {self.integrator.name} are short enough")

    def advance(self, bodies: Bodies, joints: JointState, loads: Loads, asked: int, t: float, h: float) -> None:
        """From t [s] over h [s] in the substeps asked for, or as many as stability needs where that is 0."""
        self.substeps = asked or substeps_needed(self.integrator, h, self.fastest)
        self.status = "solved"
        if h > self.stable * self.substeps:
            several = "substeps are" if self.substeps > 1 else "substep is"
            self.status = f"{self.substeps} {several} too few"
        self.make(self.substeps, bodies, loads, t, h)
        self.carry(self.course.joints, joints)

    def hold(self, bodies: Bodies, joints: JointState, loads: Loads, t: float, h: float) -> None:
        """From t [s] over h [s] in one substep in which all contacts keep their modes."""
        soft = self.soft
        self.reactions.haste[0] = 1.0 / h
        soft.settle(bodies, t, exact=1)
        while not attempt(self.model, loads, self.integrator.tableau, np.int64(1), t, h, soft.system, self.course,
                          bodies, bodies):
            soft.look(self.middle)
            soft.look(bodies)
        self.take(h)
        soft.look(bodies)
        soft.settle(bodies, t + h, exact=1)
        self.substeps, self.status, self._times = 1, "solved", np.zeros(0)
        self.carry(self.course.joints, joints)

    def make(self, count: int, bodies: Bodies, loads: Loads, t: float, h: float) -> None:
        """So many substeps from t [s] over h [s]."""
        soft, made = self.soft, 0
        if count >= len(self.course.energy):
            self.course = self.course._replace(energy=np.zeros(2 * count + 1))
        self._times = t + h / count * np.arange(count + 1, dtype=np.float64)
        self.reactions.haste[0] = count / h
        while made <= count:
            look_up()
            size = body_count(self.model) + int(soft.contacts.count[0])
            last = min(count, made + max(1, AT_ONCE // max(1, size)))  # beginning anew at a substep changes nothing
            made, why = make_substeps(self.model, loads, self.integrator.tableau, made, last, t, h / count,
                                      soft.system, self.course, bodies)
            if why == DONE and last < count:
                made = last
            if why == AT_STAGE:
                soft.look(self.middle)
            if why != DONE:
                soft.look(bodies)

    def energies(self) -> tuple[Array, Array]:
        """Energy of the system within the step just made: instants (k,) [s], in order, and energies (k,) [J]."""
        return self._times, self.course.energy[: len(self._times)]

    def carry(self, source: JointState, target: JointState) -> None:
        """Copy coordinates of links."""
        target.q[:], target.v[:] = source

    def limits(self, bodies: Bodies) -> FastestMode:
        """What bounds the step."""
        course = self.course
        square, damping, recovery, turning = rate_limits(self.model, self.soft.system, bodies, course.stops,
                                                         course.joints.q, self._blocks)
        of_springs, of_dampers = self._joint_rates(bodies, course.joints.q)
        return FastestMode(square + of_springs, damping + of_dampers, recovery, turning)

    def try_step(self, bodies: Bodies, loads: Loads, t: float, h: float, out: Bodies) -> None:
        """All stages from t [s], and the end of the step in `out` and the work arrays z and x."""
        soft = self.soft
        while not attempt(self.model, loads, self.integrator.tableau, self.exact, t, h, soft.system, self.course,
                          bodies, out):
            soft.look(self.middle)
            soft.look(bodies)

    def take(self, h: float) -> None:
        """Accept the surfaces and the coordinates of links of the step just tried."""
        accept(self.integrator.tableau, h, self.soft.system, self.course)

    def weigh(self, weights_x: Array, weights_p: Array, part: float, t: float, h: float) -> None:
        """The stage at a part of the step, y_0 + h Σ w_j k_j, in `middle` and the work arrays z and x."""
        stage(self.model, weights_x, weights_p, part, t, h, self.soft.system, self.course, self.middle)
