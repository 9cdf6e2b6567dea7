"""Resting contact as Baraff writes it, from bodies and contacts directly: A f + b beside M λ + d.

    d̈_i = 2 ṅ_i·(ṗ_b - ṗ_a) + n_i·(p̈_b - p̈_a) = Σ_j a_ij f_j + b_i                       [Baraff II, resting contact]

    a_ij = n_i · (v_b + α_b × r_b - v_a - α_a × r_a),   v = ±n_j/m,   α = I⁻¹ (r_j × ±n_j)
    b_i  = n_i · (F/m + (I⁻¹ τ) × r + (I⁻¹ (L × ω)) × r + ω × (ω × r)) of b, minus the same of a, + 2 ṅ_i·(ṗ_b - ṗ_a)

in our signs: n from a to b, + for the body b of contact j and - for its body a. The brackets matter: the torque is
r_j × n_j, and what it does at p_i is α × r_i. d̈ is our ζ̇, f our λ, A our M and b our d: `contact_equations` finds the
same numbers as TᵀH⁻¹T and from Ṫᵀq̇, with surfaces that may curve. Here bodies are polyhedra: n stays at right angles to
two directions e (`ContactSnapshot.span`), both in a face or along an edge of either body, so that

    ṅ·e = (ω × n)·e   for each e and the ω of its body,   ṅ·n = 0
"""

from typing import NamedTuple

import numpy as np

from ..core.model import Array, BodyKind, Model
from ..problem.contact_snapshot import ContactSnapshot
from .body_state import rotation

TERMS = ("applied forces", "applied torques", "gyroscopic", "centripetal", "turning normal")


class Baraff(NamedTuple):
    """A f + b of the contacts of an instant."""

    A: Array      #: (c, c) [1/kg]
    terms: Array  #: (c, 5) the parts of b in the order of TERMS [m/s2]

    @property
    def b(self) -> Array:
        """(c,) [m/s2]"""
        return self.terms.sum(axis=1)


def baraff(model: Model, x: Array, q: Array, v: Array, w: Array, L: Array, contacts: ContactSnapshot) -> Baraff:
    """A and b from positions x (n, 3), orientations q (n, 4), velocities v, w (n, 3) and angular momenta L (n, 3)."""
    count = len(contacts.key)
    A, terms = np.zeros((count, count)), np.zeros((count, 5))
    n, velocity = contacts.normal, np.zeros((count, 3))
    for body in np.unique(np.concatenate([contacts.body_a, contacts.body_b])).tolist():
        sign = (contacts.body_b == body) * 1.0 - (contacts.body_a == body)
        r = contacts.point - x[body]
        inverse = _inverse_inertia(q[body], model.inv_inertia[body])
        linear = model.inv_mass[body] * n                                  # of a unit force of each contact j
        angular = np.cross(r, n) @ inverse.T
        answer = linear[None] + np.cross(angular[None], r[:, None])        # (i, j, 3): at p_i
        A += sign[:, None] * sign[None] * np.einsum("ik,ijk->ij", n, answer)
        velocity += sign[:, None] * (v[body] + np.cross(w[body], r))
        spin = np.broadcast_to(w[body], r.shape)
        parts = [
            np.broadcast_to(model.inv_mass[body] * contacts.force[body], r.shape),
            np.cross(inverse @ contacts.torque[body], r),
            np.cross(inverse @ np.cross(L[body], w[body]), r) if model.kind[body] == BodyKind.DYNAMIC else 0.0 * r,
            np.cross(spin, np.cross(spin, r)),
        ]
        for k, part in enumerate(parts):
            terms[:, k] += sign * np.einsum("ik,ik->i", n, part)
    spans, turned = contacts.span, np.cross(w[contacts.span_body], n[:, None])
    right = np.concatenate([np.einsum("ijk,ijk->ij", turned, spans), np.zeros((count, 1))], axis=1)
    n_dot = np.linalg.solve(np.concatenate([spans, n[:, None]], axis=1), right[:, :, None])[:, :, 0]
    terms[:, 4] = 2.0 * np.einsum("ik,ik->i", n_dot, velocity)
    return Baraff(A, terms)


def _inverse_inertia(q: Array, inverse: Array) -> Array:
    """R diag(inverse) Rᵀ (3, 3) in the world frame."""
    turn = rotation(q)
    return (turn * inverse) @ turn.T
