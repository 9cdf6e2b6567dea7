"""Kinds of values that lessons and videos have besides those of scene files, and the names they may hold."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from ..core.settings import SETTINGS
from ..run.sweep import LONGEST_RUN
from ..scene.values import FormulaText, Vec3, refuse

#: what a lesson may show beside the settings
CONTROLS = (*SETTINGS, "speed", "mouse")
#: switches of the view
SWITCHES = (
    "contact_points", "normals", "forces", "friction_forces", "moments", "all_contacts", "minimal_set", "impulses",
    "dents", "contact_cases", "closed_forms", "mouse_spring", "joints", "centers_of_mass", "velocities",
    "angular_momenta", "body_names", "inertia_boxes", "transparent", "wireframe", "as_collided", "shadows", "grid",
    "legend", "logarithmic", "follow_selected", "keep_in_view",
)
#: tabs of the lower area
PANELS = ("contacts", "body", "plot", "timeline", "equations", "impact", "pivots", "step", "ledger", "compare",
          "modes", "laws", "normals", "drift", "trees", "joint_forces")


def _not_zero(value: tuple[float, float, float]) -> tuple[float, float, float]:
    if not any(value):
        raise refuse("be three numbers that are not all 0")
    return value


Text = Annotated[str, Field(strict=True, max_length=20_000)]
Line = Annotated[str, Field(strict=True, min_length=1, max_length=1000)]
Time = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=LONGEST_RUN)]
Three = Annotated[tuple[FormulaText, ...], Field(min_length=3, max_length=3)]
Direction = Annotated[Vec3, AfterValidator(_not_zero)]
Place = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e6, le=1e6)]


def field(default: Any, description: str, **constraints: Any) -> Any:
    return Field(default, description=description, **constraints)
