"""A scene or lesson file as text that is edited: what an edit does not concern stays as it was written, with its
comments.

The text is cut at its headers into blocks: `[scene]` begins one, `[[body]]` another. An edit parses the one block that
it changes, by tomlkit, which keeps comments and the way numbers are written. All the rest is copied, so that tables may
stand in any order.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import tomlkit
from tomlkit.items import Array

from .form import Location
from .schema import SceneFile
from .toml_writer import table_lines

#: what a line break, a bracket or a header may stand in, and what ends a line
TOKEN = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|\n|[\[\]{}]|'
                   r'[^\s"\'#\[\]{}]+|\S', re.DOTALL)
#: empty lines and comments at the end of a block
END = re.compile(r"(?:^[ \t\r]*(?:#[^\n]*)?(?:\n|\Z))+\Z", re.MULTILINE)
LONG = 110  # letters of a text in one line
ORDER = tuple(SceneFile.model_fields)  # of the tables in a file


class Block(NamedTuple):
    """A header with what stands below it, down to the next one."""

    at: Location  #: the table: ("body", 2, "shape", 0); () of what stands before the first header
    lead: str     #: comments directly above the header
    head: str     #: the line of the header
    body: str


class Document:
    """The text of a scene file, and edits of it. Locations are as in messages: ("body", 2, "shape", 0, "radius")."""

    def __init__(self, text: str, order: Sequence[str] = ORDER) -> None:
        """order: of the tables in such a file. ValueError where the text is no TOML."""
        self._order = tuple(order)
        self.data: dict[str, Any] = tomllib.loads(text)  #: what the text says
        self._blocks = list(_blocks(text))

    @property
    def text(self) -> str:
        return "".join(f"{b.lead}{b.head}{b.body}" for b in self._blocks)

    def get(self, at: Location) -> Any:
        """The value at a location as plain Python, None where there is none."""
        node: Any = self.data
        for step in at:
            if isinstance(node, Mapping):
                node = node.get(step)
            elif isinstance(node, list) and isinstance(step, int) and step < len(node):
                node = node[step]
            else:
                return None
        return node

    def put(self, at: Location, value: Any) -> None:
        """Set a value, None: remove it. Tables on the way to it are made."""
        *way, name = at
        if isinstance(value, tuple):
            value = list(value)
        before = self.get(at)
        if before == value and type(before) is type(value):
            return
        if any(b.at[: len(at)] == at for b in self._blocks):  # tables with headers of their own
            self.remove(at)
        place = self._place(tuple(way))
        if place is None:
            if value is None:
                return
            self.extend(tuple(way), [{}])
            place = next(i for i, b in enumerate(self._blocks) if b.at == tuple(way))
        block = self._blocks[place]
        content = END.sub("", block.body)
        page = tomlkit.parse(content)
        node: Any = page
        for step in way[len(block.at) :]:
            if isinstance(step, str) and step not in node:
                node[step] = tomlkit.inline_table()
            node = node[step]
        if value is None:
            if name in node:
                del node[name]
        elif isinstance(name, str) and isinstance(old := node.get(name), Array) and isinstance(value, list):
            node[name] = _with_comment(old, value)
        else:
            node[name] = _item(value)
        new = tomlkit.dumps(page)
        new += "\n" if new and not new.endswith("\n") else ""
        self._blocks[place] = block._replace(body=new + block.body[len(content) :])
        self._note(at, value)

    def append(self, at: Location, table: Mapping[str, Any]) -> int:
        """Add a table to a list of tables, ("body",) or ("body", 2, "shape"); returns its place in the list."""
        return self.extend(at, [table])

    def extend(self, at: Location, tables: Sequence[Mapping[str, Any]]) -> int:
        """Add tables to a list, or one with a header of its own, ("material", "steel"); returns the place of the first
        in the list."""
        there, listed = self.get(at), at[0] not in ("scene", "camera", "solver", "material") and not _is_table(at)
        count = len(there) if listed and there is not None else 0
        if count and not any(b.at == (*at, 0) for b in self._blocks):  # written as a list in its line
            self.put(at, [*(there or ()), *map(dict, tables)])
            return count
        path = tuple(step for step in at if isinstance(step, str))
        self._insert(at if count else at[:-1], at[0], "\n\n".join(
            "\n".join(table_lines(table, path, listed)) for table in tables))
        return count

    def remove(self, at: Location) -> None:
        """Remove a table with all that is in it, or a value."""
        rest = [b for b in self._blocks if b.at[: len(at)] != at]
        if len(rest) < len(self._blocks):
            self._cut("".join(f"{b.lead}{b.head}{b.body}" for b in rest))
        elif isinstance(at[-1], int):
            there = list(self.get(at[:-1]))
            del there[at[-1]]
            self.put(at[:-1], there or None)
        else:
            self.put(at, None)

    # ------------------------------------------------------------------------------------------ blocks

    def _place(self, at: Location) -> int | None:
        """Which block holds the table at a location, or the beginning of the way there; None: the table is missing."""
        best = max((i for i, b in enumerate(self._blocks) if b.at == at[: len(b.at)]),
                   key=lambda i: len(self._blocks[i].at), default=None)
        if best is None:
            return None
        rest = at[len(self._blocks[best].at):]
        if not self._blocks[best].at and rest and self.get(at[:1]) is None:
            return None  # the first block is no place for what has a header
        return best

    def _note(self, at: Location, value: Any) -> None:
        """Let `data` say what the text does now."""
        node: Any = self.data
        for step in at[:-1]:
            node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
        if value is None:
            node.pop(at[-1], None)
        else:
            node[at[-1]] = value

    def _insert(self, within: Location, kind: Any, lines: str) -> None:
        """Put lines with headers behind the last block of `within`; where there is none, where tables of this kind
        stand among the others."""
        behind = max((i for i, b in enumerate(self._blocks) if within and b.at[: len(within)] == within), default=None)
        if behind is None:
            before = self._order[: self._order.index(kind) + 1] if kind in self._order else self._order
            behind = max(i for i, b in enumerate(self._blocks) if not b.at or b.at[0] in before)
        block = self._blocks[behind]
        body = block.body.rstrip("\n") + "\n" if block.body.strip() or block.head else block.body
        gap = "\n" if behind or body.strip() else ""
        rest = "\n" if behind + 1 < len(self._blocks) else ""
        self._blocks[behind] = block._replace(body=f"{body}{gap}{lines.strip()}\n{rest}")
        self._cut(self.text)

    def _cut(self, text: str) -> None:
        """Go on with a text whose headers are others."""
        self.data, self._blocks = tomllib.loads(text), list(_blocks(text))


def _is_table(at: Location) -> bool:
    """Whether a table has its own name, as [body.motion], and is none of a list."""
    return len(at) == 3 and at[2] in ("motion", "spring", "motor", "question")


def _blocks(text: str) -> Iterator[Block]:
    """The text cut at its headers."""
    starts = [0, *_headers(text)]
    counts: dict[Location, int] = {}
    for k, start in enumerate(starts):
        whole = text[start : starts[k + 1]] if k + 1 < len(starts) else text[start:]
        if k == 0:
            yield Block((), "", "", whole)
            continue
        lead = re.match(r"(?:[ \t]*#[^\n]*\n)*", whole)
        rest = whole[lead.end() :] if lead else whole
        head, newline, body = rest.partition("\n")
        yield Block(_located(head, counts), whole[: len(whole) - len(rest)], head + newline, body)


def _headers(text: str) -> Iterator[int]:
    """Where each header begins, with the comments directly above it."""
    depth, fresh, comments = 0, True, -1  # fresh: nothing but space so far in this line
    for token in TOKEN.finditer(text):
        mark = token.group()
        if mark == "\n":
            if depth == 0:
                if fresh:
                    comments = -1  # an empty line
                fresh = True
        elif mark[0] == "#":
            if depth == 0 and fresh:
                comments = token.start() if comments < 0 else comments
                comments = text.rfind("\n", 0, comments) + 1
                fresh = False
        else:
            if depth == 0 and fresh and mark == "[":
                yield comments if comments >= 0 else text.rfind("\n", 0, token.start()) + 1
            if mark in "[{":
                depth += 1
            elif mark in "]}":
                depth -= 1
            fresh, comments = False, -1


@cache
def _names(head: str) -> tuple[tuple[str, ...], bool]:
    """The names in a header, and whether it is one of a list."""
    node: Any = tomllib.loads(head)
    names = []
    while isinstance(node, dict) and node:
        (name, node), = node.items()
        names.append(name)
    return tuple(names), isinstance(node, list)


def _located(head: str, counts: dict[Location, int]) -> Location:
    """The location of the table that a header begins; counts: how many there are of each list so far."""
    names, listed = _names(head.strip())
    at: Location = ()
    for name in names[:-1]:
        at = (*at, name)
        if at in counts:
            at = (*at, counts[at] - 1)
    at = (*at, names[-1])
    if not listed:
        return at
    counts[at] = counts.get(at, 0) + 1
    for inner in [c for c in counts if c[: len(at) + 1] == (*at, counts[at] - 1)]:
        del counts[inner]
    return (*at, counts[at] - 1)


# ---------------------------------------------------------------------------------------------------- values


def _item(value: Any) -> Any:
    """A value as tomlkit writes it: tables in one line."""
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table[key] = _item(inner)
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for inner in value:
            array.append(_item(inner))
        return array
    if isinstance(value, str) and len(value) > LONG and not value[0].isspace():
        return tomlkit.parse(f'text = """\\\n{_folded(value)}"""')["text"]
    return tomlkit.item(value)


def _folded(value: str) -> str:
    """A long text in lines that end with a backslash, which TOML puts together again."""
    lines = [""]
    for word in re.findall(r"\S+\s*", json.dumps(value, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")):
        if lines[-1] and len(lines[-1]) + len(word) > LONG:
            lines.append("")
        lines[-1] += word
    return "\\\n".join(lines)


def _with_comment(old: Array, value: Any) -> Any:
    """The new list with the comment behind the old one."""
    new = _item(value)
    new.trivia.comment_ws, new.trivia.comment = old.trivia.comment_ws, old.trivia.comment
    return new
