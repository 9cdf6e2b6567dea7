"""Solvers of 0 <= M λ + d ⊥ λ >= 0 against one another, against scipy and against trying every basis."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from lcp_problems import COLLECTION, SYMMETRIC, enum_fails, mmc, tobenna
from scipy.optimize import linprog, nnls

from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.solvers import LCP_SOLVERS
from contactlab.physics.solvers.block_pivot import BlockPivot
from contactlab.physics.solvers.dantzig import Dantzig
from contactlab.physics.solvers.gauss_principle import AccelerationQP, constrained_acceleration
from contactlab.physics.solvers.gauss_seidel import GaussSeidel
from contactlab.physics.solvers.indeterminacy import force_ranges, indeterminacy
from contactlab.physics.solvers.lcp_info import ROUNDING
from contactlab.physics.solvers.lemke import Lemke
from contactlab.physics.solvers.qp import ForceQP

RIGHT = [Lemke(), Dantzig(), BlockPivot(), ForceQP(), AccelerationQP()]
ids = [solver.name for solver in RIGHT]
each_solver = pytest.mark.parametrize("solver", RIGHT, ids=ids)
G = 9.81
SOLVED = 100 * ROUNDING  # of the terms of ζ̇ = Σ M_ij λ_j + d_i: what solvers count as rounding, see `pivoting.judge`
TOLERANCE = 1e-12        # of their own, in the unit of d
UNSURE = 1e-6            # ten times the tolerance of scipy's simplex


def solve(solver, problem, start=None):
    """λ and info; λ poisoned with nan where no start is given, which counts as none."""
    lam = np.full(len(problem.d), np.nan) if start is None else start.copy()
    info = solver(problem, lam)
    assert np.isfinite(lam).all()
    return lam, info


def unit(problem):
    """1/√M_ii, by which velocities of unlike contacts become comparable; 1 where nothing moves."""
    diagonal = np.diagonal(problem.M)
    return 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))


def residual(problem, lam):
    """Largest |min(λ, ζ̇)| with both in the unit of a problem with M_ii = 1, relative to the largest |d|."""
    s = unit(problem)
    size = np.max(np.abs(s * problem.d), initial=0.0) or 1.0
    return np.max(np.abs(np.minimum(lam / s, s * (problem.M @ lam + problem.d)))) / size


def unit_block(problem, rows):
    """M of these contacts, scaled to a unit diagonal."""
    s = unit(problem)[rows]
    return s[:, None] * problem.M[np.ix_(rows, rows)] * s


def velocity(problem, lam):
    """ζ̇ = M λ + d in the unit of a problem with M_ii = 1, and the size of its largest term."""
    s = unit(problem)
    return s * (problem.M @ lam + problem.d), np.max(s * (np.abs(problem.M) @ np.abs(lam) + np.abs(problem.d)))


def part_known(problem, info):
    """Of λ_B = -M_BB⁻¹ d_B and of all that is made of it, relative to its terms: SOLVED times the condition of M_BB."""
    return SOLVED * (np.linalg.cond(unit_block(problem, info.basic)) if len(info.basic) else 1.0)


def known_to(problem, lam, info):
    """What is known of ζ̇ in the unit of a problem with M_ii = 1."""
    return part_known(problem, info) * velocity(problem, lam)[1]


def check_solution(problem, lam, info):
    """λ >= 0, ζ̇ >= 0, λ ⊥ ζ̇ to the solvers' rounding and tolerance; independent rows, as far as eps tells them."""
    assert info.status == "solved"
    assert (lam >= 0).all()
    s = unit(problem)
    zeta, terms = velocity(problem, lam)
    assert (np.abs(np.minimum(lam / s, zeta)) <= SOLVED * (terms + np.max(lam / s)) + TOLERANCE * s).all()
    assert set(np.flatnonzero(lam)) <= set(info.basic.tolist())
    block = unit_block(problem, info.basic)
    assert not len(block) or np.linalg.matrix_rank(block, hermitian=True) == len(block)


def check_certificate(problem, info):
    """y >= 0, M y = 0, d·y < 0: proves that no solution exists. To what the solvers make sure of: M y for a unit
    diagonal to 1e-7 of the largest y, d·y against the size of its terms to 1e-9 (see `pivoting.certificate`)."""
    assert info.status == "infeasible"
    y, s = info.certificate, unit(problem)
    assert (y >= 0).all()
    assert np.max(np.abs(s * (problem.M @ y))) <= 1e-7 * np.max(y / s)
    assert problem.d @ y < -1e-9 * (np.abs(problem.d) @ y)


def random_problem(seed: int, n: int, kind: str) -> ContactProblem:
    """d = ζ̇ - M λ with λ, ζ̇ chosen, some contacts with both zero; kind "any": some d, with or without a solution."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, n + 1))
    if kind == "definite":
        T = np.vstack([rng.standard_normal((n, n)), 0.3 * np.eye(n)])
    elif kind == "integer":
        T = rng.integers(-2, 3, (max(1, n // 2), n)).astype(float)
    elif kind == "duplicated":
        T = rng.standard_normal((max(1, n // 2), n))
        T[:, n // 2 :] = T[:, : n - n // 2]
    else:
        T = rng.standard_normal((rank, n))
    M = T.T @ T
    lam = np.maximum(rng.standard_normal(n), 0)
    zeta = np.maximum(rng.standard_normal(n), 0) * (lam == 0) * rng.integers(0, 2, n)
    d = rng.standard_normal(n) if kind == "any" else zeta - M @ lam
    if kind == "scaled":
        s = 10.0 ** rng.uniform(-4, 4, n)
        M, d = s[:, None] * M * s, s * d
    return ContactProblem.frictionless(M, d)


def by_enumeration(problem):
    """Every complementary basic solution, by trying all sets of contacts. λ_B is known to eps cond(M_BB) of the
    largest: draws are left out where one of the blocks is neither clearly singular nor better conditioned than 1e6."""
    n, found = len(problem.d), []
    for inside in itertools.product((False, True), repeat=n):
        rows = np.flatnonzero(inside)
        lam = np.zeros(n)
        block = problem.M[np.ix_(rows, rows)]
        if len(rows):
            least = np.linalg.eigvalsh(unit_block(problem, rows))[0]
            assume(not 1e-13 < least < 1e-6)
            if least < 1e-13:
                continue
        lam[rows] = np.linalg.solve(block, -problem.d[rows])
        zeta, terms = velocity(problem, lam)
        if (lam / unit(problem) >= -1e-9 * terms).all() and (zeta >= -1e-9 * terms).all():
            found.append(lam)
    return found


# ------------------------------------------------------------------------------------------- the published collection
@pytest.mark.parametrize("name", COLLECTION)
def test_lemke_solves_the_collection(name):
    M, d, solutions = COLLECTION[name]
    lam, info = solve(Lemke(), ContactProblem.frictionless(M, d))
    assert info.status == "solved"
    assert min(np.max(np.abs(lam - s)) for s in solutions) <= 1e-12


@pytest.mark.parametrize("name", ["deudeu", "ortiz", "exp_murty"])
def test_dantzig_solves_p_matrices_symmetric_or_not(name):
    M, d, solutions = COLLECTION[name]
    lam, info = solve(Dantzig(), ContactProblem.frictionless(M, d))
    assert info.status == "solved"
    assert np.max(np.abs(lam - solutions[0])) <= 1e-12


@pytest.mark.parametrize("made", [mmc, tobenna, enum_fails])
def test_lemke_solves_the_larger_ones_of_the_collection(made):
    """λ >= 0, ζ̇ >= 0 and λ ⊥ ζ̇, to the rounding of the n + 1 terms of ζ̇."""
    M, d = made()
    lam, info = solve(Lemke(), ContactProblem.frictionless(M, d))
    assert info.status == "solved"
    assert lam.any()
    rounding = len(d) * np.finfo(float).eps * np.max(np.abs(M) @ lam + np.abs(d))
    assert (lam >= 0).all()
    assert np.max(np.abs(np.minimum(np.diagonal(M).max() * lam, M @ lam + d))) <= rounding


@pytest.mark.parametrize("solver", [s for s in LCP_SOLVERS.values() if s.name != "gauss_seidel"], ids=lambda s: s.name)
def test_every_solver_solves_mmc(solver):
    """26 stiff contacts of condition 1200; sweeps stop at a tolerance of 1e-12 [unit of d]."""
    M, d = mmc()
    lam, info = solve(solver, ContactProblem.frictionless(M, d), np.zeros(26))
    assert info.status == "solved"
    assert np.max(np.abs(np.minimum(np.diagonal(M) * lam, M @ lam + d))) <= 1e-11 * np.max(np.abs(d))


@each_solver
def test_deudeu_is_solved_exactly(solver):
    M, d, solutions = COLLECTION["deudeu"]
    lam, info = solve(solver, ContactProblem.frictionless(M, d))
    check_solution(ContactProblem.frictionless(M, d), lam, info)
    assert np.max(np.abs(lam - solutions[0])) <= 1e-14


@each_solver
def test_a_singular_problem_gives_a_member_of_its_family(solver):
    lam, info = solve(solver, ContactProblem.frictionless(*SYMMETRIC["CPS_1"]))
    assert len(info.basic) == 1
    assert abs(lam.sum() - 1) <= 1e-14
    lam, info = solve(solver, ContactProblem.frictionless(*SYMMETRIC["CPS_5"]))
    assert len(info.basic) == 1
    assert abs(lam[1] - lam[0] - 1) <= 1e-14


@pytest.mark.parametrize("name", SYMMETRIC)
@each_solver
def test_lcp_and_qp_are_one_problem(solver, name):
    """min ½ λᵀMλ + λᵀd over λ >= 0 by projected gradient has the same ζ̇ (eq. 11.43)."""
    problem = ContactProblem.frictionless(*SYMMETRIC[name])
    lam, _ = solve(solver, problem)
    reference = np.zeros(2)
    for _ in range(200):
        reference = np.maximum(reference - (problem.M @ reference + problem.d) / 3.0, 0.0)
    assert np.max(np.abs(problem.M @ (lam - reference))) <= 1e-10


def feasible_by_scipy(problem):
    """Whether M λ + d >= 0 has a solution λ >= 0: max t with M λ + d >= t decides, by scipy's simplex, for a unit
    diagonal and unit d, since its tolerances are absolute. Draws within its reach of t = 0 are left out, and those
    where M is so nearly singular that λ must be that large."""
    A, b = unit_block(problem, np.arange(len(problem.d))), unit(problem) * problem.d
    singular = np.linalg.svd(A, compute_uv=False)
    assume(not ((singular > 1e-13) & (singular < UNSURE)).any())
    b /= max(np.max(np.abs(b)), 1e-300)
    n = len(b)
    found = linprog(np.append(np.zeros(n), -1.0), A_ub=np.column_stack([-A, np.ones(n)]), b_ub=b,
                    bounds=[(0, None)] * n + [(None, 1.0)])
    assume(found.status == 0 and abs(found.x[-1]) > UNSURE)
    return found.x[-1] > 0.0


# --------------------------------------------------------------------------------------------------- random problems
@settings(max_examples=1500, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30),
       kind=st.sampled_from(["definite", "semidefinite", "integer", "duplicated", "scaled"]))
@example(seed=3460775, n=30, kind="integer")  # rounding spoils Lemke's first way
def test_all_solvers_give_the_same_motion(seed, n, kind):
    """T λ and ζ̇ are unique where a solution exists [RBDA §11.5]; every answer is basic."""
    problem = random_problem(seed, n, kind)
    answers, known = [], 0.0
    for solver in RIGHT:
        lam, info = solve(solver, problem)
        check_solution(problem, lam, info)
        answers.append(velocity(problem, lam)[0])
        known = max(known, known_to(problem, lam, info))
    assert np.max(np.abs(np.array(answers) - answers[0])) <= known


def test_nearly_parallel_contacts_are_not_taken_for_independent():
    """Rank 2, two of the normals 1e-5 apart: a third, found beside both, has a remainder that is rounding only."""
    problem = random_problem(310525, 17, "scaled")
    assert np.linalg.matrix_rank(unit(problem)[:, None] * problem.M * unit(problem)) == 2
    for solver in RIGHT:
        lam, info = solve(solver, problem)
        check_solution(problem, lam, info)
        assert len(info.basic) <= 2


@settings(max_examples=2000, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 25))
@example(seed=481085, n=1)  # a force of 1e10
def test_a_problem_is_solved_or_proved_unsolvable(seed, n):
    """For semidefinite M a solution exists exactly where M λ + d >= 0 has one with λ >= 0."""
    problem = random_problem(seed, n, "any")
    feasible = feasible_by_scipy(problem)
    for solver in RIGHT:
        lam, info = solve(solver, problem)
        if feasible:
            check_solution(problem, lam, info)
        else:
            check_certificate(problem, info)
            assert not lam.any()


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6), kind=st.sampled_from(["definite", "integer", "any"]))
def test_trying_every_basis_finds_the_same(seed, n, kind):
    """Solvable or not; and ζ̇, which is the same in all solutions (λ is where no block of M is singular)."""
    problem = random_problem(seed, n, kind)
    known = by_enumeration(problem)
    for solver in RIGHT:
        lam, info = solve(solver, problem)
        assert (info.status == "solved") == bool(known)
        if known:
            others = np.array([velocity(problem, other)[0] for other in known])
            assert np.max(np.abs(others - velocity(problem, lam)[0])) <= known_to(problem, lam, info)


def by_nnls(problem):
    """scipy's λ of a definite problem, and what is known of it: some hundred eps of its terms, times the condition."""
    A = np.linalg.cholesky(problem.M).T
    lam, _ = nnls(A, -np.linalg.solve(A.T, problem.d))
    terms = np.max(lam) + np.max(np.abs(problem.d)) / np.max(np.diagonal(problem.M))
    return lam, 1e-13 * np.linalg.cond(problem.M) * terms


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60))
def test_scipys_nnls_agrees(seed, n):
    """|A λ - b|² with AᵀA = M, Aᵀb = -d is the QP 11.43. (nnls sometimes stops early; then ours must be the better.)"""
    problem = random_problem(seed, n, "definite")
    reference, scale = by_nnls(problem)
    for solver in RIGHT:
        lam, info = solve(solver, problem)
        check_solution(problem, lam, info)
        assert np.max(np.abs(lam - reference)) <= scale or residual(problem, lam) < residual(problem, reference)


@pytest.mark.parametrize(("n", "rank"), [(24, 10), (64, 32), (64, 10), (128, 32), (256, 128), (300, 60)])
def test_contacts_at_rest_share_what_rounding_leaves(n, rank):
    """All rest, but no forces answer d exactly: M, d and λ are rounded, each by half an eps of the terms of ζ̇ or less.
    The least |ζ̇| is no larger than these three together, and ours is that, from no guess as from the answer. Left to
    the contacts outside the basis, as M_BB λ_B = -d_B has it, it becomes up to twenty times as much."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        T = rng.standard_normal((rank, n))
        M = T.T @ T
        problem = ContactProblem.frictionless(M, -M @ np.maximum(rng.standard_normal(n), 0.0))
        lam = np.zeros(n)
        for _ in range(2):
            lam, info = solve(BlockPivot(), problem, lam)
            check_solution(problem, lam, info)
            exact = problem.M.astype(np.longdouble) @ lam + problem.d
            terms = np.abs(problem.M) @ lam + np.abs(problem.d)
            assert np.linalg.norm(exact) <= 1.5 * np.finfo(float).eps * np.linalg.norm(terms)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(60, 200),
       kind=st.sampled_from(["definite", "semidefinite", "duplicated", "scaled", "any"]))
def test_up_to_two_hundred_contacts(seed, n, kind):
    """Right answers or proofs, the same motion from all; where M is definite, scipy's nnls finds the same forces."""
    problem = random_problem(seed, n, kind)
    feasible, known, answers = kind != "any" or feasible_by_scipy(problem), 0.0, []
    for solver in RIGHT:
        lam, info = solve(solver, problem)
        if not feasible:
            check_certificate(problem, info)
        else:
            check_solution(problem, lam, info)
            answers.append(velocity(problem, lam)[0])
            known = max(known, known_to(problem, lam, info))
            if kind == "definite":
                reference, bound = by_nnls(problem)
                assert np.max(np.abs(lam - reference)) <= bound or residual(problem, lam) < residual(problem, reference)
    assert not feasible or np.max(np.abs(np.array(answers) - answers[0])) <= known


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12))
def test_lemke_takes_unsymmetric_semidefinite_matrices(seed, n):
    rng = np.random.default_rng(seed)
    T, K = rng.standard_normal((max(1, n // 2), n)), rng.standard_normal((n, n))
    problem = ContactProblem.frictionless(T.T @ T + K - K.T, rng.standard_normal(n))
    lam, info = solve(Lemke(), problem)
    if feasible_by_scipy(problem):
        assert info.status == "solved"
        s = unit(problem)
        zeta, terms = velocity(problem, lam)
        assert (np.abs(np.minimum(lam / s, zeta)) <= SOLVED * (terms + np.max(lam / s)) + TOLERANCE * s).all()
    else:  # y >= 0, Mᵀ y <= 0, d·y < 0, in the scale in which the solver makes sure of it
        y, s = info.certificate, unit(problem)
        assert np.max(s * (problem.M.T @ y)) <= 1e-7 * np.max(y / s)
        assert problem.d @ y < -1e-9 * (np.abs(problem.d) @ y)


@each_solver
def test_starting_from_the_solution_changes_nothing(solver):
    problem = random_problem(7, 30, "definite")
    lam, _ = solve(solver, problem)
    again, info = solve(solver, problem, lam)
    assert info.status == "solved"
    assert np.max(np.abs(again - lam)) <= 1e-12 * np.max(lam)


@each_solver
def test_an_empty_problem_and_one_at_rest_are_solved(solver):
    for n in (0, 3):
        lam, info = solve(solver, ContactProblem.frictionless(np.eye(n), np.ones(n)))
        assert info.status == "solved"
        assert not lam.any()


@each_solver
def test_a_contact_between_immovable_bodies_is_solved_or_infeasible(solver):
    M = np.diag([1.0, 0.0])
    lam, info = solve(solver, ContactProblem.frictionless(M, [-1.0, 0.5]))
    assert info.status == "solved"
    assert lam.tolist() == [1.0, 0.0]
    lam, info = solve(solver, ContactProblem.frictionless(M, [-1.0, -0.5]))
    assert info.status == "infeasible"
    assert info.certificate.tolist() == [0.0, 1.0]


@each_solver
def test_friction_is_refused(solver):
    with pytest.raises(ValueError, match="friction"):
        solver(ContactProblem.frictional(np.eye(3), -np.ones(3), 0.5), np.zeros(3))


# --------------------------------------------------------------------------------------------------------- mechanics
@each_solver
def test_a_disc_in_a_narrowing_slot_has_no_solution(solver):
    """Two walls with opposite normals closing in: ζ̇_1 + ζ̇_2 = -(k1 + k2) v² < 0 whatever the forces (example 11.1)."""
    problem = ContactProblem.frictionless([[1, -1], [-1, 1]], [-G - 4, G - 4])
    lam, info = solve(solver, problem)
    check_certificate(problem, info)
    assert info.certificate.tolist() == [1.0, 1.0]
    assert not lam.any()


@each_solver
def test_a_disc_in_a_straight_slot_has_a_family_of_solutions(solver):
    """f1 - f2 = m g with f2 anything >= 0."""
    problem = ContactProblem.frictionless([[1, -1], [-1, 1]], [-G, G])
    lam, info = solve(solver, problem)
    check_solution(problem, lam, info)
    assert abs(lam[0] - lam[1] - G) <= 1e-14 * G
    ranges = force_ranges(problem, lam)
    assert np.allclose(ranges, [[G, np.inf], [0, np.inf]], rtol=0, atol=1e-9)


def table(legs, cx=0.2, cy=-0.1, m=2.0):
    """H, T, q̈₀ and legs' positions of a table on a regular ring of legs, centre of mass at (cx, cy)."""
    angle = 2 * np.pi * (np.arange(legs) + 0.5) / legs
    x, y = np.sqrt(2) * np.cos(angle), np.sqrt(2) * np.sin(angle)
    return np.diag([m, 0.3, 0.4]), np.stack([np.ones(legs), x - cx, y - cy]), np.array([-G, 0.0, 0.0]), x, y


@pytest.mark.parametrize("legs", [3, 4, 6, 100])
@each_solver
def test_a_table_rests_on_any_number_of_legs(solver, legs):
    H, T, free, *_ = table(legs)
    problem = ContactProblem.frictionless(T.T @ np.linalg.inv(H) @ T, T.T @ free)
    lam, info = solve(solver, problem)
    check_solution(problem, lam, info)
    assert len(info.basic) <= 3
    assert np.max(np.abs(free + np.linalg.solve(H, T @ lam))) <= 1e-12 * G


@pytest.mark.parametrize("legs", [3, 4, 6, 100])
def test_the_shortest_forces_of_a_table_are_known(legs):
    """λ_i = α + β x_i + γ y_i, as least squares has it; for four legs m g/4 (1 + x_i c_x/a² + y_i c_y/a²)."""
    H, T, free, x, y = table(legs)
    problem = ContactProblem.frictionless(T.T @ np.linalg.inv(H) @ T, T.T @ free)
    lam, _ = solve(BlockPivot(), problem)
    found = indeterminacy(problem, lam)
    assert found.basis.shape == (legs, legs - 3)
    assert np.max(np.abs(problem.M @ found.basis), initial=0.0) <= 1e-10
    expected = np.linalg.pinv(T) @ (-H @ free)
    if legs == 4:
        assert np.allclose(expected, 2.0 * G / 4 * (1 + 0.2 * x - 0.1 * y), rtol=0, atol=1e-12)
    assert np.max(np.abs(found.minimum_norm - expected)) <= 1e-9


def test_every_admissible_force_is_a_solution_and_none_beyond():
    H, T, free, *_ = table(4)
    problem = ContactProblem.frictionless(T.T @ np.linalg.inv(H) @ T, T.T @ free)
    lam, _ = solve(BlockPivot(), problem)
    found = indeterminacy(problem, lam)
    low, high = found.low[0], found.high[0]
    for t, inside in ((low, True), (high, True), (high + 1, False), (low - 1, False)):
        other = lam + t * found.basis[:, 0]
        assert np.max(np.abs(problem.M @ other + problem.d)) <= 1e-12 * G * 10
        assert (other >= -1e-12).all() == inside
    assert force_ranges(problem, lam)[:, 0].min() == pytest.approx(0.0, abs=1e-9)


@each_solver
def test_a_table_tips_about_its_edge(solver):
    """Centre of mass d beyond the edge legs: α = g d/(k² + d² + h²), here h = 0 as the legs only push upwards."""
    H, T, free, *_ = table(4, cx=1.5, cy=0.0)
    problem = ContactProblem.frictionless(T.T @ np.linalg.inv(H) @ T, T.T @ free)
    lam, info = solve(solver, problem)
    check_solution(problem, lam, info)
    acceleration = free + np.linalg.solve(H, T @ lam)
    k2, d = 0.3 / 2.0, 0.5
    assert acceleration[1] == pytest.approx(-G * d / (k2 + d * d), rel=1e-12)


@each_solver
@pytest.mark.parametrize("copies", [1, 4, 16])
def test_duplicated_contacts_do_not_change_the_motion(solver, copies):
    H, T, free, *_ = table(5)
    T = np.tile(T, (1, copies))
    problem = ContactProblem.frictionless(T.T @ np.linalg.inv(H) @ T, T.T @ free)
    lam, info = solve(solver, problem)
    check_solution(problem, lam, info)
    assert np.max(np.abs(free + np.linalg.solve(H, T @ lam))) <= 1e-11 * G


def test_a_plank_that_loses_a_support_puts_a_quarter_of_its_weight_on_the_other():
    """λ = m g/4, α = 3g/(2L), from the QP in q̈ with H and T as they are."""
    m, L = 3.0, 2.0
    H, T = np.diag([m, m * L * L / 12]), np.array([[1.0], [-L / 2]])
    qdd, lam, info = constrained_acceleration(H, T, np.array([-G, 0.0]), np.zeros(1))
    assert info.status == "solved"
    assert lam[0] == pytest.approx(m * G / 4, rel=1e-14)
    assert qdd[1] == pytest.approx(-3 * G / (2 * L), rel=1e-14)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12), contacts=st.integers(1, 40))
def test_least_constraint_in_q_is_the_lcp(seed, n, contacts):
    """Up to 40 contacts on a few degrees of freedom: q̈ of eq. 11.44 is that of eq. 11.41 with λ from the LCP."""
    rng = np.random.default_rng(seed)
    A, T = rng.standard_normal((n, n)), rng.standard_normal((n, contacts))
    H, free = A @ A.T + 0.1 * np.eye(n), rng.standard_normal(n)
    drift = np.abs(rng.standard_normal(contacts)) - T.T @ rng.standard_normal(n)
    qdd, lam, info = constrained_acceleration(H, T, free, drift)
    problem = ContactProblem.frictionless(T.T @ np.linalg.solve(H, T), T.T @ free + drift)
    check_solution(problem, lam, info)
    other, how = solve(Lemke(), problem)
    terms = np.abs(H) @ (np.abs(qdd) + np.abs(free)) + np.abs(T) @ lam
    tolerance = 16 * np.finfo(float).eps * np.linalg.cond(H) * np.max(terms)
    assert np.max(np.abs(H @ (qdd - free) - T @ lam)) <= tolerance
    known = max(part_known(problem, info), part_known(problem, how))
    assert np.max(np.abs(T @ (lam - other))) <= known * np.max(np.abs(T) @ (lam + other))


# ---------------------------------------------------------------------------------------------------------- the glue
def test_plain_gauss_seidel_glues_where_the_right_solvers_let_go():
    """A table whose centre of mass lies beyond two of its three legs tips; held by equalities, its third leg pulls."""
    H, T, free, *_ = table(3, cx=2.0, cy=0.0)
    problem = ContactProblem.frictionless(T.T @ np.linalg.inv(H) @ T, T.T @ free)
    glued = np.zeros(3)
    info = GaussSeidel()(problem, glued)
    assert info.status == "glued"
    assert glued.min() < -1.0
    assert np.max(np.abs(problem.M @ glued + problem.d)) <= 1e-9
    for solver in RIGHT:
        lam, info = solve(solver, problem)
        check_solution(problem, lam, info)
        assert (problem.M @ lam + problem.d).max() > 1.0


def test_plain_gauss_seidel_is_right_where_all_contacts_push():
    problem = ContactProblem.frictionless(*SYMMETRIC["deudeu"])
    lam = np.zeros(2)
    info = GaussSeidel()(problem, lam)
    assert info.status == "solved"
    assert np.max(np.abs(lam - (4 / 3, 7 / 3))) <= 1e-11


def test_plain_gauss_seidel_says_that_it_does_not_converge():
    info = GaussSeidel()(ContactProblem.frictionless([[1, -1], [-1, 1]], [-14, 6]), np.zeros(2), iterations=100)
    assert info.status == "iterations"
    assert info.certificate is None


# ------------------------------------------------------------------------------------------------------------- traces
@each_solver
@pytest.mark.parametrize("kind", ["definite", "semidefinite", "any"])
def test_a_trace_ends_where_the_solver_does(solver, kind):
    problem = random_problem(11, 12, kind)
    lam, info = solve(solver, problem)
    start = np.zeros(12)
    steps = list(solver.trace(problem, start))
    assert not start.any()
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    if info.status == "solved" and solver.name != "block_pivot":  # which trusts its shift only as a first guess
        assert set(steps[-1].basic) == set(info.basic)
        assert np.max(np.abs(steps[-1].lam - lam)) <= 1e-9 * (1 + np.max(lam))
    for step in steps:
        assert np.array_equal(step.zeta_dot, problem.M @ step.lam + problem.d)


def test_dantzig_keeps_what_it_has_put_in_order():
    """Once ζ̇_i >= 0 holds it holds for good, and no force is ever negative [Baraff 1994]."""
    problem = random_problem(3, 20, "definite")
    kept = np.zeros(20, bool)
    for step in Dantzig().trace(problem, np.zeros(20)):
        assert (step.lam >= -1e-12).all()
        assert (step.zeta_dot[kept] >= -1e-12).all()
        kept |= step.zeta_dot >= 1e-12


def test_the_qp_in_forces_never_climbs():
    problem = random_problem(3, 20, "semidefinite")
    energy = [0.5 * s.lam @ problem.M @ s.lam + s.lam @ problem.d for s in ForceQP().trace(problem, np.zeros(20))]
    assert (np.diff(energy) <= 1e-12 * abs(min(energy))).all()


def test_a_limit_on_pivots_is_kept_and_told():
    problem = random_problem(5, 30, "definite")
    for solver in (Lemke(), Dantzig(), ForceQP(), AccelerationQP()):
        lam = np.zeros(30)
        info = solver(problem, lam, iterations=2)
        assert info.status == "iterations"
        assert info.pivots == 2
