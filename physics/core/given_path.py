"""Paths as scripts give them."""

import os
import reprlib
from pathlib import Path
from typing import Any


def given_path(given: Any, error: type[Exception] = ValueError) -> Path:
    """What a script has given as a file or folder, as a path. Raises `error`, in one sentence, where it is none and
    can be none."""
    name = given if isinstance(given, str) else getattr(given, "__fspath__", lambda: None)()
    if not isinstance(name, str):
        raise error(f"{reprlib.repr(given)} is no path; it must be text or a pathlib.Path.")
    if not name:
        raise error("A path is empty; it must name a file.")
    if "\0" in name:
        raise error(f"{reprlib.repr(name)}: holds a zero byte; names of files have none.")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise error(f"{reprlib.repr(name)}: holds half a character; names of files have whole ones.") from None
    return Path(name)
