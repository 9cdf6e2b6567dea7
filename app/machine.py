"""What the app needs of the machine: a display, and the libraries that Linux takes from the system."""

import ctypes
import os
import sys
from typing import Any

# library -> the Debian package of it
GRAPHICS = {"libGL.so.1": "libgl1", "libEGL.so.1": "libegl1"}
WINDOW = {"libX11.so.6": "libx11-6", "libXext.so.6": "libxext6", "libXrender.so.1": "libxrender1"}
DRIVERS = "libgl1-mesa-dri"


class Unavailable(Exception):
    """This machine lacks something; the message says what and what to do."""


def has_display() -> bool:
    """On Linux it can be known beforehand that there is none."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def require_display() -> None:
    if not has_display():
        raise Unavailable(
            "there is no display to open a window on; `contactlab record SCENE -o video.mp4` makes a video without one"
        )


def no_window(error: Exception) -> Unavailable:
    """What to say where a window, or OpenGL in it, is refused."""
    return Unavailable(f"no window with OpenGL 3.3 can be opened here ({error}); `contactlab doctor` says what is "
                       "missing, and `contactlab record SCENE -o video.mp4` makes a video without a window")


def require_libraries(window: bool) -> None:
    """On Linux the libraries of OpenGL, and of X for a window, come from the system. Else Unavailable."""
    needed = GRAPHICS | (WINDOW if window else {})
    missing = [library for library in needed if not loads(library)] if sys.platform == "linux" else []
    if missing:
        packages = " ".join([*needed.values(), DRIVERS])
        raise Unavailable(f"{' and '.join(missing)} cannot be loaded; on Debian and Ubuntu: apt-get install {packages}")


def loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def system_scale(screen: Any) -> float:
    """The factor by which the system draws, where windows count in pixels: the settings of the display's dots per inch.
    """
    return 1.0 if sys.platform == "darwin" else min(max(screen.get_dpi() / 96.0, 0.25), 8.0)
