"""The contacts of a step of the method `compliant` and the surfaces that belong to them."""

from typing import Any

import numpy as np

from contactlab.physics.assemble import match
from contactlab.physics.collision import Detector
from contactlab.physics.methods.compliant_rates import Work, empty_work
from contactlab.physics.methods.compliant_settle import settle, stored_energy
from contactlab.physics.model import Array, IntArray, Model, movable
from contactlab.physics.soft_laws import D_R, LAWS, check_compliance, pair_units, reduced_radius, round_radius
from contactlab.physics.state import Bodies, Contacts, State, Surfaces, empty_surfaces

FLAT = 1e-12  # m: a surface that is this near to its rest is forgotten when its contact is gone


class SoftContacts:
    """Finds the contacts at every stage of a step and tells which row of the surfaces each belongs to. Rows of the
    surfaces are kept while they recover, whether or not there is a contact now."""

    def __init__(self, model: Model) -> None:
        """ValueError where two rigid materials can touch."""
        check_compliance(model)
        self.model = model
        self.detector = Detector(model)
        self.surfaces: Surfaces = empty_surfaces(16)
        self.contacts: Contacts = self.detector.contacts
        self.slot = np.zeros(16, np.int32)
        self.work: Work = empty_work(16, 1)
        self.stages = 1
        self.law, self.code = "", 0
        self._table = np.zeros((0, 0, 8))
        self._rolling, self._radius = model.materials.surfaces[..., D_R].sum(axis=2), round_radius(model)

    def begin(self, state: State, law: str, stages: int, margin: Array) -> None:
        """Contacts within the margin (n,) [m] of the bodies, and their surfaces as the state remembers them."""
        if law != self.law:
            self._table, self.law, self.code = pair_units(self.model.materials.surfaces, law), law, LAWS[law].code
        self.stages = stages
        old = state.surfaces
        if old.t[0] != state.t[0]:  # another method has been at work
            old = empty_surfaces()
        count = int(old.count[0])
        rows = (a[:count] for a in old[2:-1])
        self.surfaces = Surfaces._make([old.t, old.count.copy(), *rows, old.dissipated.copy()])
        self.contacts = self.detector.detect(state.bodies, margin)
        self.detector.keep_near()
        self._match(state.bodies.x)
        self._enter(state.bodies.x, first=True)
        self.work.impulse[:] = 0.0
        self.work.approach[:] = 0.0
        self.work.zeta[:] = np.nan

    def look(self, bodies: Bodies) -> None:
        """Contacts at other poses of the same step."""
        self.contacts = self.detector.detect_again(bodies)
        self._match(bodies.x)
        if (self.slot[: self.contacts.count[0]] < 0).any():
            self._enter(bodies.x, first=False)

    def settle(self, bodies: Bodies, exact: int) -> None:
        """Bring the surfaces up to date with the poses looked at last; unless exact = 1, also who touches, lets go and
        slides."""
        settle(self.model, self.contacts, self.slot, self.code, exact, bodies, self.surfaces, self.work)

    def stored(self) -> float:
        """Energy in the springs of the surfaces [J]."""
        return stored_energy(self.code, self.surfaces, self.work.units)

    def end(self, state: State) -> None:
        """Leave the surfaces in the state, for the instant state.t."""
        count = int(self.surfaces.count[0])
        kept = state.surfaces
        for target, source in zip(kept[2:-1], self.surfaces[2:-1], strict=True):
            target.resize((count, *source.shape[1:]), refcheck=False)  # in place: the State keeps its arrays
            target[:] = source[:count]
        kept.t[0], kept.count[0], kept.dissipated[0] = state.t[0], count, self.surfaces.dissipated[0]

    def _match(self, x: Array) -> None:
        if len(self.contacts.key) > len(self.slot):
            self.slot = np.zeros(len(self.contacts.key), np.int32)
        old = self.surfaces
        match(self.contacts, int(old.count[0]), old.key, old.shapes, old.place, self.model.kind, x, self.slot)

    def _enter(self, x: Array, first: bool) -> None:
        """Give every contact a row, all rows in the order of shape pairs. At the first look of a step rows without a
        contact that have recovered are dropped; later all rows stay."""
        old, contacts = self.surfaces, self.contacts
        count, known = int(contacts.count[0]), int(old.count[0])
        slot = self.slot[:count]
        alone = np.ones(known, bool)
        alone[slot[slot >= 0]] = False
        if first:
            alone &= (np.abs(old.surface_z).max(axis=1) > FLAT) | (np.abs(old.surface_x).max(axis=(1, 2)) > FLAT)
        source: Any = np.concatenate([slot, np.flatnonzero(alone)])  # old row of every new one, -1: none
        shapes = np.vstack([np.column_stack([contacts.shape_a, contacts.shape_b])[:count], old.shapes[:known][alone]])
        order = np.lexsort((shapes[:, 1], shapes[:, 0])) if alone.any() else np.arange(len(shapes))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        rows = self._new_rows(source, x)
        self._take_over(Surfaces._make([old.t, np.array([len(order)], np.int32), *(a[order] for a in rows),
                                        old.dissipated]), source[order], first)
        self.slot[:count] = place[:count]

    def _new_rows(self, source: IntArray, x: Array) -> list[Array]:
        """key … mode of Surfaces for the contacts and the rows without one, those of `source` where there are such."""
        old, contacts, count = self.surfaces, self.contacts, int(self.contacts.count[0])
        known = source >= 0
        rows = []
        for values in old[2:-1]:
            row = np.zeros((len(source), *values.shape[1:]), values.dtype)
            row[known] = values[source[known]]
            rows.append(row)
        key, shapes, place, normal = rows[:4]
        new = np.flatnonzero(~known[:count])
        body = np.where(movable(self.model.kind[contacts.body_b[new]]), contacts.body_b[new], contacts.body_a[new])
        key[new], normal[new], place[new] = contacts.key[new], contacts.normal[new], contacts.point[new] - x[body]
        shapes[:count, 0], shapes[:count, 1] = contacts.shape_a[:count], contacts.shape_b[:count]
        return rows

    def _take_over(self, surfaces: Surfaces, source: IntArray, first: bool) -> None:
        """Make these the surfaces; row k was row source[k] before, or is new where that is negative."""
        total, old = len(source), self.work
        if total > len(old.friction) or self.stages > len(old.loss) or not first:
            self.work = empty_work(max(total + total // 2, 16), self.stages)
        known = np.flatnonzero(source >= 0)
        if not first:  # what the stages of this step have found so far
            for name in ("z_rate", "x_rate", "force"):
                getattr(self.work, name)[:, known] = getattr(old, name)[:, source[known]]
            for name in ("z", "x", "impulse", "approach", "zeta", "normal_now"):
                getattr(self.work, name)[known] = getattr(old, name)[source[known]]
            self.work.loss[:] = old.loss
        self.surfaces = surfaces
        material = self.model.shapes.material[surfaces.shapes]
        self.work.units[:total] = self._table[material[:, 0], material[:, 1]]
        self.work.friction[:total] = self.model.materials.friction[material[:, 0], material[:, 1]]
        if self._rolling.any():
            radius = reduced_radius(*self._radius[surfaces.shapes].T)
            self.work.roll[:total] = self._rolling[material[:, 0], material[:, 1]] * radius**2
