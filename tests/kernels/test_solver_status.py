"""What a solver says of its answer is what the residual says of it."""

import numpy as np
import pytest

from contactlab.physics import SOLVERS, ContactProblem, residual
from contactlab.physics.problem.problem import Takes
from contactlab.physics.solvers import solver as solver_module
from contactlab.physics.solvers.solver import Solver

ROUGH = [name for name, solver in SOLVERS.items() if Takes.FRICTION in solver.takes]
SYMMETRIC_ONLY = [name for name, solver in SOLVERS.items() if Takes.UNSYMMETRIC not in solver.takes]


def problems():
    """Some that can be solved, some that cannot, some that are beyond a method: redundant, infeasible, unsymmetric,
    without inertia, ratios of inertia up to 1e12, with friction and without."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 9))
        T = rng.standard_normal((int(rng.integers(1, 3 * n + 1)), 3 * n)) * 10.0 ** np.repeat(rng.uniform(-3, 3, n), 3)
        M = T.T @ T
        if seed % 4 == 1:
            skew = rng.standard_normal(M.shape) * np.sqrt(np.outer(np.diagonal(M), np.diagonal(M)))
            M = M + skew - skew.T
        if seed % 5 == 2:
            M[:3], M[:, :3] = 0.0, 0.0
        d = np.sqrt(np.diagonal(M)) * rng.standard_normal(3 * n) - (seed % 3 == 0)
        yield ContactProblem.frictional(M, d, rng.uniform(0.0, 1.0, n))
        yield ContactProblem.frictionless(M, d)


def explained(problem, lam):
    """1e-12 m/s of each contact's own, and 1e-11 of what adds up, see `problem.residual`; here with the rows' own
    diagonals in place of their mean: 10 bounds the ratio, and 1 + μ."""
    root = np.sqrt(np.maximum(np.diagonal(problem.M), 0.0))
    unit = np.where(root > 0.0, root, root.max() or 1.0)
    terms = unit.max() * np.abs(problem.d / unit).max() + (np.abs(problem.M) @ np.abs(lam)).max()
    return 10.0 * (1e-12 * (1.0 + np.abs(problem.M / unit**2).sum(axis=1).max()) + 1e-11 * terms)


@pytest.mark.parametrize("name", SOLVERS)
def test_solved_says_that_the_residual_is_rounding_and_nothing_else_does(name):
    """Whatever M and d, and whatever the method thinks of it; where there is no answer, there are no forces."""
    said = set()
    for problem in problems():
        if problem.dimension == 3 and name not in ROUGH:
            continue
        lam = np.zeros(len(problem.d))
        info = SOLVERS[name](problem, lam)
        said.add(info.status)
        assert info.residual == residual(problem, lam)
        if info.status == "solved":
            assert info.residual <= explained(problem, lam)
        elif info.status != "glued":
            nothing = residual(problem, np.zeros(len(lam)))
            assert not lam.any() or info.residual <= nothing
        if info.status == "infeasible":
            y = info.certificate
            top = np.sqrt(np.maximum(np.diagonal(problem.M), 1e-300))
            assert (y >= 0.0).all()
            assert (problem.M.T @ y).max() <= 1e-6 * (top * top.max() * y.max()).max()
            assert problem.d @ y < 0.0
    assert {"solved", "infeasible"} <= said


@pytest.mark.parametrize("name", ["lemke", "interior_point"])
def test_an_answer_is_what_a_call_finds_without_a_proof(name, monkeypatch):
    """The same forces where there is a solution, to the bit, and the same word; no proof is sought that there is none:
    that loads a library for half a second."""
    said = []
    for problem in problems():
        if problem.dimension == (1 if name == "interior_point" else 3):
            continue
        if name in SYMMETRIC_ONLY and not np.array_equal(problem.M, problem.M.T):
            continue
        called, answered = np.zeros((2, len(problem.d)))
        solved = SOLVERS[name](problem, called).status == "solved"
        with monkeypatch.context() as without:
            without.setattr(solver_module, "no_solution", None)
            assert SOLVERS[name].answers(problem, answered) == solved
        said.append(solved)
        assert not solved or np.array_equal(called, answered)
    assert any(said) and not all(said)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_passes_the_one_place_that_judges_it(name):
    """And so will the next one."""
    assert type(SOLVERS[name]).__call__ is Solver.__call__


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("guess", [np.nan, np.inf, -np.inf])
def test_a_guess_that_is_no_number_counts_for_nothing(name, guess):
    for problem in (ContactProblem.frictionless([[2, 1], [1, 2]], [-5, -6]),
                    ContactProblem.frictional(np.diag([1.0, 2.0, 2.0]), [-1.0, 3.0, -3.0], 0.5)):
        if problem.dimension == 3 and name not in ROUGH:
            continue
        lam = np.full(len(problem.d), guess)
        assert SOLVERS[name](problem, lam).status == "solved"
        assert residual(problem, lam) <= 1e-11


def test_forces_that_are_no_numbers_are_no_solution():
    problem = ContactProblem.frictional(np.eye(3), [1.0, 0.0, 0.0], 0.5)
    assert residual(problem, np.zeros(3)) == 0.0
    assert residual(problem, np.full(3, np.nan)) == np.inf
    assert residual(ContactProblem.frictionless(np.eye(1), [1.0]), np.array([np.nan])) == np.inf


@pytest.mark.parametrize("name", SYMMETRIC_ONLY)
def test_an_unsymmetric_matrix_is_refused_by_name(name):
    """The two forces are (0, 2) if M is read above its diagonal; the solution is (1, 0), as Lemke finds."""
    problem = ContactProblem.frictionless([[1, -3], [5, 1]], [-1, -2])
    lam = np.ones(2)
    info = SOLVERS[name](problem, lam)
    assert info.status == "unsymmetric"
    assert not lam.any()
    assert SOLVERS["lemke"](problem, lam).status == "solved"
    assert lam == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("name", SOLVERS)
def test_two_walls_that_close_in_have_no_solution_by_any_solver(name):
    """u_1 + u_2 = -3 whatever the impulses, with friction too: no forces, and the proof (1, 1)."""
    M = np.zeros((6, 6))
    M[::3, ::3] = [[1, -1], [-1, 1]]
    M[[1, 2, 4, 5], [1, 2, 4, 5]] = 1.0
    problem = ContactProblem.frictional(M, [-1.0, 0.5, 0.0, -2.0, 0.0, 0.1], 0.1)
    if name not in ROUGH:
        problem = ContactProblem.frictionless(M[::3, ::3], problem.d[::3])
    lam = np.zeros(len(problem.d))
    info = SOLVERS[name](problem, lam)
    assert info.status == "infeasible"
    assert not lam.any()
    y = np.zeros(len(lam))
    y[:: problem.dimension] = 1.0
    assert info.certificate == pytest.approx(y)
