"""What the mouse does in the view where a lesson asks for a point or an arrow: it places them; with Shift it orbits."""

import numpy as np

from ...physics.core.language import _
from ...physics.core.model import Array
from ...physics.lesson.schema import ArrowQuestion, PointQuestion
from ..course import Placed
from .mouse import Mouse, as_point

FARTHEST = 50.0  # of a point / distance of the camera
GRAZING = 1e-3   # cosine between the ray and the plane's normal below which nothing is placed


class PlaceMouse(Mouse):
    """The mouse of a question that is answered in the view."""

    def press(self, x: float, y: float, button: str, modifiers: frozenset[str]) -> None:
        if self._doing:
            return
        if button != "left":
            self._begin("pan", _("Panning"))
        elif "Shift" in modifiers:
            self._begin("orbit", _("Orbiting"))
        else:
            self._begin("mark", _("Placing your answer"))
            self._mark(x, y)

    def drag(self, x: float, y: float, dx: float, dy: float) -> None:
        if self._doing == "mark":
            self._mark(x, y)
        else:
            super().drag(x, y, dx, dy)

    def double_click(self, x: float, y: float, button: str) -> None:
        if button != "left":
            super().double_click(x, y, button)

    def hover(self, x: float, y: float) -> None:
        self.lab.ui.under_cursor = "answer"

    def _mark(self, x: float, y: float) -> None:
        """Put the point, or the tip of the arrow, where the ray through the cursor meets the question's plane."""
        course, snapshot = self.lab.ui.course, self.lab.snapshot
        question = course.question
        if snapshot is None or not course.places:
            return
        start = None
        if isinstance(question, ArrowQuestion):
            start = snapshot.x[snapshot.labels.bodies.index(question.body)]
        elif not isinstance(question, PointQuestion):
            return
        through = np.array(question.through) if isinstance(question, PointQuestion) else start
        assert through is not None
        point = self._met(x, y, through, np.array(question.normal))
        if point is not None:
            course.draft.placed = Placed(as_point(point), None if start is None else as_point(start))

    def _met(self, x: float, y: float, through: Array, normal: Array) -> Array | None:
        """Where the ray through the cursor meets a plane; None where it passes it by."""
        origin, direction = self._ray(x, y)
        normal = normal / np.linalg.norm(normal)
        slope = float(direction @ normal)
        if abs(slope) < GRAZING:
            return None
        along = float((through - origin) @ normal) / slope
        return origin + along * direction if 0.0 < along < FARTHEST * self.lab.camera.distance else None
