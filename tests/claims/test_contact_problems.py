"""Contact problems from the literature by name: C1 a collection of LCPs, C2 one contact with friction, C3 a stack of
boxes, C4 the narrowing slot, C5 redundant supports. Numbers are those of the sources or derived in the comments."""

import numpy as np
import pytest
from contact_scenes import G, ball, block, ground, simulate

from contactlab.physics import SOLVERS, ContactProblem, residual
from contactlab.physics.problem.problem import Takes
from contactlab.physics.solvers import LCP_SOLVERS

EXACT = [name for name in LCP_SOLVERS if name != "gauss_seidel"]          # that one glues
BASIC = ("block_pivot", "lemke", "dantzig", "qp_force", "qp_acceleration")  # end with independent normals, or a proof
ROUGH = [name for name, solver in SOLVERS.items() if Takes.FRICTION in solver.takes]


def solve(name, problem):
    """λ, from a start of zero, and info."""
    lam = np.zeros(len(problem.d))
    return lam, SOLVERS[name](problem, lam)


# C1: matrices by columns [Cottle, Pang & Stone 2009; Murty 1988; Siconos' test data]
ORTIZ = np.array([[3, 1, 0, -1], [-1, 2, 1, 1], [0, 1, 3, -1], [0, 0, 1, 2]], float)
MURTY = np.tril(np.full((6, 6), 2.0), -1).T + np.eye(6)
C1_ANY = {
    "ortiz": (ORTIZ, [-2, 1, -1, 1], [(2 / 3, 0, 1 / 3, 0)]),
    "CPS_2": (np.array([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], float), [-3, 6, -1], [(0, 1, 3)]),
    "CPS_3": (np.array([[0, 0, 10, 20], [0, 0, 30, 15], [10, 20, 0, 0], [30, 15, 0, 0]], float), [-1] * 4,
              [(0.1, 0, 0.1, 0), (0, 1 / 15, 0, 1 / 15), (1 / 90, 2 / 45, 1 / 90, 2 / 45)]),
    "exp_murty": (MURTY, [-1] * 6, [(0, 0, 0, 0, 0, 1)]),
}


@pytest.mark.parametrize("case", C1_ANY)
def test_c1_lemke_solves_matrices_of_every_kind(case):
    M, d, solutions = C1_ANY[case]
    lam, info = solve("lemke", ContactProblem.frictionless(M, d))
    assert info.status == "solved"
    assert min(np.max(np.abs(lam - s)) for s in solutions) <= 1e-12


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(("M", "d", "zeta"), [
    ([[2, 1], [1, 2]], [-5, -6], (0, 0)),     # deudeu: λ = (4/3, 7/3)
    ([[1, 1], [1, 1]], [-1, -1], (0, 0)),     # CPS_1: all λ_1 + λ_2 = 1
    ([[1, -1], [-1, 1]], [1, -1], (0, 0)),    # CPS_5: all (a, a + 1)
])
def test_c1_symmetric_ones_have_one_separation_with_every_solver(name, M, d, zeta):
    """The QP min ½ λᵀMλ + λᵀd, λ >= 0 is the same problem (eq. 11.43): M λ is unique where λ is not."""
    problem = ContactProblem.frictionless(M, d)
    lam, info = solve(name, problem)
    assert info.status == "solved"
    assert np.max(np.abs(problem.M @ lam + problem.d - zeta)) <= 1e-10
    assert lam.min() >= 0.0


# C2: one contact [Siconos]: M, d, mu, λ, u
ONE = {
    "1c": ([[15, -1, -2], [-1, 14, 1], [-2, 1, 16]], [-1, 2, 3], 0.1,
           [0.06569568289774, -0.00367861490681, -0.00544307081356], [0, 1.87736063759, 2.77784088628]),
    "RR_1c": ([[0.01344, -9.421e-07, 0.001486], [-9.421e-07, 0.1061, 0.0001733], [0.001486, 0.0001733, 0.001442]],
              [-0.1458, -0.2484, -0.1515], 0.6,
              [10.2058760557, 1.93188836769, 5.81079801042], [0, -0.04242924785, -0.12762010120]),
}


@pytest.mark.parametrize("name", ROUGH)
@pytest.mark.parametrize("case", ONE)
def test_c2_one_contact_with_friction(name, case):
    M, d, mu, impulse, velocity = ONE[case]
    problem = ContactProblem.frictional(M, d, mu)
    lam, info = solve(name, problem)
    assert info.status == "solved"
    assert lam == pytest.approx(impulse, rel=1e-10)
    assert problem.M @ lam + problem.d == pytest.approx(velocity, abs=1e-10)
    assert residual(problem, lam) <= 1e-11


def test_c3_a_stack_of_twelve_boxes_is_solved_to_rounding():
    """48 contacts of rank 72, μ = 0.7: required are 1e-8; sweeps are at 1e-5 after 400 of them."""
    places = [(0.03 * (i % 3), 0.02 * (i % 2), 0.25 + 0.5 * i) for i in range(12)]
    problem = simulate(ground(), *[block(f"b{i}", place) for i, place in enumerate(places)], mu=0.7).problem()
    assert problem.contact_count == 48
    assert np.linalg.matrix_rank(problem.M) == 72
    lam, info = solve("interior_point", problem)
    assert info.status == "solved"
    assert residual(problem, lam) <= 1e-13
    swept = np.zeros(144)
    SOLVERS["nsgs"](problem, swept, iterations=400)
    assert residual(problem, swept) > 1e-5


@pytest.mark.parametrize("name", BASIC)
def test_c4_a_narrowing_slot_has_no_solution_and_the_proof_says_so(name):
    """A = [[1, -1], [-1, 1]], b = (-g - v² k, g - v² k): the rows add up to -2 k v² < 0 whatever the forces."""
    problem = ContactProblem.frictionless([[1, -1], [-1, 1]], [-G - 4.0, G - 4.0])
    lam, info = solve(name, problem)
    assert info.status == "infeasible"
    assert not lam.any()
    y = info.certificate
    assert y.min() >= 0.0
    assert np.max(np.abs(problem.M @ y)) <= 1e-12
    assert problem.d @ y == pytest.approx(-8.0)


@pytest.mark.parametrize("name", BASIC)
def test_c4_a_straight_slot_leaves_one_force_open(name):
    problem = ContactProblem.frictionless([[1, -1], [-1, 1]], [-G, G])
    lam, info = solve(name, problem)
    assert info.status == "solved"
    assert lam[0] - lam[1] == pytest.approx(G, rel=1e-14)


def table(legs, cx, cy):
    """H, T and q̈₀ of a table of mass 2 on a ring of legs about (-cx, -cy) of its centre of mass."""
    angle = 2.0 * np.pi * (np.arange(legs) + 0.5) / legs
    x, y = np.sqrt(2.0) * np.cos(angle), np.sqrt(2.0) * np.sin(angle)
    return np.diag([2.0, 0.3, 0.4]), np.stack([np.ones(legs), x - cx, y - cy]), np.array([-G, 0.0, 0.0])


@pytest.mark.parametrize("legs", [3, 4, 6, 100])
@pytest.mark.parametrize("name", EXACT)
def test_c5_a_table_rests_on_any_number_of_legs(name, legs):
    """q̈ = 0 and λ >= 0; and basic solutions stand on no more legs than the table has ways to move."""
    H, T, free = table(legs, 0.2, -0.1)
    problem = ContactProblem.frictionless(T.T @ np.linalg.inv(H) @ T, T.T @ free)
    lam, info = solve(name, problem)
    assert info.status == "solved"
    assert lam.min() >= 0.0
    # sweeps end when ζ̇ changes by less than 1e-12; the slowest of them have 1e4 to go then
    assert np.max(np.abs(free + np.linalg.solve(H, T @ lam))) <= (1e-12 if name in BASIC else 1e-8) * G
    if name in BASIC:
        assert len(info.basic) <= 3


@pytest.mark.parametrize("name", BASIC)
def test_c5_the_motion_does_not_know_how_often_a_contact_is_counted(name):
    H, T, free = table(5, 1.5, 0.0)  # tips over an edge

    def motion(copies):
        rows = np.tile(T, (1, copies))
        problem = ContactProblem.frictionless(rows.T @ np.linalg.inv(H) @ rows, rows.T @ free)
        return free + np.linalg.solve(H, rows @ solve(name, problem)[0])

    assert np.max(np.abs(motion(4) - motion(1))) <= 1e-11 * G
    assert np.abs(motion(1)).max() > 1.0


# ------------------------------------------------------------------------------------------------ of an instant
def test_the_problem_of_a_collision_is_the_impact_of_all_that_touch():
    """A ball comes down on the floor at ζ = -2 m/s beside a block that rests there on four corners: by eq. 11.65
    λ = (1 + e) m |ζ|, μ λ against a slip that it cannot stop, and nothing at the corners. The step deals that blow."""
    e, mu, zeta = 0.5, 0.1, -2.0
    sim = simulate(ground(), ball("ball", (0, 0, 0.1), velocity=(3.0, 0, zeta)), block("block", (1, 0, 0.25)),
                   e=e, mu=mu, method="event_driven")
    problem = sim.problem()
    assert problem.contact_count == 5
    lam, info = solve("interior_point", problem)
    blow = (1.0 + e) * 1.0 * -zeta
    rounding = 1e-8 * blow  # of the interior point
    assert info.status == "solved"
    assert np.sort(lam[::3]) == pytest.approx([0, 0, 0, 0, blow], abs=rounding)
    assert np.hypot(lam[1::3], lam[2::3]).max() == pytest.approx(mu * blow, abs=rounding)
    sim.step()
    assert sim.events[0].kind == "impact" and sim.events[0].t == 0.0
    assert sim.events[0].impulse == pytest.approx((-mu * blow, 0.0, blow), abs=1e-12)


def test_without_rebound_the_problem_of_a_slow_collision_has_none():
    """Below g h/10 000 an impact ends in rest, whatever e."""
    sim = simulate(ground(), ball("ball", (0, 0, 0.1), velocity=(0, 0, -1e-6)), e=0.5, mu=0.0, method="event_driven")
    problem = sim.problem()
    assert problem.d == pytest.approx([-1e-6], rel=1e-12) and problem.M.item() == pytest.approx(1.0)
