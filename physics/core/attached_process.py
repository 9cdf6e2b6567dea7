"""Processes that work for this one, and end with it, however it ends: killed, too."""

import subprocess
import sys
from typing import Any

#: what the other process does first. Its standard input ends when this one does, or forgets it; reading the file
#: descriptor takes no lock that Python wants when it ends
WATCH = """
import os, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
"""
#: code that runs the Python file that is its first argument, with the others as those of that file
RUN_FILE = "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"


def attached_process(code: str, *arguments: str, output: Any = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start a Python process that carries out `code` with these arguments, sys.argv[1:] there. It ends at the latest
    when nobody holds what this returns."""
    return subprocess.Popen([sys.executable, "-c", WATCH + code, *arguments], stdin=subprocess.PIPE, stdout=output,
                            stderr=output)
