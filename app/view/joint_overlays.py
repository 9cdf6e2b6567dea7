"""Joints over the picture: axes, anchors, and the range that limits leave."""

import numpy as np
from numpy.typing import NDArray

from ...physics.core.model import Array
from ...physics.joints.table import FORMS
from ...physics.run.messages import Snapshot

Flags = NDArray[np.bool_]

MANY = 60        # joints from which on ranges of limits are left out
ARC = 20         # pieces of an arc
ONE_AXIS, TWO_AXES = ([kind for kind, form in FORMS.items() if form.axes == n] for n in (1, 2))
SLIDING = [kind for kind, form in FORMS.items() if form.slides]


def joint_frames(snapshot: Snapshot) -> tuple[Array, Array]:
    """Where every joint is (j, 3) [m] and its axes (j, 2, 3), all in the world.

    The first axis is fixed in the parent; the second of a universal joint is carried by the child, as it is drawn.
    """
    joints = snapshot.model.joints
    x, R = np.vstack([snapshot.x, np.zeros((1, 3))]), rotations(snapshot.q)  # the world's frame last: row -1
    child = R[joints.child]
    at = x[joints.child] + np.einsum("jab,jb->ja", child, joints.anchor_child)
    first = np.einsum("jab,jb->ja", R[joints.parent], joints.axis[:, 0])
    at_rest = np.einsum("jba,jb->ja", rotations(joints.rest)[:-1], joints.axis[:, 1])  # in the child's frame
    return at, np.stack([first, np.einsum("jab,jb->ja", child, at_rest)], axis=1)


def rotations(q: Array) -> Array:
    """Matrices (n + 1, 3, 3) of quaternions (n, 4), and the identity last."""
    w, x, y, z = np.vstack([q, [1.0, 0.0, 0.0, 0.0]]).T
    return np.stack([
        np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1),
        np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1),
        np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1),
    ], axis=-2)


def axes_of(snapshot: Snapshot, length: float) -> tuple[Array, Array, Flags]:
    """Lines along the axes of hinges, sliders and universal joints: starts and ends (k, 3) [m], and whether each is a
    slider's (k,)."""
    at, axes = joint_frames(snapshot)
    kind = snapshot.model.joints.type
    first = np.isin(kind, ONE_AXIS + TWO_AXES)
    second = np.isin(kind, TWO_AXES)
    centers = np.concatenate([at[first], at[second]])
    along = length * np.concatenate([axes[first, 0], axes[second, 1]])
    slides = np.concatenate([np.isin(kind[first], SLIDING), np.zeros(int(second.sum()), bool)])
    return centers - along, centers + along, slides


def arcs_of(snapshot: Snapshot, radius: float, selected: int) -> tuple[Array, Array, Flags]:
    """The range that limits leave to hinges and sliders, where the child is in it: starts and ends (k, 3) of lines [m],
    and whether each is a spoke (the two ends of the range and the present position)."""
    joints = snapshot.model.joints
    limited = np.isin(joints.type, ONE_AXIS) & np.isfinite(joints.lower[:, 0])
    limited &= np.isfinite(joints.upper[:, 0])
    if selected >= 0:
        limited &= (joints.child == selected) | (joints.parent == selected)
    rows = np.flatnonzero(limited)
    if not len(rows) or len(rows) > MANY:
        return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, bool)
    at, axes = joint_frames(snapshot)
    positions = joint_positions(snapshot)
    starts, ends, spokes = [], [], []
    for j in rows:
        low, high, now = joints.lower[j, 0], joints.upper[j, 0], positions[j]
        axis = axes[j, 0]
        if not FORMS[int(joints.type[j])].angular:
            begin = at[j] - axis * (now - low)
            starts += [begin]
            ends += [begin + axis * (high - low)]
            spokes += [False]
            continue
        # towards the child's centre, without what lies along the axis: that is where q stands now
        out = snapshot.x[joints.child[j]] - at[j]
        out = out - axis * (axis @ out)
        size = float(np.linalg.norm(out))
        out = out / size if size > 1e-9 else np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
        across = np.cross(axis, out)
        angles = np.linspace(low, high, ARC + 1) - now
        rim = at[j] + radius * (np.cos(angles)[:, None] * out + np.sin(angles)[:, None] * across)
        starts += [*rim[:-1], at[j], at[j], at[j]]
        ends += [*rim[1:], rim[0], rim[-1], at[j] + radius * out]
        spokes += [False] * ARC + [True] * 3
    return np.array(starts), np.array(ends), np.array(spokes)


def joint_positions(snapshot: Snapshot) -> Array:
    """First position (j,) of every joint [rad] or [m]; nan of a joint whose coordinates are not the state."""
    trees = snapshot.model.trees
    found = np.full(len(snapshot.model.joints.type), np.nan)
    for link, j in enumerate(trees.joint):
        if trees.first_q[link + 1] > trees.first_q[link]:
            found[j] = snapshot.joint_q[trees.first_q[link]]
    return found
