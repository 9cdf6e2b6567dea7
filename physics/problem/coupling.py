"""How bodies that joints connect answer impulses: by all of them, at once.

A contact's impulse on one body of a mechanism moves the others through the joints' impulses. The answers are worked out
once a step for each contact, mouse spring and bounded axis, as columns

    K = M⁻¹ g - M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ J M⁻¹ g                g: what one unit of the impulse does by itself

so that a solver that changes an impulse by Δ changes velocities by K Δ, and J u⁺ = b holds after every one of its
steps: joints are solved exactly together with contacts, whatever the ratios of masses.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, IntArray
from ..core.sym3 import point_response, six, sym_inverse, sym_vec, three
from ..core.vec import add, cross, dot, scale, sub
from ..dynamics.constraints.blocks import Constraints
from ..dynamics.constraints.ldl import solve_block
from .assemble import put_own_block
from .problem import ARM_A, ARM_B, INV_INERTIA, INV_MASS, NORMAL, System

SLIGHT = 1e-9  # part of a body's own answer that is added where joints hold it: no direction is quite without
HELD = 1e-6    # the same for the mouse spring, which may pull at the joint itself


class Bounded(NamedTuple):
    """Rows of axes whose impulse has bounds: limits and motors of joints.  u = J·u_bodies + bias."""

    count: IntArray   #: (1,)
    a: IntArray       #: (k,) body, -1 = the world
    b: IntArray       #: (k,)
    J: Array          #: (k, 12)
    bias: Array       #: (k,) [m/s] or [rad/s]
    low: Array        #: (k,) least impulse [N s] or [N m s]
    high: Array       #: (k,) greatest
    own: Array        #: (k,) J K: how u answers its own impulse
    impulse: Array    #: (k,)


class Coupling(NamedTuple):
    """Columns K, sparse by bodies. Contact k has columns 3 k + (0, 1, 2), impulses along x, y, z on body b; then come
    three of the mouse spring, then one for each bounded row. A column without bodies: the plain answer."""

    start: IntArray   #: (columns + 1,) column c has entries start[c] : start[c + 1]
    body: IntArray    #: (entries,)
    K: Array          #: (entries, 6) change of v and ω
    bounded: Bounded


def empty_bounded(size: int) -> Bounded:
    ints = np.zeros(size, np.int32)
    return Bounded(np.zeros(1, np.int32), ints, ints.copy(), np.zeros((size, 12)), *np.zeros((5, size)))


def empty_coupling(contacts: int, bounded: int, entries: int) -> Coupling:
    """Room for so many contacts, bounded rows and entries."""
    columns = 3 * contacts + 3 + bounded
    return Coupling(np.zeros(columns + 1, np.int32), np.zeros(entries, np.int32), np.zeros((entries, 6)),
                    empty_bounded(bounded))


@helper
def island_at(islands, i):
    """Island of a body, -1 = none."""
    if i < 0:
        return -1
    return int(islands.of_body[i])


@helper
def open_column(islands, a, b, start, body_out, K_out):
    """List the bodies of a column of an impulse between a and b from entry `start` on, with K = 0; returns the end."""
    end = start
    i_a, i_b = island_at(islands, a), island_at(islands, b)
    if i_a < 0 and i_b < 0:
        return end
    for side in range(2):
        island, i = (i_a, a) if side == 0 else (i_b, b)
        if island < 0:
            if i >= 0:
                body_out[end] = i
                end += 1
        elif side == 0 or island != i_a:
            for p in range(islands.first[island], islands.first[island + 1]):
                body_out[end] = islands.bodies[p]
                end += 1
    for p in range(start, end):
        for j in range(6):
            K_out[p, j] = 0.0
    return end


@helper
def entry_of(islands, a, b, i, start):
    """Entry of body i in a column of an impulse between a and b."""
    i_a, i_b, island = island_at(islands, a), island_at(islands, b), island_at(islands, i)
    if i_a < 0:  # a stands alone
        if i == a:
            return start
        return start + (1 if a >= 0 else 0) + int(islands.slot[i])
    if island == i_a:
        return start + int(islands.slot[i])
    after = start + int(islands.first[i_a + 1] - islands.first[i_a])
    return after + (int(islands.slot[i]) if i_b >= 0 else 0)


@helper
def answer_alone(bodies, i, impulse, moment, K_out, p):
    """Add to entry p the velocities that an impulse and a moment give the body i by itself."""
    turn = sym_vec(six(bodies, i, INV_INERTIA), moment)
    for j in range(3):
        K_out[p, j] += bodies[i, INV_MASS] * impulse[j]
        K_out[p, 3 + j] += turn[j]


@helper
def is_end(i, a, b):
    if i == a:
        return True
    return i == b


@helper
def through_joints(islands, rows, J, W, factor, lam, a, b, start, K_out):
    """K -= M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ J K in the islands of a and b."""
    i_a, i_b = island_at(islands, a), island_at(islands, b)
    for side in range(2):
        island = i_a if side == 0 else i_b
        if island < 0 or (side == 1 and island == i_a):
            continue
        low, high = int(islands.rows[island]), int(islands.rows[island + 1])
        for r in range(low, high):
            total = 0.0
            for end in range(2):
                i = int(rows.a[r]) if end == 0 else int(rows.b[r])
                if i >= 0 and is_end(i, a, b) and islands.of_body[i] == island:
                    p = entry_of(islands, a, b, i, start)
                    for j in range(6):
                        total += J[r, 6 * end + j] * K_out[p, j]
            lam[r] = -total
        solve_block(factor, low, high, lam)
        for r in range(low, high):
            for end in range(2):
                i = int(rows.a[r]) if end == 0 else int(rows.b[r])
                if i >= 0 and islands.of_body[i] == island:
                    p = entry_of(islands, a, b, i, start)
                    for j in range(6):
                        K_out[p, j] += lam[r] * W[r, 6 * end + j]


@helper
def entries_of(islands, a, b):
    """Entries of a column of an impulse between a and b."""
    i_a, i_b = island_at(islands, a), island_at(islands, b)
    if i_a < 0 and i_b < 0:
        return 0
    total = int(islands.first[i_a + 1] - islands.first[i_a]) if i_a >= 0 else (1 if a >= 0 else 0)
    if i_b < 0:
        return total + (1 if b >= 0 else 0)
    return total if i_b == i_a else total + int(islands.first[i_b + 1] - islands.first[i_b])


@kernel
def count_entries(system, bounded, islands):
    """Entries of all columns of a system."""
    total = 0
    for k in range(int(system.count[0])):
        total += 3 * entries_of(islands, int(system.body_a[k]), int(system.body_b[k]))
    if system.grab.body[0] >= 0:
        total += 3 * entries_of(islands, -1, int(system.grab.body[0]))
    for k in range(int(bounded.count[0])):
        total += entries_of(islands, int(bounded.a[k]), int(bounded.b[k]))
    return total


@helper
def velocity_at(islands, a, b, i, arm, start, K):
    """Velocity that a column gives the point at the end of an arm of body i."""
    if i < 0:
        return (0.0, 0.0, 0.0)
    p = entry_of(islands, a, b, i, start)
    return add((K[p, 0], K[p, 1], K[p, 2]), cross((K[p, 3], K[p, 4], K[p, 5]), arm))


@helper
def unit_vector(d):
    return (1.0 if d == 0 else 0.0, 1.0 if d == 1 else 0.0, 1.0 if d == 2 else 0.0)


@kernel
def couple_contacts(system, islands, rows, J, W, factor, lam, coupling):
    """Fill the columns of contacts, and what visits to coupled ones need of their own block."""
    bodies, start, body, K = system.bodies, coupling.start, coupling.body, coupling.K
    end = 0
    for k in range(int(system.count[0])):
        a, b = int(system.body_a[k]), int(system.body_b[k])
        arm_a, arm_b = three(system.rows, k, ARM_A), three(system.rows, k, ARM_B)
        first = end
        w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for d in range(3):
            start[3 * k + d] = end
            last = open_column(islands, a, b, end, body, K)
            if last > end:
                e = unit_vector(d)
                answer_alone(bodies, a, scale(-1.0, e), cross(e, arm_a), K, entry_of(islands, a, b, a, end))
                answer_alone(bodies, b, e, cross(arm_b, e), K, entry_of(islands, a, b, b, end))
                through_joints(islands, rows, J, W, factor, lam, a, b, end, K)
                u = sub(velocity_at(islands, a, b, b, arm_b, end, K), velocity_at(islands, a, b, a, arm_a, end, K))
                w = with_column(w, d, u)
            end = last
        if end > first:
            slight = point_response(bodies[a, INV_MASS], six(bodies, a, INV_INERTIA), arm_a)
            other = point_response(bodies[b, INV_MASS], six(bodies, b, INV_INERTIA), arm_b)
            put_own_block(system.rows, k, three(system.rows, k, NORMAL), w, scaled(SLIGHT, slight, other))
    start[3 * int(system.count[0])] = end


@helper
def with_column(w, d, u):
    """The symmetric matrix w (xx xy xz yy yz zz) with column d from its diagonal on replaced by u."""
    if d == 0:
        return (u[0], u[1], u[2], w[3], w[4], w[5])
    if d == 1:
        return (w[0], w[1], w[2], u[1], u[2], w[5])
    return (w[0], w[1], w[2], w[3], w[4], u[2])


@helper
def scaled(s, v, w):
    """s (v + w)"""
    return (s * (v[0] + w[0]), s * (v[1] + w[1]), s * (v[2] + w[2]), s * (v[3] + w[3]), s * (v[4] + w[4]),
            s * (v[5] + w[5]))


@helper
def soften_grab(grab, w):
    """The mouse spring's rows in a mechanism: (W + γ w 1) p + (u without p) + bias = 0 with w the largest answer of any
    direction, so that the spring is as soft where joints hold the body as where they let it go."""
    largest = max(w[0] + abs(w[1]) + abs(w[2]), max(abs(w[1]) + w[3] + abs(w[4]), abs(w[2]) + abs(w[4]) + w[5]))
    alone = max(grab.matrix[0], max(grab.matrix[3], grab.matrix[5]))
    largest = max(largest, HELD * alone)
    stiff = grab.softness[0] * largest
    inverse = sym_inverse((w[0] + stiff, w[1], w[2], w[3] + stiff, w[4], w[5] + stiff))
    for j in range(6):
        grab.matrix[j] = largest if j in (0, 3, 5) else 0.0
        grab.inverse[j] = inverse[j]


@kernel
def couple_grab(system, islands, rows, J, W, factor, lam, coupling):
    """Fill the columns of the mouse spring and adapt its rows; its largest force grows with the mass it has to
    move."""
    bodies, start, K, grab = system.bodies, coupling.start, coupling.K, system.grab
    column = 3 * int(system.count[0])
    end = int(start[column])
    i = int(grab.body[0])
    arm = (grab.arm[0], grab.arm[1], grab.arm[2])
    w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    heavier = 0.0  # mass of the mechanism by that of the body held
    for d in range(3):
        start[column + d] = end
        last = open_column(islands, -1, i, end, coupling.body, K) if i >= 0 else end
        if last > end:
            e = unit_vector(d)
            p = entry_of(islands, -1, i, i, end)
            if grab.turn[0] == 1:
                answer_alone(bodies, i, (0.0, 0.0, 0.0), e, K, p)
            else:
                answer_alone(bodies, i, e, cross(arm, e), K, p)
            through_joints(islands, rows, J, W, factor, lam, -1, i, end, K)
            u = velocity_at(islands, -1, i, i, arm, end, K)
            w = with_column(w, d, (K[p, 3], K[p, 4], K[p, 5]) if grab.turn[0] == 1 else u)
        end = last
    for p in range(start[column], start[column + 1]):
        heavier += bodies[i, INV_MASS] / bodies[coupling.body[p], INV_MASS]
    if end > start[column]:
        if grab.turn[0] == 1:  # bounded is the angular acceleration that it answers with
            alone = max(grab.matrix[0], max(grab.matrix[3], grab.matrix[5]))
            heavier = alone / max(max(w[0], max(w[3], w[5])), HELD * alone)
        soften_grab(grab, w)
        grab.limit[0] *= heavier
    start[column + 3] = end


@kernel
def couple_bounded(system, islands, rows, J, W, factor, lam, coupling):
    """Fill the columns of bounded rows and how they answer their own impulses."""
    bodies, start, K, bounded = system.bodies, coupling.start, coupling.K, coupling.bounded
    column = 3 * int(system.count[0]) + 3
    end = int(start[column])
    for k in range(int(bounded.count[0])):
        start[column + k] = end
        a, b = int(bounded.a[k]), int(bounded.b[k])
        last = open_column(islands, a, b, end, coupling.body, K)
        alone = 0.0
        for side in range(2):
            i = a if side == 0 else b
            if i < 0:
                continue
            p, s = entry_of(islands, a, b, i, end), 6 * side
            linear, angular = three(bounded.J, k, s), three(bounded.J, k, s + 3)
            answer_alone(bodies, i, linear, angular, K, p)
            alone += dot(linear, (K[p, 0], K[p, 1], K[p, 2])) + dot(angular, (K[p, 3], K[p, 4], K[p, 5]))
        through_joints(islands, rows, J, W, factor, lam, a, b, end, K)
        bounded.own[k] = SLIGHT * alone
        for side in range(2):
            i = a if side == 0 else b
            if i >= 0:
                p = entry_of(islands, a, b, i, end)
                for j in range(6):
                    bounded.own[k] += bounded.J[k, 6 * side + j] * K[p, j]
        end = last
    start[column + int(bounded.count[0])] = end


def couple(system: System, constraints: Constraints, coupling: Coupling) -> Coupling:
    """The coupling of the system's contacts, mouse spring and of coupling.bounded, with room made for all, at the poses
    that `constraints` were brought to last."""
    contacts, rows = len(system.impulse), len(coupling.bounded.a)
    entries = int(count_entries(system, coupling.bounded, constraints.islands))
    if len(coupling.start) != 3 * contacts + 4 + rows:
        coupling = coupling._replace(start=np.zeros(3 * contacts + 4 + rows, np.int32))
    if entries > len(coupling.body):
        size = entries + entries // 2
        coupling = coupling._replace(body=np.zeros(size, np.int32), K=np.zeros((size, 6)))
    c = constraints
    for fill in (couple_contacts, couple_grab, couple_bounded):
        fill(system, c.islands, c.rows, c.J, c.W, c.factor, c.lam, coupling)
    return coupling
