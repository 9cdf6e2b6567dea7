"""What gains mean: against closed forms, and against an independent integration of the laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from contactlab.physics.laws.soft import LAWS
from contactlab.physics.scene.gains import Gains, contact_time, damping_for, impact, meaning, restitution_of

PARTS = 1e-4  # of e that a part in a hundred of 1/ω_0 leaves where the end of the impact is interpolated linearly


@given(ratio=st.floats(0.01, 4.0), mass=st.floats(0.1, 100.0), speed=st.floats(0.1, 10.0))
@settings(max_examples=30, deadline=None)
def test_following_an_impact_gives_the_closed_form_of_the_linear_law(ratio, mass, speed):
    k = 1e4
    gains = Gains("linear", k, 2.0 * ratio * np.sqrt(k * mass))
    e, time = impact(gains, mass, speed)
    assert e == pytest.approx(restitution_of(ratio), abs=PARTS)
    assert time == pytest.approx(contact_time(ratio, np.sqrt(k / mass)), rel=1e-3)
    m = meaning(gains, mass, 9.81, speed)
    assert (m.frequency, m.ratio, m.sag) == pytest.approx(
        (np.sqrt(k / mass) / (2.0 * np.pi), ratio, 9.81 * mass / k), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_a_restitution_of_none_is_as_dead_as_can_be(law):
    """D for e = 0: e <= 0.01, of a standard solid, which its series spring lets bounce, the least of all D."""
    gains = Gains(law, 1e4, 0.0, 3e4 if law == "standard_solid" else np.inf)
    d = damping_for(0.0, gains, 1.5, 2.0)
    e = meaning(Gains(law, 1e4, d, gains.series), 1.5, 9.81, 2.0).restitution
    if law == "standard_solid":
        others = [meaning(Gains(law, 1e4, s * d, gains.series), 1.5, 9.81, 2.0).restitution for s in (0.7, 1.4)]
        assert 0.01 < e < min(others)
    else:
        assert e <= 0.01 + PARTS


@pytest.mark.parametrize(("c", "e"), [(0.1, .937475579950), (0.3, .832869792266), (1.0, .593624260041)])
def test_e3_the_panel_tells_the_restitution_of_hunt_and_crossley(c, e):
    """ln((1 + c v_0)/(1 - c v_1)) = c (v_0 + v_1)"""
    assert impact(Gains("hunt_crossley", 1e4, 1e4 * c), 1.0, 1.0)[0] == pytest.approx(e, abs=PARTS)


def test_the_panel_tells_the_restitution_of_a_hertz_surface():
    """m δ̈ = -√δ (K δ + D δ̇) until the force vanishes, by another integrator."""
    k, d, v = 1e5, 1e3, 4.0
    over = lambda t, y: k * y[0] + d * y[1] if t > 1e-6 else 1.0  # noqa: E731
    over.terminal = True
    found = solve_ivp(lambda t, y: [y[1], -np.sqrt(max(y[0], 0.0)) * (k * y[0] + d * y[1])], (0, 1), [0.0, v],
                      events=over, rtol=1e-11, atol=1e-13, method="DOP853")
    e, time = impact(Gains("hertz", k, d), 1.0, v)
    assert e == pytest.approx(-found.y[1, -1] / v, abs=PARTS)
    assert time == pytest.approx(found.t[-1], rel=1e-3)
    sag = (9.81 / k) ** (2 / 3)
    m = meaning(Gains("hertz", k, d), 1.0, 9.81, v)
    assert m.sag == pytest.approx(sag, rel=1e-12)
    assert m.frequency == pytest.approx(np.sqrt(1.5 * k * np.sqrt(sag)) / (2 * np.pi), rel=1e-12)


def test_a_standard_solid_is_its_springs_in_series_without_a_damper_and_the_series_spring_with_a_rigid_one():
    """D = 0: K K_s/(K + K_s), static sag with it; D -> inf: K_s alone; in between it bounces less than with either."""
    k, k_s, m = 1e4, 3e4, 2.0
    loose, stiff = (meaning(Gains("standard_solid", k, d, k_s), m, 9.81, 1.0) for d in (1e-6, 1e8))
    assert loose.frequency == pytest.approx(np.sqrt(k * k_s / (k + k_s) / m) / (2 * np.pi), rel=1e-6)
    assert stiff.frequency == pytest.approx(np.sqrt(k_s / m) / (2 * np.pi), rel=1e-4)
    assert loose.sag == stiff.sag == pytest.approx(m * 9.81 * (1 / k + 1 / k_s))
    assert loose.restitution == pytest.approx(1.0, abs=PARTS) and stiff.restitution == pytest.approx(1.0, abs=1e-3)
    assert meaning(Gains("standard_solid", k, 200.0, k_s), m, 9.81, 1.0).restitution < 0.7


@pytest.mark.parametrize("law", LAWS)
def test_the_damping_chosen_gives_the_restitution_wanted(law):
    gains = Gains(law, 1e4, 20.0, 5e4)
    for wanted in (0.4, 0.8):
        d = damping_for(wanted, gains, 1.5, 2.0)
        assert meaning(Gains(law, 1e4, d, 5e4), 1.5, 9.81, 2.0).restitution == pytest.approx(wanted, abs=1e-4)
