"""Plots of a run: quantities of bodies and of the whole against time, or one against another (a phase plane)."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _, labelled
from ...physics.core.model import Array
from ...physics.look.closed_forms import curve as closed_form
from ...physics.look.quantities import quantity_of
from ...physics.run.messages import MOST_CURVES, Command, Curve, Snapshot
from ..figure import Figure, Line
from ..ui_state import UiState
from . import style
from .tabs import Tab
from .timeline import color_of, shown_events
from .watch import choose_body, choose_quantity, drawn, mark_now, of_scene, recorded, title, value_now

MOST_UNITS = 3     # an axis each
MOST_POINTS = 4000  # drawn of a curve, about
RESOLVED = 2e-5    # least range of an axis, as a part of the largest value on it
MOST_MARKS = 200    # events of a kind marked
SAVED_AS = {".csv": N_("a column a curve"), ".npz": N_("arrays"), ".png": N_("a picture"), ".svg": N_("a drawing")}
LIST_WIDTH, LEAST_WIDTH, LEAST_HEIGHT = 23.0, 12.0, 7.0  # of the list, and of a plot that can be read [font heights]
DRAGGED = "quantity"  # that the mouse carries from another panel: `UiState.dragged`
DASHES, BENDS = 90, 8  # of a line by a closed form; straight pieces of a dash
Y_AXES = (implot.ImAxis_.y1, implot.ImAxis_.y2, implot.ImAxis_.y3)


@dataclass
class PlotUi:
    """What the tab remembers."""

    generation: int = -1      # of the scene that the curves belong to
    curves: list[Curve] = field(default_factory=list)
    across: Curve | None = None  # what the curves are drawn over; None = time
    quantity: str = "height"  # chosen to be added
    body: int = -1
    fit: bool = True          # the axes follow the curves
    marks: bool = True        # events are marked


def plot_of(ui: UiState, snapshot: Snapshot) -> PlotUi:
    """What is plotted of the scene that runs; of another scene, curves of the whole only."""
    mine = ui.state_of(PlotUi)
    if mine.generation != snapshot.generation:
        mine.generation, mine.body = snapshot.generation, -1
        mine.curves = [curve for curve in mine.curves if curve.body < 0]
        mine.across = None
    return mine


def wanted(ui: UiState, snapshot: Snapshot) -> list[Curve]:
    """The curves to be recorded, whether the tab is open or not."""
    mine = plot_of(ui, snapshot)
    return [*mine.curves, *filter(None, [mine.across])]


def draw_plot(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """Fill the lower area: the curves at the left and the plot beside them; in a narrow one all below each other."""
    mine = plot_of(ui, snapshot)
    _drop(ui, mine)
    if imgui.get_content_region_avail().x < (LIST_WIDTH + LEAST_WIDTH) * ui.font:
        _draw_narrow(ui, snapshot, mine)
        return
    imgui.begin_child("curves", (LIST_WIDTH * ui.font, 0))
    _add(ui, snapshot, mine)
    _list(ui, snapshot, mine)
    _options(ui, snapshot, mine)
    imgui.end_child()
    imgui.same_line(0, 1.0 * ui.font)
    _plot_area(ui, snapshot, mine, 0.0)


def _draw_narrow(ui: UiState, snapshot: Snapshot, mine: PlotUi) -> None:
    """The names of the curves, their plot, and below it, where one scrolls to, what adds and saves."""
    imgui.begin_child("curves", (0, 0))
    _list(ui, snapshot, mine)
    room = imgui.get_content_region_avail().y if mine.curves else 0.0
    _plot_area(ui, snapshot, mine, max(room, LEAST_HEIGHT * ui.font))
    _add(ui, snapshot, mine)
    _options(ui, snapshot, mine)
    imgui.end_child()


def _plot_area(ui: UiState, snapshot: Snapshot, mine: PlotUi, height: float) -> None:
    """height: of the plot [pixels]; 0 = all that is left."""
    imgui.begin_child("plot", (0, height), 0, imgui.WindowFlags_.no_scrollbar)
    if mine.curves:
        _plot(ui, snapshot, mine)
    else:
        style.muted(ui, _("Choose a quantity and a body, and add its curve; or drag a number of the tab Body onto the "
                        "tab Plot. All that the run remembers is plotted; forces of the past appear as its steps are "
                        "made once more."), wrap=True)
    imgui.end_child()


# ------------------------------------------------------------------------------------------------ the curves


def _add(ui: UiState, snapshot: Snapshot, mine: PlotUi) -> None:
    """Choose a quantity and its body, and add the curve."""
    mine.quantity = choose_quantity(ui, "plotted", mine.quantity)
    body = mine.body if mine.body >= 0 else ui.view.selected
    curve = of_scene(snapshot, mine.quantity, body)
    if curve is not None and curve.body >= 0:
        imgui.same_line(0, 0.4 * ui.font)
        chosen = choose_body(ui, snapshot, "plotted", curve.body)
        if chosen != curve.body:
            mine.body, curve = chosen, Curve(mine.quantity, chosen)
    why = _("No body of this scene can move.") if curve is None else refusal(mine, curve)
    imgui.begin_disabled(bool(why))
    if imgui.button(labelled("+  Add##curve")) and curve is not None:
        mine.curves.append(curve)
    imgui.end_disabled()
    if why and imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled):
        imgui.set_tooltip(why)
    imgui.same_line(0, 0.4 * ui.font)
    imgui.begin_disabled(curve is None or len(mine.curves) + 1 > MOST_CURVES)
    if imgui.button(labelled("Plot over it##across")):
        mine.across = curve
    imgui.set_item_tooltip(_("Draw the curves over this quantity instead of over time: a phase plane"))
    imgui.end_disabled()


def _drop(ui: UiState, mine: PlotUi) -> None:
    """Add the curve that is let go over the panel, its tabs included."""
    carried = imgui.get_drag_drop_payload_py_id()
    over = imgui.is_mouse_hovering_rect(imgui.get_window_pos(), imgui.get_window_pos() + imgui.get_window_size())
    if carried is None or carried.type != DRAGGED or not imgui.is_mouse_released(0) or not over:
        return
    curve, ui.dragged = ui.dragged, None
    if curve is None:
        return
    if why := refusal(mine, curve):
        ui.say(why)
    else:
        mine.curves.append(curve)


def refusal(mine: PlotUi, curve: Curve) -> str:
    """Why a curve cannot be added; "" where it can."""
    if curve in mine.curves:
        return _("It is plotted already.")
    if len(mine.curves) + (mine.across is not None) >= MOST_CURVES:
        return _("Up to {MOST_CURVES} curves are recorded at once.").format(MOST_CURVES=MOST_CURVES)
    if len({quantity_of(c.quantity).unit for c in [*mine.curves, curve]}) > MOST_UNITS:
        return _("A plot has axes for {MOST_UNITS} units.").format(MOST_UNITS=MOST_UNITS)
    return ""


def _list(ui: UiState, snapshot: Snapshot, mine: PlotUi) -> None:
    """A line a curve: its colour, its name, its value now; the cross takes it away."""
    gone = None
    for k, curve in enumerate(mine.curves):
        x, y = imgui.get_cursor_screen_pos()
        middle = y + 0.5 * imgui.get_frame_height()
        imgui.get_window_draw_list().add_line((x, middle), (x + 0.9 * ui.font, middle), style.u32(colors(ui)[k]),
                                              3.0 * ui.preferences.scale)
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + 1.3 * ui.font)
        imgui.align_text_to_frame_padding()
        value = value_now(snapshot, curve)
        shown = "–" if np.isnan(value) else style.engineering(value, quantity_of(curve.quantity).unit, 4)
        room = imgui.get_content_region_avail().x - 8.2 * ui.font
        imgui.text(style.clipped_text(title(snapshot, curve), room))
        imgui.set_item_tooltip(title(snapshot, curve))
        imgui.same_line(imgui.get_window_width() - 7.4 * ui.font)
        style.muted(ui, shown)
        imgui.same_line(imgui.get_window_width() - 2.0 * ui.font)
        if imgui.small_button(f"\uf00d##curve_{k}"):
            gone = curve
    if gone is not None:
        mine.curves.remove(gone)
    if mine.across is not None:
        imgui.align_text_to_frame_padding()
        imgui.text(style.clipped_text(_("over {snapshot}").format(snapshot=title(snapshot, mine.across)),
                                      18.0 * ui.font))
        imgui.same_line(imgui.get_window_width() - 2.0 * ui.font)
        if imgui.small_button("\uf00d##across"):
            mine.across = None
        imgui.set_item_tooltip(_("Over time again"))


def _options(ui: UiState, snapshot: Snapshot, mine: PlotUi) -> None:
    mine.fit = imgui.checkbox(labelled("Fit"), mine.fit)[1]
    imgui.set_item_tooltip(_("The axes follow the curves. Without: the wheel zooms, a drag moves, a double click fits"))
    if mine.across is None:
        imgui.same_line()
        mine.marks = imgui.checkbox(labelled("Events"), mine.marks)[1]
        imgui.set_item_tooltip(_("Lines at events, of the kinds that the tab Timeline shows"))
    imgui.same_line()
    save_button(ui, lambda: figure(ui, snapshot, mine), bool(mine.curves))


def save_button(ui: UiState, made: Callable[[], Figure], on: bool = True) -> None:
    """A button that saves curves as a table or a picture; made: what gives them."""
    imgui.begin_disabled(not on)
    if imgui.button(labelled("\uf0c7  Save##save_curves")):
        imgui.open_popup("save_curves_as")
    imgui.end_disabled()
    if imgui.begin_popup("save_curves_as"):
        for suffix, words in SAVED_AS.items():
            if imgui.menu_item_simple(f"{suffix[1:].upper()}, {_(words)}###save{suffix}"):
                ui.request("save_curves", (made(), suffix))
        imgui.end_popup()


def figure(ui: UiState, snapshot: Snapshot, mine: PlotUi) -> Figure:
    """What is plotted, at the steps that are remembered."""
    lines = [Line(title(snapshot, curve), quantity_of(curve.quantity).unit, recorded(snapshot, curve))
             for curve in (*mine.curves, *filter(None, [mine.across]))]
    across = lines.pop() if mine.across is not None else None
    events = tuple((event.t, event.kind) for event in shown_events(ui, snapshot)) if mine.marks else ()
    return Figure(snapshot.labels.title or snapshot.scene_name, tuple(lines), across, events)


# -------------------------------------------------------------------------------------------------- the plot


def colors(ui: UiState) -> tuple[style.Color, ...]:
    """Of the curves, in their order: the palette of the energies, which is told apart in either theme."""
    c = style.colors(ui)
    return (c.potential, c.kinetic, c.spring, c.danger, c.total, c.violet, c.warning, c.muted)


def _plot(ui: UiState, snapshot: Snapshot, mine: PlotUi) -> None:
    units = list(dict.fromkeys(quantity_of(curve.quantity).unit for curve in mine.curves))
    flags = implot.Flags_.no_title | implot.Flags_.no_legend | implot.Flags_.no_box_select
    with style.font(ui, size=13.0):
        implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
        implot.push_style_var(implot.StyleVar_.fit_padding, (0.01, 0.1))
        if implot.begin_plot("##plot", (-1, -1), flags):
            _axes(snapshot, mine, units)
            if mine.marks and mine.across is None:
                _events(ui, snapshot)
            for k, curve in enumerate(mine.curves):
                axis = Y_AXES[units.index(quantity_of(curve.quantity).unit)]
                implot.set_axes(implot.ImAxis_.x1, axis)
                x, y = points(snapshot, curve, mine.across)
                draw_curve(ui, k, x, y, now_of(snapshot, curve, mine.across))
                if mine.across is None and len(x):
                    _expected(ui, k, snapshot, curve, x)
            if mine.across is None and len(snapshot.trace):
                mark_now(ui, snapshot, float(snapshot.trace[-1, 0]))
            implot.end_plot()
        implot.pop_style_var(2)


def _axes(snapshot: Snapshot, mine: PlotUi, units: list[str]) -> None:
    """Time or the other quantity below; an axis a unit, the second and the third at the right."""
    fit = implot.AxisFlags_.auto_fit if mine.fit else 0
    implot.setup_axis(implot.ImAxis_.x1, "t [s]" if mine.across is None else title(snapshot, mine.across), fit)
    for axis, unit in zip(Y_AXES, units, strict=False):
        right = implot.AxisFlags_.opposite | implot.AxisFlags_.no_grid_lines if axis != implot.ImAxis_.y1 else 0
        implot.setup_axis(axis, f"[{unit}]" if unit else "", fit | right)
        if fit:  # what changes by less would have the same numbers at all of its marks
            own = [curve for curve in mine.curves if quantity_of(curve.quantity).unit == unit]
            sizes = np.abs(np.concatenate([recorded(snapshot, curve)[:, 1] for curve in own]))
            largest = float(sizes[np.isfinite(sizes)].max(initial=0.0))
            implot.setup_axis_zoom_constraints(axis, RESOLVED * largest, np.inf)


def points(snapshot: Snapshot, curve: Curve, across: Curve | None) -> tuple[Array, Array]:
    """Abscissae and ordinates of the steps at which both are known: about MOST_POINTS, with all peaks."""
    known = recorded(snapshot, curve)
    x = known[:, 0] if across is None else recorded(snapshot, across)[:, 1]
    if len(x) != len(known):  # the one is recorded, the other not yet
        return np.zeros(0), np.zeros(0)
    both = np.flatnonzero(np.isfinite(x) & np.isfinite(known[:, 1]))
    thin = both[drawn(known[both, 1], MOST_POINTS)]
    return np.ascontiguousarray(x[thin]), np.ascontiguousarray(known[thin, 1])


def now_of(snapshot: Snapshot, curve: Curve, across: Curve | None) -> tuple[float, float]:
    """Where the curve is now."""
    return snapshot.t if across is None else value_now(snapshot, across), value_now(snapshot, curve)


def draw_curve(ui: UiState, k: int, x: Array, y: Array, now: tuple[float, float]) -> None:
    """A curve, and a dot where it is now."""
    if not len(x):
        return
    color, scale = colors(ui)[k], ui.preferences.scale
    implot.plot_line(f"##curve_{k}", x, y, implot.Spec(line_color=color, line_weight=1.8 * scale))
    dot = implot.Spec(marker=implot.Marker_.circle, marker_size=3.5 * scale, marker_fill_color=color,
                      marker_line_color=color)
    if np.isfinite(now).all():
        implot.plot_scatter(f"##now_{k}", np.array(now[:1]), np.array(now[1:]), dot)


def _expected(ui: UiState, k: int, snapshot: Snapshot, curve: Curve, t: Array) -> None:
    """The same quantity by the body's closed form."""
    found = expected(snapshot, curve, t[0], t[-1])
    if found is not None:
        draw_dashes(ui, k, *found.T)


def expected(snapshot: Snapshot, curve: Curve, first: float, last: float) -> Array | None:
    """(k, 2) times from first to last [s], also where no step is, and the quantity by the body's closed form; None
    where it has none."""
    at = np.linspace(first, last, 2 * DASHES * BENDS)
    y = closed_form(snapshot.model, snapshot.labels.closed_forms, curve.quantity, curve.body, at)
    return None if y is None else np.column_stack([at, y])


def draw_dashes(ui: UiState, k: int, x: Array, y: Array) -> None:
    """A line of dashes."""
    first = np.flatnonzero(np.arange(len(x) - 1) // BENDS % 2 == 0)  # every other dash, in straight pieces
    ends = np.column_stack([first, first + 1]).ravel()
    implot.plot_line(f"##expected_{k}", x[ends], y[ends], implot.Spec(
        line_color=style.colors(ui).text, line_weight=1.4 * ui.preferences.scale,
        flags=implot.LineFlags_.segments))


def _events(ui: UiState, snapshot: Snapshot) -> None:
    """A vertical line an event, in the colour of its kind, the latest ones."""
    begin = snapshot.trace[0, 0] if len(snapshot.trace) else 0.0
    times: dict[str, list[float]] = {}
    for event in shown_events(ui, snapshot):
        if event.t >= begin:
            times.setdefault(event.kind, []).append(event.t)
    for kind, at in times.items():
        color = (*color_of(ui, kind)[:3], 0.35)
        implot.plot_inf_lines(f"##{kind}", np.array(at[-MOST_MARKS:]),
                              implot.Spec(line_color=color, line_weight=ui.preferences.scale))


TAB = Tab("plot", "Plot", draw_plot, "P", lines=15.0)
