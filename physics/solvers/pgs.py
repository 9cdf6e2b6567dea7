"""Projected Gauss–Seidel over contacts: each in turn gets the impulse that its own laws ask for, while the
others keep theirs.

A visit to contact i with velocity u = W λ + (rest), W its own 3 x 3 block:

1. stick     λ - W⁻¹ u would stop it altogether; where that lies in the cone, it is the answer.
2. else      normal: λ_n = max(0, λ_n - u_n/W_nn), which changes u by W n Δλ_n;
             tangential: λ_T = P_disc(λ_T - ρ u_T) on the disc of radius μ λ_n, 1/ρ the largest eigenvalue of W_TT.

Where no visit changes anything, Signorini's and Coulomb's laws hold for all contacts with the circular cone: in case 2,
λ_T = P_disc(λ_T - ρ u_T) says that u_T points against λ_T on the rim. Sweeps run forwards and backwards in turn, so
that what happens at one end of a stack reaches the other within one sweep either way.
"""

from collections.abc import Iterator

import numpy as np

from ..core.interruption import look_up
from ..core.jit import helper, inlined, kernel
from ..core.model import Array
from ..core.sym3 import six, sym_vec, three
from ..core.vec import add, axpy, dot, neg, norm, put, row, sub
from ..laws.contact import disc_projection
from ..problem.assemble import flat, put_flat
from ..problem.joint_rows import visit_row
from ..problem.moments import visit_moment
from ..problem.problem import ContactProblem, SolveInfo, Takes
from ..problem.system import (
    ARM_A,
    ARM_B,
    BIAS,
    COUPLING,
    FRICTION,
    GRAB_BLOCK,
    INVERSE,
    MOMENT,
    MOUSE,
    NORMAL,
    NORMAL_STEP,
    OTHERS,
    SLIP_STEP,
    System,
    block_velocity,
    push,
    push_block,
    relative_velocity,
)
from .lcp_info import PivotStep, visits
from .solver import Solver

AT_ONCE = 200_000  # visits of rows in one call of a kernel: some hundredths of a second
PGS_SWEEPS = 1000  # limit where none is given


@inlined
def local_answer(p, u, n, mu, inverse, coupling, normal_step, slip_step):
    """The impulse of one contact that its velocity u at impulse p asks for."""
    stick = sub(p, sym_vec(inverse, u))
    along = dot(stick, n)
    if along >= 0.0:
        across = axpy(-along, n, stick)
        if dot(across, across) <= mu * mu * along * along:
            return stick
    p_n = dot(p, n)
    new_n = max(0.0, p_n - normal_step * dot(u, n))
    if new_n == 0.0:
        return (0.0, 0.0, 0.0)
    u = axpy(new_n - p_n, coupling, u)
    u_t = axpy(-dot(u, n), n, u)
    across = disc_projection(axpy(-slip_step, u_t, axpy(-p_n, n, p)), mu * new_n)
    return axpy(new_n, n, across)


@helper
def visit_grab(grab, blocks, q_dot):
    """p -= (W + γ S)⁻¹ (u + bias + γ S p), |p| <= limit; returns the square of the change of velocity."""
    p = flat(grab.impulse)
    matrix = (grab.matrix[0], grab.matrix[1], grab.matrix[2], grab.matrix[3], grab.matrix[4], grab.matrix[5])
    inverse = (grab.inverse[0], grab.inverse[1], grab.inverse[2], grab.inverse[3], grab.inverse[4], grab.inverse[5])
    u = add(block_velocity(blocks, GRAB_BLOCK, q_dot), flat(grab.bias))
    u = axpy(grab.softness[0], sym_vec(matrix, p), u)
    new = disc_projection(sub(p, sym_vec(inverse, u)), grab.limit[0])
    change = sub(new, p)
    put_flat(grab.impulse, new)
    push_block(blocks, GRAB_BLOCK, change, q_dot)
    return norm(sym_vec(matrix, change)) ** 2


@helper
def visit_block(system, k, q_dot):
    """A visit to contact k, which has a block; returns the square of the change of velocity [m2/s2]."""
    rows, blocks, block = system.rows, system.blocks, int(system.block[k])
    p = row(system.impulse, k)
    u = add(three(rows, k, BIAS), block_velocity(blocks, block, q_dot))
    new = local_answer(p, u, three(rows, k, NORMAL), rows[k, FRICTION], six(rows, k, INVERSE), three(rows, k, COUPLING),
                       rows[k, NORMAL_STEP], rows[k, SLIP_STEP])
    change = sub(new, p)
    put(system.impulse, k, new)
    push_block(blocks, block, change, q_dot)
    return dot(change, change) / (rows[k, NORMAL_STEP] * rows[k, NORMAL_STEP])


@inlined
def visit_pair(system, k):
    """A visit to contact k of two bodies that nothing else holds; returns the square of the change of velocity [m2/s2],
    for which W_nn stands for W."""
    rows, bodies, p = system.rows, system.motion.bodies, row(system.impulse, k)
    a, b = int(system.body_a[k]), int(system.body_b[k])
    arm_a, arm_b = three(rows, k, ARM_A), three(rows, k, ARM_B)
    u = add(three(rows, k, BIAS), relative_velocity(bodies, a, b, arm_a, arm_b))
    new = local_answer(p, u, three(rows, k, NORMAL), rows[k, FRICTION], six(rows, k, INVERSE), three(rows, k, COUPLING),
                       rows[k, NORMAL_STEP], rows[k, SLIP_STEP])
    change = sub(new, p)
    size = dot(change, change)
    if size == 0.0:
        return 0.0
    put(system.impulse, k, new)
    push(bodies, b, arm_b, change)
    push(bodies, a, arm_a, neg(change))
    return size / (rows[k, NORMAL_STEP] * rows[k, NORMAL_STEP])


@inlined
def visit_contact(system, k, q_dot):
    """A visit to contact k; returns the square of the change of velocity [m2/s2]."""
    if system.block[k] >= 0:
        return visit_block(system, k, q_dot)
    return visit_pair(system, k)


@helper
def visit_others(system, q_dot):
    """Visit mouse spring, limits, motors and moments; returns the square of the largest change of velocity."""
    blocks, worst = system.blocks, 0.0
    for k in range(int(blocks.count[OTHERS])):
        if blocks.kind[k] == MOUSE:
            worst = max(worst, visit_grab(system.grab, blocks, q_dot))
        elif blocks.kind[k] == MOMENT:
            worst = max(worst, visit_moment(system, k, q_dot))
        else:
            worst = max(worst, visit_row(blocks, k, q_dot))
    return worst


@kernel
def pull_others(system, sweeps, tolerance):
    """Visit all rows that are no contacts until they are at rest; returns the largest change of a velocity [m/s]."""
    first = 0.0
    for _ in range(sweeps):
        change = np.sqrt(visit_others(system, system.motion.q_dot))
        first = max(first, change)
        if change <= tolerance:
            break
    return first


@kernel
def sweep_bodies(system, iterations, tolerance, change_out):
    """Sweep over the system until nothing changes by more than `tolerance` [m/s]; returns the sweeps made."""
    q_dot = system.motion.q_dot
    count = int(system.count[0])
    done = 0
    change_out[0] = 0.0
    while done < iterations:
        worst = visit_others(system, q_dot)  # square of the largest change of velocity
        for j in range(count):
            k = j if done % 2 == 0 else count - 1 - j
            worst = max(worst, visit_contact(system, k, q_dot))
        done += 1
        change_out[0] = np.sqrt(worst)
        if change_out[0] <= tolerance:
            break
    return done


@kernel
def cone_visit(M, friction, inverse, slip_step, lam, u, i):
    """Visit contact i of a frictional problem with M written out and keep u = M lam + d. Returns M_nn |Δλ_i|."""
    k = 3 * i
    if M[k, k] <= 0.0:
        return 0.0
    p = (lam[k], lam[k + 1], lam[k + 2])
    new = local_answer(p, (u[k], u[k + 1], u[k + 2]), (1.0, 0.0, 0.0), friction[i], six(inverse, i, 0),
                       (M[k, k], M[k + 1, k], M[k + 2, k]), 1.0 / M[k, k], slip_step[i])
    change = sub(new, p)
    for r in range(len(u)):
        u[r] += M[r, k] * change[0] + M[r, k + 1] * change[1] + M[r, k + 2] * change[2]
    lam[k] = new[0]
    lam[k + 1] = new[1]
    lam[k + 2] = new[2]
    return M[k, k] * norm(change)


@kernel
def sweep_dense(M, friction, inverse, slip_step, iterations, tolerance, lam, u, change_out):
    """Sweep over a frictional problem with M written out; returns the sweeps made."""
    done = 0
    change_out[0] = 0.0
    while done < iterations:
        worst = 0.0
        for j in range(len(friction)):
            i = j if done % 2 == 0 else len(friction) - 1 - j
            worst = max(worst, cone_visit(M, friction, inverse, slip_step, lam, u, i))
        done += 1
        change_out[0] = worst
        if worst <= tolerance:
            break
    return done


@kernel
def normal_visit(M, lam, u, i):
    """Frictionless problem: λ_i = max(0, λ_i - u_i/M_ii). Returns M_ii |Δλ_i|."""
    if M[i, i] <= 0.0:
        return 0.0
    new = max(0.0, lam[i] - u[i] / M[i, i])
    change = new - lam[i]
    if change != 0.0:
        for r in range(len(u)):
            u[r] += M[r, i] * change
    lam[i] = new
    return abs(M[i, i] * change)


@kernel
def sweep_normal(M, iterations, tolerance, lam, u, change_out):
    """Sweep over a frictionless problem; returns the sweeps made."""
    done = 0
    change_out[0] = 0.0
    while done < iterations:
        worst = 0.0
        for j in range(len(lam)):
            i = j if done % 2 == 0 else len(lam) - 1 - j
            worst = max(worst, normal_visit(M, lam, u, i))
        done += 1
        change_out[0] = worst
        if worst <= tolerance:
            break
    return done


class ProjectedGaussSeidel(Solver):
    """SOLVERS["pgs"]."""

    name = "pgs"
    title = "Projected Gauss–Seidel"
    takes = Takes.FRICTIONLESS | Takes.FRICTION | Takes.UNSYMMETRIC | Takes.BODIES
    iterative = True

    def solve(self, problem: ContactProblem, lam: Array, iterations: int, tolerance: float) -> SolveInfo:
        """Sweep over a problem with M written out from lam (k,). tolerance in m/s."""
        u = problem.M @ lam + problem.d
        change = np.zeros(1)
        limit = iterations or PGS_SWEEPS
        if problem.dimension == 1:
            done = sweep_normal(problem.M, limit, tolerance, lam, u, change)
        else:
            done = sweep_dense(problem.M, problem.friction, *_own_blocks(problem), limit, tolerance, lam, u, change)
        return swept(done, float(change[0]), tolerance, lam)

    def solve_bodies(self, system: System, iterations: int, tolerance: float) -> SolveInfo:
        """Solve for all impulses of the system in place; its velocities always contain their effect."""
        change, done, ended = np.zeros(1), 0, False
        rows = int(system.count[0]) + int(system.blocks.count[OTHERS])
        some = 2 * max(1, AT_ONCE // (2 * max(rows, 1)))  # even: sweeps go to and fro
        while not ended:
            look_up()
            wanted = min(some, iterations - done)
            made = sweep_bodies(system, wanted, tolerance, change)
            done += made
            ended = made < wanted or done >= iterations or change[0] <= tolerance
        return swept(done, float(change[0]), tolerance, system.impulse[:0, 0])

    def trace(self, problem: ContactProblem, lam: Array, iterations: int = 0) -> Iterator[PivotStep]:
        """Contact by contact, from lam (k,), which is left alone, to the end or the limit of sweeps."""
        lam = lam.copy()
        u = problem.M @ lam + problem.d
        if problem.dimension == 1:
            yield from visits(problem, lam, lambda i: normal_visit(problem.M, lam, u, i), iterations or PGS_SWEEPS,
                              True)
            return
        blocks = _own_blocks(problem)
        yield from visits(problem, lam, lambda i: cone_visit(problem.M, problem.friction, *blocks, lam, u, i),
                          iterations or PGS_SWEEPS, True)


def swept(sweeps: int, change: float, tolerance: float, lam: Array) -> SolveInfo:
    """The SolveInfo of sweeps that ended at lam (k,)."""
    status = "solved" if change <= tolerance else "iterations"
    return SolveInfo(status, int(sweeps), change, 0, np.flatnonzero(lam).astype(np.int32))


def _own_blocks(problem: ContactProblem) -> tuple[Array, Array]:
    """Of each contact's own block W: W⁻¹ (c, 6), and 1 / largest eigenvalue of W in the tangent plane (c,)."""
    count = problem.contact_count
    i = np.arange(count)
    blocks = problem.M.reshape(count, 3, count, 3)[i, :, i, :]
    row, column = np.triu_indices(3)
    whole = np.linalg.pinv(0.5 * (blocks + blocks.transpose(0, 2, 1)))
    inverse = np.ascontiguousarray(whole[:, row, column], np.float64)
    largest = np.linalg.eigvalsh(blocks[:, 1:, 1:])[:, -1]
    return inverse, 1.0 / np.where(largest > 0.0, largest, np.inf)
