"""Resting contact: forces, stacks that stand, redundant supports, the mouse spring, and the order of the scheme."""

import math

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground, simulate
from scipy.integrate import solve_ivp

H = 1 / 240


def test_a_resting_body_is_carried_by_its_weight():
    """C16: summed impulse of a step = m g h."""
    sim = simulate(ground(), block("b", (0, 0, 0.25), mass=3.0))
    sim.run(0.5)
    contacts = sim.contacts
    assert abs(contacts.impulse[:, 2].sum()) == pytest.approx(3 * G * H, rel=1e-9)
    assert contacts.lam.sum() == pytest.approx(3 * G, rel=1e-9)
    assert contacts.current.all()
    assert (contacts.case == 4).all()
    assert sim.info.residual < 1e-12


def test_a_tower_of_ten_boxes_stands_for_a_minute():
    """Drift of every box below 1 mm in every direction."""
    sim = simulate(ground(), *[block(f"b{i}", (0, 0, 0.25 + 0.5 * i)) for i in range(10)])
    start = np.array([sim.position(f"b{i}") for i in range(10)])
    sim.run(60.0)
    end = np.array([sim.position(f"b{i}") for i in range(10)])
    assert np.abs(end - start).max() < 1e-3


def test_a_pyramid_stands():
    blocks = [block(f"b{r}_{i}", (0.52 * (i - (5 - r) / 2), 0, 0.25 + 0.5 * r)) for r in range(6) for i in range(6 - r)]
    sim = simulate(ground(), *blocks)
    start = sim.q.copy()
    sim.run(3.0)
    assert np.abs(sim.q - start).max() < 1e-3


def test_overlap_is_removed_without_making_speed():
    """A block put 1 cm into the ground rises to it; nothing but its height changes."""
    sim = simulate(ground(), block("b", (0, 0, 0.24)))
    fastest = 0.0
    for _ in range(120):
        sim.step()
        fastest = max(fastest, abs(sim.velocity("b")[2]))
    assert sim.position("b")[2] == pytest.approx(0.25, abs=1e-4)
    assert fastest < 1e-12


def test_slow_bodies_land_without_overlap():
    sim = simulate(ground(), block("b", (0, 0, 0.25 + 1e-3)), e=0.0)
    deepest = 0.0
    for _ in range(60):
        sim.step()
        deepest = max(deepest, sim.info.penetration)
    assert deepest < 1e-12
    assert sim.position("b")[2] == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize("copies", [1, 4, 16])
def test_doubled_contacts_change_nothing(copies):
    """C5, B9: a block on several grounds at the same place."""
    grounds = [{**ground(), "name": f"g{i}"} for i in range(copies)]
    sim = simulate(*grounds, block("b", (0, 0, 0.25), velocity=(2, 0, 0)), mu=0.3, iterations=2000)
    sim.run(0.25)
    assert sim.velocity("b") == pytest.approx([2 - 0.3 * G * 0.25, 0, 0], abs=1e-9)


@pytest.mark.parametrize(("ratio", "iterations"), [(10, 30), (100, 300), (1000, 3000)])
def test_a_heavy_block_rests_on_a_light_one(ratio, iterations):
    """Gauss–Seidel needs sweeps in proportion to the mass ratio."""
    sim = simulate(ground(), block("light", (0, 0, 0.25)), block("heavy", (0, 0, 0.75), mass=ratio),
                   iterations=iterations)
    sim.run(1.0)
    assert sim.position("heavy") == pytest.approx([0, 0, 0.75], abs=1e-3)
    assert np.abs(sim.v).max() < 1e-3


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("h", [1e-3, H, 0.05])
def test_the_mouse_pulls_any_mass_at_any_step_without_swinging(mass, h):
    """Critically damped: it comes to the target without passing it by more than the scheme's error, and stays."""
    sim = simulate(ball("b", (0, 0, 0), mass=mass), gravity=(0, 0, 0), h=h)
    sim.grab("b", (0, 0, 0), (0.05, 0, 0))
    path = []
    while sim.time < 2.0:
        sim.step()
        path.append(sim.position("b")[0])
    assert max(path) < 0.05 * 1.15
    assert path[-1] == pytest.approx(0.05, abs=1e-6)


def test_the_mouse_cannot_push_a_ball_through_the_ground():
    sim = simulate(ground(), ball("b", (0, 0, 0.1)))
    sim.grab("b", (0, 0, 0.1), (0, 0, -5.0))
    sim.run(1.0)
    assert sim.position("b")[2] == pytest.approx(0.1, abs=1e-3)
    assert np.linalg.norm(sim.loads.grab_force) == pytest.approx(20 * 9.81, rel=1e-6)  # its limit for 1 kg


def test_turning_with_the_mouse_brings_the_held_point_towards_the_target():
    sim = simulate(block("b", (0, 0, 0)), gravity=(0, 0, 0))
    sim.grab("b", (0.25, 0, 0), (0, 3.0, 0), turn=True)
    sim.run(2.0)
    w, x, y, z = sim.orientation("b")
    assert [1 - 2 * (y * y + z * z), 2 * (x * y + w * z)] == pytest.approx([0, 1], abs=1e-6)
    assert sim.position("b") == pytest.approx([0, 0, 0], abs=1e-12)


def test_contact_is_gained_and_lost():
    sim = simulate(ground(), block("b", (0, 0, 0.2501)))
    sim.run(0.1)
    assert [e.kind for e in sim.events] == ["gain"]
    sim.grab("b", (0, 0, 0.25), (0, 0, 1.0))
    sim.run(0.4)
    assert [e.kind for e in sim.events] == ["gain", "dynamic_loss"]


def test_sliding_that_ends_inside_a_step_is_missed_by_less_than_that_step():
    """Slides, then rolls: the error is at most what friction does within the step in which slip ends."""
    exact = 12 * 25 / (49 * 0.2 * G) + 25 / 7 * (1.0 - 10 / (7 * 0.2 * G))
    errors = []
    for rate in (240, 480, 960):
        sim = simulate(ground(), ball("b", (0, 0, 0.1), velocity=(5, 0, 0)), mu=0.2, h=1 / rate)
        sim.run(1.0)
        errors.append(abs(sim.position("b")[0] - exact) + 1e-15)
    bound = [0.2 * G / rate**2 for rate in (240, 480, 960)]  # at most μ g h² /2 from the step in which slip ends
    assert all(e <= b for e, b in zip(errors, bound, strict=True))


def test_a_ball_sliding_off_a_dome_converges_with_second_order():
    """C14 before it leaves, at 50.4°: θ'' = g/(R + r) sin θ on a frictionless sphere. 240, 480, 960 Hz."""
    start, radius, end = 0.3, 1.1, 0.55
    fall = solve_ivp(lambda t, y: (y[1], G / radius * np.sin(y[0])), (0.0, end), (start, 0.0), rtol=1e-12, atol=1e-12)
    angle = fall.y[0, -1]
    exact = radius * np.array([np.sin(angle), 0.0, np.cos(angle)])
    dome = {"name": "dome", "fixed": True, "shape": [{"type": "sphere", "radius": 1.0}]}
    top = (radius * math.sin(start), 0.0, radius * math.cos(start))
    errors = []
    for rate in (240, 480, 960):
        sim = simulate(dome, ball("b", top), mu=0.0, h=1 / rate)
        sim.run(end)
        errors.append(np.linalg.norm(sim.position("b") - exact))
    assert errors[0] < 2e-4
    assert math.log2(errors[0] / errors[2]) / 2 >= 1.8
