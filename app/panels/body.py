"""A body's state Y and its rate of change, live, with what belongs to it; and its arrows in the view."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui

from ...physics.core.model import Array, movable
from ...physics.look.body_state import BodyView
from ...physics.look.support import Support, support_of
from ...physics.run.messages import Command, Curve, Inspect, Snapshot
from ..ui_state import UiState
from ..view.view_options import BodyVectors
from . import style, watch
from .equations import waiting
from .ledger import figure
from .plot import DRAGGED
from .tabs import Tab

STILL = 1e-9  # [m], [m/s], [rad/s]: below it a number is shown as 0; of P, F, L, τ: times m, I, 1/h
#: quantities of the numbers of a line, by what the line shows
PLOTTED = {"x": ("x", "y", "height"), "v": ("v_x", "v_y", "v_z"), "w": ("w_x", "w_y", "w_z"),
           "P": ("p_x", "p_y", "p_z"), "L": ("L_x", "L_y", "L_z")}
TABLE = (imgui.TableFlags_.row_bg | imgui.TableFlags_.scroll_y | imgui.TableFlags_.sizing_stretch_prop
         | imgui.TableFlags_.no_saved_settings)


@dataclass
class BodyUi:
    """What the tab remembers."""

    quaternion: bool = False  # q in place of R
    axes: bool = True         # arrows in the view
    v: bool = True
    w: bool = True
    L: bool = True
    support: bool = True


class Numbers:
    """Three numbers of a line, their name and unit, and the size up to which they are shown as 0."""

    def __init__(self, name: str, unit: str, values: Array, noise: float, tip: str = "",
                 plotted: tuple[str, ...] = ()) -> None:
        """plotted: the quantity of each number that a plot can show, by its name in QUANTITIES."""
        self.name, self.unit, self.values, self.noise, self.tip = name, unit, values, noise, tip
        self.plotted = plotted

    def texts(self) -> list[str]:
        """As they are written; – where a number is not known."""
        return ["–" if np.isnan(v) else figure(v if abs(v) > self.noise else 0.0) for v in self.values]


Line = tuple[Numbers | None, Numbers | None]


def chosen(ui: UiState, snapshot: Snapshot) -> int:
    """The selected body, else the first one that forces move; -1 where there is none."""
    if 0 <= ui.view.selected < len(snapshot.x):
        return ui.view.selected
    return int(next(iter(np.flatnonzero(movable(snapshot.model.kind))), -1))


def draw_body(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """A bar with switches, the table of Y and dY/dt, and what else the body has."""
    body, mine = chosen(ui, snapshot), ui.state_of(BodyUi)
    view = snapshot.inspection.body if snapshot.inspection is not None else None
    _bar(ui, snapshot, mine, body)
    if view is None or view.body != body:
        waiting(ui, snapshot)
        return
    ui.view.vectors = BodyVectors(body, mine.axes, mine.v, mine.w, mine.L, mine.support)
    held = support_of(body, view.x, snapshot.model.gravity, snapshot.contacts)
    table, words = lines(view, mine.quaternion, held), (facts(view), supported(held), remark(view))
    imgui.same_line(0, 1.0 * ui.font)
    if imgui.button("Copy##body"):
        imgui.set_clipboard_text(copied(snapshot.labels.bodies[body], snapshot.now, table, words))
    imgui.set_item_tooltip("All numbers of this page, with all their digits")
    with style.font(ui, size=14.0):
        below = (len(words) + 0.4) * imgui.get_text_line_height_with_spacing()
        _table(ui, snapshot, table, below, body)
        for text in words:
            style.muted(ui, text, wrap=True)


def _bar(ui: UiState, snapshot: Snapshot, mine: BodyUi, body: int) -> None:
    """Whose state, how its orientation is written, which arrows the view shows."""
    names = snapshot.labels.bodies
    imgui.set_next_item_width(10.0 * ui.font)
    if imgui.begin_combo("##body", names[body] if body >= 0 else "no body"):
        for k in np.flatnonzero(movable(snapshot.model.kind)).tolist():
            if imgui.selectable(f"{names[k]}##body_{k}", k == body)[0]:
                ui.view.selected = k
        imgui.end_combo()
    imgui.set_item_tooltip("A double click in the view selects a body")
    for quaternion, title, tip in ((False, "R", "Orientation as a rotation matrix: principal axes to world"),
                                   (True, "q", "Orientation as a unit quaternion w, x, y, z")):
        imgui.same_line(0, (0.8 if not quaternion else 0.4) * ui.font)
        if style.radio(ui, f"{title}##orientation", mine.quaternion == quaternion):
            mine.quaternion = quaternion
        imgui.set_item_tooltip(tip)
    imgui.same_line(0, 1.4 * ui.font)
    imgui.align_text_to_frame_padding()
    style.muted(ui, "In the view")
    for name, title in (("axes", "axes"), ("v", "v"), ("w", "ω"), ("L", "L"), ("support", "support")):
        imgui.same_line(0, 0.5 * ui.font)
        setattr(mine, name, imgui.checkbox(f"{title}##arrow_{name}", getattr(mine, name))[1])


def lines(view: BodyView, quaternion: bool, held: Support) -> list[Line]:
    """The table: Y at the left with dY/dt beside it, then ω, I⁻¹ and what makes up F."""
    m, I = view.mass, float(view.inertia.max())
    mean = f"Mean over the last step, h = {view.h:.4g} s: "
    all_of_it = "contacts, gravity, springs, joints, the mouse, loads"
    table: list[Line] = [(Numbers("x", "m", view.x, STILL, "Centre of mass", PLOTTED["x"]),
                          Numbers("v", "m/s", view.v, STILL, "", PLOTTED["v"]))]
    if quaternion:
        turn = "Principal axes to world: w first, then x, y, z"
        table += [
            (Numbers("q  (w)", "", view.q[:1], STILL, turn), Numbers("½ ω q  (w)", "1/s", view.q_dot[:1], STILL)),
            (Numbers("    (x y z)", "", view.q[1:], STILL, turn), Numbers("    (x y z)", "1/s", view.q_dot[1:], STILL)),
        ]
    else:
        table += [
            (Numbers("R" if k == 0 else "", "", view.R[k], STILL, "Principal axes to world: each column is an axis"),
             Numbers("[ω]× R" if k == 0 else "", "1/s" if k == 0 else "", view.R_dot[k], STILL))
            for k in range(3)
        ]
    table += [
        (Numbers("P", "kg m/s", view.P, STILL * m, "Momentum m v", PLOTTED["P"]),
         Numbers("F", "N", view.F, STILL * m / view.h, f"{mean}(P(t) − P(t − h))/h, of all that acts: {all_of_it}")),
        (Numbers("L", "kg m²/s", view.L, STILL * I, "Angular momentum I ω about the centre of mass",
                 PLOTTED["L"]),
         Numbers("τ", "N m", view.tau, STILL * I / view.h,
                 f"{mean}(L(t) − L(t − h))/h, of all that acts, about the centre of mass")),
        (None, None),
        (Numbers("ω", "rad/s", view.w, STILL, "Angular velocity I⁻¹ L", PLOTTED["w"]),
         Numbers("m g", "N", view.weight, STILL * m, "Weight, a part of F")),
    ]
    inverse = view.inverse_inertia
    noise = STILL * m / view.h
    parts = (Numbers("F − m g", "N", view.F - view.weight, noise,
                     f"{mean}all of F but the weight: contacts, springs, joints, the mouse, loads"),
             Numbers("of contacts", "N", held.force, noise, "Normal and friction forces of its contacts, a part of F"),
             Numbers("their torque", "N m", held.torque, STILL * I / view.h, "About the centre of mass, a part of τ"))
    for k in range(3):
        table.append((Numbers("I⁻¹" if k == 0 else "", "1/(kg m²)" if k == 0 else "", inverse[k],
                              STILL * float(np.abs(inverse).max()),
                              "R I_body⁻¹ R^T, of the body by itself, in world axes"), parts[k]))
    return table


def facts(view: BodyView) -> str:
    """Mass, principal moments and energies."""
    moments = ", ".join(f"{value:.4g}" for value in view.inertia)
    energies = (("½ m v²", view.linear_energy), ("½ ω·L", view.rotational_energy), ("−m g·x", view.potential_energy))
    return "    ".join((f"m = {view.mass:.4g} kg", f"principal moments {moments} kg m²",
                        *(f"{name} = {style.engineering(value, 'J', 4)}" for name, value in energies)))


def supported(held: Support) -> str:
    """Contacts that press, where they carry the body, and how far it is from tipping and slipping."""
    if not held.count:
        return "No contact presses on it."
    words = [f"{held.count} contact{'s' * (held.count > 1)} press{'es' * (held.count == 1)}"]
    if np.isfinite(held.pressure).all():
        words.append(f"centre of pressure ({', '.join(figure(v) for v in held.pressure)}) m")
    if len(held.polygon):
        where = "inside" if held.inside >= 0.0 else "outside of"
        words.append(f"centre of mass {style.engineering(abs(held.inside), 'm')} {where} the support polygon")
    words.append("no friction" if np.isnan(held.margin) else
                 f"|f_t| is at most {100.0 * (1.0 - held.margin):.3g} % of μλ")
    return ",  ".join(words)


def copied(name: str, t: float, table: list[Line], words: tuple[str, ...]) -> str:
    """The page as text: a line a vector, its numbers after tabs."""
    rows = [f"{name}, t = {t:.12g} s", *words]
    title = ""
    for numbers in (numbers for side in (0, 1) for numbers in (line[side] for line in table) if numbers is not None):
        title = numbers.name or title
        rows.append("\t".join((title, numbers.unit, *(f"{value:.12g}" for value in numbers.values))))
    return "\n".join(rows)


def remark(view: BodyView) -> str:
    """What F and τ are, and what else a reader must know of this body."""
    text = "F and τ: means over the last step, of all that acts." if np.isfinite(view.F).all() else (
        "F and τ are found from a step: make one.")
    if view.asleep:
        text += " It sleeps: it rests with its island, and is left out of steps until something stirs it."
    if view.link:
        text += " A link of a tree: P = m v and L = I ω; its joints' forces are in F and τ."
    return text


def _table(ui: UiState, snapshot: Snapshot, table: list[Line], below: float, body: int) -> None:
    if not imgui.begin_table("body", 8, TABLE, (0.0, max(imgui.get_content_region_avail().y - below, 4.0 * ui.font))):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    for side in ("Y", "dY/dt"):
        imgui.table_setup_column(side, imgui.TableColumnFlags_.width_stretch, 1.35)
        for axis in "xyz":
            imgui.table_setup_column(f"{axis}##{side}", imgui.TableColumnFlags_.width_stretch, 1.0)
    imgui.table_next_row(imgui.TableRowFlags_.headers)
    for column, heading in enumerate(("Y", "x", "y", "z", "dY/dt", "x", "y", "z")):
        imgui.table_set_column_index(column)
        if column % 4:
            _right(ui, heading, style.colors(ui).muted)
        else:
            _indent(ui, column)
            imgui.text(heading)
    for left, right in table:
        imgui.table_next_row()
        for first, numbers in ((0, left), (4, right)):
            imgui.table_set_column_index(first)
            if numbers is None:
                imgui.text("")
            else:
                _cells(ui, snapshot, first, numbers, body)
    imgui.end_table()


def _indent(ui: UiState, column: int) -> None:
    """Room between the numbers of Y and what stands right of them."""
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + (0.9 * ui.font if column else 0.0))


def _right(ui: UiState, text: str, color: style.Color) -> None:
    """A text at the right end of its cell."""
    room = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(room, 0.0))
    with style.color(imgui.Col_.text, color):
        imgui.text(text)


def _cells(ui: UiState, snapshot: Snapshot, first: int, numbers: Numbers, body: int) -> None:
    _indent(ui, first)
    imgui.text(numbers.name)
    if numbers.tip:
        imgui.set_item_tooltip(numbers.tip)
    if numbers.unit:
        imgui.same_line(0, 0.4 * ui.font)
        style.muted(ui, numbers.unit)
    for k, (text, value) in enumerate(zip(numbers.texts(), numbers.values, strict=True)):
        imgui.table_set_column_index(first + 1 + k)
        _right(ui, text, style.colors(ui).text)
        if numbers.plotted:
            _carry(ui, snapshot, Curve(numbers.plotted[k], body))
        advice = "\nDrag it onto the tab Plot" if numbers.plotted else ""
        imgui.set_item_tooltip(f"{value:.12g} {numbers.unit}{advice}")


def _carry(ui: UiState, snapshot: Snapshot, curve: Curve) -> None:
    """The last number can be dragged to a plot."""
    if imgui.begin_drag_drop_source(imgui.DragDropFlags_.source_allow_null_id):
        ui.dragged = curve
        imgui.set_drag_drop_payload_py_id(DRAGGED, 0)
        imgui.text(watch.title(snapshot, curve))
        imgui.end_drag_drop_source()


TAB = Tab("body", "Body", draw_body, "Y", lambda ui, snapshot: Inspect("body", body=chosen(ui, snapshot)))
