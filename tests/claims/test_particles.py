"""Particles: masses in points [Baraff I §2]. Where they touch, what they are together, what does nothing to them."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.collision.detector import shape_gap

G = 9.81
METHODS = ("event_driven", "time_stepping", "compliant")
CUBE = [[x, y, z] for x in (-0.2, 0.2) for y in (-0.15, 0.15) for z in (-0.1, 0.1)]
OTHERS = {
    "sphere": {"radius": 0.2}, "box": {"size": [0.5, 0.3, 0.2]}, "capsule": {"radius": 0.1, "height": 0.4},
    "cylinder": {"radius": 0.15, "height": 0.3}, "cone": {"radius": 0.2, "height": 0.4},
    "ellipsoid": {"size": [0.5, 0.3, 0.2]}, "torus": {"radius": 0.3, "tube": 0.08}, "plane": {},
    "hull": {"points": [*CUBE, [0.0, 0.0, 0.3]]}, "bowl": {"radius": 1.0, "angle": 90.0},
    "superellipsoid": {"size": [0.5, 0.3, 0.2], "exponents": [0.6, 1.4]},
    "prism": {"sides": 5, "radius": 0.2, "height": 0.3, "rounding": 0.05},
}
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def particle(name="p", mass=1.0, **given):
    return {"name": name, "shape": [{"type": "particle", "mass": mass}]} | given


def simulation(*bodies, method="time_stepping", joint=(), solver=(), **material):
    default = {"restitution": 0.0, "friction": 0.5} | material
    return Simulation(Scene.from_dict({"solver": {"method": method} | dict(solver), "material": {"default": default},
                                       "body": list(bodies), "joint": list(joint)}))


def test_a_body_of_particles_has_the_sums_of_their_masses_and_moments():
    """m = Σ m_i, x = Σ m_i r_i/m, I = Σ m_i (|r'|² 1 - r' r'ᵀ)   [Baraff I eqs. 2-19 … 2-36]"""
    rng = np.random.default_rng(2)
    r, m = rng.normal(size=(5, 3)), rng.uniform(0.1, 3.0, 5)
    points = [{"type": "particle", "position": p.tolist(), "mass": float(k)} for p, k in zip(r, m, strict=True)]
    sim = simulation({"name": "b", "shape": points})
    body = sim.body("b")
    about = r - m @ r / m.sum()
    inertia = np.einsum("i,ij,ij", m, about, about) * np.eye(3) - np.einsum("i,ij,ik->jk", m, about, about)
    assert body.mass == pytest.approx(m.sum(), rel=1e-14)
    np.testing.assert_allclose(sim.state.bodies.x[0], m @ r / m.sum(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.sort(body.inertia), np.linalg.eigvalsh(inertia), rtol=1e-12)


@pytest.mark.parametrize("kind", OTHERS)
def test_its_gap_is_that_of_a_ball_about_it_and_the_balls_radius(kind):
    """Of poses in which both are outside: there the nearest point is the same. Smooth balls are found by other code
    than points in hulls, cones and tori."""
    rng, r = np.random.default_rng(7), 0.05
    other = {"name": "other", "fixed": kind in ("plane", "bowl"), "shape": [{"type": kind, **OTHERS[kind]}]}
    point, ball = simulation(particle(), other), simulation(
        {"name": "p", "shape": [{"type": "sphere", "radius": r}]}, other)
    seen = 0
    for x in rng.uniform(-0.5, 0.5, (60, 3)):
        for sim in (point, ball):
            sim.body("p").position = x
        gap, normal, _ = shape_gap(point.model, point.state.bodies, 0, 1)
        of_ball, same, _ = shape_gap(ball.model, ball.state.bodies, 0, 1)
        if of_ball > 1e-3:
            seen += 1
            assert gap == pytest.approx(of_ball + r, abs=1e-9)
            np.testing.assert_allclose(normal, same, rtol=0, atol=1e-5)
    assert seen > 5


@pytest.mark.parametrize("method", METHODS)
def test_it_slides_on_a_rough_floor_as_far_as_friction_lets_it_and_nothing_turns_it(method):
    """v²/(2 μ g); time stepping is off by half a step of the first speed, soft surfaces by the stretch of their
    springs, less than 1 mm at 1 N."""
    sim = simulation(FLOOR, particle(velocity=[2.0, 0.0, 0.0], mass=0.1), method=method, friction_torsional=0.1,
                     friction_rolling=0.1)
    sim.run(until=0.6)
    body, bound = sim.body("p"), 0.5 * 2.0 * sim.settings.h + 1e-3
    assert body.position[0] == pytest.approx(4.0 / (2.0 * 0.5 * G), abs=bound)
    assert not body.angular_velocity.any()


@pytest.mark.parametrize("method", METHODS[:2])
def test_it_lies_on_what_is_thin_and_does_not_fly_through_it(method):
    """A plate of 2 mm; the particle comes with 60 m/s, 25 cm in a step, and stops at it. (Soft surfaces give way.)"""
    plate = {"name": "plate", "fixed": True, "shape": [{"type": "box", "size": [1.0, 1.0, 0.002]}]}
    sim = simulation(plate, particle(position=[0.1, 0.2, 1.0], velocity=[0.0, 0.0, -60.0]), method=method)
    low = np.inf
    while sim.time < 0.1:
        sim.step()
        low = min(low, sim.position("p")[2])
    assert low > 0.001 - 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_two_particles_pass_each_other(method):
    sim = simulation(particle("a", velocity=[1.0, 0.0, 0.0]), particle("b", position=[0.1, 0.0, 0.0]), method=method)
    sim.run(until=0.3)
    assert sim.position("a")[0] - sim.position("b")[0] == pytest.approx(sim.time - 0.1, abs=1e-12)
    assert sim.events == []


@pytest.mark.parametrize("method", METHODS)
def test_a_rod_of_two_keeps_its_spin_and_its_energy_in_flight(method):
    """ω across the rod stays, and what is given along it is nothing: no mass is off the rod."""
    rod = {"name": "rod", "angular_velocity": [3.0, 0.0, 2.0],
           "shape": [{"type": "particle"}, {"type": "particle", "position": [0.4, 0.0, 0.0], "mass": 3.0}]}
    sim = simulation(rod, method=method)
    L, energy = sim.state.bodies.L[0].copy(), sim.energy().total
    assert np.sort(sim.body("rod").inertia) == pytest.approx([0.0, 0.12, 0.12], rel=1e-12)
    sim.run(until=1.0)
    np.testing.assert_allclose(sim.state.bodies.L[0], L, rtol=0, atol=1e-13)
    np.testing.assert_allclose(sim.body("rod").angular_velocity, [0.0, 0.0, 2.0], rtol=0, atol=1e-9)
    assert sim.energy().total == pytest.approx(energy, abs=1e-9)


def test_it_swings_about_a_hinge_as_the_point_pendulum_that_it_is():
    """A quarter of a swing from 90° takes K(sin² 45°) √(l/g)."""
    hinge = {"type": "hinge", "parent": "world", "child": "p", "anchor": [0, 0, 0], "axis": [0, 1, 0]}
    sim = simulation(particle(position=[0.5, 0.0, 0.0]), joint=[hinge], solver={"h": 1e-3})
    while sim.position("p")[0] > 0.0:
        sim.step()
    assert sim.time == pytest.approx(ellipk(0.5) * math.sqrt(0.5 / G), abs=sim.settings.h)


def test_the_implicit_method_lets_it_rest():
    """Its rotation has no equation; the sag is m g/K of both surfaces."""
    sim = simulation(FLOOR, particle(position=[0.0, 0.0, 0.001]), method="compliant", solver={"integrator": "sdirk2"})
    sim.run(until=2.0)
    assert np.abs(sim.body("p").velocity).max() < 1e-6
    assert sim.contacts.lam == pytest.approx(G, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_particle_on_a_spinning_disc_brakes_it_by_no_moment(method):
    """It has no orientation that could be held against the disc: on the axis it takes nothing from the spin."""
    disc = {"name": "disc", "angular_velocity": [0, 0, 2], "position": [0, 0, -0.05],
            "shape": [{"type": "cylinder", "radius": 0.5, "height": 0.1}]}
    sim = simulation(disc, particle(mass=5.0), method=method, friction_torsional=0.2)
    sim.run(until=0.3)
    assert sim.body("disc").angular_velocity[2] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize(("change", "says"), [
    ({"density": 2.0}, "density"),
    ({"mass": 0.0}, "mass is 0"),
    ({"radius": 1.0}, "radius"),
])
def test_what_a_particle_cannot_have_is_refused(change, says):
    with pytest.raises(SceneError, match=says):
        simulation({"name": "p", "shape": [{"type": "particle"} | change]})


@pytest.mark.parametrize("joint", [
    {"type": "ball"}, {"type": "hinge", "axis": [1, 0, 0]},
    {"type": "hinge", "axis": [0, 1, 0], "coordinates": "maximal"},
])
def test_a_joint_that_would_turn_what_has_no_inertia_is_refused(joint):
    """On the axis x the particle is; held by a constraint it would need a moment of inertia."""
    held = {"parent": "world", "child": "p", "anchor": [0, 0, 0]} | joint
    with pytest.raises(SceneError, match="no moment of inertia"):
        simulation(particle(position=[0.5, 0, 0]), joint=[held])
