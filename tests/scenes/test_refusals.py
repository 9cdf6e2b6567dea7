"""Whatever a file holds, it becomes a scene or is refused in sentences that name the place: one kind of error."""

import copy
import math

import numpy as np
import pytest
from scene_tables import places

from contactlab.physics import Scene, SceneError, open_file
from contactlab.physics.scene import scene as scene_module
from contactlab.physics.scene.form import DEEPEST, path_text
from contactlab.physics.scene.refusals import MOST_LINES, refusing

#: every table of the format, and most fields
WHOLE = {
    "scene": {"title": "t", "summary": "s", "watch": "w", "gravity": [0.0, 0.0, -9.81], "order": 1.0, "speed": 1.0},
    "camera": {"target": [0.0, 0.0, 0.0], "distance": 5.0, "azimuth": 1.0, "elevation": 2.0},
    "solver": {"method": "time_stepping", "integrator": "rk4", "solver": "pgs", "h": 0.01, "iterations": 50},
    "material": {"ice": {"restitution": 0.1, "friction": 0.1, "stiffness_n": 1e5, "damping_n": 1.0}},
    "pair": [{"materials": ["ice", "ice"], "friction": 0.2}],
    "compare": [{"method": "compliant"}],
    "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "a", "position": [0.0, 0.0, 1.0], "euler": [0.0, 0.0, 0.0], "velocity": [0.0, 0.0, 0.0],
         "density": 500.0, "material": "ice", "color": "#e69f00", "shape": [
             {"type": "box", "size": [1.0, 1.0, 1.0], "position": [0.0, 0.0, 0.0], "density": 10.0},
             {"type": "capsule", "radius": 0.1, "height": 1.0}, {"type": "cone", "radius": 0.1, "height": 1.0},
             {"type": "hull", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}]},
        {"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 1.0], "shape": [{"type": "sphere", "radius": 0.1}]},
        {"name": "c", "kinematic": True, "shape": [{"type": "sphere", "radius": 0.1}],
         "motion": {"velocity": [1.0, 0.0, 0.0], "frequency": 1.0,
                    "path": [{"time": 0.0, "position": [0.0, 0.0, 0.0]}, {"time": 1.0, "position": [0.0, 0.0, 1.0]}]}},
    ],
    "array": [{"body": "a", "count": [2, 1, 1], "spacing": [2.0, 0.0, 0.0], "jitter": 0.1, "seed": 3}],
    "spring": [{"body_a": "world", "body_b": "b", "anchor_a": [0.0, 0.0, 0.0], "stiffness": 1.0, "damping": 1.0}],
    "joint": [{"type": "hinge", "child": "b", "axis": [0.0, 0.0, 1.0], "limits": [-10.0, 10.0], "damping": 0.1,
               "motor": {"torque": 1.0}, "spring": {"stiffness": 1.0, "position": 0.0}}],
}
STRANGE = [["pgs"], {"a": 1}, "word", "", 10**400, -(10**400), 2**64, 1e300, -1e300, 5e-324, math.nan, math.inf, True,
           None, [], [[]], [1e300] * 3, [math.nan] * 3, [5e-324] * 3, ["x", 1.0, None], {}, b"bytes", "\0", -1, 0]


def with_value(at, value):
    data = copy.deepcopy(WHOLE)
    node = data
    for step in at[:-1]:
        node = node[step]
    node[at[-1]] = value
    return data


def refusal(data, folder=None):
    """The lines of a refusal; none where the scene is accepted, and then it can be built."""
    try:
        Scene.from_dict(data, folder).build()
    except SceneError as error:
        return str(error).split("\n")
    return []


def test_the_whole_scene_is_fine():
    assert not refusal(WHOLE)


@pytest.mark.parametrize("at", list(places(WHOLE)), ids=path_text)
def test_a_strange_value_in_any_place_is_a_scene_or_a_sentence_about_that_place(at):
    for value in STRANGE:
        lines = refusal(with_value(at, value))
        assert len(lines) <= MOST_LINES and "fault of this program" not in "".join(lines), (value, lines)
        named = (path_text(at[:2]), "must be the name of")  # the second where others refer to it
        assert not lines or any(words in line for line in lines for words in named), (value, lines)


@pytest.mark.parametrize(("at", "value", "says"), [
    (("body", 2, "shape", 0, "radius"), 1e200,
     "body[2].shape[0].radius is 1e+200; it must be a number > 0 [m], at most 1e9"),
    (("scene", "gravity"), [0.0, 0.0, -1e300],
     "scene.gravity is [0.0, 0.0, -1e+300]; it must hold finite numbers only, from -1e15 to 1e15"),
    (("scene", "gravity"), [0, 0, -(10**400)], "scene.gravity[2] is a whole number of more than 64 bits"),
    (("body", 1, "shape", 0, "size"), [2.8, 1.5, 5e-324], "must hold three lengths from 1e-9 to 1e9"),
    (("body", 1, "shape", 0, "size"), [1e9, 1.0, 1e-9],
     "must hold lengths of which none is shorter than 1e-9 of another"),
    (("body", 1, "shape", 1, "height"), 1e9 * 1e-9 * 1e9, "height is 1e+09 where the radius is 0.1"),
    (("solver", "method"), ["pgs"], 'solver.method is ["pgs"]; it must be one of time_stepping'),
])
def test_numbers_past_their_range_are_refused_with_it(at, value, says):
    assert any(says in line for line in refusal(with_value(at, value)))


def test_nesting_is_refused(tmp_path):
    path = tmp_path / "deep.toml"
    for depth in (DEEPEST, 300, 5000):
        path.write_text(f"[camera]\ntarget={'[' * depth}{']' * depth}\n")
        with pytest.raises(SceneError, match=r"deep\.toml: .*nested"):
            open_file(path)


def test_a_refusal_has_at_most_forty_lines():
    bodies = [{"name": "a", "mass": -1.0, "colour": "red"} for _ in range(500)]
    lines = refusal({"body": bodies})
    assert len(lines) == MOST_LINES and lines[-1].startswith("… and ")


def test_two_bodies_of_one_broken_mesh_are_both_named(tmp_path):
    (tmp_path / "broken.obj").write_text("v 1 2\nf 1 2 3\n")
    for fixed in (False, True):
        body = {"fixed": fixed, "shape": [{"type": "mesh", "file": "broken.obj"}]}
        lines = refusal({"body": [body, body]}, tmp_path)
        assert ["body[0]" in lines[0], "body[1]" in lines[1], len(lines)] == [True, True, 2]


@pytest.mark.parametrize(("error", "says"), [
    (MemoryError(), "asks for more memory"), (RecursionError(), "nested too deeply"),
    (np.linalg.LinAlgError("singular"), r"a fault of this program \(LinAlgError at test_refusals.py:\d+\)"),
    (PermissionError(13, "Permission denied"), "cannot be read"),
])
def test_no_other_error_leaves_the_place_where_files_become_scenes(tmp_path, monkeypatch, error, says):
    def broken(*_):
        raise error

    with pytest.raises(SceneError, match=f"^file: .*{says}"), refusing("file"):
        broken()
    scene = Scene.from_dict(WHOLE)
    (tmp_path / "a.toml").write_text("")
    monkeypatch.setattr(scene_module, "read_tables", broken)
    monkeypatch.setattr(scene_module, "build", broken)
    for attempt in (scene.build, lambda: Scene.from_dict({}), lambda: open_file(tmp_path / "a.toml")):
        with pytest.raises(SceneError, match=says):
            attempt()
