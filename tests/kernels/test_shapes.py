"""Mass properties of shapes and compounds against trimesh's integrals over triangles, and rotations against scipy's."""

import math

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactlab.physics.scene.scene import Scene
from contactlab.physics.shapes import box, capsule, cone, cylinder, ellipsoid, shapes, sphere

lengths = st.floats(0.05, 5.0)
vectors = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)
rotations = st.integers(0, 2**32 - 1).map(lambda seed: Rotation.random(rng=np.random.default_rng(seed)).as_matrix())


def oracle(mesh: trimesh.Trimesh) -> shapes.MassProperties:
    return shapes.MassProperties(mesh.volume, np.array(mesh.center_mass), np.array(mesh.moment_inertia))


def agree(a: shapes.MassProperties, b: shapes.MassProperties, tolerance: float) -> bool:
    size = math.sqrt(np.trace(b.inertia) / b.mass)
    return bool(
        abs(a.mass - b.mass) <= tolerance * b.mass
        and np.abs(a.center - b.center).max() <= tolerance * (size + np.abs(b.center).max())
        and np.abs(a.inertia - b.inertia).max() <= tolerance * (np.trace(b.inertia) + b.mass * (b.center @ b.center))
    )


@settings(max_examples=30, deadline=None)
@given(lengths, lengths, lengths)
def test_a_box_weighs_what_its_triangles_enclose(a, b, c):
    assert agree(box.mass_properties((a, b, c)), oracle(trimesh.creation.box((a, b, c))), 1e-12)


@pytest.mark.parametrize("sections", [64, 128])
def test_round_shapes_are_the_limit_of_their_polyhedra(sections):
    # inscribed polyhedra lose volume and moments in second order: relative 2 (π/n)² at most for all below
    tolerance = 8.0 * (math.pi / sections) ** 2
    r, h = 0.4, 1.1
    tube = trimesh.creation.cylinder(r, h, sections=sections)
    ball = trimesh.creation.uv_sphere(r, count=[sections, sections])
    pill = trimesh.creation.capsule(h, r, count=[sections, sections])
    pill.apply_translation(-pill.bounds.mean(axis=0))
    assert agree(cylinder.mass_properties(r, h), oracle(tube), tolerance)
    assert agree(sphere.mass_properties(r), oracle(ball), tolerance)
    assert agree(capsule.mass_properties(r, h), oracle(pill), tolerance)
    spike = trimesh.creation.cone(r, h, sections=sections)
    spike.apply_translation([0.0, 0.0, -0.25 * h])  # trimesh puts the base at z = 0
    assert agree(cone.mass_properties(r, h), oracle(spike), tolerance)
    ball.apply_scale([1.0, 2.0, 0.7])
    assert agree(ellipsoid.mass_properties((2.0 * r, 4.0 * r, 1.4 * r)), oracle(ball), tolerance)


@settings(max_examples=30, deadline=None)
@given(lengths, vectors, rotations)
def test_a_polyhedron_has_the_mass_properties_trimesh_finds_wherever_it_is(size, position, R):
    mesh = trimesh.creation.annulus(0.3 * size, size, 0.7 * size, sections=12)
    mesh.vertices = np.array(mesh.vertices) @ R.T + position
    own = shapes.polyhedron(np.array(mesh.vertices), np.array(mesh.faces))
    assert agree(own, oracle(mesh), 1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(lengths, lengths, lengths, vectors, rotations, st.floats(0.1, 10.0)), min_size=1, max_size=4))
def test_a_compound_is_the_sum_of_its_parts_about_their_common_centre(parts):
    # reference: the tetrahedra of all parts, each weighted by its density, in one sum about the world origin
    own, mass, first, second = [], 0.0, np.zeros(3), np.zeros((3, 3))
    for a, b, c, position, R, density in parts:
        own.append(shapes.scaled(shapes.moved(box.mass_properties((a, b, c)), position, R), density))
        mesh = trimesh.creation.box((a, b, c))
        mesh.vertices = np.array(mesh.vertices) @ R.T + position
        whole = oracle(mesh)
        trace = 0.5 * np.trace(whole.inertia) * np.eye(3) - whole.inertia  # ∫ x xᵀ about the part's centre
        mass += density * whole.mass
        first += density * whole.mass * whole.center
        second += density * (trace + whole.mass * np.outer(whole.center, whole.center))
    center = first / mass
    about = second - mass * np.outer(center, center)
    reference = shapes.MassProperties(mass, center, np.trace(about) * np.eye(3) - about)
    assert agree(shapes.combined(own), reference, 1e-9)


@settings(max_examples=50, deadline=None)
@given(lengths, lengths, lengths, rotations)
def test_principal_axes_are_a_rotation_that_makes_the_inertia_diagonal(a, b, c, R):
    inertia = R @ box.mass_properties((a, b, c)).inertia @ R.T
    moments, axes = shapes.principal_axes(inertia)
    assert np.allclose(axes @ np.diag(moments) @ axes.T, inertia, atol=1e-12 * np.trace(inertia), rtol=0.0)
    assert np.allclose(axes.T @ axes, np.eye(3), rtol=0, atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_axes_that_are_principal_already_are_kept():
    moments, axes = shapes.principal_axes(np.diag([3.0, 1.0, 2.0]))
    assert (moments == [3.0, 1.0, 2.0]).all()
    assert (axes == np.eye(3)).all()


@settings(max_examples=50, deadline=None)
@given(rotations)
def test_quaternions_and_matrices_say_the_same_rotation(R):
    q = shapes.matrix_to_quat(R)
    assert np.allclose(shapes.quat_to_matrix(q), R, rtol=0, atol=1e-14)
    assert q[0] >= 0.0


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.floats(-360.0, 360.0)] * 3))
def test_euler_angles_turn_about_fixed_x_then_y_then_z(degrees):
    reference = Rotation.from_euler("xyz", degrees, degrees=True).as_matrix()
    assert np.allclose(shapes.quat_to_matrix(shapes.euler_to_quat(degrees)), reference, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("moments", "word"), [((1.0, 1.0, 2.1), "triangle"), ((0.0, 1.0, 1.0), "greater than 0")])
def test_impossible_moments_are_told_apart(moments, word):
    reason = shapes.unphysical(np.diag(moments))
    assert reason is not None and word in reason
    assert shapes.unphysical(np.diag([1.0, 1.0, 2.0])) is None  # a lamina is the limit


# ------------------------------------------------------------------------------------------------ bodies of scenes


def body(**fields):
    return Scene.from_dict({"body": [{"name": "b", **fields}]}).build()


HAMMER = [{"type": "box", "size": [0.1, 0.3, 0.1], "position": [0.5, 0.1, 0.0], "density": 7800.0},
          {"type": "cylinder", "radius": 0.02, "height": 0.6, "euler": [0.0, 90.0, 0.0], "density": 700.0}]


def test_the_body_frame_is_the_principal_frame_and_labels_lead_back():
    setup = body(shape=HAMMER, position=[1.0, 2.0, 3.0], euler=[10.0, 20.0, 30.0])
    model, labels, bodies = setup.model, setup.labels, setup.state.bodies
    R, A = shapes.quat_to_matrix(bodies.q[0]), shapes.quat_to_matrix(labels.axes[0])
    assert np.allclose(bodies.x[0] + R @ labels.origin[0], [1.0, 2.0, 3.0], rtol=0, atol=1e-14)
    turn = Rotation.from_euler("xyz", [10.0, 20.0, 30.0], degrees=True).as_matrix()
    assert np.allclose(R @ A, turn, rtol=0, atol=1e-14)
    # the shapes are where the file put them
    for s, given_shape in enumerate(HAMMER):
        there = labels.origin[0] + A @ np.array(given_shape.get("position", [0.0, 0.0, 0.0]))
        assert np.allclose(model.shapes.position[s], there, rtol=0, atol=1e-14)
    # and in the body frame they balance with no product of inertia left
    pieces = [box.mass_properties((0.1, 0.3, 0.1), 7800.0), cylinder.mass_properties(0.02, 0.6, 700.0)]
    turns = [shapes.quat_to_matrix(q) for q in model.shapes.orientation]
    parts = [shapes.moved(*placed) for placed in zip(pieces, model.shapes.position, turns, strict=True)]
    whole = shapes.combined(parts)
    assert np.abs(whole.center).max() < 1e-15
    assert np.allclose(whole.inertia, np.diag(model.inertia[0]), rtol=0, atol=1e-14)
    assert whole.mass == pytest.approx(model.mass[0])


def test_a_given_mass_scales_the_density():
    one, other = body(shape=HAMMER).model, body(shape=HAMMER, mass=2.0).model
    assert other.mass[0] == pytest.approx(2.0)
    assert np.allclose(other.inertia / 2.0, one.inertia / one.mass[0])


def test_a_given_inertia_puts_the_origin_at_the_centre_of_mass():
    setup = body(shape=HAMMER, mass=2.0, inertia=[2.0, 3.0, 4.0, 0.1, -0.2, 0.3])
    matrix = np.array([[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]])
    assert (setup.labels.origin == 0.0).all()
    R = shapes.quat_to_matrix(setup.labels.axes[0])  # scene's axes -> body frame
    assert np.allclose(R.T @ np.diag(setup.model.inertia[0]) @ R, matrix, rtol=0, atol=1e-14)


def test_the_first_momenta_follow_from_the_velocities_of_the_origin():
    setup = body(shape=HAMMER, velocity=[1.0, 0.0, 0.0], angular_velocity=[0.0, 2.0, 5.0], euler=[40.0, 0.0, 20.0])
    b, model = setup.state.bodies, setup.model
    R = shapes.quat_to_matrix(b.q[0])
    assert np.allclose(b.v[0] + np.cross(b.w[0], R @ setup.labels.origin[0]), [1.0, 0.0, 0.0])
    assert np.allclose(b.P[0], model.mass[0] * b.v[0])
    assert np.allclose(b.L[0], R @ np.diag(model.inertia[0]) @ R.T @ b.w[0])


def test_bodies_that_do_not_move_by_forces_keep_their_own_frame_and_no_mass():
    setup = body(shape=HAMMER, fixed=True, position=[1.0, 0.0, 0.0])
    assert setup.model.inv_mass[0] == 0.0 and (setup.model.inv_inertia == 0.0).all()
    assert (setup.labels.origin == 0.0).all() and (setup.state.bodies.x[0] == [1.0, 0.0, 0.0]).all()
