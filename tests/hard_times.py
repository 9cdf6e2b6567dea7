"""Machines on which something is missing: folders that cannot be written, full disks."""

import ctypes
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


CAPABILITIES, DAC_OVERRIDE = 0x20080522, 1  # version of the two structures of capget(2); see capabilities(7)


@contextmanager
def without_override() -> Iterator[None]:
    """Root may write everywhere: as long as this lasts this thread may not."""
    if os.geteuid() != 0:
        yield
        return
    libc, of_thread = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(CAPABILITIES, 0)
    held = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, twice 32 bits
    assert libc.capget(of_thread, held) == 0
    effective = held[0]
    held[0] = effective & ~(1 << DAC_OVERRIDE)
    assert libc.capset(of_thread, held) == 0
    try:
        yield
    finally:
        held[0] = effective
        assert libc.capset(of_thread, held) == 0
