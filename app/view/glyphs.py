"""What `overlays` makes: rows for the painter, texts in the view, lines of the legend."""

from typing import NamedTuple

from ...physics.core.model import Array
from .theme import Color


class WorldLabel(NamedTuple):
    """A text to be written where a point of the world is seen."""

    position: tuple[float, float, float]
    text: str
    color: Color


class LegendRow(NamedTuple):
    """symbol: ring, disc, split_disc, diamond, star, checker, arrow, open_arrow, double_arrow, line, dashed, spring,
    bowl, or "" for a line of text alone."""

    symbol: str
    color: Color
    text: str


class Glyphs(NamedTuple):
    """Rows for the painter. Sizes and widths in pixels; `fade` is the opacity left behind other things."""

    marks: Array    # (m, 10) position 3, colour and opacity 4, radius, shape, fade
    strokes: Array  # (k, 13) from 3, to 3, colour and opacity 4, width, kind, fade
    dents: Array    # (d, dents.WIDTH)
    labels: list[WorldLabel]
    halo: Color
