"""The ledger: what changed the energy and the momenta of the run, cause by cause, and that it adds up."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from ...physics.books.ledger import TITLES, Account
from ...physics.core.language import N_, _
from ...physics.core.model import Array
from ...physics.run.messages import Command, Snapshot
from ..ui_state import UiState
from . import style
from .energy import draw_energy
from .tabs import Tab

NOISE = 1e-10   # relative to the largest entry of its kind: less counts as nothing
TABLE = imgui.TableFlags_.row_bg | imgui.TableFlags_.scroll_y | imgui.TableFlags_.sizing_stretch_prop
ABOUT = {
    Account.IMPACTS: N_("Impulses along the normals of contacts that hit, with or without rebound, and of limits. "
                     "Newton's law with friction may give energy (Kane's paradox)"),
    Account.CONTACTS: N_("Normal forces over time, of contacts that rest, slide or roll and of compliant surfaces. "
                      "In time stepping also what an impact passes on through contacts that rest: a step has one "
                      "impulse for each contact"),
    Account.FRICTION: N_("What friction turns into heat, and the momenta it gives, in impacts and over time"),
    Account.SPRINGS: N_("What dampers of springs and joints take; the momentum of springs to what does not move"),
    Account.SURFACES: N_("What compliant surfaces and their friction took; the angular momentum of dents that travel"),
    Account.LIMITS: N_("What the dampers of springy limits of joints took"),
    Account.STORED: N_("What compliant surfaces and springy limits of joints hold now"),
    Account.JOINTS: N_("What motors do; the momentum that joints take from what does not move"),
    Account.MOUSE: N_("What the mouse did to the body it holds"),
    Account.APPLIED: N_("Forces and torques put on bodies and joints"),
    Account.DRIVEN: N_("What bodies with a prescribed motion and running surfaces put in or take out"),
    Account.GRAVITY: N_("The momentum of weight; its energy is the potential energy"),
    Account.CHANGED: N_("Settings changed between steps, such as gravity; what surfaces held from the start"),
    Account.DRIFT: N_("What is left: errors of the method, overlap taken out, what the method does not book"),
}

LEAST, LEAST_WITH_PLOT = 40.0, 58.0  # widths of the table, and of table and plot, that can be read [font heights]
#: heading, share of the width, explanation
COLUMNS = (
    (N_("Since the start"), 1.4, N_("By cause")),
    (N_("Work [J]"), 0.9, N_("Work on the bodies that forces move")),
    ("##share", 0.9, N_("Work, as a part of the largest")),
    (N_("Momentum [kg m/s]"), 2.2, N_("Momentum Σ P, components along the world's x, y and z")),
    (N_("L about the origin [kg m²/s]"), 2.2,
     N_("Angular momentum Σ (x × P + L) about the world's origin, components along the world's x, y and z")),
)


class Entry(NamedTuple):
    """A line of the ledger."""

    account: Account
    energy: float    #: [J]
    share: float     #: of the largest of all, -1 to 1


def entries(ledger: Array) -> list[Entry]:
    """The accounts that something was booked to; drift always."""
    rows = ledger[: Account.START]
    kinds = (slice(0, 1), slice(1, 4), slice(4, 7))
    largest = np.array([max(float(np.abs(rows[:, kind]).max()), 1e-9) for kind in kinds])
    found = []
    for account in TITLES:
        row = ledger[account]
        sizes = np.array([np.abs(row[kind]).max() for kind in kinds])
        if (sizes > NOISE * largest).any() or account == Account.DRIFT:
            found.append(Entry(account, float(row[0]), float(row[0] / largest[0])))
    return found


def draw_ledger(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None]) -> None:
    """The table of causes, and the energy over time beside it."""
    if snapshot is None:
        return
    wide = imgui.get_content_region_avail().x
    beside = wide > LEAST_WITH_PLOT * ui.font
    imgui.begin_child("ledger_table", (0.68 * wide if beside else 0.0, 0.0))
    _table(ui, snapshot.ledger)
    imgui.end_child()
    if not beside:
        return
    imgui.same_line(0, 1.2 * ui.font)
    imgui.begin_child("ledger_plot", (0.0, 0.0))
    draw_energy(ui, snapshot, send)
    imgui.end_child()


def _table(ui: UiState, ledger: Array) -> None:
    colors, largest = style.colors(ui), np.abs(ledger[: Account.START]).max(axis=0)
    noise = NOISE * np.array([largest[0], *[largest[1:4].max()] * 3, *[largest[4:].max()] * 3])
    with style.font(ui, size=15.0):
        least = LEAST * ui.font
        narrow = imgui.get_content_region_avail().x < least
        if not imgui.begin_table("ledger", 5, TABLE | (imgui.TableFlags_.scroll_x if narrow else 0), (0.0, 0.0),
                                 least if narrow else 0.0):
            return
        imgui.table_setup_scroll_freeze(0, 1)
        for title, width, _meaning in COLUMNS:
            imgui.table_setup_column(_(title), imgui.TableColumnFlags_.width_stretch, width)
        imgui.table_next_row(imgui.TableRowFlags_.headers)
        for title, _width, meaning in COLUMNS:
            imgui.table_next_column()
            imgui.table_header(_(title))
            imgui.set_item_tooltip(_(meaning))
        for entry in entries(ledger):
            imgui.table_next_row()
            imgui.table_next_column()
            imgui.text(_(TITLES[entry.account]))
            imgui.set_item_tooltip(_(ABOUT[entry.account]))
            _numbers(ledger[entry.account], noise)
            imgui.table_set_column_index(2)
            _bar(ui, entry.share, colors)
        imgui.table_next_row()
        imgui.table_next_column()
        with style.font(ui, bold=True, size=15.0):
            imgui.text(_("Sum"))
            imgui.set_item_tooltip(_("What there is now less what there was at the start: the lines above add up "
                                     "to it"))
            _numbers(ledger[Account.TOTAL] - ledger[Account.START], noise)
        imgui.end_table()


def _numbers(row: Array, noise: Array) -> None:
    """Work, momentum and angular momentum of a line; what is below the noise of its column is shown as 0."""
    shown = np.where(np.abs(row) > noise, row, 0.0).tolist()
    imgui.table_set_column_index(1)
    _right(figure(shown[0]), imgui.get_content_region_avail().x)
    imgui.set_item_tooltip(f"{row[0]:.12g} J")
    for column, first in ((3, 1), (4, 4)):
        imgui.table_set_column_index(column)
        left, third = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / 3.0
        for k in range(3):
            if k:
                imgui.same_line()
            imgui.set_cursor_pos_x(left + k * third)
            _right(figure(shown[first + k]), third)


def figure(value: float) -> str:
    """A signed number of four digits at most, so that a column of them can be compared."""
    if value == 0.0:
        return "0"
    text = f"{value:+.1e}" if abs(value) < 1e-3 or abs(value) >= 1e5 else f"{value:+.4g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("-", "\u2212")


def _right(text: str, width: float) -> None:
    room = width - imgui.calc_text_size(text).x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
    imgui.text(text)


def _bar(ui: UiState, share: float, colors: style.Colors) -> None:
    """From the middle to the right for work done on the bodies, to the left for what was taken from them."""
    x, y = imgui.get_cursor_screen_pos()
    height, width = imgui.get_text_line_height(), imgui.get_content_region_avail().x
    imgui.dummy((width, height))
    lines, middle = imgui.get_window_draw_list(), x + 0.5 * width
    tip = middle + 0.46 * share * width
    fill = style.u32(colors.kinetic if share > 0 else colors.potential)
    lines.add_rect_filled((min(middle, tip), y + 0.15 * height), (max(middle, tip), y + 0.85 * height), fill)
    lines.add_line((middle, y), (middle, y + height), style.u32(colors.muted), ui.preferences.scale)


TAB = Tab("ledger", "Ledger", draw_ledger)
