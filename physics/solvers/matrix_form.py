"""Solving bodies and contacts by a solver that wants the matrix written out."""

import numpy as np

from ..core.model import Array
from ..problem.assemble import delassus, in_frames, take_impulses
from ..problem.problem import FRICTION, CannotSolve, ContactProblem, SolveInfo, System, Takes
from .pgs import pull_others, sweep_bodies
from .solver import Solver

LARGEST = 256       # contacts of which M is written out
ROUNDS = 100  # contacts in turn with mouse spring, limits and motors


def by_normals(solver: Solver, friction: Array) -> bool:
    """Whether a solver gets the normals alone; CannotSolve where there is friction (c,) and it takes none."""
    normal = Takes.FRICTIONLESS in solver.takes and not friction.any()
    if not normal and Takes.FRICTION not in solver.takes:
        raise CannotSolve(f"the solver {solver.name} is for contacts without friction, and there is one with it")
    return normal


def solve_written_out(solver: Solver, system: System, iterations: int, tolerance: float) -> SolveInfo:
    """Solve for system.impulse in place and leave its effect in the velocities of system.bodies.

    Contacts without friction are solved as the complementarity problem of their normals where the solver takes it.
    Where it finds no answer, its status is kept and projected sweeps give the impulses. Raises CannotSolve where the
    solver does not take friction, or where there are too many contacts.
    """
    count = int(system.count[0])
    friction = system.rows[:count, FRICTION].copy()
    normal = by_normals(solver, friction)
    if count > LARGEST:
        raise CannotSolve(
            f"the solver {solver.name} takes up to {LARGEST} contacts at once, not {count}; the solver pgs takes any")
    M, u, lam = np.zeros((3 * count, 3 * count)), np.zeros(3 * count), np.zeros(3 * count)
    delassus(system, M)
    rows = slice(None, None, 3 if normal else 1)
    info = SolveInfo("solved", 0, 0.0)
    for _ in range(ROUNDS):
        in_frames(system, u, lam)
        d, force = u - M @ lam, np.zeros(3 * count)
        force[rows] = lam[rows]
        if count:
            part = (np.ascontiguousarray(M[rows, rows]), np.ascontiguousarray(d[rows]))
            problem = ContactProblem.frictionless(*part) if normal else ContactProblem.frictional(*part, friction)
            answer = np.ascontiguousarray(force[rows])
            info = solver(problem, answer, iterations, tolerance)
            force[rows] = answer
            if not (info.status in ("solved", "glued") or solver.iterative):
                sweep_bodies(system, max(iterations, ROUNDS), tolerance, np.zeros(1))
                return info
            take_impulses(force, system)
        alone = system.grab.body[0] < 0 and system.trees.count[0] == 0
        if alone or pull_others(system) <= tolerance:
            break
    return info
