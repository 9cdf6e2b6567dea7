"""The physics thread: commands in order and never lost, whole snapshots, errors that pause, pacing by the clock."""

import threading
import time

import numpy as np
import pytest
from bare_bodies import Balls

from contactlab.physics import Scene
from contactlab.physics.books.ledger import TAKERS
from contactlab.physics.methods import METHODS
from contactlab.physics.run import looks as looks_module
from contactlab.physics.run import messages as m
from contactlab.physics.run import runner as runner_module
from contactlab.physics.run.runner import Runner
from contactlab.physics.simulation.simulation import Simulation


class Clock:
    """A clock that goes as it is told; every look at it may take some time."""

    def __init__(self, look=0.0):
        self.now, self.look = 0.0, look

    def __call__(self):
        self.now += self.look
        return self.now


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: True)


def still(count=2, **keywords):
    """A runner that the test turns by hand: `begin` done, no thread."""
    runner = Runner(Balls(count), clock=keywords.pop("clock", Clock()), **keywords)
    runner.begin()
    return runner


def do(runner, *commands):
    for command in commands:
        runner.send(command)
    runner.tick()
    return runner.latest


def until(condition, seconds=20.0):
    """Wait for another thread."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def bits(snapshot):
    return b"".join(getattr(snapshot, name).tobytes() for name in "xqvwL")


# ------------------------------------------------------------------------------------------------ commands


def test_the_first_snapshot_is_there_before_the_kernels_are_compiled(monkeypatch):
    seen = []
    runner = Runner(Balls(1), clock=Clock())
    monkeypatch.setattr(runner_module, "kernels_cached", lambda: False)
    monkeypatch.setattr(
        runner_module, "compile_for", lambda scene, settings: seen.append((runner.latest, runner.progress)))
    runner.begin()
    snapshot, progress = seen[0]
    assert snapshot.step == 0 and snapshot.labels.bodies == ("ball0", "floor")
    assert "compiling" in progress[0] and 0.0 <= progress[1] <= 1.0
    assert runner.progress is None


class Compiler:
    """Stands for the process that compiles the rest."""

    def __init__(self, ended):
        self.ended = ended

    def poll(self):
        return 0 if self.ended else None

    def terminate(self):
        self.ended = True


@pytest.fixture
def first_start(monkeypatch):
    """Nothing is compiled yet: the processes that were started to do so, and what was compiled at once."""
    started, prepared = [], []

    def compile_the_rest():
        started.append(Compiler(ended=False))
        return started[-1]

    monkeypatch.setattr(runner_module, "kernels_cached", lambda: False)
    monkeypatch.setattr(runner_module, "compile_for", lambda scene, settings: None)
    monkeypatch.setattr(runner_module, "compile_the_rest", compile_the_rest)
    monkeypatch.setattr(runner_module, "prepare", prepared.append)
    monkeypatch.setattr(looks_module, "look", lambda *_: None)  # it would compile
    return started, prepared


@pytest.mark.parametrize("command", [m.Set("method", "event_driven"), m.Inspect("equations"), m.Open(Balls(3), True)])
def test_on_the_first_start_the_rest_gives_way_to_what_is_wanted_now(first_start, command):
    started, prepared = first_start
    runner = Runner(Balls(1), paused=True)
    runner.start()
    try:
        until(lambda: started)
        runner.send(m.Set("restitution", 0.25))  # needs nothing new
        until(lambda: runner.latest.settings.restitution == 0.25)
        assert not prepared and not started[0].ended
        runner.send(command)
        until(lambda: len(started) == 2)
        assert started[0].ended and not started[1].ended
        assert [s.scene.name for s in prepared] == [runner.latest.scene_name]
        started[1].ended = True
        runner.send(m.Set("method", "compliant"))
        until(lambda: runner.latest.settings.method == "compliant")
        assert len(started) == 2 and len(prepared) == 1  # all is compiled
    finally:
        runner.stop()


def test_the_end_does_not_wait_for_a_compiler(first_start, monkeypatch):
    started, _ = first_start
    go_on = threading.Event()
    monkeypatch.setattr(runner_module, "prepare", lambda simulation: go_on.wait(20.0))
    runner = Runner(Balls(1), paused=True)
    runner.start()
    until(lambda: started)
    runner.send(m.Set("method", "compliant"))
    until(lambda: runner.progress is not None)
    runner.stop()
    assert runner._thread.is_alive()
    go_on.set()
    runner._thread.join(20.0)
    assert not runner._thread.is_alive()


def test_commands_are_carried_out_in_their_order():
    runner = still(paused=True)
    s = do(runner, m.Step(3), m.Set("restitution", 0.5), m.Step(2), m.Set("restitution", 0.25), m.SetSpeed(0.1))
    assert (s.step, s.settings.restitution, s.speed, s.paused) == (5, 0.25, 0.1, True)
    assert [(k, type(c).__name__) for k, c in runner.log] == [
        (0, "Step"), (3, "Set"), (3, "Step"), (5, "Set"), (5, "SetSpeed")]


def test_no_command_is_lost_while_many_send_and_the_engine_steps():
    runner = Runner(Balls(3))
    runner.start()
    until(lambda: runner.progress is None)
    senders = [
        threading.Thread(target=lambda k=k: [runner.send(m.Set("friction", (1000 * k + j) / 1e5)) for j in range(500)])
        for k in range(4)
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    runner.send(m.Pause())
    until(lambda: runner.latest.paused)
    values = [round(c.value * 1e5) for _, c in runner.log if isinstance(c, m.Set)]
    runner.stop()
    assert len(values) == 2000
    for k in range(4):
        assert [v for v in values if v // 1000 == k] == list(range(1000 * k, 1000 * k + 500))


def test_snapshots_are_whole_and_cannot_be_written():
    """With gravity alone every ball falls alike: x, v and t of one instant fit together, of two they would not."""
    runner = Runner(Balls(50), settings={"gravity": (0.0, 0.0, -1e-3)})
    seen, wrong = {}, []

    def read():
        while len(seen) < 40:
            time.sleep(0.0)
            s = runner.latest
            if s is None:
                continue
            fits = (
                s.v[0, 2] == pytest.approx(-1e-3 * s.t, abs=1e-12) and (s.v[:50, 2] == s.v[0, 2]).all()
                and s.x[49, 2] == pytest.approx(1.5 - 0.5e-3 * s.t**2, abs=1e-12) and s.energy_log[-1, 0] == s.t)
            if not fits:
                wrong.append(s.step)
            seen[s.step] = s

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    runner.start()
    reader.join(120.0)  # however long the machine takes for 40 snapshots
    runner.stop()
    assert len(seen) == 40 and not wrong
    s = seen[max(seen)]
    with pytest.raises(ValueError, match="read-only"):
        s.x[0, 0] = 1.0
    assert not any(a.flags.writeable for a in (*s.contacts, s.q, s.v, s.w, s.L, s.energy_log))


def test_a_command_that_is_refused_is_said_and_the_run_goes_on():
    clock = Clock()
    runner = still(clock=clock)
    s = do(runner, m.Set("restitution", 7.0))
    assert s.notice == "restitution must be a number from 0 to 1, not 7.0"
    assert s.error is None and not s.paused
    clock.now += 0.05
    s = do(runner, m.Set("restitution", 0.7))
    assert s.notice is None and s.settings.restitution == 0.7
    floor = m.Grab(2, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert do(runner, floor).notice == "'floor' does not move, so it cannot be pulled"
    assert "from 0.001 to 1000" in do(runner, m.SetSpeed(0.0)).notice


def test_a_grab_while_paused_acts_when_time_goes_on():
    runner = still(paused=True)
    s = do(runner, m.Grab(0, (0.0, 0.0, 1.5), (0.0, 0.0, 5.0)))
    assert s.step == 0 and s.grabbed.body == 0 and s.grabbed.force == (0.0, 0.0, 0.0)
    assert s.grabbed.point == pytest.approx((0.0, 0.0, 1.5))
    s = do(runner, m.MoveGrab((1.0, 0.0, 5.0)), m.Step(20))
    assert s.grabbed.target == (1.0, 0.0, 5.0)
    assert s.grabbed.force[2] > 0.0 and s.x[0, 0] > 0.01
    assert s.x[0, 2] > s.x[1, 2]  # the other ball falls
    assert do(runner, m.Release()).grabbed is None


# ------------------------------------------------------------------------------------------------ back and forth


def test_stepping_back_and_forth_shows_the_same_instants():
    runner = still(paused=True)
    course = [bits(do(runner, m.Step())) for _ in range(60)]
    for k in (59, 40, 20):
        s = do(runner, m.Seek(k))
        assert bits(s) == course[k - 1]
        assert s.history == (0, 60) and s.energy_log[k, 0] == s.t and len(s.energy_log) == 61
    assert bits(do(runner, m.Step(-19))) == course[0]
    assert do(runner, m.Step(-5)).step == 0
    assert do(runner, m.Seek(60)).step == 60
    assert "holds steps 0 to 60" in do(runner, m.Seek(99)).notice
    assert bits(do(runner, m.Seek(20), m.Step(5))) == course[24]  # a new branch, made of the same


def test_going_to_the_next_and_the_previous_event():
    runner = still(count=1, paused=True)
    first = do(runner, m.StepToEvent())
    assert first.event_count >= 1 and first.events[-1].step == first.step
    # the ball falls 1 m: the impact is within a step of sqrt(2/g)
    assert first.t == pytest.approx(np.sqrt(2 / 9.81), abs=2 / 240)
    second = do(runner, m.StepToEvent())
    assert second.step > first.step and second.paused
    back = do(runner, m.StepToEvent(-1))
    assert (back.step, bits(back), back.instant) == (first.step, bits(first), first.instant)
    assert "no earlier event" in do(runner, m.StepToEvent(-1)).notice
    quiet = do(runner, m.Reset(), m.StepToEvent(1, 0.1))
    assert "nothing happened within 0.1 s" in quiet.notice and quiet.t == pytest.approx(0.1, abs=1 / 240)
    assert quiet.quiet == 0.1 and not quiet.searching and do(runner, m.Pause()).quiet == 0.0


def test_what_is_seen_on_the_way_to_an_event_says_that_it_searches():
    runner, seen = still(count=1, paused=True, clock=Clock(look=0.01)), []
    publish = runner._publish
    runner._publish = lambda on_the_way=False: (publish(on_the_way), seen.append(runner.latest.searching))
    found = do(runner, m.StepToEvent())
    assert found.instant is not None and len(seen) > 10 and all(seen[:-1]) and not seen[-1]


@pytest.mark.parametrize("command", [m.Pause(), m.Compare(())])
def test_a_long_way_to_an_event_can_be_broken_off(command):
    runner = Runner(Balls(1), settings={"gravity": (0.0, 0.0, 0.0)}, paused=True)
    runner.start()
    until(lambda: runner.progress is None)
    runner.send(m.StepToEvent(1, 1e5))
    until(lambda: runner.latest.step > 10)
    runner.send(command)
    runner.send(m.Seek(0))
    until(lambda: runner.latest.step == 0)
    runner.stop()
    assert runner.latest.paused


def test_replaying_the_log_of_a_run_gives_the_same_bits():
    runner = still(paused=True)
    do(runner, m.Step(20), m.Grab(0, (0.0, 0.0, 1.5), (0.0, 0.0, 2.0)), m.Step(10), m.MoveGrab((0.3, 0.0, 2.0)),
       m.Step(30), m.Release(), m.Set("restitution", 0.9), m.Step(60))
    simulation = Simulation(Balls(2))
    for step, command in runner.log:
        while simulation.step_count < step:
            simulation.step()
        if not isinstance(command, m.Step):
            simulation.apply(command)
    while simulation.step_count < runner.latest.step:
        simulation.step()
    assert simulation.state.bodies.x.tobytes() == runner.latest.x.tobytes()
    assert simulation.state.bodies.L.tobytes() == runner.latest.L.tobytes()


def test_reset_keeps_the_settings_and_open_brings_another_scene():
    runner = still(paused=True)
    first = do(runner, m.Set("restitution", 0.4), m.Step(50))
    s = do(runner, m.Reset())
    assert (s.step, s.t, s.settings.restitution, s.history) == (0, 0.0, 0.4, (0, 0))
    assert len(s.energy_log) == 1 and s.events == ()
    assert s.generation == first.generation
    other = do(runner, m.Open(Balls(5), paused=True))
    assert other.generation == s.generation + 1 and len(other.x) == 6
    assert other.paused and other.settings.restitution is None and len(runner.log) == 0


# ------------------------------------------------------------------------------------------------ errors


def test_an_error_beside_steps_and_commands_does_not_end_the_thread(monkeypatch):
    runner = Runner(Balls(2))
    runner.start()
    until(lambda: runner.latest is not None and runner.latest.step > 20)
    whole, failed = Runner._snapshot, []

    def fails_once(self, *arguments):
        if not failed:
            failed.append(1)
            raise SystemError("a mistake of ours")
        return whole(self, *arguments)

    monkeypatch.setattr(Runner, "_snapshot", fails_once)
    until(lambda: runner.latest.error)
    assert "a mistake of ours" in runner.latest.error and runner.latest.paused and "fails_once" in runner.failure
    step = runner.latest.step
    runner.send(m.Play())
    until(lambda: runner.latest.step > step + 5 and runner.latest.error is None)
    runner.stop()


def test_an_engine_error_pauses_is_shown_and_reset_helps(monkeypatch):
    runner = Runner(Balls(2))
    runner.start()
    until(lambda: runner.latest is not None and runner.latest.step > 20)
    broken = True
    method = METHODS["time_stepping"]
    step = method.step

    def advance(self, state, loads, settings):
        if broken:
            state.bodies.x[:] = np.nan  # half done when it fails
            raise ZeroDivisionError("a bug")
        step(self, state, loads, settings)

    monkeypatch.setattr(method, "step", advance)
    until(lambda: runner.latest.error)
    s = runner.latest
    assert "a fault of this program (ZeroDivisionError at test_runner.py:" in s.error
    assert s.paused and np.isfinite(s.x).all()  # the last good state
    assert "ZeroDivisionError" in runner.failure and "advance" in runner.failure
    broken = False
    runner.send(m.Reset())
    until(lambda: runner.latest.error is None)
    assert runner.latest.step == 0
    runner.send(m.Play())
    until(lambda: runner.latest.step > 5)
    broken = True
    until(lambda: runner.latest.error)
    broken = False
    runner.send(m.Open(Balls(4)))
    until(lambda: len(runner.latest.x) == 5 and runner.latest.step > 5)
    runner.stop()
    assert runner.latest.error is None and not runner.latest.paused


def test_a_motion_that_is_no_longer_finite_is_said_in_plain_words():
    runner = still(paused=True)
    runner._sim.loads.force[0, 0] = np.inf
    s = do(runner, m.Step())
    assert s.error.startswith("the motion of ball0 is no longer finite")
    assert s.step == 0 and np.isfinite(s.x).all()


def on_a_spring(square=3600.0):
    """A body of 1 kg that a spring of no length pulls to the origin, with square = ω² [1/s2]."""
    body = {"name": "bob", "position": [0.5, 0.0, 0.0], "mass": 1.0, "inertia": [0.01] * 3,
            "shape": [{"type": "sphere", "radius": 0.1}]}
    spring = {"body_a": "world", "body_b": "bob", "length": 0.0, "stiffness": square}
    return Scene.from_dict({"scene": {"gravity": [0.0, 0.0, 0.0]}, "body": [body], "spring": [spring]})


@pytest.mark.parametrize("method", METHODS)
def test_a_run_pauses_once_half_of_its_energy_is_from_nothing_and_says_why(method):
    """Explicit Euler multiplies the energy of an oscillator by 1 + (ω h)² a step. The run pauses once it is twice what
    was put in; gone on with, again when what came from nothing is ten times as much."""
    runner = Runner(on_a_spring(), {"method": method, "integrator": "euler"}, paused=True, clock=Clock())
    runner.begin()
    factor, steps = 1.0 + 3600.0 / 240.0**2, np.arange(200)
    first = int(np.argmax(factor**steps > 2.0))
    s = do(runner, m.Step(200))
    assert (s.step, s.paused) == (first, True)
    assert "Euler (explicit)" in s.error and "Runge–Kutta 4" in s.error and "450 J were put in" in s.error
    s = do(runner, m.Step(200))
    assert s.step == int(np.argmax(factor**steps - 1.0 > 10.0 * (factor**first - 1.0))) and s.error
    s = do(runner, m.Reset(), m.Set("integrator", "rk4"), m.Step(200))
    assert (s.step, s.error) == (200, None)


@pytest.mark.parametrize("method", METHODS)
def test_energy_that_is_put_in_stops_no_run(method):
    """By a force, by the mouse, and by gravity set anew."""
    runner = Runner(on_a_spring(4.0), {"method": method, "integrator": "rk4"}, paused=True, clock=Clock())
    runner.begin()
    runner._sim.loads.force[0] = (500.0, 0.0, 0.0)
    put_in = [m.Step(20), m.Grab(0, (0.6, 0.0, 0.0), (9.0, 2.0, 0.0)), m.Step(40), m.Release(),
              m.Set("gravity", (0.0, 0.0, -300.0)), m.Step(40)]
    s = do(runner, *put_in)
    assert (s.step, s.error) == (100, None)
    assert s.energy.kinetic > 1000.0


def test_a_scene_that_cannot_be_built_leaves_the_old_one_running():
    class Broken(Balls):
        def build(self):
            raise OSError("teapot.stl is gone")

    runner = still(paused=True)
    s = do(runner, m.Open(Broken()), m.Step(3))
    assert s.step == 3 and len(s.x) == 3
    assert do(runner, m.Open(Broken())).notice == "balls could not be opened: teapot.stl is gone"


# ------------------------------------------------------------------------------------------------ time


@pytest.mark.parametrize("speed", [0.01, 0.25, 1.0])
def test_simulated_time_follows_the_clock(speed):
    clock = Clock()
    runner = still(clock=clock)
    do(runner, m.SetSpeed(speed))
    start = runner.latest.t
    for _ in range(600):
        clock.now += 1 / 60
        runner.tick()
    assert runner._sim.time - start == pytest.approx(10.0 * speed, abs=1 / 240 + 1e-9)
    assert runner.latest.real_time_factor == pytest.approx(speed, rel=0.05 if speed > 0.1 else 1.0)


def test_a_machine_that_is_too_slow_shows_it_and_still_takes_commands():
    clock = Clock(look=0.02)  # every step costs 20 ms of the clock: five times real time at h = 1/240
    runner = still(clock=clock)
    for _ in range(300):
        runner.tick()
    assert 0.05 < runner.latest.real_time_factor < 0.5
    assert runner.latest.step < 1000  # no spiral: each turn makes a step or so and returns
    assert do(runner, m.Pause()).paused


def test_a_paused_run_stands_still_and_resumes_without_a_jump():
    clock = Clock()
    runner = still(clock=clock)
    clock.now += 0.5
    runner.tick()
    s = do(runner, m.Pause())
    clock.now += 100.0
    runner.tick()
    assert runner.latest.step == s.step and s.real_time_factor == 0.0
    do(runner, m.Play())
    clock.now += 0.1
    runner.tick()
    assert runner._sim.time - s.t == pytest.approx(0.1, abs=1 / 240 + 1e-9)


def test_snapshots_come_at_most_120_times_a_second():
    clock = Clock()
    runner = still(clock=clock)
    seen = set()
    for _ in range(1000):
        clock.now += 0.001
        runner.tick()
        seen.add(id(runner.latest))
        kept = runner.latest  # noqa: F841  keeps ids apart
    assert runner._sim.time == pytest.approx(1.0, abs=0.01)
    assert len(seen) <= 121


def test_the_energy_log_reaches_from_the_start_to_now_and_stays_bounded(monkeypatch):
    monkeypatch.setattr(runner_module, "LOG_ROWS", 64)
    runner = still(paused=True)
    s = do(runner, m.Step(500))
    log = s.energy_log
    assert 64 <= len(log) <= 128 and log.shape[1] == 6
    assert log[0, 0] == 0.0 and log[-1, 0] == s.t and (np.diff(log[:, 0]) > 0).all()
    assert log[-1, 1:4] == pytest.approx((s.energy.kinetic, s.energy.potential, s.energy.spring))
    heat = -s.ledger[list(TAKERS), 0].sum()
    assert log[-1, 4] == 0.0 and log[-1, 5] == pytest.approx(heat) and heat > 1.0


def test_a_scene_plays_at_its_own_speed_until_told_otherwise():
    slow = Balls(1)
    slow.speed = 0.25
    runner = still()
    assert do(runner, m.SetSpeed(2.0)).speed == 2.0
    assert do(runner, m.Open(slow, True)).speed == 0.25
