"""Mechanisms: what one impulse moves, and how it answers a row J of the contact problem with Y = H⁻¹ Jᵀ.

A mechanism is a free body, a tree, or all that joints in maximal coordinates connect of both. Its parts are bodies
(six velocities each) and trees. A row on a mechanism has J on the one or two parts that it acts on. They answer

    a body    M⁻¹ Jᵀ
    a tree    H⁻¹ Jᵀ by the recursions of `dynamics.trees.tree`, without forming H           [RBDA ch. 7]

and where joints G q̇ = b in maximal coordinates connect the parts, their impulses pass the answer on to all of them:

    Y = H⁻¹ Jᵀ - H⁻¹ Gᵀ (G H⁻¹ Gᵀ)⁻¹ G H⁻¹ Jᵀ

so that a solver that changes an impulse by Δ changes velocities by Y Δ, and G q̇ = b holds after every one of its steps:
joints are solved exactly together with contacts, whatever the ratios of masses.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..core.islands import trees_of
from ..core.jit import helper, kernel
from ..core.model import Array, BodyKind, IntArray, Model
from ..core.sym3 import six, sym_vec
from ..core.vec import cross, scale
from ..dynamics.constraints.axes import end_of
from ..dynamics.constraints.layout import layout_of
from ..dynamics.constraints.ldl import solve_block
from ..dynamics.constraints.reactions import Reactions
from ..dynamics.trees.contacts import put_end
from ..dynamics.trees.rates import TreeScratch
from ..dynamics.trees.tree import answer_rows
from .system import BODY_SIZE, ENTRIES, ENTRY, INV_INERTIA, INV_MASS, PART, PLACE, SHORT, USED, WIDTH, has_one_row


class Mechanisms(NamedTuple):
    """The mechanisms of a model, and what finding their answers writes."""

    of_body: IntArray      #: (n,) mechanism of a body, -1 = it never moves
    part_of_body: IntArray  #: (n,) part that a body's velocities are in, -1 = it never moves
    bound: IntArray        #: (n,) 1 = an impulse on the body is passed on, by its tree or by joints
    first: IntArray        #: (m + 1,) mechanism k has the parts first[k] : first[k + 1]
    place: IntArray        #: (p,) where a part's velocities begin in q̇
    width: IntArray        #: (p,) how many there are
    tree: IntArray         #: (p,) tree, -1 = a body
    constraints: IntArray  #: (m, 2) first row of G of its joints in maximal coordinates, and the one after the last
    size: IntArray         #: (m,) velocities
    mass: Array            #: (m,) [kg]
    entry: IntArray        #: (p,) scratch: entry of a part in the block that was opened last, -1 = it is not there
    trees: TreeScratch     #: what `eliminate` left
    reactions: Reactions   #: what `weigh_joints` left


def mechanisms_of(model: Model, reactions: Reactions, trees: TreeScratch) -> Mechanisms:
    """The mechanisms of a model: first those that joints in maximal coordinates make, in the order of their islands;
    then all other bodies and trees. Bodies with a prescribed motion are mechanisms that answer nothing."""
    n, forest, layout, node = len(model.kind), model.trees, layout_of(model), trees_of(model)
    ends = np.searchsorted(layout.rank[reactions.rows.joint], np.cumsum([0, *layout.counts])).tolist()
    members, rows = list(layout.bodies), list(pairwise(ends))
    joined = {i for bodies in members for i in bodies}
    alone = [i for i in np.flatnonzero(model.kind != BodyKind.FIXED).tolist() if i not in joined]
    single = dict.fromkeys(int(node[i]) if node[i] >= 0 else -1 - i for i in alone)
    members += [np.flatnonzero(node == k).tolist() if k >= 0 else [-1 - k] for k in single]
    rows += [(0, 0)] * len(single)
    of_body, part_of_body = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    first, parts, size, mass = [0], [], [], []
    for k, bodies in enumerate(members):
        of_tree: dict[int, int] = {}
        for i in bodies:
            tree = int(node[i]) - n - 1 if model.kind[i] == BodyKind.LINK else -1
            if tree < 0:
                part_of_body[i] = len(parts)
                parts.append((BODY_SIZE * i, 6, -1))
            elif tree in of_tree:
                part_of_body[i] = of_tree[tree]
            else:
                part_of_body[i] = of_tree[tree] = len(parts)
                start, end = forest.start_v[tree : tree + 2].tolist()
                parts.append((BODY_SIZE * n + start, end - start, tree))
        of_body[bodies] = k
        size.append(sum(part[1] for part in parts[first[-1] :]))
        mass.append(float(model.mass[bodies].sum()))
        first.append(len(parts))
    table = np.array(parts, np.int32).reshape(-1, 3)
    place, width, tree = (np.ascontiguousarray(table[:, c]) for c in range(3))
    bounds = np.array(rows, np.int32).reshape(-1, 2)
    passes = (bounds[of_body, 1] > bounds[of_body, 0]) if len(rows) else np.zeros(n, bool)
    bound = (of_body >= 0) & (passes | (model.kind == BodyKind.LINK))
    return Mechanisms(
        of_body, part_of_body, bound.astype(np.int32), np.array(first, np.int32), place, width, tree, bounds,
        np.array(size, np.int32), np.array(mass, np.float64), np.zeros(len(parts), np.int32), trees, reactions)


# ------------------------------------------------------------------------------------------------ the rows of a block
@helper
def mechanism_at(mechanisms, i):
    """Mechanism of body i; -1 = the world or a body that never moves."""
    if i < 0:
        return -1
    return int(mechanisms.of_body[i])


@helper
def add_run(mechanisms, blocks, part, s):
    """Run s of the block in hand is this part; returns the next run."""
    e = int(blocks.count[ENTRIES])
    width = int(mechanisms.width[part])
    blocks.span[s, PLACE], blocks.span[s, WIDTH] = mechanisms.place[part], width
    blocks.span[s, ENTRY], blocks.span[s, PART] = e, part
    mechanisms.entry[part] = e
    for k in range(e, e + width):
        for j in range(3):
            blocks.J[k, j] = blocks.Y[k, j] = blocks.G[k, j] = 0.0
    blocks.count[ENTRIES] = e + width
    return s + 1


@helper
def passes_on(mechanisms, m):
    """Whether joints in maximal coordinates connect the parts of mechanism m; -1 = none."""
    if m < 0:
        return False
    return mechanisms.constraints[m, 1] > mechanisms.constraints[m, 0]


@helper
def open_block(mechanisms, blocks, kind, a, b):
    """Another block, of rows between the bodies a and b (-1 = the world), J = 0 and Y = 0 so far. Returns its number,
    or -1 where there is no room, which blocks.count[SHORT] then says."""
    k = int(blocks.count[USED])
    m_a, m_b = mechanism_at(mechanisms, a), mechanism_at(mechanisms, b)
    runs, size = 0, 0
    for side in range(2):
        m = m_a if side == 0 else m_b
        if m >= 0:
            runs += mechanisms.first[m + 1] - mechanisms.first[m]
            size += mechanisms.size[m]
            for part in range(mechanisms.first[m], mechanisms.first[m + 1]):
                mechanisms.entry[part] = -1
    s = int(blocks.first[k])
    no_room = k >= len(blocks.kind) or s + runs > len(blocks.span)
    if no_room or blocks.count[ENTRIES] + size > len(blocks.J):
        blocks.count[SHORT] = 1
        return -1
    for side in range(2):
        i = b if side == 0 else a
        part = int(mechanisms.part_of_body[i]) if i >= 0 else -1
        if part >= 0 and mechanisms.entry[part] < 0:
            s = add_run(mechanisms, blocks, part, s)
    blocks.seen[k] = s
    for side in range(2):
        m = m_b if side == 0 else m_a
        if passes_on(mechanisms, m):
            for part in range(mechanisms.first[m], mechanisms.first[m + 1]):
                if mechanisms.entry[part] < 0:
                    s = add_run(mechanisms, blocks, part, s)
    blocks.first[k + 1] = s
    blocks.kind[k], blocks.passed[k] = kind, 0
    blocks.count[USED] = k + 1
    return k


@helper
def place_in_block(model, mechanisms, i):
    """Where body i has its velocities in the block opened last, for `put_end`."""
    part = int(mechanisms.part_of_body[i]) if i >= 0 else -1
    if part < 0:
        return -1
    tree, e = int(mechanisms.tree[part]), int(mechanisms.entry[part])
    return e - int(model.trees.start_v[tree]) if tree >= 0 else e


@helper
def put_point(model, mechanisms, blocks, i, sign, arm):
    """Three rows of J: the velocity, times a sign, of the point at the end of an arm from body i's centre of mass."""
    at = place_in_block(model, mechanisms, i)
    for j in range(3):
        e = scale(sign, unit_vector(j))
        put_end(model, mechanisms.trees.work, i, at, e, cross(arm, e), blocks.J[:, j])


@helper
def unit_vector(j):
    return (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)


# --------------------------------------------------------------------------------------------------------- the answer
@helper
def link_within(trees, i, start, end):
    """The link that body i is, if it is one of start … end - 1; -1 else."""
    l = int(trees.link_of_body[i]) if i >= 0 else -1
    return l if start <= l < end else -1


@helper
def answer_alone(model, mechanisms, bodies, blocks, k, a, b, rows):
    """Y = H⁻¹ Jᵀ of the first `rows` rows of block k, between bodies a and b, joints in maximal coordinates left out;
    of trees G, too. bodies as in Motion."""
    trees, scratch = model.trees, mechanisms.trees
    for s in range(blocks.first[k], blocks.seen[k]):
        width, e = int(blocks.span[s, WIDTH]), int(blocks.span[s, ENTRY])
        tree = int(mechanisms.tree[blocks.span[s, PART]])
        if tree >= 0:
            start, end = int(trees.start[tree]), int(trees.start[tree + 1])
            l_a, l_b = link_within(trees, a, start, end), link_within(trees, b, start, end)
            answer_rows(trees.table, (start, end), (max(l_a, l_b), min(l_a, l_b)), blocks.J[e : e + width],
                        scratch.work.link, scratch.work.dof, scratch.answers, blocks.Y[e : e + width],
                        blocks.G[e : e + width])
            continue
        i = int(blocks.span[s, PLACE]) // BODY_SIZE
        for j in range(rows):
            moment = (blocks.J[e + 3, j], blocks.J[e + 4, j], blocks.J[e + 5, j])
            turn = sym_vec(six(bodies, i, INV_INERTIA), moment)
            for d in range(3):
                blocks.Y[e + d, j] = bodies[i, INV_MASS] * blocks.J[e + d, j]
                blocks.Y[e + 3 + d, j] = turn[d]


@helper
def along_joint(mechanisms, blocks, r, m, seen, j):
    """Row r of G times column j of Y, which differs from 0 in entries before `seen` only."""
    reactions, total, before = mechanisms.reactions, 0.0, -1
    for side in range(2):
        i = end_of(reactions.rows, r, side)
        if mechanism_at(mechanisms, i) != m:
            continue
        part = int(mechanisms.part_of_body[i])
        e, width = int(mechanisms.entry[part]), int(mechanisms.width[part])
        if e >= seen:
            continue
        if mechanisms.tree[part] < 0:
            for k in range(6):
                total += reactions.J[r, 6 * side + k] * blocks.Y[e + k, j]
        elif part != before:  # where both ends are links of one tree, a row of G holds both
            begin = int(mechanisms.place[part]) - BODY_SIZE * len(mechanisms.of_body)
            for d in range(width):
                total += reactions.G[r, begin + d] * blocks.Y[e + d, j]
        before = part
    return total


@helper
def add_joint(mechanisms, blocks, r, m, lam, j):
    """Column j of Y += λ times what row r of the joints' impulses does."""
    reactions, before = mechanisms.reactions, -1
    for side in range(2):
        i = end_of(reactions.rows, r, side)
        if mechanism_at(mechanisms, i) != m:
            continue
        part = int(mechanisms.part_of_body[i])
        e = int(mechanisms.entry[part])
        if mechanisms.tree[part] < 0:
            for k in range(6):
                blocks.Y[e + k, j] += lam * reactions.W[r, 6 * side + k]
        elif part != before:
            begin = int(mechanisms.place[part]) - BODY_SIZE * len(mechanisms.of_body)
            for d in range(mechanisms.width[part]):
                blocks.Y[e + d, j] += lam * reactions.Y[r, begin + d]
        before = part


@kernel
def answer_through(mechanisms, blocks, k, a, b) -> bool:
    """Let joints in maximal coordinates pass on what `answer_alone` left in Y of block k, between bodies a and b.
    Returns whether there are any."""
    m_a, m_b, rows = mechanism_at(mechanisms, a), mechanism_at(mechanisms, b), 1 if has_one_row(blocks, k) else 3
    if not (passes_on(mechanisms, m_a) or passes_on(mechanisms, m_b)):
        return False
    blocks.passed[k] = 1
    lam, last = mechanisms.reactions.part, int(blocks.seen[k]) - 1
    seen = int(blocks.span[last, ENTRY] + blocks.span[last, WIDTH])
    for side in range(2):
        m = m_b if side == 0 else m_a
        if not passes_on(mechanisms, m) or (side == 1 and m == m_b):
            continue
        low, high = int(mechanisms.constraints[m, 0]), int(mechanisms.constraints[m, 1])
        for j in range(rows):
            for r in range(low, high):
                lam[r] = -along_joint(mechanisms, blocks, r, m, seen, j)
            solve_block(mechanisms.reactions.factor, low, high, lam)
            for r in range(low, high):
                if lam[r] != 0.0:
                    add_joint(mechanisms, blocks, r, m, lam[r], j)
    return True
