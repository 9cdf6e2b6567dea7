"""From the joints of a scene file to the tables of the engine: Joints, and the forest of the generalized ones."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..core.model import NO_TREES, Array, BodyKind, IntArray, Joints, JointType, LinkTable, Trees
from ..core.state import JointState
from ..dynamics.trees.kinematics import (
    ANCHOR_CHILD,
    ANCHOR_PARENT,
    AXIS,
    BASE_Q,
    BASE_X,
    LEAD,
    MASS,
    MOMENTS,
    NUMBER_SIZE,
    REST,
)
from ..joints.table import FORMS, POSITIONS, VELOCITIES
from ..shapes import shapes as solid
from .schema import Joint, Motor


class Posed(NamedTuple):
    """The frames of the bodies as the scene is drawn, the world's last: row -1."""

    x: Array  #: (n + 1, 3) centre of mass [m], world frame
    R: Array  #: (n + 1, 3, 3) body frame -> world
    origin: Array  #: (n + 1, 3) origin of the body in the scene file [m], world frame


def make_joints(specs: list[Joint], number: dict[str, int], posed: Posed) -> Joints:
    """The table of the scene's joints; `number` is the row of a body by its name, -1 for the world."""
    rows = [_row(spec, number[spec.parent], number[spec.child], posed) for spec in specs]
    columns = [np.array(column) for column in zip(*rows, strict=True)] if rows else [np.zeros(0)] * len(Joints._fields)
    shapes = {"anchor_parent": (3,), "anchor_child": (3,), "rest": (4,), "axis": (2, 3), "lower": (2,), "upper": (2,),
              "spring_at": (2,)}
    whole = ("type", "parent", "child", "generalized", "collide")
    arrays: list[Any] = [
        np.ascontiguousarray(column, np.int32 if name in whole else np.float64).reshape(-1, *shapes.get(name, ()))
        for name, column in zip(Joints._fields, columns, strict=True)
    ]
    return Joints(*arrays)


def _row(spec: Joint, parent: int, child: int, posed: Posed) -> tuple:
    """One row of the table, in the order of its fields."""
    kind = JointType[spec.type.upper()]
    anchor = np.array(spec.anchor) if spec.anchor is not None else posed.origin[child]
    if kind == JointType.FREE:
        anchor = posed.x[child]
    to_parent, to_child = posed.R[parent].T, posed.R[child].T
    given = spec.axes or ((spec.axis, (0.0, 0.0, 0.0)) if spec.axis else ((0.0, 0.0, 0.0),) * 2)
    unit = math.pi / 180.0 if FORMS[kind].angular else 1.0
    lower, upper = np.full(2, -np.inf), np.full(2, np.inf)
    for k, (low, high) in enumerate(spec.limits or ()):
        lower[k], upper[k] = unit * low, unit * high
    spring_at = np.zeros(2)
    if spec.spring is not None:
        spring_at[: len(spec.spring.position)] = unit * np.array(spec.spring.position)
    motor = spec.motor or Motor()
    rest = solid.matrix_to_quat(to_parent @ posed.R[child])
    return (
        kind, parent, child, spec.coordinates == "generalized", spec.collide,
        to_parent @ (anchor - posed.x[parent]), to_child @ (anchor - posed.x[child]),
        np.array([1.0, 0.0, 0.0, 0.0]) if kind == JointType.FREE else rest, np.array(given) @ to_parent.T,
        lower, upper, spec.damping, spec.spring.stiffness if spec.spring else 0.0, spring_at, spec.armature,
        motor.torque, motor.speed if motor.speed is not None else np.nan,
        motor.limit if motor.limit is not None else np.inf, spec.restitution, (spec.pitch or 0.0) / (2.0 * math.pi),
    )


def with_free_roots(specs: list[Joint], names: list[str], dynamic: IntArray) -> tuple[list[Joint], list[str]]:
    """The joints and their names, with a free joint for every dynamic body that is the parent of a generalized joint
    and the child of none. dynamic (n,): whether each of the bodies `names` is dynamic."""
    joints = [spec for spec in specs if spec.coordinates == "generalized"]
    carried = {joint.child for joint in joints}
    free = {name for name, moves in zip(names, dynamic, strict=True) if moves}
    roots = dict.fromkeys(joint.parent for joint in joints if joint.parent in free - carried)
    given = [spec.name or f"joint {i + 1}" for i, spec in enumerate(specs)]
    return [*specs, *(Joint(type="free", child=root) for root in roots)], [*given, *(f"{r} (free)" for r in roots)]


def make_trees(joints: Joints, mass: Array, inertia: Array, posed: Posed, kind: IntArray) -> Trees:
    """The forest of the generalized joints, which must be one: parents first, trees one after the other.

    mass (n,) [kg], principal moments inertia (n, 3) [kg m2] and kind (n,) are those of the bodies; `posed` holds the
    poses of the bodies on which trees stand.
    """
    rows = np.flatnonzero(joints.generalized)
    if not len(rows):
        return NO_TREES
    of_child = {int(joints.child[j]): int(j) for j in rows}
    children: dict[int, list[int]] = {}
    for j in rows:
        children.setdefault(int(joints.parent[j]) if int(joints.parent[j]) in of_child else -1, []).append(int(j))
    order: list[int] = []
    start = [0]
    for root in children.pop(-1):
        waiting = [root]
        while waiting:  # depth first, so that a link stands close behind its parent
            order.append(waiting.pop())
            waiting += reversed(children.get(int(joints.child[order[-1]]), []))
        start.append(len(order))
    joint = np.array(order, np.int32)
    body = joints.child[joint]
    link_of_body = np.full(len(mass), -1, np.int32)
    link_of_body[body] = np.arange(len(order))
    above = joints.parent[joint]
    parent = np.where(above >= 0, link_of_body[above], -1).astype(np.int32)
    first_q, first_v = (_ends(np.array(sizes)[joints.type[joint]]) for sizes in (POSITIONS, VELOCITIES))
    dof_link = np.repeat(np.arange(len(order)), np.diff(first_v)).astype(np.int32)
    ground = joints.parent[joint[start[:-1]]]
    driven = np.flatnonzero((ground >= 0) & (kind[ground] == BodyKind.KINEMATIC))
    return Trees(
        body=body, joint=joint, parent=parent, first_q=first_q, first_v=first_v, link_of_body=link_of_body,
        dof_link=dof_link, dof_parent=_dof_parents(parent, first_v), start=np.array(start, np.int32),
        start_v=first_v[start],
        driven=np.column_stack([np.array(start)[driven], ground[driven], driven]).astype(np.int32),
        table=_table(joints, joint, parent, first_q, first_v, dof_link, mass, inertia, posed),
    )


def _table(joints: Joints, joint: IntArray, parent: IntArray, first_q: IntArray, first_v: IntArray, dof_link: IntArray,
           mass: Array, inertia: Array, posed: Posed) -> LinkTable:
    body = joints.child[joint]
    number = np.zeros((len(joint), NUMBER_SIZE))
    ground = np.where(parent < 0, joints.parent[joint], -1)  # body that carries the root of a tree, -1 = the world
    number[:, BASE_X : BASE_X + 3] = posed.x[ground]
    number[:, BASE_Q : BASE_Q + 4] = [solid.matrix_to_quat(posed.R[i]) for i in ground]
    number[:, ANCHOR_PARENT : ANCHOR_PARENT + 3] = joints.anchor_parent[joint]
    number[:, ANCHOR_CHILD : ANCHOR_CHILD + 3] = joints.anchor_child[joint]
    number[:, REST : REST + 4] = joints.rest[joint]
    number[:, AXIS : AXIS + 6] = joints.axis[joint].reshape(-1, 6)
    number[:, LEAD] = joints.lead[joint]
    number[:, MASS] = mass[body]
    number[:, MOMENTS : MOMENTS + 3] = inertia[body]
    index = np.column_stack([joints.type[joint], parent, first_q[:-1], first_v[:-1]]).astype(np.int32)
    before, armature = _dof_parents(parent, first_v), joints.armature[joint[dof_link]]
    return LinkTable(index, number, before, np.ascontiguousarray(armature))


def _ends(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _dof_parents(parent: IntArray, first_v: IntArray) -> IntArray:
    """(d,) for each velocity the one before it on the way to the root, -1 = none. The velocities of one joint follow
    each other as if links without mass were between them."""
    last = np.full(len(parent) + 1, -1, np.int32)  # the last velocity up to each link; last[-1]: none, of the ground
    found = np.full(first_v[-1], -1, np.int32)
    for link, above in enumerate(parent):
        before = last[above]
        for dof in range(first_v[link], first_v[link + 1]):
            found[dof] = before
            before = dof
        last[link] = before
    return found


def first_coordinates(specs: list[Joint], joints: Joints, trees: Trees, posed: Posed, velocity: Array, spin: Array
                      ) -> JointState:
    """q and v at the start. velocity [m/s] and spin [rad/s] (n, 3) are those of the bodies; free joints take theirs."""
    q, v = np.zeros(trees.first_q[-1]), np.zeros(trees.first_v[-1])
    for link, j in enumerate(trees.joint):
        spec, kind = specs[j], JointType(int(joints.type[j]))
        q_of = q[trees.first_q[link] : trees.first_q[link + 1]]
        v_of = v[trees.first_v[link] : trees.first_v[link + 1]]
        unit = math.pi / 180.0 if FORMS[kind].angular else 1.0
        position = unit * np.array(spec.position or np.zeros(3))
        if kind == JointType.FREE:
            body = int(trees.body[link])
            q_of[:4], q_of[4:] = solid.matrix_to_quat(posed.R[body]), posed.x[body]
            v_of[:3], v_of[3:] = spin[body], velocity[body]
        elif kind == JointType.BALL:
            to_parent = posed.R[joints.parent[j]].T  # a scene file states both in world axes
            q_of[:] = _turn(to_parent @ position)
            v_of[:] = to_parent @ np.array(spec.velocity or np.zeros(3))
        elif kind != JointType.FIXED:
            q_of[:] = position[: len(q_of)]
            v_of[:] = spec.velocity if spec.velocity is not None else 0.0
    return JointState(q, v)


def _turn(vector: Array) -> Array:
    """The unit quaternion (4,) of a rotation vector (3,) [rad]."""
    angle = float(np.linalg.norm(vector))
    return np.concatenate([[math.cos(0.5 * angle)], 0.5 * np.sinc(0.5 * angle / math.pi) * vector])
