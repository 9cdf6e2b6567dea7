"""The limits of a chosen joint in the view, while the scene is edited: two handles, dragged about or along its axis."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _
from ...physics.core.model import Array
from ...physics.scene import edits
from ...physics.scene.form import Location
from ..ui_state import UiState
from ..view.camera import Camera
from . import style
from .view import draw_labels

REACH = 0.15      # radius of the arc / distance of the camera: outside of the other handles
GRIP = 0.75       # of a handle, around its middle [font heights]
PIECES = 48       # of the arc
GRAZING = 0.05    # cosine between the ray and the axis below which the plane of a turn is seen from its edge
ROUND = 3         # digits behind the point of what is not snapped [degrees], [m]
FIRST = (-90.0, 90.0)  # [degrees] where the handles of a joint without limits stand
FIRST_WAY = 0.5        # likewise of a slider [m], to both sides


class Range(NamedTuple):
    """The limits of a joint of the file, as they are drawn."""

    place: Location
    called: str
    turns: bool        #: about the axis [degrees], else along it [m]
    given: bool        #: the file has them
    ends: tuple[float, float]
    anchor: Array      #: (3,) [m]
    axis: Array        #: (3,) unit
    zero: Array        #: (3,) unit, where position 0 of a turn is

    def at(self, value: float, radius: float) -> Array:
        """(3,) the point of the world at this position of the joint."""
        if not self.turns:
            return self.anchor + value * self.axis
        angle = np.radians(value)
        return self.anchor + radius * (np.cos(angle) * self.zero + np.sin(angle) * np.cross(self.axis, self.zero))


@dataclass
class HeldLimit:
    """A handle that is dragged."""

    end: int = -1                             #: 0 lower, 1 upper, -1 = none
    ends: tuple[float, float] = (0.0, 0.0)    #: as they are dragged
    over: bool = False                        #: the cursor is on one of the handles


def limits_hold(ui: UiState) -> bool:
    """Whether the mouse belongs to a handle of a limit."""
    held = ui.state_of(HeldLimit)
    return held.over or held.end >= 0


def range_of(ui: UiState) -> Range | None:
    """The limits of the chosen joint, where it is a hinge, a screw or a slider."""
    bench = ui.workbench
    if len(bench.chosen) != 1 or bench.chosen[0][0] != "joint" or len(bench.chosen[0]) != 2:
        return None
    place = bench.chosen[0]
    table = bench.document.get(place) or {}
    names = edits.names(bench.document)
    if table.get("type") not in ("hinge", "screw", "slider") or table.get("child") not in names:
        return None
    child = bench.document.get(("body", names.index(table["child"]), "position")) or [0.0, 0.0, 0.0]
    axis, anchor = np.array(table.get("axis") or (0.0, 0.0, 1.0), float), np.array(table.get("anchor") or child, float)
    size = float(np.linalg.norm(axis))
    if axis.shape != (3,) or anchor.shape != (3,) or not size > 0.0:
        return None
    axis /= size
    zero = np.array(child, float) - anchor
    zero -= (zero @ axis) * axis
    if np.linalg.norm(zero) < 1e-9:
        zero = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    turns, given = table["type"] != "slider", table.get("limits")
    first = FIRST if turns else (-FIRST_WAY, FIRST_WAY)
    written = isinstance(given, list) and len(given) == 2 and all(isinstance(v, int | float) for v in given)
    low, high = given if written and given is not None else first
    called = table.get("name") or _("joint {place}").format(place=int(place[1]) + 1)
    return Range(place, called, turns, written, (float(low), float(high)), anchor, axis, zero / np.linalg.norm(zero))


def draw_limit_handles(ui: UiState, camera: Camera) -> None:
    """The range and its two handles; where one is let go, the file has its new limits."""
    held, bench = ui.state_of(HeldLimit), ui.workbench
    shown = range_of(ui) if bench.on and bench.placing is None and not ui.boxes_open else None
    if shown is None:
        held.end, held.over = -1, False
        return
    radius, mouse = REACH * camera.distance, np.array(imgui.get_mouse_pos())
    x, y, w, h = ui.view_rect
    ends = held.ends if held.end >= 0 else shown.ends
    places, depths = camera.project(np.array([shown.at(end, radius) for end in ends]), w, h)
    places = places + np.array([x, y])
    away = np.where(depths > 0.0, np.linalg.norm(places - mouse, axis=1), np.inf)
    near = int(np.argmin(away)) if away.min() < GRIP * ui.font else -1
    held.over = near >= 0 and not imgui.is_window_hovered(imgui.HoveredFlags_.any_window)
    if held.over and held.end < 0 and imgui.is_mouse_clicked(0):
        held.end, held.ends = near, shown.ends
    if held.end >= 0:
        value = pointed(shown, camera, (mouse[0] - x, mouse[1] - y), (w, h), held.ends[held.end])
        if value is not None:
            held.ends = moved(held, round_to(ui, shown, value))
        ui.dragging = (_("Upper limit {value}") if held.end else _("Lower limit {value}")).format(
            value=told(shown, held.ends[held.end]))
        if not imgui.is_mouse_down(0):
            _let_go(ui, shown, held)
    _draw(ui, shown, held, camera, radius, near)


def pointed(shown: Range, camera: Camera, at: tuple[float, float], size: tuple[float, float], last: float
            ) -> float | None:
    """The position of the joint that the cursor points at, in degrees or metres; of angles the one nearest to the last.
    None where the plane of the turn is seen from its edge, or the axis from its end."""
    origin, direction = camera.ray(*at, *size)
    slope = float(direction @ shown.axis)
    way = origin - shown.anchor
    if shown.turns:
        if abs(slope) < GRAZING:
            return None
        arm = way - (way @ shown.axis) / slope * direction
        angle = float(np.degrees(np.arctan2(arm @ np.cross(shown.axis, shown.zero), arm @ shown.zero)))
        return angle + 360.0 * round((last - angle) / 360.0)
    across = 1.0 - slope * slope  # of the ray and the axis, the points nearest to each other
    return float((way @ shown.axis - slope * (way @ direction)) / across) if across > GRAZING * GRAZING else None


def round_to(ui: UiState, shown: Range, value: float) -> float:
    """Snapped to whole steps, unless Ctrl asks otherwise."""
    tools = ui.workbench.tools
    step = tools.angle if shown.turns else tools.step
    if tools.snap != imgui.get_io().key_ctrl:
        value = round(value / step) * step
    return edits.rounded(round(value, ROUND))


def moved(held: HeldLimit, value: float) -> tuple[float, float]:
    """Both limits with one of them moved: it stops at the other one."""
    low, high = held.ends
    return (min(value, high), high) if held.end == 0 else (low, max(value, low))


def _let_go(ui: UiState, shown: Range, held: HeldLimit) -> None:
    """The dragged limit becomes an edit."""
    ends, upper = held.ends, held.end == 1
    ui.dragging, held.end = "", -1
    if ends != shown.ends:
        ui.edit((_("Set the upper limit of {called}") if upper else _("Set the lower limit of {called}")).format(
            called=shown.called), lambda d: d.put((*shown.place, "limits"), list(ends)))


def told(shown: Range, value: float) -> str:
    """ "−30°", "0.25 m"."""
    return f"{value:.4g}{'°' if shown.turns else ' m'}".replace("-", "\u2212")


def _draw(ui: UiState, shown: Range, held: HeldLimit, camera: Camera, radius: float, near: int) -> None:
    """The range as an arc with two spokes, or as a line; a disc a handle, hollow where the file has no limits yet."""
    x, y, w, h = ui.view_rect
    ends = held.ends if held.end >= 0 else shown.ends
    along = np.linspace(*ends, PIECES + 1) if shown.turns else np.array(ends)
    points = np.array([shown.at(value, radius) for value in along])
    if shown.turns:
        points = np.vstack([shown.anchor, points, shown.anchor])
    places, depths = camera.project(points, w, h)
    if not (depths > 0.0).all():
        return
    c, scale, draw = style.colors(ui), ui.preferences.scale, imgui.get_background_draw_list()
    solid = shown.given or held.end >= 0
    corners: list[Any] = [(x + float(px), y + float(py)) for px, py in places]
    draw.push_clip_rect((x, y), (x + w, y + h), True)
    draw.add_polyline(corners, style.u32(c.accent, 0.9 if solid else 0.4), 2.0 * scale, 0)
    grips = (corners[1], corners[-2]) if shown.turns else (corners[0], corners[-1])
    for k, grip in enumerate(grips):
        lit = k in (near, held.end)
        draw.add_circle_filled(grip, 0.42 * ui.font, style.u32(c.warning if lit else c.accent if solid else c.panel))
        draw.add_circle(grip, 0.42 * ui.font, style.u32(c.text if solid else c.accent), 0, 1.5 * scale)
    draw.pop_clip_rect()
    names = ((_("lower {value}"), _("upper {value}")) if solid else
             (_("no lower limit: drag"), _("no upper limit: drag")))
    words = [name.format(value=told(shown, end)) for name, end in zip(names, ends, strict=True)]
    draw_labels(ui, [SimpleNamespace(position=shown.at(end, radius), text=text, color=c.text)
                     for end, text in zip(ends, words, strict=True)], camera, ui.view_rect)
