"""Pictures made by the panels themselves, as textures by Dear ImGui's own protocol: any backend serves them."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from ..ui_state import UiState

Pixels = NDArray[np.uint8]
KEPT = 40  # frames for which a picture that is not shown is kept


@dataclass
class Picture:
    data: imgui.ImTextureData
    content: Hashable   # what it shows; where this changes the picture is made again
    extra: Any          # what its maker keeps with it
    seen: int           # the frame that showed it last

    @property
    def size(self) -> tuple[int, int]:
        return self.data.width, self.data.height


def picture(
    ui: UiState, name: Hashable, content: Hashable, make: Callable[[], tuple[Pixels, Any]]
) -> Picture:
    """The picture of this name; made by `make`, RGBA (height, width, 4), where it shows something else so far."""
    found = ui.pictures.get(name)
    if found is None or found.content != content:
        if found is not None:
            _dismiss(ui, found)
        pixels, extra = make()
        height, width = pixels.shape[:2]
        data = imgui.ImTextureData()
        data.create(imgui.ImTextureFormat.rgba32, width, height)
        np.asarray(data.get_pixels_array())[:] = np.ascontiguousarray(pixels).ravel()
        imgui.internal.register_user_texture(data)
        found = ui.pictures[name] = Picture(data, content, extra, 0)
    found.seen = imgui.get_frame_count()
    return found


def draw(found: Picture, x: float, y: float, width: float, height: float, color: int = 0xFFFFFFFF, to: Any = None
         ) -> None:
    """Put a picture into the current window, or a list of drawings, at a place of the screen."""
    (to or imgui.get_window_draw_list()).add_image(
        found.data.get_tex_ref(), (x, y), (x + width, y + height), (0, 0), (1, 1), color)


def sweep(ui: UiState) -> None:
    """Once a frame: let go what has not been shown for long."""
    now = imgui.get_frame_count()
    for name, found in list(ui.pictures.items()):
        if now - found.seen > KEPT:
            del ui.pictures[name]
            _dismiss(ui, found)
    for found in list(ui.dismissed):
        if found.data.status == imgui.ImTextureStatus.destroyed:
            imgui.internal.unregister_user_texture(found.data)
            ui.dismissed.remove(found)


def _dismiss(ui: UiState, found: Picture) -> None:
    found.data.want_destroy_next_frame = True
    ui.dismissed.append(found)
