"""An island of a system as a problem of its own, in coordinates in which every inertia is one.

    u = u₀ + G x,   x = Gᵀ λ,   so that M = G Gᵀ

A row block is a contact, a moment of one, the mouse, a limit or a motor; all have three rows, a limit or motor two
idle ones. x holds

- of each body that takes part by itself six unknowns: G = J B with B Bᵀ = H⁻¹, B from the Cholesky factors of 1/m, I⁻¹
- of trees whose row blocks are many one for each velocity that these move, from the tips to the roots: G = J B with
  B Bᵀ = H⁻¹ as articulated bodies factor it, `dynamics.trees.tree: answer_rows`. A row block has entries on its way to
  the root alone, and 1 + Gᵀ D G is filled as the tree branches, like H [Featherstone 2005]
- of all links where these row blocks are few, and of bodies that joints in maximal coordinates connect, together as
  many as the rank of their share in M: G is its Cholesky factor.

So G Gᵀ need not be inverted to be used: a body with many contacts has six unknowns and no more, however redundant its
contacts are, and 1 + Gᵀ D G is a sparse matrix over bodies and joints.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.islands import leader_of
from ..core.jit import helper
from ..core.model import Array
from ..core.sym3 import six, three
from ..core.vec import accumulate, add, cross, put, row, sub
from ..problem.assemble import flat
from ..problem.moments import ROLLING, SPINNING, turning_of
from ..problem.system import (
    ARM_A,
    ARM_B,
    BIAS,
    BODY_SIZE,
    CONTACT,
    ENTRY,
    FRICTION,
    INV_INERTIA,
    INV_MASS,
    MOMENT,
    MOUSE,
    NORMAL,
    OTHERS,
    PLACE,
    WIDTH,
    block_velocity,
    pair_velocity,
    row_velocity,
)
from .mechanism_share import (
    AT,
    BEGIN,
    WIDE,
    add_piece,
    add_runs,
    block_number,
    factor_mechanisms,
    place_velocities,
    put_runs,
)
from .skyline import open_skyline

# columns of Island.law, which begins with the normal: friction μ; 1 / mean diagonal of the own block [kg]; lower and
# upper bound of a limit or motor, HIGH also of the mouse spring; γ S and (W + γ S)⁻¹ of that spring, six entries each.
# Of a moment LOW and HIGH are ℓ_ψ and ℓ_r.
MU, STEP, LOW, HIGH, SOFT, HOLD = 3, 4, 5, 6, 7, 13
LAW_SIZE = 19


class Island(NamedTuple):
    """Rows of one island; m row blocks, N unknowns."""

    kind: NDArray[np.integer]  #: (m,) CONTACT, MOUSE or another kind of `problem.system`
    source: NDArray[np.integer]  #: (m,) number of the contact, or of the block, in the system
    load: NDArray[np.integer]  #: (m,) the row block whose normal impulse bounds a moment, -1 = none
    first: NDArray[np.integer]  #: (m + 1,) row block j has the pieces first[j] : first[j + 1] of G
    piece: NDArray[np.integer]  #: (p, 4) place in x, width and first entry in G of a piece, which is stored by rows;
                                #: of a tree the entry of Blocks.G that comes first, and others go down from there
    G: Array         #: (e,) entries of all pieces
    law: Array       #: (m, LAW_SIZE) see MU, STEP …
    lam: Array       #: (m, 3) impulses
    free: Array      #: (m, 3) u₀
    u: Array         #: (m, 3) velocities
    x: Array         #: (N,)


# -------------------------------------------------------------------------------------------------- which rows belong
@helper
def key_of(place, bodies):
    """Number of the set that a run of velocities belongs to: a body's, or after all bodies that of a tree."""
    return place // BODY_SIZE if place < BODY_SIZE * bodies else bodies + place - BODY_SIZE * bodies


@helper
def join(leader, before, i):
    """Unite the sets of i and of `before` (-1 = none); returns the leader of the united set."""
    i = leader_of(leader, i)
    if before >= 0:
        leader[i] = leader_of(leader, before)
        return leader[i]
    return i


@helper
def join_block(blocks, k, bodies, leader):
    """Unite the sets of all bodies and links that block k moves; returns their leader, -1 = it moves nothing. A run
    without velocities is that of a link fixed to the ground."""
    one, n = -1, len(bodies)
    for s in range(blocks.first[k], blocks.first[k + 1]):
        if blocks.span[s, WIDTH] == 0:
            continue
        key = key_of(int(blocks.span[s, PLACE]), n)
        if key >= n or bodies[key, INV_MASS] > 0.0:
            one = join(leader, one, key)
    return one


@helper
def find_islands(system, island_out, own_out):
    """island_out (c + others,) number of the island of each contact and then of each other block, -1 = it moves
    nothing; own_out (n,) 1 for bodies that take part by themselves. Returns how many islands there are.

    Disjoint sets with path halving [Tarjan & van Leeuwen 1984]."""
    bodies, blocks = system.motion.bodies, system.blocks
    n, count, others = len(bodies), int(system.count[0]), int(blocks.count[OTHERS])
    leader = np.arange(n + len(system.motion.v))
    own_out[:] = 0
    for k in range(count):
        if system.block[k] >= 0:
            island_out[k] = join_block(blocks, int(system.block[k]), bodies, leader)
            continue
        one = -1
        for side in range(2):
            i = int(system.body_a[k] if side == 0 else system.body_b[k])
            if bodies[i, INV_MASS] > 0.0:
                own_out[i] = 1
                one = join(leader, one, i)
        island_out[k] = one
    for k in range(others):
        island_out[count + k] = join_block(blocks, k, bodies, leader)
    number, islands = np.full(len(leader), -1), 0
    for j in range(count + others):
        if island_out[j] < 0:
            continue
        lead = leader_of(leader, int(island_out[j]))
        if number[lead] < 0:
            number[lead] = islands
            islands += 1
        island_out[j] = number[lead]
    return islands


# ------------------------------------------------------------------------------------------------- bodies, in an order
@helper
def ends_of(system, j, count, own, ends_out):
    """ends_out (2,): bodies that take part by themselves in row block j of the system, -1 = none. Returns whether
    links or joined bodies take part in it too."""
    bodies, blocks = system.motion.bodies, system.blocks
    ends_out[0] = ends_out[1] = -1
    k = int(system.block[j]) if j < count else j - count
    if k < 0:
        a, b = int(system.body_a[j]), int(system.body_b[j])
        ends_out[0] = a if own[a] == 1 else -1
        ends_out[1] = b if own[b] == 1 else -1
        return False
    found, more = 0, False
    for s in range(blocks.first[k], blocks.first[k + 1]):
        i = int(blocks.span[s, PLACE]) // BODY_SIZE
        if i < len(bodies) and own[i] == 1:
            ends_out[found] = i
            found += 1
        else:
            more = True
    return more


@helper
def walk(start, first, other, order_out, seen_out):
    """Breadth first from one node over neighbours other[first[i] : first[i + 1]]; returns the nodes found."""
    order_out[0], seen_out[start], found, done = start, 1, 1, 0
    while done < found:
        i = order_out[done]
        done += 1
        for e in range(first[i], first[i + 1]):
            if seen_out[other[e]] == 0:
                seen_out[other[e]] = 1
                order_out[found] = other[e]
                found += 1
    return found


@helper
def put_in_order(ends, nodes, order_out):
    """An order of the nodes in which neighbours stand near each other: breadth first, from a node that is far away from
    the others. ends (m, 2). [Cuthill & McKee 1969]"""
    first, fill = np.zeros(nodes + 1, np.int64), np.zeros(nodes, np.int64)
    for j in range(len(ends)):
        if ends[j, 0] >= 0 and ends[j, 1] >= 0:
            first[ends[j, 0] + 1] += 1
            first[ends[j, 1] + 1] += 1
    for i in range(nodes):
        first[i + 1] += first[i]
        fill[i] = first[i]
    other = np.zeros(first[nodes], np.int64)
    for j in range(len(ends)):
        a, b = ends[j, 0], ends[j, 1]
        if a >= 0 and b >= 0:
            other[fill[a]], other[fill[b]] = b, a
            fill[a] += 1
            fill[b] += 1
    seen, again, found = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), 0
    for i in range(nodes):  # there is more than one part where only links connect the bodies
        if seen[i] == 0:
            part = walk(i, first, other, order_out[found:], seen)
            walk(order_out[found + part - 1], first, other, order_out[found:], again)
            found += part


# ------------------------------------------------------------------------------------------------------------ factors
@helper
def root_of(s):
    """Lower Cholesky factor xx, yx, yy, zx, zy, zz of a symmetric matrix, which may be zero."""
    xx = math.sqrt(s[0]) if s[0] > 0.0 else 0.0
    yx, zx = (s[1] / xx, s[2] / xx) if xx > 0.0 else (0.0, 0.0)
    rest = s[3] - yx * yx
    yy = math.sqrt(rest) if rest > 0.0 else 0.0
    zy = (s[4] - zx * yx) / yy if yy > 0.0 else 0.0
    rest = s[5] - zx * zx - zy * zy
    return (xx, yx, yy, zx, zy, math.sqrt(rest) if rest > 0.0 else 0.0)


@helper
def columns_of(bodies, i):
    """√(1/m), and the columns of the root of I⁻¹ of a body."""
    xx, yx, yy, zx, zy, zz = root_of(six(bodies, i, INV_INERTIA))
    return math.sqrt(bodies[i, INV_MASS]), (xx, yx, zx), (0.0, yy, zy), (0.0, 0.0, zz)


@helper
def put_body_piece(bodies, i, arm, sign, e, G_out):
    """J B of the point at the end of an arm."""
    root, x, y, z = columns_of(bodies, i)
    for r in range(3):
        G_out[e + 6 * r + r] = sign * root
    for d in range(3):
        along = cross(x if d == 0 else y if d == 1 else z, arm)
        for r in range(3):
            G_out[e + 6 * r + 3 + d] = sign * along[r]


@helper
def put_block_piece(bodies, blocks, i, entry, e, G_out):
    """J B of a block of the system in which body i stands at this entry."""
    root, x, y, z = columns_of(bodies, i)
    J = blocks.J
    for r in range(3):
        turn = (J[entry + 3, r], J[entry + 4, r], J[entry + 5, r])
        for d in range(3):
            column = x if d == 0 else y if d == 1 else z
            G_out[e + 6 * r + d] = root * J[entry + d, r]
            G_out[e + 6 * r + 3 + d] = column[0] * turn[0] + column[1] * turn[1] + column[2] * turn[2]


# ---------------------------------------------------------------------------------------------------------- the island
@helper
def open_island(system, members, own, number):
    """The Island of the row blocks `members` (m,) of the system. number (n,): scratch, -1 before and after."""
    count, m = int(system.count[0]), len(members)
    ends, pair, is_lumped = np.full((m, 2), -1), np.zeros(2, np.int64), np.zeros(m, np.int64)
    body, nodes, lumps = np.zeros(2 * m, np.int64), 0, 0
    for j in range(m):
        if ends_of(system, int(members[j]), count, own, pair):
            is_lumped[j] = 1
            lumps += 1
        for side in range(2):
            i = pair[side]
            if i >= 0:
                if number[i] < 0:
                    number[i], body[nodes] = nodes, i
                    nodes += 1
                ends[j, side] = number[i]
    order, place = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    put_in_order(ends, nodes, order)
    for t in range(nodes):
        place[order[t]] = 6 * t
    lumped, l = np.zeros(lumps, np.int64), 0
    for j in range(m):
        if is_lumped[j] == 1:
            lumped[l] = members[j]
            l += 1
    slot, slots, room = place_velocities(system, lumped, count, own, 6 * nodes)
    by_trees = slots <= 3 * lumps
    size = 0 if by_trees else 3 * lumps
    common, rank = np.zeros((size, size)), slots
    if not by_trees:
        rank = factor_mechanisms(system, lumped, count, own, common)
    first, piece, pieces = np.zeros(m + 1, np.int64), np.zeros((3 * m + room, 4), np.int64), 0
    for j in range(m):
        for side in range(2):
            if ends[j, side] >= 0:
                pieces = add_piece(piece, pieces, place[ends[j, side]], 6, -1)
        if is_lumped[j] == 1 and by_trees:
            pieces = add_runs(system, block_number(system, int(members[j]), count), slot, piece, pieces)
        elif is_lumped[j] == 1 and rank > 0:
            pieces = add_piece(piece, pieces, 6 * nodes, rank, -1)
        first[j + 1] = pieces
    entries = piece[pieces - 1, BEGIN] + 3 * piece[pieces - 1, WIDE] if pieces > 0 else 0
    kind, source, load = np.zeros(m, np.int64), np.zeros(m, np.int64), np.full(m, -1)
    island = Island(kind, source, load, first, piece[:pieces].copy(), np.zeros(entries),
                    np.zeros((m, LAW_SIZE)), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3)),
                    np.zeros(6 * nodes + rank))
    l = 0
    for j in range(m):
        put_row_block(system, int(members[j]), count, own, j, island)
        if island.kind[j] == MOMENT:
            island.load[j] = place_of(members, int(system.moments.load[system.blocks.bound[island.source[j]]]))
        if is_lumped[j] == 1 and by_trees:
            put_runs(system.blocks, j, island)
        elif is_lumped[j] == 1:
            for r in range(3 if rank > 0 else 0):  # without a rank there is no piece to look up
                e = island.piece[first[j + 1] - 1, BEGIN] + rank * r
                for c in range(rank):
                    island.G[e + c] = common[c, 3 * l + r]
            l += 1
    for t in range(nodes):
        number[body[t]] = -1
    begin(island)
    return island


@helper
def place_of(members, j):
    """Place of row block j >= 0 among the members of its island, which stand in their order; -1 where j < 0. By
    bisection: numpy's own loads scipy.linalg with the kernel."""
    low, high = 0, len(members)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if members[middle] < j else (low, middle)
    return low if j >= 0 else -1


@helper
def put_row_block(system, s, count, own, j, island):
    """Write row block j of the island, which is row block s of the system: its pieces of G on bodies, its law, its
    impulse, and u at that impulse."""
    bodies, blocks, rows, law = system.motion.bodies, system.blocks, system.rows, island.law
    k, p = block_number(system, s, count), island.first[j]
    if k < 0:
        for side in range(2):
            i = int(system.body_a[s] if side == 0 else system.body_b[s])
            if own[i] == 1:
                put_body_piece(bodies, i, three(rows, s, ARM_A if side == 0 else ARM_B), 2.0 * side - 1.0,
                               island.piece[p, BEGIN], island.G)
                p += 1
    else:
        for run in range(blocks.first[k], blocks.first[k + 1]):
            i = int(blocks.span[run, PLACE]) // BODY_SIZE
            if i < len(bodies) and own[i] == 1:
                put_block_piece(bodies, blocks, i, int(blocks.span[run, ENTRY]), island.piece[p, BEGIN], island.G)
                p += 1
    if s < count:
        island.kind[j], island.source[j] = CONTACT, s
        for d in range(3):
            law[j, d] = rows[s, NORMAL + d]
        law[j, MU] = rows[s, FRICTION]
        put(island.lam, j, row(system.impulse, s))
        put(island.u, j, add(three(rows, s, BIAS), pair_velocity(system, system.motion, s)))
        return
    island.kind[j], island.source[j] = blocks.kind[k], k
    if blocks.kind[k] == MOUSE:
        grab = system.grab
        for d in range(6):
            law[j, SOFT + d], law[j, HOLD + d] = grab.softness[0] * grab.matrix[d], grab.inverse[d]
        law[j, HIGH] = grab.limit[0]
        put(island.lam, j, flat(grab.impulse))
        put(island.u, j, add(block_velocity(blocks, k, system.motion.q_dot), flat(grab.bias)))
        return
    if blocks.kind[k] == MOMENT:
        moments, r = system.moments, int(blocks.bound[k])
        for d in range(3):
            law[j, d] = moments.rows[r, NORMAL + d]
        law[j, LOW], law[j, HIGH] = moments.rows[r, SPINNING], moments.rows[r, ROLLING]
        put(island.lam, j, row(moments.impulse, r))
        put(island.u, j, turning_of(system, k, system.motion.q_dot))
        return
    law[j, STEP], law[j, LOW], law[j, HIGH] = blocks.step[k], blocks.low[k], blocks.high[k]
    put(island.lam, j, (blocks.impulse[k], 0.0, 0.0))
    put(island.u, j, (blocks.bias[k] + row_velocity(blocks, k, system.motion.q_dot), 0.0, 0.0))


@helper
def begin(island):
    """Set the STEP of the law of each contact and moment, x = Gᵀ λ, and u₀ = u - G x."""
    for j in range(len(island.kind)):
        if island.kind[j] == CONTACT or island.kind[j] == MOMENT:
            trace = 0.0
            for p in range(island.first[j], island.first[j + 1]):
                for e in range(island.piece[p, BEGIN], island.piece[p, BEGIN] + 3 * island.piece[p, WIDE]):
                    trace += island.G[e] * island.G[e]
            island.law[j, STEP] = 3.0 / trace if trace > 0.0 else 0.0
    gather(island, island.lam, island.x)
    island.free[:] = 0.0
    add_velocity(island, island.x, island.free)
    for j in range(len(island.kind)):
        put(island.free, j, sub(row(island.u, j), row(island.free, j)))


@helper
def gather(island, lam, x_out):
    """x = Gᵀ λ"""
    x_out[:] = 0.0
    for j in range(len(island.kind)):
        for p in range(island.first[j], island.first[j + 1]):
            at, wide, e = island.piece[p, AT], island.piece[p, WIDE], island.piece[p, BEGIN]
            for d in range(wide):
                x_out[at + d] += (island.G[e + d] * lam[j, 0] + island.G[e + wide + d] * lam[j, 1]
                                  + island.G[e + 2 * wide + d] * lam[j, 2])


@helper
def add_velocity(island, x, u_in_out):
    """u += G x, the three sums of a row block side by side, so that none waits for another one."""
    G = island.G
    for j in range(len(island.kind)):
        for p in range(island.first[j], island.first[j + 1]):
            at, wide, e = island.piece[p, AT], island.piece[p, WIDE], island.piece[p, BEGIN]
            a, b, c = 0.0, 0.0, 0.0
            for d in range(wide):
                a += G[e + d] * x[at + d]
                b += G[e + wide + d] * x[at + d]
                c += G[e + 2 * wide + d] * x[at + d]
            accumulate(u_in_out, j, (a, b, c))


# ----------------------------------------------------------------------------------------------------- 1 + Gᵀ D G
@helper
def skyline_of(island):
    """A Skyline in which 1 + Gᵀ D G fits."""
    n = len(island.x)
    first = np.arange(n)
    for j in range(len(island.kind)):
        least = n
        for p in range(island.first[j], island.first[j + 1]):
            least = min(least, island.piece[p, AT])
        for p in range(island.first[j], island.first[j + 1]):
            for d in range(island.piece[p, AT], island.piece[p, AT] + island.piece[p, WIDE]):
                first[d] = min(first[d], least)
    return open_skyline(first)


@helper
def is_zero(D, j):
    """Whether row j (9,) is zero."""
    zero = True
    for k in range(D.shape[1]):
        zero = zero and D[j, k] == 0.0
    return zero


@helper
def add_products(island, D, work, sky):
    """sky += Gᵀ D G, with D (m, 9) a 3 x 3 matrix of each row block, row by row. work (3, N)."""
    G, entry = island.G, sky.entry
    for j in range(len(island.kind)):
        if is_zero(D, j):
            continue
        for p in range(island.first[j], island.first[j + 1]):
            at_p, wide, e = island.piece[p, AT], island.piece[p, WIDE], island.piece[p, BEGIN]
            for r in range(3):
                x, y, z = D[j, 3 * r], D[j, 3 * r + 1], D[j, 3 * r + 2]
                for d in range(wide):  # D G
                    work[r, d] = x * G[e + d] + y * G[e + wide + d] + z * G[e + 2 * wide + d]
            for o in range(island.first[j], island.first[j + 1]):
                at_o, broad, f = island.piece[o, AT], island.piece[o, WIDE], island.piece[o, BEGIN]
                for i in range(broad):
                    x, y, z = G[f + i], G[f + broad + i], G[f + 2 * broad + i]
                    begin = sky.at[at_o + i] + at_p
                    part = entry[begin : begin + wide]
                    for d in range(wide):
                        part[d] += x * work[0, d] + y * work[1, d] + z * work[2, d]
