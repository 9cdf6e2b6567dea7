"""A whole lesson in the real window on a virtual screen: keys turn its pages, answers are typed and drawn with the
mouse, and the file of answers says what the runs said."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from imgui_bundle import implot
from probe import Probe
from test_lesson_panel import Room
from test_window_xvfb import COUNTED, SEEN, App, screen

from contactlab.app.panels.layout import draw_ui
from contactlab.physics.lesson.answers import AnswerFile
from contactlab.physics.lesson.play import play
from contactlab.physics.lesson.questions import POINTS

START = (
    "import sys; from pathlib import Path\n"
    "from contactlab.app.window.program import open_window\n"
    "from contactlab.app.opening import opened\n"
    "from contactlab.assets import lessons\n"
    "lesson = opened(lessons()['bounce']).content\n"
    "open_window(lesson.runs[0].scene, {}, Path(sys.argv[1]), Path(sys.argv[2]), lesson=lesson)\n"
    "import os; sys.stdout.flush(); os._exit(0)\n"
)


class LessonApp(App):
    """The program with a lesson open, of a student with a name."""

    def __init__(self, folder, display):
        self.folder, self.log, self.preferences = folder, folder / "log.jsonl", folder / "settings.json"
        self.preferences.write_text(json.dumps(
            {"record_folder": str(folder), "width": 1280, "height": 800, "student": "Ada"}))
        self.environment = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_SESSION_TYPE": "x11",
                            "XDG_STATE_HOME": str(folder / "state"), "FRAMES": str(folder / "frames")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", COUNTED + START, str(self.log), str(self.preferences)],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.wait(lambda s: s["paused"] and s["scene"].startswith("bouncing_balls"))

    @property
    def answers(self):
        path = self.folder / "answers" / "Ada_bounce.answers.json"
        return AnswerFile.load(path).answers if path.exists() else ()


@pytest.fixture
def app(tmp_path):
    for display in screen(800):
        made = LessonApp(tmp_path, display)
        yield made
        made.stop()


@pytest.fixture
def places(tmp_path_factory, monkeypatch):
    """Where in a window of 1280 x 800 the fields of a step are: the same panels drawn without a window tell it."""
    room = Room(tmp_path_factory.mktemp("room"))
    room.lab.ui.preferences.student = "Ada"
    plot = {}
    for name in ("get_plot_pos", "get_plot_size"):
        original = getattr(implot, name)
        monkeypatch.setattr(implot, name, lambda name=name, original=original: plot.setdefault(name, original()))
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, room.lab.snapshot, room.lab.send), room.lab.ui)

    def of(number, label):
        room.to(number)
        plot.clear()
        probe.drawn()
        if label == "plot":
            return plot["get_plot_pos"], plot["get_plot_size"]
        lo, hi = probe.rects[label]
        return 0.5 * (lo.x + hi.x), 0.5 * (lo.y + hi.y)

    yield room.lesson, of
    probe.gui.release()


def answer_in(app, place, text, count):
    """Type a number into the field there, and wait for the run to have answered so many questions."""
    app.click(place)
    app.do("type", "--delay", "60", text)
    app.key("Return")
    app.until(lambda: len(app.answers) == count)


def test_a_lesson_is_played_through(app, places):
    lesson, of = places
    app.key("Next")
    time.sleep(1.0)  # its run is opened
    app.key("space")
    app.wait(lambda s: s["message"] == "" and s["t"] == 0.0)  # Play does nothing before the prediction
    answer_in(app, of(1, "m##lesson_number"), "0.56", 1)
    app.key("Next")
    time.sleep(1.0)  # its run is opened
    place, size = of(2, "plot")
    question = lesson.steps[2].question
    heights = list(play(lesson, 2).values.values())
    points = [(place.x + size.x * k / (POINTS - 1),
               place.y + size.y * (question.high - y) / (question.high - question.low)) for k, y in enumerate(heights)]
    app.do("mousemove", *np.round(points[0]).astype(int))
    app.frames(SEEN)
    app.do("mousedown", 1)
    for x, y in points:
        app.do("mousemove", round(x), round(y))
        app.frames(2)
    app.do("mouseup", 1)
    app.click(of(2, "\uf04b  Predict, and run##lesson_predict"))
    app.until(lambda: len(app.answers) == 2)
    app.key("Next")
    time.sleep(1.0)  # its run is opened
    answer_in(app, of(3, "s##lesson_number"), "4.1", 3)
    assert [(a.step, a.kind, a.right) for a in app.answers] == [
        (2, "number", True), (3, "sketch", True), (4, "number", True)]
    app.key("shift+F11")
    app.frames(SEEN)
    app.stop()
    kept = json.loads(app.preferences.read_text())
    assert kept["lessons"] == {"bounce": 3} and kept["lower"] is True and kept["lower_tab"] == "contacts"
