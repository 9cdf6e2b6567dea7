"""Where contacts carry a body: centre of pressure, support polygon, and the distance from tipping and slipping."""

import math

import numpy as np
import pytest

from contactlab.physics import Scene, Simulation
from contactlab.physics.look.support import support_of

SIZE, MASS, MU, G = (0.4, 0.2, 0.3), 3.0, 0.5, 9.81


def on_a_ramp(degrees, up=0.0):
    """A box at rest on a plane tilted about y; up: [m] that its centre of mass is above its middle."""
    a = math.radians(degrees)
    normal = np.array([math.sin(a), 0.0, math.cos(a)])
    made = Simulation(Scene.from_dict({
        "solver": {"method": "time_stepping"}, "material": {"default": {"friction": MU, "restitution": 0.0}},
        "body": [{"name": "ramp", "fixed": True, "euler": [0.0, degrees, 0.0], "shape": [{"type": "plane"}]},
                 {"name": "box", "mass": MASS, "position": (0.5 * SIZE[2] * normal).tolist(),
                  "euler": [0.0, degrees, 0.0], "shape": [{"type": "box", "size": list(SIZE)}]}]}))
    made.run(0.2)
    return made, normal


@pytest.mark.parametrize("degrees", [0.0, 10.0, 20.0])
def test_a_box_at_rest_on_a_ramp_is_carried_below_its_centre_of_mass(degrees):
    """In equilibrium the force of the contacts is −m g, its line passes through the centre of mass, which is therefore
    above the centre of pressure, h tan α from the middle of the face; |f_t|/(μ λ) = tan α/μ."""
    sim, normal = on_a_ramp(degrees)
    x, contacts = sim.state.bodies.x[1], sim.contacts
    held = support_of(1, x, np.array([0.0, 0.0, -G]), contacts)
    a = math.radians(degrees)
    drift = 1e-6 * MASS * G  # what 0.2 s of settling leave of its motion
    assert held.count == 4
    assert held.force == pytest.approx([0.0, 0.0, MASS * G], abs=drift)
    assert held.friction @ normal == pytest.approx(0.0, abs=drift)
    assert np.linalg.norm(held.friction) == pytest.approx(MASS * G * math.sin(a), abs=drift)
    assert held.torque == pytest.approx(np.zeros(3), abs=drift)
    assert held.pressure[:2] == pytest.approx(x[:2], abs=1e-5)
    # the nearest edge across the slope is ½ w away, along it ½ l cos α − ½ h sin α
    along = 0.5 * SIZE[0] * math.cos(a) - 0.5 * SIZE[2] * math.sin(a)
    assert held.inside == pytest.approx(min(0.5 * SIZE[1], along), abs=1e-5)
    assert len(held.polygon) == 4
    steepest = max(np.linalg.norm(contacts.friction_force, axis=1) / (MU * contacts.lam))
    assert held.margin == pytest.approx(1.0 - steepest, abs=1e-12)
    assert held.margin <= 1.0 - math.tan(a) / MU + 1e-6


def test_the_body_below_feels_the_opposite_and_is_carried_by_nothing():
    sim, _ = on_a_ramp(0.0)
    held = support_of(0, sim.state.bodies.x[0], np.array([0.0, 0.0, -G]), sim.contacts)
    assert held.force[2] == pytest.approx(-MASS * G, rel=1e-6)
    assert np.isnan(held.pressure).all() and len(held.polygon) == 0 and np.isnan(held.inside)


def test_a_ball_has_a_centre_of_pressure_and_no_polygon_and_in_flight_neither():
    scene = {"solver": {"method": "time_stepping"}, "material": {"default": {"friction": 0.0, "restitution": 0.0}},
             "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
                      {"name": "ball", "position": [0.3, 0.2, 0.1], "shape": [{"type": "sphere", "radius": 0.1}]},
                      {"name": "bird", "position": [0.0, 0.0, 9.0], "shape": [{"type": "sphere", "radius": 0.1}]}]}
    sim = Simulation(Scene.from_dict(scene))
    sim.run(0.1)
    ball, bird = (support_of(k, sim.state.bodies.x[k], np.array([0.0, 0.0, -G]), sim.contacts) for k in (1, 2))
    assert ball.pressure[:2] == pytest.approx([0.3, 0.2], abs=1e-9) and len(ball.polygon) == 0
    assert np.isnan(ball.margin)  # without friction there is no cone
    assert bird.count == 0 and (bird.force == 0.0).all() and np.isnan(bird.pressure).all()
    floating = support_of(1, sim.state.bodies.x[1], np.zeros(3), sim.contacts)
    assert np.isnan(floating.pressure).all()  # without gravity nothing is below
