"""Rows of the panels: a name and its value, and the settings a slider asks for."""

from collections.abc import Callable
from typing import Any

from imgui_bundle import imgui

from ...physics.core.language import _
from ...physics.core.settings import SETTINGS
from ...physics.run.messages import Command, Set
from ..ui_state import UiState
from . import style

Send = Callable[[Command], None]
FULL = -1e-6  # item width: to the right edge
SOON = 0.5    # [s] a slider shows what was asked for until the engine has answered


def value_of(ui: UiState, name: str, engine: float) -> float:
    """What a slider shows: the value just asked for, until the engine's answer can have come."""
    asked = ui.asked.get(name)
    if asked is not None and ui.clock < asked[1]:
        return asked[0]
    return engine


def ask(ui: UiState, send: Send, name: str, shown: float, value: float | int | tuple[float, float, float]) -> None:
    """Set a setting; its slider shows `shown` until the engine has answered."""
    ui.asked[name] = (shown, ui.clock + SOON)
    send(Set(name, value))


def setting_slider(ui: UiState, name: str, shown: float) -> tuple[bool, float]:
    """The slider of a setting over the whole width: whether it was moved, and to where."""
    low, high, form, logarithmic = SETTINGS[name].slider[1:]
    imgui.set_next_item_width(FULL)
    return style.slider(name, shown, low, high, form, ui, logarithmic=logarithmic)


def value_row(ui: UiState, name: str, value: str, button: str = "") -> None:
    """A name at the left and its value at the right of a line, with room for a small button after it."""
    imgui.text(_(name))
    imgui.same_line()
    room = imgui.get_content_region_avail().x - imgui.calc_text_size(value).x
    if button:
        st = imgui.get_style()
        room -= imgui.calc_text_size(button).x + 2 * st.frame_padding.x + st.item_spacing.x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
    imgui.text(value)
    if button:
        imgui.same_line()


def right_aligned(ui: UiState, text: str) -> None:
    """A small muted text at the right edge of the line."""
    with style.font(ui, size=14.0):
        room = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
        style.muted(ui, text)


def as_materials_say(ui: UiState, name: str, send: Send) -> None:
    """The button that gives a setting of all contacts back to the materials."""
    if imgui.small_button(f"\uf0e2##{name}_materials"):
        ui.asked.pop(name, None)
        nothing: Any = None  # as the materials say
        send(Set(name, nothing))
    imgui.set_item_tooltip(_("All contacts alike; click to go back to what the materials say"))
