"""Textures of glTF: read onto the triangles that the file means, drawn in their colours, told where they are not."""

import base64
import io
import json
import struct
import zlib

import numpy as np
import pytest
import trimesh
from PIL import Image
from scenes_to_draw import PLAIN, SIZE, Pictures, body, front_camera, snapshot
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from contactlab.app.export.gltf import glb_of
from contactlab.app.export.page import data_of
from contactlab.app.export.replay import replay
from contactlab.app.view.theme import linear
from contactlab.physics import Scene, Simulation
from contactlab.physics.core import limits
from contactlab.physics.scene import skins
from contactlab.physics.scene.mesh_files import read_surface

EDGE = 1.2  # [m]


def quarters(size=64):
    """Red and green above blue and white."""
    image = np.zeros((size, size, 3), np.uint8)
    h = size // 2
    image[:h, :h, 0] = image[:h, h:, 1] = image[h:, :h, 2] = 255
    image[h:, h:] = 255
    return Image.fromarray(image)


def crate(image, edge=EDGE):
    """A cube each of whose faces shows the whole image upright: u to the right and v upwards, seen from outside."""
    points, triangles, uv = [], [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            n = side * np.eye(3)[axis]
            up = np.eye(3)[1] if axis != 1 else -side * np.eye(3)[2]
            right = np.cross(up, n)
            triangles += (len(points) + np.array([[0, 1, 2], [0, 2, 3]])).tolist()
            for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                points.append(0.5 * edge * (n + (2 * u - 1) * right + (2 * v - 1) * up))
                uv.append((u, v))
    material = PBRMaterial(baseColorTexture=image, baseColorFactor=[255, 255, 255, 255])
    return trimesh.Trimesh(points, triangles, process=False, visual=TextureVisuals(uv=np.array(uv), material=material))


def write(folder, *meshes, name="crate.glb"):
    scene = trimesh.Scene()
    for k, mesh in enumerate(meshes):
        scene.add_geometry(mesh, node_name=f"Crate {k + 1}",
                           transform=trimesh.transformations.translation_matrix([3.0 * k, 0.0, 0.0]))
    if name.endswith(".glb"):
        (folder / name).write_bytes(scene.export(file_type="glb"))
    else:
        for file, data in scene.export(file_type="gltf").items():
            (folder / file).write_bytes(data)
        (folder / "model.gltf").rename(folder / name)
    return folder / name


@pytest.fixture(scope="module")
def pictures():
    made = Pictures()
    yield made
    made.release()


def drawn(path, **shape):
    table = {"name": "m", "shape": [{"type": "mesh", "file": path.name, **shape}]}
    return Scene.from_dict({"scene": {"title": "mesh"}, "body": [table]}, path.parent).build()


@pytest.mark.parametrize("fixed", [False, True])
def test_a_texture_is_seen_the_right_way_round_in_its_colours(pictures, tmp_path, fixed):
    """glTF's y is up and its z towards the viewer, who stands in front: red and green above blue and white. In each
    quarter the colour of the picture is the strongest, whatever the light; the dark ones are below half of it."""
    path = write(tmp_path, crate(quarters()))
    table = {"name": "m", "fixed": fixed, "shape": [{"type": "mesh", "file": path.name}]}
    setup = Scene.from_dict({"scene": {"title": "mesh"}, "body": [table]}, path.parent).build()
    shown = snapshot(body("sphere", radius=0.1), model=setup.model, labels=setup.labels,
                     x=setup.state.bodies.x, q=setup.state.bodies.q)
    distance = 4.0
    picture = pictures.take(shown, front_camera(distance), **PLAIN).astype(int)
    arm = 0.25 * EDGE / (distance - 0.5 * EDGE) / front_camera().pixel_angle(SIZE[1])
    spots = {(-1, -1): "red", (1, -1): "green", (-1, 1): "blue", (1, 1): "white"}  # rows of the picture run downwards
    for (across, down), color in spots.items():
        rgb = picture[round(SIZE[1] / 2 + down * arm), round(SIZE[0] / 2 + across * arm)]
        if color == "white":
            assert rgb.min() > 0.8 * rgb.max() > 60
        else:
            mine = ("red", "green", "blue").index(color)
            assert rgb[mine] > 60 and np.delete(rgb, mine).max() < 0.5 * rgb[mine]


@pytest.mark.parametrize("collide", ["hull", "surface"])
@pytest.mark.parametrize("part", [None, "Crate 1"])
def test_every_corner_keeps_its_place_in_the_image(tmp_path, collide, part):
    """Of the cube: u and 1 - v are 0 or 1 at the corners, as far from the middle of their face as these are."""
    path = write(tmp_path, crate(quarters()))
    shape = {"type": "mesh", "file": path.name, "collide": collide, "scale": 0.5}
    shape |= {} if part is None else {"part": part}
    setup = Scene.from_dict({"body": [{"fixed": True, "shape": [shape]}]}, tmp_path).build()
    (vertices, triangles), (skin,) = setup.labels.draw_meshes[0], setup.labels.skins
    corners = vertices[triangles]
    np.testing.assert_allclose(np.abs(corners), 0.25 * EDGE, rtol=1e-6)
    assert skin.uv.shape == (12, 3, 2) and set(skin.uv.ravel()) == {0.0, 1.0}
    front = (corners[:, :, 1] < 0.0).all(axis=1)  # glTF's z is -y here
    np.testing.assert_array_equal(skin.uv[front][:, :, 0], corners[front][:, :, 0] > 0.0)
    np.testing.assert_array_equal(skin.uv[front][:, :, 1], corners[front][:, :, 2] < 0.0)
    np.testing.assert_array_equal(skin.image, np.array(quarters()))


@pytest.mark.parametrize("colored", [False, True])
def test_a_run_exported_as_glb_shows_the_texture_where_the_window_does(tmp_path, colored):
    """Read by trimesh: every corner of the cube is where it was in the image, which a colour of the body tints: glTF's
    factors are linear, trimesh rounds them to 8 bits."""
    path = write(tmp_path, crate(quarters()))
    table = {"name": "m", "shape": [{"type": "mesh", "file": path.name}]} | ({"color": "#0072b2"} if colored else {})
    sim = Simulation(Scene.from_dict({"body": [table]}, tmp_path))
    found = trimesh.load_scene(io.BytesIO(glb_of(replay(sim, 0.1))), file_type="glb")
    mesh, = found.geometry.values()
    material = mesh.visual.material
    np.testing.assert_array_equal(np.array(material.baseColorTexture.convert("RGB")), np.array(quarters()))
    tint = linear(np.array([0x00, 0x72, 0xB2]) / 255.0) if colored else np.ones(3)
    np.testing.assert_allclose(np.array(material.baseColorFactor[:3]) / 255.0, tint, atol=0.5 / 255)
    front = mesh.triangles[:, :, 1].max(axis=1) < 0.0  # of the shape, with z upwards
    uv, corners = mesh.visual.uv[mesh.faces][front], mesh.triangles[front]
    assert front.sum() == 2
    np.testing.assert_allclose(uv[:, :, 0], corners[:, :, 0] > 0.0, atol=1e-6)
    np.testing.assert_allclose(uv[:, :, 1], corners[:, :, 2] > 0.0, atol=1e-6)


def test_a_page_holds_every_image_once_and_says_where_corners_are_in_it(tmp_path):
    one = crate(quarters())
    page = data_of(replay(Simulation(Scene.from_mesh(write(tmp_path, one, one))), 0.1))
    image, = page["images"]
    np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(base64.b64decode(image)))), np.array(quarters()))
    _, *crates = (body["shapes"][0] for body in page["bodies"])
    assert [(shape["image"], shape["tint"]) for shape in crates] == [(0, "#ffffff")] * 2
    corners, uv = (np.frombuffer(base64.b64decode(crates[0][name]), "<f4") for name in ("vertices", "uv"))
    corners, uv = corners.reshape(-1, 3, 3), uv.reshape(-1, 3, 2)
    front = corners[:, :, 1].max(axis=1) < 0.0
    np.testing.assert_array_equal(uv[front][:, :, 0] == 1.0, corners[front][:, :, 0] > 0.0)
    np.testing.assert_array_equal(uv[front][:, :, 1] == 1.0, corners[front][:, :, 2] > 0.0)


def test_a_file_of_several_crates_reads_their_image_once_and_solids_of_one_mesh_keep_theirs(tmp_path):
    one = crate(quarters())
    scene = Scene.from_mesh(write(tmp_path, one, one)).build()
    worn = [skin for skin in scene.labels.skins if skin is not None]
    assert len(worn) == 2 and worn[0].image is worn[1].image
    other = one.copy()
    other.apply_translation([3.0, 0.0, 0.0])
    both = trimesh.Trimesh(np.vstack([one.vertices, other.vertices]), np.vstack([one.faces, other.faces + 24]),
                           process=False, visual=TextureVisuals(uv=np.vstack([one.visual.uv] * 2),
                                                                material=one.visual.material))
    setup = Scene.from_mesh(write(tmp_path, both, name="both.glb")).build()
    assert setup.labels.bodies == ("ground", "both 1", "both 2")
    assert [None if skin is None else len(skin.uv) for skin in setup.labels.skins] == [None, 12, 12]


def png_of(width, height):
    """A picture that claims to be so large, and holds nothing."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("data", "said"), [
    (None, "the texture of Crate 1 is missing or no picture; it is drawn in its colour"),
    (b"no picture at all", "is missing or no picture"), (png_of(9000, 9000), r"has 9000 × 9000 pixels; no more than"),
    (png_of(60000, 60000), "is missing or no picture"), (png_of(64, 64), "is damaged; it is drawn in its colour")])
def test_textures_that_are_missing_damaged_or_huge_are_told_and_the_mesh_is_there(tmp_path, data, said):
    path = write(tmp_path, crate(quarters()), name="crate.gltf")
    (picture,) = tmp_path.glob("*.png") if list(tmp_path.glob("*.png")) else [tmp_path / "own.png"]
    tree = json.loads(path.read_text())
    tree["images"] = [{"uri": picture.name}]
    path.write_text(json.dumps(tree))
    picture.unlink(missing_ok=True)
    if data is not None:
        picture.write_bytes(data)
    setup = Scene.from_mesh(path).build()
    assert any(said.replace("\\", "") in note for note in setup.labels.notes)
    assert setup.labels.skins == (None, None)
    assert setup.model.mass[1] == pytest.approx(1000.0 * EDGE**3, rel=1e-5)


def test_a_large_texture_is_drawn_smaller_and_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(skins, "DRAWN", 16)
    read = read_surface(write(tmp_path, crate(quarters(64))))
    assert read.notes == ("crate.glb: the texture of Crate 1 has 64 × 64 pixels and is drawn with 16 × 16.",)
    monkeypatch.setattr(skins, "TEXTURE", limits.TEXTURE._replace(most=1000))
    assert "no more than 1000 pixels are read" in read_surface(tmp_path / "crate.glb").notes[0]


def test_places_in_a_texture_that_are_no_numbers_are_told(tmp_path):
    mesh = crate(quarters())
    mesh.visual.uv[3] = np.nan
    setup = Scene.from_mesh(write(tmp_path, mesh)).build()
    assert any("has no places on the mesh" in note for note in setup.labels.notes) and setup.labels.skins[1] is None


def test_a_texture_that_the_file_does_not_hold_is_told(tmp_path):
    path = write(tmp_path, crate(quarters()), name="crate.gltf")
    tree = json.loads(path.read_text())
    tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["index"] = 99
    path.write_text(json.dumps(tree))
    assert any("is missing or no picture" in note for note in Scene.from_mesh(path).build().labels.notes)


def test_a_picture_of_a_palette_or_grey_is_a_texture(tmp_path):
    for mode in ("P", "L", "RGBA"):
        data = io.BytesIO()
        quarters().convert(mode).save(data, "PNG")
        data.seek(0)
        read = read_surface(write(tmp_path, crate(Image.open(data)), name=f"{mode}.glb"))
        assert read.pieces["Crate 1"].skinned.skin.image.shape == (64, 64, 3)
