"""The tab Joint space: H, C, T, M and J are those of the state, by other ways to them; and what the tab says."""

import fakes
import numpy as np
import pytest
from probe import Probe

from contactlab.app.panels import layout, trees
from contactlab.app.ui_state import Preferences, UiState
from contactlab.assets import scene_path
from contactlab.physics.dynamics.trees.kinematics import empty_work, place_links
from contactlab.physics.look.inspection import Inspect, look
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation


def after(key, seconds):
    sim = Simulation(Scene.load(scene_path(key)))
    sim.record_history()
    sim.run(seconds)
    return sim


@pytest.fixture(scope="module")
def fallen():
    """The humanoid, on the floor with several links."""
    return after("humanoid", 1.2)


def view_of(sim, body=-1):
    return look(sim, Inspect("trees", body=body)).trees


def snapshot_of(sim, shown):
    bodies = sim.state.bodies
    return fakes.snapshot(count=0, model=sim.model, labels=sim.labels, x=bodies.x, q=bodies.q, v=bodies.v, w=bodies.w,
                          L=bodies.L, joint_q=sim.state.joints.q, joint_v=sim.state.joints.v,
                          joint_load=np.zeros(len(sim.state.joints.v)), step=sim.step_count, t=sim.time,
                          inspection=shown)


def test_m_is_what_h_answers_to_the_contacts(fallen):
    """M = Tᵀ H⁻¹ T of contacts with the floor; the engine finds its rows by recursions over the links."""
    view = view_of(fallen)
    assert view.T.shape[1] >= 3
    np.testing.assert_allclose(view.T.T @ np.linalg.solve(view.H, view.T), view.M, rtol=0.0,
                               atol=1e-9 * np.abs(view.M).max())


def test_h_is_the_kinetic_energy_and_zero_between_branches(fallen):
    """½ q̇ᵀ H q̇ = Σ ½ (m v² + ω·I ω). Between branches all is 0 to the last bit; of the other entries only some of the
    free root's six are, as of two translations."""
    view, v = view_of(fallen), fallen.state.joints.v
    assert 0.5 * v @ view.H @ v == pytest.approx(fallen.energy().kinetic, rel=1e-9)
    assert not view.H[~view.carries].any()
    assert np.argwhere(view.carries & (view.H == 0.0)).max() < 6
    assert 0.3 < view.carries.mean() < 0.6


def test_j_gives_the_velocities_of_the_link(fallen):
    for body in range(3, 9):
        view = view_of(fallen, body)
        bodies = fallen.state.bodies
        expected = np.concatenate([bodies.w[body], bodies.v[body]])
        np.testing.assert_allclose(view.J @ fallen.state.joints.v, expected, rtol=0.0, atol=1e-9)


def test_the_velocity_product_term_is_how_the_velocity_changes_at_constant_rates():
    """J̇ q̇ by central differences of J q̇ over ±1e-5 s of a motion with constant q̇ of hinges: off by h² and rounding."""
    sim, h = after("arms", 0.1), 1e-5
    body = sim.number(sim.labels.bodies[int(sim.model.trees.body[1])])
    view, v, q = view_of(sim, body), sim.state.joints.v, sim.state.joints.q
    velocities = []
    for sign in (-1.0, 1.0):
        moved = after("arms", 0.1)
        moved.state.joints.q[:] = q + sign * h * v
        place(moved)
        velocities.append(view_of(moved, body).J[3:] @ v)
    assert np.linalg.norm(view.turning) > 1.0
    np.testing.assert_allclose((velocities[1] - velocities[0]) / (2.0 * h), view.turning, rtol=0.0, atol=1e-5)


def place(sim):
    """Put the bodies where their joints say."""
    place_links(sim.model, *sim.state.joints, empty_work(sim.model.trees), sim.state.bodies)


def test_a_scene_without_trees_says_so_and_has_no_such_tab():
    sim = after("dice", 0.01)
    assert "generalized coordinates" in look(sim, Inspect("trees")).note
    assert not trees.TAB.there(snapshot_of(sim, None))


def test_the_tab_asks_for_the_selected_link_and_tells_what_its_maps_show(monkeypatch, fallen):
    shown, sent = [None], []
    probe = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, snapshot_of(fallen, shown[0]), sent.append),
                  UiState(preferences=Preferences(lower_tab="trees")))
    assert sent[-1] == Inspect("trees", body=-1)
    probe.ui.view.selected = 5
    probe.frame()
    assert sent[-1] == Inspect("trees", body=5)
    shown[0] = look(fallen, sent[-1])
    view, snapshot = shown[0].trees, snapshot_of(fallen, shown[0])
    assert {f"map_trees_{k}" for k in range(5)} <= probe.drawn()  # H, C, T, M, J
    said = trees.facts(snapshot, view)
    assert f"36 velocities q\u0307. {int(view.carries.sum())} of the 1296 entries of H" in said
    assert fallen.labels.bodies[5] in said and f"{view.T.shape[1]} contacts that rest on links" in said
    tip = trees._of_H(view, trees.velocity_names(snapshot, view)).tip
    i, j = np.argwhere(~view.carries)[0].tolist()
    assert "always" in tip(i, j) and f"{view.H[0, 0]:.6g}" in tip(0, 0)
