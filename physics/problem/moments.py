"""Moments of contacts against spinning and rolling, as rows of the contact problem: blocks of three rows.

    u = ω_b - ω_a + spin of running surfaces,    m on body b, -m on a
    |m·n| <= ℓ_ψ λ,  |m - (m·n) n| <= ℓ_r λ,     λ the normal impulse of the contact

The spin u·n and the rolling u - (u·n) n stop, or are opposed with all there is: m is the moment within these bounds
that is nearest to m - ρ u, for every ρ > 0. As Coulomb's friction at a known load this has one solution.
"""

import numpy as np

from ..core.jit import helper, kernel
from ..core.model import LINK
from ..core.sym3 import put_three, six, sym_vec, three
from ..core.vec import add, axpy, dot, norm, put, rotate, row, row4, scale, sub
from ..dynamics.trees.contacts import carried_velocity, put_end
from ..laws.contact import disc_projection, moment_projection
from .assemble import put_own_block
from .mechanisms import answer_alone, answer_through, open_block, place_in_block, unit_vector
from .system import (
    ARM_A,
    BIAS,
    COUPLING,
    INVERSE,
    MOMENT,
    NORMAL,
    NORMAL_STEP,
    OTHERS,
    SLIP_STEP,
    SOFTEST,
    USED,
    block_velocity,
    own_block,
    push_block,
)

SPINNING, ROLLING = ARM_A, ARM_A + 1  # columns of Moments.rows: ℓ_ψ and ℓ_r [m]
OWN = 9                               # first of three columns of ContactMemory.own, after that of static friction


# ------------------------------------------------------------------------------------------------------- the rows
@kernel
def oppose_turning(model, mechanisms, middle, contacts, lengths, system) -> None:
    """The blocks of contacts whose materials oppose turning, lengths (k, k, 2), with the bodies at the poses `middle`.
    What loads them is not known yet."""
    moments, blocks, shapes = system.moments, system.blocks, model.shapes
    r = 0
    for i in range(int(contacts.count[0])):
        m, o = shapes.material[contacts.shape_a[i]], shapes.material[contacts.shape_b[i]]
        if lengths[m, o, 0] == 0.0 and lengths[m, o, 1] == 0.0:
            continue
        a, b, n = int(contacts.body_a[i]), int(contacts.body_b[i]), row(contacts.normal, i)
        if is_point(model, a) or is_point(model, b):
            continue
        block = open_block(mechanisms, blocks, MOMENT, a, b)
        if block < 0:
            break
        if not answer_turning(model, mechanisms, a, b, block, n, r, system):
            blocks.count[USED] = block
            continue
        rows = moments.rows
        rows[r, SPINNING], rows[r, ROLLING] = lengths[m, o, 0], lengths[m, o, 1]
        turning = sub(running_spin(model.motions, middle, b), running_spin(model.motions, middle, a))
        for side in range(2):
            spin = carried_velocity(model, mechanisms.trees.work, b if side == 0 else a, row(contacts.point, i))[1]
            turning = axpy(1.0 if side == 0 else -1.0, spin, turning)
        put_three(rows, r, BIAS, turning)
        put(moments.impulse, r, (0.0, 0.0, 0.0))
        moments.contact[r], moments.load[r], blocks.bound[block] = i, -1, r
        r += 1
        blocks.count[OTHERS] = blocks.count[USED]
    moments.count[0] = r


@helper
def is_point(model, i):
    """Whether a body is one particle, which has no orientation: nothing spins or rolls on it."""
    return model.mass[i] > 0.0 and model.inertia[i, 0] + model.inertia[i, 1] + model.inertia[i, 2] == 0.0


@helper
def answer_turning(model, mechanisms, a, b, block, n, r, system):
    """J and Y of the block opened last, and what a visit needs of J Y in row r of the moments. False where no turning
    is free."""
    blocks = system.blocks
    for side in range(2):
        i, sign = (b, 1.0) if side == 0 else (a, -1.0)
        at = place_in_block(model, mechanisms, i)
        for j in range(3 if at >= 0 or model.kind[i] == LINK else 0):
            put_end(model, mechanisms.trees.work, i, at, (0.0, 0.0, 0.0), scale(sign, unit_vector(j)), blocks.J[:, j])
    answer_alone(model, mechanisms, system.motion.bodies, blocks, block, a, b, 3)
    w = own_block(blocks, block)
    soft = SOFTEST * (w[0] + w[3] + w[5])
    if answer_through(mechanisms, blocks, block, a, b):
        w = own_block(blocks, block)
    if w[0] + w[3] + w[5] <= soft:
        return False
    put_three(system.moments.rows, r, NORMAL, n)
    put_own_block(system.moments.rows, r, n, w, (soft, 0.0, 0.0, soft, 0.0, soft))
    return True


@helper
def running_spin(motions, bodies, i):
    """Angular velocity of a running surface relative to its body, in the world frame."""
    spin = row(motions.surface_spin, i)
    return rotate(row4(bodies.q, i), spin) if dot(spin, spin) > 0.0 else spin


@kernel
def load_moments(system) -> None:
    """Let the contacts that take part in this step bound their moments."""
    moments, row_of = system.moments, np.full(len(system.contact), -1, np.int32)
    for k in range(int(system.count[0])):
        row_of[system.contact[k]] = k
    for r in range(int(moments.count[0])):
        moments.load[r] = row_of[moments.contact[r]]


@kernel
def recall_moments(memory, previous, system) -> None:
    """Begin with the moments of the last step, as far as today's loads allow, and let them act."""
    blocks, moments = system.blocks, system.moments
    for k in range(int(blocks.count[OTHERS])):
        if blocks.kind[k] != MOMENT:
            continue
        r = int(blocks.bound[k])
        j = int(previous[moments.contact[r]])
        if j >= 0:
            spin, roll = bounds_of_moment(system, r)
            m = moment_projection(three(memory.own, j, OWN), three(moments.rows, r, NORMAL), spin, roll)
            put(moments.impulse, r, m)
            push_block(blocks, k, m, system.motion.q_dot)


@kernel
def remember_moments(system, fired, memory_out) -> None:
    """Write the moments into the memory. Those of an impact are no first guess for the next step."""
    moments = system.moments
    for r in range(int(moments.count[0])):
        i = int(moments.contact[r])
        put_three(memory_out.own, i, OWN, (0.0, 0.0, 0.0) if fired[i] == 1 else row(moments.impulse, r))


# --------------------------------------------------------------------------------------------------------- the law
@helper
def bounds_of_moment(system, r):
    """Greatest moments of row r about the normal and across it [N m s]."""
    k = int(system.moments.load[r])
    if k < 0:
        return 0.0, 0.0
    rows = system.moments.rows
    load = max(dot(row(system.impulse, k), three(system.rows, k, NORMAL)), 0.0)
    return rows[r, SPINNING] * load, rows[r, ROLLING] * load


@helper
def turning_of(system, k, q_dot):
    """u of the moment whose block is k."""
    return add(three(system.moments.rows, int(system.blocks.bound[k]), BIAS), block_velocity(system.blocks, k, q_dot))


@helper
def visit_moment(system, k, q_dot):
    """The moment that its own law asks for while all else stays, as of a contact in `pgs`: what stops all turning, else
    the spin first and then the rolling. Returns the square of the change of velocity."""
    r, moments = int(system.blocks.bound[k]), system.moments
    rows, n, m, u = moments.rows, three(moments.rows, r, NORMAL), row(moments.impulse, r), turning_of(system, k, q_dot)
    spin, roll = bounds_of_moment(system, r)
    new = sub(m, sym_vec(six(rows, r, INVERSE), u))
    along = dot(new, n)
    across = axpy(-along, n, new)
    if abs(along) > spin or dot(across, across) > roll * roll:
        before = dot(m, n)
        along = min(max(before - rows[r, NORMAL_STEP] * dot(u, n), -spin), spin)
        u = axpy(along - before, three(rows, r, COUPLING), u)
        u = axpy(-dot(u, n), n, u)
        across = axpy(-before, n, m)
        new = axpy(along, n, disc_projection(axpy(-rows[r, SLIP_STEP], u, across), roll))
    change = sub(new, m)
    size = norm(change)
    if size == 0.0:
        return 0.0
    put(moments.impulse, r, new)
    push_block(system.blocks, k, change, q_dot)
    return (size / rows[r, SLIP_STEP]) ** 2


@helper
def moment_residual(system, k):
    """Natural map |m - P(m - ρ u)|/ρ of the moment whose block is k, 1/ρ the mean diagonal entry of J Y, and
    |u| + |m|/ρ [rad/s]."""
    r, u = int(system.blocks.bound[k]), turning_of(system, k, system.motion.q_dot)
    w, m = own_block(system.blocks, k), row(system.moments.impulse, r)
    rho = 3.0 / (w[0] + w[3] + w[5])
    spin, roll = bounds_of_moment(system, r)
    return moment_map_of(m, u, three(system.moments.rows, r, NORMAL), spin, roll, rho), norm(u) + norm(m) / rho


@helper
def moment_map_of(m, u, n, spin, roll, rho):
    """|m - P(m - ρ u)|/ρ"""
    return norm(sub(m, moment_projection(axpy(-rho, u, m), n, spin, roll))) / rho
