"""The equations of the contacts that rest: the matrix equation, every solver's answer, one contact with its numbers,
what the forces leave open, and Baraff's A f + b."""

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled, ngettext
from ...physics.core.model import Array
from ...physics.look.inspection import MOST_RANGED, EquationsView
from ...physics.run.messages import Command, Inspect, Snapshot
from ...physics.solvers import LCP_SOLVERS
from .. import inspected
from ..ui_state import UiState
from . import style
from .explained import draw_baraff, draw_contact, pair_name
from .matrix import draw_matrix, short
from .moments import draw_moments
from .tabs import Tab
from .wrapping import text_wrapped

Send = Callable[[Command], None]
PAGES = {"answers": N_("Answers"), "forces": "λ", "contact": N_("Contact"), "freedom": N_("What is open"),
         "moments": N_("Moments"), "baraff": "A f + b"}
TABLE = (
    imgui.TableFlags_.row_bg | imgui.TableFlags_.no_saved_settings | imgui.TableFlags_.borders_inner_h
    | imgui.TableFlags_.no_borders_in_body | imgui.TableFlags_.scroll_y
)
MATRIX_SHARE = 0.6  # of the panel's width
LEAST_WIDTH = 40.0  # [font heights] of matrix and side together
NARROW = 32.0       # [font heights] up to this width the bar has two lines
STATUS = {"solved": N_("solved"), "infeasible": N_("no solution"), "iterations": N_("stopped"),
          "stuck": N_("no answer"), "ray": N_("no answer"), "unsymmetric": N_("M unsymmetric"), "glued": N_("glued"),
          "redundant": N_("redundant"), "inconsistent": N_("inconsistent")}
SHORT = {"pgs": N_("PGS"), "newton": N_("Newton"), "nsgs": N_("NSGS"), "interior_point": N_("Interior pt"),
         "block_pivot": N_("Blocks"),
         "lemke": N_("Lemke"), "dantzig": N_("Dantzig"), "qp_force": N_("QP in λ"), "qp_acceleration": N_("QP in q̈"),
         "gauss_seidel": N_("Glue")}


def draw_equations(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    draw_beside_matrix(ui, snapshot, "equations_side", _side)


def draw_beside_matrix(
    ui: UiState, snapshot: Snapshot | None, name: str, side: Callable[[UiState, Snapshot, EquationsView], None]
) -> None:
    """The solver and what the problem is like, the matrix equation on the left and `side` on the right."""
    if snapshot is None:
        return
    view = inspected.equations(ui, snapshot)
    draw_bar(ui, snapshot, view)
    if view is None:
        waiting(ui, snapshot)
        return
    with style.room(ui, f"{name}_room", LEAST_WIDTH):
        _matrix_and(ui, snapshot, view, name, side)


def _matrix_and(ui: UiState, snapshot: Snapshot, view: EquationsView, name: str,
                side: Callable[[UiState, Snapshot, EquationsView], None]) -> None:
    lam, active = inspected.shown_forces(ui, view)
    names = contact_names(snapshot, view)
    width = MATRIX_SHARE * imgui.get_content_region_avail().x
    no_wheel = imgui.WindowFlags_.no_scroll_with_mouse | imgui.WindowFlags_.no_scrollbar
    imgui.begin_child("matrix_area", (width, 0), 0, no_wheel)
    hovered = draw_matrix(ui, view.problem.M, view.problem.d, lam, active, names)
    imgui.end_child()
    if hovered >= 0 and view.contacts is not None:
        ui.hovered_key, ui.hover_from_view = int(view.contacts.key[hovered]), False
    elif not ui.hover_from_view:
        ui.hovered_key = None
    imgui.same_line(0, 1.2 * ui.font)
    imgui.begin_child(name)
    side(ui, snapshot, view)
    imgui.end_child()


def waiting(ui: UiState, snapshot: Snapshot) -> None:
    """Why there is nothing to see."""
    inspection = snapshot.inspection
    style.muted(ui, _(inspection.note) if inspection is not None and inspection.note else _("Looking …"), wrap=True)


def contact_names(snapshot: Snapshot, view: EquationsView) -> list[str]:
    """ "a → b" of every contact."""
    if view.contacts is None:
        return [_("contact {i}").format(i=i + 1) for i in range(len(view.problem.d))]
    return [pair_name(snapshot, view.contacts, k) for k in range(len(view.contacts.key))]


# -------------------------------------------------------------------------------------------------- the bar


def draw_bar(ui: UiState, snapshot: Snapshot, view: EquationsView | None) -> None:
    """The solver, what the problem is like, and its file."""
    inspector = ui.inspector
    imgui.align_text_to_frame_padding()
    imgui.text(_("Solver"))
    imgui.same_line(0, 0.5 * ui.font)
    imgui.set_next_item_width(11.5 * ui.font)
    if imgui.begin_combo("##lcp_solver", _(LCP_SOLVERS[inspector.solver].title)):
        for name, solver in LCP_SOLVERS.items():
            if imgui.selectable(labelled(solver.title), name == inspector.solver)[0]:
                inspector.solver, inspector.pivot, inspector.shift = name, 0, {}
        imgui.end_combo()
    wide = imgui.get_window_width() > NARROW * ui.font
    if view is not None:
        imgui.same_line(0, 0.9 * ui.font)
        imgui.align_text_to_frame_padding()
        with style.font(ui, size=14.0):
            room = imgui.get_content_region_avail().x - (15.0 * ui.font if wide else 0.0)
            imgui.text(style.clipped_text(facts(view), room))
        imgui.set_item_tooltip(
            _("c: contacts that rest.  rank: independent normals.  |B|: contacts in the basis B of the answer.\n"
            "κ: condition number of M_BB, scaled to a unit diagonal.  residual: natural map, 0 at a solution.\n"
            "Friction forces are held as the method found them: d = d_n + M_nt f_t; moments against turning too: "
            "+ M_nm m."))
    if wide:
        imgui.same_line(imgui.get_window_width() - 14.2 * ui.font)
    _file(ui, view)


def facts(view: EquationsView) -> str:
    """The problem in one line."""
    chosen = view.answers[view.chosen]
    rank = "" if view.rank is None else _("rank {rank}   ").format(rank=view.rank)
    condition = "" if np.isnan(view.condition) else f"κ {view.condition:.3g}   " if view.condition < 1e14 else "κ ∞   "
    steps = chosen.pivots or chosen.iterations
    pivots = (_("{n} pivots") if chosen.pivots else _("{n} iterations")).format(n=steps)
    return (_("c = {d}   {rank}|B| {basic}   {condition}"
            "{status}   residual {residual:.1e}   {pivots}").format(d=len(view.problem.d), rank=rank,
                                                                    basic=len(chosen.basic), condition=condition,
                                                                    status=_(STATUS.get(chosen.status, chosen.status)),
                                                                    residual=chosen.residual, pivots=pivots))


def _file(ui: UiState, view: EquationsView | None) -> None:
    """Whether the view shows these forces; save and open."""
    inspector = ui.inspector
    inspector.arrows = imgui.checkbox(labelled("In the view"), inspector.arrows)[1]
    imgui.set_item_tooltip(_("While paused, the arrows in the view are the forces λ shown here"))
    imgui.same_line(0, 0.6 * ui.font)
    if style.icon_button(ui, "save_problem", "\uf0c7", _("Save this problem to a file (M, d)")) and view is not None:
        ui.request("save_problem", view.problem)
    imgui.same_line(0, 0.2 * ui.font)
    if style.icon_button(ui, "open_problem", "\uf07c", _("Open a problem from a file (.npz)")):
        ui.request("open_file")
    if inspector.problem is not None:
        imgui.same_line(0, 0.2 * ui.font)
        tip = _("{problem}: back to the scene").format(problem=inspector.problem_name)
        if style.icon_button(ui, "close_problem", "\uf00d", tip, on=True):
            inspector.problem, inspector.problem_name = None, ""


# -------------------------------------------------------------------------------------------------- the side


def _side(ui: UiState, snapshot: Snapshot, view: EquationsView) -> None:
    there = {"baraff": view.baraff is not None, "moments": view.moments is not None}
    pages = {page: (title, "") for page, title in PAGES.items() if there.get(page, True)}
    shown = ui.inspector.page if ui.inspector.page in pages else next(iter(pages))
    page = style.tabs(ui, "page", pages, shown, imgui.get_content_region_avail().x)
    if page != shown:  # one that has nothing to show at this instant is not forgotten
        ui.inspector.page = page
    imgui.new_line()
    if page == "contact":
        draw_contact(ui, snapshot, view, *inspected.shown_forces(ui, view))
    elif page == "forces":
        with style.font(ui, size=14.0):
            draw_forces(ui, view)
    elif page == "freedom":
        draw_freedom(ui, view)
    elif page == "baraff" and view.baraff is not None:
        draw_baraff(ui, snapshot, view)
    elif page == "moments":
        draw_moments(ui, snapshot, view, TABLE)
    else:
        draw_answers(ui, view)


def draw_answers(ui: UiState, view: EquationsView) -> None:
    """How all solvers fared."""
    with style.font(ui, size=14.0):
        widths = (4.6, 4.4, 2.5, 1.9, 3.8, 3.4)
        if style.table(ui, "answers", widths, TABLE):
            imgui.table_setup_scroll_freeze(1, 1)
            style.columns(ui, (_("Solver"), _("Status"), _("Steps"), "|B|", _("Residual"),
                               f"λ {ui.inspector.row + 1} [N]"), widths)
            imgui.table_headers_row()
            for k, a in enumerate(view.answers):
                _answer_row(ui, k == view.chosen, a.name, (
                    _(SHORT.get(a.name, a.title)), _(STATUS.get(a.status, a.status)), str(a.pivots or a.iterations),
                    str(len(a.basic)), f"{a.residual:.1e}",
                    short(float(a.lam[ui.inspector.row]), float(np.abs(a.lam).max()))))
            imgui.end_table()
        if len(view.answers) == 1:
            style.muted(ui, _("Pause to compare all solvers."))


def _answer_row(ui: UiState, chosen: bool, name: str, cells: tuple[str, ...]) -> None:
    imgui.table_next_row()
    for k, text in enumerate(cells):
        imgui.table_next_column()
        if k == 0:
            if imgui.selectable(f"{text}##answer_{name}", chosen, imgui.SelectableFlags_.span_all_columns)[0]:
                ui.inspector.solver, ui.inspector.pivot, ui.inspector.shift = name, 0, {}
        elif k == 1 and text != _("solved"):
            with style.color(imgui.Col_.text, style.colors(ui).warning):
                imgui.text(f"\uf071 {text}")
        else:
            imgui.text(text)


def draw_forces(ui: UiState, view: EquationsView) -> None:
    """One row a contact: λ of every solver and of the method; those off the chosen one's in the warning colour."""
    c = style.colors(ui)
    columns: list[tuple[str, Array]] = [(_(SHORT.get(a.name, a.name)), a.lam) for a in view.answers]
    columns.append((_("Method"), view.method))
    chosen = view.answers[view.chosen].lam
    top = float(np.abs(chosen).max(initial=0.0)) or 1.0
    if not imgui.begin_table("side_by_side", len(columns) + 1, TABLE | imgui.TableFlags_.scroll_x):
        return
    imgui.table_setup_scroll_freeze(1, 1)
    for heading in ("[N]", *(name for name, _lam in columns)):
        imgui.table_setup_column(heading, imgui.TableColumnFlags_.width_fixed, 2.0 * ui.font if heading == "[N]" else
                                 3.6 * ui.font)
    imgui.table_headers_row()
    clipper = imgui.ListClipper()
    clipper.begin(len(chosen))
    while clipper.step():
        for i in range(clipper.display_start, clipper.display_end):
            imgui.table_next_row()
            imgui.table_next_column()
            if imgui.selectable(f"{i + 1}##lam_{i}", i == ui.inspector.row,
                                imgui.SelectableFlags_.span_all_columns)[0]:
                ui.inspector.row = ui.inspector.column = i
            for _name, lam in columns:
                imgui.table_next_column()
                value = float(lam[i])
                if np.isnan(value):
                    style.muted(ui, "–")
                    continue
                off = abs(value - chosen[i]) > 1e-6 * top
                with style.color(imgui.Col_.text, c.warning if value < -1e-9 * top else c.text if not off else c.muted):
                    imgui.text(short(value, top))
    clipper.end()
    imgui.end_table()


# ---------------------------------------------------------------------------------------- what the forces leave open


def draw_freedom(ui: UiState, view: EquationsView) -> None:
    """A slider for each force that the equations leave free. The other forces follow; the motion stays the same."""
    free, chosen = view.freedom, view.answers[view.chosen]
    if free is None:
        known = view.rank is not None and chosen.status == "solved"
        style.muted(ui, _("The normals of the contacts that carry are independent: λ is unique.") if known else
                    _("No solution, so nothing is open.") if chosen.status != "solved" else _("Pause to see it."),
                    wrap=True)
        return
    m = len(free.parameters)
    text_wrapped(ngettext(
        "ζ̇ and T λ are unique, λ is not: {m} force can be chosen freely within limits. The motion stays the same.",
        "ζ̇ and T λ are unique, λ is not: {m} forces can be chosen freely within limits. The motion stays the same.",
        m).format(m=m))
    t = inspected.shifts(ui, free)
    if imgui.button(labelled("As solved##freedom")):
        ui.inspector.shift = {}
    imgui.set_item_tooltip(_("The basic solution of {title}: contacts outside its basis carry "
                             "nothing").format(title=_(chosen.title)))
    imgui.same_line(0, 0.3 * ui.font)
    if imgui.button(labelled("Of all possible: the least##freedom")):
        ui.inspector.shift = dict(zip(free.parameters.tolist(),
                                      (free.shortest - chosen.lam)[free.parameters].tolist(), strict=True))
    imgui.set_item_tooltip(_("Least |λ|: the forces of contacts that are all alike a little elastic. The method "
                           "event_driven takes these"))
    if np.isfinite(view.method).all():
        imgui.same_line(0, 0.3 * ui.font)
        if imgui.button(labelled("As the method##freedom")):
            ui.inspector.shift = dict(zip(free.parameters.tolist(),
                                          (view.method - chosen.lam)[free.parameters].tolist(), strict=True))
        imgui.set_item_tooltip(_("What the running method found, within its residual"))
    for k, j in enumerate(free.parameters.tolist()):
        _force_slider(ui, view, t, k, j)
    _force_ranges(ui, view)


def _force_ranges(ui: UiState, view: EquationsView) -> None:
    """For each force that is not unique: its range over all solutions, with marks for the values of the method, the
    solvers and the sliders."""
    free, chosen = view.freedom, view.answers[view.chosen]
    if free is None:
        return
    if free.ranges is None:
        style.muted(ui,
                    _("The range of each force over all solutions: paused, up to {MOST_RANGED} "
                      "contacts.").format(MOST_RANGED=MOST_RANGED), wrap=True)
        return
    low, high = free.ranges.T
    largest = float(np.max(np.where(np.isfinite(high), high, np.abs(chosen.lam)), initial=0.0)) or 1.0
    rows = np.flatnonzero(high - low > 1e-9 * largest)
    shown = np.maximum(chosen.lam + free.directions @ inspected.shifts(ui, free), 0.0)
    if not imgui.begin_table("ranges", 3, TABLE & ~imgui.TableFlags_.scroll_y):
        return
    imgui.table_setup_column("λ [N]", imgui.TableColumnFlags_.width_fixed, 4.2 * ui.font)
    imgui.table_setup_column(_("In all solutions"), imgui.TableColumnFlags_.width_fixed, 6.6 * ui.font)
    imgui.table_setup_column(f"0 … {style.engineering(largest, 'N')}")
    imgui.table_headers_row()
    for j in rows.tolist():
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.text(f"{j + 1}:  {shown[j]:.4g}")
        imgui.table_next_column()
        least = low[j] if low[j] > 1e-9 * largest else 0.0
        imgui.text(f"{least:.4g} … " + (f"{high[j]:.4g}" if np.isfinite(high[j]) else "any"))
        imgui.table_next_column()
        _range_bar(ui, view, j, largest, float(shown[j]))
    imgui.end_table()
    line = _(" Line: the method.") if np.isfinite(view.method).all() else ""
    style.muted(ui,
                _("Bar: admissible.{line} Ticks: the solvers. Dot: here, from {title} on.").format(line=line,
                                                                                                   title=_(chosen.title)),
                wrap=True)


def _range_bar(ui: UiState, view: EquationsView, j: int, top: float, shown: float) -> None:
    """The admissible range of contact j as a bar on 0 … top."""
    assert view.freedom is not None and view.freedom.ranges is not None
    low, high = np.clip(view.freedom.ranges[j], 0.0, top)
    x, y = imgui.get_cursor_screen_pos()
    draw, c, tall = imgui.get_window_draw_list(), style.colors(ui), imgui.get_text_line_height()
    width = imgui.get_content_region_avail().x - 0.6 * ui.font

    def at(force: float) -> float:
        return x + 0.3 * ui.font + width * min(max(force / top, 0.0), 1.0)

    draw.add_rect_filled((at(low), y + 0.3 * tall), (at(high), y + 0.7 * tall), style.u32(c.muted, 0.35), 0.2 * tall)
    for a in view.answers:
        if a.status == "solved":
            draw.add_line((at(a.lam[j]), y + 0.3 * tall), (at(a.lam[j]), y + 0.7 * tall), style.u32(c.warning), 2.0)
    if np.isfinite(view.method[j]):
        draw.add_line((at(view.method[j]), y), (at(view.method[j]), y + tall), style.u32(c.text), 2.0)
    draw.add_circle_filled((at(shown), y + 0.5 * tall), 0.26 * tall, style.u32(c.accent))
    imgui.dummy((width, tall))
    if imgui.is_item_hovered():
        own = _("\nMethod: {method:.6g} N").format(method=view.method[j]) if np.isfinite(view.method[j]) else ""
        solved = [a for a in view.answers if a.status == "solved"]
        imgui.set_tooltip("\n".join(f"{_(a.title)}: {a.lam[j]:.6g} N" for a in solved) + own)


def _force_slider(ui: UiState, view: EquationsView, t: Array, k: int, j: int) -> None:
    """The force of contact j within its limits, with a mark for each solver's answer."""
    free, lam = view.freedom, view.answers[view.chosen].lam
    assert free is not None
    low, high = inspected.limits(lam, free, t, k)
    top = 2.0 * float(np.abs(view.problem.d / np.maximum(np.diagonal(view.problem.M), 1e-300)).max())
    high = min(high, top)
    force = float(lam[j] + t[k])
    imgui.text(f"λ {j + 1}")
    imgui.same_line(3.2 * ui.font)
    with style.font(ui, bold=True):
        imgui.text(style.engineering(max(force, 0.0), "N"))
    imgui.same_line(8.0 * ui.font)
    upper = "any" if not np.isfinite(high) else style.engineering(float(lam[j]) + high, "N")
    style.muted(ui, f"{style.engineering(max(float(lam[j]) + low, 0.0), 'N')} … {upper}")
    if high - low <= 1e-9 * max(top, 1e-9):
        imgui.same_line()
        style.muted(ui, _("fixed by the other sliders"))
        return
    x, y = imgui.get_cursor_screen_pos()
    width = imgui.get_content_region_avail().x - 0.5 * ui.font
    imgui.set_next_item_width(width)
    changed, value = style.slider(f"open_{j}", float(np.clip(t[k], low, high)), low, high, "%.3f", ui)
    if changed:
        ui.inspector.shift[j] = value
    draw, c = imgui.get_window_draw_list(), style.colors(ui)
    knob = 0.38 * ui.font
    for a in view.answers:
        share = (float(a.lam[j] - lam[j]) - low) / (high - low)
        if a.status == "solved" and -1e-6 <= share <= 1 + 1e-6:
            at = x + knob + share * (width - 2 * knob)
            draw.add_line((at, y + 0.05 * ui.font), (at, y + 0.45 * ui.font), style.u32(c.warning), 2.0)
    if imgui.is_item_hovered():
        same = [_(a.title) for a in view.answers if a.status == "solved"
                and abs(float(a.lam[j] - lam[j] - t[k])) < 1e-6 * top]
        imgui.set_tooltip(_("Marks: the solvers' answers.") + (_("\nHere: {same}").format(same=', '.join(same)) if same
                                                               else ""))


TAB = Tab("equations", "Equations", draw_equations, "E",
          lambda ui, _: Inspect("equations", ui.inspector.solver, ui.inspector.problem))
