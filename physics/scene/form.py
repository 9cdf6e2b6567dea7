"""The form of a file of tables: which fields it has, of which kind and range; each mistake in words that name the
field. Scenes and lessons are read so; what a field allows is said by its description in the schema."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from .schema import Table
from .values import in_words

Location = tuple[str | int, ...]
File = TypeVar("File", bound=Table)
MAX_SHOWN = 50  # characters of a value in a message
DEEPEST = 16    # levels of tables and lists in a file


class Vocabulary(NamedTuple, Generic[File]):
    """Which tables a kind of file has."""

    root: type[File]
    tables: Mapping[str, type[Table]]  #: name in a path -> model; "above.name" goes before "name"
    kinds: Mapping[str, Mapping[str, type[Table]]]  #: of tables that go by their `type`: name -> type -> model
    named: frozenset[str]              #: tables whose fields are names that the writer chooses


class Problem(NamedTuple):
    location: Location  #: names of fields, and indices in lists, from the top of the file
    text: str           #: the rest of the sentence


def path_text(location: Location) -> str:
    """("body", 2, "shape", 0, "radius") as body[2].shape[0].radius."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the file"


def shown(value: Any) -> str:
    """A value as a message shows it: as in TOML, and not too long."""
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value).replace("'", '"')
    if isinstance(value, dict):
        text = "a table"
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def unreadable(node: Any, at: Location = ()) -> Iterator[Problem]:
    """What no table holds: values nested too deeply, and whole numbers past the 64 bits that TOML has."""
    if isinstance(node, int) and not -(2**63) <= node < 2**63:
        yield Problem(at, "is a whole number of more than 64 bits; it must be smaller")
    children = node.items() if isinstance(node, Mapping) else enumerate(node) if isinstance(node, list | tuple) else ()
    if children and len(at) == DEEPEST:
        yield Problem(at[:2], f"is nested more than {DEEPEST} levels deep; it must have fewer")
        return
    for key, child in children:
        yield from unreadable(child, (*at, key))


def read_form(data: Mapping[str, Any], vocabulary: Vocabulary[File]) -> tuple[File | None, list[Problem]]:
    """The file as models, or what keeps it from being one."""
    try:
        return vocabulary.root.model_validate(data), []
    except ValidationError as error:
        errors = error.errors(include_url=False)
        problems = [_describe(data, e, vocabulary) for e in errors if not _follows(e, errors)]
        return None, list(dict.fromkeys(problems))


def _follows(error: Any, errors: Sequence[Any]) -> bool:
    """Whether a list is too short only because items of it are wrong, each of which has its own error."""
    at = error["loc"]
    return error["type"] == "too_short" and any(e["loc"][: len(at)] == at and len(e["loc"]) > len(at) for e in errors)


def _describe(data: Mapping[str, Any], error: Any, vocabulary: Vocabulary[Any]) -> Problem:
    location = _in_file(data, error["loc"])
    model = _table_of(data, location[:-1], vocabulary)
    name = location[-1] if location else ""
    field = model.model_fields.get(name) if isinstance(name, str) else None
    wanted = field.description if field is not None and field.description else "as the format says"
    kind, given = error["type"], shown(error["input"])
    if kind == "extra_forbidden":
        known = list(model.model_fields)
        near = difflib.get_close_matches(str(name), known, 1)
        guess = f" (did you mean {near[0]}?)" if near else ""
        return Problem(location, f"is not a known field{guess}; allowed here: {', '.join(known)}")
    if kind == "missing":
        if isinstance(name, int):  # one of a pair of names
            what = "bodies or groups" if location[0] == "apart" else "materials"
            return Problem(location[:-1], f"is too short; it must be the names of two {what}")
        return Problem(location, f"is missing; it must be {wanted}")
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        table = next(str(step) for step in reversed(location) if not isinstance(step, int))
        location += ("type",)
        given = shown(error["input"].get("type")) if kind == "union_tag_invalid" else "missing"
        return Problem(location, f"is {given}; it must be one of {', '.join(vocabulary.kinds[table])}")
    if kind == "scene":
        wanted = error["ctx"]["reason"]
        return Problem(location, f"is {given}; it must {wanted}")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        wanted = "a table"
    elif kind == "tuple_type":
        wanted = f"a list: {wanted}"
    elif (bound := _bound(error)) and bound.split()[-1] not in wanted:
        wanted += f", {bound}"
    return Problem(location, f"is {given}; it must be {wanted}")


def _bound(error: Any) -> str:
    """The end of a range that a number passed, in words; "" where it passed none."""
    for key, words in (("le", "at most"), ("ge", "at least")):
        if key in error.get("ctx", {}):
            return f"{words} {in_words(float(error['ctx'][key]))}"
    return ""


def _in_file(data: Any, location: Location) -> Location:
    """A location without the steps that pydantic adds for the type of a table."""
    path: list[str | int] = []
    node: Any = data
    for step in location:
        if isinstance(node, dict) and step not in node and node.get("type") == step:
            continue
        path.append(step)
        node = _inside(node, step)
    return tuple(path)


def _inside(node: Any, step: str | int) -> Any:
    """What a table or a list holds under a name or number; None where there is no such thing."""
    if isinstance(node, dict):
        return node.get(step)
    if isinstance(node, list | tuple) and isinstance(step, int) and step < len(node):
        return node[step]
    return None


def _table_of(data: Any, location: Location, vocabulary: Vocabulary[Any]) -> type[Table]:
    """The model of the table at a location."""
    model: type[Table] = vocabulary.root
    kinds: Mapping[str, type[Table]] = {}
    node, chosen = data, False  # whether the next step is a name that the writer chose
    for step in location:
        node = _inside(node, step)
        if isinstance(step, str) and not chosen:
            model = vocabulary.tables.get(f"{location[0]}.{step}", vocabulary.tables.get(step, model))
            kinds, chosen = vocabulary.kinds.get(step, {}), step in vocabulary.named
        else:
            chosen = False
        if kinds and isinstance(node, dict):
            model = kinds.get(str(node.get("type")), model)
    return model
