"""Stage: the 3-D view as a picture, with the labels and the legend that belong to it; for the window and for videos."""

from pathlib import Path
from typing import Any

import moderngl
from imgui_bundle import imgui

from contactlab.app import overlays
from contactlab.app.camera import Camera
from contactlab.app.imgui_backend import TextureStore
from contactlab.app.panels.legend import draw_legend
from contactlab.app.panels.view import draw_labels, draw_picture
from contactlab.app.renderer import Renderer
from contactlab.app.ui_state import SceneEntry, UiState
from contactlab.physics.messages import Snapshot

Size = tuple[int, int]


class Detail:
    """Where the processor draws, moving pictures get fewer pixels until they are fluent; still ones get all of them."""

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
    def __init__(self, ctx: moderngl.Context, store: TextureStore) -> None:
        self.ctx, self.store = ctx, store
        self.renderer = Renderer(ctx)
        self._target: moderngl.Framebuffer | None = None
        self._texture: imgui.ImTextureRef | None = None

    def render(
        self, snapshot: Snapshot, camera: Camera, ui: UiState, size: Size, scale: float, factor: float = 1.0
    ) -> None:
        """Render into a texture of `factor` times `size` pixels, which the next `write` shows."""
        target = self._fit((max(round(factor * size[0]), 1), max(round(factor * size[1]), 1)))
        exact = moderngl.NEAREST if factor == 1.0 else moderngl.LINEAR
        color: Any = target.color_attachments[0]
        color.filter = (exact, exact)
        self.renderer.draw(snapshot, camera, ui.view, target, factor * scale)
        ui.view_texture = self._texture

    def _fit(self, size: Size) -> moderngl.Framebuffer:
        """The framebuffer, made anew where the size has changed."""
        if self._target is None or self._target.size != size:
            self._drop_target()
            color = self.ctx.texture(size, 4)
            self._target = self.ctx.framebuffer([color])
            self._texture = self.store.add(color)
        return self._target

    def _drop_target(self) -> None:
        if self._target is not None:
            color: Any = self._target.color_attachments[0]
            self.store.drop(color)
            color.release()
            self._target.release()
            self._target = None

    def write(self, snapshot: Snapshot, camera: Camera, ui: UiState) -> None:
        """Between imgui's new frame and its end: the picture, its labels and the legend in ui.view_rect."""
        draw_picture(ui)
        draw_labels(ui, self.renderer.labels, camera)
        if ui.view.legend:
            draw_legend(ui, overlays.legend(snapshot, ui.view))

    def release(self) -> None:
        self._drop_target()
        self.renderer.release()


def thumbnails(ctx: moderngl.Context, store: TextureStore, entries: list[SceneEntry], folder: Path) -> list[SceneEntry]:
    """The entries with a texture of folder/KEY.png where there is one."""
    from PIL import Image

    found = []
    for entry in entries:
        path = folder / f"{entry.key}.png"
        if path.exists():
            with Image.open(path) as picture:
                rgba = picture.convert("RGBA")
            texture = ctx.texture(rgba.size, 4, rgba.tobytes())
            texture.build_mipmaps()
            entry = entry._replace(thumbnail=store.add(texture))
        found.append(entry)
    return found
