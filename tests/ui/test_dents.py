"""Claims about the dents of soft surfaces in the view."""

from dataclasses import replace

import fakes
import numpy as np
import pytest
from probe import Probe
from scenes_to_draw import PLAIN, Pictures, body, contact, front_camera, snapshot

from contactlab.app.panels import contacts as contact_table
from contactlab.app.panels import layout, style
from contactlab.app.ui_state import Preferences, UiState
from contactlab.app.view.dents import CORNER, SPREAD, dents
from contactlab.app.view.overlays import legend
from contactlab.app.view.theme import theme
from contactlab.app.view.view_options import ViewOptions
from contactlab.physics import Scene, Simulation
from contactlab.physics.look.quantities import QUANTITIES, Sample
from contactlab.physics.run.messages import Settings

BODY = 0.3  # radius of a body [m]


def ball_in(z, first_fixed=True, kind="sphere", **shape):
    """A body 1 pressed z [m] into a fixed block 0, or body 0 into a fixed block 1."""
    block = body("box", (0, 0, -0.5), fixed=True, size=[2, 2, 1])
    shape = shape or {"radius": 0.5}
    other = body(kind, (0, 0, 0.5 - z), **shape)
    bodies = (block, other) if first_fixed else (other, block)
    c = contact(0, 1, (0.0, 0.0, -0.5 * z), (0.0, 0.0, 1.0 if first_fixed else -1.0), gap=-z, shape_b=1)
    return snapshot(*bodies, contacts=c, dents=np.array([z]), settings=Settings(method="compliant"))


def rows(shown, **options):
    return dents(shown, ViewOptions(**options), theme(True), BODY)


@pytest.mark.parametrize("first_fixed", [True, False])
def test_the_bowl_of_a_ball_is_where_the_shapes_overlap_and_hangs_into_the_body_that_rests(first_fixed):
    """Radius √(2 R z - z²); the rim is on the undeformed surface, z/2 from the contact point."""
    (row,) = rows(ball_in(0.1, first_fixed))
    assert row[:3] == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)
    assert row[3:6].tolist() == [0.0, 0.0, -1.0]
    assert row[10] == pytest.approx(SPREAD * np.sqrt(2 * 0.5 * 0.1 - 0.01))
    assert row[11] == 0.1


def test_a_dent_is_drawn_as_many_times_as_deep_as_asked_for_and_no_wider():
    true, deep = rows(ball_in(0.01))[0], rows(ball_in(0.01), dent_scale=20.0)[0]
    assert deep[11] == pytest.approx(20.0 * true[11]) and deep[10] == true[10]


def test_a_corner_makes_a_dent_of_a_size_that_can_be_seen():
    (row,) = rows(ball_in(0.01, kind="box", size=[1.0, 1.0, 1.0]))
    assert row[10] == SPREAD * CORNER * BODY


def test_nothing_is_drawn_where_nothing_is_pressed_in_or_dents_are_off():
    shown = ball_in(0.1)
    assert len(rows(shown, dents=False)) == 0
    assert len(rows(replace(shown, dents=np.zeros(1)))) == 0
    assert len(rows(replace(shown, dents=np.zeros(0)))) == 0  # a method of rigid contact


def test_the_legend_says_how_deep_dents_are_drawn():
    shown = ball_in(0.1)
    assert [row.text for row in legend(shown, ViewOptions()) if row.symbol == "bowl"] == [
        "dent of a soft surface, in true depth"]
    assert any("50 times as deep" in row.text for row in legend(shown, ViewOptions(dent_scale=50.0)))
    assert not any(row.symbol == "bowl" for row in legend(shown, ViewOptions(dents=False)))
    rigid, apart = replace(shown, settings=Settings()), replace(shown, dents=np.zeros(0))
    assert not any(row.symbol == "bowl" for row in legend(rigid, ViewOptions()))
    assert legend(apart, ViewOptions()) == legend(shown, ViewOptions())  # it does not jump with every bounce


@pytest.mark.parametrize("dark", [True, False])
def test_a_dent_is_seen_in_the_picture_below_the_surface_and_deeper_where_exaggerated(dark):
    """From the side: pixels that change are those of the bowl, below the top of the block."""
    pictures = Pictures()
    shown, camera = ball_in(0.02), front_camera(6.0)
    try:
        without = pictures.take(shown, camera, dark=dark, **PLAIN, dents=False)
        heights = []
        for scale in (5.0, 20.0):
            changed = np.abs(pictures.take(shown, camera, dark=dark, **PLAIN, dent_scale=scale) - without).sum(axis=2)
            seen = np.flatnonzero((changed > 60).any(axis=1))
            heights.append(seen[-1] - seen[0])
            assert changed.max() > 120
        assert heights[1] > 2.5 * heights[0] > 0
    finally:
        pictures.release()


def test_a_simulation_tells_how_deep_its_surfaces_are_pressed_in():
    """While a ball touches z = p; a method of rigid contact has no dents."""
    scene = Scene.from_dict({"solver": {"method": "compliant"}, "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "ball", "position": [0.0, 0.0, 0.1], "mass": 1.0, "shape": [{"type": "sphere", "radius": 0.1}]}]})
    sim = Simulation(scene)
    assert len(sim.dents) == 0
    for _ in range(5):
        sim.step()
    assert sim.dents == pytest.approx(-sim.contacts.gap) and sim.dents[0] > 0.0
    sim.set(method="time_stepping")
    sim.step()
    assert len(sim.dents) == 0


@pytest.fixture(scope="module")
def on_a_slope():
    """A block of 2 kg that rests on a slope of 20°, on soft surfaces of the stiffnesses K and K_t."""
    tilt = [0.0, 20.0, 0.0]
    scene = Scene.from_dict({
        "solver": {"method": "compliant"},
        "material": {"default": {"friction": 1.0, "stiffness_n": 4e4, "damping_n": 400.0, "stiffness_t": 2e4,
                                 "damping_t": 200.0}},
        "body": [{"name": "slope", "fixed": True, "euler": tilt, "shape": [{"type": "plane"}]},
                 {"name": "block", "position": [0.0, 0.0, 0.05 / np.cos(np.radians(20.0))], "euler": tilt, "mass": 2.0,
                  "shape": [{"type": "box", "size": [0.3, 0.2, 0.1]}]}]})
    sim = Simulation(scene)
    sim.run(2.0)
    return sim


def test_at_rest_z_and_x_are_the_forces_over_the_stiffnesses(on_a_slope):
    """z = -λ/K and |x| = |f_t|/K_t of two equal surfaces in series, at every contact  [RBDA eqs. 11.74, 11.78]; the
    quantities of a body are those of its contact where they are largest."""
    sim, bodies = on_a_slope, on_a_slope.number("block")
    friction = np.linalg.norm(sim.contacts.friction_force, axis=1)
    assert len(sim.dents) == 4
    assert sim.dents == pytest.approx(sim.contacts.lam / 2e4, rel=1e-6)
    assert sim.shears == pytest.approx(friction / 1e4, rel=1e-6)
    sample = Sample(sim.model, sim.state, sim.contacts, sim.info)
    assert QUANTITIES["surface_z"].value(sample, bodies) == pytest.approx(-sim.dents.max(), rel=1e-12)
    assert QUANTITIES["surface_x"].value(sample, bodies) == pytest.approx(sim.shears.max(), rel=1e-12)


def test_the_table_of_contacts_shows_z_and_x_of_soft_contacts_and_of_no_others(on_a_slope, monkeypatch):
    written, sim = [], on_a_slope
    monkeypatch.setattr(contact_table.imgui, "text", written.append)
    count = len(sim.dents)
    for dents_shown in (sim.dents, np.zeros(0)):
        shown = fakes.snapshot(count=0, model=sim.model, labels=sim.labels, x=sim.state.bodies.x, q=sim.state.bodies.q,
                               v=sim.state.bodies.v, w=sim.state.bodies.w, L=sim.state.bodies.L, contacts=sim.contacts,
                               dents=dents_shown, shears=sim.shears)
        ui = UiState(preferences=Preferences(lower_tab="contacts"), sort_contacts=("z", False))
        Probe(monkeypatch, lambda ui, shown=shown: layout.draw_ui(ui, shown, lambda command: None), ui)
        z, x = (style.engineering(v, "m") for v in (-sim.dents[0], sim.shears[0]))
        assert (z in written and x in written) == (len(dents_shown) == count)
        written.clear()
    z = {"z": -sim.dents, "x": sim.shears}
    order = contact_table.sorted_rows(sim.contacts, count, "z", False, z)
    assert (np.diff(-sim.dents[order]) >= 0.0).all()
