"""The energy of the system over time: kinetic, potential, springs, and their sum."""

from collections.abc import Callable

import numpy as np
from contactlab.app.panels import style
from contactlab.app.ui_state import UiState
from contactlab.physics.messages import Command, Snapshot
from imgui_bundle import imgui, implot

MOST_POINTS = 1500  # drawn per curve


def draw_energy(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None]) -> None:
    """Fill the current window or child with the plot."""
    if snapshot is None:
        return
    style.heading(ui, "Energy")
    imgui.same_line()
    with style.font(ui, size=14.0):
        style.muted(ui, f"E = {style.engineering(snapshot.energy.total, 'J', 4)}")
    curves = energy_curves(snapshot.energy_log)
    flags = implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_mouse_text | implot.Flags_.no_title
    with style.font(ui, size=13.0):
        if implot.begin_plot("##energy", (-1, -1), flags):
            _curves(ui, curves)
            implot.end_plot()


def energy_curves(log: np.ndarray) -> dict[str, np.ndarray]:
    """Columns t, kinetic, potential, spring, total of at most MOST_POINTS rows; the spring only where one acts."""
    stride = max(1, -(-len(log) // MOST_POINTS))
    thin = log[::stride] if stride == 1 or not len(log) else np.vstack([log[::stride], log[-1:]])
    curves = {"t": thin[:, 0], "Kinetic": thin[:, 1], "Potential": thin[:, 2], "Total": thin[:, 1:4].sum(axis=1)}
    if np.any(thin[:, 3] != 0.0):
        curves["Springs"] = thin[:, 3]
    return {name: np.ascontiguousarray(values) for name, values in curves.items()}


def _curves(ui: UiState, curves: dict[str, np.ndarray]) -> None:
    c = style.colors(ui)
    fit = implot.AxisFlags_.auto_fit | implot.AxisFlags_.no_highlight
    implot.setup_axes("t [s]", "E [J]", fit, fit)
    implot.setup_legend(implot.Location_.north_west, implot.LegendFlags_.horizontal)
    shown = {
        "Total": (c.total, 2.0), "Kinetic": (c.kinetic, 1.5), "Potential": (c.potential, 1.5),
        "Springs": (c.spring, 1.5),
    }
    for name, (color, width) in shown.items():
        if name in curves and len(curves["t"]):
            spec = implot.Spec(line_color=color, line_weight=width * ui.preferences.scale)
            implot.plot_line(name, curves["t"], curves[name], spec)
