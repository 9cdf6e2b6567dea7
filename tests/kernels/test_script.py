"""A script that drives a simulation on the physics thread: its step, its panel, its errors."""

import math
import threading
from dataclasses import replace

import numpy as np
import pytest
import tree_scenes
from bare_bodies import Balls
from test_runner import Clock, do

from contactlab.physics import Scene, Simulation
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run import script as script_module
from contactlab.physics.run.runner import Runner
from contactlab.physics.run.script import Panel, Script
from contactlab.physics.simulation.history import hash_of_state

PATIENCE = 60.0  # [s] of a thread on a busy machine


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)


def pendulum():
    return Simulation(Scene.from_dict(tree_scenes.rods(1, angle=30.0)))


def driven(sim, step=None, panel=None):
    """A runner of a script that the test turns by hand, paused."""
    sim.begin_here()
    runner = Runner(sim.scene, clock=Clock(), paused=True, script=Script(sim, step, panel))
    runner.begin()
    return runner


def test_the_window_runs_the_very_simulation_from_where_it_stands():
    """Steps that the window makes are those that the script would have made, to the last bit."""
    alone, shown = pendulum(), pendulum()
    for sim in (alone, shown):
        sim.run(0.1)
        sim.joints[0].velocity = 0.5
    runner = driven(shown)
    assert runner.latest.t == alone.time
    do(runner, m.Step(20))
    for _ in range(20):
        alone.step()
    assert hash_of_state(shown.state) == hash_of_state(alone.state)
    do(runner, m.Reset())
    assert shown.time == pytest.approx(0.1) and runner.latest.joint_v[0] == 0.5


def test_the_step_function_is_called_before_every_new_step_and_for_no_other():
    seen = []
    runner = driven(pendulum(), lambda sim: seen.append(sim.step_count))
    do(runner, m.Step(5))
    do(runner, m.Step(-3))
    do(runner, m.Seek(4))
    assert seen == [0, 1, 2, 3, 4]
    do(runner, m.Step(1))
    assert seen == [0, 1, 2, 3, 4, 4]


def test_controls_are_moved_by_commands_and_read_by_the_script():
    panel, read = Panel(), []
    gain, law = panel.slider("gain", 0, 10, 2), panel.choice("law", ["P", "PD"])
    on, kick = panel.checkbox("on"), panel.button("kick")
    runner = driven(pendulum(), lambda sim: read.append((float(gain), law.value, bool(on), kick.pressed())), panel)
    do(runner, m.Step(1), m.SetControl("gain", 7.5), m.SetControl("law", "PD"), m.SetControl("on", True),
       m.SetControl("kick", True), m.Step(2))
    assert read == [(2.0, "P", False, False), (7.5, "PD", True, True), (7.5, "PD", True, False)]
    shown = runner.latest.script
    assert [(c.kind, c.name, c.value) for c in shown.controls] == [
        ("slider", "gain", 7.5), ("choice", "law", "PD"), ("checkbox", "on", True), ("button", "kick", False)]
    for name, value, allowed in (("gain", 11.0, "a number from 0 to 10"), ("law", "PID", "one of P, PD"),
                                 ("on", 1.0, "True or False"), ("gian", 1.0, "no control 'gian'")):
        assert allowed in do(runner, m.SetControl(name, value)).notice
    assert gain.value == 7.5


def test_a_panel_refuses_what_it_cannot_show():
    panel = Panel()
    panel.slider("gain", 0, 10)
    for wrong in (lambda: panel.slider("gain", 0, 1), lambda: panel.slider("a", 1, 1),
                  lambda: panel.slider("b", 0, 1, logarithmic=True), lambda: panel.slider("c", 0, 1, 2),
                  lambda: panel.choice("d", []), lambda: panel.arrow((0, 0, 0), (0, float("nan"), 0)),
                  lambda: panel.arrow((0, 0), (1, 0, 0))):
        with pytest.raises(ValueError):
            wrong()


def test_curves_have_a_point_a_step_and_begin_anew_where_the_run_is_taken_up_earlier():
    """The angle of a pendulum, of which the snapshot knows the value after the step."""
    panel = Panel()

    def step(sim):
        panel.plot("angle", sim.joints[0].position, "rad")
        panel.text("angle", sim.joints[0].position)
        panel.arrow((0.0, 0.0, 0.0), sim.position("rod 0"), "r")

    runner = driven(pendulum(), step, panel)
    angles = [float(runner.latest.joint_q[0])]
    for _ in range(6):
        angles.append(float(do(runner, m.Step(1)).joint_q[0]))
    (curve,) = runner.latest.script.curves
    h = runner.latest.settings.h
    assert curve.points[:, 1].tolist() == angles[:-1] and np.allclose(curve.points[:, 0], h * np.arange(6))
    assert dict(runner.latest.script.texts) == {"angle": f"{angles[-2]:.4g}"}
    (arrow,) = runner.latest.script.arrows  # of the last step: older ones are gone
    assert arrow.name == "r" and arrow.end[2] < -0.4
    do(runner, m.Seek(2))
    assert len(runner.latest.script.curves[0].points) == 6  # what is later stays until the next step
    do(runner, m.Step(1))
    assert np.allclose(runner.latest.script.curves[0].points[:, 0], h * np.arange(3))


def test_a_long_curve_keeps_its_latest_points(monkeypatch):
    monkeypatch.setattr(script_module, "SCRIPT_POINTS", script_module.SCRIPT_POINTS._replace(most=8))
    panel = Panel()
    for k in range(100):
        panel.begin(0.1 * k)
        panel.plot("k", k)
    assert panel.shown(True).curves[0].points[:, 1].tolist() == list(range(92, 100))


def test_an_error_of_the_script_pauses_the_run_shows_its_line_and_play_goes_on():
    faults = [ZeroDivisionError("by hand")]

    def step(sim):
        if sim.step_count == 3 and faults:
            raise faults.pop()

    runner = driven(pendulum(), step)
    shown = do(runner, m.Step(10))
    assert shown.paused and shown.step == 3
    assert "test_script.py, `raise faults.pop()`: ZeroDivisionError: by hand" in shown.error
    assert "step(sim)" not in shown.error and "raise faults.pop()" in runner.failure
    shown = do(runner, m.Step(1))
    assert shown.step == 4 and shown.error is None


def test_a_step_that_blocks_is_told_by_its_time_and_leaves_the_window_its_last_picture():
    """The thread cannot be ended from outside; who closes the window is told so, see `view`."""
    go_on, begun = threading.Event(), threading.Event()

    def step(sim):
        begun.set()
        go_on.wait(PATIENCE)

    sim = pendulum()
    sim.begin_here()
    runner = Runner(sim.scene, script=Script(sim, step))
    runner.start()
    try:
        assert begun.wait(PATIENCE)
        before = runner.busy
        runner.stop()
        assert not runner.join(0.2) and runner.busy > before + 0.1 and runner.latest.step == 0
    finally:
        go_on.set()
    assert runner.join(PATIENCE)


@pytest.mark.parametrize("nonsense", [math.nan, "a word", [1, 2], object()])
def test_what_a_step_returns_means_nothing(nonsense):
    alone, sim = pendulum(), pendulum()
    do(driven(sim, lambda sim: nonsense), m.Step(3))
    for _ in range(3):
        alone.step()
    assert hash_of_state(sim.state) == hash_of_state(alone.state)


def test_a_comparison_is_driven_on_every_side_and_plotted_of_the_first():
    panel, called = Panel(), []

    def step(sim):
        called.append(sim.settings.method)
        panel.plot("t", sim.time)

    runner = driven(pendulum(), step, panel)
    settings = runner.latest.settings
    do(runner, m.Compare((m.Side(settings), m.Side(replace(settings, method="compliant")))), m.Step(3))
    assert called.count("time_stepping") == called.count("compliant") == 3
    assert len(runner.latest.script.curves[0].points) == 3


def test_another_scene_runs_without_the_script_and_the_script_comes_back():
    called = []
    runner = driven(pendulum(), lambda sim: called.append(sim.scene.name))
    do(runner, m.Step(2))
    do(runner, m.Open(Balls(1), paused=True), m.Step(2))
    assert len(called) == 2 and runner.latest.scene_name == "balls" and not runner.latest.script.runs
    shown = do(runner, m.OpenScript(), m.Step(1))
    assert len(called) == 3 and shown.script.runs and shown.step == 1
