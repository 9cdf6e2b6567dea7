"""What a scene shows before it runs: which table made each body, and where bodies overlap."""

from typing import NamedTuple

import numpy as np

from ..collision.detector import Detector
from ..core.model import Array
from .build import Setup, lay_out
from .schema import SceneFile

UNSEEN = 1e-6  # share of a body's size below which an overlap is taken for a touch: rounding of numbers in a file


class Overlap(NamedTuple):
    """Two bodies that overlap at the start."""

    bodies: tuple[str, str]
    depth: float  #: the greatest of their contacts [m]
    point: Array  #: (3,) where that is [m], world


def rows(file: SceneFile) -> tuple[int, ...]:
    """For each body of the model, the place of its table in the file: copies that an array makes have that of the body
    that is repeated."""
    return tuple(placed.index for placed in lay_out(file))


def overlaps(setup: Setup) -> list[Overlap]:
    """All pairs of bodies that may touch each other and overlap at the start, the deepest first."""
    model = setup.model
    contacts = Detector(model).detect(setup.state.bodies, np.zeros(len(model.kind)))
    size = np.zeros(len(model.kind))
    bound = model.shapes.bound
    np.maximum.at(size, model.shapes.body, np.where(np.isfinite(bound), bound, 0.0))
    found: dict[tuple[int, int], Overlap] = {}
    for row in range(int(contacts.count[0])):
        a, b, depth = int(contacts.body_a[row]), int(contacts.body_b[row]), -float(contacts.gap[row])
        if depth <= UNSEEN * max(size[a], size[b]) or ((a, b) in found and found[a, b].depth >= depth):
            continue
        names = setup.labels.bodies[a], setup.labels.bodies[b]
        found[a, b] = Overlap(names, depth, contacts.point[row].copy())
    return sorted(found.values(), key=lambda overlap: -overlap.depth)
