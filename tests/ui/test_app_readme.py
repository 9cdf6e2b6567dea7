"""The guide to the app names files and functions that are there."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TEXT = (ROOT / "app" / "README.md").read_text()
NAMED = sorted({(path, part.strip()) for path, names in re.findall(r"`([\w/]+\.py)(?:: ([\w., ]+))?`", TEXT)
                for part in (names or "").split(",") if "NAME" not in path})


def names_in(path: pathlib.Path) -> set[str]:
    """All that a file defines: functions, classes, "Class.method", module variables, fields of records."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        inner = node.body if isinstance(node, ast.ClassDef) else []
        for part, before in ((node, ""), *((n, f"{node.name}.") for n in inner)):
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                found.add(before + part.name)
            elif isinstance(part, ast.Assign | ast.AnnAssign):
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                found |= {before + target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize("path, name", NAMED)
def test_what_the_guide_names_is_there(path, name):
    folders = [ROOT / "app", ROOT, *(ROOT / "app" / room for room in ("view", "panels", "record", "window"))]
    files = [folder / path for folder in folders if (folder / path).is_file()]
    assert files, path
    assert not name or name in names_in(files[0]), f"{path}: {name}"


def test_the_guide_names_many_places():
    assert len(NAMED) > 50
