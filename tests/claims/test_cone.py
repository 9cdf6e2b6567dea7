"""Claims about the right circular cone, of radius r and height h, centre of mass h/4 above the base."""

import math

import numpy as np
import pytest
from collision_scenes import Part, Thing, box, build, capsule, cylinder, ellipsoid, plane, sphere
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.collision import shape_gap
from contactlab.physics.core.model import ShapeKind

R, H = 0.3, 0.5
CONE = Part(ShapeKind.CONE, (R, H, 0.0))
FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}


def cone(**fields) -> dict:
    return {"name": "cone", "density": 1000.0, "shape": [{"type": "cone", "radius": R, "height": H}], **fields}


def simulate(method: str, h: float, *bodies: dict) -> Simulation:
    material = {"default": {"friction": 1.0, "restitution": 0.0}}
    return Simulation(Scene.from_dict({"material": material, "solver": {"h": h}, "body": bodies}), method=method)


def test_a_cone_has_its_mass_and_its_moments():
    model = Scene.from_dict({"body": [cone()]}).build().model
    mass = 1000.0 * math.pi * R**2 * H / 3.0
    across = 3.0 / 20.0 * mass * R**2 + 3.0 / 80.0 * mass * H**2
    assert model.mass[0] == pytest.approx(mass)
    assert np.sort(model.inertia[0]) == pytest.approx(np.sort([across, across, 0.3 * mass * R**2]))


@pytest.mark.parametrize("seed", range(12))
def test_its_gap_from_a_plane_is_that_of_its_support_function(seed):
    turn = Rotation.random(rng=np.random.default_rng(seed))
    x, down = np.array([0.1, -0.2, 0.7]), turn.inv().apply([0.0, 0.0, -1.0])
    reach = max(0.75 * H * down[2], R * math.hypot(down[0], down[1]) - 0.25 * H * down[2])
    model, bodies = build(Thing((CONE,), x, turn.as_quat(scalar_first=True)), Thing((plane(),), moves=False))
    assert shape_gap(model, bodies, 0, 1)[0] == pytest.approx(x[2] - reach, abs=1e-12)


def cone_reach(u: np.ndarray) -> float:
    """Support function h(u) = max over the solid of u·x."""
    return max(0.75 * H * u[2], R * math.hypot(u[0], u[1]) - 0.25 * H * u[2])


OTHERS = {
    "sphere": (sphere(0.4), lambda u: 0.4),
    "box": (box(0.5, 0.3, 0.2), lambda u: np.abs(u) @ [0.5, 0.3, 0.2]),
    "capsule": (capsule(0.25, 0.5), lambda u: 0.25 + 0.5 * abs(u[2])),
    "cylinder": (cylinder(0.35, 0.4), lambda u: 0.35 * math.hypot(u[0], u[1]) + 0.4 * abs(u[2])),
    "ellipsoid": (ellipsoid(0.5, 0.3, 0.2), lambda u: np.linalg.norm(u * [0.5, 0.3, 0.2])),
    "cone": (CONE, cone_reach),
}


@pytest.mark.parametrize("other", OTHERS)
def test_its_gaps_are_those_of_the_support_functions(other):
    """Two convex shapes are at least as far apart as their shadows on any axis, n·d - h_a(n) - h_b(-n); along the
    reported normal these are apart by the gap, and between two points of the shapes, of which one is in the cone."""
    r, (part, reach) = np.random.default_rng(3), OTHERS[other]
    for _ in range(40):
        x = r.normal(size=3)
        x *= r.uniform(0.3, 1.6) / np.linalg.norm(x)
        turn, turned = Rotation.random(rng=r), Rotation.random(rng=r)
        model, bodies = build(Thing((CONE,), x, turn.as_quat(scalar_first=True)),
                              Thing((part,), q=turned.as_quat(scalar_first=True)))
        gap, n, middle = shape_gap(model, bodies, 0, 1)
        apart = n @ -x - cone_reach(turn.inv().apply(n)) - reach(turned.inv().apply(-n))
        assert apart == pytest.approx(gap, abs=3e-6)  # √(accuracy of GJK) times the size
        point = turn.inv().apply(middle - 0.5 * gap * n - x)
        if gap > 0.0:
            assert point[2] >= -0.25 * H - 1e-6
            assert math.hypot(point[0], point[1]) <= R / H * (0.75 * H - point[2]) + 1e-6


@pytest.mark.parametrize("method", ["time_stepping", "event_driven", "compliant"])
def test_it_stands_on_its_base(method):
    simulation = simulate(method, 1 / 240, FLOOR, cone(position=[0.0, 0.0, 0.25 * H]))
    for _ in range(60):
        simulation.step()
    bodies = simulation.state.bodies
    assert bodies.x[1] == pytest.approx([0.0, 0.0, 0.25 * H], abs=1e-3)  # compliant ground gives way by m g / K
    assert abs(bodies.w[1]).max() < 1e-3


@pytest.mark.parametrize(("method", "h", "tolerance"),
                         [("event_driven", 1 / 60, 1e-4), ("time_stepping", 1 / 240, 0.05)])
def test_it_rolls_on_a_plane_around_its_apex(method, h, tolerance):
    """Lying on its side it turns at each instant about the line of contact, with ω = Ω cot α where its axis goes round
    with Ω; α is the half angle at the apex. Nothing slides, so the energy stays and the apex stays where it is."""
    rate, alpha = 1.0, math.atan2(R, H)
    axis = -np.array([math.cos(alpha), 0.0, math.sin(alpha)])  # towards the apex, which is at the origin
    x = -0.75 * H * axis
    q = Rotation.align_vectors([axis], [[0.0, 0.0, 1.0]])[0].as_quat(scalar_first=True)
    simulation = simulate(method, h, FLOOR, cone(
        position=x.tolist(), orientation=q.tolist(), velocity=[0.0, rate * x[0], 0.0],
        angular_velocity=[-rate / math.tan(alpha), 0.0, 0.0]))
    time, bodies = 0.5 * math.pi / rate, simulation.state.bodies
    kinetic = 0.5 * bodies.P[1] @ bodies.v[1] + 0.5 * bodies.L[1] @ bodies.w[1]
    steps = round(time / h)
    for _ in range(steps):
        simulation.step()
    bodies, angle = simulation.state.bodies, rate * steps * h
    there = [x[0] * math.cos(angle), x[0] * math.sin(angle), x[2]]
    apex = bodies.x[1] + Rotation.from_quat(bodies.q[1], scalar_first=True).apply([0.0, 0.0, 0.75 * H])
    assert bodies.x[1] == pytest.approx(there, abs=tolerance * H)
    assert apex == pytest.approx([0.0, 0.0, 0.0], abs=tolerance * H)
    assert 0.5 * bodies.P[1] @ bodies.v[1] + 0.5 * bodies.L[1] @ bodies.w[1] == pytest.approx(kinetic, rel=tolerance)


@pytest.mark.parametrize(("method", "tolerance"),
                         [("event_driven", 1e-6), ("time_stepping", 1e-3), ("compliant", 1e-3)])
def test_the_cone_of_the_gallery_swings_with_the_period_of_its_pendulum(method, tolerance):
    """On a slope of angle β: T = (3/40) m h² (1 + 5 cos² α) θ̇² and V = -(3/4) m g h cos α sin β cos θ, a pendulum of
    ω² = 5 g cos α sin β/(h (1 + 5 cos² α)), whose period from θ₀ is 4 K(sin²(θ₀/2))/ω [Landau-Lifshitz I §32, §11].
    Crossings are interpolated between steps: an error of (h ω)² or so of the period."""
    simulation = Simulation(Scene.load(gallery()["rolling_cone"]), method=method)
    height, radius, slope, start, h = 0.4, 0.12, math.radians(20.0), math.radians(30.0), simulation.settings.h
    alpha = math.atan2(radius, height)
    rate = math.sqrt(5.0 * 9.81 * math.cos(alpha) * math.sin(slope) / (height * (1.0 + 5.0 * math.cos(alpha) ** 2)))
    theta = [start]
    for _ in range(round(3.2 / h)):
        simulation.step()
        out = Rotation.from_quat(simulation.state.bodies.q[1], scalar_first=True).apply([0.0, 0.0, -1.0])
        theta.append(math.atan2(out[1], out[0] * math.cos(slope) - out[2] * math.sin(slope)))
    downwards = [k for k in range(1, len(theta)) if theta[k - 1] > 0.0 >= theta[k]]
    first, second = [h * (k - theta[k] / (theta[k] - theta[k - 1])) for k in downwards]
    assert second - first == pytest.approx(4.0 * ellipk(math.sin(0.5 * start) ** 2) / rate, rel=tolerance)
