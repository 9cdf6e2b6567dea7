"""Contacts that can share a load in several ways, where the smallest forces leave the friction cones and others do not.

Whether such redundant contacts stick only Coulomb's law for all contacts of the island together says. It is asked at
the end of a piece, and where it says no, at the instants between.
"""

import numpy as np

from ...core.model import Array, BoolArray
from ...solvers.coulomb import holding
from .instant import equations
from .materials import PairMaterials
from .patience import Patience
from .rates import Instant
from .search import Trigger
from .sets import OPEN, STICK, UNKNOWN, resolve
from .workspace import Workspace

DOUBT_TIME = 1e-10      # accuracy of the instant at which other contacts stick [s]
DOUBT_FRACTION = 1e-15  # the same as a fraction of the piece: rounding


class SharedLoads:
    """Asks Coulomb's law of whole islands."""

    def __init__(self, work: Workspace, materials: PairMaterials, patience: Patience) -> None:
        self._work, self._materials, self._patience = work, materials, patience

    def doubtful(self) -> BoolArray:
        """Contacts (c,) of the set in islands with a force of which only Coulomb's law for all of them says whether it
        holds."""
        chosen, count = self._work.chosen, self._work.in_set
        island = chosen.island[:count]
        return np.isin(island, island[chosen.open[:count] == UNKNOWN])

    def first_doubt(self, trigger: Trigger | None) -> Trigger | None:
        """The first event of the piece made last, from the first one that the search found: that other redundant
        contacts have to stick may come before it."""
        doubtful, search = self.doubtful(), self._work.search
        if self._patience.blind or not doubtful.any():
            return trigger
        hi = 1.0 if trigger is None else trigger.delta
        if self._sticks(search.at(hi), doubtful):
            return trigger
        lo = 0.0
        while hi - lo > DOUBT_TIME / search.length and hi - lo > DOUBT_FRACTION:
            middle = 0.5 * (lo + hi)
            lo, hi = (middle, hi) if self._sticks(search.at(middle), doubtful) else (lo, middle)
        for pair in self._work.set_pairs[doubtful].tolist():
            self._patience.count_event(pair)
        return Trigger(hi, "cone", -1)

    def _sticks(self, at: Instant, doubtful: BoolArray) -> bool:
        """Whether at that instant all contacts of the set that stick still do."""
        work, chosen, count = self._work, self._work.chosen, self._work.in_set
        pairs = chosen.pair[:count][doubtful]
        M, d, u = equations(at, pairs)
        expected = chosen.mode[:count][doubtful]
        friction = self._materials.friction(pairs)
        if (expected == STICK).all() and holding(M, d, friction.stick) is not None:
            return True
        work.count_solve()
        return all(b == a or (a != STICK and b != OPEN)
                   for a, b in zip(expected.tolist(), resolve(M, d, u, friction, {}).mode, strict=True))

    def correct(self, lam: Array, M: Array, d: Array, u: Array) -> None:
        """Replace the forces lam (3 c,) of those contacts of the set that share a load by forces that obey Coulomb's
        law; M, d and u as `equations` gives them, of these and other pairs."""
        chosen, count, doubtful = self._work.chosen, self._work.in_set, self.doubtful()
        if not doubtful.any():
            return
        pairs, rows = chosen.pair[:count][doubtful], np.flatnonzero(np.repeat(doubtful, 3))
        block, friction = np.ascontiguousarray(M[np.ix_(rows, rows)]), self._materials.friction(pairs)
        lam[rows] = resolve(block, d[rows], u[rows], friction, {}).force
