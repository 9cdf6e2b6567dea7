"""Restitution and friction of pairs of surface elements, and of limits of joints, which are numbered after them."""

import numpy as np

from ...collision.exact.elements import Elements, first_and_second, limits_among
from ...core.model import Array, Model
from ...core.state import LongArray


class PairMaterials:
    """The material tables of a model, asked by pairs."""

    def __init__(self, model: Model, surface: Elements) -> None:
        self.model, self.surface = model, surface

    def coefficients(self, pairs: LongArray) -> tuple[Array, Array]:
        """Restitution and friction (k,) of pairs; limits have no friction."""
        restitution, friction = np.zeros(len(pairs)), np.zeros(len(pairs))
        solid = ~limits_among(self.surface, pairs)
        e, f = first_and_second(self.surface, pairs[solid])
        m, n = (self.surface.material[self.surface.shape[i]] for i in (e, f))
        limits = self.surface.limits.joint[pairs[~solid] - len(self.surface.kind) ** 2]
        restitution[~solid] = self.model.joints.restitution[limits]
        restitution[solid] = self.model.materials.restitution[m, n]
        friction[solid] = self.model.materials.friction[m, n]
        return restitution, friction

    def friction(self, pairs: LongArray) -> Array:
        """Friction (k,) of pairs."""
        return self.coefficients(pairs)[1]

    def of_balls(self, pairs: LongArray) -> tuple[Array, Array]:
        """Tangential and torsional restitution (k,) of pairs; nan = none."""
        table = self.model.materials
        found = np.full((2, len(pairs)), np.nan)
        solid = ~limits_among(self.surface, pairs)
        e, f = first_and_second(self.surface, pairs[solid])
        m, n = (self.surface.material[self.surface.shape[i]] for i in (e, f))
        found[:, solid] = table.restitution_t[m, n], table.restitution_psi[m, n]
        return found[0], found[1]
