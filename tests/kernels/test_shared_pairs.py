"""Claims about pairs that threads share: they have the contacts, and the times of touch, that they have by themselves,
bit for bit, whoever finds them and in whatever order. What threads write to is spoilt before."""

import numpy as np
import pytest
from collision_scenes import Thing, box, build, hull, plane, rows_of
from test_kept_pairs import NAMES, SHAPES, crowd, walk

from contactlab.physics.collision import Detector
from contactlab.physics.collision.geometry import PLANE
from contactlab.physics.collision.kept_pairs import MANY_KEPT
from contactlab.physics.collision.narrow_phase import BOXES, CONVEX
from contactlab.physics.collision.shared_pairs import MANY_CONVEX, MANY_PAIRS
from contactlab.physics.core import team
from contactlab.physics.core.atomic import WORD
from contactlab.physics.core.state import empty_memory

H = 1.0 / 60.0


@pytest.fixture(params=[1, 2, 4])
def helped(request):
    """So many threads, none of which is taken for one whose core is lost."""
    team.set_threads(request.param)
    team.gather()
    WORD[team.UNTIL] = 0
    yield request.param
    team.set_threads(None)


def spoilt(model):
    """A detector whose hands, but for the first ones, hold nothing that means anything."""
    detector = Detector(model)
    for hands in (detector.hands, detector.ways.hands):
        for hand in hands[1:]:
            for array in (hand.geometry.x, hand.geometry.core[-1:], *hand.work[:-1], hand.soups.waiting):
                array.fill(np.nan if array.dtype == float else -9)
    return detector


@pytest.mark.parametrize("several", [1, 3])
def test_contacts_of_convex_shapes_do_not_depend_on_who_finds_them(several, helped):
    model, bodies = crowd(np.random.default_rng(several), 60, several)
    margin, used = np.full(len(model.kind), 0.02), spoilt(model)
    for _ in range(2):  # what is noted of the pairs is tried the second time
        shared = rows_of(used.detect(bodies, margin))
    assert used.counts[CONVEX] >= MANY_CONVEX and len(shared.gap) > 100
    count = 0
    for i in range(len(model.kind)):
        alone = Detector(model)
        alone.roles[:] = 0
        alone.roles[i] = used.roles[i]
        rows, its = rows_of(alone.detect(bodies, margin)), (shared.body_a == i) | (shared.body_b == i)
        if used.roles[i]:
            count += len(rows.gap)
            for name in NAMES:
                assert np.array_equal(getattr(rows, name), getattr(shared, name)[its]), (i, name)
    assert count > len(shared.gap)


def test_boxes_of_bodies_that_have_several_are_shared(helped):
    """Two layers of slabs, each of three boxes side by side: where slabs lie on each other, boxes of one body touch the
    same box at the seam between them, and one of the two contacts there is kept."""
    side = 14
    parts = tuple(box(0.1, 0.3, 0.05)._replace(position=(0.2 * k, 0.0, 0.0)) for k in (-1, 0, 1))
    slabs = [Thing(parts, (0.6 * i + 0.15 * layer, 0.6 * j, 0.05 + 0.0999 * layer)) for layer in (0, 1)
             for i in range(side) for j in range(side)]
    model, bodies = build(*slabs, Thing((plane(),), moves=False))
    margin, used = np.full(len(model.kind), 1e-3), spoilt(model)
    shared = rows_of(used.detect(bodies, margin))
    assert used.counts[BOXES] >= MANY_PAIRS
    team.set_threads(1)
    alone = rows_of(Detector(model).detect(bodies, margin))
    for name in NAMES:
        assert np.array_equal(getattr(alone, name), getattr(shared, name)), name


def test_of_many_pairs_kept_those_are_chosen_in_order_whose_bounds_overlap(helped):
    rng = np.random.default_rng(7)
    model, bodies = crowd(rng, 200, 3)
    margin, used = np.full(len(model.kind), 1e-3), spoilt(model)
    for _ in range(2):
        used.detect(bodies, margin)
        walk(rng, bodies, 200, 1e-3, 1e-2)
    kept, geom = used.kept, used.geometry
    pairs = kept.pairs[: kept.count[0]]
    a, b = pairs.T
    meet = ((geom.lo[a] <= geom.hi[b]) & (geom.lo[b] <= geom.hi[a])).all(axis=1)
    bounded = (geom.kind[pairs] != PLANE).all(axis=1)
    chosen, notes = used.sweep.pairs[: used.pair_count], kept.note[: used.pair_count]
    found = (geom.kind[chosen] != PLANE).all(axis=1)
    assert kept.count[0] >= MANY_KEPT and 0 < np.count_nonzero(meet & bounded) < np.count_nonzero(bounded)
    assert np.array_equal(chosen[found], pairs[meet & bounded])
    assert np.array_equal(notes[found], kept.row[: kept.count[0]][meet & bounded])


def test_fast_pairs_touch_when_they_do_by_themselves(helped):
    """The part of the step before the first touch is the least of all pairs', each of which flies alone."""
    rng = np.random.default_rng(5)
    things = [Thing((SHAPES[k % len(SHAPES)],), tuple(1.2 * np.array([k % 4, k // 4 % 4, k // 16]) - 1.8))
              for k in range(48)]
    wall = Thing((hull(np.array([[x, y, z] for x in (2.4, 2.5) for y in (-3, 3) for z in (-3, 3)])),), moves=False)
    model, bodies = build(*things, wall)
    bodies.v[:48], bodies.w[:48] = 60.0 * rng.normal(size=(48, 3)), 20.0 * rng.normal(size=(48, 3))
    part = spoilt(model).time_of_impact(bodies, empty_memory(), H)
    expected = np.ones(49)
    for i in range(49):
        for j in range(i + 1, 49):
            if np.linalg.norm(bodies.x[i] - bodies.x[j]) < 8.0:
                pair, two = build(*(([*things, wall])[k] for k in (i, j)))
                for array, own in ((two.v, bodies.v), (two.w, bodies.w)):
                    array[:] = own[[i, j]]
                found = Detector(pair).time_of_impact(two, empty_memory(), H)
                expected[[i, j]] = np.minimum(expected[[i, j]], found)
    assert 10 < np.count_nonzero(part < 1.0) < 49
    assert np.array_equal(part, expected)
