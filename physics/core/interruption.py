"""Long work can be given up: what takes long looks up between its parts, and stops where somebody wants it to.

The thread that computes says who may interrupt it (`interruptible`); the work itself, however deep below, calls
`look_up` at least every tenth of a second where it can. Elsewhere, as in scripts, nothing interrupts it.

A single factorisation or a kernel may take seconds and cannot look up inside. Work that may contain such pieces is done
`apart`, in a thread beside the one that looks up, and where it is given up it is left behind.
"""

import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any, TypeVar

LOOKS = 0.02     # time between two looks while work is done apart [s]
GRACE = 0.05     # time in which such work may look up and end by itself before it is left behind [s]
LEFT_BEHIND = 2  # works left behind that are waited for before a third one: each may hold as much memory as a step

Result = TypeVar("Result")


class Interrupted(Exception):
    """The work was given up on request. Whoever began it restores what it had changed."""


class LeftBehind(Interrupted):
    """The work was given up and goes on until it looks up: nobody may use any more what it writes to."""


class _Here(threading.local):
    wanted: Callable[[], bool] | None = None  # by this thread's work
    long_pieces = False                       # may be in it


_here = _Here()
_room = threading.BoundedSemaphore(1 + LEFT_BEHIND)


@contextmanager
def interruptible(wanted: Callable[[], bool], long_pieces: bool = False) -> Iterator[None]:
    """Inside, `look_up` raises Interrupted in this thread as soon as `wanted` says so, or the main thread has ended.
    long_pieces: what goes through `apart` is done there."""
    before = _here.wanted, _here.long_pieces
    _here.wanted, _here.long_pieces = wanted, long_pieces
    try:
        yield
    finally:
        _here.wanted, _here.long_pieces = before


def look_up() -> None:
    """Raise Interrupted where the work of this thread is to end now."""
    if _here.wanted is not None and (_here.wanted() or not threading.main_thread().is_alive()):
        raise Interrupted


def apart(work: Callable[..., Result], *arguments: Any) -> Result:
    """The result of the work. Where it may have long pieces another thread does it while this one looks up; raises
    LeftBehind where it is given up and does not end by itself."""
    if not _here.long_pieces or _here.wanted is None:
        return work(*arguments)
    wanted, given_up, answer = _here.wanted, threading.Event(), Future[Result]()
    while not _room.acquire(timeout=LOOKS):
        look_up()

    def run() -> None:
        with interruptible(lambda: given_up.is_set() or wanted()):
            try:
                answer.set_result(work(*arguments))
            except BaseException as error:
                answer.set_exception(error)
            finally:
                _room.release()

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="contactlab-apart").start()
    while not wait([answer], LOOKS).done:
        try:
            look_up()
        except Interrupted:
            given_up.set()
            if not wait([answer], GRACE).done:
                raise LeftBehind from None
    return answer.result()
