"""What the gallery and the list of lessons show: read beside the window, after its first picture, which that would hold
up."""

from concurrent.futures import Future
from importlib.resources import as_file, files

import moderngl

from ..background import in_background
from ..course import LessonEntry, lesson_entries
from ..panels.stage import thumbnails
from ..scene_files import gallery_entries
from ..ui_state import SceneEntry, UiState
from ..view.imgui_backend import TextureStore


class Lists:
    """Gallery and lessons on their way to the panels."""

    def __init__(self, ui: UiState) -> None:
        self._ui, self._begun = ui, False
        self._gallery: Future[list[SceneEntry]] | None = None
        self._lessons: Future[list[LessonEntry]] | None = None

    def begin(self) -> None:
        """Have them read; once."""
        if not self._begun:
            self._begun, folder = True, self._ui.preferences.record_folder
            self._gallery = in_background("contactlab-gallery", lambda: gallery_entries(folder))
            self._lessons = in_background("contactlab-lessons", lesson_entries)

    def poll(self, ctx: moderngl.Context, store: TextureStore) -> bool:
        """Hand the panels what is there now; whether the gallery is."""
        if self._lessons is not None and self._lessons.done():
            self._ui.lessons, self._lessons = self._lessons.result(), None
        if self._gallery is None or not self._gallery.done():
            return False
        entries, self._gallery = self._gallery.result(), None
        with as_file(files("contactlab.assets").joinpath("thumbnails")) as folder:
            self._ui.scenes = thumbnails(ctx, store, entries, folder)
        return True
