"""What a value of a scene file may be: its kind, its range, and how a message says so.

Every number is 0 or between SMALLEST and LARGEST in size, every length of a shape between SHORTEST and LONGEST, so that
masses (up to 1e42 kg), moments of inertia (1e60 kg m2), their inverses and the squares of all of these are finite.
"""

import math
import re
from typing import Annotated, Any

from pydantic import Field, Strict, WithJsonSchema, WrapValidator
from pydantic_core import PydanticCustomError

from ..core.formula import FormulaError, read_formula
from ..core.limits import BODIES

LARGEST = 1e15      # size of any number, in SI units
SMALLEST = 1e-15    # of a number that must be greater than 0
SHORTEST, LONGEST = 1e-9, 1e9  # of the lengths of a shape [m]
THINNEST = 1e-9     # least ratio of two lengths of one shape; contact points of thinner ones are lost in rounding
UNIT_SLACK = 1e-3   # how far from 1 the length of a quaternion may be; it is then normalised

Number = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-LARGEST, le=LARGEST)]
Positive = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=SMALLEST, le=LARGEST)]
Length = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=SHORTEST, le=LONGEST)]
NotNegative = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=0.0, le=LARGEST)]
NaturalNumber = Annotated[int, Strict(), Field(ge=0)]
Flag = Annotated[bool, Strict()]
Name = Annotated[str, Strict(), Field(min_length=1, max_length=300)]


def in_words(number: float) -> str:
    """A number as a message says it: 1e9, not 1e+09."""
    return f"{number:g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def refuse(reason: str) -> PydanticCustomError:
    """An error whose text goes into the message as it stands."""
    return PydanticCustomError("scene", "{reason}", {"reason": reason})


def _numbers(value: Any, lengths: tuple[int, ...]) -> tuple[float, ...]:
    """A list of numbers of an allowed length."""
    whole = isinstance(value, list | tuple) and len(value) in lengths
    if not whole or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
        raise refuse(f"be a list of {' or '.join(str(n) for n in lengths)} numbers")
    if not all(abs(v) <= LARGEST for v in value):
        raise refuse(f"hold finite numbers only, from {in_words(-LARGEST)} to {in_words(LARGEST)}")
    return tuple(float(v) for v in value)


def _list_schema(*lengths: int, **items: float) -> WithJsonSchema:
    of = {"type": "array", "items": {"type": "number", "minimum": -LARGEST, "maximum": LARGEST, **items}}
    choices: list[dict[str, Any]] = [{**of, "minItems": n, "maxItems": n} for n in lengths]
    return WithJsonSchema(choices[0] if len(choices) == 1 else {"anyOf": choices})


def _vector(value: Any, _: Any) -> tuple[float, ...]:
    return _numbers(value, (3,))


def _sizes(value: Any, _: Any) -> tuple[float, ...]:
    sizes = _numbers(value, (3,))
    if min(sizes) < SHORTEST or max(sizes) > LONGEST:
        raise refuse(f"hold three lengths from {in_words(SHORTEST)} to {in_words(LONGEST)}")
    if min(sizes) < THINNEST * max(sizes):
        raise refuse(f"hold lengths of which none is shorter than {in_words(THINNEST)} of another")
    return sizes


def _heights(value: Any, _: Any) -> tuple[tuple[float, ...], ...]:
    rows = value if isinstance(value, list | tuple) else ()
    widths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    if len(rows) < 2 or len(widths) != 1 or min(widths) < 2:
        raise refuse("be a list of at least two rows, each of as many numbers and at least two")
    return tuple(_numbers(row, tuple(widths)) for row in rows)


def _cells(value: Any, _: Any) -> tuple[int, int]:
    whole = isinstance(value, list | tuple) and len(value) == 2
    if not whole or not all(isinstance(v, int) and not isinstance(v, bool) and v >= 1 for v in value):
        raise refuse("be two whole numbers of at least 1")
    return value[0], value[1]


def _lengths(value: Any, _: Any) -> tuple[float, float]:
    x, y = _numbers(value, (2,))
    if min(x, y) < SHORTEST or max(x, y) > LONGEST:
        raise refuse(f"hold two lengths from {in_words(SHORTEST)} to {in_words(LONGEST)}")
    return x, y


def _moments(value: Any, _: Any) -> tuple[float, ...]:
    return _numbers(value, (3, 6))


def _quaternion(value: Any, _: Any) -> tuple[float, ...]:
    q = _numbers(value, (4,))
    norm = math.sqrt(sum(v * v for v in q))
    if abs(norm - 1.0) > UNIT_SLACK:
        raise refuse(f"be a unit quaternion [w, x, y, z] (its length is {norm:.6g}, allowed is 1 ± {UNIT_SLACK})")
    return q if norm == 1.0 else tuple(v / norm for v in q)


def _color(value: Any, _: Any) -> tuple[float, ...]:
    if isinstance(value, str):
        if not re.fullmatch("#[0-9a-fA-F]{6}", value):
            raise refuse('be a colour such as "#e69f00" or [0.9, 0.6, 0.0]')
        return tuple(int(value[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    rgb = _numbers(value, (3,))
    if min(rgb) < 0.0 or max(rgb) > 1.0:
        raise refuse("hold red, green and blue from 0 to 1")
    return rgb


def _formula(value: Any, _: Any) -> str | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise refuse("be a formula in quotes or a number")
    try:
        read_formula(value)
    except FormulaError as error:
        raise refuse(f"be a formula; it {error}") from error
    return value if isinstance(value, str) else float(value)


def _formulas(value: Any, _: Any) -> tuple[str | float, ...]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise refuse("be a list of three formulas in quotes or numbers")
    return tuple(_formula(one, None) for one in value)


def _points(value: Any, _: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list | tuple) or len(value) < 4:
        raise refuse("be a list of at least four points [x, y, z]")
    return tuple(_numbers(p, (3,)) for p in value)


def _counts(value: Any, _: Any) -> tuple[int, ...]:
    whole = isinstance(value, list | tuple) and len(value) == 3
    if not whole or not all(isinstance(v, int) and not isinstance(v, bool) and v >= 1 for v in value):
        raise refuse("be three whole numbers of at least 1")
    if math.prod(value) > BODIES.most:
        raise refuse(f"not make more than {BODIES}")
    return tuple(value)


def _direction(value: Any, _: Any) -> tuple[float, ...]:
    u = _numbers(value, (3,))
    length = math.sqrt(sum(c * c for c in u))
    if abs(length - 1.0) > UNIT_SLACK:
        raise refuse(f"be a unit vector [x, y, z] (its length is {length:.6g}, allowed is 1 ± {UNIT_SLACK})")
    return tuple(c / length for c in u)


def _directions(value: Any, _: Any) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise refuse("be a list of two unit vectors")
    return tuple(_direction(u, None) for u in value)


def _amounts(value: Any, _: Any) -> tuple[float, ...]:
    return _numbers(value if isinstance(value, list | tuple) else [value], (1, 2, 3))


def _ranges(value: Any, _: Any) -> tuple[tuple[float, float], ...]:
    """(lower, upper) of each axis; a single number is the upper end of one that begins at 0."""
    if not isinstance(value, list | tuple):
        return ((0.0, _numbers([value], (1,))[0]),)
    rows = value if value and isinstance(value[0], list | tuple) else [value]
    ranges = tuple(_numbers(r, (2,)) for r in rows)
    if any(low > high for low, high in ranges):
        raise refuse("begin with the lower limit")
    return tuple((low, high) for low, high in ranges)


Triple = tuple[float, float, float]
Direction = Annotated[Triple, WrapValidator(_direction), _list_schema(3)]
Directions = Annotated[
    tuple[Triple, Triple], WrapValidator(_directions),
    WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2,
                    "items": {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}}),
]
Amounts = Annotated[
    tuple[float, ...], WrapValidator(_amounts),
    WithJsonSchema({"anyOf": [{"type": "number"},
                              {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3}]}),
]
Ranges = Annotated[
    tuple[tuple[float, float], ...], WrapValidator(_ranges),
    WithJsonSchema({"anyOf": [{"type": "number"}, {
        "type": "array", "minItems": 1, "maxItems": 2,
        "items": {"anyOf": [{"type": "number"},
                            {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]}}]}),
]
Vec3 = Annotated[Triple, WrapValidator(_vector), _list_schema(3)]
Sizes = Annotated[Triple, WrapValidator(_sizes), _list_schema(3, minimum=SHORTEST, maximum=LONGEST)]
Lengths = Annotated[tuple[float, float], WrapValidator(_lengths), _list_schema(2, minimum=SHORTEST, maximum=LONGEST)]
Cells = Annotated[
    tuple[int, int], WrapValidator(_cells),
    WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2,
                    "items": {"type": "integer", "minimum": 1}}),
]
Heights = Annotated[
    tuple[tuple[float, ...], ...], WrapValidator(_heights),
    WithJsonSchema({"type": "array", "minItems": 2, "items": {"type": "array", "items": {"type": "number"},
                                                              "minItems": 2}}),
]
Moments = Annotated[tuple[float, ...], WrapValidator(_moments), _list_schema(3, 6)]
Quaternion = Annotated[tuple[float, float, float, float], WrapValidator(_quaternion), _list_schema(4)]
Color = Annotated[
    Triple, WrapValidator(_color),
    WithJsonSchema({"anyOf": [
        {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"},
        {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 3, "maxItems": 3},
    ]}),
]
_FORMULA = {"type": ["string", "number"]}
FormulaText = Annotated[str | float, WrapValidator(_formula), WithJsonSchema(_FORMULA)]
Formulas = Annotated[
    tuple[str | float, str | float, str | float], WrapValidator(_formulas),
    WithJsonSchema({"type": "array", "items": _FORMULA, "minItems": 3, "maxItems": 3}),
]
Points = Annotated[
    tuple[Triple, ...], WrapValidator(_points),
    WithJsonSchema({"type": "array", "minItems": 4, "items": {"type": "array", "items": {"type": "number"},
                                                              "minItems": 3, "maxItems": 3}}),
]
Counts = Annotated[
    tuple[int, int, int], WrapValidator(_counts),
    WithJsonSchema({"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 3, "maxItems": 3}),
]


def choice(table: tuple[str, ...]) -> Any:
    """One of these names."""

    def check(value: Any, _: Any) -> str:
        if value not in table:
            raise refuse(f"be one of {', '.join(table)}")
        return value

    return Annotated[str, WrapValidator(check), WithJsonSchema({"type": "string", "enum": list(table)})]
