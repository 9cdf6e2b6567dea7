"""A lesson is written from what the window shows, tried, and saved as a file that opens."""

import time

import fakes
import pytest
from probe import Probe

from contactlab.app import commands
from contactlab.app.lab import Lab
from contactlab.app.panels.layout import draw_ui
from contactlab.app.ui_state import UiState
from contactlab.assets import gallery, lessons
from contactlab.physics.core.report import Settings
from contactlab.physics.lesson.lesson import Lesson
from contactlab.physics.lesson.play import play
from contactlab.physics.lesson.schema import QUESTIONS
from contactlab.physics.run import messages as m
from contactlab.physics.scene.scene import Scene
from contactlab.physics.simulation.simulation import Simulation


class Writing:
    """A Lab on an engine that only listens, which shows a scene."""

    def __init__(self, folder, path=None):
        self.folder = folder
        self.scene = Scene.load(path or gallery()["bouncing_balls"])
        self.sim = Simulation(self.scene)
        self.engine = fakes.Engine()
        self.lab = Lab(self.engine, UiState(), fakes.Host())
        self.lab.ui.preferences.record_folder = str(folder)
        self.author = self.lab.ui.author
        self.show()
        self.lab.making.opened(self.scene)

    def show(self, **fields):
        sim, state = self.sim, self.sim.state.bodies
        told = {"settings": sim.settings, "speed": self.scene.speed, "t": 0.0, "step": 0, "generation": 1, **fields}
        self.engine.latest = fakes.snapshot(0, model=sim.model, labels=sim.labels, x=state.x, q=state.q, v=state.v,
                                            w=state.w, L=state.L, **told)
        self.lab.update()

    def run(self, name, argument=None):
        commands.run(self.lab, name, argument)
        return self.checked()

    def checked(self):
        while self.author.on and self.author.pending:
            self.lab.update()
            time.sleep(0.001)
        return self.author

    @property
    def saved(self):
        return Lesson.load(self.author.path, gallery().get)


@pytest.fixture
def writing(tmp_path):
    return Writing(tmp_path)


def test_a_step_shows_what_was_shown_and_the_file_opens(writing, tmp_path):
    writing.lab.ui.view.body_names, writing.lab.ui.view.forces = True, False
    writing.lab.ui.preferences.lower_tab = "energy"
    writing.show(t=0.25, speed=0.5, settings=Settings(**{**vars_of(writing.sim.settings), "restitution": 0.5}))
    author = writing.run("author_add")
    assert not author.problems and author.path == tmp_path / "Lessons" / "lesson_001" / "lesson.lesson.toml"
    step = writing.saved.steps[0]
    assert (step.scene, step.at, step.until, step.speed) == ("bouncing_balls", 0.25, 2.25, 0.5)
    assert dict(step.settings) == {"restitution": 0.5} and step.show == ("body_names",) and step.hide == ("forces",)
    assert step.camera.distance == pytest.approx(writing.lab.camera.distance, abs=1e-4)
    assert play(writing.saved, 0).sim.settings.restitution == 0.5


def vars_of(settings):
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_every_kind_of_question_is_one_from_the_start(kind, writing):
    writing.run("author_add")
    writing.author.ask(kind, ["e = 0.5", "floor"])
    assert not writing.checked().problems, writing.author.problems
    assert writing.saved.steps[0].question.type == kind
    writing.author.put(("question", "ask"), "How high?\nAnd why?")
    writing.author.ask("number", [])
    assert not writing.checked().problems and writing.saved.steps[0].question.ask == "How high?\nAnd why?"
    writing.author.ask("", [])
    assert not writing.checked().problems and writing.saved.steps[0].question is None


def test_what_is_wrong_is_told_at_its_field_and_the_file_keeps_the_last_good_version(writing):
    writing.run("author_add")
    writing.author.ask("number", [])
    before = writing.checked().path.read_text()
    writing.author.put(("question", "answer"), "height of the moon")
    author = writing.checked()
    assert len(author.problems) == 1 and "must be a formula" in author.problems_at(("question", "answer"))[0]
    assert not author.problems_at(("question", "ask")) and author.path.read_text() == before
    writing.run("author_try")
    assert not writing.lab.ui.course.on
    assert author.undo(1) and not writing.checked().problems and not author.undo(-2)


def test_steps_are_added_behind_moved_and_taken_out(writing):
    for _ in range(3):
        writing.run("author_add")
    writing.author.number = 0
    writing.run("author_add")
    assert [s.title for s in writing.saved.steps] == ["Step 1", "Step 4", "Step 2", "Step 3"]
    writing.author.move(1)
    writing.checked()
    assert [s.title for s in writing.saved.steps] == ["Step 1", "Step 2", "Step 4", "Step 3"]
    assert writing.author.number == 2
    writing.author.remove()
    writing.checked()
    assert [s.title for s in writing.saved.steps] == ["Step 1", "Step 2", "Step 3"] and writing.author.number == 2


def test_a_step_that_takes_what_is_shown_keeps_its_words_and_its_question(writing):
    writing.run("author_add")
    writing.author.put(("text",), "Look.")
    writing.author.ask("number", [])
    writing.show(t=1.0)
    writing.run("author_take")
    step = writing.saved.steps[0]
    assert (step.text, step.question.type, step.at, step.until) == ("Look.", "number", 1.0, 3.0)


def test_a_scene_that_is_not_of_the_gallery_is_written_beside_the_lesson(tmp_path, scene):
    writing = Writing(tmp_path, scene)
    writing.run("author_add")
    writing.run("author_add")
    names = sorted(p.name for p in writing.author.path.parent.iterdir())
    assert len(names) == 2 and not writing.author.problems  # once, for it is the same
    assert Scene.load(writing.author.path.parent / next(n for n in names if n != "lesson.lesson.toml")) \
        .tables == writing.scene.tables


def test_trying_it_writes_no_answers_and_leads_back(writing, tmp_path):
    writing.lab.ui.preferences.student = "Ada"
    writing.run("author_add")
    writing.author.ask("number", [])
    writing.checked()
    writing.run("author_try")
    course = writing.lab.ui.course
    assert course.on and course.asks
    commands.run(writing.lab, "lesson_predict", 1.0)
    writing.show(generation=2, trial=m.TrialState(2.0, (3.0,), True))
    assert course.verdict is not None and not course.verdict.right
    writing.run("lesson_leave")
    assert not course.on and writing.author.on and writing.lab.making.scene is not None
    assert not (tmp_path / "answers").exists() and writing.lab.ui.preferences.lessons == {}


def test_a_lesson_that_comes_along_is_edited_as_a_copy(writing, tmp_path):
    original = lessons()["energy"]
    before = original.read_bytes()
    writing.lab.teaching.open(Lesson.load(original, gallery().get))
    author = writing.run("author")
    assert author.path == tmp_path / "Lessons" / "energy_001" / "energy.lesson.toml" and not author.problems
    author.put(("title",), "Mine")
    writing.checked()
    assert writing.saved.steps[0].title == "Mine" and original.read_bytes() == before
    assert author.text.startswith(before.decode()[:40])  # comments and the rest stay as they were written


@pytest.mark.parametrize("kind", ["", *QUESTIONS])
def test_the_panel_shows_every_question_and_marks_controls(kind, writing, monkeypatch):
    writing.run("author_add")
    if kind:
        writing.author.ask(kind, ["e = 0.5", "floor"])
        writing.checked()
    probe = Probe(monkeypatch, lambda ui: draw_ui(ui, writing.lab.snapshot, writing.lab.send), writing.lab.ui,
                  (1280, 1000))
    labels = probe.drawn()
    assert not writing.lab.ui.failures, next(iter(writing.lab.ui.failures.values())).traceback
    assert {"\uf04b  Try it##author_try", "\uf067  Add what is shown##author_add"} <= labels
    probe.click("author_controls")
    probe.drawn()
    probe.click("open##restitution_open")
    probe.drawn()
    probe.click("locked##friction_locked")
    writing.checked()
    step = writing.saved.steps[0]
    assert step.controls == ("restitution",) and step.locked == ("friction",) and not writing.lab.ui.failures
    probe.gui.release()
