"""Claims about the triangles of meshes that collision detection keeps from call to call, and about those it leaves out.

Whatever is kept, the contacts are those of a detector that has seen nothing, bit for bit.
"""

import numpy as np
import pytest
from collision_scenes import Thing, box, build, capsule, cylinder, hull, mesh, rounded, rows_of, sphere
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from test_kept_pairs import CORNERS, FUZZ, NAMES, SLAB, walk
from test_over_triangles import ground

from contactlab.physics.collision import Detector
from contactlab.physics.core import team
from contactlab.physics.core.atomic import WORD

SHAPES = (hull(0.3 * CORNERS), hull(0.3 * SLAB), box(0.08, 0.06, 0.03), sphere(0.06), capsule(0.03, 0.06),
          cylinder(0.05, 0.03), rounded(0.2 * CORNERS, 0.02), box(0.2, 0.2, 0.01))


def on_ground(rng, count, rough, moves):
    """Bodies on a bumpy mesh, or in it; the last body is the mesh, which may move."""
    things = [Thing((SHAPES[k % len(SHAPES)],), (*rng.uniform(-0.4, 0.4, 2), rng.uniform(0.0, 0.08)))
              for k in range(count)]
    return build(*things, Thing((mesh(*ground(rng, rough)),), moves=moves))


@given(seed=st.integers(0, 10**6), rough=st.sampled_from([0.0, 2e-3, 0.03]), moves=st.booleans(),
       scale=st.sampled_from([1e-9, 1e-4, 3e-3, 0.05]))
@settings(max_examples=12, **FUZZ)
def test_contacts_with_a_mesh_are_those_of_a_detector_that_has_seen_nothing(seed, rough, moves, scale):
    """Bodies creep, or some of them leap; margins change; pairs are asked for alone in between; the mesh moves too."""
    rng = np.random.default_rng(seed)
    model, bodies = on_ground(rng, 10, rough, moves)
    used, found = Detector(model), 0
    for k in range(10):
        if k == 7:
            bodies.x[:3] += rng.uniform(-0.2, 0.2, (3, 3))
        walk(rng, bodies, 11 if moves else 10, scale, scale)
        if rng.random() < 0.2:
            used.gap(bodies, 0, 10)
        margin = np.full(11, rng.choice([1e-3, 0.01, 0.03]))
        last, fresh = rows_of(used.detect(bodies, margin)), rows_of(Detector(model).detect(bodies, margin))
        for name in NAMES:
            assert np.array_equal(getattr(last, name), getattr(fresh, name)), name
        found += len(last.gap)
    assert found > 0 or scale == 0.05


def test_triangles_out_of_reach_are_not_looked_at_again_by_bodies_that_creep():
    """What a search would read is spoilt, and so is all that is known of triangles that were out of reach."""
    rng = np.random.default_rng(5)
    model, bodies = on_ground(rng, 16, 2e-3, False)
    used, margin = Detector(model), np.full(17, 1e-3)
    used.detect(bodies, margin)
    kept, travel = used.close, used.geometry.travel
    here = [slice(first, first + count) for a, _, first, count in kept.pair if a >= 0]
    moved = [travel[a] + travel[m] for a, m, _, _ in kept.pair if a >= 0]
    reach = [used.geometry.swell[a] + 2e-3 for a, _, _, _ in kept.pair if a >= 0]
    away = np.concatenate([kept.triangle[rows][kept.least[rows] - was > far + 2e-3]
                           for rows, was, far in zip(here, moved, reach, strict=True)])
    near = np.concatenate([kept.triangle[rows][kept.least[rows] - was <= far + 2e-3]
                           for rows, was, far in zip(here, moved, reach, strict=True)])
    only = np.setdiff1d(away, near)
    assert len(only) > 5 and len(near) > 20
    used.sheets[only] = np.nan
    for _ in range(3):
        walk(rng, bodies, 16, 1e-5, 1e-5)
        fresh = rows_of(Detector(model).detect(bodies, margin))
        good, model.meshes.node_min[:] = model.meshes.node_min.copy(), np.nan
        last = rows_of(used.detect(bodies, margin))
        model.meshes.node_min[:] = good
        assert len(last.gap) > 10
        assert np.array_equal(last.gap, fresh.gap) and np.array_equal(last.key, fresh.key)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_pairs_that_are_shared_have_the_contacts_that_they_have_by_themselves(threads):
    """24 bodies on a mesh in four shares, and each with the mesh alone; what shares write to is spoilt before."""
    rng = np.random.default_rng(8)
    things = [Thing((SHAPES[k % len(SHAPES)],), (*rng.uniform(-0.4, 0.4, 2), rng.uniform(0.0, 0.08)))
              for k in range(24)]
    surface = Thing((mesh(*ground(rng, 2e-3)),), moves=False)
    model, bodies = build(*things, surface)
    together = Detector(model)
    for hand in together.hands[1:]:
        for array in (hand.geometry.x, hand.geometry.core[-1:], *hand.work):
            array.fill(np.nan if array.dtype == float else -9)
    team.set_threads(threads)
    team.gather()
    try:
        WORD[team.UNTIL] = 0
        found = rows_of(together.detect(bodies, np.full(25, 5e-3)))
    finally:
        team.set_threads(None)
    on_mesh = [np.flatnonzero((found.shape_a == a) & (found.shape_b == 24)) for a in range(24)]
    assert sum(len(rows) > 0 for rows in on_mesh) >= 12
    for thing, rows in zip(things, on_mesh, strict=True):
        pair, two = build(thing, surface)
        own = rows_of(Detector(pair).detect(two, np.full(2, 5e-3)))
        for name in ("point", "normal", "gap"):
            assert np.array_equal(getattr(own, name), getattr(found, name)[rows]), name


@given(seed=st.integers(0, 10**6), rough=st.sampled_from([1e-3, 0.01, 0.03]), lean=st.sampled_from([0.0, 1e-3, 0.05]))
@settings(max_examples=30, **FUZZ)
def test_a_box_touches_a_bumpy_mesh_as_the_hull_of_its_corners_does(seed, rough, lean):
    """Of a hull no triangle is left out for what the box of its core says. Faces of hulls are flat to 1e-6 of the size,
    so that no gap differs by more; contacts that are farther than what differs from the end of the margin are the same
    ones."""
    rng = np.random.default_rng(seed)
    half, at = rng.uniform(0.1, 0.4, 3), (*rng.uniform(-0.2, 0.2, 2), 0.0)
    q = tuple(Rotation.from_rotvec(lean * rng.normal(size=3)).as_quat(scalar_first=True))
    place = (at[0], at[1], half[2] + rng.uniform(-0.2, 1.0) * rough)
    ends = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    surface = ground(rng, rough)
    found = []
    for part in (box(*half), hull(ends)):
        model, bodies = build(Thing((part,), place, q), Thing((mesh(*surface),), moves=False))
        rows = rows_of(Detector(model).detect(bodies, np.full(2, 5e-3)))
        inner = np.flatnonzero(rows.gap < 1e-2 - 1e-5)
        found.append((rows.point[inner], rows.gap[inner]))
    (p, g), (r, h) = found
    assert len(g) == len(h)
    apart = np.linalg.norm(p[:, None] - r[None], axis=2) + np.abs(g[:, None] - h[None])
    assert len(g) == 0 or max(apart.min(axis=0).max(), apart.min(axis=1).max()) <= 4e-6 * np.linalg.norm(half)
