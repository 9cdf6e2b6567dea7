"""Restitution and friction of pairs of surface elements, and of limits of joints, which are numbered after them."""

import numpy as np

from ...collision.exact.elements import Elements, bodies_of, contacts_among, first_and_second
from ...core.jit import helper, kernel
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
        self._bears = bool(self.turning.lengths.any())  # whether anything opposes turning

    def restitution(self, pairs: LongArray) -> Array:
        """Normal, tangential and torsional restitution (3, k) of pairs; tangential and torsional ones nan = none."""
        found = np.empty((3, len(pairs)))
        find_restitution(self.model, self.surface, pairs, found)
        return found

    def friction(self, pairs: LongArray) -> Friction:
        """Friction of pairs; limits have none. With what opposes the turning of pairs there must be the pairs."""
        found = Friction(np.empty(len(pairs)), np.empty(len(pairs)), np.arange(len(pairs), dtype=np.int32))
        find_friction(self.model, self.surface, self.break_away, pairs, found.slip, found.stick)
        turns = np.flatnonzero(pairs >= TURNS) if self._bears else ()
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
        if not self._bears:
            return pairs
        borne = self.borne_by(pairs)
        return np.concatenate([pairs, pairs[borne.bearer] + TURNS * borne.kind])

    def borne_by(self, pairs: LongArray) -> Borne:
        """What opposes the turning of pairs (k,), in the order of `with_turning`."""
        solid, m, n = self._materials_of(pairs)
        return borne_by(self.turning, np.flatnonzero(solid), np.column_stack([m, n]),
                        bodies_of(self.model, self.surface, pairs[solid]))

    def _materials_of(self, pairs: LongArray) -> tuple[BoolArray, IntArray, IntArray]:
        """Which of the pairs (k,) are pairs of elements, and the two materials of each of these."""
        solid = contacts_among(self.surface, pairs)
        m, n = (self.surface.material[self.surface.shape[i]] for i in first_and_second(self.surface, pairs[solid]))
        return solid, m, n


@helper
def materials_of(surface, pair):
    """The two materials of a pair of elements."""
    count = len(surface.kind)
    return surface.material[surface.shape[pair // count]], surface.material[surface.shape[pair % count]]


@kernel
def find_friction(model, surface, break_away, pairs, slip_out, stick_out):
    """Coefficients of pairs that slip, and of those that stick; 0 of all that are not pairs of elements."""
    elements = len(surface.kind) ** 2
    for k in range(len(pairs)):
        slip_out[k] = stick_out[k] = 0.0
        if pairs[k] < elements:
            m, n = materials_of(surface, pairs[k])
            slip_out[k], stick_out[k] = model.materials.friction[m, n], break_away[m, n]


@kernel
def find_restitution(model, surface, pairs, found_out):
    """See `PairMaterials.restitution`."""
    elements, materials = len(surface.kind) ** 2, model.materials
    for k in range(len(pairs)):
        found_out[0, k], found_out[1, k], found_out[2, k] = 0.0, np.nan, np.nan
        if pairs[k] < elements:
            m, n = materials_of(surface, pairs[k])
            found_out[0, k] = materials.restitution[m, n]
            found_out[1, k], found_out[2, k] = materials.restitution_t[m, n], materials.restitution_psi[m, n]
        elif pairs[k] < TURNS:
            found_out[0, k] = model.joints.restitution[surface.limits.joint[pairs[k] - elements]]
