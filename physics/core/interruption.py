"""Long work can be given up: what takes long looks up between its parts, and stops where somebody wants it to.

The thread that computes says who may interrupt it (`interruptible`); the work itself, however deep below, calls
`look_up` at least every tenth of a second where it can. Elsewhere, as in scripts, nothing interrupts it.

A factorisation or a kernel cannot look up inside, and how long it takes nobody knows before: the search for an event
among the faces of two meshes that race past each other took 300 s once, after steps of 10 ms. So the step of a method
is always done `apart`: by a helper, a thread beside the one that looks up. Where the work is given up and does not end
by itself it is left behind, with its helper. Asking the helper costs some 30 us a step.
"""

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

LOOKS = 0.02     # time between two looks while work is done apart [s]
IDLE = 0.25      # time without work after which a helper ends: Python waits for it before it ends itself [s]
GRACE = 0.05     # time in which such work may look up and end by itself before it is left behind [s]
LEFT_BEHIND = 2  # works left behind that are waited for before a third one: each may hold as much memory as a step

Result = TypeVar("Result")


class Interrupted(Exception):
    """The work was given up on request. Whoever began it restores what it had changed."""


class LeftBehind(Interrupted):
    """The work was given up and goes on until it looks up: nobody may use any more what it writes to."""


class _Here(threading.local):
    wanted: Callable[[], bool] | None = None  # by this thread's work
    helper: "_Helper | None" = None           # that does its long pieces
    helps: bool = False                       # it is a helper itself


_here = _Here()
_room = threading.BoundedSemaphore(1 + LEFT_BEHIND)


@contextmanager
def interruptible(wanted: Callable[[], bool]) -> Iterator[None]:
    """Inside, `look_up` raises Interrupted in this thread as soon as `wanted` says so, or the main thread has ended."""
    before, _here.wanted = _here.wanted, wanted
    try:
        yield
    finally:
        _here.wanted = before


def look_up() -> None:
    """Raise Interrupted where the work of this thread is to end now."""
    if _here.wanted is not None and (_here.wanted() or not threading.main_thread().is_alive()):
        raise Interrupted


def apart(work: Callable[..., Result], *arguments: Any) -> Result:
    """The result of the work. Where it may be interrupted a helper does it while this thread looks up; raises
    LeftBehind where it is given up and does not end by itself."""
    if _here.wanted is None or _here.helps:
        return work(*arguments)
    while not _room.acquire(timeout=LOOKS):
        look_up()
    piece = _Piece(work, arguments, _here.wanted)
    if _here.helper is None or not _here.helper.takes(piece):
        _here.helper = _Helper(piece)
    try:
        while not piece.done.acquire(timeout=LOOKS):
            look_up()
    except Interrupted:
        piece.given_up = True
        if not piece.done.acquire(timeout=GRACE):
            _here.helper = None
            raise LeftBehind from None
    finally:
        piece.given_up = True  # also where the user breaks off
    return piece.outcome()


class _Piece:
    """Work that is done apart, and what comes of it."""

    def __init__(self, work: Callable[..., Any], arguments: tuple[Any, ...], wanted: Callable[[], bool]) -> None:
        self._work, self._arguments, self._wanted = work, arguments, wanted
        self._context = contextvars.copy_context()
        self._result: Any = None
        self._error: BaseException | None = None
        self.given_up = False
        self.done = threading.Lock()  #: held until it is
        self.done.acquire()

    def do(self) -> None:
        """Called by the helper."""
        try:
            with interruptible(lambda: self.given_up or self._wanted()):
                self._result = self._context.run(self._work, *self._arguments)
        except BaseException as error:
            self._error = error
        finally:
            _room.release()
            self.done.release()

    def outcome(self) -> Any:
        """The result of work that is done; raises its error."""
        if self._error is not None:
            raise self._error
        return self._result


class _Helper:
    """A thread that does one piece after another for the thread that made it, and ends after IDLE without any."""

    def __init__(self, piece: _Piece) -> None:
        self._pieces: SimpleQueue[_Piece] = SimpleQueue()
        self._ending, self._ended = threading.Lock(), False
        self._pieces.put(piece)
        threading.Thread(target=self._run, name="contactlab-apart").start()

    def takes(self, piece: _Piece) -> bool:
        """Whether it does this piece; False where it has ended."""
        with self._ending:
            if not self._ended:
                self._pieces.put(piece)
            return not self._ended

    def _run(self) -> None:
        _here.helps = True
        while not self._ended:
            try:
                self._pieces.get(timeout=IDLE).do()
            except Empty:
                with self._ending:
                    self._ended = self._pieces.empty()
