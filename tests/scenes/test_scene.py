"""Scene files: every mistake named by file and field, all at once; what is saved is what is loaded."""

import json
import math
import os
import pickle
import tomllib
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from contactlab.assets import FOLDER, gallery, scene_path
from contactlab.physics.core.model import BodyKind, movable
from contactlab.physics.scene.scene import Scene, SceneError, open_file
from contactlab.physics.scene.schema import json_schema
from contactlab.physics.scene.toml_writer import to_toml

BALL = {"type": "sphere", "radius": 0.1}
PLANE = {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}


def ball(**fields):
    return {"name": "ball", "shape": [BALL], **fields}


def refused(data, folder=None):
    """The lines of the error."""
    with pytest.raises(SceneError) as error:
        Scene.from_dict(data, folder).build()
    return str(error.value).split("\n")


@pytest.mark.parametrize(("data", "folder", "said"), [
    ([1], None, "is [1]; it must be a table"), (None, None, "it must be a table"), ("text", None, "it must be a table"),
    ({}, 5, "its folder is 5; it must be a path"),
    ({"body": [ball(shape=[{"type": "hull", "file": "a.stl"}])]}, "text", "it must be the path of a file"),
])
def test_what_is_no_scene_at_all_is_refused_in_words(data, folder, said):
    (line,) = refused(data, folder)
    assert line.startswith("scene: ")
    assert said in line


def test_the_folder_of_a_scene_may_be_text(tmp_path):
    trimesh.creation.box((1.0, 1.0, 1.0)).export(tmp_path / "a.stl")
    tables = {"body": [{"name": "a", "shape": [{"type": "hull", "file": "a.stl"}]}]}
    for scene in (Scene.from_dict(tables, str(tmp_path)), Scene.from_text(to_toml(tables), str(tmp_path))):
        assert scene.folder == tmp_path
        assert scene.build().model.mass[0] == pytest.approx(1000.0)


def test_a_name_with_a_zero_byte_is_refused_in_words():
    with pytest.raises(SceneError, match="zero byte"):
        Scene.load("a\0b.toml")


# ---------------------------------------------------------------------------------------------------- bad input

BAD = [
    # data, field, what is said about it
    ({"scne": {}}, "scne", "is not a known field (did you mean scene?); allowed here: scene, camera, solver"),
    ({"rope": [{}]}, "rope", "is not a known field"),
    ({"body": [ball(masss=1.0)]}, "body[0].masss", "did you mean mass?"),
    ({"body": [ball(shape=[{**BALL, "size": [1, 1, 1]}])]}, "body[0].shape[0].size", "is not a known field"),
    ({"material": {"a": {"springiness": 1e5}}}, "material.a.springiness", "stiffness_n, damping_n"),
    ({"material": {"a": {"stiffness_n": 0.0}}}, "material.a.stiffness_n", "a number > 0"),
    ({"scene": {"title": 3}}, "scene.title", "is 3; it must be a line of text"),
    ({"scene": {"gravity": [0, 0]}}, "scene.gravity", "is [0, 0]; it must be a list of 3 numbers"),
    ({"scene": 3}, "scene", "is 3; it must be a table"),
    ({"body": {}}, "body", "is a table; it must be a list"),
    ({"body": [3]}, "body[0]", "is 3; it must be a table"),
    ({"solver": {"method": "magic"}}, "solver.method", 'is "magic"; it must be one of time_stepping'),
    ({"solver": {"integrator": "rk5"}}, "solver.integrator", "it must be one of euler, semi_implicit"),
    ({"solver": {"solver": 1}}, "solver.solver", "it must be one of"),
    ({"solver": {"h": 0.0}}, "solver.h", "it must be the step, a number from 1e-6 to 0.1 [s]"),
    ({"solver": {"h": 2}}, "solver.h", "is 2;"),
    ({"solver": {"iterations": 2.5}}, "solver.iterations", "it must be a whole number from 1 to 10000"),
    ({"camera": {"distance": 0}}, "camera.distance", "it must be a number > 0 [m]"),
    ({"material": {"a": {"restitution": 1.5}}}, "material.a.restitution", "from 0 to 1"),
    ({"material": {"a": {"friction": -0.1}}}, "material.a.friction", "from 0 to 100"),
    ({"material": {"a": {"damping_roll": -1}}}, "material.a.damping_roll", "it must be D of the dent"),
    ({"solver": {"integrator": "sdirk2"}}, "solver.integrator", 'is "sdirk2"; it must be one of euler'),
    ({"pair": [{"materials": ["default"]}]}, "pair[0].materials", "it must be the names of two materials"),
    ({"pair": [{"materials": ["default", "ice"]}]}, "pair[0].materials", 'is "ice"; it must be the name of a material'),
    ({"body": [ball(mass=-1.0)]}, "body[0].mass", "is -1.0; it must be a number > 0 [kg]"),
    ({"body": [ball(mass=True)]}, "body[0].mass", "is true; it must be a number"),
    ({"body": [ball(mass="2 kg")]}, "body[0].mass", 'is "2 kg"; it must be a number'),
    ({"body": [ball(mass=1.0, density=1.0)]}, "body[0].density", "is given besides mass; it must be only one"),
    ({"body": [ball(position=[0, 0, math.nan])]}, "body[0].position", "it must hold finite numbers only"),
    ({"body": [ball(velocity=[0, math.inf, 0])]}, "body[0].velocity", "it must hold finite numbers only"),
    ({"body": [ball(shape=[{"type": "sphere", "radius": math.nan}])]}, "body[0].shape[0].radius", "is nan;"),
    ({"body": [ball(shape=[{"type": "sphere", "radius": -0.1}])]}, "body[0].shape[0].radius", "is -0.1;"),
    ({"body": [ball(shape=[{"type": "sphere"}])]}, "body[0].shape[0].radius", "is missing; it must be a number > 0"),
    ({"body": [ball(shape=[{"type": "box", "size": [1, 0, 1]}])]}, "body[0].shape[0].size", "three lengths"),
    ({"body": [ball(shape=[{"type": "torso"}])]}, "body[0].shape[0].type", 'is "torso"; it must be one of sphere, box'),
    ({"body": [ball(shape=[{"type": "ellipsoid"}])]}, "body[0].shape[0].size", "is missing; it must be three full"),
    ({"body": [ball(shape=[{"type": "bowl", "radius": 1.0}])]}, "body[0].shape[0].type", "on a dynamic body; it must"),
    ({"body": [ball(shape=[{"type": "pipe", "radius": 1.0, "height": 2.0}])]}, "body[0].shape[0].type", "on a "),
    ({"body": [ball(fixed=True, shape=[{"type": "bowl", "radius": 1.0, "angle": 190.0}])]}, "body[0].shape[0].angle",
     "a number > 0 and <= 180 degrees"),
    ({"material": {"a": {"restitution_t": 1.5}}}, "material.a.restitution_t", "from -1 (smooth)"),
    ({"body": [ball(shape=[{}])]}, "body[0].shape[0].type", "is missing; it must be one of sphere"),
    ({"body": [ball(orientation=[1, 1, 0, 0])]}, "body[0].orientation", "it must be a unit quaternion"),
    ({"body": [ball(orientation=[0, 0, 0, 0])]}, "body[0].orientation", "it must be a unit quaternion"),
    ({"body": [ball(orientation=[1, 0, 0, 0], euler=[0, 0, 0])]}, "body[0].euler", "is given besides orientation"),
    ({"body": [ball(color="blue")]}, "body[0].color", "it must be a colour"),
    ({"body": [ball(name="")]}, "body[0].name", "it must be a name"),
    ({"body": [ball(name="world")]}, "body[0].name", "it must be another name"),
    ({"body": [ball(), ball()]}, "body[1].name", 'is "ball", as body[0].name is; it must be a name no other body has'),
    ({"body": [{"shape": [BALL]}, ball(name="body 1")]}, "body[1].name", "no other body has"),
    ({"body": [ball(material="jelly")]}, "body[0].material", 'is "jelly"; it must be the name of a material'),
    ({"body": [ball(fixed=True, kinematic=True)]}, "body[0].kinematic", "is given besides fixed"),
    ({"body": [ball(fixed=True, velocity=[1, 0, 0])]}, "body[0].velocity", "on a fixed body"),
    ({"body": [ball(kinematic=True, velocity=[1, 0, 0])]}, "body[0].velocity", "it must stand in [body.motion]"),
    ({"body": [ball(motion={"frequency": 1.0})]}, "body[0].motion", "kinematic must be true"),
    ({"body": [ball(surface_velocity=[1, 0, 0])]}, "body[0].surface_velocity", "on a dynamic body"),
    ({"body": [ball(kinematic=True, motion={"loop": True})]}, "body[0].motion.loop", "fewer than two points"),
    ({"body": [ball(kinematic=True, motion={"path": [{"time": 1.0, "position": [0, 0, 0]}] * 2})]},
     "body[0].motion.path[1].time", "it must be greater than 1"),
    ({"body": [{"name": "a", "shape": [{"type": "plane"}]}]}, "body[0].shape[0].type", "on a dynamic body"),
    ({"body": [{"name": "a"}]}, "body[0]", "has no shape; it must have at least one, or mass and inertia"),
    ({"body": [ball(shape=[{**BALL, "density": 0.0}])]}, "body[0]", "has no mass"),
    ({"body": [ball(inertia=[1, 1, 1])]}, "body[0].mass", "it must be given where inertia is"),
    ({"body": [ball(mass=1, inertia=[1, 1, 2.5])]}, "body[0].inertia", "triangle inequality"),
    ({"body": [ball(mass=1, inertia=[1, 1, 0])]}, "body[0].inertia", "must be greater than 0"),
    ({"body": [ball(mass=1, inertia=[1, 1, 1, 2, 0, 0])]}, "body[0].inertia", "must be greater than 0"),
    ({"body": [ball(mass=1, inertia=[1, 1])]}, "body[0].inertia", "it must be a list of 3 or 6 numbers"),
    ({"body": [ball(shape=[{"type": "hull"}])]}, "body[0].shape[0]", "it must have either points or file"),
    ({"body": [ball(shape=[{"type": "hull", "points": [[0, 0, 0]] * 3}])]}, "body[0].shape[0].points", "at least four"),
    ({"body": [ball(shape=[{"type": "hull", "points": [[0, 0, 0]] * 5}])]}, "body[0].shape[0].points", "no volume"),
    ({"body": [ball(shape=[{"type": "mesh", "file": "a.stl"}])]}, "body[0].shape[0].file", "has no folder"),
    ({"array": [{"body": "brick", "count": [1, 1, 1], "spacing": [0, 0, 0]}]}, "array[0].body", "the name of a body"),
    ({"body": [ball()], "array": [{"body": "ball", "count": [0, 1, 1], "spacing": [0, 0, 0]}]}, "array[0].count",
     "it must be three whole numbers of at least 1"),
    ({"body": [ball()], "array": [{"body": "ball", "count": [1000, 1000, 1], "spacing": [0, 0, 0]}]}, "array[0].count",
     "it must not make more than"),
    ({"body": [ball(), ball(name="ball 2")], "array": [{"body": "ball", "count": [2, 1, 1], "spacing": [1, 0, 0]}]},
     "array[0]", 'makes a second body named "ball 2"'),
    ({"spring": [{"body_a": "world", "body_b": "x", "stiffness": 1}]}, "spring[0].body_b", 'is "x"; it must be'),
    ({"spring": [{"body_a": "world", "body_b": "world", "stiffness": 1}]}, "spring[0].body_b", "another body"),
    ({"spring": [{"body_a": "world", "body_b": "a", "stiffness": -1}]}, "spring[0].stiffness", "is -1; it must be"),
]


@pytest.mark.parametrize(("data", "field", "said"), BAD, ids=[f"{field} {i}" for i, (_, field, _) in enumerate(BAD)])
def test_every_mistake_is_one_sentence_with_its_field(data, field, said):
    (line,) = refused(data)
    assert line.startswith((f"scene: {field} ", f"scene: {field}:", f"scene: {field}."))
    assert said in line and line.endswith(".")


def test_all_mistakes_are_told_at_once():
    lines = refused({
        "solver": {"h": -1.0}, "material": {"a": {"friction": -1.0}},
        "body": [ball(mass=-1.0, shape=[{"type": "sphere", "radius": 0}]), ball(material="jelly")],
        "spring": [{"body_a": "nobody", "body_b": "ball", "stiffness": 1.0}],
    })
    fields = [line.split(" ")[1] for line in lines]
    assert fields == ["solver.h", "material.a.friction", "body[0].mass", "body[0].shape[0].radius", "body[1].name",
                      "body[1].material", "spring[0].body_a"]


def test_a_quaternion_that_is_nearly_unit_is_normalised():
    setup = Scene.from_dict({"body": [ball(orientation=[0.7075, 0.7075, 0.0, 0.0])]}).build()
    assert np.linalg.norm(setup.state.bodies.q[0]) == pytest.approx(1.0, abs=1e-15)


def test_syntax_errors_name_the_line(tmp_path):
    (tmp_path / "bad.toml").write_text("[scene]\ntitle = 'x'\ngravity = 0, 0\n")
    with pytest.raises(SceneError, match=r"bad\.toml: is not valid TOML: .*line \d"):
        Scene.load(tmp_path / "bad.toml")


def test_missing_unreadable_and_binary_files_are_named(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.toml").mkdir()
    for name, said in (("gone.toml", "cannot be read"), ("binary.toml", "UTF-8"), ("folder.toml", "cannot be read")):
        with pytest.raises(SceneError, match=said) as error:
            open_file(tmp_path / name)
        assert name in str(error.value)


def test_errors_of_a_file_begin_with_its_name(tmp_path):
    (tmp_path / "dice.toml").write_text("[[body]]\nmass = -1\n")
    with pytest.raises(SceneError, match=r"^dice\.toml: body\[0\]\.mass is -1; it must be a number > 0"):
        Scene.load(tmp_path / "dice.toml")


@pytest.mark.parametrize("name", ["../secret.stl", "/etc/passwd", "link.stl", "sub/../../secret.stl"])
def test_mesh_paths_stay_below_the_scenes_folder(tmp_path, name):
    folder = tmp_path / "scene"
    (folder / "sub").mkdir(parents=True)
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "secret.stl")
    os.symlink(tmp_path / "secret.stl", folder / "link.stl")
    (line,) = refused({"body": [ball(shape=[{"type": "mesh", "file": name}])]}, folder)
    assert line.startswith("scene: body[0].shape[0].file is ")
    assert "it must be a path below the scene's folder" in line


def test_a_mesh_that_is_not_there_or_not_usable_is_named_with_its_field(tmp_path):
    (tmp_path / "empty.stl").write_bytes(b"")
    shapes = [{"type": "mesh", "file": "gone.stl"}]
    (line,) = refused({"body": [ball(shape=shapes)]}, tmp_path)
    assert line.startswith('scene: body[0].shape[0].file is "gone.stl"')
    (line,) = refused({"body": [ball(shape=[BALL, {"type": "mesh", "file": "empty.stl"}])]}, tmp_path)
    assert line == "scene: body[0].shape[1].file: empty.stl is empty; it must hold a surface."
    (tmp_path / "plane.obj").write_text("v 0 0\nv 1 0\nv 0 1\nv 1 1\nf 1 2 3\nf 4 3 2\nf 1 3 4\nf 1 4 2\n")
    (line,) = refused({"body": [ball(shape=[{"type": "mesh", "file": "plane.obj"}])]}, tmp_path)
    assert line.endswith("plane.obj has vertices of 2 numbers; each must have three, x y z.")


# ---------------------------------------------------------------------------------------------------- what is built


def test_bodies_without_a_name_are_numbered_by_their_place():
    setup = Scene.from_dict({"body": [{"shape": [BALL]}, ball(), {"shape": [BALL]}]}).build()
    assert setup.labels.bodies == ("body 1", "ball", "body 3")


def test_pairs_of_materials_follow_the_rule_unless_told_otherwise():
    setup = Scene.from_dict({
        "material": {"steel": {"restitution": 0.8, "friction": 0.2}, "ice": {"restitution": 0.1, "friction": 0.05}},
        "pair": [{"materials": ["ice", "default"], "friction": 0.9}], "body": [ball()],
    }).build()
    e, mu = setup.model.materials[:2]
    default, steel, ice = (setup.labels.materials.index(name) for name in ("default", "steel", "ice"))
    assert e[steel, ice] == e[ice, steel] == 0.8
    assert mu[steel, ice] == pytest.approx(math.sqrt(0.2 * 0.05))
    assert mu[ice, default] == mu[default, ice] == 0.9 and e[ice, default] == 0.1
    assert (np.diag(mu) == [0.5, 0.2, 0.05]).all()


def test_an_array_repeats_a_body_with_x_counting_fastest():
    setup = Scene.from_dict({"body": [ball(position=[1, 0, 0]), PLANE],
                             "array": [{"body": "ball", "count": [2, 1, 3], "spacing": [0.5, 0, 1.0]}]}).build()
    assert setup.labels.bodies == ("ball", "ball 2", "ball 3", "ball 4", "ball 5", "ball 6", "ground")
    expected = [[1 + 0.5 * i, 0, k] for k in range(3) for i in range(2)]
    assert (setup.state.bodies.x[:6] == expected).all()


def test_jitter_is_bounded_and_repeats_with_its_seed():
    def positions(seed):
        data = {"body": [ball()], "array": [{"body": "ball", "count": [5, 5, 1], "spacing": [1, 1, 1], "jitter": 0.1,
                                             "tumble": True, "seed": seed}]}
        return Scene.from_dict(data).build().state.bodies

    a, b, c = positions(1), positions(1), positions(2)
    grid = np.round(a.x)
    assert (a.x == b.x).all() and (a.q == b.q).all() and not (a.x == c.x).all()
    assert 0.0 < np.abs(a.x - grid).max() <= 0.1
    assert np.allclose(np.linalg.norm(a.q, axis=1), 1.0)


def test_springs_hold_bodies_by_points_given_in_the_scenes_axes():
    rod = {"name": "rod", "position": [0, 0, 2], "euler": [0, 90, 0],
           "shape": [{"type": "box", "size": [0.2, 0.1, 1.0], "position": [0, 0, 0.5]}]}
    spring = {"body_a": "world", "body_b": "rod", "anchor_a": [0, 0, 3], "anchor_b": [0, 0, 1], "stiffness": 5.0}
    setup = Scene.from_dict({"body": [rod], "spring": [spring]}).build()
    springs = setup.model.springs
    assert (springs.body_a[0], springs.body_b[0]) == (-1, 0)
    # the end of the rod is at (1, 0, 2): half its length from the centre of mass, and √2 from the world point
    assert np.allclose(springs.anchor_b[0], [0.0, 0.0, 0.5])
    assert springs.length[0] == pytest.approx(math.sqrt(2.0))


def test_kinematic_bodies_start_on_their_motion():
    motion = {"velocity": [1, 0, 0], "amplitude": [0, 0, 0.1], "frequency": 2.0, "phase": math.pi / 2}
    data = {"body": [ball(kinematic=True, position=[0, 0, 1], motion=motion, surface_spin=[0, 0, 3])]}
    setup = Scene.from_dict(data).build()
    assert setup.model.kind[0] == BodyKind.KINEMATIC and setup.model.inv_mass[0] == 0.0
    assert np.allclose(setup.state.bodies.x[0], [0, 0, 1.1]) and np.allclose(setup.state.bodies.v[0], [1, 0, 0])
    assert (setup.model.motions.surface_spin[0] == [0, 0, 3]).all()


def test_arrays_of_the_model_have_the_kinds_and_the_order_that_kernels_want():
    setup = Scene.load(gallery()["meshes"]).build()

    def arrays(value):
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                yield from arrays(item)

    found = list(arrays(setup.model)) + list(arrays(setup.state))
    assert len(found) > 60
    assert all(a.flags.c_contiguous and a.dtype in (np.float64, np.int32, np.int64) for a in found)
    materials = setup.model.materials
    open_ended = [setup.model.shapes.bound, materials.restitution_t, materials.restitution_psi,  # inf and nan: none
                  materials.friction_static, materials.friction_torsional, materials.friction_rolling]
    assert all(np.isfinite(a).all() for a in found if not any(a is b for b in open_ended))


# ---------------------------------------------------------------------------------------------------- saving

names = st.text(min_size=1, max_size=12).filter(lambda s: s != "world")
numbers = st.floats(-1e3, 1e3)
positive = st.floats(1e-3, 1e3)
vector = st.tuples(numbers, numbers, numbers).map(list)


@st.composite
def scenes(draw):
    shape = st.one_of(
        st.fixed_dictionaries({"type": st.just("sphere"), "radius": positive}, optional={"position": vector}),
        st.fixed_dictionaries({"type": st.just("box"), "size": st.tuples(positive, positive, positive).map(list)}),
        st.fixed_dictionaries({"type": st.just("capsule"), "radius": positive, "height": positive}),
    )
    optional = {"position": vector, "velocity": vector, "mass": positive, "euler": vector, "color": st.just("#0072b2")}
    bodies = [
        {"name": name, "shape": draw(st.lists(shape, min_size=1, max_size=3)),
         **draw(st.fixed_dictionaries({}, optional=optional))}
        for name in draw(st.lists(names, max_size=3, unique=True))
    ]
    material = st.fixed_dictionaries({}, optional={"restitution": st.floats(0, 1), "friction": st.floats(0, 2)})
    return {
        "scene": {"title": draw(st.text(max_size=30)), "summary": draw(st.text(max_size=30)), "gravity": draw(vector)},
        "material": draw(st.dictionaries(names, material, max_size=2)), "body": bodies,
    }


@settings(max_examples=60, deadline=None)
@given(scenes())
def test_what_is_saved_loads_as_an_equal_scene(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("scene") / "saved.toml"
    scene = Scene.from_dict(data)
    scene.save(path)
    assert Scene.load(path) == scene


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.one_of(
    st.text(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False),
    st.lists(st.floats(allow_nan=False)),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
    st.lists(st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=2), max_size=2)), max_size=5))
def test_toml_reads_back_as_it_was_written(data):
    assert tomllib.loads(to_toml(data)) == data


def test_saving_takes_the_meshes_along_and_overwrites_no_other_file(tmp_path):
    (tmp_path / "a").mkdir()
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "a" / "box.stl")
    scene = Scene.from_mesh(tmp_path / "a" / "box.stl")
    scene.save(tmp_path / "b.toml")
    again = Scene.load(tmp_path / "b.toml")
    assert again == scene and (again.build().model.mass == scene.build().model.mass).all()
    (tmp_path / "box.stl").write_bytes(b"something else")
    with pytest.raises(SceneError, match="another file"):
        scene.save(tmp_path / "c.toml")


def test_scenes_cross_process_borders():
    scene = Scene.load(gallery()["meshes"])
    again = pickle.loads(pickle.dumps(scene))
    assert again == scene and (again.path, again.folder) == (scene.path, scene.folder)


# ---------------------------------------------------------------------------------------------------- what comes along


def test_the_schema_that_is_shipped_is_up_to_date():
    # to renew: Path("assets/scene.schema.json").write_text(contactlab.physics.scene.schema.json_schema())
    shipped = (FOLDER / "scene.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == json.loads(json_schema())


@pytest.mark.parametrize("key", gallery())
def test_every_gallery_scene_builds_and_tells_students_what_it_shows(key):
    scene = Scene.load(gallery()[key])
    setup = scene.build()
    assert scene.name == key and scene.title and scene.summary and len(scene.watch) > 80 and scene.camera is not None
    assert movable(setup.model.kind).any()
    assert (setup.model.inv_mass[setup.model.kind == BodyKind.DYNAMIC] > 0.0).all()


def test_gallery_scenes_stand_in_teaching_order_and_are_found_by_key():
    keys = list(gallery())
    assert len(keys) >= 11 and keys[0] == "bouncing_balls" and keys[-1] == "humanoid"
    groups = [Scene.load(path).group for path in gallery().values()]
    assert all(groups) and len([g for g, _ in groupby(groups)]) == len(set(groups)) >= 7
    assert scene_path("dice") == gallery()["dice"] and scene_path("no/such.toml") == Path("no/such.toml")


def test_every_mesh_of_the_gallery_is_closed_and_its_origin_noted():
    folder = FOLDER / "scenes" / "meshes"
    origin = (folder / "ORIGIN.md").read_text()
    meshes = [p for p in folder.iterdir() if p.suffix in (".obj", ".stl", ".ply", ".off")]
    assert len(meshes) >= 5 and all(p.name in origin for p in meshes)
    for path in meshes:
        notes = Scene.from_mesh(path, collide="hull").build().labels.notes
        assert not any("not closed" in note for note in notes)


@pytest.mark.filterwarnings("error")
def test_the_tables_of_every_gallery_scene_are_written_without_a_warning():
    """Defaults have the types of their fields: sweeps and archives write all of them."""
    for path in gallery().values():
        Scene.load(path).tables.model_dump(mode="json")
