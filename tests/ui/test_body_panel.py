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
from contactlab.app.view.body_vectors import arrows_of, per_metre, support_lines
from contactlab.app.view.camera import Camera
from contactlab.app.view.scales import scales
from contactlab.app.view.theme import DARK
from contactlab.app.view.view_options import BodyVectors, ViewOptions
from contactlab.physics.books.diagnostics import measure
from contactlab.physics.look.inspection import look
from contactlab.physics.look.quantities import Sample, heading, quantity_of
from contactlab.physics.look.support import support_of
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


def named(probe):
    """The arrows that the tab asks for, by name."""
    return {vector.name: vector for vector in probe.ui.view.vectors.arrows}


def test_the_arrows_are_the_vectors_and_go_with_the_tab(probe, sim):
    snapshot = probe.snapshot[0] = snapshot_of(sim, 1)
    probe.frame(1)
    shown = probe.ui.view.vectors
    assert (shown.body, shown.axes, shown.support) == (1, True, True) and set(named(probe)) == {"v", "ω", "L"}
    for name in ("L", "P", "F", "tau", "weight", "parts"):
        probe.click(f"{body.ARROWS[name][0]}##arrow_{name}")
    told, view, x = named(probe), snapshot.inspection.body, snapshot.x[1]
    expected = {"v": view.v, "ω": view.w, "P": view.P, "F": view.F, "τ": view.tau, "m g": view.weight,
                "F_c": np.zeros(3), "τ_c": np.zeros(3), "F_o": view.F - view.weight}
    assert set(told) == set(expected)
    for name, value in expected.items():
        assert told[name].value == pytest.approx(value, abs=1e-12) and (told[name].start == x).all()
    probe.ui.preferences.lower_tab = "contacts"
    probe.frame(1)
    assert probe.ui.view.vectors is None
    scale = scales(snapshot, ViewOptions())
    small = scale._replace(longest=0.3)
    units = per_metre(snapshot, 1, scale)
    arrows = {a.name: a for a in arrows_of(snapshot, BodyVectors(1, True, arrows=tuple(told.values())), DARK, small)}
    for name, column in zip("xyz", view.R.T, strict=True):
        assert arrows[name].end - x == pytest.approx(1.5 * scale.body * column)
    for name, kind in (("ω", "w"), ("v", "v"), ("P", "P")):
        reach = arrows[name].end - x
        assert np.linalg.norm(reach) == pytest.approx(min(np.linalg.norm(expected[name]) / units[kind], 0.3))
        assert np.cross(reach, expected[name]) == pytest.approx(np.zeros(3), abs=1e-9)
        assert arrows[name].turns == (kind == "w") and arrows[name].cut == (np.linalg.norm(reach) > 0.3 - 1e-9)
    assert "F_c" not in arrows  # nothing touches


def test_the_legend_says_how_long_the_arrows_are(probe, sim):
    snapshot = probe.snapshot[0] = snapshot_of(sim, 1)
    probe.frame(1)
    for name in ("P", "F", "tau"):
        probe.click(f"{body.ARROWS[name][0]}##arrow_{name}")
    options = ViewOptions(vectors=probe.ui.view.vectors._replace(axes=False))
    glyphs = overlays.build(snapshot, options, Camera(), (800, 600))
    rows = [row.text.split(", 1 m = ") for row in overlays.legend(snapshot, options)]
    lengths = {row[0].split()[0]: float(row[1].split()[0]) for row in rows if len(row) == 2}
    x, view = snapshot.x[1], snapshot.inspection.body
    scale = scales(snapshot, options)
    for name, value in (("v", view.v), ("ω", view.w), ("L", view.L), ("P", view.P), ("F", view.F)):
        (tip,) = (np.array(label.position) for label in glyphs.labels if label.text == name)
        length = np.linalg.norm(value) / lengths[name]
        assert np.linalg.norm(tip - x) == pytest.approx(min(length, scale.longest), rel=6e-3)  # told with three digits
        assert (np.abs(glyphs.strokes[:, 3:6] - tip).max(axis=1) < 1e-12).sum() == 1
    assert "τ" in lengths


@pytest.mark.parametrize(("about", "point"), [
    ("origin", (0.0, 0.0, 0.0)), ("system", None), ("point", (0.5, -1.0, 2.0))])
def test_angular_momentum_is_told_about_a_chosen_point(probe, monkeypatch, sim, about, point):
    """L_p = L + (x - p) × P: in the table, when it is copied, as an arrow from that point, and as a curve."""
    snapshot = probe.snapshot[0] = snapshot_of(sim, 1)
    probe.ui.state_of(body.BodyUi).about = about
    probe.ui.state_of(body.BodyUi).point = (0.5, -1.0, 2.0)
    taken = []
    monkeypatch.setattr(imgui, "set_clipboard_text", taken.append)
    probe.frame(2)
    bodies, m = sim.state.bodies, np.array([0.0, 2.0, 2.0])
    p = np.array(point) if point is not None else m @ bodies.x / m.sum()
    expected = bodies.L[1] + np.cross(bodies.x[1] - p, bodies.P[1])
    arrow = named(probe)["L"]
    assert arrow.value == pytest.approx(expected, rel=1e-12) and arrow.start == pytest.approx(p)
    probe.click("Copy##body")
    row = next(line for line in taken[0].splitlines() if line.startswith("L about"))
    assert [float(v) for v in row.split("\t")[2:]] == pytest.approx(expected, rel=1e-11)
    assert row.split("\t")[0].endswith(
        {"origin": "world origin", "system": "system's centre of mass", "point": "(0.5, -1, 2) m"}[about])
    line = body.about_line(probe.ui.state_of(body.BodyUi), snapshot.inspection.body)
    sample = Sample(sim.model, sim.state, sim.contacts, sim.info)
    assert [quantity_of(name).value(sample, 1) for name in line.plotted] == pytest.approx(expected, rel=1e-12)
    assert "about" in heading(line.plotted[0], "one") and heading(line.plotted[0], "one").endswith("[kg m²/s]")


def test_the_angular_momentum_of_all_about_the_origin_is_that_of_the_ledger(sim):
    sample = Sample(sim.model, sim.state, sim.contacts, sim.info)
    summed = [sum(quantity_of(f"L_{axis}@0,0,0").value(sample, k) for k in (1, 2)) for axis in "xyz"]
    _, momenta = measure(sim.model, sim.state.bodies, sim.state.joints)
    assert summed == pytest.approx(momenta[1], rel=1e-12)


def test_the_page_says_where_its_contacts_carry_it_and_copies_all_numbers(probe, monkeypatch):
    """A box on the floor: its weight, half its width to the edge of the support polygon, its centre above that of
    pressure."""
    brick = {"name": "brick", "mass": 2.0, "position": [0.5, 0.0, 0.05],
             "shape": [{"type": "box", "size": [0.3, 0.2, 0.1]}]}
    sim = Simulation(Scene.from_dict({"body": [SCENE["body"][0], brick]}))
    sim.record_history()
    for _ in range(60):
        sim.step()
    taken = []
    monkeypatch.setattr(imgui, "set_clipboard_text", taken.append)
    shown = probe.snapshot[0] = dataclasses.replace(snapshot_of(sim, 1), contacts=sim.contacts)
    probe.frame(2)
    held = support_of(1, shown.x[1], shown.model.gravity, sim.contacts)
    said = body.supported(held)
    assert "4 contacts press" in said and "100 mm inside the support polygon" in said and "% of μλ" in said
    probe.click("Copy##body")
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in taken[0].splitlines() if "\t" in line}
    assert rows["of contacts"][0] == "N" and [float(v) for v in rows["of contacts"][1:]] == pytest.approx(held.force)
    assert [float(v) for v in rows["x"][1:]] == pytest.approx(shown.x[1].tolist(), rel=1e-11)
    assert taken[0].startswith("brick, t = ") and said in taken[0]
    glyphs = overlays.build(shown, ViewOptions(contact_points=False, normals=False, forces=False, friction_forces=False,
                                               impulses=False, vectors=BodyVectors(1, support=True)),
                            Camera(), (800, 600))
    edges, pressure = support_lines(shown, 1)
    assert len(edges) == len(glyphs.strokes) == 4 and len(glyphs.marks) == len(pressure) == 1
    corners = {(round(x, 6), round(y, 6)) for x, y, _ in edges[:, 0]}
    assert corners == {(0.35, -0.1), (0.65, -0.1), (0.65, 0.1), (0.35, 0.1)}
    assert pressure[0, :2] == pytest.approx([0.5, 0.0], abs=1e-6)


def test_what_does_not_touch_says_so():
    held = support_of(1, np.zeros(3), np.array([0.0, 0.0, -9.81]), fakes.snapshot(count=0).contacts)
    assert body.supported(held) == "No contact presses on it."
