"""Pictures without a window: an OpenGL context of our own through EGL."""

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray


class GraphicsError(RuntimeError):
    """OpenGL cannot be had; the message says what to install."""


def create_context() -> moderngl.Context:
    """An OpenGL 3.3 core context that needs no display.

    Raises GraphicsError where EGL or a driver is missing.
    """
    backend: Any = "egl"  # moderngl's own hint is wrong
    try:
        return moderngl.create_standalone_context(require=330, backend=backend)
    except Exception as error:  # moderngl raises plain Exception, ImportError or ValueError by what is missing
        raise GraphicsError(
            f"OpenGL 3.3 through EGL is not available ({error}). On Debian and Ubuntu install it with: "
            "sudo apt install libgl1 libegl1 libgl1-mesa-dri"
        ) from error


class Offscreen:
    """A picture to draw into, with a context of its own, or in that of a window; `with` releases what is its own."""

    def __init__(self, size: tuple[int, int], ctx: moderngl.Context | None = None) -> None:
        """size: width and height in pixels. Raises GraphicsError."""
        self.ctx, self._lent = ctx or create_context(), ctx is not None
        self.size = size
        self.color = self.ctx.texture(size, 4)
        self.fbo = self.ctx.framebuffer([self.color])

    def read(self) -> NDArray[np.uint8]:
        """The picture, (height, width, 3), sRGB, top row first."""
        width, height = self.size
        data = np.frombuffer(self.fbo.read(components=3, alignment=1), np.uint8)
        return np.ascontiguousarray(data.reshape(height, width, 3)[::-1])

    def release(self) -> None:
        self.fbo.release()
        self.color.release()
        if not self._lent:
            self.ctx.release()

    def __enter__(self) -> "Offscreen":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
