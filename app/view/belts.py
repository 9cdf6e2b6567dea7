"""Running surfaces: lines on their flat faces that move as the surfaces do, so that belts and turntables are seen to
run."""

from typing import NamedTuple

import numpy as np

from ...physics.core.model import Array, Model, ShapeKind
from ...physics.run.messages import Snapshot
from .instances import placed, product, rotated

STRIPES = 12       # across the way that a face runs, and spokes of one that turns
PARTS = 8          # of each line: what hides a part hides no more than that
ROUND = 24         # corners that stand for the circle of a cap
PLANE_SIZE = 40.0  # half the side of the square on which a plane is marked, over the radius of a body
LIFTED = 2e-3      # over the face, of its size


class _Face(NamedTuple):
    """A flat face in the axes of its shape, its corners counter-clockwise as seen from outside."""

    normal: Array   # (3,)
    corners: Array  # (m, 3) [m]


def belt_lines(snapshot: Snapshot, eye: Array, radius: float) -> tuple[Array, Array]:
    """Starts and ends (k, 3) of lines on all faces that run and are seen from `eye`; radius: that of a body [m]."""
    model, found = snapshot.model, [np.zeros((0, 2, 3))]
    runs = np.column_stack([model.motions.surface_velocity, model.motions.surface_spin]).any(axis=1)
    for s in np.flatnonzero(np.take(runs, model.shapes.body)).tolist() if runs.any() else ():
        body = int(model.shapes.body[s])
        at = placed(model, snapshot.x, snapshot.q)
        to_shape = at.turn[s : s + 1] * np.array([1.0, -1.0, -1.0, -1.0])
        turn = product(to_shape, snapshot.q[body : body + 1])
        velocity = rotated(turn, model.motions.surface_velocity[body : body + 1])[0]
        spin = rotated(turn, model.motions.surface_spin[body : body + 1])[0]
        origin = rotated(to_shape, snapshot.x[body : body + 1] - at.place[s])[0]
        seen_from = rotated(to_shape, (eye - at.place[s])[None])[0]
        for face in faces(model, s, radius):
            if (seen_from - face.corners[0]) @ face.normal > 0.0:
                lines = face_lines(face, velocity, spin, origin, snapshot.t)
                turns = np.repeat(at.turn[s : s + 1], 2 * len(lines), axis=0)
                found.append(at.place[s] + rotated(turns, lines.reshape(-1, 3)).reshape(-1, 2, 3))
    lines = np.concatenate(found)
    cuts = np.linspace(0.0, 1.0, PARTS + 1)[:, None, None]
    points = lines[:, 0] + cuts * (lines[:, 1] - lines[:, 0])
    return points[:-1].reshape(-1, 3), points[1:].reshape(-1, 3)


def faces(model: Model, s: int, radius: float) -> list[_Face]:
    """The flat faces of a box, a cylinder (its caps) or a plane; those of other shapes are not marked."""
    kind, size, z = model.shapes.kind[s], model.shapes.size[s], np.array([0.0, 0.0, 1.0])
    square = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])
    if kind == ShapeKind.PLANE:
        return [_Face(z, PLANE_SIZE * radius * square)]
    if kind == ShapeKind.CYLINDER:
        angle = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
        circle = size[0] * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(ROUND)])
        return [_Face(z, circle + size[1] * z), _Face(-z, circle[::-1] - size[1] * z)]
    if kind != ShapeKind.BOX:
        return []
    turns = [np.eye(3)[[i, (i + 1) % 3, (i + 2) % 3]].T for i in range(3)]  # z to y, x, z
    found = [(turn @ z, square @ turn.T) for turn in turns]
    return [_Face(n, (c + n) * size) for n, c in found] + [_Face(-n, (c - n)[::-1] * size) for n, c in found]


def face_lines(face: _Face, velocity: Array, spin: Array, origin: Array, t: float) -> Array:
    """Lines (k, 2, 3) at the time t [s] on a face whose points p run at velocity + spin × (p - origin): stripes across
    their way, or spokes about the point of the face that rests."""
    n, corners = face.normal, face.corners
    middle = corners.mean(axis=0)
    u = velocity + np.cross(spin, middle - origin)
    u, turning, size = u - (u @ n) * n, float(spin @ n), float(np.ptp(corners, axis=0).max())
    if turning != 0.0:
        across = np.linalg.svd(n[None])[2][1:]
        across[1] = np.cross(n, across[0])
        angle = turning * t + np.arange(STRIPES) * (2.0 * np.pi / STRIPES)
        turned = np.cos(angle)[:, None] * across[0] + np.sin(angle)[:, None] * across[1]
        direction = np.asarray(turned, np.float64)
        start = np.broadcast_to(middle + np.cross(n, u) / turning, direction.shape)
        least = 0.0
    elif u.any():
        speed = float(np.linalg.norm(u))
        along = u / speed
        ends = (corners - middle) @ along
        spacing = float(np.ptp(ends)) / STRIPES
        place = ends.min() + np.arange(STRIPES) * spacing + speed * t % spacing
        start = middle + place[:, None] * along
        direction = np.tile(np.asarray(np.cross(n, along), np.float64), (STRIPES, 1))
        least = -np.inf
    else:
        return np.zeros((0, 2, 3))
    return clipped(start, direction, least, face) + LIFTED * size * n


def clipped(start: Array, direction: Array, least: float, face: _Face) -> Array:
    """The parts (k, 2, 3) on a face of lines (k, 3) from start + least · direction on [Cyrus & Beck 1978]."""
    corners = face.corners
    inward = np.cross(face.normal, np.roll(corners, -1, axis=0) - corners)
    inside = ((start[:, None] - corners) * inward).sum(axis=2)
    closing = direction @ inward.T
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = -inside / closing
    first = np.where(closing > 0.0, reach, -np.inf).max(axis=1, initial=least)
    last = np.where(closing < 0.0, reach, np.inf).min(axis=1)
    on_face = (first < last) & ~((closing == 0.0) & (inside < 0.0)).any(axis=1)
    ends = np.column_stack([first, last])[on_face]
    return start[on_face, None] + ends[..., None] * direction[on_face, None]
