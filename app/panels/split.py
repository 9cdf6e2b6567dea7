"""Split: the 3-D view, divided into one picture for each side of a comparison; they share the camera."""

from dataclasses import replace
from typing import Any

import moderngl
import numpy as np

from ...physics.run.messages import Snapshot
from ..ui_state import Rect, UiState
from ..view.camera import Camera
from ..view.overlays import LegendRow, legend, legend_of_vectors
from .compare import draw_side_label
from .legend import box_of, draw_box, draw_strip, strip_height
from .stage import Stage
from .view import strayed


class Split:
    """One stage for each side, made when it is first needed."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.stages = [Stage(ctx)]
        self._shown: list[LegendRow] = []  # of the legend, in this frame
        self.box: Rect | None = None  # where the legend stands in a corner of the view; else it lies below the picture
        self._strip: tuple[tuple[int, Rect, float] | None, float] = None, 0.0  # what its height belongs to, and it

    def render(self, snapshot: Snapshot, camera: Camera, ui: UiState, target: Any, height: int, ratio: float = 1.0,
               factor: float = 1.0) -> None:
        """Render all sides into ui.view_rect of `target`; see Stage.render."""
        self._make_room(snapshot, ui)
        self.render_again(snapshot, camera, ui, target, height, ratio, factor)

    def render_again(self, snapshot: Snapshot, camera: Camera, ui: UiState, target: Any, height: int,
                     ratio: float = 1.0, factor: float = 1.0) -> None:
        """Render another snapshot where the last one was, beside the same legend."""
        sides = shown(snapshot)
        while len(self.stages) < len(sides):
            self.stages.append(Stage(self.ctx))
        for stage, side, rect in zip(self.stages, sides, ui.side_rects(len(sides)), strict=False):
            options = replace(ui.view, hovered_contact=row_of(side, ui.hovered_key))
            stage.render(side, camera, options, rect, target, height, ui.preferences.scale * ratio, ratio, factor)

    def rects(self, snapshot: Snapshot) -> list[tuple[int, int, int, int]]:
        """Of the sides' last pictures in their target, see Stage.rect."""
        return [stage.rect for stage, _ in zip(self.stages, shown(snapshot), strict=False)]

    def labels_strayed(self, snapshot: Snapshot, camera: Camera, ui: UiState) -> bool:
        """Whether labels no longer stand where the last picture would have them."""
        rects = ui.side_rects(len(shown(snapshot)))
        return any(strayed(stage.written, stage.places(camera, rect))
                   for stage, rect in zip(self.stages, rects, strict=False))

    def _make_room(self, snapshot: Snapshot, ui: UiState) -> None:
        """For the legend, below the picture or in a corner of it."""
        sides = shown(snapshot)
        rows = self._shown = self._rows(snapshot, ui)
        self.box = box_of(ui, rows, ui.view_rect) if len(sides) == 1 else None
        strip = 0.0 if self.box else strip_height(ui, rows, ui.view_rect)
        if rows and not self.box and not strip and ui.view.vectors is not None:
            rows = self._shown = legend_of_vectors(snapshot, ui.view)  # no room for all: the arrows that were asked for
            strip = strip_height(ui, rows, ui.view_rect)
        ui.legend_height = 0.0 if self.box else self._steady(strip, len(rows), ui)

    def write(self, snapshot: Snapshot, camera: Camera, ui: UiState, top: float = 0.0) -> None:
        """Write labels, the legend, and `top` below its edge the name of each side; inside a frame of imgui."""
        sides = shown(snapshot)
        for stage, side, rect in zip(self.stages, sides, ui.side_rects(len(sides)), strict=False):
            stage.write(camera, ui, rect)
            if snapshot.sides:
                draw_side_label(ui, snapshot, side, rect, top)
        if self.box:
            draw_box(ui, self._shown, self.box)
        else:
            draw_strip(ui, self._shown, ui.view_rect, ui.legend_height)

    def _rows(self, snapshot: Snapshot, ui: UiState) -> list[LegendRow]:
        if not ui.view.legend or ui.workbench.on:
            return []
        renderer = self.stages[0].renderer
        renderer.know(shown(snapshot)[0], ui.view)
        return legend(snapshot, ui.view, renderer.triangles)

    def _steady(self, height: float, rows: int, ui: UiState) -> float:
        """The height of the strip, which only grows while its rows and the view stay: numbers in it change all the
        time, and the picture above must not jump."""
        of = rows, ui.view_rect, ui.font
        self._strip = of, max(height, self._strip[1]) if of == self._strip[0] else height
        return self._strip[1]

    def release(self) -> None:
        for stage in self.stages:
            stage.release()


def shown(snapshot: Snapshot) -> list[Snapshot]:
    """The snapshot of each side. The side in focus shows `snapshot` itself, whose forces a panel may have replaced."""
    return [snapshot if side.side == snapshot.side else side for side in snapshot.sides] or [snapshot]


def row_of(snapshot: Snapshot, key: int | None) -> int:
    """Row of a contact, -1 where it is not there."""
    rows = np.flatnonzero(snapshot.contacts.key == (-1 if key is None else key))
    return int(rows[0]) if len(rows) else -1
