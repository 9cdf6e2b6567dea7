"""What a script that drives the simulation shows: its controls and texts, and its curves over time."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import _, labelled
from ...physics.run.messages import Command, OpenScript, SetControl, ShownPanel, Snapshot
from ..figure import Figure, Line
from ..ui_state import UiState
from . import style
from .plot import MOST_UNITS, Y_AXES, colors, save_button
from .rows import FULL, SOON, value_row
from .tabs import Tab

Send = Callable[[Command], None]


def draw_script(ui: UiState, script: ShownPanel, send: Send) -> None:
    """The controls that the script has declared, and its texts."""
    if not script.runs:
        style.muted(ui, _("Another scene runs; the script waits."), wrap=True)
        if imgui.button(labelled("Back to the script's scene")):
            send(OpenScript())
        return
    for control in script.controls:
        name = f"script_{control.name}"
        asked = ui.asked.get(name)
        value = asked[0] if asked is not None and ui.clock < asked[1] else control.value
        changed = False
        match control.kind:
            case "slider":
                value_row(ui, control.name, f"{value:.4g} {control.unit}".rstrip())
                imgui.set_next_item_width(FULL)
                changed, value = style.slider(name, float(value), control.low, control.high, "%.4g", ui,
                                              logarithmic=control.logarithmic)
                value = min(max(value, control.low), control.high)  # a slider counts in single precision
            case "checkbox":
                changed, value = imgui.checkbox(f"{control.name}##{name}", bool(control.value))
            case "choice":
                changed, value = _choice(name, control.name, control.value, control.options)
            case "button":
                changed, value = imgui.button(f"{control.name}##{name}"), True
        if changed:
            if control.kind == "slider":
                ui.asked[name] = float(value), ui.clock + SOON
            send(SetControl(control.name, value))
    for name, text in script.texts:
        value_row(ui, name, text)
    value_row(ui, _("The script takes, a step"), style.engineering(script.seconds, "s", 2))
    imgui.set_item_tooltip(_("Of the time of a step. A force law that numba has compiled takes microseconds for any "
                             "number of bodies; what is plain Python costs what its lines cost."))


def _choice(name: str, label: str, now: str, options: tuple[str, ...]) -> tuple[bool, str]:
    """A list of options: whether another one was chosen, and which one holds."""
    imgui.text(label)
    imgui.set_next_item_width(FULL)
    chosen = now
    if imgui.begin_combo(f"##{name}", now):
        for option in options:
            if imgui.selectable(option, option == now)[0]:
                chosen = option
        imgui.end_combo()
    return chosen != now, chosen


def draw_curves(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Fill the lower area with the curves of the script."""
    curves = snapshot.script.curves if snapshot.script is not None else ()
    if not curves:
        style.muted(ui, _('The script plots nothing so far: panel.plot("angle", angle) adds a point.'), wrap=True)
        return
    save_button(ui, lambda: Figure(snapshot.labels.title or snapshot.scene_name,
                                   tuple(Line(_title(c.name, c.unit), c.unit, c.points) for c in curves)))
    for k, curve in enumerate(curves):
        imgui.same_line(0, 1.0 * ui.font)
        last = f"  {style.engineering(float(curve.points[-1, 1]), curve.unit, 4)}" if len(curve.points) else ""
        with style.color(imgui.Col_.text, colors(ui)[k]):
            imgui.text(f"\u2014 {curve.name}{last}")
    units = list(dict.fromkeys(curve.unit for curve in curves))[:MOST_UNITS]
    flags = implot.Flags_.no_title | implot.Flags_.no_legend | implot.Flags_.no_box_select
    implot.push_style_var(implot.StyleVar_.fit_padding, (0.01, 0.1))
    if implot.begin_plot("##script", (-1, -1), flags):
        fit = implot.AxisFlags_.auto_fit
        implot.setup_axis(implot.ImAxis_.x1, "t [s]", fit)
        for axis, unit in zip(Y_AXES, units, strict=False):
            right = implot.AxisFlags_.opposite | implot.AxisFlags_.no_grid_lines if axis != implot.ImAxis_.y1 else 0
            implot.setup_axis(axis, f"[{unit}]" if unit else "", fit | right)
        for k, curve in enumerate(curves):
            axis = units.index(curve.unit) if curve.unit in units else len(units) - 1
            implot.set_axes(implot.ImAxis_.x1, Y_AXES[axis])
            x, y = (np.ascontiguousarray(curve.points[:, column]) for column in (0, 1))
            implot.plot_line(f"##script_{k}", x, y, implot.Spec(line_color=colors(ui)[k],
                                                               line_weight=1.8 * ui.preferences.scale))
        implot.end_plot()
    implot.pop_style_var()


def _title(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


TAB = Tab("script", "Script", draw_curves, lines=15.0, there=lambda snapshot: snapshot.script is not None)
