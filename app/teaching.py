"""A lesson at work: what its steps do with the engine, the view, the answers' file and the preferences."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..physics.core.language import N_, _
from ..physics.lesson.answers import ENDING, Answer, AnswerFile
from ..physics.lesson.archive import pack
from ..physics.lesson.lesson import ARCHIVE, Lesson, settings_to_send
from ..physics.lesson.play import steps_to, windows_of
from ..physics.lesson.questions import Given, NoAnswer, fault, in_words, judge
from ..physics.lesson.schema import CONTROLS
from ..physics.run.messages import (
    Command,
    Compare,
    Curve,
    GoToEvent,
    Grab,
    Open,
    Place,
    Play,
    PushJoint,
    Reset,
    Seek,
    Set,
    Snapshot,
    Step,
    StepToEvent,
    Try,
    Undo,
)
from .panels.plot import PlotUi
from .record.encoder import numbered
from .ui_state import UiState
from .view.view_options import ViewOptions

PREDICT = N_("Predict first: then it runs.")
WAIT = N_("The run answers the question: it is left alone up to its end.")
#: commands that a lesson does without
ELSEWHERE = ("edit", "compare", "compare_with", "links", "take_instant", "reload", "tour")

Send = Callable[[Command], None]


class Teaching:
    """The course of `ui`, at work."""

    def __init__(self, ui: UiState, send: Send, documents: Callable[[], Path]) -> None:
        """send: to the engine, whatever the lesson allows. documents: where answers are written."""
        self.ui, self._send, self._documents = ui, send, documents
        self._before = 0        # generation of what ran before the step opened; that of the first scene is 1
        self._dressed = True    # the plot and the panels are those of the step
        self._kept: tuple[ViewOptions, bool, str] | None = None  # the view and the lower area before the lesson
        self._generation = -1
        self._now = 0.0         # what is shown, and half a step [s]
        self._file: Path | None = None
        self._trial = False     # the author tries the lesson

    # ---------------------------------------------------------------------------------------------- steps

    def open(self, lesson: Lesson, trial: int | None = None) -> None:
        """Begin a lesson where it was left; trial: at this step, and no answers are written."""
        self.leave()
        self._trial = trial is not None
        p, course = self.ui.preferences, self.ui.course
        course.lesson, course.written, self._file = lesson, "", None
        self._kept = replace(self.ui.view), p.lower, p.lower_tab
        last = len(lesson.steps) - 1
        reached = p.lessons.get(lesson.key, 0)
        if trial is not None:
            self.to(trial)
            return
        self.to(reached if reached < last else 0)

    def leave(self) -> None:
        """Close the lesson; view and panels are as they were."""
        course, p = self.ui.course, self.ui.preferences
        if not course.on:
            return
        course.lesson, course.presenting = None, False
        if self._kept is not None:
            view, p.lower, p.lower_tab = self._kept
            vars(self.ui.view).update({**vars(view), "dark": p.dark, "still": p.reduced_motion})

    def to(self, number: int) -> None:
        """Open a step; outside of the lesson there is none."""
        course = self.ui.course
        if course.lesson is None or not 0 <= number < len(course.lesson.steps):
            return
        course.turn_to(number)
        if not self._trial:
            self.ui.preferences.reached(course.lesson.key, number)
        self._begin()
        if course.step.plays and not course.asks:
            self.run()

    def turn(self, by: int) -> None:
        """The next step, or the one before."""
        self.to(self.ui.course.number + by)

    def _begin(self) -> None:
        """Show the scene of the step at its first instant."""
        course = self.ui.course
        assert course.lesson is not None
        bound = course.lesson.runs[course.number]
        self._dressed, course.running = bound is None, False
        if bound is None:
            return
        # where the engine has not opened the step before yet, that one comes first
        self._before = max(self._generation, self._before + 1)
        self._send(Open(bound.scene, paused=True))
        sent = settings_to_send(bound, course.step)
        for name, value in sent.items():
            self._send(Set(name, value))
        if sent:
            self._send(Reset())
        if steps := steps_to(course.step.at, bound.settings.h):
            self._send(Step(steps))

    def again(self) -> None:
        """Put the step's run back to its first instant; what was predicted and said stays."""
        if self.ui.course.on:
            self._begin()

    def run(self) -> None:
        """Let the step run from its first instant to its end."""
        course = self.ui.course
        if course.lesson is None or course.step.until is None:
            return
        bound = course.lesson.runs[course.number]
        assert bound is not None
        windows = windows_of(course.lesson, course.number, bound.settings.h)
        self._send(Try(course.step.until, tuple(windows.values())))
        course.running = True

    # -------------------------------------------------------------------------------------------- answers

    def predict(self, given: Given) -> None:
        """Take a prediction, and run."""
        course = self.ui.course
        if course.question is None or not course.asks:
            return
        if why := fault(course.question, given):
            self.ui.say(why)
            return
        course.given = given
        self.run()

    def update(self, snapshot: Snapshot | None) -> None:
        """Take what the engine tells."""
        if snapshot is None:
            return
        course = self.ui.course
        self._generation, self._now = snapshot.generation, snapshot.now + 0.5 * snapshot.h
        if course.lesson is None or snapshot.generation <= self._before:
            return
        if not self._dressed:
            self._dress(snapshot)
        trial = snapshot.trial
        if not course.running:
            return
        if trial is not None and trial.done:
            course.running = False
            if course.measures:
                self._tell(trial.values)
        elif snapshot.error is not None and snapshot.paused:
            course.running = False
            course.trouble = _("The run ended early: {error}").format(error=snapshot.error) if course.measures else ""

    def _tell(self, measured: tuple[float, ...]) -> None:
        """Judge the prediction by what was measured of the run, and note it."""
        course = self.ui.course
        assert course.lesson is not None and course.question is not None and course.given is not None
        bound = course.lesson.runs[course.number]
        assert bound is not None
        names = windows_of(course.lesson, course.number, bound.settings.h)
        course.values = dict(zip(names, measured, strict=True))
        self.tell_again()
        self._note()

    def tell_again(self) -> None:
        """Say what the run has answered, in the language that is shown now."""
        course = self.ui.course
        if course.question is None or course.given is None or not course.values:
            return
        try:
            course.verdict = judge(course.question, course.given, course.values, _)
        except NoAnswer as error:
            course.trouble = str(error)

    def _note(self) -> None:
        """Add the answer to the student's file, where there is a name."""
        course, student = self.ui.course, self.ui.preferences.student.strip()
        assert course.lesson is not None and course.question is not None and course.given is not None
        if not student or self._trial:
            return
        verdict, given = course.verdict, course.given
        answer = Answer(
            step=course.number + 1, question=course.question.ask, kind=course.step.question.type,  # pyright: ignore
            given=in_words(course.question, given), value=None if isinstance(given, tuple) else float(given),
            answer="" if verdict is None else judge(course.question, given, course.values).answer,
            error=verdict.error if verdict is not None and verdict.error == verdict.error else None,
            right=None if verdict is None else verdict.right, when=time.strftime("%Y-%m-%d %H:%M:%S"))
        try:
            self._write(course.lesson, student, answer)
        except OSError as error:
            self.ui.tell(_("The answers could not be written: {error}").format(error=error))

    def _write(self, lesson: Lesson, student: str, answer: Answer) -> None:
        """Add to the file of this student and lesson. One that is damaged or edited stays as it is; a new one is begun
        beside it. Raises OSError."""
        folder = self._documents() / "answers"
        stem = "".join(c if c.isalnum() else "_" for c in f"{student}_{lesson.key}")[:100]
        path = self._file or folder / f"{stem}{ENDING}"
        before = AnswerFile(student=student, lesson=lesson.key, title=lesson.title)
        if path.exists():
            try:
                before = AnswerFile.load(path)
            except ValueError as error:
                path = numbered(folder, stem, ENDING)
                self.ui.say(_("{error} A new file is begun: {name}").format(error=error, name=path.name), 8.0)
        folder.mkdir(parents=True, exist_ok=True)
        before.model_copy(update={"answers": (*before.answers, answer)}).save(path)
        self._file, self.ui.course.written = path, str(path)

    def pack(self) -> None:
        """Write the lesson with its scenes, meshes and pictures into one file among the user's documents."""
        lesson = self.ui.course.lesson
        if lesson is None:
            return
        try:
            path = numbered(self._documents(), lesson.key, ARCHIVE)
            pack(path, lesson.folder, lesson.files)
        except (OSError, ValueError) as error:
            self.ui.tell(_("The lesson could not be saved: {error}").format(error=error))
            return
        self.ui.say(_("Saved {path}, {files} files in one.").format(path=path, files=len(lesson.files)), 8.0)

    # ------------------------------------------------------------------------------------ view and refusals

    def _dress(self, snapshot: Snapshot) -> None:
        """Show the panels, curves and glyphs that the step wants."""
        self._dressed = True
        step, ui, p = self.ui.course.step, self.ui, self.ui.preferences
        if self._kept is not None:
            vars(ui.view).update({**vars(self._kept[0]), "dark": p.dark, "still": p.reduced_motion})
        for name in step.show:
            setattr(ui.view, name, True)
        for name in step.hide:
            setattr(ui.view, name, False)
        names = list(snapshot.labels.bodies)
        curves = [Curve(quantity, names.index(body) if body else -1)
                  for quantity, _, body in (text.partition(":") for text in step.plot)]
        ui.own[PlotUi] = PlotUi(generation=snapshot.generation, curves=curves)
        p.lower = step.panel is not None or bool(curves)
        p.lower_tab = step.panel or "plot"

    def refusal(self, command: Command) -> str:
        """Why the lesson does not let a command of the user through; "" where it does."""
        course = self.ui.course
        if not course.on:
            return ""
        forward = isinstance(command, Play | Try) or (isinstance(command, Step) and command.count > 0) or (
            isinstance(command, StepToEvent) and command.direction > 0)
        changes = isinstance(command, Set | Grab | Place | PushJoint | Compare | Undo)
        if course.asks and (forward or changes):
            return PREDICT
        back = isinstance(command, Seek | GoToEvent | Step | StepToEvent | Reset) and not forward
        if course.measures and (changes or back):
            return WAIT
        if isinstance(command, Grab | Place | PushJoint) and not self._free("mouse"):
            return _("In this step nothing is pulled.")
        if isinstance(command, Set) and command.name in CONTROLS and not self._free(command.name):
            return _("In this step this is not changed.")
        if isinstance(command, Compare):
            return _("A lesson compares what it compares.")
        return ""

    def _free(self, control: str) -> bool:
        return control in self.ui.course.step.controls

    def takes(self, command: Command) -> bool:
        """Carry out what means something else within a lesson: back to the start is back to the step's first
        instant. Returns whether it was."""
        if not self.ui.course.on:
            return False
        if isinstance(command, Reset):
            self.again()
            return True
        until = self.ui.course.step.until
        if isinstance(command, Play) and until is not None and not self.ui.course.running and self._now < until:
            self.run()
            return True
        return False
