"""Slider: its position is the displacement along the axis."""

from ..core.model import Joints, JointType
from .form import DOT, LINE, SLIDE, JointForm, RowOf, triad


def _constraints(joints: Joints, j: int) -> list[RowOf]:
    """No displacement across the axis, and no rotation.   [Articulated §22.3.1, J_slider]"""
    t1, t2, axis = triad(joints, j)
    turns = [RowOf(DOT, 0, s, c) for s, c in ((t1, t2), (t2, axis), (axis, t1))]
    return [RowOf(LINE, 0, t1), RowOf(LINE, 0, t2), *turns]


FORM = JointForm(JointType.SLIDER, 1, 1, axes=1, amounts=1, ranges=1, angular=False, slides=True, driven=True,
                 constraints=_constraints, free=lambda joints, j: [RowOf(SLIDE, 0, triad(joints, j)[2])])
