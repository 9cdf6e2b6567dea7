"""A page of the tab Impact: the inverse inertia that an impact meets, through I^A of links that are struck and through
H, and what both ways cost over the number of links."""

from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _, labelled
from ...physics.core.model import Array
from ...physics.look.impact_forms import ARTICULATED, JOINT_SPACE, Cost
from ...physics.look.inspection import ImpactView
from ...physics.run.messages import Snapshot
from ..ui_state import UiState
from . import style
from .equations import TABLE
from .explained import pair_name
from .formula import formula
from .plot import colors

WAYS = {ARTICULATED: N_("Through I^A of the links that are struck"), JOINT_SPACE: N_("Through H of the joint space")}
FORMULAS = {ARTICULATED: r"\iota = I^A \Delta v,\quad M_{rc} = n_c\cdot\Delta v(n_r)",
            JOINT_SPACE: r"H \Delta\dot q = T P,\quad M = T^T H^{-1} T"}
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_mouse_text | implot.Flags_.no_title
        | implot.Flags_.no_legend)


@dataclass
class ImpactFormsUi:
    """What the page remembers."""

    form: str = ARTICULATED
    measure: bool = False  # what both ways cost


def draw_forms(ui: UiState, snapshot: Snapshot, view: ImpactView) -> None:
    """Which way, and both beside each other; or why there are not two."""
    mine, forms = ui.state_of(ImpactFormsUi), view.forms
    if isinstance(forms, str):
        style.muted(ui, _(forms), wrap=True)
        return
    imgui.begin_child("impact_ways", (0.56 * imgui.get_content_region_avail().x, 0))
    for way, title in WAYS.items():
        if style.radio(ui, labelled(f"{title}##way_{way}"), mine.form == way):
            mine.form = way
    formula(ui, FORMULAS[mine.form], 14.0)
    style.muted(ui, _("The tab is computed so. M by both ways differs by {part} of its largest entry: by "
                      "rounding.").format(part=f"{forms.differ:.0e}"), wrap=True)
    _table(ui, snapshot, view, forms.inverse_mass)
    imgui.end_child()
    imgui.same_line(0, 0.8 * ui.font)
    imgui.begin_child("impact_cost", (0, 0), 0, imgui.WindowFlags_.no_scrollbar)
    if view.cost is not None:
        _cost(ui, view.cost)
    elif mine.measure:
        style.muted(ui, _("Measuring …"))
    elif imgui.button(labelled("Measure what both cost##impact_cost")):
        mine.measure = True
    imgui.end_child()


def _table(ui: UiState, snapshot: Snapshot, view: ImpactView, inverse_mass: Array) -> None:
    """What each body adds to M of a contact."""
    columns = [_("Contact"), "n·(I^A)⁻¹n  a", "b", "M [1/kg]"]
    if not imgui.begin_table("impact_ways", len(columns), TABLE):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    for k, heading in enumerate(columns):
        flags = imgui.TableColumnFlags_.width_fixed if k else imgui.TableColumnFlags_.width_stretch
        imgui.table_setup_column(heading, flags, (5.4 if k == 1 else 4.0) * ui.font if k else 0.0)
    imgui.table_headers_row()
    for i, parts in enumerate(inverse_mass.tolist()):
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.text(pair_name(snapshot, view.contacts, i))
        for value in (*parts, float(view.contacts.M[3 * i, 3 * i])):
            imgui.table_next_column()
            imgui.text(f"{value:.4g}")
            if value > 0.0 and imgui.is_item_hovered():
                imgui.set_tooltip(_("as a free mass of {mass}").format(mass=style.engineering(1e3 / value, "g")))
    imgui.end_table()


def _cost(ui: UiState, cost: Cost) -> None:
    """Time over the number of links, both axes logarithmic."""
    pair = dict(zip(WAYS, colors(ui), strict=False))
    for way in WAYS:
        with style.color(imgui.Col_.text, pair[way]):
            imgui.text("I^A" if way == ARTICULATED else "H")
        imgui.same_line(0, 0.8 * ui.font)
    style.muted(ui, _("time [µs] over links"))
    imgui.set_item_tooltip(_("From the positions of a chain of hinges to Δq\u0307 after an impulse on its last one, on "
                             "this machine"))
    every = np.concatenate([*cost.time.values()])
    implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
    implot.push_style_var(implot.StyleVar_.plot_min_size, (60.0, 60.0))
    if implot.begin_plot("##impact_cost", (-1, -1), PLOT):
        implot.setup_axes("", "", implot.AxisFlags_.no_highlight, implot.AxisFlags_.no_highlight)
        limits = (0.8 * cost.links[0], 1.25 * cost.links[-1]), (0.7 * every.min(), 1.4 * every.max())
        for axis, (least, most) in zip((implot.ImAxis_.x1, implot.ImAxis_.y1), limits, strict=True):
            implot.setup_axis_scale(axis.value, implot.Scale_.log10.value)
            implot.setup_axis_limits(axis.value, float(least), float(most), implot.Cond_.always.value)
        unit, links = ui.preferences.scale, cost.links.astype(np.float64)
        for way, times in cost.time.items():
            implot.plot_line(f"##{way}", links, times, implot.Spec(
                line_color=pair[way], line_weight=1.8 * unit, marker=implot.Marker_.circle, marker_size=3.0 * unit,
                marker_fill_color=pair[way]))
        implot.end_plot()
    implot.pop_style_var(2)
