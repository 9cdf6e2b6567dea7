"""Write TOML: tables, lists of tables, strings, numbers, booleans and lists of them, as scene files hold them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any


def to_toml(data: Mapping[str, Any]) -> str:
    """TOML that `tomllib` reads back as equal values (tuples as lists, tables in the same order)."""
    return "\n".join(_table(data, ())) + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    inner = {k: v for k, v in table.items() if isinstance(v, Mapping) or _is_list_of_tables(v)}
    for key, value in table.items():
        if key not in inner and value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in inner.items():
        here = (*path, key)
        name = ".".join(_key(step) for step in here)
        for one in [value] if isinstance(value, Mapping) else value:
            yield ""
            yield f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"
            yield from _table(one, here)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _text(key)


def _text(value: str) -> str:
    # JSON escapes what TOML does, except the delete character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return repr(value)
