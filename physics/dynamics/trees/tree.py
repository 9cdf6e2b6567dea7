"""Dynamics of trees inside kernels: RNEA, ABA, and what impacts and contacts need of them   [RBDA ch. 5-7, 11.5].

    H q̈ + C = τ     H inertia, C bias force (gravity, velocity products), τ joint forces

Everything stands in world axes about O (see `kinematics`), where inertias add up without being transformed. A joint of
several velocities is eliminated column by column, like a chain of joints with massless links between.

ABA in this form: with all q̈ = 0 the links need the forces f (that is RNEA); then H q̈ = τ - C is solved by elimination
from the tips to the root, which is what articulated-body inertias are:

    U = I^A S,  D = S·U,  u = τ - S·p^A;   I^A_parent += I^A - U Uᵀ/D,  p^A_parent += p^A + U u/D
    q̈ = (u - U·a)/D,  a = a_parent + S q̈   from the root to the tips
"""

import math

from ...core.jit import helper
from ...core.spatial import add6, axpy6, cross_force, dot6, inertia_times, joined, sub6
from ...core.sym3 import put_six, six, three
from ...core.vec import add, cross, put, row, scale, sub
from .kinematics import FIRST_V, INERTIA, ORIGIN, PARENT, RATE, A, C, D, F, S, U, V, X, base_acceleration, last_dof

ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@helper
def momentum_of(link, l, v):
    """I v of link l"""
    return inertia_times(link[l, INERTIA], three(link, l, INERTIA + 1), six(link, l, INERTIA + 4), v)


# ------------------------------------------------------------------------------------------------- inverse dynamics
@helper
def needed_forces(table, base, rates, link, dof):
    """F = I A + V ×* I V of every link at the joint accelerations `rates`, and its A; `base` is added to the
    acceleration of what trees stand on, which gravity makes -g   [RBDA table 5.1]."""
    index = table.index
    for l in range(index.shape[0]):
        p = int(index[l, PARENT])
        a = six(link, l, C)
        a = add6(a, six(link, p, A)) if p >= 0 else add6(add6(a, base_acceleration(link, l)), base)
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            a = axpy6(rates[d], six(dof, d, S), a)
        v = six(link, l, V)
        put_six(link, l, A, a)
        put_six(link, l, F, add6(momentum_of(link, l, a), cross_force(v, momentum_of(link, l, v))))


# ------------------------------------------------------------------------------------------- articulated bodies
@helper
def spread_inertia(link, l, articulated):
    """The upper half of the 6 x 6 inertia of link l: [[I_O, [h]×], [[h]×ᵀ, m 1]], h = m c"""
    m, h, s = link[l, INERTIA], three(link, l, INERTIA + 1), six(link, l, INERTIA + 4)
    put_six(articulated, l, 0, (s[0], s[1], s[2], 0.0, -h[2], h[1]))
    put_six(articulated, l, 6, (0.0, s[3], s[4], h[2], 0.0, -h[0]))
    put_six(articulated, l, 12, (0.0, 0.0, s[5], -h[1], h[0], 0.0))
    put_six(articulated, l, 18, (0.0, 0.0, 0.0, m, 0.0, 0.0))
    put_six(articulated, l, 24, (0.0, 0.0, 0.0, 0.0, m, 0.0))
    put_six(articulated, l, 30, (0.0, 0.0, 0.0, 0.0, 0.0, m))


@helper
def articulated_times(articulated, l, s):
    """I^A s of link l, from the upper half of I^A."""
    a, b, c = six(articulated, l, 0), six(articulated, l, 6), six(articulated, l, 12)
    d, e, f = six(articulated, l, 18), six(articulated, l, 24), articulated[l, 35]
    return (
        a[0] * s[0] + a[1] * s[1] + a[2] * s[2] + a[3] * s[3] + a[4] * s[4] + a[5] * s[5],
        a[1] * s[0] + b[1] * s[1] + b[2] * s[2] + b[3] * s[3] + b[4] * s[4] + b[5] * s[5],
        a[2] * s[0] + b[2] * s[1] + c[2] * s[2] + c[3] * s[3] + c[4] * s[4] + c[5] * s[5],
        a[3] * s[0] + b[3] * s[1] + c[3] * s[2] + d[3] * s[3] + d[4] * s[4] + d[5] * s[5],
        a[4] * s[0] + b[4] * s[1] + c[4] * s[2] + d[4] * s[3] + e[4] * s[4] + e[5] * s[5],
        a[5] * s[0] + b[5] * s[1] + c[5] * s[2] + d[5] * s[3] + e[5] * s[4] + f * s[5],
    )


@helper
def eliminate(table, added, link, dof, articulated):
    """U and 1/D of every velocity, and the upper half of I^A of every link. added (n_v,) goes to the diagonal of H
    beside the armature."""
    index = table.index
    for l in range(link.shape[0]):
        spread_inertia(link, l, articulated)
    for l in range(index.shape[0] - 1, -1, -1):
        for d in range(last_dof(index, l, dof.shape[0]) - 1, index[l, FIRST_V] - 1, -1):
            u = articulated_times(articulated, l, six(dof, d, S))
            let_go(l, d, u, table.armature[d] + added[d], dof, articulated)
        carry(articulated, l, int(index[l, PARENT]))


@helper
def let_go(l, d, u, own, dof, articulated):
    """Velocity d of link l, with U = u, moves freely: I^A -= U Uᵀ/D, D = S·U + own. A velocity that moves no inertia at
    all (a tip without mass) has D = 0 and gets 1/D = 0: its acceleration is 0."""
    put_six(dof, d, U, u)
    value = dot6(six(dof, d, S), u) + own
    inverse = 1.0 / value if value > 0.0 else 0.0
    dof[d, D] = inverse
    for i in range(6):  # whole rows, which a processor takes at once: nobody reads the lower half
        put_six(articulated, l, 6 * i, axpy6(-inverse * u[i], u, six(articulated, l, 6 * i)))


@helper
def carry(articulated, l, p):
    """The parent p of link l, if there is one, carries it."""
    if p >= 0:
        for i in range(6):
            put_six(articulated, p, 6 * i, add6(six(articulated, p, 6 * i), six(articulated, l, 6 * i)))


@helper
def answer(table, first, last, tau, link, dof, rates_out):
    """rates = H⁻¹ (τ - Σ Jᵀ F) of the links first … last - 1, which are whole trees. F, the forces that the links need,
    is overwritten by the bias forces p^A of their subtrees, A by the accelerations."""
    index = table.index
    for l in range(last - 1, first - 1, -1):
        f = six(link, l, F)
        for d in range(last_dof(index, l, dof.shape[0]) - 1, index[l, FIRST_V] - 1, -1):
            u = tau[d] - dot6(six(dof, d, S), f)
            dof[d, RATE] = u
            f = axpy6(u * dof[d, D], six(dof, d, U), f)
        p = int(index[l, PARENT])
        if p >= 0:
            put_six(link, p, F, add6(six(link, p, F), f))
    accelerate_outwards(table, first, last, link, dof, rates_out)


@helper
def accelerate_outwards(table, first, last, link, dof, rates_out):
    """The second half of `answer`, from the roots to the tips."""
    index = table.index
    for l in range(first, last):
        p = int(index[l, PARENT])
        a = ZERO6
        if p >= 0:
            a = six(link, p, A)
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            rate = (dof[d, RATE] - dot6(six(dof, d, U), a)) * dof[d, D]
            rates_out[d] = rate
            a = axpy6(rate, six(dof, d, S), a)
        put_six(link, l, A, a)


@helper
def answer_alone(table, first, last, tau, link, dof, rates_out):
    """`answer` to joint forces alone: rates = H⁻¹ τ"""
    for l in range(first, last):
        put_six(link, l, F, ZERO6)
    answer(table, first, last, tau, link, dof, rates_out)


@helper
def answer_rows(table, tree, ends, J, link, dof, answers, Y_out, G_out):
    """Y = H⁻¹ Jᵀ of three rows that act on the link ends[0], and on ends[1] where that is one, of the links tree[0] …
    tree[1] - 1, a whole tree: `answer_alone` to the columns of J (width, 3), which are zero but on the ways from there
    to the root. The three go side by side, so that none waits for another one.

    ABA factors H⁻¹ = B Bᵀ, with B = (1 - …)ᵀ D^-½ [Rodriguez, Jain & Kreutz-Delgado 1991]: what comes in at each
    velocity, u/√D, is a row of G = J B, which is zero wherever J is. answers (l, 18): scratch."""
    first, last = tree
    l, other = ends
    index, begin = table.index, int(table.index[first, FIRST_V])
    x, y, z = ZERO6, ZERO6, ZERO6
    other_x, other_y, other_z = ZERO6, ZERO6, ZERO6
    while l >= 0:
        if other > l:  # the one farther from the root goes on: parents come before their children
            l, other = other, l
            x, y, z, other_x, other_y, other_z = other_x, other_y, other_z, x, y, z
        for d in range(last_dof(index, l, dof.shape[0]) - 1, index[l, FIRST_V] - 1, -1):
            s, u, root, j = six(dof, d, S), six(dof, d, U), math.sqrt(dof[d, D]), row(J, d - begin)
            g = (root * (j[0] - dot6(s, x)), root * (j[1] - dot6(s, y)), root * (j[2] - dot6(s, z)))
            put(G_out, d - begin, g)
            x, y, z = axpy6(root * g[0], u, x), axpy6(root * g[1], u, y), axpy6(root * g[2], u, z)
            put(Y_out, d - begin, scale(root, g))
        l = int(index[l, PARENT])
        if other >= 0 and l == other:
            x, y, z, other = add6(x, other_x), add6(y, other_y), add6(z, other_z), -1
    for l in range(first, last):
        p = int(index[l, PARENT])
        x, y, z = ZERO6, ZERO6, ZERO6
        if p >= 0:
            x, y, z = six(answers, p, 0), six(answers, p, 6), six(answers, p, 12)
        for d in range(index[l, FIRST_V], last_dof(index, l, dof.shape[0])):
            s, u, inverse, r = six(dof, d, S), six(dof, d, U), dof[d, D], row(Y_out, d - begin)
            r = (r[0] - inverse * dot6(u, x), r[1] - inverse * dot6(u, y), r[2] - inverse * dot6(u, z))
            put(Y_out, d - begin, r)
            x, y, z = axpy6(r[0], s, x), axpy6(r[1], s, y), axpy6(r[2], s, z)
        put_six(answers, l, 0, x)
        put_six(answers, l, 6, y)
        put_six(answers, l, 12, z)


@helper
def wrench_at(link, l, point, f):
    """The spatial force of a force f at a world point, about link l's O."""
    return joined(cross(sub(point, three(link, l, ORIGIN)), f), f)


@helper
def pushed_forces(table, body, force, torque, rates, link, dof):
    """F of every link at v̇ = 0 under the forces (n, 3) and torques about the centre of mass (n, 3) on the bodies."""
    needed_forces(table, ZERO6, rates, link, dof)
    for l in range(link.shape[0]):
        i = int(body[l])
        f = row(force, i)
        n = add(row(torque, i), cross(sub(three(link, l, X), three(link, l, ORIGIN)), f))
        put_six(link, l, F, sub6(six(link, l, F), joined(n, f)))


@helper
def respond(table, first, last, l, wrench, link, dof, none, rates_out):
    """Change of the velocities (n_v,) of the tree of links first … last - 1 when an impulse (spatial, about O) acts on
    its link l; needs what `eliminate` left. none (n_v,) is zeros."""
    for k in range(first, last):
        put_six(link, k, F, ZERO6)
    put_six(link, l, F, sub6(ZERO6, wrench))
    answer(table, first, last, none, link, dof, rates_out)


@helper
def last_velocity(index, l, dofs):
    """The last velocity of link l, or of its nearest ancestor that has any; -1 = nothing moves it."""
    while l >= 0:
        end = last_dof(index, l, dofs)
        if end > index[l, FIRST_V]:
            return end - 1
        l = int(index[l, PARENT])
    return -1
