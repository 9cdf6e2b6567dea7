"""The journal of a running app: what is left of a run that was cut off, and nothing of one that ended."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from test_recording import ROWS, balls, bits, opened
from test_runner import Clock, do, until

from contactlab.physics.core.limits import JOURNAL_FILE
from contactlab.physics.run import journal as journal_module
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run.comparison import Comparison
from contactlab.physics.run.journal import Journal, leftovers
from contactlab.physics.run.run_file import read_run, write_run
from contactlab.physics.run.runner import PAGE_INTERVAL, Runner
from contactlab.physics.simulation.history import hash_of_state

#: A program that runs a scene with a journal, stirs it by chance and says after each step of the clock where it is
PROGRAM = """
import random, sys, time
from pathlib import Path
from contactlab.physics import Scene
from contactlab.physics.run import messages as m, runner
from contactlab.physics.run.journal import Journal
runner.kernels_cached = lambda: True
sys.path.insert(0, sys.argv[3])
from test_recording import balls
run, chance = runner.Runner(balls(), journal=Journal(Path(sys.argv[1]))), random.Random(int(sys.argv[2]))
run.start()
while run.latest is None:
    time.sleep(0.01)
while True:
    seen = run.latest
    if seen.step:
        print(seen.step, seen.t, flush=True)
    if chance.random() < 0.05:
        run.send(m.Set("friction", chance.random()))
    if chance.random() < 0.02:
        run.send(m.Grab(2, (0.0, 0.0, 0.7), (0.0, 0.5, 2.0)))
    if chance.random() < 0.02:
        run.send(m.Release())
    if chance.random() < 0.01:
        run.send(m.Seek(max(seen.history[0], seen.step - 50)))
        run.send(m.Play())
    time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)


def running(runs, clock, **keywords):
    """A runner with a journal that the test turns by hand."""
    runner = Runner(balls(), clock=clock, journal=Journal(runs), **keywords)
    runner.begin()
    return runner


def go(runner, clock, steps):
    do(runner, m.Step(steps))
    clock.now += 2 * PAGE_INTERVAL
    runner.tick()
    return hash_of_state(runner._sides.simulation.state)


def end_of(runs):
    """The run below a folder at its end, with the number of its steps."""
    run = opened(next(iter(runs.iterdir())))
    run.seek(run.reachable()[1])
    return run


def written(runs, step):
    """Wait for the thread that writes."""
    def there():
        try:
            return end_of(runs).step_count == step
        except (ValueError, StopIteration):
            return False

    until(there)


def test_the_journal_holds_the_run_with_its_branches(tmp_path):
    clock = Clock()
    runner = running(tmp_path, clock)
    go(runner, clock, 150)
    written(tmp_path, 150)
    do(runner, m.Seek(100), m.Set("restitution", 0.1))
    last = go(runner, clock, 20)
    written(tmp_path, 120)
    run = end_of(tmp_path)
    assert bits(run) == (last,)
    run.seek(0)
    while run.replays:
        run.step()
    assert bits(run) == (last,) and run.differs is None
    runner._journal.close()


def test_another_scene_and_another_comparison_begin_anew(tmp_path):
    clock = Clock()
    runner = running(tmp_path, clock)
    go(runner, clock, 30)
    do(runner, m.Compare((m.Side(m.Settings()), m.Side(m.Settings(solver="newton")))))
    go(runner, clock, 40)
    written(tmp_path, 40)
    assert len(end_of(tmp_path).members) == 2
    do(runner, m.Compare(), m.Open(balls(restitution=0.3), paused=True))
    go(runner, clock, 50)
    written(tmp_path, 50)
    assert len(end_of(tmp_path).members) == 1
    runner._journal.close()


def test_a_run_that_ends_leaves_nothing_and_one_that_runs_is_not_offered(tmp_path):
    clock = Clock()
    runner = running(tmp_path, clock)
    go(runner, clock, 30)
    written(tmp_path, 30)
    assert leftovers(tmp_path) == []  # its program runs
    runner._journal.close()
    assert list(tmp_path.iterdir()) == []


def test_old_files_make_room_and_what_is_left_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "JOURNAL_FILE", JOURNAL_FILE._replace(most=20_000))
    clock = Clock()
    runner = running(tmp_path, clock)
    for _ in range(30):
        last = go(runner, clock, 64)
    written(tmp_path, 30 * 64)
    folder = next(tmp_path.iterdir())
    files = [p for p in folder.iterdir() if p.suffix == ".contactlab"]
    page = 64 * 2000  # more than a page of this scene takes
    assert len(files) == 2 and sum(p.stat().st_size for p in files) < 2 * (20_000 + page)
    run = opened(folder)
    assert run.reachable()[0] > 0 and run.step_count == run.reachable()[0]
    while run.replays:
        run.step()
    assert bits(run) == (last,) and run.differs is None
    runner._journal.close()


def test_where_nothing_can_be_written_the_run_goes_on_and_says_so(tmp_path):
    (tmp_path / "runs").write_text("in the way")
    clock = Clock()
    runner = running(tmp_path / "runs", clock)
    until(lambda: runner._journal.failure != "")
    go(runner, clock, 30)
    assert "no longer recorded" in runner.latest.notice and runner.latest.step == 30
    assert runner.latest.error is None


def test_saving_tells_when_the_file_is_there(tmp_path):
    runner = Runner(balls(), clock=Clock())
    runner.begin()
    do(runner, m.Step(100), m.SaveRun(tmp_path / "a.contactlab"))
    until(lambda: runner.tick() is not None and runner.latest.notice is not None)
    assert runner.latest.notice == f"saved {tmp_path / 'a.contactlab'}"
    assert opened(tmp_path / "a.contactlab").reachable() == (0, 100)
    do(runner, m.SaveRun(tmp_path / "nowhere" / "a.contactlab"))
    until(lambda: runner.tick() is not None and runner.latest.notice is not None)
    assert "could not be written" in runner.latest.notice


def test_closing_waits_for_the_file_of_the_run_that_is_being_written(tmp_path, monkeypatch):
    def slow(*arguments):
        time.sleep(0.5)
        write_run(*arguments)

    monkeypatch.setattr(runner_module, "write_run", slow)
    runner = Runner(balls(), paused=True)
    runner.start()
    runner.send(m.Step(10))
    until(lambda: runner.latest is not None and runner.latest.step == 10)
    runner.send(m.SaveRun(tmp_path / "a.contactlab"))
    runner.stop()
    assert opened(tmp_path / "a.contactlab").reachable() == (0, 10)


def test_the_thread_replays_a_recorded_run_and_branches(tmp_path):
    runner = Runner(balls(), clock=Clock())
    runner.begin()
    do(runner, m.Step(100), m.SaveRun(tmp_path / "a.contactlab"))
    until(lambda: runner.tick() is not None and runner.latest.notice is not None)
    last = hash_of_state(runner._sides.simulation.state)
    recording = read_run(tmp_path / "a.contactlab")
    snapshot = do(runner, m.Open(recording.scene, True, recording))
    assert snapshot.replaying and snapshot.step == 0 and snapshot.history == (0, 100)
    snapshot = do(runner, m.Step(100))
    assert snapshot.replaying and snapshot.differs is None and hash_of_state(runner._sides.simulation.state) == last
    snapshot = do(runner, m.Seek(50), m.Set("friction", 0.0), m.Step(1))
    assert not snapshot.replaying and snapshot.history == (0, 51)


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_program_loses_less_than_a_second(seed, tmp_path):
    """By SIGKILL at a moment of chance: the run is offered, and is what it was up to less than a second before."""
    kill_one(seed, tmp_path)


def kill_one(seed, runs):
    """Start the program, kill it, and compare what is left with what it said. Returns the time lost [s]."""
    here = os.path.dirname(__file__)
    command = [sys.executable, "-c", PROGRAM, str(runs), str(seed), here]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(here)])}
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert program.stdout is not None
    while int(program.stdout.readline().split()[0]) < 20:
        pass  # kernels are loaded
    time.sleep(np.random.default_rng(seed).uniform(1.0, 3.0))
    program.send_signal(signal.SIGKILL)
    said = [line.split() for line in program.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    program.wait()
    step, t = int(said[-1][0]), float(said[-1][1])
    left, = leftovers(runs)
    assert left.title == "Balls"
    recording = read_run(left.folder)
    run = Comparison(recording.scene, {}, ROWS, recording)
    while run.replays:
        run.step()
    assert run.differs is None and run.step_count > 0 and abs(t - run.time) < 1.0, (step, run.step_count)
    left.discard()
    assert list(runs.iterdir()) == []
    return t - run.time
