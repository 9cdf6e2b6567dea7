"""Dynamics of trees: RNEA, CRBA, ABA, and what impacts and contacts need of them   [RBDA ch. 5-7, 11.5].

    H q̈ + C = τ     H inertia, C bias force (gravity, velocity products), τ joint forces

Everything stands in world axes about O (see `kinematics`), where inertias add up without being transformed. A joint of
several velocities is eliminated column by column, like a chain of joints with massless links between.

ABA in this form: with all q̈ = 0 the links need the forces f (that is RNEA); then H q̈ = τ - C is solved by elimination
from the tips to the root, which is what articulated-body inertias are:

    U = I^A S,  D = S·U,  u = τ - S·p^A;   I^A_parent += I^A - U Uᵀ/D,  p^A_parent += p^A + U u/D
    q̈ = (u - U·a)/D,  a = a_parent + S q̈   from the root to the tips
"""

from contactlab.physics.dynamics.kinematics import (
    FIRST_V,
    INERTIA,
    ORIGIN,
    PARENT,
    RATE,
    A,
    C,
    D,
    F,
    S,
    U,
    V,
    X,
    get3,
    last_dof,
    move,
    place,
    point_velocity,
)
from contactlab.physics.jit import helper, kernel
from contactlab.physics.spatial import (
    add6,
    axpy6,
    cross_force,
    dot6,
    get6,
    inertia_times,
    joined,
    put6,
    sub6,
)
from contactlab.physics.vec import add, cross, row, sub

ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@helper
def momentum_of(link, l, v):
    """I v of link l"""
    return inertia_times(link[l, INERTIA], get3(link, l, INERTIA + 1), get6(link, l, INERTIA + 4), v)


# ------------------------------------------------------------------------------------------------- inverse dynamics
@helper
def needed_forces(table, base, rates, link, dof):
    """F = I A + V ×* I V of every link at the joint accelerations `rates`, and its A; `base` is the ground's
    acceleration, which gravity makes -g   [RBDA table 5.1]."""
    index = table.index
    for l in range(index.shape[0]):
        p = int(index[l, PARENT])
        a = get6(link, l, C)
        a = add6(a, get6(link, p, A)) if p >= 0 else add6(a, base)
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            a = axpy6(rates[d], get6(dof, d, S), a)
        v = get6(link, l, V)
        put6(link, l, A, a)
        put6(link, l, F, add6(momentum_of(link, l, a), cross_force(v, momentum_of(link, l, v))))


@helper
def lifted(gravity):
    """The acceleration of the ground that acts on the links as gravity does."""
    return (0.0, 0.0, 0.0, -gravity[0], -gravity[1], -gravity[2])


@kernel
def inverse_dynamics(table, gravity, q, v, rates, work, tau_out):
    """RNEA: the joint forces τ (n_v,) that make the accelerations `rates` (n_v,) = v̇; with rates 0 that is C."""
    index, link, dof = table.index, work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    needed_forces(table, lifted(gravity), rates, link, dof)
    for l in range(index.shape[0] - 1, -1, -1):
        f = get6(link, l, F)
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            tau_out[d] = dot6(get6(dof, d, S), f) + table.armature[d] * rates[d]
        p = int(index[l, PARENT])
        if p >= 0:
            put6(link, p, F, add6(get6(link, p, F), f))


# --------------------------------------------------------------------------------------------------- mass matrix
@kernel
def mass_matrix(table, q, work, H_out):
    """CRBA: H (n_v, n_v) at the positions q; entries of velocities on different branches are 0   [RBDA table 6.2].

    `work` keeps the inertias of whole subtrees in place of those of the links."""
    index, before, link, dof = table.index, table.before, work.link, work.dof
    place(table, q, link, dof)
    H_out[:] = 0.0
    for l in range(index.shape[0] - 1, -1, -1):
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            f = momentum_of(link, l, get6(dof, d, S))
            H_out[d, d] = dot6(get6(dof, d, S), f) + table.armature[d]
            k = int(before[d])
            while k >= 0:
                H_out[d, k] = dot6(get6(dof, k, S), f)
                H_out[k, d] = H_out[d, k]
                k = int(before[k])
        p = int(index[l, PARENT])
        if p >= 0:
            for j in range(10):
                link[p, INERTIA + j] += link[l, INERTIA + j]


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


# ------------------------------------------------------------------------------------------- articulated bodies
@helper
def spread_inertia(link, l, articulated):
    """The 6 x 6 inertia of link l: [[I_O, [h]×], [[h]×ᵀ, m 1]], h = m c"""
    m, h, s = link[l, INERTIA], get3(link, l, INERTIA + 1), get6(link, l, INERTIA + 4)
    put6(articulated, l, 0, (s[0], s[1], s[2], 0.0, -h[2], h[1]))
    put6(articulated, l, 6, (s[1], s[3], s[4], h[2], 0.0, -h[0]))
    put6(articulated, l, 12, (s[2], s[4], s[5], -h[1], h[0], 0.0))
    put6(articulated, l, 18, (0.0, h[2], -h[1], m, 0.0, 0.0))
    put6(articulated, l, 24, (-h[2], 0.0, h[0], 0.0, m, 0.0))
    put6(articulated, l, 30, (h[1], -h[0], 0.0, 0.0, 0.0, m))


@helper
def eliminate(table, added, link, dof, articulated):
    """U and D of every velocity and I^A of every link. added (n_v,) goes to the diagonal of H beside the armature.

    A velocity that moves no inertia at all (a tip without mass) has D = 0 and gets 1/D = 0: it keeps its rate."""
    index = table.index
    for l in range(index.shape[0]):
        spread_inertia(link, l, articulated)
    for l in range(index.shape[0] - 1, -1, -1):
        first = int(index[l, FIRST_V])
        for d in range(last_dof(index, l, dof.shape[0]) - 1, first - 1, -1):
            s = get6(dof, d, S)
            for i in range(6):
                dof[d, U + i] = dot6(get6(articulated, l, 6 * i), s)
            u = get6(dof, d, U)
            value = dot6(s, u) + table.armature[d] + added[d]
            dof[d, D] = 1.0 / value if value > 0.0 else 0.0
            for i in range(6):
                factor = -dof[d, D] * dof[d, U + i]
                put6(articulated, l, 6 * i, axpy6(factor, u, get6(articulated, l, 6 * i)))
        p = int(index[l, PARENT])
        if p >= 0:
            for j in range(36):
                articulated[p, j] += articulated[l, j]


@helper
def answer(table, first, last, tau, link, dof, rates_out):
    """rates = H⁻¹ (τ - Σ Jᵀ F) of the links first … last - 1, which are whole trees. F, the forces that the links need,
    is overwritten by those that their subtrees need of the joint when it yields; A by the accelerations."""
    index = table.index
    for l in range(last - 1, first - 1, -1):
        f = get6(link, l, F)
        for d in range(last_dof(index, l, dof.shape[0]) - 1, index[l, FIRST_V] - 1, -1):
            u = tau[d] - dot6(get6(dof, d, S), f)
            dof[d, RATE] = u
            f = axpy6(u * dof[d, D], get6(dof, d, U), f)
        p = int(index[l, PARENT])
        if p >= 0:
            put6(link, p, F, add6(get6(link, p, F), f))
    for l in range(first, last):
        p = int(index[l, PARENT])
        a = ZERO6
        if p >= 0:
            a = get6(link, p, A)
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            rate = (dof[d, RATE] - dot6(get6(dof, d, U), a)) * dof[d, D]
            rates_out[d] = rate
            a = axpy6(rate, get6(dof, d, S), a)
        put6(link, l, A, a)


@kernel
def forward_dynamics(table, gravity, q, v, tau, added, work, rates_out):
    """ABA: the accelerations v̇ (n_v,) under the joint forces τ (n_v,). added (n_v,) >= 0 is added to H's diagonal."""
    link, dof = work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    for d in range(dof.shape[0]):
        rates_out[d] = 0.0
    needed_forces(table, lifted(gravity), rates_out, link, dof)
    eliminate(table, added, link, dof, work.articulated)
    answer(table, 0, link.shape[0], tau, link, dof, rates_out)


@helper
def wrench_at(link, l, point, f):
    """The spatial force of a force f at a world point, about link l's O."""
    return joined(cross(sub(point, get3(link, l, ORIGIN)), f), f)


@helper
def pushed_forces(table, body, force, torque, rates, link, dof):
    """F of every link at v̇ = 0 under the forces (n, 3) and torques about the centre of mass (n, 3) on the bodies."""
    needed_forces(table, ZERO6, rates, link, dof)
    for l in range(link.shape[0]):
        i = int(body[l])
        f = row(force, i)
        n = add(row(torque, i), cross(sub(get3(link, l, X), get3(link, l, ORIGIN)), f))
        put6(link, l, F, sub6(get6(link, l, F), joined(n, f)))


@helper
def respond(table, first, last, l, wrench, link, dof, none, rates_out):
    """Change of the velocities (n_v,) of the tree of links first … last - 1 when an impulse (spatial, about O) acts on
    its link l; needs what `eliminate` left. none (n_v,) is zeros."""
    for k in range(first, last):
        put6(link, k, F, ZERO6)
    put6(link, l, F, sub6(ZERO6, wrench))
    answer(table, first, last, none, link, dof, rates_out)


@kernel
def apparent_inverse_inertia(trees, l, work, none, rates, inverse_out):
    """J H⁻¹ Jᵀ (6, 6) of link l: its change of velocity per spatial impulse on it, the inverse of its articulated-body
    inertia within the whole tree, world axes about its O   [RBDA 11.56]. Call `forward_dynamics` at q first."""
    tree = 0
    while trees.start[tree + 1] <= l:
        tree += 1
    for j in range(6):
        wrench = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0,
                  1.0 if j == 3 else 0.0, 1.0 if j == 4 else 0.0, 1.0 if j == 5 else 0.0)
        respond(trees.table, int(trees.start[tree]), int(trees.start[tree + 1]), l, wrench, work.link, work.dof, none,
                rates)
        for i in range(6):
            inverse_out[i, j] = work.link[l, A + i]


# ------------------------------------------------------------------------------------------------ single points
@helper
def last_velocity(index, l, dofs):
    """The last velocity of link l, or of its nearest ancestor that has any; -1 = nothing moves it."""
    while l >= 0:
        end = last_dof(index, l, dofs)
        if end > index[l, FIRST_V]:
            return end - 1
        l = int(index[l, PARENT])
    return -1


@kernel
def point_jacobian(table, l, point, work, J_out):
    """J (6, n_v): angular velocity and velocity of a world point of link l per joint velocity, world axes. Needs the
    `work` of positions, as `forward_dynamics` or `place_links` leave it."""
    link, dof = work.link, work.dof
    J_out[:] = 0.0
    arm = sub((point[0], point[1], point[2]), get3(link, l, ORIGIN))
    d = last_velocity(table.index, l, dof.shape[0])
    while d >= 0:
        s = get6(dof, d, S)
        v = point_velocity(s, arm)
        for j in range(3):
            J_out[j, d] = s[j]
            J_out[3 + j, d] = v[j]
        d = int(table.before[d])


@kernel
def point_acceleration(table, l, point, q, v, rates, work, acceleration_out):
    """Acceleration (3,) of a world point fixed in link l at v̇ = rates [m/s2]; at rates 0 the velocity-product part J̇ v.

    p̈ = a_O + ω̇ × p + ω × ṗ   (a_O: the spatial acceleration's linear part)
    """
    link, dof = work.link, work.dof
    place(table, q, link, dof)
    move(table, v, link, dof)
    needed_forces(table, ZERO6, rates, link, dof)
    arm = sub((point[0], point[1], point[2]), get3(link, l, ORIGIN))
    velocity = get6(link, l, V)
    w = (velocity[0], velocity[1], velocity[2])
    a = add(point_velocity(get6(link, l, A), arm), cross(w, point_velocity(velocity, arm)))
    for j in range(3):
        acceleration_out[j] = a[j]
