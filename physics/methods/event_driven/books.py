"""What the event-driven method enters in the ledger: between events the forces at the nodes of a quadrature over the
dense output, impacts exactly, and the torsional impulses of balls with what they take."""

import math

import numpy as np

from ...books.carried import book_change, credit_given, credit_needed
from ...books.ledger import (
    CONTACTS,
    DRIVEN,
    FRICTION,
    IMPACTS,
    NOTHING,
    Account,
    Books,
    add_contact,
    add_moment,
    add_node,
    add_pull,
    credit,
    jointed,
    momenta_of,
)
from ...collision.exact.gaps import Witness
from ...core.jit import helper, kernel, program
from ...core.model import Array, BodyKind, Model, movable
from ...core.state import Bodies, LongArray
from ...core.vec import accumulate, add, axpy, put, row, scale, sub
from ...dynamics.constraints.limits import TURNS
from ...dynamics.constraints.reactions import reactions_to
from ...dynamics.forces import applied_forces
from ...dynamics.free_body import velocity_from_momentum
from ...impacts.impact_laws import ALIKE
from ...problem.contact_equations import own_rate
from ...problem.turning_rows import length_of, row_length
from ...solvers.lcp_info import row_product
from .piece import LENGTH, Piece, go, see_forces
from .rates import Instant

SIDE = 0.5 / math.sqrt(5.0)
LOBATTO_NODES = (0.0, 0.5 - SIDE, 0.5 + SIDE, 1.0)            # of a piece: Lobatto's rule of order 6
LOBATTO_WEIGHTS = (1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0)
#: Gauss's rule of order 6, of a piece that an event ends: there a slip that ends has no direction, and forces found for
#: one that rounding gives may be anything
INNER = 0.5 * math.sqrt(0.6)
GAUSS_NODES = (0.5 - INNER, 0.5, 0.5 + INNER)
GAUSS_WEIGHTS = (5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0)
FIRST_PAIRS = 16  # that there is room for at first, of those with impulses


class PairImpulses:
    """What the contacts of each pair came to in a step, impacts included, world frame [N s]."""

    def __init__(self) -> None:
        self._total = np.zeros((FIRST_PAIRS, 3))
        self.begin_step()

    def begin_step(self) -> None:
        self._row: dict[int, int] = {}  # of each pair in the totals
        self._total.fill(0.0)
        self._set, self._sum = np.zeros(0, np.int64), np.zeros((0, 3))  # of the current set, since it is the same

    def add(self, pairs: LongArray, impulses: Array) -> None:
        """Add impulses (k, 3) on bodies b of different pairs (k,)."""
        rows = [self._row.setdefault(pair, len(self._row)) for pair in pairs.tolist()]
        if len(self._row) > len(self._total):
            self._total = np.concatenate([self._total, np.zeros((len(self._row), 3))])
        self._total[rows] += impulses

    def add_of_set(self, pairs: LongArray, impulses: Array) -> None:
        """Add impulses (c, 3) of the pairs (c,) of the current set."""
        if not np.array_equal(pairs, self._set):
            self._pass_on()
            self._set, self._sum = pairs.copy(), np.zeros_like(impulses)
        self._sum += impulses

    def _pass_on(self) -> None:
        """Add to each pair what it came to in the current set."""
        self.add(self._set, self._sum)
        self._set, self._sum = self._set[:0], self._sum[:0]

    def put(self, pairs: LongArray, impulses: Array) -> None:
        """These pairs (k,) came to the first impulses (k, 3), and no others to any."""
        self.begin_step()
        self.add(pairs, impulses[: len(pairs)])

    def of(self, pairs: LongArray) -> Array:
        """(k, 3)"""
        self._pass_on()
        rows = np.array([self._row.get(pair, -1) for pair in pairs.tolist()], np.int64)
        return np.where(rows[:, None] >= 0, self._total[rows], 0.0)


def book_piece(books: Books, piece: Piece, delta: float, ledger: Array) -> Array:
    """What acts over the part [0, delta] of the piece; returns the impulses of the set's contacts (c, 3) [N s]."""
    total = np.zeros((int(piece.chosen.count[0]), 3))
    book_nodes(piece, delta, ledger, books.given, total)
    return total


@program
def book_nodes(piece, delta, ledger, given, total_out):
    """See `book_piece`: forces at the nodes of a quadrature over the dense output, for a whole piece as in
    `whole_step`. The scratch then holds those at the end of the part, by which what follows decides."""
    felt, whole = any_force(piece.at, piece.chosen), delta == 1.0
    for node in range(len(LOBATTO_NODES) if whole else len(GAUSS_NODES)):
        place = LOBATTO_NODES[node] if whole else GAUSS_NODES[node]
        weight = LOBATTO_WEIGHTS[node] if whole else GAUSS_WEIGHTS[node]
        go(piece, place * delta)
        if felt:
            see_forces(piece.at, piece.chosen)
        book_node(piece, piece.at.bodies, piece.at.joints.v, weight * delta, ledger, given, total_out)
    if not whole:
        go(piece, delta)
        if felt:
            see_forces(piece.at, piece.chosen)


@helper
def any_force(at, chosen):
    """Whether forces are booked that have to be found: of contacts, joints in maximal coordinates, the mouse, or what
    carries trees."""
    carried = len(at.model.trees.driven) > 0
    return chosen.count[0] > 0 or at.loads.grab_body[0] >= 0 or len(at.scratch.equations.reactions.lam) > 0 or carried


@program
def book_node(piece, bodies, joint_v, share, ledger, given, total_out):
    """One node of the quadrature, with its weight in parts of the piece: bodies and velocities of joints there, where
    the forces were found last. Contacts that share a load may have forces of which one pulls: its friction gives what
    that of the others takes too much."""
    at, chosen, weight = piece.at, piece.chosen, share * piece.span[LENGTH]
    model, loads, scratch = at.model, at.loads, at.scratch
    eq, witness, count = scratch.equations, scratch.witness, int(chosen.count[0])
    grabbed, first = int(loads.grab_body[0]), len(at.surface.kind) ** 2
    credit_given(model.trees, bodies, given, 1.0, ledger)
    add_node(model, loads, bodies, joint_v, eq.reactions, weight, ledger, given)
    more, before = 0.0, ledger[FRICTION, 0]
    for i in range(count):
        if chosen.pair[i] >= TURNS:
            more += book_moment(piece, bodies, i, weight, ledger, given, total_out)
            continue
        normal = row(witness.normal, i)
        p = axpy(scratch.lam[3 * i], normal, axpy(scratch.lam[3 * i + 1], row(eq.tangent_1, i),
                                                  scale(scratch.lam[3 * i + 2], row(eq.tangent_2, i))))
        p = scale(weight, p)
        accumulate(total_out, i, p)
        if chosen.pair[i] >= first:  # ζ = 0: what works is the motion of a parent that is prescribed
            credit(ledger, DRIVEN, weight * scratch.lam[3 * i] * own_rate(eq, bodies, 3 * i), NOTHING, NOTHING)
        if chosen.pair[i] < first:  # limits pass nothing from outside to their bodies
            point = scale(0.5, add(row(witness.p_a, i), row(witness.p_b, i)))
            a, b = int(witness.body_a[i]), int(witness.body_b[i])
            more += add_contact(model, bodies, a, b, point, normal, p, CONTACTS, ledger, given)
    ledger[FRICTION, 0] += min(more, before - ledger[FRICTION, 0])
    if grabbed >= 0:
        book_mouse(at, bodies, grabbed, weight, ledger, given)
    credit_given(model.trees, bodies, given, -1.0, ledger)
    credit_needed(model.trees, eq.trees.rates, weight, eq.trees.work, ledger)


@helper
def book_moment(piece, bodies, i, weight, ledger, given, total_out):
    """What opposes turning, row i of the set, with the weight of the node [s]. Returns as `add_contact`."""
    model, surface, scratch, pair = piece.at.model, piece.at.surface, piece.at.scratch, piece.chosen.pair[i]
    eq, a, b = scratch.equations, int(scratch.witness.body_a[i]), int(scratch.witness.body_b[i])
    length = row_length(scratch.turning, length_of(scratch.turning, surface, pair), a, b)
    m = axpy(scratch.lam[3 * i + 1], row(eq.tangent_1, i), scale(scratch.lam[3 * i + 2], row(eq.tangent_2, i)))
    m = scale(weight * length, m)
    accumulate(total_out, i, m)
    return add_moment(model, bodies, a, b, m, ledger, given)


@program
def book_mouse(at, bodies, grabbed, weight, ledger, given):
    """The mouse spring: what acts on the body that the mouse pulls beyond all other applied forces."""
    scratch = at.scratch
    force, torque = np.zeros_like(scratch.force), np.zeros_like(scratch.torque)
    applied_forces(at.model, at.loads, bodies, force, torque)
    p = scale(weight, sub(row(scratch.force, grabbed), row(force, grabbed)))
    turn = scale(weight, sub(row(scratch.torque, grabbed), row(torque, grabbed)))
    add_pull(grabbed, p, turn, bodies, ledger, given)


def book_impact(
    books: Books, at: Instant, pairs: LongArray, p: Array, before: Bodies, over: Bodies, impulse: Array, ledger: Array
) -> None:
    """Impulses p (3 c,) in the rows of these pairs, (c, 3) in the world, of moments [N m s], between the motion
    `before` and the present one. Writes the mean of the two, `over` which they work."""
    carried, eq, n = at.model.trees, at.scratch.equations, len(books.given)
    had, given, none = np.zeros((n, 6)), books.given.copy(), np.zeros((n, 6))
    push = p @ eq.T[: len(p)]
    book_rows(at, pairs, p, push, before, impulse, over, books.given, ledger)
    if len(carried.driven):
        momenta_of(before, had, none)
        book_change(carried, had, over, at.bodies, books.given - given, ledger)
    books.reactions(eq.reactions, reactions_to(eq.reactions, push), before, ledger)


@kernel
def book_rows(at, pairs, p, push, before, impulse, over_out, given, ledger):
    """What `book_impact` enters of each pair; push (n_v,): Tᵀp. Limits pass nothing from outside to their bodies.

    Friction that turns the slip round gives energy (Kane's paradox). That is booked with the impacts, for it comes from
    their law."""
    model, bodies, eq, w = at.model, at.bodies, at.scratch.equations, at.scratch.witness
    elements, n = len(at.surface.kind) ** 2, len(push)
    for i in range(len(bodies.x)):
        put(over_out.x, i, row(bodies.x, i))
        for j in range(4):
            over_out.q[i, j] = bodies.q[i, j]
        for j in range(3):
            over_out.P[i, j] = 0.5 * (before.P[i, j] + bodies.P[i, j])
            over_out.L[i, j] = 0.5 * (before.L[i, j] + bodies.L[i, j])
            over_out.v[i, j] = 0.5 * (before.v[i, j] + bodies.v[i, j])
            over_out.w[i, j] = 0.5 * (before.w[i, j] + bodies.w[i, j])
    for k in range(len(pairs)):
        a, b, r = int(w.body_a[k]), int(w.body_b[k]), 3 * k
        gained = (row_product(eq.HT, r, push, 0, n), row_product(eq.HT, r + 1, push, 0, n),
                  row_product(eq.HT, r + 2, push, 0, n))
        work = (p[r] * (eq.u[r] + 0.5 * gained[0]), p[r + 1] * (eq.u[r + 1] + 0.5 * gained[1]),
                p[r + 2] * (eq.u[r + 2] + 0.5 * gained[2]))
        ledger[IMPACTS, 0] += max(work[1] + work[2], 0.0)
        if pairs[k] >= TURNS:
            add_moment(model, over_out, a, b, row(impulse, k), ledger, given)
        elif pairs[k] < elements:
            point = scale(0.5, add(row(w.p_a, k), row(w.p_b, k)))
            add_contact(model, over_out, a, b, point, row(w.normal, k), row(impulse, k), IMPACTS, ledger, given)
        else:
            ledger[IMPACTS, 0] += work[0]
            ledger[DRIVEN, 0] += p[r] * (own_rate(eq, bodies, r) - eq.u[r] - gained[0])  # less what driven bodies make


def twist(books: Books, bodies: Bodies, witness: Witness, normal: Array, restitution_psi: Array, ledger: Array) -> None:
    """Turn round the spin about the normal of balls that were hit: ψ⁺ = -e_ψ ψ⁻, P_ψ = -(1 + e_ψ) ψ⁻/w_ψ, with
    w_ψ = n·(I_a⁻¹ + I_b⁻¹) n [RBDA fig. 11.9].

    normal (c,): the normal impulses of contacts, restitution_psi (c,): nan = the spin stays, as it does where one of
    the bodies has not the same inertia about all axes. The hardest hit come first.
    """
    turned = (normal > 0.0) & ~np.isnan(restitution_psi)
    if not turned.any():
        return
    inverse, hardest = ball_inverse(books.model), np.argsort(-normal, kind="stable")
    for k in hardest[turned[hardest]].tolist():
        a, b = int(witness.body_a[k]), int(witness.body_b[k])
        if not inverse[a] + inverse[b] > 0.0:
            continue
        n = witness.normal[k]
        spin = float(n @ (bodies.w[b] - bodies.w[a]))
        impulse = -(1.0 + restitution_psi[k]) * spin / (inverse[a] + inverse[b])
        for i, turn in ((b, impulse * n), (a, -impulse * n)):
            if inverse[i] > 0.0:
                bodies.L[i] += turn
                books.given[i : i + 1, 3:] += turn  # where anybody asks for it
                ledger[FRICTION, 4:] += turn
            else:
                ledger[Account.DRIVEN, 0] -= float(turn @ bodies.w[i])
        velocity_from_momentum(books.model, bodies)
        ledger[FRICTION, 0] += 0.5 * impulse * (1.0 - restitution_psi[k]) * spin


def ball_inverse(model: Model) -> Array:
    """1/I (n,) of bodies with the same inertia I about all axes that no joint holds; 0 of those that do not move,
    nan of all others."""
    moment, free = model.inertia, (model.kind == BodyKind.DYNAMIC) & ~jointed(model)
    ball = free & (np.ptp(moment, axis=1) <= ALIKE * moment.max(axis=1))
    return np.where(ball, model.inv_inertia[:, 0], np.where(movable(model.kind), np.nan, 0.0))
