"""Islands: groups of contacts that act on one another through the bodies between them."""

import numpy as np

from contactlab.physics.model import BodyKind, IntArray, Model


def nodes_of(model: Model) -> IntArray:
    """What each body moves with (n,): a free body by itself, a link with its tree; -1 = it does not move."""
    n, trees = len(model.kind), model.trees
    node = np.where(model.kind == BodyKind.DYNAMIC, np.arange(n), -1).astype(np.int32)
    node[trees.body] = n + np.searchsorted(trees.start, np.arange(len(trees.body)), side="right")
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
