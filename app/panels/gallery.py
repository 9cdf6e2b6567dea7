"""The gallery: scenes with pictures, titles and summaries. A click opens one."""

from collections.abc import Callable
from typing import Any

from imgui_bundle import imgui

from ...physics.run.messages import Command, Snapshot
from ..ui_state import Rect, SceneEntry, UiState
from . import style


def draw_gallery(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None], rect: Rect) -> None:
    with style.panel("gallery", rect) as shown:
        if not shown:
            return
        style.heading(ui, "Scenes")
        imgui.same_line(imgui.get_content_region_avail().x - 1.2 * ui.font)
        with style.color(imgui.Col_.button, (0, 0, 0, 0)):
            if imgui.small_button("\uf100##hide_gallery"):
                ui.request("panel_gallery")
        imgui.set_item_tooltip("Hide the gallery (View menu shows it again)")
        imgui.begin_child("scenes")
        opened = imgui.get_scroll_max_y() > 0.0 and ui.scene_path != ui.gallery_at
        for entry in ui.scenes:
            _card(ui, entry, show=opened)
        if opened:
            ui.gallery_at = ui.scene_path
        imgui.end_child()


def _card(ui: UiState, entry: SceneEntry, show: bool) -> None:
    """One scene: picture if there is one, title, summary. show: scroll to it where it is the scene that runs."""
    c = style.colors(ui)
    current = entry.path == ui.scene_path
    width = imgui.get_content_region_avail().x
    pad, font = 0.5 * ui.font, ui.font
    inner = width - 2 * pad
    picture = inner * 9 / 16 if entry.thumbnail is not None else 0.0
    with style.font(ui, size=14.0):
        words = imgui.calc_text_size(entry.summary, False, inner).y if entry.summary else 0.0
    height = 2 * pad + (picture + 0.4 * font if picture else 0.0) + 1.25 * font + words
    x, y = imgui.get_cursor_screen_pos()
    if imgui.invisible_button(f"scene_{entry.key}", (width, height)):
        ui.request("open_path", entry.path)
    hovered = imgui.is_item_hovered()
    if show and current and not imgui.is_rect_visible((x, y + height - 1.0), (x + 1.0, y + height)):
        imgui.set_scroll_here_y(0.5)
    if not imgui.is_item_visible():
        return
    draw = imgui.get_window_draw_list()
    fill = c.pressed if imgui.is_item_active() else c.hovered if hovered else c.raised
    if hovered or current:
        draw.add_rect_filled((x, y), (x + width, y + height), style.u32(fill), 0.4 * font)
    if current:
        draw.add_rect_filled((x, y + 0.4 * font), (x + 3, y + height - 0.4 * font), style.u32(c.accent), 2.0)
    top = y + pad
    if picture:
        image: Any = entry.thumbnail
        draw.add_image_rounded(image, (x + pad, top), (x + pad + inner, top + picture), (0, 0), (1, 1),
                               style.u32((1, 1, 1, 1)), 0.3 * font)
        top += picture + 0.4 * font
    draw.add_text(ui.bold, round(font), (x + pad, top), style.u32(c.text), style.clipped_text(entry.title, inner))
    with style.font(ui, size=14.0):
        draw.add_text(imgui.get_font(), imgui.get_font_size(), (x + pad, top + 1.25 * font), style.u32(c.muted),
                      entry.summary, inner)
