"""Lessons in one file: a .zip with the lesson, its scenes, meshes and pictures."""

import hashlib
import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath

from ..core.limits import LESSON_FILES, LESSON_SIZE
from ..core.whole_file import whole_file
from ..scene.refusals import SceneError

MARK = 16           # digits of the hash that names the folder of an archive
CHUNK = 1 << 20     # bytes read at once


def unpacked(archive: Path, ending: str, cache: Path) -> Path:
    """The lesson file of an archive, unpacked into a folder of its own below `cache`, which is named by its bytes.
    Nothing is written outside of it. Raises SceneError where the archive is none, holds a path outside or too much, or
    not one lesson."""
    source = archive.name
    try:
        with zipfile.ZipFile(archive) as zipped:
            lesson = _checked(zipped, source, ending)
            folder = cache / hashlib.sha256(archive.read_bytes()).hexdigest()[:MARK]
            if not (folder / lesson).is_file():
                _unpack(zipped, source, folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise SceneError(f"{source}: is no archive that can be read ({error}); it must be a .zip file.") from error
    return folder / lesson


def holds(archive: Path, ending: str) -> bool:
    """Whether a file is an archive with a file of that ending in it."""
    try:
        with zipfile.ZipFile(archive) as zipped:
            return any(name.lower().endswith(ending) for name in zipped.namelist())
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return False


def _checked(zipped: zipfile.ZipFile, source: str, ending: str) -> str:
    """The name of the lesson in an archive of which nothing is wrong."""
    entries = zipped.infolist()
    if len(entries) > LESSON_FILES.most:
        raise SceneError(f"{source}: holds {len(entries)} files; it must hold no more than {LESSON_FILES.most}.")
    if sum(entry.file_size for entry in entries) > LESSON_SIZE.most:
        raise SceneError(f"{source}: holds more than {LESSON_SIZE}; {LESSON_SIZE.advice}.")
    for entry in entries:
        name = PurePosixPath(entry.filename)
        outside = name.is_absolute() or ".." in name.parts or "\\" in entry.filename or ":" in entry.filename
        if outside or stat.S_ISLNK(entry.external_attr >> 16):
            raise SceneError(f"{source}: holds {entry.filename!r}, which leads out of the archive; it must hold plain "
                             "files below its top.")
    lessons = [entry.filename for entry in entries if entry.filename.lower().endswith(ending)]
    if len(lessons) != 1:
        raise SceneError(f"{source}: holds {len(lessons)} files *{ending}; it must hold one.")
    return lessons[0]


def _unpack(zipped: zipfile.ZipFile, source: str, folder: Path) -> None:
    """Write all files, whole or not at all: into a folder beside, which then gets the name."""
    fresh = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    left = LESSON_SIZE.most
    try:
        for entry in zipped.infolist():
            target = fresh / entry.filename
            if entry.is_dir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with zipped.open(entry) as read, whole_file(target) as written:
                while block := read.read(CHUNK):
                    left -= len(block)
                    if left < 0:  # whatever the archive says of its sizes
                        raise SceneError(f"{source}: holds more than {LESSON_SIZE}; {LESSON_SIZE.advice}.")
                    written.write(block)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.replace(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
