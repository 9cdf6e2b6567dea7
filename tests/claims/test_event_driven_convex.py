"""Cones and superellipsoids in `event_driven` on all that is convex, tori on both, cylinders and cones in bowls and
pipes: closed forms, shapes that are the same by other elements, and energy over tumbling and bouncing."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

from contactlab.physics import Scene, Simulation
from contactlab.physics.books.ledger import Account
from contactlab.physics.collision.detector import Detector
from contactlab.physics.methods.event_driven.tolerances import PUSHED

G = 9.81


def simulation(*bodies, h=1 / 60, friction=0.0, restitution=0.0):
    return Simulation(Scene.from_dict({
        "solver": {"h": h, "method": "event_driven", "integrator": "dopri5"},
        "material": {"default": {"restitution": restitution, "friction": friction}}, "body": list(bodies)}))


def fixed(shape, **more):
    return {"name": "ground", "fixed": True, "shape": [shape]} | more


def free(shape, **more):
    return {"name": "body", "density": 1000.0, "shape": [shape]} | more


def period(values, h):
    """Twice the time between two crossings of zero, both downwards and upwards, interpolated between steps by the cubic
    through four of them."""
    values = np.array(values)
    at = []
    for k in np.flatnonzero(np.sign(values[1:-2]) != np.sign(values[2:-1])) + 1:
        cubic = np.polyfit(np.arange(-1, 3), values[k - 1 : k + 3], 3)
        roots = np.roots(cubic)
        at.append(h * (k + float(next(r.real for r in roots if abs(r.imag) < 1e-9 and 0.0 <= r.real <= 1.0))))
    return 2.0 * (at[1] - at[0])


def test_a_cylinder_on_its_end_in_a_bowl_swings_as_a_pendulum_about_the_middle_of_the_bowl():
    """Its rim stays on the ball of radius R, so its middle keeps the distance l = √(R² - r²) - h/2 from the middle of
    the bowl, and without friction it turns about that: T = 4 K(sin²(θ₀/2)) √((I + m l²)/(m g l)) [Landau-Lifshitz I
    §11]."""
    big, r, height, start = 1.0, 0.3, 0.2, 0.3
    arm, across = math.sqrt(big**2 - r**2) - 0.5 * height, (3.0 * r**2 + height**2) / 12.0
    sim = simulation(
        fixed({"type": "bowl", "radius": big, "angle": 90.0}),
        free({"type": "cylinder", "radius": r, "height": height}, euler=[0.0, -math.degrees(start), 0.0],
             position=[arm * math.sin(start), 0.0, -arm * math.cos(start)]))
    x = []
    for _ in range(150):
        sim.step()
        x.append(sim.position("body")[0])
        assert np.linalg.norm(sim.position("body")) == pytest.approx(arm, abs=1e-8)
    expected = 4.0 * ellipk(math.sin(0.5 * start) ** 2) * math.sqrt((across + arm**2) / (G * arm))
    assert period(x, 1 / 60) == pytest.approx(expected, rel=1e-5)  # (ω h)⁴/100 of the cubic
    assert abs(sim.state.ledger[Account.DRIFT, 0]) < 1e-9


def test_a_cylinder_along_a_pipe_slides_as_a_pendulum():
    """Its rims touch the pipe in a point each, and its axis keeps the distance R - r from that of the pipe."""
    big, r, start = 1.0, 0.2, 0.4
    sim = simulation(
        fixed({"type": "pipe", "radius": big, "height": 4.0, "angle": 90.0, "euler": [90.0, 0.0, 0.0]}),
        free({"type": "cylinder", "radius": r, "height": 0.5}, euler=[90.0, 0.0, 0.0],
             position=[(big - r) * math.sin(start), 0.0, -(big - r) * math.cos(start)]))
    x = []
    for _ in range(150):
        sim.step()
        x.append(sim.position("body")[0])
    expected = 4.0 * ellipk(math.sin(0.5 * start) ** 2) * math.sqrt((big - r) / G)
    assert period(x, 1 / 60) == pytest.approx(expected, rel=1e-5)
    assert abs(sim.state.ledger[Account.DRIFT, 0]) < 1e-9


def test_a_ring_lies_level_around_a_cone_where_its_tube_fits():
    """The distance of the middle of its tube from the side is R cos α + z sin α = r, z from the apex upwards."""
    ring, tube, radius, height = 0.2, 0.03, 0.5, 1.0
    alpha = math.atan2(radius, height)
    z = (tube - ring * math.cos(alpha)) / math.sin(alpha)
    above = [0.0, 0.0, 0.75 * height + z + 0.05]
    sim = simulation(fixed({"type": "cone", "radius": radius, "height": height}),
                     free({"type": "torus", "radius": ring, "tube": tube}, position=above))
    sim.run(until=1.0)
    assert sim.position("body") == pytest.approx([0.0, 0.0, 0.75 * height + z], abs=1e-7)
    assert np.abs(sim.velocity("body")).max() < 1e-9
    assert sum(float(lam) for lam in sim.contacts.lam) * math.sin(alpha) == pytest.approx(
        float(sim.model.mass[-1]) * G, rel=1e-6)


@pytest.mark.parametrize(("shape", "start"), [
    ({"type": "superellipsoid", "size": [0.3, 0.2, 0.4], "exponents": [0.5, 0.7]}, [8.0, 5.0, 0.0]),
    ({"type": "cone", "radius": 0.2, "height": 0.3}, [20.0, 75.0, 0.0])])
def test_in_the_middle_of_a_box_or_a_cylinder_a_body_moves_as_on_a_plane(shape, start):
    found = []
    for ground in ({"type": "plane"}, {"type": "box", "size": [4.0, 4.0, 1.0]},
                   {"type": "cylinder", "radius": 2.0, "height": 1.0}):
        low = 0.0 if ground["type"] == "plane" else -0.5
        sim = simulation(fixed(ground, position=[0.0, 0.0, low]), free(shape, position=[0.0, 0.0, 0.5], euler=start),
                         friction=0.4)
        sim.run(until=0.5)
        found.append(np.concatenate([sim.position("body"), sim.orientation("body")]))
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=0, atol=1e-7)


@pytest.mark.parametrize("ground", [
    {"type": "box", "size": [0.5, 0.4, 0.3]}, {"type": "cylinder", "radius": 0.3, "height": 0.4},
    {"type": "capsule", "radius": 0.2, "height": 0.5}, {"type": "cone", "radius": 0.4, "height": 0.5},
    {"type": "torus", "radius": 0.3, "tube": 0.1}], ids=lambda shape: shape["type"])
def test_with_exponents_of_1_a_superellipsoid_falls_over_what_an_ellipsoid_falls_over(ground):
    """Over faces, edges, corners, rims, sides and rings, whose gaps the two find by other formulas."""
    size, found = [0.3, 0.2, 0.25], []
    for shape in ({"type": "ellipsoid", "size": size},
                  {"type": "superellipsoid", "size": size, "exponents": [1.0, 1.0]}):
        sim = simulation(fixed(ground, euler=[20.0, 30.0, 10.0]),
                         free(shape, position=[0.08, -0.05, 0.75], angular_velocity=[1.0, 2.0, 0.5]),
                         friction=0.4, restitution=0.2)
        sim.run(until=0.5)
        assert sim.info.events > 0
        found.append(np.concatenate([sim.position("body"), sim.orientation("body")]))
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-8)


SMALL = {
    "cone": {"type": "cone", "radius": 0.09, "height": 0.16},
    "boxy": {"type": "superellipsoid", "size": [0.2, 0.16, 0.12], "exponents": [0.5, 0.6]},
    "pointed": {"type": "superellipsoid", "size": [0.2, 0.18, 0.16], "exponents": [1.4, 1.3]},
    "torus": {"type": "torus", "radius": 0.08, "tube": 0.03},
    "cylinder": {"type": "cylinder", "radius": 0.08, "height": 0.1},
}
LARGE = {
    "box": {"type": "box", "size": [0.8, 0.8, 0.6]}, "cone": {"type": "cone", "radius": 0.5, "height": 0.8},
    "boxy": {"type": "superellipsoid", "size": [1.0, 0.8, 0.6], "exponents": [0.5, 0.6]},
    "cylinder": {"type": "cylinder", "radius": 0.4, "height": 0.6},
    "bowl": {"type": "bowl", "radius": 0.5, "angle": 90.0},
    "pipe": {"type": "pipe", "radius": 0.5, "height": 2.0, "angle": 90.0, "euler": [90.0, 0.0, 0.0]},
}


@pytest.mark.parametrize(("body", "ground"), [
    ("cone", "box"), ("cone", "cone"), ("cone", "cylinder"), ("cone", "boxy"), ("cone", "bowl"), ("cone", "pipe"),
    ("boxy", "box"), ("boxy", "cone"), ("pointed", "cylinder"), ("pointed", "box"), ("torus", "cone"),
    ("torus", "boxy"), ("cylinder", "bowl"), ("cylinder", "pipe"), ("cylinder", "boxy")])
@pytest.mark.parametrize("seed", range(2))
def test_a_body_that_bounces_and_slides_without_loss_keeps_its_energy_and_sinks_into_nothing(body, ground, seed):
    """Elastic and smooth; of time_stepping's detector the gaps, which comes to 1e-5 m where nearest points are searched
    for. The force of a contact does no work, so what is left is the error of dopri5, 1e-9 of some joules."""
    rng = np.random.default_rng(seed)
    turn, hollow = rng.normal(size=4), ground in ("bowl", "pipe")
    sim = simulation(
        fixed(LARGE[ground], **({} if hollow else {"euler": [20.0, 10.0, 0.0]})),
        free(SMALL[body], position=[0.03, -0.02, -0.1 if hollow else 0.75], velocity=rng.normal(0.0, 0.4, 3).tolist(),
             angular_velocity=rng.normal(0.0, 4.0, 3).tolist(), orientation=(turn / np.linalg.norm(turn)).tolist()),
        restitution=1.0)
    detector, none, touched = Detector(sim.model), np.zeros(2), False
    for _ in range(36):
        sim.step()
        contacts = detector.detect(sim.state.bodies, none)
        touched = touched or sim.event_count > 0
        assert (contacts.gap[: int(contacts.count[0])] >= -PUSHED).all()
    assert touched and sim.info.status == "solved"
    assert abs(sim.state.ledger[Account.DRIFT, 0]) < 1e-8
