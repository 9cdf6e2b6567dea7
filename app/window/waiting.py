"""Work that the window waits for while it lives."""

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

from ..opening import SHOWN_AFTER

LOOK = 0.1  # [s] between looks at the user


def alive_until(work: Future[Any], gone: Callable[[], bool], look: Callable[[], object], show: Callable[[], object]
                ) -> bool:
    """Look at the user until the work is done, and show that it goes on where it takes long. False where the user is
    gone before."""
    begun = time.perf_counter()
    while not (work.done() or gone()):
        wait([work], LOOK)
        look()
        if time.perf_counter() - begun > SHOWN_AFTER and not work.done():
            show()
    return work.done()
