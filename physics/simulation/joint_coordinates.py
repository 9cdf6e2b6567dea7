"""Positions and velocities of joints as the poses and motions of their bodies give them."""

from ..core.jit import kernel
from ..dynamics.constraints.axes import joint_place, joint_speed


@kernel
def joint_coordinates(joints, bodies, place_out, speed_out):
    """Positions (j, 3) and velocities (j, 3) of the axes of all joints, [rad] or [m] and [rad/s] or [m/s]; of a ball
    its rotation vector in the parent's frame and its angular velocity in the world; 0 where a joint has fewer axes."""
    for j in range(len(joints.type)):
        place_out[j, 0], place_out[j, 1], place_out[j, 2] = joint_place(joints, j, bodies)
        speed_out[j, 0], speed_out[j, 1], speed_out[j, 2] = joint_speed(joints, j, bodies)
