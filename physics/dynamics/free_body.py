"""Free rigid bodies in Baraff's state Y = (x, q, P, L), and its rate of change.

Y of body i is row i of an (n, 13) array: columns 0:3 x, 3:7 q, 7:10 P, 10:13 L. Auxiliary quantities follow from it:
v = P/m, I⁻¹ = R I_body⁻¹ Rᵀ, ω = I⁻¹ L   [Baraff I §2.11, with the quaternion of its §4 instead of R]
"""

from ..core.jit import helper, kernel
from ..core.model import DYNAMIC
from ..core.vec import cross, mul, put, quat_mul, rotate, row, row4, scale, sub, unrotate
from .forces import applied_forces
from .motion import drive

Y_SIZE = 13


@helper
def angular_velocity(q, inv_inertia, L):
    """ω = R I_body⁻¹ Rᵀ L"""
    return rotate(q, mul(inv_inertia, unrotate(q, L)))


@helper
def acceleration(model, bodies, i, f, moment):
    """v̇ = F/m and ω̇ = I⁻¹ (τ - ω × L) of a dynamic body"""
    turning = sub(moment, cross(row(bodies.w, i), row(bodies.L, i)))
    return scale(model.inv_mass[i], f), angular_velocity(row4(bodies.q, i), row(model.inv_inertia, i), turning)


@kernel
def velocity_from_momentum(model, bodies):
    """Write v = P/m and w = R I_body⁻¹ Rᵀ L of the dynamic bodies; the others' velocities stay as they are."""
    for i in range(len(model.kind)):
        if model.kind[i] == DYNAMIC:
            put(bodies.v, i, scale(model.inv_mass[i], row(bodies.P, i)))
            put(bodies.w, i, angular_velocity(row4(bodies.q, i), row(model.inv_inertia, i), row(bodies.L, i)))


@kernel
def momentum_from_velocity(model, bodies):
    """Write P = m v and L = R I_body Rᵀ w of the dynamic bodies; the others' momenta become zero."""
    for i in range(len(model.kind)):
        if model.kind[i] == DYNAMIC:
            q = row4(bodies.q, i)
            put(bodies.P, i, scale(model.mass[i], row(bodies.v, i)))
            put(bodies.L, i, rotate(q, mul(row(model.inertia, i), unrotate(q, row(bodies.w, i)))))
        else:
            put(bodies.P, i, (0.0, 0.0, 0.0))
            put(bodies.L, i, (0.0, 0.0, 0.0))


@kernel
def pack(bodies, y_out):
    """Y (n, 13) of the bodies."""
    for i in range(len(bodies.x)):
        for j in range(3):
            y_out[i, j] = bodies.x[i, j]
            y_out[i, 7 + j] = bodies.P[i, j]
            y_out[i, 10 + j] = bodies.L[i, j]
        for j in range(4):
            y_out[i, 3 + j] = bodies.q[i, j]


@kernel
def dydt(model, loads, t, bodies, force, torque, ydot_out):
    """Rate of change of Y (n, 13) at time t [s]; zero for bodies that are not dynamic.

    ẋ = v,  q̇ = ½ (0, ω) q,  Ṗ = F,  L̇ = τ     [Baraff I §2.11 and §4]

    The auxiliary fields of `bodies` (v, w, and the poses of kinematic bodies) are brought to time t in place; `force`
    and `torque` (n, 3) are scratch.
    """
    velocity_from_momentum(model, bodies)
    drive(model, t, bodies)
    applied_forces(model, loads, bodies, force, torque)
    for i in range(len(model.kind)):
        if model.kind[i] != DYNAMIC:
            for j in range(Y_SIZE):
                ydot_out[i, j] = 0.0
            continue
        w = row(bodies.w, i)
        q_dot = quat_mul((0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]), row4(bodies.q, i))
        for j in range(3):
            ydot_out[i, j] = bodies.v[i, j]
            ydot_out[i, 7 + j] = force[i, j]
            ydot_out[i, 10 + j] = torque[i, j]
        for j in range(4):
            ydot_out[i, 3 + j] = q_dot[j]
