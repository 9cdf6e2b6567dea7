"""Figures: curves of a run as pictures (PNG, SVG) and as tables (CSV, NPZ), made without a window."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..physics.core.model import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

SUFFIXES = (".csv", ".npz", ".png", ".svg")
WIDTH, ALONE, SHARED = 9.6, 4.2, 2.8  # of a picture, and heights of a plot that is alone and of one of several [in]
PIXELS = 200                          # of a PNG / inch
#: of the curves: the palette of Okabe and Ito, which colour-blind readers can tell apart
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
INK, GREY, GRID, MARK = "#1a1a1a", "#666666", "#e2e2e2", "#b8b8b8"
FONT = "Roboto-Regular.ttf"
STYLE: dict[Any, Any] = {
    "font.size": 9.5, "text.color": INK, "axes.edgecolor": GREY, "axes.labelcolor": INK, "axes.grid": True,
    "grid.color": GRID, "xtick.color": GREY, "ytick.color": GREY, "legend.frameon": False, "axes.axisbelow": True,
    "axes.formatter.useoffset": False, "svg.fonttype": "none", "svg.hashsalt": "contactlab",
}


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
        case ".svg" | ".png":
            file, undated = io.BytesIO(), {"Date": None} if suffix == ".svg" else {}
            with _style():
                drawing(figure).savefig(file, format=suffix[1:], dpi=PIXELS, metadata=undated)
            return file.getvalue()
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


@contextmanager
def _style() -> Iterator[None]:
    """Inside, matplotlib draws as the app does. It loads for half a second, and few runs are drawn."""
    import matplotlib
    from matplotlib import font_manager

    with as_file(files("contactlab.assets").joinpath("fonts", FONT)) as path:
        font_manager.fontManager.addfont(path)
        family = font_manager.FontProperties(fname=path).get_name()
        with matplotlib.rc_context({**STYLE, "font.family": family}):
            yield


def drawing(figure: Figure) -> "MatplotlibFigure":
    """A plot a unit, one below the other over a common axis, with the events as lines."""
    from matplotlib.figure import Figure as MatplotlibFigure

    units = list(dict.fromkeys(line.unit for line in figure.lines))
    paper = MatplotlibFigure((WIDTH, ALONE if len(units) == 1 else SHARED * len(units)), layout="constrained")
    plots = paper.subplots(len(units), sharex=True, squeeze=False)[:, 0]
    for k, line in enumerate(figure.lines):
        x, y = _xy(figure, line)
        plots[units.index(line.unit)].plot(x, y, color=COLORS[k % len(COLORS)], linewidth=1.4, label=line.title)
    for plot, unit in zip(plots, units, strict=True):
        plot.set_ylabel(f"[{unit}]" if unit else "")
        plot.margins(x=0.0 if figure.across is None else 0.05)
        plot.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderpad=0.2)
        if figure.across is None:
            low, high = plot.get_xlim()
            plot.vlines([t for t, _ in figure.events if low <= t <= high], 0.0, 1.0, MARK, linewidth=0.8,
                        transform=plot.get_xaxis_transform(), zorder=0.5)
    plots[-1].set_xlabel(figure.across.title if figure.across is not None else "t [s]")
    paper.suptitle(figure.title, x=0.01, ha="left")
    return paper


def _xy(figure: Figure, line: Line) -> tuple[Array, Array]:
    """Abscissae and ordinates at the times of the curve."""
    if figure.across is None:
        return line.points[:, 0], line.points[:, 1]
    _, table = merged({"x": figure.across.points, "y": line.points})
    return table[:, 1], table[:, 2]
