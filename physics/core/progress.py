"""Long work tells how far it is, and can be given up there: see `interruption`.

The thread that begins the work says who is told (`telling`); the work itself, however deep below, calls `at`.
Elsewhere, as in scripts, nobody is told.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .interruption import look_up

Tell = Callable[[str, float], None]  # what is being done, and the share of it that is done, 0..1


class _Here(threading.local):
    tell: Tell | None = None  # of this thread's work


_here = _Here()


@contextmanager
def telling(tell: Tell) -> Iterator[None]:
    """Inside, `at` passes on to `tell` what this thread says."""
    before, _here.tell = _here.tell, tell
    try:
        yield
    finally:
        _here.tell = before


def at(words: str, share: float) -> None:
    """Say what is begun now and the share of the work that is done, 0..1. Raises Interrupted where it is to end."""
    look_up()
    if _here.tell is not None:
        _here.tell(words, share)
