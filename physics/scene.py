"""Scenes: read from TOML files, dictionaries or meshes, checked, saved, and built into what the engine runs on."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contactlab.physics.build import Setup, build
from contactlab.physics.checks import SceneError, read_tables
from contactlab.physics.schema import Camera, SceneFile

LARGEST_FILE = 16 * 2**20  # of a scene [bytes]


@dataclass(frozen=True)
class Scene:
    """A checked scene. It does not change, and it is equal to another where their tables are."""

    tables: SceneFile
    folder: Path | None = field(default=None, compare=False)  #: where mesh files lie
    path: Path | None = field(default=None, compare=False)    #: the file it was read from

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
    def watch(self) -> str:
        """What to look at."""
        return self.tables.scene.watch

    @property
    def camera(self) -> Camera | None:
        """Where the view starts, where the scene says so."""
        return self.tables.camera

    @classmethod
    def load(cls, path: str | Path) -> "Scene":
        """Read a scene file. Raises SceneError with one sentence for everything that is wrong."""
        path = Path(path)
        return cls(read_tables(_read_toml(path), path.name, path.parent), path.parent, path)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], folder: Path | None = None) -> "Scene":
        """The scene of the same tables as in a file; mesh files lie below `folder`. Raises SceneError."""
        return cls(read_tables(data, "scene", folder), folder)

    def build(self) -> Setup:
        """Model, first state, labels and settings. Raises SceneError where a mesh cannot be used."""
        return build(self.tables, self.folder, self.path.name if self.path is not None else "scene")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SceneError(f"{path.name}: is larger than {LARGEST_FILE >> 20} MiB; it must be a smaller scene file.")
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except UnicodeDecodeError as error:
        raise SceneError(f"{path.name}: is not text in UTF-8; it must be a TOML scene file.") from error
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{path.name}: is not valid TOML: {error}.") from error


def open_file(path: str | Path) -> Scene:
    """A scene file (.toml), or else a mesh as a scene."""
    return Scene.load(path)


__all__ = ["Scene", "SceneError", "Setup", "open_file"]
