"""An impact of two chains of links in Zhang's terms: W, M, d, A, H, I* and Δq̇, for impacts that have the paper's form.

Each of the two systems is a chain of links on hinges or sliders that a body which does not move, or the world, carries;
or such a body alone. Positions are counted from those of the impact, so that all q are 0 in its equations.
"""

from dataclasses import dataclass

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
        systems, points = [_chain(model, struck, bodies) for bodies in (first, second)], []
        for k, (a, b) in enumerate(zip(contacts.body_a.tolist(), contacts.body_b.tolist(), strict=True)):
            inner, outer, sign = (a, b, 1.0) if ends[k][0] == first else (b, a, -1.0)
            points.append(Point(first.index(inner), second.index(outer), contacts.point[k],
                                sign * contacts.normal[k], float(restitution[k])))
        joints = [np.array([model.trees.joint[model.trees.link_of_body[i]] for i in bodies[1:]], np.int32)
                  for bodies in (first, second)]
        return ZhangForm((joints[0], joints[1]), external_impact(systems[0], systems[1], points))
    except _OtherForm as reason:
        return _("This impact has not the form of Zhang's paper, two chains on hinges and sliders: {reason}.").format(
            reason=_(str(reason)))


def _system(model: Model, body: int) -> tuple[int, ...]:
    """The bodies of a system, from its zero body (-1: the world) outwards."""
    trees, joints = model.trees, model.joints
    if not movable(model.kind[body]):
        return (body,)
    link = int(trees.link_of_body[body]) if len(trees.link_of_body) else -1
    if link < 0:
        raise _OtherForm(N_("a free body takes part"))
    tree = int(np.searchsorted(trees.start, link, side="right")) - 1
    links = np.arange(trees.start[tree], trees.start[tree + 1])
    if (trees.parent[links[1:]] != links[:-1]).any():
        raise _OtherForm(N_("a tree with branches takes part"))
    rows = trees.joint[links]
    if not np.isin(joints.type[rows], list(JOINTS)).all():
        raise _OtherForm(N_("a chain has a joint that is neither hinge nor slider"))
    if joints.armature[rows].any():
        raise _OtherForm(N_("a joint has a rotor"))
    return (int(joints.parent[rows[0]]), *trees.body[links].tolist())


def _chain(model: Model, struck: Struck, system: tuple[int, ...]) -> Multibody:
    bodies, joints, trees = struck.bodies, model.joints, model.trees
    zero = system[0]
    x, R = (bodies.x[zero], rotation(bodies.q[zero])) if zero >= 0 else (np.zeros(3), np.eye(3))
    v, w = (struck.velocities[zero, :3], struck.velocities[zero, 3:]) if zero >= 0 else (np.zeros(3), np.zeros(3))
    pose, links, rates = _pose(x, R), [], []
    for i in system[1:]:
        link = int(trees.link_of_body[i])
        j = int(trees.joint[link])
        parent, turn = int(joints.parent[j]), rotation(bodies.q[i])
        axis = (rotation(bodies.q[parent]) if parent >= 0 else np.eye(3)) @ joints.axis[j, 0]
        anchor = bodies.x[i] + turn @ joints.anchor_child[j]
        frame = np.column_stack([*tangents(axis), axis])
        now = _pose(anchor, frame)
        own = frame.T @ turn
        place = np.asarray(np.linalg.solve(pose, now), np.float64)
        links.append(Link("hinge" if joints.type[j] == JointType.HINGE else "slider", place,
                          float(model.mass[i]), frame.T @ (bodies.x[i] - anchor), (own * model.inertia[i]) @ own.T))
        rates.append(float(struck.joints.v[trees.first_v[link]]))
        pose = now
    return Multibody(Base(R.T, np.array(x), np.array(v), np.array(w)), tuple(links), np.zeros(len(links)),
                     np.array(rates))


def _pose(x: Array, R: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, x
    return pose
