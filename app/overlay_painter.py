"""Paints the glyphs of `overlays` over a finished picture: one draw for strokes, one for marks."""

import moderngl
import numpy as np

from contactlab.app.overlays import Glyphs
from contactlab.app.programs import load


class _Layer:
    """Instances of one program, in a buffer that grows."""

    def __init__(self, ctx: moderngl.Context, program: moderngl.Program, corners: moderngl.Buffer, layout: str,
                 names: tuple[str, ...], width: int) -> None:
        self.ctx, self.program, self.corners = ctx, program, corners
        self.layout, self.names, self.width = layout, names, width
        self.capacity = 0
        self.buffer: moderngl.Buffer | None = None
        self.array: moderngl.VertexArray | None = None

    def paint(self, rows: np.ndarray) -> None:
        if not len(rows):
            return
        if len(rows) > self.capacity:
            self.release()
            self.capacity = max(256, 2 * len(rows))
            self.buffer = self.ctx.buffer(reserve=4 * self.width * self.capacity, dynamic=True)
            self.array = self.ctx.vertex_array(self.program, [
                (self.corners, "2f", "in_corner"), (self.buffer, self.layout + "/i", *self.names)])
        assert self.buffer is not None and self.array is not None
        self.buffer.write(rows.astype(np.float32))
        self.array.render(moderngl.TRIANGLE_STRIP, instances=len(rows))

    def release(self) -> None:
        if self.buffer is not None and self.array is not None:
            self.array.release()
            self.buffer.release()
        self.buffer = self.array = None


class OverlayPainter:
    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self._programs = load(ctx, "stroke.vert", "stroke.frag"), load(ctx, "mark.vert", "mark.frag")
        self._corners = ctx.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32).tobytes())
        stations = np.array([(station, side) for station in range(4) for side in (-1, 1)], np.float32)
        self._stations = ctx.buffer(stations.tobytes())
        stroke, mark = self._programs
        stroke["scene_depth"] = mark["scene_depth"] = 0
        style = ("in_color", "in_style")
        self._strokes = _Layer(ctx, stroke, self._stations, "3f 3f 4f 3f", ("in_from", "in_to", *style), 13)
        self._marks = _Layer(ctx, mark, self._corners, "3f 4f 3f", ("in_place", *style), 10)

    def paint(self, glyphs: Glyphs, depth: moderngl.Texture, target: moderngl.Framebuffer) -> None:
        """Paint over `target`; `depth`: window depth of the scene, as large."""
        target.use()
        ctx = self.ctx
        ctx.enable_only(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        depth.use(0)
        for program in self._programs:
            program["halo"] = glyphs.halo
        self._strokes.paint(glyphs.strokes)
        self._marks.paint(glyphs.marks)
        ctx.disable(moderngl.BLEND)

    def release(self) -> None:
        self._strokes.release()
        self._marks.release()
        for thing in (*self._programs, self._corners, self._stations):
            thing.release()
