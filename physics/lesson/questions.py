"""What a run answers: the windows that a question measures, and the judgement of a prediction.

`say` of a function says its texts: `_` in the language that is shown, `N_` in the lesson's own, as files have them."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from ..core.formula import read_formula
from ..core.language import N_, _
from ..run.measures import TIME_OF
from ..run.trial import Window
from .schema import (
    ArrowQuestion,
    ChoiceQuestion,
    FirstQuestion,
    GreatestQuestion,
    Measuring,
    NumberQuestion,
    PointQuestion,
    QuestionTable,
    SketchQuestion,
)

POINTS = 41  # of a sketched curve, at equal intervals from the first instant of the run to its last
SAME = 1e-9    # [s] two events at most so far apart are at the same instant
AT_ONCE, NEVER = N_("All at the same instant"), N_("None of them")
EQUAL, A_CURVE = N_("They are equal"), N_("a curve")
IN_DOLLARS = re.compile(r"(\$\$.*?\$\$)", re.DOTALL)
IN_TEXT = re.compile(r"\{([^{}]*)\}")

#: a number; the row of the option chosen; the values of a curve at POINTS instants; a point [m], the vector of an arrow
Given = float | int | tuple[float, ...]
Say = Callable[[str], str]


class NoAnswer(ValueError):
    """A run gives no answer to its question; the message is a sentence that says why."""


class Verdict(NamedTuple):
    """What a run says of a prediction."""

    right: bool
    measured: Given  #: as what was given
    error: float     #: given less measured; of a choice 0 or nan; of a sketch the mean distance, as a share of the
                     #: axis; of a point the distance [m]; of an arrow the angle [degrees]
    answer: str      #: what the run gave, in words
    why: str         #: text that is told, with the run's numbers


def windows(question: QuestionTable, at: float, until: float, h: float) -> dict[str, Window]:
    """What is measured of the run from `at` to `until` [s] in steps of h [s], by name."""
    match question:
        case Measuring():
            return {name: Window(table.of, table.since, table.until) for name, table in question.measure.items()}
        case FirstQuestion():
            return {body: Window(f"{TIME_OF}{question.event}:{body}") for body in question.bodies}
        case SketchQuestion():
            ends = instants(at, until)
            return {f"{k}": Window(f"{question.curve}:end", end - h, end) for k, end in enumerate(ends.tolist())}
    raise AssertionError(question)


def instants(at: float, until: float) -> np.ndarray:
    """(POINTS,) times of the points of a sketched curve [s]."""
    return np.linspace(at, until, POINTS)


def options(question: QuestionTable, say: Say = N_) -> tuple[str, ...]:
    """What can be chosen; () where something else is asked for."""
    match question:
        case ChoiceQuestion():
            return tuple(say(option.text) for option in question.option)
        case FirstQuestion():
            return (*map(say, question.bodies), say(AT_ONCE), say(NEVER))
        case GreatestQuestion():
            return (*map(say, question.of), say(EQUAL))
    return ()


def fault(question: QuestionTable, given: object) -> str:
    """Why something cannot be an answer, in a sentence; "" where it can."""
    count = len(options(question))
    if count:
        fits = isinstance(given, int) and not isinstance(given, bool) and 0 <= given < count
        return "" if fits else _("One of the answers must be chosen.")
    if isinstance(question, SketchQuestion):
        if not isinstance(given, tuple) or len(given) != POINTS:
            return _("The curve must be drawn.")
        return "" if all(math.isfinite(y) for y in given) else _("The curve must be drawn from one end to the other.")
    if isinstance(question, PointQuestion | ArrowQuestion):
        is_point = isinstance(question, PointQuestion)
        vector = np.array(given if isinstance(given, tuple) else (), float)
        if len(vector) == 3 and bool(np.isfinite(vector).all()) and (is_point or bool(vector.any())):
            return ""
        return _("The point must be placed in the view.") if is_point else _("The arrow must be placed in the view.")
    fits = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    return "" if fits else _("The answer must be a number.")


def judge(question: QuestionTable, given: Given, values: Mapping[str, float], say: Say = N_) -> Verdict:
    """What the values measured of a run say of a prediction. Raises NoAnswer."""
    return _judge(question, given, values, say)


def right_answer(question: QuestionTable, values: Mapping[str, float], say: Say = N_) -> Verdict:
    """What a run says of the right prediction. Raises NoAnswer."""
    anything: Given = 0
    if isinstance(question, SketchQuestion):
        anything = (0.0,) * POINTS
    elif isinstance(question, PointQuestion | ArrowQuestion):
        anything = (1.0, 0.0, 0.0)
    return judge(question, judge(question, anything, values, say).measured, values, say)


@singledispatch
def _judge(question: QuestionTable, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    raise AssertionError(question)


@_judge.register
def _number(question: NumberQuestion, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    assert isinstance(given, int | float)
    found = _value(question.answer, values)
    if not math.isfinite(found):
        raise NoAnswer(say(N_("The run gives no answer: {formula} has no value for it.")).format(
            formula=question.answer))
    error = float(given) - found
    unit = f" {question.unit}" if question.unit else ""
    return Verdict(abs(error) <= question.tolerance, found, error, f"{in_digits(found)}{unit}",
                   told(say(question.why), {**values, "answer": found}))


@_judge.register
def _choice(question: ChoiceQuestion, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    right = next((k for k, option in enumerate(question.option) if _holds(option.when, values)), None)
    if right is None:
        raise NoAnswer(say(N_("The run gives none of these answers.")))
    chosen = question.option[int(given)] if isinstance(given, int | float) else question.option[right]
    parts = (told(say(text), values) for text in (chosen.why, question.why))
    return Verdict(given == right, right, 0.0 if given == right else math.nan, say(question.option[right].text),
                   "\n\n".join(part for part in parts if part))


@_judge.register
def _first(question: FirstQuestion, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    times = [values[body] for body in question.bodies]
    known = [t for t in times if not math.isnan(t)]
    if not known:
        right = len(times) + 1
    elif len(known) == len(times) and max(known) - min(known) < SAME:
        right = len(times)
    else:
        right = times.index(min(known))
    when = ", ".join(f"{say(body)}: {say(N_('never')) if math.isnan(t) else f'{t:.4g} s'}"
                     for body, t in zip(question.bodies, times, strict=True))
    return Verdict(given == right, right, 0.0 if given == right else math.nan,
                   f"{options(question, say)[right]} ({when})", told(say(question.why), values))


@_judge.register
def _greatest(question: GreatestQuestion, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    found = [_value(formula, values) for formula in question.of.values()]
    if not all(map(math.isfinite, found)):
        raise NoAnswer(say(N_("The run gives no answer: one of the quantities has no value for it.")))
    first, second = sorted(found, reverse=True)[:2]
    equal = first - second <= question.same * max(abs(first), abs(second))
    right = len(found) if equal else found.index(first)
    numbers = ", ".join(f"{say(name)}: {in_digits(value)}" for name, value in zip(question.of, found, strict=True))
    return Verdict(given == right, right, 0.0 if given == right else math.nan,
                   f"{options(question, say)[right]} ({numbers})", told(say(question.why), values))


@_judge.register
def _point(question: PointQuestion, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    found = _vector(question.answer, values, say)
    away = float(np.linalg.norm(np.subtract(given, found)))
    return Verdict(away <= question.tolerance, found, away, f"{in_brackets(found)} m", told(say(question.why), values))


@_judge.register
def _arrow(question: ArrowQuestion, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    found = _vector(question.answer, values, say)
    if not any(found):
        raise NoAnswer(say(N_("The run gives no answer: its arrow has no length.")))
    # by the tangent, which is exact also where the angle is small
    angle = math.degrees(math.atan2(float(np.linalg.norm(np.cross(given, found))), float(np.dot(given, found))))
    along = say(N_("along {vector}")).format(vector=in_brackets(found))
    return Verdict(angle <= question.tolerance, found, angle, along, told(say(question.why), values))


def _vector(formulas: Sequence[str | float], values: Mapping[str, float], say: Say) -> tuple[float, ...]:
    found = tuple(_value(formula, values) for formula in formulas)
    if not all(map(math.isfinite, found)):
        raise NoAnswer(say(N_("The run gives no answer: what is asked for has no value for it.")))
    return found


@_judge.register
def _sketch(question: SketchQuestion, given: Given, values: Mapping[str, float], say: Say) -> Verdict:
    found = tuple(values[f"{k}"] for k in range(POINTS))
    if not all(map(math.isfinite, found)):
        raise NoAnswer(say(N_("The run gives no answer: the quantity was not known all the time.")))
    apart = float(np.mean(np.abs(np.subtract(given, found)))) / (question.high - question.low)
    return Verdict(apart <= question.tolerance, found, apart, say(A_CURVE), told(say(question.why), {}))


# ------------------------------------------------------------------------------------------------------ words


def told(text: str, values: Mapping[str, float]) -> str:
    """A text with the run's numbers put in."""
    return "".join(part if is_formula else IN_TEXT.sub(lambda found: in_digits(_value(found[1], values)), part)
                   for part, is_formula in pieces(text))


def pieces(text: str) -> list[tuple[str, bool]]:
    """A text cut into words and formulas, these with their $$; whether each is a formula."""
    return [(part, k % 2 == 1) for k, part in enumerate(IN_DOLLARS.split(text)) if part]


def in_words(question: QuestionTable, given: Given) -> str:
    """What was answered, in words."""
    if isinstance(given, tuple):
        return A_CURVE if isinstance(question, SketchQuestion) else in_brackets(given)
    chosen = options(question)
    return chosen[int(given)] if chosen else in_digits(given, 6)


def in_brackets(vector: Sequence[float]) -> str:
    """A point or a vector: "(0.5, 0, 1.2)"."""
    return f"({', '.join(in_digits(0.0 if abs(v) < 1e-12 else v) for v in vector)})"


def in_digits(value: float, digits: int = 3) -> str:
    """A number as a text has it: 0.563, 12, 1.2e-05."""
    if not math.isfinite(value) or value == 0.0:
        return "0" if value == 0.0 else "no number"
    exponent = math.floor(math.log10(abs(value)))
    if not -4 <= exponent < 6:
        return f"{value:.{digits - 1}e}"
    text = f"{value:.{max(digits - 1 - exponent, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _value(formula: str | float, values: Mapping[str, float]) -> float:
    return float(read_formula(formula).value(values))


def _holds(formula: str | float, values: Mapping[str, float]) -> bool:
    value = _value(formula, values)
    return math.isfinite(value) and value != 0.0


def formulas(question: QuestionTable) -> Sequence[tuple[tuple[str | int, ...], str | float]]:
    """All formulas of a question, those in texts included, each with its place in the question's table."""
    found: list[tuple[tuple[str | int, ...], str | float]] = []
    texts: list[tuple[tuple[str | int, ...], str]] = [(("why",), question.why)]
    if isinstance(question, NumberQuestion):
        found.append((("answer",), question.answer))
    if isinstance(question, GreatestQuestion):
        found += [(("of", name), formula) for name, formula in question.of.items()]
    if isinstance(question, PointQuestion | ArrowQuestion):
        found += [(("answer", k), formula) for k, formula in enumerate(question.answer)]
    if isinstance(question, ChoiceQuestion):
        for k, option in enumerate(question.option):
            found.append((("option", k, "when"), option.when))
            texts.append((("option", k, "why"), option.why))
    return [*found, *((at, formula) for at, text in texts
                      for part, is_formula in pieces(text) if not is_formula for formula in IN_TEXT.findall(part))]
