"""Scenes: read from TOML, URDF, MJCF or mesh files or from dictionaries, checked, saved, and built into what the engine
runs on."""

import filecmp
import math
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.limits import SCENE_FILE
from ..core.report import Settings, Side
from ..core.whole_file import whole_file
from .build import Setup, build, height_above, overlapping
from .checks import Found, read_tables
from .form import shown
from .joint_checks import form_of
from .joint_forest import in_forest
from .kept_meshes import MeshFile, Part, mesh_file
from .mjcf import read_mjcf
from .refusals import SceneError, refusing
from .schema import Apart, CameraTable, HeightField, Hull, Mesh, SceneFile
from .toml_writer import to_toml
from .urdf import read_urdf

BELOW = 0.002  # of the size of a mesh scene, by which the ground is below what is fixed in it
LARGE, SMALL = 20.0, 1e-3  # [m]: beyond these sizes the numbers of a mesh file are most likely no metres
HOLLOW = 1.05  # a mesh is hollow where its hull holds so many times its volume: then it collides as convex parts


@dataclass(frozen=True)
class Scene:
    """A checked scene. It is immutable, and equal to another scene whose tables are equal."""

    tables: SceneFile
    folder: Path | None = field(default=None, compare=False)  #: where mesh files lie
    path: Path | None = field(default=None, compare=False)    #: the file it was read from
    notes: tuple[str, ...] = field(default=(), compare=False)  #: what was left out of a robot's file, or assumed

    @property
    def name(self) -> str:
        """The file's name without ending, else the title."""
        return self.path.stem if self.path is not None else self.title or "scene"

    @property
    def title(self) -> str:
        return self.tables.scene.title

    @property
    def summary(self) -> str:
        return self.tables.scene.summary

    @property
    def group(self) -> str:
        """The heading that it stands under in the gallery."""
        return self.tables.scene.group

    @property
    def watch(self) -> str:
        """What to look at."""
        return self.tables.scene.watch

    @property
    def speed(self) -> float:
        """Simulated seconds per wall second when the scene opens."""
        return self.tables.scene.speed

    def sides(self, settings: Settings) -> tuple[Side, ...]:
        """Sides of the comparison that the scene opens with, () where it has none. The first side has `settings` as
        they are; each further one has them with the changes of a table [[compare]]."""
        first = () if not self.tables.compare else (Side(settings),)
        changes = [table.model_dump(exclude_none=True) for table in self.tables.compare]
        return *first, *(Side(coordinates=c.pop("coordinates", ""), settings=replace(settings, **c)) for c in changes)

    @property
    def camera(self) -> CameraTable | None:
        """The first view, None where the scene has none."""
        return self.tables.camera

    @classmethod
    def load(cls, path: str | Path) -> "Scene":
        """Read a scene file. Raises SceneError, with one sentence for each mistake."""
        return cls._read(Path(path), _read_toml)

    @classmethod
    def from_text(cls, text: str, folder: str | Path | None, name: str = "scene") -> "Scene":
        """The scene that the text of a scene file says; mesh files lie below `folder`. Raises SceneError, whose
        sentences begin with `name`."""
        with refusing(name):
            if not isinstance(text, str):
                raise SceneError(f"{name}: is {shown(text)}; it must be text.")
            return cls._from_tables(_toml(text.encode(), name), folder, name)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], folder: str | Path | None = None) -> "Scene":
        """The scene of the same tables as in a file; mesh files lie below `folder`. Raises SceneError."""
        with refusing("scene"):
            return cls._from_tables(data, folder, "scene")

    @classmethod
    def _from_tables(cls, data: Mapping[str, Any], folder: str | Path | None, name: str) -> "Scene":
        if not isinstance(folder, str | Path | None):
            raise SceneError(f"{name}: its folder is {shown(folder)}; it must be a path, or None without meshes.")
        below = None if folder is None else Path(folder)
        return cls(read_tables(data, name, below), below)

    @classmethod
    def from_mesh(cls, path: str | Path, collide: str | None = None, scale: float = 1.0) -> "Scene":
        """A mesh as a body that falls on the ground; as several where the file names nodes, objects or groups, or holds
        separate solids. collide: "hull" or "parts", else parts where it is hollow; scale: metres per unit of the file.

        Raises SceneError where the file cannot be read or is no solid.
        """
        return cls._read(Path(path), partial(_mesh_scene, collide=collide, scale=scale), follow=True)

    @classmethod
    def from_urdf(cls, path: str | Path) -> "Scene":
        """A robot from a URDF file, with the meshes beside it; one that is free stands on the ground. Raises SceneError
        where it cannot be read."""
        scene = cls._read(Path(path), read_urdf)
        with refusing(scene.name):
            return scene._with_overlaps_apart()._on_its_ground()

    @classmethod
    def from_mjcf(cls, path: str | Path) -> "Scene":
        """A model from an MJCF file. Raises SceneError where it cannot be read."""
        return cls._read(Path(path), read_mjcf)

    @classmethod
    def _read(cls, path: Path, read: Callable[[Path], Found], follow: bool = False) -> "Scene":
        """The one way from a file to a scene; its meshes lie in the folder of `path`, or with `follow` in that of the
        file that `path` is a link to."""
        with refusing(path.name):
            if "\0" in str(path):
                raise SceneError(f"{shown(path.name)}: holds a zero byte; names of files have none.")
            real = path.resolve() if follow else path
            found = read(real)
            return cls(read_tables(found.tables, path.name, real.parent), real.parent, path, found.notes)

    def _with_overlaps_apart(self) -> "Scene":
        """The same robot, whose links that overlap as drawn pass through each other: hulls of meshes often do near a
        joint, where no motion could part them."""
        pairs = overlapping(self.build())
        if not pairs:
            return self
        given = [*self.tables.apart, *(Apart(bodies=pair) for pair in pairs)]
        note = (f"{len(pairs)} pairs of links overlap as drawn and pass through each other: "
                f"{', '.join(f'{a} and {b}' for a, b in pairs[:3])}{', …' if len(pairs) > 3 else ''}")
        return replace(self, tables=self.tables.model_copy(update={"apart": tuple(given)}), notes=(*self.notes, note))

    def _on_its_ground(self) -> "Scene":
        """The same robot with the plane below it, where it has one, raised to where it stands."""
        bodies = self.tables.body
        at = next((k for k, body in enumerate(bodies) if body.shape and body.shape[0].type == "plane"), -1)
        if at < 0 or (name := bodies[at].name) is None:
            return self
        gap = height_above(self.build(), name)
        if not math.isfinite(gap):
            return self
        x, y, z = bodies[at].position
        ground = bodies[at].model_copy(update={"position": (x, y, z + gap)})
        moved = (*bodies[:at], ground, *bodies[at + 1 :])
        return replace(self, tables=self.tables.model_copy(update={"body": moved}))

    def with_coordinates(self, coordinates: str) -> "Scene":
        """The same scene with its joints in other coordinates. Raises SceneError where they do not allow the scene.

        "maximal": all joints become constraints; a free joint is left out, for its body is free without it. Joints that
        were generalized keep their initial velocities. "generalized": as many joints as make a forest; those that close
        loops stay constraints."""
        data = self.tables.model_dump(exclude_defaults=True)
        forest = in_forest(self.tables.joint)
        for joint, given, tree in zip(data.get("joint", ()), self.tables.joint, forest, strict=True):
            joint["coordinates"] = coordinates if tree else "maximal"
            if given.coordinates == "generalized" and coordinates == "maximal" and form_of(given).amounts:
                joint.setdefault("velocity", form_of(given).amounts * [0.0])
        if coordinates == "maximal":
            data["joint"] = [joint for joint in data.get("joint", ()) if joint["type"] != "free"]
        return Scene(read_tables(data, self.name, self.folder), self.folder, self.path, self.notes)

    def save(self, path: str | Path, text: str | None = None) -> None:
        """Write the scene as a TOML file, with its meshes below the same folder. text: of the scene, where it is to be
        written as a person has written it.

        Raises SceneError where it cannot be written, or where another file is in a mesh's place.
        """
        path = Path(path)
        if text is None:
            text = to_toml(self.tables.model_dump(exclude_defaults=True))
        try:
            self._copy_meshes(path.parent)
            with whole_file(path) as file:
                file.write(text.encode())
        except OSError as error:
            raise SceneError(f"{path}: cannot be written ({error.strerror or error}).") from error

    @property
    def mesh_files(self) -> list[str]:
        """The names of its mesh files and of the pictures of height fields, below its folder."""
        names = {shape.file for body in self.tables.body for shape in body.shape
                 if isinstance(shape, Hull | Mesh | HeightField)}
        return sorted(name for name in names if name is not None)

    def _copy_meshes(self, folder: Path) -> None:
        for name in self.mesh_files:
            assert self.folder is not None  # a scene without a folder has no files
            source, target = self.folder / name, folder / name
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
            elif not filecmp.cmp(source, target, shallow=False):
                raise SceneError(f"{target}: is another file than {source}; it must be moved out of the way.")

    def build(self) -> Setup:
        """Model, first state, labels and settings. Raises SceneError where a mesh cannot be used."""
        source = self.path.name if self.path is not None else "scene"
        with refusing(source):
            setup = build(self.tables, self.folder, source)
        labels = setup.labels._replace(notes=(*self.notes, *setup.labels.notes))
        return setup._replace(labels=labels)


def _read_toml(path: Path) -> Found:
    if path.stat().st_size > SCENE_FILE.most:
        raise SceneError(f"{path.name}: is larger than {SCENE_FILE}; {SCENE_FILE.advice}.")
    return Found(_toml(path.read_bytes(), path.name))


def _toml(text: bytes, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.decode())
    except UnicodeDecodeError as error:
        raise SceneError(f"{name}: is not text in UTF-8; it must be a TOML scene file.") from error
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{name}: is not valid TOML: {error}.") from error


def _mesh_scene(path: Path, collide: str | None, scale: float) -> Found:
    """The tables of a scene with what a mesh file holds: a body for each of its named pieces, where it has several,
    else for each of its solids; above the ground, or as they stand where some of them are fixed."""
    file = mesh_file(path)
    notes: list[str] = []
    if len(file.pieces) > 1:
        bodies: list[dict[str, Any]] = [
            _piece_body(path.name, file, name, collide, scale, notes) for name in file.pieces]
    else:
        parts = file.parts()
        of_file: list[int | None] = list(range(len(parts))) if len(parts) > 1 else [None]
        bodies = [{"shape": [_mesh_shape(path.name, file, part, collide, scale)]} for part in of_file]
        for k, body in enumerate(bodies):
            body["name"] = path.stem if len(parts) == 1 else f"{path.stem} {k + 1}"
            for piece in file.pieces.values():
                body |= {"color": list(piece.color)} if piece.color is not None else {}
    vertices = scale * file.surface.vertices
    lo, hi = vertices.min(axis=0), vertices.max(axis=0)
    size, stands = float(np.linalg.norm(hi - lo)), any(body.get("fixed") for body in bodies)
    above = BELOW * size if stands else 0.25 * size
    place = [-0.5 * float(lo[0] + hi[0]), -0.5 * float(lo[1] + hi[1]), above - float(lo[2])]
    if stands:  # the camera looks at what moves
        moving = [scale * file.pieces[body["name"]].surface.vertices for body in bodies if not body.get("fixed")]
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


def _mesh_shape(name: str, file: MeshFile, part: Part, collide: str | None, scale: float) -> dict[str, Any]:
    """The table of a mesh that collides as its hull, or where it is hollow as convex parts. SceneError where it is no
    solid."""
    whole = file.solid(part, scale)
    shape = {"type": "mesh", "file": name, "collide": collide or ("parts" if HOLLOW * whole.filled < 1.0 else "hull")}
    return shape | ({} if part is None else {"part": part}) | ({} if scale == 1.0 else {"scale": scale})


def _piece_body(name: str, file: MeshFile, piece: str, collide: str | None, scale: float,
                notes: list[str]) -> dict[str, Any]:
    """The table of a body of a named piece. What has no volume, as a floor, is fixed, and collides as its surface."""
    try:
        body: dict[str, Any] = {"shape": [_mesh_shape(name, file, piece, collide, scale)]}
    except SceneError as error:
        notes.append(f"{piece} is fixed: {error}")
        body = {"fixed": True, "shape": [{"type": "mesh", "file": name, "collide": "surface", "part": piece}
                                         | ({} if scale == 1.0 else {"scale": scale})]}
    color = file.pieces[piece].color
    return body | {"name": piece} | ({} if color is None else {"color": list(color)})


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


def open_file(path: str | Path, collide: str | None = None, scale: float = 1.0) -> Scene:
    """A scene file where it ends in .toml, a robot where in .urdf, .xml or .mjcf, else a mesh as a scene, see
    `Scene.from_mesh`. Raises SceneError."""
    path = Path(path)
    readers = {".toml": Scene.load, ".urdf": Scene.from_urdf, ".xml": Scene.from_mjcf, ".mjcf": Scene.from_mjcf}
    return readers.get(path.suffix.lower(), partial(Scene.from_mesh, collide=collide, scale=scale))(path)


__all__ = ["Scene", "SceneError", "Setup", "open_file"]
