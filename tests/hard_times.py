"""Machines on which something is missing: folders that cannot be written, full disks."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[list[str]]:
    """A folder that cannot be written by a command that begins with the words given: root may write everywhere, unless
    it gives up that right."""
    words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    if words and shutil.which(words[0]) is None:
        pytest.skip("root can write everywhere, and there is no setpriv")
    folder.chmod(0o555)
    try:
        yield words
    finally:
        folder.chmod(0o755)
