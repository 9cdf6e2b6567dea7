"""What an editor needs to know of the fields of a scene file, read from the schema: a new field of the schema is there
at once, with its kind, unit, range, default and help."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from .form import Location
from .schema import SHAPES, TABLES, SceneFile

UNIT = re.compile(r"\[((?:kg|m|s|N|Hz|J|rad|degrees)\b[^\]]*)\]")
LIST = "list"  # of a list of tables


class Field(NamedTuple):
    """A field of a table."""

    name: str
    #: flag, whole, number, text, choice, numbers, names, words, color, table, list, or toml: anything else
    kind: str
    unit: str           #: as in the description, "" where there is none
    help: str           #: the description
    default: Any        #: None where there is none
    needed: bool        #: it has to be there
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    count: int          #: of numbers that `kind` numbers has
    names: str          #: what it names: "body" or "material", else ""
    table: str          #: name in TABLES of what a table or a list holds; "shape" for shapes

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()


def table_at(data: Mapping[str, Any], at: Location) -> str:
    """Which table of TABLES, or of SHAPES, is at a location."""
    if len(at) == 4 and at[2] == "shape":
        body = data["body"][at[1]]
        return str(body["shape"][at[3]].get("type"))
    names = [step for step in at if isinstance(step, str)]
    if names[0] == "material":
        return "material"
    return f"{names[0]}.{names[-1]}" if f"{names[0]}.{names[-1]}" in TABLES else names[-1]


@cache
def fields(table: str) -> tuple[Field, ...]:
    """The fields of a table of TABLES or of a shape of SHAPES, in the order of the schema; a shape's type is none."""
    model = {**TABLES, **SHAPES}[table]
    schema = model.model_json_schema()
    needed = schema.get("required", ())
    known = schema.get("$defs", {})
    return tuple(_field(name, entry, known, name in needed) for name, entry in schema["properties"].items()
                 if not (name == "type" and table in SHAPES))


@cache
def tables() -> Mapping[str, str]:
    """The tables of a scene file, in order, and what they are: "table", "list", or "named" of materials."""
    kinds = {}
    for name, entry in SceneFile.model_json_schema()["properties"].items():
        form = entry.get("type")
        kinds[name] = "list" if form == "array" else "named" if form == "object" else "table"
    return kinds


def _field(name: str, entry: Mapping[str, Any], known: Mapping[str, Any], needed: bool) -> Field:
    words = entry.get("description", "")
    options = [_resolved(option, known) for option in entry.get("anyOf", [entry])]
    options = [option for option in options if option.get("type") != "null"]
    form = options[0] if len(options) == 1 else {}
    choices = tuple(form.get("enum", ()))
    unit = UNIT.search(words)
    item = _resolved(form.get("items", {}), known)
    named = re.search(r"the names? of (?:a |two |the )?(body|bodies|material)", words)
    kind, count, table = "toml", 0, ""
    if any("pattern" in option for option in options):
        kind = "color"
    elif choices:
        kind = "choice"
    elif isinstance(form.get("type"), str) and form["type"] in _PLAIN:
        kind = _PLAIN[form["type"]]
    elif form.get("type") == "object" and "properties" in form:
        kind, table = "table", name
    elif form.get("type") == "array" and (item.get("type") == "object" or "oneOf" in item):
        kind, table = LIST, name
    elif named and "minItems" in form:
        kind, count = "names", form["minItems"]
    elif item.get("type") == "string" and "minItems" not in form and not named:
        kind = "words"
    elif item.get("type") == "number" and form.get("minItems") == form.get("maxItems", -1):
        kind, count = "numbers", form["minItems"]
    elif options and all(o.get("minItems") == 4 == o.get("maxItems") for o in options):
        kind, count = "numbers", 4
    low, high = (form.get(key, item.get(key)) for key in ("minimum", "maximum"))
    if "exclusiveMinimum" in form:
        low = form["exclusiveMinimum"]
    what = "" if named is None else "material" if named.group(1) == "material" else "body"
    return Field(name, kind, unit.group(1) if unit else "", words, entry.get("default"), needed, low, high, choices,
                 count, what, table)


_PLAIN = {"boolean": "flag", "integer": "whole", "number": "number", "string": "text"}


def _resolved(option: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in option:
        return known[option["$ref"].rpartition("/")[2]]
    return option
