"""Refusals: whatever goes wrong on the way from a file to a scene leaves as one kind of error, in sentences."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.interruption import Interrupted

MOST_LINES = 40        # of a refusal
LONGEST_LINE = 500     # characters of a sentence in it


class SceneError(ValueError):
    """A scene or a mesh that cannot be used. The message holds one sentence per problem, a line each, and no more than
    MOST_LINES of them."""

    def __init__(self, message: str) -> None:
        lines = [_cut(line) for line in message.splitlines()]
        if len(lines) > MOST_LINES:
            lines[MOST_LINES - 1 :] = [f"… and {len(lines) - MOST_LINES + 1} more."]
        super().__init__("\n".join(lines))


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


@contextmanager
def refusing(source: str) -> Iterator[None]:
    """The one place where reading or building a scene may fail: every error within becomes a SceneError, whose sentence
    begins with `source`; work that is given up ends with Interrupted."""
    try:
        yield
    except (SceneError, Interrupted):
        raise
    except OSError as error:
        raise SceneError(f"{source}: cannot be read ({error.strerror or error}).") from error
    except MemoryError as error:
        raise SceneError(f"{source}: asks for more memory than there is; it must be smaller.") from error
    except RecursionError as error:
        raise SceneError(f"{source}: is nested too deeply; it must have fewer levels.") from error
    except Exception as error:
        raise SceneError(f"{source}: cannot be used; that no sentence says why is a fault of this program "
                         f"({where(error)}).") from error


def where(error: BaseException) -> str:
    """The kind of an error and the line it comes from, for a report."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
