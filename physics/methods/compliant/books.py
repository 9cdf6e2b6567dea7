"""What the method `compliant` enters in the ledger: the powers and forces at the stages of the integrator, with the
integrator's own weights, so that momentum is booked as it was given; and the energy that the surfaces store and
took."""

from typing import NamedTuple

import numpy as np

from ...books.carried import credit_given, credit_needed
from ...books.ledger import (
    CHANGED,
    DRIVEN,
    LIMITS,
    STORED,
    SURFACES,
    Books,
    add_contact,
    add_node,
    add_pull,
    book_anchored,
    credit,
    give,
    momenta_of,
)
from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, Model
from ...core.state import LEDGER
from ...core.vec import dot, row, scale, sub
from ...dynamics.motion import moves
from .turning import couple_against, turning_between, turns_hard


class SoftBooks(NamedTuple):
    """What is entered of a step. The first three are those of ledger.Books, about the whole step; the others say what
    acted within it since it began."""

    anchored: IntArray  #: (n,)
    before: Array       #: (n, 6)
    given: Array        #: (n, 6)
    ledger: Array       #: LEDGER
    total: Array        #: (n, 6) as `given`, at stages
    pull: Array         #: (6,) force of the mouse on the grabbed body, and torque about its centre of mass


class StageBooks(NamedTuple):
    """What acts at the stages of a substep, and what that came to since the step began."""

    rates: Array   #: (s, *LEDGER) power and rates of momenta by account
    given: Array   #: (s, n, 6) rates of momentum and of angular momentum about the world origin, see ledger.Books
    ledger: Array  #: as in SoftBooks, like what follows
    total: Array
    pull: Array
    anchored: IntArray


def soft_books(model: Model) -> SoftBooks:
    books = Books(model)
    return SoftBooks(books.anchored, books.before, books.given, np.zeros(LEDGER), books.given.copy(), np.zeros(6))


def stage_books(books: SoftBooks, stages: int) -> StageBooks:
    """Of an integrator of so many stages."""
    return StageBooks(np.zeros((stages, *LEDGER)), np.zeros((stages, *books.given.shape)), books.ledger, books.total,
                      books.pull, books.anchored)


@kernel
def begin_books(bodies, books):
    """Nothing is booked of the step yet."""
    if len(books.given) > 0:
        momenta_of(bodies, books.before, books.given)
    clear(books.ledger)
    clear(books.total)


@kernel
def end_books(bodies, ledger, books, before, stored, lost, taken):
    """Enter a step: the energy [J] stored in surfaces and springy limits before it and now, and what the surfaces and
    the limits took in it. Where `before` is not what the last step left there, a setting was changed or another method
    was at work."""
    for account in range(ledger.shape[0]):
        for j in range(ledger.shape[1]):
            ledger[account, j] += books.ledger[account, j]
    ledger[CHANGED, 0] += before + ledger[STORED, 0]
    ledger[STORED, 0] = -stored
    ledger[SURFACES, 0] -= lost
    ledger[LIMITS, 0] -= taken + books.ledger[LIMITS, 0]
    for i in range(len(books.given)):
        for j in range(6):
            books.given[i, j] += books.total[i, j]
    if len(books.given) > 0:
        book_anchored(books.anchored, books.before, bodies, books.given, ledger)


@helper
def clear(a_out):
    """a = 0, of two dimensions"""
    for i in range(a_out.shape[0]):
        for j in range(a_out.shape[1]):
            a_out[i, j] = 0.0


@kernel
def note_pull(loads, ydot, sign, books):
    """Called with sign = -1 before the mouse acts and with 1 after it: leaves in books.pull what the mouse adds to the
    rates (n, 13) of the body that it pulls."""
    i = int(loads.grab_body[0])
    if i >= 0:
        for j in range(6):
            books.pull[j] = sign * ydot[i, 7 + j] + (books.pull[j] if sign > 0 else 0.0)


@kernel
def note_stage(model, loads, bodies, soft, of_stops, driven, joint_v, reactions, i, books):
    """Enter what acts at stage i: the surfaces, the force of contact k in row soft.slot[k] of soft.work.force[i]; the
    mouse; the loads on the joints of trees, at velocities joint_v (n_v,); the power of the stops of joints, and of
    driven bodies against them [W]; and the joints in maximal coordinates.

    A contact between two bodies that both move freely enters nothing: it changes neither the momenta of the whole nor
    its energy, beyond what the surfaces store and take.
    """
    contacts, slot, work = soft.contacts, soft.slot, soft.work
    rates, given, anchored = books.rates[i], books.given[i], books.anchored
    kind, turn, force, point, normal = model.kind, work.turn, work.force[i], contacts.point, contacts.normal
    body_a, body_b = contacts.body_a, contacts.body_b
    rates[:] = 0.0
    given[:] = 0.0
    add_node(model, loads, bodies, joint_v, reactions, 1.0, rates, given)
    for k in range(int(contacts.count[0])):
        a, b, s = int(body_a[k]), int(body_b[k]), int(slot[k])
        both = moves(kind, a) and moves(kind, b)
        if s < 0 or (both and anchored[a] == 0 and anchored[b] == 0):
            continue
        f, n = row(force, s), row(normal, k)
        if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
            add_contact(model, bodies, a, b, row(point, k), n, f, SURFACES, rates, given)
            if turns_hard(turn, s) and dot(f, n) > 0.0:
                turning = turning_between(model.motions, bodies, a, b)
                add_couple(kind, a, b, bodies.w, couple_against(turn, s, dot(f, n), n, turning), turning, rates, given)
    rates[LIMITS, 0] += of_stops
    rates[DRIVEN, 0] += driven
    pulled = int(loads.grab_body[0])
    if pulled >= 0:
        f, turn = (books.pull[0], books.pull[1], books.pull[2]), (books.pull[3], books.pull[4], books.pull[5])
        add_pull(pulled, f, turn, bodies, rates, given)


@helper
def note_carried(model, bodies, links, i, books):
    """Enter the power of bodies that carry trees at stage i, after all else that acts there."""
    credit_given(model.trees, bodies, books.given[i], -1.0, books.rates[i])
    credit_needed(model.trees, links.rates, 1.0, links.work, books.rates[i])


@helper
def add_couple(kind, a, b, w, couple, turning, rates, given):
    """Enter the couple that opposes turning: what it does on bodies that move beyond what the surfaces take comes from
    those that drive the others, and from running surfaces."""
    work, total, nothing = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if moves(kind, b):
        work, total = dot(couple, row(w, b)), couple
        give(given, b, nothing, couple)
    if moves(kind, a):
        work, total = work - dot(couple, row(w, a)), sub(total, couple)
        give(given, a, nothing, scale(-1.0, couple))
    credit(rates, SURFACES, 0.0, nothing, total)
    credit(rates, DRIVEN, work - dot(couple, turning), nothing, nothing)


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
