"""Adaptive steps of the method `compliant` that respect its kinks.

Within a step every contact keeps its mode (free, sticks, slides), so that the right-hand side is smooth and error
control works. On the dense output of the step the first instant is searched at which a mode ends:

    touch    p = z          release  f_n = 0          slip, stick   |f_stick| = μ f_n

The step is made again to end there, the mode changes, and the next step begins.
"""

import math
from typing import Any

import numpy as np

from ...books.diagnostics import total_energy
from ...core.interruption import look_up
from ...core.model import Array, Model, body_count
from ...core.state import Bodies, JointState, empty_state
from ...dynamics.forces import Loads
from ...integrators import Integrator
from ...integrators.stepper import SMALLEST_SUBSTEP, step_factor
from .books import SoftBooks
from .contacts import SoftContacts
from .explicit import AT_ONCE, Explicit
from .guards import guards, mode_ends, step_error, switch
from .stability import substeps_needed
from .substeps import AT_STAGE, DONE, make_substeps

TOLERANCE = 1e-12    # local error of a substep, relative as in integrators.stepper; of z and x absolute [m]
CHECKED_AT = np.array([0.25, 0.5, 0.75, 1.0])  # parts of a substep at which the modes are checked
FIRST_TRIED = 0.5    # of the largest stable step: the first substep that is tried
MOTOR_TIME = 0.1     # of the step: the time in which a motor with a limit closes in on its speed
ENDLESS = 40         # changes of modes at one instant, beyond one for every contact, after which the law decides
MOST_TRIES = 1000    # of substeps in one step; the rest of it is then made in fixed ones
MANY_CONTACTS = 20   # with more of them fewer tries are made, down to MOST_TRIES/10


class Adaptive(Explicit):
    """Advances with error control; every mode ends at an end of a step."""

    exact = 1
    tries, most = 0, MOST_TRIES  #: of substeps since the step began, and how many there may be

    def __init__(self, model: Model, soft: SoftContacts, books: SoftBooks, integrator: Integrator) -> None:
        super().__init__(model, soft, books, integrator)
        self._end = empty_state(body_count(model)).bodies  #: of the substep tried last
        self._changes: list[tuple[float, float]] = []      #: instants at which modes changed [s], and energies [J]
        self._times: Array = np.zeros(0)  # ends of the substeps of one length made last [s], the start first

    def advance(self, bodies: Bodies, joints: JointState, loads: Loads, asked: int, t: float, h: float) -> None:
        """From t [s] over h [s]. Raises FloatingPointError where the motion is not finite."""
        soft, end = self.soft, self._end
        self.substeps, self.tries, self.exact, self.status = 0, 0, 1, "solved"
        self._times, self._changes = np.zeros(0), []
        contacts = min(max(int(soft.contacts.count[0]), MANY_CONTACTS), 10 * MANY_CONTACTS)
        self.most = MOST_TRIES * MANY_CONTACTS // contacts
        self.reactions.haste[0] = 1.0 / (MOTOR_TIME * h)
        done, length, idle = 0.0, min(h, FIRST_TRIED * self.stable), 0
        while done < h * (1.0 - 1e-14):
            look_up()
            if self.tries > self.most:
                self._give_up(bodies, loads, t + done, h - done)
                break
            length = min(length, h - done)
            if h - done - length < SMALLEST_SUBSTEP * h:
                length = h - done
            soft.settle(bodies, t + done, exact=1)
            length, following = self._controlled(bodies, loads, t + done, length, h, end)
            event = self._search(t + done, length) if self.exact else None
            if event is not None:
                length = event[0] * length
                soft.look(bodies)
                self.try_step(bodies, loads, t + done, length, end, self.exact)
            for target, source in zip(bodies, end, strict=True):
                target[:] = source
            self.take(length)
            done += length
            self.substeps += 1
            soft.look(bodies)
            if event is not None:
                soft.settle(bodies, t + done, exact=1)
                switch(self.model, soft.system, event[1], event[2], t + done, bodies)
                self._changes.append((t + done, float(total_energy(self.model, bodies, *self.course.joints))))
            idle = idle + 1 if event is not None and length < 1e-12 else 0
            if idle > ENDLESS + len(soft.slot):
                self.exact = 0
            if not self.exact:
                soft.settle(bodies, t + done, exact=0)
            length = max(following, SMALLEST_SUBSTEP * h)
        soft.settle(bodies, t + h, exact=1)
        self.carry(self.course.joints, joints)

    def energies(self, start: float, h: float) -> tuple[Array, Array]:
        searched, fixed = np.array(self._changes).reshape(-1, 2), self.course.energy[: len(self._times)]
        return np.append(searched[:, 0], self._times), np.append(searched[:, 1], fixed)

    def _give_up(self, bodies: Bodies, loads: Loads, t: float, rest: float) -> None:
        """The rest of the step without error control and without looking for kinks: where contact points jump about, as
        on bodies deep in each other, no step is small enough for either."""
        self.exact = 0
        fixed = int(substeps_needed(rest, self.limits(bodies).step(self.integrator)))
        self._make(fixed, bodies, loads, t, rest)
        self.substeps += fixed
        self.status = f"no error control after {self.most} tries"

    def _make(self, count: int, bodies: Bodies, loads: Loads, t: float, h: float) -> None:
        """So many substeps of one length from t [s] over h [s]."""
        soft, made = self.soft, 0
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

    def _controlled(
        self, bodies: Bodies, loads: Loads, t: float, length: float, h: float, end: Bodies
    ) -> tuple[float, float]:
        """Try steps until the local error is small enough; the length taken and the one to try next."""
        soft, tableau, order = self.soft, self.integrator.tableau, self.integrator.order
        while True:
            look_up()
            self.tries += 1
            self.try_step(bodies, loads, t, length, end, self.exact)
            error = step_error(self.model, tableau.error, length, self.y0, self.k, soft.system) / TOLERANCE
            enough = error <= 1.0 or length <= SMALLEST_SUBSTEP * h or self.tries > self.most
            if enough and math.isfinite(error):
                return length, length * step_factor(error, order)
            if length < 1e-3 * SMALLEST_SUBSTEP * h:
                raise FloatingPointError("the motion of a body is not finite")
            soft.look(bodies)
            length *= step_factor(error, order)

    def _search(self, t: float, h: float) -> tuple[float, int, int] | None:
        """The part of the step after which the first mode ends, whose, and how."""
        from scipy.optimize import brentq  # when it is first needed: it takes long to load

        root: Any = brentq
        n = self._first_end(t, h)
        if n == len(CHECKED_AT):
            return None
        found = float(CHECKED_AT[n - 1]) if n > 0 else 1e-9
        if self._value(found, t, h) >= 0.0:  # else it ends at the beginning, as of contacts that change one by one
            found = root(self._value, found, CHECKED_AT[n], (t, h), xtol=1e-15, rtol=1e-14, maxiter=400, disp=False)
        _, row, change = self._worst(min(found * (1.0 + 1e-13) + 1e-15, 1.0), t, h)
        return found, row, change

    def _first_end(self, t: float, h: float) -> int:
        """Which of CHECKED_AT is the first at which a mode has ended; their number where none is."""
        soft = self.soft
        while True:
            n = mode_ends(self.model, self.integrator.tableau, t, h, CHECKED_AT, soft.system, self.course)
            if n >= 0:
                return int(n)
            soft.look(self.middle)

    def _value(self, part: float, t: float, h: float) -> float:
        return self._worst(part, t, h)[0]

    def _worst(self, part: float, t: float, h: float) -> tuple[float, int, int]:
        """The smallest of the quantities that are positive while modes last, at a part of the step; its row and which
        change it announces."""
        soft, tableau = self.soft, self.integrator.tableau
        self.weigh(weights(tableau.dense_x, part), weights(tableau.dense_p, part), part, t, h)
        soft.look(self.middle)
        value, row, change = guards(self.model, soft.system, self.middle)
        return value, int(row), int(change)


def weights(dense: Array, part: float) -> Array:
    """B_i(δ) (s,), to the last bit those of `mode_ends`."""
    found = np.zeros(len(dense))
    for column in dense.T[::-1]:
        found = part * (found + column)
    return found
