"""Where every panel goes: a fixed layout around the 3-D view, with three edges that can be dragged."""

from collections.abc import Callable
from functools import partial

from imgui_bundle import imgui

from ...physics.core.language import N_
from ...physics.run.messages import Command, Curve, Snapshot
from ..ui_state import Rect, UiState
from . import bench, compare, dialogs, lower, menus, pictures, plot, style, view, watch
from .author import draw_author
from .by_keys import walk
from .gallery import draw_gallery
from .guard import guard
from .lesson import draw_lesson
from .parameters import draw_parameters
from .status import draw_status
from .transport import draw_transport

Send = Callable[[Command], None]
UNDER = 64.0      # width of a window below which the lower area takes all of it [font heights]
PRESENTED = 0.42  # of the width for the text of a presentation
GAP = 2.0  # [pixels at scale 1] between panels
VIEW = N_("The view")  # title under which the window notes that the view failed


def draw_ui(ui: UiState, snapshot: Snapshot | None, send: Send) -> None:
    """One frame of the whole interface."""
    style.apply(ui)
    walk(ui)
    _menus(ui)
    display = imgui.get_io().display_size
    ui.plates.clear()
    ui.places.clear()
    pictures.sweep(ui)
    ui.view.vectors, ui.view.joint_arrows, ui.view.rejected, ui.view.answers = None, None, None, ()
    if snapshot is not None and ui.course.on and ui.course.presenting:
        _presentation(ui, snapshot, send, display.x, display.y)
    elif snapshot is None or ui.panels_hidden:
        ui.view_rect = (0.0, 0.0, display.x, display.y)
    else:
        _panels(ui, snapshot, send, display.x, display.y)
    x, y, w, h = ui.view_rect
    if snapshot is not None:
        guard(ui, "What the panels ask for", (x, y + h - 9.0 * ui.font, w, 3.0 * ui.font),
              lambda: (lower.ask(ui, snapshot, send), watch.ask(ui, snapshot, _curves(ui, snapshot), send)))
        guard(ui, "The texts over the view", (x, y + h - 6.0 * ui.font, w, 3.0 * ui.font),
              lambda: view.draw_over_view(ui, snapshot, send))
    if VIEW in ui.failures:
        guard(ui, VIEW, (x, y, w, 4.0 * ui.font), lambda: None)
    guard(ui, "A box over the view", (x, y + h - 3.0 * ui.font, w, 3.0 * ui.font),
          lambda: (dialogs.draw_progress(ui, snapshot), dialogs.draw_dialogs(ui, snapshot, send)))


def _curves(ui: UiState, snapshot: Snapshot) -> list[Curve]:
    """The curves that panels want recorded."""
    return [*compare.wanted(ui, snapshot), *plot.wanted(ui, snapshot)]


def _menus(ui: UiState) -> None:
    """Shut what is open of menus and lists where that was asked for."""
    if ui.shut_menus:
        imgui.internal.close_popup_to_level(0, True)
    ui.shut_menus = False
    ui.menu_open = imgui.is_popup_open("", imgui.PopupFlags_.any_popup)


def _panels(ui: UiState, snapshot: Snapshot, send: Send, width: float, height: float) -> None:
    p, font, gap = ui.preferences, ui.font, GAP * ui.preferences.scale
    top = imgui.get_frame_height()
    guard(ui, "The menu bar", (0.0, 0.0, width, top), lambda: menus.draw_menus(ui, snapshot, send))
    top += gap
    status_height = 1.55 * font
    transport_height = imgui.get_frame_height() + 20 * p.scale
    bottom = height - status_height
    ui.plates.append((0.0, bottom, width, status_height))
    guard(ui, "The status bar", ui.plates[-1], partial(draw_status, ui, snapshot, send, ui.plates[-1]))
    bottom -= transport_height + gap
    ui.plates.append((0.0, bottom, width, transport_height))
    if ui.workbench.on:
        guard(ui, "The tools", ui.plates[-1], partial(bench.draw_tools, ui, ui.plates[-1]))
    else:
        guard(ui, "The time bar", ui.plates[-1], partial(draw_transport, ui, snapshot, send, ui.plates[-1]))
    bottom -= gap
    if ui.workbench.on:
        _workbench(ui, (0.0, top, width, bottom - top), gap)
        p.gallery_width = min(max(p.gallery_width, 10.0), 40.0)
        p.parameters_width = min(max(p.parameters_width, 15.0), 40.0)
        return
    left, right = 0.0, width
    if ui.course.on:
        left = _lesson(ui, snapshot, send, (0.0, top, min(p.lesson_width * font, 0.5 * width), bottom - top)) + gap
        p.lesson_width += _edge(ui, "lesson_edge", (left - gap, top, gap, bottom - top), 0) / font
        p.lesson_width = min(max(p.lesson_width, 16.0), 60.0)
    elif ui.author.on:
        left = min(p.lesson_width * font, (0.35 if p.parameters else 0.5) * width) + gap
        ui.plates.append((0.0, top, left - gap, bottom - top))
        guard(ui, "The author", ui.plates[-1], partial(draw_author, ui, snapshot, ui.plates[-1]))
    under = p.lower and width < UNDER * font  # all of a narrow window is as wide as what stands there wants to be
    if under:
        bottom = _lower(ui, snapshot, send, (left, top, width - left, bottom - top), gap)
    if p.parameters and not ui.course.on:
        wide = min(p.parameters_width * font, 0.35 * width)
        ui.plates.append((width - wide, top, wide, bottom - top))
        guard(ui, "The parameters", ui.plates[-1], partial(draw_parameters, ui, snapshot, send, ui.plates[-1]))
        p.parameters_width -= _edge(ui, "parameters_edge", (width - wide - gap, top, gap, bottom - top), 0) / font
        right = width - wide - gap
    if p.lower and not under:
        bottom = _lower(ui, snapshot, send, (left, top, right - left, bottom - top), gap)
    if p.gallery and not ui.course.on and not ui.author.on:
        wide = min(p.gallery_width * font, 0.3 * width)
        ui.plates.append((0.0, top, wide, bottom - top))
        guard(ui, "The gallery", ui.plates[-1], partial(draw_gallery, ui, snapshot, send, ui.plates[-1]))
        p.gallery_width += _edge(ui, "gallery_edge", (wide, top, gap, bottom - top), 0) / font
        left = wide + gap
    p.gallery_width = min(max(p.gallery_width, 10.0), 40.0)
    p.parameters_width = min(max(p.parameters_width, 15.0), 40.0)
    ui.view_rect = (left, top, max(right - left, 1.0), max(bottom - top, 1.0))


def _lower(ui: UiState, snapshot: Snapshot, send: Send, room: Rect, gap: float) -> float:
    """The lower area in this room; where what is above it ends [pixels]."""
    left, top, wide, high = room
    tall = lower.height(ui, high)
    bottom = top + high - tall
    ui.places[lower.TITLE] = (left, bottom, wide, tall)
    lower.draw_lower(ui, snapshot, send, ui.places[lower.TITLE], gap)
    lower.resize(ui, _edge(ui, "lower_edge", (left, bottom - gap, wide, gap), 1))
    return bottom - gap


def _lesson(ui: UiState, snapshot: Snapshot, send: Send, rect: Rect) -> float:
    """The lesson; where it ends at the right [pixels]."""
    ui.plates.append(rect)
    guard(ui, "The lesson", rect, partial(draw_lesson, ui, snapshot, send, rect))
    return rect[0] + rect[2]


def _presentation(ui: UiState, snapshot: Snapshot, send: Send, width: float, height: float) -> None:
    """The lesson and the view, and nothing else."""
    left = _lesson(ui, snapshot, send, (0.0, 0.0, PRESENTED * width, height)) + GAP * ui.preferences.scale
    ui.view_rect = (left, 0.0, max(width - left, 1.0), height)


def _workbench(ui: UiState, room: Rect, gap: float) -> None:
    """What the scene holds at the left, its fields at the right, and the view between them."""
    p, font = ui.preferences, ui.font
    x, top, width, tall = room
    left, right = min(p.gallery_width * font, 0.3 * width), min(p.parameters_width * font, 0.35 * width)
    ui.plates += [(x, top, left, tall), (x + width - right, top, right, tall)]
    guard(ui, "The scene's tables", ui.plates[-2], partial(bench.draw_bench, ui, ui.plates[-2]))
    guard(ui, "The fields", ui.plates[-1], partial(bench.draw_inspector, ui, ui.plates[-1]))
    p.gallery_width += _edge(ui, "gallery_edge", (x + left, top, gap, tall), 0) / font
    p.parameters_width -= _edge(ui, "parameters_edge", (x + width - right - gap, top, gap, tall), 0) / font
    ui.view_rect = (x + left + gap, top, max(width - left - right - 2 * gap, 1.0), max(tall, 1.0))


def _edge(ui: UiState, name: str, rect: Rect, axis: int) -> float:
    """An edge that can be dragged; returns how far it was dragged in this frame."""
    grip = 3.0 * ui.preferences.scale
    x, y, w, h = rect
    wide = (x - grip, y, w + 2 * grip, h) if axis == 0 else (x, y - grip, w, h + 2 * grip)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (0, 0))
    imgui.push_style_var(imgui.StyleVar_.window_min_size, (1, 1))
    moved = 0.0
    flags = imgui.WindowFlags_.no_background | imgui.WindowFlags_.no_scrollbar | imgui.WindowFlags_.no_nav
    with style.panel(name, wide, flags):
        imgui.pop_style_var(2)
        imgui.invisible_button("grip", (wide[2], wide[3]))
        if imgui.is_item_hovered() or imgui.is_item_active():
            imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew if axis == 0 else imgui.MouseCursor_.resize_ns)
            imgui.get_window_draw_list().add_rect_filled(
                (x, y), (x + w, y + h), style.u32(style.colors(ui).accent)
            )
        if imgui.is_item_active():
            moved = imgui.get_io().mouse_delta[axis]
    return moved
