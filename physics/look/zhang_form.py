"""An impact of two chains of links in Zhang's terms: W, M, d, A, H, I* and Δq̇, for impacts that have the paper's form.

Each of the two systems is a chain of links on hinges or sliders that a body of given motion, or the world, carries; or
such a body alone. Joints may have coordinates of either kind: what moves carries a chain by a joint in maximal ones.
Positions are counted from those of the impact, so that all q are 0 in its equations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.language import N_, _
from ..core.model import Array, IntArray, JointType, Model, movable
from ..impacts.zhang import Base, ExternalImpact, Link, Multibody, Point, external_impact
from .body_state import rotation
from .contact_law import tangents
from .step_record import Struck

JOINTS = {int(JointType.HINGE): "hinge", int(JointType.SLIDER): "slider"}


@dataclass(frozen=True, slots=True)
class ZhangForm:
    """The impact, and what its rows are."""

    joints: tuple[IntArray, IntArray]  #: the joints of both systems, outwards: rows of `Joints`
    impact: ExternalImpact


class _System(NamedTuple):
    """A chain, or a body of given motion alone."""

    bodies: tuple[int, ...]  #: the zero body first, -1 = the world
    joints: tuple[int, ...]  #: of the others, in their order


class _OtherForm(Exception):
    """Why an impact is none of the paper's."""


def zhang_form(model: Model, struck: Struck, restitution: Array) -> ZhangForm | str:
    """The impact in the paper's terms, with e (c,) of its contacts; or why it has another form."""
    contacts = struck.contacts
    try:
        if (contacts.limit >= 0).any():
            raise _OtherForm(N_("a limit of a joint takes part"))
        ends = [(_system(model, int(a)), _system(model, int(b)))
                for a, b in zip(contacts.body_a, contacts.body_b, strict=True)]
        first, second = ends[0]
        if any({first, second} != set(pair) for pair in ends) or first == second:
            raise _OtherForm(N_("more than two systems take part, or one hits itself"))
        systems, points = [_chain(model, struck, system) for system in (first, second)], []
        for k, (a, b) in enumerate(zip(contacts.body_a.tolist(), contacts.body_b.tolist(), strict=True)):
            inner, outer, sign = (a, b, 1.0) if ends[k][0] == first else (b, a, -1.0)
            points.append(Point(first.bodies.index(inner), second.bodies.index(outer), contacts.point[k],
                                sign * contacts.normal[k], float(restitution[k])))
        joints = [np.array(system.joints, np.int32) for system in (first, second)]
        return ZhangForm((joints[0], joints[1]), external_impact(systems[0], systems[1], points))
    except _OtherForm as reason:
        return _("This impact has not the form of Zhang's paper, two chains on hinges and sliders: {reason}.").format(
            reason=_(str(reason)))


def _system(model: Model, body: int) -> _System:
    """The system that a body belongs to, all of which joints connect; of whichever coordinates they are."""
    joints = model.joints
    if not movable(model.kind[body]):
        return _System((body,), ())
    members, rows = {body}, set()
    while True:
        found = {j for j, ends in enumerate(zip(joints.parent.tolist(), joints.child.tolist(), strict=True))
                 if not members.isdisjoint(ends)}
        if found == rows:
            break
        rows = found
        ends = {i for j in rows for i in (int(joints.parent[j]), int(joints.child[j]))}
        members |= {i for i in ends if i >= 0 and movable(model.kind[i])}
    if not rows:
        raise _OtherForm(N_("a free body takes part"))
    if len(rows) > len(members):
        raise _OtherForm(N_("a loop of joints takes part"))
    if not np.isin(joints.type[list(rows)], list(JOINTS)).all():
        raise _OtherForm(N_("a chain has a joint that is neither hinge nor slider"))
    if joints.armature[list(rows)].any():
        raise _OtherForm(N_("a joint has a rotor"))
    if (np.isfinite(joints.motor_speed[list(rows)]) & np.isinf(joints.motor_limit[list(rows)])).any():
        raise _OtherForm(N_("a motor keeps the speed of a joint whatever that takes"))
    return _outwards(model, members, rows)


def _outwards(model: Model, members: set[int], rows: set[int]) -> _System:
    """A chain in the order of its links."""
    carried_by: dict[int, list[int]] = {}
    for j in rows:
        parent = int(model.joints.parent[j])
        carried_by.setdefault(parent if parent in members else -2, []).append(j)
    if any(len(outer) > 1 for outer in carried_by.values()):
        raise _OtherForm(N_("a tree with branches takes part"))
    bodies, order, at = [int(model.joints.parent[carried_by[-2][0]])] if -2 in carried_by else [], [], -2
    while at in carried_by:
        (j,) = carried_by[at]
        at = int(model.joints.child[j])
        bodies.append(at)
        order.append(j)
    if len(order) < len(members):
        raise _OtherForm(N_("no body of given motion carries a chain at one of its ends"))
    return _System(tuple(bodies), tuple(order))


def _chain(model: Model, struck: Struck, system: _System) -> Multibody:
    bodies, joints = struck.bodies, model.joints
    pose, links, rates = _pose(*_place(struck, system.bodies[0])), [], []
    (v, w), (x, R) = _velocity(struck, system.bodies[0]), _place(struck, system.bodies[0])
    for i, j in zip(system.bodies[1:], system.joints, strict=True):
        parent, turn = int(joints.parent[j]), rotation(bodies.q[i])
        axis = _place(struck, parent)[1] @ joints.axis[j, 0]
        anchor = bodies.x[i] + turn @ joints.anchor_child[j]
        frame = np.column_stack([*tangents(axis), axis])
        now = _pose(anchor, frame)
        own = frame.T @ turn
        place = np.asarray(np.linalg.solve(pose, now), np.float64)
        hinge = joints.type[j] == JointType.HINGE
        links.append(Link("hinge" if hinge else "slider", place, float(model.mass[i]),
                          frame.T @ (bodies.x[i] - anchor), (own * model.inertia[i]) @ own.T))
        (v_c, w_c), (v_p, w_p) = _velocity(struck, i), _velocity(struck, parent)
        beyond = v_c + np.cross(w_c, anchor - bodies.x[i]) - v_p - np.cross(w_p, anchor - _place(struck, parent)[0])
        rates.append(float(axis @ (w_c - w_p if hinge else beyond)))
        pose = now
    return Multibody(Base(R.T, np.array(x), np.array(v), np.array(w)), tuple(links), np.zeros(len(links)),
                     np.array(rates))


def _place(struck: Struck, body: int) -> tuple[Array, Array]:
    """Centre and orientation of a body, or of the world."""
    return (struck.bodies.x[body], rotation(struck.bodies.q[body])) if body >= 0 else (np.zeros(3), np.eye(3))


def _velocity(struck: Struck, body: int) -> tuple[Array, Array]:
    """v of its centre and ω."""
    return (struck.velocities[body, :3], struck.velocities[body, 3:]) if body >= 0 else (np.zeros(3), np.zeros(3))


def _pose(x: Array, R: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, x
    return pose
