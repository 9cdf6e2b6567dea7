"""Damaged meshes and robots: what can be read, or a sentence."""

import copy
import random
import re
from xml.etree import ElementTree

import pytest
import trimesh
from answers import answer
from effort import either
from trimesh.exchange.gltf import export_gltf

from contactlab.physics import open_file
from contactlab.physics.scene.mesh_files import NAMES

EXTREMES = ["1e400", "nan", "-1", "0", "", "1e300", "5e-324", "x", "1 2", "1 2 3 4", "99999999999999999999"]


def bytes_damaged(data, chance):
    """Some bytes changed, a part cut out or repeated, the end cut off, or a number replaced."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 3])):
        k, length = chance.randrange(len(data) + 1), chance.randrange(1, 64)
        match chance.randrange(5):
            case 0:
                data[k : k + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[k : k + length]
            case 2:
                data[k:k] = data[k : k + length] * chance.choice([1, 3])
            case 3:
                del data[k:]
            case 4:
                numbers = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", bytes(data)))
                if numbers:
                    number = chance.choice(numbers)
                    data[number.start() : number.end()] = chance.choice(EXTREMES).encode()
    return bytes(data)


def meshes():
    ball, box = trimesh.creation.icosahedron(), trimesh.creation.box((1.0, 2.0, 3.0))
    return [ball, trimesh.util.concatenate([box, box.copy().apply_translation((0.3, 0.3, 0.3))]),
            trimesh.util.concatenate([box, ball.copy().apply_translation((5.0, 0.0, 0.0))])]


def written(mesh, kind):
    """The bytes of one file of this kind, with the buffers of glTF in it."""
    if kind == ".gltf":
        return export_gltf(trimesh.Scene(mesh), embed_buffers=True)["model.gltf"]
    data = mesh.export(file_type=kind[1:])
    return data.encode() if isinstance(data, str) else data


@pytest.mark.parametrize("kind", sorted(NAMES))
def test_a_damaged_mesh_is_a_body_or_a_sentence(tmp_path, kind):
    chance, wholes = random.Random(kind), [written(mesh, kind) for mesh in meshes()]
    path = tmp_path / f"damaged{kind}"
    for _ in range(either(20, 100)):
        path.write_bytes(bytes_damaged(chance.choice(wholes), chance))
        scene, said = answer(lambda: open_file(path, collide="hull"))  # parts take seconds
        if scene is not None:
            _, said = answer(scene.build)
        assert not re.search(r"\w+Error|NoneType", said), said


INERTIAL = ('<inertial><origin xyz="0 0 0.1"/><mass value="1"/>'
            '<inertia ixx="0.02" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>')
ROBOT = "<robot name='r'>" + "".join(
    f'<link name="{name}">{INERTIAL}<collision><origin xyz="0 0 0.1" rpy="0.1 0 0"/><geometry>{shape}</geometry>'
    "</collision></link>" for name, shape in (("a", '<box size="0.1 0.2 0.3"/>'), ("b", '<sphere radius="0.1"/>'),
                                  ("c", '<cylinder radius="0.1" length="0.2"/>'), ("d", '<mesh filename="m.obj"/>'))
) + '<link name="tool0"/>' + "".join(
    f'<joint name="{parent}{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="0 0 0.5"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"/><dynamics damping="0.1"/></joint>'
    for parent, child, kind in (("a", "b", "revolute"), ("b", "c", "prismatic"), ("c", "d", "continuous"),
                                ("d", "tool0", "fixed"))) + "</robot>"


def robot_damaged(chance):
    """An attribute replaced, or an element taken out, or repeated in its place or another."""
    root = ElementTree.fromstring(ROBOT)
    for _ in range(chance.choice([1, 1, 2, 4])):
        parents = {child: parent for parent in root.iter() for child in parent}
        element = chance.choice(list(parents))
        match chance.randrange(4):
            case 0:
                parents[element].remove(element)
            case 1:
                parents[element].append(copy.deepcopy(element))
            case 2:
                chance.choice(list(root)).append(copy.deepcopy(element))
            case 3 if element.attrib:
                key = chance.choice(list(element.attrib))
                element.set(key, chance.choice([*EXTREMES, "a", "b", "c", "tool0", "fixed", "floating", "/etc/passwd"]))
    return ElementTree.tostring(root)


def test_a_damaged_robot_is_a_scene_or_a_sentence(tmp_path):
    chance, path = random.Random(7), tmp_path / "robot.urdf"
    trimesh.creation.icosahedron().export(tmp_path / "m.obj")
    for k in range(either(60, 500)):
        path.write_bytes(robot_damaged(chance) if k % 5 else bytes_damaged(ROBOT.encode(), chance))
        scene, _ = answer(lambda: open_file(path))
        if scene is not None:
            answer(scene.build)
