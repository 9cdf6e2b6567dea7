"""Mesh files with names in them become scenes: a body for each node, object or group, with its place and colour."""

import json

import numpy as np
import pytest
import trimesh
from trimesh.transformations import rotation_matrix, translation_matrix
from trimesh.visual.material import PBRMaterial

from contactlab.app.command_line import cli
from contactlab.physics import Scene, SceneError, Simulation
from contactlab.physics.scene.mesh_files import Y_UP


def colored(mesh, *rgb):
    mesh.visual = trimesh.visual.TextureVisuals(material=PBRMaterial(baseColorFactor=[*rgb, 1.0]))
    return mesh


@pytest.fixture
def table(tmp_path):
    """A floor without volume, a box, and one ball twice, turned and moved: in glTF axes, y up."""
    scene = trimesh.Scene()
    floor = trimesh.Trimesh([[-2, 0, -2], [-2, 0, 2], [2, 0, 2], [2, 0, -2]], [[0, 1, 2], [0, 2, 3]], process=False)
    scene.add_geometry(floor, node_name="Floor")
    scene.add_geometry(colored(trimesh.creation.box((0.4, 0.2, 0.3)), 1.0, 0.0, 0.0), node_name="Red box",
                       transform=translation_matrix([0.5, 0.1, 0.25]) @ rotation_matrix(np.pi / 2, [0, 1, 0]))
    ball = colored(trimesh.creation.icosphere(2, 0.1), 0.0, 0.5, 0.0)
    scene.add_geometry(ball, node_name="ground", geom_name="ball", transform=translation_matrix([-0.5, 0.5, 0.0]))
    scene.graph.update("Ball 2", "world", matrix=translation_matrix([-0.5, 0.9, 0.3]), geometry="ball")
    path = tmp_path / "table.glb"
    path.write_bytes(scene.export(file_type="glb"))
    return path


def places(sim):
    """Centres of mass."""
    return {name: sim.state.bodies.x[k].copy() for k, name in enumerate(sim.labels.bodies)}


def test_nodes_of_a_scene_graph_are_bodies_with_names_places_and_colours(table):
    """A name that is taken gets a number. glTF's colours are linear: 0.5 of the light is written 0.7354 in sRGB
    [IEC 61966-2-1], and rounded to 8 bits by the writer of the file: half of 1/255, times the slope 0.66. Its y is up.
    """
    sim = Simulation(Scene.from_mesh(table))
    assert set(sim.labels.bodies) == {"ground", "Floor", "Red box", "ground 2", "Ball 2"}
    found = places(sim)
    for one, other, between in (("ground 2", "Ball 2", (0.0, 0.4, 0.3)), ("ground 2", "Red box", (1.0, -0.4, 0.25))):
        np.testing.assert_allclose(found[other] - found[one], Y_UP @ between, atol=1e-6)  # float32 of the file
    row = {name: k for k, name in enumerate(sim.labels.bodies)}
    np.testing.assert_allclose(sim.labels.colors[row["Red box"]], [1.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(sim.labels.colors[row["Ball 2"]], [0.0, 0.735357, 0.0], atol=0.66 * 0.5 / 255 * 1.1)
    assert sim.model.mass[row["Red box"]] == pytest.approx(1000.0 * 0.4 * 0.2 * 0.3, rel=1e-5)
    assert sim.model.mass[row["ground 2"]] == pytest.approx(sim.model.mass[row["Ball 2"]], rel=1e-5)


def test_a_piece_without_volume_is_fixed_and_holds_the_others(table):
    """The floor of the file is where it was, and the box that stands on it does not move."""
    sim = Simulation(Scene.from_mesh(table))
    assert any("Floor is fixed" in note for note in sim.labels.notes)
    before = places(sim)
    sim.run(until=1.0)
    after = places(sim)
    np.testing.assert_array_equal(after["Floor"], before["Floor"])
    np.testing.assert_allclose(after["Red box"], before["Red box"], atol=1e-3)
    assert after["Ball 2"][2] < before["Ball 2"][2] - 0.3


def test_objects_and_groups_of_obj_are_bodies_with_the_colours_beside_them(tmp_path):
    one, other = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 2))
    other.apply_translation([3, 0, 0])
    lines, count = ["mtllib two.mtl"], 1
    for head, mesh in (("o Plinth\nusemtl grey", one), ("o Column\nusemtl blue", other)):
        lines += [head, *(f"v {x} {y} {z}" for x, y, z in mesh.vertices)]
        lines += ["f " + " ".join(str(i + count) for i in face) for face in mesh.faces]
        count += len(mesh.vertices)
    (tmp_path / "two.obj").write_text("\n".join(lines) + "\n")
    (tmp_path / "two.mtl").write_text("newmtl grey\nKd 0.5 0.5 0.5\nnewmtl blue\nKd 0 0 1\n")
    sim = Simulation(Scene.from_mesh(tmp_path / "two.obj"))
    assert sim.labels.bodies[1:] == ("Plinth", "Column")
    np.testing.assert_allclose(sim.labels.colors[1:], [[0.5, 0.5, 0.5], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(places(sim)["Column"] - places(sim)["Plinth"], [3.0, 0.0, 0.0], atol=1e-9)
    (tmp_path / "alone").mkdir()
    alone = (tmp_path / "two.obj").rename(tmp_path / "alone" / "two.obj")  # without its materials it loses its colours
    assert np.isnan(Simulation(Scene.from_mesh(alone)).labels.colors[1:]).all()


def test_a_scene_file_names_a_piece_and_is_told_the_names_there_are(table):
    def scene(part):
        return Scene.from_dict({"body": [{"name": "a", "shape": [{"type": "mesh", "file": table.name, "part": part}]}]},
                               folder=table.parent)

    assert Simulation(scene("Red box")).model.mass[0] == pytest.approx(24.0, rel=1e-5)
    with pytest.raises(SceneError, match=r"is \"Blue box\".*Red box"):
        Simulation(scene("Blue box"))


def test_a_saved_mesh_scene_is_the_same_scene(table, tmp_path):
    scene = Scene.from_mesh(table)
    (tmp_path / "out").mkdir()
    scene.save(tmp_path / "out" / "table.toml")
    again = Simulation(Scene.load(tmp_path / "out" / "table.toml"))
    np.testing.assert_array_equal(again.state.bodies.x, Simulation(scene).state.bodies.x)
    assert (tmp_path / "out" / table.name).is_file()


def test_materials_that_are_not_there_refuse_the_file_and_do_not_crash(table, tmp_path):
    data = table.read_bytes()
    size = int.from_bytes(data[12:16], "little")
    tree = json.loads(data[20 : 20 + size])
    for mesh in tree["meshes"]:
        mesh["primitives"][0]["material"] = 99
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    broken = data[:12] + len(text).to_bytes(4, "little") + data[16:20] + text + data[20 + size :]
    (tmp_path / "broken.glb").write_bytes(broken[:8] + len(broken).to_bytes(4, "little") + broken[12:])
    with pytest.raises(SceneError, match=r"broken\.glb"):
        Scene.from_mesh(tmp_path / "broken.glb")


@pytest.mark.parametrize(("unit", "metres"), [("mm", 0.001), ("in", 0.0254), (None, 1.0)])
def test_the_unit_of_a_mesh_can_be_said(tmp_path, unit, metres):
    """A screw of 300 units: its mass is ρ V with the unit cubed."""
    path = tmp_path / "screw.stl"
    trimesh.creation.box((300, 20, 20)).export(path)
    sim = Simulation(Scene.from_mesh(path, scale=metres))
    assert sim.model.mass[1] == pytest.approx(1000.0 * 300 * 20 * 20 * metres**3)
    given = [] if unit is None else ["--unit", unit]
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(path), "--until", "0.01", "--out", str(tmp_path / "o.csv"), "--force", *given])
    assert ended.value.code == 0


def test_a_unit_that_there_is_not_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "dice", "--until", "0.01", "--unit", "furlong"])
    assert ended.value.code == 2 and "m, cm, mm, in, ft" in capsys.readouterr().err
