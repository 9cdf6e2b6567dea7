"""Claims about the walls of bowls and pipes: gaps against the point of a shape that lies farthest out."""

import numpy as np
import pytest
from collision_scenes import Thing, bowl, box, build, capsule, cylinder, ellipsoid, hull, pipe, rows_of, sphere
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactlab.physics.collision import Detector
from contactlab.physics.core.state import empty_memory

ROOF = 0.3 * np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [0, -1, 1], [0, 1, 1]], float)
WITHIN = {
    "sphere": sphere(0.3), "box": box(0.3, 0.2, 0.25), "capsule": capsule(0.15, 0.3), "cylinder": cylinder(0.25, 0.3),
    "ellipsoid": ellipsoid(0.4, 0.25, 0.3), "hull": hull(ROOF),
}
DIRECTIONS = np.random.default_rng(3).normal(size=(40000, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
vectors = st.tuples(*(st.integers(-1000, 1000).map(lambda k: k / 1000),) * 3)


def skin(name):
    """Points of a shape among which are all that can lie farthest out, or some as near as the sample is dense."""
    part, d = WITHIN[name], DIRECTIONS
    a, b, _ = part.size
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    if name == "box":
        return signs * part.size, 0.0
    if name == "hull":
        return part.points, 0.0
    if name == "sphere":
        return np.zeros((1, 3)), a
    if name == "capsule":
        return np.array([[0, 0, -b], [0, 0, b]]), a
    if name == "ellipsoid":
        return d * part.size, 0.0
    angle = np.linspace(0, 2 * np.pi, 20001)
    rings = [np.column_stack([a * np.cos(angle), a * np.sin(angle), z + 0 * angle]) for z in (-b, b)]
    return np.concatenate(rings), 0.0


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("kind", ["bowl", "pipe"])
@given(shift=vectors, turn=vectors)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_gap_to_a_closed_wall_is_what_the_farthest_point_leaves(kind, name, shift, turn):
    lying = Rotation.from_rotvec([0.4, -0.7, 0.2])
    outer = Thing((bowl(1.0, -1.0) if kind == "bowl" else pipe(1.0, 9.0, -1.0),), (0.1, 0.2, -0.3),
                  tuple(lying.as_quat(scalar_first=True)), moves=False)
    R = Rotation.from_rotvec(3.0 * np.array(turn))
    x = outer.x + 0.5 * np.array(shift)
    model, bodies = build(outer, Thing((WITHIN[name],), tuple(x), tuple(R.as_quat(scalar_first=True))))
    gap, normal, point = Detector(model).gap(bodies, 0, 1)
    points, radius = skin(name)
    local = lying.inv().apply(x + R.apply(points) - outer.x) * ([1, 1, 1] if kind == "bowl" else [1, 1, 0])
    expected = 1.0 - np.linalg.norm(local, axis=1).max() - radius
    assert expected - 1e-3 < gap < expected + 1e-12  # the samples are 0.01 apart at most, and lie within the shape
    if name in ("sphere", "box", "capsule", "hull"):
        assert gap == pytest.approx(expected, abs=1e-12)
    at = lying.inv().apply(point - outer.x) * ([1, 1, 1] if kind == "bowl" else [1, 1, 0])
    assert np.linalg.norm(at) == pytest.approx(1.0 - 0.5 * gap, abs=1e-12)       # midway between wall and shape
    assert np.abs(lying.apply(at / np.linalg.norm(at)) + normal).max() < 1e-12  # from the wall inwards


@pytest.mark.parametrize(("outer", "at", "touches"), [
    (bowl(1.0, 0.0), (0.0, 0.0, -0.8), True), (bowl(1.0, 0.0), (0.8, 0.0, -0.01), True),
    (bowl(1.0, 0.0), (0.8, 0.0, 0.01), False), (bowl(1.0, 0.0), (0.0, 0.0, -1.1), False),
    (bowl(1.0, 0.5), (0.0, 0.0, -0.8), True), (bowl(1.0, 0.5), (0.8, 0.0, -0.01), False),
    (pipe(1.0, 2.0, 0.0), (0.0, -0.8, 1.99), True), (pipe(1.0, 2.0, 0.0), (0.0, -0.8, 2.01), False),
    (pipe(1.0, 2.0, 0.0), (0.8, 0.01, 0.0), False), (pipe(1.0, 2.0, -1.0), (0.0, 0.8, 0.0), True),
    (pipe(1.0, 2.0, -1.0), (0.0, 1.1, 0.0), False),
])
def test_a_wall_touches_from_within_and_where_it_stands(outer, at, touches):
    model, bodies = build(Thing((outer,), moves=False), Thing((sphere(0.2),), at))
    found = rows_of(Detector(model).detect(bodies, np.full(2, 1e-3)))
    assert len(found.gap) == touches


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("outer", [bowl(3.0, -1.0), pipe(3.0, 9.0, -1.0)], ids=["bowl", "pipe"])
def test_nothing_fast_leaves_through_the_wall(name, outer):
    model, bodies = build(Thing((outer,), moves=False), Thing((WITHIN[name],), (0.2, 0.1, 0.3)))
    bodies.v[1] = [600.0, 5.0, 20.0]
    bodies.w[1] = [3.0, 40.0, 20.0]
    detector, h = Detector(model), 1 / 60
    t = detector.time_of_impact(bodies, empty_memory(), h)[1] * h
    assert 0.0 < t < h
    bodies.x[1] += t * bodies.v[1]
    bodies.q[1] = Rotation.from_rotvec(t * bodies.w[1]).as_quat(scalar_first=True)
    gap = detector.gap(bodies, 0, 1)[0]
    assert 0.0 <= gap < 1e-6
