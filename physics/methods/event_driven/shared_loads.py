"""Contacts that can share a load in several ways, where the smallest forces leave the friction cones and others do not.

Whether such redundant contacts stick only Coulomb's law for all contacts of the island together says. It is asked at
the end of a piece, and where it says no, at the instants between.
"""

import numpy as np

from ...core.model import Array, BoolArray
from ...core.state import LongArray
from ...solvers.coulomb import STICK_RESIDUAL
from ...solvers.least_forces import ZERO, least
from .instant import equations
from .patience import Patience
from .rates import Instant
from .search import Trigger
from .sets import OPEN, STICK, UNKNOWN, Resolution, resolve
from .workspace import Workspace

DOUBT_TIME = 1e-10      # accuracy of the instant at which other contacts stick [s]
DOUBT_FRACTION = 1e-15  # the same as a fraction of the piece: rounding


class SharedLoads:
    """The forces that obeyed Coulomb's law last, by pair; they are part of the State's memory of contacts."""

    def __init__(self, work: Workspace, patience: Patience) -> None:
        self._work, self._patience = work, patience
        self.known: dict[int, Array] = {}  #: pair -> force (3,): normal, tangent 1, tangent 2 [N]

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
        if not self._patience.may_doubt or not doubtful.any():
            return trigger
        hi = 1.0 if trigger is None else trigger.delta
        if self._sticks(search.at(hi), doubtful):
            return trigger
        lo = 0.0
        while hi - lo > DOUBT_TIME / search.length and hi - lo > DOUBT_FRACTION:
            middle = 0.5 * (lo + hi)
            lo, hi = (middle, hi) if self._sticks(search.at(middle), doubtful) else (lo, middle)
        self._patience.doubt()
        return Trigger(hi, "cone", -1)

    def _sticks(self, at: Instant, doubtful: BoolArray) -> bool:
        """Whether at that instant all contacts of the set that stick still do."""
        work, chosen, count = self._work, self._work.chosen, self._work.in_set
        pairs, friction = chosen.pair[:count][doubtful], chosen.friction[:count][doubtful]
        M, d, u = equations(at, pairs)
        expected = chosen.mode[:count][doubtful]
        if (expected == STICK).all() and self.still_obey(pairs, M, d, friction) is not None:
            return True
        work.count_solve()
        return all(b == a or (a != STICK and b != OPEN)
                   for a, b in zip(expected.tolist(), self.solve(pairs, M, d, u, friction).mode, strict=True))

    def solve(self, pairs: LongArray, M: Array, d: Array, u: Array, friction: Array) -> Resolution:
        """Coulomb's law for contacts of the set; the forces are remembered."""
        found = resolve(M, d, u, friction, {})
        self.known = dict(zip(pairs.tolist(), found.force.reshape(-1, 3), strict=True))
        return found

    def still_obey(self, pairs: LongArray, M: Array, d: Array, friction: Array) -> Array | None:
        """The forces (3 c,) that obeyed Coulomb's law last, changed as little as ends all accelerations; None where
        they do not obey it any more."""
        if not all(pair in self.known for pair in pairs.tolist()):
            return None
        force = np.concatenate([self.known[pair] for pair in pairs.tolist()])
        force -= least(M, M @ force + d)
        inside = np.hypot(force[1::3], force[2::3]) <= friction * force[::3] * (1.0 - ZERO)
        obeys = inside.all() and np.abs(M @ force + d).max() <= STICK_RESIDUAL * np.abs(d).max()
        return force if obeys else None

    def correct(self, lam: Array, pairs: LongArray, M: Array, d: Array, u: Array) -> None:
        """Replace the forces lam (3 c,) of those contacts of the set, its pairs (c,), that share a load by forces that
        obey Coulomb's law; M, d and u as `equations` gives them, of these and other pairs."""
        chosen, count, doubtful = self._work.chosen, self._work.in_set, self.doubtful()
        if not doubtful.any():
            return
        rows = np.flatnonzero(np.repeat(doubtful, 3))
        problem = pairs[doubtful], M[np.ix_(rows, rows)], d[rows]
        friction, sticks = chosen.friction[:count][doubtful], (chosen.mode[:count][doubtful] == STICK).all()
        force = self.still_obey(*problem, friction) if sticks else None
        lam[rows] = self.solve(*problem, u[rows], friction).force if force is None else force
