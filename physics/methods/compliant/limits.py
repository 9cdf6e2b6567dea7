"""How fast the bodies on their surfaces can vibrate and creep: what bounds the explicit steps of `compliant`."""

import math

from ...core.jit import helper, kernel
from ...core.model import DYNAMIC
from ...core.sym3 import sym_vec, world_inverse_inertia
from ...core.vec import cross, dot, norm, row, row4, scale, sub
from ...dynamics.constraints.limits import maximal_directions
from ...dynamics.motion import moves
from ...laws.soft import NORMAL_1, NORMAL_2, TANGENT_1, UNITS, depth_of_impact, gains_at, varies
from .rates import CLOSED, LAW, contact_motion, gain
from .turning import DENT, DRAG, ROLL, SPIN

SQUARINGS = 3  # λ_max <= tr(X^8)^(1/8), at most 6^(1/8) = 1.25 times too much


@kernel
def rate_limits(model, soft, bodies, stops, q, blocks):
    """Bounds for the explicit step: largest ω² [1/s2] and damping rate [1/s] of bodies on their surfaces, largest rate
    [1/s] at which surfaces recover or springs in series relax, and that of turning. q are the positions of joints;
    blocks (n, 2, 6, 6) and (2, 6, 6) more are scratch.

    The eigenvalues of H⁻¹ Σ Jᵀ K J over all contacts are at most the largest of the blocks H_i⁻¹ Σ J_iᵀ K J_i of single
    bodies, contacts between two that move counting twice: |J u|² <= 2 |J_a u_a|² + 2 |J_b u_b|². Joints only take
    freedom away, which makes no eigenvalue larger.
    """
    contacts, slot, surfaces, work = soft.contacts, soft.slot, soft.surfaces, soft.work
    law, closed = soft.choice[LAW], soft.choice[CLOSED]
    units, turn, kind, mass, bx = work.units, work.turn, model.kind, model.mass, bodies.x
    gap, normal, point, body_a, body_b = contacts.gap, contacts.normal, contacts.point, contacts.body_a, contacts.body_b
    blocks[:] = 0.0
    drag = 0.0
    for k in range(int(surfaces.count[0]) if closed == 0 else 0):
        for j in range(0, UNITS, 2):
            stiff, damp = gain(units, k, j)
            if damp > 0.0 and stiff < math.inf:
                drag = max(drag, stiff / damp)
    for i in range(int(contacts.count[0])):
        k = int(slot[i])
        a, b, n, p = int(body_a[i]), int(body_b[i]), row(normal, i), row(point, i)
        k1, d1 = gain(units, k, NORMAL_1)
        k2, d2 = gain(units, k, NORMAL_2)
        stiff, damp = k1, d1
        if k2 < math.inf:  # the stiffer branch: at high frequency the dampers are rigid
            damp = 0.0 if d1 == 0.0 else 1.0 / (1.0 / d1 + 1.0 / d2)
            drag = max(drag, (k1 + k2) / (d1 + d2))
        kt, dt = gain(units, k, TANGENT_1)
        if varies(law):  # K and D at the depth there is, or there will be after this approach
            _, _, zeta, _ = contact_motion(model.motions, bodies, a, b, p, n)
            w = mobility(mass[a]) + mobility(mass[b])
            depth = max(-gap[i], depth_of_impact(law, k1, zeta, w) if zeta < 0.0 and w > 0.0 else 0.0)
            stiff, damp = gains_at(law, k1, d1, depth)
        if dt > 0.0:
            drag = max(drag, kt / dt)
        move_a, move_b = moves(kind, a), moves(kind, b)
        both = 2.0 if move_a and move_b else 1.0
        stiff, kt, damp, dt = both * stiff, both * kt, both * damp, both * dt
        spin = both * turn[k, DRAG] if turn[k, SPIN] > 0.0 else 0.0
        roll = both * (turn[k, DENT] + (turn[k, DRAG] if turn[k, ROLL] > 0.0 else 0.0))
        if move_a:
            add_blocks((stiff, kt, damp, dt, spin, roll), n, sub(p, row(bx, a)), a, blocks)
        if move_b:
            add_blocks((stiff, kt, damp, dt, spin, roll), n, sub(p, row(bx, b)), b, blocks)
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
    return square, damping, drag, turning_rate(model, bodies)


@kernel
def turning_rate(model, bodies):
    """The largest k = (|ω|² |L/I - ω|)^(1/3) [1/s] of the free bodies, I their least moment. A stage that goes straight
    on has the axes of a body off by ½ (ω h)², and ω = L/I - (1/I - I_body⁻¹) L by ½ (ω h)² |L/I - ω|, which turns the
    body by ½ (k h)³: by whole turns in a usual step, where I is 1e-6 of the other moments."""
    largest = 0.0
    for i in range(len(model.kind)):
        if model.kind[i] == DYNAMIC:
            w, inverse = row(bodies.w, i), row(model.inv_inertia, i)
            most = max(inverse[0], max(inverse[1], inverse[2]))
            largest = max(largest, dot(w, w) * norm(sub(scale(most, row(bodies.L, i)), w)))
    return largest ** (1.0 / 3.0)


@helper
def mobility(inertia):
    """1/m or 1/I; 0 of a link without mass, which moves with others."""
    return 1.0 / inertia if inertia > 0.0 else 0.0


@helper
def add_stop_blocks(model, stops, bodies, q, blocks):
    """Add K Jᵀ J and D Jᵀ J of the stops of joints, the lower halves."""
    limits, joints = stops.limits, model.joints
    for r in range(len(limits.bound)):
        j = int(limits.joint[r])
        parent, child = int(joints.parent[j]), int(joints.child[j])
        f, t_a, t_b = maximal_directions(model, limits, r, bodies, q)
        both = 2.0 if moves(model.kind, parent) else 1.0
        for side in range(2):
            i, turn = (parent, t_a) if side == 0 else (child, t_b)
            along = (f[0], f[1], f[2], turn[0], turn[1], turn[2])
            for a in range(6 if moves(model.kind, i) else 0):
                for c in range(a + 1):
                    blocks[i, 0, a, c] += both * stops.stiffness[r] * along[a] * along[c]
                    blocks[i, 1, a, c] += both * stops.damping[r] * along[a] * along[c]


@helper
def add_blocks(gains, n, arm, body, blocks):
    """Add Gᵀ (K n nᵀ + K_t (1 - n nᵀ)) G, G = [1, -arm ×], to the first block of a body; to the second the same of D
    and D_t, and what opposes turning, about and across the normal. gains: K, K_t, D, D_t and these two. Of these
    symmetric matrices the lower half is written."""
    stiff, stiff_t, damp, damp_t, spin, roll = gains
    m, square = cross(arm, n), dot(arm, arm)
    skew = ((0.0, -arm[2], arm[1]), (arm[2], 0.0, -arm[0]), (-arm[1], arm[0], 0.0))
    k, d = stiff - stiff_t, damp - damp_t
    for r in range(3):
        for c in range(r + 1):
            eye = 1.0 if r == c else 0.0
            nn, mm, across = n[r] * n[c], m[r] * m[c], square * eye - arm[r] * arm[c]
            blocks[body, 0, r, c] += stiff_t * eye + k * nn
            blocks[body, 1, r, c] += damp_t * eye + d * nn
            blocks[body, 0, 3 + r, 3 + c] += stiff_t * across + k * mm
            blocks[body, 1, 3 + r, 3 + c] += damp_t * across + d * mm + roll * (eye - nn) + spin * nn
        for c in range(3):
            blocks[body, 0, 3 + r, c] += stiff_t * skew[r][c] + k * m[r] * n[c]
            blocks[body, 1, 3 + r, c] += damp_t * skew[r][c] + d * m[r] * n[c]


@helper
def largest_eigenvalue(inv_mass, s, body, j, so_far, blocks):
    """An upper bound of the eigenvalues of X = H⁻¹ A, all >= 0: tr(X^8)^(1/8), or `so_far` where that is greater.
    A = blocks[body, j], of which the lower half is read, is destroyed; s = I⁻¹."""
    x, y = blocks[body, j], blocks[len(blocks) - 1, j]
    for r in range(6):
        for c in range(r):
            x[c, r] = x[r, c]
    total = 0.0
    for c in range(6):
        t = (x[3, c], x[4, c], x[5, c])
        turned = sym_vec(s, t)
        for r in range(3):
            x[r, c] *= inv_mass
            x[3 + r, c] = turned[r]
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
