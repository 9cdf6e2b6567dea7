"""What is written over the 3-D view: labels, the legend, the error banner, notices, the recording light."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from imgui_bundle import imgui

from contactlab.app.panels import style
from contactlab.app.ui_state import UiState
from contactlab.physics.messages import Command, Snapshot


def draw_picture(ui: UiState) -> None:
    """The rendered view, behind all panels."""
    if ui.view_texture is not None:
        x, y, w, h = ui.view_rect
        draw = imgui.get_background_draw_list()
        draw.add_image(ui.view_texture, (x, y), (x + w, y + h), (0, 1), (1, 0))


def draw_labels(ui: UiState, labels: Sequence[Any], view_projection: np.ndarray) -> None:
    """World labels: `labels` have .position (3,), .text and .color; each is placed where its point is seen."""
    if not labels:
        return
    x, y, w, h = ui.view_rect
    points = np.array([[*label.position, 1.0] for label in labels]) @ view_projection.T
    draw = imgui.get_background_draw_list()
    draw.push_clip_rect((x, y), (x + w, y + h), True)
    c = style.colors(ui)
    size = 14.0 * ui.preferences.scale
    for label, (px, py, _, pw) in zip(labels, points, strict=True):
        if pw <= 0.0:
            continue
        width = imgui.calc_text_size(label.text).x * size / imgui.get_font_size()
        sx = x + 0.5 * w * (1.0 + px / pw) - 0.5 * width
        sy = y + 0.5 * h * (1.0 - py / pw) - 1.4 * size
        halo = style.u32(c.panel, 0.72)
        corner = (sx + width + 0.3 * size, sy + 1.15 * size)
        draw.add_rect_filled((sx - 0.3 * size, sy - 0.1 * size), corner, halo, 0.3 * size)
        draw.add_text(imgui.get_font(), size, (sx, sy), style.u32((*label.color[:3], 1.0)), label.text)
    draw.pop_clip_rect()


def draw_over_view(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None]) -> None:
    top = ui.view_rect[1] + 0.6 * ui.font
    if ui.recording is not None:
        top = _pill(ui, top, f"\uf111  {ui.recording.seconds:.1f} s  →  {ui.recording.path}", style.colors(ui).danger)
    if snapshot is not None and snapshot.error:
        top = _pill(ui, top, f"\uf071  Paused: {snapshot.error}", style.colors(ui).danger)
    if ui.notice is not None:
        if ui.clock > ui.notice.until:
            ui.notice = None
        else:
            _pill(ui, top, ui.notice.text, style.colors(ui).accent)


def _pill(ui: UiState, top: float, text: str, color: style.Color) -> float:
    """A line of text on a rounded plate, centred in the view; returns where the next one goes."""
    x, _, w, _ = ui.view_rect
    c = style.colors(ui)
    font = ui.font
    wrap = max(w - 4 * font, 8 * font)
    size = imgui.calc_text_size(text, False, wrap)
    left = x + 0.5 * (w - size.x)
    draw = imgui.get_foreground_draw_list() if ui.panels_hidden else imgui.get_background_draw_list()
    p0, p1 = (left - 0.8 * font, top), (left + size.x + 0.8 * font, top + size.y + 0.7 * font)
    draw.add_rect_filled(p0, p1, style.u32(c.panel, 0.94), 0.5 * font)
    draw.add_rect(p0, p1, style.u32(color), 0.5 * font, 1.5)
    draw.add_text(imgui.get_font(), font, (left, top + 0.35 * font), style.u32(c.text), text, wrap)
    if not text[0].isascii():  # the icon in the colour of the plate's edge
        draw.add_text(imgui.get_font(), font, (left, top + 0.35 * font), style.u32(color), text[0])
    return p1[1] + 0.4 * font
