"""What the mouse does in the view while the scene is edited: choose bodies, put down new ones; orbit, pan and zoom as
ever. The handles take what is theirs from imgui, see `panels.gizmo`."""

from typing import Any

import numpy as np

from ...physics.core.language import _
from ...physics.core.model import Array
from ...physics.scene.edits import Pose
from ..panels.bench import choose
from ..panels.gizmo import handles_hold
from ..view.camera import shape_boxes
from .mouse import Mouse

CLICK = 4.0     # way of the mouse below which a drag is a click [window units]
LEVEL = 1e-3    # sine of the slope below which a surface counts as level
FARTHEST = 50.0  # of a point in empty space / distance of the camera


class EditMouse(Mouse):
    """The mouse of the workbench. What `pick` is asked for `without` is passed through."""

    _way = 0.0        # of the mouse since the button was pressed
    _more = False     # Ctrl was held

    def press(self, x: float, y: float, button: str, modifiers: frozenset[str]) -> None:
        bench = self.lab.ui.workbench
        if self._doing or (button == "left" and handles_hold(self.lab.ui)):
            return
        if button != "left":
            self._begin("pan", _("Panning"))
        elif bench.placing is not None:
            self._follow(x, y)
            bench.put_down()
        else:
            self._way, self._more = 0.0, "Ctrl" in modifiers
            self._at = x, y
            self._begin("orbit", _("Orbiting"))

    def drag(self, x: float, y: float, dx: float, dy: float) -> None:
        self._way += abs(dx) + abs(dy)
        if self._doing != "orbit" or self._way > CLICK:
            super().drag(x, y, dx, dy)

    def release(self) -> None:
        if self._doing == "orbit" and self._way <= CLICK:
            self._choose(*self._at)
        super().release()

    def double_click(self, x: float, y: float, button: str) -> None:
        if button == "left":
            self.lab.making.choose_groups()
        else:
            super().double_click(x, y, button)

    def hover(self, x: float, y: float) -> None:
        self.lab.ui.under_cursor = "edit"
        if self.lab.ui.workbench.placing is not None:
            self._follow(x, y)

    def _choose(self, x: float, y: float) -> None:
        """Choose the body under the cursor; where there is none, nothing."""
        bench = self.lab.ui.workbench
        hit = self._hit(x, y)
        places = bench.built.rows
        if hit is not None and int(hit.body) < len(places):
            choose(self.lab.ui, ("body", places[int(hit.body)]), self._more)
        elif not self._more:
            bench.choose()

    # ---------------------------------------------------------------------------------------------- placing

    def _follow(self, x: float, y: float) -> None:
        """Let the new body stand on what is under the cursor: its z along the surface's normal."""
        bench, snapshot = self.lab.ui.workbench, self.lab.snapshot
        rows = bench.rows_of([bench.placing]) if bench.placing is not None else []
        if snapshot is None or not rows or len(bench.built.rows) != len(snapshot.x):
            return
        point, normal = self._surface(x, y, rows)
        lowest = shape_boxes(snapshot.model, snapshot.x, snapshot.q)[0][snapshot.model.shapes.body == rows[0], 2]
        below = float(np.nanmin(lowest)) if np.isfinite(lowest).any() else 0.0  # the table places it at the origin
        turn = np.array([1.0, 0.0, 0.0, 0.0])
        if np.hypot(normal[0], normal[1]) > LEVEL:
            turn = _onto(normal)
        elif bench.tools.snap:
            point = np.array([*(np.round(point[:2] / bench.tools.step) * bench.tools.step), point[2]])
        bench.preview, bench.about = Pose(point - below * normal, turn), np.zeros(3)

    def _surface(self, x: float, y: float, without: list[int]) -> tuple[Array, Array]:
        """The point under the cursor and the normal of the surface there, from two rays beside it; in empty space the
        level through the origin."""
        hits = [self._hit(x + dx, y + dy, without) for dx, dy in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))]
        origin, direction = self._ray(x, y)
        if hits[0] is None:
            far = FARTHEST * self.lab.camera.distance
            along = -origin[2] / direction[2] if direction[2] < 0.0 else far
            return origin + min(along, far) * direction, np.array([0.0, 0.0, 1.0])
        point = np.asarray(hits[0].point, float)
        if any(hit is None or hit.body != hits[0].body for hit in hits):
            return point, np.array([0.0, 0.0, 1.0])
        a, b = (np.asarray(hit.point, float) - point for hit in hits[1:])
        normal = np.cross(a, b)
        normal /= max(float(np.linalg.norm(normal)), 1e-300)
        return point, normal if normal @ direction < 0.0 else -normal

    def _hit(self, x: float, y: float, without: list[int] | None = None) -> Any:
        return self.pick(*self._ray(x, y), [*(without or ()), *self.lab.ui.workbench.unseen])


def _onto(normal: Array) -> Array:
    """The shortest turn (4,) of z onto a unit vector."""
    axis = np.cross((0.0, 0.0, 1.0), normal)
    size = float(np.linalg.norm(axis))
    if size < 1e-12:
        return np.array([1.0, 0.0, 0.0, 0.0]) if normal[2] > 0.0 else np.array([0.0, 1.0, 0.0, 0.0])
    half = 0.5 * np.arctan2(size, normal[2])
    return np.array([np.cos(half), *(np.sin(half) * axis / size)])
