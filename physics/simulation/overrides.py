"""A scene's model with the settings that override it: coefficients and gains of every pair, gravity."""

import numpy as np

from ..core.model import Array, Model
from ..core.report import Settings
from ..core.settings import GAINS, SettingGroup, names_of
from ..laws.soft import lumped


def overridden(model: Model, settings: Settings) -> Model:
    """The scene's model with the overrides of these settings."""
    materials = model.materials
    for name in names_of(SettingGroup.PAIRS):
        if (value := getattr(settings, name)) is not None:
            materials = materials._replace(**{name: np.full_like(materials.restitution, value)})
    materials = materials._replace(surfaces=_surfaces(materials.surfaces, settings))
    return model._replace(materials=materials, gravity=np.array(settings.gravity, np.float64))


def _surfaces(surfaces: Array, settings: Settings) -> Array:
    """The table of compliant surfaces (k, k, 2, 6). A gain that the settings give holds for every pair."""
    chosen = [getattr(settings, name) for name in GAINS]
    if all(value is None for value in chosen):
        return surfaces
    surfaces = lumped(surfaces)
    for column, value in enumerate(chosen):
        if value is not None:
            surfaces[:, :, 0, column] = value
    return surfaces
