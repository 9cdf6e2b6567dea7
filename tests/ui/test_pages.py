"""The pages of a contact and of a joint on the tab Body, without a window: their numbers are those of the engine."""

import fakes
import numpy as np
import pytest
from imgui_bundle import imgui
from probe import Probe

from contactlab.app.panels import contact_page, joint_page, layout, plot
from contactlab.app.panels.numbers import PageUi, curve_of
from contactlab.app.panels.watch import title
from contactlab.app.ui_state import Preferences, UiState
from contactlab.physics.look.inspection import look
from contactlab.physics.look.quantities import Sample, quantity_of
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

SIN, COS = float(np.sin(np.radians(20.0))), float(np.cos(np.radians(20.0)))
SLOPE = {
    "material": {"steel": {"friction": 0.6}, "felt": {"friction": 0.6}},
    "body": [{"name": "floor", "fixed": True, "material": "felt", "euler": [0.0, 20.0, 0.0],
              "shape": [{"type": "plane"}]},
             {"name": "brick", "mass": 2.0, "material": "steel", "position": [0.05 * SIN, 0.0, 0.05 * COS],
              "euler": [0.0, 20.0, 0.0], "shape": [{"type": "box", "size": [0.3, 0.2, 0.1]}]},
             {"name": "arm", "mass": 1.0, "position": [2.2, 0.0, 3.0], "shape": [{"type": "sphere", "radius": 0.1}]}],
    "joint": [{"name": "pivot", "type": "hinge", "child": "arm", "anchor": [2.0, 0.0, 3.0], "axis": [0.0, 1.0, 0.0],
               "limits": [-30, 120]}],
}


@pytest.fixture(scope="module")
def sim():
    made = Simulation(Scene.from_dict(SLOPE))
    made.record_history()
    for _ in range(60):
        made.step()
    return made


def snapshot_of(sim):
    bodies = sim.state.bodies
    return fakes.snapshot(
        count=0, model=sim.model, labels=sim.labels, x=bodies.x, q=bodies.q, v=bodies.v, w=bodies.w, L=bodies.L,
        step=sim.step_count, t=sim.time, contacts=sim.contacts, dents=np.zeros(0), shears=np.zeros(0),
        inspection=look(sim, m.Inspect("joint", joint=0)))


@pytest.fixture
def taken(monkeypatch):
    found = []
    monkeypatch.setattr(imgui, "set_clipboard_text", found.append)
    return found


@pytest.fixture
def sent():
    return []


@pytest.fixture
def probe(monkeypatch, sent, sim):
    now = snapshot_of(sim)
    made = Probe(monkeypatch, lambda ui: layout.draw_ui(ui, now, sent.append),
                 UiState(preferences=Preferences(lower_tab="body")))
    made.snapshot = now
    yield made
    made.gui.release()


def copied(probe, taken):
    """The rows of the page as it is copied: numbers by name, those at the right after those at the left."""
    probe.click("Copy##body")
    rows = [line.split("\t") for line in taken[-1].splitlines() if "\t" in line]
    return [(name, unit, [float(v) for v in values]) for name, unit, *values in rows]


def test_the_page_of_a_contact_has_the_numbers_of_the_step(probe, taken, sim):
    """A brick at rest on a slope of 20°: f = λ n + f_t."""
    probe.click("Contact##page_contact")
    c = sim.contacts
    row = int(np.argmax(c.lam))
    rows = {name: values for name, _, values in copied(probe, taken)}
    for name, values in (("point", c.point[row]), ("n", c.normal[row]), ("φ", [c.gap[row]]), ("ζ", [c.zeta[row]]),
                         ("λ", [c.lam[row]]), ("f_t", c.friction_force[row]), ("f h", c.impulse[row]),
                         ("slip", [c.slip[row]]), ("f", c.lam[row] * c.normal[row] + c.friction_force[row]),
                         ("|f_t|", [np.linalg.norm(c.friction_force[row])]), ("μ λ", [0.6 * c.lam[row]])):
        assert rows[name] == pytest.approx(values, rel=1e-11, abs=1e-15), name
    assert rows["u_t"] == pytest.approx(sim.state.bodies.v[1], abs=1e-9)
    assert "floor → brick" in taken[-1] and "felt on steel" in taken[-1] and "μ = 0.6" in taken[-1]
    # tan 20° = 0.36 < 0.6: it sticks, and friction is m g sin 20° of all corners, 0.36/0.6 of the cone on each
    assert "sticks: inside its cone" in taken[-1] and "3 resting" in taken[-1]
    shares = contact_page.margin(c, row)
    assert 0.0 < shares < 1.0 and f"{shares:.4g}" in taken[-1]
    total = sum(c.friction_force), sum(c.lam)
    assert np.linalg.norm(total[0]) / total[1] == pytest.approx(np.tan(np.radians(20.0)), rel=1e-6)
    arrows = {v.name: v for v in probe.ui.view.vectors.arrows}
    assert arrows["f"].value == pytest.approx(rows["f"]) and arrows["f"].start == pytest.approx(c.point[row])
    assert probe.ui.view.hovered_contact == row


def test_a_contact_is_chosen_by_name_and_one_that_is_gone_says_so(probe, sim, monkeypatch):
    probe.click("Contact##page_contact")
    page = probe.ui.state_of(PageUi)
    page.contact = int(sim.contacts.key[1])
    probe.frame(1)
    assert contact_page.chosen_contact(probe.ui, probe.snapshot) == 1
    page.contact = 12345
    said = []
    original = imgui.text_wrapped
    monkeypatch.setattr(imgui, "text_wrapped", lambda text: (said.append(text), original(text))[1])
    probe.frame(2)
    assert any("This contact is gone" in text for text in said)


def test_numbers_of_contacts_and_joints_are_curves(probe, sim):
    c, sample = sim.contacts, Sample(sim.model, sim.state, sim.contacts, sim.info)
    key = int(c.key[0])
    for name, value in (("gap", c.gap[0]), ("zeta", c.zeta[0]), ("slip", c.slip[0]), ("lam", c.lam[0]),
                        ("friction", np.linalg.norm(c.friction_force[0]))):
        curve = curve_of(f"contact_{name}", key)
        assert curve.body == key and quantity_of(curve.quantity).value(sample, key) == pytest.approx(value, rel=1e-15)
        assert "contact floor → brick" in title(probe.snapshot, curve)
    assert np.isnan(quantity_of("contact_lam").value(sample, 999))
    angle = curve_of("joint_angle", 0)
    assert "of pivot [rad]" in title(probe.snapshot, angle) and plot.refusal(plot.PlotUi(), angle) == ""


def test_the_page_of_a_joint_has_coordinates_limits_and_what_it_bears(probe, taken, sent, sim):
    probe.click("Joint##page_joint")
    assert sent[-1] == m.Inspect("joint", joint=0)
    view = probe.snapshot.inspection.joint
    rows = copied(probe, taken)
    assert ("q", "rad", [pytest.approx(float(view.q[0]), rel=1e-11)]) in rows
    assert ("q̇", "rad/s", [pytest.approx(float(view.v[0]), rel=1e-11)]) in rows
    for name, unit, world, own in (("F", "N", view.F, view.along[0]), ("M", "N m", view.M, view.along[1])):
        found = [values for known, of, values in rows if (known, of) == (name, unit)]
        assert found == [pytest.approx(world, rel=1e-11, abs=1e-15), pytest.approx(own, rel=1e-11, abs=1e-15)]
    assert {"anchor", "axis", "apart", "askew", "motor"} <= {name for name, _, _ in rows}
    degrees = float(np.degrees(view.q[0]))
    assert f"At {degrees:.4g}°, between -30° and 120°" in taken[-1] and "Hinge of arm on the world" in taken[-1]
    arrows = {v.name: v for v in probe.ui.view.vectors.arrows}
    assert arrows["F"].value == pytest.approx(view.F) and arrows["F"].start == pytest.approx(view.anchor)
    assert arrows["F_a"].value == pytest.approx((view.F @ view.axes[0]) * view.axes[0])
    probe.click("F##joint_force")
    assert "F" not in {v.name for v in probe.ui.view.vectors.arrows}


def test_a_scene_without_joints_offers_no_page_of_them(probe):
    assert joint_page.chosen_joint(probe.ui, fakes.snapshot(n=2)) == -1
