"""How fast the bodies on their surfaces can vibrate and creep: what bounds the explicit steps of `compliant`."""

import math

from contactlab.physics.assemble import world_inverse_inertia
from contactlab.physics.jit import helper, kernel
from contactlab.physics.limits import world_axis
from contactlab.physics.methods.compliant_rates import contact_motion, gain
from contactlab.physics.model import BodyKind, JointType
from contactlab.physics.soft_laws import HERTZ, LINEAR, NORMAL_1, NORMAL_2, TANGENT_1, UNITS, depth_of_impact
from contactlab.physics.vec import cross, dot, rotate, row, row4, sub

DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)
SLIDER = int(JointType.SLIDER)
SQUARINGS = 3  # λ_max <= tr(X^8)^(1/8), at most 6^(1/8) = 1.25 times too much


@kernel
def rate_limits(model, contacts, slot, surfaces, work, law, closed, bodies, stops, q, blocks):
    """Bounds for the explicit step: largest ω² [1/s2] and damping rate [1/s] of bodies on their surfaces, and largest
    rate [1/s] at which surfaces recover or springs in series relax. q are the positions of joints; blocks
    (n, 2, 6, 6) and (2, 6, 6) more are scratch.

    The eigenvalues of H⁻¹ Σ Jᵀ K J over all contacts are at most the largest of the blocks H_i⁻¹ Σ J_iᵀ K J_i of single
    bodies, contacts between two that move counting twice: |J u|² <= 2 |J_a u_a|² + 2 |J_b u_b|². Joints only take
    freedom away, and the eigenvalues with them become no larger.
    """
    motions, units = model.motions, work.units
    blocks[:] = 0.0
    drag = 0.0
    for k in range(int(surfaces.count[0]) if closed == 0 else 0):
        for j in range(0, UNITS, 2):
            stiff, damp = gain(units, k, j)
            if damp > 0.0 and stiff < math.inf:
                drag = max(drag, stiff / damp)
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        a, b, n = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.normal, i)
        k1, d1 = gain(units, k, NORMAL_1)
        k2, d2 = gain(units, k, NORMAL_2)
        stiff, damp = k1, d1
        if k2 < math.inf:  # the stiffer branch: at high frequency the dampers are rigid
            damp = 0.0 if d1 == 0.0 else 1.0 / (1.0 / d1 + 1.0 / d2)
            drag = max(drag, (k1 + k2) / (d1 + d2))
        kt, dt = gain(units, k, TANGENT_1)
        if law != LINEAR:  # K and D at the depth there is, or there will be after this approach
            _, _, zeta, _ = contact_motion(motions, bodies, a, b, row(contacts.point, i), n)
            w = mobility(model.mass[a]) + mobility(model.mass[b])
            depth = max(-contacts.gap[i], depth_of_impact(law, k1, zeta, w) if zeta < 0.0 and w > 0.0 else 0.0)
            stiff = 1.5 * k1 * math.sqrt(depth) if law == HERTZ else k1
            damp = d1 * (math.sqrt(depth) if law == HERTZ else depth)
        if dt > 0.0:
            drag = max(drag, kt / dt)
        both = 2.0 if moves(model.kind, a) and moves(model.kind, b) else 1.0
        for body in (a, b):
            if moves(model.kind, body):
                arm = sub(row(contacts.point, i), row(bodies.x, body))
                add_block(both * stiff, both * kt, 0.0, n, arm, body, 0, blocks)
                add_block(both * damp, both * dt, both * work.roll[k], n, arm, body, 1, blocks)
    add_stop_blocks(model, stops, bodies, q, blocks)
    square, damping = 0.0, 0.0
    for body in range(len(model.kind)):
        stiff = 0.0
        for j in range(6):
            stiff += blocks[body, 0, j, j]
        if moves(model.kind, body) and stiff > 0.0:
            moments, inv_mass = row(model.inertia, body), mobility(model.mass[body])
            moments = (mobility(moments[0]), mobility(moments[1]), mobility(moments[2]))
            inverse = world_inverse_inertia(row4(bodies.q, body), moments)
            square = largest_eigenvalue(inv_mass, inverse, body, 0, square, blocks)
            damping = largest_eigenvalue(inv_mass, inverse, body, 1, damping, blocks)
    return square, damping, drag


@helper
def moves(kind, i):
    return kind[i] == DYNAMIC or kind[i] == LINK


@helper
def mobility(inertia):
    """Of a mass or a moment; links without any are held by others."""
    return 1.0 / inertia if inertia > 0.0 else 0.0


@helper
def add_stop_blocks(model, stops, bodies, q, blocks):
    """Add the stops of joints: of a slider along its axis, which passes through its point; of others about theirs."""
    limits, joints = stops.limits, model.joints
    for r in range(len(limits.bound)):
        j = int(limits.joint[r])
        parent, child = int(joints.parent[j]), int(joints.child[j])
        both = 2.0 if parent >= 0 and moves(model.kind, parent) else 1.0
        for side in range(2):
            i = child if side == 0 else parent
            if i < 0 or not moves(model.kind, i):
                continue
            stiff, damp = both * stops.stiffness[r], both * stops.damping[r]
            axis = world_axis(model, limits, r, bodies, q)
            if joints.type[j] == SLIDER:
                anchor = row(joints.anchor_child, j) if side == 0 else row(joints.anchor_parent, j)
                arm = rotate(row4(bodies.q, i), anchor)
                add_block(stiff, 0.0, 0.0, axis, arm, i, 0, blocks)
                add_block(damp, 0.0, 0.0, axis, arm, i, 1, blocks)
            else:
                for a in range(3):
                    for c in range(3):
                        blocks[i, 0, 3 + a, 3 + c] += stiff * axis[a] * axis[c]
                        blocks[i, 1, 3 + a, 3 + c] += damp * axis[a] * axis[c]


@helper
def add_block(normal, tangent, roll, n, arm, body, j, blocks):
    """Add G^T (normal n nᵀ + tangent (1 - n nᵀ)) G, G = [1, -arm ×], and roll (1 - n nᵀ) of the turning."""
    for c in range(6):
        unit = (1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0)
        u = unit if c < 3 else cross(unit, arm)
        along = (normal - tangent) * dot(n, u)
        f = (tangent * u[0] + along * n[0], tangent * u[1] + along * n[1], tangent * u[2] + along * n[2])
        torque = cross(arm, f)
        for r in range(3):
            blocks[body, j, r, c] += f[r]
            blocks[body, j, 3 + r, c] += torque[r]
            if c >= 3:
                blocks[body, j, 3 + r, c] += roll * (unit[r] - n[r] * dot(n, unit))


@helper
def largest_eigenvalue(inv_mass, s, body, j, so_far, blocks):
    """An upper bound of the eigenvalues of X = H⁻¹ A, all >= 0: tr(X^8)^(1/8), or `so_far` where that is greater.
    A = blocks[body, j] is destroyed; s = I⁻¹."""
    x, y = blocks[body, j], blocks[len(blocks) - 1, j]
    total = 0.0
    for c in range(6):
        t = (x[3, c], x[4, c], x[5, c])
        for r in range(3):
            x[r, c] *= inv_mass
        x[3, c] = s[0] * t[0] + s[1] * t[1] + s[2] * t[2]
        x[4, c] = s[1] * t[0] + s[3] * t[1] + s[4] * t[2]
        x[5, c] = s[2] * t[0] + s[4] * t[1] + s[5] * t[2]
        total += x[c, c]
    if total <= so_far:  # the trace is a bound too
        return so_far
    trace, power = 0.0, 1
    for r in range(6):
        for c in range(6):
            x[r, c] /= total
    for _ in range(SQUARINGS):
        power *= 2
        trace = 0.0
        for r in range(6):
            for c in range(6):
                y[r, c] = 0.0
                for m in range(6):
                    y[r, c] += x[r, m] * x[m, c]
            trace += y[r, r]
        x, y = y, x
    return max(so_far, total * trace ** (1.0 / power))
