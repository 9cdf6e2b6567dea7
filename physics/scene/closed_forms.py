"""Closed forms of scene files: what is wrong with their formulas, and the forms themselves."""

from collections.abc import Iterator, Mapping, Sequence

from ..core.closed_form import PARAMETERS, START, ClosedForm
from ..core.formula import CONSTANTS, FUNCTIONS, Formula, read_formula
from ..core.model import Array
from ..core.state import Bodies
from .schema import ClosedFormTable

Found = tuple[tuple[str | int, ...], str]  # a field and the rest of the sentence about it


def check_formulas(at: tuple[str | int, ...], table: ClosedFormTable) -> Iterator[Found]:
    """Names in the formulas of one table that stand for no number."""
    known = {*PARAMETERS, *START, *CONSTANTS}
    for name, text in table.let.items():
        if not name.isidentifier() or name in known or name in FUNCTIONS:
            yield ((*at, "let", name), "is not a name that can be given; it must be a word of letters, digits and _ "
                                       "that has no other meaning here")
            continue
        yield from _unknown((*at, "let", name), text, known)
        known.add(name)
    for field in ("position", "turn"):
        for k, text in enumerate(getattr(table, field)):
            yield from _unknown((*at, field, k), text, known)
    yield from _unknown((*at, "holds"), table.holds, known)


def _unknown(at: tuple[str | int, ...], text: str | float, known: set[str]) -> Iterator[Found]:
    for name in sorted(read_formula(text).names - known):
        yield at, f"uses {name}; it must use no other numbers than {', '.join(sorted(known))}"


def make_closed_forms(
    tables: Sequence[ClosedFormTable], rows: Mapping[str, int], fixed: int, origins: Array,
    first: Bodies, mass: Sequence[float],
) -> tuple[ClosedForm, ...]:
    """The forms of all tables. rows: row of each body by name; fixed: row of the first fixed body; origins (n, 3):
    where bodies have their `position` at the start [m]; first: their first state."""
    return tuple(_form(table, rows[name], rows[table.against] if table.against is not None else fixed,
                       origins, first, mass)
                 for table in tables for name in table.bodies)


def _form(table: ClosedFormTable, body: int, other: int, origins: Array, first: Bodies,
          mass: Sequence[float]) -> ClosedForm:
    def formulas(texts: Sequence[str | float]) -> tuple[Formula, ...]:
        return tuple(read_formula(text) for text in texts)

    numbers = [mass[body], *origins[body], *first.v[body], *first.w[body]]
    return ClosedForm(
        body, other, dict(zip(START, map(float, numbers), strict=True)),
        tuple((name, read_formula(text)) for name, text in table.let.items()), formulas(table.position),
        formulas(table.turn), read_formula(table.holds), tuple(first.x[body].tolist()), tuple(first.q[body].tolist()),
    )
