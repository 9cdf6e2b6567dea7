"""Claims about meshes that move and collide as what they are, `collide = "surface"`: against each other, on planes, in
bowls, and against convex shapes."""

import numpy as np
import pytest
import trimesh
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mesh_zoo import corner_piece, cup, mesh_body
from scipy.spatial.transform import Rotation

from contactlab.physics import Scene, Simulation
from contactlab.physics.collision import Detector

FLOOR = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
SIDE, G = 0.1, 9.81  # of the cubes, and of the three of the corner piece [m]
REST = 1e-4  # that a resting contact may overlap [m]
METHODS = ("time_stepping", "compliant")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of all meshes."""
    here = tmp_path_factory.mktemp("surfaces")
    trimesh.creation.box((SIDE, SIDE, SIDE)).export(here / "cube.stl")
    trimesh.creation.box((0.6 * SIDE, 0.6 * SIDE, 0.6 * SIDE)).export(here / "small.stl")
    trimesh.creation.torus(0.1, 0.02, major_sections=32, minor_sections=12).export(here / "ring.stl")
    trimesh.creation.icosphere(3, 0.08).export(here / "ball.stl")
    corner_piece(SIDE).export(here / "corner.stl")
    cup().export(here / "cup.stl")
    return here


def simulate(folder, *bodies, method="time_stepping", friction=0.5, restitution=0.0, gravity=G, **solver):
    material = {"default": {"friction": friction, "restitution": restitution}}
    return Simulation(Scene.from_dict({
        "scene": {"gravity": [0.0, 0.0, -gravity]}, "material": material, "solver": {"h": 1 / 240, **solver},
        "body": list(bodies)}, folder), method=method)


def total(sim):
    """Kinetic, potential and the springs' energy."""
    energy = sim.energy()
    return energy.kinetic + energy.potential + energy.spring


def settle(sim, seconds):
    """Run; the largest rise of energy in a step [J], the deepest overlap [m], and the most energy after a step [J]."""
    rise, deepest, highest, last = 0.0, 0.0, -np.inf, total(sim)
    while sim.time < seconds:
        sim.step()
        now = total(sim)
        rise, highest, last = max(rise, now - last), max(highest, now), now
        deepest = max(deepest, -float(sim.contacts.gap[: sim.contacts.count[0]].min(initial=0.0)))
    return rise, deepest, highest


STACKS = {  # the upper of two meshes, where it is let go a little above its rest, and its height there
    "cube": ("cube.stl", [0.0, 0.0, 1.52 * SIDE], {}, 1.5 * SIDE),
    "turned": ("cube.stl", [0.0, 0.0, 1.52 * SIDE], {"euler": [0.0, 0.0, 45.0]}, 1.5 * SIDE),
    "smaller": ("small.stl", [0.01, 0.0, 1.32 * SIDE], {}, 1.3 * SIDE),
    "beside": ("cube.stl", [0.6 * SIDE, 0.0, 1.52 * SIDE], {}, 0.5 * SIDE),
}


@pytest.mark.parametrize("stack", STACKS)
def test_cubes_of_triangles_stack_as_cubes_and_fall_where_they_must(folder, stack):
    """Whatever way the faces are divided; beyond the edge the centre of mass is over nothing, and it ends on the
    floor."""
    file, place, more, height = STACKS[stack]
    sim = simulate(folder, FLOOR, mesh_body("lower", "cube.stl", [0.0, 0.0, 0.5 * SIDE]),
                   mesh_body("upper", file, place, **more))
    rise, *_ = settle(sim, 1.0)
    assert sim.position("upper")[2] == pytest.approx(height, abs=REST)
    assert sim.position("lower") == pytest.approx([0.0, 0.0, 0.5 * SIDE], abs=REST)
    assert np.linalg.norm(sim.velocity("upper")) < 1e-6
    assert rise < 1e-9 * total(sim)  # it is let go without overlap, and nothing brings energy


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_ends_on_the_bottom_of_a_cup_that_stands_by_itself(folder, method):
    """The bottom is 15 mm thick. On compliant ground both sink by m g/K of what they carry: 2.7 kg, 1e5 N/m, through
    two surfaces in series each time, at most 3 · 0.27 mm."""
    ball = {"name": "ball", "density": 2000.0, "position": [0.02, 0.0, 0.2],
            "shape": [{"type": "sphere", "radius": 0.03}]}
    sim = simulate(folder, FLOOR, mesh_body("cup", "cup.stl", [0.0, 0.0, 0.0]), ball, method=method)
    sim.run(until=1.5)
    slack = REST if method == "time_stepping" else 8e-4
    assert sim.position("ball")[2] == pytest.approx(0.045, abs=slack)
    assert np.hypot(*sim.position("ball")[:2]) < 0.085 - 0.03 + slack
    _, x, y, _ = sim.orientation("cup")
    assert 2.0 * (x * x + y * y) < 1e-4


@pytest.mark.parametrize("collide", ["surface", "parts"])
def test_a_ring_hangs_on_a_peg(folder, collide, tmp_path_factory, monkeypatch):
    """Its centre ends 0.08 m, the radius of the hole, less the peg's, below the peg's centre, but for the 32 flats of
    the hole, which are 0.08 (1 - cos(π/32)) = 0.4 mm nearer, and for parts, which leave the hole to their threshold."""
    from contactlab.physics.scene import parts

    monkeypatch.setattr(parts, "PARTS_HOME", tmp_path_factory.mktemp("parts"))
    peg = {"name": "peg", "fixed": True, "position": [0.0, 0.0, 0.5], "euler": [90.0, 0.0, 0.0],
           "shape": [{"type": "cylinder", "radius": 0.028, "height": 0.5}]}
    shape = {"collide": collide} | ({"threshold": 0.2} if collide == "parts" else {})
    ring = mesh_body("ring", "ring.stl", [0.004, 0.0, 0.4495], euler=[90.0, 0.0, 0.0], shape=shape)
    sim = simulate(folder, peg, ring)
    rise, deepest, _ = settle(sim, 1.5)
    x, _, z = sim.position("ring") - [0.0, 0.0, 0.5]
    slack = 4.5e-4 if collide == "surface" else 0.2 * 0.24
    assert np.hypot(x, z) == pytest.approx(0.08 - 0.028, abs=slack + REST)
    assert z < 0.0
    assert rise <= sim.model.mass.sum() * G * deepest  # what is pressed apart is lifted by no more


def test_two_links_of_triangles_hold_each_other(folder):
    """Tubes of radius 0.02 touch where their circles are 0.04 apart: centres 2 · 0.1 - 0.04 apart, but for the flats of
    both rings, 0.12 (1 - cos(π/32)) and of tubes 0.02 (1 - cos(π/12)) each."""
    sim = simulate(folder, mesh_body("upper", "ring.stl", [0.0, 0.0, 0.6], euler=[90.0, 0.0, 0.0], fixed=True),
                   mesh_body("lower", "ring.stl", [0.001, 0.002, 0.4415], euler=[3.0, 90.0, 0.0]))
    sim.run(until=1.5)
    apart = 0.6 - sim.position("lower")[2]
    assert apart == pytest.approx(0.16, abs=2 * (0.12 * (1 - np.cos(np.pi / 32)) + 0.02 * (1 - np.cos(np.pi / 12))))


def test_an_l_of_triangles_lies_in_the_step_of_another(folder):
    """One L stands on the floor, the other on its lower half and against its upper one; it neither sinks in nor
    climbs."""
    sim = simulate(folder, FLOOR, mesh_body("lower", "corner.stl", [0.0, 0.0, 0.0]),
                   mesh_body("upper", "corner.stl", [SIDE + 0.002, 0.0, SIDE + 0.005]))
    rise, *_ = settle(sim, 1.0)
    there = np.array([SIDE + 0.002, 0.0, SIDE])
    moved = sim.position("upper") - sim.position("lower")
    assert moved == pytest.approx(there, abs=REST)
    assert rise < 1e-9 * total(sim)


@pytest.mark.parametrize("method", METHODS)
def test_a_cube_of_triangles_tumbles_on_a_plane_as_its_hull(folder, method):
    """Corners are the same points, so that the motion is the same but for rounding, which impacts let grow."""
    ends = []
    for collide in ("surface", "hull"):
        cube = mesh_body("cube", "cube.stl", [0.0, 0.0, 0.2], euler=[20.0, 30.0, 0.0], shape={"collide": collide})
        sim = simulate(folder, FLOOR, cube, method=method)
        sim.run(until=0.5)
        ends.append(np.concatenate([sim.position("cube"), sim.orientation("cube")]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_gains_energy_where_meshes_tumble_on_each_other(folder, method):
    """A ball of 1280 triangles and a corner piece fall on a cube, without restitution. Where contacts of time stepping
    are pressed apart they lift what lies on them, by as much as they overlapped at most. What compliant surfaces hold
    meanwhile is in no total, so that it comes back after an impact, but never to more than there was."""
    bodies = [FLOOR, mesh_body("cube", "cube.stl", [0.0, 0.0, 0.5 * SIDE]),
              mesh_body("ball", "ball.stl", [0.03, 0.02, 2.2 * SIDE]),
              mesh_body("corner", "corner.stl", [-0.1, -0.05, 3.2 * SIDE], euler=[30.0, 50.0, 10.0])]
    sim = simulate(folder, *bodies, method=method, friction=0.3)
    start = total(sim)
    rise, deepest, highest = settle(sim, 0.75)
    assert method == "compliant" or rise < deepest * sim.model.mass.sum() * G
    assert highest <= start * (1.0 + 1e-9)
    assert total(sim) < start - 0.5 * sim.model.mass[2] * G * SIDE  # the ball has fallen, and bounces nowhere
    for name in ("cube", "ball", "corner"):
        assert 0.0 < sim.position(name)[2] < 0.4


def test_a_ball_of_triangles_in_a_bowl_and_on_a_box(folder):
    """On the bottom of the bowl, its centre a radius above, but for the flats of its triangles; on the box likewise."""
    bowl = {"name": "bowl", "fixed": True, "position": [0.0, 0.0, 0.5],
            "shape": [{"type": "bowl", "radius": 0.5, "angle": 80.0}]}
    box = {"name": "box", "fixed": True, "position": [2.0, 0.0, 0.1],
           "shape": [{"type": "box", "size": [0.4, 0.4, 0.2]}]}
    sim = simulate(folder, bowl, box, mesh_body("inside", "ball.stl", [0.0, 0.0, 0.085]),
                   mesh_body("above", "ball.stl", [2.0, 0.0, 0.285]))
    sim.run(until=1.0)
    flats = 0.08 * 0.01  # of an icosphere of 642 corners, from which no point is farther than 0.14 rad
    assert sim.position("inside")[2] == pytest.approx(0.08, abs=flats + REST)
    assert sim.position("above")[2] == pytest.approx(0.28, abs=flats + REST)


def test_a_convex_mesh_is_as_far_from_another_as_their_hulls(folder):
    """Where a corner is over a face or edges cross, the gap of two cubes of triangles is that of two boxes, where they
    overlap but little. The file holds corners in single precision: 2⁻²⁵ of half a side each, on both."""
    rng, compared = np.random.default_rng(4), 0
    shape = {"type": "box", "size": [SIDE] * 3}
    sims = [simulate(folder, mesh_body("a", "cube.stl", [0.0] * 3), mesh_body("b", "cube.stl", [0.0] * 3)),
            simulate(folder, *({"name": name, "shape": [shape]} for name in "ab"))]
    detectors = [Detector(sim.model) for sim in sims]
    for _ in range(60):
        A, B = Rotation.random(2, rng=rng)
        way = rng.normal(size=3)
        x, found = rng.uniform(1.0, 1.7) * SIDE * way / np.linalg.norm(way), []
        for sim, detector in zip(sims, detectors, strict=True):
            bodies = sim.state.bodies
            bodies.x[:], bodies.q[:] = [[0.0] * 3, x], [A.as_quat(scalar_first=True), B.as_quat(scalar_first=True)]
            found.append(detector.gap(bodies, 0, 1)[0])
        if np.isfinite(found[0]) and found[1] > -0.05 * SIDE:
            assert found[0] == pytest.approx(found[1], abs=4.0 * 2.0**-25 * SIDE) or found[0] > found[1] > 0.0
            compared += 1
    assert compared > 20


def test_meshes_that_stand_have_no_gap_from_each_other_nor_from_a_plane(folder):
    """Nothing moves that could close it; asked for it, the detector says so."""
    sim = simulate(folder, FLOOR, *(mesh_body(name, "cube.stl", [0.0] * 3, fixed=True) for name in "ab"),
                   {"name": "ball", "position": [0.0, 0.0, 1.0], "shape": [{"type": "sphere", "radius": 0.1}]})
    for pair in ((0, 1), (1, 2)):
        assert Detector(sim.model).gap(sim.state.bodies, *pair)[0] == np.inf


def test_event_driven_takes_a_mesh_on_a_box(folder):
    box = {"name": "box", "fixed": True, "shape": [{"type": "box", "size": [1.0, 1.0, 0.2]}]}
    sim = simulate(folder, box, mesh_body("cube", "cube.stl", [0.0, 0.0, 0.16], euler=[0.0, 5.0, 0.0]),
                   method="event_driven")
    sim.run(until=0.5)
    assert sim.position("cube")[2] == pytest.approx(0.15, abs=1e-9)


# ------------------------------------------------------------------------------------------------------ fast ones
@pytest.mark.parametrize(("file", "euler", "half"), [
    ("small.stl", [0, 0, 0], 0.3 * SIDE), ("shot.stl", [0, 0, 0], 0.07), ("ring.stl", [90, 0, 0], 0.12)])
def test_a_fast_mesh_does_not_pass_through_a_thin_one(folder, file, euler, half):
    """At 200 m/s they move by 28 thicknesses of the plate in half a step, and end on it."""
    trimesh.creation.box((1.0, 1.0, 0.015)).export(folder / "plate.stl")
    trimesh.creation.icosphere(2, 0.07).export(folder / "shot.stl")
    sim = simulate(folder, mesh_body("plate", "plate.stl", [0.0, 0.0, 0.0], fixed=True),
                   mesh_body("thrown", file, [0.06, 0.01, 2.0], velocity=[0.0, 0.0, -200.0], euler=euler))
    for _ in range(6):
        sim.step()
        assert sim.position("thrown")[2] > half
    assert sim.position("thrown")[2] == pytest.approx(half + 0.0075, abs=REST)
    assert np.linalg.norm(sim.velocity("thrown")) < 1e-3


@settings(deadline=None, max_examples=16, derandomize=True)
@given(turn=st.tuples(*[st.floats(-180.0, 180.0)] * 3), spin=st.tuples(*[st.floats(-50.0, 50.0)] * 3),
       aside=st.tuples(*[st.floats(-30.0, 30.0)] * 2), ahead=st.floats(0.0, 0.83),
       thick=st.sampled_from([0.015, 0.002]), stands=st.booleans())
@example(turn=(54.7356, 0.0, 45.0), spin=(0.0, 0.0, 0.0), aside=(0.0, 0.0), ahead=0.0, thick=0.015, stands=True)
@example(turn=(0.0, 45.0, 0.0), spin=(0.0, 0.0, 0.0), aside=(0.0, 0.0), ahead=0.3, thick=0.002, stands=False)
def test_a_fast_cube_stays_on_its_side_of_a_plate_however_it_comes(folder, turn, spin, aside, ahead, thick, stands):
    """Corner, edge or side first, at 200 m/s and more: in a step it moves by 0.83 m, and a corner that stops lets the
    others turn on. Its centre, which never is on the other side, is above the middle of the plate."""
    trimesh.creation.box((1.0, 1.0, thick)).export(folder / "thin.stl")
    way = (2.0 + ahead) / 200.0
    sim = simulate(folder, mesh_body("plate", "thin.stl", [0.0] * 3, fixed=stands),
                   mesh_body("thrown", "small.stl", [0.06 - aside[0] * way, 0.01 - aside[1] * way, 2.0 + ahead],
                             velocity=[*aside, -200.0], euler=list(turn), angular_velocity=list(spin)))
    for _ in range(7):
        sim.step()
        up = Rotation.from_quat(sim.orientation("plate"), scalar_first=True).apply([0.0, 0.0, 1.0])
        assert (sim.position("thrown") - sim.position("plate")) @ up > 0.0


THROWN = {  # what is thrown, at what speed [m/s], and the number of its turn
    "cup": ("little.stl", 60.0, 5),
    "corner": ("small corner.stl", 60.0, 5),
    "corner that is stopped twice": ("small corner.stl", 60.0, 2),
}


@pytest.mark.parametrize("thrown", THROWN)
def test_what_hits_a_thin_wall_askew_and_spins_stays_outside_to_the_end_of_the_step(folder, thrown):
    """The wall, 4 mm thick, is that of a heavy cup of 24 sides that is free. What hits it in the middle of a step goes
    on with another spin in the second half, in which another part of it comes to the wall; it came by 31 times the
    wall's thickness in half a step. One is stopped there again, touching, with no force from the wall as yet, and would
    go through it in the first half of the next step. All of its corners stay outside of the cup, and momentum is kept.
    """
    name, speed, k = THROWN[thrown]
    cup(24, 0.4, 1.2, 0.004).export(folder / "tall.stl")
    cup(12, 0.05, 0.08, 0.004).export(folder / "little.stl")
    corner_piece(0.05).export(folder / "small corner.stl")
    rng = np.random.default_rng(k)
    turn, spin = rng.uniform(-180.0, 180.0, 3).tolist(), (20.0 * rng.normal(size=3)).tolist()
    wall = mesh_body("wall", "tall.stl", [0.4, 0.0, -0.6], density=50000.0)
    thing = mesh_body("thing", name, [-0.55 - speed / 240 * k / 8, 0.01, -0.02], velocity=[speed, 0.0, 0.0],
                      euler=turn, angular_velocity=spin)
    sim = simulate(folder, wall, thing, friction=0.3, gravity=0.0)
    shapes, meshes = sim.model.shapes, sim.model.meshes
    corners = Rotation.from_quat(shapes.orientation[1], scalar_first=True).apply(
        meshes.vertices[slice(*meshes.vertex_start[shapes.data[1] : shapes.data[1] + 2])]) + shapes.position[1]
    before, hit = sim.state.bodies.P.sum(axis=0), False
    for _ in range(9):
        sim.step()
        hit = hit or sim.contacts.lam[: sim.contacts.count[0]].max(initial=0.0) > 0.0
        bodies = sim.state.bodies
        wall_turn, thing_turn = Rotation.from_quat(bodies.q, scalar_first=True)
        seen = wall_turn.inv().apply(thing_turn.apply(corners) + bodies.x[1] - bodies.x[0])
        # the middle of a side is nearest to the axis
        assert np.linalg.norm(seen[:, :2], axis=1).min() > 0.4 * np.cos(np.pi / 24) - REST
        np.testing.assert_allclose(sim.state.bodies.P.sum(axis=0), before, rtol=0, atol=1e-9 * np.linalg.norm(before))
    assert hit


def test_a_fast_mesh_does_not_pass_through_one_that_flies_towards_it(folder):
    """A ball of triangles at 200 m/s and a plate at 100 m/s meet within a step; e = 0: they go on at one speed."""
    trimesh.creation.box((1.0, 1.0, 0.015)).export(folder / "plate.stl")
    sim = simulate(folder, mesh_body("plate", "plate.stl", [0.0, 0.0, 0.0], velocity=[0.0, 0.0, 100.0]),
                   mesh_body("ball", "ball.stl", [0.0, 0.0, 2.0], velocity=[0.0, 0.0, -200.0]))
    plate, ball = sim.model.mass
    for _ in range(6):
        sim.step()
        assert sim.position("ball")[2] - sim.position("plate")[2] > 0.08
    both = (100.0 * plate - 200.0 * ball) / (plate + ball) - G * sim.time
    assert [sim.velocity(name)[2] for name in ("plate", "ball")] == pytest.approx([both, both], abs=1e-6)


def test_a_fast_mesh_through_the_hole_of_another_one_keeps_its_speed(folder):
    """A ball of triangles, 5 mm from the ring's inner wall, at 200 m/s."""
    trimesh.creation.icosphere(2, 0.07).export(folder / "shot.stl")
    sim = simulate(folder, mesh_body("ring", "ring.stl", [0.0, 0.0, 0.0], fixed=True),
                   mesh_body("ball", "shot.stl", [0.005, 0.0, 2.0], velocity=[0.0, 0.0, -200.0]))
    for _ in range(5):
        sim.step()
        np.testing.assert_allclose(sim.velocity("ball"), [0.0, 0.0, -200.0 - G * sim.time], rtol=0, atol=1e-9)
    assert sim.position("ball")[2] < -1.0
