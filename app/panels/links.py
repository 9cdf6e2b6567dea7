"""Cost and drift over the number of links: a box with what a study of falling chains has found so far."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _, labelled
from ...physics.run.link_study import KINDS, LINKS
from ...physics.run.messages import Command, LinkPoint, LinkStudy, Snapshot, StudyLinks
from ..ui_state import UiState
from . import style

#: field of LinkPoint, heading, factor to its unit
PLOTS = (
    ("cost", N_("Cost of a step [µs]"), 1e6),
    ("apart", N_("Joints apart, at worst [m]"), 1.0),
    ("astray", N_("Last link astray after 1 s [m]"), 1.0),
)
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_mouse_text | implot.Flags_.no_title
        | implot.Flags_.no_legend)


def draw_links(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The contents of the box: what it is about, the plots, and how to go on."""
    found = snapshot.links or LinkStudy(snapshot.settings, (), running=False)
    s = found.settings
    with style.font(ui, bold=True, size=20.0):
        imgui.text(_("Over the number of links"))
    style.muted(ui,
                _("Chains of rods are held level and let go for a second: the positions of the joints as the state, "
                    "or hinges as constraints on the rods, with each cure of their drift. "
                    "{method}, {integrator}, h = 1/{h:.4g} s.").format(
                    method=_(s.method.replace("_", " ")), integrator=_(s.integrator.replace("_", " ")), h=1.0 / s.h),
                wrap=True)
    _legend(ui)
    width = (imgui.get_content_region_avail().x - 2 * imgui.get_style().item_spacing.x) / len(PLOTS)
    for k, (name, title, factor) in enumerate(PLOTS):
        if k:
            imgui.same_line()
        imgui.begin_child(f"links_{name}", (width, 17 * ui.font), 0, imgui.WindowFlags_.no_scrollbar)
        with style.font(ui, bold=True, size=13.0), style.color(imgui.Col_.text, style.colors(ui).muted):
            imgui.text(_(title))
        with style.font(ui, size=13.0):
            _plot(ui, found.points, name, factor)
        imgui.end_child()
    if found.running:
        share = len(found.points) / (len(KINDS) * len(LINKS))
        imgui.progress_bar(share, (12 * ui.font, imgui.get_frame_height()), "")
        imgui.same_line()
        if imgui.button(labelled("Stop##links")):
            send(StudyLinks(False))
    elif imgui.button(labelled("Measure again##links")):
        send(StudyLinks())
    imgui.same_line()
    if imgui.button(labelled("Close##links")):
        ui.links = False


def colors_of_kinds(ui: UiState) -> tuple[style.Color, ...]:
    """In the order of KINDS."""
    c = style.colors(ui)
    return c.text, c.danger, c.kinetic, c.potential


def title_of(coordinates: str, cure: str) -> str:
    coordinates = {"generalized": N_("generalized"), "maximal": N_("maximal")}[coordinates]
    if not cure:
        return _("{coordinates}: joints cannot come apart").format(coordinates=_(coordinates))
    return f"{_(coordinates)}, " + _({"none": N_("no cure"), "baumgarte": "Baumgarte"}.get(cure, cure))


def series(points: tuple[LinkPoint, ...], coordinates: str, cure: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Links and values of one kind that a logarithmic axis can show."""
    rows = np.array([(p.links, getattr(p, name)) for p in points if (p.coordinates, p.cure) == (coordinates, cure)])
    rows = rows.reshape(-1, 2)
    rows = rows[rows[:, 1] > 0.0]  # not NaN either
    return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])


def _legend(ui: UiState) -> None:
    for k, ((coordinates, cure), color) in enumerate(zip(KINDS, colors_of_kinds(ui), strict=True)):
        if k:
            imgui.same_line(0, 1.2 * ui.font)
        with style.color(imgui.Col_.text, color):
            imgui.text("\uf111")
        imgui.same_line(0, 0.4 * ui.font)
        imgui.text(title_of(coordinates, cure))


def _plot(ui: UiState, points: tuple[LinkPoint, ...], name: str, factor: float) -> None:
    """Both axes logarithmic, with room about the points; implot's own fit leaves it in linear measure, down to 0."""
    curves = [series(points, coordinates, cure, name) for coordinates, cure in KINDS]
    values = factor * np.concatenate([values for _, values in curves])
    low, high = (0.5 * values.min(), 2.0 * values.max()) if len(values) else (0.1, 10.0)
    implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
    if implot.begin_plot(f"##links_{name}", (-1, -1), PLOT):
        implot.setup_axes(_("links"), "", implot.AxisFlags_.no_highlight,
                          implot.AxisFlags_.no_highlight | implot.AxisFlags_.no_label)
        for axis, limits in ((implot.ImAxis_.x1, (0.8, 70.0)), (implot.ImAxis_.y1, (low, high))):
            implot.setup_axis_scale(axis.value, implot.Scale_.log10.value)
            implot.setup_axis_limits(axis.value, *limits, implot.Cond_.always.value)
        implot.setup_axis_ticks(implot.ImAxis_.x1.value, [1.0, 2.0, 5.0, 10.0, 20.0, 50.0],
                                ["1", "2", "5", "10", "20", "50"], False)
        unit = ui.preferences.scale
        for (coordinates, cure), color, (links, values) in zip(KINDS, colors_of_kinds(ui), curves, strict=True):
            if len(links):
                spec = implot.Spec(line_color=color, line_weight=1.8 * unit, marker=implot.Marker_.circle,
                                   marker_size=3.0 * unit, marker_fill_color=color)
                implot.plot_line(title_of(coordinates, cure), links, factor * values, spec)
        implot.end_plot()
    implot.pop_style_var()
