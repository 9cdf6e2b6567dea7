"""Friction: Coulomb's law with the circular cone, sticking, sliding, rolling."""

import math

import numpy as np
import pytest
from contact_scenes import G, ball, block, body, ground, simulate, tilted

from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

H = 1 / 240
ANGLE = math.radians(30)


def on_incline(ratio, seconds, iterations=30):
    sim = simulate(ground(), block("b", (0, 0, 0.1), (0.5, 0.5, 0.2)), mu=ratio * math.tan(ANGLE),
                   gravity=tilted(ANGLE), iterations=iterations)
    sim.run(seconds)
    return sim


@pytest.mark.parametrize("excess", [1e-3, 0.02, 0.5])
def test_a_block_below_the_friction_angle_stays_where_it_is(excess):
    """C6: drift over 10 s below 1 mm, and it comes to a stop."""
    sim = on_incline(1 + excess, 10.0)
    assert np.abs(sim.position("b") - [0, 0, 0.1]).max() < 1e-3
    assert np.abs(sim.velocity("b")).max() < 1e-12


def test_a_block_just_below_the_friction_angle_stays_given_the_sweeps():
    """C6 at 1 + 1e-6, where projected Gauss–Seidel converges slowest."""
    sim = on_incline(1 + 1e-6, 10.0, iterations=300)
    assert abs(sim.position("b")[0]) < 1e-3


@pytest.mark.parametrize("lack", [1e-3, 0.02, 0.5])
def test_a_block_above_the_friction_angle_slides_as_it_must(lack):
    """C6: a = g (sin α - μ cos α); the first steps may add what their sweeps left over."""
    sim = on_incline(1 - lack, 2.0)
    a = G * (math.sin(ANGLE) - (1 - lack) * math.tan(ANGLE) * math.cos(ANGLE))
    assert sim.velocity("b")[0] == pytest.approx(2 * a, abs=1e-4)


def test_a_sliding_box_brakes_alike_in_all_directions():
    """C6: cube of 2 m, 20 m/s, μ = √0.72: after 1 s v = 11.675938971872, x = 15.837969485936 in every direction."""
    found = []
    for k in range(12):
        a = math.radians(30 * k)
        cube = block("b", (0, 0, 1), (2, 2, 2), velocity=(20 * math.cos(a), 20 * math.sin(a), 0))
        sim = simulate(ground(), cube, mu=math.sqrt(0.72))
        sim.run(1.0)
        v, x = sim.velocity("b"), sim.position("b")
        found.append((math.hypot(v[0], v[1]), math.hypot(x[0], x[1]), *sim.angular_velocity("b")))
    found = np.array(found)
    assert np.ptp(found, axis=0).max() < 1e-9
    assert found[0, :2] == pytest.approx([11.675938971872, 15.837969485936], abs=1e-9)


def test_a_spinning_box_is_braked_by_its_four_corners():
    """C6: α = μ √2 g 1.5."""
    sim = simulate(ground(), block("b", (0, 0, 1), (2, 2, 2), angular_velocity=(0, 0, 10)), mu=math.sqrt(0.06))
    sim.run(1.0)
    assert sim.angular_velocity("b") == pytest.approx([0, 0, 4.902574473325], abs=1e-9)
    assert sim.velocity("b") == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_sliding_ball_ends_rolling_at_five_sevenths():
    """C8: v0 = 5, μ = 0.2; slides until t = 2 v0/(7 μ g) over 12 v0²/(49 μ g), then rolls on without loss."""
    sim = simulate(ground(), ball("b", (0, 0, 0.1), velocity=(5, 0, 0)), mu=0.2)
    sim.run(2.0)
    v = 25 / 7
    assert sim.velocity("b")[0] == pytest.approx(v, abs=1e-12)
    assert 0.1 * sim.angular_velocity("b")[1] == pytest.approx(v, abs=1e-12)
    t = 0.728119994175
    assert sim.position("b")[0] == pytest.approx(3.120514260750 + v * (2.0 - t), abs=0.2 * G * H**2)


@pytest.mark.parametrize(("k", "mu"), [(0.4, 0.5), (0.5, 0.5), (1.0, 0.5), (0.4, 0.05)])
def test_round_bodies_roll_or_slide_down_an_incline(k, mu):
    """C7: a = g sin θ/(1 + k) where μ >= k/(1 + k) tan θ, else g (sin θ - μ cos θ)."""
    angle = math.radians(15)
    sim = simulate(ground(), ball("b", (0, 0, 0.05), 0.05, 0.1, k=k), mu=mu, gravity=tilted(angle))
    sim.run(1.0)
    rolls = mu >= k / (1 + k) * math.tan(angle)
    a = G * math.sin(angle) / (1 + k) if rolls else G * (math.sin(angle) - mu * math.cos(angle))
    assert sim.velocity("b")[0] == pytest.approx(a, rel=1e-9)
    assert sim.position("b")[0] == pytest.approx(a / 2, rel=1e-9)
    if rolls:
        force = sim.contacts.friction_force[0]
        assert np.linalg.norm(force) == pytest.approx(0.1 * k * a, rel=1e-9)


def test_a_driven_plate_carries_its_balls_without_slip():
    """D1: 25 balls on a plate pulled with 150 N; a_plate = 0.7385, a_ball = 0.211; asked for 1e-6 m²/s²."""
    balls = [ball(f"s{i}", (2 * (i % 5) - 4, 2 * (i // 5) - 4, 1.5), 0.5, material="ball") for i in range(25)]
    sim = Simulation(Scene.from_dict({
        "material": {"ground": {}, "plate": {}, "ball": {}},
        "pair": [{"materials": ["ground", "plate"], "friction": 0.4}, {"materials": ["plate", "ball"], "friction": 0.8},
                 {"materials": ["ground", "ball"], "friction": 0.5}],
        "body": [ground(material="ground"), block("plate", (0, 0, 0.5), (20, 20, 1), 10.0, material="plate"), *balls]}))
    errors = []
    while sim.time < 4.0:
        sim.apply_force("plate", (0, 150, 0))
        sim.step()
        plate, rider = sim.velocity("plate"), sim.velocity("s12")
        wrong = np.append(plate - [0, 0.7385 * sim.time, 0], rider - [0, 0.211 * sim.time, 0])
        errors.append(wrong @ wrong)
    assert np.mean(errors) < 1e-6


def test_a_conveyor_brings_a_block_to_its_own_speed():
    """Slides with a = μ g until it runs with the belt: v = min(μ g t, belt)."""
    belt = {"name": "belt", "fixed": True, "surface_velocity": [1.0, 0.0, 0.0], "position": [0.0, 0.0, -0.5],
            "shape": [{"type": "box", "size": [20.0, 2.0, 1.0]}]}
    sim = simulate(belt, block("b", (-2, 0, 0.25)), mu=0.3)
    sim.run(0.25)
    assert sim.velocity("b")[0] == pytest.approx(0.3 * G * 0.25, rel=1e-9)
    sim.run(1.0)
    assert sim.velocity("b")[0] == pytest.approx(1.0, abs=1e-9)


def test_a_capsule_sliding_without_turning_stays_finite():
    """F4: rotations locked (huge inertia), 45° slab, μ = 0.9: a = g (sin 45° - 0.9 cos 45°)."""
    slab = {"name": "slab", "fixed": True, "euler": [0.0, 45.0, 0.0],
            "shape": [{"type": "box", "size": [20.0, 20.0, 1.0]}]}
    capsule = body("c", (0, 0, 1.5), {"type": "capsule", "radius": 0.2, "height": 0.6}, 1.0, [1e9] * 3)
    sim = simulate(slab, capsule, mu=0.9)
    for _ in range(500):
        sim.step()
        assert np.isfinite(sim.contacts.impulse).all()
    # it begins with a fall of 0.21 m, which friction cannot make faster along the slab than sliding is
    slide = math.sqrt(0.5) * G * 0.1 * sim.time
    assert 0.9 * slide < np.linalg.norm(sim.velocity("c")) < 1.1 * slide
