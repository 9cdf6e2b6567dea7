"""The joints: their coordinates by choice; what motors that seek a speed do; of joints of trees position, speed, and a
torque or force to put on each."""

import math
from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _, labelled, ngettext
from ...physics.core.model import Joints, JointType
from ...physics.run.messages import Command, MotorState, PushJoint, Snapshot
from ..ui_state import UiState
from ..view.scales import body_radius
from . import style
from .compare import coordinates_choice
from .numbers import PageUi
from .rows import SOON, right_aligned

Send = Callable[[Command], None]
MOST_ROWS = 40     # joints shown; with a body selected only its own are


def draw_joints(ui: UiState, snapshot: Snapshot, send: Send) -> None:
    """Which coordinates the joints have; a row for every motor that seeks a speed; for joints of trees a row with the
    name, q and q̇, and for hinges, sliders and screws a slider for τ."""
    coordinates_choice(ui, snapshot, send)
    held = int(np.count_nonzero(snapshot.model.joints.generalized == 0))
    if held:
        style.muted(ui, ngettext("{n} joint as a constraint on bodies", "{n} joints as constraints on bodies",
                                 held).format(n=held), wrap=True)
    trees, joints = snapshot.model.trees, snapshot.model.joints
    motors = sorted(snapshot.info.motors)
    if ui.view.selected >= 0:
        motors = [m for m in motors if ui.view.selected in (joints.child[m.joint], joints.parent[m.joint])] or motors
    for motor in motors[:MOST_ROWS]:
        _motor_row(ui, snapshot, motor)
    links = [link for link, j in enumerate(trees.joint) if joints.type[j] not in (JointType.FIXED, JointType.FREE)]
    if ui.view.selected >= 0:
        own = [link for link in links
               if ui.view.selected in (joints.child[trees.joint[link]], joints.parent[trees.joint[link]])]
        links = own or links
    reach = most_torque(snapshot)
    for link in links[:MOST_ROWS]:
        _row(ui, snapshot, send, link, reach)
    if len(links) > MOST_ROWS:
        style.muted(ui, _("and {links} more: select a body to see its own").format(links=len(links) - MOST_ROWS),
                    wrap=True)
    if snapshot.joint_load.any() and imgui.button(labelled("Let all joints go")):
        for d in np.flatnonzero(snapshot.joint_load):
            send(PushJoint(int(d), 0.0))


def most_torque(snapshot: Snapshot) -> float:
    """The end of the sliders [N m]: the weight of all links at a lever arm of a body's diameter, to one digit."""
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


def motor_text(joints: Joints, motor: MotorState) -> tuple[str, str]:
    """Whether a motor holds its speed, and its force or torque with the limit."""
    j, slides = motor.joint, joints.type[motor.joint] == JointType.SLIDER
    speed, force = ("m/s", "N") if slides else ("rad/s", "N m")
    wanted, limit = float(joints.motor_speed[j]), float(joints.motor_limit[j])
    state = (_("holds {wanted:.3g}") if motor.holds else _("at its limit: {speed:z.2f} of {wanted:.3g}")).format(
        speed=motor.speed, wanted=wanted)
    most = "" if math.isinf(limit) else f" of ±{limit:.3g}"
    return f"{state} {speed}", f"{motor.force:z.1f}{most} {force}"


def _motor_row(ui: UiState, snapshot: Snapshot, motor: MotorState) -> None:
    """Name and state of a motor; below, a bar with its force as a share of its limit, to the side of its sign."""
    c, limit = style.colors(ui), float(snapshot.model.joints.motor_limit[motor.joint])
    state, torque = motor_text(snapshot.model.joints, motor)
    room = imgui.get_content_region_avail().x
    imgui.text(style.clipped_text(_("Motor of {joint}").format(joint=snapshot.labels.joints[motor.joint]), room))
    imgui.text_colored((*(c.muted if motor.holds else c.warning)[:3], 1.0), state)
    imgui.same_line()
    beside = imgui.get_content_region_avail().x - imgui.calc_text_size(torque).x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(beside, 0.0))
    style.muted(ui, torque)
    if math.isinf(limit):
        return
    at, height = imgui.get_cursor_screen_pos(), 0.3 * ui.font
    middle, share = at.x + 0.5 * room, max(-1.0, min(motor.force / limit, 1.0))
    draw = imgui.get_window_draw_list()
    draw.add_rect_filled((at.x, at.y), (at.x + room, at.y + height), style.u32(c.raised), 0.5 * height)
    ends = sorted((middle, middle + 0.5 * room * share))
    draw.add_rect_filled((ends[0], at.y), (ends[1], at.y + height), style.u32(c.accent if motor.holds else c.warning))
    draw.add_line((middle, at.y - 1.0), (middle, at.y + height + 1.0), style.u32(c.muted))
    imgui.dummy((room, height + 0.3 * ui.font))


def _row(ui: UiState, snapshot: Snapshot, send: Send, link: int, reach: float) -> None:
    model, trees = snapshot.model, snapshot.model.trees
    j = int(trees.joint[link])
    kind = int(model.joints.type[j])
    q = snapshot.joint_q[trees.first_q[link] : trees.first_q[link + 1]]
    v = snapshot.joint_v[trees.first_v[link] : trees.first_v[link + 1]]
    load = float(snapshot.joint_load[trees.first_v[link]]) if len(v) else 0.0
    value = f"{position_text(kind, q)}   {speed_text(kind, v)}"
    room = imgui.get_content_region_avail().x - imgui.calc_text_size(value).x
    imgui.text(style.clipped_text(snapshot.labels.joints[j], room - 0.5 * ui.font))
    if imgui.is_item_clicked():
        page = ui.state_of(PageUi)
        page.of, page.joint = "joint", j
    imgui.set_item_tooltip(_("A click shows it on the tab Body, Joint"))
    imgui.same_line()
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(
        imgui.get_content_region_avail().x - imgui.calc_text_size(value).x, 0.0))
    style.muted(ui, value)
    if kind not in (JointType.HINGE, JointType.SLIDER, JointType.SCREW):
        return
    d, name = int(trees.first_v[link]), f"joint_{link}"
    asked = ui.asked.get(name)
    shown = asked[0] if asked is not None and ui.clock < asked[1] else load
    unit = "N" if kind == JointType.SLIDER else "N m"
    imgui.align_text_to_frame_padding()
    style.muted(ui, "τ")
    imgui.same_line(1.0 * ui.font)
    imgui.set_next_item_width(-4.6 * ui.font)
    changed, load = style.slider(name, shown, -reach, reach, "%.3g", ui)
    imgui.set_item_tooltip((
        _("A force on this joint, up to {reach:.3g} {unit} either way; Ctrl+click to type a number") if unit == "N" else
        _("A torque on this joint, up to {reach:.3g} {unit} either way; Ctrl+click to type a number")).format(
            reach=reach, unit=unit))
    imgui.same_line()
    imgui.align_text_to_frame_padding()
    right_aligned(ui, f"{shown:z.3g} {unit}")
    if changed:
        ui.asked[name] = (load, ui.clock + SOON)
        send(PushJoint(d, load))


def has_joints(snapshot: Snapshot) -> bool:
    """Whether there is anything to show."""
    return bool((snapshot.model.joints.type != JointType.FREE).any())
