"""Versions: of this program, whether it was installed or runs from a clone, and of the libraries it uses."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NAME = "contactlab"
CLONE = Path(__file__).parents[2]  # or the folder of an installed package, which has no pyproject.toml
UNKNOWN = "unknown"


def own_version() -> str:
    """What the clone says that the program runs from, else what was installed: an installation beside a clone may be of
    another version. UNKNOWN of files that were copied without both."""
    return clone_version() or version_of(NAME) or UNKNOWN


def clone_version() -> str | None:
    """What pyproject.toml of a clone says; None where the program does not run from one."""
    try:
        project = tomllib.loads((CLONE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return str(project["version"]) if project["name"] == NAME else None
    except (OSError, ValueError, KeyError):
        return None


def version_of(package: str) -> str | None:
    """The version of what is installed under this name; None where nothing is."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
