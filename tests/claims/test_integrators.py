"""The integrators: the order of every one, of its dense output, and what each is known for."""

import math
from dataclasses import replace

import numpy as np
import pytest
from bare_bodies import free_body, poisoned, rotation_between

from contactlab.physics.books.diagnostics import energy
from contactlab.physics.dynamics.forces import empty_loads
from contactlab.physics.integrators import INTEGRATORS, Dense, dense_eval, integrate

FIXED = {name: replace(i, adaptive=False) for name, i in INTEGRATORS.items()}
STEPS = {"euler": 1600, "semi_implicit": 1600, "heun": 200, "rk4": 80, "dopri5": 40}  # of the coarse run over 1 s


def oscillator(offset=(0.0, 0.0, 0.0)):
    """A body on a spring to the world, turning, with damping."""
    spring = (-1, 0, (0.0, 0.0, 2.0), offset, 1.0, 5.0, 0.5)
    model, bodies = free_body(w=(1.0, 2.0, 3.0), v=(0.5, 0.0, -0.2), spring_rows=[spring])
    return model, bodies, empty_loads(1)


def tumbling():
    model, bodies = free_body(w=(1.0, 2.0, 3.0))
    return model, bodies, empty_loads(1)


def pushed():
    model, bodies = free_body(w=(1.0, 2.0, 3.0), gravity=(0.0, 0.0, -9.81))
    loads = empty_loads(1)
    loads.force[0], loads.torque[0] = (0.3, -0.2, 0.5), (0.1, 0.2, -0.3)
    return model, bodies, loads


PROBLEMS = {"tumbling": tumbling, "oscillator": lambda: oscillator((0.1, 0.3, -0.2)), "pushed": pushed}


def flat(bodies):
    return np.hstack([bodies.x, bodies.q, bodies.P, bodies.L]).ravel()


def run(integrator, problem, until, steps):
    model, bodies, loads = problem()
    dense, h = Dense(model), until / steps
    for k in range(steps):
        integrate(integrator, model, loads, k * h, h, bodies, bodies, dense)
    return flat(bodies)


@pytest.fixture(scope="module")
def reference():
    """End states after 1 s to about 1e-12, by the adaptive integrator in many steps."""
    return {name: run(INTEGRATORS["dopri5"], problem, 1.0, 200) for name, problem in PROBLEMS.items()}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", INTEGRATORS)
def test_the_global_error_falls_with_the_order_of_the_method(name, problem, reference):
    n = STEPS[name]
    errors = [np.abs(run(FIXED[name], PROBLEMS[problem], 1.0, k) - reference[problem]).max() for k in (n, 2 * n)]
    # log2 of the ratio -> order as h -> 0; at these steps the next term of the expansion changes it by up to a tenth
    assert math.log2(errors[0] / errors[1]) == pytest.approx(INTEGRATORS[name].order, rel=0.12)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", INTEGRATORS)
def test_the_dense_output_is_of_its_order_within_a_step(name, problem):
    """From a common start, y(δ) - exact = O(h^(dense order + 1)) at a fixed δ."""
    model, bodies, loads = PROBLEMS[problem]()
    errors, h = [], 0.01 if INTEGRATORS[name].order < 4 else 0.03
    for step in (h, h / 2):
        dense, inside, end, exact = Dense(model), poisoned(bodies), poisoned(bodies), poisoned(bodies)
        integrate(FIXED[name], model, loads, 0.0, step, bodies, end, dense)
        worst = 0.0
        for delta in (0.2, 0.4, 0.6, 0.8):  # at one alone an error coefficient may happen to vanish
            dense_eval(dense, delta, inside)
            integrate(INTEGRATORS["dopri5"], model, loads, 0.0, delta * step, bodies, exact, Dense(model))
            worst = max(worst, np.abs(flat(inside) - flat(exact)).max())
        errors.append(worst)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(INTEGRATORS[name].dense_order + 1, abs=0.35)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_the_dense_output_joins_the_ends_of_the_step(name):
    model, bodies, loads = oscillator((0.1, 0.3, -0.2))
    end, inside, dense = poisoned(bodies), poisoned(bodies), Dense(model)
    integrate(INTEGRATORS[name], model, loads, 0.0, 0.05, bodies, end, dense)
    dense_eval(dense, 0.0, inside)
    assert flat(inside) == pytest.approx(flat(bodies), abs=1e-15)
    dense_eval(dense, 1.0, inside)
    assert flat(inside) == pytest.approx(flat(end), abs=1e-14)
    assert inside.w == pytest.approx(end.w, abs=1e-13)


def test_the_dense_output_of_heun_is_featherstones_parabola():
    """y(δ) = y_0 + h ((δ - ¾ δ²) k_1 + ¾ δ² k_2)   [RBDA eq. 11.51]; on x'' = -ω² x, by hand."""
    model, bodies = free_body(spring_rows=[(-1, 0, (-10.0, 0.0, 0.0), (0.0, 0.0, 0.0), 10.0, 4.0, 0.0)])
    bodies.x[0, 0], bodies.P[0, 0] = 0.5, 0.25
    h, delta = 0.1, 0.7
    x, p = 0.5, 0.25
    k1 = np.array([p, -4.0 * x])
    k2 = np.array([p + 2 / 3 * h * k1[1], -4.0 * (x + 2 / 3 * h * k1[0])])
    expected = np.array([x, p]) + h * ((delta - 0.75 * delta**2) * k1 + 0.75 * delta**2 * k2)
    dense, end, inside = Dense(model), poisoned(bodies), poisoned(bodies)
    integrate(INTEGRATORS["heun"], model, empty_loads(1), 0.0, h, bodies, end, dense)
    dense_eval(dense, delta, inside)
    # the spring's length 10 + x costs four digits' worth of rounding in its stretch
    assert (inside.x[0, 0], inside.P[0, 0]) == pytest.approx(tuple(expected), abs=1e-14)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_free_fall_is_exact_from_second_order_on(name):
    model, bodies = free_body(gravity=(0.0, 0.0, -9.81))
    dense, h = Dense(model), 1 / 64
    for k in range(64):
        integrate(INTEGRATORS[name], model, empty_loads(1), k * h, h, bodies, bodies, dense)
    # explicit Euler falls g t h/2 short, semi-implicit Euler as much too far
    bias = {"euler": 9.81 * h / 2, "semi_implicit": -9.81 * h / 2}.get(name, 0.0)
    assert bodies.x[0, 2] == pytest.approx(-9.81 / 2 + bias, abs=1e-13)
    assert bodies.P[0, 2] == pytest.approx(-9.81, abs=1e-13)


def test_a_spin_up_from_rest_turns_by_half_the_angular_acceleration_times_time_squared():
    model, bodies = free_body((0.1, 0.1, 0.1))
    loads = empty_loads(1)
    loads.torque[0] = (0.0, 0.0, 0.05)
    dense = Dense(model)
    for k in range(200):
        integrate(INTEGRATORS["dopri5"], model, loads, k * 0.01, 0.01, bodies, bodies, dense)
    angle = 0.5 * (0.05 / 0.1) * 2.0**2
    assert rotation_between(bodies.q[0], (math.cos(angle / 2), 0, 0, math.sin(angle / 2))) < 1e-11
    assert bodies.w[0] == pytest.approx((0.0, 0.0, 1.0), abs=1e-13)


def linear_spring(name, h, steps):
    """Energy over the first energy, of a mass on a linear spring with ω = 2 π, unforced and undamped."""
    model, bodies = free_body(
        spring_rows=[(-1, 0, (-10.0, 0.0, 0.0), (0.0, 0.0, 0.0), 10.0, 4 * math.pi**2, 0.0)])
    bodies.x[0, 0] = 1.0
    dense, first = Dense(model), energy(model, bodies).total
    course = []
    for k in range(steps):
        integrate(INTEGRATORS[name], model, empty_loads(1), k * h, h, bodies, bodies, dense)
        course.append(energy(model, bodies).total / first)
    return np.array(course)


def test_explicit_euler_feeds_an_oscillator_by_its_known_factor():
    h = 1 / 200
    growth = (1 + (2 * math.pi * h) ** 2) ** np.arange(1, 201)  # |1 + i ω h|² a step
    assert linear_spring("euler", h, 200) == pytest.approx(growth, rel=1e-10)


def test_semi_implicit_euler_keeps_the_energy_of_an_oscillator_in_bounds_for_ever():
    h = 1 / 200
    course = linear_spring("semi_implicit", h, 4000)  # 20 periods
    # it conserves E ± h ω² x p / 2 exactly, so E itself stays within ω h / 2 (and squares) of the start
    assert np.abs(course - 1).max() < 1.1 * math.pi * h
    assert abs(course[-200:].mean() - course[:200].mean()) < 1e-6


def test_the_adaptive_integrator_cuts_steps_where_the_motion_is_fast_and_says_so():
    counts = {}
    for spin in (1.0, 100.0):
        model, bodies = free_body(w=(spin, 2 * spin, 3 * spin))
        dense, end, inside = Dense(model), poisoned(bodies), poisoned(bodies)
        counts[spin] = integrate(INTEGRATORS["dopri5"], model, empty_loads(1), 0.0, 1 / 60, bodies, end, dense)
        assert counts[spin] == dense.count
        assert energy(model, end).kinetic == pytest.approx(energy(model, bodies).kinetic, rel=1e-10)
        dense_eval(dense, 0.5, inside)  # across the substeps
        half = poisoned(bodies)
        integrate(INTEGRATORS["dopri5"], model, empty_loads(1), 0.0, 0.5 / 60, bodies, half, Dense(model))
        assert rotation_between(inside.q[0], half.q[0]) < 1e-8
    assert counts[1.0] <= 3
    assert counts[100.0] > 20


def test_a_step_depends_on_the_state_alone():
    """No step size is carried over: stepping from a copy with a fresh Dense gives the same bits."""
    model, bodies = free_body(w=(30.0, 60.0, 90.0))
    dense, first, second = Dense(model), poisoned(bodies), poisoned(bodies)
    for k in range(3):
        integrate(INTEGRATORS["dopri5"], model, empty_loads(1), k / 60, 1 / 60, bodies, bodies, dense)
    integrate(INTEGRATORS["dopri5"], model, empty_loads(1), 3 / 60, 1 / 60, bodies, first, dense)
    integrate(INTEGRATORS["dopri5"], model, empty_loads(1), 3 / 60, 1 / 60, bodies, second, Dense(model))
    assert (flat(first) == flat(second)).all()


def test_a_motion_that_is_not_finite_is_refused():
    model, bodies = free_body()
    bodies.L[0] = (math.nan, 0.0, 0.0)
    with pytest.raises(FloatingPointError, match="not finite"):
        integrate(INTEGRATORS["dopri5"], model, empty_loads(1), 0.0, 1 / 60, bodies, poisoned(bodies), Dense(model))


@pytest.mark.parametrize("name", INTEGRATORS)
def test_fixed_bodies_stay_to_the_last_bit(name):
    model, bodies = free_body(w=(1.0, 2.0, 3.0), gravity=(0.0, 0.0, -9.81))
    model = model._replace(kind=np.array([1], np.int32))
    bodies.q[0] = (0.3, 0.4, 0.5, 0.1)
    bodies.x[0] = (1.0, 2.0, 3.0)
    end = poisoned(bodies)
    integrate(INTEGRATORS[name], model, empty_loads(1), 0.0, 0.1, bodies, end, Dense(model))
    assert (end.x == bodies.x).all() and (end.q == bodies.q).all()
    assert (end.v == 0.0).all() and (end.w == 0.0).all()
