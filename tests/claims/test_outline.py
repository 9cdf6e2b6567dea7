"""Normals along a path, n(p), of faceted and of smooth bodies [RBDA §11.6, fig. 11.5], and contact along lines and
discs by n points [fig. 11.7 b and d]."""

import numpy as np
import pytest
from scipy.optimize import linprog

from contactlab.assets import scene_path
from contactlab.physics.look.outline import DIRECTIONS, miss_of_line, outline, ruled_normals, share_of_disc
from contactlab.physics.scene.scene import Scene

TURN = 2.0 * np.pi / DIRECTIONS  # by which normals are apart that are asked for


def body(**shape):
    """Model of one body of this shape, whose axes are the shape's."""
    return Scene.from_dict({"body": [{"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 1.0], "shape": [shape]}]}
                           ).build().model


def around(model, axis):
    return outline(model, model.shapes.body[0], np.asarray(axis, float))


@pytest.mark.parametrize(("shape", "axis", "radius"), [
    ({"type": "sphere", "radius": 0.3}, (0.6, 0, 0.8), 0.3),
    ({"type": "cylinder", "radius": 0.2, "height": 1}, (0, 0, 1), 0.2),
    ({"type": "ellipsoid", "size": [0.8, 0.8, 0.2]}, (0, 0, 1), 0.4),
    ({"type": "torus", "radius": 0.5, "tube": 0.1}, (0, 0, 1), 0.6),
    ({"type": "cone", "radius": 0.3, "height": 0.5}, (0, 0, 1), 0.3)],
    ids=lambda p: p["type"] if isinstance(p, dict) else "")
def test_along_a_round_body_the_normal_turns_by_one_over_its_radius(shape, axis, radius):
    """dn/dp = 1/R; what is summed are chords of the turn TURN, 2 R sin(TURN/2) each."""
    found = around(body(**shape), axis)
    assert found.jumps == 0.0
    chord = 2.0 * radius * np.sin(0.5 * TURN)
    np.testing.assert_allclose(np.diff(found.way), chord, rtol=1e-9)
    np.testing.assert_allclose(np.diff(found.angle), TURN, rtol=1e-9)


@pytest.mark.parametrize("sides", [3, 6, 24])
def test_along_a_polygon_the_normal_stands_and_jumps(sides):
    """n faces of 2 r sin π/n, each crossed in one step; between them the normal turns by 2π/n on the spot."""
    found = around(body(type="prism", sides=sides, radius=0.2, height=0.3), (0, 0, 1))
    steps = np.diff(found.way)
    faces = steps[steps > 1e-9]
    assert len(faces) == sides and found.jumps == 1.0
    np.testing.assert_allclose(faces, 0.4 * np.sin(np.pi / sides), rtol=1e-9)


@pytest.mark.parametrize("shape", [
    {"type": "box", "size": [0.4, 0.2, 0.3]}, {"type": "capsule", "radius": 0.1, "height": 0.4},
    {"type": "cylinder", "radius": 0.2, "height": 0.5}], ids=lambda s: s["type"])
def test_the_outline_is_as_long_as_the_shadow_is_around(shape):
    """Across x: 2 (b + c) of a box, 2 h + 2π r of a capsule, 4 r + 2 h of a cylinder; arcs are chords, to TURN²/24."""
    found = around(body(**shape), (1, 0, 0))
    around_it = {"box": 2 * (0.2 + 0.3), "capsule": 0.8 + 2 * np.pi * 0.1, "cylinder": 4 * 0.2 + 2 * 0.5}[shape["type"]]
    assert found.way[-1] == pytest.approx(around_it, rel=TURN**2)


def test_round_edges_take_the_jumps_away():
    """In the scene of rolling polygons: 6 sides jump, and the same with round edges do not, nor does the disc."""
    setup = Scene.load(scene_path("polygons")).build()
    number = {name: i for i, name in enumerate(setup.labels.bodies)}
    jumps = {name: [outline(setup.model, number[name], axis).jumps for axis in np.eye(3)]
             for name in ("disc", "6 sides", "6 round sides")}
    assert min(jumps["disc"]) == 0.0 and max(jumps["6 round sides"]) == 0.0
    assert min(jumps["6 sides"]) == 1.0


@pytest.mark.parametrize("points", [3, 8, 12])
def test_points_of_a_rim_hold_loads_up_to_the_cosine_of_half_their_angle(points):
    """By a linear program for each direction: the farthest load that forces >= 0 at the points balance."""
    corner = 2.0 * np.pi / points * np.arange(points)
    ring = np.stack([np.cos(corner), np.sin(corner), np.ones(points)])
    least = np.inf
    for angle in np.linspace(0.0, 2.0 * np.pi, 12 * points, endpoint=False):
        way = np.array([np.cos(angle), np.sin(angle), 0.0])
        found = linprog(np.append(np.zeros(points), -1.0), A_eq=np.column_stack([ring, -way]), b_eq=[0.0, 0.0, 1.0])
        least = min(least, -found.fun)
    assert share_of_disc(points) == pytest.approx(least, abs=1e-9)


def test_no_number_of_points_forbids_all_that_a_ruled_line_does():
    """A normal between two is a sum of none; what is missed falls as the square of their distance, or faster: of a
    curve of normals the chord's middle is off by a curvature times the square of half of it."""
    misses = [miss_of_line(n) for n in (4, 8, 16, 32)]
    assert all(miss > 0.0 for miss in misses)
    gaps = 1.0 / (np.array([4, 8, 16, 32]) - 1.0)
    order = np.diff(np.log(misses)) / np.diff(np.log(gaps))
    assert (order > 1.9).all()


def test_the_normals_of_the_ruled_line_are_those_of_its_surface():
    """∇(z - x tan y) = (-tan y, -x/cos² y, 1) at x = 0, by differences of the surface."""
    y, step = np.linspace(-0.9, 0.9, 7), 1e-6
    slope = (step * np.tan(y) - -step * np.tan(y)) / (2.0 * step)
    normal = np.column_stack([-slope, np.zeros_like(y), np.ones_like(y)])
    found = ruled_normals(y)[:, 3:]
    np.testing.assert_allclose(found / np.linalg.norm(found, axis=1)[:, None],
                               normal / np.linalg.norm(normal, axis=1)[:, None], rtol=0, atol=1e-9)


def test_what_is_not_convex_has_no_outline():
    floor = Scene.from_dict({"body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}]}).build().model
    assert outline(floor, 0, np.eye(3)[0]) is None
