"""The equation of motion of trees in the space of their joints, at an instant, with what touches them:

    H q̈ + C = τ + T λ,    ζ̇ = M λ + d,  M = Tᵀ H⁻¹ T                                        [RBDA 11.34 - 11.36]

H i j = 0 where neither of the joints i and j carries the other: the sparsity that branches induce [RBDA §6.5]. Of a
link J gives the angular velocity and the velocity of its centre of mass from q̇, with the velocity-product term J̇ q̇.
"""

from dataclasses import dataclass

import numpy as np

from ..core.language import N_, _
from ..core.model import Array, BoolArray, IntArray
from ..dynamics.trees.joint_space import inverse_dynamics, point_acceleration, point_jacobian
from ..dynamics.trees.kinematics import standing
from ..dynamics.trees.mass_matrix import joint_space, mass_matrix
from ..problem.contact_snapshot import ContactSnapshot
from ..simulation.simulation import Simulation

MOST_VELOCITIES = 400  #: of which H is shown


@dataclass(frozen=True, slots=True)
class TreeView:
    """All trees of a scene, with n velocities q̇."""

    joint: IntArray      #: (n,) the joint that each velocity belongs to
    number: IntArray     #: (n,) which of its velocities: 0, 1, ...
    H: Array             #: (n, n)
    carries: BoolArray   #: (n, n) where H may differ from 0: one of the two joints carries the other, or it is the same
    C: Array             #: (n,)
    T: Array             #: (n, c) of the contacts that rest on links; c = 0 where there are none, or too many
    M: Array             #: (c, c) of these contacts, free bodies included
    bodies: IntArray     #: (c, 2) whose contacts they are
    link: int            #: the body of J, -1 = none
    J: Array             #: (6, n) of its centre of mass: angular velocity, then velocity, world axes
    turning: Array       #: (3,) J̇ q̇ of the velocity [m/s2]


def look_at_trees(sim: Simulation, body: int, contacts: ContactSnapshot | None) -> TreeView | str:
    """The trees as they are, and J of a body where it is a link; or why there is nothing to see. contacts: those that
    rest, None where they are not to be shown."""
    model, (q, v) = sim.model, sim.state.joints
    trees, n = model.trees, len(v)
    if n == 0:
        return N_("No joint of this scene is in generalized coordinates: there is no joint space to look into.")
    if n > MOST_VELOCITIES:
        return _("The trees have {n} velocities; H is shown for {most} at most.").format(n=n, most=MOST_VELOCITIES)
    space = joint_space(trees, standing(model, float(sim.state.t[0]), sim.state.bodies))
    H, C, J, turning = np.zeros((n, n)), np.zeros(n), np.zeros((6, n)), np.zeros(3)
    mass_matrix(space, q, H)
    inverse_dynamics(space, model.gravity, q, v, np.zeros(n), C)
    link = int(trees.link_of_body[body]) if 0 <= body < len(trees.link_of_body) else -1
    if link >= 0:
        place = np.ascontiguousarray(sim.state.bodies.x[body])
        point_jacobian(space, link, place, J)
        point_acceleration(space, link, place, q, v, np.zeros(n), turning)
    T, M, bodies = np.zeros((n, 0)), np.zeros((0, 0)), np.zeros((0, 2), np.int32)
    if contacts is not None and len(contacts.key):
        rows = contacts.T[::3, -n:]
        on = np.flatnonzero(rows.any(axis=1))
        T, M = rows[on].T.copy(), contacts.M[::3, ::3][np.ix_(on, on)]
        bodies = np.column_stack([contacts.body_a, contacts.body_b])[on]
    first = np.array(trees.first_v)[trees.dof_link]
    return TreeView(np.array(trees.joint)[trees.dof_link].astype(np.int32), (np.arange(n) - first).astype(np.int32), H,
                    carried(trees.dof_parent), C, T, M, bodies, body if link >= 0 else -1, J, turning)


def carried(before: IntArray) -> BoolArray:
    """(n, n): whether one of two velocities is on the way from the other to the root. before: `Trees.dof_parent`."""
    found = np.eye(len(before), dtype=bool)
    for d, k in enumerate(before.tolist()):
        if k >= 0:
            found[d] |= found[k]
    return found | found.T
