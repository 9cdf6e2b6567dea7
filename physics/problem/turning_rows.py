"""Moments against spinning and rolling as rows of the contact equations, beside the three rows of their contact.

    u = L n·ω,  L t·ω with ω = ω_b - ω_a,    force m/L,    |m_n|/L <= (ℓ_ψ/L) λ,  |m_t|/L <= (ℓ_r/L) λ

A length L makes velocities [m/s] and forces [N] of them, so they are friction like that along the tangents, with a
coefficient ℓ/L, but bounded by the normal force of another row: that of the contact which *bears* them. What opposes
the spin of a pair of surface elements, and what opposes its rolling, is named like a pair, by numbers from TURNS and
from 2 TURNS on, and has three rows like one, of which the normal one is 0; so is the second tangent of a spin, whose
first one is the normal n. Their rates, with ṅ of the contact and s the spin of running surfaces,

    d/dt n·ω = n·(α + ω_b × s_b - ω_a × s_a) + ṅ·ω,    d/dt t·ω = t·(…) - (t·ṅ)(n·ω)

hold the parts of ω along and across a normal that turns.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray, Model
from ..core.state import LongArray
from ..core.sym3 import three
from ..core.vec import add, axpy, cross, dot, neg, put, row, scale, sub, tangents
from ..dynamics.constraints.limits import TURNS
from ..dynamics.trees.contacts import put_end
from ..laws.contact import turning_lengths
from .contact_equations import clear_rows, place_in_row, wander
from .moments import running_spin
from .problem import MomentRows
from .system import velocity_between

SPIN, ROLL = 1, 2       # pair // TURNS of what opposes spinning, and rolling
NONE = (0.0, 0.0, 0.0)
#: least L in parts of a body's radius of gyration: beside rows of much less than that rounding would hide the turning.
#: The longer L is, the more of a load that is shared in several ways goes to moments, beyond their bounds
SHORTEST = 0.01


class Turning(NamedTuple):
    """What materials and bodies say of turning."""

    lengths: Array  #: (m, m, 2) ℓ_ψ and ℓ_r of pairs of materials [m]
    size: Array     #: (n,) radius of gyration [m]; -1 of a particle, which has no orientation; 0 where there is no mass


def turning_of(model: Model) -> Turning:
    """Those of a model."""
    mass, inertia = model.mass, model.inertia.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(mass > 0.0, np.sqrt(inertia / mass), 0.0)
    return Turning(turning_lengths(model.materials), np.where((mass > 0.0) & (inertia == 0.0), -1.0, size))


class Borne(NamedTuple):
    """What opposes the turning of contacts, k in all: the spinning first, then the rolling."""

    bearer: IntArray  #: (k,) the contact whose normal force bounds it
    kind: LongArray   #: (k,) SPIN or ROLL
    limit: Array      #: (k,) ℓ [m]
    length: Array     #: (k,) L [m]


def borne_by(turning: Turning, contact: NDArray[np.integer[Any]], material: IntArray, body: IntArray) -> Borne:
    """What these contacts (c,) bear between materials (c, 2) of bodies (c, 2)."""
    limits, oriented = turning.lengths[tuple(material.T)], turning.size[body].min(axis=1, initial=0.0) >= 0.0
    which, row = np.nonzero(((limits > 0.0) & oriented[:, None]).T)
    limit = limits[row, which]
    return Borne(contact[row].astype(np.int32), (SPIN + which).astype(np.int64), limit,
                 row_lengths(turning, limit, *body[row].T))


def row_lengths(turning: Turning, length: Array, a: IntArray, b: IntArray) -> Array:
    """L (k,) for ℓ (k,) of pairs of bodies a and b (k,) [m]."""
    return np.maximum(length, SHORTEST * np.maximum(turning.size[a], turning.size[b]))


def moment_rows(borne: Borne, M: Array, d: Array, u: Array) -> MomentRows | None:
    """What contacts bear as data, without the lengths L, from M (3 (c + k), 3 (c + k)), d and u of the equations of c
    contacts and what they bear; None where that is nothing. u = 0 where d are velocities."""
    if not len(borne.bearer):
        return None
    block = np.repeat(np.arange(len(borne.bearer)), np.where(borne.kind == SPIN, 1, 2))
    first, second = len(d) - 3 * len(borne.bearer), np.append(False, block[1:] == block[:-1])
    at, scale = first + 3 * block + 1 + second, 1.0 / borne.length[block]
    return MomentRows(borne.bearer[block], borne.kind[block] == SPIN, borne.limit[block], M[:first, at] * scale,
                      scale[:, None] * M[np.ix_(at, at)] * scale, scale * d[at], scale * u[at])


@helper
def row_length(turning, length, a, b):
    """L of a row with the length ℓ between two bodies."""
    return max(length, SHORTEST * max(turning.size[a], turning.size[b]))


@helper
def length_of(turning, surface, pair):
    """ℓ of what opposes the turning of a pair of elements."""
    e, count = int(pair) % TURNS, len(surface.kind)
    m, o = surface.material[surface.shape[e // count]], surface.material[surface.shape[e % count]]
    return turning.lengths[m, o, int(pair) // TURNS - 1]


@helper
def opposed(turning, surface, pair):
    """How many numbers beyond TURNS a pair of elements has: whether its spin and its rolling are opposed."""
    count, found = len(surface.kind), 0
    if pair >= count * count:
        return 0
    e, f = int(pair) // count, int(pair) % count
    if turning.size[surface.body[e]] < 0.0 or turning.size[surface.body[f]] < 0.0:
        return 0
    for i in range(2):
        if turning.lengths[surface.material[surface.shape[e]], surface.material[surface.shape[f]], i] > 0.0:
            found += 1
    return found


@helper
def bearer_of(pairs, count, k):
    """The place among the pairs 0 … count - 1 of the one whose normal force bounds the friction of pair k."""
    found = k
    if pairs[k] >= TURNS:
        for i in range(count):
            if pairs[i] == pairs[k] % TURNS:
                found = i
    return found


@kernel
def find_bearers(pairs, count, witness):
    """Fill the rows of what opposes turning with the witness of the contact that bears it; no gap, no rim."""
    for k in range(count):
        if pairs[k] < TURNS:
            continue
        j = bearer_of(pairs, count, k)
        witness.body_a[k], witness.body_b[k] = witness.body_a[j], witness.body_b[j]
        put(witness.p_a, k, row(witness.p_a, j))
        put(witness.p_b, k, row(witness.p_b, j))
        put(witness.normal, k, row(witness.normal, j))
        witness.gap[k], witness.margin[k], witness.facing[k] = 0.0, np.inf, 1.0
        put(witness.u_a, k, NONE)
        put(witness.u_b, k, NONE)
        for i in range(4):
            witness.curve_a[k, i] = witness.curve_b[k, i] = 0.0


@helper
def spin_of(model, bodies, i):
    """ω + s of body i and its surface, and ω × s."""
    spin = running_spin(model.motions, bodies, i)
    return add(row(bodies.w, i), spin), cross(row(bodies.w, i), spin)


@kernel
def turning_rows(model, surface, turning, bodies, pairs, witness, count, eq):
    """Write T, u and rate of what opposes turning among the pairs 0 … count - 1, after those of all contacts. Their
    normal in the witness becomes 0."""
    for k in range(count):
        if pairs[k] < TURNS:
            continue
        j, a, b = bearer_of(pairs, count, k), witness.body_a[k], witness.body_b[k]
        length = row_length(turning, length_of(turning, surface, pairs[k]), a, b)
        put(witness.normal, k, NONE)
        turning_row(model, bodies, witness, j, k, pairs[k] < 2 * TURNS, length, eq)


@kernel
def borne_rows(model, bodies, witness, bearer, kind, length, count, eq):
    """Write T, u and rate of what opposes the turning of contacts among 0 … count - 1, after theirs: bearer, SPIN or
    ROLL, and L (k,) of each."""
    for i in range(len(bearer)):
        turning_row(model, bodies, witness, int(bearer[i]), count + i, kind[i] == SPIN, length[i], eq)


@helper
def turning_row(model, bodies, witness, j, k, spins, length, eq):
    """Write T, u and rate of block k, which opposes the spinning of contact j, or its rolling."""
    a, b, n = int(witness.body_a[j]), int(witness.body_b[j]), row(witness.normal, j)
    (w_a, rate_a), (w_b, rate_b) = spin_of(model, bodies, a), spin_of(model, bodies, b)
    w = sub(w_b, w_a)
    alpha = add(sub(rate_b, rate_a), sub(three(eq.bias, b, 3), three(eq.bias, a, 3)))
    arm_a, arm_b = sub(row(witness.p_a, j), row(bodies.x, a)), sub(row(witness.p_b, j), row(bodies.x, b))
    u = velocity_between(row(bodies.v, a), row(bodies.w, a), arm_a, row(bodies.v, b), row(bodies.w, b), arm_b)
    n_dot = wander(witness, j, n, row(bodies.w, a), row(bodies.w, b), axpy(-dot(u, n), n, u), eq.work)[0]
    t1, t2 = tangents(n)
    put(eq.tangent_1, k, n if spins else t1)
    put(eq.tangent_2, k, NONE if spins else t2)
    clear_rows(eq, k, int(eq.slot[a]), int(eq.slot[b]))
    at_a, at_b = place_in_row(model, eq, a), place_in_row(model, eq, b)
    for r in range(3 * k, 3 * k + 3):
        eq.u[r], eq.rate[r] = 0.0, 0.0
    for i in range(1 if spins else 2):
        r, e = 3 * k + 1 + i, row(eq.tangent_1, k) if i == 0 else row(eq.tangent_2, k)
        moment = scale(length, e)
        put_end(model, eq.trees.work, b, at_b, NONE, moment, eq.T[r])
        put_end(model, eq.trees.work, a, at_a, NONE, neg(moment), eq.T[r])
        eq.u[r] = dot(moment, w)
        eq.rate[r] = dot(moment, alpha) + length * (dot(n_dot, w) if spins else -dot(e, n_dot) * dot(n, w))
