"""Ten mesh scenes of one kind each: files written into a folder, and how they are opened."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import trimesh
from PIL import Image
from trimesh.transformations import rotation_matrix, translation_matrix
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from contactlab.assets import gallery
from contactlab.physics import Scene

FLOOR = {"name": "floor", "fixed": True, "color": "#9aa5b1", "shape": [{"type": "plane"}]}


def mesh_body(name: str, file: str, position: list[float], **given) -> dict:
    """A body of a mesh that collides as its surface, unless something else is given."""
    shape = {"type": "mesh", "file": file, "collide": "surface"} | given.pop("shape", {})
    return {"name": name, "density": 1000.0, "position": position, "shape": [shape]} | given


def cup(sections: int = 24, radius: float = 0.1, height: float = 0.15, wall: float = 0.015) -> trimesh.Trimesh:
    """A cup with walls and a bottom, about the z axis from 0 up [m]."""
    profile = [[0, 0], [radius, 0], [radius, height], [radius - wall, height], [radius - wall, wall], [0, wall]]
    return trimesh.creation.revolve(np.array(profile), sections=sections)


def corner_piece(size: float = 0.1) -> trimesh.Trimesh:
    """Three cubes in the shape of an L, as high and as wide as two of them [m]."""
    outline = size * np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
    points = np.array([[x, y, z] for y in (size, 0.0) for x, z in outline])
    cap = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    back = [(a + 6, c + 6, b + 6) for a, b, c in cap]
    ends = [(i, (i + 1) % 6) for i in range(6)]
    sides = [t for i, j in ends for t in ((j, i, i + 6), (j, i + 6, j + 6))]
    mesh = trimesh.Trimesh(points, [*back, *cap, *sides],
                           process=False)
    if mesh.volume < 0.0:
        mesh.invert()
    return mesh


def cup_with_a_ball(folder: Path) -> Scene:
    cup().export(folder / "cup.stl")
    ball = {"name": "ball", "density": 2000.0, "position": [0.02, 0.0, 0.25], "color": "#e69f00",
            "shape": [{"type": "sphere", "radius": 0.03}]}
    return Scene.from_dict({"body": [FLOOR, mesh_body("cup", "cup.stl", [0.0, 0.0, 0.0]), ball]}, folder)


def ring_on_a_peg(folder: Path) -> Scene:
    trimesh.creation.torus(0.1, 0.02, major_sections=32, minor_sections=12).export(folder / "ring.stl")
    peg = {"name": "peg", "fixed": True, "position": [0.0, 0.0, 0.4], "euler": [90.0, 0.0, 0.0], "color": "#9aa5b1",
           "shape": [{"type": "cylinder", "radius": 0.028, "height": 0.3}]}
    ring = mesh_body("ring", "ring.stl", [0.004, 0.0, 0.3495], euler=[90.0, 0.0, 0.0], color="#0072b2")
    return Scene.from_dict({"body": [peg, ring]}, folder)


def chain_of_links(folder: Path) -> Scene:
    links = [trimesh.creation.torus(0.1, 0.02, major_sections=32, minor_sections=12) for _ in range(3)]
    for k, link in enumerate(links):
        link.apply_transform(translation_matrix([0.0, 0.0, 0.5 - 0.159 * k])
                             @ rotation_matrix(np.pi / 2, [0, 1, 0] if k % 2 else [1, 0, 0]))
        link.export(folder / f"link{k}.stl")
    bodies = [mesh_body(f"link {k}", f"link{k}.stl", [0.0, 0.0, 0.0], fixed=k == 0) for k in range(3)]
    return Scene.from_dict({"body": bodies}, folder)


def nut_and_bolt(folder: Path) -> Scene:
    return Scene.load(gallery()["nut_and_bolt"])


def terrain(folder: Path) -> Scene:
    return Scene.load(gallery()["valleys"])


def scene_graph_with_a_texture(folder: Path) -> Scene:
    """A floor and two boxes, one of which wears a chequered image, in glTF's axes, y upwards."""
    squares = np.kron(np.indices((4, 4)).sum(0) % 2, np.ones((16, 16))).astype(np.uint8)
    image = Image.fromarray(np.stack([255 * squares, 90 + 0 * squares, 255 - 255 * squares], axis=2).astype(np.uint8))
    box = trimesh.creation.box((0.3, 0.3, 0.3))
    faces = box.vertices[box.faces].reshape(-1, 3)
    across = np.abs(np.repeat(box.face_normals, 3, axis=0)).argmax(axis=1)
    uv = np.array([np.delete(p, axis) for p, axis in zip(faces, across, strict=True)]) / 0.3 + 0.5
    worn = trimesh.Trimesh(faces, np.arange(36).reshape(-1, 3), process=False, visual=TextureVisuals(
        uv=uv, material=PBRMaterial(baseColorTexture=image, baseColorFactor=[255, 255, 255, 255])))
    plain = trimesh.creation.box((0.2, 0.2, 0.2))
    plain.visual = TextureVisuals(material=PBRMaterial(baseColorFactor=[0.9, 0.3, 0.1, 1.0]))
    floor = trimesh.Trimesh([[-1, 0, -1], [-1, 0, 1], [1, 0, 1], [1, 0, -1]], [[0, 1, 2], [0, 2, 3]], process=False)
    graph = trimesh.Scene()
    graph.add_geometry(floor, node_name="Floor")
    graph.add_geometry(worn, node_name="Crate", transform=translation_matrix([0.0, 0.15, 0.0]))
    graph.add_geometry(plain, node_name="Small box", transform=translation_matrix([0.05, 0.45, 0.03]))
    (folder / "graph.glb").write_bytes(graph.export(file_type="glb"))
    return Scene.from_mesh(folder / "graph.glb")


def groups_of_obj(folder: Path) -> Scene:
    lines, count = ["mtllib parts.mtl"], 0
    for name, x, color in (("left", -0.4, "red"), ("right", 0.4, "blue")):
        mesh = trimesh.creation.icosphere(2, 0.2)
        lines += [f"o {name}", f"usemtl {color}"]
        lines += [f"v {a + x} {b} {c + 0.3}" for a, b, c in mesh.vertices.tolist()]
        lines += [f"f {a + count + 1} {b + count + 1} {c + count + 1}" for a, b, c in mesh.faces.tolist()]
        count += len(mesh.vertices)
    (folder / "parts.obj").write_text("\n".join(lines) + "\n")
    (folder / "parts.mtl").write_text("newmtl red\nKd 0.8 0.1 0.1\nnewmtl blue\nKd 0.1 0.2 0.8\n")
    return Scene.from_mesh(folder / "parts.obj")


def solids_of_stl(folder: Path) -> Scene:
    meshes = [trimesh.creation.box((0.2, 0.2, 0.2)), trimesh.creation.cylinder(0.1, 0.3), corner_piece()]
    for k, mesh in enumerate(meshes):
        mesh.apply_translation([0.4 * k, 0.0, 0.2])
    trimesh.util.concatenate(meshes).export(folder / "three.stl")
    return Scene.from_mesh(folder / "three.stl", split=True)


def shell(folder: Path) -> Scene:
    half = trimesh.creation.icosphere(3, 0.2)
    half.update_faces(half.triangles_center[:, 2] < 0.01)
    half.remove_unreferenced_vertices()
    half.export(folder / "shell.ply")
    ball = {"name": "ball", "density": 500.0, "position": [0.05, 0.0, 0.35], "color": "#e69f00",
            "shape": [{"type": "sphere", "radius": 0.05}]}
    bowl = mesh_body("bowl", "shell.ply", [0.0, 0.0, 0.21], shape={"thickness": 0.01}, color="#56b4e9")
    return Scene.from_dict({"body": [FLOOR, bowl, ball]}, folder)


def rigid_bodies_of_gltf(folder: Path) -> Scene:
    shapes = [{"type": "box", "box": {"size": [4.0, 0.2, 4.0]}}, {"type": "sphere", "sphere": {"radius": 0.3}},
              {"type": "cylinder", "cylinder": {"height": 0.5, "radiusTop": 0.2, "radiusBottom": 0.2}}]

    def node(name: str, at: list[float], shape: int, **motion) -> dict:
        says = {"collider": {"geometry": {"shape": shape}}} | ({"motion": motion} if motion else {})
        return {"name": name, "translation": at, "extensions": {"KHR_physics_rigid_bodies": says}}

    nodes = [node("Floor", [0, -0.1, 0], 0), node("Ball", [0, 0.3, 0], 1, mass=2.0, linearVelocity=[1.0, 0, 0]),
             node("Drum", [-1, 0.5, 0], 2, mass=1.0)]
    (folder / "yard.gltf").write_text(json.dumps({
        "asset": {"version": "2.0"}, "extensionsUsed": ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"],
        "nodes": nodes, "scene": 0, "scenes": [{"nodes": [0, 1, 2]}],
        "extensions": {"KHR_implicit_shapes": {"shapes": shapes}, "KHR_physics_rigid_bodies": {}}}))
    return Scene.from_mesh(folder / "yard.gltf")


#: by name: what opens it, and how many of its bodies forces move
ZOO: dict[str, tuple[Callable[[Path], Scene], int]] = {
    "a ball in a cup": (cup_with_a_ball, 2), "a ring on a peg": (ring_on_a_peg, 1), "links": (chain_of_links, 2),
    "a nut on a bolt": (nut_and_bolt, 4), "terrain": (terrain, 3), "scene graph": (scene_graph_with_a_texture, 2),
    "groups of OBJ": (groups_of_obj, 2), "solids of STL": (solids_of_stl, 3), "shell": (shell, 2),
    "rigid bodies of glTF": (rigid_bodies_of_gltf, 2),
}
