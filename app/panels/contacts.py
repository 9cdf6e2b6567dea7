"""The table of contacts. Hovering a row lights its contact in the view; a contact under the mouse lights its row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import N_, _
from ...physics.core.model import Array
from ...physics.core.state import Case, Contacts
from ...physics.run.messages import Command, Snapshot
from ..ui_state import UiState
from ..view.contact_labels import just_struck
from . import style
from .energy import draw_energy
from .numbers import PageUi
from .tabs import Tab

CASES: dict[int, str] = {
    Case.APART: N_("1 apart"), Case.COLLIDING: N_("2a colliding"), Case.SEPARATING: N_("2b separating"),
                         Case.RESTING: N_("3 resting"),
}
#: column -> heading, least width in font heights (the first one takes what is left), explanation
COLUMNS: dict[str, tuple[str, float, str]] = {
    "pair": (N_("Pair"), 7.0, N_("Predecessor a → successor b: the normal points, and forces are shown, from a to b")),
    "gap": (N_("Gap φ"), 3.9, N_("Signed distance: > 0 apart, < 0 overlapping")),
    "zeta": ("ζ", 4.1, N_("Normal separation velocity: > 0 separating")),
    "lam": ("λ", 3.7, N_("Normal contact force on b")),
    "friction_force": ("|f_t|", 3.7, N_("Friction force on b")),
    "case": (N_("Case"), 5.2, N_("1 apart, 2a colliding, 2b separating, 3 resting; 2a → 2b: struck in this step")),
    "sets": (N_("Sets"), 2.2, N_("○ current: touches and rests, φ = ζ = ζ̇ = 0; a soft surface: presses\n"
                          "● active: carries, λ > 0, or completes a basis of the normals")),
}
#: of soft contacts too, RBDA figs. 11.10 and 11.11: column -> the one that it stands before, then as above
SOFT_COLUMNS: dict[str, tuple[str, tuple[str, float, str]]] = {
    "z": ("zeta", ("z", 4.1, N_("State of the surfaces along the normal, < 0 where they are pressed in"))),
    "x": ("case", ("|x|", 3.9, N_("State of the surfaces along the contact: how far friction has displaced them"))),
}
NOTHING: Mapping[str, Array] = MappingProxyType({})
TABLE_FLAGS = (
    imgui.TableFlags_.sortable | imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg
    | imgui.TableFlags_.no_saved_settings | imgui.TableFlags_.borders_inner_h | imgui.TableFlags_.no_borders_in_body
)


@dataclass
class OrderUi:
    """The rows as they were last sorted: to sort 40 000 contacts for every picture would take most of it."""

    of: Snapshot | None = None
    by: tuple[str, bool] = "", False
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, int))


def draw_contacts(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None]) -> None:
    """Fill the current window or child with the table."""
    if snapshot is None:
        return
    contacts = snapshot.contacts
    count = int(contacts.count[0])
    style.heading(ui, _("Contacts   {count}").format(count=count))
    if not ui.hover_from_view:
        ui.hovered_key = None
    with style.font(ui, size=14.0):
        _table(ui, snapshot, contacts, count)
    if count == 0:
        style.muted(ui, _("Nothing touches."))


def _table(ui: UiState, snapshot: Snapshot, contacts: Contacts, count: int) -> None:
    """The rows in sight, in the order that was asked for."""
    tall = 0.0 if count else 2.0 * imgui.get_text_line_height_with_spacing()  # the heading alone, a sentence follows
    soft = {"z": -snapshot.dents, "x": snapshot.shears} if len(snapshot.dents) == len(contacts.gap) > 0 else {}
    shown = _columns(bool(soft))
    name = "soft_contacts" if soft else "contacts"
    if not style.table(ui, name, [width for _, width, _ in shown.values()], TABLE_FLAGS, tall):
        return
    _header(ui, shown)
    column, descending = ui.sort_contacts
    order = _order(ui.state_of(OrderUi), snapshot, (column if column in shown else "lam", descending), soft)
    lit = np.flatnonzero(contacts.key[:count] == (-1 if ui.hovered_key is None else ui.hovered_key))
    struck = just_struck(snapshot)
    clipper = imgui.ListClipper()
    clipper.begin(count)
    while clipper.step():
        for i in range(clipper.display_start, clipper.display_end):
            _row(ui, snapshot, int(order[i]), lit, struck, soft)
    clipper.end()
    if ui.hover_from_view and len(lit):
        _scroll_to(order, int(lit[0]))
    imgui.end_table()


def _columns(soft: bool) -> dict[str, tuple[str, float, str]]:
    """The columns of the table, in their order."""
    if not soft:
        return COLUMNS
    heading, _, explanation = COLUMNS["pair"]
    narrow = COLUMNS | {"pair": (heading, 4.5, explanation)}
    shown: dict[str, tuple[str, float, str]] = {}
    for name, column in narrow.items():
        shown |= {own: given for own, (before, given) in SOFT_COLUMNS.items() if before == name}
        if name != "sets":  # a soft contact carries where λ > 0, without a set
            shown[name] = column
    return shown


def _header(ui: UiState, shown: dict[str, tuple[str, float, str]]) -> None:
    imgui.table_setup_scroll_freeze(0, 1)
    descending, first = imgui.TableColumnFlags_.prefer_sort_descending, imgui.TableColumnFlags_.default_sort
    style.columns(ui, [heading for heading, _, _ in shown.values()], [width for _, width, _ in shown.values()],
                  [descending | (first if name == ui.sort_contacts[0] else 0) for name in shown])
    imgui.table_next_row(imgui.TableRowFlags_.headers)
    for i, (heading, _width, explanation) in enumerate(shown.values()):
        imgui.table_set_column_index(i)
        imgui.table_header(_(heading))
        imgui.set_item_tooltip(_(explanation))
    specs = imgui.table_get_sort_specs()
    if specs is not None and specs.specs_dirty and specs.specs_count:
        spec = specs.get_specs(0)
        descending = spec.get_sort_direction() == imgui.SortDirection.descending
        ui.sort_contacts = list(shown)[spec.column_index], descending
        specs.specs_dirty = False


def _order(last: OrderUi, snapshot: Snapshot, by: tuple[str, bool], soft: Mapping[str, Array]) -> np.ndarray:
    """`sorted_rows`, kept while the snapshot and the column stay."""
    if last.of is not snapshot or last.by != by:
        contacts = snapshot.contacts
        last.of, last.by, last.rows = snapshot, by, sorted_rows(contacts, int(contacts.count[0]), *by, soft)
    return last.rows


def sorted_rows(
    contacts: Contacts, count: int, column: str, descending: bool, soft: Mapping[str, Array] = NOTHING,
) -> np.ndarray:
    """Rows of `contacts` in the order of a column, SOFT_COLUMNS in `soft`; ties by key, so that the order is stable."""
    if column in soft:
        value = soft[column][:count]
    elif column == "pair":
        value = contacts.body_a[:count].astype(float) * 1e6 + contacts.body_b[:count]
    elif column == "sets":
        value = 2.0 * contacts.active[:count] + contacts.current[:count]
    elif column == "friction_force":
        value = np.linalg.norm(contacts.friction_force[:count], axis=1)
    else:
        value = getattr(contacts, column)[:count].astype(float)
    return np.lexsort((contacts.key[:count], -value if descending else value))


def _row(
    ui: UiState, snapshot: Snapshot, row: int, lit: np.ndarray, struck: dict[tuple[int, int], str],
    soft: Mapping[str, Array],
) -> None:
    contacts = snapshot.contacts
    bodies = int(contacts.body_a[row]), int(contacts.body_b[row])
    imgui.table_next_row()
    imgui.table_next_column()
    a, b = (snapshot.labels.bodies[i] for i in bodies)
    key = int(contacts.key[row])
    selected = len(lit) > 0 and key == ui.hovered_key
    flags = imgui.SelectableFlags_.span_all_columns
    if imgui.selectable(f"{a} → {b}##{row}_{key}", selected, flags)[0]:
        ui.view.selected = int(contacts.body_b[row])
        ui.state_of(PageUi).contact = key
    if imgui.is_item_hovered():
        ui.hovered_key, ui.hover_from_view = key, False
    cells = {
        "gap": style.engineering(float(contacts.gap[row]), "m"),
        "zeta": style.engineering(float(contacts.zeta[row]), "m/s"),
        "lam": style.engineering(float(contacts.lam[row]), "N"),
        "friction_force": style.engineering(float(np.linalg.norm(contacts.friction_force[row])), "N"),
        "case": (struck.get(bodies, "") if contacts.impulse[row].any() else "")
        or _(CASES.get(int(contacts.case[row]), "")),
        "sets": set_symbols(bool(contacts.current[row]), bool(contacts.active[row])),
    } | {name: style.engineering(float(values[row]), "m") for name, values in soft.items()}
    for name in list(_columns(bool(soft)))[1:]:
        imgui.table_next_column()
        imgui.text(cells[name])


def set_symbols(current: bool, active: bool) -> str:
    """Ring for the current set, disc for the active one, as in the view."""
    return ("○ " if current else "") + ("●" if active else "") or "–"


def _scroll_to(order: np.ndarray, row: int) -> None:
    """Bring the row of the contact under the mouse into sight."""
    place = int(np.flatnonzero(order == row)[0])
    height = imgui.get_text_line_height() + 2 * imgui.get_style().cell_padding.y
    top, visible = imgui.get_scroll_y(), imgui.get_window_height() - 2 * height
    if not top <= place * height <= top + visible:
        imgui.set_scroll_y(max(place * height - 0.5 * visible, 0.0))


TAB = Tab("contacts", "Contacts", draw_contacts, lines=7.0, beside=draw_energy)
