"""Every control by the keyboard: F6 goes from panel to panel, Tab and the arrows inside of one from control to control,
Space presses, Enter writes, Esc leads back to the keys of the scene."""

from typing import Any

from imgui_bundle import imgui

from ..ui_state import UiState

NOT_WALKED = imgui.WindowFlags_.child_window | imgui.WindowFlags_.no_nav_inputs | imgui.WindowFlags_.tooltip


def walk(ui: UiState) -> None:
    """As a frame begins: let Dear ImGui have the keys or not, and go to the next panel where that was asked for."""
    io = imgui.get_io()
    on = imgui.ConfigFlags_.nav_enable_keyboard.value
    io.config_flags = io.config_flags | on if ui.by_keys else io.config_flags & ~on
    if ui.by_keys and ui.next_panel:
        _go_on(imgui.get_current_context())
    ui.next_panel = False


def _go_on(context: Any) -> None:
    """Put the cursor on the first control of the panel after the one that has it."""
    there = panels(context)
    if not there:
        return
    names = [window.name for window in there]
    root = context.nav_window.root_window.name if context.nav_window else ""
    window = there[(names.index(root) + 1) % len(there) if root in names and context.nav_cursor_visible else 0]
    bar = bool(window.flags & imgui.WindowFlags_.menu_bar)
    imgui.internal.focus_window(window)
    context.nav_layer = imgui.internal.NavLayer.menu if bar else imgui.internal.NavLayer.main
    imgui.internal.nav_init_window(window, True)
    context.nav_cursor_visible = True
    context.nav_highlight_item_under_nav = True


def panels(context: Any) -> list[Any]:
    """The windows with controls that are drawn: boxes over the view first, then from the left to the right."""
    found = [window for window in context.windows
             if window.was_active and not window.hidden and not window.flags & NOT_WALKED
             and not window.name.startswith("Debug##")]
    fixed = imgui.WindowFlags_.no_bring_to_front_on_focus | imgui.WindowFlags_.menu_bar
    return sorted(found, key=lambda window: (bool(window.flags & fixed), window.pos.x, window.pos.y))
