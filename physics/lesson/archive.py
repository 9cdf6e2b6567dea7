"""Lessons in one file: a .zip with the lesson, its scenes, meshes and pictures."""

import hashlib
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ..core.archive import check_archive, unpack
from ..core.limits import ARCHIVE_FILES, ARCHIVE_SIZE
from ..core.whole_file import whole_file
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


def pack(archive: Path, folder: Path, names: Sequence[str]) -> None:
    """Write files of these names below `folder` into a .zip, the same bytes each time. Raises ValueError where they
    come to more than would be opened again, and OSError."""
    size = sum((folder / name).stat().st_size for name in names)
    if size > ARCHIVE_SIZE.most or len(names) > ARCHIVE_FILES.most:
        raise ValueError(f"the lesson's files are {len(names)} with {size >> 20} MiB; a lesson in one file must have "
                         f"no more than {ARCHIVE_FILES.most}, and {ARCHIVE_SIZE}")
    with whole_file(archive) as file, zipfile.ZipFile(file, "w") as zipped:
        for name in names:
            zipped.writestr(zipfile.ZipInfo(name), (folder / name).read_bytes(), zipfile.ZIP_DEFLATED)


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
