"""The tab Drift: the selected body turns on as a matrix and as a quaternion."""

import fakes
import numpy as np
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels import drift
from contactlab.app.ui_state import UiState
from contactlab.assets import scene_path
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation


def panel(monkeypatch, w):
    sim = Simulation(Scene.load(scene_path("t_handle")))
    bodies = sim.state.bodies
    shown = fakes.snapshot(count=0, model=sim.model, labels=sim.labels, x=bodies.x, q=bodies.q, v=bodies.v,
                           w=w * bodies.w, L=w * bodies.L, t=sim.time, settings=sim.settings)

    def draw(ui):
        imgui.set_next_window_pos((0, 0))
        imgui.set_next_window_size((1000, 400))
        imgui.begin("drift")
        drift.draw_drift(ui, shown, None)
        imgui.end()

    return Probe(monkeypatch, draw, UiState())


def test_a_body_turns_on_at_a_click_and_its_numbers_are_told(monkeypatch):
    probe = panel(monkeypatch, 1.0)
    mine = probe.ui.state_of(drift.DriftUi)
    assert mine.found is None
    probe.click(next(label for label in probe.drawn() if "drift_euler" in label))
    probe.click(next(label for label in probe.drawn() if label.endswith("##drift")))
    mine.wanted.exception(timeout=60.0)
    probe.drawn()
    assert mine.wanted is None and mine.of[:2] == ("T-handle", "euler") and np.isfinite(mine.found.matrix).all()
    R, q, _ = drift.numbers(mine.found)
    assert f"det R = {mine.found.volume[-1]:.6g}" in R and "one division ends" in q


def test_a_body_at_rest_has_nothing_to_turn_on(monkeypatch):
    probe = panel(monkeypatch, 0.0)
    probe.click(next(label for label in probe.drawn() if label.endswith("##drift")))
    assert probe.ui.state_of(drift.DriftUi).found is None
