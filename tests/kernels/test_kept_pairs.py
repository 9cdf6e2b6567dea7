"""Claims about what collision detection keeps from call to call: pairs under a skin, and how far they were apart.

Whatever is kept, the pairs and contacts are those of a detector that has seen nothing, bit for bit.
"""

import numpy as np
import pytest
from collision_scenes import Part, Thing, box, build, capsule, cylinder, hull, plane, rounded, rows_of, sphere
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactlab.physics.collision import Detector
from contactlab.physics.collision.broad_phase import EITHER, PUSHED
from contactlab.physics.collision.geometry import place_shapes
from contactlab.physics.core.model import ShapeKind
from contactlab.physics.core.state import empty_memory

FUZZ = {"deadline": None, "derandomize": True, "phases": [Phase.explicit, Phase.generate]}
CORNERS = np.random.default_rng(3).normal(size=(14, 3)) * [0.3, 0.2, 0.2]
SLAB = np.array([[x, y, z] for x in (-0.4, 0.4) for y in (-0.3, 0.3) for z in (-0.03, 0.03)])
SHAPES = (hull(CORNERS), hull(SLAB), box(0.2, 0.15, 0.1), sphere(0.2), capsule(0.1, 0.2), cylinder(0.15, 0.1),
          rounded(0.7 * CORNERS, 0.05), Part(ShapeKind.CONE, (0.2, 0.3, 0.0)))
NAMES = ("body_a", "body_b", "shape_a", "shape_b", "key", "point", "normal", "gap")


def crowd(rng, count, several):
    """Bodies of one shape or of several in a heap, a wall and the ground."""
    things = []
    for _ in range(count):
        parts = [SHAPES[k]._replace(position=tuple(rng.uniform(-0.2, 0.2, 3) * (several > 1)))
                 for k in rng.integers(0, len(SHAPES), several)]
        things.append(Thing(tuple(parts), tuple(rng.uniform(-1.0, 1.0, 3))))
    return build(*things, Thing((box(0.5, 4.0, 4.0),), (1.6, 0.0, 0.0), moves=False),
                 Thing((plane(),), (0.0, 0.0, -1.0), moves=False))


def walk(rng, bodies, moving, step, turn):
    """A random step of the first bodies, and a random turn."""
    bodies.x[:moving] += step * rng.normal(size=(moving, 3))
    old = Rotation.from_quat(bodies.q[:moving], scalar_first=True)
    bodies.q[:moving] = (Rotation.from_rotvec(turn * rng.normal(size=(moving, 3))) * old).as_quat(scalar_first=True)


@given(seed=st.integers(0, 10**6), count=st.sampled_from([6, 40]), several=st.sampled_from([1, 3]),
       scale=st.sampled_from([1e-9, 1e-4, 5e-3, 0.05]))
@settings(max_examples=16, **FUZZ)
def test_pairs_and_contacts_are_those_of_a_detector_that_has_seen_nothing(seed, count, several, scale):
    """Bodies creep, or some of them leap; some fall asleep; margins change; pairs are asked for alone in between. So is
    how far fast bodies get, before and after their contacts are found."""
    rng = np.random.default_rng(seed)
    model, bodies = crowd(rng, count, several)
    used = Detector(model)
    for k in range(12):
        if k == 8:
            bodies.x[: count // 3] = rng.uniform(-1.0, 1.0, (count // 3, 3))
        walk(rng, bodies, count, scale, scale)
        if rng.random() < 0.2:
            used.gap(bodies, 0, 1)
        roles = np.where(rng.random(len(model.kind)) < 0.2 * (k in (5, 6)), PUSHED, used.roles)
        margin, fresh = np.full(len(model.kind), rng.choice([1e-3, 0.02, 0.1])), Detector(model)
        used.roles[:count] = fresh.roles[:count] = np.where(roles[:count] == PUSHED, PUSHED, EITHER)
        for speed in rng.choice([0.0, 3.0, 30.0], 2):
            bodies.v[:count], bodies.w[:count] = speed * rng.normal(size=(2, count, 3))
            other = Detector(model)
            other.roles[:] = used.roles
            assert np.array_equal(*(d.time_of_impact(bodies, empty_memory(), 1 / 240) for d in (used, other)))
        last, first = rows_of(used.detect(bodies, margin)), rows_of(fresh.detect(bodies, margin))
        pairs = [d.sweep.pairs[: d.pair_count] for d in (used, fresh)]
        assert np.array_equal(*pairs)
        for name in NAMES:
            assert np.array_equal(getattr(last, name), getattr(first, name)), name
        used.roles[:count] = EITHER


def test_bodies_that_creep_are_not_searched_again_and_pairs_apart_are_left_alone():
    """What a search would read is spoilt: the order of the shapes. And so are the axes that are noted of pairs apart,
    which nobody reads as long as the pairs have not travelled far enough."""
    rng = np.random.default_rng(4)
    model, bodies = crowd(rng, 40, 1)
    used, margin = Detector(model), np.full(42, 1e-3)
    for _ in range(2):  # a pair that is found apart by a search is measured along its axis the next time
        used.detect(bodies, margin)
    bounds = used.kept.bounds.copy()
    apart = used.near.work.notes[:, 9] - used.geometry.travel[used.near.work.notes[:, 0].astype(int)] \
        - used.geometry.travel[used.near.work.notes[:, 1].astype(int)] > 2e-3 + 1e-2
    assert apart.sum() > 10
    used.near.work.notes[apart, 5:9] = np.nan
    for _ in range(3):
        walk(rng, bodies, 40, 1e-5, 1e-5)
        last, fresh = rows_of(used.detect(bodies, margin)), rows_of(Detector(model).detect(bodies, margin))
        assert np.array_equal(used.kept.bounds, bounds)
        assert np.array_equal(last.gap, fresh.gap) and np.array_equal(last.key, fresh.key)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0])
def test_no_point_of_a_shape_has_gone_farther_than_its_travel(scale):
    """Between any two poses the way of each corner is at most the difference of the travels, but for the rounding of
    positions of some metres; and it is not bounded by more than |Δx| + 2 sin θ/2 |p| of each step, summed."""
    rng = np.random.default_rng(2)
    model, bodies = build(Thing((hull(CORNERS)._replace(position=(0.3, 0.0, 0.1)),)), Thing((box(0.1, 0.2, 0.3),)))
    geom = Detector(model).geometry
    corners = [model.hulls.vertices, np.array([[x, y, z] for x in (-.1, .1) for y in (-.2, .2) for z in (-.3, .3)])]
    seen, travelled, most = [], [], np.zeros(2)
    for k in range(20):
        last = geom.x.copy(), geom.R.copy()
        walk(rng, bodies, 2, scale, scale)
        place_shapes(model.shapes, bodies.x, bodies.q, geom)
        seen.append([geom.x[s] + corners[s] @ geom.R[s].T for s in range(2)])
        travelled.append(geom.travel[:2].copy())
        for s in range(2 if k else 0):
            turned = np.linalg.norm(geom.R[s] - last[1][s], 2)
            most[s] += np.linalg.norm(geom.x[s] - last[0][s]) + turned * geom.bound[s]
    rounding = 100 * np.finfo(float).eps
    for i in range(20):
        for j in range(i, 20):
            for s in range(2):
                way = np.linalg.norm(seen[j][s] - seen[i][s], axis=1).max()
                assert way <= travelled[j][s] - travelled[i][s] + rounding * (1.0 + np.abs(seen[j][s]).max())
    assert travelled[-1] - travelled[0] == pytest.approx(most, rel=1e-6, abs=rounding)
