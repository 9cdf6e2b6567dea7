"""Ghosts: bodies where they are not, drawn translucent in their own colours: where the closed form of the scene has
them, where a step would have led that was cut, and where they are from the starts of a fan."""

import moderngl
import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array, Labels, Model
from ...physics.look.closed_forms import poses
from ...physics.run.messages import Snapshot
from . import body_painter, instances
from .body_painter import BodyPainter
from .camera import AWAY, shape_boxes
from .theme import body_colors
from .view_options import Poses

_latest: tuple[Snapshot | None, Poses] = None, Poses(np.zeros((0, 3)), np.zeros((0, 4)))


def by_closed_form(snapshot: Snapshot) -> Poses:
    """Where the formulas have bodies at the instant that is shown; worked out once a snapshot, as the legend asks for
    it, too."""
    global _latest
    if _latest[0] is not snapshot:
        _latest = snapshot, _by_closed_form(snapshot)
    return _latest[1]


def _by_closed_form(snapshot: Snapshot) -> Poses:
    x, q = np.full_like(snapshot.x, np.nan), snapshot.q.copy()
    for pose in poses(snapshot.model, snapshot.labels.closed_forms, snapshot.now):
        x[pose.body], q[pose.body] = pose.x, pose.q
    return Poses(x, q)


def of_fan(snapshot: Snapshot) -> list[Poses]:
    """Where bodies are from each start of the fan at the instant that is shown; none where the settings are other ones
    by now, or past the end of a run."""
    found = []
    if snapshot.fan is not None and snapshot.fan.settings == snapshot.settings:
        for path in snapshot.fan.paths:
            k = round(snapshot.now / path.interval)
            if 0 <= k < len(path.poses):
                found.append(Poses(path.poses[k][:, :3], path.poses[k][:, 3:]))
    return found


class Ghosts:
    """Of some bodies, so many copies of each. `place` them; where they are to be drawn anew, `write` and `paint`."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._painter = BodyPainter(ctx)
        self.forget()

    def forget(self) -> None:
        """Have no bodies."""
        self._shapes: NDArray[np.intp] = np.zeros(0, np.intp)
        self._model: Model | None = None
        self._seen = False
        self.copies = 0
        self.at = instances.Placement(np.zeros((0, 3)), np.zeros((0, 4)))  #: where their shapes are
        self.bound = np.zeros(0)  #: their bounding radii [m]
        self.boxes: tuple[Array, Array] = np.zeros((0, 3)), np.zeros((0, 3))  #: around them [m]

    def set_scene(self, model: Model, labels: Labels, bodies: NDArray[np.intp], copies: int = 1) -> None:
        """Make the buffers of all shapes of these bodies. Body i of the k-th copy is body k n + i of those placed."""
        self.forget()
        mine, n = np.flatnonzero(np.isin(model.shapes.body, bodies)), len(model.kind)
        self._shapes, self.copies = np.tile(mine, copies), copies
        columns = {name: getattr(model.shapes, name)[self._shapes] for name in model.shapes._fields}
        columns["body"] = columns["body"] + np.repeat(n * np.arange(copies), len(mine))
        self._model = model._replace(shapes=model.shapes._replace(**columns), kind=np.tile(model.kind, copies))
        meshes = tuple(labels.draw_meshes[s] for s in self._shapes.tolist()) if labels.draw_meshes else ()
        self.bound = self._model.shapes.bound
        colors = np.tile(body_colors(model, labels), (copies, 1))
        self._painter.set_scene(self._model, labels._replace(draw_meshes=meshes, skins=(), colors=colors))

    def place(self, *there: Poses) -> None:
        """Where the copies are; those that are nowhere are sent beyond what is seen, all of them where nothing is
        given."""
        if self._model is None or not len(self._shapes):
            return
        count = len(self._model.kind)
        x, q = np.full((count, 3), np.nan), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        if there:
            x, q = np.vstack([one.x for one in there]), np.vstack([one.q for one in there])
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
