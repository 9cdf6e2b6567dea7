"""The trees of a scene in joint space: H, C, T and M as heat maps, and J of the selected link."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from ...physics.core.model import Array, BoolArray
from ...physics.look.joint_space import TreeView
from ...physics.run.messages import Command, Inspect, Snapshot
from ..ui_state import UiState
from . import pictures, style
from .equations import waiting
from .formula import formula
from .matrix import heat, short
from .tabs import Tab

WIDEST = 2.6       # cell [font heights]
BETWEEN = 1.6      # maps [font heights]
PARTS = ("x", "y", "z", "v_x", "v_y", "v_z")  # of the velocities of a joint that has several
ROWS = ("ω_x", "ω_y", "ω_z", "v_x", "v_y", "v_z")  # of J
LEAST_NUMBERS = 2.2  # width of a cell in which its number is written [font heights]
COLUMN = 1.1       # least width of a single column [font heights]
ROUNDING = 1e-9    # of the largest entry: what is written as 0
FAINT = 0.10       # opacity of an entry that is 0 now, but need not be


class _Map(NamedTuple):
    """A heat map: its values, where they may differ from 0, and what its rows and columns are."""

    title: str                      #: a formula
    values: Array                   #: (r, c)
    may: BoolArray | None
    tip: Callable[[int, int], str]  #: of the entry under the mouse
    shade: Array | None = None      #: (r, c) what the colours are of, where not the values


def draw_trees(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The equation of motion, and its parts as maps beside each other."""
    view = snapshot.inspection.trees if snapshot.inspection is not None else None
    if view is None:
        waiting(ui, snapshot)
        return
    formula(ui, r"H \ddot q + C = \tau + T\lambda,\qquad M = T^T H^{-1} T", 15.0)
    with style.font(ui, size=14.0):
        style.muted(ui, facts(snapshot, view), wrap=True)
    names = velocity_names(snapshot, view)
    maps = [_of_H(view, names), _of_C(view, names), *_of_contacts(snapshot, view, names)]
    if view.link >= 0:
        maps.append(_of_J(snapshot, view, names))
    room, y = imgui.get_content_region_avail(), imgui.get_cursor_screen_pos().y
    cell = min(_cell(ui, maps, room.x), (room.y - 1.7 * ui.font) / max(len(m.values) for m in maps))
    x = imgui.get_cursor_screen_pos().x
    for number, shown in enumerate(maps):
        x = _draw(ui, number, shown, x, y, cell) + BETWEEN * ui.font


def facts(snapshot: Snapshot, view: TreeView) -> str:
    """How many velocities there are, and what branches leave of H."""
    n = len(view.C)
    may = int(view.carries.sum())
    text = f"{n} {'velocity' if n == 1 else 'velocities'} q\u0307."
    if may < n * n:
        text += (f" {may} of the {n * n} entries of H can differ from 0: where one of two joints carries the other. "
                 "The others are 0 by the branches.")
    if view.T.shape[1]:
        text += f" T and M: the {view.T.shape[1]} contacts that rest on links."
    if view.link < 0:
        return f"{text} Select a link to see its J."
    rest = ", ".join(short(float(a), 1.0) for a in view.turning)
    return f"{text} J\u0307 q\u0307 of the velocity of {snapshot.labels.bodies[view.link]}: ({rest}) m/s²."


def velocity_names(snapshot: Snapshot, view: TreeView) -> list[str]:
    """Of each velocity: its joint, and which of several it is."""
    several = np.bincount(view.joint)[view.joint] > 1
    return [f"{snapshot.labels.joints[j]}{f' {PARTS[k]}' if many else ''}"
            for j, k, many in zip(view.joint.tolist(), view.number.tolist(), several.tolist(), strict=True)]


def _of_H(view: TreeView, names: list[str]) -> _Map:
    def tip(i: int, j: int) -> str:
        if not view.carries[i, j]:
            return f"H {i + 1},{j + 1} = 0, always: neither of {names[i]} and {names[j]} carries the other"
        return (f"H {i + 1},{j + 1} = {view.H[i, j]:.6g}\n{names[j]} accelerates by 1: {names[i]} needs so much force "
                "or torque\nColours: H ij/√(H ii H jj)")
    size = np.sqrt(np.diag(view.H))
    return _Map("H", view.H, view.carries, tip, view.H / np.outer(size, size))


def _of_C(view: TreeView, names: list[str]) -> _Map:
    return _Map("C", view.C[:, None], None, lambda i, _: f"C {i + 1} = {view.C[i]:.6g} N m or N at {names[i]}: what "
                                                         "weight and velocities ask for where nothing accelerates")


def _of_contacts(snapshot: Snapshot, view: TreeView, names: list[str]) -> list[_Map]:
    """T and M, where contacts rest on links."""
    pairs = [" → ".join(snapshot.labels.bodies[i] for i in pair) for pair in view.bodies.tolist()]
    if not pairs:
        return []
    return [
        _Map("T", view.T, None, lambda i, k: f"T {i + 1},{k + 1} = {view.T[i, k]:.6g}\nA force of 1 N at contact "
                                             f"{k + 1} ({pairs[k]}) acts so on {names[i]}; ζ of it per speed there"),
        _Map("M", view.M, None, lambda i, k: f"M {i + 1},{k + 1} = {view.M[i, k]:.6g} 1/kg\nA force of 1 N at contact "
                                             f"{k + 1} ({pairs[k]}) lets contact {i + 1} ({pairs[i]}) separate by so "
                                             "many m/s² more"),
    ]


def _of_J(snapshot: Snapshot, view: TreeView, names: list[str]) -> _Map:
    body = snapshot.labels.bodies[view.link]
    return _Map(r"J\ \text{of}\ " + _letters(body), view.J, view.J != 0.0,
                lambda i, j: f"J {i + 1},{j + 1} = {view.J[i, j]:.6g}\n{ROWS[i]} of {body} per speed of {names[j]}")


def _letters(name: str) -> str:
    """A name as text of a formula."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in " -.") else " " for c in name)
    return rf"\text{{{kept}}}"


def _cell(ui: UiState, maps: list[_Map], room: float) -> float:
    """Side of a cell with which all maps have room [pixels]."""
    columns = sum(m.values.shape[1] for m in maps)
    return min((room - BETWEEN * ui.font * len(maps)) / columns, WIDEST * ui.font)


def _draw(ui: UiState, number: int, shown: _Map, x: float, y: float, cell: float) -> float:
    """One map with its title at (x, y); returns its right edge."""
    values, dark = shown.values, ui.preferences.dark
    rows, columns = values.shape
    imgui.set_cursor_screen_pos((x, y))
    formula(ui, shown.title, 15.0)
    wide = cell if columns > 1 else max(cell, COLUMN * ui.font)
    top, left, width, height = y + 1.6 * ui.font, x, int(wide * columns), int(cell * rows)
    shade = values if shown.shade is None else shown.shade
    most = float(np.abs(shade).max(initial=0.0))
    may = np.ones(values.shape, bool) if shown.may is None else shown.may

    def make() -> tuple[pictures.Pixels, None]:
        colors = heat(shade, most, dark)
        colors[..., 3] = np.where(may, np.maximum(colors[..., 3], FAINT), 0.0)
        colors[may & (values == 0.0), :3] = 0.5
        at_x, at_y = (np.arange(width) + 0.5) / wide, (np.arange(height) + 0.5) / cell
        i, j = np.minimum(at_y.astype(int), rows - 1), np.minimum(at_x.astype(int), columns - 1)
        image = (255.0 * colors).astype(np.uint8)[i[:, None], j]
        if cell > 5.0:
            image[:, (at_x % 1.0) * wide < 1.0, 3] = 0
            image[(at_y % 1.0) * cell < 1.0, :, 3] = 0
        return image, None

    if width < 1 or height < 1:
        return left + width
    content = hash(values.tobytes()), width, height, dark
    pictures.draw(pictures.picture(ui, f"trees_{number}", content, make), left, top, width, height)
    c, draw = style.colors(ui), imgui.get_window_draw_list()
    draw.add_rect((left, top), (left + width, top + height), style.u32(c.line))
    if cell >= LEAST_NUMBERS * ui.font:
        _write(ui, values, may, (left, top), (wide, cell))
    imgui.set_cursor_screen_pos((left, top))
    imgui.invisible_button(f"map_{number}", (width, height))
    if imgui.is_item_hovered():
        mouse = imgui.get_mouse_pos()
        i, j = int((mouse.y - top) / cell), int((mouse.x - left) / wide)
        imgui.set_tooltip(shown.tip(min(max(i, 0), rows - 1), min(max(j, 0), columns - 1)))
    return left + width


def _write(
    ui: UiState, values: Array, may: BoolArray, corner: tuple[float, float], cell: tuple[float, float],
) -> None:
    """The numbers in the cells, of so many pixels each, from the upper left corner on."""
    draw, color, size = imgui.get_window_draw_list(), style.u32(style.colors(ui).text), round(0.72 * ui.font)
    most = float(np.abs(values).max(initial=0.0))
    for i, j in np.argwhere(may).tolist():
        text = "0" if abs(values[i, j]) <= ROUNDING * most else f"{values[i, j]:.3g}"
        letters = imgui.calc_text_size(text).x * size / imgui.get_font_size()
        at = corner[0] + (j + 0.5) * cell[0] - 0.5 * letters, corner[1] + (i + 0.5) * cell[1] - 0.55 * size
        draw.add_text(imgui.get_font(), size, at, color, text)


TAB = Tab("trees", "Joint space", draw_trees, "J", lambda ui, _: Inspect("trees", body=ui.view.selected),
          there=lambda snapshot: len(snapshot.model.trees.body) > 0)
