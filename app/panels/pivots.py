"""A solver's way to its answer, step by step on the frozen problem: sets and forces change in matrix and view."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _
from ...physics.look.inspection import EquationsView
from ...physics.run.messages import Command, Inspect, Snapshot
from .. import inspected
from ..ui_state import UiState
from . import style
from .equations import TABLE, draw_beside_matrix
from .tabs import Tab
from .wrapping import text_wrapped

Send = Callable[[Command], None]
NOTES = N_("driving contact"), N_("in order")  # of steps of Dantzig's solver; a contact's number follows


def draw_pivots(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    draw_beside_matrix(ui, snapshot, "pivots_side", _side)


def move(ui: UiState, snapshot: Snapshot, by: int) -> None:
    """Go some steps of the solver on or back."""
    view = inspected.equations(ui, snapshot)
    if view is not None:
        ui.inspector.pivot = min(max(ui.inspector.pivot + by, 0), len(view.steps))


def _side(ui: UiState, snapshot: Snapshot, view: EquationsView) -> None:
    inspector, last = ui.inspector, len(view.steps)
    inspector.pivot = min(inspector.pivot, last)
    for name, icon, tip, by in (
        ("first_pivot", "\uf049", _("To the start"), -last),
                                ("pivot_back", "\uf048", _("One step back  (Shift+←)"), -1),
        ("pivot_on", "\uf051", _("One step on  (Shift+→)"), 1), ("last_pivot", "\uf050", _("To the end"), last),
    ):
        if style.icon_button(ui, name, icon, tip):
            move(ui, snapshot, by)
        imgui.same_line(0, 0.2 * ui.font)
    imgui.set_next_item_width(max(imgui.get_content_region_avail().x - 5.0 * ui.font, 4.0 * ui.font))
    changed, value = style.slider("pivot", float(inspector.pivot), 0.0, float(max(last, 1)), "%.0f", ui)
    if changed:
        inspector.pivot = min(round(value), last)
    imgui.same_line(0, 0.4 * ui.font)
    imgui.align_text_to_frame_padding()
    imgui.text(f"{inspector.pivot} / {last}")
    with style.font(ui, bold=True):
        text_wrapped(sentence(view, inspector.pivot))
    style.muted(ui, progress(ui, view), wrap=True)
    _table(ui, view)


def sentence(view: EquationsView, pivot: int) -> str:
    """What the step did."""
    if not pivot:
        return _("Start: no force, ζ̇ = d.")
    step = view.steps[pivot - 1]
    moves = [f"{few(names)} {verb}" for names, verb in ((step.entering, _("in")), (step.leaving, _("out"))) if names]
    return ", ".join(moves + ([noted(step.note)] if step.note else [])) or _("Nothing changes.")


def noted(note: str) -> str:
    """What a solver notes of a step, in the language that is shown."""
    words, space, number = note.rpartition(" ")
    return f"{_(words)}{space}{number}" if words in NOTES else _(note)


def few(names: str) -> str:
    """ "λ6 λ8 λ10 …(76)" for a long list of names."""
    parts = names.split()
    return names if len(parts) <= 4 else " ".join(parts[:3]) + f" … ({len(parts)})"


def progress(ui: UiState, view: EquationsView) -> str:
    """How far the forces shown are from an answer."""
    lam, active = inspected.shown_forces(ui, view)
    zeta = view.problem.M @ lam + view.problem.d
    size = float(np.abs(view.problem.d).max(initial=0.0)) or 1.0
    pressing, pulling = int((zeta < -1e-7 * size).sum()), int((lam < -1e-9 * max(np.abs(lam).max(), 1e-300)).sum())
    text = _("{sum} active, smallest ζ̇ {min} m/s²").format(sum=int(active.sum()), min=short_number(float(zeta.min())))
    if pressing:
        text += _(", {pressing} still press into each other").format(pressing=pressing)
    if pulling:
        text += _(", {pulling} pull").format(pulling=pulling)
    return text + ("." if pressing or pulling else _(": an answer."))


def short_number(value: float) -> str:
    return "0" if abs(value) < 1e-9 else f"{value:.3g}"


def _table(ui: UiState, view: EquationsView) -> None:
    """All steps; a click goes there."""
    with style.font(ui, size=14.0):
        if not imgui.begin_table("pivot_steps", 5, TABLE):
            return
        imgui.table_setup_scroll_freeze(0, 1)
        for heading, width in ((_("Step"), 2.3), (_("In"), 3.0), (_("Out"), 3.0), ("|B|", 2.0), ("", 0.0)):
            flags = imgui.TableColumnFlags_.width_fixed if width else imgui.TableColumnFlags_.width_stretch
            imgui.table_setup_column(heading, flags, width * ui.font)
        imgui.table_headers_row()
        for k, step in enumerate(view.steps, 1):
            imgui.table_next_row()
            imgui.table_next_column()
            if imgui.selectable(f"{k}##pivot_{k}", k == ui.inspector.pivot,
                                imgui.SelectableFlags_.span_all_columns)[0]:
                ui.inspector.pivot = k
            for text in (few(step.entering), few(step.leaving), str(len(step.basic)), noted(step.note)):
                imgui.table_next_column()
                imgui.text(text)
        imgui.end_table()


TAB = Tab("pivots", "Pivots", draw_pivots, "Shift+P",
          lambda ui, _: Inspect("pivots", ui.inspector.solver, ui.inspector.problem))
