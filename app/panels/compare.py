"""Comparing methods: the sides, a quantity of each over time, and how far they are apart."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _, labelled
from ...physics.core.model import movable
from ...physics.laws.soft import LAWS
from ...physics.look.quantities import quantity_of
from ...physics.methods import METHODS
from ...physics.run.messages import SIDES, Command, Compare, Curve, Focus, Side, Snapshot
from ..ui_state import Rect, UiState
from . import style
from .energy import MOST_POINTS
from .tabs import Tab, is_open
from .watch import choose_body, choose_quantity, drawn, of_scene, recorded

Send = Callable[[Command], None]
LETTERS = "ABC"
SAME = 1e-9  # [s] between instants of two sides that are one
#: setting -> how a side's label writes it; only settings in which the sides differ are written
NAMED = {
    "integrator": "{}", "solver": "{}", "iterations": N_("{} iterations"), "law": N_("{} law"),
         "surface": N_("{} surface"),
    "substeps": N_("{} substeps"), "impact_law": N_("{} impacts"), "joint_cure": "{}",
    "sleep": N_("sleep below {:g}"),
    "stiffness_n": "K {}", "damping_n": "D {}",
}
GAIN = {"stiffness_n": 0, "damping_n": 1}  # index of its unit in the units of a law


def colors_of_sides(ui: UiState) -> tuple[style.Color, ...]:
    """Blue, orange, green; the letters say the same."""
    c = style.colors(ui)
    return c.potential, c.kinetic, c.spring


def method_title(side: Snapshot) -> str:
    return _(side.settings.method.replace("_", " "))


def with_title(method: str) -> str:
    """The label of the button that adds a side of this method."""
    title = method.replace("_", " ")
    return f"{_('With {method}').format(method=_(title))}###With {title}##with_{method}"


def soft(side: Snapshot) -> bool:
    """Whether its surfaces have gains K and D, from which follows what a bounce gives back, in place of e."""
    return "law" in METHODS[side.settings.method].uses


def details(side: Snapshot, sides: tuple[Snapshot, ...]) -> str:
    """Integrator and step, and all else in which the sides differ."""
    mine = side.settings
    rate = 1.0 / mine.h
    words = [_(mine.integrator.replace("_", " ")), f"h 1/{rate:.4g} s"]
    for name, text in NAMED.items():
        value = getattr(mine, name)
        differs = any(getattr(other.settings, name) != value for other in sides)
        used = name != "solver" or "solver" in METHODS[mine.method].uses
        if differs and used and value is not None and name != "integrator":
            shown = style.engineering(value, LAWS[mine.law].units[GAIN[name]]) if name in GAIN else value
            shown = _(shown.replace("_", " ")) if isinstance(shown, str) else shown
            words.append(_(text).format(shown))
    if side.coordinates:
        words.append(_("maximal coordinates") if side.coordinates == "maximal" else _("generalized coordinates"))
    if soft(side) and not all(map(soft, sides)):
        words.append(_("e has no meaning: K and D"))
    return ", ".join(words)


def draw_side_label(ui: UiState, snapshot: Snapshot, side: Snapshot, rect: Rect, top: float) -> None:
    """In the corner of a side's picture: its letter, its method and what differs; a frame where it is in focus."""
    c, font = style.colors(ui), ui.font
    x, y, w, h = rect
    color = colors_of_sides(ui)[side.side]
    draw = imgui.get_background_draw_list()
    draw.push_clip_rect((x, y), (x + w, y + h), True)
    title, small = method_title(side), details(side, snapshot.sides)
    size, little = float(round(font)), float(round(0.81 * font))
    scale = 1.0 / imgui.get_font_size()
    room = w - 3.6 * font
    with style.font(ui, size=13.0):
        small = style.clipped_text(small, room)
        width = imgui.calc_text_size(small).x
    width = max(width, 1.1 * imgui.calc_text_size(title).x * size * scale) + 2.6 * font
    left, upper = x + 0.6 * font, y + 0.6 * font + top
    draw.add_rect_filled((left, upper), (left + width, upper + 2.7 * font), style.u32(c.panel, 0.82), 0.4 * font)
    middle = (left + 1.05 * font, upper + 1.35 * font)
    draw.add_circle_filled(middle, 0.72 * font, style.u32(color))
    letter = LETTERS[side.side]
    half = 0.5 * imgui.calc_text_size(letter).x * size * scale
    draw.add_text(ui.bold, size, (middle[0] - half, middle[1] - 0.55 * size), style.u32(c.on_accent), letter)
    draw.add_text(ui.bold, size, (left + 2.1 * font, upper + 0.28 * font), style.u32(c.text), title)
    draw.add_text(imgui.get_font(), little, (left + 2.1 * font, upper + 1.42 * font), style.u32(c.muted), small)
    if side.side == snapshot.side:
        draw.add_rect((x + 1, y + 1), (x + w - 1, y + h - 1), style.u32(color), 0.0, 2.0 * ui.preferences.scale)
    draw.pop_clip_rect()


# ----------------------------------------------------------------------------------------------------- the tab


def draw_compare(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Fill the lower area: the sides at the left, the plots beside them."""
    imgui.begin_child("sides", (min(20.5 * ui.font, 0.45 * imgui.get_content_region_avail().x), 0))
    _sides(ui, snapshot, send)
    imgui.end_child()
    imgui.same_line(0, 1.0 * ui.font)
    imgui.begin_child("plots", (0, 0), 0, imgui.WindowFlags_.no_scrollbar)
    _quantity(ui, snapshot)
    _plots(ui, snapshot)
    imgui.end_child()


def _sides(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    sides = snapshot.sides
    if not sides:
        style.muted(ui, _("Now: {snapshot}. Run this scene from its start beside another method, "
                    "on one clock and with one camera:").format(snapshot=method_title(snapshot)), wrap=True)
        for method in METHODS:
            if method != snapshot.settings.method and imgui.button(with_title(method)):
                ui.request("compare_with", method)
        return
    for side in sides:
        _row(ui, snapshot, side, send)
    if len(sides) < SIDES[1]:
        if imgui.button(labelled("+  Add a side##add_side")):
            imgui.open_popup("add_side")
        if imgui.begin_popup("add_side"):
            for method in METHODS:
                if imgui.selectable(f"{method.replace('_', ' ')}##add_{method}", False)[0]:
                    ui.request("compare_with", method)
            imgui.end_popup()
        imgui.same_line()
    if imgui.button(labelled("End##end_comparison")):
        send(Compare(()))
    imgui.set_item_tooltip(_("Go on with the side in focus alone  (Ctrl+M)"))
    if len(snapshot.model.joints.generalized):
        coordinates_choice(ui, snapshot, send)
    style.muted(ui, _("The parameters are those of the side in focus; e, μ and g are everybody's."), wrap=True)


def _row(ui: UiState, snapshot: Snapshot, side: Snapshot, send: Send) -> None:
    """A side: a click puts it in focus, the cross takes it away."""
    on = side.side == snapshot.side
    x, y = imgui.get_cursor_screen_pos()
    width = imgui.get_content_region_avail().x - 2.2 * ui.font
    height = 2.1 * ui.font
    if imgui.selectable(f"##side_{side.side}", on, 0, (width, height))[0] and not on:
        send(Focus(side.side))
    draw, font = imgui.get_window_draw_list(), ui.font
    middle = (x + 0.9 * font, y + 0.5 * height)
    c = style.colors(ui)
    draw.add_circle_filled(middle, 0.66 * font, style.u32(colors_of_sides(ui)[side.side]))
    letter = LETTERS[side.side]
    draw.add_text(ui.bold, round(font), (middle[0] - 0.5 * imgui.calc_text_size(letter).x, middle[1] - 0.55 * font),
                  style.u32(c.on_accent), letter)
    draw.add_text(ui.bold if on else imgui.get_font(), round(font), (x + 2.0 * font, y), style.u32(c.text),
                  method_title(side))
    with style.font(ui, size=13.0):
        small = style.clipped_text(details(side, snapshot.sides), width - 2.0 * font)
    draw.add_text(imgui.get_font(), round(0.81 * font), (x + 2.0 * font, y + 1.1 * font), style.u32(c.muted), small)
    imgui.same_line()
    if imgui.small_button(f"\uf00d##remove_{side.side}"):
        rest = [other for other in snapshot.sides if other.side != side.side]
        if len(rest) < SIDES[0]:
            send(Focus(rest[0].side))
            send(Compare(()))
        else:
            send(Compare(tuple(as_side(other) for other in rest)))
    imgui.set_item_tooltip(_("Take this side away"))


def coordinates_choice(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Joint coordinates of the side in focus, or of the scene that runs; another choice begins from the start."""
    imgui.set_next_item_width(12.0 * ui.font)
    titles = {"": _("Joints as in the scene"), "generalized": _("Generalized coordinates"),
              "maximal": _("Maximal coordinates")}
    if imgui.begin_combo("##coordinates", titles[snapshot.coordinates]):
        for name, title in titles.items():
            if imgui.selectable(title, name == snapshot.coordinates)[0] and name != snapshot.coordinates:
                sides = [as_side(side) for side in snapshot.sides or (snapshot,)]
                place = snapshot.side if snapshot.sides else 0
                sides[place] = replace(sides[place], coordinates=name)
                send(Compare(tuple(sides)))
        imgui.end_combo()
    imgui.set_item_tooltip(_("Positions of the joints as the state, or joints as constraints on their bodies; those "
                           "that close loops are constraints in either. The scene begins anew."))


def as_side(snapshot: Snapshot) -> Side:
    return Side(snapshot.settings, snapshot.coordinates)


# ------------------------------------------------------------------------------------------------------ plots


def watched(ui: UiState, snapshot: Snapshot) -> Curve:
    """The curve that is compared: of the chosen quantity, and a body that exists and moves."""
    return of_scene(snapshot, ui.comparison.quantity, ui.comparison.body) or Curve("energy")


def wanted(ui: UiState, snapshot: Snapshot) -> list[Curve]:
    """The curve to be recorded, where somebody looks or sides are compared."""
    return [watched(ui, snapshot)] if is_open(ui, TAB.name) or snapshot.sides else []


def _quantity(ui: UiState, snapshot: Snapshot) -> None:
    """Choose the quantity and its body."""
    now = watched(ui, snapshot)
    ui.comparison.quantity = choose_quantity(ui, "quantity", now.quantity)
    if now.body < 0:
        return
    style.flow(12.0 * ui.font, 0.4 * ui.font)
    imgui.align_text_to_frame_padding()
    imgui.text(_("of"))
    imgui.same_line(0, 0.4 * ui.font)
    chosen = choose_body(ui, snapshot, "watched", now.body)
    if chosen != now.body:
        ui.comparison.body = chosen
    selected = ui.view.selected
    if 0 <= selected < len(snapshot.x) and selected != now.body and movable(snapshot.model.kind[selected]):
        style.beside(_("The selected one"))
        if imgui.button(labelled("The selected one##watch_selected")):
            ui.comparison.body = selected


def curves(trace: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """t and value of the rows with a known value: about MOST_POINTS of them, with all peaks."""
    known = trace[np.isfinite(trace[:, 1])]
    thin = known[drawn(known[:, 1], MOST_POINTS)]
    return np.ascontiguousarray(thin[:, 0]), np.ascontiguousarray(thin[:, 1])


def difference(trace: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Rows t, value - value of the reference, at the instants of which both are recorded: they share a clock."""
    if not len(reference):
        return np.zeros((0, 2))
    rows = np.minimum(np.searchsorted(reference[:, 0], trace[:, 0] - SAME), len(reference) - 1)
    both = np.abs(reference[rows, 0] - trace[:, 0]) <= SAME
    return np.column_stack([trace[:, 0], trace[:, 1] - reference[rows, 1]])[both]


def _plots(ui: UiState, snapshot: Snapshot) -> None:
    curve = watched(ui, snapshot)
    quantity = quantity_of(curve.quantity)
    unit = f" [{quantity.unit}]" if quantity.unit else ""
    sides = snapshot.sides or (snapshot,)
    width = imgui.get_content_region_avail().x
    share = -1.0 if len(sides) == 1 else 0.56 * width
    with _plot(ui, "values", _(quantity.title) + unit, share):
        for side in sides:
            _curve(ui, snapshot, side, curves(recorded(side, curve)))
    if len(sides) == 1:
        return
    imgui.same_line()
    against = LETTERS[0]
    title = ", ".join(f"{LETTERS[side.side]} − {against}" for side in sides[1:])
    last = [difference(recorded(side, curve), recorded(sides[0], curve)) for side in sides[1:]]
    present = [rows[rows[:, 0] <= snapshot.t + SAME, 1] for rows in last]
    now = [values[-1] for values in present if len(values) and np.isfinite(values[-1])]
    numbers = ", ".join(style.engineering(value, quantity.unit) for value in now)
    with _plot(ui, "differences", _("{title}{unit}   now {numbers}").format(title=title, unit=unit, numbers=numbers)
               if now else title + unit, -1.0):
        for side, rows in zip(sides[1:], last, strict=True):
            _curve(ui, snapshot, side, curves(rows))


@contextmanager
def _plot(ui: UiState, name: str, title: str, width: float) -> Iterator[None]:
    """A heading and a plot under it."""
    imgui.begin_child(name, (width, 0), 0, imgui.WindowFlags_.no_scrollbar)
    with style.font(ui, bold=True, size=13.0), style.color(imgui.Col_.text, style.colors(ui).muted):
        imgui.text(title)  # not a heading: capitals would change units
    flags = implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_mouse_text \
        | implot.Flags_.no_title | implot.Flags_.no_legend
    with style.font(ui, size=13.0):
        implot.push_style_var(implot.StyleVar_.plot_padding, (4.0, 4.0))
        implot.push_style_var(implot.StyleVar_.plot_min_size, (60.0, 40.0))
        implot.push_style_var(implot.StyleVar_.fit_padding, (0.0, 0.1))
        if implot.begin_plot(f"##{name}", (-1, -1), flags):
            fit = implot.AxisFlags_.auto_fit | implot.AxisFlags_.no_highlight | implot.AxisFlags_.no_label
            implot.setup_axes("t [s]", title, fit, fit)
            yield
            implot.end_plot()
        else:
            yield
        implot.pop_style_var(3)
    imgui.end_child()


def _curve(ui: UiState, snapshot: Snapshot, side: Snapshot, points: tuple[np.ndarray, np.ndarray]) -> None:
    """A side's curve in its colour, with its letter where it is now."""
    t, values = points
    if not len(t):
        return
    now = max(int(np.searchsorted(t, snapshot.t + SAME)) - 1, 0)
    letter, color = LETTERS[side.side], colors_of_sides(ui)[side.side]
    implot.plot_line(letter, t, values, implot.Spec(line_color=color, line_weight=1.8 * ui.preferences.scale))
    implot.annotation(float(t[now]), float(values[now]), color, (-8.0, -8.0 + 14.0 * side.side), True, letter)


TAB = Tab("compare", "Compare", draw_compare, lines=15.0)
