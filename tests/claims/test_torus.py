"""Tori: where they touch every other shape, and how they roll, hang and hold each other."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.collision.detector import Detector, shape_gap
from contactlab.physics.shapes import torus
from contactlab.physics.shapes.shapes import polyhedron
from contactlab.physics.shapes.table import FORMS

RING, TUBE, G = 0.3, 0.08, 9.81  # radius of the circle and of the tube [m], gravity [m/s2]
METHODS = ("event_driven", "time_stepping", "compliant")
CUBE = [[x, y, z] for x in (-0.2, 0.2) for y in (-0.15, 0.15) for z in (-0.1, 0.1)]
OTHERS = {
    "sphere": {"radius": 0.2}, "box": {"size": [0.5, 0.3, 0.2]}, "capsule": {"radius": 0.1, "height": 0.4},
    "cylinder": {"radius": 0.15, "height": 0.3}, "cone": {"radius": 0.2, "height": 0.4},
    "ellipsoid": {"size": [0.5, 0.3, 0.2]}, "hull": {"points": [*CUBE, [0.0, 0.0, 0.3]]},
    "superellipsoid": {"size": [0.5, 0.3, 0.2], "exponents": [0.6, 1.4]},
    "prism": {"sides": 5, "radius": 0.2, "height": 0.3, "rounding": 0.05},
}


def ring(name="ring", **given):
    return {"name": name, "shape": [{"type": "torus", "radius": RING, "tube": TUBE}]} | given


def simulation(*bodies, method="time_stepping", friction=0.5, restitution=0.0, **solver):
    material = {"restitution": restitution, "friction": friction}
    return Simulation(Scene.from_dict({"solver": {"method": method, **solver}, "material": {"default": material},
                                       "body": list(bodies)}))


def test_its_mass_is_the_limit_of_its_triangles():
    """V = 2 π² R r², I_z = m (R² + ¾ r²), I_x = m (½ R² + ⅝ r²); the grid that is drawn loses of second order, at most
    4 (π/n)² with n = 28 around the tube."""
    sim = simulation(ring())
    surface = FORMS[int(sim.model.shapes.kind[0])].surface
    own, grid = torus.mass_properties(RING, TUBE), polyhedron(*surface(sim.model, 0))
    bound = 4.0 * (math.pi / 28) ** 2
    assert own.mass == pytest.approx(2.0 * math.pi**2 * RING * TUBE**2, rel=1e-14)
    assert grid.mass == pytest.approx(own.mass, rel=bound)
    np.testing.assert_allclose(grid.inertia, own.inertia, rtol=0.0, atol=bound * own.inertia.max())


@pytest.mark.parametrize("kind", OTHERS)
def test_its_gap_is_the_least_of_the_balls_along_its_circle(kind):
    """A torus is the union of the balls of its tube, and a ball's gap is known to every shape by other code. Heights
    change by no more than their distance along the circle, so that the least of n balls is above the torus's gap by
    π R/n at most; near a smooth minimum by much less. Poses from apart to deep within."""
    rng = np.random.default_rng(5)
    n = 360
    other = {"name": "other", "shape": [{"type": kind, **OTHERS[kind]}]}
    pair = simulation(ring(), other)
    ball = simulation({"name": "ball", "shape": [{"type": "sphere", "radius": TUBE}]}, other)
    of_ball = Detector(ball.model)  # one for all balls: making it takes a millisecond
    angle = 2.0 * np.pi / n * np.arange(n)
    circle = RING * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])
    for _ in range(12):
        turn = Rotation.random(rng=rng)
        x = rng.uniform(0.0, 0.6) * turn.apply(rng.normal(size=3)) / 2.0
        pair.body("ring").position, pair.body("ring").orientation = x, turn.as_quat(scalar_first=True)
        gap, normal, point = shape_gap(pair.model, pair.state.bodies, 0, 1)
        gaps = []
        for p in x + turn.apply(circle):
            ball.body("ball").position = p
            gaps.append(of_ball.gap(ball.state.bodies, 0, 1)[0])
        assert gap <= min(gaps) + 1e-9
        assert gap >= min(gaps) - math.pi * RING / n
        if gap > -TUBE:  # the circle is outside: its nearest point is the foot of the other's, the tube's radius away
            local = turn.inv().apply(point - 0.5 * gap * normal - x)
            assert math.hypot(math.hypot(local[0], local[1]) - RING, local[2]) == pytest.approx(TUBE, abs=1e-9)


def test_two_tori_are_as_near_as_their_circles():
    """Least distance of two circles, by points on both, less the two tubes; n points each are off by π R/n each."""
    rng, n = np.random.default_rng(3), 600
    pair = simulation(ring("a"), ring("b"))
    angle = 2.0 * np.pi / n * np.arange(n)
    circle = RING * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])
    for _ in range(20):
        turns, places = Rotation.random(2, rng=rng), rng.uniform(-0.35, 0.35, (2, 3))
        for name, turn, x in zip("ab", turns, places, strict=True):
            pair.body(name).position, pair.body(name).orientation = x, turn.as_quat(scalar_first=True)
        p, q = (x + turn.apply(circle) for turn, x in zip(turns, places, strict=True))
        least = min(float(np.linalg.norm(q - point, axis=1).min()) for point in p) - 2.0 * TUBE
        gap = shape_gap(pair.model, pair.state.bodies, 0, 1)[0]
        assert least - 2.0 * math.pi * RING / n <= gap <= least + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_a_hoop_rolls_down_a_slope(method):
    """a = g sin α/(1 + I_z/(m (R + r)²)); I_z/m = R² + ¾ r². Time stepping is off by a step's part of the first
    acceleration, a compliant surface by its creep, D ζ/K of the path in its first tenths of a second: 1 %."""
    slope, until = math.radians(15.0), 1.0
    # the slope is a plane turned about y; the hoop stands in the xz plane, R + r above it
    normal = np.array([math.sin(slope), 0.0, math.cos(slope)])
    sim = simulation(
        {"name": "slope", "fixed": True, "euler": [0.0, math.degrees(slope), 0.0], "shape": [{"type": "plane"}]},
        ring(position=((RING + TUBE) * normal).tolist(), euler=[90.0, 0.0, 0.0]), method=method, h=1 / 500)
    sim.run(until=until)
    acceleration = G * math.sin(slope) / (1.0 + (RING**2 + 0.75 * TUBE**2) / (RING + TUBE) ** 2)
    way = float((sim.body("ring").position - (RING + TUBE) * normal) @ [math.cos(slope), 0.0, -math.sin(slope)])
    allowed = {"event_driven": 1e-9, "time_stepping": 2.0 / 500, "compliant": 0.01}[method]
    assert way == pytest.approx(0.5 * acceleration * until**2, rel=allowed)
    assert sim.body("ring").position[1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_swings_in_an_upright_ring(method):
    """Rolling without slip within the hole, its centre on a circle of radius ℓ = R - r - s: 7/5 ℓ θ'' = -g sin θ."""
    s = 0.06
    reach, start, until = RING - TUBE - s, 0.5, 0.6
    sim = simulation(
        ring(fixed=True, euler=[90.0, 0.0, 0.0]),
        {"name": "ball", "position": [reach * math.sin(start), 0.0, -reach * math.cos(start)],
         "shape": [{"type": "sphere", "radius": s}]}, method=method, friction=2.0, h=1 / 2000)
    sim.run(until=until)
    theta = solve_ivp(lambda t, y: [y[1], -5.0 / 7.0 * G / reach * math.sin(y[0])], (0.0, until), [start, 0.0],
                      rtol=1e-11, atol=1e-12).y[0, -1]
    x, _, z = sim.body("ball").position
    # fourth order; first order of h ω; a surface that gives way by up to a millimetre of ℓ
    allowed = {"event_driven": 1e-6, "time_stepping": 0.01, "compliant": 0.02}[method]
    assert math.atan2(x, -z) == pytest.approx(theta, abs=allowed)


def test_a_ring_hangs_on_a_peg_and_a_link_in_a_link():
    """At rest the ring's centre is R - r - a under that of a peg of radius a. Of two links at right angles the tubes
    touch where the circles are 2 r apart: the lower centre hangs 2 R - 2 r below. To the slop of a resting contact."""
    peg = {"name": "peg", "fixed": True, "position": [0.0, 0.0, 1.0], "euler": [90.0, 0.0, 0.0],
           "shape": [{"type": "cylinder", "radius": 0.05, "height": 1.0}]}
    hung = simulation(peg, ring(position=[0.02, 0.0, 0.84], euler=[90.0, 0.0, 0.0]), friction=0.0)
    low = math.inf
    for _ in range(20):
        hung.run(until=hung.time + 0.1)
        x, _, z = hung.body("ring").position - np.array([0.0, 0.0, 1.0])
        assert math.hypot(x, z) == pytest.approx(RING - TUBE - 0.05, abs=2e-4)  # it swings about the peg
        low = min(low, z)
    links = simulation(ring("upper", fixed=True, euler=[90.0, 0.0, 0.0]),
                       ring("lower", position=[0.0, 0.0, -2.0 * RING + 2.0 * TUBE - 0.0], euler=[0.0, 90.0, 0.0]))
    links.run(until=2.0)
    np.testing.assert_allclose(links.body("lower").position, [0.0, 0.0, -2.0 * (RING - TUBE)], atol=2e-4)


def test_a_ring_lies_on_a_mesh():
    """Flat on triangles it rests r above them; the edges between them that are flat hold nothing."""
    ground = {"name": "ground", "fixed": True, "shape": [
        {"type": "height_field", "size": [2.0, 2.0], "heights": [[0.0] * 9] * 9}]}
    sim = simulation(ground, ring(position=[0.03, 0.05, 0.2], euler=[3.0, 2.0, 0.0]))
    sim.run(until=2.0)
    assert sim.body("ring").position[2] == pytest.approx(TUBE, abs=1e-4)
    assert np.linalg.norm(sim.body("ring").velocity) < 1e-3
    assert min(contact.normal[2] for contact in sim.body("ring").contacts) > 1.0 - 1e-6


@pytest.mark.parametrize(("aim", "passes"), [(RING, False), (0.0, True), (0.15, True)])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_fast_ball_is_stopped_by_a_ring_or_flies_through_its_hole(aim, passes, restitution):
    """At 200 m/s it moves by ten times the tube's thickness in a step; it is never in it by more than a millimetre. On
    its way through the hole, where the tube ahead is not met, it falls freely."""
    thrown = {"name": "thrown", "position": [aim, 0.0, -2.0], "velocity": [0.0, 0.0, 200.0],
              "shape": [{"type": "sphere", "radius": 0.03}]}
    sim = simulation(ring(fixed=True), thrown, h=1 / 240, restitution=restitution)
    for _ in range(6):
        sim.step()
        assert shape_gap(sim.model, sim.state.bodies, 0, 1)[0] > -1e-3
        if passes:
            np.testing.assert_allclose(sim.velocity("thrown"), [0.0, 0.0, 200.0 - G * sim.time], rtol=0, atol=1e-10)
    assert (sim.position("thrown")[2] > 2.0) == passes
    assert passes or sim.position("thrown")[2] < 0.0


def test_a_fast_ring_on_its_edge_does_not_pass_through_a_thin_plate():
    plate = {"name": "plate", "fixed": True, "shape": [{"type": "box", "size": [2.0, 2.0, 0.01]}]}
    thrown = ring(position=[0.0, 0.0, 2.0], velocity=[0.0, 0.0, -200.0], euler=[90.0, 0.0, 0.0])
    sim = simulation(plate, thrown, h=1 / 240)
    for _ in range(12):
        sim.step()
        assert sim.position("ring")[2] > RING


def test_a_torus_without_a_hole_is_refused_with_the_reason():
    with pytest.raises(SceneError, match="less than the radius"):
        simulation({"name": "r", "shape": [{"type": "torus", "radius": 0.2, "tube": 0.2}]})
