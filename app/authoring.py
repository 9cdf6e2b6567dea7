"""Writing lessons: what the commands of an author do with the engine, the files and the lesson that is tried."""

import shutil
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..assets import gallery
from ..physics.core.language import _
from ..physics.core.settings import SETTINGS
from ..physics.core.whole_file import whole_file
from ..physics.lesson.lesson import ENDING, Lesson
from ..physics.lesson.schema import PANELS, SWITCHES
from ..physics.run.messages import Snapshot
from ..physics.scene.refusals import SceneError
from ..physics.scene.scene import Scene
from .author import NEW
from .panels.plot import plot_of
from .ui_state import UiState
from .view.camera import Camera
from .view.view_options import ViewOptions
from .workbench import text_of

LENGTH = 2.0  # [s] of the run of a new step
OWN = "Lessons"  # folder of the user's lessons, among the documents
#: switches that the view of a scene decides
OF_SCENE = ("keep_in_view", "follow_selected")


class Authoring:
    """The author of `ui`, at work."""

    def __init__(self, ui: UiState, documents: Callable[[], Path]) -> None:
        self.ui, self._documents = ui, documents

    def begin(self, lesson: Lesson | None) -> None:
        """Write a new lesson, or go on with one; of one that is not the user's own, with a copy."""
        author = self.ui.author
        try:
            if lesson is None:
                author.begin(NEW, self._new_folder("lesson") / f"lesson{ENDING}")
            else:
                path = self._own(lesson)
                author.begin(path.read_text(encoding="utf-8"), path)
        except OSError as error:
            self.ui.tell(_("The lesson cannot be written: {error}").format(error=error))

    def leave(self) -> None:
        """Stop writing."""
        author = self.ui.author
        author.on = False
        if author.lesson is not None:
            self.ui.say(_("The lesson is {path}.").format(path=author.path), 8.0)

    def add(self, snapshot: Snapshot | None, scene: Scene | None, camera: Camera) -> None:
        """A step with what is shown, behind the one that is edited."""
        if not self.ui.author.on:
            self.begin(None)
        step = self._shown(snapshot, scene, camera)
        if step is not None:
            number = len(self.ui.author.steps) + 1
            self.ui.author.add({"title": _("Step {number}").format(number=number), "text": "", **step})

    def take(self, snapshot: Snapshot | None, scene: Scene | None, camera: Camera) -> None:
        """Let the step that is edited show what is shown now; its words and its question stay."""
        author, step = self.ui.author, self._shown(snapshot, scene, camera)
        if step is None or not author.steps:
            return
        before = author.steps[author.number]
        kept = {name: before[name] for name in ("title", "text", "picture", "controls", "locked", "question")
                if name in before}
        step["until"] = max(step["until"], before.get("until", 0.0))
        changed = {"title": "", **kept, **step}

        def change(document: Any) -> None:
            for name in {*before, *changed}:
                if before.get(name) != changed.get(name):
                    document.put(("step", author.number, name), changed.get(name))

        author.edit(change)

    def update(self) -> None:
        """Write good versions into the file."""
        author = self.ui.author
        if author.check() is None or author.path is None:
            return
        try:
            author.path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(author.path) as file:
                file.write(author.text.encode())
        except OSError as error:
            self.ui.tell(_("The lesson could not be written: {error}").format(error=error))

    # ------------------------------------------------------------------------------------------- files

    def _new_folder(self, stem: str) -> Path:
        """A folder of a lesson that is not there yet."""
        number, above = 1, self._documents() / OWN
        while (folder := above / f"{stem}_{number:03d}").exists():
            number += 1
        return folder

    def _own(self, lesson: Lesson) -> Path:
        """The lesson's file, where it is the user's; else a copy with all that it needs."""
        if self._documents() / OWN in lesson.path.parents:
            return lesson.path
        folder = self._new_folder(lesson.key)
        for name in lesson.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(lesson.folder / name, folder / name)
        self.ui.say(_("A copy of the lesson is edited: {folder}").format(folder=folder), 8.0)
        return folder / lesson.path.name

    def _scene_name(self, scene: Scene) -> str:
        """How the lesson names a scene: its key in the gallery, else its file, which is written beside the lesson.
        Raises SceneError."""
        for key, path in gallery().items():
            if scene.path == path:
                return key
        assert self.ui.author.path is not None
        folder, text = self.ui.author.path.parent, text_of(scene)[0]
        stem = "".join(c if c.isalnum() else "_" for c in scene.title or "scene").strip("_") or "scene"
        number, name = 1, f"{stem}.toml"
        while (folder / name).exists() and (folder / name).read_text(encoding="utf-8") != text:
            number, name = number + 1, f"{stem}_{number + 1}.toml"
        folder.mkdir(parents=True, exist_ok=True)
        scene.save(folder / name, text)
        return name

    # ------------------------------------------------------------------------------------ what is shown

    def _shown(self, snapshot: Snapshot | None, scene: Scene | None, camera: Camera) -> dict[str, Any] | None:
        """The fields of a step that show what is shown now; None where that is no scene."""
        if snapshot is None or scene is None:
            self.ui.say(_("What runs here has no scene that a step could show."))
            return None
        try:
            found: dict[str, Any] = {"scene": self._scene_name(scene)}
        except (OSError, SceneError) as error:
            self.ui.tell(_("The scene could not be written beside the lesson: {error}").format(error=error))
            return None
        at = round(snapshot.t, 6)
        found |= {"at": at} if at > 0.0 else {}
        found["until"] = round(at + LENGTH, 6)
        if snapshot.speed != scene.speed:
            found["speed"] = float(snapshot.speed)
        own, now = scene.build().settings, snapshot.settings
        settings = {name: _plain(getattr(now, name)) for name in SETTINGS if getattr(now, name) != getattr(own, name)}
        if settings:
            found["settings"] = settings
        found["camera"] = {"target": [round(float(v), 4) for v in camera.target],
                           "distance": round(float(camera.distance), 4), "azimuth": round(float(camera.azimuth), 2),
                           "elevation": round(float(camera.elevation), 2)}
        return found | self._view(snapshot)

    def _view(self, snapshot: Snapshot) -> dict[str, Any]:
        """Switches of the view that are not as they are at first, the tab below, and its curves."""
        plain, view, p = ViewOptions(), self.ui.view, self.ui.preferences
        names = {field.name for field in fields(ViewOptions)} & set(SWITCHES) - set(OF_SCENE)
        other = [name for name in SWITCHES if name in names and getattr(view, name) != getattr(plain, name)]
        found: dict[str, Any] = {"show": [name for name in other if getattr(view, name)],
                                 "hide": [name for name in other if not getattr(view, name)]}
        if p.lower and p.lower_tab in PANELS:
            found["panel"] = p.lower_tab
            bodies = snapshot.labels.bodies
            found["plot"] = [curve.quantity + (f":{bodies[curve.body]}" if curve.body >= 0 else "")
                             for curve in plot_of(self.ui, snapshot).curves[:4]]
        return {name: value for name, value in found.items() if value}


def _plain(value: Any) -> Any:
    return [float(v) for v in value] if isinstance(value, tuple) else value
