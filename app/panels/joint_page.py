"""The page of a joint: its coordinates and limits, what acts along it and what it bears; and its arrows in the view."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _
from ...physics.core.model import JointType
from ...physics.look.joint_state import JointView
from ...physics.run.messages import Snapshot
from ..ui_state import UiState
from ..view.view_options import BodyVectors, Vector
from . import style
from .equations import waiting
from .numbers import Line, Numbers, PageUi, copy_button, draw_page

STILL = 1e-9  # [rad], [m], [N], [N m] and their rates: below it a number is shown as 0


@dataclass
class JointUi:
    """Which arrows the view shows."""

    force: bool = True
    moment: bool = True
    axes: bool = True


def chosen_joint(ui: UiState, snapshot: Snapshot) -> int:
    """Row of the joint that was chosen, else of one of the selected body, else 0; -1 where there is none."""
    joints, page = snapshot.model.joints, ui.state_of(PageUi)
    if 0 <= page.joint < len(joints.type):
        return page.joint
    own = np.flatnonzero((joints.child == ui.view.selected) | (joints.parent == ui.view.selected))
    return int(own[0]) if ui.view.selected >= 0 and len(own) else min(0, len(joints.type) - 1)


def draw_joint(ui: UiState, snapshot: Snapshot) -> None:
    """A bar with switches, the table, and what is said of limits, energies and drift."""
    mine, joint = ui.state_of(JointUi), chosen_joint(ui, snapshot)
    labels = snapshot.labels.joints
    imgui.set_next_item_width(12.0 * ui.font)
    if imgui.begin_combo("##joint", labels[joint] if joint >= 0 else _("no joint")):
        for k, name in enumerate(labels):
            if imgui.selectable(f"{name}##joint_{k}", k == joint)[0]:
                ui.state_of(PageUi).joint = k
        imgui.end_combo()
    imgui.same_line(0, 1.0 * ui.font)
    view = snapshot.inspection.joint if snapshot.inspection is not None else None
    if view is None or view.joint != joint:
        imgui.new_line()
        waiting(ui, snapshot)
        return
    table, said = lines(view), words(snapshot, view)
    child = int(snapshot.model.joints.child[joint])
    ui.view.vectors = BodyVectors(child, arrows=tuple(vectors(view, mine)))
    copy_button(ui, labels[joint], snapshot.now, table, said)
    imgui.align_text_to_frame_padding()
    style.muted(ui, _("In the view"))
    for name, title, tip in (("force", "F", _("Force across the joint, on the child")),
                             ("moment", "M", _("Moment across the joint about its anchor, on the child")),
                             ("axes", _("along the axis"), _("The parts of both along the joint's axis"))):
        imgui.same_line(0, 0.5 * ui.font)
        setattr(mine, name, imgui.checkbox(f"{title}##joint_{name}", getattr(mine, name))[1])
        imgui.set_item_tooltip(tip)
    draw_page(ui, snapshot, table, said, (_("World axes"), _("In the joint's axes")), joint,
              ("along", "across", "across"))


def lines(view: JointView) -> list[Line]:
    """Vectors at the left; at the right the same in the joint's axes, and what acts along them."""
    length, push = ("m", "N") if view.slides else ("rad", "N m")
    names = ("joint_shift", "joint_speed") if view.slides else ("joint_angle", "joint_rate")
    F, M = view.along
    q = v = spring = damper = None
    if len(view.q):
        q = Numbers("q", length, view.q, STILL, _("Coordinates: 0 as the scene is drawn"), names[:1])
        v = Numbers("q̇", f"{length}/s", view.v, STILL, _("Their rates"), names[1:])
        spring = Numbers("−k (q − q₀)", push, view.spring, STILL, _("The joint's spring, now"))
        damper = Numbers("−c q̇", push, view.damper, STILL, _("The joint's damping, now"))
    motor = Numbers("motor", push, view.push if view.motor is None else view.motor.force, STILL,
                    _("What its motor does along the first axis"))
    mean = _("Mean over the last step, h = {h:.4g} s, on the child; the parent bears the opposite").format(h=view.h)
    return [
        (Numbers("anchor", "m", view.anchor, STILL, _("Where the joint is")), q),
        (Numbers("axis", "", view.axes[0], STILL, _("The first axis, fixed in the parent")), v),
        (Numbers("F", "N", view.F, STILL, mean),
         Numbers("F", "N", F, STILL, _("{mean}: along the axis, and across it").format(mean=mean))),
        (Numbers("M", "N m", view.M, STILL, _("{mean}, about the anchor").format(mean=mean)),
         Numbers("M", "N m", M, STILL, _("{mean}: about the axis, and across it").format(mean=mean))),
        (spring, damper),
        (Numbers("½ k (q − q₀)²", "J", view.energy, STILL, _("Energy in the joint's spring")), motor),
        (Numbers("apart", "m", view.apart, 0.0,
                 _("Distance of the two anchors, without the way along the axis: drift")),
         Numbers("askew", "rad", view.askew, 0.0, _("Angle by which the two sides lean against each other: drift"))),
    ]


def words(snapshot: Snapshot, view: JointView) -> tuple[str, ...]:
    """Kind, bodies and coordinate; limits; why a force is not known."""
    model, names = snapshot.model, snapshot.labels.bodies
    parent, child = int(model.joints.parent[view.joint]), int(model.joints.child[view.joint])
    held = _("generalized coordinates") if model.joints.generalized[view.joint] else _("a constraint on two bodies")
    on = names[parent] if parent >= 0 else _("the world")
    told = [_("{kind} of {child} on {parent}, {held}").format(
        kind=_(JointType(view.kind).name.capitalize()), child=names[child], parent=on, held=held), limits(view)]
    if view.rotor:
        told.append(_("Its rotor has {rotor}.").format(rotor=style.engineering(view.rotor, 'J')))
    if view.motor is not None:
        told.append(_("Its motor holds its speed.") if view.motor.holds else
                    _("Its motor is at its limit of force."))
    bears = _("F and M: means over the last step, of all that the joint bears: bearing, spring, damper, motor, limits.")
    return (*filter(None, told), view.note or bears)


def limits(view: JointView) -> str:
    """Where the joint is between its limits."""
    if not len(view.q) or not np.isfinite([view.lower, view.upper]).any():
        return _("It has no limits.")
    if view.kind == JointType.BALL:
        return _("At {now:.1f}° of {most:.1f}°").format(
            now=np.degrees(np.linalg.norm(view.q)), most=np.degrees(view.upper))
    factor, unit = (1.0, " m") if view.slides else (np.degrees(1.0), "°")
    low, high, now = (f"{factor * value:.4g}{unit}" if np.isfinite(value) else _("no limit")
                      for value in (view.lower, view.upper, float(view.q[0])))
    return _("At {now}, between {low} and {high}").format(now=now, low=low, high=high)


def vectors(view: JointView, mine: JointUi) -> Iterator[Vector]:
    """The arrows that are switched on."""
    if not np.isfinite(view.F).all():
        return
    d = view.axes[0]
    if mine.force:
        yield Vector("F", "F", view.F, view.anchor, "text", _("across the joint, on the child"))
    if mine.moment:
        yield Vector("M", "tau", view.M, view.anchor, "joint", _("about the anchor"))
    if mine.axes:
        yield Vector("F_a", "F", (view.F @ d) * d, view.anchor, "force", _("along the axis"))
        yield Vector("M_a", "tau", (view.M @ d) * d, view.anchor, "dent", _("along the axis"))
