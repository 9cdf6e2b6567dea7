"""The window opened by a script, on a virtual screen; controls and curves of a script in the panels."""

import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import replace

import fakes
import numpy as np
import pytest
from probe import Probe
from test_window_xvfb import PATIENCE, display  # noqa: F401  (a fixture)

import contactlab
from contactlab.app.figure import as_csv
from contactlab.app.lab import Engine
from contactlab.app.opening import CannotOpen
from contactlab.app.panels import lower, style
from contactlab.app.panels import script as script_panel
from contactlab.app.panels.script import draw_curves, draw_script
from contactlab.app.scripts import remote
from contactlab.app.ui_state import UiState
from contactlab.app.view.camera import Camera
from contactlab.app.view.overlays import build
from contactlab.physics.run.messages import OpenScript, SetControl
from contactlab.physics.run.script import Panel

SCRIPT = """
import contactlab, sys
sim = contactlab.Simulation(contactlab.Scene.from_dict({"body": [
    {"name": "ball", "position": [0, 0, 1], "shape": [{"type": "sphere", "radius": 0.1}]}]}))
panel = contactlab.Panel()
panel.slider("gain", 0, 10)
calls = []
def step(sim):
    calls.append(sim.step_count)
    panel.plot("height", sim.body("ball").position[2], unit="m")
    sim.body("ball").apply_force((0.0, 0.0, 9.81 * sim.body("ball").mass))
    if len(calls) == 30:
        print("runs", flush=True)
for _ in range(2):
    calls.clear()
    contactlab.view(sim, step, panel)
    print("closed", sim.step_count == calls[-1] + 1, sim.position("ball")[2] == 1.0, sim.controller, flush=True)
"""


@pytest.fixture
def script(display, tmp_path):  # noqa: F811
    """The script in a process of its own."""
    environment = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_SESSION_TYPE": "x11",
                   "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    yield process, environment
    process.kill()
    process.communicate()


def hear(process, word):
    """Wait for a line that begins so."""
    line = process.stdout.readline()
    assert line.startswith(word), (line, process.stderr.read() if process.poll() is not None else "")
    return line


def test_a_script_opens_the_window_twice_and_goes_on_when_it_is_closed(script):
    """The weight of the ball is carried by the script: after any number of steps it is where it was, exactly."""
    process, environment = script
    for _ in range(2):
        hear(process, "runs")
        end = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < end:
            subprocess.run(["xdotool", "search", "--name", "Contactlab", "windowfocus", "key", "ctrl+q"],
                           env=environment, capture_output=True)
            time.sleep(1.0)
            if select.select([process.stdout], [], [], 0.0)[0]:
                break
        assert hear(process, "closed") == "closed True True None\n"
    assert process.wait(PATIENCE) == 0


def test_a_signal_ends_the_script_as_it_ends_any(script):
    process, _ = script
    hear(process, "runs")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0 and said.rstrip().endswith("KeyboardInterrupt")


# ------------------------------------------------------------------------------------------------ panels


@pytest.fixture
def probed(monkeypatch):
    """A panel drawn without a window; each ends the one before."""
    made = []

    def probe(draw, rect=(0.0, 0.0, 300.0, 600.0)):
        def framed(ui):
            with style.panel("probe", rect):
                draw(ui)

        for before in made:
            before.gui.release()
        made[:] = [Probe(monkeypatch, framed, UiState())]
        return made[0]

    yield probe
    for last in made:
        last.gui.release()


def shown(runs=True):
    panel = Panel()
    panel.slider("gain", 0, 10, 5)
    panel.checkbox("on")
    panel.choice("law", ["P", "PD"])
    panel.button("kick")
    for k in range(10):
        panel.begin(0.1 * k)
        panel.plot("angle", float(k), "rad")
        if k > 4:
            panel.plot("torque", -float(k), "N m")
        panel.text("phase", "up")
        panel.arrow((0.0, 0.0, 1.0), (0.5, 0.0, 0.0), "push")
        panel.mark((0.0, 0.0, 2.0))
    return replace(fakes.snapshot(), script=panel.shown(runs))


def test_the_controls_of_a_script_send_what_the_user_does(probed):
    snapshot, sent = shown(), []
    probe = probed(lambda ui: draw_script(ui, snapshot.script, sent.append))
    probe.click("on##script_on")
    probe.click("kick##script_kick")
    probe.click("##script_gain", 0.9)
    assert SetControl("on", True) in sent and SetControl("kick", True) in sent
    gain = [c.value for c in sent if isinstance(c, SetControl) and c.name == "gain"]
    assert gain and 5.0 < gain[-1] <= 10.0


def test_what_a_script_costs_stands_beside_its_controls(probed, monkeypatch):
    told = []
    monkeypatch.setattr(script_panel, "value_row", lambda ui, name, value: told.append((name, value)))
    snapshot = shown()
    probed(lambda ui: draw_script(ui, snapshot.script._replace(seconds=3.5e-5), lambda _: None))
    assert ("The script takes, a step", "35 µs") in told


def test_where_another_scene_runs_a_button_leads_back(probed):
    snapshot, sent = shown(runs=False), []
    probed(lambda ui: draw_script(ui, snapshot.script, sent.append)).click("Back to the script's scene")
    assert sent == [OpenScript()]


def test_only_a_script_has_the_tab_script(probed):
    tab = lower.TABS["script"]
    assert tab.there(shown()) and not tab.there(fakes.snapshot())
    wide, save = (0.0, 0.0, 800.0, 300.0), "\uf0c7  Save##save_curves"
    assert save in probed(lambda ui: draw_curves(ui, shown(), print), wide).drawn()
    assert save not in probed(lambda ui: draw_curves(ui, fakes.snapshot(), print), wide).drawn()


def test_curves_that_begin_at_other_times_share_one_column_of_time():
    angle, torque = shown().script.curves
    rows = as_csv({"angle": angle.points, "torque": torque.points}).splitlines()
    assert rows[0] == "t [s],angle,torque" and len(rows) == 11
    assert rows[1] == "0.0,0.0," and rows[10].split(",")[1:] == ["9.0", "-9.0"]


def test_arrows_of_a_script_are_drawn_where_it_says():
    snapshot = shown()
    with_them = build(snapshot, UiState().view, Camera(), (640, 480))
    without = build(replace(snapshot, script=None), UiState().view, Camera(), (640, 480))
    (arrow,) = with_them.strokes[len(without.strokes):]
    assert np.array_equal(arrow[:6], [0.0, 0.0, 1.0, 0.5, 0.0, 1.0])
    assert len(with_them.marks) == len(without.marks) + 1
    assert [label.text for label in with_them.labels[len(without.labels):]] == ["push"]


# ------------------------------------------------------------------------------------------------ the package


def test_the_package_has_its_public_names_and_loads_no_window():
    assert set(contactlab.__all__) == set(contactlab.PLACES) <= set(dir(contactlab))
    for name in contactlab.__all__:
        assert getattr(contactlab, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'vieW'"):
        _ = contactlab.vieW
    code = ("import sys, contactlab; contactlab.Simulation, contactlab.load, contactlab.view, contactlab.Panel;"
            "print([m for m in ('pyglet', 'moderngl', 'imgui_bundle') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
    with pytest.raises(CannotOpen, match="nowhere"):
        contactlab.load("nowhere.toml")
    assert contactlab.load("dice").name == "dice"


def test_python_m_contactlab_is_the_program():
    done = subprocess.run([sys.executable, "-m", "contactlab", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("contactlab ")


# ------------------------------------------------------------------------------------------------ own process


def test_the_other_process_has_all_that_the_app_asks_of_an_engine():
    assert {name for name in dir(Engine) if not name.startswith("_")} <= set(dir(remote.RemoteEngine(None)))


LOOP = """
import contactlab
sim = contactlab.Simulation(contactlab.Scene.from_dict({"body": [
    {"name": "ball", "position": [0, 0, 1], "shape": [{"type": "sphere", "radius": 0.1}]}]}))
with contactlab.launch(sim, own_loop=True) as window:
    steps = 0
    while steps < 60 and window.step():
        steps += 1
        sim.body("ball").apply_force((0.0, 0.0, 9.81 * sim.body("ball").mass))
        window.panel.plot("height", sim.position("ball")[2])
    print("made", steps, sim.step_count - steps, window.is_open, flush=True)
    while window.step():
        pass
    print("closed", window.is_open, flush=True)
print("after", sim.controller, flush=True)
before = sim.step_count
second = contactlab.launch(sim, lambda sim: None)
print("back", flush=True)
while sim.step_count < before + 20:
    pass
second.close()
stands = sim.step_count
sim.step()
print("ends", sim.step_count - stands, flush=True)
"""


def test_an_own_loop_makes_the_steps_and_a_prompt_goes_on_while_the_window_is_open(display, tmp_path):  # noqa: F811
    """60 calls make 60 steps: the first one is the one that the physics thread stands before."""
    environment = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_SESSION_TYPE": "x11",
                   "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    process = subprocess.Popen([sys.executable, "-c", LOOP], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert hear(process, "made") == "made 60 0 True\n"
        end = time.monotonic() + PATIENCE
        while not select.select([process.stdout], [], [], 1.0)[0] and time.monotonic() < end:
            subprocess.run(["xdotool", "search", "--name", "Contactlab", "windowfocus", "key", "ctrl+q"],
                           env=environment, capture_output=True)
        assert hear(process, "closed") == "closed False\n"
        assert hear(process, "after") == "after None\n"
        assert hear(process, "back") == "back\n"
        assert hear(process, "ends") == "ends 1\n"
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


def test_what_goes_to_the_other_process_comes_out_the_same_and_the_model_goes_once():
    packer, unpacker = remote._Packer(), remote._Unpacker()
    first = shown()
    packed = packer.pack(first)
    again = packer.pack(replace(first, t=2.0))
    assert len(again[1]) <= len(packed[1]) + 100 and len(packed[0]) == 2 and again[0] == {}
    one, two = unpacker.unpack(packed), unpacker.unpack(again)
    assert two.model is one.model and two.t == 2.0 and np.array_equal(one.x, first.x)
    assert one.script.controls == first.script.controls and one.labels.bodies == first.labels.bodies
