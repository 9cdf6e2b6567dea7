"""Ghosts: bodies where they are not, drawn translucent in their own colours: where the closed form of the scene has
them, and where a step would have led that was cut."""

import moderngl
import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array, Labels, Model
from ...physics.look.closed_forms import poses
from ...physics.run.messages import Snapshot
from . import body_painter, instances
from .body_painter import BodyPainter
from .camera import AWAY, shape_boxes
from .view_options import Poses


def by_closed_form(snapshot: Snapshot) -> Poses:
    """Where the formulas have bodies at the instant that is shown."""
    x, q = np.full_like(snapshot.x, np.nan), snapshot.q.copy()
    for pose in poses(snapshot.model, snapshot.labels.closed_forms, snapshot.now):
        x[pose.body], q[pose.body] = pose.x, pose.q
    return Poses(x, q)


class Ghosts:
    """Of some bodies. `place` them; where they are to be drawn anew, `write` and `paint`."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._painter = BodyPainter(ctx)
        self.forget()

    def forget(self) -> None:
        """Have no bodies."""
        self._shapes: NDArray[np.intp] = np.zeros(0, np.intp)
        self._model: Model | None = None
        self._seen = False
        self.at = instances.Placement(np.zeros((0, 3)), np.zeros((0, 4)))  #: where their shapes are
        self.bound = np.zeros(0)  #: their bounding radii [m]
        self.boxes: tuple[Array, Array] = np.zeros((0, 3)), np.zeros((0, 3))  #: around them [m]

    def set_scene(self, model: Model, labels: Labels, bodies: NDArray[np.intp]) -> None:
        """Make the buffers of all shapes of these bodies."""
        mine = np.flatnonzero(np.isin(model.shapes.body, bodies))
        self._shapes = mine
        columns = {name: getattr(model.shapes, name)[mine] for name in model.shapes._fields}
        self._model = model._replace(shapes=model.shapes._replace(**columns))
        meshes = tuple(labels.draw_meshes[s] for s in mine.tolist()) if labels.draw_meshes else ()
        self.bound = self._model.shapes.bound
        self._painter.set_scene(self._model, labels._replace(draw_meshes=meshes))

    def place(self, there: Poses | None) -> None:
        """Where they are; those that are nowhere, or all of them, are sent beyond what is seen."""
        if self._model is None:
            return
        count = len(self._model.kind)
        x, q = (np.full((count, 3), np.nan), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))) if there is None else there
        self._seen = bool(np.isfinite(x).any())
        self.boxes = shape_boxes(self._model, x, q)
        at = instances.placed(self._model, x, q)
        self.at = at._replace(place=np.nan_to_num(at.place, nan=AWAY))

    def write(self, eye: Array, backward: Array) -> None:
        """Write where they are, for a camera at `eye` that looks against `backward`."""
        if len(self._shapes) and self._seen:
            self._painter.place(self.at, (self.at.place - eye) @ backward, True)

    def paint(self) -> None:
        """Draw them over what is there; the caller blends and writes no depth."""
        if len(self._shapes) and self._seen:
            self._painter.paint(body_painter.SEE_THROUGH)

    def release(self) -> None:
        self._painter.release()
