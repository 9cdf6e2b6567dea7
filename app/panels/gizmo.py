"""The handles in the view by which bodies and joints are moved, turned and scaled, and arrows of the file dragged at
their tips: velocities of bodies, and gravity. And marks of what overlaps."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from imgui_bundle import imgui, imguizmo

from ...physics.core.language import N_, _
from ...physics.core.model import Array, BodyKind
from ...physics.run.messages import Snapshot
from ...physics.scene import edits
from ...physics.scene.edits import Pose
from ...physics.scene.form import Location
from ...physics.scene.schema import SceneTable
from ...physics.shapes import shapes as solid
from ..ui_state import UiState
from ..view.camera import Camera, matrices
from . import style
from .limit_handles import draw_limit_handles, limits_hold
from .view import draw_labels

FAR = 1e4     # far plane / distance of the camera: the handles want one
MOST_MARKS = 12
gizmo = imguizmo.im_guizmo
OPERATIONS = {"move": gizmo.OPERATION.translate, "turn": gizmo.OPERATION.rotate, "scale": gizmo.OPERATION.scale}
KNOWN = 6     # digits behind the point of what the handles say [m]
HEAD = 0.7    # length of an arrow's head / height of a line of text


class Meaning(NamedTuple):
    """What an arrow stands for."""

    field: str
    words: str
    unit: str
    length: float  #: of a unit / distance of the camera
    step: float    #: of what is snapped


#: tools that drag arrows of bodies
ARROWS = {
    "velocity": Meaning("velocity", N_("velocity"), "m/s", 0.1, 0.1),
    "spin": Meaning("angular_velocity", N_("angular velocity"), "rad/s", 0.05, 0.1),
}
AXIS = Meaning("axis", N_("axis"), "", 0.15, 0.1)  # of a joint, by the tool that turns
GRAVITY = Meaning("gravity", N_("gravity"), "m/s²", 0.02, 0.1)


class Arrow(NamedTuple):
    """A vector of the file, as it is drawn."""

    means: Meaning
    tables: tuple[Location, ...]  #: that get it
    value: Array                  #: (3,)
    start: Array                  #: (3,) [m]


@dataclass
class Held:
    """A movement of the handles, while it lasts."""

    begun: Array | None = None    #: (4, 4) where the handles were when it began
    matrix: Array | None = None   #: where they are now
    over: bool = False            #: the cursor is on them
    metres: float = 1.0           #: that a unit of the dragged arrow is long


def handles_hold(ui: UiState) -> bool:
    """Whether the mouse belongs to the handles."""
    held = ui.state_of(Held)
    return held.over or held.begun is not None or limits_hold(ui)


def draw_handles(ui: UiState, snapshot: Snapshot, camera: Camera) -> None:
    """The handles of what is chosen; they edit the scene when they are let go."""
    held, bench = ui.state_of(Held), ui.workbench
    if held.begun is None:
        draw_limit_handles(ui, camera)
    idle = limits_hold(ui) or not bench.on or bench.placing is not None or ui.boxes_open
    arrow = None if idle else _arrow(ui, snapshot, camera)
    if arrow is not None and held.begun is None:
        held.metres = arrow.means.length * camera.distance
    where = None if idle else _place(ui, snapshot) if arrow is None else _tip(arrow, held.metres)
    if where is None:
        held.begun, held.over = None, False
        return
    x, y, w, h = ui.view_rect
    draw = imgui.get_background_draw_list()
    draw.push_clip_rect((x, y), (x + w, y + h), True)
    gizmo.begin_frame()
    gizmo.allow_axis_flip(False)
    gizmo.set_drawlist(draw)
    gizmo.set_rect(x, y, w, h)
    gizmo.set_gizmo_size_clip_space(0.16 * min(h / w, 1.0) + 0.06)
    tools = bench.tools
    joint = not bench.bodies
    kind = "move" if joint or arrow is not None else tools.tool
    snapped = tools.snap != imgui.get_io().key_ctrl
    shown = arrow
    if arrow is not None and held.begun is not None:
        shown = arrow._replace(value=_dragged(held, arrow, snapped))
    if shown is not None:
        _draw_arrow(ui, shown, held.metres, camera)
    step = {"move": tools.step, "turn": tools.angle, "scale": 0.1}[kind]
    matrix = where if held.matrix is None or held.begun is None else held.matrix
    mode = gizmo.MODE.local if tools.local or kind == "scale" else gizmo.MODE.world
    given = _columns(matrix)
    gizmo.manipulate(_columns(camera.view()), _columns(_projection(camera, w / h)), OPERATIONS[kind], mode, given, None,
                     gizmo.Matrix3([step] * 3) if snapped and arrow is None else None)
    draw.pop_clip_rect()
    held.over = gizmo.is_over()
    if gizmo.is_using():
        if held.begun is None:
            held.begun = where
        held.matrix = np.array(given.values, float).reshape(4, 4).T
        if shown is not None:
            ui.dragging = f"{_(shown.means.words).capitalize()} {told(shown)}"
        else:
            _follow(ui, held, kind, joint)
    elif held.begun is not None:
        if shown is not None:
            _set(ui, shown)
        else:
            _let_go(ui, held, kind, joint)
        held.begun = held.matrix = None


def _place(ui: UiState, snapshot: Snapshot) -> Array | None:
    """(4, 4) where the handles belong: the origin of the first chosen body, or the anchor of a joint. None where there
    are none, as of bodies that cannot be thrown."""
    bench = ui.workbench
    matrix = np.eye(4)
    if bench.bodies and bench.tools.tool in ARROWS:
        return None
    if bench.free:
        rows = bench.rows_of(bench.free[:1])
        if not rows or rows[0] >= len(snapshot.x) or len(bench.built.rows) != len(snapshot.x):
            return None
        row = rows[0]
        if not np.isfinite(snapshot.x[row]).all():  # hidden
            return None
        turn = matrices(snapshot.q[row : row + 1])[0]
        matrix[:3, 3] = snapshot.x[row] + turn @ snapshot.labels.origin[row]
        matrix[:3, :3] = turn @ matrices(snapshot.labels.axes[row : row + 1])[0]
        return matrix
    joint = bench.chosen[0] if bench.chosen and bench.chosen[0][0] == "joint" else ("joint", -1)
    anchor = bench.document.get((*joint, "anchor")) if joint[1] != -1 else None
    if not isinstance(anchor, list) or len(anchor) != 3:
        return None
    matrix[:3, 3] = anchor
    return matrix


def _arrow(ui: UiState, snapshot: Snapshot, camera: Camera) -> Arrow | None:
    """The arrow that is dragged: gravity where the scene itself is chosen; the axis of a chosen joint; or what the tool
    has of the chosen bodies, where forces alone move them."""
    bench = ui.workbench
    if bench.chosen and bench.chosen[0][0] == "joint" and bench.tools.tool == "turn":
        anchor, axis = (bench.document.get((*bench.chosen[0], name)) for name in ("anchor", "axis"))
        if anchor is None or axis is None:  # a ball joint has none
            return None
        return Arrow(AXIS, bench.chosen[:1], np.array(axis, float) / np.linalg.norm(axis), np.array(anchor, float))
    if bench.chosen[:1] == (("scene",),):
        given = bench.document.get(("scene", GRAVITY.field)) or SceneTable().gravity
        return Arrow(GRAVITY, bench.chosen, np.array(given, float), camera.target)
    means = ARROWS.get(bench.tools.tool)
    if means is None or len(bench.built.rows) != len(snapshot.x):
        return None
    thrown = [k for k in bench.free if any(snapshot.model.kind[row] == BodyKind.DYNAMIC for row in bench.rows_of([k]))]
    if not thrown:
        return None
    value = np.array(bench.document.get(("body", thrown[0], means.field)) or (0.0, 0.0, 0.0), float)
    return Arrow(means, tuple(("body", k) for k in thrown), value, snapshot.x[bench.rows_of(thrown[:1])[0]])


def _tip(arrow: Arrow, metres: float) -> Array:
    """(4, 4) where the handles of an arrow belong."""
    matrix = np.eye(4)
    matrix[:3, 3] = arrow.start + metres * arrow.value
    return matrix


def _dragged(held: Held, arrow: Arrow, snapped: bool) -> Array:
    """(3,) what an arrow says whose tip is where the handles are now."""
    assert held.matrix is not None
    value = (held.matrix[:3, 3] - arrow.start) / held.metres
    return np.round(value / arrow.means.step) * arrow.means.step if snapped else value


def told(arrow: Arrow) -> str:
    """What an arrow says: components and size."""
    parts = ", ".join(f"{v + 0.0:.2f}" for v in arrow.value)
    return f"({parts}) {arrow.means.unit}, {np.linalg.norm(arrow.value):.2f} {arrow.means.unit}"


def _draw_arrow(ui: UiState, arrow: Arrow, metres: float, camera: Camera) -> None:
    x, y, w, h = ui.view_rect
    ends = np.array([arrow.start, arrow.start + metres * arrow.value])
    places, depths = camera.project(ends, w, h)
    c, width = style.colors(ui), 3.0 * ui.preferences.scale
    if (depths > 0.0).all():
        start, tip = places + np.array([x, y])
        along = tip - start
        length = float(np.linalg.norm(along))
        draw, color = imgui.get_background_draw_list(), style.u32(c.accent)
        draw.push_clip_rect((x, y), (x + w, y + h), True)
        draw.add_line(tuple(start), tuple(tip), color, width)
        if length > 1.0:
            back = tip - HEAD * ui.font * along / length
            side = 0.4 * HEAD * ui.font * np.array([-along[1], along[0]]) / length
            draw.add_triangle_filled(tuple(tip), tuple(back + side), tuple(back - side), color)
        draw.pop_clip_rect()
    text = f"{_(arrow.means.words)} {np.linalg.norm(arrow.value):.4g} {arrow.means.unit}"
    draw_labels(ui, [SimpleNamespace(position=ends[1], text=text, color=c.accent)], camera, ui.view_rect)


def _set(ui: UiState, arrow: Arrow) -> None:
    """The dragged arrow becomes an edit."""
    ui.dragging = ""
    field, value = arrow.means.field, [edits.rounded(round(float(v), 4)) for v in arrow.value]
    if arrow.means is AXIS:
        length = float(np.linalg.norm(arrow.value))
        if length > 0.0:  # a joint without a direction is none
            unit = [edits.rounded(v / length) for v in arrow.value]
            ui.edit(_("Turn the axis of a joint"), lambda d: d.put((*arrow.tables[0], field), unit))
        return
    of = _("the scene") if arrow.tables[0][0] == "scene" else ui.workbench.called([int(at[1]) for at in arrow.tables])
    default = None if field == GRAVITY.field else [0.0, 0.0, 0.0]
    ui.edit(_("Set {words} of {of}").format(words=_(arrow.means.words), of=of),
            lambda d: [edits.set_field(d, (*at, field), value, default) for at in arrow.tables])


def _change(held: Held, kind: str) -> tuple[Pose, Array, Array]:
    """The movement so far, the point about which it turns, and the factors by which it scales; ImGuizmo counts in
    float32."""
    assert held.begun is not None and held.matrix is not None
    a, b = held.begun[:3, :3], held.matrix[:3, :3]
    factors = np.round(np.linalg.norm(b, axis=0) / np.linalg.norm(a, axis=0), KNOWN)
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    if kind == "turn":
        turn = solid.matrix_to_quat((b / np.linalg.norm(b, axis=0)) @ (a / np.linalg.norm(a, axis=0)).T)
    return Pose(np.round(held.matrix[:3, 3] - held.begun[:3, 3], KNOWN), turn), held.begun[:3, 3].copy(), factors


def _follow(ui: UiState, held: Held, kind: str, joint: bool) -> None:
    """What is dragged goes with the handles at once."""
    bench = ui.workbench
    by, about, factors = _change(held, kind)
    if kind == "scale":
        ui.dragging = _("Scaling × {f}").format(f=', '.join(f'{f:.2f}' for f in factors))
        return
    if not joint:
        bench.preview, bench.about = by, about
    shift = ", ".join(f"{v:+.3f}" for v in by.position)
    angle = 2.0 * np.degrees(np.arccos(min(abs(float(by.turn[0])), 1.0)))
    ui.dragging = (_("Moving by {shift} m") if kind == "move" else _("Turning by {angle:.1f}°")).format(
            shift=shift, angle=angle)


def _let_go(ui: UiState, held: Held, kind: str, joint: bool) -> None:
    """The movement becomes an edit."""
    bench = ui.workbench
    by, about, factors = _change(held, kind)
    ui.dragging = ""
    if np.abs(by.position).max() == 0.0 and abs(float(by.turn[0])) > 1.0 - 1e-12 and (factors == 1.0).all():
        bench.preview = None  # a click moves nothing
        return
    if joint:
        place = bench.chosen[0]
        at = [edits.rounded(v) for v in about + by.position]
        ui.edit(_("Move the anchor of a joint"), lambda d: d.put((*place, "anchor"), at))
        return
    chosen = bench.free
    called = bench.called(chosen)
    if kind == "scale":
        ui.edit(_("Scale {called}").format(called=called),
                lambda d: edits.scale(d, chosen, [float(f) for f in factors]))
        return
    ui.edit(f"{_('Move') if kind == 'move' else _('Turn')} {called}", lambda d: edits.move(d, chosen, by, about))


def draw_marks(ui: UiState, camera: Camera) -> None:
    """How deep bodies overlap at the start, where they do."""
    bench = ui.workbench
    if not bench.on or bench.preview is not None or bench.placing is not None:
        return
    c = style.colors(ui)
    labels = [SimpleNamespace(position=o.point, text=_("overlap {depth}").format(depth=style.engineering(o.depth, 'm')),
                              color=c.danger)
              for o in bench.built.overlaps[:MOST_MARKS]]
    draw_labels(ui, labels, camera, ui.view_rect)


def _columns(matrix: Array) -> Any:
    """A matrix as ImGuizmo has it, column after column."""
    return gizmo.Matrix16([float(v) for v in matrix.T.ravel()])


def _projection(camera: Camera, aspect: float) -> Array:
    """The camera's, with a far plane."""
    matrix = camera.projection(aspect)
    near, far = camera.near, FAR * camera.distance
    matrix[2, 2], matrix[2, 3] = (far + near) / (near - far), 2.0 * far * near / (near - far)
    return matrix
