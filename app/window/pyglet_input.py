"""From pyglet's events to Dear ImGui's, and what Dear ImGui wants of the window: cursor and clipboard."""

from typing import Any

from imgui_bundle import imgui
from pyglet.window import BaseWindow, key, mouse

K = imgui.Key
KEYS: dict[int, imgui.Key] = {
    key.TAB: K.tab, key.LEFT: K.left_arrow, key.RIGHT: K.right_arrow, key.UP: K.up_arrow, key.DOWN: K.down_arrow,
    key.PAGEUP: K.page_up, key.PAGEDOWN: K.page_down, key.HOME: K.home, key.END: K.end, key.INSERT: K.insert,
    key.DELETE: K.delete, key.BACKSPACE: K.backspace, key.SPACE: K.space, key.ENTER: K.enter, key.ESCAPE: K.escape,
    key.NUM_ENTER: K.keypad_enter, key.MINUS: K.minus, key.EQUAL: K.equal, key.PERIOD: K.period, key.COMMA: K.comma,
    key.SLASH: K.slash, key.A: K.a, key.C: K.c, key.V: K.v, key.X: K.x, key.Y: K.y, key.Z: K.z,
    **{getattr(key, f"_{d}"): getattr(K, f"_{d}") for d in range(10)},
    **{getattr(key, f"NUM_{d}"): getattr(K, f"keypad{d}") for d in range(10)},
}
BUTTONS = {mouse.LEFT: 0, mouse.RIGHT: 1, mouse.MIDDLE: 2}
BUTTON_NAMES = {mouse.LEFT: "left", mouse.RIGHT: "right", mouse.MIDDLE: "middle"}
CURSORS: dict[int, str | None] = {
    imgui.MouseCursor_.text_input: BaseWindow.CURSOR_TEXT,
    imgui.MouseCursor_.resize_ew: BaseWindow.CURSOR_SIZE_LEFT_RIGHT,
    imgui.MouseCursor_.resize_ns: BaseWindow.CURSOR_SIZE_UP_DOWN,
    imgui.MouseCursor_.hand: BaseWindow.CURSOR_HAND,
}


def modifier_names(modifiers: int) -> frozenset[str]:
    """pyglet's modifier bits as keys.MODIFIERS; the command key of a Mac counts as Ctrl."""
    names = set()
    if modifiers & (key.MOD_CTRL | key.MOD_COMMAND):
        names.add("Ctrl")
    if modifiers & key.MOD_SHIFT:
        names.add("Shift")
    if modifiers & (key.MOD_ALT | key.MOD_OPTION):
        names.add("Alt")
    return frozenset(names)


class Input:
    """Feeds the context `io` belongs to. Positions are in window units, y up, as pyglet gives them."""

    def __init__(self, window: BaseWindow, io: imgui.IO) -> None:
        self.window, self.io = window, io
        self._cursor = -1
        platform = imgui.get_platform_io()
        platform.platform_get_clipboard_text_fn = lambda _: window.get_clipboard_text() or ""
        platform.platform_set_clipboard_text_fn = lambda _, text: window.set_clipboard_text(text)

    def motion(self, x: float, y: float) -> None:
        self.io.add_mouse_pos_event(x, self.window.height - y)

    def leave(self) -> None:
        self.io.add_mouse_pos_event(-1e9, -1e9)

    def button(self, button: int, down: bool) -> None:
        if button in BUTTONS:
            self.io.add_mouse_button_event(BUTTONS[button], down)

    def wheel(self, across: float, up: float) -> None:
        """pyglet counts scrolling right as positive, Dear ImGui left."""
        self.io.add_mouse_wheel_event(-across, up)

    def modifiers(self, modifiers: int) -> None:
        held = modifier_names(modifiers)
        self.io.add_key_event(K.mod_ctrl, "Ctrl" in held)
        self.io.add_key_event(K.mod_shift, "Shift" in held)
        self.io.add_key_event(K.mod_alt, "Alt" in held)

    def key(self, symbol: int, modifiers: int, down: bool) -> None:
        """Keys that type text are passed on only with Ctrl, or on release: Dear ImGui gives every change of a key a
        frame of its own, and fast typing would lag behind on a slow machine."""
        self.modifiers(modifiers)
        writes = 32 < symbol < 127 and "Ctrl" not in modifier_names(modifiers)
        if symbol in KEYS and not (writes and down):
            self.io.add_key_event(KEYS[symbol], down)

    def text(self, text: str) -> None:
        printable = "".join(c for c in text if c.isprintable())
        if printable:
            self.io.add_input_characters_utf8(printable)

    def focus(self, focused: bool) -> None:
        self.io.add_focus_event(focused)

    def show_cursor(self) -> None:
        """The pointer that the last frame asked for."""
        wanted = imgui.get_mouse_cursor()
        if wanted != self._cursor:
            self._cursor = wanted
            shape = CURSORS.get(imgui.MouseCursor_(wanted), BaseWindow.CURSOR_DEFAULT)
            window: Any = self.window  # pyglet: None, the default pointer, is allowed
            window.set_mouse_cursor(window.get_system_mouse_cursor(shape))
