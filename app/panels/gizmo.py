"""The handles in the view by which bodies and joints are moved, turned and scaled, and marks of what overlaps."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from imgui_bundle import imgui, imguizmo

from ...physics.core.model import Array
from ...physics.run.messages import Snapshot
from ...physics.scene import edits
from ...physics.scene.edits import Pose
from ...physics.shapes import shapes as solid
from ..ui_state import UiState
from ..view.camera import Camera, matrices
from . import style
from .view import draw_labels

FAR = 1e4     # far plane / distance of the camera: the handles want one
MOST_MARKS = 12
gizmo = imguizmo.im_guizmo
OPERATIONS = {"move": gizmo.OPERATION.translate, "turn": gizmo.OPERATION.rotate, "scale": gizmo.OPERATION.scale}


@dataclass
class Held:
    """A movement of the handles, while it lasts."""

    begun: Array | None = None    #: (4, 4) where the handles were when it began
    matrix: Array | None = None   #: where they are now
    over: bool = False            #: the cursor is on them


def handles_hold(ui: UiState) -> bool:
    """Whether the mouse belongs to the handles."""
    held = ui.state_of(Held)
    return held.over or held.begun is not None


def draw_handles(ui: UiState, snapshot: Snapshot, camera: Camera) -> None:
    """The handles of what is chosen; they edit the scene when they are let go."""
    held, bench = ui.state_of(Held), ui.workbench
    where = None if not bench.on or bench.placing is not None or ui.boxes_open else _place(ui, snapshot)
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
    kind = "move" if joint else tools.tool
    snapped = tools.snap != imgui.get_io().key_ctrl
    step = {"move": tools.step, "turn": tools.angle, "scale": 0.1}[kind]
    matrix = where if held.matrix is None or held.begun is None else held.matrix
    mode = gizmo.MODE.local if tools.local or kind == "scale" else gizmo.MODE.world
    given = _columns(matrix)
    gizmo.manipulate(_columns(camera.view()), _columns(_projection(camera, w / h)), OPERATIONS[kind], mode, given, None,
                     gizmo.Matrix3([step] * 3) if snapped else None)
    draw.pop_clip_rect()
    held.over = gizmo.is_over()
    if gizmo.is_using():
        if held.begun is None:
            held.begun = where
        held.matrix = np.array(given.values, float).reshape(4, 4).T
        _follow(ui, held, kind, joint)
    elif held.begun is not None:
        _let_go(ui, held, kind, joint)
        held.begun = held.matrix = None


def _place(ui: UiState, snapshot: Snapshot) -> Array | None:
    """(4, 4) where the handles belong: the origin of the first chosen body, or the anchor of a joint."""
    bench = ui.workbench
    matrix = np.eye(4)
    if bench.free:
        rows = bench.rows_of(bench.free[:1])
        if not rows or rows[0] >= len(snapshot.x) or len(bench.built.rows) != len(snapshot.x):
            return None
        row = rows[0]
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


def _change(held: Held) -> tuple[Pose, Array, Array]:
    """The movement so far, the point about which it turns, and the factors by which it scales."""
    assert held.begun is not None and held.matrix is not None
    a, b = held.begun[:3, :3], held.matrix[:3, :3]
    factors = np.linalg.norm(b, axis=0) / np.linalg.norm(a, axis=0)
    turn = solid.matrix_to_quat((b / np.linalg.norm(b, axis=0)) @ (a / np.linalg.norm(a, axis=0)).T)
    return Pose(held.matrix[:3, 3] - held.begun[:3, 3], turn), held.begun[:3, 3].copy(), factors


def _follow(ui: UiState, held: Held, kind: str, joint: bool) -> None:
    """What is dragged goes with the handles at once."""
    bench = ui.workbench
    by, about, factors = _change(held)
    if kind == "scale":
        ui.dragging = f"Scaling × {', '.join(f'{f:.2f}' for f in factors)}"
        return
    if not joint:
        bench.preview, bench.about = by, about
    shift = ", ".join(f"{v:+.3f}" for v in by.position)
    angle = 2.0 * np.degrees(np.arccos(min(abs(float(by.turn[0])), 1.0)))
    ui.dragging = f"Moving by {shift} m" if kind == "move" else f"Turning by {angle:.1f}°"


def _let_go(ui: UiState, held: Held, kind: str, joint: bool) -> None:
    """The movement becomes an edit."""
    bench = ui.workbench
    by, about, factors = _change(held)
    ui.dragging = ""
    if joint:
        place = bench.chosen[0]
        at = [edits.rounded(v) for v in about + by.position]
        ui.edit("Move the anchor of a joint", lambda d: d.put((*place, "anchor"), at))
        return
    chosen = bench.free
    called = bench.called(chosen)
    if kind == "scale":
        ui.edit(f"Scale {called}", lambda d: edits.scale(d, chosen, [float(f) for f in factors]))
        return
    still = np.abs(by.position).max() < 1e-12 and abs(float(by.turn[0])) > 1.0 - 1e-12
    if still:
        bench.preview = None
        return
    ui.edit(f"{'Move' if kind == 'move' else 'Turn'} {called}", lambda d: edits.move(d, chosen, by, about))


def draw_marks(ui: UiState, camera: Camera) -> None:
    """How deep bodies overlap at the start, where they do."""
    bench = ui.workbench
    if not bench.on or bench.preview is not None or bench.placing is not None:
        return
    c = style.colors(ui)
    labels = [SimpleNamespace(position=o.point, text=f"overlap {style.engineering(o.depth, 'm')}", color=c.danger)
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
