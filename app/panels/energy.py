"""The energy of the system over time: kinetic, potential, in springs, in soft surfaces, and their sum. The sum with
what was dissipated is constant as long as nothing else does work."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _
from ...physics.run.messages import Command, Snapshot
from ..ui_state import UiState
from . import style
from .watch import mark_now

MOST_POINTS = 1500  # drawn per curve


def draw_energy(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None]) -> None:
    """Fill the current window or child with the plot."""
    if snapshot is None:
        return
    curves = energy_curves(snapshot.energy_log)
    _heading(ui, curves)
    flags = (
        implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_mouse_text | implot.Flags_.no_title
        | implot.Flags_.no_legend
    )
    with style.font(ui, size=13.0):
        implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
        implot.push_style_var(implot.StyleVar_.fit_padding, (0.0, 0.08))
        implot.push_style_var(implot.StyleVar_.plot_min_size, (40.0, 40.0))
        if implot.begin_plot("##energy", (-1, -1), flags):
            _curves(ui, curves)
            if len(snapshot.energy_log):
                mark_now(ui, snapshot, float(snapshot.energy_log[-1, 0]))
            implot.end_plot()
        implot.pop_style_var(3)


def _look(ui: UiState) -> dict[str, tuple[style.Color, float]]:
    """Colour and width of each curve."""
    c = style.colors(ui)
    return {
        N_("Total + heat"): (c.muted, 1.5), N_("Total"): (c.total, 2.0), N_("Kinetic"): (c.kinetic, 1.5),
        N_("Potential"): (c.potential, 1.5), N_("Springs"): (c.spring, 1.5), N_("Surfaces"): (c.danger, 1.5),
    }


def _heading(ui: UiState, curves: dict[str, np.ndarray]) -> None:
    """The title with the names of the curves, each after a stroke of its colour."""
    style.heading(ui, _("Energy [J]"))
    with style.font(ui, size=14.0):
        for name, (color, _width) in _look(ui).items():
            if name not in curves:
                continue
            imgui.same_line(0, 0.6 * ui.font)
            if imgui.get_content_region_avail().x < 0.9 * ui.font + imgui.calc_text_size(_(name)).x:
                imgui.new_line()
            x, y = imgui.get_cursor_screen_pos()
            middle = y + 0.5 * imgui.get_text_line_height()
            stroke = (x + 0.6 * ui.font, middle)
            imgui.get_window_draw_list().add_line((x, middle), stroke, style.u32(color), 2.5 * ui.preferences.scale)
            imgui.dummy((0.6 * ui.font, 0))
            imgui.same_line(0, 0.3 * ui.font)
            imgui.text(_(name))


def energy_curves(log: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of Snapshot.energy_log and their sums, at most MOST_POINTS rows; springs, surfaces and heat only where
    there are any."""
    stride = max(1, -(-len(log) // MOST_POINTS))
    thin = log[::stride] if stride == 1 or not len(log) else np.vstack([log[::stride], log[-1:]])
    total = thin[:, 1:5].sum(axis=1)
    curves = {"t": thin[:, 0], N_("Kinetic"): thin[:, 1], N_("Potential"): thin[:, 2], N_("Total"): total}
    for name, column, values in ((N_("Springs"), 3, thin[:, 3]), (N_("Surfaces"), 4, thin[:, 4]),
                                 (N_("Total + heat"), 5, total + thin[:, 5])):
        if np.any(thin[:, column] != 0.0):
            curves[name] = values
    return {name: np.ascontiguousarray(values) for name, values in curves.items()}


def _curves(ui: UiState, curves: dict[str, np.ndarray]) -> None:
    fit = implot.AxisFlags_.auto_fit | implot.AxisFlags_.no_highlight | implot.AxisFlags_.no_label
    implot.setup_axes("t [s]", "E [J]", fit, fit)
    for name, (color, width) in _look(ui).items():
        if name in curves and len(curves["t"]):
            spec = implot.Spec(line_color=color, line_weight=width * ui.preferences.scale)
            implot.plot_line(name, curves["t"], curves[name], spec)
