"""A panel that fails is closed: a sentence stands in its place, and everything else goes on.

`layout` draws every panel through `guard`. What a panel had begun when it failed (windows, tables, colours, plots) is
ended here, so that no error of one panel can reach another one, or the view.
"""

import traceback
from collections.abc import Callable

from imgui_bundle import imgui, implot

from ...physics.core.language import _, labelled
from ..ui_state import Failure, Rect, UiState
from . import style
from .wrapping import text_wrapped


def guard(ui: UiState, title: str, rect: Rect | None, draw: Callable[[], object]) -> None:
    """Draw a panel of this title. Where it fails, or has failed, say so at `rect`, or in the present window."""
    if rect is not None:
        ui.places[title] = rect
    if title in ui.failures or not attempt(ui, title, draw):
        if rect is None:
            closed(ui, title)
            return
        imgui.push_style_var(imgui.StyleVar_.window_padding, (12 * ui.preferences.scale, 4 * ui.preferences.scale))
        with style.panel(f"{title}_closed", rect, imgui.WindowFlags_.no_scrollbar):
            imgui.pop_style_var()
            closed(ui, title)


def attempt(ui: UiState, title: str, draw: Callable[[], object]) -> bool:
    """Draw. False where that fails: what was begun is then ended, and the failure noted."""
    begun = imgui.internal.ErrorRecoveryState()
    imgui.internal.error_recovery_store_state(begun)
    try:
        draw()
        return True
    except Exception as error:
        recover(begun)
        ui.failures[title] = Failure(_("{title} failed: {error}").format(title=title, error=sentence(error)),
                                     "".join(traceback.format_exception(error)))
        return False


def recover(begun: imgui.internal.ErrorRecoveryState) -> None:
    """End everything that was begun after this state was stored."""
    io = imgui.get_io()
    io.config_error_recovery_enable_assert = io.config_error_recovery_enable_tooltip = False
    imgui.internal.error_recovery_try_to_recover_state(begun)
    io.config_error_recovery_enable_assert = io.config_error_recovery_enable_tooltip = True
    implot.internal.reset_ctx_for_next_plot(implot.get_current_context())


def closed(ui: UiState, title: str) -> None:
    """In place of a panel: a button that copies a report, one that opens the panel again, and what happened."""
    failure = ui.failures[title]
    if imgui.small_button(labelled(f"Report##{title}")):
        ui.request("report", failure)
    imgui.set_item_tooltip(_("Copy a text for those who can mend this: versions, scene, last commands, where it "
                             "failed"))
    imgui.same_line(0, 0.4 * ui.font)
    if imgui.small_button(labelled(f"Open again##{title}")):
        del ui.failures[title]
    imgui.same_line(0, 0.6 * ui.font)
    with style.color(imgui.Col_.text, style.colors(ui).warning):
        text_wrapped(f"\uf071  {failure.sentence}")


def sentence(error: Exception) -> str:
    """What an exception says, in one line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}." if said else f"{type(error).__name__}."
