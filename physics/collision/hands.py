"""What threads write to that share pairs of shapes: a share of the pairs is carried out by one hand."""

from typing import NamedTuple

from ..core.jit import helper
from .convex import ConvexScratch
from .geometry import Geometry
from .mesh_gap import Soups

SHARES = 4  # of the pairs


class Hand(NamedTuple):
    """What a share of the pairs writes to."""

    geometry: Geometry  #: whose triangle in hand is its own, and of shapes on their way their places
    work: ConvexScratch
    soups: Soups


class Hands(NamedTuple):
    """Of each share; kernels read tuples whose arrays are known when they are called."""

    first: Hand
    second: Hand
    third: Hand
    fourth: Hand


@helper
def hand_of(hands, i):
    """That of share i."""
    if i == 0:
        return hands.first
    if i == 1:
        return hands.second
    return hands.third if i == 2 else hands.fourth
