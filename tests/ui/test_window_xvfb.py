"""The real window on a virtual screen, driven from outside with xdotool; what happens is read from the app's log."""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import av
import fakes
import numpy as np
import pytest
from file_drop import drop_file
from PIL import Image
from probe import Probe

from contactlab.app.panels.layout import draw_ui
from contactlab.app.ui_state import UiState
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

PATIENCE = 90.0  # [s] of processor time that the program may take until something happens; the first start compiles
LONGEST = 400.0  # [s] however little of the processor the program gets
HOVERED = 3  # frames after which a panel knows that the mouse is over it
SEEN = 6  # frames after which what was done on the screen is in the panels: a press, a release, what both lead to
SCENE = """
[scene]
title = "One box"
[solver]
h = 0.004166666666666667
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "box"
position = [0, 0, 0.25]
density = 500
[[body.shape]]
type = "box"
size = [0.5, 0.5, 0.5]
"""
COUNTED = (  # how many frames were drawn, in a file
    "import os\n"
    "import contactlab.app.window.window as window\n"
    "drawn, number, file = window.draw_ui, 0, os.open(os.environ['FRAMES'], os.O_CREAT | os.O_RDWR)\n"
    "def draw_ui(*args):\n"
    "    global number\n"
    "    drawn(*args)\n"
    "    number += 1\n"
    "    os.pwrite(file, b'%09d' % number, 0)\n"
    "window.draw_ui = draw_ui\n"
)
START = (
    "import sys; from pathlib import Path\n"
    "from contactlab.app.window.program import open_window\n"
    "from contactlab.physics import open_file\n"
    "open_window(open_file(Path(sys.argv[1])), {}, Path(sys.argv[2]), Path(sys.argv[3]))\n"
    "import os; sys.stdout.flush(); os._exit(0)\n"  # at once, as `program.program` ends: a kernel may still be at work
)


FAULT = (  # a panel that fails once, in the middle of a window
    "import contactlab.app.window.window as window\n"
    "from imgui_bundle import imgui\n"
    "whole = window.draw_ui\n"
    "def draw_ui(ui, snapshot, send):\n"
    "    whole(ui, snapshot, send)\n"
    "    if snapshot is not None and snapshot.t > 0.3:\n"
    "        window.draw_ui = whole\n"
    "        imgui.begin('broken')\n"
    "        raise KeyError('a mistake of ours')\n"
    "window.draw_ui = draw_ui\n"
)


STORM = FAULT.replace("        window.draw_ui = whole\n", "")  # ... that fails for good
CLOSED = (  # the view and a panel that fail for good
    "import contactlab.app.panels.layout as layout\n"
    "from contactlab.app.panels.split import Split\n"
    "def fail(*_):\n"
    "    raise KeyError('a mistake of ours')\n"
    "layout.draw_parameters = Split.render = fail\n"
)


class App:
    """The program in a process of its own, on a screen of its own."""

    def __init__(self, folder, display, before="", height=800, **preferred):
        self.folder, self.log = folder, folder / "log.jsonl"
        (folder / "box.toml").write_text(SCENE)
        preferences = folder / "settings.json"
        preferences.write_text(json.dumps({"record_folder": str(folder / "videos"), "width": 1280, "height": height,
                                           "toured": True, **preferred}))
        self.environment = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_SESSION_TYPE": "x11",
                            "XDG_STATE_HOME": str(folder / "state"), "FRAMES": str(folder / "frames")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", before + COUNTED + START, str(folder / "box.toml"), str(self.log), str(preferences)],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.wait(lambda s: s["t"] > 0.0)

    def lines(self, kind):
        if not self.log.exists():
            return []
        whole = self.log.read_text().split("\n")[:-1]
        return [line for line in map(json.loads, whole) if line["kind"] == kind]

    def wait(self, condition, kind="state"):
        """The first line of the log from now on that fulfils the condition."""
        start = max(len(self.lines(kind)) - 1, 0)
        patient = self.patience()
        while True:
            for line in self.lines(kind)[start:]:
                if condition(line):
                    return line
            assert patient(), f"not seen; last: {self.lines(kind)[-1:]}"
            time.sleep(0.05)

    def until(self, condition):
        """Wait until something is so."""
        patient = self.patience()
        while not condition():
            assert patient(), "not so"
            time.sleep(0.01)

    def patience(self):
        """A function that tells whether to wait longer, from now on: a machine that has other things to do as well is
        no reason to stop. Raises where the program has ended."""
        began, spent = time.monotonic(), self.spent()

        def patient():
            assert self.process.poll() is None, self.process.stdout.read()
            waited = time.monotonic() - began
            return waited < PATIENCE or (waited < LONGEST and self.spent() - spent < PATIENCE)

        return patient

    def spent(self):
        """Processor time of the program [s]."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def frames(self, count):
        """Wait until the window has drawn so many frames more: what was done on the screen before is seen."""
        number = self.folder / "frames"
        last = int(number.read_bytes()) + count
        self.until(lambda: int(number.read_bytes()) >= last)

    def do(self, *arguments):
        subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True)

    def ask(self, *arguments):
        command = ["xdotool", *arguments]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def key(self, *names):
        """F11 and F12 by their codes: with xkb-data 2.48 xdotool holds Alt for the symbols."""
        self.do("key", "--delay", "60", *(name.replace("F11", "95").replace("F12", "96") for name in names))

    def click(self, place):
        """A click of the left button."""
        self.do("mousemove", *(round(v) for v in place))
        self.frames(HOVERED)
        self.do("click", 1)
        self.frames(SEEN)

    def drag(self, start, end):
        """Press the left button at one place and release it at the other, in steps a hand would make."""
        self.do("mousemove", *start)
        time.sleep(0.15)
        self.do("mousedown", 1)
        time.sleep(0.1)
        for share in np.linspace(0.0, 1.0, 8):
            self.do("mousemove", *(round(a + share * (b - a)) for a, b in zip(start, end, strict=True)))
            time.sleep(0.04)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)


@pytest.fixture(scope="module")
def display():
    """A virtual screen that lives as long as the module."""
    yield from screen(800)


def screen(height):
    """A virtual screen."""
    assert shutil.which("Xvfb") and shutil.which("xdotool"), "install xvfb and xdotool"
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", f"1280x{height}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=(write,), stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as answer:  # kept open: the server writes the number and the end of the line apart
        yield f":{answer.readline().strip()}"
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def app(display, tmp_path_factory):
    made = App(tmp_path_factory.mktemp("app"), display)
    yield made
    made.stop()


VIEW = (612, 280)  # in the middle of the view at 1280 x 800, on the box


def test_dragging_a_body_pulls_it_along_and_its_momentum_follows(app):
    app.key("BackSpace")
    before = app.wait(lambda s: s["grabbed"] is None)["positions"]["box"]
    app.drag(VIEW, (VIEW[0] + 150, VIEW[1] - 60))
    grabbed = app.wait(
        lambda s: s["grabbed"] == "box" and np.linalg.norm(np.subtract(s["positions"]["box"], before)) > 0.06
    )
    assert grabbed["positions"]["box"][2] > 0.24  # pulled to the side and up, not through the floor
    app.do("mouseup", 1)
    app.wait(lambda s: s["grabbed"] is None)
    sent = [line["command"] for line in app.lines("command")]
    assert sent.index("Grab") < sent.index("Release")


@pytest.fixture
def slider(monkeypatch):
    """Where the slider of e is in a window of 1280 x 800: left, right and middle height. The same panels drawn without
    a window tell it."""
    sim = Simulation(Scene.from_dict(tomllib.loads(SCENE)))
    snapshot = fakes.snapshot(0, model=sim.model, labels=sim.labels, settings=sim.settings, x=sim.state.bodies.x,
                              q=sim.state.bodies.q)
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, snapshot, lambda command: None), UiState())
    lo, hi = probe.rects["##restitution"]
    yield lo.x, hi.x, 0.5 * (lo.y + hi.y)
    probe.gui.release()


@pytest.mark.parametrize("share", [0.25, 0.8])
def test_one_click_on_the_slider_sets_e_to_the_share_of_its_length(app, slider, share):
    left, right, y = slider
    before = len(app.lines("command"))
    app.do("mousemove", round(left + share * (right - left)), round(y))
    time.sleep(0.3)
    app.do("click", 1)
    state = app.wait(lambda s: s["settings"]["restitution"] == pytest.approx(share, abs=0.03))
    sent = [line for line in app.lines("command")[before:] if line["command"] == "Set"]
    assert {line["name"] for line in sent} == {"restitution"}
    assert sent[-1]["value"] == state["settings"]["restitution"]


def test_keys_pause_step_and_play(app):
    app.key("space")
    paused = app.wait(lambda s: s["paused"])
    app.key("period")
    ahead = app.wait(lambda s: s["paused"] and s["step"] == paused["step"] + 1)
    app.key("comma")
    back = app.wait(lambda s: s["paused"] and s["step"] == paused["step"])
    assert back["t"] == paused["t"] < ahead["t"]
    assert back["positions"] == paused["positions"]  # exactly
    app.key("space")
    app.wait(lambda s: not s["paused"])


def test_a_mesh_typed_into_the_palette_becomes_a_body_on_a_plane(app):
    path = app.folder / "die.stl"
    path.write_bytes(stl_of_a_tetrahedron())
    app.key("ctrl+p")
    app.do("type", "--delay", "15", str(path))
    app.wait(lambda line: line["command"] == "palette", "request")
    time.sleep(1.0)  # the letters are in the box before Return closes it
    app.key("Return")
    state = app.wait(lambda s: "die" in s["scene"])
    assert len(state["positions"]) == 2 and state["error"] is None
    fallen = app.wait(lambda s: "die" in s["scene"] and s["t"] > 0.3)
    assert fallen["contacts"] > 0


@pytest.mark.parametrize("more_types", [0, 5])
def test_a_mesh_dropped_on_the_window_becomes_a_body(app, more_types):
    """As from a program that offers the file's name alone, and from a file manager that offers it in many ways."""
    name = f"dropped {more_types}"
    path = app.folder / f"{name}.stl"
    path.write_bytes(stl_of_a_tetrahedron())
    window = int(app.ask("search", "--onlyvisible", "--name", "Contactlab").split()[0])
    drop_file(app.environment["DISPLAY"], window, VIEW, path, more_types)
    state = app.wait(lambda s: name in s["scene"])
    assert len(state["positions"]) == 2 and state["error"] is None


def test_a_bad_file_shows_a_message_and_the_scene_keeps_running(app):
    bad = app.folder / "bad.toml"
    bad.write_text("[scene]\ntitle = 3\n")
    app.key("ctrl+p")
    app.do("type", "--delay", "15", str(bad))
    time.sleep(1.0)
    app.key("Return")
    shown = app.wait(lambda s: "bad.toml" in s["message"])
    later = app.wait(lambda s: s["t"] > shown["t"] and s["scene"] == shown["scene"])
    assert not later["paused"] and later["error"] is None
    assert "scene.title" in later["message"]
    app.key("Escape")
    app.wait(lambda s: s["message"] == "")


def test_a_video_and_a_picture_have_the_size_that_is_chosen_and_show_the_box(tmp_path, display):
    """In a window of 1280 × 800, whose view is smaller: the box, blue on grey, is in the middle of every frame, and the
    window goes on."""
    app = App(tmp_path, display, record_size="1920x1080")
    try:
        app.key("v")
        start, instants = app.wait(lambda line: True, "recording"), set()
        app.wait(lambda s: s["recording"] is not None and (instants.add(s["t"]) or len(instants) > 8))  # of frames
        app.key("F12")
        app.key("v")
        end = app.wait(lambda line: line["path"] == start["path"], "recorded")
        app.until(lambda: list((tmp_path / "videos").glob("*.png")))
    finally:
        app.stop()
    with av.open(start["path"]) as file:
        frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]
    assert len(frames) == end["frames"] > 5 and {frame.shape for frame in frames} == {(1080, 1920, 3)}
    for frame in (frames[0], frames[-1]):
        middle = frame[480:600, 900:1020].astype(int)
        assert (middle[..., 2] - middle[..., 0]).mean() > 30  # blue, as the first body is
    (picture,) = (tmp_path / "videos").glob("*.png")
    with Image.open(picture) as image:
        assert image.size == (1920, 1080)


def test_v_records_a_video_of_two_seconds(app):
    app.key("v")
    app.wait(lambda s: s["recording"] is not None)
    start = app.wait(lambda line: True, "recording")
    begun = app.lines("state")[-1]["t"]
    app.wait(lambda s: s["t"] > begun + 2.0)
    app.key("v")
    end = app.wait(lambda line: line["path"] == start["path"], "recorded")
    with av.open(end["path"]) as file:
        stream = file.streams.video[0]
        pictures = [f.to_ndarray(format="rgb24") for f in file.decode(stream)]
        assert stream.codec_context.name == "h264" and stream.codec_context.pix_fmt == "yuv420p"
        assert stream.average_rate == 60 and len(pictures) == end["frames"]
    # the view alone, and simulated time: at most a few frames go by between the keys and their effects
    assert pictures[0].shape[0] % 2 == pictures[0].shape[1] % 2 == 0 and pictures[0].shape[1] < 1280
    assert 110 <= len(pictures) <= 240
    assert len({p.tobytes() for p in pictures}) > 2
    app.wait(lambda s: not s["paused"] and s["recording"] is None)  # and time goes on by itself


def test_f12_saves_a_picture(app):
    app.key("F12")
    deadline = time.monotonic() + PATIENCE
    while not (found := sorted((app.folder / "videos").glob("*.png"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    width, height = struct.unpack(">II", found[0].read_bytes()[16:24])
    assert 300 < width < 1280 and 200 < height < 800


def test_an_error_of_the_viewer_pauses_the_run_and_loses_nothing(display, tmp_path):
    app = App(tmp_path, display, FAULT)
    try:
        shown = app.wait(lambda s: "a mistake of ours" in s["message"] and s["paused"])
        app.key("Escape")
        app.wait(lambda s: s["message"] == "")
        app.key("space")
        app.wait(lambda s: s["t"] > shown["t"] and not s["paused"])
        assert "draw_ui" in app.lines("failure")[0]["traceback"]
    finally:
        app.stop()


def test_an_error_that_comes_back_every_frame_ends_nothing_but_by_the_user(display, tmp_path):
    app = App(tmp_path, display, STORM)
    try:
        app.wait(lambda s: "a mistake of ours" in s["message"] and s["paused"])
        time.sleep(3.0)
        assert app.process.poll() is None and len(app.lines("failure")) == 1
        app.key("ctrl+q")
        assert app.process.wait(30) == 0, app.process.stdout.read()
    finally:
        app.stop()


def test_where_the_view_and_a_panel_fail_the_run_goes_on(display, tmp_path):
    app = App(tmp_path, display, CLOSED)
    try:
        later = app.wait(lambda s: s["t"] > 1.0)
        assert not later["paused"] and later["message"] == ""
        assert len(app.lines("failure")) == 2
    finally:
        app.stop()


def test_escape_never_quits_and_ctrl_q_does_and_layout_is_remembered(app):
    app.key("Escape", "Escape", "Escape", "ctrl+t")
    t = app.lines("state")[-1]["t"]
    app.wait(lambda s: s["t"] > t)
    app.key("ctrl+q")
    assert app.process.wait(30) == 0, app.process.stdout.read()
    assert json.loads((app.folder / "settings.json").read_text())["dark"] is False


def stl_of_a_tetrahedron():
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]], "<f4")
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = b"".join(struct.pack("<3f", 0, 0, 0) + corners[list(f)].tobytes() + b"\0\0" for f in faces)
    return b"\0" * 80 + struct.pack("<I", len(faces)) + rows
