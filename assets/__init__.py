"""What comes along: the gallery of scenes, lessons, meshes and fonts."""

import os.path
import re
import tomllib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
SCENES = FOLDER / "scenes"
TABLE = re.compile(r"^\[", re.MULTILINE)


def gallery() -> dict[str, Path]:
    """The gallery's scenes, file stem -> path, in teaching order: those of a group stand together, in the place of its
    first ([scene] group and order, then name)."""
    scenes = sorted(((*_place(path, "scene"), path) for path in SCENES.glob("*.toml")), key=lambda s: (s[1], s[2].stem))
    groups = list(dict.fromkeys(group for group, _, _ in scenes))
    return {path.stem: path for group, _, path in sorted(scenes, key=lambda s: groups.index(s[0]))}


def lessons() -> dict[str, Path]:
    """The lessons, file name without ending -> path, in the order of a course ([lesson] order, then name)."""
    found = [(_place(path, "lesson")[1], path) for path in (FOLDER / "lessons").glob("*.lesson.toml")]
    return {path.name.removesuffix(".lesson.toml"): path for _, path in sorted(found)}


def examples() -> dict[str, Path]:
    """The scripts that show how contactlab is used from Python, file stem -> path."""
    return {path.stem: path for path in sorted((FOLDER / "examples").glob("*.py"))}


@cache  # the files come along and stay
def _place(path: Path, table: str) -> tuple[str, float]:
    """The group of a scene or lesson, and its order. Only this table is read, the first of its file: every
    start of the program waits for that, and to read all of all files takes seven times as long."""
    text = path.read_text(encoding="utf-8")
    first = TABLE.split(text, maxsplit=2)[1]
    heading = tomllib.loads(f"[{first}" if first.startswith(f"{table}]") else text)[table]
    return heading.get("group", ""), float(heading.get("order", 0.0))


def scene_path(name: str | Path) -> Path:
    """The path of a gallery scene where `name` is its key and no such file is at hand, else `name` as a path."""
    path = Path(name)
    if os.path.exists(path) or len(path.parts) != 1:
        return path
    return gallery().get(str(name), path)
