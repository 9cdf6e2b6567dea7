"""The tab Joint forces: its rows, its arrows in the view, its legend."""

import numpy as np
from probe import Probe
from test_trees_panel import after, snapshot_of

from contactlab.app.panels import joint_forces, layout
from contactlab.app.ui_state import Preferences, UiState
from contactlab.app.view.camera import Camera
from contactlab.app.view.overlays import build, legend
from contactlab.physics.look.inspection import Inspect, look


def test_every_joint_has_a_row_and_arrows_that_can_be_switched(monkeypatch):
    sim = after("double_pendulum", 0.2)
    now = snapshot_of(sim, look(sim, Inspect("joints")))
    sent = []
    probe = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, now, sent.append),
                  UiState(preferences=Preferences(lower_tab="joint_forces")))
    assert sent[-1] == Inspect("joints")
    view = now.inspection.joints
    assert len(joint_forces.rows(now, view)) == len(view.joint) >= 2
    np.testing.assert_array_equal(probe.ui.view.joint_arrows.force, view.force)
    assert not probe.ui.view.joint_arrows.moment.any()
    probe.click("moments##joint_moments")
    probe.frame(2)
    np.testing.assert_array_equal(probe.ui.view.joint_arrows.moment, view.moment)
    assert not probe.ui.failures
    glyphs = build(now, probe.ui.view, Camera(), (800, 600))
    probe.ui.view.joint_arrows = None
    assert len(build(now, probe.ui.view, Camera(), (800, 600)).strokes) < len(glyphs.strokes)
    probe.click(f"{sim.labels.joints[view.joint[1]]}##joint_row_1")
    assert probe.ui.view.selected == sim.model.joints.child[view.joint[1]]
    probe.gui.release()


def test_the_legend_says_how_long_they_are(monkeypatch):
    sim = after("double_pendulum", 0.05)
    now, ui = snapshot_of(sim, look(sim, Inspect("joints"))), UiState()
    assert not any("of a joint on its child" in row.text for row in legend(now, ui.view))
    ui.view.joint_arrows = joint_forces.JointArrows(*np.zeros((3, 1, 3)))
    texts = [row.text for row in legend(now, ui.view)]
    assert any(text.startswith("force of a joint on its child, 1 m = ") for text in texts)
