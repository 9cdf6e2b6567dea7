"""A trial measures a run from where it stands to a time; anything that changes the run ends it."""

import math

import pytest

from contactlab.physics import Scene, Simulation
from contactlab.physics.run import messages as m
from contactlab.physics.run.runner import Runner
from contactlab.physics.run.trial import Trial, Window

H = 1.0 / 240.0
BALL = {
    "scene": {"title": "A ball"}, "solver": {"method": "event_driven"},
    "material": {"default": {"restitution": 0.5, "friction": 0.0}},
    "body": [{"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
             {"name": "ball", "position": [0.0, 0.0, 1.1], "shape": [{"type": "sphere", "radius": 0.1}]}],
}
WINDOWS = (Window("height:ball:max", 0.5), Window("height:ball:end", 0.0, 0.2), Window("time of impact:ball"),
           Window("number of impact:ball", 0.0, 1.0), Window("last time of impact", 0.0, 1.0),
           Window("energy:max", 3.0, 4.0))


def scene():
    return Scene.from_dict(BALL)


def after(sim, until):
    trial = Trial(WINDOWS, until, sim)
    while not trial.done:
        sim.step()
        trial.note(sim)
    return trial.state


def test_windows_measure_their_part_of_the_run():
    """A fall of 1 m, t₀ = √(2/g); then an arc to e² m, and the second impact at t₀ + 2 e t₀ = 2 t₀ where e = 1/2."""
    state = after(Simulation(scene()), 1.2)
    top, early, first, count, last, never = state.values
    fall = math.sqrt(2.0 / 9.81)
    assert state.done and top == pytest.approx(0.1 + 0.25, abs=0.5 * 9.81 * H**2)  # the step nearest to the top
    assert early == pytest.approx(1.1 - 0.5 * 9.81 * 0.2**2, abs=1e-9)
    assert first == pytest.approx(fall, abs=1e-9) and count == 2 and last == pytest.approx(2.0 * fall, abs=1e-8)
    assert math.isnan(never)


def test_events_of_the_step_before_the_trial_are_not_of_it():
    sim = Simulation(scene())
    while not sim.last_events:
        sim.step()
    assert after(sim, sim.time + 0.1).values[3] == 0.0


def ticked(runner, until):
    """The runner's latest snapshot once something is so; its clock runs as fast as it is asked."""
    for _ in range(10_000):
        runner.tick()
        if until(runner.latest):
            return runner.latest
    raise AssertionError("not so")


@pytest.fixture
def runner():
    clock = iter(k * 0.004 for k in range(10**9))
    return Runner(scene(), paused=True, clock=lambda: next(clock))


def test_the_engine_measures_as_a_script_does_and_pauses_at_the_end(runner):
    runner.send(m.Try(1.2, WINDOWS))
    done = ticked(runner, lambda s: s.trial is not None and s.trial.done)
    assert done.paused and done.t == pytest.approx(1.2, abs=0.5 * H)
    assert repr(done.trial) == repr(after(Simulation(scene()), 1.2))  # to the last bit; nan is nan


def test_pausing_and_looking_leave_a_trial_alone(runner):
    runner.send(m.Try(1.2, WINDOWS))
    ticked(runner, lambda s: s.t > 0.3)
    for command in (m.Pause(), m.Watch((m.Curve("height", 1),)), m.SetSpeed(0.5), m.Step(3), m.Play()):
        runner.send(command)
    done = ticked(runner, lambda s: s.trial is not None and s.trial.done)
    assert repr(done.trial) == repr(after(Simulation(scene()), 1.2))


@pytest.mark.parametrize("command", [m.Reset(), m.Set("restitution", 0.9), m.Seek(10), m.Step(-2),
                                     m.Grab(1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))], ids=lambda c: type(c).__name__)
def test_what_changes_the_course_of_the_run_ends_its_trial(command, runner):
    runner.send(m.Try(1.2, WINDOWS))
    ticked(runner, lambda s: s.t > 0.3)
    runner.send(command)
    runner.tick()
    assert runner.latest.trial is None


def test_a_measure_that_is_none_is_refused_and_nothing_runs(runner):
    runner.send(m.Try(1.0, (Window("beauty:ball"),)))
    runner.tick()
    assert "a measure must be one of" in runner.latest.notice and runner.latest.paused and runner.latest.trial is None
