"""Claims about contact points: how many, where, along which normal, under which name; and what moves may not change."""

import numpy as np
import pytest
from collision_scenes import Part, Thing, box, build, capsule, cylinder, hull, mesh, plane, rows_of, sphere
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from contactlab.physics.collision import Detector, shape_gap
from contactlab.physics.core.state import empty_memory

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FLOOR = box(5.0, 5.0, 0.5)
STANDING = (1.0, 0.0, 0.0, 0.0)
LYING = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
FUZZ = {"deadline": None, "derandomize": True, "phases": [Phase.explicit, Phase.generate]}
WOOD = {"box": box(0.5, 0.5, 0.5), "hull": hull(CUBE)}


def detect(*things, margin=0.0):
    model, bodies = build(*things)
    return rows_of(Detector(model).detect(bodies, np.full(len(things), margin)))


def on_floor(part, height, q=STANDING, xy=(0.0, 0.0), floor=FLOOR, margin=0.0):
    """Contacts of a body over a floor whose top is at z = 0."""
    ground = Thing((floor,), (0.0, 0.0, 0.0 if floor.kind == 4 or floor.points is not None else -0.5), moves=False)
    return detect(ground, Thing((part,), (*xy, height), tuple(q)), margin=margin)


def square(count):
    """A flat floor of count x count squares of two triangles each, facing up, 1 m wide."""
    ticks = np.linspace(-0.5, 0.5, count + 1)
    vertices = np.array([[x, y, 0.0] for y in ticks for x in ticks])
    rows = []
    for j in range(count):
        for i in range(count):
            a = j * (count + 1) + i
            rows += [[a, a + 1, a + count + 2], [a, a + count + 2, a + count + 1]]
    return vertices, rows


# ------------------------------------------------------------------------------------------------------- at rest


@pytest.mark.parametrize("floor", [FLOOR, plane(), mesh(*square(1))], ids=["box", "plane", "mesh"])
@pytest.mark.parametrize(("part", "q", "half", "count"), [
    (sphere(0.2), STANDING, 0.2, 1),
    (box(0.2, 0.15, 0.1), STANDING, 0.1, 4),
    (hull(0.3 * CUBE), STANDING, 0.15, 4),
    (capsule(0.1, 0.2), STANDING, 0.3, 1),
    (capsule(0.1, 0.2), LYING, 0.1, 2),
    (cylinder(0.1, 0.2), LYING, 0.1, 2),
], ids=["sphere", "box", "hull", "standing capsule", "lying capsule", "lying cylinder"])
def test_every_shape_rests_on_as_many_points_as_it_touches(part, q, half, count, floor):
    c = on_floor(part, half - 1e-4, q, (0.06, 0.03), floor)
    assert len(c.gap) == count
    assert c.gap == pytest.approx(np.full(count, -1e-4), abs=1e-12)
    assert np.allclose(c.normal, [0, 0, 1], rtol=0, atol=1e-9)
    assert np.allclose(c.point[:, 2], -0.5e-4, rtol=0, atol=1e-9)  # midway between the surfaces


@pytest.mark.parametrize("floor", [FLOOR, plane(), mesh(*square(1))], ids=["box", "plane", "mesh"])
def test_a_standing_cylinder_rests_on_points_of_its_rim_around_its_centre(floor):
    c = on_floor(cylinder(0.2, 0.3), 0.3 - 1e-4, xy=(0.05, -0.02), floor=floor)
    assert 3 <= len(c.gap) <= 4
    arms = c.point[:, :2] - [0.05, -0.02]
    radii = np.linalg.norm(arms, axis=1)
    assert radii.max() <= 0.2 + 1e-9
    if floor.points is None:  # on a mesh, points where the rim's chords cross an edge of the floor may stay
        assert radii == pytest.approx(np.full(len(arms), 0.2), abs=1e-9)
    assert c.gap == pytest.approx(np.full(len(arms), -1e-4), abs=1e-9)
    angles = np.sort(np.arctan2(arms[:, 1], arms[:, 0]))
    assert np.diff(np.append(angles, angles[0] + 2 * np.pi)).max() < np.pi  # the centre lies inside


@pytest.mark.parametrize("lower", WOOD)
@pytest.mark.parametrize("upper", WOOD)
def test_equal_cubes_face_to_face_touch_in_four_distinct_points(lower, upper):
    c = detect(Thing((WOOD[lower],)), Thing((WOOD[upper],), (0.0, 0.0, 1.0 - 1e-6)))
    assert len(c.gap) == len(np.unique(c.key)) == 4
    assert np.allclose(np.sort(np.abs(c.point[:, :2]), axis=None), 0.5)
    assert len(np.unique(np.sign(c.point[:, :2]), axis=0)) == 4
    assert c.gap == pytest.approx(np.full(4, -1e-6), abs=1e-12)


@pytest.mark.parametrize("lower", WOOD)
@pytest.mark.parametrize("upper", WOOD)
@pytest.mark.parametrize("y", [0.0, 1e-9, -1e-9])
def test_no_contact_lies_outside_of_overhanging_cubes(lower, upper, y):
    c = detect(Thing((WOOD[lower],)), Thing((WOOD[upper],), (0.2, y, 1.0)), margin=1e-3)
    assert len(c.gap) == 4
    assert c.point[:, 0] == pytest.approx(np.clip(c.point[:, 0], -0.3, 0.5), abs=1e-8)
    assert c.point[:, 1] == pytest.approx(np.clip(c.point[:, 1], -0.5, 0.5), abs=1e-8)


@pytest.mark.parametrize("outer", [box(2, 2, 2), hull(4 * CUBE)], ids=["box", "hull"])
@pytest.mark.parametrize("inner", [
    sphere(0.2), box(0.2, 0.2, 0.2), capsule(0.1, 0.2), cylinder(0.2, 0.2), hull(0.3 * CUBE),
], ids=["sphere", "box", "capsule", "cylinder", "hull"])
def test_a_small_shape_inside_a_big_one_gets_a_finite_separating_normal(inner, outer):
    model, bodies = build(Thing((outer,)), Thing((inner,), (0.3, 1.2, -0.2)))
    gap, normal, point = shape_gap(model, bodies, 0, 1)
    assert np.isfinite(gap) and gap < -0.8 and np.isfinite(point).all()
    bodies.x[1] -= gap * normal
    assert shape_gap(model, bodies, 0, 1)[0] >= -1e-6
    assert Detector(model).detect(bodies, np.full(2, 1e-3)).count[0] > 0


def test_edges_that_cross_touch_in_one_point_and_parallel_edges_in_two():
    tilted = Rotation.from_euler("x", 45, degrees=True).as_quat(scalar_first=True)
    crossed = (Rotation.from_euler("z", 90, degrees=True) * Rotation.from_euler("x", 45, degrees=True))
    side = np.sqrt(0.5)
    lower = Thing((box(0.5, 0.5, 0.5),), q=tuple(tilted))
    turned = tuple(crossed.as_quat(scalar_first=True))
    one = detect(lower, Thing((box(0.5, 0.5, 0.5),), (0.1, 0.2, 2 * side - 1e-4), turned))
    assert len(one.gap) == 1
    assert np.allclose(one.normal, [0, 0, 1]) and one.gap[0] == pytest.approx(-1e-4, abs=1e-12)
    assert np.allclose(one.point[0, :2], [0.1, 0.0])
    two = detect(lower, Thing((box(0.5, 0.5, 0.5),), (0.3, 0.0, 2 * side + 1e-4), tuple(tilted)), margin=1e-3)
    assert len(two.gap) == 2
    assert np.allclose(two.normal, [0, 0, 1]) and two.gap == pytest.approx([1e-4, 1e-4], abs=1e-9)
    assert sorted(two.point[:, 0]) == pytest.approx([-0.2, 0.5])


# ------------------------------------------------------------------------------------------------- what is reported


def test_only_pairs_within_the_sum_of_both_margins_are_reported():
    things = [Thing((sphere(0.5),), (x, 0.0, 0.0)) for x in (0.0, 1.03)]
    model, bodies = build(*things)
    detector = Detector(model)
    assert detector.detect(bodies, np.array([0.01, 0.019])).count[0] == 0
    found = detector.detect(bodies, np.array([0.01, 0.0201]))
    assert found.count[0] == 1 and found.gap[0] == pytest.approx(0.03)


def test_bodies_that_do_not_move_never_touch_each_other_nor_a_body_itself():
    both = Thing((sphere(0.5), sphere(0.4)), moves=True)
    still = [Thing((part,), moves=False) for part in (FLOOR, FLOOR, plane())]
    assert len(detect(*still).gap) == 0
    assert len(detect(both).gap) == 0


@pytest.mark.parametrize("things", [[], [Thing((sphere(1.0),))], [Thing((plane(),), moves=False)], [Thing(())]])
def test_models_without_pairs_have_no_contacts(things):
    assert len(detect(*things).gap) == 0


def test_coefficients_and_bodies_of_the_pair_stand_in_every_row():
    c = detect(Thing((FLOOR,), (0, 0, -0.5), moves=False), Thing((box(0.1, 0.1, 0.1),), (0, 0, 0.1)), margin=1e-3)
    assert set(c.restitution) == {0.5} and set(c.friction) == {0.4}
    assert set(c.body_a) == {0} and set(c.body_b) == {1}
    assert len(c.gap) == 4


def test_equal_poses_give_equal_contacts_whatever_was_asked_before():
    rng = np.random.default_rng(3)
    parts = [sphere(0.3), box(0.3, 0.2, 0.4), capsule(0.2, 0.3), cylinder(0.3, 0.2), hull(0.6 * CUBE)]
    model, bodies = build(*(Thing((parts[i % 5],)) for i in range(25)))
    places = [rng.uniform(-1, 1, (25, 3)) for _ in range(2)]
    margin = np.full(25, 0.01)
    used = Detector(model)
    for x in (*places, places[0]):
        bodies.x[:] = x
        last = rows_of(used.detect(bodies, margin))
    fresh = rows_of(Detector(model).detect(bodies, margin))
    assert len(fresh.gap) > 20
    for name in ("key", "point", "normal", "gap", "body_a", "shape_b"):
        assert np.array_equal(getattr(fresh, name), getattr(last, name)), name


# ------------------------------------------------------------------------------------------------------ broad phase


@given(seed=st.integers(0, 10**6), n=st.sampled_from([40, 600]), spread=st.sampled_from([1.0, 4.0, 20.0, 1e6]),
       ratio=st.sampled_from([1.0, 4.0, 10.0, 1000.0]))
@settings(max_examples=60, **FUZZ)
def test_the_broad_phase_finds_exactly_the_overlapping_bounds(seed, n, spread, ratio):
    rng = np.random.default_rng(seed)
    radii = np.exp(rng.uniform(0.0, np.log(ratio), n)) * 0.2
    moves = rng.random(n) < 0.7
    radii[:4] *= 10.0  # as wide as a scene's walls
    places, half = rng.uniform(-spread, spread, (n, 3)), n // 2
    places[half:] = places[:half] + 2.0 * radii[:half, None] * rng.choice([-1.0, 0.0, 1.0], (half, 3))
    things = [Thing((sphere(r),), tuple(x), moves=bool(m)) for r, x, m in zip(radii, places, moves, strict=True)]
    model, bodies = build(*things, Thing((plane(),), (0.0, 0.0, -0.5 * spread), moves=False))
    detector = Detector(model)
    detector.detect(bodies, np.zeros(n + 1))
    x, lo, hi = bodies.x, detector.geometry.lo, detector.geometry.hi
    meet = (lo[:n, None] <= hi[None, :n]).all(2)
    meet &= meet.T & (moves[:, None] | moves)
    on_plane = moves & (x[:n, 2] - radii <= -0.5 * spread)
    expected = [*np.argwhere(np.triu(meet, 1)).tolist(), *([i, n] for i in np.flatnonzero(on_plane).tolist())]
    assert detector.sweep.pairs[: detector.pair_count].tolist() == sorted(expected)


# ------------------------------------------------------------------------------------------------------- invariance


@pytest.mark.parametrize("pair", [
    (box(0.5, 0.3, 0.2), box(0.4, 0.4, 0.3)), (box(0.5, 0.3, 0.2), hull(0.8 * CUBE)), (hull(CUBE), hull(0.7 * CUBE)),
    (cylinder(0.3, 0.4), box(0.5, 0.3, 0.2)), (capsule(0.2, 0.4), box(0.5, 0.3, 0.2)), (sphere(0.3), hull(CUBE)),
], ids=["box-box", "box-hull", "hull-hull", "cylinder-box", "capsule-box", "sphere-hull"])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, **FUZZ)
def test_contacts_move_along_when_everything_is_moved(pair, seed):
    rng = np.random.default_rng(seed)
    model, bodies = build(Thing((pair[0],)), Thing((pair[1],)))
    turns = Rotation.random(2, rng=rng)
    bodies.x[1] = rng.uniform(-0.7, 0.7, 3)
    bodies.q[:] = turns.as_quat(scalar_first=True)
    detector, margin = Detector(model), np.full(2, 0.05)
    first = rows_of(detector.detect(bodies, margin))
    whole, shift = Rotation.random(rng=rng), rng.uniform(-3, 3, 3)
    bodies.x[:] = whole.apply(bodies.x) + shift
    bodies.q[:] = (whole * turns).as_quat(scalar_first=True)
    then = rows_of(detector.detect(bodies, margin))
    assert len(then.gap) == len(first.gap)
    if len(first.gap) and abs(first.gap.min()) > 1e-6:
        assert then.gap.min() == pytest.approx(first.gap.min(), abs=1e-7)
        # a depth that the expanding polytope knows to 1e-9 fixes the normal to the root of that, times a curvature
        assert np.allclose(then.normal[0], whole.apply(first.normal[0]), rtol=0, atol=1e-3)


@pytest.mark.parametrize(("part", "q", "half"), [
    (box(0.2, 0.15, 0.1), STANDING, 0.1), (hull(0.4 * CUBE), STANDING, 0.2), (capsule(0.1, 0.2), LYING, 0.1),
    (cylinder(0.1, 0.2), LYING, 0.1), (sphere(0.2), STANDING, 0.2),
], ids=["box", "hull", "capsule", "cylinder", "sphere"])
@pytest.mark.parametrize("floor", [FLOOR, plane(), hull(CUBE)], ids=["box", "plane", "hull"])
def test_contacts_keep_their_names_while_bodies_move_a_little(part, q, half, floor):
    ground = Thing((floor,), (0.0, 0.0, 0.0 if floor.kind == 4 else -0.5), moves=False)
    model, bodies = build(ground, Thing((part,), (0.0, 0.0, half - 1e-4), q))
    detector, margin, rng = Detector(model), np.full(2, 5e-3), np.random.default_rng(1)
    keys = sorted(rows_of(detector.detect(bodies, margin)).key)
    assert len(set(keys)) == len(keys) > 0
    for _ in range(30):
        bodies.x[1] = [*rng.uniform(-0.05, 0.05, 2), half + rng.uniform(-1e-4, 1e-4)]
        wobble = Rotation.from_rotvec(rng.uniform(-1e-3, 1e-3, 3)) * Rotation.from_quat(q, scalar_first=True)
        bodies.q[1] = wobble.as_quat(scalar_first=True)
        assert sorted(rows_of(detector.detect(bodies, margin)).key) == keys


# ----------------------------------------------------------------------------------------------- meshes, compounds


@pytest.mark.parametrize(("part", "half"), [
    (sphere(0.05), 0.05), (box(0.05, 0.04, 0.05), 0.05), (hull(0.1 * CUBE), 0.05), (cylinder(0.05, 0.05), 0.05),
    (capsule(0.03, 0.02), 0.05),
], ids=["sphere", "box", "hull", "cylinder", "capsule"])
@pytest.mark.parametrize("sink", [1e-3, -1e-4])
def test_nothing_feels_the_edges_of_a_flat_triangulated_floor(part, half, sink):
    ground = Thing((mesh(*square(8)),), moves=False)
    model, bodies = build(ground, Thing((part,)))
    detector, margin = Detector(model), np.full(2, 1e-3)
    for s in np.linspace(-0.35, 0.35, 80):
        bodies.x[1] = [s, 0.31 * s + 0.013, half - sink]
        turn = Rotation.from_euler("z", 40 * s)
        bodies.q[1] = turn.as_quat(scalar_first=True)
        c = rows_of(detector.detect(bodies, margin))
        assert len(c.gap) >= 1
        assert np.allclose(c.normal, [0, 0, 1], rtol=0, atol=1e-7)
        assert c.gap.min() == pytest.approx(-sink, abs=1e-9)


def test_a_ball_rolls_over_the_ridge_of_a_roof_with_the_normal_of_the_ridge():
    roof = mesh([[-1, -1, 0], [-1, 1, 0], [0, -1, 1], [0, 1, 1], [1, -1, 0], [1, 1, 0]],
                [[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]])
    c = detect(Thing((roof,), moves=False), Thing((sphere(0.2),), (0.0, 0.3, 1.2 - 1e-3)))
    assert np.allclose(c.normal, [0, 0, 1], rtol=0, atol=1e-9) and len(c.gap) == 1
    assert c.gap[0] == pytest.approx(-1e-3, abs=1e-12)


def test_a_triangle_pushes_only_from_its_front():
    floor = mesh(*square(2))
    assert len(on_floor(sphere(0.1), -0.15, floor=floor, margin=0.1).gap) == 0
    assert len(on_floor(box(0.1, 0.1, 0.1), -0.15, floor=floor, margin=0.1).gap) == 0
    assert on_floor(sphere(0.1), -0.02, floor=floor).gap == pytest.approx([-0.12])  # sunk past its centre: still out


def test_shapes_of_one_body_that_share_a_face_do_not_double_their_contacts():
    cube = box(0.1, 0.1, 0.1)
    halves = tuple(Part(cube.kind, cube.size, None, (x, 0.0, 0.0)) for x in (-0.1, 0.1))
    c = detect(Thing((FLOOR,), (0, 0, -0.5), moves=False), Thing(halves, (0.0, 0.0, 0.1 - 1e-4)))
    distances = np.linalg.norm(c.point[:, None] - c.point[None], axis=2)[np.triu_indices(len(c.point), 1)]
    assert len(c.gap) >= 4 and distances.min() > 1e-3


# ------------------------------------------------------------------------------------------------------ fast bodies


def fly(things, velocities, h, spins=None):
    model, bodies = build(*things)
    bodies.v[:] = velocities
    if spins is not None:
        bodies.w[:] = spins
    return bodies, Detector(model).time_of_impact(bodies, empty_memory(), h)


def test_two_fast_cubes_are_stopped_where_they_touch():
    h = 1 / 60
    cubes = [Thing((box(0.5, 0.5, 0.5),), (x, 0.0, 0.0)) for x in (-1.0, 1.0)]
    bodies, part = fly(cubes, [[120, 0, 0], [-120, 0, 0]], h)
    assert bodies.x[:, 0] + bodies.v[:, 0] * h * part == pytest.approx([-0.5, 0.5], abs=1e-6)


@pytest.mark.parametrize("wall", [box(0.01, 2, 2), plane(), mesh([[0, -2, -2], [0, 2, -2], [0, 0, 4]], [[0, 2, 1]])],
                         ids=["plate", "plane", "triangle"])
@pytest.mark.parametrize("part", [
    sphere(0.1), box(0.1, 0.1, 0.1), capsule(0.1, 0.1), cylinder(0.1, 0.1), hull(0.2 * CUBE),
], ids=["sphere", "box", "capsule", "cylinder", "hull"])
def test_nothing_fast_passes_through_a_thin_wall(part, wall):
    facing = {4: Rotation.from_euler("y", -90, degrees=True)}.get(int(wall.kind), Rotation.identity())
    ground = Thing((wall,), q=tuple(facing.as_quat(scalar_first=True)), moves=False)
    model, bodies = build(ground, Thing((part,), (-3.0, 0.1, 0.2)))
    bodies.v[1] = [600.0, 5.0, 0.0]
    bodies.w[1] = [3.0, 40.0, 20.0]
    detector, h = Detector(model), 1 / 60
    fraction = detector.time_of_impact(bodies, empty_memory(), h)
    assert 0.0 < fraction[1] < 1.0
    t = fraction[1] * h
    bodies.x[1] += t * bodies.v[1]
    turn = Rotation.from_rotvec(t * bodies.w[1])
    bodies.q[1] = turn.as_quat(scalar_first=True)
    assert detector.gap(bodies, 0, 1)[0] == pytest.approx(0.0, abs=1e-6)


def test_slow_bodies_and_bodies_that_miss_are_free():
    h = 1 / 60
    balls = [Thing((sphere(0.1),), (0.0, y, 0.0)) for y in (0.0, 0.25)]
    _, slow = fly(balls, [[0, 1.0, 0], [0, 0, 0]], h)
    assert slow.tolist() == [1.0, 1.0]
    _, passing = fly(balls, [[100.0, 0, 0], [0, 0, 0]], h)
    assert passing.tolist() == [1.0, 1.0]
    _, apart = fly(balls, [[0, -100.0, 0], [0, 100.0, 0]], h)
    assert apart.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("clearance", [1e-5, 1e-3])
@pytest.mark.parametrize("side", [(0.2, 0.0, 0.0), (0.0, 0.0, 0.1)], ids=["rim", "face"])
def test_a_wheel_beside_a_fork_turns_on(side, clearance):
    """It comes no nearer, however fast it turns."""
    away = np.add(side, clearance * np.sign(side)) + 0.02 * np.sign(side)
    wheel, fork = Thing((cylinder(0.2, 0.1),)), Thing((box(0.02, 0.02, 0.02),), tuple(away), moves=False)
    _, part = fly([wheel, fork], np.zeros((2, 3)), 1 / 480, spins=[[0.0, 0.0, 300.0], [0.0, 0.0, 0.0]])
    assert part.tolist() == [1.0, 1.0]


def test_a_drill_stops_at_the_plate():
    """No point of it comes nearer than at 1 m/s, however fast it turns."""
    h, gap = 1 / 60, 2e-3
    drill, plate = Thing((box(0.5, 0.01, 0.01),)), Thing((box(0.01, 0.5, 0.5),), (0.51 + gap, 0.0, 0.0), moves=False)
    _, part = fly([drill, plate], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], h, spins=[[100.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert part[0] * h == pytest.approx(gap, abs=1e-6)


def test_a_wheel_stops_at_the_fork():
    """Its bound, 61 m/s, is far above the 1 m/s at which its rim comes near: it goes on in leaps of half the thinnest
    half extent, and stops before the one that ends in the fork, 0.5 · 0.02 m / 61 = 0.16 mm of way."""
    h, gap = 1 / 60, 2e-3
    wheel, fork = Thing((cylinder(0.2, 0.1),)), Thing((box(0.02, 0.02, 0.02),), (0.22 + gap, 0.0, 0.0), moves=False)
    _, part = fly([wheel, fork], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], h, spins=[[0.0, 0.0, 300.0], [0.0, 0.0, 0.0]])
    assert gap - 1.7e-4 <= part[0] * h <= gap


def test_a_hook_that_is_drawn_away_swings_into_the_wall():
    """A ball on an arm of 1 m: it leaves at 0.5 m/s, and turns about a point beyond the wall."""
    h, w, v, gap = 1 / 60, 40.0, 0.5, 0.1
    hook = Thing((sphere(0.2)._replace(position=(-1.0, 0.0, 0.0)),), (1.0, 0.0, 0.0))
    wall = Thing((box(0.1, 1.0, 1.0),), (0.3 + gap, 0.0, 0.0), moves=False)
    _, part = fly([hook, wall], [[-v, 0.0, 0.0], [0.0, 0.0, 0.0]], h, spins=[[0.0, 0.0, w], [0.0, 0.0, 0.0]])
    t = brentq(lambda t: 1.0 - np.cos(w * t) - v * t - gap, 1e-3, h)
    assert part[0] * h == pytest.approx(t, abs=1e-6)


def follow(things, v, w, h):
    """Two bodies that fly and turn, followed in 200 moments: apart until the moment found, where they touch; or apart
    all the way. Returns the part of it that they go."""
    model, bodies = build(*things)
    detector, x = Detector(model), bodies.x.copy()
    turns = Rotation.from_quat(bodies.q, scalar_first=True)
    bodies.v[:], bodies.w[:] = v, w
    part = detector.time_of_impact(bodies, empty_memory(), h)

    def gap(t):
        bodies.x[:] = x + t * v
        bodies.q[:] = (Rotation.from_rotvec(t * w) * turns).as_quat(scalar_first=True)
        return detector.gap(bodies, 0, 1)[0]

    assert part[0] == part[1]
    if gap(0.0) > 1e-6:
        assert min(gap(t) for t in np.linspace(0.0, 1.0, 200)[:-1] * part[0] * h) > 0.0
        assert part[0] == 1.0 or 0.0 <= gap(part[0] * h) <= 1e-6
    return part[0]


@pytest.mark.parametrize("seed", range(40))
def test_fast_shapes_are_stopped_before_they_touch_and_only_where_they_do(seed):
    """Two convex shapes that fly and turn at random."""
    rng, corners = np.random.default_rng(seed), np.random.default_rng(3).normal(size=(14, 3))
    shapes = [sphere(0.2), box(0.2, 0.15, 0.1), capsule(0.1, 0.2), cylinder(0.15, 0.1), hull(0.2 * corners)]
    parts = [shapes[k] for k in rng.integers(0, len(shapes), 2)]
    turns = Rotation.random(2, random_state=rng)
    things = [Thing((part,), tuple(x), tuple(q)) for part, x, q in zip(
        parts, rng.uniform(-0.7, 0.7, (2, 3)), turns.as_quat(scalar_first=True), strict=True)]
    follow(things, 60.0 * rng.normal(size=(2, 3)), 40.0 * rng.normal(size=(2, 3)), 1 / 60)


def test_edges_that_turn_past_each_other_closely_are_stopped_where_they_touch_and_only_there():
    """Bars that cross edge to edge, 0.2 to 2 mm apart, as one half of them touches and the other does not."""
    rng, bar, stopped = np.random.default_rng(0), np.array([0.5, 0.05, 0.05]), 0
    for _ in range(60):
        turns = [Rotation.from_euler("xz", [45.0, angle], degrees=True) for angle in (0.0, rng.uniform(20.0, 90.0))]
        away = (0.0, 0.0, 0.1 * np.sqrt(2.0) + rng.uniform(2e-4, 2e-3))
        things = [Thing((box(*bar),), x, tuple(turn.as_quat(scalar_first=True)))
                  for x, turn in zip(((0.0, 0.0, 0.0), away), turns, strict=True)]
        v, w = rng.normal(size=(2, 3)) * [2.0, 2.0, 0.4], rng.normal(size=(2, 3))
        w[:, 2] += [20.0, -20.0]
        stopped += follow(things, v, w, 1 / 240) < 1.0
    assert 15 <= stopped <= 45
