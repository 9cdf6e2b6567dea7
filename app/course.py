"""A lesson as it is read: the step that is open, what was predicted in it and what its run said. It knows neither
engine nor window; `teaching` is what it does with them."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from ..assets import lessons
from ..physics.lesson.lesson import Lesson, heading
from ..physics.lesson.questions import POINTS, Given, Verdict
from ..physics.lesson.schema import ArrowQuestion, PointQuestion, QuestionTable, StepTable

Point = tuple[float, float, float]


class LessonEntry(NamedTuple):
    """A lesson that comes along."""

    key: str
    title: str
    summary: str
    path: str
    steps: int


def lesson_entries() -> list[LessonEntry]:
    """The lessons that come along, in the order of a course."""
    found = []
    for key, path in lessons().items():
        title, summary, _, steps = heading(path)
        found.append(LessonEntry(key, title, summary, str(path), steps))
    return found


class Placed(NamedTuple):
    """A point in the view, or an arrow to it."""

    point: Point
    start: Point | None = None  # of an arrow

    @property
    def given(self) -> Point:
        """As a prediction: the point, or the vector of the arrow."""
        if self.start is None:
            return self.point
        (x, y, z), (x0, y0, z0) = self.point, self.start
        return x - x0, y - y0, z - z0


@dataclass
class Draft:
    """An answer while it is being made."""

    typed: str = ""   # of a number
    chosen: int = -1  # of options
    drawn: list[float] = field(default_factory=lambda: [math.nan] * POINTS)  # of a curve
    placed: Placed | None = None  # of a point or an arrow, in the view
    last: int = -1    # point of the curve that the mouse was at in the last frame; -1: not drawing

    def draw(self, point: int, value: float) -> None:
        """Move the curve's point to a value, and those that the mouse has passed since the last frame to the line."""
        before = self.last if self.last >= 0 else point
        steps = abs(point - before)
        start = self.drawn[before] if steps else value
        for k in range(steps + 1):
            share = k / steps if steps else 1.0
            self.drawn[before + (k if point >= before else -k)] = start + share * (value - start)
        self.last = point


@dataclass
class Course:
    lesson: Lesson | None = None
    number: int = 0                 # of the step, from 0
    presenting: bool = False        # large, without other panels
    draft: Draft = field(default_factory=Draft)
    given: Given | None = None      # the prediction, once it is made
    verdict: Verdict | None = None  # of the run
    values: dict[str, float] = field(default_factory=dict)  # that the verdict is about, by name
    trouble: str = ""               # why the run said nothing
    in_sight: bool = False          # what the run said has been brought into sight
    written: str = ""               # where the answers are
    running: bool = False           # a run of the step goes on and is not at its end

    @property
    def on(self) -> bool:
        return self.lesson is not None

    @property
    def step(self) -> StepTable:
        """The step that is open; only while a lesson is."""
        assert self.lesson is not None
        return self.lesson.steps[self.number]

    @property
    def question(self) -> QuestionTable | None:
        return self.step.question if self.on else None

    @property
    def asks(self) -> bool:
        """A prediction is due, and nothing runs before it is made."""
        return self.question is not None and self.given is None

    @property
    def places(self) -> bool:
        """The prediction that is due is made in the view, with the mouse."""
        return self.asks and isinstance(self.question, PointQuestion | ArrowQuestion)

    @property
    def measures(self) -> bool:
        """The run goes on that answers the question: it is left as it is."""
        return self.given is not None and self.verdict is None and not self.trouble

    def turn_to(self, number: int) -> None:
        """Open a step anew."""
        self.number, self.draft, self.given, self.verdict, self.values = number, Draft(), None, None, {}
        self.trouble, self.running, self.in_sight = "", False, False
