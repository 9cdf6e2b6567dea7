"""What is written over the 3-D view: labels, the legend, the error banner, notices, the recording light."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _
from ...physics.core.model import Array
from ...physics.run.messages import Command, Snapshot
from ..keys import key_of
from ..ui_state import Rect, UiState
from ..view.camera import Camera
from . import style

LONG = 2.0  # [s] at one step after which the view says so
NOTICE_PREFIX = "notice_"  # names of the windows that recordings leave out
STRAYED = 1.5   # [window units] from the point that it belongs to a label is seen to lag
ANOTHER = 40.0  # [window units] further off it is another label, which may wait for the panels


def draw_labels(ui: UiState, labels: Sequence[Any], camera: Camera, view: Rect) -> None:
    """World labels: `labels` have .position (3,), .text and .color; each is placed where `view` shows its point."""
    if not labels:
        return
    x, y, w, h = view
    places, depths = camera.project(np.array([label.position for label in labels]), w, h)
    draw = imgui.get_background_draw_list()
    draw.push_clip_rect((x, y), (x + w, y + h), True)
    c = style.colors(ui)
    size = float(round(14.0 * ui.preferences.scale))
    taken: list[Rect] = []
    for label, (px, py), depth in zip(labels, places, depths, strict=True):
        if not depth > 0.0:  # behind the eye, or of a body that is hidden
            continue
        width = imgui.calc_text_size(label.text).x * size / imgui.get_font_size()
        plate = lifted((x + px - 0.5 * width - 0.3 * size, y + py - 1.5 * size, width + 0.6 * size, 1.25 * size), taken)
        taken.append(plate)
        left, top, right, bottom = plate[0], plate[1], plate[0] + plate[2], plate[1] + plate[3]
        draw.add_rect_filled((left, top), (right, bottom), style.u32(c.panel, 0.72), 0.3 * size)
        color = style.u32((*label.color[:3], 1.0))
        draw.add_text(imgui.get_font(), size, (left + 0.3 * size, top + 0.1 * size), color, label.text)
    draw.pop_clip_rect()


def strayed(written: Array, now: Array) -> bool:
    """Whether a label written at one of the places (n, 2) [window units] belongs elsewhere by now, (m, 2)."""
    if not len(written) or not len(now):
        return False
    away = np.linalg.norm(now[:, None] - written, axis=2).min(axis=1)
    return bool(((away > STRAYED) & (away < ANOTHER)).any())


def lifted(plate: Rect, taken: Sequence[Rect]) -> Rect:
    """The plate (x, y, width, height), moved up until it covers none of those taken."""
    x, y, w, h = plate
    for left, top, wide, high in sorted(taken, key=lambda other: -other[1]):
        if x < left + wide and left < x + w and y < top + high and top < y + h:
            y = top - h
    return x, y, w, h


def draw_over_view(ui: UiState, snapshot: Snapshot | None, send: Callable[[Command], None]) -> None:
    ui.over_button = False
    top = ui.view_rect[1] + 0.6 * ui.font
    if ui.recording is not None:
        length = f"{ui.recording.seconds:.1f} s" + (_(" paused") if not ui.playing and not ui.recording.as_seen else "")
        top = _pill(ui, "light", top, f"\uf111  {length}  →  {ui.recording.path}", style.colors(ui).danger)
    if snapshot is not None and snapshot.error:
        top = _pill(ui, "error", top, "\uf071  " + _("Paused: {error}").format(error=snapshot.error),
                    style.colors(ui).danger)
    if ui.busy > LONG and ui.progress is None:
        told = _("At one step for {busy:.0f} s: ").format(busy=ui.busy)
        told += (_("what it needs is being compiled for this machine, once for all.") if ui.compiles else
                 _("this machine cannot keep up. Pause ends it; a smaller h may help."))
        top = _pill(ui, "busy", top, f"\uf071  {told}", style.colors(ui).warning)
    if snapshot is not None and snapshot.quiet and not snapshot.searching:
        told = _("No event within {quiet:g} s.").format(quiet=snapshot.quiet)
        top = _pill(ui, "quiet", top, told, style.colors(ui).accent, (_("Search on"), "next_event"))
    if ui.notice is not None:
        if ui.clock > ui.notice.until:
            ui.notice = None
        else:
            _pill(ui, "notice", top, ui.notice.text, style.colors(ui).accent)


def _pill(ui: UiState, name: str, top: float, text: str, color: style.Color,
          button: tuple[str, str] | None = None) -> float:
    """A line of text on a rounded plate, centred in the view, with a button: its label and the command that it asks
    for. Returns where the next one goes.

    Each is a window of its own, so that recordings can leave it out.
    """
    x, _, w, _ = ui.view_rect
    c = style.colors(ui)
    font = ui.font
    wrap = max(w - 4 * font, 8 * font)
    size = imgui.calc_text_size(text, False, wrap)
    more = 0.0 if button is None else imgui.calc_text_size(button[0]).x + 2.2 * font
    left = x + 0.5 * (w - size.x - more)
    p0, p1 = (left - 0.8 * font, top), (left + size.x + more + 0.8 * font, top + size.y + 0.7 * font)
    imgui.set_next_window_pos((p0[0] - 2, p0[1] - 2))
    imgui.set_next_window_size((p1[0] - p0[0] + 4, p1[1] - p0[1] + 4))
    flags = imgui.WindowFlags_.no_background | imgui.WindowFlags_.no_focus_on_appearing
    if button is None:
        flags |= imgui.WindowFlags_.no_inputs
    imgui.begin(NOTICE_PREFIX + name, None, style.PANEL_FLAGS | flags)
    draw = imgui.get_window_draw_list()
    draw.add_rect_filled(p0, p1, style.u32(c.panel, 0.94), 0.5 * font)
    draw.add_rect(p0, p1, style.u32(color), 0.5 * font, 1.5)
    draw.add_text(imgui.get_font(), round(font), (left, top + 0.35 * font), style.u32(c.text), text, wrap)
    if not text[0].isascii():  # the icon in the colour of the plate's edge
        draw.add_text(imgui.get_font(), round(font), (left, top + 0.35 * font), style.u32(color), text[0])
    if button is not None:
        imgui.set_cursor_screen_pos((left + size.x + 1.0 * font, top + 0.35 * font))
        if imgui.small_button(f"{button[0]}##{name}"):
            ui.request(button[1])
        imgui.set_item_tooltip(key_of(button[1]))
        ui.over_button |= imgui.is_item_hovered()
    imgui.end()
    return p1[1] + 0.4 * font


def draw_caption(ui: UiState, snapshot: Snapshot, title: str | None = None, clock: bool = True) -> None:
    """Title, else the scene's, and time, for videos without panels."""
    c = style.colors(ui)
    font = ui.font
    x, y, w, _h = ui.view_rect
    draw = imgui.get_background_draw_list()
    words = snapshot.labels.title if title is None else title
    draw.add_text(ui.bold, round(1.25 * font), (x + font, y + 0.8 * font), style.u32(c.text), words)
    if not clock:
        return
    text = f"t = {snapshot.now:.2f} s"
    if snapshot.speed != 1.0:
        text += f"   × {snapshot.speed:.2g}"
    width = imgui.calc_text_size(text).x
    draw.add_text(imgui.get_font(), round(font), (x + w - width - font, y + 0.9 * font), style.u32(c.text), text)
