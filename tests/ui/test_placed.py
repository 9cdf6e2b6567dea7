"""Points and arrows that answer a question, placed in the view by the mouse or typed."""

import math

import numpy as np
import pytest
from imgui_bundle import imgui
from probe import Probe
from test_lesson_panel import Room, serve

from contactlab.app import commands
from contactlab.app.panels.layout import draw_ui
from contactlab.app.window.place_mouse import PlaceMouse
from contactlab.physics.lesson.answers import AnswerFile
from contactlab.physics.run import messages as m

SIZE = (800.0, 600.0)


class Marking:
    """A room with a question that is answered in the view, and the mouse there."""

    def __init__(self, folder, key, number):
        self.room = Room(folder, key, number)
        self.course, self.lab = self.room.course, self.room.lab
        self.lab.ui.preferences.student = "Ada"
        self.mouse = PlaceMouse(self.lab, lambda *_: None)
        self.mouse.size = SIZE

    def put(self, point, modifiers=frozenset()):
        """Press where a point of the world is seen, and drag a little way aside and back."""
        (x, y), = self.lab.camera.project(np.array(point), *SIZE)[0]
        self.mouse.press(x + 5, y, "left", modifiers)
        self.mouse.drag(x, y, -5, 0)
        self.mouse.release()


@pytest.fixture
def bounce(tmp_path):
    return Marking(tmp_path, "bounce", 4)


@pytest.fixture
def handle(tmp_path):
    return Marking(tmp_path, "tumbling", 3)


def test_a_point_lies_in_the_plane_of_the_question_under_the_cursor(bounce, tmp_path):
    """To rounding of a ray that meets a plane some metres away."""
    assert bounce.course.places
    bounce.put((1.5, 0.0, 0.3))
    assert bounce.course.draft.placed.point == pytest.approx((1.5, 0.0, 0.3), abs=1e-9)
    assert not bounce.room.sent(m.Grab | m.Try)
    commands.run(bounce.lab, "lesson_predict", bounce.course.draft.placed.given)
    assert bounce.room.sent(m.Try) and not bounce.course.places
    bounce.room.end_of_run(x=2.03, z=0.1)
    assert bounce.course.verdict.error == pytest.approx(math.hypot(0.53, 0.2), abs=1e-9)
    answer, = AnswerFile.load(tmp_path / "answers" / "Ada_bounce.answers.json").answers
    assert (answer.kind, answer.given, answer.value, answer.right) == ("point", "(1.5, 0, 0.3)", None, False)


def test_an_arrow_begins_at_its_body_and_is_judged_by_its_direction(handle):
    start = handle.lab.snapshot.x[0]
    handle.put(start + np.array((0.1, 0.0, 0.1)))
    placed = handle.course.draft.placed
    assert placed.start == pytest.approx(tuple(start)) and placed.given == pytest.approx((0.1, 0.0, 0.1), abs=1e-9)
    commands.run(handle.lab, "lesson_predict", placed.given)
    handle.room.end_of_run(x=0.0, y=0.0, z=0.02)
    assert handle.course.verdict.error == pytest.approx(45.0, abs=1e-6)


def test_shift_turns_the_view_and_places_nothing(bounce):
    before = bounce.lab.camera.azimuth
    bounce.put((1.5, 0.0, 0.3), frozenset({"Shift"}))
    assert bounce.course.draft.placed is None and bounce.lab.camera.azimuth != before


def test_a_cursor_that_does_not_meet_the_plane_places_nothing(handle):
    """Seen from above, along the plane of the drawing; and past the horizon of the floor."""
    handle.lab.camera.look_from(0.0, 0.0)
    handle.mouse.press(SIZE[0] / 2, SIZE[1] / 2, "left", frozenset())
    assert handle.course.draft.placed is None


def drawn(marking, monkeypatch):
    return Probe(monkeypatch, lambda ui: draw_ui(ui, marking.lab.snapshot, marking.lab.send), marking.lab.ui)


def test_without_a_point_the_button_says_what_is_missing(bounce, monkeypatch):
    probe = drawn(bounce, monkeypatch)
    probe.click("\uf04b  Predict, and run##lesson_predict")
    serve(bounce.room)
    assert bounce.course.asks and bounce.lab.ui.notice.text == "The point must be placed in the view."
    probe.gui.release()


def test_after_the_run_the_view_shows_both_and_the_panel_how_far_apart_they_are(handle, monkeypatch):
    handle.put(handle.lab.snapshot.x[0] + np.array((0.1, 0.0, 0.0)))
    probe = drawn(handle, monkeypatch)
    probe.frame()
    assert [(a.name, of_run) for a, of_run in handle.lab.ui.view.answers] == [("yours", False)]
    probe.click("\uf04b  Predict, and run##lesson_predict")
    serve(handle.room)
    handle.room.end_of_run(x=0.0, y=0.0, z=0.02)
    probe.frame()
    (mine, _), (found, of_run) = handle.lab.ui.view.answers
    assert of_run and found.name == "the run's" and found.start == mine.start
    assert np.subtract(found.end, found.start) == pytest.approx((0.0, 0.0, 0.1), abs=1e-9)  # as long as the student's
    assert not handle.lab.ui.failures
    probe.gui.release()


@pytest.mark.parametrize("which", ["bounce", "handle"])
def test_it_can_be_typed_instead(which, request, monkeypatch):
    marking = request.getfixturevalue(which)
    monkeypatch.setattr(imgui, "input_float3", lambda *_: (True, [1.0, 2.0, 3.0]))
    probe = drawn(marking, monkeypatch)
    assert marking.course.draft.placed.given == pytest.approx((1.0, 2.0, 3.0))
    probe.gui.release()
