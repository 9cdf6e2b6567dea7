"""Contact geometry: the normal along a path around the selected body beside those of others, and what lines and discs
of contact lose where n points stand for them."""

from dataclasses import dataclass, field

import numpy as np
from imgui_bundle import imgui, implot

from ...physics.core.language import N_, _, labelled
from ...physics.core.model import Array, Model, movable
from ...physics.look.outline import Outline, miss_of_line, outline, ruled_normals, share_of_disc
from ...physics.run.messages import Snapshot
from ..ui_state import UiState
from . import style
from .plot import colors
from .tabs import Tab

SPINS = 1e-2              # angular velocity from which on a body spins [rad/s]
MOST = 8                  # outlines at once: the colours of the palette
LEAST_POINTS, MOST_POINTS = 3, 32
AXES = {"spin": N_("axis of its spin"), "x": "x", "y": "y", "z": "z"}
SHAPES = {"disc": N_("disc, fig. 11.7 d"), "line": N_("ruled line, fig. 11.7 b")}
PLOT = (implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_title | implot.Flags_.no_legend
        | implot.Flags_.no_mouse_text | implot.Flags_.no_inputs)
ROUND = np.linspace(0.0, 2.0 * np.pi, 97)


@dataclass
class NormalsUi:
    """What the tab remembers."""

    axis: str = "spin"
    shape: str = "disc"
    points: int = 8
    model: Model | None = None                                     # which the outlines are of
    outlines: dict[tuple[int, tuple[float, ...]], Outline | None] = field(default_factory=dict)
    spun: dict[int, int] = field(default_factory=dict)             # axis of each body's last spin
    misses: dict[int, float] = field(default_factory=dict)         # of the ruled line, by n


def draw_normals(ui: UiState, snapshot: Snapshot, send: object) -> None:
    """The plot of n(p) at the left, points for a line or a disc at the right."""
    mine = ui.state_of(NormalsUi)
    if mine.model is not snapshot.model:
        mine.model, mine.outlines, mine.spun = snapshot.model, {}, {}
    width = imgui.get_content_region_avail().x
    imgui.begin_child("normals_path", (0.6 * width, 0), 0, imgui.WindowFlags_.no_scrollbar)
    _paths(ui, snapshot, mine)
    imgui.end_child()
    imgui.same_line(0, 1.0 * ui.font)
    imgui.begin_child("normals_points", (0, 0), 0, imgui.WindowFlags_.no_scrollbar)
    _points(ui, mine)
    imgui.end_child()


def shown_bodies(snapshot: Snapshot, selected: int) -> list[int]:
    """The selected body first, then others that move."""
    mobile = np.flatnonzero(movable(snapshot.model.kind)).tolist()
    return [*([selected] if selected >= 0 else []), *(i for i in mobile if i != selected)][:MOST]


def axis_of(snapshot: Snapshot, body: int, mine: NormalsUi) -> Array:
    """The axis (3,) in the frame of principal axes: the one about which it spins, or spun last, or one by its name."""
    turned, found = np.abs(_to_body(snapshot.q[body], snapshot.w[body])), np.zeros(3)
    if turned.max() > SPINS:
        mine.spun[body] = int(turned.argmax())
    found[mine.spun.get(body, 2) if mine.axis == "spin" else "xyz".index(mine.axis)] = 1.0
    return found


def _to_body(q: Array, v: Array) -> Array:
    """A vector of the world in the axes of a body of orientation q."""
    s, r = q[0], -q[1:]
    t = 2.0 * np.cross(r, v)
    return v + s * t + np.cross(r, t)


def _paths(ui: UiState, snapshot: Snapshot, mine: NormalsUi) -> None:
    imgui.set_next_item_width(9.0 * ui.font)
    if imgui.begin_combo("##normals_axis", _(AXES[mine.axis])):
        for axis, title in AXES.items():
            if imgui.selectable(labelled(f"{title}##normals_{axis}"), axis == mine.axis)[0]:
                mine.axis = axis
        imgui.end_combo()
    imgui.set_item_tooltip(_("The path goes round this axis of each body, where the normal is at right angles to it"))
    imgui.same_line(0, 0.8 * ui.font)
    style.muted(ui, _("the normal's angle [°] along the way p [m]"))
    found = {}
    for body in shown_bodies(snapshot, ui.view.selected):
        axis = axis_of(snapshot, body, mine)
        key = (body, tuple(axis.tolist()))
        if key not in mine.outlines:
            mine.outlines[key] = outline(snapshot.model, body, axis)
        way = mine.outlines[key]
        if way is not None:
            found[body] = way
    if not found:
        style.muted(ui, _("No body here has an outline that is known: they are no convex solids."), wrap=True)
        return
    pairs = list(zip(found.items(), colors(ui), strict=False))
    for (body, way), color in pairs:
        with style.color(imgui.Col_.text, color):
            imgui.text(f"{snapshot.labels.bodies[body]}: {told(way)}")
        if imgui.get_item_rect_max().x + 13.0 * ui.font < imgui.get_window_pos().x + imgui.get_window_width():
            imgui.same_line(0, 1.0 * ui.font)
    imgui.new_line()
    if implot.begin_plot("##normals", (-1, -1), PLOT):
        implot.setup_axes("", "", implot.AxisFlags_.no_highlight, implot.AxisFlags_.no_highlight)
        most = max(float(way.way[-1]) for way in found.values())
        implot.setup_axis_limits(implot.ImAxis_.x1.value, 0.0, 1.02 * most, implot.Cond_.always.value)
        implot.setup_axis_limits(implot.ImAxis_.y1.value, 0.0, 370.0, implot.Cond_.always.value)
        for (body, way), color in pairs:
            wide = 2.6 if body == ui.view.selected else 1.4
            implot.plot_line(f"##{body}", way.way, np.degrees(way.angle),
                             implot.Spec(line_color=color, line_weight=wide * ui.preferences.scale))
        implot.end_plot()


def told(way: Outline) -> str:
    """How its normal turns, in words."""
    if way.jumps == 0.0:
        return _("turns smoothly")
    return _("{share:.0f} % in jumps").format(share=100.0 * way.jumps)


def _points(ui: UiState, mine: NormalsUi) -> None:
    """n points in place of all of a disc's rim or of a line, and what that leaves out."""
    for shape, title in SHAPES.items():
        label = labelled(f"{title}##normals_{shape}")
        if shape != next(iter(SHAPES)):
            style.flow(style.width_of_switch(label), 0.6 * ui.font)
        if style.radio(ui, label, mine.shape == shape):
            mine.shape = shape
    imgui.text(f"n = {mine.points}")
    imgui.same_line(4.0 * ui.font)
    imgui.set_next_item_width(-1)
    changed, value = style.slider("normals_points", float(mine.points), LEAST_POINTS, MOST_POINTS, "%.0f", ui)
    if changed:
        mine.points = round(value)
    if mine.shape == "disc":
        style.muted(ui, _("A load is held as far out as cos π/n = {share:.2f} % of the radius, in any "
                          "direction.").format(share=100.0 * share_of_disc(mine.points)), wrap=True)
    else:
        if mine.points not in mine.misses:
            mine.misses[mine.points] = miss_of_line(mine.points)
        style.muted(ui, _("On z = x tan y no normal is a sum of others: what the points forbid misses a unit normal "
                          "between them by {miss:.2g} at worst.").format(miss=mine.misses[mine.points]), wrap=True)
    _draw_points(ui, mine)


def _draw_points(ui: UiState, mine: NormalsUi) -> None:
    room = imgui.get_content_region_avail()
    if not implot.begin_plot("##normals_points", (-1, -1), PLOT):
        return
    flags, wide = implot.AxisFlags_.no_decorations, 1.15 * max(room.x / max(room.y, 1.0), 1.0)
    high = 1.15 * max(room.y / max(room.x, 1.0), 1.0)
    implot.setup_axes("", "", flags, flags)
    implot.setup_axes_limits(-wide, wide, -high, high, implot.Cond_.always.value)
    c, unit = style.colors(ui), ui.preferences.scale
    if mine.shape == "disc":
        corner = 2.0 * np.pi / mine.points * np.arange(mine.points + 1)
        held = share_of_disc(mine.points)
        for x, y, color, wide in ((np.cos(ROUND), np.sin(ROUND), c.muted, 1.2),
                                  (np.cos(corner), np.sin(corner), c.text, 1.6),
                                  (held * np.cos(ROUND), held * np.sin(ROUND), c.accent, 1.6)):
            spec = implot.Spec(line_color=color, line_weight=wide * unit)
            implot.plot_line(f"##{wide}{len(x)}{x[0]:.3f}", x, y, spec)
        marked = np.cos(corner), np.sin(corner)
    else:
        y = np.linspace(-1.0, 1.0, mine.points)
        tips = ruled_normals(y)[:, [3, 5]]
        tips /= np.linalg.norm(tips, axis=1)[:, None]
        spec = implot.Spec(line_color=c.accent, line_weight=1.4 * unit)
        for k in range(mine.points):
            ends = np.array([y[k], y[k] + 0.5 * tips[k, 0]]), np.array([-0.5, -0.5 + 0.9 * tips[k, 1]])
            implot.plot_line(f"##normal{k}", *ends, spec)
        marked = y, np.full(mine.points, -0.5)
    implot.plot_scatter("##marked", np.ascontiguousarray(marked[0]), np.ascontiguousarray(marked[1]), implot.Spec(
        marker=implot.Marker_.circle, marker_size=3.2 * unit, marker_fill_color=c.text, line_color=c.text))
    implot.end_plot()


TAB = Tab("normals", "Normals", draw_normals)
