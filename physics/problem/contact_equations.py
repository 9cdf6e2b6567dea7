"""The contact equations: how separation and slip of touching elements accelerate under forces at the contacts.

    H q̈ + C = τ + Tλ,   ζ = Tᵀ q̇,   ζ̇ = M λ + d,   M = TᵀH⁻¹T,   d = TᵀH⁻¹(τ - C) + Ṫᵀq̇   [RBDA eqs. 11.28–11.36]

Each contact has three rows: the normal and two tangents. Here q̇ holds, free body after free body, the velocity of the
centre of mass and the angular velocity in the world frame, where H is block diagonal and C = (0, ω × I ω), and then the
joint velocities of all links (see `dynamics.trees.contacts`).

The velocity terms Ṫᵀq̇ contain how the contact point wanders over both surfaces and turns the normal. With σ the
velocity of the point over each surface, n the outward normal of a and -n that of b, u the velocity of b's material at
the point over a's, and surfaces given by (α, β) along their principal directions e (see `collision.exact.gaps`),

    ṅ = ω_a × n + Σ α_i s_i e_i,    σ_a = Σ β_i s_i e_i
    ṅ = ω_b × n - Σ α'_j s'_j e'_j,   σ_b = Σ β'_j s'_j e'_j
    σ_b - σ_a + u_t = φ ṅ                                        (both points stay on the common normal)

are four linear equations for s, s' in the tangent plane. Then, with g = ω_b × ṙ_b - ω_a × ṙ_a, ṙ = ω × r + σ,

    ζ̇ = n·(a_b + α_b × r_b - a_a - α_a × r_a) + n·g + ṅ·u        [RBDA eq. 11.30, with ṅ of both surfaces]

where a link's a and α contain its accelerations at v̇ = 0; and likewise, for a contact that does not slip, with a
tangent in place of n and without the last term. Surfaces that run over their bodies at b = s + w × r slip at
u + b_b - b_a in the tangent plane. Its rate contains

    ḃ = ω × b + w × σ

of both, less ṅ n·(b_b - b_a) where a surface runs out of itself.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import LINK, Array, BodyKind, IntArray, Model
from ..core.sym3 import three
from ..core.vec import add, axpy, cross, dot, neg, put, rotate, row, row4, scale, sub, tangents
from ..dynamics.constraints.reactions import Reactions, find_joints, hold_free, hold_rows, reactions_of
from ..dynamics.free_body import acceleration, angular_velocity, velocity_from_momentum
from ..dynamics.grab_joined import pull_joined
from ..dynamics.motion import driven_acceleration
from ..dynamics.trees.contacts import put_end, weigh_links
from ..dynamics.trees.rates import TreeScratch, empty_tree_scratch
from .assemble import surface_velocity
from .system import velocity_between


class Equations(NamedTuple):
    """Rows 3 i (normal), 3 i + 1 and 3 i + 2 (tangents) belong to contact i; n_v = 6 times the dynamic bodies, and the
    velocities of all links."""

    slot: IntArray      #: (n,)      first of the body's six places in q̇, -1 where it is not dynamic
    owner: IntArray     #: (n_d,)    the dynamic bodies
    tangent_1: Array    #: (c, 3)    unit, world frame
    tangent_2: Array    #: (c, 3)
    place: IntArray     #: (c, 2)    first of the six places of each free body of a contact, -1 where it is none
    T: Array            #: (3 c, n_v) the transpose of RBDA's T; zero but in those places and in those of links
    HT: Array           #: (3 c, n_v) TᵀH⁻¹, likewise
    u: Array            #: (3 c,)    Tᵀq̇: ζ and slip, belts that run included [m/s]
    rate: Array         #: (3 c,)    Ṫᵀq̇ and the accelerations of driven bodies [m/s2]
    free: Array         #: (n_v,)    H⁻¹(τ - C)
    work: Array         #: (4, 5)    scratch
    bias: Array         #: (n, 6)    J̇ v of links: acceleration of the centre of mass, angular acceleration; else 0
    trees: TreeScratch  #: the links at their coordinates trees.q, trees.v: see `dynamics.trees.contacts`
    reactions: Reactions     #: of joints in maximal coordinates; once they are found, HT and `free` contain them


def empty_equations(model: Model, contacts: int) -> Equations:
    """Room for the equations of so many contacts between the bodies of a model."""
    dynamic = model.kind == BodyKind.DYNAMIC
    trees, reactions = empty_tree_scratch(model.trees), reactions_of(model, drives=True)
    size = 6 * int(dynamic.sum()) + len(trees.v)
    return Equations(
        reactions.slot, np.flatnonzero(dynamic).astype(np.int32), np.zeros((contacts, 3)), np.zeros((contacts, 3)),
        np.full((contacts, 2), -1, np.int32), np.zeros((3 * contacts, size)),
        np.zeros((3 * contacts, size)), np.zeros(3 * contacts), np.zeros(3 * contacts), np.zeros(size),
        np.zeros((4, 5)), np.zeros((len(model.kind), 6)), trees, reactions,
    )


@helper
def solve_small(a, n):
    """Solve n equations a[:n, :n] x = a[:n, n] by elimination with row exchanges; x lands in column n. A pivot that
    vanishes gives x = 0 there."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if best != k:
            for j in range(k, n + 1):
                a[k, j], a[best, j] = a[best, j], a[k, j]
        pivot = a[k, k]
        if pivot == 0.0:
            continue
        for i in range(k + 1, n):
            factor = a[i, k] / pivot
            if factor != 0.0:
                for j in range(k + 1, n + 1):
                    a[i, j] -= factor * a[k, j]
    for k in range(n - 1, -1, -1):
        total = a[k, n]
        for j in range(k + 1, n):
            total -= a[k, j] * a[j, n]
        a[k, n] = total / a[k, k] if a[k, k] != 0.0 else 0.0


@helper
def is_flat(curve, k):
    """Whether the normal of a surface stays as its point moves: α = 0 in both directions."""
    return curve[k, 0] == 0.0 and curve[k, 2] == 0.0


@helper
def is_round(curve, k):
    """Whether it turns in both directions."""
    return curve[k, 0] != 0.0 and curve[k, 2] != 0.0


@helper
def moved_over(curve, k, e1, e2, turn):
    """How the point moves over a round surface whose normal turns so: Σ β_i s_i e_i with α_i s_i = e_i·turn."""
    along, across = dot(e1, turn) / curve[k, 0], dot(e2, turn) / curve[k, 2]
    return add(scale(curve[k, 1] * along, e1), scale(curve[k, 3] * across, e2))


@helper
def wander(witness, k, n, spin_a, spin_b, u, work):
    """ṅ, σ_a and σ_b of contact k: the four equations above. Where one surface is flat, as where a corner or a ball
    stands on a face, the normal is its own, and they are solved one after the other."""
    e1, f1 = row(witness.u_a, k), row(witness.u_b, k)
    e2, f2 = cross(n, e1), cross(n, f1)
    turn_a, turn_b = cross(spin_a, n), cross(spin_b, n)
    gap = witness.gap[k]
    right = sub(turn_b, turn_a)
    if is_flat(witness.curve_a, k) and is_round(witness.curve_b, k):
        sigma_b = moved_over(witness.curve_b, k, f1, f2, right)
        return turn_a, add(sigma_b, axpy(-gap, turn_a, u)), sigma_b
    if is_flat(witness.curve_b, k) and is_round(witness.curve_a, k):
        sigma_a = moved_over(witness.curve_a, k, e1, e2, right)
        return turn_b, sigma_a, add(sigma_a, axpy(gap, turn_b, neg(u)))
    slide = sub(scale(gap, turn_a), u)
    for i in range(2):
        e = e1 if i == 0 else e2
        work[i, 0], work[i, 1] = witness.curve_a[k, 0] * dot(e, e1), witness.curve_a[k, 2] * dot(e, e2)
        work[i, 2], work[i, 3] = witness.curve_b[k, 0] * dot(e, f1), witness.curve_b[k, 2] * dot(e, f2)
        work[i, 4] = dot(e, right)
        work[2 + i, 0] = -(witness.curve_a[k, 1] + gap * witness.curve_a[k, 0]) * dot(e, e1)
        work[2 + i, 1] = -(witness.curve_a[k, 3] + gap * witness.curve_a[k, 2]) * dot(e, e2)
        work[2 + i, 2], work[2 + i, 3] = witness.curve_b[k, 1] * dot(e, f1), witness.curve_b[k, 3] * dot(e, f2)
        work[2 + i, 4] = dot(e, slide)
    solve_small(work, 4)
    s1, s2, s3, s4 = work[0, 4], work[1, 4], work[2, 4], work[3, 4]
    n_dot = add(turn_a, add(scale(witness.curve_a[k, 0] * s1, e1), scale(witness.curve_a[k, 2] * s2, e2)))
    sigma_a = add(scale(witness.curve_a[k, 1] * s1, e1), scale(witness.curve_a[k, 3] * s2, e2))
    sigma_b = add(scale(witness.curve_b[k, 1] * s3, f1), scale(witness.curve_b[k, 3] * s4, f2))
    return n_dot, sigma_a, sigma_b


@helper
def place_in_row(model, eq, i):
    """Where body i has its velocities in the rows of T, for `put_end`."""
    if i < 0:
        return -1
    return len(eq.free) - len(eq.trees.v) if model.kind[i] == LINK else int(eq.slot[i])


@helper
def clear_rows(eq, k, a, b):
    """Make the rows of contact k zero, which then are to be those of slots a and b."""
    first = len(eq.free) - len(eq.trees.v)
    for r in range(3 * k, 3 * k + 3):
        for side in range(2):
            for j in range(6 if eq.place[k, side] >= 0 else 0):
                eq.T[r, eq.place[k, side] + j] = eq.HT[r, eq.place[k, side] + j] = 0.0
        for j in range(first, len(eq.free)):
            eq.T[r, j] = 0.0
    eq.place[k, 0], eq.place[k, 1] = a, b


@helper
def bias_acceleration(bias, i, arm):
    """What the velocities alone make of the acceleration of a body's point: a + α × r"""
    return add((bias[i, 0], bias[i, 1], bias[i, 2]), cross((bias[i, 3], bias[i, 4], bias[i, 5]), arm))


@helper
def belt_of(motions, bodies, i, arm, sigma):
    """b and ḃ of body i's running surface at the arm of a contact that wanders over it with σ: [m/s] and [m/s2]."""
    q = row4(bodies.q, i)
    b = surface_velocity(motions.surface_velocity, motions.surface_spin, i, q, arm)
    turn = cross(rotate(q, row(motions.surface_spin, i)), sigma)
    return b, add(cross(row(bodies.w, i), b), turn)


@kernel
def contact_rows(model, t, bodies, witness, count, eq):
    """Write T, u and rate of contacts 0 … count - 1 at the poses and velocities of the bodies. Links need the work of
    `place_links` in eq.trees; the rates also `accelerate_links`."""
    for k in range(count):
        a, b = int(witness.body_a[k]), int(witness.body_b[k])
        n = row(witness.normal, k)
        arm_a = sub(row(witness.p_a, k), row(bodies.x, a))
        arm_b = sub(row(witness.p_b, k), row(bodies.x, b))
        spin_a, spin_b = row(bodies.w, a), row(bodies.w, b)
        u = velocity_between(row(bodies.v, a), spin_a, arm_a, row(bodies.v, b), spin_b, arm_b)
        zeta = dot(u, n)
        n_dot, sigma_a, sigma_b = wander(witness, k, n, spin_a, spin_b, axpy(-zeta, n, u), eq.work)
        g = sub(cross(spin_b, add(cross(spin_b, arm_b), sigma_b)), cross(spin_a, add(cross(spin_a, arm_a), sigma_a)))
        g = add(g, sub(driven_acceleration(model, b, t), driven_acceleration(model, a, t)))
        g = add(g, sub(bias_acceleration(eq.bias, b, arm_b), bias_acceleration(eq.bias, a, arm_a)))
        belt_a, belt_rate_a = belt_of(model.motions, bodies, a, arm_a, sigma_a)
        belt_b, belt_rate_b = belt_of(model.motions, bodies, b, arm_b, sigma_b)
        belt = sub(belt_b, belt_a)
        slip_rate = axpy(-dot(n, belt), n_dot, add(g, sub(belt_rate_b, belt_rate_a)))
        t1, t2 = tangents(n)
        put(eq.tangent_1, k, t1)
        put(eq.tangent_2, k, t2)
        clear_rows(eq, k, int(eq.slot[a]), int(eq.slot[b]))
        at_a, at_b = place_in_row(model, eq, a), place_in_row(model, eq, b)
        for i in range(3):
            r = 3 * k + i
            direction = n if i == 0 else (t1 if i == 1 else t2)
            back = neg(direction)
            put_end(model, eq.trees.work, b, at_b, direction, cross(arm_b, direction), eq.T[r])
            put_end(model, eq.trees.work, a, at_a, back, cross(arm_a, back), eq.T[r])
            eq.u[r] = zeta if i == 0 else dot(direction, add(u, belt))
            eq.rate[r] = dot(n, g) + dot(n_dot, u) if i == 0 else dot(direction, slip_rate)


@kernel
def weigh_rows(model, bodies, count, eq):
    """HT = TᵀH⁻¹ of contacts 0 … count - 1: of free bodies I⁻¹ = R I_body⁻¹ Rᵀ and 1/m; of trees by their recursions,
    which need what `accelerate_links` left; with what joints in maximal coordinates take of it, see
    `accelerate_bodies`."""
    for r in range(3 * count):
        for j in range(len(eq.free) - len(eq.trees.v) if len(eq.reactions.lam) > 0 else 0):
            eq.HT[r, j] = 0.0
        weigh_links(model.trees, eq.trees.work, eq.T, r, eq.HT)
        for side in range(2):
            j = int(eq.place[r // 3, side])
            if j < 0:
                continue
            i = int(eq.owner[j // 6])
            turn = angular_velocity(row4(bodies.q, i), row(model.inv_inertia, i), three(eq.T, r, j + 3))
            for k in range(3):
                eq.HT[r, j + k] = model.inv_mass[i] * eq.T[r, j + k]
                eq.HT[r, j + 3 + k] = turn[k]
    if len(eq.reactions.lam) > 0:
        hold_rows(eq.reactions, 3 * count, eq.HT)


@kernel
def accelerate_bodies(model, loads, t, h, bodies, force, torque, ydot, eq):
    """H⁻¹(τ - C) of free bodies, and the reactions of joints in maximal coordinates taken into all of it; `weigh_rows`
    comes after it. The mouse spring on a body that these joints hold is added to the forces (n, 3) and torques on the
    bodies and to the rates of P and L in ydot (n, 13)."""
    find_joints(model, t, bodies, eq.bias, eq.trees.v, eq.trees.work, eq.reactions)
    pull_joined(model, loads, bodies, h, eq.reactions, force, torque, ydot)
    for i in eq.owner:
        j, (linear, angular) = int(eq.slot[i]), acceleration(model, bodies, i, row(force, i), row(torque, i))
        for k in range(3):
            eq.free[j + k], eq.free[j + 3 + k] = linear[k], angular[k]
    hold_free(eq.reactions, eq.free)


@helper
def inner(eq, i, j):
    """M_ij: row i of TᵀH⁻¹ times row j of T, where both have something."""
    k, l, spread = i // 3, j // 3, len(eq.reactions.lam) > 0
    total = 0.0
    for side in range(2):
        p = eq.place[l, side]
        if p >= 0 and (spread or p == eq.place[k, 0] or p == eq.place[k, 1]):
            for m in range(6):
                total += eq.HT[i, p + m] * eq.T[j, p + m]
    for m in range(len(eq.free) - len(eq.trees.v), len(eq.free)):
        total += eq.HT[i, m] * eq.T[j, m]
    return total


@helper
def add_row(eq, r, factor, push_out):
    """Add `factor` times row r of T to generalized forces (n_v,)."""
    for side in range(2):
        p = int(eq.place[r // 3, side])
        for m in range(p, p + 6 if p >= 0 else p):
            push_out[m] += factor * eq.T[r, m]
    for m in range(len(eq.free) - len(eq.trees.v), len(eq.free)):
        push_out[m] += factor * eq.T[r, m]


@helper
def own_rate(eq, bodies, r):
    """The part of Tᵀq̇ of row r that free bodies and links make: all but that of bodies with a prescribed motion."""
    total, first = 0.0, len(eq.free) - len(eq.trees.v)
    for side in range(2):
        p = int(eq.place[r // 3, side])
        for k in range(3 if p >= 0 else 0):
            i = int(eq.owner[p // 6])
            total += eq.T[r, p + k] * bodies.v[i, k] + eq.T[r, p + 3 + k] * bodies.w[i, k]
    for d in range(len(eq.trees.v)):
        total += eq.T[r, first + d] * eq.trees.v[d]
    return total


@helper
def free_rate(eq, i):
    """d_i: what row i would accelerate at without contact forces."""
    total = eq.rate[i]
    for side in range(2):
        p = eq.place[i // 3, side]
        for m in range(6 if p >= 0 else 0):
            total += eq.T[i, p + m] * eq.free[p + m]
    for m in range(len(eq.free) - len(eq.trees.v), len(eq.free)):
        total += eq.T[i, m] * eq.free[m]
    return total


@kernel
def contact_matrix(first, end, eq, M_out, d_out):
    """Rows first … end - 1 of M (3 c, 3 c), as far as the diagonal, with the columns that mirror them, and of d (3 c,);
    each contact has three rows   [RBDA eqs. 11.35, 11.36]"""
    joined = len(eq.reactions.lam) + len(eq.trees.v) > 0
    for i in range(first, end):
        d_out[i] = free_rate(eq, i)
        a, b = eq.place[i // 3, 0], eq.place[i // 3, 1]
        for k in range(i // 3 + 1):
            p, q = eq.place[k, 0], eq.place[k, 1]
            apart = not joined and (a < 0 or (a != p and a != q)) and (b < 0 or (b != p and b != q))
            for j in range(3 * k, min(3 * k + 3, i + 1)):
                M_out[i, j] = M_out[j, i] = 0.0 if apart else inner(eq, j, i)


@kernel
def push(model, eq, generalized, bodies_out):
    """Momenta of free bodies after a generalized impulse (n_v,), and the velocities after it."""
    for i in eq.owner:
        j = int(eq.slot[i])
        for k in range(3):
            bodies_out.P[i, k] += generalized[j + k]
            bodies_out.L[i, k] += generalized[j + 3 + k]
    velocity_from_momentum(model, bodies_out)


@kernel
def separation_rates(witness, bodies, count, zeta_out):
    """ζ = n·(v_b - v_a) at the nearest points of pairs 0 … count - 1 [m/s]: the rate of the gap."""
    for k in range(count):
        a, b = int(witness.body_a[k]), int(witness.body_b[k])
        arm_a = sub(row(witness.p_a, k), row(bodies.x, a))
        arm_b = sub(row(witness.p_b, k), row(bodies.x, b))
        u = velocity_between(row(bodies.v, a), row(bodies.w, a), arm_a, row(bodies.v, b), row(bodies.w, b), arm_b)
        zeta_out[k] = dot(row(witness.normal, k), u)
