"""The legend of the view."""

from collections.abc import Sequence
from typing import Any

from imgui_bundle import imgui

from contactlab.app.panels import style
from contactlab.app.ui_state import UiState


def draw_legend(ui: UiState, rows: Sequence[Any]) -> None:
    """Rows with .symbol, .color, .text and .scale, in the lower left corner of the view."""
    if not rows:
        return
    c = style.colors(ui)
    font, size = ui.font, 0.875 * ui.font
    line = 1.45 * size
    with style.font(ui, size=14.0):
        width = max(imgui.calc_text_size(row.text).x for row in rows) + 3.4 * size
    x, y, _, h = ui.view_rect
    height = line * len(rows) + 0.8 * size
    left, top = x + 0.6 * font, y + h - 0.6 * font - height
    draw = imgui.get_background_draw_list()
    draw.add_rect_filled((left, top), (left + width, top + height), style.u32(c.panel, 0.82), 0.4 * font)
    for i, row in enumerate(rows):
        middle = top + 0.4 * size + (i + 0.5) * line
        _symbol(draw, row.symbol, left + 1.2 * size, middle, size, style.u32((*row.color[:3], 1.0)))
        draw.add_text(imgui.get_font(), size, (left + 2.6 * size, middle - 0.55 * size), style.u32(c.text), row.text)


def _symbol(draw: imgui.ImDrawList, kind: str, x: float, y: float, size: float, color: int) -> None:
    """A small picture of the glyph."""
    r = 0.32 * size
    if kind == "ring":
        draw.add_circle((x, y), r, color, 0, 2.0)
    elif kind == "disc":
        draw.add_circle_filled((x, y), r, color)
    elif kind == "line":
        draw.add_line((x - 0.8 * size, y), (x + 0.8 * size, y), color, 2.0)
    elif kind == "arrow":
        draw.add_line((x - 0.8 * size, y), (x + 0.4 * size, y), color, 3.5)
        tip, tail, half = x + 0.9 * size, x + 0.3 * size, 0.35 * size
        draw.add_triangle_filled((tip, y), (tail, y - half), (tail, y + half), color)
    else:
        draw.add_rect_filled((x - r, y - r), (x + r, y + r), color)
