"""Impacts without end in finite time: a geometric series of blows is noticed from its first three, and its end told
before it is reached. After each blow all that follows is the same in smaller, by the ratio r: the times between blows
and the impulses shrink by r, so what is left after the interval d lasts d (r + r² + ...) = d r/(1 - r)."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..core.report import Event

ALIKE = 1e-6    # relative difference of ratios that are taken as one; with steps of a fixed length they differ by more
INSTANT = 1e-9  # [s] blows that are no farther apart are one


class Series(NamedTuple):
    """A geometric series of impacts of two bodies."""

    bodies: tuple[int, int]
    ratio: float                        #: of an interval to the one before
    last: float                         #: instant of the latest impact [s]
    end: float                          #: when infinitely many are over [s]
    point: tuple[float, float, float]   #: where they end [m]


class _Blow(NamedTuple):
    t: float
    impulse: float
    point: tuple[float, float, float]


def series_of(events: Iterable[Event]) -> list[Series]:
    """The series that the latest three impacts of each two bodies make, oldest pair first. events: oldest first."""
    blows: dict[tuple[int, int], list[_Blow]] = {}
    for event in events:
        if event.kind != "impact":
            continue
        of_pair = blows.setdefault(event.bodies, [])
        blow = _Blow(event.t, math.hypot(*event.impulse), event.point)
        if of_pair and blow.t - of_pair[-1].t <= INSTANT:  # several points of one blow
            blow = _Blow(blow.t, blow.impulse + of_pair[-1].impulse, of_pair[-1].point)
            of_pair.pop()
        of_pair.append(blow)
    found = (_series(bodies, *of_pair[-3:]) for bodies, of_pair in blows.items() if len(of_pair) >= 3)
    return [one for one in found if one is not None]


def _series(bodies: tuple[int, int], a: _Blow, b: _Blow, c: _Blow) -> Series | None:
    """The series that three impacts begin; None where impulses and intervals do not shrink alike."""
    ratio = (c.t - b.t) / (b.t - a.t)
    by_impulse = np.array([b.impulse / a.impulse, c.impulse / b.impulse]) if a.impulse * b.impulse > 0.0 else np.inf
    if not 0.0 < ratio < 1.0 - ALIKE or np.abs(by_impulse - ratio).max() > ALIKE:
        return None
    left = ratio / (1.0 - ratio)
    x, y, z = (np.array(c.point) + left * np.subtract(c.point, b.point)).tolist()
    return Series(bodies, ratio, c.t, c.t + left * (c.t - b.t), (x, y, z))
