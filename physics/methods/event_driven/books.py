"""What the event-driven method books: between events the forces at the nodes of a quadrature over the dense output, and
impacts exactly; and the torsional impulses of balls with what they take."""

import math

import numpy as np

from ...books.ledger import (
    DRIVEN,
    MOUSE,
    NOTHING,
    Account,
    Books,
    add_contact,
    add_forces,
    add_held,
    add_joints,
    credit,
    give,
    jointed,
)
from ...collision.exact.elements import limits_among
from ...collision.exact.gaps import Witness
from ...core.jit import helper, kernel
from ...core.model import Array, BodyKind, Model, movable
from ...core.state import Bodies, LongArray, empty_state
from ...core.vec import accumulate, add, axpy, cross, dot, row, scale, sub
from ...dynamics.forces import Loads, applied_forces
from ...dynamics.free_body import velocity_from_momentum
from ...impacts.impact_laws import ALIKE
from ...problem.contact_equations import Equations, own_rate
from .piece import go, see_forces
from .search import Course

SIDE = 0.5 / math.sqrt(5.0)
NODES = (0.0, 0.5 - SIDE, 0.5 + SIDE, 1.0)                    # Lobatto's rule of order 6
WEIGHTS = (1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0)


def world_forces(eq: Equations, normal: Array, lam: Array) -> Array:
    """Forces or impulses λ (3 c,) of the contact rows in the world frame (c, 3); normal (c, 3)."""
    f = lam.reshape(-1, 3)
    count = len(f)
    return f[:, :1] * normal[:count] + f[:, 1:2] * eq.tangent_1[:count] + f[:, 2:] * eq.tangent_2[:count]


def book_piece(books: Books, loads: Loads, course: Course, delta: float, ledger: Array) -> Array:
    """What acts over the part [0, delta] of the course; returns the impulses of the set's contacts (c, 3) [N s]."""
    total = np.zeros((int(course.chosen.count[0]), 3))
    book_nodes(books.model, course.surface, course.chosen, loads, course.tableau, course.y0, course.k, delta,
               course.track, course.scratch, ledger, books.given, total)
    return total


@kernel
def book_nodes(model, surface, chosen, loads, tableau, y0, k, delta, track, scratch, ledger, given, total_out):
    """See `book_piece`: forces at the nodes of Lobatto's rule over the dense output."""
    count, bodies, v = int(chosen.count[0]), track.bodies, track.joints.v
    eq, witness, belts = scratch.equations, scratch.witness, model.motions
    held, first = int(loads.grab_body[0]), len(surface.kind) ** 2
    for node in range(len(NODES)):
        place, weight = NODES[node] * delta, WEIGHTS[node] * delta * track.span[1]
        go(model, tableau, y0, k, place, track)
        if count > 0 or held >= 0 or len(eq.reactions.lam) > 0:
            see_forces(model, surface, chosen, loads, place, track, scratch)
        add_forces(model, loads, bodies, bodies, weight, ledger, given)
        if len(v) > 0:
            add_joints(model, loads, v, weight, ledger)
        if len(eq.reactions.lam) > 0:
            add_held(model.kind, eq.reactions, bodies, weight, ledger)
        for i in range(count):
            normal = row(witness.normal, i)
            p = axpy(scratch.lam[3 * i], normal, axpy(scratch.lam[3 * i + 1], row(eq.tangent_1, i),
                                                      scale(scratch.lam[3 * i + 2], row(eq.tangent_2, i))))
            p = scale(weight, p)
            accumulate(total_out, i, p)
            if chosen.pair[i] >= first:  # it does not move: the work is that of a parent with a prescribed motion
                credit(ledger, DRIVEN, weight * scratch.lam[3 * i] * own_rate(eq, bodies, 3 * i), NOTHING, NOTHING)
            if chosen.pair[i] < first:  # limits pass nothing from outside to their bodies
                point = scale(0.5, add(row(witness.p_a, i), row(witness.p_b, i)))
                a, b = int(witness.body_a[i]), int(witness.body_b[i])
                add_contact(model.kind, belts.surface_velocity, belts.surface_spin, bodies.x, bodies.q, bodies.v,
                            bodies.w, a, b, point, normal, p, 0, ledger, given)
        if held >= 0:
            book_mouse(model, loads, held, bodies, scratch, weight, ledger, given)


@helper
def book_mouse(model, loads, held, bodies, scratch, weight, ledger, given):
    """The mouse spring: what acts on the held body beyond all other applied forces."""
    force, torque = np.zeros_like(scratch.force), np.zeros_like(scratch.torque)
    applied_forces(model, loads, bodies, force, torque)
    p = scale(weight, sub(row(scratch.force, held), row(force, held)))
    turn = scale(weight, sub(row(scratch.torque, held), row(torque, held)))
    work = dot(p, row(bodies.v, held)) + dot(turn, row(bodies.w, held))
    moment = add(turn, cross(row(bodies.x, held), p))
    credit(ledger, MOUSE, work, p, moment)
    give(given, held, p, moment)


def book_contacts(
    books: Books, course: Course, pairs: LongArray, over: Bodies, impulse: Array, ledger: Array
) -> None:
    """Impulses (c, 3) at the witnesses of these pairs, found last. Limits pass nothing from outside to their bodies."""
    w = course.scratch.witness
    k = np.flatnonzero(~limits_among(course.surface, pairs))
    point = 0.5 * (w.p_a[k] + w.p_b[k])
    books.contacts(over, len(k), w.body_a[k], w.body_b[k], point, w.normal[k], impulse[k], ledger)


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
    books.reactions(eq.reactions, p @ eq.reactions.passed[: len(p)], before, ledger)
    change = p @ eq.T[: len(p)]
    work = (p * (eq.u[: len(p)] + 0.5 * eq.HT[: len(p)] @ change)).reshape(-1, 3)
    ledger[Account.IMPACTS, 0] += np.maximum(work[:, 1:].sum(axis=1), 0.0).sum()
    for r in 3 * np.flatnonzero(limits_among(course.surface, pairs)):
        gained = float(eq.HT[r] @ change)
        ledger[Account.IMPACTS, 0] += p[r] * (eq.u[r] + 0.5 * gained)
        ledger[Account.DRIVEN, 0] += p[r] * (row_rate(eq, after, r) - eq.u[r] - gained)  # less what driven bodies make


@kernel
def row_rate(eq, bodies, r):
    """`own_rate` for Python."""
    return own_rate(eq, bodies, r)


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
    """1/I (n,) of bodies with the same inertia I about all axes that no joint holds; 0 of those that do not move,
    nan of all others."""
    moment, free = model.inertia, (model.kind == BodyKind.DYNAMIC) & ~jointed(model)
    ball = free & (np.ptp(moment, axis=1) <= ALIKE * moment.max(axis=1))
    return np.where(ball, model.inv_inertia[:, 0], np.where(movable(model.kind), np.nan, 0.0))
