"""Claims about screws of pitch p [m]: one freedom, the angle q, and the way p q/2π along the axis."""

import math

import numpy as np
import pytest

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation

M, I, PITCH, G = 2.0, 0.01, 0.2, 9.81
LEAD = PITCH / (2.0 * math.pi)
#: m c z̈ = c (-m g) - I q̈ with z = c q
FALL = -G / (1.0 + I / (M * LEAD**2))
METHODS = ["time_stepping", "event_driven", "compliant"]
BOTH = ["generalized", "maximal"]


def nut(coordinates: str, **joint) -> dict:
    """A nut on a vertical screw that stands in the world."""
    body = {"name": "nut", "position": [0.0, 0.0, 1.0], "mass": M, "inertia": [0.02, 0.02, I]}
    screw = {"type": "screw", "child": "nut", "axis": [0, 0, 1], "pitch": PITCH, "coordinates": coordinates}
    return {"solver": {"h": 1 / 240}, "body": [body], "joint": [screw | joint]}


def run(scene: dict, method: str, seconds: float) -> Simulation:
    simulation = Simulation(Scene.from_dict(scene), method=method)
    for _ in range(round(240 * seconds)):
        simulation.step()
    return simulation


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("method", METHODS)
def test_a_nut_falls_with_the_inertia_that_its_turning_adds(method, coordinates):
    """z̈ = -g/(1 + I (2π/p)²/m). The midpoint rule and Runge–Kutta methods meet constant acceleration exactly."""
    bodies = run(nut(coordinates), method, 0.5).state.bodies
    assert bodies.x[0, 2] == pytest.approx(1.0 + 0.5 * FALL * 0.5**2, abs=1e-6)
    assert bodies.v[0, 2] == pytest.approx(0.5 * FALL, rel=1e-6)
    assert bodies.w[0, 2] == pytest.approx(0.5 * FALL / LEAD, rel=1e-6)


def carried(coordinates: str) -> dict:
    """A screw, oblique and off the centre, on an arm on a hinge: the nut swings, turns and slides."""
    bodies = [{"name": "arm", "position": [0.5, 0.0, 0.0], "mass": 1.0, "inertia": [0.05, 0.1, 0.1]},
              {"name": "nut", "position": [1.2, 0.1, -0.1], "mass": 0.7, "inertia": [0.02, 0.03, 0.04]}]
    joints = [{"type": "hinge", "child": "arm", "anchor": [0, 0, 0], "axis": [0, -1, 0]},
              {"type": "screw", "parent": "arm", "child": "nut", "anchor": [1.0, 0.0, 0.0], "axis": [0.6, 0.0, -0.8],
               "pitch": -0.5, "velocity": 9.0, "damping": 0.0, "spring": {"stiffness": 0.05, "position": 90}}]
    return {"solver": {"h": 1 / 960}, "body": bodies, "joint": [{**j, "coordinates": coordinates} for j in joints]}


def test_both_coordinates_agree_and_keep_the_energy():
    """Seven turns of the nut; the fourth-order method errs by less than the tolerance."""
    found = []
    for coordinates in BOTH:
        simulation = Simulation(Scene.from_dict(carried(coordinates)), method="event_driven")
        before = simulation.energy().total
        for _ in range(960):
            simulation.step()
        assert simulation.energy().total == pytest.approx(before, abs=1e-6)
        found.append(simulation.state.bodies)
    assert found[0].x == pytest.approx(found[1].x, abs=1e-6)
    assert found[0].q == pytest.approx(found[1].q, abs=1e-6)


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("method", METHODS)
def test_its_limits_are_angles_beyond_whole_turns(method, coordinates):
    """Two and a half turns down, p each; a soft stop is met at the radius r = √(I/m + c²), where K gives way to the
    weight by the angle m g c/(K r²)."""
    simulation = run(nut(coordinates, limits=[-900, 0]), method, 2.0)
    assert simulation.state.bodies.x[0, 2] == pytest.approx(1.0 - 2.5 * PITCH, abs=2e-2 * PITCH)
    assert abs(simulation.state.bodies.v[0]).max() < 1e-2


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("method", METHODS)
def test_a_motor_turns_it_at_its_speed(method, coordinates):
    """Against the weight, a half turn a second lifts p/2 a second."""
    bodies = run(nut(coordinates, motor={"speed": math.pi}), method, 0.5).state.bodies
    assert bodies.w[0, 2] == pytest.approx(math.pi, rel=1e-6)
    assert bodies.v[0, 2] == pytest.approx(0.5 * PITCH, rel=1e-6)


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("method", METHODS)
def test_damping_lets_it_sink_at_a_constant_speed(method, coordinates):
    """The torque d q̇ of the damper takes all the weight: q̇ = -m g c/d."""
    damping = 0.2
    bodies = run(nut(coordinates, damping=damping), method, 0.75).state.bodies
    rest = math.exp(-0.75 * damping / (I + M * LEAD**2))
    assert bodies.w[0, 2] == pytest.approx(-M * G * LEAD / damping, rel=1e-3 + 2.0 * rest)


def test_it_must_have_a_pitch_and_others_must_not():
    for joint, words in (({"pitch": 0.0}, "pitch is missing or 0"), ({"type": "hinge"}, "must not have it")):
        with pytest.raises(ValueError, match=words):
            Scene.from_dict(nut("generalized", **joint))


def test_its_columns_are_the_derivative_of_its_poses():
    """v and ω of the nut are those of differences of its poses: v̂ = (x(t + ε) - x(t - ε))/2ε, error ~ ε²."""
    start, eps = carried("generalized"), 1e-5
    start["joint"][1]["position"] = 400.0
    at = {}
    for shift in (-eps, 0.0, eps):
        start["joint"][1]["position"] = 400.0 + math.degrees(9.0 * shift)
        at[shift] = Scene.from_dict(start).build().state.bodies
    slope = (at[eps].x[1] - at[-eps].x[1]) / (2.0 * eps)
    assert at[0.0].v[1] == pytest.approx(slope, abs=1e-6)
    assert np.linalg.norm(at[0.0].w[1]) == pytest.approx(9.0)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
def test_the_nuts_of_the_gallery_sink_by_their_pitches_and_their_spin_turns_round_with_the_bounce(method):
    """z̈ = -g/(1 + (2π/p)² I/m) down to the floor, and there ż⁺ = -e ż⁻. A step of h in which a nut arrives may hold
    h |z̈| more or less."""
    simulation = Simulation(Scene.load(gallery()["screws"]), method=method)
    model, nuts, e, h = simulation.model, [1, 2, 3], 0.6, simulation.settings.h
    pitch = np.array([0.8, 0.3, 0.1])
    fall = -G / (1.0 + (2.0 * math.pi / pitch) ** 2 * model.inertia[nuts].max(axis=1) / model.mass[nuts])
    for _ in range(60):
        simulation.step()
    assert simulation.state.bodies.v[nuts, 2] == pytest.approx(fall * 60 * h, rel=1e-9)
    arrival = np.sqrt(2.0 * -fall * 0.88)  # the nuts are 0.04 m thick and begin at 0.9 m
    rebound = np.full(3, -np.inf)
    for _ in range(round(2.2 / h)):
        simulation.step()
        rebound = np.maximum(rebound, simulation.state.bodies.v[nuts, 2])
        assert simulation.state.bodies.w[nuts, 2] == pytest.approx(
            2.0 * math.pi / pitch * simulation.state.bodies.v[nuts, 2], rel=1e-9, abs=1e-9)
    assert np.all(np.abs(rebound - e * arrival) <= 2.0 * h * np.abs(fall))
