"""A lesson in the window, without one: what it refuses, what it asks of the engine, and what it tells and writes."""

import math
import re

import fakes
import pytest
from imgui_bundle import imgui
from probe import Probe

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.panels import formula
from contactlab.app.panels import lesson as lesson_panel
from contactlab.app.panels.layout import draw_ui
from contactlab.app.panels.lesson import as_number, extended
from contactlab.app.panels.plot import PlotUi
from contactlab.app.ui_state import UiState
from contactlab.assets import gallery, lessons
from contactlab.physics.core import language
from contactlab.physics.lesson.answers import AnswerFile
from contactlab.physics.lesson.lesson import Lesson
from contactlab.physics.lesson.play import windows_of
from contactlab.physics.lesson.questions import POINTS, options, pieces
from contactlab.physics.run import messages as m


def shown(lesson, number, generation, **fields):
    """A snapshot of a step's scene at its start."""
    from contactlab.physics.simulation.simulation import Simulation

    run = lesson.runs[number]
    sim = Simulation(run.scene)
    return fakes.snapshot(0, model=sim.model, labels=sim.labels, settings=run.settings, x=sim.state.bodies.x,
                          q=sim.state.bodies.q, v=sim.state.bodies.v, w=sim.state.bodies.w, L=sim.state.bodies.L,
                          generation=generation, t=0.0, step=0, **fields)


class Room:
    """A Lab on an engine that only listens, with a lesson open."""

    def __init__(self, folder, key="bounce", number=1):
        self.lesson = Lesson.load(lessons()[key], gallery().get)
        self.engine = fakes.Engine(fakes.snapshot(0, generation=1))
        self.lab = Lab(self.engine, UiState(), fakes.Host())
        self.lab.ui.preferences.record_folder = str(folder)
        self.lab.update()
        self.lab.teaching.open(self.lesson)
        self.course = self.lab.ui.course
        self.to(number)

    def to(self, number):
        commands.run(self.lab, "lesson_to", number)
        self.tell()

    def tell(self, **fields):
        """The engine answers with the step's scene."""
        generation = 1 + len(self.sent(m.Open))
        self.engine.latest = shown(self.lesson, self.course.number, generation, **fields)
        self.lab.update()

    def sent(self, kind):
        return [command for command in self.engine.sent if isinstance(command, kind)]

    def end_of_run(self, **values):
        """The engine has run to the end, and measured."""
        step = self.course.step
        names = windows_of(self.lesson, self.course.number, self.lesson.runs[self.course.number].settings.h)
        self.tell(trial=m.TrialState(step.until, tuple(values.get(name, math.nan) for name in names), True))


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


def test_nothing_runs_before_the_prediction(room):
    for name in ("play_pause", "step_forward", "next_event"):
        commands.run(room.lab, name)
    room.lab.send(m.Set("restitution", 1.0))
    room.lab.send(m.Grab(1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    assert not room.sent(m.Play | m.Try | m.Step | m.StepToEvent | m.Set | m.Grab)
    assert room.lab.ui.notice.text == "Predict first: then it runs."


@pytest.mark.parametrize("given", [math.nan, math.inf, "0.5", None, True])
def test_what_is_no_number_is_no_prediction(given, room):
    commands.run(room.lab, "lesson_predict", given)
    assert room.course.asks and not room.sent(m.Try)


def test_a_prediction_lets_the_run_go_and_the_run_judges_it(room):
    commands.run(room.lab, "lesson_predict", 0.55)
    assert room.sent(m.Try)[-1].until == room.course.step.until and room.course.measures
    for command in (m.Reset(), m.Seek(0), m.Set("restitution", 1.0), m.Step(-1)):
        room.lab.send(command)
    assert not room.sent(m.Reset | m.Seek | m.Set) and not [s for s in room.sent(m.Step) if s.count < 0]
    room.end_of_run(top=0.6631)
    verdict = room.course.verdict
    assert verdict.right and verdict.measured == pytest.approx(0.5631) and verdict.error == pytest.approx(-0.0131)
    assert "0.563 m" in verdict.answer and "rises to 0.563 m" in verdict.why


def test_a_trial_of_the_step_before_judges_nothing(room):
    """The engine has not opened the step's scene yet, and still tells of the run before."""
    commands.run(room.lab, "lesson_predict", 0.55)
    room.end_of_run(top=0.6631)
    commands.run(room.lab, "lesson_to", 1)
    commands.run(room.lab, "lesson_predict", 0.9)
    room.lab.update()
    assert room.course.verdict is None and room.course.measures


def test_a_run_that_ends_early_says_so_and_judges_nothing(room):
    commands.run(room.lab, "lesson_predict", 0.55)
    room.tell(paused=True, error="no step can be made")
    assert room.course.verdict is None and "no step can be made" in room.course.trouble


def test_answers_are_written_for_who_has_a_name(room, tmp_path):
    for name, given in (("", 0.4), ("Ada", 0.5), ("Ada", 0.56)):
        room.lab.ui.preferences.student = name
        room.to(1)
        commands.run(room.lab, "lesson_predict", given)
        room.end_of_run(top=0.6631)
    file = AnswerFile.load(tmp_path / "answers" / "Ada_bounce.answers.json")
    assert [(a.step, a.value, a.right) for a in file.answers] == [(2, 0.5, False), (2, 0.56, True)]
    assert file.student == "Ada" and file.lesson == "bounce" and list((tmp_path / "answers").iterdir()) == [
        tmp_path / "answers" / "Ada_bounce.answers.json"]


def test_what_the_run_says_is_in_the_language_that_is_shown_and_the_file_in_the_lessons_own(tmp_path):
    """Also after the language was changed; so a class of two languages has one histogram."""
    room = Room(tmp_path, "friction", 3)
    room.lab.ui.preferences.student = "Ada"
    commands.run(room.lab, "language_zh_CN")
    commands.run(room.lab, "lesson_predict", 0)
    room.end_of_run(orange=1.48, blue=1.48)
    told = room.course.verdict
    commands.run(room.lab, "language_en")
    question = room.course.step.question
    assert room.course.verdict.answer == question.option[told.measured].text != told.answer
    assert room.course.verdict.why != told.why and "{" not in told.why and told.answer in options(question, catalogue())
    (answer,) = AnswerFile.load(tmp_path / "answers" / "Ada_friction.answers.json").answers
    assert (answer.question, answer.given, answer.answer) == (
        question.ask, question.option[0].text, question.option[told.measured].text)


def catalogue():
    """What simplified Chinese says for a text."""
    language.use("zh_CN")
    said = language._catalogue.gettext
    language.use("en")
    return said


def test_a_file_of_answers_that_was_edited_is_left_as_it_is(room, tmp_path):
    room.lab.ui.preferences.student = "Ada"
    path = tmp_path / "answers" / "Ada_bounce.answers.json"
    path.parent.mkdir()
    path.write_text("{}")
    commands.run(room.lab, "lesson_predict", 0.5)
    room.end_of_run(top=0.6631)
    others = [p for p in path.parent.iterdir() if p != path]
    assert path.read_text() == "{}" and len(AnswerFile.load(others[0]).answers) == 1
    assert "A new file is begun" in room.lab.ui.notice.text


def test_only_the_controls_of_a_step_can_be_changed(tmp_path):
    """Step 4 of the lesson on friction lets μ be moved, after its run."""
    room = Room(tmp_path, "friction", 3)
    assert room.sent(m.Set)[-1] == m.Set("friction", 0.3)  # the step's own
    commands.run(room.lab, "lesson_predict", 0)
    room.lab.send(m.Set("friction", 0.5))
    room.end_of_run(orange=1.48, blue=1.48)
    assert room.course.verdict.right
    room.lab.send(m.Set("restitution", 0.5))
    room.lab.send(m.Set("friction", 0.6))
    assert room.sent(m.Set)[1:] == [m.Set("friction", 0.6)]


def test_progress_is_kept_and_any_step_can_be_reached(room, tmp_path):
    room.to(2)
    assert room.lab.ui.preferences.lessons == {"bounce": 2}
    again = Room.__new__(Room)
    Room.__init__(again, tmp_path)
    again.lab.teaching.leave()
    again.lab.ui.preferences.lessons = {"bounce": 2}
    again.lab.teaching.open(again.lesson)
    assert again.course.number == 2
    commands.run(again.lab, "lesson_to", 99)
    assert again.course.number == 2


def test_leaving_a_lesson_puts_view_and_panels_back(tmp_path):
    room = Room(tmp_path, "contact", 0)
    ui = room.lab.ui
    assert ui.view.contact_cases and not ui.preferences.lower
    room.to(2)
    assert not ui.view.contact_cases and ui.preferences.lower_tab == "plot"
    commands.run(room.lab, "theme")
    commands.run(room.lab, "lesson_leave")
    assert not ui.course.on and ui.preferences.lower and ui.preferences.lower_tab == "contacts"
    assert not ui.view.contact_cases and ui.view.dark == ui.preferences.dark is False


@pytest.fixture
def probe(room, monkeypatch):
    """The whole window with the lesson's second step."""
    made = Probe(monkeypatch, lambda ui: draw_ui(ui, room.lab.snapshot, room.lab.send), room.lab.ui)
    yield made
    made.gui.release()


def serve(room):
    while room.lab.ui.requests:
        request = room.lab.ui.requests.pop(0)
        commands.run(room.lab, request.command, request.argument)


def test_the_panel_asks_and_then_tells(room, probe):
    assert "\uf04b  Predict, and run##lesson_predict" in probe.drawn() and not room.lab.ui.failures
    room.course.draft.typed = "0,56"
    probe.click("\uf04b  Predict, and run##lesson_predict")
    serve(room)
    assert room.course.given == 0.56
    room.end_of_run(top=0.6631)
    assert {"\uf01e  See it again##lesson_again", "Ask me again##lesson_ask"} <= probe.drawn()
    assert not room.lab.ui.failures


@pytest.mark.parametrize("key", list(lessons()))
@pytest.mark.parametrize("presenting", [False, True])
def test_every_step_of_every_lesson_is_drawn(key, presenting, tmp_path, monkeypatch):
    """While it is presented, in Chinese, without a word of English but for names."""
    room, said = Room(tmp_path, key, 0), []
    for name in ("text", "text_wrapped"):
        original = getattr(imgui, name)
        monkeypatch.setattr(imgui, name, lambda text, original=original: (said.append(text), original(text))[1])
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, room.lab.snapshot, room.lab.send), room.lab.ui)
    language.use("zh_CN" if presenting else "en")
    for number in range(len(room.lesson.steps)):
        room.to(number)
        room.course.presenting = presenting
        said.clear()
        labels = probe.drawn()
        assert f" {number + 1} ##to_step_{number}" in labels and not room.lab.ui.failures
        assert ("gallery" in labels) is False
        if presenting:
            words = set(re.findall(r"[A-Za-z]{4,}", " ".join(said)))
            assert words <= {"Painlev", "Stronge", "Baraff", "Dantzig", "Baumgarte", "Shift"}, words
    probe.gui.release()


def test_a_sketch_is_told_how_far_it_is_off(tmp_path, monkeypatch):
    """On average, as a share of the axis; and the text moves so that it is in sight."""
    room, said = Room(tmp_path, "bounce", 2), []
    monkeypatch.setattr(lesson_panel, "text_wrapped", said.append)
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, room.lab.snapshot, room.lab.send), room.lab.ui)
    commands.run(room.lab, "lesson_predict", (0.5,) * POINTS)
    assert not room.course.in_sight
    room.end_of_run(**{f"{k}": 0.5 + 0.12 * (-1) ** k for k in range(POINTS)})
    probe.drawn()
    assert any("Not so: you are 10.0 % of the axis off on average." in text for text in said)
    assert room.course.in_sight and not any("The run: " in text for text in said)
    probe.gui.release()


def test_a_presentation_shows_the_lesson_and_the_view_alone(room, probe):
    commands.run(room.lab, "lesson_present")
    labels = probe.drawn()
    assert "File" not in labels and not any("record" in label for label in labels)
    x, _, width, height = room.lab.ui.view_rect
    assert x > 300 and x + width == 1280 and height == 800


@pytest.mark.parametrize("key", list(lessons()))
def test_every_formula_can_be_typeset(key, room, probe, monkeypatch):
    """MicroTeX draws each in the size of the panel and in that of a presentation."""
    assert formula.ready()
    for step in Lesson.load(lessons()[key], gallery().get).steps:
        texts = [step.text, step.question.why if step.question else ""]
        for text in texts:
            for part, is_formula in pieces(text):
                if is_formula:
                    made, _ = formula._typeset(part.strip("$").strip(), 19.0)
                    assert made.shape[1] > 20, part


def test_a_curve_follows_the_mouse_and_jumps_over_nothing(room):
    draft = room.course.draft
    draft.draw(3, 1.0)
    draft.draw(7, 3.0)
    assert draft.drawn[3:8] == [1.0, 1.5, 2.0, 2.5, 3.0] and math.isnan(draft.drawn[8])
    draft.draw(5, 0.0)
    assert draft.drawn[5:8] == [0.0, 1.5, 3.0]


def test_a_curve_that_ends_a_little_short_goes_on_level():
    nan = [math.nan]
    assert extended([*nan * 2, *[1.0] * (POINTS - 4), *nan * 2]) == (1.0,) * POINTS
    assert any(map(math.isnan, extended([*nan * 10, *[1.0] * (POINTS - 10)])))


@pytest.mark.parametrize(("text", "value"), [("0.5", 0.5), (" 0,5 ", 0.5), ("−2", -2.0), ("1e-3", 1e-3)])
def test_numbers_are_read_as_people_write_them(text, value):
    assert as_number(text) == value


@pytest.mark.parametrize("text", ["", "one", "1 2", "0x1"])
def test_other_texts_are_no_numbers(text):
    assert math.isnan(as_number(text))


def test_a_lesson_is_saved_as_one_file(tmp_path):
    room = Room(tmp_path, "energy", 0)
    commands.run(room.lab, "lesson_pack")
    again = Lesson.load(tmp_path / "energy_001.zip", gallery().get, tmp_path / "cache")
    assert again.tables == room.lesson.tables and "energy_001.zip, 2 files in one" in room.lab.ui.notice.text


def test_pages_turned_faster_than_scenes_open_show_the_curves_of_the_last_one(tmp_path):
    """The scene of a step that was left again arrives when the next one is open already."""
    room = Room(tmp_path, "contact", 0)
    generation = room.engine.latest.generation
    commands.run(room.lab, "lesson_to", 1)
    commands.run(room.lab, "lesson_to", 2)
    for step in (1, 2):
        generation += 1
        room.engine.latest = shown(room.lesson, step, generation)
        room.lab.update()
    plotted = room.lab.ui.state_of(PlotUi)
    assert plotted.generation == generation and len(plotted.curves) == 2
