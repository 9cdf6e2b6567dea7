"""One measure of how well impulses solve a contact problem, computed by code that no solver uses.

Natural map of contact i, in velocity units:   e_i = |λ_i - P_K(λ_i - ρ_i û_i)| / ρ_i,   û = u + μ|u_T| n

It vanishes for all i exactly where λ is a solution [FCLIB merit function 1; De Saxcé & Feng 1998]. 1/ρ_i is the mean
diagonal entry of the contact's own block of M. The residual is the largest e_i [m/s].
"""

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array
from ..core.sym3 import six, sym_inverse, sym_vec, three
from ..core.vec import add, axpy, dot, norm, row, sub
from ..laws.contact import cone_projection
from .joint_rows import row_residual
from .problem import ContactProblem
from .system import (
    ARM_A,
    ARM_B,
    BIAS,
    FRICTION,
    INV_INERTIA,
    INV_MASS,
    INVERSE,
    LIMIT,
    NORMAL,
    OTHERS,
    pair_velocity,
)


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


@kernel
def system_residual(system):
    """Residual of a system whose velocities contain the effect of its impulses [m/s]."""
    rows, bodies, blocks, motion = system.rows, system.motion.bodies, system.blocks, system.motion
    worst = 0.0
    for k in range(int(system.count[0])):
        u = add(three(rows, k, BIAS), pair_velocity(system, motion, k))
        if system.block[k] >= 0:
            inverse = six(rows, k, INVERSE)
            if inverse[0] + inverse[3] + inverse[5] == 0.0:
                continue  # a point on an axis cannot move at all
            xx, _, _, yy, _, zz = sym_inverse(inverse)
            trace = xx + yy + zz
        else:
            trace = (trace_at(bodies, int(system.body_a[k]), three(rows, k, ARM_A))
                     + trace_at(bodies, int(system.body_b[k]), three(rows, k, ARM_B)))
        e = natural_map_of(row(system.impulse, k), u, three(rows, k, NORMAL), rows[k, FRICTION], 3.0 / trace)
        worst = max(worst, e)
    for k in range(int(blocks.count[OTHERS])):
        if blocks.kind[k] >= LIMIT:
            worst = max(worst, row_residual(blocks, k, motion.q_dot))
    return worst


@kernel
def dense_residual(M, u, lam, friction):
    """Residual of a frictional problem with u = M lam + d."""
    worst = 0.0
    for i in range(len(friction)):
        own = M[3 * i, 3 * i] + M[3 * i + 1, 3 * i + 1] + M[3 * i + 2, 3 * i + 2]
        rho = 3.0 / own if own > 0.0 else 1.0  # a point on an axis cannot move at all
        p = (lam[3 * i], lam[3 * i + 1], lam[3 * i + 2])
        v = (u[3 * i], u[3 * i + 1], u[3 * i + 2])
        worst = max(worst, natural_map_of(p, v, (1.0, 0.0, 0.0), friction[i], rho))
    return worst


def natural_map(problem: ContactProblem, lam: Array) -> float:
    """Natural-map residual of impulses lam (k,) [m/s]; 0 exactly at a solution."""
    lam = np.ascontiguousarray(lam, np.float64)
    u = problem.M @ lam + problem.d
    if problem.dimension == 3:
        return float(dense_residual(problem.M, u, lam, problem.friction))
    if not len(lam):
        return 0.0
    own = np.diagonal(problem.M)
    rho = 1.0 / np.where(own > 0.0, own, own.max() or 1.0)  # a point on an axis cannot move at all
    return float(np.max(np.abs(lam - np.maximum(lam - rho * u, 0.0)) / rho))
