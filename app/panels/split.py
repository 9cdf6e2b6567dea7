"""Split: the 3-D view, divided into one picture for each side of a comparison; they share the camera."""

from dataclasses import replace
from typing import Any

import moderngl
import numpy as np

from ...physics.run.messages import Snapshot
from ..ui_state import UiState
from ..view.camera import Camera
from ..view.overlays import legend
from .compare import draw_side_label
from .legend import draw_strip, strip_height
from .stage import Stage


class Split:
    """One stage for each side, made when it is first needed."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.stages = [Stage(ctx)]

    def render(self, snapshot: Snapshot, camera: Camera, ui: UiState, target: Any, height: int, ratio: float = 1.0,
               factor: float = 1.0) -> None:
        """Render all sides into ui.view_rect of `target`; see Stage.render."""
        sides = shown(snapshot)
        if len(sides) > 1:
            ui.legend_height = strip_height(ui, legend(snapshot, ui.view), ui.view_rect) if ui.view.legend else 0.0
        while len(self.stages) < len(sides):
            self.stages.append(Stage(self.ctx))
        for stage, side, rect in zip(self.stages, sides, ui.side_rects(len(sides)), strict=False):
            options = replace(ui.view, hovered_contact=row_of(side, ui.hovered_key))
            stage.render(side, camera, options, rect, target, height, ui.preferences.scale * ratio, ratio, factor)

    def write(self, snapshot: Snapshot, camera: Camera, ui: UiState, top: float = 0.0) -> None:
        """Write labels, the legend, and `top` below its edge the name of each side; inside a frame of imgui."""
        sides = shown(snapshot)
        for stage, side, rect in zip(self.stages, sides, ui.side_rects(len(sides)), strict=False):
            stage.write(side, camera, ui, replace(ui.view, legend=ui.view.legend and len(sides) == 1), rect)
            if snapshot.sides:
                draw_side_label(ui, snapshot, side, rect, top)
        if len(sides) > 1 and ui.legend_height > 0.0:
            draw_strip(ui, legend(snapshot, ui.view), ui.view_rect, ui.legend_height)

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
