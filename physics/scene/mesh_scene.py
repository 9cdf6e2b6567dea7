"""A mesh file as a scene: which bodies it makes, how they collide, where they stand, and what of it was assumed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.model import Array
from .checks import Found
from .gltf_physics import has_physics, physics_scene, unique
from .kept_meshes import HOLLOW, MeshFile, Part, mesh_file
from .refusals import SceneError

BELOW = 0.002  # of the size of a mesh scene, by which the ground is below what is fixed in it
LARGE, SMALL = 20.0, 1e-3  # [m]: beyond these sizes the numbers of a mesh file are most likely no metres
GAP = 0.3       # between files in a row, of the width of the widest
TOUCHING = 1e-6  # of the size of all: boxes that have less in common touch


class MeshChoices(NamedTuple):
    """What a mesh file does not say."""

    collide: str | None = None      #: "hull" or "parts"; None = parts where it is hollow
    scale: float = 1.0              #: metres per unit of the file
    split: bool | None = None       #: a body for each connected piece, or one in all; None = for each separate solid
    thickness: float | None = None  #: [m] of the shell that each surface is; None = they are solids
    beside: tuple[Path, ...] = ()   #: other files that are in the same scene


AS_IT_IS = MeshChoices()


class Doubts(NamedTuple):
    """What was assumed of a mesh file, and may be otherwise."""

    size: str      #: in metres, where its numbers are most likely none, else ""
    extent: float  #: its greatest length, in units of the file
    bodies: int    #: that it made
    pieces: int    #: connected ones, which could be a body each; 0 where these are no more than the files
    hollow: int    #: how many of the bodies have hulls that hold more than they do
    unsealed: int  #: how many have no inside, and have the mass of their hulls


class _Made(NamedTuple):
    """A body that a file makes, and where its surface is."""

    table: dict[str, Any]
    vertices: Array  # (v, 3) [m]


def mesh_scene(paths: Sequence[Path], folder: Path, choices: MeshChoices) -> Found:
    """The tables of a scene with what mesh files below a folder hold, above the ground, or as it stands where some of
    it is fixed. Files that would overlap stand in a row, others where their numbers say.

    Raises SceneError where one cannot be read, or holds nothing solid and no names."""
    if len(paths) == 1 and has_physics(paths[0]):
        return physics_scene(paths[0], paths[0].relative_to(folder).as_posix())
    notes: list[str] = []
    made = [_bodies(path, path.relative_to(folder).as_posix(), choices, notes) for path in paths]
    boxes = np.array([_box(bodies) for bodies in made])  # of each file: least and greatest coordinates
    apart = _in_a_row(boxes) if len(made) > 1 and _overlap(boxes) else np.zeros((len(made), 3))
    boxes += apart[:, None]
    lo, hi = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    bodies = [body for some in made for body in some]
    shifts = [shift for some, shift in zip(made, apart, strict=True) for _ in some]
    size, stands = float(np.linalg.norm(hi - lo)), any(body.table.get("fixed") for body in bodies)
    above = BELOW * size if stands else 0.25 * size
    place = np.array([-0.5 * float(lo[0] + hi[0]), -0.5 * float(lo[1] + hi[1]), above - float(lo[2])])
    count, extent = sum(len(mesh_file(path).surface.triangles) for path in paths), hi - lo
    if stands:  # the camera looks at what moves
        moving = [body.vertices + shift for body, shift in zip(bodies, shifts, strict=True)
                  if not body.table.get("fixed")]
        lo, hi = (f(np.concatenate(moving), axis=0) for f in (np.min, np.max)) if moving else (lo, hi)
    middle = 0.5 * (lo + hi) + place if stands else np.array([0.0, 0.0, 0.4 * size])
    names = unique(["ground", *(body.table["name"] for body in bodies)])[1:]
    for body, name, shift in zip(bodies, names, shifts, strict=True):
        body.table["name"], body.table["position"] = name, (place + shift).tolist()
    return Found({
        "scene": {
            "title": title_of(paths),
            "summary": f"{'A body' if len(bodies) == 1 else f'{len(bodies)} bodies'} read from "
            f"{'a mesh' if len(paths) == 1 else f'{len(paths)} meshes'} of {count} triangles; "
            f"{_extent(extent, choices.scale)}.",
            "watch": "How it comes to rest: the contacts it stands on in the end.",
        },
        "camera": {"target": middle.tolist(), "distance": 2.5 * float(np.linalg.norm(hi - lo))},
        "material": {"default": {"restitution": 0.2, "friction": 0.5}},
        "body": [{"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}, *(body.table for body in bodies)],
    }, tuple(notes))


def title_of(paths: Sequence[Path]) -> str:
    """What a scene of these mesh files is called."""
    return paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"


def _bodies(path: Path, name: str, choices: MeshChoices, notes: list[str]) -> list[_Made]:
    """The bodies that a file makes, which has this name below the scene's folder."""
    file = mesh_file(path)
    parts = _parts(file, choices)
    names = [part for part in parts if isinstance(part, str)]
    bodies: list[dict[str, Any]] = [_piece_body(name, file, piece, choices, notes) for piece in names]
    if not names:
        bodies = [{"shape": [_mesh_shape(name, file, part, choices)]} for part in parts]
        for k, body in enumerate(bodies):
            body["name"] = path.stem if len(parts) == 1 else f"{path.stem} {k + 1}"
            for piece in file.pieces.values():
                body |= {"color": list(piece.color)} if piece.color is not None else {}
    return [_Made(body, choices.scale * file.surface_of(part).vertices)
            for body, part in zip(bodies, parts, strict=True)]


def _box(bodies: list[_Made]) -> tuple[Array, Array]:
    """The least and the greatest coordinates (3,) [m] of bodies."""
    return (np.min([body.vertices.min(axis=0) for body in bodies], axis=0),
            np.max([body.vertices.max(axis=0) for body in bodies], axis=0))


def _overlap(boxes: Array) -> bool:
    """Whether two of the boxes (k, 2, 3) have a volume in common, more than rounding."""
    inside = np.minimum(boxes[:, None, 1], boxes[None, :, 1]) - np.maximum(boxes[:, None, 0], boxes[None, :, 0])
    slack = TOUCHING * np.ptp(boxes, axis=(0, 1)).max()
    return bool((inside > slack).all(axis=2).sum() > len(boxes))


def _in_a_row(boxes: Array) -> Array:
    """(k, 3): where to move boxes (k, 2, 3), so that they stand on one level beside each other along x."""
    wide = boxes[:, 1, 0] - boxes[:, 0, 0]
    start = np.cumsum(wide + GAP * wide.max()) - wide
    middle = 0.5 * (boxes[:, 0, 1] + boxes[:, 1, 1])
    return np.column_stack([start - boxes[:, 0, 0], -middle, -boxes[:, 0, 2]])


def doubts(path: Path, choices: MeshChoices) -> Doubts:
    """What was assumed where mesh files were opened so."""
    if not choices.beside and has_physics(path):
        return Doubts("", 0.0, 0, 0, 0, 0)  # the file says it all
    files = [mesh_file(each.resolve()) for each in (path, *choices.beside)]
    lengths = np.max([np.ptp(file.surface.vertices, axis=0) for file in files], axis=0)
    doubtful = choices.scale == 1.0 and not all(file.in_metres for file in files) and implausible(lengths)
    bodies = hollow = unsealed = pieces = 0
    for file in files:
        pieces += 1 if len(file.pieces) > 1 else file.count_apart()
        for part in _parts(file, choices):
            bodies += 1
            try:
                whole = file.solid(part, choices.scale, choices.thickness)
            except SceneError:
                continue  # it is fixed
            hollow += HOLLOW * whole.filled < 1.0
            unsealed += not whole.sealed and choices.thickness is None
    size = " × ".join(f"{length:.3g}" for length in lengths) + " m" if doubtful else ""
    return Doubts(size, float(max(lengths)), bodies, pieces if pieces > len(files) else 0, hollow, unsealed)


def _parts(file: MeshFile, choices: MeshChoices) -> list[Part]:
    """What of a file becomes a body each. Raises SceneError where there is too much."""
    if choices.split is False:
        return [None]
    if len(file.pieces) > 1:
        return [*file.pieces]
    if choices.split:
        names = [*file.apart()]
        return [*names] if len(names) > 1 else [None]
    return [*range(len(file.parts()))] if len(file.parts()) > 1 else [None]


def _mesh_shape(name: str, file: MeshFile, part: Part, choices: MeshChoices) -> dict[str, Any]:
    """The table of a mesh that collides as its hull, or where it is hollow as convex parts. SceneError where it is no
    solid."""
    whole = file.solid(part, choices.scale, choices.thickness)
    collide = choices.collide or ("parts" if HOLLOW * whole.filled < 1.0 else "hull")
    shape = {"type": "mesh", "file": name, "collide": collide} | _which(part, choices)
    return shape | ({} if choices.thickness is None else {"thickness": choices.thickness})


def _which(part: Part, choices: MeshChoices) -> dict[str, Any]:
    return ({} if part is None else {"part": part}) | ({} if choices.scale == 1.0 else {"scale": choices.scale})


def _piece_body(name: str, file: MeshFile, piece: str, choices: MeshChoices, notes: list[str]) -> dict[str, Any]:
    """The table of a body of a named piece. What has no volume, as a floor, is fixed, and collides as its surface."""
    called = piece if piece in file.pieces else piece.replace("piece", Path(name).stem)
    try:
        body: dict[str, Any] = {"shape": [_mesh_shape(name, file, piece, choices)]}
    except SceneError as error:
        notes.append(f"{called} is fixed: {error}")
        shape = {"type": "mesh", "file": name, "collide": "surface"} | _which(piece, choices)
        body = {"fixed": True, "shape": [shape]}
    color = file.piece(piece).color
    return body | {"name": called} | ({} if color is None else {"color": list(color)})


def _extent(lengths: Any, scale: float) -> str:
    """The size of a mesh in words, with a remark where it is unusual: mesh files carry no unit."""
    text = f"{lengths[0]:.3g} × {lengths[1]:.3g} × {lengths[2]:.3g} m"
    if scale == 1.0 and implausible(lengths):
        text += ' (its numbers are taken as metres; "scale" in a scene file says otherwise)'
    return text


def implausible(lengths: Any) -> bool:
    """Whether a thing of these lengths [m] is so large or small that its file most likely has another unit."""
    return bool(max(lengths) > LARGE or max(lengths) < SMALL)
