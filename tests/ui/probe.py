"""Panels without a window: frames are drawn by the null renderer, and widgets are found by their labels and clicked."""

from collections.abc import Callable

import pytest
from imgui_bundle import imgui

from contactlab.app.ui_state import UiState
from contactlab.app.view.imgui_backend import Gui

WATCHED = ("button", "small_button", "checkbox", "selectable", "slider_float", "slider_int", "invisible_button",
           "begin_combo", "menu_item_simple", "radio_button", "begin_menu", "collapsing_header",
           "input_text_with_hint", "input_text")


class Probe:
    """`draw` makes one frame's panels; where each widget was is then known by its label."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, draw: Callable[[UiState], None], ui: UiState,
                 size: tuple[int, int] = (1280, 800)) -> None:
        self.gui = Gui(None, size)
        self.ui = ui
        ui.bold = self.gui.bold
        self.draw = draw
        self.rects: dict[str, tuple[imgui.ImVec2, imgui.ImVec2]] = {}
        for name in WATCHED:
            monkeypatch.setattr(imgui, name, self._watched(getattr(imgui, name)))
        self.frame(3)

    def _watched(self, original: Callable) -> Callable:
        def widget(label: str, *args, **keywords):
            result = original(label, *args, **keywords)
            # a menu or a box that opened is a window of its own, and its last item is not this one
            self.rects[label.rpartition("###")[2]] = (imgui.get_item_rect_min(), imgui.get_item_rect_max())
            return result

        return widget

    def frame(self, count: int = 1) -> None:
        for _ in range(count):
            self.gui.use()
            self.ui.clock += 1.0 / 60.0
            self.gui.new_frame()
            self.draw(self.ui)
            self.gui.finish()

    def drawn(self) -> set[str]:
        """The labels of the widgets of the next frame."""
        self.rects.clear()
        self.frame()
        return set(self.rects)

    def move(self, label: str, share: float = 0.5) -> None:
        """Put the mouse on a widget, `share` of its width from the left."""
        lo, hi = self.rects[label]
        self.gui.io.add_mouse_pos_event(lo.x + share * (hi.x - lo.x), 0.5 * (lo.y + hi.y))
        self.frame(2)

    def click(self, label: str, share: float = 0.5) -> None:
        self.move(label, share)
        self.gui.io.add_mouse_button_event(0, True)
        self.frame(2)
        self.gui.io.add_mouse_button_event(0, False)
        self.frame(2)

    def type(self, text: str) -> None:
        self.gui.io.add_input_characters_utf8(text)
        self.frame(3)

    def key(self, key: imgui.Key) -> None:
        self.gui.io.add_key_event(key, True)
        self.frame(2)
        self.gui.io.add_key_event(key, False)
        self.frame(2)
