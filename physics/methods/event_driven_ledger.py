"""What the event-driven method books: between events the forces at the nodes of a quadrature over the dense output, and
impacts exactly."""

import numpy as np

from contactlab.physics.collision.surface import limits_among
from contactlab.physics.contact_equations import Equations
from contactlab.physics.dynamics.forces import Loads, applied_forces
from contactlab.physics.ledger import Account, Books
from contactlab.physics.methods.event_search import Course
from contactlab.physics.model import Array
from contactlab.physics.state import Bodies, LongArray, empty_state

SIDE = 0.5 / np.sqrt(5.0)
LOBATTO = ((0.0, 1.0 / 12.0), (0.5 - SIDE, 5.0 / 12.0), (0.5 + SIDE, 5.0 / 12.0), (1.0, 1.0 / 12.0))  # order 6


def world_forces(eq: Equations, normal: Array, lam: Array) -> Array:
    """Forces or impulses λ (3 c,) of the contact rows in the world frame (c, 3); normal (c, 3)."""
    f = lam.reshape(-1, 3)
    count = len(f)
    return f[:, :1] * normal[:count] + f[:, 1:2] * eq.tangent_1[:count] + f[:, 2:] * eq.tangent_2[:count]


def book_piece(books: Books, loads: Loads, course: Course, delta: float, ledger: Array) -> Array:
    """What acts over the part [0, delta] of the course; returns the impulses of the set's contacts (c, 3) [N s]."""
    chosen, scratch = course.chosen, course.scratch
    count = int(chosen.count[0])
    total = np.zeros((count, 3))
    for place, share in LOBATTO:
        lam = course.forces(place * delta)
        bodies, weight = course.bodies, share * delta * course.h
        books.forces(loads, bodies, bodies, weight, ledger)
        books.joints(loads, course.joints.v, weight, ledger)
        if count:
            impulse = weight * world_forces(scratch.equations, scratch.witness.normal, lam[: 3 * count])
            book_contacts(books, course, chosen.pair[:count], bodies, impulse, ledger)
            total += impulse
        if loads.grab_body[0] >= 0:
            book_mouse(books, loads, course, weight, ledger)
    return total


def book_contacts(
    books: Books, course: Course, pairs: LongArray, over: Bodies, impulse: Array, ledger: Array
) -> None:
    """Impulses (c, 3) at the witnesses of these pairs, found last. Limits pass nothing from outside to their bodies."""
    w = course.scratch.witness
    k = np.flatnonzero(~limits_among(course.surface, pairs))
    point = 0.5 * (w.p_a[k] + w.p_b[k])
    books.contacts(over, len(k), w.body_a[k], w.body_b[k], point, w.normal[k], impulse[k], ledger)


def book_mouse(books: Books, loads: Loads, course: Course, weight: float, ledger: Array) -> None:
    """The mouse spring: what acts on the held body beyond all other applied forces."""
    i, scratch = int(loads.grab_body[0]), course.scratch
    force, torque = np.zeros_like(scratch.force), np.zeros_like(scratch.torque)
    applied_forces(books.model, loads, course.bodies, force, torque)
    pull, turn = scratch.force[i] - force[i], scratch.torque[i] - torque[i]
    books.pull(i, weight * pull, weight * turn, course.bodies, ledger)


def book_impact(
    books: Books, course: Course, pairs: LongArray, p: Array, before: Bodies, after: Bodies, impulse: Array,
    ledger: Array,
) -> None:
    """Impulses p (3 c,) in the rows of these pairs, (c, 3) in the world, from the motion before them and after them."""
    over, eq = empty_state(len(before.x)).bodies, course.scratch.equations
    for mine, one, other in zip(over, before, after, strict=True):
        mine[:] = 0.5 * (one + other)  # poses are the same
    book_contacts(books, course, pairs, over, impulse, ledger)
    change = p @ eq.T[: len(p)]
    for r in 3 * np.flatnonzero(limits_among(course.surface, pairs)):
        ledger[Account.IMPACTS, 0] += p[r] * (eq.u[r] + 0.5 * float(eq.HT[r] @ change))
