"""The contact equations ζ̇ = M λ + d as a picture: M as a heat map, with numbers where they fit."""

import math
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from ...physics.core.language import _
from ...physics.core.model import Array
from ..ui_state import UiState
from . import pictures, style
from .formula import formula

VECTOR = 3.9          # width of a vector [font heights]
HEAD = 6.6            # of the heading of M with its unit
LABEL = 1.9           # of the contacts' numbers
SIGN = 1.1            # of = and +
TALLEST, WIDEST = 2.2, 6.0  # cell [font heights]
LARGEST_ZOOM = 40.0
SMALLEST_TEXT = 10.0  # [pixels at scale 1]
DIMMED = 0.4          # of rows and columns that are not active


class Grid(NamedTuple):
    """Where the cells of M are on the screen."""

    x: float
    y: float
    width: float    # seen
    height: float
    cell_w: float
    cell_h: float
    column: float   # of the upper left corner
    row: float
    n: int

    def rows(self) -> range:
        return range(int(self.row), min(self.n, math.ceil(self.row + self.height / self.cell_h)))

    def columns(self) -> range:
        return range(int(self.column), min(self.n, math.ceil(self.column + self.width / self.cell_w)))

    def left(self, j: float) -> float:
        return self.x + (j - self.column) * self.cell_w

    def top(self, i: float) -> float:
        return self.y + (i - self.row) * self.cell_h


def draw_matrix(ui: UiState, M: Array, d: Array, lam: Array, active: NDArray[np.bool_], names: list[str]) -> int:
    """Fill the current child window; names: "a → b" of each contact. Returns the contact under the mouse or -1."""
    room, font = imgui.get_content_region_avail(), ui.font
    x, y = imgui.get_cursor_screen_pos()
    head = 1.5 * font + 1.25 * font
    beside = (LABEL + 3 * VECTOR + 2 * SIGN + 0.6) * font
    grid = fit(ui, len(d), room.x - beside, room.y - head, x + (LABEL + VECTOR + SIGN) * font, y + head)
    imgui.set_cursor_screen_pos((x, grid.y))
    imgui.invisible_button("matrix", (max(room.x, 1.0), max(room.y - head, 1.0)))
    hovered = _mouse(ui, grid, imgui.is_item_hovered(), imgui.is_item_active())
    zeta = M @ lam + d
    _cells(ui, grid, M, active)
    _outline(ui, grid)
    right = grid.x + grid.width
    most = float(np.abs(d).max(initial=0.0))  # beside which a ζ̇ counts as zero
    for at, values, top in (
        (x + LABEL * font, zeta, most), (right + 0.3 * font, lam, float(np.abs(lam).max(initial=0.0))),
        (right + (0.3 + VECTOR + SIGN) * font, d, most),
    ):
        _vector(ui, grid, at, values, top)
    _numbers(ui, grid, x, active)
    _heads(ui, grid, x, y, right, M)
    if hovered != (-1, -1):
        _explain(ui, hovered, M, lam, d, zeta, names)
    imgui.set_cursor_screen_pos((x, y))
    return hovered[0]


def fit(ui: UiState, n: int, width: float, height: float, x: float, y: float) -> Grid:
    """The grid that fills width and height at zoom 1, its cells no larger than needed."""
    inspector, font = ui.inspector, ui.font
    width, height = max(width, 2 * font), max(height, 2 * font)
    seen_w, seen_h = min(width, n * WIDEST * font), min(height, n * TALLEST * font)
    cell_w, cell_h = seen_w * inspector.zoom / n, seen_h * inspector.zoom / n
    column = min(max(inspector.corner[0], 0.0), n - seen_w / cell_w)
    row = min(max(inspector.corner[1], 0.0), n - seen_h / cell_h)
    inspector.corner = column, row
    return Grid(x, y, float(int(seen_w)), float(int(seen_h)), cell_w, cell_h, column, row, n)


def _mouse(ui: UiState, grid: Grid, hovered: bool, active: bool) -> tuple[int, int]:
    """Wheel zooms, drag moves, a click chooses; returns (row, column) under the mouse, column -1 beside M."""
    inspector, io = ui.inspector, imgui.get_io()
    if active and imgui.is_mouse_dragging(0) and inspector.zoom > 1.0:
        column, row = inspector.corner
        inspector.corner = column - io.mouse_delta.x / grid.cell_w, row - io.mouse_delta.y / grid.cell_h
    if not hovered:
        return -1, -1
    mouse = imgui.get_mouse_pos()
    j, i = (mouse.x - grid.x) / grid.cell_w + grid.column, (mouse.y - grid.y) / grid.cell_h + grid.row
    if io.mouse_wheel and grid.n > 1:
        factor = min(max(inspector.zoom * 1.2**io.mouse_wheel, 1.0), LARGEST_ZOOM) / inspector.zoom
        inspector.zoom *= factor
        inspector.corner = j - (j - grid.column) / factor, i - (i - grid.row) / factor
    if not (0 <= i < grid.n and mouse.y < grid.y + grid.height):
        return -1, -1
    inside = grid.x <= mouse.x < grid.x + grid.width and 0 <= j < grid.n
    place = int(i), int(j) if inside else -1
    if imgui.is_mouse_clicked(0):
        inspector.row = place[0]
        inspector.column = place[1] if inside else place[0]
    return place


def heat(values: Array, top: float, dark: bool, limit: float = 0.62) -> Array:
    """RGBA 0..1 (..., 4) of values: blue below zero, orange above, transparent at zero. A power < 1 of the value lets
    small values be seen."""
    below, above = (style.rgb(name) for name in (("#4aa3e8", "#e8952f") if dark else ("#2f86d6", "#e07f10")))
    strength = np.clip(np.abs(values) / (top or 1.0), 0.0, 1.0) ** 0.55
    colors = np.where((values < 0)[..., None], below, above)
    colors[..., 3] = limit * strength
    return colors


def _cells(ui: UiState, grid: Grid, M: Array, active: NDArray[np.bool_]) -> None:
    """The heat map as a picture, and the numbers where they fit."""
    dark = ui.preferences.dark
    top = float(np.abs(M).max(initial=0.0))
    width, height = int(grid.width), int(grid.height)

    def make() -> tuple[pictures.Pixels, None]:
        at_x = (np.arange(width) + 0.5) / grid.cell_w + grid.column
        at_y = (np.arange(height) + 0.5) / grid.cell_h + grid.row
        j, i = (np.minimum(a.astype(int), grid.n - 1) for a in (at_x, at_y))
        colors = heat(M, top, dark)
        colors[..., 3] *= np.where(np.logical_and.outer(active, active), 1.0, DIMMED)
        image = (255.0 * colors).astype(np.uint8)[i[:, None], j]
        if min(grid.cell_w, grid.cell_h) > 5.0:  # a line between cells
            image[:, (at_x % 1.0) * grid.cell_w < 1.0, 3] = 0
            image[(at_y % 1.0) * grid.cell_h < 1.0, :, 3] = 0
        return image, None

    content = (hash(M.tobytes()), hash(active.tobytes()), grid[2:], dark)
    pictures.draw(pictures.picture(ui, "matrix", content, make), grid.x, grid.y, width, height)
    size = text_size(ui, grid)
    letters = room_for(ui, grid)
    if size < SMALLEST_TEXT * ui.preferences.scale or letters < 2:
        return
    c = style.colors(ui)
    draw, face = imgui.get_window_draw_list(), imgui.get_font()
    draw.push_clip_rect((grid.x, grid.y), (grid.x + width, grid.y + height), True)
    bright, dim = style.u32(c.text), style.u32(c.muted, 0.8)
    scaled = M / 10.0 ** exponent(top, letters)
    for i in grid.rows():
        y = grid.top(i) + 0.5 * (grid.cell_h - size)
        for j in grid.columns():
            value = scaled[i, j]
            text = cell_text(float(value), letters)
            x = grid.left(j) + 0.5 * (grid.cell_w - 0.52 * size * len(text))
            draw.add_text(face, size, (x, y), bright if active[i] and active[j] else dim, text)
    draw.pop_clip_rect()


def text_size(ui: UiState, grid: Grid) -> float:
    """Of the numbers in cells [pixels]."""
    return float(round(min(0.82 * grid.cell_h, 13.0 * ui.preferences.scale)))


def room_for(ui: UiState, grid: Grid) -> int:
    """Letters that fit into a cell."""
    size = text_size(ui, grid)
    return int((grid.cell_w - 2.0) / (0.54 * size)) if size > 0.0 else 0


def cell_text(value: float, letters: int) -> str:
    """A number in so many letters, ".41" for 0.41 where room is scarce; nothing at all is a dot."""
    if abs(value) < 1e-9:
        return "·"
    for decimals in (3, 2, 1, 0):
        text = f"{value:.{decimals}f}"
        short_text = text.replace("0.", ".", 1) if decimals and abs(float(text)) < 1.0 else text
        for fitting in (text, short_text):
            if len(fitting) <= letters + (value < 0.0) and float(text):
                return fitting
    return "0"


def exponent(top: float, letters: int) -> int:
    """Power of ten that is taken out of M: none where its largest entry is 0.1 … 10 or fits as it is, else it becomes
    0.1 … 1."""
    if not 0.0 < top < math.inf or 0.1 <= top < 10.0 or (10.0 <= top < 10.0 ** (letters - 3)):
        return 0
    return math.ceil(math.log10(top) - 1e-9)


def _vector(ui: UiState, grid: Grid, x: float, values: Array, top: float) -> None:
    """A column vector: a bar for each entry, full at the size `top`, and its number where it fits."""
    c, draw, face = style.colors(ui), imgui.get_window_draw_list(), imgui.get_font()
    width, size = VECTOR * ui.font, text_size(ui, grid)
    colors = heat(values, top, ui.preferences.dark)
    draw.push_clip_rect((x, grid.y), (x + width, grid.y + grid.height), True)
    draw.add_rect((x, grid.y), (x + width, grid.y + grid.height), style.u32(c.line))
    for i in grid.rows():
        y, value = grid.top(i), float(values[i])
        share = min(abs(value) / top, 1.0) if top else 0.0
        draw.add_rect_filled((x, y), (x + share * width, y + max(grid.cell_h - 1.0, 1.0)),
                             style.u32(tuple(colors[i].tolist())))
        if size >= SMALLEST_TEXT * ui.preferences.scale:
            text = short(value, top)
            at = x + width - imgui.calc_text_size(text).x * size / imgui.get_font_size() - 0.3 * ui.font
            draw.add_text(face, size, (at, y + 0.5 * (grid.cell_h - size)), style.u32(c.text), text)
    draw.pop_clip_rect()


def short(value: float, top: float) -> str:
    """A number of a vector whose largest one is `top`; the rounding error of a zero is written as zero."""
    if abs(value) <= 1e-9 * max(top, 1e-6):
        return "0"
    if 1e-3 <= abs(value) < 1e4:
        return f"{value:.4g}" if abs(value) < 100 else f"{value:.1f}"
    return f"{value:.1e}"


def _numbers(ui: UiState, grid: Grid, x: float, active: NDArray[np.bool_]) -> None:
    """The contacts' numbers beside and above M: active ones bold and bright with the disc of the view."""
    c, draw = style.colors(ui), imgui.get_window_draw_list()
    size = min(13.0 * ui.preferences.scale, 1.05 * grid.cell_h)
    if size >= 7.0 * ui.preferences.scale:
        for i in grid.rows():
            if i % _stride(grid.cell_h, size):
                continue
            text, color = str(i + 1), c.accent if active[i] else c.muted
            at = x + (LABEL - 0.4) * ui.font - imgui.calc_text_size(text).x * size / imgui.get_font_size()
            draw.add_text(ui.bold if active[i] else imgui.get_font(), size,
                          (at, grid.top(i) + 0.5 * (grid.cell_h - size)), style.u32(color), text)
    size = 13.0 * ui.preferences.scale
    draw.push_clip_rect((grid.x, grid.y - 2.0 * ui.font), (grid.x + grid.width, grid.y), True)
    for j in grid.columns():
        middle = grid.left(j) + 0.5 * grid.cell_w
        if active[j]:
            draw.add_rect_filled((grid.left(j), grid.y - 3.0), (grid.left(j + 1) - 1.0, grid.y - 1.0),
                                 style.u32(c.accent))
        if j % _stride(grid.cell_w, 1.6 * size):
            continue
        text, color = str(j + 1), c.accent if active[j] else c.muted
        at = middle - 0.5 * imgui.calc_text_size(text).x * size / imgui.get_font_size()
        draw.add_text(ui.bold if active[j] else imgui.get_font(), size, (at, grid.y - 1.2 * ui.font),
                      style.u32(color), text)
    draw.pop_clip_rect()


def _stride(cell: float, needed: float) -> int:
    """Every how many cells a number fits."""
    return next((k for k in (1, 2, 5, 10, 20, 50) if k * cell >= needed), 100)


def _heads(ui: UiState, grid: Grid, x: float, y: float, right: float, M: Array) -> None:
    """The names of the columns, their units, and the signs between."""
    font = ui.font
    power = exponent(float(np.abs(M).max(initial=0.0)), room_for(ui, grid))
    scale = "" if power == 0 else rf"10^{{{power}}}\,"
    wide = right - grid.x > HEAD * font
    heads = (
        (x + LABEL * font, r"\dot\zeta\ [\mathrm{m/s^2}]"),
        (grid.x, rf"M\ [{scale}\mathrm{{1/kg}}]" if wide else "M"),
        (right + 0.3 * font, r"\lambda\ [\mathrm{N}]"),
        (right + (0.3 + VECTOR + SIGN) * font, r"d\ [\mathrm{m/s^2}]"),
    )
    for at, latex in heads:
        imgui.set_cursor_screen_pos((at, y))
        formula(ui, latex, 15.0)
    middle = grid.y + 0.5 * min(grid.height, 12 * font) - 0.5 * font
    for at, sign in ((grid.x - 0.85 * SIGN * font, "="), (right + (0.45 + VECTOR) * font, "+")):
        imgui.set_cursor_screen_pos((at, middle))
        formula(ui, sign, 17.0)


def _outline(ui: UiState, grid: Grid) -> None:
    """The chosen row and column."""
    i, j = ui.inspector.row, ui.inspector.column
    if not (0 <= i < grid.n and 0 <= j < grid.n):
        return
    draw, accent = imgui.get_window_draw_list(), style.colors(ui).accent
    draw.push_clip_rect((grid.x - 1, grid.y - 1), (grid.x + grid.width + 1, grid.y + grid.height + 1), True)
    draw.add_rect((grid.x, grid.top(i)), (grid.x + grid.width, grid.top(i + 1)), style.u32(accent, 0.4))
    draw.add_rect((grid.left(j), grid.top(i)), (grid.left(j + 1), grid.top(i + 1)), style.u32(accent, 0.9), 0.0, 2.0)
    draw.pop_clip_rect()


def _explain(ui: UiState, at: tuple[int, int], M: Array, lam: Array, d: Array, zeta: Array, names: list[str]) -> None:
    """What is under the mouse, in words."""
    i, j = at
    if j < 0:
        imgui.set_tooltip(_("Contact {i}, {names}\nζ̇ = {zeta:.4g} m/s²,  λ = {lam:.4g} N,  "
                          "d = {d:.4g} m/s²").format(i=i + 1, names=names[i], zeta=zeta[i], lam=lam[i], d=d[i]))
        return
    imgui.set_tooltip(
        _("M {i},{j} = {M:.6g} 1/kg\nA force of 1 N at contact {j} ({names})\n"
        "lets contact {i} ({names_2}) separate by {M:.3g} m/s² faster.\nClick to choose, wheel to "
        "zoom.").format(i=i + 1, j=j + 1, M=M[i, j], names=names[j], names_2=names[i]))
