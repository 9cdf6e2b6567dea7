"""The lower area: one panel at a time, chosen by tabs. Here stands the list of them."""

from collections.abc import Callable
from functools import partial

from imgui_bundle import imgui

from ...physics.core.language import N_, _
from ...physics.run.messages import Command, Inspect, Snapshot
from ..keys import bind, key_of
from ..ui_state import Rect, UiState
from . import (
    body,
    compare,
    contacts,
    drift,
    equations,
    impact,
    joint_forces,
    laws,
    ledger,
    modes,
    normals,
    pivots,
    plot,
    script,
    step,
    style,
    timeline,
    trees,
)
from .guard import guard
from .tabs import Tab

Send = Callable[[Command], None]
#: the first one is shown where a file of preferences names one that is not there
TABS: dict[str, Tab] = {tab.name: tab for tab in (
    contacts.TAB, script.TAB, body.TAB, plot.TAB, timeline.TAB, modes.TAB, laws.TAB, equations.TAB,
    normals.TAB, drift.TAB, trees.TAB, joint_forces.TAB, impact.TAB, pivots.TAB, step.TAB, ledger.TAB, compare.TAB,
)}
TITLE = N_("Contacts and equations")
NARROW = 28.0  # [font heights] up to this width a tab has no panel beside it
SHARE = 0.7  # of the width for a tab that has a panel beside it

bind({tab.key: f"tab_{tab.name}" for tab in TABS.values() if tab.key})


def current(ui: UiState) -> Tab:
    """The tab that is shown, or would be if the lower area were."""
    return TABS.get(ui.preferences.lower_tab, contacts.TAB)


def height(ui: UiState, room: float) -> float:
    """Height of the lower area where it shares `room` [pixels] with the view."""
    p, least = ui.preferences, current(ui).lines
    if least is not None:
        return min(max(p.lower_height, least) * ui.font, 0.5 * room)
    return 0.86 * room if ui.inspector.large else min(p.inspector_height * ui.font, 0.66 * room)


def resize(ui: UiState, dragged: float) -> None:
    """Follow the upper edge, dragged down by `dragged` pixels."""
    p = ui.preferences
    if current(ui).lines is not None:
        p.lower_height = min(max(p.lower_height - dragged / ui.font, 7.0), 60.0)
    elif dragged:
        ui.inspector.large = False
        p.inspector_height = min(max(p.inspector_height - dragged / ui.font, 12.0), 80.0)


def draw_lower(ui: UiState, snapshot: Snapshot, send: Send, rect: Rect, gap: float) -> None:
    x, y, w, h = rect
    tab = current(ui)
    beside = tab.beside if w > NARROW * ui.font else None
    width = w if beside is None else SHARE * (w - gap)
    ui.plates.append((x, y, width, h))
    flags = imgui.WindowFlags_.no_scrollbar | imgui.WindowFlags_.no_scroll_with_mouse
    with style.panel("lower_panel", ui.plates[-1], flags) as shown:
        if shown:
            _row_of_tabs(ui, snapshot, tab)
            guard(ui, tab.title, None, lambda: tab.draw(ui, snapshot, send))
    if beside is not None:
        ui.plates.append((x + width + gap, y, w - width - gap, h))
        with style.panel("beside_panel", ui.plates[-1], imgui.WindowFlags_.no_scrollbar) as shown:
            if shown:
                guard(ui, f"The panel beside {tab.title}", None, partial(beside, ui, snapshot, send))


def _row_of_tabs(ui: UiState, snapshot: Snapshot, shown: Tab) -> None:
    """The tabs; of a tall panel the button for its size."""
    end = 3.4 * ui.font if shown.lines is None else 0.0
    pages = {tab.name: (tab.title, tab.key) for tab in TABS.values() if tab is shown or tab.there(snapshot)}
    chosen = style.tabs(ui, "tab", pages, shown.name, imgui.get_content_region_avail().x - end)
    if chosen != shown.name:  # a tab of another version that the preferences name is not forgotten
        ui.preferences.lower_tab = chosen
    if shown.lines is not None:
        imgui.new_line()
        return
    imgui.same_line(imgui.get_window_width() - end)
    icon = "\uf066" if ui.inspector.large else "\uf065"
    if style.icon_button(ui, "large", icon, _("Larger or smaller  ({key})").format(key=key_of("tab_large"))):
        ui.inspector.large = not ui.inspector.large


def wish(ui: UiState, snapshot: Snapshot) -> Inspect:
    """What the engine shall inspect for the panels that are open."""
    if ui.panels_hidden or not ui.preferences.lower:
        return Inspect()
    return current(ui).asks(ui, snapshot)


def ask(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Tell the engine what to inspect, where that has changed."""
    wanted = wish(ui, snapshot)
    if wanted != ui.inspector.sent:
        ui.inspector.sent = wanted
        send(wanted)
