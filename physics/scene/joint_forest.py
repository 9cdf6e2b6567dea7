"""Which joints of a scene make a forest, so that their own positions can be coordinates."""

from collections.abc import Sequence

from .schema import Joint


def in_forest(joints: Sequence[Joint]) -> list[bool]:
    """Which joints a forest of generalized coordinates has: those stated so, then in their order all that carry a body
    that no other carries, and close no loop."""
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
