"""Prisms over regular polygons and what rounding does to them [RBDA §11.6, fig. 11.5]: a polygon that rolls strikes the
ground with every corner, and what it loses there falls with the length of its flats."""

import math

import numpy as np
import pytest
from contact_scenes import G, ground, simulate
from scipy.integrate import quad

from contactlab.physics.books.ledger import Account
from contactlab.physics.core.model import ShapeKind
from contactlab.physics.scene.hull import convex_hull, hull_properties
from contactlab.physics.scene.scene import Scene, SceneError
from contactlab.physics.shapes.rounded import mass_properties
from contactlab.physics.shapes.shapes import matrix_to_quat, quat_to_matrix
from contactlab.physics.shapes.table import FORMS
from contactlab.physics.simulation.simulation import Simulation

R, HEIGHT, M = 0.2, 0.4, 1.0


def on_edge(sides, rounding, spin, lean, **keywords):
    """A prism that rolls along x with `spin` about the edge behind its lowest flat, which comes down after an angle
    `lean`; and its moment of inertia about its axis."""
    core = R - rounding / math.cos(math.pi / sides)
    angle = math.pi / sides - lean  # of the edge, behind the foot of the axis
    corner = np.array([-math.sin(angle), 0.0, -math.cos(angle)])
    along = np.array([0.0, 1.0, 0.0])
    q = matrix_to_quat(np.column_stack([corner, np.cross(along, corner), along]))
    height = rounding + core * math.cos(angle)
    body = {"name": "prism", "position": [0.0, 0.0, height], "orientation": q.tolist(), "mass": M,
            "angular_velocity": [0.0, spin, 0.0], "velocity": [spin * height, 0.0, -spin * core * math.sin(angle)],
            "shape": [{"type": "prism", "sides": sides, "radius": R, "height": HEIGHT, "rounding": rounding}]}
    sim = simulate(ground(), body, mu=10.0, **keywords)
    turn = quat_to_matrix(sim.state.bodies.q[1])
    return sim, float(turn[1] ** 2 @ sim.model.inertia[1])


def lost(sides, rounding, spin, lean, inertia):
    """What the next flat takes as it comes down: before, the prism turns with ω about the end of that flat, L/2 before
    the foot of the axis a; after, about its other end. Its angular momentum about that stays:
    ω⁺/ω⁻ = (I + m (a² - L²/4))/(I + m (a² + L²/4))."""
    half, core = math.pi / sides, R - rounding / math.cos(math.pi / sides)
    a, flat = R * math.cos(half), core * math.sin(half)
    height, arm = rounding + core * math.cos(half - lean), core * math.sin(half - lean)
    start = 0.5 * (inertia + M * (height**2 + arm**2)) * spin**2
    kinetic = start + M * G * (height - a)
    ratio = (inertia + M * (a * a - flat * flat)) / (inertia + M * (a * a + flat * flat))
    return kinetic * (1.0 - ratio * ratio)


@pytest.mark.parametrize("rounding", [0.0, 0.05, 0.1])
@pytest.mark.parametrize("sides", [6, 12])
def test_each_corner_takes_what_its_angular_momentum_says(sides, rounding):
    sim, inertia = on_edge(sides, rounding, 2.0, 0.02, method="event_driven", h=1 / 250)
    start = sim.energy().total
    while not any(event.kind == "impact" for event in sim.events):
        sim.step()
        assert sim.time < 0.5
    wanted = lost(sides, rounding, 2.0, 0.02, inertia)
    assert start - sim.energy().total == pytest.approx(wanted, rel=1e-6)
    assert sim.state.ledger[Account.IMPACTS, 0] + sim.state.ledger[Account.FRICTION, 0] == pytest.approx(
        -wanted, rel=1e-6)


def test_time_stepping_comes_to_the_same_loss():
    """To the order of the step: the pivot moves on within the step of the impact, h ω of the angle."""
    sim, inertia = on_edge(6, 0.05, 2.0, 0.02, h=1e-4)
    start = sim.energy().total
    sim.run(0.03)
    assert start - sim.energy().total == pytest.approx(lost(6, 0.05, 2.0, 0.02, inertia), rel=1e-2)


def test_the_rounder_the_less_is_lost():
    losses = [lost(6, r, 2.0, 0.02, 0.5 * M * R * R) for r in (0.0, 0.05, 0.1, 0.15, 0.17)]
    assert (np.diff(losses) < 0.0).all() and losses[-1] < 0.01 * losses[0]


# ------------------------------------------------------------------------------------------------ what holds a load
@pytest.mark.parametrize("sides", [3, 7, 12])
def test_a_disc_of_n_points_holds_loads_up_to_the_cosine_of_half_their_angle(sides):
    """fig. 11.7 d: between two of its points, the worst direction, up to cos(π/n) of the radius."""
    angle = math.pi / sides
    for part in (0.99, 1.02):
        load = part * R * math.cos(angle) * np.array([math.cos(angle), math.sin(angle), 0.0])
        shape = {"type": "prism", "sides": sides, "radius": R, "height": HEIGHT, "position": [float(c) for c in -load]}
        body = {"name": "disc", "position": [float(load[0]), float(load[1]), HEIGHT / 2], "mass": M,
                "inertia": [0.005] * 3, "shape": [shape]}
        sim = simulate(ground(), body, h=1 / 250)
        sim.run(0.5)
        tips = np.linalg.norm(sim.angular_velocity("disc")) > 1e-6
        assert tips == (part > 1.0)


@pytest.mark.parametrize("method", ["time_stepping", "event_driven"])
@pytest.mark.parametrize("part", [0.98, 1.02])
def test_a_rounded_box_stands_on_what_is_flat_of_its_face(part, method):
    half, rounding = 0.2, 0.06
    load = part * (half - rounding)
    shape = {"type": "box", "size": [2 * half, 2 * half, 0.2], "rounding": rounding, "position": [-load, 0.0, 0.0]}
    body = {"name": "box", "position": [load, 0.0, 0.1], "mass": M, "inertia": [0.01] * 3, "shape": [shape]}
    sim = simulate(ground(), body, h=1 / 250, method=method)
    sim.run(0.3)
    assert (np.linalg.norm(sim.angular_velocity("box")) > 1e-3) == (part > 1.0)


# ------------------------------------------------------------------------------------------------ mass properties
def test_the_mass_of_a_rounded_box_is_that_of_its_cross_sections():
    """Across x, at a distance s beyond the flat, these are rectangles whose corners have a radius ρ = √(r² - s²), of
    the area 4 b c + 4 (b + c) ρ + π ρ²; by quadrature."""
    half, r = np.array([0.5, 0.3, 0.2]), 0.1

    def moment(axis, power):
        a, (b, c) = half[axis], np.delete(half, axis)

        def area(x):
            rho = math.sqrt(max(r * r - max(x - a, 0.0) ** 2, 0.0))
            return 4.0 * b * c + 4.0 * (b + c) * rho + math.pi * rho * rho

        return 2.0 * sum(quad(lambda x: x**power * area(x), lo, hi)[0] for lo, hi in ((0.0, a), (a, a + r)))

    sim = Simulation(Scene.from_dict({"body": [{"density": 1.0, "shape": [
        {"type": "box", "size": [float(2 * (h + r)) for h in half], "rounding": r}]}]}))
    assert sim.model.shapes.kind[0] == ShapeKind.ROUNDED
    assert sim.model.mass[0] == pytest.approx(moment(0, 0), rel=1e-9)
    squares = np.array([moment(axis, 2) for axis in range(3)])
    assert sorted(sim.model.inertia[0]) == pytest.approx(sorted(squares.sum() - squares), rel=1e-9)


def test_the_mass_of_any_rounded_hull_is_that_of_a_fine_hull_of_its_surface():
    """The surface that is drawn is inscribed: with normals an angle δ apart it lacks up to δ²/2 of the radius."""
    points = np.random.default_rng(3).normal(size=(12, 3))
    hull = convex_hull(points)
    exact = mass_properties(hull.vertices, [list(loop) for loop in hull.loops], 0.5)
    sim = Simulation(Scene.from_dict({"body": [{"density": 1.0, "shape": [
        {"type": "hull", "points": points.tolist(), "rounding": 0.5}]}]}))
    vertices, triangles = FORMS[ShapeKind.ROUNDED].surface(sim.model, 0)
    inner = convex_hull(vertices, most=10_000)
    found = hull_properties(inner)
    assert len(triangles) > 500
    assert 0.99 * exact.mass < found.mass < exact.mass
    assert np.linalg.norm(found.inertia - exact.inertia) < 0.02 * np.linalg.norm(exact.inertia)
    assert sim.model.mass[0] == pytest.approx(exact.mass, rel=1e-12)
    away = mass_properties(hull.vertices + np.array([3.0, -2.0, 1.0]), [list(loop) for loop in hull.loops], 0.5)
    assert away.center - exact.center == pytest.approx([3.0, -2.0, 1.0], abs=1e-12)
    assert away.inertia == pytest.approx(exact.inertia, abs=1e-10 * np.trace(exact.inertia))


@pytest.mark.parametrize(("shape", "most"), [
    ({"type": "box", "size": [0.4, 0.2, 0.6], "rounding": 0.1}, "half the shortest side"),
    ({"type": "prism", "sides": 6, "radius": 0.2, "height": 1.0, "rounding": 0.18}, "from the axis to a side"),
])
def test_a_rounding_that_leaves_nothing_flat_is_refused(shape, most):
    with pytest.raises(SceneError, match=most):
        Scene.from_dict({"body": [{"shape": [shape]}]})
