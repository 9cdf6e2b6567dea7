"""What scripts and looks ask of trees of joints: C, forward dynamics, factors of H, Jacobians   [RBDA ch. 5-7].

    H q̈ + C = τ     H inertia, see `trees/mass_matrix.py`, C bias force (gravity, velocity products), τ joint forces

No step calls these kernels; those that `look.joint_space` calls are compiled ahead.
"""


from ...core.jit import helper, kernel
from ...core.spatial import add6, dot6
from ...core.sym3 import put_six, six, three
from ...core.vec import add, cross, sub
from .kinematics import (
    FIRST_V,
    ORIGIN,
    PARENT,
    A,
    F,
    S,
    V,
    last_dof,
    move,
    place,
    point_velocity,
)
from .mass_matrix import unpacked
from .tree import ZERO6, answer, eliminate, last_velocity, needed_forces, respond


@helper
def lifted(gravity):
    """The acceleration of the ground that acts on the links as gravity does."""
    return (0.0, 0.0, 0.0, -gravity[0], -gravity[1], -gravity[2])


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
def articulate(space, q, none):
    """I^A of every link at the positions q, for `answer_impulse`. none (n_v,) is zeros."""
    table, work, _ = unpacked(space)
    place(table, q, work.link, work.dof)
    eliminate(table, none, work.link, work.dof, work.articulated)


@kernel
def answer_impulse(space, l, wrench, none, rates_out, change_out):
    """Δq̇ (n_v,) of an impulse (6,) on link l, spatial about its O, and Δv (links, 6) of all links about theirs. The
    link that is struck answers by ι = I^A Δv, the others of its tree follow [RBDA 11.56]. Call `articulate` first."""
    table, work, start = unpacked(space)
    link = work.link
    tree = 0
    while start[tree + 1] <= l:
        tree += 1
    first, last = int(start[tree]), int(start[tree + 1])
    for d in range(work.dof.shape[0]):
        rates_out[d] = 0.0
    respond(table, first, last, l, (wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5]), link, work.dof,
            none, rates_out)
    for k in range(link.shape[0]):
        put_six(change_out, k, 0, six(link, k, A) if first <= k < last else ZERO6)


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
