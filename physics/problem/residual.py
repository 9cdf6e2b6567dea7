"""One measure of how well impulses solve a contact problem. It is the same for all solvers.

Natural map of contact i, in velocity units:   e_i = |λ_i - P_K(λ_i - ρ_i û_i)| / ρ_i,   û = u + μ|u_T| n

It vanishes for all i exactly where λ is a solution [FCLIB merit function 1; De Saxcé & Feng 1998]. 1/ρ_i is the mean
diagonal entry of the contact's own block of M. The residual is the largest e_i [m/s].

λ counts as a solution where rounding and a tolerance τ [m/s] for the own velocity of each contact explain every e_i,
with w_i = 1/ρ_i:

    e_i <= (1 + μ_i) (τ Σ_j |M_ij|/w_j  +  ROUNDED (√w_i max_j |d_j|/√w_j + Σ_j |M_ij λ_j|))
"""

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array
from ..core.sym3 import six, sym_inverse, sym_vec, three
from ..core.vec import add, axpy, dot, norm, row, sub
from ..laws.contact import cone_projection, disc_projection
from .assemble import flat
from .joint_rows import row_residual
from .moments import moment_residual
from .problem import ContactProblem
from .system import (
    ARM_A,
    ARM_B,
    BIAS,
    FRICTION,
    GRAB_BLOCK,
    INV_INERTIA,
    INV_MASS,
    INVERSE,
    MOMENT,
    MOUSE,
    NORMAL,
    OTHERS,
    block_velocity,
    pair_velocity,
    row_velocity,
)

ROUNDED = 1e-11    # a residual explained by rounding: relative to the sizes of what adds up to it
SYMMETRIC = 1e-9   # |M_ij - M_ji| that counts as rounding, relative to M_ii + M_jj


@helper
def natural_map_of(p, u, n, mu, rho):
    """|p - P_K(p - ρ û)| / ρ of one contact, all in one frame"""
    u_t = axpy(-dot(u, n), n, u)
    shifted = axpy(mu * norm(u_t), n, u)
    return norm(sub(p, cone_projection(axpy(-rho, shifted, p), n, mu))) / rho


@helper
def trace_at(bodies, i, r):
    """Trace of 1/m + [r]× S [r]×ᵀ, S = I⁻¹:  3/m + |r|² tr S - r·S r"""
    xx, xy, xz, yy, yz, zz = six(bodies, i, INV_INERTIA)
    return 3.0 * bodies[i, INV_MASS] + dot(r, r) * (xx + yy + zz) - dot(r, sym_vec((xx, xy, xz, yy, yz, zz), r))


@helper
def spring_map_of(p, u, hold, limit):
    """Natural map |p - P_disc(p - R u)| / ρ of the mouse spring, u = W p + γ S p + bias …, R = (W + γ S)⁻¹ as `hold`, ρ
    the mean of its diagonal. 0 where nothing answers the spring."""
    trace = hold[0] + hold[3] + hold[5]
    return 3.0 * norm(sub(p, disc_projection(sub(p, sym_vec(hold, u)), limit))) / trace if trace > 0.0 else 0.0


@helper
def grab_residual(system):
    """Residual of the mouse spring, and |u| + |p|/ρ; see `system_residual`."""
    grab = system.grab
    p, S, R = flat(grab.impulse), grab.matrix, grab.inverse
    hold = (R[0], R[1], R[2], R[3], R[4], R[5])
    u = add(flat(grab.bias), block_velocity(system.blocks, GRAB_BLOCK, system.motion.q_dot))
    u = axpy(grab.softness[0], sym_vec((S[0], S[1], S[2], S[3], S[4], S[5]), p), u)
    trace = hold[0] + hold[3] + hold[5]
    return spring_map_of(p, u, hold, grab.limit[0]), norm(u) + (3.0 * norm(p) / trace if trace > 0.0 else 0.0)


@helper
def contact_residual(system, k):
    """Residual of contact k [m/s], and |u| + |p|/ρ; see `system_residual`."""
    rows, bodies, motion = system.rows, system.motion.bodies, system.motion
    u = add(three(rows, k, BIAS), pair_velocity(system, motion, k))
    if system.block[k] >= 0:
        inverse = six(rows, k, INVERSE)
        if inverse[0] + inverse[3] + inverse[5] == 0.0:
            return 0.0, 0.0  # a point on an axis cannot move at all
        xx, _, _, yy, _, zz = sym_inverse(inverse)
        trace = xx + yy + zz
    else:
        trace = (trace_at(bodies, int(system.body_a[k]), three(rows, k, ARM_A))
                 + trace_at(bodies, int(system.body_b[k]), three(rows, k, ARM_B)))
    p = row(system.impulse, k)
    return (natural_map_of(p, u, three(rows, k, NORMAL), rows[k, FRICTION], 3.0 / trace),
            norm(u) + norm(p) * trace / 3.0)


@kernel
def system_residual(system):
    """Residual of a system whose velocities contain the effect of its impulses [m/s], and what it is to be compared
    with: the largest |u| + |p|/ρ, the velocity of a row if its own impulse p were missing."""
    blocks, motion = system.blocks, system.motion
    worst, size = 0.0, 0.0
    for k in range(int(system.count[0])):
        e, own = contact_residual(system, k)
        worst, size = max(worst, e), max(size, own)
    for k in range(int(blocks.count[OTHERS])):
        if blocks.kind[k] == MOUSE:
            e, own = grab_residual(system)
        elif blocks.kind[k] == MOMENT:
            e, own = moment_residual(system, k)
        else:
            e, own = row_residual(blocks, k, motion.q_dot), abs(blocks.bias[k] + row_velocity(blocks, k, motion.q_dot))
            own += abs(blocks.impulse[k]) / blocks.step[k] if blocks.step[k] > 0.0 else 0.0
        worst, size = max(worst, e), max(size, own)
    return worst, size


@helper
def own_inertia(M, rows, w_out):
    """w (k,) of each row: mean diagonal entry of its contact's own block, which has so many rows; where that is not
    positive, the largest of all, for such a point cannot move."""
    top = 0.0
    for i in range(0, len(M), rows):
        mean = 0.0
        for r in range(i, i + rows):
            mean += M[r, r] / rows
        top = max(top, mean)
        for r in range(i, i + rows):
            w_out[r] = mean
    for r in range(len(M)):
        if not w_out[r] > 0.0:
            w_out[r] = top if top > 0.0 else 1.0


@helper
def explained_by(M, lam, w, size, tolerance, i, rows):
    """The bound on e_i/(1 + μ_i), from the row of contact i where it is largest; size = max |d_j|/√w_j."""
    most = 0.0
    for r in range(i, i + rows):
        moved, terms = 0.0, np.sqrt(w[i]) * size
        for j in range(len(w)):
            moved += abs(M[r, j]) / w[j]
            terms += abs(M[r, j] * lam[j])
        most = max(most, tolerance * max(moved, 1.0) + ROUNDED * terms)
    return most


@kernel
def judge(M, d, friction, lam, tolerance):
    """The residual of λ (k,), inf where it is not finite, and whether rounding and the tolerance [m/s] explain it.
    friction (c,): empty without friction."""
    rows = 3 if len(friction) > 0 else 1
    w, size = np.empty(len(d)), 0.0
    own_inertia(M, rows, w)
    for r in range(len(d)):
        size = max(size, abs(d[r]) / np.sqrt(w[r]))
        if not np.isfinite(lam[r]):
            return np.inf, False
    u, worst, explained = np.dot(M, lam) + d, 0.0, True
    for i in range(0, len(d), rows):
        if rows == 1:
            mu, e = 0.0, abs(min(w[i] * lam[i], u[i]))
        else:
            mu = friction[i // 3]
            e = natural_map_of((lam[i], lam[i + 1], lam[i + 2]), (u[i], u[i + 1], u[i + 2]), (1.0, 0.0, 0.0), mu,
                               1.0 / w[i])
        worst, left = max(worst, e), e / (1.0 + mu)
        if left > tolerance + ROUNDED * np.sqrt(w[i]) * size:
            explained = explained and left <= explained_by(M, lam, w, size, tolerance, i, rows)
    return (worst, explained) if worst < np.inf else (np.inf, False)


@kernel
def ready(M, lam, symmetric):
    """Make a guess λ that is not finite 0; whether M is symmetric but for rounding, where that is asked for."""
    finite = True
    for i in range(len(lam)):
        finite = finite and np.isfinite(lam[i])
    if not finite:
        lam[:] = 0.0
    if symmetric == 1:
        for i in range(len(M)):
            for j in range(i):
                if abs(M[i, j] - M[j, i]) > SYMMETRIC * (M[i, i] + M[j, j]):
                    return False
    return True


def natural_map(problem: ContactProblem, lam: Array) -> float:
    """Natural-map residual of impulses lam (k,) [m/s]; 0 exactly at a solution, inf where they are not finite."""
    return judge(problem.M, problem.d, problem.friction, np.ascontiguousarray(lam, np.float64), 0.0)[0]
