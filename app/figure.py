"""Figures: curves of a run as pictures (PNG, SVG) and as tables (CSV, NPZ), made without a window."""

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import as_file, files
from typing import NamedTuple, Protocol

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ..physics.core.model import Array

SUFFIXES = (".csv", ".npz", ".png", ".svg")
WIDTH = 960.0          # of a picture [units]; one is a pixel on the screen, two of a PNG
ALONE, SHARED = 330.0, 220.0  # height of a plot that is alone, and of one of several
LEFT, RIGHT, TOP, BOTTOM = 84.0, 24.0, 40.0, 52.0  # room around the plots
LINE = 22.0            # height of a line of headings of curves
TEXT = 14.0            # size of letters
TICKS = 6              # on an axis, about
MARGIN = 0.05          # beside the curves / their extent
FINER = 4              # pixels painted / units, of which PNG_PIXELS are left after smoothing
PNG_PIXELS = 2
INK, GREY, GRID, MARK = "#1a1a1a", "#666666", "#e2e2e2", "#b8b8b8"
#: of the curves: the palette of Okabe and Ito, which colour-blind readers can tell apart
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
FONT = "Roboto-Regular.ttf"


class Line(NamedTuple):
    """A curve."""

    title: str     #: with its unit: "Height z of die 1 [m]"
    unit: str
    points: Array  #: (k, 2) time [s] and value; nan where it is unknown


@dataclass(frozen=True)
class Figure:
    """Curves over time, or over one of them: a phase plane."""

    title: str
    lines: tuple[Line, ...]
    across: Line | None = None
    events: tuple[tuple[float, str], ...] = ()  #: times [s] and kinds, marked where the curves are over time

    @property
    def columns(self) -> dict[str, Array]:
        """All curves by their headings."""
        return {line.title: line.points for line in (*self.lines, *filter(None, [self.across])) if len(line.points)}


def encode(figure: Figure, suffix: str) -> bytes:
    """The file of a figure, by its ending, one of SUFFIXES."""
    match suffix:
        case ".csv":
            return as_csv(figure.columns).encode()
        case ".npz":
            headings, table = merged(figure.columns)
            file = io.BytesIO()
            np.savez(file, headings=np.array(headings), table=table)
            return file.getvalue()
        case ".svg":
            paper = Svg(_height(figure))
            _paint(figure, paper)
            return paper.encoded()
        case ".png":
            picture = Png(_height(figure))
            _paint(figure, picture)
            return picture.encoded()
    raise ValueError(f"curves are saved as {', '.join(SUFFIXES)}, not {suffix!r}")


# -------------------------------------------------------------------------------------------------- tables


def merged(curves: Mapping[str, Array]) -> tuple[list[str], Array]:
    """Headings, and a table: t, value, value … at all times; nan where a value is not known."""
    times = np.unique(np.concatenate([np.zeros(0), *(curve[:, 0] for curve in curves.values())]))
    table = np.full((len(times), 1 + len(curves)), np.nan)
    table[:, 0] = times
    for k, curve in enumerate(curves.values(), 1):
        table[np.searchsorted(times, curve[:, 0]), k] = curve[:, 1]
    return ["t [s]", *curves], table


def as_csv(curves: Mapping[str, Array]) -> str:
    """Curves (k, 2) of time and value by their headings: a line of headings, then a row a time; a value that is not
    known is left empty."""
    headings, table = merged(curves)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(headings)
    for row in table.tolist():
        writer.writerow(["" if math.isnan(value) else value for value in row])
    return text.getvalue()


# ------------------------------------------------------------------------------------------------- pictures


class Paper(Protocol):
    """What a figure is painted on. Units and y as of an SVG: from the upper left corner, down."""

    def stroke(self, points: Array, color: str, width: float, name: str = "") -> None: ...
    def text(self, x: float, y: float, words: str, color: str, anchor: str = "start", upright: bool = True) -> None: ...
    def width_of(self, words: str) -> float: ...


class Scale:
    """Values along an axis of `length` units that begins at `start`; negative lengths go up."""

    def __init__(self, values: Array, start: float, length: float, margin: float) -> None:
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        room = margin * (high - low)
        self.low, self.high = low - room, high + room
        self._start, self._factor = start, length / (self.high - self.low)

    def __call__(self, values: Array | float) -> Array:
        return self._start + (np.asarray(values, float) - self.low) * self._factor

    @property
    def ticks(self) -> tuple[list[float], list[str]]:
        """Round values on the axis, and how they are written."""
        rough = (self.high - self.low) / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= rough * (1.0 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [k * step for k in range(first, last + 1)]
        digits = max(len(f"{abs(v / step):.0f}") for v in values or [0.0])
        return values, [f"{v:.{digits + 1}g}" if v else "0" for v in values]


def _units(figure: Figure) -> list[str]:
    return list(dict.fromkeys(line.unit for line in figure.lines))


def _tall(figure: Figure) -> float:
    return ALONE if len(_units(figure)) == 1 else SHARED


def _height(figure: Figure) -> float:
    headings = sum(len(_headings(figure, unit, Svg(0.0))) for unit in _units(figure))
    return TOP + headings * LINE + len(_units(figure)) * (_tall(figure) + 0.5 * LINE) + BOTTOM


def _headings(figure: Figure, unit: str, paper: Paper) -> list[list[int]]:
    """The curves of a plot in lines of headings that fit."""
    rows: list[list[int]] = [[]]
    left = room = WIDTH - LEFT - RIGHT
    for k, line in enumerate(figure.lines):
        if line.unit == unit:
            needed = paper.width_of(line.title) + 50.0
            if rows[-1] and needed > left:
                rows.append([])
                left = room
            rows[-1].append(k)
            left -= needed
    return rows


def _xy(figure: Figure, line: Line) -> tuple[Array, Array]:
    """Abscissae and ordinates at the times of the curve."""
    if figure.across is None:
        return line.points[:, 0], line.points[:, 1]
    _, table = merged({"x": figure.across.points, "y": line.points})
    return table[:, 1], table[:, 2]


def _paint(figure: Figure, paper: Paper) -> None:
    """A plot a unit, one below the other over a common axis."""
    curves = [_xy(figure, line) for line in figure.lines]
    alone = 0.0 if figure.across is None else MARGIN
    along = Scale(np.concatenate([np.zeros(0), *(x for x, _ in curves)]), LEFT, WIDTH - LEFT - RIGHT, alone)
    paper.text(LEFT, 0.62 * TOP, figure.title, INK)
    y = TOP
    units, tall = _units(figure), _tall(figure)
    for unit in units:
        for row in _headings(figure, unit, paper):
            x = LEFT
            for k in row:
                paper.stroke(np.array([[x, y + 0.5 * LINE], [x + 22.0, y + 0.5 * LINE]]), COLORS[k % len(COLORS)], 2.0)
                paper.text(x + 28.0, y + 0.72 * LINE, figure.lines[k].title, INK)
                x += paper.width_of(figure.lines[k].title) + 50.0
            y += LINE
        mine = [k for k, line in enumerate(figure.lines) if line.unit == unit]
        up = Scale(np.concatenate([np.zeros(0), *(curves[k][1] for k in mine)]), y + tall, -tall, MARGIN)
        _axes(figure, paper, along, up, (y, tall), unit == units[-1])
        paper.text(22.0, y + 0.5 * tall, f"[{unit}]" if unit else "", GREY, "middle", upright=False)
        for k in mine:
            x_k, y_k = along(curves[k][0]), up(curves[k][1])
            known = np.isfinite(x_k) & np.isfinite(y_k)
            for piece in _pieces(known):
                paper.stroke(np.column_stack([x_k[piece], y_k[piece]]), COLORS[k % len(COLORS)], 1.6,
                             figure.lines[k].title)
        y += tall + 0.5 * LINE
    below = figure.across.title if figure.across is not None else "t [s]"
    paper.text(0.5 * (LEFT + WIDTH - RIGHT), y + 1.35 * LINE, below, GREY, "middle")


def _axes(figure: Figure, paper: Paper, along: Scale, up: Scale, place: tuple[float, float], last: bool) -> None:
    """Grid, ticks, marks of events and a frame."""
    y, tall = place
    right = WIDTH - RIGHT
    for value, words in zip(*along.ticks, strict=True):
        x = float(along(value))
        paper.stroke(np.array([[x, y], [x, y + tall]]), GRID, 1.0)
        if last:
            paper.text(x, y + tall + 0.8 * LINE, words, GREY, "middle")
    for value, words in zip(*up.ticks, strict=True):
        at = float(up(value))
        paper.stroke(np.array([[LEFT, at], [right, at]]), GRID, 1.0)
        paper.text(LEFT - 8.0, at + 0.35 * TEXT, words, GREY, "end")
    if figure.across is None:
        for t, _ in figure.events:
            if along.low <= t <= along.high:
                x = float(along(t))
                paper.stroke(np.array([[x, y], [x, y + tall]]), MARK, 1.0, "event")
    frame = [[LEFT, y], [right, y], [right, y + tall], [LEFT, y + tall], [LEFT, y]]
    paper.stroke(np.array(frame), GREY, 1.0)


def _pieces(known: Array) -> list[slice]:
    """Where a curve is known, from gap to gap."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(int)))
    return [slice(int(a), int(b)) for a, b in ends.reshape(-1, 2)]


def _face(size: float) -> ImageFont.FreeTypeFont:
    with as_file(files("contactlab.assets").joinpath("fonts", FONT)) as path:
        return ImageFont.truetype(io.BytesIO(path.read_bytes()), size)


class Svg:
    """Paper of an SVG file. Coordinates have three digits after the point."""

    def __init__(self, height: float) -> None:
        self._height, self._face = height, _face(TEXT)
        self._parts: list[str] = []

    def stroke(self, points: Array, color: str, width: float, name: str = "") -> None:
        path = " ".join(f"{x:.3f},{y:.3f}" for x, y in points.tolist())
        title = f"<title>{escape(name)}</title>" if name else ""
        self._parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}" '
                           f'stroke-linejoin="round">{title}</polyline>')

    def text(self, x: float, y: float, words: str, color: str, anchor: str = "start", upright: bool = True) -> None:
        turn = "" if upright else f' transform="rotate(-90 {x:.3f} {y:.3f})"'
        self._parts.append(f'<text x="{x:.3f}" y="{y:.3f}" fill="{color}" text-anchor="{anchor}"{turn}>'
                           f"{escape(words)}</text>")

    def width_of(self, words: str) -> float:
        return self._face.getlength(words)

    def encoded(self) -> bytes:
        size = f'width="{WIDTH:g}" height="{self._height:g}" viewBox="0 0 {WIDTH:g} {self._height:g}"'
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="Roboto, Helvetica, Arial, sans-serif" '
            f'font-size="{TEXT:g}">',
            f'<rect {size.split(" viewBox")[0]} fill="white"/>', *self._parts, "</svg>", ""]).encode()


class Png:
    """Paper of a PNG file: painted larger, then smoothed."""

    def __init__(self, height: float) -> None:
        self._face, self._measure = _face(FINER * TEXT), _face(TEXT)
        self._image = Image.new("RGB", (round(FINER * WIDTH), round(FINER * height)), "white")
        self._draw = ImageDraw.Draw(self._image)

    def stroke(self, points: Array, color: str, width: float, name: str = "") -> None:
        places = [(float(x), float(y)) for x, y in (FINER * points).tolist()]
        if len(places) == 1:
            places *= 2
        self._draw.line(places, color, round(FINER * width), joint="curve")

    def text(self, x: float, y: float, words: str, color: str, anchor: str = "start", upright: bool = True) -> None:
        if upright:
            at = {"start": "ls", "middle": "ms", "end": "rs"}[anchor]
            self._draw.text((FINER * x, FINER * y), words, color, self._face, at)
            return
        size = round(self._face.getlength(words)) + 2, round(1.5 * FINER * TEXT)
        plate = Image.new("RGB", size, "white")
        ImageDraw.Draw(plate).text((1, 1.1 * FINER * TEXT), words, color, self._face, "ls")
        turned = plate.rotate(90, expand=True)
        self._image.paste(turned, (round(FINER * (x - 1.1 * TEXT)), round(FINER * y) - turned.height // 2))

    def width_of(self, words: str) -> float:
        return self._measure.getlength(words)

    def encoded(self) -> bytes:
        size = (self._image.width * PNG_PIXELS // FINER, self._image.height * PNG_PIXELS // FINER)
        file = io.BytesIO()
        self._image.resize(size, Image.Resampling.BOX).save(file, "PNG", optimize=True)
        return file.getvalue()

