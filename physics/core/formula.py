"""Formulas in files: expressions over named numbers, such as "x0 + v*t - mu*g*t**2/2".

They are read with Python's grammar and worked out here, node by node. No code of a file is ever run: there are no
attributes, no subscripts, no loops, and no functions but those of FUNCTIONS.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .limits import FORMULA, FORMULA_DEPTH

Value = float | NDArray[Any]

LARGEST = 1e300  # number written in a formula


def _jacobi(which: int) -> Callable[[Value, Value], Value]:
    def function(u: Value, m: Value) -> Value:
        from scipy.special import ellipj  # loads for 50 ms, and few scenes need it

        return ellipj(u, m)[which]

    return function


def _ellipk(m: Value) -> Value:
    from scipy.special import ellipk

    return ellipk(m)


#: name -> (number of arguments, function); of m, the parameter of elliptic functions, m = k²
FUNCTIONS: dict[str, tuple[int, Callable[..., Value]]] = {
    "sin": (1, np.sin), "cos": (1, np.cos), "tan": (1, np.tan),
    "asin": (1, np.arcsin), "acos": (1, np.arccos), "atan": (1, np.arctan), "atan2": (2, np.arctan2),
    "sinh": (1, np.sinh), "cosh": (1, np.cosh), "tanh": (1, np.tanh),
    "asinh": (1, np.arcsinh), "acosh": (1, np.arccosh), "atanh": (1, np.arctanh),
    "exp": (1, np.exp), "log": (1, np.log), "sqrt": (1, np.sqrt), "abs": (1, np.abs),
    "floor": (1, np.floor), "ceil": (1, np.ceil), "sign": (1, np.sign),
    "min": (2, np.minimum), "max": (2, np.maximum), "where": (3, np.where),
    "sn": (2, _jacobi(0)), "cn": (2, _jacobi(1)), "dn": (2, _jacobi(2)), "am": (2, _jacobi(3)), "ellipk": (1, _ellipk),
}
CONSTANTS = {"pi": np.pi}

_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: np.divide, ast.Mod: np.mod,
    ast.Pow: np.float_power, ast.FloorDiv: np.floor_divide,
}
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class FormulaError(ValueError):
    """A text that is no formula; the message ends the sentence "the formula …"."""


class Formula(NamedTuple):
    """A formula that has been read. `names`: the numbers it needs."""

    text: str
    node: ast.expr
    names: frozenset[str]

    def value(self, numbers: Mapping[str, Value]) -> Value:
        """The formula's value, of all instants at once where `numbers` holds arrays; nan or inf where it has none, as
        after a division by zero."""
        with np.errstate(all="ignore"):
            return _value(self.node, numbers)


def read_formula(given: str | float) -> Formula:
    """A formula from its text, or a number. Raises FormulaError."""
    text = str(given)
    if len(text) > FORMULA.most:
        raise FormulaError(f"is longer than {FORMULA}")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
        raise FormulaError(f"is not an expression ({why})") from error
    names: set[str] = set()
    _check(node, names, 0)
    return Formula(text, node, frozenset(names))


def _check(node: ast.AST, names: set[str], depth: int) -> None:
    """Refuse what is no formula; collect the names of numbers."""
    if depth > FORMULA_DEPTH.most:
        raise FormulaError(f"is nested more than {FORMULA_DEPTH} deep")
    parts: list[ast.expr] = []
    match node:
        case ast.Constant(value=bool() | complex() | str() | bytes() | None):
            raise FormulaError(f"holds {ast.unparse(node)}, which is no number")
        case ast.Constant(value=int() | float() as number):
            if abs(number) > LARGEST:
                raise FormulaError(f"holds a number greater than {LARGEST:g}")
        case ast.Name(id=name):
            if name in FUNCTIONS:
                raise FormulaError(f"uses the function {name} without brackets")
            if name not in CONSTANTS:
                names.add(name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            parts = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            parts = [operand]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            parts = [left, right]
        case ast.BoolOp(values=values):
            parts = values
        case ast.IfExp(test=test, body=body, orelse=other):
            parts = [test, body, other]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS:
                raise FormulaError(f"uses the function {name}, which is none of {', '.join(FUNCTIONS)}")
            if len(args) != FUNCTIONS[name][0]:
                raise FormulaError(f"gives {name} {len(args)} numbers; it takes {FUNCTIONS[name][0]}")
            parts = list(args)
        case _:
            raise FormulaError(f"holds {_shown(node)}; allowed are numbers, names, + - * / // % **, comparisons, "
                               f"and, or, a if b else c, and functions")
    for part in parts:
        _check(part, names, depth + 1)


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _value(node: ast.expr, numbers: Mapping[str, Value]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return np.float64(number)
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else numbers[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](_value(left, numbers), _value(right, numbers))
        case ast.UnaryOp(op=op, operand=operand):
            return -_value(operand, numbers) if isinstance(op, ast.USub) else _value(operand, numbers)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _COMPARISONS[type(op)](_value(left, numbers), _value(right, numbers))
        case ast.BoolOp(op=op, values=values):
            join = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return join.reduce(np.broadcast_arrays(*(_value(part, numbers) for part in values)))
        case ast.IfExp(test=test, body=body, orelse=other):
            return np.where(_value(test, numbers), _value(body, numbers), _value(other, numbers))
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name][1](*(_value(arg, numbers) for arg in args))
    raise AssertionError(ast.dump(node))  # `_check` lets nothing else pass
