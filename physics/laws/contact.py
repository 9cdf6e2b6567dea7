"""The laws of contact and their projections, in terms of a contact's frame: component 0 normal, 1 and 2 tangential.

Signorini    0 <= ζ  ⊥  λ >= 0
Coulomb      |λ_T| <= μ λ_n,  and where the surfaces slip λ_T = -μ λ_n u_T/|u_T|
Newton       ζ⁺ >= -e ζ⁻  ⊥  λ >= 0                                           [RBDA eq. 11.64]

Where static friction is greater than kinetic, surfaces that stick hold up to |λ_T| = μ_s λ_n and slip at μ < μ_s. The
law then has two solutions for tangential forces between μ λ_n and μ_s λ_n: surfaces that stuck before go on sticking,
and surfaces that slipped go on slipping.

A contact may oppose turning too: by a moment of at most ℓ_ψ λ_n about the normal, against the relative spin, and of at
most ℓ_r λ_n across it, against rolling. As Coulomb's force it stops the turning, or opposes it with all it has.

With De Saxcé's shift û = u + μ|u_T| n the first two are one complementarity between dual cones, K* ∋ û ⊥ λ ∈ K,
hence λ = P_K(λ - ρ û) for every ρ > 0, with K the friction cone.
"""

import math

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import Array, Materials
from ..core.vec import axpy, dot, norm, put, row, scale

FLUSH = 5e-6  # gap that counts as none, as a part of the gap that counts as touching: 1e-9 m under gravity at 1/240 s


def break_away(materials: Materials) -> Array:
    """μ_s (k, k) of pairs of materials: the coefficient of friction of contacts that stick. It is that of static
    friction where that is greater than μ and μ > 0; else it is μ."""
    mu, mu_s = materials.friction, materials.friction_static
    return np.where((mu_s > mu) & (mu > 0.0), mu_s, mu)


def turning_lengths(materials: Materials) -> Array:
    """ℓ_ψ and ℓ_r (k, k, 2) of pairs of materials [m], 0 where there is none."""
    return np.nan_to_num(np.stack([materials.friction_torsional, materials.friction_rolling], axis=2), nan=0.0)


@helper
def cone_projection(x, n, mu):
    """The point of the friction cone about the unit vector n that is nearest to the 3-vector x.

    x lies in the polar cone: 0;  x lies in the cone: x;  else x_n' = (μ|x_T| + x_n)/(1 + μ²), |x_T'| = μ x_n'
    """
    x_n = dot(x, n)
    x_t = axpy(-x_n, n, x)
    size = norm(x_t)
    if mu * size <= -x_n:
        return (0.0, 0.0, 0.0)
    if size <= mu * x_n:
        return x
    along = (mu * size + x_n) / (1.0 + mu * mu)
    return axpy(along, n, scale(mu * along / size if size > 0.0 else 0.0, x_t))


@helper
def disc_projection(x, radius):
    """The vector of length <= radius nearest to the vector x: Coulomb's law for a known normal force."""
    squared = dot(x, x)
    if squared <= radius * radius:
        return x
    return scale(radius / math.sqrt(squared), x)


@helper
def moment_projection(x, n, spin, roll):
    """The moment nearest to the vector x that is at most `spin` along the unit vector n and `roll` across it."""
    along = dot(x, n)
    return axpy(min(max(along, -spin), spin), n, disc_projection(axpy(-along, n, x), roll))


@helper
def restitution_bias(gap, zeta, restitution, rest_speed, touch, h):
    """The bias [m/s] of a contact's condition ζ⁺ + bias >= 0, and its state: 0 takes no part, 1 rests, 2 is hit.

    gap φ and separation velocity ζ are those in the middle of the step, before any impulse.

    - e > 0 and an approach faster than rest_speed: nothing until the step in which the surfaces would meet,
      φ + ζ h/2 <= 0; in that step ζ⁺ >= -e ζ⁻. Half a step early or late, on average the instant is right.
    - e > 0 and a gap beyond `touch`: no condition. Where another impact of this step drives the surfaces together, they
      meet in the next step, with restitution.
    - else: the surfaces must not overlap in the middle of the next step, φ + h ζ⁺ >= 0. Overlap already there asks
      only for ζ⁺ >= 0; it is taken out by moving positions, which feeds no velocity. A gap that is a small part FLUSH
      of `touch` asks for the same: where more contacts than bodies can meet at once bear a body, gaps that rounding
      left would contradict each other, with φ/h as the velocities that settle which of the contacts carry.
    """
    if restitution > 0.0 and zeta < -rest_speed:
        if gap + 0.5 * h * zeta > 0.0:
            return 0.0, 0
        return restitution * zeta, 2
    if restitution > 0.0 and gap > touch:
        return 0.0, 0
    return gap / h if gap > FLUSH * touch else 0.0, 1


@kernel
def project_cone(x, mu, x_out):
    """Nearest points of friction cones: x (c, 3) in contact frames, mu (c,), x_out (c, 3)."""
    for i in range(len(mu)):
        put(x_out, i, cone_projection(row(x, i), (1.0, 0.0, 0.0), mu[i]))
