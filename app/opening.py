"""Opening: what a file holds, whatever the file is. Window, dropped and recent files, and the command line come here.

`opened` fails in one way only, with a CannotOpen whose message is what the user reads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..physics.problem.problem import ContactProblem
from ..physics.run.recording import Recording
from ..physics.run.run_file import SUFFIX, read_run
from ..physics.scene.refusals import SceneError, refusing
from ..physics.scene.scene import Scene, open_file


class CannotOpen(Exception):
    """Why a file cannot be opened: sentences for the user."""


class Opened(NamedTuple):
    """What a file holds."""

    path: Path                      #: absolute
    content: Scene | ContactProblem | Recording


def opened(path: str | Path, check: bool = True) -> Opened:
    """Read a scene, a robot, a mesh, a contact problem (.npz), a recorded run (.contactlab) or the folder of one that
    was cut off. Raises CannotOpen. check: build the scene once, so that nothing is left to fail later; without it,
    build it under `in_words`."""
    with in_words(str(path)):
        place = Path(path).expanduser().absolute()
        if place.suffix.lower() == ".npz":
            return Opened(place, ContactProblem.load(place))
        if place.suffix.lower() == SUFFIX or place.is_dir():
            return Opened(place, read_run(place))
        scene = open_file(place)
        if check:
            scene.build()
        return Opened(place, scene)


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Whatever fails inside is a CannotOpen that names the file."""
    name = Path(path).name or path
    try:
        with refusing(name):
            try:
                yield
            except ValueError as error:  # of all readers; SceneError too: its sentences name the file
                said = str(error).rstrip(".") + "."
                raise SceneError(said if name in said else f"{name}: {said}") from error
    except SceneError as error:
        raise CannotOpen(str(error)) from error
