"""Every solver by name: what it takes, the same answers in time stepping, and what it says where it cannot be used."""

import numpy as np
import pytest
from contact_scenes import ball, block, ground, simulate, tilted

from contactlab.physics import SOLVERS, ContactProblem, residual
from contactlab.physics.problem.problem import Takes
from contactlab.physics.simulation.failure import CannotStep
from contactlab.physics.solvers import LCP_SOLVERS

SMOOTH = [name for name in LCP_SOLVERS if name != "gauss_seidel"]  # which holds what should let go
ROUGH = [name for name, solver in SOLVERS.items() if Takes.FRICTION in solver.takes]


def stack(count, **keywords):
    """Boxes one on the other, each four contacts: redundant from the first on."""
    places = [(0.03 * (i % 3), 0.02 * (i % 2), 0.25 + 0.5 * i) for i in range(count)]
    return simulate(ground(), *[block(f"b{i}", place) for i, place in enumerate(places)], **keywords)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_problem_is_loaded_and_solved_by_name(name, tmp_path):
    """The public names of the engine, as a script uses them."""
    ContactProblem.frictionless([[2, 1], [1, 2]], [-5, -6]).save(tmp_path / "p.npz")
    problem = ContactProblem.load(tmp_path / "p.npz")
    lam = np.zeros(2)
    info = SOLVERS[name](problem, lam)
    assert (info.status, SOLVERS[name].name) == ("solved", name)
    assert info.iterations > 0
    assert info.pivots >= 0
    assert info.basic.tolist() == [0, 1]
    assert np.max(np.abs(lam - (4 / 3, 7 / 3))) <= 1e-11  # that of the sweeps, which stop at 1e-12
    assert residual(problem, lam) <= 1e-11


@pytest.mark.parametrize("name", SMOOTH)
def test_time_stepping_moves_alike_with_every_solver(name):
    """Velocities after a step are unique, whichever of the redundant impulses a solver takes; 60 steps of two boxes and
    a ball that slide down an incline, and one more that falls on them."""
    def run(solver):
        sim = simulate(ground(), block("a", (0, 0, 0.25)), block("b", (0.02, 0, 0.75)), ball("c", (2, 0, 0.1)),
                       ball("d", (0.3, 0.1, 1.3)), gravity=tilted(0.1), mu=0.0, e=0.3, solver=solver, iterations=10_000)
        for _ in range(60):
            sim.step()
            assert sim.info.status == "solved"
            assert sim.info.residual <= 1e-11
        return np.concatenate([sim.q, sim.v])

    assert np.max(np.abs(run(name) - run("qp_acceleration"))) <= 1e-9


@pytest.mark.parametrize("name", ["nsgs", "interior_point"])
def test_with_friction_time_stepping_moves_as_with_the_sweeps(name):
    def run(solver):
        sim = simulate(ground(), block("a", (0, 0, 0.25), velocity=(1, 0.3, 0)), ball("b", (0.6, 0, 0.1)), mu=0.3,
                       solver=solver, iterations=10_000)
        sim.run(0.3)
        assert sim.info.residual <= 1e-9
        return np.concatenate([sim.q, sim.v])

    assert np.max(np.abs(run(name) - run("pgs"))) <= 1e-7


def test_the_interior_point_method_converges_where_sweeps_stall():
    """48 contacts of 12 boxes, rank 72 of 144: sweeps change little and are far from done."""
    problem = stack(12, mu=0.7).problem()
    assert np.linalg.matrix_rank(problem.M) == 72
    for name in ("pgs", "nsgs"):
        lam = np.zeros(144)
        assert SOLVERS[name](problem, lam, iterations=400).status == "iterations"
        assert residual(problem, lam) > 1e-5
    lam = np.zeros(144)
    info = SOLVERS["interior_point"](problem, lam)
    assert info.status == "solved"
    assert info.iterations < 60
    assert residual(problem, lam) < 1e-12


@pytest.mark.parametrize("seed", range(30))
def test_a_redundant_problem_with_friction_is_solved_exactly(seed):
    """Up to 15 contacts on a few degrees of freedom, some smooth; d in the range of M makes λ = 0 + M⁺ feasible."""
    rng = np.random.default_rng(seed)
    c = int(rng.integers(1, 16))
    T = rng.standard_normal((int(rng.integers(3, 3 * c + 1)), 3 * c))
    mu = rng.uniform(0, 1.2, c) * (rng.random(c) > 0.2)
    problem = ContactProblem.frictional(T.T @ T, T.T @ rng.standard_normal(len(T)), mu)
    lam = np.zeros(3 * c)
    info = SOLVERS["interior_point"](problem, lam)
    assert info.status == "solved"
    assert residual(problem, lam) <= 1e-9 * np.max(np.abs(problem.d))
    again = lam.copy()
    if lam.any():  # a solution is kept, but for a polish
        assert SOLVERS["interior_point"](problem, again).iterations <= 3
    assert np.max(np.abs(problem.M @ (again - lam))) <= 1e-9 * np.max(np.abs(problem.d))


def test_contacts_that_contradict_each_other_by_a_ten_millionth_are_solved():
    """A table on eight rough feet comes down with 0.05 m/s, and what is known of the velocity of each foot is wrong by
    about 1e-8 m/s: no rigid velocity stops them all. Eight of the first 44 leave the interior-point method stuck
    unless contacts may yield; of the next 16 a few are not solved, and say so."""
    for seed in range(44):
        rng = np.random.default_rng(seed)
        feet = np.column_stack([rng.uniform(-1, 1, (8, 2)), np.full(8, -0.5)])
        axes = np.array([[0, 0, 1.0], [1.0, 0, 0], [0, 1.0, 0]])
        J = np.array([np.append(e, np.cross(foot, e)) for foot in feet for e in axes])
        v = np.append([0, 0, -0.05], rng.normal(size=3) * 1e-3)
        v[:2] = rng.normal(size=2) * 0.01
        d = J @ v + 1e-8 * rng.normal(size=24)
        problem = ContactProblem.frictional(J @ np.diag([1, 1, 1, 3.0, 3.0, 3.0]) @ J.T, d, np.full(8, 0.5))
        lam = np.zeros(24)
        assert SOLVERS["interior_point"](problem, lam).status == "solved", seed
        assert residual(problem, lam) <= 1e-10 * np.abs(d).max()


@pytest.mark.parametrize("name", SMOOTH)
def test_a_held_body_is_pulled_alike(name):
    """The mouse spring lifts a ball off the ground, against its limit at first."""
    def run(solver):
        sim = simulate(ground(), ball("a", (0, 0, 0.1)), mu=0.0, solver=solver, iterations=10_000)
        sim.grab("a", (0, 0, 0.1), (0.2, 0, 0.3))
        sim.step()
        sim.step()
        return np.concatenate([sim.q, sim.v])

    assert np.max(np.abs(run(name) - run("pgs"))) <= 1e-9


def test_plain_gauss_seidel_glues_in_a_run():
    """A ball thrown up from the ground is held back by the glue, and let go by the right solver."""
    def rise(solver):
        sim = simulate(ground(), ball("a", (0, 0, 0.1), velocity=(0, 0, 0.5)), mu=0.0, solver=solver)
        sim.step()
        return sim.info.status, sim.velocity("a")[2]

    assert rise("lemke") == ("solved", pytest.approx(0.5 - 9.81 / 240))
    status, speed = rise("gauss_seidel")
    assert status == "glued"
    assert speed <= 0.0


def test_a_solver_that_friction_rules_out_is_refused():
    sim = simulate(ground(), ball("a", (0, 0, 0.1)), mu=0.5)
    with pytest.raises(ValueError, match=r"^the solver lemke is for contacts without friction: set friction"):
        sim.set(solver="lemke")
    assert sim.settings.solver == "newton"
    sim.set(solver="lemke", friction=0.0)
    sim.step()
    with pytest.raises(ValueError, match="without friction"):
        sim.set(friction=0.1)
    with pytest.raises(ValueError, match="without friction"):
        sim.set(friction=None)
    sim.step()
    assert sim.settings.friction == 0.0


def test_too_many_contacts_for_a_written_out_matrix_are_said():
    sim = stack(65, mu=0.0, solver="lemke")
    with pytest.raises(CannotStep, match=r"takes up to 256 contacts at once, not 260; the solver pgs takes any"):
        sim.step()
    assert sim.step_count == 0
    sim.set(solver="pgs")
    sim.step()


def test_what_has_no_solution_is_said_and_the_run_goes_on():
    """A ball between a floor and a ceiling that comes down: no impulse makes both contacts open."""
    lid = {"name": "lid", "kinematic": True, "position": [0.0, 0.0, 0.2], "euler": [180.0, 0.0, 0.0],
           "shape": [{"type": "plane"}], "motion": {"velocity": [0.0, 0.0, -0.1]}}
    sim = simulate(ground(), lid, ball("a", (0, 0, 0.1)), mu=0.0, solver="dantzig")
    sim.step()
    assert sim.info.status == "infeasible"
    assert sim.info.residual > 0.01
    assert abs(sim.velocity("a")[2]) < 0.2
