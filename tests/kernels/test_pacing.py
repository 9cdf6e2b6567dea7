"""Pacing: simulated time follows the wall clock, debts are forgiven, the measured factor is the true one."""

import pytest

from contactlab.physics.run.pacing import Pacer


@pytest.mark.parametrize("speed", [0.01, 0.5, 1.0, 10.0])
def test_simulated_time_is_due_in_proportion_to_the_speed(speed):
    pacer = Pacer(100.0, 2.0, speed)
    assert pacer.due(100.0) == 2.0
    assert pacer.due(103.0) == pytest.approx(2.0 + 3.0 * speed)
    assert pacer.wait(100.0, 2.0 + speed) == pytest.approx(1.0)
    assert pacer.wait(105.0, 2.0 + speed) == 0.0


def test_the_factor_is_measured_and_not_promised():
    pacer = Pacer(0.0, 0.0, 1.0)
    for k in range(1, 200):
        pacer.note(0.01 * k, 0.004 * k)  # 4 ms simulated in 10 ms
    assert pacer.factor == pytest.approx(0.4)


def test_a_run_that_is_too_slow_does_not_run_after_its_debt():
    pacer = Pacer(0.0, 0.0, 1.0)
    t = 0.0
    for k in range(1, 1000):
        t += 0.002
        pacer.note(0.01 * k, t)
        assert pacer.due(0.01 * k) - t < 0.1 + 0.01
    # when the load is gone, it goes on at its speed and does not race
    assert pacer.due(11.0) - t == pytest.approx(11.0 - 9.99, abs=0.11)
