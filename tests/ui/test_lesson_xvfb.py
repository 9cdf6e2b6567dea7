"""Lessons in the real window on a virtual screen: keys turn the pages, answers are typed and drawn with the mouse, and
the file of answers says what the runs said; then every lesson is played through."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from test_window_xvfb import COUNTED, SEEN, App, screen

from contactlab.app.opening import opened
from contactlab.assets import lessons
from contactlab.physics.lesson.answers import AnswerFile
from contactlab.physics.lesson.play import play
from contactlab.physics.lesson.questions import POINTS

START = (
    "import sys; from pathlib import Path\n"
    "from pupil import Pupil\n"
    "Pupil(Path(sys.argv[3])).attend()\n"
    "from contactlab.app.window.program import open_window\n"
    "from contactlab.app.opening import opened\n"
    "from contactlab.assets import lessons\n"
    "lesson = opened(lessons()['bounce']).content\n"
    "open_window(lesson.runs[0].scene, {}, Path(sys.argv[1]), Path(sys.argv[2]), lesson=lesson)\n"
    "import os; sys.stdout.flush(); os._exit(0)\n"
)


class LessonApp(App):
    """The program with a lesson open, of a student with a name, and a pupil who looks on."""

    def __init__(self, folder, display):
        self.folder, self.log, self.preferences = folder, folder / "log.jsonl", folder / "settings.json"
        self.preferences.write_text(json.dumps(
            {"record_folder": str(folder), "width": 1280, "height": 800, "student": "Ada", "language": "en"}))
        self.environment = {**os.environ, "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_SESSION_TYPE": "x11",
                            "XDG_STATE_HOME": str(folder / "state"), "FRAMES": str(folder / "frames"),
                            "PYTHONPATH": os.path.dirname(__file__)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", COUNTED + START, str(self.log), str(self.preferences), str(folder)],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )

    @property
    def status(self):
        path = self.folder / "status.json"
        return json.loads(path.read_text()) if path.exists() else {"number": -1, "shown": False}

    def on_step(self, number):
        """Wait until a step, from 1, is on the screen with its run."""
        self.until(lambda: self.status["shown"] and self.status["number"] == number - 1)
        self.frames(SEEN)

    def place(self, label):
        self.until(lambda: label in self.status["rects"])
        return self.status["rects"][label]

    def answers(self, key="bounce"):
        path = self.folder / "answers" / f"Ada_{key}.answers.json"
        return AnswerFile.load(path).answers if path.exists() else ()


@pytest.fixture
def app(tmp_path):
    for display in screen(800):
        made = LessonApp(tmp_path, display)
        yield made
        made.stop()


def answer_in(app, label, text, count):
    """Type a number into the field of this label, and wait for the run to have answered so many questions."""
    app.click(app.place(label))
    app.do("type", "--delay", "30", text)
    app.key("Return")
    app.until(lambda: len(app.answers()) == count)


def test_every_lesson_is_played_through(app):
    """Two steps with keys and mouse of the screen; all steps of all lessons with events of the window. What is noted of
    a run is what the same run says without a window."""
    lesson = opened(lessons()["bounce"]).content
    app.on_step(1)
    app.key("Next")
    app.on_step(2)
    app.key("space")
    app.frames(SEEN)
    assert not app.answers()  # Play does nothing before the prediction
    answer_in(app, "m##lesson_number", "0.56", 1)
    app.key("Next")
    app.on_step(3)
    x, y, w, h = app.status["plot"]
    question, heights = lesson.steps[2].question, play(lesson, 2).values.values()
    points = [(x + w * k / (POINTS - 1), y + h * (question.high - z) / (question.high - question.low))
              for k, z in enumerate(heights)]
    app.do("mousemove", *np.round(points[0]).astype(int))
    app.frames(SEEN)
    app.do("mousedown", 1)
    for place in points:
        app.do("mousemove", *np.round(place).astype(int))
        app.frames(1)
    app.do("mouseup", 1)
    app.click(app.place("\uf04b  Predict, and run##lesson_predict"))
    app.until(lambda: len(app.answers()) == 2)
    app.key("shift+F11")
    app.until(lambda: app.status["presenting"])
    app.key("shift+F11")
    app.until(lambda: not app.status["presenting"])
    assert [(a.step, a.kind, a.right) for a in app.answers()] == [(2, "number", True), (3, "sketch", True)]

    (app.folder / "go").touch()
    doing, written = app.folder / "doing", app.folder / "played.json"
    doing.touch()
    while not written.exists():
        last = doing.read_text()
        try:  # each action of the pupil has its time: how long all of them take is the machine's affair
            app.until(lambda last=last: written.exists() or doing.read_text() != last)
        except AssertionError:
            pytest.fail(f"the pupil does not get on: {last}")
    played = json.loads(written.read_text())
    all_steps = {key: opened(path).content.steps for key, path in lessons().items()}
    assert [(p["lesson"], p["step"], p["asked"]) for p in played] == [
        (key, n, step.question is not None) for key, steps in all_steps.items() for n, step in enumerate(steps, 1)]
    for p in played:
        step = all_steps[p["lesson"]][p["step"] - 1]
        assert not p["trouble"] and not p["failures"], p
        assert bool(p["answer"]) == p["asked"] and (step.until is None or abs(p["t"] - step.until) < 0.01), p
    noted = {(key, a.step): a.answer for key in all_steps for a in app.answers(key)}
    assert noted == {(p["lesson"], p["step"]): p["answer"] for p in played if p["asked"]}
    app.stop()
    kept = json.loads(app.preferences.read_text())
    assert kept["lessons"] == {key: len(steps) - 1 for key, steps in all_steps.items()}
    assert kept["lower"] is True and kept["lower_tab"] == "contacts"
