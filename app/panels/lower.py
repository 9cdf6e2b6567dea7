"""The lower area, by tabs: contacts and energy, the timeline, looks into the contact equations, the ledger, sides."""

from collections.abc import Callable

from imgui_bundle import imgui

from ...physics.run.messages import Command, Snapshot
from .. import inspected
from ..keys import key_of
from ..ui_state import TABS, Rect, UiState
from . import style
from .compare import draw_compare
from .contacts import draw_contacts
from .energy import draw_energy
from .equations import draw_equations
from .impact import draw_impact
from .ledger import draw_ledger
from .pivots import draw_pivots
from .step import draw_step
from .timeline import draw_timeline

Send = Callable[[Command], None]
PANELS = {
    "equations": draw_equations, "impact": draw_impact, "pivots": draw_pivots, "step": draw_step,
    "ledger": draw_ledger, "compare": draw_compare, "timeline": draw_timeline,
}
LOW = ("contacts", "timeline", "compare")  # tabs that need no more height than a table


def height(ui: UiState, room: float) -> float:
    """Of the lower area in `room` [pixels] beside the view."""
    p = ui.preferences
    if p.lower_tab in LOW:
        lines = p.lower_height if p.lower_tab == "contacts" else max(p.lower_height, 15.0)  # plots under a choice
        return min(lines * ui.font, 0.5 * room)
    return 0.86 * room if ui.inspector.large else min(p.inspector_height * ui.font, 0.66 * room)


def resize(ui: UiState, dragged: float) -> None:
    """The upper edge was dragged down by so many pixels."""
    p = ui.preferences
    if p.lower_tab in LOW:
        p.lower_height = min(max(p.lower_height - dragged / ui.font, 7.0), 60.0)
    elif dragged:
        ui.inspector.large = False
        p.inspector_height = min(max(p.inspector_height - dragged / ui.font, 12.0), 80.0)


def draw_lower(ui: UiState, snapshot: Snapshot, send: Send, rect: Rect, gap: float) -> None:
    x, y, w, h = rect
    tab = ui.preferences.lower_tab
    width = w if tab != "contacts" else 0.64 * (w - gap)
    ui.plates.append((x, y, width, h))
    flags = imgui.WindowFlags_.no_scrollbar | imgui.WindowFlags_.no_scroll_with_mouse
    with style.panel("contacts_panel", ui.plates[-1], flags) as shown:
        if shown:
            _tabs(ui)
            if tab == "contacts":
                draw_contacts(ui, snapshot, send)
            else:
                PANELS[tab](ui, snapshot, send)
    if tab == "contacts":
        ui.plates.append((x + width + gap, y, w - width - gap, h))
        with style.panel("energy_panel", ui.plates[-1], imgui.WindowFlags_.no_scrollbar) as shown:
            if shown:
                draw_energy(ui, snapshot, send)


def _tabs(ui: UiState) -> None:
    for name, title in TABS.items():
        if style.tab(ui, title, ui.preferences.lower_tab == name, f"tab_{name}"):
            ui.preferences.lower_tab = name
        key = key_of(f"tab_{name}")
        if key:
            imgui.set_item_tooltip(f"{title}  ({key})")
        imgui.same_line(0, 0.2 * ui.font)
    if ui.preferences.lower_tab in LOW:
        imgui.new_line()
        return
    imgui.same_line(imgui.get_window_width() - 3.4 * ui.font)
    icon = "\uf066" if ui.inspector.large else "\uf065"
    if style.icon_button(ui, "large", icon, f"Larger or smaller  ({key_of('tab_large')})"):
        ui.inspector.large = not ui.inspector.large


def ask(ui: UiState, send: Send) -> None:
    """Tell the engine what is looked at now, where that has changed."""
    wanted = inspected.wish(ui)
    if wanted != ui.inspector.sent:
        ui.inspector.sent = wanted
        send(wanted)
