"""Pictures of a plan: views of one run or of two side by side, curves beside them, captions and cards over them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from imgui_bundle import imgui

from ...physics.run.messages import Snapshot
from ...physics.scene.scene import Scene
from ..lab import set_camera
from ..panels import formula, pictures, style
from ..panels.view import draw_caption
from ..ui_state import Rect
from .curves import Plotted, draw_curves
from .encoder import Frame
from .plan import Aim, Card, FrameOf, Told, VideoPlan
from .studio import Studio

BESIDE, BELOW = 0.36, 0.4   # share of the picture that curves take at its right, or below
BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
CAPTION, CAPTION_FORMULA = 1.6, 1.75  # sizes of letters [font heights]
TITLE, SUBTITLE, CARD_FORMULA = 3.4, 1.7, 2.4  # likewise


def layout(size: tuple[int, int], runs: int, plot_at: str | None, gap: float) -> tuple[list[Rect], Rect | None]:
    """Where the views are, next to each other and at least `gap` apart, and the curves, where there are any: at
    `plot_at`, right or below.
    Nothing overlaps, and all is inside the picture."""
    width, height = float(size[0]), float(size[1])
    plot = None
    if plot_at == "right":
        wide = round(BESIDE * width)
        plot, width = (width - wide, 0.0, float(wide), height), width - wide
    elif plot_at == "below":
        high = round(BELOW * height)
        plot, height = (0.0, height - high, width, float(high)), height - high
    each = (width - (runs - 1) * gap) // runs  # whole pixels: all views show the same
    between = (width - runs * each) / max(runs - 1, 1)
    return [(k * (each + between), 0.0, each, height) for k in range(runs)], plot


class Compositor:
    """Draws the frames of a plan in a studio. titles: of the runs where there are two."""

    def __init__(self, plan: VideoPlan, studio: Studio, plotted: Plotted | None, titles: Sequence[str]) -> None:
        self.plan, self.studio, self.titles, self._plotted = plan, studio, titles, plotted
        self._middle = studio.camera.target
        table, ui = plan.table, studio.ui
        for switch in (*table.show, *table.hide):
            setattr(ui.view, switch, switch in table.show)
        at = (table.plot_at or ("below" if len(titles) > 1 else "right")) if plotted is not None else None
        self._views, self._plot = layout(plan.table.size_made, len(titles), at, math.ceil(2.0 * ui.preferences.scale))
        if not table.panels:
            ui.plates = [] if self._plot is None else [self._plot]

    def aim(self, snapshot: Snapshot, scene: Scene) -> None:
        """The camera of the first frame, where the plan says nothing."""
        self.studio.aim(snapshot, scene, None if self.studio.panels else self._views[0])
        self._middle = self.studio.camera.target

    def picture(self, frame: FrameOf, snapshots: Sequence[Snapshot]) -> Frame:
        """A frame: (height, width, 3), or with what lets through, (height, width, 4)."""
        if not self.plan.table.transparent:
            return self._drawn(frame, snapshots)
        view = self.studio.ui.view
        before = []
        for view.flat in (BLACK, WHITE):
            before.append(self._drawn(frame, snapshots))
        return cut_out(*before)

    def _drawn(self, frame: FrameOf, snapshots: Sequence[Snapshot]) -> Frame:
        studio, ui = self.studio, self.studio.ui
        if frame.aim is not None:
            self._place_camera(frame.aim, snapshots[0])
        studio.begin(frame.t)
        shown = [replace(snapshot, speed=frame.speed) for snapshot in snapshots]
        studio.show(shown, self._views)
        if self.plan.table.heading and not studio.panels:
            self._write_headings(shown)
        if self._plotted is not None and self._plot is not None:
            draw_curves(ui, self._plotted, self._plot, frame.t)
        whole = ui.view_rect = self._around()
        for told, seen in frame.captions:
            _caption(studio, told, seen, whole if told.place == "top" else self._beside_legend(whole))
        if frame.card is not None:
            _card(studio, frame.card, frame.opacity)
        return studio.end()

    def _around(self) -> Rect:
        """All views together."""
        if self.studio.panels:
            return self.studio.ui.view_rect
        (x, y, _, h), (right, _, wide, _) = self._views[0], self._views[-1]
        return x, y, right + wide - x, h

    def _beside_legend(self, whole: Rect) -> Rect:
        """The part of the views that no legend in a corner covers: right of that of one run, above those of two."""
        boxes = [stage.box for stage in self.studio.stages if stage.box is not None]
        if not boxes or self.studio.panels:
            return whole
        x, y, w, h = whole
        if len(self.titles) > 1:
            return x, y, w, min(box[1] for box in boxes) - y
        left = boxes[0][0] + boxes[0][2]
        return left, y, x + w - left, h

    def _write_headings(self, snapshots: Sequence[Snapshot]) -> None:
        ui = self.studio.ui
        for k, (snapshot, view) in enumerate(zip(snapshots, self._views, strict=True)):
            ui.view_rect = view
            title = self.titles[k] if len(self.titles) > 1 else self.plan.title
            draw_caption(ui, snapshot, title, clock=k == len(snapshots) - 1)

    def _place_camera(self, aim: Aim, snapshot: Snapshot) -> None:
        def at(where: Any) -> Any:
            if where is None:
                return self._middle
            return snapshot.x[snapshot.labels.bodies.index(where)] if isinstance(where, str) else np.array(where)

        point = (1.0 - aim.share) * at(aim.first) + aim.share * at(aim.second)
        set_camera(self.studio.camera, aim.distance, aim.azimuth, aim.elevation, point)


def cut_out(on_black: Frame, on_white: Frame) -> Frame:
    """(height, width, 4) of a picture c drawn on black, α c, and on white, α c + 1 − α."""
    black, white = on_black.astype(float), on_white.astype(float)
    alpha = np.clip(255.0 - (white - black).mean(axis=2, keepdims=True), 0.0, 255.0)
    color = np.clip(255.0 * black / np.maximum(alpha, 1.0), 0.0, 255.0)
    return np.rint(np.concatenate([color, alpha], axis=2)).astype(np.uint8)


# --------------------------------------------------------------------------------------------------- overlays


def wrapped(text: str, width: float, wide: Callable[[str], float]) -> list[str]:
    """The lines of a text that is so wide at most; what has no spaces is broken anywhere. wide: how wide words are."""
    found = []
    for paragraph in text.splitlines():
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}".strip()
            if wide(longer) <= width:
                line = longer
                continue
            if line:
                found.append(line)
            while wide(word) > width and len(word) > 1:
                cut = next((k for k in range(len(word) - 1, 1, -1) if wide(word[:k]) <= width), 1)
                found.append(word[:cut])
                word = word[cut:]
            line = word
        found.append(line)
    return found


class _Column:
    """Lines of text and formulas, one below the other and centred."""

    def __init__(self, studio: Studio, width: float) -> None:
        self._ui, self._width = studio.ui, width
        self._parts: list[tuple[float, float, Any]] = []  # width, height, a function of place
        self.height, self.width = 0.0, 0.0

    def text(self, words: str, size: float, color: int, face: Any = None) -> None:
        pixels = float(round(size * self._ui.font))
        with style.font(self._ui, face is not None):
            def wide(line: str) -> float:
                return imgui.calc_text_size(line).x * pixels / imgui.get_font_size()

            for line in wrapped(words, self._width, wide):
                self._add(wide(line), 1.25 * pixels, lambda draw, x, y, line=line: draw.add_text(
                    face or imgui.get_font(), pixels, (round(x), round(y)), color, line))

    def formula(self, latex: str, size: float, color: int) -> None:
        if not formula.ready():
            self.text(formula.plain(latex), size, color)
            return
        pixels = round(size * self._ui.font)
        found = formula.picture_of(self._ui, latex, pixels)
        if found.size[0] > self._width:
            found = formula.picture_of(self._ui, latex, max(int(pixels * self._width / found.size[0]), 6))
        wide, high = found.size
        self._add(wide, high, lambda draw, x, y: pictures.draw(found, round(x), round(y), wide, high, color, draw))

    def gap(self, size: float) -> None:
        self._add(0.0, size * self._ui.font, None)

    def rule(self, size: float, color: int) -> None:
        """A short line."""
        thick = max(round(0.09 * self._ui.font), 1)
        wide = size * self._ui.font
        self._add(wide, thick, lambda draw, x, y: draw.add_rect_filled(
            (round(x), round(y)), (round(x + wide), round(y) + thick), color))

    def _add(self, width: float, height: float, paint: Any) -> None:
        self._parts.append((width, height, paint))
        self.height += height
        self.width = max(self.width, width)

    def draw(self, draw: Any, middle: float, top: float) -> None:
        for width, height, paint in self._parts:
            if paint is not None:
                paint(draw, middle - 0.5 * width, top)
            top += height


def _caption(studio: Studio, told: Told, seen: float, view: Rect) -> None:
    """A plate in the middle of the view, at its bottom above the legend, or at its top below the heading."""
    ui, draw, c = studio.ui, imgui.get_foreground_draw_list(), style.colors(studio.ui)
    x, y, w, h = view
    font = ui.font
    column = _Column(studio, 0.85 * w - 2.4 * font)
    if told.text:
        column.text(told.text, CAPTION, style.u32(c.text, seen))
    if told.text and told.formula:
        column.gap(0.35)
    if told.formula:
        column.formula(told.formula, CAPTION_FORMULA, style.u32(c.text, seen))
    high, half = column.height + 1.1 * font, 0.5 * column.width + 1.2 * font
    middle = x + 0.5 * w
    top = y + 3.0 * font if told.place == "top" else y + h - ui.legend_height - high - 1.2 * font
    draw.add_rect_filled((middle - half, top), (middle + half, top + high), style.u32(c.panel, 0.9 * seen), 0.5 * font)
    draw.add_rect((middle - half, top), (middle + half, top + high), style.u32(c.line, seen), 0.5 * font)
    column.draw(draw, middle, top + 0.55 * font)


def _card(studio: Studio, card: Card, opacity: float) -> None:
    """Over the whole picture."""
    ui, draw, c = studio.ui, imgui.get_foreground_draw_list(), style.colors(studio.ui)
    width, height = studio.size
    draw.add_rect_filled((0, 0), (width, height), style.u32(c.panel, opacity))
    column = _Column(studio, 0.8 * width)
    column.text(card.title, TITLE, style.u32(c.text, opacity), ui.bold)
    column.gap(0.7)
    column.rule(4.0, style.u32(c.accent, opacity))
    if card.text:
        column.gap(1.1)
        column.text(card.text, SUBTITLE, style.u32(c.muted, opacity))
    if card.formula:
        column.gap(1.3)
        column.formula(card.formula, CARD_FORMULA, style.u32(c.text, opacity))
    column.draw(draw, 0.5 * width, 0.47 * (height - column.height))
