"""Which joints of a scene make a forest, so that their own positions can be coordinates."""

from collections.abc import Sequence

from .schema import Joint


def in_forest(joints: Sequence[Joint]) -> list[bool]:
    """For each joint, whether it belongs to the forest.

    The joints that the scene states as generalized come first, then the others, both in their order. A joint is taken
    where no joint taken before has the same child, and where it closes no loop with those taken before.
    """
    above: dict[str, str] = {}
    chosen = [False] * len(joints)
    for wanted in ("generalized", "maximal"):
        for i, joint in enumerate(joints):
            if joint.coordinates != wanted or joint.child in above:
                continue
            end = joint.parent
            while end in above:
                end = above[end]
            if end != joint.child:
                above[joint.child] = joint.parent
                chosen[i] = True
    return chosen
