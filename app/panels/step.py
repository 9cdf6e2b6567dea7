"""Anatomy of the last step of the event-driven method: gaps and forces along each piece, where it was cut and why."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _, ngettext
from ...physics.look.inspection import StepView
from ...physics.look.step_record import Curve, PieceRecord
from ...physics.run.messages import Command, Inspect, Snapshot
from ..ui_state import UiState
from ..view.view_options import Poses
from . import style
from .equations import waiting
from .formula import formula
from .tabs import Tab
from .wrapping import text_wrapped

Send = Callable[[Command], None]
#: why a piece was cut, with the names of the two bodies
REASONS = {
    "gap": N_("the gap φ of {} reached zero: they touch"), "force": N_("the force λ of {} reached zero: it lets go"),
    "cone": N_("the friction of {} reached its cone: slip begins"),
           "slip": N_("the slip of {} came to an end or turned"),
    "moment": N_("the moment of {} reached its bound: it begins to turn"),
    "turning": N_("the turning of {} came to an end or changed its direction"),
    "margin": N_("the contact of {} left its face or edge"), "sink": N_("{} came too close beside the active contacts"),
    "motor": N_("a motor reached its speed, or the limit of what it exerts"),
    "share": N_("{} takes a part of a load that others share"),
}
MOST_FORCES = 6  # forces drawn: the largest ones
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_title)


def draw_step(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    if snapshot is None:
        return
    view = snapshot.inspection.anatomy if snapshot.inspection is not None else None
    if view is None or not view.pieces:
        waiting(ui, snapshot)
        return
    ui.inspector.piece = min(ui.inspector.piece, len(view.pieces) - 1)
    shown = view.pieces[ui.inspector.piece]
    if shown.kind and len(shown.x) == len(snapshot.x):
        ui.view.rejected = Poses(shown.x, shown.q)
    imgui.begin_child("step_pieces", (0.34 * imgui.get_content_region_avail().x, 0))
    _pieces(ui, snapshot, view)
    imgui.end_child()
    imgui.same_line(0, 1.0 * ui.font)
    imgui.begin_child("step_plots")
    _plots(ui, snapshot, view.pieces[ui.inspector.piece])
    imgui.end_child()


def _pieces(ui: UiState, snapshot: Snapshot, view: StepView) -> None:
    """The pieces of the step in words; a click shows one."""
    count = len(view.pieces)
    with style.font(ui, bold=True):
        text_wrapped(ngettext("Step {step}: {start:.4f} … {end:.4f} s, {n} piece",
                              "Step {step}: {start:.4f} … {end:.4f} s, {n} pieces", count).format(
            step=view.step, start=view.t, end=view.t + view.h, n=count))
    formula(ui, r"\varphi_i(t + \delta h),\quad 0 \le \delta \le 1", 15.0)
    for k, piece in enumerate(view.pieces):
        imgui.push_text_wrap_pos(0.0)
        if imgui.selectable(f"{k + 1}.  h = {1e3 * piece.h:.4g} ms##piece_{k}", k == ui.inspector.piece)[0]:
            ui.inspector.piece = k
        style.muted(ui, reason(snapshot, piece), wrap=True)
        imgui.pop_text_wrap_pos()
    if view.pieces[ui.inspector.piece].kind:
        style.muted(ui, _("Translucent in the view: where this piece would have ended without the cut."), wrap=True)
    if view.events:
        imgui.dummy((0, 0.2 * ui.font))
        kinds = ", ".join(_(e.kind.replace("_", " ")) for e in view.events[:12])
        style.muted(ui, _("Events of the step: {kinds}").format(kinds=kinds), wrap=True)


def pair_name(snapshot: Snapshot, curve: Curve) -> str:
    a, b = (snapshot.labels.bodies[k] for k in curve.bodies)
    return f"{a} → {b}"


def reason(snapshot: Snapshot, piece: PieceRecord) -> str:
    """Why and where a piece was cut, in a sentence."""
    if not piece.kind:
        return _("Not cut: nothing became negative.")
    pair = pair_name(snapshot, piece.curves[piece.culprit]) if piece.culprit >= 0 else _("the sticking contacts")
    at = piece.t + piece.cut * piece.h
    return _("Cut at δ = {cut:.6f}, t = {at:.9f} s: {pair}{piece}.").format(cut=piece.cut, at=at,
                                                                            pair=_(REASONS[piece.kind]).format(pair),
                                                                            piece=beyond(piece))


def beyond(piece: PieceRecord) -> str:
    """What a gap or a force would have become at the end of a piece that was cut; "" of other numbers."""
    if piece.culprit < 0 or piece.kind not in ("gap", "force"):
        return ""
    curve = piece.curves[piece.culprit]
    name, unit, values = ("φ", "m", curve.gap) if piece.kind == "gap" else ("λ", "N", curve.force)
    return _("; without the cut {name} would become {values}").format(name=name,
                                                                      values=style.engineering(float(values[-1]), unit))


def _plots(ui: UiState, snapshot: Snapshot, piece: PieceRecord) -> None:
    """φ(δ) of the pairs that are apart, λ(δ) of those in the current set."""
    apart = [(k, c) for k, c in enumerate(piece.curves) if c.watched == "gap"]
    held = [(k, c) for k, c in enumerate(piece.curves) if c.watched == "force"]
    held.sort(key=lambda item: (item[0] != piece.culprit, -float(np.abs(item[1].force).max())))
    held = sorted(held[:MOST_FORCES], key=lambda item: item[0])
    parts = [(apart, _("Gap φ [mm] of pairs apart"), "gap", 1e3)] if apart else []
    parts += [(held, _("Force λ [N] of the current set"), "force", 1.0)] if held else []
    if not parts:
        style.muted(ui, _("No pair is within reach in this piece: free flight."))
        return
    height = imgui.get_content_region_avail().y / len(parts)
    for curves, title, name, factor in parts:
        with style.font(ui, bold=True, size=13.0):
            style.muted(ui, title)
        with style.font(ui, size=13.0):
            _plot(ui, snapshot, piece, curves, name, factor, height - 1.6 * ui.font)


def _plot(
    ui: UiState, snapshot: Snapshot, piece: PieceRecord, curves: list[tuple[int, Curve]], name: str, factor: float,
    height: float,
) -> None:
    c = style.colors(ui)
    implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
    implot.push_style_var(implot.StyleVar_.fit_padding, (0.0, 0.1))
    if implot.begin_plot(f"##{name}_plot", (-1, max(height, 5 * ui.font)), PLOT):
        fit = implot.AxisFlags_.auto_fit | implot.AxisFlags_.no_highlight | implot.AxisFlags_.no_label
        implot.setup_axes("δ", "", fit, fit)
        implot.setup_legend(implot.Location_.north_east)
        palette = (c.kinetic, c.potential, c.spring, c.accent, c.warning, c.danger, c.muted, c.text)
        for n, (k, curve) in enumerate(curves):
            width = (3.0 if k == piece.culprit else 1.5) * ui.preferences.scale
            spec = implot.Spec(line_color=palette[n % len(palette)], line_weight=width)
            values = np.ascontiguousarray(factor * getattr(curve, name))
            implot.plot_line(f"{pair_name(snapshot, curve)}##{name}_{k}", piece.delta, values, spec)
        zero = implot.Spec(line_color=c.muted, line_weight=1.0)
        implot.plot_line("##zero", np.array([0.0, 1.0]), np.zeros(2), zero)
        if piece.kind:
            cut = implot.Spec(line_color=c.danger, line_weight=2.0 * ui.preferences.scale)
            implot.plot_inf_lines("cut", np.array([piece.cut]), cut)
        implot.end_plot()
    implot.pop_style_var(2)


TAB = Tab("step", "Step", draw_step, "Shift+S", lambda ui, _: Inspect("step"))
