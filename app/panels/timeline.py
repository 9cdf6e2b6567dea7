"""Timeline: every event as a mark, by kind in colour and shape, over the contact sets as bars; a click goes there."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _, labelled
from ...physics.look.timeline import ACTIVE, BEGIN, BODY_A, BODY_B, END, KEY, LEVEL
from ...physics.run.messages import Command, Event, GoToEvent, Pause, Seek, Snapshot
from ..reasons import reason_of
from ..ui_state import UiState
from ..view.contact_labels import impact_cases
from . import style
from .tabs import Tab

Send = Callable[[Command], None]
M = implot.Marker_
SHAPES = {
    "impact": M.diamond, "gain": M.down, "dynamic_loss": M.up, "geometric_loss": M.right, "active_set": M.square,
    "stick": M.circle, "slip": M.left, "inconsistent": M.cross, "motor_holds": M.plus, "motor_gives_in": M.asterisk,
    "crowd": M.asterisk, "turn": M.left, "turn_ends": M.circle,
}
EXPLAINED = {
    "impact": N_("Bodies collide"), "gain": N_("A contact joins the current set"),
    "dynamic_loss": N_("The force of a contact has sunk to zero: it lets go"),
    "geometric_loss": N_("A contact has left its face or edge"), "active_set": N_("Another basis carries the load"),
    "stick": N_("Slip has come to an end"), "slip": N_("Slip begins"),
    "turn": N_("A contact begins to spin or to roll: its moment is at its bound"),
    "turn_ends": N_("Spinning or rolling that a moment opposes has come to an end"),
             "inconsistent": N_("No forces obey the contact laws, or "
                                                                              "several that differ"),
    "motor_holds": N_("A motor has reached its speed and holds it"),
    "motor_gives_in": N_("A motor exerts all it can: it does not hold its speed"),
    "crowd": N_("Too many events: what these bodies do in the rest of the step is found at once, as by one implicit "
                "step"),
}
MOST_LISTED = 500
NEAR = 0.6     # of a font height from a mark: a click means it
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_mouse_text | implot.Flags_.no_title
        | implot.Flags_.no_legend)
WAYS = (("+", 0.5, N_("Closer")), ("–", 2.0, N_("Farther")))
MARGIN = 0.015  # of the whole time beside it


class TimelineRows(NamedTuple):
    """The contacts that have bars, one row each, in the order of their first one."""

    names: tuple[str, ...]
    of_key: dict[int, int]


def draw_timeline(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    if snapshot is None:
        return
    events = shown_events(ui, snapshot)
    imgui.begin_child("timeline_plot", (0.64 * imgui.get_content_region_avail().x, 0), 0,
                      imgui.WindowFlags_.no_scrollbar | imgui.WindowFlags_.no_scroll_with_mouse)
    _kinds(ui, snapshot)
    _plot(ui, snapshot, events, send)
    imgui.end_child()
    imgui.same_line(0, 0.8 * ui.font)
    imgui.begin_child("timeline_list")
    _list(ui, snapshot, events, send)
    imgui.end_child()


def color_of(ui: UiState, kind: str) -> style.Color:
    c = style.colors(ui)
    return {
        "impact": c.warning, "gain": c.spring, "dynamic_loss": c.potential, "geometric_loss": c.accent,
        "active_set": c.muted, "stick": c.total, "slip": c.kinetic, "inconsistent": c.danger,
        "motor_holds": c.accent, "motor_gives_in": c.warning,
        "crowd": c.danger, "turn": c.kinetic, "turn_ends": c.total,
    }.get(kind, c.text)


def shown_events(ui: UiState, snapshot: Snapshot) -> list[Event]:
    """The events of the ticked kinds within the reach of the history."""
    first, last = snapshot.history
    hidden = ui.timeline.hidden
    return [e for e in snapshot.timeline.events if first <= e.step <= last and e.kind not in hidden]


def rows_of(snapshot: Snapshot) -> TimelineRows:
    """Names of the two bodies; further contacts of the same two are numbered."""
    names, of_key, count = [], {}, {}
    bodies = snapshot.labels.bodies
    for key, a, b in snapshot.timeline.bars[:, [KEY, BODY_A, BODY_B]].astype(np.int64).tolist():
        if key in of_key:
            continue
        of_key[key] = len(names)
        number = count[a, b] = count.get((a, b), 0) + 1
        names.append(f"{bodies[a]} → {bodies[b]}" if number == 1 else f"{bodies[b]}  {number}")
    return TimelineRows(tuple(names), of_key)


# ------------------------------------------------------------------------------------------------------ the plot
def _kinds(ui: UiState, snapshot: Snapshot) -> None:
    """Above the plot: the kinds that there are, each with its mark; a click hides or shows one."""
    there = {e.kind for e in snapshot.timeline.events}
    hidden = ui.timeline.hidden
    with style.font(ui, size=13.0):
        for kind in (k for k in SHAPES if k in there):
            title = _(kind.replace("_", " "))
            if imgui.get_content_region_avail().x < imgui.calc_text_size(title).x + 1.0 * ui.font:
                imgui.new_line()
            x, y = imgui.get_cursor_screen_pos()
            color = color_of(ui, kind) if kind not in hidden else style.colors(ui).line
            mark(ui, kind, (x + 0.4 * ui.font, y + 0.5 * imgui.get_text_line_height()), style.u32(color))
            imgui.dummy((0.9 * ui.font, 0))
            imgui.same_line(0, 0)
            style.muted(ui, title)
            imgui.set_item_tooltip(_("{meaning}.  A click hides or shows these.").format(meaning=_(EXPLAINED[kind])))
            if imgui.is_item_clicked():
                hidden.symmetric_difference_update({kind})
            imgui.same_line(0, 0.8 * ui.font)
        if there:
            imgui.new_line()
        _sets(ui)
        imgui.same_line(imgui.get_window_width() - 5.6 * ui.font)
        for icon, factor, tip in WAYS:
            if imgui.small_button(f"{icon}##zoom_{tip}"):
                _zoom(ui, snapshot, factor)
            imgui.set_item_tooltip(_("{tip}, about the present  (wheel: about the mouse)").format(tip=_(tip)))
            imgui.same_line(0, 0.2 * ui.font)
        if imgui.small_button(labelled("All##timeline_all")):
            ui.timeline.span = None
        imgui.set_item_tooltip(_("The whole time  (double click)"))


def _sets(ui: UiState) -> None:
    """What the bars mean."""
    c, draw = style.colors(ui), imgui.get_window_draw_list()
    for title, color, half in ((_("active set"), (c.potential, 0.9), 0.26), (_("current set"), (c.spring, 0.75), 0.08)):
        x, y = imgui.get_cursor_screen_pos()
        middle = y + 0.5 * imgui.get_text_line_height()
        draw.add_rect_filled((x, middle - half * ui.font), (x + 1.4 * ui.font, middle + half * ui.font),
                             style.u32(*color), 0.1 * ui.font)
        imgui.dummy((1.5 * ui.font, 0))
        imgui.same_line(0, 0.2 * ui.font)
        style.muted(ui, title)
        imgui.same_line(0, 0.8 * ui.font)


def mark(ui: UiState, kind: str, at: tuple[float, float], color: int) -> None:
    """The mark of a kind outside of the plot."""
    draw, r, (x, y) = imgui.get_window_draw_list(), 0.3 * ui.font, at
    shape = SHAPES.get(kind, M.circle)
    corners = {
        M.diamond: ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)), M.down: ((-1, -0.7), (1, -0.7), (0, 1)),
        M.up: ((-1, 0.7), (1, 0.7), (0, -1)), M.right: ((-0.7, -1), (-0.7, 1), (1, 0)),
        M.left: ((0.7, -1), (0.7, 1), (-1, 0)), M.square: ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    }.get(shape)
    if corners:
        draw.add_convex_poly_filled([imgui.ImVec2(x + r * a, y + r * b) for a, b in corners], color)
    elif shape == M.cross:
        for s in (-1, 1):
            draw.add_line((x - 0.8 * r, y - s * 0.8 * r), (x + 0.8 * r, y + s * 0.8 * r), color, 2.0)
    elif shape in (M.plus, M.asterisk):
        for a, b in ((1.0, 0.0), (0.0, 1.0), (0.7, 0.7), (0.7, -0.7))[: 2 if shape == M.plus else 4]:
            draw.add_line((x - a * r, y - b * r), (x + a * r, y + b * r), color, 2.0)
    else:
        draw.add_circle_filled((x, y), 0.9 * r, color)


def reach(snapshot: Snapshot) -> tuple[float, float]:
    """From when to when the run can be gone to [s]."""
    first, last = snapshot.history
    low, high = (snapshot.t + (step - snapshot.step) * snapshot.h for step in (first, last))
    return min(low, snapshot.t), max(high, snapshot.t, low + snapshot.h)


def widened(span: tuple[float, float]) -> tuple[float, float]:
    """The span with a margin of MARGIN at both ends."""
    margin = MARGIN * (span[1] - span[0])
    return span[0] - margin, span[1] + margin


def _zoom(ui: UiState, snapshot: Snapshot, factor: float) -> None:
    """Show `factor` times as much time, the present where it was, or in the middle."""
    low, high = ui.timeline.span or widened(reach(snapshot))
    t = snapshot.now if low <= snapshot.now <= high else 0.5 * (low + high)
    ui.timeline.span = t - factor * (t - low), t + factor * (high - t)


def _plot(ui: UiState, snapshot: Snapshot, events: Sequence[Event], send: Send) -> None:
    rows, c, timeline = rows_of(snapshot), style.colors(ui), ui.timeline
    room = imgui.get_content_region_avail().y
    fits = max(3.0, (room - 2.2 * ui.font) / (1.15 * ui.font))  # lines
    low, high = timeline.span or widened(reach(snapshot))
    with style.font(ui, size=13.0):
        implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
        implot.push_style_var(implot.StyleVar_.plot_min_size, (60.0, 40.0))
        if implot.begin_plot("##timeline", (-1, -1), PLOT):
            plain = implot.AxisFlags_.no_label | implot.AxisFlags_.no_highlight
            implot.setup_axis(implot.ImAxis_.x1, "t [s]", plain)
            implot.setup_axis_limits(implot.ImAxis_.x1, low, high, implot.Cond_.always)
            implot.setup_axis_format(implot.ImAxis_.x1, _digits(high - low))
            implot.setup_axis(implot.ImAxis_.y1, "", plain | implot.AxisFlags_.invert | implot.AxisFlags_.no_grid_lines)
            top = min(max(timeline.top, -1.0), max(len(rows.names) - fits, -1.0))
            implot.setup_axis_limits(implot.ImAxis_.y1, top - 0.6, top - 0.6 + fits, implot.Cond_.always)
            shown = range(max(int(top), 0), min(len(rows.names), int(top + fits) + 1))
            implot.setup_axis_ticks(implot.ImAxis_.y1, [-1.0, *map(float, shown)],
                                    [_("Events"), *(style.clipped_text(rows.names[k], 9.0 * ui.font) for k in shown)])
            implot.setup_finish()
            _bars(ui, snapshot, rows)
            now = implot.Spec(line_color=c.accent, line_weight=2.0 * ui.preferences.scale)
            implot.plot_inf_lines("##now", np.array([snapshot.now]), now)
            if snapshot.differs is not None:
                t = snapshot.t + (snapshot.differs - snapshot.step) * snapshot.h
                other = implot.Spec(line_color=c.danger, line_weight=2.0 * ui.preferences.scale)
                implot.plot_inf_lines("##differs", np.array([t]), other)
            _marks(ui, events, rows, snapshot)
            timeline.top = top
            _mouse(ui, snapshot, events, send)
            implot.end_plot()
        implot.pop_style_var(2)


def _digits(span: float) -> str:
    """A format with enough decimal places for neighbouring ticks to differ."""
    return f"%.{int(np.clip(2 - np.floor(np.log10(max(span, 1e-12))), 1, 12))}f"


def _bars(ui: UiState, snapshot: Snapshot, rows: TimelineRows) -> None:
    """Thin: in the current set; thick: in the active one."""
    c, draw = style.colors(ui), implot.get_plot_draw_list()
    limits = implot.get_plot_limits()
    bars = snapshot.timeline.bars
    ends = np.where(np.isnan(bars[:, END]), max(reach(snapshot)[1], snapshot.t), bars[:, END])
    inside = np.flatnonzero((bars[:, BEGIN] <= limits.x.max) & (ends >= limits.x.min))
    implot.push_plot_clip_rect()
    thin, thick = style.u32(c.spring, 0.75), style.u32(c.potential, 0.9)
    for k in inside.tolist():
        y, active = rows.of_key[int(bars[k, KEY])], bars[k, LEVEL] == ACTIVE
        half = 0.32 if active else 0.1
        a = implot.plot_to_pixels(max(bars[k, BEGIN], limits.x.min), y - half)
        b = implot.plot_to_pixels(min(ends[k], limits.x.max), y + half)
        draw.add_rect_filled((a.x, min(a.y, b.y)), (max(b.x, a.x + 1.0), max(a.y, b.y)), thick if active else thin,
                             0.15 * ui.font)
    implot.pop_plot_clip_rect()


def _marks(ui: UiState, events: Sequence[Event], rows: TimelineRows, snapshot: Snapshot) -> None:
    """All events on the first line."""
    for kind in SHAPES:
        times = np.array([e.t for e in events if e.kind == kind])
        if not len(times):
            continue
        color = color_of(ui, kind)
        faint = implot.Spec(line_color=(*color[:3], 0.25), line_weight=1.0)
        if len(times) <= 200:
            implot.plot_inf_lines(f"##at_{kind}", times, faint)
        spec = implot.Spec(marker=int(SHAPES[kind]), marker_size=0.34 * ui.font, marker_fill_color=color,
                           marker_line_color=color)
        implot.plot_scatter(f"##{kind}", times, np.full(len(times), -1.0), spec)


def _mouse(ui: UiState, snapshot: Snapshot, events: Sequence[Event], send: Send) -> None:
    """The wheel zooms, dragging moves, a double click shows all, a click goes to a mark or to the time there."""
    timeline, io = ui.timeline, imgui.get_io()
    if not implot.is_plot_hovered():
        return
    at, limits, size = implot.get_plot_mouse_pos(), implot.get_plot_limits(), implot.get_plot_size()
    low, high = limits.x.min, limits.x.max
    if io.mouse_wheel:
        if imgui.is_key_down(imgui.Key.mod_shift):
            timeline.top -= 3.0 * io.mouse_wheel
        else:
            factor = 0.8**io.mouse_wheel
            if factor * (high - low) > 1e-9:
                timeline.span = at.x - factor * (at.x - low), at.x + factor * (high - at.x)
    if imgui.is_mouse_double_clicked(0):
        timeline.span = None
    elif imgui.is_mouse_dragging(0, 4.0):
        moved = io.mouse_delta.x / size.x * (high - low)
        timeline.span = low - moved, high - moved
        timeline.top -= io.mouse_delta.y / size.y * abs(limits.y.max - limits.y.min)
    near = nearest(events, at.x, NEAR * ui.font / size.x * (high - low))
    if near is not None:
        imgui.set_tooltip(told(snapshot, near))
    drag = imgui.get_io().mouse_drag_max_distance_sqr[0]
    if imgui.is_mouse_released(0) and drag < 16.0 and timeline.span_pressed == timeline.span:
        if near is not None:
            go_to_event(near, ui, send)
        else:
            go(snapshot, step_at(snapshot, at.x), ui, send)
    timeline.span_pressed = timeline.span


def nearest(events: Sequence[Event], t: float, within: float) -> Event | None:
    """The event nearest to a time [s]; an impact before others that are as near."""
    order = [(abs(e.t - t), e.kind != "impact", k) for k, e in enumerate(events) if abs(e.t - t) <= within]
    return events[min(order)[2]] if order else None


def step_at(snapshot: Snapshot, t: float) -> int:
    """The step nearest to a time [s] that can be gone to."""
    first, last = snapshot.history
    return min(max(snapshot.step + round((t - snapshot.t) / snapshot.h), first), last)


def go(snapshot: Snapshot, step: int, ui: UiState, send: Send) -> None:
    """Restore the state after a step, and stay there."""
    if ui.playing:
        send(Pause())
    if step != snapshot.step or snapshot.instant is not None:
        send(Seek(step))


def go_to_event(event: Event, ui: UiState, send: Send) -> None:
    """Show the instant of an event, and stay there."""
    if ui.playing:
        send(Pause())
    send(GoToEvent(event.step, event.t))


# ------------------------------------------------------------------------------------------------------ the list
def pair_name(snapshot: Snapshot, event: Event) -> str:
    a, b = (snapshot.labels.bodies[k] for k in event.bodies)
    return f"{a} → {b}"


def told(snapshot: Snapshot, event: Event) -> str:
    """An event in full."""
    lines = [f"{_(event.kind.replace('_', ' '))}  {impact_cases(event)}".strip(), pair_name(snapshot, event),
             _("t = {t:.9f} s, in step {step}").format(t=event.t, step=event.step)]
    if event.kind == "impact":
        lines.append(_("impulse {impulse}").format(impulse=style.engineering(float(np.linalg.norm(event.impulse)),
                                                                             'N s')))
    change = event.energy_after - event.energy_before
    more = _(", change {change}").format(change=style.engineering(change, 'J')) if change else ""
    lines.append(_("energy {energy_before:.6g} J{more}").format(energy_before=event.energy_before, more=more))
    if why := reason_of(event):
        lines.insert(1, why)
    return "\n".join([*lines, "Click: go there"])


def _list(ui: UiState, snapshot: Snapshot, events: list[Event], send: Send) -> None:
    """The events in words; those of the step just made, or of the instant that is shown, are lit."""
    listed = events[-MOST_LISTED:]
    style.heading(ui, _("Events   {events}").format(events=len(events)))
    if not events:
        style.muted(ui, _("Nothing has happened yet. ↓ goes on to the next event."), wrap=True)
        return
    flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_saved_settings
    with style.font(ui, size=13.0):
        columns = (("t [s]", 4.3), (_("Event"), 6.9), (_("Bodies and reason"), 9.0))
        least = sum(width for _name, width in columns) * ui.font
        narrow = imgui.get_content_region_avail().x < least
        if not imgui.begin_table("timeline_events", 3, flags | (imgui.TableFlags_.scroll_x if narrow else 0), (0, 0),
                                 least if narrow else 0.0):
            return
        imgui.table_setup_scroll_freeze(0, 1)
        for k, (name, width) in enumerate(columns):
            how = imgui.TableColumnFlags_.width_fixed if k < 2 else imgui.TableColumnFlags_.width_stretch
            imgui.table_setup_column(name, how, width * ui.font if k < 2 else 0.0)
        imgui.table_headers_row()
        present = max((k for k, e in enumerate(listed) if e.t <= snapshot.now), default=0)
        clipper = imgui.ListClipper()
        clipper.begin(len(listed))
        while clipper.step():
            for k in range(clipper.display_start, clipper.display_end):
                _line(ui, snapshot, listed[k], k, send)
        clipper.end()
        if ui.timeline.scrolled_to != (snapshot.now, len(listed)):
            height = imgui.get_text_line_height() + 2 * imgui.get_style().cell_padding.y
            imgui.set_scroll_y(max(0.0, (present + 2) * height - 0.7 * imgui.get_window_height()))
            ui.timeline.scrolled_to = snapshot.now, len(listed)
        imgui.end_table()


def _line(ui: UiState, snapshot: Snapshot, event: Event, k: int, send: Send) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    instant, later = snapshot.instant, event.t > snapshot.now
    shown = event.step == snapshot.step if instant is None else event.t == instant.t
    with style.color(imgui.Col_.text, style.colors(ui).muted if later else style.colors(ui).text):
        if imgui.selectable(f"{event.t:.6f}##event_{k}", shown,
                            imgui.SelectableFlags_.span_all_columns)[0]:
            go_to_event(event, ui, send)
        if imgui.is_item_hovered():
            imgui.set_tooltip(told(snapshot, event))
        imgui.table_next_column()
        x, y = imgui.get_cursor_screen_pos()
        mark(ui, event.kind, (x + 0.35 * ui.font, y + 0.5 * imgui.get_text_line_height()),
             style.u32(color_of(ui, event.kind)))
        imgui.dummy((0.9 * ui.font, 0))
        imgui.same_line(0, 0)
        imgui.text(f"{_(event.kind.replace('_', ' '))} {impact_cases(event)}")
        imgui.table_next_column()
        imgui.text(pair_name(snapshot, event))
        if why := reason_of(event):
            imgui.same_line(0, 0.6 * ui.font)
            style.muted(ui, why)


TAB = Tab("timeline", "Timeline", draw_timeline, "Shift+T", lines=15.0)
