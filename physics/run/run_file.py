"""Files of recorded runs, `.contactlab`, and scenes packed with their meshes, `.zip`.

A packed scene is its TOML file and below it its mesh files: unpacked by any program it is a folder that opens too.

A file of a run is a zip archive. First come `manifest.json`, `scene.toml` and `files/…`, the scene's meshes; then
pages, each as NUMBER.json and NUMBER.bin (see `recording.encode`); at last, where the file was finished, the archive's
directory.

Every entry begins with its length and checksum, and the reader goes from entry to entry and never needs the directory.
So a file is whole up to its last whole entry at any time while it is written, and what comes after that is cut. The
journal of a running app (`journal`) is the same file without an end.
"""

import contextlib
import json
import os
import platform
import struct
import sys
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from ..core.archive import check_archive, unpack
from ..core.given_path import given_path
from ..core.held_folder import ScratchFolder
from ..core.limits import RUN_MANIFEST, RUN_MESHES, RUN_PAGE, RUN_SIDES, SCENE_FILE, Limit
from ..core.version import NAME, UNKNOWN, own_version, version_of
from ..core.whole_file import whole_file
from ..scene.build import Setup
from ..scene.checks import SceneError, read_tables
from ..scene.scene import Scene
from ..scene.toml_writer import to_toml
from ..simulation.history import BUDGET
from .recording import Heading, Page, Recording, Track, UnknownLaw, decode, encode, layout

SUFFIX = ".contactlab"
PACKED = "scene.toml"          # in a packed scene
FORMAT = 1                     # of the file; grows when older programs cannot read what newer ones write
FORMAT_KEY = "contactlab recording"
LONGEST_TITLE = 100            # characters
ENTRY = struct.Struct("<4s5H3L2H")  # of zip: signature, version, flags, method, time, date, crc, sizes, lengths
SIGNATURE, DIRECTORY = b"PK\x03\x04", (b"PK\x01\x02", b"PK\x05\x06")
UNREADABLE = 0x0009            # flags: encrypted, or with its length behind it
DAMAGES = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, zlib.error,
           struct.error)       # what a file that means nothing may lead its reader to

_unpacked: list[ScratchFolder] = []  # of the meshes of opened runs, removed at the end


# -------------------------------------------------------------------------------------------------- writing


class RunFile:
    """A file that is written page by page."""

    def __init__(self, path: Path, heading: Heading) -> None:
        """Raises OSError where it cannot be written."""
        self._file = path.open("wb")
        self._zip = ZipFile(self._file, "w", ZIP_DEFLATED, compresslevel=1)
        self._pages = 0
        self._put("manifest.json", json.dumps(manifest(heading), indent=1, ensure_ascii=False).encode())
        self._put("scene.toml", to_toml(heading.scene.tables.model_dump(exclude_defaults=True)).encode())
        for name in heading.scene.mesh_files:
            assert heading.scene.folder is not None  # a scene without a folder has no files
            self._put(f"files/{PurePosixPath(Path(name))}", (heading.scene.folder / name).read_bytes())

    def _put(self, name: str, data: bytes) -> None:
        self._zip.writestr(ZipInfo(name), data, ZIP_DEFLATED)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._file.tell()

    def add(self, page: Page) -> None:
        text, numbers = encode(page)
        self._put(f"{self._pages:06}.bin", numbers)
        self._put(f"{self._pages:06}.json", text)
        self._pages += 1

    def sync(self) -> None:
        """What was added survives a cut of the power from here on."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._zip.close()
        self.sync()
        self._file.close()


def write_run(path: Path, heading: Heading, pages: Iterable[Page]) -> None:
    """Write a whole file: beside `path` first, then in its place. Raises OSError where it cannot be written."""
    partial = path.with_name(path.name + ".part")
    try:
        file = RunFile(partial, heading)
        for page in pages:
            file.add(page)
        file.close()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def manifest(heading: Heading) -> dict[str, Any]:
    versions = {"python": platform.python_version(), "machine": f"{sys.platform} {platform.machine()}"}
    versions |= {NAME: own_version()} | {name: version_of(name) or UNKNOWN for name in ("numpy", "numba")}
    return {FORMAT_KEY: FORMAT, "name": heading.scene.name, "title": heading.scene.title,
            "notes": heading.scene.notes, "sides": heading.coordinates, "versions": versions, "state": layout()}


def pack_scene(path: Path, scene: Scene, text: str) -> None:
    """Write a scene, whose file says `text`, with its meshes into one .zip. Raises OSError where that is not possible.
    """
    with whole_file(path) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr(ZipInfo(PACKED), text.encode(), ZIP_DEFLATED)
        for name in scene.mesh_files:
            assert scene.folder is not None  # a scene without a folder has no files
            archive.writestr(ZipInfo(PurePosixPath(Path(name)).as_posix()), (scene.folder / name).read_bytes(),
                             ZIP_DEFLATED)


# -------------------------------------------------------------------------------------------------- reading


def packed_text(archive: ZipFile) -> tuple[str, str]:
    """Name and text of the scene file in a packed scene: scene.toml, or the only .toml. Raises ValueError."""
    names = [info.filename for info in archive.infolist() if info.filename.lower().endswith(".toml")
             and not info.filename.startswith("__MACOSX")]
    named = [name for name in names if PurePosixPath(name).name == PACKED]
    if len(named or names) != 1:
        raise ValueError(f"it holds {'no' if not names else 'more than one'} scene file: one, {PACKED}, is needed")
    name = (named or names)[0]
    if archive.getinfo(name).file_size > SCENE_FILE.most:
        raise ValueError(f"its scene file is larger than {SCENE_FILE}")
    return name, archive.read(name).decode()


def read_packed(path: Path) -> Scene:
    """The scene of a .zip, with its meshes in a folder that is removed at the end of the program. Raises SceneError."""
    try:
        with ZipFile(path) as archive:
            name, text = packed_text(archive)
            check_archive(archive)
            _unpacked.append(ScratchFolder())
            unpack(archive, _unpacked[-1].path)
    except (BadZipFile, NotImplementedError, RuntimeError, *DAMAGES) as error:
        raise SceneError(f"{path.name}: is no packed scene ({error}).") from error
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror or error}).") from error
    folder = _unpacked[-1].path.joinpath(*PurePosixPath(name).parent.parts)
    return replace(Scene.from_text(text, folder, path.name), path=path)


def read_run(path: str | Path) -> Recording:
    """A recorded run from a file, or from the folder of a journal.

    Raises SceneError in one sentence where there is none in it. Where only the end is missing or damaged, what comes
    before is opened, and the recording's notes say so.
    """
    path = given_path(path, SceneError)
    try:
        if not path.is_dir():
            return _read([path])
        return _read(sorted(path.glob(f"*{SUFFIX}")), leftover=path)
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except SceneError:
        raise
    except UnknownLaw as error:
        raise SceneError(f"{path.name}: {error}.") from error
    except DAMAGES as error:
        raise SceneError(f"{path.name}: is not a recorded run, or is damaged ({error}).") from error


def title_of(path: Path) -> str:
    """What the scene of a recorded run is called; "" where the file holds no step."""
    name, steps = "", False
    with contextlib.suppress(*DAMAGES), path.open("rb") as file:
        for entry, data in entries(file):
            if entry == "manifest.json":
                told = json.loads(data)
                name = str(told["title"] or told["name"])[:LONGEST_TITLE]
            steps = entry[:6].isdecimal() and entry.endswith(".json")
            if steps:
                break
    return name if steps else ""


def _read(paths: list[Path], leftover: Path | None = None) -> Recording:
    """The run in the last of these files, with the pages of those before it that begin alike."""
    heads = [_head(path) for path in paths]
    if not heads:
        raise ValueError("there is no file in it")
    told, files = heads[-1]
    scene = _scene(told, files)
    setups = [(scene.with_coordinates(side) if side else scene).build() for side in told["sides"]]
    tracks = tuple(Track(BUDGET // len(setups)) for _ in setups)
    whole = True
    for path, head in zip(paths, heads, strict=True):
        if head == heads[-1]:
            with path.open("rb") as file:
                whole = _join_pages(file, setups, tracks)
    if not all(track.history.keyframes for track in tracks):
        raise ValueError("it holds no step")
    notes = () if whole or leftover else ("The end of the recording is missing: it was cut off or damaged.",)
    file = paths[-1] if leftover is None else None
    return Recording(Heading(scene, tuple(told["sides"])), tracks, told["versions"], notes, file, leftover)


def _head(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the scene's files, checked as far as they are understood without each other."""
    files: dict[str, bytes] = {}
    with path.open("rb") as file:
        for entry, data in entries(file):
            if entry[:6].isdecimal():
                break
            files[entry] = data
            if sum(map(len, files.values())) > RUN_MESHES.most:
                raise ValueError(f"its meshes are larger than {RUN_MESHES}")
    if "manifest.json" not in files or "scene.toml" not in files:
        raise ValueError("its beginning is missing")
    told = json.loads(files.pop("manifest.json"))
    if type(told[FORMAT_KEY]) is not int or told[FORMAT_KEY] > FORMAT or told["state"] != layout():
        raise SceneError(f"{path.name}: was made by Contactlab {str(told['versions']['contactlab'])[:20]}, whose "
                         "recordings this version cannot read.")
    sides, texts = told["sides"], [told["name"], *told["notes"], *told["versions"].values()]
    if not (0 < len(sides) <= RUN_SIDES.most and all(isinstance(text, str) for text in (*sides, *texts))):
        raise ValueError("its manifest is not one")
    return told, files


def _scene(told: dict[str, Any], files: dict[str, bytes]) -> Scene:
    tables = tomllib.loads(files["scene.toml"].decode())
    folder = None
    if len(files) > 1:
        _unpacked.append(ScratchFolder())
        folder = _unpacked[-1].path
        for entry, data in files.items():
            parts = PurePosixPath(entry).parts
            if entry == "scene.toml":
                continue
            if parts[0] != "files" or len(parts) < 2 or any(p == ".." or set(p) & set("\\:") for p in parts):
                raise ValueError(f"it names a file outside, {entry[:50]!r}")
            target = folder.joinpath(*parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    return Scene(read_tables(tables, told["name"], folder), folder, Path(told["name"] + ".toml"), tuple(told["notes"]))


def _join_pages(file: BinaryIO, setups: list[Setup], tracks: tuple[Track, ...]) -> bool:
    """Add the pages of a file to the tracks. False where the file ends before its end."""
    reader, numbers = entries(file), b""
    while True:
        try:
            entry, data = next(reader)
        except StopIteration as end:
            return bool(end.value)
        if entry.endswith(".bin"):
            numbers = data
        elif entry[:6].isdecimal():
            for track, side in zip(tracks, decode(data, numbers, setups), strict=True):
                track.join(side)


def entries(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the whole entries of an archive, in order, up to the first that is not whole. Returns
    whether the archive's directory follows.

    Raises ValueError where an entry is larger than its kind may be; no more than that is unpacked.
    """
    while True:
        head = file.read(ENTRY.size)
        if head[:4] in DIRECTORY:
            return True
        if len(head) < ENTRY.size or head[:4] != SIGNATURE:
            return False
        _, _, flags, method, _, _, crc, packed, size, length, more = ENTRY.unpack(head)
        name = file.read(length).decode("utf-8", "replace")
        file.seek(more, 1)
        if flags & UNREADABLE or method not in (ZIP_STORED, ZIP_DEFLATED):
            return False
        if max(size, packed if method == ZIP_STORED else 0) > most(name).most:
            raise ValueError(f"{name[:50]} is larger than {most(name)}")
        data = file.read(min(packed, most(name).most + 2**16))
        if method == ZIP_DEFLATED:
            try:
                data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size + 1)
            except zlib.error:
                return False
        if len(data) != size or zlib.crc32(data) != crc:
            return False
        yield name, data


def most(name: str) -> Limit:
    """The greatest size of an entry of this name."""
    if name[:6].isdecimal():
        return RUN_PAGE
    return {"manifest.json": RUN_MANIFEST, "scene.toml": SCENE_FILE}.get(name, RUN_MESHES)
