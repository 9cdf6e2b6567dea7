"""Reading mesh files: OBJ, STL, PLY, OFF, glTF and GLB, through trimesh, as one welded surface.

Sizes are read from the head of a file first, so that a file far too large is refused at once.
"""

import json
import re
import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.limits import GLTF_HEAD, MESH_FILE, TRIANGLES
from ..core.progress import at
from .mesh import MeshSurface, weld
from .refusals import SceneError
from .values import LARGEST, in_words

if TYPE_CHECKING:
    import trimesh

JOINING = 0.2  # share of opening a file that is done when its triangles are read

#: rotation matrix from glTF axes (y up, z towards the viewer) to axes with z up
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def checked_size(path: Path) -> tuple[int, int]:
    """Time of the last change [ns] and size [bytes] of a mesh file. Raises SceneError where it can be none."""
    if path.suffix.lower() not in COUNTERS:
        raise SceneError(f"{path.name} is not a mesh file; it must be one of {', '.join(COUNTERS)}.")
    try:
        status = path.stat()
    except OSError as error:
        raise SceneError(f"{path.name} cannot be read ({error.strerror or error}).") from error
    if status.st_size == 0:
        raise SceneError(f"{path.name} is empty; it must hold a surface.")
    if status.st_size > MESH_FILE.most:
        raise SceneError(f"{path.name} is larger than {MESH_FILE}; {MESH_FILE.advice}.")
    return status.st_mtime_ns, status.st_size


def read_surface(path: Path) -> MeshSurface:
    """All triangles of a file, node transforms applied, in the file's units. Raises SceneError in one sentence."""
    _, size = checked_size(path)
    import trimesh  # takes half a second, and most scenes have no mesh file

    kind = path.suffix.lower()
    try:
        with path.open("rb") as file:
            _refuse_many(path.name, COUNTERS[kind](file, size))
        scene = trimesh.load_scene(_source(path, size), file_type=kind[1:], process=False, skip_materials=True)
        vertices, triangles = _flattened(scene)
    except (SceneError, MemoryError):
        raise
    except OSError as error:  # of the file, or of one that it names
        raise SceneError(f"{path.name} cannot be read ({error.strerror or error}).") from error
    except Exception as error:  # the readers raise whatever a broken file makes them stumble over
        raise SceneError(f"{path.name} is no whole {NAMES[kind]} file: it is damaged, or of another kind than its name "
                         f"says; it must be one that other programs open.") from error
    _refuse_many(path.name, len(triangles))
    if len(triangles) == 0:
        raise SceneError(f"{path.name} holds no triangles; it must hold a surface.")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise SceneError(f"{path.name} has triangles with vertices that it does not hold; it must be a whole file.")
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    if not (np.abs(vertices[used]) <= LARGEST).all():
        raise SceneError(f"{path.name} has vertices that are no numbers, or past {in_words(LARGEST)}; it must have "
                         "finite ones.")
    if kind in (".gltf", ".glb"):
        vertices = vertices @ Y_UP.T
    at(f"{path.name}: joining corners", JOINING)
    surface = weld(vertices, triangles)
    if len(surface.triangles) == 0:
        raise SceneError(f"{path.name} holds no triangles with three different corners; it must hold a surface.")
    return surface


def _source(path: Path, size: int) -> str | BytesIO:
    """What trimesh reads: the path, or text whose comments may be in any encoding."""
    kind = path.suffix.lower()
    with path.open("rb") as file:
        binary = kind == ".stl" and _binary_stl(file, size) is not None
    if binary or kind not in (".obj", ".off", ".stl"):
        return str(path)
    return BytesIO(path.read_bytes().decode("utf-8", "replace").encode())


def _refuse_many(name: str, count: int) -> None:
    if count > TRIANGLES.most:
        raise SceneError(f"{name} has {count} triangles; it must have no more than {TRIANGLES.most}.")


def _flattened(scene: "trimesh.Scene") -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, 3) and triangles (t, 3) of all meshes of a scene graph. Triangles of mirrored meshes are reversed,
    so that they still face outwards."""
    import trimesh

    vertices, triangles, count = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        part = scene.geometry[name]
        if not isinstance(part, trimesh.Trimesh) or len(part.faces) == 0:
            continue
        with np.errstate(all="ignore"):  # what is no number is refused by `read_surface`
            points = np.asarray(part.vertices, np.float64) @ pose[:3, :3].T + pose[:3, 3]
        corners = np.asarray(part.faces, np.int64)
        triangles.append((corners[:, ::-1] if np.linalg.det(pose[:3, :3]) < 0.0 else corners) + count)
        vertices.append(points)
        count += len(points)
    return np.concatenate(vertices), np.concatenate(triangles)


# ---------------------------------------------------------------------------------------------------- sizes


def _count_stl(file: Any, size: int) -> int:
    count = _binary_stl(file, size)
    return count if count is not None else _count_lines(file, b"endfacet")


def _binary_stl(file: Any, size: int) -> int | None:
    """The number of triangles of a binary STL file; None where its size says that it is text."""
    head = file.read(84)
    count = struct.unpack("<I", head[80:])[0] if len(head) == 84 else -1
    return count if size == 84 + 50 * count else None


def _count_obj(file: Any, size: int) -> int:
    return _count_lines(file, b"\nf ")


def _count_lines(file: Any, word: bytes) -> int:
    """Occurrences of a word, read in blocks; counting stops once there are too many."""
    file.seek(0)
    count, tail = 0, b""
    while (block := file.read(2**22)) and count <= TRIANGLES.most:
        count += (tail + block).count(word)
        tail = block[-len(word) + 1 :]
    return count


def _count_ply(file: Any, size: int) -> int:
    counts = dict(re.findall(rb"element\s+(vertex|face)\s+(\d+)", file.read(2**16)))
    return max(int(counts.get(b"face", 0)), int(counts.get(b"vertex", 0)) // 3)


def _count_off(file: Any, size: int) -> int:
    text = re.sub(rb"#[^\n]*", b"", file.read(2**16))
    numbers = re.findall(rb"\d+", text)
    return max(int(numbers[1]), int(numbers[0]) // 3) if len(numbers) > 1 else 0


def _count_gltf(file: Any, size: int) -> int:
    return _count_nodes(json.loads(file.read(GLTF_HEAD.most)))


def _count_glb(file: Any, size: int) -> int:
    head = file.read(20)
    if len(head) < 20 or head[:4] != b"glTF":
        raise ValueError("it does not begin with glTF")
    return _count_nodes(json.loads(file.read(min(GLTF_HEAD.most, struct.unpack("<I", head[12:16])[0]))))


def _count_nodes(tree: dict[str, Any]) -> int:
    """Triangles of all nodes: a mesh counts as often as it is used. At least a third of the entries of an accessor,
    which may claim any number of them where it has no data."""
    accessors = tree.get("accessors", [])

    def triangles(mesh: dict[str, Any]) -> int:
        rows = [p.get("indices", p["attributes"]["POSITION"]) for p in mesh["primitives"]]
        return sum(accessors[row]["count"] // 3 for row in rows)

    meshes = [triangles(mesh) for mesh in tree.get("meshes", [])]
    claimed = max((accessor["count"] // 3 for accessor in accessors if "bufferView" not in accessor), default=0)
    return max(claimed, sum(meshes[node["mesh"]] for node in tree.get("nodes", []) if "mesh" in node))


#: ending of a format -> its name
NAMES = {".obj": "OBJ", ".stl": "STL", ".ply": "PLY", ".off": "OFF", ".glb": "GLB", ".gltf": "glTF"}

#: ending of a format -> what counts the triangles of a file (or the faces, of which each has at least one triangle)
COUNTERS: dict[str, Callable[[Any, int], int]] = {
    ".obj": _count_obj, ".stl": _count_stl, ".ply": _count_ply, ".off": _count_off, ".glb": _count_glb,
    ".gltf": _count_gltf,
}
