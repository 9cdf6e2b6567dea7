"""What the event-driven method books: between events the forces at the nodes of a quadrature over the dense output, and
impacts exactly; and the torsional impulses of balls with what they take."""

import numpy as np

from contactlab.physics.collision.surface import limits_among
from contactlab.physics.collision.surface_gap import Witness
from contactlab.physics.contact_equations import Equations
from contactlab.physics.dynamics.forces import Loads, applied_forces
from contactlab.physics.dynamics.free_body import velocity_from_momentum
from contactlab.physics.impact import ALIKE
from contactlab.physics.ledger import Account, Books
from contactlab.physics.methods.event_search import Course
from contactlab.physics.model import Array, BodyKind, Model, movable
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
    """Impulses p (3 c,) in the rows of these pairs, (c, 3) in the world, from the motion before them and after them.
    What friction gives where it turns the slip around is booked with the impacts: it is their law that gives it
    (Kane's paradox)."""
    over, eq = empty_state(len(before.x)).bodies, course.scratch.equations
    for mine, one, other in zip(over, before, after, strict=True):
        mine[:] = 0.5 * (one + other)  # poses are the same
    book_contacts(books, course, pairs, over, impulse, ledger)
    change = p @ eq.T[: len(p)]
    work = (p * (eq.u[: len(p)] + 0.5 * eq.HT[: len(p)] @ change)).reshape(-1, 3)
    ledger[Account.IMPACTS, 0] += np.maximum(work[:, 1:].sum(axis=1), 0.0).sum()
    for r in 3 * np.flatnonzero(limits_among(course.surface, pairs)):
        ledger[Account.IMPACTS, 0] += p[r] * (eq.u[r] + 0.5 * float(eq.HT[r] @ change))


def twist(books: Books, bodies: Bodies, witness: Witness, normal: Array, restitution_psi: Array, ledger: Array) -> None:
    """Turn round the spin about the normal of balls that were hit: ψ⁺ = -e_ψ ψ⁻, P_ψ = -(1 + e_ψ) ψ⁻/w_ψ, with
    w_ψ = n·(I_a⁻¹ + I_b⁻¹) n [RBDA fig. 11.9].

    normal (c,): the normal impulses of contacts, restitution_psi (c,): nan = the spin stays, as it does where one of
    the bodies has not the same inertia about all axes. The hardest hit come first.
    """
    inverse = ball_inverse(books.model)
    for k in np.argsort(-normal, kind="stable").tolist():
        a, b = int(witness.body_a[k]), int(witness.body_b[k])
        if normal[k] <= 0.0 or np.isnan(restitution_psi[k]) or not inverse[a] + inverse[b] > 0.0:
            continue
        n = witness.normal[k]
        spin = float(n @ (bodies.w[b] - bodies.w[a]))
        impulse = -(1.0 + restitution_psi[k]) * spin / (inverse[a] + inverse[b])
        for i, turn in ((b, impulse * n), (a, -impulse * n)):
            if inverse[i] > 0.0:
                bodies.L[i] += turn
                books.given[i : i + 1, 3:] += turn  # where anybody asks for it
                ledger[Account.FRICTION, 4:] += turn
            else:
                ledger[Account.DRIVEN, 0] -= float(turn @ bodies.w[i])
        velocity_from_momentum(books.model, bodies)
        ledger[Account.FRICTION, 0] += 0.5 * impulse * (1.0 - restitution_psi[k]) * spin


def ball_inverse(model: Model) -> Array:
    """1/I (n,) of bodies with the same inertia I about all axes; 0 of those that do not move, nan of all others."""
    moment = model.inertia
    ball = (model.kind == BodyKind.DYNAMIC) & (np.ptp(moment, axis=1) <= ALIKE * moment.max(axis=1))
    return np.where(ball, model.inv_inertia[:, 0], np.where(movable(model.kind), np.nan, 0.0))
