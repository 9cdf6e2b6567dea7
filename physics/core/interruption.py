"""Long work can be given up: what takes long looks up between its parts, and stops where somebody wants it to.

The thread that computes says who may interrupt it (`interruptible`); the work itself, however deep below, calls
`look_up` at least every tenth of a second where it can. Elsewhere, as in scripts, nothing interrupts it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Interrupted(Exception):
    """The work was given up on request. Whoever began it restores what it had changed."""


class _Here(threading.local):
    wanted: Callable[[], bool] | None = None  # by this thread's work


_here = _Here()


@contextmanager
def interruptible(wanted: Callable[[], bool]) -> Iterator[None]:
    """Inside, `look_up` raises Interrupted in this thread as soon as `wanted` says so."""
    before, _here.wanted = _here.wanted, wanted
    try:
        yield
    finally:
        _here.wanted = before


def look_up() -> None:
    """Raise Interrupted where the work of this thread is to end now."""
    if _here.wanted is not None and _here.wanted():
        raise Interrupted
