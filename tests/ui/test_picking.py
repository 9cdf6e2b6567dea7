"""Claims about picking: rays agree with closed forms and with the picture."""

import numpy as np
import pytest
from scenes_to_draw import body, contact, front_camera, snapshot

from contactlab.app.view import picking
from contactlab.physics.core.model import Meshes
from contactlab.physics.shapes.mesh import ray_to_mesh

DOWN = np.array([0.0, 0.0, -1.0])


def pick(shown, origin, direction):
    return picking.pick(shown.model, shown, np.array(origin, float), np.array(direction, float))


@pytest.mark.parametrize(("kind", "shape", "top"), [
    ("sphere", {"radius": 0.5}, np.sqrt(0.5**2 - 0.2**2)),
    ("box", {"size": [1.0, 1.0, 0.6]}, 0.3),
    ("capsule", {"radius": 0.5, "height": 1.0}, 0.5 + np.sqrt(0.5**2 - 0.2**2)),
    ("cylinder", {"radius": 0.5, "height": 1.0}, 0.5),
    ("cone", {"radius": 0.5, "height": 1.0}, 0.75 - 0.2 * 1.0 / 0.5),
    ("prism", {"sides": 4, "radius": 0.5, "height": 1.0}, 0.5),
    ("box", {"size": [1.0, 1.0, 0.6], "rounding": 0.1}, 0.3),
    ("box", {"size": [0.44, 1.0, 0.6], "rounding": 0.2}, 0.1 + np.sqrt(0.2**2 - 0.18**2)),
    ("hull", {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]], "rounding": 0.5}, 0.5),
    ("ellipsoid", {"size": [1.0, 0.6, 1.4]}, 0.7 * np.sqrt(1.0 - 0.4**2)),
    ("superellipsoid", {"size": [1.0, 0.6, 1.4], "exponents": [0.5, 0.8]}, 0.7 * (1.0 - 0.4**4) ** 0.25),
    ("torus", {"radius": 0.3, "tube": 0.15}, np.sqrt(0.15**2 - 0.1**2)),
    ("bowl", {"radius": 0.5, "fixed": True}, -np.sqrt(0.5**2 - 0.2**2)),
])
def test_a_ray_from_above_hits_the_top_at_its_closed_form(kind, shape, top):
    shown = snapshot(body(kind, (1.0, 2.0, 3.0), **shape))
    hit = pick(shown, [1.2, 2.0, 10.0], DOWN)
    assert hit is not None and hit.body == 0
    assert np.allclose(hit.point, [1.2, 2.0, 3.0 + top], rtol=0, atol=1e-12)
    assert hit.distance == pytest.approx(7.0 - top)


def test_a_particle_is_met_where_its_dot_is_seen():
    """Within DOT_REACH of the ray's direction; then it is in front of what it lies on."""
    shown = snapshot(body("particle", (1.0, 2.0, 3.0)), body("box", (1.0, 2.0, 2.5), size=[1.0, 1.0, 1.0]))
    beside = 0.9 * picking.DOT_REACH * 7.0
    hit = pick(shown, [1.0 + beside, 2.0, 10.0], DOWN)
    assert hit is not None and hit.body == 0
    miss = pick(shown, [1.0 + 1.5 * beside, 2.0, 10.0], DOWN)
    assert miss is not None and miss.body == 1


@pytest.mark.parametrize(("kind", "shape"), [
    ("capsule", {"radius": 0.5, "height": 1.0}), ("cylinder", {"radius": 0.5, "height": 1.0}),
])
def test_a_ray_from_the_side_hits_the_tube(kind, shape):
    hit = pick(snapshot(body(kind, **shape)), [-5.0, 0.3, 0.2], [1.0, 0.0, 0.0])
    assert hit is not None
    assert np.allclose(hit.point, [-np.sqrt(0.5**2 - 0.3**2), 0.3, 0.2], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kind", "shape"), [
    ("bowl", {"radius": 0.5, "angle": 90.0}), ("pipe", {"radius": 0.5, "height": 2.0, "angle": 90.0}),
])
def test_a_hollow_is_hit_on_its_far_wall_and_not_through_its_opening(kind, shape):
    """It opens upwards, the pipe along y; from the side the near wall is looked through."""
    table = {**body(kind, fixed=True, **shape), **({"euler": [90.0, 0.0, 0.0]} if kind == "pipe" else {})}
    shown = snapshot(table)
    hit = pick(shown, [-5.0, 0.0, -0.3], [1.0, 0.0, 0.0])
    assert hit is not None
    assert np.allclose(hit.point, [0.4, 0.0, -0.3], rtol=0, atol=1e-12)
    assert pick(shown, [-5.0, 0.0, 0.1], [1.0, 0.0, 0.0]) is None


@pytest.mark.parametrize("seed", range(20))
def test_hits_lie_on_the_surface_of_a_turned_box_and_ahead(seed):
    r = np.random.default_rng(seed)
    shown = snapshot(body("box", size=[0.4, 0.8, 1.2]))
    q = r.normal(size=4)
    shown.q[0] = q / np.linalg.norm(q)
    origin = r.normal(size=3)
    origin *= 3.0 / np.linalg.norm(origin)
    hit = pick(shown, origin, 0.05 * r.normal(size=3) - origin)
    assert hit is not None and hit.distance > 0.0
    turn = picking.matrices(shown.q[:1])[0] @ picking.matrices(shown.model.shapes.orientation[:1])[0]
    local = np.abs(turn.T @ (hit.point - shown.x[0])) / shown.model.shapes.size[0]
    assert local.max() == pytest.approx(1.0, abs=1e-12)


def test_a_hull_is_hit_where_the_same_box_is():
    corners = [[x, y, z] for x in (-0.2, 0.2) for y in (-0.4, 0.4) for z in (-0.6, 0.6)]
    box, hull = snapshot(body("box", size=[0.4, 0.8, 1.2])), snapshot(body("hull", points=corners))
    r = np.random.default_rng(0)
    hits = 0
    for _ in range(60):
        origin = 3.0 * r.normal(size=3)
        aim = 0.6 * r.normal(size=3) - origin
        a, b = pick(box, origin, aim), pick(hull, origin, aim)
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            hits += 1
            assert np.allclose(a.point, b.point, rtol=0, atol=1e-9)
    assert hits > 10


def test_a_triangle_is_hit_inside_and_missed_outside():
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    empty = np.zeros(0)
    tables = Meshes(*(empty,) * len(Meshes._fields))._replace(
        triangle_start=np.array([0, 1], np.int32), vertices=vertices, triangles=np.array([[0, 1, 2]], np.int32))
    assert ray_to_mesh(tables, 0, np.array([0.3, 0.3, 2.0]), DOWN) == pytest.approx(2.0)
    assert ray_to_mesh(tables, 0, np.array([0.3, 0.3, -2.0]), -DOWN) == pytest.approx(2.0)
    assert ray_to_mesh(tables, 0, np.array([0.6, 0.6, 2.0]), DOWN) == np.inf
    assert ray_to_mesh(tables, 0, np.array([0.3, 0.3, 2.0]), np.array([1.0, 0.0, 0.0])) == np.inf


def test_the_nearest_of_two_bodies_is_hit_and_a_plane_only_where_nothing_else_is():
    shown = snapshot(
        body("plane", fixed=True), body("sphere", (0, 0, 1), radius=0.5), body("sphere", (0, 0, 3), radius=0.5),
        body("sphere", (2, 0, -3), radius=0.5))
    assert pick(shown, [0, 0, 9], DOWN).body == 2
    assert pick(shown, [1, 0, 9], DOWN).body == 0
    assert np.allclose(pick(shown, [1, 0, 9], DOWN).point, [1.0, 0.0, 0.0])
    assert pick(shown, [2, 0, 9], DOWN).body == 3  # below the plane, yet nothing else is there
    assert pick(shown, [1, 0, 9], -DOWN) is None


def test_a_ray_that_starts_past_a_body_misses_it():
    assert pick(snapshot(body("sphere", radius=0.5)), [0, 0, -2], DOWN) is None


def test_the_contact_under_the_cursor_is_picked_within_its_reach():
    shown = snapshot(body("sphere", radius=0.5), body("sphere", (0, 0, 2), radius=0.5),
                     contacts=contact(0, 1, (0.1, 0.0, 0.3)))
    camera = front_camera()
    (x, y), = camera.project(np.array([[0.1, 0.0, 0.3]]), 640, 400)[0]
    assert picking.pick_contact(shown, camera, x + 5.0, y - 5.0, 640, 400) == 0
    assert picking.pick_contact(shown, camera, x + 15.0, y, 640, 400) == -1
    behind = front_camera()
    behind.azimuth, behind.target = 90.0, np.array([0.0, -8.0, 0.0])
    assert picking.pick_contact(shown, behind, 320, 200, 640, 400, reach=1e9) == -1  # it is behind the eye
