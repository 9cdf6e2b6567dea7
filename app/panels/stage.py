"""Stage: the 3-D view as a picture, with the labels and the legend that belong to it; for the window and for videos."""

from pathlib import Path
from typing import Any

import moderngl
import numpy as np

from ...physics.run.messages import Snapshot
from ..scene_files import MINE, picture_of
from ..ui_state import Rect, SceneEntry, UiState
from ..view.camera import Camera
from ..view.imgui_backend import TextureStore
from ..view.programs import load
from ..view.renderer import Renderer
from ..view.view_options import ViewOptions
from .style import edges
from .view import draw_labels

Size = tuple[int, int]


class Detail:
    """How many pixels moving pictures get: fewer where frames take too long. Still pictures get all of them."""

    FACTORS = (1.0, 0.8)  # fewer would be seen as blur
    SLOW, FAST = 1 / 30, 1 / 60  # [s] a frame

    def __init__(self) -> None:
        self._level, self._mean = 0, 0.0

    def note(self, seconds: float) -> None:
        """How long drawing a frame took."""
        self._mean = 0.8 * self._mean + 0.2 * seconds
        step = 1 if self._mean > self.SLOW else -1 if self._mean < self.FAST else 0
        if 0 <= self._level + step < len(self.FACTORS) and step:
            self._level += step
            self._mean = 0.5 * (self.SLOW + self.FAST)  # wait for the effect before the next change

    @property
    def factor(self) -> float:
        """Pixels drawn a pixel shown, along each side."""
        return self.FACTORS[self._level]


class Stage:
    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.renderer = Renderer(ctx)
        self._scaling = load(ctx, "screen.vert", "scale.frag")
        self._screen = ctx.buffer(np.array([-1, -1, 3, -1, -1, 3], np.float32).tobytes())
        self._scaling_array = ctx.vertex_array(self._scaling, [(self._screen, "2f", "in_corner")])
        self._small: moderngl.Framebuffer | None = None
        self.rect: tuple[int, int, int, int] = 0, 0, 0, 0  #: of the last picture in its target [pixels]
        self.written = np.zeros((0, 2))  #: where labels were written last [window units from the corner of the view]

    def render(self, snapshot: Snapshot, camera: Camera, options: ViewOptions, view: Rect, target: Any, height: int,
               scale: float, ratio: float = 1.0, factor: float = 1.0) -> None:
        """Render into the part `view` [window units] of `target`, which is `height` pixels high.

        ratio: pixels per window unit; scale: pixels per unit of glyph sizes; factor: the picture is drawn with so many
        times the pixels along each side, and then stretched.
        """
        left, top, right, bottom = edges(view, ratio)
        left, top, bottom = max(left, 0), max(top, 0), min(bottom, height)
        self.rect = rect = left, height - bottom, max(right - left, 0), max(bottom - top, 0)
        if 0 in rect[2:]:  # a window smaller than its panels, or minimised
            self.renderer.labels = []
            return
        if factor == 1.0:
            self.renderer.draw(snapshot, camera, options, target, scale, rect)
            return
        small = self._fit((max(round(factor * rect[2]), 1), max(round(factor * rect[3]), 1)))
        self.renderer.draw(snapshot, camera, options, small, factor * scale)
        color: Any = small.color_attachments[0]
        color.use(0)
        whole = target.viewport
        target.viewport = rect
        target.use()
        self.ctx.enable_only(moderngl.NOTHING)
        self._scaling_array.render()
        target.viewport = whole

    def _fit(self, size: Size) -> moderngl.Framebuffer:
        """The framebuffer of smaller pictures, made anew where the size has changed."""
        if self._small is None or self._small.size != size:
            self._drop_small()
            self._small = self.ctx.framebuffer([self.ctx.texture(size, 4)])
        return self._small

    def _drop_small(self) -> None:
        if self._small is not None:
            color: Any = self._small.color_attachments[0]
            color.release()
            self._small.release()
            self._small = None

    def write(self, camera: Camera, ui: UiState, view: Rect) -> None:
        """Write the labels into the part `view` of the window; inside a frame of imgui."""
        draw_labels(ui, self.renderer.labels, camera, view)
        self.written = self.places(camera, view)

    def places(self, camera: Camera, view: Rect) -> np.ndarray:
        """Where the points of the last picture's labels are in `view`, (n, 2)."""
        labels = self.renderer.labels
        if not labels:
            return np.zeros((0, 2))
        return camera.project(np.array([label.position for label in labels]), *view[2:])[0]

    def release(self) -> None:
        self._drop_small()
        self.renderer.release()
        for thing in (self._scaling_array, self._screen, self._scaling):
            thing.release()


def thumbnails(ctx: moderngl.Context, store: TextureStore, entries: list[SceneEntry], folder: Path | None
               ) -> list[SceneEntry]:
    """The entries with textures of folder/KEY.png and, in the light theme, KEY.webp, or of the picture kept of a scene
    of the user's own, where there are any. folder: None = the others have theirs."""
    found = []
    for entry in entries:
        path = picture_of(entry.path) if entry.group == MINE else folder and folder / f"{entry.key}.png"
        kept = {"thumbnail": path, "light": path and path.with_suffix(".webp")}
        found.append(entry._replace(**{theme: _texture(ctx, store, picture) for theme, picture in kept.items()
                                       if picture is not None and picture.exists()}))
    return found


def _texture(ctx: moderngl.Context, store: TextureStore, path: Path) -> Any:
    from PIL import Image

    with Image.open(path) as picture:
        rgba = picture.convert("RGBA")
    texture = ctx.texture(rgba.size, 4, rgba.tobytes())
    texture.build_mipmaps()
    return store.add(texture)
