"""Implicit steps of the method `compliant`: every stage of a singly diagonal tableau is one implicit Euler step.

With g = γ h and the stage's start *, a stage asks for velocities u = (v, ω) of the bodies with

    M u = P* + g F(q, u),   q = q* ⊕ g u        (momenta, gyroscopic and applied forces included)

The surfaces are eliminated: z = z* + g ż with K z + D ż + f = 0 and 0 <= f ⊥ p - z >= 0 give f as a continuous function
of p, f = max(0, (Σ c_i D_i z_i*/g - p)/Σ c_i), c_i = 1/(K_i + D_i/g), and likewise f_t of the slip. So a touch within a
stage is no jump, and Newton's method on the velocities finds the stage whatever the stiffness.
"""

from typing import Any

import numpy as np

from contactlab.physics.dynamics.forces import Loads
from contactlab.physics.dynamics.free_body import Y_SIZE, dydt, momentum_from_velocity, pack
from contactlab.physics.dynamics.joint_reactions import reactions_of
from contactlab.physics.dynamics.motion import drive
from contactlab.physics.integrators import Integrator
from contactlab.physics.methods.compliant_contacts import SoftContacts
from contactlab.physics.methods.compliant_grab import pull
from contactlab.physics.methods.compliant_ledger import empty_stage_books, hold_pull, note_stage, take_stages
from contactlab.physics.methods.compliant_newton import (
    Newton,
    empty_newton,
    fill_matrix,
    implicit_forces,
    move,
    residual,
    start_stage,
    take_stage,
)
from contactlab.physics.methods.compliant_rates import FREE, STICKS, finish
from contactlab.physics.model import BodyKind, Model, body_count
from contactlab.physics.state import NO_COORDINATES, Bodies, JointState, empty_state

ENOUGH = 1e-12     # change of velocities that ends the iteration, relative to the fastest or 1 m/s
STALLED = 1e-8     # the same where the changes no longer become smaller: rounding of K p
MOST = 60          # iterations of one stage
DENSE = 300        # unknowns up to which a dense factorisation is faster


class Implicit:
    """Advances bodies and surfaces; scratch memory only."""

    def __init__(self, model: Model, soft: SoftContacts, integrator: Integrator) -> None:
        n, stages = body_count(model), len(integrator.tableau.c)
        self.model, self.soft, self.integrator = model, soft, integrator
        self.books, self.held = empty_stage_books(model, stages), reactions_of(model, 0)  # no joint is allowed
        self.substeps = 1
        self.stable = np.inf   #: any step is
        self.status = "solved"
        self.iterations = 0    #: Newton steps of the last step
        self.residual = 0.0    #: last change of a velocity in the worst stage [m/s]
        self.middle = empty_state(n).bodies
        self.force, self.torque = np.zeros((n, 3)), np.zeros((n, 3))
        self.y0, self.k, self.base = np.zeros((n, Y_SIZE)), np.zeros((stages, n, Y_SIZE)), np.zeros((n, Y_SIZE))
        self.rate = np.zeros((n, Y_SIZE))
        moving = np.flatnonzero(model.kind == BodyKind.DYNAMIC)
        self.place = np.full(n, -1, np.int32)
        self.place[moving] = np.arange(len(moving))
        self.size = 6 * len(moving)
        self.newton: Newton = empty_newton(16, self.size)

    def advance(
        self, bodies: Bodies, joints: JointState, loads: Loads, closed: int, asked: int, t: float, h: float
    ) -> None:
        """From t [s] over h [s] in the substeps asked for, one where that is 0. Surfaces are always integrated."""
        self.substeps = asked or 1
        self.iterations, self.residual, self.status = 0, 0.0, "solved"
        length = h / self.substeps
        for i in range(self.substeps):
            self.step(bodies, loads, t + i * length, length)
            self.soft.look(bodies)
        self.soft.settle(bodies, exact=0)

    def step(self, bodies: Bodies, loads: Loads, t: float, h: float) -> None:
        """One step: the last stage is its end."""
        a, soft = self.integrator.tableau, self.soft
        self.soft.settle(bodies, exact=0)
        pack(bodies, self.y0)
        for i, c in enumerate(a.c.tolist()):
            start_stage(a.a_x[i], i, h, self.y0, self.k, soft.surfaces, soft.work, self.base)
            self.solve(bodies if i == 0 else self.middle, loads, t + c * h, float(a.a_x[i, i]) * h, i)
        for target, source in zip(bodies, self.middle, strict=True):
            target[:] = source
        start_stage(a.b_x, len(a.c), h, self.y0, self.k, soft.surfaces, soft.work, self.base)  # surfaces at the end
        finish(a.b_p, h, soft.surfaces, soft.work)
        take_stages(a.b_p, h, self.books)
        count = int(soft.surfaces.count[0])
        pushed = soft.work.force[len(a.c) - 1, :count].any(axis=1)
        soft.surfaces.mode[:count] = np.where(pushed, STICKS, FREE)

    def solve(self, guess: Bodies, loads: Loads, t: float, g: float, row: int) -> None:
        """Newton's method for stage `row` at time t, from the velocities of `guess`; leaves it in middle and k[row]."""
        model, soft, middle = self.model, self.soft, self.middle
        if guess is not middle:
            middle.v[:], middle.w[:] = guess.v, guess.w
        best = np.inf
        for _ in range(MOST):
            self.iterations += 1
            change = self.newton_step(loads, t, g, row)
            speed = max(1.0, float(np.abs(middle.v).max(initial=0.0)))
            if change <= ENOUGH * speed or (change <= STALLED * speed and change > 0.5 * best):
                best = min(best, change)
                break
            best = min(best, change)
        else:
            self.status = "iterations"
        self.residual = max(self.residual, best)
        drive(model, t, middle)
        move(model.kind, self.base, g, middle)
        momentum_from_velocity(model, middle)
        soft.look(middle)
        self.evaluate(loads, t, g, row)
        note_stage(model, loads, middle, soft.contacts, soft.slot, soft.work, 0.0, 0.0, NO_COORDINATES.v,
                   self.held, np.int64(row), self.books)
        take_stage(model.kind, self.base, g, middle, self.rate, self.k[row])

    def evaluate(self, loads: Loads, t: float, g: float, row: int) -> None:
        """Rates of P and L at `middle` in self.rate, and the surfaces of the stage."""
        model, soft, w = self.model, self.soft, self.soft.work
        dydt(model, loads, t, self.middle, self.force, self.torque, self.rate)
        if loads.grab_body[0] >= 0:
            hold_pull(loads, self.rate, -1.0, self.books)
            pull(loads, model.mass, model.inv_mass, model.inv_inertia, self.middle, self.rate)
            hold_pull(loads, self.rate, 1.0, self.books)
        if len(soft.contacts.gap) > len(self.newton.stiffness):
            self.newton = empty_newton(len(soft.contacts.gap), self.size)
        implicit_forces(model, soft.contacts, soft.slot, soft.code, g, row, soft.surfaces, w, self.middle, self.rate,
                        self.newton.stiffness)

    def newton_step(self, loads: Loads, t: float, g: float, row: int) -> float:
        """Improve the velocities of `middle` once; the largest change [m/s]."""
        model, soft, middle, newton = self.model, self.soft, self.middle, self.newton
        drive(model, t, middle)
        move(model.kind, self.base, g, middle)
        momentum_from_velocity(model, middle)
        soft.look(middle)
        self.evaluate(loads, t, g, row)
        newton = self.newton
        residual(self.place, self.base, g, middle, self.rate, newton.right)
        entries = fill_matrix(model, soft.contacts, soft.slot, soft.work.roll, self.place, g, middle, newton.stiffness,
                              newton.row, newton.column, newton.value)
        step = self._factor(entries)
        new = np.flatnonzero(self.place >= 0)
        change = step.reshape(-1, 6)
        middle.v[new] += change[:, :3]
        middle.w[new] += change[:, 3:]
        return float(np.abs(step).max(initial=0.0))

    def _factor(self, entries: int) -> Any:
        """Solve the linear system."""
        n, newton = self.size, self.newton
        row, column, value = newton.row[:entries], newton.column[:entries], newton.value[:entries]
        if n <= DENSE:
            matrix = np.bincount(row * n + column, value, n * n).reshape(n, n)
            return np.linalg.solve(matrix, newton.right)
        from scipy.sparse import csc_matrix  # when they are first needed: they take long to load
        from scipy.sparse.linalg import splu

        return splu(csc_matrix((value, (row, column)), shape=(n, n))).solve(newton.right)
