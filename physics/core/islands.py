"""Islands: sets of contacts that are coupled through the bodies between them. Two islands share no moving body, so
their contact problems are independent."""

import numpy as np

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
    leader: dict[int, int] = {}

    def first(i: int) -> int:
        while leader.setdefault(i, i) != i:
            leader[i] = i = leader[leader[i]]
        return i

    pairs = nodes.tolist()
    for a, b in pairs:
        if a >= 0 and b >= 0:
            leader[first(a)] = first(b)
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(first(max(pair)), len(numbers)) for pair in pairs], np.int32)
