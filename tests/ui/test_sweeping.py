"""Sweeps: what is refused, what is measured, and the same rows alone, on two workers, and after a kill."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import types

import numba
import numpy as np
import pytest
from command_line import call

import contactlab
from contactlab.app.command_line import cli
from contactlab.app.command_line.arguments import BadInput, parse_values
from contactlab.app.elsewhere import OwnLaw, lent, packed
from contactlab.app.sweeps import sweeping
from contactlab.app.sweeps.sweeping import sweep
from contactlab.physics import Scene, Simulation
from contactlab.physics.laws.soft import LAWS
from contactlab.physics.run.sweep import Sweep, replaced

BALL = """
[solver]
h = 0.005
[material.default]
friction = 0.3
[[body]]
name = "floor"
fixed = true
shape = [{type = "plane"}]
[[body]]
name = "ball No. 1.5"
position = [0.0, 0.0, 0.5]
velocity = [1.0, 0.0, 0.0]
shape = [{type = "sphere", radius = 0.1}]
"""
NAME = "body.ball No. 1.5.position.2"
VARY = {"restitution": np.linspace(0.0, 0.7, 8).tolist(), NAME: np.linspace(0.3, 1.0, 8).tolist()}
MEASURES = ("impacts", "height:ball No. 1.5:max", "v_x:ball No. 1.5")


@pytest.fixture
def ball(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    return path


def same(a, b):
    """Tables with the same bits, where nan is nan."""
    return json.dumps(a) == json.dumps(b)


# ------------------------------------------------------------------------------------------------ one process


def test_every_row_is_a_single_run(ball):
    study = sweep(ball, {"restitution": [0.0, 0.5], NAME: [0.4, 0.8]}, MEASURES, until=0.8, workers=0)
    assert study["restitution"] == [0.0, 0.0, 0.5, 0.5] and study[NAME] == [0.4, 0.8] * 2
    for k in range(4):
        scene = replaced(Scene.load(ball), {NAME: study[NAME][k]})
        sim = Simulation(scene)
        sim.set(restitution=study["restitution"][k])
        heights = [sim.position(1)[2]]
        while sim.time < 0.8 - 0.5 * sim.settings.h:
            sim.step()
            heights.append(sim.position(1)[2])
        assert study["height:ball No. 1.5:max"][k] == max(heights)
        assert study["impacts"][k] == sum(event.kind == "impact" for event in sim.events)
        assert study["v_x:ball No. 1.5"][k] == sim.velocity(1)[0]


def test_the_rest_time_of_a_dead_ball_is_that_of_its_fall(ball):
    """e = 0, no sliding: from a height s above the floor it rests after √(2 s/g), found to the step."""
    still = {"body.ball No. 1.5.velocity.0": [0.0], "restitution": [0.0], NAME: [0.3, 0.6]}
    study = sweep(ball, still, until=1.0, workers=0)
    for height, found in zip(study[NAME], study["rest time"], strict=True):
        assert abs(found - math.sqrt(2.0 * (height - 0.1) / 9.81)) <= 2 * 0.005
    assert math.isnan(sweep(ball, {"restitution": [0.9]}, until=0.3, workers=0)["rest time"][0])


def test_a_function_measures_what_it_likes(ball):
    study = sweep(ball, {"gravity": [(0.0, 0.0, 0.0)], "h": [0.01]}, {"x": lambda sim: sim.position(1)[0]}, until=0.5,
                  workers=0)
    assert study["x"] == [pytest.approx(0.5, abs=1e-14)] and study["reason"] == [""]


@pytest.mark.parametrize("vary, measure, said", [
    ({"restitutoin": [0.1]}, "rest time", "a setting is one of method, .*restitution"),
    ({"body.bal.mass": [1.0]}, "rest time", "'bal' must be one of floor, ball No. 1.5"),
    ({"body.floor.colour": ["#ffffff"]}, "rest time", "did you mean color"),
    ({"body.floor.shape.1.type": ["plane"]}, "rest time", "'1' must be one of 0 to 0"),
    ({"friction": [0.1, -1.0]}, "rest time", "friction must be"),
    ({"method": ["implicit"]}, "rest time", "method must be"),
    ({"friction": []}, "rest time", "'friction' has no values"),
    ({}, "rest time", "at least one parameter"),
    ({"friction": range(100_000), "restitution": range(10_000)}, "rest time", r"1,000,000,000 runs \(100000 x 10000\)"),
    ({"friction": [0.1]}, "resttime", "a measure must be one of rest time, events"),
    ({"friction": [0.1]}, "height", "'height' needs a body, height:BODY"),
    ({"friction": [0.1]}, "height:bal", "there is no body 'bal'"),
    ({"friction": [0.1]}, "energy:floor", "'energy' is of the whole, not of 'floor'"),
])
def test_what_cannot_be_is_refused_before_anything_runs(ball, vary, measure, said, monkeypatch):
    monkeypatch.setattr(Simulation, "step", lambda self: pytest.fail("it runs"))
    with pytest.raises(ValueError, match=said):
        sweep(ball, vary, measure, workers=0)


def test_a_run_that_fails_is_a_row_with_its_reason(ball):
    """The implicit integrator is one of compliant contact alone."""
    vary = {"method": ["compliant", "time_stepping"], "integrator": ["rk4", "sdirk2"]}
    study = sweep(ball, vary, "height:ball No. 1.5", until=0.05, workers=0)
    assert study["reason"][:3] == ["", "", ""] and "sdirk2 is implicit" in study["reason"][3]
    assert np.isnan(study["height:ball No. 1.5"]).tolist() == [False, False, False, True]
    with pytest.raises(ValueError, match="sdirk2 is implicit"):  # in no run
        sweep(ball, {"integrator": ["rk4", "sdirk2"]}, until=0.05, workers=0)


def test_rows_that_are_there_are_not_run_again_and_a_line_that_was_cut_off_is(ball, tmp_path, monkeypatch):
    vary, out = {"restitution": [0.0, 0.2, 0.4, 0.6]}, tmp_path / "study.csv"
    whole, runs, run = sweep(ball, vary, MEASURES, until=0.3, workers=0), [], Sweep.run

    def counted(plan, values):
        if len(runs) == 2:
            raise KeyboardInterrupt
        runs.append(values)
        return run(plan, values)

    monkeypatch.setattr(Sweep, "run", counted)
    with pytest.raises(KeyboardInterrupt):
        sweep(ball, vary, MEASURES, until=0.3, out=out, workers=0)
    journal = tmp_path / "study.csv.part"
    assert not out.exists() and journal.read_text().count("\n") == 3
    journal.write_text(journal.read_text() + '[2, {"restitution": 0.')
    with pytest.raises(ValueError, match="of another sweep"):
        sweep(ball, vary, MEASURES, until=0.4, out=out, workers=0)
    runs.clear()
    again = sweep(ball, vary, MEASURES, until=0.3, out=out, workers=0)
    assert runs == [(0.4,), (0.6,)] and same(again, whole) and not journal.exists()
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["impacts"]) for row in rows] == whole["impacts"] and list(rows[0]) == list(whole)


def test_values_are_read_as_they_are_written():
    assert parse_values("0:1:5") == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert parse_values("1:100:3:log") == pytest.approx([1, 10, 100])
    assert parse_values("rk4,heun") == ["rk4", "heun"] and parse_values("0.5") == [0.5]
    for wrong in ("0:1", "0:1:0", "0:1:2.5", "a:b:3", "0:1:5:log", "0:1:2000000"):
        with pytest.raises(BadInput):
            parse_values(wrong)


# ------------------------------------------------------------------------------------------------ workers

dask = pytest.mark.skipif(not __import__("importlib.util").util.find_spec("distributed"), reason="no dask here")


@pytest.fixture(scope="module")
def scheduler():
    """The address of one with two workers, which gives no task to a second worker where one has died of it."""
    from dask import config
    from distributed import LocalCluster

    with config.set({"distributed.scheduler.allowed-failures": 0}), LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def die(sim):
    """Ends the process of the worker for one of two runs."""
    if sim.settings.restitution == 0.5:
        os._exit(1)
    return 1.0


def program(*arguments, **keywords):
    return subprocess.Popen([sys.executable, "-m", "contactlab", "sweep", *map(str, arguments)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)


@dask
def test_64_runs_on_two_workers_killed_and_resumed_equal_64_single_runs(ball, tmp_path):
    out = tmp_path / "study.parquet"
    arguments = [ball, "--out", out, "--until", 3.0, "--workers", 2]
    for name, values in VARY.items():
        arguments += ["--vary", f"{name}={','.join(map(repr, values))}"]
    for name in MEASURES:
        arguments += ["--measure", name]
    journal = tmp_path / "study.parquet.part"
    first = program(*arguments)
    while not journal.exists() or journal.read_bytes().count(b"\n") < 9:
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    there = journal.read_bytes().count(b"\n") - 1
    assert 8 <= there < 64 and not out.exists()
    second = program(*arguments)
    said, told = second.communicate(timeout=300)
    assert second.returncode == 0, told
    assert f"{there} of 64 runs are there already" in told and "64 runs, 0 of them failed" in said
    from pyarrow import parquet

    alone = sweep(ball, VARY, MEASURES, until=3.0, workers=0)
    assert same(parquet.read_table(out).to_pydict(), alone) and not journal.exists()


# ------------------------------------------------------------------------------------- what a script brings along

SOFT = {"method": "compliant", "stiffness_n": 1e5, "stiffness_t": 1e5, "damping_n": 20.0, "damping_t": 20.0, "h": 0.001}
BEND = 1.5


@numba.njit
def elastic(depth, rate, k, d):
    return k * depth**BEND * (1.0 + d * rate)


def clipped(depth, rate, k, d):
    return k * depth + d * rate


def lift(t, x, q, v, w, force, torque):
    force[:, 2] += 3.0


def lifted(sim):
    sim.force_law = lift


@dask
def test_laws_and_forces_of_a_script_go_to_the_workers_of_a_scheduler(ball, scheduler, no_law_stays):
    """Runs by laws of a script on two workers have the bits of single runs here, compiled or not, with a force of its
    own; those without the force fall faster."""
    for name, law in (("elastic", elastic), ("clipped", clipped)):
        contactlab.soft_law(name, law)
    fastest, vary = "v_z:ball No. 1.5:min", {"law": ["elastic", "clipped", "kelvin_voigt"], NAME: [0.12]}
    free = sweep(ball, vary, fastest, settings=SOFT, until=0.1, workers=0)
    study = sweep(ball, vary, fastest, settings=SOFT, start=lifted, until=0.1, scheduler=scheduler)
    assert study["reason"] == [""] * 3 and study["law"] == vary["law"]
    for law, found, without in zip(study["law"], study[fastest], free[fastest], strict=True):
        sim = Simulation(replaced(Scene.load(ball), {NAME: 0.12}))
        sim.set(**SOFT, law=law)
        sim.force_law, least = lift, 0.0
        for _ in range(100):
            sim.step()
            least = min(least, sim.velocity(1)[2])
        assert without < found == least < 0.0
    assert study[fastest][0] != study[fastest][1] == study[fastest][2]


@dask
def test_the_command_line_sends_runs_to_the_workers_of_a_scheduler(ball, scheduler, tmp_path, capsys):
    out = tmp_path / "study.csv"
    arguments = ["sweep", ball, "--vary", "restitution=0.1,0.9", "--measure", MEASURES[1], "--until", 0.8, "--out", out]
    code, _, told = call(capsys, *arguments, "--scheduler", scheduler)
    assert code == 0, told
    alone = sweep(ball, {"restitution": [0.1, 0.9]}, MEASURES[1], until=0.8, workers=0)
    with out.open(newline="") as file:
        assert [float(row[MEASURES[1]]) for row in csv.DictReader(file)] == list(alone[MEASURES[1]])


def test_what_cannot_go_to_the_workers_is_said_before_anything_runs(ball, no_law_stays, monkeypatch):
    lock = threading.Lock()
    contactlab.soft_law("held", lambda depth, rate, k, d: k * depth if not lock.locked() else 0.0)
    monkeypatch.setattr(Simulation, "step", lambda self: pytest.fail("it runs"))
    with pytest.raises(ValueError, match=r"the law 'held' cannot be sent to another process: .*lock"):
        sweep(ball, {"law": ["held"]}, settings=SOFT, until=0.05)
    with pytest.raises(ValueError, match=r"what the sweep runs cannot be sent to another process: .*lock"):
        sweep(ball, {"restitution": [0.1]}, start=lambda sim: lock.acquire(), until=0.05)


def test_a_worker_without_a_module_of_the_script_says_which(ball, monkeypatch):
    module = types.ModuleType("of_the_script")
    exec("def begin(sim): pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "of_the_script", module)
    plan = Sweep(Scene.load(ball), {"restitution": [0.1]}, until=0.05, start=module.begin)
    data = packed((plan, []), "what the sweep runs")
    assert sweeping.run_one(data, (0.1,))["reason"] == ""
    monkeypatch.delitem(sys.modules, "of_the_script")
    sweeping._brought.cache_clear()
    with pytest.raises(sweeping.CannotBegin, match=r"cannot be loaded in another process.*No module named 'of_the_s"):
        sweeping.run_one(data, (0.1,))


def test_two_sweeps_at_once_may_not_have_two_laws_of_one_name(no_law_stays):
    one, other = (OwnLaw("mine", "", ("N/m", "N s/m"), packed(f, ""), "") for f in (elastic, clipped))
    with lent([one]):
        with lent([one]):
            pass
        with pytest.raises(ValueError, match="another sweep has another law 'mine'"), lent([other]):
            pass
    with lent([other]):
        assert LAWS["mine"].force(1.0, 2.0, 10.0, 1.0) == 12.0


def test_a_start_that_fails_is_the_reason_of_its_row_with_its_line(ball):
    def begin(sim):
        if sim.settings.restitution > 0.5:
            raise KeyError("knee")

    study = sweep(ball, {"restitution": [0.1, 0.9]}, start=begin, until=0.02, workers=0)
    assert study["reason"][0] == "" and "test_sweeping.py, `raise KeyError(\"knee\")`" in study["reason"][1]


def test_rows_by_other_functions_are_of_another_sweep(ball, tmp_path, monkeypatch, no_law_stays):
    """A sweep that was cut off goes on with the same law, also where it was defined again, and not with another number
    in it."""
    def begun(power, most=9):
        contactlab.soft_law("mine", lambda depth, rate, k, d: k * depth**power)
        return Sweep(Scene.load(ball), {"law": ["mine"]}, settings=SOFT, start=lambda sim: sim.run(steps=most)).mark

    assert begun(1.5) == begun(1.5)
    assert len({begun(1.5), begun(1.4), begun(1.5, 8)}) == 3


@dask
def test_a_worker_that_dies_costs_its_row_and_no_other(ball, scheduler):
    study = sweep(ball, {"restitution": [0.1, 0.5, 0.9]}, {"one": die}, until=0.05, scheduler=scheduler)
    assert study["one"][0] == study["one"][2] == 1.0 and math.isnan(study["one"][1])
    assert study["reason"] == ["", "the process that ran it ended", ""]


# ------------------------------------------------------------------------------------------------ command line


def test_the_command_writes_the_table_and_refuses_in_a_sentence(ball, tmp_path, capsys):
    out = tmp_path / "study.csv"

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            cli.main(["sweep", str(ball), "--workers", "0", "--until", "0.1", *map(str, arguments)])
        return end.value.code, capsys.readouterr()

    status, said = command("--vary", "restitution=0:1:3", "--out", out, "--set", "friction=0.1")
    assert status == 0 and "3 runs, 0 of them failed" in said.out and len(out.read_text().splitlines()) == 4
    for wrong, words in ((("--vary", "restitutoin=0:1:3", "--out", tmp_path / "a.csv"), "'restitutoin'"),
                         (("--vary", "restitution", "--out", tmp_path / "a.csv"), "NAME=VALUES"),
                         (("--vary", "restitution=0:1:3", "--out", tmp_path / "a.xlsx"), ".csv or .parquet"),
                         (("--vary", "friction=0:1:1000000", "--vary", "restitution=0:1:1000", "--out",
                           tmp_path / "a.csv"), "1,000,000,000 runs"),
                         (("--vary", "restitution=0:1:3", "--out", out), "exists")):
        status, said = command(*wrong)
        assert status == 2 and words in said.err and "Traceback" not in said.err and said.err.count("\n") == 1
    assert not (tmp_path / "a.csv").exists() and not (tmp_path / "a.csv.part").exists()


def test_without_dask_the_extra_is_named(ball, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(sweeping.NoDask, match=r"pip install 'contactlab\[study\]'"):
        sweep(ball, {"restitution": [0.1]}, until=0.1)
