"""Claims about joints in the view and in their panel."""

import dataclasses

import fakes
import numpy as np
import pytest
from probe import Probe
from tree_scenes import random_tree, rods

from contactlab.app.panels import layout
from contactlab.app.ui_state import UiState
from contactlab.app.view import overlays
from contactlab.app.view.camera import Camera
from contactlab.app.view.joint_overlays import arcs_of, axes_of, joint_frames, joint_positions
from contactlab.app.view.view_options import ViewOptions
from contactlab.assets import scene_path
from contactlab.physics.core.model import JointType
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.shapes.shapes import quat_to_matrix


def snapshot(scene):
    """The first instant of a scene."""
    made = (scene if isinstance(scene, Scene) else Scene.from_dict(scene)).build()
    at, joints = made.state.bodies, made.state.joints
    return fakes.snapshot(0, len(at.x), model=made.model, labels=made.labels, x=at.x, q=at.q, v=at.v, w=at.w, L=at.L,
                          joint_q=joints.q, joint_v=joints.v, joint_load=np.zeros(len(joints.v)))


@pytest.mark.parametrize("seed", range(5))
def test_axes_are_drawn_where_parent_and_child_both_say_they_are(seed):
    shown = snapshot(random_tree(np.random.default_rng(seed), 8))
    joints = shown.model.joints
    at, axes = joint_frames(shown)
    for j, parent in enumerate(joints.parent):
        if joints.type[j] == JointType.FREE:
            continue
        R = quat_to_matrix(shown.q[parent]) if parent >= 0 else np.eye(3)
        point = (shown.x[parent] if parent >= 0 else 0.0) + R @ joints.anchor_parent[j]
        if joints.type[j] == JointType.SLIDER:  # the child's anchor has gone along the axis
            point = point + joint_positions(shown)[j] * axes[j, 0]
        np.testing.assert_allclose(at[j], point, rtol=0, atol=1e-12)
        if joints.type[j] == JointType.UNIVERSAL:
            assert abs(axes[j, 0] @ axes[j, 1]) < 1e-12  # what carries the child stays at right angles to both
            assert np.linalg.norm(axes[j, 1]) == pytest.approx(1.0)
    start, end, slides = axes_of(shown, 0.3)
    kinds = joints.type.tolist()
    assert len(start) == sum({JointType.HINGE: 1, JointType.SLIDER: 1, JointType.UNIVERSAL: 2}.get(k, 0) for k in kinds)
    assert slides.sum() == kinds.count(JointType.SLIDER)
    np.testing.assert_allclose(np.linalg.norm(end - start, axis=1), 0.6, rtol=1e-12)


def test_the_arc_of_a_hinge_runs_from_limit_to_limit_and_a_spoke_points_at_the_child():
    shown = snapshot(rods(1, angle=30.0, limits=[-20.0, 70.0]))
    start, end, spokes = arcs_of(shown, 0.5, -1)
    rim = np.vstack([start[~spokes], end[~spokes][-1:]])
    # angles from straight down, as the joint counts them
    angles = np.degrees(np.arctan2(rim[:, 0], -rim[:, 2]))
    assert angles[0] == pytest.approx(-20.0) and angles[-1] == pytest.approx(70.0)
    np.testing.assert_allclose(end[-1], [0.25, 0, -0.25 * np.sqrt(3)], rtol=0, atol=1e-12)
    other = snapshot(rods(2, angle=30.0, limits=[-20.0, 70.0]))
    assert len(arcs_of(other, 0.5, -1)[0]) == 2 * len(arcs_of(other, 0.5, 1)[0])  # of a selected body only its own


def test_the_joints_of_every_gallery_scene_have_rows(monkeypatch):
    for key in ("humanoid", "ragdoll", "double_pendulum"):
        shown = snapshot(Scene.load(scene_path(key)))
        probe = Probe(monkeypatch, lambda ui, shown=shown: layout.draw_ui(ui, shown, lambda command: None), UiState())
        hinges = sum(shown.model.joints.type == JointType.HINGE)
        try:
            assert sum(label.startswith("##joint_") for label in probe.rects) == hinges
        finally:
            probe.gui.release()


def test_joints_are_drawn_explained_and_can_be_switched_off():
    shown, camera = snapshot(rods(2, limits=[-20.0, 170.0])), Camera(np.zeros(3), 4.0)
    for on in (True, False):
        options = ViewOptions(joints=on)
        assert bool(len(overlays.build(shown, options, camera, (640, 480)).strokes)) == on
        assert any("joint" in row.text for row in overlays.legend(shown, options)) == on
    assert not any("joint" in row.text for row in overlays.legend(fakes.snapshot(), ViewOptions()))


def test_the_slider_of_a_hinge_puts_a_torque_on_it_and_a_button_takes_all_away(monkeypatch):
    sent, shown = [], [snapshot(rods(2))]
    probe = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, shown[0], sent.append), UiState(), (1280, 1000))
    try:
        probe.click("##joint_1", 0.75)
        assert [type(c) for c in sent] == [m.PushJoint] and sent[0].velocity == 1 and sent[0].force > 0.0
        shown[0] = dataclasses.replace(shown[0], joint_load=np.array([0.0, sent[0].force]))
        sent.clear()
        probe.frame(3)
        probe.click("Let all joints go")
        assert sent == [m.PushJoint(1, 0.0)]
    finally:
        probe.gui.release()
