"""A screen that goes away under the app, say when a session or a remote connection ends."""

import ctypes
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

_HANDLER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_kept: list[Any] = []  # Xlib holds only an address


def when_the_screen_is_lost(action: Callable[[], None]) -> None:
    """Do this before the process ends because the connection to the X server broke. Xlib cannot go on without it: where
    its handler returns, it ends the process."""
    if sys.platform != "linux":
        return

    def lost(_: Any) -> int:
        try:
            action()
        except Exception:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)

    _kept.append(_HANDLER(lost))
    ctypes.CDLL("libX11.so.6").XSetIOErrorHandler(_kept[-1])
