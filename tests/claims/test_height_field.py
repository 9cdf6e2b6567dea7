"""Height fields: what their numbers, pictures and formulas mean, and how a ball moves in a valley of triangles."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from scipy.integrate import solve_ivp

from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.collision.detector import shape_gap

A, K, R, G = 0.3, 2.0, 0.1, 9.81  # the valley z = -A cos K x [m, 1/m], the radius of the ball [m], gravity
START = -0.5635                   # where the ball touches at the start, within a face of every grid below [m]


def field(**given):
    return {"name": "ground", "fixed": True, "shape": [{"type": "height_field", **given}]}


def heights_under(folder=None, places=(), **given):
    """The heights of the ground at places (x, y), from the gap of a tiny ball far above: its nearest point is found by
    lowering it to where it touches a flat part."""
    scene = Scene.from_dict({"body": [field(**given), {"name": "ball", "shape": [
        {"type": "sphere", "radius": 1e-3}], "mass": 1.0}]}, folder=folder)
    sim = Simulation(scene)
    found = []
    for x, y in places:
        sim.body("ball").position = (x, y, 0.5)
        low = sim.model.meshes.vertices
        at = np.argmin(np.hypot(low[:, 0] - x, low[:, 1] - y))
        found.append(float(low[at, 2]))
        sim.body("ball").position = (x, y, found[-1] + 1e-3)
        gap, _, _ = shape_gap(sim.model, sim.state.bodies, 0, 1)
        assert abs(gap) < 2e-3  # at most the radius deep or high: the ball touches its place of the surface
    return found


def test_rows_of_numbers_lie_as_on_a_map(tmp_path):
    """The first row at +y, the first column at -x; a picture likewise, black 0 and white `height`."""
    rows = [[0.0, 0.25, 1.0], [0.0, 0.5, 0.0]]
    corners = [(-1.0, 0.5), (0.0, 0.5), (1.0, 0.5), (-1.0, -0.5), (0.0, -0.5), (1.0, -0.5)]
    by_numbers = heights_under(places=corners, size=[2.0, 1.0], heights=rows, height=2.0)
    assert by_numbers == [0.0, 0.5, 2.0, 0.0, 1.0, 0.0]
    greys = np.round(65535 * np.array(rows)).astype(np.uint16)
    Image.fromarray(greys).save(tmp_path / "hill.png")
    by_picture = heights_under(tmp_path, corners, size=[2.0, 1.0], file="hill.png", height=2.0)
    np.testing.assert_allclose(by_picture, by_numbers, rtol=0.0, atol=2.0 / 65535)  # half a grey, times the height 2
    Image.fromarray((greys // 257).astype(np.uint8)).save(tmp_path / "hill8.png")
    by_bytes = heights_under(tmp_path, corners, size=[2.0, 1.0], file="hill8.png", height=2.0)
    np.testing.assert_allclose(by_bytes, by_numbers, rtol=0.0, atol=2.0 / 255)


def test_the_stated_distance_from_the_formula_is_that_of_a_linear_triangle():
    """|z''| ℓ²/8 at the middle of an edge of length ℓ [interpolation of degree 1]; of a parabola z'' is constant, and
    the note gives two digits."""
    for n in (4, 16):
        scene = Scene.from_dict({"body": [field(size=[2.0, 2.0], formula="0.5*x*x", cells=[n, n])]})
        note = next(note for note in Simulation(scene).labels.notes if "follows its formula" in note)
        stated = float(note.split(" to ")[1].split(" m")[0])
        assert stated == pytest.approx((2.0 / n) ** 2 / 8.0, rel=0.05)


def valley(cells, method, friction, mass=1.0, step=1e-3):
    x = np.linspace(-1.0, 1.0, cells + 1)
    face = int(np.searchsorted(x, START)) - 1
    ends = -A * np.cos(K * x[face : face + 2])
    slope = (ends[1] - ends[0]) / (x[1] - x[0])
    w = np.hypot(1.0, slope)
    place = [START - R * slope / w, 0.0, ends[0] + slope * (START - x[face]) + R / w]
    return Simulation(Scene.from_dict({
        "solver": {"method": method, "h": step}, "material": {"default": {"restitution": 0.0, "friction": friction}},
        "body": [field(size=[2.0, 1.0], cells=[cells, 1], formula=f"-{A}*cos({K}*x)"),
                 {"name": "ball", "position": place, "mass": mass, "shape": [{"type": "sphere", "radius": R}]}]}))


def polygon_energy(cells, height, until):
    """Energy [J] of a ball of 1 kg that slides without friction over the inner edges between its start and x = until:
    each edge of angle θ takes sin²θ of its energy of motion there, for it keeps the velocity along the next face."""
    x = np.linspace(-1.0, 1.0, cells + 1)
    z = -A * np.cos(K * x)
    angle = np.arctan2(np.diff(z), np.diff(x))
    energy = G * height
    for k in range(1, cells):
        middle = 0.5 * (angle[k - 1] + angle[k])
        half = 0.5 * (angle[k] - angle[k - 1])
        reach = R / np.cos(half)  # the centre turns where it is R from both faces
        at_x, at_z = x[k] - reach * np.sin(middle), z[k] + reach * np.cos(middle)
        if x[k] > START and at_x < until:
            energy -= (energy - G * at_z) * np.sin(2.0 * half) ** 2
    return energy


def test_a_ball_loses_sin_squared_at_every_inner_edge():
    """event_driven against the sum over the edges; 1e-6 of the energy of motion is what its integrator of fourth order
    and the search for events leave at h = 1/500 on straight faces, where the motion is a parabola."""
    for cells in (20, 40):
        sim = valley(cells, "event_driven", 0.0, step=1 / 500)
        start = sim.body("ball").position[2]
        first = sim.energy().potential
        while sim.body("ball").position[0] < 0.3:
            sim.step()
        now = sim.energy().kinetic + sim.energy().potential - first + G * start
        expected = polygon_energy(cells, start, sim.body("ball").position[0])
        assert now == pytest.approx(expected, abs=1e-6)


def test_a_rolling_ball_comes_to_the_curve_as_cells_get_smaller():
    """Rolling without slip the centre moves on the parallel curve c(s) with T = 7/10 m |c'|² ṡ²; per cell the triangles
    lose a part of first order in their length, so that twice as many cells halve the distance. The start, which lies on
    a face and not on the curve, is off by terms of second order, |z''| ℓ²/8 = 2.4e-4 m at 50 cells."""
    def rates(t, y):
        s, v = y
        z1, z2, z3 = A * K * np.sin(K * s), A * K**2 * np.cos(K * s), -A * K**3 * np.sin(K * s)
        w = np.hypot(1.0, z1)
        stretch = 1.0 - R * z2 / w**3                  # |c'| = w (1 - R κ), κ = z''/w³
        along = w * stretch                            # |c'|
        change = z1 * z2 / w * stretch + w * (-R) * (z3 / w**3 - 3.0 * z2 * z1 * z2 / w**5)
        fall = -G * z1 / w                             # along the tangent
        return [v, (5.0 / 7.0 * fall - change * v * v) / along]

    until = 1.0
    s = solve_ivp(rates, (0.0, until), [START, 0.0], rtol=1e-11, atol=1e-12).y[0, -1]
    slope = A * K * np.sin(K * s)
    true = s - R * slope / np.hypot(1.0, slope)
    errors = []
    for cells in (50, 100, 200):
        sim = valley(cells, "time_stepping", 2.0, step=until / 4000)
        sim.run(until=until)
        errors.append(abs(sim.body("ball").position[0] - true))
    for coarse, fine in pairwise(errors):
        assert 0.35 < fine / coarse < 0.65, errors


@pytest.mark.parametrize(("given", "words"), [
    ({}, "one of heights, file and formula"),
    ({"heights": [[0, 1], [0, 1]], "formula": "x"}, "one of heights, file and formula"),
    ({"heights": [[0, 1], [0]]}, "list of at least two rows"),
    ({"heights": [[0, float("nan")], [0, 1]]}, "finite numbers"),
    ({"formula": "x*t"}, "uses t"),
    ({"formula": "1/x", "cells": [2, 2]}, "no finite value at x = 0"),
    ({"formula": "x", "cells": [0, 4]}, "two whole numbers of at least 1"),
    ({"formula": "x", "cells": [10**9, 10**9]}, "no more than 1000000 in all"),
    ({"file": "no.png"}, "there is none"),
    ({"file": "text.png"}, "no picture that can be read"),
])
def test_what_is_no_ground_is_refused_with_the_field(given, words, tmp_path):
    (tmp_path / "text.png").write_text("not a picture")
    with pytest.raises(SceneError) as error:
        Simulation(Scene.from_dict({"body": [field(size=[2.0, 2.0], **given)]}, folder=tmp_path))
    assert words in str(error.value)


def test_ground_that_forces_move_is_refused():
    ground = field(size=[2.0, 2.0], formula="x")
    with pytest.raises(SceneError, match="on a dynamic body"):
        Simulation(Scene.from_dict({"body": [{**ground, "fixed": False}]}))


@pytest.mark.parametrize("start", (-0.8, -0.79, -0.7))
def test_a_ball_crosses_edges_of_slender_triangles_that_are_almost_flat(start):
    """At the inflection of the valley faces of 0.02 m × 0.4 m meet at angles about 1e-3, convex and concave. An edge is
    flat by its angle, whatever the length of its triangles, and where the ball leaves it for less than a step it lands:
    over the next face it begins R (1 - cos θ) below its plane, beyond its rim."""
    ground = field(size=[2.4, 0.4], formula="0.3*(1 - cos(2*x))", cells=[120, 1])
    sim = Simulation(Scene.from_dict({
        "solver": {"method": "event_driven"}, "material": {"default": {"restitution": 0.0, "friction": 0.0}},
        "body": [ground, {"name": "ball", "position": [start, 0.0, 0.46],
                          "shape": [{"type": "sphere", "radius": 0.08}]}]}))
    sim.run(until=0.5)
    x, _, z = sim.body("ball").position
    assert z > 0.3 * (1.0 - np.cos(2.0 * x)) + 0.079  # its lowest point on the chords, 6e-5 m above the curve at most
