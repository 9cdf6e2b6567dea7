"""The workbench: a scene as a text that is edited, all its versions, what is chosen of it, and what can run of it.

It knows neither engine nor window. Every version is checked as a file would be, in the background; where the checks
refuse one, the last good one stays in the view, and `problems` says what is wrong.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np

from ..physics.core.interruption import Interrupted, interruptible
from ..physics.core.language import _
from ..physics.core.model import Array
from ..physics.core.progress import telling
from ..physics.run.messages import Snapshot
from ..physics.run.run_file import packed_text
from ..physics.scene.build import Setup
from ..physics.scene.document import Document
from ..physics.scene.edits import NEW, Change, Pose, add_body, groups, move, moved, names, rounded
from ..physics.scene.form import Location, path_text
from ..physics.scene.refusals import SceneError, refusing
from ..physics.scene.scene import Scene
from ..physics.scene.start import Overlap, overlaps, rows
from ..physics.scene.toml_writer import to_toml
from .background import in_background
from .view.camera import shape_boxes

SHOWN_AFTER = 0.4  # [s] of checking a version, its progress is shown
SOURCE = "scene"  # name of the scene in messages, which are shown without it


class Version(NamedTuple):
    """A text, and the edit that made it."""

    edit: str
    text: str


@dataclass(frozen=True)
class Built:
    """What a version says: a scene, or what is wrong with it."""

    text: str
    scene: Scene | None = None
    problems: tuple[str, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    rows: tuple[int, ...] = ()  #: place of its table in the file, for each body
    notes: tuple[str, ...] = ()  #: what was assumed
    boxes: Array = field(default_factory=lambda: np.zeros((0, 2, 3)))  #: (n, 2, 3) around each body [m], nan of planes

    @cached_property
    def alone(self) -> Scene:
        """The scene without the sides of a comparison, as it is edited."""
        assert self.scene is not None
        return replace(self.scene, tables=self.scene.tables.model_copy(update={"compare": ()}))


@dataclass
class Tools:
    """How the mouse edits."""

    tool: str = "move"       #: move, turn or scale
    local: bool = False      #: along the axes of the body instead of the world's
    snap: bool = True
    step: float = 0.05       #: of a snapped move [m]
    angle: float = 15.0      #: of a snapped turn [degrees]
    count: list[int] = field(default_factory=lambda: [4, 1, 1])  #: of an arrangement
    spacing: list[float] = field(default_factory=lambda: [1.0, 1.0, 1.0])  #: [m]
    ring: tuple[int, float] = (6, 2.0)  #: bodies in a circle, and its radius [m]
    mirror: float = 0.0                 #: where the plane of a mirror crosses its axis [m]


class Workbench:
    def __init__(self) -> None:
        self.on = False                          #: the window edits
        self.runs = False                        #: what runs is the present version
        self.path: Path | None = None            #: the file that `save` writes
        self.folder: Path | None = None          #: below which mesh files lie
        self.chosen: tuple[Location, ...] = ()   #: tables that are edited: bodies, or one other
        self.placing: int | None = None          #: body that follows the cursor until it is put down
        self.locked: set[str] = set()            #: names of bodies that the mouse leaves alone
        self.hidden: set[str] = set()            #: names of bodies that are not drawn while the scene is edited
        self.tools = Tools()
        self.built = Built("")                   #: the last good version
        self.problems: tuple[str, ...] = ()      #: of the version that was checked last
        self.preview: Pose | None = None         #: of the chosen bodies while they are dragged, relative to their place
        self.about: Array = np.zeros(3)          #: point about which `preview` turns
        self.versions = [Version("", NEW)]
        self._at = 0
        self._saved = NEW
        self._live = ""
        self._document: Document | None = None
        self._building: _Building | None = None
        self._checked = ""

    # ------------------------------------------------------------------------------------------- versions

    def begin(self, text: str, path: Path | None, folder: Path | None, saved: bool = True) -> None:
        """Edit another scene. path: its file, where it may be written. saved: the text is as in the file."""
        self.versions, self._at, self._saved = [Version("", text)], 0, text if saved else ""
        self.path, self.folder, self.runs = path, folder, False
        self.chosen, self.placing, self.preview = (), None, None
        self.locked, self.hidden = set(), set()
        self._document, self._live, self._checked, self._building = None, "", "", None
        self.problems, self.built = (), Built("")

    @property
    def text(self) -> str:
        return self.versions[self._at].text

    @property
    def document(self) -> Document:
        """The present text. Not to be changed but by `edit`."""
        if self._document is None:
            self._document = Document(self.text)
        return self._document

    @property
    def unsaved(self) -> bool:
        """Whether there is work that no file has."""
        return self.text != self._saved

    @property
    def pending(self) -> bool:
        """Whether the present version is still to be checked."""
        return self.text != self._checked

    def mark_saved(self, path: Path) -> None:
        self.path, self._saved = path, self.text
        if path.suffix.lower() != ".zip":  # what is packed stays where it was taken from
            self.folder = path.parent

    def edit(self, name: str, change: Change, live: bool = False) -> Any:
        """Make a new version by a change of the document; returns what the change does. live: one of many changes of
        one movement, which are one version, until `settle`. Raises SceneError, as the change does."""
        document = Document(self.text)
        result = change(document)
        text = document.text
        if text == self.text:
            return result
        again = live and self._live == name
        del self.versions[self._at + (0 if again else 1):]
        self.versions.append(Version(name, text))
        self._at, self._document = len(self.versions) - 1, document
        self._live = name if live else ""
        return result

    def settle(self) -> None:
        """A movement has ended: the next live edit is another version."""
        self._live = ""

    @property
    def undoes(self) -> str:
        """The edit that `undo` takes back, "" where there is none."""
        return self.versions[self._at].edit

    @property
    def redoes(self) -> str:
        """The edit that `redo` makes again, "" where there is none."""
        return self.versions[self._at + 1].edit if self._at + 1 < len(self.versions) else ""

    def changes(self, of_run: tuple[str, str]) -> tuple[str, str]:
        """What undo takes back, and what redo makes again: edits, and while the scene runs the changes `of_run`; before
        the first of these the last edit again."""
        if self.on:
            return self.undoes, self.redoes
        return of_run[0] or (self.undoes if self.runs else ""), of_run[1]

    def undo(self) -> None:
        self._go(max(self._at - 1, 0))

    def redo(self) -> None:
        self._go(min(self._at + 1, len(self.versions) - 1))

    def _go(self, at: int) -> None:
        self._at, self._document, self._live = at, None, ""
        self.placing = self.preview = None
        self.choose(*(place for place in self.chosen if self.document.get(place) is not None))

    # -------------------------------------------------------------------------------------------- choice

    def choose(self, *places: Location) -> None:
        self.chosen = tuple(dict.fromkeys(places))

    @property
    def bodies(self) -> list[int]:
        """The places of the bodies that are chosen."""
        return [int(place[1]) for place in self.chosen if place[0] == "body" and len(place) == 2]

    @property
    def free(self) -> list[int]:
        """Those that may be moved."""
        known = names(self.document)
        return [k for k in self.bodies if k < len(known) and known[k] not in self.locked]

    def called(self, chosen: Sequence[int]) -> str:
        """Bodies as an edit names them: "die 3", "4 bodies"."""
        return names(self.document)[chosen[0]] if len(chosen) == 1 else _("{chosen} bodies").format(chosen=len(chosen))

    @property
    def unseen(self) -> list[int]:
        """The bodies of the model that are hidden."""
        if not self.on or not self.hidden:
            return []
        return self.rows_of([k for k, name in enumerate(names(self.document)) if name in self.hidden])

    def with_groups(self, chosen: Sequence[int]) -> list[int]:
        """Bodies with all others of their groups."""
        members = [set(places) for places in groups(self.document.data.get("body", ())).values()]
        return sorted(set(chosen).union(*(places for places in members if places & set(chosen))))

    def extent(self, chosen: Sequence[int]) -> list[float]:
        """Of the box around bodies along x, y and z [m], at which copies beside them touch them; 1 where there is none.
        """
        boxes = self.built.boxes[[row for row in self.rows_of(chosen) if row < len(self.built.boxes)]]
        boxes = boxes[np.isfinite(boxes).all(axis=(1, 2))]
        if not len(boxes):
            return [1.0, 1.0, 1.0]
        size = boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0)
        return [rounded(v) if v > 0.0 else 1.0 for v in size]

    def rows_of(self, chosen: Sequence[int]) -> list[int]:
        """The bodies of the model that tables of the file have made."""
        wanted = set(chosen)
        return [row for row, place in enumerate(self.built.rows) if place in wanted]

    def problems_at(self, place: Location) -> list[str]:
        """What is wrong with a field, or a table."""
        start = f"{SOURCE}: {path_text(place)}"
        return [line[len(start):].strip() for line in self.problems
                if line.startswith(start) and line[len(start) : len(start) + 1] in (" ", "[")]

    def begin_placing(self, shape: Mapping[str, Any]) -> None:
        """Add a body that follows the cursor until a click puts it down."""
        self.drop_placing()
        kind = shape["type"]
        made: int = self.edit(_("Add {kind}").format(kind=kind),
                              lambda document: add_body(document, shape, (0.0, 0.0, 0.0)))
        self.placing = made
        self.choose(("body", made))

    def put_down(self) -> None:
        """The body that follows the cursor stays where it is: in the version that added it."""
        if self.placing is not None and self.preview is not None:
            by, about, index = self.preview, self.about, self.placing
            name = self.undoes
            self._live = name
            self.edit(name, lambda document: move(document, [index], by, about), live=True)
            self.settle()
        self.placing = None

    def drop_placing(self) -> None:
        """Give up the body that follows the cursor."""
        if self.placing is not None:
            self.undo()
            del self.versions[self._at + 1 :]
            self.choose()

    # --------------------------------------------------------------------------------------------- check

    def check(self) -> None:
        """Have the present version checked in the background, and take what has been found."""
        building = self._building
        if building is not None:
            if building.text != self.text:
                building.unwanted.set()
            if not building.future.done():
                return
            self._building = None
            with suppress(Interrupted):
                found = building.future.result()
                if building.text == self.text:
                    self._take(found)
        if self.pending:
            self._building = _Building(self.text, self.folder, self.path)

    @property
    def checking(self) -> tuple[str, float] | None:
        """What the check of the present version does and the share that is done, where it takes long."""
        building = self._building
        if building is None or building.text != self.text or time.monotonic() - building.begun < SHOWN_AFTER:
            return None
        return building.stage

    def _take(self, found: Built) -> None:
        self._checked, self.problems = found.text, found.problems
        if found.scene is not None:
            self.built = found
        else:
            self.preview = None

    def shown(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the chosen bodies where they are dragged to, and without those that are hidden."""
        unseen = self.unseen
        if (self.preview is None and not unseen) or len(self.built.rows) != len(snapshot.x):
            return snapshot
        x, q = snapshot.x.copy(), snapshot.q.copy()
        if self.preview is not None:
            for row in self.rows_of(self.free):
                x[row], q[row] = moved(self.preview, Pose(x[row], q[row]), self.about)
        x[unseen] = np.nan
        return replace(snapshot, x=x, q=q)


class _Building:
    """A version that is being checked in the background."""

    def __init__(self, text: str, folder: Path | None, path: Path | None) -> None:
        self.text, self.begun = text, time.monotonic()
        self.unwanted = Event()  #: it is no longer the present one
        self.stage: tuple[str, float] = (_("Checking the scene"), 0.0)

        def check() -> Built:
            with interruptible(self.unwanted.is_set), telling(self._tell):
                return built(text, folder, path)

        self.future: Future[Built] = in_background("contactlab-workbench", check)

    def _tell(self, words: str, share: float) -> None:
        self.stage = words, share


def text_of(scene: Scene) -> tuple[str, bool]:
    """The text of a scene, and whether its file has it: robots and meshes have none."""
    if scene.path is not None and scene.path.suffix.lower() in (".toml", ".zip"):
        try:
            if scene.path.suffix.lower() == ".toml":
                text = scene.path.read_bytes().decode()
            else:
                with ZipFile(scene.path) as archive:
                    text = packed_text(archive)[1]
            if Scene.from_text(text, scene.folder) == scene:
                return text, True
        except (OSError, ValueError, BadZipFile):
            pass  # the file is gone, or has changed
    return to_toml(scene.tables.model_dump(exclude_defaults=True)), False


def built(text: str, folder: Path | None, path: Path | None) -> Built:
    """Check a text as a file is checked."""
    try:
        with refusing(SOURCE):
            scene = Scene.from_text(text, folder, name=SOURCE)
            setup = scene.build()
            return Built(text, replace(scene, path=path), (), tuple(overlaps(setup)), rows(scene.tables),
                         setup.labels.notes, _boxes(setup))
    except SceneError as error:
        return Built(text, problems=tuple(str(error).splitlines()))


def _boxes(setup: Setup) -> Array:
    """(n, 2, 3) around each body at the start [m]; nan of those without a shape, or of a plane."""
    model, boxes = setup.model, np.full((len(setup.model.kind), 2, 3), np.nan)
    lows, highs = shape_boxes(model, setup.state.bodies.x, setup.state.bodies.q)
    for body, low, high in zip(model.shapes.body, lows, highs, strict=True):
        boxes[body, 0] = np.fmin(boxes[body, 0], low)
        boxes[body, 1] = np.fmax(boxes[body, 1], high)
    return boxes
