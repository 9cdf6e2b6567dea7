"""The vocabulary of lesson files, as pydantic models; fields are described as in `scene.schema`.

Text is plain: paragraphs with an empty line between them. A line between $$ and $$ is a formula in LaTeX. What is told
after a run may hold {formula} over the names that the question measures: it shows the run's own number.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ..core.settings import SETTINGS
from ..run.measures import KINDS
from ..run.sweep import LONGEST_RUN
from ..scene.schema import CameraTable, Table
from ..scene.values import Flag, FormulaText, Name, Number, Positive, Vec3, choice, refuse

#: what a lesson may show beside the settings
CONTROLS = (*SETTINGS, "speed", "mouse")
#: switches of the view
SWITCHES = (
    "contact_points", "normals", "forces", "friction_forces", "moments", "all_contacts", "minimal_set", "impulses",
    "dents", "contact_cases", "closed_forms", "mouse_spring", "joints", "centers_of_mass", "velocities",
    "angular_momenta", "body_names", "inertia_boxes", "transparent", "wireframe", "as_collided", "shadows", "grid",
    "legend", "logarithmic", "follow_selected", "keep_in_view",
)
#: tabs of the lower area
PANELS = ("contacts", "body", "plot", "timeline", "equations", "impact", "pivots", "step", "ledger", "compare",
          "modes", "laws", "trees")



def _not_zero(value: tuple[float, float, float]) -> tuple[float, float, float]:
    if not any(value):
        raise refuse("be three numbers that are not all 0")
    return value


Text = Annotated[str, Field(strict=True, max_length=20_000)]
Line = Annotated[str, Field(strict=True, min_length=1, max_length=1000)]
Time = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=LONGEST_RUN)]
Three = Annotated[tuple[FormulaText, ...], Field(min_length=3, max_length=3)]
Direction = Annotated[Vec3, AfterValidator(_not_zero)]
Place = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e6, le=1e6)]


def _field(default: Any, description: str, **constraints: Any) -> Any:
    return Field(default, description=description, **constraints)


class LessonTable(Table):
    """What the lesson is about."""

    title: Line = _field(..., "a line of text")
    summary: Text = _field("", "text: what is learnt")
    order: Number = _field(0.0, "a number: the lesson's place in the list")


class MeasureTable(Table):
    """What is measured of a run, or of a part of it."""

    of: Line = _field(..., 'a measure: "rest time", "events", "impacts", "time of EVENT[:BODY]", "number of '
                           'EVENT[:BODY]" or QUANTITY[:BODY][:end|max|min|mean]')
    since: Time = _field(0.0, "the time from which it is measured, a number >= 0 [s]")
    until: Time = _field(LONGEST_RUN, "the time up to which it is measured, a number >= 0 [s] (else the run's end)")


def _in_full(value: Any) -> Any:
    return {"of": value} if isinstance(value, str) else value


Measure = Annotated[MeasureTable, BeforeValidator(_in_full)]


class QuestionTable(Table):
    """What is asked before the run, which answers it."""

    ask: Text = _field(..., "text: the question")
    why: Text = _field("", "text: told after the run; {formula} shows a number of the run")


class Measuring(QuestionTable):
    measure: dict[Name, Measure] = _field({}, "a table of names and what each of them measures")


class NumberQuestion(Measuring):
    """A number is asked for."""

    type: Literal["number"]
    answer: FormulaText = _field(..., "a formula over the names of measure, in the unit of the question")
    unit: Annotated[str, Field(strict=True, max_length=20)] = _field("", "the unit of the number")
    tolerance: Positive = _field(..., "how far off a right number may be, a number > 0")


class OptionTable(Table):
    """A possible answer."""

    text: Line = _field(..., "a line of text")
    when: FormulaText = _field(..., "a formula over the names of measure, mostly a comparison: it is the right answer "
                                    "where this is not 0")
    why: Text = _field("", "text: told to those who chose it; {formula} shows a number of the run")


class ChoiceQuestion(Measuring):
    """One of several answers is chosen; the first whose `when` holds is the right one."""

    type: Literal["choice"]
    option: Annotated[tuple[OptionTable, ...], Field(min_length=2, max_length=8)] = _field(
        ..., "2 to 8 tables [[step.question.option]]")


class FirstQuestion(QuestionTable):
    """Which of some bodies, or of some pairs of bodies, has an event first."""

    type: Literal["first"]
    event: Line = _field(..., f"a kind of event: {', '.join(KINDS)}")
    bodies: Annotated[tuple[Name, ...], Field(min_length=2, max_length=6)] = _field(
        ..., 'the names of 2 to 6 bodies, or of pairs of them such as "wall and ladder", whose contact is meant')


class GreatestQuestion(Measuring):
    """Which of some quantities, forces mostly, is the greatest."""

    type: Literal["greatest"]
    of: Annotated[dict[Line, FormulaText], Field(min_length=2, max_length=6)] = _field(
        ..., "a table of 2 to 6 names of quantities, each with a formula over the names of measure")
    same: Annotated[float, Field(strict=True, ge=0.0, lt=1.0)] = _field(
        0.01, "how little the greatest two may differ and still be equal, a number >= 0 and < 1: a share of them")


class PointQuestion(Measuring):
    """A point is placed in the view."""

    type: Literal["point"]
    answer: Three = _field(..., "a list of three formulas over the names of measure: the coordinates of the point [m]")
    tolerance: Positive = _field(..., "how far away a right point may be, a number > 0 [m]")
    through: Vec3 = _field((0.0, 0.0, 0.0), "a point of the plane in which it is placed, three numbers [m]")
    normal: Direction = _field((0.0, 0.0, 1.0), "the normal of that plane, three numbers that are not all 0")


class ArrowQuestion(Measuring):
    """An arrow is drawn in the view from the centre of a body: its direction counts."""

    type: Literal["arrow"]
    body: Name = _field(..., "the name of the body from whose centre, at the first instant, the arrow is drawn")
    answer: Three = _field(..., "a list of three formulas over the names of measure: the vector x, y, z")
    tolerance: Annotated[float, Field(strict=True, gt=0.0, le=180.0)] = _field(
        ..., "how far off a right direction may be, a number > 0 and <= 180 [degrees]")
    normal: Direction = _field(
        (0.0, 1.0, 0.0), "the normal of the plane in which it is drawn, three numbers that are not all 0")


class SketchQuestion(QuestionTable):
    """A curve over time is drawn."""

    type: Literal["sketch"]
    curve: Line = _field(..., "QUANTITY[:BODY]")
    low: Place = _field(..., "the lower end of the axis, a number")
    high: Place = _field(..., "the upper end of the axis, a number > low")
    tolerance: Annotated[float, Field(strict=True, gt=0.0, le=1.0)] = _field(
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

    title: Line = _field(..., "a line of text")
    text: Text = _field("", "text: paragraphs, and formulas in lines of their own between $$ and $$")
    picture: Name | None = _field(None, "a picture file (.png, .jpg) below the lesson's folder")
    scene: Name | None = _field(None, "a scene file below the lesson's folder, or a scene of the gallery (else that of "
                                      "the step before)")
    settings: dict[Name, Any] = _field({}, "a table of settings and values, such as restitution = 0.5")
    camera: CameraTable | None = _field(None, "a table [step.camera] (else as the scene says)")
    at: Time = _field(0.0, "the time that is shown at first, a number >= 0 [s]")
    until: Time | None = _field(None, "the time at which the run ends, a number > at [s]")
    speed: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=1e-3, le=1e3)] | None = _field(
        None, "how fast it plays, a number from 0.001 to 1000 times real time (else as the scene says)")
    plays: Flag = _field(False, "true or false: it runs as soon as the step opens")
    controls: tuple[choice(CONTROLS), ...] = _field(  # pyright: ignore
        (), "a list of what can be changed: settings, speed, mouse")
    locked: tuple[choice(CONTROLS), ...] = _field(  # pyright: ignore
        (), "a list of controls that are seen and cannot be changed")
    show: tuple[choice(SWITCHES), ...] = _field(  # pyright: ignore
        (), "a list of switches of the view that are on")
    hide: tuple[choice(SWITCHES), ...] = _field(  # pyright: ignore
        (), "a list of switches of the view that are off")
    panel: choice(PANELS) | None = _field(  # pyright: ignore
        None, "the tab that is open below the view (else none)")
    plot: Annotated[tuple[Line, ...], Field(max_length=4)] = _field((), "a list of up to 4 curves, QUANTITY[:BODY]")
    question: Question | None = _field(None, "a table [step.question]")


class LessonFile(Table):
    """A lesson."""

    lesson: LessonTable = _field(..., "a table [lesson]")
    step: Annotated[tuple[StepTable, ...], Field(min_length=1, max_length=100)] = _field(
        ..., "1 to 100 tables [[step]]")


#: table name in a path -> its model; questions go by their type
TABLES: dict[str, type[Table]] = {
    "lesson": LessonTable, "step": StepTable, "camera": CameraTable, "measure": MeasureTable, "option": OptionTable,
    "question": QuestionTable,
}


def json_schema() -> str:
    """The JSON Schema of lesson files, for editors; assets/lesson.schema.json holds it."""
    schema = LessonFile.model_json_schema()
    return json.dumps({**schema, "title": "Contactlab lesson"}, indent=1, ensure_ascii=False) + "\n"
