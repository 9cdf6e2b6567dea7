"""Free joint: its positions are the orientation and the centre of mass, its velocities the angular velocity and the
velocity of the centre of mass. Its parent is the world."""

from ..core.jit import helper
from ..core.model import JointType
from ..core.spatial import joined, turning
from .form import JointForm, no_rows

FORM = JointForm(JointType.FREE, 6, 7, axes=0, amounts=0, ranges=0, angular=False, slides=False, driven=False,
                 constraints=no_rows, free=no_rows)


@helper
def free_column(k, c):
    """Column k of S of a link whose centre of mass is at c, relative to O."""
    n = k % 3
    e = (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0)
    return turning(e, c) if k < 3 else joined((0.0, 0.0, 0.0), e)
