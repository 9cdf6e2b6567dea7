"""Which pairs of elements are one contact that goes on: a surface may be cut into elements where it does not end."""

import numpy as np

from ...shapes.elements import ARC, EDGE, FACE, OUTLINE, SPOT, SPOT_ROUND, TWIN
from .elements import Elements

FLAT_EDGE = 1e-4   # sine of the angle below which neighbouring triangles count as flat
APART = 1e-8       # between the points of two pairs that are one contact, at most, relative to the smaller shape


def goes_on(surface: Elements, e: int, f: int) -> bool:
    """Whether the elements e and f of one shape are two faces of one plane, or two edges of one line, as far as their
    directions say and but for FLAT_EDGE, or two arcs of one ring, or two seats of one solid."""
    kind = int(surface.kind[e])
    kinds = {kind, int(surface.kind[f])}
    if kinds <= {ARC, TWIN} or (len(kinds) == 1 and kind in (OUTLINE, SPOT, SPOT_ROUND)):
        return True
    if kind not in (EDGE, FACE) or kind != surface.kind[f]:
        return False
    u, v = surface.axis[e], surface.axis[f]
    return bool(np.linalg.norm(np.cross(u, v)) <= FLAT_EDGE and (kind == EDGE or u @ v > 0.0))


def one_contact(surface: Elements, pair: int, other: int) -> bool:
    """Whether two pairs that touch at one point are one contact: an element of a shape touches two elements of another
    one that continue each other."""
    count = len(surface.kind)
    (a, b), (c, d) = divmod(pair, count), divmod(other, count)
    for e, f, g in ((b, d, a == c), (a, c, b == d)):
        if g and surface.shape[e] == surface.shape[f] and goes_on(surface, e, f):
            return True
    return False
