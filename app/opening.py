"""Opening: what a file holds, whatever the file is. Window, dropped and recent files, and the command line come here.

`opened` fails in one way only, with a CannotOpen whose message is what the user reads. `Opening` does it in the
background: what runs goes on meanwhile, and is not touched where the opening is given up.
"""

from __future__ import annotations

import os.path
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import NamedTuple

import platformdirs

from ..assets import gallery, scene_path
from ..physics.core.given_path import given_path
from ..physics.core.interruption import Interrupted, interruptible
from ..physics.core.language import _
from ..physics.core.progress import at, telling
from ..physics.lesson.lesson import Lesson, is_lesson
from ..physics.problem.problem import ContactProblem
from ..physics.run.recording import Recording
from ..physics.run.run_file import SUFFIX, read_packed, read_run
from ..physics.scene.mesh_files import NAMES
from ..physics.scene.mesh_scene import AS_IT_IS, Doubts, MeshChoices, doubts, title_of
from ..physics.scene.parts import TAKEN_APART
from ..physics.scene.refusals import SceneError, refusing
from ..physics.scene.scene import Scene, open_file
from ..physics.scene.schema import HeightField, Mesh
from .background import in_background
from .sweeps.sweep_table import SweepTable, read_table
from .view import simplified

ARCHIVES = Path(platformdirs.user_cache_dir("contactlab", appauthor=False)) / "lessons"  # unpacked
SIMPLIFYING = 0.8  # of opening a mesh is done when fewer of its triangles are to be chosen
SHOWN_AFTER = 0.4  # [s] of opening a file, its progress is shown


class CannotOpen(Exception):
    """Why a file cannot be opened: sentences for the user."""


class Opened(NamedTuple):
    """What a file holds."""

    path: Path                      #: absolute
    content: Scene | ContactProblem | Recording | Lesson | SweepTable


def opened(path: str | Path, check: bool = True, choices: MeshChoices = AS_IT_IS) -> Opened:
    """Read a scene, also one packed in a .zip, a robot, a mesh, a lesson (.lesson.toml, or in a .zip), a contact
    problem (.npz), the table of a sweep (.csv, .parquet), a recorded run (.contactlab) or the folder of one that was
    cut off. Raises CannotOpen. check: build the scene once, so that nothing is left to fail later; without it, build it
    under `in_words`. choices: what a mesh does not say."""
    given = given_path(path, CannotOpen)
    with in_words(str(given)):
        place = Path(os.path.expanduser(given)).absolute()  # of an unknown user it stays as it is
        if place.suffix.lower() == ".npz":
            return Opened(place, ContactProblem.load(place))
        if place.suffix.lower() == SUFFIX or place.is_dir():
            return Opened(place, read_run(place))
        if place.suffix.lower() in (".csv", ".parquet"):
            return Opened(place, read_table(place))
        if is_lesson(place):
            return Opened(place, Lesson.load(place, gallery().get, ARCHIVES))
        scene = read_packed(place) if place.suffix.lower() == ".zip" else open_file(place, *choices)
        if check:
            scene.build()
        return Opened(place, scene)


def load(name: str | Path) -> Scene:
    """The scene of a name: a gallery key ("dice"), the path of a scene file (.toml, or .zip with its meshes), of a
    robot (.urdf, MJCF) or of a mesh (.obj, .stl, .glb, …), which becomes a body over a floor. Raises ValueError
    (CannotOpen), one sentence.

        sim = contactlab.Simulation(contactlab.load("dice"))
    """
    path = scene_path(given_path(name, CannotOpen))
    content = opened(path).content
    if not isinstance(content, Scene):
        raise CannotOpen(f"{path.name} holds no scene.")
    return content


class Opening:
    """A file that is being opened in a thread of its own: how far that is, and a way to give it up. software: the
    processor draws what it holds, see `view.simplified`."""

    def __init__(self, path: Path, choices: MeshChoices = AS_IT_IS, software: bool = False) -> None:
        self.path, self.choices, self.software = path, choices, software
        self.doubts: Doubts | None = None  #: of a mesh, once it is read
        self.stage: tuple[str, float] = (_("Reading {name}").format(name=path.name), 0.0)
        #: what is done now, and the share that is done
        self._begun = time.monotonic()
        self._unwanted = Event()
        self._future = in_background("contactlab-open", self._open)

    @property
    def name(self) -> str:
        """What is opened, in words."""
        return title_of((self.path, *self.choices.beside))

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._begun

    @property
    def may_be_hull(self) -> bool:
        """Whether a mesh is being taken apart that could collide as its hull instead."""
        return self.choices.collide is None and self.path.suffix.lower() in NAMES and TAKEN_APART in self.stage[0]

    @property
    def done(self) -> bool:
        return self._future.done()

    def result(self) -> Opened:
        """What the file holds. Raises CannotOpen."""
        return self._future.result()

    def give_up(self) -> None:
        """Nobody waits for it any more; its thread ends as soon as it looks up."""
        self._unwanted.set()

    def _open(self) -> Opened:
        with interruptible(self._unwanted.is_set), telling(self._tell):
            try:
                found = opened(self.path, choices=self.choices)
                if self.path.suffix.lower() in NAMES:
                    self.doubts = doubts(found.path, self.choices)
                if self.software and isinstance(found.content, Scene):
                    copies_to_draw(found.content)
                return found
            except Interrupted as error:
                raise CannotOpen(f"{self.name} was not opened.") from error

    def _tell(self, words: str, share: float) -> None:
        self.stage = words, share


def copies_to_draw(scene: Scene) -> None:
    """Make the copies ahead that the view will ask for where the processor draws, see `view.simplified`. Raises
    Interrupted."""
    shapes = (shape for body in scene.tables.body for shape in body.shape)
    if not any(isinstance(shape, Mesh | HeightField) for shape in shapes):
        return
    labels = scene.build().labels
    skins = labels.skins or (None,) * len(labels.draw_meshes)
    for surface, skin in zip(labels.draw_meshes, skins, strict=True):
        if skin is None and len(surface[1]) > simplified.MOST:
            name = scene.name if scene.path is None else scene.path.name
            at(_("{name}: fewer triangles to draw").format(name=name), SIMPLIFYING)
            simplified.simplify_ahead(*surface)


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
