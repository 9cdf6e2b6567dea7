"""The contacts of a step of the method `compliant` and the surfaces that belong to them."""

import numpy as np

from ...collision import Detector
from ...core.model import Array, BoolArray, IntArray, Model
from ...core.state import Bodies, Contacts, State, Surfaces, empty_surfaces
from ...core.tuple_abi import resize
from ...laws.contact import break_away, turning_lengths
from ...laws.soft import D_R, LAWS, TANGENT_1, check_compliance, pair_units, reduced_radius, round_radius
from .rates import CLOSED, FREE, LAW, RELEASE, SLIP, STICK, STICKS, TOUCH, SoftContactWork, SoftSystem, empty_soft_work
from .rows import enter_rows, fill_gains, match_rows
from .settle import settle, stored_energy
from .turning import DENT, DRAG, ROLL, SPIN, drags

KNOWN_SYSTEMS = 4  # tuples kept, so that kernels find their packed form: two tables of rows take turns


class SoftContacts:
    """Finds the contacts at every stage of a step and tells which row of the surfaces each belongs to. Rows of the
    surfaces are kept while they recover, whether or not there is a contact now."""

    def __init__(self, model: Model) -> None:
        """ValueError where two rigid materials can touch."""
        check_compliance(model)
        self.model = model
        self.detector = Detector(model, soft=True)
        self.surfaces: Surfaces = empty_surfaces(16)
        self._spare: Surfaces = empty_surfaces(16)  # the next rows are written here while the old ones are read
        self._source = np.zeros(16, np.int32)
        self.contacts: Contacts = self.detector.contacts
        self.slot = np.zeros(16, np.int32)
        self.work: SoftContactWork = empty_soft_work(16, 1)
        self.stages, self.law = 1, ""
        self.choice = np.zeros(2, np.int64)  #: see SoftSystem.choice
        self.system: SoftSystem     #: what kernels read: the contacts found last, their surfaces and scratch
        self._systems: list[SoftSystem] = []
        self._table = np.zeros((0, 0, 8))
        self._friction = np.stack([model.materials.friction, break_away(model.materials)], axis=2)
        self._rolling, self._radius = model.materials.surfaces[..., D_R].sum(axis=2), round_radius(model)
        self._lengths = turning_lengths(model.materials)

    @property
    def code(self) -> int:
        """Of the normal force."""
        return int(self.choice[LAW])

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

    def begin(self, state: State, law: str, recovery: str, stages: int, margin: Array) -> None:
        """Contacts within the margin (n,) [m] of the bodies, and their surfaces as the state remembers them."""
        if law != self.law:
            self._table, self.law = pair_units(self.model.materials.surfaces, law), law
            self.choice[LAW] = LAWS[law].code
        self.choice[CLOSED] = recovery == "closed_form"
        self.stages = stages
        old = state.surfaces
        if old.t[0] != state.t[0]:  # another method has been at work
            old = empty_surfaces()
        self.contacts = self.detector.detect(state.bodies, margin)
        self.detector.keep_near()
        self._match(old, state.bodies.x)
        self._enter(old, state.bodies.x, first=True)
        self._gather()
        self.work.impulse[:] = 0.0
        self.work.approach[:] = 0.0
        self.work.zeta[:] = np.nan
        self.work.clock[0] = state.t[0]
        self.work.left[:] = 0.0
        self.work.changed[:] = np.nan
        total = int(self.surfaces.count[0])
        self.work.mode_before[:total] = self.surfaces.mode[:total]

    def look(self, bodies: Bodies) -> None:
        """Contacts at other poses of the same step."""
        self.contacts = self.detector.detect_again(bodies)
        self._match(self.surfaces, bodies.x)
        if (self.slot[: self.contacts.count[0]] < 0).any():
            self._enter(self.surfaces, bodies.x, first=False)
        self._gather()

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

    def stored(self) -> float:
        """Energy in the springs of the surfaces [J]."""
        return stored_energy(self.code, self.surfaces, self.work.units)

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

    def end(self, state: State) -> None:
        """Leave the surfaces in the state, for the instant state.t."""
        count = int(self.surfaces.count[0])
        kept = state.surfaces
        for target, source in zip(kept[2:-1], self.surfaces[2:-1], strict=True):
            if count > len(target):
                resize(target, count + count // 4 + 4)  # in place: the State keeps its arrays
            target[:count], target[count:] = source[:count], 0
        kept.t[0], kept.count[0], kept.dissipated[0] = state.t[0], count, self.surfaces.dissipated[0]

    def _match(self, old: Surfaces, x: Array) -> None:
        if len(self.contacts.key) > len(self.slot):
            self.slot = np.zeros(len(self.contacts.key), np.int32)
        match_rows(self.model.kind, x, self.contacts, old, self.slot)

    def _enter(self, old: Surfaces, x: Array, first: bool) -> None:
        """Give every contact a row. At the first look of a step rows without a contact that have recovered are dropped;
        later all rows stay."""
        most = int(self.contacts.count[0] + old.count[0])
        if most > len(self._source):
            self._source = np.zeros(2 * most, np.int32)
        if most > len(self._spare.key):
            self._spare = empty_surfaces(2 * most)
        enter_rows(self.contacts, self.slot, old, np.int64(not first), self.model.kind, x, self._source, self._spare)
        self.surfaces, self._spare = self._spare, self.surfaces
        self._take_over(first)

    def _take_over(self, first: bool) -> None:
        """Make the scratch fit the new rows; row k was row _source[k] before, or is new where that is negative."""
        total, old = int(self.surfaces.count[0]), self.work
        if total > len(old.friction) or self.stages > len(old.loss) or not first:
            self.work = empty_soft_work(max(total + total // 2, 16), self.stages)
        if not first:  # what the stages of this step have found so far
            source = self._source[:total]
            known = np.flatnonzero(source >= 0)
            for name in ("z_rate", "x_rate", "force"):
                getattr(self.work, name)[:, known] = getattr(old, name)[: self.stages, source[known]]
            for name in ("z", "x", "impulse", "approach", "zeta", "normal_now", "left", "mode_before", "changed"):
                getattr(self.work, name)[known] = getattr(old, name)[source[known]]
            self.work.loss[:], self.work.clock[:] = old.loss[: self.stages], old.clock
        shapes = self.model.shapes
        fill_gains(self.surfaces, shapes.material, self._table, self._friction, self.work.units, self.work.friction)
        if self._rolling.any() or self._lengths.any():
            pairs, turn = self.surfaces.shapes[:total], self.work.turn
            a, b = shapes.material[pairs].T
            turn[:total, DENT] = self._rolling[a, b] * reduced_radius(*self._radius[pairs].T) ** 2
            turn[:total, SPIN], turn[:total, ROLL] = self._lengths[a, b].T
            drag = drags(self.model, shapes.body[pairs], self.work.units[:total, TANGENT_1])
            turn[:total, DRAG] = np.where(self._lengths[a, b].any(axis=1), drag, 0.0)
