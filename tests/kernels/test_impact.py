"""Impact laws against closed forms, and what every law must keep: momentum, and no energy out of nothing."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from contactlab.physics.impacts.impact_laws import (
    EQUALITIES,
    IMPACT_LAWS,
    ball_impact,
    coulomb,
    hit,
    newton,
    poisson,
    sequential,
    sticking,
    stronge,
)
from contactlab.physics.impacts.routh import POISSON, routh
from contactlab.physics.problem.problem import ContactProblem
from contactlab.physics.problem.residual import natural_map

EPS = 2.0**-52
ROUNDING = 16 * EPS  # of a few dozen products, each rounded by half an eps of the largest term
SOLVED = 1e-11       # of the terms of ζ⁺ that the solver of the LCP counts as rounding
KEPT = 4e-13         # of the terms of the loss: a gain beyond it lowers e, 1e-13 (|P|·|ζ⁺| + |P·ζ⁺|) in `impact_laws`
LEFT = 1e-12         # |d| that the solver of the LCP leaves as it is [m/s]


def terms_of_loss(M, zeta, impulse):
    """The loss is -P·ζ - ½ P·M P: the size of these terms [J]."""
    size = np.abs(impulse)
    return float(size @ np.abs(zeta) + 0.5 * size @ np.abs(M) @ size)


def terms_of_velocity(M, zeta, impulse):
    """ζ⁺ = ζ + M P: the size of these terms (k,) [m/s]."""
    return np.abs(zeta) + np.abs(M) @ np.abs(impulse)


def row_of_balls(mass, velocity):
    """T, M and ζ⁻ of touching balls in a row."""
    n = len(mass)
    T = np.zeros((n, n - 1))
    T[np.arange(n - 1), np.arange(n - 1)] = -1.0
    T[np.arange(1, n), np.arange(n - 1)] = 1.0
    inverse = 1.0 / np.asarray(mass, float)
    return T, T.T @ (inverse[:, None] * T), T.T @ np.asarray(velocity, float)


def cradle(law, velocity, e):
    """Velocities of equal balls after the law has acted."""
    T, M, zeta = row_of_balls(np.ones(len(velocity)), velocity)
    impact = law(M, zeta, e)
    assert impact.status == "solved"
    return np.asarray(velocity, float) + T @ impact.impulse, impact


def rolling(k=0.4):
    """M of a ball on a plane, inertia k m r², m = 1: normal, two tangential."""
    return np.diag([1.0, 1.0 + 1.0 / k, 1.0 + 1.0 / k])


def contact_matrix(rng, contacts, freedoms):
    T = rng.standard_normal((freedoms, contacts))
    return T.T @ T


# ------------------------------------------------------------------------------------------------ Newton's cradle etc.
@pytest.mark.parametrize("velocity, e, expected", [
    ([1, 0, 0], 1.0, [-1 / 3, 2 / 3, 2 / 3]),
    ([1, 0, 0, 0, 0], 1.0, [-0.6, 0.4, 0.4, 0.4, 0.4]),
    ([1, 0, 0, 0, 0], 0.8, [-0.44, 0.36, 0.36, 0.36, 0.36]),
    ([1, 1, 0, 0, 0], 1.0, [-0.2, -0.2, 0.8, 0.8, 0.8]),
])
@pytest.mark.parametrize("law", [newton, poisson])
def test_a_cradle_hit_all_at_once_moves_as_one(law, velocity, e, expected):
    """v_1 = (1 - (1 + e)(N - 1)/N) v, the others (1 + e) v/N; no energy is lost for e = 1."""
    after, impact = cradle(law, velocity, e)
    assert np.max(np.abs(after - expected)) <= 1e-12
    assert impact.loss == pytest.approx(0.5 * np.dot(velocity, velocity) - 0.5 * np.dot(expected, expected), abs=1e-12)
    assert not len(impact.order)


@pytest.mark.parametrize("velocity, expected, order", [
    ([1, 0, 0], [0, 0, 1], [0, 1]),
    ([1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 2, 3]),
    ([1, 1, 0, 0, 0], [0, 0, 0, 1, 1], [1, 0, 2, 1, 3, 2]),
])
def test_a_cradle_hit_pair_by_pair_hands_on_the_motion(velocity, expected, order):
    after, impact = cradle(sequential, velocity, 1.0)
    assert np.max(np.abs(after - expected)) <= 1e-12
    assert impact.order.tolist() == order
    assert abs(impact.loss) <= 1e-12


def test_a_column_of_ten_beads_turns_around_as_a_whole():
    """The bottom one hits the floor, all e = 1: relative velocities are zero before and after, so all rebound alike."""
    v = -0.99045444
    T, _, _ = row_of_balls(np.ones(10), np.zeros(10))
    T = np.hstack([np.eye(10)[:, :1], T])
    impact = newton(T.T @ T, T.T @ np.full(10, v), 1.0)
    assert np.max(np.abs(v + T @ impact.impulse + v)) <= 1e-12
    assert abs(impact.loss) <= 1e-12


@settings(max_examples=50, deadline=None)
@given(e=st.floats(0, 1), zeta=st.floats(-10, 10), inverse_mass=st.floats(0.01, 100))
@example(e=0.0, zeta=-1e-12, inverse_mass=1.0)
@example(e=0.0, zeta=-(2.0**-52), inverse_mass=2.0**-6)  # slower than LEFT: an LCP gives it no impulse
def test_one_contact_is_eq_11_65_by_every_law(e, zeta, inverse_mass):
    """P = -(1 + e) ζ/M to the rounding of its four operations, and the loss ½ (1 - e²) ζ²/M to that of its terms P ζ
    and ½ M P², which do not vanish as it does at e = 1. Where |ζ| <= LEFT a law may take P = 0."""
    expected, energy = -(1 + e) * min(zeta, 0.0) / inverse_mass, 0.5 * min(zeta, 0.0) ** 2 / inverse_mass
    terms, left = terms_of_loss([[inverse_mass]], [zeta], [expected]), (1 + e) * LEFT / inverse_mass
    for law in IMPACT_LAWS.values():
        impact = law([[inverse_mass]], [zeta], e)
        assert impact.impulse[0] == pytest.approx(expected, rel=ROUNDING, abs=left)
        assert abs(impact.loss - (1 - e * e) * energy) <= ROUNDING * terms + left * abs(min(zeta, 0.0))


def test_newton_and_poisson_part_where_contacts_share_an_impulse():
    """One contact approaches, the other is at rest: by Newton's rule it stays so; by Poisson's it is thrown off.

    Newton: M P = (3/2, 0). Poisson: P_C = (2, 1)/3, P = (1 + e) P_C = (1, 2/3), ζ⁺ = (1, 1)/3.
    """
    M, zeta, e = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([-1.0, 0.0]), [0.5, 1.0]
    a, b = newton(M, zeta, e), poisson(M, zeta, e)
    assert (a.impulse, a.zeta) == (pytest.approx([1.0, 0.5], abs=1e-14), pytest.approx([0.5, 0.0], abs=1e-14))
    assert (b.impulse, b.zeta) == (pytest.approx([1.0, 2 / 3], abs=1e-14), pytest.approx([1 / 3, 1 / 3], abs=1e-14))


def test_poisson_lowers_e_rather_than_gain_energy():
    """Opposed contacts squeezed by nothing but one another, one elastic: e_1 P_C alone would be energy from nothing."""
    M, zeta = np.array([[1.0, -0.99], [-0.99, 1.0]]), np.array([-1.0, -0.5])
    squeezed = np.linalg.solve(M, -zeta)
    naive = np.array([2.0, 1.0]) * squeezed
    assert -0.5 * naive @ (2 * zeta + M @ naive) < -1.0
    assert poisson(M, zeta, [1.0, 0.0]).loss >= 0.0


def test_endless_bouncing_is_cut_off_and_ends_in_rest():
    """Three equal balls, the middle one between approaching neighbours, e small: hits without end in a finite time."""
    T, M, zeta = row_of_balls([1, 1, 1], [1, 0, -1])
    impact = sequential(M, zeta, 0.05)
    assert impact.status == "solved"
    assert len(impact.order) <= 200
    assert (impact.zeta >= -1e-12).all()
    assert abs((np.array([1, 0, -1]) + T @ impact.impulse).sum()) <= 1e-14


def test_a_rod_hit_at_one_end_without_friction():
    """P = (1 + e) m v/(1 + 3 cos² θ), ω = 6 P cos θ/(m L)."""
    m, L, v = 1.0, 1.0, 1.0
    for theta, e, P, omega in ((0.0, 0.5, 0.375, 2.25), (np.pi / 6, 0.5, 0.46153846153846156, 2.39822419512)):
        t = np.array([1.0, 0.5 * L * np.cos(theta)])  # vertical, rotation
        inverse = np.array([1 / m, 12 / (m * L * L)])
        for law in IMPACT_LAWS.values():
            impact = law([[t @ (inverse * t)]], [-v], e)
            assert impact.impulse[0] == pytest.approx(P, rel=1e-12)
            assert (inverse * t)[1] * impact.impulse[0] == pytest.approx(omega, rel=1e-9)


# ------------------------------------------------------------------------------------------------------------ friction
def test_a_ball_sticks_or_slides_by_the_critical_friction():
    """v_t = 3, v_n = -4, e = 0.8: μ_c = |s| k/((1 + k)(1 + e)|v_n|) = 0.119047619."""
    zeta, e = np.array([-4.0, 3.0, 0.0]), 0.8
    slides, sticks = coulomb(rolling(), zeta, e, 0.1), coulomb(rolling(), zeta, e, 0.5)
    assert 3 + slides.impulse[1] == pytest.approx(2.28, rel=1e-12)
    assert -slides.impulse[1] / 0.4 == pytest.approx(1.8, rel=1e-12)
    assert 3 + sticks.impulse[1] == pytest.approx(15 / 7, rel=1e-12)
    critical = 3 * (0.4 / 1.4) / (1.8 * 4)
    assert critical == pytest.approx(0.119047619, rel=1e-8)
    assert np.max(np.abs(coulomb(rolling(), zeta, e, critical * 1.000001).zeta[1:])) <= 1e-12
    assert coulomb(rolling(), zeta, e, critical * 0.999999).zeta[1] > 1e-7
    assert np.allclose(sticks.impulse, sticking(rolling(), zeta, e).impulse, rtol=0, atol=1e-12)


@pytest.mark.parametrize("copies", [1, 4, 16, 64])
@pytest.mark.parametrize("v, moves, turns", [(0.5, 0.25, 0.25), (0.7, 0.4, 0.3)])
def test_a_cylinder_dropped_while_moving_does_not_care_how_often_its_contact_is_counted(copies, v, moves, turns):
    """k = 1, m = R = 1, g = 9, height 0.5, μ = 0.1, e = 0: it sticks below 0.6 m/s."""
    # rows: vertical, horizontal, R ω (mass 1 as k = 1), sideways
    T = np.tile(np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]), (1, copies))
    M, zeta = T.T @ T, np.tile([-3.0, v, 0.0], copies)
    impact = coulomb(M, zeta, 0.0, 0.1)
    after = np.array([-3.0, v, 0.0, 0.0]) + T @ impact.impulse
    assert impact.status == "solved"
    assert after[1] == pytest.approx(moves, abs=1e-9)
    assert -after[2] == pytest.approx(turns, abs=1e-9)


@pytest.mark.parametrize("mu", [0.2, 2.0])
def test_a_box_that_lands_flat_and_sliding_is_not_turned_by_the_order_of_its_corners(mu):
    """Four corners hit at once: the smallest impulses are symmetric about the direction of slip, so no spin about the
    vertical; with a basis of three, or one after the other, there would be."""
    corners = np.array([(x, y, -0.3) for x in (-1, 1) for y in (-1, 1)])
    rows = [np.array([np.r_[n, np.cross(r, n)] for n in np.eye(3)[[2, 0, 1]]]) for r in corners]
    T, H = np.vstack(rows).T, np.diag([1, 1, 1, 0.5, 0.5, 0.7])
    v = np.array([1.0, 0, -2.0, 0, 0, 0])
    M, zeta = T.T @ np.linalg.inv(H) @ T, T.T @ v
    impact = coulomb(M, zeta, 0.0, mu)
    after = v + np.linalg.inv(H) @ T @ impact.impulse
    assert impact.status == "solved" and abs(after[5]) <= 1e-13 and abs(after[1]) <= 1e-13
    normal = impact.impulse[::3]
    assert normal[[0, 2]] == pytest.approx(normal[[1, 3]], rel=1e-12)
    problem = ContactProblem.frictional(M, zeta, mu)
    assert natural_map(problem, impact.impulse) <= 1e-12


def test_the_direction_of_sliding_does_not_matter():
    """A true cone: the answer turns with the velocity."""
    losses = []
    for angle in np.linspace(0, 2 * np.pi, 13):
        c, s = np.cos(angle), np.sin(angle)
        impact = coulomb(rolling(), [-4.0, 3 * c, 3 * s], 0.5, 0.1)
        assert np.allclose(impact.impulse[1:], -0.6 * np.array([c, s]), rtol=0, atol=1e-12)
        losses.append(impact.loss)
    assert np.ptp(losses) <= 1e-12


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), mu=st.floats(0, 1), e=st.floats(0, 1))
def test_one_contact_obeys_newtons_and_coulombs_law(seed, mu, e):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, 3))
    M, zeta = A @ A.T + 3 * np.eye(3), rng.standard_normal(3)
    zeta[0] = -abs(zeta[0]) - 0.1
    impact = coulomb(M, zeta, e, mu)
    assert impact.status == "solved"
    problem = ContactProblem.frictional(M, zeta + np.array([impact.restitution[0] * zeta[0], 0, 0]), mu)
    assert natural_map(problem, impact.impulse) <= 1e-9 * np.max(np.abs(zeta))  # below which the sweeps end "solved"
    assert impact.loss >= -KEPT * terms_of_loss(M, zeta, impact.impulse)
    rounding = ROUNDING * terms_of_velocity(M, zeta, impact.impulse)
    assert (np.abs(impact.zeta - zeta - M @ impact.impulse) <= rounding).all()


def test_sticking_stops_the_tangential_velocity_and_reverses_the_normal_one():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((3, 3))
    M = A @ A.T + 3 * np.eye(3)
    impact = sticking(M, [-1.0, 0.5, -2.0], 0.6)
    assert impact.zeta == pytest.approx([0.6, 0, 0], abs=1e-12)
    assert impact.restitution[0] == 0.6


def test_e_is_lowered_rather_than_energy_gained():
    """Sliding turned into rebound (Kane's paradox): ζ⁺ = (1, 0) at e = 1 costs ½ (M⁻¹)_nn, more than ½ ζᵀM⁻¹ζ held."""
    M = np.array([[4.0, 3.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    zeta, W = np.array([-1.0, -0.75, 0.0]), np.linalg.inv(M)
    assert W[0, 0] > zeta @ W @ zeta
    kept = np.sqrt(zeta @ W @ zeta / W[0, 0])
    for impact in (sticking(M, zeta, 1.0), coulomb(M, zeta, 1.0, 5.0)):
        assert impact.loss >= 0.0
        assert impact.restitution[0] == pytest.approx(kept, rel=1e-9)
        assert impact.zeta == pytest.approx([kept, 0, 0], abs=1e-9)


# ------------------------------------------------------------------------------------------------------- what all keep
@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), contacts=st.integers(1, 8))
def test_energy_never_grows_and_nothing_goes_on_approaching(seed, contacts):
    """The solver knows ζ⁺ to SOLVED of its largest term, and thus the loss, ½ P·(…), to SOLVED of its own terms."""
    rng = np.random.default_rng(seed)
    M = contact_matrix(rng, contacts, int(rng.integers(contacts, contacts + 6)))
    zeta, e = rng.standard_normal(contacts), rng.uniform(0, 1, contacts) * rng.integers(0, 2)
    for law in IMPACT_LAWS.values():
        impact = law(M, zeta, e)
        assert impact.status == "solved"
        terms = terms_of_velocity(M, zeta, impact.impulse).max()
        assert impact.loss >= -SOLVED * terms_of_loss(M, zeta, impact.impulse)
        assert (impact.impulse >= 0).all()
        assert impact.zeta.min() >= -SOLVED * terms
        # `sequential` adds up the hits one after the other, each sum rounded by half an eps
        assert np.abs(impact.zeta - zeta - M @ impact.impulse).max() <= (ROUNDING + len(impact.order) * EPS) * terms


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), contacts=st.integers(1, 3))
def test_energy_never_grows_with_friction(seed, contacts):
    rng = np.random.default_rng(seed)
    M = contact_matrix(rng, 3 * contacts, 3 * contacts + 3) + np.eye(3 * contacts)
    zeta = rng.standard_normal(3 * contacts)
    e, mu = rng.uniform(0, 1, contacts), rng.uniform(0, 1, contacts)
    for name, arguments in (("coulomb", (e, mu)), ("sticking", (e,))):
        impact = {"coulomb": coulomb, "sticking": sticking}[name](M, zeta, *arguments)
        assert impact.loss >= -KEPT * terms_of_loss(M, zeta, impact.impulse)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 10), e=st.floats(0, 1))
def test_momentum_is_kept(seed, n, e):
    """Σ m v⁺ - Σ m v⁻: sums of n terms, of the momenta before and after and of the impulses that make the change."""
    rng = np.random.default_rng(seed)
    mass, velocity = rng.uniform(0.1, 10, n), rng.standard_normal(n)
    T, M, zeta = row_of_balls(mass, velocity)
    for law in IMPACT_LAWS.values():
        impulse = law(M, zeta, e).impulse
        after = velocity + (T @ impulse) / mass
        terms = mass @ (np.abs(after) + np.abs(velocity)) + (np.abs(T) @ impulse).sum()
        assert abs(mass @ (after - velocity)) <= n * EPS * terms


def test_nothing_happens_to_what_separates():
    for law in IMPACT_LAWS.values():
        impact = law(np.eye(3), [1.0, 0.0, 2.0], 0.5)
        assert not impact.impulse.any()
        assert impact.loss == 0.0
        assert not len(law(np.zeros((0, 0)), [], 0.5).impulse)


# -------------------------------------------------------------------------------------------------------------- a ball
def test_a_super_ball_reverses_sliding_and_spin_and_loses_nothing():
    """e = e_t = e_ψ = 1: the velocity at the contact and the spin about the normal change sign (fig. 11.9)."""
    ball = ball_impact((1.0, 3.5, 2.5), [-4.0, 3.0, -1.0, 2.0], 1.0, 1.0, 1.0, friction_psi=np.inf)
    assert ball.zeta == pytest.approx([4.0, -3.0, 1.0, -2.0], abs=1e-14)
    assert abs(ball.loss) <= 1e-13
    # m = r = 1: v⁺ = v + P, ω r⁺ = ω r - P/k: a spinless super-ball rebounds with v = 3/7 of what it came with
    assert 3.0 + ball.impulse[1] == pytest.approx(3.0 * 3 / 7, rel=1e-12)


def test_a_ball_without_tangential_restitution_sticks_as_eq_11_72():
    ball = ball_impact((1.0, 3.5, 2.5), [-4.0, 3.0, 0.0, 2.0], 0.8)
    assert ball.impulse[:3] == pytest.approx(sticking(rolling(), [-4.0, 3.0, 0.0], 0.8).impulse, rel=1e-12)
    assert ball.zeta[3] == 2.0


def test_a_balls_friction_is_limited_by_its_normal_impulse():
    ball = ball_impact((1.0, 3.5, 2.5), [-4.0, 3.0, 0.0, 2.0], 0.8, 0.5, 0.5, friction=0.05, friction_psi=0.01)
    assert np.hypot(*ball.impulse[1:3]) == pytest.approx(0.05 * 7.2, rel=1e-12)
    assert abs(ball.impulse[3]) == pytest.approx(0.01 * 7.2, rel=1e-12)
    assert ball.loss > 0
    assert not ball_impact((1.0, 3.5, 2.5), [4.0, 3.0, 0.0, 2.0], 0.8).impulse.any()


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 1), st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 2), st.floats(0, 1), st.floats(-5, 0))
def test_a_ball_never_gains_energy(e, e_t, e_psi, mu, mu_psi, zeta_n):
    zeta = np.array([zeta_n, 2.0, 1.0, -3.0])
    ball = ball_impact((1.0, 3.5, 2.5), zeta, e, e_t, e_psi, mu, mu_psi)
    assert ball.loss >= -ROUNDING * terms_of_loss(np.diag([1.0, 3.5, 3.5, 2.5]), zeta, ball.impulse)


@pytest.mark.parametrize("n, inverse_mass, speed", [(5, 0.3, 1.3), (5, 0.2448, 0.7), (3, 1 / 3, 1.3), (3, 0.7, 1.0)])
def test_poisson_does_not_take_rounding_for_a_gain_of_energy(n, inverse_mass, speed):
    """Balls in a row, e = 1, each on a table with e = 0 that nothing presses: the table's e must not stop them."""
    J = np.zeros((2 * n - 1, 2 * n))
    for k in range(n):
        J[k, 2 * k + 1] = 1.0                              # ball k on the table
    for k in range(n - 1):
        J[n + k, 2 * k], J[n + k, 2 * k + 2] = -1.0, 1.0   # ball k against ball k + 1
    v = np.zeros(2 * n)
    v[0] = speed
    found = poisson(inverse_mass * J @ J.T, J @ v, np.concatenate([np.zeros(n), np.ones(n - 1)]))
    assert abs(found.loss) <= 1e-12 * 0.5 * speed**2 / inverse_mass


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_equality_is_newtons_law_where_nothing_pulls(seed, count):
    """ζ⁺ = -e ζ⁻ at every contact; where no impulse is negative it is the answer of the LCP too, which is unique.
    The terms of M P are up to cond(M) |ζ| large; P is known to ‖M⁻¹‖ times what is known of them."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(count, count + 2))
    M, zeta, e = B @ B.T, -rng.uniform(0.1, 2.0, count), rng.uniform(0.0, 1.0)
    found = EQUALITIES["zhang"](M, zeta, e)
    assert found.status == "solved"
    size = np.linalg.cond(M) * np.abs(zeta).max()
    np.testing.assert_allclose(found.zeta, -e * zeta, rtol=0, atol=1e-13 * size)
    if (found.impulse >= 0.0).all():
        np.testing.assert_allclose(found.impulse, IMPACT_LAWS["newton"](M, zeta, e).impulse, rtol=0,
                                   atol=1e-12 * size * np.linalg.norm(np.linalg.inv(M), 2))


# ------------------------------------------------------------------------------------------- through one impact
def planar_contact(tilt):
    """M of a rod of mass and length 1 that meets the floor with one end, `tilt` from the floor: normal, the direction
    in which it leans, and across."""
    arm = np.array([-0.5 * np.cos(tilt), 0.0, -0.5 * np.sin(tilt)])
    J = np.array([np.concatenate([axis, np.cross(arm, axis)]) for axis in np.eye(3)[[2, 0, 1]]])
    return J @ np.diag([1.0, 1.0, 1.0, 12.0, 12.0, 12.0]) @ J.T


def followed(M, zeta, mu, e, law, creep=0.0):
    """u after the impact of a contact, by scipy's integrator over p. Where slip may stop, friction must grow smoothly
    to its limit, while slip comes to the speed `creep`: what sticks then slips by about as much."""
    def rates(p, y):
        slip = math.hypot(y[1], y[2], creep)
        return np.append(M @ [1.0, -mu * y[1] / slip, -mu * y[2] / slip], y[0])

    def ended(value):
        def event(p, y):
            return value(p, y)
        event.terminal, event.direction = True, 1.0
        return event

    def run(p, y, value):
        found = solve_ivp(rates, (p, 100.0), y, "Radau" if creep else "DOP853", rtol=1e-10 if creep else 1e-12,
                          atol=1e-14, events=ended(value))
        return found.t[-1], found.y[:, -1]

    p, y = run(0.0, np.append(zeta, 0.0), lambda p, y: y[0])
    ends = {"poisson": lambda q, y: q - (1.0 + e) * p, "stronge": lambda q, z, w=y[3]: z[3] - (1.0 - e * e) * w}
    return run(p, y, ends[law])[1][:3]


@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize("seed", range(10))
def test_one_contact_is_followed_through_the_impact(law, seed):
    """du/dp = M (1, -μ ê) [Routh 1860; Keller 1986], the direction of slip turning: against scipy's integrator. The
    scheme's error is (1/256 rad)⁴/120 = 2e-12 a radian, that of scipy's 1e-12 a step, of speeds up to some 10."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((6, 3))
    M, e, mu = T.T @ T, rng.uniform(0.1, 1.0), rng.uniform(0.02, 0.2)
    zeta = rng.standard_normal(3)
    zeta[0] = -1.0 - abs(zeta[0])
    zeta[1:] += 20.0
    expected = followed(M, zeta, mu, e, law)
    impact = hit(law, M, zeta, e, mu)
    assert impact.status == "solved"
    assert np.hypot(*(expected[1:])) > 1e-2  # slip has not ended
    assert np.max(np.abs(impact.zeta - expected)) <= 1e-9 * np.max(np.abs(zeta))


@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize(("mu", "seeds"), [(0.15, range(6)), (2.0, range(6, 12))])
def test_slip_that_turns_may_stop_within_an_impact_and_begin_anew_in_another_direction(law, mu, seeds):
    """In space, against the same equations with friction that grows to its limit over a slip of 1e-8 m/s: what sticks
    creeps by no more, and slip begins anew later, by ln(1e8) 1e-8 = 2e-7 of impulse; with M that is velocity."""
    sticks = anew = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        T = rng.standard_normal((6, 3)) + np.array([1.0, 0.0, 0.0])
        M, e, zeta = T.T @ T, rng.uniform(0.1, 1.0), np.append(-1.0, 0.1 * rng.standard_normal(2))
        expected = followed(M, zeta, mu, e, law, 1e-8)
        impact = hit(law, M, zeta, e, mu)
        assert impact.status == "solved"
        assert np.abs(impact.zeta - expected).max() <= 1e-6 * np.abs(M).max()
        f = -np.linalg.solve(M[1:, 1:], M[1:, 0])
        held = np.hypot(*f) <= mu
        sticks += held and np.hypot(*impact.zeta[1:]) <= 1e-12
        before, after = zeta[1:], impact.zeta[1:]
        anew += not held and abs(before[0] * after[1] - before[1] * after[0]) > 1e-3 * np.hypot(*before)
    assert sticks >= 2 if mu > 1.0 else anew >= 2  # what the test is about does happen


@pytest.mark.parametrize("law", ["poisson", "stronge"])
def test_a_contact_of_a_planar_linkage_is_followed_in_its_plane(law):
    """Joints let it move along the normal and one tangent: M_TT has rank one. The impulse is that of any contact that
    moves across too, but alone, in the limit of great inertia: the part of M across, ε, changes it by ε. None acts
    across."""
    M, e, zeta = planar_contact(1.0), 0.6, np.array([-1.0, 0.05, 0.0])
    M[2, :] = M[:, 2] = 0.0
    for mu in (0.3, 0.9):
        impact = hit(law, M, zeta, e, mu)
        near = hit(law, M + np.diag([0.0, 0.0, 1e-6]), zeta, e, mu)
        assert impact.status == "solved"
        assert impact.impulse[:2] == pytest.approx(near.impulse[:2], rel=1e-12)
        assert abs(impact.impulse[2]) <= 1e-15 * impact.impulse[0]


@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize("count", [1, 2])
def test_contacts_that_move_along_their_normals_only_rebound_as_without_friction(law, count):
    """Pistons in guides: M_TT = 0. Independent ones give P = (1 + e)|ζ|/M each."""
    M, zeta = np.zeros((3 * count, 3 * count)), np.tile([-1.0, 0.0, 0.0], count)
    M[::3, ::3] = 2.0 * np.eye(count)
    impact = hit(law, M, zeta, 0.5, 0.3)
    assert impact.status == "solved"
    assert impact.impulse == pytest.approx(np.tile([0.75, 0.0, 0.0], count), rel=1e-12)


def test_an_impact_that_nothing_ends_is_called_so():
    """M is singular along the surface of the cone, (1, -μ): such a push leaves all velocities as they are."""
    M, out = np.outer([0.5, 1.0, 0.0], [0.5, 1.0, 0.0]), np.full(3, np.nan)
    assert not routh(M, np.array([-1.0, 1.0, 0.0]), 0.5, 0.5, POISSON, out)
    assert np.isfinite(out).all()


@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize("mu", [0.3, 0.9])
def test_slip_stops_and_turns_round_or_sticks_in_the_middle_of_an_impact(law, mu):
    """In the plane u is linear piece by piece: slip s ends at p_1 = s/(μ M_tt - M_nt); then it sticks, or where μ is
    too small, slides the other way. u_n grows by a before and by b after p_1, which lies within compression here:
    p_c = p_1 + |u_n(p_1)|/b; Poisson ends at (1 + e) p_c; Stronge at u_n² = 2 b e² |W_c| [Stronge 1990]."""
    M, e, zeta = planar_contact(1.0), 0.6, np.array([-1.0, 0.05, 0.0])
    nn, nt, tt = M[0, 0], M[0, 1], M[1, 1]
    assert nt < 0.0
    first = zeta[1] / (mu * tt - nt) if mu * tt - nt > 0 else np.inf
    a = nn - mu * nt
    hold = -nt / tt
    f = hold if hold <= mu else mu  # towards +t: it slides to -t
    b = nn + f * nt
    at = zeta[0] + a * first
    assert at < 0.0
    p_c = first - at / b
    work = first * (zeta[0] + at) / 2 - at * at / (2 * b)
    p = (1 + e) * p_c if law == "poisson" else p_c + np.sqrt(2 * e * e * -work / b)
    expected = [p, -mu * first + f * (p - first), 0.0]
    impact = hit(law, M, zeta, e, mu)
    assert impact.impulse == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert (impact.zeta[1] == pytest.approx(0.0, abs=1e-14)) == (hold <= mu)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), mu=st.floats(0.01, 3.0), e=st.floats(0.0, 1.0))
@example(seed=0, mu=3.0, e=1e-200)
def test_by_stronges_law_e_squared_is_the_part_of_the_normal_work_that_comes_back(seed, mu, e):
    """No energy is gained, and e is not lowered for that: friction takes energy, and ∫ u_n dp <= 0 by the law. Rounding
    and the scheme's error: 1e-9 of the energy that M and the speeds allow."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((6, 3))
    M, zeta = T.T @ T, rng.standard_normal(3)
    zeta[0] = -abs(zeta[0]) - 0.01
    impact = hit("stronge", M, zeta, e, mu)
    assert impact.status == "solved"
    assert impact.restitution == pytest.approx(e, rel=1e-12, abs=1e-100)
    assert impact.loss >= -1e-9 * np.abs(impact.impulse) @ np.abs(zeta)
    assert impact.zeta[0] >= -1e-12
    assert np.hypot(*impact.impulse[1:]) <= mu * impact.impulse[0] * (1 + 1e-9)


def test_without_friction_stronges_law_is_poissons_and_newtons_where_contacts_are_alike():
    """One e for all: κ = e. e = 1 loses nothing, e = 0 as much as can be; unlike e: the work of all is as asked for."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        M = contact_matrix(rng, 4, 7)
        zeta = -rng.uniform(0.1, 1.0, 4)
        for e in (0.0, 0.4, 1.0):
            one, other = stronge(M, zeta, e), poisson(M, zeta, e)
            assert one.impulse == pytest.approx(other.impulse, rel=1e-10, abs=1e-12)
        assert stronge(M, zeta, 1.0).loss == pytest.approx(0.0, abs=1e-11)
    single = stronge([[2.0]], [-3.0], 0.5)
    assert single.impulse == pytest.approx(newton([[2.0]], [-3.0], 0.5).impulse, rel=1e-14)


@pytest.mark.parametrize("mu", [0.0, 0.4])
@pytest.mark.parametrize("law", IMPACT_LAWS)
def test_what_is_symmetric_stays_symmetric(law, mu):
    """A ball hits two others at once, mirror images of each other: so are they after it, to rounding; by sequential
    impacts too, whatever numbers the contacts have. Mass 1, k = 0.4; normals ±30° from the way of the first."""
    rows = []
    for side in (1.0, -1.0):
        n = np.array([np.cos(np.pi / 6), side * np.sin(np.pi / 6), 0.0])
        for axis in (n, np.array([-side * n[1], side * n[0], 0.0]), np.array([0.0, 0.0, side])):
            spin = np.cross(n, axis) / np.sqrt(0.4)  # with ω r √k as coordinate
            other = np.zeros(12)
            other[(0 if side > 0 else 6) :][:6] = np.concatenate([axis, -spin])
            rows.append(np.concatenate([-axis, -spin, other]))
    J = np.array(rows)
    zeta = J @ np.eye(18)[0]
    impact = hit(law, J @ J.T, zeta, 0.7, mu)
    moved = J.T @ impact.impulse
    assert np.abs(moved[:6][[1, 2, 3, 4]]).max() <= 1e-12  # straight on, no spin but about z, and that
    assert abs(moved[5]) <= 1e-12  # is 0 by symmetry, too
    assert impact.impulse[:3] == pytest.approx(impact.impulse[3:], abs=1e-12)
