"""The legend of the view."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from imgui_bundle import imgui

from ..ui_state import Rect, UiState
from . import style

LEGEND_SHARE = 0.3  # of the height of the view: what a legend in its corner may take
STRIP_SHARE = 0.25  # likewise, for one along the lower edge
LINE = 1.36         # from a row to the next [heights of its letters]


def box_of(ui: UiState, rows: Sequence[Any], view: Rect) -> Rect | None:
    """Where the rows stand one below the other, in the lower left corner of the view; None where they would cover too
    much of it."""
    font, size = ui.font, float(round(0.81 * ui.font))
    with style.font(ui, size=13.0):
        width = max((imgui.calc_text_size(row.text).x for row in rows), default=0.0) + 3.4 * size
    x, y, w, h = view
    height = LINE * size * len(rows) + 0.8 * size
    if height > LEGEND_SHARE * h or width > 0.65 * w:
        return None
    return x + 0.6 * font, y + h - 0.6 * font - height, width, height


def draw_box(ui: UiState, rows: Sequence[Any], box: Rect) -> None:
    """Rows with .symbol, .color and .text, one below the other."""
    if not rows:
        return
    c, size = style.colors(ui), float(round(0.81 * ui.font))
    left, top, width, height = box
    draw = imgui.get_background_draw_list()
    draw.add_rect_filled((left, top), (left + width, top + height), style.u32(c.panel, 0.78), 0.4 * ui.font)
    for i, row in enumerate(rows):
        middle = top + 0.4 * size + (i + 0.5) * LINE * size
        _symbol(draw, row.symbol, left + 1.2 * size, middle, size, style.u32((*row.color[:3], 1.0)))
        draw.add_text(imgui.get_font(), size, (left + 2.6 * size, middle - 0.55 * size), style.u32(c.text), row.text)


def lines_of(ui: UiState, rows: Sequence[Any], width: float) -> list[list[tuple[float, Any]]]:
    """Rows set one after the other in lines: where each begins [pixels], and the row."""
    size = float(round(0.81 * ui.font))
    lines: list[list[tuple[float, Any]]] = [[]]
    x = 0.4 * size
    with style.font(ui, size=13.0):
        for row in rows:
            wide = imgui.calc_text_size(row.text).x + (4.2 if row.symbol else 1.6) * size
            if lines[-1] and x + wide > width:
                lines.append([])
                x = 0.4 * size
            lines[-1].append((x, row))
            x += wide
    return lines if rows else []


def strip_height(ui: UiState, rows: Sequence[Any], view: Rect) -> float:
    """What `draw_strip` needs at the lower edge of the view [pixels]; 0 where that is too much of it."""
    size = float(round(0.81 * ui.font))
    height = len(lines_of(ui, rows, view[2])) * LINE * size + 0.6 * size
    return height if rows and height < STRIP_SHARE * view[3] else 0.0


def draw_strip(ui: UiState, rows: Sequence[Any], view: Rect, height: float) -> None:
    """The legend in lines along the lower edge of the view, of the height that `strip_height` tells; none where that
    is 0."""
    if height == 0.0:
        return
    c, size = style.colors(ui), float(round(0.81 * ui.font))
    x, y, w, h = view
    top, draw = y + h - height, imgui.get_background_draw_list()
    draw.add_rect_filled((x, top), (x + w, y + h), style.u32(c.panel))
    with style.font(ui, size=13.0):
        for i, line in enumerate(lines_of(ui, rows, w)):
            middle = top + 0.3 * size + (i + 0.5) * LINE * size
            for start, row in line:
                _symbol(draw, row.symbol, x + start + 1.2 * size, middle, size, style.u32((*row.color[:3], 1.0)))
                left = x + start + (2.6 * size if row.symbol else 0.0)
                draw.add_text(imgui.get_font(), size, (left, middle - 0.55 * size), style.u32(c.text), row.text)


def _symbol(draw: imgui.ImDrawList, kind: str, x: float, y: float, size: float, color: int) -> None:
    """A small picture of the glyph."""
    r, w, thin, thick = 0.32 * size, 0.8 * size, 0.13 * size, 0.22 * size
    if kind == "ring":
        draw.add_circle((x, y), 1.15 * r, color, 0, thin)
    elif kind in ("disc", "split_disc"):
        draw.add_circle_filled((x, y), r, color)
        if kind == "split_disc":
            draw.add_line((x, y - r), (x, y + r), imgui.get_color_u32(imgui.Col_.window_bg), thin)
    elif kind == "diamond":
        draw.add_ngon((x, y), 1.1 * r, color, 4, thin)
    elif kind == "star":
        for k in range(4):
            dx, dy = 1.4 * r * math.cos(k * math.pi / 4), 1.4 * r * math.sin(k * math.pi / 4)
            draw.add_line((x - dx, y - dy), (x + dx, y + dy), color, thin)
    elif kind == "checker":
        draw.add_circle((x, y), r, color, 0, thin)
        draw.add_rect_filled((x, y - 0.8 * r), (x + 0.8 * r, y), color)
        draw.add_rect_filled((x - 0.8 * r, y), (x, y + 0.8 * r), color)
    elif kind == "bowl":
        draw.add_line((x - w, y - 0.5 * r), (x - 1.2 * r, y - 0.5 * r), color, thin)
        draw.add_line((x + 1.2 * r, y - 0.5 * r), (x + w, y - 0.5 * r), color, thin)
        draw.path_arc_to((x, y - 0.5 * r), 1.2 * r, 0.0, math.pi)
        draw.path_stroke(color, thin)
    elif kind == "line":
        draw.add_line((x - w, y), (x + w, y), color, thin)
    elif kind == "dashed":
        for start in (-1.0, -0.25, 0.5):
            draw.add_line((x + start * w, y), (x + (start + 0.5) * w, y), color, thin)
    elif kind == "spring":
        _zigzag(draw, x, y, w, 0.8 * r, color, thin)
    elif kind.endswith("arrow"):
        _arrow(draw, kind, x, y, size, color, thick)


def _zigzag(draw: imgui.ImDrawList, x: float, y: float, w: float, h: float, color: int, width: float) -> None:
    points = [(x - w, y), *((x + (i / 3 - 0.83) * w, y + (h if i % 2 else -h)) for i in range(6)), (x + w, y)]
    for start, end in pairwise(points):
        draw.add_line(start, end, color, width)


def _arrow(draw: imgui.ImDrawList, kind: str, x: float, y: float, size: float, color: int, width: float) -> None:
    tip, tail, half = x + 0.9 * size, x + 0.3 * size, 0.36 * size
    draw.add_line((x - 0.8 * size, y), (tail + 0.1 * size, y), color, width)
    if kind == "open_arrow":
        draw.add_line((tail, y - half), (tip, y), color, width)
        draw.add_line((tail, y + half), (tip, y), color, width)
        draw.add_line((x, y), (tip, y), color, width)
        return
    draw.add_triangle_filled((tip, y), (tail, y - half), (tail, y + half), color)
    if kind == "double_arrow":
        shift = 0.45 * size
        draw.add_triangle_filled((tip - shift, y), (tail - shift, y - half), (tail - shift, y + half), color)
