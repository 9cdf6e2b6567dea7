"""Groups: which shapes pass through each other, whatever their bodies. A shape is of its own group, else of its body's.
All particles are a group that passes through itself: two points never meet.
"""

from collections.abc import Sequence

import numpy as np

from ..core.model import NO_GROUPS, Groups, IntArray
from .schema import Apart, Body

PARTICLES = "\0particles"  #: what no file can call a group


def group_names(bodies: Sequence[Body]) -> set[str]:
    """The names of all groups."""
    given = {body.group for body in bodies} | {shape.group for body in bodies for shape in body.shape}
    return {name for name in given if name is not None}


def pairs_of_bodies(apart: Sequence[Apart], bodies: Sequence[str]) -> IntArray:
    """The tables that name two of the bodies, as pairs (p, 2) of these."""
    rows = {name: row for row, name in enumerate(bodies)}
    pairs = [[rows[name] for name in table.bodies] for table in apart if all(name in rows for name in table.bodies)]
    return np.array(pairs, np.int32).reshape(-1, 2)


def make_groups(
    apart: Sequence[Apart], bodies: Sequence[str], known: Sequence[tuple[str, str | None, str | None]],
) -> Groups:
    """The groups of all shapes by the tables that name a group. known: the body and the group of each shape, and
    PARTICLES of a particle."""
    rules = [table.bodies for table in apart if not all(name in bodies for name in table.bodies)]
    rules += [(PARTICLES, PARTICLES)] if any(PARTICLES in names for names in known) else []
    named = {name for rule in rules for name in rule}
    mine = [frozenset(named.intersection(filter(None, names))) for names in known]  # of the names that matter
    rows = {names: row for row, names in enumerate(dict.fromkeys(mine))}
    if not rules or (len(rows) == 1 and frozenset() in rows):
        return NO_GROUPS
    through = [[any((a in one and b in other) or (b in one and a in other) for a, b in rules) for other in rows]
               for one in rows]
    return Groups(np.array([rows[names] for names in mine], np.int32), np.array(through, np.int32))
