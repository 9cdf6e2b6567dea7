"""The map of a sweep: the physics thread makes its runs, the box shows them, and a click opens one of them."""

import fakes
import numpy as np
import pytest
from probe import Probe

from contactlab.app.lab import Lab
from contactlab.app.panels import sweep_map
from contactlab.app.panels.layout import draw_ui
from contactlab.app.ui_state import UiState
from contactlab.physics.run import messages as m
from contactlab.physics.run.runner import Runner
from contactlab.physics.run.sweep import Sweep
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.failure import CannotStep
from contactlab.physics.simulation.simulation import Simulation

BALL = {
    "scene": {"title": "Ball"}, "solver": {"method": "time_stepping", "h": 1 / 240},
    "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
             {"name": "ball", "position": [0.0, 0.0, 1.1], "shape": [{"type": "sphere", "radius": 0.1}]}],
}
HEIGHTS = (0.6, 1.1)
ASKED = m.StudyMap((("restitution", (0.0, 0.5, 0.9)), ("body.ball.position.2", HEIGHTS)), "height:ball:end", 0.5)


@pytest.fixture(scope="module")
def study():
    """The finished map of ASKED."""
    runner = Runner(Scene.from_dict(BALL), {"friction": 0.2}, paused=True)
    runner.begin()
    runner.send(ASKED)
    while runner.latest.map is None or runner.latest.map.running:
        runner.tick()
    assert runner.latest.step == 0 and runner.latest.paused  # the run that is shown has not moved
    return runner.latest.map


def test_a_map_has_what_single_runs_have_and_a_run_that_is_opened_is_that_run(study):
    """To the last bit: rows of a sweep made one after the other, and the run that a click opens."""
    plan = Sweep(Scene.from_dict(BALL), dict(ASKED.vary), (ASKED.measure,), ASKED.until, {"friction": 0.2})
    rows = [plan.run(values)[ASKED.measure] for values in plan.points()]
    assert [point.value for point in study.points] == rows and len(set(rows)) == len(rows)
    assert sweep_map.table(study).tolist() == np.array(rows).reshape(3, 2).T.tolist()
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.open_run(study, (0.5, 0.6))
    (opened,) = [command for command in lab.engine.sent if isinstance(command, m.Open)]
    runner = Runner(Scene.from_dict(BALL), paused=True)
    runner.begin()
    runner.send(m.Open(opened.scene, paused=True, settings=opened.settings))
    runner.send(m.Step(120))
    runner.tick()
    shown = runner.latest
    assert shown.t == pytest.approx(0.5) and (shown.settings.restitution, shown.settings.friction) == (0.5, 0.2)
    assert shown.x[1, 2] == study.points[2].value  # the second of restitution, the first of height
    assert shown.map is None and lab.making.scene is opened.scene and not lab.ui.sweep_map


def test_a_run_of_settings_alone_keeps_the_scene_that_is_edited(study):
    scene = Scene.from_dict(BALL)
    alone = study._replace(asked=m.StudyMap((("restitution", (0.1, 0.2)),)), scene=scene)
    lab = Lab(fakes.Engine(fakes.snapshot()), UiState(), fakes.Host())
    lab.making.opened(scene)
    lab.open_run(alone, (0.2,))
    assert lab.making.scene is scene and dict(lab.engine.sent[-1].settings)["restitution"] == 0.2


@pytest.mark.parametrize("asked, said", [
    (m.StudyMap((("restituton", (0.1,)),)), "restituton"),
    (m.StudyMap((("body.bal.mass", (1.0,)),)), "bal"),
    (m.StudyMap((("restitution", (0.1,)),), "heigth"), "heigth"),
])
def test_what_cannot_be_varied_or_measured_is_refused_before_any_run(asked, said):
    runner = Runner(Scene.from_dict(BALL), paused=True)
    runner.begin()
    runner.send(asked)
    runner.tick()
    assert runner.latest.map is None and said in runner.latest.notice


def test_a_run_that_fails_is_a_cell_that_says_why_and_a_study_can_be_ended(monkeypatch):
    step = Simulation.step

    def fail(sim):
        if sim.settings.restitution == 0.25 and sim.time > 0.1:
            raise CannotStep("it cannot")
        step(sim)

    monkeypatch.setattr(Simulation, "step", fail)
    runner = Runner(Scene.from_dict(BALL), paused=True)
    runner.begin()
    runner.send(m.StudyMap((("restitution", (0.25, 0.0)),), "rest time", 1000.0))
    for _ in range(1000):
        runner.tick()
        if runner.latest.map is not None and runner.latest.map.points:
            break
    assert np.isnan(runner.latest.map.points[0].value) and "it cannot" in runner.latest.map.points[0].reason
    runner.send(m.StudyMap())
    runner.tick()
    assert not runner.latest.map.running and len(runner.latest.map.points) == 1


# --------------------------------------------------------------------------------------------------- the box


@pytest.fixture
def probe(monkeypatch, study):
    ui, sent = UiState(), []
    ui.sweep_map = True
    shown = [fakes.snapshot()]
    made = Probe(monkeypatch, lambda ui: draw_ui(ui, shown[0], sent.append), ui)
    made.shown, made.sent = shown, sent
    yield made
    made.gui.release()


def test_the_box_asks_for_the_runs_that_are_chosen_and_a_click_opens_the_one_under_the_cursor(probe, study):
    mine = probe.ui.state_of(sweep_map.MapUi)
    mine.axes[0].count, mine.axes[1].count = 3, 2
    mine.measure = "height"
    probe.frame(2)
    probe.click("Make 6 runs##map")
    (asked,) = probe.sent
    assert asked.vary == (("restitution", (0.0, 0.5, 1.0)), ("friction", (0.0, 1.0)))
    assert asked.measure == "height:ball 1:end"
    probe.shown[0] = fakes.snapshot(map=study._replace(running=True, points=study.points[:3]))
    probe.frame(2)
    probe.click("Stop##map")
    assert probe.sent[1:] == [m.StudyMap()]
    probe.shown[0] = fakes.snapshot(map=study)
    probe.frame(2)
    probe.click("cells", 0.5)  # the middle column; at the middle of its height the upper row begins
    (request,) = probe.ui.requests
    assert request.command == "open_run" and request.argument[1] in ((0.5, 0.6), (0.5, 1.1))


def test_parameters_of_the_selected_body_are_offered_in_words(probe):
    snapshot = fakes.snapshot()
    assert not any(name.startswith("body") for name in sweep_map.parameters(probe.ui, snapshot))
    probe.ui.view.selected = 2
    found = sweep_map.parameters(probe.ui, snapshot)
    assert "body.ball 2.velocity.1" in found and "method" not in found
    assert sweep_map.titled("body.ball 2.velocity.1") == "ball 2: velocity y"
    assert sweep_map.titled("friction") == "Friction  μ"


def test_values_that_are_alike_or_unknown_have_a_colour_each():
    assert sweep_map.bounds(np.array([[np.nan]])) == (0.0, 1.0)
    low, high = sweep_map.bounds(np.array([[2.0, 2.0]]))
    assert low == 2.0 < high
    assert sweep_map.ramp(0.0) == sweep_map.RAMP[0] and sweep_map.ramp(1.0) == pytest.approx(sweep_map.RAMP[-1])
    assert sweep_map.ramp(0.25) == pytest.approx(sweep_map.RAMP[1])
