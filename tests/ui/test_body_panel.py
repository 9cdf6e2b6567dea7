"""The tab Body, without a window: what it asks, that the numbers written are those of the engine, and its arrows."""

import dataclasses

import fakes
import numpy as np
import pytest
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels import body, layout
from contactlab.app.panels.ledger import figure
from contactlab.app.ui_state import Preferences, UiState
from contactlab.app.view import overlays
from contactlab.app.view.body_vectors import arrows_of
from contactlab.app.view.camera import Camera
from contactlab.app.view.theme import DARK
from contactlab.app.view.view_options import BodyVectors, ViewOptions
from contactlab.physics.look.inspection import look
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

SCENE = {
    "scene": {"gravity": [0.0, 0.0, -9.81]}, "solver": {"method": "time_stepping", "integrator": "rk4"},
    "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
             *({"name": name, "position": [0.5 * k, 0.0, 3.0], "velocity": [1.0, 2.0, 3.0], "mass": 2.0,
                "angular_velocity": [0.3, 4.0, 0.2], "inertia": [0.01, 0.02, 0.03],
                "shape": [{"type": "box", "size": [0.3, 0.2, 0.1]}]} for k, name in enumerate(("one", "two")))],
}


@pytest.fixture(scope="module")
def sim():
    made = Simulation(Scene.from_dict(SCENE))
    made.record_history()
    for _ in range(10):
        made.step()
    return made


def snapshot_of(sim, shown):
    bodies = sim.state.bodies
    return fakes.snapshot(
        count=0, model=sim.model, labels=sim.labels, x=bodies.x, q=bodies.q, v=bodies.v, w=bodies.w, L=bodies.L,
        step=sim.step_count, t=sim.time, inspection=None if shown is None else look(sim, m.Inspect("body", body=shown)))


@pytest.fixture
def sent():
    return []


@pytest.fixture
def probe(monkeypatch, sent, sim):
    now = [snapshot_of(sim, None)]
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, now[0], sent.append),
                 UiState(preferences=Preferences(lower_tab="body")))
    made.snapshot = now
    yield made
    made.gui.release()


def test_it_asks_for_the_selected_body_or_the_first_that_moves(probe, sent, sim):
    assert sent == [m.Inspect("body", body=1)]  # body 0 is fixed
    probe.ui.view.selected = 2
    probe.frame(1)
    assert sent[1:] == [m.Inspect("body", body=2)]
    probe.click("##body")
    probe.click("one##body_1")
    assert probe.ui.view.selected == 1 and sent[-1] == m.Inspect("body", body=1)


@pytest.mark.parametrize("quaternion", [False, True])
def test_every_number_of_the_engine_is_written(probe, monkeypatch, sim, quaternion):
    probe.snapshot[0] = snapshot_of(sim, 1)
    probe.frame(1)
    probe.click("q##orientation" if quaternion else "R##orientation")
    said = []
    original = imgui.text
    monkeypatch.setattr(imgui, "text", lambda text: (said.append(text), original(text))[1])
    probe.frame(1)
    view = probe.snapshot[0].inspection.body
    turn = (view.q, view.q_dot) if quaternion else (view.R, view.R_dot)
    for values in (view.x, view.P, view.L, view.v, view.w, view.F, view.inverse_inertia, *turn):
        for value in np.ravel(values):
            assert figure(value) in said or abs(value) < 1e-6
    assert body.Numbers("F", "N", np.array([np.nan, 1e-12, -2.5]), 1e-9).texts() == ["–", "0", "\u22122.5"]


def test_a_first_instant_and_a_fixed_body_say_what_is_missing(probe, monkeypatch, sim):
    said = []
    for name in ("text", "text_wrapped"):
        original = getattr(imgui, name)
        monkeypatch.setattr(imgui, name, lambda text, original=original: (said.append(text), original(text))[1])
    fresh = Simulation(Scene.from_dict(SCENE))
    fresh.record_history()
    probe.snapshot[0] = snapshot_of(fresh, 1)
    probe.frame(1)
    assert "–" in said and any("make one" in text for text in said)
    probe.ui.view.selected = 0
    probe.snapshot[0] = snapshot_of(sim, 0)
    probe.frame(1)
    assert any("floor never moves" in text for text in said) and probe.ui.view.vectors is None


def test_a_body_that_sleeps_says_so(sim):
    told = look(sim, m.Inspect("body", body=1)).body
    assert not told.asleep and "sleep" not in body.remark(told)
    assert "It sleeps" in body.remark(dataclasses.replace(told, asleep=True))


def test_the_arrows_are_the_vectors_and_go_with_the_tab(probe, sim):
    snapshot = probe.snapshot[0] = snapshot_of(sim, 1)
    probe.frame(1)
    assert probe.ui.view.vectors == BodyVectors(1, True, True, True, True)
    probe.click("L##arrow_L")
    assert probe.ui.view.vectors == BodyVectors(1, True, True, True, False)
    probe.ui.preferences.lower_tab = "contacts"
    probe.frame(1)
    assert probe.ui.view.vectors is None
    arrows = {a.name: a for a in arrows_of(snapshot, BodyVectors(1, True, True, True, True), DARK,
                                           (0.5, 0.1, 0.01, 10.0), 0.3)}
    view, x = snapshot.inspection.body, snapshot.x[1]
    for name, column in zip("xyz", view.R.T, strict=True):
        assert arrows[name].end - x == pytest.approx(0.5 * column)
    assert arrows["ω"].end - x == pytest.approx(0.01 * view.w) and arrows["ω"].turns and not arrows["ω"].cut
    assert arrows["v"].cut and np.linalg.norm(arrows["v"].end - x) == pytest.approx(0.3)
    assert np.cross(arrows["v"].end - x, view.v) == pytest.approx(np.zeros(3), abs=1e-12)
    still = dataclasses.replace(snapshot, v=0.0 * snapshot.v)
    assert "v" not in {a.name for a in arrows_of(still, BodyVectors(1, True, True, True, True), DARK,
                                                (0.5, 0.1, 0.01, 10.0), 0.3)}


def test_the_legend_says_how_long_the_arrows_are(sim):
    snapshot = snapshot_of(sim, 1)
    options = ViewOptions(vectors=BodyVectors(1, False, True, True, True))
    glyphs = overlays.build(snapshot, options, Camera(), (800, 600))
    rows = [row.text.split(", 1 m = ") for row in overlays.legend(snapshot, options)]
    per_metre = {row[0]: float(row[1].split()[0]) for row in rows if row[0] in ("v", "ω", "L")}
    x = snapshot.x[1]
    for name, values in (("v", snapshot.v), ("ω", snapshot.w), ("L", snapshot.L)):
        (tip,) = (np.array(label.position) for label in glyphs.labels if label.text == name)
        length = np.linalg.norm(values[1]) / per_metre[name]
        assert np.linalg.norm(tip - x) == pytest.approx(min(length, overlays.scales(snapshot, options).longest))
        assert (np.abs(glyphs.strokes[:, 3:6] - tip).max(axis=1) < 1e-12).sum() == 1
