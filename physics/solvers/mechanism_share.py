"""Links, and bodies that joints in maximal coordinates connect, in the coordinates of an island, see `island`.

Their share in M is G Gᵀ, where G is either its Cholesky factor, `factor_mechanisms`, or what articulated bodies make of
the rows of trees on their way to the root, `add_runs`.
"""

import math

import numpy as np

from ..core.jit import helper, on_demand
from ..core.vec import put, row, scale
from ..problem.system import BODY_SIZE, ENTRY, PLACE, WIDTH

AT, WIDE, BEGIN, FROM = range(4)  # columns of Island.piece
DEPENDENT = 1e-13  # remainder of a diagonal entry of M after elimination that counts as zero, relative to the entry
NO_PLACES = 1 << 40  # see `place_velocities`


@helper
def block_number(system, j, count):
    """Block of row block j of the system, -1 = none."""
    return int(system.block[j]) if j < count else j - count


@helper
def spread(system, k, own, sign, q_out):
    """q_out (n, 3) = sign times Y of block k, in the places of links and joined bodies; sign 0 clears them."""
    blocks, bodies = system.blocks, len(system.motion.bodies)
    for s in range(blocks.first[k], blocks.first[k + 1]):
        at, e = int(blocks.span[s, PLACE]), int(blocks.span[s, ENTRY])
        if at < BODY_SIZE * bodies and own[at // BODY_SIZE] == 1:
            continue
        for d in range(blocks.span[s, WIDTH]):
            put(q_out, at + d, scale(sign, row(blocks.Y, e + d)))


@helper
def entries_of(system, lumped, count):
    """Of the row blocks `lumped` (m,) the entries of J that are not zero: (m + 1,) where those of each begin; their
    numbers and places in q̇ (e, 2)."""
    blocks, room, found = system.blocks, 0, 0
    for one in lumped:
        k = block_number(system, int(one), count)
        for s in range(blocks.first[k], blocks.seen[k]):
            room += blocks.span[s, WIDTH]
    first, entry = np.zeros(len(lumped) + 1, np.int64), np.zeros((room, 2), np.int64)
    for b in range(len(lumped)):
        k = block_number(system, int(lumped[b]), count)
        for s in range(blocks.first[k], blocks.seen[k]):
            at, e = int(blocks.span[s, PLACE]), int(blocks.span[s, ENTRY])
            for d in range(blocks.span[s, WIDTH]):
                if row(blocks.J, e + d) != (0.0, 0.0, 0.0):
                    entry[found, 0], entry[found, 1] = e + d, at + d
                    found += 1
        first[b + 1] = found
    return first, entry


@helper
def velocity_by(J, entry, first, last, q):
    """J q of the entries first … last - 1 for three columns q (n, 3), column by column: nine sums side by side, so that
    none waits for another one."""
    xx, yx, zx, xy, yy, zy, xz, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(first, last):
        j_x, j_y, j_z = row(J, entry[e, 0])
        x, y, z = row(q, entry[e, 1])
        xx, yx, zx = xx + j_x * x, yx + j_y * x, zx + j_z * x
        xy, yy, zy = xy + j_x * y, yy + j_y * y, zy + j_z * y
        xz, yz, zz = xz + j_x * z, yz + j_y * z, zz + j_z * z
    return (xx, yx, zx), (xy, yy, zy), (xz, yz, zz)


@helper
def inertia_of_mechanisms(system, lumped, count, own):
    """The share M (3 m, 3 m) = J Y of links and joined bodies in the row blocks `lumped` (m,), a column a row. A
    contact of a tree knows the few joints on its way to the root, so entries of J that are zero are left out."""
    size, q = 3 * len(lumped), np.zeros((len(system.motion.q_dot), 3))
    (first, entry), M = entries_of(system, lumped, count), np.zeros((size, size))
    for b in range(len(lumped)):
        k = block_number(system, int(lumped[b]), count)
        spread(system, k, own, 1.0, q)
        for o in range(len(lumped)):
            columns = velocity_by(system.blocks.J, entry, first[o], first[o + 1], q)
            for c in range(3):
                put(M[3 * b + c : 3 * b + c + 1, 3 * o : 3 * o + 3], 0, columns[c])
        spread(system, k, own, 0.0, q)
    return M


@on_demand
def factor_mechanisms(system, lumped, count, own, G) -> int:
    """Write Gᵀ (r, 3 m) of the row blocks `lumped` (m,) to the first rows of G (3 m, 3 m): the share of links and
    joined bodies in M is G Gᵀ, by Cholesky's method with the largest pivot first, relative to the diagonal. Columns are
    rows here, so that loops along them need not wait for sums. Returns the rank r."""
    size, M = 3 * len(lumped), inertia_of_mechanisms(system, lumped, count, own)
    left, whole = np.zeros(size), np.zeros(size)
    for i in range(size):
        whole[i] = left[i] = M[i, i]
    rank = 0
    while rank < size:
        p, most = -1, DEPENDENT
        for i in range(size):
            if whole[i] > 0.0 and left[i] > most * whole[i]:
                p, most = i, left[i] / whole[i]
        if p < 0:
            break
        column, of_pivot, pivot = G[rank], M[p], math.sqrt(left[p])
        for i in range(size):
            column[i] = of_pivot[i]
        for c in range(rank):
            other, part = G[c], G[c, p]
            for i in range(size):
                column[i] -= other[i] * part
        for i in range(size):
            column[i] /= pivot
            left[i] -= column[i] * column[i]
        left[p] = 0.0
        rank += 1
    return rank


# ------------------------------------------------------------------------------------------------------------ of trees
@helper
def place_velocities(system, lumped, count, own, begin):
    """Places in x, from `begin` on, of the velocities of trees that the row blocks `lumped` (m,) move, from the tips to
    the roots, (n_v,), -1 = none; how many places there are, and how many entries of G are not zero. Joints in maximal
    coordinates that pass impulses on, and bodies that take part in no other way, leave no places: their number is then
    greater than any."""
    blocks, trees = system.blocks, BODY_SIZE * len(system.motion.bodies)
    slot, entries, slots = np.full(len(system.motion.v), -1), 0, 0
    for one in lumped:
        k = block_number(system, int(one), count)
        for s in range(blocks.first[k], blocks.seen[k]):
            at, e = int(blocks.span[s, PLACE]), int(blocks.span[s, ENTRY])
            if blocks.passed[k] == 1 or (at < trees and own[at // BODY_SIZE] == 0):
                return slot, NO_PLACES, 0
            for d in range(blocks.span[s, WIDTH] if at >= trees else 0):
                if row(blocks.G, e + d) != (0.0, 0.0, 0.0):
                    slot[at - trees + d] = 0
                    entries += 1
    for d in range(len(slot) - 1, -1, -1):
        if slot[d] == 0:
            slot[d] = begin + slots
            slots += 1
    return slot, slots, entries


@helper
def add_piece(piece, pieces, at, wide, entry):
    """Another piece, after the last one; returns how many there are."""
    piece[pieces, AT], piece[pieces, WIDE], piece[pieces, FROM] = at, wide, entry
    piece[pieces, BEGIN] = piece[pieces - 1, BEGIN] + 3 * piece[pieces - 1, WIDE] if pieces > 0 else 0
    return pieces + 1


@helper
def add_runs(system, k, slot, piece, pieces):
    """Pieces of block k on trees, one for each run of its velocities that are neighbours in x."""
    blocks, trees = system.blocks, BODY_SIZE * len(system.motion.bodies)
    for s in range(blocks.first[k], blocks.seen[k]):
        at, e, wide, from_entry, start = int(blocks.span[s, PLACE]) - trees, int(blocks.span[s, ENTRY]), 0, -1, -1
        for d in range(blocks.span[s, WIDTH] - 1 if at >= 0 else -1, -1, -1):
            zero = row(blocks.G, e + d) == (0.0, 0.0, 0.0)
            if wide > 0 and (zero or slot[at + d] != start + wide):
                pieces, wide = add_piece(piece, pieces, start, wide, from_entry), 0
            if wide == 0:
                start, from_entry = slot[at + d], e + d
            wide += not zero
        if wide > 0:
            pieces = add_piece(piece, pieces, start, wide, from_entry)
    return pieces


@helper
def put_runs(blocks, j, island):
    """Write the pieces of row block j on trees."""
    for p in range(island.first[j], island.first[j + 1]):
        wide, begin, e = island.piece[p, WIDE], island.piece[p, BEGIN], island.piece[p, FROM]
        for c in range(wide if e >= 0 else 0):
            for r in range(3):
                island.G[begin + wide * r + c] = blocks.G[e - c, r]
