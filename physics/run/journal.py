"""The journal: a record of the run that is written while it goes on, so that it survives whatever ends the program.

A thread of its own writes pages to the disk as they come; the physics thread only hands them over. The journal of a run
is a folder with files of recorded runs (`run_file`), of which it keeps the last two: a new one begins when a file has
grown large. A program that ends as its user wants removes its journal. So a folder that nobody holds is of a run that
was cut off, and `leftovers` finds it.
"""

import contextlib
import os
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, NamedTuple

from ..core.held_folder import lock_of
from ..core.limits import JOURNAL_FILE, JOURNAL_PAGES
from .recording import Heading, Page
from .run_file import SUFFIX, RunFile, title_of

KEPT_FILES = 2


class Journal:
    """Writes the record of one program's runs below a folder."""

    def __init__(self, runs: Path) -> None:
        self.failure = ""  #: why nothing is recorded, "" while all is well
        self._runs = runs
        self._waiting: SimpleQueue[Any] = SimpleQueue()
        self._file: RunFile | None = None
        self._heading: Heading | None = None
        self._number = 0
        self._keep = False
        self._thread = threading.Thread(target=self._run, name="contactlab-journal", daemon=True)
        self._thread.start()

    def begin(self, heading: Heading) -> None:
        """The pages that follow are of another run."""
        self._waiting.put(heading)

    def add(self, pages: Iterable[Page]) -> None:
        """Write pages; they are on the disk soon after."""
        self._waiting.put(list(pages))
        if self._waiting.qsize() > JOURNAL_PAGES.most:
            self.failure = "the disk is too slow"

    def forget(self, folder: Path) -> None:
        """Remove a leftover, once everything before is written."""
        self._waiting.put(folder)

    def close(self, keep: bool = False) -> None:
        """The run ends. The journal is removed, or with `keep` left for the next start to offer."""
        self._keep = keep
        self._waiting.put(None)
        self._thread.join()

    # ------------------------------------------------------------------------------------------ the thread

    def _run(self) -> None:
        folder, lock = self._runs / f"{os.getpid()}-{id(self):x}", None
        try:
            folder.mkdir(parents=True)
            lock = lock_of(folder)
            while (item := self._waiting.get()) is not None:
                self._take(folder, item)
        except OSError as error:
            self.failure = error.strerror or str(error)
        while self.failure and self._waiting.get() is not None:
            pass  # nothing more is written
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        if lock is not None:
            lock.close()
        if not self._keep:
            shutil.rmtree(folder, ignore_errors=True)

    def _take(self, folder: Path, item: Any) -> None:
        full = self._file is not None and self._file.size > JOURNAL_FILE.most
        if self._file is not None and (full or isinstance(item, Heading)):
            self._file.close()
            self._file = None
        if isinstance(item, Heading):
            self._heading = item
        elif isinstance(item, Path):
            shutil.rmtree(item, ignore_errors=True)
        elif not self.failure and self._heading is not None:
            if self._file is None:
                self._file = RunFile(self._next(folder), self._heading)
            for page in item:
                self._file.add(page)
            self._file.sync()

    def _next(self, folder: Path) -> Path:
        """The path of the next file; old ones are removed."""
        for path in sorted(folder.glob(f"*{SUFFIX}"))[: 1 - KEPT_FILES]:
            path.unlink()
        self._number += 1
        return folder / f"{self._number:06}{SUFFIX}"


class Leftover(NamedTuple):
    """The journal of a program that did not end as it should. No other program finds it while `lock` is open."""

    folder: Path
    title: str       #: of the scene
    written: float   #: when its last page was [s since 1970]
    lock: IO[bytes]

    def discard(self) -> None:
        self.lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def leftovers(runs: Path) -> list[Leftover]:
    """What programs left that did not end as they should, the latest first. What holds no step is removed."""
    found = []
    for folder in runs.iterdir() if runs.is_dir() else ():
        with contextlib.suppress(OSError):
            lock = lock_of(folder)
            files = sorted(folder.glob(f"*{SUFFIX}"))
            title = title_of(files[-1]) if files else ""
            left = Leftover(folder, title, files[-1].stat().st_mtime if title else 0.0, lock)
            if title:
                found.append(left)
            else:
                left.discard()
    return sorted(found, key=lambda left: left.written, reverse=True)
