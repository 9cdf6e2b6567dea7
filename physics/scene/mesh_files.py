"""Reading mesh files: OBJ, STL, PLY, OFF, glTF and GLB, through trimesh, as one welded surface, and by the names that
the file has for its pieces: nodes of a scene graph, objects and groups of OBJ.

Sizes are read from the head of a file first, so that a file far too large is refused at once.
"""

import gc
import json
import re
import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.interruption import Interrupted, look_up
from ..core.limits import GLTF_HEAD, MESH_FILE, SHELLS, TRIANGLES
from ..core.progress import at
from .mesh import MeshSurface, mended, weld
from .refusals import SceneError
from .skins import Skinned, SkinReader, textured_nodes
from .values import LARGEST, in_words

if TYPE_CHECKING:
    import trimesh

Color = tuple[float, float, float]
LARGE = 100_000  # triangles whose memory is given back at once: objects of trimesh hold one another
JOINING = 0.2  # share of opening a file that is done when its triangles are read
SINGLE = (".stl", ".ply", ".glb", ".gltf")  # formats whose numbers are in single precision as a rule
ROUNDED, COARSE = 1e-5, 0.1  # shares of a mesh's size: rounding beyond which it is told, and refused

#: units that mesh files may be in, and how many metres they are; only glTF says that its numbers are metres
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
IN_METRES = (".glb", ".gltf")  # formats that say so
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


class Piece(NamedTuple):
    """What a file has under one name."""

    surface: MeshSurface
    color: Color | None            #: sRGB from 0 to 1, of its material
    skinned: Skinned | None = None  #: its triangles with their texture


class Read(NamedTuple):
    """What a mesh file holds."""

    surface: MeshSurface       #: all triangles, node transforms applied, in the file's units
    pieces: dict[str, Piece]   #: what has names; none where the file has no names
    notes: tuple[str, ...]     #: what was mended, and what is drawn otherwise than the file says


class _Numbers(NamedTuple):
    """Of the coordinates that a file has of a mesh, in its units."""

    far: float    #: the largest there is
    size: float   #: the greatest length
    error: float  #: by which the largest may be rounded


class _Part(NamedTuple):
    """A mesh of a scene graph, in axes with z up."""

    name: str
    points: np.ndarray   # (v, 3)
    corners: np.ndarray  # (t, 3)
    numbers: _Numbers
    visual: Any          # what trimesh read of its looks


def read_surface(path: Path) -> Read:
    """The triangles of a file. Raises SceneError in one sentence."""
    _, size = checked_size(path)
    import trimesh  # takes half a second, and most scenes have no mesh file

    kind = path.suffix.lower()
    try:
        with path.open("rb") as file:
            _refuse_many(path.name, COUNTERS[kind](file, size))
        head = gltf_head(path) if kind in IN_METRES else {}
        _refuse_circles(path.name, head.get("nodes", []))
        named = COLORS[kind](path) if kind in COLORS else {}
        textured = textured_nodes(head)
        look_up()
        parts = _placed(trimesh.load_scene(_source(path, size), file_type=kind[1:], process=False,
                                           skip_materials=not textured, **PIECES.get(kind, {})), kind, bool(textured))
        look_up()
        vertices, triangles = _joined(parts)
        rounded = _rounded(path.name, parts)
        if len(triangles) > LARGE:
            gc.collect()
    except (SceneError, MemoryError, Interrupted):
        raise
    except OSError as error:  # of the file, or of one that it names
        raise SceneError(f"{path.name} cannot be read ({error.strerror or error}).") from error
    except Exception as error:  # the readers raise whatever a broken file makes them stumble over
        raise SceneError(f"{path.name} is no whole {NAMES[kind]} file: it is damaged, or of another kind than its name "
                         f"says; it must be one that other programs open.") from error
    _refuse_many(path.name, len(triangles))
    if len(triangles) == 0:
        raise SceneError(f"{path.name} holds no triangles; it must hold a surface.")
    if vertices.shape[1] != 3:
        raise SceneError(f"{path.name} has vertices of {vertices.shape[1]} numbers; each must have three, x y z.")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise SceneError(f"{path.name} has triangles with vertices that it does not hold; it must be a whole file.")
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    if not (np.abs(vertices[used]) <= LARGEST).all():
        raise SceneError(f"{path.name} has vertices that are no numbers, or past {in_words(LARGEST)}; it must have "
                         "finite ones.")
    if kind not in PIECES or len(parts) > SHELLS.most or not (len(parts) > 1 or named):
        parts.clear()  # it has no pieces; a million triangles take 100 MB
    at(f"{path.name}: joining corners", JOINING)
    several = len(parts) > 1
    surface, notes = (weld(vertices, triangles), ()) if several else mended(vertices, triangles, path.name)
    if len(surface.triangles) == 0:
        raise SceneError(f"{path.name} holds no triangles with three different corners; it must hold a surface, no "
                         "farther from its origin than its numbers tell corners apart.")
    pieces, order, skins = dict[str, Piece](), list(named), SkinReader(path)
    for part in sorted(parts, key=lambda part: order.index(part.name) if part.name in named else 0):
        own, said = mended(part.points, part.corners, f"{path.name} ({part.name})") if several else (surface, ())
        notes += said
        if len(own.triangles):
            skinned = skins.read(part.name, part.points, part.corners, part.visual) if part.name in textured else None
            pieces[part.name] = Piece(own, named.get(part.name), skinned)
    return Read(surface, pieces, (*rounded, *notes, *skins.notes))


def _source(path: Path, size: int) -> str | BytesIO:
    """What trimesh reads: the path, or text whose comments may be in any encoding."""
    kind = path.suffix.lower()
    with path.open("rb") as file:
        binary = kind == ".stl" and _binary_stl(file, size) is not None
    if binary or kind not in (".obj", ".off", ".stl"):
        return str(path)
    return BytesIO(path.read_bytes().decode("utf-8", "replace").encode())


def _refuse_circles(name: str, nodes: list[dict[str, Any]]) -> None:
    """Raise SceneError where a node of a glTF file is below two others, or below itself."""
    above: dict[int, int] = {}
    for k, node in enumerate(nodes):
        for child in node.get("children", []):
            if child in above:
                called = nodes[child].get("name", child)
                raise SceneError(f"{name}: the node {called} is below two others; each must be below at most one.")
            above[child] = k
    level, reached = [k for k in range(len(nodes)) if k not in above], set[int]()
    while level:
        reached.update(level)
        level = [child for k in level for child in nodes[k].get("children", []) if child not in reached]
    if unreached := above.keys() - reached:
        k = min(unreached)
        for _ in nodes:  # from there up to the circle
            k = above[k]
        raise SceneError(f"{name}: the node {nodes[k].get('name', k)} is below itself; it must not be.")


def _rounded(name: str, parts: "list[_Part]") -> tuple[str, ...]:
    """What is said of meshes so far from the origin of their file that its numbers are rounded. Raises SceneError where
    they have no shape any more."""
    notes = []
    for part in parts:
        far, size, error = part.numbers
        called = f"{name} ({part.name})" if len(parts) > 1 else name
        if error > COARSE * size > 0.0:
            raise SceneError(f"{called} is {size:.3g} long and has numbers as large as {far:.3g}, which are rounded by "
                             f"up to {error:.2g}; it must be nearer to the origin of its file.")
        if error > ROUNDED * size > 0.0:
            notes.append(f"{called} has numbers as large as {far:.3g}, which are rounded by up to {error:.2g}: that is "
                         f"{100.0 * error / size:.2g} % of its size.")
    return tuple(notes)


def _refuse_many(name: str, count: int) -> None:
    if count > TRIANGLES.most:
        raise SceneError(f"{name} has {count} triangles; it must have no more than {TRIANGLES.most}.")


def _placed(scene: "trimesh.Scene", kind: str, looks: bool) -> list[_Part]:
    """All meshes of a file of this kind. Triangles of mirrored meshes are reversed, so that they still face outwards.
    looks: with what trimesh read of them, which keeps all that it read."""
    import trimesh

    found, poses = [], {scene.graph.base_frame: np.eye(4)}
    for node in scene.graph.nodes_geometry:
        look_up()
        pose = _pose(scene, node, poses)
        part = scene.geometry[scene.graph.transforms.node_data[node]["geometry"]]
        if not isinstance(part, trimesh.Trimesh) or len(part.faces) == 0:
            continue
        points = np.asarray(part.vertices, np.float64)
        numbers = _numbers(points, kind in SINGLE)
        if not np.array_equal(pose, np.eye(4)):
            with np.errstate(all="ignore"):  # what is no number is refused by `read_surface`
                points = points @ pose[:3, :3].T + pose[:3, 3]
        if kind in IN_METRES:
            points = points @ Y_UP.T
        corners = np.asarray(part.faces, np.int64)
        outwards = corners[:, ::-1] if np.linalg.det(pose[:3, :3]) < 0.0 else corners
        found.append(_Part(str(node), points, outwards, numbers, part.visual if looks else None))
    return found


def _pose(scene: "trimesh.Scene", node: Any, poses: dict[Any, np.ndarray]) -> np.ndarray:
    """(4, 4) of a node, which is added to those that are known with all above it: trimesh looks for the best order of
    multiplying them all, which takes minutes for a node below a thousand others."""
    forest, way = scene.graph.transforms, []
    while node not in poses:
        way.append(node)
        node = forest.parents[node]
    pose = poses[node]
    for below in reversed(way):
        pose = poses[below] = pose @ forest.edge_data[forest.parents[below], below].get("matrix", np.eye(4))
    return pose


def _numbers(points: np.ndarray, single: bool) -> _Numbers:
    """single: in single precision where all of them are numbers of that."""
    with np.errstate(all="ignore"):  # as above
        far, size = float(np.abs(points).max(initial=0.0)), float(np.ptp(points, axis=0).max(initial=0.0))
        single = single and np.array_equal(points.astype(np.float32), points)
    return _Numbers(far, size, far * (2.0**-24 if single else 2.0**-53))


def _joined(parts: list[_Part]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, 3) and triangles (t, 3) of all meshes together."""
    if len(parts) == 1:
        return parts[0].points, parts[0].corners
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    triangles = [part.corners + first for part, first in zip(parts, starts, strict=False)]
    return (np.concatenate([np.zeros((0, 3)), *(part.points for part in parts)]),
            np.concatenate([np.zeros((0, 3), np.int64), *triangles]))


# ---------------------------------------------------------------------------------------------------- colours


def _gltf_colors(path: Path) -> dict[str, Color | None]:
    """The names of all nodes with a mesh, in their order, and the base colour of the material of its largest primitive;
    None where there is none, and of names that several nodes have. The file was counted, so that its head can be read.
    """
    tree = gltf_head(path)
    known: dict[str, Color | None] = {}
    names = [node.get("name", str(k)) for k, node in enumerate(tree.get("nodes", []))]
    for name, node in zip(names, tree.get("nodes", []), strict=True):
        if "mesh" not in node:
            continue
        known[name] = None
        parts = tree["meshes"][node["mesh"]]["primitives"]
        rows = [tree["accessors"][p.get("indices", p["attributes"]["POSITION"])]["count"] for p in parts]
        which = parts[int(np.argmax(rows))].get("material")
        if which is not None and names.count(name) == 1:
            factor = tree["materials"][which].get("pbrMetallicRoughness", {}).get("baseColorFactor", [1.0] * 4)
            red, green, blue = (_srgb(float(c)) for c in factor[:3])
            known[name] = red, green, blue
    return known


def gltf_head(path: Path) -> dict[str, Any]:
    """What a glTF file says in JSON, of which no more than GLTF_HEAD bytes are read. Raises what a broken file makes
    the readers stumble over."""
    with path.open("rb") as file:
        if path.suffix.lower() != ".glb":
            return json.loads(file.read(GLTF_HEAD.most))
        head = file.read(20)
        return json.loads(file.read(min(GLTF_HEAD.most, struct.unpack("<I", head[12:16])[0])))


def _srgb(linear: float) -> float:
    """A part of light as sRGB writes it, from 0 to 1 [IEC 61966-2-1]."""
    c = min(max(linear, 0.0), 1.0)
    return 12.92 * c if c <= 0.0031308 else 1.055 * c ** (1.0 / 2.4) - 0.055


def _obj_colors(path: Path) -> dict[str, Color | None]:
    """The names of objects and groups, as trimesh names these, in their order, and the diffuse colour (Kd) of the first
    material of each, from the files beside it that it names; None where there is none."""
    materials: dict[str, Color] = {}
    known: dict[str, Color | None] = {}
    names, color = {"o": "", "g": ""}, None
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            word, _, rest = line.strip().partition(" ")
            if word == "mtllib":
                materials |= _mtl_colors(path.parent / Path(rest.strip()).name)
            elif word in names:
                names[word] = rest.strip()
            elif word == "f":
                known.setdefault("_".join(filter(None, names.values())), color)
            elif word == "usemtl":
                color = materials.get(rest.strip())
    return known


def _mtl_colors(path: Path) -> dict[str, Color]:
    found: dict[str, Color] = {}
    name = ""
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            word, _, rest = line.strip().partition(" ")
            if word == "newmtl":
                name = rest.strip()
            elif word == "Kd":
                red, green, blue = (min(max(float(c), 0.0), 1.0) for c in rest.split()[:3])
                found[name] = red, green, blue
    return found


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

#: ending of a format that names its pieces -> how trimesh is told to keep them apart
PIECES: dict[str, dict[str, Any]] = {
    ".glb": {"merge_primitives": True}, ".gltf": {"merge_primitives": True},
    ".obj": {"split_objects": True, "split_groups": True, "group_material": False},
}
#: ending of a format -> what reads the colours of its pieces, by their names
COLORS: dict[str, Callable[[Path], dict[str, Color | None]]] = {
    ".glb": _gltf_colors, ".gltf": _gltf_colors, ".obj": _obj_colors,
}
