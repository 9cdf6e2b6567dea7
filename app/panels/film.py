"""The box from which a video of the run so far is made: what is chosen, and how far the making is."""

from collections.abc import Callable

from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled
from ...physics.run.messages import Command, Snapshot
from ..preferences import videos_folder
from ..ui_state import UiState
from . import style

FORMATS = {"mp4": N_("MP4 (H.264)"), "gif": N_("GIF, small enough to mail"), "webp": N_("WebP, small enough to mail"),
           "png": N_("Pictures (PNG)")}
SIZES = {"1280x720": "1280 × 720", "1920x1080": "1920 × 1080", "3840x2160": "3840 × 2160"}
THEMES = {"dark": N_("Dark"), "light": N_("Light, for print")}


def draw_film(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The contents of the box."""
    p, status = ui.preferences, ui.film_status
    first, last = snapshot.history
    with style.font(ui, bold=True, size=20.0):
        imgui.text(_("Video of this run"))
    style.muted(ui, _("All {n} steps that the time line reaches are shown once more, in simulated time, with "
                    "this camera and these switches of the view. The window can be used "
                    "meanwhile.").format(n=last - first), wrap=True)
    imgui.begin_disabled(status is not None)
    for title, options, name in ((_("Format"), FORMATS, "film_format"), (_("Size"), SIZES, "record_size"),
                                 (_("Theme"), THEMES, "film_theme")):
        imgui.dummy((0, 0.2 * ui.font))
        style.heading(ui, title)
        _choice(ui, options, name)
    imgui.dummy((0, 0.2 * ui.font))
    style.heading(ui, _("Frames per second"))
    for k, fps in enumerate((25, 30, 60)):
        if k:
            imgui.same_line(0, 1.2 * ui.font)
        if style.radio(ui, f"{fps}##film_fps", p.record_fps == fps):
            p.record_fps = fps
    imgui.dummy((0, 0.2 * ui.font))
    p.film_slow = imgui.checkbox(labelled("Slow motion around events"), p.film_slow)[1]
    p.film_captions = imgui.checkbox(labelled("Captions tell the events"), p.film_captions)[1]
    p.film_plot = imgui.checkbox(labelled("Curves beside the view"), p.film_plot)[1]
    imgui.set_item_tooltip(_("Those of the tab Plot; without any the height of the selected body"))
    imgui.end_disabled()
    imgui.separator()
    style.muted(ui, _("To {folder}").format(folder=videos_folder(p.record_folder)), wrap=True)
    _buttons(ui, last > first)


def _choice(ui: UiState, options: dict[str, str], name: str) -> None:
    """Radio buttons in one or two columns for a field of the preferences."""
    p = ui.preferences
    now = getattr(p, name)
    for k, (value, words) in enumerate(options.items()):
        if k % 2:
            imgui.same_line(15.0 * ui.font)
        chosen = now == value or (name == "record_size" and now == "window" and value == "1920x1080")
        if style.radio(ui, labelled(f"{words}##{name}"), chosen):
            setattr(p, name, value)


def _buttons(ui: UiState, any_steps: bool) -> None:
    if ui.film_status is not None:
        imgui.progress_bar(ui.film_status.share, (14.0 * ui.font, imgui.get_frame_height()),
                           f"{100.0 * ui.film_status.share:.0f} %")
        imgui.same_line()
        if imgui.button(labelled("Cancel##film")):
            ui.request("film_cancel")
    else:
        imgui.begin_disabled(not any_steps)
        if imgui.button(labelled("Make the video##film")):
            ui.request("film_make")
        imgui.end_disabled()
        if not any_steps and imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled):
            imgui.set_tooltip(_("Nothing has been run yet"))
    imgui.same_line()
    if imgui.button(labelled("Close##film")):
        ui.film = False
