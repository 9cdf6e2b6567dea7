"""Drift is projected out along H⁻¹T: the current set is kept at φ = ζ = 0, joints in maximal coordinates closed."""

import math

import numpy as np
from numpy.typing import NDArray

from ...books.ledger import Account, Books
from ...core.model import Array
from ...core.state import Bodies, LongArray, Tally
from ...dynamics.constraints.cure import JointKeeper, gain
from ...dynamics.motion import drive
from ...dynamics.trees.jumps import jump
from ...solvers.least_forces import least
from .instant import add_impulses, displace, energy_at, matrix_of, update_links, velocities
from .sets import ContactSet
from .workspace import Workspace

Rows = NDArray[np.integer]
DRIFT = 1e-14   # φ [m] and velocities in kept rows [m/s] that are left as they are: rounding
CLOSED = 1e-12  # φ left by a round of projection that needs no other [m]
MISSED = 1e-6   # part of a change of velocities by which impulses may miss it
LEAVES = 0.5    # part of φ that a round has to leave at most, or there is no other
GAP_RANK = 1e-10    # singular values of M that count as zero where gaps are projected, relative to the largest


class Projection:
    """Takes out drift, and counts the energy that this puts in."""

    def __init__(self, work: Workspace, keeper: JointKeeper) -> None:
        self._work, self._keeper, self._cure = work, keeper, "none"

    def begin_step(self, cure: str) -> None:
        """Take up a cure for joints in maximal coordinates; velocities that they do not allow end at once."""
        work, here = self._work, self._work.here
        self._cure = cure
        work.cure_gain[0] = gain(cure, work.h)
        before = energy_at(here) if self._keeper.any else 0.0
        if self._keeper.begin(here.bodies, here.joints, cure):
            work.ledger[Account.JOINTS, 0] += energy_at(here) - before

    def mend_joints(self) -> None:
        """Restore C = 0 and J q̇ = s of joints in maximal coordinates, where that is the cure, and speeds that motors
        keep."""
        if self._keeper.any:
            here = self._work.here
            before = energy_at(here)
            if self._keeper.mend(here.bodies, here.joints, self._cure):
                self._work.tally[Tally.PROJECTION] += energy_at(here) - before

    def drive(self, books: Books, since: float) -> None:
        """Give driven bodies the speed that they have from now on, after that which they had `since` [s]. Trees pass it
        on, and joints in maximal coordinates whatever the cure. The speed jumps as by a fast acceleration: the work is
        that of the mean velocity."""
        work, here, keeper = self._work, self._work.here, self._keeper
        before, energy = Bodies(*(a.copy() for a in here.bodies)), energy_at(here)
        drive(here.model, work.t, here.bodies)
        if len(here.model.trees.driven):
            jump(here.model, since, work.t - since, 1.0, 1.0, here.bodies, here.joints, here.scratch.equations.trees)
            update_links(here)
        work.ledger[Account.DRIVEN, 0] += energy_at(here) - energy  # also of springs, where a path begins elsewhere
        if keeper.any:
            lam = keeper.hold(here.bodies, here.joints)
            over = before._replace(v=0.5 * (before.v + here.bodies.v), w=0.5 * (before.w + here.bodies.w))
            books.reactions(keeper.reactions, lam, over, work.ledger)

    def project(self) -> None:
        """Put φ of the current set, and the velocities in its rows, back to zero along H⁻¹T."""
        work, here, chosen, count = self._work, self._work.here, self._work.chosen, self._work.in_set
        if count == 0:
            return
        pairs = work.set_pairs.copy()
        u = velocities(here, pairs, 1)
        gap, rows = here.scratch.witness.gap[:count], chosen.row[: chosen.rows[0]]
        off = float(np.abs(gap).max())
        if off <= DRIFT and np.abs(u[rows]).max(initial=0.0) <= DRIFT:
            return
        before = energy_at(here)
        if off > DRIFT and not work.lets_in:
            u = self._close_gaps(pairs)
        if len(rows):
            p = np.zeros(3 * count)
            for mine in by_island(chosen, rows // 3, rows):
                if np.abs(u[mine]).max() > DRIFT:
                    p[mine] = impulses_for(matrix_of(here, mine), -u[mine])
            add_impulses(here, p)
        work.tally[Tally.PROJECTION] += energy_at(here) - before

    def _close_gaps(self, pairs: LongArray) -> Array:
        """Put φ of the current set's pairs (c,) back to zero, by Newton's method: along a rim that is hardly tilted the
        lowest point runs far within a small turn. Returns u of the equations there."""
        here, chosen, count = self._work.here, self._work.chosen, len(pairs)
        gap, left = here.scratch.witness.gap[:count], math.inf
        while True:
            s = np.zeros(count)
            for mine in by_island(chosen, np.arange(count), np.arange(count)):
                if np.abs(gap[mine]).max() > DRIFT:
                    s[mine] = np.linalg.lstsq(matrix_of(here, 3 * mine), -gap[mine], rcond=GAP_RANK)[0]
            displace(here, s @ here.scratch.equations.HT[: 3 * count : 3])
            u = velocities(here, pairs, 1)
            before, left = left, float(np.abs(gap).max())
            if left <= CLOSED or left > LEAVES * before:
                return u


def by_island(chosen: ContactSet, contact: Rows, numbers: Rows) -> list[Rows]:
    """Numbers in the groups of the islands of their contacts."""
    island = chosen.island[contact]
    return [numbers[island == i] for i in range(int(chosen.islands[0]))]


def impulses_for(M: Array, change: Array) -> Array:
    """Those that change the velocities of rows; where rows have come to depend on each other, so that rounding would
    make them large and miss that, the smallest ones."""
    try:
        p = np.asarray(np.linalg.solve(M, change), np.float64)
    except np.linalg.LinAlgError:
        return least(M, change)
    missed = np.abs(M @ p - change).max(initial=0.0)
    return p if missed <= MISSED * np.abs(change).max(initial=0.0) else least(M, change)
