"""The contact equations at an instant, and what moves its state to another one: impulses and small displacements."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...books.diagnostics import total_energy
from ...core.interruption import look_up
from ...core.jit import kernel
from ...core.model import Array
from ...core.state import LongArray
from ...core.sym3 import three
from ...core.vec import row4, unrotate
from ...dynamics.constraints.reactions import add_reactions, reactions_to
from ...dynamics.constraints.reactions import displace as displace_free
from ...dynamics.free_body import velocity_from_momentum
from ...dynamics.trees.kinematics import advance, place_links
from ...problem.contact_equations import contact_matrix, inner, push
from .rates import Instant, RateScratch, equations_here, take_coordinates
from .tolerances import ASIDE, STRAIGHT

AT_ONCE = 48  # rows of M made in one call: of the thousands that memory allows a tenth of a second, then it looks up


def equations(at: Instant, pairs: LongArray) -> tuple[Array, Array, Array]:
    """M (3 c, 3 c) [1/kg], d (3 c,) [m/s2] and the velocities u (3 c,) [m/s] of pairs, normal and two tangents of each
    [RBDA eqs. 11.34–11.36]; they are left in the scratch, which must have room for them."""
    count = len(pairs)
    M, d = np.zeros((3 * count, 3 * count)), np.zeros(3 * count)
    u = velocities(at, pairs, 1)
    for first in range(0, 3 * count, AT_ONCE):
        contact_matrix(first, min(first + AT_ONCE, 3 * count), at.scratch.equations, M, d)
        look_up()
    return M, d, u


def velocities(at: Instant, pairs: LongArray, weigh: int = 0) -> Array:
    """The velocities u (3 c,) of pairs alone; they and the witnesses are left in the scratch. weigh = 1: what
    `matrix_of` needs, too."""
    count = len(pairs)
    if 3 * count > len(at.scratch.lam):
        raise RuntimeError("no room for the contacts")
    equations_here(at, np.ascontiguousarray(pairs), count, weigh)
    return at.scratch.equations.u[: 3 * count].copy()


def root_of_motion(at: Instant, count: int) -> Array | None:
    """G (3 c, n_v) with M = G Gᵀ of so many contacts, whose equations `equations` has just left in the scratch: J B,
    B Bᵀ = H⁻¹, six columns of each free body. None where links or joints take part."""
    eq = at.scratch.equations
    if len(eq.trees.v) + len(eq.reactions.lam) > 0:
        return None
    G = np.zeros((3 * count, len(eq.free)))
    write_root(at.model, at.bodies, eq, G)
    return G


@kernel
def write_root(model, bodies, eq, G_out):
    """See `root_of_motion`; I⁻¹ = R I_body⁻¹ Rᵀ, of which R √(I_body⁻¹) is a root."""
    for r in range(len(G_out)):
        for side in range(2):
            p = int(eq.place[r // 3, side])
            if p < 0:
                continue
            i = int(eq.owner[p // 6])
            root, turn = math.sqrt(model.inv_mass[i]), unrotate(row4(bodies.q, i), three(eq.T, r, p + 3))
            for k in range(3):
                G_out[r, p + k] = root * eq.T[r, p + k]
                G_out[r, p + 3 + k] = math.sqrt(model.inv_inertia[i, k]) * turn[k]


def matrix_of(at: Instant, rows: NDArray[np.integer[Any]]) -> Array:
    """M (k, k) of some rows (k,) of the equations that `velocities` has weighed."""
    M, some = np.empty((len(rows), len(rows))), np.asarray(rows, np.int32)
    for first in range(0, len(rows), AT_ONCE):
        fill_matrix(first, min(first + AT_ONCE, len(rows)), at.scratch.equations, some, M)
        look_up()
    return M


@kernel
def fill_matrix(first, end, eq, rows, M_out):
    """Rows first … end - 1 of `matrix_of`, as far as the diagonal, with the columns that mirror them."""
    for i in range(first, end):
        for j in range(i + 1):
            M_out[i, j] = M_out[j, i] = inner(eq, min(rows[i], rows[j]), max(rows[i], rows[j]))


def motion_in_rows(at: Instant, pairs: LongArray, lam: Array) -> tuple[Array, Array]:
    """Velocities u (3 c,) [m/s] and accelerations Tᵀq̈ + Ṫᵀq̇ (3 c,) [m/s2] of pairs, while the forces lam (k,) act at
    the contacts whose equations `equations` has just left in the scratch. Then T and u of the pairs are there."""
    eq, rows = at.scratch.equations, 3 * len(pairs)
    q_dot_dot = eq.free + lam @ eq.HT[: len(lam)]
    u = velocities(at, pairs)
    return u, eq.T[:rows] @ q_dot_dot + eq.rate[:rows]


def world_forces(scratch: RateScratch, lam: Array) -> Array:
    """Forces or impulses λ (3 c,) in the rows of the equations, in the world frame (c, 3)."""
    f, eq = lam.reshape(-1, 3), scratch.equations
    count = len(f)
    n, t_1, t_2 = scratch.witness.normal[:count], eq.tangent_1[:count], eq.tangent_2[:count]
    return f[:, :1] * n + f[:, 1:2] * t_1 + f[:, 2:] * t_2


def slip_velocities(scratch: RateScratch, count: int) -> Array:
    """Slip (count, 3) of the first contacts of the equations, world frame [m/s]."""
    eq = scratch.equations
    u = eq.u[: 3 * count].reshape(-1, 3)
    return u[:, 1:2] * eq.tangent_1[:count] + u[:, 2:] * eq.tangent_2[:count]


def goes_straight(slip: Array, direction: Array) -> bool:
    """Whether a slip (3,) [m/s] goes on in a unit direction (3,)."""
    (a, b, c), (x, y, z) = slip.tolist(), direction.tolist()
    along = a * x + b * y + c * z
    return along > 0.0 and math.hypot(b * z - c * y, c * x - a * z, a * y - b * x) <= STRAIGHT * along + ASIDE


def energy_at(at: Instant) -> float:
    """All energy of the state [J]."""
    return total_energy(at.model, at.bodies, *at.joints)


def update_links(at: Instant) -> None:
    """Put the links where their coordinates say, in the scratch too."""
    if len(at.joints.v):
        take_coordinates(at)
        place_links(at.model, *at.joints, at.scratch.equations.trees.work, at.bodies)


def add_impulses(at: Instant, p: Array) -> None:
    """Change the motion by impulses p (3 c,) [N s] in the first rows of the equations: q̇ += H⁻¹T p."""
    eq, rows = at.scratch.equations, len(p)
    impulse, change = p @ eq.T[:rows], p @ eq.HT[:rows]
    add_reactions(eq.reactions, reactions_to(eq.reactions, impulse), impulse)
    push(at.model, eq, impulse, at.bodies)
    at.joints.v[:] += change[len(change) - len(at.joints.v) :]
    update_links(at)


def displace(at: Instant, change: Array) -> None:
    """Displace the bodies by a small change (n_v,) of the coordinates; momenta and joint velocities stay."""
    bodies, joints = at.bodies, at.joints
    displace_free(at.scratch.equations.slot, change, bodies)
    velocity_from_momentum(at.model, bodies)
    if len(joints.v):
        advance(at.model.trees.table, joints.q.copy(), change[len(change) - len(joints.v) :], 1.0, joints.q)
        update_links(at)
