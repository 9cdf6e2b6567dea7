"""Totals of a state: energy, momentum, angular momentum; and the penetration of contacts."""

import math

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import DYNAMIC, LINK, Array, Model
from ..core.report import Energy
from ..core.state import NO_COORDINATES, Bodies, Contacts, JointState
from ..core.vec import add, cross, dot, norm, put, row, sub
from ..dynamics.constraints.axes import rotor_energy, spring_energy
from ..dynamics.forces import spring_end
from ..dynamics.trees.rates import joint_energy


@helper
def energies(model, bodies, q, v):
    """Kinetic energy of the bodies that forces move, their potential energy in gravity, and the energy of springs [J].
    q (n_q,) and v (n_v,) are the coordinates of links: the springs and rotors (I) of joints hold energy too.

    T = Σ ½ (P·v + L·ω) + Σ ½ I v²,  V = -Σ m g·x,  U = Σ ½ k (s - s_0)²
    """
    kind, springs = model.kind, model.springs
    g = (model.gravity[0], model.gravity[1], model.gravity[2])
    kinetic, potential, stored = 0.0, 0.0, 0.0
    for i in range(len(kind)):
        if kind[i] == DYNAMIC or kind[i] == LINK:
            kinetic += 0.5 * (dot(row(bodies.P, i), row(bodies.v, i)) + dot(row(bodies.L, i), row(bodies.w, i)))
            potential -= model.mass[i] * dot(g, row(bodies.x, i))
    for k in range(len(springs.body_a)):
        p_a, _ = spring_end(int(springs.body_a[k]), row(springs.anchor_a, k), bodies)
        p_b, _ = spring_end(int(springs.body_b[k]), row(springs.anchor_b, k), bodies)
        stretch = norm(sub(p_b, p_a)) - springs.length[k]
        stored += 0.5 * springs.stiffness[k] * stretch * stretch
    if len(v) > 0:
        in_springs, in_rotors = joint_energy(model, q, v)
        stored, kinetic = stored + in_springs, kinetic + in_rotors
    if len(model.joints.type) > 0:
        stored += spring_energy(model.joints, bodies)
        kinetic += rotor_energy(model.joints, bodies)
    return kinetic, potential, stored


@helper
def momenta(model, bodies):
    """Momentum Σ P [kg m/s] and angular momentum about the world origin Σ (x × P + L) [kg m2/s] of the bodies that
    forces move."""
    p, l = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(model.kind)):
        if model.kind[i] == DYNAMIC or model.kind[i] == LINK:
            P = row(bodies.P, i)
            p, l = add(p, P), add(l, add(cross(row(bodies.x, i), P), row(bodies.L, i)))
    return p, l


@kernel
def totals(model, bodies, q, v, energy_out, momentum_out):
    """energy_out (3,) = kinetic, potential, spring [J]; momentum_out (2, 3), see `momenta`."""
    energy_out[0], energy_out[1], energy_out[2] = energies(model, bodies, q, v)
    p, l = momenta(model, bodies)
    put(momentum_out, 0, p)
    put(momentum_out, 1, l)


@kernel
def total_energy(model, bodies, q, v):
    """T + V + U of `energies` [J]."""
    kinetic, potential, stored = energies(model, bodies, q, v)
    return kinetic + potential + stored


@helper
def all_finite(bodies):
    """Whether all poses and momenta are finite numbers."""
    total = 0.0
    for i in range(len(bodies.x)):
        for j in range(3):
            total += bodies.x[i, j] + bodies.P[i, j] + bodies.L[i, j]
        for j in range(4):
            total += bodies.q[i, j]
    return math.isfinite(total)


@helper
def contacts_finite(contacts):
    """Whether places, gaps, rates and forces of all contacts are finite numbers."""
    total = 0.0
    for i in range(contacts.count[0]):
        total += contacts.gap[i] + contacts.zeta[i] + contacts.zeta_dot[i] + contacts.lam[i] + contacts.slip[i]
        for j in range(3):
            total += contacts.point[i, j] + contacts.normal[i, j] + contacts.impulse[i, j]
    return math.isfinite(total)


def measure(model: Model, bodies: Bodies, joints: JointState = NO_COORDINATES) -> tuple[Energy, Array]:
    """Energy, and momentum and angular momentum about the world origin as the rows of a (2, 3) array. A model with
    links needs their coordinates `joints`."""
    found, momentum = np.empty(3), np.empty((2, 3))
    totals(model, bodies, *joints, found, momentum)
    return Energy(*found.tolist()), momentum


def energy(model: Model, bodies: Bodies, joints: JointState = NO_COORDINATES) -> Energy:
    """Energy by kind; a model with links needs their coordinates `joints`."""
    return measure(model, bodies, joints)[0]


def momentum(model: Model, bodies: Bodies) -> tuple[Array, Array]:
    """Momentum [kg m/s] and angular momentum about the world origin [kg m2/s] of the bodies that forces move."""
    momenta = measure(model, bodies)[1]
    return momenta[0], momenta[1]


def penetration(contacts: Contacts) -> float:
    """Deepest overlap of any contact [m]; 0 where nothing overlaps."""
    count = int(contacts.count[0])
    return float(max(0.0, -contacts.gap[:count].min())) if count else 0.0
