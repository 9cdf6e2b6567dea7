"""Work beside the window. The program ends without waiting for it (`program.program`); Python itself waits, for native
code must not run on while the interpreter is taken down."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_background(name: str, work: Callable[[], T]) -> "Future[T]":
    """Begin the work in a thread of this name."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=name).start()
    return future
