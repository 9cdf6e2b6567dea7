"""Every solver against problems whose solutions are known, and against each other's formulation."""

import itertools

import numpy as np
import pytest
from contact_scenes import block, ground, simulate

from contactlab.physics.laws.contact import project_cone
from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.problem.residual import natural_map
from contactlab.physics.solvers.coulomb import cone_sweeps
from contactlab.physics.solvers.interior_point import newton_with_slides
from contactlab.physics.solvers.pgs import ProjectedGaussSeidel

PGS = ProjectedGaussSeidel()

# one contact: M, d, mu, impulse, velocity [Siconos' examples; solutions to 14 digits by an independent computation]
ONE_CONTACT = [
    ([[15, -1, -2], [-1, 14, 1], [-2, 1, 16]], [-1, 2, 3], 0.1,
     [0.06569568289774, -0.00367861490681, -0.00544307081356], [0, 1.87736063759, 2.77784088628]),
    ([[0.01344, -9.421e-07, 0.001486], [-9.421e-07, 0.1061, 0.0001733], [0.001486, 0.0001733, 0.001442]],
     [-0.1458, -0.2484, -0.1515], 0.6,
     [10.2058760557, 1.93188836769, 5.81079801042], [0, -0.04242924785, -0.12762010120]),
]


@pytest.mark.parametrize(("M", "d", "mu", "impulse", "velocity"), ONE_CONTACT)
def test_one_contact_with_friction_is_solved_exactly(M, d, mu, impulse, velocity):
    problem = ContactProblem.frictional(M, d, mu)
    lam = np.zeros(3)
    info = PGS(problem, lam)
    assert info.status == "solved"
    assert lam == pytest.approx(impulse, rel=1e-11)
    assert problem.M @ lam + problem.d == pytest.approx(velocity, abs=1e-10)


def by_enumeration(M, d):
    """The solution of the LCP, found by trying every set of active contacts."""
    n = len(d)
    for active in itertools.product([False, True], repeat=n):
        a = np.array(active)
        lam = np.zeros(n)
        if a.any():
            lam[a] = np.linalg.solve(M[np.ix_(a, a)], -d[a])
        u = M @ lam + d
        if lam.min() >= -1e-12 and u.min() >= -1e-12:
            return lam
    raise AssertionError("no solution")


@pytest.mark.parametrize("seed", range(20))
def test_without_friction_the_answer_is_that_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, 8))
    M, d = A @ A.T + 0.1 * np.eye(6), rng.normal(size=6)
    lam = np.zeros(6)
    info = PGS(ContactProblem.frictionless(M, d), lam, iterations=100_000)
    assert info.status == "solved"
    assert lam == pytest.approx(by_enumeration(M, d), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_with_friction_the_residual_falls_to_rounding(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 14))
    problem = ContactProblem.frictional(A @ A.T / 14 + 0.2 * np.eye(9), rng.normal(size=9), rng.uniform(0, 0.6, 3))
    lam = np.zeros(9)
    info = PGS(problem, lam, iterations=100_000)
    assert info.status == "solved"
    assert natural_map(problem, lam) < 1e-10
    slip = (problem.M @ lam + problem.d).reshape(3, 3)[:, 1:]
    force = lam.reshape(3, 3)
    sliding = np.hypot(*slip.T) > 1e-6
    assert (np.hypot(*force[:, 1:].T) <= problem.friction * force[:, 0] + 1e-10).all()
    assert ((slip[sliding] * force[sliding, 1:]).sum(1) <= 1e-10).all()  # friction does no positive work


def test_the_written_out_problem_and_the_bodies_have_one_solution():
    sim = simulate(ground(), block("a", (0, 0, 0.25), velocity=(1.0, 0.3, 0.0)), mu=0.2, iterations=5000)
    problem = sim.problem()
    lam = np.zeros(len(problem.d))
    PGS(problem, lam, iterations=5000)
    sim.step()
    assert sim.info.residual < 1e-12
    assert lam[::3].sum() == pytest.approx(sim.contacts.lam.sum() * sim.settings.h, rel=1e-10)


def test_a_warm_start_saves_sweeps():
    sim = simulate(ground(), *[block(f"b{i}", (0, 0, 0.25 + 0.5 * i)) for i in range(3)], solver="pgs", iterations=3000)
    sim.step()
    cold = sim.info.iterations
    sim.run(0.5)
    assert sim.info.iterations < cold / 5


def test_the_residual_falls_with_the_sweeps():
    residuals = []
    for iterations in (1, 2, 4, 8):  # times 20 in the first step, which knows no impulses yet
        sim = simulate(ground(), *[block(f"b{i}", (0, 0, 0.25 + 0.5 * i)) for i in range(4)], iterations=iterations)
        sim.step()
        residuals.append(sim.info.residual)
    assert residuals == sorted(residuals, reverse=True)


@pytest.mark.parametrize("seed", range(12))
def test_newton_finds_the_forces_of_contacts_of_which_some_slide_already(seed):
    """Sliding ones: 0 <= λ_n ⊥ u_n >= 0 and λ_T = -μ λ_n s; the others by the natural map of the cone. From what
    twenty sweeps leave, sizes of the contacts from 1/30 to 30."""
    rng = np.random.default_rng(seed)
    c = 6
    T = rng.normal(size=(3 * c, 24)) * np.repeat(10 ** rng.uniform(-1.5, 1.5, c), 3)[:, None]
    d = rng.normal(size=3 * c) * np.sqrt((T * T).sum(1))
    problem = ContactProblem.frictional(T @ T.T, d, rng.uniform(0.1, 0.4, c))
    slides, angle = np.arange(c) % 2 == 0, rng.uniform(0, 2 * np.pi, c)
    slip = np.column_stack([np.cos(angle), np.sin(angle)])
    force, rate = np.zeros(3 * c), np.zeros(3 * c)
    cone_sweeps(problem.M, problem.d, problem.friction, np.column_stack([slides, slip]), 20, 0.0, force, rate)
    found = newton_with_slides(problem, slides, slip, force)
    assert found is not None
    size = np.sqrt(np.diagonal(problem.M)[::3])
    lam, u = found.reshape(-1, 3) * size[:, None], (problem.M @ found + problem.d).reshape(-1, 3) / size[:, None]
    s = slides
    assert np.abs(np.minimum(lam[s, 0], u[s, 0])).max() <= 1e-9
    assert np.abs(lam[s, 1:] + problem.friction[s, None] * lam[s, :1] * slip[s]).max() <= 1e-9
    for mu, force, speed in zip(problem.friction[~s], lam[~s], u[~s], strict=True):
        shifted = force - speed - (mu * np.hypot(*speed[1:]), 0.0, 0.0)
        nearest = np.zeros((1, 3))
        project_cone(shifted[None], np.array([mu]), nearest)
        assert np.abs(force - nearest[0]).max() <= 1e-9
