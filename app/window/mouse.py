"""What the mouse does in the 3-D view: pull and turn bodies, orbit, pan, zoom, select, centre. See keys.GESTURES."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...physics.core.model import Array, movable
from ...physics.run.messages import Grab, MoveGrab, Release
from ..lab import Lab

Point = tuple[float, float, float]
PULL = "Pulling. Release to let go; flick to throw."
TURN = "Turning. Release to let go."


class Mouse:
    """`pick(origin, direction, without)` tells what a ray hits first, but for some bodies: an object with .body and
    .point, or None.

    Positions are in view units from the view's upper left corner; `size` is the view's width and height in them.
    """

    def __init__(self, lab: Lab, pick: Callable[[Array, Array, Sequence[int]], Any]) -> None:
        self.lab = lab
        self.pick = pick
        self.size = (1.0, 1.0)
        self._doing = ""  # "pull", "orbit", "pan" or ""
        self._anchor = np.zeros(3)  # of the plane, parallel to the picture, in which the pulled point moves

    @property
    def busy(self) -> bool:
        return bool(self._doing)

    def press(self, x: float, y: float, button: str, modifiers: frozenset[str]) -> None:
        if self._doing:
            return
        if button == "right" or (button == "middle"):
            self._begin("pan", "Panning")
            return
        hit = self._hit(x, y)
        if hit is None or "Shift" in modifiers or not self._movable(hit.body):
            self._begin("orbit", "Orbiting")
            return
        self._anchor = np.asarray(hit.point, float)
        turn = "Ctrl" in modifiers
        self._begin("pull", TURN if turn else PULL)
        point = _point(self._anchor)
        self.lab.send(Grab(int(hit.body), point, point, turn))

    def drag(self, x: float, y: float, dx: float, dy: float) -> None:
        """The mouse went by (dx, dy), y down, and is at (x, y) now."""
        camera = self.lab.camera
        if self._doing == "orbit":
            camera.orbit(dx / self.size[1], dy / self.size[1])
        elif self._doing == "pan":
            camera.pan(dx / self.size[1], dy / self.size[1])
        elif self._doing == "pull":
            self.lab.send(MoveGrab(_point(self._on_plane(x, y))))

    def release(self) -> None:
        if self._doing == "pull":
            self.lab.send(Release())
        self._doing = ""
        self.lab.ui.dragging = ""

    def wheel(self, x: float, y: float, steps: float) -> None:
        """Zoom so that what is under the cursor stays there; steps > 0 comes nearer."""
        origin, direction = self._ray(x, y)
        hit = self.pick(origin, direction, ())
        self.lab.camera.zoom_to(origin, direction, steps, None if hit is None else np.asarray(hit.point, float))

    def double_click(self, x: float, y: float, button: str) -> None:
        """Left selects the body, right centres the view on the point."""
        hit = self._hit(x, y)
        if button == "left":
            self.lab.ui.view.selected = -1 if hit is None else int(hit.body)
        elif hit is not None:
            self.lab.camera.follow(np.asarray(hit.point, float))

    def hover(self, x: float, y: float) -> None:
        """Tell the status bar what is under the cursor."""
        hit = self._hit(x, y)
        self.lab.ui.under_cursor = "body" if hit is not None and self._movable(hit.body) else "space"

    # ---------------------------------------------------------------------------------------------- geometry

    def _begin(self, doing: str, words: str) -> None:
        self._doing = doing
        self.lab.ui.dragging = words

    def _ray(self, x: float, y: float) -> tuple[Array, Array]:
        return self.lab.camera.ray(x, y, *self.size)

    def _hit(self, x: float, y: float) -> Any:
        return self.pick(*self._ray(x, y), ())

    def _movable(self, body: int) -> bool:
        snapshot = self.lab.snapshot
        return snapshot is not None and bool(movable(snapshot.model.kind[body]))

    def _on_plane(self, x: float, y: float) -> Array:
        """Where the ray through (x, y) meets the plane of the drag."""
        origin, direction = self._ray(x, y)
        forward = -self.lab.camera.backward
        along = float(direction @ forward)
        if along < 1e-6:
            return self._anchor
        return origin + direction * (float((self._anchor - origin) @ forward) / along)


def _point(v: Array) -> Point:
    return float(v[0]), float(v[1]), float(v[2])
