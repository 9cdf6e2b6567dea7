"""One measure of how well impulses solve a contact problem, computed by code that no solver uses.

Natural map of contact i, in velocity units:   e_i = |λ_i - P_K(λ_i - ρ_i û_i)| / ρ_i,   û = u + μ|u_T| n

It vanishes for all i exactly where λ is a solution [FCLIB merit function 1; De Saxcé & Feng 1998]. 1/ρ_i is the mean
diagonal entry of the contact's own block of M. The residual is the largest e_i [m/s].
"""

import numpy as np

from contactlab.physics.jit import helper, kernel
from contactlab.physics.laws import cone_projection
from contactlab.physics.model import Array
from contactlab.physics.problem import ContactProblem
from contactlab.physics.vec import add, axpy, cross, dot, norm, row, sub


@helper
def natural_map_of(p, u, n, mu, rho):
    """|p - P_K(p - ρ û)| / ρ of one contact, all in one frame"""
    u_t = axpy(-dot(u, n), n, u)
    shifted = axpy(mu * norm(u_t), n, u)
    return norm(sub(p, cone_projection(axpy(-rho, shifted, p), n, mu))) / rho


@kernel
def system_residual(system):
    """Residual of a system whose velocities contain the effect of its impulses [m/s]."""
    worst = 0.0
    for k in range(int(system.count[0])):
        u = row(system.bias, k)
        mean = 0.0  # trace of the contact's own block: 3/m + 2 ... summed from both bodies
        for side in range(2):
            i = int(system.body_b[k]) if side == 1 else int(system.body_a[k])
            r = row(system.arm_b, k) if side == 1 else row(system.arm_a, k)
            v = (system.velocity[i, 0], system.velocity[i, 1], system.velocity[i, 2])
            w = (system.velocity[i, 3], system.velocity[i, 4], system.velocity[i, 5])
            u = axpy(1.0 if side == 1 else -1.0, add(v, cross(w, r)), u)
            # tr([r]× S [r]×ᵀ) = |r|² tr S - r·S r
            s = system.response
            sr = (
                s[i, 1] * r[0] + s[i, 2] * r[1] + s[i, 3] * r[2],
                s[i, 2] * r[0] + s[i, 4] * r[1] + s[i, 5] * r[2],
                s[i, 3] * r[0] + s[i, 5] * r[1] + s[i, 6] * r[2],
            )
            mean += s[i, 0] + (dot(r, r) * (s[i, 1] + s[i, 4] + s[i, 6]) - dot(r, sr)) / 3.0
        e = natural_map_of(row(system.impulse, k), u, row(system.normal, k), system.friction[k], 1.0 / mean)
        worst = max(worst, e)
    return worst


@kernel
def dense_residual(M, u, lam, friction):
    """Residual of a frictional problem with u = M lam + d."""
    worst = 0.0
    for i in range(len(friction)):
        rho = 3.0 / (M[3 * i, 3 * i] + M[3 * i + 1, 3 * i + 1] + M[3 * i + 2, 3 * i + 2])
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
    rho = 1.0 / np.diagonal(problem.M)
    return float(np.max(np.abs(lam - np.maximum(lam - rho * u, 0.0)) / rho))
