"""Contacts that can share a load in several ways, where the smallest forces leave the friction cones and others do not.

Whether such redundant contacts stick only Coulomb's law for all contacts of the island together says. It is asked at
the end of a piece, and where it says no, at the instants between.
"""

import math

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, BoolArray
from ...core.vec import dot, row
from ...problem.contact_equations import add_row, free_rate
from ...solvers.coulomb import STICK_RESIDUAL, holding
from ...solvers.least_forces import ZERO
from .instant import equations, root_of_motion, world_forces
from .materials import PairMaterials
from .patience import Patience
from .rates import Instant, equations_here
from .search import Trigger
from .sets import OPEN, STICK, UNKNOWN, ContactSet, resolve
from .workspace import Workspace

DOUBT_TIME = 1e-10      # accuracy of the instant at which other contacts stick [s]
DOUBT_FRACTION = 1e-15  # the same as a fraction of the piece: rounding


@helper
def any_doubt(chosen):
    """Whether Coulomb's law has to be asked of a whole island, see `shared_loads`."""
    some = False
    for k in range(chosen.count[0]):
        some = some or chosen.open[k] == UNKNOWN
    return some


@helper
def moved_by(eq, r, push):
    """The acceleration in row r by generalized forces (n_v,): HT_r · push."""
    total, spread = 0.0, len(eq.reactions.lam) > 0
    for side in range(0 if spread else 2):
        p = int(eq.place[r // 3, side])
        for m in range(p, p + 6 if p >= 0 else p):
            total += eq.HT[r, m] * push[m]
    for m in range(0 if spread else len(eq.free) - len(eq.trees.v), len(eq.free)):
        total += eq.HT[r, m] * push[m]
    return total


def known_to_hold(at: Instant, chosen: ContactSet) -> bool:
    """Whether all doubtful contacts stick because forces that held them before still do: they are within the cones and
    leave no acceleration, by the measures of `coulomb.py: holding`. They are then in the rows of these contacts in the
    scratch's lam."""
    equations_here(at, chosen.pair, int(chosen.count[0]), 1)
    return bool(hold_here(at, chosen))


@helper
def leaves_cone(chosen, lam, k):
    """Whether the forces lam (3 c,) of contact k are not within its bound."""
    bound = chosen.friction[k] * lam[3 * chosen.bearer[k]]
    return not math.hypot(lam[3 * k + 1], lam[3 * k + 2]) <= bound * (1.0 + ZERO)


@kernel
def hold_here(at, chosen):
    """What `known_to_hold` says, where the equations of the set at the instant are in the scratch."""
    eq, witness, lam, push = at.scratch.equations, at.scratch.witness, at.scratch.lam, at.scratch.large.motion
    size, most, unsure = 0.0, 0.0, np.zeros(chosen.islands[0], np.int32)
    for k in range(chosen.count[0]):
        if chosen.open[k] == UNKNOWN:
            unsure[chosen.island[k]] = 1
    for k in range(chosen.count[0]):
        if unsure[chosen.island[k]] == 0:
            continue
        force = row(chosen.hold, k)
        lam[3 * k] = dot(force, row(witness.normal, k))
        lam[3 * k + 1], lam[3 * k + 2] = dot(force, row(eq.tangent_1, k)), dot(force, row(eq.tangent_2, k))
        if chosen.mode[k] != STICK or (chosen.bearer[k] == k and leaves_cone(chosen, lam, k)):
            return False
    push[:] = 0.0
    for k in range(chosen.count[0]):
        if unsure[chosen.island[k]] == 0:
            continue
        if chosen.bearer[k] != k and leaves_cone(chosen, lam, k):
            return False
        for r in range(3 * k, 3 * k + 3):
            add_row(eq, r, lam[r], push)
    for k in range(chosen.count[0]):
        for r in range(3 * k, 3 * k + 3 if unsure[chosen.island[k]] == 1 else 3 * k):
            rate = free_rate(eq, r)
            size, most = max(size, abs(rate)), max(most, abs(rate + moved_by(eq, r, push)))
    return most <= STICK_RESIDUAL * size


class SharedLoads:
    """Asks Coulomb's law of whole islands."""

    def __init__(self, work: Workspace, materials: PairMaterials, patience: Patience) -> None:
        self._work, self._materials, self._patience = work, materials, patience

    def doubtful(self) -> BoolArray:
        """Contacts (c,) of the set in islands with a force of which only Coulomb's law for all of them says whether it
        holds."""
        chosen, count = self._work.chosen, self._work.in_set
        island, unknown = chosen.island[:count], chosen.open[:count] == UNKNOWN
        return np.isin(island, island[unknown]) if unknown.any() else unknown

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
        if known_to_hold(at, chosen):
            return True
        pairs = chosen.pair[:count][doubtful]
        M, d, u = equations(at, pairs)
        expected = chosen.mode[:count][doubtful]
        friction = self._materials.friction(pairs)
        alone = bool((friction.bearer == np.arange(len(pairs))).all())
        if alone and (expected == STICK).all() and (force := holding(M, d, friction.stick)) is not None:
            chosen.hold[:count][doubtful] = world_forces(at.scratch, force)
            return True
        work.count_solve()
        u[np.repeat(expected == STICK, 3)] = 0.0  # what sticks along the piece moves by its drift alone
        found = resolve(M, d, u, friction, {}, root_of_motion(at, len(pairs)))
        if not alone and (expected == STICK).all() and found.mode == expected.tolist():
            chosen.hold[:count][doubtful] = world_forces(at.scratch, found.force)
        return all(b == a or (a != STICK and b != OPEN)
                   for a, b in zip(expected.tolist(), found.mode, strict=True))

    def obeying(self, at: Instant, lam: Array, M: Array, d: Array, u: Array) -> Array:
        """The forces lam (3 c,) of the set, with those of contacts that share a load replaced by forces that obey
        Coulomb's law; M, d and u as `equations` gives them of the set at an instant."""
        chosen, count, doubtful, lam = self._work.chosen, self._work.in_set, self.doubtful(), lam.copy()
        if not doubtful.any():
            return lam
        pairs, rows = chosen.pair[:count][doubtful], np.flatnonzero(np.repeat(doubtful, 3))
        if known_to_hold(at, chosen):
            lam[rows] = at.scratch.lam[rows]
            return lam
        block, friction = np.ascontiguousarray(M[np.ix_(rows, rows)]), self._materials.friction(pairs)
        lam[rows] = resolve(block, d[rows], u[rows], friction, {}).force
        return lam
