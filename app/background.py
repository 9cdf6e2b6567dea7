"""Work beside the window, in a thread that never keeps the program from ending."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_background(name: str, work: Callable[[], T]) -> "Future[T]":
    """Begin the work in a thread of this name. A thread of concurrent.futures would be waited for at the end."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
