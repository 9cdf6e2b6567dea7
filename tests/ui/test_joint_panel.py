"""The panel and the status line of scenes whose joints are constraints."""

import fakes
import numpy as np
from probe import Probe

from contactlab.app.panels import joints, parameters, status
from contactlab.app.ui_state import UiState
from contactlab.assets import scene_path
from contactlab.physics import open_file
from contactlab.physics.run import messages as m


def test_the_cure_is_offered_where_joints_are_constraints_and_chosen_by_a_click(monkeypatch):
    model = open_file(scene_path("linkages")).build().model
    plain = fakes.snapshot()
    joined = fakes.snapshot(model=plain.model._replace(joints=model.joints), info=m.StepInfo(joint_error=2e-13))
    for snapshot, offered in ((plain, False), (joined, True)):
        sent = []

        def draw(ui, snapshot=snapshot, sent=sent):
            parameters.draw_solver(ui, snapshot, sent.append)

        probe = Probe(monkeypatch, draw, UiState())
        assert ("##joint_cure" in probe.rects) == offered
        assert ("joint error" in status.solver_figures(snapshot)) == offered
        if offered:
            probe.click("##joint_cure")
            probe.click("baumgarte")
            assert sent == [m.Set("joint_cure", "baumgarte")]
        probe.gui.release()
    assert "joint error 2.0e-13 m" in status.solver_figures(joined)
    assert np.count_nonzero(model.joints.generalized == 0) == 8


def test_a_motor_says_whether_it_holds_its_speed_and_with_how_much(monkeypatch):
    """Both motors of the linkages: one holds 3 rad/s, the other gives all of its 20 N m and is slower."""
    made = open_file(scene_path("linkages")).build()
    motors = (m.MotorState(4, 1.25, 20.0, False), m.MotorState(0, 3.0, -7.5, True))
    shown = fakes.snapshot(0, len(made.state.bodies.x), model=made.model, labels=made.labels,
                           info=m.StepInfo(motors=motors))
    said = []
    monkeypatch.setattr(joints.imgui, "text_colored", lambda color, text: said.append(text))
    monkeypatch.setattr(joints.style, "muted", lambda ui, text, wrap=False: said.append(text))
    probe = Probe(monkeypatch, lambda ui: joints.draw_joints(ui, shown, lambda command: None), UiState())
    probe.gui.release()
    drawn = said[-5:]
    assert drawn[1:] == ["holds 3 rad/s", "-7.5 of ±20 N m", "at its limit: 1.25 of 3 rad/s", "20.0 of ±20 N m"]
