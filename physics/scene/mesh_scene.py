"""A mesh file as a scene: which bodies it makes, how they collide, where they stand, and what of it was assumed."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .checks import Found
from .kept_meshes import MeshFile, Part, mesh_file
from .refusals import SceneError

BELOW = 0.002  # of the size of a mesh scene, by which the ground is below what is fixed in it
LARGE, SMALL = 20.0, 1e-3  # [m]: beyond these sizes the numbers of a mesh file are most likely no metres
HOLLOW = 1.05  # a mesh is hollow where its hull holds so many times its volume: then it collides as convex parts


class MeshChoices(NamedTuple):
    """What a mesh file does not say."""

    collide: str | None = None      #: "hull" or "parts"; None = parts where it is hollow
    scale: float = 1.0              #: metres per unit of the file
    split: bool | None = None       #: a body for each connected piece, or one in all; None = for each separate solid
    thickness: float | None = None  #: [m] of the shell that each surface is; None = they are solids


AS_IT_IS = MeshChoices()


class Doubts(NamedTuple):
    """What was assumed of a mesh file, and may be otherwise."""

    size: str      #: in metres, where its numbers are most likely none, else ""
    extent: float  #: its greatest length, in units of the file
    bodies: int    #: that it made
    pieces: int    #: connected ones, which could be a body each; 0 where the file names its pieces
    hollow: int    #: how many of the bodies have hulls that hold more than they do
    unsealed: int  #: how many have no inside, and have the mass of their hulls


def mesh_scene(path: Path, choices: MeshChoices) -> Found:
    """The tables of a scene with what a mesh file holds, above the ground, or as it stands where some of it is fixed.

    Raises SceneError where it cannot be read, or holds nothing solid and no names."""
    file, notes = mesh_file(path), list[str]()
    parts = _parts(file, choices)
    names = [part for part in parts if isinstance(part, str)]
    bodies: list[dict[str, Any]] = [_piece_body(path.name, file, name, choices, notes) for name in names]
    if not names:
        bodies = [{"shape": [_mesh_shape(path.name, file, part, choices)]} for part in parts]
        for k, body in enumerate(bodies):
            body["name"] = path.stem if len(parts) == 1 else f"{path.stem} {k + 1}"
            for piece in file.pieces.values():
                body |= {"color": list(piece.color)} if piece.color is not None else {}
    scale = choices.scale
    vertices = scale * file.surface.vertices
    lo, hi = vertices.min(axis=0), vertices.max(axis=0)
    size, stands = float(np.linalg.norm(hi - lo)), any(body.get("fixed") for body in bodies)
    above = BELOW * size if stands else 0.25 * size
    place = [-0.5 * float(lo[0] + hi[0]), -0.5 * float(lo[1] + hi[1]), above - float(lo[2])]
    if stands:  # the camera looks at what moves
        moving = [scale * file.piece(name).surface.vertices
                  for name, body in zip(names, bodies, strict=True) if not body.get("fixed")]
        lo, hi = (f(np.concatenate(moving), axis=0) for f in (np.min, np.max)) if moving else (lo, hi)
    middle = 0.5 * (lo + hi) + place if stands else np.array([0.0, 0.0, 0.4 * size])
    for body, name in zip(bodies, _unique(["ground", *(body["name"] for body in bodies)])[1:], strict=True):
        body["name"], body["position"] = name, place
    return Found({
        "scene": {
            "title": path.name,
            "summary": f"{'A body' if len(bodies) == 1 else f'{len(bodies)} bodies'} read from a mesh of "
            f"{len(file.surface.triangles)} triangles; {_extent(np.ptp(vertices, axis=0), scale)}.",
            "watch": "How it comes to rest: the contacts it stands on in the end.",
        },
        "camera": {"target": middle.tolist(), "distance": 2.5 * float(np.linalg.norm(hi - lo))},
        "material": {"default": {"restitution": 0.2, "friction": 0.5}},
        "body": [{"name": "ground", "fixed": True, "shape": [{"type": "plane"}]}, *bodies],
    }, tuple(notes))


def doubts(path: Path, choices: MeshChoices) -> Doubts:
    """What was assumed where a mesh file was opened so."""
    file = mesh_file(path)
    parts = _parts(file, choices)
    lengths = np.ptp(file.surface.vertices, axis=0)
    doubtful = choices.scale == 1.0 and not file.in_metres and implausible(lengths)
    hollow = unsealed = 0
    for part in parts:
        try:
            whole = file.solid(part, choices.scale, choices.thickness)
        except SceneError:
            continue  # it is fixed
        hollow += HOLLOW * whole.filled < 1.0
        unsealed += not whole.sealed and choices.thickness is None
    size = " × ".join(f"{length:.3g}" for length in lengths) + " m" if doubtful else ""
    pieces = 0 if len(file.pieces) > 1 else file.count_apart()
    return Doubts(size, float(max(lengths)), len(parts), pieces, hollow, unsealed)


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


def _unique(names: list[str]) -> list[str]:
    """The same names, with a number behind those that were there before."""
    found: list[str] = []
    for name in names:
        k, other = 2, name
        while other in found:
            k, other = k + 1, f"{name} {k}"
        found.append(other)
    return found


def _extent(lengths: Any, scale: float) -> str:
    """The size of a mesh in words, with a remark where it is unusual: mesh files carry no unit."""
    text = f"{lengths[0]:.3g} × {lengths[1]:.3g} × {lengths[2]:.3g} m"
    if scale == 1.0 and implausible(lengths):
        text += ' (its numbers are taken as metres; "scale" in a scene file says otherwise)'
    return text


def implausible(lengths: Any) -> bool:
    """Whether a thing of these lengths [m] is so large or small that its file most likely has another unit."""
    return bool(max(lengths) > LARGE or max(lengths) < SMALL)
