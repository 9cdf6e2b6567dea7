"""The contacts of a step of the method `compliant` and the surfaces that belong to them."""

import numpy as np

from ...collision import Detector
from ...core.model import Array, BoolArray, IntArray, Model
from ...core.state import Bodies, Contacts, State, Surfaces, empty_surfaces, grow_memory
from ...core.tuple_abi import resize
from ...laws.soft import LAWS, check_compliance, pair_units
from .leaps import count_from_start
from .rates import CLOSED, FREE, LAW, RELEASE, SLIP, STICK, STICKS, TOUCH, SoftContactWork, SoftSystem, empty_soft_work
from .rows import enter_rows, fill_gains, match_rows, pair_tables
from .settle import settle

KNOWN_SYSTEMS = 4  # tuples kept, so that kernels find their packed form: two tables of rows take turns
ROWS = 16          # of surfaces at first


class SoftContacts:
    """Room for the contacts of every stage of a step and for the surfaces that belong to them. Rows of the surfaces are
    kept while they recover, whether or not there is a contact now. A step begins with `march.py: find_surfaces`."""

    def __init__(self, model: Model) -> None:
        """ValueError where two rigid materials can touch."""
        check_compliance(model)
        self.model = model
        self.detector = Detector(model, soft=True)
        self.tables = pair_tables(model)
        self.stages, self.law = 1, ""
        self.choice = np.zeros(2, np.int64)  #: see SoftSystem.choice
        self.surfaces: Surfaces
        self.source: IntArray         #: (c,) row of each surface before rows were entered last, -1: it is new
        self._spare: Surfaces         # the next rows are written here while the old ones are read
        self.slot: IntArray
        self.work: SoftContactWork
        self.system: SoftSystem       #: what kernels read: the contacts found last, their surfaces and scratch
        self._systems: list[SoftSystem] = []
        self._make_room(ROWS)

    @property
    def contacts(self) -> Contacts:
        """Those found last."""
        return self.detector.contacts

    @property
    def code(self) -> int:
        """Of the normal force."""
        return int(self.choice[LAW])

    def ask(self, law: str, recovery: str, stages: int) -> None:
        """The law of steps to come, and of how many stages they are at most."""
        if law != self.law:
            self.law, self.tables.gains[:] = law, pair_units(self.model.materials.surfaces, law)
            self.choice[LAW] = LAWS[law].code
        self.choice[CLOSED] = recovery == "closed_form"
        if stages > self.stages:
            self.stages, self.work = stages, empty_soft_work(len(self.work.friction), stages)
            self._gather()

    def make_room(self, known: int) -> None:
        """Room for what was found, or for what finding it lacked, and for so many rows of before; nothing is kept."""
        self.detector.make_what_is_needed()
        most = int(self.contacts.count[0]) + known
        room = min(len(self.source), len(self.surfaces.key), len(self.work.friction))
        if most > room or len(self.contacts.key) > len(self.slot):
            self._make_room(max(2 * most, len(self.contacts.key)))
        self._gather()

    def _make_room(self, rows: int) -> None:
        self.surfaces, self._spare = empty_surfaces(rows), empty_surfaces(rows)
        self.source, self.slot = np.zeros((2, rows), np.int32)
        self.work = empty_soft_work(rows, self.stages)
        self._gather()

    def _gather(self) -> None:
        """Put together what kernels read, once its parts are found; the tuple of before where they are the same."""
        near, contacts, slot, surfaces, work = self.detector.near, self.contacts, self.slot, self.surfaces, self.work
        for known in self._systems:
            if (known.surfaces is surfaces and known.contacts is contacts and known.work is work
                    and known.slot is slot and known.near is near):
                self.system = known
                return
        self.system = SoftSystem(near, contacts, slot, surfaces, work, self.choice)
        self._systems = [self.system, *self._systems[: KNOWN_SYSTEMS - 1]]

    def look(self, bodies: Bodies) -> None:
        """Contacts at other poses of the same step; what touches and has no row gets one."""
        self.detector.detect_again(bodies)
        if len(self.contacts.key) > len(self.slot):
            self.slot = np.zeros(len(self.contacts.key), np.int32)
        match_rows(self.model.kind, bodies.x, self.contacts, self.surfaces, self.slot)
        if (self.slot[: self.contacts.count[0]] < 0).any():
            self._enter(bodies.x)
        self._gather()
        count_from_start(self.system)

    def settle(self, bodies: Bodies, t: float, exact: int) -> None:
        """Bring the surfaces up to date with the poses looked at last, those at t [s]; unless exact = 1, also who
        touches, lets go and slides."""
        settle(self.model, self.system, exact, t, bodies)

    def take_modes(self, pushed: BoolArray, h: float, t: float) -> None:
        """Who touches and who is free after an implicit step of h [s] to t [s]; pushed (c,): rows with a force at its
        end. It has no instants within; a touch is dated where the gap would have closed at the rate it had first."""
        n = len(pushed)
        mode, changed, approach = self.surfaces.mode[:n], self.work.changed[:n], self.work.approach[:n]
        new, (gap, zeta) = pushed & (mode == FREE), self.work.left[:n].T
        changed[(mode != FREE) & ~pushed, RELEASE] = t
        changed[new, TOUCH] = t - h + np.divide(gap, -zeta, out=np.full(n, h), where=zeta * h < -gap)[new]
        approach[new] = np.minimum(approach, zeta)[new]
        mode[:] = np.where(pushed, np.maximum(mode, STICKS), FREE)

    def instant(self, kind: str, pair: tuple[int, int], end: float) -> float:
        """When an event of this kind happened to a pair of shapes in the step that ends at `end` [s]."""
        n = int(self.surfaces.count[0])
        mine = (self.surfaces.shapes[:n] == pair).all(axis=1)
        times = self.work.changed[:n][mine, TOUCH if kind in ("impact", "gain") else RELEASE]
        times = times[~np.isnan(times)]
        if not len(times):
            return end
        return float(times.min() if kind in ("impact", "gain") else times.max())

    def slips(self, end: float) -> tuple[IntArray, IntArray, Array]:
        """Of every contact its mode when the step began and when it ended, at `end` [s], and when it last began to slip
        and to stick (c, 2)."""
        rows = self.slot[: self.contacts.count[0]]
        work = self.work
        before, now = np.where(rows >= 0, (work.mode_before[rows], self.surfaces.mode[rows]), FREE)
        changed = work.changed[rows][:, (SLIP, STICK)]
        return before, now, np.where(np.isnan(changed), end, changed)

    def make_room_in(self, state: State) -> None:
        """Room in a state for its contacts and surfaces, in place: it keeps its arrays."""
        grow_memory(state.memory, int(self.contacts.count[0]))
        count = int(self.surfaces.count[0])
        for column in state.surfaces[2:-1]:
            if count > len(column):
                resize(column, count + count // 4 + 4)

    def _enter(self, x: Array) -> None:
        """Give every contact a row; all others stay."""
        old = self.surfaces
        most = int(self.contacts.count[0] + old.count[0])
        if most > len(self.source):
            self.source = np.zeros(2 * most, np.int32)
        if most > len(self._spare.key):
            self._spare = empty_surfaces(2 * most)
        enter_rows(self.contacts, self.slot, old, 1, self.model.kind, x, self.source, self._spare)
        self.surfaces, self._spare = self._spare, self.surfaces
        self._take_over()

    def _take_over(self) -> None:
        """Make the scratch fit the new rows; row k was row source[k] before, or is new where that is negative. What the
        stages of this step have found so far stays."""
        total, old = int(self.surfaces.count[0]), self.work
        self.work = empty_soft_work(max(total + total // 2, ROWS), self.stages)
        source = self.source[:total]
        known = np.flatnonzero(source >= 0)
        for name in ("z_rate", "x_rate", "force"):
            getattr(self.work, name)[:, known] = getattr(old, name)[:, source[known]]
        for name in ("z", "x", "impulse", "approach", "zeta", "normal_now", "left", "mode_before", "changed",
                     "settled"):
            getattr(self.work, name)[known] = getattr(old, name)[source[known]]
        self.work.loss[:], self.work.clock[:], self.work.span[:] = old.loss, old.clock, old.span
        fill_gains(self.surfaces, self.model.shapes, self.tables, self.work)
