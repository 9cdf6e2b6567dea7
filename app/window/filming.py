"""Videos and pictures of the window: of what lies on the screen, or of the view drawn once more in its own size."""

import time
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import moderngl

from ...physics.core.language import _
from ...physics.run.messages import Snapshot
from ..lab import Lab
from ..panels.stage import thumbnails
from ..preferences import videos_folder
from ..record.encoder import Frame, even, numbered, save_picture, save_thumbnail
from ..record.studio import Studio
from ..scene_files import picture_of
from ..ui_state import RecordingStatus, UiState
from ..view.imgui_backend import TextureStore

if TYPE_CHECKING:
    from ..record.recorder import Take

Pixels = tuple[int, int, int, int]  # from the lower left


class Filming:
    """`read(rect)` reads the part (x, y, width, height) of the screen, in pixels from the lower left, top row first;
    `whole()` and `view()` say where the window and its view are."""

    def __init__(self, ctx: moderngl.Context, ui: UiState, read: Callable[[Pixels], Frame],
                 whole: Callable[[], Pixels], view: Callable[[], Pixels]) -> None:
        self.take: Take | None = None
        self._ctx, self._ui = ctx, ui
        self._read, self._whole, self._view = read, whole, view
        self._size: tuple[int, int] | None = None  #: of the take, where it is not that of the window
        self._studio: Studio | None = None  #: where pictures of a size of their own are drawn
        self._wanted_thumbnail: Path | None = None  #: of the scene that was saved
        self._wanted_pictures: list[Path] = []

    # -------------------------------------------------------------------------------------------- orders

    def want_picture(self, name: str) -> None:
        """Save the next frame."""
        self._try(lambda: self._wanted_pictures.append(numbered(self._folder(), name, ".png")))

    def want_thumbnail(self, scene: Path) -> None:
        """Keep the next frame without a box as the picture that the gallery shows of a scene."""
        self._wanted_thumbnail = scene

    def toggle(self, lab: Lab, name: str) -> None:
        """Begin a recording, or end the one that runs."""
        if self.take is not None:
            self.stop(lab)
        elif lab.snapshot is not None:
            self._try(lambda: self._start(lab, name))

    def _start(self, lab: Lab, name: str) -> None:
        from ..record.recorder import Take  # few runs are filmed

        p = self._ui.preferences
        self._size = self._own_size()
        size = self._size or even(self._captured()[2:])
        path = numbered(self._folder(), name, "." + p.record_format)
        self.take = Take(path, size, p.record_fps, p.record_as_seen, lab.playing, time.perf_counter())
        if not p.record_as_seen:
            lab.hold(self.take)
        lab.note("recording", path=str(path))

    def stop(self, lab: Lab | None) -> None:
        """End the recording that runs."""
        take, self.take = self.take, None
        if take is None:
            return
        self._ui.recording = None
        if lab is not None:
            lab.let_go()
        if self._try(take.close):
            self._ui.say(_("Saved {path}").format(path=take.movie.path), 8.0)
        if lab is not None:
            lab.note("recorded", path=str(take.movie.path), frames=take.movie.count)

    def abandon(self) -> None:
        """Keep the frames so far where nothing can be drawn any more."""
        if self.take is not None:
            self._try(self.take.close)

    def release(self) -> None:
        if self._studio is not None:
            self._studio.release()
            self._studio = None

    # -------------------------------------------------------------------------------------------- frames

    @property
    def status(self) -> RecordingStatus | None:
        """What the panels say of the recording."""
        take = self.take
        return None if take is None else RecordingStatus(take.movie.path, take.movie.seconds, take.as_seen)

    def capture(self, due: bool, now: float, store: TextureStore | None) -> None:
        """Take what lies on the screen, before notices are drawn over it."""
        if self._wanted_thumbnail is not None and not self._ui.boxes_open:
            self._keep_thumbnail(self._wanted_thumbnail, store)
        if self._own_size() is None:
            self._serve(due, now, lambda: self._read(self._captured()))

    def capture_again(self, due: bool, now: float, snapshot: Snapshot, lab: Lab) -> None:
        """Draw the view once more where pictures have a size of their own, after the frame of the window."""
        if self._own_size() is not None:
            self._serve(due, now, lambda: self._draw(snapshot, lab, now))

    def _serve(self, due: bool, now: float, picture: Callable[[], Frame]) -> None:
        if not self._wanted_pictures and (self.take is None or not due):
            return
        frame = picture()
        for path in self._wanted_pictures:
            self._try(lambda path=path: save_picture(path, frame))
            self._ui.say(_("Saved {path}").format(path=path), 6.0)
        self._wanted_pictures.clear()
        take = self.take
        if take is not None and due and not self._try(lambda: take.capture(frame, now)):
            self.stop(None)

    def _draw(self, snapshot: Snapshot, lab: Lab, now: float) -> Frame:
        """The view in a size of its own, with the camera and the options of the window."""
        size = self._own_size()
        assert size is not None
        if self._studio is None or self._studio.size != size:
            self.release()
            self._studio = Studio(size, panels=False, ctx=self._ctx)
        studio = self._studio
        studio.ui.view, studio.ui.workbench = self._ui.view, self._ui.workbench
        studio.camera = copy(lab.camera)
        return studio.picture(snapshot, now)

    def _own_size(self) -> tuple[int, int] | None:
        """The size of pictures, where it is not that of the window: of a recording as it began."""
        if self.take is not None:
            return self._size
        wanted = self._ui.preferences.record_size
        if wanted == "window" or self._ui.preferences.record_panels:
            return None
        width, _, height = wanted.partition("x")
        return int(width), int(height)

    def _captured(self) -> Pixels:
        return self._whole() if self._ui.preferences.record_panels else self._view()

    def _keep_thumbnail(self, scene: Path, store: TextureStore | None) -> None:
        """The view as the picture that the gallery shows of a scene; without it there is just none."""
        self._wanted_thumbnail = None
        with suppress(OSError):
            save_thumbnail(picture_of(scene), self._read(self._view()))
        if store is not None:
            self._ui.scenes = thumbnails(self._ctx, store, self._ui.scenes, None)

    def _folder(self) -> Path:
        return videos_folder(self._ui.preferences.record_folder)

    def _try(self, action: Callable[[], Any]) -> bool:
        """Do it; what goes wrong with a file is told in a box."""
        try:
            action()
        except (ValueError, OSError) as error:
            self._ui.tell(str(error))
            return False
        return True
