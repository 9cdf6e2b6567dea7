"""Colours of the 3-D view, sRGB 0..1. Bodies take Okabe and Ito's palette, which colour-blind people can tell apart."""

from typing import NamedTuple

import numpy as np

from ...physics.core.model import Array, BodyKind, Labels, Model, movable

Color = tuple[float, float, float]


def rgb(text: str) -> Color:
    """ "#4c9be8" -> (0.30, 0.61, 0.91)."""
    return int(text[1:3], 16) / 255, int(text[3:5], 16) / 255, int(text[5:7], 16) / 255


class Theme(NamedTuple):
    zenith: Color       # background
    horizon: Color
    ground: Color       # plane, lit from straight above
    grid: Color
    sky_light: Color    # what falls on upward faces besides the sun
    ground_light: Color # and on downward faces
    sun: float          # strength of the directional light
    text: Color
    halo: Color         # around glyphs, so that they are seen on anything
    selection: Color
    # glyphs of contacts
    stick: Color
    slip: Color
    near: Color
    normal: Color
    force: Color
    friction: Color
    impact: Color
    spring: Color
    velocity: Color
    momentum: Color
    inertia: Color
    joint: Color
    dent: Color
    axis_x: Color
    axis_y: Color
    axis_z: Color


DARK = Theme(
    zenith=rgb("#15181e"), horizon=rgb("#2b313b"), ground=rgb("#3a414d"), grid=rgb("#8b97a8"),
    sky_light=(0.46, 0.50, 0.58), ground_light=(0.20, 0.20, 0.22), sun=0.86,
    text=rgb("#e8ebf0"), halo=rgb("#0b0d11"), selection=rgb("#ffd54a"),
    stick=rgb("#f2f4f8"), slip=rgb("#4fa8ff"), near=rgb("#80cce6"), normal=rgb("#a8b0bd"),
    force=rgb("#ff4fd8"), friction=rgb("#ffe14d"), impact=rgb("#ffb14a"), spring=rgb("#7ee0a2"),
    velocity=rgb("#56d4c8"), momentum=rgb("#c79bff"), inertia=rgb("#c8d0db"), joint=rgb("#9be564"),
    dent=rgb("#ff9d6b"),
    axis_x=rgb("#e0664f"), axis_y=rgb("#4fae8a"), axis_z=rgb("#5c92e0"),
)
LIGHT = Theme(
    zenith=rgb("#c3d2e4"), horizon=rgb("#eef2f7"), ground=rgb("#e6e9ed"), grid=rgb("#8d97a6"),
    sky_light=(0.44, 0.47, 0.52), ground_light=(0.30, 0.29, 0.28), sun=0.66,
    text=rgb("#1b2230"), halo=rgb("#ffffff"), selection=rgb("#e06a00"),
    stick=rgb("#1b2230"), slip=rgb("#1260c4"), near=rgb("#0d86ad"), normal=rgb("#5d6675"),
    force=rgb("#c4109b"), friction=rgb("#a87400"), impact=rgb("#d9541e"), spring=rgb("#0a7d4c"),
    velocity=rgb("#0b7f78"), momentum=rgb("#6c3fc0"), inertia=rgb("#39424f"), joint=rgb("#3f7d12"),
    dent=rgb("#b5501b"),
    axis_x=rgb("#c8452c"), axis_y=rgb("#16835c"), axis_z=rgb("#2a62c0"),
)

BODY_COLORS = tuple(
    rgb(text) for text in ("#4c8fd6", "#e69f3c", "#35a98a", "#d9714a", "#79c1e8", "#c98bb5", "#e3d266", "#8f9fe0")
)
FIXED_COLOR = rgb("#9aa2ad")
KINEMATIC_COLOR = rgb("#b7a98c")


def theme(dark: bool) -> Theme:
    return DARK if dark else LIGHT


def body_colors(model: Model, labels: Labels) -> Array:
    """(n, 3) sRGB: what the scene says; else grey for fixed bodies, sand for driven ones, the palette in turn."""
    n = len(model.kind)
    palette = np.array(BODY_COLORS)
    dynamic = movable(model.kind)
    turn = np.cumsum(dynamic) - 1
    chosen = palette[turn % len(palette)] if n else np.zeros((0, 3))
    chosen = np.where(np.equal(model.kind, BodyKind.FIXED).reshape(-1, 1), FIXED_COLOR, chosen)
    chosen = np.where(np.equal(model.kind, BodyKind.KINEMATIC).reshape(-1, 1), KINEMATIC_COLOR, chosen)
    given = np.isfinite(labels.colors).all(axis=1)
    return np.where(given.reshape(-1, 1), labels.colors, chosen)


def linear(color: Array) -> Array:
    """sRGB -> linear light [IEC 61966-2-1]."""
    c = np.asarray(color, float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def display(light: Array) -> Array:
    """Linear light -> sRGB [IEC 61966-2-1], clipped to 0..1."""
    c = np.clip(light, 0.0, 1.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1.0 / 2.4) - 0.055)
