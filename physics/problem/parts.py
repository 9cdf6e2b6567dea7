"""The contacts of a large system in parts that threads can sweep at the same time.

Bodies that move stand in levels, breadth first over their contacts from one at the end: contacts connect only bodies of
one level or of neighbouring ones. Levels that follow one another make *layers* of about as many contacts each. A part
of the first round is what layers 2p and 2p + 1 have among themselves, one of the second what connects layer 2p + 1 with
2p + 2: parts of one round share no body that moves, so that their sweeps do not depend on each other.

Rows stand part by part, so that a sweep reads memory from one end to the other. The parts depend on the contacts alone
and not on how many threads there are, so results do not either.
"""

import numpy as np

from ..core.jit import helper, kernel
from .system import INV_MASS, LAYERS

MANY_CONTACTS = 1000  # from which on there are parts
A_LAYER = 128         # contacts of a layer, counted at both bodies, at least


@helper
def neighbours(contacts, takes_part, bodies):
    """Of each body the bodies that move and that contacts connect with it: body i has other[first[i] : first[i + 1]],
    most of them once. weight (n,) counts its contacts."""
    body_a, body_b, count, n = contacts.body_a, contacts.body_b, int(contacts.count[0]), len(bodies)
    first, fill, weight = np.zeros(n + 1, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    linked = np.zeros(count, np.int8)  # 1 for the first contact of two bodies that move
    before_a, before_b = -1, -1
    for i in range(count):
        if takes_part[i] == 0:
            continue
        a, b = body_a[i], body_b[i]
        weight[a] += 1
        weight[b] += 1
        if (a != before_a or b != before_b) and bodies[a, INV_MASS] > 0.0 and bodies[b, INV_MASS] > 0.0:
            linked[i] = 1
            first[a + 1] += 1
            first[b + 1] += 1
        before_a, before_b = a, b
    for i in range(n):
        first[i + 1] += first[i]
        fill[i] = first[i]
        if bodies[i, INV_MASS] == 0.0:
            weight[i] = 0
    other = np.zeros(first[n], np.int32)
    for i in range(count):
        if linked[i] == 1:
            a, b = body_a[i], body_b[i]
            other[fill[a]], other[fill[b]] = b, a
            fill[a] += 1
            fill[b] += 1
    return first, other, weight


@helper
def walk_levels(start, first, other, turn, begin, order_out, level_out, turn_out):
    """Breadth first from one body, into order_out from `begin` on; level_out counts from there. turn_out becomes `turn`
    where it is less. Returns the end in order_out."""
    order_out[begin], level_out[start], turn_out[start] = start, 0, turn
    done, end = begin, begin + 1
    while done < end:
        i = order_out[done]
        done += 1
        for e in range(first[i], first[i + 1]):
            j = other[e]
            if turn_out[j] < turn:
                turn_out[j], level_out[j], order_out[end] = turn, level_out[i] + 1, j
                end += 1
    return end


@helper
def find_layers(first, other, weight, layer_out):
    """Put bodies that have contacts into layers; returns how many these are."""
    n, total, end = len(weight), 0, 0
    order, level, turn = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    for i in range(n):
        total += weight[i]
        if weight[i] > 0 and turn[i] == 0:
            last = walk_levels(i, first, other, 1, end, order, level, turn)
            end = walk_levels(order[last - 1], first, other, 2, end, order, level, turn)
    layers, layer, before, past = min(LAYERS, max(total // A_LAYER, 2)), 0, 0, 0
    for m in range(end):
        i = order[m]
        if (level[i] != past or level[i] == 0) and before * layers >= (layer + 1) * total:
            layer += 1
        past = level[i]
        layer_out[i] = layer
        before += weight[i]
    return layer + 1


@helper
def part_of(contacts, bodies, layer, i, rounds):
    """Part of contact i."""
    a, b = contacts.body_a[i], contacts.body_b[i]
    f = layer[a] if bodies[a, INV_MASS] > 0.0 else layer[b]
    g = layer[b] if bodies[b, INV_MASS] > 0.0 else f
    low = min(f, g)
    return low // 2 if f // 2 == g // 2 else rounds + low // 2


@kernel
def make_parts(contacts, takes_part, system, row_out) -> None:
    """Fill system.parts with the contacts that take part, (c,) = 1, and row_out (c,) with the row of each."""
    bodies, parts, count = system.motion.bodies, system.parts, int(contacts.count[0])
    first, other, weight = neighbours(contacts, takes_part, bodies)
    layer = np.zeros(len(weight), np.int32)
    layers = find_layers(first, other, weight, layer)
    rounds = (layers + 1) // 2
    parts.count[0], parts.count[1] = rounds, rounds + (layers - 1) // 2
    start, fill, part = parts.first, np.zeros(LAYERS + 1, np.int64), np.zeros(count, np.int8)
    start[:] = 0
    for i in range(count):
        if takes_part[i] == 1:
            part[i] = part_of(contacts, bodies, layer, i, rounds)
            start[part[i] + 1] += 1
    for p in range(LAYERS):
        start[p + 1] += start[p]
        fill[p + 1] = start[p + 1]
    for i in range(count):
        if takes_part[i] == 1:
            row_out[i] = fill[part[i]]
            fill[part[i]] += 1


@helper
def is_stirred(parts, p, stirred, since):
    """Whether something has changed since this sweep in part p, or in a part of the other round that has bodies of it.
    stirred (parts,): the last sweep in which something changed in each."""
    rounds = int(parts.count[0])
    before, after = (p, p + 1) if p >= rounds else (rounds + p - 1, rounds + p)
    low, high = (0, rounds) if p >= rounds else (rounds, int(parts.count[1]))
    return stirred[p] >= since or (before >= low and stirred[before] >= since) or (
        after < high and stirred[after] >= since)


@helper
def round_of(parts, turn, back):
    """Of the two turns of a sweep, the second one first where back is 1: the first part of the round that comes, and
    how many it has."""
    rounds = int(parts.count[0])
    return (0, rounds) if turn == back else (rounds, int(parts.count[1]) - rounds)
