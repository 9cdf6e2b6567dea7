"""Claims about joints in scene files: what is refused and how, and what a scene with joints is built into."""

import numpy as np
import pytest
from tree_scenes import random_tree, rods

from contactlab.physics.collision import Detector
from contactlab.physics.core.model import BodyKind, JointType
from contactlab.physics.core.state import copy_state
from contactlab.physics.scene.scene import Scene, SceneError

BALL = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
HINGE = {"type": "hinge", "axis": [0, 1, 0]}


def scene(*joints, **bodies):
    """Bodies a, b, c in a row, the joints between them, and what is changed about a body."""
    rows = [{"name": name, "position": [x, 0, 0]} | (BALL if not bodies.get(name) else BALL | bodies[name])
            for x, name in enumerate("abc")]
    return {"body": rows, "joint": list(joints)}


REFUSED = {
    "unknown body": ([HINGE | {"child": "d"}], 'joint[0].child is "d"; it must be the name of a body'),
    "no axis": ([{"type": "hinge", "child": "a"}], "joint[0].axis is missing; a hinge joint must have it"),
    "long axis": ([HINGE | {"child": "a", "axis": [0, 2, 0]}], "joint[0].axis is [0, 2, 0]; it must be a unit vector"),
    "axis of a ball": ([
        {"type": "ball", "child": "a", "axis": [0, 0, 1]}], "type ball must not have it"),
    "oblique axes": ([{"type": "universal", "child": "a", "axes": [[1, 0, 0], [0.6, 0.8, 0]]}], "not at right angles"),
    "unknown type": ([{"type": "rope", "child": "a"}], 'joint[0].type is "rope"; it must be one of hinge, slider'),
    "loop": ([HINGE | {"child": "a", "parent": "b"}, HINGE | {"child": "b", "parent": "a"}],
             'closes a loop: joint[0], joint[1]; one of them must have coordinates = "maximal"'),
    "two joints on a child": ([HINGE | {"child": "a"}, HINGE | {"child": "a", "parent": "b"}],
                              'joint[1].child is "a", as that of joint[0] is'),
    "itself": ([HINGE | {"child": "a", "parent": "a"}],
               'joint[0].child is "a", as parent is; it must be another body'),
    "limits the wrong way": ([HINGE | {"child": "a", "limits": [10, -10]}], "it must begin with the lower limit"),
    "too many positions": ([HINGE | {"child": "a", "position": [1, 2]}], "type hinge must have 1"),
    "same name": ([HINGE | {"child": "a", "name": "j"}, HINGE | {"child": "b", "name": "j"}], "it must be another"),
    "motor on a ball": ([{"type": "ball", "child": "a", "motor": {"torque": 1.0}}], "only a hinge or a slider"),
    "field of a spring": ([HINGE | {"child": "a", "spring": {"stiffness": 1.0, "positon": 2}}],
                          "(did you mean position?)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_joint_that_makes_no_sense_is_refused_in_one_sentence(case):
    joints, sentence = REFUSED[case]
    with pytest.raises(SceneError) as refused:
        Scene.from_dict(scene(*joints))
    assert sentence in str(refused.value)
    assert str(refused.value).count("\n") == 0


def test_joints_do_not_hang_on_what_they_cannot_move():
    with pytest.raises(SceneError, match="which forces do not move; it must be a dynamic body"):
        Scene.from_dict(scene(HINGE | {"child": "a"}, a={"fixed": True}))
    with pytest.raises(SceneError, match="which forces do not move; it must be a dynamic body"):
        Scene.from_dict(scene(HINGE | {"child": "a"}, a={"kinematic": True}))
    with pytest.raises(SceneError, match="which has a velocity of its own"):
        Scene.from_dict(scene(HINGE | {"child": "b", "parent": "a"}, b={"velocity": [1, 0, 0]}))


def test_a_scene_with_joints_is_saved_and_read_back(tmp_path):
    first = Scene.from_dict(scene(
        HINGE | {"child": "a", "limits": [-30, 60], "spring": {"stiffness": 2.0, "position": 10}},
        {"type": "ball", "child": "b", "parent": "a", "limits": 40},
        {"type": "universal", "child": "c", "parent": "b", "axes": [[1, 0, 0], [0, 1, 0]],
         "limits": [[-1, 1], [-2, 2]]},
    ))
    first.save(tmp_path / "again.toml")
    assert Scene.load(tmp_path / "again.toml") == first


def test_a_dynamic_parent_without_a_joint_is_a_free_root():
    setup = Scene.from_dict(scene(HINGE | {"child": "b", "parent": "a"}, a={"velocity": [1.0, 2.0, 3.0]})).build()
    model, trees = setup.model, setup.model.trees
    assert model.kind.tolist() == [BodyKind.LINK, BodyKind.LINK, BodyKind.DYNAMIC]
    assert model.joints.type.tolist() == [JointType.HINGE, JointType.FREE]
    assert setup.labels.joints == ("joint 1", "a (free)")
    assert trees.body.tolist() == [0, 1] and trees.parent.tolist() == [-1, 0]
    assert setup.state.joints.v.tolist() == [0, 0, 0, 1, 2, 3, 0]
    # the hinge at its child's place, 1 m ahead of the parent, moves with it
    np.testing.assert_allclose(setup.state.bodies.v[1], [1, 2, 3], rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_without_positions_links_are_where_the_scene_draws_them(seed):
    drawn = random_tree(np.random.default_rng(seed), 8).tables
    still = drawn.model_copy(update={
        "joint": tuple(j.model_copy(update={"position": None, "velocity": None}) for j in drawn.joint)})
    bodies = Scene(still).build().state.bodies
    np.testing.assert_allclose(bodies.x, [b.position for b in still.body], rtol=0, atol=1e-13)
    turned = np.abs(np.einsum("ij,ij->i", bodies.q, [b.orientation for b in still.body]))
    np.testing.assert_allclose(turned, 1.0, rtol=0, atol=1e-13)  # q and -q are the same


def test_positions_move_a_child_with_all_that_hangs_on_it():
    bodies = Scene.from_dict(rods(3, angle=90.0)).build().state.bodies
    # drawn hanging from the origin, the row is turned about -y to lie along x
    np.testing.assert_allclose(bodies.x, [[0.5, 0, 0], [1.5, 0, 0], [2.5, 0, 0]], rtol=0, atol=1e-15)


def test_joined_bodies_do_not_touch_unless_told_to():
    box = {"mass": 1.0, "inertia": None, "shape": [{"type": "box", "size": [1.2, 1.2, 1.2]}]}
    for collide, pairs in ((False, {(1, 2)}), (True, {(0, 1), (1, 2)})):
        table = scene(HINGE | {"child": "b", "parent": "a", "collide": collide}, a=box, b=box, c=box)
        for body in table["body"]:
            del body["inertia"]
        setup = Scene.from_dict(table).build()
        contacts = Detector(setup.model).detect(setup.state.bodies, np.zeros(3))
        count = int(contacts.count[0])
        assert set(zip(contacts.body_a[:count].tolist(), contacts.body_b[:count].tolist(), strict=True)) == pairs


def test_a_copy_of_a_state_shares_nothing():
    state = Scene.from_dict(rods(2)).build().state
    copy = copy_state(state)
    copy.joints.q[:] = 7.0
    copy.joints.v[:] = 7.0
    assert not (state.joints.q == 7.0).any() and not (state.joints.v == 7.0).any()
