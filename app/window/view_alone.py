"""Frames in which only the view is new.

While a scene runs and nobody touches anything, building and drawing the panels is half of a frame: of 25 ms of the
processor with a tower of 27 bodies 11, of which drawing in software is 6. Numbers that change 20 times a second can be
read as well as those that change 60 times, so between two frames of the panels there are some of the view alone.
"""

from typing import Any

import moderngl
import numpy as np

from ...physics.run.messages import Snapshot

PANELS = 0.05    # [s] after which panels are drawn anew at the latest, where frames are that short
SHADES = (0.10, 0.11)  # of two frames that nobody can tell apart


def is_kept(window: Any, screen: moderngl.Framebuffer) -> bool:
    """Whether what the last frame drew is still there to draw over when the next one begins. OpenGL leaves that open;
    Mesa's software renderer under X11 copies the picture to the screen and keeps it. To be asked before the first
    frame: shows two frames."""
    for shade in SHADES:
        screen.use()
        screen.clear(shade, shade, shade, 1.0)
        window.flip()
    found = np.frombuffer(screen.read(viewport=(0, 0, 1, 1), components=3), np.uint8)
    _ = screen.ctx.error  # as in `Window._read_screen`
    return bool((found == round(255 * SHADES[1])).all())


class PanelTimes:
    """When panels were drawn, and for what."""

    def __init__(self) -> None:
        self.last = -1.0  #: [s]
        self._alone = False  # the view was drawn without them since
        self._of: tuple[Any, ...] = ()

    def drawn(self, now: float, snapshot: Snapshot | None) -> None:
        """The panels are drawn for this snapshot."""
        self.last, self._alone = now, False
        self._of = () if snapshot is None else self._arranged(snapshot)

    def left(self) -> None:
        """A frame shows them as they were."""
        self._alone = True

    def can_wait(self, now: float, snapshot: Snapshot | None) -> bool:
        """Whether the next frame may show them as they are: of two frames in a row one always may."""
        same = snapshot is not None and self._of == self._arranged(snapshot)
        return same and not (self._alone and now - self.last >= PANELS)

    @staticmethod
    def _arranged(snapshot: Snapshot) -> tuple[Any, ...]:
        """What panels and view are arranged for."""
        return snapshot.generation, len(snapshot.sides), snapshot.paused
