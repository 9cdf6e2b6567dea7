"""Measures of a state that no method uses: energy, momentum, penetration."""

import numpy as np

from contactlab.physics.dynamics.forces import spring_end
from contactlab.physics.dynamics.joints import rotor_energy, spring_energy
from contactlab.physics.dynamics.tree_rates import joint_energy
from contactlab.physics.jit import kernel
from contactlab.physics.messages import Energy
from contactlab.physics.model import Array, BodyKind, Model
from contactlab.physics.state import NO_COORDINATES, Bodies, Contacts, JointState
from contactlab.physics.vec import add, cross, dot, norm, put, row, sub

DYNAMIC, LINK = int(BodyKind.DYNAMIC), int(BodyKind.LINK)


@kernel
def totals(kind, mass, gravity, springs, bodies, energy_out, momentum_out):
    """Sums over the bodies that forces move: energy_out (3,) = kinetic, potential, spring [J]; momentum_out (2, 3) =
    momentum [kg m/s] and angular momentum about the world origin [kg m2/s].

    T = Σ ½ (P·v + L·ω),  V = -Σ m g·x,  U = Σ ½ k (s - s_0)²,  p = Σ P,  l = Σ x × P + L
    """
    g = (gravity[0], gravity[1], gravity[2])
    x, P, L, v, w = bodies.x, bodies.P, bodies.L, bodies.v, bodies.w
    kinetic, potential, stored = 0.0, 0.0, 0.0
    p, l = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(kind)):
        if kind[i] == DYNAMIC or kind[i] == LINK:
            x_i, P_i, L_i = row(x, i), row(P, i), row(L, i)
            kinetic += 0.5 * (dot(P_i, row(v, i)) + dot(L_i, row(w, i)))
            potential -= mass[i] * dot(g, x_i)
            p, l = add(p, P_i), add(l, add(cross(x_i, P_i), L_i))
    put(momentum_out, 0, p)
    put(momentum_out, 1, l)
    for k in range(len(springs.body_a)):
        p_a, _ = spring_end(int(springs.body_a[k]), row(springs.anchor_a, k), bodies)
        p_b, _ = spring_end(int(springs.body_b[k]), row(springs.anchor_b, k), bodies)
        stretch = norm(sub(p_b, p_a)) - springs.length[k]
        stored += 0.5 * springs.stiffness[k] * stretch * stretch
    energy_out[0] = kinetic
    energy_out[1] = potential
    energy_out[2] = stored


def measure(model: Model, bodies: Bodies, joints: JointState = NO_COORDINATES) -> tuple[Energy, Array]:
    """Energy, and momentum and angular momentum about the world origin as the rows of a (2, 3) array, in one pass. A
    model with links needs their coordinates: springs and rotors of joints hold energy too."""
    energies, momenta = np.empty(3), np.empty((2, 3))
    totals(model.kind, model.mass, model.gravity, model.springs, bodies, energies, momenta)
    kinetic, potential, stored = energies.tolist()
    if len(joints.v):
        in_springs, in_rotors = joint_energy(model, *joints)
        stored, kinetic = stored + in_springs, kinetic + in_rotors
    if len(model.joints.type):
        stored += spring_energy(model.joints, bodies)
        kinetic += rotor_energy(model.joints, bodies)
    return Energy(kinetic, potential, stored), momenta


def energy(model: Model, bodies: Bodies, joints: JointState = NO_COORDINATES) -> Energy:
    """Kinetic energy of the bodies that forces move, their potential energy in gravity, and what the springs store."""
    return measure(model, bodies, joints)[0]


def momentum(model: Model, bodies: Bodies) -> tuple[Array, Array]:
    """Momentum [kg m/s] and angular momentum about the world origin [kg m2/s] of the dynamic bodies."""
    momenta = measure(model, bodies)[1]
    return momenta[0], momenta[1]


def penetration(contacts: Contacts) -> float:
    """Deepest overlap of any contact [m]; 0 where nothing overlaps."""
    count = int(contacts.count[0])
    return float(max(0.0, -contacts.gap[:count].min())) if count else 0.0
