"""The problem of a step written out as data: M and d of its contacts, and the rows of the moments that these bear."""

import numpy as np

from ..core.jit import kernel
from ..core.model import IntArray
from ..core.vec import dot, mat_vec, put, row
from .assemble import frame_of, in_frames, matrix_of
from .moments import ROLLING, SPINNING, turning_of
from .problem import ContactProblem, MomentRows
from .system import (
    FRICTION,
    INV_MASS,
    MOMENT,
    OTHERS,
    System,
    block_velocity,
    clear_block,
    empty_motion,
    pair_velocity,
    push_block,
)


@kernel
def moment_answers(system, answer, block, axis, e_out, W_out, M_out, u_out, m_out) -> None:
    """Of moments about axis 0 (n), 1 or 2 (tangents) of these blocks (k,): their unit vectors e (k, 3), the velocities
    W (3 c, k) of contacts in their frames and M (k, k) of the moments' own rows by unit moments, and the velocities u
    (k,) and moments m (k,) of the system. answer as in `delassus`."""
    rows = system.moments.rows
    for j in range(len(block)):
        r = int(system.blocks.bound[block[j]])
        put(e_out, j, frame_of(rows, r)[axis[j]])
        u_out[j] = dot(row(e_out, j), turning_of(system, int(block[j]), system.motion.q_dot))
        m_out[j] = dot(row(e_out, j), row(system.moments.impulse, r))
    for j in range(len(block)):
        push_block(system.blocks, int(block[j]), row(e_out, j), answer.q_dot)
        for i in range(int(system.count[0])):
            u = mat_vec(frame_of(system.rows, i), pair_velocity(system, answer, i))
            for r in range(3):
                W_out[3 * i + r, j] = u[r]
        for i in range(len(block)):
            M_out[i, j] = dot(row(e_out, i), block_velocity(system.blocks, int(block[i]), answer.q_dot))
        clear_block(system.blocks, int(block[j]), answer.q_dot)


def to_dense(system: System) -> ContactProblem:
    """The contact problem of a system, with M written out; d is without the effect of its impulses and moments."""
    c = int(system.count[0])
    M, u, lam = matrix_of(system), np.zeros(3 * c), np.zeros(3 * c)
    in_frames(system, u, lam)
    d, moments = u - M @ lam, None
    block, axis = _turning(system)
    if len(block):
        answer, k = empty_motion(len(system.motion.bodies), len(system.motion.v)), len(block)
        answer.bodies[:, INV_MASS:] = system.motion.bodies[:, INV_MASS:]
        e, W, own, (omega, m) = np.zeros((k, 3)), np.zeros((3 * c, k)), np.zeros((k, k)), np.zeros((2, k))
        moment_answers(system, answer, block, axis, e, W, own, omega, m)
        r = system.blocks.bound[block]
        limit = system.moments.rows[r, np.where(axis == 0, SPINNING, ROLLING)]
        d -= W @ m
        moments = MomentRows(system.moments.load[r].copy(), axis == 0, limit, W, own, omega - W.T @ lam - own @ m,
                             np.zeros(k))
    return ContactProblem.frictional(M, d, system.rows[:c, FRICTION], moments)


def _turning(system: System) -> tuple[IntArray, IntArray]:
    """Blocks and axes (k,) of the moments that contacts of this step bear: spins, then rolls about both tangents."""
    blocks, moments, spins, rolls = system.blocks, system.moments, [], []
    for block in np.flatnonzero(blocks.kind[: int(blocks.count[OTHERS])] == MOMENT).tolist():
        r = int(blocks.bound[block])
        if moments.load[r] < 0:
            continue
        if moments.rows[r, SPINNING] > 0.0:
            spins.append((block, 0))
        if moments.rows[r, ROLLING] > 0.0:
            rolls += [(block, 1), (block, 2)]
    found = np.array(spins + rolls, np.int32).reshape(-1, 2)
    return found[:, 0].copy(), found[:, 1].copy()
