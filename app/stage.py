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


class Stage:
    def __init__(self, ctx: moderngl.Context, store: TextureStore) -> None:
        self.ctx, self.store = ctx, store
        self.renderer = Renderer(ctx)
        self._target: moderngl.Framebuffer | None = None
        self._texture: imgui.ImTextureRef | None = None

    def render(self, snapshot: Snapshot, camera: Camera, ui: UiState, size: Size, scale: float) -> None:
        """Render into a texture of `size` pixels, which the next `write` shows."""
        target = self._fit(size)
        self.renderer.draw(snapshot, camera, ui.view, target, scale)
        ui.view_texture = self._texture

    def _fit(self, size: Size) -> moderngl.Framebuffer:
        """The framebuffer, made anew where the size has changed."""
        if self._target is None or self._target.size != size:
            self._drop_target()
            color = self.ctx.texture(size, 4)
            color.filter = (moderngl.NEAREST, moderngl.NEAREST)  # shown pixel for pixel
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
