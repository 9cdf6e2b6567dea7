"""Look of the panels: two palettes, sizes from the font height, and the few widgets that Dear ImGui lacks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import moderngl
from imgui_bundle import imgui, implot, implot3d

from ...physics.core.language import _, labelled
from ..ui_state import Rect, UiState
from .wrapping import text_wrapped

Color = tuple[float, float, float, float]


def rgb(text: str, alpha: float = 1.0) -> Color:
    """ "#4c9be8" -> (0.30, 0.61, 0.91, 1)."""
    return (int(text[1:3], 16) / 255, int(text[3:5], 16) / 255, int(text[5:7], 16) / 255, alpha)


TAB_GAP = 0.2  # [font heights] between tabs


class Colors(NamedTuple):
    background: Color  # behind the panels
    panel: Color
    raised: Color      # frames, buttons
    hovered: Color
    pressed: Color
    line: Color
    text: Color
    muted: Color
    accent: Color
    on_accent: Color
    warning: Color
    danger: Color
    kinetic: Color     # curves of the energy plot
    potential: Color
    spring: Color
    total: Color
    violet: Color      # of curves beside these


DARK = Colors(
    background=rgb("#0f1115"), panel=rgb("#181b21"), raised=rgb("#262b34"), hovered=rgb("#313845"),
    pressed=rgb("#3b4454"), line=rgb("#2c323d"), text=rgb("#e8ebf0"), muted=rgb("#99a3b3"), accent=rgb("#4f9df0"),
    on_accent=rgb("#0b1220"), warning=rgb("#e8b04a"), danger=rgb("#ef6a5e"),
    kinetic=rgb("#e69f00"), potential=rgb("#56b4e9"), spring=rgb("#2fb88f"), total=rgb("#f2f4f8"),
    violet=rgb("#9a6cff"),
)
LIGHT = Colors(
    background=rgb("#dfe3e8"), panel=rgb("#f7f8fa"), raised=rgb("#e6e9ee"), hovered=rgb("#d9dee6"),
    pressed=rgb("#c8d0db"), line=rgb("#d3d8df"), text=rgb("#1b2230"), muted=rgb("#586273"), accent=rgb("#1a6fd4"),
    on_accent=rgb("#ffffff"), warning=rgb("#9a6200"), danger=rgb("#b4143c"),
    kinetic=rgb("#b86e00"), potential=rgb("#0072b2"), spring=rgb("#00815c"), total=rgb("#1b2230"),
    violet=rgb("#6c3fc0"),
)

PANEL_FLAGS = (
    imgui.WindowFlags_.no_title_bar | imgui.WindowFlags_.no_resize | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_collapse | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_bring_to_front_on_focus | imgui.WindowFlags_.no_background
)


def colors(ui: UiState) -> Colors:
    return DARK if ui.preferences.dark else LIGHT


def u32(color: Color, alpha: float = 1.0) -> int:
    return imgui.get_color_u32((color[0], color[1], color[2], color[3] * alpha))


def apply(ui: UiState) -> None:
    """Set Dear ImGui's style to the theme and the text size of the preferences."""
    c = colors(ui)
    style = imgui.get_style()
    style.font_scale_dpi = ui.preferences.scale
    _sizes(style, ui.preferences.scale)
    transparent = (0.0, 0.0, 0.0, 0.0)
    C = imgui.Col_
    table = {
        C.text: c.text, C.text_disabled: c.muted, C.window_bg: c.panel, C.child_bg: transparent, C.popup_bg: c.panel,
        C.border: c.line, C.frame_bg: c.raised, C.frame_bg_hovered: c.hovered, C.frame_bg_active: c.pressed,
        C.title_bg: c.panel, C.title_bg_active: c.panel, C.menu_bar_bg: c.panel, C.scrollbar_bg: transparent,
        C.scrollbar_grab: c.hovered, C.scrollbar_grab_hovered: c.pressed, C.scrollbar_grab_active: c.pressed,
        C.check_mark: c.on_accent, C.checkbox_selected_bg: c.accent,
        C.slider_grab: c.accent, C.slider_grab_active: c.accent, C.button: c.raised,
        C.button_hovered: c.hovered, C.button_active: c.pressed, C.header: c.raised, C.header_hovered: c.hovered,
        C.header_active: c.pressed, C.separator: c.line, C.separator_hovered: c.accent, C.separator_active: c.accent,
        C.table_header_bg: c.panel, C.table_border_light: c.line, C.table_border_strong: c.line,
        C.table_row_bg: transparent, C.table_row_bg_alt: (*c.raised[:3], 0.35),
        C.text_selected_bg: (*c.accent[:3], 0.35), C.plot_histogram: c.accent, C.modal_window_dim_bg: (0, 0, 0, 0.45),
        C.nav_cursor: c.accent, C.input_text_cursor: c.text, C.tab: c.panel, C.tab_hovered: c.hovered,
        C.tab_selected: c.raised, C.text_link: c.accent,
    }
    for slot, color in table.items():
        style.set_color_(slot, color)
    _plot_style(c)


def _sizes(style: imgui.Style, scale: float) -> None:
    style.window_rounding = style.child_rounding = 0.0
    style.frame_rounding = style.grab_rounding = style.popup_rounding = 4.0 * scale
    style.scrollbar_rounding = 6.0 * scale
    style.window_border_size = 0.0
    style.popup_border_size = style.child_border_size = 1.0
    style.frame_border_size = 0.0
    style.window_padding = imgui.ImVec2(12 * scale, 10 * scale)
    style.frame_padding = imgui.ImVec2(8 * scale, 4 * scale)
    style.item_spacing = imgui.ImVec2(8 * scale, 6 * scale)
    style.item_inner_spacing = imgui.ImVec2(6 * scale, 4 * scale)
    style.cell_padding = imgui.ImVec2(6 * scale, 3 * scale)
    style.scrollbar_size = 10 * scale
    style.grab_min_size = 12 * scale
    style.indent_spacing = 14 * scale


def _plot_style(c: Colors) -> None:
    style = implot.get_style()
    transparent = (0.0, 0.0, 0.0, 0.0)
    P = implot.Col_
    for slot, color in {
        P.frame_bg: transparent, P.plot_bg: transparent, P.plot_border: c.line, P.legend_bg: (*c.panel[:3], 0.85),
        P.legend_border: transparent, P.legend_text: c.text, P.axis_text: c.muted, P.axis_grid: (*c.muted[:3], 0.18),
        P.axis_tick: transparent, P.axis_bg: transparent, P.title_text: c.text, P.inlay_text: c.muted,
        P.crosshairs: c.muted, P.selection: c.accent,
    }.items():
        style.set_color_(slot, color)
    space, S = implot3d.get_style(), implot3d.Col_
    for slot, color in {
        S.frame_bg: transparent, S.plot_bg: transparent, S.plot_border: c.line, S.axis_text: c.muted,
        S.axis_grid: (*c.muted[:3], 0.18), S.axis_tick: transparent, S.axis_bg: transparent, S.title_text: c.text,
    }.items():
        space.set_color(slot, color)


def fill(target: moderngl.Framebuffer, ui: UiState, height: int, ratio: float = 1.0) -> None:
    """The colours behind everything: filled as clears, which on a software renderer cost a tenth of drawn rectangles.

    `height` of the target [pixels], `ratio`: pixels per window unit.
    """
    c = colors(ui)
    target.clear(*c.background[:3], 1.0)
    for x, y, w, h in ui.plates:
        left, top, right, bottom = edges((x, y, w, h), ratio)
        if right > left and bottom > top:
            target.clear(*c.panel[:3], 1.0, viewport=(left, height - bottom, right - left, bottom - top))


def edges(rect: Rect, ratio: float) -> tuple[int, int, int, int]:
    """Left, top, right and bottom [pixels] of a rectangle in window units."""
    x, y, w, h = rect
    return round(x * ratio), round(y * ratio), round((x + w) * ratio), round((y + h) * ratio)


@contextmanager
def panel(name: str, rect: Rect, flags: int = 0) -> Iterator[bool]:
    """A window without title and background at a fixed place. Where its contents fail, `guard.recover` ends it, for a
    part of them may still be open."""
    imgui.set_next_window_pos(rect[:2])
    imgui.set_next_window_size((max(rect[2], 1.0), max(rect[3], 1.0)))
    yield imgui.begin(name, None, PANEL_FLAGS | flags)[0]
    imgui.end()


@contextmanager
def room(ui: UiState, name: str, width: float) -> Iterator[None]:
    """What has to be of this width [font heights] at least: where there is less, it is moved sideways."""
    least = width * ui.font
    if imgui.get_content_region_avail().x >= least:
        yield
        return
    imgui.set_next_window_content_size((least, 0.0))
    imgui.begin_child(name, (0.0, 0.0), 0, imgui.WindowFlags_.horizontal_scrollbar)
    yield
    imgui.end_child()


@contextmanager
def color(slot: int, value: Color) -> Iterator[None]:
    imgui.push_style_color(slot, value)
    try:
        yield
    finally:
        imgui.pop_style_color()


@contextmanager
def font(ui: UiState, bold: bool = False, size: float = 16.0) -> Iterator[None]:
    """Text of another size [pixels at scale 1] or in the bold face."""
    imgui.push_font(ui.bold if bold else None, size)
    try:
        yield
    finally:
        imgui.pop_font()


def heading(ui: UiState, text: str) -> None:
    with font(ui, bold=True, size=13.0), color(imgui.Col_.text, colors(ui).muted):
        imgui.text(text.upper())


def muted(ui: UiState, text: str, wrap: bool = False) -> None:
    with color(imgui.Col_.text, colors(ui).muted):
        text_wrapped(text) if wrap else imgui.text(text)


def icon_button(ui: UiState, name: str, icon: str, tip: str, width: float = 2.2, on: bool = False) -> bool:
    """A button with an icon; `on` fills it with the accent colour."""
    c = colors(ui)
    fill = c.accent if on else c.raised
    with color(imgui.Col_.button, fill), color(imgui.Col_.text, c.on_accent if on else c.text), \
            color(imgui.Col_.button_hovered, (*c.accent[:3], 0.8) if on else c.hovered):
        pressed = imgui.button(f"{icon}##{name}", (width * ui.font, 0.0))
    if tip:
        imgui.set_item_tooltip(tip)
    return pressed


def radio(ui: UiState, label: str, on: bool) -> bool:
    """One of several choices; the chosen one has a dot in the accent colour, which is seen on both themes."""
    with color(imgui.Col_.check_mark, colors(ui).accent):
        return imgui.radio_button(label, on)


def tab(ui: UiState, title: str, on: bool, name: str) -> bool:
    """A flat button that is one of several pages; the present one is underlined."""
    c = colors(ui)
    with color(imgui.Col_.button, (0.0, 0.0, 0.0, 0.0)), color(imgui.Col_.text, c.text if on else c.muted), \
            font(ui, bold=on, size=14.0):
        pressed = imgui.button(f"{_(title)}###{title}##{name}")
        if imgui.begin_drag_drop_target():  # what is carried over a tab opens it
            pressed = True
            imgui.end_drag_drop_target()
    lo, hi = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    if on:
        imgui.get_window_draw_list().add_rect_filled((lo.x, hi.y - 2.0 * ui.preferences.scale), hi, u32(c.accent))
    return pressed


def tabs(ui: UiState, name: str, pages: Mapping[str, tuple[str, str]], shown: str, room: float) -> str:
    """A row of tabs for pages, by key: title and keyboard key (or ""). Those that `room` [pixels] is too small for are
    in a list behind the others. Returns the key of the page to show; the line goes on after the row."""
    row = _in_the_row(ui, pages, shown, room)
    chosen = shown
    for key in row:
        title, stroke = pages[key]
        if tab(ui, title, key == shown, f"{name}_{key}"):
            chosen = key
        if stroke:
            imgui.set_item_tooltip(f"{_(title)}  ({stroke})")
        imgui.same_line(0, TAB_GAP * ui.font)
    others = [key for key in pages if key not in row]
    if others:
        if imgui.button(f"\uf101##{name}_more"):
            imgui.open_popup(f"{name}_more")
        imgui.set_item_tooltip(_("{n} more: {titles}").format(
            n=len(others), titles=", ".join(_(pages[key][0]) for key in others)))
        if imgui.begin_popup(f"{name}_more"):
            entries = ((key, labelled(pages[key][0]), pages[key][1]) for key in others)
            chosen = next((key for key, title, stroke in entries if imgui.menu_item_simple(title, stroke)), chosen)
            imgui.end_popup()
        imgui.same_line(0, TAB_GAP * ui.font)
    return chosen


def _in_the_row(ui: UiState, pages: Mapping[str, tuple[str, str]], shown: str, room: float) -> list[str]:
    """The first pages whose tabs go into `room` [pixels], and the one that is shown. Where some do not, room is left
    for the button of the list."""
    with font(ui, bold=True, size=14.0):
        pad = 2 * imgui.get_style().frame_padding.x + TAB_GAP * ui.font
        widths = {key: imgui.calc_text_size(_(title)).x + pad for key, (title, _stroke) in pages.items()}
    if sum(widths.values()) <= room:
        return list(pages)
    left = room - widths[shown] - 2.4 * ui.font
    row = {shown}
    for key in pages:
        left -= 0.0 if key == shown else widths[key]
        if left < 0.0:
            break
        row.add(key)
    return [key for key in pages if key in row]


def table(ui: UiState, name: str, widths: Sequence[float], flags: int, tall: float = 0.0) -> bool:
    """Begin a table whose columns keep their least widths [font heights]: the first one takes what is left, and where
    nothing is left the table is scrolled sideways. `tall` [pixels], 0: what is left. To be ended if True."""
    pads = 2 * imgui.get_style().cell_padding.x * len(widths) + imgui.get_style().scrollbar_size
    least = sum(widths) * ui.font + pads
    narrow = imgui.get_content_region_avail().x < least
    return imgui.begin_table(name, len(widths), flags | (imgui.TableFlags_.scroll_x if narrow else 0), (0.0, tall),
                             least if narrow else 0.0)


def columns(ui: UiState, headings: Sequence[str], widths: Sequence[float], flags: Sequence[int] | None = None) -> None:
    """The columns of such a table."""
    for k, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        fixed = imgui.TableColumnFlags_.width_fixed if k else imgui.TableColumnFlags_.width_stretch
        imgui.table_setup_column(_(heading), fixed | (flags[k] if flags else 0), width * ui.font if k else 0.0)


def slider(name: str, value: float, low: float, high: float, shown: str, ui: UiState, logarithmic: bool = False
           ) -> tuple[bool, float]:
    """A thin slider over the item width; Ctrl+click to type a number, written as the format `shown` says."""
    c = colors(ui)
    flags = imgui.SliderFlags_.always_clamp | (imgui.SliderFlags_.logarithmic if logarithmic else 0)
    typing = imgui.internal.temp_input_is_active(imgui.get_id(f"##{name}"))
    x, y = imgui.get_cursor_screen_pos()
    width, height = imgui.calc_item_width(), imgui.get_frame_height()
    if typing:
        return imgui.slider_float(f"##{name}", value, low, high, shown, flags)
    clear = (0.0, 0.0, 0.0, 0.0)
    slots = (imgui.Col_.text, imgui.Col_.frame_bg, imgui.Col_.frame_bg_hovered, imgui.Col_.frame_bg_active,
             imgui.Col_.slider_grab, imgui.Col_.slider_grab_active)
    for slot in slots:
        imgui.push_style_color(slot, clear)
    changed, value = imgui.slider_float(f"##{name}", value, low, high, shown, flags)
    imgui.pop_style_color(len(slots))
    share = math.log(max(value, low) / low) / math.log(high / low) if logarithmic else (value - low) / (high - low)
    share = min(max(share, 0.0), 1.0)
    middle, half = y + 0.5 * height, 0.14 * ui.font
    lively = imgui.is_item_hovered() or imgui.is_item_active()
    radius = (0.44 if lively else 0.38) * ui.font
    at = x + radius + share * (width - 2 * radius)
    draw = imgui.get_window_draw_list()
    draw.add_rect_filled((x, middle - half), (x + width, middle + half), u32(c.pressed if lively else c.hovered), half)
    draw.add_rect_filled((x, middle - half), (at, middle + half), u32(c.accent), half)
    draw.add_circle_filled((at, middle), radius, u32(c.accent))
    return changed, value


def right_edge() -> float:
    """Where the line that begins here ends, for `same_line` [pixels from the window's left edge]."""
    return imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x


def beside(label: str) -> None:
    """Put a button with this label, "Close##map", beside the last widget where there is room, else on its own line."""
    flow(imgui.calc_text_size(label, True).x + 2.0 * imgui.get_style().frame_padding.x)


def flow(width: float, gap: float = -1.0) -> None:
    """Put what comes next, of this width, beside the last widget where there is room, else on its own line. gap: to it,
    else the usual one [pixels]."""
    gap = imgui.get_style().item_spacing.x if gap < 0.0 else gap
    if imgui.get_item_rect_max().x - imgui.get_window_pos().x + gap + width <= right_edge():
        imgui.same_line(0, gap)


def width_of_switch(label: str) -> float:
    """Of a check box or a radio button with this label [pixels]."""
    return imgui.get_frame_height() + imgui.get_style().item_inner_spacing.x + imgui.calc_text_size(label, True).x


def clipped_text(text: str, width: float) -> str:
    """The text, shortened with an ellipsis where it is wider than `width`."""
    if imgui.calc_text_size(text).x <= width:
        return text
    lo, hi = 0, len(text)
    while lo < hi:
        mid = (lo + hi + 1) // 2
        lo, hi = (mid, hi) if imgui.calc_text_size(text[:mid] + "…").x <= width else (lo, mid - 1)
    return text[:lo].rstrip() + "…"


def engineering(value: float, unit: str, digits: int = 3) -> str:
    """A number with a metric prefix: 0.00123, "N" -> "1.23 mN"; below a billionth it counts as zero."""
    size = abs(value)
    if math.isinf(size):
        return f"{'−' if value < 0.0 else ''}∞ {unit}"
    if size < 1e-9 or size != size:
        return f"{0.0 if size < 1e-9 else value:g} {unit}"
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")):
        if size >= factor * 0.9995:
            scaled = value / factor
            return f"{scaled:.{digits}g} {prefix}{unit}" if abs(scaled) < 999.5 else f"{scaled:.0f} {prefix}{unit}"
    return f"{value * 1e9:.{digits}g} n{unit}"  # just below the last factor
