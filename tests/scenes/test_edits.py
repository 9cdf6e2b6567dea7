"""What a user does to bodies, judged by the mechanics of the scene that comes out."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contactlab.physics.scene import edits
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.edits import Pose
from contactlab.physics.scene.refusals import SceneError
from contactlab.physics.scene.scene import Scene
from contactlab.physics.scene.start import overlaps, rows
from contactlab.physics.shapes import shapes as solid

ODD = """
[[body]]
name = "odd"
position = [1.0, 0.5, 2.0]
euler = [20.0, -35.0, 50.0]
velocity = [1.0, 2.0, 3.0]
angular_velocity = [0.1, 0.2, 0.3]
[[body.shape]]
type = "cone"
radius = 0.3
height = 0.8
position = [0.1, 0.2, 0.3]
euler = [10.0, 70.0, -20.0]
[[body.shape]]
type = "box"
size = [0.2, 0.4, 0.6]
position = [-0.3, 0.1, 0.0]
[[body.shape]]
type = "hull"
points = [[0.3, 0.0, -0.15], [-0.15, 0.26, -0.15], [-0.15, -0.26, -0.2], [0.0, 0.1, 0.3]]
euler = [0.0, 0.0, 30.0]
"""
#: numbers are written to 9 decimals: positions err by 5e-10 m, turns by 5e-10 degrees
ROUNDING = 1e-8


def tensor(setup, row):
    """The inertia of a body in world axes [kg m2]."""
    R = solid.quat_to_matrix(setup.state.bodies.q[row])
    return R @ np.diag(setup.model.inertia[row]) @ R.T


def reflected(setup, row, axis):
    M = np.eye(3)
    M[axis, axis] = -1.0
    bodies = setup.state.bodies
    return M @ bodies.x[row], M @ bodies.v[row], -M @ bodies.w[row], M @ tensor(setup, row) @ M


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_mirror_image_has_mirrored_centre_of_mass_inertia_and_motion(axis):
    """ω is an axial vector: its image is det(M) M ω = -M ω."""
    document = Document(ODD)
    assert edits.mirror(document, [0], axis, 0.0) == [1]
    setup = Scene.from_text(document.text, None).build()
    bodies = setup.state.bodies
    for image, wanted in zip((bodies.x[1], bodies.v[1], bodies.w[1], tensor(setup, 1)), reflected(setup, 0, axis),
                             strict=True):
        assert np.abs(image - wanted).max() <= ROUNDING * max(np.abs(wanted).max(), 1.0)


def test_bodies_that_stand_in_the_mirror_and_their_images_touch_mirrored_ground_alike():
    """A cone that stands on the floor stands there beside the mirror, too: it is not turned upside down."""
    document = Document(edits.NEW)
    edits.add_body(document, {"type": "cone", "radius": 0.5, "height": 1.0}, [1.0, 0.0, 0.25])
    edits.mirror(document, [1], 0, 0.0)
    setup = Scene.from_text(document.text, None).build()
    assert overlaps(setup) == []  # upside down its base would be at z = 0.75 and its apex at -0.25
    assert setup.state.bodies.x[2] == pytest.approx([-1.0, 0.0, 0.25], abs=ROUNDING)


def test_a_mesh_has_no_mirror_image_and_the_sentence_names_it():
    document = Document('[[body]]\nname = "bunny"\n[[body.shape]]\ntype = "mesh"\nfile = "a.stl"\n')
    with pytest.raises(SceneError, match="bunny is of a mesh file"):
        edits.mirror(document, [0], 0, 0.0)


@given(st.tuples(*[st.floats(-180.0, 180.0)] * 3))
@settings(deadline=None)
def test_angles_of_a_turn_are_angles_that_make_it(angles):
    """The matrices agree to rounding; the angles themselves need not, at y = ±90° they are not unique. The degenerate
    branch begins where cos y < 1e-9, and drops as much."""
    turn = solid.euler_to_quat(angles)
    again = solid.euler_to_quat(edits.euler_of(turn))
    assert np.abs(solid.quat_to_matrix(turn) - solid.quat_to_matrix(again)).max() < 4e-9


@given(st.tuples(*[st.floats(-180.0, 180.0)] * 3), st.tuples(*[st.floats(-5.0, 5.0)] * 3))
@example((1e-5, 0.0, 0.0), (0.0, 0.0, 0.0))  # a turn by less than the root of a double's rounding is one
@settings(deadline=None, max_examples=25)
def test_moving_bodies_about_a_point_moves_their_mass_about_it(angles, shift):
    document = Document(ODD)
    before = Scene.from_text(ODD, None).build()
    by, about = Pose(np.array(shift), solid.euler_to_quat(angles)), np.array([0.3, -0.2, 0.1])
    edits.move(document, [0], by, about)
    after = Scene.from_text(document.text, None).build()
    R = solid.quat_to_matrix(by.turn)
    wanted = about + R @ (before.state.bodies.x[0] - about) + by.position
    assert np.abs(after.state.bodies.x[0] - wanted).max() <= 10 * ROUNDING
    inertia = R @ tensor(before, 0) @ R.T
    assert np.abs(tensor(after, 0) - inertia).max() <= 10 * ROUNDING * np.abs(inertia).max()


def test_joints_between_bodies_that_move_go_with_them_and_others_stay():
    document = Document(edits.NEW)
    a = edits.add_body(document, {"type": "sphere", "radius": 0.1}, [0, 0, 1])
    b = edits.add_body(document, {"type": "sphere", "radius": 0.1}, [1, 0, 1])
    edits.add_joint(document, "hinge", "sphere", "sphere 2", [0.5, 0, 1])
    edits.add_joint(document, "ball", "world", "sphere", [0, 0, 2])
    quarter = Pose(np.array([0.0, 0.0, 1.0]), solid.euler_to_quat((0, 0, 90)))
    edits.move(document, [a, b], quarter, np.zeros(3))
    hinge, ball = document.data["joint"]
    assert hinge["anchor"] == pytest.approx([0.0, 0.5, 2.0], abs=ROUNDING)
    assert hinge["axis"] == pytest.approx([-1.0, 0.0, 0.0], abs=ROUNDING)
    assert ball["anchor"] == [0.0, 0.0, 2.0]
    edits.move(document, [b], quarter, np.zeros(3))
    assert document.data["joint"][0] == hinge


@pytest.mark.parametrize("shape", [
    {"type": "box", "size": [0.2, 0.3, 0.4]}, {"type": "ellipsoid", "size": [0.2, 0.3, 0.4]},
    {"type": "cylinder", "radius": 0.1, "height": 0.4}, {"type": "sphere", "radius": 0.1},
    {"type": "cone", "radius": 0.1, "height": 0.4},
])
def test_scaling_multiplies_the_volume_by_the_product_of_its_factors(shape):
    """Round shapes, which cannot follow two factors, take their mean that keeps the volume."""
    document = Document(edits.NEW)
    edits.add_body(document, shape, [0, 0, 1])
    before = Scene.from_text(document.text, None).build().model.mass[1]
    edits.scale(document, [1], [2.0, 3.0, 0.5])
    assert Scene.from_text(document.text, None).build().model.mass[1] / before == pytest.approx(2 * 3 * 0.5, rel=1e-6)


def test_a_grid_and_a_circle_have_as_many_bodies_as_asked_and_none_overlap():
    document = Document(edits.NEW)
    first = edits.add_body(document, {"type": "box", "size": [0.2, 0.2, 0.2]}, [0, 0, 0.1])
    assert len(edits.arrange(document, [first], [3, 2, 4], [0.3, 0.3, 0.2])) == 23
    ring = edits.add_body(document, {"type": "sphere", "radius": 0.1}, [5, 0, 0.1])
    assert len(edits.circle(document, [ring], 8, 1.0)) == 7
    setup = Scene.from_text(document.text, None).build()
    assert overlaps(setup) == [] and len(setup.labels.bodies) == 1 + 24 + 8
    balls = setup.state.bodies.x[25:]
    assert np.hypot(balls[:, 0] - 4.0, balls[:, 1]) == pytest.approx(1.0, abs=ROUNDING)
    angle = np.sort(np.arctan2(balls[:, 1], balls[:, 0] - 4.0))
    assert np.diff(angle) == pytest.approx(math.pi / 4, abs=ROUNDING)


def test_an_overlap_at_the_start_is_told_with_its_depth_and_a_touch_is_none():
    document = Document(edits.NEW)
    edits.add_body(document, {"type": "sphere", "radius": 0.25}, [0, 0, 0.2])
    edits.add_body(document, {"type": "box", "size": [0.3, 0.3, 0.3]}, [3, 0, 0.15])
    (found,) = overlaps(Scene.from_text(document.text, None).build())
    assert set(found.bodies) == {"floor", "sphere"} and found.depth == pytest.approx(0.05, abs=1e-12)


def test_copies_that_an_array_makes_belong_to_the_table_of_the_body_that_it_repeats():
    document = Document(edits.NEW)
    edits.add_body(document, {"type": "sphere", "radius": 0.1}, [0, 0, 1])
    edits.add_body(document, {"type": "sphere", "radius": 0.1}, [0, 5, 1])
    document.append(("array",), {"body": "sphere", "count": [2, 1, 1], "spacing": [1.0, 0.0, 0.0]})
    assert edits.unused(document, "sphere") == "sphere 3"
    document.put(("body", 2, "name"), "other")
    scene = Scene.from_text(document.text, None)
    assert rows(scene.tables) == (0, 1, 1, 2)


def test_a_new_name_is_that_of_the_body_wherever_it_is_named():
    document = Document(edits.NEW)
    edits.add_body(document, {"type": "sphere", "radius": 0.1}, [0, 0, 1])
    edits.add_body(document, {"type": "sphere", "radius": 0.1}, [1, 0, 1])
    edits.add_joint(document, "ball", "sphere", "sphere 2", [0.5, 0, 1])
    edits.add_spring(document, "world", "sphere")
    document.append(("apart",), {"bodies": ["sphere", "sphere 2"]})
    document.put(("material", "steel", "friction"), 0.25)
    document.put(("body", 1, "material"), "steel")
    edits.rename(document, 1, "bob")
    edits.rename_material(document, "steel", "iron")
    scene = Scene.from_text(document.text, None)
    assert scene.tables.joint[0].parent == scene.tables.spring[0].body_b == scene.tables.apart[0].bodies[0] == "bob"
    assert scene.tables.body[1].material == "iron" and scene.tables.material["iron"].friction == 0.25
