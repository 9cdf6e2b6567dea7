"""Modules are loaded without the garbage collector: nothing of them is garbage, and it would look through ever more
objects again and again, a fifth of the time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Inside, the collector rests. What is there at the end it leaves alone for good."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
