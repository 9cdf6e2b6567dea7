"""Numbers of a page: a table of vectors and values that can be copied and dragged onto a plot."""

from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _, labelled
from ...physics.core.model import Array
from ...physics.look.quantities import quantity_of
from ...physics.run.messages import Curve, Snapshot
from ..ui_state import UiState
from . import style, watch
from .ledger import figure
from .plot import DRAGGED

TABLE = (imgui.TableFlags_.row_bg | imgui.TableFlags_.scroll_y | imgui.TableFlags_.sizing_stretch_prop
         | imgui.TableFlags_.no_saved_settings)


@dataclass
class PageUi:
    """Whose page the tab Body shows."""

    of: str = "body"       # body, contact, joint
    contact: int = -1      # key of the contact; -1 = the one that is pressed hardest
    joint: int = -1        # row; -1 = one of the selected body, else the first


class Numbers:
    """Numbers of a line, their name and unit, and the size up to which they are shown as 0."""

    def __init__(self, name: str, unit: str, values: Array | float, noise: float, tip: str = "",
                 plotted: tuple[str, ...] = ()) -> None:
        """values: three or fewer. plotted: the quantity of each of them that a plot can show, as `quantity_of` names
        it."""
        self.name, self.unit, self.values, self.noise, self.tip = name, unit, np.atleast_1d(values), noise, tip
        self.plotted = plotted

    def texts(self) -> list[str]:
        """As they are written; – where a number is not known."""
        return ["–" if np.isnan(v) else figure(v if abs(v) > self.noise else 0.0) for v in self.values]


Line = tuple[Numbers | None, Numbers | None]


def copied(name: str, t: float, lines: list[Line], words: tuple[str, ...]) -> str:
    """The page as text: a line a vector, its numbers after tabs."""
    rows = [f"{name}, t = {t:.12g} s", *words]
    title = ""
    for numbers in (numbers for side in (0, 1) for numbers in (line[side] for line in lines) if numbers is not None):
        title = numbers.name or title
        rows.append("\t".join((title, numbers.unit, *(f"{value:.12g}" for value in numbers.values))))
    return "\n".join(rows)


def draw_page(ui: UiState, snapshot: Snapshot, lines: list[Line], words: tuple[str, ...], sides: tuple[str, str],
              of: int, right: tuple[str, str, str] = ("x", "y", "z")) -> None:
    """A table with two vectors a line, and below it the words. sides: headings of its halves; right: of the numbers of
    the second. of: the body, the key of
    the contact or the row of the joint whose numbers are plotted."""
    with style.font(ui, size=14.0):
        below = (len(words) + 0.4) * imgui.get_text_line_height_with_spacing()
        _table(ui, snapshot, lines, below, (sides[0], "x", "y", "z", sides[1], *right), of)
        for text in words:
            style.muted(ui, text, wrap=True)


def copy_button(ui: UiState, name: str, t: float, lines: list[Line], words: tuple[str, ...]) -> None:
    """Takes the page, with all digits, to the clipboard."""
    style.beside(_("Copy"))
    if imgui.button(labelled("Copy##body")):
        imgui.set_clipboard_text(copied(name, t, lines, words))
    imgui.set_item_tooltip(_("All numbers of this page, with all their digits"))


def _table(ui: UiState, snapshot: Snapshot, lines: list[Line], below: float, headings: tuple[str, ...],
           of: int) -> None:
    if not imgui.begin_table("page", 8, TABLE, (0.0, max(imgui.get_content_region_avail().y - below, 4.0 * ui.font))):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    for side in ("left", "right"):
        imgui.table_setup_column(side, imgui.TableColumnFlags_.width_stretch, 1.35)
        for axis in "xyz":
            imgui.table_setup_column(f"{axis}##{side}", imgui.TableColumnFlags_.width_stretch, 1.0)
    imgui.table_next_row(imgui.TableRowFlags_.headers)
    for column, heading in enumerate(headings):
        imgui.table_set_column_index(column)
        if column % 4:
            _right(ui, heading, style.colors(ui).muted)
        else:
            _indent(ui, column)
            imgui.text(heading)
    for left, right in lines:
        imgui.table_next_row()
        for first, numbers in ((0, left), (4, right)):
            imgui.table_set_column_index(first)
            if numbers is None:
                imgui.text("")
            else:
                _cells(ui, snapshot, first, numbers, of)
    imgui.end_table()


def _indent(ui: UiState, column: int) -> None:
    """Room between the numbers of Y and what stands right of them."""
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + (0.9 * ui.font if column else 0.0))


def _right(ui: UiState, text: str, color: style.Color) -> None:
    """A text at the right end of its cell."""
    room = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
    with style.color(imgui.Col_.text, color):
        imgui.text(text)


def _cells(ui: UiState, snapshot: Snapshot, first: int, numbers: Numbers, of: int) -> None:
    _indent(ui, first)
    imgui.text(numbers.name)
    if numbers.tip:
        imgui.set_item_tooltip(numbers.tip)
    if numbers.unit:
        imgui.same_line(0, 0.4 * ui.font)
        style.muted(ui, numbers.unit)
    for k, (text, value) in enumerate(zip(numbers.texts(), numbers.values, strict=True)):
        imgui.table_set_column_index(first + 1 + k)
        _right(ui, text, style.colors(ui).text)
        plotted = k < len(numbers.plotted)
        if plotted:
            _carry(ui, snapshot, curve_of(numbers.plotted[k], of))
        advice = _("\nDrag it onto the tab Plot") if plotted else ""
        imgui.set_item_tooltip(f"{value:.12g} {numbers.unit}{advice}")


def curve_of(name: str, of: int) -> Curve:
    """The curve of a quantity; of the whole it belongs to nothing."""
    quantity = quantity_of(name)
    return Curve(name, of if quantity.of_body or quantity.of else -1)


def _carry(ui: UiState, snapshot: Snapshot, curve: Curve) -> None:
    """The last number can be dragged to a plot."""
    if imgui.begin_drag_drop_source(imgui.DragDropFlags_.source_allow_null_id):
        ui.dragged = curve
        imgui.set_drag_drop_payload_py_id(DRAGGED, 0)
        imgui.text(watch.title(snapshot, curve))
        imgui.end_drag_drop_source()
