"""The method `compliant` with an explicit tableau: as many substeps as the stiffest contact asks for."""

import numpy as np

from ...core.model import Array, Model, body_count
from ...core.state import Bodies, JointState
from ...dynamics.forces import Loads
from ...integrators import Integrator
from .contacts import SoftContacts
from .limits import rate_limits
from .rates import stage
from .stability import FastestMode, substeps_needed
from .substeps import AT_STAGE, DONE, attempt, conclude, empty_course, make_substeps


class Explicit:
    """Advances bodies and surfaces; scratch memory only."""

    exact = 0  #: 1: contacts keep their mode within a substep
    iterations, residual = 0, 0.0  #: there is nothing to solve

    def __init__(self, model: Model, soft: SoftContacts, integrator: Integrator) -> None:
        self.model, self.soft, self.integrator = model, soft, integrator
        self.substeps = 1
        self.stable = np.inf   #: largest stable step [s] at the start of the step
        self.status = "solved"
        self.course = empty_course(model, len(integrator.tableau.c))
        self.middle, self.y0, self.k = self.course.middle, self.course.y0, self.course.k
        self.books, self.reactions = self.course.books, self.course.reactions
        self._blocks = np.zeros((body_count(model) + 1, 2, 6, 6))

    def advance(
        self, bodies: Bodies, joints: JointState, loads: Loads, closed: int, asked: int, t: float, h: float
    ) -> None:
        """From t [s] over h [s] in the substeps asked for, or as many as stability needs where that is 0."""
        self.carry(joints, self.course.joints)
        limits = self.limits(bodies, closed)
        self.stable = limits.step(self.integrator)
        self.substeps = asked or substeps_needed(self.integrator, h, limits)
        self.status = "solved"
        if h > self.stable * self.substeps:
            several = "substeps are" if self.substeps > 1 else "substep is"
            self.status = f"{self.substeps} {several} too few"
        self.make(self.substeps, bodies, loads, closed, t, h)
        self.carry(self.course.joints, joints)

    def make(self, count: int, bodies: Bodies, loads: Loads, closed: int, t: float, h: float) -> None:
        """So many substeps from t [s] over h [s]."""
        soft, made, why = self.soft, 0, AT_STAGE
        self.reactions.haste[0] = count / h
        while why != DONE:
            made, why = make_substeps(
                self.model, loads, self.integrator.tableau, soft.detector.near, soft.code, closed, made, count, t,
                h / count, soft.contacts, soft.slot, soft.surfaces, soft.work, self.course, bodies)
            if why == AT_STAGE:
                soft.look(self.middle)
            if why != DONE:
                soft.look(bodies)

    def carry(self, source: JointState, target: JointState) -> None:
        """Copy coordinates of links."""
        target.q[:], target.v[:] = source

    def limits(self, bodies: Bodies, closed: int) -> FastestMode:
        """What bounds the step."""
        soft = self.soft
        return FastestMode(*rate_limits(self.model, soft.contacts, soft.slot, soft.surfaces, soft.work, soft.code,
                                        closed, bodies, self.course.stops, self.course.joints.q, self._blocks))

    def try_step(self, bodies: Bodies, loads: Loads, closed: int, t: float, h: float, out: Bodies) -> None:
        """All stages from t [s], and the end of the step in `out` and the work arrays z and x."""
        soft = self.soft
        while not attempt(self.model, loads, self.integrator.tableau, soft.detector.near, soft.code, closed, self.exact,
                          t, h, soft.contacts, soft.slot, soft.surfaces, soft.work, self.course, bodies, out):
            soft.look(self.middle)
            soft.look(bodies)

    def take(self, closed: int, h: float) -> None:
        """Accept the surfaces and the coordinates of links of the step just tried."""
        conclude(self.integrator.tableau, self.soft.code, closed, h, self.soft.surfaces, self.soft.work, self.course)

    def weigh(
        self, weights_x: Array, weights_p: Array, stages: int, c: float, t: float, h: float, closed: int, out: Bodies,
    ) -> None:
        """Bodies and surfaces of y_0 + h Σ w_j k_j."""
        trees = self.course.trees
        stage(self.model, weights_x, weights_p, stages, c, t, h, self.y0, self.k, self.soft.code, closed,
              self.soft.surfaces, self.soft.work, trees, out, trees.q, trees.v)
