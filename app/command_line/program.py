"""The program `contactlab`, from its start to its end."""

import os
import sys
import time
from contextlib import suppress

from ..without_collector import without_collector


def program() -> None:
    """Load and carry out the command line. It ends at once: in the physics thread a kernel may be being compiled for a
    minute, and the interpreter would take away under it what it uses."""
    with without_collector():
        from ...physics.core.held_folder import ScratchFolder, remove_scratch
        from .cli import Status, main
    remove_scratch(time.time())
    try:
        main()
    except SystemExit as end:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # nobody reads it any more
                stream.flush()
        for folder in tuple(ScratchFolder.held):
            folder.remove()
        os._exit(end.code if isinstance(end.code, int) else Status.PROGRAM)
