"""Projected Gauss–Seidel where joints connect bodies: the visits of `pgs`, with answers by whole mechanisms."""

import numpy as np

from ..core.jit import helper, kernel
from ..core.sym3 import six, sym_vec, three
from ..core.vec import add, axpy, cross, dot, mat_vec, neg, norm, put, row, sub, tangents
from ..laws.contact import disc_projection
from ..problem.assemble import flat, push, put_flat, relative_velocity
from ..problem.coupling import Coupling
from ..problem.problem import (
    ANGULAR,
    ARM_A,
    ARM_B,
    BIAS,
    COUPLING,
    FRICTION,
    INVERSE,
    LINEAR,
    NORMAL,
    NORMAL_STEP,
    SLIP_STEP,
    ContactProblem,
    SolveInfo,
    System,
)
from .pgs import local_answer, visit_grab


@helper
def respond(coupling, column, size, bodies):
    """Velocities after an impulse of this size in a column."""
    for p in range(coupling.start[column], coupling.start[column + 1]):
        i = int(coupling.body[p])
        for j in range(3):
            bodies[i, LINEAR + j] += size * coupling.K[p, j]
            bodies[i, ANGULAR + j] += size * coupling.K[p, 3 + j]


@helper
def push_contact(coupling, k, a, b, arm_a, arm_b, p, bodies):
    """Let a contact's impulse p act on body b, and -p on a, and on all that hangs on them."""
    if coupling.start[3 * k + 1] > coupling.start[3 * k]:
        for d in range(3):
            respond(coupling, 3 * k + d, p[d], bodies)
    else:
        push(bodies, b, arm_b, p)
        push(bodies, a, arm_a, neg(p))


@helper
def visit_coupled_grab(grab, bodies, coupling, column):
    """`pgs.visit_grab` for a body in a mechanism, with the matrices of `coupling.soften_grab`."""
    i = int(grab.body[0])
    w = three(bodies, i, ANGULAR)
    p = flat(grab.impulse)
    gamma = grab.softness[0]
    matrix = (grab.matrix[0], grab.matrix[1], grab.matrix[2], grab.matrix[3], grab.matrix[4], grab.matrix[5])
    inverse = (grab.inverse[0], grab.inverse[1], grab.inverse[2], grab.inverse[3], grab.inverse[4], grab.inverse[5])
    u = w if grab.turn[0] == 1 else add(three(bodies, i, LINEAR), cross(w, flat(grab.arm)))
    u = axpy(gamma, sym_vec(matrix, p), add(u, flat(grab.bias)))
    new = disc_projection(sub(p, sym_vec(inverse, u)), grab.limit[0])
    change = sub(new, p)
    put_flat(grab.impulse, new)
    for d in range(3):
        respond(coupling, column + d, change[d], bodies)
    return norm(sym_vec(matrix, change)) ** 2


@helper
def visit_bounded(bounded, k, coupling, column, bodies):
    """p = clamp(p - u/own, low, high); returns the square of the velocity changed."""
    u = bounded.bias[k]
    for side in range(2):
        i = int(bounded.a[k]) if side == 0 else int(bounded.b[k])
        if i >= 0:
            u += dot(three(bounded.J, k, 6 * side), three(bodies, i, LINEAR))
            u += dot(three(bounded.J, k, 6 * side + 3), three(bodies, i, ANGULAR))
    p = bounded.impulse[k]
    new = min(max(p - u / bounded.own[k], bounded.low[k]), bounded.high[k])
    bounded.impulse[k] = new
    respond(coupling, column + k, new - p, bodies)
    return ((new - p) * bounded.own[k]) ** 2


@helper
def visit_contact(system, k, coupling, bodies):
    """Give contact k the impulse that its laws ask for; returns the square of the velocity changed."""
    rows = system.rows
    a, b = int(system.body_a[k]), int(system.body_b[k])
    arm_a, arm_b = three(rows, k, ARM_A), three(rows, k, ARM_B)
    p = row(system.impulse, k)
    u = add(three(rows, k, BIAS), relative_velocity(bodies, a, b, arm_a, arm_b))
    new = local_answer(p, u, three(rows, k, NORMAL), rows[k, FRICTION], six(rows, k, INVERSE),
                       three(rows, k, COUPLING), rows[k, NORMAL_STEP], rows[k, SLIP_STEP])
    change = sub(new, p)
    put(system.impulse, k, new)
    push_contact(coupling, k, a, b, arm_a, arm_b, change, bodies)
    return dot(change, change) / (rows[k, NORMAL_STEP] * rows[k, NORMAL_STEP])


@kernel
def sweep_coupled(system, coupling, iterations, tolerance, change_out):
    """Sweep until no visit changes a velocity by more than `tolerance`; returns the sweeps made. The velocities in
    system.bodies must obey the joints, and do so afterwards."""
    bodies, count, bounded = system.bodies, int(system.count[0]), coupling.bounded
    grab_column = 3 * count
    done = 0
    change_out[0] = 0.0
    while done < iterations:
        worst = 0.0
        if system.grab.body[0] >= 0:
            if coupling.start[grab_column + 1] > coupling.start[grab_column]:
                worst = visit_coupled_grab(system.grab, bodies, coupling, grab_column)
            else:
                worst = visit_grab(system.grab, bodies, system.trees)
        for k in range(int(bounded.count[0])):
            worst = max(worst, visit_bounded(bounded, k, coupling, grab_column + 3, bodies))
        for j in range(count):
            k = j if done % 2 == 0 else count - 1 - j
            worst = max(worst, visit_contact(system, k, coupling, bodies))
        done += 1
        change_out[0] = np.sqrt(worst)
        if change_out[0] <= tolerance:
            break
    return done


@kernel
def coupled_delassus(system, coupling, M_out, d_out):
    """`assemble.delassus` with the answers of whole mechanisms."""
    rows, bodies = system.rows, system.bodies
    answer = bodies.copy()  # velocities after a unit impulse alone
    count = int(system.count[0])
    for k in range(count):
        n = three(rows, k, NORMAL)
        frame = (n, tangents(n)[0], tangents(n)[1])
        a, b = int(system.body_a[k]), int(system.body_b[k])
        arm_a, arm_b = three(rows, k, ARM_A), three(rows, k, ARM_B)
        put(d_out, k, mat_vec(frame, add(three(rows, k, BIAS), relative_velocity(bodies, a, b, arm_a, arm_b))))
        for j in range(3):
            answer[:, : ANGULAR + 3] = 0.0
            push_contact(coupling, k, a, b, arm_a, arm_b, frame[j], answer)
            for i in range(count):
                u = relative_velocity(answer, int(system.body_a[i]), int(system.body_b[i]), three(rows, i, ARM_A),
                                      three(rows, i, ARM_B))
                n_i = three(rows, i, NORMAL)
                u = mat_vec((n_i, tangents(n_i)[0], tangents(n_i)[1]), u)
                for r in range(3):
                    M_out[3 * i + r, 3 * k + j] = u[r]


def coupled_problem(system: System, coupling: Coupling) -> ContactProblem:
    """The contact problem of velocities that obey the joints and do not contain the system's impulses."""
    c = int(system.count[0])
    M, d = np.zeros((3 * c, 3 * c)), np.zeros((c, 3))
    coupled_delassus(system, coupling, M, d)
    return ContactProblem.frictional(0.5 * (M + M.T), d, system.rows[:c, FRICTION])


def solve_coupled(system: System, coupling: Coupling, iterations: int, tolerance: float) -> SolveInfo:
    """Solve for system.impulse and coupling.bounded.impulse in place; velocities always contain their effect."""
    change = np.zeros(1)
    done = int(sweep_coupled(system, coupling, iterations, tolerance, change))
    return SolveInfo("solved" if change[0] <= tolerance else "iterations", done, float(change[0]))
