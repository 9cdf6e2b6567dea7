"""The laws of contact: the projection onto the friction cone, and what a contact asks of the velocities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactlab.physics.core.jit import kernel
from contactlab.physics.laws.contact import project_cone, restitution_bias

numbers = st.floats(-10.0, 10.0)
vectors = st.tuples(numbers, numbers, numbers)
coefficients = st.floats(0.0, 5.0)


def project(x, mu):
    out = np.full((1, 3), np.nan)
    project_cone(np.array([x], float), np.array([mu], float), out)
    return out[0]


@settings(deadline=None)
@given(vectors, coefficients)
def test_the_projection_lies_in_the_cone(x, mu):
    y = project(x, mu)
    assert np.hypot(y[1], y[2]) <= mu * y[0] + 1e-14 * (1 + abs(y[0])) * (1 + mu)


@settings(deadline=None)
@given(vectors, coefficients)
def test_what_the_projection_removes_is_in_the_polar_cone_and_at_right_angles(x, mu):
    """Moreau's decomposition x = P_K(x) + P_K°(x), the two parts orthogonal; this says that P_K(x) is nearest."""
    y = project(x, mu)
    z = np.array(x) - y
    scale = 1 + np.dot(x, x) * (1 + mu)
    assert abs(y @ z) <= 1e-14 * scale
    assert mu * np.hypot(z[1], z[2]) <= -z[0] + 1e-14 * scale  # polar cone: z·y <= 0 for every y of the cone


@settings(deadline=None)
@given(vectors, coefficients)
def test_projecting_twice_changes_nothing(x, mu):
    y = project(x, mu)
    assert project(y, mu) == pytest.approx(y, abs=1e-13)


@settings(deadline=None)
@given(vectors)
def test_without_friction_the_cone_is_the_normal(x):
    assert project(x, 0.0) == pytest.approx([max(x[0], 0.0), 0.0, 0.0], abs=1e-15)


@kernel
def _bias(gap, zeta, e, rest_speed, touch, h, out):
    bias, part = restitution_bias(gap, zeta, e, rest_speed, touch, h)
    out[0] = bias
    out[1] = part


def bias_of(gap, zeta, e, rest_speed=0.1, touch=0.002, h=0.01):
    out = np.full(2, np.nan)
    _bias(gap, zeta, e, rest_speed, touch, h, out)
    return tuple(out.tolist())


def test_restitution_acts_on_surfaces_that_meet_within_the_step():
    assert bias_of(-0.001, -2.0, 0.5) == (-1.0, 2.0)
    assert bias_of(0.009, -2.0, 0.5) == (-1.0, 2.0)   # 0.009 - 2 * 0.005 < 0


def test_surfaces_that_will_meet_later_are_left_alone():
    assert bias_of(0.011, -2.0, 0.5)[1] == 0.0
    assert bias_of(0.003, 0.0, 0.5)[1] == 0.0


def test_slow_and_inelastic_approach_closes_the_gap_and_no_more():
    assert bias_of(0.001, -0.05, 0.5) == (0.1, 1.0)   # φ + h ζ⁺ >= 0
    assert bias_of(0.001, -2.0, 0.0) == (0.1, 1.0)
    assert bias_of(-0.001, 0.0, 1.0) == (0.0, 1.0)    # overlap feeds no velocity
