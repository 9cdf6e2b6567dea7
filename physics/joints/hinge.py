"""Hinge: its position is the angle about the axis."""

from ..core.jit import helper
from ..core.model import Joints, JointType
from ..core.vec import dot
from .form import DOT, TURN, JointForm, RowOf, point_rows, triad


def _constraints(joints: Joints, j: int) -> list[RowOf]:
    """The child's axis is perpendicular to t1 and t2, as the parent's axis is.   [Articulated §22.3.1, J_hinge]"""
    t1, t2, axis = triad(joints, j)
    return [*point_rows(), RowOf(DOT, 0, t1, axis), RowOf(DOT, 0, t2, axis)]


def _free(joints: Joints, j: int) -> list[RowOf]:
    t1, _, axis = triad(joints, j)
    return [RowOf(TURN, 0, t1, t1, axis)]


FORM = JointForm(JointType.HINGE, 1, 1, axes=1, amounts=1, ranges=1, angular=True, slides=False, driven=True,
                 constraints=_constraints, free=_free)


@helper
def hinge_place(theta, axis):
    """The angle about the axis [rad], from the rotation vector θ of the child relative to the parent; at most π."""
    return dot(axis, theta)
