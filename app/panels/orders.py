"""Orders of accuracy: a box in which one chooses methods and integrators, and sees their errors over the step and over
the cost."""

import csv
import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import _, labelled
from ...physics.integrators import offered
from ...physics.look.closed_forms import poses
from ...physics.methods import METHODS
from ...physics.run.messages import Command, OrderPoint, OrderStudy, Snapshot, StudyOrders, Variant
from ...physics.run.order_study import FACTORS, ROUNDING, order_of
from ..ui_state import UiState
from . import style
from .plot import colors

MOST = 8             # variants at once: the colours of the palette
TIMES = (0.1, 10.0)  # simulated time of a run [s]
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_mouse_text | implot.Flags_.no_title
        | implot.Flags_.no_legend)


@dataclass
class OrdersUi:
    """What the box remembers."""

    chosen: list[Variant] = field(default_factory=list)
    until: float = 1.0
    by_forms: bool = True  # where the scene has closed forms


def draw_orders(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The contents of the box: what is compared at the left, the plots beside it, and how to go on."""
    mine, study = ui.state_of(OrdersUi), snapshot.orders
    has_forms = bool(poses(snapshot.model, snapshot.labels.closed_forms, 0.0))
    if not mine.chosen:
        mine.chosen = [Variant(snapshot.settings.method, snapshot.settings.integrator)]
    with style.font(ui, bold=True, size=20.0):
        imgui.text(_("Order of accuracy"))
    steps = _("{least:g} h … h/{most:g} with h = 1/{h:.4g} s").format(least=FACTORS[0],
                                                                             most=1.0 / FACTORS[-1],
                                                                             h=1.0 / snapshot.settings.h)
    style.muted(ui, _("The scene is run from its start with steps of {steps}. A method of order p leaves an error in "
                    "proportion to h^p: a straight line of the slope p. Where bodies collide no method of fixed steps "
                    "keeps its order. Beside the boxes: the orders found; exact is to rounding.").format(steps=steps),
                wrap=True)
    imgui.begin_child("order_choice", (25.0 * ui.font, 21.0 * ui.font))
    _variants(ui, mine, study)
    imgui.end_child()
    width = 0.5 * (imgui.get_content_region_avail().x - 25.0 * ui.font - 2 * imgui.get_style().item_spacing.x)
    for name, title in (("h", _("Error [m] over the step [s]")), ("cost", _("Error [m] over the processor time [s]"))):
        imgui.same_line()
        imgui.begin_child(f"order_{name}", (width, 21.0 * ui.font), 0, imgui.WindowFlags_.no_scrollbar)
        with style.font(ui, bold=True, size=13.0), style.color(imgui.Col_.text, style.colors(ui).muted):
            imgui.text_wrapped(title)
        with style.font(ui, size=13.0):
            _plot(ui, mine, study.points if study else (), name)
        imgui.end_child()
    _truth(ui, mine, has_forms)
    asked = StudyOrders(tuple(mine.chosen), mine.until, mine.by_forms and has_forms)
    if study is not None and study.running:
        share = len(study.points) / (len(study.asked.variants) * len(FACTORS))
        imgui.progress_bar(share, (12 * ui.font, imgui.get_frame_height()), "")
        imgui.same_line()
        if imgui.button(labelled("Stop##orders")):
            send(StudyOrders())
    elif imgui.button(labelled("Measure##orders")):
        send(asked)
    imgui.same_line()
    imgui.begin_disabled(study is None or not study.points)
    if imgui.button(labelled("\uf0c7  CSV##orders")) and study is not None:
        ui.request("save_curves", table(study))
    imgui.end_disabled()
    imgui.same_line()
    if imgui.button(labelled("Close##orders")):
        ui.orders = False
    if study is not None and study.asked != asked and not study.running:
        imgui.same_line()
        style.muted(ui, _("Shown: {until:g} s, against "
                        "{by_forms}").format(until=study.asked.until, by_forms=_('the closed form')
                                             if study.asked.by_forms else _('a finer run')))


def _variants(ui: UiState, mine: OrdersUi, study: OrderStudy | None) -> None:
    """A row an integrator, a column a method: whether it is compared, and in its colour the order that was found."""
    every = {name: None for method in METHODS for name in offered(method)}
    if not imgui.begin_table("order_table", 1 + len(METHODS), imgui.TableFlags_.sizing_stretch_prop):
        return
    imgui.table_setup_column("", 0, 1.3)
    for method in METHODS:
        imgui.table_setup_column(method.replace("_", " "), 0, 1.0)
    with style.font(ui, size=13.0):
        imgui.table_headers_row()
    for integrator in every:
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.align_text_to_frame_padding()
        imgui.text(integrator)
        for method in METHODS:
            imgui.table_next_column()
            if integrator in offered(method):
                _variant(ui, mine, Variant(method, integrator), study)
    imgui.end_table()


def _variant(ui: UiState, mine: OrdersUi, variant: Variant, study: OrderStudy | None) -> None:
    on = variant in mine.chosen
    imgui.begin_disabled((not on and len(mine.chosen) == MOST) or (on and len(mine.chosen) == 1))
    changed, now = imgui.checkbox(f"##{'_'.join(variant)}", on)
    imgui.end_disabled()
    if changed and now:
        mine.chosen.append(variant)
    elif changed:
        mine.chosen.remove(variant)
    if now:
        imgui.same_line(0, 0.5 * ui.font)
        with style.color(imgui.Col_.text, colors(ui)[mine.chosen.index(variant)]):
            imgui.text(f"\uf111 {told([p for p in study.points if p.variant == variant] if study else [])}")


def _truth(ui: UiState, mine: OrdersUi, has_forms: bool) -> None:
    """How long the runs are, and what they are held to."""
    imgui.align_text_to_frame_padding()
    imgui.text(_("Time of a run"))
    imgui.same_line()
    imgui.set_next_item_width(12.0 * ui.font)
    _moved, mine.until = imgui.slider_float("##order_time", mine.until, *TIMES, "%.1f s",
                                            imgui.SliderFlags_.logarithmic)
    imgui.same_line(0, 2.0 * ui.font)
    imgui.text(_("Errors from"))
    imgui.same_line()
    imgui.begin_disabled(not has_forms)
    if style.radio(ui, labelled("the closed form##orders"), mine.by_forms and has_forms):
        mine.by_forms = True
    imgui.end_disabled()
    if not has_forms:
        imgui.set_item_tooltip(_("This scene states none, or none that holds now"))
    imgui.same_line()
    if style.radio(ui, labelled("a much finer run of each##orders"), not (mine.by_forms and has_forms)):
        mine.by_forms = False


def told(points: list[OrderPoint]) -> str:
    """The order of a variant in a word; "" before all of its runs are made."""
    if any(math.isnan(p.error) for p in points):
        return _("failed")
    if len(points) < len(FACTORS):
        return ""
    if max(p.error for p in points) < ROUNDING:
        return _("exact")
    order = order_of(points)
    return "–" if math.isnan(order) else f"{order:.2f}"


def table(study: OrderStudy) -> str:
    """The study as CSV."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["method", "integrator", "h [s]", _("error [m]"), _("processor time [s]")])
    writer.writerows([*p.variant, p.h, p.error, p.cost] for p in study.points)
    return text.getvalue()


def _plot(ui: UiState, mine: OrdersUi, points: tuple[OrderPoint, ...], name: str) -> None:
    """Both axes logarithmic; only what such an axis can show."""
    rows = {variant: shown([p for p in points if p.variant == variant], name) for variant in mine.chosen}
    every = np.concatenate([np.zeros((0, 2)), *rows.values()])
    low, high = (every.min(axis=0), every.max(axis=0)) if len(every) else np.array([[1e-3, 1e-6], [1e-1, 1.0]])
    implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
    if implot.begin_plot(f"##order_{name}", (-1, -1), PLOT):
        implot.setup_axes("", "", implot.AxisFlags_.no_highlight, implot.AxisFlags_.no_highlight)
        for axis, least, most in zip((implot.ImAxis_.x1, implot.ImAxis_.y1), low / 1.6, 1.6 * high, strict=True):
            implot.setup_axis_scale(axis.value, implot.Scale_.log10.value)
            implot.setup_axis_limits(axis.value, least, most, implot.Cond_.always.value)
        unit = ui.preferences.scale
        for color, (variant, known) in zip(colors(ui), rows.items(), strict=False):
            if len(known):
                spec = implot.Spec(line_color=color, line_weight=1.8 * unit, marker=implot.Marker_.circle,
                                   marker_size=3.0 * unit, marker_fill_color=color)
                implot.plot_line(f"{variant.method} {variant.integrator}", known[:, 0].copy(), known[:, 1].copy(), spec)
        implot.end_plot()
    implot.pop_style_var()


def shown(points: list[OrderPoint], name: str) -> np.ndarray:
    """(k, 2) abscissae and errors that are positive and known."""
    rows = np.array([(getattr(p, name), p.error) for p in points]).reshape(-1, 2)
    return rows[(rows > 0.0).all(axis=1)]
