"""Every setting of a run, one row each. From these rows are made: what `Simulation.set` and --set allow, the table
[solver] of scene files, what the sides of a comparison keep and share, and the sliders of the panel.

A new setting is one row here, its default in `report.Settings`, and its use. The names that a choice allows stand where
they are known, in methods.choices; which methods use a setting stands with them, in `Method.uses`.
"""

from enum import Enum
from typing import NamedTuple


class SettingGroup(Enum):
    """What a setting is about."""

    SOLVER = "how the scene is computed"         #: in [solver] of a scene; each side of a comparison has its own
    PAIRS = "coefficients of every pair"         #: None = as the materials say; the same on all sides
    SURFACES = "gains of every pair"             #: None = as the materials say; columns of Materials.surfaces
    SCENE = "the scene itself"                   #: the same on all sides


class Slider(NamedTuple):
    """How the panel shows a number."""

    label: str
    low: float
    high: float
    format: str = "%.2f"
    logarithmic: bool = False


class Setting(NamedTuple):
    """One setting. `kind` is its type: str for a choice by name, tuple for three finite numbers."""

    group: SettingGroup
    kind: type
    meaning: str            #: text for scene files and their schema; of a choice, the words before "one of …"
    low: float = 0.0        #: least value of a number, in its unit
    high: float = 0.0       #: greatest value of a number
    unit: str = ""          #: of a number; gains along the normal have the units of their law
    slider: Slider = Slider("", 0.0, 0.0)  #: a choice has none

    @property
    def none(self) -> bool:
        """Whether None is allowed: as the materials say."""
        return self.group in (SettingGroup.PAIRS, SettingGroup.SURFACES)


SOLVER, PAIRS, SURFACES, SCENE = SettingGroup
STIFFNESS, DAMPING = (1e-3, 1e12, "N/m"), (0.0, 1e9, "N s/m")  # (least, greatest, unit) of gains

SETTINGS: dict[str, Setting] = {
    "method": Setting(SOLVER, str, ""),
    "integrator": Setting(SOLVER, str, ""),
    "solver": Setting(SOLVER, str, ""),
    "h": Setting(SOLVER, float, "the step", 1e-6, 0.1, "s", Slider("Step  h", 30.0, 4000.0, "%.0f", True)),
    "iterations": Setting(SOLVER, int, "", 1, 10_000, "", Slider("Iterations", 1.0, 1000.0, "%.0f", True)),
    "impact_law": Setting(SOLVER, str, "what happens where several contacts are hit at once"),
    "law": Setting(SOLVER, str, "of compliant surfaces:"),
    "surface": Setting(SOLVER, str, "how compliant surfaces recover:"),
    "substeps": Setting(SOLVER, int, "substeps of the method compliant, 0 = as many as needed", 0, 10_000, "",
                        Slider("Substeps", 1.0, 500.0, "%.0f", True)),
    "joint_cure": Setting(SOLVER, str, ""),
    "sleep": Setting(SOLVER, float, "the part of 2 g h below which the speeds of an island let it sleep, 0 = never",
                     0.0, 0.1, "", Slider("Sleep below", 1e-7, 0.1, "%.0e", True)),
    "restitution": Setting(PAIRS, float, "the coefficient of restitution", 0.0, 1.0, "",
                           Slider("Restitution  e", 0.0, 1.0)),
    "friction": Setting(PAIRS, float, "the coefficient of friction", 0.0, 100.0, "", Slider("Friction  μ", 0.0, 1.5)),
    "friction_static": Setting(PAIRS, float, "the coefficient of static friction, which counts where it is greater",
                               0.0, 100.0, "", Slider("Static friction  μₛ", 0.0, 1.5)),
    "friction_torsional": Setting(PAIRS, float, "the torsional friction, moment about the normal per normal force", 0.0,
                                  100.0, "m", Slider("Torsional friction  ℓ_ψ", 0.0, 0.05, "%.4g")),
    "friction_rolling": Setting(PAIRS, float, "the rolling friction, moment across the normal per normal force", 0.0,
                                100.0, "m", Slider("Rolling friction  ℓᵣ", 0.0, 0.05, "%.4g")),
    "restitution_t": Setting(PAIRS, float, "the tangential restitution of balls", -1.0, 1.0, "",
                             Slider("Of balls, tangential  e_t", -1.0, 1.0)),
    "restitution_psi": Setting(PAIRS, float, "the torsional restitution of balls", -1.0, 1.0, "",
                               Slider("Of balls, torsional  e_ψ", -1.0, 1.0)),
    "stiffness_n": Setting(SURFACES, float, "K along the normal for every pair", *STIFFNESS,
                           Slider("Stiffness  Kₙ", 1e2, 1e8, "%.3g", True)),
    "damping_n": Setting(SURFACES, float, "D along the normal for every pair", *DAMPING,
                         Slider("Damping  Dₙ", 1e-1, 1e5, "%.3g", True)),
    "stiffness_t": Setting(SURFACES, float, "K in the tangent plane for every pair", *STIFFNESS,
                           Slider("Tangential  Kₜ", 1e2, 1e8, "%.3g", True)),
    "damping_t": Setting(SURFACES, float, "D in the tangent plane for every pair", *DAMPING,
                         Slider("Tangential  Dₜ", 1e-1, 1e5, "%.3g", True)),
    "stiffness_series": Setting(SURFACES, float, "K of the series spring of a standard solid", *STIFFNESS,
                                Slider("Series spring  Kₛ", 1e2, 1e8, "%.3g", True)),
    "damping_roll": Setting(SURFACES, float, "D of the dent that travels where round bodies roll", *DAMPING,
                            Slider("Rolling dent  Dᵣ", 0.0, 20.0, "%.3g")),
    "gravity": Setting(SCENE, tuple, "the acceleration of gravity", unit="m/s2",
                       slider=Slider("Gravity  g", 0.0, 25.0)),
}


def names_of(*groups: SettingGroup) -> tuple[str, ...]:
    """Names of the settings of these groups, in their order."""
    return tuple(name for name, setting in SETTINGS.items() if setting.group in groups)


STEPWISE = tuple(name for name in names_of(SOLVER) if name != "method")  #: what methods read every step
GAINS = names_of(SURFACES)  #: in the order of the columns of Materials.surfaces
