"""What a run says of predictions that are points, arrows and comparisons."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactlab.physics.lesson.answers import histogram
from contactlab.physics.lesson.questions import EQUAL, NoAnswer, fault, in_words, judge, options, right_answer
from contactlab.physics.lesson.schema import ArrowQuestion, FirstQuestion, GreatestQuestion, PointQuestion
from contactlab.physics.run.measures import whose

POINT = PointQuestion(type="point", ask="?", answer=("x", "0", "z"), tolerance=0.5)
ARROW = ArrowQuestion(type="arrow", ask="?", body="b", answer=("x", "y", "z"), tolerance=30.0)
GREATEST = GreatestQuestion(type="greatest", ask="?", of={"left": "a", "right": "2*b"}, why="{a} N")
COORDINATES = st.tuples(*[st.floats(-1e3, 1e3)] * 3)


@given(COORDINATES, COORDINATES)
def test_a_point_is_off_by_its_distance(guess, found):
    """To rounding of a norm of three differences."""
    verdict = judge(POINT, guess, {"x": found[0], "z": found[2]})
    distance = math.dist(guess, (found[0], 0.0, found[2]))
    assert verdict.error == pytest.approx(distance, rel=1e-12) and verdict.right == (verdict.error <= 0.5)


@given(st.floats(0.0, 180.0), st.floats(0.1, 1e3), st.floats(0.1, 1e3))
def test_an_arrow_is_off_by_its_angle_whatever_its_length(angle, one, other):
    """Both arrows lie in the plane of x and z; atan2 of |a × b| and a · b is exact to some 1e-14 rad at all angles."""
    turn = math.radians(angle)
    verdict = judge(ARROW, (one, 0.0, 0.0), {"x": other * math.cos(turn), "y": 0.0, "z": other * math.sin(turn)})
    assert verdict.error == pytest.approx(angle, abs=1e-11) and verdict.right == (verdict.error <= 30.0)


def test_an_arrow_without_length_is_no_answer_and_none_of_a_run():
    assert fault(ARROW, (0.0, 0.0, 0.0)) and not fault(ARROW, (0.0, 1e-9, 0.0)) and not fault(POINT, (0.0, 0.0, 0.0))
    for value in (0.0, math.nan, math.inf):
        with pytest.raises(NoAnswer):
            judge(ARROW, (1.0, 0.0, 0.0), dict.fromkeys("xyz", value))


@pytest.mark.parametrize("given", [None, 1.0, (1.0, 2.0), (1.0, math.nan, 0.0), "point"])
def test_what_is_no_point_is_told(given):
    assert fault(POINT, given) == "The point must be placed in the view."


@pytest.mark.parametrize(("a", "b", "right"), [
    (3.0, 1.0, 0), (1.0, 1.0, 1), (2.0, 1.0, 2), (2.0, 1.009, 2), (2.0, 1.02, 1),
])
def test_of_quantities_the_greatest_is_right_and_within_one_per_cent_they_are_equal(a, b, right):
    verdict = judge(GREATEST, right, {"a": a, "b": b})
    assert verdict.right and verdict.measured == right and options(GREATEST)[right] in verdict.answer
    assert options(GREATEST)[2] == EQUAL and verdict.why == f"{a:g} N"


def test_a_quantity_without_a_value_is_no_answer():
    with pytest.raises(NoAnswer):
        right_answer(GREATEST, {"a": math.nan, "b": 1.0})


def test_pairs_of_bodies_are_named_by_both():
    bodies = ("wall", "salt and pepper", "salt")
    assert whose("salt and pepper", bodies) == ("salt and pepper",)
    assert whose("wall and salt", bodies) == ("wall", "salt")
    assert whose("salt and pepper and wall", bodies) == ("salt and pepper", "wall")
    assert whose("wall and wall", bodies) is None and whose("wall and moon", bodies) is None
    first = FirstQuestion(type="first", ask="?", event="dynamic_loss", bodies=("wall and salt", "salt"))
    assert judge(first, 1, {"wall and salt": math.nan, "salt": 0.5}).right


def test_answers_in_the_view_are_told_in_words_and_counted_by_how_far_they_are_off():
    assert in_words(POINT, (0.5, -0.0, 1.25)) == "(0.5, 0, 1.25)" and in_words(GREATEST, 2) == EQUAL
    row = {"first answer": "(1, 0, 0)", "value": None, "error": 12.0}
    assert histogram([{**row, "kind": "arrow"}] * 2 + [{**row, "kind": "arrow", "error": 91.0}]) == [
        ("off by 10 to 20°", 2), ("off by 90 to 100°", 1)]
    points = histogram([{**row, "kind": "point", "error": error} for error in (0.0, 0.1, 1.0)])
    assert sum(count for _, count in points) == 3 and points[0] == ("off by 0 … 0.3333 m", 2)
    assert histogram([{**row, "kind": "point", "error": None}]) == [("(1, 0, 0)", 1)]


def test_the_run_s_answer_is_told_without_a_prediction():
    assert right_answer(POINT, {"x": 1.0, "z": 0.25}).answer == "(1, 0, 0.25) m"
    assert right_answer(ARROW, {"x": 0.0, "y": 0.0, "z": 2.0}).answer == "along (0, 0, 2)"
    assert np.isfinite(judge(POINT, (0.0, 0.0, 0.0), {"x": 1.0, "z": 0.25}).error)
