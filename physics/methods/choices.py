"""The names that each setting with a choice allows, from the registries; and checking settings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.report import Settings
from ..core.settings import SETTINGS
from ..impacts.impact_laws import IMPACT_LAWS
from ..integrators import FLIGHT, IMPLICIT, INTEGRATORS, OWNERS
from ..laws.soft import LAWS, RECOVERIES
from ..solvers import SOLVERS
from . import CURES, METHODS

CHOICES: dict[str, tuple[str, ...]] = {
    "method": tuple(METHODS), "integrator": (*INTEGRATORS, *IMPLICIT, *FLIGHT), "solver": tuple(SOLVERS),
    "impact_law": tuple(IMPACT_LAWS), "law": tuple(LAWS), "surface": tuple(RECOVERIES), "joint_cure": tuple(CURES),
}


def check_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """The settings with the changes made; ValueError in one sentence where a name or a value is not allowed."""
    checked = {name: _checked(name, value) for name, value in changes.items()}
    wanted = replace(settings, **checked)
    owner = OWNERS.get(wanted.integrator, wanted.method)
    if owner != wanted.method:
        if "integrator" in changes:
            raise ValueError(f"the integrator {wanted.integrator} is implicit and works with the method {owner} only")
        wanted = replace(wanted, integrator=Settings().integrator)  # left behind with its method
    return wanted


def range_text(name: str) -> str:
    """What a number of that name may be, in words."""
    setting = SETTINGS[name]
    low, high = (f"{end:g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e") for end in setting[3:5])
    return f"{'whole number' if setting.kind is int else 'number'} from {low} to {high}"


def described(name: str) -> str:
    """What a setting of the table [solver] is and may be, in words."""
    setting = SETTINGS[name]
    if name not in CHOICES:
        unit = f" [{setting.unit}]" if setting.unit else ""
        return f"{setting.meaning}{', ' if setting.meaning else ''}a {range_text(name)}{unit}"
    between = "" if not setting.meaning else " " if setting.meaning.endswith(":") else ", "
    return f"{setting.meaning}{between}one of {', '.join(CHOICES[name])}"


def _checked(name: str, value: Any) -> Any:
    """The value as the engine keeps it."""
    if name not in SETTINGS:
        raise ValueError(f"there is no setting {name!r}; there are {', '.join(SETTINGS)}")
    setting = SETTINGS[name]
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise ValueError(f"{name} must be one of {', '.join(CHOICES[name])}, not {value!r}")
        return value
    if setting.kind is tuple:
        return tuple(vector_of(name, value).tolist())
    if value is None and setting.none:
        return None
    numbers = int | np.integer if setting.kind is int else int | float | np.number
    if isinstance(value, bool) or not isinstance(value, numbers) or not setting.low <= value <= setting.high:
        raise ValueError(f"{name} must be a {range_text(name)}, not {value!r}")
    return setting.kind(value)


def vector_of(name: str, value: Any) -> np.ndarray:
    """Three finite numbers; ValueError where they are not."""
    try:
        vector = np.array(value, np.float64)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be three finite numbers, not {value!r}")
    return vector
