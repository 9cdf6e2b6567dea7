"""Meshes: what files say, whatever traps they hold, and hulls and surfaces that hang together."""

import json
import os
import re
import struct
import tracemalloc

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from contactlab.physics.collision.convex import BEYOND
from contactlab.physics.core.limits import GLTF_HEAD, TRIANGLES
from contactlab.physics.core.rotations import rotated_one
from contactlab.physics.scene import hull as hull_module
from contactlab.physics.scene import kept_meshes, mesh_files
from contactlab.physics.scene.hull import COPLANAR, FlatError, convex_hull, hull_properties
from contactlab.physics.scene.mesh import (
    MeshSurface,
    copies,
    hull_notes,
    is_closed,
    solid,
    solids,
    static_mesh,
    weld,
)
from contactlab.physics.scene.mesh_files import read_surface
from contactlab.physics.scene.refusals import SceneError
from contactlab.physics.scene.scene import Scene, open_file
from contactlab.physics.shapes.shapes import polyhedron
from contactlab.physics.simulation.simulation import Simulation


def notched_cube(edge=40.0):
    """A cube about the origin less its (+, +, +) octant: 48 triangles, not convex."""
    h = edge / 2
    full = {tuple(v - 1 for v in c) for c in np.ndindex(2, 2, 2)} - {(0, 0, 0)}
    corners = []
    for cell in sorted(full):
        for axis in range(3):
            for side in (0, 1):
                beyond = list(cell)
                beyond[axis] += 2 * side - 1
                if tuple(beyond) in full:
                    continue
                u, v = (axis + 1) % 3, (axis + 2) % 3
                square = []
                for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    p = list(cell)
                    p[axis] += side
                    p[u] += a
                    p[v] += b
                    square.append(np.array(p) * h)
                square = square if side else square[::-1]
                corners += [square[0], square[1], square[2], square[0], square[2], square[3]]
    return np.array(corners).reshape(-1, 3, 3)


def write_stl(path, corners, count=None):
    """Binary STL of corners (t, 3, 3); `count` may lie."""
    data = np.zeros(len(corners), dtype=[("n", "<f4", 3), ("p", "<f4", (3, 3)), ("a", "<u2")])
    data["p"] = corners
    path.write_bytes(b" " * 80 + struct.pack("<I", len(corners) if count is None else count) + data.tobytes())
    return path


def surface_of(mesh):
    return weld(np.array(mesh.vertices), np.array(mesh.faces))


def cube_obj(size=1.0, name="c"):
    mesh = trimesh.creation.box((size,) * 3)
    lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices]
    return mesh, lines


# ---------------------------------------------------------------------------------------------------- files


def test_a_cube_less_an_octant_has_the_mass_properties_of_its_seven_cubes(tmp_path):
    # 7 cubes of edge 20 mm: V = 56000, c = -20/14 = -1.42857 each; I = 7 (m a²/6 + 2 m 100) - 7 m (2 c²), m = V/7
    surface, *_ = read_surface(write_stl(tmp_path / "notch.STL", notched_cube()))
    whole = solid(surface, "notch.STL")
    c = -10.0 / 7.0
    # I_xx / V = 2 (a²/12 + 100) - 2 c²,  I_xy / V = -(Σ xy / 7 - c²) with Σ xy = -100 over the seven centres
    diagonal, product = 2 * (400 / 12 + 100) - 2 * c**2, -(-100.0 / 7.0 - c**2)
    assert whole.properties.mass == pytest.approx(56000.0, rel=1e-6)
    assert np.allclose(whole.properties.center, c, rtol=1e-6)
    expected = np.full((3, 3), product) + (diagonal - product) * np.eye(3)
    assert np.allclose(whole.properties.inertia / whole.properties.mass, expected, rtol=1e-6)
    assert np.allclose(np.linalg.eigvalsh(expected), [246.2585, 246.2585, 295.2381], rtol=0, atol=1e-4)
    assert any("not convex" in note and "%" in note for note in hull_notes(whole, "notch.STL"))


@pytest.mark.parametrize("ending", ["obj", "stl", "ply", "off", "glb"])
def test_every_format_gives_the_same_solid(tmp_path, ending):
    mesh = trimesh.creation.annulus(0.2, 0.5, 0.3, sections=16)
    mesh.apply_translation([0.1, 0.2, 0.3])
    path = tmp_path / f"ring.{ending}"
    mesh.export(path)
    surface, *_ = read_surface(path)
    assert is_closed(surface)
    assert polyhedron(*surface).mass == pytest.approx(mesh.volume, rel=1e-5)
    # glTF has y up: (x, y, z) of the file is (x, -z, y) here
    center = [0.1, -0.3, 0.2] if ending == "glb" else [0.1, 0.2, 0.3]
    assert np.allclose(polyhedron(*surface).center, center, rtol=0, atol=1e-6)


def test_text_stl_with_several_solids_and_mixed_case_is_as_many_bodies(tmp_path):
    text = []
    for k, solid_word in enumerate(("solid", "SOLID")):
        box = trimesh.creation.box((1, 1, 1))
        text.append(f"{solid_word} Part{k}")
        for triangle in np.array(box.triangles) + np.array([3.0 * k, 0.0, 0.0]):
            corners = "\n".join(f"      vertex {x} {y} {z}" for x, y, z in triangle)
            text.append(f"  facet normal 0 0 0\n    Outer Loop\n{corners}\n    EndLoop\n  endfacet")
        text.append(f"end{solid_word} Part{k}")
    path = tmp_path / "two.stl"
    path.write_text("\n".join(text) + "\n")
    setup = Scene.from_mesh(path).build()
    assert setup.labels.bodies == ("ground", "two 1", "two 2")
    assert np.allclose(setup.model.mass[1:], 1000.0)


def test_node_transforms_are_applied_and_mirrored_nodes_keep_their_outside(tmp_path):
    scene = trimesh.Scene()
    box = trimesh.creation.box((1, 1, 1))
    mirror = np.diag([-2.0, 1.0, 1.0, 1.0])
    mirror[:3, 3] = [5.0, 0.0, 0.0]
    scene.add_geometry(box, geom_name="box")
    scene.graph.update(frame_to="other", matrix=mirror, geometry="box")
    path = tmp_path / "nodes.glb"
    scene.export(path)
    surface, *_ = read_surface(path)
    assert len(solids(surface)) == 2
    assert polyhedron(*surface).mass == pytest.approx(3.0)


def test_an_external_buffer_is_read(tmp_path):
    files = trimesh.exchange.gltf.export_gltf(trimesh.Scene(trimesh.creation.box((1, 2, 3))))
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert polyhedron(*read_surface(tmp_path / "model.gltf")[0]).mass == pytest.approx(6.0)


def test_obj_traps_negative_indices_nan_colours_and_foreign_comments(tmp_path):
    mesh, lines = cube_obj()
    faces = [f"f {a - 8} {b - 8} {c - 8}" for a, b, c in mesh.faces]
    (tmp_path / "negative.obj").write_text("\n".join(lines + faces))
    assert polyhedron(*read_surface(tmp_path / "negative.obj")[0]).mass == pytest.approx(1.0)
    colored = [line + " nan nan nan" for line in lines] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces]
    (tmp_path / "colors.obj").write_bytes("# Würfel\n".encode("latin-1") + "\n".join(colored).encode())
    assert polyhedron(*read_surface(tmp_path / "colors.obj")[0]).mass == pytest.approx(1.0)


@pytest.mark.parametrize(("name", "data", "word"), [
    ("empty.stl", b"", "empty"),
    ("empty.obj", b"# nothing here\n", "no triangles"),
    ("points.obj", b"v 0 0 0\nv 1 0 0\n", "no triangles"),
    ("lines.obj", b"v 0 0 0\nv 1 0 0\nl 1 2\n", "no triangles"),
    ("none.stl", b" " * 80 + b"\0\0\0\0", "no triangles"),
    ("header.ply", b"ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nelement face 0\n"
                   b"property list uchar int vertex_indices\nend_header\n", "no triangles"),
    ("nan.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite"),
    ("noise.glb", bytes(range(256)), "GLB"),
    ("noise.stl", bytes(range(256)) * 4, "no triangles"),
    ("picture.png", b"x", "must be one of .obj"),
])
def test_files_without_a_surface_are_refused_in_one_sentence_that_names_them(tmp_path, name, data, word):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SceneError) as error:
        open_file(path)
    message = str(error.value)
    assert name in message and word in message and "\n" not in message.strip()


def test_a_missing_mesh_is_named(tmp_path):
    with pytest.raises(SceneError, match=r"gone\.stl cannot be read"):
        open_file(tmp_path / "gone.stl")


def ten_million(folder):
    count = 10_000_000
    heads = {
        "a.ply": f"ply\nformat binary_little_endian 1.0\nelement vertex 3\nelement face {count}\n".encode(),
        "a.off": f"OFF # many\n3 {count} 0\n".encode(),
        "a.gltf": json.dumps({"asset": {"version": "2.0"}, "accessors": [{"count": 3 * count}], "nodes": [{"mesh": 0}],
                              "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}]}).encode(),
    }
    for name, data in heads.items():
        (folder / name).write_bytes(data)
    with (folder / "a.stl").open("wb") as file:  # sparse: takes no room on the disk
        file.write(b" " * 80 + struct.pack("<I", count))
        file.truncate(84 + 50 * count)
    return [*heads, "a.stl"]


def test_ten_million_triangles_are_refused_before_they_are_read(tmp_path):
    for name in ten_million(tmp_path):
        with pytest.raises(SceneError, match=f"{name} has 10000000 triangles; .* no more than {TRIANGLES.most}"):
            read_surface(tmp_path / name)


def test_a_long_obj_is_counted_without_being_parsed(tmp_path):
    path = tmp_path / "long.obj"
    path.write_bytes(b"v 0 0 0\nv 1 0 0\nv 0 1 0\n" + b"f 1 2 3\n" * (TRIANGLES.most + 1000))
    with pytest.raises(SceneError, match="no more than"):
        read_surface(path)


# ---------------------------------------------------------------------------------------------------- solids


def test_inward_and_mixed_winding_is_put_right():
    mesh = trimesh.creation.icosphere(subdivisions=2)
    rng = np.random.default_rng(0)
    for turned in (np.ones(len(mesh.faces), bool), rng.random(len(mesh.faces)) < 0.4):
        faces = np.array(mesh.faces)
        faces[turned] = faces[turned][:, ::-1]
        whole = solid(weld(np.array(mesh.vertices), faces), "ball")
        assert whole.properties.mass == pytest.approx(mesh.volume)
        assert any("turned" in note for note in whole.notes)


def test_a_cavity_is_not_filled():
    outer, inner = trimesh.creation.box((2, 2, 2)), trimesh.creation.box((1, 1, 1))
    inner.invert()
    for flipped in (False, True):
        both = trimesh.util.concatenate([outer, inner])
        if flipped:
            both.invert()
        surface = surface_of(both)
        assert len(solids(surface)) == 1
        assert solid(surface, "shell").properties.mass == pytest.approx(7.0)


def test_an_open_mesh_weighs_as_its_hull_and_says_so():
    mesh = trimesh.creation.box((1, 1, 1))
    whole = solid(MeshSurface(np.array(mesh.vertices), np.array(mesh.faces)[:-2].astype(np.int32)), "lidless.stl")
    assert whole.properties.mass == pytest.approx(1.0)
    assert whole.notes == ("lidless.stl is not closed: mass and inertia are those of its convex hull.",)


@pytest.mark.parametrize("shift", [0.3, 0.9, 1.2])
def test_what_two_crossing_solids_share_counts_once(shift):
    """Two unit cubes a and b moved along the diagonal by `shift`: mass, first and second moments about the origin are
    those of a, plus those of b, less those of the cube they share, of edge 1 - shift. manifold3d rounds to about 1e-12
    of the size."""
    a, b = (trimesh.creation.box((1, 1, 1)).apply_translation((0.5 + k * shift,) * 3) for k in range(2))
    both = trimesh.util.concatenate([a, b])
    whole = solid(MeshSurface(np.array(both.vertices), np.array(both.faces, np.int32)), "two.stl")
    edge, total, first, second = max(1.0 - shift, 0.0), 0.0, 0.0, 0.0
    for sign, size, middle in ((1, 1.0, 0.5), (1, 1.0, 0.5 + shift), (-1, edge, 0.5 + 0.5 * shift)):
        mass = sign * size**3
        total, first = total + mass, first + mass * middle
        second += mass * (size**2 / 6.0 + 2.0 * middle**2)  # I_xx = m (a²/6 + y² + z²)
    center = first / total
    assert whole.properties.mass == pytest.approx(total, rel=1e-9)
    assert whole.properties.center == pytest.approx([center] * 3, rel=1e-9)
    assert np.diag(whole.properties.inertia) == pytest.approx([second - 2.0 * total * center**2] * 3, rel=1e-9)
    said = f"two.stl holds solids that overlap: what they share, {100 * edge**3 / 2:.2g} % of them, counts once."
    assert (said in whole.notes) == (edge > 0.0)


@pytest.mark.parametrize("move", [(1, 1, 1), (1, 1, 0)])
def test_what_solids_share_counts_once_though_they_have_a_corner_or_an_edge_in_common(move):
    """Two unit cubes with no more in common, and in the first one a cube of half its edge, in that corner: welding
    makes them one piece."""
    first, inside = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((0.5, 0.5, 0.5))
    solids_of_one_piece = [first, first.copy().apply_translation(move), inside.apply_translation((0.25,) * 3)]
    whole = solid(surface_of(trimesh.util.concatenate(solids_of_one_piece)), "three.stl")
    assert whole.properties.mass == pytest.approx(2.0, rel=1e-9)
    assert whole.notes == ("three.stl holds solids that overlap: what they share, 5.9 % of them, counts once.",)


def test_a_cavity_stays_where_another_solid_crosses_its_own():
    """A cube of edge 2 with a cavity of edge 1, and a cube of edge 1 that shares a half with it."""
    outer, inner = trimesh.creation.box((2, 2, 2)), trimesh.creation.box((1, 1, 1))
    inner.invert()
    beside = trimesh.creation.box((1, 1, 1)).apply_translation((1, 0, 0))
    whole = solid(surface_of(trimesh.util.concatenate([outer, inner, beside])), "shell")
    assert whole.properties.mass == pytest.approx(8.0 - 1.0 + 0.5)


def test_solids_whose_union_is_not_found_may_count_twice_and_it_is_said(monkeypatch):
    """Two crossing boxes of 1 m³, as one surface of two shells; and a cavity, which overlaps nothing."""
    monkeypatch.setattr("contactlab.physics.scene.mesh.union", lambda surface, shell: None)
    box = trimesh.creation.box((1, 1, 1))
    inside = trimesh.creation.box((0.5, 0.5, 0.5))
    inside.invert()
    for second, said in ((box.copy().apply_translation((0.3, 0.3, 0.3)), True), (inside, False)):
        both = trimesh.util.concatenate([box, second])
        notes = solid(MeshSurface(np.array(both.vertices), np.array(both.faces, np.int32)), "two.stl").notes
        assert any("where they overlap themselves, mass counts twice" in note for note in notes) == said


def test_a_file_of_many_solids_is_split_once_and_each_has_its_hull_made_once(tmp_path, monkeypatch):
    """However many parts are asked for and however often the scene is built: 300 took half a minute, each splitting the
    file anew, and then twice as long as needed, each with a hull for the check and another for the run. Ten boxes are
    of ten sizes, ten more are copies of the first."""
    sizes = [0.5 + 0.01 * max(0, k - 10) for k in range(20)]
    trimesh.util.concatenate([trimesh.creation.box((a, 0.5, 0.5)).apply_translation((k, 0, 0))
                              for k, a in enumerate(sizes)]).export(tmp_path / "many.obj")
    calls = []
    for name, made in (("solids", solids), ("solid", solid)):
        monkeypatch.setattr(kept_meshes, name, lambda *a, name=name, made=made: calls.append(name) or made(*a))
    scene = open_file(tmp_path / "many.obj")
    for _ in range(2):
        assert len(scene.build().labels.bodies) == 21
    assert sorted(calls) == 10 * ["solid"] + ["solids"]


def test_copies_in_one_file_are_the_first_one_moved_and_what_differs_is_no_copy(tmp_path):
    """The same rock twice, moved and written in another order; mirrored; and with one corner pulled out a little."""
    rng = np.random.default_rng(3)
    rock = trimesh.convex.convex_hull(rng.normal(size=(40, 3)))
    mirrored = trimesh.Trimesh(rock.vertices * (-1, 1, 1), rock.faces[:, ::-1], process=False)
    shuffled, order = rock.copy().apply_translation((10.1, 0.2, 0.3)), rng.permutation(len(rock.faces))
    shuffled = trimesh.Trimesh(shuffled.vertices, shuffled.faces[order][:, [1, 2, 0]], process=False)
    pulled = rock.copy().apply_translation((30, 0, 0))
    pulled.vertices[pulled.vertices[:, 0].argmax(), 0] += 1e-3
    trimesh.util.concatenate([rock, shuffled, mirrored.apply_translation((20, 0, 0)), pulled]
                             ).export(tmp_path / "rocks.stl")
    file = kept_meshes.MeshFile(tmp_path / "rocks.stl")
    assert copies(file.parts()) == [0, 0, 2, 3]
    names = [file.called(k) for k in range(4)]
    for k, scale in ((1, 1.0), (1, 0.1)):
        first, copy = file.solid(0, scale), file.solid(k, scale)
        alone = solid(file.parts()[k]._replace(vertices=scale * file.parts()[k].vertices), names[k])
        slack = 2.0**-21 * scale * 12.0  # single precision of numbers up to 12, of the vertices of both
        assert copy.properties.mass == first.properties.mass and copy.filled == first.filled
        for ours, right in zip((*copy.properties[1:], copy.hull.offsets.max()),
                               (*alone.properties[1:], alone.hull.offsets.max()), strict=True):
            assert np.abs(ours - right).max() <= 100 * slack  # mass and size: < 30 kg, < 5 m
        distance = np.abs(copy.hull.vertices[:, None] - alone.hull.vertices[None]).max(axis=2)
        assert max(distance.min(axis=1).max(), distance.min(axis=0).max()) <= slack


def test_a_copy_has_its_own_name_in_what_is_said(tmp_path):
    torn = trimesh.creation.box((1, 1, 1))
    torn = trimesh.Trimesh(torn.vertices, np.vstack([torn.faces[:-1], torn.faces[-1:, ::-1]]), process=False)
    trimesh.util.concatenate([torn, torn.copy().apply_translation((5, 0, 0))]).export(tmp_path / "torn.obj")
    file = kept_meshes.MeshFile(tmp_path / "torn.obj")
    said = [file.solid(k, 1.0).notes for k in range(2)]
    assert said == [(f"torn.obj (part {k}): 1 of 12 triangles were wound inwards and have been turned.",)
                    for k in range(2)]


def test_a_mesh_that_changes_on_the_disk_is_read_again(tmp_path):
    path = tmp_path / "box.stl"
    for edge in (1.0, 2.0):
        trimesh.creation.box((edge,) * 3).export(path)
        os.utime(path, (edge, edge))
        assert open_file(path).build().model.mass[1] == pytest.approx(1000.0 * edge**3)


def test_kept_meshes_give_way_to_later_ones(tmp_path, monkeypatch):
    """The files used last stay, as far as the limit of triangles goes."""
    monkeypatch.setattr(kept_meshes, "MESHES", kept_meshes.MESHES._replace(most=30))
    monkeypatch.setattr(kept_meshes, "_kept", {})
    for name in "abc":
        trimesh.creation.box((1, 1, 1)).export(tmp_path / f"{name}.stl")
    first, _ = (kept_meshes.mesh_file(tmp_path / f"{name}.stl") for name in "ab")
    assert kept_meshes.mesh_file(tmp_path / "a.stl") is first
    kept_meshes.mesh_file(tmp_path / "c.stl")
    assert [key[0].stem for key in kept_meshes._kept] == ["a", "c"]


def test_an_accessor_without_data_takes_no_memory(tmp_path):
    """A vector for each of 1.5e8 entries that a file of some hundred bytes claims would take 1.8 GB."""
    tree = {"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "accessors": [{"componentType": 5126, "count": 150_000_000, "type": "VEC3"},
                          {"bufferView": 0, "componentType": 5125, "count": 3, "type": "SCALAR"}],
            "bufferViews": [{"buffer": 0, "byteLength": 12}], "buffers": [{"byteLength": 12}]}
    (tmp_path / "zero.gltf").write_text(json.dumps(tree))
    tracemalloc.start()
    with pytest.raises(SceneError, match=f"zero.gltf has 50000000 triangles; .* no more than {TRIANGLES.most}"):
        read_surface(tmp_path / "zero.gltf")
    assert tracemalloc.get_traced_memory()[1] < 2 * GLTF_HEAD.most
    tracemalloc.stop()


@pytest.mark.parametrize("kind", sorted(mesh_files.NAMES))
def test_a_damaged_mesh_is_refused_in_the_users_words(tmp_path, kind):
    """Every 7th byte changed, or the rest cut off: a surface or a sentence without a word of Python's."""
    path = tmp_path / f"whole{kind}"
    trimesh.creation.icosahedron().export(path)
    files = path.read_bytes()
    damaged = tmp_path / f"damaged{kind}"
    for k in range(0, min(len(files), 2000), 7):
        for data in (files[:k], files[:k] + bytes([files[k] ^ 0x55]) + files[k + 1 :]):
            damaged.write_bytes(data)
            try:
                read_surface(damaged)
            except SceneError as error:
                assert str(error).startswith(damaged.name) and not re.search(r"Error|index|bytes|NoneType", str(error))


def test_loose_triangles_are_no_solid_but_may_be_scenery(tmp_path):
    corners = np.random.default_rng(1).normal(size=(100, 3, 3))
    path = write_stl(tmp_path / "soup.stl", corners)
    with pytest.raises(SceneError, match="soup"):
        Scene.from_mesh(path)
    assert len(static_mesh(read_surface(path)[0], "soup.stl").triangles) == 100


def test_a_flat_mesh_is_no_solid():
    with pytest.raises(SceneError, match="no volume"):
        solid(weld(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]])), "card")


# ---------------------------------------------------------------------------------------------------- hulls


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 60), st.sampled_from([1e-3, 1.0, 1e3]))
def test_a_hull_hangs_together_and_holds_all_points(seed, count, scale):
    """Corners joined into one face lie up to COPLANAR of the size off its plane: what a layer of that thickness on the
    whole surface weighs is the most that volume and centre may be off."""
    points = scale * np.random.default_rng(seed).normal(size=(count, 3))
    hull = convex_hull(points)
    mesh = trimesh.convex.convex_hull(points)
    size = np.ptp(points, axis=0).max()
    layer, properties = COPLANAR * size * mesh.area, hull_properties(hull)
    assert abs(properties.mass - mesh.volume) <= layer
    assert np.abs(properties.center - mesh.center_mass).max() <= layer / mesh.volume * size
    assert (points @ hull.normals.T - hull.offsets).max() <= COPLANAR * size
    assert len(hull.vertices) - len(hull.edges) + len(hull.loops) == 2
    for a, b, left, right in hull.edges:
        for face, (first, second) in ((left, (a, b)), (right, (b, a))):
            loop = hull.loops[face]
            assert loop[(loop.index(first) + 1) % len(loop)] == second


@pytest.mark.parametrize(("mesh", "faces", "vertices"), [
    (trimesh.creation.box((1, 2, 3)), 6, 8), (trimesh.creation.cylinder(1, 2, sections=24), 26, 48),
    (trimesh.creation.icosahedron(), 20, 12), (trimesh.creation.box((1, 1, 1)).subdivide().subdivide(), 6, 8),
])
def test_coplanar_triangles_become_one_polygon_also_in_single_precision(mesh, faces, vertices):
    R = trimesh.transformations.random_rotation_matrix(np.array([0.3, 0.6, 0.8]))[:3, :3]
    hull = convex_hull((np.array(mesh.vertices) @ R.T).astype(np.float32).astype(np.float64))
    assert (len(hull.loops), len(hull.vertices)) == (faces, vertices)


def test_a_hull_of_many_vertices_is_simplified_from_inside():
    points = np.random.default_rng(0).normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = convex_hull(points)
    assert len(hull.vertices) <= 128 and 0.9 < hull.shrunk < 1.0
    assert np.abs(np.linalg.norm(hull.vertices, axis=1) - 1.0).max() < 1e-12


def test_a_hull_is_simplified_by_what_is_added_to_it_and_made_anew_never(monkeypatch):
    """The exact hull, and one to which corners are added until it has as many as may be. Its volume is that of the
    hull which qhull makes of its corners at once, but for a layer on faces of four corners nearly in one plane."""
    points = np.random.default_rng(1).normal(size=(500, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    begun, qhull = [], hull_module._qhull
    monkeypatch.setattr(hull_module, "_qhull", lambda *a, **b: begun.append(1) or qhull(*a, **b))
    hull = convex_hull(points)
    assert len(begun) == 2 and len(hull.vertices) == 128 
    at_once = ConvexHull(hull.vertices)
    assert len(at_once.vertices) == 128
    assert abs(hull_properties(hull).mass - at_once.volume) <= COPLANAR * 2.0 * at_once.area


@pytest.mark.parametrize("points", [np.zeros((5, 3)), np.outer(np.arange(5), [1.0, 2.0, 3.0]),
                                    np.random.default_rng(0).normal(size=(9, 3)) * [1.0, 1.0, 0.0]])
def test_points_without_a_volume_have_no_hull(points):
    with pytest.raises(FlatError):
        convex_hull(points)


def test_hull_tables_are_absolute_and_about_the_centroid(tmp_path):
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "box.stl")
    tetrahedron = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    setup = Scene.from_dict({"body": [{"shape": [{"type": "mesh", "file": "box.stl"}]},
                                      {"shape": [{"type": "hull", "points": tetrahedron}]}]}, tmp_path).build()
    hulls, shapes = setup.model.hulls, setup.model.shapes
    assert hulls.vertex_start.tolist() == [0, 8, 12] and hulls.face_start.tolist() == [0, 6, 10]
    for k, (first, last) in enumerate(((0, 8), (8, 12))):
        own = hulls.vertices[first:last]
        f = slice(hulls.face_start[k], hulls.face_start[k + 1])
        assert (own @ hulls.face_normal[f].T <= hulls.face_offset[f] + 1e-12).all()
        edges = hulls.edges[hulls.edge_start[k] : hulls.edge_start[k + 1]]
        assert edges[:, :2].min() >= first and edges[:, :2].max() < last
        for v in range(first, last):
            mine = hulls.neighbours[hulls.neighbour_start[v] : hulls.neighbour_start[v + 1]]
            joined = {int(b if a == v else a) for a, b in edges[:, :2] if v in (a, b)}
            assert set(mine.tolist()) == joined and len(mine) == len(joined)
    assert np.allclose(shapes.position[1], 0.0, rtol=0, atol=1e-12)  # a hull's centroid is the centre of mass
    drawn, triangles = setup.labels.draw_meshes[0]
    assert len(triangles) == 12 and np.allclose(np.abs(drawn).max(axis=0), [0.5, 1.0, 1.5])


# ---------------------------------------------------------------------------------------------------- scenery


def test_edges_of_scenery_know_whether_they_stick_out():
    rough = surface_of(trimesh.creation.box((1, 1, 1)).subdivide())
    mesh = static_mesh(rough, "box")
    assert set(np.unique(mesh.edge_convex)) == {0, 1}
    flat = mesh.edge_convex == 0
    normals = np.repeat(mesh.triangle_normal[:, None], 3, axis=1)
    assert np.allclose(mesh.edge_normal[flat], normals[flat])
    assert np.allclose(np.einsum("ijk,ijk->ij", mesh.edge_normal, normals)[~flat], 0.0, rtol=0, atol=1e-12)
    notch = static_mesh(weld(notched_cube().reshape(-1, 3), np.arange(144).reshape(-1, 3)), "notch")
    assert (notch.edge_convex == -1).sum() == 6  # three concave edges, each of two triangles


def test_mesh_tables_of_several_files_are_absolute(tmp_path):
    trimesh.creation.icosphere(subdivisions=1).export(tmp_path / "ball.ply")
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "box.ply")
    shapes = [{"type": "mesh", "file": "ball.ply"}, {"type": "mesh", "file": "box.ply"}]
    meshes = Scene.from_dict({"body": [{"fixed": True, "shape": shapes}]}, tmp_path).build().model.meshes
    assert meshes.triangle_start.tolist() == [0, 80, 92]
    for k in range(2):
        t0, t1 = meshes.triangle_start[k : k + 2]
        todo, seen = [int(meshes.node_start[k])], []
        while todo:
            node = todo.pop()
            a, b = (int(v) for v in meshes.child[node])
            if a >= 0:
                todo += [a, b]
                continue
            rows = meshes.leaf_order[-a - 1 : -a - 1 + b]
            seen += rows.tolist()
            corners = meshes.vertices[meshes.triangles[rows]]
            assert (corners >= meshes.node_min[node] - 1e-12).all() and (corners <= meshes.node_max[node] + 1e-12).all()
        assert sorted(seen) == list(range(t0, t1))


def test_the_part_and_the_scale_of_a_file_are_chosen_in_the_scene(tmp_path):
    second = trimesh.creation.box((20, 10, 10))
    second.apply_translation([50, 0, 0])
    two = trimesh.util.concatenate([trimesh.creation.box((10, 10, 10)), second])
    two.export(tmp_path / "two.stl")
    shape = {"type": "mesh", "file": "two.stl", "scale": 0.01, "part": 1}
    assert Scene.from_dict({"body": [{"shape": [shape]}]}, tmp_path).build().model.mass[0] == pytest.approx(2.0)
    with pytest.raises(SceneError, match=r"body\[0\].shape\[0\].part is 2; it must be less than 2"):
        Scene.from_dict({"body": [{"shape": [shape | {"part": 2}]}]}, tmp_path).build()


def test_a_mesh_opened_by_hand_may_be_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "far" / "box.stl")
    os.symlink(tmp_path / "far" / "box.stl", tmp_path / "near" / "box.stl")
    assert open_file(tmp_path / "near" / "box.stl").build().model.mass[1] == pytest.approx(1000.0)


@pytest.mark.parametrize("angle", [0.0, 0.5, 2.0, 5.0, 20.0])
@pytest.mark.parametrize("height", [0.0, 0.16, 0.2, 0.3])
def test_a_hull_at_the_side_of_a_mesh_overlaps_it_no_further_than_it_has_come(tmp_path, angle, height):
    """It reaches beyond x = 0.5 by `come`. The triangles on top, which its lower part is 5 to 20 cm below, told of that
    depth, though they are hardly overlapped sideways. What is BEYOND that is left to the triangles at the side."""
    trimesh.creation.box(extents=(1.0, 1.0, 0.5)).export(tmp_path / "block.stl")
    corners = 0.1 * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
    for come, tilt in ((4e-5, 0.0), (4e-5, 1.0), (1e-3, 0.0), (1e-3, 1.0)):
        hull = {"name": "hull", "position": [0.0, 0.1, height], "euler": [tilt, 0.0, angle],
                "shape": [{"type": "hull", "points": corners.tolist()}]}
        tables = {"body": [{"name": "block", "fixed": True, "shape": [{"type": "mesh", "file": "block.stl"}]}, hull]}
        turned = np.array([rotated_one(Scene.from_dict(tables, folder=tmp_path).build().state.bodies.q[1], c)
                           for c in corners])
        hull["position"][0] = 0.5 - come - float(turned[:, 0].min())
        sim = Simulation(Scene.from_dict(tables, folder=tmp_path), method="compliant", h=1e-6)
        sim.step()
        assert len(sim.contacts.gap) and -BEYOND * come <= sim.contacts.gap.min() <= -0.5 * come
