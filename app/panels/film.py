"""The box from which a video of the run so far is made: what is chosen, and how far the making is."""

from collections.abc import Callable

from imgui_bundle import imgui

from ...physics.run.messages import Command, Snapshot
from ..preferences import videos_folder
from ..ui_state import UiState
from . import style

FORMATS = {"mp4": "MP4 (H.264)", "gif": "GIF, small enough to mail", "webp": "WebP, small enough to mail",
           "png": "Pictures (PNG)"}
SIZES = {"1280x720": "1280 × 720", "1920x1080": "1920 × 1080", "3840x2160": "3840 × 2160"}
THEMES = {"dark": "Dark", "light": "Light, for print"}


def draw_film(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The contents of the box."""
    p, status = ui.preferences, ui.film_status
    first, last = snapshot.history
    with style.font(ui, bold=True, size=20.0):
        imgui.text("Video of this run")
    style.muted(ui, f"All {last - first} steps that the time line reaches are shown once more, in simulated time, with "
                    "this camera and these switches of the view. The window can be used meanwhile.", wrap=True)
    imgui.begin_disabled(status is not None)
    for title, options, name in (("Format", FORMATS, "film_format"), ("Size", SIZES, "record_size"),
                                 ("Theme", THEMES, "film_theme")):
        imgui.dummy((0, 0.2 * ui.font))
        style.heading(ui, title)
        _choice(ui, options, name)
    imgui.dummy((0, 0.2 * ui.font))
    style.heading(ui, "Frames per second")
    for k, fps in enumerate((25, 30, 60)):
        if k:
            imgui.same_line(0, 1.2 * ui.font)
        if style.radio(ui, f"{fps}##film_fps", p.record_fps == fps):
            p.record_fps = fps
    imgui.dummy((0, 0.2 * ui.font))
    p.film_slow = imgui.checkbox("Slow motion around events", p.film_slow)[1]
    p.film_captions = imgui.checkbox("Captions tell the events", p.film_captions)[1]
    p.film_plot = imgui.checkbox("Curves beside the view", p.film_plot)[1]
    imgui.set_item_tooltip("Those of the tab Plot; without any the height of the selected body")
    imgui.end_disabled()
    imgui.separator()
    style.muted(ui, f"To {videos_folder(p.record_folder)}", wrap=True)
    _buttons(ui, last > first)


def _choice(ui: UiState, options: dict[str, str], name: str) -> None:
    """Radio buttons in one or two columns for a field of the preferences."""
    p = ui.preferences
    now = getattr(p, name)
    for k, (value, words) in enumerate(options.items()):
        if k % 2:
            imgui.same_line(15.0 * ui.font)
        chosen = now == value or (name == "record_size" and now == "window" and value == "1920x1080")
        if style.radio(ui, f"{words}##{name}", chosen):
            setattr(p, name, value)


def _buttons(ui: UiState, any_steps: bool) -> None:
    if ui.film_status is not None:
        imgui.progress_bar(ui.film_status.share, (14.0 * ui.font, imgui.get_frame_height()),
                           f"{100.0 * ui.film_status.share:.0f} %")
        imgui.same_line()
        if imgui.button("Cancel##film"):
            ui.request("film_cancel")
    else:
        imgui.begin_disabled(not any_steps)
        if imgui.button("Make the video##film"):
            ui.request("film_make")
        imgui.end_disabled()
        if not any_steps and imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled):
            imgui.set_tooltip("Nothing has been run yet")
    imgui.same_line()
    if imgui.button("Close##film"):
        ui.film = False
