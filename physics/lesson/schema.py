"""The vocabulary of lesson files, as pydantic models; fields are described as in `scene.schema`.

Text is plain: paragraphs with an empty line between them. A line between $$ and $$ is a formula in LaTeX. What is told
after a run may hold {formula} over the names that the question measures: it shows the run's own number.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ..run.measures import KINDS
from ..run.sweep import LONGEST_RUN
from ..scene.schema import CameraTable, Table
from ..scene.values import Flag, FormulaText, Name, Number, Positive, Vec3, choice
from .kinds import CONTROLS, PANELS, SWITCHES, Direction, Line, Place, Text, Three, Time, field
from .video import VIDEO_TABLES, VideoTable


class LessonTable(Table):
    """What the lesson is about."""

    title: Line = field(..., "a line of text")
    summary: Text = field("", "text: what is learnt")
    order: Number = field(0.0, "a number: the lesson's place in the list")


class MeasureTable(Table):
    """What is measured of a run, or of a part of it."""

    of: Line = field(..., 'a measure: "rest time", "events", "impacts", "time of EVENT[:BODY]", "number of '
                           'EVENT[:BODY]" or QUANTITY[:BODY][:end|max|min|mean]')
    since: Time = field(0.0, "the time from which it is measured, a number >= 0 [s]")
    until: Time = field(LONGEST_RUN, "the time up to which it is measured, a number >= 0 [s] (else the run's end)")


def _in_full(value: Any) -> Any:
    return {"of": value} if isinstance(value, str) else value


Measure = Annotated[MeasureTable, BeforeValidator(_in_full)]


class QuestionTable(Table):
    """What is asked before the run, which answers it."""

    ask: Text = field(..., "text: the question")
    why: Text = field("", "text: told after the run; {formula} shows a number of the run")


class Measuring(QuestionTable):
    measure: dict[Name, Measure] = field({}, "a table of names and what each of them measures")


class NumberQuestion(Measuring):
    """A number is asked for."""

    type: Literal["number"]
    answer: FormulaText = field(..., "a formula over the names of measure, in the unit of the question")
    unit: Annotated[str, Field(strict=True, max_length=20)] = field("", "the unit of the number")
    tolerance: Positive = field(..., "how far off a right number may be, a number > 0")


class OptionTable(Table):
    """A possible answer."""

    text: Line = field(..., "a line of text")
    when: FormulaText = field(..., "a formula over the names of measure, mostly a comparison: it is the right answer "
                                    "where this is not 0")
    why: Text = field("", "text: told to those who chose it; {formula} shows a number of the run")


class ChoiceQuestion(Measuring):
    """One of several answers is chosen; the first whose `when` holds is the right one."""

    type: Literal["choice"]
    option: Annotated[tuple[OptionTable, ...], Field(min_length=2, max_length=8)] = field(
        ..., "2 to 8 tables [[step.question.option]]")


class FirstQuestion(QuestionTable):
    """Which of some bodies, or of some pairs of bodies, has an event first."""

    type: Literal["first"]
    event: Line = field(..., f"a kind of event: {', '.join(KINDS)}")
    bodies: Annotated[tuple[Name, ...], Field(min_length=2, max_length=6)] = field(
        ..., 'the names of 2 to 6 bodies, or of pairs of them such as "wall and ladder", whose contact is meant')


class GreatestQuestion(Measuring):
    """Which of some quantities, forces mostly, is the greatest."""

    type: Literal["greatest"]
    of: Annotated[dict[Line, FormulaText], Field(min_length=2, max_length=6)] = field(
        ..., "a table of 2 to 6 names of quantities, each with a formula over the names of measure")
    same: Annotated[float, Field(strict=True, ge=0.0, lt=1.0)] = field(
        0.01, "how little the greatest two may differ and still be equal, a number >= 0 and < 1: a share of them")


class PointQuestion(Measuring):
    """A point is placed in the view."""

    type: Literal["point"]
    answer: Three = field(..., "a list of three formulas over the names of measure: the coordinates of the point [m]")
    tolerance: Positive = field(..., "how far away a right point may be, a number > 0 [m]")
    through: Vec3 = field((0.0, 0.0, 0.0), "a point of the plane in which it is placed, three numbers [m]")
    normal: Direction = field((0.0, 0.0, 1.0), "the normal of that plane, three numbers that are not all 0")


class ArrowQuestion(Measuring):
    """An arrow is drawn in the view from the centre of a body: its direction counts."""

    type: Literal["arrow"]
    body: Name = field(..., "the name of the body from whose centre, at the first instant, the arrow is drawn")
    answer: Three = field(..., "a list of three formulas over the names of measure: the vector x, y, z")
    tolerance: Annotated[float, Field(strict=True, gt=0.0, le=180.0)] = field(
        ..., "how far off a right direction may be, a number > 0 and <= 180 [degrees]")
    normal: Direction = field(
        (0.0, 1.0, 0.0), "the normal of the plane in which it is drawn, three numbers that are not all 0")


class SketchQuestion(QuestionTable):
    """A curve over time is drawn."""

    type: Literal["sketch"]
    curve: Line = field(..., "QUANTITY[:BODY]")
    low: Place = field(..., "the lower end of the axis, a number")
    high: Place = field(..., "the upper end of the axis, a number > low")
    tolerance: Annotated[float, Field(strict=True, gt=0.0, le=1.0)] = field(
        ..., "how far off a right curve may be on average, a number > 0 and <= 1: a share of the axis")


Question = Annotated[
    NumberQuestion | ChoiceQuestion | FirstQuestion | GreatestQuestion | SketchQuestion | PointQuestion | ArrowQuestion,
    Field(discriminator="type")]
QUESTIONS: dict[str, type[QuestionTable]] = {
    "number": NumberQuestion, "choice": ChoiceQuestion, "first": FirstQuestion, "greatest": GreatestQuestion,
    "sketch": SketchQuestion, "point": PointQuestion, "arrow": ArrowQuestion,
}


class StepTable(Table):
    """A page of the lesson, with what is seen beside it."""

    title: Line = field(..., "a line of text")
    text: Text = field("", "text: paragraphs, and formulas in lines of their own between $$ and $$")
    picture: Name | None = field(None, "a picture file (.png, .jpg) below the lesson's folder")
    scene: Name | None = field(None, "a scene file below the lesson's folder, or a scene of the gallery (else that of "
                                      "the step before)")
    settings: dict[Name, Any] = field({}, "a table of settings and values, such as restitution = 0.5")
    camera: CameraTable | None = field(None, "a table [step.camera] (else as the scene says)")
    at: Time = field(0.0, "the time that is shown at first, a number >= 0 [s]")
    until: Time | None = field(None, "the time at which the run ends, a number > at [s]")
    speed: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=1e-3, le=1e3)] | None = field(
        None, "how fast it plays, a number from 0.001 to 1000 times real time (else as the scene says)")
    plays: Flag = field(False, "true or false: it runs as soon as the step opens")
    controls: tuple[choice(CONTROLS), ...] = field(  # pyright: ignore
        (), "a list of what can be changed: settings, speed, mouse")
    locked: tuple[choice(CONTROLS), ...] = field(  # pyright: ignore
        (), "a list of controls that are seen and cannot be changed")
    show: tuple[choice(SWITCHES), ...] = field(  # pyright: ignore
        (), "a list of switches of the view that are on")
    hide: tuple[choice(SWITCHES), ...] = field(  # pyright: ignore
        (), "a list of switches of the view that are off")
    panel: choice(PANELS) | None = field(  # pyright: ignore
        None, "the tab that is open below the view (else none)")
    plot: Annotated[tuple[Line, ...], Field(max_length=4)] = field((), "a list of up to 4 curves, QUANTITY[:BODY]")
    question: Question | None = field(None, "a table [step.question]")
    video: VideoTable | None = field(None, "a table [step.video]: how `contactlab record` shows the step")


class LessonFile(Table):
    """A lesson."""

    lesson: LessonTable = field(..., "a table [lesson]")
    step: Annotated[tuple[StepTable, ...], Field(min_length=1, max_length=100)] = field(
        ..., "1 to 100 tables [[step]]")


#: table name in a path -> its model; questions go by their type
TABLES: dict[str, type[Table]] = {
    "lesson": LessonTable, "step": StepTable, "camera": CameraTable, "measure": MeasureTable, "option": OptionTable,
    "question": QuestionTable, **VIDEO_TABLES,
}


def json_schema() -> str:
    """The JSON Schema of lesson files, for editors; assets/lesson.schema.json holds it."""
    schema = LessonFile.model_json_schema()
    return json.dumps({**schema, "title": "Contactlab lesson"}, indent=1, ensure_ascii=False) + "\n"
