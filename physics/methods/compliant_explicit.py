"""A substep of the method `compliant` with an explicit tableau: the contacts are found anew at every stage."""

import numpy as np

from contactlab.physics.dynamics.forces import Loads
from contactlab.physics.dynamics.free_body import Y_SIZE, dydt, pack
from contactlab.physics.integrators import Integrator
from contactlab.physics.methods.compliant_contacts import SoftContacts
from contactlab.physics.methods.compliant_grab import pull
from contactlab.physics.methods.compliant_rates import contact_rates, finish, rate_limits, recovery_loss, stage
from contactlab.physics.model import Array, Model, body_count
from contactlab.physics.soft_stability import stable_step, substeps_needed
from contactlab.physics.state import Bodies, empty_state


class Explicit:
    """Advances bodies and surfaces; scratch memory only."""

    exact = 0  #: 1: contacts keep their mode within a substep

    def __init__(self, model: Model, soft: SoftContacts, integrator: Integrator) -> None:
        n, stages = body_count(model), len(integrator.tableau.c)
        self.model, self.soft, self.integrator = model, soft, integrator
        self.substeps = 1
        self.middle = empty_state(n).bodies  #: the stage
        self.force, self.torque = np.zeros((n, 3)), np.zeros((n, 3))
        self.y0, self.k = np.zeros((n, Y_SIZE)), np.zeros((stages, n, Y_SIZE))
        self._share = np.zeros((n, 2))

    def advance(self, bodies: Bodies, loads: Loads, closed: int, asked: int, t: float, h: float) -> None:
        """From t [s] over h [s] in the substeps asked for, or as many as stability needs where that is 0."""
        self.substeps = asked or substeps_needed(self.integrator, h, *self.limits(bodies, closed))
        self.soft.settle(bodies)
        length = h / self.substeps
        for i in range(self.substeps):
            self.try_step(bodies, loads, closed, t + i * length, length, bodies)
            self.take(closed, length)
            self.soft.look(bodies)
            self.soft.settle(bodies)

    def limits(self, bodies: Bodies, closed: int) -> tuple[float, float, float]:
        """ω², damping rate and recovery rate that bound the step, see `rate_limits`."""
        soft = self.soft
        return rate_limits(self.model, soft.contacts, soft.slot, soft.surfaces, soft.work.units, soft.code, closed,
                           bodies, self._share)

    def stable(self, bodies: Bodies, closed: int) -> float:
        """Largest stable step [s]."""
        square, damping, _ = self.limits(bodies, closed)
        return stable_step(self.integrator, square, damping)

    def try_step(self, bodies: Bodies, loads: Loads, closed: int, t: float, h: float, out: Bodies) -> None:
        """All stages from t [s], and the end of the step in `out` (may be `bodies`) and the work arrays z and x."""
        model, soft, a = self.model, self.soft, self.integrator.tableau
        pack(bodies, self.y0)
        for i, c in enumerate(a.c.tolist()):
            self.weigh(a.a_x[i], a.a_p[i], i, c, t, h, closed, self.middle)
            if a.a_x[i].any():  # else nothing has moved
                soft.look(self.middle)
            dydt(model, loads, t + c * h, self.middle, self.force, self.torque, self.k[i])
            if loads.grab_body[0] >= 0:
                pull(loads, model.mass, model.inv_mass, model.inv_inertia, self.middle, self.k[i])
            w = soft.work
            w.loss[i] = contact_rates(
                model, soft.contacts, soft.slot, soft.code, closed, self.exact, soft.surfaces, w.units, w.friction,
                self.middle, w.z, w.x, self.k[i], w.z_rate[i], w.x_rate[i], w.force[i])
        self.weigh(a.b_x, a.b_p, len(a.c), 1.0, t, h, closed, out)

    def take(self, closed: int, h: float) -> None:
        """Accept the surfaces of the step just tried."""
        soft = self.soft
        if closed:
            soft.surfaces.dissipated[0] += recovery_loss(soft.code, h, soft.surfaces, soft.work.units)
        finish(self.integrator.tableau.b_p, h, soft.surfaces, soft.work)

    def weigh(
        self, weights_x: Array, weights_p: Array, stages: int, c: float, t: float, h: float, closed: int, out: Bodies,
    ) -> None:
        """Bodies and surfaces of y_0 + h Σ w_j k_j."""
        soft, work = self.soft, self.soft.work
        stage(self.model, weights_x, weights_p, stages, c, t, h, self.y0, self.k, soft.code, closed, soft.surfaces,
              work.units, work.z_rate, work.x_rate, out, work.z, work.x)
