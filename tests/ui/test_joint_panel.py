"""The panel and the status line of scenes whose joints are constraints."""

import fakes
import numpy as np
from probe import Probe

from contactlab.app.panels import parameters, status
from contactlab.app.ui_state import UiState
from contactlab.assets import scene_path
from contactlab.physics import messages as m
from contactlab.physics import open_file


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
