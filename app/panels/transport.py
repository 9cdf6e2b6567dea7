"""Time: play, steps, events, speed, the time line, and the record button."""

import math
from collections.abc import Callable
from typing import NamedTuple

from imgui_bundle import imgui

from ...physics.core.language import N_, _, labelled
from ...physics.look.zeno import Series, series_of
from ...physics.methods import METHODS
from ...physics.run.messages import (
    PHASES,
    Command,
    Event,
    GoToEvent,
    Pause,
    Play,
    Reset,
    Seek,
    SetSpeed,
    Snapshot,
    Step,
    StepToEvent,
)
from ..preferences import PictureSize, videos_folder
from ..ui_state import Rect, UiState
from . import style

Send = Callable[[Command], None]
#: sizes of videos and pictures, as the preferences hold them
SIZES: dict[PictureSize, str] = {
    "window": N_("Size of the view"), "1280x720": "1280 × 720", "1920x1080": "1920 × 1080", "3840x2160": "3840 × 2160",
}
#: what the phases of an event show
SHOWS = {
    "before": N_("The instant of the event, with the velocities and contacts that it finds"),
    "at": N_("The instant of the event, with the velocities and contacts that it leaves"),
    "after": N_("The end of the step in which it happens; from there the run goes on"),
}
NARROW = 32.0  # width [font heights] of a window whose time stands in the status bar
ONLY_STEPS = N_("\n{} knows the step of an event, not its instant: before is the beginning of the step, at and "
                 "after are "
                "its end")


def draw_transport(ui: UiState, snapshot: Snapshot | None, send: Send, rect: Rect) -> None:
    with style.panel("transport", rect, imgui.WindowFlags_.no_scrollbar) as shown:
        if not shown or snapshot is None:
            return
        narrow = rect[2] < NARROW * ui.font  # keys and menus do what then has no button
        _buttons(ui, send, narrow)
        imgui.same_line(0, 1.0 * ui.font)
        if rect[2] > 54.0 * ui.font:  # + and - do it, too
            _speed(ui, snapshot, send)
            imgui.same_line(0, 1.0 * ui.font)
        _phases(ui, snapshot, send)
        button = 5.6 if rect[2] > 44.0 * ui.font else 2.2  # width of the record button [font heights]
        _time_line(ui, snapshot, send, reserve=((3.7 if narrow else 11.9) + button) * ui.font)
        if not narrow:
            imgui.same_line(0, 0.8 * ui.font)
            _clock(ui, snapshot)
        imgui.same_line(imgui.get_window_width() - (2.7 + button) * ui.font)
        _record(ui, button)


def _buttons(ui: UiState, send: Send, narrow: bool) -> None:
    if not narrow:
        if style.icon_button(ui, "edit", "\uf044", _("Edit the scene: add, move and change bodies  (Ctrl+E)")):
            ui.request("edit")
        imgui.same_line(0, 0.6 * ui.font)
    if style.icon_button(ui, "reset", "\uf2ea", _("Reset  (Backspace)")):
        send(Reset())
    imgui.same_line(0, 0.6 * ui.font)
    for name, icon, tip, command in (
        ("previous_event", "\uf049", _("Back to the instant of the previous event  (↑)"), StepToEvent(-1)),
        ("step_back", "\uf048", _("One step back  (,)"), Step(-1)),
    )[1 if narrow else 0:]:
        if style.icon_button(ui, name, icon, tip):
            send(command)
        imgui.same_line(0, 0.2 * ui.font)
    icon, tip = ("\uf04c", _("Pause  (Space)")) if ui.playing else ("\uf04b", _("Play  (Space)"))
    if style.icon_button(ui, "play", icon, tip, width=3.2, on=True):
        send(Pause() if ui.playing else Play())
    for name, icon, tip, command in (
        ("step_forward", "\uf051", _("One step forward  (.)"), Step(1)),
        ("next_event", "\uf050", _("On to the instant of the next event  (↓)"), StepToEvent(1)),
    ):
        imgui.same_line(0, 0.2 * ui.font)
        if style.icon_button(ui, name, icon, tip):
            send(command)


def _speed(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Slow motion, on a logarithmic scale from ×0.01 to ×1."""
    imgui.set_next_item_width(6.0 * ui.font)
    asked = ui.asked.get("speed")
    shown = asked[0] if asked is not None and ui.clock < asked[1] else snapshot.speed
    changed, speed = style.slider("speed", shown, 0.01, 1.0, "%.3f", ui, logarithmic=True)
    if changed:
        if speed > 0.95:  # the end of the slider is exactly real time
            speed = 1.0
        ui.asked["speed"] = speed, ui.clock + 0.5
        send(SetSpeed(speed))
    imgui.set_item_tooltip(_("Speed: simulated seconds per second  (+ and −)"))
    imgui.same_line(0, 0.4 * ui.font)
    imgui.align_text_to_frame_padding()
    imgui.text(f"× {shown:.2f}")
    imgui.same_line(0, 0.4 * ui.font)
    slow = snapshot.at_events < 1.0
    if style.icon_button(ui, "slow_at_events", "\uf0e7", "", on=slow):
        ui.request("slow_at_events")
    imgui.set_item_tooltip(_("Slow motion around contact events{slow}").format(slow=_(': on') if slow else ''))


def _phases(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """While an event is looked at: its three phases, one of which is shown."""
    instant = snapshot.instant
    if instant is None:
        return
    method = (snapshot.sides[instant.side] if snapshot.sides else snapshot).settings.method
    for phase in PHASES:
        if style.tab(ui, phase.capitalize(), phase == instant.phase, f"phase_{phase}"):
            send(GoToEvent(snapshot.step, instant.t, phase, instant.side))
        more = _(ONLY_STEPS).format(_(METHODS[method].title)) if method == "time_stepping" else ""
        imgui.set_item_tooltip(_(SHOWS[phase]) + more)
        imgui.same_line(0, 0.2 * ui.font)
    imgui.same_line(0, 0.8 * ui.font)


def _time_line(ui: UiState, snapshot: Snapshot, send: Send, reserve: float) -> None:
    """The reachable past as a bar with a mark for every event; dragging seeks in it."""
    c = style.colors(ui)
    first, last = snapshot.history
    ends = ends_ahead(snapshot)
    shown = max([last, *(end.step for end in ends)])  # the step at the right end
    width = max(imgui.get_content_region_avail().x - reserve, 4.0 * ui.font)
    height = imgui.get_frame_height()
    x, y = imgui.get_cursor_screen_pos()
    imgui.invisible_button("time_line", (width, height))
    hovered, active = imgui.is_item_hovered(), imgui.is_item_active()
    span = max(shown - first, 1)
    if active and last > first:
        share = min(max((imgui.get_mouse_pos().x - x) / width, 0.0), 1.0)
        target = min(first + round(share * span), last)
        if imgui.is_item_activated() and ui.playing:
            send(Pause())
        if target != snapshot.step:
            send(Seek(target))
    draw = imgui.get_window_draw_list()
    middle, half = y + 0.5 * height, 0.16 * ui.font
    now = x + width * min(max((snapshot.step - first) / span, 0.0), 1.0)
    draw.add_rect_filled((x, middle - half), (x + width, middle + half), style.u32(c.raised), half)
    past = c.kinetic if snapshot.replaying else c.accent
    draw.add_rect_filled((x, middle - half), (now, middle + half), style.u32(past, 0.55), half)
    _event_marks(ui, snapshot, (x, y, width, height), span)
    for end in ends:
        at = x + width * (end.step - first) / span
        size = 3.0 * half
        draw.add_quad((at - size, middle), (at, middle - size), (at + size, middle), (at, middle + size),
                      style.u32(c.warning), 1.5 * ui.preferences.scale)
    if snapshot.differs is not None and first <= snapshot.differs <= last:
        at = x + width * (snapshot.differs - first) / span
        draw.add_line((at, y), (at, y + height), style.u32(c.danger), 2.0 * ui.preferences.scale)
    radius = (0.42 if hovered or active else 0.36) * ui.font
    draw.add_circle_filled((now, middle), radius, style.u32(c.accent))
    if hovered and not active:
        lines = [_("Time line: drag to go back and forth. Marks are contact events."), *replay(snapshot)]
        lines += [_("Diamond: t = {end:.6g} s, when infinitely many blows of "
                  "{bodies} "
                  "will be over").format(end=end.series.end,
                                         bodies=_(' and ').join(snapshot.labels.bodies[i] if i >= 0 else _('the world')
                                                                for i in end.series.bodies)) for end in ends]
        imgui.set_tooltip("\n".join(lines))


class EndAhead(NamedTuple):
    """A series of impacts whose end is still to come."""

    series: Series
    step: float  #: in which it ends, counted as the history's


def ends_ahead(snapshot: Snapshot) -> list[EndAhead]:
    """Series of impacts that end soon enough to be shown: within half of the time that the time line holds."""
    first, last = snapshot.history
    found = (EndAhead(one, snapshot.step + (one.end - snapshot.t) / snapshot.settings.h)
             for one in series_of(snapshot.events))
    return [end for end in found if max(last, snapshot.step) < end.step <= last + 0.5 * (last - first)]


def replay(snapshot: Snapshot) -> list[str]:
    """What there is to say of a recorded run, a line each."""
    lines = []
    if snapshot.replaying:
        lines.append(_("A recorded run: it goes on as it was until you change something, which begins a branch."))
    if snapshot.differs is not None:
        lines.append(_("Red: step {differs}, the first that does not come out as it was "
                       "recorded.").format(differs=snapshot.differs))
    return lines


def _event_marks(ui: UiState, snapshot: Snapshot, rect: Rect, span: float) -> None:
    """A tick for each event, at most one a pixel: impacts tall, others short. span: steps that `rect` holds."""
    x, y, width, height = rect
    first, last = snapshot.history
    draw = imgui.get_window_draw_list()
    drawn: set[int] = set()
    for event in reversed(snapshot.events):
        if not first <= event.step <= last:
            continue
        at = round(x + width * (event.step - first) / span)
        if at in drawn:
            continue
        drawn.add(at)
        tall = 0.34 if event.kind == "impact" else 0.22
        middle = y + 0.5 * height
        mark = style.u32(_event_color(ui, event), 0.9)
        draw.add_line((at, middle - tall * height), (at, middle + tall * height), mark)


def _event_color(ui: UiState, event: Event) -> style.Color:
    c = style.colors(ui)
    return c.warning if event.kind == "impact" else c.muted


def _clock(ui: UiState, snapshot: Snapshot) -> None:
    imgui.align_text_to_frame_padding()
    with style.font(ui, bold=True):
        imgui.text(f"t = {snapshot.now:.3f} s")
    exactly = "" if snapshot.instant is None else f"{snapshot.now:.9f} s, "
    imgui.set_item_tooltip(_("{exactly}step {step}, h = {h:.4g} ms").format(exactly=exactly, step=snapshot.step,
                                                                            h=snapshot.settings.h * 1e3))
    imgui.same_line()
    if ui.playing and snapshot.paused:  # a recording makes the steps
        style.muted(ui, f"× {snapshot.speed:.2g}")
    elif ui.playing and math.isfinite(snapshot.real_time_factor):
        c = style.colors(ui)
        with style.color(imgui.Col_.text, c.warning if snapshot.behind else c.muted):
            imgui.text(f"× {snapshot.real_time_factor:.2f}")
        imgui.set_item_tooltip(_("Real-time factor: simulated seconds per second, measured")
                               + (_(". This machine is slower than asked.") if snapshot.behind else ""))
    else:
        style.muted(ui, _("searching") if snapshot.searching else _("paused"))


def _record(ui: UiState, width: float) -> None:
    """The record button, `width` font heights wide, and its options."""
    c = style.colors(ui)
    running = ui.recording is not None
    with style.color(imgui.Col_.text, c.on_accent if running else c.danger), \
            style.color(imgui.Col_.button, c.danger if running else c.raised):
        label = f"\uf04d {ui.recording.seconds:4.1f} s" if ui.recording is not None else "\uf111 " + _("Record")
        if imgui.button(f"{label if width > 5.0 else label[0]}##record", (width * ui.font, 0)):
            ui.request("record")
    imgui.set_item_tooltip(_("Stop and save  (V)") if running else _("Record a video  (V)"))
    imgui.same_line(0, 0.2 * ui.font)
    if imgui.button("\uf013##record_options"):
        imgui.open_popup("record_options")
    imgui.set_item_tooltip(_("Recording options"))
    if imgui.begin_popup("record_options"):
        draw_record_options(ui)
        imgui.end_popup()


def draw_record_options(ui: UiState) -> None:
    p = ui.preferences
    style.heading(ui, _("Recording"))
    if style.radio(ui, labelled("MP4 video (H.264)"), p.record_format == "mp4"):
        p.record_format = "mp4"
    if style.radio(ui, labelled("Animated GIF"), p.record_format == "gif"):
        p.record_format = "gif"
    imgui.separator()
    for fps in (30, 60):
        if style.radio(ui, _("{fps} frames per second").format(fps=fps), p.record_fps == fps):
            p.record_fps = fps
    imgui.separator()
    if style.radio(ui, labelled("In simulated time: smooth even on a slow machine"), not p.record_as_seen):
        p.record_as_seen = False
    if style.radio(ui, labelled("As seen on the screen"), p.record_as_seen):
        p.record_as_seen = True
    imgui.separator()
    p.record_panels = imgui.checkbox(labelled("With the panels"), p.record_panels)[1]
    imgui.begin_disabled(p.record_panels)
    for k, (size, words) in enumerate(SIZES.items()):
        if k % 2:
            imgui.same_line(11.0 * ui.font)
        if style.radio(ui, f"{words}##size", p.record_size == size and not p.record_panels):
            p.record_size = size
    imgui.end_disabled()
    imgui.set_item_tooltip(_("Videos and pictures of the view in a size of its own are drawn once more, with its "
                             "camera"))
    imgui.separator()
    style.muted(ui, _("Folder"))
    imgui.set_next_item_width(20.0 * ui.font)
    # as long as the preferences hold, of which a longer text would not be saved
    text = imgui.input_text_with_hint("##record_folder", str(videos_folder("")), p.record_folder)[1]
    p.record_folder = text[:4096]
    imgui.set_item_tooltip(_("Videos and pictures go to {folder}; made where it is missing").format(
        folder=videos_folder(p.record_folder)))
    if imgui.menu_item_simple(labelled("Video of this run \u2026"), ""):
        ui.request("film")
    imgui.set_item_tooltip(_("From its beginning: with captions, curves beside the view, slow motion"))
    if imgui.menu_item_simple(labelled("Save a picture now"), "F12"):
        ui.request("screenshot")
