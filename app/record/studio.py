"""The view, and the panels where wanted, drawn without a window, or for one in its context."""

from typing import Any

from ...physics.run.messages import Snapshot
from ...physics.scene.scene import Scene
from ..lab import keep_in_view, set_camera
from ..scene_files import gallery_entries
from ..ui_state import Preferences, Rect, UiState
from ..view.camera import Camera, scene_bounds
from .encoder import Frame


class Studio:
    """`begin`, `show` and `end` make a picture; `picture` is all three."""

    def __init__(self, size: tuple[int, int], panels: bool, dark: bool = True, ctx: Any = None) -> None:
        from ..panels.split import Split
        from ..view.imgui_backend import Gui
        from ..view.offscreen import Offscreen

        self.panels = panels
        self.camera = Camera()
        self.offscreen = Offscreen(size, ctx)
        self.ctx = self.offscreen.ctx
        scale = max(size[1] / 800.0, 0.5) if not panels else max(size[1] / 900.0, 0.7)
        self.gui = Gui(self.ctx, size)
        self.stages = [Split(self.ctx)]  #: one a run
        self.ui = UiState(preferences=Preferences(dark=dark, scale=scale))
        self.ui.view.dark = dark
        self.ui.bold = self.gui.bold
        self.ui.playing = True
        self.size = size
        if panels:
            self.ui.scenes = gallery_entries()

    def __enter__(self) -> "Studio":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give back everything made in the context."""
        for stage in self.stages:
            stage.release()
        self.gui.release()
        self.offscreen.release()

    @property
    def whole(self) -> Rect:
        return 0.0, 0.0, float(self.size[0]), float(self.size[1])

    def aim(self, snapshot: Snapshot, scene: Scene, view: Rect | None = None) -> None:
        """As the scene says, else framing everything that moves in the part `view` of the picture."""
        self.ui.view_rect = view or (self.ui.view_rect if self.panels else self.whole)
        lo, hi = scene_bounds(snapshot.model, snapshot.x, snapshot.q)
        _, _, width, height = self.ui.side_rects(len(snapshot.sides) or 1)[0]
        self.camera.frame(lo, hi, width / height)
        wanted = scene.camera
        if wanted is not None:
            self.ui.view.keep_in_view = wanted.follow
            set_camera(self.camera, wanted.distance, wanted.azimuth, wanted.elevation, wanted.target)

    def picture(self, snapshot: Snapshot, now: float) -> Frame:
        """One frame (height, width, 3)."""
        from ..panels.view import draw_caption

        self.begin(now)
        self.show([snapshot], [self.whole])
        if not self.panels:
            draw_caption(self.ui, snapshot)
        return self.end()

    def begin(self, now: float) -> None:
        """A picture at this time [s]; `ui.plates` are parts of it in the colour of panels."""
        from ..panels import style

        self.ui.clock = now
        self.gui.use()
        self.gui.new_frame()
        style.apply(self.ui)

    def show(self, snapshots: list[Snapshot], views: list[Rect]) -> None:
        """Draw the view of each run in its part of the picture; with the panels there is one run."""
        from ..panels import style
        from ..panels.layout import draw_ui
        from ..panels.split import Split

        ui, target = self.ui, self.offscreen.fbo
        if self.panels:
            draw_ui(ui, snapshots[0], lambda command: None)
            views = [ui.view_rect]
        while len(self.stages) < len(snapshots):
            self.stages.append(Split(self.ctx))
        style.fill(target, ui, self.size[1])
        for stage, snapshot, view in zip(self.stages, snapshots, views, strict=False):
            ui.view_rect = view
            if ui.view.keep_in_view:
                keep_in_view(self.camera, snapshot, ui.side_rects(len(snapshot.sides) or 1)[0])
            stage.render(snapshot, self.camera, ui, target, self.size[1])
            stage.write(snapshot, self.camera, ui, 0.0 if self.panels else 2.2 * ui.font)

    def end(self) -> Frame:
        """The picture (height, width, 3)."""
        self.gui.finish(self.offscreen.fbo)
        return self.offscreen.read()
