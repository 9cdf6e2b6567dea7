"""Whatever takes long can be given up: the run pauses at the instant before the step, and the thread ends."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import trimesh
from bare_bodies import Balls

from contactlab.physics import Scene, Simulation
from contactlab.physics.core.interruption import LEFT_BEHIND, Interrupted, LeftBehind, apart, interruptible, look_up
from contactlab.physics.core.report import StepInfo
from contactlab.physics.core.state import copy_state
from contactlab.physics.methods import METHODS
from contactlab.physics.methods.compliant import explicit
from contactlab.physics.methods.event_driven import instant, search
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run.runner import Runner
from contactlab.physics.simulation.failure import CannotStep
from contactlab.physics.simulation.history import arrays
from contactlab.physics.solvers import SOLVERS, least_forces, pgs


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)


def bits(state):
    return b"".join(a.tobytes() for a in arrays(state))


def boxes(columns, layers):
    """Boxes of 0.2 m in columns on a floor."""
    box = {"type": "box", "size": [0.2] * 3}
    bodies = [{"name": f"{i} {j}", "position": [0.3 * i, 0.01 * j, 0.1 + 0.2 * j], "density": 500, "shape": [box]}
              for i in range(columns) for j in range(layers)]
    floor = {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]}
    return Scene.from_dict({"scene": {"title": "boxes"}, "body": [floor, *bodies]})


def balls_of_triangles(folder, divisions, spin):
    """Two balls of 0.1 m, icosahedra whose faces are divided, that meet at 2 m/s and spin [rad/s]."""
    trimesh.creation.icosphere(subdivisions=divisions, radius=0.1).export(folder / "ball.stl")
    bodies = [{"name": f"ball {side}", "position": [0.15 * side, 0.0, 0.0], "velocity": [-side, 0.0, 0.01],
               "angular_velocity": [0.0, spin, 0.3 * spin], "density": 500.0,
               "shape": [{"type": "mesh", "file": "ball.stl"}]} for side in (-1, 1)]
    scene = {"scene": {"title": "balls of triangles", "gravity": [0.0, 0.0, 0.0]}, "body": bodies}
    return Scene.from_dict(scene, folder=folder)


def until(condition, seconds=60.0):
    """Wait for another thread."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


# ------------------------------------------------------------------------------------------------ looking up


def test_work_ends_where_it_looks_up_and_only_inside():
    look_up()
    wanted = []
    with interruptible(lambda: bool(wanted)):
        look_up()
        with interruptible(lambda: False):
            wanted.append(1)
            look_up()
        with pytest.raises(Interrupted):
            look_up()
    look_up()


def test_however_substeps_are_cut_into_calls_the_bits_are_the_same(monkeypatch):
    """A call of the kernel ends with the surfaces brought up to date; the next one does so again at the same time."""
    ends = []
    for at_once in (1, 10**9):
        monkeypatch.setattr(explicit, "AT_ONCE", at_once)
        sim = Simulation(boxes(2, 2), method="compliant", h=1 / 60)
        for _ in range(8):
            sim.step()
        assert sim.info.substeps > 4
        ends.append(bits(sim.state))
    assert ends[0] == ends[1]


def test_however_sweeps_are_cut_into_calls_the_bits_are_the_same(monkeypatch):
    ends = []
    for at_once in (1, 10**9):
        monkeypatch.setattr(pgs, "AT_ONCE", at_once)
        sim = Simulation(boxes(1, 4), method="time_stepping", solver="pgs", iterations=37)
        for _ in range(8):
            sim.step()
        ends.append((bits(sim.state), sim.info.iterations))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("rank", [3, 40])
def test_however_the_search_for_a_basis_is_cut_into_calls_its_rows_are_the_same(rank, monkeypatch):
    factor = np.random.default_rng(rank).normal(size=(40, rank))
    M, found, looks = factor @ factor.T, [], []
    for at_once in (1, 10**9):
        monkeypatch.setattr(least_forces, "AT_ONCE", at_once)
        with interruptible(lambda: bool(looks.append(1))):
            found.append(least_forces.basis(M, [0, 3, 6], [39, 5], list(range(7, 39))))
    assert found[0] == found[1] and len(found[0]) == min(rank, 37) and len(looks) == len(found[0])


def test_however_the_rows_of_M_are_cut_into_calls_the_bits_are_the_same(monkeypatch):
    ends = []
    for at_once in (1, 10**9):
        monkeypatch.setattr(instant, "AT_ONCE", at_once)
        sim = Simulation(boxes(1, 2), method="event_driven")
        for _ in range(8):
            sim.step()
        ends.append(bits(sim.state))
    assert ends[0] == ends[1]


def test_however_the_search_of_a_piece_is_cut_into_calls_the_bits_are_the_same(tmp_path, monkeypatch):
    ends = []
    for at_once in (1, 10**9):
        monkeypatch.setattr(search, "AT_ONCE", at_once)
        sim = Simulation(balls_of_triangles(tmp_path, 0, 3.0), method="event_driven", h=0.01)
        for _ in range(10):
            sim.step()
        assert sim.event_count > 0
        ends.append(bits(sim.state))
    assert ends[0] == ends[1]


def test_a_search_among_a_hundred_thousand_pairs_looks_up(tmp_path):
    """Two balls of 320 triangles that spin at 80 turns a second: 162 corners each against the other's faces, 480 edges
    against edges. A robot made such pieces where dampers had driven it wild, and one search of these took 300 s, for
    what it looked at next was sought anew among all pairs: here 30 s then. The search is cut into calls of equal work;
    the first one also chooses the pairs, by bounds that cost less than their gaps."""
    sim, looks = Simulation(balls_of_triangles(tmp_path, 2, 500.0), method="event_driven", h=0.01), []

    def looked():
        if threading.current_thread() is not threading.main_thread():  # but the helper, which makes the step
            looks.append(time.thread_time())
        return False

    sim.step()  # its kernels are compiled
    with interruptible(looked):
        sim.step()
    assert sim._method.work.search.count > 100_000
    between = np.diff(looks)
    assert len(looks) > 10 and between.max() < 4.0 * np.median(between)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in ("pgs", "newton")])
def test_a_step_with_any_solver_of_the_written_out_matrix_looks_up(solver):
    """Once at least before the solver begins: contacts of 256 at most, which is seconds."""
    sim = Simulation(boxes(2, 1))
    sim.set(friction=0.0, solver=solver)
    with interruptible(lambda: True), pytest.raises(Interrupted):
        sim.step()
    assert sim.time == 0.0


# ------------------------------------------------------------------------------------------------ left behind


def nothing_is_left_behind():
    return "contactlab-apart" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("method", METHODS)
def test_a_piece_that_never_looks_up_is_left_behind_and_nobody_sees_what_it_does(method, monkeypatch):
    """The run goes on as one that was never interrupted, to the last bit, while the step left behind is made."""
    sim, other = (Simulation(boxes(2, 2), method=method) for _ in range(2))
    for _ in range(3):
        sim.step()
        other.step()
    held, go_on, step = threading.Event(), threading.Event(), sim._method.step

    def late(*arguments):
        held.set()
        go_on.wait()
        step(*arguments)

    monkeypatch.setattr(sim._method, "step", late)
    with interruptible(held.is_set), pytest.raises(LeftBehind):
        sim.step()
    assert bits(sim.state) == bits(other.state) and sim.step_count == 3
    assert sim.info == StepInfo()  # of a step that nobody asked about before
    contacts = [a.tobytes() for a in sim.contacts]
    go_on.set()
    until(nothing_is_left_behind)
    assert bits(sim.state) == bits(other.state) and [a.tobytes() for a in sim.contacts] == contacts
    for _ in range(5):
        sim.step()
        other.step()
        assert bits(sim.state) == bits(other.state)


def test_work_apart_gives_its_result_or_its_error_and_ends_where_it_looks_up():
    def endless():
        while True:
            look_up()
            time.sleep(0.001)

    assert apart(threading.current_thread) is threading.main_thread()
    with interruptible(lambda: False):
        assert apart(threading.current_thread).name == "contactlab-apart"
        assert apart(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            apart(divmod, 1, 0)
    end = time.monotonic() + 0.1
    with interruptible(lambda: time.monotonic() > end), pytest.raises(Interrupted) as ended:
        apart(endless)
    assert ended.type is Interrupted


def test_no_more_works_are_left_behind_than_memory_is_meant_for():
    go_on, begun = threading.Event(), []

    def late():
        begun.append(1)
        go_on.wait()

    for count in range(1, 5):
        end = time.monotonic() + 0.2
        with interruptible(lambda end=end: time.monotonic() > end), pytest.raises(Interrupted):
            apart(late)
        assert len(begun) == min(count, 1 + LEFT_BEHIND)
    go_on.set()
    with interruptible(lambda: False):
        assert apart(lambda: 5) == 5


# ------------------------------------------------------------------------------------------------ the thread


@pytest.fixture
def endless(monkeypatch):
    """A started runner of two balls whose steps never end by themselves, at least half a second into one."""
    step = Simulation.step

    def work(sim):
        while True:
            look_up()
            time.sleep(0.005)

    runner = Runner(Balls(2))
    runner.start()
    until(lambda: runner.latest is not None and runner.latest.step > 3)
    monkeypatch.setattr(Simulation, "_advance", work)
    until(lambda: runner.busy > 0.5)
    yield runner, lambda: monkeypatch.setattr(Simulation, "step", step)
    monkeypatch.undo()
    runner.stop()


@pytest.mark.parametrize("command", [m.Pause(), m.Reset(), m.Open(Balls(1)), m.Seek(2), m.Step(-2), m.Set("h", 1e-3)],
                         ids=lambda command: type(command).__name__)
def test_a_command_that_concerns_the_step_ends_it_within_a_fifth_of_a_second(endless, command):
    runner, _ = endless
    before = bits(runner._sim.state)
    begun = time.perf_counter()
    runner.send(command)
    until(lambda: not runner._commands)
    until(lambda: runner.busy < 0.1, 5.0)
    assert time.perf_counter() - begun < 0.2 + 0.2  # and as much for a machine with other work
    if isinstance(command, m.Pause):
        until(lambda: runner.latest.paused)
        assert runner.latest.error is None and bits(runner._sim.state) == before


@pytest.mark.parametrize("command", [m.Set("restitution", 0.5), m.Step(1),
                                     m.Place(0, (0.0, 0.0, 9.0), (1.0, 0.0, 0.0, 0.0))],
                         ids=lambda command: type(command).__name__)
def test_a_step_that_is_asked_for_is_made_before_what_is_asked_for_after_it(command, monkeypatch):
    """However long it takes: the second command waits for it. What ends all steps does not."""
    advance, held = Simulation._advance, threading.Event()

    def late(sim):
        while not held.wait(0.005):
            look_up()
        advance(sim)

    runner = Runner(Balls(2), paused=True)
    runner.start()
    until(lambda: runner.progress is None)
    monkeypatch.setattr(Simulation, "_advance", late)
    runner.send(m.Step(1))
    until(lambda: runner.busy > 0.0)
    runner.send(command)
    time.sleep(0.4)  # four times the patience
    assert runner._commands and runner.busy > 0.4 - 0.1
    held.set()
    until(lambda: not runner._commands and not runner.busy and runner.latest.step == 1 + isinstance(command, m.Step))
    held.clear()
    runner.send(m.Step(1))
    until(lambda: runner.busy > 0.2)
    runner.send(m.Pause())
    until(lambda: not runner._commands and not runner.busy)
    assert runner.latest.step == 1 + isinstance(command, m.Step) and runner.latest.error is None
    runner.stop()


def test_pulling_ends_no_step(endless):
    runner, _ = endless
    runner.send(m.MoveGrab((0.0, 0.0, 1.0)))
    time.sleep(0.4)
    assert runner._commands and runner.busy > 0.8


def test_the_thread_ends_within_a_second_whatever_it_does(endless):
    runner, _ = endless
    begun = time.perf_counter()
    runner.stop()
    assert time.perf_counter() - begun < 1.0 and not runner._thread.is_alive()


def test_three_hundred_soft_bodies_at_a_step_far_too_long_pause_at_once():
    """Processor time of this process from the command to the pause: what other programs do does not count."""
    runner = Runner(boxes(100, 3), {"method": "compliant", "h": 0.1})
    runner.start()
    until(lambda: runner.busy > 1.0, 300.0)
    begun = time.process_time()
    runner.send(m.Pause())
    until(lambda: runner.latest.paused, 60.0)
    assert time.process_time() - begun < 0.2
    assert runner.latest.step == 0 and runner.latest.error is None
    runner.stop()


def test_a_thousand_exact_contacts_pause_at_once():
    """The first step takes a second or more, and what is factorised of all of them does not look up."""
    runner = Runner(boxes(83, 3), {"method": "event_driven"})
    runner.start()
    for moment in (0.2, 0.5):
        until(lambda moment=moment: runner.busy > moment, 300.0)
        begun = time.process_time()
        runner.send(m.Pause())
        until(lambda: runner.latest.paused, 60.0)
        assert time.process_time() - begun < 0.2
        assert runner.latest.step == 0 and runner.latest.error is None
        until(nothing_is_left_behind)
        runner.send(m.Play())
    runner.stop()


@pytest.mark.parametrize("method", METHODS)
def test_a_step_that_takes_long_all_at_once_after_short_ones_pauses_within_a_fifth_of_a_second(method, monkeypatch):
    """Nobody knows before how long a step takes: one that never looks up is left behind, whichever it is."""
    runner, asleep = Runner(Balls(2), {"method": method}), threading.Event()
    runner.start()
    until(lambda: runner.latest is not None and runner.latest.step > 20)

    def late(*_):
        asleep.set()
        time.sleep(2.0)

    monkeypatch.setattr(runner._sim._method, "step", late)
    asleep.wait(60.0)
    begun = time.perf_counter()
    runner.send(m.Pause())
    until(lambda: runner.latest.paused)
    assert time.perf_counter() - begun < 0.2 + 0.2  # and as much for a machine with other work
    assert runner.latest.error is None
    at = runner.latest.step
    runner.send(m.Play())  # by a new method
    until(lambda: runner.latest.step > at + 5)
    runner.stop()
    assert not runner._thread.is_alive()


def test_python_ends_with_the_main_thread_and_after_all_kernels():
    """Whatever the threads are at: native code must not run on while the interpreter is taken down."""
    here = Path(__file__).parents[1]
    program = ("import sys, time\n"
               "from test_interruption import boxes\n"
               "from contactlab.physics.run import runner\n"
               "runner.kernels_cached = lambda: True\n"
               "running = runner.Runner(boxes(20, 3), {'method': sys.argv[1], 'h': 0.1})\n"
               "running.start()\n"
               "while running.busy < 0.3: time.sleep(0.01)\n"
               "assert not running._thread.daemon\n")
    paths = os.pathsep.join([str(here), str(here / "kernels"), *sys.path])
    for method in ("event_driven", "compliant"):
        subprocess.run([sys.executable, "-c", program, method], check=True, timeout=120,
                       env=os.environ | {"PYTHONPATH": paths})


# ------------------------------------------------------------------------------------------------ going back


@pytest.mark.parametrize("sides", [1, 2])
def test_a_seek_that_is_given_up_changes_nothing(sides):
    runner = Runner(Balls(2), paused=True)
    runner.begin()
    settings = runner.latest.settings
    if sides > 1:
        runner.send(m.Compare((m.Side(settings), m.Side(settings))))
    runner.send(m.Step(40))
    runner.tick()
    comparison = runner._sides
    before = [bits(member.simulation.state) for member in comparison.members]
    contacts = [member.simulation.contacts.key.tolist() for member in comparison.members]
    looks = []

    def wanted():
        looks.append(1)
        return len(looks) >= sides  # in the last of them

    with interruptible(wanted), pytest.raises(Interrupted):
        comparison.seek(20)
    assert [bits(member.simulation.state) for member in comparison.members] == before
    assert [member.simulation.contacts.key.tolist() for member in comparison.members] == contacts
    assert comparison.step_count == 40 and comparison.time == pytest.approx(40 * settings.h)
    comparison.seek(20)
    assert comparison.time == pytest.approx(20 * settings.h)


# ------------------------------------------------------------------------------------------------ memory


def test_more_contacts_than_memory_is_meant_for_are_refused_in_a_sentence():
    """120 boxes in each other upon 120 others: the equations of all corners that touch would take many GiB."""
    box = {"name": "a", "position": [0, 0, 0.1], "shape": [{"type": "box", "size": [0.1, 0.1, 0.2]}]}
    floor = {"name": "f", "fixed": True, "shape": [{"type": "plane"}]}
    scene = Scene.from_dict({"solver": {"method": "event_driven"}, "body": [floor, box],
                             "array": [{"body": "a", "count": [120, 1, 2], "spacing": [1e-4, 0, 0.2]}]})
    sim = Simulation(scene)
    before = copy_state(sim.state)
    with pytest.raises(CannotStep) as refused:
        sim.step()
    said = str(refused.value)
    assert "GiB" in said and "time_stepping takes" in said and "\n" not in said
    assert bits(sim.state) == bits(before)
    runner = Runner(scene, paused=True)
    runner.begin()
    runner.send(m.Step(1))
    runner.tick()
    assert runner.latest.error == said and runner.latest.step == 0
    assert np.isfinite(runner.latest.x).all()
