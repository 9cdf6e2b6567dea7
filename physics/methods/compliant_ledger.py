"""What the method `compliant` books: the powers and forces at the stages of the integrator, with the integrator's own
weights, so that momentum is booked as it was given; and the energy that the surfaces hold and took."""

from typing import NamedTuple

import numpy as np

from contactlab.physics.jit import kernel
from contactlab.physics.ledger import IMPACTS, MOUSE, Account, Books, add_contact, add_forces, add_joints, credit, give
from contactlab.physics.model import Array, Model, body_count
from contactlab.physics.state import LEDGER, State
from contactlab.physics.vec import add, cross, dot, row


class StageBooks(NamedTuple):
    """What acts at the stages of a substep, and what that came to since the step began."""

    rates: Array   #: (s, *LEDGER) power and rates of momenta by account
    given: Array   #: (s, n, 6) rates of momentum and of angular momentum about the world origin, body by body
    ledger: Array  #: LEDGER
    total: Array   #: (n, 6)
    pull: Array    #: (6,) force of the mouse on the body that it holds, and torque about its centre of mass


def empty_stage_books(model: Model, stages: int) -> StageBooks:
    n = body_count(model)
    return StageBooks(np.zeros((stages, *LEDGER)), np.zeros((stages, n, 6)), np.zeros(LEDGER), np.zeros((n, 6)),
                      np.zeros(6))


class SoftBooks:
    """Enters a step; scratch memory only."""

    def __init__(self, model: Model) -> None:
        self.books = Books(model)

    def begin(self, state: State, stages: StageBooks) -> None:
        """At the beginning of a step."""
        self.books.begin(state.bodies)
        stages.ledger.fill(0.0)
        stages.total.fill(0.0)

    def end(self, state: State, stages: StageBooks, held: float, stored: float, lost: float) -> None:
        """The energy [J] that surfaces held before the step and hold now, and what they took in it. What they held that
        the last step did not leave there is the doing of a changed setting or of another method."""
        ledger = state.ledger
        ledger += stages.ledger
        ledger[Account.CHANGED, 0] += held + ledger[Account.STORED, 0]
        ledger[Account.STORED, 0] = -stored
        ledger[Account.SURFACES, 0] -= lost
        self.books.given += stages.total
        self.books.end(state.bodies, ledger)


@kernel
def hold_pull(loads, ydot, sign, books):
    """Once with sign -1 before the mouse acts, once with 1 after it: the pull is what it adds to the rates (n, 13)."""
    i = int(loads.grab_body[0])
    if i >= 0:
        for j in range(6):
            books.pull[j] = sign * ydot[i, 7 + j] + (books.pull[j] if sign > 0 else 0.0)


@kernel
def note_stage(model, loads, bodies, contacts, slot, force, joint_v, joint_force, i, books):
    """Enter what acts at stage i: forces (c, 3) of the surfaces, row slot[k] that of contact k; the pull; and on the
    joints of trees, at velocities joint_v (n_v,), the loads and the forces of their stops (n_v,)."""
    rates, given = books.rates[i], books.given[i]
    rates[:] = 0.0
    given[:] = 0.0
    add_forces(model, loads, bodies, bodies, 1.0, rates, given)
    for k in range(int(contacts.count[0])):
        if slot[k] < 0:
            continue
        f = row(force, int(slot[k]))
        if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
            add_contact(model, bodies, int(contacts.body_a[k]), int(contacts.body_b[k]), row(contacts.point, k),
                        row(contacts.normal, k), f, 1, rates, given)
    add_joints(model, loads, joint_v, 1.0, rates)
    for d in range(len(joint_v)):
        load = loads.joint[d] if d < len(loads.joint) else 0.0
        rates[IMPACTS, 0] += (joint_force[d] - load) * joint_v[d]
    held = int(loads.grab_body[0])
    if held >= 0:
        f, turn = (books.pull[0], books.pull[1], books.pull[2]), (books.pull[3], books.pull[4], books.pull[5])
        work = dot(f, row(bodies.v, held)) + dot(turn, row(bodies.w, held))
        moment = add(turn, cross(row(bodies.x, held), f))
        credit(rates, MOUSE, work, f, moment)
        give(given, held, f, moment)


@kernel
def take_stages(weights, h, books):
    """The substep just tried is made: its stages count with these weights (s,)."""
    for s in range(len(weights)):
        for a in range(books.ledger.shape[0]):
            for j in range(books.ledger.shape[1]):
                books.ledger[a, j] += h * weights[s] * books.rates[s, a, j]
        for i in range(books.total.shape[0]):
            for j in range(6):
                books.total[i, j] += h * weights[s] * books.given[s, i, j]
