"""Claims about distances of surface elements: of those within their own region the least is that of the shapes."""

import numpy as np
import pytest
from scipy.optimize import minimize

from contactlab.physics.collision.exact.elements import PAIR_KINDS, surface_of
from contactlab.physics.collision.exact.gaps import empty_witness, find_witnesses
from contactlab.physics.collision.exact.near import PLACE, find_near, trees_of
from contactlab.physics.scene.scene import Scene
from contactlab.physics.shapes.elements import EDGE, FACE
from contactlab.physics.shapes.shapes import quat_to_matrix
from contactlab.physics.simulation.simulation import Simulation

SHAPES = {
    "sphere": {"radius": 0.3}, "capsule": {"radius": 0.2, "height": 0.7}, "box": {"size": [0.5, 0.8, 0.3]},
    "cylinder": {"radius": 0.3, "height": 0.5}, "ellipsoid": {"size": [0.5, 0.9, 0.7]},
    "rounded": {"size": [0.5, 0.8, 0.3], "rounding": 0.1},
}
FAR = 10.0


def two(a, b, turns, place):
    """A model of two bodies and its state, the second at `place`."""
    bodies = [{"name": name, "position": list(where), "orientation": turn.tolist(),
               "shape": [{"type": "box" if kind == "rounded" else kind, **size}]}
              for name, (kind, size), turn, where in zip("ab", (a, b), turns, ((0.0, 0.0, 0.0), place), strict=True)]
    scene = {"scene": {"title": "two"}, "body": bodies}
    return Simulation(Scene.from_dict(scene), method="time_stepping")


def nearest_elements(sim):
    """Gaps of the pairs of elements that are within their own region and face each other."""
    surface, bodies = surface_of(sim.model), sim.state.bodies
    pairs, witness = np.zeros(4000, np.int64), empty_witness(4000)
    place = np.zeros((len(surface.kind), PLACE))
    reach = np.full(len(surface.meets), 2.0 * FAR)
    count = find_near(surface, trees_of(surface), bodies, reach, 1e-3, 1e-9, place, pairs, witness)
    good = (witness.margin[:count] >= -1e-9) & (witness.facing[:count] >= -1e-6)
    return witness.gap[:count][good]


def bounds_of(kind, size):
    """Half extents of the core in its own axes, how far it is swollen, and a number >= 0 within its round sides."""
    half, radius = 0.5 * size.get("height", 0.0), size.get("radius", 0.0)
    if kind == "sphere":
        return (0.0, 0.0, 0.0), radius, None
    if kind == "capsule":
        return (0.0, 0.0, half), radius, None
    if kind == "cylinder":
        return (radius, radius, half), 0.0, lambda p: radius**2 - p[0] ** 2 - p[1] ** 2
    swell = size.get("rounding", 0.0)
    box = tuple(0.5 * np.array(size["size"]) - swell)
    return box, swell, (lambda p: 1.0 - ((p / box) ** 2).sum()) if kind == "ellipsoid" else None


def distance(sim, a, b):
    """Distance of two convex shapes by sequential quadratic programming over a point of each, and these points, in body
    axes."""
    (half_a, r_a, round_a), (half_b, r_b, round_b) = bounds_of(*a), bounds_of(*b)
    (x_a, x_b), (R_a, R_b) = sim.state.bodies.x, (quat_to_matrix(q) for q in sim.state.bodies.q)
    limits = [(-h, h) for h in half_a + half_b]
    rules = [{"type": "ineq", "fun": lambda p, g=g, i=i: g(p[i : i + 3])}
             for g, i in ((round_a, 0), (round_b, 3)) if g is not None]

    def apart(p):
        return x_b + R_b @ p[3:] - x_a - R_a @ p[:3]

    def slope(p):
        return 2.0 * np.concatenate([-R_a.T @ apart(p), R_b.T @ apart(p)])

    best = minimize(lambda p: apart(p) @ apart(p), np.zeros(6), jac=slope, bounds=limits, constraints=rules,
                    method="SLSQP", options={"ftol": 1e-16, "maxiter": 500})
    return np.sqrt(best.fun) - r_a - r_b, best.x[:3], best.x[3:]


def sharp(kind, size, point):
    """Whether a point of a shape lies on a corner of a box, on a rim of a cylinder."""
    half = bounds_of(kind, size)[0]
    if kind == "box":
        return bool((np.abs(point) > np.array(half) - 1e-4).all())
    return kind == "cylinder" and abs(point[2]) > half[2] - 1e-4 and np.hypot(point[0], point[1]) > half[0] - 1e-4


@pytest.mark.parametrize(("a", "b"), [
    ("cylinder", "sphere"), ("cylinder", "capsule"), ("cylinder", "box"), ("cylinder", "cylinder"),
    ("cylinder", "ellipsoid"), ("box", "capsule"), ("box", "ellipsoid"), ("capsule", "ellipsoid"),
    ("rounded", "sphere"), ("rounded", "capsule"), ("rounded", "box"), ("rounded", "cylinder"), ("rounded", "rounded"),
    ("rounded", "ellipsoid"),
])
def test_the_least_gap_of_the_elements_is_the_distance_of_the_shapes(a, b):
    rng, compared = np.random.default_rng(7), 0
    for _ in range(12):
        turns = rng.standard_normal((2, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        away = rng.standard_normal(3)
        place = (1.2 + rng.random()) * away / np.linalg.norm(away)
        one, other = (a, SHAPES[a]), (b, SHAPES[b])
        sim = two(one, other, turns, place)
        wanted, point_a, point_b = distance(sim, one, other)
        least = nearest_elements(sim).min(initial=np.inf)
        assert least > wanted - 1e-6
        if "box" in (a, b) and sharp(*one, point_a) and sharp(*other, point_b):
            continue  # a corner and a rim, both sharp, never touch first
        compared += 1
        assert least < wanted + 1e-6
    assert compared >= 6


@pytest.mark.parametrize("seed", range(6))
def test_elements_near_the_box_of_the_other_shape_are_all_that_are_near(seed):
    """Of all pairs of elements of two hulls, a box and a floor, none is missed that is within its own region and `near`
    each other. Where an element was not placed, poison would show."""
    rng, near = np.random.default_rng(seed), 0.02
    turns = rng.standard_normal((3, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    hulls = [{"type": "hull", "points": rng.normal(size=(40, 3)).round(3).tolist()} for _ in range(2)]
    shapes = [*hulls, {"type": "box", "size": [1.0, 2.0, 0.5]}]
    bodies = [{"name": f"body {i}", "position": (1.1 * rng.normal(size=3)).tolist(), "orientation": turn.tolist(),
               "shape": [{**shape, "position": [0.3, 0.0, -0.2], "euler": [20.0, 0.0, 50.0]}]}
              for i, (shape, turn) in enumerate(zip(shapes, turns, strict=True))]
    bodies.append({"name": "floor", "fixed": True, "shape": [{"type": "plane", "position": [0.0, 0.0, -0.5]}]})
    sim = Simulation(Scene.from_dict({"scene": {"title": "near"}, "body": bodies}), method="time_stepping")
    surface, state = surface_of(sim.model), sim.state.bodies
    kind, body = surface.kind, surface.body
    e, f = np.nonzero((PAIR_KINDS[kind[:, None], kind] >= 0) & (body[:, None] != body)
                      & ((kind[:, None] != kind) | (body[:, None] < body)))
    every = e * len(surface.kind) + f
    all_of_them, found, pairs = empty_witness(len(every)), empty_witness(len(every)), np.zeros(len(every), np.int64)
    find_witnesses(surface, state, every, len(every), all_of_them)
    gap, margin = all_of_them.gap, all_of_them.margin
    thick = (kind[e] == EDGE) | (kind[f] == FACE)  # a sharp corner meets neither corners nor edges
    place = np.full((len(kind), PLACE), np.nan)
    reach = np.full(len(surface.meets), near)
    count = find_near(surface, trees_of(surface), state, reach, near, 0.0, place, pairs, found)
    wanted = set(every[thick & (np.abs(gap) <= near) & (margin >= 0.0)].tolist())
    assert wanted
    assert wanted <= set(pairs[:count].tolist())


def flying(v, w):
    """Two boxes beside each other after a step without gravity, and how far from each other elements were looked at."""
    bodies = [{"name": name, "position": [x, 0.0, 0.0], "velocity": list(v[i]), "angular_velocity": list(w[i]),
               "shape": [{"type": "box", "size": size}]}
              for i, (name, x, size) in enumerate((("a", 0.0, [0.2, 0.3, 0.4]), ("b", 0.25, [0.2, 0.1, 0.2])))]
    sim = Simulation(Scene.from_dict({"scene": {"title": "flying", "gravity": [0.0, 0.0, 0.0]}, "body": bodies}),
                     method="event_driven", h=1 / 240)
    before = sim.state.bodies.x.copy(), sim.state.bodies.q.copy()
    sim.step()
    return before, sim, float(sim._method.work.search.piece.search.reach[0])


def test_bodies_that_fly_together_are_looked_at_as_near_as_they_stay_to_each_other():
    """As one rigid body: nothing comes nearer to anything but by rounding, while each for itself flies 13 cm."""
    w, v = np.array([3.0, -2.0, 5.0]), np.array([30.0, 5.0, -9.0])
    _, _, reach = flying((v, v + np.cross(w, [0.25, 0.0, 0.0])), (w, w))
    assert 0.0 < reach < 1e-2 * np.linalg.norm(v) / 240


@pytest.mark.parametrize("seed", range(8))
def test_no_corner_of_a_body_that_moves_comes_farther_than_it_is_looked_for(seed):
    """Both bodies spin, and fly away from each other; the corners of b move in the frame of a."""
    rng = np.random.default_rng(seed)
    v, w = 4.0 * rng.normal(size=(2, 3)) + [[-12.0, 0.0, 0.0], [12.0, 0.0, 0.0]], 15.0 * rng.normal(size=(2, 3))
    (x, q), sim, reach = flying(v, w)
    corners = np.array([[i, j, k] for i in (-0.1, 0.1) for j in (-0.05, 0.05) for k in (-0.1, 0.1)])

    def seen(x, q):
        return (x[1] + corners @ quat_to_matrix(q[1]).T - x[0]) @ quat_to_matrix(q[0])

    came = np.linalg.norm(seen(*sim.state.bodies[:2]) - seen(x, q), axis=1).max()
    assert came <= reach <= 2.0 * came + 0.1
