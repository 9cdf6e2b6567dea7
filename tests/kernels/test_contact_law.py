"""A contact over the last steps: its points obey its law, and the loop of a soft one holds the energy that it took."""

import math

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.look.contact_law import FRICTION_1, FRICTION_2, GAP, LAM, SLIP, ZETA, look_at_law, tangents
from contactlab.physics.look.inspection import Inspect, look

G, MASS, RADIUS = 9.81, 2.0, 0.1


def soft_ball(damping=30.0, law="linear"):
    """A ball without friction that falls by 0.2 m on a soft floor."""
    sim = Simulation(Scene.from_dict({
        "solver": {"method": "compliant", "integrator": "dopri5", "h": 1.0 / 240.0, "law": law},
        "material": {"default": {"friction": 0.0, "stiffness_n": 2e4, "damping_n": damping}},
        "body": [
            {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
            {"name": "ball", "position": [0.0, 0.0, RADIUS + 0.2], "mass": MASS,
             "shape": [{"type": "sphere", "radius": RADIUS}]}],
    }))
    sim.record_history()
    return sim


def test_the_area_of_the_loop_is_the_energy_that_the_contact_took():
    """½ m (v₀² - v₁²), with v₀ as it touches and v₁ as it leaves; both from the energy of the flights before and after,
    which nothing takes. Mean forces times ways miss the covariance of force and speed within a part: of a half wave of
    N parts about π²/(12 N²) of the energy that goes to and fro, ½ m v₀², in each half. And the force jumps to D v₀
    within one part: what it does there is off by an eighth of D v₀² times its time, h/8, at most. dopri5 is far better.
    """
    sim = soft_ball()
    before = sim.energy().total
    while sim.state.bodies.v[1, 2] <= 0.0 or sim.contacts.lam[: sim.contacts.count[0]].any():
        sim.step()
    taken = before - sim.energy().total
    view = look_at_law(sim, -1, False)
    assert view.soft and taken > 0.1
    wave, jump = math.pi**2 / (6.0 * len(view.loop) ** 2) * MASS * G * 0.2, 30.0 * 2.0 * G * 0.2 / 240.0 / 64.0
    assert view.area == pytest.approx(taken, abs=wave + jump)
    assert (np.diff(view.points[:, 0]) > 0.0).all()


def test_looking_does_not_change_the_run():
    seen, alone = soft_ball(), soft_ball()
    for _ in range(80):
        seen.step()
        alone.step()
        look(seen, Inspect("law"))
    np.testing.assert_array_equal(seen.state.bodies.x, alone.state.bodies.x)
    np.testing.assert_array_equal(seen.state.bodies.P, alone.state.bodies.P)


@pytest.mark.parametrize("name, until", [("rolling_ball", 0.6), ("rolling_ball", 1.5), ("incline", 0.6)])
def test_rigid_points_lie_on_signorinis_corner_and_in_coulombs_cone(name, until):
    sim = Simulation(Scene.load(gallery()[name]))
    sim.record_history()
    while sim.time < until:
        sim.step()
    view = look_at_law(sim, -1, False)
    gap, lam = view.points[:, GAP], view.points[:, LAM]
    assert not view.soft and (lam >= 0.0).all() and len(view.points) == 120 and not view.begins[1:].any()
    np.testing.assert_allclose(gap * lam, 0.0, atol=1e-6 * lam.max())
    friction = np.hypot(view.points[:, FRICTION_1], view.points[:, FRICTION_2])
    assert (friction <= view.friction * lam * (1.0 + 1e-6) + 1e-9).all()
    slips = view.points[:, SLIP] > 1e-3
    np.testing.assert_allclose(friction[slips], view.friction * lam[slips], rtol=1e-6)
    np.testing.assert_allclose(view.points[:, ZETA], 0.0, atol=1e-6)


def test_a_chosen_contact_is_shown_and_one_that_is_not_there_is_not():
    sim = Simulation(Scene.load(gallery()["ladder"]))
    sim.record_history()
    assert look(sim, Inspect("law")).note == "No step has been made yet."
    for _ in range(3):
        sim.step()
    keys = sim.contacts.key.tolist()
    assert look(sim, Inspect("law", contact=keys[1])).law.key == keys[1]
    hardest = int(sim.contacts.key[np.argmax(sim.contacts.lam)])
    assert look(sim, Inspect("law")).law.key == look(sim, Inspect("law", contact=-5)).law.key == hardest


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (-0.6, 0.0, 0.8)])
def test_tangents_make_a_right_handed_frame(normal):
    n = np.array(normal)
    np.testing.assert_allclose(np.cross(*tangents(n)), n, atol=1e-15)
