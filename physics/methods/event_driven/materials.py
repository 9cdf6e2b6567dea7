"""Restitution and friction of pairs of surface elements, and of limits of joints, which are numbered after them."""

import numpy as np

from ...collision.exact.elements import Elements, bodies_of, contacts_among, first_and_second, limits_among
from ...core.model import Array, BoolArray, IntArray, Model
from ...core.state import LongArray
from ...dynamics.constraints.limits import TURNS
from ...laws.contact import break_away
from ...problem.turning_rows import Borne, borne_by, row_lengths, turning_of
from .sets import Friction


class PairMaterials:
    """The material tables of a model, asked by pairs."""

    def __init__(self, model: Model, surface: Elements) -> None:
        self.model, self.surface = model, surface
        self.break_away = break_away(model.materials)  #: (m, m) coefficients of materials that stick
        self.turning = turning_of(model)

    def coefficients(self, pairs: LongArray) -> tuple[Array, Array]:
        """Restitution and friction (k,) of pairs that slip; limits have no friction."""
        restitution, friction = np.zeros(len(pairs)), np.zeros(len(pairs))
        solid, m, n = self._materials_of(pairs)
        limit = limits_among(self.surface, pairs)
        limits = self.surface.limits.joint[pairs[limit] - len(self.surface.kind) ** 2]
        restitution[limit] = self.model.joints.restitution[limits]
        restitution[solid] = self.model.materials.restitution[m, n]
        friction[solid] = self.model.materials.friction[m, n]
        return restitution, friction

    def friction(self, pairs: LongArray) -> Friction:
        """Friction of pairs; with what opposes their turning there must be the pairs."""
        found = Friction(np.zeros(len(pairs)), np.zeros(len(pairs)), np.arange(len(pairs), dtype=np.int32))
        solid, m, n = self._materials_of(pairs)
        found.slip[solid], found.stick[solid] = self.model.materials.friction[m, n], self.break_away[m, n]
        turns = np.flatnonzero(pairs >= TURNS)
        if len(turns):
            place = {pair: k for k, pair in enumerate(pairs.tolist())}
            found.bearer[turns] = [place[pair] for pair in (pairs[turns] % TURNS).tolist()]
            length, row_length = self.lengths(pairs[turns])
            found.slip[turns] = found.stick[turns] = length / row_length
        return found

    def lengths(self, pairs: LongArray) -> tuple[Array, Array]:
        """ℓ and L (k,) of what opposes turning [m], see `problem.turning_rows`."""
        _, m, n = self._materials_of(pairs % TURNS)
        length = self.turning.lengths[m, n, pairs // TURNS - 1]
        return length, row_lengths(self.turning, length, *bodies_of(self.model, self.surface, pairs).T)

    def with_turning(self, pairs: LongArray) -> LongArray:
        """The pairs (k,), and after them what opposes their turning, where anything does."""
        if not self.turning.lengths.any():
            return pairs
        borne = self.borne_by(pairs)
        return np.concatenate([pairs, pairs[borne.bearer] + TURNS * borne.kind])

    def borne_by(self, pairs: LongArray) -> Borne:
        """What opposes the turning of pairs (k,), in the order of `with_turning`."""
        solid, m, n = self._materials_of(pairs)
        return borne_by(self.turning, np.flatnonzero(solid), np.column_stack([m, n]),
                        bodies_of(self.model, self.surface, pairs[solid]))

    def of_balls(self, pairs: LongArray) -> tuple[Array, Array]:
        """Tangential and torsional restitution (k,) of pairs; nan = none."""
        table = self.model.materials
        found = np.full((2, len(pairs)), np.nan)
        solid, m, n = self._materials_of(pairs)
        found[:, solid] = table.restitution_t[m, n], table.restitution_psi[m, n]
        return found[0], found[1]

    def _materials_of(self, pairs: LongArray) -> tuple[BoolArray, IntArray, IntArray]:
        """Which of the pairs (k,) are pairs of elements, and the two materials of each of these."""
        solid = contacts_among(self.surface, pairs)
        m, n = (self.surface.material[self.surface.shape[i]] for i in first_and_second(self.surface, pairs[solid]))
        return solid, m, n
