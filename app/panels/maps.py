"""Small matrices as heat maps beside each other, with their numbers where they fit."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from ...physics.core.model import Array, BoolArray
from ..ui_state import UiState
from . import pictures, style
from .formula import formula
from .matrix import heat

WIDEST = 2.6       # cell [font heights]
BETWEEN = 0.9      # maps [font heights]
HEAD = 1.6         # the title of a map [font heights]
LEAST_NUMBERS = 1.6  # width of a cell in which its number is written [font heights],
THREE_DIGITS = 2.2   # and from which on it has three digits, not two
COLUMN = 1.1       # least width of a single column [font heights]
ROUNDING = 1e-9    # of the largest entry: what is written as 0
FAINT = 0.10       # opacity of an entry that is 0 now, but need not be


class Map(NamedTuple):
    """A heat map: its values, where they may differ from 0, and what its rows and columns are."""

    title: str                      #: a formula
    values: Array                   #: (r, c)
    may: BoolArray | None
    tip: Callable[[int, int], str]  #: of the entry under the mouse
    shade: Array | None = None      #: (r, c) what the colours are of, where not the values


def draw_maps(ui: UiState, name: str, maps: list[Map]) -> None:
    """All maps in one row, in what is left of the window. name: tells these maps from others."""
    room, (x, y) = imgui.get_content_region_avail(), imgui.get_cursor_screen_pos()
    cell = min(_cell(ui, maps, room.x), (room.y - (HEAD + 0.2) * ui.font) / max(len(m.values) for m in maps))
    for number, shown in enumerate(maps):
        x = _draw(ui, f"{name}_{number}", shown, x, y, cell) + BETWEEN * ui.font


def _cell(ui: UiState, maps: list[Map], room: float) -> float:
    """Side of a cell with which all maps have room [pixels]."""
    columns = sum(m.values.shape[1] for m in maps)
    return min((room - BETWEEN * ui.font * len(maps)) / columns, WIDEST * ui.font)


def _draw(ui: UiState, name: str, shown: Map, x: float, y: float, cell: float) -> float:
    """One map with its title at (x, y); returns its right edge."""
    values, dark = shown.values, ui.preferences.dark
    rows, columns = values.shape
    imgui.set_cursor_screen_pos((x, y))
    formula(ui, shown.title, 15.0)
    wide = cell if columns > 1 else max(cell, COLUMN * ui.font)
    top, left, width, height = y + HEAD * ui.font, x, int(wide * columns), int(cell * rows)
    shade = values if shown.shade is None else shown.shade
    most = float(np.abs(shade).max(initial=0.0))
    may = np.ones(values.shape, bool) if shown.may is None else shown.may

    def make() -> tuple[pictures.Pixels, None]:
        colors = heat(shade, most, dark)
        colors[..., 3] = np.where(may, np.maximum(colors[..., 3], FAINT), 0.0)
        colors[may & (values == 0.0), :3] = 0.5
        at_x, at_y = (np.arange(width) + 0.5) / wide, (np.arange(height) + 0.5) / cell
        i, j = np.minimum(at_y.astype(int), rows - 1), np.minimum(at_x.astype(int), columns - 1)
        image = (255.0 * colors).astype(np.uint8)[i[:, None], j]
        if cell > 5.0:
            image[:, (at_x % 1.0) * wide < 1.0, 3] = 0
            image[(at_y % 1.0) * cell < 1.0, :, 3] = 0
        return image, None

    if width < 1 or height < 1:
        return left + width
    content = hash(values.tobytes()), width, height, dark
    pictures.draw(pictures.picture(ui, name, content, make), left, top, width, height)
    c, draw = style.colors(ui), imgui.get_window_draw_list()
    draw.add_rect((left, top), (left + width, top + height), style.u32(c.line))
    if cell >= LEAST_NUMBERS * ui.font:
        _write(ui, values, may, (left, top), (wide, cell))
    imgui.set_cursor_screen_pos((left, top))
    imgui.invisible_button(f"map_{name}", (width, height))
    if imgui.is_item_hovered():
        mouse = imgui.get_mouse_pos()
        i, j = int((mouse.y - top) / cell), int((mouse.x - left) / wide)
        imgui.set_tooltip(shown.tip(min(max(i, 0), rows - 1), min(max(j, 0), columns - 1)))
    return left + width


def _write(
    ui: UiState, values: Array, may: BoolArray, corner: tuple[float, float], cell: tuple[float, float],
) -> None:
    """The numbers in the cells, of so many pixels each, from the upper left corner on."""
    draw, color, size = imgui.get_window_draw_list(), style.u32(style.colors(ui).text), round(0.66 * ui.font)
    most, digits = float(np.abs(values).max(initial=0.0)), 3 if cell[0] >= THREE_DIGITS * ui.font else 2
    for i, j in np.argwhere(may).tolist():
        text = "0" if abs(values[i, j]) <= ROUNDING * most else f"{values[i, j]:.{digits}g}"
        letters = imgui.calc_text_size(text).x * size / imgui.get_font_size()
        at = corner[0] + (j + 0.5) * cell[0] - 0.5 * letters, corner[1] + (i + 0.5) * cell[1] - 0.55 * size
        draw.add_text(imgui.get_font(), size, at, color, text)
