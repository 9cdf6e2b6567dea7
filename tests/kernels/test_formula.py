"""Formulas of scene files: their values, what is refused, and that no text of a file is run as code."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactlab.physics.core.formula import FUNCTIONS, FormulaError, read_formula
from contactlab.physics.core.limits import FORMULA, FORMULA_DEPTH


def value(text, **numbers):
    return read_formula(text).value(numbers)


@pytest.mark.parametrize(("text", "expected"), [
    ("1 + 2*3", 7.0), ("2**-1", 0.5), ("-x**2", -9.0), ("7 % 4", 3.0), ("7 // 2", 3.0), ("+x", 3.0),
    ("x if x > 2 else 0", 3.0), ("1 if x < 2 else 2 if x == 3 else 3", 2.0), ("atan2(1, 1)", math.pi / 4),
    ("min(x, 2) + max(x, 2)", 5.0), ("where(x != 3, 1, 2)", 2.0), ("cos(pi)", -1.0), ("x > 1 and x < 2", 0.0),
    ("x > 1 or x < 2", 1.0), ("10**-400", 0.0),
])
def test_formulas_have_the_values_of_algebra(text, expected):
    assert value(text, x=np.float64(3.0)) == pytest.approx(expected, rel=1e-15, abs=0.0)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if FUNCTIONS[name][0] == 1 and hasattr(math, name)])
def test_functions_are_those_of_the_name(name):
    x = 1.5 if name == "acosh" else 0.4
    reference = abs(x) if name == "abs" else getattr(math, name)(x)
    assert value(f"{name}(x)", x=x) == pytest.approx(reference, rel=1e-15)


def test_jacobi_functions_hold_the_pendulum_equation():
    """θ = 2 asin(k cd(ω t | k²)) is let go at rest, and θ̈ = -ω² sin θ: by central differences of a step d, whose error
    is d² ω⁴/12 and rounding 4 ε/d²."""
    k, w, d = math.sin(0.7), 2.0, 1e-4
    t = np.linspace(0.0, 5.0, 40)[:, None] + d * np.array([-1.0, 0.0, 1.0])
    theta = value("2*asin(k*cn(w*t, k**2)/dn(w*t, k**2))", k=k, w=w, t=t)
    second = (theta[:, 0] - 2.0 * theta[:, 1] + theta[:, 2]) / d**2
    assert theta[0, 1] == pytest.approx(1.4, rel=1e-15)
    np.testing.assert_allclose(second, -(w**2) * np.sin(theta[:, 1]), atol=2.0 * w**4 * d**2 + 40 * 2e-16 / d**2)
    quarter = value("ellipk(m)", m=k**2) / w
    assert value("cn(w*t, k**2)", k=k, w=w, t=quarter) == pytest.approx(0.0, abs=1e-15)


def test_all_instants_are_worked_out_at_once():
    t = np.linspace(-1.0, 1.0, 9)
    np.testing.assert_array_equal(value("t**2 if t > 0 else -t", t=t), np.where(t > 0, t**2, -t))


@pytest.mark.parametrize("text", ["1/0", "0/0", "log(0)", "sqrt(-1)", "1e300*1e9", "(-8)**(1/3)", "asin(2)",
                                  "10.0**400", "1 % 0", "1 // 0"])
def test_what_has_no_value_is_no_number_and_no_error(text):
    assert not np.isfinite(value(text))


@pytest.mark.parametrize(("text", "why"), [
    ("", "not an expression"), ("1 +", "not an expression"), ("a = 1", "not an expression"),
    ("__import__('os').system('true')", "allowed are"), ("().__class__", "allowed are"), ("x.real", "allowed are"),
    ("x[0]", "allowed are"), ("[x for x in (1, 2)]", "allowed are"), ("lambda: 1", "allowed are"), ("'a'", "no number"),
    ("True", "no number"), ("2j", "no number"), ("open(1)", "function open"), ("sin(1, 2)", "takes 1"),
    ("sin", "without brackets"), ("1 < x < 2", "allowed are"), ("x @ x", "allowed are"), ("not x", "allowed are"),
    ("sin(x=1)", "allowed are"), ("sin(*x)", "allowed are"), ("(" * 3000, "longer than"),
    ("x" * (FORMULA.most + 1), "longer"),
    ("1" + 400 * "0", "greater than"), ("1e999", "greater than"),
    ("-" * (FORMULA_DEPTH.most + 2) + "x", "levels deep"), ("(" * 300 + "x" + ")" * 300, "not an expression"),
])
def test_other_texts_are_refused_in_words(text, why):
    with pytest.raises(FormulaError, match=why):
        read_formula(text)


@given(st.text(max_size=60))
def test_any_text_is_a_formula_or_refused(text):
    """A text that is read has a value once its numbers are known."""
    try:
        formula = read_formula(text)
    except FormulaError:
        return
    formula.value({name: 0.5 for name in formula.names})
