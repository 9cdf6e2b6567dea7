"""Catalogues of the languages: what is said in English is found anew in the sources and in the data, and every
catalogue gets what it lacks, empty. `python packaging/catalogues.py` writes the catalogues, and of each what the app
reads (.mo).

Marks in the sources are those of `physics.core.language`. Data have none: all that they show is a text.
"""

import ast
import io
import re
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as CatalogMessage
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from contactlab.app import commands, keys
from contactlab.app.panels import bench, lower, timeline, tour
from contactlab.physics.books.ledger import TITLES
from contactlab.physics.core.language import LANGUAGES, parts
from contactlab.physics.core.model import JointType
from contactlab.physics.core.settings import SETTINGS
from contactlab.physics.laws.soft import LAWS
from contactlab.physics.look.quantities import QUANTITIES
from contactlab.physics.methods import METHODS
from contactlab.physics.methods.choices import CHOICES
from contactlab.physics.run.measures import OWN_MEASURES, STATISTICS
from contactlab.physics.run.messages import PHASES
from contactlab.physics.scene import edits
from contactlab.physics.scene import fields as scene_fields
from contactlab.physics.scene.scene import HELD
from contactlab.physics.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
MARKS = {"_": 1, "N_": 1, "labelled": 1, "ngettext": 2}  #: how many of their arguments are texts
UNDATED = datetime(2026, 1, 1, tzinfo=UTC)
#: lines of the head of a catalogue that would differ each time, or say nothing
WITHOUT = (b"Generated-By", b"PO-Revision-Date", b"POT-Creation-Date", b"Report-Msgid-Bugs-To", b"Last-Translator",
           b"Language-Team")
Message = str | tuple[str, str]  # of one thing, and of several


def messages() -> dict[str, dict[Message, None]]:
    """All texts by where they are from: "app", "physics", "tables", "schema", "scenes", "lessons"."""
    found = {"app": marked(ROOT / "app"), "physics": marked(ROOT / "physics"), "tables": tables(), "schema": schema(),
             "scenes": scenes(), "lessons": lessons()}
    return {domain: dict.fromkeys(texts) for domain, texts in found.items()}


def marked(folder: Path) -> Iterator[Message]:
    """Texts in marks; of labels the words alone."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS):
                continue
            name = node.func.id
            texts = [a.value for a in node.args[: MARKS[name]]
                     if isinstance(a, ast.Constant) and isinstance(a.value, str)]  # what is no constant is from data
            if name == "ngettext":
                yield texts[0], texts[1]
            elif texts and (text := parts(texts[0])[1] if name == "labelled" else texts[0]):
                yield text


def tables() -> Iterator[str]:
    """Texts of the tables from which panels are made."""
    for command in commands.COMMANDS.values():
        yield from filter(None, (command.title, command.group))
    yield from commands.TOGGLES.values()
    yield from (title for title, *_angles in commands.VIEWS.values())
    for gesture in keys.GESTURES:
        yield from (gesture.mouse, gesture.does)
    yield from (tab.title for tab in lower.TABS.values())
    for stop in tour.STOPS:
        yield from filter(None, (stop.place, stop.title, stop.text, stop.task, stop.hidden))
    yield from (setting.slider.label for setting in SETTINGS.values() if setting.slider.label)
    yield from (method.title for method in METHODS.values())
    yield from (solver.title for solver in SOLVERS.values())
    yield from (law.title for law in LAWS.values())
    yield from (quantity.title for quantity in QUANTITIES.values())
    yield from TITLES.values()
    yield from (name.replace("_", " ") for names in CHOICES.values() for name in names)
    yield from (kind.capitalize() for kind in (*edits.FIRST, *bench.JOINTS, "spring"))
    yield from (kind.replace("_", " ") for kind in edits.FIRST)
    yield from (kind.replace("_", " ") for kind in timeline.EXPLAINED)
    yield from (kind.name.capitalize() for kind in JointType)
    yield from (phase.capitalize() for phase in PHASES)
    yield from (measure.capitalize() for measure in OWN_MEASURES)
    yield from STATISTICS
    yield from (tag.replace("_", " ").capitalize() for tag in (*HELD, "mesh"))


def schema() -> Iterator[str]:
    """Names and explanations of the fields of scene files, as the inspector shows them."""
    for table in (*scene_fields.TABLES, *scene_fields.SHAPES):
        for field in scene_fields.fields(table):
            yield from (field.title, field.help)


def scenes() -> Iterator[str]:
    """Texts of the gallery."""
    for path in sorted((ROOT / "assets" / "scenes").glob("*.toml")):
        scene = tomllib.loads(path.read_text(encoding="utf-8"))["scene"]
        yield from (scene[name] for name in ("group", "title", "summary", "watch") if scene.get(name))


def lessons() -> Iterator[str]:
    """Texts of the lessons."""
    for path in sorted((ROOT / "assets" / "lessons").glob("*.lesson.toml")):
        lesson = tomllib.loads(path.read_text(encoding="utf-8"))
        yield from (lesson["lesson"][name] for name in ("title", "summary"))
        for step in lesson["step"]:
            question = step.get("question", {})
            options = question.get("option", [])
            found = (step["title"], step.get("text"), question.get("ask"), question.get("why"),
                     *question.get("of", {}), *question.get("bodies", ()), question.get("body"),
                     *(o.get(name) for o in options for name in ("text", "why")))
            yield from filter(None, (*found, *of_video(step.get("video", {}))))


def of_video(table: dict[str, Any]) -> Iterator[str]:
    """Texts of how a run is shown in a video."""
    cards = [table[name] for name in ("opening", "ending") if name in table]
    for part in (table, *cards, *table.get("caption", []), *table.get("chapter", [])):
        yield from (part[name] for name in ("title", "text") if part.get(name))


def texts_in(data: bytes) -> Catalog:
    """A catalogue; without dates of its own, so that the same texts are the same bytes."""
    catalog = read_po(io.BytesIO(data), abort_invalid=True)
    catalog.creation_date = catalog.revision_date = UNDATED
    return catalog


def renewed(old: Catalog, language: str) -> Catalog:
    """The catalogue with the texts of today, and what it says of them. Nothing is guessed."""
    new = Catalog(locale=language, project="Contactlab", fuzzy=False, header_comment=f"# {LANGUAGES[language]}")
    new.revision_date = new.creation_date = old.creation_date
    for domain, found in messages().items():
        for message in found:
            key = message[0] if isinstance(message, tuple) else message
            known = old.get(key)
            new.add(message, known.string if known else None, auto_comments=[domain])
    return new


def folder_of(language: str) -> Path:
    return ROOT / "assets" / "locale" / language / "LC_MESSAGES"


def written(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_po(file, catalog, width=120, no_location=True, omit_header=False, sort_output=False)
    return re.sub(rb'"(?:%s): .*\n' % b"|".join(WITHOUT), b"", file.getvalue())


class Stable(list[CatalogMessage]):
    """The texts of a catalogue as `write_mo` takes them, with the lines of the head that are the same each time."""

    def __init__(self, catalog: Catalog) -> None:
        self.charset = catalog.charset
        head, *texts = catalog
        assert isinstance(head.string, str)
        lines = head.string.splitlines(keepends=True)
        head.string = "".join(line for line in lines if not line.encode().startswith(WITHOUT))
        super().__init__([head, *texts])


def compiled(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, cast(Catalog, Stable(catalog)))
    return file.getvalue()


def main() -> None:
    for language in set(LANGUAGES) - {"en"}:
        path = folder_of(language) / "contactlab.po"
        path.parent.mkdir(parents=True, exist_ok=True)
        old = texts_in(path.read_bytes()) if path.exists() else Catalog(locale=language)
        path.write_bytes(written(renewed(old, language)))
        catalog = texts_in(path.read_bytes())
        path.with_suffix(".mo").write_bytes(compiled(catalog))
        left = sum(not message.string or message.string == ("",) for message in catalog if message.id)
        print(f"{path.relative_to(ROOT)}: {len(catalog)} texts, {left} without a translation", file=sys.stderr)


if __name__ == "__main__":
    main()
