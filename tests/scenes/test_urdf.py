"""Robots from URDF files: what is read, what is listed as left out, what is refused."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from mujoco_bodies import assert_bodies_agree

from contactlab.physics import SceneError, open_file
from contactlab.physics.dynamics.trees.joint_space import joint_space, mass_matrix

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


def test_what_is_left_out_is_listed(arm):
    notes = "; ".join(open_file(arm).build().labels.notes)
    for word in ("missing.stl is not beside the file", "friction in the joint", "effort and velocity"):
        assert word in notes


@pytest.mark.parametrize(("change", "sentence"), (
    (("<mass value=\"1\"/>", "<mass value=\"0\"/>"), "the link 'lower' moves but has no mass"),
    (("type=\"prismatic\"", "type=\"planar\""), "of type 'planar'; it must be one of"),
    (("<robot", "<rob"), "is not a robot in URDF"),
))
def test_what_cannot_be_read_is_said_in_a_sentence(arm, change, sentence):
    arm.write_text(ARM.replace(*change))
    with pytest.raises(SceneError, match=r"arm\.urdf") as refused:
        open_file(arm)
    assert sentence in str(refused.value)
