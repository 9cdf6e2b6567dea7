"""Robots from URDF files: what is read, what is listed as left out, what is refused."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from mujoco_bodies import assert_bodies_agree

from contactlab.physics import SceneError, open_file
from contactlab.physics.collision.broad_phase import joined_bodies
from contactlab.physics.core.model import BodyKind
from contactlab.physics.dynamics.trees.mass_matrix import joint_space, mass_matrix
from contactlab.physics.scene import edits
from contactlab.physics.scene.build import height_above
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.scene import Scene
from contactlab.physics.scene.toml_writer import to_toml

ARM = """<robot name="arm">
 <link name="base"/>
 <link name="upper"><inertial><origin xyz="0 0 0.25" rpy="0.1 0.2 0.3"/><mass value="2"/>
   <inertia ixx="0.1" iyy="0.12" izz="0.05" ixy="0.01" ixz="0" iyz="-0.02"/></inertial>
   <collision><origin xyz="0 0 0.25"/><geometry><cylinder radius="0.05" length="0.5"/></geometry></collision></link>
 <link name="lower"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
   <inertia ixx="0.02" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
   <collision><geometry><mesh filename="package://nowhere/missing.stl"/></geometry></collision></link>
 <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1" rpy="0 0.5 0"/>
   <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="10" velocity="1"/><dynamics damping="0.5" friction="0.1"/>
 </joint>
 <joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.5"/>
   <axis xyz="1 0 0"/><limit lower="-0.1" upper="0.2" effort="1" velocity="1"/></joint>
</robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_masses_inertias_and_places_are_mujocos(arm):
    """Against MuJoCo's reading of the file (without the mesh): masses, centres of mass and inertias in the world."""
    setup = open_file(arm).build()
    spec = ARM.replace('<mesh filename="package://nowhere/missing.stl"/>', '<box size="0.1 0.1 0.1"/>')
    theirs = mujoco.MjModel.from_xml_string(spec)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    assert_bodies_agree(setup, theirs, data, ("upper", "lower"))
    joints = setup.model.joints
    assert setup.labels.joints == ("shoulder", "elbow")
    np.testing.assert_allclose(joints.lower[:, 0], [-1.0, -0.1], atol=1e-12)
    np.testing.assert_allclose(joints.upper[:, 0], [2.0, 0.2], atol=1e-12)
    np.testing.assert_allclose(joints.damping, [0.5, 0.0])


@pytest.mark.parametrize("q", [(0.0, 0.0), (0.7, -0.05)])
def test_the_inertia_matrix_is_pinocchios(arm, q):
    """H of both joints, as Pinocchio reads the file."""
    setup, theirs = open_file(arm).build(), pin.buildModelFromUrdf(str(arm))
    wanted = pin.crba(theirs, theirs.createData(), np.array(q))
    H = np.full((2, 2), np.nan)
    mass_matrix(joint_space(setup.model.trees), np.array(q), H)
    np.testing.assert_allclose(H, np.triu(wanted) + np.triu(wanted, 1).T, rtol=0, atol=1e-13)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_blanks_before_a_robot_and_a_zero_byte_after_it_are_not_read(tmp_path, encoding):
    """As in files for ROS and Bullet, whose readers skip blanks and end the text at a zero. UTF-16 is full of zeros."""
    path, text = tmp_path / "arm.urdf", f'<?xml version="1.0" encoding="{encoding}"?>{ARM}\n'
    path.write_bytes(b"\n\n " + text.encode() + b"\0" if encoding == "utf-8" else text.encode(encoding))
    assert open_file(path).build().labels.joints == ("shoulder", "elbow")


def test_what_is_left_out_is_listed(arm):
    notes = "; ".join(open_file(arm).build().labels.notes)
    for word in ("missing.stl is not beside the file", "friction in the joint", "effort and velocity"):
        assert word in notes


@pytest.mark.parametrize(("change", "sentence"), (
    (("<mass value=\"1\"/>", "<mass value=\"0\"/>"), "the link 'lower' moves but has no mass"),
    (("type=\"prismatic\"", "type=\"planar\""), "of type 'planar'; it must be one of"),
    (("<robot", "<rob"), "is not a robot in URDF"),
    (('<parent link="base"/><child link="upper"/>', '<parent link="lower"/><child link="upper"/>'),
     "the links 'upper', 'lower' hang on each other in a ring; a robot must be a tree"),
    (('<parent link="upper"/><child link="lower"/>', '<parent link="base"/><child link="upper"/>'),
     "the link 'upper' is the child of the joints 'shoulder' and 'elbow'"),
    (('<child link="lower"/>', '<child link="lost"/>'), "the joint 'elbow' is at the link 'lost', which is not there"),
    (('<child link="lower"/>', ""), "<child> of the joint 'elbow' has no link; it must be given"),
    (('<axis xyz="0 1 0"/>', '<axis xyz="0 1"/>'), "the joint 'shoulder' has <axis xyz=\"0 1\">; it must be 3 numbers"),
    (('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>'), "the joint 'shoulder' has an axis of length 0"),
    (('rpy="0.1 0.2 0.3"', 'rpy="0.1 nan 0.3"'), "the link 'upper' has <origin rpy=\"0.1 nan 0.3\">"),
    (('ixx="0.1"', 'ixx="1e400"'), "<inertia ixx=\"1e400\">; it must be 1 number up to 1e15"),
    (('name="upper"><inertial>', 'name="lower"><inertial>'), "two links are called 'lower'"),
    (('<mass value="2"/>', '<mass value="-2"/>'), "has a mass of -2 kg; it must be 0 or more"),
))
def test_what_cannot_be_read_is_said_in_a_sentence(arm, change, sentence):
    arm.write_text(ARM.replace(*change))
    with pytest.raises(SceneError, match=r"arm\.urdf") as refused:
        open_file(arm)
    assert sentence in str(refused.value)


INERTIA = '<inertia ixx="0.02" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/>'


def link(name, mass=1.0, inertia=INERTIA, shape=""):
    inertial = f'<inertial><mass value="{mass}"/>{inertia}</inertial>' if mass else ""
    return f'<link name="{name}">{inertial}{shape and f"<collision><geometry>{shape}</geometry></collision>"}</link>'


def joint(parent, child, kind="fixed", xyz="0 0 0.5"):
    return (f'<joint name="{parent}-{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}"/></joint>')


def robot(tmp_path, *parts):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="robot">{"".join(parts)}</robot>')
    return open_file(path)


def test_what_is_fixed_together_is_one_body(tmp_path):
    """A frame without mass (a flange, a tool) adds nothing but its shapes and what hangs on it: here a ball at 0.5 m
    and a hinge at 1 m. Another kilogram on a fixed joint 1 m above: twice the inertia, and 2 · 1 kg · (0.5 m)²."""
    def parts(tip):
        return (link("base"), link("flange", 0, shape='<sphere radius="0.1"/>'), tip, link("arm"),
                joint("base", "flange"), joint("flange", "tip"), joint("tip", "arm", "continuous", "0.1 0 0"))

    scene = robot(tmp_path, *parts(link("tip", 0)))
    setup = scene.build()
    assert setup.labels.bodies == ("base", "arm", "ground") and setup.labels.joints[0] == "tip-arm"
    np.testing.assert_allclose(setup.model.mass[:2], [1.0, 1.0])
    np.testing.assert_allclose(setup.model.shapes.position[0], [0.0, 0.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(setup.state.bodies.x[1] - setup.state.bodies.x[0], [0.1, 0.0, 1.0], atol=1e-15)
    assert "flange is fixed to base: they are one body" in setup.labels.notes
    two = robot(tmp_path, *parts(link("tip"))).build()
    np.testing.assert_allclose(two.model.mass[:2], [2.0, 1.0])
    np.testing.assert_allclose(np.sort(two.model.inertia[0]), [0.06, 0.54, 0.56], atol=1e-14)


def test_a_root_without_mass_is_the_world_with_its_shapes(tmp_path):
    """A floor is scenery, and an arm on a stand does not touch the stand where it is fastened."""
    stand = link("stand", 0, shape='<box size="1 1 1"/>')
    setup = robot(tmp_path, stand, link("arm"), joint("stand", "arm", "continuous")).build()
    assert setup.labels.bodies == ("stand", "arm")
    assert list(setup.model.mass) == [0.0, 1.0] and setup.model.joints.parent[0] == 0


def test_what_no_mesh_can_be_is_left_out_or_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "in" / "link.obj").symlink_to(tmp_path / "secret.obj")
    for name in (str(tmp_path / "secret.obj"), "../secret.obj", "link.obj", "/etc/passwd", "file:///etc/passwd"):
        scene = robot(tmp_path / "in", link("base", shape=f'<mesh filename="{name}"/>'))
        assert any("is not beside the file and is left out" in note for note in scene.notes)
        assert not scene.tables.body[0].shape
    (tmp_path / "in" / "real.obj").write_text((tmp_path / "secret.obj").read_text())
    with pytest.raises(SceneError, match=r"the link 'base' has <mesh scale=\"1 1 1 1\">; it must be 1 or 3 numbers"):
        robot(tmp_path / "in", link("base", shape='<mesh filename="real.obj" scale="1 1 1 1"/>'))


def test_inertia_that_is_missing_or_no_bodys_is_said(tmp_path):
    """Without inertia: a ball of 1 cm, 2/5 m r². More than the triangle inequality allows: at its limit."""
    point = robot(tmp_path, link("base", inertia=""))
    assert "base: has mass but no inertia; it is taken for a ball of 1 cm" in point.notes
    np.testing.assert_allclose(point.build().model.inertia[0], 0.4 * 1.0 * 0.01**2)
    odd = robot(tmp_path, link("base", inertia='<inertia ixx="0.01" iyy="0.02" izz="0.04" ixy="0" ixz="0" iyz="0"/>'))
    assert any("is more than the sum of the others; it is taken for that sum, 0.03" in note for note in odd.notes)
    np.testing.assert_allclose(odd.build().model.inertia[0], [0.01, 0.02, 0.03], rtol=1e-12)


def test_links_that_overlap_as_drawn_pass_through_each_other(tmp_path):
    """Base and hand, with an arm between them: balls of 10 cm, the hand 5 cm from the base. Touching is all that such a
    pair could ever do. The pair is in the scene's tables, so that a saved robot is the same."""
    ball = '<sphere radius="0.1"/>'
    scene = robot(tmp_path, link("base", shape=ball), link("arm", shape=ball), link("hand", shape=ball),
                  joint("base", "arm", "continuous"), joint("arm", "hand", "continuous", "0 0.05 -0.5"))
    assert [pair.bodies for pair in scene.tables.apart] == [("base", "hand")]
    assert any("1 pairs of links overlap as drawn" in note for note in scene.notes)
    scene.save(tmp_path / "saved.toml")
    model = open_file(tmp_path / "saved.toml").build().model
    assert model.apart.tolist() == [[0, 2]] and joined_bodies(model).tolist() == [[0, 1], [0, 2], [1, 2]]


LEGS = (link("trunk", shape='<box size="0.4 0.3 0.2"/>'), link("leg", shape='<cylinder radius="0.05" length="0.6"/>'),
        joint("trunk", "leg", "continuous", "0.1 0 -0.45"))


def test_a_free_robot_stands_on_its_ground(tmp_path):
    """The leg, 0.6 m long about its frame 0.45 m below that of the trunk, ends 0.75 m below it; the trunk's corners
    are 0.1 m below it, so without the leg that is where the ground is."""
    scene = robot(tmp_path, *LEGS)
    assert scene.tables.body[-1].name == "ground"
    assert scene.tables.body[-1].position == pytest.approx((0.0, 0.0, -0.75), abs=1e-12)
    setup = scene.build()
    assert height_above(setup, "ground") == pytest.approx(0.0, abs=1e-12)
    alone = robot(tmp_path, LEGS[0])
    assert alone.tables.body[-1].position[2] == pytest.approx(-0.1, abs=1e-12)


def test_the_base_of_a_robot_is_fixed_and_freed_again(tmp_path):
    document = Document(to_toml(robot(tmp_path, *LEGS).tables.model_dump(exclude_defaults=True)))
    free = document.text
    kinds = []
    for held in (True, False):
        assert edits.hold_bases(document) is held
        kinds.append(Scene.from_text(document.text, None).build().model.kind.tolist())
    assert kinds == [[BodyKind.FIXED, BodyKind.LINK, BodyKind.FIXED], [BodyKind.LINK, BodyKind.LINK, BodyKind.FIXED]]
    assert document.data == Document(free).data
    with pytest.raises(SceneError, match="There is no base"):
        edits.hold_bases(Document(edits.NEW))
