"""Claims about pairs of polytopes that come back: their contacts are right, and no memory of earlier calls is in them.

Solids pass slowly through each other, as bodies do from step to step: round and sharp hulls, boxes, plates and needles
a thousand times longer than thick, skew or with their faces aligned, shallow and deep.
"""

import numpy as np
import pytest
from collision_scenes import Thing, box, build, hull, rows_of
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from contactlab.physics.collision import Detector

FUZZ = {"deadline": None, "derandomize": True, "phases": [Phase.explicit, Phase.generate]}
CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
ROUND = np.random.default_rng(5).normal(size=(20, 3))
ROUND *= [0.5, 0.4, 0.3] / np.linalg.norm(ROUND, axis=1, keepdims=True)
SHARP = np.array([[0, 0, 0.6], [0.4, 0, -0.2], [-0.2, 0.35, -0.2], [-0.2, -0.35, -0.2]])
PRISM = np.array([[0.4 * np.cos(t), 0.4 * np.sin(t), z] for t in np.arange(6) * np.pi / 3 for z in (-0.2, 0.2)])
SOLIDS = {
    "cube": hull(CUBE), "box": box(0.5, 0.3, 0.2), "round": hull(ROUND), "sharp": hull(SHARP), "prism": hull(PRISM),
    "plate": hull(CUBE * [1.0, 1.0, 1e-3]), "needle": hull(CUBE * [1.0, 1e-3, 1e-3]),
}
NAMES = list(SOLIDS)
CORNERS = {name: part.points if part.points is not None else 2.0 * CUBE * part.size for name, part in SOLIDS.items()}

parts = st.integers(-1000, 1000).map(lambda k: k / 1000)
vectors = st.tuples(parts, parts, parts).map(np.array)
aligned = st.sampled_from([np.array(v) * np.pi / 2 for v in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0.5))])
turns = st.one_of(vectors.map(lambda v: 3.0 * v), aligned)
drifts = st.sampled_from([1e-12, 1e-7, 1e-4, 1e-2]).flatmap(lambda s: vectors.map(lambda v: s * v))
paths = st.fixed_dictionaries({
    "direction": st.one_of(vectors, st.sampled_from(list(np.eye(3)))), "first": parts.map(lambda k: 0.2 + abs(k)),
    "speed": st.sampled_from([0.0, 1e-7, 1e-4, 0.02]), "turn_a": turns, "turn_b": turns, "spin": drifts})


def poses(path, steps):
    """Positions and orientations of two bodies, the second of which comes nearer and turns slowly."""
    for k in range(steps):
        x = np.array([[0.0, 0.0, 0.0], (path["first"] - k * path["speed"]) * path["direction"]])
        R = [Rotation.from_rotvec(path["turn_a"]), Rotation.from_rotvec(k * path["spin"])
             * Rotation.from_rotvec(path["turn_b"])]
        yield x, R


def stand(bodies, x, R):
    bodies.x[:] = x
    bodies.q[:] = [r.as_quat(scalar_first=True) for r in R]


@pytest.mark.parametrize("name_a", NAMES)
@given(name_b=st.sampled_from(NAMES), path=paths)
@settings(max_examples=25, **FUZZ)
def test_no_memory_changes_a_bit_of_a_contact(name_a, name_b, path):
    model, bodies = build(Thing((SOLIDS[name_a],)), Thing((SOLIDS[name_b],)))
    used, margin = Detector(model), np.full(2, 0.01)
    for x, R in poses(path, 12):
        stand(bodies, x, R)
        last, fresh = rows_of(used.detect(bodies, margin)), rows_of(Detector(model).detect(bodies, margin))
        for name in ("key", "point", "normal", "gap"):
            assert np.array_equal(getattr(last, name), getattr(fresh, name)), name


@pytest.mark.parametrize("lower", ["cube", "prism"])
def test_solids_that_come_to_lie_flat_do_not_remember_how_they_leant(lower):
    """Face on face, several features give one normal, but for rounding errors in axes that are not the world's."""
    rng = np.random.default_rng(8)
    model, bodies = build(Thing((SOLIDS[lower],)), Thing((SOLIDS["cube"],)))
    used, margin = Detector(model), np.full(2, 0.01)
    for _ in range(300):
        height = CORNERS[lower][:, 2].max() + 0.5 + rng.choice([1e-3, 0.0, -1e-4, -0.01])
        world, flat = Rotation.random(random_state=rng), Rotation.from_rotvec([0.0, 0.0, rng.choice([0.3, 0.8, 2.0])])
        x = world.apply([[0.0, 0.0, 0.0], [*rng.choice([-0.4, -0.3, 0.1, 0.3], 2), height]])
        for tilt in [*rng.choice([-0.02, 0.0, 0.02], (2, 3)), np.zeros(3)]:
            stand(bodies, x, [world, world * Rotation.from_rotvec(tilt) * flat])
            last = rows_of(used.detect(bodies, margin))
        fresh = rows_of(Detector(model).detect(bodies, margin))
        assert len(fresh.gap) > 0
        for name in ("key", "point", "normal", "gap"):
            assert np.array_equal(getattr(last, name), getattr(fresh, name)), name


def least_overlap(difference):
    """Depth of the origin in the hull of a - b: the distance to its nearest facet, negative outside."""
    return -ConvexHull(difference, qhull_options="QJ Pp").equations[:, 3].max()


@pytest.mark.parametrize("name_a", ["round", "sharp", "prism", "cube", "box"])
@given(name_b=st.sampled_from(["round", "sharp", "prism", "cube", "box"]), path=paths)
@settings(max_examples=25, **FUZZ)
def test_gap_and_normal_prove_themselves_while_solids_pass_through_each_other(name_a, name_b, path):
    """The gap is the separation along the normal, which no distance is less than and no overlap greater. Apart, the
    nearest points lie in both solids. Overlapping, the least overlap is a facet's of the hull of all differences."""
    model, bodies = build(Thing((SOLIDS[name_a],)), Thing((SOLIDS[name_b],)))
    used = Detector(model)
    for x, R in poses(path, 8):
        stand(bodies, x, R)
        gap, n, point = used.gap(bodies, 0, 1)
        a, b = (x[i] + R[i].apply(CORNERS[name]) for i, name in enumerate((name_a, name_b)))
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
        assert (b @ n).min() - (a @ n).max() == pytest.approx(gap, abs=2e-6)  # faces are flat to 1e-6
        if gap > 1e-5:
            for corners, end in ((a, point - 0.5 * gap * n), (b, point + 0.5 * gap * n)):
                planes = ConvexHull(corners).equations
                assert (planes[:, :3] @ end + planes[:, 3]).max() <= 2e-6
        elif gap < -1e-5:
            assert -gap <= least_overlap((a[:, None] - b[None]).reshape(-1, 3)) + 2e-6
