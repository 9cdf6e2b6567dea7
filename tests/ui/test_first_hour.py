"""The first hour of a teacher: an experiment is made from nothing in the real window, saved, closed and run again."""

import json

import fakes
import pytest
from probe import Probe
from test_window_xvfb import SEEN, App, screen

from contactlab.app.panels.layout import draw_ui
from contactlab.app.report import bits_of
from contactlab.app.ui_state import Question, UiState
from contactlab.physics.scene import edits
from contactlab.physics.scene.document import Document
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation

HEIGHT = 1500       # of the window: all fields of a body can be seen at once
FLOOR = (600, 1000)  # in the view, where an empty scene shows its floor
ASIDE = (400, 900)
BEHIND = (800, 700)


@pytest.fixture
def display():
    yield from screen(HEIGHT)


class Hands:
    """Presses what the panels of the workbench show. The draft that the program keeps tells what has become of it, and
    the same panels, drawn without a window, where things are."""

    def __init__(self, app, monkeypatch):
        self.app, self.seen = app, edits.NEW
        self.probe = Probe(monkeypatch, lambda ui: draw_ui(ui, fakes.snapshot(0), lambda command: None), UiState(),
                           (1280, HEIGHT))

    def text(self):
        for draft in (self.app.folder / "state" / "contactlab" / "drafts").glob("*/draft.json"):
            return json.loads(draft.read_text())["text"]
        return edits.NEW

    def wait(self, condition):
        """The text, once it is other than before and fulfils the condition."""
        self.app.until(lambda: self.text() != self.seen and condition(Document(self.text())))
        self.seen = self.text()
        return Document(self.seen)

    def press(self, label, *chosen):
        """Click a widget as it is while these tables are chosen."""
        probe, ui = self.probe, UiState()
        ui.bold, probe.ui = probe.gui.bold, ui
        ui.workbench.begin(self.text(), None, None)
        ui.workbench.on, ui.workbench.chosen = True, chosen
        while ui.workbench.pending:
            ui.workbench.check()
        probe.rects.clear()
        probe.frame(3)
        lo, hi = probe.rects[label]
        self.app.click((0.5 * (lo.x + hi.x), 0.5 * (lo.y + hi.y)))

    def write(self, label, value, *chosen):
        before = self.text()
        self.press(label, *chosen)
        self.app.do("type", "--delay", "60", value)  # what is there is selected, and so replaced
        self.app.do("key", "Return")
        self.app.until(lambda: self.text() != before)

    def put(self, kind, place):
        """Add a body and put it down under a point of the view."""
        count = len(Document(self.text()).data["body"])
        self.press(f"{kind.capitalize()}##add")
        self.wait(lambda d: len(d.data["body"]) == count + 1)
        self.app.do("mousemove", *place)
        self.app.frames(SEEN)
        self.app.click((place[0] + 1, place[1] + 1))
        self.wait(lambda d: d.get(("body", count, "position")) != [0.0, 0.0, 0.0])
        return ("body", count)


def states(app):
    """Step -> hash of the state of the scene that was made, as the log tells it."""
    return {line["step"]: line["bits"] for line in app.lines("state") if line["title"] == "New scene"}


def test_a_ramp_a_ball_a_box_and_a_pendulum_are_made_undone_saved_and_run_with_the_same_bits(
    display, tmp_path, monkeypatch
):
    app = App(tmp_path, display, height=HEIGHT)
    try:
        hands = Hands(app, monkeypatch)
        app.key("ctrl+n")
        app.wait(lambda s: s["title"] == "New scene")
        ramp = hands.put("box", FLOOR)
        for label, value in (("size 0", "2"), ("size 1", "1"), ("size 2", "0.1")):
            hands.write(f"##body[1].shape[0].{label}", value, ramp)
        hands.write("##body[1].position 2", "0.5", ramp)
        hands.write("##body[1].euler 1", "20", ramp)
        hands.press("##body[1].fixed", ramp)
        hands.wait(lambda d: d.get((*ramp, "fixed")) is True)
        ball = hands.put("sphere", FLOOR)
        hands.write("##body[2].mass", "1.5", ball)
        box = hands.put("box", ASIDE)
        hands.write("##body[3].mass", "0.75", box)
        bob = hands.put("sphere", BEHIND)
        hands.write("##body[4].position 2", "1", bob)
        hands.wait(lambda d: d.get((*bob, "position"))[2] == 1)
        hands.press("Ball##join", bob)
        hands.write("##joint[0].anchor 2", "2", ("joint", 0))
        made = hands.wait(lambda d: d.get(("joint", 0, "anchor")) is not None and d.get(("joint", 0, "anchor"))[2] == 2)
        assert [b.get("mass") for b in made.data["body"]] == [None, None, 1.5, 0.75, None]
        assert made.get((*ramp, "shape", 0, "size")) == [2, 1, 0.1] and made.get((*ramp, "euler")) == [0.0, 20, 0.0]
        for _ in range(10):
            app.key("ctrl+z")
        hands.wait(lambda d: "joint" not in d.data and len(d.data["body"]) < 5)
        for _ in range(10):
            app.key("ctrl+shift+z")
        assert hands.wait(lambda d: "joint" in d.data and d.get(("joint", 0, "anchor"))[2] == 2).text == made.text

        file = tmp_path / "first.toml"
        app.key("ctrl+s")
        app.frames(SEEN)
        app.key("ctrl+a")
        app.frames(SEEN)
        app.do("type", "--delay", "30", str(file))
        app.key("Return")
        app.until(file.exists)
        assert file.read_text() == made.text
        app.frames(SEEN)  # until the box of the file has gone
        app.key("space")
        app.wait(lambda s: not s["paused"] and s["step"] > 60)
        app.until(lambda: len(states(app)) > 8)  # however few a busy machine writes in a second
        app.key("ctrl+q")
        assert app.process.wait(20) == 0
        seen = states(app)
        sim = Simulation(Scene.load(file))
        compared = 0
        for step in range(1, max(seen) + 1):
            sim.step()
            if step in seen:
                compared += 1
                assert bits_of(sim.state.bodies) == seen[step], step
        assert compared > 5
    finally:
        app.stop()


def test_work_that_was_killed_while_editing_is_offered_by_the_next_start(display, tmp_path, monkeypatch):
    app = App(tmp_path, display, height=HEIGHT)
    try:
        hands = Hands(app, monkeypatch)
        app.key("ctrl+n")
        app.wait(lambda s: s["title"] == "New scene")
        hands.put("box", FLOOR)
        text = hands.text()
        app.process.kill()
        app.process.wait()
    finally:
        app.stop()
    app = App(tmp_path, display, height=HEIGHT)
    try:
        ui = UiState()
        told = "New scene: the program ended before it was saved, on 23 November 2026, 04:51."
        ui.question = Question("Unsaved work was found", told, (("Go on with it", None), ("Discard it", None)))
        probe = Probe(monkeypatch, lambda ui: draw_ui(ui, fakes.snapshot(0), lambda command: None), ui)
        probe.gui.resize((1280, HEIGHT), (1280, HEIGHT))
        probe.frame(3)
        lo, hi = probe.rects["Go on with it##question"]
        probe.gui.release()
        monkeypatch.undo()
        app.click((0.5 * (lo.x + hi.x), 0.5 * (lo.y + hi.y)))
        app.wait(lambda s: s["title"] == "New scene" and "box" in s["positions"])
        assert Hands(app, monkeypatch).text() == text
    finally:
        app.stop()
