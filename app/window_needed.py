"""What stands before every window of this process: a display, its libraries, and pyglet, which opens the display when
it is imported."""

from collections.abc import Callable

from .machine import no_window, require_display, require_libraries
from .without_collector import without_collector


def window_opener() -> Callable[..., None]:
    """`window.program.open_window`. Raises `machine.Unavailable` where this machine can open no window."""
    require_display()
    require_libraries(window=True)
    try:
        with without_collector():
            from .window.program import open_window
    except ImportError:
        raise
    except Exception as error:  # pyglet asks for the display while it is imported
        raise no_window(error) from error
    return open_window
