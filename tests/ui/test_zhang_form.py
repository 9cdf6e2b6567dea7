"""The Impact tab in Zhang's terms: the paper's W, M, A, d, H, I* and Δq̇ are those of the impact in the scene."""

from dataclasses import replace

import fakes
import numpy as np
import pytest
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels import impact, impact_forms
from contactlab.app.ui_state import UiState
from contactlab.assets import scene_path
from contactlab.physics.look.impact_forms import Cost
from contactlab.physics.look.inspection import Inspect, look
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation


def struck(scene, until, **asked):
    sim = Simulation(scene)
    sim.record_history()
    sim.run(until)
    return sim, look(sim, Inspect("impact", **asked))


def crane(joints):
    """A pillar with two arms of hinge and slider; both plates of the second arm hit a beam on a slider at once."""
    bodies = [
        {"name": "pillar", "fixed": True, "position": [0.2, 0.1, 0.0], "euler": [10, 20, 30],
         "shape": [{"type": "box", "size": [0.1, 0.1, 0.1], "position": [0, 0, -1]}]},
        {"name": "one", "position": [0.5, 0.0, 1.0], "shape": [{"type": "box", "size": [1.0, 0.1, 0.1]}]},
        {"name": "two", "position": [1.0, 0.0, 0.8], "shape": [
            {"type": "sphere", "radius": 0.1, "position": [0, 0.5, 0]},
            {"type": "sphere", "radius": 0.1, "position": [0, -0.5, 0]}]},
        {"name": "beam", "position": [1.0, 0.0, 0.3], "shape": [{"type": "box", "size": [0.4, 1.6, 0.4]}]},
    ]
    return Scene.from_dict({"scene": {"gravity": [0, 0, 0]}, "solver": {"method": "event_driven"},
                            "material": {"default": {"restitution": 0.5, "friction": 0.0}}, "body": bodies,
                            "joint": joints, "apart": [{"bodies": ["one", "beam"]}]})


SLIDES = [
    {"type": "slider", "parent": "pillar", "child": "one", "axis": [0, 0, 1]},
    {"type": "slider", "parent": "one", "child": "two", "axis": [0, 0, 1], "velocity": -1.0},
    {"type": "slider", "parent": "world", "child": "beam", "axis": [0, 0.6, 0.8]},
]
HINGES = [
    {"type": "hinge", "parent": "pillar", "child": "one", "anchor": [0, 0, 1.0], "axis": [0, 1, 0], "velocity": 0.4},
    {"type": "slider", "parent": "one", "child": "two", "axis": [0.28, 0, 0.96], "velocity": -1.0},
    {"type": "hinge", "parent": "world", "child": "beam", "anchor": [3, 0, 0.3], "axis": [0, 1, 0], "velocity": -0.1},
]


@pytest.mark.parametrize("scene", [crane(SLIDES), crane(HINGES), Scene.load(scene_path("arms"))],
                         ids=["sliders", "hinges", "arms"])
def test_the_papers_equation_is_that_of_the_engine(scene):
    """A M⁻¹ d = TᵀH⁻¹T, H = -(1 + e) ζ⁻, I* = P; and M Δq̇ = d I* is what the joints' velocities do. The engine's side
    comes from recursions over the links, the paper's from its own 4 x 4 matrices."""
    sim, seen = struck(scene, 0.6)
    view, form = seen.impact, seen.impact.zhang
    found, contacts = form.impact, view.contacts
    M = contacts.M[::3, ::3]
    assert np.abs(found.A @ np.linalg.solve(found.M, found.d) - M).max() <= 1e-12 * M.max()
    np.testing.assert_allclose(found.H, -(1.0 + view.restitution) * contacts.u[::3], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.A @ found.change, found.H, rtol=0, atol=1e-12)
    points, links = len(contacts.key), sum(map(len, form.joints))
    assert found.W.shape == (links, points) and (np.abs(found.W).sum(axis=0) <= 2).all()
    if found.status == "solved":
        np.testing.assert_allclose(found.impulse, view.impacts["zhang"].impulse, rtol=0, atol=1e-11)
    after = contacts.HT[::3].T @ found.impulse  # of all velocities; those of links are the last ones
    rows = np.concatenate([velocity_of(sim, j) for j in np.concatenate(form.joints)])
    np.testing.assert_allclose(after[len(after) - len(sim.state.joints.v) :][rows], found.change, rtol=0, atol=1e-11)


def velocity_of(sim, joint):
    trees = sim.model.trees
    link = int(np.flatnonzero(trees.joint == joint)[0])
    return [int(trees.first_v[link])]


@pytest.mark.parametrize(("key", "until", "why"), [
    ("bouncing_balls", 0.6, "a free body"), ("walking_toy", 1.0, "form of Zhang"),
])
def test_an_impact_of_another_form_says_why(key, until, why):
    assert why in struck(Scene.load(scene_path(key)), until)[1].impact.zhang


def test_the_tab_shows_the_papers_matrices_by_name(monkeypatch):
    sim, seen = struck(Scene.load(scene_path("arms")), 0.6)
    bodies = sim.state.bodies
    shown = fakes.snapshot(count=0, model=sim.model, labels=sim.labels, x=bodies.x, q=bodies.q, v=bodies.v, w=bodies.w,
                           L=bodies.L, joint_q=sim.state.joints.q, joint_v=sim.state.joints.v, step=sim.step_count,
                           joint_load=np.zeros(len(sim.state.joints.v)), t=sim.time, inspection=seen)
    maps = impact.zhang_maps(shown, seen.impact.zhang)
    assert [shown_map.title for shown_map in maps][:5] == ["W", "M", "d", "A", "H"]
    assert "left elbow" in maps[1].tip(1, 0) and f"{seen.impact.zhang.impact.M[1, 0]:.6g}" in maps[1].tip(1, 0)
    assert "N s" in maps[5].tip(0, 0)

    def draw(ui):
        imgui.set_next_window_pos((0, 0))
        imgui.set_next_window_size((900, 500))
        imgui.begin("of the paper")
        impact._in_zhangs_terms(ui, shown, seen.impact)
        imgui.end()

    assert {f"map_zhang_{k}" for k in range(7)} <= Probe(monkeypatch, draw, UiState()).drawn()


def test_the_page_of_both_forms_lets_one_choose_and_measure(monkeypatch):
    """What is clicked is asked of the engine: the way, and the cost."""
    sim, seen = struck(Scene.load(scene_path("arms")), 0.6)
    shown = fakes.snapshot(count=0, model=sim.model, labels=sim.labels, joint_q=sim.state.joints.q,
                           joint_v=sim.state.joints.v, step=sim.step_count, t=sim.time, inspection=seen,
                           joint_load=np.zeros(len(sim.state.joints.v)))
    view = replace(seen.impact, cost=Cost(np.array([1, 2]), {"articulated": np.ones(2), "joint_space": np.ones(2)}))

    def draw(ui):
        imgui.set_next_window_pos((0, 0))
        imgui.set_next_window_size((900, 500))
        imgui.begin("forms")
        impact_forms.draw_forms(ui, shown, view)
        imgui.end()

    probe = Probe(monkeypatch, draw, UiState())
    assert impact.asked(probe.ui, shown).form == "articulated"
    probe.click(next(label for label in probe.drawn() if "way_joint_space" in label))
    assert impact.asked(probe.ui, shown).form == "joint_space" and not impact.asked(probe.ui, shown).measure
    view = replace(view, cost=None)
    probe.click(next(label for label in probe.drawn() if "impact_cost" in label))
    assert impact.asked(probe.ui, shown).measure
    view = replace(view, forms="No link is hit.")
    assert probe.drawn() == set()
