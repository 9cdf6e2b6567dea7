"""The joint space of trees, called from Python: H, C, forward dynamics, Jacobians   [RBDA ch. 5-7].

    H q̈ + C = τ     H inertia, C bias force (gravity, velocity products), τ joint forces

All that a call reads and keeps of the trees stands in one array, their `joint_space`. Passing tuples of arrays from
Python to a kernel takes longer than the work on a small tree.
"""

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, IntArray, LinkTable, Trees
from ...core.spatial import add6, dot6
from ...core.sym3 import put_six, six, three
from ...core.vec import add, cross, sub
from .kinematics import (
    DOF_SIZE,
    FIRST_V,
    INERTIA,
    LINK_SIZE,
    NUMBER_SIZE,
    ORIGIN,
    PARENT,
    A,
    F,
    S,
    TreeWork,
    V,
    last_dof,
    move,
    place,
    point_velocity,
)
from .tree import ZERO6, answer, eliminate, last_velocity, momentum_of, needed_forces, respond


def joint_space(trees: Trees) -> Array:
    """A new array with all that the functions below need of these trees, and room for what they keep: numbers of links,
    velocities and trees, then what `unpacked` finds in it."""
    links, dofs = len(trees.body), len(trees.dof_link)
    table = trees.table
    return np.concatenate([
        [links, dofs, len(trees.start)], table.number.ravel(), table.armature,
        _as_floats(table.index), _as_floats(table.before), _as_floats(trees.start),
        np.zeros(links * (LINK_SIZE + 36) + dofs * DOF_SIZE)])


def _as_floats(a: IntArray) -> Array:
    """The same bits as floats, padded to a whole number of them."""
    return np.append(a.ravel(), np.zeros(a.size % 2, np.int32)).astype(np.int32).view(np.float64)


@helper
def unpacked(space):
    """Table of the links, scratch, and first link of every tree: views of a `joint_space`."""
    links, dofs, starts = int(space[0]), int(space[1]), int(space[2])
    a = 3
    number = space[a : a + links * NUMBER_SIZE].reshape((links, NUMBER_SIZE))
    a += links * NUMBER_SIZE
    armature = space[a : a + dofs]
    a += dofs
    index = space[a : a + 2 * links].view(np.int32).reshape((links, 4))
    a += 2 * links
    before = space[a : a + (dofs + 1) // 2].view(np.int32)[:dofs]
    a += (dofs + 1) // 2
    start = space[a : a + (starts + 1) // 2].view(np.int32)[:starts]
    a += (starts + 1) // 2
    link = space[a : a + links * LINK_SIZE].reshape((links, LINK_SIZE))
    a += links * LINK_SIZE
    dof = space[a : a + dofs * DOF_SIZE].reshape((dofs, DOF_SIZE))
    a += dofs * DOF_SIZE
    articulated = space[a:].reshape((links, 36))
    return LinkTable(index, number, before, armature), TreeWork(link, dof, articulated), start


@helper
def lifted(gravity):
    """The acceleration of the ground that acts on the links as gravity does."""
    return (0.0, 0.0, 0.0, -gravity[0], -gravity[1], -gravity[2])


@kernel
def mass_matrix(space, q, H_out):
    """CRBA: H (n_v, n_v) at the positions q; entries of velocities on different branches are 0   [RBDA table 6.2]."""
    table, work, _ = unpacked(space)
    index, before, link, dof = table.index, table.before, work.link, work.dof
    place(table, q, link, dof)
    H_out[:] = 0.0
    for l in range(index.shape[0] - 1, -1, -1):
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            f = momentum_of(link, l, six(dof, d, S))
            H_out[d, d] = dot6(six(dof, d, S), f) + table.armature[d]
            k = int(before[d])
            while k >= 0:
                H_out[d, k] = dot6(six(dof, k, S), f)
                H_out[k, d] = H_out[d, k]
                k = int(before[k])
        p = int(index[l, PARENT])
        if p >= 0:
            for j in range(10):
                link[p, INERTIA + j] += link[l, INERTIA + j]  # that of its whole subtree


@kernel
def inverse_dynamics(space, gravity, q, v, rates, tau_out):
    """RNEA: the joint forces τ (n_v,) that make the accelerations `rates` (n_v,) = v̇; with rates 0 that is C."""
    table, work, _ = unpacked(space)
    index, link, dof = table.index, work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    needed_forces(table, lifted(gravity), rates, link, dof)
    for l in range(index.shape[0] - 1, -1, -1):
        f = six(link, l, F)
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            tau_out[d] = dot6(six(dof, d, S), f) + table.armature[d] * rates[d]
        p = int(index[l, PARENT])
        if p >= 0:
            put_six(link, p, F, add6(six(link, p, F), f))


@kernel
def forward_dynamics(space, gravity, q, v, tau, added, rates_out):
    """ABA: the accelerations v̇ (n_v,) under the joint forces τ (n_v,). added (n_v,) >= 0 is added to H's diagonal."""
    table, work, _ = unpacked(space)
    link, dof = work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    for d in range(dof.shape[0]):
        rates_out[d] = 0.0
    needed_forces(table, lifted(gravity), rates_out, link, dof)
    eliminate(table, added, link, dof, work.articulated)
    answer(table, 0, link.shape[0], tau, link, dof, rates_out)


@kernel
def factor_matrix(before, H_in_out):
    """H = Lᵀ D L in place without fill-in: L below the diagonal, D on it   [RBDA table 6.3]."""
    for k in range(len(before) - 1, -1, -1):
        i = int(before[k])
        while i >= 0:
            a = H_in_out[k, i] / H_in_out[k, k]
            j = i
            while j >= 0:
                H_in_out[i, j] -= a * H_in_out[k, j]
                j = int(before[j])
            H_in_out[k, i] = a
            i = int(before[i])


@kernel
def solve_matrix(before, factors, x_in_out):
    """x = H⁻¹ x (n_v,) with what `factor_matrix` left   [RBDA table 6.5]."""
    for i in range(len(before) - 1, -1, -1):
        j = int(before[i])
        while j >= 0:
            x_in_out[j] -= factors[i, j] * x_in_out[i]
            j = int(before[j])
    for i in range(len(before)):
        x_in_out[i] /= factors[i, i]
        j = int(before[i])
        while j >= 0:
            x_in_out[i] -= factors[i, j] * x_in_out[j]
            j = int(before[j])


@kernel
def apparent_inverse_inertia(space, l, none, rates, inverse_out):
    """J H⁻¹ Jᵀ (6, 6) of link l: its change of velocity per spatial impulse on it, the inverse of its articulated-body
    inertia within the whole tree, world axes about its O   [RBDA 11.56]. Call `forward_dynamics` at q first."""
    table, work, start = unpacked(space)
    tree = 0
    while start[tree + 1] <= l:
        tree += 1
    for j in range(6):
        wrench = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0,
                  1.0 if j == 3 else 0.0, 1.0 if j == 4 else 0.0, 1.0 if j == 5 else 0.0)
        respond(table, int(start[tree]), int(start[tree + 1]), l, wrench, work.link, work.dof, none,
                rates)
        for i in range(6):
            inverse_out[i, j] = work.link[l, A + i]


@kernel
def point_jacobian(space, l, point, J_out):
    """J (6, n_v): angular velocity and velocity of a world point of link l per joint velocity, world axes. At the
    positions of the last call of `forward_dynamics` or `inverse_dynamics`."""
    table, work, _ = unpacked(space)
    link, dof = work.link, work.dof
    J_out[:] = 0.0
    arm = sub((point[0], point[1], point[2]), three(link, l, ORIGIN))
    d = last_velocity(table.index, l, dof.shape[0])
    while d >= 0:
        s = six(dof, d, S)
        v = point_velocity(s, arm)
        for j in range(3):
            J_out[j, d] = s[j]
            J_out[3 + j, d] = v[j]
        d = int(table.before[d])


@kernel
def point_acceleration(space, l, point, q, v, rates, acceleration_out):
    """Acceleration (3,) of a world point fixed in link l at v̇ = rates [m/s2]; at rates 0 the velocity-product part J̇ v.

    p̈ = a_O + ω̇ × p + ω × ṗ   (a_O: the spatial acceleration's linear part)
    """
    table, work, _ = unpacked(space)
    link, dof = work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    needed_forces(table, ZERO6, rates, link, dof)
    arm = sub((point[0], point[1], point[2]), three(link, l, ORIGIN))
    velocity = six(link, l, V)
    w = (velocity[0], velocity[1], velocity[2])
    a = add(point_velocity(six(link, l, A), arm), cross(w, point_velocity(velocity, arm)))
    for j in range(3):
        acceleration_out[j] = a[j]
