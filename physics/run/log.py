"""The log of a side of a comparison: energy and watched quantities at the steps of its clock, as they are made and, of
those that nobody has watched, as the history tells them."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..books.balance import balance
from ..books.ledger import Account
from ..core.model import Array
from ..look.quantities import Sample, quantity_of
from ..simulation.failure import CannotStep
from ..simulation.simulation import Simulation
from .messages import MOST_CURVES, Watch

ENERGIES, OWN_STEP, WATCHED = slice(0, 6), 6, 7  # columns of the log; a column a watched curve from WATCHED on


class Log:
    """Rows in the order of their steps. Columns: those of `Snapshot.energy_log`, the number of the side's own step, and
    the watched quantities, nan where they are unknown. Where it is full every second row of the older half goes, so
    that it reaches back as far as the run."""

    def __init__(self, rows: int) -> None:
        """rows: that it holds at least, 2 or more."""
        self.most, self._count = max(rows, 2), 0
        self._rows = np.full((2 * self.most, WATCHED + MOST_CURVES), np.nan)

    @property
    def rows(self) -> Array:
        return self._rows[: self._count]

    def upto(self, own: int) -> Array:
        """The rows of the steps up to an own step."""
        return self._rows[: np.searchsorted(self.rows[:, OWN_STEP], own, side="right")]

    def at(self, own: int) -> Array | None:
        """The row of an own step, None where it has none."""
        upto = self.upto(own)
        return upto[-1] if len(upto) and upto[-1, OWN_STEP] == own else None

    def put(self, row: Sequence[float]) -> None:
        """Write the row of a step. A row that is there keeps its time, which all sides share, and what the new one does
        not know."""
        known = self.at(int(row[OWN_STEP]))
        if known is None:
            if self._count == len(self._rows):
                self._thin()
            at = len(self.upto(int(row[OWN_STEP])))
            self._rows[at + 1 : self._count + 1] = self._rows[at : self._count].copy()
            self._count += 1
            known = self._rows[at]
            known[:] = np.nan
            known[0] = row[0]
        new = np.array(row[1:])
        known[1 : len(row)] = np.where(np.isnan(new), known[1 : len(row)], new)

    def cut(self, own: int) -> bool:
        """Drop the rows of the steps after an own step. Returns whether there were any."""
        before, self._count = self._count, len(self.upto(own))
        return self._count < before

    def watch(self, now: Watch, before: Watch) -> None:
        """From now on the columns are of other curves; those that were watched before keep what is known of them."""
        old = self.rows[:, WATCHED:].copy()
        self.rows[:, WATCHED:] = np.nan
        for column, curve in enumerate(now.curves, WATCHED):
            if curve in before.curves:
                self.rows[:, column] = old[:, before.curves.index(curve)]

    def _thin(self) -> None:
        kept = self._rows[np.r_[0 : self.most : 2, self.most : self._count]]
        self._count = len(kept)
        self._rows[: self._count] = kept


def row_of(t: float, own: int, sim: Simulation, watch: Watch, made: bool = True) -> tuple[float, ...]:
    """The row of an instant t [s] where a simulation stands; made: it knows the contacts of the step that led there."""
    e = balance(sim.model, sim.state)
    now = Sample(sim.model, sim.state, sim.contacts if made else None, sim.info if made else None)
    return (t, e.kinetic, e.potential, e.spring, -float(sim.state.ledger[Account.STORED, 0]), -e.taken, own,
            *(quantity_of(c.quantity).value(now, c.body) for c in watch.curves))


def recall(sim: Simulation, log: Log, watch: Watch, steps: Sequence[int]) -> Iterator[None]:
    """Fill the rows of these own steps, in order, as far as the history reaches, and yield before each. Whatever is a
    function of the state is there first, where states are kept; what belongs to a step, as forces do, follows as the
    steps are made once more. It ends where something else is recorded."""
    history = sim.history
    if history is None:
        return
    of_state = [column for column, curve in enumerate(watch.curves, WATCHED) if quantity_of(curve.quantity).of_state]
    again = None  # a second simulation, which costs memory, only where there is something to do
    kept = {keyframe.step for keyframe in history.keyframes}
    for made, needed in ((False, of_state), (True, range(WATCHED, WATCHED + len(watch.curves)))):
        for own in steps:
            yield
            row = log.at(own)
            if sim.history is not history:
                return
            if (row is not None and np.isfinite(row[list(needed)]).all()) or not (made or own in kept) \
                    or not history.first + made <= own <= history.last + 1:
                continue
            try:
                again = again or sim.elsewhere(sim.state, sim.contacts, [])
                again.recall(own, made)
            except CannotStep:
                return
            log.put(row_of(again.time, own, again, watch, made))
