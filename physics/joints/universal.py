"""Universal: the angle about the first axis, fixed in the parent, then about the second, fixed in the child."""

import math

from ..core.jit import helper
from ..core.model import Joints, JointType
from ..core.vec import cross, dot, quat_mul, rotate
from .form import BEND, DOT, TURN, JointForm, RowOf, about_axis, point_rows, triad


def _constraints(joints: Joints, j: int) -> list[RowOf]:
    """The first axis is perpendicular to the second.   [Articulated §22.3.1, J_universal]"""
    return [*point_rows(), RowOf(DOT, 0, triad(joints, j)[2], joints.axis[j, 1])]


def _free(joints: Joints, j: int) -> list[RowOf]:
    axis, second = triad(joints, j)[2], joints.axis[j, 1]
    return [RowOf(TURN, 0, second, second, axis), RowOf(BEND, 1, axis, axis, second)]


FORM = JointForm(JointType.UNIVERSAL, 2, 2, axes=2, amounts=2, ranges=2, angular=True, slides=False, driven=False,
                 constraints=_constraints, free=_free)


@helper
def universal_turn(first, second, angle, other):
    """R_J as a quaternion, from the angles about the first and the second axis [rad]."""
    return quat_mul(about_axis(first, angle), about_axis(second, other))


@helper
def turn_angle(s, c, d):
    """Angle from s to c about d [rad], in -π..π"""
    return math.atan2(dot(d, cross(s, c)), dot(s, c))


@helper
def universal_place(turn, first, second):
    """Both angles [rad] and 0, from the quaternion of the child relative to the parent."""
    return (turn_angle(second, rotate(turn, second), first),
            turn_angle(first, rotate(turn, first), rotate(turn, second)), 0.0)
