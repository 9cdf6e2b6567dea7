"""Islands: sets of contacts that are coupled through the bodies between them. Two islands share no moving body, so
their contact problems are independent."""

import numpy as np

from .jit import helper, kernel
from .model import BodyKind, IntArray, Model


def trees_of(model: Model) -> IntArray:
    """Node (n,) of each body by its coordinates: a free body is a node of its own, all links of a tree are one node;
    -1 = the body does not move."""
    n, trees = len(model.kind), model.trees
    node = np.where(model.kind == BodyKind.DYNAMIC, np.arange(n), -1).astype(np.int32)
    node[trees.body] = n + np.searchsorted(trees.start, np.arange(len(trees.body)), side="right")
    return node


def nodes_of(model: Model) -> IntArray:
    """Node (n,) of each body as in `trees_of`, where bodies that joints in maximal coordinates connect are one node
    too; -1 = the body does not move."""
    node, joints = trees_of(model), model.joints
    for j in np.flatnonzero(joints.generalized == 0).tolist():
        parent = int(joints.parent[j])
        if parent >= 0:
            one, other = int(node[parent]), int(node[joints.child[j]])
            if one >= 0 and other >= 0:
                node[node == one] = other
    return node


def islands_of(nodes: IntArray) -> IntArray:
    """Number (c,), from 0, of the island of each contact: contacts that share a node, directly or through other
    contacts, have the same number. nodes (c, 2): node of each side of a contact, -1 = it does not move.

    Disjoint sets with path halving [Tarjan & van Leeuwen 1984]."""
    nodes, island = np.ascontiguousarray(nodes, np.int32), np.empty(len(nodes), np.int32)
    number_islands(nodes, np.arange(nodes.max(initial=-1) + 2, dtype=np.int32), island)
    return island


@helper
def leader_of(leader, i):
    """The leader of the set that i is in."""
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    return i


@kernel
def number_islands(nodes, leader, island_out):
    """See `islands_of`; leader (n + 1,): of every node i by itself at i + 1, of what does not move at 0."""
    number, found = np.full(len(leader), -1), 0
    for k in range(len(nodes)):
        if nodes[k, 0] >= 0 and nodes[k, 1] >= 0:
            leader[leader_of(leader, nodes[k, 0] + 1)] = leader_of(leader, nodes[k, 1] + 1)
    for k in range(len(nodes)):
        i = leader_of(leader, max(nodes[k, 0], nodes[k, 1]) + 1)
        if number[i] < 0:
            number[i] = found
            found += 1
        island_out[k] = number[i]
