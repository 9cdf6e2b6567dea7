"""Moments of contacts against spinning and rolling: equations, law and numbers, at an instant and in an impact."""

from collections.abc import Sequence

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _
from ...physics.core.model import Array
from ...physics.look.inspection import EquationsView, ImpactView
from ...physics.look.moments import MomentsView, scale_of, turns
from ...physics.problem.contact_snapshot import Moments
from ...physics.problem.turning_rows import SPIN
from ...physics.run.messages import Snapshot
from ..ui_state import UiState
from . import style
from .explained import pair_name
from .formula import formula, number, signed
from .maps import Map, draw_maps

ROUNDING = 1e-12  # of the products that an acceleration consists of: what is written as 0
AT_BOUND = 1e-9  # of the bound, by which a moment may miss it and be at it
SMALL = 1e-9     # angular velocity that is none, relative to the fastest [rad/s]
KINDS = (N_("spin, along n"), N_("roll, across n"))
WIDTHS = (5.0, 5.2, 3.5, 3.6, 3.8, 3.6, 4.0, 3.5)
MAPS = 12.0      # height of the matrices [font heights]


def draw_moments(ui: UiState, snapshot: Snapshot, view: EquationsView, flags: int) -> None:
    """All moments with their law; of the chosen contact the equation and its rows of J and M."""
    assert view.moments is not None
    moments = view.moments
    held = _("As the method found them; d of the normal equations contains them: d = d_n + M_nt f_t + M_nm m.")
    style.muted(ui, held, wrap=True)
    formula(ui, r"\alpha = M_{mn}\lambda + M_{mt} f_t + M_{mm} m + d_m,\qquad M_{mn} = J_m H^{-1} T", 15.0)
    formula(ui, r"|m_\psi| \le \ell_\psi\lambda,\quad |m_r| \le \ell_r\lambda;\qquad "
                r"\omega = 0\ \vee\ m = -\ell\lambda\,\omega/|\omega|", 15.0)
    with style.font(ui, size=14.0):
        _table(ui, snapshot, moments, flags)
    _chosen(ui, snapshot, moments)


def _table(ui: UiState, snapshot: Snapshot, moments: MomentsView, flags: int) -> None:
    k, contacts = len(moments.bound), moments.contacts
    tall = (min(k, 8) + 1.6) * imgui.get_text_line_height_with_spacing()
    if not style.table(ui, "moments", WIDTHS, flags, tall):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    style.columns(ui, (_("Contact"), _("Turning"), "ω [rad/s]", "α [rad/s²]", "m [N m]", "ℓ λ [N m]", _("State"),
                       _("Residual")), WIDTHS)
    imgui.table_headers_row()
    states = states_of(moments)
    for i in range(k):
        bearer, kind = int(moments.rows.borne.bearer[i]), int(moments.rows.borne.kind[i]) - SPIN
        alpha = size_of(moments.alpha[i], kind)
        cells = (size_of(moments.omega[i], kind), alpha if abs(alpha) > ROUNDING * moments.size else 0.0,
                 size_of(moments.moment[i], kind), float(moments.bound[i]))
        imgui.table_next_row()
        imgui.table_next_column()
        if imgui.selectable(f"{bearer + 1}:  {pair_name(snapshot, contacts, bearer)}##moment_{i}",
                            bearer == ui.inspector.row, imgui.SelectableFlags_.span_all_columns)[0]:
            ui.inspector.row = ui.inspector.column = bearer
        if imgui.is_item_hovered():
            ui.hovered_key, ui.hover_from_view = int(contacts.key[bearer]), False
        imgui.table_next_column()
        imgui.text(_(KINDS[kind]))
        for value in cells:
            imgui.table_next_column()
            imgui.text(_short(value))
        imgui.table_next_column()
        imgui.text(_(states[i]))
        imgui.table_next_column()
        imgui.text("–" if np.isnan(moments.residual[i]) else f"{moments.residual[i]:.1e}")
    imgui.end_table()
    if np.isnan(moments.residual).all():
        soft = _("Compliant surfaces: m = -D ω within the bound, so it has no residual of this law.")
        style.muted(ui, soft, wrap=True)


def states_of(moments: MomentsView) -> list[str]:
    """What each moment does."""
    turning, size = np.linalg.norm(moments.omega, axis=1), np.linalg.norm(moments.moment, axis=1)
    still = turning <= SMALL * max(float(turning.max(initial=0.0)), 1.0)
    return [N_("no load") if bound == 0.0 else N_("holds") if rests and m < bound * (1.0 - AT_BOUND) else
            N_("gives way") if rests else N_("opposes") if m >= bound * (1.0 - AT_BOUND) else N_("ends it")
            for bound, rests, m in zip(moments.bound.tolist(), still.tolist(), size.tolist(), strict=True)]


def size_of(values: Array, kind: int) -> float:
    """Of a vector (2,): its part along the normal with its sign, or its size across."""
    return float(values[0]) if kind == 0 else float(np.hypot(*values))


def _short(value: float) -> str:
    return "0" if abs(value) < 5e-13 else f"{value:.4g}"


def _chosen(ui: UiState, snapshot: Snapshot, moments: MomentsView) -> None:
    """The equations of what the chosen contact bears, with numbers, and their rows of J and M."""
    borne = moments.rows.borne
    chosen = ui.inspector.row if ui.inspector.row in borne.bearer else int(borne.bearer[0])
    blocks = np.flatnonzero(borne.bearer == chosen).tolist()
    with style.font(ui, bold=True):
        imgui.text(_("Contact {i}").format(i=chosen + 1) + f":  {pair_name(snapshot, moments.contacts, chosen)}")
    rows = [(i, j) for i in blocks for j in range(1 if borne.kind[i] == SPIN else 2)]
    rounding = ROUNDING * moments.size
    for i, j in rows:
        first, *rest, total = (0.0 if abs(part) <= rounding else part
                               for part in (*moments.parts[:, i, j].tolist(), float(moments.alpha[i, j])))
        formula(ui, rf"\alpha_{{{axis_name(moments.rows, i, j, True)}}} = {number(first)} "
                    + " ".join(signed(part) for part in rest) + rf" = {number(total)}\ \mathrm{{rad/s^2}}", 15.0)
    imgui.begin_child("moment_maps", (0.0, MAPS * ui.font))
    draw_maps(ui, "moments", maps_of(snapshot, moments, rows))
    imgui.end_child()


def axis_name(rows: Moments, i: int, j: int, latex: bool = False) -> str:
    """ "ψ" for spinning, "r1" and "r2" for rolling about both tangents."""
    spins = rows.borne.kind[i] == SPIN
    if latex:
        return r"\psi" if spins else f"r{j + 1}"
    return "ψ" if spins else f"r{j + 1}"


def maps_of(snapshot: Snapshot, moments: MomentsView, chosen: Sequence[tuple[int, int]]) -> list[Map]:
    """J and M of the rows (block, axis) that are chosen, where these have anything, and what M is multiplied with."""
    rows, contacts, c = moments.rows, moments.contacts, len(moments.contacts.key)
    at = np.array([turns(rows)[i, j] for i, j in chosen])
    scale = scale_of(rows)
    J, M = scale[at, None] * rows.T[at], scale[at, None] * rows.M[at] * scale
    columns, forces = np.flatnonzero(np.abs(J).any(axis=0)), np.flatnonzero(np.abs(M).any(axis=0))
    names = [_("moment {name}").format(name=axis_name(rows, i, j)) for i, j in chosen]
    velocity = velocity_names(snapshot, moments)

    def force_name(r: int) -> tuple[str, str]:
        """What row r of all is, and the unit of its entries in M."""
        k, i = divmod(r, 3)
        if k < c:
            return f"{('λ', 'f_t1', 'f_t2')[i]} {k + 1}:  {pair_name(snapshot, contacts, k)}", "1/(kg m)"
        bearer = int(rows.borne.bearer[k - c])
        return (f"m {axis_name(rows, k - c, i - 1)} {bearer + 1}:  {pair_name(snapshot, contacts, bearer)}",
                "1/(kg m²)")

    def of_J(i: int, j: int) -> str:
        return f"J = {J[i, columns[j]]:.6g}\n{names[i]}\n{velocity[columns[j]]}"

    def of_M(i: int, j: int) -> str:
        name, unit = force_name(int(forces[j]))
        return f"M = {M[i, forces[j]]:.6g} {unit}\n{names[i]}\n{name}"

    return [Map("J_m", np.ascontiguousarray(J[:, columns]), None, of_J),
            Map(r"M_{mn},\ M_{mt},\ M_{mm}", np.ascontiguousarray(M[:, forces]), None, of_M)]


def velocity_names(snapshot: Snapshot, moments: MomentsView) -> list[str]:
    """What the columns of J belong to: v and ω of free bodies, then the velocities of joints of trees."""
    contacts, names = moments.contacts, [""] * moments.rows.T.shape[1]
    first = 0
    for body in np.flatnonzero(contacts.slot >= 0).tolist():
        for k, part in enumerate(("v x", "v y", "v z", "ω x", "ω y", "ω z")):
            names[int(contacts.slot[body]) + k] = f"{snapshot.labels.bodies[body]}:  {part}"
        first = max(first, int(contacts.slot[body]) + 6)
    for d in range(first, len(names)):
        names[d] = _("velocity {k} of the joints of trees").format(k=d - first + 1)
    return names


# ------------------------------------------------------------------------------------------------------ impacts


def draw_impact_moments(ui: UiState, snapshot: Snapshot, view: ImpactView, law: str, flags: int) -> None:
    """What opposes the turning of each contact in an impact by this law."""
    found, contacts = view.moments[law], view.contacts
    rows, widths = contacts.moments, (7.0, 5.2, 4.4, 4.4, 4.8, 4.8)
    formula(ui, r"|m_\psi| \le \ell_\psi P_n,\quad |m_r| \le \ell_r P_n", 15.0)
    if not style.table(ui, "impact_moments", widths, flags):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    style.columns(ui, (_("Contact"), _("Turning"), "ω⁻ [rad/s]", "ω⁺ [rad/s]", "m [N m s]", "ℓ P [N m s]"), widths)
    imgui.table_headers_row()
    before = (scale_of(rows) * rows.u)[turns(rows)]
    for i in np.argsort(-view.impacts[law].impulse[3 * rows.borne.bearer], kind="stable").tolist():
        bearer, kind = int(rows.borne.bearer[i]), int(rows.borne.kind[i]) - SPIN
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.selectable(f"{pair_name(snapshot, contacts, bearer)}##impact_moment_{i}", False,
                         imgui.SelectableFlags_.span_all_columns)
        if imgui.is_item_hovered():
            ui.hovered_key, ui.hover_from_view = int(contacts.key[bearer]), False
        imgui.table_next_column()
        imgui.text(_(KINDS[kind]))
        bound = float(rows.borne.limit[i]) * max(float(view.impacts[law].impulse[3 * bearer]), 0.0)
        for value in (*(size_of(values[i], kind) for values in (before, found.after, found.impulse)), bound):
            imgui.table_next_column()
            imgui.text(_short(value))
    imgui.end_table()
