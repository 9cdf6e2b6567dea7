"""What users write on the command line: values, sizes, files, groups of options; and how they are refused."""

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ...physics.core.language import LANGUAGES
from ...physics.core.limits import RUNS
from ...physics.methods import METHODS
from ...physics.run.messages import SIDES
from ...physics.scene.mesh_files import UNITS
from ...physics.scene.mesh_scene import MeshChoices

WAYS = ("hull", "parts", "surface")  # in which a moving mesh collides

Force = Annotated[bool, typer.Option("--force", help="Overwrite the output where it exists.")]


class BadInput(Exception):
    """What the user gave cannot be used; the message says what and why."""


class Failed(Exception):
    """It could not be done; the message says why."""


@contextmanager
def input_errors() -> Iterator[None]:
    """Errors inside are reported as faults of the input."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
    except ValueError as error:
        raise BadInput(str(error)) from error


def parse_value(text: str) -> Any:
    """The first of these that the text can be read as: nothing ("none"), a number, three numbers, a word."""
    if text.lower() == "none":
        return None
    if "," in text:
        return tuple(parse_value(part.strip()) for part in text.split(","))
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def parse_size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and 16 <= int(width) <= 8192 and 16 <= int(height) <= 8192):
        raise BadInput(f"--size must be WIDTHxHEIGHT, each from 16 to 8192 pixels, not {text!r}")
    return int(width), int(height)


def parse_camera(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    values = parse_value(text)
    if not isinstance(values, tuple) or len(values) not in (3, 6) or not np.isfinite(values).all() or values[0] <= 0:
        raise BadInput(f"--camera must be distance,azimuth,elevation[,x,y,z], not {text!r}")
    return tuple(float(v) for v in values)


def parse_methods(text: str | None) -> tuple[str, ...]:
    """Methods to be compared; () for none."""
    if text is None:
        return ()
    methods = tuple(part.strip() for part in text.split(","))
    if not SIDES[0] <= len(methods) <= SIDES[1] or any(method not in METHODS for method in methods):
        raise BadInput(f"--compare must be from {SIDES[0]} to {SIDES[1]} of the methods {', '.join(METHODS)}, "
                       f"separated by commas, not {text!r}")
    return methods


def check_ending(path: Path | None, suffixes: tuple[str, ...], option: str = "--out") -> None:
    """Refuse an output path of another kind."""
    if path is not None and path.suffix.lower() not in suffixes:
        raise BadInput(f"{option} must end in {' or '.join(suffixes)}, not {path.name!r}")


def check_language(name: str) -> None:
    """Refuse a language that there is not."""
    if name not in LANGUAGES:
        raise BadInput(f"--language must be one of {', '.join(LANGUAGES)}, not {name!r}")


def check_output(path: Path, force: bool, option: str = "--out") -> None:
    """Refuse an output path that cannot be written, before the work begins; one that exists, unless the user agrees."""
    if not path.absolute().parent.is_dir():
        raise BadInput(f"{option}: there is no folder {path.absolute().parent}")
    with input_errors(), suppress(FileNotFoundError):  # a name may be too long; `exists` would not tell since 3.14
        path.stat()
    exists = path.exists()
    if path.is_dir():
        raise BadInput(f"{option}: {path} is a folder")
    if not os.access(path if exists else path.absolute().parent, os.W_OK):
        raise BadInput(f"{option}: {path} cannot be written")
    if exists and not force and not agreed(f"{path} exists. Overwrite it?"):
        raise BadInput(f"{option}: {path} exists; --force overwrites it")


def agreed(question: str) -> bool:
    """Ask the user, where there is one."""
    return sys.stdin.isatty() and sys.stderr.isatty() and typer.confirm(question, err=True)


def parse_values(text: str) -> list[Any]:
    """Values of a parameter: "0:1:21", 21 numbers from 0 to 1, with ":log" evenly in their logarithm; or "0.1,0.2,0.5";
    or words."""
    *ends, last = text.split(":")
    logarithmic = last == "log"
    parts = [parse_value(part) for part in (ends if logarithmic else [*ends, last])]
    if len(parts) == 1 and not logarithmic:
        return list(parts[0]) if isinstance(parts[0], tuple) else parts
    low, high, count = parts if len(parts) == 3 else (None, None, None)
    if not (isinstance(low, int | float) and isinstance(high, int | float) and isinstance(count, int) and count >= 1):
        raise BadInput(f"values are FROM:TO:COUNT, FROM:TO:COUNT:log or a list with commas, not {text!r}")
    if count > RUNS.most:
        raise BadInput(f"a parameter takes up to {RUNS.most:,} values, not {count:,}")
    if logarithmic and not 0.0 < low <= high:
        raise BadInput(f"with :log both ends must be above 0, not {text!r}")
    return (np.geomspace if logarithmic else np.linspace)(low, high, count).tolist()


def mesh(
    unit: Annotated[str | None, typer.Option(help=f"Of the numbers of a mesh, else m: {', '.join(UNITS)}.")] = None,
    split: Annotated[bool | None, typer.Option(
        "--split/--whole", help="A body for each connected piece of a mesh, or one in all (else for each solid that "
                                "stands apart).")] = None,
    thickness: Annotated[float | None, typer.Option(
        help="The mesh is a shell so thick [m]: its mass is that of area times thickness.")] = None,
    collide: Annotated[str | None, typer.Option(
        help=f"How the mesh collides: {' or '.join(WAYS)} (else parts where it is hollow).")] = None,
) -> MeshChoices:
    """What a mesh file does not say."""
    if unit is not None and unit not in UNITS:
        raise BadInput(f"--unit must be one of {', '.join(UNITS)}, not {unit!r}")
    if thickness is not None and not 0.0 < thickness < np.inf:
        raise BadInput(f"--thickness must be a number above 0 [m], not {thickness:g}")
    if collide is not None and collide not in WAYS:
        raise BadInput(f"--collide must be {' or '.join(WAYS)}, not {collide!r}")
    return MeshChoices(collide, UNITS[unit or "m"], split, thickness)


def takes(**groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: the command gets the options of these functions, and the result of each as a keyword argument."""
    options = {name: inspect.signature(group).parameters for name, group in groups.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(command).parameters.values() if p.name not in groups]
        every = [*own, *(p for of_group in options.values() for p in of_group.values())]

        @wraps(command)
        def called(**given: Any) -> None:
            made = {name: group(**{option: given.pop(option) for option in options[name]})
                    for name, group in groups.items()}
            command(**given, **made)

        vars(called).pop("__wrapped__")  # typer would follow it past the signature below
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in every}
        return called

    return decorate
