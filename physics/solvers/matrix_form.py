"""Solving bodies and contacts by a solver that wants the matrix written out."""

import numpy as np

from ..core.limits import WRITTEN_OUT
from ..core.model import Array
from ..problem.assemble import in_frames, matrix_of, take_impulses
from ..problem.problem import CannotSolve, ContactProblem, SolveInfo, Takes
from ..problem.residual import system_residual
from ..problem.system import FRICTION, OTHERS, System
from .pgs import pull_others, sweep_bodies
from .solver import Solver

TURNS = 100  # alternations of contacts with all other rows; also the sweeps over the other rows in each


def by_normals(solver: Solver, friction: Array) -> bool:
    """Whether a solver gets the normals alone; CannotSolve where there is friction (c,) and it takes none."""
    normal = Takes.FRICTIONLESS in solver.takes and not friction.any()
    if not normal and Takes.FRICTION not in solver.takes:
        raise CannotSolve(f"the solver {solver.name} is for contacts without friction, and there is one with it")
    return normal


def solve_written_out(solver: Solver, system: System, iterations: int, tolerance: float) -> SolveInfo:
    """Solve for all impulses of the system in place and leave their effect in its velocities: contacts by the solver,
    alternating with mouse spring, limits, motors and moments.

    Contacts without friction are solved as the complementarity problem of their normals where the solver takes it.
    Where the solver finds no answer, its status is kept, and projected sweeps give the impulses, or what it ended with
    where that leaves a smaller residual. Raises CannotSolve where the solver does not take friction, or where there are
    too many contacts.
    """
    count = int(system.count[0])
    friction = system.rows[:count, FRICTION].copy()
    normal = by_normals(solver, friction)
    if count > WRITTEN_OUT.most:
        raise CannotSolve(f"the solver {solver.name} takes up to {WRITTEN_OUT} at once, not {count}; "
                          "the solver pgs takes any")
    M, u, lam = matrix_of(system), np.zeros(3 * count), np.zeros(3 * count)
    rows = slice(None, None, 3 if normal else 1)
    info = SolveInfo("solved", 0, 0.0)
    for _ in range(TURNS):
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
                sweep_bodies(system, max(iterations, TURNS), tolerance, np.zeros(1))
                if info.residual < system_residual(system)[0]:
                    take_impulses(force, system)
                return info
            take_impulses(force, system)
        if system.blocks.count[OTHERS] == 0 or pull_others(system, TURNS, tolerance) <= tolerance or not count:
            break
    return info
