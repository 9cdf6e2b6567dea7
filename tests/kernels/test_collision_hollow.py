"""Claims about the walls of bowls and pipes: gaps against the point of a shape that lies farthest out."""

import numpy as np
import pytest
from collision_scenes import (
    Thing,
    bowl,
    box,
    build,
    capsule,
    cone,
    cylinder,
    ellipsoid,
    hull,
    pipe,
    rounded,
    rows_of,
    sphere,
    superellipsoid,
    torus,
)
from convex_pairs import SHAPES, WAYS, Placed, lengths, turns, vectors
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactlab.physics.collision import Detector
from contactlab.physics.core.state import empty_memory

ROOF = 0.3 * np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [0, -1, 1], [0, 1, 1]], float)
WITHIN = {
    "sphere": sphere(0.3), "box": box(0.3, 0.2, 0.25), "capsule": capsule(0.15, 0.3), "cylinder": cylinder(0.25, 0.3),
    "ellipsoid": ellipsoid(0.4, 0.25, 0.3), "hull": hull(ROOF), "rounded": rounded(0.5 * ROOF, 0.1),
    "cone": cone(0.3, 0.5), "superellipsoid": superellipsoid((0.4, 0.25, 0.3), (0.5, 1.3)), "torus": torus(0.1, 0.3),
}
FOUND = {name: shapes for name, shapes in SHAPES.items() if name != "plane"}
FOUND["torus"] = st.builds(lambda tube, ring: torus(tube * ring, ring), st.integers(1, 99).map(lambda k: k / 100),
                           lengths)


def farthest(shape, lying, centre, flat):
    """How far the farthest point of a shape is from a point, or from an axis along z where `flat`: the greatest
    u·(x - c) + h(u) of all unit vectors u, across the axis; looked for ever nearer to the best."""
    ways, most = WAYS, -np.inf
    for spread in 0.3 ** np.arange(2, 16):
        local = lying.inv().apply(ways) * [1.0, 1.0, 0.0 if flat else 1.0]
        ways = lying.apply(local / np.linalg.norm(local, axis=1, keepdims=True))
        out = ways @ (shape.x - centre) + shape.reach(ways)
        order = np.argsort(-out)[:8]
        most = max(most, float(out[order[0]]))
        ways = (ways[order][:, None] + spread * WAYS[None, :120]).reshape(-1, 3)
    return most


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("kind", ["bowl", "pipe"])
@given(data=st.data(), shift=vectors)
@settings(max_examples=25, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
def test_the_gap_to_a_closed_wall_is_what_the_farthest_point_leaves(kind, name, data, shift):
    """Of shapes of 1 mm to 1 m in a wall of 2 m, out through which some reach. Smooth ones by a hundred rounds of an
    iteration that is slow where they are nearly as round as the wall about their middle."""
    part, lying, turn = data.draw(FOUND[name]), data.draw(turns()), data.draw(turns())
    x = np.array([0.1, 0.2, -0.3])
    outer = Thing((bowl(2.0, -1.0) if kind == "bowl" else pipe(2.0, 9.0, -1.0),), tuple(x),
                  tuple(lying.as_quat(scalar_first=True)), moves=False)
    shape = Placed(part, x + 0.9 * np.array(shift), turn)
    model, bodies = build(outer, Thing((part,), tuple(shape.x), tuple(turn.as_quat(scalar_first=True))))
    gap, normal, point = Detector(model).gap(bodies, 0, 1)
    assert gap == pytest.approx(2.0 - farthest(shape, lying, x, kind == "pipe"),
                                abs=1e-6 if name.endswith("ellipsoid") else 1e-9)
    at = lying.inv().apply(point - x) * ([1, 1, 1] if kind == "bowl" else [1, 1, 0])
    assert np.linalg.norm(at) == pytest.approx(2.0 - 0.5 * gap, abs=1e-12)       # midway between wall and shape
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
