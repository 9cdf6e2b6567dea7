"""Ball joint: its positions are the orientation, its velocities the angular velocity relative to the parent."""

from ..core.jit import helper
from ..core.model import JointType
from ..core.spatial import turning
from .form import SPIN, WORLD_AXES, JointForm, RowOf, point_rows

FORM = JointForm(JointType.BALL, 3, 4, axes=0, amounts=3, ranges=1, angular=True, slides=False, driven=False,
                 constraints=lambda joints, j: point_rows(),  # [Articulated §22.3.1, J_ball]
                 free=lambda joints, j: [RowOf(SPIN, k, e) for k, e in enumerate(WORLD_AXES)])


@helper
def ball_column(k, r_p, point):
    """Column k of S: rotation about axis k of the parent, whose rotation matrix is r_p, through `point` from O."""
    return turning((r_p[0][k], r_p[1][k], r_p[2][k]), point)
