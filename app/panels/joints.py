"""The joints: their coordinates by choice; of those of trees position, speed, and a torque or force to put on each."""

import math
from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui

from contactlab.app.overlays import body_radius
from contactlab.app.panels import style
from contactlab.app.panels.compare import coordinates_choice
from contactlab.app.ui_state import UiState
from contactlab.physics.messages import Command, PushJoint, Snapshot
from contactlab.physics.model import JointType

Send = Callable[[Command], None]
FULL = -1e-6  # item width: to the right edge
MOST = 40     # joints shown; with a body selected only its own are
SOON = 0.5    # [s] a slider shows what was asked for until the engine has answered


def draw_joints(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Which coordinates the joints have; for those of trees a row with the name, q and q̇, and for hinges and sliders a
    slider for τ."""
    coordinates_choice(ui, snapshot, send)
    held = int(np.count_nonzero(snapshot.model.joints.generalized == 0))
    if held:
        style.muted(ui, f"{held} {'joint' if held == 1 else 'joints'} as constraints on bodies", wrap=True)
    trees, joints = snapshot.model.trees, snapshot.model.joints
    links = [link for link, j in enumerate(trees.joint) if joints.type[j] not in (JointType.FIXED, JointType.FREE)]
    if ui.view.selected >= 0:
        own = [link for link in links
               if ui.view.selected in (joints.child[trees.joint[link]], joints.parent[trees.joint[link]])]
        links = own or links
    reach = most_torque(snapshot)
    for link in links[:MOST]:
        _row(ui, snapshot, send, link, reach)
    if len(links) > MOST:
        style.muted(ui, f"and {len(links) - MOST} more: select a body to see its own", wrap=True)
    if snapshot.joint_load.any() and imgui.button("Let all joints go"):
        for d in np.flatnonzero(snapshot.joint_load):
            send(PushJoint(int(d), 0.0))


def most_torque(snapshot: Snapshot) -> float:
    """The end of the sliders [N m]: what holds all links of the scene out by their mean size, rounded."""
    model = snapshot.model
    body, size = model.trees.body, 2.0 * body_radius(model)
    gravity = float(np.linalg.norm(snapshot.settings.gravity)) or 9.81
    torque = float(model.mass[body].sum()) * gravity * size
    return float(f"{max(torque, 1e-6):.1g}")


def position_text(kind: int, q: np.ndarray) -> str:
    """A joint's position in words."""
    if kind == JointType.SLIDER:
        return f"{q[0]:z.3f} m"
    if kind == JointType.BALL:
        return f"{math.degrees(2.0 * math.atan2(float(np.linalg.norm(q[1:])), abs(float(q[0])))):.1f}°"
    return ", ".join(f"{math.degrees(angle):z.1f}°" for angle in q)


def speed_text(kind: int, v: np.ndarray) -> str:
    if kind == JointType.SLIDER:
        return f"{v[0]:z.2f} m/s"
    return ", ".join(f"{rate:z.2f}" for rate in v) + " rad/s"


def _row(ui: UiState, snapshot: Snapshot, send: Send, link: int, reach: float) -> None:
    model, trees = snapshot.model, snapshot.model.trees
    j = int(trees.joint[link])
    kind = int(model.joints.type[j])
    q = snapshot.joint_q[trees.first_q[link] : trees.first_q[link + 1]]
    v = snapshot.joint_v[trees.first_v[link] : trees.first_v[link + 1]]
    load = float(snapshot.joint_load[trees.first_v[link]]) if len(v) else 0.0
    value = f"{position_text(kind, q)}   {speed_text(kind, v)}" + (f"   τ {load:.3g}" if load else "")
    room = imgui.get_content_region_avail().x - imgui.calc_text_size(value).x
    imgui.text(style.clipped_text(snapshot.labels.joints[j], room - 0.5 * ui.font))
    imgui.same_line()
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(
        imgui.get_content_region_avail().x - imgui.calc_text_size(value).x, 0.0))
    style.muted(ui, value)
    if kind not in (JointType.HINGE, JointType.SLIDER):
        return
    d, name = int(trees.first_v[link]), f"joint_{link}"
    asked = ui.asked.get(name)
    shown = asked[0] if asked is not None and ui.clock < asked[1] else load
    imgui.set_next_item_width(FULL)
    changed, load = style.slider(name, shown, -reach, reach, "%.3g", ui)
    unit = "N" if kind == JointType.SLIDER else "N m"
    imgui.set_item_tooltip(f"τ = {shown:.3g} {unit}; Ctrl+click to type a number")
    if changed:
        ui.asked[name] = (load, ui.clock + SOON)
        send(PushJoint(d, load))


def has_joints(snapshot: Snapshot) -> bool:
    """Whether there is anything to show."""
    return bool((snapshot.model.joints.type != JointType.FREE).any())
