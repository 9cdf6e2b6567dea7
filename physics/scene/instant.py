"""An instant of a run as a scene of its own: what moves begins where it is, as fast as it is."""

from typing import Any

import numpy as np

from ..core.model import Array, Labels
from ..shapes import shapes as solid
from .checks import body_name
from .document import Document
from .refusals import SceneError
from .schema import SceneFile
from .start import rows

Poses = tuple[Array, Array, Array, Array]


def begin_at(document: Document, file: SceneFile, labels: Labels, poses: Poses) -> None:
    """Let the scene of a document, which says what `file` holds, begin at an instant: poses are the centres of mass x
    (n, 3) [m], the orientations q (n, 4) of the body frames, v (n, 3) [m/s] and w (n, 3) [rad/s]. Copies that arrays
    make become bodies of their own.

    Raises SceneError where the instant is more than that: joints have positions of their own, and a prescribed motion
    goes by the time since the start."""
    if file.joint:
        raise SceneError("An instant of a scene with joints cannot begin another scene: their limits and springs are "
                         "measured from where the file draws them.")
    moved = [body.name for body in file.body if body.motion is not None]
    if moved:
        raise SceneError(f"An instant of a scene with a prescribed motion ({moved[0]}) cannot begin another scene: the "
                         "motion goes by the time since the start.")
    seen, copies = set(), []
    repeated = {array.body for array in file.array}
    for row, index in enumerate(rows(file)):
        fields = {"name": labels.bodies[row]}
        if not file.body[index].fixed or body_name(file.body[index].name, index) in repeated:
            fields |= _instant(labels, row, poses, moves=not file.body[index].fixed)
        if index in seen:
            copies.append(document.get(("body", index)) | fields)
            continue
        seen.add(index)
        if "orientation" in fields:
            document.put(("body", index, "euler"), None)
        for name, value in fields.items():
            document.put(("body", index, name), value)
    for k in reversed(range(len(file.array))):
        document.remove(("array", k))
    if copies:
        document.extend(("body",), copies)


def _instant(labels: Labels, row: int, poses: Poses, moves: bool) -> dict[str, Any]:
    """The fields of a body there: of its origin and its axes in the file."""
    x, q, v, w = (values[row] for values in poses)
    arm = solid.quat_to_matrix(q) @ labels.origin[row]
    turn = solid.quat_product(q, labels.axes[row])
    fields = {"position": x + arm, "orientation": turn / np.linalg.norm(turn)}
    if moves:
        fields |= {"velocity": v + np.cross(w, arm), "angular_velocity": w}
    return {name: values.tolist() for name, values in fields.items()}
