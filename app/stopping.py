"""Ctrl+C and the system's requests to end: at once, or between two steps where something is to be kept."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: what a user (Ctrl+C, a closed terminal) and a system that shuts down send
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(BaseException):
    """The program shall end. No Exception: nothing takes it for a failure, and all blocks are left on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number  # as shells count


def _stop(number: int, _: FrameType | None) -> None:
    raise Stopped(number)


@contextmanager
def _handled(handler: Any) -> Iterator[None]:
    """Signals go to the handler inside. Those that whoever started the program has switched off (nohup) stay off."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, old in before.items():
        if old is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def at_once() -> Any:
    """Context in which a signal raises Stopped wherever the program is."""
    return _handled(_stop)


@contextmanager
def between_steps() -> Iterator[list[Stopped]]:
    """Context in which the first signal is put into the list given, to be looked at between two steps; the second one
    raises Stopped."""
    asked: list[Stopped] = []

    def note(number: int, frame: FrameType | None) -> None:
        if asked:
            _stop(number, frame)
        asked.append(Stopped(number))

    with _handled(note):
        yield asked
