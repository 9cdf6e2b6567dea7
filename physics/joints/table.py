"""All types of joints: the one place where a type is entered.

FORMS says everything about them in Python. The helpers answer what the recursions over trees and the rows between
bodies ask, by type.
"""

from ..core.jit import helper
from ..core.model import JointType
from ..core.spatial import joined, turning
from ..core.vec import quat_unit, rotate
from . import ball, fixed, free, hinge, screw, slider, universal
from .ball import ball_column
from .form import JointForm, about_axis
from .free import free_column
from .hinge import hinge_place
from .screw import screw_column, wound_angle
from .universal import universal_place, universal_turn

#: by type
FORMS: dict[int, JointForm] = {int(form.type): form for form in (
    free.FORM, hinge.FORM, slider.FORM, ball.FORM, universal.FORM, fixed.FORM, screw.FORM)}
FREE, HINGE, SLIDER, BALL, UNIVERSAL, SCREW = (int(kind) for kind in (
    JointType.FREE, JointType.HINGE, JointType.SLIDER, JointType.BALL, JointType.UNIVERSAL, JointType.SCREW))

#: by type: numbers of velocities and of positions
VELOCITIES = tuple(FORMS[kind].velocities for kind in range(len(FORMS)))
POSITIONS = tuple(FORMS[kind].positions for kind in range(len(FORMS)))


@helper
def has_orientation(kind):
    """Whether the first four positions are a quaternion and the first three velocities an angular velocity."""
    return kind in (BALL, FREE)


@helper
def slides(kind):
    """Whether the child moves along the axis."""
    return kind in (SLIDER, SCREW)


@helper
def slide_of(kind, q, first, lead):
    """Displacement of the child along the axis [m] at the positions q[first], …; lead: of a screw [m/rad]."""
    return lead * q[first] if kind == SCREW else q[first]


@helper
def turn_of(kind, axis, second, q, first):
    """R_J at the positions q[first], …, as a quaternion; axes in the parent's frame at q = 0."""
    if kind in (HINGE, SCREW):
        return about_axis(axis, q[first])
    if kind == UNIVERSAL:
        return universal_turn(axis, second, q[first], q[first + 1])
    if has_orientation(kind):
        return quat_unit((q[first], q[first + 1], q[first + 2], q[first + 3]))
    return (1.0, 0.0, 0.0, 0.0)


@helper
def bent_axis(turn_p, first, second, angle):
    """The second axis of a universal joint in the world: it is turned about the first, and with the parent."""
    return rotate(turn_p, rotate(about_axis(first, angle), second))


@helper
def column_of(kind, k, axis, second, r_p, point, c, lead):
    """Column k of the motion subspace S of a joint at `point`, on a link whose centre of mass is at c; both are
    relative to O. The axes `axis` and `second` are in the world; r_p is the rotation matrix of the parent."""
    if kind == SLIDER:
        return joined((0.0, 0.0, 0.0), axis)
    if kind == BALL:
        return ball_column(k, r_p, point)
    if kind == FREE:
        return free_column(k, c)
    if kind == SCREW:
        return screw_column(axis, point, lead)
    return turning(axis if k == 0 else second, point)


@helper
def place_of(kind, way, theta, turn, axis, second, lead):
    """Positions of the axes [rad] or [m], three numbers, 0 where the joint has fewer axes; of a ball, θ.

    They follow from the displacement `way` along the axis, the quaternion `turn` of the child relative to the parent
    (1 at q = 0) and its rotation vector θ."""
    if kind == HINGE:
        return (hinge_place(theta, axis), 0.0, 0.0)
    if kind == SLIDER:
        return (way, 0.0, 0.0)
    if kind == SCREW:
        return (wound_angle(hinge_place(theta, axis), way, lead), 0.0, 0.0)
    if kind == UNIVERSAL:
        return universal_place(turn, axis, second)
    if kind == BALL:
        return theta
    return (0.0, 0.0, 0.0)
