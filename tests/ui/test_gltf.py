"""The animated scene of a run: what is in the file is the run, for every kind of shape."""

import json
import struct
from collections import Counter

import numpy as np
import pytest
import trimesh
from command_line import call

from contactlab.app.export.gltf import continuous, glb_of
from contactlab.app.export.replay import Replay, replay
from contactlab.assets import gallery
from contactlab.physics import Scene, Simulation
from contactlab.physics.core.model import BodyKind
from contactlab.physics.core.rotations import rotated_one

SINGLE = 2.0**-23  # of float32, relative
KIND = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def read(data):
    """The tree of a file .glb, and its arrays of floats by number."""
    magic, version, length, size, kind = struct.unpack_from("<4sIII4s", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    tree, binary = json.loads(data[20 : 20 + size]), data[28 + size :]

    def array(number):
        accessor = tree["accessors"][number]
        view = tree["bufferViews"][accessor["bufferView"]]
        count = accessor["count"] * KIND[accessor["type"]]
        return np.frombuffer(binary, "<f4", count, view.get("byteOffset", 0)).reshape(accessor["count"], -1)

    return tree, array


@pytest.fixture(scope="module")
def dice():
    run = replay(Simulation(Scene.load(gallery()["dice"])), 0.5)
    return run, *read(glb_of(run))


def test_bodies_move_in_the_file_as_in_the_run(dice):
    run, tree, array = dice
    animation, = tree["animations"]
    found = {(tree["nodes"][c["target"]["node"]]["name"], c["target"]["path"]): animation["samplers"][c["sampler"]]
             for c in animation["channels"]}
    names, poses = run.sim.labels.bodies, np.array(run.poses)
    assert {name for name, _ in found} == {names[i] for i in run.moving} and len(found) == 2 * len(run.moving)
    for k, i in enumerate(run.moving):
        place, turn = found[names[i], "translation"], found[names[i], "rotation"]
        times = array(place["input"])[:, 0]
        np.testing.assert_allclose(times, run.t, rtol=SINGLE, atol=0.0)
        np.testing.assert_allclose(array(place["output"]), poses[:, k, :3], rtol=SINGLE, atol=SINGLE)
        q = array(turn["output"])[:, (3, 0, 1, 2)]
        assert ((q[1:] * q[:-1]).sum(axis=1) > 0.0).all()  # else it would turn the long way round between frames
        np.testing.assert_allclose(np.abs((q * poses[:, k, 3:]).sum(axis=1)), 1.0, atol=4 * SINGLE)
        assert "matrix" not in tree["nodes"][[n["name"] for n in tree["nodes"]].index(names[i])]


@pytest.mark.parametrize("name", ["dice", "hollows", "polygons", "meshes", "machines"])
def test_another_reader_finds_every_shape_where_it_is_with_y_upwards(name):
    sim = Simulation(Scene.load(gallery()[name]))
    model, state = sim.model, sim.state.bodies
    scene = trimesh.load(trimesh.util.wrap_as_stream(glb_of(Replay(sim))), file_type="glb")
    assert isinstance(scene, trimesh.Scene) and len(scene.graph.nodes_geometry) == len(model.shapes.kind)
    for i, body in enumerate(sim.labels.bodies):
        for n, s in enumerate(np.flatnonzero(model.shapes.body == i)):
            at = scene.graph.get(f"{body}: {n + 1}")[0][:3, 3]
            x, y, z = state.x[i] + rotated_one(state.q[i], model.shapes.position[s])
            assert at == pytest.approx((x, z, -y), abs=1e-6)


def test_what_stands_has_no_animation():
    tree, _ = read(glb_of(Replay(Simulation(Scene.load(gallery()["dice"])))))  # one frame
    assert "animations" not in tree
    sim = Simulation(Scene.from_dict({"body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}]}))
    assert (sim.model.kind == BodyKind.FIXED).all() and "animations" not in read(glb_of(replay(sim, 0.1)))[0]


def test_bodies_may_be_called_what_they_like():
    """Also as a shape of another body, as the node above all, and as shapes are called inside."""
    names = ["a", "a: 1", "scene", "shape 0", "body 0"]
    bodies = [{"name": name, "position": [i, 0, 0], "shape": [{"type": "box", "size": [0.1, 0.1, 0.1]}]}
              for i, name in enumerate(names)]
    tree, _ = read(glb_of(Replay(Simulation(Scene.from_dict({"body": bodies})))))
    found, wanted = Counter(node["name"] for node in tree["nodes"]), Counter([*names, *(f"{n}: 1" for n in names)])
    assert wanted <= found and set(found - wanted) <= {"scene", "z upwards"}
    assert len(tree["meshes"]) == len(names)


def test_quaternions_of_one_rotation_get_one_sign():
    q = np.array([[1.0, 0.0, 0.0, 0.0], [-0.9, 0.1, 0.0, 0.0], [-0.8, 0.2, 0.0, 0.0], [0.7, -0.3, 0.0, 0.0]])
    np.testing.assert_array_equal(continuous(q)[:, 0], [1.0, 0.9, 0.8, 0.7])


def test_the_command_writes_it_and_a_notebook_shows_the_page(tmp_path, capsys):
    out = tmp_path / "bounce.glb"
    status, said, _ = call(capsys, "export", "slow_bounce", "--until", "0.2", "-o", out)
    assert status == 0 and f"the scene is {out}" in said and "animations" in read(out.read_bytes())[0]
    run = replay(Simulation(Scene.load(gallery()["slow_bounce"])), 0.1)
    shown = run._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "&lt;script" in shown and "<script" not in shown
    with pytest.raises(ValueError, match=r"run\.pdf: a run is saved as \.html or \.glb"):
        run.save(tmp_path / "run.pdf")
    run.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8").count("</script>") >= 2
