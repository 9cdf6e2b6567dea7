"""Undo of a run: back to the state before a setting, a pull, a placed body or a reset, to the last bit."""

import numpy as np
import pytest

from contactlab.physics import Scene
from contactlab.physics.core.report import Side
from contactlab.physics.core.rotations import rotated_one
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run.runner import Runner
from contactlab.physics.simulation.history import hash_of_state

TEXT = """
[solver]
h = 0.004166666666666667
[material.default]
restitution = 0.5
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "ball"
position = [0, 0, 1]
[[body.shape]]
type = "sphere"
radius = 0.1
[[body]]
name = "box"
position = [1, 0, 0.1]
[[body.shape]]
type = "box"
size = [0.2, 0.3, 0.2]
"""
BALL, BOX = 1, 2


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)


@pytest.fixture
def runner():
    made = Runner(Scene.from_text(TEXT, None), paused=True)
    made.begin()
    return made


def do(runner, *commands):
    """Carry out commands that the user takes his time for."""
    for command in commands:
        runner._sides.changes.let_go()
        runner.send(command)
        runner.tick()
    return runner.latest


def bits(runner):
    """Of the whole state on all sides, with the settings."""
    return [(hash_of_state(member.simulation.state), member.simulation.settings) for member in runner._sides.members]


CHANGES = [
    ((m.Set("restitution", 0.9),), "restitution e to 0.9"),
    ((m.Set("gravity", (0.0, 0.0, -1.62)),), "gravity to 1.62 m/s²"),
    ((m.Set("h", 1 / 120),), "step h to 1/120 s"),
    ((m.Set("method", "event_driven"),), "method to event driven"),
    ((m.Grab(BALL, (0, 0, 1), (1, 0, 2)), m.MoveGrab((2, 0, 1))), "pull ball"),
    ((m.Place(BOX, (0, 1, 0.4), (0.5, 0.5, 0.5, 0.5)),), "place box"),
    ((m.Reset(),), "reset"),
]


@pytest.mark.parametrize(("commands", "name"), CHANGES, ids=[name for _, name in CHANGES])
def test_a_change_is_taken_back_to_the_last_bit_and_made_again(runner, commands, name):
    do(runner, m.Step(20))
    before, then = bits(runner), runner.latest
    do(runner, *commands)
    assert runner.latest.changes == (name, "")
    do(runner, m.Step(25))
    later = bits(runner)
    back = do(runner, m.Undo())
    assert bits(runner) == before and back.paused and back.changes == ("", name)
    assert back.step == then.step and back.history[0] == 0 and back.grabbed is None  # all before it can be reached
    again = do(runner, m.Undo(-1))
    assert bits(runner) == later and again.changes == (name, "")
    assert do(runner, m.Undo()).step == then.step and bits(runner) == before


def test_what_follows_is_as_if_the_change_had_not_been(runner):
    plain = Runner(Scene.from_text(TEXT, None), paused=True)
    plain.begin()
    do(runner, m.Step(10), m.Place(BALL, (0, 0, 3), (1, 0, 0, 0)), m.Step(30), m.Set("friction", 0.0), m.Step(5),
       m.Undo(), m.Undo(), m.Step(90))
    do(plain, m.Step(100))
    assert bits(runner) == bits(plain) and runner.latest.history == plain.latest.history == (0, 100)
    assert [event.t for event in runner.latest.events] == [event.t for event in plain.latest.events]


def test_undo_goes_back_across_branches(runner):
    """The history has another branch at the step of the change: the state of the change counts, and recording begins
    there."""
    do(runner, m.Step(20))
    before = bits(runner)
    do(runner, m.Set("restitution", 0.9), m.Step(20), m.Seek(10), m.Set("gravity", (0.0, 0.0, -1.0)), m.Step(30),
       m.Undo(), m.Undo())
    assert bits(runner) == before and runner.latest.history == (20, 20)
    do(runner, m.Step(5), m.Step(-3))
    assert runner.latest.step == 22 and runner.latest.error is None


def test_a_dragged_slider_is_one_change(runner, monkeypatch):
    now = [1.0]
    monkeypatch.setattr(runner, "_clock", lambda: now[0])
    before = bits(runner)
    for value in (0.1, 0.2, 0.3):
        runner.send(m.Set("restitution", value))
        runner.tick()
        now[0] += 0.1
    assert runner.latest.changes[0] == "restitution e to 0.3"
    now[0] += 2.0
    runner.send(m.Set("restitution", 0.8))
    runner.tick()
    assert do(runner, m.Undo()).settings.restitution == 0.3
    assert do(runner, m.Undo()).changes[0] == "" and bits(runner) == before


def test_a_body_dragged_while_paused_is_one_change(runner):
    before = bits(runner)
    for x in (0.1, 0.2, 0.3):
        runner.send(m.Place(BALL, (x, 0, 1), (1, 0, 0, 0)))
        runner.tick()
    runner.send(m.Release())
    runner.tick()
    runner.send(m.Place(BALL, (0, 1, 1), (1, 0, 0, 0)))
    runner.tick()
    assert do(runner, m.Undo()).x[BALL] == pytest.approx([0.3, 0, 1])
    do(runner, m.Undo())
    assert bits(runner) == before


def test_a_placed_body_keeps_its_velocities_and_its_momenta_follow(runner):
    do(runner, m.Grab(BOX, (1.1, 0.1, 0.2), (2, 1, 2)), m.Step(30), m.Release())
    sim = runner._sides.simulation
    v, w = sim.state.bodies.v[BOX].copy(), sim.state.bodies.w[BOX].copy()
    assert np.linalg.norm(w) > 0.1
    q = np.array([0.8, 0.0, 0.6, 0.0])
    others = len(sim.contacts.key[(sim.contacts.body_a != BOX) & (sim.contacts.body_b != BOX)])
    seen = do(runner, m.Place(BOX, (3.0, 1.0, 2.0), tuple(q)))
    assert seen.x[BOX] == pytest.approx([3.0, 1.0, 2.0], abs=1e-15) and seen.q[BOX] == pytest.approx(q, abs=1e-15)
    assert len(seen.contacts.key) == others and BOX not in seen.contacts.body_b
    assert np.array_equal(seen.v[BOX], v) and seen.w[BOX] == pytest.approx(w, abs=1e-14)
    principal = rotated_one(q * (1, -1, -1, -1), w) * sim.model.inertia[BOX]
    assert seen.L[BOX] == pytest.approx(rotated_one(q, principal), abs=1e-14)
    assert sim.state.bodies.P[BOX] == pytest.approx(sim.model.mass[BOX] * v, abs=1e-14)


def test_a_fixed_body_stays_and_nothing_is_to_undo(runner):
    refused = do(runner, m.Place(0, (0, 0, 1), (1, 0, 0, 0)))
    assert "fixed" in refused.notice and refused.changes == ("", "")
    assert "nothing to undo" in do(runner, m.Undo()).notice


def test_all_sides_of_a_comparison_go_back(runner):
    now = runner.latest.settings
    do(runner, m.Compare((Side(now), Side(now))), m.Step(10))
    before = bits(runner)
    do(runner, m.Set("restitution", 1.0), m.Focus(1), m.Set("h", now.h / 2), m.Step(40),
       m.Place(BALL, (0, 0, 2), (1, 0, 0, 0)), m.Step(3), m.Undo(), m.Undo(), m.Undo())
    assert bits(runner) == before and len(before) == 2
    assert runner.latest.step == 10 and runner.latest.history == (0, 50)  # what was undone can be reached still


def test_memory_of_changes_is_bounded(runner, monkeypatch):
    now = runner._sides._stood()
    monkeypatch.setattr("contactlab.physics.run.undo.SHARE", 5.5 * now.size / now.sides[0].standing.history.budget)
    for k in range(20):
        do(runner, m.Set("restitution", 0.01 * k))
    assert len(runner._sides.changes._done) == 5
