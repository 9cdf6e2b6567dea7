"""What the program knows of a type of joint: the record that every file of this folder fills for its type.

In maximal coordinates a joint is rows of J between a body a (the parent) and a body b (the child), see
`dynamics.constraints.axes` for the formulas of the kinds of rows:

    POINT, LINE, DOT, PITCH    what a joint keeps at zero
    SLIDE, TURN, BEND, SPIN    what it leaves free
    DRIVE                      a velocity of a joint in generalized coordinates
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.jit import helper
from ..core.model import Array, Joints, JointType

POINT, LINE, DOT, SLIDE, TURN, BEND, SPIN, DRIVE, PITCH = range(9)
WORLD_AXES = np.eye(3)
NONE = np.zeros(3)


class RowOf(NamedTuple):
    """One row of J; its vectors are in the parent's frame at q = 0."""

    kind: int        #: POINT …
    axis: int        #: which axis of its joint the row measures
    s: Array         #: (3,) see `AxisRows`
    c: Array = NONE  #: (3,)
    d: Array = NONE  #: (3,)


class JointForm(NamedTuple):
    """One type of joint."""

    type: JointType
    velocities: int        #: number of velocities
    positions: int         #: number of positions
    axes: int              #: unit vectors that a scene file gives: `axis` (1) or `axes` (2)
    amounts: int           #: numbers of `position` and `velocity` in a scene file
    ranges: int            #: pairs of `limits`
    angular: bool          #: whether positions are angles, in degrees in a scene file
    slides: bool           #: whether the child moves along the axis
    driven: bool           #: whether it can have a motor
    #: rows that joint j keeps at zero
    constraints: Callable[[Joints, int], list[RowOf]]
    #: rows that measure the motions that joint j leaves free
    free: Callable[[Joints, int], list[RowOf]]
    counts_turns: bool = False  #: whether in maximal coordinates its angle is known beyond half a turn


def triad(joints: Joints, j: int) -> tuple[Array, Array, Array]:
    """Unit vectors (t1, t2, axis), right-handed, with the first axis of joint j; the world's axes if it has none."""
    axis = joints.axis[j, 0]
    if not axis.any():
        return WORLD_AXES[0], WORLD_AXES[1], WORLD_AXES[2]
    across = np.cross(axis, WORLD_AXES[np.argmin(np.abs(axis))])
    t1 = np.asarray(across / np.linalg.norm(across), np.float64)
    return t1, np.asarray(np.cross(axis, t1), np.float64), axis


def point_rows() -> list[RowOf]:
    """Three rows: the joint's point is the same on both bodies."""
    return [RowOf(POINT, 0, e) for e in WORLD_AXES]


def no_rows(_joints: Joints, _j: int) -> list[RowOf]:
    return []


@helper
def about_axis(axis, angle):
    """Unit quaternion of the rotation by the angle [rad] about a unit axis."""
    s = math.sin(0.5 * angle)
    return (math.cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2])
