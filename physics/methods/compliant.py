"""`compliant`: bodies with massless springy surfaces, RBDA §11.8.

    p = z   f_n = max(0, -K_n z - D_n ṗ)          while body and surface touch; ż = -(K_n z + f_n)/D_n
    p > z   f_n = 0,  z = z_0 e^(-K_n t/D_n)        the surface recovers                       [RBDA eqs. 11.73–11.76]
    f_t = -K_t x - D_t v within |f_t| <= μ f_n,   ẋ = -(K_t x + f_t)/D_t                      [RBDA eqs. 11.77–11.79]

The forces follow from positions and velocities alone, so there are no impacts and no contact problem to solve: contacts
are found anew at every stage of the integrator, and their forces go into its right-hand side. An explicit integrator
makes as many substeps as the stiffest contact asks for.

What `contacts` says: gap is p of the undeformed shapes; current = the surface touches (p = z), active = it pushes.
"""

from typing import ClassVar

import numpy as np

from contactlab.physics.diagnostics import measure
from contactlab.physics.dynamics.forces import Loads
from contactlab.physics.dynamics.free_body import dydt, pack
from contactlab.physics.events import EventFinder
from contactlab.physics.integrators import INTEGRATORS, Integrator
from contactlab.physics.ledger import Account
from contactlab.physics.messages import Event, Settings, StepInfo
from contactlab.physics.methods.compliant_contacts import SoftContacts
from contactlab.physics.methods.compliant_rates import (
    contact_rates,
    finish,
    rate_limits,
    recovery_loss,
    report,
    stage,
)
from contactlab.physics.methods.moreau import reach, remember
from contactlab.physics.methods.time_stepping import TimeStepping
from contactlab.physics.model import Array, Model, body_count
from contactlab.physics.problem import ContactProblem
from contactlab.physics.soft_stability import substeps_needed
from contactlab.physics.state import Bodies, Contacts, Owner, State, empty_contacts, empty_state, grow_memory

REST = 2.0        # approach speed that counts as rest, in units of g h
SMALLEST = 1e-6   # m and m/s: lengths and speeds that count as zero even without gravity


class Compliant:
    """METHODS["compliant"]. Holds scratch memory only; all that matters later is in the State."""

    title: ClassVar[str] = "Compliant surfaces (soft)"
    uses: ClassVar[frozenset[str]] = frozenset({"law", "surface", "substeps"})

    def __init__(self, model: Model) -> None:
        n = body_count(model)
        self.model = model
        self.soft = SoftContacts(model)
        self.contacts: Contacts = empty_contacts(0)
        self.info = StepInfo()
        self.events: list[Event] = []
        self.substeps = 0  #: of the last step
        self._finder = EventFinder(model.shapes.body)
        self._stage = empty_state(n).bodies
        self._force, self._torque = np.zeros((n, 3)), np.zeros((n, 3))
        self._y0, self._k = np.zeros((n, 13)), np.zeros((1, n, 13))
        self._margin, self._share = np.zeros(n), np.zeros((n, 2))

    def step(self, state: State, loads: Loads, settings: Settings) -> None:
        """Advance the state in place by settings.h [s]."""
        h, integrator = settings.h, INTEGRATORS[settings.integrator]
        before = measure(self.model, state.bodies)[0].total
        self._begin(state, settings, integrator)
        spent = float(self.soft.surfaces.dissipated[0])
        self.substeps = self._count(state, settings, integrator)
        for i in range(self.substeps):
            self._advance(state.bodies, loads, settings, integrator, float(state.t[0]) + i * h / self.substeps)
        state.t[0] += h
        self._report(state, h, before)
        state.ledger[Account.SURFACES, 0] -= self.info.dissipated - spent
        state.ledger[Account.STORED, 0] = -self.info.stored

    def problem(self, state: State, loads: Loads, settings: Settings) -> ContactProblem:
        """The rigid contact problem of this instant: what the compliant surfaces stand in for."""
        return TimeStepping(self.model).problem(state, loads, settings)

    def _begin(self, state: State, settings: Settings, integrator: Integrator) -> None:
        """Contacts that may touch within the step, and their surfaces."""
        stages = len(integrator.tableau.c)
        if len(self._k) != stages:
            self._k = np.zeros((stages, len(self._y0), 13))
        g = float(np.linalg.norm(self.model.gravity))
        detector = self.soft.detector
        span = np.where(np.isfinite(detector.span), detector.span, 0.0)
        reach(self.model.kind, state.bodies, span, g * settings.h**2 + SMALLEST, settings.h, self._margin)
        self.soft.begin(state, settings.law, stages, self._margin)
        self.soft.settle(state.bodies)

    def _count(self, state: State, settings: Settings, integrator: Integrator) -> int:
        """Substeps: those asked for, or as many as stability of the stiffest contact needs."""
        if settings.substeps > 0:
            return settings.substeps
        soft = self.soft
        closed = int(settings.surface == "closed_form")
        limits = rate_limits(self.model, soft.contacts, soft.slot, soft.surfaces, soft.work.units, soft.code, closed,
                             state.bodies, self._share)
        return substeps_needed(integrator, settings.h, *limits)

    def _advance(self, bodies: Bodies, loads: Loads, settings: Settings, integrator: Integrator, t: float) -> None:
        """One substep from t [s]: the integrator's stages, each with the contacts at its own poses."""
        model, soft, a = self.model, self.soft, integrator.tableau
        h, stages = settings.h / self.substeps, len(a.c)
        closed = int(settings.surface == "closed_form")
        pack(bodies, self._y0)
        for i, c in enumerate(a.c.tolist()):
            self._to_stage(a.a_x[i], a.a_p[i], i, c, t, h, closed, self._stage)
            if a.a_x[i].any():  # else nothing has moved
                soft.look(self._stage)
            dydt(model, loads, t + c * h, self._stage, self._force, self._torque, self._k[i])
            w = soft.work
            w.loss[i] = contact_rates(
                model, soft.contacts, soft.slot, soft.code, closed, 0, soft.surfaces, w.units, w.friction,
                self._stage, w.z, w.x, self._k[i], w.z_rate[i], w.x_rate[i], w.force[i])
        self._to_stage(a.b_x, a.b_p, stages, 1.0, t, h, closed, bodies)
        if closed:
            soft.surfaces.dissipated[0] += recovery_loss(soft.code, h, soft.surfaces, soft.work.units)
        finish(a.b_p, h, soft.surfaces, soft.work)
        soft.look(bodies)
        soft.settle(bodies)

    def _to_stage(
        self, weights_x: Array, weights_p: Array, stages: int, c: float, t: float, h: float, closed: int, out: Bodies,
    ) -> None:
        soft, work = self.soft, self.soft.work
        stage(self.model, weights_x, weights_p, stages, c, t, h, self._y0, self._k, soft.code, closed, soft.surfaces,
              work.units, work.z_rate, work.x_rate, out, work.z, work.x)

    def _report(self, state: State, h: float, energy_before: float) -> None:
        """Contacts, events and memory of the step."""
        model, soft, memory, bodies = self.model, self.soft, state.memory, state.bodies
        g = float(np.linalg.norm(model.gravity))
        rest_speed = REST * g * h + SMALLEST
        self.contacts, count = soft.contacts, int(soft.contacts.count[0])
        approach, zeros = np.zeros(count), np.zeros(count, np.int32)
        deepest = report(model, self.contacts, soft.slot, bodies, soft.surfaces, soft.work, rest_speed, h, approach)
        energy_after = measure(model, bodies)[0].total
        self.events = self._finder.find(
            self.contacts, memory, approach, rest_speed, bodies.x, float(state.t[0]), energy_before, energy_after)
        grow_memory(memory, count)
        memory.owner[0] = Owner.COMPLIANT
        remember(self.contacts, zeros, model.kind, bodies.x, memory)
        soft.end(state)
        self.info = StepInfo(
            contacts=count, pairs=soft.detector.pair_count, penetration=float(deepest), substeps=self.substeps,
            stored=soft.stored(), dissipated=float(soft.surfaces.dissipated[0]))
