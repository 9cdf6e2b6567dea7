"""Claims about the camera."""

import fakes
import numpy as np
import pytest
from scenes_to_draw import body, front_camera, snapshot

from contactlab.app.view.camera import CALM, KEPT, Camera, action_bounds, scene_bounds, shape_boxes
from contactlab.assets import scene_path
from contactlab.physics import Scene
from contactlab.physics.core.model import BodyKind

W, H = 640, 400


def random_camera(seed: int) -> Camera:
    r = np.random.default_rng(seed)
    return Camera(r.normal(size=3), float(r.uniform(0.5, 20)), float(r.uniform(-180, 180)), float(r.uniform(-80, 80)))


@pytest.mark.parametrize("seed", range(5))
def test_a_ray_passes_through_the_points_seen_at_its_pixel(seed):
    camera = random_camera(seed)
    x, y = np.random.default_rng(seed).uniform(0, [W, H])
    origin, direction = camera.ray(x, y, W, H)
    at, depth = camera.project(origin + np.array([[0.5], [3.0], [40.0]]) * direction, W, H)
    assert np.allclose(at, [x, y], rtol=0, atol=1e-8)
    assert (depth > 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_matrices_project_as_project_does(seed):
    camera = random_camera(seed)
    points = camera.target + np.random.default_rng(seed).normal(size=(8, 3)) * 0.2 * camera.distance
    clip = np.column_stack([points, np.ones(8)]) @ camera.view_projection(W / H).T
    at, depth = camera.project(points, W, H)
    assert np.allclose(clip[:, 3], depth)
    assert np.allclose(0.5 * W * (1 + clip[:, 0] / clip[:, 3]), at[:, 0])
    assert np.allclose(0.5 * H * (1 - clip[:, 1] / clip[:, 3]), at[:, 1])
    # the depth that the shaders write: 1 - near / distance along the view
    assert np.allclose(0.5 + 0.5 * clip[:, 2] / clip[:, 3], 1.0 - camera.near / depth)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("steps", [3.0, -2.0])
def test_zooming_keeps_the_point_under_the_cursor(seed, steps):
    camera = random_camera(seed)
    x, y = np.random.default_rng(seed).uniform(0, [W, H])
    origin, direction = camera.ray(x, y, W, H)
    point = origin + 0.7 * camera.distance * direction
    before = camera.distance
    camera.zoom_to(origin, direction, steps, point)
    assert np.allclose(camera.project(point, W, H)[0], [x, y], rtol=0, atol=1e-7)
    assert (camera.distance < before) == (steps > 0)


def test_zooming_without_a_point_keeps_what_is_at_the_targets_depth():
    camera = random_camera(1)
    origin, direction = camera.ray(100.0, 70.0, W, H)
    point = origin + direction * camera.distance / -(direction @ camera.backward)
    camera.zoom_to(origin, direction, 2.0)
    assert np.allclose(camera.project(point, W, H)[0], [100.0, 70.0], rtol=0, atol=1e-7)


def test_panning_moves_the_target_with_the_cursor():
    camera = random_camera(2)
    point = camera.target.copy()
    camera.pan(30.0 / H, -50.0 / H)
    assert np.allclose(camera.project(point, W, H)[0], [W / 2 + 30.0, H / 2 - 50.0], rtol=0, atol=1e-7)


def test_orbiting_keeps_the_distance_and_stops_below_the_pole():
    camera = random_camera(3)
    target, distance = camera.target.copy(), camera.distance
    for _ in range(50):
        camera.orbit(0.1, 0.1)
    assert camera.elevation < 90.0
    assert np.linalg.norm(camera.eye - target) == pytest.approx(distance)
    assert -180.0 <= camera.azimuth <= 180.0


@pytest.mark.parametrize("seed", range(5))
def test_a_framed_box_is_seen_whole_and_large(seed):
    camera, r = random_camera(seed), np.random.default_rng(seed)
    lo = r.normal(size=3)
    hi = lo + r.uniform(0.01, 5.0, 3)
    camera.frame(lo, hi, aspect=W / H)
    corners = lo + (hi - lo) * np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
    at, depth = camera.project(corners, W, H)
    assert (depth > camera.near).all()
    assert (at >= 0).all() and (at <= [W, H]).all()
    assert (np.ptp(at, axis=0) / [W, H]).max() > 0.4


@pytest.mark.parametrize("aspect", [0.4, 1.0, 1.3, 4.0 / 3.0, 2.0])
def test_what_a_picture_of_usual_shape_shows_at_its_sides_a_narrow_one_shows_too(aspect):
    camera = Camera()
    eye, ray = camera.ray(0.0, 300.0, 800.0, 600.0)  # at the left edge of a picture of 4 : 3
    camera.suit(aspect)
    ((x, y),), _ = camera.project(eye + 3.0 * ray, 1000.0 * aspect, 1000.0)
    assert y == pytest.approx(500.0)
    if aspect < 4.0 / 3.0:
        assert x == pytest.approx(0.0, abs=1e-9)
    else:  # the angle of view above and below is the usual one
        assert camera.fov == pytest.approx(Camera().fov, rel=1e-15)


def test_a_framing_movement_ends_at_the_frame_and_any_drag_stops_it():
    lo, hi = np.zeros(3), np.ones(3)
    goal, moving = random_camera(4), random_camera(4)
    goal.frame(lo, hi)
    moving.frame(lo, hi, seconds=0.4)
    assert moving.advance(0.2) and not np.allclose(moving.target, goal.target)
    assert not moving.advance(0.3)
    assert np.allclose(moving.target, goal.target) and moving.distance == pytest.approx(goal.distance)
    moving.frame(lo, 2 * hi, seconds=0.4)
    moving.orbit(0.1, 0.0)
    assert not moving.advance(0.1)


def test_a_followed_body_stays_in_the_middle():
    camera = front_camera()
    camera.follow(np.array([3.0, 1.0, 2.0]))
    assert np.allclose(camera.project(np.array([3.0, 1.0, 2.0]), W, H)[0], [W / 2, H / 2])


# ------------------------------------------------------------------------------------------------ bounds


def test_planes_and_large_scenery_do_not_count_for_the_frame():
    shown = snapshot(
        body("plane", fixed=True), body("box", (0, 0, -5), fixed=True, size=[80.0, 80.0, 10.0]),
        body("sphere", (1, 2, 3), radius=0.5),
    )
    lo, hi = scene_bounds(shown.model, shown.x, shown.q)
    assert np.allclose(lo, [0.5, 1.5, 2.5]) and np.allclose(hi, [1.5, 2.5, 3.5])


def test_boxes_around_turned_shapes_are_tight():
    turn = [np.cos(0.3), 0.0, np.sin(0.3), 0.0]  # by 0.6 rad about y
    tables = [
        body("box", size=[0.4, 0.6, 1.0]), body("capsule", radius=0.2, height=1.0),
        body("cylinder", radius=0.2, height=1.0),
    ]
    shown = snapshot(*tables)
    q = np.tile(turn, (3, 1))
    flat = shown.model.shapes._replace(
        position=np.zeros((3, 3)), orientation=np.tile([1.0, 0, 0, 0], (3, 1)),
        size=np.array([[0.2, 0.3, 0.5], [0.2, 0.5, 0.0], [0.2, 0.5, 0.0]]))
    lo, hi = shape_boxes(shown.model._replace(shapes=flat), np.zeros((3, 3)), q)
    c, s = np.cos(0.6), np.sin(0.6)
    expected = [
        [0.2 * c + 0.5 * s, 0.3, 0.5 * c + 0.2 * s], [0.2 + 0.5 * s, 0.2, 0.2 + 0.5 * c],
        [0.2 * c + 0.5 * s, 0.2, 0.5 * c + 0.2 * s],
    ]
    assert np.allclose(hi, expected) and np.allclose(lo, -np.array(expected))


def test_the_box_around_a_height_field_is_that_of_its_triangles():
    setup = Scene.load(scene_path("valleys")).build()
    lo, hi = shape_boxes(setup.model, setup.state.bodies.x, setup.state.bodies.q)
    rows = setup.model.meshes.vertex_start
    points = setup.model.meshes.vertices[rows[0] : rows[1]] + setup.state.bodies.x[0]
    np.testing.assert_allclose([lo[0], hi[0]], [points.min(axis=0), points.max(axis=0)], atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_box_that_is_held_comes_into_the_picture_by_the_least_movement(seed):
    """All corners are inside; a small box touches the edge of the calm middle, one that the camera stepped back for
    that of the picture. Directions stay, and a small box inside moves nothing."""
    rng = np.random.default_rng(seed)
    camera, aspect = Camera(azimuth=rng.uniform(-180, 180), elevation=rng.uniform(-80, 80)), rng.uniform(0.6, 2.5)
    height = 600.0
    middle = rng.uniform(-15.0, 15.0, 3)
    half = rng.uniform(0.05, 0.4 if seed % 2 else 6.0, 3)
    lo, hi = middle - half, middle + half
    before = camera.azimuth, camera.elevation, camera.distance
    camera.hold(lo, hi, aspect)
    corners = np.array([[(lo, hi)[i >> k & 1][k] for k in range(3)] for i in range(8)])
    seen, depth = camera.project(corners, aspect * height, height)
    share = np.abs(seen / (0.5 * height * np.array([aspect, 1.0])) - 1.0)
    stepped_back = camera.distance > before[2]
    assert (depth > 0.0).all() and share.max() <= KEPT + 1e-9
    assert share.max() == pytest.approx(KEPT if stepped_back else CALM, abs=1e-9) or CALM < share.max() < KEPT
    if share.max() > CALM + 1e-9:
        return
    assert (camera.azimuth, camera.elevation) == before[:2] and camera.distance >= before[2]
    again = camera.target.copy(), camera.distance
    camera.hold(lo + 0.01 * half, hi - 0.01 * half, aspect)
    assert np.array_equal(camera.target, again[0]) and camera.distance == again[1]


def test_a_small_box_beside_the_picture_is_only_shifted_to():
    camera = Camera()
    right = camera.axes[0]
    camera.hold(30.0 * right - 0.1, 30.0 * right + 0.1, 1.6)
    assert camera.distance == 6.0 and camera.target @ right > 20.0


@pytest.mark.parametrize("seed", range(5))
def test_orbiting_about_a_point_leaves_it_where_it_is_seen(seed):
    rng = np.random.default_rng(seed)
    camera, point = Camera(), rng.uniform(-1.0, 1.0, 3)
    before, depth = camera.project(point[None], 800.0, 600.0)
    camera.orbit(*rng.uniform(-0.4, 0.4, 2), about=point)
    after, then = camera.project(point[None], 800.0, 600.0)
    assert after == pytest.approx(before, abs=1e-9) and then == pytest.approx(depth)


def test_boxes_of_what_moves_leave_out_the_floor():
    made = fakes.snapshot()
    lo, hi = action_bounds(made.model, made.x, made.q)
    moving = made.model.kind[made.model.shapes.body] != BodyKind.FIXED
    boxes = [b[moving] for b in shape_boxes(made.model, made.x, made.q)]
    assert np.array_equal(lo, boxes[0].min(axis=0)) and np.array_equal(hi, boxes[1].max(axis=0))
    still = made.model._replace(kind=np.zeros_like(made.model.kind) + BodyKind.FIXED)
    assert action_bounds(still, made.x, made.q) is None
