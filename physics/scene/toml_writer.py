"""Write TOML: tables, lists of tables, strings, numbers, booleans and lists of them, as scene files hold them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any


def to_toml(data: Mapping[str, Any]) -> str:
    """TOML that `tomllib` reads back as equal values (tuples as lists, tables in the same order)."""
    return "\n".join(_table(data, ())) + "\n"


def table_lines(table: Mapping[str, Any], path: tuple[str, ...], listed: bool = False) -> Iterator[str]:
    """The lines of one table below the header of its `path`; listed: as one more of a list."""
    name = ".".join(_key(step) for step in path)
    yield f"[[{name}]]" if listed else f"[{name}]"
    yield from _table(table, path)


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    inner = {k: v for k, v in table.items() if isinstance(v, Mapping) or _is_list_of_tables(v)}
    for key, value in table.items():
        if key not in inner and value is not None:
            yield f"{_key(key)} = {inline(value)}"
    for key, value in inner.items():
        for one in [value] if isinstance(value, Mapping) else value:
            yield ""
            yield from table_lines(one, (*path, key), listed=not isinstance(value, Mapping))


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _text(key)


def _text(value: str) -> str:
    # JSON escapes what TOML does, except the delete character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    """A value as it stands behind the name of a field."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(inline(v) for v in value) + "]"
    return repr(value)
