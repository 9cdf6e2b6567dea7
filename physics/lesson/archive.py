"""Lessons in one file: a .zip with the lesson, its scenes, meshes and pictures."""

import hashlib
import shutil
import zipfile
from pathlib import Path

from ..core.archive import check_archive, unpack
from ..scene.refusals import SceneError

MARK = 16  # digits of the hash that names the folder of an archive


def unpacked(archive: Path, ending: str, cache: Path) -> Path:
    """The lesson file of an archive, unpacked into a folder of its own below `cache`, which is named by its bytes.
    Nothing is written outside of it. Raises SceneError where the archive is none, holds a path outside or too much, or
    not one lesson."""
    source = archive.name
    try:
        with zipfile.ZipFile(archive) as zipped:
            check_archive(zipped)
            lesson = _lesson_of(zipped, ending)
            folder = cache / hashlib.sha256(archive.read_bytes()).hexdigest()[:MARK]
            if not (folder / lesson).is_file():
                _unpack_whole(zipped, folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise SceneError(f"{source}: is no archive that can be read ({error}); it must be a .zip file.") from error
    except ValueError as error:
        raise SceneError(f"{source}: {error}.") from error
    return folder / lesson


def holds(archive: Path, ending: str) -> bool:
    """Whether a file is an archive with a file of that ending in it."""
    try:
        with zipfile.ZipFile(archive) as zipped:
            return any(name.lower().endswith(ending) for name in zipped.namelist())
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return False


def _lesson_of(zipped: zipfile.ZipFile, ending: str) -> str:
    """The name of the lesson in an archive. Raises ValueError where there is not one."""
    lessons = [name for name in zipped.namelist() if name.lower().endswith(ending)]
    if len(lessons) != 1:
        raise ValueError(f"holds {len(lessons)} files *{ending}; it must hold one")
    return lessons[0]


def _unpack_whole(zipped: zipfile.ZipFile, folder: Path) -> None:
    """Write all files or none: into a folder beside, which then gets the name."""
    fresh = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        unpack(zipped, fresh)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.replace(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
