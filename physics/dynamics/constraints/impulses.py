"""What joints pass on in an impact: the impulse through every joint of a tree, from the change of its velocities, and
through every joint in maximal coordinates.

From the tips to the root, link by link, all about the same point:  ι = I ΔV - (impulses on the link) + Σ ι of its
children. An impulse at the centre of percussion of a hinged rod leaves its hinge without any.
"""

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, JointType, Trees
from ...core.report import JointImpulse
from ...core.spatial import add6, axpy6, joined, sub6
from ...core.state import Bodies
from ...core.sym3 import put_six, six, three
from ...core.vec import add, cross, row, sub
from ...shapes.shapes import quat_to_matrix
from ..trees.kinematics import FIRST_V, ORIGIN, PARENT, POINT, A, F, S, TreeWork, X, last_dof
from ..trees.tree import ZERO6, momentum_of, pushed_forces
from .axes import AxisRows
from .reactions import Reactions


@helper
def gather(index, link, point_out, force_out, moment_out):
    """Sum the F that links need from the tips to the root, and tell it about each joint's point."""
    for l in range(index.shape[0] - 1, -1, -1):
        f, p = six(link, l, F), int(index[l, PARENT])
        if p >= 0:
            put_six(link, p, F, add6(six(link, p, F), f))
        at, push = three(link, l, POINT), (f[3], f[4], f[5])
        turn = sub((f[0], f[1], f[2]), cross(at, push))
        point = add(at, three(link, l, ORIGIN))
        for j in range(3):
            point_out[l, j], force_out[l, j], moment_out[l, j] = point[j], push[j], turn[j]


@kernel
def pass_on(trees, change, impulse, moment, work, point_out, force_out, moment_out):
    """Impulse and moment (links, 3) that every joint exerts on its link, about the joint's point (links, 3), where the
    joint velocities change by `change` (n_v,) under impulses (n, 3) at the centres of mass and moments (n, 3) about
    them. Needs the work of `place_links`."""
    index, link, dof = trees.table.index, work.link, work.dof
    for l in range(index.shape[0]):
        p, i = int(index[l, PARENT]), int(trees.body[l])
        a = six(link, p, A) if p >= 0 else ZERO6
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            a = axpy6(change[d], six(dof, d, S), a)
        put_six(link, l, A, a)
        f = row(impulse, i)
        n = add(row(moment, i), cross(sub(three(link, l, X), three(link, l, ORIGIN)), f))
        put_six(link, l, F, sub6(momentum_of(link, l, a), joined(n, f)))
    gather(index, link, point_out, force_out, moment_out)


@kernel
def transmit(trees, rates, force, torque, work, point_out, force_out, moment_out):
    """Force and moment (links, 3) that every joint exerts on its link, about the joint's point (links, 3), at the joint
    accelerations `rates` (n_v,) under the forces (n, 3) at the centres of mass and torques (n, 3) about them, weight
    included: RNEA before it is projected on the joints' axes [RBDA table 5.1]. Needs the work of `place_links`."""
    pushed_forces(trees.table, trees.body, force, torque, rates, work.link, work.dof)
    gather(trees.table.index, work.link, point_out, force_out, moment_out)


def joint_impulses(
    trees: Trees, change: Array, impulse: Array, moment: Array, work: TreeWork
) -> tuple[JointImpulse, ...]:
    """What each joint of the trees that an impact moves passes on; arguments as those of `pass_on`."""
    if not len(change):
        return ()
    point, force, turn = np.zeros((3, len(trees.body), 3))
    pass_on(trees, change, impulse, moment, work, point, force, turn)
    found = []
    for tree in range(len(trees.start) - 1):
        first, last = int(trees.start[tree]), int(trees.start[tree + 1])
        bodies = trees.body[first:last]
        if not (change[trees.start_v[tree] : trees.start_v[tree + 1]].any() or impulse[bodies].any()):
            continue
        found += [
            JointImpulse(int(trees.joint[l]), *(tuple(a[l].tolist()) for a in (point, force, turn)))
            for l in range(first, last) if trees.table.index[l, 0] != JointType.FREE
        ]
    return tuple(found)


def reaction_impulses(reactions: Reactions, lam: Array, bodies: Bodies) -> tuple[JointImpulse, ...]:
    """What joints in maximal coordinates that an impact moves pass on to their child, from the impulses lam (m,) of
    their rows: JᵀΛ is that at its centre of mass."""
    found = []
    for j in dict.fromkeys(reactions.rows.joint[lam != 0.0].tolist()):
        rows = np.flatnonzero(reactions.rows.joint == j)
        child, push, turn = int(reactions.rows.b[rows[0]]), *np.split(lam[rows] @ reactions.J[rows, 6:], 2)
        arm = quat_to_matrix(bodies.q[child]) @ reactions.rows.anchor_b[rows[0]]
        moment = turn - np.cross(arm, push)
        found.append(JointImpulse(j, *(tuple(a.tolist()) for a in (bodies.x[child] + arm, push, moment))))
    return tuple(found)


def add_to_bodies(rows: AxisRows, J: Array, lam: Array, impulse: Array, moment: Array) -> None:
    """Add Jᵀλ, λ (m,) and J (m, 12) of rows between bodies, to the impulses (n, 3) at the bodies' centres of mass and
    the moments (n, 3) about them."""
    for ends, side in ((rows.a, J[:, :6]), (rows.b, J[:, 6:])):
        at = np.flatnonzero(ends >= 0)
        np.add.at(impulse, ends[at], lam[at, None] * side[at, :3])
        np.add.at(moment, ends[at], lam[at, None] * side[at, 3:])
