"""Looks into the contact equations while a scene runs: they come with the snapshots, and leave the run its time."""

from dataclasses import replace

import numpy as np
import pytest
from bare_bodies import Balls
from contact_scenes import table

from contactlab.physics.look.inspection import look
from contactlab.physics.run import looks as looks_module
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run.runner import Runner
from contactlab.physics.simulation.simulation import Simulation


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def runner(monkeypatch, clock):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)
    made = Runner(table().scene, paused=True, clock=clock)
    made.begin()
    return made


def do(runner, *commands):
    for command in commands:
        runner.send(command)
    runner.tick()
    return runner.latest


def test_a_snapshot_carries_a_look_while_one_is_asked_for(runner):
    assert do(runner, m.Step(30)).inspection is None
    first = do(runner, m.Inspect("equations")).inspection
    assert first.step == 30 and len(first.equations.problem.d) == 4
    second = do(runner, m.Step(2)).inspection
    assert second.step == 32
    third = do(runner, m.Seek(31), m.Inspect("equations", "lemke")).inspection
    assert third.step == 31 and third.asked.solver == "lemke"
    assert do(runner, m.Inspect()).inspection is None


def test_while_the_scene_runs_looks_leave_it_its_time(runner, clock, monkeypatch):
    """A look that takes 50 ms may come every half second: a tenth of the time."""
    looks = []

    def slow(sim, asked, running):
        looks.append(clock.now)
        clock.now += 0.05
        return look(sim, asked, running)

    monkeypatch.setattr(looks_module, "look", slow)
    do(runner, m.Inspect("equations"), m.Play())
    for _ in range(300):
        clock.now += 0.01
        runner.tick()
    assert len(looks) >= 5 and np.diff(looks[1:]).min() >= 0.5


def test_on_the_way_to_an_event_looks_are_as_rare_as_in_a_run(runner, clock, monkeypatch):
    """The steps of a long way are not held up; at its end the look is whole."""
    looks = []

    def slow(sim, asked, running):
        looks.append((sim.step_count, running))
        clock.now += 0.05
        return look(sim, asked, running)

    step = Simulation.step

    def slow_step(sim):
        clock.now += 0.01
        return step(sim)

    monkeypatch.setattr(looks_module, "look", slow)
    monkeypatch.setattr(Simulation, "step", slow_step)
    s = do(runner, m.Inspect("equations"), m.Step(200))
    assert s.step == s.inspection.step == 200 and looks[-1] == (200, False)
    assert all(running for _, running in looks[:-1]) and 3 <= len(looks) <= 7  # 2 s of steps, a tenth for looks


def test_a_look_that_fails_says_why_and_the_run_goes_on(runner, monkeypatch):
    def broken(sim, asked, running):
        raise RuntimeError("no room")

    monkeypatch.setattr(looks_module, "look", broken)
    s = do(runner, m.Inspect("equations"), m.Step(3))
    assert s.step == 3 and s.error is None and "no room" in s.inspection.note


@pytest.mark.parametrize("view", ["equations", "pivots", "body", "impact", "step"])
def test_no_answer_about_one_scene_comes_with_a_snapshot_of_another(runner, clock, view):
    """While a scene runs an answer may be of an earlier instant; the next one is due here only in an hour. Another
    scene is opened meanwhile: contacts and bodies of the old answer do not exist in it."""
    old = do(runner, m.Inspect(view, body=1), m.Step(30), m.Play()).inspection
    runner._looks._next = clock.now + 3600.0
    s = do(runner, m.Open(Balls(1)))
    assert s.inspection is not old and s.inspection.labels is s.labels


def test_no_answer_about_one_side_comes_with_a_snapshot_of_another(runner, clock):
    sides = tuple(m.Side(replace(runner.latest.settings, method=name)) for name in ("time_stepping", "compliant"))
    do(runner, m.Compare(sides), m.Inspect("equations"), m.Step(30), m.Play())
    runner._looks._next = clock.now + 3600.0
    s = do(runner, m.Focus(1))
    assert s.side == 1 and s.inspection.labels is s.labels
    assert s.sides[0].inspection is None


def test_a_snapshot_holds_no_answer_about_another_simulation(runner):
    s = do(runner, m.Inspect("equations"), m.Step(30))
    assert s.inspection is not None
    assert replace(s, labels=s.labels._replace(title="another")).inspection is None
