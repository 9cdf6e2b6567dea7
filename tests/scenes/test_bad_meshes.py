"""Meshes as people have them: what is wrong with one is mended and named, or refused with the reason."""

import base64
import json

import numpy as np
import pytest
import trimesh

from contactlab.physics import Scene, SceneError, Simulation, open_file
from contactlab.physics.core.interruption import Interrupted, interruptible
from contactlab.physics.core.model import Array
from contactlab.physics.scene import crossing, mesh_files
from contactlab.physics.scene.mesh import MeshSurface, solid, weld
from contactlab.physics.scene.mesh_files import read_surface
from contactlab.physics.scene.mesh_scene import AS_IT_IS, doubts

SINGLE, DOUBLE = 2.0**-24, 2.0**-53  # by which a number is rounded, of its size
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
SIDES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], np.uint16)


def obj(path, points, triangles):
    """Written with all digits."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(points, float).tolist()]
    path.write_text("\n".join(lines + [f"f {a} {b} {c}" for a, b, c in (np.asarray(triangles) + 1).tolist()]) + "\n")
    return path


def notes_of(path, **choices) -> tuple[str, ...]:
    return open_file(path, **choices).build().labels.notes


# ---------------------------------------------------------------------------------------------------- mending


def test_a_mesh_without_faults_has_nothing_mended(tmp_path):
    box = trimesh.creation.box((1, 2, 3))
    for name in ("box.stl", "box.obj", "box.glb"):
        box.export(tmp_path / name)
        assert notes_of(tmp_path / name) == ()


def test_every_repair_is_named_and_leaves_the_solid_that_was_meant(tmp_path):
    """Of a box of 2 m³: a triangle twice, one the other way round, two with a corner twice, a corner of one 1e-10
    beside the others. What is there twice left edges of three triangles, so that the box counted as open."""
    box = trimesh.creation.box((1, 1, 2))
    points = np.vstack([box.vertices, box.vertices[0] + 1e-10])
    faces = np.vstack([box.faces, box.faces[3][[1, 2, 0]], [[0, 0, 1], [2, 5, 2]]])
    faces[0] = np.where(faces[0] == 0, len(points) - 1, faces[0])
    faces[5] = faces[5][::-1]
    assert (faces[0] == len(points) - 1).any()
    path = obj(tmp_path / "torn.obj", points, faces)
    setup = open_file(path).build()
    assert setup.labels.notes == (
        "torn.obj: 1 of 12 triangles were wound inwards and have been turned.",
        "torn.obj: corners nearer to each other than 1e-8 of its size are one; 1 have been moved for that.",
        "torn.obj: triangles with two corners in one place are left out: 2 of 15.",
        "torn.obj: triangles that are there before are left out: 1 of 15.")
    assert setup.model.mass[1] == pytest.approx(2000.0, rel=1e-9)


def test_repairs_of_a_piece_are_told_with_its_name_and_once(tmp_path):
    box = trimesh.creation.box((1, 1, 1))
    lines, count = [], 1
    for k, name in enumerate(("good", "torn")):
        lines += [f"o {name}", *(f"v {x + 3 * k} {y} {z}" for x, y, z in box.vertices)]
        lines += [f"f {a + count} {b + count} {c + count}" for a, b, c in box.faces]
        count += 8
    a, b, c = box.faces[0] + count - 8
    (tmp_path / "two.obj").write_text("\n".join([*lines, f"f {a} {b} {c}"]) + "\n")
    setup = open_file(tmp_path / "two.obj").build()
    assert setup.labels.notes == ("two.obj (torn): triangles that are there before are left out: 1 of 13.",)
    assert setup.model.mass[1:] == pytest.approx([1000.0, 1000.0])


def test_of_two_solids_in_one_place_one_counts(tmp_path):
    box = trimesh.creation.box((1, 1, 1))
    trimesh.util.concatenate([box, box]).export(tmp_path / "twice.stl")
    setup = open_file(tmp_path / "twice.stl").build()
    assert setup.model.mass[1] == pytest.approx(1000.0)
    assert setup.labels.notes == ("twice.stl: triangles that are there before are left out: 12 of 24.",)


@pytest.mark.parametrize("fixed", [True, False])
def test_triangles_without_an_area_touch_nothing_and_it_is_said(tmp_path, fixed):
    """A corner in the middle of an edge of a box, and the needle between that keeps the surface closed."""
    box = trimesh.creation.box((1, 1, 1))
    a, b, c = box.faces[0]
    middle = 0.5 * (box.vertices[a] + box.vertices[b])
    faces = np.vstack([box.faces[1:], [[a, 8, c], [8, b, c], [a, b, 8]]])
    obj(tmp_path / "needle.obj", np.vstack([box.vertices, middle]), faces)
    body = {"fixed": fixed, "shape": [{"type": "mesh", "file": "needle.obj", "collide": "surface"}]}
    setup = Scene.from_dict({"body": [body]}, tmp_path).build()
    assert setup.labels.notes == ("needle.obj: triangles without an area touch nothing: 1 of 14.",)


# ---------------------------------------------------------------------------------------------------- crossing itself


def tube(way: Array, radius: float, sides: int) -> trimesh.Trimesh:
    """A closed tube about a closed way (n, 3) in the x-y plane, or near it."""
    ahead = np.roll(way, -1, axis=0) - np.roll(way, 1, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    aside = np.cross([0.0, 0.0, 1.0], ahead)
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    above = np.cross(ahead, aside)
    angle = 2 * np.pi * np.arange(sides) / sides
    rings = (way[:, None] + radius * (np.cos(angle)[None, :, None] * aside[:, None]
                                      + np.sin(angle)[None, :, None] * above[:, None]))
    i, j = np.meshgrid(np.arange(len(way)), np.arange(sides), indexing="ij")
    i, j, k, m = i.ravel(), j.ravel(), ((i + 1) % len(way)).ravel(), ((j + 1) % sides).ravel()
    corner = lambda a, b: a * sides + b  # noqa: E731
    faces = np.vstack([np.column_stack([corner(i, j), corner(k, j), corner(k, m)]),
                       np.column_stack([corner(i, j), corner(k, m), corner(i, m)])])
    mesh = trimesh.Trimesh(rings.reshape(-1, 3), faces, process=False)
    if mesh.volume < 0.0:
        mesh.invert()
    return mesh


@pytest.mark.parametrize(("lift", "crosses"), [(0.0, True), (0.07, True), (0.13, False)])
def test_a_surface_that_crosses_itself_is_said_to(lift, crosses):
    """A tube of radius 0.1 about a figure of eight, whose ways cross 2 lift apart: where that is less than two radii,
    it runs through itself."""
    t = 2 * np.pi * np.arange(90) / 90
    way = np.column_stack([np.sin(2 * t), 1.5 * np.sin(t), lift * np.cos(t)])
    mesh = tube(way, 0.1, 12)
    whole = solid(MeshSurface(np.array(mesh.vertices), np.array(mesh.faces, np.int32)), "eight.stl")
    said = "eight.stl crosses itself: mass and inertia count twice what it holds twice, and take off what it holds " \
           "inside out."
    assert (said in whole.notes) == crosses


def test_what_is_twisted_or_bent_back_and_does_not_cross_is_not_said_to_cross():
    t = 2 * np.pi * np.arange(120) / 120
    knot = np.column_stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)])
    for mesh in (tube(knot, 0.3, 10), trimesh.creation.annulus(0.2, 0.5, 0.3), trimesh.creation.icosphere(3),
                 trimesh.creation.torus(1.0, 0.4), trimesh.creation.cylinder(1.0, 5.0, sections=200)):
        surface = weld(np.array(mesh.vertices), np.array(mesh.faces))
        assert not any("crosses itself" in note for note in solid(surface, "m").notes)


def test_the_search_for_crossings_is_limited_and_may_be_given_up(monkeypatch):
    """Before pairs are made, and between blocks of them."""
    ball = trimesh.creation.icosphere(3)
    given = np.array(ball.vertices), np.array(ball.faces, np.int32), np.zeros(len(ball.faces), int)
    monkeypatch.setattr(crossing, "BLOCK", 1000)
    looks = []
    with interruptible(lambda: len(looks) > 2 or looks.append(1)), pytest.raises(Interrupted):
        crossing.crosses_itself(*given)
    assert len(looks) == 3
    monkeypatch.setattr(crossing, "MOST", 1000)
    monkeypatch.setattr(crossing, "_pierced", None)
    assert not crossing.crosses_itself(*given)


# ---------------------------------------------------------------------------------------------------- far and small


@pytest.mark.parametrize("far", [1e6, 1e8, 9e8])
def test_a_mesh_far_from_its_origin_is_what_it_is_to_the_rounding_of_its_numbers(tmp_path, far):
    """A box of 1, 2 and 3 m whose corners lie at `far` m, written with all digits: each is off by up to far 2^-53, and
    so mass is by that over the size on each of six sides, moments by no more than five times as much. It stands where
    a box without that distance stands."""
    box = trimesh.creation.box((1, 2, 3))
    far_box = obj(tmp_path / "far.obj", box.vertices + np.array([far, -far, far]), box.faces)
    near_box = obj(tmp_path / "near.obj", box.vertices, box.faces)
    (model, state, labels, _), (right, there, _, _) = open_file(far_box).build(), open_file(near_box).build()
    error = far * DOUBLE
    assert labels.notes == ()
    assert model.mass[1] == pytest.approx(right.mass[1], rel=6 * error)
    assert np.sort(model.inertia[1]) == pytest.approx(np.sort(right.inertia[1]), rel=30 * error)
    assert state.bodies.x[1] == pytest.approx(there.bodies.x[1], abs=4 * error)
    assert model.shapes.bound[-1] == pytest.approx(right.shapes.bound[-1], abs=4 * error)


def test_a_mesh_too_far_from_its_origin_is_refused_with_the_reason(tmp_path):
    box = trimesh.creation.box((1, 2, 3))
    path = obj(tmp_path / "far.obj", box.vertices + np.array([1.1e9, 0, 0]), box.faces)
    with pytest.raises(SceneError, match=r"far\.obj is 3 m long; it must be from 1e-9 to 1e9 m, .* no farther from"):
        open_file(path)


@pytest.mark.parametrize("ending", ["stl", "ply"])
@pytest.mark.parametrize(("far", "said"), [
    (10.0, None), (1e6, "% of its size"), (2e7, "rounded by up to 1.2; it must be nearer to the origin of its file"),
    (1e9, "no farther from its origin than its numbers tell corners apart")])
def test_single_precision_far_from_the_origin_is_told_or_refused(tmp_path, ending, far, said):
    """A box of 1, 2 and 3.1 m: at 1e6 m its corners are off by up to 1/32 m, and it is told. At 2e7 m they are by 1 m,
    and at 1e9 m by 32 m: all are in one place."""
    box = trimesh.creation.box((1, 2, 3.1)).apply_translation((far,) * 3)
    path = tmp_path / f"far.{ending}"
    rows = box.copy()
    rows.vertices = np.asarray(rows.vertices, np.float32)
    rows.export(path)
    if far > 1e7:
        with pytest.raises(SceneError, match=said) as refused:
            open_file(path)
        assert "far" in str(refused.value) and "\n" not in str(refused.value)
        return
    setup = open_file(path).build()
    assert [said in note for note in setup.labels.notes] == ([True] if said else [])
    size = np.array([1, 2, 3.1])
    assert setup.model.mass[1] == pytest.approx(6200.0, rel=float(np.sum(2 * far * SINGLE / size)))


def test_a_node_that_stands_far_away_has_the_numbers_of_its_mesh(tmp_path):
    """In glTF the place of a node is one number more: what is about its own origin is not rounded."""
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box((1, 2, 3)), node_name="box",
                       transform=trimesh.transformations.translation_matrix((1e6, 0, 0)))
    (tmp_path / "far.glb").write_bytes(scene.export(file_type="glb"))
    setup = open_file(tmp_path / "far.glb").build()
    assert setup.labels.notes == () and setup.model.mass[1] == pytest.approx(6000.0, rel=1e-9)


@pytest.mark.parametrize("collide", ["hull", "surface"])
def test_a_mesh_of_a_micrometre_has_its_mass_stands_and_is_asked_about(tmp_path, collide):
    """A box of 1, 2 and 3 µm of 1000 kg/m³: m = 6e-15 kg, I = m/12 (b² + c², …). It falls half a size on the ground and
    stays there: the way of the first step, g h², is left."""
    obj(tmp_path / "grain.obj", 1e-6 * (box := trimesh.creation.box((1, 2, 3))).vertices, box.faces)
    ground = {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}
    grain = {"name": "grain", "position": [0.0, 0.0, 1.6e-6],
             "shape": [{"type": "mesh", "file": "grain.obj", "collide": collide}]}
    sim = Simulation(Scene.from_dict({"body": [ground, grain]}, tmp_path), method="time_stepping", h=1e-5)
    assert sim.model.mass[1] == pytest.approx(6e-15, rel=1e-9)
    assert sim.model.inertia[1] == pytest.approx(6e-15 / 12 * 1e-12 * np.array([13, 10, 5]), rel=1e-9)
    sim.run(0.01)
    assert sim.position("grain") == pytest.approx((0.0, 0.0, 1.5e-6), abs=9.81 * sim.settings.h**2)
    assert doubts(tmp_path / "grain.obj", AS_IT_IS).size == "1e-06 × 2e-06 × 3e-06 m"


# ---------------------------------------------------------------------------------------------------- one triangle


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off", "glb"])
def test_one_triangle_is_refused_as_such_and_may_be_a_shell_or_scenery(tmp_path, ending):
    path = tmp_path / f"one.{ending}"
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], process=False).export(path)
    with pytest.raises(SceneError) as refused:
        open_file(path)
    assert str(refused.value) == (f"one.{ending} is one triangle, which has no volume; it must be solid, or a shell "
                                  "with a thickness.")
    assert open_file(path, thickness=0.01).build().model.mass[1] == pytest.approx(5.0, rel=1e-6)
    scenery = {"fixed": True, "shape": [{"type": "mesh", "file": path.name}]}
    assert len(Scene.from_dict({"body": [scenery]}, tmp_path).build().model.meshes.triangles) == 1


# ---------------------------------------------------------------------------------------------------- circles of nodes


def gltf(path, nodes, roots):
    """A glTF file with these nodes; mesh 0 is a tetrahedron."""
    data = TETRAHEDRON.tobytes() + SIDES.tobytes()
    path.write_text(json.dumps({
        "asset": {"version": "2.0"}, "nodes": nodes, "scene": 0, "scenes": [{"nodes": roots}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0],
                       "max": [1, 1, 1]}, {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48},
                        {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "buffers": [{"byteLength": 72,
                     "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]}))
    return path


@pytest.mark.parametrize(("nodes", "roots", "said"), [
    ([{"name": "a", "mesh": 0, "children": [0]}], [0], "the node a is below itself"),
    ([{"name": "a", "mesh": 0, "children": [1]}, {"name": "b", "children": [0]}], [0], "the node [ab] is below itself"),
    ([{"name": "a", "children": [1]}, {"name": "b", "mesh": 0, "children": [2]}, {"name": "c", "children": [1]}], [0],
     "the node b is below two others"),
    ([{"mesh": 0}, {"children": [2]}, {"children": [3], "mesh": 0}, {"children": [1]}, {}], [0],
     "the node [123] is below itself"),
    ([{"name": "a", "children": [2]}, {"name": "b", "children": [2]}, {"name": "c", "mesh": 0}], [0, 1],
     "the node c is below two others"),
])
def test_nodes_in_a_circle_are_refused_before_they_are_placed(tmp_path, monkeypatch, nodes, roots, said):
    monkeypatch.setattr(mesh_files, "_placed", None)
    with pytest.raises(SceneError, match=rf"circle\.gltf: .*{said}"):
        open_file(gltf(tmp_path / "circle.gltf", nodes, roots))


def test_a_node_below_many_others_is_placed_by_one_product_each(tmp_path, monkeypatch):
    """A thousand of them took minutes: trimesh looks for the best order of multiplying all n matrices, in n³ steps.
    Each of these is 1 mm beside the one above it, and turned about that way: n sums, and n roundings."""
    monkeypatch.setattr("numpy.linalg.multi_dot", None)
    count, turn = 3000, 0.1
    below = {"translation": [0.001, 0, 0], "rotation": [np.sin(turn / 2), 0, 0, np.cos(turn / 2)]}
    nodes = [{"children": [k + 1], **below} for k in range(count)] + [{"mesh": 0}]
    surface, *_ = read_surface(gltf(tmp_path / "deep.gltf", nodes, [0]))
    angle = count * turn
    corners = TETRAHEDRON @ np.array([[1, 0, 0], [0, np.cos(angle), np.sin(angle)], [0, -np.sin(angle), np.cos(angle)]])
    expected = (corners + np.array([0.001 * count, 0, 0])) @ mesh_files.Y_UP.T
    distance = np.linalg.norm(surface.vertices[:, None] - expected[None], axis=2)
    assert max(distance.min(axis=0).max(), distance.min(axis=1).max()) < 10 * count * DOUBLE * 3.0
