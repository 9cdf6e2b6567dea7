"""Kinematics of trees: from the generalized coordinates to the poses, velocities and motion subspaces of all links.

World axes; spatial vectors (`spatial`) of a tree are taken about O, the centre of mass of its root link. A joint of
several velocities counts as a chain of joints with massless links between: column by column in `TreeWork.dof`.

A tree may stand on a body with a prescribed motion, its base. Joint positions and velocities are relative to that, and
its velocity and acceleration enter as those of the root's parent do: v_0 and a_0 of the recursions [RBDA ch. 5].
"""

from typing import NamedTuple

import numpy as np

from ...core.jit import helper, kernel
from ...core.model import Array, Model, Trees
from ...core.spatial import add6, axpy6, cross_motion, joined
from ...core.state import Bodies
from ...core.sym3 import put_six, put_three, six, three
from ...core.vec import (
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    mul,
    put4,
    quat_exp,
    quat_mat,
    quat_mul,
    quat_unit,
    row,
    scale,
    sub,
)
from ...joints.table import (
    FREE,
    UNIVERSAL,
    VELOCITIES,
    bent_axis,
    column_of,
    has_orientation,
    slide_of,
    slides,
    turn_of,
)
from ..motion import driven_acceleration

# columns of LinkTable.index
TYPE, PARENT, FIRST_Q, FIRST_V = range(4)

# columns of LinkTable.number
BASE_X = 0           # position of the body that a tree stands on, at the start [m]
BASE_Q = 3           # orientation of that body
ANCHOR_PARENT = 7    # see Joints
ANCHOR_CHILD = 10
REST = 13
AXIS = 17            # two axes
MASS = 23
MOMENTS = 24         # principal moments of inertia
LEAD = 27            # of a screw [m/rad]
NUMBER_SIZE = 40     # five cache lines

# columns of TreeWork.link
X = 0            # centre of mass [m]
Q = 3            # orientation
R = 7            # the same as a matrix, row by row
ORIGIN = 16      # O of its tree [m]
POINT = 19       # the joint's point from O [m]
INERTIA = 22     # m, m c, I_O: 10 numbers [kg], [kg m], [kg m2]
V = 32           # spatial velocity
C = 38           # velocity-product acceleration of its joint
A = 44           # spatial acceleration
F = 50           # spatial force
STAND_X = 56     # of a root: position of the body that its tree stands on [m]
STAND_Q = 59     # and orientation
STAND_V = 63     # velocity of its centre of mass
STAND_W = 66     # angular velocity, which is constant
STAND_A = 69     # acceleration
LINK_SIZE = 72

# columns of TreeWork.dof
S = 0            # motion subspace
U = 6            # I^A S
D = 12           # 1/D, D = S·U + armature; 0 where D = 0
RATE = 13        # result of `answer`: acceleration, or change of velocity by an impulse
DOF_SIZE = 16


class TreeWork(NamedTuple):
    """Scratch of the recursions; after a call it holds what was computed on the way."""

    link: Array         #: (l, LINK_SIZE) see X …
    dof: Array          #: (d, DOF_SIZE) see S …
    articulated: Array  #: (l, 36) articulated-body inertia I^A about O, row by row


def empty_work(trees: Trees) -> TreeWork:
    links, dofs = len(trees.body), len(trees.dof_link)
    link = np.zeros((links, LINK_SIZE))
    link[:, STAND_X : STAND_Q + 4] = trees.table.number[:, BASE_X : BASE_Q + 4]
    return TreeWork(link, np.zeros((dofs, DOF_SIZE)), np.zeros((links, 36)))


@helper
def copy_work(work, out):
    """Copy what the recursions hold of as many links."""
    for l in range(len(work.link)):
        for c in range(LINK_SIZE):
            out.link[l, c] = work.link[l, c]
        for c in range(36):
            out.articulated[l, c] = work.articulated[l, c]
    for d in range(len(work.dof)):
        for c in range(DOF_SIZE):
            out.dof[d, c] = work.dof[d, c]


@helper
def get4(a, i, j):
    return (a[i, j], a[i, j + 1], a[i, j + 2], a[i, j + 3])


@helper
def flat4(a, j):
    """The quaternion in a[j : j + 4]."""
    return (a[j], a[j + 1], a[j + 2], a[j + 3])


@helper
def get_matrix(a, i, j):
    return (three(a, i, j), three(a, i, j + 3), three(a, i, j + 6))


@helper
def still_unit(q):
    """A product of unit quaternions made a unit one again: 1/|q| = (3 - |q|²)/2 to the last bit where |q| is 1 up to
    rounding. This saves a square root and a division for every link."""
    s = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@helper
def put_inertia(link, l, m, moments, r, c):
    """m, h = m c, I_O = R I Rᵀ + m (c·c 1 - c cᵀ)"""
    x, y, z = mul(moments, r[0]), mul(moments, r[1]), mul(moments, r[2])
    square = m * dot(c, c)
    link[l, INERTIA] = m
    put_three(link, l, INERTIA + 1, scale(m, c))
    put_six(link, l, INERTIA + 4, (
        dot(x, r[0]) + square - m * c[0] * c[0], dot(x, r[1]) - m * c[0] * c[1], dot(x, r[2]) - m * c[0] * c[2],
        dot(y, r[1]) + square - m * c[1] * c[1], dot(y, r[2]) - m * c[1] * c[2],
        dot(z, r[2]) + square - m * c[2] * c[2],
    ))


@helper
def put_subspace(table, l, r_p, turn_p, q, point, c, dof):
    """Columns of S of link l's joint at the `point` from O; the link's centre of mass is at c from O."""
    index, kind, number = table.index, int(table.index[l, TYPE]), table.number
    axis, second = mat_vec(r_p, three(number, l, AXIS)), (0.0, 0.0, 0.0)
    if kind == UNIVERSAL:
        second = bent_axis(turn_p, three(number, l, AXIS), three(number, l, AXIS + 3), q[index[l, FIRST_Q]])
    first = int(index[l, FIRST_V])
    for k in range(last_dof(index, l, dof.shape[0]) - first):
        put_six(dof, first + k, S, column_of(kind, k, axis, second, r_p, point, c, number[l, LEAD]))


@helper
def place(table, q, link, dof):
    """Poses X, Q, R, inertias about O and motion subspaces S of all links at the positions q.

    R_child = R_parent R_J(q) R_rest,  x = x_parent + R_parent anchor_parent + slide - R_child anchor_child
    """
    index, number = table.index, table.number
    origin = (0.0, 0.0, 0.0)
    for l in range(index.shape[0]):
        kind, p, first_q = int(index[l, TYPE]), int(index[l, PARENT]), int(index[l, FIRST_Q])
        if p >= 0:
            x_p, turn_p, r_p = three(link, p, X), get4(link, p, Q), get_matrix(link, p, R)
        else:
            x_p, turn_p = three(link, l, STAND_X), get4(link, l, STAND_Q)
            r_p = quat_mat(turn_p)
        axis, second = three(number, l, AXIS), three(number, l, AXIS + 3)
        own = turn_of(kind, axis, second, q, first_q)
        turn = still_unit(quat_mul(turn_p, quat_mul(own, get4(number, l, REST))))
        r = quat_mat(turn)
        anchor = three(number, l, ANCHOR_PARENT)
        if slides(kind):
            anchor = axpy(slide_of(kind, q, first_q, number[l, LEAD]), axis, anchor)
        point = add(x_p, mat_vec(r_p, anchor))
        x = sub(point, mat_vec(r, three(number, l, ANCHOR_CHILD)))
        if kind == FREE:
            x = (q[first_q + 4], q[first_q + 5], q[first_q + 6])
            point = x
        if p < 0:
            origin = x
        put_three(link, l, X, x)
        put_six(link, l, Q, (turn[0], turn[1], turn[2], turn[3], r[0][0], r[0][1]))
        put_six(link, l, R + 2, (r[0][2], r[1][0], r[1][1], r[1][2], r[2][0], r[2][1]))
        link[l, R + 8] = r[2][2]
        put_three(link, l, ORIGIN, origin)
        put_three(link, l, POINT, sub(point, origin))
        c = sub(x, origin)
        put_inertia(link, l, number[l, MASS], three(number, l, MOMENTS), r, c)
        put_subspace(table, l, r_p, turn_p, q, sub(point, origin), c, dof)


@helper
def last_dof(index, l, dofs):
    """The end of link l's velocities."""
    return int(index[l + 1, FIRST_V]) if l + 1 < index.shape[0] else dofs


@helper
def stand(trees, bodies, link):
    """Put the roots of trees on bodies with a prescribed motion where these are and as they move."""
    for k in range(trees.driven.shape[0]):
        l, i = int(trees.driven[k, 0]), int(trees.driven[k, 1])
        put_three(link, l, STAND_X, row(bodies.x, i))
        for j in range(4):
            link[l, STAND_Q + j] = bodies.q[i, j]
        put_three(link, l, STAND_V, row(bodies.v, i))
        put_three(link, l, STAND_W, row(bodies.w, i))


@helper
def accelerate_bases(model, t, link):
    """Note the accelerations at time t [s] of the bodies that trees stand on."""
    driven = model.trees.driven
    for k in range(driven.shape[0]):
        put_three(link, driven[k, 0], STAND_A, driven_acceleration(model, driven[k, 1], t))


@kernel
def stand_at(model, t, bodies, work) -> None:
    """The bodies that trees stand on, as they are at time t [s], for Python."""
    stand(model.trees, bodies, work.link)
    accelerate_bases(model, t, work.link)


def standing(model: Model, t: float, bodies: Bodies) -> TreeWork:
    """New scratch in which trees stand on the bodies that carry them, as these are at time t [s]."""
    work = empty_work(model.trees)
    stand_at(model, t, bodies, work)
    return work


@helper
def base_velocity(link, l):
    """Spatial velocity of the body that the root l stands on: (ω, v + ω × (O - x))."""
    w = three(link, l, STAND_W)
    return joined(w, add(three(link, l, STAND_V), cross(w, sub(three(link, l, ORIGIN), three(link, l, STAND_X)))))


@helper
def base_acceleration(link, l):
    """Its spatial acceleration: the rate of that velocity at a point that stays, (0, a - ω × v)."""
    a, v = three(link, l, STAND_A), three(link, l, STAND_V)
    return joined((0.0, 0.0, 0.0), sub(a, cross(three(link, l, STAND_W), v)))


@helper
def move(table, v, link, dof):
    """Spatial velocities V of all links, and C, what their joints add to the acceleration at constant v.

    V = V_parent + S v,  C = V_parent × S v + Ṡ v, where Ṡ is what S changes in the parent's frame: nothing but for a
    universal joint, whose first axis turns the second, and a free one, which turns about its moving centre of mass.
    """
    index = table.index
    for l in range(index.shape[0]):
        p = int(index[l, PARENT])
        v_p = six(link, p, V) if p >= 0 else base_velocity(link, l)
        own = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        first = int(index[l, FIRST_V])
        for d in range(first, last_dof(index, l, v.shape[0])):
            own = axpy6(v[d], six(dof, d, S), own)
        c = cross_motion(v_p, own)
        if index[l, TYPE] == UNIVERSAL:
            turned = cross_motion(six(dof, first, S), six(dof, first + 1, S))
            c = axpy6(v[first] * v[first + 1], turned, c)
        elif index[l, TYPE] == FREE:
            w, v_c = (v[first], v[first + 1], v[first + 2]), (v[first + 3], v[first + 4], v[first + 5])
            c = joined((0.0, 0.0, 0.0), cross(v_c, w))
        put_six(link, l, V, add6(v_p, own))
        put_six(link, l, C, c)


@helper
def point_velocity(v, p):
    """Velocity of the point p (from O) of a body that moves with v: v_O + ω × p"""
    w = (v[0], v[1], v[2])
    return add((v[3], v[4], v[5]), cross(w, p))


@helper
def link_motion(link, l):
    """Velocity of link l's centre of mass, and its angular velocity."""
    v = six(link, l, V)
    return point_velocity(v, sub(three(link, l, X), three(link, l, ORIGIN))), (v[0], v[1], v[2])


@kernel
def place_links(model, q, v, work, bodies):
    """Write the rows of all links of `bodies` (x, q, v, w, P, L) at positions q and velocities v; `work` keeps poses,
    inertias, motion subspaces and spatial velocities. Bodies with a prescribed motion must be where they are to be."""
    stand(model.trees, bodies, work.link)
    place(model.trees.table, q, work.link, work.dof)
    move_links(model, v, work, bodies)


@kernel
def move_placed_links(model, v, work, bodies) -> None:
    """`place_links` where `work` has the links in their places already."""
    move_links(model, v, work, bodies)


@helper
def move_links(model, v, work, bodies):
    """See `move_placed_links`."""
    link = work.link
    move(model.trees.table, v, link, work.dof)
    for l in range(link.shape[0]):
        i = int(model.trees.body[l])
        x, turn, r = three(link, l, X), get4(link, l, Q), get_matrix(link, l, R)
        u, w = link_motion(link, l)
        put_three(bodies.x, i, 0, x)
        put4(bodies.q, i, turn)
        put_three(bodies.v, i, 0, u)
        put_three(bodies.w, i, 0, w)
        put_three(bodies.P, i, 0, scale(model.mass[i], u))
        put_three(bodies.L, i, 0, mat_vec(r, mul(three(model.inertia, i, 0), mat_t_vec(r, w))))


@helper
def rates_of(table, q, v, qdot_out):
    """q̇ of all joints: q̇ = v, of orientations ½ (0, ω) q."""
    index = table.index
    for l in range(index.shape[0]):
        kind, i, k = int(index[l, TYPE]), int(index[l, FIRST_Q]), int(index[l, FIRST_V])
        if has_orientation(kind):
            turn = quat_mul((0.0, 0.5 * v[k], 0.5 * v[k + 1], 0.5 * v[k + 2]), flat4(q, i))
            for j in range(4):
                qdot_out[i + j] = turn[j]
            if kind == FREE:
                for j in range(3):
                    qdot_out[i + 4 + j] = v[k + 3 + j]
        else:
            for j in range(VELOCITIES[kind]):
                qdot_out[i + j] = v[k + j]


@helper
def unit_quaternions(table, q_in_out):
    """Make the orientations in q unit quaternions again."""
    index = table.index
    for l in range(index.shape[0]):
        if has_orientation(int(index[l, TYPE])):
            i = int(index[l, FIRST_Q])
            turn = quat_unit(flat4(q_in_out, i))
            for j in range(4):
                q_in_out[i + j] = turn[j]


@kernel
def advance(table, q, v, h, q_out):
    """q_out = q ⊕ h v: positions after the time h [s] at constant velocities; orientations turn by exp(ω h)."""
    index = table.index
    for l in range(index.shape[0]):
        kind, i, k = int(index[l, TYPE]), int(index[l, FIRST_Q]), int(index[l, FIRST_V])
        if has_orientation(kind):
            step = quat_exp((h * v[k], h * v[k + 1], h * v[k + 2]))
            turn = quat_unit(quat_mul(step, flat4(q, i)))
            for j in range(4):
                q_out[i + j] = turn[j]
            if kind == FREE:
                for j in range(3):
                    q_out[i + 4 + j] = q[i + 4 + j] + h * v[k + 3 + j]
        else:
            for j in range(VELOCITIES[kind]):
                q_out[i + j] = q[i + j] + h * v[k + j]
