"""From a state and its contacts to the contact problem in the bodies' terms, and back from impulses to momenta."""

import math

import numpy as np

from contactlab.physics.jit import helper, kernel
from contactlab.physics.laws import cone_projection, restitution_bias
from contactlab.physics.model import BodyKind
from contactlab.physics.problem import ContactProblem, System
from contactlab.physics.vec import (
    accumulate,
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    mul,
    neg,
    norm,
    put,
    quat_mat,
    rotate,
    row,
    row4,
    scale,
    sub,
    tangents,
    unrotate,
)

DYNAMIC = int(BodyKind.DYNAMIC)

GRAB_RATE = 2.0 * math.pi * 4.0  # ω of the mouse spring [rad/s]: critically damped, follows within a quarter second
GRAB_LIMIT = 20.0 * 9.81         # its largest acceleration of the held body [m/s2]: cannot press it through another
GRAB_TURN_LIMIT = 100.0          # its largest angular acceleration in turning mode, as a multiple of ω² [-]


# ------------------------------------------------------------------- symmetric 3x3 matrices as xx xy xz yy yz zz
@helper
def sym_vec(s, u):
    return (
        s[0] * u[0] + s[1] * u[1] + s[2] * u[2],
        s[1] * u[0] + s[3] * u[1] + s[4] * u[2],
        s[2] * u[0] + s[4] * u[1] + s[5] * u[2],
    )


@helper
def sym_inverse(s):
    c0 = s[3] * s[5] - s[4] * s[4]
    c1 = s[2] * s[4] - s[1] * s[5]
    c2 = s[1] * s[4] - s[2] * s[3]
    d = 1.0 / (s[0] * c0 + s[1] * c1 + s[2] * c2)
    return (
        d * c0, d * c1, d * c2,
        d * (s[0] * s[5] - s[2] * s[2]), d * (s[1] * s[2] - s[0] * s[4]), d * (s[0] * s[3] - s[1] * s[1]),
    )


@helper
def sym_row(a, i):
    """Row i of an (n, 6) array."""
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


@helper
def inertia_row(response, i):
    """World inverse inertia of body i."""
    return (response[i, 1], response[i, 2], response[i, 3], response[i, 4], response[i, 5], response[i, 6])


@helper
def world_inverse_inertia(q, inv_inertia):
    """I⁻¹ = R I_body⁻¹ Rᵀ   [Baraff I §2.10]"""
    r = quat_mat(q)
    x = mul(inv_inertia, r[0])
    y = mul(inv_inertia, r[1])
    z = mul(inv_inertia, r[2])
    return (dot(x, r[0]), dot(x, r[1]), dot(x, r[2]), dot(y, r[1]), dot(y, r[2]), dot(z, r[2]))


@helper
def point_response(inv_mass, s, r):
    """How the velocity of the point at arm r answers an impulse there: 1/m + [r]× I⁻¹ [r]×ᵀ, s = I⁻¹"""
    x, y, z = r
    a0 = (y * s[2] - z * s[1], y * s[4] - z * s[3], y * s[5] - z * s[4])
    a1 = (z * s[0] - x * s[2], z * s[1] - x * s[4], z * s[2] - x * s[5])
    a2 = (x * s[1] - y * s[0], x * s[3] - y * s[1], x * s[4] - y * s[2])
    return (
        inv_mass + y * a0[2] - z * a0[1], z * a0[0] - x * a0[2], x * a0[1] - y * a0[0],
        inv_mass + z * a1[0] - x * a1[2], x * a1[1] - y * a1[0], inv_mass + x * a2[1] - y * a2[0],
    )


# ---------------------------------------------------------------------------------------------------- velocities
@helper
def linear(velocity, i):
    return (velocity[i, 0], velocity[i, 1], velocity[i, 2])


@helper
def angular(velocity, i):
    return (velocity[i, 3], velocity[i, 4], velocity[i, 5])


@helper
def put_velocity(velocity_out, i, v, w):
    velocity_out[i, 0] = v[0]
    velocity_out[i, 1] = v[1]
    velocity_out[i, 2] = v[2]
    velocity_out[i, 3] = w[0]
    velocity_out[i, 4] = w[1]
    velocity_out[i, 5] = w[2]


@helper
def relative_velocity(velocity, a, b, arm_a, arm_b):
    """u = (v_b + ω_b × r_b) - (v_a + ω_a × r_a)"""
    u_b = add(linear(velocity, b), cross(angular(velocity, b), arm_b))
    return sub(u_b, add(linear(velocity, a), cross(angular(velocity, a), arm_a)))


@helper
def push(system, i, p):
    """Let the impulse p act on body b of row i and -p on body a: velocity += M⁻¹ Jᵀ p"""
    velocity = system.velocity
    response = system.response
    a = int(system.body_a[i])
    b = int(system.body_b[i])
    dw = sym_vec(inertia_row(response, b), cross(row(system.arm_b, i), p))
    put_velocity(velocity, b, axpy(response[b, 0], p, linear(velocity, b)), add(angular(velocity, b), dw))
    dw = sym_vec(inertia_row(response, a), cross(row(system.arm_a, i), p))
    put_velocity(velocity, a, axpy(-response[a, 0], p, linear(velocity, a)), sub(angular(velocity, a), dw))


@helper
def surface_velocity(motions, i, q, arm):
    """Velocity of a running surface relative to its body, at the world arm from the body's origin."""
    s = row(motions.surface_velocity, i)
    w = row(motions.surface_spin, i)
    if dot(s, s) + dot(w, w) == 0.0:
        return (0.0, 0.0, 0.0)
    return rotate(q, add(s, cross(w, unrotate(q, arm))))


@kernel
def free_motion(model, middle, force, torque, h, before_out, system):
    """Velocities (n, 6) at the poses of the middle of the step, of the momenta before it (`before_out`) and after it if
    nothing touched (system.velocity); and how bodies answer impulses there (system.response).

    v = P/m, ω = I(q)⁻¹ L, so that gyroscopic torques are exact: without torque L does not change.
    """
    for i in range(len(model.kind)):
        v = row(middle.v, i)
        w = row(middle.w, i)
        if model.kind[i] != DYNAMIC:
            put_velocity(before_out, i, v, w)
            put_velocity(system.velocity, i, v, w)
            for j in range(7):
                system.response[i, j] = 0.0
            continue
        s = world_inverse_inertia(row4(middle.q, i), row(model.inv_inertia, i))
        L = row(middle.L, i)
        put_velocity(before_out, i, v, sym_vec(s, L))
        w = sym_vec(s, axpy(h, row(torque, i), L))
        put_velocity(system.velocity, i, axpy(h * model.inv_mass[i], row(force, i), v), w)
        system.response[i, 0] = model.inv_mass[i]
        for j in range(6):
            system.response[i, 1 + j] = s[j]


# ------------------------------------------------------------------------------------------------------ contacts
@kernel
def assemble(model, middle, contacts, before, rest_speed, h, surface_out, zeta_before_out, system):
    """Fill the rows of the system: one for every contact that takes part in this step. Writes for every contact the
    relative velocity of running surfaces (c, 3) and ζ before the step (c,)."""
    k = 0
    for i in range(int(contacts.count[0])):
        a = int(contacts.body_a[i])
        b = int(contacts.body_b[i])
        n = row(contacts.normal, i)
        p = row(contacts.point, i)
        arm_a = sub(p, row(middle.x, a))
        arm_b = sub(p, row(middle.x, b))
        surface = sub(surface_velocity(model.motions, b, row4(middle.q, b), arm_b),
                      surface_velocity(model.motions, a, row4(middle.q, a), arm_a))
        zeta = dot(n, add(surface, relative_velocity(before, a, b, arm_a, arm_b)))
        zeta_before_out[i] = zeta
        put(surface_out, i, surface)
        bias, part = restitution_bias(contacts.gap[i], zeta, contacts.restitution[i], rest_speed, h)
        if part == 0:
            continue
        system.contact[k] = i
        system.fired[k] = 1 if part == 2 else 0
        system.body_a[k] = a
        system.body_b[k] = b
        put(system.normal, k, n)
        put(system.arm_a, k, arm_a)
        put(system.arm_b, k, arm_b)
        put(system.bias, k, axpy(bias, n, surface))
        system.friction[k] = contacts.friction[i]
        own_block(system, k)
        put(system.impulse, k, (0.0, 0.0, 0.0))
        k += 1
    system.count[0] = k


@helper
def own_block(system, k):
    """The block W of row k by itself: its inverse, W n, and the step that is safe for slipping."""
    a = int(system.body_a[k])
    b = int(system.body_b[k])
    n = row(system.normal, k)
    w_a = point_response(system.response[a, 0], inertia_row(system.response, a), row(system.arm_a, k))
    w_b = point_response(system.response[b, 0], inertia_row(system.response, b), row(system.arm_b, k))
    w = (w_a[0] + w_b[0], w_a[1] + w_b[1], w_a[2] + w_b[2], w_a[3] + w_b[3], w_a[4] + w_b[4], w_a[5] + w_b[5])
    inverse = sym_inverse(w)
    for j in range(6):
        system.inverse[k, j] = inverse[j]
    put(system.coupling, k, sym_vec(w, n))
    t1, t2 = tangents(n)
    w_t1 = sym_vec(w, t1)
    w11 = dot(t1, w_t1)
    w12 = dot(t2, w_t1)
    w22 = dot(t2, sym_vec(w, t2))
    system.slip_step[k] = 1.0 / (0.5 * (w11 + w22) + math.sqrt(0.25 * (w11 - w22) ** 2 + w12 * w12))


@kernel
def hold(middle, loads, mass, h, system):
    """Set up the mouse spring's rows: critically damped with rate GRAB_RATE for the held body by itself, implicit in
    time and so stable for every mass and step.

    With k = ω² W⁻¹ and c = 2 ω W⁻¹, C the stretch in the middle of the step, implicit Euler of C̈ gives
        (1 + γ) W p + u + bias = 0,   γ = 1/(h ω (2 + h ω)),   bias = ω C/(2 + h ω)
    Turning: the same about the centre of mass; C is then the rotation that turns the held point towards the target.
    """
    grab = system.grab
    body = int(loads.grab_body[0])
    put1(grab.impulse, (0.0, 0.0, 0.0))
    grab.body[0] = body if body >= 0 and mass[body] > 0.0 else -1
    if grab.body[0] < 0:
        return
    x = row(middle.x, body)
    arm = rotate(row4(middle.q, body), (loads.grab_point[0], loads.grab_point[1], loads.grab_point[2]))
    pull = sub((loads.grab_target[0], loads.grab_target[1], loads.grab_target[2]), x)
    inertia = inertia_row(system.response, body)
    w = point_response(system.response[body, 0], inertia, arm)
    stretch = sub(arm, pull)
    limit = mass[body] * GRAB_LIMIT
    grab.turn[0] = loads.grab_turn[0]
    if grab.turn[0] == 1:
        w = inertia
        axis = cross(pull, arm)  # turning by +|angle| about it takes the target's direction to the arm's
        size = norm(axis)
        stretch = scale(math.atan2(size, dot(pull, arm)) / size if size > 0.0 else 0.0, axis)
        limit = GRAB_TURN_LIMIT * GRAB_RATE**2 / max(w[0], w[3], w[5])
    inverse = sym_inverse(w)
    for j in range(6):
        grab.matrix[j] = w[j]
        grab.inverse[j] = inverse[j]
    put1(grab.arm, arm)
    put1(grab.bias, scale(GRAB_RATE / (2.0 + h * GRAB_RATE), stretch))
    grab.softness[0] = 1.0 / (h * GRAB_RATE * (2.0 + h * GRAB_RATE))
    grab.limit[0] = limit * h


@helper
def put1(a_out, u):
    a_out[0] = u[0]
    a_out[1] = u[1]
    a_out[2] = u[2]


# ---------------------------------------------------------------------------------------------------- warm start
@kernel
def match(contacts, order, memory, previous_out):
    """previous_out[i] = row of the memory with the key of contact i, or -1; `order` sorts the contacts by key."""
    j = 0
    for position in range(int(contacts.count[0])):
        i = int(order[position])
        key = contacts.key[i]
        while j < memory.count[0] and memory.key[j] < key:
            j += 1
        previous_out[i] = j if j < memory.count[0] and memory.key[j] == key else -1


@kernel
def warm_start(memory, previous, system):
    """Begin with the last step's impulses, brought into today's cones, and let them act."""
    for k in range(int(system.count[0])):
        j = int(previous[system.contact[k]])
        if j >= 0:
            p = cone_projection(row(memory.impulse, j), row(system.normal, k), system.friction[k])
            put(system.impulse, k, p)
            push(system, k, p)


@kernel
def momenta(system, force, torque, h, P_in_out, L_in_out):
    """Momenta (n, 3) after the step: P += h F + Σ p,  L += h τ + Σ r × p. What one body gets the other loses."""
    for i in range(len(P_in_out)):
        if system.response[i, 0] > 0.0:
            accumulate(P_in_out, i, scale(h, row(force, i)))
            accumulate(L_in_out, i, scale(h, row(torque, i)))
    for k in range(int(system.count[0])):
        a = int(system.body_a[k])
        b = int(system.body_b[k])
        p = row(system.impulse, k)
        if system.response[b, 0] > 0.0:
            accumulate(P_in_out, b, p)
            accumulate(L_in_out, b, cross(row(system.arm_b, k), p))
        if system.response[a, 0] > 0.0:
            accumulate(P_in_out, a, neg(p))
            accumulate(L_in_out, a, neg(cross(row(system.arm_a, k), p)))
    body = int(system.grab.body[0])
    if body >= 0:
        p = (system.grab.impulse[0], system.grab.impulse[1], system.grab.impulse[2])
        if system.grab.turn[0] == 1:
            accumulate(L_in_out, body, p)
        else:
            accumulate(P_in_out, body, p)
            accumulate(L_in_out, body, cross((system.grab.arm[0], system.grab.arm[1], system.grab.arm[2]), p))


# ------------------------------------------------------------------------------------------------- matrix written out
@kernel
def delassus(system, M_out, d_out):
    """M (3c, 3c) and d (3c,) of the system's rows in contact frames (n, t1, t2), without the mouse spring's answer."""
    for k in range(int(system.count[0])):
        n = row(system.normal, k)
        frame = (n, tangents(n)[0], tangents(n)[1])
        a = int(system.body_a[k])
        b = int(system.body_b[k])
        u = relative_velocity(system.velocity, a, b, row(system.arm_a, k), row(system.arm_b, k))
        u = add(row(system.bias, k), u)
        put(d_out, k, mat_vec(frame, u))
    for k in range(int(system.count[0])):
        n = row(system.normal, k)
        frame = (n, tangents(n)[0], tangents(n)[1])
        for j in range(3):
            p = mat_t_vec(frame, (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0))
            column_of(system, k, p, 3 * k + j, M_out)


@helper
def column_of(system, k, p, column, M_out):
    """Answer of every row's velocity to the impulse p at row k."""
    bodies = (int(system.body_a[k]), int(system.body_b[k]))
    arms = (row(system.arm_a, k), row(system.arm_b, k))
    for i in range(int(system.count[0])):
        u = (0.0, 0.0, 0.0)
        for side in range(2):
            s = bodies[side]
            q = p if side == 1 else neg(p)
            dv = scale(system.response[s, 0], q)
            dw = sym_vec(inertia_row(system.response, s), cross(arms[side], q))
            if system.body_b[i] == s:
                u = add(u, add(dv, cross(dw, row(system.arm_b, i))))
            if system.body_a[i] == s:
                u = sub(u, add(dv, cross(dw, row(system.arm_a, i))))
        n = row(system.normal, i)
        t1, t2 = tangents(n)
        M_out[3 * i, column] = dot(n, u)
        M_out[3 * i + 1, column] = dot(t1, u)
        M_out[3 * i + 2, column] = dot(t2, u)


def to_dense(system: System) -> ContactProblem:
    """The contact problem of a system's velocities (which must not contain its impulses), with M written out."""
    c = int(system.count[0])
    M, d = np.zeros((3 * c, 3 * c)), np.zeros((c, 3))
    delassus(system, M, d)
    return ContactProblem.frictional(M, d, system.friction[:c])
