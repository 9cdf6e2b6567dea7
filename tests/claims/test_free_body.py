"""Free rigid bodies: Baraff's equations of motion, exact torque-free solutions, conserved momenta."""

import math

import numpy as np
import pytest
from bare_bodies import BOX, free_body, poisoned, rotation_between
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import ellipkm1

from contactlab.physics.books.diagnostics import energy, momentum
from contactlab.physics.core.model import BodyKind
from contactlab.physics.core.state import Bodies
from contactlab.physics.dynamics.forces import applied_forces, empty_loads
from contactlab.physics.dynamics.free_body import dydt, momentum_from_velocity, velocity_from_momentum
from contactlab.physics.dynamics.motion import drive
from contactlab.physics.integrators import INTEGRATORS, Dense, dense_eval, integrate

EPS = np.finfo(float).eps


def run(name, model, bodies, until, h, dense=None):
    """Integrate in steps of h [s]; a new Bodies."""
    bodies = Bodies(*(a.copy() for a in bodies))
    dense, loads = dense or Dense(model), empty_loads(len(model.kind))
    for k in range(round(until / h)):
        integrate(INTEGRATORS[name], model, loads, k * h, h, bodies, bodies, dense)
    return bodies


def matrix(q):
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def body_rates(bodies, i=0):
    """Angular velocity along the body's own axes."""
    return matrix(bodies.q[i]).T @ bodies.w[i]


# ------------------------------------------------------------------------------------------------ equations of motion

vectors = st.tuples(*[st.floats(-10, 10)] * 3)
moments = st.floats(0.5, 1.0)  # any three of them satisfy the triangle inequality
quaternions = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)


@settings(deadline=None, max_examples=60)
@given(vectors, vectors, vectors, vectors, quaternions, st.tuples(moments, moments, moments), st.floats(0.1, 10))
def test_the_rate_of_change_is_baraffs(P, L, force, torque, q, inertia, mass):
    model, bodies = free_body(inertia, gravity=(0.0, 0.0, -9.81), mass=mass)
    q = np.array(q) / np.linalg.norm(q)
    bodies.q[0], bodies.P[0], bodies.L[0] = q, P, L
    loads = empty_loads(1)
    loads.force[0], loads.torque[0] = force, torque
    ydot, F, tau = (np.full(shape, np.nan) for shape in ((1, 13), (1, 3), (1, 3)))
    dydt(model, loads, 0.0, bodies, F, tau, ydot)
    # v = P/m, ω = R I⁻¹ Rᵀ L, Ṙ = ω* R, Ṗ = F, L̇ = τ   [Baraff I §2.11]
    R = matrix(q)
    w = R @ np.diag(1.0 / np.array(inertia)) @ R.T @ np.array(L)
    scale = 1.0 + np.linalg.norm(w) + np.linalg.norm(P) / mass + np.linalg.norm(force) + 9.81 * mass
    assert ydot[0, :3] == pytest.approx(np.array(P) / mass, abs=8 * EPS * scale)
    assert ydot[0, 7:10] == pytest.approx(np.array(force) + mass * np.array([0, 0, -9.81]), abs=8 * EPS * scale)
    assert (ydot[0, 10:] == torque).all()
    # the derivative of R(q) along q̇, by a central difference; its error is step² |d³R| / 6 and rounding / step
    step = 1e-5 / (1.0 + np.linalg.norm(w))
    R_dot = (matrix(q + step * ydot[0, 3:7]) - matrix(q - step * ydot[0, 3:7])) / (2 * step)
    spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    assert R_dot == pytest.approx(spin @ R, abs=1e-9 * (1.0 + np.linalg.norm(w)) ** 2)


def test_velocities_and_momenta_are_each_others_inverse():
    model, bodies = free_body(w=(1.0, 2.0, 3.0), v=(4.0, 5.0, 6.0))
    bodies.q[0] = np.array([0.5, -0.5, 0.1, 0.7]) / np.linalg.norm([0.5, -0.5, 0.1, 0.7])
    bodies.w[0] = (1.0, -2.0, 0.5)
    momentum_from_velocity(model, bodies)
    bodies.v[:], bodies.w[:] = np.nan, np.nan
    velocity_from_momentum(model, bodies)
    assert bodies.v[0] == pytest.approx((4.0, 5.0, 6.0), rel=4 * EPS)
    assert bodies.w[0] == pytest.approx((1.0, -2.0, 0.5), abs=50 * EPS)  # condition of the inertia 2.6, six rotations


def test_a_force_off_the_centre_through_a_spring_makes_a_torque():
    model, bodies = free_body(count=2, spring_rows=[(0, 1, (0.0, 0.5, 0.0), (0.0, 0.5, 0.0), 0.75, 100.0, 2.0)])
    bodies.v[1] = (3.0, 7.0, 0.0)  # only the part along the spring is damped
    F, tau = np.full((2, 3), np.nan), np.full((2, 3), np.nan)
    applied_forces(model, empty_loads(2), bodies, F, tau)
    pull = 100.0 * 0.25 + 2.0 * 3.0  # k (s - s_0) + d ṡ
    assert pytest.approx(np.array([[pull, 0, 0], [-pull, 0, 0]])) == F
    assert tau == pytest.approx(np.array([[0, 0, -0.5 * pull], [0, 0, 0.5 * pull]]))  # r × f, r = (0, .5, 0)


def test_the_momenta_of_bodies_on_a_spring_are_conserved():
    spring = (0, 1, (0.1, 0.5, 0.2), (0.0, -0.3, 0.4), 0.75, 100.0, 0.0)
    model, bodies = free_body(count=2, w=(1.0, -2.0, 0.5), spring_rows=[spring])
    before, total = momentum(model, bodies), energy(model, bodies).total
    after = run("dopri5", model, bodies, 2.0, 1 / 100)
    # inner forces cancel in every stage: P to rounding; the angular momentum to the integrator's tolerance per step
    assert momentum(model, after)[0] == pytest.approx(before[0], abs=1e-13)
    assert momentum(model, after)[1] == pytest.approx(before[1], abs=200 * 1e-11)
    assert energy(model, after).total == pytest.approx(total, rel=1e-9)
    assert energy(model, after).kinetic != pytest.approx(energy(model, bodies).kinetic, rel=0.1)


# ------------------------------------------------------------------------------------------------ exact solutions


def axisymmetric(t, w0=(2.0, -1.0, 3.0), I=0.04, J=0.02):
    """Orientation and body rates of a torque-free axisymmetric body [Kane, Likins & Levinson 1983]."""
    x, y, z = w0
    s = (1 - J / I) * z
    p = math.sqrt(x * x + y * y + (z * J / I) ** 2)
    k = z * J / (I * p)
    c, d = math.cos(s * t / 2), math.sin(s * t / 2)
    a, b = math.sin(p * t / 2), math.cos(p * t / 2)
    q = (b * c - k * a * d, a / p * (x * c + y * d), a / p * (y * c - x * d), k * a * c + b * d)
    w = (x * math.cos(s * t) + y * math.sin(s * t), y * math.cos(s * t) - x * math.sin(s * t), z)
    return q, w


def test_the_reference_solution_has_the_published_numbers():
    assert axisymmetric(10.0)[0] == pytest.approx((-0.19178921, -0.07100091, -0.64483121, 0.73645670), abs=5e-9)


def test_a_torque_free_axisymmetric_body_turns_exactly_for_ten_seconds():
    model, bodies = free_body((0.04, 0.04, 0.02), w=(2.0, -1.0, 3.0))
    after = run("dopri5", model, bodies, 10.0, 1 / 60)
    q, w = axisymmetric(10.0)
    assert rotation_between(after.q[0], q) < 1e-10
    assert body_rates(after) == pytest.approx(w, abs=1e-10 * np.linalg.norm(w))


@pytest.mark.parametrize("name", INTEGRATORS)
def test_the_angle_error_of_an_axisymmetric_body_falls_with_the_order_of_the_scheme(name):
    model, bodies = free_body((0.04, 0.04, 0.02), w=(2.0, -1.0, 3.0))
    q = axisymmetric(1.0)[0]
    order = INTEGRATORS[name].order
    coarse, fine = (rotation_between(run(name, model, bodies, 1.0, h).q[0], q) for h in (1 / 240, 1 / 480))
    if INTEGRATORS[name].adaptive:
        assert max(coarse, fine) < 1e-11
    else:
        assert fine < coarse * 0.5 ** (order - 0.1) + 1e-13


# Box of half sizes .1 .2 .3, mass 1, started with (1, 2, 3) about its own axes: an independent integration's numbers
def test_a_torque_free_box_tumbles_as_published():
    model, bodies = free_body(w=(1.0, 2.0, 3.0))
    assert energy(model, bodies).kinetic == pytest.approx(0.1633333333, abs=1e-10)
    assert np.linalg.norm(momentum(model, bodies)[1]) == pytest.approx(0.0939266853573671, rel=1e-13)
    assert body_rates(run("dopri5", model, bodies, 1.0, 1 / 50)) == pytest.approx(
        (1.08610044, -1.90431156, 3.04634176), abs=6e-9)
    after = run("dopri5", model, bodies, 5.0, 1 / 50)
    assert body_rates(after) == pytest.approx((0.28086194, -2.43226694, 2.75010148), abs=6e-9)
    assert energy(model, after).kinetic == pytest.approx(energy(model, bodies).kinetic, rel=1e-10)


def period(inertia, w):
    """Period of w(t) about the body's axes: T = 4 K(m) / n   [Landau & Lifshitz, Mechanics, §37]"""
    I = np.sort(inertia)
    w = np.array(w)[np.argsort(inertia)]
    E2, L2 = float(I @ w**2), float((I * w) @ (I * w))
    if E2 * I[1] > L2:
        I, w = I[::-1], w[::-1]
    n2 = (I[2] - I[1]) * (L2 - E2 * I[0]) / (I[0] * I[1] * I[2])
    # 1 - m from L² - 2 E I_2 = Σ I_i (I_i - I_2) w_i²: near the middle axis m is 1 to many digits
    rest = (I[2] - I[0]) * float(I * (I - I[1]) @ w**2) / ((I[2] - I[1]) * (L2 - E2 * I[0]))
    return 4.0 * ellipkm1(rest) / math.sqrt(n2)


def test_the_elliptic_period_has_the_published_numbers():
    assert period(BOX, (1.0, 2.0, 3.0)) == pytest.approx(3.671847302652355, rel=1e-12)
    # in 40 digits the second is 15.882784218300057; the published 15.882784220127 lost four of its last to cancellation
    assert period(BOX, (1e-3, 5.0, 0.0)) == pytest.approx(15.882784218300057, rel=1e-12)
    assert period(BOX, (1e-3, 5.0, 0.0)) == pytest.approx(15.882784220127, rel=2e-10)


def test_the_state_repeats_after_the_elliptic_period():
    model, bodies = free_body(w=(1.0, 2.0, 3.0))
    T = period(BOX, (1.0, 2.0, 3.0))
    assert body_rates(run("dopri5", model, bodies, T, T / 200)) == pytest.approx((1.0, 2.0, 3.0), abs=1e-9)


def test_a_box_about_its_middle_axis_flips_after_half_the_elliptic_period():
    model, bodies = free_body(w=(1e-3, 5.0, 0.0))
    half = period(BOX, (1e-3, 5.0, 0.0)) / 2
    after = run("dopri5", model, bodies, half, half / 1000)
    # the local error 1e-12 of the start grows by the instability, exp(λ T/2) = 5/1e-3: some 1e-8 of the small component
    assert body_rates(after)[1] == pytest.approx(-5.0, abs=1e-9)
    assert abs(body_rates(after)[0]) == pytest.approx(1e-3, abs=1e-6)


def first_flip(name, model, bodies, h):
    """Time at which the spin about axis 1 changes sign, by the integrator's dense output."""
    bodies, dense, loads = Bodies(*(a.copy() for a in bodies)), Dense(model), empty_loads(1)
    inside = poisoned(bodies)
    for k in range(round(10 / h)):
        integrate(INTEGRATORS[name], model, loads, k * h, h, bodies, bodies, dense)
        if body_rates(bodies)[1] < 0.0:
            low, high = 0.0, 1.0
            for _ in range(50):
                middle = 0.5 * (low + high)
                dense_eval(dense, middle, inside)
                low, high = (middle, high) if body_rates(inside)[1] > 0.0 else (low, middle)
            return (k + low) * h
    raise AssertionError("no flip")


@pytest.mark.parametrize(("name", "h"), [
    ("euler", 1 / 4000), ("semi_implicit", 1 / 4000), ("heun", 1 / 240), ("rk4", 1 / 60), ("dopri5", 1 / 30)])
def test_a_t_handle_flips_with_the_elliptic_period_within_the_order_of_the_scheme(name, h):
    inertia, spin = (0.03, 0.05, 0.07), (0.1, 5.0, 0.0)
    model, bodies = free_body(inertia, w=spin)
    # started at the largest spin about the middle axis: it vanishes a quarter of the period later
    exact = period(inertia, spin) / 4
    coarse = abs(first_flip(name, model, bodies, h) - exact)
    if INTEGRATORS[name].adaptive:
        assert coarse < 1e-9
    else:
        order = min(INTEGRATORS[name].order, INTEGRATORS[name].dense_order + 1)
        assert coarse < 0.05 * exact
        assert abs(first_flip(name, model, bodies, h / 2) - exact) < coarse * 0.5 ** (order - 0.25)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_torque_free_angular_momentum_is_constant_for_ten_seconds(name):
    model, bodies = free_body(w=(1.0, 2.0, 3.0), v=(0.3, 0.0, 0.0))
    after = run(name, model, bodies, 10.0, 1 / 240)
    assert np.abs(after.L - bodies.L).max() <= 1e-12 * np.linalg.norm(bodies.L)
    assert np.abs(after.P - bodies.P).max() <= 1e-12
    assert np.linalg.norm(after.q[0]) == pytest.approx(1.0, abs=2 * EPS)
    assert body_rates(after) != pytest.approx((1.0, 2.0, 3.0), abs=0.1)  # it does tumble


def test_a_body_under_a_given_wrench_moves_as_integrated_by_scipy():
    model, bodies = free_body(w=(1.0, 2.0, 3.0), gravity=(0.0, 0.0, -9.81))
    loads = empty_loads(1)
    loads.force[0], loads.torque[0] = (0.3, -0.2, 0.5), (0.01, 0.02, -0.03)

    def rate(_, y):
        R = matrix(y[3:7] / np.linalg.norm(y[3:7]))
        w = R @ ((R.T @ y[10:]) / np.array(BOX))
        q_dot = 0.5 * np.array([-w @ y[4:7], *(y[3] * w + np.cross(w, y[4:7]))])
        return np.concatenate([y[7:10], q_dot, loads.force[0] + (0, 0, -9.81), loads.torque[0]])

    y0 = np.concatenate([bodies.x[0], bodies.q[0], bodies.P[0], bodies.L[0]])
    exact = solve_ivp(rate, (0, 3), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    dense = Dense(model)
    for k in range(300):
        integrate(INTEGRATORS["dopri5"], model, loads, k * 0.01, 0.01, bodies, bodies, dense)
    assert np.hstack([bodies.x, bodies.q, bodies.P, bodies.L])[0] == pytest.approx(exact, abs=1e-9)


# ------------------------------------------------------------------------------------------------ prescribed motion


def driven_body():
    model, bodies = free_body()
    return model._replace(kind=np.array([BodyKind.KINEMATIC], np.int32)), bodies


def test_a_kinematic_body_follows_its_motion_with_the_velocity_of_that_motion():
    model, start = driven_body()
    q = np.array([[0.8, 0.0, 0.6, 0.0]])
    path = np.array([[0.0, 0, 0], [1.0, 0, 0], [1.0, 2.0, 0]])
    motions = model.motions._replace(
        start_x=np.array([[1.0, 2.0, 3.0]]), start_q=q, velocity=np.array([[0.1, 0.2, 0.3]]),
        angular_velocity=np.array([[0.3, -1.0, 2.0]]), amplitude=np.array([[0.0, 0.0, 0.5]]),
        frequency=np.array([1.5]), phase=np.array([0.4]), path_start=np.array([0, 3], np.int32),
        path_time=np.array([0.0, 1.0, 2.0]), path_position=path, path_loop=np.array([1], np.int32),
    )
    model = model._replace(motions=motions)

    def at(t):
        bodies = poisoned(start)
        drive(model, t, bodies)
        return bodies

    for t, along in ((0.25, (0.25, 0, 0)), (1.5, (1.0, 1.0, 0)), (2.25, (0.25, 0, 0)), (7.5, (1.0, 1.0, 0))):
        shake = 0.5 * math.sin(2 * math.pi * 1.5 * t + 0.4)
        expected = np.array([1.0, 2.0, 3.0]) + t * np.array([0.1, 0.2, 0.3]) + along + np.array([0, 0, shake])
        assert at(t).x[0] == pytest.approx(expected, abs=1e-14)
        before, after = at(t - 1e-5), at(t + 1e-5)
        # central differences: error step²/6 · A (2π f)³ = 7e-9
        assert (after.x - before.x)[0] / 2e-5 == pytest.approx(at(t).v[0], abs=1e-8)
        assert rotation_between(before.q[0], after.q[0]) / 2e-5 == pytest.approx(np.linalg.norm(at(t).w[0]), rel=1e-6)
    assert (at(3.0).w[0] == (0.3, -1.0, 2.0)).all()


def test_a_path_that_is_not_repeated_ends_at_its_last_point():
    model, bodies = driven_body()
    motions = model.motions._replace(
        path_start=np.array([0, 2], np.int32), path_time=np.array([1.0, 3.0]),
        path_position=np.array([[1.0, 0, 0], [5.0, 0, 0]]), path_loop=np.array([0], np.int32))
    model = model._replace(motions=motions)
    seen = []
    for t in (0.0, 2.0, 10.0):
        drive(model, t, bodies)
        seen.append((bodies.x[0, 0], bodies.v[0, 0]))
    assert seen == [(1.0, 0.0), (3.0, 2.0), (5.0, 0.0)]
