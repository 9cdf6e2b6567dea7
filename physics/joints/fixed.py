"""Fixed joint: no degree of freedom."""

from ..core.model import Joints, JointType
from .form import DOT, JointForm, RowOf, no_rows, point_rows, triad


def _constraints(joints: Joints, j: int) -> list[RowOf]:
    """The rows of a ball joint [Articulated §22.3.1], and three DOT rows that hold the relative orientation."""
    t1, t2, axis = triad(joints, j)
    return [*point_rows(), *(RowOf(DOT, 0, s, c) for s, c in ((t1, t2), (t2, axis), (axis, t1)))]


FORM = JointForm(JointType.FIXED, 0, 0, axes=0, amounts=0, ranges=0, angular=False, slides=False, driven=False,
                 constraints=_constraints, free=no_rows)
