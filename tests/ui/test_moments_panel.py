"""The page of moments beside the equations, and their table in the tab of impacts."""

import fakes
import pytest
from probe import Probe

from contactlab.app.panels import layout
from contactlab.app.panels.moments import maps_of, states_of
from contactlab.app.ui_state import Preferences, UiState
from contactlab.physics.look.inspection import look
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

SCENE = {
    "solver": {"method": "event_driven"},
    "material": {"default": {"friction": 0.5, "restitution": 0.0, "friction_torsional": 0.004,
                             "friction_rolling": 0.005}},
    "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
             {"name": "ball", "mass": 1.0, "position": [0.0, 0.0, 0.101], "velocity": [0.5, 0.0, 0.0],
              "angular_velocity": [0.0, 5.0, 8.0], "shape": [{"type": "sphere", "radius": 0.1}]}],
}


@pytest.fixture(scope="module")
def rolled():
    sim = Simulation(Scene.from_dict(SCENE))
    sim.record_history()
    sim.run(until=0.1)
    return sim


def shown(sim, view):
    contacts = sim.contacts._replace(**{f: getattr(sim.contacts, f).copy() for f in ("lam", "active", "key")})
    bodies = sim.state.bodies
    return fakes.snapshot(model=sim.model, labels=sim.labels, x=bodies.x, q=bodies.q, v=bodies.v, w=bodies.w,
                          L=bodies.L, contacts=contacts, step=sim.step_count, t=sim.time,
                          inspection=look(sim, m.Inspect(view)))


def test_the_page_says_what_each_moment_does_and_chooses_its_contact(rolled, monkeypatch):
    """A ball that rolls and spins: both are opposed; J picks one component of ω along n and two across."""
    snapshot = shown(rolled, "equations")
    view = snapshot.inspection.equations.moments
    assert states_of(view) == ["opposes", "opposes"]
    J, M = (shown_map.values for shown_map in maps_of(snapshot, view, [(0, 0), (1, 0), (1, 1)]))
    assert J.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] or (abs(J).sum(axis=1) == 1.0).all()
    assert abs(M).max() == pytest.approx(1.0 / 0.004)  # 1/I of the ball
    ui = UiState(Preferences(lower_tab="equations"))
    probe = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, snapshot, print), ui)
    probe.click("Moments##page_moments")
    assert ui.inspector.page == "moments"
    probe.gui.release()


def test_the_impact_tab_has_a_table_of_moments_where_contacts_bear_them(rolled):
    view = look(rolled, m.Inspect("impact")).impact
    assert view is not None
    assert set(view.moments) == set(view.impacts) - {"zhang", "sticking"}
