"""What a mesh file does not say: how many bodies it is, and whether it is a solid or a shell."""

import struct

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from trimesh.transformations import rotation_matrix

from contactlab.app.command_line import cli
from contactlab.physics import Scene, SceneError, open_file
from contactlab.physics.core import limits
from contactlab.physics.scene import kept_meshes
from contactlab.physics.scene.mesh import MeshSurface, connected_pieces, is_closed, weld
from contactlab.physics.scene.mesh_scene import MeshChoices, doubts
from contactlab.physics.scene.shell import THICKEST, shell, shell_properties, thickened
from contactlab.physics.shapes.shapes import polyhedron

SINGLE = 1e-5  # STL has single precision


@pytest.fixture
def chain(tmp_path):
    """The file of two links in each other, whose boxes overlap, and the volume of one."""
    link = trimesh.creation.annulus(0.08, 0.1, 0.02, sections=12)
    other = link.copy()
    other.apply_transform(rotation_matrix(np.pi / 2, [1, 0, 0]))
    other.apply_translation([0.1, 0.0, 0.0])
    trimesh.util.concatenate([link, other]).export(tmp_path / "chain.stl")
    return tmp_path / "chain.stl", link.volume


@pytest.mark.parametrize(("split", "bodies"), [(None, ("chain",)), (True, ("chain 1", "chain 2")), (False, ("chain",))])
def test_links_in_each_other_are_one_body_and_split_a_body_each(chain, split, bodies):
    path, volume = chain
    scene = Scene.from_mesh(path, split=split, collide="hull")
    setup = scene.build()
    assert setup.labels.bodies[1:] == bodies
    np.testing.assert_allclose(setup.model.mass[1:], 1000.0 * 2 * volume / len(bodies), rtol=SINGLE)


@pytest.mark.parametrize(("split", "count"), [(None, 3), (True, 3), (False, 1)])
def test_solids_that_stand_apart_are_bodies_or_on_demand_one(tmp_path, split, count):
    """A cavity stays with the solid that it is in, also where the file turns it and its solid inside out."""
    cube, hole = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((0.5, 0.5, 0.5))
    hole.invert()
    hollow = trimesh.util.concatenate([cube, hole])
    hollow.invert()
    parts = [hollow]
    for k in (1, 2):
        parts.append(trimesh.creation.box((1, 1, 1)))
        parts[-1].apply_translation([3.0 * k, 0, 0])
    trimesh.util.concatenate(parts).export(tmp_path / "three.ply")
    setup = Scene.from_mesh(tmp_path / "three.ply", split=split, collide="hull").build()
    expected = [875.0, 1000.0, 1000.0] if count == 3 else [2875.0]
    np.testing.assert_allclose(setup.model.mass[1:], expected, rtol=SINGLE)


def sheet_of(x):
    return trimesh.Trimesh([[x, 0, 0], [x + 1, 0, 0], [x + 1, 1, 0], [x, 1, 0]], [[0, 1, 2], [0, 2, 3]])


def test_an_open_piece_among_solids_is_split_off(tmp_path):
    """Where a surface is open somewhere it is one body; split, what is closed weighs what it holds, and a flat sheet
    stands still."""
    cube, sheet = trimesh.creation.box((1, 1, 1)), sheet_of(3.0)
    trimesh.util.concatenate([cube, sheet]).export(tmp_path / "mixed.stl")
    assert len(Scene.from_mesh(tmp_path / "mixed.stl", collide="hull").tables.body) == 2
    setup = Scene.from_mesh(tmp_path / "mixed.stl", split=True).build()
    np.testing.assert_allclose(setup.model.mass, [0.0, 1000.0, 0.0], rtol=SINGLE)
    assert any("mixed.stl (piece 2) has no volume" in note
               for note in Scene.from_mesh(tmp_path / "mixed.stl", split=True).notes)


def test_a_split_scene_is_saved_and_is_the_same_again(chain, tmp_path):
    scene = Scene.from_mesh(chain[0], split=True, collide="hull", thickness=0.001)
    (tmp_path / "out").mkdir()
    scene.save(tmp_path / "out" / "chain.toml")
    again = Scene.load(tmp_path / "out" / "chain.toml")
    assert again.tables == scene.tables and again.tables.body[1].shape[0].part == "piece 1"
    np.testing.assert_array_equal(again.build().model.inertia, scene.build().model.inertia)


def test_what_has_too_many_pieces_is_not_split_and_a_piece_that_is_not_there_is_named(chain, monkeypatch):
    path, _ = chain
    shape = {"type": "mesh", "file": path.name, "part": "piece 3"}
    with pytest.raises(SceneError, match=r'part is "piece 3"; it must be a name that chain\.stl has: piece 1, piece 2'):
        Scene.from_dict({"body": [{"shape": [shape]}]}, path.parent).build()
    monkeypatch.setattr(kept_meshes, "SHELLS", limits.SHELLS._replace(most=1))
    kept_meshes._kept.clear()
    assert doubts(path, MeshChoices()).pieces == 0
    with pytest.raises(SceneError, match=r"chain\.stl has 2 shells; it must have no more than 1 to be split"):
        Scene.from_mesh(path, split=True)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 6))
def test_connected_pieces_hold_all_triangles_once_and_no_two_share_a_corner(seed, count):
    """Boxes anywhere, also in each other, wound at random, of which some have lost a triangle."""
    rng = np.random.default_rng(seed)
    boxes = []
    for _ in range(count):
        box = trimesh.creation.box(rng.uniform(0.1, 1.0, 3))
        box.apply_translation(rng.uniform(-1.0, 1.0, 3))
        keep = np.ones(12, bool)
        keep[rng.integers(12)] = rng.random() < 0.5
        box.update_faces(keep)
        boxes.append(box)
    whole = trimesh.util.concatenate(boxes)
    surface = weld(np.array(whole.vertices), np.array(whole.faces))
    pieces = connected_pieces(surface)
    assert sum(len(piece.triangles) for piece in pieces) == len(surface.triangles)
    corners = [{tuple(v) for v in piece.vertices} for piece in pieces]
    assert len(set().union(*corners)) == sum(map(len, corners))


# ---------------------------------------------------------------------------------------------------- shells


def test_a_flat_sheet_of_a_thickness_is_a_plate():
    """m = ρ a b t, I = m (b² + t², a² + t², a² + b²)/12: exactly, in any direction."""
    a, b, t = 0.3, 0.2, 0.01
    turn = rotation_matrix(0.7, [1, 2, 3])[:3, :3]
    corners = np.array([[0, 0, 0], [a, 0, 0], [a, b, 0], [0, b, 0]]) @ turn.T + 5.0
    whole = shell(MeshSurface(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32)), t, "sheet")
    m = a * b * t
    assert whole.properties.mass == pytest.approx(m, rel=1e-12)
    expected = turn @ np.diag(m / 12.0 * np.array([b * b + t * t, a * a + t * t, a * a + b * b])) @ turn.T
    np.testing.assert_allclose(whole.properties.inertia, expected, rtol=0, atol=1e-12 * m)
    assert whole.filled == pytest.approx(1.0, abs=1e-9) and whole.notes == (
        "sheet is a shell: its mass is that of 0.06 m² times 10 mm.",)


def test_a_thin_ball_has_the_inertia_of_a_thin_sphere():
    """I = 2/3 m r² [of a thin sphere]; triangles whose corners are on it lie within it by (edge/r)²/6 on average."""
    ball = trimesh.creation.icosphere(4, 1.0)
    properties, area = shell_properties(np.array(ball.vertices), np.array(ball.faces), 1e-6)
    within = float((ball.edges_unique_length**2).max())
    assert area == pytest.approx(4.0 * np.pi, rel=within)
    np.testing.assert_allclose(properties.inertia, 2.0 / 3.0 * properties.mass * np.eye(3),
                               rtol=0, atol=within * properties.mass)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), lost=st.integers(0, 5))
def test_a_thickened_surface_is_closed_and_holds_area_times_thickness(seed, lost):
    """A box without some of its sides, wound at random: its walls are as thick everywhere, so that they hold
    A t + O(t²) of each edge, which is no longer than the sides' perimeter and overlaps or gapes by t² at most."""
    rng = np.random.default_rng(seed)
    size, t = rng.uniform(0.5, 2.0, 3), 1e-3
    box = trimesh.creation.box(size)
    side = np.argmax(np.abs(box.face_normals), axis=1) * 2 + (box.face_normals.sum(axis=1) > 0)
    faces = np.array(box.faces)[side >= lost]
    turned = rng.random(len(faces)) < 0.5
    faces[turned] = faces[turned][:, ::-1]
    surface = weld(np.array(box.vertices), faces)
    around = thickened(surface, t)
    assert is_closed(around)
    _, area = shell_properties(*surface, t)
    edges = 4.0 * size.sum()
    assert abs(polyhedron(*around).mass) == pytest.approx(area * t, abs=edges * t * t)


def test_an_open_mesh_weighs_as_its_hull_until_it_gets_a_thickness(tmp_path):
    tray = trimesh.creation.box((0.2, 0.1, 0.04))
    tray.update_faces(tray.face_normals[:, 2] < 0.5)
    tray.export(tmp_path / "tray.stl")
    hull = Scene.from_mesh(tmp_path / "tray.stl").build()
    assert hull.model.mass[1] == pytest.approx(0.8, rel=SINGLE)
    assert any("not closed" in note for note in hull.labels.notes)
    scene = Scene.from_mesh(tmp_path / "tray.stl", thickness=0.002, collide="hull")
    area = 0.2 * 0.1 + 2 * 0.04 * (0.2 + 0.1)
    assert scene.build().model.mass[1] == pytest.approx(1000.0 * area * 0.002, rel=SINGLE)
    in_mm = trimesh.load(tmp_path / "tray.stl")
    in_mm.apply_scale(1000.0)
    in_mm.export(tmp_path / "mm.stl")
    again = Scene.from_mesh(tmp_path / "mm.stl", thickness=0.002, collide="hull", scale=0.001).build()
    np.testing.assert_allclose(again.model.inertia[1], scene.build().model.inertia[1], rtol=10 * SINGLE)


@pytest.mark.parametrize(("thickness", "said"), [
    (0.06, "it must be a number > 0, and no more than 0.05 m"), (0.0, "must be a number > 0"),
    (float("nan"), "must be a number > 0"), (-1.0, "must be a number > 0"), (1e-12, "it must be thicker")])
def test_a_thickness_that_no_shell_has_is_refused(tmp_path, thickness, said):
    sheet_of(3.0).apply_scale(0.2).export(tmp_path / "box.stl")
    assert THICKEST * 0.2 == 0.05
    with pytest.raises(SceneError, match=said):
        open_file(tmp_path / "box.stl", thickness=thickness)


def test_triangles_without_an_area_are_no_shell(tmp_path):
    rows = np.zeros(1, [("n", "<3f4"), ("p", "<9f4"), ("a", "<u2")])
    rows["p"] = [0, 0, 0, 1, 0, 0, 2, 0, 0]
    (tmp_path / "line.stl").write_bytes(bytes(80) + struct.pack("<I", 1) + rows.tobytes())
    with pytest.raises(SceneError, match="holds no triangles with an area"):
        Scene.from_mesh(tmp_path / "line.stl", thickness=0.01)


@pytest.mark.parametrize(("given", "said"), [
    (["--thickness", "-1"], "--thickness must be a number above 0"),
    (["--collide", "core"], "hull or parts or surface"),
    (["--collide", "surface"], None),
    (["--thickness", "0.5"], "no more than"), (["--split"], None), (["--whole"], None),
    (["--thickness", "0.001"], None)])
def test_the_command_line_takes_what_a_mesh_does_not_say(chain, tmp_path, capsys, given, said):
    arguments = ["run", str(chain[0]), "--until", "0.001", "--out", str(tmp_path / "o.csv"),
                 "--collide", "hull", *given]
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == (0 if said is None else 2)
    assert said is None or said in " ".join(capsys.readouterr().err.split())


# ---------------------------------------------------------------------------------------------------- several files


@pytest.fixture
def assembly(tmp_path):
    """Two boxes in two folders: one stands on the other where their numbers say. And a third, which is in the first."""
    (tmp_path / "lids").mkdir()
    low, lid = trimesh.creation.box((0.4, 0.4, 0.2)), trimesh.creation.box((0.4, 0.4, 0.1))
    lid.apply_translation([0.1, 0.0, 0.15])
    low.export(tmp_path / "low.stl")
    lid.export(tmp_path / "lids" / "lid.stl")
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "other.ply")
    return tmp_path / "low.stl", tmp_path / "lids" / "lid.stl", tmp_path / "other.ply"


def test_files_that_fit_together_stand_where_their_numbers_say(assembly):
    low, lid, _ = assembly
    scene = Scene.from_mesh(low, beside=[lid])
    setup = scene.build()
    assert scene.title == "low.stl and 1 more" and setup.labels.bodies == ("ground", "low", "lid")
    between = setup.state.bodies.x[2] - setup.state.bodies.x[1]
    np.testing.assert_allclose(between, [0.1, 0.0, 0.15], atol=SINGLE)
    assert [body.shape[0].file for body in scene.tables.body[1:]] == ["low.stl", "lids/lid.stl"]


def test_files_that_would_overlap_stand_in_a_row(assembly):
    """Each on one level, in the order they are given, the gap a share of the widest."""
    low, lid, other = assembly
    setup = Scene.from_mesh(low, beside=[other, lid]).build()
    x = setup.state.bodies.x[1:]
    np.testing.assert_allclose(np.diff(x[:, 0]), [0.2 + 0.12 + 0.1, 0.1 + 0.12 + 0.2], atol=SINGLE)
    np.testing.assert_allclose(x[:, 1], x[0, 1], atol=SINGLE)
    np.testing.assert_allclose(x[:, 2] - [0.1, 0.1, 0.05], x[0, 2] - 0.1, atol=SINGLE)
    lo = setup.state.bodies.x[1:, 2] - [0.1, 0.1, 0.05]
    assert lo.min() > 0.0  # above the ground


def test_one_file_twice_and_a_scene_of_several_saved_open_again(assembly, tmp_path):
    low, lid, _ = assembly
    scene = Scene.from_mesh(low, beside=[low, lid])
    (tmp_path / "out").mkdir()
    scene.save(tmp_path / "out" / "all.toml")
    again = Scene.load(tmp_path / "out" / "all.toml")
    assert again.tables == scene.tables
    assert again.build().labels.bodies == ("ground", "low", "low 2", "lid")


def test_one_of_several_files_that_is_no_mesh_refuses_all_and_is_named(assembly, tmp_path):
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    with pytest.raises(SceneError, match=r"broken\.stl"):
        open_file(assembly[0], beside=[assembly[1], tmp_path / "broken.stl"])
    with pytest.raises(SceneError, match=r"gone\.stl"):
        open_file(assembly[0], beside=[tmp_path / "gone.stl"])


def test_doubts_are_those_of_all_files(assembly, chain):
    assert doubts(assembly[0], MeshChoices(beside=assembly[1:])) == (
        "", pytest.approx(0.4), 3, 0, 0, 0)
    found = doubts(assembly[0], MeshChoices(beside=(chain[0],)))
    assert (found.bodies, found.pieces, found.hollow) == (2, 3, 1)
