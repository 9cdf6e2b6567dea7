"""Islands: groups of contacts that act on one another through the bodies between them."""

import numpy as np

from .model import BodyKind, IntArray, Model


def trees_of(model: Model) -> IntArray:
    """What each body's coordinates belong to (n,): a free body's to itself, a link's to its tree; -1 = it does not
    move."""
    n, trees = len(model.kind), model.trees
    node = np.where(model.kind == BodyKind.DYNAMIC, np.arange(n), -1).astype(np.int32)
    node[trees.body] = n + np.searchsorted(trees.start, np.arange(len(trees.body)), side="right")
    return node


def nodes_of(model: Model) -> IntArray:
    """What each body moves with (n,): a free body by itself, a link with its tree, and those that joints in maximal
    coordinates connect with each other; -1 = it does not move."""
    node, joints = trees_of(model), model.joints
    for j in np.flatnonzero(joints.generalized == 0).tolist():
        parent = int(joints.parent[j])
        if parent >= 0:
            one, other = int(node[parent]), int(node[joints.child[j]])
            if one >= 0 and other >= 0:
                node[node == one] = other
    return node


def islands_of(nodes: IntArray) -> IntArray:
    """Numbers (c,) of islands from 0: contacts that share a node, directly or through others, have the same. nodes
    (c, 2): what moves as one, at each side of a contact; -1 = does not move."""
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
