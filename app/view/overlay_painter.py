"""Paints the glyphs of `overlays` over a finished picture: one draw for dents and marks, one or two for strokes."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import moderngl
import numpy as np

from .overlays import Glyphs
from .programs import GlOwner, load, quality

STYLE = ("in_color", "in_style")
RIM = 1.8    # [pixels at scale 1] of halo and smooth edge around a stroke, as in stroke.vert
SLANT = 1.2  # GL lines are up to 1.41 times thinner where they are oblique; this much less halo is not seen


class _Layer(GlOwner):
    """Instances of glyphs, in a buffer that grows, and for each program its vertices and what it draws with them."""

    def __init__(self, ctx: moderngl.Context, layout: str, names: tuple[str, ...]) -> None:
        super().__init__(ctx)
        self._format, self._names = layout + "/i", names
        self._width = sum(int(part[0]) for part in layout.split())
        self._passes: list[tuple[moderngl.Program, moderngl.Buffer, int]] = []
        self._rows = GlOwner(ctx)
        self._capacity = 0
        self._buffer: Any = None
        self._arrays: list[moderngl.VertexArray] = []

    def add(self, program: moderngl.Program, corners: Sequence[tuple[float, float]],
            mode: int = moderngl.TRIANGLE_STRIP) -> None:
        program["scene_depth"] = 0
        buffer = self.own(self.ctx.buffer(np.array(corners, np.float32).tobytes()))
        self._passes.append((self.own(program), buffer, mode))

    def paint(self, rows: np.ndarray, halo: tuple[float, float, float], line_width: float = 1.0) -> None:
        """Draw all rows with one program after the other."""
        if not len(rows):
            return
        if len(rows) > self._capacity:
            self._grow(2 * len(rows))
        self._buffer.write(rows.astype(np.float32))
        self.ctx.line_width = line_width
        for (program, _, mode), array in zip(self._passes, self._arrays, strict=True):
            program["halo"] = halo
            array.render(mode, instances=len(rows))

    def _grow(self, capacity: int) -> None:
        self._rows.release()
        self._capacity = max(256, capacity)
        self._buffer = self._rows.own(self.ctx.buffer(reserve=4 * self._width * self._capacity, dynamic=True))
        self._arrays = [
            self._rows.own(self.ctx.vertex_array(program, [
                (corners, "2f", "in_corner"), (self._buffer, self._format, *self._names)]))
            for program, corners, _ in self._passes
        ]

    def release(self) -> None:
        self._rows.release()
        super().release()


class OverlayPainter:
    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self._wide_lines = quality(ctx).software and has_wide_lines(ctx)
        self._strokes = _Layer(ctx, "3f 3f 4f 3f", ("in_from", "in_to", *STYLE))
        if self._wide_lines:  # a strip's triangles share most blocks of pixels, which llvmpipe then paints twice
            self._strokes.add(load(ctx, "stroke.vert", "stroke.frag", "SHAFT"), [(0, 0), (1, 0)], moderngl.LINES)
            self._strokes.add(load(ctx, "stroke.vert", "stroke.frag", "HEAD"), [(2, -1), (2, 1), (3, 0)])
        else:
            stations = [(station, side) for station in range(4) for side in (-1, 1)]
            self._strokes.add(load(ctx, "stroke.vert", "stroke.frag"), stations)
        self._dents = _Layer(ctx, "3f 3f 4f 3f", ("in_place", "in_normal", *STYLE))
        self._dents.add(load(ctx, "dent.vert", "dent.frag"), bowl(), moderngl.TRIANGLES)
        self._marks = _Layer(ctx, "3f 4f 3f", ("in_place", *STYLE))
        self._marks.add(load(ctx, "mark.vert", "mark.frag"), [(-1, -1), (1, -1), (-1, 1), (1, 1)])

    def paint(self, glyphs: Glyphs, depth: moderngl.Texture, target: Any, scale: float) -> None:
        """Paint over `target`; `depth`: window depth of the scene, as large; `scale`: pixels per unit of sizes."""
        target.use()
        ctx: Any = self.ctx
        ctx.enable_only(moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        depth.use(0)
        self._dents.paint(glyphs.dents, glyphs.halo)
        widest = float(glyphs.strokes[:, 10].max(initial=1.0)) + 2.0 * RIM * scale
        self._strokes.paint(glyphs.strokes, glyphs.halo, SLANT * widest if self._wide_lines else 1.0)
        self._marks.paint(glyphs.marks, glyphs.halo)
        ctx.disable(moderngl.BLEND)

    def release(self) -> None:
        self._dents.release()
        self._strokes.release()
        self._marks.release()


def bowl(rings: int = 8, sectors: int = 28) -> list[tuple[float, float]]:
    """Corners (part of the radius, angle) of the triangles of a disc, from its rim inwards."""
    corners = []
    for i, j in product(reversed(range(rings)), range(sectors)):
        (s0, s1), (a0, a1) = (i / rings, (i + 1) / rings), (2 * np.pi * j / sectors, 2 * np.pi * (j + 1) / sectors)
        corners += [(s0, a0), (s1, a0), (s1, a1), (s0, a0), (s1, a1), (s0, a1)]
    return corners


def has_wide_lines(ctx: moderngl.Context) -> bool:
    """Whether lines of any width can be drawn; forward compatible contexts refuse."""
    _ = ctx.error  # forget what happened before
    ctx.line_width = 16.0
    fine = ctx.error == "GL_NO_ERROR" and ctx.info["GL_ALIASED_LINE_WIDTH_RANGE"][1] >= 64.0
    ctx.line_width = 1.0
    return fine
