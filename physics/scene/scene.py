"""Scenes: read from TOML, URDF, MJCF or mesh files or from dictionaries, checked, saved, and built into what the engine
runs on."""

from __future__ import annotations

import filecmp
import math
import os
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..core.given_path import given_path
from ..core.limits import SCENE_FILE
from ..core.report import Settings, Side
from ..core.whole_file import whole_file
from .build import Setup, build, height_above, overlapping
from .checks import Found, read_tables
from .form import shown
from .joint_checks import form_of
from .joint_forest import in_forest
from .mesh_scene import MeshChoices, mesh_scene, title_of
from .mjcf import read_mjcf
from .refusals import SceneError, refusing
from .schema import Apart, CameraTable, HeightField, Hull, Mesh, SceneFile
from .toml_writer import to_toml
from .urdf import read_urdf

#: tags of what is neither method, shape nor joint
HELD = ("kinematic", "spring", "compare", "closed_form", "array")


@dataclass(frozen=True)
class Scene:
    """A checked scene. It is immutable, and equal to another scene whose tables are equal. `load`, `from_dict` and the
    other class methods make one.

    tables: what its file says, with all defaults, in SI units.
    folder: where mesh files lie.
    path: the file it was read from.
    notes: what was left out of a robot's file, or assumed.
    """

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
        """What it is called."""
        return self.tables.scene.title

    @property
    def summary(self) -> str:
        """What it shows, in a sentence or two."""
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
    def tags(self) -> tuple[str, ...]:
        """Words by which it is found: its own, its method, and what it holds, in the words of scene files."""
        file = self.tables
        held = dict(zip(HELD, (any(body.kinematic for body in file.body), file.spring, file.compare, file.closed_form,
                               file.array), strict=True))
        shapes = [shape.type for body in file.body for shape in body.shape]
        method = file.solver.model_dump()["method"]
        return tuple(dict.fromkeys([*file.scene.tags, method, *shapes, *(j.type for j in file.joint),
                                    *(name for name, there in held.items() if there)]))

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
    def load(cls, path: str | Path) -> Scene:
        """Read a scene file. Raises SceneError, with one sentence for each mistake."""
        return cls._read(given_path(path, SceneError), _read_toml)

    @classmethod
    def from_text(cls, text: str, folder: str | Path | None, name: str = "scene") -> Scene:
        """The scene that the text of a scene file says; mesh files lie below `folder`. Raises SceneError, whose
        sentences begin with `name`."""
        with refusing(name):
            if not isinstance(text, str):
                raise SceneError(f"{name}: is {shown(text)}; it must be text.")
            return cls._from_tables(_toml(text.encode(), name), folder, name)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], folder: str | Path | None = None) -> Scene:
        """The scene of the same tables as in a file; mesh files lie below `folder`. Raises SceneError."""
        with refusing("scene"):
            return cls._from_tables(data, folder, "scene")

    @classmethod
    def _from_tables(cls, data: Mapping[str, Any], folder: str | Path | None, name: str) -> Scene:
        if not isinstance(folder, str | Path | None):
            raise SceneError(f"{name}: its folder is {shown(folder)}; it must be a path, or None without meshes.")
        below = None if folder is None else given_path(folder or ".", SceneError)
        return cls(read_tables(data, name, below), below)

    @classmethod
    def from_mesh(cls, path: str | Path, collide: str | None = None, scale: float = 1.0, split: bool | None = None,
                  thickness: float | None = None, beside: Sequence[str | Path] = ()) -> Scene:
        """A mesh as a body that falls on the ground; as several where the file names nodes, objects or groups, or holds
        separate solids, or where there are files beside it. Raises SceneError where a file cannot be read or is no
        solid.

        collide: "hull", "parts" (convex ones) or "surface" (its triangles); None: parts where it is hollow, else hull.
        scale: metres per unit of the file.
        split: a body for each connected piece, or one in all; None: for each separate solid.
        thickness: [m] of the shell that each surface is; None: they are solids.
        beside: other files that are in the same scene.
        """
        choices, path = MeshChoices(collide, scale, split, thickness), given_path(path, SceneError)
        if not beside:
            return cls._read(path, lambda real: mesh_scene([real], real.parent, choices), follow=True)
        files = [path, *(given_path(each, SceneError) for each in beside)]
        name = title_of(files)
        with refusing(name):
            real = [each.resolve() for each in files]
            if len({each.anchor for each in real}) > 1:
                raise SceneError(f"{name}: are on several drives; they must be on one.")
            folder = Path(os.path.commonpath([each.parent for each in real]))
            found = mesh_scene(real, folder, choices)
            return cls(read_tables(found.tables, name, folder), folder, None, found.notes)

    @classmethod
    def from_urdf(cls, path: str | Path) -> Scene:
        """A robot from a URDF file, with the meshes beside it; one that is free stands on the ground. Raises SceneError
        where it cannot be read."""
        scene = cls._read(given_path(path, SceneError), read_urdf)
        with refusing(scene.name):
            return scene._with_overlaps_apart()._on_its_ground()

    @classmethod
    def from_mjcf(cls, path: str | Path) -> Scene:
        """A model from an MJCF file. Raises SceneError where it cannot be read."""
        return cls._read(given_path(path, SceneError), read_mjcf)

    @classmethod
    def _read(cls, path: Path, read: Callable[[Path], Found], follow: bool = False) -> Scene:
        """The one way from a file to a scene; its meshes lie in the folder of `path`, or with `follow` in that of the
        file that `path` is a link to."""
        with refusing(path.name):
            real = path.resolve() if follow else path
            found = read(real)
            return cls(read_tables(found.tables, path.name, real.parent), real.parent, path, found.notes)

    def _with_overlaps_apart(self) -> Scene:
        """The same robot, whose links that overlap as drawn pass through each other: hulls of meshes often do near a
        joint, where no motion could part them."""
        pairs = overlapping(self.build())
        if not pairs:
            return self
        given = [*self.tables.apart, *(Apart(bodies=pair) for pair in pairs)]
        note = (f"{len(pairs)} pairs of links overlap as drawn and pass through each other: "
                f"{', '.join(f'{a} and {b}' for a, b in pairs[:3])}{', …' if len(pairs) > 3 else ''}")
        return replace(self, tables=self.tables.model_copy(update={"apart": tuple(given)}), notes=(*self.notes, note))

    def _on_its_ground(self) -> Scene:
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

    def with_coordinates(self, coordinates: str) -> Scene:
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
        path = given_path(path, SceneError)
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


def open_file(path: str | Path, collide: str | None = None, scale: float = 1.0, split: bool | None = None,
              thickness: float | None = None, beside: Sequence[str | Path] = ()) -> Scene:
    """A scene file where it ends in .toml, a robot where in .urdf, .xml or .mjcf, else a mesh as a scene, see
    `Scene.from_mesh`. Raises SceneError."""
    path = given_path(path, SceneError)
    readers = {".toml": Scene.load, ".urdf": Scene.from_urdf, ".xml": Scene.from_mjcf, ".mjcf": Scene.from_mjcf}
    as_mesh = partial(Scene.from_mesh, collide=collide, scale=scale, split=split, thickness=thickness,
                      beside=beside)
    return readers.get(path.suffix.lower(), as_mesh)(path)


def setup_of(scene: Scene) -> Setup:
    """What `Scene.build` gives. Raises SceneError, also where a script has given something else for a scene."""
    if not callable(getattr(scene, "build", None)):
        raise SceneError(f"{shown(scene)} is no Scene; contactlab.load opens one.")
    return scene.build()


__all__ = ["Scene", "SceneError", "Setup", "open_file"]
