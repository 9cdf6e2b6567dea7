"""Moments of contacts against spinning and rolling, as arrows bent about the axes that they turn about."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array, IntArray, Model, movable
from ...physics.core.state import Contacts
from ...physics.laws.contact import turning_lengths
from ...physics.run.messages import Snapshot
from .scales import STANDARD_GRAVITY

PIECES = 12    # of an arrow; the last one is its tip
HEAD = 0.16    # of an arrow, that its tip takes: so long that it has a whole head
TOLD = 1.35    # how far from the axis a moment is written, as part of the arrow's radius
RADIUS = 1.15  # of an arrow, in body radii: around what stands on the contact
MOST = 1.6     # longest arrow, in half turns: it does not meet its own tail
LEAST = 0.02   # of the moment that is half a turn: smaller ones are not drawn
LABELS = 8     # moments with their number, the greatest


class BentArrows(NamedTuple):
    """Pieces of arrows, k in all."""

    start: Array       # (k, 3) [m]
    end: Array         # (k, 3) [m]
    tip: Array         # (k,) whether it is the last one of its arrow
    contact: IntArray  # (k,) row of its contact
    told: list[tuple[Array, float]]  # where a moment is written, and its size [N m]


def moment_of_half_turn(model: Model, gravity: Sequence[float]) -> float:
    """What the greatest length of the materials makes of the mean weight [N m]; 0 where none opposes turning. Like the
    scale of forces it stays while a scene runs."""
    mass = model.mass[movable(model.kind)]
    weight = (float(mass.mean()) if len(mass) else 1.0) * (float(np.linalg.norm(gravity)) or STANDARD_GRAVITY)
    return float(turning_lengths(model.materials).max(initial=0.0)) * weight


def moment_strokes(snapshot: Snapshot, c: Contacts, rows: NDArray[np.intp], sign: Array, half_turn: float,
                   body_radius: float) -> BentArrows:
    """The arrows of contacts c (k,), which are these rows of the snapshot's; sign (k,): 1 = on body b, -1 = on a. The
    part about the normal lies in the plane of the contact, the part across it stands on that."""
    moments = sign[:, None] * snapshot.moments[rows]
    along = (moments * c.normal).sum(axis=1)
    paths, contact, told = [], [], []
    for k, n in enumerate(c.normal):
        across = moments[k] - along[k] * n
        ahead = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        for moment, middle in ((along[k] * n, ahead / np.linalg.norm(ahead)), (across, sign[k] * n)):
            size = float(np.linalg.norm(moment))
            if size < LEAST * half_turn:
                continue
            reach = 0.5 * np.pi * min(size / half_turn, MOST)
            angle = reach * np.append(np.linspace(-1.0, 1.0 - 2.0 * HEAD, PIECES), 1.0)[:, None]
            bent = np.cos(angle) * middle + np.sin(angle) * np.cross(moment / size, middle)
            paths.append(c.point[k] + RADIUS * body_radius * bent)
            contact.append(k)
            told.append((c.point[k] + TOLD * RADIUS * body_radius * bent[-1], size))
    points = np.reshape(paths, (-1, PIECES + 1, 3))
    tip = np.tile(np.arange(1, PIECES + 1) == PIECES, len(points))
    return BentArrows(points[:, :-1].reshape(-1, 3), points[:, 1:].reshape(-1, 3), tip,
                      np.repeat(np.array(contact, np.int32), PIECES), sorted(told, key=lambda t: -t[1])[:LABELS])
