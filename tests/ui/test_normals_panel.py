"""The tab Normals: the outlines of the scene's bodies, and points in place of a disc or a line."""

import fakes
import pytest
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels import normals
from contactlab.app.ui_state import UiState
from contactlab.assets import scene_path
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation


@pytest.fixture
def shown():
    sim = Simulation(Scene.load(scene_path("polygons")))
    bodies = sim.state.bodies
    return fakes.snapshot(count=0, model=sim.model, labels=sim.labels, x=bodies.x, q=bodies.q, v=bodies.v, w=bodies.w,
                          L=bodies.L, t=sim.time)


def panel(monkeypatch, shown):
    def draw(ui):
        imgui.set_next_window_pos((0, 0))
        imgui.set_next_window_size((1000, 400))
        imgui.begin("normals")
        normals.draw_normals(ui, shown, None)
        imgui.end()

    return Probe(monkeypatch, draw, UiState())


def test_bodies_that_roll_are_seen_along_the_axis_of_their_spin(monkeypatch, shown):
    """Around the axis about which they roll, and about no other, the disc turns smoothly and the prisms by jumps."""
    probe = panel(monkeypatch, shown)
    mine = probe.ui.state_of(normals.NormalsUi)
    told = {shown.labels.bodies[body]: normals.told(way) for (body, _), way in mine.outlines.items()}
    assert told == {"disc": "turns smoothly", "24 sides": "100 % in jumps", "12 sides": "100 % in jumps",
                    "6 sides": "100 % in jumps", "6 round sides": "turns smoothly"}
    shown.w[:] = 0.0
    probe.frame(2)
    assert len(mine.outlines) == 5  # of the axes about which they spun last


def test_the_number_of_points_is_a_slider_and_what_it_stands_for_a_choice(monkeypatch, shown):
    probe = panel(monkeypatch, shown)
    mine = probe.ui.state_of(normals.NormalsUi)
    assert (mine.shape, mine.points) == ("disc", 8)
    probe.click(next(label for label in probe.drawn() if "normals_line" in label))
    assert mine.shape == "line" and mine.misses[8] > 0.0
    probe.click(next(label for label in probe.drawn() if "normals_points" in label), 0.9)
    assert mine.points > 20 and mine.misses[mine.points] < mine.misses[8]
