"""Exact forces of contacts whose modes are known, and the directions in which those that begin to slip do.

Given equations A f = needed of the forces f (3 c,) that leave no acceleration in the rows of contacts that neither
open nor slip, friction is -μ λ_n e of contacts that slip, along e. Of those that begin to, e is the direction of the
slip acceleration a that follows, of the two rows T of the contact,

    a = T (M f + d),    e = a/|a|

which is found by Newton's method for a. The smaller a slip acceleration, the more its direction depends on the forces:
plain iteration fails there.

With the angles θ of e, g = de/dθ across e, and the unknown forces as x = P(Qᵀy), Q x = b the equations with orthonormal
rows and P the projection on the cones of contacts that stick (`least_forces`), a turn dθ of one contact gives

    dQ = -μ (L T) g dθ in the column of its normal force,    (Q P' Qᵀ) dy = -dQ x - Q P' dQᵀy,    dx = P' (dQᵀy + Qᵀdy)

with L T the columns of its tangents in the combined equations. Hence df and T M df; and a turns by |a| dθ along g.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from .lcp_info import row_product
from .least_forces import orthonormal_rows, smallest_within, squared
from .linear import lu_factor, lu_solve

STICKS, SLIPS, BEGINS = range(3)  #: sticks; slips along e; begins to slip, along an e that is sought
ROUNDS = 30      # of Newton's method for the directions of slip, at most
SOFT = 1e-13     # added to the diagonal of Q P' Qᵀ, whose rows are orthonormal


class Modes(NamedTuple):
    """How contacts that are closed hold."""

    kind: IntArray   #: (c,) STICKS, SLIPS or BEGINS
    friction: Array  #: (c,)
    cones: Array     #: (c,) that of contacts that stick; 0 of others
    e: Array         #: (c, 2) unit directions of slip; those sought are written


@kernel
def forces_by_modes(A, needed, near, bounded, modes, M, d, slip, force_out):
    """The smallest forces (3 c,), or those nearest to `near` (3 c,), whose unknown part obeys A f = needed, A (q, 3 c),
    opposite to the slip accelerations that they cause. bounded: within the cones of what sticks, and not negative.
    M (3 c, 3 c) and d (3 c,) of these contacts; slip (c, 2): a guess of their slip accelerations, written anew. Returns
    whether they were found."""
    c, q, kind = len(modes.kind), len(A), modes.kind
    turning, unknowns = np.flatnonzero(kind == BEGINS), 0
    for k in range(c):
        unknowns += 3 if kind[k] == STICKS else 1
    t, n = len(turning), 3 * c
    W, y, pushed = np.zeros((q, n + 2 * t + 1)), np.zeros(q), np.zeros(n)
    x, P, force, gained, before = np.zeros((c, 3)), np.zeros((c, 3, 3)), force_out, np.zeros((t, 2)), math.inf
    moved = np.zeros((2 * t, t))
    for turn in range(ROUNDS + 1):
        for i in range(t):
            k = turning[i]
            size = math.hypot(slip[k, 0], slip[k, 1])
            if size == 0.0:
                return False
            modes.e[k, 0], modes.e[k, 1] = slip[k, 0] / size, slip[k, 1] / size
        rank = combine(A, needed, near, modes, turning, W)
        for i in range(rank):
            y[i] = W[i, n + 2 * t] if turn == 0 else row_product(W, i, pushed, 0, n)
        free = rank == unknowns or not bounded
        if not smallest_within(W, W[:rank, n + 2 * t].copy(), free, modes.cones, y[:rank], x, P):
            return False
        whole(near, modes, x, force)
        worst = 0.0
        for i in range(2 * t):
            r = 3 * turning[i // 2] + 1 + i % 2
            gained[i // 2, i % 2] = row_product(M, r, force, 0, n) + d[r]
            worst = max(worst, abs(gained[i // 2, i % 2] - slip[turning[i // 2], i % 2]))
        if t == 0 or worst >= 0.5 * before or turn == ROUNDS:
            return True
        before = worst
        pushed[:] = 0.0
        for i in range(rank):
            for l in range(n):
                pushed[l] += y[i] * W[i, l]
        if not turn_forces(W, y[:rank], modes, turning, M, x, near, P, moved):
            return False
        if not turn_slips(modes.e, turning, gained, moved, slip):
            return False
    return True


@helper
def combine(A, needed, near, modes, turning, W_out):
    """Write the equations of the unknown forces, each with the friction that it brings, with orthonormal rows; beside
    them the columns of tangents of contacts that begin to slip, and right-hand sides. Returns how many rows there
    are."""
    n, t = A.shape[1], len(turning)
    for i in range(len(A)):
        W_out[i, n + 2 * t] = needed[i]
        for k in range(len(modes.kind)):
            for l in range(3 * k, 3 * k + 3):
                W_out[i, l] = A[i, l]
            if modes.kind[k] != STICKS:
                along = A[i, 3 * k + 1] * modes.e[k, 0] + A[i, 3 * k + 2] * modes.e[k, 1]
                W_out[i, 3 * k] -= modes.friction[k] * along
                W_out[i, 3 * k + 1] = W_out[i, 3 * k + 2] = 0.0
        W_out[i, n + 2 * t] -= row_product(W_out, i, near, 0, n)
        for j in range(t):
            W_out[i, n + 2 * j], W_out[i, n + 2 * j + 1] = A[i, 3 * turning[j] + 1], A[i, 3 * turning[j] + 2]
    return orthonormal_rows(W_out, n)


@helper
def whole(near, modes, x, force_out):
    """All forces (3 c,) of the unknown ones, near + x."""
    for k in range(len(modes.kind)):
        for l in range(3):
            force_out[3 * k + l] = near[3 * k + l] + x[k, l]
        if modes.kind[k] != STICKS:
            pull = -modes.friction[k] * force_out[3 * k]
            force_out[3 * k + 1], force_out[3 * k + 2] = pull * modes.e[k, 0], pull * modes.e[k, 1]


@helper
def turn_forces(W, y, modes, turning, M, x, near, P, moved_out):
    """Write what a turn of each direction sought, by one radian, does to the slip accelerations (2 t, t); False where
    the equations do not say."""
    rank, t, n = len(y), len(turning), M.shape[0]
    S, order = np.empty((rank, rank)), np.empty(rank, np.int32)
    squared(W, rank, P, S)
    for i in range(rank):
        S[i, i] += SOFT
    if not lu_factor(S, order):
        return False
    dy, dv, df = np.zeros(rank), np.zeros(n), np.zeros(n)
    for j in range(t):
        k = turning[j]
        mu, g1, g2, pull = modes.friction[k], -modes.e[k, 1], modes.e[k, 0], 0.0
        for i in range(rank):
            pull -= mu * y[i] * (W[i, n + 2 * j] * g1 + W[i, n + 2 * j + 1] * g2)  # of dQᵀy
        for i in range(rank):
            across = W[i, n + 2 * j] * g1 + W[i, n + 2 * j + 1] * g2
            dy[i] = mu * across * (near[3 * k] + x[k, 0]) - W[i, 3 * k] * P[k, 0, 0] * pull
        lu_solve(S, order, dy)
        dv[:] = 0.0
        for i in range(rank):
            for l in range(n):
                dv[l] += dy[i] * W[i, l]
        dv[3 * k] += pull
        for m in range(len(modes.kind)):
            for a in range(3):
                df[3 * m + a] = P[m, a, 0] * dv[3 * m] + P[m, a, 1] * dv[3 * m + 1] + P[m, a, 2] * dv[3 * m + 2]
            if modes.kind[m] != STICKS:
                rub = -modes.friction[m] * df[3 * m]
                df[3 * m + 1], df[3 * m + 2] = rub * modes.e[m, 0], rub * modes.e[m, 1]
        df[3 * k + 1] -= mu * (near[3 * k] + x[k, 0]) * g1
        df[3 * k + 2] -= mu * (near[3 * k] + x[k, 0]) * g2
        for i in range(2 * t):
            moved_out[i, j] = row_product(M, 3 * turning[i // 2] + 1 + i % 2, df, 0, n)
    return True


@helper
def turn_slips(e, turning, gained, moved, slip):
    """A step of Newton's method for the slip accelerations (c, 2) from those gained (t, 2); False: singular."""
    t = len(turning)
    G, order, angle = np.empty((t, t)), np.empty(t, np.int32), np.empty(t)
    for i in range(t):
        k = turning[i]
        g1, g2 = -e[k, 1], e[k, 0]
        for j in range(t):
            G[i, j] = g1 * moved[2 * i, j] + g2 * moved[2 * i + 1, j]
        G[i, i] -= math.hypot(slip[k, 0], slip[k, 1])
        angle[i] = -(g1 * gained[i, 0] + g2 * gained[i, 1])
    if not lu_factor(G, order):
        return False
    lu_solve(G, order, angle)
    for i in range(t):
        for l in range(2):
            slip[turning[i], l] = gained[i, l] + row_product(moved, 2 * i + l, angle, 0, t)
    return True
