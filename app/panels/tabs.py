"""What a tab of the lower area is. Each panel file ends with its own, `TAB`; `lower.TABS` lists them."""

from collections.abc import Callable
from typing import NamedTuple

from ...physics.run.messages import Command, Inspect, Snapshot
from ..ui_state import UiState

Draw = Callable[[UiState, Snapshot, Callable[[Command], None]], None]


def nothing(ui: UiState, snapshot: Snapshot) -> Inspect:
    """A tab that shows only what every snapshot has."""
    return Inspect()


def always(snapshot: Snapshot) -> bool:
    """A tab that every scene has."""
    return True


class Tab(NamedTuple):
    """A page of the lower area. From it follow the button, the command "tab_NAME", its entries in the menu and in the
    palette, and its key."""

    name: str             # in the file of preferences, too
    title: str
    draw: Draw
    key: str = ""         # as in `keys.KEYS`
    asks: Callable[[UiState, Snapshot], Inspect] = nothing  # what the engine shall look into while the tab is open
    lines: float | None = None  # least height [font heights] of a low tab; None = a tall one, with a height of its own
    beside: Draw | None = None  # a second panel at the right
    there: Callable[[Snapshot], bool] = always  # whether the tab stands in the row


def is_open(ui: UiState, name: str) -> bool:
    """Whether this tab is open and can be seen."""
    p = ui.preferences
    return p.lower and p.lower_tab == name and not ui.panels_hidden
