"""Scene files of the user: where they lie, how they are written, and what is kept of work that no file has yet."""

import contextlib
import json
import os
import shutil
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple
from zipfile import BadZipFile, ZipFile

import platformdirs

from ..assets import gallery
from ..physics.core.held_folder import lock_of
from ..physics.core.whole_file import whole_file
from ..physics.run.run_file import pack_scene, packed_text
from ..physics.scene.refusals import SceneError
from ..physics.scene.scene import Scene
from .ui_state import SceneEntry

DRAFTS = Path(platformdirs.user_state_dir("contactlab", appauthor=False)) / "drafts"
PICTURES = Path(platformdirs.user_cache_dir("contactlab", appauthor=False)) / "thumbnails"
MINE = "My scenes"  # their heading in the gallery
DRAFT = "draft.json"


class ChangedMeanwhile(Exception):
    """Another program has written the file since it was read."""


def my_scenes(chosen: str = "") -> Path:
    """The folder of the user's own scenes. chosen: the folder of the preferences, "" = among the documents."""
    return (Path(chosen).expanduser() if chosen else Path(platformdirs.user_documents_dir()) / "Contactlab") / "Scenes"


def entries(folder: Path) -> list[SceneEntry]:
    """The scenes of a folder for the gallery, by name; what is none is left out."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        with contextlib.suppress(SceneError):
            found.append(entry_of(path, Scene.load(path)))
    for path in sorted(folder.glob("*.zip")):
        with contextlib.suppress(OSError, ValueError, KeyError, AttributeError, BadZipFile), ZipFile(path) as archive:
            told = tomllib.loads(packed_text(archive)[1])["scene"]
            title, summary, watch = (str(told.get(name, "")) for name in ("title", "summary", "watch"))
            tags = ("mesh", *map(str, told.get("tags", ())))
            found.append(SceneEntry(str(path), title or path.stem, summary, path, group=MINE, watch=watch, tags=tags))
    return found


def gallery_entries(chosen: str = "") -> list[SceneEntry]:
    """The gallery's scenes with their titles, in teaching order, and then the user's own. chosen: the folder of the
    preferences."""
    found = []
    for key, path in gallery().items():
        scene = Scene.load(path)
        found.append(SceneEntry(key, scene.title, scene.summary, path, group=scene.group, watch=scene.watch,
                                tags=scene.tags))
    return found + entries(my_scenes(chosen))


def entry_of(path: Path, scene: Scene) -> SceneEntry:
    return SceneEntry(str(path), scene.title or path.stem, scene.summary, path, group=MINE, watch=scene.watch,
                      tags=scene.tags)


def picture_of(path: Path) -> Path:
    """The file of the picture that the gallery shows of a scene."""
    return PICTURES / f"{sha256(str(path).encode(errors='replace')).hexdigest()[:24]}.png"


class SavedFile:
    """The file of a scene as it was last read or written, to notice where somebody else writes it."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._bytes: bytes | None = None

    def read(self, path: Path | None) -> None:
        """The file is what the workbench has."""
        self._path = path
        try:
            self._bytes = path.read_bytes() if path is not None else None
        except OSError:
            self._bytes = None

    def write(self, scene: Scene, text: str, path: Path, beside: bool = False) -> Path | None:
        """Write a scene. beside: what somebody else has written meanwhile is kept under another name, which is
        returned. Raises ChangedMeanwhile where it is not to be kept, SceneError where nothing can be written."""
        kept = None
        if path == self._path and self._changed():
            if not beside:
                raise ChangedMeanwhile(path.name)
            kept = _free_name(path)
            try:
                shutil.copyfile(path, kept)
            except OSError as error:
                raise SceneError(f"{kept}: cannot be written ({error.strerror or error}).") from error
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SceneError(f"{path.parent}: cannot be made ({error.strerror or error}).") from error
        if path.suffix.lower() == ".zip":
            try:
                pack_scene(path, scene, text)
            except OSError as error:
                raise SceneError(f"{path}: cannot be written ({error.strerror or error}).") from error
        else:
            scene.save(path, text)
        self.read(path)
        return kept

    def _changed(self) -> bool:
        assert self._path is not None
        try:
            return self._path.read_bytes() != self._bytes
        except FileNotFoundError:
            return False  # there is nothing to lose
        except OSError:
            return True


def _free_name(path: Path) -> Path:
    k = 1
    while (free := path.with_name(f"{path.stem} (changed elsewhere{f' {k}' if k > 1 else ''}){path.suffix}")).exists():
        k += 1
    return free


# ------------------------------------------------------------------------------------------------ drafts


class Work(NamedTuple):
    """A text that no file has, of a program that did not end as it should. No other program finds it while `lock` is
    open."""

    place: Path
    title: str
    text: str
    path: Path | None    #: the file that it is of
    folder: Path | None  #: below which its mesh files lie
    written: float       #: [s since 1970]
    lock: IO[bytes]

    def discard(self) -> None:
        self.lock.close()
        shutil.rmtree(self.place, ignore_errors=True)


class Draft:
    """What is kept of the work of one program, below a folder, until a file has it."""

    def __init__(self, drafts: Path) -> None:
        self.failure = ""  #: why nothing is kept, "" while all is well
        self._place = drafts / f"{os.getpid()}-{id(self):x}"
        self._lock: IO[bytes] | None = None

    def keep(self, title: str, text: str, path: Path | None, folder: Path | None) -> None:
        """Replace what was kept, on the disk when this returns."""
        told = {"title": title, "text": text, "path": path and str(path), "folder": folder and str(folder)}
        try:
            if self._lock is None:
                self._place.mkdir(parents=True)
                self._lock = lock_of(self._place)
            with whole_file(self._place / DRAFT, sync=False) as file:  # a crash of the program alone loses nothing
                file.write(json.dumps(told).encode())
            self.failure = ""
        except OSError as error:
            self.failure = error.strerror or str(error)

    def drop(self) -> None:
        """A file has the work, or nobody wants it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            shutil.rmtree(self._place, ignore_errors=True)


def lost_work(drafts: Path) -> list[Work]:
    """What programs left that did not end as they should, the latest first. What cannot be read is removed."""
    found = []
    for place in drafts.iterdir() if drafts.is_dir() else ():
        with contextlib.suppress(OSError):
            lock = lock_of(place)
            try:
                told = json.loads((place / DRAFT).read_bytes())
                path, folder = (told[name] and Path(told[name]) for name in ("path", "folder"))
                written = (place / DRAFT).stat().st_mtime
                found.append(Work(place, str(told["title"]), str(told["text"]), path, folder, written, lock))
            except (OSError, ValueError, KeyError, TypeError):
                lock.close()
                shutil.rmtree(place, ignore_errors=True)
    return sorted(found, key=lambda work: work.written, reverse=True)
