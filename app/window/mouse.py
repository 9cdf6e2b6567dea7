"""What the mouse does in the 3-D view: pull, turn and place bodies, orbit, pan, zoom, select, centre. See
keys.GESTURES."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...physics.core.language import N_, _
from ...physics.core.model import Array, BodyKind, movable
from ...physics.core.rotations import quaternion_products
from ...physics.run.messages import Grab, MoveGrab, Place, Release, Snapshot
from ..lab import Lab
from ..panels.body import BodyUi
from ..panels.numbers import PageUi

Point = tuple[float, float, float]
PULL = N_("Pulling. Release to let go; flick to throw.")
TURN = N_("Turning. Release to let go.")
PLACE = N_("Placing: time stands, and the body goes where you put it. Ctrl+Z takes it back.")
PLACE_TURN = N_("Placing: time stands, and the body turns as you drag. Ctrl+Z takes it back.")


class Mouse:
    """`pick(origin, direction, without)` tells what a ray hits first, but for some bodies: an object with .body and
    .point, or None. `side` is that of a comparison in which the mouse is.

    Positions are in view units from the view's upper left corner; `size` is the view's width and height in them.
    """

    def __init__(self, lab: Lab, pick: Callable[[Array, Array, Sequence[int]], Any]) -> None:
        self.lab = lab
        self.pick = pick
        self.size = (1.0, 1.0)
        self.side = 0
        self._doing = ""  # "pull", "place", "turn", "orbit", "pan" or ""
        self._body = -1   # that is placed, and its pose as it was pressed
        self._pose = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._anchor = np.zeros(3)  # of the plane, parallel to the picture, in which the pulled point moves

    @property
    def busy(self) -> bool:
        return bool(self._doing)

    def press(self, x: float, y: float, button: str, modifiers: frozenset[str]) -> None:
        if self._doing:
            return
        if button == "right" or (button == "middle"):
            self._begin("pan", _("Panning"))
            return
        hit = self._hit(x, y)
        if self._picked(hit):
            return
        placing = hit is not None and self._placeable(int(hit.body))
        if hit is None or ("Shift" in modifiers and not placing) or not self._movable(hit.body):
            self._begin("orbit", _("Orbiting"))
            return
        self._anchor = np.asarray(hit.point, float)
        turn = "Ctrl" in modifiers
        seen = self._seen
        if placing and "Shift" not in modifiers and seen is not None:
            self._body = int(hit.body)
            self._pose = seen.x[self._body].copy(), seen.q[self._body].copy()
            self._begin("turn" if turn else "place", PLACE_TURN if turn else PLACE)
            return
        self._begin("pull", TURN if turn else PULL)
        point = as_point(self._anchor)
        self.lab.send(Grab(int(hit.body), point, point, turn))

    def drag(self, x: float, y: float, dx: float, dy: float) -> None:
        """The mouse went by (dx, dy), y down, and is at (x, y) now."""
        camera = self.lab.camera
        if self._doing == "orbit":
            camera.orbit(dx / self.size[1], dy / self.size[1], self.lab.pivot)
        elif self._doing == "pan":
            self.lab.take_view()
            camera.pan(dx / self.size[1], dy / self.size[1])
        elif self._doing == "pull":
            self.lab.send(MoveGrab(as_point(self._on_plane(x, y))))
        elif self._doing == "place":
            centre, q = self._pose
            self.lab.send(Place(self._body, as_point(centre + self._on_plane(x, y) - self._anchor), _quaternion(q)))
        elif self._doing == "turn":
            right, up, _ = camera.axes
            centre, q = self._pose
            tilt, yaw = _about(right, math.pi * dy / self.size[1]), _about(up, math.pi * dx / self.size[1])
            self._pose = centre, quaternion_products(tilt, quaternion_products(yaw, q))
            self.lab.send(Place(self._body, as_point(centre), _quaternion(self._pose[1])))

    def release(self) -> None:
        if self._doing in ("pull", "place", "turn"):
            self.lab.send(Release())
        self._doing = ""
        self.lab.ui.dragging = ""

    def wheel(self, x: float, y: float, steps: float) -> None:
        """Zoom so that what is under the cursor stays there; steps > 0 comes nearer."""
        origin, direction = self._ray(x, y)
        hit = self.pick(origin, direction, ())
        if steps > 0.0:
            self.lab.take_view()
        self.lab.camera.zoom_to(origin, direction, steps, None if hit is None else np.asarray(hit.point, float))

    def double_click(self, x: float, y: float, button: str) -> None:
        """Left selects the body, or the contact whose mark is lit; right centres the view on the point."""
        hit, ui = self._hit(x, y), self.lab.ui
        if button == "left":
            ui.view.selected = -1 if hit is None else int(hit.body)
            if ui.hover_from_view and ui.hovered_key is not None:
                page = ui.state_of(PageUi)
                page.of, page.contact = "contact", ui.hovered_key
        elif hit is not None:
            self.lab.camera.follow(np.asarray(hit.point, float))

    def _picked(self, hit: Any) -> bool:
        """Whether the tab Body waits for a point, and gets what was hit."""
        body = self.lab.ui.state_of(BodyUi)
        if not body.picking or hit is None:
            return False
        body.point, body.about, body.picking = as_point(np.asarray(hit.point, float)), "point", False
        return True

    def hover(self, x: float, y: float) -> None:
        """Tell the status bar what is under the cursor."""
        hit = self._hit(x, y)
        on_body = hit is not None and self._movable(hit.body)
        placing = hit is not None and self._placeable(int(hit.body))
        self.lab.ui.under_cursor = "paused" if placing else "body" if on_body else "space"

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

    @property
    def _seen(self) -> Snapshot | None:
        """The side that the mouse is in."""
        snapshot = self.lab.snapshot
        return snapshot if snapshot is None or not snapshot.sides else snapshot.sides[self.side]

    def _placeable(self, body: int) -> bool:
        """Whether a drag puts the body elsewhere: while time stands, where no joint holds it."""
        snapshot = self.lab.snapshot
        if snapshot is None or self.lab.playing or snapshot.model.kind[body] != BodyKind.DYNAMIC:
            return False
        joints = snapshot.model.joints
        return body not in joints.parent and body not in joints.child

    def _on_plane(self, x: float, y: float) -> Array:
        """Where the ray through (x, y) meets the plane of the drag."""
        origin, direction = self._ray(x, y)
        forward = -self.lab.camera.backward
        along = float(direction @ forward)
        if along < 1e-6:
            return self._anchor
        return origin + direction * (float((self._anchor - origin) @ forward) / along)


def as_point(v: Array) -> Point:
    return float(v[0]), float(v[1]), float(v[2])


def _quaternion(q: Array) -> tuple[float, float, float, float]:
    return float(q[0]), float(q[1]), float(q[2]), float(q[3])


def _about(axis: Array, angle: float) -> Array:
    """The quaternion (4,) of a turn about a unit axis by an angle [rad]."""
    return np.array([math.cos(0.5 * angle), *(math.sin(0.5 * angle) * axis)])
