"""Restitution and friction of pairs of surface elements, and of limits of joints, which are numbered after them."""

import numpy as np

from ...collision.exact.elements import Elements, first_and_second, limits_among
from ...core.model import Array, BoolArray, IntArray, Model, movable
from ...core.state import LongArray
from ...laws.contact import break_away, turning_lengths
from ..method import Untreatable
from .sets import Friction


def refuse_turning_friction(model: Model) -> None:
    """Untreatable where contacts oppose spinning or rolling: their moments are in no contact set of this method."""
    shapes, opposed = model.shapes, np.max(turning_lengths(model.materials), axis=2) > 0.0
    for s in np.flatnonzero(np.isin(shapes.body, np.flatnonzero(movable(model.kind)))).tolist():
        others = np.flatnonzero(opposed[shapes.material[s], shapes.material] & (shapes.body != shapes.body[s]))
        if others.size:
            raise Untreatable("event_driven knows no friction against spinning and rolling, which {0} has on {1}; "
                              "time_stepping and compliant do",
                              (int(shapes.body[s]), int(shapes.body[others[0]])))


class PairMaterials:
    """The material tables of a model, asked by pairs."""

    def __init__(self, model: Model, surface: Elements) -> None:
        self.model, self.surface = model, surface
        self.break_away = break_away(model.materials)  #: (m, m) coefficients of materials that stick

    def coefficients(self, pairs: LongArray) -> tuple[Array, Array]:
        """Restitution and friction (k,) of pairs that slip; limits have no friction."""
        restitution, friction = np.zeros(len(pairs)), np.zeros(len(pairs))
        solid, m, n = self._materials_of(pairs)
        limits = self.surface.limits.joint[pairs[~solid] - len(self.surface.kind) ** 2]
        restitution[~solid] = self.model.joints.restitution[limits]
        restitution[solid] = self.model.materials.restitution[m, n]
        friction[solid] = self.model.materials.friction[m, n]
        return restitution, friction

    def friction(self, pairs: LongArray) -> Friction:
        """Friction of pairs."""
        found = Friction(np.zeros(len(pairs)), np.zeros(len(pairs)))
        solid, m, n = self._materials_of(pairs)
        found.slip[solid], found.stick[solid] = self.model.materials.friction[m, n], self.break_away[m, n]
        return found

    def of_balls(self, pairs: LongArray) -> tuple[Array, Array]:
        """Tangential and torsional restitution (k,) of pairs; nan = none."""
        table = self.model.materials
        found = np.full((2, len(pairs)), np.nan)
        solid, m, n = self._materials_of(pairs)
        found[:, solid] = table.restitution_t[m, n], table.restitution_psi[m, n]
        return found[0], found[1]

    def _materials_of(self, pairs: LongArray) -> tuple[BoolArray, IntArray, IntArray]:
        """Which of the pairs (k,) are no limits, and the two materials of each of these."""
        solid = ~limits_among(self.surface, pairs)
        m, n = (self.surface.material[self.surface.shape[i]] for i in first_and_second(self.surface, pairs[solid]))
        return solid, m, n
