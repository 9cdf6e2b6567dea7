"""What a function does, told in the same words by every process: its instructions and the values it has from around
it."""

import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

PLAIN = (bool, int, float, complex, str, type(None))  # values whose text tells all of them


def function_mark(function: Callable[..., Any] | None) -> Any:
    """Lists and texts that differ where two functions do, or where the numbers and functions that they name differ. Of
    other values that they name, and of what is not written in Python, there is only the name."""
    return _mark(function, ())


def _mark(function: Any, callers: tuple[Any, ...]) -> Any:
    function = getattr(function, "py_func", function)  # of one that numba has compiled
    if not inspect.isfunction(function) or function in callers:
        return getattr(function, "__qualname__", type(function).__qualname__)
    around = inspect.getclosurevars(function)
    named = {**around.globals, **around.nonlocals}
    values = {name: repr(value) if isinstance(value, PLAIN) else _mark(value, (*callers, function))
              for name, value in named.items()}
    return [_instructions(function.__code__), repr(function.__defaults__), values]


def _instructions(code: CodeType) -> list[Any]:
    constants = [_instructions(value) if isinstance(value, CodeType)
                 else sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)  # sets have no order
                 for value in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), constants]
