"""Curves beside the view of a video: drawn as those of the tab Plot, up to the instant that is shown, on axes that have
room for the whole run."""

from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.model import Array
from ..panels import style
from ..panels.plot import colors, draw_curve, draw_dashes
from ..panels.timeline import color_of
from ..ui_state import Rect, UiState

MARGIN = 0.07       # of an axis above and below what is drawn
LETTERS = 17.0      # size of letters [pixels at scale 1]


class Drawn(NamedTuple):
    """A curve."""

    title: str      #: with its unit
    unit: str
    points: Array   #: (k, 2) time [s] and value; nan where it is unknown
    expected: Array | None = None  #: (k, 2) by a closed form


class Plotted(NamedTuple):
    """All that is plotted."""

    span: tuple[float, float]  #: [s]
    curves: tuple[Drawn, ...]
    events: tuple[tuple[float, str], ...] = ()  #: times [s] and kinds, marked by lines


def upto(points: Array, now: float) -> Array:
    """The part of a curve up to a time, with its value there."""
    k = int(np.searchsorted(points[:, 0], now, side="right"))
    if not 0 < k < len(points):
        return points[:k]
    (t0, y0), (t1, y1) = points[k - 1], points[k]
    return np.vstack([points[:k], [now, y0 + (y1 - y0) * (now - t0) / (t1 - t0)]])


def room(curves: tuple[Drawn, ...]) -> tuple[float, float]:
    """The ends of an axis with all values of some curves, and a margin."""
    values = np.concatenate([p[:, 1] for c in curves for p in (c.points, c.expected) if p is not None] or [np.zeros(1)])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - 1.0, high + 1.0
    return low - MARGIN * (high - low), high + MARGIN * (high - low)


def draw_curves(ui: UiState, plotted: Plotted, rect: Rect, now: float) -> None:
    """A plot a unit, one below the other, or next to each other where there is more room; over each the names of its
    curves."""
    units = list(dict.fromkeys(curve.unit for curve in plotted.curves))
    x, y, w, h = rect
    pad = 0.9 * ui.font
    imgui.set_next_window_pos((x + pad, y + pad))
    imgui.set_next_window_size((w - 2.0 * pad, h - 2.0 * pad))
    flags = style.PANEL_FLAGS | imgui.WindowFlags_.no_inputs | imgui.WindowFlags_.no_scrollbar
    imgui.begin("video_curves", None, flags)
    room_x, room_y = imgui.get_content_region_avail()
    across = room_x > 2.0 * room_y
    wide = room_x / (len(units) if across else 1)
    high = room_y / (1 if across else len(units))
    left, top = imgui.get_cursor_pos()
    with style.font(ui, size=LETTERS):
        for k, unit in enumerate(units):
            imgui.set_cursor_pos((left + k * wide, top) if across else (left, top + k * high))
            own = [(n, curve) for n, curve in enumerate(plotted.curves) if curve.unit == unit]
            imgui.begin_group()
            for n, curve in own:
                _name(ui, n, curve, wide)
            used = imgui.get_cursor_pos_y() - (top if across else top + k * high)
            size = wide - 0.8 * ui.font, high - used - 0.4 * ui.font
            _plot(ui, plotted, own, unit, now, size, across or k == len(units) - 1)
            imgui.end_group()
    imgui.end()


def _name(ui: UiState, n: int, curve: Drawn, wide: float) -> None:
    """A line in the colour of the curve, and its name."""
    left, top = imgui.get_cursor_screen_pos()
    middle = top + 0.5 * imgui.get_text_line_height()
    imgui.get_window_draw_list().add_line((left, middle), (left + ui.font, middle), style.u32(colors(ui)[n]),
                                          3.0 * ui.preferences.scale)
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + 1.4 * ui.font)
    imgui.text(style.clipped_text(curve.title, wide - 2.4 * ui.font))


def _plot(ui: UiState, plotted: Plotted, own: list[tuple[int, Drawn]], unit: str, now: float,
          size: tuple[float, float], last: bool) -> None:
    flags = implot.Flags_.no_title | implot.Flags_.no_legend | implot.Flags_.no_inputs
    implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
    if implot.begin_plot(f"##video_{unit}", size, flags):
        implot.setup_axis(implot.ImAxis_.x1, "t [s]" if last else "",
                          0 if last else implot.AxisFlags_.no_tick_labels)
        implot.setup_axis(implot.ImAxis_.y1, f"[{unit}]" if unit else "")
        implot.setup_axis_limits(implot.ImAxis_.x1, *plotted.span, implot.Cond_.always)
        implot.setup_axis_limits(implot.ImAxis_.y1, *room(tuple(c for _, c in own)), implot.Cond_.always)
        for kind in dict.fromkeys(kind for _, kind in plotted.events):
            at = np.array([t for t, other in plotted.events if other == kind and t <= now])
            if len(at):
                implot.plot_inf_lines(f"##{kind}", at, implot.Spec(
                    line_color=(*color_of(ui, kind)[:3], 0.35), line_weight=ui.preferences.scale))
        for n, curve in own:
            known = upto(curve.points, now)
            known = known[np.isfinite(known[:, 1])]
            if len(known):
                x, y = (np.ascontiguousarray(column) for column in known.T)
                draw_curve(ui, n, x, y, (float(x[-1]), float(y[-1])))
            if curve.expected is not None:
                draw_dashes(ui, n, *upto(curve.expected, now).T)
        implot.end_plot()
    implot.pop_style_var()
