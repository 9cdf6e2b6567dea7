"""Screw: its position is the angle q about the axis. The child moves by c q along the axis, where c is the lead
[m/rad], the pitch divided by 2π."""

import math

from ..core.jit import helper
from ..core.model import Joints, JointType
from ..core.spatial import axpy6, joined, turning
from .form import DOT, LINE, PITCH, TURN, JointForm, RowOf, triad


def _constraints(joints: Joints, j: int) -> list[RowOf]:
    """No displacement across the axis, parallel axes of parent and child, and the displacement c q along the axis."""
    t1, t2, axis = triad(joints, j)
    return [RowOf(LINE, 0, t1), RowOf(LINE, 0, t2), RowOf(DOT, 0, t1, axis), RowOf(DOT, 0, t2, axis),
            RowOf(PITCH, 0, t1, t1, axis)]


def _free(joints: Joints, j: int) -> list[RowOf]:
    t1, _, axis = triad(joints, j)
    return [RowOf(TURN, 0, t1, t1, axis)]


FORM = JointForm(JointType.SCREW, 1, 1, axes=1, amounts=1, ranges=1, angular=True, slides=True, driven=True,
                 counts_turns=True, constraints=_constraints, free=_free)


@helper
def screw_column(axis, point, lead):
    """S: unit rotation about the axis through `point` (relative to O), and the translation c along the axis."""
    return axpy6(lead, joined((0.0, 0.0, 0.0), axis), turning(axis, point))


@helper
def wound_angle(angle, way, lead):
    """The angle [rad] with its whole turns: `angle` is known up to whole turns, whose number follows from the
    displacement `way` [m] along the axis."""
    turns = (way / lead - angle) / (2.0 * math.pi)
    return angle + 2.0 * math.pi * math.floor(turns + 0.5)
