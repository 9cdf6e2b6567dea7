"""Pairs of shapes that the broad phase keeps from one call to the next.

It searches with bounds that are swollen by a skin and by what bodies get on within a step. As long as all shapes stay
within their swollen bounds no other pairs can overlap than those found then [Verlet 1967], and only these are asked,
each by its own bounds. So the pairs are those of a new search, whatever is kept; those of fast bodies on their ways are
among them, too. Each kept pair has a row of notes of its own, see `known_features`.
"""

from typing import NamedTuple

import numpy as np

from ..core.jit import helper, kernel, program
from ..core.model import Array, BoolArray, IntArray
from ..core.state import LongArray
from ..core.team import share_out
from ..core.vec import row
from .broad_phase import EITHER, meets_plane
from .geometry import PLANE, Geometry
from .hands import SHARES
from .whole_bodies import overlap

SKIN = 0.1        # relative to the mean size of a body's shapes
MANY_KEPT = 2000  # pairs kept, from which on threads share them
MANY = 64         # pairs from which on they are searched anew where less than a quarter of them overlap


class Kept(NamedTuple):
    """What is kept, and scratch."""

    bounds: Array    #: (s, 6) lower and upper ends of the swollen bounds of the last search [m]
    own: Array       #: (s, 6) scratch: bounds without the skin [m]
    skin: Array      #: (s,) [m]; the same of all shapes of a body, which leave their bounds together
    roles: IntArray  #: (n,) roles of the bodies at the last search, see `broad_phase.PUSHES`
    pairs: LongArray  #: (p, 2) found by it, in order
    row: LongArray   #: (p,) their rows of notes, then the rows that no pair has
    spare: LongArray  #: (2, p) scratch
    count: LongArray  #: (2,) pairs kept, and how many of them overlapped when contacts were last looked for; all, right
                      #:      after a search
    note: LongArray  #: (p,) row of notes of each pair that overlaps now


def new_kept(geom: Geometry, body: IntArray, stands: BoolArray, pairs: int) -> Kept:
    """Nothing kept yet, and room for so many pairs. stands (n,): bodies that never move."""
    sizes, counts = np.bincount(body, (geom.core + geom.swell)[:-1], len(stands)), np.bincount(body, None, len(stands))
    skin = np.where(stands, 0.0, SKIN * sizes / np.maximum(counts, 1))[body]
    bounds, own = np.full((2, len(body), 6), np.nan)
    return Kept(bounds, own, skin, np.zeros(len(stands), np.int32), np.zeros((pairs, 2), np.int64), np.arange(pairs),
                np.zeros((2, pairs), np.int64), np.zeros(2, np.int64), np.zeros(pairs, np.int64))


@kernel
def still_hold(geom, roles, kept):
    """Whether no other pairs can overlap than those kept, and it is worth while to ask these."""
    if kept.count[0] > MANY and 4 * kept.count[1] < kept.count[0]:
        return False
    holds = True
    for i in range(len(roles)):
        holds = holds and roles[i] == kept.roles[i]
    for s in range(len(kept.skin)):
        for c in range(3):
            holds = holds and geom.lo[s, c] >= kept.bounds[s, c] and geom.hi[s, c] <= kept.bounds[s, 3 + c]
    return holds


@kernel
def put_on_skins(geom_in_out, reach, kept_out) -> None:
    """Swell the bounds of all shapes by their skins, and by their reach (s,) [m] once more: most bodies get no farther
    in the next step, on their ways or in its middle."""
    for s in range(len(kept_out.skin)):
        skin = kept_out.skin[s] + reach[s]
        for c in range(3):
            kept_out.own[s, c], kept_out.own[s, 3 + c] = geom_in_out.lo[s, c], geom_in_out.hi[s, c]
            geom_in_out.lo[s, c] -= skin
            geom_in_out.hi[s, c] += skin


@kernel
def take_off_skins(kept, geom_out) -> None:
    """The bounds as they were before `put_on_skins`."""
    for s in range(len(kept.skin)):
        for c in range(3):
            geom_out.lo[s, c], geom_out.hi[s, c] = kept.own[s, c], kept.own[s, 3 + c]


@helper
def stands_before(pairs, k, a, b):
    """Whether row k of some pairs stands before the pair a, b in their order."""
    return pairs[k, 0] < a or (pairs[k, 0] == a and pairs[k, 1] < b)


@kernel
def keep_pairs(geom, roles, pairs, count, kept_in_out) -> None:
    """Keep so many pairs, in order, that were found with the bounds as they are. Those that were kept before keep their
    rows of notes, others get the rows of those that are gone."""
    kept, row, rows, free = kept_in_out, kept_in_out.row, kept_in_out.spare[0], kept_in_out.spare[1]
    for i in range(len(roles)):
        kept.roles[i] = roles[i]
    for s in range(len(kept.skin)):
        for c in range(3):
            kept.bounds[s, c], kept.bounds[s, 3 + c] = geom.lo[s, c], geom.hi[s, c]
    k, freed, taken, before = 0, 0, 0, kept.count[0]
    for p in range(count):
        while k < before and stands_before(kept.pairs, k, pairs[p, 0], pairs[p, 1]):
            free[freed] = row[k]
            freed += 1
            k += 1
        rows[p] = -1
        if k < before and kept.pairs[k, 0] == pairs[p, 0] and kept.pairs[k, 1] == pairs[p, 1]:
            rows[p] = row[k]
            k += 1
    for i in range(k, before):
        free[freed] = row[i]
        freed += 1
    for p in range(count):
        if rows[p] < 0:
            rows[p] = free[taken] if taken < freed else row[before + taken - freed]
            taken += 1
    for p in range(count):
        row[p] = rows[p]
        kept.pairs[p, 0], kept.pairs[p, 1] = pairs[p, 0], pairs[p, 1]
    for i in range(taken, freed):
        row[count + i - taken] = free[i]
    kept.count[0] = kept.count[1] = count


@kernel
def choose_some(i, shares, geom, body, roles, kept, chosen, pairs_out) -> None:
    """Share i of `choose_overlapping`: those of its kept pairs in the rows from the first of these on, and their number
    in chosen[i]."""
    lo, hi, first = geom.lo, geom.hi, i * kept.count[0] // shares
    count = first
    for k in range(first, (i + 1) * kept.count[0] // shares):
        a, b = kept.pairs[k, 0], kept.pairs[k, 1]
        if geom.kind[a] == PLANE or geom.kind[b] == PLANE:
            meet = meets_plane(geom, a, b) if geom.kind[a] == PLANE else meets_plane(geom, b, a)
        else:
            meet = overlap(row(lo, a), row(hi, a), row(lo, b), row(hi, b))
        pairs_out[count, 0], pairs_out[count, 1] = a, b
        kept.note[count] = kept.row[k]
        count += 1 if meet and roles[body[a]] | roles[body[b]] == EITHER else 0
    chosen[i] = count - first


@program
def choose_overlapping(geom, body, roles, kept, pairs_out) -> int:
    """Fill pairs_out with the kept pairs whose bounds overlap, or of a plane and a shape that reaches it, where the
    roles (n,) of their bodies let them count, see `broad_phase.PUSHES`; and kept.note with their rows of notes. Returns
    their number."""
    shares, chosen = SHARES if kept.count[0] >= MANY_KEPT else 1, np.zeros(SHARES, np.int64)
    share_out(shares, choose_some, (shares, geom, body, roles, kept, chosen, pairs_out))
    count = chosen[0]
    for i in range(1, shares):  # one behind the other
        first = i * kept.count[0] // shares
        for k in range(first, first + chosen[i]):
            pairs_out[count, 0], pairs_out[count, 1] = pairs_out[k, 0], pairs_out[k, 1]
            kept.note[count] = kept.note[k]
            count += 1
    return count
