"""A fan of perturbed starts: its runs, and their ghosts in the picture."""

from dataclasses import replace

import fakes
import numpy as np
import pytest
from probe import Probe
from scenes_to_draw import PLAIN, Pictures, body, extents, front_camera, snapshot

from contactlab.app.panels.layout import draw_ui
from contactlab.app.ui_state import UiState
from contactlab.app.view.overlays import legend
from contactlab.app.view.view_options import ViewOptions
from contactlab.physics.run import messages as m
from contactlab.physics.run.fan import fan, start
from contactlab.physics.run.runner import Runner
from contactlab.physics.scene.scene import Scene

G = 9.81
BALL = {"body": [{"name": "ball", "position": [0.0, 0.0, 1.0], "velocity": [1.0, 0.0, 2.0],
                  "shape": [{"type": "sphere", "radius": 0.1}]},
                 {"name": "floor", "fixed": True, "position": [0.0, 0.0, -9.0], "shape": [{"type": "plane"}]}]}
PENDULUM = {"body": [{"name": "bob", "position": [0.0, 0.0, -1.0], "shape": [{"type": "sphere", "radius": 0.1}]}],
            "joint": [{"name": "pin", "type": "hinge", "child": "bob", "anchor": [0, 0, 0], "axis": [0, 1, 0]}]}


def paths(scene, asked):
    scene = Scene.from_dict(scene)
    return [path for path in fan(scene, scene.build().settings, asked) if path is not None]


def test_in_free_flight_a_fan_opens_in_proportion_to_the_time():
    """x = x0 + (v + δ) t + g t²/2, with the δ of each start and of each axis; the deviates are of the size asked for:
    of 30 of them the root mean square is within 5 times its own deviation, 1/√60, of it."""
    found = paths(BALL, m.StudyFan(10, 0.01, 0.25))
    t = found[0].interval * np.arange(len(found[0].poses))
    flight = np.array([0.0, 0.0, 1.0]) + np.outer(t, [1.0, 0.0, 2.0]) - np.outer(0.5 * t**2, [0.0, 0.0, G])
    deltas = []
    for path in found:
        off = path.poses[:, 0, :3] - flight
        deltas.append(off[-1] / t[-1])
        np.testing.assert_allclose(off, np.outer(t, deltas[-1]), rtol=0, atol=1e-12)
        assert (path.poses[:, 1] == path.poses[0, 1]).all()  # the floor
    assert t[-1] == pytest.approx(0.25, abs=found[0].interval)
    assert np.sqrt(np.mean(np.square(deltas))) == pytest.approx(0.01, rel=5.0 / np.sqrt(60.0))
    again = paths(BALL, m.StudyFan(10, 0.01, 0.25))
    assert all((one.poses == other.poses).all() for one, other in zip(found, again, strict=True))


def test_joints_of_trees_start_with_other_velocities():
    scene = Scene.from_dict(PENDULUM)
    rates = [float(start(scene, scene.build().settings, 0.1, k).joint("pin").velocity) for k in range(3)]
    assert len(set(rates)) == 3 and 0.0 < max(map(abs, rates)) < 0.6


def test_a_scene_in_which_nothing_moves_is_refused_and_the_fan_is_of_its_scene_alone():
    runner = Runner(Scene.from_dict({"body": BALL["body"][1:]}), paused=True)
    runner.begin()
    runner.send(m.StudyFan(3))
    runner.tick()
    assert runner.latest.fan is None and "velocity of its own" in runner.latest.notice
    runner.send(m.Open(Scene.from_dict(BALL), paused=True))
    runner.send(m.StudyFan(3, 0.01, 0.1))
    for _ in range(1000):
        runner.tick()
        if runner.latest.fan is not None and not runner.latest.fan.running:
            break
    assert len(runner.latest.fan.paths) == 3 and runner.latest.step == 0
    runner.send(m.StudyFan())
    runner.tick()
    assert runner.latest.fan is None
    runner.send(m.StudyFan(3, 0.01, 100.0))
    runner.send(m.Open(Scene.from_dict(BALL), paused=True))
    runner.tick()
    assert runner.latest.fan is None


# --------------------------------------------------------------------------------------------------- ghosts


@pytest.fixture(scope="module")
def pictures():
    made = Pictures()
    yield made
    made.release()


def with_fan(*places, t=0.5, **fields):
    """A ball at x = -0.5 m, and starts that have it elsewhere at t = 0.5 s."""
    shown = snapshot(body("sphere", (0.0, -60.0, 0.0), fixed=True, radius=0.3),
                     body("sphere", (-0.5, 0.0, 0.0), radius=0.3), t=t)
    paths = []
    for place in places:
        poses = np.zeros((2, 2, 7))
        poses[..., 3] = 1.0
        poses[:, 0, 1], poses[1, 1, :3] = -60.0, place
        poses[0, 1, :3] = (-0.5, 0.0, 0.0)
        paths.append(m.FanPath(0.5, poses))
    return replace(shown, fan=m.Fan(m.StudyFan(len(places), 0.02, 0.5), shown.settings, tuple(paths), False), **fields)


def test_ghosts_stand_where_each_start_has_come_to(pictures):
    """Seen from the front the picture changes where balls drawn there would be, and nowhere else; pictures follow as
    the fan grows and goes away."""
    plain = pictures.take(with_fan(), front_camera(), **PLAIN)
    for places in ([(0.6, 0.0, 0.3)], [(0.6, 0.0, 0.3), (0.9, 0.0, -0.4)]):
        changed = np.abs(pictures.take(with_fan(*places), front_camera(), **PLAIN) - plain).sum(axis=2) > 12
        solid = [body("sphere", place, radius=0.3) for place in places]
        np.testing.assert_allclose(extents(changed), extents(pictures.silhouette(snapshot(*solid), front_camera())),
                                   atol=2.0)
    assert (pictures.take(with_fan(), front_camera(), **PLAIN) == plain).all()


@pytest.mark.parametrize("hidden", [
    {"t": 3.0}, {"settings": m.Settings(friction=0.123)},
])
def test_past_the_end_and_with_other_settings_there_is_no_ghost_and_no_word_of_it(pictures, hidden):
    shown, plain = with_fan((0.6, 0.0, 0.3), **hidden), with_fan(**hidden)
    assert (pictures.take(shown, front_camera(), **PLAIN) == pictures.take(plain, front_camera(), **PLAIN)).all()
    assert not any("starts" in row.text for row in legend(shown, ViewOptions()))
    here = [row.text for row in legend(with_fan((0.6, 0.0, 0.3)), ViewOptions()) if "starts" in row.text]
    assert len(here) == 1 and here[0].startswith("translucent: 1 start")


def test_the_box_asks_for_a_fan_and_takes_it_away(monkeypatch):
    ui, sent, shown = UiState(), [], [fakes.snapshot()]
    ui.fan = True
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, shown[0], sent.append), ui)
    probe.click("Run them##fan")
    assert [(asked.count, asked.until) for asked in sent] == [(10, 5.0)] and sent[0].by == pytest.approx(0.01)
    shown[0] = fakes.snapshot(fan=m.Fan(sent[0], shown[0].settings, (), running=False))
    probe.frame(2)
    probe.click("Take the fan away##fan")
    assert sent[1:] == [m.StudyFan()]
    probe.gui.release()
