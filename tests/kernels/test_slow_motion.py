"""Slow motion around events: where the clock goes how fast, in the app and in videos."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contactlab.physics import Scene
from contactlab.physics.run import messages as m
from contactlab.physics.run.pacing import Pacer
from contactlab.physics.run.runner import Runner
from contactlab.physics.run.slow_motion import REACH, frame_times, slowed

SHARES = st.floats(0.01, 1.0)
TIMES = st.lists(st.floats(0.0, 10.0), max_size=6)
FALL = math.sqrt(2.0 / 9.81)  # [s] of 1 m
BALL = {
    "scene": {"title": "A ball"}, "solver": {"method": "event_driven"},
    "material": {"default": {"restitution": 0.5, "friction": 0.0}},
    "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
             {"name": "ball", "position": [0.0, 0.0, 1.1], "shape": [{"type": "sphere", "radius": 0.1}]}],
}


@given(st.floats(0.0, 10.0), TIMES, st.floats(0.01, 10.0), SHARES)
def test_the_clock_is_slowest_at_events_and_as_it_was_far_from_them(t, events, speed, share):
    found = slowed(t, events, speed, share)
    assert share * (1 - 1e-15) <= found <= 1.0
    if all(abs(t - event) > REACH * speed for event in events) or share == 1.0:
        assert found == 1.0
    if t in events:
        assert found == share


@given(TIMES, st.floats(0.5, 5.0), st.floats(0.2, 1.0))
@example([1.9375], 0.5, 0.2)  # the clock grows faster at the end
def test_the_frames_of_a_video_come_to_its_span(events, speed, share):
    """The sum of what the frames advance is the span, to half a frame at its end."""
    times, speeds = zip(*frame_times((0.0, 2.0), 60, events, speed, share), strict=True)
    assert times[0] == 0.0 and np.allclose(np.diff(times), np.array(speeds[:-1]) / 60, rtol=0.0, atol=1e-12)
    assert abs(sum(speeds) / 60 - 2.0) <= 0.5 * speed / 60 * (1 + 1e-9) or len(speeds) == 1
    assert len(speeds) >= round(2.0 * 60 / speed * (1 - 1e-12)) - 1
    if share == 1.0 or not events:
        assert len(speeds) == max(1, round(2.0 * 60 / speed)) and set(speeds) == {speed}


@pytest.mark.parametrize("speed", [1.0, 0.2])
def test_the_pacer_takes_as_long_as_the_integral_of_slowness(speed):
    """∫ dt / (speed · slowed(t)), by steps of 1e-4 s: to one step at the slowest, and the clock's own 1e-5 s a step."""
    pacer, events, h, share = Pacer(0.0, 0.0, speed), (0.5,), 1e-4, 0.1
    pacer.at_events = share
    now = t = 0.0
    while t < 1.0:
        now += pacer.wait(now, t + h)  # until the next step is due
        t += h
        pacer.slow_down(t, events)
    at = (np.arange(10_000) + 0.5) * h
    whole = sum(h / (speed * slowed(x, events, speed, share)) for x in at)
    assert now == pytest.approx(whole, abs=h / (speed * share) + 1e-9)


def test_what_runs_goes_slower_behind_an_impact_and_as_before_without_it():
    """A ball that falls 1 m; the steps made in each hundredth of a second of a clock of the test's own."""
    now = 0.0
    runner = Runner(Scene.from_dict(BALL), clock=lambda: now)
    runner.begin()
    runner.send(m.SetSpeed(1.0, 0.1))
    runner.send(m.Play())
    made = []
    while runner.latest.t < 0.75:
        before = runner.latest.step
        now += 0.01
        runner.tick()
        runner._publish()
        made.append((runner.latest.t, runner.latest.step - before))
    assert runner.latest.at_events == 0.1 and runner.latest.speed == 1.0
    early = [count for t, count in made if t < FALL]
    close = [count for t, count in made if FALL + 0.01 < t < FALL + 0.5 * REACH]
    assert np.mean(early) == pytest.approx(2.4, abs=0.1)       # 0.01 s at 240 steps a second
    assert np.mean(close) == pytest.approx(0.24, abs=0.05)     # a tenth of it
    late = [count for t, count in made if t > FALL + 1.2 * REACH]
    assert np.mean(late) == pytest.approx(2.4, abs=0.3)


def test_a_share_out_of_range_is_put_into_it_and_none_leaves_it():
    runner = Runner(Scene.from_dict(BALL), paused=True)
    runner.begin()
    for share, kept in ((0.2, 0.2), (None, 0.2), (7.0, 1.0), (0.0, 0.001)):
        runner.send(m.SetSpeed(0.5, share))
        runner.tick()
        assert runner.latest.at_events == kept
