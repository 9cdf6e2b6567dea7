"""Folders that one program holds while it lives: when it is gone, killed too, another one finds them free."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR
from typing import IO, ClassVar
from weakref import WeakSet

LOCK = "in_use"  # file in the folder, locked while its program runs
PREFIX = "contactlab-"  # of scratch folders
BEGINNING = 60.0  # [s] within which a program locks a scratch folder that it has made


def lock_of(folder: Path) -> IO[bytes]:
    """A file in the folder that is locked until it is closed, or its program ends in whatever way. OSError where
    another program holds it."""
    file = (folder / LOCK).open("ab")
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


class ScratchFolder:
    """A folder below the system's for temporary files: `path`. It is removed at the end of a with block or of the
    program; where that is killed by a later one, see `remove_scratch`."""

    held: ClassVar[WeakSet["ScratchFolder"]] = WeakSet()  #: by this program

    def __init__(self) -> None:
        self.held.add(self)
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        self._lock = lock_of(Path(self._folder.name))
        self.path = Path(self._folder.name) / "files"
        self.path.mkdir()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *error: object) -> None:
        self.remove()

    def remove(self) -> None:
        self._lock.close()
        self._folder.cleanup()


def remove_scratch(now: float) -> None:
    """Remove the scratch folders of programs that are gone, once they are older than BEGINNING; now: `time.time()`."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # it is held, or another user's
            status = folder.lstat()
            if S_ISDIR(status.st_mode) and now - status.st_mtime > BEGINNING:
                lock_of(folder).close()
                shutil.rmtree(folder)
