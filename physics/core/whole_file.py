"""Files that are whole or not there: the only place where the program writes files of its own."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | Path, sync: bool = True) -> Iterator[IO[bytes]]:
    """A file to write that takes the name `path` when the block ends, in place of what had it. Where the block raises,
    or the disk is full, what had the name stays as it was and nothing is left beside it. A reader sees the old file or
    the new one, whole, also where several processes write it at once.

    sync: wait until the bytes are on the disk, so that a power cut cannot leave a name without them.
    OSError where it cannot be written."""
    target = Path(os.path.realpath(path))  # a link stays one
    partial = target.with_name(f".{secrets.token_hex(6)}.part")
    try:
        with partial.open("xb") as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
