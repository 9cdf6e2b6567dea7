"""One measure of how well impulses solve a contact problem, computed by code that no solver uses.

Natural map of contact i, in velocity units:   e_i = |λ_i - P_K(λ_i - ρ_i û_i)| / ρ_i,   û = u + μ|u_T| n

It vanishes for all i exactly where λ is a solution [FCLIB merit function 1; De Saxcé & Feng 1998]. 1/ρ_i is the mean
diagonal entry of the contact's own block of M. The residual is the largest e_i [m/s].
"""

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array
from ..core.sym3 import six, sym_inverse, sym_vec, three
from ..core.vec import add, axpy, cross, dot, norm, row, sub
from ..laws.contact import cone_projection
from .assemble import pair_velocity
from .problem import (
    ANGULAR,
    ARM_A,
    ARM_B,
    BIAS,
    FRICTION,
    INV_INERTIA,
    INV_MASS,
    INVERSE,
    LINEAR,
    NORMAL,
    ContactProblem,
)
from .tree_rows import joint_residual


@helper
def natural_map_of(p, u, n, mu, rho):
    """|p - P_K(p - ρ û)| / ρ of one contact, all in one frame"""
    u_t = axpy(-dot(u, n), n, u)
    shifted = axpy(mu * norm(u_t), n, u)
    return norm(sub(p, cone_projection(axpy(-rho, shifted, p), n, mu))) / rho


@kernel
def system_residual(system):
    """Residual of a system whose velocities contain the effect of its impulses [m/s]."""
    rows, bodies = system.rows, system.bodies
    worst = 0.0
    for k in range(int(system.count[0])):
        u = three(rows, k, BIAS)
        mean = 0.0
        if system.trees.linked[system.contact[k]] == 1:
            inverse = six(rows, k, INVERSE)
            if inverse[0] + inverse[3] + inverse[5] == 0.0:
                continue  # a point on an axis cannot move at all
            xx, _, _, yy, _, zz = sym_inverse(inverse)
            u, mean = add(u, pair_velocity(system, bodies, system.trees.v, k)), (xx + yy + zz) / 3.0
            e = natural_map_of(row(system.impulse, k), u, three(rows, k, NORMAL), rows[k, FRICTION], 1.0 / mean)
            worst = max(worst, e)
            continue
        for side in range(2):
            i = int(system.body_b[k]) if side == 1 else int(system.body_a[k])
            r = three(rows, k, ARM_B) if side == 1 else three(rows, k, ARM_A)
            point = add(three(bodies, i, LINEAR), cross(three(bodies, i, ANGULAR), r))
            u = axpy(1.0 if side == 1 else -1.0, point, u)
            # a third of the trace of 1/m + [r]× S [r]×ᵀ, S = I⁻¹:  1/m + (|r|² tr S - r·S r)/3
            xx, xy, xz, yy, yz, zz = six(bodies, i, INV_INERTIA)
            s_r = sym_vec((xx, xy, xz, yy, yz, zz), r)
            mean += bodies[i, INV_MASS] + (dot(r, r) * (xx + yy + zz) - dot(r, s_r)) / 3.0
        e = natural_map_of(row(system.impulse, k), u, three(rows, k, NORMAL), rows[k, FRICTION], 1.0 / mean)
        worst = max(worst, e)
    trees = system.trees
    return max(worst, joint_residual(int(trees.count[0]), trees.dof, trees.number, trees.v))


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
